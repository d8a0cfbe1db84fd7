/* times_test.c: the times of a run, on the toy plugin. For any slots, repeats and retries, the rows of the threads add
 * up to slots x wall time; sleep counts for the thread that sleeps; nodes on a list report the bytes that they read; a
 * rate is reported only if it was measured. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
/* cmocka.h needs the headers above */
#include "numbers.h"
#include "session.h"

#include <sluice/sluice.h>

#include <cmocka.h>

#define GRAPH                                                                                  \
  "sluice: 1\n"                                                                                \
  "nodes:\n"                                                                                   \
  "  raw: { use: toy.source, set: { events: 200 } }\n"                                         \
  "  third: { use: toy.select, in: { numbers: raw }, set: { modulus: 3 } }\n"                  \
  "  even: { use: toy.select, in: { numbers: raw }, set: { modulus: 2 } }\n"                   \
  "  scaled: { use: toy.scale, in: { numbers: raw } }\n"                                       \
  "  expanded: { use: toy.expand, in: { scaled: scaled } }\n"                                  \
  "  some: { use: toy.sum, in: { numbers: raw }, events: third.passed }\n"                     \
  "  picked: { use: toy.pick, events: [third.passed, even.passed], set: { of: raw.value } }\n" \
  "  joined: { use: toy.join, in: { parts: [raw] }, events: third.passed }\n"                  \
  "  tally: { use: toy.totals, in: { numbers: raw } }\n"                                       \
  "  order: { use: toy.order, in: { numbers: raw } }\n"                                        \
  "outputs: [expanded, some, picked, joined, tally]\n"

static const char *device = "cpu";
enum { EVENTS = 200, SLEEP_NS = 3000000 };

static int sleep_a_little(void *context, const struct sl_batch *batch) {
  const struct timespec t = {0, SLEEP_NS};
  (void)batch;
  ++*(uint64_t *)context;
  nanosleep(&t, NULL);
  return 0;
}

struct outcome {
  struct sl_session *session;
  struct sl_diagnostics *d;
  const struct sl_summary *summary;
  uint64_t batches;
};

static void run(struct outcome *r, uint32_t slots, uint32_t repeat, const char *const *sets) {
  struct sl_options o = toy_options(GRAPH, device);
  *r = (struct outcome){.d = sl_diagnostics_new()};
  o.slots = slots;
  o.slice_events = 16;
  o.repeat = repeat;
  o.digest = 1;
  o.sets = sets;
  o.on_batch = sleep_a_little;
  o.context = &r->batches;
  int status = sl_session_open(&o, r->d, &r->session);
  if (status == SL_OK) status = sl_session_run(r->session);
  if (status < 0) fail_msg("%s", toy_messages(r->d));
  r->summary = sl_session_summary(r->session);
}

static void end(struct outcome *r) {
  sl_session_close(r->session);
  sl_diagnostics_free(r->d);
}

/* The row of a node, or of another activity. */
static const struct sl_time_summary *row(const struct outcome *r, const char *name) {
  for (uint32_t i = 0; i < r->summary->time_count; i++) {
    const struct sl_time_summary *t = &r->summary->times[i];
    if (strcmp(t->node ? t->node : t->what, name) == 0) return t;
  }
  fail_msg("no row '%s'", name);
  return NULL;
}

static void assert_adds_up(const struct outcome *r) {
  double seconds = 0, share = 0;
  for (uint32_t i = 0; i < r->summary->time_count; i++) {
    assert_true(r->summary->times[i].seconds >= 0);
    if (r->summary->times[i].where != SL_TIME_IN_THREADS) continue;
    seconds += r->summary->times[i].seconds;
    share += r->summary->times[i].share;
  }
  const double whole = r->summary->slots * r->summary->seconds;
  assert_true(seconds > 0.95 * whole && seconds < 1.05 * whole);
  assert_true(share > 0.95 && share < 1.05);
}

