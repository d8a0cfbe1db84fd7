/* sipm_test.c: the kernels of the SiPM chain, on values worked out by hand and against their plain versions. */
#include "sipm_reference.h"

#include <sluice/testing.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT_MAX = 6000 };

/* Numbers from 0 to below `end`, by a congruence modulo 2^64. */
static uint64_t random_state = 1;
static uint32_t draw(uint32_t end) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((random_state >> 32) * end >> 32);
}

/* ---------------------------------------------------------------------------------------------- sipm_current */

static struct sl_test *current_of(const uint16_t *w, uint32_t events, uint32_t samples, double sigma, uint32_t lag) {
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "sipm_current");
  sl_test_events(t, events);
  sl_test_dimension(t, "traces", "samples", samples);
  sl_test_input(t, "traces", "value", w, (uint64_t)events * samples);
  sl_test_set(t, "sigma", sigma);
  sl_test_set(t, "lag", lag);
  return t;
}

static void currents_are_those_of_the_plain_version(void **state) {
  static const struct {
    uint32_t samples, lag;
    double sigma;
  } cases[] = {{6000, 5, 1}, {5, 1, 1},     {6, 5, 1},    {31, 5, 1},
               {32, 1, 0.5}, {33, 32, 2.5}, {100, 7, 10}, {513, 4, 1.125}};
  static uint16_t w[2 * COUNT_MAX];
  static double expected[COUNT_MAX];
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    const uint32_t samples = cases[k].samples, lag = cases[k].lag;
    for (uint32_t i = 0; i < 2 * samples; i++) w[i] = (uint16_t)draw(65536);
    struct sl_test *t = current_of(w, 2, samples, cases[k].sigma, lag);
    assert_int_equal(sl_test_run(t), 0);
    const double *v = sl_test_output(t, "current", "value");
    const uint32_t *count = sl_test_output(t, "current", "count");
    for (uint32_t e = 0; e < 2; e++) {
      assert_int_equal(count[e], samples - lag);
      memset(expected, 0, sizeof expected);
      reference_current(w + e * samples, (int)samples, cases[k].sigma, (int)lag, expected);
      assert_memory_equal(v + e * samples, expected, samples * sizeof *v); /* 0 from `count` on */
    }
    sl_test_free(t);
  }
}

static void a_step_becomes_a_pulse_of_its_height(void **state) {
  uint16_t w[64];
  double sum = 0, largest = 0;
  (void)state;
  for (uint32_t i = 0; i < 64; i++) w[i] = i < 32 ? 1000 : 1100;
  struct sl_test *t = current_of(w, 1, 64, 1, 5);
  assert_int_equal(sl_test_run(t), 0);
  const double *v = sl_test_output(t, "current", "value");
  for (uint32_t i = 0; i < 64; i++) {
    sum += v[i];
    if (v[i] > largest) largest = v[i];
  }
  assert_true(fabs(sum - 100) < 1e-9);
  assert_true(largest > 19.5 && largest < 20);              /* 100 / 5, less the tails of the Gaussian */
  assert_true(fabs(v[28] - v[30]) < 1e-9 && v[29] > v[30]); /* the step is at 31.5, and 29 + lag / 2 is, too */
  assert_true(fabs(v[0]) < 1e-9);
  sl_test_free(t);
}

static void a_lag_or_a_gaussian_longer_than_the_waveform_is_refused(void **state) {
  const uint16_t w[5] = {0};
  (void)state;
  struct sl_test *t = current_of(w, 1, 5, 1, 5);
  assert_true(sl_test_run(t) < 0);
  assert_non_null(strstr(sl_test_messages(t), "lag: it is 5, expected less than the 5 samples"));
  sl_test_free(t);
  t = current_of(w, 1, 5, 1.25, 1); /* 4 sigma + 0.5 = 5.5, rounded to the even 6 */
  assert_true(sl_test_run(t) < 0);
  assert_non_null(strstr(sl_test_messages(t), "sigma: the Gaussian has 6 taps on each side, expected less than the 5"));
  sl_test_free(t);
}

/* ------------------------------------------------------------------------------------------------ half_width */

