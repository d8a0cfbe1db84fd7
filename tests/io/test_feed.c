/* test_feed.c: events from the program's memory: the same results as from files, whatever slices, slots and threads;
 * who waits for whom; who gets memory back; what is wrong with an event, a packet or a call. */
#define _GNU_SOURCE
#include "mep_writer.h"
#include "scratch.h"

#include <sluice/sluice.h>

#include <io/raw_banks.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { EVENTS = 300, BANKS_MAX = 8, PACKET_EVENTS = 40, SUBSYSTEM = 20 << 11 };

static const char count_graph[] =
    "sluice: 1\n"
    "nodes:\n"
    "  raw: { use: io.mdf_source }\n"
    "  count: { use: rich.count_bytes }\n"
    "outputs: [count]\n";
static const char copy_graph[] =
    "sluice: 1\n"
    "nodes:\n"
    "  raw: { use: io.mdf_source }\n"
    "  count: { use: rich.count_bytes }\n"
    "  copy: { use: io.mdf_sink }\n"
    "outputs: [count]\n";

/* --------------------------------------------------------------------------------------------------- events */

/* The events as MDF bodies, and as blocks that point into them. */
static struct bytes bodies[EVENTS];
static struct sl_feed_block blocks[EVENTS][BANKS_MAX];
static uint32_t block_counts[EVENTS];

/* 0 to 4 banks that the graph reads, of growing size, and one that nobody knows. */
static struct bytes body_of(uint32_t number) {
  uint8_t payload[64];
  struct bytes body = {0};
  memset(payload, (int)number, sizeof payload);
  add_odin(&body, 7, 1000, number);
  for (uint16_t i = 0; i < number % 5; i++)
    add_bank(&body, 9, 1, (uint16_t)(SUBSYSTEM + i), payload, (uint16_t)(i * 11 + number % 7));
  add_bank(&body, 90, 1, SUBSYSTEM + 9, payload, 5);
  return body;
}

static int make_events(void **state) {
  (void)state;
  for (uint32_t e = 0; e < EVENTS; e++) {
    bodies[e] = body_of(e);
    for (size_t at = 0; at < bodies[e].size;) {
      uint16_t length, source;
      memcpy(&length, bodies[e].data + at + 2, sizeof length);
      memcpy(&source, bodies[e].data + at + 6, sizeof source);
      blocks[e][block_counts[e]++] =
          (struct sl_feed_block){bodies[e].data + at + IO_BANK_HEADER_BYTES, length - IO_BANK_HEADER_BYTES, source,
                                 bodies[e].data[at + 4], bodies[e].data[at + 5]};
      at += (length + 3u) & ~3u;
    }
  }
  return 0;
}

static int free_events(void **state) {
  (void)state;
  for (uint32_t e = 0; e < EVENTS; e++) bytes_free(&bodies[e]);
  return 0;
}

static struct sl_feed_event event_of(uint32_t e) {
  return (struct sl_feed_event){
      .size = sizeof(struct sl_feed_event), .block_count = block_counts[e], .blocks = blocks[e], .owner = &bodies[e]};
}

/* The same events as packets of PACKET_EVENTS. */
static struct bytes packet_of(uint32_t first) {
  struct bytes packet = {0};
  const struct packet_style style = {.alignment = 2, .event_id = 5000 + first};
  const uint32_t count = EVENTS - first < PACKET_EVENTS ? EVENTS - first : PACKET_EVENTS;
  add_packet(&packet, &style, &bodies[first], count);
  return packet;
}

/* ----------------------------------------------------------------------------------------------------- runs */

struct result {
  int status;
  uint64_t digest, events, error_events, run_sum, number_sum;
  char *messages;
};

struct run {
  struct sl_options options;
  struct sl_diagnostics *diagnostics;
  struct sl_session *session;
  pthread_t thread;
  int status;
  atomic_uint delivered;
  atomic_int answer; /* of on_batch */
};