static void rows_add_up_to_slots_times_wall(void **state) {
  (void)state;
  static const char *const none[] = {NULL}, *const tight[] = {"expanded.per_event=1", NULL};
  for (uint32_t slots = 1; slots <= 3; slots++)
    for (uint32_t repeat = 1; repeat <= 3; repeat += 2)
      for (uint32_t is_tight = 0; is_tight < 2; is_tight++) {
        struct outcome r;
        run(&r, slots, repeat, is_tight ? tight : none);
        if (is_tight) assert_true(r.summary->retries > 0);
        assert_adds_up(&r);
        end(&r);
      }
}

static void sleep_counts_for_the_thread_that_sleeps(void **state) {
  (void)state;
  for (uint32_t slots = 1; slots <= 2; slots++) {
    struct outcome r;
    run(&r, slots, 1, NULL);
    assert_true(r.batches >= EVENTS / 16);
    assert_true(row(&r, "callbacks of the program")->seconds >= (double)r.batches * SLEEP_NS * 1e-9);
    if (slots == 2) { /* while one sleeps, the other waits */
      assert_true(row(&r, "wait to deliver")->seconds > 0);
      assert_true(row(&r, "callbacks of the program")->share < 0.55);
    }
    end(&r);
  }
}

static void every_node_has_a_row(void **state) {
  (void)state;
  struct outcome r;
  run(&r, 2, 1, NULL);
  const struct sl_time_summary *raw = row(&r, "raw"), *order = row(&r, "order"), *scaled = row(&r, "scaled");
  assert_string_equal(raw->what, "source");
  assert_string_equal(raw->algorithm, "toy.source");
  assert_int_equal(raw->events, EVENTS);
  assert_true(raw->calls >= r.summary->slices);
  assert_string_equal(order->what, "sink");
  assert_int_equal(order->events, EVENTS);
  assert_int_equal(order->where, SL_TIME_IN_THREADS);
  assert_int_equal(scaled->where,
                   strcmp(device, "cpu") == 0 || strcmp(device, "simt") == 0 ? SL_TIME_IN_THREADS : SL_TIME_ON_DEVICE);
  const char *const others[] = {"digests", "items and totals", "plugins and graph", "plan", "constants", "memory"};
  for (uint32_t i = 0; i < 6; i++) assert_true(row(&r, others[i])->seconds > 0);
  end(&r);
}

/* Number of events with a number of values divisible by `modulus`, and of their values. */
struct listed {
  uint64_t events, values;
};
static struct listed list_of(uint32_t modulus) {
  struct listed l = {0};
  for (uint64_t e = 0; e < EVENTS; e++) {
    if (toy_count(e) % modulus) continue;
    l.events++;
    l.values += toy_count(e);
  }
  return l;
}

static void a_node_on_a_list_reads_the_bytes_of_its_events(void **state) {
  (void)state;
  const struct listed third = list_of(3), sixth = list_of(6);
  static const char *const none[] = {NULL}, *const tight[] = {"expanded.per_event=1", NULL};
  for (uint32_t is_tight = 0; is_tight < 2; is_tight++) {
    struct outcome r;
    run(&r, 2, 1, is_tight ? tight : none);
    const struct sl_time_summary *some = row(&r, "some"), *picked = row(&r, "picked"), *joined = row(&r, "joined");
    if (some->where == SL_TIME_ON_DEVICE) { /* bytes are not counted on devices */
      assert_true(some->bytes_in == UINT64_MAX && some->bytes_out == UINT64_MAX);
      end(&r);
      return;
    }
    /* offsets: number of events + 1, for each slice or part of a slice */
    const uint64_t parts = (some->bytes_in - 4 * (third.events + third.values)) / 4;
    assert_int_equal(some->bytes_in, 4 * (third.events + third.values + parts));
    assert_in_range(parts, EVENTS / 16, is_tight ? EVENTS : EVENTS / 16 + 1);
    assert_int_equal(some->bytes_out, 12 * third.events); /* count, sum and mean */
    assert_int_equal(picked->bytes_out, 12 * sixth.events);
    assert_int_equal(picked->bytes_in, 4 * sixth.values);
    assert_int_equal(joined->bytes_in, some->bytes_in);
    if (!is_tight) assert_int_equal(some->events, third.events);
    end(&r);
  }
}

