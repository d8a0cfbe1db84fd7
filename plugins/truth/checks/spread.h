/* spread.h: how the values of one quantity are spread, in memory that does not grow with their number.
 *
 * The robust width is half the distance between the quantiles of 15.87 % and 84.13 %: sigma, for a Gaussian, and blind
 * to tails. Quantiles come from a histogram of SPREAD_CELLS cells, linearly between a cell's edges; what lies outside
 * its range, were it infinite, counts in its first or last cell. Mean and rms are those of all values. What is no
 * number, as 0 / 0 of a damaged truth, is left out of all that, and counted by itself.
 */
#ifndef TRUTH_SPREAD_H
#define TRUTH_SPREAD_H

#include <sluice/plugin.h>

#include <stdint.h>

enum { SPREAD_CELLS = 2000 };

struct spread {
  uint64_t count, left_out;
  double sum, sum_of_squares;
  uint32_t cells[SPREAD_CELLS];
};

/* The histogram reaches from -range to range, which is the same in every call for one spread. */
void spread_add(struct spread *s, double range, double value);
double spread_mean(const struct spread *s);
double spread_rms(const struct spread *s); /* about the mean */
double spread_width(const struct spread *s, double range);
double spread_median(const struct spread *s, double range);
/* A line that says how many values were left out, if there are any. */
void spread_report_left_out(const struct spread *s, const char *name, const struct sl_report *r);

#endif
