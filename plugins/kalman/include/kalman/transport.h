/* transport.h: change of the state of a track from one plane to the next, by polynomials (README.md), and its
 * derivatives. For kernels and host code.
 *
 * kalman_transport is in single precision: only +, -, * and fmaf, in a fixed order, without branches on data. If `kind`
 * is known to the compiler, so are all bounds of loops. Nesting, from the outside: phi, u, v, X, Y, by Horner's scheme;
 * X and Y in steps of 2, so that the innermost sums are polynomials of X^2 and Y^2. The two outputs that share the
 * terms, x and tx or y and ty, are summed together.
 *
 * Numbers are float, one track at a time, unless KALMAN_NUMBER, KALMAN_NUMBER_OF and KALMAN_FMA are defined before:
 * then vectors with one track per lane, with the same bits. kalman_transport_plain is in double precision, term by
 * term. */
#ifndef KALMAN_TRANSPORT_H
#define KALMAN_TRANSPORT_H

#include "kalman/terms.h"

#ifndef KALMAN_NUMBER
#define KALMAN_NUMBER         float
#define KALMAN_NUMBER_OF(x)   (x)
#define KALMAN_FMA(a, b, sum) fmaf(a, b, sum)
#endif
/* gcc unrolls nested loops of this kind completely, clang only in part, which is slower than not at all. */
#if defined(__CUDA_ARCH__) || defined(__HIPCC__)
#define KALMAN_UNROLL_ _Pragma("unroll")
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define KALMAN_UNROLL_ _Pragma("GCC unroll 8")
#else
#define KALMAN_UNROLL_
#endif
/* With sanitizers, or without optimization, the inlined sums take an hour to compile. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define KALMAN_INLINE_ SL_MATH_FUNCTION
#else
#define KALMAN_INLINE_ SL_MATH_FUNCTION __attribute__((always_inline))
#endif

/* ------------------------------------------------------------------------------------------ constants of a leg */

/* Constants of a leg in double precision, as in the file; coefficients in the order of the terms. */
struct kalman_leg {
  double z_begin, z_end; /* planes, mm */
  double x_max, y_max;   /* X = x / x_max, Y = y / y_max */
  double bend;           /* B, MeV: u = (tx - x / z_begin + pol B q/p) / unit; 0 if u is not relative to a line */
  double coefficients[KALMAN_OUTPUTS][KALMAN_TERMS_MAX];
};

/* The same, except for the coefficients, for kalman_transport. */
struct kalman_leg_scales {
  float dz;
  float x, y; /* X = x scale, Y = y scale */
  float u, v; /* u = (tx - pivot x) scale - bend phi, v = (ty - pivot y) scale */
  float pivot, bend;
};

/* All legs. Coefficients of a leg: pairs for x and tx, then pairs for y and ty. */
#define KALMAN_PAIRS_(kind) (KALMAN_##kind##_X_TERMS + KALMAN_##kind##_Y_TERMS)
enum {
  KALMAN_COEFFICIENTS =
      2 * (KALMAN_PAIRS_(FIRST) + 12 * KALMAN_PAIRS_(SHORT) + 2 * KALMAN_PAIRS_(GAP) + KALMAN_PAIRS_(LONG))
};
struct kalman_polynomials {
  struct kalman_leg_scales legs[KALMAN_LEGS];
  float coefficients[KALMAN_COEFFICIENTS];
};

/* Index of a leg's first coefficient. */
SL_MATH_FUNCTION int kalman_first_coefficient(int leg) {
  int sum = 0;
  for (int l = 0; l < leg; l++)
    sum += 2 * (kalman_term_count(kalman_kind(l), 0) + kalman_term_count(kalman_kind(l), 1));
  return sum;
}

