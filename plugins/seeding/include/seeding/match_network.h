/* match_network.h: the inputs of the network that gives the probability that a pair of a VELO track and a seed is a
 * wrong match (README.md, "The network"). For kernels and host code. */
#ifndef SEEDING_MATCH_NETWORK_H
#define SEEDING_MATCH_NETWORK_H

#include "seeding/match_math.h"

/* chi2 is not an input: it is a function of the distances, but its scale differs between calibrations.
 * Mirrored in x and y, so that pairs that differ only by a reflection (opposite charges) have equal inputs. */
#define MATCH_INPUTS(I)                                        \
  I(x) /* mm: distance in x at the bend; > 0: bent too much */ \
  I(y) /* mm: distance in y; > 0: the seed is further out */   \
  I(dtx)                                                       \
  I(dty)                                                       \
  I(hits) /* number of hits of the seed */                     \
  I(seed_tx)                                                   \
  I(seed_x)                                                    \
  I(seed_y)                                                    \
  I(velo_tx)                                                   \
  I(velo_ty)
#define MATCH_INPUT_(name) MATCH_INPUT_##name,
enum { MATCH_INPUTS(MATCH_INPUT_) MATCH_INPUT_COUNT };

SL_MATH_FUNCTION void match_inputs(const struct matched_pair *pair, const struct forward_state *velo,
                                   const struct forward_state *seed, uint32_t hits, float *inputs) {
  const float side = sl_copysign_f32(1.0f, pair->dtx), height = sl_copysign_f32(1.0f, velo->ty);
  inputs[MATCH_INPUT_x] = side * pair->x;
  inputs[MATCH_INPUT_y] = height * pair->y;
  inputs[MATCH_INPUT_dtx] = sl_abs_f32(pair->dtx);
  inputs[MATCH_INPUT_dty] = height * pair->dty;
  inputs[MATCH_INPUT_hits] = (float)hits;
  inputs[MATCH_INPUT_seed_tx] = side * seed->tx;
  inputs[MATCH_INPUT_seed_x] = side * seed->x;
  inputs[MATCH_INPUT_seed_y] = height * seed->y;
  inputs[MATCH_INPUT_velo_tx] = side * velo->tx;
  inputs[MATCH_INPUT_velo_ty] = height * velo->ty;
}

#endif
