/* execute_test.c: the executor on the toy plugin. For any slots, slices, budgets and guards, each event gets the
 * results computed from its number, in order. Errors are reported, and earlier results are kept. */
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

#define GRAPH                                                                 \
  "sluice: 1\n"                                                               \
  "nodes:\n"                                                                  \
  "  raw: { use: toy.source }\n"                                              \
  "  even: { use: toy.select, set: { modulus: 2 } }\n"                        \
  "  third: { use: toy.select, set: { modulus: 3 } }\n"                       \
  "  scaled: { use: toy.scale }\n"                                            \
  "  expanded: { use: toy.expand, in: { scaled: scaled } }\n"                 \
  "  all: { use: toy.sum }\n"                                                 \
  "  some: { use: toy.sum, events: even.passed }\n"                           \
  "  few: { use: toy.sum, events: [third.passed, even.passed] }\n"            \
  "  partial: { use: toy.scale, events: third.passed, set: { factor: 5 } }\n" \
  "  split: { use: toy.split, in: { numbers: raw } }\n"                       \
  "  tally: { use: toy.totals, in: { numbers: raw } }\n"                      \
  "  tally_some: { use: toy.totals, in: { numbers: raw }, events: even }\n"   \
  "  order: { use: toy.order }\n"                                             \
  "outputs: [expanded, all, some, few, even, partial, split, tally, tally_some]\n"

/* Sums of toy.totals, field by field: values, sums, balance. */
struct tally {
  uint64_t sums[4 * TOY_TOTALS_ENTRIES];
};

struct seen {
  uint64_t next, wrong, errors, error_code, stop_at;
  struct tally all, some;
  struct sl_session *session;
};

static const struct sl_output_view *view_of(const struct sl_batch *v, const char *name) {
  for (uint32_t o = 0; o < v->output_count; o++)
    if (strcmp(v->outputs[o].name, name) == 0) return &v->outputs[o];
  fail_msg("no output %s", name);
  return NULL;
}

static uint32_t at(const struct sl_output_view *v, uint32_t field, uint32_t index) {
  return ((const uint32_t *)v->fields[field])[index];
}

static uint64_t check_sum(const struct sl_output_view *v, uint32_t e, uint64_t number, int wanted) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < toy_count(number); i++) sum += toy_value(number, i);
  return at(v, 0, e) != (wanted ? toy_count(number) : 0) || at(v, 1, e) != (wanted ? sum : 0);
}

static uint64_t check_expanded(const struct sl_output_view *v, uint32_t e, uint64_t number) {
  uint32_t i = at(v, 0, e), wrong = 0;
  for (uint32_t k = 0; k < toy_count(number); k++) {
    const uint32_t value = 2 * toy_value(number, k);
    for (uint32_t c = 0; c < value % 3; c++) wrong += at(v, 1, i++) != value;
  }
  return wrong + (i != at(v, 0, e + 1));
}

static uint64_t check_partial(const struct sl_output_view *v, uint32_t e, uint64_t number, int wanted) {
  uint64_t wrong = at(v, 0, e + 1) - at(v, 0, e) != toy_count(number);
  for (uint32_t k = 0; k < toy_count(number); k++)
    wrong += at(v, 1, at(v, 0, e) + k) != (wanted ? 5 * toy_value(number, k) : 0);
  return wrong;
}

/* Fields offsets, digit_offsets, digit, value, copy_offsets, copy, copy_half. */
static uint64_t check_split(const struct sl_output_view *v, uint32_t e, uint64_t number) {
  const uint32_t first = at(v, 0, e);
  uint64_t wrong = at(v, 0, e + 1) - first != toy_count(number);
  for (uint32_t k = 0; k < toy_count(number) && !wrong; k++) {
    const uint32_t i = first + k, value = toy_value(number, k);
    const uint32_t digit = at(v, 1, i), copy = at(v, 4, i);
    wrong += at(v, 3, i) != value;
    wrong += at(v, 1, i + 1) - digit != toy_digits(value) || at(v, 4, i + 1) - copy != value % 3;
    for (uint32_t d = 0; d < toy_digits(value); d++)
      wrong += ((const uint8_t *)v->fields[2])[digit + d] != (value >> d & 1);
    for (uint32_t c = 0; c < value % 3; c++)
      wrong += at(v, 5, copy + c) != value || ((const float *)v->fields[6])[copy + c] != 0.5f * (float)value;
  }
  return wrong;
}

