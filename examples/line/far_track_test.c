/* far_track_test.c: the line alone, on three tracks in two events. */
#include <sluice/testing.h>

#include <selections/event_model.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 2, TRACKS = 3 };
static const uint32_t offsets[EVENTS + 1] = {0, 2, TRACKS};
static const float ip[TRACKS] = {0.5F, 0.2F, 0.4F}, pt[TRACKS] = {2000, 2000, 900};

/* Lines can read all of a track, which has to be there; what this one does not look at is zeros. */
static struct sl_test *far_track_new(void) {
  static const uint64_t zeros[TRACKS] = {0};
  struct sl_test *t = sl_test_new(FAR_PLUGIN, "far_track");
  sl_test_events(t, EVENTS);
  for (uint32_t f = 0; f < particles_collection.field_count; f++) {
    const struct sl_field *field = &particles_collection.fields[f];
    sl_test_input(t, "candidates", field->name, zeros, field->shape == SL_SHAPE_CODE_PER_SLICE ? 1 : TRACKS);
  }
  sl_test_input(t, "candidates", "offsets", offsets, EVENTS + 1);
  sl_test_input(t, "candidates", "ip", ip, TRACKS);
  sl_test_input(t, "candidates", "pt", pt, TRACKS);
  sl_test_input(t, "odin", "run", zeros, EVENTS);
  sl_test_input(t, "odin", "event_number", zeros, EVENTS);
  sl_test_input(t, "odin", "gps_time", zeros, EVENTS);
  return t;
}

static void an_event_passes_that_has_a_far_track_of_enough_pt(void **state) {
  (void)state;
  struct sl_test *t = far_track_new();
  assert_int_equal(sl_test_run(t), 0);
  const uint8_t *accepted = sl_test_output(t, "decisions", "accepted");
  const uint8_t *passed = sl_test_output(t, "decisions", "passed");
  assert_true(accepted[0] && !accepted[1] && !accepted[2]);
  assert_true((passed[0] & LINE_PASSED) && !passed[1]);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(an_event_passes_that_has_a_far_track_of_enough_pt)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
