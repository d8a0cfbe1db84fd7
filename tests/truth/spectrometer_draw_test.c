/* spectrometer_draw_test.c: candidates of lines, and the page of the spectrometer. */
#include "pictures/spectrometer_lines.h"
#include "spectrometer_case.h"

#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------ lines */

/* Four lines over the two long tracks of a struct long_case: of particles, of pairs, of neither, and one that does not
 * pass. Two nodes make pairs. */
enum { LINES = 4, PAIR_NODES = 2, PARTICLES_MADE = 11, PAIRS_MADE = 12, OTHER_PAIRS_MADE = 13 };
struct lines_case {
  struct line_decisions_view lines[LINES];
  struct secondary_vertices_view pairs[PAIR_NODES];
  struct particles_view particles;
};

static struct spectrometer_selections selections(struct lines_case *c, const uint32_t *second) {
  static const char *const names[LINES] = {"one_track", "two_tracks", "photons", "other"};
  static const uint32_t offsets[2] = {0, 2}, pair_offsets[2] = {0, 1}, none[2] = {0, 0}, first[1] = {0};
  static const uint64_t made[] = {PARTICLES_MADE, PAIRS_MADE, 0, PARTICLES_MADE, OTHER_PAIRS_MADE};
  static const uint8_t passed[LINES][1] = {
      {LINE_PASSED | LINE_BEFORE_SCALE}, {LINE_PASSED}, {LINE_PASSED}, {LINE_BEFORE_SCALE}};
  static const uint8_t accepted[LINES][2] = {{0, 1}, {1}, {0}, {1, 1}};
  static const uint32_t *const item_offsets[LINES] = {offsets, pair_offsets, none, offsets};
  static const float x[1] = {1.5f}, y[1] = {-2.5f}, z[1] = {120};
  for (uint32_t k = 0; k < LINES; k++)
    c->lines[k] = (struct line_decisions_view){
        .offsets = item_offsets[k], .made_by = &made[k], .passed = passed[k], .accepted = accepted[k]};
  for (uint32_t v = 0; v < PAIR_NODES; v++)
    c->pairs[v] = (struct secondary_vertices_view){.offsets = pair_offsets,
                                                   .made_by = v == 0 ? &made[4] : &made[1],
                                                   .first = first,
                                                   .second = second,
                                                   .x = x,
                                                   .y = y,
                                                   .z = z};
  c->particles = (struct particles_view){.offsets = offsets, .made_by = &made[0]};
  return (struct spectrometer_selections){.lines = {.at = c->lines, .names = names, .count = LINES},
                                          .vertices = {.at = c->pairs, .names = names, .count = PAIR_NODES},
                                          .particles = {.at = &c->particles, .names = names, .count = 1},
                                          .line = ""};
}

/* Draws the long tracks with the lines; only those of candidates have a momentum above the minimum. */
static void draw_lines(const char *line, uint32_t min_p_mev) {
  static const uint32_t second[1] = {1};
  const char *wrong = NULL;
  struct long_case c;
  struct lines_case l;
  const struct spectrometer_inputs in = long_inputs(&c);
  struct spectrometer_selections of = selections(&l, second);
  of.line = line;
  spectrometer_clear(&p);
  p.min_p_mev = min_p_mev;
  add_hits(bent, 4, IDS);
  assert_int_equal(spectrometer_take_lines(&p, &of, 0, 2, &wrong), 0);
  assert_int_equal(spectrometer_take_tracks(&p, &in, 0, NULL), 0);
  svg.count = 0;
  spectrometer_draw(&p, &no_vertices, &svg);
}

static void tracks_of_candidates_are_highlighted_and_their_lines_named(void **state) {
  (void)state;
  draw_lines("", 0);
  assert_int_equal(p.line_count, 3);
  assert_true(p.tracks[0].lines == 1 && p.tracks[0].first_line == 1); /* of the pair */
  assert_true(p.tracks[1].lines == 2 && p.tracks[1].first_line == 0);
  assert_true(p.vertex_count == 1 && p.vertices[0].x == 1.5f && p.vertices[0].y == -2.5f && p.vertices[0].z == 120);
  assert_int_equal(count_of("tracks of candidates: 2<"), 1);
  assert_int_equal(count_of("vertices of candidates: 1<"), 1);
  assert_int_equal(count_of("one_track: 1 candidate<"), 1);
  assert_int_equal(count_of("two_tracks: 1 candidate<"), 1);
  assert_int_equal(count_of("photons: no tracks to highlight<"), 1);
  assert_int_equal(count_of("other"), 0); /* only before its scale */
  assert_int_equal(panels_with("<g class='candidate'", ""), PANELS);
  assert_int_equal(count_of("<circle class='decay'"), 3 + 1); /* in panels with vertices, and in the legend */
  assert_int_equal(count_of("long track, 5 GeV, candidate of one_track and 1 more</title>"), PANELS);
  assert_int_equal(count_of("long track, 5 GeV, candidate of two_tracks</title>"), PANELS);
  svg_free(&svg);
}