static struct sl_test *widths_of(const double *v, const uint32_t *count, uint32_t events, uint32_t length,
                                 uint32_t bins) {
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "half_width");
  sl_test_events(t, events);
  sl_test_dimension(t, "series", "length", length);
  sl_test_input(t, "series", "value", v, (uint64_t)events * length);
  sl_test_input(t, "series", "count", count, events);
  sl_test_set(t, "bins", bins);
  assert_int_equal(sl_test_run(t), 0);
  return t;
}

static void expect_width(const struct sl_test *t, uint32_t event, uint32_t valid, double half_width, double position) {
  assert_int_equal(((const uint32_t *)sl_test_output(t, "widths", "valid"))[event], valid);
  assert_true(((const double *)sl_test_output(t, "widths", "half_width"))[event] == half_width);
  assert_true(((const double *)sl_test_output(t, "widths", "position"))[event] == position);
}

/* Ten bins of width 1 from 0 to 10. The value 10 is in no bin. */
static void widths_worked_out_by_hand(void **state) {
  enum { LENGTH = 16, EVENTS = 5 };
  static const double v[EVENTS][LENGTH] = {
      {0, 1.5, 1.5, 1.5, 1.5, 2, 2, 3, 10, 10},             /* 1 4 2 1: right 1, left 0 */
      {0, 0, 0, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 7, 10},       /* 3 . . . 6 4 . 1: right 3, left 4 */
      {0, 5, 5, 10},                                        /* 1 . . . . 2: none to the right */
      {-5, -4, -4, -4, -3, -3, -3, -2, 5},                  /* 1 3 3 1: the first of two fullest bins, right 2 */
      {3, 3, 3, 2.5, 2.5, 0, 10, 9, 9, 9, 9, 9, 9, 8, 8.5}, /* 1 . 2 3 . . . . 2 6: right none */
  };
  const uint32_t count[EVENTS] = {10, 15, 4, 9, 15};
  (void)state;
  struct sl_test *t = widths_of(&v[0][0], count, EVENTS, LENGTH, 10);
  expect_width(t, 0, 3, 1, 1);
  expect_width(t, 1, 3, 4, 4);
  expect_width(t, 2, 2, 0, 5);
  expect_width(t, 3, 3, 2, -4);
  expect_width(t, 4, 2, 0, 9);
  sl_test_free(t);
}

static void values_without_a_histogram_have_no_width(void **state) {
  enum { LENGTH = 3, EVENTS = 6 };
  const double nan = (double)NAN, infinity = (double)INFINITY;
  const double v[EVENTS][LENGTH] = {{4, 4, 4},   {1, nan, 2},          {1, 2, infinity},
                                    {nan, 1, 2}, {5, 5, 5 /* none */}, {-1e308, 0, 1e308}};
  const uint32_t count[EVENTS] = {3, 3, 3, 3, 0, 3};
  (void)state;
  struct sl_test *t = widths_of(&v[0][0], count, EVENTS, LENGTH, 100);
  expect_width(t, 0, 2, 0, 4); /* all values are equal: no entries */
  for (uint32_t e = 1; e < 5; e++) expect_width(t, e, 0, 0, 0);
  expect_width(t, 5, 2, 0, -1e308); /* the range is no number */
  sl_test_free(t);
}

static void widths_are_those_of_the_plain_version(void **state) {
  enum { LENGTH = 1000, EVENTS = 8 };
  static double v[EVENTS][LENGTH];
  static const uint32_t bins[] = {100, 1, 7, 1024};
  uint32_t count[EVENTS], found = 0;
  (void)state;
  for (uint32_t e = 0; e < EVENTS; e++) {
    count[e] = LENGTH - draw(100) * (e % 3);
    for (uint32_t i = 0; i < LENGTH; i++) { /* a peak, and a tail to the right */
      for (uint32_t k = 0; k < 4; k++) v[e][i] += 0.01 * draw(200) - 1;
      if (draw(20) == 0) v[e][i] += draw(100);
    }
  }
  for (size_t b = 0; b < sizeof bins / sizeof bins[0]; b++) {
    struct sl_test *t = widths_of(&v[0][0], count, EVENTS, LENGTH, bins[b]);
    for (uint32_t e = 0; e < EVENTS; e++) {
      const struct reference_width expected = reference_width(v[e], (int)count[e], (int)bins[b]);
      expect_width(t, e, (expected.is_found ? 1u : 0u) | (expected.has_position ? 2u : 0u), expected.half_width,
                   expected.position);
      found += expected.is_found ? 1u : 0u;
    }
    sl_test_free(t);
  }
  assert_true(found > EVENTS); /* not only missing widths are compared */
}

