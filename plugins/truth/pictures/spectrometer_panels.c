/* spectrometer_panels.c: see spectrometer_panels.h. From the bottom to the top: detectors, hits in grey, true tracks
 * (faint), found tracks, and once more, bold, the tracks of candidates of lines that passed; vertices. The kinds of
 * found tracks differ in colour (Okabe and Ito), those of true tracks in dash pattern; ghosts are dashed. */
#include "spectrometer_panels.h"

#include <inttypes.h>

enum { TITLES_MAX = 1000 /* tracks; beyond, no tooltips */ };

static const double metre = 1000;
static const double ecal_z = 12.603, bar_longest = 1.9;          /* m */
static const double muons_end = 19.1, other_tracks_end = 12.603; /* z where extrapolations beyond the SciFi end, m */

const struct spectrometer_kind_names spectrometer_kind_names[SPECTROMETER_KINDS] = {
    [SPECTROMETER_TRUE_SCIFI] = {"true-scifi", "SciFi alone"},
    [SPECTROMETER_TRUE_UPSTREAM] = {"true-upstream", "VELO and UT alone"},
    [SPECTROMETER_TRUE_LONG] = {"true-long", "long: VELO and SciFi"},
    [SPECTROMETER_TRUE_DOWNSTREAM] = {"true-downstream", "UT and SciFi, not VELO"},
    [SPECTROMETER_FOUND_VELO] = {"velo", "VELO"},
    [SPECTROMETER_FOUND_UT] = {"velo-ut", "VELO-UT"},
    [SPECTROMETER_FOUND_SEED] = {"seed", "SciFi seed"},
    [SPECTROMETER_FOUND_LONG] = {"long", "long"},
};

const char spectrometer_style[] =
    ".detector{fill:#eef2f6}.field{fill:#f9f7f0}.label{font-size:16px;fill:#555;text-anchor:middle}\n"
    ".true-long,.true-downstream,.true-upstream,.true-scifi{stroke:#555;stroke-width:.9;stroke-opacity:.6}\n"
    ".true-downstream{stroke-dasharray:12 4}.true-upstream{stroke-dasharray:4 3}\n"
    ".true-scifi{stroke-dasharray:9 3 2 3}\n"
    ".velo{stroke:#56b4e9;stroke-width:1;stroke-opacity:.6}\n"
    ".velo-ut{stroke:#cc79a7;stroke-width:1.4}\n"
    ".seed{stroke:#e69f00;stroke-width:1.4}\n"
    ".long{stroke:#0072b2;stroke-width:1.4}\n"
    ".muon{stroke-width:3}.ghost{stroke-dasharray:7 5}\n"
    ".halo{stroke:#fff;stroke-width:7}.candidate{stroke:#d55e00;stroke-width:3.6}\n"
    ".exit{stroke:#999;stroke-width:.7;stroke-dasharray:1 4}\n"
    ".dots{stroke:#999;stroke-width:2.4;stroke-linecap:round}\n"
    ".ticks{stroke:#999;stroke-width:.9}\n"
    ".pads{stroke:#444;stroke-width:3.4}\n"
    ".energy{fill:#d8d2c2;stroke:#8a8069;stroke-width:.7}\n"
    ".decay{stroke:#d55e00;stroke-width:2.2;fill:#fff;fill-opacity:.6}\n";

static int has_scifi(const struct spectrometer_panel *panel) {
  return panel->view == VIEW_WHOLE || panel->view == VIEW_SCIFI;
}

static struct svg_point to_page(const struct spectrometer_panel *panel, float z, const float at[SPECTROMETER_AXES]) {
  return svg_on_page(&panel->frame, (struct svg_point){(double)z / metre, (double)at[panel->axis] / metre});
}

/* ------------------------------------------------------------------------------------------------ detectors */

static void add_box(struct svg *s, const struct spectrometer_panel *panel, const char *class_name, struct svg_point low,
                    struct svg_point high) {
  const struct svg_point a = svg_on_page(&panel->frame, low), b = svg_on_page(&panel->frame, high);
  svg_add(s, "<rect class='%s'", class_name);
  svg_add_attribute(s, "x", a.u);
  svg_add_attribute(s, "y", b.v);
  svg_add_attribute(s, "width", b.u - a.u);
  svg_add_attribute(s, "height", a.v - b.v);
  svg_add(s, "/>\n");
}