static void add_to_tally(struct tally *t, uint64_t number) {
  for (uint32_t k = 0; k < toy_count(number); k++) {
    const uint64_t value = toy_value(number, k), entry = value % TOY_TOTALS_ENTRIES;
    t->sums[entry]++;
    t->sums[TOY_TOTALS_ENTRIES + 2 * entry] += value;
    t->sums[TOY_TOTALS_ENTRIES + 2 * entry + 1] += value * value;
    t->sums[3 * TOY_TOTALS_ENTRIES + entry] += value < 500 ? 1 : UINT64_MAX;
  }
}

static int on_batch(void *context, const struct sl_batch *batch) {
  struct seen *seen = context;
  uint32_t on_list = 0;
  for (uint32_t e = 0; e < batch->event_count; e++) {
    const struct sl_event *event = &batch->events[e];
    const uint64_t n = event->number;
    seen->wrong += n != seen->next++;
    if (seen->stop_at && n == seen->stop_at) sl_session_stop(seen->session);
    if (event->error) {
      seen->errors++;
      seen->error_code = event->error;
      seen->wrong += at(view_of(batch, "expanded"), 0, e + 1) != 0 || at(view_of(batch, "all"), 0, e) != 0;
      continue;
    }
    const int even = toy_count(n) % 2 == 0, third = toy_count(n) % 3 == 0;
    seen->wrong += check_expanded(view_of(batch, "expanded"), e, n);
    seen->wrong += check_sum(view_of(batch, "all"), e, n, 1);
    seen->wrong += check_sum(view_of(batch, "some"), e, n, even);
    seen->wrong += check_sum(view_of(batch, "few"), e, n, even && third);
    seen->wrong += check_partial(view_of(batch, "partial"), e, n, third);
    add_to_tally(&seen->all, n);
    if (even) add_to_tally(&seen->some, n);
    seen->wrong += check_split(view_of(batch, "split"), e, n);
    if (even) seen->wrong += at(view_of(batch, "even"), 1, on_list++) != e;
  }
  if (!batch->events[0].error) seen->wrong += at(view_of(batch, "even"), 0, 0) != on_list;
  return 0;
}

/* Target of the runs. */
static const char *device = "cpu";

struct outcome {
  int opened, status;
  struct seen seen;
  struct sl_summary summary;
  uint64_t digests[9];
  char *messages;
};

/* Six fields: first those on all events, then those on a list. The values of a field are contiguous. */
static uint64_t check_totals(const struct sl_summary *sum, const struct seen *seen) {
  uint64_t wrong = sum->total_count != 6;
  for (uint32_t k = 0; k < sum->total_count && !wrong; k++) {
    const struct sl_total_summary *t = &sum->totals[k];
    const struct tally *expected = k < 3 ? &seen->all : &seen->some;
    const uint32_t first[] = {0, TOY_TOTALS_ENTRIES, 3 * TOY_TOTALS_ENTRIES}, width = k % 3 == 1 ? 2 : 1;
    wrong += t->entries != TOY_TOTALS_ENTRIES || t->width != width || t->is_signed != (k % 3 == 2);
    wrong += strcmp(t->port, k < 3 ? "tally" : "tally_some") != 0;
    wrong += memcmp(t->values, expected->sums + first[k % 3], TOY_TOTALS_ENTRIES * width * sizeof(uint64_t)) != 0;
  }
  return wrong;
}

/* Sinks get the same outputs as the summary. Checked without a sink, too. */
static uint64_t check_identity(const struct sl_run *run, const struct sl_summary *sum) {
  uint64_t wrong = run->size != sizeof *run || run->output_count != sum->output_count;
  for (uint32_t o = 0, k = 0; o < sum->output_count && !wrong; o++) {
    const struct sl_run_output *output = &run->outputs[o];
    wrong += strcmp(output->name, sum->outputs[o].port) != 0 || output->items != sum->outputs[o].items;
    if (!output->totals) continue;
    wrong += k >= sum->total_count || output->totals != sum->totals[k].values;
    k += output->collection->field_count;
  }
  return wrong;
}

