/* fit_steps.h: steps of the Kalman fit, for SL_LANES tracks at a time (README.md, "Fit"): in the VELO, x and y are
 * independent; downstream of it, states have five numbers (x, y, tx, ty, q/p) and their covariance as a lower triangle,
 * row by row. Covariances are updated by sums and products of positive terms where a difference would lose digits. */
#ifndef KALMAN_FIT_STEPS_H
#define KALMAN_FIT_STEPS_H

#include <sluice/lanes.h>

#if defined(SL_TARGET_CPU)
#pragma GCC diagnostic ignored "-Wpsabi"
SL_LANES_FUNCTION sl_f32s fused(sl_f32s a, sl_f32s b, sl_f32s sum) {
#if defined(__FMA__)
  return (sl_f32s)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)sum);
#else
  for (uint32_t j = 0; j < SL_LANES; j++) sum[j] = fmaf(a[j], b[j], sum[j]);
  return sum;
#endif
}

#define KALMAN_NUMBER         sl_f32s
#define KALMAN_NUMBER_OF(x)   sl_f32s_of(x)
#define KALMAN_FMA(a, b, sum) fused(a, b, sum)
#else
SL_LANES_FUNCTION sl_f32s fused(sl_f32s a, sl_f32s b, sl_f32s sum) { return fmaf(a, b, sum); }
#endif
#include "kalman/transport.h"

/* For functions of the kind of a leg, which the compiler must know inside them. */
#if defined(SL_TARGET_CPU)
#define STEPS_INLINE SL_LANES_FUNCTION
#define STEPS_UNROLL _Pragma("GCC unroll 16")
#else
#define STEPS_INLINE SL_LANES_FUNCTION __attribute__((always_inline))
#define STEPS_UNROLL SL_UNROLL
#endif

/* A measurement: measured minus predicted, its variance, and the increment of chi2 by an update with it. */
struct measurement {
  sl_f32s residual, variance, chi2;
};

/* ---------------------------------------------------------------------------------------------- in the VELO */

/* A projection, x or y: position, slope, and their covariance. */
struct velo_line {
  sl_f32s u, t, c_uu, c_ut, c_tt;
};
struct velo_state {
  struct velo_line x, y;
  sl_f32s z, chi2, noise_x, noise_y; /* noise: variance of the slopes from scattering between hits, over m.scattering */
};

/* Material between two hits or from a hit to the beam line: README.md of selections, "Fit". */
struct velo_material {
  float lever, lever_covariance;
};

SL_LANES_FUNCTION struct velo_line velo_line_select(sl_i32s mask, struct velo_line a, struct velo_line b) {
  struct velo_line line;
  line.u = sl_f32s_select(mask, a.u, b.u);
  line.t = sl_f32s_select(mask, a.t, b.t);
  line.c_uu = sl_f32s_select(mask, a.c_uu, b.c_uu);
  line.c_ut = sl_f32s_select(mask, a.c_ut, b.c_ut);
  line.c_tt = sl_f32s_select(mask, a.c_tt, b.c_tt);
  return line;
}

SL_LANES_FUNCTION struct velo_line velo_line_begin(sl_f32s first, sl_f32s last, sl_f32s dz, float hit_variance,
                                                   float slope_variance) {
  struct velo_line line;
  line.u = first;
  line.t = sl_f32s_select(SL_MASK(dz == 0.0f), sl_f32s_of(0.0f), (last - first) / dz);
  line.c_uu = sl_f32s_of(hit_variance);
  line.c_ut = sl_f32s_of(0.0f);
  line.c_tt = sl_f32s_of(slope_variance);
  return line;
}

/* (1 + t^2)^(5/2) (q/p)^2 */
SL_LANES_FUNCTION sl_f32s velo_noise(sl_f32s t, sl_f32s qop) {
  const sl_f32s n2 = 1.0f + t * t;
  return n2 * (n2 * sl_f32s_sqrt(n2)) * (qop * qop);
}

