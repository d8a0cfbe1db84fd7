/* calibration.h: constants of the reconstruction of tracks downstream of the VELO, as a plain struct.
 *
 * README.md describes each constant, and the origin of nominal.calibration and lhcb.calibration. The lists below are
 * the content of a file; read.h reads one. Lengths are mm, momenta MeV, slopes have no unit, q/p is e / MeV.
 */
#ifndef CALIBRATION_CALIBRATION_H
#define CALIBRATION_CALIBRATION_H

#include <math.h>
#include <stdint.h>

/* Single numbers: V(member, name in the file). */
#define CALIBRATION_VALUES(V)                           \
  V(ut_z_mid, "ut.z_mid")                               \
  V(ut_z_kink, "ut.z_kink")                             \
  V(ut_dist_to_momentum, "ut.dist_to_momentum")         \
  V(ut_kick_to_mev, "ut.kick_to_mev")                   \
  V(scifi_z_reference, "scifi.z_reference")             \
  V(scifi_z_end, "scifi.z_end")                         \
  V(scifi_dzdy, "scifi.dzdy")                           \
  V(forward_z_magnet, "forward.z_magnet")               \
  V(forward_z_ut, "forward.z_ut")                       \
  V(forward_x_range_qop, "forward.x_range_qop")         \
  V(seeding_d_ratio, "seeding.d_ratio")                 \
  V(seeding_tolerance, "seeding.tolerance")             \
  V(seeding_uv_tolerance, "seeding.uv_tolerance")       \
  V(seeding_uv_slope, "seeding.uv_slope")               \
  V(matching_z_y, "matching.z_y")                       \
  V(matching_y_scale, "matching.y_scale")               \
  V(matching_dtx_max, "matching.dtx_max")               \
  V(matching_dty_max, "matching.dty_max")               \
  V(matching_distance_x_max, "matching.distance_x_max") \
  V(matching_distance_y_max, "matching.distance_y_max") \
  V(matching_ut_y_tolerance, "matching.ut_y_tolerance")

/* Lists of numbers: L(member, name, count). */
#define CALIBRATION_LISTS(L)                         \
  L(ut_z_layer, "ut.z_layer", 4)                     \
  L(ut_dxdy, "ut.dxdy", 4)                           \
  L(ut_kink_error, "ut.kink_error", 2)               \
  L(ut_kink_error_per_p, "ut.kink_error_per_p", 2)   \
  L(ut_discriminant_3, "ut.discriminant_3", 4)       \
  L(ut_discriminant_4, "ut.discriminant_4", 4)       \
  L(scifi_dxdy, "scifi.dxdy", 12)                    \
  L(forward_z_layer, "forward.z_layer", 12)          \
  L(forward_x_window, "forward.x_window", 3)         \
  L(forward_x_range, "forward.x_range", 2)           \
  L(forward_sagitta, "forward.sagitta", 2)           \
  L(seeding_z_layer, "seeding.z_layer", 12)          \
  L(seeding_alpha, "seeding.alpha", 2)               \
  L(seeding_three_hit, "seeding.three_hit", 2)       \
  L(matching_x_tolerance, "matching.x_tolerance", 2) \
  L(matching_y_tolerance, "matching.y_tolerance", 2) \
  L(matching_weights, "matching.weights", 4)         \
  L(matching_ut_bend, "matching.ut_bend", 2)         \
  L(matching_ut_loose_0, "matching.ut_loose.0", 4)   \
  L(matching_ut_loose_1, "matching.ut_loose.1", 4)   \
  L(matching_ut_loose_2, "matching.ut_loose.2", 4)   \
  L(matching_ut_tight_1, "matching.ut_tight.1", 4)   \
  L(matching_ut_tight_2, "matching.ut_tight.2", 4)   \
  L(matching_ut_tight_3, "matching.ut_tight.3", 4)

/* Polynomials: P(member, name, count, variables). If count > 1, the file has name.0, name.1, ... */
#define CALIBRATION_POLYNOMIALS(P)                                      \
  P(ut_z_kink_of_ty, "ut.z_kink_of_ty", 1, "ty")                        \
  P(forward_kick, "forward.kick", 3, "tx ty")                           \
  P(forward_y, "forward.y", 12, "shift tx ty")                          \
  P(forward_x_magnet, "forward.x_magnet", 1, "slope")                   \
  P(forward_d_ratio, "forward.d_ratio", 1, "radius")                    \
  P(forward_border, "forward.border", 1, "inverse_p tx ty")             \
  P(forward_bend, "forward.bend", 1, "bend tx ty")                      \
  P(seeding_inverse_p, "seeding.inverse_p", 1, "abs_x0")                \
  P(seeding_bend, "seeding.bend", 1, "x0 tx ty")                        \
  P(matching_z_magnet, "matching.z_magnet", 1, "abs_dtx abs_x tx_velo") \
  P(matching_bend, "matching.bend", 1, "abs_dtx tx tx_velo ty_velo")

