/* spectrometer_draw.c: draws a struct spectrometer: panels and a legend on a page of 1600 by 3200.
 *   1. the whole spectrometer from above (z and x), and from the side (z and y);
 *   2. the legend: what is drawn, how often, and how many tracks are hidden;
 *   3. enlarged, from above: VELO to UT; UT; SciFi. */
#include "spectrometer_panels.h"

#include <sluice/text.h>

#include <inttypes.h>

enum { PAGE_WIDTH = 1600, PAGE_HEIGHT = 3208, LINES_MAX = 9 /* lines in the legend */ };

static const struct spectrometer_panel panels[] = {
    {{80, 100, 1490, 600, -0.4, 19.4, -6.1, 6.1},
     VIEW_WHOLE,
     SPECTROMETER_X,
     3,
     2,
     2,
     "whole-x",
     "z (m)",
     "from above: the plane in which the magnet bends"},
    {{80, 780, 1490, 530, -0.4, 19.4, -5.3, 5.3},
     VIEW_WHOLE,
     SPECTROMETER_Y,
     3,
     2,
     2,
     "whole-y",
     "z (m)",
     "from the side"},
    {{80, 1790, 1490, 620, -0.3, 2.72, -0.32, 0.32},
     VIEW_TO_UT,
     SPECTROMETER_X,
     8,
     0.2,
     0.1,
     "to-ut",
     "z (m)",
     "VELO and UT, from above"},
    {{80, 2494, 440, 640, 2.28, 2.69, -0.88, 0.88},
     VIEW_UT,
     SPECTROMETER_X,
     8,
     0.1,
     0.2,
     "ut",
     "z (m)",
     "UT, from above"},
    {{620, 2494, 950, 640, 7.78, 9.46, -3.25, 3.25},
     VIEW_SCIFI,
     SPECTROMETER_X,
     7,
     0.2,
     0.5,
     "scifi",
     "z (m)",
     "SciFi, from above"},
};
enum { LEGEND_TOP = 1400 };
static const double legend_lefts[] = {80, 430, 890, 1240};

/* ------------------------------------------------------------------------------------------------ entries */

static void add_sample(struct legend *l, const char *class_name, const char *of_kind) {
  svg_add(l->svg, "<g class='%s'><path class='%s' d='M", of_kind, class_name);
  svg_add_point(l->svg, (struct svg_point){l->left, l->baseline - 6});
  svg_add(l->svg, "h%d'/></g>\n", LEGEND_SAMPLE);
}

static void add_kind(const struct spectrometer *p, struct legend *l, enum spectrometer_kind kind) {
  add_sample(l, "", spectrometer_kind_names[kind].class_name);
  legend_add_entry(l, spectrometer_kind_names[kind].text, p->kinds[kind].drawn);
}

/* ------------------------------------------------------------------------------------------------ found tracks */

static void draw_found_legend(const struct spectrometer *p, struct legend *l) {
  uint32_t muons = 0, ghosts = 0, hidden = 0;
  legend_add_head(l, "Found tracks");
  for (enum spectrometer_kind kind = SPECTROMETER_FOUND_VELO; kind < SPECTROMETER_KINDS; kind++) {
    if (!p->kinds[kind].is_read) continue;
    add_kind(p, l, kind);
    muons += p->kinds[kind].drawn_muons;
    ghosts += p->kinds[kind].drawn_ghosts;
    if (kind != SPECTROMETER_FOUND_VELO) hidden += p->kinds[kind].hidden;
  }
  legend_add_note(l, "a track that continues is");
  legend_add_note(l, "drawn once, as the longest");
  if (p->kinds[SPECTROMETER_FOUND_LONG].is_read) {
    add_sample(l, "muon", "long");
    legend_add_entry(l, "identified as muons", muons);
  }
  if (p->shows_truth && p->has_truth) {
    add_sample(l, "ghost", "long");
    legend_add_entry(l, "ghosts, of all colours", ghosts);
  }
  if (p->min_p_mev <= 0) return;
  legend_add_note(l, "hidden, below %" PRIu32 " MeV: %" PRIu32, p->min_p_mev, hidden);
  legend_add_note(l, "hidden, VELO, no momentum: %" PRIu32, p->kinds[SPECTROMETER_FOUND_VELO].hidden);
}

/* ------------------------------------------------------------------------------------------------ lines */

static void add_line_note(struct legend *l, const struct spectrometer_line *line) {
  if (line->is_known)
    legend_add_note(l, "%s: %" PRIu32 " %s", line->name, line->candidates,
                    sl_plural(line->candidates, "candidate", "candidates"));
  else
    legend_add_note(l, "%s: no tracks to highlight", line->name);
}

static void draw_line_legend(const struct spectrometer *p, struct legend *l) {
  uint64_t tracks = 0;
  for (uint64_t i = 0; i < p->track_count; i++) tracks += p->tracks[i].lines > 0;
  legend_add_head(l, "Lines that passed");
  add_sample(l, "", "candidate");
  legend_add_entry(l, "tracks of candidates", tracks);
  spectrometer_draw_candidate_vertex(l->svg, (struct svg_point){l->left + 0.5 * LEGEND_SAMPLE, l->baseline - 6}, 8);
  legend_add_entry(l, "vertices of candidates", p->vertex_count);
  for (uint64_t i = 0; i < p->line_count && i < LINES_MAX; i++) add_line_note(l, &p->lines[i]);
  if (p->line_count > LINES_MAX) legend_add_note(l, "and %" PRIu64 " more lines", p->line_count - LINES_MAX);
  if (p->line_count > 0) return;
  if (p->selected_line)
    legend_add_note(l, "%s did not pass", p->selected_line);
  else
    legend_add_note(l, "no line passed");
}

