/* totals.c: sums over the newest configuration, in the table; in JSON: results/sums_json.c. Totals with named entries
 * have a row per entry, histograms their statistics. */
#include "report/summary.h"
#include "results/sums_json.h"

#include <sluice/histogram.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <string.h>

enum { INDENT = 13, COLUMNS = 120 };

static void write_value(const struct sl_total_summary *t, uint64_t value, int width, FILE *file) {
  if (t->is_signed)
    fprintf(file, "%*" PRId64, width, (int64_t)value);
  else
    fprintf(file, "%*" PRIu64, width, value);
}

/* One line with the first values. */
static void write_values(const struct sl_total_summary *t, FILE *file) {
  enum { SHOWN = 16 };
  const uint64_t count = (uint64_t)t->entries * t->width;
  fprintf(file, "total        %s.%s:", t->port, t->field);
  for (uint64_t i = 0; i < count && i < SHOWN; i++) {
    fputc(' ', file);
    write_value(t, t->values[i], 0, file);
  }
  if (count > SHOWN) fprintf(file, " ... (%" PRIu64 " in all: --json)", count);
  fprintf(file, "\n");
}

static int is_column(const struct sl_total_summary *t) { return t->width == 1; }
static int counts_events(const struct sl_total_summary *t) { return strcmp(t->unit, "events") == 0; }

static int is_zero(const struct sl_total_summary *fields, uint32_t count, uint32_t entry) {
  for (uint32_t f = 0; f < count; f++)
    if (is_column(&fields[f]) && fields[f].values[entry] != 0) return 0;
  return 1;
}

/* A value; of a count of events, also its share of all events. */
static void write_cell(const struct sl_total_summary *t, uint32_t entry, uint64_t events, FILE *file) {
  char share[32] = "";
  if (counts_events(t) && events > 0)
    snprintf(share, sizeof share, "%.3g %%", 100 * (double)t->values[entry] / (double)events);
  write_value(t, t->values[entry], 14, file);
  if (counts_events(t)) fprintf(file, " %8s", share);
}

/* "all 0: Hlt1A, Hlt1B": names of the entries without counts, in lines of at most COLUMNS; `is_short`: their number. */
static void write_zeros(const struct sl_total_summary *fields, uint32_t count, int is_short, FILE *file) {
  size_t column = 0;
  uint32_t zeros = 0;
  for (uint32_t e = 0; e < fields->entries; e++) zeros += is_zero(fields, count, e) ? 1u : 0u;
  if (is_short) {
    if (zeros > 0) fprintf(file, "%*sall 0: %u more (--verbose)\n", INDENT, "", zeros);
    return;
  }
  for (uint32_t e = 0; e < fields->entries; e++) {
    if (!is_zero(fields, count, e)) continue;
    const size_t length = strlen(fields->names[e]);
    if (column > 0) column += (size_t)fprintf(file, ",");
    if (column == 0 || column + length + 2 > COLUMNS) {
      if (column > 0) fprintf(file, "\n");
      column = (size_t)fprintf(file, "%*s%s", INDENT, "", column == 0 ? "all 0:" : "      ");
    }
    column += (size_t)fprintf(file, " %s", fields->names[e]);
  }
  if (column > 0) fprintf(file, "\n");
}

/* A row per entry with a count. */
static void write_rows(const struct sl_total_summary *fields, uint32_t count, uint64_t events, int is_short,
                       FILE *file) {
  int name_width = (int)strlen(fields->label);
  for (uint32_t e = 0; e < fields->entries; e++) {
    const int length = (int)strlen(fields->names[e]);
    if (!is_zero(fields, count, e) && length > name_width) name_width = length;
  }
  fprintf(file, "total        %s, of %" PRIu64 " %s\n", fields->port, events, sl_plural(events, "event", "events"));
  fprintf(file, "%*s%-*s", INDENT, "", name_width, fields->label);
  for (uint32_t f = 0; f < count; f++)
    if (is_column(&fields[f])) fprintf(file, "%*s", counts_events(&fields[f]) ? 23 : 14, fields[f].field);
  fprintf(file, "\n");
  for (uint32_t e = 0; e < fields->entries; e++) {
    if (is_zero(fields, count, e)) continue;
    fprintf(file, "%*s%-*s", INDENT, "", name_width, fields->names[e]);
    for (uint32_t f = 0; f < count; f++)
      if (is_column(&fields[f])) write_cell(&fields[f], e, events, file);
    fprintf(file, "\n");
  }
  write_zeros(fields, count, is_short, file);
}

/* The histogram that an output is; NULL: its entries are no bins. */
static const struct sl_histogram *histogram_of(const struct sl_run *run, const char *port) {
  for (uint32_t o = 0; o < run->output_count; o++) {
    const struct sl_run_output *output = &run->outputs[o];
    if (strcmp(output->name, port) == 0)
      return output->histogram_count == 1 && output->histograms->x.kind == SL_AXIS_NUMERIC ? output->histograms : NULL;
  }
  return NULL;
}

/* "; pv.z: mean 0.5, standard deviation 47.2 mm, 3 below, 1 above" */
static void write_axis(const struct sl_axis *axis, const struct sl_axis_sums *sums, uint32_t has_mean, FILE *file) {
  if (axis->kind != SL_AXIS_NUMERIC || sums->below + sums->above + sums->not_finite + has_mean == 0) return;
  fprintf(file, "; %s", axis->label);
  if (has_mean)
    fprintf(file, ": mean %.5g, standard deviation %.4g%s%s", sums->mean, sums->standard_deviation,
            *axis->unit ? " " : "", axis->unit);
  if (sums->below > 0) fprintf(file, ", %" PRIu64 " below", sums->below);
  if (sums->above > 0) fprintf(file, ", %" PRIu64 " above", sums->above);
  if (sums->not_finite > 0) fprintf(file, ", %" PRIu64 " not finite", sums->not_finite);
}

static void write_histogram(const struct sl_histogram *histogram, const struct sl_total_summary *t, FILE *file) {
  struct sl_histogram of_run = *histogram;
  of_run.counts = t->values;
  const struct sl_histogram_sums sums = sl_histogram_sum(&of_run);
  fprintf(file, "histogram    %s: %" PRIu64 " %s", t->port, sums.entries, sl_plural(sums.entries, "entry", "entries"));
  write_axis(&of_run.x, &sums.x, sums.in_bins > 0, file);
  write_axis(&of_run.y, &sums.y, sums.in_bins > 0, file);
  fprintf(file, "\n");
}

void sl_totals_write(const struct sl_summary *sum, const struct sl_run *run, uint64_t events, int only_named,
                     FILE *file) {
  for (uint32_t k = 0, count; k < sum->total_count; k += count) {
    const struct sl_total_summary *fields = &sum->totals[k];
    count = sl_totals_of_output(fields, sum->total_count - k);
    const struct sl_histogram *histogram = histogram_of(run, fields->port);
    if (histogram) {
      write_histogram(histogram, fields, file);
      continue;
    }
    if (fields->label) write_rows(fields, count, events, only_named, file);
    for (uint32_t f = 0; f < count; f++)
      if (!only_named && !(fields->label && is_column(&fields[f]))) write_values(&fields[f], file);
  }
}
