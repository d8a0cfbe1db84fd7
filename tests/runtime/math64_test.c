/* math64_test.c: compares sluice/math64.h with the C library in long double precision: seeded points over each
 * function's domain, the stated maximum errors, and values at the edges. The stated errors were determined with 30
 * million points for each of most rows of `ranges`, which takes minutes. */
#include "support.h"

#include <sluice/math64.h>

#include <math.h>

enum { POINTS = 200000 };
#define RESULTS_DIGEST 0x6f07cac5e7531fe0ull

static uint64_t random_state;

/* SplitMix64: all bits of a number are random. */
static uint64_t random_bits(void) {
  uint64_t x = random_state += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

static void random_start(void) {
  const char *text = getenv("SLUICE_TEST_SEED");
  random_state = text ? strtoull(text, NULL, 0) : 20261129;
  print_message("SLUICE_TEST_SEED=%llu\n", (unsigned long long)random_state);
}

static double random_between(double low, double high) {
  return low + (high - low) * ((double)(random_bits() >> 11) * 0x1p-53);
}

/* In (-1, 1), with all exponents down to 2^-1000. */
static double random_small(double low, double high) {
  (void)low, (void)high;
  return ldexp(random_between(-1.0, 1.0), -(int)(random_bits() % 1000));
}

/* 1 + x, x as in random_small down to 2^-50. */
static double random_near_1(double low, double high) {
  (void)low, (void)high;
  return 1.0 + ldexp(random_between(-1.0, 1.0), -(int)(random_bits() % 50));
}

/* Uniform over the positive numbers, so that all exponents are equally frequent. */
static double random_positive(double low, double high) {
  (void)low, (void)high;
  return sl_f64_from_bits(random_bits() % 0x7ff0000000000000u);
}

/* The numbers nearest to multiples of pi/2. */
static double random_multiple(double low, double high) {
  (void)low;
  return (double)(1.57079632679489661923132169163975144L * (long double)(random_bits() % (uint64_t)(high / 1.6)));
}

/* ------------------------------------------------------------------------------------------------- errors */

/* Difference in units in the last place of the true value rounded to double. */
static double error_ulp(double got, long double expected) {
  int exponent;
  if (sl_bits_from_f64(got) == sl_bits_from_f64((double)expected)) return 0.0;
  if (!isfinite(got) || !isfinite((double)expected)) return INFINITY;
  frexpl(expected, &exponent);
  const long double ulp = ldexpl(1.0L, (exponent < -1021 ? -1021 : exponent) - 53);
  return (double)(fabsl((long double)got - expected) / ulp);
}

/* A function over a range, with the stated maximum error there. */
static const struct range {
  const char *name;
  double (*function)(double);
  long double (*expected)(long double);
  double (*point)(double low, double high);
  double low, high, bound;
} ranges[] = {
    {"sl_exp, normal results", sl_exp, expl, random_between, -708.0, 709.78, 0.6},
    {"sl_exp near 0", sl_exp, expl, random_between, -1.0, 1.0, 0.6},
    {"sl_exp, denormal results", sl_exp, expl, random_between, -745.0, -708.0, 0.76},
    {"sl_expm1 near 0", sl_expm1, expm1l, random_between, -2.0, 2.0, 0.9},
    {"sl_expm1", sl_expm1, expm1l, random_between, -45.0, 709.78, 0.9},
    {"sl_expm1, small arguments", sl_expm1, expm1l, random_small, 0, 0, 0.9},
    {"sl_sinh near 0", sl_sinh, sinhl, random_between, -3.0, 3.0, 1.6},
    {"sl_sinh", sl_sinh, sinhl, random_between, -710.4, 710.4, 1.6},
    {"sl_sinh, small arguments", sl_sinh, sinhl, random_small, 0, 0, 1.6},
    {"sl_log", sl_log, logl, random_positive, 0, 0, 0.67},
    {"sl_log near 1", sl_log, logl, random_between, 0.5, 2.0, 0.67},
    {"sl_log next to 1", sl_log, logl, random_near_1, 0, 0, 0.67},
    {"sl_log1p", sl_log1p, log1pl, random_positive, 0, 0, 0.67},
    {"sl_log1p near 0", sl_log1p, log1pl, random_between, -0.999, 3.0, 0.67},
    {"sl_log1p, small arguments", sl_log1p, log1pl, random_small, 0, 0, 0.67},
    {"sl_sin", sl_sin, sinl, random_between, -7.0, 7.0, 0.79},
    {"sl_sin, large arguments", sl_sin, sinl, random_between, -0x1p30, 0x1p30, 0.79},
    {"sl_sin near its zeros", sl_sin, sinl, random_multiple, 0, 0x1p30, 0.79},
    {"sl_sin, small arguments", sl_sin, sinl, random_small, 0, 0, 0.79},
    {"sl_cos", sl_cos, cosl, random_between, -7.0, 7.0, 0.79},
    {"sl_cos, large arguments", sl_cos, cosl, random_between, -0x1p30, 0x1p30, 0.79},
    {"sl_cos near its zeros", sl_cos, cosl, random_multiple, 0, 0x1p30, 0.79},
};

static void functions_of_one_number_keep_their_bounds(void **state) {
  (void)state;
  random_start();
  for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
    const struct range *r = &ranges[k];
    double worst = 0.0, at = 0.0;
    for (int i = 0; i < POINTS; i++) {
      const double x = r->point(r->low, r->high), error = error_ulp(r->function(x), r->expected((long double)x));
      if (error <= worst) continue;
      worst = error;
      at = x;
    }
    print_message("%s: at most %.3f ulp, at %a\n", r->name, worst, at);
    if (worst > r->bound) fail_msg("%s: %.3f ulp at %a; %.3f are stated", r->name, worst, at, r->bound);
  }
}

