/* lost_devices_test.c: each call of a mock device fails in turn, once or permanently. The remaining devices run all
 * other slices with equal results, in order, with one warning. If no device remains, the delivered events are the first
 * ones, and the run ends with an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above */
#include "numbers.h"
#include "session.h"

#include <sluice/sluice.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <unistd.h>

#include <cmocka.h>

#define GRAPH                                                      \
  "sluice: 1\n"                                                    \
  "nodes:\n"                                                       \
  "  raw: { use: toy.source }\n"                                   \
  "  even: { use: toy.select, set: { modulus: 2 } }\n"             \
  "  third: { use: toy.select, set: { modulus: 3 } }\n"            \
  "  scaled: { use: toy.scale }\n"                                 \
  "  expanded: { use: toy.expand, in: { scaled: scaled } }\n"      \
  "  all: { use: toy.sum }\n"                                      \
  "  few: { use: toy.sum, events: [third.passed, even.passed] }\n" \
  "  tally: { use: toy.totals, in: { numbers: raw } }\n"           \
  "  order: { use: toy.order }\n"                                  \
  "outputs: [expanded, all, few, tally]\n"

enum { EVENTS = 30, SLICE_EVENTS = 5, OUTPUTS = 4, EACH = 100, THEN_EVERY = 13, SECONDS_MAX = 60 };

/* A run on several devices; `fault` and `slow`: values of SLUICE_MOCK_FAIL and SLUICE_MOCK_SLOW. */
struct request {
  const char *devices, *fault, *slow;
  const char *const *sets;
  uint32_t slots, repeat, profile; /* with a profile kernels run step by step, otherwise captured */
  int stop_with;                   /* return value of the callback in the second half of the run */
};

struct outcome {
  int opened, status, stop_with;
  uint64_t next, wrong, warnings; /* number of the next event; events out of order; warnings about lost devices */
  size_t errors;
  uint64_t events, error_events, slices, items[OUTPUTS], digests[OUTPUTS], totals;
  uint32_t lost;
  char *messages;
};

static atomic_uint *mock_faults;

static int on_batch(void *context, const struct sl_batch *batch) {
  struct outcome *r = context;
  for (uint32_t e = 0; e < batch->event_count; e++) {
    r->wrong += batch->events[e].number != r->next;
    r->next = batch->events[e].number + 1;
  }
  return r->next > EVENTS / 2 ? r->stop_with : 0;
}

static void read_summary(const struct sl_summary *sum, struct outcome *r) {
  r->events = sum->events;
  r->error_events = sum->error_events;
  r->slices = sum->slices;
  for (uint32_t o = 0; o < OUTPUTS; o++) {
    r->items[o] = sum->outputs[o].items;
    r->digests[o] = sum->outputs[o].digest;
  }
  for (uint32_t t = 0; t < sum->total_count; t++)
    for (uint32_t i = 0; i < sum->totals[t].entries * sum->totals[t].width; i++)
      r->totals = 31 * r->totals + sum->totals[t].values[i];
  for (uint32_t i = 0; i < sum->device_count; i++) r->lost += sum->devices[i].is_lost;
}

static uint32_t devices_of(const struct request *q) {
  uint32_t devices = 1;
  for (const char *at = q->devices; (at = strchr(at, ',')); at++) devices++;
  return devices;
}

static void say_what_fails(const struct request *q) {
  char meet[16];
  snprintf(meet, sizeof meet, "%u", devices_of(q));
  setenv("SLUICE_MOCK_DEVICES", "3", 1);
  setenv("SLUICE_MOCK_MEET", meet, 1);
  setenv("SLUICE_MOCK_FAIL", q->fault ? q->fault : "", 1);
  setenv("SLUICE_MOCK_SLOW", q->slow ? q->slow : "", 1);
}

