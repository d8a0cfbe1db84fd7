/* svg.c: see svg.h. */
#include "svg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void svg_free(struct svg *s) {
  free(s->text);
  *s = (struct svg){0};
}

/* Makes room for `bytes` more bytes; on failure returns 0 and sets `failed`. */
static int reserve(struct svg *s, size_t bytes) {
  if (s->failed) return 0;
  if (s->count + bytes <= s->capacity) return 1;
  const size_t larger = 2 * (s->count + bytes) + 4096;
  char *text = (char *)realloc(s->text, larger);
  if (!text) {
    s->failed = 1;
    return 0;
  }
  s->text = text;
  s->capacity = larger;
  return 1;
}

void svg_add_arguments(struct svg *s, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (length < 0 || !reserve(s, (size_t)length + 1)) return;
  vsnprintf(s->text + s->count, (size_t)length + 1, format, arguments);
  s->count += (size_t)length;
}

void svg_add(struct svg *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  svg_add_arguments(s, format, arguments);
  va_end(arguments);
}

/* A picture has about 100,000 numbers, which printf would write ten times slower. */
static void add_text(struct svg *s, const char *text, size_t bytes) {
  if (!reserve(s, bytes + 1)) return;
  memcpy(s->text + s->count, text, bytes);
  s->count += bytes;
}

/* Writes tenths as a decimal number; without a zero before the point if `is_short`. */
static void add_decimal(struct svg *s, const char *before, uint64_t tenths, int is_short) {
  char text[32], *at = text + sizeof text;
  if (tenths % 10) {
    *--at = (char)('0' + tenths % 10);
    *--at = '.';
  }
  uint64_t whole = tenths / 10;
  const int has_zero = !is_short || tenths == 0; /* before the point */
  for (int i = 0; whole > 0 || (i == 0 && has_zero); i++, whole /= 10) *--at = (char)('0' + whole % 10);
  if (*before) *--at = *before;
  add_text(s, at, (size_t)(text + sizeof text - at));
}

static int64_t tenths_of(double value) {
  const double limit = 100000;
  const double shown = value > -limit ? (value < limit ? value : limit) : -limit;
  return (int64_t)(shown * 10 + (shown < 0 ? -0.5 : 0.5));
}

/* `before`: separator from the preceding number; a sign needs none. */
static void add_tenths(struct svg *s, int64_t tenths, const char *before) {
  add_decimal(s, tenths < 0 ? "-" : before, (uint64_t)(tenths < 0 ? -tenths : tenths), 1);
}

void svg_add_number(struct svg *s, double value) {
  const int64_t tenths = tenths_of(value);
  add_decimal(s, tenths < 0 ? "-" : "", (uint64_t)(tenths < 0 ? -tenths : tenths), 0);
}

void svg_add_attribute(struct svg *s, const char *name, double value) {
  svg_add(s, " %s='", name);
  svg_add_number(s, value);
  add_text(s, "'", 1);
}

void svg_add_point(struct svg *s, struct svg_point on_page) {
  svg_add_number(s, on_page.u);
  add_text(s, ",", 1);
  svg_add_number(s, on_page.v);
}

static void step_to(struct svg_pen *pen, const char *command, struct svg_point to) {
  const int64_t u = tenths_of(to.u), v = tenths_of(to.v);
  add_text(pen->svg, command, strlen(command));
  add_tenths(pen->svg, u - pen->u_tenths, *command ? "" : " ");
  add_tenths(pen->svg, v - pen->v_tenths, ",");
  pen->u_tenths = u;
  pen->v_tenths = v;
}

/* A path begins at 0,0, so that its first step can be relative, too. */
void svg_pen_move(struct svg_pen *pen, struct svg_point on_page) { step_to(pen, "m", on_page); }

/* Coordinates after a move or line without a command are a line. */
void svg_pen_line(struct svg_pen *pen, struct svg_point on_page) { step_to(pen, "", on_page); }

void svg_pen_dot(struct svg_pen *pen, struct svg_point on_page) {
  step_to(pen, "m", on_page);
  add_text(pen->svg, "h0", 2);
}

struct svg_point svg_on_page(const struct svg_panel *panel, struct svg_point p) {
  return (struct svg_point){
      panel->left + (p.u - panel->u_min) / (panel->u_max - panel->u_min) * panel->width,
      panel->top + (panel->v_max - p.v) / (panel->v_max - panel->v_min) * panel->height,
  };
}

void svg_begin_text(struct svg *s, double left, double baseline, const char *class_name) {
  svg_add(s, "<text");
  svg_add_attribute(s, "x", left);
  svg_add_attribute(s, "y", baseline);
  svg_add(s, " class='%s'>", class_name);
}

void svg_end_text(struct svg *s) { svg_add(s, "</text>\n"); }

static void add_tick_number(struct svg *s, double left, double baseline, const char *class_name, double value) {
  svg_begin_text(s, left, baseline, class_name);
  svg_add_number(s, value);
  svg_end_text(s);
}

enum { TICK = 6 };

static void add_ticks(struct svg *s, const struct svg_panel *panel, double step, int along_u) {
  const double low = along_u ? panel->u_min : panel->v_min, high = along_u ? panel->u_max : panel->v_max;
  const double bottom = panel->top + panel->height;
  const double margin = step * 1e-6;
  int64_t k = (int64_t)(low / step) - 1;
  while ((double)k * step < low - margin) k++;
  const int64_t first = k;
  svg_add(s, "<path class='axis' d='");
  for (; (double)k * step <= high + margin; k++) {
    const double value = (double)k * step;
    const struct svg_point at = svg_on_page(panel, (struct svg_point){value, value});
    svg_add(s, "M");
    svg_add_point(s, along_u ? (struct svg_point){at.u, bottom} : (struct svg_point){panel->left, at.v});
    svg_add(s, along_u ? "v%d" : "h-%d", TICK);
  }
  svg_add(s, "'/>\n");
  for (k = first; (double)k * step <= high + margin; k++) {
    const double value = (double)k * step;
    const struct svg_point at = svg_on_page(panel, (struct svg_point){value, value});
    if (along_u)
      add_tick_number(s, at.u, bottom + 25, "middle", value);
    else
      add_tick_number(s, panel->left - TICK - 4, at.v + 6, "end", value);
  }
}

void svg_add_axes(struct svg *s, const struct svg_panel *panel, double u_step, double v_step, const char *u_label,
                  const char *v_label) {
  svg_add(s, "<rect class='axis'");
  svg_add_attribute(s, "x", panel->left);
  svg_add_attribute(s, "y", panel->top);
  svg_add_attribute(s, "width", panel->width);
  svg_add_attribute(s, "height", panel->height);
  svg_add(s, "/>\n");
  add_ticks(s, panel, u_step, 1);
  add_ticks(s, panel, v_step, 0);
  svg_begin_text(s, panel->left + panel->width / 2, panel->top + panel->height + 50, "middle");
  svg_add(s, "%s", u_label);
  svg_end_text(s);
  const double x = panel->left - 58, y = panel->top + panel->height / 2;
  svg_add(s, "<text class='middle' transform='translate(");
  svg_add_point(s, (struct svg_point){x, y});
  svg_add(s, ") rotate(-90)'>%s</text>\n", v_label);
}