/* Rounds the constants of a leg; `coefficients` has room for the leg's coefficients. */
SL_MATH_FUNCTION void kalman_round_leg(int leg, const struct kalman_leg *from, struct kalman_leg_scales *scales,
                                       float *coefficients) {
  const int kind = kalman_kind(leg);
  scales->dz = (float)(from->z_end - from->z_begin);
  scales->x = (float)(1 / from->x_max);
  scales->y = (float)(1 / from->y_max);
  scales->u = (float)(1 / kalman_u_unit(kind));
  scales->v = (float)(1 / kalman_v_unit(kind));
  scales->pivot = kalman_is_pointing(kind) ? (float)(1 / from->z_begin) : 0.0f;
  scales->bend = (float)(from->bend / (KALMAN_PHI_P * kalman_u_unit(kind)));
  for (int is_y = 0; is_y < 2; is_y++)
    for (int i = 0; i < kalman_term_count(kind, is_y); i++) {
      *coefficients++ = (float)from->coefficients[is_y ? KALMAN_Y : KALMAN_X][i];
      *coefficients++ = (float)from->coefficients[is_y ? KALMAN_TY : KALMAN_TX][i];
    }
}

/* ------------------------------------------------------------------------------------------- single precision */

/* Value of a polynomial, and its derivatives by X, Y, u, v and phi. */
struct kalman_sum {
  KALMAN_NUMBER value, by_x, by_y, by_u, by_v, by_phi;
};

KALMAN_INLINE_ struct kalman_sum kalman_zero(void) {
  const KALMAN_NUMBER zero = KALMAN_NUMBER_OF(0.0f);
  const struct kalman_sum sum = {zero, zero, zero, zero, zero, zero};
  return sum;
}

/* Step n (from 0 on) of Horner's scheme: the sum, or a derivative by another variable, from its value before the step;
 * and the derivative by the variable of the scheme. Step 0 begins with zeros, without multiplying them. */
KALMAN_INLINE_ KALMAN_NUMBER kalman_step(int n, KALMAN_NUMBER sum, KALMAN_NUMBER at, KALMAN_NUMBER next) {
  return n > 0 ? KALMAN_FMA(sum, at, next) : next;
}
KALMAN_INLINE_ KALMAN_NUMBER kalman_step_derivative(int n, KALMAN_NUMBER derivative, KALMAN_NUMBER at,
                                                    KALMAN_NUMBER sum_before) {
  return n > 1 ? KALMAN_FMA(derivative, at, sum_before) : n > 0 ? sum_before : KALMAN_NUMBER_OF(0.0f);
}

/* Sum of the terms with the same e, c and d, without u, v and phi, of two outputs. `next` is the end of their
 * coefficients. Returns their begin. */
KALMAN_INLINE_ const float *kalman_sum_xy(int first_a, int first_b, int most, const float *next, KALMAN_NUMBER x,
                                          KALMAN_NUMBER y, struct kalman_sum sums[2]) {
  const KALMAN_NUMBER zero = KALMAN_NUMBER_OF(0.0f), s = x * x, t = y * y;
  KALMAN_NUMBER sum[2] = {zero, zero}, by_s[2] = {zero, zero}, by_t[2] = {zero, zero};
  const int rows = (most - first_b - first_a + 2) / 2;
  KALMAN_UNROLL_
  for (int i = 0; i < rows; i++) { /* a = first_a + 2 (rows - 1 - i) */
    const int columns = (most - first_b - (first_a + 2 * (rows - 1 - i)) + 2) / 2;
    KALMAN_NUMBER row[2] = {zero, zero}, row_by_t[2] = {zero, zero};
    KALMAN_UNROLL_
    for (int j = 0; j < columns; j++) { /* b = first_b + 2 (columns - 1 - j) */
      next -= 2;
      KALMAN_UNROLL_
      for (int o = 0; o < 2; o++) {
        row_by_t[o] = kalman_step_derivative(j, row_by_t[o], t, row[o]);
        row[o] = kalman_step(j, row[o], t, KALMAN_NUMBER_OF(next[o]));
      }
    }
    KALMAN_UNROLL_
    for (int o = 0; o < 2; o++) {
      by_s[o] = kalman_step_derivative(i, by_s[o], s, sum[o]);
      sum[o] = kalman_step(i, sum[o], s, row[o]);
      by_t[o] = kalman_step(i, by_t[o], s, row_by_t[o]);
    }
  }
  const KALMAN_NUMBER one = KALMAN_NUMBER_OF(1.0f), x_a = first_a ? x : one, y_b = first_b ? y : one;
  KALMAN_UNROLL_
  for (int o = 0; o < 2; o++) {
    sums[o].value = x_a * y_b * sum[o];
    sums[o].by_x = y_b * (first_a ? KALMAN_FMA(s + s, by_s[o], sum[o]) : (x + x) * by_s[o]);
    sums[o].by_y = x_a * (first_b ? KALMAN_FMA(t + t, by_t[o], sum[o]) : (y + y) * by_t[o]);
  }
  return next;
}

