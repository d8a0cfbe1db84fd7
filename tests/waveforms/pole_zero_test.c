/* pole_zero_test.c: the correction of the decay, against its recursion and against sums of integers. */
#include "waveforms_support.h"

#include <math.h>

enum { EVENTS = 4, SAMPLES_MAX_TESTED = 3001 };
static uint16_t value[EVENTS * SAMPLES_MAX_TESTED];

/* `channel` 5 has the first decay, 9 the second, others the last. */
static struct sl_test *run_pole_zero(uint32_t samples, const uint32_t channel[EVENTS], const double decay[3],
                                     uint16_t baseline[EVENTS]) {
  const uint32_t number[] = {5, 9, 0xffffffffu};
  make_traces(value, baseline, EVENTS, samples);
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "pole_zero");
  input_traces(t, value, baseline, EVENTS, samples);
  sl_test_input(t, "traces", "channel", channel, EVENTS);
  sl_test_input(t, "channels", "number", number, 3);
  sl_test_input(t, "channels", "decay", decay, 3);
  assert_int_equal(sl_test_run(t), 0);
  return t;
}

static void values_and_sums_have_those_of_exact_sums(void **state) {
  (void)state;
  const uint32_t channel[EVENTS] = {5, 9, 7, 0xfffffffeu}, lengths[] = {1, 7, 8, 64, 100, 2047, 3001};
  const double decay[] = {1e-4, 3e-3, 2.5e-5};
  for (uint32_t k = 0; k < 7; k++) {
    uint16_t baseline[EVENTS];
    const uint32_t samples = lengths[k];
    struct sl_test *t = run_pole_zero(samples, channel, decay, baseline);
    const float *corrected = sl_test_output(t, "corrected", "value");
    const double *sum = sl_test_output(t, "sums", "sum");
    for (uint32_t e = 0; e < EVENTS; e++) {
      const double d = decay[e < 2 ? e : 2], a = 1 - d;
      int64_t s = 0, ss = 0; /* of the samples before; sum of s before */
      double y = 0, before = 0;
      for (uint32_t i = 0; i < samples; i++) {
        const double x = value[e * samples + i] - baseline[e];
        y += x - a * before;
        before = x;
        const double closed = x + d * (double)s, total = (double)s + d * (double)ss;
        assert_true(corrected[e * samples + i] == (float)closed);
        assert_true(sum[(size_t)e * (samples + 1) + i] == total);
        assert_near(closed, y, 1e-7 * fabs(y) + 1e-7, "sample", i);
        ss += s;
        s += (int64_t)x;
      }
      assert_true(sum[(size_t)e * (samples + 1) + samples] == (double)s + d * (double)ss);
    }
    sl_test_free(t);
  }
}

static void a_decay_of_1_gives_a_running_sum(void **state) {
  (void)state;
  enum { SAMPLES = 50 };
  const uint32_t channel[EVENTS] = {0};
  const double decay[] = {0, 0, 1};
  uint16_t baseline[EVENTS];
  struct sl_test *t = run_pole_zero(SAMPLES, channel, decay, baseline);
  const float *corrected = sl_test_output(t, "corrected", "value");
  float sum = 0;
  for (uint32_t i = 0; i < SAMPLES; i++) {
    sum += (float)(value[i] - baseline[0]);
    assert_true(corrected[i] == sum);
  }
  sl_test_free(t);
}

static void channels_without_entries_are_refused(void **state) {
  (void)state;
  const uint32_t channel[EVENTS] = {0};
  uint16_t baseline[EVENTS];
  make_traces(value, baseline, EVENTS, 8);
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "pole_zero");
  input_traces(t, value, baseline, EVENTS, 8);
  sl_test_input(t, "traces", "channel", channel, EVENTS);
  sl_test_input(t, "channels", "number", channel, 0);
  sl_test_input(t, "channels", "decay", value, 0);
  assert_refused(t, "the input `channels` does not have a decay for each channel");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(values_and_sums_have_those_of_exact_sums),
                                     cmocka_unit_test(a_decay_of_1_gives_a_running_sum),
                                     cmocka_unit_test(channels_without_entries_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
