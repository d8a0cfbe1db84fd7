/* waveforms.difference: difference of samples at a distance, per sample of the distance, by one block per waveform:
 * out[n] = (x[n + lag] - x[n]) / lag. Cost per value: reads 8 bytes, writes 4.
 */
#include "windows.h"

#define SL_ARGS difference_args
#define DIFFERENCE(M)                                                                                        \
  M(IN, series, waveforms_series, "", "waveforms")                                                           \
  M(U32, lag, 1, 1, SAMPLES_MAX, "samples", "distance of the two samples")                                   \
  M(U32, length, 300, 1, SAMPLES_MAX, "", "number of differences; at most the number of samples less `lag`") \
  M(OUT, differences, waveforms_series, "ADC per sample", SL_DIMENSIONS(SL_PROPERTY_TERM(length, 0)))
SL_ARGUMENTS(difference, DIFFERENCE);

SL_KERNEL(subtract, struct difference_args) {
  SL_FOR_EVENTS (event, a.events) {
    const float *__restrict__ x = a.series.value + (size_t)event * a.series.length, *__restrict__ later = x + a.lag;
    float *__restrict__ to = a.differences.value + (size_t)event * a.length;
    const float lag = (float)a.lag;
    for (uint32_t n = threadIdx.x; n < a.length; n += blockDim.x) to[n] = (later[n] - x[n]) / lag;
    if (threadIdx.x == 0) a.differences.valid[event] = a.series.valid[event];
  }
}

static int run(const struct sl_launch *l, const struct difference_args *a) {
  return SL_LAUNCH(l, subtract, SL_PER_EVENT, *a);
}

static int check(const struct sl_services *s, const void *args) {
  const struct difference_args *a = (const struct difference_args *)args;
  return length_check(s, a->length, (int64_t)a->series.length - a->lag, "the difference");
}

SL_ALGORITHM(difference, "difference of samples at a distance", 64, run, SL_CHECK(check));
