/* match_network.h: how likely a pair of a VELO track and a seed is none, as a small neural network says (README.md,
 * "The network").
 *
 * For kernels and host code. `n` is the array `network` of seeding.matching_constants, or is to be filled like it. Sums
 * are written in one fixed order, eight hidden units at a time, which a cpu adds up side by side.
 */
#ifndef SEEDING_MATCH_NETWORK_H
#define SEEDING_MATCH_NETWORK_H

#include "seeding/match_math.h"

/* Mirrored so that pairs which differ by a reflection in x or y alone, as charges do, are the same. */
#define MATCH_INPUTS(I)                                                              \
  I(x) /* mm: by what the lines miss each other in the magnet; > 0: bent too much */ \
  I(y) /* mm: in y; > 0: the seed is further out */                                  \
  I(dtx)                                                                             \
  I(dty)                                                                             \
  I(log_chi2)                                                                        \
  I(hits) /* of the seed */                                                          \
  I(seed_tx)                                                                         \
  I(seed_x)                                                                          \
  I(seed_y)                                                                          \
  I(velo_tx)                                                                         \
  I(velo_ty)
#define MATCH_INPUT_(name) MATCH_INPUT_##name,
enum { MATCH_INPUTS(MATCH_INPUT_) MATCH_INPUT_NAMES };
SL_STATIC_ASSERT((int)MATCH_INPUT_NAMES == (int)MATCH_INPUT_COUNT, "as event_model.h has it");

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

/* Hidden units that are worked out side by side: on a cpu all, on a GPU what leaves registers to others. Each is added
 * to one of the sums in the same order. */
enum {
  MATCH_SUMS = 8,
#if defined(SL_TARGET_CUDA) || defined(SL_TARGET_HIP)
  MATCH_UNITS = 8
#else
  MATCH_UNITS = MATCH_HIDDEN
#endif
};

/* Probability that a pair with these inputs is none, from 0 to 1. */
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
