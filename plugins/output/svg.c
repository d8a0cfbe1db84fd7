/* svg.c: see svg.h. */
#include "svg.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum {
  TICK = 5,      /* length of a tick */
  TICKS_MAX = 40 /* maximum number of ticks, for ranges close to the resolution of floats */
};

/* -------------------------------------------------------------------------------------------------- texts */

void svg_put_pixels(struct histogram_file *f, double pixels) {
  const int64_t tenths = (int64_t)(pixels * 10 + (pixels < 0 ? -0.5 : 0.5));
  const int64_t size = tenths < 0 ? -tenths : tenths;
  histogram_put(f, "%s%" PRId64, tenths < 0 ? "-" : "", size / 10);
  if (size % 10) histogram_put(f, ".%" PRId64, size % 10);
}

void svg_put_attribute(struct histogram_file *f, const char *name, double pixels) {
  histogram_put(f, " %s='", name);
  svg_put_pixels(f, pixels);
  histogram_put_plain(f, "'");
}

void svg_put_escaped(struct histogram_file *f, const char *text) {
  char written[SL_TEXT_BYTES];
  while (*text) {
    text += sl_text_xml(text, written);
    histogram_put_plain(f, written);
  }
}

void svg_put_number(struct histogram_file *f, enum svg_digits kind, double value, int digits) {
  char text[64];
  snprintf(text, sizeof text, kind == SVG_DECIMALS ? "%.*f" : "%.*g", digits, value);
  for (char *c = text; *c; c++)
    if (*c == ',') *c = '.';
  histogram_put(f, "%s%s", *text == '-' ? "\xe2\x88\x92" : "", *text == '-' ? text + 1 : text);
}

void svg_put_count(struct histogram_file *f, uint64_t count) {
  uint64_t group = 1;
  while (count / group >= 1000) group *= 1000;
  histogram_put(f, "%" PRIu64, count / group);
  for (group /= 1000; group > 0; group /= 1000) histogram_put(f, "\xe2\x80\xaf%03" PRIu64, count / group % 1000);
}

