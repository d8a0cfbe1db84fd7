/* histograms_test.c: the histograms of a run while it goes on: after each delivery they have the counts of the events
 * delivered so far, for any slots, slices and budgets; and their JSON.
 */
#include "numbers.h"
#include "report/histograms_json.h"
#include "results/outputs.h"
#include "scratch.h"
#include "session.h"
#include "session/inspect.h"
#include "support.h"

#include <sluice/histogram.h>

#define GRAPH_WITH(writer)                                                                                       \
  "sluice: 1\n"                                                                                                  \
  "nodes:\n"                                                                                                     \
  "  raw: { use: toy.source }\n"                                                                                 \
  "  sums: { use: toy.sum }\n"                                                                                   \
  "  scaled: { use: toy.scale, set: { factor: 2 } }\n"                                                           \
  "  expanded: { use: toy.expand, in: { scaled: scaled } }\n"                                                    \
  "  third: { use: toy.select, set: { modulus: 3 } }\n"                                                          \
  "  some: { use: toy.expand, in: { scaled: scaled }, events: third }\n"                                         \
  "  values: { use: toy.spread, set: { of: raw.value, bin_count: 8, from: 100, to: 900, title: \"a\\\"b\" } }\n" \
  "  even: { use: toy.spread, set: { of: scaled.value, selected: raw.value, to: 2000 } }\n"                      \
  "  counted: { use: toy.spread, set: { of: raw.value, selected: sums.count } }\n" writer                        \
  "outputs: [expanded, values, even, counted, some]\n"
#define GRAPH GRAPH_WITH("")

enum { VALUES = 1, EVEN, COUNTED, OUTPUTS, ENTRIES_MAX = 13 };

struct expected {
  struct sl_session *session;
  uint64_t counts[OUTPUTS][ENTRIES_MAX], batches;
  int is_rotated; /* sinks have seen smaller counts */
};

static void add(uint64_t *counts, uint32_t bins, double from, double to, double value) {
  const double width = (to - from) / bins;
  uint32_t bin = 0;
  while (bin < bins && value >= from + width * (bin + 1)) bin++;
  counts[value < from ? SL_AXIS_BELOW : value >= to ? SL_AXIS_ABOVE(bins) : 1 + bin]++;
}

static void add_event(struct expected *e, uint64_t number) {
  for (uint32_t k = 0; k < toy_count(number); k++) {
    const uint32_t value = toy_value(number, k);
    add(e->counts[VALUES], 8, 100, 900, value);
    if (value % 2 == 0) add(e->counts[EVEN], 10, 0, 2000, 2.0 * value);
    if (toy_count(number) % 2 == 0) add(e->counts[COUNTED], 10, 0, 1000, value);
  }
}

static void assert_counts(const struct expected *e) {
  const struct sl_outputs *o = sl_session_outputs(e->session);
  for (uint32_t i = VALUES; i < OUTPUTS; i++) {
    const struct sl_histogram h = sl_outputs_histogram(o, i, 0);
    assert_memory_equal(h.counts, e->counts[i], sl_axis_entries(&h.x) * sizeof *h.counts);
  }
}

/* Called with the lock of the delivery held. */
static int on_batch(void *context, const struct sl_batch *batch) {
  struct expected *e = context;
  for (uint32_t i = 0; i < batch->event_count; i++) add_event(e, batch->events[i].number);
  e->batches++;
  assert_counts(e);
  const struct sl_outputs *o = sl_session_outputs(e->session);
  e->is_rotated |= o->identity->outputs[VALUES].histograms[0].counts[1] < e->counts[VALUES][1];
  return SL_OK;
}

static struct sl_session *run_options(struct expected *e, struct sl_options o, struct sl_diagnostics *d) {
  o.on_batch = on_batch;
  o.context = e;
  if (sl_session_open(&o, d, &e->session) < 0) fail_msg("%s", toy_messages(d));
  if (sl_session_run(e->session) < 0) fail_msg("%s", toy_messages(d));
  return e->session;
}

static struct sl_session *run(struct expected *e, const char *const *sets, uint32_t slots, uint32_t slice_events,
                              struct sl_diagnostics *d) {
  struct sl_options o = toy_options(GRAPH, "cpu");
  o.sets = sets;
  o.slots = slots;
  o.slice_events = slice_events;
  return run_options(e, o, d);
}

static void counts_are_those_of_the_delivered_events(void **state) {
  (void)state;
  const char *const wide[] = {"raw.events=400", NULL};
  const char *const tight[] = {"raw.events=400", "expanded.per_event=1", NULL}; /* slices run again in parts */
  for (uint32_t slots = 1; slots <= 3; slots++)
    for (uint32_t slice = 1; slice <= 64; slice *= 4)
      for (int is_tight = 0; is_tight < 2; is_tight++) {
        struct expected e = {0};
        struct sl_diagnostics *d = sl_diagnostics_new();
        struct sl_session *s = run(&e, is_tight ? tight : wide, slots, slice, d);
        assert_true(e.batches >= 400 / slice);
        assert_true(!is_tight || slice < 4 || sl_session_summary(s)->retries > 0);
        assert_counts(&e);
        sl_session_close(s);
        sl_diagnostics_free(d);
      }
}

