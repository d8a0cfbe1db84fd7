/* list_ports_test.c: list ports in the executor, on every device: the producers' data in kernels, constants and sinks,
 * also for a slice that runs in parts and for a thousand producers. Errors in graphs are in the text cases of
 * graph_test. */
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

enum { EVENTS = 200, LISTS_MAX = 1000 };
static const char *device = "cpu";

/* Expected content of the first output, for one event. */
typedef uint32_t check_event(const struct sl_output_view *v, uint32_t e, uint64_t number);
struct checked {
  check_event *check;
  uint64_t events, errors, wrong;
};

static int on_batch(void *context, const struct sl_batch *batch) {
  struct checked *c = context;
  for (uint32_t e = 0; e < batch->event_count; e++, c->events++) {
    if (batch->events[e].error)
      c->errors++;
    else if (c->check)
      c->wrong += c->check(&batch->outputs[0], e, batch->events[e].number);
  }
  return 0;
}

struct setting {
  uint32_t slots, slice_events, guard;
};

/* Runs a graph; returns the summary as JSON, or the messages of a failure. */
static char *try_graph(const char *graph, const char *const *sets, struct setting setting, struct checked *checked,
                       int expected_status) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = toy_options(graph, device);
  o.sets = sets;
  o.slice_events = setting.slice_events;
  o.slots = setting.slots;
  o.guard = setting.guard;
  o.on_batch = on_batch;
  o.context = checked;
  struct sl_session *session = NULL;
  int status = sl_session_open(&o, d, &session);
  if (status == SL_OK) status = sl_session_run(session);
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  if (status == SL_OK)
    sl_session_write_json(session, file);
  else
    sl_diagnostics_print(d, file);
  fclose(file);
  sl_session_close(session);
  sl_diagnostics_free(d);
  if (status != expected_status) fail_msg("status %d: %s", status, text);
  return text;
}

static char *run_graph(const char *graph, const char *const *sets, struct setting setting, struct checked *checked) {
  return try_graph(graph, sets, setting, checked, SL_OK);
}

/* Runs with one slice; with many slices, several at a time; with separate allocations. Each with good events only, and
 * with bad events, which make slices run in parts. */
static void expect_all(const char *graph, check_event *check) {
  static const struct setting settings[] = {{1, 256, 0}, {2, 16, 0}, {3, 1, 0}, {1, 64, 1}};
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
    for (uint32_t bad = 0; bad <= 7; bad += 7) {
      struct checked checked = {check, 0, 0, 0};
      char every[32];
      snprintf(every, sizeof every, "raw.bad_every=%u", bad);
      free(run_graph(graph, (const char *const[]){"raw.events=200", every, NULL}, settings[i], &checked));
      assert_int_equal(checked.events, EVENTS);
      assert_int_equal(checked.errors, bad ? EVENTS / bad : 0);
      assert_int_equal(checked.wrong, 0);
    }
}

/* --------------------------------------------------------------------------------------------------- items */

#define RAW     \
  "sluice: 1\n" \
  "nodes:\n"    \
  "  raw: { use: toy.source }\n"

static const uint32_t *values_of(const struct sl_output_view *v, uint32_t e, uint32_t *count) {
  const uint32_t *offsets = v->fields[0], *values = v->fields[1];
  *count = offsets[e + 1] - offsets[e];
  return values + offsets[e];
}

/* Returns 1 if the values are the event's numbers, `times` times. */
static uint32_t is_repeated(const struct sl_output_view *v, uint32_t e, uint64_t number, uint32_t times) {
  uint32_t count, wrong = 0;
  const uint32_t *values = values_of(v, e, &count);
  if (count != times * toy_count(number)) return 1;
  for (uint32_t i = 0; i < count; i++) wrong += values[i] != toy_value(number, i % toy_count(number));
  return wrong;
}

