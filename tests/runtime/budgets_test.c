/* budgets_test.c: without new plans (replan_test.c) the runtime adapts to overflows: later slices get fewer events,
 * slices stored for repeats run in parts from the second pass on, and the advised budget avoids overflows. Results
 * never change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above */
#include "numbers.h"
#include "session.h"

#include <sluice/sluice.h>

#include <cmocka.h>

#define GRAPH                                                                        \
  "sluice: 1\n"                                                                      \
  "nodes:\n"                                                                         \
  "  raw: { use: toy.source, set: { events: 4000 } }\n"                              \
  "  scaled: { use: toy.scale }\n"                                                   \
  "  expanded: { use: toy.expand, in: { scaled: scaled }, set: { per_event: 3 } }\n" \
  "outputs: [expanded]\n"

static const char *device = "cpu";
enum { SLICE = 100, SLICES = 4000 / SLICE };

struct outcome {
  uint64_t digest, retries, slices, overflows, needed_max, error_events;
  char advice[256];
};

static struct outcome run(uint32_t slots, uint32_t repeat, const char *set) {
  struct sl_options o = toy_options(GRAPH, device);
  const char *const sets[] = {set, NULL};
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_session *session = NULL;
  o.slots = slots;
  o.slice_events = SLICE;
  o.repeat = repeat;
  o.replan = SL_REPLAN_OFF;
  o.digest = 1;
  o.sets = sets;
  int status = sl_session_open(&o, d, &session);
  if (status == SL_OK) status = sl_session_run(session);
  if (status < 0) fail_msg("%s", toy_messages(d));
  const struct sl_summary *sum = sl_session_summary(session);
  assert_int_equal(sum->events, 4000);
  assert_int_equal(sum->budget_count, 1);
  struct outcome r = {sum->outputs[0].digest,     sum->retries,      sum->slices, sum->budgets[0].overflows,
                      sum->budgets[0].needed_max, sum->error_events, ""};
  strcpy(r.advice, sum->budgets[0].advice);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return r;
}

static void later_slices_get_fewer_events(void **state) {
  (void)state;
  const struct outcome roomy = run(1, 1, "expanded.per_event=1000");
  assert_int_equal(roomy.overflows, 0);
  assert_int_equal(roomy.slices, SLICES);
  assert_string_equal(roomy.advice, "");
  for (uint32_t slots = 1; slots <= 3; slots++) {
    const struct outcome r = run(slots, 1, NULL);
    assert_in_range(r.overflows, 1, 2 * slots + 2); /* the slices in flight, and one more if an estimate was too low */
    assert_true(r.slices > SLICES);
    assert_true(r.digest == roomy.digest);
    assert_int_equal(r.needed_max, roomy.needed_max);
    assert_int_equal(r.error_events, roomy.error_events);
  }
}

static void the_advised_budget_is_the_smallest_without_overflow(void **state) {
  (void)state;
  const struct outcome r = run(1, 1, NULL);
  char set[280];
  unsigned value = 0;
  assert_int_equal(sscanf(r.advice, "--set expanded.per_event=%u", &value), 1);
  for (uint32_t slots = 1; slots <= 2; slots++) {
    snprintf(set, sizeof set, "expanded.per_event=%u", value);
    const struct outcome enough = run(slots, 1, set);
    assert_int_equal(enough.overflows, 0);
    assert_int_equal(enough.needed_max, r.needed_max);
    assert_true(enough.digest == r.digest);
    snprintf(set, sizeof set, "expanded.per_event=%u", value - 1);
    assert_true(run(slots, 1, set).overflows > 0);
  }
}

static void slices_kept_for_repeats_overflow_only_in_the_first_pass(void **state) {
  (void)state;
  const struct outcome once = run(1, 1, "expanded.per_event=1000"), two = run(1, 2, NULL), many = run(1, 9, NULL);
  assert_in_range(two.overflows, SLICES, SLICES + 4); /* all slices were read before the first one ran */
  assert_int_equal(many.overflows, two.overflows);
  assert_int_equal(many.retries, two.retries);
  assert_true(many.digest == once.digest);
}

int main(void) {
  if (getenv("SLUICE_TEST_DEVICE")) device = getenv("SLUICE_TEST_DEVICE");
  if (toy_device_is_absent(device)) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(later_slices_get_fewer_events),
      cmocka_unit_test(the_advised_budget_is_the_smallest_without_overflow),
      cmocka_unit_test(slices_kept_for_repeats_overflow_only_in_the_first_pass),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