/* Extrapolates by dz, with `noise` of the slope, and updates with a hit. */
SL_LANES_FUNCTION struct measurement velo_step(struct velo_line *line, struct velo_material m, sl_f32s dz, sl_f32s hit,
                                               float hit_variance, sl_f32s noise) {
  const float lever2 = m.lever * m.lever, apart = lever2 - m.lever_covariance * m.lever_covariance;
  const sl_f32s noise_uu = noise * dz * dz * lever2, noise_ut = noise * dz * m.lever_covariance;
  const sl_f32s residual = hit - fused(line->t, dz, line->u);
  const sl_f32s moved_ut = fused(line->c_tt, dz, line->c_ut);
  const sl_f32s moved_uu = fused(line->c_ut + moved_ut, dz, line->c_uu);
  const sl_f32s determinant = (line->c_uu * line->c_tt - line->c_ut * line->c_ut) + moved_uu * noise +
                              line->c_tt * noise_uu - 2.0f * moved_ut * noise_ut + noise * noise * (dz * dz) * apart;
  const sl_f32s c_uu = moved_uu + noise_uu, c_ut = moved_ut + noise_ut, c_tt = line->c_tt + noise;
  const sl_f32s variance = hit_variance + c_uu, r = 1.0f / variance, gain_u = c_uu * r, gain_t = c_ut * r;
  line->u = hit - (hit_variance * r) * residual;
  line->t = fused(gain_t, residual, line->t);
  line->c_uu = hit_variance * gain_u;
  line->c_ut = hit_variance * gain_t;
  line->c_tt = (hit_variance * c_tt + determinant) * r;
  const struct measurement measured = {residual, variance, residual * residual * r};
  return measured;
}

/* Extrapolates by dz, with noise of the slope. */
SL_LANES_FUNCTION void velo_move(struct velo_line *line, struct velo_material m, sl_f32s dz, sl_f32s noise) {
  line->u = line->u + line->t * dz;
  line->c_uu = line->c_uu + (dz * dz * line->c_tt + 2.0f * dz * line->c_ut + noise * dz * dz * (m.lever * m.lever));
  line->c_ut = line->c_ut + (dz * line->c_tt + noise * dz * m.lever_covariance);
  line->c_tt = line->c_tt + noise;
}

/* -------------------------------------------------------------------------------------- downstream of the VELO */

enum { STATE_X, STATE_Y, STATE_TX, STATE_TY, STATE_QOP, STATE_NUMBERS, TRIANGLE = 15 };
struct fit_state {
  sl_f32s v[STATE_NUMBERS], x_rest, c[TRIANGLE]; /* the position is v[STATE_X] + x_rest */
};

SL_LANES_FUNCTION struct fit_state fit_state_select(sl_i32s mask, const struct fit_state *a,
                                                    const struct fit_state *b) {
  struct fit_state s;
  STEPS_UNROLL
  for (int i = 0; i < STATE_NUMBERS; i++) s.v[i] = sl_f32s_select(mask, a->v[i], b->v[i]);
  s.x_rest = sl_f32s_select(mask, a->x_rest, b->x_rest);
  STEPS_UNROLL
  for (int i = 0; i < TRIANGLE; i++) s.c[i] = sl_f32s_select(mask, a->c[i], b->c[i]);
  return s;
}

/* Index in the triangle. */
SL_LANES_FUNCTION int at(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }

/* Adds a number to x, in lanes of the mask. */
SL_LANES_FUNCTION void add_to_x(sl_i32s mask, sl_f32s dx, struct fit_state *s) {
  const sl_f32s sum = dx + s->x_rest, x = s->v[STATE_X] + sum, rest = sum - (x - s->v[STATE_X]);
  s->v[STATE_X] = sl_f32s_select(mask, x, s->v[STATE_X]);
  s->x_rest = sl_f32s_select(mask, rest, s->x_rest);
}

/* Takes the covariance through a transport: F C F^T, where the last row of F is (0, 0, 0, 0, 1). */
STEPS_INLINE void move_covariance(sl_f32s jacobian[KALMAN_OUTPUTS][5], sl_f32s c[TRIANGLE]) {
  sl_f32s product[KALMAN_OUTPUTS][STATE_NUMBERS];
  STEPS_UNROLL
  for (int i = 0; i < KALMAN_OUTPUTS; i++) {
    STEPS_UNROLL
    for (int j = 0; j < STATE_NUMBERS; j++) {
      sl_f32s sum = jacobian[i][0] * c[at(0, j)];
      STEPS_UNROLL
      for (int k = 1; k < STATE_NUMBERS; k++) sum = fused(jacobian[i][k], c[at(k, j)], sum);
      product[i][j] = sum;
    }
  }
  STEPS_UNROLL
  for (int i = 0; i < KALMAN_OUTPUTS; i++) {
    STEPS_UNROLL
    for (int j = 0; j <= i; j++) {
      sl_f32s sum = product[i][0] * jacobian[j][0];
      STEPS_UNROLL
      for (int k = 1; k < STATE_NUMBERS; k++) sum = fused(product[i][k], jacobian[j][k], sum);
      c[at(i, j)] = sum;
    }
    c[at(STATE_QOP, i)] = product[i][STATE_QOP];
  }
}

