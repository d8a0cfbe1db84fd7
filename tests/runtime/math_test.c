/* math_test.c: compares sluice/math.h with the C library in double precision: seeded points over each function's
 * domain, the stated maximum errors, and values at the edges. The stated errors were determined over all floats (atan2:
 * 200 million points), which takes minutes. */
#include "support.h"

#include <sluice/math.h>

#include <math.h>

enum { POINTS = 4000000 };
/* The maximum errors stated in sluice/math.h, in ulp. */
#define BOUND_EXP      0.98
#define BOUND_LOG      0.85
#define BOUND_SINH     0.501
#define BOUND_SINCOS   0.84
#define BOUND_ATAN2    1.5
#define RESULTS_DIGEST 0xdd08c9e4b5168593ull

static uint64_t random_state;

static uint32_t random_bits(void) {
  random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(random_state >> 32);
}

static void random_start(void) {
  const char *text = getenv("SLUICE_TEST_SEED");
  random_state = text ? strtoull(text, NULL, 0) : 20240607;
  print_message("SLUICE_TEST_SEED=%llu\n", (unsigned long long)random_state);
}

/* Uniform in [-limit, limit]. */
static float random_even(float limit) { return ((float)random_bits() * 0x1p-31f - 1.0f) * limit; }
/* Uniform over the floats of magnitude up to `limit`, so that all exponents are equally frequent. */
static float random_float(float limit) {
  const uint32_t bits = random_bits();
  return sl_f32_from_bits(bits % (sl_bits_from_f32(limit) + 1) | (bits & 0x80000000u));
}

/* Difference in units in the last place of the true value rounded to float. Both must be finite. */
static double error_ulp(float got, double expected) {
  int exponent;
  frexp(expected, &exponent);
  const double ulp = ldexp(1.0, (exponent < -125 ? -125 : exponent) - 24);
  return fabs((double)got - expected) / ulp;
}

struct worst {
  double error;
  float at, and;
};

static void worst_note(struct worst *w, float got, double expected, float at, float and) {
  double error = INFINITY;
  if (sl_is_finite((float)expected) && sl_is_finite(got)) error = error_ulp(got, expected);
  if (sl_bits_from_f32((float)expected) == sl_bits_from_f32(got)) error = fmin(error, 0.5);
  if (error > w->error) *w = (struct worst){error, at, and};
}

/* The bound must hold, and must not be much larger than the error found. */
static void assert_bound(const char *name, struct worst w, double bound) {
  print_message("%s: at most %.3f ulp, at %a %a\n", name, w.error, (double)w.at, (double)w.and);
  if (w.error > bound)
    fail_msg("%s: %.3f ulp at %a %a; %.3f are stated", name, w.error, (double)w.at, (double)w.and, bound);
  assert_true(w.error > bound / 2);
}

static uint32_t bits(float x) { return sl_bits_from_f32(x); }
#define assert_same_float(a, b) assert_int_equal(bits(a), bits(b))
#define assert_nan(x)           assert_true((bits(x) & 0x7fffffffu) > 0x7f800000u)

static const float infinity = INFINITY;
#define NAN_F32  sl_f32_from_bits(0x7fc00000u)
#define LARGEST  0x1.fffffep127f
#define SMALLEST 0x1p-149f

/* ------------------------------------------------------------------------------- bits and conversions */

static void finite_excludes_infinity_and_nan(void **state) {
  (void)state;
  const float finite[] = {0.0f, -0.0f, 1.0f, SMALLEST, -SMALLEST, LARGEST, -LARGEST};
  const float other[] = {INFINITY, -INFINITY, NAN_F32, sl_f32_from_bits(0x7f800001u), sl_f32_from_bits(0xffffffffu)};
  for (size_t i = 0; i < sizeof finite / sizeof *finite; i++) assert_true(sl_is_finite(finite[i]));
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) assert_false(sl_is_finite(other[i]));
}