/* Outlines of the detectors, m. A half height of 0 is the panel's. */
static const struct {
  const char *name;
  double begin, end, half[SPECTROMETER_AXES];
} parts[] = {
    {"VELO", -0.3, 0.77, {0.06, 0.06}},   {"UT", 2.28, 2.69, {0.87, 0.67}},    {"magnet", 2.9, 7.2, {0, 0}},
    {"", 7.8, 8.06, {2.65, 2.43}},        {"SciFi", 8.48, 8.74, {2.65, 2.43}}, {"", 9.17, 9.43, {3.19, 2.43}},
    {"ECAL", 12.603, 13.035, {3.9, 3.2}}, {"M2", 15.105, 15.418, {4.9, 4.1}},  {"M3", 16.308, 16.627, {5.28, 4.4}},
    {"M4", 17.5, 17.821, {5.66, 4.75}},   {"M5", 18.707, 19.031, {6.05, 5.1}},
};

static void draw_parts(struct svg *s, const struct spectrometer_panel *panel) {
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    const double own = parts[i].half[panel->axis], half = own > 0 ? own : panel->frame.v_max;
    add_box(s, panel, own > 0 ? "detector" : "field", (struct svg_point){parts[i].begin, -half},
            (struct svg_point){parts[i].end, half});
    if (!*parts[i].name) continue;
    const double middle = 0.5 * (parts[i].begin + parts[i].end);
    svg_begin_text(s, svg_on_page(&panel->frame, (struct svg_point){middle, 0}).u, panel->frame.top + 20, "label");
    svg_add(s, "%s", parts[i].name);
    svg_end_text(s);
  }
}

/* ------------------------------------------------------------------------------------------------ hits */

static void draw_dots(struct svg *s, const struct spectrometer_panel *panel, const struct spectrometer_hits *hits) {
  struct svg_pen pen = svg_pen_start(s);
  svg_add(s, "<path class='dots' d='");
  for (uint64_t i = 0; i < hits->count; i++) svg_pen_dot(&pen, to_page(panel, hits->at[i].z, hits->at[i].at));
  svg_add(s, "'/>\n");
}

/* Draws hits with a width, at least a visible one, as lines upwards, and others as short lines along z, since layers
 * are perpendicular to z. */
static void draw_marks(struct svg *s, const struct spectrometer_panel *panel, const struct spectrometer_hits *hits,
                       const char *class_name) {
  const double half_min = 1.2;
  struct svg_pen pen = svg_pen_start(s);
  svg_add(s, "<path class='%s' d='", class_name);
  for (uint64_t i = 0; i < hits->count; i++) {
    const struct spectrometer_hit *hit = &hits->at[i];
    if (!(hit->axes >> panel->axis & 1)) continue;
    const struct svg_point at = to_page(panel, hit->z, hit->at);
    double across = 0.5 * panel->tick, up = 0;
    if (hit->half[panel->axis] > 0) {
      across = 0;
      up = (double)hit->half[panel->axis] / metre * panel->frame.height / (panel->frame.v_max - panel->frame.v_min);
      up = up > half_min ? up : half_min;
    }
    svg_pen_move(&pen, (struct svg_point){at.u - across, at.v - up});
    svg_pen_line(&pen, (struct svg_point){at.u + across, at.v + up});
  }
  svg_add(s, "'/>\n");
}

double spectrometer_largest_energy(const struct spectrometer *p) {
  double largest = 0;
  for (uint32_t axis = 0; axis < SPECTROMETER_AXES; axis++)
    for (uint32_t i = 0; i < SPECTROMETER_STRIPS; i++)
      if (p->energy_mev[axis][i] > largest) largest = p->energy_mev[axis][i];
  return largest;
}

static void draw_energy(const struct spectrometer *p, struct svg *s, const struct spectrometer_panel *panel) {
  const double largest = spectrometer_largest_energy(p), width = (double)p->strip_width / metre;
  const double *energy = p->energy_mev[panel->axis];
  for (uint32_t i = 0; i < SPECTROMETER_STRIPS; i++) {
    if (energy[i] <= 0) continue;
    const double low = ((double)i - 0.5 * SPECTROMETER_STRIPS) * width;
    add_box(s, panel, "energy", (struct svg_point){ecal_z, low},
            (struct svg_point){ecal_z + bar_longest * energy[i] / largest, low + width});
  }
}

