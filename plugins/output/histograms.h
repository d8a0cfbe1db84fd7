/* histograms.h: histograms of a run, their statistics, and the output forms of output.histogram_sink. */
#ifndef IO_HISTOGRAMS_H
#define IO_HISTOGRAMS_H

#include "generic/event_model.h"

struct histogram_axis {
  const char *field; /* name of the field, as in "pv.z" */
  const char *unit, *doc;
  uint32_t bins, reserved;
  double lower, upper;
};

/* With one axis, y.bins is 0. */
struct histogram {
  const char *name, *title; /* name of the output; title, "" for none */
  struct histogram_axis x, y;
  const uint64_t *counts; /* counts as in generic/event_model.h: for each entry of y a row of x */
};

/* Returns 1 and the histogram if `output` is one, 0 if it is not, or a reported error. */
int histogram_of(const struct sl_services *s, const struct sl_run_output *output, struct histogram *h);

/* Edge i, 0 <= i <= number of bins. */
double histogram_edge(const struct histogram_axis *axis, uint32_t i);
/* Number of entries of an axis, including those beside its bins; 1 for an absent axis. */
uint32_t histogram_entries(const struct histogram_axis *axis);
/* Count of an entry of x and an entry of y (0 without y). */
uint64_t histogram_count(const struct histogram *h, uint32_t x_entry, uint32_t y_entry);

struct histogram_axis_sums {
  uint64_t below, above, not_finite; /* independent of the other axis */
  double mean, standard_deviation;   /* of the values in bins, approximated by the middle of their bin; 0 if there
                                        are none */
};

struct histogram_sums {
  uint64_t entries, in_bins; /* all entries, and those in a bin of each axis */
  struct histogram_axis_sums x, y;
  double correlation; /* correlation of x and y; 0 if one does not vary */
};

struct histogram_sums histogram_sum(const struct histogram *h);

/* A file being written. Nothing is written after the first failure. */
struct histogram_file {
  const struct sl_output_calls *to;
  struct sl_output *file;
  int status;
};

/* Writes at most 500 bytes of text; histogram_put_plain has no limit. */
void histogram_put(struct histogram_file *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void histogram_put_plain(struct histogram_file *f, const char *text);
/* Writes the shortest decimal that is read back as the same bits. */
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