/* ---------------------------------------------------------------------------------------------------- rates */

/* Checks the table and the JSON of a run; `absent` must not be in the table. */
static void assert_reports(const struct outcome *r, const char *in_table, const char *in_json, const char *absent) {
  char *table = NULL, *json = NULL;
  assert_int_equal(toy_reports(r->session, &table, &json), 0);
  if (!strstr(table, in_table)) fail_msg("'%s' is not in '%s'", in_table, table);
  if (!strstr(json, in_json)) fail_msg("'%s' is not in '%s'", in_json, json);
  if (absent && strstr(table, absent)) fail_msg("'%s' is in '%s'", absent, table);
  free(table);
  free(json);
}

static void run_graph(struct outcome *r, const char *graph, uint32_t repeat, const char *const *sets) {
  struct sl_options o = toy_options(graph, device);
  *r = (struct outcome){.d = sl_diagnostics_new()};
  o.repeat = repeat;
  o.sets = sets;
  int status = sl_session_open(&o, r->d, &r->session);
  if (status == SL_OK) status = sl_session_run(r->session);
  if (status < 0) fail_msg("%s", toy_messages(r->d));
  r->summary = sl_session_summary(r->session);
}

static void a_graph_without_kernels_has_no_rate_in_the_graph(void **state) {
  (void)state;
  static const char *const none[] = {NULL};
  for (uint32_t repeat = 1; repeat <= 3; repeat += 2) {
    struct outcome r;
    run_graph(&r, "sluice: 1\nnodes:\n  raw: { use: toy.source }\n  order: { use: toy.order }\n", repeat, none);
    assert_true(r.summary->throughput_hz == 0);
    assert_reports(&r, "from the source", "\"throughput_hz\": null", "in the graph");
    end(&r);
  }
}

static void the_rate_in_the_graph_is_reported_only_if_measured(void **state) {
  (void)state;
  static const char *const none[] = {NULL};
  const int is_host = strcmp(device, "cpu") == 0 || strcmp(device, "simt") == 0;
  struct outcome r;
  run_graph(&r, GRAPH, 1, none);
  assert_true((r.summary->throughput_hz > 0) == is_host);
  if (is_host)
    assert_reports(&r, " events/s in the graph, ", "\"throughput_hz\": ", "--repeat");
  else
    assert_reports(&r, "; --repeat measures the graph alone)", "\"throughput_hz\": null", "in the graph");
  if (!is_host)
    assert_reports(&r, " events/s from the source, ", "\"microseconds\": null,\n      \"share\": null", NULL);
  end(&r);
  run_graph(&r, GRAPH, 6, none);
  assert_true(r.summary->throughput_hz > 0);
  assert_int_equal(r.summary->stretch_count, SL_STRETCHES);
  assert_reports(&r, " events/s in the graph, ", "\"throughput_hz\": ", "--repeat");
  if (!is_host) assert_reports(&r, "", "\"stretch_us\": []", NULL);
  end(&r);
}

/* Only one of eight slots gets a slice. */
static void slots_that_wait_do_not_count_as_running(void **state) {
  (void)state;
  if (strcmp(device, "cpu") != 0) return;
  struct sl_options o = toy_options(GRAPH, device);
  struct outcome r = {.d = sl_diagnostics_new()};
  o.slots = 8;
  o.slice_events = EVENTS;
  assert_int_equal(sl_session_open(&o, r.d, &r.session), SL_OK);
  assert_int_equal(sl_session_run(r.session), SL_OK);
  r.summary = sl_session_summary(r.session);
  assert_int_equal(r.summary->slices, 1);
  double kernels = 0;
  for (uint32_t i = 0; i < r.summary->node_count; i++) kernels += 1e-6 * r.summary->nodes[i].microseconds;
  assert_true(r.summary->throughput_hz > 0 && r.summary->throughput_hz <= 1.001 * EVENTS / kernels);
  end(&r);
}

