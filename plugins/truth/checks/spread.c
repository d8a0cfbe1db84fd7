/* spread.c: see spread.h. */
#include "spread.h"

#include <inttypes.h>
#include <math.h>

static const double below_minus_sigma = 0.158655; /* fraction of a Gaussian below -1 sigma */

void spread_add(struct spread *s, double range, double value) {
  const double cell = (value + range) / (2 * range) * SPREAD_CELLS;
  if (isnan(value)) {
    s->ignored++;
    return;
  }
  s->count++;
  s->sum += value;
  s->sum_of_squares += value * value;
  s->cells[cell < 0 ? 0 : cell >= SPREAD_CELLS ? SPREAD_CELLS - 1 : (uint32_t)cell]++;
}

double spread_mean(const struct spread *s) { return s->count ? s->sum / (double)s->count : 0; }

double spread_rms(const struct spread *s) {
  if (s->count == 0) return 0;
  const double mean = spread_mean(s), variance = s->sum_of_squares / (double)s->count - mean * mean;
  return variance > 0 ? sqrt(variance) : 0;
}

static double quantile(const struct spread *s, double range, double share) {
  const double target = share * (double)s->count;
  double before = 0;
  uint32_t cell = 0;
  while (cell < SPREAD_CELLS - 1 && before + s->cells[cell] < target) before += s->cells[cell++];
  const double within = s->cells[cell] ? (target - before) / s->cells[cell] : 0;
  return 2 * range * (cell + within) / SPREAD_CELLS - range;
}

double spread_width(const struct spread *s, double range) {
  if (s->count == 0) return 0;
  return (quantile(s, range, 1 - below_minus_sigma) - quantile(s, range, below_minus_sigma)) / 2;
}

double spread_median(const struct spread *s, double range) { return s->count ? quantile(s, range, 0.5) : 0; }

/* Quantiles a <= b of n values with the density f have the covariance a (1 - b) / (n f_a f_b). A Gaussian has f sigma =
 * 0.398942 at the median and 0.241971 at -1 and 1 sigma. Median: 0.5 / 0.398942 = 1.253314. Width, half the difference
 * of the quantiles a = 0.158655 and 1 - a: sqrt((a (1 - a) - a^2) / 2) / 0.241971 = 0.961747. */
static const double median_error_factor = 1.253314, width_error_factor = 0.961747;

static double error(const struct spread *s, double range, double factor) {
  return s->count ? factor * spread_width(s, range) / sqrt((double)s->count) : 0;
}

double spread_width_error(const struct spread *s, double range) { return error(s, range, width_error_factor); }

double spread_median_error(const struct spread *s, double range) { return error(s, range, median_error_factor); }

void spread_report_ignored(const struct spread *s, const char *name, const struct sl_report *r) {
  if (s->ignored > 0) r->line(r->context, "%s: %" PRIu64 " values that are not numbers were ignored", name, s->ignored);
}
