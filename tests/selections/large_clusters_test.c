/* large_clusters_test.c: selections.large_clusters on both sides of its limits. */
#include "selections/event_model.h"
#include "selections_support.h"

#include <math.h>

enum { EVENTS = 3, TRACKS = 10 };
static const uint32_t event_tracks[EVENTS + 1] = {0, 8, 8, TRACKS};

static const struct {
  double eta; /* NAN: a slope that is not a number */
  uint8_t backward, hits, is_accepted;
} tracks[TRACKS] = {
    {5.001, 0, 5, 1}, {4.999, 0, 5, 0}, {5.001, 0, 4, 0},    {5.001, 1, 5, 0},  {5.001, 0, 26, 1},
    {2, 0, 26, 0},    {NAN, 0, 26, 0},  {INFINITY, 0, 5, 1}, {4.999, 0, 26, 0}, {5.001, 0, 4, 0},
};

static struct sl_test *line_new(const uint32_t *counted) {
  static const uint32_t numbers[EVENTS];
  static const uint64_t long_numbers[EVENTS];
  static float column[TRACKS], tx[TRACKS], ty[TRACKS];
  static uint8_t backward[TRACKS], hits[TRACKS];
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "large_clusters");
  for (uint32_t i = 0; i < TRACKS; i++) {
    const double slope = 1 / sinh(tracks[i].eta), angle = 0.7 * i;
    tx[i] = (float)(slope * cos(angle));
    ty[i] = (float)(slope * sin(angle));
    backward[i] = tracks[i].backward;
    hits[i] = tracks[i].hits;
  }
  sl_test_events(t, EVENTS);
  sl_test_input(t, "odin", "run", numbers, EVENTS);
  sl_test_input(t, "odin", "event_number", long_numbers, EVENTS);
  sl_test_input(t, "odin", "gps_time", long_numbers, EVENTS);
  sl_test_input(t, "candidates", "offsets", event_tracks, EVENTS + 1);
  static const char *const names[] = {"x", "y", "z", "c00", "c20", "c22", "c11", "c31", "c33"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) sl_test_input(t, "candidates", names[k], column, TRACKS);
  sl_test_input(t, "candidates", "tx", tx, TRACKS);
  sl_test_input(t, "candidates", "ty", ty, TRACKS);
  sl_test_input(t, "candidates", "backward", backward, TRACKS);
  sl_test_input(t, "large_clusters", "offsets", counted, EVENTS + 1);
  sl_test_input(t, "large_clusters", "hits", hits, counted[EVENTS]);
  return t;
}

static void tracks_are_accepted_beyond_both_limits(void **state) {
  (void)state;
  struct sl_test *t = line_new(event_tracks);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < TRACKS; i++)
    if (OUTPUT(t, "decisions", "accepted", uint8_t)[i] != tracks[i].is_accepted) fail_msg("track %u", i);
  const uint8_t passed[EVENTS] = {LINE_PASSED | LINE_BEFORE_SCALE, 0, 0};
  assert_memory_equal(OUTPUT(t, "decisions", "passed", uint8_t), passed, EVENTS);
  sl_test_set(t, "min_eta", 4.0);
  sl_test_set(t, "min_large_clusters", 6);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(OUTPUT(t, "decisions", "accepted", uint8_t)[0], 0);
  assert_int_equal(OUTPUT(t, "decisions", "accepted", uint8_t)[8], 1);
  sl_test_free(t);
}

static void numbers_of_other_tracks_refuse_the_event(void **state) {
  (void)state;
  static const uint32_t others[EVENTS + 1] = {0, 7, 7, 9}, none[EVENTS + 1] = {0, 0, 0, 2};
  struct sl_test *t = line_new(others);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_not_equal(sl_test_event_error(t, 0), 0);
  assert_int_equal(sl_test_event_error(t, 2), 0);
  sl_test_free(t);
  t = line_new(none); /* the clusters of the first event were not counted */
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_event_error(t, 0), 0);
  assert_int_equal(OUTPUT(t, "decisions", "passed", uint8_t)[0], 0);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tracks_are_accepted_beyond_both_limits),
      cmocka_unit_test(numbers_of_other_tracks_refuse_the_event),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