static void bits_and_signs_are_moved_unchanged(void **state) {
  (void)state;
  assert_int_equal(sl_bits_from_f32(1.0f), 0x3f800000);
  assert_int_equal(sl_bits_from_f32(sl_f32_from_bits(0x7f812345u)) & 0x003fffffu, 0x00012345);
  assert_same_float(sl_abs_f32(-0.0f), 0.0f);
  assert_same_float(sl_abs_f32(-LARGEST), LARGEST);
  assert_same_float(sl_abs_f32(-infinity), infinity);
  assert_same_float(sl_copysign_f32(-3.0f, 0.0f), 3.0f);
  assert_same_float(sl_copysign_f32(3.0f, -0.0f), -3.0f);
}

static void minimum_and_maximum_are_one_comparison(void **state) {
  (void)state;
  assert_same_float(sl_min_f32(1.0f, 2.0f), 1.0f);
  assert_same_float(sl_max_f32(1.0f, 2.0f), 2.0f);
  assert_same_float(sl_min_f32(0.0f, -0.0f), -0.0f);
  assert_same_float(sl_min_f32(-0.0f, 0.0f), 0.0f);
  assert_same_float(sl_max_f32(0.0f, -0.0f), -0.0f);
  assert_same_float(sl_min_f32(NAN_F32, 2.0f), 2.0f);
  assert_nan(sl_min_f32(2.0f, NAN_F32));
  assert_same_float(sl_max_f32(NAN_F32, 2.0f), 2.0f);
  assert_same_float(sl_clamp_f32(5.0f, 0.0f, 1.0f), 1.0f);
  assert_same_float(sl_clamp_f32(-5.0f, 0.0f, 1.0f), 0.0f);
  assert_same_float(sl_clamp_f32(0.5f, 0.0f, 1.0f), 0.5f);
  assert_same_float(sl_clamp_f32(-infinity, 0.0f, 1.0f), 0.0f);
  assert_nan(sl_clamp_f32(NAN_F32, 0.0f, 1.0f));
  assert_same_float(sl_saturate_f32(5.0f), 1.0f);
  assert_same_float(sl_saturate_f32(infinity), 1.0f);
  assert_same_float(sl_saturate_f32(1.0f), 1.0f);
  assert_same_float(sl_saturate_f32(0.5f), 0.5f);
  assert_same_float(sl_saturate_f32(0x1p-149f), 0x1p-149f);
  assert_same_float(sl_saturate_f32(-0.0f), 0.0f);
  assert_same_float(sl_saturate_f32(-5.0f), 0.0f);
  assert_same_float(sl_saturate_f32(NAN_F32), 0.0f);
}

static void integers_are_truncated_and_saturate(void **state) {
  (void)state;
  assert_int_equal(sl_to_i32(-0.99f), 0);
  assert_int_equal(sl_to_i32(-1.99f), -1);
  assert_int_equal(sl_to_i32(1.99f), 1);
  assert_int_equal(sl_to_i32(2147483520.0f), 2147483520);
  assert_int_equal(sl_to_i32(2147483648.0f), INT32_MAX);
  assert_int_equal(sl_to_i32(-2147483520.0f), -2147483520);
  assert_int_equal(sl_to_i32(-2147483648.0f), INT32_MIN);
  assert_int_equal(sl_to_i32(-1e30f), INT32_MIN);
  assert_int_equal(sl_to_i32(infinity), INT32_MAX);
  assert_int_equal(sl_to_i32(-infinity), INT32_MIN);
  assert_int_equal(sl_to_i32(NAN_F32), 0);
  assert_int_equal(sl_to_i32(-NAN_F32), 0);
  assert_true(sl_to_u32(-0.5f) == 0 && sl_to_u32(-7.0f) == 0 && sl_to_u32(-infinity) == 0);
  assert_true(sl_to_u32(0.99f) == 0 && sl_to_u32(3.99f) == 3);
  assert_true(sl_to_u32(4294967040.0f) == 4294967040u);
  assert_true(sl_to_u32(4294967296.0f) == UINT32_MAX && sl_to_u32(infinity) == UINT32_MAX);
  assert_true(sl_to_u32(NAN_F32) == 0);
}

