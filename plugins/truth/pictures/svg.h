/* svg.h: text of an SVG file, and panels with axes in it.
 *
 * Lengths on the page are in pixels, written to a tenth, with a decimal point whatever the locale. Zero-initialise a
 * struct svg; its memory only grows. When memory ends, `failed` is set and nothing more is added.
 */
#ifndef TRUTH_SVG_H
#define TRUTH_SVG_H

#include <stddef.h>
#include <stdint.h>

struct svg {
  char *text;
  size_t count, capacity;
  int failed;
};

/* A place in a plane, in mm or on the page. */
struct svg_point {
  double u, v;
};

/* A rectangle of the page that shows u_min to u_max (to the right) and v_min to v_max (upwards). */
struct svg_panel {
  double left, top, width, height;
  double u_min, u_max, v_min, v_max;
};

void svg_free(struct svg *s);
/* Without %f and the like, which follow the locale. */
void svg_add(struct svg *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* To a tenth; what is no number, or far from any page, goes to the limit of 100000. */
void svg_add_number(struct svg *s, double value);
/* " NAME='VALUE'" */
void svg_add_attribute(struct svg *s, const char *name, double value);
/* "u,v" */
void svg_add_point(struct svg *s, struct svg_point on_page);

/* Writes the data of a path in steps from place to place, which are short; the rounding of places does not add up. */
struct svg_pen {
  struct svg *svg;
  int64_t u_tenths, v_tenths;
};
static inline struct svg_pen svg_pen_start(struct svg *s) { return (struct svg_pen){s, 0, 0}; }
void svg_pen_move(struct svg_pen *pen, struct svg_point on_page);
/* After a move or another line. */
void svg_pen_line(struct svg_pen *pen, struct svg_point on_page);
/* A stroke of no length, which round line caps make a dot. */
void svg_pen_dot(struct svg_pen *pen, struct svg_point on_page);

struct svg_point svg_on_page(const struct svg_panel *panel, struct svg_point in_panel);

/* A line of text whose baseline begins at a place of the page, or as its class anchors it. */
void svg_begin_text(struct svg *s, double left, double baseline, const char *class_name);
void svg_end_text(struct svg *s);

/* Frame, ticks with numbers at multiples of the steps, and what the axes show. */
void svg_add_axes(struct svg *s, const struct svg_panel *panel, double u_step, double v_step, const char *u_label,
                  const char *v_label);

#endif
