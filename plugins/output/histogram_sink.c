/* histogram_sink.c: output.histogram_sink, writes the histograms of the graph at the end of the run as JSON,
 * comma-separated values or a picture.
 */
#include "histograms.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SL_ARGS histogram_sink_args
#define HISTOGRAM_SINK(M)                                                                                \
  M(FILE_OUT, path, "", "", "path of the file; empty: that of -o")                                       \
  M(STRING, output, "", "OUTPUT, or OUTPUT.FIELD of totals with names; empty: all histograms")           \
  M(ENUM, format, "by_name", "file format; by_name: by the suffix .json, .csv or .svg, svg without one", \
    "by_name json csv svg")                                                                              \
  M(BOOL, log_counts, 0, "logarithmic scale of counts in pictures")                                      \
  M(BOOL, errors, 1, "error bars in pictures of one numeric axis: the square root of each count")
SL_HOST_ARGUMENTS(histogram_sink, HISTOGRAM_SINK);

enum { BY_NAME, JSON, CSV, SVG, FORMATS };

struct histogram_sink {
  const struct sl_output_calls *to;
  struct sl_output *file;
  const struct sl_run *run;
  struct sl_histogram *all;
  uint32_t count, format;
  struct histogram_style style;
};

/* ------------------------------------------------------------------------------------------------- opening */

/* Copies the histograms of the run. */
static int read_histograms(struct histogram_sink *k, const struct sl_services *s) {
  uint32_t count = 0;
  for (uint32_t o = 0; o < k->run->output_count; o++) count += k->run->outputs[o].histogram_count;
  k->all = (struct sl_histogram *)calloc(count + 1, sizeof *k->all);
  if (!k->all) {
    s->message(s->context, SL_ERROR, "out of memory");
    return SL_ENOMEM;
  }
  for (uint32_t o = 0; o < k->run->output_count; o++)
    for (uint32_t i = 0; i < k->run->outputs[o].histogram_count; i++)
      k->all[k->count++] = k->run->outputs[o].histograms[i];
  if (k->count > 0) return SL_OK;
  s->message(s->context, SL_ERROR,
             "the graph has no output that is a histogram, as of generic.histogram, and no totals with names");
  return SL_EINVAL;
}

/* 1 if `name` is the histogram or, as "OUTPUT", has the histogram "OUTPUT.FIELD". */
static int is_named(const struct sl_histogram *h, const char *name) {
  const size_t length = strlen(name);
  if (strcmp(h->name, name) == 0) return 1;
  return h->x.kind == SL_AXIS_CATEGORIES && strncmp(h->name, name, length) == 0 && h->name[length] == '.' &&
         !strchr(h->name + length + 1, '.');
}

/* Reports that no histogram has this name, with the first names that there are. */
static void report_unknown(const struct histogram_sink *k, const struct sl_services *s, const char *name) {
  char names[400] = "";
  size_t used = 0;
  uint32_t listed = 0;
  while (listed < k->count && used + strlen(k->all[listed].name) + 3 < sizeof names) {
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", listed ? ", " : "", k->all[listed].name);
    listed++;
  }
  s->message(s->context, SL_ERROR, "output: `%s` is no histogram of the graph, which has %s%s", name, names,
             listed < k->count ? ", ..." : "");
}

/* Removes the histograms that were not requested. */
static int choose_histograms(struct histogram_sink *k, const struct sl_services *s, const char *name) {
  uint32_t chosen = 0;
  for (uint32_t i = 0; i < k->count; i++) chosen += is_named(&k->all[i], name);
  if (chosen == 0) {
    report_unknown(k, s, name);
    return SL_EINVAL;
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < k->count; i++)
    if (is_named(&k->all[i], name)) k->all[count++] = k->all[i];
  k->count = count;
  return SL_OK;
}

static int choose_format(struct histogram_sink *k, const struct sl_services *s, uint32_t format, const char *path) {
  static const char *const ends[FORMATS] = {"", ".json", ".csv", ".svg"};
  const char *folder = strrchr(path, '/'), *end = strrchr(folder ? folder : path, '.');
  k->format = format;
  if (format == BY_NAME && !end) k->format = SVG;
  for (uint32_t f = JSON; f < FORMATS && format == BY_NAME && end; f++)
    if (strcasecmp(end, ends[f]) == 0) k->format = f;
  if (k->format != BY_NAME) return SL_OK;
  s->message(s->context, SL_ERROR, "path: `%s` does not end in .json, .csv or .svg; choose the form with `format`",
             path);
  return SL_EINVAL;
}

static int histogram_sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct histogram_sink_args *args = (const struct histogram_sink_args *)args_;
  struct histogram_sink *k = (struct histogram_sink *)state;
  const char *path = *args->path ? args->path : output_path ? output_path : "";
  *k = (struct histogram_sink){
      .to = s->output, .run = s->run, .style = {.log_counts = args->log_counts, .errors = args->errors}};
  int status = read_histograms(k, s);
  if (status == SL_OK && *args->output) status = choose_histograms(k, s, args->output);
  if (status == SL_OK && *path) status = choose_format(k, s, args->format, path);
  return status == SL_OK ? k->to->open(s, path, 0, &k->file) : status;
}