static void the_angle_keeps_its_bound(void **state) {
  (void)state;
  double worst = 0.0, at_y = 0.0, at_x = 0.0;
  random_start();
  for (int i = 0; i < 10 * POINTS; i++) {
    const int exponent = i % 3 == 0 ? 1 : i % 3 == 1 ? 40 : 2000;
    const double y = ldexp(random_between(-1.0, 1.0), (int)(random_bits() % (uint64_t)exponent) - exponent / 2);
    const double x = ldexp(random_between(-1.0, 1.0), (int)(random_bits() % (uint64_t)exponent) - exponent / 2);
    const double error = error_ulp(sl_atan2(y, x), atan2l((long double)y, (long double)x));
    if (error <= worst) continue;
    worst = error;
    at_y = y;
    at_x = x;
  }
  print_message("sl_atan2: at most %.3f ulp, at %a %a\n", worst, at_y, at_x);
  if (worst > 0.76) fail_msg("sl_atan2: %.3f ulp at %a %a; 0.76 are stated", worst, at_y, at_x);
}

/* -------------------------------------------------------------------------------------------------- edges */

#define LARGEST  0x1.fffffffffffffp1023
#define SMALLEST 0x1p-1074
#define NAN_F64  sl_f64_from_bits(0x7ff8000000000000u)
#define assert_same(a, b)                                                                                       \
  do {                                                                                                          \
    const double got_ = (a), expected_ = (b);                                                                   \
    if (sl_bits_from_f64(got_) != sl_bits_from_f64(expected_)) fail_msg("%s: %a, not %a", #a, got_, expected_); \
  } while (0)
#define assert_nan(x) assert_true(isnan(x))

static void exponentials_are_correct_at_their_edges(void **state) {
  (void)state;
  assert_same(sl_exp(0.0), 1.0);
  assert_same(sl_exp(-0.0), 1.0);
  assert_same(sl_exp(SMALLEST), 1.0);
  assert_same(sl_exp(INFINITY), INFINITY);
  assert_same(sl_exp(LARGEST), INFINITY);
  assert_same(sl_exp(-INFINITY), 0.0);
  assert_same(sl_exp(-LARGEST), 0.0);
  assert_true(isfinite(sl_exp(0x1.62e42fefa39efp+9))); /* just below ln of the largest number, and just above it */
  assert_same(sl_exp(0x1.62e42fefa39f0p+9), INFINITY);
  assert_same(sl_exp(-745.13), SMALLEST);
  assert_same(sl_exp(-745.14), 0.0);
  assert_nan(sl_exp(NAN_F64));
  assert_same(sl_expm1(0.0), 0.0);
  assert_same(sl_expm1(-0.0), -0.0);
  assert_same(sl_expm1(SMALLEST), SMALLEST);
  assert_same(sl_expm1(-INFINITY), -1.0);
  assert_same(sl_expm1(-50.0), -1.0);
  assert_same(sl_expm1(INFINITY), INFINITY);
  assert_nan(sl_expm1(NAN_F64));
  assert_same(sl_sinh(-0.0), -0.0);
  assert_same(sl_sinh(SMALLEST), SMALLEST);
  assert_true(isfinite(sl_sinh(0x1.633ce8fb9f87dp+9))); /* the last finite result */
  assert_same(sl_sinh(0x1.633ce8fb9f87ep+9), INFINITY);
  assert_same(sl_sinh(-LARGEST), -INFINITY);
  assert_nan(sl_sinh(NAN_F64));
}

static void logarithms_are_correct_at_their_edges(void **state) {
  (void)state;
  assert_same(sl_log(1.0), 0.0);
  assert_same(sl_log(0.0), -INFINITY);
  assert_same(sl_log(-0.0), -INFINITY);
  assert_same(sl_log(INFINITY), INFINITY);
  assert_true(error_ulp(sl_log(SMALLEST), logl(0x1p-1074L)) < 0.67);
  assert_true(error_ulp(sl_log(LARGEST), logl((long double)LARGEST)) < 0.67);
  assert_nan(sl_log(-SMALLEST));
  assert_nan(sl_log(-INFINITY));
  assert_nan(sl_log(NAN_F64));
  assert_same(sl_log1p(0.0), 0.0);
  assert_same(sl_log1p(-0.0), -0.0);
  assert_same(sl_log1p(SMALLEST), SMALLEST);
  assert_same(sl_log1p(-1.0), -INFINITY);
  assert_same(sl_log1p(INFINITY), INFINITY);
  assert_nan(sl_log1p(-0x1.0000000000001p0));
  assert_nan(sl_log1p(NAN_F64));
}

static void sine_and_cosine_are_correct_at_their_edges(void **state) {
  (void)state;
  const double outside[] = {0x1.0000000000001p30, -0x1.0000000000001p30, LARGEST, INFINITY, -INFINITY, NAN_F64};
  for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
    assert_nan(sl_sin(outside[i]));
    assert_nan(sl_cos(outside[i]));
  }
  const double small[] = {0.0, -0.0, SMALLEST, -SMALLEST, 0x1p-1022, 0x1p-30};
  for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
    assert_same(sl_sin(small[i]), (double)sinl((long double)small[i]));
    assert_same(sl_cos(small[i]), 1.0);
  }
  assert_true(error_ulp(sl_sin(0x1p30), sinl(0x1p30L)) < 0.79);
  assert_true(error_ulp(sl_cos(-0x1p30), cosl(0x1p30L)) < 0.79);
}

