/* match_network.h: probability that a pair of a VELO track and a seed is a wrong match, from a small neural network
 * (README.md, "The network").
 *
 * For kernels and host code. `n` is the array `network` of seeding.matching_constants, or an array of the same layout.
 * The order of all sums is fixed: eight partial sums, which a CPU adds in one vector.
 */
#ifndef SEEDING_MATCH_NETWORK_H
#define SEEDING_MATCH_NETWORK_H

#include "seeding/match_math.h"

/* Mirrored in x and y, so that pairs that differ only by a reflection (opposite charges) have equal inputs. */
#define MATCH_INPUTS(I)                                        \
  I(x) /* mm: distance in x at the bend; > 0: bent too much */ \
  I(y) /* mm: distance in y; > 0: the seed is further out */   \
  I(dtx)                                                       \
  I(dty)                                                       \
  I(log_chi2)                                                  \
  I(hits) /* number of hits of the seed */                     \
  I(seed_tx)                                                   \
  I(seed_x)                                                    \
  I(seed_y)                                                    \
  I(velo_tx)                                                   \
  I(velo_ty)
#define MATCH_INPUT_(name) MATCH_INPUT_##name,
enum { MATCH_INPUTS(MATCH_INPUT_) MATCH_INPUT_NAMES };
SL_STATIC_ASSERT((int)MATCH_INPUT_NAMES == (int)MATCH_INPUT_COUNT, "the inputs agree with MATCH_INPUT_COUNT");

SL_MATH_FUNCTION void match_inputs(const struct matched_pair *pair, const struct forward_state *velo,
                                   const struct forward_state *seed, uint32_t hits, float *inputs) {
  const float least_chi2 = 1e-6f;
  const float side = sl_copysign_f32(1.0f, pair->dtx), height = sl_copysign_f32(1.0f, velo->ty);
  inputs[MATCH_INPUT_x] = side * pair->x;
  inputs[MATCH_INPUT_y] = height * pair->y;
  inputs[MATCH_INPUT_dtx] = sl_abs_f32(pair->dtx);
  inputs[MATCH_INPUT_dty] = height * pair->dty;
  inputs[MATCH_INPUT_log_chi2] = sl_logf(sl_max_f32(pair->chi2, least_chi2));
  inputs[MATCH_INPUT_hits] = (float)hits;
  inputs[MATCH_INPUT_seed_tx] = side * seed->tx;
  inputs[MATCH_INPUT_seed_x] = side * seed->x;
  inputs[MATCH_INPUT_seed_y] = height * seed->y;
  inputs[MATCH_INPUT_velo_tx] = side * velo->tx;
  inputs[MATCH_INPUT_velo_ty] = height * velo->ty;
}

/* Hidden units computed at a time: all on a CPU, fewer on a GPU to save registers. The order of the sums is the same.
 */
enum {
  MATCH_SUMS = 8,
#if defined(SL_TARGET_CUDA) || defined(SL_TARGET_HIP)
  MATCH_UNITS = 8
#else
  MATCH_UNITS = MATCH_HIDDEN
#endif
};

/* Probability, from 0 to 1, that a pair with these inputs is a wrong match. */
SL_MATH_FUNCTION float match_ghost(const float *n, const float *inputs) {
  const float *biases = n + MATCH_NETWORK_BIASES, *weights = n + MATCH_NETWORK_WEIGHTS;
  const float *outputs = n + MATCH_NETWORK_OUTPUTS;
  float units[MATCH_UNITS], sums[MATCH_SUMS];
  for (uint32_t k = 0; k < MATCH_SUMS; k++) sums[k] = 0.0f;
  for (uint32_t first = 0; first < MATCH_HIDDEN; first += MATCH_UNITS) {
    for (uint32_t k = 0; k < MATCH_UNITS; k++) units[k] = biases[first + k];
    for (uint32_t i = 0; i < MATCH_INPUT_COUNT; i++)
      for (uint32_t k = 0; k < MATCH_UNITS; k++)
        units[k] = fmaf(weights[MATCH_HIDDEN * i + first + k], inputs[i], units[k]);
    for (uint32_t k = 0; k < MATCH_UNITS; k++) units[k] = outputs[first + k] * sl_max_f32(units[k], 0.0f);
    for (uint32_t part = 0; part < MATCH_UNITS; part += MATCH_SUMS)
      for (uint32_t k = 0; k < MATCH_SUMS; k++) sums[k] += units[part + k];
  }
  float sum = n[MATCH_NETWORK_OUTPUT_BIAS];
  for (uint32_t k = 0; k < MATCH_SUMS; k++) sum += sums[k];
  return 1.0f / (1.0f + sl_expf(-sum));
}

#endif
