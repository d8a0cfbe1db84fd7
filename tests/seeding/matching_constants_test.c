/* matching_constants_test.c: seeding.matching_constants and match_math.h: against the calibrations, in double precision
 * term by term, and chi2 of a calculated pair.
 */
#include "calibrations.h"
#include "seeding/match_math.h"

#include <math.h>

static struct sl_test *made_of(const char *path) {
  struct sl_test *t = sl_test_new(SEEDING_PLUGIN, "matching_constants");
  sl_test_set_text(t, "path", path);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_output_count(t, "matching", "constants"), MATCH_CONSTANTS);
  return t;
}

static struct sl_test *made_of_file(const char *file) {
  char path[SCRATCH_PATH_MAX];
  calibration_path(file, path);
  return made_of(path);
}

static const float *constants_of(const struct sl_test *t) { return sl_test_output(t, "matching", "constants"); }

static void assert_near(double found, double expected, double tolerance) {
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("found %.9g, expected %.9g within %.2g", found, expected, tolerance);
}

static float random_between(float low, float high) {
  static uint32_t state = 5;
  state = state * 1664525u + 1013904223u;
  return low + (high - low) * (float)(state >> 8) / 16777216.0f;
}

static void an_empty_path_gives_the_nominal_calibration_and_a_folder_lhcbs(void **state) {
  (void)state;
  char folder[SCRATCH_PATH_MAX];
  scratch_folder(folder);
  for (int i = 0; i < 2; i++) {
    static struct calibration c;
    calibration_load(calibration_files[i], &c);
    struct sl_test *t = made_of(i == 0 ? "" : folder), *by_name = made_of_file(calibration_files[i]);
    const float *m = constants_of(t);
    assert_memory_equal(m, constants_of(by_name), MATCH_CONSTANTS * sizeof *m);
    assert_true(m[MATCH_Z_END] == 9410.0f && m[MATCH_Z_Y] == 10000.0f);
    assert_true(m[MATCH_DTX_MAX] == (float)c.matching_dtx_max);
    assert_true(m[MATCH_DTY_MAX] == (float)c.matching_dty_max);
    assert_true(m[MATCH_DISTANCE_X_MAX] == (float)c.matching_distance_x_max);
    assert_true(m[MATCH_DISTANCE_Y_MAX] == (float)c.matching_distance_y_max);
    for (int k = 0; k < 2; k++) {
      assert_true(m[MATCH_X_TOLERANCE + k] == (float)c.matching_x_tolerance[k]);
      assert_true(m[MATCH_Y_TOLERANCE + k] == (float)c.matching_y_tolerance[k]);
    }
    for (int k = 0; k < MATCH_WEIGHT_COUNT; k++) assert_true(m[MATCH_WEIGHTS + k] == (float)c.matching_weights[k]);
    for (int k = 0; k < MATCH_UT_WINDOW; k++) {
      assert_true(m[MATCH_UT_LOOSE + k] == (float)c.matching_ut_loose_0[k]);
      assert_true(m[MATCH_UT_LOOSE + 4 + k] == (float)c.matching_ut_loose_1[k]);
      assert_true(m[MATCH_UT_LOOSE + 8 + k] == (float)c.matching_ut_loose_2[k]);
      assert_true(m[MATCH_UT_TIGHT + k] == (float)c.matching_ut_tight_1[k]);
      assert_true(m[MATCH_UT_TIGHT + 4 + k] == (float)c.matching_ut_tight_2[k]);
      assert_true(m[MATCH_UT_TIGHT + 8 + k] == (float)c.matching_ut_tight_3[k]);
    }
    assert_true(m[MATCH_UT_BEND] == (float)c.matching_ut_bend[0]);
    assert_true(m[MATCH_UT_BEND + 1] == (float)c.matching_ut_bend[1]);
    assert_true(m[MATCH_UT_Y_TOLERANCE] == (float)c.matching_ut_y_tolerance);
    assert_true(m[MATCH_Z_MAGNET] == (i == 0 ? 5265.009366f : 5287.6f));
    sl_test_free(by_name);
    sl_test_free(t);
  }
}

static void a_path_that_does_not_exist_is_refused(void **state) {
  (void)state;
  calibration_is_missing("constants");
  calibration_is_missing("matching_constants");
}

