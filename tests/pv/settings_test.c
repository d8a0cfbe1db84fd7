/* settings_test.c: inconsistent properties of the vertex finders are refused. */
#include "states.h"

#include <string.h>

static struct states s;

static void assert_refused(struct sl_test *t, const char *reason) {
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  if (!strstr(sl_test_messages(t), reason)) fail_msg("no \"%s\" in: %s", reason, sl_test_messages(t));
  sl_test_free(t);
}

static struct sl_test *open_event(const char *algorithm) {
  random_seed(10);
  states_begin(&s, 5);
  states_add_crossing(&s, 1, 30);
  states_end_event(&s);
  return states_open(&s, algorithm);
}

static void inconsistent_bins_are_refused(void **state) {
  (void)state;
  static const double widths[] = {0.3, 0.2, 100, 0.25};
  for (uint32_t i = 0; i < 4; i++) {
    struct sl_test *t = open_event("beamline");
    sl_test_set(t, "bin_width", widths[i]);
    if (i == 3) sl_test_set(t, "z_max", -600);
    assert_refused(t, "a whole number from 3 to 3392 is needed");
  }
}

static void rising_temperatures_are_refused(void **state) {
  (void)state;
  static const char *const names[] = {"splitting_temperature", "purging_temperature", "final_temperature"};
  static const double values[] = {9.9, 0.4, 10.1}; /* 10, 10, 0.5 */
  for (uint32_t i = 0; i < 3; i++) {
    struct sl_test *t = open_event("annealing");
    sl_test_set(t, names[i], values[i]);
    assert_refused(t, "temperatures must not increase");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inconsistent_bins_are_refused),
      cmocka_unit_test(rising_temperatures_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
