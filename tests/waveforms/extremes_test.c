/* extremes_test.c: smallest and largest values, against a search one by one. */
#include "waveforms_support.h"

enum { EVENTS = 3, LENGTH = 301 };

static void check_event(const struct sl_test *t, uint32_t event, const float *value, uint32_t begin, uint32_t end) {
  uint32_t low = begin, high = begin;
  for (uint32_t i = begin; i < end; i++) {
    if (value[i] < value[low]) low = i;
    if (value[i] > value[high]) high = i;
  }
  const float *minimum = sl_test_output(t, "extremes", "minimum"), *maximum = sl_test_output(t, "extremes", "maximum");
  const int32_t *first_minimum = sl_test_output(t, "extremes", "first_minimum");
  const int32_t *first_maximum = sl_test_output(t, "extremes", "first_maximum");
  assert_memory_equal(&minimum[event], &value[low], sizeof value[low]); /* 0 and -0 differ */
  assert_memory_equal(&maximum[event], &value[high], sizeof value[high]);
  assert_int_equal(first_minimum[event], low);
  assert_int_equal(first_maximum[event], high);
}

static void the_first_of_equal_values_is_found_in_any_window(void **state) {
  (void)state;
  float value[EVENTS * LENGTH];
  for (uint32_t i = 0; i < EVENTS * LENGTH; i++) {
    const int32_t coarse = (int32_t)(mixed(i) % 7) - 3; /* many values are equal */
    value[i] = i % LENGTH > 40 && i / LENGTH == 2 ? (i % 2 ? 0.0f : -0.0f) : (float)coarse;
  }
  for (uint32_t begin = 0; begin < LENGTH; begin += 41)
    for (uint32_t length = 0; length <= LENGTH - begin; length += length < 20 ? 1 : 51) {
      struct sl_test *t = test_with_series("extremes", value, EVENTS, LENGTH, NULL);
      sl_test_set(t, "begin", begin);
      sl_test_set(t, "length", length);
      assert_int_equal(sl_test_run(t), 0);
      const uint32_t *valid = sl_test_output(t, "extremes", "valid");
      for (uint32_t e = 0; e < EVENTS; e++) {
        check_event(t, e, value + (size_t)e * LENGTH, begin, length ? begin + length : LENGTH);
        assert_int_equal(valid[e], 15);
      }
      sl_test_free(t);
    }
}

static void digitised_samples_are_compared_as_unsigned_numbers(void **state) {
  (void)state;
  uint16_t value[EVENTS * LENGTH];
  float same[EVENTS * LENGTH];
  for (uint32_t i = 0; i < EVENTS * LENGTH; i++) value[i] = (uint16_t)(mixed(i) % 9 * 8191);
  for (uint32_t i = 0; i < EVENTS * LENGTH; i++) same[i] = value[i];
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "extremes");
  input_traces(t, value, NULL, EVENTS, LENGTH);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t e = 0; e < EVENTS; e++) check_event(t, e, same + (size_t)e * LENGTH, 0, LENGTH);
  sl_test_free(t);
}

static void a_waveform_without_values_has_no_extremes(void **state) {
  (void)state;
  const float value[] = {0, 0, 0, 4};
  const uint32_t valid[] = {0, 1};
  struct sl_test *t = test_with_series("extremes", value, 2, 2, valid);
  assert_int_equal(sl_test_run(t), 0);
  const float *maximum = sl_test_output(t, "extremes", "maximum");
  const int32_t *index = sl_test_output(t, "extremes", "first_maximum"),
                *low = sl_test_output(t, "extremes", "first_minimum");
  const uint32_t *found = sl_test_output(t, "extremes", "valid");
  assert_true(maximum[0] == 0 && maximum[1] == 4);
  assert_true(index[0] == -1 && low[0] == -1 && index[1] == 1);
  assert_true(found[0] == 0 && found[1] == 15);
  sl_test_free(t);
}

static void windows_beyond_the_waveform_and_other_inputs_are_refused(void **state) {
  (void)state;
  const float value[] = {0, 0, 0, 4};
  struct sl_test *t = test_with_series("extremes", value, 1, 4, NULL);
  sl_test_set(t, "begin", 4);
  assert_refused(t, "begin: the window begins at sample 4; a waveform has 4");
  t = test_with_series("extremes", value, 1, 4, NULL);
  sl_test_set(t, "begin", 2);
  sl_test_set(t, "length", 3);
  assert_refused(t, "length: the window ends at sample 5; a waveform has 4");
  assert_refused(sl_test_new(WAVEFORMS_PLUGIN, "extremes"), "none is connected");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_of_equal_values_is_found_in_any_window),
                                     cmocka_unit_test(digitised_samples_are_compared_as_unsigned_numbers),
                                     cmocka_unit_test(a_waveform_without_values_has_no_extremes),
                                     cmocka_unit_test(windows_beyond_the_waveform_and_other_inputs_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
