/* trapezoid.h: the trapezoidal filter of waveforms.trapezoid, trapezoid_maximum and trapezoid_pick.
 *
 *   out[n] = (mean of the last `rise` samples up to n)
 *            - (mean of the `fall` samples that end rise + flat samples before)
 *
 * Samples before the waveform count as 0. All sums are differences of entries of waveforms_sums.
 */
#ifndef WAVEFORMS_TRAPEZOID_H
#define WAVEFORMS_TRAPEZOID_H

#include "waveform_lanes.h"

#define TRAPEZOID_MEMBERS(M)                                                            \
  M(IN, sums, waveforms_sums, "", "sums of waveforms with pulses that do not decay")    \
  M(U32, rise, 625, 1, SAMPLES_MAX, "samples", "length of the mean after the flat top") \
  M(U32, flat, 188, 0, SAMPLES_MAX, "samples", "length of the flat top")                \
  M(U32, fall, 0, 0, SAMPLES_MAX, "samples", "length of the mean before the flat top; 0: that of `rise`")

struct trapezoid {
  uint32_t rise, gap, all; /* samples of the first mean; with the flat top; with the second mean */
  double per_rise, per_fall;
};

static SL_DEVICE SL_UNUSED struct trapezoid trapezoid_of(uint32_t rise, uint32_t flat, uint32_t fall) {
  const uint32_t second = fall ? fall : rise;
  const struct trapezoid t = {rise, rise + flat, rise + flat + second, 1.0 / rise, 1.0 / second};
  return t;
}

static SL_DEVICE SL_UNUSED float trapezoid_at(const struct trapezoid *t, const double *sum, uint32_t n) {
  const uint32_t end = n + 1, after_flat = end > t->rise ? end - t->rise : 0;
  const uint32_t before_flat = end > t->gap ? end - t->gap : 0, begin = end > t->all ? end - t->all : 0;
  return (float)((sum[end] - sum[after_flat]) * t->per_rise - (sum[before_flat] - sum[begin]) * t->per_fall);
}

/* The filter at SL_LANES samples from n on. */
SL_LANES_FUNCTION SL_UNUSED sl_f32s trapezoid_lanes(const struct trapezoid *t, const double *sum, uint32_t n) {
#if defined(SL_TARGET_CPU)
  static const double zeros[SL_LANES]; /* sums before the waveform */
  const uint32_t distances[] = {t->rise, t->gap, t->all};
  const double *sides[3];
  uint32_t is_mixed = 0;
  for (uint32_t k = 0; k < 3; k++) {
    const uint32_t distance = distances[k];
    sides[k] = n + 1 >= distance ? sum + (n + 1 - distance) : zeros;
    is_mixed |= n + 1 < distance && n + SL_LANES > distance;
  }
  if (!is_mixed) return f32s_from_differences(sum + n + 1, sides[0], t->per_rise, sides[1], sides[2], t->per_fall);
  float values[SL_LANES];
  SL_FOR_LANES (j) values[j] = trapezoid_at(t, sum, n + j);
  return sl_f32s_in(values);
#else
  return trapezoid_at(t, sum, n);
#endif
}

static inline SL_UNUSED int trapezoid_check(const struct sl_services *s, uint32_t entries, uint32_t rise, uint32_t flat,
                                            uint32_t fall) {
  const uint64_t all = (uint64_t)rise + flat + (fall ? fall : rise);
  if (all < entries) return SL_OK;
  s->message(s->context, SL_ERROR, "rise: rise, flat and fall have %llu samples together; a waveform has %u",
             (unsigned long long)all, entries - 1);
  return SL_EINVAL;
}

/* The check of an algorithm with TRAPEZOID_MEMBERS. */
#define TRAPEZOID_CHECK(name)                                              \
  static int check(const struct sl_services *s, const void *args) {        \
    const struct name##_args *a = (const struct name##_args *)args;        \
    return trapezoid_check(s, a->sums.entries, a->rise, a->flat, a->fall); \
  }

#endif