/* Tables: T(member, name, axes). */
#define CALIBRATION_TABLES(T)                       \
  T(ut_deflection, "ut.deflection", "layer abs_ty") \
  T(ut_integral, "ut.integral", "ty z_origin z_velo")

enum {
  CALIBRATION_FORMAT = 1,
  CALIBRATION_VARIABLES = 4,
  CALIBRATION_TERMS = 64,
  CALIBRATION_AXES = 3,
  CALIBRATION_ENTRIES = 4096,
  CALIBRATION_NAME_BYTES = 32
};

/* A polynomial is the sum, in this order, of coefficients times products of powers. */
struct calibration_term {
  double coefficient;
  uint8_t power[8]; /* by variable */
};
struct calibration_polynomial {
  uint32_t count, reserved;
  struct calibration_term terms[CALIBRATION_TERMS];
};

/* Entries at equal distances along each axis, from `low` to `high`; the first axis varies fastest. */
struct calibration_axis {
  double low, high;
  uint32_t count, reserved;
};
struct calibration_table {
  struct calibration_axis axes[CALIBRATION_AXES]; /* an unused axis has one entry */
  double at[CALIBRATION_ENTRIES];
};

struct calibration {
  char name[CALIBRATION_NAME_BYTES];
#define CALIBRATION_MEMBER_(member, name) double member;
  CALIBRATION_VALUES(CALIBRATION_MEMBER_)
#undef CALIBRATION_MEMBER_
#define CALIBRATION_MEMBER_(member, name, count) double member[count];
  CALIBRATION_LISTS(CALIBRATION_MEMBER_)
#undef CALIBRATION_MEMBER_
#define CALIBRATION_MEMBER_(member, name, count, variables) struct calibration_polynomial member[count];
  CALIBRATION_POLYNOMIALS(CALIBRATION_MEMBER_)
#undef CALIBRATION_MEMBER_
#define CALIBRATION_MEMBER_(member, name, axes) struct calibration_table member;
  CALIBRATION_TABLES(CALIBRATION_MEMBER_)
#undef CALIBRATION_MEMBER_
};

static inline double calibration_power(double x, uint32_t power) {
  double product = 1;
  for (uint32_t i = 0; i < power; i++) product *= x;
  return product;
}

/* Product of the powers of a term. */
static inline double calibration_monomial(const struct calibration_term *term, const double *variables) {
  double product = 1;
  for (uint32_t k = 0; k < CALIBRATION_VARIABLES; k++)
    if (term->power[k] > 0) product *= calibration_power(variables[k], term->power[k]);
  return product;
}

static inline double calibration_sum(const struct calibration_polynomial *p, const double *variables) {
  double sum = 0;
  for (uint32_t i = 0; i < p->count; i++)
    sum += p->terms[i].coefficient * calibration_monomial(&p->terms[i], variables);
  return sum;
}

/* Coefficient of the term with this power of the first variable alone; 0 if there is none. */
static inline double calibration_coefficient(const struct calibration_polynomial *p, uint32_t power) {
  double found = 0;
  for (uint32_t i = 0; i < p->count; i++) {
    const uint8_t *powers = p->terms[i].power;
    if (powers[0] == power && powers[1] == 0 && powers[2] == 0 && powers[3] == 0) found += p->terms[i].coefficient;
  }
  return found;
}

static inline double calibration_step(const struct calibration_axis *axis) {
  return axis->count > 1 ? (axis->high - axis->low) / (axis->count - 1) : 0;
}

/* Index of the entry at or below `value`, limited to the range of the axis. */
static inline uint32_t calibration_bin(const struct calibration_axis *axis, double value) {
  if (axis->count < 2 || !(value > axis->low)) return 0;
  if (value >= axis->high) return axis->count - 1;
  const uint32_t bin = (uint32_t)((value - axis->low) / calibration_step(axis));
  return bin < axis->count ? bin : axis->count - 1;
}

/* Value of the table, interpolated along each axis with the difference to the next entry; constant beyond the ends. */
static inline double calibration_look_up(const struct calibration_table *t, const double *values) {
  uint32_t index = 0, stride = 1, strides[CALIBRATION_AXES], bins[CALIBRATION_AXES];
  for (uint32_t k = 0; k < CALIBRATION_AXES; k++) {
    bins[k] = calibration_bin(&t->axes[k], values[k]);
    strides[k] = stride;
    index += bins[k] * stride;
    stride *= t->axes[k].count;
  }
  double result = t->at[index];
  for (uint32_t k = 0; k < CALIBRATION_AXES; k++) {
    const struct calibration_axis *axis = &t->axes[k];
    if (bins[k] + 1 >= axis->count || values[k] < axis->low) continue;
    const double step = calibration_step(axis), from = axis->low + step * bins[k];
    result += (t->at[index + strides[k]] - t->at[index]) / step * (values[k] - from);
  }
  return result;
}

#endif
