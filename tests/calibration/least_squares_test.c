/* least_squares_test.c: linear regression and quantiles. */
#include "least_squares.h"

#include <sluice/plugin.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static double uniform(void) { return (rand() + 0.5) / (RAND_MAX + 1.0); }

/* The sum of twelve uniform numbers is nearly normally distributed. */
static double normal(void) {
  double sum = -6;
  for (int i = 0; i < 12; i++) sum += uniform();
  return sum;
}

static const struct calibration_polynomial known = {
    .count = 4,
    .terms = {{3, {0, 0}}, {-2e-3, {1, 0}}, {5e4, {0, 2}}, {7, {1, 1}}},
};

static struct points sample(size_t count, double error) {
  struct points points = {0};
  for (size_t i = 0; i < count; i++) {
    const double u = 1000 * uniform(), v = 1e-2 * (uniform() - 0.5), scatter = error * (1 + u / 200);
    struct point point = {.variables = {u, v}, .factor = 2, .weight = i % 2 ? 1 : 3};
    point.target = 2 * calibration_sum(&known, point.variables) + scatter * normal();
    assert_int_equal(points_add(&points, &point), 0);
  }
  return points;
}

static void a_polynomial_is_found_from_exact_points(void **state) {
  (void)state;
  srand(1);
  struct calibration_polynomial p = known;
  struct points points = sample(500, 0);
  for (uint32_t i = 0; i < p.count; i++) p.terms[i].coefficient = 0;
  assert_int_equal(least_squares(&points, &p, NULL), 0);
  for (uint32_t i = 0; i < p.count; i++)
    assert_true(fabs(p.terms[i].coefficient / known.terms[i].coefficient - 1) < 1e-9);
  points_free(&points);
}

/* The error is correct although the scatter of points is unequal and differs from their weights. */
static void errors_agree_with_the_spread_of_many_samples(void **state) {
  (void)state;
  enum { SAMPLES = 300 };
  double squares[4] = {0}, claimed[4] = {0};
  srand(2);
  for (int n = 0; n < SAMPLES; n++) {
    struct calibration_polynomial p = known;
    struct points points = sample(400, 0.5);
    double errors[CALIBRATION_TERMS];
    assert_int_equal(least_squares(&points, &p, errors), 0);
    for (uint32_t i = 0; i < p.count; i++) {
      const double miss = p.terms[i].coefficient - known.terms[i].coefficient;
      squares[i] += miss * miss / SAMPLES;
      claimed[i] += errors[i] * errors[i] / SAMPLES;
    }
    points_free(&points);
  }
  for (int i = 0; i < 4; i++) {
    print_message("term %d: root mean square miss over error %.2f\n", i, sqrt(squares[i] / claimed[i]));
    assert_true(fabs(sqrt(squares[i] / claimed[i]) - 1) < 0.15);
  }
}

static void indistinguishable_terms_are_refused(void **state) {
  (void)state;
  struct calibration_polynomial twice = {.count = 2, .terms = {{.power = {1}}, {.power = {1}}}};
  struct calibration_polynomial line = {.count = 2, .terms = {{.power = {0}}, {.power = {1}}}};
  struct points points = {0};
  for (int i = 0; i < 2; i++) {
    const struct point point = {.variables = {i}, .factor = 1, .target = i, .weight = 1};
    assert_int_equal(points_add(&points, &point), 0);
  }
  assert_int_equal(least_squares(&points, &line, NULL), SL_EINVAL); /* two points, two terms */
  for (int i = 0; i < 9; i++) {
    const struct point point = {.variables = {i}, .factor = 1, .target = i, .weight = 1};
    assert_int_equal(points_add(&points, &point), 0);
  }
  assert_int_equal(least_squares(&points, &line, NULL), 0);
  assert_int_equal(least_squares(&points, &twice, NULL), SL_EINVAL);
  points_free(&points);
}

static void quantiles_follow_from_the_sorted_numbers(void **state) {
  (void)state;
  struct numbers n = {0};
  assert_true(quantile(&n, 0.5) == 0);
  for (int i = 0; i < 1001; i++) assert_int_equal(numbers_add(&n, (i * 8) % 1001), 0);
  assert_true(median(&n) == 500 && quantile(&n, 0.99) == 990 && quantile(&n, 0) == 0 && quantile(&n, 1) == 1000);
  assert_true(fabs(width(&n) - 340) <= 1);
  numbers_free(&n);
}

/* y uniform in (0, 2 + 3 x): its quantiles are lines. */
static void a_linear_quantile_is_recovered(void **state) {
  (void)state;
  struct pairs pairs = {0};
  double line[2];
  srand(3);
  assert_int_equal(quantile_line(&pairs, 0.9, line), SL_EINVAL);
  for (int i = 0; i < 40000; i++) {
    const double x = uniform();
    assert_int_equal(pairs_add(&pairs, x, uniform() * (2 + 3 * x)), 0);
  }
  assert_int_equal(quantile_line(&pairs, 0.9, line), 0);
  assert_true(fabs(line[0] - 1.8) < 0.05 && fabs(line[1] - 2.7) < 0.1);
  pairs_free(&pairs);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_polynomial_is_found_from_exact_points),
      cmocka_unit_test(errors_agree_with_the_spread_of_many_samples),
      cmocka_unit_test(indistinguishable_terms_are_refused),
      cmocka_unit_test(quantiles_follow_from_the_sorted_numbers),
      cmocka_unit_test(a_linear_quantile_is_recovered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
