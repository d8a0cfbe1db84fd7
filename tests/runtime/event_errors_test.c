/* event_errors_test.c: events with an error are reported when they are delivered, and counted by node and reason: equal
 * messages and counts for any number of slots and slices.
 */
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

#define GRAPH                                                 \
  "sluice: 1\n"                                               \
  "nodes:\n"                                                  \
  "  raw: { use: toy.source }\n"                              \
  "  scaled: { use: toy.scale }\n"                            \
  "  expanded: { use: toy.expand, in: { scaled: scaled } }\n" \
  "  all: { use: toy.sum }\n"                                 \
  "outputs: [expanded, all]\n"

static const char *device = "cpu";

struct outcome {
  struct sl_diagnostics *diagnostics;
  uint64_t seen, unreported; /* events with an error; of these, events without a report before their delivery */
  char *messages, *table, *json;
  uint64_t counts[3], error_events;
  uint32_t error_count;
};

static int on_batch(void *context, const struct sl_batch *batch) {
  struct outcome *r = context;
  for (uint32_t e = 0; e < batch->event_count; e++) {
    if (batch->events[e].error < SL_EVENT_OVERFLOW) continue; /* the toy source reports nothing */
    r->seen++;
    r->unreported += r->seen <= 20 && sl_diagnostics_count(r->diagnostics) < r->seen;
  }
  return 0;
}

static const struct {
  const char *node, *reason;
} reasons[] = {
    {"raw", "corrupt"}, {"expanded", "more than 40 items of expanded"}, {"all", "the event has the unwanted value"}};

static struct outcome run(const char *const *sets, uint32_t slots, uint32_t slice_events) {
  struct outcome r = {.diagnostics = sl_diagnostics_new()};
  struct sl_options o = toy_options(GRAPH, device);
  o.sets = sets;
  o.slots = slots;
  o.slice_events = slice_events;
  o.on_batch = on_batch;
  o.context = &r;
  struct sl_session *session = NULL;
  if (sl_session_open(&o, r.diagnostics, &session) < 0) fail_msg("%s", toy_messages(r.diagnostics));
  assert_int_equal(sl_session_run(session), SL_OK);
  const struct sl_summary *sum = sl_session_summary(session);
  r.error_events = sum->error_events;
  r.error_count = sum->error_count;
  for (uint32_t i = 0; i < sum->error_count; i++)
    for (uint32_t k = 0; k < 3; k++)
      if (!strcmp(sum->errors[i].node, reasons[k].node) && !strcmp(sum->errors[i].reason, reasons[k].reason))
        r.counts[k] += sum->errors[i].count;
  assert_int_equal(toy_reports(session, &r.table, &r.json), SL_OK);
  r.messages = toy_messages(r.diagnostics);
  sl_session_close(session);
  sl_diagnostics_free(r.diagnostics);
  return r;
}

static void free_outcome(struct outcome *r) {
  free(r->messages);
  free(r->table);
  free(r->json);
}

static uint32_t occurrences(const char *text, const char *word) {
  uint32_t count = 0;
  while ((text = strstr(text, word))) {
    count++;
    text += strlen(word);
  }
  return count;
}

/* Writes a value that a medium number of events have. */
static void write_unwanted(char *text, size_t size) {
  uint64_t event = 17;
  while (toy_count(event) == 0) event++;
  snprintf(text, size, "all.refuse_value=%u", toy_value(event, 0));
}

static void errors_are_counted_by_node_and_reason_for_any_slots_and_slices(void **state) {
  (void)state;
  char unwanted[64];
  write_unwanted(unwanted, sizeof unwanted);
  const char *const sets[] = {"raw.events=3000", "raw.bad_every=9", "expanded.times=6", unwanted, NULL};
  struct outcome reference = run(sets, 1, 1);
  assert_int_equal(reference.error_count, 3);
  assert_int_equal(reference.counts[0], 3000 / 9);
  assert_true(reference.counts[1] > 20 && reference.counts[2] > 0);
  assert_int_equal(reference.counts[0] + reference.counts[1] + reference.counts[2], reference.error_events);
  static const uint32_t slices[] = {3, 8, 64, 1000};
  for (uint32_t i = 0; i < 4; i++)
    for (uint32_t slots = 1; slots <= 4; slots += 3) {
      struct outcome r = run(sets, slots, slices[i]);
      assert_memory_equal(r.counts, reference.counts, sizeof r.counts);
      assert_string_equal(r.messages, reference.messages);
      assert_int_equal(r.unreported, 0);
      free_outcome(&r);
    }
  free_outcome(&reference);
}

