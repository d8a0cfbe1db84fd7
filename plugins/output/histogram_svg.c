/* histogram_svg.c: histograms as a picture: a page of panels in the order of the graph outputs.
 *
 * One numeric axis: counts as steps from zero, with error bars of the square root of the count. Two: one cell per bin,
 * coloured by its count, white without counts. A line below the title has the statistics. Lengths are in pixels, with
 * one decimal. Neighbouring bins of equal height or colour are drawn as one path, which limits the file size.
 * histogram_bars.c draws categories.
 */
#include "svg.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
  HEIGHT = 480, /* of a numeric panel */
  RIGHT_1D = 28,
  RIGHT_2D = 104,
  BAR = 16, /* width of the colour scale, BAR_GAP to the right of the panel */
  BAR_GAP = 18,
  COLOURS = 48
};

static uint64_t largest_count(const struct sl_histogram *h) {
  uint64_t largest = 0;
  for (uint32_t y = 0; y < h->y.bins; y++)
    for (uint32_t x = 0; x < h->x.bins; x++)
      if (sl_histogram_bin_count(h, x, y) > largest) largest = sl_histogram_bin_count(h, x, y);
  return largest;
}

/* ------------------------------------------------------------------------------------------------ one axis */

/* Draws the outline of the counts, down to zero at both ends. */
static void put_steps(struct histogram_file *f, const struct sl_histogram *h, const struct svg_box *box,
                      struct svg_range counts, const struct histogram_style *style) {
  const double bottom = box->top + box->height;
  double last = bottom;
  histogram_put_plain(f, "<path class='steps' d='M");
  svg_put_pixels(f, box->left);
  histogram_put_plain(f, ",");
  svg_put_pixels(f, bottom);
  for (uint32_t i = 0; i < h->x.bins; i++) {
    const double y = bottom - svg_count_place(counts, style, (double)sl_histogram_bin_count(h, i, 0)) * box->height;
    if (y != last) {
      histogram_put_plain(f, "H");
      svg_put_pixels(f, box->left + box->width * i / h->x.bins);
      histogram_put_plain(f, "V");
      svg_put_pixels(f, y);
    }
    last = y;
  }
  histogram_put_plain(f, "H");
  svg_put_pixels(f, box->left + box->width);
  histogram_put_plain(f, "V");
  svg_put_pixels(f, bottom);
  histogram_put_plain(f, "Z'/>\n");
}

