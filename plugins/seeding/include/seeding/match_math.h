/* match_math.h: chi2 of a pair of a VELO track and a seed, and the momentum of the combined track (README.md,
 * "Matching").
 *
 * For kernels and host code. `m` is the array of seeding.matching_constants; `polarity` is -1 or +1, as in
 * magnet_polarity. The order of all sums is fixed.
 */
#ifndef SEEDING_MATCH_MATH_H
#define SEEDING_MATCH_MATH_H

#include "forward/state.h"
#include "seeding/event_model.h"

/* Properties of the matching that are not in the constants. */
struct match_settings {
  float x_weight; /* factor of the weight of the distance in x */
  float y_scale;  /* factor of the y of the VELO track */
};

/* The z at which the magnet bends a track by dtx; tx: slope in the VELO, x: position of the seed. */
SL_MATH_FUNCTION float match_z(const float *m, float dtx, float x, float tx) {
  const float *c = m + MATCH_Z_MAGNET;
  return c[0] + c[1] * dtx + c[2] * (dtx * dtx) + c[3] * x + c[4] * (tx * tx);
}

/* Distances between a VELO track and a seed, and their chi2, which is SEED_NO_MATCH if a requirement fails. */
struct matched_pair {
  float z, x, y;  /* z of the bend; distance in x there, and in y at MATCH_Z_Y */
  float dtx, dty; /* slopes of the VELO track minus slopes of the seed */
  float chi2;
};
static const float SEED_NO_MATCH SL_UNUSED = 3e38f;

/* y of the VELO track (scaled) and of the seed at MATCH_Z_Y. */
SL_MATH_FUNCTION float match_velo_y(const float *m, float y_scale, const struct forward_state *velo) {
  return y_scale * (velo->y + velo->ty * (m[MATCH_Z_Y] - velo->z));
}
SL_MATH_FUNCTION float match_seed_y(const float *m, const struct forward_state *seed) {
  return seed->y + seed->ty * (m[MATCH_Z_Y] - seed->z);
}

/* Fills the distances of a pair, but not chi2; returns 1 if they pass the requirements. `velo_y` is match_velo_y. */
SL_MATH_FUNCTION uint32_t match_meet(const float *m, float velo_y, const struct forward_state *velo,
                                     const struct forward_state *seed, struct matched_pair *p) {
  p->dtx = velo->tx - seed->tx;
  p->dty = velo->ty - seed->ty;
  p->z = match_z(m, sl_abs_f32(p->dtx), sl_abs_f32(seed->x), velo->tx);
  p->x = seed->x + seed->tx * (p->z - seed->z) - (velo->x + velo->tx * (p->z - velo->z));
  p->y = match_seed_y(m, seed) - velo_y;
  return sl_abs_f32(p->dty) <= m[MATCH_DTY_MAX] && sl_abs_f32(p->dtx) <= m[MATCH_DTX_MAX] &&
                 sl_abs_f32(p->x) <= m[MATCH_DISTANCE_X_MAX] && sl_abs_f32(p->y) <= m[MATCH_DISTANCE_Y_MAX]
             ? 1u
             : 0u;
}

SL_MATH_FUNCTION float match_chi2(const float *m, float x_weight, const struct forward_state *velo,
                                  const struct matched_pair *p) {
  const float *weights = m + MATCH_WEIGHTS;
  const float *x_tolerance = m + MATCH_X_TOLERANCE, *y_tolerance = m + MATCH_Y_TOLERANCE;
  const float dtx2 = p->dtx * p->dtx, slope2 = velo->tx * velo->tx + velo->ty * velo->ty;
  const float x_error2 = x_tolerance[0] * x_tolerance[0] + x_tolerance[1] * x_tolerance[1] * dtx2;
  const float y_error2 = y_tolerance[0] * y_tolerance[0] + y_tolerance[1] * y_tolerance[1] * slope2;
  /* A tolerance may be 0. A distance of 0 contributes nothing then, any other distance infinity. */
  const float x_chi2 = p->x == 0.0f ? 0.0f : p->x * p->x / x_error2;
  const float y_chi2 = p->y == 0.0f ? 0.0f : p->y * p->y / y_error2;
  return x_weight * weights[0] * x_chi2 + weights[1] * y_chi2 + weights[2] * (p->dty * p->dty) + weights[3] * dtx2;
}

SL_MATH_FUNCTION struct matched_pair match_pair(const float *m, const struct match_settings *settings,
                                                const struct forward_state *velo, const struct forward_state *seed) {
  struct matched_pair p;
  const float velo_y = match_velo_y(m, settings->y_scale, velo);
  const uint32_t meets = match_meet(m, velo_y, velo, seed, &p);
  p.chi2 = meets ? match_chi2(m, settings->x_weight, velo, &p) : SEED_NO_MATCH;
  return p;
}

/* q/p of a track with the slopes tx_velo, ty_velo in the VELO and tx in the seed. */
SL_MATH_FUNCTION float match_qop(const float *m, float tx, float tx_velo, float ty_velo, float polarity) {
  const float *c = m + MATCH_BEND;
  const float turn = tx - tx_velo, tx2 = tx * tx, ty2 = ty_velo * ty_velo;
  const float bend = c[0] * sl_abs_f32(turn) + c[1] + c[2] * tx2 + c[3] * (tx2 * tx2) + c[4] * (tx * tx_velo) +
                     c[5] * ty2 + c[6] * (ty2 * ty2) + c[7] * (tx_velo * tx_velo);
  return -polarity * turn / bend;
}

#endif
