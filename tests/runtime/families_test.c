/* families_test.c: nodes of a family in one launch, with the toy plugin: results equal those of separate nodes for all
 * lists, slices and retries; which nodes run together; and the values of --set runtime.families. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above */
#include "session.h"

#include <sluice/sluice.h>

#include <cmocka.h>

enum { NODES = 64, OUTPUTS = 2 * NODES + 2 };

static const char *device = "cpu";

/* `first_0` to `first_63` need only the source; `second_0` to `second_63` each need the list of a first node, and every
 * other one runs on the intersection of two lists. */
static char *make_graph(void) {
  char *text;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  fprintf(f, "sluice: 1\nnodes:\n  raw: { use: toy.source }\n  scaled: { use: toy.scale }\n");
  fprintf(f, "  expanded: { use: toy.expand, in: { scaled: scaled } }\n");
  for (uint32_t n = 0; n < NODES; n++) {
    fprintf(f, "  second_%u: { use: toy.select, set: { modulus: %u }, events: [first_%u.passed", n, 2 + n % 3, n);
    fprintf(f, n % 2 ? ", first_%u.passed] }\n" : "] }\n", (n + 1) % NODES);
    fprintf(f, "  first_%u: { use: toy.select, set: { modulus: %u, tells: true } }\n", n, 1 + n % 7);
  }
  fprintf(f,
          "  all: { use: toy.sum }\n  some: { use: toy.sum, events: second_5.passed }\noutputs: [expanded, all, some");
  for (uint32_t n = 0; n < NODES; n++) fprintf(f, ", first_%u", n);
  for (uint32_t n = 0; n < NODES - 1; n++) fprintf(f, ", second_%u", n);
  fprintf(f, "]\n");
  fclose(f);
  return text;
}

struct outcome {
  int opened, status;
  uint32_t output_count, launch_nodes[4], syncs; /* of first_0, second_0, all, scaled */
  uint64_t events, retries, digests[OUTPUTS];
  char *messages;
};

static uint32_t launch_nodes_of(const struct sl_summary *sum, const char *node) {
  for (uint32_t i = 0; i < sum->node_count; i++)
    if (strcmp(sum->nodes[i].name, node) == 0) return sum->nodes[i].launch_nodes;
  fail_msg("no node %s", node);
  return 0;
}

static struct outcome run(const char *const *sets, uint32_t slots, uint32_t slice_events, uint32_t guard) {
  struct outcome r = {0};
  struct sl_diagnostics *d = sl_diagnostics_new();
  char *graph = make_graph();
  struct sl_options o = toy_options(graph, device);
  o.sets = sets;
  o.slots = slots;
  o.slice_events = slice_events;
  o.guard = guard;
  o.digest = 1;
  struct sl_session *session = NULL;
  r.opened = sl_session_open(&o, d, &session);
  if (session) {
    r.status = sl_session_run(session);
    const struct sl_summary *sum = sl_session_summary(session);
    r.output_count = sum->output_count;
    r.events = sum->events;
    r.retries = sum->retries;
    r.syncs = sum->host_syncs_per_slice;
    for (uint32_t i = 0; i < sum->output_count; i++) r.digests[i] = sum->outputs[i].digest;
    r.launch_nodes[0] = launch_nodes_of(sum, "first_0");
    r.launch_nodes[1] = launch_nodes_of(sum, "second_0");
    r.launch_nodes[2] = launch_nodes_of(sum, "all");
    r.launch_nodes[3] = launch_nodes_of(sum, "scaled");
  }
  r.messages = toy_messages(d);
  sl_session_close(session);
  sl_diagnostics_free(d);
  free(graph);
  return r;
}

static void expect_same(const char *const *sets, uint32_t slots, uint32_t slice_events, uint32_t guard,
                        const struct outcome *reference) {
  const struct outcome r = run(sets, slots, slice_events, guard);
  if (r.opened < 0 || r.status < 0) fail_msg("%s", r.messages);
  assert_int_equal(r.events, reference->events);
  assert_int_equal(r.output_count, reference->output_count);
  assert_memory_equal(r.digests, reference->digests, sizeof r.digests);
  free(r.messages);
}

static void a_family_gives_the_results_of_separate_nodes(void **state) {
  (void)state;
  const struct outcome off = run((const char *const[]){"raw.events=200", "runtime.families=off", NULL}, 1, 50, 0);
  if (off.opened < 0 || off.status < 0) fail_msg("%s", off.messages);
  assert_int_equal(off.events, 200);
  assert_int_equal(off.output_count, OUTPUTS);
  assert_int_equal(off.retries, 0);
  for (uint32_t guard = 0; guard < 2; guard++) {
    expect_same((const char *const[]){"raw.events=200", NULL}, 1, 50, guard, &off);
    expect_same((const char *const[]){"raw.events=200", NULL}, 3, 7, guard, &off);
    expect_same((const char *const[]){"raw.events=200", "runtime.families=off", NULL}, 2, 64, guard, &off);
    expect_same((const char *const[]){"raw.events=200", "runtime.families=on", NULL}, 1, 200, guard, &off);
  }
  free(off.messages);
}