static void conversions_agree_with_64_bit_integers_in_range(void **state) {
  (void)state;
  random_start();
  for (int i = 0; i < POINTS; i++) {
    const float x = random_float(0x1p40f);
    const int64_t whole = (int64_t)x;
    if (sl_to_i32(x) != (whole > INT32_MAX ? INT32_MAX : whole < INT32_MIN ? INT32_MIN : whole))
      fail_msg("sl_to_i32(%a)", (double)x);
    if (sl_to_u32(x) != (whole > UINT32_MAX ? UINT32_MAX : whole < 0 ? 0 : whole)) fail_msg("sl_to_u32(%a)", (double)x);
  }
}

/* ------------------------------------------------------------------------------------------- functions */

static void square_roots_are_correctly_rounded(void **state) {
  (void)state;
  random_start();
  for (int i = 0; i < POINTS; i++) {
    const float x = sl_abs_f32(random_float(LARGEST));
    const double root = sqrt((double)x); /* 53 bits are enough for one correct rounding to 24 bits */
    if (bits(sl_sqrtf(x)) != bits((float)root)) fail_msg("sl_sqrtf(%a)", (double)x);
  }
  assert_same_float(sl_sqrtf(-0.0f), -0.0f);
  assert_same_float(sl_sqrtf(infinity), infinity);
  assert_nan(sl_sqrtf(-1.0f));
}

static void the_exponential_keeps_its_bound(void **state) {
  (void)state;
  struct worst w = {0};
  random_start();
  for (int i = 0; i < POINTS; i++) {
    const float x = i % 4 == 0 ? random_float(88.7f) : i % 4 == 1 ? random_even(104.0f) : random_even(20.0f);
    if (x < 88.7f) worst_note(&w, sl_expf(x), exp((double)x), x, 0);
  }
  assert_bound("sl_expf", w, BOUND_EXP);
}

static void the_exponential_is_correct_at_its_edges(void **state) {
  (void)state;
  assert_same_float(sl_expf(0.0f), 1.0f);
  assert_same_float(sl_expf(-0.0f), 1.0f);
  assert_same_float(sl_expf(SMALLEST), 1.0f);
  assert_same_float(sl_expf(infinity), infinity);
  assert_same_float(sl_expf(LARGEST), infinity);
  assert_same_float(sl_expf(-infinity), 0.0f);
  assert_same_float(sl_expf(-LARGEST), 0.0f);
  assert_same_float(sl_expf(0x1.62e430p+6f), infinity); /* just above ln of the largest float */
  assert_true(sl_is_finite(sl_expf(0x1.62e42ep+6f)));   /* just below */
  assert_same_float(sl_expf(-103.9f), SMALLEST);
  assert_same_float(sl_expf(-104.0f), 0.0f);
  assert_true(sl_expf(-87.5f) > 0.0f && sl_expf(-87.5f) < 0x1p-126f); /* denormal */
  assert_nan(sl_expf(NAN_F32));
}

static void the_logarithm_keeps_its_bound(void **state) {
  (void)state;
  struct worst w = {0};
  random_start();
  for (int i = 0; i < POINTS; i++) {
    const float any = sl_abs_f32(random_float(LARGEST)), near_1 = 1.0f + random_even(0.5f);
    const float x = i % 2 && any > 0 ? any : near_1;
    worst_note(&w, sl_logf(x), log((double)x), x, 0);
  }
  assert_bound("sl_logf", w, BOUND_LOG);
}

static void the_logarithm_is_correct_at_its_edges(void **state) {
  (void)state;
  assert_same_float(sl_logf(1.0f), 0.0f);
  assert_same_float(sl_logf(0.0f), -infinity);
  assert_same_float(sl_logf(-0.0f), -infinity);
  assert_same_float(sl_logf(infinity), infinity);
  assert_true(error_ulp(sl_logf(SMALLEST), log(0x1p-149)) < BOUND_LOG);
  assert_true(error_ulp(sl_logf(LARGEST), log((double)LARGEST)) < BOUND_LOG);
  assert_nan(sl_logf(-SMALLEST));
  assert_nan(sl_logf(-infinity));
  assert_nan(sl_logf(NAN_F32));
}

