/* check_test.c: figures of waveforms.check for hand-made truth and results. */
#include <sluice/testing.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The number after the first "KEY": of the report from `from` on. */
static double figure(const char *from, const char *key) {
  char quoted[64] = "\"";
  strcat(strcat(quoted, key), "\":");
  const char *at = from ? strstr(from, quoted) : NULL;
  assert_non_null(at);
  return strtod(at + strlen(quoted), NULL);
}

static void near(double value, double expected) { assert_true(fabs(value - expected) < 1e-9 * (1 + fabs(expected))); }

enum { EVENTS = 12 };

/* Event 11 has no pulse. */
static struct sl_test *begin(void) {
  static float amplitude[EVENTS];
  static double start[EVENTS];
  static const uint32_t pile_up[EVENTS] = {2};
  for (uint32_t e = 0; e < EVENTS; e++) {
    amplitude[e] = e < 11 ? 700 : 0;
    start[e] = 10.5;
  }
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "check");
  sl_test_events(t, EVENTS);
  sl_test_input(t, "truth", "amplitude", amplitude, EVENTS);
  sl_test_input(t, "truth", "begin", start, EVENTS);
  sl_test_input(t, "truth", "pile_up", pile_up, EVENTS);
  return t;
}

/* Residuals 8 and -6 ADC, four times each, one of 1000, and two missing values: mean 1, rms 7 within 4 rms. */
static void energies_have_bias_and_width(void **state) {
  const float value[EVENTS] = {708, 708, 694, 694, 708, 694, 708, 694, 1700, 0, 0, 5};
  const uint32_t valid[EVENTS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 2, 1};
  const float exact[EVENTS] = {700, 700, 700, 700, 700, 700, 700, 700, 700, 700, 700, 700};
  const uint32_t all[EVENTS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, none[EVENTS] = {0};
  (void)state;
  struct sl_test *t = begin();
  sl_test_list_input(t, "values", "trap", "value", value, EVENTS);
  sl_test_list_input(t, "values", "trap", "valid", valid, EVENTS);
  sl_test_list_input(t, "values", "exact", "value", exact, EVENTS);
  sl_test_list_input(t, "values", "exact", "valid", all, EVENTS);
  sl_test_list_input(t, "values", "missing", "value", exact, EVENTS);
  sl_test_list_input(t, "values", "missing", "valid", none, EVENTS);
  assert_int_equal(sl_test_run(t), 0);
  const char *report = sl_test_report(t), *trap = strstr(report, "\"trap\""), *same = strstr(report, "\"exact\"");
  const char *missing = strstr(report, "\"missing\"");
  near(figure(report, "events"), 12);
  near(figure(report, "pulses"), 11);
  near(figure(trap, "found"), 9);
  near(figure(trap, "efficiency"), 9.0 / 11);
  near(figure(trap, "efficiency_error"), sqrt(10.0 * 3 / 14) / 13);
  near(figure(trap, "beyond_4_sigma"), 1);
  near(figure(trap, "bias_percent"), 100.0 / 700);
  near(figure(trap, "bias_error"), 700 / sqrt(8) / 700);
  near(figure(trap, "fwhm_kev"), 2.355);
  near(figure(trap, "fwhm_error"), 2.355 / 4);
  near(figure(same, "bias_percent"), 0);
  near(figure(same, "fwhm_kev"), 0);
  near(figure(same, "beyond_4_sigma"), 0);
  near(figure(missing, "found"), 0);
  assert_non_null(strstr(strstr(missing, "\"bias_percent\""), "null"));
  sl_test_free(t);
}

/* index - begin is -1.5 and 0.5 samples, five times each; one event has no time. */
static void times_have_median_and_rms(void **state) {
  const int32_t index[EVENTS] = {9, 11, 9, 11, 9, 11, 9, 11, 9, 11, -1, 3};
  (void)state;
  struct sl_test *t = begin();
  sl_test_set(t, "period_ns", 10);
  sl_test_list_input(t, "points", "t0", "index", index, EVENTS);
  assert_int_equal(sl_test_run(t), 0);
  const char *times = strstr(sl_test_report(t), "\"times\"");
  near(figure(times, "found"), 10);
  near(figure(times, "median_ns"), -5);
  near(figure(times, "rms_ns"), 10);
  near(figure(times, "rms_error"), 10 / sqrt(20));
  near(figure(times, "rms_within_4_sigma_ns"), 10);
  sl_test_free(t);
}

/* Only bit 1 belongs to the maximum. */
static void maxima_of_series_are_energies(void **state) {
  const float maximum[EVENTS] = {707, 707, 707, 707, 0, 0, 0, 0, 0, 0, 0, 0}, value[EVENTS] = {700};
  const uint32_t valid[EVENTS] = {15, 2, 2, 2, 13, 13}, first[EVENTS] = {1};
  (void)state;
  struct sl_test *t = begin();
  sl_test_list_input(t, "values", "trap", "value", value, EVENTS);
  sl_test_list_input(t, "values", "trap", "valid", first, EVENTS);
  sl_test_list_input(t, "maxima", "cusp", "maximum", maximum, EVENTS);
  sl_test_list_input(t, "maxima", "cusp", "valid", valid, EVENTS);
  assert_int_equal(sl_test_run(t), 0);
  const char *trap = strstr(sl_test_report(t), "\"trap\""), *cusp = strstr(sl_test_report(t), "\"cusp\"");
  near(figure(trap, "found"), 1);
  near(figure(cusp, "found"), 4);
  near(figure(cusp, "bias_percent"), 1);
  sl_test_free(t);
}

static void pulses_are_counted(void **state) {
  const uint32_t offsets[EVENTS + 1] = {0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12, 14};
  (void)state;
  struct sl_test *t = begin();
  sl_test_input(t, "pulses", "offsets", offsets, EVENTS + 1);
  assert_int_equal(sl_test_run(t), 0);
  near(figure(sl_test_report(t), "found_pulses"), 14);
  near(figure(sl_test_report(t), "true_pulses"), 13);
  sl_test_free(t);
}

static void pulses_beyond_the_limit_are_reported(void **state) {
  const float value[EVENTS] = {700, 701};
  const uint32_t valid[EVENTS] = {1, 1};
  (void)state;
  struct sl_test *t = begin();
  sl_test_set(t, "compared_max", 2);
  sl_test_list_input(t, "values", "trap", "value", value, EVENTS);
  sl_test_list_input(t, "values", "trap", "valid", valid, EVENTS);
  assert_int_equal(sl_test_run(t), 0);
  near(figure(sl_test_report(t), "pulses_compared"), 2);
  near(figure(strstr(sl_test_report(t), "\"trap\""), "efficiency"), 1);
  assert_non_null(strstr(sl_test_messages(t), "compared_max: the first 2 pulses of 11 were compared with the truth"));
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energies_have_bias_and_width),         cmocka_unit_test(times_have_median_and_rms),
      cmocka_unit_test(maxima_of_series_are_energies),        cmocka_unit_test(pulses_are_counted),
      cmocka_unit_test(pulses_beyond_the_limit_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
