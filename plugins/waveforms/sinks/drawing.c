/* drawing.c: see drawing.h. */
#include "drawing.h"

#include <sluice/text.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void drawing_free(struct drawing *d) {
  free(d->text);
  *d = (struct drawing){0};
}

/* Makes room for `bytes` more bytes; on failure returns 0 and sets `failed`. */
static int reserve(struct drawing *d, size_t bytes) {
  if (d->failed) return 0;
  if (d->count + bytes <= d->capacity) return 1;
  const size_t larger = 2 * (d->count + bytes) + 4096;
  char *text = (char *)realloc(d->text, larger);
  if (!text) {
    d->failed = 1;
    return 0;
  }
  d->text = text;
  d->capacity = larger;
  return 1;
}

void drawing_add(struct drawing *d, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length < 0 || !reserve(d, (size_t)length + 1)) return;
  va_start(arguments, format);
  vsnprintf(d->text + d->count, (size_t)length + 1, format, arguments);
  va_end(arguments);
  d->count += (size_t)length;
}

void drawing_add_escaped(struct drawing *d, const char *text) {
  char written[SL_TEXT_BYTES];
  while (*text) {
    text += sl_text_xml(text, written);
    drawing_add(d, "%s", written);
  }
}

/* ---------------------------------------------------------------------------------------------------- panels */

double panel_u(const struct panel *p, double u) { return p->left + (u - p->u_min) / (p->u_max - p->u_min) * p->width; }
double panel_v(const struct panel *p, double v) { return p->top + (p->v_max - v) / (p->v_max - p->v_min) * p->height; }

/* Indices [*first, *end) of the values of a curve at times in the panel. */
static void visible(const struct panel *p, const struct curve *c, uint32_t *first, uint32_t *end) {
  const double low = ceil((p->u_min - c->begin) / c->step), high = floor((p->u_max - c->begin) / c->step) + 1;
  *first = low > 0 ? (low < c->count ? (uint32_t)low : c->count) : 0;
  *end = high > 0 ? (high < c->count ? (uint32_t)high : c->count) : 0;
}

void panel_include(struct panel *p, const struct curve *c) {
  uint32_t first, end;
  visible(p, c, &first, &end);
  for (uint32_t i = first; i < end; i++) {
    if (c->values[i] < p->v_min) p->v_min = c->values[i];
    if (c->values[i] > p->v_max) p->v_max = c->values[i];
  }
}

void panel_finish_range(struct panel *p) {
  if (!(p->v_min <= p->v_max)) {
    p->v_min = 0;
    p->v_max = 1;
  }
  const double half = p->v_max - p->v_min > 1 ? 0.54 * (p->v_max - p->v_min) : 0.54;
  const double centre = 0.5 * (p->v_min + p->v_max);
  p->v_min = centre - half;
  p->v_max = centre + half;
}

/* The smallest step of the form 1, 2 or 5 times a power of ten that divides the range into at most `most` parts. */
static double tick_step(double range, double most) {
  const double least = range / most;
  double power = 1;
  while (power > least) power /= 10;
  while (power * 10 <= least) power *= 10;
  return least <= power ? power : least <= 2 * power ? 2 * power : least <= 5 * power ? 5 * power : 10 * power;
}

/* Digits after the decimal point that multiples of the step need. */
static int step_digits(double step) {
  int digits = 0;
  for (; digits < 9 && step < 0.99; step *= 10) digits++;
  return digits;
}

static void add_ticks(struct drawing *d, const struct panel *p, int along_u) {
  const double low = along_u ? p->u_min : p->v_min, high = along_u ? p->u_max : p->v_max;
  const double step = tick_step(high - low, along_u ? p->width / 70 : p->height / 30);
  const double bottom = p->top + p->height, first = ceil(low / step - 1e-9);
  const int digits = step_digits(step);
  for (double k = first; k * step <= high + 1e-9 * step; k++) {
    const double value = k * step + 0.0; /* no -0 */
    if (along_u) {
      drawing_add(d, "<path class='axis' d='M%.1f,%.1fv5'/><text class='middle' x='%.1f' y='%.1f'>%.*f</text>\n",
                  panel_u(p, value), bottom, panel_u(p, value), bottom + 19, digits, value);
    } else {
      drawing_add(d, "<path class='grid' d='M%.1f,%.1fh%.1f'/>", p->left, panel_v(p, value), p->width);
      drawing_add(d, "<path class='axis' d='M%.1f,%.1fh-5'/><text class='end' x='%.1f' y='%.1f'>%.*f</text>\n", p->left,
                  panel_v(p, value), p->left - 9, panel_v(p, value) + 5, digits, value);
    }
  }
}

void drawing_add_axes(struct drawing *d, const struct panel *p, const char *u_label, const char *v_label) {
  const double bottom = p->top + p->height;
  add_ticks(d, p, 0);
  add_ticks(d, p, 1);
  drawing_add(d, "<rect class='axis' x='%.1f' y='%.1f' width='%.1f' height='%.1f'/>\n", p->left, p->top, p->width,
              p->height);
  drawing_add(d, "<text class='middle' x='%.1f' y='%.1f'>%s</text>\n", p->left + p->width / 2, bottom + 40, u_label);
  drawing_add(d, "<text class='middle' transform='translate(%.1f,%.1f) rotate(-90)'>%s</text>\n", p->left - 62,
              p->top + p->height / 2, v_label);
}

/* ---------------------------------------------------------------------------------------------------- curves */

/* Adds the points of a path: all values, or the smallest and the largest of each column of a pixel. */
static void add_points(struct drawing *d, const struct panel *p, const struct curve *c, uint32_t first, uint32_t end) {
  const double pixels_per_value = c->step / (p->u_max - p->u_min) * p->width;
  const uint32_t values = pixels_per_value < 0.5 ? (uint32_t)ceil(1 / pixels_per_value) : 1;
  char command = 'M';
  for (uint32_t i = first; i < end; i += values) {
    const uint32_t last = end - i < values ? end : i + values;
    uint32_t low = i, high = i;
    for (uint32_t k = i; k < last; k++) {
      if (c->values[k] < c->values[low]) low = k;
      if (c->values[k] > c->values[high]) high = k;
    }
    const uint32_t earlier = low < high ? low : high, later = low < high ? high : low;
    drawing_add(d, "%c%.1f,%.1f", command, panel_u(p, c->begin + earlier * c->step), panel_v(p, c->values[earlier]));
    if (later != earlier)
      drawing_add(d, "L%.1f,%.1f", panel_u(p, c->begin + later * c->step), panel_v(p, c->values[later]));
    command = 'L';
  }
}

void drawing_add_curve(struct drawing *d, const struct panel *p, const struct curve *c, const char *colour) {
  uint32_t first, end;
  visible(p, c, &first, &end);
  if (first >= end) return;
  if (first > 0) first--; /* the lines to the edges of the panel */
  if (end < c->count) end++;
  drawing_add(d, "<path class='curve' clip-path='url(#%s)' stroke='%s' d='", p->name, colour);
  add_points(d, p, c, first, end);
  drawing_add(d, "'/>\n");
}

void drawing_add_mark(struct drawing *d, const struct panel *p, double u, const char *colour) {
  drawing_add(d, "<path class='mark' stroke='%s' d='M%.1f,%.1fv%.1f'/>\n", colour, panel_u(p, u), p->top, p->height);
}
