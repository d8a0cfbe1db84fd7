/* terms.h: planes and legs of the transport of tracks, and the terms of the polynomials of each leg. For kernels and
 * host code.
 *
 * Leg l goes from plane l to plane l + 1. Its polynomials are sums of terms X^a Y^b u^c v^d phi^e (README.md). The set
 * of terms depends only on the kind of the leg:
 *
 *   1 <= e <= e_max,   c + d <= cd_max,   a + b + w (c + d) + (e - 1) <= degree,   c + d = 0 if e > slope_e_max.
 *   A reflection in x exchanges the charges: a + c + e is odd for x and tx, and even for y and ty.
 *   A reflection in y changes nothing:       b + d is even for x and tx, and odd for y and ty.
 *
 * Order of terms: ascending in e, then in c, d, a and b.
 */
#ifndef KALMAN_TERMS_H
#define KALMAN_TERMS_H

#include <sluice/math.h>

/* Planes: the end of the VELO (V), four layers of the UT (U0 to U3), twelve layers of the SciFi (T0 to T11). */
enum {
  KALMAN_UT_LAYERS = 4,
  KALMAN_SCIFI_LAYERS = 12,
  KALMAN_STATION_LAYERS = 4,
  KALMAN_V = 0,
  KALMAN_U0 = 1,
  KALMAN_T0 = KALMAN_U0 + KALMAN_UT_LAYERS,
  KALMAN_PLANES = KALMAN_T0 + KALMAN_SCIFI_LAYERS,
  KALMAN_LEGS = KALMAN_PLANES - 1
};

/* Kinds of legs: V to U0; within the UT or a station of the SciFi; between two stations; U3 to T0. */
enum { KALMAN_FIRST, KALMAN_SHORT, KALMAN_GAP, KALMAN_LONG, KALMAN_KINDS };

SL_MATH_FUNCTION int kalman_kind(int leg) {
  const int is_gap = leg > KALMAN_T0 && (leg + 1 - KALMAN_T0) % KALMAN_STATION_LAYERS == 0;
  return leg == KALMAN_V ? KALMAN_FIRST : leg + 1 == KALMAN_T0 ? KALMAN_LONG : is_gap ? KALMAN_GAP : KALMAN_SHORT;
}

/* Components of a state. x and tx have the same terms, y and ty too. */
enum { KALMAN_X, KALMAN_Y, KALMAN_TX, KALMAN_TY, KALMAN_OUTPUTS };
SL_MATH_FUNCTION int kalman_is_y(int output) { return output % 2; }

/* Limits of the powers. */
SL_MATH_FUNCTION int kalman_degree(int kind) { return kind == KALMAN_LONG ? 8 : kind == KALMAN_GAP ? 5 : 4; }
SL_MATH_FUNCTION int kalman_e_max(int kind) { return kind == KALMAN_LONG ? 7 : 3; }
SL_MATH_FUNCTION int kalman_cd_max(int kind) { return kind == KALMAN_LONG || kind == KALMAN_FIRST ? 2 : 1; }
SL_MATH_FUNCTION int kalman_slope_weight(int kind) { return kind == KALMAN_LONG ? 3 : 2; } /* w */
SL_MATH_FUNCTION int kalman_slope_e_max(int kind) {
  return kind == KALMAN_SHORT ? 1 : kind == KALMAN_GAP ? 2 : kalman_e_max(kind);
}

/* The most c + d of the terms with this e. */
SL_MATH_FUNCTION int kalman_cd_of(int kind, int e) {
  const int most = (kalman_degree(kind) - (e - 1)) / kalman_slope_weight(kind);
  return e > kalman_slope_e_max(kind) ? 0 : most < kalman_cd_max(kind) ? most : kalman_cd_max(kind);
}
/* The most a + b of the terms with these e, c and d. */
SL_MATH_FUNCTION int kalman_ab_of(int kind, int e, int c, int d) {
  return kalman_degree(kind) - (e - 1) - kalman_slope_weight(kind) * (c + d);
}
/* The least a, and the least b, of the terms with these e, c and d; the others follow in steps of 2. */
SL_MATH_FUNCTION int kalman_first_a(int is_y, int e, int c) { return (e + c + 1 + is_y) % 2; }
SL_MATH_FUNCTION int kalman_first_b(int is_y, int d) { return (d + is_y) % 2; }

/* Numbers of terms. */
enum {
  KALMAN_FIRST_X_TERMS = 17,
  KALMAN_FIRST_Y_TERMS = 11,
  KALMAN_SHORT_X_TERMS = 14,
  KALMAN_SHORT_Y_TERMS = 9,
  KALMAN_GAP_X_TERMS = 22,
  KALMAN_GAP_Y_TERMS = 17,
  KALMAN_LONG_X_TERMS = 99,
  KALMAN_LONG_Y_TERMS = 82,
  KALMAN_TERMS_MAX = KALMAN_LONG_X_TERMS
};
SL_MATH_FUNCTION int kalman_term_count(int kind, int is_y) {
  return kind == KALMAN_FIRST   ? (is_y ? KALMAN_FIRST_Y_TERMS : KALMAN_FIRST_X_TERMS)
         : kind == KALMAN_SHORT ? (is_y ? KALMAN_SHORT_Y_TERMS : KALMAN_SHORT_X_TERMS)
         : kind == KALMAN_GAP   ? (is_y ? KALMAN_GAP_Y_TERMS : KALMAN_GAP_X_TERMS)
                                : (is_y ? KALMAN_LONG_Y_TERMS : KALMAN_LONG_X_TERMS);
}

/* Powers of the variables X, Y, u, v and phi of a term. */
enum { KALMAN_VARIABLES = 5 };
struct kalman_term {
  int power[KALMAN_VARIABLES];
};

/* Lists the terms in their order; returns their number. */
SL_MATH_FUNCTION int kalman_list_terms(int kind, int is_y, struct kalman_term terms[KALMAN_TERMS_MAX]) {
  int count = 0;
  for (int e = 1; e <= kalman_e_max(kind); e++)
    for (int c = 0; c <= kalman_cd_of(kind, e); c++)
      for (int d = 0; c + d <= kalman_cd_of(kind, e); d++)
        for (int a = kalman_first_a(is_y, e, c); a <= kalman_ab_of(kind, e, c, d); a += 2)
          for (int b = kalman_first_b(is_y, d); a + b <= kalman_ab_of(kind, e, c, d); b += 2) {
            const struct kalman_term term = {{a, b, c, d, e}};
            if (count < KALMAN_TERMS_MAX) terms[count] = term;
            count++;
          }
  return count;
}

/* Units of the variables: phi = -pol (q/p) KALMAN_PHI_P, and u and v in units of slopes. */
#define KALMAN_PHI_P 2500.0 /* MeV */
SL_MATH_FUNCTION double kalman_u_unit(int kind) { return kind == KALMAN_FIRST || kind == KALMAN_LONG ? 0.08 : 0.5; }
SL_MATH_FUNCTION double kalman_v_unit(int kind) { return kind == KALMAN_FIRST || kind == KALMAN_LONG ? 0.08 : 0.3; }
/* 1 if u and v are relative to the line from the origin of coordinates. */
SL_MATH_FUNCTION int kalman_is_pointing(int kind) { return kind == KALMAN_FIRST || kind == KALMAN_LONG; }

#endif
