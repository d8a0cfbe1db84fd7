/* replan_test.c: memory plans change during a run, on every device: budgets that are too small grow, budgets that are
 * too large shrink, within the limit of the memory; digests and errors never change. Plans are made in another thread,
 * so that only runs with repeats, which wait for them after the first pass, have a certain number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above */
#include "numbers.h"
#include "scratch.h"
#include "session.h"

#include <sluice/sluice.h>

#include <cmocka.h>

/* A slice needs about 800 copies, and an event at most 40, else it is an error. */
#define GRAPH                                                              \
  "sluice: 1\n"                                                            \
  "nodes:\n"                                                               \
  "  raw: { use: toy.source, set: { events: 4000 } }\n"                    \
  "  scaled: { use: toy.scale }\n"                                         \
  "  expanded: { use: toy.expand, in: { scaled: scaled }, set: { %s } }\n" \
  "outputs: [expanded]\n"

static const char *device = "cpu";
enum { SLICE = 100, EVENTS = 4000 };

/* Settings of a run, and its results. */
struct run {
  const char *set;      /* properties in the graph */
  const char *override; /* --set, or NULL */
  const char *with;     /* a file, or NULL */
  const char *save;     /* where the learned budgets are written, or NULL */
  uint32_t slots, repeat, replan;
  uint64_t memory_bytes;

  uint64_t digest, retries, overflows, error_events, capacity, needed_max, arena_bytes, wanted_bytes;
  uint32_t change_count, first_reason, last_after;
  uint64_t first_before_bytes;
  char messages[1024];
};

static void save_budgets(const struct sl_session *session, const char *path) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(sl_session_write_budgets(session, file), SL_OK);
  fclose(file);
}

static void run(struct run *r) {
  char graph[1024];
  snprintf(graph, sizeof graph, GRAPH, r->set);
  struct sl_options o = toy_options(graph, device);
  const char *const sets[] = {r->override, NULL}, *const with[] = {r->with, NULL};
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_session *session = NULL;
  o.slots = r->slots ? r->slots : 1;
  o.slice_events = SLICE;
  o.repeat = r->repeat ? r->repeat : 2;
  o.digest = 1;
  o.sets = sets;
  o.with_paths = with;
  o.replan = r->replan;
  o.memory_bytes = r->memory_bytes;
  int status = sl_session_open(&o, d, &session);
  if (status == SL_OK) status = sl_session_run(session);
  char *messages = toy_messages(d);
  snprintf(r->messages, sizeof r->messages, "%s", messages);
  free(messages);
  if (status < 0) fail_msg("%s", r->messages);
  if (r->save) save_budgets(session, r->save);
  const struct sl_summary *sum = sl_session_summary(session);
  assert_int_equal(sum->events, EVENTS);
  r->digest = sum->outputs[0].digest;
  r->retries = sum->retries;
  r->overflows = sum->budgets[0].overflows;
  r->capacity = sum->budgets[0].capacity;
  r->needed_max = sum->budgets[0].needed_max;
  r->error_events = sum->error_events;
  r->arena_bytes = sum->arena_bytes;
  r->wanted_bytes = sum->arena_wanted_bytes;
  r->change_count = sum->plan_change_count;
  if (r->change_count > 0) {
    const struct sl_plan_change *last = &sum->plan_changes[r->change_count - 1];
    r->first_reason = sum->plan_changes[0].reason;
    r->first_before_bytes = sum->plan_changes[0].arena_bytes_before;
    assert_int_equal(last->budget_count, 1);
    assert_string_equal(last->budgets[0].node, "expanded");
    assert_string_equal(last->budgets[0].property, "per_event");
    assert_int_equal(last->arena_bytes, sum->arena_bytes);
    r->last_after = last->budgets[0].after;
  }
  sl_session_close(session);
  sl_diagnostics_free(d);
}

/* A run with room for everything. */
static struct run model(void) {
  struct run r = {.set = "per_event: 40", .replan = SL_REPLAN_OFF};
  run(&r);
  assert_int_equal(r.overflows, 0);
  assert_int_equal(r.change_count, 0);
  return r;
}