/* A truncated event has no error; one that is also refused is reported as refused only. */
static void truncations_are_counted_and_reported_for_any_slots_and_slices(void **state) {
  (void)state;
  const char *const sets[] = {"raw.events=500", "expanded.times=6", "all.cut_above=970", NULL};
  uint64_t cut = 0;
  struct outcome reference = run(sets, 1, 1);
  for (uint64_t e = 0; e < 500; e++) {
    uint32_t large = 0, items = 0;
    for (uint32_t i = 0; i < toy_count(e); i++) {
      large += toy_value(e, i) > 970;
      items += 6 * (2 * toy_value(e, i) % 3); /* the values are scaled by 2 */
    }
    cut += large > 0 && items <= 40;
  }
  assert_true(cut > 0 && reference.counts[1] > 0);
  assert_int_equal(reference.error_events, reference.counts[1]);
  char text[160];
  snprintf(text, sizeof text, "truncated    node all: values are too large to be summed: %u event", (unsigned)cut);
  if (!strstr(reference.table, text)) fail_msg("'%s' is not in:\n%s", text, reference.table);
  assert_non_null(strstr(reference.json, "\"truncations\": ["));
  assert_non_null(strstr(reference.json, "\"reason\": \"values are too large to be summed\""));
  assert_non_null(strstr(reference.messages, "): values are too large to be summed (detail 1)"));
  for (uint32_t slice = 3; slice <= 300; slice *= 10)
    for (uint32_t slots = 1; slots <= 3; slots += 2) {
      struct outcome r = run(sets, slots, slice);
      assert_string_equal(r.messages, reference.messages);
      assert_non_null(strstr(r.table, text));
      free_outcome(&r);
    }
  free_outcome(&reference);
}

static void the_first_events_of_a_reason_are_named_and_the_others_counted(void **state) {
  (void)state;
  struct outcome r = run((const char *const[]){"raw.events=3000", "expanded.times=6", NULL}, 3, 50);
  char text[160];
  assert_true(r.counts[1] > 20);
  assert_int_equal(occurrences(r.messages, "an event may have 40"), 20 + 1);
  snprintf(text, sizeof text, "warning: node expanded: %u more like \"run 7 event ", (unsigned)r.counts[1] - 20);
  if (!strstr(r.messages, text)) fail_msg("'%s' is not in:\n%s", text, r.messages);
  free_outcome(&r);
}

static void table_and_json_report_errors(void **state) {
  (void)state;
  struct outcome r = run((const char *const[]){"raw.events=200", "raw.bad_every=150", "expanded.times=6", NULL}, 2, 8);
  char text[160];
  if (!strstr(r.table, "\nerror        node raw: corrupt: 1 event\n")) fail_msg("%s", r.table);
  snprintf(text, sizeof text, "\nerror        node expanded: more than 40 items of expanded: %u events\n",
           (unsigned)r.counts[1]);
  if (!strstr(r.table, text)) fail_msg("'%s' is not in:\n%s", text, r.table);
  assert_int_equal(occurrences(r.json, "\"errors\": ["), 1);
  snprintf(text, sizeof text,
           "\"reason\": \"more than 40 items of expanded\",\n      \"count\": %u,\n      \"first\": {\n",
           (unsigned)r.counts[1]);
  if (!strstr(r.json, text)) fail_msg("'%s' is not in:\n%s", text, r.json);
  assert_string_equal(strrchr(r.table, 'f'), "f 200 events have an error.\n"); /* its last line */
  free_outcome(&r);
}

static void a_run_without_a_good_event_has_failed(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = toy_options(GRAPH, device);
  const char *const sets[] = {"raw.events=20", "raw.bad_every=1", NULL};
  o.sets = sets;
  struct sl_session *session = NULL;
  assert_int_equal(sl_session_open(&o, d, &session), SL_OK);
  assert_int_equal(sl_session_run(session), SL_EFORMAT);
  const struct sl_summary *sum = sl_session_summary(session);
  assert_int_equal(sum->error_events, 20);
  assert_int_equal(sum->exit_status, 1);
  assert_string_equal(sum->status, "all events in error");
  char *messages = toy_messages(d);
  if (!strstr(messages, "error: all 20 events have an error")) fail_msg("%s", messages);
  free(messages);
  sl_session_close(session);
  sl_diagnostics_free(d);
}

static void a_good_run_has_none(void **state) {
  (void)state;
  struct outcome r = run((const char *const[]){"raw.events=50", NULL}, 2, 8);
  assert_int_equal(r.error_count, 0);
  assert_null(strstr(r.table, "\nerror "));
  assert_non_null(strstr(r.json, "\"errors\": []"));
  free_outcome(&r);
}

int main(void) {
  if (getenv("SLUICE_TEST_DEVICE")) device = getenv("SLUICE_TEST_DEVICE");
  if (toy_device_is_absent(device)) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_counted_by_node_and_reason_for_any_slots_and_slices),
      cmocka_unit_test(truncations_are_counted_and_reported_for_any_slots_and_slices),
      cmocka_unit_test(the_first_events_of_a_reason_are_named_and_the_others_counted),
      cmocka_unit_test(table_and_json_report_errors),
      cmocka_unit_test(a_run_without_a_good_event_has_failed),
      cmocka_unit_test(a_good_run_has_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
