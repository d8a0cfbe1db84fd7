/* trapezoid_test.c: the trapezoidal filter against means of samples; its maximum and its value at a point have the bits
 * of the whole filter. */
#include "waveforms_support.h"

enum { EVENTS = 3, LENGTH = 419 };
static float value[EVENTS * LENGTH];
static double sum[EVENTS * (LENGTH + 1)];

static struct sl_test *test_with_sums(const char *algorithm, uint32_t rise, uint32_t flat, uint32_t fall) {
  make_series(value, EVENTS, LENGTH);
  make_sums(value, EVENTS, LENGTH, sum);
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, algorithm);
  sl_test_events(t, EVENTS);
  sl_test_dimension(t, "sums", "entries", LENGTH + 1);
  sl_test_input(t, "sums", "sum", sum, EVENTS * (LENGTH + 1));
  sl_test_set(t, "rise", rise);
  sl_test_set(t, "flat", flat);
  sl_test_set(t, "fall", fall);
  return t;
}

/* Mean of the `count` samples up to `last`, which may be before the waveform. */
static double mean_of(const float *of_event, int32_t last, uint32_t count) {
  double total = 0;
  for (int32_t i = last; i > last - (int32_t)count && i >= 0; i--) total += (double)of_event[i];
  return total / count;
}

static void check_maximum(const float *filtered, uint32_t rise, uint32_t flat, uint32_t fall) {
  struct sl_test *t = test_with_sums("trapezoid_maximum", rise, flat, fall);
  assert_int_equal(sl_test_run(t), 0);
  const float *found = sl_test_output(t, "maximum", "value");
  const uint32_t *valid = sl_test_output(t, "maximum", "valid");
  for (uint32_t e = 0; e < EVENTS; e++) {
    float expected = filtered[(size_t)e * LENGTH];
    for (uint32_t n = 0; n < LENGTH; n++)
      if (filtered[e * LENGTH + n] > expected) expected = filtered[e * LENGTH + n];
    assert_true(found[e] == expected && valid[e] == 1);
  }
  sl_test_free(t);
}

static void check_pick(const float *filtered, int32_t point, int32_t offset, uint32_t rise, uint32_t flat,
                       uint32_t fall) {
  const int32_t points[EVENTS] = {point, -1, point + 1};
  struct sl_test *t = test_with_sums("trapezoid_pick", rise, flat, fall);
  sl_test_input(t, "points", "index", points, EVENTS);
  sl_test_set(t, "offset", offset);
  sl_test_set(t, "factor", 16);
  assert_int_equal(sl_test_run(t), 0);
  const float *found = sl_test_output(t, "picked", "value");
  const uint32_t *valid = sl_test_output(t, "picked", "valid");
  for (uint32_t e = 0; e < EVENTS; e++) {
    const int32_t n = points[e] + offset;
    const uint32_t exists = points[e] >= 0 && n >= 0 && n < LENGTH;
    assert_int_equal(valid[e], exists);
    assert_true(found[e] == (exists ? 16.0f * filtered[e * LENGTH + (uint32_t)n] : 0.0f));
  }
  sl_test_free(t);
}

static void check(uint32_t rise, uint32_t flat, uint32_t fall) {
  struct sl_test *t = test_with_sums("trapezoid", rise, flat, fall);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_output_count(t, "filtered", "value"), EVENTS * LENGTH);
  const float *found = sl_test_output(t, "filtered", "value");
  for (uint32_t e = 0; e < EVENTS; e++)
    for (int32_t n = 0; n < LENGTH; n++) {
      const float *of_event = value + (size_t)e * LENGTH;
      const double after = mean_of(of_event, n, rise);
      const double before = mean_of(of_event, n - (int32_t)(rise + flat), fall ? fall : rise);
      assert_near((double)found[e * LENGTH + (uint32_t)n], after - before, 1e-4, "output", (uint32_t)n);
    }
  check_maximum(found, rise, flat, fall);
  check_pick(found, 100, 50, rise, flat, fall);
  check_pick(found, 3, 0, rise, flat, fall);
  check_pick(found, 10, -11, rise, flat, fall);
  check_pick(found, 10, LENGTH - 11, rise, flat, fall);
  sl_test_free(t);
}

static void outputs_are_differences_of_two_means(void **state) {
  (void)state;
  check(8, 4, 125);
  check(100, 31, 0);
  check(1, 0, 1);
  check(209, 1, 0);
  check(3, 400, 16);
  check(400, 0, 19);
}

static void filters_longer_than_the_waveform_are_refused(void **state) {
  (void)state;
  assert_refused(test_with_sums("trapezoid", 200, 20, 0),
                 "rise: rise, flat and fall have 420 samples together; a waveform has 419");
  assert_refused(test_with_sums("trapezoid_maximum", 200, 20, 0), "a waveform has 419");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(outputs_are_differences_of_two_means),
                                     cmocka_unit_test(filters_longer_than_the_waveform_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