static struct outcome run(const char *const *sets, uint32_t slots, uint32_t slice_events, uint32_t guard,
                          uint64_t stop_at, uint32_t repeat) {
  struct outcome r = {0};
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = toy_options(GRAPH, device);
  o.sets = sets;
  o.slots = slots;
  o.slice_events = slice_events;
  o.guard = guard;
  o.digest = 1;
  o.repeat = repeat;
  o.on_batch = on_batch;
  o.context = &r.seen;
  struct sl_session *session = NULL;
  r.opened = sl_session_open(&o, d, &session);
  if (session) {
    r.seen.session = session;
    r.seen.stop_at = stop_at;
    r.status = sl_session_run(session);
    r.summary = *sl_session_summary(session);
    r.seen.wrong += check_totals(&r.summary, &r.seen);
    r.seen.wrong += check_identity(sl_session_identity(session), &r.summary);
    for (uint32_t i = 0; i < r.summary.output_count; i++) r.digests[i] = r.summary.outputs[i].digest;
  }
  r.messages = toy_messages(d);
  sl_session_close(session);
  sl_diagnostics_free(d);
  if (r.opened < 0) fail_msg("%s", r.messages);
  return r;
}

static void expect_all(const struct outcome *r, uint64_t events) {
  if (r->status != SL_OK || r->seen.wrong) print_message("%s", r->messages);
  assert_int_equal(r->status, SL_OK);
  assert_int_equal(r->seen.next, events);
  assert_int_equal(r->seen.wrong, 0);
  assert_int_equal(r->summary.events, events);
}

static void results_do_not_depend_on_slots_slices_or_guard(void **state) {
  (void)state;
  static const uint32_t slices[] = {1, 2, 3, 7, 64, 1000};
  const struct outcome reference = run((const char *const[]){"raw.events=500", NULL}, 1, 1, 0, 0, 1);
  expect_all(&reference, 500);
  for (uint32_t slots = 1; slots <= 4; slots++)
    for (uint32_t i = 0; i < 6; i++)
      for (uint32_t guard = 0; guard < 2; guard++) {
        const struct outcome r = run((const char *const[]){"raw.events=500", NULL}, slots, slices[i], guard, 0, 1);
        expect_all(&r, 500);
        assert_memory_equal(r.digests, reference.digests, sizeof r.digests);
        free(r.messages);
      }
  free(reference.messages);
}

static void a_tight_budget_costs_retries_and_changes_nothing(void **state) {
  (void)state;
  const struct outcome reference = run((const char *const[]){"raw.events=300", NULL}, 1, 50, 0, 0, 1);
  assert_int_equal(reference.summary.retries, 0);
  const struct outcome r = run((const char *const[]){"raw.events=300", "expanded.per_event=1", NULL}, 3, 50, 1, 0, 1);
  expect_all(&r, 300);
  assert_memory_equal(r.digests, reference.digests, sizeof r.digests);
  free(r.messages);
  free(reference.messages);
}

