/* histogram_bars.c: the panel of a histogram with categories: a row for each name with entries, with a bar and its
 * count. The height of the panel follows from the number of rows, its width from the longest of all names, so that the
 * panels of an output have one width.
 */
#include "svg.h"

#include <math.h>
#include <string.h>

enum {
  ROW = 18,       /* height of a row */
  BAR = 11,       /* height of a bar */
  BOX_MARGIN = 6, /* above the first row and below the last one */
  BOX_WIDTH = 420,
  LABEL_WIDTH = 40, /* of the label of the axis, left of the names */
  NAME_GAP = 8,     /* between a name and its bar */
  COUNT_GAP = 6,    /* between a bar and its count */
  RIGHT = 28
};

/* Upper limits of the widths of a character of a name, in a monospaced font, and of a digit of a count, with its part
 * of the space between groups of digits. */
static const double name_width = 7.3, digit_width = 8.5;

struct names {
  uint32_t shown, longest; /* names with entries; characters of the longest name */
  uint64_t largest;        /* largest count */
};

static struct names measure(const struct sl_histogram *h) {
  struct names names = {0};
  for (uint32_t i = 0; i < h->x.bins; i++) {
    const uint64_t count = sl_histogram_bin_count(h, i, 0);
    const uint32_t length = (uint32_t)strlen(h->x.names[i]);
    names.shown += count > 0;
    if (length > names.longest) names.longest = length;
    if (count > names.largest) names.largest = count;
  }
  return names;
}

static struct svg_box box_at(const struct names *names, double left, double top) {
  return (struct svg_box){left + LABEL_WIDTH + names->longest * name_width + NAME_GAP, top + SVG_TOP, BOX_WIDTH,
                          names->shown * ROW + 2 * BOX_MARGIN};
}

struct svg_size histogram_bars_size(const struct sl_histogram *h) {
  const struct names names = measure(h);
  const struct svg_box box = box_at(&names, 0, 0);
  return (struct svg_size){fmax(box.left + box.width + RIGHT, SVG_WIDTH), box.top + box.height + SVG_BOTTOM};
}

/* The scale of counts, with room for the number of the largest count in the box. */
static struct svg_range range_of(const struct names *names, const struct histogram_style *style) {
  struct svg_range range = svg_count_range(names->largest, style, 1);
  uint32_t digits = 1;
  for (uint64_t rest = names->largest; rest >= 10; rest /= 10) digits++;
  const double number_width = digits * digit_width + 2 * COUNT_GAP;
  range.high = range.low + (range.high - range.low) * BOX_WIDTH / (BOX_WIDTH - number_width);
  return range;
}

static void put_row(struct histogram_file *f, const struct svg_box *bar, const char *name, uint64_t count) {
  const double baseline = bar->top + bar->height / 2 + 4.5;
  svg_begin_text(f, "name", bar->left - NAME_GAP, baseline);
  svg_put_escaped(f, name);
  histogram_put_plain(f, "</text>\n");
  svg_put_box(f, "steps", bar);
  svg_begin_text(f, "small", bar->left + bar->width + COUNT_GAP, baseline);
  svg_put_count(f, count);
  histogram_put_plain(f, "</text>\n");
}

void histogram_put_bars(struct histogram_file *f, const struct sl_histogram *h, const struct histogram_style *style,
                        double left, double top) {
  const struct names names = measure(h);
  const struct svg_box box = box_at(&names, left, top);
  const struct svg_range range = range_of(&names, style);
  svg_put_grid(f, &box, range, SVG_BELOW, style);
  double row_top = box.top + BOX_MARGIN;
  for (uint32_t i = 0; i < h->x.bins; i++) {
    const uint64_t count = sl_histogram_bin_count(h, i, 0);
    if (count == 0) continue;
    const double width = box.width * svg_count_place(range, style, (double)count);
    put_row(f, &(struct svg_box){box.left, row_top + (ROW - BAR) / 2.0, width, BAR}, h->x.names[i], count);
    row_top += ROW;
  }
  svg_put_box(f, "frame", &box);
  const int power = svg_put_count_ticks(f, &box, range, SVG_BELOW, style);
  svg_begin_x_label(f, &box);
  svg_put_escaped(f, h->name);
  svg_put_power(f, power);
  svg_put_unit(f, h->unit);
  histogram_put_plain(f, "</text>\n");
  svg_begin_y_label(f, &box, left);
  svg_put_escaped(f, h->x.label);
  histogram_put_plain(f, "</text>\n");
}
