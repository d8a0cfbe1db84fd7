/* inputs_test.c: forward.from_ut and forward.from_velo: positions of tracks at the end of the UT. */
#include "forward_support.h"

#include <math.h>

enum { EVENTS = 3 };

/* VELO tracks of three events; the second is empty. */
static const uint32_t state_offsets[] = {0, 3, 3, 5};
static const float x[] = {1, 2, 3, 4, 5}, y[] = {10, 20, 30, -40, 50}, z[] = {770, 770, 770, 770, 642};
static const float tx[] = {0.01f, 0.02f, 0.03f, -0.25f, 0.125f}, ty[] = {0.1f, -0.2f, 0.05f, 0.25f, -0.125f};

static struct forward_constant constant;

static void give_states(struct sl_test *t, int is_with_x) {
  sl_test_events(t, EVENTS);
  sl_test_input(t, "end_states", "offsets", state_offsets, EVENTS + 1);
  if (is_with_x) sl_test_input(t, "end_states", "x", x, 5);
  if (is_with_x) sl_test_input(t, "end_states", "tx", tx, 5);
  sl_test_input(t, "end_states", "y", y, 5);
  sl_test_input(t, "end_states", "z", z, 5);
  sl_test_input(t, "end_states", "ty", ty, 5);
  forward_constant_give(&constant, t, "constants");
}

static float float_at(const struct sl_test *t, const char *field, uint32_t i) {
  return ((const float *)sl_test_output(t, "inputs", field))[i];
}
static uint32_t word_at(const struct sl_test *t, const char *field, uint32_t i) {
  return ((const uint32_t *)sl_test_output(t, "inputs", field))[i];
}

/* The distance in z from 2484.6 to 2642 mm is 157.4 mm; from 770 mm 1872, from 642 mm 2000. */
static void ut_tracks_use_the_ut_slope_in_x_and_the_velo_slope_in_y(void **state) {
  (void)state;
  const uint32_t offsets[] = {0, 2, 2, 3}, track[] = {2, 0, 1};
  const float ut_x[] = {100, -200, 300}, ut_tx[] = {0.5f, -0.25f, 0.125f}, qop[] = {1e-4f, -2e-4f, 3e-5f};
  const float expected_x[] = {178.7f, -239.35f, 319.675f};
  const float expected_y[] = {30 + 0.05f * 1872, 10 + 0.1f * 1872, 50 - 0.125f * 2000},
              at_ty[] = {0.05f, 0.1f, -0.125f};
  for (uint32_t block = 32; block <= 256; block *= 2) {
    struct sl_test *t = sl_test_new(FORWARD_PLUGIN, "from_ut");
    give_states(t, 0);
    sl_test_input(t, "tracks", "offsets", offsets, EVENTS + 1);
    sl_test_input(t, "tracks", "velo_track", track, 3);
    sl_test_input(t, "tracks", "x", ut_x, 3);
    sl_test_input(t, "tracks", "tx", ut_tx, 3);
    sl_test_input(t, "tracks", "qop", qop, 3);
    sl_test_block(t, block);
    assert_int_equal(sl_test_run(t), 0);
    assert_memory_equal(sl_test_output(t, "inputs", "offsets"), offsets, sizeof offsets);
    for (uint32_t i = 0; i < 3; i++) {
      assert_int_equal(word_at(t, "velo_track", i), track[i]);
      assert_int_equal(word_at(t, "ut_track", i), i - (i == 2 ? 2 : 0));
      assert_true(fabsf(float_at(t, "x", i) - expected_x[i]) < 1e-4f);
      assert_true(fabsf(float_at(t, "y", i) - expected_y[i]) < 1e-4f);
      assert_true(float_at(t, "tx", i) == ut_tx[i] && float_at(t, "ty", i) == at_ty[i] &&
                  float_at(t, "qop", i) == qop[i]);
    }
    sl_test_free(t);
  }
}

static void velo_tracks_are_extrapolated_straight_without_momentum(void **state) {
  (void)state;
  const uint32_t offsets[] = {0, 2, 2, 4}, track[] = {0, 2, 0, 1}, states[] = {0, 2, 3, 4};
  const float expected_x[] = {1 + 0.01f * 1872, 3 + 0.03f * 1872, 4 - 0.25f * 1872, 5 + 0.125f * 2000};
  const float expected_y[] = {10 + 0.1f * 1872, 30 + 0.05f * 1872, -40 + 0.25f * 1872, 50 - 0.125f * 2000};
  for (uint32_t block = 32; block <= 256; block *= 2) {
    struct sl_test *t = sl_test_new(FORWARD_PLUGIN, "from_velo");
    give_states(t, 1);
    sl_test_input(t, "selected", "offsets", offsets, EVENTS + 1);
    sl_test_input(t, "selected", "track", track, 4);
    sl_test_block(t, block);
    assert_int_equal(sl_test_run(t), 0);
    assert_memory_equal(sl_test_output(t, "inputs", "offsets"), offsets, sizeof offsets);
    for (uint32_t i = 0; i < 4; i++) {
      assert_int_equal(word_at(t, "velo_track", i), track[i]);
      assert_true(word_at(t, "ut_track", i) == FORWARD_NO_TRACK);
      assert_true(fabsf(float_at(t, "x", i) - expected_x[i]) < 1e-4f);
      assert_true(fabsf(float_at(t, "y", i) - expected_y[i]) < 1e-4f);
      assert_true(float_at(t, "tx", i) == tx[states[i]] && float_at(t, "ty", i) == ty[states[i]]);
      assert_true(float_at(t, "qop", i) == 0);
    }
    sl_test_free(t);
  }
}

static int open_constant(void **state) {
  (void)state;
  forward_constant_open(&constant);
  return 0;
}
static int close_constant(void **state) {
  (void)state;
  forward_constant_close(&constant);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ut_tracks_use_the_ut_slope_in_x_and_the_velo_slope_in_y),
      cmocka_unit_test(velo_tracks_are_extrapolated_straight_without_momentum),
  };
  return cmocka_run_group_tests(tests, open_constant, close_constant);
}
