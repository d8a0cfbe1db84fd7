/* spectrometer_test.c: true and found tracks through hand-made hits, and the page with them. */
#include "pictures/spectrometer_found.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct spectrometer p;
static const struct picture no_vertices;
static struct svg svg;

static int count_of(const char *text) {
  int count = 0;
  for (const char *at = svg.text; (at = strstr(at, text)); at++) count++;
  return count;
}

/* Number of panels with lines in a group that begins with this text. */
static int panels_with(const char *group) {
  static const char line[] = ">\n<path d='m";
  int count = 0;
  for (const char *at = svg.text; (at = strstr(at, group)); at++)
    count += strncmp(strchr(at, '>'), line, sizeof line - 1) == 0;
  return count;
}

static int stop(void **state) {
  (void)state;
  spectrometer_free(&p);
  return 0;
}

/* ------------------------------------------------------------------------------------------------ tracks */

enum { IDS = 10 };
static const uint32_t ids[IDS] = {0x20000001, 0x20000002, 0x30400001, 0x304c0001, 0x50040001,
                                  0x50070001, 0x50080001, 0x500b0001, 0x500c0001, 0x500f0001};
static const float hit_z[IDS] = {400, 600, 2330, 2640, 7826, 8036, 8508, 8718, 9193, 9403};

static void add_hits(float (*x)(float z), uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++) {
    const struct spectrometer_hit hit = {.z = hit_z[i], .x = x(hit_z[i]), .id = ids[i]};
    assert_true(spectrometer_add_hit(&p,
                                     i < 2   ? SPECTROMETER_VELO
                                     : i < 4 ? SPECTROMETER_UT
                                             : SPECTROMETER_SCIFI,
                                     &hit));
  }
  spectrometer_sort_hits(&p);
}

/* Makes a particle with all these ids; those after `end` belong to no detector. */
static void make_track(float (*x)(float z), struct mc_particle particle) {
  uint32_t all[IDS];
  memcpy(all, ids, sizeof all);
  particle.velo = (struct mc_hits){0, 2};
  particle.ut = (struct mc_hits){2, 2};
  particle.scifi = (struct mc_hits){4, 6};
  particle.x = x(particle.z);
  const struct mc_event mc = {.particles = &particle, .particle_count = 1, .ids = all, .id_count = IDS};
  assert_true(spectrometer_add_tracks(&p, &mc, ~0u));
}

static float straight(float z) { return 0.1f * z + 3; }

/* In the magnet, from 2640 to 7826 mm, a parabola that changes the slope from 0.05 to -0.15. */
static float bent(float z) {
  const float begin = 2640, length = 7826 - begin;
  if (z < begin) return 0.05f * z;
  if (z > begin + length) return bent(begin + length) - 0.15f * (z - begin - length);
  return 0.05f * z - 0.1f * (z - begin) * (z - begin) / length;
}

static void assert_on(float (*x)(float z)) {
  const struct spectrometer_track *t = &p.tracks[0];
  for (uint32_t i = 0; i < t->point_count; i++) {
    const struct spectrometer_point *at = &p.points[t->first_point + i];
    assert_true(fabsf(at->x - x(at->z)) < 0.01f);
    assert_true(i == 0 || at->z > at[-1].z);
  }
}

static void a_track_goes_through_its_hits_and_bends_in_the_magnet(void **state) {
  (void)state;
  float (*const lines[])(float z) = {straight, bent};
  for (int i = 0; i < 2; i++) {
    spectrometer_clear(&p);
    add_hits(lines[i], 0, IDS);
    make_track(lines[i], (struct mc_particle){.flags = MC_IS_LONG, .z = 50, .eta = 3, .pdg = -13});
    assert_int_equal(p.track_count, 1);
    assert_int_equal(p.tracks[0].kind, SPECTROMETER_LONG);
    assert_true(p.muons == 1 && p.counts[SPECTROMETER_LONG] == 1);
    /* Origin, last VELO hit, two UT and six SciFi hits; eleven points in the magnet. */
    assert_int_equal(p.tracks[0].point_count, 10 + 11);
    assert_true(p.points[0].z == 50 && p.points[1].z == 600 && p.points[20].z == 9403);
    assert_on(lines[i]);
    assert_true(p.tracks[0].has_exit && fabsf(p.tracks[0].exit_slope - (i == 0 ? 0.1f : -0.15f)) < 1e-4f);
  }
}

