/* spectrometer_draw.c: draws a struct spectrometer: panels and a legend on a page of 1600 by 1600, or longer.
 * Top: the whole spectrometer in z and x. Bottom: the UT and the SciFi, enlarged. Middle, if VELO-UT tracks or
 * vertices are connected: VELO and UT. Kinds of true tracks differ in colour (Okabe and Ito) and dash pattern,
 * detectors in the shape of hits. A found track that matches is a band below the true track: a line on a band is
 * found, a line without one is missed, and a ghost is a line of its own colour. */
#include "page.h"
#include "spectrometer.h"

#include <inttypes.h>

enum {
  PAGE_WIDTH = 1600,
  PAGE_HEIGHT = 1600,
  UPSTREAM_HEIGHT = 800,
  TITLES_MAX = 1000 /* tracks; beyond, no tooltips */
};

static const double metre = 1000;
static const double ecal_z = 12.603, bar_longest = 1.9;          /* m */
static const double muons_end = 19.1, other_tracks_end = 12.603; /* z where extrapolations beyond the SciFi end, m */

static const struct {
  const char *class_name, *width_enlarged, *text; /* width: of lines in enlarged panels; the style has the others */
} kinds[SPECTROMETER_KINDS] = {
    [SPECTROMETER_MATCHED] = {"matched", "4.5", "found"},
    [SPECTROMETER_SCIFI_ALONE] = {"alone", ".7", "in the SciFi alone"},
    [SPECTROMETER_UPSTREAM] = {"upstream", ".7", "VELO and UT alone"},
    [SPECTROMETER_LONG] = {"long", ".7", "long: VELO and SciFi"},
    [SPECTROMETER_DOWNSTREAM] = {"downstream", ".7", "UT and SciFi, not VELO"},
    [SPECTROMETER_UNJUDGED] = {"unjudged", ".7", "found"},
    [SPECTROMETER_GHOST] = {"ghost", "1.5", "ghost"},
};

static const char style[] =
    ".detector{fill:#e9eef3}.field{fill:#f7f4ea}.label{font-size:13px;fill:#555;text-anchor:middle}\n"
    ".long{stroke:#0072b2;stroke-width:1}\n"
    ".downstream{stroke:#d55e00;stroke-width:1.2;stroke-dasharray:12 4}\n"
    ".upstream{stroke:#000;stroke-width:.9;stroke-dasharray:4 3}\n"
    ".alone{stroke:#009e73;stroke-width:.9;stroke-dasharray:9 3 2 3}\n"
    ".muon{stroke-width:2.6}\n"
    ".matched{stroke:#f0e442;stroke-width:3.5}\n"
    ".unjudged{stroke:#0072b2;stroke-width:1}\n"
    ".ghost{stroke:#e6007e;stroke-width:.9}\n"
    ".exit{stroke:#888;stroke-width:.6;stroke-dasharray:1 4}.muon-exit{stroke:#000;stroke-width:1.2;stroke-dasharray:1 "
    "4}\n"
    ".dots{stroke:#777;stroke-width:1.8;stroke-linecap:round}\n"
    ".ticks{stroke:#222;stroke-width:.8}\n"
    ".pads{stroke:#333;stroke-width:3.4}\n"
    ".energy{fill:#e69f00;stroke:#7a5500;stroke-width:.6}\n";

/* ------------------------------------------------------------------------------------------------ panels */

enum view { VIEW_WHOLE, VIEW_TO_UT, VIEW_UT, VIEW_SCIFI };

struct panel {
  struct svg_panel frame; /* m */
  const char *name;
  int tick; /* length of the marker of a hit */
  enum view view;
};

static int has_scifi(const struct panel *panel) { return panel->view == VIEW_WHOLE || panel->view == VIEW_SCIFI; }

static struct svg_point to_page(const struct panel *panel, float z, float x) {
  return svg_on_page(&panel->frame, (struct svg_point){(double)z / metre, (double)x / metre});
}

static void add_box(struct svg *s, const struct panel *panel, const char *class_name, struct svg_point low,
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
  double begin, end, half;
} parts[] = {
    {"VELO", -0.3, 0.77, 0.06},    {"UT", 2.28, 2.69, 0.87},     {"magnet", 2.9, 7.2, 0},
    {"", 7.8, 8.06, 2.65},         {"SciFi", 8.48, 8.74, 2.65},  {"", 9.17, 9.43, 3.19},
    {"ECAL", 12.603, 13.035, 3.9}, {"M2", 15.105, 15.418, 4.9},  {"M3", 16.308, 16.627, 5.28},
    {"M4", 17.5, 17.821, 5.66},    {"M5", 18.707, 19.031, 6.05},
};