/* A part of a slice reads its input from a later event. */
static void parts_of_slices_update_the_arguments_of_a_family(void **state) {
  (void)state;
  const char *const off[] = {"raw.events=200", "runtime.families=off", NULL};
  const char *const tight[] = {"raw.events=200", "expanded.per_event=1", NULL};
  const char *const corrupt[] = {"raw.events=200", "raw.bad_every=9", NULL};
  const char *const corrupt_off[] = {"raw.events=200", "raw.bad_every=9", "runtime.families=off", NULL};
  const struct outcome reference = run(off, 1, 50, 0), reference_corrupt = run(corrupt_off, 1, 50, 0);
  const struct outcome r = run(tight, 1, 50, 0);
  assert_true(r.retries > 0);
  free(r.messages);
  expect_same(tight, 1, 50, 1, &reference);
  expect_same(tight, 2, 50, 0, &reference);
  expect_same(corrupt, 2, 50, 0, &reference_corrupt);
  free(reference.messages);
  free(reference_corrupt.messages);
}

/* The first nodes run together, although they are not adjacent in the document; then the second nodes, which need
 * them. */
static void nodes_with_ready_inputs_run_together(void **state) {
  (void)state;
  const int no_families = strcmp(device, "cpu") == 0;
  const struct outcome on = run((const char *const[]){"raw.events=40", NULL}, 1, 20, 0);
  const struct outcome off = run((const char *const[]){"raw.events=40", "runtime.families=off", NULL}, 1, 20, 0);
  assert_int_equal(on.launch_nodes[0], no_families ? 1 : NODES);
  assert_int_equal(on.launch_nodes[1], no_families ? 1 : NODES - 1); /* the last list is not used */
  assert_int_equal(on.launch_nodes[2], 1);
  assert_int_equal(on.launch_nodes[3], 1);
  for (uint32_t i = 0; i < 4; i++) assert_int_equal(off.launch_nodes[i], 1);
  assert_int_equal(strstr(on.messages, "a family of 64") == NULL, no_families);
  assert_null(strstr(on.messages, "a family of 2"));
  assert_null(strstr(off.messages, "a family of"));
  free(on.messages);
  free(off.messages);
}

/* Retries wait for the device before and after their kernels, never between them. */
static void the_host_does_not_wait_between_kernels_of_a_slice(void **state) {
  (void)state;
  struct outcome r = run((const char *const[]){"raw.events=100", "expanded.per_event=1", NULL}, 2, 20, 0);
  assert_true(r.retries > 0);
  assert_int_equal(r.syncs, 0);
  free(r.messages);
  if (strcmp(device, "mock") != 0) return;
  setenv("SLUICE_MOCK_WAITS", "1", 1);
  r = run((const char *const[]){"raw.events=100", NULL}, 1, 20, 1); /* step by step */
  unsetenv("SLUICE_MOCK_WAITS");
  assert_int_equal(r.syncs, NODES / 2 - 1); /* the combined lists; the last list is not used */
  free(r.messages);
}

/* A node with its own block size does not run with the family, because a launch has one block size. */
static void nodes_with_other_block_sizes_run_in_separate_launches(void **state) {
  (void)state;
  static const char graph[] =
      "sluice: 1\nnodes:\n  raw: { use: toy.source }\n  a: { use: toy.select }\n"
      "  b: { use: toy.select, block: 128 }\n  c: { use: toy.select, set: { modulus: 3 } }\n"
      "outputs: [a, b, c]\n";
  struct sl_options o = sl_options_default();
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_session *session = NULL;
  o.graph_text = graph;
  o.graph_text_bytes = sizeof graph - 1;
  o.plugin_paths = (const char *const[]){TOY_FOLDER, NULL};
  o.device = device;
  assert_int_equal(sl_session_open(&o, d, &session), SL_OK);
  const struct sl_summary *sum = sl_session_summary(session);
  const uint32_t pair = strcmp(device, "cpu") == 0 ? 1 : 2;
  assert_int_equal(launch_nodes_of(sum, "a"), pair);
  assert_int_equal(launch_nodes_of(sum, "b"), 1);
  assert_int_equal(launch_nodes_of(sum, "c"), pair);
  sl_session_close(session);
  sl_diagnostics_free(d);
}

static void invalid_settings_are_refused(void **state) {
  (void)state;
  struct outcome r = run((const char *const[]){"runtime.families=2", NULL}, 1, 20, 0);
  assert_true(r.opened < 0);
  assert_non_null(strstr(r.messages, "--set runtime.families=2: runtime.families cannot be '2'; it is on or off"));
  free(r.messages);
  r = run((const char *const[]){"runtime.family=on", NULL}, 1, 20, 0);
  assert_true(r.opened < 0);
  assert_non_null(strstr(r.messages, "the runtime has no setting 'family'; it has branches and families"));
  free(r.messages);
}

int main(void) {
  if (getenv("SLUICE_TEST_DEVICE")) device = getenv("SLUICE_TEST_DEVICE");
  if (toy_device_is_absent(device)) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_family_gives_the_results_of_separate_nodes),
      cmocka_unit_test(parts_of_slices_update_the_arguments_of_a_family),
      cmocka_unit_test(nodes_with_ready_inputs_run_together),
      cmocka_unit_test(the_host_does_not_wait_between_kernels_of_a_slice),
      cmocka_unit_test(nodes_with_other_block_sizes_run_in_separate_launches),
      cmocka_unit_test(invalid_settings_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
