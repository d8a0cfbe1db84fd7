/* math64.h: mathematical functions in double precision for kernels, with identical bits on every target.
 *
 * The rules of math.h hold: only operations that IEEE 754 defines to the last bit (here +, -, *, /, sqrt, fma,
 * comparisons, integer operations), no tables, no branch on an argument; compile without contraction. Polynomials are
 * Taylor series, long enough that the rest is below 2^-58 of the result.
 *
 * Errors are in ulp, units in the last place of the true result rounded to double (0.5 is the best possible): the
 * largest difference found from the C library's long double function over the stated range (math64_test). NaN gives
 * NaN. Where many values in float precision are enough, the functions of math.h are several times faster, above all on
 * a GPU with little double precision. */
#ifndef SLUICE_MATH64_H
#define SLUICE_MATH64_H

#include <sluice/math.h>

/* --------------------------------------------------------------------------------------------------- bits */

SL_MATH_FUNCTION double sl_abs_f64(double x) { return sl_f64_from_bits(sl_bits_from_f64(x) & 0x7fffffffffffffffu); }

/* |magnitude| with the sign of `sign`. */
SL_MATH_FUNCTION double sl_copysign_f64(double magnitude, double sign) {
  return sl_f64_from_bits((sl_bits_from_f64(magnitude) & 0x7fffffffffffffffu) |
                          (sl_bits_from_f64(sign) & 0x8000000000000000u));
}

/* -------------------------------------------------------------------------------- exponential functions */

/* Square root, correctly rounded (0.5 ulp); NaN below zero, -0 for -0. */
SL_MATH_FUNCTION double sl_sqrt(double x) { return sqrt(x); }

/* x = n ln 2 + r + r_rest, |r| <= ln 2 / 2; e^r - 1 = r + rest. */
struct sl_exp_parts_ {
  double n, r, rest;
};

/* For -746 <= x <= 711. */
SL_MATH_FUNCTION struct sl_exp_parts_ sl_exp_split_(double x) {
  const double round_to_integer = 0x1.8p52; /* adding it leaves the nearest integer in the low bits */
  struct sl_exp_parts_ parts;
  parts.n = fma(x, 0x1.71547652b82fep+0, round_to_integer) - round_to_integer;
  const double first = fma(parts.n, -0x1.62e42fefa0000p-1, x), second = parts.n * -0x1.cf79abc9e3b3ap-40;
  const double r = first + second, r_rest = second - (r - first);
  double p = 1.0 / 87178291200.0; /* 1/14! */
  p = fma(p, r, 1.0 / 6227020800.0);
  p = fma(p, r, 1.0 / 479001600.0);
  p = fma(p, r, 1.0 / 39916800.0);
  p = fma(p, r, 1.0 / 3628800.0);
  p = fma(p, r, 1.0 / 362880.0);
  p = fma(p, r, 1.0 / 40320.0);
  p = fma(p, r, 1.0 / 5040.0);
  p = fma(p, r, 1.0 / 720.0);
  p = fma(p, r, 1.0 / 120.0);
  p = fma(p, r, 1.0 / 24.0);
  p = fma(p, r, 1.0 / 6.0);
  p = fma(p, r, 0.5);
  parts.r = r;
  parts.rest = fma(r * r, p, fma(r, r_rest, r_rest));
  return parts;
}

/* x 2^n in two steps, so that a denormal result is rounded once; |n| <= 2000, an integer. */
SL_MATH_FUNCTION double sl_scale_(double x, double n) {
  const double round_to_integer = 0x1.8p52;
  const uint64_t all = sl_bits_from_f64(n + round_to_integer) - sl_bits_from_f64(round_to_integer);
  const uint64_t half = (uint64_t)(int64_t)((int32_t)(uint32_t)all >> 1);
  return x * sl_f64_from_bits((half + 1023u) << 52) * sl_f64_from_bits((all - half + 1023u) << 52);
}

/* Limits x to [low, high]; NaN stays NaN. */
SL_MATH_FUNCTION double sl_clamp_f64(double x, double low, double high) {
  const double above = x < low ? low : x;
  return above > high ? high : above;
}

/* e^(x + n ln 2) for -746 <= x <= 711. */
SL_MATH_FUNCTION double sl_exp_scaled_(double x, double n) {
  const struct sl_exp_parts_ parts = sl_exp_split_(x);
  const double sum = 1.0 + parts.r, sum_rest = parts.r - (sum - 1.0);
  return sl_scale_(sum + (sum_rest + parts.rest), parts.n + n);
}

