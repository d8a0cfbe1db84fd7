/* picture_draw.c: draws a struct picture: three panels and a legend on a page of 1600 by 1180.
 * Top: the whole VELO in z and r, the distance from the z axis. Bottom: the x-y plane, seen along the beam, and the
 * region of the collisions in z and x, with x enlarged, where tracks are straight lines through their vertices.
 * Colours are those of Okabe and Ito, which can be distinguished with any colour vision; missed particles are also
 * dashed. */
#include "page.h"
#include "picture.h"

#include <inttypes.h>
#include <math.h>

enum { PAGE_WIDTH = 1600, PAGE_HEIGHT = 1180, TITLES_MAX = 1000 /* lines; if there are more, none has a tooltip */ };
enum { SENSOR_CORNERS = 4, SENSOR_ROWS = 256 };

static const float z_low = -310, z_high = 800, r_low = -1.5f, r_high = 56; /* of the panel in z and r */
static const float pixel_pitch = 0.055f;

static const struct {
  const char *class_name, *text;
} kinds[PICTURE_KINDS] = {
    [PICTURE_TRACK] = {"track", "track"},
    [PICTURE_FOUND] = {"found", "track of a particle"},
    [PICTURE_MISSED_OTHER] = {"other", "missed, others"},
    [PICTURE_MISSED] = {"missed", "missed particle"},
    [PICTURE_GHOST] = {"ghost", "ghost track"},
};

static int is_missed(uint32_t kind) { return kind == PICTURE_MISSED || kind == PICTURE_MISSED_OTHER; }

static const char style[] =
    ".sensor{stroke:#dbe2ea;stroke-width:2}.beam{stroke:#bbb;stroke-dasharray:2 4}\n"
    ".hits,.track-hits,.found-hits,.ghost-hits,.missed-hits,.missed-inner,.other-hits,.other-inner{stroke-linecap:"
    "round}\n"
    ".hits{stroke:#8c8c8c;stroke-width:2.6}\n"
    ".track,.found{stroke:#0072b2;stroke-width:.9;stroke-opacity:.6}\n"
    ".track-hits,.found-hits{stroke:#0072b2;stroke-width:2.6}\n"
    ".ghost{stroke:#d55e00;stroke-width:2.2}.ghost-hits{stroke:#d55e00;stroke-width:4.4}\n"
    ".missed{stroke:#000;stroke-width:1.7;stroke-dasharray:7 4}\n"
    ".missed-hits{stroke:#000;stroke-width:6.4}.missed-inner{stroke:#fff;stroke-width:3.8}\n"
    ".other{stroke:#555;stroke-width:.9;stroke-dasharray:3 3}\n"
    ".other-hits{stroke:#555;stroke-width:4.6}.other-inner{stroke:#fff;stroke-width:2.8}\n";

/* Adds the style, with markers for hits on lines in z and r. */
static void add_style(struct svg *s) {
  svg_add(s, "%s%s", style, picture_vertex_style);
  for (uint32_t kind = 0; kind < PICTURE_KINDS; kind++)
    svg_add(s, ".%s path{marker-mid:url(#on-%s);marker-end:url(#on-%s)}\n", kinds[kind].class_name,
            kinds[kind].class_name, kinds[kind].class_name);
  svg_add(s, "</style>\n");
  for (uint32_t kind = 0; kind < PICTURE_KINDS; kind++) {
    const char *name = kinds[kind].class_name;
    svg_add(s,
            "<marker id='on-%s' markerUnits='userSpaceOnUse' markerWidth='8' markerHeight='8' refX='4' refY='4'>"
            "<path class='%s-hits' d='m4,4h0'/>",
            name, name);
    if (is_missed(kind)) svg_add(s, "<path class='%s-inner' d='m4,4h0'/>", name);
    svg_add(s, "</marker>\n");
  }
}

/* ------------------------------------------------------------------------------------------------ views */

enum view { VIEW_ZR, VIEW_XY, VIEW_ZX };

static struct svg_point project(enum view view, struct picture_point p) {
  switch (view) {
    case VIEW_ZR:
      return (struct svg_point){(double)p.z, (double)sqrtf(p.x * p.x + p.y * p.y)};
    case VIEW_XY:
      return (struct svg_point){(double)p.x, (double)p.y};
    default:
      return (struct svg_point){(double)p.z, (double)p.x};
  }
}

