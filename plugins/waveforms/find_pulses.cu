/* find_pulses.cu: pulses of a SiPM: local maxima of the current, with hysteresis, from the last value to the first
 * (README.md).
 *   1. search_maxima  one block per event: loads the values in tiles, from the last one; its first thread searches
 *                     them, and keeps the maxima that have no undershoot
 *   2. a scan converts the counts to offsets
 *   3. write_pulses   one block per event, one thread per pulse
 * Determinism: the search is serial. Cost per value: a read of 8 bytes, and four comparisons by one thread.
 * Plain version: tests/waveforms/sipm_reference.h. */
#include <sluice/kernel.h>
#include <sluice/math64.h>

#include <waveforms/event_model.h>

enum { TILE = 512, FURTHER_MAXIMA = 1 };
static const struct sl_event_error find_pulses_errors[] = {
    {FURTHER_MAXIMA, 0, "maxima after the first pulses_max ones were left out"}};

#define SL_ARGS find_pulses_args
#define FIND_PULSES(M)                                                                                             \
  M(IN, current, waveforms_series64, "value count", "current of the SiPM")                                         \
  M(IN, widths, waveforms_widths, "half_width valid", "half widths of the noise of the current")                   \
  M(OUT, pulses, waveforms_pulses, "pulses of each waveform",                                                      \
    SL_ITEMS(SL_PRODUCT(SL_EVENTS_TERM(1, 0), SL_PROPERTY_TERM(pulses_max, 0))))                                   \
  M(SCRATCH, found, u32, "indices of the pulses of each waveform",                                                 \
    SL_PRODUCT(SL_EVENTS_TERM(1, 0), SL_PROPERTY_TERM(pulses_max, 0)))                                             \
  M(F64, fall, 5, 0, 1e9, "ADC", "a maximum ends at a value that is lower by more than this")                      \
  M(F64, rise, 0.1, 0, 1e9, "ADC", "a minimum ends at a value that is higher by more than this")                   \
  M(F64, widths_min, 3, 0, 1e9, "", "a maximum is higher than this number of half widths")                         \
  M(F64, minimum_max, 0, -1e9, 1e9, "ADC", "a minimum is lower than this")                                         \
  M(F64, undershoot_max, 0.8, 0, 1e9, "",                                                                          \
    "a maximum is accepted if the lowest value around it, divided by it, is "                                      \
    "of a smaller size than this")                                                                                 \
  M(U32, window, 10, 1, 16777216, "samples", "distance from the maximum up to which the lowest value is searched") \
  M(U32, pulses_max, 20, 1, 4096, "", "number of maxima of a waveform, from the last one, that are examined")
SL_ARGUMENTS(find_pulses, FIND_PULSES);

/* State of the search. */
struct search {
  double highest, lowest, top;
  uint32_t seeks_maximum, highest_at, maxima, pulses;
};

/* 1 if the values around a maximum are not too low. The value `count - 1` is in no window. */
static SL_DEVICE uint32_t has_no_undershoot(const struct find_pulses_args *a, const double *v, uint32_t count,
                                            uint32_t at) {
  const uint32_t first = at > a->window ? at - a->window : 0, last = count - 1;
  const uint32_t end = at + a->window < last ? at + a->window : last;
  double lowest = v[first];
  for (uint32_t i = first + 1; i < end; i++) lowest = v[i] < lowest ? v[i] : lowest;
  return sl_abs_f64(lowest / v[at]) < a->undershoot_max ? 1u : 0u;
}

/* Continues the search with value q of index `at`. Returns 1 if this value ends a maximum, which is at s->highest_at.
 */
static SL_DEVICE uint32_t search_value(const struct find_pulses_args *a, struct search *s, double q, uint32_t at) {
  if (q > s->highest) {
    s->highest = q;
    s->highest_at = at;
  }
  if (q < s->lowest) s->lowest = q;
  if (s->seeks_maximum && q < s->highest - a->fall && s->highest > s->top) {
    s->lowest = q;
    s->seeks_maximum = 0;
    return 1;
  }
  if (!s->seeks_maximum && q > s->lowest + a->rise && s->lowest < a->minimum_max) {
    s->highest = q;
    s->highest_at = at;
    s->seeks_maximum = 1;
  }
  return 0;
}

SL_KERNEL(search_maxima, struct find_pulses_args) {
  __shared__ double tile[TILE];
  SL_FOR_EVENTS (event, a.events) {
    const double *v = a.current.value + (size_t)event * a.current.length;
    const uint32_t has_width = a.widths.valid[event] & 1u, count = a.current.count[event];
    uint32_t *found = a.found + (size_t)event * a.pulses_max;
    struct search s = {-INFINITY, INFINITY, a.widths_min * a.widths.half_width[event], 1, 0, 0, 0};
    for (uint32_t end = has_width ? count : 0; end > 0; end = end > TILE ? end - TILE : 0) {
      const uint32_t first = end > TILE ? end - TILE : 0;
      for (uint32_t i = first + threadIdx.x; i < end; i += blockDim.x) tile[i - first] = v[i];
      __syncthreads();
      for (uint32_t i = end; threadIdx.x == 0 && i-- > first;) {
        if (!search_value(&a, &s, tile[i - first], i)) continue;
        s.maxima++;
        if (s.maxima <= a.pulses_max && has_no_undershoot(&a, v, count, s.highest_at)) found[s.pulses++] = s.highest_at;
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      a.pulses.offsets[event] = s.pulses;
      if (s.maxima > a.pulses_max) sl_event_truncated(&a.events, event, FURTHER_MAXIMA, s.maxima - a.pulses_max);
    }
  }
}

SL_KERNEL(write_pulses, struct find_pulses_args) {
  SL_FOR_EVENTS (event, a.events) {
    const double *v = a.current.value + (size_t)event * a.current.length;
    const uint32_t *found = a.found + (size_t)event * a.pulses_max;
    const uint32_t first = a.pulses.offsets[event], count = a.pulses.offsets[event + 1] - first;
    for (uint32_t k = threadIdx.x; k < count; k += blockDim.x) {
      a.pulses.index[first + k] = (int32_t)found[k];
      a.pulses.energy[first + k] = (float)v[found[k]];
    }
  }
}

static int run(const struct sl_launch *l, const struct find_pulses_args *a) {
  return SL_COUNT_SCAN_WRITE(l, search_maxima, write_pulses, a->pulses, *a);
}

SL_ALGORITHM(find_pulses, "pulses in the current of SiPMs", 64, run, SL_ERRORS_OF(find_pulses_errors));