static int on_batch(void *context, const struct sl_batch *batch) {
  struct run *run = context;
  atomic_fetch_add(&run->delivered, batch->event_count);
  return atomic_load(&run->answer);
}

static struct sl_options options_of(const char *graph) {
  static const char *const folders[] = {IO_FOLDER, RICH_FOLDER, NULL};
  struct sl_options o = sl_options_default();
  o.graph_path = "feed.yaml";
  o.graph_text = graph;
  o.graph_text_bytes = strlen(graph);
  o.plugin_paths = folders;
  o.digest = 1;
  o.slots = 3;
  o.slice_events = 7;
  o.source_threads = 2;
  return o;
}

static void *run_session(void *argument) {
  struct run *run = argument;
  run->status = sl_session_run(run->session);
  return NULL;
}

static void start(struct run *run, const struct sl_options *options, struct sl_feed *feed) {
  *run = (struct run){.options = *options, .diagnostics = sl_diagnostics_new()};
  run->options.feed = feed;
  run->options.context = run;
  run->options.on_batch = on_batch;
  const int status = sl_session_open(&run->options, run->diagnostics, &run->session);
  if (status != SL_OK) sl_diagnostics_print(run->diagnostics, stderr);
  assert_int_equal(status, SL_OK);
  assert_int_equal(pthread_create(&run->thread, NULL, run_session, run), 0);
}

static struct result finish(struct run *run) {
  struct result result = {0};
  size_t size = 0;
  pthread_join(run->thread, NULL);
  const struct sl_summary *sum = sl_session_summary(run->session);
  assert_int_equal(sum->size, sizeof *sum);
  result.status = run->status;
  result.events = sum->events;
  result.error_events = sum->error_events;
  result.digest = sum->output_count ? sum->outputs[0].digest : 0;
  FILE *file = open_memstream(&result.messages, &size);
  sl_diagnostics_print(run->diagnostics, file);
  fclose(file);
  sl_session_close(run->session);
  sl_diagnostics_free(run->diagnostics);
  return result;
}

static void assert_clean(struct result *result) {
  if (*result->messages) fail_msg("%s", result->messages);
  assert_int_equal(result->status, SL_OK);
  free(result->messages);
}

static void assert_told(struct result *result, const char *text) {
  if (!strstr(result->messages, text)) fail_msg("no message holds \"%s\"; they are:\n%s", text, result->messages);
}

/* What a file of the events, or a copy of it, gives. */
static struct result run_file(const char *path) {
  struct run run;
  struct sl_options o = options_of(count_graph);
  o.input_paths = (const char *const[]){path, NULL};
  start(&run, &o, NULL);
  return finish(&run);
}

static uint64_t digest_of_file(void) {
  static uint64_t digest;
  if (digest) return digest;
  char path[SCRATCH_PATH_MAX];
  struct bytes file = {0};
  for (uint32_t e = 0; e < EVENTS; e++)
    add_record(&file, &bodies[e], &(struct record_style){.version = 3, .run = 1000});
  scratch_file(path);
  FILE *out = fopen(path, "wb");
  assert_non_null(out);
  assert_int_equal(fwrite(file.data, 1, file.size, out), file.size);
  fclose(out);
  struct result result = run_file(path);
  assert_clean(&result);
  assert_int_equal(result.events, EVENTS);
  digest = result.digest;
  bytes_free(&file);
  return digest;
}

/* ------------------------------------------------------------------------------------------------- released */

/* What on_release got, in order. */
struct released {
  atomic_uint count;
  void *owners[2 * EVENTS];
};

static void on_release(void *context, void *owner) {
  struct released *released = context;
  const uint32_t n = atomic_load(&released->count);
  if (n < 2 * EVENTS) released->owners[n] = owner;
  atomic_store(&released->count, n + 1);
}

static struct sl_feed *new_feed(struct released *released, uint32_t entries_max) {
  memset(released, 0, sizeof *released);
  struct sl_feed *feed = sl_feed_new(&(struct sl_feed_options){.size = sizeof(struct sl_feed_options),
                                                               .entries_max = entries_max,
                                                               .context = released,
                                                               .on_release = on_release});
  assert_non_null(feed);
  return feed;
}