static void one_line_can_be_selected(void **state) {
  (void)state;
  draw_lines("two_tracks", 0);
  assert_true(p.line_count == 1 && p.tracks[0].lines == 1 && p.tracks[1].lines == 1);
  draw_lines("one_track", 0);
  assert_true(p.line_count == 1 && p.tracks[0].lines == 0 && p.tracks[1].lines == 1 && p.vertex_count == 0);
  assert_int_equal(count_of("two_tracks"), 0);
  draw_lines("other", 0);
  assert_int_equal(p.line_count, 0);
  assert_int_equal(count_of("other did not pass<"), 1);
  assert_int_equal(count_of("<g class='candidate'><path"), 1); /* in the legend only */
  assert_int_equal(count_of("<g class='candidate'>\n"), 0);
  svg_free(&svg);
}

static void candidates_are_drawn_whatever_their_momentum(void **state) {
  (void)state;
  draw_lines("one_track", 6000);
  assert_int_equal(p.track_count, 1);
  assert_true(p.tracks[0].lines == 1 && p.kinds[SPECTROMETER_FOUND_LONG].hidden == 1);
  svg_free(&svg);
}

static void candidates_of_other_tracks_are_refused(void **state) {
  (void)state;
  static const uint32_t second[1] = {2};
  const char *wrong = NULL;
  struct lines_case l;
  const struct spectrometer_selections of = selections(&l, second);
  assert_int_equal(spectrometer_take_lines(&p, &of, 0, 2, &wrong), SL_EINVAL);
  assert_string_equal(wrong, "two_tracks");
  spectrometer_clear(&p);
  assert_int_equal(spectrometer_take_lines(&p, &of, 0, 1, &wrong), SL_EINVAL);
  assert_string_equal(wrong, "one_track");
}

static void more_lines_than_the_legend_has_room_for_are_counted(void **state) {
  (void)state;
  enum { MANY = 11 };
  static const char *const names[MANY] = {"l0", "l1", "l2", "l3", "l4", "l5", "l6", "l7", "l8", "l9", "l10"};
  static const uint32_t none[2] = {0, 0};
  static const uint64_t made = 0;
  static const uint8_t passed[1] = {LINE_PASSED};
  struct line_decisions_view lines[MANY];
  const char *wrong = NULL;
  for (int k = 0; k < MANY; k++)
    lines[k] = (struct line_decisions_view){.offsets = none, .made_by = &made, .passed = passed};
  const struct spectrometer_selections of = {.lines = {.at = lines, .names = names, .count = MANY}, .line = ""};
  assert_int_equal(spectrometer_take_lines(&p, &of, 0, 0, &wrong), 0);
  svg.count = 0;
  spectrometer_draw(&p, &no_vertices, &svg);
  assert_int_equal(count_of(": no tracks to highlight<"), 9);
  assert_int_equal(count_of("and 2 more lines<"), 1);
  svg_free(&svg);
}

/* ------------------------------------------------------------------------------------------------ the page */

static void the_page_shows_the_inputs_and_no_nan(void **state) {
  (void)state;
  add_hits(bent, 0, IDS);
  make_track(bent, (struct mc_particle){.flags = MC_IS_LONG, .z = 50, .eta = 3, .pdg = 13, .p = 5300});
  p.has_truth = p.shows_truth = 1;
  p.hits[SPECTROMETER_SCIFI].is_read = 1;
  p.tracks[0].exit_slope[SPECTROMETER_X] = NAN;
  svg.count = 0;
  spectrometer_draw(&p, &no_vertices, &svg);
  assert_false(svg.failed);
  assert_int_equal(count_of("nan"), 0);
  assert_int_equal(count_of("<title>true: μ⁻ 5.3 GeV, η 3, long: VELO and SciFi</title>"), 3); /* not if enlarged */
  assert_int_equal(count_of("<path class='muon' d='m"), PANELS);
  assert_int_equal(count_of("SciFi, x layers: 6<"), 1);
  assert_int_equal(count_of("UT, x layers"), 0); /* its banks are not connected */
  assert_int_equal(count_of("ECAL, longest"), 0);
  assert_int_equal(count_of("Lines that passed"), 0);
  assert_int_equal(count_of(">y (m)<"), 1);
  p.has_truth = 0;
  p.has_energy = 1;
  svg.count = 0;
  spectrometer_draw(&p, &no_vertices, &svg);
  assert_int_equal(count_of("has no Monte-Carlo truth"), 1);
  assert_int_equal(count_of("ECAL, longest: 0 GeV"), 1);
  svg_free(&svg);
}