static void the_hyperbolic_sine_keeps_its_bound(void **state) {
  (void)state;
  struct worst w = {0};
  random_start();
  for (int i = 0; i < POINTS; i++) {
    const float x = i % 3 == 0 ? random_float(89.415f) : i % 3 == 1 ? random_even(89.415f) : random_even(2.0f);
    worst_note(&w, sl_sinhf(x), sinh((double)x), x, 0);
  }
  assert_bound("sl_sinhf", w, BOUND_SINH);
}

static void the_hyperbolic_sine_is_correct_at_its_edges(void **state) {
  (void)state;
  assert_same_float(sl_sinhf(0.0f), 0.0f);
  assert_same_float(sl_sinhf(-0.0f), -0.0f);
  assert_same_float(sl_sinhf(SMALLEST), SMALLEST);
  assert_same_float(sl_sinhf(-0x1p-126f), -0x1p-126f);
  assert_same_float(sl_sinhf(0.5f), (float)sinh(0.5));
  assert_same_float(sl_sinhf(0x1.fffffep-2f), (float)sinh(0x1.fffffep-2));
  assert_same_float(sl_sinhf(89.5f), infinity);
  assert_same_float(sl_sinhf(-LARGEST), -infinity);
  assert_same_float(sl_sinhf(-infinity), -infinity);
  assert_same_float(sl_sinhf(0x1.65a9f8p+6f), (float)sinh(0x1.65a9f8p+6)); /* close to the largest float */
  assert_true(sl_is_finite(sl_sinhf(0x1.65a9f8p+6f)) && !sl_is_finite(sl_sinhf(0x1.65a9fap+6f)));
  assert_nan(sl_sinhf(NAN_F32));
}

static void sine_and_cosine_keep_their_bound(void **state) {
  (void)state;
  struct worst sine_worst = {0}, cosine_worst = {0};
  random_start();
  for (int i = 0; i < POINTS; i++) {
    /* one third each: all exponents, small angles, and the floats nearest to multiples of pi/2 */
    const float multiple = (float)(1.5707963267948966 * (double)(random_bits() % 83443u));
    const float x = i % 3 == 0 ? random_float(131072.0f) : i % 3 == 1 ? random_even(10.0f) : multiple;
    float sine, cosine;
    sl_sincosf(x, &sine, &cosine);
    worst_note(&sine_worst, sine, sin((double)x), x, 0);
    worst_note(&cosine_worst, cosine, cos((double)x), x, 0);
  }
  assert_bound("sine", sine_worst, BOUND_SINCOS);
  assert_bound("cosine", cosine_worst, BOUND_SINCOS);
}

static void sine_and_cosine_are_correct_at_their_edges(void **state) {
  (void)state;
  const float outside[] = {0x1.000002p17f, -0x1.000002p17f, LARGEST, INFINITY, -INFINITY, NAN_F32};
  const float small[] = {0.0f, -0.0f, SMALLEST, -SMALLEST, 0x1p-126f, 1e-5f};
  float sine, cosine;
  for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
    sl_sincosf(outside[i], &sine, &cosine);
    assert_nan(sine);
    assert_nan(cosine);
  }
  for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
    sl_sincosf(small[i], &sine, &cosine);
    assert_same_float(sine, small[i] == 1e-5f ? (float)sin((double)1e-5f) : small[i]);
    assert_same_float(cosine, 1.0f);
  }
  sl_sincosf(131072.0f, &sine, &cosine);
  assert_true(error_ulp(sine, sin(131072.0)) < BOUND_SINCOS);
  sl_sincosf(-131072.0f, &sine, &cosine);
  assert_true(error_ulp(cosine, cos(131072.0)) < BOUND_SINCOS);
}

