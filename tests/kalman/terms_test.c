/* terms_test.c: the terms of the polynomials. */
#include "support.h"

static int compare(const struct kalman_term *a, const struct kalman_term *b) {
  static const int order[KALMAN_VARIABLES] = {4, 2, 3, 0, 1}; /* e, c, d, a, b */
  for (int k = 0; k < KALMAN_VARIABLES; k++) {
    const int difference = a->power[order[k]] - b->power[order[k]];
    if (difference != 0) return difference;
  }
  return 0;
}

/* The rule of terms.h, written for a single term. */
struct rule {
  int degree, e_max, cd_max, slope_weight, slope_e_max;
};
static const struct rule rules[KALMAN_KINDS] = {
    [KALMAN_FIRST] = {4, 3, 2, 2, 3},
    [KALMAN_SHORT] = {4, 3, 1, 2, 1},
    [KALMAN_GAP] = {5, 3, 1, 2, 2},
    [KALMAN_LONG] = {8, 7, 2, 3, 7},
};
static int is_term(const struct rule *r, int is_y, const int *power) {
  const int a = power[0], b = power[1], c = power[2], d = power[3], e = power[4];
  if (e < 1 || e > r->e_max || c + d > r->cd_max) return 0;
  if (c + d > 0 && e > r->slope_e_max) return 0;
  if (a + b + r->slope_weight * (c + d) + (e - 1) > r->degree) return 0;
  return (a + c + e) % 2 == (is_y ? 0 : 1) && (b + d) % 2 == (is_y ? 1 : 0);
}

/* All combinations of powers up to 9: the list has those of the rule, and their number is the constant. */
static void the_list_has_the_terms_of_the_rule(void **state) {
  enum { POWERS = 10 };
  (void)state;
  for (int kind = 0; kind < KALMAN_KINDS; kind++) {
    for (int is_y = 0; is_y < 2; is_y++) {
      struct kalman_term terms[KALMAN_TERMS_MAX];
      int found = 0;
      const int count = kalman_list_terms(kind, is_y, terms);
      assert_int_equal(count, kalman_term_count(kind, is_y));
      for (int n = 0; n < POWERS * POWERS * POWERS * POWERS * POWERS; n++) {
        const int power[] = {n % POWERS, n / 10 % POWERS, n / 100 % POWERS, n / 1000 % POWERS, n / 10000};
        found += is_term(&rules[kind], is_y, power);
      }
      assert_int_equal(found, count);
      for (int i = 0; i < count; i++) assert_true(is_term(&rules[kind], is_y, terms[i].power));
      for (int i = 1; i < count; i++) assert_true(compare(&terms[i - 1], &terms[i]) < 0);
    }
  }
}

static void legs_have_their_kinds(void **state) {
  static const int gaps[] = {8, 12};
  (void)state;
  assert_int_equal(KALMAN_LEGS, 16);
  for (int l = 0; l < KALMAN_LEGS; l++) {
    const int expected = l == 0                         ? KALMAN_FIRST
                         : l == 4                       ? KALMAN_LONG
                         : l == gaps[0] || l == gaps[1] ? KALMAN_GAP
                                                        : KALMAN_SHORT;
    assert_int_equal(kalman_kind(l), expected);
  }
}

static void coefficients_of_legs_are_contiguous(void **state) {
  int next = 0;
  (void)state;
  for (int l = 0; l < KALMAN_LEGS; l++) {
    assert_int_equal(kalman_first_coefficient(l), next);
    for (int o = 0; o < KALMAN_OUTPUTS; o++) next += kalman_term_count(kalman_kind(l), kalman_is_y(o));
  }
  assert_int_equal(next, KALMAN_COEFFICIENTS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_list_has_the_terms_of_the_rule),
      cmocka_unit_test(legs_have_their_kinds),
      cmocka_unit_test(coefficients_of_legs_are_contiguous),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