/* ----------------------------------------------------------------------------------------------- find_pulses */

static struct sl_test *pulses_of(const double *v, uint32_t events, uint32_t length, const double *half_width,
                                 const uint32_t *valid) {
  uint32_t count[16];
  for (uint32_t e = 0; e < events; e++) count[e] = length;
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "find_pulses");
  sl_test_events(t, events);
  sl_test_dimension(t, "current", "length", length);
  sl_test_input(t, "current", "value", v, (uint64_t)events * length);
  sl_test_input(t, "current", "count", count, events);
  sl_test_input(t, "widths", "half_width", half_width, events);
  sl_test_input(t, "widths", "valid", valid, events);
  return t;
}

static void expect_pulses(const struct sl_test *t, const double *v, uint32_t event, uint32_t length, const int *index,
                          uint32_t count) {
  const uint32_t *offsets = sl_test_output(t, "pulses", "offsets");
  const int32_t *at = sl_test_output(t, "pulses", "index");
  const float *energy = sl_test_output(t, "pulses", "energy");
  assert_int_equal(offsets[event + 1] - offsets[event], count);
  for (uint32_t k = 0; k < count; k++) {
    assert_int_equal(at[offsets[event] + k], index[k]);
    assert_true(energy[offsets[event] + k] == (float)v[(size_t)event * length + (uint32_t)index[k]]);
  }
}

/* From the right: a maximum ends at a fall of more than 5; the next one can begin after a minimum below 0 and a rise of
 * more than 0.1. */
static void pulses_worked_out_by_hand(void **state) {
  enum { LENGTH = 12, EVENTS = 6 };
  static const double v[EVENTS][LENGTH] = {
      {0, 0, -1, 0, 9, 8, 0, -2, 0, 7, 0, 0},  /* two pulses */
      {0, 0, 1, 1, 9, 8, 1, 2, 1, 7, 1, 1},    /* no minimum below 0 between them: the right one only */
      {0, 0, -1, 0, 9, 9, 0, 0, 0, 5, 0, 0},   /* a fall of exactly 5 is none; the first of two equal values */
      {0, -8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0},   /* an undershoot of 8 / 9 */
      {0, -8, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0},  /* one of 0.4 */
      {9, 10, 11, 12, 0, 0, 0, 0, 0, 0, 0, 0}, /* a maximum that does not end */
  };
  static const double half_width[EVENTS] = {1, 1, 1, 1, 1, 1};
  static const uint32_t valid[EVENTS] = {3, 3, 3, 3, 3, 3};
  static const int first[] = {9, 4}, second[] = {9}, third[] = {5}, fifth[] = {2};
  (void)state;
  struct sl_test *t = pulses_of(&v[0][0], EVENTS, LENGTH, half_width, valid);
  assert_int_equal(sl_test_run(t), 0);
  expect_pulses(t, &v[0][0], 0, LENGTH, first, 2);
  expect_pulses(t, &v[0][0], 1, LENGTH, second, 1);
  expect_pulses(t, &v[0][0], 2, LENGTH, third, 1);
  expect_pulses(t, &v[0][0], 3, LENGTH, NULL, 0);
  expect_pulses(t, &v[0][0], 4, LENGTH, fifth, 1);
  expect_pulses(t, &v[0][0], 5, LENGTH, NULL, 0);
  sl_test_free(t);
}

/* The limit is 3 half widths: 6 is not above 3 * 2. Without a half width there are no pulses. */
static void pulses_are_above_the_noise(void **state) {
  enum { LENGTH = 4, EVENTS = 4 };
  static const double v[EVENTS][LENGTH] = {{0, 0, 6, 0}, {0, 0, 6, 0}, {0, 0, 6, 0}, {0, 0, 0, 0}};
  static const double half_width[EVENTS] = {2, 1.999, 0, 0};
  static const uint32_t valid[EVENTS] = {3, 3, 2, 1};
  static const int at[] = {2};
  (void)state;
  struct sl_test *t = pulses_of(&v[0][0], EVENTS, LENGTH, half_width, valid);
  assert_int_equal(sl_test_run(t), 0);
  expect_pulses(t, &v[0][0], 0, LENGTH, NULL, 0);
  expect_pulses(t, &v[0][0], 1, LENGTH, at, 1);
  expect_pulses(t, &v[0][0], 2, LENGTH, NULL, 0);
  expect_pulses(t, &v[0][0], 3, LENGTH, NULL, 0);
  sl_test_free(t);
}

