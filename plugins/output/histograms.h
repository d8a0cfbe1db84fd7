/* histograms.h: histograms of a run, their statistics, and the output forms of output.histogram_sink. */
#ifndef OUTPUT_HISTOGRAMS_H
#define OUTPUT_HISTOGRAMS_H

#include "generic/event_model.h"

enum histogram_axis_kind {
  HISTOGRAM_NO_AXIS,   /* one bin: y of a histogram with one axis */
  HISTOGRAM_NUMERIC,   /* bins of equal width; values below, above and not finite are counted beside them */
  HISTOGRAM_CATEGORIES /* a name for each bin */
};

struct histogram_axis {
  enum histogram_axis_kind kind;
  uint32_t bins;
  const char *label;        /* NUMERIC: name of the field, as in "pv.z"; CATEGORIES: what a name is, "line" */
  const char *unit, *doc;   /* NUMERIC */
  double lower, upper;      /* NUMERIC */
  const char *const *names; /* CATEGORIES */
};

struct histogram {
  char *name;                 /* name of the output; with categories "OUTPUT.FIELD"; made by histograms_of */
  const char *title;          /* "" for none; with categories the doc string of the field */
  const char *unit;           /* of counts; "" for none */
  struct histogram_axis x, y; /* y is NUMERIC, or NO_AXIS */
  const uint64_t *counts;     /* for each entry of y a row of the entries of x, as in generic/event_model.h */
};

/* Number of histograms that an output may hold. */
uint32_t histograms_max(const struct sl_run_output *output);
/* Makes the histograms of an output: itself if it is one, or one for each field that counts named entries. Returns
 * their number, or a reported error, after which there are none. */
int histograms_of(const struct sl_services *s, const struct sl_run_output *output, struct histogram *h);
void histogram_close(struct histogram *h);

/* Edge i of a numeric axis, 0 <= i <= number of bins. */
double histogram_edge(const struct histogram_axis *axis, uint32_t i);
/* Number of entries: bins, and those beside them. */
uint32_t histogram_entries(const struct histogram_axis *axis);
/* Limits of an entry of a numeric axis: from -inf below the bins, to inf above, both NaN for values that are not
 * finite. */
void histogram_limits(const struct histogram_axis *axis, uint32_t entry, double *lower, double *upper);
/* Count of an entry of x and an entry of y (0 without y). */
uint64_t histogram_count(const struct histogram *h, uint32_t x_entry, uint32_t y_entry);
/* Count of a bin of x and a bin of y (0 without y), from 0. */
uint64_t histogram_bin_count(const struct histogram *h, uint32_t x, uint32_t y);

/* Sums and statistics of a numeric axis; 0 for other axes. */
struct histogram_axis_sums {
  uint64_t below, above, not_finite; /* independent of the other axis */
  double mean, standard_deviation;   /* of the values in bins, approximated by the middle of their bin; 0 if there
                                        are none */
};

struct histogram_sums {
  uint64_t entries, in_bins; /* all entries, and those in a bin of each axis */
  uint32_t filled;           /* bins with entries */
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
