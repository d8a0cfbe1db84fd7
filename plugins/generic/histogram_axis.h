/* histogram_axis.h: the bins of one axis, for generic.histogram and generic.histogram_2d.
 *
 * Bin i, from 0, holds the values from edge i on and below edge i + 1, where edge i is lower + i * width, and the last
 * edge is `upper` itself. Edges are the same 64-bit floats wherever they are computed, and values are compared with
 * them exactly, also integers of 64 bits; so the bin of a value is the same everywhere.
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

/* Is the value below the edge? It is the sum of its nearest 64-bit float and a rest, which is 0 but for large integers.
 */
static SL_DEVICE uint32_t axis_is_below(double nearest, double rest, double edge) {
  return nearest < edge || (nearest == edge && rest < 0.0) ? 1u : 0u;
}

/* Which entry of the axis counts the value of a field: GENERIC_BELOW, 1 + its bin, and after these above and not
 * finite.
 */
static SL_DEVICE uint32_t axis_entry(const struct histogram_axis *x, const struct sl_field_ref *field, uint64_t index) {
  const double value = sl_field_f64(field, index), rest = sl_field_rest(field, index, value);
  if (!(value >= -LARGEST && value <= LARGEST)) return GENERIC_NOT_FINITE(x->bins);
  if (axis_is_below(value, rest, x->lower)) return GENERIC_BELOW;
  if (!axis_is_below(value, rest, x->upper)) return GENERIC_ABOVE(x->bins);
  const double place = (value - x->lower) * x->per_width; /* from 0, rounded: perhaps a neighbour's */
  const uint32_t last = x->bins - 1;
  uint32_t bin = place < (double)last ? (uint32_t)place : last;
  while (axis_is_below(value, rest, axis_edge(x, bin))) bin--;
  while (!axis_is_below(value, rest, axis_edge(x, bin + 1))) bin++;
  return 1 + bin;
}

/* Clears the counts of the block. All its threads come here. */
static SL_DEVICE void block_counts_begin(uint32_t *counts, uint32_t entries) {
  for (uint32_t i = threadIdx.x; i < entries; i += blockDim.x) counts[i] = 0;
  __syncthreads();
}

/* Adds them to those of the run. All its threads come here. */
static SL_DEVICE void block_counts_end(const uint32_t *counts, uint32_t entries, uint32_t *totals) {
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < entries; i += blockDim.x)
    if (counts[i] > 0) sl_total_add(&totals[i], counts[i]);
}

/* Histograms of up to so many entries are counted by each block in its shared memory, so that few atomic additions meet
 * in one place of the device's; larger ones, and those of a block of one thread, where they are. */
enum { BLOCK_ENTRIES = 2048 };

/* As many blocks as the device runs at a time, each with its share of the events. */
#define HISTOGRAM_GRID(l) sl_make_grid(SL_GRID_THREADS, (uint64_t)(l)->events_max *(l)->block_threads)

/* On the host: what follows of an axis's properties, or an error that names them. */
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

/* What is wrong with an axis, as formats that begin with the name of a property, so that messages show its place. */
struct histogram_axis_words {
  const char *order, *range, *bins;
};
#define AXIS_WORDS(prefix)                                                           \
  {                                                                                  \
    prefix "upper: %g is not above " prefix "lower, %g",                             \
        prefix "upper: from %g to %g is further than a 64-bit float reaches",        \
        prefix "bins: from %.17g to %.17g are not enough 64-bit floats for %u edges" \
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