/* The same if x and y change by dz tx and dz ty, and all four by q/p, but by nothing else. */
STEPS_INLINE void move_covariance_straight(float dz, sl_f32s by_qop[KALMAN_OUTPUTS], sl_f32s c[TRIANGLE]) {
  const sl_f32s length = sl_f32s_of(dz);
  sl_f32s product[KALMAN_OUTPUTS][STATE_NUMBERS];
  STEPS_UNROLL
  for (int i = 0; i < KALMAN_OUTPUTS; i++) {
    STEPS_UNROLL
    for (int j = 0; j < STATE_NUMBERS; j++) {
      product[i][j] = fused(by_qop[i], c[at(STATE_QOP, j)], c[at(i, j)]);
      if (i < KALMAN_TX) product[i][j] = fused(length, c[at(i + KALMAN_TX, j)], product[i][j]);
    }
  }
  STEPS_UNROLL
  for (int i = 0; i < KALMAN_OUTPUTS; i++) {
    STEPS_UNROLL
    for (int j = 0; j <= i; j++) {
      sl_f32s sum = fused(product[i][STATE_QOP], by_qop[j], product[i][j]);
      if (j < KALMAN_TX) sum = fused(product[i][j + KALMAN_TX], length, sum);
      c[at(i, j)] = sum;
    }
    c[at(STATE_QOP, i)] = product[i][STATE_QOP];
  }
}

/* Adds the scattering of a leg; `noise`: sums of k, k l and k l^2; slopes and q/p at its begin. If `at_end`, all
 * scatterers are at the end of the leg, l = 0. */
STEPS_INLINE void add_scattering(const float noise[3], int at_end, sl_f32s tx, sl_f32s ty, sl_f32s qop,
                                 sl_f32s c[TRIANGLE]) {
  const sl_f32s tx2 = tx * tx, ty2 = ty * ty, n2 = 1.0f + tx2 + ty2, kick = 13.6f * qop;
  const sl_f32s w = kick * kick * (n2 * sl_f32s_sqrt(n2));
  const sl_f32s xx = w * (1.0f + tx2), yy = w * (1.0f + ty2), xy = w * (tx * ty);
  c[at(STATE_TX, STATE_TX)] = fused(xx, sl_f32s_of(noise[0]), c[at(STATE_TX, STATE_TX)]);
  c[at(STATE_TY, STATE_TY)] = fused(yy, sl_f32s_of(noise[0]), c[at(STATE_TY, STATE_TY)]);
  c[at(STATE_TX, STATE_TY)] = fused(xy, sl_f32s_of(noise[0]), c[at(STATE_TX, STATE_TY)]);
  if (at_end) return;
  c[at(STATE_TX, STATE_X)] = fused(xx, sl_f32s_of(noise[1]), c[at(STATE_TX, STATE_X)]);
  c[at(STATE_X, STATE_X)] = fused(xx, sl_f32s_of(noise[2]), c[at(STATE_X, STATE_X)]);
  c[at(STATE_TY, STATE_Y)] = fused(yy, sl_f32s_of(noise[1]), c[at(STATE_TY, STATE_Y)]);
  c[at(STATE_Y, STATE_Y)] = fused(yy, sl_f32s_of(noise[2]), c[at(STATE_Y, STATE_Y)]);
  c[at(STATE_X, STATE_TY)] = fused(xy, sl_f32s_of(noise[1]), c[at(STATE_X, STATE_TY)]);
  c[at(STATE_Y, STATE_TX)] = fused(xy, sl_f32s_of(noise[1]), c[at(STATE_Y, STATE_TX)]);
  c[at(STATE_X, STATE_Y)] = fused(xy, sl_f32s_of(noise[2]), c[at(STATE_X, STATE_Y)]);
}

/* Takes the state to the end of a leg of this kind. The track loses `energy_loss` between its origin and the middle of
 * the leg. On short legs and gaps the bend is small, and derivatives of it by others than q/p are below the errors. */
