/* clears_test.c: operations of a captured slice other than kernels, as logged by the mock device. Memory is cleared in
 * as few launches as possible, never before its last reader; a capture writes no progress notes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above */
#include "scratch.h"
#include "session.h"

#include <sluice/sluice.h>

#include <cmocka.h>

#define KERNEL "kernel\n"

struct outcome {
  char log[8192]; /* log of the capture for slice index 0 */
  uint64_t digests[8];
};

static struct outcome run(const char *graph, const char *device) {
  struct outcome r = {.log = ""};
  char path[SCRATCH_PATH_MAX];
  scratch_file(path);
  setenv("SLUICE_MOCK_LOG", path, 1);
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = toy_options(graph, device);
  o.sets = (const char *const[]){"raw.events=60", "runtime.branches=1", NULL}; /* one branch: outputs share the most
                                                                                * memory */
  o.slice_events = 60;                                                         /* one slice, hence one capture */
  o.digest = 1;
  struct sl_session *session = NULL;
  int status = sl_session_open(&o, d, &session);
  if (status == SL_OK) status = sl_session_run(session);
  char *messages = toy_messages(d);
  if (status < 0) fail_msg("%s", messages);
  const struct sl_summary *summary = sl_session_summary(session);
  for (uint32_t i = 0; i < summary->output_count; i++) r.digests[i] = summary->outputs[i].digest;
  sl_session_close(session);
  sl_diagnostics_free(d);
  free(messages);
  unsetenv("SLUICE_MOCK_LOG");
  FILE *file = fopen(path, "r"); /* no file if nothing was captured */
  if (!file) return r;
  assert_true(fread(r.log, 1, sizeof r.log - 1, file) > 0);
  fclose(file);
  return r;
}

static struct outcome run_as_on_the_host(const char *graph) {
  const struct outcome r = run(graph, "mock"), host = run(graph, "cpu");
  assert_string_equal(host.log, "");
  assert_memory_equal(r.digests, host.digests, sizeof r.digests);
  return r;
}

/* Ten ranges: the counters, and three fields each of `first`, `second` and `totals`. */
static void unused_memory_is_cleared_with_the_counters(void **state) {
  (void)state;
  const struct outcome r = run_as_on_the_host(
      "sluice: 1\nnodes:\n  raw: { use: toy.source }\n  even: { use: toy.select }\n"
      "  first: { use: toy.sum, events: even }\n  second: { use: toy.sum, events: even }\n"
      "  totals: { use: toy.totals, events: even }\n  all: { use: toy.sum, events: [] }\n"
      "outputs: [first, second, totals, all]\n");
  assert_string_equal(r.log, "clear 10\n" KERNEL KERNEL KERNEL KERNEL KERNEL "pack\n");
}

/* The memory of `scaled` is free after `expanded`; `sums` reuses it and is cleared only then. The same launch clears
 * `more`. */
static void memory_is_not_cleared_before_its_last_reader(void **state) {
  (void)state;
  const struct outcome r = run_as_on_the_host(
      "sluice: 1\nnodes:\n  raw: { use: toy.source }\n  even: { use: toy.select }\n  scaled: { use: toy.scale }\n"
      "  expanded: { use: toy.expand, in: { scaled: scaled } }\n"
      "  sums: { use: toy.sum, events: even }\n  more: { use: toy.sum, events: even }\n"
      "outputs: [expanded, sums, more]\n");
  assert_string_equal(r.log, "clear 1\n" KERNEL KERNEL KERNEL KERNEL "clear 6\n" KERNEL KERNEL "pack\n");
}

#define MIXED(joined_on)                                                                               \
  "sluice: 1\nnodes:\n  raw: { use: toy.source }\n  even: { use: toy.select, in: { numbers: raw } }\n" \
  "  joined: { use: toy.join, in: { parts: [raw] }, events: " joined_on                                \
  " }\n"                                                                                               \
  "  added: { use: toy.sum, in: { numbers: raw } }\n"                                                  \
  "  mixed: { use: toy.mix, in: { numbers: joined, before: added }, events: even }\n"                  \
  "outputs: [mixed.mixed, mixed.sums]\n"

/* Besides the counters and three fields of `sums`, one range is cleared: the values of `mixed` if `joined` has items of
 * other events too, or the offsets of `joined` if it runs on the same list. */
static void items_on_the_same_list_are_not_cleared(void **state) {
  (void)state;
  const struct outcome all = run_as_on_the_host(MIXED("[]")), same = run_as_on_the_host(MIXED("even"));
  assert_string_equal(all.log, "clear 5\n" KERNEL KERNEL KERNEL KERNEL KERNEL "pack\n");
  assert_string_equal(same.log, "clear 5\n" KERNEL KERNEL KERNEL KERNEL KERNEL "pack\n");
}

static void a_graph_without_kernels_clears_the_counters(void **state) {
  (void)state;
  const struct outcome r =
      run_as_on_the_host("sluice: 1\nnodes:\n  raw: { use: toy.source }\n  order: { use: toy.order }\n");
  assert_string_equal(r.log, "clear 1\npack\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unused_memory_is_cleared_with_the_counters),
      cmocka_unit_test(memory_is_not_cleared_before_its_last_reader),
      cmocka_unit_test(items_on_the_same_list_are_not_cleared),
      cmocka_unit_test(a_graph_without_kernels_clears_the_counters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
