/* compass_fit.h: the two fits of ut.compass and the field integral (README.md, "Tracks"). */
#ifndef UT_COMPASS_FIT_H
#define UT_COMPASS_FIT_H

#include "ut/event_model.h"

#include <sluice/kernel.h>

/* A VELO track at the end of the VELO. */
struct compass_line {
  float x, y, z, tx, ty;
};

/* Hits of a candidate by layer, with x at the y of the track. A layer without a hit has a hit of weight 0 in the middle
 * of the UT, which does not change the sums, so that all lanes execute the same code. */
struct compass_hits {
  float x[UT_LAYERS], z[UT_LAYERS], weight[UT_LAYERS];
  uint32_t count; /* number of real hits */
};

/* A straight line through the UT. */
struct compass_fit {
  float x, tx; /* in the middle of the UT */
  float y_offset;
  float kick; /* change of compass_sine in the plane of the magnet */
  float chi2;
};

/* z is scaled to metres in the fits, so that the elements of a matrix are of similar size. */
static const float compass_metre = 1e-3f;

/* The sine of the angle between a line and the z axis. */
static SL_DEVICE float compass_sine(float tx, float ty2) { return tx * sqrtf(1.0f + tx * tx + ty2); }

/* First fit: x and slope in the UT from the hits and from the VELO track extrapolated to the plane of the magnet at
 * kick_z, with an error from sigma_slope. */
static SL_DEVICE struct compass_fit compass_kick_fit(const struct compass_line *line, const struct compass_hits *hits,
                                                     float kick_z, float sigma_slope) {
  struct compass_fit f;
  const float lever = kick_z - line->z, kick_x = line->x + line->tx * lever;
  const float kick_error = sigma_slope * lever, kick_weight = 1.0f / (kick_error * kick_error);
  const float kick_u = compass_metre * (kick_z - UT_MIDDLE_Z);
  float m00 = kick_weight, m01 = kick_weight * kick_u, m11 = kick_weight * kick_u * kick_u;
  float r0 = kick_weight * kick_x, r1 = kick_weight * kick_x * kick_u;
  SL_UNROLL
  for (uint32_t h = 0; h < UT_LAYERS; h++) {
    const float u = compass_metre * (hits->z[h] - UT_MIDDLE_Z), w = hits->weight[h];
    m00 += w;
    m01 += w * u;
    m11 += w * u * u;
    r0 += w * hits->x[h];
    r1 += w * hits->x[h] * u;
  }
  const float inverse = 1.0f / (m00 * m11 - m01 * m01);
  f.x = (r0 * m11 - r1 * m01) * inverse;
  f.tx = compass_metre * ((m00 * r1 - m01 * r0) * inverse);
  f.y_offset = 0.0f;
  const float bend = f.x + f.tx * (kick_z - UT_MIDDLE_Z) - kick_x; /* in the plane of the magnet */
  f.chi2 = kick_weight * (bend * bend);
  SL_UNROLL
  for (uint32_t h = 0; h < UT_LAYERS; h++) {
    const float d = f.x + f.tx * (hits->z[h] - UT_MIDDLE_Z) - hits->x[h];
    f.chi2 += hits->weight[h] * d * d;
  }
  f.chi2 *= hits->count == 4 ? 1.0f / 3.0f : 0.5f;
  const float velo_tx = line->tx + bend / lever;
  f.kick = compass_sine(velo_tx, 0.0f) - compass_sine(f.tx, 0.0f);
  return f;
}

/* chi2 of a straight line through the hits with a free offset in y (one degree of freedom with four hits). 0 for three
 * hits, which always lie on such a line. `slope`: dx/dy of the strips of each layer. */
static SL_DEVICE float compass_hits_chi2(const struct compass_hits *hits, const float *slope) {
  const float *x = hits->x, *z = hits->z, *w = hits->weight;
  const float step = 1.0f / (z[3] - z[0]), part_1 = (z[1] - z[0]) * step, part_2 = (z[2] - z[0]) * step;
  /* distances of hits 1 and 2 from the line through hits 0 and 3, and their changes per offset in y */
  const float d1 = x[1] - x[0] - part_1 * (x[3] - x[0]), d2 = x[2] - x[0] - part_2 * (x[3] - x[0]);
  const float s1 = slope[1] - slope[0] - part_1 * (slope[3] - slope[0]);
  const float s2 = slope[2] - slope[0] - part_2 * (slope[3] - slope[0]);
  const float distance = d1 * s2 - d2 * s1; /* does not depend on the offset */
  const float c0 = s1 * (1.0f - part_2) - s2 * (1.0f - part_1), c3 = s1 * part_2 - s2 * part_1; /* its derivatives */
  const float w01 = w[0] * w[1], w23 = w[2] * w[3];
  const float sum = w23 * (c0 * c0 * w[1] + s2 * s2 * w[0]) + w01 * (s1 * s1 * w[3] + c3 * c3 * w[2]);
  return distance * distance * (w01 * w23) / sl_max_f32(sum, 1e-30f);
}

/* Position on an axis of a table: bin, 1 if there is a next entry to interpolate to (0 beyond the ends), and fraction
 * of the bin. */
struct compass_bin {
  uint32_t index, next;
  float part;
};

