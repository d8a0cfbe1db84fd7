/* math.h: mathematical functions for kernels, with identical bits on every target.
 *
 * The functions use only +, -, *, /, sqrtf, fmaf, comparisons and integer operations, which IEEE 754 defines to the
 * last bit, and no tables. The results are identical if the compiler does not contract (-ffp-contract=off,
 * -fmad=false), reorder (no -ffast-math) or flush denormals. Compiles as C11, C++ and CUDA C++, for host and device. No
 * function branches on its argument, so that loops over it vectorise.
 *
 * Errors are in ulp, units in the last place of the true result rounded to float (0.5 is the best possible): the
 * largest difference from the C library's double function over the stated range, verified by math_test. No function
 * sets errno. */
#ifndef SLUICE_MATH_H
#define SLUICE_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__HIPCC__)
#include <hip/hip_runtime.h> /* memcpy for kernels */
#endif

#if defined(__CUDACC__) || defined(__HIPCC__)
#define SL_MATH_FUNCTION static __host__ __device__ inline __attribute__((unused))
#else
#define SL_MATH_FUNCTION static inline __attribute__((unused))
#endif

/* --------------------------------------------------------------------------------------------------- bits */

SL_MATH_FUNCTION uint32_t sl_bits_from_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

SL_MATH_FUNCTION float sl_f32_from_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

SL_MATH_FUNCTION uint64_t sl_bits_from_f64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

SL_MATH_FUNCTION double sl_f64_from_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* 1 unless x is infinite or NaN. */
SL_MATH_FUNCTION int sl_is_finite(float x) { return (sl_bits_from_f32(x) & 0x7f800000u) != 0x7f800000u; }

SL_MATH_FUNCTION float sl_abs_f32(float x) { return sl_f32_from_bits(sl_bits_from_f32(x) & 0x7fffffffu); }

/* |magnitude| with the sign of `sign`. */
SL_MATH_FUNCTION float sl_copysign_f32(float magnitude, float sign) {
  return sl_f32_from_bits((sl_bits_from_f32(magnitude) & 0x7fffffffu) | (sl_bits_from_f32(sign) & 0x80000000u));
}

/* ------------------------------------------------------------------------------- comparison and conversion */

/* One comparison each: if the arguments are equal (for example, 0 and -0) or one is NaN, the result is b. */
SL_MATH_FUNCTION float sl_min_f32(float a, float b) { return a < b ? a : b; }
SL_MATH_FUNCTION float sl_max_f32(float a, float b) { return a > b ? a : b; }

/* x limited to [low, high]; NaN stays NaN. */
SL_MATH_FUNCTION float sl_clamp_f32(float x, float low, float high) {
  const float above = x < low ? low : x;
  return above > high ? high : above;
}

/* x limited to [0, 1]; 0 for NaN and -0. On a GPU this is part of the instruction that computes x. */
SL_MATH_FUNCTION float sl_saturate_f32(float x) {
#if defined(__CUDA_ARCH__)
  return __saturatef(x);
#else
  const float below = x < 1.0f ? x : 1.0f;
  return x > 0.0f ? below : 0.0f;
#endif
}

/* Truncates towards zero; values out of range give the nearest integer in range, NaN gives 0: one instruction on NVIDIA
 * GPUs. */
SL_MATH_FUNCTION int32_t sl_to_i32(float x) {
#if defined(__CUDA_ARCH__)
  return __float2int_rz(x);
#else
  const int inside = x > -2147483648.0f && x < 2147483648.0f;
  const int32_t outside = x >= 2147483648.0f ? INT32_MAX : x <= -2147483648.0f ? INT32_MIN : 0;
  return inside ? (int32_t)x : outside;
#endif
}

SL_MATH_FUNCTION uint32_t sl_to_u32(float x) {
#if defined(__CUDA_ARCH__)
  return __float2uint_rz(x);
#else
  const int inside = x > 0.0f && x < 4294967296.0f;
  const uint32_t outside = x >= 4294967296.0f ? UINT32_MAX : 0u;
  return inside ? (uint32_t)x : outside;
#endif
}

/* --------------------------------------------------------------------------------------------- functions */

/* Square root, correctly rounded (0.5 ulp); NaN below zero, -0 for -0. */
SL_MATH_FUNCTION float sl_sqrtf(float x) { return sqrtf(x); }

/* Exponential function. x = n ln 2 + r with |r| <= ln 2 / 2; a polynomial for e^r, multiplied by 2^n in two steps so
 * that denormal results are rounded once. Error: 0.98 ulp over all floats. Infinity above 88.7228, 0 below -103.972. */
