/* waveforms.walk: searches from a point the first crossing of a threshold A, in direction d = 1 (right) or -1 (left),
 * by one block per waveform. The result is the first index i from the point on with
 *
 *   x[i] <= A < x[i + d]   or   x[i] >= A > x[i + d]
 *
 * A sample equal to A is no crossing yet. The block tests as many steps at a time as it has threads, a CPU 8, and stops
 * at the first crossing. Determinism: the crossing nearest to the point. Cost per sample: reads 4 bytes, twice.
 */
#include "waveform_lanes.h"

enum { WALK_RIGHT, WALK_LEFT }; /* values of `direction` */
enum { WALK_NOT_ONE = 1, WALK_BEYOND };

#define SL_ARGS walk_args
#define WALK(M)                                                                                                 \
  M(IN, series, waveforms_series, "value valid", "waveforms")                                                   \
  M(OPTIONAL_IN, values, waveforms_values, "", "thresholds, before `fraction`; these or `fits`")                \
  M(OPTIONAL_IN, fits, waveforms_fits, "deviation valid",                                                       \
    "fits with deviations that are thresholds, before `fraction`")                                              \
  M(FIELD_REF, start, "i32", "index of the sample in each event at which the search begins, or -1")             \
  M(ENUM, direction, "right", "direction of the search", "right left")                                          \
  M(F64, fraction, 1, -1e9, 1e9, "", "threshold in units of the input `values` or `fits`; without both in ADC") \
  M(OUT, points, waveforms_points, "index of the sample before the crossing, seen in the direction")
SL_ARGUMENTS(walk, WALK);

/* Lanes in which the threshold lies between a sample and the next one. */
static SL_DEVICE sl_i32s crosses(sl_f32s x, sl_f32s next, sl_f32s threshold) {
  const sl_i32s rises = SL_MASK(x <= threshold) & SL_MASK(threshold < next);
  return rises | (SL_MASK(x >= threshold) & SL_MASK(threshold > next));
}

/* Number of steps from `start` to the first crossing, below `steps`; else NOT_FOUND. */
static SL_DEVICE uint32_t search(const float *start, uint32_t steps, float threshold, uint32_t is_left) {
  const sl_f32s limit = sl_f32s_of(threshold);
  uint32_t found = NOT_FOUND;
  for (uint32_t first = 0; first < steps && found == NOT_FOUND; first += SL_LANES * blockDim.x) {
    const uint32_t step = first + SL_LANES * threadIdx.x, count = sl_lane_count(step < steps ? steps - step : 0);
    if (count > 0 && is_left) { /* lanes in the order of samples; those beyond the start repeat it */
      const float *x = start - (step + count - 1);
      const uint32_t lane = last_lane(crosses(sl_f32s_load(x, count), sl_f32s_load(x - 1, count), limit));
      if (lane != NOT_FOUND) found = step + (lane < count ? count - 1 - lane : 0);
    } else if (count > 0) {
      const float *x = start + step;
      const uint32_t lane = first_lane(crosses(sl_f32s_load(x, count), sl_f32s_load(x + 1, count), limit));
      if (lane != NOT_FOUND) found = step + lane;
    }
    found = (uint32_t)sl_block_min_u64(found);
  }
  return found;
}

/* The sample of an event at which the search begins, or -1. */
static SL_DEVICE int32_t start_of(const struct walk_args *a, uint32_t event) {
  if (!a->start.offsets && a->start.width == 1) return ((const int32_t *)a->start.values)[event];
  if (threadIdx.x == 0) sl_event_fail(&a->events, event, WALK_NOT_ONE, 0);
  return -1;
}

SL_KERNEL(search_crossing, struct walk_args) {
  const uint32_t length = a.series.length, is_left = a.direction == WALK_LEFT;
  SL_FOR_EVENTS (event, a.events) {
    const int32_t start = start_of(&a, event);
    const uint32_t is_beyond = start >= (int32_t)length;
    double threshold = a.fraction;
    uint32_t is_valid = a.series.valid[event] && start >= 0 && !is_beyond;
    if (a.values.value) {
      threshold *= (double)a.values.value[event];
      is_valid = is_valid && a.values.valid[event];
    } else if (a.fits.deviation) {
      threshold *= (double)a.fits.deviation[event];
      is_valid = is_valid && a.fits.valid[event] & 2;
    }
    const uint32_t from = is_valid ? (uint32_t)start : 0, steps = !is_valid ? 0 : is_left ? from : length - 1 - from;
    const uint32_t found = search(a.series.value + (size_t)event * length + from, steps, (float)threshold, is_left);
    if (threadIdx.x == 0) {
      a.points.index[event] = found == NOT_FOUND ? -1 : (int32_t)(is_left ? from - found : from + found);
      if (is_beyond) sl_event_fail(&a.events, event, WALK_BEYOND, (uint32_t)start);
    }
  }
}

static int run(const struct sl_launch *l, const struct walk_args *a) {
  return SL_LAUNCH(l, search_crossing, SL_PER_EVENT, *a);
}

static int check(const struct sl_services *s, const void *args) {
  const struct walk_args *a = (const struct walk_args *)args;
  if (a->values.bound.capacity == 0 || a->fits.bound.capacity == 0) return SL_OK;
  s->message(s->context, SL_ERROR, "the inputs `values` and `fits` are both connected; thresholds are those of one");
  return SL_EINVAL;
}

static const struct sl_event_error errors[] = {
    {WALK_NOT_ONE, 0, "the field `start` does not have one value for each event"},
    {WALK_BEYOND, 0, "the search begins beyond the end of the waveform (detail: at which sample)"}};
SL_ALGORITHM(walk, "searches from a point to the left or right for the crossing of a threshold", 64, run,
             SL_ERRORS_OF(errors), SL_CHECK(check));
