/* spread.h: mean, rms, median and robust width of a quantity, in memory of constant size.
 * The robust width is half the distance between the quantiles of 15.87 % and 84.13 %: sigma for a Gaussian,
 * insensitive to tails. Quantiles are interpolated linearly in a histogram of SPREAD_CELLS cells; values outside its
 * range, also infinite ones, count in the first or last cell. Mean and rms are those of all values. NaN, such as 0 /
 * 0 from damaged truth, is ignored and counted separately. Statistical errors of median and robust width are those for
 * a Gaussian of this width. */
#ifndef TRUTH_SPREAD_H
#define TRUTH_SPREAD_H

#include <sluice/plugin.h>

#include <stdint.h>

enum { SPREAD_CELLS = 2000 };

struct spread {
  uint64_t count, ignored;
  double sum, sum_of_squares;
  uint32_t cells[SPREAD_CELLS];
};

/* The histogram ranges from -range to range; `range` must be the same in all calls for a spread. */
void spread_add(struct spread *s, double range, double value);
double spread_mean(const struct spread *s);
double spread_rms(const struct spread *s); /* about the mean */
double spread_width(const struct spread *s, double range);
double spread_median(const struct spread *s, double range);
double spread_width_error(const struct spread *s, double range);
double spread_median_error(const struct spread *s, double range);
/* Writes a line with the number of ignored values, if there are any. */
void spread_report_ignored(const struct spread *s, const char *name, const struct sl_report *r);

#endif
