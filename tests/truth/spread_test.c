/* spread_test.c: mean, rms and robust width of values with known spread. */
#include "checks/spread.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct spread s;

static int start(void **state) {
  (void)state;
  s = (struct spread){0};
  return 0;
}

static void assert_near(double value, double expected, double tolerance) {
  if (!(fabs(value - expected) <= tolerance)) fail_msg("%.9g is not %.9g", value, expected);
}

/* Values at equal steps of the Gaussian's integral, found by bisection. */
static void add_gaussian(uint32_t count, double range, double mean, double sigma) {
  for (uint32_t i = 0; i < count; i++) {
    const double share = (i + 0.5) / count;
    double low = -9, high = 9;
    while (high - low > 1e-9) {
      const double middle = (low + high) / 2;
      if (0.5 * erfc(-middle / sqrt(2)) < share)
        low = middle;
      else
        high = middle;
    }
    spread_add(&s, range, mean + sigma * low);
  }
}

static void no_values_have_no_spread(void **state) {
  (void)state;
  assert_true(spread_mean(&s) == 0 && spread_rms(&s) == 0 && spread_width(&s, 1) == 0 && spread_median(&s, 1) == 0);
  assert_true(spread_width_error(&s, 1) == 0 && spread_median_error(&s, 1) == 0);
}

static void one_value_is_narrower_than_a_cell(void **state) {
  (void)state;
  spread_add(&s, 1, 0.25);
  assert_near(spread_mean(&s), 0.25, 1e-12);
  assert_near(spread_rms(&s), 0, 1e-9);
  assert_in_range(1e6 * spread_width(&s, 1), 0, 1e6 * 2 / SPREAD_CELLS);
}

static void width_of_a_gaussian_is_its_sigma(void **state) {
  (void)state;
  const double sigmas[] = {0.005, 0.02, 0.1, 0.3};
  for (int i = 0; i < 4; i++) {
    s = (struct spread){0};
    add_gaussian(2000, 1, 0.03, sigmas[i]);
    assert_near(spread_mean(&s), 0.03, 1e-6);
    assert_near(spread_rms(&s), sigmas[i], 0.003 * sigmas[i]);
    assert_near(spread_width(&s, 1), sigmas[i], 0.01 * sigmas[i]);
    assert_near(spread_median(&s, 1), 0.03, 2.0 / SPREAD_CELLS);
  }
}

static void tails_change_mean_and_rms_but_not_median_and_width(void **state) {
  (void)state;
  add_gaussian(2000, 1, 0, 0.05);
  const double width = spread_width(&s, 1);
  for (int i = 0; i < 10; i++) spread_add(&s, 1, i % 2 ? 30 : -30); /* outside the histogram */
  assert_int_equal(s.count, 2010);
  assert_near(spread_width(&s, 1), width, 0.01 * width);
  assert_near(spread_rms(&s), sqrt((2000 * 0.05 * 0.05 + 10 * 900) / 2010), 1e-3);
  for (int i = 0; i < 10; i++) spread_add(&s, 1, 30);
  assert_near(spread_mean(&s), 300.0 / 2020, 1e-6);
  assert_near(spread_median(&s, 1), 0, 0.01 * width);
}

static double uniform(uint64_t *random) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return ((double)(*random >> 11) + 0.5) / 9007199254740992.0;
}

/* The scatter of 2000 samples of 400 Gaussian values; it has an error of 1.6 %. */
static void errors_are_the_scatter_of_samples(void **state) {
  (void)state;
  enum { SAMPLES = 2000, VALUES = 400 };
  const double sigma = 0.1;
  double medians = 0, widths = 0, median_errors = 0, width_errors = 0;
  uint64_t random = 1;
  for (int i = 0; i < SAMPLES; i++) {
    s = (struct spread){0};
    for (int k = 0; k < VALUES; k++) {
      const double r = sqrt(-2 * log(uniform(&random)));
      spread_add(&s, 1, sigma * r * cos(6.283185307179586 * uniform(&random)));
    }
    medians += spread_median(&s, 1) * spread_median(&s, 1);
    widths += (spread_width(&s, 1) - sigma) * (spread_width(&s, 1) - sigma);
    median_errors += spread_median_error(&s, 1) / SAMPLES;
    width_errors += spread_width_error(&s, 1) / SAMPLES;
  }
  assert_near(median_errors, sqrt(medians / SAMPLES), 0.05 * median_errors);
  assert_near(width_errors, sqrt(widths / SAMPLES), 0.05 * width_errors);
}

static void nan_is_ignored_and_counted(void **state) {
  (void)state;
  add_gaussian(2000, 1, 0.03, 0.1);
  const struct spread without = s;
  spread_add(&s, 1, NAN);
  assert_int_equal(s.count, 2000);
  assert_int_equal(s.ignored, 1);
  assert_true(spread_mean(&s) == spread_mean(&without) && spread_rms(&s) == spread_rms(&without));
  assert_memory_equal(s.cells, without.cells, sizeof s.cells);
  spread_add(&s, 1, INFINITY);
  spread_add(&s, 1, -INFINITY);
  assert_int_equal(s.count, 2002);
  assert_int_equal(s.cells[0], without.cells[0] + 1);
  assert_int_equal(s.cells[SPREAD_CELLS - 1], without.cells[SPREAD_CELLS - 1] + 1);
  assert_near(spread_width(&s, 1), spread_width(&without, 1), 1e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(no_values_have_no_spread, start),
      cmocka_unit_test_setup(one_value_is_narrower_than_a_cell, start),
      cmocka_unit_test_setup(width_of_a_gaussian_is_its_sigma, start),
      cmocka_unit_test_setup(nan_is_ignored_and_counted, start),
      cmocka_unit_test_setup(errors_are_the_scatter_of_samples, start),
      cmocka_unit_test_setup(tails_change_mean_and_rms_but_not_median_and_width, start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
