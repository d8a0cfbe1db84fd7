/* forward_examples_test.c: table of truth.forward_examples for hand-made tracks. */
#include "examples_case.h"
#include "forward/event_model.h"
#include "scratch.h"

static int start(void **state) {
  (void)state;
  return start_check("forward_examples");
}

/* Inputs, equal in both events: without a candidate; of the particle, without and with UT; the same with a candidate
 * that was rejected; and of the VELO track of another particle. The second event has no truth. */
enum { EVENTS = 2, INPUTS = 5, TRACKS = 3, VELO_TRACKS = 2 };

static void give_inputs(void) {
  static const uint32_t offsets[] = {0, INPUTS, 2 * INPUTS}, hit_offsets[] = {0, 5000, 9000};
  static const uint32_t velo_track[] = {0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  static const uint32_t ut_track[] = {0, FORWARD_NO_TRACK, 1, 2, 3, 0, FORWARD_NO_TRACK, 1, 2, 3};
  static const float qop[] = {0, 0, 3e-4f, 1e-4f, -2e-4f, 0, 0, 3e-4f, 1e-4f, -2e-4f};
  static const uint8_t hit_count[] = {0, 10, 11, 12, 10, 0, 10, 11, 12, 10}, shared[] = {0, 9, 8, 7, 6, 0, 9, 8, 7, 6};
  static const float a[] = {0, 1e-6f, 2e-6f, 0, -3e-6f, 0, 0, 0, 0, 0}, zero[EVENTS * INPUTS];
  static const float b[] = {0, 0.3f, 0.3f, 0, 0, 0, 0.3f, 0.3f, 0, 0};
  static const float c[] = {0, 1558, 1560, 0, -8, 0, 1558, 1560, 0, 0};
  static const float quality[] = {0, 1, 4, 0, 9, 0, 1, 4, 0, 9};
  static float y_slope[EVENTS * INPUTS];
  static const float z_reference[FORWARD_CONSTANTS] = {[FORWARD_Z_REFERENCE] = 8520};
  for (uint32_t i = 0; i < EVENTS * INPUTS; i++) y_slope[i] = 0.021f;
  sl_test_input(test, "inputs", "offsets", offsets, EVENTS + 1);
  sl_test_input(test, "inputs", "velo_track", velo_track, EVENTS * INPUTS);
  sl_test_input(test, "inputs", "ut_track", ut_track, EVENTS * INPUTS);
  sl_test_input(test, "inputs", "qop", qop, EVENTS * INPUTS);
  sl_test_input(test, "best", "hit_count", hit_count, EVENTS * INPUTS);
  sl_test_input(test, "best", "a", a, EVENTS * INPUTS);
  sl_test_input(test, "best", "b", b, EVENTS * INPUTS);
  sl_test_input(test, "best", "c", c, EVENTS * INPUTS);
  sl_test_input(test, "best", "y", zero, EVENTS * INPUTS);
  sl_test_input(test, "best", "ty", y_slope, EVENTS * INPUTS);
  sl_test_input(test, "best", "quality", quality, EVENTS * INPUTS);
  sl_test_input(test, "scores", "shared_hits", shared, EVENTS * INPUTS);
  sl_test_input(test, "hits", "offsets", hit_offsets, EVENTS + 1);
  sl_test_input(test, "forward", "constants", z_reference, FORWARD_CONSTANTS);
}

static void give_tracks(void) {
  static const uint32_t offsets[] = {0, TRACKS, 2 * TRACKS}, velo_track[] = {0, 0, 1, 0, 0, 1};
  static const uint32_t ut_track[] = {FORWARD_NO_TRACK, 1, 3, FORWARD_NO_TRACK, 1, 3};
  static const float qop[] = {2e-4f, 2e-4f, -1e-4f, 2e-4f, 2e-4f, -1e-4f};
  static uint32_t hit_offsets[EVENTS * TRACKS + 1], hits[EVENTS * TRACKS * HITS_OF_PION];
  for (uint32_t i = 0; i < EVENTS * TRACKS; i++) {
    hit_offsets[i + 1] = HITS_OF_PION * (i + 1);
    for (uint32_t h = 0; h < HITS_OF_PION; h++) hits[HITS_OF_PION * i + h] = SCIFI_OF_PION(h);
  }
  sl_test_input(test, "tracks", "offsets", offsets, EVENTS + 1);
  sl_test_input(test, "tracks", "velo_track", velo_track, EVENTS * TRACKS);
  sl_test_input(test, "tracks", "ut_track", ut_track, EVENTS * TRACKS);
  sl_test_input(test, "tracks", "qop", qop, EVENTS * TRACKS);
  sl_test_input(test, "tracks", "hit_offsets", hit_offsets, EVENTS * TRACKS + 1);
  sl_test_input(test, "tracks", "hit_id", hits, EVENTS * TRACKS * HITS_OF_PION);
}

static void give_velo_tracks(void) {
  static const uint32_t offsets[] = {0, VELO_TRACKS, 2 * VELO_TRACKS};
  static const float x[] = {0, 0, 0, 0}, z[] = {770, 770, 770, 770}, tx[] = {0.1f, 0.1f, 0.1f, 0.1f};
  static const float ty[] = {0.02f, 0.02f, 0.02f, 0.02f};
  static uint32_t hit_offsets[EVENTS * VELO_TRACKS + 1], hits[EVENTS * VELO_TRACKS * HITS_OF_PION];
  for (uint32_t i = 0; i < EVENTS * VELO_TRACKS; i++) {
    hit_offsets[i + 1] = HITS_OF_PION * (i + 1);
    for (uint32_t h = 0; h < HITS_OF_PION; h++)
      hits[HITS_OF_PION * i + h] = VELO_OF_PION(h) + (i % VELO_TRACKS == 1 ? 100 : 0);
  }
  sl_test_input(test, "velo_tracks", "offsets", offsets, EVENTS + 1);
  sl_test_input(test, "velo_tracks", "hit_offsets", hit_offsets, EVENTS * VELO_TRACKS + 1);
  sl_test_input(test, "velo_tracks", "hit_id", hits, EVENTS * VELO_TRACKS * HITS_OF_PION);
  sl_test_input(test, "end_states", "offsets", offsets, EVENTS + 1);
  sl_test_input(test, "end_states", "x", x, EVENTS * VELO_TRACKS);
  sl_test_input(test, "end_states", "y", x, EVENTS * VELO_TRACKS);
  sl_test_input(test, "end_states", "z", z, EVENTS * VELO_TRACKS);
  sl_test_input(test, "end_states", "tx", tx, EVENTS * VELO_TRACKS);
  sl_test_input(test, "end_states", "ty", ty, EVENTS * VELO_TRACKS);
}

static void long_tracks_are_written_with_their_truth(void **state) {
  (void)state;
  char path[SCRATCH_PATH_MAX];
  scratch_file(path);
  add_pion();
  end_event(banks); /* no banks */
  sl_test_events(test, EVENTS);
  give_inputs();
  give_tracks();
  give_velo_tracks();
  set_banks("mc_particles");
  sl_test_set_text(test, "path", path);
  assert_int_equal(sl_test_run(test), 0);
  const char *report = sl_test_report(test);
  assert_int_equal(number_in(report, "examples"), 3);
  assert_int_equal(number_in(report, "is_ghost"), 1);
  assert_int_equal(number_in(report, "events"), 1);
  assert_int_equal(number_in(report, "events_without_truth"), 1);
  /* VELO: x = -77 + 0.1 z, y = -15.4 + 0.02 z. SciFi of the first: x = -998 + 0.3 z, y = 0.021 z. The last one has x =
   * -8: the lines meet at z = 690, and the track bends to -x. */
  const double log_slope2 = log(0.1 * 0.1 + 0.02 * 0.02);
  const double rows[][14] = {{0, 5, 4605, 79, 25.4, 0.2, 0.001, log_slope2, 0, 10, 9, 0.005, 1, 5000},
                             {0, 5, 4595, 81, 25.4, 0.2, 0.001, log_slope2, log(4), 11, 8, 0.01, 1.5, 5000},
                             {1, 10, 690, 431, 25.4, 0.1, 0.001, log_slope2, log(9), 10, 6, 0.03, 2, 5000}};
  assert_table(
      path, "is_ghost,p,z_cross,dx,dy,dtx,dty,log_slope2,log_quality,hits,shared_hits,curvature,ut_ratio,event_hits\n",
      rows[0], 3, 14, 1e-4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(long_tracks_are_written_with_their_truth, start, stop_check),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