/* From the true direction to a single hit after the magnet: the parabola through both. */
static void without_further_hits_the_curve_is_a_parabola(void **state) {
  (void)state;
  const float tx = 1 / sinhf(2.0f);
  add_hits(straight, 4, 5);
  make_track(straight, (struct mc_particle){.flags = MC_HAS_SCIFI, .z = 826, .eta = 2, .phi = 0});
  assert_int_equal(p.track_count, 1);
  assert_int_equal(p.tracks[0].kind, SPECTROMETER_SCIFI_ALONE);
  assert_false(p.tracks[0].has_exit);
  assert_int_equal(p.tracks[0].point_count, 2 + 11);
  const struct spectrometer_point *middle = &p.points[6];
  const float x0 = straight(826), x1 = straight(7826), bend = (x1 - x0 - tx * 7000) / (7000.0f * 7000.0f);
  assert_true(middle->z == 826 + 3500 && fabsf(middle->x - (x0 + tx * 3500 + bend * 3500 * 3500)) < 0.1f);
}

static void a_gap_within_the_scifi_is_straight(void **state) {
  (void)state;
  add_hits(bent, 0, 5);
  add_hits(bent, 8, IDS);
  make_track(bent, (struct mc_particle){.flags = MC_IS_LONG, .z = 50, .eta = 3});
  assert_int_equal(p.tracks[0].point_count, 4 + 11 + 3);
  assert_on(bent);
}

static void kinds_follow_from_the_flags(void **state) {
  (void)state;
  static const struct {
    uint32_t flags;
    enum spectrometer_kind kind;
  } cases[] = {{MC_IS_LONG | MC_IS_DOWN | MC_HAS_VELO | MC_HAS_UT | MC_HAS_SCIFI, SPECTROMETER_LONG},
               {MC_IS_LONG | MC_HAS_VELO | MC_HAS_SCIFI, SPECTROMETER_LONG},
               {MC_IS_DOWN | MC_HAS_UT | MC_HAS_SCIFI, SPECTROMETER_DOWNSTREAM},
               {MC_HAS_VELO | MC_HAS_UT, SPECTROMETER_UPSTREAM},
               {MC_HAS_SCIFI, SPECTROMETER_SCIFI_ALONE},
               {MC_HAS_VELO, SPECTROMETER_KINDS},
               {MC_HAS_UT, SPECTROMETER_KINDS}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    spectrometer_clear(&p);
    add_hits(straight, 0, IDS);
    make_track(straight, (struct mc_particle){.flags = cases[i].flags, .eta = 3});
    assert_int_equal(p.track_count, cases[i].kind != SPECTROMETER_KINDS);
    if (p.track_count) assert_int_equal(p.tracks[0].kind, cases[i].kind);
  }
}

static void a_particle_with_fewer_than_two_points_has_no_line(void **state) {
  (void)state;
  make_track(straight, (struct mc_particle){.flags = MC_IS_LONG, .z = 50, .eta = 3});
  assert_int_equal(p.track_count, 0);
  add_hits(straight, 2, 3);
  make_track(straight, (struct mc_particle){.flags = MC_IS_LONG, .z = 5000, .eta = 3}); /* starts after it */
  assert_int_equal(p.track_count, 0);
  make_track(straight, (struct mc_particle){.flags = MC_IS_LONG, .z = 50, .eta = 3});
  assert_int_equal(p.track_count, 1);
}

static void velo_ids_are_compared_in_the_bits_of_the_mask(void **state) {
  (void)state;
  uint32_t all[2] = {0x24000001, 0x50040001};
  struct mc_particle particle = {.flags = MC_IS_LONG, .velo = {0, 1}, .scifi = {1, 1}, .eta = 3};
  const struct mc_event mc = {.particles = &particle, .particle_count = 1, .ids = all, .id_count = 2};
  add_hits(straight, 0, 5);
  assert_true(spectrometer_add_tracks(&p, &mc, ~0u));
  assert_int_equal(p.track_count, 0); /* the SciFi hit only */
  assert_true(spectrometer_add_tracks(&p, &mc, ~(3u << 26)));
  assert_int_equal(p.track_count, 1);
}

