/* walk_test.c: crossings of thresholds, against steps one by one. */
#include "waveforms_support.h"

#include <waveforms/event_model.h>

enum { EVENTS = 12, LENGTH = 150 };
static float value[EVENTS * LENGTH];

static int32_t walk(const float *x, int32_t start, float threshold, int32_t step) {
  if (start < 0) return -1;
  for (int32_t i = start; i + step >= 0 && i + step < LENGTH; i += step)
    if ((x[i] <= threshold && threshold < x[i + step]) || (x[i] >= threshold && threshold > x[i + step])) return i;
  return -1;
}

/* Small integers, so that many samples are equal to the threshold. */
static struct sl_test *test_of_walk(const int32_t *start, const uint32_t *valid) {
  for (uint32_t i = 0; i < EVENTS * LENGTH; i++) value[i] = (float)(mixed(i) % (i / LENGTH + 1));
  struct sl_test *t = test_with_series("walk", value, EVENTS, LENGTH, valid);
  sl_test_field(t, "start", &waveforms_points_collection, "index");
  sl_test_input(t, "start", "index", start, EVENTS);
  return t;
}

static void the_first_crossing_from_the_start_is_found(void **state) {
  (void)state;
  for (int32_t first = 0; first < LENGTH; first += 7)
    for (int32_t step = -1; step <= 1; step += 2)
      for (uint32_t half = 0; half < 16; half++) {
        const double threshold = 0.5 * half;
        int32_t start[EVENTS];
        for (int32_t e = 0; e < EVENTS; e++) start[e] = e == 5 ? -1 : (first + e) % LENGTH;
        struct sl_test *t = test_of_walk(start, NULL);
        sl_test_set(t, "fraction", threshold);
        sl_test_set_text(t, "direction", step > 0 ? "right" : "left");
        assert_int_equal(sl_test_run(t), 0);
        const int32_t *found = sl_test_output(t, "points", "index");
        for (uint32_t e = 0; e < EVENTS; e++)
          assert_int_equal(found[e], walk(value + (size_t)e * LENGTH, start[e], (float)threshold, step));
        sl_test_free(t);
      }
}

static void thresholds_are_fractions_of_values_or_deviations(void **state) {
  (void)state;
  int32_t start[EVENTS] = {0};
  float threshold[EVENTS];
  uint32_t valid[EVENTS], has_series[EVENTS];
  for (uint32_t e = 0; e < EVENTS; e++) {
    threshold[e] = (float)e;
    valid[e] = e == 7 ? 13 : 15; /* as a fit: without a deviation; as a value: bit 0 */
    has_series[e] = e != 3;
  }
  for (uint32_t is_fit = 0; is_fit < 2; is_fit++) {
    struct sl_test *t = test_of_walk(start, has_series);
    if (is_fit)
      sl_test_input(t, "fits", "deviation", threshold, EVENTS), sl_test_input(t, "fits", "valid", valid, EVENTS);
    if (!is_fit) sl_test_input(t, "values", "value", threshold, EVENTS);
    for (uint32_t e = 0; !is_fit && e < EVENTS; e++) valid[e] = e != 9;
    if (!is_fit) sl_test_input(t, "values", "valid", valid, EVENTS);
    for (uint32_t e = 0; !is_fit && e < EVENTS; e++) valid[e] = e == 7 ? 13 : 15;
    sl_test_set(t, "fraction", 0.5);
    assert_int_equal(sl_test_run(t), 0);
    const int32_t *found = sl_test_output(t, "points", "index");
    for (uint32_t e = 0; e < EVENTS; e++) {
      const uint32_t none = e == 3 || e == (is_fit ? 7u : 9u);
      assert_int_equal(found[e], none ? -1 : walk(value + (size_t)e * LENGTH, 0, (float)e / 2, 1));
    }
    sl_test_free(t);
  }
}

static void a_start_beyond_the_waveform_refuses_the_event(void **state) {
  (void)state;
  int32_t start[EVENTS] = {0};
  start[2] = LENGTH;
  struct sl_test *t = test_of_walk(start, NULL);
  assert_int_equal(sl_test_run(t), 0);
  const int32_t *found = sl_test_output(t, "points", "index");
  assert_int_equal(found[2], -1);
  assert_int_equal(sl_test_event_error(t, 1), 0);
  assert_int_equal(sl_test_event_error(t, 2), (uint64_t)2 << 32 | LENGTH);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_crossing_from_the_start_is_found),
                                     cmocka_unit_test(thresholds_are_fractions_of_values_or_deviations),
                                     cmocka_unit_test(a_start_beyond_the_waveform_refuses_the_event)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