static struct outcome run(const struct request *q) {
  struct outcome r = {.stop_with = q->stop_with};
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = toy_options(GRAPH, q->devices);
  struct sl_session *session = NULL;
  o.profile = q->profile;
  o.sets = q->sets;
  o.slots = q->slots;
  o.slice_events = SLICE_EVENTS;
  o.repeat = q->repeat;
  o.digest = 1;
  o.on_batch = on_batch;
  o.context = &r;
  say_what_fails(q);
  alarm(SECONDS_MAX); /* ends a run that hangs */
  r.opened = sl_session_open(&o, d, &session);
  if (session) {
    r.status = sl_session_run(session);
    read_summary(sl_session_summary(session), &r);
  }
  sl_session_close(session);
  r.messages = toy_messages(d);
  r.errors = sl_diagnostics_errors(d);
  for (size_t i = 0; i < sl_diagnostics_count(d); i++)
    r.warnings +=
        sl_diagnostics_at(d, i)->severity == SL_WARNING && strstr(sl_diagnostics_at(d, i)->message, " is lost");
  sl_diagnostics_free(d);
  return r;
}

/* Settings with overflows, budgets too small for a slice, and refused events, so that slices run in parts. */
static const char *const *difficult_sets(void) {
  static char unwanted[64];
  static const char *sets[] = {"raw.events=30",        "raw.bad_every=9", "expanded.times=6",
                               "expanded.per_event=3", unwanted,          NULL};
  uint64_t event = 17;
  while (toy_count(event) == 0) event++;
  snprintf(unwanted, sizeof unwanted, "all.refuse_value=%u", toy_value(event, 0));
  return sets;
}
static const char *const plain_sets[] = {"raw.events=30", "runtime.branches=2", NULL};

static struct outcome faultless(struct request q) {
  q.fault = q.slow = NULL;
  struct outcome r = run(&q);
  if (r.opened < 0 || r.status != SL_OK) fail_msg("%s", r.messages);
  assert_int_equal(r.next, EVENTS);
  assert_int_equal(r.wrong, 0);
  assert_int_equal(r.warnings, 0);
  return r;
}

static void expect_same(const struct outcome *r, const struct outcome *reference, const char *fault) {
  if (r->status != SL_OK || r->wrong || r->next != reference->next || r->errors)
    fail_msg("%s: status %d, %u events, %u wrong:\n%s", fault, r->status, (unsigned)r->next, (unsigned)r->wrong,
             r->messages);
  assert_int_equal(r->events, reference->events);
  if (r->error_events != reference->error_events)
    fail_msg("%s: %u errors, not %u:\n%s\nreference:\n%s", fault, (unsigned)r->error_events,
             (unsigned)reference->error_events, r->messages, reference->messages);
  assert_int_equal(r->totals, reference->totals);
  assert_memory_equal(r->items, reference->items, sizeof r->items);
  assert_memory_equal(r->digests, reference->digests, sizeof r->digests);
}

static void expect_beginning(const struct outcome *r, const struct outcome *reference, const char *fault) {
  if (r->errors == 0) fail_msg("%s: without a word", fault);
  if (!strstr(r->messages, "failed as it was asked to") && !strstr(r->messages, "memory"))
    fail_msg("%s: the reason is not in:\n%s", fault, r->messages);
  assert_int_equal(r->wrong, 0);
  assert_int_equal(r->events, r->next);
  assert_true(r->next <= reference->next);
}

/* Fails each of the first EACH calls and every THEN_EVERYth later one, until three runs in a row make fewer calls;
 * their number varies from run to run. `format` makes the fault from the number of the call. If a device remains, a run
 * that has begun must succeed. Returns the number of lost devices of all runs. */