static void assert_same_results(const struct run *r, const struct run *expected) {
  assert_true(r->digest == expected->digest);
  assert_int_equal(r->error_events, expected->error_events);
  assert_int_equal(r->needed_max, expected->needed_max);
}

static void a_budget_that_is_too_small_grows(void **state) {
  (void)state;
  const struct run expected = model();
  const char *const sets[] = {"per_event: 1", "per_event: 3", "per_event: 6"};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
    for (uint32_t slots = 1; slots <= 3; slots++) {
      struct run two = {.set = sets[i], .slots = slots, .repeat = 2},
                 many = {.set = sets[i], .slots = slots, .repeat = 9};
      run(&two);
      run(&many);
      assert_same_results(&two, &expected);
      assert_same_results(&many, &expected);
      assert_in_range(two.change_count, 1, 4);
      assert_int_equal(two.first_reason, SL_PLAN_GROWN);
      assert_true(two.capacity >= two.needed_max);
      assert_true(two.arena_bytes > two.first_before_bytes);
    }
}

static void the_new_plan_has_no_overflows(void **state) {
  (void)state;
  struct run two = {.set = "per_event: 6", .repeat = 2}, many = {.set = "per_event: 6", .repeat = 9};
  run(&two);
  run(&many);
  assert_true(two.overflows > 0);
  assert_in_range(many.overflows, 1, SLICE); /* only in the first pass */
  struct run off = {.set = "per_event: 6", .repeat = 9, .replan = SL_REPLAN_OFF};
  run(&off);
  assert_int_equal(off.change_count, 0);
  assert_true(off.capacity < off.needed_max);
  assert_same_results(&many, &off);
}

static void a_budget_that_is_too_large_shrinks(void **state) {
  (void)state;
  const struct run expected = model();
  for (uint32_t slots = 1; slots <= 3; slots++) {
    struct run r = {.set = "per_event: 40", .slots = slots};
    run(&r);
    assert_same_results(&r, &expected);
    assert_int_equal(r.change_count, 1);
    assert_int_equal(r.first_reason, SL_PLAN_SHRUNK);
    assert_true(r.arena_bytes < r.first_before_bytes / 5 * 4);
    assert_true(r.capacity >= r.needed_max);
    assert_int_equal(r.overflows, 0);
    struct run grow = {.set = "per_event: 40", .slots = slots, .replan = SL_REPLAN_GROW};
    run(&grow);
    assert_int_equal(grow.change_count, 0);
    assert_same_results(&grow, &expected);
  }
}

/* With four times as many copies, some events exceed the limit of 40 in each plan. */
static void events_beyond_the_limit_are_the_same(void **state) {
  (void)state;
  struct run expected = {.set = "per_event: 40, times: 4", .replan = SL_REPLAN_OFF};
  run(&expected);
  assert_in_range(expected.error_events, 1, EVENTS - 1);
  const char *const sets[] = {"per_event: 1, times: 4", "per_event: 10, times: 4"};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    struct run r = {.set = sets[i], .slots = 2, .repeat = 3};
    run(&r);
    assert_same_results(&r, &expected);
    assert_in_range(r.change_count, 1, 4);
  }
}

/* The budget of the graph is beyond the limit of an event, which therefore follows from it: it must not shrink. */
static void a_budget_that_is_the_limit_of_an_event_stays(void **state) {
  (void)state;
  struct run off = {.set = "per_event: 41, times: 1", .replan = SL_REPLAN_OFF}, on = {.set = "per_event: 41, times: 1"};
  run(&off);
  run(&on);
  assert_same_results(&on, &off);
  assert_int_equal(on.change_count, 0);
}