/* ------------------------------------------------------------------------------------------------ hits */

static void draw_hit_legend(const struct spectrometer *p, struct legend *l) {
  struct svg_pen pen = svg_pen_start(l->svg);
  const double left = l->left + 6, step = 14;
  legend_add_head(l, "Hits");
  if (p->hits[SPECTROMETER_VELO].is_read) {
    svg_add(l->svg, "<path class='dots' d='");
    for (int i = 0; i < 3; i++) svg_pen_dot(&pen, (struct svg_point){left + step * i, l->baseline - 6});
    svg_add(l->svg, "'/>\n");
    legend_add_entry(l, "VELO", p->hits[SPECTROMETER_VELO].count);
  }
  for (uint32_t d = SPECTROMETER_UT; d <= SPECTROMETER_SCIFI; d++) {
    if (!p->hits[d].is_read) continue;
    svg_add(l->svg, "<path class='ticks' d='M");
    svg_add_point(l->svg, (struct svg_point){left + step - 7, l->baseline - 10});
    svg_add(l->svg, "h14m-14,4h14m-14,4h14'/>\n");
    legend_add_entry(l, d == SPECTROMETER_UT ? "UT, x layers" : "SciFi, x layers", p->hits[d].count);
    if (d == SPECTROMETER_SCIFI) legend_add_note(l, "from above only");
  }
  if (p->hits[SPECTROMETER_MUON].is_read) {
    const uint32_t *on_axis = p->hits[SPECTROMETER_MUON].on_axis;
    svg_add(l->svg, "<path class='pads' d='M");
    svg_add_point(l->svg, (struct svg_point){left + step, l->baseline - 14});
    svg_add(l->svg, "v10m5,-4v10'/>\n");
    legend_add_entry(l, "muon chambers", p->hits[SPECTROMETER_MUON].count);
    legend_add_note(l, "fine in x: %" PRIu32 ", in y: %" PRIu32, on_axis[SPECTROMETER_X], on_axis[SPECTROMETER_Y]);
  }
  if (!p->has_energy) return;
  svg_add(l->svg, "<rect class='energy'");
  svg_add_attribute(l->svg, "x", l->left);
  svg_add_attribute(l->svg, "y", l->baseline - 12);
  svg_add(l->svg, " width='%d' height='10'/>\n", LEGEND_SAMPLE);
  svg_begin_text(l->svg, l->left + LEGEND_SAMPLE + 14, l->baseline, "");
  svg_add(l->svg, "ECAL, longest: ");
  svg_add_number(l->svg, spectrometer_largest_energy(p) / 1000);
  svg_add(l->svg, " GeV");
  svg_end_text(l->svg);
  l->baseline += LEGEND_STEP;
  legend_add_note(l, "energy in strips of 12 cm");
}

/* ------------------------------------------------------------------------------------------------ truth */

static void draw_true_legend(const struct spectrometer *p, struct legend *l) {
  uint32_t hidden = 0;
  legend_add_head(l, "True tracks");
  for (enum spectrometer_kind kind = SPECTROMETER_FOUND_VELO; kind-- > 0;) {
    add_kind(p, l, kind);
    hidden += p->kinds[kind].hidden;
  }
  legend_add_note(l, "through their hits; muons bold");
  if (p->min_p_mev > 0) legend_add_note(l, "hidden, below %" PRIu32 " MeV: %" PRIu32, p->min_p_mev, hidden);
  l->baseline += 0.5 * LEGEND_STEP;
}

/* ------------------------------------------------------------------------------------------------ the page */

static void draw_subtitle(const struct spectrometer *p, struct svg *s) {
  svg_begin_text(s, PAGE_MARGIN, PAGE_SUBTITLE, "");
  svg_add(s, "Found tracks by kind. Dotted: tracks extrapolated to the calorimeter.");
  if (p->shows_truth) svg_add(s, p->has_truth ? " Grey: true tracks." : " The event has no Monte-Carlo truth.");
  svg_end_text(s);
}

static void draw_legend(const struct spectrometer *p, const struct picture *vertices, struct svg *s) {
  struct legend columns[] = {{s, legend_lefts[0], LEGEND_TOP},
                             {s, legend_lefts[1], LEGEND_TOP},
                             {s, legend_lefts[2], LEGEND_TOP},
                             {s, legend_lefts[3], LEGEND_TOP}};
  draw_found_legend(p, &columns[0]);
  if (p->has_lines) draw_line_legend(p, &columns[1]);
  draw_hit_legend(p, &columns[2]);
  if (p->shows_truth && p->has_truth) draw_true_legend(p, &columns[3]);
  if (vertices->has_true_vertices || vertices->has_found_vertices)
    picture_draw_vertex_legend(vertices, &columns[3], NULL);
}

void spectrometer_draw(const struct spectrometer *p, const struct picture *vertices, struct svg *s) {
  const struct page page = {"Spectrometer", p->run, p->number, PAGE_WIDTH, PAGE_HEIGHT};
  page_begin(s, &page);
  svg_add(s, "%s%s</style>\n", spectrometer_style, picture_vertex_style);
  draw_subtitle(p, s);
  for (size_t i = 0; i < sizeof panels / sizeof panels[0]; i++) spectrometer_draw_panel(p, vertices, s, &panels[i]);
  draw_legend(p, vertices, s);
  svg_add(s, "</svg>\n");
}