/* Exponential function. Error: 0.6 ulp, 0.76 for denormal results. Infinity above 709.7828, 0 below -745.1332. */
SL_MATH_FUNCTION double sl_exp(double x) { return sl_exp_scaled_(sl_clamp_f64(x, -746.0, 711.0), 0.0); }

/* e^x - 1, without the loss of digits near 0. Error: 0.9 ulp. -1 below -38, infinity above 709.7828, -0 for -0. */
SL_MATH_FUNCTION double sl_expm1(double x) {
  const struct sl_exp_parts_ parts = sl_exp_split_(sl_clamp_f64(x, -40.0, 711.0));
  const double power = sl_scale_(1.0, -parts.n), one = 1.0 - power, one_rest = (1.0 - one) - power;
  const double sum = one + parts.r, sum_rest = parts.r - (sum - one); /* 2^n (one + e^r - 1) is the result */
  const double near_0 = parts.r + parts.rest;
  const double scaled = sl_scale_(sum + (sum_rest + one_rest + parts.rest), parts.n);
  return x == 0.0 ? x : parts.n == 0.0 ? near_0 : scaled;
}

/* Hyperbolic sine: below 1 a power series, then (e^x - e^-x) / 2, from 25 on e^x / 2. Error: 1.6 ulp. Infinity beyond
 * 710.4758, -0 for -0. */
SL_MATH_FUNCTION double sl_sinh(double x) {
  const double size = sl_abs_f64(x), bounded = sl_clamp_f64(size, 0.0, 711.0), z = bounded * bounded;
  double p = 1.0 / 121645100408832000.0; /* 1/19! */
  p = fma(p, z, 1.0 / 355687428096000.0);
  p = fma(p, z, 1.0 / 1307674368000.0);
  p = fma(p, z, 1.0 / 6227020800.0);
  p = fma(p, z, 1.0 / 39916800.0);
  p = fma(p, z, 1.0 / 362880.0);
  p = fma(p, z, 1.0 / 5040.0);
  p = fma(p, z, 1.0 / 120.0);
  p = fma(p, z, 1.0 / 6.0);
  const double series = fma(bounded * z, p, bounded), half = sl_exp_scaled_(bounded, -1.0);
  const double above_1 = size < 25.0 ? half - 0.25 / half : half;
  return sl_copysign_f64(size < 1.0 ? series : above_1, x);
}

/* ----------------------------------------------------------------------------------------------- logarithms */

/* e ln 2 + log(1 + f) + added, for f in [sqrt(1/2) - 1, sqrt(2) - 1): with s = f / (2 + f),
 * log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + R), R the rest of the series. */
SL_MATH_FUNCTION double sl_log_sum_(double e, double f, double added) {
  const double half_square = 0.5 * f * f, s = f / (2.0 + f), z = s * s;
  double p = 2.0 / 25.0;
  p = fma(p, z, 2.0 / 23.0);
  p = fma(p, z, 2.0 / 21.0);
  p = fma(p, z, 2.0 / 19.0);
  p = fma(p, z, 2.0 / 17.0);
  p = fma(p, z, 2.0 / 15.0);
  p = fma(p, z, 2.0 / 13.0);
  p = fma(p, z, 2.0 / 11.0);
  p = fma(p, z, 2.0 / 9.0);
  p = fma(p, z, 2.0 / 7.0);
  p = fma(p, z, 2.0 / 5.0);
  p = fma(p, z, 2.0 / 3.0);
  const double square_rest = fma(0.5 * f, f, -half_square); /* exact: what half_square lacks */
  const double small = fma(e, 0x1.cf79abc9e3b3ap-40, added) + fma(s, fma(z, p, half_square), -square_rest);
  const double product = e * 0x1.62e42fefa0000p-1;                /* exact: the constant has 38 bits */
  const double sum = product + f, sum_rest = (product - sum) + f; /* |product| > |f| or product = 0 */
  const double less = sum - half_square, less_rest = (sum - less) - half_square;
  return less + (less_rest + sum_rest + small);
}

/* x = 2^e m with m in [sqrt(1/2), sqrt(2)); x is positive, finite and not denormal. */
struct sl_log_parts_ {
  double e, m;
};

