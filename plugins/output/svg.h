/* svg.h: parts of pictures that panels of all kinds have: texts, axes with ticks, and the scale of counts. Lengths are
 * in pixels, with one decimal. */
#ifndef OUTPUT_SVG_H
#define OUTPUT_SVG_H

#include "histograms.h"

struct svg_box {
  double left, top, width, height;
};

/* Range of an axis in its unit: `low` at the left or the bottom. On a logarithmic scale `low` and `high` are
 * exponents of ten. */
struct svg_range {
  double low, high;
};

/* Place of an axis: below a box, left of it, or right of a colour scale. */
enum svg_side { SVG_BELOW, SVG_AT_LEFT, SVG_AT_RIGHT };

/* Digits of a number: after the decimal point, or significant ones. */
enum svg_digits { SVG_DECIMALS, SVG_SIGNIFICANT };

void svg_put_pixels(struct histogram_file *f, double pixels);
/* Writes " NAME='PIXELS'". */
void svg_put_attribute(struct histogram_file *f, const char *name, double pixels);
void svg_put_escaped(struct histogram_file *f, const char *text);
/* Writes a number with the minus of mathematics. */
void svg_put_number(struct histogram_file *f, enum svg_digits kind, double value, int digits);
/* Writes a count as "12 345 678". */
void svg_put_count(struct histogram_file *f, uint64_t count);
/* Writes " x 10^3" if the numbers of an axis are divided; nothing for power 0. */
void svg_put_power(struct histogram_file *f, int power);
/* Writes " [UNIT]"; nothing without a unit. */
void svg_put_unit(struct histogram_file *f, const char *unit);

/* Begin a text, the label of the axis below a box, or that of the axis left of it (`left`: left edge of the panel). The
 * text follows, then "</text>\n". */
void svg_begin_text(struct histogram_file *f, const char *class_name, double x, double y);
void svg_begin_x_label(struct histogram_file *f, const struct svg_box *box);
void svg_begin_y_label(struct histogram_file *f, const struct svg_box *box, double left);
/* Draws a rectangle. */
void svg_put_box(struct histogram_file *f, const char *class_name, const struct svg_box *box);

/* Draws ticks; `least`: the smallest step. Returns the power of ten by which the numbers are divided. */
int svg_put_ticks(struct histogram_file *f, const struct svg_box *box, struct svg_range r, enum svg_side side,
                  double least);

/* The scale of counts: from 0, or from half a count on a logarithmic scale, so that one count is visible. `headroom` is
 * at least 1; on a linear scale `largest` is at 1 / headroom of the length. */
struct svg_range svg_count_range(uint64_t largest, const struct histogram_style *style, double headroom);
/* Place of a count, or of the end of its error bar, on its scale: 0 at `low` or below, 1 at `high`. */
double svg_count_place(struct svg_range r, const struct histogram_style *style, double count);
/* Draws the ticks of counts. Returns the power of ten by which the numbers are divided. */
int svg_put_count_ticks(struct histogram_file *f, const struct svg_box *box, struct svg_range r, enum svg_side side,
                        const struct histogram_style *style);
/* Draws lines across the box at the ticks of counts, beginning with 0; none on a logarithmic scale. */
void svg_put_grid(struct histogram_file *f, const struct svg_box *box, struct svg_range r, enum svg_side side,
                  const struct histogram_style *style);

/* A panel is at least SVG_WIDTH wide, with its title and statistics at the top; its box begins SVG_TOP below its upper
 * edge and ends SVG_BOTTOM above its lower edge. */
enum { SVG_WIDTH = 640, SVG_TOP = 76, SVG_BOTTOM = 64, SVG_TITLE_LEFT = 88 };
struct svg_size {
  double width, height;
};

/* The panel of categories: a horizontal bar for each name with entries, in the order of the names. */
struct svg_size histogram_bars_size(const struct sl_histogram *h);
void histogram_put_bars(struct histogram_file *f, const struct sl_histogram *h, const struct histogram_style *style,
                        double left, double top);

#endif
