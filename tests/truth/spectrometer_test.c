/* spectrometer_test.c: true and found tracks through hand-made hits, and what the page shows of them. */
#include "spectrometer_case.h"

#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------ tracks */

static void assert_on(float (*x)(float z)) {
  const struct spectrometer_track *t = &p.tracks[0];
  for (uint32_t i = 0; i < t->point_count; i++) {
    const struct spectrometer_point *at = &p.points[t->first_point + i];
    assert_true(fabsf(at->at[SPECTROMETER_X] - x(at->z)) < 0.01f);
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
    assert_int_equal(p.tracks[0].kind, SPECTROMETER_TRUE_LONG);
    assert_true(p.kinds[SPECTROMETER_TRUE_LONG].muons == 1 && p.kinds[SPECTROMETER_TRUE_LONG].drawn == 1);
    /* Origin, last VELO hit, two UT and six SciFi hits; eleven points in the magnet. */
    assert_int_equal(p.tracks[0].point_count, 10 + 11);
    assert_true(p.points[0].z == 50 && p.points[1].z == 600 && p.points[20].z == 9403);
    assert_on(lines[i]);
    assert_true(p.tracks[0].has_exit &&
                fabsf(p.tracks[0].exit_slope[SPECTROMETER_X] - (i == 0 ? 0.1f : -0.15f)) < 1e-4f);
  }
}

/* From its origin with the slope of its momentum: phi = pi / 2, dy/dz = 1 / sinh(eta). */
static void a_true_track_is_straight_in_y(void **state) {
  (void)state;
  const float half_pi = 1.5707964f, ty = 1 / sinhf(3.0f);
  add_hits(bent, 0, IDS);
  make_track(bent, (struct mc_particle){.flags = MC_IS_LONG, .y = -2, .z = 50, .eta = 3, .phi = half_pi});
  assert_int_equal(p.tracks[0].point_count, 10 + 11);
  for (uint32_t i = 0; i < p.tracks[0].point_count; i++)
    assert_true(fabsf(p.points[i].at[SPECTROMETER_Y] - (-2 + ty * (p.points[i].z - 50))) < 0.05f);
  assert_true(fabsf(p.tracks[0].exit_slope[SPECTROMETER_Y] - ty) < 1e-4f);
}

