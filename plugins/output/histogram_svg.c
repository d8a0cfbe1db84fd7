/* histogram_svg.c: histograms as a picture: a page of panels in the order of the graph outputs.
 *
 * One axis: counts as steps from zero. Two: one cell per bin, coloured by its count, white without counts. A line
 * below the title has the statistics. Lengths are in pixels, with one decimal. Neighbouring bins of equal height or
 * colour are drawn as one path, which limits the file size.
 */
#include "histograms.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  WIDTH = 640, /* size of a panel with its surroundings */
  HEIGHT = 480,
  LEFT = 88,
  TOP = 76,
  BOTTOM = 64,
  RIGHT_1D = 28,
  RIGHT_2D = 104,
  BAR = 16, /* width of the colour scale, BAR_GAP to the right of the panel */
  BAR_GAP = 18,
  TICK = 5,
  TICKS_MAX = 40, /* maximum number of ticks, for ranges close to the resolution of floats */
  COLOURS = 48
};

struct box {
  double left, top, width, height;
};

/* Range of an axis in its unit: `low` at the left or the bottom. On a logarithmic scale `low` and `high` are
 * exponents of ten. */
struct range {
  double low, high;
};

/* ------------------------------------------------------------------------------------------------- numbers */

static void put_pixels(struct histogram_file *f, double pixels) {
  const int64_t tenths = (int64_t)(pixels * 10 + (pixels < 0 ? -0.5 : 0.5));
  const int64_t size = tenths < 0 ? -tenths : tenths;
  histogram_put(f, "%s%" PRId64, tenths < 0 ? "-" : "", size / 10);
  if (size % 10) histogram_put(f, ".%" PRId64, size % 10);
}

static void put_attribute(struct histogram_file *f, const char *name, double pixels) {
  histogram_put(f, " %s='", name);
  put_pixels(f, pixels);
  histogram_put_plain(f, "'");
}

static void put_escaped(struct histogram_file *f, const char *text) {
  char written[SL_TEXT_BYTES];
  while (*text) {
    text += sl_text_xml(text, written);
    histogram_put_plain(f, written);
  }
}

static void put_decimals(struct histogram_file *f, double value, int decimals) {
  char text[64];
  snprintf(text, sizeof text, "%.*f", decimals, value);
  for (char *c = text; *c; c++)
    if (*c == ',') *c = '.';
  histogram_put(f, "%s%s", *text == '-' ? "\xe2\x88\x92" : "", *text == '-' ? text + 1 : text);
}

/* Writes a count as "12 345 678". */
static void put_count(struct histogram_file *f, uint64_t count) {
  uint64_t group = 1;
  while (count / group >= 1000) group *= 1000;
  histogram_put(f, "%" PRIu64, count / group);
  for (group /= 1000; group > 0; group /= 1000) histogram_put(f, "\xe2\x80\xaf%03" PRIu64, count / group % 1000);
}

/* ------------------------------------------------------------------------------------------------- ticks */

/* Ticks at multiples of `step`, with this number of decimals, after division by 10^power. */
struct ticks {
  double step;
  int decimals, power;
};

