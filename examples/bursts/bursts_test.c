/* bursts_test.c: the kernels alone, on blocks worked out by hand. */
#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Two channels; the second one is 1 sample later in trial 1. */
static void channels_are_summed_with_their_delays(void **state) {
  (void)state;
  enum { TIMES = 2, SUMS = TIMES + 16, SAMPLES = SUMS + 1 };
  uint8_t power[2][SAMPLES] = {{0}};
  power[0][3] = 10;
  power[1][4] = 10;
  const uint32_t delay[] = {0, 0, 0, 1}, longest = 1;
  const float measure[] = {0, 1};
  struct sl_test *t = sl_test_new(BURSTS_PLUGIN, "dedisperse");
  sl_test_events(t, 1);
  sl_test_dimension(t, "block", "samples", SAMPLES);
  sl_test_dimension(t, "block", "channels", 2);
  sl_test_input(t, "block", "power", power, sizeof power);
  sl_test_input(t, "delays", "delay", delay, 4);
  sl_test_input(t, "delays", "measure", measure, 2);
  sl_test_input(t, "delays", "longest", &longest, 1);
  sl_test_set(t, "trials", 2);
  sl_test_set(t, "times", TIMES);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_output_count(t, "series", "sum"), 2 * SUMS);
  const int32_t *sum = sl_test_output(t, "series", "sum");
  const float *mean = sl_test_output(t, "series", "mean"), *deviation = sl_test_output(t, "series", "deviation");
  assert_int_equal(sum[3], 10);
  assert_int_equal(sum[4], 10);
  assert_int_equal(sum[SUMS + 3], 20);
  assert_int_equal(sum[SUMS + 4], 0);
  assert_true(mean[0] == (float)(20.0 / SUMS) && mean[1] == mean[0]);
  assert_true(deviation[1] > deviation[0]);
  sl_test_free(t);
}

static void delays_longer_than_the_block_are_refused(void **state) {
  (void)state;
  const uint8_t power[20] = {0};
  const uint32_t delay[] = {5}, longest = 5;
  const float measure[] = {0};
  struct sl_test *t = sl_test_new(BURSTS_PLUGIN, "dedisperse");
  sl_test_dimension(t, "block", "samples", 20);
  sl_test_dimension(t, "block", "channels", 1);
  sl_test_input(t, "block", "power", power, sizeof power);
  sl_test_input(t, "delays", "delay", delay, 1);
  sl_test_input(t, "delays", "measure", measure, 1);
  sl_test_input(t, "delays", "longest", &longest, 1);
  sl_test_set(t, "trials", 1);
  sl_test_set(t, "times", 1);
  assert_true(sl_test_run(t) < 0);
  assert_non_null(strstr(sl_test_messages(t), "blocks need 22 samples"));
  sl_test_free(t);
}

/* One trial with mean 0 and deviation 1; a pulse of 4 samples of height 6, that is 4 * 6 / sqrt(4) = 12. */
static void a_pulse_is_found_with_its_width(void **state) {
  (void)state;
  enum { SUMS = 40 + 16 };
  int32_t sum[2][SUMS] = {{0}};
  const float mean[] = {0, 0}, deviation[] = {1, 1};
  for (int i = 0; i < 4; i++) sum[1][20 + i] = 6;
  struct sl_test *t = sl_test_new(BURSTS_PLUGIN, "search");
  sl_test_events(t, 2);
  sl_test_dimension(t, "series", "trials", 1);
  sl_test_dimension(t, "series", "times", SUMS);
  sl_test_input(t, "series", "sum", sum, 2 * SUMS);
  sl_test_input(t, "series", "mean", mean, 2);
  sl_test_input(t, "series", "deviation", deviation, 2);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *offsets = sl_test_output(t, "pulses", "offsets"), *time = sl_test_output(t, "pulses", "time");
  const uint32_t *width = sl_test_output(t, "pulses", "width");
  const float *snr = sl_test_output(t, "pulses", "snr");
  assert_int_equal(offsets[1], 0);
  assert_int_equal(offsets[2], 1);
  assert_int_equal(time[0], 20);
  assert_int_equal(width[0], 4);
  assert_true(snr[0] == 12.0f);
  sl_test_free(t);
}

/* Two pulses, at the begin and in the middle of the block. */
static void a_block_is_drawn_with_its_pulses(void **state) {
  (void)state;
  const uint32_t offsets[] = {0, 2}, time[] = {0, 50}, trial[] = {1, 0}, width[] = {1, 1};
  const float snr[] = {8, 20}, measure[] = {0, 200};
  struct sl_test *t = sl_test_new(BURSTS_PLUGIN, "list");
  sl_test_events(t, 1);
  sl_test_input(t, "pulses", "offsets", offsets, 2);
  sl_test_input(t, "pulses", "time", time, 2);
  sl_test_input(t, "pulses", "trial", trial, 2);
  sl_test_input(t, "pulses", "width", width, 2);
  sl_test_input(t, "pulses", "snr", snr, 2);
  sl_test_input(t, "delays", "measure", measure, 2);
  sl_test_set(t, "step", 100);
  sl_test_draw(t, 0);
  assert_int_equal(sl_test_run(t), 0);
  assert_non_null(strstr(sl_test_drawing(t), "block 0: 2 pulses"));
  assert_non_null(strstr(sl_test_drawing(t), "<circle cx='50.0' cy='40.0' r='4.0'"));
  assert_non_null(strstr(sl_test_drawing(t), "<circle cx='300.0' cy='310.0' r='10.0'"));
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(channels_are_summed_with_their_delays),
                                     cmocka_unit_test(delays_longer_than_the_block_are_refused),
                                     cmocka_unit_test(a_pulse_is_found_with_its_width),
                                     cmocka_unit_test(a_block_is_drawn_with_its_pulses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
