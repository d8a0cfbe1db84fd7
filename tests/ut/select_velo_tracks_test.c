/* select_velo_tracks_test.c: ut.select_velo_tracks on tracks at its limits. */
#include "ut_support.h"
#include "velo/event_model.h"

enum { TRACKS = 10 };

/* Tracks through (0, 0, 84.6), 2400 mm upstream of the middle of the UT. */
static const struct {
  float x, tx, ty;
  uint8_t backward, wanted;
} tracks[TRACKS] = {
    {0, 0.1f, 0.1f, 0, 1},
    {0, 0.1f, 0.1f, 1, 0}, /* backward */
    {0, 0.36f, 0, 0, 0},   /* steep in x */
    {0, -0.34f, 0.29f, 0, 1},
    {0, 0, 0.31f, 0, 0},          /* steep in y */
    {0, 0.01f, 0, 0, 0},          /* 24 mm from the axis */
    {0, 0.0084f, 0.0117f, 0, 1},  /* 20.2 and 28.1: 34.6 mm */
    {0, -0.0084f, 0.0100f, 0, 0}, /* 31.3 mm */
    {-30, 0.0125f, 0, 0, 0},      /* returns to the axis */
    {40, 0, 0, 0, 1},
};
static const uint32_t offsets[] = {0, 4, 4, 10};

static struct sl_test *selection(void) {
  float x[TRACKS], y[TRACKS] = {0}, z[TRACKS], tx[TRACKS], ty[TRACKS];
  uint8_t backward[TRACKS];
  struct sl_test *t = sl_test_new(UT_PLUGIN, "select_velo_tracks");
  for (uint32_t i = 0; i < TRACKS; i++) {
    x[i] = tracks[i].x;
    z[i] = 84.6f;
    tx[i] = tracks[i].tx;
    ty[i] = tracks[i].ty;
    backward[i] = tracks[i].backward;
  }
  sl_test_events(t, 3);
  sl_test_input(t, "beamline_states", "offsets", offsets, 4);
  sl_test_input(t, "beamline_states", "x", x, TRACKS);
  sl_test_input(t, "beamline_states", "y", y, TRACKS);
  sl_test_input(t, "beamline_states", "z", z, TRACKS);
  sl_test_input(t, "beamline_states", "tx", tx, TRACKS);
  sl_test_input(t, "beamline_states", "ty", ty, TRACKS);
  sl_test_input(t, "beamline_states", "backward", backward, TRACKS);
  return t;
}

static void tracks_that_pass_the_ut_are_selected_in_input_order(void **state) {
  struct sl_test *t = selection();
  (void)state;
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *first = sl_test_output(t, "selected", "offsets"), *track = sl_test_output(t, "selected", "track");
  for (uint32_t event = 0; event < 3; event++) {
    uint32_t place = first[event];
    for (uint32_t i = offsets[event]; i < offsets[event + 1]; i++)
      if (tracks[i].wanted) assert_int_equal(track[place++], i - offsets[event]);
    assert_int_equal(place, first[event + 1]);
  }
  assert_int_equal(first[3], 4);
  sl_test_free(t);
}

static void limits_of_slope_and_hole_can_be_set(void **state) {
  struct sl_test *t = selection();
  (void)state;
  sl_test_set(t, "hole_radius", 0);
  sl_test_set(t, "max_tx", 1);
  sl_test_set(t, "max_ty", 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(((const uint32_t *)sl_test_output(t, "selected", "offsets"))[3], 9); /* all but the backward one */
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tracks_that_pass_the_ut_are_selected_in_input_order),
                                     cmocka_unit_test(limits_of_slope_and_hole_can_be_set)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