/* Sorts the messages, because their order depends on the timing of slots. */
static int compare_lines(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
static char *sorted(char *messages) {
  char *lines[1000], *copy = malloc(strlen(messages) + 2), *end = copy;
  size_t count = 0;
  for (char *line = strtok(messages, "\n"); line; line = strtok(NULL, "\n"))
    if (strstr(line, "event ") && count < 1000) lines[count++] = line;
  qsort(lines, count, sizeof *lines, compare_lines);
  *copy = 0;
  for (size_t i = 0; i < count; i++) end += sprintf(end, "%s\n", lines[i]);
  return copy;
}

/* A limit that some events exceed refuses the same events with equal messages for any slices, slots and budgets. */
static void expect_same_refused(const char *set, const char *budget, const char *text) {
  char *reference = NULL;
  uint64_t digests[9], errors = 0;
  for (uint32_t slice = 1; slice <= 256; slice = slice < 3 ? slice + 1 : 2 * slice + 1) {
    for (uint32_t slots = 1; slots <= 3; slots += 2) {
      const char *const sets[] = {"raw.events=300", set, slots == 1 ? NULL : budget, NULL};
      struct outcome r = run(sets, slots, slice, slots == 1 && slice < 8, 0, 1);
      assert_int_equal(r.status, SL_OK);
      assert_int_equal(r.seen.next, 300);
      assert_int_equal(r.seen.error_code, SL_EVENT_OVERFLOW);
      assert_int_equal(r.summary.error_events, r.seen.errors);
      char *messages = sorted(r.messages);
      if (!reference) {
        reference = messages;
        errors = r.seen.errors;
        memcpy(digests, r.digests, sizeof digests);
        assert_in_range(errors, 1, 299);
        if (!strstr(messages, text)) fail_msg("'%s' is not in:\n%s", text, messages);
      } else {
        assert_int_equal(r.seen.errors, errors);
        assert_memory_equal(r.digests, digests, sizeof digests);
        assert_string_equal(messages, reference);
        free(messages);
      }
      free(r.messages);
    }
  }
  free(reference);
}

static void refusal_depends_on_the_event_alone(void **state) {
  (void)state;
  expect_same_refused("expanded.times=6", "expanded.per_event=1", "items of expanded, an event may have 40");
  expect_same_refused("split.times=6", "split.copies_per_event=1",
                      "subitems of parts.copy_offsets, an event may have 40");
}

static void each_group_of_subitems_has_its_own_budget(void **state) {
  (void)state;
  const struct outcome reference = run((const char *const[]){"raw.events=300", NULL}, 1, 50, 0, 0, 1);
  const char *const tight[] = {"raw.events=300", "split.copies_per_event=3", NULL};
  const struct outcome r = run(tight, 3, 50, 1, 0, 1);
  expect_all(&r, 300);
  assert_true(r.summary.retries > 0);
  assert_memory_equal(r.digests, reference.digests, sizeof r.digests);
  free(r.messages);
  free(reference.messages);
}

static void corrupt_events_are_delivered_empty_and_in_order(void **state) {
  (void)state;
  struct outcome reference = {0};
  for (uint32_t slice = 1; slice <= 64; slice *= 4) {
    struct outcome r = run((const char *const[]){"raw.events=200", "raw.bad_every=9", NULL}, 3, slice, 1, 0, 1);
    expect_all(&r, 200);
    assert_int_equal(r.seen.errors, 200 / 9);
    assert_int_equal(r.seen.error_code, SL_EVENT_CORRUPT);
    if (slice == 1) memcpy(reference.digests, r.digests, sizeof r.digests);
    assert_memory_equal(r.digests, reference.digests, sizeof r.digests);
    free(r.messages);
  }
}

static void a_refused_event_is_named_and_other_events_are_unchanged(void **state) {
  (void)state;
  char value[64];
  uint64_t refused = 17;
  while (toy_count(refused) == 0) refused++;
  snprintf(value, sizeof value, "all.refuse_value=%u", toy_value(refused, 0));
  for (uint32_t slice = 1; slice <= 50; slice += 7) {
    struct outcome r = run((const char *const[]){"raw.events=100", value, NULL}, 2, slice, 0, 0, 1);
    expect_all(&r, 100);
    assert_true(r.seen.errors >= 1 && r.seen.errors < 10);
    assert_int_equal(r.seen.error_code, SL_EVENT_REFUSED);
    char text[160];
    snprintf(text, sizeof text,
             "node all: run 7 event %u (file 0, byte %u): the event has the unwanted value (detail %u)",
             (unsigned)refused, (unsigned)(100 * refused), toy_value(refused, 0));
    if (!strstr(r.messages, text)) fail_msg("'%s' is not in:\n%s", text, r.messages);
    free(r.messages);
  }
}

static void events_before_a_failure_of_the_source_are_delivered(void **state) {
  (void)state;
  for (uint32_t slots = 1; slots <= 3; slots++) {
    struct outcome r = run((const char *const[]){"raw.events=100", "raw.fail_after=61", NULL}, slots, 8, 0, 0, 1);
    assert_int_equal(r.status, SL_EIO);
    assert_int_equal(r.seen.next, 61);
    assert_int_equal(r.seen.wrong, 0);
    assert_non_null(strstr(r.messages, "the toy source fails at event 61"));
    free(r.messages);
  }
}

static void a_source_without_events_yet_is_called_again(void **state) {
  (void)state;
  for (uint32_t slots = 1; slots <= 3; slots++) {
    struct outcome r = run((const char *const[]){"raw.events=100", "raw.idle=999", NULL}, slots, 8, 0, 0, 1);
    expect_all(&r, 100);
    free(r.messages);
    r = run((const char *const[]){"raw.events=100", "raw.idle=1000", NULL}, slots, 8, 0, 0, 1);
    assert_int_equal(r.status, SL_EPLUGIN);
    assert_int_equal(r.seen.next, 8);
    assert_int_equal(r.seen.wrong, 0);
    assert_non_null(
        strstr(r.messages, "node raw: toy.source made no event in 1000 calls and reports that there may be"));
    free(r.messages);
  }
}

/* The source waits for delivery, like an event builder or a program that feeds a few events at a time. */
static void slices_in_flight_are_delivered_while_the_source_waits(void **state) {
  (void)state;
  for (uint32_t slots = 1; slots <= 3; slots++) {
    const struct outcome r = run((const char *const[]){"raw.events=40", "raw.in_step=1", NULL}, slots, 8, 0, 0, 1);
    expect_all(&r, 40);
    free(r.messages);
  }
}

static void a_source_that_makes_too_many_events_is_named(void **state) {
  (void)state;
  for (uint32_t repeat = 1; repeat <= 3; repeat += 2) {
    struct outcome r = run((const char *const[]){"raw.events=100", "raw.claim=3", NULL}, 2, 8, 0, 0, repeat);
    assert_int_equal(r.status, SL_EPLUGIN);
    assert_int_equal(r.seen.next, 0);
    assert_non_null(strstr(r.messages, "toy.source made a slice of 11 events, but at most 8 were requested"));
    free(r.messages);
  }
}

static void a_failing_node_is_named(void **state) {
  (void)state;
  struct outcome r = run((const char *const[]){"raw.events=100", "few.fail=true", NULL}, 2, 8, 0, 0, 1);
  assert_int_equal(r.status, SL_EDEVICE);
  assert_int_equal(r.seen.next, 0);
  assert_non_null(strstr(r.messages, "toy.sum failed: the device reported an error"));
  assert_null(strstr(r.messages, "no error"));
  free(r.messages);
}

static void a_stopped_run_finishes_the_slices_in_flight(void **state) {
  (void)state;
  for (uint32_t slots = 1; slots <= 3; slots++) {
    struct outcome r = run((const char *const[]){"raw.events=100000", NULL}, slots, 4, 0, 100, 1);
    assert_int_equal(r.status, SL_EINTERRUPTED);
    assert_int_equal(r.seen.wrong, 0);
    assert_true(r.seen.next > 100 && r.seen.next <= 100 + 4 * (slots + 1) * 2);
    assert_int_equal(r.summary.events, r.seen.next);
    free(r.messages);
  }
}

static void repeats_deliver_once(void **state) {
  (void)state;
  struct outcome once = run((const char *const[]){"raw.events=100", "raw.bad_every=10", NULL}, 1, 8, 0, 0, 1);
  struct outcome r = run((const char *const[]){"raw.events=100", "raw.bad_every=10", NULL}, 2, 8, 0, 0, 5);
  expect_all(&r, 100);
  assert_memory_equal(r.digests, once.digests, sizeof r.digests);
  assert_int_equal(r.summary.slices, 5 * 13);
  assert_true(r.summary.throughput_hz > 0);
  free(once.messages);
  free(r.messages);
}

static void a_run_without_events_succeeds(void **state) {
  (void)state;
  for (uint32_t repeat = 1; repeat <= 2; repeat++) {
    struct outcome r = run((const char *const[]){"raw.events=0", NULL}, 2, 8, 0, 0, repeat);
    expect_all(&r, 0);
    free(r.messages);
  }
}

static void the_arena_has_the_minimum_size(void **state) {
  (void)state;
  struct outcome r = run((const char *const[]){"raw.events=10", NULL}, 1, 64, 0, 0, 1);
  assert_int_equal(r.summary.arena_bytes, r.summary.live_bytes_max);
  free(r.messages);
}

static void wrong_options_are_refused_with_a_reason(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_session *session = NULL;
  struct sl_options o = toy_options(GRAPH, device);
  o.device = "abacus";
  assert_int_equal(sl_session_open(&o, d, &session), SL_EINVAL);
  o.device = device;
  o.slots = 100000;
  assert_int_equal(sl_session_open(&o, d, &session), SL_EINVAL);
  o.slots = 1;
  o.slice_events = UINT32_MAX;
  assert_int_equal(sl_session_open(&o, d, &session), SL_EINVAL);
  o.slice_events = 1;
  o.sets = (const char *const[]){"raw.events", NULL};
  assert_int_equal(sl_session_open(&o, d, &session), SL_EGRAPH);
  o.size = 3;
  assert_int_equal(sl_session_open(&o, d, &session), SL_EINVAL);
  assert_int_equal(sl_diagnostics_errors(d), 5);
  assert_null(session);
  sl_diagnostics_free(d);
}

/* 4,000,000 copies per event with u32 offsets: a slice can have at most 1073 events. */
static void a_capacity_beyond_its_offsets_is_an_error_that_names_the_largest_slice(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_session *session = NULL;
  struct sl_options o = toy_options(GRAPH, device);
  o.sets = (const char *const[]){"expanded.per_event=4000000", NULL};
  o.slice_events = 1074;
  assert_int_equal(sl_session_open(&o, d, &session), SL_EGRAPH);
  char *messages = toy_messages(d);
  if (!strstr(messages,
              "toy.yaml:7:3: error: node expanded: a slice of 1074 events would need room for 4296000000 items "
              "of expanded, but at most 4294967294 are possible") ||
      !strstr(messages, "the largest slice size that works is --slice-events 1073"))
    fail_msg("%s", messages);
  free(messages);
  sl_diagnostics_free(d);
}

/* --guard names a node that writes past its output, and a node that computes NaN. */
static void guard_detects_writes_past_outputs_and_nan(void **state) {
  (void)state;
  if (strcmp(device, "cpu") != 0 && strcmp(device, "simt") != 0) skip();
  struct outcome r;
#if !defined(__SANITIZE_ADDRESS__) /* AddressSanitizer would report it first */
  r = run((const char *const[]){"raw.events=20", "all.overrun=true", NULL}, 1, 8, 1, 0, 1);
  assert_int_equal(r.status, SL_EPLUGIN);
  if (!strstr(r.messages, "node all: toy.sum: all.sums.sum was written 0 bytes past its end"))
    fail_msg("%s", r.messages);
  free(r.messages);
#endif
  r = run((const char *const[]){"raw.events=20", "all.not_a_number=true", NULL}, 1, 8, 1, 0, 1);
  assert_int_equal(r.status, SL_EPLUGIN);
  if (!strstr(r.messages, "node all: toy.sum: sums.mean of event 0, entry 0, is not a number"))
    fail_msg("%s", r.messages);
  free(r.messages);
}

/* On a GPU the run ends cleanly and, step by step, names the node. Nothing can run on the GPU afterwards, so this case
 * is the last one. */
static void a_kernel_that_crashes_is_named(void **state) {
  (void)state;
  if (strncmp(device, "cuda", 4) != 0) skip();
  struct outcome r =
      run((const char *const[]){"raw.events=100", "some.crash=true", "runtime.branches=1", NULL}, 1, 8, 1, 0, 1);
  assert_int_equal(r.status, SL_EDEVICE);
  if (!strstr(r.messages, "node some: a kernel failed in toy.sum: ")) fail_msg("%s", r.messages);
  free(r.messages);
}

int main(void) {
  if (getenv("SLUICE_TEST_DEVICE")) device = getenv("SLUICE_TEST_DEVICE");
  if (toy_device_is_absent(device)) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_do_not_depend_on_slots_slices_or_guard),
      cmocka_unit_test(a_tight_budget_costs_retries_and_changes_nothing),
      cmocka_unit_test(refusal_depends_on_the_event_alone),
      cmocka_unit_test(each_group_of_subitems_has_its_own_budget),
      cmocka_unit_test(corrupt_events_are_delivered_empty_and_in_order),
      cmocka_unit_test(a_refused_event_is_named_and_other_events_are_unchanged),
      cmocka_unit_test(events_before_a_failure_of_the_source_are_delivered),
      cmocka_unit_test(a_source_without_events_yet_is_called_again),
      cmocka_unit_test(slices_in_flight_are_delivered_while_the_source_waits),
      cmocka_unit_test(a_source_that_makes_too_many_events_is_named),
      cmocka_unit_test(a_failing_node_is_named),
      cmocka_unit_test(a_stopped_run_finishes_the_slices_in_flight),
      cmocka_unit_test(repeats_deliver_once),
      cmocka_unit_test(a_run_without_events_succeeds),
      cmocka_unit_test(the_arena_has_the_minimum_size),
      cmocka_unit_test(guard_detects_writes_past_outputs_and_nan),
      cmocka_unit_test(a_capacity_beyond_its_offsets_is_an_error_that_names_the_largest_slice),
      cmocka_unit_test(wrong_options_are_refused_with_a_reason),
      cmocka_unit_test(a_kernel_that_crashes_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