static void draw_parts(struct svg *s, const struct panel *panel) {
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    const double half = parts[i].half > 0 ? parts[i].half : panel->frame.v_max;
    add_box(s, panel, parts[i].half > 0 ? "detector" : "field", (struct svg_point){parts[i].begin, -half},
            (struct svg_point){parts[i].end, half});
    if (!*parts[i].name) continue;
    const double middle = 0.5 * (parts[i].begin + parts[i].end);
    svg_begin_text(s, svg_on_page(&panel->frame, (struct svg_point){middle, 0}).u, panel->frame.top + 18, "label");
    svg_add(s, "%s", parts[i].name);
    svg_end_text(s);
  }
}

/* ------------------------------------------------------------------------------------------------ hits */

static void draw_dots(struct svg *s, const struct panel *panel, const struct spectrometer_hits *hits) {
  struct svg_pen pen = svg_pen_start(s);
  svg_add(s, "<path class='dots' d='");
  for (uint64_t i = 0; i < hits->count; i++) svg_pen_dot(&pen, to_page(panel, hits->at[i].z, hits->at[i].x));
  svg_add(s, "'/>\n");
}

/* Hits as short lines along z, since layers are perpendicular to z. */
static void draw_ticks(struct svg *s, const struct panel *panel, const struct spectrometer_hits *hits) {
  struct svg_pen pen = svg_pen_start(s);
  svg_add(s, "<path class='ticks' d='");
  for (uint64_t i = 0; i < hits->count; i++) {
    const struct svg_point at = to_page(panel, hits->at[i].z, hits->at[i].x);
    svg_pen_move(&pen, (struct svg_point){at.u - 0.5 * panel->tick, at.v});
    svg_pen_line(&pen, (struct svg_point){at.u + 0.5 * panel->tick, at.v});
  }
  svg_add(s, "'/>\n");
}

/* Pads and strips with their width in x, but at least a visible one. */
static void draw_pads(struct svg *s, const struct panel *panel, const struct spectrometer_hits *hits) {
  const double half_min = 1.2;
  struct svg_pen pen = svg_pen_start(s);
  svg_add(s, "<path class='pads' d='");
  for (uint64_t i = 0; i < hits->count; i++) {
    const struct spectrometer_hit *hit = &hits->at[i];
    const struct svg_point at = to_page(panel, hit->z, hit->x);
    const double half = at.v - to_page(panel, hit->z, hit->x + hit->half_x).v;
    const double shown = half > half_min ? half : half_min;
    svg_pen_move(&pen, (struct svg_point){at.u, at.v - shown});
    svg_pen_line(&pen, (struct svg_point){at.u, at.v + shown});
  }
  svg_add(s, "'/>\n");
}

static double largest_energy(const struct spectrometer *p) {
  double largest = 0;
  for (uint32_t i = 0; i < SPECTROMETER_COLUMNS; i++)
    if (p->energy_mev[i] > largest) largest = p->energy_mev[i];
  return largest;
}

static void draw_energy(const struct spectrometer *p, struct svg *s, const struct panel *panel) {
  const double largest = largest_energy(p), width = (double)p->column_width / metre;
  for (uint32_t i = 0; i < SPECTROMETER_COLUMNS; i++) {
    if (p->energy_mev[i] <= 0) continue;
    const double low = ((double)i - 0.5 * SPECTROMETER_COLUMNS) * width;
    add_box(s, panel, "energy", (struct svg_point){ecal_z, low},
            (struct svg_point){ecal_z + bar_longest * p->energy_mev[i] / largest, low + width});
  }
}

static void draw_hits(const struct spectrometer *p, struct svg *s, const struct panel *panel) {
  if (panel->view == VIEW_WHOLE || panel->view == VIEW_TO_UT) draw_dots(s, panel, &p->hits[SPECTROMETER_VELO]);
  if (panel->view != VIEW_SCIFI) draw_ticks(s, panel, &p->hits[SPECTROMETER_UT]);
  if (has_scifi(panel)) draw_ticks(s, panel, &p->hits[SPECTROMETER_SCIFI]);
  if (panel->view != VIEW_WHOLE) return;
  if (p->has_energy) draw_energy(p, s, panel);
  draw_pads(s, panel, &p->hits[SPECTROMETER_MUON]);
}

