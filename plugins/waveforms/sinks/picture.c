/* picture.c: waveforms.picture, draws a waveform with its filtered series, time points and pulses as SVG: the whole
 * waveform, and below it the part around its time points. Values are those above the baseline of the digitiser.
 * The event is the first one, or one with a given number, and is written at the end of the run. In a run that draws
 * events on request, the sink draws these too; without a path it writes no file. */
#include "drawing.h"

#include <sluice/plugin.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <waveforms/event_model.h>

#define SL_ARGS picture_args
#define PICTURE(M)                                                                                      \
  M(IN, traces, waveforms_traces, "value baseline table", "waveforms")                                  \
  M(LIST_IN, series, waveforms_series, "value valid", "filtered waveforms")                             \
  M(LIST_IN, currents, waveforms_series64, "value count", "filtered waveforms in double precision")     \
  M(LIST_IN, points, waveforms_points, "index", "time points")                                          \
  M(OPTIONAL_IN, pulses, waveforms_pulses, "offsets index energy", "pulses")                            \
  M(FILE_OUT, path, "", "", "path of the file; empty: that of -o")                                      \
  M(F64, event, -1, -1, 9007199254740991.0, "", "number of the event that is drawn; -1: the first one") \
  M(F64, period_ns, 16, 0.001, 1e9, "ns", "sampling period")                                            \
  M(F64, begin_ns, 0, -1e15, 1e15, "ns", "time of the first sample")                                    \
  M(F64, zoom_us, 0, 0, 1e9, "us", "length of the part around the time points; 0: according to the points")
SL_HOST_ARGUMENTS(picture, PICTURE);

enum { WIDTH = 1000, HEIGHT = 810, LEGEND_LEFT = 806, LEGEND_STEP = 21, LABEL_ROWS = 4, LABEL_STEP = 15, MARGIN = 60 };

/* Colours that colour-blind readers can distinguish (Okabe and Ito). */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};
enum { COLOURS = sizeof colours / sizeof colours[0] };
static const char trace_colour[] = "#999999", point_colour[] = "#444444";

struct picture {
  struct drawing chosen, requested; /* the event for the file; events that are drawn on request */
  uint32_t is_drawn;
  uint64_t selected_event, drawn_event; /* selected_event: UINT64_MAX for the first one */
  const struct sl_output_calls *to;
  struct sl_output *file; /* NULL: events are drawn on request only */
};

/* A curve with its name in the legend. */
struct named_curve {
  struct curve curve;
  const char *name, *colour;
};

/* A time point that was found. */
struct named_point {
  const char *name;
  double at;    /* us */
  uint32_t row; /* of its label */
};

/* An event while it is drawn. */
struct scene {
  struct drawing *to;
  const struct picture_args *args;
  uint32_t event;
  double begin, step; /* us */
  struct named_curve *curves;
  struct named_point *points; /* found ones, in order of time */
  double *values;             /* of all curves */
  uint32_t curve_count, point_count;
};

/* ------------------------------------------------------------------------------------------------- the scene */

static void add_curve(struct scene *s, const char *name, double *values, uint32_t count) {
  const char *colour = s->curve_count == 0 ? trace_colour : colours[(s->curve_count - 1) % COLOURS];
  s->curves[s->curve_count++] = (struct named_curve){{values, count, s->begin, s->step}, name, colour};
}

/* Collects the values above the baseline, and those of the series that have values. */
static void collect_curves(struct scene *s) {
  const struct picture_args *a = s->args;
  const uint16_t *trace = a->traces.value + (size_t)s->event * a->traces.samples;
  double *to = s->values;
  for (uint32_t i = 0; i < a->traces.samples; i++) to[i] = (double)trace[i] - (double)a->traces.baseline[s->event];
  add_curve(s, "waveform - baseline", to, a->traces.samples);
  to += a->traces.samples;
  for (uint32_t k = 0; k < a->series.count; k++) {
    const struct waveforms_series_view *v = &a->series.at[k];
    for (uint32_t i = 0; i < v->length; i++) to[i] = (double)v->value[(size_t)s->event * v->length + i];
    add_curve(s, a->series.names[k], to, v->valid[s->event] ? v->length : 0);
    to += v->length;
  }
  for (uint32_t k = 0; k < a->currents.count; k++) {
    const struct waveforms_series64_view *v = &a->currents.at[k];
    if (v->length > 0) memcpy(to, v->value + (size_t)s->event * v->length, v->length * sizeof *to);
    add_curve(s, a->currents.names[k], to, v->count[s->event]);
    to += v->length;
  }
}

static int compare_points(const void *left, const void *right) {
  const struct named_point *a = (const struct named_point *)left, *b = (const struct named_point *)right;
  return a->at < b->at ? -1 : a->at > b->at;
}