static uint32_t fail_each_call(struct request q, const char *format) {
  const struct outcome reference = faultless(q);
  uint32_t lost = 0;
  for (uint32_t call = 1, missed = 0; missed < 3; call += call < EACH ? 1 : THEN_EVERY) {
    char fault[64];
    snprintf(fault, sizeof fault, format, call, call);
    q.fault = fault;
    atomic_store(mock_faults, 0);
    struct outcome r = run(&q);
    const uint32_t hit = atomic_load(mock_faults);
    /* memory for slices kept for repeats that one device lacks may be found on another */
    const int is_repaired = r.status == SL_OK && r.warnings == 0;
    if (r.opened < 0 || (r.lost == devices_of(&q) && !is_repaired)) {
      expect_beginning(&r, &reference, fault);
    } else {
      expect_same(&r, &reference, fault);
      const int is_harmless = strstr(r.messages, "keeps its memory plan") != NULL;
      if (hit && !r.warnings && !is_harmless && q.repeat <= 1) fail_msg("%s: no warning", fault);
      if (r.warnings != r.lost) fail_msg("%s: %u warnings:\n%s", fault, (unsigned)r.warnings, r.messages);
    }
    lost += r.lost;
    free(r.messages);
    missed = hit ? 0 : missed + 1;
  }
  free(reference.messages);
  return lost;
}

static void another_device_runs_the_remaining_slices(void **state) {
  (void)state;
  for (uint32_t slots = 2; slots <= 4; slots += 2)
    for (uint32_t repeat = 1; repeat <= 3; repeat += 2) {
      const struct request q = {
          .devices = "mock:0,1", .sets = plain_sets, .slots = slots, .repeat = repeat, .profile = slots / 4};
      assert_in_range(fail_each_call(q, "1@%u+"), 30, 10000);
    }
}

/* First the lost device is slower, so that the other one waits for its delivery; then it is faster. */
static void slices_in_parts_continue_after_the_delivered_events(void **state) {
  (void)state;
  static const char *const slow[] = {"0@20", "1@20"};
  for (uint32_t i = 0; i < 4; i++) {
    const struct request q = {.devices = "mock:0,1",
                              .sets = difficult_sets(),
                              .slots = 2 + i / 2,
                              .repeat = 1,
                              .slow = slow[i % 2],
                              .profile = i % 2};
    assert_in_range(fail_each_call(q, i < 2 ? "1@%u+" : "1@%u"), 30, 10000);
  }
}

static void one_of_three_devices_is_enough(void **state) {
  (void)state;
  const struct request q = {.devices = "mock:2,0,1", .sets = difficult_sets(), .slots = 4, .repeat = 2};
  assert_in_range(fail_each_call(q, "0@wait:%u+ 2@%u+"), 30, 10000);
}

static void without_a_device_the_first_events_are_delivered(void **state) {
  (void)state;
  struct request q = {.devices = "mock:0,1", .sets = difficult_sets(), .slots = 3, .repeat = 1};
  assert_in_range(fail_each_call(q, "0@%u+ 1@%u+"), 30, 10000);
  q.devices = "mock";
  assert_in_range(fail_each_call(q, "%u+"), 30, 10000);
}

static void a_program_may_end_a_run_with_any_value(void **state) {
  (void)state;
  for (int value = -3; value <= 3; value++) {
    const struct request q = {
        .devices = "mock:0,1", .sets = plain_sets, .slots = 3, .repeat = 1, .stop_with = value, .fault = "1@30+"};
    struct outcome r = run(&q);
    assert_int_equal(r.status, value);
    assert_int_equal(r.wrong, 0);
    assert_in_range(r.next, value ? EVENTS / 2 + 1 : EVENTS, value ? EVENTS / 2 + SLICE_EVENTS : EVENTS);
    free(r.messages);
  }
}

int main(void) {
  void *backend = dlopen(MOCK_BACKEND, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  mock_faults = backend ? dlsym(backend, "sluice_mock_faults") : NULL;
  if (!mock_faults) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(another_device_runs_the_remaining_slices),
      cmocka_unit_test(slices_in_parts_continue_after_the_delivered_events),
      cmocka_unit_test(one_of_three_devices_is_enough),
      cmocka_unit_test(a_program_may_end_a_run_with_any_value),
      cmocka_unit_test(without_a_device_the_first_events_are_delivered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
