/* waveforms.window: the samples from a point on, by one block per waveform. Cost per sample: reads 4 bytes, writes 4.
 */
#include "windows.h"

#define SL_ARGS window_args
#define WINDOW(M)                                                                                           \
  M(IN, series, waveforms_series, "value valid", "waveforms")                                               \
  M(IN, points, waveforms_points, "", "points that `offset` counts from")                                   \
  M(I32, offset, 0, -SAMPLES_MAX, SAMPLES_MAX, "samples", "distance from the point to the first sample")    \
  M(U32, length, 301, 1, SAMPLES_MAX, "samples", "number of samples")                                       \
  M(OUT, window, waveforms_series, "none without a point, and where the window is not inside the waveform", \
    SL_DIMENSIONS(SL_PROPERTY_TERM(length, 0)))
SL_ARGUMENTS(window, WINDOW);

SL_KERNEL(copy_window, struct window_args) {
  SL_FOR_EVENTS (event, a.events) {
    const int32_t point = a.points.index[event], first = point + a.offset;
    const uint32_t is_valid =
        a.series.valid[event] && point >= 0 && first >= 0 && first <= (int32_t)(a.series.length - a.length);
    const float *__restrict__ from = a.series.value + (size_t)event * a.series.length + (is_valid ? first : 0);
    float *__restrict__ to = a.window.value + (size_t)event * a.length;
    for (uint32_t i = threadIdx.x; i < a.length; i += blockDim.x) to[i] = is_valid ? from[i] : 0.0f;
    if (threadIdx.x == 0) a.window.valid[event] = is_valid;
  }
}

static int run(const struct sl_launch *l, const struct window_args *a) {
  return SL_LAUNCH(l, copy_window, SL_PER_EVENT, *a);
}

static int check(const struct sl_services *s, const void *args) {
  const struct window_args *a = (const struct window_args *)args;
  return length_check(s, a->length, a->series.length, "a waveform");
}

SL_ALGORITHM(window, "samples of a waveform from a point on", 64, run, SL_CHECK(check));
