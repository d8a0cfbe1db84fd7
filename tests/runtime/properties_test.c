/* properties_test.c: properties set in a graph reach the kernels, on every device, with the toy plugin, in which events
 * follow from their numbers. Errors in graphs are in the text cases of graph_test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
/* cmocka.h needs the headers above */
#include "numbers.h"
#include "session.h"

#include <sluice/sluice.h>

#include <cmocka.h>

static const char *device = "cpu";

/* Expected content of an output of toy_sums for one event. */
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

/* Runs a graph with one output and returns the messages. */
static char *run_graph(const char *graph, const char *const *sets, struct checked *checked, int expected_status) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = toy_options(graph, device);
  o.sets = sets;
  o.slice_events = 16;
  o.slots = 2;
  o.on_batch = on_batch;
  o.context = checked;
  struct sl_session *session = NULL;
  int status = sl_session_open(&o, d, &session);
  if (status == SL_OK) status = sl_session_run(session);
  char *messages = toy_messages(d);
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

/* ---------------------------------------------------------------------------------------------- prepared */

#define LOOK_UP                                       \
  "sluice: 1\n"                                       \
  "nodes:\n"                                          \
  "  raw: { use: toy.source }\n"                      \
  "  steps: { use: toy.steps }\n"                     \
  "  other: { use: toy.look_up, set: { word: x } }\n" \
  "  looked_up: { use: toy.look_up, set: {%s} }\n"    \
  "outputs: [looked_up, other]\n"

static struct expected look_up(uint64_t number, const char *word, const int32_t *steps) {
  const uint32_t length = (uint32_t)strlen(word);
  struct expected e = {1000 * (uint32_t)strlen("looked_up") + length, 0,
                       (float)(uint32_t)(XXH3_64bits("looked_up", strlen("looked_up")) >> 40)};
  for (uint32_t i = 0; i < toy_count(number); i++) {
    const uint32_t letter = toy_value(number, i) % length;
    e.sum += (uint32_t)word[letter] + (uint32_t)steps[letter % 2];
  }
  return e;
}

static struct expected sluice(uint64_t number) { return look_up(number, "sluice", (const int32_t[]){1, -1}); }
static struct expected lock(uint64_t number) { return look_up(number, "lock", (const int32_t[]){-7, 20}); }

static void prepared_values_reach_the_kernel(void **state) {
  (void)state;
  char graph[512];
  snprintf(graph, sizeof graph, LOOK_UP, "");
  expect_all(graph, NULL, sluice);
  expect_all(graph, (const char *const[]){"looked_up.word=lock", "steps.values=[-7,20]", NULL}, lock);
}

static void expect_message(const char *graph, const char *broken, int status, const char *text) {
  char *messages = run_graph(graph, (const char *const[]){broken, NULL}, NULL, status);
  if (!strstr(messages, text)) fail_msg("'%s' is not in: %s", text, messages);
  free(messages);
}

static void errors_of_prepare_are_reported(void **state) {
  (void)state;
  char graph[512];
  snprintf(graph, sizeof graph, LOOK_UP, "word: \"\"");
  expect_message(graph, "raw.events=10", SL_EINVAL, "toy.yaml:6:46: error: node looked_up: word: it has no letters");
  char *messages = run_graph(graph, (const char *const[]){"raw.events=10", NULL}, NULL, SL_EINVAL);
  assert_null(strstr(messages, "could not be prepared")); /* one cause, only one error */
  free(messages);
  snprintf(graph, sizeof graph, LOOK_UP, "");
  expect_message(graph, "looked_up.broken=1", SL_EINVAL, "node looked_up: word: it has no letters");
  expect_message(graph, "looked_up.broken=2", SL_EPLUGIN, "node looked_up: did not make its table letters");
  expect_message(graph, "looked_up.broken=3", SL_EPLUGIN, "node looked_up: asked for its table letters twice");
  expect_message(graph, "looked_up.broken=4", SL_EPLUGIN,
                 "node looked_up: asked for a table letter, which it does not");
}

/* The word begins in column 46; the message is about one of its characters, which is not a letter. */
static void expect_character_location(const char *set, const char *option, const char *text) {
  char graph[1024];
  snprintf(graph, sizeof graph, LOOK_UP, set);
  expect_message(graph, option, SL_EINVAL, text);
}

static void a_message_locates_a_character_of_a_string(void **state) {
  (void)state;
  const char *none = "raw.events=10";
  expect_character_location("word: lo!ck", none, "toy.yaml:6:48: error: node looked_up: word: `!` is no letter\n");
  expect_character_location("word: \"lo!ck\"", none, "toy.yaml:6:49: error: node looked_up: word: `!` is no letter\n");
  expect_character_location("word: 'lo!ck'", none, "toy.yaml:6:49: error: ");
  expect_character_location("word: \"\u00e9\u00e9!\"", none, "toy.yaml:6:49: error: "); /* columns count characters, not
                                                                                         * bytes */
  expect_character_location("word: \"lo!ck\"", none,
                            "\"lo!ck\"} }\n" /* with the caret below it */
                            "                                                  ^\n");
}

static void a_message_locates_the_start_of_an_escaped_string(void **state) {
  (void)state;
  const char *none = "raw.events=10", *beginning = "toy.yaml:6:46: error: node looked_up: word: `!` is no letter\n";
  expect_character_location("word: \"l\\x6f!ck\"", none, beginning);
  expect_character_location("word: 'lo''!ck'", none, beginning);
  expect_character_location("word: lo\n      !ck", none, beginning);
  expect_character_location("word: \"lo\\\n      !ck\"", none, beginning);
}