static SL_DEVICE struct compass_bin compass_find_bin(float value, float low, float high, uint32_t entries) {
  struct compass_bin bin;
  const float bins = (float)(entries - 1), step = (high - low) / bins;
  const float scaled = (value - low) / (high - low) * bins;
  const uint32_t index = sl_to_u32(scaled);
  bin.index = index < entries - 1 ? index : entries - 1;
  bin.next = bin.index < entries - 1 && value >= low && value <= high ? 1u : 0u;
  bin.part = (value - (low + step * (float)bin.index)) / step;
  return bin;
}

/* The field integral in units of the table, linear in the three axes, for tracks from the beam line. */
static SL_DEVICE float compass_field_integral(const float *table, const struct compass_line *line) {
  const float y_slope_least = 0.001f, last_ty = 0.3f, last_origin = 250.0f, last_depth = 800.0f;
  const int is_steep = sl_abs_f32(line->ty) > y_slope_least;
  const float origin = line->z - (is_steep ? line->y / line->ty : line->tx != 0.0f ? line->x / line->tx : line->z);
  const struct compass_bin ty = compass_find_bin(line->ty, -last_ty, last_ty, UT_INTEGRAL_SLOPES);
  const struct compass_bin o = compass_find_bin(origin, -last_origin, last_origin, UT_INTEGRAL_ORIGINS);
  const struct compass_bin v = compass_find_bin(line->z, 0.0f, last_depth, UT_INTEGRAL_DEPTHS);
  const float *at = table + (v.index * UT_INTEGRAL_ORIGINS + o.index) * UT_INTEGRAL_SLOPES + ty.index;
  const float here = at[0];
  float sum = here;
  if (ty.next) sum += (at[1] - here) * ty.part;
  if (o.next) sum += (at[UT_INTEGRAL_SLOPES] - here) * o.part;
  if (v.next) sum += (at[UT_INTEGRAL_SLOPES * UT_INTEGRAL_ORIGINS] - here) * v.part;
  return sum;
}

/* Second fit: the plane of the magnet depends on dy/dz, its error on q/p of the first fit, and the track has a free
 * offset in y. `slope`: dx/dy of the strips of each layer. */
static SL_DEVICE struct compass_fit compass_fast_fit(const struct compass_line *line, const struct compass_hits *hits,
                                                     const float *slope, const float *constants, float qop) {
  struct compass_fit f;
  const float *z = constants + UT_SECOND_KICK_Z, *errors = constants + UT_KICK_ERRORS;
  const float *errors_per_p = constants + UT_KICK_ERRORS_PER_P;
  const float ty2 = line->ty * line->ty, kick_z = z[0] + z[1] * ty2 + z[2] * ty2 * ty2;
  const float kick_x = line->x + line->tx * (kick_z - line->z);
  const float size = sl_max_f32(sl_abs_f32(qop), 1e-9f) * sqrtf(1.0f + ty2);
  const float error_1 = errors[0] + errors_per_p[0] * size, error_2 = errors[1] + errors_per_p[1] * size;
  const float kick_weight = 1.0f / (error_1 * error_1 + error_2 * error_2);
  const float kick_u = compass_metre * (kick_z - UT_MIDDLE_Z);
  /* symmetric matrix: rows x, slope, y offset */
  float m00 = kick_weight, m01 = kick_weight * kick_u, m11 = kick_weight * kick_u * kick_u;
  float m02 = 0.0f, m12 = 0.0f, m22 = 0.0f;
  float r0 = kick_weight * kick_x, r1 = kick_weight * kick_x * kick_u, r2 = 0.0f;
  float s[UT_LAYERS];
  SL_UNROLL
  for (uint32_t h = 0; h < UT_LAYERS; h++) {
    const float u = compass_metre * (hits->z[h] - UT_MIDDLE_Z), w = hits->weight[h];
    s[h] = -slope[h] / sqrtf(1.0f + slope[h] * slope[h]);
    m00 += w;
    m01 += w * u;
    m11 += w * u * u;
    m02 += w * s[h];
    m12 += w * s[h] * u;
    m22 += w * s[h] * s[h];
    r0 += w * hits->x[h];
    r1 += w * hits->x[h] * u;
    r2 += w * hits->x[h] * s[h];
  }
  const float a00 = m11 * m22 - m12 * m12, a01 = m02 * m12 - m01 * m22, a02 = m01 * m12 - m02 * m11;
  const float a11 = m00 * m22 - m02 * m02, a12 = m01 * m02 - m00 * m12, a22 = m00 * m11 - m01 * m01;
  const float inverse = 1.0f / (m00 * a00 + m01 * a01 + m02 * a02);
  f.x = (a00 * r0 + a01 * r1 + a02 * r2) * inverse;
  f.tx = compass_metre * ((a01 * r0 + a11 * r1 + a12 * r2) * inverse);
  f.y_offset = (a02 * r0 + a12 * r1 + a22 * r2) * inverse;
  const float at_kick = f.x + f.tx * (kick_z - UT_MIDDLE_Z), off = kick_x - at_kick, turned = 1.0f + f.tx * f.tx;
  f.chi2 = kick_weight * (off * off / turned + f.y_offset * f.y_offset / (1.0f + ty2));
  SL_UNROLL
  for (uint32_t h = 0; h < UT_LAYERS; h++) {
    const float d = hits->x[h] - f.x - f.tx * (hits->z[h] - UT_MIDDLE_Z) - f.y_offset * s[h];
    f.chi2 += hits->weight[h] * d * d / turned;
  }
  const float velo_tx = (0.5f * (at_kick + kick_x) - line->x) / (kick_z - line->z);
  f.kick = compass_sine(velo_tx, ty2) - compass_sine(f.tx, ty2);
  return f;
}

#endif