/* Chooses a step of 1, 2 or 5 times a power of ten, at least `least`, for about `tick_count` ticks. */
static struct ticks choose_ticks(struct range r, double tick_count, double least) {
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

/* Writes " x 10^3" if the numbers of an axis are divided. */
static void put_power(struct histogram_file *f, int power) {
  static const char *const digits[] = {"\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
                                       "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
  if (power == 0) return;
  const int size = power < 0 ? -power : power;
  histogram_put(f, " \xc3\x97 10%s", power < 0 ? "\xe2\x81\xbb" : "");
  if (size >= 100) histogram_put_plain(f, digits[size / 100]);
  if (size >= 10) histogram_put_plain(f, digits[size / 10 % 10]);
  histogram_put_plain(f, digits[size % 10]);
}

static double place_of(struct range r, double value) { return (value - r.low) / (r.high - r.low); }

static void begin_text(struct histogram_file *f, const char *class_name, double x, double y) {
  histogram_put(f, "<text class='%s'", class_name);
  put_attribute(f, "x", x);
  put_attribute(f, "y", y);
  histogram_put_plain(f, ">");
}

static void put_line(struct histogram_file *f, const char *class_name, double x1, double y1, double x2, double y2) {
  histogram_put(f, "<line class='%s'", class_name);
  put_attribute(f, "x1", x1);
  put_attribute(f, "y1", y1);
  put_attribute(f, "x2", x2);
  put_attribute(f, "y2", y2);
  histogram_put_plain(f, "/>\n");
}

static void put_x_tick(struct histogram_file *f, const struct box *box, double place) {
  const double x = box->left + place * box->width, y = box->top + box->height;
  put_line(f, "axis", x, y, x, y + TICK);
  begin_text(f, "middle", x, y + TICK + 15);
}

/* Writes a tick label left of the box, or right of the colour scale. */
static void put_y_tick(struct histogram_file *f, const struct box *box, double place, int at_right) {
  const double x = at_right ? box->left + box->width : box->left, y = box->top + (1 - place) * box->height;
  const double outwards = at_right ? 1 : -1;
  put_line(f, "axis", x, y, x + outwards * TICK, y);
  begin_text(f, at_right ? "start" : "end", x + outwards * (TICK + 4), y + 4.5);
}

enum side { BELOW, AT_LEFT, AT_RIGHT };

/* Draws ticks; `least`: the smallest step. Returns the power of ten by which the numbers are divided. */
static int put_ticks(struct histogram_file *f, const struct box *box, struct range r, enum side side, double least) {
  const struct ticks t = choose_ticks(r, side == BELOW ? box->width / 90 : box->height / 60, least);
  const double margin = t.step * 1e-6;
  const double first = ceil((r.low - margin) / t.step);
  for (int i = 0; i < TICKS_MAX && (first + i) * t.step <= r.high + margin; i++) {
    const double value = (first + i) * t.step, place = place_of(r, value);
    if (side == BELOW)
      put_x_tick(f, box, place);
    else
      put_y_tick(f, box, place, side == AT_RIGHT);
    put_decimals(f, value / pow(10, t.power) + 0.0, t.decimals);
    histogram_put_plain(f, "</text>\n");
  }
  return t.power;
}

/* Draws nine unlabelled ticks per power of ten. */
static void put_small_ticks(struct histogram_file *f, const struct box *box, struct range r, int at_right) {
  const double x = at_right ? box->left + box->width : box->left, outwards = at_right ? 1 : -1;
  for (int k = (int)floor(r.low); k <= r.high; k++)
    for (int digit = 2; digit < 10; digit++) {
      const double place = place_of(r, k + log10(digit)), y = box->top + (1 - place) * box->height;
      if (place >= 0 && place <= 1) put_line(f, "axis", x, y, x + outwards * TICK * 0.6, y);
    }
}

/* Draws ticks of counts at powers of ten; labels at whole exponents. */
static void put_log_ticks(struct histogram_file *f, const struct box *box, struct range r, int at_right) {
  for (int k = (int)ceil(r.low); k <= r.high; k++) {
    put_y_tick(f, box, place_of(r, k), at_right);
    if (k < 4) {
      put_decimals(f, pow(10, k), 0);
    } else {
      histogram_put_plain(f, "10<tspan dy='-6' font-size='10'>");
      put_decimals(f, k, 0);
      histogram_put_plain(f, "</tspan>");
    }
    histogram_put_plain(f, "</text>\n");
  }
  put_small_ticks(f, box, r, at_right);
}

/* ------------------------------------------------------------------------------------------------- counts */

static uint64_t largest_count(const struct histogram *h) {
  uint64_t largest = 0;
  for (uint32_t y = h->y.bins ? 1 : 0; y <= h->y.bins; y++)
    for (uint32_t x = 1; x <= h->x.bins; x++)
      if (histogram_count(h, x, y) > largest) largest = histogram_count(h, x, y);
  return largest;
}

/* Range of an axis of counts: from 0, or from half a count on a logarithmic scale, so that one count is visible. */
static struct range count_range(uint64_t largest, const struct histogram_style *style, double headroom) {
  const double most = largest > 0 ? (double)largest : 1;
  if (style->log_counts) return (struct range){log10(0.5), log10(fmax(most, 1.5)) + (headroom - 1)};
  return (struct range){0, most * headroom};
}

static double count_place(struct range r, const struct histogram_style *style, uint64_t count) {
  if (!style->log_counts) return place_of(r, (double)count);
  return count > 0 ? place_of(r, log10((double)count)) : 0;
}

/* ------------------------------------------------------------------------------------------------ one axis */

/* Draws the outline of the counts, down to zero at both ends. */
static void put_steps(struct histogram_file *f, const struct histogram *h, const struct box *box, struct range counts,
                      const struct histogram_style *style) {
  const double bottom = box->top + box->height;
  double last = bottom;
  histogram_put_plain(f, "<path class='steps' d='M");
  put_pixels(f, box->left);
  histogram_put_plain(f, ",");
  put_pixels(f, bottom);
  for (uint32_t i = 1; i <= h->x.bins; i++) {
    const double y = bottom - count_place(counts, style, histogram_count(h, i, 0)) * box->height;
    if (y != last) {
      histogram_put_plain(f, "H");
      put_pixels(f, box->left + box->width * (i - 1) / h->x.bins);
      histogram_put_plain(f, "V");
      put_pixels(f, y);
    }
    last = y;
  }
  histogram_put_plain(f, "H");
  put_pixels(f, box->left + box->width);
  histogram_put_plain(f, "V");
  put_pixels(f, bottom);
  histogram_put_plain(f, "Z'/>\n");
}

/* Draws lines at the ticks of counts, beginning with 0. */
static void put_grid(struct histogram_file *f, const struct box *box, struct range r) {
  const struct ticks t = choose_ticks(r, box->height / 60, 1);
  for (int i = 1; i < TICKS_MAX && i * t.step < r.high; i++) {
    const double y = box->top + (1 - place_of(r, i * t.step)) * box->height;
    put_line(f, "grid", box->left, y, box->left + box->width, y);
  }
}

/* ----------------------------------------------------------------------------------------------- two axes */

/* Colours from pale yellow through blue to dark violet, distinct for colour-blind readers and in grey. */
static void put_colour(struct histogram_file *f, uint32_t colour) {
  static const double stops[][3] = {{240, 244, 196}, {183, 223, 187}, {99, 191, 192}, {42, 146, 190},
                                    {38, 96, 164},   {48, 52, 128},   {38, 18, 78}};
  enum { STOPS = sizeof stops / sizeof stops[0] };
  const double at = (double)colour / (COLOURS - 1) * (STOPS - 1);
  const int stop = at >= STOPS - 1 ? STOPS - 2 : (int)at;
  int rgb[3];
  for (int c = 0; c < 3; c++) rgb[c] = (int)(stops[stop][c] + (at - stop) * (stops[stop + 1][c] - stops[stop][c]));
  histogram_put(f, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

static uint32_t colour_of(struct range counts, const struct histogram_style *style, uint64_t count) {
  if (count == 0) return COLOURS; /* no count */
  const double place = count_place(counts, style, count) * COLOURS;
  return place >= COLOURS ? COLOURS - 1 : (uint32_t)place;
}

static void put_cells_of(struct histogram_file *f, double left, double top, double right, double bottom) {
  histogram_put_plain(f, "M");
  put_pixels(f, left);
  histogram_put_plain(f, ",");
  put_pixels(f, bottom);
  histogram_put_plain(f, "H");
  put_pixels(f, right);
  histogram_put_plain(f, "V");
  put_pixels(f, top);
  histogram_put_plain(f, "H");
  put_pixels(f, left);
  histogram_put_plain(f, "Z");
}

/* Draws the cells of one row with this colour; adjacent cells as one path. */
static void put_row_cells(struct histogram_file *f, const struct histogram *h, const struct box *box,
                          struct range counts, const struct histogram_style *style, uint32_t colour, uint32_t row) {
  const double cell = box->width / h->x.bins, height = box->height / h->y.bins;
  const double top = box->top + box->height - row * height;
  for (uint32_t x = 1; x <= h->x.bins; x++) {
    if (colour_of(counts, style, histogram_count(h, x, row)) != colour) continue;
    const uint32_t first = x;
    while (x < h->x.bins && colour_of(counts, style, histogram_count(h, x + 1, row)) == colour) x++;
    put_cells_of(f, box->left + (first - 1) * cell, top, box->left + x * cell, top + height);
  }
}

static void put_cells(struct histogram_file *f, const struct histogram *h, const struct box *box, struct range counts,
                      const struct histogram_style *style) {
  for (uint32_t colour = 0; colour < COLOURS; colour++) {
    histogram_put_plain(f, "<path shape-rendering='crispEdges' fill='");
    put_colour(f, colour);
    histogram_put_plain(f, "' d='M0,0");
    for (uint32_t row = 1; row <= h->y.bins; row++) put_row_cells(f, h, box, counts, style, colour, row);
    histogram_put_plain(f, "'/>\n");
  }
}

static void put_scale(struct histogram_file *f, const struct box *box, struct range counts,
                      const struct histogram_style *style) {
  const struct box bar = {box->left + box->width + BAR_GAP, box->top, BAR, box->height};
  for (uint32_t colour = 0; colour < COLOURS; colour++) {
    histogram_put_plain(f, "<rect shape-rendering='crispEdges' fill='");
    put_colour(f, colour);
    histogram_put_plain(f, "'");
    put_attribute(f, "x", bar.left);
    put_attribute(f, "y", bar.top + bar.height * (COLOURS - 1 - colour) / COLOURS);
    put_attribute(f, "width", bar.width);
    put_attribute(f, "height", bar.height / COLOURS + 0.5);
    histogram_put_plain(f, "/>\n");
  }
  int power = 0;
  if (style->log_counts)
    put_log_ticks(f, &bar, counts, 1);
  else
    power = put_ticks(f, &bar, counts, AT_RIGHT, 1);
  begin_text(f, "middle", bar.left + bar.width / 2, bar.top + bar.height + 46);
  histogram_put_plain(f, "counts");
  put_power(f, power);
  histogram_put_plain(f, "</text>\n");
}

/* -------------------------------------------------------------------------------------------------- panels */

static void put_label(struct histogram_file *f, const struct histogram_axis *axis, int power) {
  put_escaped(f, axis->field);
  put_power(f, power);
  if (!*axis->unit) return;
  histogram_put_plain(f, " [");
  put_escaped(f, axis->unit);
  histogram_put_plain(f, "]");
}

static void put_frame(struct histogram_file *f, const struct box *box) {
  histogram_put_plain(f, "<rect class='frame'");
  put_attribute(f, "x", box->left);
  put_attribute(f, "y", box->top);
  put_attribute(f, "width", box->width);
  put_attribute(f, "height", box->height);
  histogram_put_plain(f, "/>\n");
}

static void put_title(struct histogram_file *f, const struct histogram *h, double left, double top) {
  begin_text(f, "title", left, top + 32);
  put_escaped(f, *h->title ? h->title : h->x.doc);
  if (!*h->title && h->y.bins > 0) {
    histogram_put_plain(f, ", ");
    put_escaped(f, h->y.doc);
  }
  histogram_put_plain(f, "</text>\n");
}

/* Writes a value with this number of digits. */
static void put_value(struct histogram_file *f, double value, int digits) {
  char text[32];
  snprintf(text, sizeof text, "%.*g", digits, value);
  for (char *c = text; *c; c++)
    if (*c == ',') *c = '.';
  histogram_put(f, "%s%s", *text == '-' ? "\xe2\x88\x92" : "", *text == '-' ? text + 1 : text);
}

static void put_unit(struct histogram_file *f, const char *unit) {
  if (!*unit) return;
  histogram_put_plain(f, " ");
  put_escaped(f, unit);
}

static void put_one_value(struct histogram_file *f, const char *name, double value, const struct histogram_axis *axis) {
  histogram_put(f, " \xc2\xb7 %s ", name);
  put_value(f, value, 4);
  put_unit(f, axis->unit);
}

/* Writes a pair: "mean (1.2, 3.4) mm". */
static void put_pair(struct histogram_file *f, const char *name, double x, double y, const struct histogram *h) {
  const int have_one_unit = strcmp(h->x.unit, h->y.unit) == 0;
  histogram_put(f, " \xc2\xb7 %s (", name);
  put_value(f, x, 3);
  if (!have_one_unit) put_unit(f, h->x.unit);
  histogram_put_plain(f, ", ");
  put_value(f, y, 3);
  if (!have_one_unit) put_unit(f, h->y.unit);
  histogram_put_plain(f, ")");
  if (have_one_unit) put_unit(f, h->x.unit);
}

static void put_outside(struct histogram_file *f, const char *name, uint64_t count) {
  if (count == 0) return;
  histogram_put(f, " \xc2\xb7 %s ", name);
  put_count(f, count);
}

static void put_statistics(struct histogram_file *f, const struct histogram *h, double left, double top) {
  const struct histogram_sums sums = histogram_sum(h);
  begin_text(f, "small", left, top + 54);
  put_count(f, sums.entries);
  histogram_put_plain(f, " entries");
  if (h->y.bins == 0) {
    put_one_value(f, "mean", sums.x.mean, &h->x);
    put_one_value(f, "\xcf\x83", sums.x.standard_deviation, &h->x);
    put_outside(f, "below", sums.x.below);
    put_outside(f, "above", sums.x.above);
    put_outside(f, "not finite", sums.x.not_finite);
  } else {
    put_pair(f, "mean", sums.x.mean, sums.y.mean, h);
    put_pair(f, "\xcf\x83", sums.x.standard_deviation, sums.y.standard_deviation, h);
    put_outside(f, "outside", sums.entries - sums.in_bins);
  }
  histogram_put_plain(f, "</text>\n");
}

static void put_y_label(struct histogram_file *f, const struct box *box, double left) {
  histogram_put_plain(f, "<text class='middle' transform='translate(");
  put_pixels(f, left + 22);
  histogram_put_plain(f, ",");
  put_pixels(f, box->top + box->height / 2);
  histogram_put_plain(f, ") rotate(-90)'>");
}

/* Draws the vertical axis (counts, or y) and its label. */
static void put_upward(struct histogram_file *f, const struct histogram *h, const struct histogram_style *style,
                       const struct box *box, struct range counts, double left) {
  const struct range values = {h->y.lower, h->y.upper};
  int power = 0;
  if (h->y.bins > 0)
    power = put_ticks(f, box, values, AT_LEFT, 0);
  else if (style->log_counts)
    put_log_ticks(f, box, counts, 0);
  else
    power = put_ticks(f, box, counts, AT_LEFT, 1);
  put_y_label(f, box, left);
  if (h->y.bins > 0) {
    put_label(f, &h->y, power);
  } else {
    histogram_put_plain(f, "counts in a bin");
    put_power(f, power);
  }
  histogram_put_plain(f, "</text>\n");
}

static void put_panel(struct histogram_file *f, const struct histogram *h, const struct histogram_style *style,
                      double left, double top) {
  const int is_2d = h->y.bins > 0;
  const struct box box = {left + LEFT, top + TOP, WIDTH - LEFT - (is_2d ? RIGHT_2D : RIGHT_1D), HEIGHT - TOP - BOTTOM};
  const struct range values = {h->x.lower, h->x.upper}, counts = count_range(largest_count(h), style, is_2d ? 1 : 1.06);
  put_title(f, h, box.left, top);
  put_statistics(f, h, box.left, top);
  if (is_2d) {
    put_cells(f, h, &box, counts, style);
    put_scale(f, &box, counts, style);
  } else {
    if (!style->log_counts) put_grid(f, &box, counts);
    put_steps(f, h, &box, counts, style);
  }
  put_frame(f, &box);
  const int power = put_ticks(f, &box, values, BELOW, 0);
  begin_text(f, "middle", box.left + box.width / 2, box.top + box.height + 46);
  put_label(f, &h->x, power);
  histogram_put_plain(f, "</text>\n");
  put_upward(f, h, style, &box, counts, left);
}

void histograms_put_svg(struct histogram_file *f, const struct histogram_style *style, const struct histogram *all,
                        uint32_t count) {
  const uint32_t columns = count == 1 ? 1 : count <= 4 ? 2 : 3, rows = (count + columns - 1) / columns;
  const uint32_t width = columns * WIDTH, height = rows * HEIGHT;
  histogram_put(f,
                "<?xml version='1.0' encoding='UTF-8'?>\n<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %" PRIu32
                " %" PRIu32 "' width='%" PRIu32 "' height='%" PRIu32 "'>\n",
                width, height, width, height);
  histogram_put_plain(f,
                      "<style>\n"
                      "text{font:13px 'DejaVu Sans',Verdana,Arial,sans-serif;fill:#222}\n"
                      ".title{font-size:16px;font-weight:bold}.small{font-size:12px;fill:#555}\n"
                      ".middle{text-anchor:middle}.end{text-anchor:end}\n"
                      ".axis{stroke:#444}.grid{stroke:#e4e4e4}.frame{stroke:#444;fill:none}\n"
                      ".steps{stroke:#1f5f99;stroke-width:1.4;stroke-linejoin:round;fill:#a9c9e6;fill-opacity:.65}\n"
                      "</style>\n");
  histogram_put(f, "<rect width='%" PRIu32 "' height='%" PRIu32 "' fill='#fff'/>\n", width, height);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t column = i % columns, row = i / columns;
    put_panel(f, &all[i], style, column * WIDTH, row * HEIGHT);
  }
  histogram_put_plain(f, "</svg>\n");
}