static void the_angle_keeps_its_bound(void **state) {
  (void)state;
  struct worst w = {0};
  random_start();
  for (int i = 0; i < POINTS; i++) {
    const float x = i % 4 ? random_even(1.0f) : random_float(LARGEST);
    const float y = i % 4 ? random_even(1.0f) : i % 8 ? x * random_even(2.0f) : random_float(LARGEST);
    if (sl_is_finite(y)) worst_note(&w, sl_atan2f(y, x), atan2((double)y, (double)x), y, x);
  }
  assert_bound("sl_atan2f", w, BOUND_ATAN2);
}

/* All pairs of these values must equal the C library's result, rounded to float. */
static void the_angle_is_correct_for_zeros_infinities_and_extremes(void **state) {
  (void)state;
  const float values[] = {0.0f, SMALLEST, 0x1p-126f, 1.0f, 0x1.fffffep126f, LARGEST, INFINITY};
  for (size_t i = 0; i < 4 * 49; i++) {
    const float y = sl_copysign_f32(values[i % 7], i / 49 % 2 ? -1.0f : 1.0f);
    const float x = sl_copysign_f32(values[i / 7 % 7], i / 98 ? -1.0f : 1.0f);
    const double expected = atan2((double)y, (double)x);
    if (sl_bits_from_f32(sl_atan2f(y, x)) != sl_bits_from_f32((float)expected))
      fail_msg("sl_atan2f(%a, %a): %a", (double)y, (double)x, (double)sl_atan2f(y, x));
  }
  assert_nan(sl_atan2f(NAN_F32, 1.0f));
  assert_nan(sl_atan2f(1.0f, NAN_F32));
  assert_nan(sl_atan2f(NAN_F32, infinity));
}

/* Hash of the bits of six million results: the same on every machine and with every compiler. */
static void results_have_the_same_bits_everywhere(void **state) {
  (void)state;
  uint64_t digest = 0;
  random_state = 1;
  for (int i = 0; i < 1000000; i++) {
    const float x = random_even(100.0f), y = random_even(100.0f);
    float sine, cosine;
    sl_sincosf(x, &sine, &cosine);
    const uint32_t results[] = {bits(sl_expf(x)), bits(sl_logf(sl_abs_f32(x))), bits(sine),
                                bits(cosine),     bits(sl_atan2f(y, x)),        bits(sl_sinhf(x))};
    for (int k = 0; k < 6; k++) digest = (digest ^ results[k]) * 0x9e3779b97f4a7c15ull;
    digest ^= digest >> 29;
  }
  print_message("digest %016llx\n", (unsigned long long)digest);
  assert_true(digest == RESULTS_DIGEST);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finite_excludes_infinity_and_nan),
      cmocka_unit_test(bits_and_signs_are_moved_unchanged),
      cmocka_unit_test(minimum_and_maximum_are_one_comparison),
      cmocka_unit_test(integers_are_truncated_and_saturate),
      cmocka_unit_test(conversions_agree_with_64_bit_integers_in_range),
      cmocka_unit_test(square_roots_are_correctly_rounded),
      cmocka_unit_test(the_exponential_keeps_its_bound),
      cmocka_unit_test(the_exponential_is_correct_at_its_edges),
      cmocka_unit_test(the_logarithm_keeps_its_bound),
      cmocka_unit_test(the_logarithm_is_correct_at_its_edges),
      cmocka_unit_test(the_hyperbolic_sine_keeps_its_bound),
      cmocka_unit_test(the_hyperbolic_sine_is_correct_at_its_edges),
      cmocka_unit_test(sine_and_cosine_keep_their_bound),
      cmocka_unit_test(sine_and_cosine_are_correct_at_their_edges),
      cmocka_unit_test(the_angle_keeps_its_bound),
      cmocka_unit_test(the_angle_is_correct_for_zeros_infinities_and_extremes),
      cmocka_unit_test(results_have_the_same_bits_everywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
