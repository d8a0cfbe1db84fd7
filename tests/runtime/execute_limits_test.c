/* execute_limits_test.c: graphs of any size run like small ones, and each failing call of the device is reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above */
#include "numbers.h"
#include "session.h"

#include <sluice/sluice.h>

#include <cmocka.h>

static const char *device = "cpu";

struct request {
  const char *graph, *trace_path;
  uint32_t profile, guard, repeat, slots;
  const char *const *sets;                                      /* NULL: 40 events */
  int (*on_batch)(void *context, const struct sl_batch *batch); /* NULL: events are counted */
  uint64_t number;                                              /* context of on_batch */
};

struct outcome {
  int status; /* of opening the session, or of the run */
  uint64_t digest;
  size_t errors;
  uint32_t timed; /* number of nodes with a time */
  char *messages, *table;
};

static int ignore_batch(void *context, const struct sl_batch *batch) {
  (void)context, (void)batch;
  return 0;
}

static int count_batches(void *context, const struct sl_batch *batch) {
  *(uint64_t *)context += batch->event_count;
  return 0;
}

/* One digest of all outputs. */
static uint64_t digest_of(const struct sl_summary *s) {
  uint64_t digest = 0;
  for (uint32_t o = 0; o < s->output_count; o++) digest = 1000003 * digest + s->outputs[o].digest;
  return digest;
}

static void write_table(const struct sl_session *session, struct outcome *r) {
  size_t size = 0;
  FILE *file = open_memstream(&r->table, &size);
  sl_session_write_table(session, 0, file);
  fclose(file);
}

static struct outcome run(const struct request *request) {
  struct outcome r = {0};
  uint64_t number = request->number;
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = toy_options(request->graph, device);
  o.sets = request->sets ? request->sets : (const char *const[]){"raw.events=40", NULL};
  o.slots = request->slots;
  o.slice_events = 16;
  o.digest = 1;
  o.profile = request->profile;
  o.guard = request->guard;
  o.repeat = request->repeat;
  o.trace_path = request->trace_path;
  o.on_batch = request->on_batch ? request->on_batch : count_batches;
  o.context = &number;
  struct sl_session *session = NULL;
  r.status = sl_session_open(&o, d, &session);
  if (session) {
    r.status = sl_session_run(session);
    const struct sl_summary *summary = sl_session_summary(session);
    r.digest = digest_of(summary);
    for (uint32_t n = 0; n < summary->node_count; n++) r.timed += summary->nodes[n].microseconds > 0;
    write_table(session, &r);
    if (r.status == SL_OK && !request->on_batch) assert_int_equal(number, 40);
  }
  r.errors = sl_diagnostics_errors(d);
  r.messages = toy_messages(d);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return r;
}

static void expect_run(const struct outcome *r) {
  if (r->status != SL_OK) fail_msg("%s", r->messages);
  assert_int_equal(r->errors, 0);
}

/* ------------------------------------------------------------------------------------------------- graphs */

#define HEAD    \
  "sluice: 1\n" \
  "nodes:\n"    \
  "  raw: { use: toy.source }\n"

/* `count` sums with three fields each, all of them outputs. */
static char *graph_of_sums(uint32_t count) {
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  fputs(HEAD, file);
  for (uint32_t i = 0; i < count; i++) fprintf(file, "  sum%u: { use: toy.sum }\n", i);
  fputs("outputs: [sum0", file);
  for (uint32_t i = 1; i < count; i++) fprintf(file, ", sum%u", i);
  fputs("]\n", file);
  fclose(file);
  return text;
}

static void three_hundred_steps_and_nine_hundred_fields_run_and_are_timed(void **state) {
  (void)state;
  struct request request = {.graph = graph_of_sums(300), .profile = 1};
  struct outcome all = run(&request);
  expect_run(&all);
  assert_int_equal(all.timed, 300);
  free((char *)request.graph);
  /* The digest of one sum, repeated 300 times. */
  request.graph = graph_of_sums(1);
  struct outcome one = run(&request);
  expect_run(&one);
  uint64_t expected = 0;
  for (uint32_t i = 0; i < 300; i++) expected = 1000003 * expected + one.digest;
  assert_int_equal(all.digest, expected);
  free((char *)request.graph);
  free(all.messages);
  free(one.messages);
  free(all.table);
  free(one.table);
}

/* ------------------------------------------------------------------------------------------------- lists */

static const uint32_t moduli[] = {2, 3, 4, 6, 12};
enum { MODULI = sizeof moduli / sizeof moduli[0] };

static void write_lists(FILE *file, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) fprintf(file, "%sfilter%u", i > 0 ? ", " : "", i);
}

/* Sums on the union and on the intersection of `count` event lists. */
static char *graph_of_lists(uint32_t count) {
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  fputs(HEAD, file);
  for (uint32_t i = 0; i < count; i++)
    fprintf(file, "  filter%u: { use: toy.select, set: { modulus: %u } }\n", i, moduli[i % MODULI]);
  fputs("  some: { use: toy.sum, events: { any: [", file);
  write_lists(file, count);
  fputs("] } }\n  few: { use: toy.sum, events: [", file);
  write_lists(file, count);
  fputs("] }\noutputs: [some, few]\n", file);
  fclose(file);
  return text;
}

