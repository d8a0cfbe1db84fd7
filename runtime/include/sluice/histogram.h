/* histogram.h: counts and statistics of histograms (struct sl_histogram), for sinks and for programs that embed Sluice.
 * Pure functions.
 */
#ifndef SLUICE_HISTOGRAM_H
#define SLUICE_HISTOGRAM_H

#include <sluice/services.h>

#include <math.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------- entries */

/* Edge i of a numeric axis, 0 <= i <= number of bins: the same bits that values were compared with. */
static inline SL_UNUSED double sl_axis_edge(const struct sl_axis *axis, uint32_t i) {
  const double width = (axis->upper - axis->lower) / (double)axis->bins;
  return i == axis->bins ? axis->upper : axis->lower + width * (double)i;
}

/* Number of entries: bins, and those beside them. */
static inline SL_UNUSED uint32_t sl_axis_entries(const struct sl_axis *axis) {
  return axis->kind == SL_AXIS_NUMERIC ? axis->bins + SL_AXIS_BESIDE : axis->bins;
}

static inline SL_UNUSED int sl_axis_is_bin(const struct sl_axis *axis, uint32_t entry) {
  return axis->kind != SL_AXIS_NUMERIC || (entry > SL_AXIS_BELOW && entry < SL_AXIS_ABOVE(axis->bins));
}

/* Limits of an entry of a numeric axis: from -inf below the bins, to inf above, both NaN for values that are not
 * finite. */
static inline SL_UNUSED void sl_axis_limits(const struct sl_axis *axis, uint32_t entry, double *lower, double *upper) {
  *lower = *upper = (double)NAN;
  if (entry == SL_AXIS_NOT_FINITE(axis->bins)) return;
  *lower = entry == SL_AXIS_BELOW ? -(double)INFINITY : sl_axis_edge(axis, entry - 1);
  *upper = entry == SL_AXIS_ABOVE(axis->bins) ? (double)INFINITY : sl_axis_edge(axis, entry);
}

/* Count of an entry of x and an entry of y (0 without y). */
static inline SL_UNUSED uint64_t sl_histogram_count(const struct sl_histogram *h, uint32_t x_entry, uint32_t y_entry) {
  return h->counts[(size_t)y_entry * sl_axis_entries(&h->x) + x_entry];
}

/* Count of a bin of x and a bin of y (0 without y), from 0. */
static inline SL_UNUSED uint64_t sl_histogram_bin_count(const struct sl_histogram *h, uint32_t x, uint32_t y) {
  return sl_histogram_count(h, x + (h->x.kind == SL_AXIS_NUMERIC), y + (h->y.kind == SL_AXIS_NUMERIC));
}

/* ---------------------------------------------------------------------------------------------- statistics */

/* Sums and statistics of a numeric axis; 0 for other axes. */
struct sl_axis_sums {
  uint64_t below, above, not_finite; /* independent of the other axis */
  double mean, standard_deviation;   /* of the values in bins, approximated by the middle of their bin; 0 if there
                                        are none */
};

struct sl_histogram_sums {
  uint64_t entries, in_bins; /* all entries, and those in a bin of each axis */
  uint32_t filled;           /* bins with entries */
  struct sl_axis_sums x, y;
  double correlation; /* correlation of x and y; 0 if one does not vary */
};

static inline SL_UNUSED double sl_axis_middle_(const struct sl_axis *axis, uint32_t entry) {
  if (axis->kind != SL_AXIS_NUMERIC) return 0;
  return sl_axis_edge(axis, entry - 1) / 2 + sl_axis_edge(axis, entry) / 2;
}

static inline SL_UNUSED void sl_axis_count_beside_(const struct sl_axis *axis, uint32_t entry, uint64_t count,
                                                   struct sl_axis_sums *sums) {
  if (axis->kind != SL_AXIS_NUMERIC) return;
  if (entry == SL_AXIS_BELOW) sums->below += count;
  if (entry == SL_AXIS_ABOVE(axis->bins)) sums->above += count;
  if (entry == SL_AXIS_NOT_FINITE(axis->bins)) sums->not_finite += count;
}

static inline SL_UNUSED void sl_histogram_add_entry_(const struct sl_histogram *h, uint32_t x, uint32_t y,
                                                     struct sl_histogram_sums *sums) {
  const uint64_t count = sl_histogram_count(h, x, y);
  sums->entries += count;
  sl_axis_count_beside_(&h->x, x, count, &sums->x);
  sl_axis_count_beside_(&h->y, y, count, &sums->y);
  if (!sl_axis_is_bin(&h->x, x) || !sl_axis_is_bin(&h->y, y)) return;
  sums->in_bins += count;
  sums->filled += count > 0;
  sums->x.mean += (double)count * sl_axis_middle_(&h->x, x);
  sums->y.mean += (double)count * sl_axis_middle_(&h->y, y);
}

static inline SL_UNUSED struct sl_histogram_sums sl_histogram_sum(const struct sl_histogram *h) {
  const uint32_t x_entries = sl_axis_entries(&h->x), y_entries = sl_axis_entries(&h->y);
  struct sl_histogram_sums sums;
  memset(&sums, 0, sizeof sums);
  for (uint32_t y = 0; y < y_entries; y++)
    for (uint32_t x = 0; x < x_entries; x++) sl_histogram_add_entry_(h, x, y, &sums);
  if (sums.in_bins == 0) return sums;
  const double n = (double)sums.in_bins;
  double xx = 0, yy = 0, xy = 0; /* sums of squared deviations from the means, and of their products */
  sums.x.mean /= n;
  sums.y.mean /= n;
  for (uint32_t y = 0; y < y_entries; y++)
    for (uint32_t x = 0; x < x_entries; x++) {
      if (!sl_axis_is_bin(&h->x, x) || !sl_axis_is_bin(&h->y, y)) continue;
      const double count = (double)sl_histogram_count(h, x, y);
      const double dx = sl_axis_middle_(&h->x, x) - sums.x.mean, dy = sl_axis_middle_(&h->y, y) - sums.y.mean;
      xx += count * dx * dx;
      yy += count * dy * dy;
      xy += count * dx * dy;
    }
  sums.x.standard_deviation = sqrt(xx / n);
  sums.y.standard_deviation = sqrt(yy / n);
  if (xx > 0 && yy > 0) sums.correlation = xy / sqrt(xx) / sqrt(yy);
  return sums;
}

#ifdef __cplusplus
}
#endif

#endif