static void the_angle_is_correct_for_zeros_infinities_and_extremes(void **state) {
  (void)state;
  const double values[] = {0.0, SMALLEST, 0x1p-1022, 1.0, 0x1.fffffffffffffp1022, LARGEST, INFINITY};
  for (size_t i = 0; i < 4 * 49; i++) {
    const double y = sl_copysign_f64(values[i % 7], i / 49 % 2 ? -1.0 : 1.0);
    const double x = sl_copysign_f64(values[i / 7 % 7], i / 98 ? -1.0 : 1.0);
    assert_same(sl_atan2(y, x), (double)atan2l((long double)y, (long double)x));
  }
  assert_nan(sl_atan2(NAN_F64, 1.0));
  assert_nan(sl_atan2(1.0, NAN_F64));
  assert_nan(sl_atan2(NAN_F64, INFINITY));
}

/* Hash of the bits of two million results: the same on every machine and with every compiler. */
static void results_have_the_same_bits_everywhere(void **state) {
  (void)state;
  uint64_t digest = 0;
  random_state = 1;
  for (int i = 0; i < 250000; i++) {
    const double x = random_between(-100.0, 100.0), y = random_between(-100.0, 100.0);
    const double results[] = {sl_exp(x), sl_expm1(x), sl_sinh(x),    sl_log(sl_abs_f64(x)), sl_log1p(sl_abs_f64(x)),
                              sl_sin(x), sl_cos(x),   sl_atan2(y, x)};
    for (int k = 0; k < 8; k++) digest = (digest ^ sl_bits_from_f64(results[k])) * 0x9e3779b97f4a7c15ull;
    digest ^= digest >> 29;
  }
  print_message("digest %016llx\n", (unsigned long long)digest);
  assert_true(digest == RESULTS_DIGEST);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_of_one_number_keep_their_bounds),
      cmocka_unit_test(the_angle_keeps_its_bound),
      cmocka_unit_test(exponentials_are_correct_at_their_edges),
      cmocka_unit_test(logarithms_are_correct_at_their_edges),
      cmocka_unit_test(sine_and_cosine_are_correct_at_their_edges),
      cmocka_unit_test(the_angle_is_correct_for_zeros_infinities_and_extremes),
      cmocka_unit_test(results_have_the_same_bits_everywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
