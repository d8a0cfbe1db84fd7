/* feed_case.c: see feed_case.h. */
#define _GNU_SOURCE
#include "feed_case.h"

#include "scratch.h"

#include <io/raw_banks.h>

enum { BANKS_MAX = 8, SUBSYSTEM = 20 << 11 };

const char feed_count_graph[] =
    "sluice: 1\n"
    "nodes:\n"
    "  raw: { use: io.mdf_source }\n"
    "  count: { use: rich.count_bytes }\n"
    "outputs: [count]\n";
const char feed_copy_graph[] =
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

/* 0 to 4 banks that the graph reads, of increasing size, and one of a type that no plugin reads. */
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

int make_events(void **state) {
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

int free_events(void **state) {
  (void)state;
  for (uint32_t e = 0; e < EVENTS; e++) bytes_free(&bodies[e]);
  return 0;
}

struct sl_feed_event event_of(uint32_t e) {
  return (struct sl_feed_event){
      .size = sizeof(struct sl_feed_event), .block_count = block_counts[e], .blocks = blocks[e], .owner = &bodies[e]};
}

const void *owner_of(uint32_t e) { return &bodies[e]; }

struct bytes packet_of(uint32_t first, uint32_t count) {
  struct bytes packet = {0};
  const struct packet_style style = {.alignment = 2, .event_id = 5000 + first};
  add_packet(&packet, &style, &bodies[first], EVENTS - first < count ? EVENTS - first : count);
  return packet;
}

/* ----------------------------------------------------------------------------------------------------- runs */

static int on_batch(void *context, const struct sl_batch *batch) {
  struct run *run = context;
  atomic_fetch_add(&run->delivered, batch->event_count);
  return atomic_load(&run->answer);
}

struct sl_options options_of(const char *graph) {
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

void start(struct run *run, const struct sl_options *options, struct sl_feed *feed) {
  *run = (struct run){.options = *options, .diagnostics = sl_diagnostics_new()};
  run->options.feed = feed;
  if (!run->options.on_batch) {
    run->options.context = run;
    run->options.on_batch = on_batch;
  }
  const int status = sl_session_open(&run->options, run->diagnostics, &run->session);
  if (status != SL_OK) sl_diagnostics_print(run->diagnostics, stderr);
  assert_int_equal(status, SL_OK);
  assert_int_equal(pthread_create(&run->thread, NULL, run_session, run), 0);
}

struct result finish(struct run *run) {
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

void assert_clean(struct result *result) {
  if (*result->messages) fail_msg("%s", result->messages);
  assert_int_equal(result->status, SL_OK);
  free(result->messages);
}

void assert_reported(struct result *result, const char *text) {
  if (!strstr(result->messages, text)) fail_msg("no message holds \"%s\"; they are:\n%s", text, result->messages);
}

struct result run_file(const char *path, uint32_t passes) {
  struct run run;
  struct sl_options o = options_of(feed_count_graph);
  char set[32];
  snprintf(set, sizeof set, "raw.passes=%u", passes);
  o.input_paths = (const char *const[]){path, NULL};
  o.sets = (const char *const[]){set, NULL};
  start(&run, &o, NULL);
  return finish(&run);
}

uint64_t digest_of_file(uint32_t passes) {
  char path[SCRATCH_PATH_MAX];
  struct bytes file = {0};
  for (uint32_t e = 0; e < EVENTS; e++)
    add_record(&file, &bodies[e], &(struct record_style){.version = 3, .run = 1000});
  scratch_file(path);
  FILE *out = fopen(path, "wb");
  assert_non_null(out);
  assert_int_equal(fwrite(file.data, 1, file.size, out), file.size);
  fclose(out);
  struct result result = run_file(path, passes);
  assert_clean(&result);
  assert_int_equal(result.events, passes * EVENTS);
  bytes_free(&file);
  return result.digest;
}

/* ------------------------------------------------------------------------------------------------- released */

static void on_release(void *context, void *owner) {
  struct released *released = context;
  const uint32_t n = atomic_load(&released->count);
  if (n < 2 * EVENTS) released->owners[n] = owner;
  atomic_store(&released->count, n + 1);
}

struct sl_feed *new_feed(struct released *released, uint32_t entries_max) {
  memset(released, 0, sizeof *released);
  struct sl_feed *feed = sl_feed_new(&(struct sl_feed_options){.size = sizeof(struct sl_feed_options),
                                                               .entries_max = entries_max,
                                                               .context = released,
                                                               .on_release = on_release});
  assert_non_null(feed);
  return feed;
}

void give_all(struct sl_feed *feed, uint64_t index) {
  for (uint32_t e = 0; e < EVENTS; e++) {
    const struct sl_feed_event event = event_of(e);
    uint64_t given = 0;
    assert_int_equal(sl_feed_give_event(feed, &event, -1, &given), 1);
    assert_int_equal(given, index + e);
  }
}
