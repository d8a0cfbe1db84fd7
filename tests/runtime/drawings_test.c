/* drawings_test.c: drawings on request, by the sink toy.paint: choice of the event, replaced and expired requests,
 * intervals by an injected clock, failures, and requests from several threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above */
#include "base/clock.h"
#include "base/thread.h"
#include "numbers.h"
#include "results/drawings.h"
#include "session.h"
#include "session/inspect.h"

#include <cmocka.h>

enum { SLICE_EVENTS = 10, TEXT_MAX = 100 };
#define SECOND ((uint64_t)1000000000)

#define NODES                                                                                               \
  "sluice: 1\n"                                                                                             \
  "nodes:\n"                                                                                                \
  "  raw: { use: toy.source }\n"                                                                            \
  "  even: { use: toy.select, set: { modulus: 2 } }\n"                                                      \
  "  third: { use: toy.select, set: { modulus: 3 } }\n"                                                     \
  "  fourth: { use: toy.select, set: { modulus: 4 } }\n"                                                    \
  "  fifth: { use: toy.select, set: { modulus: 5 } }\n"                                                     \
  "  marks: { use: toy.mark, in: { lists: { even: even, third: third, fourth: fourth, fifth: fifth } } }\n" \
  "  paint: { use: toy.paint, in: { numbers: raw } }\n"                                                     \
  "  other: { use: toy.paint, in: { numbers: raw }, events: third }\n"
#define GRAPH NODES "outputs: [marks.bits]\n"

static const char *device = "cpu";

/* A run. `step` is called after each batch; then the clock moves on by `batch_ns`. */
struct run {
  struct sl_session *session;
  struct sl_diagnostics *diagnostics;
  struct sl_drawings *drawings;
  void (*step)(struct run *run);
  uint64_t batches, batch_ns, seen;
};

static uint64_t now_ns, call_ns; /* each call of the clock takes call_ns */
static uint64_t test_clock(void) { return now_ns += call_ns; }

static int on_batch(void *context, const struct sl_batch *batch) {
  struct run *run = context;
  (void)batch;
  run->batches++;
  if (run->step) run->step(run);
  now_ns += run->batch_ns;
  return 0;
}

static void open_run(struct run *run, const char *graph, const char *const *sets) {
  struct sl_options o = toy_options(graph, device);
  o.slots = 1;
  o.slice_events = SLICE_EVENTS;
  o.sets = sets;
  o.draws = 1;
  o.on_batch = on_batch;
  o.context = run;
  run->diagnostics = sl_diagnostics_new();
  if (sl_session_open(&o, run->diagnostics, &run->session) != SL_OK) fail_msg("%s", toy_messages(run->diagnostics));
  run->drawings = sl_session_drawings(run->session);
  assert_non_null(run->drawings);
  run->drawings->clock = test_clock;
  now_ns = SECOND;
  call_ns = 0;
}

static void run_all(struct run *run) {
  const int status = sl_session_run(run->session);
  if (status != SL_OK) fail_msg("%d: %s", status, toy_messages(run->diagnostics));
}

/* Closes the session. Returns its messages, to be freed. */
static char *close_run(struct run *run) {
  sl_session_close(run->session);
  char *messages = toy_messages(run->diagnostics);
  sl_diagnostics_free(run->diagnostics);
  return messages;
}

static void close_quiet_run(struct run *run) {
  char *messages = close_run(run);
  assert_string_equal(messages, "");
  free(messages);
}

static int request(struct run *run, const char *sink, const char *name) {
  struct sl_drawing *drawing;
  const int status = sl_drawings_request(run->drawings, sink, name, 0, &drawing);
  sl_drawing_release(drawing);
  return status;
}

static void assert_drawn(struct run *run, const char *sink, const char *name, uint64_t event) {
  struct sl_drawing *drawing;
  char text[TEXT_MAX];
  assert_int_equal(sl_drawings_request(run->drawings, sink, name, 0, &drawing), 1);
  snprintf(text, sizeof text, "<svg>event %llu: %u numbers</svg>", (unsigned long long)event, toy_count(event));
  assert_string_equal(drawing->text, text);
  assert_int_equal(drawing->bytes, strlen(text));
  assert_int_equal(drawing->event, event);
  assert_int_equal(drawing->run, 7);
  sl_drawing_release(drawing);
}

