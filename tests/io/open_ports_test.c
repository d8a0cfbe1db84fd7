/* open_ports_test.c: the test harness gives an algorithm with open ports the ports of the collections of its plugin. */
#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void the_harness_knows_the_collections_of_the_plugin(void **state) {
  (void)state;
  struct sl_test *t = sl_test_new(RICH_PLUGIN, "tally");
  const uint32_t offsets[] = {0, 2, 5};
  sl_test_events(t, 2);
  sl_test_input(t, "rich", "offsets", offsets, 3);
  assert_int_equal(sl_test_run(t), 0);
  assert_non_null(strstr(sl_test_report(t), "\"rich\": 5"));
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_harness_knows_the_collections_of_the_plugin)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