static void an_unknown_calibration_term_is_refused(void **state) {
  (void)state;
  static const struct refused_term cases[] = {
      {"polynomial matching.z_magnet abs_dtx abs_x tx_velo\n", "term 1 1 1 0\n", "no term of powers 1 1 0"},
      {"polynomial matching.bend abs_dtx tx tx_velo ty_velo\n", "term 1 0 1 0 2\n", "no term of powers 0 1 0 2"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) calibration_is_refused("matching_constants", &cases[i]);
}

/* match_ut would miss hits in wider windows. */
static void a_window_wider_than_the_searched_hits_is_refused(void **state) {
  (void)state;
  static const struct refused_term cases[] = {
      {"value matching.ut_loose.0 ", "0 0 0 40.1 # ", "matching.ut_loose.0: 40.1 mm exceeds the search range of 40"},
      {"value matching.ut_loose.2 ", "0 0 0 1000 # ", "matching.ut_loose.2: 1000 mm exceeds the search range of 40"},
      {"value matching.ut_tight.3 ", "0 0 0 40.1 # ", "matching.ut_tight.3: 40.1 mm exceeds the search range of 40"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) calibration_is_refused("matching_constants", &cases[i]);
}

/* A negative chi2 would break the order of match's keys. */
static void a_negative_weight_is_refused(void **state) {
  (void)state;
  static const struct refused_term cases[] = {
      {"value matching.weights ", "-0.5 1 1 1 # ", "matching.weights: -0.5 is negative"},
      {"value matching.weights ", "1 1 1 -2 # ", "matching.weights: -2 is negative"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) calibration_is_refused("matching_constants", &cases[i]);
}

static void polynomials_equal_the_calibration(void **state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    static struct calibration c;
    calibration_load(calibration_files[f], &c);
    struct sl_test *t = made_of_file(calibration_files[f]);
    for (int i = 0; i < 500; i++) {
      const float tx = random_between(-0.6f, 0.6f), tx_velo = random_between(-0.3f, 0.3f);
      const float ty = random_between(-0.3f, 0.3f), x = random_between(-3000, 3000);
      const double turn = (double)tx - (double)tx_velo;
      const double at[CALIBRATION_VARIABLES] = {fabs(turn), fabs((double)x), tx_velo};
      const double slopes[CALIBRATION_VARIABLES] = {fabs(turn), tx, tx_velo, ty};
      assert_near(match_z(constants_of(t), fabsf(tx_velo - tx), fabsf(x), tx_velo),
                  calibration_sum(c.matching_z_magnet, at), 0.01);
      const double qop = turn / calibration_sum(c.matching_bend, slopes);
      for (int polarity = -1; polarity <= 1; polarity += 2)
        assert_near(match_qop(constants_of(t), tx, tx_velo, ty, (float)polarity), -polarity * qop,
                    1e-5 * fabs(qop) + 1e-10);
    }
    sl_test_free(t);
  }
}

/* With LHCb's constants, a pair with dtx = -0.5 and a seed at x = 2000 is compared at z = 5287.6 - 3.99439 + 79.42075 +
 * 23.8758 = 5386.90216 mm. The seed is then at 2000 + 0.5 (5386.90216 - 9410) = -11.54892 mm, and the VELO track at 0;
 * the distance in y is 20 mm at 10 m, the difference of slopes 0.01. */
static void chi2_equals_the_formula(void **state) {
  (void)state;
  struct sl_test *t = made_of_file(calibration_files[1]);
  const struct match_settings plain = {1, 1}, scaled = {1.875f, 1.02f};
  const struct forward_state velo = {0, 77, 770, 0, 0.1f}; /* y = 1000 mm at 10 m */
  struct forward_state seed = {2000, 1020 - 590 * 0.11f, 9410, 0.5f, 0.11f};
  const double x_chi2 = 11.54892 * 11.54892 / (10.12 * 10.12 + 101.0 * 101.0 * 0.25);
  const double y_chi2 = 20.0 * 20.0 / (1.59 * 1.59 + 212.1 * 212.1 * 0.01);
  const double slopes = 937.5 * 0.01 * 0.01 + 2 * 0.25;
  const float *m = constants_of(t);
  assert_near(match_pair(m, &plain, &velo, &seed).chi2, 0.8 * x_chi2 + 0.2 * y_chi2 + slopes, 1e-4);
  assert_near(match_pair(m, &scaled, &velo, &seed).chi2, 1.5 * x_chi2 + slopes, 1e-4);
  /* Requirements, one after another: 20 mm in x, 150 mm in y, 0.02 in dy/dz, 1.5 in dx/dz. */
  seed.x += 31.2f; /* 19.84 mm, 0.19 of it from z */
  assert_true(match_pair(m, &plain, &velo, &seed).chi2 != SEED_NO_MATCH);
  seed.x += 0.3f;
  assert_true(match_pair(m, &plain, &velo, &seed).chi2 == SEED_NO_MATCH);
  seed.x = 2000;
  seed.y += 129.9f;
  assert_true(match_pair(m, &plain, &velo, &seed).chi2 != SEED_NO_MATCH);
  seed.y += 0.2f;
  assert_true(match_pair(m, &plain, &velo, &seed).chi2 == SEED_NO_MATCH);
  seed.ty = 0.1199f;
  seed.y = 1000 - 590 * seed.ty;
  assert_true(match_pair(m, &plain, &velo, &seed).chi2 != SEED_NO_MATCH);
  seed.ty = 0.1201f;
  seed.y = 1000 - 590 * seed.ty;
  assert_true(match_pair(m, &plain, &velo, &seed).chi2 == SEED_NO_MATCH);
  seed.ty = 0.1f;
  /* The x of the seed at which the lines meet depends on itself, through z. */
  for (int i = 0; i < 2; i++) {
    seed.tx = i == 0 ? 1.4999f : 1.5001f;
    seed.x = 0;
    for (int turn = 0; turn < 20; turn++) seed.x = seed.tx * (9410 - match_z(m, seed.tx, seed.x, 0));
    seed.y = 1000 - 590 * seed.ty;
    assert_true((match_pair(m, &plain, &velo, &seed).chi2 == SEED_NO_MATCH) == (i == 1));
  }
  sl_test_free(t);
}

static void a_straight_track_has_zero_q_over_p(void **state) {
  (void)state;
  struct sl_test *t = made_of_file(calibration_files[0]);
  assert_true(match_qop(constants_of(t), 0.1f, 0.1f, 0, -1) == 0.0f);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_path_gives_the_nominal_calibration_and_a_folder_lhcbs),
      cmocka_unit_test(a_path_that_does_not_exist_is_refused),
      cmocka_unit_test(an_unknown_calibration_term_is_refused),
      cmocka_unit_test(a_window_wider_than_the_searched_hits_is_refused),
      cmocka_unit_test(a_negative_weight_is_refused),
      cmocka_unit_test(polynomials_equal_the_calibration),
      cmocka_unit_test(chi2_equals_the_formula),
      cmocka_unit_test(a_straight_track_has_zero_q_over_p),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