static void collect_points(struct scene *s) {
  const struct waveforms_points_views *points = &s->args->points;
  for (uint32_t k = 0; k < points->count; k++) {
    const int32_t index = points->at[k].index[s->event];
    if (index >= 0) s->points[s->point_count++] = (struct named_point){points->names[k], s->begin + index * s->step, 0};
  }
  if (s->point_count > 1) qsort(s->points, s->point_count, sizeof *s->points, compare_points);
}

static int open_scene(struct scene *s) {
  const struct picture_args *a = s->args;
  size_t values = a->traces.samples;
  for (uint32_t k = 0; k < a->series.count; k++) values += a->series.at[k].length;
  for (uint32_t k = 0; k < a->currents.count; k++) values += a->currents.at[k].length;
  s->values = (double *)malloc((values + 1) * sizeof *s->values);
  s->curves = (struct named_curve *)calloc((size_t)a->series.count + a->currents.count + 1, sizeof *s->curves);
  s->points = (struct named_point *)calloc((size_t)a->points.count + 1, sizeof *s->points);
  if (!s->values || !s->curves || !s->points) return SL_ENOMEM;
  collect_curves(s);
  collect_points(s);
  return SL_OK;
}

static void close_scene(struct scene *s) {
  free(s->values);
  free(s->curves);
  free(s->points);
}

/* ----------------------------------------------------------------------------------------------- the drawing */

/* Index of the pulse with the largest energy, UINT32_MAX without pulses. */
static uint32_t largest_pulse(const struct scene *s) {
  const struct waveforms_pulses_view *p = &s->args->pulses;
  uint32_t largest = UINT32_MAX;
  for (uint32_t i = p->offsets ? p->offsets[s->event] : 0; p->offsets && i < p->offsets[s->event + 1]; i++)
    if (largest == UINT32_MAX || p->energy[i] > p->energy[largest]) largest = i;
  return largest;
}

/* Sets the times of the lower panel: those of the time points, or around the largest pulse, or around the largest
 * sample. */
static void choose_zoom(const struct scene *s, struct panel *p) {
  const struct curve *trace = &s->curves[0].curve;
  const double end = trace->begin + (trace->count - 1.0) * trace->step;
  const uint32_t pulse = largest_pulse(s);
  double first, last;
  uint32_t largest = 0;
  for (uint32_t i = 0; i < trace->count; i++)
    if (trace->values[i] > trace->values[largest]) largest = i;
  first = last = trace->begin + largest * trace->step;
  if (s->point_count > 0) {
    first = s->points[0].at;
    last = s->points[s->point_count - 1].at;
  } else if (pulse != UINT32_MAX) {
    first = last = trace->begin + s->args->pulses.index[pulse] * trace->step;
  }
  const double margin = (last - first) / 4 + MARGIN * s->step, centre = 0.5 * (first + last);
  const double half = s->args->zoom_us > 0 ? 0.5 * s->args->zoom_us : 0.5 * (last - first) + margin;
  p->u_min = centre - half > trace->begin ? centre - half : trace->begin;
  p->u_max = centre + half < end ? centre + half : end;
  if (!(p->u_max > p->u_min)) p->u_max = p->u_min + s->step; /* one sample */
}

