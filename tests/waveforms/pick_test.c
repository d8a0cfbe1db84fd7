/* pick_test.c: values at points, and their ratio. */
#include "waveforms_support.h"

static void values_are_taken_at_points_inside_the_waveform(void **state) {
  (void)state;
  const float value[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const uint32_t valid[] = {1, 1, 1, 1, 0};
  const int32_t points[] = {0, 1, 2, -1, 1};
  struct sl_test *t = test_with_series("pick", value, 5, 3, valid);
  sl_test_input(t, "points", "index", points, 5);
  sl_test_set(t, "offset", 1);
  sl_test_set(t, "factor", -2);
  assert_int_equal(sl_test_run(t), 0);
  const float *found = sl_test_output(t, "picked", "value"), expected[] = {-4, -12, 0, 0, 0};
  const uint32_t *has = sl_test_output(t, "picked", "valid"), expected_valid[] = {1, 1, 0, 0, 0};
  assert_memory_equal(found, expected, sizeof expected);
  assert_memory_equal(has, expected_valid, sizeof expected_valid);
  sl_test_free(t);
}

static void without_points_the_offset_is_an_index(void **state) {
  (void)state;
  const float value[] = {1, 2, 3, 4, 5, 6};
  for (int32_t offset = -1; offset <= 3; offset++) {
    struct sl_test *t = test_with_series("pick", value, 2, 3, NULL);
    sl_test_set(t, "offset", offset);
    assert_int_equal(sl_test_run(t), 0);
    const float *found = sl_test_output(t, "picked", "value");
    const uint32_t *has = sl_test_output(t, "picked", "valid"), exists = offset >= 0 && offset < 3;
    assert_int_equal(has[0] + has[1], 2 * exists);
    assert_true(found[1] == (exists ? value[3 + offset] : 0.0f));
    sl_test_free(t);
  }
}

static void a_ratio_needs_two_values_and_a_denominator(void **state) {
  (void)state;
  enum { EVENTS = 5 };
  const float above[EVENTS] = {3, 3, 0, 3, 0}, below[EVENTS] = {-2, 0, 4, 2, 0};
  const uint32_t has_above[EVENTS] = {1, 1, 0, 1, 1}, has_below[EVENTS] = {1, 1, 1, 0, 1};
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "ratio");
  sl_test_events(t, EVENTS);
  sl_test_input(t, "numerator", "value", above, EVENTS);
  sl_test_input(t, "numerator", "valid", has_above, EVENTS);
  sl_test_input(t, "denominator", "value", below, EVENTS);
  sl_test_input(t, "denominator", "valid", has_below, EVENTS);
  assert_int_equal(sl_test_run(t), 0);
  const float *found = sl_test_output(t, "ratio", "value"), expected[EVENTS] = {-1.5f, 0, 0, 0, 0};
  const uint32_t *valid = sl_test_output(t, "ratio", "valid"), expected_valid[EVENTS] = {1, 0, 0, 0, 0};
  assert_memory_equal(found, expected, sizeof expected);
  assert_memory_equal(valid, expected_valid, sizeof expected_valid);
  sl_test_free(t);
}

static void the_time_of_a_maximum_has_the_fraction_of_a_sample(void **state) {
  (void)state;
  enum { EVENTS = 4 };
  const int32_t point[EVENTS] = {2900, 7, -1, 3}, maximum[EVENTS] = {33, 0, 5, -1};
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "fine_time");
  sl_test_events(t, EVENTS);
  sl_test_input(t, "points", "index", point, EVENTS);
  sl_test_input(t, "extremes", "first_maximum", maximum, EVENTS);
  sl_test_set(t, "factor", 8);
  assert_int_equal(sl_test_run(t), 0);
  const float time[EVENTS] = {2904.125f, 7, 0, 0}, after[EVENTS] = {4.125f, 0, 0, 0};
  const uint32_t valid[EVENTS] = {3, 3, 0, 0};
  assert_memory_equal(sl_test_output(t, "times", "time"), time, sizeof time);
  assert_memory_equal(sl_test_output(t, "times", "after"), after, sizeof after);
  assert_memory_equal(sl_test_output(t, "times", "valid"), valid, sizeof valid);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(values_are_taken_at_points_inside_the_waveform),
                                     cmocka_unit_test(without_points_the_offset_is_an_index),
                                     cmocka_unit_test(a_ratio_needs_two_values_and_a_denominator),
                                     cmocka_unit_test(the_time_of_a_maximum_has_the_fraction_of_a_sample)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