/* The sums count the numbers of an event on their list, and 0 of other events. */
static int check_lists(void *context, const struct sl_batch *batch) {
  const uint32_t lists = *(uint64_t *)context >= MODULI ? MODULI : (uint32_t) * (uint64_t *)context;
  for (uint32_t e = 0; e < batch->event_count; e++) {
    const uint32_t numbers = toy_count(batch->events[e].number);
    uint32_t on = 0;
    for (uint32_t l = 0; l < lists; l++) on += numbers % moduli[l] == 0;
    assert_int_equal(((const uint32_t *)batch->outputs[0].fields[0])[e], on > 0 ? numbers : 0);
    assert_int_equal(((const uint32_t *)batch->outputs[1].fields[0])[e], on == lists ? numbers : 0);
  }
  return 0;
}

static void any_number_of_lists_can_be_joined_or_intersected(void **state) {
  (void)state;
  static const uint32_t counts[] = {1, 2, 64, 65, 100, 1000};
  for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    for (uint32_t guard = 0; guard < 2; guard++) {
      const struct request request = {.graph = graph_of_lists(counts[i]),
                                      .profile = 1,
                                      .guard = guard,
                                      .on_batch = check_lists,
                                      .number = counts[i]};
      struct outcome r = run(&request);
      expect_run(&r);
      free((char *)request.graph);
      free(r.messages);
      free(r.table);
    }
}

/* ------------------------------------------------------------------------------------------------- sinks */

static uint64_t count_of(uint32_t all, uint32_t divisor, uint32_t bad_every) {
  uint64_t count = 0;
  for (uint32_t n = 0; n < all; n++)
    count += (bad_every == 0 || n % bad_every != bad_every - 1) && toy_count(n) % divisor == 0;
  return count;
}

/* The final table must have this line for the sink `name`. */
static void expect_line(const char *table, const char *name, uint64_t events, uint64_t errors) {
  char text[200];
  snprintf(text, sizeof text, "%s:\nevents %llu wrong 0 errors %llu\n", name, (unsigned long long)events,
           (unsigned long long)errors);
  if (!strstr(table, text)) fail_msg("'%s' is not in:\n%s", text, table);
}

/* Sinks see the events of their lists: a list that only a sink uses, a union and an intersection. */
static void sinks_see_the_events_of_their_lists(void **state) {
  (void)state;
  static const uint32_t bad[] = {0, 9};
  for (uint32_t b = 0; b < 2; b++) {
    char sets[2][32];
    snprintf(sets[0], sizeof sets[0], "raw.events=200");
    snprintf(sets[1], sizeof sets[1], "raw.bad_every=%u", bad[b]);
    for (uint32_t slots = 1; slots < 4; slots++) {
      const struct request request = {
          .graph = HEAD
          "  even: { use: toy.select, set: { modulus: 2 } }\n"
          "  third: { use: toy.select, set: { modulus: 3 } }\n"
          "  sixth: { use: toy.select, set: { modulus: 6 } }\n"
          "  expanded: { use: toy.expand, in: { scaled: scaled } }\n"
          "  scaled: { use: toy.scale }\n"
          "  all: { use: toy.order }\n"
          "  of_even: { use: toy.order, events: even, set: { modulus: 2 } }\n"
          "  of_both: { use: toy.order, events: [even, third], set: { modulus: 6 } }\n"
          "  of_any: { use: toy.order, events: { any: [third, sixth] }, set: { modulus: 3 } }\n"
          "outputs: [expanded]\n",
          .sets = (const char *const[]){sets[0], sets[1], "expanded.per_event=2", NULL},
          .slots = slots,
          .profile = 1,
          .on_batch = ignore_batch};
      struct outcome r = run(&request);
      if (r.status != SL_OK) fail_msg("%s", r.messages);
      expect_line(r.table, "all", 200, bad[b] ? 200 / bad[b] : 0);
      expect_line(r.table, "of_even", count_of(200, 2, bad[b]), 0);
      expect_line(r.table, "of_both", count_of(200, 6, bad[b]), 0);
      expect_line(r.table, "of_any", count_of(200, 3, bad[b]), 0);
      free(r.messages);
      free(r.table);
    }
  }
}

/* -------------------------------------------------------------------------------------------------- faults */

#define SMALL                                                           \
  HEAD "  even: { use: toy.select, set: { modulus: 2 } }\n"             \
       "  third: { use: toy.select, set: { modulus: 3 } }\n"            \
       "  scaled: { use: toy.scale }\n"                                 \
       "  expanded: { use: toy.expand, in: { scaled: scaled } }\n"      \
       "  few: { use: toy.sum, events: [third.passed, even.passed] }\n" \
       "  order: { use: toy.order }\n"                                  \
       "outputs: [expanded, few]\n"