void svg_put_power(struct histogram_file *f, int power) {
  static const char *const digits[] = {"\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
                                       "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
  if (power == 0) return;
  const int size = power < 0 ? -power : power;
  histogram_put(f, " \xc3\x97 10%s", power < 0 ? "\xe2\x81\xbb" : "");
  if (size >= 100) histogram_put_plain(f, digits[size / 100]);
  if (size >= 10) histogram_put_plain(f, digits[size / 10 % 10]);
  histogram_put_plain(f, digits[size % 10]);
}

void svg_put_unit(struct histogram_file *f, const char *unit) {
  if (!*unit) return;
  histogram_put_plain(f, " [");
  svg_put_escaped(f, unit);
  histogram_put_plain(f, "]");
}

void svg_begin_text(struct histogram_file *f, const char *class_name, double x, double y) {
  histogram_put(f, "<text class='%s'", class_name);
  svg_put_attribute(f, "x", x);
  svg_put_attribute(f, "y", y);
  histogram_put_plain(f, ">");
}

void svg_begin_x_label(struct histogram_file *f, const struct svg_box *box) {
  svg_begin_text(f, "middle", box->left + box->width / 2, box->top + box->height + 46);
}

void svg_begin_y_label(struct histogram_file *f, const struct svg_box *box, double left) {
  histogram_put_plain(f, "<text class='middle' transform='translate(");
  svg_put_pixels(f, left + 22);
  histogram_put_plain(f, ",");
  svg_put_pixels(f, box->top + box->height / 2);
  histogram_put_plain(f, ") rotate(-90)'>");
}

void svg_put_box(struct histogram_file *f, const char *class_name, const struct svg_box *box) {
  histogram_put(f, "<rect class='%s'", class_name);
  svg_put_attribute(f, "x", box->left);
  svg_put_attribute(f, "y", box->top);
  svg_put_attribute(f, "width", box->width);
  svg_put_attribute(f, "height", box->height);
  histogram_put_plain(f, "/>\n");
}

static void put_line(struct histogram_file *f, const char *class_name, double x1, double y1, double x2, double y2) {
  histogram_put(f, "<line class='%s'", class_name);
  svg_put_attribute(f, "x1", x1);
  svg_put_attribute(f, "y1", y1);
  svg_put_attribute(f, "x2", x2);
  svg_put_attribute(f, "y2", y2);
  histogram_put_plain(f, "/>\n");
}

/* -------------------------------------------------------------------------------------------------- ticks */

/* Ticks at multiples of `step`, with this number of decimals, after division by 10^power. */
struct ticks {
  double step;
  int decimals, power;
};

/* Chooses a step of 1, 2 or 5 times a power of ten, at least `least`, for about `tick_count` ticks. */
static struct ticks choose_ticks(struct svg_range r, double tick_count, double least) {
  const double most = fmax(fabs(r.low), fabs(r.high));
  struct ticks t = {0};
  const int size = most > 0 ? (int)floor(log10(most)) : 0;
  if (size >= 5 || size <= -4) t.power = (int)floor(size / 3.0) * 3;
  const double rough = (r.high - r.low) / tick_count, power = pow(10, floor(log10(rough)));
  t.step = power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
  if (t.step < least) t.step = least;
  const int shift = (int)floor(log10(t.step) + 1e-9) - t.power;
  t.decimals = shift < 0 ? -shift : 0;
  return t;
}

/* Approximate number of ticks of an axis. */
static double tick_count(const struct svg_box *box, enum svg_side side) {
  return side == SVG_BELOW ? box->width / 90 : box->height / 60;
}

static double place_of(struct svg_range r, double value) { return (value - r.low) / (r.high - r.low); }

/* Draws a tick outwards from the edge of the box. */
static void put_tick(struct histogram_file *f, const struct svg_box *box, enum svg_side side, double place,
                     double length) {
  const double x = side == SVG_BELOW      ? box->left + place * box->width
                   : side == SVG_AT_RIGHT ? box->left + box->width
                                          : box->left;
  const double y = side == SVG_BELOW ? box->top + box->height : box->top + (1 - place) * box->height;
  const double outwards = side == SVG_BELOW ? 0 : side == SVG_AT_RIGHT ? length : -length;
  put_line(f, "axis", x, y, x + outwards, y + (side == SVG_BELOW ? length : 0));
}

/* Draws a tick and begins its number. */
static void begin_tick(struct histogram_file *f, const struct svg_box *box, enum svg_side side, double place) {
  put_tick(f, box, side, place, TICK);
  const double y = box->top + (1 - place) * box->height + 4.5;
  if (side == SVG_BELOW)
    svg_begin_text(f, "middle", box->left + place * box->width, box->top + box->height + TICK + 15);
  else if (side == SVG_AT_LEFT)
    svg_begin_text(f, "end", box->left - (TICK + 4), y);
  else
    svg_begin_text(f, "start", box->left + box->width + TICK + 4, y);
}

int svg_put_ticks(struct histogram_file *f, const struct svg_box *box, struct svg_range r, enum svg_side side,
                  double least) {
  const struct ticks t = choose_ticks(r, tick_count(box, side), least);
  const double margin = t.step * 1e-6;
  const double first = ceil((r.low - margin) / t.step);
  for (int i = 0; i < TICKS_MAX && (first + i) * t.step <= r.high + margin; i++) {
    const double value = (first + i) * t.step;
    begin_tick(f, box, side, place_of(r, value));
    svg_put_number(f, SVG_DECIMALS, value / pow(10, t.power) + 0.0, t.decimals);
    histogram_put_plain(f, "</text>\n");
  }
  return t.power;
}

/* ------------------------------------------------------------------------------------------------- counts */

struct svg_range svg_count_range(uint64_t largest, const struct histogram_style *style, double headroom) {
  const double most = largest > 0 ? (double)largest : 1;
  if (style->log_counts) return (struct svg_range){log10(0.5), log10(fmax(most, 1.5)) + (headroom - 1)};
  return (struct svg_range){0, most * headroom};
}

double svg_count_place(struct svg_range r, const struct histogram_style *style, double count) {
  if (!style->log_counts) return place_of(r, count);
  return count > 0 ? fmax(place_of(r, log10(count)), 0) : 0;
}

/* Draws ticks at powers of ten, with numbers, and at their multiples. */
static void put_log_ticks(struct histogram_file *f, const struct svg_box *box, struct svg_range r, enum svg_side side) {
  for (int k = (int)ceil(r.low); k <= r.high; k++) {
    begin_tick(f, box, side, place_of(r, k));
    if (k < 4) {
      svg_put_number(f, SVG_DECIMALS, pow(10, k), 0);
    } else {
      histogram_put_plain(f, "10<tspan dy='-6' font-size='10'>");
      svg_put_number(f, SVG_DECIMALS, k, 0);
      histogram_put_plain(f, "</tspan>");
    }
    histogram_put_plain(f, "</text>\n");
  }
  for (int k = (int)floor(r.low); k <= r.high; k++)
    for (int digit = 2; digit < 10; digit++) {
      const double place = place_of(r, k + log10(digit));
      if (place >= 0 && place <= 1) put_tick(f, box, side, place, TICK * 0.6);
    }
}

int svg_put_count_ticks(struct histogram_file *f, const struct svg_box *box, struct svg_range r, enum svg_side side,
                        const struct histogram_style *style) {
  if (!style->log_counts) return svg_put_ticks(f, box, r, side, 1);
  put_log_ticks(f, box, r, side);
  return 0;
}

void svg_put_grid(struct histogram_file *f, const struct svg_box *box, struct svg_range r, enum svg_side side,
                  const struct histogram_style *style) {
  if (style->log_counts) return;
  const struct ticks t = choose_ticks(r, tick_count(box, side), 1);
  const double right = box->left + box->width, bottom = box->top + box->height;
  for (int i = 1; i < TICKS_MAX && i * t.step < r.high; i++) {
    const double place = place_of(r, i * t.step), x = box->left + place * box->width;
    const double y = box->top + (1 - place) * box->height;
    if (side == SVG_BELOW)
      put_line(f, "grid", x, box->top, x, bottom);
    else
      put_line(f, "grid", box->left, y, right, y);
  }
}