static void give_all(struct sl_feed *feed) {
  for (uint32_t e = 0; e < EVENTS; e++) {
    const struct sl_feed_event event = event_of(e);
    uint64_t index = 0;
    assert_int_equal(sl_feed_give_event(feed, &event, -1, &index), 1);
    assert_int_equal(index, e);
  }
}

/* ---------------------------------------------------------------------------------------------------- cases */

static void events_from_memory_give_what_their_file_gives(void **state) {
  (void)state;
  const uint32_t slice_events[] = {1, 7, 1000}, entries_max[] = {1, 10, 0};
  for (uint32_t i = 0; i < 3; i++) {
    struct released released;
    struct run run;
    struct sl_options o = options_of(count_graph);
    struct sl_feed *feed = new_feed(&released, entries_max[i]);
    o.slice_events = slice_events[i];
    o.guard = i == 1;
    start(&run, &o, feed);
    give_all(feed);
    sl_feed_end(feed);
    struct result result = finish(&run);
    assert_clean(&result);
    assert_int_equal(result.events, EVENTS);
    assert_int_equal(result.digest, digest_of_file());
    assert_int_equal(atomic_load(&released.count), EVENTS);
    for (uint32_t e = 0; e < EVENTS; e++) assert_ptr_equal(released.owners[e], &bodies[e]);
    sl_feed_free(feed);
  }
}

static void packets_give_the_same_and_may_stand_among_events(void **state) {
  (void)state;
  for (uint32_t packets_first = 0; packets_first < 2; packets_first++) {
    struct released released;
    struct run run;
    const struct sl_options o = options_of(count_graph);
    struct sl_feed *feed = new_feed(&released, 4);
    struct bytes packets[EVENTS / PACKET_EVENTS + 1];
    uint32_t packet_count = 0, entries = 0;
    start(&run, &o, feed);
    for (uint32_t first = 0; first < EVENTS; first += PACKET_EVENTS) {
      const int as_events = packets_first && first / PACKET_EVENTS % 2;
      packets[packet_count] = packet_of(first);
      for (uint32_t e = first; as_events && e < first + PACKET_EVENTS && e < EVENTS; e++, entries++)
        assert_int_equal(sl_feed_give_event(feed, &(const struct sl_feed_event[]){event_of(e)}[0], -1, NULL), 1);
      if (!as_events)
        assert_int_equal(
            sl_feed_give_packet(feed, packets[packet_count].data, packets[packet_count].size, NULL, -1, NULL), 1);
      entries += !as_events;
      packet_count++;
    }
    assert_int_equal(sl_feed_wait(feed, entries - 2, -1), 1);
    sl_feed_end(feed);
    struct result result = finish(&run);
    assert_clean(&result);
    assert_int_equal(result.events, EVENTS);
    assert_int_equal(result.digest, digest_of_file());
    assert_int_equal(atomic_load(&released.count), entries);
    sl_feed_free(feed);
    for (uint32_t i = 0; i < packet_count; i++) bytes_free(&packets[i]);
  }
}

static void a_copy_of_the_raw_events_is_theirs(void **state) {
  (void)state;
  char path[SCRATCH_PATH_MAX];
  struct run run;
  struct sl_options o = options_of(copy_graph);
  struct sl_feed *feed = sl_feed_new(NULL);
  scratch_file(path);
  o.output_path = path;
  start(&run, &o, feed);
  give_all(feed);
  sl_feed_end(feed);
  struct result result = finish(&run);
  assert_clean(&result);
  sl_feed_free(feed);
  struct result copy = run_file(path);
  assert_clean(&copy);
  assert_int_equal(copy.events, EVENTS);
  assert_int_equal(copy.digest, digest_of_file());
}

/* Threads that give the events between them. */
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
  const struct sl_options o = options_of(count_graph);
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