/* The newest of the first `count` events that toy.select selects with this modulus. */
static uint64_t newest(uint64_t count, uint32_t modulus) {
  while (toy_count(count - 1) % modulus != 0) count--;
  return count - 1;
}

/* ------------------------------------------------------------------------------------------------- choice */

static void without_the_option_nothing_can_be_requested(void **state) {
  (void)state;
  struct sl_options o = toy_options(GRAPH, device);
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_session *session = NULL;
  char *table, *json;
  assert_int_equal(sl_session_open(&o, d, &session), SL_OK);
  assert_null(sl_session_drawings(session));
  assert_int_equal(sl_session_run(session), SL_OK);
  assert_int_equal(toy_reports(session, &table, &json), 0);
  assert_non_null(strstr(json, "\"draws\": 0"));
  free(table);
  free(json);
  sl_session_close(session);
  sl_diagnostics_free(d);
}

static void sinks_and_names_are_listed(void **state) {
  (void)state;
  struct run run = {0};
  open_run(&run, GRAPH, NULL);
  const struct sl_drawings *d = run.drawings;
  assert_int_equal(d->drawer_count, 2);
  assert_string_equal(d->drawers[0].name, "paint");
  assert_string_equal(d->drawers[1].name, "other");
  assert_int_equal(d->group_count, 1);
  assert_string_equal(d->names[0].label, "list");
  assert_int_equal(d->names[0].count, 4);
  assert_string_equal(d->names[0].names[3], "fifth");
  assert_int_equal(request(&run, "paints", NULL), SL_EINVAL);
  assert_int_equal(request(&run, "paint", "sixth"), SL_EINVAL);
  assert_int_equal(request(&run, NULL, ""), SL_EINVAL);
  assert_int_equal(request(&run, "paint", "fifth"), 0);
  close_quiet_run(&run);
}

static void a_graph_without_such_a_sink_draws_nothing(void **state) {
  (void)state;
  struct run run = {0};
  open_run(&run, "sluice: 1\nnodes:\n  raw: { use: toy.source }\n  order: { use: toy.order }\n", NULL);
  assert_int_equal(request(&run, NULL, NULL), SL_EINVAL);
  assert_int_equal(request(&run, NULL, "even"), SL_EINVAL);
  assert_int_equal(request(&run, "order", NULL), SL_EINVAL);
  run_all(&run);
  close_quiet_run(&run);
}

static void without_a_request_nothing_is_drawn(void **state) {
  (void)state;
  struct run run = {0};
  char *table, *json;
  open_run(&run, GRAPH, NULL);
  run_all(&run);
  assert_int_equal(toy_reports(run.session, &table, &json), 0);
  assert_non_null(strstr(json, "\"drawn\": 0"));
  assert_non_null(strstr(json, "\"draws\": 1"));
  free(table);
  free(json);
  close_quiet_run(&run);
}

static void the_newest_event_of_the_batch_is_drawn(void **state) {
  (void)state;
  struct run run = {.batch_ns = SECOND};
  struct sl_drawing *drawing;
  open_run(&run, GRAPH, (const char *const[]){"raw.events=40", NULL});
  assert_int_equal(request(&run, NULL, NULL), 0);
  assert_int_equal(request(&run, "other", NULL), 0);
  run_all(&run);
  assert_drawn(&run, NULL, NULL, 39);
  assert_drawn(&run, "paint", NULL, 39);
  assert_drawn(&run, "other", NULL, newest(40, 3)); /* the sink is called for some events only */
  assert_int_equal(run.drawings->drawers[0].drawings, 4);
  assert_int_equal(sl_drawings_request(run.drawings, NULL, NULL, 7, &drawing), 0); /* its serial number is 7 */
  assert_int_equal(sl_drawings_request(run.drawings, NULL, NULL, 6, &drawing), 1);
  assert_int_equal(drawing->serial, 7);
  assert_int_equal(drawing->drawn_ns, 4 * SECOND);
  close_quiet_run(&run);
  assert_int_equal(drawing->event, 39); /* it outlives the session */
  sl_drawing_release(drawing);
}