/* The window of a maximum at i is [i - 10, i + 10), and ends before the last value. */
static void the_window_of_the_undershoot_is_shorter_to_the_right(void **state) {
  enum { LENGTH = 40, EVENTS = 5 };
  static double v[EVENTS][LENGTH];
  static const double half_width[EVENTS] = {1, 1, 1, 1, 1};
  static const uint32_t valid[EVENTS] = {3, 3, 3, 3, 3};
  static const int at[] = {20}, late[] = {38};
  (void)state;
  for (uint32_t e = 0; e < 4; e++) v[e][20] = 10;
  v[0][10] = -9; /* in the window */
  v[1][9] = -9;
  v[2][29] = -9; /* in the window */
  v[3][30] = -9;
  v[4][38] = 10;
  v[4][39] = -9; /* the last value */
  struct sl_test *t = pulses_of(&v[0][0], EVENTS, LENGTH, half_width, valid);
  assert_int_equal(sl_test_run(t), 0);
  expect_pulses(t, &v[0][0], 0, LENGTH, NULL, 0);
  expect_pulses(t, &v[0][0], 1, LENGTH, at, 1);
  expect_pulses(t, &v[0][0], 2, LENGTH, NULL, 0);
  expect_pulses(t, &v[0][0], 3, LENGTH, at, 1);
  expect_pulses(t, &v[0][0], 4, LENGTH, late, 1);
  sl_test_free(t);
}

static void pulses_are_those_of_the_plain_version(void **state) {
  enum { LENGTH = 1500, EVENTS = 8 };
  static double v[EVENTS][LENGTH];
  double half_width[EVENTS];
  uint32_t valid[EVENTS], pulses = 0, truncated = 0;
  (void)state;
  for (uint32_t e = 0; e < EVENTS; e++) {
    half_width[e] = 0.5 + 0.1 * e;
    valid[e] = 3;
    for (uint32_t i = 0; i < LENGTH; i++) v[e][i] = 0.01 * draw(400) - 2;
    for (uint32_t k = 0; k < 4 * e; k++) {
      const uint32_t at = draw(LENGTH - 3);
      for (uint32_t i = 0; i < 3; i++) v[e][at + i] += 5 + draw(20);
      if (draw(3) == 0) v[e][at] -= draw(30);
    }
  }
  struct sl_test *t = pulses_of(&v[0][0], EVENTS, LENGTH, half_width, valid);
  sl_test_set(t, "pulses_max", 12);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t e = 0; e < EVENTS; e++) {
    const struct reference_pulses expected = reference_pulses(v[e], LENGTH, half_width[e], 12);
    const uint64_t left_out = expected.maxima > 12 ? (uint64_t)expected.maxima - 12 : 0;
    expect_pulses(t, &v[0][0], e, LENGTH, expected.index, (uint32_t)expected.count);
    assert_int_equal(sl_test_event_error(t, e), left_out ? 1ull << 32 | left_out : 0);
    pulses += (uint32_t)expected.count;
    truncated += left_out > 0 ? 1u : 0u;
  }
  assert_true(pulses > 20 && truncated > 0 && truncated < EVENTS);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(currents_are_those_of_the_plain_version),
      cmocka_unit_test(a_step_becomes_a_pulse_of_its_height),
      cmocka_unit_test(a_lag_or_a_gaussian_longer_than_the_waveform_is_refused),
      cmocka_unit_test(widths_worked_out_by_hand),
      cmocka_unit_test(values_without_a_histogram_have_no_width),
      cmocka_unit_test(widths_are_those_of_the_plain_version),
      cmocka_unit_test(pulses_worked_out_by_hand),
      cmocka_unit_test(pulses_are_above_the_noise),
      cmocka_unit_test(the_window_of_the_undershoot_is_shorter_to_the_right),
      cmocka_unit_test(pulses_are_those_of_the_plain_version),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
