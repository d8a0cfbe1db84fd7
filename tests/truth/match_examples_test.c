/* match_examples_test.c: table of truth.match_examples for hand-made pairs. */
#include "examples_case.h"
#include "scratch.h"
#include "seeding/match_network.h"

static int start(void **state) {
  (void)state;
  return start_check("match_examples");
}

/* VELO tracks, equal in both events: of the particle, of no particle, of the particle but not selected, and one
 * elsewhere. They bend at z = 5000 mm, where the particle's seed is 2 mm away in x; at 10 m it is another 3 mm away.
 * The second event has no truth. */
enum { EVENTS = 2, TRACKS = 4, SELECTED = 3 };

static void give_tracks(void) {
  static const uint32_t offsets[] = {0, TRACKS, 2 * TRACKS}, selected_offsets[] = {0, SELECTED, 2 * SELECTED};
  static const uint32_t selected[] = {0, 1, 3, 0, 1, 3};
  static const float zero[EVENTS * TRACKS];
  static const float tx[] = {0.1f, 0.1f, 0.1f, -0.2f, 0.1f, 0.1f, 0.1f, -0.2f};
  static uint32_t hit_offsets[EVENTS * TRACKS + 1], hits[EVENTS * TRACKS * HITS_OF_PION];
  static float z[EVENTS * TRACKS], ty[EVENTS * TRACKS];
  for (uint32_t i = 0; i < EVENTS * TRACKS; i++) {
    z[i] = 770;
    ty[i] = 0.02f;
    hit_offsets[i + 1] = HITS_OF_PION * (i + 1);
    for (uint32_t h = 0; h < HITS_OF_PION; h++)
      hits[HITS_OF_PION * i + h] = VELO_OF_PION(h) + (i % TRACKS == 1 ? 100 : 0);
  }
  sl_test_input(test, "selected", "offsets", selected_offsets, EVENTS + 1);
  sl_test_input(test, "selected", "track", selected, EVENTS * SELECTED);
  sl_test_input(test, "velo_tracks", "offsets", offsets, EVENTS + 1);
  sl_test_input(test, "velo_tracks", "hit_offsets", hit_offsets, EVENTS * TRACKS + 1);
  sl_test_input(test, "velo_tracks", "hit_id", hits, EVENTS * TRACKS * HITS_OF_PION);
  sl_test_input(test, "end_states", "offsets", offsets, EVENTS + 1);
  sl_test_input(test, "end_states", "x", zero, EVENTS * TRACKS);
  sl_test_input(test, "end_states", "y", zero, EVENTS * TRACKS);
  sl_test_input(test, "end_states", "z", z, EVENTS * TRACKS);
  sl_test_input(test, "end_states", "tx", tx, EVENTS * TRACKS);
  sl_test_input(test, "end_states", "ty", ty, EVENTS * TRACKS);
}

static void give_seeds(void) {
  static const uint32_t offsets[] = {0, 1, 2}, hit_offsets[] = {0, HITS_OF_PION, 2 * HITS_OF_PION};
  static const float x[] = {1748, 1748}, y[] = {175.21f, 175.21f}, tx[] = {0.3f, 0.3f}, ty[] = {0.021f, 0.021f};
  static uint32_t hits[EVENTS * HITS_OF_PION];
  for (uint32_t h = 0; h < EVENTS * HITS_OF_PION; h++) hits[h] = SCIFI_OF_PION(h % HITS_OF_PION);
  sl_test_input(test, "seeds", "offsets", offsets, EVENTS + 1);
  sl_test_input(test, "seeds", "hit_offsets", hit_offsets, EVENTS + 1);
  sl_test_input(test, "seeds", "x", x, EVENTS);
  sl_test_input(test, "seeds", "y", y, EVENTS);
  sl_test_input(test, "seeds", "tx", tx, EVENTS);
  sl_test_input(test, "seeds", "ty", ty, EVENTS);
  sl_test_input(test, "seeds", "hit_id", hits, EVENTS * HITS_OF_PION);
}

/* chi2 = (dx^2 + dy^2) / 100. */
static void give_constants(void) {
  static float c[MATCH_CONSTANTS];
  c[MATCH_Z_END] = 9410;
  c[MATCH_Z_Y] = 10000;
  c[MATCH_DTX_MAX] = c[MATCH_DTY_MAX] = 1;
  c[MATCH_DISTANCE_X_MAX] = c[MATCH_DISTANCE_Y_MAX] = 1e6f;
  c[MATCH_X_TOLERANCE] = c[MATCH_Y_TOLERANCE] = 10;
  c[MATCH_WEIGHTS] = c[MATCH_WEIGHTS + 1] = 1;
  c[MATCH_Z_MAGNET] = 5000;
  c[MATCH_BEND + 1] = 1000; /* p of a turn of 0.2: 5 GeV */
  sl_test_input(test, "matching", "constants", c, MATCH_CONSTANTS);
}

static const char *run(const char *path, double max_chi2) {
  add_pion();
  end_event(banks); /* no banks */
  sl_test_events(test, EVENTS);
  give_tracks();
  give_seeds();
  give_constants();
  set_banks("mc_particles");
  sl_test_set_text(test, "path", path);
  sl_test_set(test, "max_chi2", max_chi2);
  assert_int_equal(sl_test_run(test), 0);
  return sl_test_report(test);
}

static void close_pairs_are_written_with_their_truth(void **state) {
  (void)state;
  char path[SCRATCH_PATH_MAX];
  scratch_file(path);
  const char *report = run(path, 1);
  assert_int_equal(number_in(report, "examples"), 2);
  assert_int_equal(number_in(report, "is_wrong"), 1);
  assert_int_equal(number_in(report, "events"), 1);
  assert_int_equal(number_in(report, "events_without_truth"), 1);
  const double rows[][12] = {{0, 5, -2, 3, 0.2, -0.001, 10, -0.3, -1748, 175.21, -0.1, 0.02},
                             {1, 5, -2, 3, 0.2, -0.001, 10, -0.3, -1748, 175.21, -0.1, 0.02}};
  assert_table(path, "is_wrong,p,x,y,dtx,dty,hits,seed_tx,seed_x,seed_y,velo_tx,velo_ty\n", rows[0], 2, 12, 1e-3);
}

static void pairs_of_larger_chi2_are_not_written(void **state) {
  (void)state;
  char path[SCRATCH_PATH_MAX];
  scratch_file(path);
  assert_int_equal(number_in(run(path, 0.125), "examples"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(close_pairs_are_written_with_their_truth, start, stop_check),
      cmocka_unit_test_setup_teardown(pairs_of_larger_chi2_are_not_written, start, stop_check),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
