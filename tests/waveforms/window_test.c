/* window_test.c: windows from points on, differences and repeated values. */
#include "waveforms_support.h"

enum { EVENTS = 6, LENGTH = 40 };
static float value[EVENTS * LENGTH];

static void a_window_is_inside_the_waveform_or_has_no_values(void **state) {
  (void)state;
  enum { WINDOW = 11 };
  const int32_t points[EVENTS] = {0, 2, 31, 32, -1, 5}; /* with the offset -2: the second and the fourth just fit */
  const uint32_t valid[EVENTS] = {1, 1, 1, 1, 1, 0}, expected[EVENTS] = {0, 1, 1, 0, 0, 0};
  make_series(value, EVENTS, LENGTH);
  struct sl_test *t = test_with_series("window", value, EVENTS, LENGTH, valid);
  sl_test_input(t, "points", "index", points, EVENTS);
  sl_test_set(t, "offset", -2);
  sl_test_set(t, "length", WINDOW);
  assert_int_equal(sl_test_run(t), 0);
  const float *found = sl_test_output(t, "window", "value");
  const uint32_t *has = sl_test_output(t, "window", "valid");
  assert_int_equal(sl_test_output_count(t, "window", "value"), EVENTS * WINDOW);
  for (uint32_t e = 0; e < EVENTS; e++) {
    assert_int_equal(has[e], expected[e]);
    for (int32_t i = 0; i < WINDOW; i++)
      assert_true(found[(int32_t)e * WINDOW + i] ==
                  (expected[e] ? value[(int32_t)e * LENGTH + points[e] - 2 + i] : 0.0f));
  }
  sl_test_free(t);
  t = test_with_series("window", value, EVENTS, LENGTH, NULL);
  sl_test_input(t, "points", "index", points, EVENTS);
  sl_test_set(t, "length", LENGTH + 1);
  assert_refused(t, "length: 41 values of a waveform; there are at most 40");
}

static void a_difference_is_divided_by_its_lag(void **state) {
  (void)state;
  const uint32_t valid[EVENTS] = {1, 0, 1, 1, 1, 1};
  make_series(value, EVENTS, LENGTH);
  for (uint32_t lag = 1; lag < LENGTH; lag += 19) {
    struct sl_test *t = test_with_series("difference", value, EVENTS, LENGTH, valid);
    sl_test_set(t, "lag", lag);
    sl_test_set(t, "length", LENGTH - lag);
    assert_int_equal(sl_test_run(t), 0);
    const float *found = sl_test_output(t, "differences", "value");
    const uint32_t *has = sl_test_output(t, "differences", "valid");
    assert_memory_equal(has, valid, sizeof valid);
    for (uint32_t e = 0; e < EVENTS; e++)
      for (uint32_t n = 0; n < LENGTH - lag; n++) {
        const float *x = value + (size_t)e * LENGTH + n;
        assert_true(found[e * (LENGTH - lag) + n] == (x[lag] - x[0]) / (float)lag);
      }
    sl_test_free(t);
    t = test_with_series("difference", value, EVENTS, LENGTH, NULL);
    sl_test_set(t, "lag", lag);
    sl_test_set(t, "length", LENGTH - lag + 1);
    assert_refused(t, "values of the difference; there are at most");
  }
}

static void the_first_and_the_last_value_are_repeated_less(void **state) {
  (void)state;
  make_series(value, EVENTS, LENGTH);
  for (uint32_t factor = 1; factor < 18; factor += factor < 3 ? 1 : 7) {
    const uint32_t most = LENGTH * factor - factor / 2;
    for (uint32_t length = most; length > most - 2 * factor && length > 0; length--) {
      struct sl_test *t = test_with_series("upsample", value, EVENTS, LENGTH, NULL);
      sl_test_set(t, "factor", factor);
      sl_test_set(t, "length", length);
      assert_int_equal(sl_test_run(t), 0);
      const float *found = sl_test_output(t, "repeated", "value");
      for (uint32_t e = 0; e < EVENTS; e++)
        for (uint32_t j = 0; j < length; j++)
          assert_true(found[e * length + j] == value[e * LENGTH + (j + factor / 2) / factor]);
      sl_test_free(t);
    }
    struct sl_test *t = test_with_series("upsample", value, EVENTS, LENGTH, NULL);
    sl_test_set(t, "factor", factor);
    sl_test_set(t, "length", most + 1);
    assert_refused(t, "values of the repeated waveform; there are at most");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_window_is_inside_the_waveform_or_has_no_values),
                                     cmocka_unit_test(a_difference_is_divided_by_its_lag),
                                     cmocka_unit_test(the_first_and_the_last_value_are_repeated_less)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