static void add_page(const struct scene *s, const struct sl_event *about) {
  char table[WAVEFORMS_TABLE_BYTES + 1] = "";
  memcpy(table, s->args->traces.table + (size_t)s->event * WAVEFORMS_TABLE_BYTES, WAVEFORMS_TABLE_BYTES);
  drawing_add(s->to,
              "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' viewBox='0 0 %d %d' "
              "font-family='sans-serif' font-size='14'>\n<style>.axis{fill:none;stroke:#000}.grid{stroke:#e4e4e4}"
              ".curve{fill:none;stroke-width:1.2;stroke-linejoin:round}.mark{fill:none;stroke-dasharray:4 3}"
              ".middle{text-anchor:middle}.end{text-anchor:end}.small{font-size:12px;paint-order:stroke;stroke:#fff;"
              "stroke-width:4px}.title{font-size:18px}</style>\n"
              "<rect width='%d' height='%d' fill='#fff'/>\n",
              WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
  drawing_add(s->to, "<text class='title' x='80' y='32'>Waveform of run %" PRIu32 ", event %" PRIu64 "%s", about->run,
              about->number, *table ? ", " : "");
  drawing_add_escaped(s->to, table);
  drawing_add(s->to, "</text>\n");
}

static void add_pulses(const struct scene *s, const struct panel *p) {
  const struct waveforms_pulses_view *v = &s->args->pulses;
  for (uint32_t i = v->offsets ? v->offsets[s->event] : 0; v->offsets && i < v->offsets[s->event + 1]; i++) {
    const double u = s->begin + v->index[i] * s->step;
    if (u < p->u_min || u > p->u_max) continue;
    drawing_add(s->to, "<path d='M%.1f,%.1fl-5,-9h10z' fill='%s'/>\n", panel_u(p, u), p->top - 1, point_colour);
  }
}

/* 1 if the point is in the panel. */
static int is_in(const struct panel *p, const struct named_point *point) {
  return point->at >= p->u_min && point->at <= p->u_max;
}

/* Draws axes, curves, marks of the time points, and pulses. */
static void add_panel(const struct scene *s, struct panel *p, const char *label) {
  p->v_min = INFINITY;
  p->v_max = -INFINITY;
  for (uint32_t k = 0; k < s->curve_count; k++) panel_include(p, &s->curves[k].curve);
  panel_finish_range(p);
  drawing_add(s->to, "<clipPath id='%s'><rect x='%.1f' y='%.1f' width='%.1f' height='%.1f'/></clipPath>\n", p->name,
              p->left, p->top, p->width, p->height);
  drawing_add_axes(s->to, p, label, "ADC");
  for (uint32_t k = 0; k < s->curve_count; k++) drawing_add_curve(s->to, p, &s->curves[k].curve, s->curves[k].colour);
  for (uint32_t k = 0; k < s->point_count; k++)
    if (is_in(p, &s->points[k])) drawing_add_mark(s->to, p, s->points[k].at, point_colour);
  add_pulses(s, p);
}

static double label_baseline(const struct panel *p, const struct named_point *point) {
  return p->top - 14 - point->row * LABEL_STEP;
}

/* Draws the names of the time points above the panel, each in the lowest row in which there is room. */
static void add_labels(const struct scene *s, const struct panel *p) {
  double ends[LABEL_ROWS];
  for (uint32_t row = 0; row < LABEL_ROWS; row++) ends[row] = -INFINITY;
  for (struct named_point *point = s->points; point < s->points + s->point_count; point++) {
    const double at = panel_u(p, point->at), half = 3.6 * (double)strlen(point->name) + 3;
    uint32_t earliest = 0;
    if (!is_in(p, point)) continue;
    for (uint32_t i = 1; i < LABEL_ROWS; i++)
      if (ends[i] < ends[earliest]) earliest = i;
    while (point->row < LABEL_ROWS && ends[point->row] > at - half) point->row++;
    if (point->row == LABEL_ROWS) point->row = earliest;
    ends[point->row] = at + half;
    drawing_add(s->to, "<path class='mark' stroke='%s' d='M%.1f,%.1fV%.1f'/>\n", point_colour, at, p->top,
                label_baseline(p, point) + 3);
  }
  for (const struct named_point *point = s->points; point < s->points + s->point_count; point++) {
    if (!is_in(p, point)) continue;
    drawing_add(s->to, "<text class='middle small' x='%.1f' y='%.1f'>", panel_u(p, point->at),
                label_baseline(p, point));
    drawing_add_escaped(s->to, point->name);
    drawing_add(s->to, "</text>\n");
  }
}

static void add_legend(const struct scene *s) {
  double y = 78;
  for (uint32_t k = 0; k < s->curve_count; k++, y += LEGEND_STEP) {
    drawing_add(s->to, "<path d='M%d,%.1fh24' stroke='%s' stroke-width='3'/><text x='%d' y='%.1f'>", LEGEND_LEFT, y - 5,
                s->curves[k].colour, LEGEND_LEFT + 32, y);
    drawing_add_escaped(s->to, s->curves[k].name);
    drawing_add(s->to, "%s</text>\n", s->curves[k].curve.count == 0 ? ": none" : "");
  }
  const struct waveforms_pulses_view *v = &s->args->pulses;
  if (v->offsets) {
    const uint32_t count = v->offsets[s->event + 1] - v->offsets[s->event];
    drawing_add(s->to, "<path d='M%d,%.1fl-5,-9h10z' fill='%s'/><text x='%d' y='%.1f'>%" PRIu32 " %s</text>\n",
                LEGEND_LEFT + 12, y - 1, point_colour, LEGEND_LEFT + 32, y, count, count == 1 ? "pulse" : "pulses");
    y += LEGEND_STEP;
  }
  y += LEGEND_STEP;
  for (uint32_t k = 0; k < s->args->points.count; k++, y += LEGEND_STEP) {
    const int32_t index = s->args->points.at[k].index[s->event];
    drawing_add(s->to, "<text x='%d' y='%.1f'>", LEGEND_LEFT, y);
    drawing_add_escaped(s->to, s->args->points.names[k]);
    if (index >= 0)
      drawing_add(s->to, ": %.3f \xc2\xb5s</text>\n", s->begin + index * s->step);
    else
      drawing_add(s->to, ": not found</text>\n");
  }
}

/* Draws an event. Returns 0 or SL_ENOMEM. */
static int draw_event(struct drawing *to, const struct picture_args *a, const struct sl_event *about, uint32_t event) {
  struct scene s = {.to = to, .args = a, .event = event, .begin = a->begin_ns / 1000, .step = a->period_ns / 1000};
  struct panel whole = {.name = "whole", .left = 80, .top = 60, .width = 700, .height = 290};
  struct panel part = {.name = "part", .left = 80, .top = 470, .width = 700, .height = 290};
  to->count = 0;
  if (open_scene(&s)) {
    close_scene(&s);
    return SL_ENOMEM;
  }
  whole.u_min = s.begin;
  whole.u_max = s.begin + (a->traces.samples > 1 ? a->traces.samples - 1 : 1) * s.step;
  choose_zoom(&s, &part);
  add_page(&s, about);
  drawing_add(to, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='#fff3cc'/>\n", panel_u(&whole, part.u_min),
              whole.top, panel_u(&whole, part.u_max) - panel_u(&whole, part.u_min), whole.height);
  add_panel(&s, &whole, "time [\xc2\xb5s]");
  add_panel(&s, &part, "time [\xc2\xb5s], the part with a yellow background above");
  add_labels(&s, &part);
  add_legend(&s);
  drawing_add(to, "</svg>\n");
  close_scene(&s);
  return to->failed ? SL_ENOMEM : SL_OK;
}

/* -------------------------------------------------------------------------------------------------- the sink */

static int picture_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  const struct picture_args *a = (const struct picture_args *)args;
  struct picture *c = (struct picture *)state;
  const char *path = *a->path ? a->path : output_path;
  c->selected_event = a->event < 0 ? UINT64_MAX : (uint64_t)a->event;
  c->to = s->output;
  if (s->draws && !path) return SL_OK;
  return c->to->open(s, path, 0, &c->file); /* at once, so that a wrong path is reported before the run */
}