/* From the true direction to a single hit after the magnet: the parabola through both. */
static void without_further_hits_the_curve_is_a_parabola(void **state) {
  (void)state;
  const float tx = 1 / sinhf(2.0f);
  add_hits(straight, 4, 5);
  make_track(straight, (struct mc_particle){.flags = MC_HAS_SCIFI, .z = 826, .eta = 2, .phi = 0});
  assert_int_equal(p.track_count, 1);
  assert_int_equal(p.tracks[0].kind, SPECTROMETER_TRUE_SCIFI);
  assert_false(p.tracks[0].has_exit);
  assert_int_equal(p.tracks[0].point_count, 2 + 11);
  const struct spectrometer_point *middle = &p.points[6];
  const float x0 = straight(826), x1 = straight(7826), bend = (x1 - x0 - tx * 7000) / (7000.0f * 7000.0f);
  assert_true(middle->z == 826 + 3500 &&
              fabsf(middle->at[SPECTROMETER_X] - (x0 + tx * 3500 + bend * 3500 * 3500)) < 0.1f);
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
  } cases[] = {{MC_IS_LONG | MC_IS_DOWN | MC_HAS_VELO | MC_HAS_UT | MC_HAS_SCIFI, SPECTROMETER_TRUE_LONG},
               {MC_IS_LONG | MC_HAS_VELO | MC_HAS_SCIFI, SPECTROMETER_TRUE_LONG},
               {MC_IS_DOWN | MC_HAS_UT | MC_HAS_SCIFI, SPECTROMETER_TRUE_DOWNSTREAM},
               {MC_HAS_VELO | MC_HAS_UT, SPECTROMETER_TRUE_UPSTREAM},
               {MC_HAS_SCIFI, SPECTROMETER_TRUE_SCIFI},
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

static void a_velo_ut_track_goes_to_the_end_of_the_ut(void **state) {
  (void)state;
  static const float z[4] = {5, 300, 2320, 2650};
  static const float x[4] = {2.5f, 32, 250 + 0.12f * (2320 - 2484.6f), 250 + 0.12f * (2650 - 2484.6f)};
  static const float y[4] = {0.1f, 6, 0.1f + 0.02f * 2315, 0.1f + 0.02f * 2645};
  assert_int_equal(spectrometer_take_tracks(&p, &inputs, 0, NULL), 0);
  assert_true(p.kinds[SPECTROMETER_FOUND_UT].tracks == 0 && p.kinds[SPECTROMETER_FOUND_UT].is_read);
  spectrometer_clear(&p);
  assert_int_equal(spectrometer_take_tracks(&p, &inputs, 1, NULL), 0);
  assert_int_equal(p.track_count, 2);
  const struct spectrometer_track *t = &p.tracks[1];
  const struct spectrometer_point *points = p.points + t->first_point;
  assert_true(t->kind == SPECTROMETER_FOUND_UT && !t->is_ghost && fabsf(t->p_mev - 4000) < 0.01f);
  assert_int_equal(t->point_count, 4);
  for (uint32_t i = 0; i < 4; i++) {
    assert_true(points[i].z == z[i] && fabsf(points[i].at[SPECTROMETER_X] - x[i]) < 1e-3f);
    assert_true(fabsf(points[i].at[SPECTROMETER_Y] - y[i]) < 1e-3f);
  }
}

/* The first VELO track of the event goes backwards, and the second one is drawn as a VELO-UT track. */
static void a_track_that_continues_is_counted_and_not_drawn(void **state) {
  (void)state;
  assert_int_equal(spectrometer_take_tracks(&p, &inputs, 1, NULL), 0);
  const struct spectrometer_counts *velo = &p.kinds[SPECTROMETER_FOUND_VELO];
  assert_true(velo->tracks == 2 && velo->drawn == 1 && velo->hidden == 0);
  assert_int_equal(p.tracks[0].kind, SPECTROMETER_FOUND_VELO);
  assert_int_equal(p.tracks[0].point_count, 2);
  assert_true(p.points[0].z == -150 && p.points[0].at[SPECTROMETER_X] == 15 && p.points[0].at[SPECTROMETER_Y] == 3);
  assert_true(p.points[1].z == 0);
}

static void tracks_below_the_minimum_momentum_are_hidden_and_counted(void **state) {
  (void)state;
  static const uint32_t least[] = {0, 3999, 4001};
  for (int i = 0; i < 3; i++) {
    spectrometer_clear(&p);
    p.min_p_mev = least[i];
    p.shows_truth = p.has_truth = 1;
    add_hits(bent, 0, IDS);
    make_track(bent, (struct mc_particle){.flags = MC_IS_LONG, .z = 50, .eta = 3, .p = 4000.5f});
    assert_int_equal(spectrometer_take_tracks(&p, &inputs, 1, NULL), 0);
    assert_int_equal(p.kinds[SPECTROMETER_FOUND_VELO].hidden, i > 0); /* it has no momentum */
    assert_int_equal(p.kinds[SPECTROMETER_FOUND_UT].hidden, i == 2);
    assert_int_equal(p.kinds[SPECTROMETER_TRUE_LONG].hidden, i == 2);
    assert_int_equal(p.track_count, i == 0 ? 3 : i == 1 ? 2 : 0);
    svg.count = 0;
    spectrometer_draw(&p, &no_vertices, &svg);
    assert_int_equal(count_of("hidden"), i == 0 ? 0 : 3);
    assert_int_equal(count_of("hidden, below 4001 MeV: 1<"), i == 2 ? 2 : 0); /* found and true tracks */
    assert_int_equal(count_of("hidden, VELO, no momentum: 1<"), i > 0);
    assert_int_equal(count_of("VELO-UT: 1<"), i < 2);
  }
  svg_free(&svg);
}

static void a_found_track_that_matches_no_particle_is_a_ghost(void **state) {
  (void)state;
  assert_false(is_ghost_with(3));
  assert_true(p.kinds[SPECTROMETER_FOUND_UT].tracks == 1 && p.kinds[SPECTROMETER_FOUND_UT].ghosts == 0);
  assert_false(is_ghost_with(2));
  assert_true(is_ghost_with(1));
  assert_true(p.kinds[SPECTROMETER_FOUND_UT].tracks == 1 && p.kinds[SPECTROMETER_FOUND_UT].ghosts == 1);
}

static void a_long_track_bends_in_the_magnet_and_goes_through_its_hits(void **state) {
  (void)state;
  static const uint32_t points[2] = {4 + 11 + 6 + 1, 2 + 11 + 2};
  struct long_case c;
  const struct spectrometer_inputs in = long_inputs(&c);
  add_hits(bent, 4, IDS);
  assert_int_equal(spectrometer_take_tracks(&p, &in, 0, NULL), 0);
  assert_int_equal(p.track_count, 2);
  assert_true(p.kinds[SPECTROMETER_FOUND_VELO].tracks == 1 && p.kinds[SPECTROMETER_FOUND_VELO].drawn == 0);
  assert_true(p.kinds[SPECTROMETER_FOUND_UT].tracks == 1 && p.kinds[SPECTROMETER_FOUND_UT].drawn == 0);
  assert_true(p.kinds[SPECTROMETER_FOUND_LONG].tracks == 2 && p.kinds[SPECTROMETER_FOUND_LONG].drawn == 2);
  for (uint32_t k = 0; k < 2; k++) {
    const struct spectrometer_track *t = &p.tracks[k];
    assert_true(t->kind == SPECTROMETER_FOUND_LONG && t->has_exit && t->exit_slope[SPECTROMETER_Y] == 0.01f);
    assert_int_equal(t->point_count, points[k]);
    for (uint32_t i = 0; i < t->point_count; i++) {
      const struct spectrometer_point *at = &p.points[t->first_point + i];
      /* Without the UT the curve starts at the end of the VELO, and ends at the end of the track. */
      const int is_on_line = k == 0 || at->z <= 600 || at->z >= 7826;
      assert_true(!is_on_line || fabsf(at->at[SPECTROMETER_X] - bent(at->z)) < 0.5f);
      assert_true(i == 0 || at->z > at[-1].z);
      /* y of the VELO, and after the magnet that of the state at 9410 mm */
      if (at->z <= 2650 && (k == 0 || at->z <= 600)) assert_true(fabsf(at->at[SPECTROMETER_Y]) < 1e-6f);
      if (at->z >= 7826) assert_true(fabsf(at->at[SPECTROMETER_Y] - (70 + 0.01f * (at->z - 9410))) < 1e-3f);
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
  assert_int_equal(p.kinds[SPECTROMETER_FOUND_LONG].muons, 1);
  for (uint32_t k = 0; k < 2; k++) {
    const struct spectrometer_track *t = &p.tracks[k];
    const struct spectrometer_point *last = &p.points[t->first_point + t->point_count - 1];
    const float z = is_muon[k] ? 19100 : 9410;
    assert_true(last->z == z && fabsf(last->at[SPECTROMETER_X] - (c.x[k] + c.tx[k] * (z - 9410))) < 1e-3f);
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
    assert_int_equal(p.tracks[0].is_ghost, scifi != 5);
    assert_int_equal(p.kinds[SPECTROMETER_FOUND_LONG].ghosts, scifi != 5);
    /* Its line is in each panel; it is dashed, as is the sample of the legend, if the truth is shown. */
    for (uint32_t shown = 0; shown < 2; shown++) {
      p.has_truth = 1;
      p.shows_truth = shown;
      svg.count = 0;
      spectrometer_draw(&p, &no_vertices, &svg);
      assert_int_equal(panels_with("<g class='long'", scifi != 5 && shown ? " class='ghost'" : ""), PANELS);
      assert_int_equal(count_of("<path class='ghost' d='m"), scifi != 5 && shown ? PANELS : 0);
      assert_int_equal(count_of("ghosts, of all colours"), shown);
      assert_int_equal(count_of(scifi != 5 ? "ghosts, of all colours: 1<" : "ghosts, of all colours: 0<"), shown);
      assert_int_equal(count_of("long: 1<"), 1);
      assert_int_equal(count_of("VELO-UT"), 0);
    }
  }
  svg_free(&svg);
}

/* A seed with exactly the hits of the first long track, and one with fewer of them. */
static void a_seed_with_the_hits_of_a_long_track_is_not_drawn(void **state) {
  (void)state;
  static const uint32_t offsets[2] = {0, 2}, hit_offsets[3] = {0, 6, 11};
  static const float qop[2] = {1.0f / 5000, 1.0f / 6000}, y[2] = {70, 40}, ty[2] = {0.01f, 0.02f};
  uint32_t hit_id[11];
  struct long_case c;
  struct spectrometer_inputs in = long_inputs(&c);
  memcpy(hit_id, ids + 4, 6 * sizeof *ids);
  memcpy(hit_id + 6, ids + 4, 5 * sizeof *ids);
  in.seeds = (struct seeds_view){.offsets = offsets,
                                 .hit_offsets = hit_offsets,
                                 .qop = qop,
                                 .x = c.x,
                                 .y = y,
                                 .tx = c.tx,
                                 .ty = ty,
                                 .hit_id = hit_id};
  add_hits(bent, 4, IDS);
  assert_int_equal(spectrometer_take_tracks(&p, &in, 0, NULL), 0);
  const struct spectrometer_counts *seeds = &p.kinds[SPECTROMETER_FOUND_SEED];
  assert_true(seeds->is_read && seeds->tracks == 2 && seeds->drawn == 1);
  assert_int_equal(p.tracks[0].kind, SPECTROMETER_FOUND_SEED);
  assert_true(fabsf(p.tracks[0].p_mev - 6000) < 0.01f);
  assert_int_equal(p.tracks[0].point_count, 6); /* five hits, and the state */
  assert_true(p.points[0].z == 7826 && fabsf(p.points[0].at[SPECTROMETER_X] - bent(7826)) < 1e-3f);
  assert_true(fabsf(p.points[0].at[SPECTROMETER_Y] - (40 + 0.02f * (7826 - 9410))) < 1e-3f);
}

int main(void) {
#define CASE(name) cmocka_unit_test_teardown(name, stop)
  const struct CMUnitTest tests[] = {
      CASE(a_track_goes_through_its_hits_and_bends_in_the_magnet),
      CASE(a_true_track_is_straight_in_y),
      CASE(without_further_hits_the_curve_is_a_parabola),
      CASE(a_gap_within_the_scifi_is_straight),
      CASE(kinds_follow_from_the_flags),
      CASE(a_particle_with_fewer_than_two_points_has_no_line),
      CASE(velo_ids_are_compared_in_the_bits_of_the_mask),
      CASE(a_velo_ut_track_goes_to_the_end_of_the_ut),
      CASE(a_track_that_continues_is_counted_and_not_drawn),
      CASE(tracks_below_the_minimum_momentum_are_hidden_and_counted),
      CASE(a_found_track_that_matches_no_particle_is_a_ghost),
      CASE(a_long_track_bends_in_the_magnet_and_goes_through_its_hits),
      CASE(a_muon_track_extends_to_the_last_chambers),
      CASE(a_long_track_that_matches_no_particle_is_a_ghost),
      CASE(a_seed_with_the_hits_of_a_long_track_is_not_drawn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
