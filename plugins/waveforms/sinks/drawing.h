/* drawing.h: writes SVG: panels with axes, curves of many samples, vertical lines with labels.
 * Lengths on the page are in pixels. Initialise a struct drawing with zeros; its memory only grows. When out of memory,
 * `failed` is set and nothing more is added. */
#ifndef WAVEFORMS_DRAWING_H
#define WAVEFORMS_DRAWING_H

#include <stddef.h>
#include <stdint.h>

struct drawing {
  char *text;
  size_t count, capacity;
  int failed;
};

/* A rectangle of the page that shows times from u_min to u_max and values from v_min to v_max (upwards). */
struct panel {
  const char *name; /* unique in the page, for the clip path */
  double left, top, width, height;
  double u_min, u_max, v_min, v_max;
};

/* Values at equal distances: value i at the time begin + i * step, in the unit of the panel. */
struct curve {
  const double *values;
  uint32_t count;
  double begin, step;
};

void drawing_free(struct drawing *d);
void drawing_add(struct drawing *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a text with the characters that XML reserves escaped. */
void drawing_add_escaped(struct drawing *d, const char *text);

double panel_u(const struct panel *p, double u);
double panel_v(const struct panel *p, double v);
/* Enlarges v_min and v_max to the values of a curve at times in the panel. */
void panel_include(struct panel *p, const struct curve *c);
/* Sets a range of at least 1 with a margin, after panel_include; [0, 1] without any value. */
void panel_finish_range(struct panel *p);

/* Draws frame, ticks with numbers, and the labels of both axes. */
void drawing_add_axes(struct drawing *d, const struct panel *p, const char *u_label, const char *v_label);
/* Draws a curve, clipped to the panel. If a pixel has more than two values, their smallest and largest are drawn. */
void drawing_add_curve(struct drawing *d, const struct panel *p, const struct curve *c, const char *colour);
/* Draws a vertical line at the time u, which must be in the panel. */
void drawing_add_mark(struct drawing *d, const struct panel *p, double u, const char *colour);

#endif