SL_MATH_FUNCTION float sl_expf(float x) {
  const float round_to_integer = 0x1.8p23f; /* adding it leaves the nearest integer in the low bits */
  const float bounded = sl_clamp_f32(x, -104.0f, 89.0f);
  const float shifted = fmaf(bounded, 0x1.715476p+0f, round_to_integer);
  const float n = shifted - round_to_integer;
  const uint32_t n_bits = sl_bits_from_f32(shifted) - sl_bits_from_f32(round_to_integer);
  const float r = fmaf(n, 0x1.05c610p-29f, fmaf(n, -0x1.62e430p-1f, bounded));
  float p = 0x1.9df7f6p-13f;
  p = fmaf(p, r, 0x1.6d4cdap-10f);
  p = fmaf(p, r, 0x1.111310p-7f);
  p = fmaf(p, r, 0x1.5554e8p-5f);
  p = fmaf(p, r, 0x1.555554p-3f);
  p = fmaf(p, r, 0.5f);
  p = 1.0f + fmaf(r * r, p, r);
  const uint32_t half = (uint32_t)((int32_t)n_bits >> 1);
  return p * sl_f32_from_bits((half + 127u) << 23) * sl_f32_from_bits((n_bits - half + 127u) << 23);
}

/* Natural logarithm. x = 2^e m with m in [sqrt(1/2), sqrt(2)); a polynomial for log(1 + f), f = m - 1; the terms f and
 * e ln 2 are added with their rounding errors. Error: 0.85 ulp over all positive floats. -infinity for 0 and -0, NaN
 * below zero. */