/* Events with an error do not run in the graph: if all have one, there is no rate either. */
static void a_run_without_events_has_no_rate(void **state) {
  (void)state;
  static const char *const none[] = {"raw.events=0", NULL}, *const bad[] = {"raw.bad_every=1", NULL};
  for (uint32_t repeat = 1; repeat <= 3; repeat += 2) {
    struct outcome r;
    run_graph(&r, GRAPH, repeat, none);
    assert_reports(&r, "rate         none (", "\"wall_hz\": null", "events/s");
    assert_reports(&r, "", "\"source_hz\": null", "nan");
    end(&r);
    struct sl_options o = toy_options(GRAPH, device);
    o.sets = bad;
    o.repeat = repeat;
    r = (struct outcome){.d = sl_diagnostics_new()};
    assert_int_equal(sl_session_open(&o, r.d, &r.session), SL_OK);
    (void)sl_session_run(r.session); /* fails, because every event has an error */
    r.summary = sl_session_summary(r.session);
    assert_true(r.summary->events > 0 && r.summary->events == r.summary->error_events);
    assert_true(r.summary->throughput_hz == 0);
    assert_int_equal(r.summary->stretch_count, 0);
    assert_reports(&r, "from the source", "\"throughput_hz\": null", "in the graph");
    end(&r);
  }
}

struct stopper {
  struct sl_session *session;
  _Atomic uint64_t delivered;
};

static int count_events(void *context, const struct sl_batch *batch) {
  ((struct stopper *)context)->delivered += batch->event_count;
  return 0;
}

static void *stop_after_the_first_pass(void *context) {
  struct stopper *s = context;
  const struct timespec t = {0, SLEEP_NS};
  while (s->delivered < EVENTS) nanosleep(&t, NULL);
  for (int i = 0; i < 5; i++) nanosleep(&t, NULL);
  sl_session_stop(s->session);
  return NULL;
}

/* The first stretch would take hours, and the run is stopped in it. */
static void a_stretch_that_is_stopped_has_no_rate(void **state) {
  (void)state;
  struct stopper s = {0};
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = toy_options(GRAPH, device);
  pthread_t thread;
  o.repeat = UINT32_MAX;
  o.on_batch = count_events;
  o.context = &s;
  assert_int_equal(sl_session_open(&o, d, &s.session), SL_OK);
  assert_int_equal(pthread_create(&thread, NULL, stop_after_the_first_pass, &s), 0);
  assert_int_equal(sl_session_run(s.session), SL_EINTERRUPTED);
  pthread_join(thread, NULL);
  assert_true(sl_session_summary(s.session)->throughput_hz == 0);
  assert_int_equal(sl_session_summary(s.session)->stretch_count, 0);
  sl_session_close(s.session);
  sl_diagnostics_free(d);
}

int main(void) {
  if (getenv("SLUICE_TEST_DEVICE")) device = getenv("SLUICE_TEST_DEVICE");
  if (toy_device_is_absent(device)) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_add_up_to_slots_times_wall),
      cmocka_unit_test(sleep_counts_for_the_thread_that_sleeps),
      cmocka_unit_test(every_node_has_a_row),
      cmocka_unit_test(a_node_on_a_list_reads_the_bytes_of_its_events),
      cmocka_unit_test(a_graph_without_kernels_has_no_rate_in_the_graph),
      cmocka_unit_test(the_rate_in_the_graph_is_reported_only_if_measured),
      cmocka_unit_test(slots_that_wait_do_not_count_as_running),
      cmocka_unit_test(a_run_without_events_has_no_rate),
      cmocka_unit_test(a_stretch_that_is_stopped_has_no_rate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