static void events_are_chosen_by_name(void **state) {
  (void)state;
  static const char *const graphs[] = {GRAPH, NODES "outputs: [marks.indices]\n"};
  static const char *const labels[] = {"list", "entry"};
  for (int i = 0; i < 2; i++) {
    struct run run = {.batch_ns = SECOND};
    open_run(&run, graphs[i], (const char *const[]){"raw.events=100", NULL});
    assert_string_equal(run.drawings->names[0].label, labels[i]);
    assert_int_equal(request(&run, NULL, "even"), 0);
    assert_int_equal(request(&run, NULL, "fifth"), 0);
    assert_int_equal(request(&run, "other", "fourth"), 0);
    run_all(&run);
    assert_drawn(&run, NULL, "even", newest(100, 2));
    assert_drawn(&run, NULL, "fifth", newest(100, 5));
    assert_drawn(&run, "other", "fourth", newest(100, 12)); /* that the sink also is called for */
    close_quiet_run(&run);
  }
}

static void an_event_with_an_error_is_not_drawn(void **state) {
  (void)state;
  struct run run = {.batch_ns = SECOND};
  open_run(&run, GRAPH, (const char *const[]){"raw.events=40", "raw.bad_every=10", NULL});
  assert_int_equal(request(&run, NULL, NULL), 0);
  run_all(&run);
  assert_drawn(&run, NULL, NULL, 38);
  free(close_run(&run));
}

/* ---------------------------------------------------------------------------------------------- intervals */

static void request_each_time(struct run *run) { (void)request(run, NULL, NULL); }

static void a_request_gets_one_drawing_per_second(void **state) {
  (void)state;
  struct run run = {.step = request_each_time, .batch_ns = SECOND / 4};
  open_run(&run, GRAPH, (const char *const[]){"raw.events=400", NULL});
  request_each_time(&run);
  run_all(&run);
  assert_int_equal(run.batches, 40);
  assert_int_equal(run.drawings->drawers[0].drawings, 10);
  close_quiet_run(&run);
}

/* Each reading of the clock takes 20 ms, so that drawings take at least that long. */
static void drawings_take_a_hundredth_of_the_time(void **state) {
  (void)state;
  struct run run = {.step = request_each_time, .batch_ns = SECOND / 10};
  open_run(&run, GRAPH, (const char *const[]){"raw.events=10000", NULL});
  request_each_time(&run);
  call_ns = SECOND / 50;
  run_all(&run);
  const uint64_t drawings = run.drawings->drawers[0].drawings;
  assert_in_range(drawings * call_ns * 100, now_ns / 2, now_ns + 100 * call_ns);
  close_quiet_run(&run);
}

static void request_another_sink(struct run *run) {
  static const char *const names[] = {NULL, "even", "third", "fourth", "fifth"};
  for (uint64_t i = 0; i < 5; i++) {
    (void)request(run, "paint", names[i]);
    (void)request(run, "other", names[i]);
  }
}

/* Ten requests replace each other in eight places in turn. */
static void many_requests_take_a_hundredth_of_the_time(void **state) {
  (void)state;
  struct run run = {.step = request_another_sink, .batch_ns = SECOND / 10};
  open_run(&run, GRAPH, (const char *const[]){"raw.events=10000", NULL});
  request_another_sink(&run);
  call_ns = SECOND / 1000;
  run_all(&run);
  const uint64_t drawings = run.drawings->drawers[0].drawings + run.drawings->drawers[1].drawings;
  assert_in_range(drawings * call_ns * 100, 1, now_ns + 100 * SL_DRAWING_REQUESTS * call_ns);
  close_quiet_run(&run);
}

static void a_request_that_is_not_repeated_ends(void **state) {
  (void)state;
  struct run run = {.batch_ns = SECOND};
  struct sl_drawing *drawing;
  open_run(&run, GRAPH, (const char *const[]){"raw.events=400", NULL});
  assert_int_equal(request(&run, NULL, NULL), 0);
  assert_int_equal(atomic_load(&run.drawings->live), 1);
  run_all(&run);
  assert_int_equal(run.drawings->drawers[0].drawings, SL_DRAWING_SECONDS + 1); /* one at once, then each second */
  assert_int_equal(atomic_load(&run.drawings->live), 0);
  assert_int_equal(sl_drawings_request(run.drawings, NULL, NULL, 0, &drawing), 0);
  close_quiet_run(&run);
}

