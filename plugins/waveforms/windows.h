/* windows.h: parts of waveforms that properties choose, and the order of their values. */
#ifndef WAVEFORMS_WINDOWS_H
#define WAVEFORMS_WINDOWS_H

#include "waveforms/event_model.h"

#include <sluice/kernel.h>

/* Upper limit of properties in samples. */
enum { SAMPLES_MAX = 1 << 20 };

/* The bits of all fields beside `valid` of waveforms_extremes and waveforms_fits. */
enum { ALL_VALID = 15 };

/* Window of `length` samples from `begin` on, in a waveform of `samples`. Length 0: up to the end. */
static SL_DEVICE uint32_t window_length(uint32_t begin, uint32_t length, uint32_t samples) {
  return length ? length : samples - begin;
}

/* Check of the properties `begin` and `length` on the host: the window is inside and has `at_least` samples. */
static inline SL_UNUSED int window_check(const struct sl_services *s, uint32_t begin, uint32_t length, uint32_t samples,
                                         uint32_t at_least) {
  const uint64_t end = (uint64_t)begin + length, count = length ? length : samples - (uint64_t)begin;
  if (begin >= samples)
    s->message(s->context, SL_ERROR, "begin: the window begins at sample %u; a waveform has %u", begin, samples);
  else if (end > samples)
    s->message(s->context, SL_ERROR, "length: the window ends at sample %llu; a waveform has %u",
               (unsigned long long)end, samples);
  else if (count < at_least)
    s->message(s->context, SL_ERROR, "length: the window has %llu samples; at least %u are expected",
               (unsigned long long)count, at_least);
  else
    return SL_OK;
  return SL_EINVAL;
}

/* Check of the property `length`, the number of values of an output, on the host. */
static inline SL_UNUSED int length_check(const struct sl_services *s, uint32_t length, int64_t most, const char *what) {
  if ((int64_t)length <= most) return SL_OK;
  s->message(s->context, SL_ERROR, "length: %u values of %s; there are at most %lld", length, what,
             (long long)(most > 0 ? most : 0));
  return SL_EINVAL;
}

/* An unsigned number in the order of the values; -0 counts as 0. */
static SL_DEVICE SL_UNUSED uint32_t order_of(float value) {
  const uint32_t bits = sl_bits_from_f32(value + 0.0f);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

#endif