STEPS_INLINE void move_state(int kind, const struct kalman_leg_scales *leg, const float *coefficients, float polarity,
                             const float noise[3], sl_f32s energy_loss, struct fit_state *s) {
  const int is_straight = kind == KALMAN_SHORT || kind == KALMAN_GAP;
  const sl_f32s qop = s->v[STATE_QOP], loss = energy_loss * sl_f32s_abs(qop);
  const sl_f32s by_qop = 1.0f + 2.0f * loss, dz = sl_f32s_of(leg->dz);
  const sl_f32s begin[STATE_NUMBERS] = {s->v[STATE_X], s->v[STATE_Y], s->v[STATE_TX], s->v[STATE_TY],
                                        qop * (1.0f + loss)};
  struct kalman_change change;
  kalman_transport(kind, leg, coefficients, polarity, begin, &change);
  add_to_x(sl_i32s_of(UINT32_MAX), fused(begin[STATE_TX], dz, change.value[KALMAN_X]), s);
  s->v[STATE_Y] = begin[STATE_Y] + fused(begin[STATE_TY], dz, change.value[KALMAN_Y]);
  s->v[STATE_TX] = begin[STATE_TX] + change.value[KALMAN_TX];
  s->v[STATE_TY] = begin[STATE_TY] + change.value[KALMAN_TY];
  STEPS_UNROLL
  for (int i = 0; i < KALMAN_OUTPUTS; i++) change.by[i][STATE_QOP] = change.by[i][STATE_QOP] * by_qop;
  if (is_straight) {
    sl_f32s by[KALMAN_OUTPUTS] = {change.by[0][STATE_QOP], change.by[1][STATE_QOP], change.by[2][STATE_QOP],
                                  change.by[3][STATE_QOP]};
    move_covariance_straight(leg->dz, by, s->c);
  } else {
    STEPS_UNROLL
    for (int i = 0; i < KALMAN_OUTPUTS; i++) {
      change.by[i][i] = change.by[i][i] + 1.0f;
      if (i < KALMAN_TX) change.by[i][i + KALMAN_TX] = change.by[i][i + KALMAN_TX] + dz;
    }
    move_covariance(change.by, s->c);
  }
  add_scattering(noise, is_straight, begin[STATE_TX], begin[STATE_TY], qop, s->c);
}

/* Measured x + tx dz - s (y + ty dz), in lanes with is_hit. The fibre or strip has x at y = 0, z = z + dzdy y, slope s
 * = dx/dy, and the variance of a measurement. */
struct fit_hit {
  sl_f32s x, z, dxdy, dzdy, variance;
  sl_i32s is_hit;
};

/* Updates the state at the plane with a hit near it: a shear makes the measured coordinate u the first number of the
 * covariance. (Without s dz ty: its error is below a micrometre.) Lanes without a hit keep all bits: their shear, gain
 * and residual are 0. */
SL_LANES_FUNCTION struct measurement update(const struct fit_hit *hit, float plane_z, struct fit_state *s) {
  const sl_f32s zero = sl_f32s_of(0.0f), y = s->v[STATE_Y];
  const sl_f32s by_y = -hit->dxdy; /* 0 without a hit */
  const sl_f32s dz = sl_f32s_select(hit->is_hit, fused(hit->dzdy, y, hit->z - plane_z), zero);
  sl_f32s *const c = s->c, cu[STATE_NUMBERS], gain[STATE_NUMBERS], c_uu, away; /* cu: covariance with u */
  STEPS_UNROLL
  for (int j = 0; j < STATE_NUMBERS; j++)
    cu[j] = fused(dz, c[at(STATE_TX, j)], fused(by_y, c[at(STATE_Y, j)], c[at(STATE_X, j)]));
  c_uu = fused(dz, cu[STATE_TX], fused(by_y, cu[STATE_Y], cu[STATE_X]));
  away = fused(by_y, fused(dz, s->v[STATE_TY], y), fused(dz, s->v[STATE_TX], s->x_rest));
  const sl_f32s residual = sl_f32s_select(hit->is_hit, (hit->x - s->v[STATE_X]) - away, zero);
  const sl_f32s variance = c_uu + hit->variance, r = sl_f32s_select(hit->is_hit, 1.0f / variance, zero);
  const sl_f32s shrink = sl_f32s_select(hit->is_hit, hit->variance * r, sl_f32s_of(1.0f));
  STEPS_UNROLL
  for (int j = 0; j < STATE_NUMBERS; j++) gain[j] = cu[j] * r;
  add_to_x(hit->is_hit, gain[STATE_X] * residual, s);
  STEPS_UNROLL
  for (int j = 1; j < STATE_NUMBERS; j++) {
    const sl_f32s away_by = -gain[j];
    s->v[j] = fused(gain[j], residual, s->v[j]);
    STEPS_UNROLL
    for (int k = 1; k <= j; k++) c[at(j, k)] = fused(away_by, cu[k], c[at(j, k)]);
  }
  STEPS_UNROLL
  for (int j = 1; j < STATE_NUMBERS; j++) cu[j] = cu[j] * shrink;
  STEPS_UNROLL
  for (int j = 1; j < STATE_NUMBERS; j++)
    c[at(STATE_X, j)] = cu[j] - by_y * c[at(STATE_Y, j)] - dz * c[at(STATE_TX, j)];
  const sl_f32s c_xu = c_uu * shrink - by_y * cu[STATE_Y] - dz * cu[STATE_TX];
  c[at(STATE_X, STATE_X)] = c_xu - by_y * c[at(STATE_Y, STATE_X)] - dz * c[at(STATE_TX, STATE_X)];
  const struct measurement measured = {residual, variance, residual * residual * r};
  return measured;
}

#endif