struct panel {
  struct svg_panel frame;
  enum view view;
  const char *name; /* name of the clip path */
};

static struct svg_point to_page(const struct panel *panel, struct picture_point p) {
  return svg_on_page(&panel->frame, project(panel->view, p));
}

/* ------------------------------------------------------------------------------------------------ sensors */

/* A point of the active area, at fractions 0 to 1 along local x and y. */
static struct picture_point on_sensor(const struct velo_geometry_view *g, uint32_t sensor, float along_x,
                                      float along_y) {
  const float *t = g->transform + 12 * sensor;
  const float low = g->local_x[0] - 0.5f * pixel_pitch;
  const float high = g->local_x[VELO_SENSOR_COLUMNS - 1] + 0.5f * pixel_pitch;
  const float x = low + along_x * (high - low), y = along_y * SENSOR_ROWS * pixel_pitch;
  return (struct picture_point){t[0] * x + t[1] * y + t[9], t[3] * x + t[4] * y + t[10], t[6] * x + t[7] * y + t[11]};
}

/* Draws the sensors of the first module pair; the other modules have the same outline. */
static void draw_sensors_xy(const struct picture *p, struct svg *s, const struct panel *panel) {
  static const float corners[SENSOR_CORNERS][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  svg_add(s, "<path class='sensor' d='");
  for (uint32_t sensor = 0; sensor < VELO_SENSORS / VELO_MODULE_PAIRS; sensor++)
    for (uint32_t k = 0; k < SENSOR_CORNERS; k++) {
      svg_add(s, k == 0 ? "M" : "L");
      svg_add_point(s, to_page(panel, on_sensor(&p->geometry, sensor, corners[k][0], corners[k][1])));
      if (k == SENSOR_CORNERS - 1) svg_add(s, "z");
    }
  svg_add(s, "'/>\n");
}

/* Draws a module as a line from its smallest to its largest distance from the beam. */
static void draw_modules_zr(const struct picture *p, struct svg *s, const struct panel *panel) {
  enum { STEPS = 20 };
  svg_add(s, "<path class='sensor' d='");
  for (uint32_t module = 0; module < VELO_MODULES; module++) {
    double low = 1e9, high = 0;
    for (uint32_t k = 0; k < 4 * (STEPS + 1) * (STEPS + 1); k++) {
      const uint32_t sensor = 4 * module + k % 4, i = k / 4 % (STEPS + 1), j = k / 4 / (STEPS + 1);
      const double r = project(VIEW_ZR, on_sensor(&p->geometry, sensor, (float)i / STEPS, (float)j / STEPS)).v;
      low = r < low ? r : low;
      high = r > high ? r : high;
    }
    const double z = (double)p->geometry.module_z[module];
    svg_add(s, "M");
    svg_add_point(s, svg_on_page(&panel->frame, (struct svg_point){z, low}));
    svg_add(s, "L");
    svg_add_point(s, svg_on_page(&panel->frame, (struct svg_point){z, high}));
  }
  svg_add(s, "'/>\n");
}

static void draw_detector(const struct picture *p, struct svg *s, const struct panel *panel) {
  if (panel->view != VIEW_XY) {
    svg_add(s, "<path class='beam' d='M");
    svg_add_point(s, svg_on_page(&panel->frame, (struct svg_point){panel->frame.u_min, 0}));
    svg_add(s, "h%d'/>\n", (int)panel->frame.width);
  }
  if (!p->geometry.transform) return;
  if (panel->view == VIEW_XY) draw_sensors_xy(p, s, panel);
  if (panel->view == VIEW_ZR) draw_modules_zr(p, s, panel);
}

/* ------------------------------------------------------------------------------------------------ hits */

static void draw_unused_hits(const struct picture *p, struct svg *s, const struct panel *panel) {
  struct svg_pen pen = svg_pen_start(s);
  svg_add(s, "<path class='hits' d='");
  for (uint64_t i = 0; i < p->hit_count; i++) svg_pen_dot(&pen, to_page(panel, p->hits[i]));
  svg_add(s, "'/>\n");
}

static void draw_dots_of(const struct picture *p, struct svg *s, const struct panel *panel, uint32_t kind,
                         const char *suffix) {
  struct svg_pen pen = svg_pen_start(s);
  svg_add(s, "<path class='%s-%s' d='", kinds[kind].class_name, suffix);
  for (uint64_t l = 0; l < p->line_count; l++)
    for (uint32_t i = 0; p->lines[l].kind == kind && i < p->lines[l].point_count; i++)
      svg_pen_dot(&pen, to_page(panel, p->points[p->lines[l].first_point + i]));
  svg_add(s, "'/>\n");
}

/* Draws hits on lines of one kind: dots on tracks, rings on missed particles (dots with smaller white dots inside). */
static void draw_hits_of(const struct picture *p, struct svg *s, const struct panel *panel, uint32_t kind) {
  draw_dots_of(p, s, panel, kind, "hits");
  if (is_missed(kind)) draw_dots_of(p, s, panel, kind, "inner");
}

/* ------------------------------------------------------------------------------------------------ lines */

/* Distance in z along the line from its origin to the border of a box: |x| and |y| below `side`, z within limits. */
static float distance_to_box(const struct picture_line *line, float side, float low, float high) {
  const float *origin[2] = {&line->origin.x, &line->origin.y};
  const float slopes[2] = {line->tx, line->ty}, sign = line->is_backward ? -1 : 1;
  float distance = line->is_backward ? line->origin.z - low : high - line->origin.z;
  for (int k = 0; k < 2; k++) {
    const float slope = sign * slopes[k];
    if (slope == 0) continue;
    const float left = ((slope > 0 ? side : -side) - *origin[k]) / slope;
    if (left < distance) distance = left;
  }
  return sign * (distance > 0 ? distance : 0);
}

static struct picture_point along(const struct picture_line *line, float dz) {
  return (struct picture_point){line->origin.x + line->tx * dz, line->origin.y + line->ty * dz, line->origin.z + dz};
}

/* Adds the path of a line: in z and r through all hits, since it is curved there; in x and y straight to the last
 * hit. */
static void add_line_path(const struct picture *p, struct svg_pen *pen, const struct panel *panel,
                          const struct picture_line *line) {
  const struct picture_point *points = p->points + line->first_point;
  const float outside = 60, edge = 40;
  const int has_start = line->has_origin || line->point_count > 0;
  if (!has_start || (panel->view == VIEW_ZX && !line->has_origin)) return;
  svg_pen_move(pen, to_page(panel, line->has_origin ? line->origin : points[0]));
  if (panel->view == VIEW_ZX) {
    const float dz = distance_to_box(line, outside, (float)panel->frame.u_min, (float)panel->frame.u_max);
    svg_pen_line(pen, to_page(panel, along(line, dz)));
  } else if (line->point_count == 0) {
    svg_pen_line(pen, to_page(panel, along(line, distance_to_box(line, edge, z_low, z_high))));
  } else {
    const uint32_t first = panel->view == VIEW_XY ? line->point_count - 1 : 0;
    for (uint32_t i = first; i < line->point_count; i++) svg_pen_line(pen, to_page(panel, points[i]));
  }
}

/* Text that a browser shows when the pointer is on the line. */
static void add_tooltip(struct svg *s, const struct picture_line *line) {
  svg_add(s, "<title>%s%s", line->kind == PICTURE_GHOST ? "ghost, " : "", is_missed(line->kind) ? "missed: " : "");
  page_add_particle(s, line->pdg, line->p_mev, line->eta);
  svg_add(s, "%" PRIu32 " hits</title>", line->hit_count);
}

/* In z and r each line is an element with its own tooltip; the style adds markers of its hits. */
static void draw_lines_apart(const struct picture *p, struct svg *s, const struct panel *panel, uint32_t kind) {
  svg_add(s, "<g class='%s'>\n", kinds[kind].class_name);
  for (uint64_t l = 0; l < p->line_count; l++) {
    const struct picture_line *line = &p->lines[l];
    if (line->kind != kind) continue;
    svg_add(s, "<path");
    if (line->point_count == 0)
      svg_add(s, " style='marker:none'");
    else if (!line->has_origin)
      svg_add(s, " style='marker-start:url(#on-%s)'", kinds[kind].class_name);
    svg_add(s, " d='");
    struct svg_pen pen = svg_pen_start(s);
    add_line_path(p, &pen, panel, line);
    svg_add(s, p->line_count <= TITLES_MAX ? "'>" : "'/>\n");
    if (p->line_count > TITLES_MAX) continue;
    add_tooltip(s, line);
    svg_add(s, "</path>\n");
  }
  svg_add(s, "</g>\n");
}

static void draw_lines_together(const struct picture *p, struct svg *s, const struct panel *panel, uint32_t kind) {
  struct svg_pen pen = svg_pen_start(s);
  svg_add(s, "<path class='%s' d='", kinds[kind].class_name);
  for (uint64_t l = 0; l < p->line_count; l++)
    if (p->lines[l].kind == kind) add_line_path(p, &pen, panel, &p->lines[l]);
  svg_add(s, "'/>\n");
}

static void draw_kind(const struct picture *p, struct svg *s, const struct panel *panel, uint32_t kind) {
  if (p->counts[kind] == 0) return;
  if (panel->view == VIEW_ZR) {
    draw_lines_apart(p, s, panel, kind);
    return;
  }
  draw_lines_together(p, s, panel, kind);
  if (panel->view == VIEW_XY) draw_hits_of(p, s, panel, kind);
}

/* ------------------------------------------------------------------------------------------------ vertices */

static struct svg_point vertex_to_page(const void *panel, struct picture_point at) {
  return to_page((const struct panel *)panel, at);
}

/* Writes the number of tracks above true vertices, outside the panel, in up to three rows without overlaps; others
 * are omitted. Vertices are sorted by z. */
static void draw_vertex_numbers(const struct picture *p, struct svg *s, const struct panel *panel) {
  enum { ROWS = 3, ROW_HEIGHT = 14, APART = 26 };
  double row_ends[ROWS] = {-1e6, -1e6, -1e6};
  for (uint64_t i = 0; i < p->vertex_count; i++) {
    const struct svg_point at = to_page(panel, p->vertices[i].at);
    int row = 0;
    while (row < ROWS && at.u < row_ends[row] + APART) row++;
    if (p->vertices[i].kind == PICTURE_VERTEX_FOUND || row == ROWS) continue;
    row_ends[row] = at.u;
    svg_begin_text(s, at.u, panel->frame.top - 6 - ROW_HEIGHT * row, "middle small");
    svg_add(s, "%" PRIu32, p->vertices[i].tracks);
    svg_end_text(s);
  }
}

/* ------------------------------------------------------------------------------------------------ the page */

static void draw_panel(const struct picture *p, struct svg *s, const struct panel *panel, double u_step, double v_step,
                       const char *u_label, const char *v_label) {
  page_begin_clip(s, &panel->frame, panel->name);
  draw_detector(p, s, panel);
  if (panel->view != VIEW_ZX) draw_unused_hits(p, s, panel);
  for (uint32_t kind = 0; kind < PICTURE_KINDS; kind++) draw_kind(p, s, panel, kind);
  const int size = panel->view == VIEW_ZX ? 8 : panel->view == VIEW_ZR ? 6 : 4;
  picture_draw_vertices(p, s, size, vertex_to_page, panel);
  page_end_clip(s);
  svg_add_axes(s, &panel->frame, u_step, v_step, u_label, v_label);
}

static void draw_title(const struct picture *p, struct svg *s) {
  svg_begin_text(s, PAGE_MARGIN, PAGE_SUBTITLE, "");
  const uint32_t tracks = p->counts[PICTURE_TRACK] + p->counts[PICTURE_FOUND] + p->counts[PICTURE_GHOST];
  if (p->has_truth)
    svg_add(s,
            "%" PRIu32 " tracks, ghosts among them: %" PRIu32 ". Found: %" PRIu32 " of %" PRIu32
            " reconstructible particles; of those with 2 &lt; η &lt; 5 that are no electrons, %" PRIu32 " of %" PRIu32
            ".",
            tracks, p->counts[PICTURE_GHOST], p->particles_found, p->particles, p->particles_found_in_acceptance,
            p->particles_in_acceptance);
  else
    svg_add(s, "%" PRIu32 " tracks. The event has no Monte-Carlo truth: tracks are not judged.", tracks);
  svg_end_text(s);
}

static void add_sample_hits(const struct legend *l, const char *class_name, const char *suffix) {
  struct svg_pen pen = svg_pen_start(l->svg);
  svg_add(l->svg, "<path class='%s%s' d='", class_name, suffix);
  for (int i = 0; i < 3; i++) svg_pen_dot(&pen, (struct svg_point){l->left + 5 + 15 * i, l->baseline - 5});
  svg_add(l->svg, "'/>\n");
}

static void add_line_entry(struct legend *l, const struct picture *p, uint32_t kind) {
  const struct svg_point start = {l->left, l->baseline - 5};
  svg_add(l->svg, "<path class='%s' d='M", kinds[kind].class_name);
  svg_add_point(l->svg, start);
  svg_add(l->svg, "h%d'/>\n", LEGEND_SAMPLE);
  add_sample_hits(l, kinds[kind].class_name, "-hits");
  if (is_missed(kind)) add_sample_hits(l, kinds[kind].class_name, "-inner");
  legend_add_entry(l, kinds[kind].text, p->counts[kind]);
}

static void draw_legend(const struct picture *p, struct svg *s, double left, double top) {
  struct legend l = {s, left, top + 14};
  legend_add_head(&l, "Tracks and particles");
  if (p->has_truth) {
    add_line_entry(&l, p, PICTURE_FOUND);
    add_line_entry(&l, p, PICTURE_GHOST);
    add_line_entry(&l, p, PICTURE_MISSED);
    legend_add_note(&l, "2 &lt; η &lt; 5, no electrons");
    add_line_entry(&l, p, PICTURE_MISSED_OTHER);
    legend_add_note(&l, "electrons, or other η");
  } else {
    add_line_entry(&l, p, PICTURE_TRACK);
    legend_add_note(&l, "not judged: no truth");
  }
  if (p->has_hits) {
    add_sample_hits(&l, "hits", "");
    legend_add_entry(&l, "hits on no track", p->hit_count);
  }
  if (!p->has_true_vertices && !p->has_found_vertices) return;
  l.baseline += 0.5 * LEGEND_STEP;
  picture_draw_vertex_legend(p, &l, "their tracks: above the panel");
}

/* Smallest range in z, in steps of 50 mm, that shows all vertices and at least 150 mm on both sides of 0. */
static void set_z_range(const struct picture *p, struct svg_panel *frame) {
  const double step = 50, margin = 10, widest = 400;
  frame->u_min = -3 * step;
  frame->u_max = 3 * step;
  for (uint64_t i = 0; i < p->vertex_count; i++) {
    const double z = (double)p->vertices[i].at.z;
    while (frame->u_min > -widest && z - margin < frame->u_min) frame->u_min -= step;
    while (frame->u_max < widest && z + margin > frame->u_max) frame->u_max += step;
  }
}

void picture_draw(const struct picture *p, struct svg *s) {
  const struct page page = {"VELO", p->run, p->number, PAGE_WIDTH, PAGE_HEIGHT};
  page_begin(s, &page);
  add_style(s);
  draw_title(p, s);
  const struct panel zr = {
      {80, 92, 1490, 470, (double)z_low, (double)z_high, (double)r_low, (double)r_high}, VIEW_ZR, "zr"};
  draw_panel(p, s, &zr, 100, 10, "z (mm)", "r (mm)");
  const struct panel xy = {{80, 650, 460, 460, -55, 55, -55, 55}, VIEW_XY, "xy"};
  draw_panel(p, s, &xy, 20, 20, "x (mm)", "y (mm)");
  struct panel zx = {{650, 650, 620, 460, 0, 0, -0.6, 0.6}, VIEW_ZX, "zx"};
  set_z_range(p, &zx.frame);
  draw_panel(p, s, &zx, 50, 0.2, "z (mm), around the collisions", "x (mm)");
  draw_vertex_numbers(p, s, &zx);
  draw_legend(p, s, 1300, 650);
  svg_add(s, "</svg>\n");
}