/* The variables X, Y, u, v and phi, and what to sum: the terms of x and tx, or of y and ty, of a kind of leg. */
struct kalman_terms {
  int kind, is_y;
  KALMAN_NUMBER x, y, u, v, phi;
};

/* The sums over e, c and d are calls with numbers that the compiler knows. (nvcc does not unroll nested loops
 * completely if the bounds of the inner one depend on the outer one.)
 *
 * Adds the terms with these e, c and d to `by_c`, in step k of the scheme in v; `next`: end of their coefficients. */
KALMAN_INLINE_ const float *kalman_sum_d(const struct kalman_terms *t, int e, int c, int d, int k, const float *next,
                                         struct kalman_sum by_c[2]) {
  struct kalman_sum part[2];
  next = kalman_sum_xy(kalman_first_a(t->is_y, e, c), kalman_first_b(t->is_y, d), kalman_ab_of(t->kind, e, c, d), next,
                       t->x, t->y, part);
  KALMAN_UNROLL_
  for (int o = 0; o < 2; o++) {
    by_c[o].by_v = kalman_step_derivative(k, by_c[o].by_v, t->v, by_c[o].value);
    by_c[o].value = kalman_step(k, by_c[o].value, t->v, part[o].value);
    by_c[o].by_x = kalman_step(k, by_c[o].by_x, t->v, part[o].by_x);
    by_c[o].by_y = kalman_step(k, by_c[o].by_y, t->v, part[o].by_y);
  }
  return next;
}

/* Adds the terms with these e and c, and d from d_most down to 0, to `by_e`, step j of the scheme in u. */
KALMAN_INLINE_ const float *kalman_sum_c(const struct kalman_terms *t, int e, int c, int d_most, int j,
                                         const float *next, struct kalman_sum by_e[2]) {
  struct kalman_sum by_c[2] = {kalman_zero(), kalman_zero()};
  if (d_most >= 2) next = kalman_sum_d(t, e, c, 2, 0, next, by_c);
  if (d_most >= 1) next = kalman_sum_d(t, e, c, 1, d_most - 1, next, by_c);
  next = kalman_sum_d(t, e, c, 0, d_most, next, by_c);
  KALMAN_UNROLL_
  for (int o = 0; o < 2; o++) {
    by_e[o].by_u = kalman_step_derivative(j, by_e[o].by_u, t->u, by_e[o].value);
    by_e[o].value = kalman_step(j, by_e[o].value, t->u, by_c[o].value);
    by_e[o].by_x = kalman_step(j, by_e[o].by_x, t->u, by_c[o].by_x);
    by_e[o].by_y = kalman_step(j, by_e[o].by_y, t->u, by_c[o].by_y);
    by_e[o].by_v = kalman_step(j, by_e[o].by_v, t->u, by_c[o].by_v);
  }
  return next;
}