/* ------------------------------------------------------------------------------------------------- writing */

/* The runtime sums the counts over slices. */
static int histogram_sink_consume(void *state, const struct sl_services *s, const void *args,
                                  const struct sl_batch *batch) {
  (void)state, (void)s, (void)args, (void)batch;
  return SL_OK;
}

static void report_axis(const struct sl_report *r, const char *name, const struct sl_axis *axis,
                        const struct sl_axis_sums *sums) {
  r->begin_object(r->context, name);
  if (axis->kind == SL_AXIS_CATEGORIES) {
    r->text(r->context, "label", axis->label);
  } else {
    r->text(r->context, "field", axis->label);
    r->integer(r->context, "below", (int64_t)sums->below);
    r->integer(r->context, "above", (int64_t)sums->above);
    r->integer(r->context, "not_finite", (int64_t)sums->not_finite);
    r->number(r->context, "mean", sums->mean);
    r->number(r->context, "standard_deviation", sums->standard_deviation);
  }
  r->end_object(r->context);
}

/* The unit with a blank before it, or nothing. */
#define SPACED(unit) *(unit) ? " " : "", unit

static void report_line(const struct sl_report *r, const struct sl_histogram *h, const struct sl_histogram_sums *sums) {
  const char *entries = sl_plural(sums->entries, "entry", "entries");
  if (h->x.kind == SL_AXIS_CATEGORIES)
    r->line(r->context, "%s: %" PRIu64 " %s in %" PRIu32 " of %" PRIu32 " names", h->name, sums->entries, entries,
            sums->filled, h->x.bins);
  else if (h->y.kind == SL_AXIS_NUMERIC)
    r->line(r->context, "%s: %" PRIu64 " %s, %" PRIu64 " of them in bins, means %.4g%s%s and %.4g%s%s", h->name,
            sums->entries, entries, sums->in_bins, sums->x.mean, SPACED(h->x.unit), sums->y.mean, SPACED(h->y.unit));
  else
    r->line(r->context, "%s: %" PRIu64 " %s, %" PRIu64 " of them in bins, mean %.4g%s%s, standard deviation %.4g%s%s",
            h->name, sums->entries, entries, sums->in_bins, sums->x.mean, SPACED(h->x.unit), sums->x.standard_deviation,
            SPACED(h->x.unit));
}

static void report_histogram(const struct sl_report *r, const struct sl_histogram *h) {
  const struct sl_histogram_sums sums = sl_histogram_sum(h);
  r->begin_object(r->context, NULL);
  r->text(r->context, "name", h->name);
  r->integer(r->context, "entries", (int64_t)sums.entries);
  if (h->x.kind == SL_AXIS_NUMERIC) r->integer(r->context, "in_bins", (int64_t)sums.in_bins);
  report_axis(r, "x", &h->x, &sums.x);
  if (h->y.kind != SL_AXIS_NONE) report_axis(r, "y", &h->y, &sums.y);
  r->end_object(r->context);
  report_line(r, h, &sums);
  if (sums.x.not_finite + sums.y.not_finite > 0)
    r->line(r->context, "%s: %" PRIu64 " values are not finite", h->name, sums.x.not_finite + sums.y.not_finite);
}

static int write_histograms(struct histogram_sink *k) {
  struct histogram_file f = {k->to, k->file, SL_OK};
  if (k->format == JSON) histograms_put_json(&f, k->run, k->all, k->count);
  if (k->format == CSV) histograms_put_csv(&f, k->all, k->count);
  if (k->format == SVG) histograms_put_svg(&f, &k->style, k->all, k->count);
  return f.status;
}

static int histogram_sink_rotate(void *state, const struct sl_services *s, const void *args) {
  struct histogram_sink *k = (struct histogram_sink *)state;
  (void)s, (void)args;
  const int status = write_histograms(k);
  return status == SL_OK ? k->to->rotate(k->file) : status;
}

static int histogram_sink_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  (void)s;
  struct histogram_sink *k = (struct histogram_sink *)state;
  int status = write_histograms(k);
  if (status == SL_OK) status = k->to->finish(k->file);
  if (status != SL_OK) return status;
  r->text(r->context, "path", k->to->path(k->file));
  r->begin_array(r->context, "histograms");
  for (uint32_t i = 0; i < k->count; i++) report_histogram(r, &k->all[i]);
  r->end_array(r->context);
  r->line(r->context, "%" PRIu32 " histogram%s: %s", k->count, k->count > 1 ? "s" : "", k->to->path(k->file));
  return SL_OK;
}

static void histogram_sink_close(void *state) {
  struct histogram_sink *k = (struct histogram_sink *)state;
  if (k->file) k->to->close(k->file);
  free(k->all);
}

static const struct sl_sink histogram_sink_functions = {.open = histogram_sink_open,
                                                        .consume = histogram_sink_consume,
                                                        .finish = histogram_sink_finish,
                                                        .close = histogram_sink_close,
                                                        .takes_outputs = 1,
                                                        .rotate = histogram_sink_rotate};

SL_SINK(histogram_sink, "writes histograms as JSON, comma-separated values or a picture", struct histogram_sink,
        histogram_sink_functions);
