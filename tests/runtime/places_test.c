/* places_test.c: an output reuses the memory of an input after its last use only if this cannot change a result, on
 * every device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above */
#include "session.h"

#include <sluice/sluice.h>

#include <cmocka.h>

static const char *device = "cpu";

struct outcome {
  uint64_t mixed, sums; /* digests */
  uint32_t in_place;    /* fields */
};

/* Runs common nodes on all events, then a node that mixes their outputs, with `more` in it. */
static struct outcome run(const char *more, const char *more_outputs, uint32_t guard) {
  struct outcome r = {.in_place = 0};
  char graph[1024], *plan = NULL;
  size_t size = 0;
  snprintf(graph, sizeof graph,
           "sluice: 1\nnodes:\n  raw: { use: toy.source }\n  even: { use: toy.select, in: { numbers: raw } }\n"
           "  joined: { use: toy.join, in: { parts: [raw] } }\n  added: { use: toy.sum, in: { numbers: raw } }\n"
           "  mixed: { use: toy.mix, in: { numbers: joined, before: added%s }\n"
           "outputs: [mixed.mixed, mixed.sums%s]\n",
           more, more_outputs);
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = toy_options(graph, device);
  o.sets = (const char *const[]){"raw.events=60", NULL};
  o.slice_events = 25;
  o.digest = 1;
  o.guard = guard;
  struct sl_session *session = NULL;
  int status = sl_session_open(&o, d, &session);
  if (status == SL_OK) status = sl_session_run(session);
  char *messages = toy_messages(d);
  if (status < 0) fail_msg("%s", messages);
  r.mixed = sl_session_summary(session)->outputs[0].digest;
  r.sums = sl_session_summary(session)->outputs[1].digest;
  FILE *file = open_memstream(&plan, &size);
  sl_session_write_plan(session, file);
  fclose(file);
  for (const char *at = plan; (at = strstr(at, "in place\n")); at++) r.in_place++;
  free(plan);
  sl_session_close(session);
  sl_diagnostics_free(d);
  free(messages);
  return r;
}

/* Results must equal those without reuse, and those with a separate allocation for each field. */
static void expect(const char *more, uint32_t in_place) {
  const struct outcome r = run(more, "", 0), kept = run(more, ", joined, added", 0), guarded = run(more, "", 1);
  assert_true(r.mixed == kept.mixed && r.sums == kept.sums);
  assert_true(r.mixed == guarded.mixed && r.sums == guarded.sums);
  assert_int_equal(r.in_place, in_place);
  assert_int_equal(kept.in_place, 0);
}

static void an_output_reuses_the_memory_of_an_input_after_its_last_use(void **state) {
  (void)state;
  expect(" }, events: []", 4);
}

/* Outputs of events that are not on the list are empty. */
static void a_cleared_output_reuses_no_memory(void **state) {
  (void)state;
  expect(" }, events: even", 0);
}

static void an_input_that_is_read_again_is_not_reused(void **state) {
  (void)state;
  expect(", others: joined }, events: []", 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_output_reuses_the_memory_of_an_input_after_its_last_use),
      cmocka_unit_test(a_cleared_output_reuses_no_memory),
      cmocka_unit_test(an_input_that_is_read_again_is_not_reused),
  };
  if (getenv("SLUICE_TEST_DEVICE")) device = getenv("SLUICE_TEST_DEVICE");
  if (toy_device_is_absent(device)) return 77;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
