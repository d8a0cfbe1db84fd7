/* waveform_lanes.h: samples and sums of waveforms for lanes.h, and searches in lanes. */
#ifndef WAVEFORMS_WAVEFORM_LANES_H
#define WAVEFORMS_WAVEFORM_LANES_H

#include "windows.h"

#include <sluice/lanes.h>

#if defined(SL_TARGET_CPU)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
typedef double f64s __attribute__((vector_size(8 * SL_LANES)));
#endif

/* (a - b) factor for SL_LANES numbers in double precision, rounded. */
SL_LANES_FUNCTION SL_UNUSED sl_f32s f32s_from_difference(const double *a, const double *b, double factor) {
#if defined(SL_TARGET_CPU)
  f64s of_a, of_b;
  memcpy(&of_a, a, sizeof of_a);
  memcpy(&of_b, b, sizeof of_b);
  return __builtin_convertvector((of_a - of_b) * factor, sl_f32s);
#else
  return (float)((*a - *b) * factor);
#endif
}

/* (a - b) of_a - (c - d) of_c for SL_LANES numbers in double precision, rounded. */
SL_LANES_FUNCTION SL_UNUSED sl_f32s f32s_from_differences(const double *a, const double *b, double of_a,
                                                          const double *c, const double *d, double of_c) {
#if defined(SL_TARGET_CPU)
  f64s v[4];
  memcpy(&v[0], a, sizeof v[0]);
  memcpy(&v[1], b, sizeof v[1]);
  memcpy(&v[2], c, sizeof v[2]);
  memcpy(&v[3], d, sizeof v[3]);
  return __builtin_convertvector((v[0] - v[1]) * of_a - (v[2] - v[3]) * of_c, sl_f32s);
#else
  return (float)((*a - *b) * of_a - (*c - *d) * of_c);
#endif
}

#if defined(SL_TARGET_CPU)
/* The next SL_LANES samples. */
SL_LANES_FUNCTION SL_UNUSED sl_i32s i32s_from_u16(const uint16_t *p) {
  u16x8 samples;
  memcpy(&samples, p, sizeof samples);
  return __builtin_convertvector(samples, sl_i32s);
}
SL_LANES_FUNCTION SL_UNUSED sl_f32s f32s_from_u16(const uint16_t *p) {
  return __builtin_convertvector(i32s_from_u16(p), sl_f32s);
}
#endif

/* The first and the last lane of a mask; NOT_FOUND if it is empty. */
enum { NOT_FOUND = 0xffffffffu };
SL_LANES_FUNCTION SL_UNUSED uint32_t first_lane(sl_i32s mask) {
#if defined(SL_TARGET_CPU)
  const uint32_t bits = sl_lanes_bits(mask);
  return bits ? (uint32_t)__builtin_ctz(bits) : NOT_FOUND;
#else
  return mask ? 0 : NOT_FOUND;
#endif
}
SL_LANES_FUNCTION SL_UNUSED uint32_t last_lane(sl_i32s mask) {
#if defined(SL_TARGET_CPU)
  const uint32_t bits = sl_lanes_bits(mask);
  return bits ? 31 - (uint32_t)__builtin_clz(bits) : NOT_FOUND;
#else
  return mask ? 0 : NOT_FOUND;
#endif
}

#if defined(SL_TARGET_CPU)
#pragma GCC diagnostic pop
#endif

#endif
