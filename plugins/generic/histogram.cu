/* generic.histogram: histogram of the values of a field, over the run.
 *
 * One kernel: a block processes its share of the events one after another, its threads the values of an event.
 * Determinism: counts are integer sums. Cost: reads the values once; a block adds each of its counts to the run once.
 */
#include "histogram_axis.h"

#define SL_ARGS histogram_args
#define HISTOGRAM(M)                                                                                     \
  M(FIELD_REF, of, "", "field with the values that are counted")                                         \
  M(OPTIONAL_FIELD_REF, selected, of, "u8 u16 u32 f32",                                                  \
    "field that selects the values, by event or by item of `of`: those where it is not 0; not set: all") \
  M(OUT, histogram, generic_histogram, "the counts", SL_HISTOGRAM(title, of, bins, lower, upper))        \
  M(U32, bins, 100, 1, 1000000, "", "number of bins of equal width between the limits")                  \
  M(F64, lower, 0, -LARGEST, LARGEST, "", "lower limit in the unit of the field, inclusive")             \
  M(F64, upper, 1, -LARGEST, LARGEST, "", "upper limit in the unit of the field, exclusive")             \
  M(STRING, title, "", "title of pictures and tables; empty: doc string of the field")                   \
  M(COMPUTED, axis, struct histogram_axis, "the bins")
SL_ARGUMENTS(histogram, HISTOGRAM);

SL_KERNEL(count_values, struct histogram_args) {
  __shared__ uint32_t of_block[BLOCK_ENTRIES];
  const uint32_t entries = a.axis.bins + SL_AXIS_BESIDE;
  const uint32_t by_block = blockDim.x > 1 && entries <= BLOCK_ENTRIES;
  uint32_t *counts = by_block ? of_block : a.histogram.counts;
  if (by_block) block_counts_begin(of_block, entries);
  SL_FOR_EVENTS (event, a.events) {
    const uint64_t begin = sl_field_begin(&a.of, event), end = sl_field_begin(&a.of, event + 1);
    for (uint64_t i = begin + threadIdx.x; i < end; i += blockDim.x)
      if (is_selected(&a.selected, &a.of, event, begin, i)) atomicAdd(&counts[axis_entry(&a.axis, &a.of, i)], 1u);
  }
  if (by_block) block_counts_end(of_block, entries, a.histogram.counts);
}

static int run(const struct sl_launch *l, const struct histogram_args *a) {
  return SL_LAUNCH(l, count_values, HISTOGRAM_GRID(l), *a);
}

static const struct histogram_axis_words words = AXIS_WORDS("");

static int check(const struct sl_services *s, const void *args) {
  const struct histogram_args *a = (const struct histogram_args *)args;
  return axis_check(s, &words, a->bins, a->lower, a->upper);
}

static int prepare(const struct sl_services *s, void *args) {
  struct histogram_args *a = (struct histogram_args *)args;
  (void)s;
  a->axis = axis_make(a->bins, a->lower, a->upper);
  return SL_OK;
}

SL_ALGORITHM(histogram, "histogram of the values of any field, over the run", 256, run, SL_CHECK(check),
             SL_PREPARE(prepare));
