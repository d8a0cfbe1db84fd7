/* waveforms.upsample: repeats each value, by one block per waveform: out[j] = x[(j + factor / 2) / factor], divisions
 * rounded down. The first value is repeated for half of the length only. Cost per value: writes 4 bytes.
 */
#include "windows.h"

#define SL_ARGS upsample_args
#define UPSAMPLE(M)                                                                     \
  M(IN, series, waveforms_series, "", "waveforms")                                      \
  M(U32, factor, 16, 1, 4096, "", "number of values for each value of the input")       \
  M(U32, length, 4784, 1, SAMPLES_MAX, "",                                              \
    "number of values; at most `factor` times those of the input less half a `factor`") \
  M(OUT, repeated, waveforms_series, "values of the input, repeated", SL_DIMENSIONS(SL_PROPERTY_TERM(length, 0)))
SL_ARGUMENTS(upsample, UPSAMPLE);

SL_KERNEL(repeat, struct upsample_args) {
  const uint32_t factor = a.factor, half = factor / 2;
  SL_FOR_EVENTS (event, a.events) {
    const float *x = a.series.value + (size_t)event * a.series.length;
    float *to = a.repeated.value + (size_t)event * a.length;
#if defined(SL_TARGET_CPU)
    for (uint32_t i = 0; i <= (a.length - 1 + half) / factor; i++) { /* without a division for each value */
      const uint32_t begin = i > 0 ? i * factor - half : 0, next = (i + 1) * factor - half;
      const uint32_t end = next < a.length ? next : a.length;
      const float value = x[i];
      for (uint32_t j = begin; j < end; j++) to[j] = value;
    }
#else
    for (uint32_t j = threadIdx.x; j < a.length; j += blockDim.x) to[j] = x[(j + half) / factor];
#endif
    if (threadIdx.x == 0) a.repeated.valid[event] = a.series.valid[event];
  }
}

static int run(const struct sl_launch *l, const struct upsample_args *a) {
  return SL_LAUNCH(l, repeat, SL_PER_EVENT, *a);
}

static int check(const struct sl_services *s, const void *args) {
  const struct upsample_args *a = (const struct upsample_args *)args;
  return length_check(s, a->length, (int64_t)a->series.length * a->factor - a->factor / 2, "the repeated waveform");
}

SL_ALGORITHM(upsample, "repeats each value of a waveform", 256, run, SL_CHECK(check));
