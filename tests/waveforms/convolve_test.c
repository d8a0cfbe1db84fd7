/* convolve_test.c: filters with a finite response against all their products; taps against their definition. */
#include "cusp_reference.h"
#include "waveforms_support.h"

enum { EVENTS = 2, LENGTH = 211 };

static void check(uint32_t taps, uint32_t length, int is_valid_mode) {
  float value[EVENTS * LENGTH];
  double tap[LENGTH];
  make_series(value, EVENTS, LENGTH);
  for (uint32_t k = 0; k < taps; k++) tap[k] = (double)(mixed(k) % 100) / 50 - 1;
  struct sl_test *t = test_with_series("convolve", value, EVENTS, LENGTH, NULL);
  sl_test_input(t, "taps", "value", tap, taps);
  sl_test_set(t, "length", length);
  sl_test_set_text(t, "mode", is_valid_mode ? "valid" : "same");
  assert_int_equal(sl_test_run(t), 0);
  const float *found = sl_test_output(t, "filtered", "value");
  for (uint32_t e = 0; e < EVENTS; e++)
    for (int32_t n = 0; n < (int32_t)length; n++) {
      long double expected = 0;
      for (int32_t k = 0; k < (int32_t)taps; k++) {
        const int32_t i = n + (int32_t)(is_valid_mode ? taps - 1 : (taps - 1) / 2) - k;
        if (i >= 0 && i < LENGTH) expected += (long double)tap[k] * value[(int32_t)e * LENGTH + i];
      }
      assert_near((double)found[(int32_t)e * (int32_t)length + n], (double)expected, 1e-3, "output", (uint32_t)n);
    }
  sl_test_free(t);
}

static void outputs_are_sums_of_products(void **state) {
  (void)state;
  check(1, LENGTH, 0);
  check(8, LENGTH, 0);
  check(133, LENGTH, 0);
  check(LENGTH, 40, 0);
  check(1, LENGTH, 1);
  check(100, 112, 1);
  check(100, 7, 1);
  check(LENGTH, 1, 1);
}

static void more_outputs_than_exist_are_refused(void **state) {
  (void)state;
  const float value[8] = {0};
  const double tap[3] = {0};
  for (int valid = 0; valid < 2; valid++) {
    struct sl_test *t = test_with_series("convolve", value, 1, 8, NULL);
    sl_test_input(t, "taps", "value", tap, 3);
    sl_test_set_text(t, "mode", valid ? "valid" : "same");
    sl_test_set(t, "length", valid ? 7 : 9);
    assert_refused(t, valid ? "length: 7 values of the mode `valid`; there are at most 6"
                            : "length: 9 values of the mode `same`; there are at most 8");
  }
}

static void a_filter_without_taps_is_refused(void **state) {
  (void)state;
  const float value[8] = {0};
  const double tap[1] = {0};
  struct sl_test *t = test_with_series("convolve", value, 1, 8, NULL);
  sl_test_input(t, "taps", "value", tap, 0);
  assert_refused(t, "the input `taps` has no taps");
}

static void cusp_taps_are_those_of_the_definition(void **state) {
  (void)state;
  const struct cusp_case cases[] = {{3192, 188, 0, 1250, 28125},
                                    {3192, 188, 1, 1250, 28125},
                                    {501, 0, 1, 40, 3000},
                                    {500, 1, 0, 20, 100},
                                    {4, 0, 1, 5, 10},
                                    {2000, 3, 0, 1.5, 10}};
  for (uint32_t k = 0; k < 6; k++) {
    struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "cusp_taps");
    sl_test_set(t, "length", cases[k].taps);
    sl_test_set(t, "flat", cases[k].flat);
    sl_test_set(t, "sigma", cases[k].sigma);
    sl_test_set(t, "tau", cases[k].tau);
    sl_test_set(t, "zero_area", cases[k].zero_area);
    assert_int_equal(sl_test_run(t), 0);
    const double *found = sl_test_output(t, "taps", "value");
    long double *expected = cusp_reference(&cases[k]);
    assert_int_equal(sl_test_output_count(t, "taps", "value"), cases[k].taps);
    for (uint32_t i = 0; i < cases[k].taps; i++) assert_near(found[i], (double)expected[i], 1e-13, "tap", i);
    free(expected);
    sl_test_free(t);
  }
}

static void t0_taps_have_two_areas_of_1(void **state) {
  (void)state;
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "t0_taps");
  assert_int_equal(sl_test_run(t), 0);
  const double *found = sl_test_output(t, "taps", "value");
  double area[2] = {0};
  assert_int_equal(sl_test_output_count(t, "taps", "value"), 133);
  for (uint32_t i = 0; i < 133; i++) area[i >= 8] += found[i];
  assert_near(area[0], 1, 1e-15, "area", 0);
  assert_near(area[1], -1, 1e-14, "area", 1);
  assert_near(found[7], 2.0 / 72, 1e-17, "tap", 7);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outputs_are_sums_of_products), cmocka_unit_test(more_outputs_than_exist_are_refused),
      cmocka_unit_test(a_filter_without_taps_is_refused), cmocka_unit_test(cusp_taps_are_those_of_the_definition),
      cmocka_unit_test(t0_taps_have_two_areas_of_1)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