static void a_message_locates_a_character_of_an_option(void **state) {
  (void)state;
  expect_character_location("", "looked_up.word=lo!ck",
                            "--set looked_up.word=lo!ck: character 3: error: node looked_up: word: `!` is no letter\n"
                            "  lo!ck\n"
                            "    ^\n");
  expect_character_location("", "looked_up.word='lo!ck'",
                            ": character 3: error: node looked_up: word: `!` is no letter\n"
                            "  lo!ck\n");
  expect_character_location("", "looked_up.word='lo''s!ck'", "ck': error: node looked_up: word: `!` is no letter\n");
}

static void a_message_locates_the_start_of_a_string_with_a_parameter(void **state) {
  (void)state;
  const char *graph =
      "sluice: 1\n"
      "parameters: { end: k!y }\n"
      "nodes:\n"
      "  raw: { use: toy.source }\n"
      "  steps: { use: toy.steps }\n"
      "  looked_up: { use: toy.look_up, set: { word: \"loc${end}\" } }\n"
      "outputs: [looked_up]\n";
  expect_message(graph, "raw.events=10", SL_EINVAL, "toy.yaml:6:47: error: node looked_up: word: `!` is no letter\n");
}

/* ------------------------------------------------------------------------------------------------- constants */

/* Also in a session that is only inspected; a second call gives the same arrays. */
static void a_program_reads_the_arrays_of_constants(void **state) {
  (void)state;
  char graph[600];
  snprintf(graph, sizeof graph, LOOK_UP, "word: lock");
  for (uint32_t call = 0; call < 4; call++) {
    struct sl_diagnostics *d = sl_diagnostics_new();
    struct sl_options o = toy_options(graph, device);
    struct sl_session *session = NULL;
    uint32_t count = 99;
    o.sets = (const char *const[]){"steps.values=[-7,20]", NULL};
    o.inspect_only = call % 2;
    assert_int_equal(sl_session_open(&o, d, &session), SL_OK);
    const struct sl_constant *constants = sl_session_constants(session, &count);
    const void *values = constants->fields[0];
    if (call >= 2) constants = sl_session_constants(session, &count);
    assert_int_equal(count, 1);
    assert_string_equal(constants->name, "steps");
    assert_string_equal(constants->collection->name, "toy_steps");
    assert_int_equal(constants->counts[0], 2);
    assert_ptr_equal(constants->fields[0], values);
    assert_memory_equal(values, ((const int32_t[]){-7, 20}), 2 * sizeof(int32_t));
    sl_session_close(session);
    sl_diagnostics_free(d);
  }
}

/* ------------------------------------------------------------------------------------ fields of any collection */

/* The budget of `expanded` is so small that slices run again in parts. */
#define PICK                                                                         \
  "sluice: 1\n"                                                                      \
  "nodes:\n"                                                                         \
  "  raw: { use: toy.source }\n"                                                     \
  "  scaled: { use: toy.scale, set: { factor: 3 } }\n"                               \
  "  expanded: { use: toy.expand, in: { scaled: scaled }, set: { per_event: 2 } }\n" \
  "  all: { use: toy.sum }\n"                                                        \
  "  third: { use: toy.select, set: { modulus: 3 } }\n"                              \
  "  some: { use: toy.scale, events: third }\n"                                      \
  "  picked: { use: toy.pick, set: { of: %s } }\n"                                   \
  "outputs: [picked, expanded]\n"

static struct expected pick(uint64_t number, uint32_t factor) {
  struct expected e = {toy_count(number), 0, 0};
  for (uint32_t i = 0; i < e.count; i++) e.sum += factor * toy_value(number, i);
  if (e.count) e.mean = (float)(factor * toy_value(number, 0));
  return e;
}

static struct expected pick_raw(uint64_t number) { return pick(number, 1); }
static struct expected pick_scaled(uint64_t number) { return pick(number, 3); }
static struct expected pick_some(uint64_t number) {
  return toy_count(number) % 3 == 0 ? pick(number, 2) : (struct expected){0, 0, 0};
}
static struct expected pick_mean(uint64_t number) {
  const uint32_t count = toy_count(number);
  const float mean = count > 0 ? (float)pick(number, 1).sum / (float)count : 0.0f;
  return (struct expected){1, (uint32_t)mean, mean};
}

static void fields_of_any_shape_are_read(void **state) {
  (void)state;
  static const struct {
    const char *field;
    struct expected (*expect)(uint64_t);
  } cases[] = {{"raw.value", pick_raw},
               {"scaled.value", pick_scaled},
               {"scaled.scaled.value", pick_scaled},
               {"some.value", pick_some},
               {"all.mean", pick_mean}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char graph[1024];
    snprintf(graph, sizeof graph, PICK, cases[i].field);
    expect_all(graph, NULL, cases[i].expect);
    expect_all(graph, (const char *const[]){"expanded.per_event=1000", NULL}, cases[i].expect);
  }
}

int main(void) {
  if (getenv("SLUICE_TEST_DEVICE")) device = getenv("SLUICE_TEST_DEVICE");
  if (toy_device_is_absent(device)) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(choices_and_arrays_reach_the_kernel),
                                     cmocka_unit_test(prepared_values_reach_the_kernel),
                                     cmocka_unit_test(errors_of_prepare_are_reported),
                                     cmocka_unit_test(a_message_locates_a_character_of_a_string),
                                     cmocka_unit_test(a_message_locates_the_start_of_an_escaped_string),
                                     cmocka_unit_test(a_message_locates_a_character_of_an_option),
                                     cmocka_unit_test(a_message_locates_the_start_of_a_string_with_a_parameter),
                                     cmocka_unit_test(a_program_reads_the_arrays_of_constants),
                                     cmocka_unit_test(fields_of_any_shape_are_read)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