static void draw_hits(const struct spectrometer *p, struct svg *s, const struct spectrometer_panel *panel) {
  if (panel->view == VIEW_WHOLE || panel->view == VIEW_TO_UT) draw_dots(s, panel, &p->hits[SPECTROMETER_VELO]);
  if (panel->view != VIEW_SCIFI) draw_marks(s, panel, &p->hits[SPECTROMETER_UT], "ticks");
  if (has_scifi(panel)) draw_marks(s, panel, &p->hits[SPECTROMETER_SCIFI], "ticks");
  if (panel->view != VIEW_WHOLE) return;
  if (p->has_energy) draw_energy(p, s, panel);
  draw_marks(s, panel, &p->hits[SPECTROMETER_MUON], "pads");
}

/* ------------------------------------------------------------------------------------------------ tracks */

/* Range of a track's points in the panel, with one point before and after it; 0 if no line is in the panel. */
static int find_seen(const struct spectrometer *p, const struct spectrometer_panel *panel,
                     const struct spectrometer_track *track, const struct spectrometer_point **first,
                     const struct spectrometer_point **end) {
  const struct spectrometer_point *a = p->points + track->first_point, *b = a + track->point_count;
  if (b - a < 2 || (double)a->z >= panel->frame.u_max * metre || (double)b[-1].z <= panel->frame.u_min * metre)
    return 0;
  while (b - a > 2 && (double)a[1].z <= panel->frame.u_min * metre) a++;
  while (b - a > 2 && (double)b[-2].z >= panel->frame.u_max * metre) b--;
  *first = a;
  *end = b;
  return 1;
}

static void add_path(struct svg *s, const struct spectrometer_panel *panel, const struct spectrometer_point *first,
                     const struct spectrometer_point *end) {
  struct svg_pen pen = svg_pen_start(s);
  svg_pen_move(&pen, to_page(panel, first->z, first->at));
  for (const struct spectrometer_point *at = first + 1; at < end; at++)
    svg_pen_line(&pen, to_page(panel, at->z, at->at));
}

static void add_tooltip(const struct spectrometer *p, struct svg *s, const struct spectrometer_track *track) {
  const char *text = spectrometer_kind_names[track->kind].text;
  svg_add(s, "><title>");
  if (spectrometer_is_true(track->kind)) {
    svg_add(s, "true: ");
    page_add_particle(s, track->pdg, track->p_mev, track->eta);
    svg_add(s, "%s", text);
  } else {
    svg_add(s, "%s track", text);
    if (track->p_mev > 0) {
      svg_add(s, ", ");
      svg_add_number(s, (double)track->p_mev / 1000);
      svg_add(s, " GeV");
    }
    if (track->is_muon) svg_add(s, ", muon");
    if (p->shows_truth && track->is_ghost) svg_add(s, ", ghost");
    if (track->lines > 0) svg_add(s, ", candidate of %s", p->lines[track->first_line].name);
    if (track->lines > 1) svg_add(s, " and %" PRIu32 " more", track->lines - 1);
  }
  svg_add(s, "</title></path>\n");
}

static void add_track(const struct spectrometer *p, struct svg *s, const struct spectrometer_panel *panel,
                      const struct spectrometer_track *track, int has_tooltip) {
  const struct spectrometer_point *first, *end;
  const int is_ghost = p->shows_truth && track->is_ghost;
  if (!find_seen(p, panel, track, &first, &end)) return;
  svg_add(s, "<path");
  if (track->is_muon || is_ghost)
    svg_add(s, " class='%s%s%s'", track->is_muon ? "muon" : "", track->is_muon && is_ghost ? " " : "",
            is_ghost ? "ghost" : "");
  svg_add(s, " d='");
  add_path(s, panel, first, end);
  svg_add(s, "'");
  if (has_tooltip)
    add_tooltip(p, s, track);
  else
    svg_add(s, "/>\n");
}

/* Draws the tracks of a kind, but not those of candidates. In a panel of the whole spectrometer tracks of the VELO
 * alone are too short for a tooltip. */
static void draw_tracks_of(const struct spectrometer *p, struct svg *s, const struct spectrometer_panel *panel,
                           enum spectrometer_kind kind) {
  const int has_tooltips = p->track_count <= TITLES_MAX && (panel->view == VIEW_TO_UT || panel->view == VIEW_WHOLE) &&
                           (panel->view == VIEW_TO_UT || kind != SPECTROMETER_FOUND_VELO);
  if (p->kinds[kind].drawn == 0) return;
  svg_add(s, "<g class='%s'>\n", spectrometer_kind_names[kind].class_name);
  for (uint64_t i = 0; i < p->track_count; i++)
    if (p->tracks[i].kind == kind && p->tracks[i].lines == 0) add_track(p, s, panel, &p->tracks[i], has_tooltips);
  svg_add(s, "</g>\n");
}