static void counts_are_those_of_all_files_of_a_rotated_run(void **state) {
  (void)state;
  static const char graph[] = GRAPH_WITH("  write: { use: output.csv_sink, set: { output: expanded } }\n");
  const char *const folders[] = {TOY_FOLDER, PLUGINS_FOLDER, NULL}, *const sets[] = {"raw.events=400", NULL};
  char path[SCRATCH_PATH_MAX], pattern[SCRATCH_PATH_MAX + 8];
  scratch_file(path);
  snprintf(pattern, sizeof pattern, "%s%%04d", path);
  struct expected e = {0};
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = toy_options(graph, "cpu");
  o.plugin_paths = folders;
  o.sets = sets;
  o.slice_events = 10;
  o.rotate = "2kB";
  o.output_path = pattern;
  struct sl_session *s = run_options(&e, o, d);
  assert_true(sl_session_summary(s)->rotations > 2);
  assert_true(e.is_rotated);
  assert_counts(&e);
  sl_session_close(s);
  sl_diagnostics_free(d);
}

static void axes_have_the_values_in_the_graph(void **state) {
  (void)state;
  struct expected e = {0};
  struct sl_diagnostics *d = sl_diagnostics_new();
  const char *const sets[] = {"raw.events=5", NULL};
  struct sl_session *s = run(&e, sets, 1, 5, d);
  assert_int_equal(sl_session_outputs(s)->identity->outputs[0].histogram_count, 0);
  const struct sl_histogram h = sl_outputs_histogram(sl_session_outputs(s), VALUES, 0);
  assert_string_equal(h.name, "values");
  assert_string_equal(h.title, "a\"b");
  assert_string_equal(h.unit, "values");
  assert_int_equal(h.x.kind, SL_AXIS_NUMERIC);
  assert_int_equal(h.x.bins, 8);
  assert_string_equal(h.x.label, "raw.value");
  assert_string_equal(h.x.doc, "the number");
  assert_true(h.x.lower == 100 && h.x.upper == 900);
  assert_int_equal(h.y.kind, SL_AXIS_NONE);
  sl_session_close(s);
  sl_diagnostics_free(d);
}

static void json_has_the_form_of_the_sink(void **state) {
  (void)state;
  struct expected e = {0};
  struct sl_diagnostics *d = sl_diagnostics_new();
  const char *const sets[] = {"raw.events=3", NULL};
  struct sl_session *s = run(&e, sets, 1, 5, d);
  struct sl_json j;
  sl_json_begin(&j);
  assert_int_equal(sl_histograms_write_json(s, &j), SL_OK);
  const char *text = sl_json_text(&j), *first = strstr(text, "{\"name\": \"values\"");
  assert_non_null(strstr(text, "\"graph_digest\": \""));
  assert_non_null(first);
  const char expected[] =
      "{\"name\": \"values\", \"title\": \"a\\\"b\", \"entries\": 8, \"in_bins\": 7,\n"
      "     \"x\": {\"field\": \"raw.value\", \"unit\": \"\", \"doc\": \"the number\", \"bins\": 8, \"lower\": 100, "
      "\"upper\": 900, \"below\": 0, \"above\": 1, \"not_finite\": 0, \"mean\": ";
  assert_memory_equal(first, expected, sizeof expected - 1);
  char counts[200] = "\"counts\": [";
  for (uint32_t b = 1; b <= 8; b++)
    sprintf(counts + strlen(counts), "%s%llu", b > 1 ? ", " : "", (unsigned long long)e.counts[VALUES][b]);
  strcat(counts, "]}");
  assert_non_null(strstr(first, counts));
  assert_true(strstr(first, counts) < strstr(text, "{\"name\": \"even\""));
  sl_json_free(&j);
  sl_session_close(s);
  sl_diagnostics_free(d);
}

/* ----------------------------------------------------------------------------------------- other items */

static void assert_refused(const char *set, const char *message) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = toy_options(GRAPH, "cpu");
  const char *const sets[] = {set, NULL};
  struct sl_session *s = NULL;
  o.sets = sets;
  assert_int_equal(sl_session_open(&o, d, &s), SL_EGRAPH);
  char *messages = toy_messages(d);
  assert_int_equal(sl_diagnostics_count(d), 1);
  if (!strstr(messages, message)) fail_msg("%s is not in %s", message, messages);
  free(messages);
  sl_session_close(s);
  sl_diagnostics_free(d);
}

static void a_selection_of_other_items_is_refused(void **state) {
  (void)state;
  assert_refused("values.selected=expanded.value",
                 "--set values.selected=expanded.value: error: node values: `selected` has the items of "
                 "expanded.expanded, but `of` has those of raw.numbers");
  assert_refused("even.of=expanded.value",
                 "toy.yaml:10:63: error: node even: `selected` has the items of raw.numbers, but `of` has those of "
                 "expanded.expanded");
  assert_refused(
      "even.of=sums.sum",
      "`selected` needs values per event, or per item if `of` has values per item, but `selected` is PER_ITEM "
      "and `of` is PER_EVENT");
  /* The items differ: that the event lists differ too is no second error. */
  assert_refused(
      "values.selected=some.value",
      "--set values.selected=some.value: error: node values: `selected` has the items of some.expanded, but `of` "
      "has those of raw.numbers");
  assert_refused("counted.selected=sums.mean", "`selected` needs values of type u32, but mean of toy_sums is f32");
  assert_refused("counted.selected=raw.offset", "has no field `offset`");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_are_those_of_the_delivered_events),
      cmocka_unit_test(counts_are_those_of_all_files_of_a_rotated_run),
      cmocka_unit_test(axes_have_the_values_in_the_graph),
      cmocka_unit_test(json_has_the_form_of_the_sink),
      cmocka_unit_test(a_selection_of_other_items_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
