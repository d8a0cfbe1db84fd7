/* measure.cu: measures.measure, results with and without values, computed from the first samples s of a waveform:
 *   index: s[0] % 100, or -1 if s[1] is odd      first_maximum: -1 if s[1] % 3 is 0
 *   minimum, maximum: s[2] / 4 and s[3] / 4, without a value if s[2] or s[3] is odd
 *   items: s[0] % 4, with index i, and energy s[i] / 2
 * An event is refused if s[4] % 16 is 0. */
#include <sluice/kernel.h>

#include <waveforms/event_model.h>

#define SL_ARGS measure_args
#define MEASURE(M)                                                     \
  M(IN, traces, waveforms_traces, "value", "at least 5 samples")       \
  M(OUT, point, waveforms_points, "an index")                          \
  M(OUT, extremes, waveforms_extremes, "values with bits of validity") \
  M(OUT, pulses, waveforms_pulses, "items", SL_ITEMS(SL_ONE(SL_EVENTS_TERM(3, 0))))
SL_ARGUMENTS(measure, MEASURE);

SL_KERNEL(measure_events, struct measure_args) {
  SL_FOR_EVENTS (e, a.events) {
    const uint16_t *s = a.traces.value + (size_t)e * a.traces.samples;
    if (threadIdx.x == 0) {
      a.point.index[e] = s[1] % 2 ? -1 : s[0] % 100;
      a.extremes.valid[e] = (s[2] % 2 == 0) | (s[3] % 2 == 0) << 1 | 1 << 2 | (s[1] % 3 != 0) << 3;
      a.extremes.minimum[e] = s[2] % 2 ? 0 : (float)s[2] / 4;
      a.extremes.maximum[e] = s[3] % 2 ? 0 : (float)s[3] / 4;
      a.extremes.first_minimum[e] = (int32_t)(s[0] % 7);
      a.extremes.first_maximum[e] = s[1] % 3 ? (int32_t)(s[0] % 11) : -1;
      a.pulses.offsets[e] = s[0] % 4;
      if (s[4] % 16 == 0) sl_event_fail(&a.events, e, 1, s[4]);
    }
  }
}

SL_KERNEL(write_items, struct measure_args) {
  SL_FOR_EVENTS (e, a.events) {
    const uint16_t *s = a.traces.value + (size_t)e * a.traces.samples;
    const uint32_t first = a.pulses.offsets[e], count = a.pulses.offsets[e + 1] - first;
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      a.pulses.index[first + i] = (int32_t)i;
      a.pulses.energy[first + i] = (float)s[i] / 2;
    }
  }
}

static int run(const struct sl_launch *l, const struct measure_args *a) {
  return SL_COUNT_SCAN_WRITE(l, measure_events, write_items, a->pulses, *a);
}

static const struct sl_event_error measure_errors[] = {{1, 0, "the fifth sample is a multiple of 16"}};
SL_ALGORITHM(measure, "results with and without values", 64, run, SL_ERRORS_OF(measure_errors));
