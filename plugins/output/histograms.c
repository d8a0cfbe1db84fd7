/* histograms.c: see histograms.h. */
#include "histograms.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------- what an output is */

static const struct sl_run_setting *find_setting(const struct sl_run_output *o, const char *prefix, const char *name) {
  const size_t length = strlen(prefix);
  for (uint32_t i = 0; i < o->setting_count; i++)
    if (strncmp(o->settings[i].name, prefix, length) == 0 && strcmp(o->settings[i].name + length, name) == 0)
      return &o->settings[i];
  return NULL;
}

/* Reads an axis. `field`: the property that names the field; `prefix`: of the names of the other properties. */
static int read_axis(const struct sl_run_output *o, const char *field, const char *prefix,
                     struct histogram_axis *axis) {
  const struct sl_run_setting *of = find_setting(o, "", field), *bins = find_setting(o, prefix, "bins");
  const struct sl_run_setting *lower = find_setting(o, prefix, "lower"), *upper = find_setting(o, prefix, "upper");
  if (!of || !of->field || !bins || !lower || !upper) return 0;
  *axis = (struct histogram_axis){.kind = HISTOGRAM_NUMERIC,
                                  .label = of->text,
                                  .unit = of->field->unit,
                                  .doc = of->field->doc,
                                  .bins = (uint32_t)bins->number,
                                  .lower = lower->number,
                                  .upper = upper->number};
  return 1;
}

static const struct histogram_axis no_axis = {.kind = HISTOGRAM_NO_AXIS, .bins = 1};

/* Sets the name to "OUTPUT" or "OUTPUT.FIELD". */
static int set_name(const struct sl_services *s, struct histogram *h, const char *output, const char *field) {
  const size_t size = strlen(output) + strlen(field) + 2;
  h->name = (char *)malloc(size);
  if (!h->name) {
    s->message(s->context, SL_ERROR, "out of memory");
    return SL_ENOMEM;
  }
  snprintf(h->name, size, "%s%s%s", output, *field ? "." : "", field);
  return SL_OK;
}

static int read_numeric(const struct sl_services *s, const struct sl_run_output *output, int is_2d,
                        struct histogram *h) {
  const struct sl_run_setting *title = find_setting(output, "", "title");
  *h = (struct histogram){
      .title = title && title->text ? title->text : "", .unit = "", .y = no_axis, .counts = output->totals};
  const int is_known = is_2d ? read_axis(output, "x", "x_", &h->x) && read_axis(output, "y", "y_", &h->y)
                             : read_axis(output, "of", "", &h->x);
  if (is_known) {
    const int status = set_name(s, h, output->name, "");
    return status == SL_OK ? 1 : status;
  }
  s->message(s->context, SL_ERROR, "output `%s`: the properties of %s do not describe the axes of its histogram",
             output->name, output->algorithm);
  return SL_EINVAL;
}

/* Makes a histogram of each field with one count for each named entry; sums of signed numbers are no counts. */
static int read_categories(const struct sl_services *s, const struct sl_run_output *output, struct histogram *h) {
  const struct sl_collection *c = output->collection;
  const uint64_t *counts = output->totals;
  int found = 0;
  for (uint32_t i = 0; i < c->field_count; counts += output->items * c->fields[i++].width) {
    const struct sl_field *field = &c->fields[i];
    if (field->width != 1 || field->type == SL_TYPE_i64) continue;
    h[found] = (struct histogram){.title = field->doc,
                                  .unit = field->unit,
                                  .x = {.kind = HISTOGRAM_CATEGORIES,
                                        .bins = output->name_count,
                                        .label = output->naming->label,
                                        .names = output->names},
                                  .y = no_axis,
                                  .counts = counts};
    const int status = set_name(s, &h[found], output->name, field->name);
    if (status != SL_OK) {
      while (found > 0) histogram_close(&h[--found]);
      return status;
    }
    found++;
  }
  return found;
}

uint32_t histograms_max(const struct sl_run_output *output) {
  return output->totals ? output->collection->field_count : 0;
}

int histograms_of(const struct sl_services *s, const struct sl_run_output *output, struct histogram *h) {
  const int is_1d = strcmp(output->collection->name, generic_histogram_collection.name) == 0;
  const int is_2d = strcmp(output->collection->name, generic_histogram_2d_collection.name) == 0;
  if (is_1d || is_2d) return read_numeric(s, output, is_2d, h);
  const int has_names = output->totals && output->naming && output->naming->kind == SL_NAMES_OF_ENTRIES;
  return has_names && output->name_count > 0 ? read_categories(s, output, h) : 0;
}

void histogram_close(struct histogram *h) { free(h->name); }

/* ------------------------------------------------------------------------------------------------- entries */

double histogram_edge(const struct histogram_axis *axis, uint32_t i) {
  const double width = (axis->upper - axis->lower) / (double)axis->bins;
  return i == axis->bins ? axis->upper : axis->lower + width * (double)i;
}