static void true_tracks_are_drawn_on_demand(void **state) {
  (void)state;
  for (uint32_t shown = 0; shown < 2; shown++) {
    spectrometer_clear(&p);
    add_hits(bent, 0, IDS);
    make_track(bent, (struct mc_particle){.flags = MC_IS_LONG, .z = 50, .eta = 3, .pdg = 13, .p = 5300});
    p.has_truth = 1;
    p.shows_truth = shown;
    svg.count = 0;
    spectrometer_draw(&p, &no_vertices, &svg);
    assert_int_equal(panels_with("<g class='true-long'", " class='muon'"), shown ? PANELS : 0);
    assert_int_equal(count_of("True tracks"), shown);
    assert_int_equal(count_of("long: VELO and SciFi: 1<"), shown);
    assert_int_equal(count_of("Monte-Carlo"), 0);
  }
  svg_free(&svg);
}

/* In both views of the whole spectrometer and in the panel from the VELO to the UT. */
static void vertices_are_marked_and_counted(void **state) {
  (void)state;
  struct picture vertices = {.has_true_vertices = 1, .has_found_vertices = 1};
  for (uint32_t kind = 0; kind < PICTURE_VERTEX_KINDS; kind++)
    assert_true(picture_add_vertex(&vertices, &(struct picture_vertex){{0, 0, (float)kind}, kind, 5}));
  for (uint32_t has_true = 0; has_true < 2; has_true++) {
    vertices.has_true_vertices = has_true;
    spectrometer_clear(&p);
    svg.count = 0;
    spectrometer_draw(&p, &vertices, &svg);
    const int marks = has_true ? 3 + 1 : 0; /* and in the legend */
    assert_int_equal(count_of("<path class='vertex'"), marks);
    assert_int_equal(count_of("<path class='few'"), marks);
    assert_int_equal(count_of("<path class='reconstructed'"), 3 + 1);
    assert_int_equal(count_of("true, 4 tracks or more: 1<"), has_true);
    assert_int_equal(count_of("reconstructed: 1<"), 1);
  }
  picture_free(&vertices);
  svg_free(&svg);
}

/* INT32_MIN, from a damaged bank, has no positive counterpart. */
static void an_unnamed_particle_has_its_pdg_id(void **state) {
  (void)state;
  add_hits(bent, 0, IDS);
  make_track(bent, (struct mc_particle){.flags = MC_IS_LONG, .z = 50, .eta = 3, .pdg = INT32_MIN, .p = 5300});
  p.has_truth = p.shows_truth = 1;
  svg.count = 0;
  spectrometer_draw(&p, &no_vertices, &svg);
  assert_int_equal(count_of("<title>true: PDG -2147483648 5.3 GeV"), 3);
  svg_free(&svg);
}

/* A VELO-UT track is in the panels before the magnet and in both views of the whole spectrometer; a VELO track is in
 * the panel of the UT neither. */
static void each_kind_of_found_tracks_has_a_group_and_a_count(void **state) {
  (void)state;
  is_ghost_with(1);
  svg.count = 0;
  spectrometer_draw(&p, &no_vertices, &svg);
  assert_int_equal(count_of("VELO: 1<"), 1);
  assert_int_equal(count_of("VELO-UT: 1<"), 1);
  assert_int_equal(panels_with("<g class='velo'", ""), 3);
  assert_int_equal(panels_with("<g class='velo-ut'", ""), 4);
  assert_int_equal(count_of("<title>VELO track</title>"), 1);
  assert_int_equal(count_of("<title>VELO-UT track, 4 GeV</title>"), 3);
  p.shows_truth = 1;
  svg.count = 0;
  spectrometer_draw(&p, &no_vertices, &svg);
  assert_int_equal(count_of("<title>VELO-UT track, 4 GeV, ghost</title>"), 3);
  svg_free(&svg);
}

int main(void) {
#define CASE(name) cmocka_unit_test_teardown(name, stop)
  const struct CMUnitTest tests[] = {
      CASE(tracks_of_candidates_are_highlighted_and_their_lines_named),
      CASE(one_line_can_be_selected),
      CASE(candidates_are_drawn_whatever_their_momentum),
      CASE(candidates_of_other_tracks_are_refused),
      CASE(more_lines_than_the_legend_has_room_for_are_counted),
      CASE(the_page_shows_the_inputs_and_no_nan),
      CASE(true_tracks_are_drawn_on_demand),
      CASE(vertices_are_marked_and_counted),
      CASE(an_unnamed_particle_has_its_pdg_id),
      CASE(each_kind_of_found_tracks_has_a_group_and_a_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