static void request_first_again(struct run *run) {
  static const char *const names[] = {NULL, "even", "third", "fourth", "fifth"};
  if (run->batches != 1) return;
  for (int i = 0; i < 3; i++) {
    now_ns++;
    assert_int_equal(request(run, "other", names[i]), 0);
  }
  for (int i = 0; i < 5; i++) {
    now_ns++;
    assert_int_equal(request(run, "paint", names[i]), 1); /* were drawn */
  }
  now_ns++;
  assert_int_equal(atomic_load(&run->drawings->live), SL_DRAWING_REQUESTS);
  assert_int_equal(request(run, "other", "fourth"), 0); /* replaces the first of "other" */
  assert_int_equal(atomic_load(&run->drawings->live), SL_DRAWING_REQUESTS);
  run->seen = run->drawings->drawers[0].drawings;
}

static void the_request_that_was_repeated_least_recently_is_replaced(void **state) {
  (void)state;
  struct run run = {.step = request_first_again, .batch_ns = 2 * SECOND};
  open_run(&run, GRAPH, (const char *const[]){"raw.events=40", NULL});
  static const char *const names[] = {NULL, "even", "third", "fourth", "fifth"};
  for (int i = 0; i < 5; i++) assert_int_equal(request(&run, "paint", names[i]), 0);
  run_all(&run);
  assert_int_equal(run.seen, 5);
  assert_drawn(&run, "other", "even", newest(40, 6));
  assert_drawn(&run, "other", "third", newest(40, 3));
  assert_drawn(&run, "other", "fourth", newest(40, 12));
  for (int i = 0; i < 5; i++) assert_int_equal(request(&run, "paint", names[i]), 1);
  now_ns++;
  assert_int_equal(request(&run, "other", NULL), 0); /* the replaced one */
  close_quiet_run(&run);
}

/* ----------------------------------------------------------------------------------------------- failures */

static void a_sink_that_fails_draws_no_more(void **state) {
  (void)state;
  struct run run = {.batch_ns = SECOND};
  open_run(&run, GRAPH, (const char *const[]){"raw.events=40", "paint.fail_at=29", NULL});
  assert_int_equal(request(&run, "paint", NULL), 0);
  assert_int_equal(request(&run, "other", NULL), 0);
  run_all(&run);
  assert_int_equal(request(&run, "paint", NULL), SL_EPLUGIN);
  assert_int_equal(request(&run, "paint", "even"), SL_EPLUGIN);
  assert_int_equal(run.drawings->drawers[0].drawings, 2);
  assert_drawn(&run, "other", NULL, newest(40, 3));
  assert_drawn(&run, NULL, NULL, newest(40, 3)); /* the first one that can draw */
  char *messages = close_run(&run);
  assert_non_null(strstr(messages, "warning: "));
  assert_non_null(
      strstr(messages, "could not draw run 7 event 29: data has the wrong format; it draws no more events"));
  assert_null(strstr(messages, "error: "));
  free(messages);
}

static void a_text_that_is_too_long_is_dropped(void **state) {
  (void)state;
  struct run run = {.batch_ns = SECOND};
  open_run(&run, GRAPH, (const char *const[]){"raw.events=40", "paint.long_at=39", NULL});
  assert_int_equal(request(&run, NULL, NULL), 0);
  run_all(&run);
  assert_drawn(&run, NULL, NULL, 29); /* the drawing before stays, and others could follow */
  assert_int_equal(request(&run, "paint", "even"), 0);
  char *messages = close_run(&run);
  assert_non_null(strstr(messages, "the drawing of run 7 event 39 was dropped: it is longer than 16 MiB"));
  free(messages);
}

static void a_long_text_is_whole(void **state) {
  (void)state;
  struct run run = {0};
  struct sl_drawing *drawing;
  open_run(&run, GRAPH, (const char *const[]){"paint.bytes=1000000", NULL});
  assert_int_equal(request(&run, NULL, NULL), 0);
  run_all(&run);
  assert_int_equal(sl_drawings_request(run.drawings, NULL, NULL, 0, &drawing), 1);
  assert_true(drawing->bytes > 1000000);
  assert_int_equal(strlen(drawing->text), drawing->bytes);
  assert_string_equal(drawing->text + drawing->bytes - 6, "</svg>");
  sl_drawing_release(drawing);
  close_quiet_run(&run);
}

