/* dice_test.c: the constant and the sink alone; a source is tested by `sluice test`, which needs a graph with it. */
#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void odds_are_weights_over_their_sum(void **state) {
  (void)state;
  const double weights[] = {1, 0, 1, 0, 0, 2};
  struct sl_test *t = sl_test_new(DICE_PLUGIN, "odds");
  sl_test_set_array(t, "weights", weights, 6);
  assert_int_equal(sl_test_run(t), 0);
  const double *probability = sl_test_output(t, "odds", "probability");
  assert_true(probability[0] == 0.25 && probability[1] == 0.0 && probability[5] == 0.5);
  sl_test_free(t);
}

static void faces_are_counted_and_judged(void **state) {
  (void)state;
  const uint32_t offsets[] = {0, 1, 4};
  const uint8_t faces[] = {0, 0, 5, 0};
  const double probability[] = {0.5, 0, 0, 0, 0, 0.5};
  struct sl_test *t = sl_test_new(DICE_PLUGIN, "tally");
  sl_test_events(t, 2);
  sl_test_input(t, "dice", "offsets", offsets, 3);
  sl_test_input(t, "dice", "face", faces, 4);
  sl_test_input(t, "odds", "probability", probability, 6);
  assert_int_equal(sl_test_run(t), 0);
  assert_non_null(strstr(sl_test_report(t), "\"chi2\": 1"));
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(odds_are_weights_over_their_sum),
      cmocka_unit_test(faces_are_counted_and_judged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