/* ------------------------------------------------------------------------------------------------ found tracks */

/* Two VELO tracks of event 1 of two; the second one continues in the UT. Hits are sorted by descending z. */
static const uint32_t track_offsets[3] = {0, 1, 3}, velo_hit_offsets[4] = {0, 3, 6, 9};
static const uint32_t velo_ids[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
static const float velo_x[9] = {0, 0, 0, 0, 0, 0, 32, 22, 12}, velo_z[9] = {0, 0, 0, 0, 0, 0, 300, 200, 100};
static const float state_x[3] = {0, 0, 2.5f}, state_z[3] = {0, 0, 5}, state_tx[3] = {0, 0, 0.1f};
static const uint32_t ut_offsets[3] = {0, 0, 1}, ut_hit_offsets[2] = {0, 3}, ut_velo[1] = {1};
static const uint32_t ut_ids[3] = {0x30400001, 0x30440001, 0x304c0001};
static const float ut_qop[1] = {-1.0f / 4000}, ut_x[1] = {250}, ut_tx[1] = {0.12f};
static const struct spectrometer_inputs inputs = {
    .velo = {.offsets = track_offsets,
             .hit_offsets = velo_hit_offsets,
             .hit_id = velo_ids,
             .hit_x = velo_x,
             .hit_z = velo_z},
    .states = {.offsets = track_offsets, .x = state_x, .z = state_z, .tx = state_tx},
    .ut = {.offsets = ut_offsets,
           .hit_offsets = ut_hit_offsets,
           .velo_track = ut_velo,
           .qop = ut_qop,
           .x = ut_x,
           .tx = ut_tx,
           .hit_id = ut_ids}};

/* Kind of the found track for a particle with the track's VELO hits and `ut_hits` of its UT hits. */
static enum spectrometer_kind kind_with(uint32_t ut_hits) {
  uint32_t all[6] = {7, 8, 9};
  memcpy(all + 3, ut_ids, sizeof ut_ids);
  struct mc_particle particle = {.velo = {0, 3}, .ut = {3, ut_hits}, .pdg = 211};
  const struct mc_event mc = {.particles = &particle, .particle_count = 1, .ids = all, .id_count = 6};
  struct association association = {.match_count = 0};
  spectrometer_clear(&p);
  assert_int_equal(association_begin(&association, &mc, ~0u, MC_UT), 0);
  assert_int_equal(spectrometer_take_tracks(&p, &inputs, 1, &association), 0);
  association_free(&association);
  assert_int_equal(p.track_count, 1);
  return p.tracks[0].kind;
}

static void a_velo_ut_track_goes_to_the_end_of_the_ut(void **state) {
  (void)state;
  static const float z[4] = {5, 300, 2320, 2650};
  static const float x[4] = {2.5f, 32, 250 + 0.12f * (2320 - 2484.6f), 250 + 0.12f * (2650 - 2484.6f)};
  assert_int_equal(spectrometer_take_tracks(&p, &inputs, 0, NULL), 0);
  assert_true(p.track_count == 0 && p.found[SPECTROMETER_TO_UT].is_read);
  assert_int_equal(spectrometer_take_tracks(&p, &inputs, 1, NULL), 0);
  assert_int_equal(p.track_count, 1);
  assert_int_equal(p.tracks[0].kind, SPECTROMETER_UNJUDGED);
  assert_true(fabsf(p.tracks[0].p_mev - 4000) < 0.01f);
  assert_int_equal(p.tracks[0].point_count, 4);
  for (uint32_t i = 0; i < 4; i++) assert_true(p.points[i].z == z[i] && fabsf(p.points[i].x - x[i]) < 1e-3f);
}

static void a_found_track_that_matches_no_particle_is_a_ghost(void **state) {
  (void)state;
  assert_int_equal(kind_with(3), SPECTROMETER_MATCHED);
  assert_true(p.found[SPECTROMETER_TO_UT].tracks == 1 && p.found[SPECTROMETER_TO_UT].ghosts == 0);
  assert_int_equal(kind_with(2), SPECTROMETER_MATCHED);
  assert_int_equal(kind_with(1), SPECTROMETER_GHOST);
  assert_true(p.found[SPECTROMETER_TO_UT].tracks == 1 && p.found[SPECTROMETER_TO_UT].ghosts == 1);
  assert_true(p.true_tracks == 0 && p.counts[SPECTROMETER_GHOST] == 1);
}

/* One VELO track, bent, with two long tracks: one with the UT and SciFi hits, one with neither. */
struct long_case {
  uint32_t offsets[2], long_offsets[2], velo_hit_offsets[2], ut_hit_offsets[2], long_hit_offsets[3], velo_track[2],
      ut_track[2];
  float velo_x[2], velo_z[2], state_x[1], state_z[1], state_tx[1], ut_x[1], ut_tx[1], qop[2], x[2], tx[2];
};

static struct spectrometer_inputs long_inputs(struct long_case *c) {
  *c = (struct long_case){.offsets = {0, 1},
                          .long_offsets = {0, 2},
                          .velo_hit_offsets = {0, 2},
                          .ut_hit_offsets = {0, 2},
                          .long_hit_offsets = {0, 6, 6},
                          .ut_track = {0, FORWARD_NO_TRACK},
                          .velo_x = {bent(600), bent(400)},
                          .velo_z = {600, 400},
                          .state_x = {bent(50)},
                          .state_z = {50},
                          .state_tx = {0.05f},
                          .ut_x = {bent(UT_MIDDLE_Z)},
                          .ut_tx = {0.05f},
                          .qop = {1.0f / 5000, 1.0f / 5000},
                          .x = {bent(9410), bent(9410)},
                          .tx = {-0.15f, -0.15f}};
  return (struct spectrometer_inputs){
      .velo = {.offsets = c->offsets,
               .hit_offsets = c->velo_hit_offsets,
               .hit_id = ids,
               .hit_x = c->velo_x,
               .hit_z = c->velo_z},
      .states = {.offsets = c->offsets, .x = c->state_x, .z = c->state_z, .tx = c->state_tx},
      .ut = {.offsets = c->offsets,
             .hit_offsets = c->ut_hit_offsets,
             .velo_track = c->velo_track,
             .qop = c->qop,
             .x = c->ut_x,
             .tx = c->ut_tx,
             .hit_id = ids + 2},
      .longs = {.offsets = c->long_offsets,
                .hit_offsets = c->long_hit_offsets,
                .velo_track = c->velo_track,
                .ut_track = c->ut_track,
                .qop = c->qop,
                .x = c->x,
                .tx = c->tx,
                .hit_id = ids + 4}};
}

static void a_long_track_bends_in_the_magnet_and_goes_through_its_hits(void **state) {
  (void)state;
  static const uint32_t points[2] = {4 + 11 + 6 + 1, 2 + 11 + 2};
  struct long_case c;
  const struct spectrometer_inputs in = long_inputs(&c);
  add_hits(bent, 4, IDS);
  assert_int_equal(spectrometer_take_tracks(&p, &in, 0, NULL), 0);
  assert_int_equal(p.track_count, 3);
  assert_true(p.found[SPECTROMETER_TO_UT].tracks == 1 && p.found[SPECTROMETER_TO_SCIFI].tracks == 2);
  for (uint32_t k = 0; k < 2; k++) {
    const struct spectrometer_track *t = &p.tracks[1 + k];
    assert_true(t->end == SPECTROMETER_TO_SCIFI && t->kind == SPECTROMETER_UNJUDGED);
    assert_int_equal(t->point_count, points[k]);
    for (uint32_t i = 0; i < t->point_count; i++) {
      const struct spectrometer_point *at = &p.points[t->first_point + i];
      /* Without the UT the curve starts at the end of the VELO, and ends at the end of the track. */
      const int is_on_line = k == 0 || at->z <= 600 || at->z >= 7826;
      assert_true(!is_on_line || fabsf(at->x - bent(at->z)) < 0.5f);
      assert_true(i == 0 || at->z > at[-1].z);
    }
  }
}

static void a_muon_track_extends_to_the_last_chambers(void **state) {
  (void)state;
  static const uint8_t is_muon[2] = {0, 1};
  struct long_case c;
  struct spectrometer_inputs in = long_inputs(&c);
  in.is_muon = is_muon;
  add_hits(bent, 4, IDS);
  assert_int_equal(spectrometer_take_tracks(&p, &in, 0, NULL), 0);
  assert_int_equal(p.found[SPECTROMETER_TO_SCIFI].muons, 1);
  for (uint32_t k = 0; k < 2; k++) {
    const struct spectrometer_track *t = &p.tracks[1 + k];
    const struct spectrometer_point *last = &p.points[t->first_point + t->point_count - 1];
    const float z = is_muon[k] ? 19100 : 9410;
    assert_true(last->z == z && fabsf(last->x - (c.x[k] + c.tx[k] * (z - 9410))) < 1e-3f);
  }
}

static void a_long_track_that_matches_no_particle_is_a_ghost(void **state) {
  (void)state;
  uint32_t all[IDS];
  struct long_case c;
  struct spectrometer_inputs in = long_inputs(&c);
  in.ut.offsets = NULL;
  c.long_offsets[1] = 1;
  memcpy(all, ids, sizeof all);
  for (uint32_t scifi = 4; scifi <= 5; scifi++) {
    /* All VELO hits, and 4 or 5 of 6 SciFi hits: 7 of 10 are required. */
    struct mc_particle particle = {.velo = {0, 2}, .scifi = {4, scifi}};
    const struct mc_event mc = {.particles = &particle, .particle_count = 1, .ids = all, .id_count = IDS};
    struct association association = {.match_count = 0};
    spectrometer_clear(&p);
    assert_int_equal(association_begin(&association, &mc, ~0u, MC_SCIFI), 0);
    assert_int_equal(spectrometer_take_tracks(&p, &in, 0, &association), 0);
    association_free(&association);
    assert_int_equal(p.track_count, 1);
    assert_int_equal(p.tracks[0].kind, scifi == 5 ? SPECTROMETER_MATCHED : SPECTROMETER_GHOST);
    assert_int_equal(p.found[SPECTROMETER_TO_SCIFI].ghosts, scifi != 5);
    /* Its line is in the whole spectrometer and in the SciFi panel, not in the UT panel. */
    p.has_truth = 1;
    svg.count = 0;
    spectrometer_draw(&p, &no_vertices, &svg);
    assert_int_equal(count_of(scifi == 5 ? "long, matched: 1<" : "long, ghosts: 1<"), 1);
    assert_int_equal(panels_with(scifi == 5 ? "<g class='matched'" : "<g class='ghost'"), 2);
    assert_int_equal(count_of("VELO-UT, matched"), 0);
  }
  svg_free(&svg);
}

/* ------------------------------------------------------------------------------------------------ the page */

static void the_page_shows_the_inputs_and_no_nan(void **state) {
  (void)state;
  add_hits(bent, 0, IDS);
  make_track(bent, (struct mc_particle){.flags = MC_IS_LONG, .z = 50, .eta = 3, .pdg = 13, .p = 5300});
  p.has_truth = 1;
  p.hits[SPECTROMETER_SCIFI].is_read = 1;
  p.tracks[0].exit_slope = NAN;
  svg.count = 0;
  spectrometer_draw(&p, &no_vertices, &svg);
  assert_false(svg.failed);
  assert_int_equal(count_of("nan"), 0);
  assert_int_equal(count_of("<title>μ⁻ 5.3 GeV, η 3, long: VELO and SciFi</title>"), 1);
  assert_int_equal(count_of("<path class='muon' d='m"), 3); /* in each panel */
  assert_int_equal(count_of("SciFi, x layers: 6<"), 1);
  assert_int_equal(count_of("UT, x layers"), 0); /* its banks are not connected */
  assert_int_equal(count_of("ECAL, longest"), 0);
  assert_int_equal(count_of("true tracks through their hits: 1."), 1);
  p.has_truth = 0;
  p.has_energy = 1;
  svg.count = 0;
  spectrometer_draw(&p, &no_vertices, &svg);
  assert_int_equal(count_of("has no Monte-Carlo truth"), 1);
  assert_int_equal(count_of("ECAL, longest: 0 GeV"), 1);
  svg_free(&svg);
}

/* In the whole spectrometer and in the panel from the VELO to the UT, which is drawn for them. */
static void vertices_are_marked_and_counted(void **state) {
  (void)state;
  struct picture vertices = {.has_true_vertices = 1, .has_found_vertices = 1};
  for (uint32_t kind = 0; kind < PICTURE_VERTEX_KINDS; kind++)
    assert_true(picture_add_vertex(&vertices, &(struct picture_vertex){{0, 0, (float)kind}, kind, 5}));
  spectrometer_clear(&p);
  svg.count = 0;
  spectrometer_draw(&p, &vertices, &svg);
  assert_int_equal(count_of("<path class='vertex'"), 3);        /* and in the legend */
  assert_int_equal(count_of("<path class='few'"), 3);           /* and in the legend */
  assert_int_equal(count_of("<path class='reconstructed'"), 3); /* and in the legend */
  assert_int_equal(count_of("true, 4 tracks or more: 1<"), 1);
  assert_int_equal(count_of("reconstructed: 1<"), 1);
  picture_free(&vertices);
  svg_free(&svg);
}

/* INT32_MIN, from a damaged bank, has no positive counterpart. */
static void an_unnamed_particle_has_its_pdg_id(void **state) {
  (void)state;
  add_hits(bent, 0, IDS);
  make_track(bent, (struct mc_particle){.flags = MC_IS_LONG, .z = 50, .eta = 3, .pdg = INT32_MIN, .p = 5300});
  p.has_truth = 1;
  svg.count = 0;
  spectrometer_draw(&p, &no_vertices, &svg);
  assert_int_equal(count_of("<title>PDG -2147483648 5.3 GeV"), 1);
  svg_free(&svg);
}

/* Bands below the true tracks and ghosts above them, in the panels from the VELO to the UT and of the UT. */
static void found_tracks_are_visible_and_counted(void **state) {
  (void)state;
  static const struct {
    uint32_t ut_hits;
    const char *entry, *tooltip;
  } cases[] = {{3, "VELO-UT, matched: 1<", "<title>VELO-UT track: found, 4 GeV</title>"},
               {1, "VELO-UT, ghosts: 1<", "<title>VELO-UT track: ghost, 4 GeV</title>"}};
  for (int i = 0; i < 2; i++) {
    kind_with(cases[i].ut_hits);
    p.has_truth = 1;
    svg.count = 0;
    spectrometer_draw(&p, &no_vertices, &svg);
    assert_int_equal(count_of(cases[i].entry), 1);
    assert_int_equal(count_of(cases[i].tooltip), 1);
    assert_int_equal(panels_with(i == 0 ? "<g class='matched'" : "<g class='ghost'"), 2);
    const char *band = strstr(svg.text, "<g class='matched'"), *ghost = strstr(svg.text, "<g class='ghost'");
    const char *true_one = strstr(svg.text, "<g class='long'");
    assert_true(band && ghost && true_one && band < true_one && true_one < ghost);
  }
  spectrometer_clear(&p);
  assert_int_equal(spectrometer_take_tracks(&p, &inputs, 1, NULL), 0);
  svg.count = 0;
  spectrometer_draw(&p, &no_vertices, &svg);
  assert_int_equal(count_of("VELO-UT: 1<"), 1);
  assert_int_equal(panels_with("<g class='unjudged'"), 2);
  svg_free(&svg);
}

int main(void) {
#define CASE(name) cmocka_unit_test_teardown(name, stop)
  const struct CMUnitTest tests[] = {
      CASE(a_track_goes_through_its_hits_and_bends_in_the_magnet),
      CASE(without_further_hits_the_curve_is_a_parabola),
      CASE(a_gap_within_the_scifi_is_straight),
      CASE(kinds_follow_from_the_flags),
      CASE(a_particle_with_fewer_than_two_points_has_no_line),
      CASE(velo_ids_are_compared_in_the_bits_of_the_mask),
      CASE(a_velo_ut_track_goes_to_the_end_of_the_ut),
      CASE(a_found_track_that_matches_no_particle_is_a_ghost),
      CASE(a_long_track_bends_in_the_magnet_and_goes_through_its_hits),
      CASE(a_muon_track_extends_to_the_last_chambers),
      CASE(a_long_track_that_matches_no_particle_is_a_ghost),
      CASE(the_page_shows_the_inputs_and_no_nan),
      CASE(vertices_are_marked_and_counted),
      CASE(an_unnamed_particle_has_its_pdg_id),
      CASE(found_tracks_are_visible_and_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