static void a_sink_may_draw_nothing(void **state) {
  (void)state;
  struct run run = {.batch_ns = SECOND};
  open_run(&run, GRAPH, (const char *const[]){"paint.bytes=1", NULL});
  assert_int_equal(request(&run, NULL, NULL), 0);
  run_all(&run);
  assert_int_equal(request(&run, NULL, NULL), 0);
  close_quiet_run(&run);
}

/* ------------------------------------------------------------------------------------------------ threads */

enum { CLIENTS = 4, DRAWINGS_EACH = 20 };

struct client {
  struct sl_thread thread;
  struct sl_drawings *drawings;
  const char *name;
  uint64_t wrong, serial;
  atomic_uint got;
};
static struct client clients[CLIENTS];
static atomic_int run_has_ended;

static void poll_drawings(void *argument) {
  struct client *c = argument;
  while (!atomic_load(&run_has_ended)) {
    struct sl_drawing *drawing;
    if (sl_drawings_request(c->drawings, "paint", c->name, c->serial, &drawing) != 1) continue;
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "<svg>event %llu: %u numbers</svg>", (unsigned long long)drawing->event,
             toy_count(drawing->event));
    c->wrong += strcmp(text, drawing->text) != 0 || drawing->serial <= c->serial;
    c->serial = drawing->serial;
    atomic_fetch_add(&c->got, 1);
    sl_drawing_release(drawing);
  }
}

/* A clock that runs 1,000 times faster, so that many drawings are due. */
static uint64_t fast_clock(void) { return 1000 * sl_now_ns(); }

static void stop_when_all_have_drawings(struct run *run) {
  for (int i = 0; i < CLIENTS; i++)
    if (atomic_load(&clients[i].got) < DRAWINGS_EACH) return;
  sl_session_stop(run->session);
}

static void threads_request_while_events_are_drawn(void **state) {
  (void)state;
  static const char *const names[CLIENTS] = {NULL, "even", "third", NULL};
  struct run run = {.step = stop_when_all_have_drawings};
  open_run(&run, GRAPH, (const char *const[]){"raw.events=100000000", NULL});
  run.drawings->clock = fast_clock;
  atomic_store(&run_has_ended, 0);
  for (int i = 0; i < CLIENTS; i++) {
    clients[i] = (struct client){.drawings = run.drawings, .name = names[i]};
    assert_int_equal(sl_thread_start(&clients[i].thread, poll_drawings, &clients[i]), 0);
  }
  assert_int_equal(sl_session_run(run.session), SL_EINTERRUPTED);
  atomic_store(&run_has_ended, 1);
  for (int i = 0; i < CLIENTS; i++) {
    sl_thread_join(&clients[i].thread);
    assert_int_equal(clients[i].wrong, 0);
  }
  free(close_run(&run));
}

int main(void) {
  if (getenv("SLUICE_TEST_DEVICE")) device = getenv("SLUICE_TEST_DEVICE");
  if (toy_device_is_absent(device)) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_the_option_nothing_can_be_requested),
      cmocka_unit_test(sinks_and_names_are_listed),
      cmocka_unit_test(a_graph_without_such_a_sink_draws_nothing),
      cmocka_unit_test(without_a_request_nothing_is_drawn),
      cmocka_unit_test(the_newest_event_of_the_batch_is_drawn),
      cmocka_unit_test(events_are_chosen_by_name),
      cmocka_unit_test(an_event_with_an_error_is_not_drawn),
      cmocka_unit_test(a_request_gets_one_drawing_per_second),
      cmocka_unit_test(drawings_take_a_hundredth_of_the_time),
      cmocka_unit_test(many_requests_take_a_hundredth_of_the_time),
      cmocka_unit_test(a_request_that_is_not_repeated_ends),
      cmocka_unit_test(the_request_that_was_repeated_least_recently_is_replaced),
      cmocka_unit_test(a_sink_that_fails_draws_no_more),
      cmocka_unit_test(a_text_that_is_too_long_is_dropped),
      cmocka_unit_test(a_long_text_is_whole),
      cmocka_unit_test(a_sink_may_draw_nothing),
      cmocka_unit_test(threads_request_while_events_are_drawn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
