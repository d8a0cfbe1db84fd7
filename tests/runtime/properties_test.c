/* properties_test.c: what a graph sets reaches the kernels, on every device: on the toy plugin, whose events follow
 * from their numbers. What is refused is in the text cases of graph_test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the above first */
#include "numbers.h"

#include <sluice/sluice.h>

#include <cmocka.h>

static const char *device = "cpu";

/* What an output of toy_sums should hold for an event. */
struct expected {
  uint32_t count, sum;
  float mean;
};

struct checked {
  struct expected (*expect)(uint64_t number);
  uint64_t events, wrong;
};

static int on_batch(void *context, const struct sl_batch *batch) {
  struct checked *c = context;
  const struct sl_output_view *v = &batch->outputs[0];
  for (uint32_t e = 0; e < batch->event_count; e++) {
    const struct expected expected = c->expect(batch->events[e].number);
    c->wrong += ((const uint32_t *)v->fields[0])[e] != expected.count;
    c->wrong += ((const uint32_t *)v->fields[1])[e] != expected.sum;
    c->wrong += ((const float *)v->fields[2])[e] != expected.mean;
    c->events++;
  }
  return 0;
}

/* Runs a graph of one output, and returns what was said. */
static char *run_graph(const char *graph, const char *const *sets, struct checked *checked, int expected_status) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = sl_options_default();
  o.graph_path = "toy.yaml";
  o.graph_text = graph;
  o.graph_text_bytes = strlen(graph);
  o.plugin_paths = (const char *const[]){TOY_FOLDER, NULL};
  o.sets = sets;
  o.slice_events = 16;
  o.slots = 2;
  o.device = device;
  o.profile = strcmp(device, "mock") == 0; /* it cannot capture */
  o.on_batch = on_batch;
  o.context = checked;
  struct sl_session *session = NULL;
  int status = sl_session_open(&o, d, &session);
  if (status == SL_OK) status = sl_session_run(session);
  char *messages = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&messages, &size);
  sl_diagnostics_print(d, file);
  fclose(file);
  sl_session_close(session);
  sl_diagnostics_free(d);
  if (status != expected_status) fail_msg("status %d: %s", status, messages);
  return messages;
}

static void expect_all(const char *graph, const char *const *sets, struct expected (*expect)(uint64_t)) {
  struct checked checked = {expect, 0, 0};
  free(run_graph(graph, sets, &checked, SL_OK));
  assert_int_equal(checked.events, 100);
  assert_int_equal(checked.wrong, 0);
}

/* ------------------------------------------------------------------------------- enumerations and arrays */

#define WEIGH                                  \
  "sluice: 1\n"                                \
  "nodes:\n"                                   \
  "  raw: { use: toy.source }\n"               \
  "  weighed: { use: toy.weigh, set: {%s} }\n" \
  "outputs: [weighed]\n"

static struct expected weigh(uint64_t number, uint32_t largest, uint32_t shifts, const float *weights) {
  struct expected e = {shifts, 0, 0};
  for (uint32_t i = 0; i < toy_count(number); i++) {
    const uint32_t value = toy_value(number, i);
    e.sum = !largest ? e.sum + value : value > e.sum ? value : e.sum;
    e.mean += weights[i % 3] * (float)value;
  }
  return e;
}

static struct expected by_default(uint64_t number) { return weigh(number, 0, 3, (const float[]){1, 0.5f, 0.25f}); }
static struct expected as_set(uint64_t number) { return weigh(number, 1, 6, (const float[]){-2, 0, 8}); }

static void choices_and_arrays_reach_the_kernel(void **state) {
  (void)state;
  char graph[512];
  snprintf(graph, sizeof graph, WEIGH, "");
  expect_all(graph, NULL, by_default);
  expect_all(
      graph,
      (const char *const[]){"weighed.what=largest", "weighed.shifts=[-4,10]", "weighed.weights=[ -2, 0 ,8]", NULL},
      as_set);
  snprintf(graph, sizeof graph, WEIGH, "what: largest, shifts: [-4, 10], weights: [-2, 0.0, 8]");
  expect_all(graph, NULL, as_set);
  expect_all(graph, (const char *const[]){"weighed.what=total", "weighed.shifts=null", "weighed.weights=null", NULL},
             by_default);
}

int main(void) {
  if (getenv("SLUICE_TEST_DEVICE")) device = getenv("SLUICE_TEST_DEVICE");
  const struct CMUnitTest tests[] = {cmocka_unit_test(choices_and_arrays_reach_the_kernel)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