static void who_waits_for_an_entry_finds_it_delivered(void **state) {
  (void)state;
  struct released released;
  struct run run;
  const struct sl_options o = options_of(count_graph);
  struct sl_feed *feed = new_feed(&released, 0);
  start(&run, &o, feed);
  for (uint32_t e = 0; e < 20; e++) {
    const struct sl_feed_event event = event_of(e);
    uint64_t index = 0;
    assert_int_equal(sl_feed_give_event(feed, &event, -1, &index), 1);
    assert_int_equal(sl_feed_wait(feed, index, -1), 1); /* nobody else feeds: it does not wait for a full slice */
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

static void a_full_feed_takes_no_more(void **state) {
  (void)state;
  struct released released;
  const struct sl_feed_event event = event_of(1);
  struct sl_feed *feed = new_feed(&released, 2);
  struct run run;
  const struct sl_options o = options_of(count_graph);
  assert_int_equal(sl_feed_give_event(feed, &event, 0, NULL), 1);
  assert_int_equal(sl_feed_give_event(feed, &event, 0, NULL), 1);
  assert_int_equal(sl_feed_give_event(feed, &event, 0, NULL), 0);
  assert_int_equal(sl_feed_give_event(feed, &event, 20, NULL), 0);
  start(&run, &o, feed);
  assert_int_equal(sl_feed_give_event(feed, &event, -1, NULL), 1); /* as soon as the run has packed some */
  sl_feed_end(feed);
  assert_int_equal(sl_feed_give_event(feed, &event, -1, NULL), SL_EINTERRUPTED);
  sl_feed_end(feed);
  struct result result = finish(&run);
  assert_clean(&result);
  assert_int_equal(result.events, 3);
  assert_int_equal(atomic_load(&released.count), 3);
  sl_feed_free(feed);
}

static void bad_calls_are_refused(void **state) {
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

/* An event that cannot be read is one with an error, and so are those of a packet. */
static void bad_events_are_told_with_their_place(void **state) {
  (void)state;
  static const struct sl_feed_block null_block = {NULL, 4, 1, 9, 1}, tae = {"12345678", 8, 1, 48, 1};
  static uint8_t large[70000];
  const struct sl_feed_block long_block = {large, sizeof large, 2, 9, 1};
  const struct sl_feed_block *const bad[] = {&null_block, &long_block, &tae, NULL};
  struct released released;
  struct run run;
  const struct sl_options o = options_of(count_graph);
  struct sl_feed *feed = new_feed(&released, 0);
  struct bytes packet = packet_of(0);
  packet.data[8] ^= 1; /* its list names another source than the block */
  start(&run, &o, feed);
  for (uint32_t i = 0; i < 4; i++) {
    const struct sl_feed_event good = event_of(i), event = {.size = sizeof event,
                                                            .block_count = bad[i] != NULL,
                                                            .blocks = bad[i],
                                                            .number = 700 + i,
                                                            .run = 3};
    assert_int_equal(sl_feed_give_event(feed, &good, -1, NULL), 1);
    assert_int_equal(sl_feed_give_event(feed, &event, -1, NULL), 1);
  }
  assert_int_equal(sl_feed_give_packet(feed, packet.data, packet.size, NULL, -1, NULL), 1);
  assert_int_equal(sl_feed_give_packet(feed, packet.data, 100, NULL, -1, NULL), 1);
  assert_int_equal(sl_feed_give_packet(feed, packet.data, 3, NULL, -1, NULL), 1);
  sl_feed_end(feed);
  struct result result = finish(&run);
  assert_int_equal(result.status, SL_OK);
  assert_told(&result, "entry 1 of the feed (event 700): bank 0 (type 9, source 1): no data for its 4 bytes");
  assert_told(&result, "entry 3 of the feed (event 701): bank 0 (type 9, source 2): 70000 bytes, a raw bank may have");
  assert_told(&result, "entry 5 of the feed (event 702): bank 0 is the header of a TAE window");
  assert_told(&result, "entry 7 of the feed (event 703): the event has no banks");
  assert_told(&result, "entry 8 of the feed (events 5000 to 5039): block 0 of the packet: source 0x");
  assert_told(&result, "the packet has 100 bytes, its header says ");
  assert_told(&result, "entry 10 of the feed (event 10): a packet of 3 bytes has no room for its header");
  assert_int_equal(atomic_load(&released.count), 11);
  free(result.messages);
  bytes_free(&packet);
  sl_feed_free(feed);
}

/* Without ODIN the program says who an event is. */
static void an_event_without_odin_has_the_programs_number(void **state) {
  (void)state;
  static uint8_t bytes[4000 * 4];
  const struct sl_feed_block block = {bytes, sizeof bytes, 1, 9, 1};
  const struct sl_feed_block two[] = {block, block};
  const struct sl_feed_event event = {.size = sizeof event,
                                      .block_count = 2,
                                      .blocks = two,
                                      .number = 99,
                                      .run = 12}; /* more words than one may have */
  struct run run;
  const struct sl_options o = options_of(count_graph);
  struct sl_feed *feed = sl_feed_new(NULL);
  const struct sl_feed_event good = event_of(1);
  start(&run, &o, feed);
  assert_int_equal(sl_feed_give_event(feed, &event, -1, NULL), 1);
  assert_int_equal(sl_feed_give_event(feed, &good, -1, NULL), 1);
  sl_feed_end(feed);
  struct result result = finish(&run);
  assert_int_equal(result.status, SL_OK);
  assert_int_equal(result.events, 2);
  assert_int_equal(result.error_events, 1);
  assert_told(&result, "entry 0 of the feed (event 99): has 8000 words of rich, an event may have 4096");
  free(result.messages);
  sl_feed_free(feed);
}

/* --------------------------------------------------------------------------------------------- ends of a run */

static void a_feed_that_is_ended_at_once_is_a_run_of_no_event(void **state) {
  (void)state;
  struct run run;
  const struct sl_options o = options_of(count_graph);
  struct sl_feed *feed = sl_feed_new(NULL);
  start(&run, &o, feed);
  sl_feed_free(feed); /* which ends it, while the run goes on */
  struct result result = finish(&run);
  assert_clean(&result);
  assert_int_equal(result.events, 0);
}

static void a_stopped_run_gives_everything_back(void **state) {
  (void)state;
  struct released released;
  struct run run;
  const struct sl_options o = options_of(count_graph);
  struct sl_feed *feed = new_feed(&released, 0);
  start(&run, &o, feed);
  const struct sl_feed_event event = event_of(0);
  assert_int_equal(sl_feed_give_event(feed, &event, -1, NULL), 1);
  assert_int_equal(sl_feed_wait(feed, 0, -1), 1);
  sl_session_stop(run.session); /* while it waits for the next event */
  pthread_join(run.thread, NULL);
  assert_int_equal(run.status, SL_EINTERRUPTED);
  assert_int_equal(sl_feed_give_event(feed, &event, -1, NULL), SL_EINTERRUPTED);
  assert_int_equal(sl_feed_wait(feed, 1, -1), SL_EINTERRUPTED);
  assert_int_equal(atomic_load(&released.count), 1);
  sl_session_close(run.session);
  sl_diagnostics_free(run.diagnostics);
  sl_feed_free(feed);
}

/* The run fails while the source waits for an event, and the program for the results of one. */
static void a_run_that_fails_wakes_who_waits(void **state) {
  (void)state;
  struct released released;
  struct run run;
  const struct sl_options o = options_of(count_graph);
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

static void the_first_events_may_be_all_that_is_wanted(void **state) {
  (void)state;
  struct released released;
  struct run run;
  struct sl_options o = options_of(count_graph);
  struct sl_feed *feed = new_feed(&released, 0);
  o.events = 10;
  give_all(feed);
  start(&run, &o, feed);
  struct result result = finish(&run);
  assert_clean(&result);
  assert_int_equal(result.events, 10);
  assert_int_equal(atomic_load(&released.count), EVENTS);
  assert_int_equal(sl_feed_wait(feed, 9, -1), 1);
  assert_int_equal(sl_feed_wait(feed, 10, -1), SL_EINTERRUPTED);
  sl_feed_free(feed);
}

static void silence_ends_a_run_that_is_not_to_wait_for_ever(void **state) {
  (void)state;
  struct run run;
  struct sl_options o = options_of(
      "sluice: 1\n"
      "nodes:\n"
      "  raw: { use: io.feed_source, set: { silence_s: 1 } }\n"
      "  count: { use: rich.count_bytes }\n"
      "outputs: [count]\n");
  struct sl_feed *feed = sl_feed_new(NULL);
  start(&run, &o, feed);
  struct result result = finish(&run);
  assert_int_equal(result.status, SL_EIO);
  assert_told(&result, "nothing was fed for 1 s, and the feed was not ended");
  free(result.messages);
  sl_feed_free(feed);
}

static void slices_of_a_feed_can_be_repeated(void **state) {
  (void)state;
  struct run run;
  struct sl_options o = options_of(count_graph);
  struct sl_feed *feed = sl_feed_new(NULL);
  o.repeat = 3;
  give_all(feed);
  sl_feed_end(feed);
  start(&run, &o, feed);
  struct result result = finish(&run);
  assert_clean(&result);
  assert_int_equal(result.digest, digest_of_file());
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
  assert_told(&result, text);
  free(result.messages);
  sl_session_close(session);
  sl_diagnostics_free(d);
}

static void what_does_not_fit_a_feed_is_refused(void **state) {
  (void)state;
  struct released released;
  const struct sl_feed_event event = event_of(0);
  struct sl_options o = options_of(count_graph);
  struct sl_feed *feed = o.feed = new_feed(&released, 0);
  assert_int_equal(sl_feed_give_event(feed, &event, 0, NULL), 1);
  o.input_paths = (const char *const[]){"events.mdf", NULL};
  assert_refused(&o, "a run with a feed reads no files, such as events.mdf");
  assert_int_equal(atomic_load(&released.count), 1); /* nobody else will take it */
  assert_int_equal(sl_feed_give_event(feed, &event, -1, NULL), SL_EINTERRUPTED);
  o.input_paths = NULL;
  assert_refused(&o, "the feed is that of another session");
  sl_feed_free(feed);

  feed = o.feed = sl_feed_new(NULL);
  o.uses = (const char *const[]){"raw=io.mep_source", NULL};
  assert_refused(&o, "io.mep_source takes no feed");
  sl_feed_free(feed);

  o.feed = NULL;
  o.uses = (const char *const[]){"raw=io.feed_source", NULL};
  assert_refused(&o, "this run has none");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(events_from_memory_give_what_their_file_gives),
      cmocka_unit_test(packets_give_the_same_and_may_stand_among_events),
      cmocka_unit_test(a_copy_of_the_raw_events_is_theirs),
      cmocka_unit_test(several_threads_may_give_and_wait),
      cmocka_unit_test(who_waits_for_an_entry_finds_it_delivered),
      cmocka_unit_test(a_full_feed_takes_no_more),
      cmocka_unit_test(bad_calls_are_refused),
      cmocka_unit_test(bad_events_are_told_with_their_place),
      cmocka_unit_test(an_event_without_odin_has_the_programs_number),
      cmocka_unit_test(a_feed_that_is_ended_at_once_is_a_run_of_no_event),
      cmocka_unit_test(a_stopped_run_gives_everything_back),
      cmocka_unit_test(a_run_that_fails_wakes_who_waits),
      cmocka_unit_test(the_first_events_may_be_all_that_is_wanted),
      cmocka_unit_test(silence_ends_a_run_that_is_not_to_wait_for_ever),
      cmocka_unit_test(slices_of_a_feed_can_be_repeated),
      cmocka_unit_test(what_does_not_fit_a_feed_is_refused),
  };
  return cmocka_run_group_tests(tests, make_events, free_events);
}
