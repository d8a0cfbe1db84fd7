/* histogram_text.c: histograms as JSON and as comma-separated values; README.md has both forms. */
#include "histograms.h"

#include <stdarg.h>

/* --------------------------------------------------------------------------------------------------- files */

static void add(void *file, const char *text, size_t bytes) {
  struct histogram_file *f = (struct histogram_file *)file;
  if (f->status == SL_OK) f->status = f->to->add(f->file, text, bytes);
}

static struct sl_text_receiver receiver_of(struct histogram_file *f) { return (struct sl_text_receiver){add, f}; }

void histogram_put_plain(struct histogram_file *f, const char *text) { add(f, text, strlen(text)); }

void histogram_put(struct histogram_file *f, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  histogram_put_plain(f, text);
}

/* ---------------------------------------------------------------------------------------------------- JSON */

void histograms_put_json(struct histogram_file *f, const struct sl_run *run, const struct sl_histogram *all,
                         uint32_t count) {
  const struct sl_text_receiver r = receiver_of(f);
  histogram_put_plain(f, "{\n  \"sluice_version\": ");
  sl_put_json_string(&r, run->sluice_version);
  histogram_put(f, ",\n  \"graph_digest\": \"%016" PRIx64 "\",\n  \"histograms\": [\n", run->graph_digest);
  for (uint32_t i = 0; i < count; i++) {
    histogram_put_plain(f, i > 0 ? ",\n    " : "    ");
    sl_put_json_histogram(&r, &all[i]);
  }
  histogram_put_plain(f, "\n  ]\n}\n");
}

/* ----------------------------------------------------------------------------------------------------- CSV */

static void put_edge(struct histogram_file *f, double edge) {
  if (isfinite(edge)) {
    const struct sl_text_receiver r = receiver_of(f);
    sl_put_number(&r, edge);
    return;
  }
  histogram_put_plain(f, isnan(edge) ? "nan" : edge < 0 ? "-inf" : "inf");
}

/* Writes ",LOWER,UPPER" of an entry, empty cells if the axis is not numeric. */
static void put_limits(struct histogram_file *f, const struct sl_axis *axis, uint32_t entry) {
  if (axis->kind != SL_AXIS_NUMERIC) {
    histogram_put_plain(f, ",,");
    return;
  }
  double lower, upper;
  sl_axis_limits(axis, entry, &lower, &upper);
  histogram_put_plain(f, ",");
  put_edge(f, lower);
  histogram_put_plain(f, ",");
  put_edge(f, upper);
}

static void put_rows(struct histogram_file *f, const struct sl_histogram *h, int have_names) {
  for (uint32_t y = 0; y < sl_axis_entries(&h->y); y++)
    for (uint32_t x = 0; x < sl_axis_entries(&h->x) && f->status == SL_OK; x++) {
      histogram_put_plain(f, h->name);
      put_limits(f, &h->x, x);
      put_limits(f, &h->y, y);
      histogram_put(f, ",%" PRIu64 "%s", sl_histogram_count(h, x, y), have_names ? "," : "");
      histogram_put_plain(f, h->x.kind == SL_AXIS_CATEGORIES ? h->x.names[x] : "");
      histogram_put_plain(f, "\n");
    }
}

void histograms_put_csv(struct histogram_file *f, const struct sl_histogram *all, uint32_t count) {
  int have_names = 0;
  for (uint32_t i = 0; i < count; i++) have_names |= all[i].x.kind == SL_AXIS_CATEGORIES;
  histogram_put(f, "histogram,x_lower,x_upper,y_lower,y_upper,count%s\n", have_names ? ",x_name" : "");
  for (uint32_t i = 0; i < count; i++) put_rows(f, &all[i], have_names);
}