/* Number of entries before the first bin. */
static uint32_t entries_before(const struct histogram_axis *axis) { return axis->kind == HISTOGRAM_NUMERIC ? 1 : 0; }

static int is_in_bin(const struct histogram_axis *axis, uint32_t entry) {
  return axis->kind != HISTOGRAM_NUMERIC || (entry > GENERIC_BELOW && entry < GENERIC_ABOVE(axis->bins));
}

uint32_t histogram_entries(const struct histogram_axis *axis) {
  return axis->kind == HISTOGRAM_NUMERIC ? axis->bins + GENERIC_EXTRA_BINS : axis->bins;
}

void histogram_limits(const struct histogram_axis *axis, uint32_t entry, double *lower, double *upper) {
  *lower = *upper = NAN;
  if (entry == GENERIC_NOT_FINITE(axis->bins)) return;
  *lower = entry == GENERIC_BELOW ? -INFINITY : histogram_edge(axis, entry - 1);
  *upper = entry == GENERIC_ABOVE(axis->bins) ? INFINITY : histogram_edge(axis, entry);
}

uint64_t histogram_count(const struct histogram *h, uint32_t x_entry, uint32_t y_entry) {
  return h->counts[(size_t)y_entry * histogram_entries(&h->x) + x_entry];
}

uint64_t histogram_bin_count(const struct histogram *h, uint32_t x, uint32_t y) {
  return histogram_count(h, x + entries_before(&h->x), y + entries_before(&h->y));
}

/* --------------------------------------------------------------------------------------------- statistics */

static double middle_of(const struct histogram_axis *axis, uint32_t entry) {
  if (axis->kind != HISTOGRAM_NUMERIC) return 0;
  return histogram_edge(axis, entry - 1) / 2 + histogram_edge(axis, entry) / 2;
}

static void count_outside(const struct histogram_axis *axis, uint32_t entry, uint64_t count,
                          struct histogram_axis_sums *sums) {
  if (axis->kind != HISTOGRAM_NUMERIC) return;
  if (entry == GENERIC_BELOW) sums->below += count;
  if (entry == GENERIC_ABOVE(axis->bins)) sums->above += count;
  if (entry == GENERIC_NOT_FINITE(axis->bins)) sums->not_finite += count;
}

/* Sums of squared deviations from the means, and of their products. */
struct squares {
  double x, y, product;
};

static void add_to_sums(const struct histogram *h, uint32_t x, uint32_t y, struct histogram_sums *sums) {
  const uint64_t count = histogram_count(h, x, y);
  sums->entries += count;
  count_outside(&h->x, x, count, &sums->x);
  count_outside(&h->y, y, count, &sums->y);
  if (!is_in_bin(&h->x, x) || !is_in_bin(&h->y, y)) return;
  sums->in_bins += count;
  sums->filled += count > 0;
  sums->x.mean += (double)count * middle_of(&h->x, x); /* sum so far */
  sums->y.mean += (double)count * middle_of(&h->y, y);
}

static void add_to_squares(const struct histogram *h, uint32_t x, uint32_t y, const struct histogram_sums *sums,
                           struct squares *squares) {
  if (!is_in_bin(&h->x, x) || !is_in_bin(&h->y, y)) return;
  const double count = (double)histogram_count(h, x, y);
  const double dx = middle_of(&h->x, x) - sums->x.mean, dy = middle_of(&h->y, y) - sums->y.mean;
  squares->x += count * dx * dx;
  squares->y += count * dy * dy;
  squares->product += count * dx * dy;
}

struct histogram_sums histogram_sum(const struct histogram *h) {
  const uint32_t x_entries = histogram_entries(&h->x), y_entries = histogram_entries(&h->y);
  struct histogram_sums sums = {0};
  struct squares squares = {0};
  for (uint32_t y = 0; y < y_entries; y++)
    for (uint32_t x = 0; x < x_entries; x++) add_to_sums(h, x, y, &sums);
  if (sums.in_bins == 0) return sums;
  const double n = (double)sums.in_bins;
  sums.x.mean /= n;
  sums.y.mean /= n;
  for (uint32_t y = 0; y < y_entries; y++)
    for (uint32_t x = 0; x < x_entries; x++) add_to_squares(h, x, y, &sums, &squares);
  sums.x.standard_deviation = sqrt(squares.x / n);
  sums.y.standard_deviation = sqrt(squares.y / n);
  if (squares.x > 0 && squares.y > 0) sums.correlation = squares.product / sqrt(squares.x) / sqrt(squares.y);
  return sums;
}

/* --------------------------------------------------------------------------------------------------- files */

void histogram_put_plain(struct histogram_file *f, const char *text) {
  if (f->status == SL_OK) f->status = f->to->add(f->file, text, strlen(text));
}

void histogram_put(struct histogram_file *f, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  histogram_put_plain(f, text);
}

void histogram_put_number(struct histogram_file *f, double value) {
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  histogram_put_plain(f, text);
}
