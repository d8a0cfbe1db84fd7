/* match_math.h: how well a VELO track and a track in the fibre tracker go together, and the momentum of both
 * (README.md, "Matching").
 *
 * For kernels and host code. `m` is the array of seeding.matching_constants; `polarity` is -1 or +1, as magnet_polarity
 * has it. Sums are written in one fixed order.
 */
#ifndef SEEDING_MATCH_MATH_H
#define SEEDING_MATCH_MATH_H

#include "forward/state.h"
#include "seeding/event_model.h"

/* What a pair is judged by that is not in the constants. */
struct match_settings {
  float x_weight; /* what the weight of the distance in x is multiplied by */
  float y_scale;  /* what the VELO track's y is multiplied by */
};

/* The z at which the magnet bends a track by dtx from the VELO's slope tx to the seed's place x. */
SL_MATH_FUNCTION float match_z(const float *m, float dtx, float x, float tx) {
  const float *c = m + MATCH_Z_MAGNET;
  return c[0] + c[1] * dtx + c[2] * (dtx * dtx) + c[3] * x + c[4] * (tx * tx);
}

/* How a VELO track and a seed miss each other, and chi2 of that; what passes no cut is further apart than any other. */
struct matched_pair {
  float z, x, y;  /* where the lines should meet; how far apart they are there in x, and at MATCH_Z_Y in y */
  float dtx, dty; /* slopes of the VELO track less those of the seed */
  float chi2;
};
static const float SEED_NO_MATCH SL_UNUSED = 3e38f;

/* At MATCH_Z_Y: the VELO track's y, scaled, and the seed's. */
SL_MATH_FUNCTION float match_velo_y(const float *m, float y_scale, const struct forward_state *velo) {
  return y_scale * (velo->y + velo->ty * (m[MATCH_Z_Y] - velo->z));
}
SL_MATH_FUNCTION float match_seed_y(const float *m, const struct forward_state *seed) {
  return seed->y + seed->ty * (m[MATCH_Z_Y] - seed->z);
}

/* How they miss each other, without chi2; whether that passes the cuts. `velo_y` is match_velo_y. */
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
  /* Tolerances may be 0; then only what is not off at all is no further off than they say. */
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

/* q/p of a track that the magnet bends from the VELO's slopes tx_velo, ty_velo to the seed's slope tx. */
SL_MATH_FUNCTION float match_qop(const float *m, float tx, float tx_velo, float ty_velo, float polarity) {
  const float *c = m + MATCH_BEND;
  const float turn = tx - tx_velo, tx2 = tx * tx, ty2 = ty_velo * ty_velo;
  const float bend = c[0] * sl_abs_f32(turn) + c[1] + c[2] * tx2 + c[3] * (tx2 * tx2) + c[4] * (tx * tx_velo) +
                     c[5] * ty2 + c[6] * (ty2 * ty2) + c[7] * (tx_velo * tx_velo);
  return -polarity * turn / bend;
}

#endif