/* Adds the terms with this e to `sums`, step i of the scheme in phi. */
KALMAN_INLINE_ const float *kalman_sum_e(const struct kalman_terms *t, int e, int i, const float *next,
                                         struct kalman_sum sums[2]) {
  const int most = kalman_cd_of(t->kind, e); /* at most 2 */
  struct kalman_sum by_e[2] = {kalman_zero(), kalman_zero()};
  if (most >= 2) next = kalman_sum_c(t, e, 2, most - 2, 0, next, by_e);
  if (most >= 1) next = kalman_sum_c(t, e, 1, most - 1, most - 1, next, by_e);
  next = kalman_sum_c(t, e, 0, most, most, next, by_e);
  KALMAN_UNROLL_
  for (int o = 0; o < 2; o++) {
    sums[o].by_phi = kalman_step_derivative(i, sums[o].by_phi, t->phi, sums[o].value);
    sums[o].value = kalman_step(i, sums[o].value, t->phi, by_e[o].value);
    sums[o].by_x = kalman_step(i, sums[o].by_x, t->phi, by_e[o].by_x);
    sums[o].by_y = kalman_step(i, sums[o].by_y, t->phi, by_e[o].by_y);
    sums[o].by_u = kalman_step(i, sums[o].by_u, t->phi, by_e[o].by_u);
    sums[o].by_v = kalman_step(i, sums[o].by_v, t->phi, by_e[o].by_v);
  }
  return next;
}

/* Sums of two outputs: x and tx, or y and ty. `coefficients` has a pair for each term. */
KALMAN_INLINE_ void kalman_sum_terms(const struct kalman_terms *t, const float *coefficients,
                                     struct kalman_sum sums[2]) {
  const float *next = coefficients + 2 * kalman_term_count(t->kind, t->is_y);
  const int e_max = kalman_e_max(t->kind); /* at most 7 */
  sums[0] = sums[1] = kalman_zero();
  if (e_max >= 7) next = kalman_sum_e(t, 7, e_max - 7, next, sums);
  if (e_max >= 6) next = kalman_sum_e(t, 6, e_max - 6, next, sums);
  if (e_max >= 5) next = kalman_sum_e(t, 5, e_max - 5, next, sums);
  if (e_max >= 4) next = kalman_sum_e(t, 4, e_max - 4, next, sums);
  if (e_max >= 3) next = kalman_sum_e(t, 3, e_max - 3, next, sums);
  if (e_max >= 2) next = kalman_sum_e(t, 2, e_max - 2, next, sums);
  kalman_sum_e(t, 1, e_max - 1, next, sums);
  KALMAN_UNROLL_
  for (int o = 0; o < 2; o++) { /* e begins with 1 */
    sums[o].by_phi = KALMAN_FMA(sums[o].by_phi, t->phi, sums[o].value);
    sums[o].value = sums[o].value * t->phi;
    sums[o].by_x = sums[o].by_x * t->phi;
    sums[o].by_y = sums[o].by_y * t->phi;
    sums[o].by_u = sums[o].by_u * t->phi;
    sums[o].by_v = sums[o].by_v * t->phi;
  }
}

/* Change of x, y, tx and ty on a leg, besides that by the straight line, and its derivatives by x, y, tx, ty and q/p.
 */
struct kalman_change {
  KALMAN_NUMBER value[KALMAN_OUTPUTS], by[KALMAN_OUTPUTS][5];
};

/* Change of `state` (x, y, tx, ty, q/p) on a leg of this kind, which ends at x + tx dz + value[KALMAN_X], tx +
 * value[KALMAN_TX], and so for y. `polarity` is -1 for down and 1 for up. Derivatives that the caller does not use cost
 * nothing. */
KALMAN_INLINE_ void kalman_transport(int kind, const struct kalman_leg_scales *leg, const float *coefficients,
                                     float polarity, const KALMAN_NUMBER state[5], struct kalman_change *change) {
  const float phi_p = -polarity * (float)KALMAN_PHI_P;
  const KALMAN_NUMBER phi = state[4] * phi_p;
  const KALMAN_NUMBER u = (state[2] - state[0] * leg->pivot) * leg->u - phi * leg->bend;
  const KALMAN_NUMBER v = (state[3] - state[1] * leg->pivot) * leg->v;
  struct kalman_terms terms = {kind, 0, state[0] * leg->x, state[1] * leg->y, u, v, phi};
  struct kalman_sum sums[KALMAN_OUTPUTS]; /* x, tx, y, ty */
  kalman_sum_terms(&terms, coefficients, sums);
  terms.is_y = 1;
  kalman_sum_terms(&terms, coefficients + 2 * kalman_term_count(kind, 0), sums + 2);
  KALMAN_UNROLL_
  for (int o = 0; o < KALMAN_OUTPUTS; o++) {
    const struct kalman_sum *sum = &sums[o % 2 * 2 + o / 2];
    const KALMAN_NUMBER by_u = sum->by_u * leg->u, by_v = sum->by_v * leg->v;
    change->value[o] = sum->value;
    change->by[o][0] = sum->by_x * leg->x - by_u * leg->pivot;
    change->by[o][1] = sum->by_y * leg->y - by_v * leg->pivot;
    change->by[o][2] = by_u;
    change->by[o][3] = by_v;
    change->by[o][4] = (sum->by_phi - sum->by_u * leg->bend) * phi_p;
  }
}