/* ------------------------------------------------------------------------------------------------ tracks */

/* Range of a track's points in the panel, with one point before and after it; 0 if no line is in the panel. */
static int find_seen(const struct spectrometer *p, const struct panel *panel, const struct spectrometer_track *track,
                     const struct spectrometer_point **first, const struct spectrometer_point **end) {
  const struct spectrometer_point *a = p->points + track->first_point, *b = a + track->point_count;
  while (b - a > 1 && (double)a[1].z <= panel->frame.u_min * metre) a++;
  while (b - a > 1 && (double)b[-2].z >= panel->frame.u_max * metre) b--;
  *first = a;
  *end = b;
  return b - a > 1;
}

static void add_path(struct svg *s, const struct panel *panel, const struct spectrometer_point *first,
                     const struct spectrometer_point *end) {
  struct svg_pen pen = svg_pen_start(s);
  svg_pen_move(&pen, to_page(panel, first->z, first->x));
  for (const struct spectrometer_point *at = first + 1; at < end; at++)
    svg_pen_line(&pen, to_page(panel, at->z, at->x));
}

/* Is the track drawn in this view? */
static int is_in_view(const struct spectrometer_track *track, enum view view) {
  const int is_before_magnet = view == VIEW_TO_UT || view == VIEW_UT;
  if (spectrometer_is_true(track->kind)) return track->kind != SPECTROMETER_SCIFI_ALONE || !is_before_magnet;
  return (track->end == SPECTROMETER_TO_UT) == is_before_magnet;
}

static void add_tooltip(struct svg *s, const struct spectrometer_track *track) {
  static const char *const ends[SPECTROMETER_ENDS] = {"VELO-UT track", "long track"};
  svg_add(s, "><title>");
  if (spectrometer_is_true(track->kind)) {
    page_add_particle(s, track->pdg, track->p_mev, track->eta);
    svg_add(s, "%s", kinds[track->kind].text);
  } else {
    svg_add(s, "%s: %s, ", ends[track->end], kinds[track->kind].text);
    svg_add_number(s, (double)track->p_mev / 1000);
    svg_add(s, " GeV");
  }
  svg_add(s, "</title></path>\n");
}

static void draw_tracks_of(const struct spectrometer *p, struct svg *s, const struct panel *panel, uint32_t kind) {
  const int has_tooltips = p->track_count <= TITLES_MAX && (panel->view == VIEW_WHOLE || panel->view == VIEW_TO_UT);
  const struct spectrometer_point *first, *end;
  svg_add(s, "<g class='%s'", kinds[kind].class_name);
  if (panel->view != VIEW_WHOLE) svg_add(s, " style='stroke-width:%s'", kinds[kind].width_enlarged);
  svg_add(s, ">\n");
  for (uint64_t i = 0; i < p->track_count; i++) {
    const struct spectrometer_track *track = &p->tracks[i];
    if (track->kind != kind || !is_in_view(track, panel->view) || !find_seen(p, panel, track, &first, &end)) continue;
    svg_add(s, "<path%s d='", track->is_muon ? " class='muon'" : "");
    add_path(s, panel, first, end);
    svg_add(s, "'");
    if (has_tooltips)
      add_tooltip(s, track);
    else
      svg_add(s, "/>\n");
  }
  svg_add(s, "</g>\n");
}

/* Draws extrapolations from the last hit to the calorimeter, and of muons to the last muon chamber. */
static void draw_exits(const struct spectrometer *p, struct svg *s, const struct panel *panel, uint32_t of_muons) {
  struct svg_pen pen = svg_pen_start(s);
  const double end = of_muons ? muons_end : other_tracks_end;
  svg_add(s, "<path class='%s' d='", of_muons ? "muon-exit" : "exit");
  for (uint64_t i = 0; i < p->track_count; i++) {
    const struct spectrometer_track *track = &p->tracks[i];
    if (!track->has_exit || track->is_muon != of_muons) continue;
    const struct spectrometer_point *last = &p->points[track->first_point + track->point_count - 1];
    const double dz = end * metre - (double)last->z;
    svg_pen_move(&pen, to_page(panel, last->z, last->x));
    svg_pen_line(&pen, to_page(panel, (float)(end * metre), (float)((double)last->x + dz * (double)track->exit_slope)));
  }
  svg_add(s, "'/>\n");
}

