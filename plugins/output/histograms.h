/* histograms.h: the histograms of a run as a sink sees them, their statistics, and the three forms in which
 * output.histogram_sink writes them.
 */
#ifndef IO_HISTOGRAMS_H
#define IO_HISTOGRAMS_H

#include "generic/event_model.h"

struct histogram_axis {
  const char *field; /* "pv.z" */
  const char *unit, *doc;
  uint32_t bins, reserved;
  double lower, upper;
};

/* One with one axis has x alone; y.bins is 0. */
struct histogram {
  const char *name, *title; /* of the output; "" for no title */
  struct histogram_axis x, y;
  const uint64_t *counts; /* as generic/event_model.h has them: rows of x, a row for each entry of y */
};

/* Whatever `output` of the run is: 1 if it is a histogram, 0 if not, or an error that has been reported. */
int histogram_of(const struct sl_services *s, const struct sl_run_output *output, struct histogram *h);

/* Edge i, from 0 to the number of bins. */
double histogram_edge(const struct histogram_axis *axis, uint32_t i);
/* Entries of an axis, those beside its bins included; 1 of an axis that is not there. */
uint32_t histogram_entries(const struct histogram_axis *axis);
/* The count of an entry of x and one of y, which is 0 where there is no y. */
uint64_t histogram_count(const struct histogram *h, uint32_t x_entry, uint32_t y_entry);

struct histogram_axis_sums {
  uint64_t below, above, not_finite; /* whatever the other axis says */
  double mean, standard_deviation;   /* of what is in bins, taken to be at their middles; 0 where nothing is */
};

struct histogram_sums {
  uint64_t entries, in_bins; /* all of them; those in a bin of each axis */
  struct histogram_axis_sums x, y;
  double correlation; /* of x and y; 0 where one does not vary */
};

struct histogram_sums histogram_sum(const struct histogram *h);

/* A file being written. After the first failure nothing more is. */
struct histogram_file {
  const struct sl_output_calls *to;
  struct sl_output *file;
  int status;
};

/* At most 500 bytes of text at once, but for what stands behind `put_plain`. */
void histogram_put(struct histogram_file *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void histogram_put_plain(struct histogram_file *f, const char *text);
/* The shortest that reads back as the same bits. */
void histogram_put_number(struct histogram_file *f, double value);

struct histogram_style {
  uint32_t log_counts;
};

void histograms_put_json(struct histogram_file *f, const struct sl_run *run, const struct histogram *all,
                         uint32_t count);
void histograms_put_csv(struct histogram_file *f, const struct histogram *all, uint32_t count);
void histograms_put_svg(struct histogram_file *f, const struct histogram_style *style, const struct histogram *all,
                        uint32_t count);

#endif
