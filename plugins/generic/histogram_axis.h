/* histogram_axis.h: the bins of one axis, for generic.histogram and generic.histogram_2d.
 *
 * Bin i, from 0, holds the values from edge i (inclusive) to edge i + 1 (exclusive), with edge i = lower + i * width;
 * the last edge is `upper`. Edges are computed as identical 64-bit floats on all targets, and values, including 64-bit
 * integers, are compared with them exactly, so that the bin of a value is the same everywhere.
 */
#ifndef GENERIC_HISTOGRAM_AXIS_H
#define GENERIC_HISTOGRAM_AXIS_H

#include "generic/event_model.h"

#include <sluice/kernel.h>

#define LARGEST 1.7976931348623157e308

struct histogram_axis {
  double lower, upper, width, per_width;
  uint32_t bins, reserved;
};

SL_MATH_FUNCTION double axis_edge(const struct histogram_axis *x, uint32_t i) {
  return i == x->bins ? x->upper : x->lower + x->width * (double)i;
}

/* 1 if the value is below the edge. The value is the sum of its nearest 64-bit float and a rest, which is 0 except
 * for large integers. */
static SL_DEVICE uint32_t axis_is_below(double nearest, double rest, double edge) {
  return nearest < edge || (nearest == edge && rest < 0.0) ? 1u : 0u;
}

/* Axis entry that counts the value of a field: SL_AXIS_BELOW, 1 + bin, then above and not finite. */
static SL_DEVICE uint32_t axis_entry(const struct histogram_axis *x, const struct sl_field_ref *field, uint64_t index) {
  const double value = sl_field_f64(field, index), rest = sl_field_remainder(field, index, value);
  if (!(value >= -LARGEST && value <= LARGEST)) return SL_AXIS_NOT_FINITE(x->bins);
  if (axis_is_below(value, rest, x->lower)) return SL_AXIS_BELOW;
  if (!axis_is_below(value, rest, x->upper)) return SL_AXIS_ABOVE(x->bins);
  const double place = (value - x->lower) * x->per_width; /* bin from 0, rounded: may be off by one */
  const uint32_t last = x->bins - 1;
  uint32_t bin = place < (double)last ? (uint32_t)place : last;
  while (axis_is_below(value, rest, axis_edge(x, bin))) bin--;
  while (!axis_is_below(value, rest, axis_edge(x, bin + 1))) bin++;
  return 1 + bin;
}

/* 1 if value `i` of the field `of` is selected: always without `selected`, else if the value of `selected` for the
 * event, or for the item, is not 0. begin: index of the event's first value. */
static SL_DEVICE uint32_t is_selected(const struct sl_field_ref *selected, const struct sl_field_ref *of,
                                      uint32_t event, uint64_t begin, uint64_t i) {
  if (!selected->values) return 1;
  const uint64_t item = selected->offsets ? (i - begin) / of->width : 0;
  return sl_field_f64(selected, sl_field_begin(selected, event) + item) != 0.0 ? 1u : 0u;
}

/* Clears the counts of the block. Called by all its threads. */
static SL_DEVICE void block_counts_begin(uint32_t *counts, uint32_t entries) {
  for (uint32_t i = threadIdx.x; i < entries; i += blockDim.x) counts[i] = 0;
  __syncthreads();
}

/* Adds the counts of the block to those of the run. Called by all its threads. */
static SL_DEVICE void block_counts_end(const uint32_t *counts, uint32_t entries, uint32_t *totals) {
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < entries; i += blockDim.x)
    if (counts[i] > 0) sl_total_add(&totals[i], counts[i]);
}

/* Histograms of at most this many entries are counted per block in shared memory, which reduces atomic additions in
 * device memory. Larger ones, and those of blocks of one thread, are counted directly. */
enum { BLOCK_ENTRIES = 2048 };

/* As many blocks as the device runs concurrently, each with a share of the events. */
#define HISTOGRAM_GRID(l) sl_make_grid(SL_GRID_THREADS, (uint64_t)(l)->events_max *(l)->block_threads)

/* On the host: derives the axis from its properties, or reports an error that names them. */
static inline SL_UNUSED struct histogram_axis axis_make(uint32_t bins, double lower, double upper) {
  struct histogram_axis x;
  x.lower = lower;
  x.upper = upper;
  x.width = (upper - lower) / (double)bins;
  x.per_width = 1.0 / x.width;
  x.bins = bins;
  x.reserved = 0;
  return x;
}

/* Error messages of an axis, as formats that begin with the name of a property, so that messages show its location. */
struct histogram_axis_words {
  const char *order, *range, *bins;
};
#define AXIS_WORDS(prefix)                                                                 \
  {                                                                                        \
    prefix "upper: %g is not above " prefix "lower, %g",                                   \
        prefix "upper: the distance from %g to %g exceeds the range of 64-bit floats",     \
        prefix "bins: there are not enough 64-bit floats from %.17g to %.17g for %u edges" \
  }

static inline SL_UNUSED int axis_check(const struct sl_services *s, const struct histogram_axis_words *words,
                                       uint32_t bins, double lower, double upper) {
  const struct histogram_axis x = axis_make(bins, lower, upper);
  if (!(lower < upper)) {
    s->message(s->context, SL_ERROR, words->order, upper, lower);
    return SL_EINVAL;
  }
  if (!(upper - lower <= LARGEST)) {
    s->message(s->context, SL_ERROR, words->range, lower, upper);
    return SL_EINVAL;
  }
  for (uint32_t i = 0; i < bins; i++)
    if (!(axis_edge(&x, i) < axis_edge(&x, i + 1))) {
      s->message(s->context, SL_ERROR, words->bins, lower, upper, bins + 1);
      return SL_EINVAL;
    }
  return SL_OK;
}

#endif