SL_MATH_FUNCTION struct sl_log_parts_ sl_log_split_(double x) {
  const uint64_t half_root = 0x3fe6a09e667f3bcdu; /* the bits of sqrt(1/2) */
  const uint64_t above = sl_bits_from_f64(x) - half_root;
  const struct sl_log_parts_ parts = {(double)((int32_t)(uint32_t)(above >> 32) >> 20),
                                      sl_f64_from_bits((above & 0x000fffffffffffffu) + half_root)};
  return parts;
}

/* Natural logarithm. Error: 0.67 ulp over all positive numbers. -infinity for 0 and -0, NaN below zero. */
SL_MATH_FUNCTION double sl_log(double x) {
  const double infinity = sl_f64_from_bits(0x7ff0000000000000u), nan = sl_f64_from_bits(0x7ff8000000000000u);
  const int denormal = x < 0x1p-1022;
  const struct sl_log_parts_ parts = sl_log_split_(denormal ? x * 0x1p52 : x);
  const double e = parts.e - (denormal ? 52.0 : 0.0);
  const double positive = x < infinity ? sl_log_sum_(e, parts.m - 1.0, 0.0) : x;
  const double not_positive = x == 0.0 ? -infinity : nan;
  return x > 0.0 ? positive : not_positive;
}

/* log(1 + x), without the loss of digits near 0. Error: 0.67 ulp. -infinity for -1, NaN below, -0 for -0. */
SL_MATH_FUNCTION double sl_log1p(double x) {
  const double infinity = sl_f64_from_bits(0x7ff0000000000000u), nan = sl_f64_from_bits(0x7ff8000000000000u);
  const double u = 1.0 + x, lost = x > 1.0 ? 1.0 - (u - x) : x - (u - 1.0); /* exact: 1 + x = u + lost */
  const struct sl_log_parts_ parts = sl_log_split_(u);
  const double f = parts.e == 0.0 ? x : parts.m - 1.0, added = parts.e == 0.0 ? 0.0 : lost / u;
  const double inside = u < infinity ? sl_log_sum_(parts.e, f, added) : u;
  const double not_inside = x == -1.0 ? -infinity : nan;
  const double result = x > -1.0 ? inside : not_inside;
  return x == 0.0 ? x : result;
}

/* --------------------------------------------------------------------------------------------------- angles */

/* Sine and cosine. x = n pi/2 + r with |r| <= pi/4; pi/2 in three parts, r with its rounding error. Error: 0.79 ulp for
 * |x| <= 2^30. Beyond that, and for infinity and NaN, both results are NaN. */
SL_MATH_FUNCTION void sl_sincos(double x, double *sine, double *cosine) {
  const double round_to_integer = 0x1.8p52;
  const int inside = sl_abs_f64(x) <= 0x1p30;
  const double bounded = inside ? x : 0.0;
  const double shifted = fma(bounded, 0x1.45f306dc9c883p-1, round_to_integer), n = shifted - round_to_integer;
  const uint64_t quadrant = sl_bits_from_f64(shifted) & 3u;
  const double first = fma(n, -0x1.921fb54442d18p+0, bounded); /* exact */
  const double second = n * -0x1.1a62633145c07p-54, second_rest = fma(n, -0x1.1a62633145c07p-54, -second);
  const double r = first + second, added = r - first;
  const double sum_rest = (first - (r - added)) + (second - added);
  const double r_rest = sum_rest + fma(n, 0x1.f1976b7ed8fbcp-110, second_rest);
  const double z = r * r, half = 0.5 * z, one = 1.0 - half;
  double s = 1.0 / 355687428096000.0; /* 1/17! */
  s = fma(s, z, -1.0 / 1307674368000.0);
  s = fma(s, z, 1.0 / 6227020800.0);
  s = fma(s, z, -1.0 / 39916800.0);
  s = fma(s, z, 1.0 / 362880.0);
  s = fma(s, z, -1.0 / 5040.0);
  s = fma(s, z, 1.0 / 120.0);
  s = fma(s, z, -1.0 / 6.0);
  s = r + fma(r * z, s, r_rest * one);
  double c = -1.0 / 6402373705728000.0; /* 1/18! */
  c = fma(c, z, 1.0 / 20922789888000.0);
  c = fma(c, z, -1.0 / 87178291200.0);
  c = fma(c, z, 1.0 / 479001600.0);
  c = fma(c, z, -1.0 / 3628800.0);
  c = fma(c, z, 1.0 / 40320.0);
  c = fma(c, z, -1.0 / 720.0);
  c = fma(c, z, 1.0 / 24.0);
  c = one + (fma(z * z, c, -r * r_rest) + ((1.0 - one) - half));
  /* exchanges sine and cosine if n is odd */
  const uint64_t differ = (sl_bits_from_f64(s) ^ sl_bits_from_f64(c)) & (0u - (quadrant & 1u));
  const double nan = sl_f64_from_bits(0x7ff8000000000000u);
  const double sine_signed = sl_f64_from_bits(sl_bits_from_f64(s) ^ differ ^ (quadrant & 2u) << 62);
  const double cosine_signed = sl_f64_from_bits(sl_bits_from_f64(c) ^ differ ^ ((quadrant + 1u) & 2u) << 62);
  *sine = !inside ? nan : x == 0.0 ? x : sine_signed;
  *cosine = !inside ? nan : cosine_signed;
}