/* Fails each call in turn until a run makes fewer calls. */
static uint32_t fail_each_call(const struct request *request) {
  for (uint32_t call = 1;; call++) {
    char text[16];
    snprintf(text, sizeof text, "%u", call);
    setenv("SLUICE_MOCK_FAIL", text, 1);
    struct outcome r = run(request);
    unsetenv("SLUICE_MOCK_FAIL");
    if (r.status == SL_OK) {
      expect_run(&r);
      free(r.messages);
      free(r.table);
      return call - 1;
    }
    if (r.errors == 0) fail_msg("call %u failed without a word: status %d", call, r.status);
    if (!strstr(r.messages, "failed as it was asked to") && !strstr(r.messages, "memory"))
      fail_msg("call %u: the reason is not in:\n%s", call, r.messages);
    free(r.messages);
    free(r.table);
  }
}

static void each_failed_call_of_the_device_is_reported(void **state) {
  (void)state;
  static const char *const one_branch[] = {"raw.events=40", "runtime.branches=1", NULL};
  struct request request = {.graph = SMALL, .sets = one_branch};
  const uint32_t captured = fail_each_call(&request);
  request.sets = (const char *const[]){"raw.events=40", "runtime.branches=3", NULL};
  const uint32_t branched = fail_each_call(&request);
  request.profile = 1;
  const uint32_t branched_steps = fail_each_call(&request);
  request.sets = one_branch;
  const uint32_t plain = fail_each_call(&request);
  request.guard = 1;
  const uint32_t guarded = fail_each_call(&request);
  request.guard = 0;
  request.trace_path = "/dev/null";
  const uint32_t traced = fail_each_call(&request);
  request.trace_path = NULL;
  request.repeat = 3;
  const uint32_t repeated = fail_each_call(&request);
  print_message("calls: %u, %u guarded, %u traced, %u repeated\n", plain, guarded, traced, repeated);
  print_message("calls: %u captured, %u in branches, %u of these step by step\n", captured, branched, branched_steps);
  assert_true(plain > 100 && guarded > plain && traced > plain && repeated > plain);
  assert_true(captured > 60 && branched > captured && branched_steps > plain);
}

static void a_failure_of_the_device_names_its_step_even_after_the_256th(void **state) {
  (void)state;
  struct request request = {.graph = graph_of_sums(300),
                            .profile = 1,
                            .sets = (const char *const[]){"raw.events=40", "runtime.branches=1", NULL}};
  setenv("SLUICE_MOCK_FAIL", "wait:1", 1);
  struct outcome r = run(&request);
  unsetenv("SLUICE_MOCK_FAIL");
  assert_int_equal(r.status, SL_EDEVICE);
  if (!strstr(r.messages, "node sum299: a kernel failed in toy.sum: wait failed as it was asked to"))
    fail_msg("%s", r.messages);
  free((char *)request.graph);
  free(r.messages);
  free(r.table);
}

static void expect_failure(const struct request *request, const char *message) {
  setenv("SLUICE_MOCK_FAIL", "wait:1", 1);
  struct outcome r = run(request);
  unsetenv("SLUICE_MOCK_FAIL");
  assert_int_equal(r.status, SL_EDEVICE);
  if (!strstr(r.messages, message)) fail_msg("%s", r.messages);
  free(r.messages);
  free(r.table);
}

/* Step by step, the message names the node of each branch; for a captured graph it gives a hint how to find the node.
 */
static void a_failure_of_the_device_names_the_nodes_that_may_have_failed(void **state) {
  (void)state;
  struct request request = {
      .graph = HEAD
      "  a: { use: toy.sum, in: { numbers: raw } }\n  b: { use: toy.scale, in: { numbers: raw } }\n"
      "  c: { use: toy.join, in: { parts: [raw] } }\noutputs: [a, b, c]\n",
      .sets = (const char *const[]){"raw.events=40", "runtime.branches=2", NULL}};
  expect_failure(&request,
                 "error: a kernel failed: wait failed as it was asked to\n"
                 "  hint: --profile runs step by step and names the node");
  request.profile = 1;
  expect_failure(&request, "node c: a kernel failed in toy.join, or concurrently in b: wait failed as it was asked to");
}

int main(void) {
  if (getenv("SLUICE_TEST_DEVICE")) device = getenv("SLUICE_TEST_DEVICE");
  if (toy_device_is_absent(device)) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_hundred_steps_and_nine_hundred_fields_run_and_are_timed),
      cmocka_unit_test(sinks_see_the_events_of_their_lists),
      cmocka_unit_test(any_number_of_lists_can_be_joined_or_intersected),
  };
  const struct CMUnitTest faults[] = {
      cmocka_unit_test(each_failed_call_of_the_device_is_reported),
      cmocka_unit_test(a_failure_of_the_device_names_its_step_even_after_the_256th),
      cmocka_unit_test(a_failure_of_the_device_names_the_nodes_that_may_have_failed),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (strcmp(device, "mock") == 0) failed += cmocka_run_group_tests(faults, NULL, NULL);
  return failed;
}
