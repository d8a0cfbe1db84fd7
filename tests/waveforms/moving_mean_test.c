/* moving_mean_test.c: moving means, against sums of each window. */
#include "waveforms_support.h"

#include <stdlib.h>

enum { EVENTS = 2, LENGTH_MAX = 1300 };
static float value[EVENTS * LENGTH_MAX];

static double at(const double *v, int32_t i, int32_t count) { return v[i < 0 ? 0 : i < count ? i : count - 1]; }

/* One pass over a copy of `v`. */
static void average(double *v, int32_t count, int32_t length, int is_right) {
  double *before = malloc((size_t)count * sizeof *before);
  assert_non_null(before);
  memcpy(before, v, (size_t)count * sizeof *before);
  for (int32_t n = 0; n < count; n++) {
    v[n] = 0;
    for (int32_t k = 0; k < length; k++) v[n] += at(before, is_right ? n + k : n - k, count) / length;
  }
  free(before);
}

static void check(uint32_t values, uint32_t length, const char *passes) {
  static double expected[LENGTH_MAX];
  make_series(value, EVENTS, values);
  struct sl_test *t = test_with_series("moving_mean", value, EVENTS, values, NULL);
  sl_test_set(t, "length", length);
  sl_test_set_text(t, "passes", passes);
  assert_int_equal(sl_test_run(t), 0);
  const float *found = sl_test_output(t, "means", "value");
  for (uint32_t e = 0; e < EVENTS; e++) {
    for (uint32_t n = 0; n < values; n++) expected[n] = (double)value[e * values + n];
    for (const char *p = passes; *p; p++)
      if (*p == 'l' || *p == 'r') {
        average(expected, (int32_t)values, (int32_t)length, *p == 'r');
        while (p[1] && p[1] != ' ' && p[1] != ',') p++;
      }
    for (uint32_t n = 0; n < values; n++) assert_near((double)found[e * values + n], expected[n], 3e-4, "mean", n);
  }
  sl_test_free(t);
}

static void each_pass_averages_the_values_to_its_side(void **state) {
  (void)state;
  check(1300, 48, "left right left");
  check(1300, 1, "left");
  check(513, 2, "right");
  check(512, 3, "left, right");
  check(600, 37, "right,right");
  check(900, 511, "left");
  check(1300, 1299, "right left");
  check(700, 512, "right");
  check(60, 59, "left");
  check(3, 2, "right left right left");
}

static void passes_and_lengths_are_checked(void **state) {
  (void)state;
  struct sl_test *t = test_with_series("moving_mean", value, EVENTS, 48, NULL);
  assert_refused(t, "length: a mean of 48 values; waveforms have 48");
  t = test_with_series("moving_mean", value, EVENTS, 49, NULL);
  sl_test_set_text(t, "passes", "left rights");
  assert_refused(t, "`left` or `right` is expected");
  t = test_with_series("moving_mean", value, EVENTS, 49, NULL);
  sl_test_set_text(t, "passes", " ");
  assert_refused(t, "at least one pass");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_pass_averages_the_values_to_its_side),
                                     cmocka_unit_test(passes_and_lengths_are_checked)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