/* ------------------------------------------------------------------------------------------- double precision */

/* Sets the variables X, Y, u, v and phi of a state. */
SL_MATH_FUNCTION void kalman_variables(int kind, const struct kalman_leg *leg, double polarity, const double state[5],
                                       double at[KALMAN_VARIABLES]) {
  const double pivot = kalman_is_pointing(kind) ? 1 / leg->z_begin : 0;
  at[0] = state[0] / leg->x_max;
  at[1] = state[1] / leg->y_max;
  at[2] = (state[2] - state[0] * pivot + polarity * leg->bend * state[4]) / kalman_u_unit(kind);
  at[3] = (state[3] - state[1] * pivot) / kalman_v_unit(kind);
  at[4] = -polarity * state[4] * KALMAN_PHI_P;
}

/* variables[k]^power[k], multiplied; the powers of the variable `but` (if 0 to 4) are differentiated. */
SL_MATH_FUNCTION double kalman_monomial(const struct kalman_term *term, const double at[KALMAN_VARIABLES], int but) {
  double product = 1;
  for (int k = 0; k < KALMAN_VARIABLES; k++) {
    if (k == but) product = product * term->power[k];
    for (int i = k == but ? 1 : 0; i < term->power[k]; i++) product = product * at[k];
  }
  return product;
}

/* As kalman_transport, for leg `l`. */
SL_MATH_FUNCTION void kalman_transport_plain(int l, const struct kalman_leg *leg, double polarity,
                                             const double state[5], double end[KALMAN_OUTPUTS],
                                             double jacobian[KALMAN_OUTPUTS][5]) {
  const int kind = kalman_kind(l);
  const double dz = leg->z_end - leg->z_begin, pivot = kalman_is_pointing(kind) ? 1 / leg->z_begin : 0;
  double at[KALMAN_VARIABLES];
  kalman_variables(kind, leg, polarity, state, at);
  for (int o = 0; o < KALMAN_OUTPUTS; o++) {
    struct kalman_term terms[KALMAN_TERMS_MAX];
    const int count = kalman_list_terms(kind, kalman_is_y(o), terms);
    double value = 0, by[KALMAN_VARIABLES] = {0, 0, 0, 0, 0};
    for (int i = 0; i < count; i++) {
      value += leg->coefficients[o][i] * kalman_monomial(&terms[i], at, -1);
      for (int k = 0; k < KALMAN_VARIABLES; k++) by[k] += leg->coefficients[o][i] * kalman_monomial(&terms[i], at, k);
    }
    end[o] = state[o] + (o < KALMAN_TX ? state[o + 2] * dz : 0) + value;
    const double by_u = by[2] / kalman_u_unit(kind), by_v = by[3] / kalman_v_unit(kind);
    jacobian[o][0] = by[0] / leg->x_max - by_u * pivot;
    jacobian[o][1] = by[1] / leg->y_max - by_v * pivot;
    jacobian[o][2] = by_u;
    jacobian[o][3] = by_v;
    jacobian[o][4] = polarity * (by_u * leg->bend - by[4] * KALMAN_PHI_P);
    jacobian[o][o] += 1;
    if (o < KALMAN_TX) jacobian[o][o + 2] += dz;
  }
}

#endif