SL_MATH_FUNCTION double sl_sin(double x) {
  double sine, cosine;
  sl_sincos(x, &sine, &cosine);
  return sine;
}

SL_MATH_FUNCTION double sl_cos(double x) {
  double sine, cosine;
  sl_sincos(x, &sine, &cosine);
  return cosine;
}

/* Angle of the point (x, y) in [-pi, pi], with the sign of y; zeros and infinities as in C's atan2. With t <= 1 the
 * ratio of the smaller to the larger coordinate, atan(t) = atan(c) + atan((t - c) / (1 + c t)) for c near 0, tan(pi/8)
 * or 1, so that the last ratio is at most tan(pi/16). Error: 0.76 ulp. */
SL_MATH_FUNCTION double sl_atan2(double y, double x) {
  const double infinity = sl_f64_from_bits(0x7ff0000000000000u);
  const double x_size = sl_abs_f64(x), y_size = sl_abs_f64(y);
  const int steep = y_size > x_size, backward = (int)(sl_bits_from_f64(x) >> 63);
  double large = steep ? y_size : x_size, small = steep ? x_size : y_size;
  small = large == infinity ? (small == infinity ? 1.0 : 0.0) : large == 0.0 ? 0.0 : small;
  large = large == infinity || large == 0.0 ? 1.0 : large;
  const double scale = large > 0x1p+1000 ? 0x1p-60 : large < 0x1p-900 ? 0x1p+110 : 1.0; /* no sum overflows */
  large *= scale;
  small *= scale;
  const int is_second = small > 0.1989 * large, is_third = small > 0.6682 * large;
  const double c = is_third ? 1.0 : is_second ? 0x1.a827999fcef32p-2 : 0.0;
  const double of_c = is_third ? 0x1.921fb54442d18p-1 : is_second ? 0x1.921fb54442d18p-2 : 0.0;
  const double of_c_rest = is_third ? 0x1.1a62633145c07p-55 : is_second ? 0x1.c398861b78b55p-59 : 0.0;
  const double c_large = c * large, above = small - c_large;
  const double c_small = c * small, below = large + c_small, t = above / below, z = t * t;
  const double above_rest = ((small - above) - c_large) - fma(c, large, -c_large);
  const double below_rest = (c_small - (below - large)) + fma(c, small, -c_small);
  const double t_rest = (fma(-t, below, above) + fma(-t, below_rest, above_rest)) / below;
  double p = 1.0 / 25.0;
  p = fma(p, z, -1.0 / 23.0);
  p = fma(p, z, 1.0 / 21.0);
  p = fma(p, z, -1.0 / 19.0);
  p = fma(p, z, 1.0 / 17.0);
  p = fma(p, z, -1.0 / 15.0);
  p = fma(p, z, 1.0 / 13.0);
  p = fma(p, z, -1.0 / 11.0);
  p = fma(p, z, 1.0 / 9.0);
  p = fma(p, z, -1.0 / 7.0);
  p = fma(p, z, 1.0 / 5.0);
  p = fma(p, z, -1.0 / 3.0);
  const double rest = fma(t * z, p, t_rest + of_c_rest); /* the angle is of_c + t + rest */
  const double j = steep ? 1.0 : backward ? 2.0 : 0.0, sign = steep != backward ? -1.0 : 1.0;
  const double base = fma(j, 0x1.921fb54442d18p+0, sign * of_c), base_rest = j * 0x1.1a62633145c07p-54;
  const double base_lost = fma(j, 0x1.921fb54442d18p+0, -base) + sign * of_c;
  const double sum = base + sign * t, sum_rest = sign * t - (sum - base); /* |base| > |t| or base = 0 */
  const double size = sum + (sum_rest + (base_lost + base_rest + sign * rest));
  return x != x || y != y ? x + y : sl_copysign_f64(size, y);
}

#endif
