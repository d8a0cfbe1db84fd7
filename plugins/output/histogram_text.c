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

static void put_axis(struct histogram_file *f, const struct histogram_axis *axis,
                     const struct histogram_axis_sums *sums) {
  histogram_put_plain(f, "{\"field\": ");
  put_string(f, axis->field);
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

/* Writes the bins of x for one entry of y. */
static void put_row(struct histogram_file *f, const struct histogram *h, uint32_t y_entry) {
  histogram_put_plain(f, "[");
  for (uint32_t i = 1; i <= h->x.bins; i++)
    histogram_put(f, "%s%" PRIu64, i > 1 ? ", " : "", histogram_count(h, i, y_entry));
  histogram_put_plain(f, "]");
}

static void put_counts(struct histogram_file *f, const struct histogram *h) {
  if (h->y.bins == 0) {
    put_row(f, h, 0);
    return;
  }
  histogram_put_plain(f, "[");
  for (uint32_t i = 1; i <= h->y.bins; i++) {
    histogram_put_plain(f, i > 1 ? ",\n      " : "\n      ");
    put_row(f, h, i);
  }
  histogram_put_plain(f, "]");
}

static void put_histogram(struct histogram_file *f, const struct histogram *h) {
  const struct histogram_sums sums = histogram_sum(h);
  histogram_put_plain(f, "    {\"name\": ");
  put_string(f, h->name);
  histogram_put_plain(f, ", \"title\": ");
  put_string(f, h->title);
  histogram_put(f, ", \"entries\": %" PRIu64 ", \"in_bins\": %" PRIu64 ",\n     \"x\": ", sums.entries, sums.in_bins);
  put_axis(f, &h->x, &sums.x);
  if (h->y.bins > 0) {
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

/* Writes ",LOWER,UPPER": from -inf below the bins, to inf above, nan for values that are not finite; empty cells for
 * an absent axis. */
static void put_edges(struct histogram_file *f, const struct histogram_axis *axis, uint32_t entry) {
  const int is_finite = axis->bins == 0 || entry != GENERIC_NOT_FINITE(axis->bins);
  if (axis->bins == 0) {
    histogram_put_plain(f, ",,");
    return;
  }
  const double lower = entry == GENERIC_BELOW ? -INFINITY : histogram_edge(axis, is_finite ? entry - 1 : 0);
  const double upper = entry > axis->bins ? INFINITY : histogram_edge(axis, entry);
  histogram_put_plain(f, ",");
  put_edge(f, is_finite ? lower : NAN);
  histogram_put_plain(f, ",");
  put_edge(f, is_finite ? upper : NAN);
}

void histograms_put_csv(struct histogram_file *f, const struct histogram *all, uint32_t count) {
  histogram_put_plain(f, "histogram,x_lower,x_upper,y_lower,y_upper,count\n");
  for (uint32_t i = 0; i < count; i++) {
    const struct histogram *h = &all[i];
    for (uint32_t y = 0; y < histogram_entries(&h->y); y++)
      for (uint32_t x = 0; x < histogram_entries(&h->x) && f->status == SL_OK; x++) {
        histogram_put_plain(f, h->name);
        put_edges(f, &h->x, x);
        put_edges(f, &h->y, y);
        histogram_put(f, ",%" PRIu64 "\n", histogram_count(h, x, y));
      }
  }
}
