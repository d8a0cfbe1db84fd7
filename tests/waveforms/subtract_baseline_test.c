/* subtract_baseline_test.c: samples less the baseline. */
#include "waveforms_support.h"

static void samples_lose_their_own_baseline(void **state) {
  (void)state;
  enum { EVENTS = 2, SAMPLES = 37 };
  uint16_t value[EVENTS * SAMPLES], baseline[EVENTS] = {65535, 7};
  for (uint32_t i = 0; i < EVENTS * SAMPLES; i++) value[i] = (uint16_t)mixed(i);
  value[0] = 0;
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "subtract_baseline");
  input_traces(t, value, baseline, EVENTS, SAMPLES);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_output_count(t, "series", "value"), EVENTS * SAMPLES);
  const float *found = sl_test_output(t, "series", "value");
  const uint32_t *valid = sl_test_output(t, "series", "valid");
  assert_true(found[0] == -65535.0f);
  for (uint32_t e = 0; e < EVENTS; e++)
    for (uint32_t i = e * SAMPLES; i < (e + 1) * SAMPLES; i++) assert_true(found[i] == (float)(value[i] - baseline[e]));
  assert_int_equal(valid[0] & valid[1], 1);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(samples_lose_their_own_baseline)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