/* Draws the tracks of candidates, with a white border. */
static void draw_candidates(const struct spectrometer *p, struct svg *s, const struct spectrometer_panel *panel) {
  static const char *const classes[] = {"halo", "candidate"};
  for (int k = 0; k < 2 && p->line_count > 0; k++) {
    svg_add(s, "<g class='%s'>\n", classes[k]);
    for (uint64_t i = 0; i < p->track_count; i++)
      if (p->tracks[i].lines > 0) {
        struct spectrometer_track track = p->tracks[i];
        track.is_muon = track.is_ghost = 0; /* in the style of candidates */
        add_track(p, s, panel, k == 0 ? &track : &p->tracks[i], k == 1);
      }
    svg_add(s, "</g>\n");
  }
}

/* Draws extrapolations from the last point to the calorimeter, and of true muons to the last muon chamber. */
static void draw_exits(const struct spectrometer *p, struct svg *s, const struct spectrometer_panel *panel) {
  struct svg_pen pen = svg_pen_start(s);
  svg_add(s, "<path class='exit' d='");
  for (uint64_t i = 0; i < p->track_count; i++) {
    const struct spectrometer_track *track = &p->tracks[i];
    if (!track->has_exit || (spectrometer_is_true(track->kind) && !p->shows_truth)) continue;
    const struct spectrometer_point *last = &p->points[track->first_point + track->point_count - 1];
    const double end = metre * (track->is_muon ? muons_end : other_tracks_end);
    struct spectrometer_point to = {(float)end, {0}};
    for (uint32_t axis = 0; axis < SPECTROMETER_AXES; axis++)
      to.at[axis] = last->at[axis] + (to.z - last->z) * track->exit_slope[axis];
    svg_pen_move(&pen, to_page(panel, last->z, last->at));
    svg_pen_line(&pen, to_page(panel, to.z, to.at));
  }
  svg_add(s, "'/>\n");
}

/* ------------------------------------------------------------------------------------------------ panels */

static struct svg_point vertex_to_page(const void *panel_, struct picture_point at) {
  return to_page((const struct spectrometer_panel *)panel_, at.z, (const float[SPECTROMETER_AXES]){at.x, at.y});
}

void spectrometer_draw_candidate_vertex(struct svg *s, struct svg_point at, int radius) {
  svg_add(s, "<circle class='decay'");
  svg_add_attribute(s, "cx", at.u);
  svg_add_attribute(s, "cy", at.v);
  svg_add(s, " r='%d'/>\n", radius);
}

static void draw_vertices(const struct spectrometer *p, const struct picture *vertices, struct svg *s,
                          const struct spectrometer_panel *panel) {
  const int size = panel->view == VIEW_WHOLE ? 4 : 8;
  picture_draw_vertices(vertices, s, size, vertex_to_page, panel);
  for (uint64_t i = 0; i < p->vertex_count; i++)
    spectrometer_draw_candidate_vertex(s, vertex_to_page(panel, p->vertices[i]), size);
}

void spectrometer_draw_panel(const struct spectrometer *p, const struct picture *vertices, struct svg *s,
                             const struct spectrometer_panel *panel) {
  page_begin_clip(s, &panel->frame, panel->name);
  if (panel->view == VIEW_WHOLE) draw_parts(s, panel);
  draw_hits(p, s, panel);
  if (has_scifi(panel)) draw_exits(p, s, panel);
  for (enum spectrometer_kind kind = 0; kind < SPECTROMETER_KINDS; kind++)
    if (p->shows_truth || !spectrometer_is_true(kind)) draw_tracks_of(p, s, panel, kind);
  draw_candidates(p, s, panel);
  if (panel->view == VIEW_WHOLE || panel->view == VIEW_TO_UT) draw_vertices(p, vertices, s, panel);
  page_end_clip(s);
  svg_add_axes(s, &panel->frame, panel->u_step, panel->v_step, panel->u_label,
               panel->axis == SPECTROMETER_X ? "x (m)" : "y (m)");
  svg_begin_text(s, panel->frame.left + 14, panel->frame.top + panel->frame.height - 14, "");
  svg_add(s, "%s", panel->caption);
  svg_end_text(s);
}
