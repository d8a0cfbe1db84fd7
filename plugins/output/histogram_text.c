/* histogram_text.c: histograms as JSON and as comma-separated values; README.md has both forms. */
#include "histograms.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <math.h>

/* ---------------------------------------------------------------------------------------------------- JSON */

/* Writes a text in quotes. */
static void put_string(struct histogram_file *f, const char *text) {
  char written[SL_TEXT_BYTES];
  histogram_put_plain(f, "\"");
  while (*text) {
    text += sl_text_json(text, written);
    histogram_put_plain(f, written);
  }
  histogram_put_plain(f, "\"");
}

/* Writes a number, null if it is too large for a float (the spread over the widest ranges). */
static void put_key_number(struct histogram_file *f, const char *key, double value) {
  histogram_put(f, ", \"%s\": ", key);
  if (isfinite(value))
    histogram_put_number(f, value);
  else
    histogram_put_plain(f, "null");
}

static void put_numeric_axis(struct histogram_file *f, const struct histogram_axis *axis,
                             const struct histogram_axis_sums *sums) {
  histogram_put_plain(f, "{\"field\": ");
  put_string(f, axis->label);
  histogram_put_plain(f, ", \"unit\": ");
  put_string(f, axis->unit);
  histogram_put_plain(f, ", \"doc\": ");
  put_string(f, axis->doc);
  histogram_put(f, ", \"bins\": %" PRIu32, axis->bins);
  put_key_number(f, "lower", axis->lower);
  put_key_number(f, "upper", axis->upper);
  histogram_put(f, ", \"below\": %" PRIu64 ", \"above\": %" PRIu64 ", \"not_finite\": %" PRIu64, sums->below,
                sums->above, sums->not_finite);
  put_key_number(f, "mean", sums->mean);
  put_key_number(f, "standard_deviation", sums->standard_deviation);
  histogram_put_plain(f, "}");
}

static void put_categories(struct histogram_file *f, const struct histogram_axis *axis) {
  histogram_put_plain(f, "{\"label\": ");
  put_string(f, axis->label);
  histogram_put_plain(f, ", \"names\": [");
  for (uint32_t i = 0; i < axis->bins; i++) {
    histogram_put_plain(f, i > 0 ? ", " : "");
    put_string(f, axis->names[i]);
  }
  histogram_put_plain(f, "]}");
}

static void put_axis(struct histogram_file *f, const struct histogram_axis *axis,
                     const struct histogram_axis_sums *sums) {
  if (axis->kind == HISTOGRAM_CATEGORIES)
    put_categories(f, axis);
  else
    put_numeric_axis(f, axis, sums);
}

/* Writes the bins of x for one bin of y. */
static void put_row(struct histogram_file *f, const struct histogram *h, uint32_t y) {
  histogram_put_plain(f, "[");
  for (uint32_t x = 0; x < h->x.bins; x++)
    histogram_put(f, "%s%" PRIu64, x > 0 ? ", " : "", histogram_bin_count(h, x, y));
  histogram_put_plain(f, "]");
}

static void put_counts(struct histogram_file *f, const struct histogram *h) {
  if (h->y.kind == HISTOGRAM_NO_AXIS) {
    put_row(f, h, 0);
    return;
  }
  histogram_put_plain(f, "[");
  for (uint32_t y = 0; y < h->y.bins; y++) {
    histogram_put_plain(f, y > 0 ? ",\n      " : "\n      ");
    put_row(f, h, y);
  }
  histogram_put_plain(f, "]");
}

static void put_histogram(struct histogram_file *f, const struct histogram *h) {
  const struct histogram_sums sums = histogram_sum(h);
  histogram_put_plain(f, "    {\"name\": ");
  put_string(f, h->name);
  histogram_put_plain(f, ", \"title\": ");
  put_string(f, h->title);
  histogram_put(f, ", \"entries\": %" PRIu64, sums.entries);
  if (h->x.kind == HISTOGRAM_NUMERIC) histogram_put(f, ", \"in_bins\": %" PRIu64, sums.in_bins);
  histogram_put_plain(f, ",\n     \"x\": ");
  put_axis(f, &h->x, &sums.x);
  if (h->y.kind != HISTOGRAM_NO_AXIS) {
    histogram_put_plain(f, ",\n     \"y\": ");
    put_axis(f, &h->y, &sums.y);
    put_key_number(f, "correlation", sums.correlation);
  }
  histogram_put_plain(f, ",\n     \"counts\": ");
  put_counts(f, h);
  histogram_put_plain(f, "}");
}

void histograms_put_json(struct histogram_file *f, const struct sl_run *run, const struct histogram *all,
                         uint32_t count) {
  histogram_put_plain(f, "{\n  \"sluice_version\": ");
  put_string(f, run->sluice_version);
  histogram_put(f, ",\n  \"graph_digest\": \"%016" PRIx64 "\",\n  \"histograms\": [\n", run->graph_digest);
  for (uint32_t i = 0; i < count; i++) {
    histogram_put_plain(f, i > 0 ? ",\n" : "");
    put_histogram(f, &all[i]);
  }
  histogram_put_plain(f, "\n  ]\n}\n");
}

/* ----------------------------------------------------------------------------------------------------- CSV */

static void put_edge(struct histogram_file *f, double edge) {
  if (isfinite(edge)) {
    histogram_put_number(f, edge);
    return;
  }
  histogram_put_plain(f, isnan(edge) ? "nan" : edge < 0 ? "-inf" : "inf");
}

/* Writes ",LOWER,UPPER" of an entry, empty cells if the axis is not numeric. */
static void put_limits(struct histogram_file *f, const struct histogram_axis *axis, uint32_t entry) {
  if (axis->kind != HISTOGRAM_NUMERIC) {
    histogram_put_plain(f, ",,");
    return;
  }
  double lower, upper;
  histogram_limits(axis, entry, &lower, &upper);
  histogram_put_plain(f, ",");
  put_edge(f, lower);
  histogram_put_plain(f, ",");
  put_edge(f, upper);
}

static void put_rows(struct histogram_file *f, const struct histogram *h, int have_names) {
  for (uint32_t y = 0; y < histogram_entries(&h->y); y++)
    for (uint32_t x = 0; x < histogram_entries(&h->x) && f->status == SL_OK; x++) {
      histogram_put_plain(f, h->name);
      put_limits(f, &h->x, x);
      put_limits(f, &h->y, y);
      histogram_put(f, ",%" PRIu64 "%s", histogram_count(h, x, y), have_names ? "," : "");
      histogram_put_plain(f, h->x.kind == HISTOGRAM_CATEGORIES ? h->x.names[x] : "");
      histogram_put_plain(f, "\n");
    }
}

void histograms_put_csv(struct histogram_file *f, const struct histogram *all, uint32_t count) {
  int have_names = 0;
  for (uint32_t i = 0; i < count; i++) have_names |= all[i].x.kind == HISTOGRAM_CATEGORIES;
  histogram_put(f, "histogram,x_lower,x_upper,y_lower,y_upper,count%s\n", have_names ? ",x_name" : "");
  for (uint32_t i = 0; i < count; i++) put_rows(f, &all[i], have_names);
}