/* Draws error bars of bins with counts. */
static void put_errors(struct histogram_file *f, const struct sl_histogram *h, const struct svg_box *box,
                       struct svg_range counts, const struct histogram_style *style) {
  const double bottom = box->top + box->height;
  histogram_put_plain(f, "<path class='errors' d='M0,0");
  for (uint32_t i = 0; i < h->x.bins; i++) {
    const double count = (double)sl_histogram_bin_count(h, i, 0);
    if (count <= 0) continue;
    histogram_put_plain(f, "M");
    svg_put_pixels(f, box->left + box->width * (i + 0.5) / h->x.bins);
    for (int end = -1; end <= 1; end += 2) {
      histogram_put_plain(f, end < 0 ? "," : "V");
      svg_put_pixels(f, bottom - svg_count_place(counts, style, count + end * sqrt(count)) * box->height);
    }
  }
  histogram_put_plain(f, "'/>\n");
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

static uint32_t colour_of(struct svg_range counts, const struct histogram_style *style, uint64_t count) {
  if (count == 0) return COLOURS; /* no count */
  const double place = svg_count_place(counts, style, (double)count) * COLOURS;
  return place >= COLOURS ? COLOURS - 1 : (uint32_t)place;
}

static void put_cells_of(struct histogram_file *f, double left, double top, double right, double bottom) {
  histogram_put_plain(f, "M");
  svg_put_pixels(f, left);
  histogram_put_plain(f, ",");
  svg_put_pixels(f, bottom);
  histogram_put_plain(f, "H");
  svg_put_pixels(f, right);
  histogram_put_plain(f, "V");
  svg_put_pixels(f, top);
  histogram_put_plain(f, "H");
  svg_put_pixels(f, left);
  histogram_put_plain(f, "Z");
}

/* Draws the cells of one row with this colour; adjacent cells as one path. */
static void put_row_cells(struct histogram_file *f, const struct sl_histogram *h, const struct svg_box *box,
                          struct svg_range counts, const struct histogram_style *style, uint32_t colour, uint32_t row) {
  const double cell = box->width / h->x.bins, height = box->height / h->y.bins;
  const double top = box->top + box->height - (row + 1) * height;
  for (uint32_t x = 0; x < h->x.bins; x++) {
    if (colour_of(counts, style, sl_histogram_bin_count(h, x, row)) != colour) continue;
    const uint32_t first = x;
    while (x + 1 < h->x.bins && colour_of(counts, style, sl_histogram_bin_count(h, x + 1, row)) == colour) x++;
    put_cells_of(f, box->left + first * cell, top, box->left + (x + 1) * cell, top + height);
  }
}

static void put_cells(struct histogram_file *f, const struct sl_histogram *h, const struct svg_box *box,
                      struct svg_range counts, const struct histogram_style *style) {
  for (uint32_t colour = 0; colour < COLOURS; colour++) {
    histogram_put_plain(f, "<path shape-rendering='crispEdges' fill='");
    put_colour(f, colour);
    histogram_put_plain(f, "' d='M0,0");
    for (uint32_t row = 0; row < h->y.bins; row++) put_row_cells(f, h, box, counts, style, colour, row);
    histogram_put_plain(f, "'/>\n");
  }
}

static void put_scale(struct histogram_file *f, const struct svg_box *box, struct svg_range counts,
                      const struct histogram_style *style) {
  const struct svg_box bar = {box->left + box->width + BAR_GAP, box->top, BAR, box->height};
  for (uint32_t colour = 0; colour < COLOURS; colour++) {
    histogram_put_plain(f, "<rect shape-rendering='crispEdges' fill='");
    put_colour(f, colour);
    histogram_put_plain(f, "'");
    svg_put_attribute(f, "x", bar.left);
    svg_put_attribute(f, "y", bar.top + bar.height * (COLOURS - 1 - colour) / COLOURS);
    svg_put_attribute(f, "width", bar.width);
    svg_put_attribute(f, "height", bar.height / COLOURS + 0.5);
    histogram_put_plain(f, "/>\n");
  }
  const int power = svg_put_count_ticks(f, &bar, counts, SVG_AT_RIGHT, style);
  svg_begin_x_label(f, &bar);
  histogram_put_plain(f, "entries");
  svg_put_power(f, power);
  histogram_put_plain(f, "</text>\n");
}

/* -------------------------------------------------------------------------------------------------- panels */

static void put_unit(struct histogram_file *f, const char *unit) {
  if (!*unit) return;
  histogram_put_plain(f, " ");
  svg_put_escaped(f, unit);
}

static void put_label(struct histogram_file *f, const struct sl_axis *axis, int power) {
  svg_put_escaped(f, axis->label);
  svg_put_power(f, power);
  svg_put_unit(f, axis->unit);
}

/* Draws the vertical axis (counts, or y) and its label. */
static void put_upward(struct histogram_file *f, const struct sl_histogram *h, const struct histogram_style *style,
                       const struct svg_box *box, struct svg_range counts, double left) {
  const int is_2d = h->y.kind == SL_AXIS_NUMERIC;
  const struct svg_range values = {h->y.lower, h->y.upper};
  const int power =
      is_2d ? svg_put_ticks(f, box, values, SVG_AT_LEFT, 0) : svg_put_count_ticks(f, box, counts, SVG_AT_LEFT, style);
  svg_begin_y_label(f, box, left);
  if (is_2d) {
    put_label(f, &h->y, power);
  } else {
    histogram_put_plain(f, "entries");
    svg_put_power(f, power);
    histogram_put_plain(f, " / ");
    svg_put_number(f, SVG_SIGNIFICANT, (h->x.upper - h->x.lower) / h->x.bins, 3);
    put_unit(f, h->x.unit);
  }
  histogram_put_plain(f, "</text>\n");
}

static void put_numeric(struct histogram_file *f, const struct sl_histogram *h, const struct histogram_style *style,
                        double left, double top) {
  const int is_2d = h->y.kind == SL_AXIS_NUMERIC;
  const struct svg_box box = {left + SVG_TITLE_LEFT, top + SVG_TOP,
                              SVG_WIDTH - SVG_TITLE_LEFT - (is_2d ? RIGHT_2D : RIGHT_1D),
                              HEIGHT - SVG_TOP - SVG_BOTTOM};
  const struct svg_range values = {h->x.lower, h->x.upper};
  const uint64_t largest = largest_count(h);
  const uint64_t top_count = style->errors && !is_2d ? largest + (uint64_t)ceil(sqrt((double)largest)) : largest;
  const struct svg_range counts = svg_count_range(top_count, style, is_2d ? 1 : 1.06);
  if (is_2d) {
    put_cells(f, h, &box, counts, style);
    put_scale(f, &box, counts, style);
  } else {
    svg_put_grid(f, &box, counts, SVG_AT_LEFT, style);
    put_steps(f, h, &box, counts, style);
    if (style->errors) put_errors(f, h, &box, counts, style);
  }
  svg_put_box(f, "frame", &box);
  const int power = svg_put_ticks(f, &box, values, SVG_BELOW, 0);
  svg_begin_x_label(f, &box);
  put_label(f, &h->x, power);
  histogram_put_plain(f, "</text>\n");
  put_upward(f, h, style, &box, counts, left);
}

static void put_title(struct histogram_file *f, const struct sl_histogram *h, double left, double top) {
  svg_begin_text(f, "title", left + SVG_TITLE_LEFT, top + 32);
  svg_put_escaped(f, *h->title ? h->title : h->x.doc);
  if (!*h->title && h->y.kind == SL_AXIS_NUMERIC) {
    histogram_put_plain(f, ", ");
    svg_put_escaped(f, h->y.doc);
  }
  histogram_put_plain(f, "</text>\n");
}

static void put_one_value(struct histogram_file *f, const char *name, double value, const struct sl_axis *axis) {
  histogram_put(f, " \xc2\xb7 %s ", name);
  svg_put_number(f, SVG_SIGNIFICANT, value, 4);
  put_unit(f, axis->unit);
}

/* Writes a pair: "mean (1.2, 3.4) mm". */
static void put_pair(struct histogram_file *f, const char *name, double x, double y, const struct sl_histogram *h) {
  const int have_one_unit = strcmp(h->x.unit, h->y.unit) == 0;
  histogram_put(f, " \xc2\xb7 %s (", name);
  svg_put_number(f, SVG_SIGNIFICANT, x, 3);
  if (!have_one_unit) put_unit(f, h->x.unit);
  histogram_put_plain(f, ", ");
  svg_put_number(f, SVG_SIGNIFICANT, y, 3);
  if (!have_one_unit) put_unit(f, h->y.unit);
  histogram_put_plain(f, ")");
  if (have_one_unit) put_unit(f, h->x.unit);
}

static void put_outside(struct histogram_file *f, const char *name, uint64_t count) {
  if (count == 0) return;
  histogram_put(f, " \xc2\xb7 %s ", name);
  svg_put_count(f, count);
}

static void put_statistics(struct histogram_file *f, const struct sl_histogram *h, double left, double top) {
  const struct sl_histogram_sums sums = sl_histogram_sum(h);
  svg_begin_text(f, "small", left + SVG_TITLE_LEFT, top + 54);
  svg_put_count(f, sums.entries);
  histogram_put_plain(f, sl_plural(sums.entries, " entry", " entries"));
  if (h->x.kind == SL_AXIS_CATEGORIES) {
    if (sums.filled < h->x.bins)
      histogram_put(f, " \xc2\xb7 not drawn: %" PRIu32 " of %" PRIu32 " names (0 entries)", h->x.bins - sums.filled,
                    h->x.bins);
  } else if (h->y.kind == SL_AXIS_NONE) {
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

/* --------------------------------------------------------------------------------------------------- page */

static struct svg_size size_of(const struct sl_histogram *h) {
  return h->x.kind == SL_AXIS_CATEGORIES ? histogram_bars_size(h) : (struct svg_size){SVG_WIDTH, HEIGHT};
}

static void put_panel(struct histogram_file *f, const struct sl_histogram *h, const struct histogram_style *style,
                      double left, double top) {
  put_title(f, h, left, top);
  put_statistics(f, h, left, top);
  if (h->x.kind == SL_AXIS_CATEGORIES)
    histogram_put_bars(f, h, style, left, top);
  else
    put_numeric(f, h, style, left, top);
}

/* The size of the largest panel in each direction. */
static struct svg_size largest_size(const struct sl_histogram *all, uint32_t count) {
  struct svg_size largest = {0, 0};
  for (uint32_t i = 0; i < count; i++) {
    const struct svg_size size = size_of(&all[i]);
    if (size.width > largest.width) largest.width = size.width;
    if (size.height > largest.height) largest.height = size.height;
  }
  return largest;
}

static void begin_page(struct histogram_file *f, uint32_t width, uint32_t height) {
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
                      ".name{font:12px 'DejaVu Sans Mono',Menlo,Consolas,monospace;text-anchor:end}\n"
                      ".steps{stroke:#1f5f99;stroke-width:1.4;stroke-linejoin:round;fill:#a9c9e6;fill-opacity:.65}\n"
                      ".errors{stroke:#222;stroke-width:1.1;fill:none}\n"
                      "</style>\n");
  histogram_put(f, "<rect width='%" PRIu32 "' height='%" PRIu32 "' fill='#fff'/>\n", width, height);
}

/* Panels have the width of the widest panel; a row has the height of its highest one. At most two panels are side by
 * side, so that the page is readable at a width of 1000 pixels. */
void histograms_put_svg(struct histogram_file *f, const struct histogram_style *style, const struct sl_histogram *all,
                        uint32_t count) {
  const double width = largest_size(all, count).width;
  const uint32_t columns = count == 1 || width > SVG_WIDTH ? 1 : 2;
  double height = 0;
  for (uint32_t i = 0; i < count; i += columns)
    height += largest_size(all + i, count - i < columns ? count - i : columns).height;
  begin_page(f, (uint32_t)(columns * width), (uint32_t)height);
  double top = 0;
  for (uint32_t i = 0; i < count; i++) {
    put_panel(f, &all[i], style, i % columns * width, top);
    if (i % columns == columns - 1) top += largest_size(all + i + 1 - columns, columns).height;
  }
  histogram_put_plain(f, "</svg>\n");
}
