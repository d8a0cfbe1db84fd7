/* feed_reload_test.c: sl_session_reload while a program feeds events: each event once, in order, under one
 * configuration; what is wrong changes nothing. */
#define _GNU_SOURCE
#include "feed_case.h"

#include <sluice/plugin.h>

static const char other_graph[] =
    "sluice: 1\n"
    "nodes:\n"
    "  raw: { use: io.feed_source }\n"
    "  count: { use: rich.count_bytes }\n"
    "  again: { use: rich.count_bytes }\n"
    "outputs: [again, count]\n";

static struct sl_reload reload_of(const char *graph) {
  return (struct sl_reload){.size = sizeof(struct sl_reload),
                            .graph_path = "other.yaml",
                            .graph_text = graph,
                            .graph_text_bytes = graph ? strlen(graph) : 0};
}

/* Returns the status, and the messages to be freed. */
static int reload(struct run *run, const struct sl_reload *change, char **messages) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  size_t size = 0;
  int status = SL_EINTERRUPTED;
  for (int i = 0; status == SL_EINTERRUPTED && i < 10000; i++) { /* the run may not have begun */
    sl_diagnostics_free(d);
    d = sl_diagnostics_new();
    status = sl_session_reload(run->session, change, d);
    if (status == SL_EINTERRUPTED) (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
  FILE *file = open_memstream(messages, &size);
  sl_diagnostics_print(d, file);
  fclose(file);
  sl_diagnostics_free(d);
  return status;
}

static void give(struct sl_feed *feed, uint32_t first, uint32_t end) {
  uint64_t index = 0;
  for (uint32_t e = first; e < end; e++) {
    const struct sl_feed_event event = event_of(e);
    assert_int_equal(sl_feed_give_event(feed, &event, -1, &index), 1);
  }
  assert_int_equal(sl_feed_wait(feed, index, -1), 1);
}

/* Waits until the run has adopted a configuration: its note is among the messages. */
static void await_notes(const struct run *run, uint32_t count) {
  for (int i = 0; i < 20000; i++) {
    uint32_t notes = 0;
    for (size_t k = 0; k < sl_diagnostics_count(run->diagnostics); k++)
      notes += strstr(sl_diagnostics_at(run->diagnostics, k)->message, "configuration ") != NULL;
    if (notes >= count) return;
    (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
  fail_msg("no configuration has taken effect");
}

static void each_event_has_one_configuration(void **state) {
  (void)state;
  struct released released;
  struct run run;
  const struct sl_options o = options_of(feed_count_graph);
  const struct sl_reload change = reload_of(other_graph), back = {.size = sizeof back};
  struct sl_feed *feed = new_feed(&released, 0);
  char *messages = NULL;
  start(&run, &o, feed);
  give(feed, 0, 100);
  assert_int_equal(reload(&run, &change, &messages), SL_OK);
  free(messages);
  await_notes(&run, 1);
  give(feed, 100, 170);
  assert_int_equal(reload(&run, &back, &messages), SL_OK);
  assert_string_equal(messages, "");
  free(messages);
  await_notes(&run, 2);
  give(feed, 170, EVENTS);
  sl_feed_end(feed);
  pthread_join(run.thread, NULL);
  assert_int_equal(run.status, SL_OK);
  const struct sl_summary *sum = sl_session_summary(run.session);
  const uint64_t firsts[] = {0, 100, 170, EVENTS};
  assert_int_equal(sum->events, EVENTS);
  assert_int_equal(sum->configuration_count, 3);
  for (uint32_t i = 0; i < 3; i++) {
    assert_int_equal(sum->configurations[i].first_event, firsts[i]);
    assert_int_equal(sum->configurations[i].events, firsts[i + 1] - firsts[i]);
    assert_int_equal(sum->configurations[i].error_events, 0);
  }
  assert_int_equal(sum->configurations[2].graph_digest, sum->configurations[0].graph_digest);
  assert_int_not_equal(sum->configurations[1].graph_digest, sum->configurations[0].graph_digest);
  assert_string_equal(sum->configurations[1].changes,
                      "again: new, rich.count_bytes\noutputs: [count.counted] -> [again.counted, count.counted]\n");
  assert_string_equal(sum->configurations[2].changes,
                      "again: removed\noutputs: [again.counted, count.counted] -> [count.counted]\n");
  assert_non_null(strstr(sum->configurations[1].json, "\"port\": \"again\""));
  assert_int_equal(atomic_load(&released.count), EVENTS);
  assert_int_equal(atomic_load(&run.delivered), EVENTS);
  for (uint32_t e = 0; e < EVENTS; e++) assert_ptr_equal(released.owners[e], owner_of(e));
  sl_session_close(run.session);
  sl_diagnostics_free(run.diagnostics);
  sl_feed_free(feed);
}

static void a_wrong_configuration_changes_nothing(void **state) {
  (void)state;
  static const struct {
    const char *graph, *message;
    int status;
  } cases[] = {
      {"sluice: 1\nnodes:\n  raw: { use: io.feed_source }\n  count: { use: rich.count_byte }\n",
       "other.yaml:4:17: error: node count: ", SL_EGRAPH},
      {"sluice: 1\nnodes:\n  raw: { use: io.feed_source, set: { strict: true } }\n  count: { use: rich.count_bytes }\n"
       "outputs: [count]\n",
       "the source cannot change while the run goes on: raw.strict: false -> true", SL_EINVAL},
      {"sluice: 1\nnodes:\n  other: { use: io.feed_source }\n  count: { use: rich.count_bytes }\noutputs: [count]\n",
       "the source cannot change while the run goes on: ", SL_EINVAL},
  };
  struct run run;
  const struct sl_options o = options_of(feed_count_graph);
  struct sl_feed *feed = sl_feed_new(NULL);
  start(&run, &o, feed);
  give(feed, 0, 150);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct sl_reload change = reload_of(cases[i].graph);
    char *messages = NULL;
    assert_int_equal(reload(&run, &change, &messages), cases[i].status);
    if (!strstr(messages, cases[i].message)) fail_msg("%s", messages);
    free(messages);
  }
  const char *const sets[] = {"runtime.families=off", "count.block", NULL};
  struct sl_reload change = {.size = sizeof change, .sets = sets};
  char *messages = NULL;
  assert_int_equal(reload(&run, &change, &messages), SL_EGRAPH);
  assert_non_null(strstr(messages, "--set count.block: there is no '='"));
  free(messages);
  const char *const settings[] = {"runtime.families=off", NULL};
  change.sets = settings;
  assert_int_equal(reload(&run, &change, &messages), SL_EGRAPH);
  assert_non_null(strstr(messages, "--set runtime.families=off: settings of runtime and device stay during a run"));
  free(messages);
  change.size = 8;
  assert_int_equal(reload(&run, &change, &messages), SL_EINVAL);
  free(messages);
  give(feed, 150, EVENTS);
  sl_feed_end(feed);
  struct result result = finish(&run);
  assert_clean(&result);
  assert_int_equal(result.events, EVENTS);
  assert_int_equal(result.digest, digest_of_file(1));
  sl_feed_free(feed);
}

static void only_a_run_can_be_changed(void **state) {
  (void)state;
  struct sl_options o = options_of(feed_count_graph);
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_session *session = NULL;
  const struct sl_reload same = {.size = sizeof same};
  struct sl_feed *feed = sl_feed_new(NULL);
  o.feed = feed;
  assert_int_equal(sl_session_open(&o, d, &session), SL_OK);
  assert_int_equal(sl_session_reload(session, &same, d), SL_EINTERRUPTED);
  sl_feed_end(feed);
  assert_int_equal(sl_session_run(session), SL_OK);
  assert_int_equal(sl_session_reload(session, &same, d), SL_EINTERRUPTED);
  assert_int_equal(sl_diagnostics_errors(d), 2);
  sl_session_close(session);
  sl_diagnostics_free(d);
  sl_feed_free(feed);
}

/* A thread that changes the configuration until it is stopped. */
struct changer {
  struct run *run;
  atomic_int has_ended;
  uint32_t count;
};

static void *change_often(void *argument) {
  struct changer *changer = argument;
  const struct sl_reload changes[] = {reload_of(other_graph), {.size = sizeof(struct sl_reload)}};
  while (!atomic_load(&changer->has_ended)) {
    struct sl_diagnostics *d = sl_diagnostics_new();
    if (sl_session_reload(changer->run->session, &changes[changer->count % 2], d) == SL_OK) changer->count++;
    sl_diagnostics_free(d);
  }
  return NULL;
}

static void changes_from_two_threads_lose_no_event(void **state) {
  (void)state;
  struct run run;
  const struct sl_options o = options_of(feed_count_graph);
  struct sl_feed *feed = sl_feed_new(NULL);
  pthread_t threads[2];
  start(&run, &o, feed);
  struct changer changers[2] = {{.run = &run}, {.run = &run}};
  for (uint32_t i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, change_often, &changers[i]), 0);
  for (uint32_t first = 0; first < EVENTS; first += 10) {
    if (first == EVENTS / 2) await_notes(&run, 2); /* reading a graph may take longer than all events */
    give(feed, first, first + 10);
  }
  for (uint32_t i = 0; i < 2; i++) atomic_store(&changers[i].has_ended, 1);
  for (uint32_t i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  sl_feed_end(feed);
  pthread_join(run.thread, NULL);
  const struct sl_summary *sum = sl_session_summary(run.session);
  uint64_t events = 0;
  assert_int_equal(run.status, SL_OK);
  for (uint32_t i = 0; i < sum->configuration_count; i++) events += sum->configurations[i].events;
  assert_int_equal(events, EVENTS);
  assert_int_equal(sum->events, EVENTS);
  assert_int_equal(atomic_load(&run.delivered), EVENTS);
  assert_true(sum->configuration_count > 2);
  assert_true(sum->configuration_count <= 1 + changers[0].count + changers[1].count);
  sl_session_close(run.session);
  sl_diagnostics_free(run.diagnostics);
  sl_feed_free(feed);
}

/* Views of the first batch of each configuration. */
enum { KEPT_MAX = 8 };
struct kept {
  atomic_uint count;
  const struct sl_event *events[KEPT_MAX];
  const uint32_t *offsets[KEPT_MAX];
};

static int keep(void *context, const struct sl_batch *batch) {
  struct kept *kept = context;
  const uint32_t c = batch->configuration;
  if (c >= KEPT_MAX || kept->events[c]) return 0;
  kept->events[c] = batch->events;
  kept->offsets[c] = batch->outputs[0].fields[0];
  atomic_fetch_add(&kept->count, 1);
  return 0;
}

/* AddressSanitizer finds memory that was freed. */
static void memory_of_batches_is_kept(void **state) {
  (void)state;
  struct run run;
  struct kept kept = {0};
  struct sl_options o = options_of(feed_count_graph);
  struct sl_feed *feed = sl_feed_new(NULL);
  const struct sl_reload changes[] = {reload_of(other_graph), {.size = sizeof(struct sl_reload)}};
  o.keeps_batches = 1;
  o.on_batch = keep;
  o.context = &kept;
  start(&run, &o, feed);
  for (uint32_t i = 0; i < 6; i++) {
    char *messages = NULL;
    uint64_t sum = 0;
    give(feed, 20 * i, 20 * i + 20);
    const uint32_t count = atomic_load(&kept.count);
    assert_int_equal(count, i + 1);
    for (uint32_t k = i < 3 ? 0 : 3; k < count; k++) sum += kept.events[k]->run + kept.offsets[k][0];
    assert_true(sum < UINT64_MAX);
    if (i == 2) sl_session_release_batches(run.session);
    assert_int_equal(reload(&run, &changes[i % 2], &messages), SL_OK);
    free(messages);
    await_notes(&run, i + 1);
  }
  sl_feed_end(feed);
  struct result result = finish(&run);
  assert_int_equal(result.status, SL_OK);
  free(result.messages);
  sl_feed_free(feed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_of_batches_is_kept), cmocka_unit_test(each_event_has_one_configuration),
      cmocka_unit_test(a_wrong_configuration_changes_nothing), cmocka_unit_test(only_a_run_can_be_changed),
      cmocka_unit_test(changes_from_two_threads_lose_no_event)};
  return cmocka_run_group_tests(tests, make_events, free_events);
}