static int picture_consume(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch) {
  struct picture *c = (struct picture *)state;
  SL_FOR_BATCH (event, batch) {
    const struct sl_event *about = &batch->events[event];
    const uint32_t is_selected = c->selected_event == UINT64_MAX || c->selected_event == about->number;
    if (!c->file || c->is_drawn || !is_selected || about->error != SL_EVENT_OK) continue;
    const int status = draw_event(&c->chosen, (const struct picture_args *)args, about, event);
    if (status < 0) {
      s->message(s->context, SL_ERROR, "out of memory");
      return status;
    }
    c->is_drawn = 1;
    c->drawn_event = about->number;
  }
  return SL_OK;
}

static int picture_draw(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch,
                        uint32_t event, const struct sl_text_calls *to) {
  struct picture *c = (struct picture *)state;
  const int status = draw_event(&c->requested, (const struct picture_args *)args, &batch->events[event], event);
  if (status < 0) {
    s->message(s->context, SL_WARNING, "out of memory");
    return status;
  }
  return to->add(to->context, c->requested.text, c->requested.count);
}

static int picture_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  struct picture *c = (struct picture *)state;
  if (!c->file) return SL_OK;
  if (!c->is_drawn) {
    if (c->selected_event == UINT64_MAX)
      s->message(s->context, SL_ERROR, "no event was drawn: the run has no event without error");
    else
      s->message(s->context, SL_ERROR, "event: the run has no event %" PRIu64 " without error", c->selected_event);
    return SL_EINVAL;
  }
  int status = c->to->add(c->file, c->chosen.text, c->chosen.count);
  if (status == SL_OK) {
    c->to->mark(c->file, 1);
    status = c->to->finish(c->file);
  }
  if (status < 0) return status;
  r->integer(r->context, "event", (int64_t)c->drawn_event);
  r->text(r->context, "path", c->to->path(c->file));
  r->line(r->context, "event %" PRIu64 " was drawn to %s", c->drawn_event, c->to->path(c->file));
  return SL_OK;
}

static void picture_close(void *state) {
  struct picture *c = (struct picture *)state;
  if (c->to) c->to->close(c->file);
  drawing_free(&c->chosen);
  drawing_free(&c->requested);
}

static const struct sl_sink functions = {.open = picture_open,
                                         .consume = picture_consume,
                                         .finish = picture_finish,
                                         .close = picture_close,
                                         .draw = picture_draw};
SL_SINK(picture, "a waveform with its filtered series, time points and pulses, as SVG", struct picture, functions);