static void a_named_budget_is_a_minimum(void **state) {
  (void)state;
  struct run large = {.set = "per_event: 3", .override = "expanded.per_event=40"};
  run(&large);
  assert_int_equal(large.change_count, 0);
  struct run small = {.set = "per_event: 40", .override = "expanded.per_event=3"};
  run(&small);
  assert_true(small.change_count > 0);
  assert_int_equal(small.first_reason, SL_PLAN_GROWN);
}

static void a_run_with_saved_budgets_makes_no_new_plan(void **state) {
  (void)state;
  const struct run expected = model();
  char path[SCRATCH_PATH_MAX];
  scratch_file(path);
  const char *const sets[] = {"per_event: 3", "per_event: 40"};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
    for (uint32_t repeat = 1; repeat <= 2; repeat++) {
      struct run first = {.set = sets[i], .repeat = repeat, .save = path};
      run(&first);
      struct run second = {.set = sets[i], .with = path, .slots = 2};
      run(&second);
      assert_int_equal(second.change_count, 0);
      assert_int_equal(second.retries, expected.retries);
      assert_same_results(&second, &expected);
    }
}

/* The arena may be half as much larger as it should be. */
static void the_memory_limits_growth(void **state) {
  (void)state;
  const struct run expected = model();
  struct run off = {.set = "per_event: 3", .replan = SL_REPLAN_OFF}, free_run = {.set = "per_event: 3"};
  run(&off);
  run(&free_run);
  for (uint32_t slots = 1; slots <= 2; slots++) {
    const uint64_t limit = (off.arena_bytes + free_run.arena_bytes) / 2;
    struct run r = {.set = "per_event: 3", .slots = slots, .memory_bytes = slots * limit};
    run(&r);
    assert_same_results(&r, &expected);
    assert_true(r.wanted_bytes > limit);
    assert_true(r.arena_bytes <= limit);
    assert_true(r.arena_bytes > off.arena_bytes);
    assert_true(r.capacity < r.needed_max);
  }
}

static void a_limit_that_is_too_small_is_refused(void **state) {
  (void)state;
  char graph[1024];
  snprintf(graph, sizeof graph, GRAPH, "per_event: 3");
  struct sl_options o = toy_options(graph, device);
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_session *session = NULL;
  o.slice_events = SLICE;
  o.memory_bytes = 100;
  assert_int_equal(sl_session_open(&o, d, &session), SL_ENOMEM);
  assert_non_null(strstr(sl_diagnostics_at(d, 0)->message, "for arenas, and there is 100 B left (--memory)"));
  sl_diagnostics_free(d);
}

/* Without memory for the new arena a slot keeps its plan, and says so. */
static void a_slot_without_memory_keeps_its_plan(void **state) {
  (void)state;
  if (strcmp(device, "mock") != 0) skip();
  const struct run expected = model();
  setenv("SLUICE_MOCK_FAIL", "arena_resize:2+", 1); /* the first call opens the slot */
  struct run r = {.set = "per_event: 3"};
  run(&r);
  unsetenv("SLUICE_MOCK_FAIL");
  assert_same_results(&r, &expected);
  assert_true(r.change_count > 0);
  assert_non_null(strstr(r.messages, "slot 0 keeps its memory plan: there is no memory for an arena of"));
}

int main(void) {
  if (getenv("SLUICE_TEST_DEVICE")) device = getenv("SLUICE_TEST_DEVICE");
  if (toy_device_is_absent(device)) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_budget_that_is_too_small_grows),
      cmocka_unit_test(the_new_plan_has_no_overflows),
      cmocka_unit_test(a_budget_that_is_too_large_shrinks),
      cmocka_unit_test(events_beyond_the_limit_are_the_same),
      cmocka_unit_test(a_budget_that_is_the_limit_of_an_event_stays),
      cmocka_unit_test(a_named_budget_is_a_minimum),
      cmocka_unit_test(a_run_with_saved_budgets_makes_no_new_plan),
      cmocka_unit_test(the_memory_limits_growth),
      cmocka_unit_test(a_limit_that_is_too_small_is_refused),
      cmocka_unit_test(a_slot_without_memory_keeps_its_plan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
