/* waveforms.fine_time: time of an extreme of an upsampled window: point + index / factor, one thread per waveform.
 * Determinism: exact up to 2^24 / factor samples.
 */
#include "windows.h"

#define SL_ARGS fine_time_args
#define FINE_TIME(M)                                                                        \
  M(IN, points, waveforms_points, "", "first samples of the windows")                       \
  M(IN, extremes, waveforms_extremes, "first_maximum", "extremes of the upsampled windows") \
  M(U32, factor, 16, 1, 65536, "", "number of values for each sample")                      \
  M(OUT, times, waveforms_times, "time of the first maximum, and the time from the point to it")
SL_ARGUMENTS(fine_time, FINE_TIME);

SL_KERNEL(add_fraction, struct fine_time_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    const int32_t point = a.points.index[event], maximum = a.extremes.first_maximum[event];
    const uint32_t is_valid = point >= 0 && maximum >= 0;
    const float after = is_valid ? (float)maximum / (float)a.factor : 0.0f;
    a.times.after[event] = after;
    a.times.time[event] = is_valid ? (float)point + after : 0.0f;
    a.times.valid[event] = is_valid ? 3 : 0;
  }
}

static int run(const struct sl_launch *l, const struct fine_time_args *a) {
  return SL_LAUNCH(l, add_fraction, SL_THREAD_PER_EVENT, *a);
}
SL_ALGORITHM(fine_time, "time of the maximum of an upsampled window", 64, run);
