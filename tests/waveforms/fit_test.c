/* fit_test.c: mean, deviation and line of a window, against sums about the mean. */
#include "waveforms_support.h"

#include <math.h>

enum { EVENTS = 3, LENGTH = 517 };

static void check_event(const struct sl_test *t, uint32_t event, const float *value, uint32_t count) {
  const float *mean = sl_test_output(t, "fits", "mean"), *deviation = sl_test_output(t, "fits", "deviation");
  const float *slope = sl_test_output(t, "fits", "slope"), *intercept = sl_test_output(t, "fits", "intercept");
  long double sum = 0, squares = 0, moments = 0, widths = 0;
  const long double middle = (count - 1) / 2.0L;
  for (uint32_t i = 0; i < count; i++) sum += value[i];
  const long double expected = sum / count;
  for (uint32_t i = 0; i < count; i++) {
    squares += (value[i] - expected) * (value[i] - expected);
    moments += (i - middle) * (value[i] - expected);
    widths += (i - middle) * (i - middle);
  }
  const double line = (double)(moments / widths);
  assert_near((double)mean[event], (double)expected, 1e-7 * fabs((double)expected), "mean", event);
  assert_near((double)deviation[event], sqrt((double)squares / (count - 1)), 1e-5, "deviation", event);
  assert_near((double)slope[event], line, 1e-7 * fabs(line) + 1e-12, "slope", event);
  assert_near((double)intercept[event], (double)(expected - line * middle), 1e-4, "intercept", event);
}

static void windows_have_their_mean_deviation_and_line(void **state) {
  (void)state;
  float value[EVENTS * LENGTH];
  make_series(value, EVENTS, LENGTH);
  const uint32_t windows[][2] = {{0, 0}, {0, 2}, {3, 31}, {3, 32}, {10, 33}, {200, 317}, {516 - 64, 65}};
  for (uint32_t w = 0; w < 7; w++) {
    struct sl_test *t = test_with_series("fit", value, EVENTS, LENGTH, NULL);
    sl_test_set(t, "begin", windows[w][0]);
    sl_test_set(t, "length", windows[w][1]);
    assert_int_equal(sl_test_run(t), 0);
    for (uint32_t e = 0; e < EVENTS; e++)
      check_event(t, e, value + (size_t)e * LENGTH + windows[w][0], windows[w][1] ? windows[w][1] : LENGTH);
    sl_test_free(t);
  }
}

static void a_line_of_integers_is_found_exactly(void **state) {
  (void)state;
  float value[2 * 750];
  for (uint32_t i = 0; i < 750; i++) value[i] = 60000.0f - 3.0f * (float)i;
  for (uint32_t i = 0; i < 750; i++) value[750 + i] = 65535.0f;
  struct sl_test *t = test_with_series("fit", value, 2, 750, NULL);
  assert_int_equal(sl_test_run(t), 0);
  const float *slope = sl_test_output(t, "fits", "slope"), *intercept = sl_test_output(t, "fits", "intercept");
  const float *deviation = sl_test_output(t, "fits", "deviation"), *mean = sl_test_output(t, "fits", "mean");
  assert_true(slope[0] == -3.0f && intercept[0] == 60000.0f && mean[0] == 60000.0f - 1123.5f);
  assert_true(slope[1] == 0.0f && deviation[1] == 0.0f && mean[1] == 65535.0f);
  sl_test_free(t);
}

static void a_waveform_without_values_has_no_fit(void **state) {
  (void)state;
  const float value[4] = {0};
  const uint32_t valid[] = {0, 1};
  struct sl_test *t = test_with_series("fit", value, 2, 2, valid);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *found = sl_test_output(t, "fits", "valid");
  assert_true(found[0] == 0 && found[1] == 15);
  sl_test_free(t);
}

static void windows_of_one_sample_are_refused(void **state) {
  (void)state;
  const float value[4] = {0};
  struct sl_test *t = test_with_series("fit", value, 1, 4, NULL);
  sl_test_set(t, "begin", 3);
  assert_refused(t, "the window has 1 samples; at least 2 are expected");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(windows_have_their_mean_deviation_and_line),
                                     cmocka_unit_test(a_line_of_integers_is_found_exactly),
                                     cmocka_unit_test(a_waveform_without_values_has_no_fit),
                                     cmocka_unit_test(windows_of_one_sample_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