static uint32_t is_empty(const struct sl_output_view *v, uint32_t e, uint64_t number) {
  return is_repeated(v, e, number, 0);
}
static uint32_t is_once(const struct sl_output_view *v, uint32_t e, uint64_t number) {
  return is_repeated(v, e, number, 1);
}
static uint32_t is_four_times(const struct sl_output_view *v, uint32_t e, uint64_t number) {
  return is_repeated(v, e, number, 4);
}

static void a_list_port_may_have_no_producer(void **state) {
  (void)state;
  expect_all(RAW "  joined: { use: toy.join, in: { parts: [] } }\noutputs: [joined]\n", is_empty);
}

static void a_single_producer_may_be_the_source(void **state) {
  (void)state;
  expect_all(RAW "  joined: { use: toy.join, in: { parts: raw } }\noutputs: [joined]\n", is_once);
}

static void producers_keep_their_order(void **state) {
  (void)state;
  expect_all(RAW
             "  once: { use: toy.join, in: { parts: [raw] } }\n"
             "  twice: { use: toy.join, in: { parts: [once, raw] } }\n"
             "  joined: { use: toy.join, in: { parts: { a: raw, b: twice, c: once } } }\n"
             "outputs: [joined]\n",
             is_four_times);
}

static void all_takes_the_ports_that_do_not_depend_on_the_node(void **state) {
  (void)state;
  expect_all(RAW
             "  once: { use: toy.join, in: { parts: [raw] } }\n"
             "  joined: { use: toy.join, in: { parts: all } }\n"
             "  twice: { use: toy.join, in: { parts: [raw, once] } }\n"
             "  later: { use: toy.join, in: { parts: [joined] } }\n"
             "outputs: [later]\n",
             is_four_times);
}

/* One producer has only some events: the others have no items of it. */
static uint32_t is_again_on_even_events(const struct sl_output_view *v, uint32_t e, uint64_t number) {
  return is_repeated(v, e, number, toy_count(number) % 2 == 0 ? 2 : 1);
}

static void an_event_off_a_producers_list_has_no_items_of_it(void **state) {
  (void)state;
  expect_all(RAW
             "  even: { use: toy.select, set: { modulus: 2 }, in: { numbers: raw } }\n"
             "  some: { use: toy.join, in: { parts: [raw] }, events: even }\n"
             "  joined: { use: toy.join, in: { parts: [raw, some] } }\n"
             "outputs: [joined]\n",
             is_again_on_even_events);
}

static void a_check_gets_the_names_of_producers(void **state) {
  (void)state;
  char *said = try_graph(RAW
                         "  joined: { use: toy.join, in: { parts: { present: raw, missing: other } } }\n"
                         "  other: { use: toy.join, in: { parts: raw } }\n"
                         "outputs: [joined]\n",
                         NULL, (struct setting){1, 16, 0}, NULL, SL_EGRAPH);
  if (!strstr(said, "node joined: part 1 of 2 is missing")) fail_msg("%s", said);
  free(said);
}

/* ----------------------------------------------------------------------------- event lists and constants */

static uint32_t list_count; /* list k contains the events with a number of values divisible by k % 9 + 1 */

static uint32_t is_voted(const struct sl_output_view *v, uint32_t e, uint64_t number) {
  uint32_t count = 0, sum = 10 * 1 + 20 * 2 + 50 * 3; /* sum over the tables */
  for (uint32_t k = 0; k < list_count; k++) {
    if (toy_count(number) % (k % 9 + 1) != 0) continue;
    count++;
    sum += k + 1;
  }
  return ((const uint32_t *)v->fields[0])[e] != count || ((const uint32_t *)v->fields[1])[e] != sum ||
         ((const float *)v->fields[2])[e] != (float)toy_count(number);
}

