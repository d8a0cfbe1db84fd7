/* forward_math.h: track model of the forward tracking: bend in the magnet, y in a layer as a function of x, x in the
 * fibre tracker as a polynomial of z, and momentum (README.md, "Track model").
 *
 * For kernels and host code. `f` is forward.constants; `polarity` is -1 or +1, as in magnet_polarity. The order of all
 * sums is fixed.
 */
#ifndef FORWARD_MATH_H
#define FORWARD_MATH_H

#include "forward/event_model.h"
#include "forward/state.h"

/* Layer number of the i-th x layer, and of its neighbouring stereo layer. */
SL_MATH_FUNCTION uint32_t forward_x_layer(uint32_t i) { return SCIFI_STATION_LAYERS * (i / 2) + 3 * (i % 2); }
SL_MATH_FUNCTION uint32_t forward_stereo_layer(uint32_t i) { return SCIFI_STATION_LAYERS * (i / 2) + 1 + i % 2; }

/* c[0] + c[1] t + ... + c[count - 1] t^(count - 1) */
SL_MATH_FUNCTION float forward_polynomial(const float *c, uint32_t count, float t) {
  float sum = c[count - 1];
  for (uint32_t i = count - 1; i-- > 0;) sum = c[i] + t * sum;
  return sum;
}

/* -------------------------------------------------------------------------------------------- through the magnet */

/* dx/dz in a station of a track with state `s` at FORWARD_Z_UT. */
SL_MATH_FUNCTION float forward_bent_slope(const struct forward_constants_view *f, const struct forward_state *s,
                                          float qop, float polarity, uint32_t station) {
  const float *kick = f->kick + FORWARD_KICK_TERMS * station;
  const float t = -polarity * s->ty; /* odd powers change sign with the field */
  float sum = 0.0f;
  for (uint32_t i = FORWARD_KICK_POWERS; i-- > 0;)
    sum = forward_polynomial(kick + FORWARD_KICK_POWERS * i, FORWARD_KICK_POWERS, t) + s->tx * sum;
  return s->tx + -polarity * qop * sum;
}

/* x at z of a station where the track has this slope. */
SL_MATH_FUNCTION float forward_bent_x(const struct forward_constants_view *f, const struct forward_state *s,
                                      float slope, float z) {
  const float z_magnet = f->constants[FORWARD_Z_MAGNET];
  return s->x + s->tx * (z_magnet - s->z) + slope * (z - z_magnet);
}

/* y of the straight line in a tilted layer, which is at z for y = 0. */
SL_MATH_FUNCTION float forward_line_y(const struct forward_constants_view *f, const struct forward_state *s, float z) {
  return (s->y + s->ty * (z - s->z)) / (1.0f + -f->constants[FORWARD_DZDY] * s->ty);
}

/* Largest distance in x of a track with 1/p from the straight line, mm. */
SL_MATH_FUNCTION float forward_border(const struct forward_constants_view *f, float inverse_gev, float tx, float ty) {
  const float *c = f->constants + FORWARD_BORDER;
  const float tx2 = tx * tx, ty2 = ty * ty, inverse2 = inverse_gev * inverse_gev;
  const float line = c[0] + c[1] * tx + c[2] * tx2 + ty2 * (c[3] + c[4] * tx + c[5] * tx2);
  return inverse_gev * (line + c[6] * (inverse_gev * tx) + c[7] * inverse2);
}

/* ------------------------------------------------------------------------------------------------------ y for x */

/* y in a layer: y of the straight line plus D (first + D (second + D third)), D = x minus x of the line. */
struct forward_y_shift {
  float first, second, third;
};

SL_MATH_FUNCTION struct forward_y_shift forward_y_shift_of(const struct forward_constants_view *f,
                                                           const struct forward_state *s, uint32_t layer) {
  const float *c = f->y_shift + FORWARD_Y_TERMS * layer;
  const float x = s->tx, y = s->ty, x2 = x * x, y2 = y * y, xy = x * y;
  const float x2y2 = x2 * y2, x4 = x2 * x2, y4 = y2 * y2;
  struct forward_y_shift shift;
  shift.first = xy * (c[0] + c[1] * x2 + c[2] * y2 + c[3] * x4 + c[4] * x2y2 + c[5] * y4);
  shift.second = y * (c[6] + c[7] * x2 + c[8] * y2 + c[9] * x4 + c[10] * x2y2 + c[11] * y4);
  shift.third = xy * (c[12] + c[13] * x2 + c[14] * y2 + c[15] * x4 + c[16] * x2y2 + c[17] * y4);
  return shift;
}

/* y of a track at (x, z) in a layer. */
SL_MATH_FUNCTION float forward_shifted_y(const struct forward_state *s, const struct forward_y_shift *shift, float z,
                                         float x) {
  const float dz = z - s->z, d = x - (s->x + s->tx * dz);
  return s->y + s->ty * dz + d * (shift->first + d * (shift->second + d * shift->third));
}

/* ------------------------------------------------------------------------------------------------------ x for z */

