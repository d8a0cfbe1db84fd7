/* waveforms.trapezoid_pick: value of a trapezoidal filter at a point, which is all of it that is computed; one thread
 * per waveform (trapezoid.h). Cost per waveform: reads four sums.
 */
#include "trapezoid.h"

#define SL_ARGS trapezoid_pick_args
#define TRAPEZOID_PICK(M)                                                                                       \
  TRAPEZOID_MEMBERS(M)                                                                                          \
  M(IN, points, waveforms_points, "", "points that `offset` counts from")                                       \
  M(I32, offset, 0, -SAMPLES_MAX, SAMPLES_MAX, "samples", "distance from the point to the value that is taken") \
  M(F32, factor, 1, -1e9, 1e9, "", "factor of the value")                                                       \
  M(OUT, picked, waveforms_values, "none without a point, and where the value would be beyond the waveform")
SL_ARGUMENTS(trapezoid_pick, TRAPEZOID_PICK);

SL_KERNEL(pick_value, struct trapezoid_pick_args) {
  const struct trapezoid t = trapezoid_of(a.rise, a.flat, a.fall);
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    const int32_t point = a.points.index[event], n = point + a.offset;
    const uint32_t is_valid = point >= 0 && n >= 0 && n < (int32_t)a.sums.entries - 1;
    const double *sum = a.sums.sum + (size_t)event * a.sums.entries;
    a.picked.value[event] = is_valid ? a.factor * trapezoid_at(&t, sum, (uint32_t)n) : 0.0f;
    a.picked.valid[event] = is_valid;
  }
}

static int run(const struct sl_launch *l, const struct trapezoid_pick_args *a) {
  return SL_LAUNCH(l, pick_value, SL_THREAD_PER_EVENT, *a);
}

TRAPEZOID_CHECK(trapezoid_pick)
SL_ALGORITHM(trapezoid_pick, "value of a trapezoidal filter at a point", 64, run, SL_CHECK(check));
