/* histogram_json.h: a histogram as JSON, for output.histogram_sink and for the runtime, so that one reader reads both.
 * plugins/output/README.md has the form.
 */
#ifndef SLUICE_HISTOGRAM_JSON_H
#define SLUICE_HISTOGRAM_JSON_H

#include <sluice/histogram.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Receiver of a text, which comes in pieces. */
struct sl_text_receiver {
  void (*put)(void *context, const char *text, size_t bytes);
  void *context;
};

static inline SL_UNUSED void sl_put_text(const struct sl_text_receiver *r, const char *text) {
  r->put(r->context, text, strlen(text));
}

/* Puts the shortest decimal that is read back as the same bits; the number is finite. */
static inline SL_UNUSED void sl_put_number(const struct sl_text_receiver *r, double value) {
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  sl_put_text(r, text);
}

static inline SL_UNUSED void sl_put_count(const struct sl_text_receiver *r, uint64_t count) {
  char text[20];
  size_t at = sizeof text;
  do {
    text[--at] = (char)('0' + count % 10);
    count /= 10;
  } while (count > 0);
  r->put(r->context, text + at, sizeof text - at);
}

/* Puts a text in quotes; names are mostly characters that are written as they are, and those are put together. */
static inline SL_UNUSED void sl_put_json_string(const struct sl_text_receiver *r, const char *text) {
  char written[SL_TEXT_BYTES];
  sl_put_text(r, "\"");
  while (*text) {
    size_t plain = 0;
    while (text[plain] >= ' ' && text[plain] <= '~' && text[plain] != '"' && text[plain] != '\\') plain++;
    r->put(r->context, text, plain);
    text += plain;
    if (!*text) break;
    text += sl_text_json(text, written);
    sl_put_text(r, written);
  }
  sl_put_text(r, "\"");
}

/* Puts ", KEY: " and the number, or null if it is not finite (the spread over the widest ranges). */
static inline SL_UNUSED void sl_put_json_number_(const struct sl_text_receiver *r, const char *key, double value) {
  sl_put_text(r, ", \"");
  sl_put_text(r, key);
  sl_put_text(r, "\": ");
  if (isfinite(value))
    sl_put_number(r, value);
  else
    sl_put_text(r, "null");
}

static inline SL_UNUSED void sl_put_json_count_(const struct sl_text_receiver *r, const char *key, uint64_t count) {
  sl_put_text(r, ", \"");
  sl_put_text(r, key);
  sl_put_text(r, "\": ");
  sl_put_count(r, count);
}

static inline SL_UNUSED void sl_put_numeric_axis_(const struct sl_text_receiver *r, const struct sl_axis *axis,
                                                  const struct sl_axis_sums *sums) {
  sl_put_text(r, "{\"field\": ");
  sl_put_json_string(r, axis->label);
  sl_put_text(r, ", \"unit\": ");
  sl_put_json_string(r, axis->unit);
  sl_put_text(r, ", \"doc\": ");
  sl_put_json_string(r, axis->doc);
  sl_put_json_count_(r, "bins", axis->bins);
  sl_put_json_number_(r, "lower", axis->lower);
  sl_put_json_number_(r, "upper", axis->upper);
  sl_put_json_count_(r, "below", sums->below);
  sl_put_json_count_(r, "above", sums->above);
  sl_put_json_count_(r, "not_finite", sums->not_finite);
  sl_put_json_number_(r, "mean", sums->mean);
  sl_put_json_number_(r, "standard_deviation", sums->standard_deviation);
  sl_put_text(r, "}");
}

static inline SL_UNUSED void sl_put_categories_(const struct sl_text_receiver *r, const struct sl_axis *axis) {
  sl_put_text(r, "{\"label\": ");
  sl_put_json_string(r, axis->label);
  sl_put_text(r, ", \"names\": [");
  for (uint32_t i = 0; i < axis->bins; i++) {
    sl_put_text(r, i > 0 ? ", " : "");
    sl_put_json_string(r, axis->names[i]);
  }
  sl_put_text(r, "]}");
}

/* Puts the bins of x for one bin of y. */
static inline SL_UNUSED void sl_put_bins_(const struct sl_text_receiver *r, const struct sl_histogram *h, uint32_t y) {
  sl_put_text(r, "[");
  for (uint32_t x = 0; x < h->x.bins; x++) {
    sl_put_text(r, x > 0 ? ", " : "");
    sl_put_count(r, sl_histogram_bin_count(h, x, y));
  }
  sl_put_text(r, "]");
}

static inline SL_UNUSED void sl_put_counts_(const struct sl_text_receiver *r, const struct sl_histogram *h) {
  if (h->y.kind == SL_AXIS_NONE) {
    sl_put_bins_(r, h, 0);
    return;
  }
  sl_put_text(r, "[");
  for (uint32_t y = 0; y < h->y.bins; y++) {
    sl_put_text(r, y > 0 ? ",\n      " : "\n      ");
    sl_put_bins_(r, h, y);
  }
  sl_put_text(r, "]");
}

/* Puts the histogram as a JSON object of a few lines, the last one without a line break. */
static inline SL_UNUSED void sl_put_json_histogram(const struct sl_text_receiver *r, const struct sl_histogram *h) {
  const struct sl_histogram_sums sums = sl_histogram_sum(h);
  sl_put_text(r, "{\"name\": ");
  sl_put_json_string(r, h->name);
  sl_put_text(r, ", \"title\": ");
  sl_put_json_string(r, h->title);
  sl_put_json_count_(r, "entries", sums.entries);
  if (h->x.kind == SL_AXIS_NUMERIC) sl_put_json_count_(r, "in_bins", sums.in_bins);
  sl_put_text(r, ",\n     \"x\": ");
  if (h->x.kind == SL_AXIS_CATEGORIES)
    sl_put_categories_(r, &h->x);
  else
    sl_put_numeric_axis_(r, &h->x, &sums.x);
  if (h->y.kind != SL_AXIS_NONE) {
    sl_put_text(r, ",\n     \"y\": ");
    sl_put_numeric_axis_(r, &h->y, &sums.y);
    sl_put_json_number_(r, "correlation", sums.correlation);
  }
  sl_put_text(r, ",\n     \"counts\": ");
  sl_put_counts_(r, h);
  sl_put_text(r, "}");
}

#ifdef __cplusplus
}
#endif

#endif