/* ------------------------------------------------------------------------------------------------ the page */

static struct svg_point vertex_to_page(const void *panel, struct picture_point at) {
  return to_page((const struct panel *)panel, at.z, at.x);
}

static void draw_panel(const struct spectrometer *p, const struct picture *vertices, struct svg *s,
                       const struct panel *panel, double u_step, double v_step, const char *u_label) {
  page_begin_clip(s, &panel->frame, panel->name);
  if (panel->view == VIEW_WHOLE) draw_parts(s, panel);
  for (uint32_t of_muons = 0; of_muons <= 1 && has_scifi(panel); of_muons++) draw_exits(p, s, panel, of_muons);
  for (uint32_t kind = 0; kind < SPECTROMETER_KINDS; kind++) draw_tracks_of(p, s, panel, kind);
  draw_hits(p, s, panel);
  if (panel->view == VIEW_WHOLE || panel->view == VIEW_TO_UT)
    picture_draw_vertices(vertices, s, panel->view == VIEW_WHOLE ? 4 : 8, vertex_to_page, panel);
  page_end_clip(s);
  svg_add_axes(s, &panel->frame, u_step, v_step, u_label, "x (m)");
}

static void draw_subtitle(const struct spectrometer *p, struct svg *s) {
  svg_begin_text(s, PAGE_MARGIN, PAGE_SUBTITLE, "");
  svg_add(s, "From above, in the plane in which the magnet bends: ");
  if (p->has_truth)
    svg_add(s, "true tracks through their hits: %" PRIu32 ".", p->true_tracks);
  else
    svg_add(s, "hits. The event has no Monte-Carlo truth, and no true tracks.");
  svg_end_text(s);
}

static void add_track_entry(struct legend *l, const char *class_name, const char *of_kind, const char *text,
                            uint64_t count) {
  svg_add(l->svg, "<g class='%s'><path class='%s' d='M", of_kind, class_name);
  svg_add_point(l->svg, (struct svg_point){l->left, l->baseline - 5});
  svg_add(l->svg, "h%d'/></g>\n", LEGEND_SAMPLE);
  legend_add_entry(l, text, count);
}

static void draw_track_legend(const struct spectrometer *p, struct legend *l) {
  legend_add_head(l, "True tracks");
  add_track_entry(l, "", "long", kinds[SPECTROMETER_LONG].text, p->counts[SPECTROMETER_LONG]);
  add_track_entry(l, "", "downstream", kinds[SPECTROMETER_DOWNSTREAM].text, p->counts[SPECTROMETER_DOWNSTREAM]);
  add_track_entry(l, "", "upstream", kinds[SPECTROMETER_UPSTREAM].text, p->counts[SPECTROMETER_UPSTREAM]);
  add_track_entry(l, "", "alone", kinds[SPECTROMETER_SCIFI_ALONE].text, p->counts[SPECTROMETER_SCIFI_ALONE]);
  add_track_entry(l, "muon", "long", "muons of all kinds", p->muons);
  legend_add_note(l, "dotted: straight on");
  l->baseline += 0.5 * LEGEND_STEP;
}

static void draw_hit_legend(const struct spectrometer *p, struct legend *l) {
  struct svg_pen pen = svg_pen_start(l->svg);
  const double left = l->left + 6, step = 14;
  legend_add_head(l, "Hits");
  if (p->hits[SPECTROMETER_VELO].is_read) {
    svg_add(l->svg, "<path class='dots' d='");
    for (int i = 0; i < 3; i++) svg_pen_dot(&pen, (struct svg_point){left + step * i, l->baseline - 5});
    svg_add(l->svg, "'/>\n");
    legend_add_entry(l, "VELO", p->hits[SPECTROMETER_VELO].count);
  }
  for (uint32_t d = SPECTROMETER_UT; d <= SPECTROMETER_SCIFI; d++) {
    if (!p->hits[d].is_read) continue;
    svg_add(l->svg, "<path class='ticks' d='M");
    svg_add_point(l->svg, (struct svg_point){left + step - 7, l->baseline - 8});
    svg_add(l->svg, "h14m-14,4h14m-14,4h14'/>\n");
    legend_add_entry(l, d == SPECTROMETER_UT ? "UT, x layers" : "SciFi, x layers", p->hits[d].count);
  }
  if (p->hits[SPECTROMETER_MUON].is_read) {
    svg_add(l->svg, "<path class='pads' d='M");
    svg_add_point(l->svg, (struct svg_point){left + step, l->baseline - 13});
    svg_add(l->svg, "v10m5,-4v10'/>\n");
    legend_add_entry(l, "muon chambers", p->hits[SPECTROMETER_MUON].count);
    legend_add_note(l, "pads, and strips fine in x");
  }
}