static void write_lists(char *graph, size_t size, uint32_t lists) {
  FILE *file = fmemopen(graph, size, "w");
  assert_non_null(file);
  fprintf(file, RAW
          "  ten: { use: toy.table, set: { value: 10 } }\n"
          "  twenty: { use: toy.table, set: { value: 20, length: 2 } }\n"
          "  sum: { use: toy.append, in: { tables: { first: ten, second: twenty } } }\n"
          "  votes: { use: toy.vote, in: { lists: all, tables: [ten, twenty, sum] } }\n");
  for (uint32_t k = 0; k < lists; k++)
    fprintf(file, "  list_%u: { use: toy.select, set: { modulus: %u } }\n", k, k % 9 + 1);
  fprintf(file, "outputs: [votes]\n");
  fclose(file);
  list_count = lists;
}

static void lists_and_constants_can_be_combined(void **state) {
  (void)state;
  static const uint32_t counts[] = {0, 1, 3};
  char graph[4096];
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    write_lists(graph, sizeof graph, counts[i]);
    expect_all(graph, is_voted);
  }
}

static void a_thousand_nodes_feed_one(void **state) {
  (void)state;
  enum { SIZE = 100 * LISTS_MAX };
  char *graph = malloc(SIZE);
  assert_non_null(graph);
  write_lists(graph, SIZE, LISTS_MAX);
  for (uint32_t bad = 0; bad <= 7; bad += 7) {
    struct checked checked = {is_voted, 0, 0, 0};
    char every[32];
    snprintf(every, sizeof every, "raw.bad_every=%u", bad);
    free(run_graph(graph, (const char *const[]){"raw.events=40", every, NULL}, (struct setting){2, 16, 0}, &checked));
    assert_int_equal(checked.events, 40);
    assert_int_equal(checked.wrong, 0);
  }
  free(graph);
}

/* --------------------------------------------------------------------------------------------------- sinks */

static void expect_figure(const char *json, const char *key, uint64_t value) {
  char expected[64];
  snprintf(expected, sizeof expected, "\"%s\": %llu", key, (unsigned long long)value);
  if (!strstr(json, expected)) fail_msg("'%s' is not in:\n%s", expected, json);
}

static void a_sink_gets_its_producers_by_name(void **state) {
  (void)state;
  static const char graph[] = RAW
      "  once: { use: toy.join, in: { parts: [raw] } }\n"
      "  twice: { use: toy.join, in: { parts: [raw, once] } }\n"
      "  ten: { use: toy.table, set: { value: 10 } }\n"
      "  sum: { use: toy.append, in: { tables: [ten] } }\n"
      "  tally: { use: toy.tally, in: { parts: { source: raw, other: twice }, tables: [ten, sum] } }\n";
  uint64_t sum = 0;
  for (uint64_t n = 0; n < EVENTS; n++)
    for (uint32_t i = 0; i < toy_count(n); i++) sum += toy_value(n, i);
  for (uint32_t slice_events = 1; slice_events <= 256; slice_events *= 16) {
    struct checked checked = {NULL, 0, 0, 0};
    char *json =
        run_graph(graph, (const char *const[]){"raw.events=200", NULL}, (struct setting){2, slice_events, 0}, &checked);
    expect_figure(json, "source", sum);
    expect_figure(json, "other", 2 * sum);
    expect_figure(json, "tables", 20);
    free(json);
  }
}

int main(void) {
  if (getenv("SLUICE_TEST_DEVICE")) device = getenv("SLUICE_TEST_DEVICE");
  if (toy_device_is_absent(device)) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_list_port_may_have_no_producer),
      cmocka_unit_test(a_single_producer_may_be_the_source),
      cmocka_unit_test(producers_keep_their_order),
      cmocka_unit_test(all_takes_the_ports_that_do_not_depend_on_the_node),
      cmocka_unit_test(an_event_off_a_producers_list_has_no_items_of_it),
      cmocka_unit_test(a_check_gets_the_names_of_producers),
      cmocka_unit_test(lists_and_constants_can_be_combined),
      cmocka_unit_test(a_thousand_nodes_feed_one),
      cmocka_unit_test(a_sink_gets_its_producers_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