SL_MATH_FUNCTION float sl_logf(float x) {
  const int denormal = x < 0x1p-126f;
  const uint32_t bits = sl_bits_from_f32(denormal ? x * 0x1p23f : x);
  const uint32_t above = bits - 0x3f3504f3u; /* the bits of sqrt(1/2) */
  const float e = (float)(((int32_t)above >> 23) - (denormal ? 23 : 0));
  const float f = sl_f32_from_bits((above & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  float p = 0x1.148b0cp-4f;
  p = fmaf(p, f, -0x1.de1b4ep-4f);
  p = fmaf(p, f, 0x1.e6c3a6p-4f);
  p = fmaf(p, f, -0x1.fc256cp-4f);
  p = fmaf(p, f, 0x1.233b38p-3f);
  p = fmaf(p, f, -0x1.555c52p-3f);
  p = fmaf(p, f, 0x1.99a47ap-3f);
  p = fmaf(p, f, -0x1.000006p-2f);
  p = fmaf(p, f, 0x1.555548p-2f);
  const float square = f * f;
  const float rest = fmaf(square * f, p, fmaf(e, 0x1.7f7d1cp-20f, -0.5f * square));
  const float product = e * 0x1.62e4p-1f; /* exact: the constant has 15 bits */
  const float sum = product + f;
  const float result = sum + (((product - sum) + f) + rest);
  const float infinity = sl_f32_from_bits(0x7f800000u);
  const float not_positive = x == 0.0f ? -infinity : sl_f32_from_bits(0x7fc00000u);
  const float positive = x < infinity ? result : x;
  return x > 0.0f ? positive : not_positive;
}

/* Hyperbolic sine, in double: (e^x - e^-x) / 2 with |x| = n ln 2 + r as in sl_expf; below 1/2, where the difference
 * would lose digits, a power series. Error: 0.501 ulp over all floats. Infinity beyond 89.416, -0 for -0. */
SL_MATH_FUNCTION float sl_sinhf(float x) {
  const double round_to_integer = 0x1.8p52;
  const double z = (double)sl_clamp_f32(sl_abs_f32(x), 0.0f, 90.0f);
  const double shifted = z * 0x1.71547652b82fep+0 + round_to_integer;
  const double n = shifted - round_to_integer;
  const double r = (z - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33; /* the first product is exact */
  double e = 1.0;
  for (int k = 14; k > 0; k--) e = 1.0 + e * r / (double)k;
  uint64_t bits, exponent;
  memcpy(&bits, &shifted, sizeof bits);
  exponent = ((bits & 0xFFu) + 1023u) << 52;
  double scale;
  memcpy(&scale, &exponent, sizeof scale);
  e *= scale;
  double series = 1.0;
  for (int k = 6; k > 0; k--) series = 1.0 + series * z * z / (double)(2 * k * (2 * k + 1));
  const double result = z < 0.5 ? z * series : 0.5 * e - 0.5 / e;
  const float size = result >= 0x1.ffffffp+127 ? sl_f32_from_bits(0x7f800000u) : (float)result;
  return sl_copysign_f32(size, x);
}

/* Sine and cosine. x = n pi/2 + r with |r| <= pi/4; pi/2 in three parts, r with its rounding error. Error: 0.84 ulp for
 * |x| <= 131072. Beyond that, and for infinity and NaN, both results are NaN. */
SL_MATH_FUNCTION void sl_sincosf(float x, float *sine, float *cosine) {
  const float round_to_integer = 0x1.8p23f;
  const int inside = sl_abs_f32(x) <= 131072.0f;
  const float bounded = inside ? x : 0.0f;
  const float shifted = fmaf(bounded, 0x1.45f306p-1f, round_to_integer);
  const float n = shifted - round_to_integer;
  const uint32_t quadrant = sl_bits_from_f32(shifted) & 3u;
  const float first = fmaf(n, -0x1.921fb6p+0f, bounded); /* exact */
  const float second = n * 0x1.777a5cp-25f, second_rest = fmaf(n, 0x1.777a5cp-25f, -second);
  const float r = first + second, added = r - first;
  const float sum_rest = (first - (r - added)) + (second - added);
  const float r_rest = sum_rest + fmaf(n, 0x1.ee59dap-50f, second_rest);
  const float z = r * r;
  float s = 0x1.7b20a8p-19f;
  s = fmaf(s, z, -0x1.a05636p-13f);
  s = fmaf(s, z, 0x1.111172p-7f);
  s = fmaf(s, z, -0x1.555556p-3f);
  s = r + fmaf(r * z, s, r_rest);
  float c = 0x1.999116p-16f;
  c = fmaf(c, z, -0x1.6c0af4p-10f);
  c = fmaf(c, z, 0x1.555548p-5f);
  const float half = 0.5f * z, one = 1.0f - half;
  c = one + (fmaf(z * z, c, -r * r_rest) + ((1.0f - one) - half));
  const uint32_t differ = (sl_bits_from_f32(s) ^ sl_bits_from_f32(c)) & (0u - (quadrant & 1u)); /* exchanges sine and
                                                                                                 * cosine if n is odd */
  const float nan = sl_f32_from_bits(0x7fc00000u);
  const float sine_signed = sl_f32_from_bits(sl_bits_from_f32(s) ^ differ ^ (quadrant & 2u) << 30);
  const float cosine_signed = sl_f32_from_bits(sl_bits_from_f32(c) ^ differ ^ ((quadrant + 1u) & 2u) << 30);
  *sine = !inside ? nan : x == 0.0f ? x : sine_signed;
  *cosine = !inside ? nan : cosine_signed;
}

/* Angle of the point (x, y) in [-pi, pi], with the sign of y; zeros and infinities as in C's atan2f. The angle is j
 * pi/2 +- atan(t), where t <= 1 is the ratio of the smaller to the larger coordinate. Error: 1.5 ulp. */
SL_MATH_FUNCTION float sl_atan2f(float y, float x) {
  const float infinity = sl_f32_from_bits(0x7f800000u);
  const float x_size = sl_abs_f32(x), y_size = sl_abs_f32(y);
  const int steep = y_size > x_size;
  const float large = steep ? y_size : x_size, small = steep ? x_size : y_size;
  const float ratio = small / (large == 0.0f ? 1.0f : large);
  const float t = small == infinity ? 1.0f : ratio;
  const float z = t * t;
  float p = 0x1.2968bep-10f;
  p = fmaf(p, z, -0x1.e6a0ecp-8f);
  p = fmaf(p, z, 0x1.753040p-6f);
  p = fmaf(p, z, -0x1.7080bap-5f);
  p = fmaf(p, z, 0x1.150a00p-4f);
  p = fmaf(p, z, -0x1.6953bcp-4f);
  p = fmaf(p, z, 0x1.c51170p-4f);
  p = fmaf(p, z, -0x1.247620p-3f);
  p = fmaf(p, z, 0x1.99981cp-3f);
  p = fmaf(p, z, -0x1.555552p-2f);
  const float angle = fmaf(t * z, p, t);
  const int backward = (int)(sl_bits_from_f32(x) >> 31);
  const float j = steep ? 1.0f : backward ? 2.0f : 0.0f;
  const float turned = steep != backward ? -angle : angle;
  const float size = fmaf(j, 0x1.921fb6p+0f, fmaf(j, -0x1.777a5cp-25f, turned));
  return x != x || y != y ? x + y : sl_copysign_f32(size, y);
}

#endif
