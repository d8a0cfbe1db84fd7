/* svg.h: writes SVG, with panels and axes.
 * Lengths on the page are in pixels, rounded to tenths, with a decimal point in any locale. Initialise a struct svg
 * with zeros; its memory only grows. When out of memory, `failed` is set and nothing more is added. */
#ifndef TRUTH_SVG_H
#define TRUTH_SVG_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct svg {
  char *text;
  size_t count, capacity;
  int failed;
};

/* A point in a plane, in mm or on the page. */
struct svg_point {
  double u, v;
};

/* A rectangle of the page that shows u_min to u_max (rightwards) and v_min to v_max (upwards). */
struct svg_panel {
  double left, top, width, height;
  double u_min, u_max, v_min, v_max;
};

void svg_free(struct svg *s);
/* The format must not contain %f or similar, which depend on the locale. */
void svg_add(struct svg *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void svg_add_arguments(struct svg *s, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
/* Writes a number to a tenth; NaN and numbers beyond +-100000 become the limit. */
void svg_add_number(struct svg *s, double value);
/* " NAME='VALUE'" */
void svg_add_attribute(struct svg *s, const char *name, double value);
/* "u,v" */
void svg_add_point(struct svg *s, struct svg_point on_page);

/* Writes the data of a path in relative steps, which are short; rounding errors do not add up. */
struct svg_pen {
  struct svg *svg;
  int64_t u_tenths, v_tenths;
};
static inline struct svg_pen svg_pen_start(struct svg *s) { return (struct svg_pen){s, 0, 0}; }
void svg_pen_move(struct svg_pen *pen, struct svg_point on_page);
/* Call it after a move or another line. */
void svg_pen_line(struct svg_pen *pen, struct svg_point on_page);
/* Draws a stroke of length 0, which is a dot with round line caps. */
void svg_pen_dot(struct svg_pen *pen, struct svg_point on_page);

struct svg_point svg_on_page(const struct svg_panel *panel, struct svg_point in_panel);

/* Begins a line of text at a position of the page; the class may set another anchor. */
void svg_begin_text(struct svg *s, double left, double baseline, const char *class_name);
void svg_end_text(struct svg *s);

/* Draws frame, ticks with numbers at multiples of the steps, and labels. */
void svg_add_axes(struct svg *s, const struct svg_panel *panel, double u_step, double v_step, const char *u_label,
                  const char *v_label);

#endif