static void draw_energy_legend(const struct spectrometer *p, struct legend *l) {
  svg_add(l->svg, "<rect class='energy'");
  svg_add_attribute(l->svg, "x", l->left);
  svg_add_attribute(l->svg, "y", l->baseline - 11);
  svg_add(l->svg, " width='%d' height='9'/>\n", LEGEND_SAMPLE);
  svg_begin_text(l->svg, l->left + LEGEND_SAMPLE + 14, l->baseline, "");
  svg_add(l->svg, "ECAL, longest: ");
  svg_add_number(l->svg, largest_energy(p) / metre);
  svg_add(l->svg, " GeV");
  svg_end_text(l->svg);
  l->baseline += LEGEND_STEP;
  legend_add_note(l, "energy in columns of a module");
}

static void draw_found_legend(const struct spectrometer *p, struct legend *l) {
  static const char *const matched[SPECTROMETER_ENDS] = {"VELO-UT, matched", "long, matched"};
  static const char *const ghosts[SPECTROMETER_ENDS] = {"VELO-UT, ghosts", "long, ghosts"};
  static const char *const unjudged[SPECTROMETER_ENDS] = {"VELO-UT", "long"};
  if (!p->found[SPECTROMETER_TO_UT].is_read && !p->found[SPECTROMETER_TO_SCIFI].is_read) return;
  legend_add_head(l, "Found tracks");
  for (uint32_t end = 0; end < SPECTROMETER_ENDS; end++) {
    const struct spectrometer_found *found = &p->found[end];
    if (!found->is_read) continue;
    if (!p->has_truth) {
      add_track_entry(l, "", "unjudged", unjudged[end], found->tracks);
      continue;
    }
    add_track_entry(l, "", "matched", matched[end], found->tracks - found->ghosts);
    add_track_entry(l, "", "ghost", ghosts[end], found->ghosts);
  }
  if (p->has_truth) legend_add_note(l, "lines on a band are found");
  l->baseline += 0.5 * LEGEND_STEP;
}

void spectrometer_draw(const struct spectrometer *p, const struct picture *vertices, struct svg *s) {
  const int has_upstream = p->found[SPECTROMETER_TO_UT].is_read || vertices->vertex_count > 0;
  const double lower = has_upstream ? UPSTREAM_HEIGHT : 0;
  const struct page page = {"Spectrometer", p->run, p->number, PAGE_WIDTH, PAGE_HEIGHT + (int32_t)lower};
  page_begin(s, &page);
  svg_add(s, "%s%s</style>\n", style, picture_vertex_style);
  draw_subtitle(p, s);
  const struct panel whole = {{80, 92, 1490, 620, -0.4, 19.4, -6.1, 6.1}, "whole", 3, VIEW_WHOLE};
  draw_panel(p, vertices, s, &whole, 2, 2, "z (m)");
  const struct panel upstream = {{80, 800, 1490, 700, -0.3, 2.72, -0.32, 0.32}, "way", 8, VIEW_TO_UT};
  if (has_upstream) draw_panel(p, vertices, s, &upstream, 0.2, 0.1, "z (m), VELO and UT");
  const struct panel ut = {{80, lower + 800, 440, 730, 2.28, 2.69, -0.88, 0.88}, "ut", 8, VIEW_UT};
  draw_panel(p, vertices, s, &ut, 0.1, 0.2, "z (m), UT");
  const struct panel scifi = {{600, lower + 800, 680, 730, 7.78, 9.46, -3.25, 3.25}, "scifi", 7, VIEW_SCIFI};
  draw_panel(p, vertices, s, &scifi, 0.2, 0.5, "z (m), SciFi");
  struct legend legend = {s, 1312, lower + 814};
  if (p->has_truth) draw_track_legend(p, &legend);
  draw_found_legend(p, &legend);
  draw_hit_legend(p, &legend);
  if (p->has_energy) draw_energy_legend(p, &legend);
  if (vertices->has_true_vertices || vertices->has_found_vertices) {
    legend.baseline += 0.5 * LEGEND_STEP;
    picture_draw_vertex_legend(vertices, &legend, NULL);
  }
  svg_add(s, "</svg>\n");
}
