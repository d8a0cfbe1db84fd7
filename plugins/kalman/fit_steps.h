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

/* ---------------------------------------------------------------------------------------------- in the VELO */

/* A projection, x or y: position, slope, and their covariance. */
struct velo_line {
  sl_f32s u, t, c_uu, c_ut, c_tt;
};
struct velo_state {
  struct velo_line x, y;
  sl_f32s z, chi2;
};

/* Material between two hits or from a hit to the beam line: README.md of selections, "Fit". */
struct velo_material {
  sl_f32s scattering;
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

/* Extrapolates by dz and updates with a hit. Returns the increment of chi2. */
SL_LANES_FUNCTION sl_f32s velo_step(struct velo_line *line, struct velo_material m, sl_f32s dz, sl_f32s hit,
                                    float hit_variance, sl_f32s qop2) {
  const sl_f32s dz2 = dz * dz, n2 = 1.0f + line->t * line->t, n = sl_f32s_sqrt(n2);
  const sl_f32s noise = n2 * (n2 * n) * qop2 * m.scattering;
  const float lever2 = m.lever * m.lever, apart = lever2 - m.lever_covariance * m.lever_covariance;
  const sl_f32s noise_uu = noise * dz2 * lever2, noise_ut = noise * dz * m.lever_covariance;
  const sl_f32s u = line->u + line->t * dz, residual = hit - u;
  const sl_f32s moved_uu = line->c_uu + 2.0f * dz * line->c_ut + dz2 * line->c_tt;
  const sl_f32s moved_ut = line->c_ut + dz * line->c_tt;
  const sl_f32s determinant = (line->c_uu * line->c_tt - line->c_ut * line->c_ut) + moved_uu * noise +
                              line->c_tt * noise_uu - 2.0f * moved_ut * noise_ut + noise * noise * dz2 * apart;
  const sl_f32s c_uu = moved_uu + noise_uu, c_ut = moved_ut + noise_ut, c_tt = line->c_tt + noise;
  const sl_f32s variance = hit_variance + c_uu, gain_u = c_uu / variance, gain_t = c_ut / variance;
  line->u = u + gain_u * residual;
  line->t = line->t + gain_t * residual;
  line->c_uu = hit_variance * gain_u;
  line->c_ut = hit_variance * gain_t;
  line->c_tt = (hit_variance * c_tt + determinant) / variance;
  return residual * residual / variance;
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
  sl_f32s v[STATE_NUMBERS], c[TRIANGLE];
};

/* Index in the triangle. */
SL_LANES_FUNCTION int at(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }

#if defined(SL_TARGET_CPU)
#define STEPS_UNROLL _Pragma("GCC unroll 16")
#else
#define STEPS_UNROLL SL_UNROLL
#endif

/* Takes the covariance through a transport: F C F^T, where the last row of F is (0, 0, 0, 0, 1). */
SL_LANES_FUNCTION void move_covariance(sl_f32s jacobian[KALMAN_OUTPUTS][5], sl_f32s c[TRIANGLE]) {
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

/* Adds the scattering of a leg; `noise`: sums of k, k l and k l^2; slopes and q/p at its begin. */
SL_LANES_FUNCTION void add_scattering(const float noise[3], sl_f32s tx, sl_f32s ty, sl_f32s qop, sl_f32s c[TRIANGLE]) {
  const sl_f32s tx2 = tx * tx, ty2 = ty * ty, n2 = 1.0f + tx2 + ty2, kick = 13.6f * qop;
  const sl_f32s w = kick * kick * (n2 * sl_f32s_sqrt(n2));
  const sl_f32s xx = w * (1.0f + tx2), yy = w * (1.0f + ty2), xy = w * (tx * ty);
  c[at(STATE_TX, STATE_TX)] = fused(xx, sl_f32s_of(noise[0]), c[at(STATE_TX, STATE_TX)]);
  c[at(STATE_TX, STATE_X)] = fused(xx, sl_f32s_of(noise[1]), c[at(STATE_TX, STATE_X)]);
  c[at(STATE_X, STATE_X)] = fused(xx, sl_f32s_of(noise[2]), c[at(STATE_X, STATE_X)]);
  c[at(STATE_TY, STATE_TY)] = fused(yy, sl_f32s_of(noise[0]), c[at(STATE_TY, STATE_TY)]);
  c[at(STATE_TY, STATE_Y)] = fused(yy, sl_f32s_of(noise[1]), c[at(STATE_TY, STATE_Y)]);
  c[at(STATE_Y, STATE_Y)] = fused(yy, sl_f32s_of(noise[2]), c[at(STATE_Y, STATE_Y)]);
  c[at(STATE_TX, STATE_TY)] = fused(xy, sl_f32s_of(noise[0]), c[at(STATE_TX, STATE_TY)]);
  c[at(STATE_X, STATE_TY)] = fused(xy, sl_f32s_of(noise[1]), c[at(STATE_X, STATE_TY)]);
  c[at(STATE_Y, STATE_TX)] = fused(xy, sl_f32s_of(noise[1]), c[at(STATE_Y, STATE_TX)]);
  c[at(STATE_X, STATE_Y)] = fused(xy, sl_f32s_of(noise[2]), c[at(STATE_X, STATE_Y)]);
}

/* Takes the state to the end of a leg of this kind. The track loses `energy_loss` between its origin and the middle of
 * the leg. */
SL_LANES_FUNCTION void move_state(int kind, const struct kalman_leg_scales *leg, const float *coefficients,
                                  float polarity, const float noise[3], sl_f32s energy_loss, struct fit_state *s) {
  const sl_f32s qop = s->v[STATE_QOP], loss = energy_loss * sl_f32s_abs(qop);
  const sl_f32s by_qop = 1.0f + 2.0f * loss;
  const sl_f32s begin[STATE_NUMBERS] = {s->v[STATE_X], s->v[STATE_Y], s->v[STATE_TX], s->v[STATE_TY],
                                        qop * (1.0f + loss)};
  sl_f32s jacobian[KALMAN_OUTPUTS][5];
  kalman_transport(kind, leg, coefficients, polarity, begin, s->v, jacobian);
  STEPS_UNROLL
  for (int i = 0; i < KALMAN_OUTPUTS; i++) jacobian[i][STATE_QOP] = jacobian[i][STATE_QOP] * by_qop;
  move_covariance(jacobian, s->c);
  add_scattering(noise, begin[STATE_TX], begin[STATE_TY], qop, s->c);
}

/* Measured x + tx dz - s (y + ty dz), in lanes with is_hit. The fibre or strip has x at y = 0, z = z + dzdy y, slope s
 * = dx/dy, and the variance of a measurement. */
struct fit_hit {
  sl_f32s x, z, dxdy, dzdy, variance;
  sl_i32s is_hit;
};

/* Updates the state at the plane with a hit near it: a shear makes the measured coordinate u the first number of the
 * state. Returns the increment of chi2, 0 without a hit. */
SL_LANES_FUNCTION sl_f32s update(const struct fit_hit *hit, float plane_z, struct fit_state *s) {
  const sl_f32s dz = hit->z + hit->dzdy * s->v[STATE_Y] - plane_z;
  const sl_f32s shear[4] = {sl_f32s_of(1.0f), -hit->dxdy, dz, -hit->dxdy * dz};
  sl_f32s cu[STATE_NUMBERS]; /* covariance of u */
  STEPS_UNROLL
  for (int j = 0; j < STATE_NUMBERS; j++) {
    cu[j] = s->c[at(0, j)];
    STEPS_UNROLL
    for (int k = 1; k < 4; k++) cu[j] = fused(shear[k], s->c[at(k, j)], cu[j]);
  }
  sl_f32s c_uu = cu[0], u = s->v[STATE_X];
  STEPS_UNROLL
  for (int k = 1; k < 4; k++) {
    c_uu = fused(shear[k], cu[k], c_uu);
    u = fused(shear[k], s->v[k], u);
  }
  const sl_f32s variance = c_uu + hit->variance, residual = hit->x - u, r = 1.0f / variance;
  struct fit_state n;
  sl_f32s new_cu[STATE_NUMBERS];
  STEPS_UNROLL
  for (int j = 1; j < STATE_NUMBERS; j++) {
    const sl_f32s gain = cu[j] * r;
    n.v[j] = fused(gain, residual, s->v[j]);
    new_cu[j] = hit->variance * gain;
    STEPS_UNROLL
    for (int k = 1; k <= j; k++) n.c[at(j, k)] = s->c[at(j, k)] - gain * cu[k];
  }
  const sl_f32s gain_u = c_uu * r;
  sl_f32s x = fused(gain_u, residual, u), c_xu = hit->variance * gain_u;
  STEPS_UNROLL
  for (int k = 1; k < 4; k++) {
    x = x - shear[k] * n.v[k];
    c_xu = c_xu - shear[k] * new_cu[k];
  }
  n.v[STATE_X] = x;
  STEPS_UNROLL
  for (int j = 1; j < STATE_NUMBERS; j++) {
    sl_f32s sum = new_cu[j];
    STEPS_UNROLL
    for (int k = 1; k < 4; k++) sum = sum - shear[k] * n.c[at(k, j)];
    n.c[at(0, j)] = sum;
  }
  STEPS_UNROLL
  for (int k = 1; k < 4; k++) c_xu = c_xu - shear[k] * n.c[at(0, k)];
  n.c[0] = c_xu;
  STEPS_UNROLL
  for (int j = 0; j < STATE_NUMBERS; j++) s->v[j] = sl_f32s_select(hit->is_hit, n.v[j], s->v[j]);
  STEPS_UNROLL
  for (int j = 0; j < TRIANGLE; j++) s->c[j] = sl_f32s_select(hit->is_hit, n.c[j], s->c[j]);
  return sl_f32s_select(hit->is_hit, residual * residual * r, sl_f32s_of(0.0f));
}

#endif
