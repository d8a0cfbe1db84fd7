/* places_test.c: an output takes the place of an input that ends there only where nobody can tell, on every device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the above first */
#include "session.h"

#include <sluice/sluice.h>

#include <cmocka.h>

static const char *device = "cpu";

struct outcome {
  uint64_t mixed, sums; /* digests */
  uint32_t in_place;    /* fields */
};

/* The nodes before, with all events; then a node that mixes them, with `more` in it. */
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

/* As where the inputs are kept, and as where each field has memory of its own. */
static void expect(const char *more, uint32_t in_place) {
  const struct outcome r = run(more, "", 0), kept = run(more, ", joined, added", 0), guarded = run(more, "", 1);
  assert_true(r.mixed == kept.mixed && r.sums == kept.sums);
  assert_true(r.mixed == guarded.mixed && r.sums == guarded.sums);
  assert_int_equal(r.in_place, in_place);
  assert_int_equal(kept.in_place, 0);
}

static void an_output_takes_the_place_of_an_input_that_ends(void **state) {
  (void)state;
  expect(" }, events: []", 4);
}

/* Outputs of events that are not on the list are empty. */
static void an_output_that_is_cleared_takes_no_place(void **state) {
  (void)state;
  expect(" }, events: even", 0);
}

static void an_input_that_is_read_twice_keeps_its_place(void **state) {
  (void)state;
  expect(", others: joined }, events: []", 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_output_takes_the_place_of_an_input_that_ends),
      cmocka_unit_test(an_output_that_is_cleared_takes_no_place),
      cmocka_unit_test(an_input_that_is_read_twice_keeps_its_place),
  };
  if (getenv("SLUICE_TEST_DEVICE")) device = getenv("SLUICE_TEST_DEVICE");
  if (toy_device_is_absent(device)) return 77;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
