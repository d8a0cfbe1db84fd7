/* generic.histogram_2d: two-dimensional histogram of pairs of values of two fields, over the run. Both fields must have
 * the same number of values in each event. Like generic.histogram, with one count per pair of axis entries.
 */
#include "histogram_axis.h"

#include <inttypes.h>

enum { ENTRIES_MAX = 1 << 20, UNEQUAL = 1 };

#define SL_ARGS histogram_2d_args
#define HISTOGRAM_2D(M)                                                                              \
  M(FIELD_REF, x, "", "to the right")                                                                \
  M(FIELD_REF, y, "", "field of the vertical axis, with as many values per event as x")              \
  M(OPTIONAL_FIELD_REF, selected, x, "u8 u16 u32 f32",                                               \
    "field that selects the pairs, by event or by item of x: those where it is not 0; not set: all") \
  M(OUT, histogram, generic_histogram_2d, "the counts",                                              \
    SL_HISTOGRAM_2D(title, x, x_bins, x_lower, x_upper, y, y_bins, y_lower, y_upper))                \
  M(U32, x_bins, 50, 1, 1000000, "", "number of bins of x, of equal width between its limits")       \
  M(F64, x_lower, 0, -LARGEST, LARGEST, "", "lower limit of x in the unit of its field, inclusive")  \
  M(F64, x_upper, 1, -LARGEST, LARGEST, "", "upper limit of x in the unit of its field, exclusive")  \
  M(U32, y_bins, 50, 1, 1000000, "", "number of bins of y, of equal width between its limits")       \
  M(F64, y_lower, 0, -LARGEST, LARGEST, "", "lower limit of y in the unit of its field, inclusive")  \
  M(F64, y_upper, 1, -LARGEST, LARGEST, "", "upper limit of y in the unit of its field, exclusive")  \
  M(STRING, title, "", "title of pictures and tables; empty: doc strings of the fields")             \
  M(COMPUTED, x_axis, struct histogram_axis, "the bins of x")                                        \
  M(COMPUTED, y_axis, struct histogram_axis, "the bins of y")
SL_ARGUMENTS(histogram_2d, HISTOGRAM_2D);

static const struct sl_event_error histogram_2d_errors[] = {
    {UNEQUAL, 0, "the fields x and y of a histogram have different numbers of values"}};

SL_KERNEL(count_pairs, struct histogram_2d_args) {
  __shared__ uint32_t of_block[BLOCK_ENTRIES];
  const uint32_t row = a.x_axis.bins + SL_AXIS_BESIDE, entries = row * (a.y_axis.bins + SL_AXIS_BESIDE);
  const uint32_t by_block = blockDim.x > 1 && entries <= BLOCK_ENTRIES;
  uint32_t *counts = by_block ? of_block : a.histogram.counts;
  if (by_block) block_counts_begin(of_block, entries);
  SL_FOR_EVENTS (event, a.events) {
    const uint64_t x = sl_field_begin(&a.x, event), count = sl_field_begin(&a.x, event + 1) - x;
    const uint64_t y = sl_field_begin(&a.y, event), y_count = sl_field_begin(&a.y, event + 1) - y;
    if (count != y_count) {
      if (threadIdx.x == 0) sl_event_fail(&a.events, event, UNEQUAL, 0);
      continue;
    }
    for (uint64_t i = threadIdx.x; i < count; i += blockDim.x) {
      if (!is_selected(&a.selected, &a.x, event, x, x + i)) continue;
      const uint32_t column = axis_entry(&a.x_axis, &a.x, x + i);
      atomicAdd(&counts[row * axis_entry(&a.y_axis, &a.y, y + i) + column], 1u);
    }
  }
  if (by_block) block_counts_end(of_block, entries, a.histogram.counts);
}

static int run(const struct sl_launch *l, const struct histogram_2d_args *a) {
  return SL_LAUNCH(l, count_pairs, HISTOGRAM_GRID(l), *a);
}

static const struct histogram_axis_words x_words = AXIS_WORDS("x_"), y_words = AXIS_WORDS("y_");

static int check(const struct sl_services *s, const void *args) {
  const struct histogram_2d_args *a = (const struct histogram_2d_args *)args;
  int status = axis_check(s, &x_words, a->x_bins, a->x_lower, a->x_upper);
  if (axis_check(s, &y_words, a->y_bins, a->y_lower, a->y_upper) < 0) status = SL_EINVAL;
  const uint64_t entries = (uint64_t)(a->x_bins + SL_AXIS_BESIDE) * (a->y_bins + SL_AXIS_BESIDE);
  if (entries <= ENTRIES_MAX) return status;
  s->message(s->context, SL_ERROR,
             "y_bins: with %d more on each axis %" PRIu32 " x %" PRIu32 " bins are %" PRIu64 " counts, and %d at most",
             (int)SL_AXIS_BESIDE, a->x_bins, a->y_bins, entries, (int)ENTRIES_MAX);
  return SL_EINVAL;
}

static int prepare(const struct sl_services *s, void *args) {
  struct histogram_2d_args *a = (struct histogram_2d_args *)args;
  (void)s;
  a->x_axis = axis_make(a->x_bins, a->x_lower, a->x_upper);
  a->y_axis = axis_make(a->y_bins, a->y_lower, a->y_upper);
  return SL_OK;
}

SL_ALGORITHM(histogram_2d, "two-dimensional histogram of the values of two fields, over the run", 256, run,
             SL_ERRORS_OF(histogram_2d_errors), SL_CHECK(check), SL_PREPARE(prepare));
