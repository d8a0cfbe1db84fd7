/* t0_filter_test.c: the filter for the beginning of pulses, against all its products. */
#include "waveforms_support.h"

#include <math.h>

enum { EVENTS = 2, LENGTH = 403 };

static void check(uint32_t rise, uint32_t fall) {
  static float value[EVENTS * LENGTH];
  static double sum[EVENTS * (LENGTH + 1)];
  make_series(value, EVENTS, LENGTH);
  make_sums(value, EVENTS, LENGTH, sum);
  struct sl_test *t = test_with_series("t0_filter", value, EVENTS, LENGTH, NULL);
  sl_test_dimension(t, "sums", "entries", LENGTH + 1);
  sl_test_input(t, "sums", "sum", sum, EVENTS * (LENGTH + 1));
  sl_test_set(t, "rise", rise);
  sl_test_set(t, "fall", fall);
  assert_int_equal(sl_test_run(t), 0);
  const float *found = sl_test_output(t, "filtered", "value");
  for (uint32_t e = 0; e < EVENTS; e++)
    for (int32_t n = 0; n < LENGTH; n++) {
      double expected = 0;
      for (uint32_t j = 0; j < rise + fall; j++) {
        const int32_t at = n + (int32_t)((rise + fall - 1) / 2) - (int32_t)j;
        const double tap = j < rise ? 2.0 * (rise - j) / (rise * (rise + 1.0)) : -1.0 / fall;
        if (at >= 0 && at < LENGTH) expected += tap * (double)value[e * LENGTH + (uint32_t)at];
      }
      assert_near((double)found[e * LENGTH + (uint32_t)n], expected, 1e-3, "output", (uint32_t)n);
    }
  sl_test_free(t);
}

static void outputs_are_those_of_all_products(void **state) {
  (void)state;
  check(8, 125);
  check(1, 1);
  check(1, 402);
  check(5, 398);
  check(200, 3);
  check(402, 1);
}

static void filters_longer_than_the_waveform_are_refused(void **state) {
  (void)state;
  const float value[4] = {0};
  const double sum[5] = {0};
  for (uint32_t entries = 5; entries >= 4; entries--) {
    struct sl_test *t = test_with_series("t0_filter", value, 1, 4, NULL);
    sl_test_dimension(t, "sums", "entries", entries);
    sl_test_input(t, "sums", "sum", sum, entries);
    sl_test_set(t, "rise", 3);
    sl_test_set(t, "fall", 2);
    assert_refused(t, entries == 5 ? "fall: rise and fall have 5 samples together; a waveform has 4"
                                   : "the sums have 4 entries; 5 are expected");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(outputs_are_those_of_all_products),
                                     cmocka_unit_test(filters_longer_than_the_waveform_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
