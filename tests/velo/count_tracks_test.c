/* count_tracks_test.c: tracks, hits and backward tracks of each event. */
#include "tracking_sample.h"

enum { EVENTS = 3, TRACKS = 300 };

/* Tracks 0 and 1 belong to no event, none to event 1; track t has 3 + t % 4 hits, every third one is backward. */
static void each_event_is_counted_separately(void **state) {
  (void)state;
  static const uint32_t offsets[EVENTS + 1] = {2, 9, 9, TRACKS};
  uint32_t hit_offsets[TRACKS + 1] = {10}, hits[EVENTS] = {0}, backward_tracks[EVENTS] = {0};
  uint8_t backward[TRACKS];
  for (uint32_t t = 0; t < TRACKS; t++) {
    hit_offsets[t + 1] = hit_offsets[t] + 3 + t % 4;
    backward[t] = t % 3 == 0;
    for (uint32_t e = 0; e < EVENTS; e++)
      if (t >= offsets[e] && t < offsets[e + 1]) {
        hits[e] += 3 + t % 4;
        backward_tracks[e] += backward[t];
      }
  }
  struct sl_test *t = sl_test_new(VELO_PLUGIN, "count_tracks");
  sl_test_events(t, EVENTS);
  sl_test_input(t, "tracks", "offsets", offsets, EVENTS + 1);
  sl_test_input(t, "tracks", "hit_offsets", hit_offsets, TRACKS + 1);
  sl_test_input(t, "beamline_states", "backward", backward, TRACKS);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *found[] = {sl_test_output(t, "counts", "tracks"), sl_test_output(t, "counts", "hits"),
                             sl_test_output(t, "counts", "backward")};
  for (uint32_t e = 0; e < EVENTS; e++) {
    assert_int_equal(found[0][e], offsets[e + 1] - offsets[e]);
    assert_int_equal(found[1][e], hits[e]);
    assert_int_equal(found[2][e], backward_tracks[e]);
  }
  assert_int_equal(hits[1], 0);
  assert_true(hits[2] > 1000 && backward_tracks[2] > 90);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_event_is_counted_separately)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
