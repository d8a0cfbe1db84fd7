/* feed_ends_test.c: events from memory: waiting, the end of a run, and invalid calls. */
#define _GNU_SOURCE
#include "feed_case.h"

/* Threads that share the events. */
struct giver {
  struct sl_feed *feed;
  uint32_t first;
};
static void *give_some(void *argument) {
  const struct giver *giver = argument;
  for (uint32_t e = giver->first; e < EVENTS; e += 3) {
    const struct sl_feed_event event = event_of(e);
    uint64_t index = 0;
    if (sl_feed_give_event(giver->feed, &event, -1, &index) != 1) return argument;
    if (e % 50 == 0 && sl_feed_wait(giver->feed, index, -1) != 1) return argument;
  }
  return NULL;
}

static void several_threads_may_give_and_wait(void **state) {
  (void)state;
  struct released released;
  struct run run;
  const struct sl_options o = options_of(feed_count_graph);
  struct sl_feed *feed = new_feed(&released, 5);
  struct giver givers[3];
  pthread_t threads[3];
  start(&run, &o, feed);
  for (uint32_t i = 0; i < 3; i++) {
    givers[i] = (struct giver){feed, i};
    assert_int_equal(pthread_create(&threads[i], NULL, give_some, &givers[i]), 0);
  }
  for (uint32_t i = 0; i < 3; i++) {
    void *failed = NULL;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
  sl_feed_end(feed);
  struct result result = finish(&run);
  assert_clean(&result);
  assert_int_equal(result.events, EVENTS);
  assert_int_equal(atomic_load(&released.count), EVENTS);
  sl_feed_free(feed);
}

static void waiting_for_an_entry_returns_after_its_delivery(void **state) {
  (void)state;
  struct released released;
  struct run run;
  const struct sl_options o = options_of(feed_count_graph);
  struct sl_feed *feed = new_feed(&released, 0);
  start(&run, &o, feed);
  for (uint32_t e = 0; e < 20; e++) {
    const struct sl_feed_event event = event_of(e);
    uint64_t index = 0;
    assert_int_equal(sl_feed_give_event(feed, &event, -1, &index), 1);
    assert_int_equal(sl_feed_wait(feed, index, -1),
                     1); /* no other thread feeds: the run must not wait for a full slice */
    assert_int_equal(atomic_load(&run.delivered), e + 1);
    assert_int_equal(atomic_load(&released.count), e + 1);
  }
  assert_int_equal(sl_feed_wait(feed, 20, 1), 0);
  assert_int_equal(sl_feed_wait(feed, 20, 0), 0);
  sl_feed_end(feed);
  assert_int_equal(sl_feed_wait(feed, 20, -1), SL_EINTERRUPTED);
  struct result result = finish(&run);
  assert_clean(&result);
  assert_int_equal(sl_feed_wait(feed, 19, -1), 1);
  sl_feed_free(feed);
}

static void a_full_feed_accepts_no_entry(void **state) {
  (void)state;
  struct released released;
  const struct sl_feed_event event = event_of(1);
  struct sl_feed *feed = new_feed(&released, 2);
  struct run run;
  const struct sl_options o = options_of(feed_count_graph);
  assert_int_equal(sl_feed_give_event(feed, &event, 0, NULL), 1);
  assert_int_equal(sl_feed_give_event(feed, &event, 0, NULL), 1);
  assert_int_equal(sl_feed_give_event(feed, &event, 0, NULL), 0);
  assert_int_equal(sl_feed_give_event(feed, &event, 20, NULL), 0);
  start(&run, &o, feed);
  assert_int_equal(sl_feed_give_event(feed, &event, -1, NULL), 1); /* returns when the run has copied an entry */
  sl_feed_end(feed);
  assert_int_equal(sl_feed_give_event(feed, &event, -1, NULL), SL_EINTERRUPTED);
  sl_feed_end(feed);
  struct result result = finish(&run);
  assert_clean(&result);
  assert_int_equal(result.events, 3);
  assert_int_equal(atomic_load(&released.count), 3);
  sl_feed_free(feed);
}

static void invalid_calls_are_refused(void **state) {
  (void)state;
  struct sl_feed *feed = sl_feed_new(NULL);
  struct sl_feed_event event = event_of(0);
  event.size--;
  assert_int_equal(sl_feed_give_event(feed, &event, 0, NULL), SL_EINVAL);
  event = event_of(0);
  event.blocks = NULL;
  assert_int_equal(sl_feed_give_event(feed, &event, 0, NULL), SL_EINVAL);
  assert_int_equal(sl_feed_give_event(feed, NULL, 0, NULL), SL_EINVAL);
  assert_int_equal(sl_feed_give_packet(feed, NULL, 8, NULL, 0, NULL), SL_EINVAL);
  assert_null(sl_feed_new(&(struct sl_feed_options){.size = 1}));
  sl_feed_free(feed);
  sl_feed_free(NULL);
}

static void a_feed_that_ends_at_once_gives_a_run_without_events(void **state) {
  (void)state;
  struct run run;
  const struct sl_options o = options_of(feed_count_graph);
  struct sl_feed *feed = sl_feed_new(NULL);
  start(&run, &o, feed);
  sl_feed_free(feed); /* this ends the feed during the run */
  struct result result = finish(&run);
  assert_clean(&result);
  assert_int_equal(result.events, 0);
}

static void a_stopped_run_releases_all_entries(void **state) {
  (void)state;
  struct released released;
  struct run run;
  const struct sl_options o = options_of(feed_count_graph);
  struct sl_feed *feed = new_feed(&released, 0);
  start(&run, &o, feed);
  const struct sl_feed_event event = event_of(0);
  assert_int_equal(sl_feed_give_event(feed, &event, -1, NULL), 1);
  assert_int_equal(sl_feed_wait(feed, 0, -1), 1);
  sl_session_stop(run.session); /* the source waits for the next event */
  pthread_join(run.thread, NULL);
  assert_int_equal(run.status, SL_EINTERRUPTED);
  assert_int_equal(sl_feed_give_event(feed, &event, -1, NULL), SL_EINTERRUPTED);
  assert_int_equal(sl_feed_wait(feed, 1, -1), SL_EINTERRUPTED);
  assert_int_equal(atomic_load(&released.count), 1);
  sl_session_close(run.session);
  sl_diagnostics_free(run.diagnostics);
  sl_feed_free(feed);
}

/* The run fails while the source waits for an event and the program waits for a result. */
static void a_failed_run_wakes_waiting_threads(void **state) {
  (void)state;
  struct released released;
  struct run run;
  const struct sl_options o = options_of(feed_count_graph);
  struct sl_feed *feed = new_feed(&released, 0);
  const struct sl_feed_event event = event_of(0);
  start(&run, &o, feed);
  atomic_store(&run.answer, SL_EINVAL);
  assert_int_equal(sl_feed_give_event(feed, &event, -1, NULL), 1);
  assert_int_equal(sl_feed_wait(feed, 0, -1), SL_EINTERRUPTED);
  struct result result = finish(&run);
  assert_int_equal(result.status, SL_EINVAL);
  assert_int_equal(atomic_load(&released.count), 1);
  free(result.messages);
  sl_feed_free(feed);
}

static void timeout_s_ends_a_run_without_new_events(void **state) {
  (void)state;
  struct run run;
  struct sl_options o = options_of(
      "sluice: 1\n"
      "nodes:\n"
      "  raw: { use: io.feed_source, set: { timeout_s: 1 } }\n"
      "  count: { use: rich.count_bytes }\n"
      "outputs: [count]\n");
  struct sl_feed *feed = sl_feed_new(NULL);
  start(&run, &o, feed);
  struct result result = finish(&run);
  assert_int_equal(result.status, SL_EIO);
  assert_reported(&result, "no event was fed for 1 s, and the feed was not ended");
  free(result.messages);
  sl_feed_free(feed);
}

/* ------------------------------------------------------------------------------------------------- refusals */

static void assert_refused(const struct sl_options *o, const char *text) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_session *session = NULL;
  struct result result = {0};
  size_t size = 0;
  int status = sl_session_open(o, d, &session);
  if (status == SL_OK) status = sl_session_run(session);
  assert_true(status < 0);
  FILE *file = open_memstream(&result.messages, &size);
  sl_diagnostics_print(d, file);
  fclose(file);
  assert_reported(&result, text);
  free(result.messages);
  sl_session_close(session);
  sl_diagnostics_free(d);
}

