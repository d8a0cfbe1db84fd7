/* waveforms.pick: value of a waveform at a point, one thread per waveform. Cost per waveform: reads 16 bytes.
 */
#include "windows.h"

#define SL_ARGS pick_args
#define PICK(M)                                                                                                 \
  M(IN, series, waveforms_series, "value valid", "waveforms")                                                   \
  M(OPTIONAL_IN, points, waveforms_points, "", "points that `offset` counts from; without them it is an index") \
  M(I32, offset, 0, -SAMPLES_MAX, SAMPLES_MAX, "samples", "distance from the point to the value that is taken") \
  M(F32, factor, 1, -1e9, 1e9, "", "factor of the value")                                                       \
  M(OUT, picked, waveforms_values, "none without a point, and where the value would be beyond the waveform")
SL_ARGUMENTS(pick, PICK);

SL_KERNEL(pick_value, struct pick_args) {
  const uint32_t has_points = a.points.index != NULL;
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    const int32_t point = has_points ? a.points.index[event] : 0, n = point + a.offset;
    const uint32_t is_valid = a.series.valid[event] && point >= 0 && n >= 0 && n < (int32_t)a.series.length;
    const float *value = a.series.value + (size_t)event * a.series.length;
    a.picked.value[event] = is_valid ? a.factor * value[n] : 0.0f;
    a.picked.valid[event] = is_valid;
  }
}

static int run(const struct sl_launch *l, const struct pick_args *a) {
  return SL_LAUNCH(l, pick_value, SL_THREAD_PER_EVENT, *a);
}
SL_ALGORITHM(pick, "value of a waveform at a point", 64, run);
