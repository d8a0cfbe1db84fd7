/* picture_test.c: drawings of waveforms.picture. With the variable PICTURE_TEST_FILE, the first one is written to this
 * file, to look at. */
#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <waveforms/event_model.h>

#include <cmocka.h>

enum { SAMPLES = 8192 };

static uint32_t count_of(const char *text, const char *part) {
  uint32_t count = 0;
  for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) count++;
  return count;
}

/* A step at sample 2960 with some noise, after a baseline of 15000. */
static const uint16_t *samples(void) {
  static uint16_t value[SAMPLES];
  uint32_t word = 1;
  for (int i = 0; i < SAMPLES; i++) {
    const double rise = i < 2960 ? 0 : i < 2990 ? (i - 2960) / 30.0 : 1 - (i - 2990) / 27460.5;
    word = word * 1664525 + 1013904223;
    value[i] = (uint16_t)(15000 + 9000 * rise + (word >> 27));
  }
  return value;
}

static struct sl_test *begin(void) {
  static const uint16_t baseline[] = {15016};
  static const char table[WAVEFORMS_TABLE_BYTES] = "ch<1>";
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "picture");
  sl_test_events(t, 1);
  sl_test_dimension(t, "traces", "samples", SAMPLES);
  sl_test_input(t, "traces", "value", samples(), SAMPLES);
  sl_test_input(t, "traces", "baseline", baseline, 1);
  sl_test_input(t, "traces", "table", table, sizeof table);
  sl_test_draw(t, 0);
  return t;
}

static void add_series(struct sl_test *t, const char *name, const float *value, uint32_t valid) {
  sl_test_list_input(t, "series", name, "value", value, SAMPLES);
  sl_test_list_input(t, "series", name, "valid", &valid, 1);
}

static const char *draw(struct sl_test *t) {
  assert_int_equal(sl_test_run(t), 0);
  assert_non_null(sl_test_drawing(t));
  return sl_test_drawing(t);
}

static void curves_and_time_points_are_drawn_and_named(void **state) {
  static const char *const names[] = {"tp_0_est", "tp_01", "tp_10", "tp_50", "tp_90", "tp_99", "tp_missing"};
  static const int32_t at[] = {2894, 2961, 2963, 2975, 2987, 2989, -1};
  static float trap[SAMPLES], pz[SAMPLES];
  (void)state;
  for (int i = 0; i < SAMPLES; i++) {
    pz[i] = i < 2975 ? 0 : 9000;
    trap[i] = i < 2960 ? 0 : i < 3585 ? 9000 * (float)(i - 2960) / 625 : i < 3773 ? 9000 : 0;
  }
  struct sl_test *t = begin();
  sl_test_dimension(t, "series", "length", SAMPLES);
  add_series(t, "pole-zero & co", pz, 1);
  add_series(t, "trap", trap, 1);
  add_series(t, "absent", trap, 0);
  for (int k = 0; k < 7; k++) sl_test_list_input(t, "points", names[k], "index", &at[k], 1);
  const char *svg = draw(t), *file = getenv("PICTURE_TEST_FILE");
  assert_non_null(strstr(svg, "event 0, ch&#60;1&#62;</text>"));
  assert_non_null(strstr(svg, ">pole-zero &#38; co</text>"));
  assert_non_null(strstr(svg, ">absent: none</text>"));
  assert_non_null(strstr(svg, ">tp_50: 47.600 \xc2\xb5s</text>")); /* 2975 * 16 ns */
  assert_non_null(strstr(svg, ">tp_missing: not found</text>"));
  assert_int_equal(count_of(svg, "class='curve'"), 6);              /* three curves in two panels */
  assert_int_equal(count_of(svg, "class='mark'"), 3 * 6);           /* in both panels, and to the names */
  assert_int_equal(count_of(svg, "<text class='middle small'"), 6); /* the names of found points */
  assert_true(strlen(svg) < 200000);                                /* not every sample is drawn */
  if (file) {
    FILE *to = fopen(file, "w");
    assert_non_null(to);
    fputs(svg, to);
    fclose(to);
  }
  sl_test_free(t);
}

static void pulses_are_marked(void **state) {
  static const uint32_t offsets[] = {0, 2};
  static const int32_t index[] = {6000, 100};
  static const float energy[] = {5, 9};
  (void)state;
  struct sl_test *t = begin();
  sl_test_input(t, "pulses", "offsets", offsets, 2);
  sl_test_input(t, "pulses", "index", index, 2);
  sl_test_input(t, "pulses", "energy", energy, 2);
  const char *svg = draw(t);
  assert_non_null(strstr(svg, ">2 pulses</text>"));
  assert_int_equal(count_of(svg, "l-5,-9h10z"), 2 + 1 + 1); /* both panels, and the legend; the lower panel is around
                                                               the larger pulse */
  sl_test_free(t);
}

static void a_waveform_of_one_sample_is_drawn(void **state) {
  static const uint16_t value = 7, baseline = 7;
  static const char table[WAVEFORMS_TABLE_BYTES] = "";
  (void)state;
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "picture");
  sl_test_events(t, 1);
  sl_test_dimension(t, "traces", "samples", 1);
  sl_test_input(t, "traces", "value", &value, 1);
  sl_test_input(t, "traces", "baseline", &baseline, 1);
  sl_test_input(t, "traces", "table", table, sizeof table);
  sl_test_draw(t, 0);
  assert_null(strstr(draw(t), "nan"));
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(curves_and_time_points_are_drawn_and_named),
      cmocka_unit_test(pulses_are_marked),
      cmocka_unit_test(a_waveform_of_one_sample_is_drawn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