static void options_that_contradict_a_feed_are_refused(void **state) {
  (void)state;
  struct released released;
  const struct sl_feed_event event = event_of(0);
  struct sl_options o = options_of(feed_count_graph);
  struct sl_feed *feed = o.feed = new_feed(&released, 0);
  assert_int_equal(sl_feed_give_event(feed, &event, 0, NULL), 1);
  o.input_paths = (const char *const[]){"events.mdf", NULL};
  assert_refused(&o, "a run with a feed reads no files, such as events.mdf");
  assert_int_equal(atomic_load(&released.count), 1); /* released, because no run will take it */
  assert_int_equal(sl_feed_give_event(feed, &event, -1, NULL), SL_EINTERRUPTED);
  o.input_paths = NULL;
  assert_refused(&o, "the feed belongs to another session");
  sl_feed_free(feed);

  feed = o.feed = sl_feed_new(NULL);
  o.uses = (const char *const[]){"raw=io.mep_source", NULL};
  assert_refused(&o, "io.mep_source does not take a feed");
  sl_feed_free(feed);

  o.feed = NULL;
  o.uses = (const char *const[]){"raw=io.feed_source", NULL};
  assert_refused(&o, "this run has no feed");
}

/* Another plugin also has a source for feeds, and precedes io in the order of plugins. */
static void the_source_of_a_feed_is_chosen_by_the_ports_that_are_read(void **state) {
  (void)state;
  static const char *const folders[] = {FOREIGN_FOLDER, IO_FOLDER, RICH_FOLDER, NULL};
  struct run run;
  struct sl_options o = options_of(
      "sluice: 1\n"
      "nodes:\n"
      "  raw: { use: afar.letter }\n"
      "  count: { use: rich.count_bytes }\n"
      "outputs: [count]\n");
  o.plugin_paths = folders;
  struct sl_feed *feed = sl_feed_new(NULL);
  start(&run, &o, feed);
  sl_feed_end(feed);
  struct result result = finish(&run);
  assert_int_equal(result.status, SL_OK);
  free(result.messages);
  sl_feed_free(feed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(several_threads_may_give_and_wait),
      cmocka_unit_test(the_source_of_a_feed_is_chosen_by_the_ports_that_are_read),
      cmocka_unit_test(waiting_for_an_entry_returns_after_its_delivery),
      cmocka_unit_test(a_full_feed_accepts_no_entry),
      cmocka_unit_test(invalid_calls_are_refused),
      cmocka_unit_test(a_feed_that_ends_at_once_gives_a_run_without_events),
      cmocka_unit_test(a_stopped_run_releases_all_entries),
      cmocka_unit_test(a_failed_run_wakes_waiting_threads),
      cmocka_unit_test(timeout_s_ends_a_run_without_new_events),
      cmocka_unit_test(options_that_contradict_a_feed_are_refused),
  };
  return cmocka_run_group_tests(tests, make_events, free_events);
}