/* x = c + b d + a d^2 (1 + r d), d = z - FORWARD_Z_REFERENCE. */
struct forward_curve {
  float a, b, c, r;
};

/* r of a track at (x, y) in the middle station. */
SL_MATH_FUNCTION float forward_curve_r(const struct forward_constants_view *f, float x, float y) {
  const float per_x2 = 25e-8f, per_y2 = 1e-6f;
  return -forward_polynomial(f->constants + FORWARD_D_RATIO, 3, sqrtf(per_x2 * (x * x) + per_y2 * (y * y)));
}

SL_MATH_FUNCTION float forward_curve_x(const struct forward_curve *t, float d) {
  return t->c + d * (t->b + d * (t->a * (1.0f + t->r * d)));
}

SL_MATH_FUNCTION float forward_curve_slope(const struct forward_curve *t, float d) {
  return t->b + d * (t->a * (2.0f + 3.0f * (t->r * d)));
}

/* The curve with this r through three points (d, x). */
SL_MATH_FUNCTION struct forward_curve forward_curve_through(const float d[3], const float x[3], float r) {
  const float e0 = d[0] * d[0] * (1.0f + r * d[0]);
  const float e1 = d[1] * d[1] * (1.0f + r * d[1]);
  const float e2 = d[2] * d[2] * (1.0f + r * d[2]);
  const float d1 = d[1] - d[0], d2 = d[2] - d[0];
  const float slope1 = (x[1] - x[0]) / d1, slope2 = (x[2] - x[0]) / d2;
  const float bend1 = (e1 - e0) / d1, bend2 = (e2 - e0) / d2;
  struct forward_curve t;
  t.a = (slope2 - slope1) / (bend2 - bend1);
  t.b = slope1 - t.a * bend1;
  t.c = x[0] - t.b * d[0] - t.a * e0;
  t.r = r;
  return t;
}

/* ------------------------------------------------------------------------------------------------------ momentum */

/* Change of direction divided by q/p, up to length and polarity. */
SL_MATH_FUNCTION float forward_bend_divisor(const struct forward_constants_view *f, float change, float x, float y) {
  const float x2 = x * x, x4 = x2 * x2, x6 = x4 * x2, y2 = y * y, y4 = y2 * y2, y6 = y4 * y2;
  const float even[FORWARD_BEND_EVEN_TERMS] = {1.0f, x2, x4, x6, y2, x2 * y2, x4 * y2, y4, x2 * y4, y4 * y, y6};
  const float odd[FORWARD_BEND_ODD_TERMS] = {1.0f,   y2,     y4,          y6,          x,      x2 * x,      x4 * x,
                                             x6 * x, x * y2, x2 * x * y2, x4 * x * y2, x * y4, x2 * x * y4, x * y6};
  const float *c = f->bend;
  float by_power[5];
  for (uint32_t n = 0; n < 5; n++) {
    const uint32_t terms = n % 2 ? FORWARD_BEND_ODD_TERMS : FORWARD_BEND_EVEN_TERMS;
    float sum = 0.0f;
    for (uint32_t i = 0; i < terms; i++) sum += c[i] * (n % 2 ? odd[i] : even[i]);
    by_power[n] = sum;
    c += terms;
  }
  return forward_polynomial(by_power, 5, change);
}

/* Sine of the angle to the z axis in the plane of x and z. */
SL_MATH_FUNCTION float forward_sine_x(float tx, float ty) { return tx / sqrtf(1.0f + tx * tx + ty * ty); }

/* q/p of a track from its states before (`velo`) and after the magnet (`scifi`): x and slopes at FORWARD_Z_REFERENCE,
 * but y of the line at z = 0, as in the fit of the coefficients. */
SL_MATH_FUNCTION float forward_qop(const struct forward_constants_view *f, const struct forward_state *velo,
                                   const struct forward_state *scifi, float polarity) {
  const float to_metres = 1e-3f, z_reference = f->constants[FORWARD_Z_REFERENCE], slope_change = velo->tx - scifi->tx;
  const float crossing = scifi->x - velo->x + velo->tx * velo->z - scifi->tx * z_reference;
  /* Nearly parallel lines cross anywhere. */
  const float z =
      slope_change == 0.0f ? f->constants[FORWARD_Z_MAGNET] : sl_clamp_f32(crossing / slope_change, 0.0f, z_reference);
  const float dz = z - velo->z;
  const float dx_after = scifi->x - (velo->x + velo->tx * dz), dy_after = scifi->y - (velo->y + velo->ty * dz);
  const float dz_after = z_reference - z;
  const float after = dx_after * dx_after + dy_after * dy_after + dz_after * dz_after;
  const float before = z * z * (1.0f + velo->tx * velo->tx + velo->ty * velo->ty);
  const float length = to_metres * sqrtf(after + before);
  const float change = forward_sine_x(scifi->tx, scifi->ty) - forward_sine_x(velo->tx, velo->ty);
  const float flat = sqrtf(sl_max_f32(1.0f - velo->ty * velo->ty, 0.0f));
  return change / (polarity * length * flat * forward_bend_divisor(f, change, velo->tx, velo->ty));
}

#endif
