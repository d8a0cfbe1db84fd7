/* feed.c: hands events that are in memory to a graph, one by one, and gets its results.
 *
 * The program has a thread that runs the graph, and one that gives events. Here the events come from an uncompressed
 * MDF file, record by record, as they would from a network: each into a buffer of its own, that is freed as soon as the
 * run has packed it.
 *
 *   cmake -S . -B build && cmake --build build
 *   build/feed [-p PLUGIN_FOLDER] [-s NODE.PROPERTY=VALUE | -s PARAMETER=VALUE] GRAPH EVENTS.mdf
 */
#define _GNU_SOURCE
#include <sluice/sluice.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD_HEADER_BYTES = 48, BANK_HEADER_BYTES = 8, BANKS_MAX = 4096 };

/* An event in the program's memory: the banks' descriptions, and the bytes that they point to. */
struct event {
  struct sl_feed_block banks[BANKS_MAX];
  uint32_t bank_count;
  uint8_t bytes[];
};

/* -------------------------------------------------------------------------------------------------- results */

/* In input order, from one thread at a time; what it points to is there until it returns. */
static int on_batch(void *context, const struct sl_batch *batch) {
  uint64_t *sound_events = context;
  for (uint32_t e = 0; e < batch->event_count; e++) *sound_events += batch->events[e].error == SL_EVENT_OK;
  return 0; /* anything else ends the run */
}

/* The event is in a slice: its memory is the program's again. */
static void on_release(void *context, void *owner) {
  (void)context;
  free(owner);
}

struct run {
  struct sl_session *session;
  int status;
};
static void *run_graph(void *argument) {
  struct run *run = argument;
  run->status = sl_session_run(run->session);
  return NULL;
}

/* --------------------------------------------------------------------------------------------------- events */

/* Describes the raw banks of a record's body: 1, or 0 where they are none. */
static int find_banks(struct event *event, uint32_t body_bytes) {
  const uint8_t *at = event->bytes, *end = at + body_bytes;
  for (event->bank_count = 0; end - at >= BANK_HEADER_BYTES && event->bank_count < BANKS_MAX; event->bank_count++) {
    uint16_t magic, length, source_id;
    memcpy(&magic, at, sizeof magic);
    memcpy(&length, at + 2, sizeof length);
    memcpy(&source_id, at + 6, sizeof source_id);
    if (magic != 0xCBCB || length < BANK_HEADER_BYTES || length > end - at) return 0;
    event->banks[event->bank_count] =
        (struct sl_feed_block){at + BANK_HEADER_BYTES, length - BANK_HEADER_BYTES, source_id, at[4], at[5]};
    at += (length + 3u) & ~3u;
  }
  return at >= end;
}

/* The next event of the file, or NULL at its end. */
static struct event *read_event(FILE *file) {
  uint32_t header[RECORD_HEADER_BYTES / 4];
  if (fread(header, sizeof header, 1, file) != 1) return NULL;
  if (header[0] < sizeof header || header[0] > 1u << 26) return NULL;
  const uint32_t body_bytes = header[0] - RECORD_HEADER_BYTES;
  struct event *event = malloc(sizeof *event + body_bytes);
  if (event && fread(event->bytes, 1, body_bytes, file) == body_bytes && find_banks(event, body_bytes)) return event;
  free(event);
  return NULL;
}

/* Gives all events; blocks while the run is slower. Returns the number of accepted events. */
static uint64_t feed_all(struct sl_feed *feed, FILE *file) {
  uint64_t count = 0, index = 0;
  for (struct event *event = NULL; (event = read_event(file)) != NULL; count++) {
    const struct sl_feed_event entry = {.size = sizeof entry,
                                        .block_count = event->bank_count,
                                        .blocks = event->banks,
                                        .number = count,
                                        .owner = event};
    if (sl_feed_give_event(feed, &entry, -1, &index) == 1) continue;
    free(event); /* the run is over: it takes nothing more, and its diagnostics say why */
    break;
  }
  if (count > 0 && sl_feed_wait(feed, index, -1) == 1) printf("the first %" PRIu64 " events are done\n", count);
  return count;
}

/* --------------------------------------------------------------------------------------------------- main */

static int run_fed(const struct sl_options *options, struct sl_diagnostics *diagnostics, FILE *file) {
  struct run run = {NULL, 0};
  pthread_t thread;
  if (sl_session_open(options, diagnostics, &run.session) != 0) return EXIT_FAILURE;
  if (pthread_create(&thread, NULL, run_graph, &run) == 0) {
    feed_all(options->feed, file);
    sl_feed_end(options->feed); /* the run goes on to the end of what it has */
    pthread_join(thread, NULL);
    const struct sl_summary *summary = sl_session_summary(run.session);
    printf("%" PRIu64 " events, %" PRIu64 " of them sound, %.0f events/s\n", summary->events,
           *(const uint64_t *)options->context, summary->wall_hz);
  } else {
    run.status = SL_ENOMEM;
  }
  sl_session_close(run.session);
  return run.status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
  const char *sets[2] = {NULL, NULL}, *folders[2] = {NULL, NULL};
  int option = 0;
  while ((option = getopt(argc, argv, "p:s:")) != -1) {
    if (option != 'p' && option != 's') return 2;
    *(option == 'p' ? folders : sets) = optarg;
  }
  FILE *file = optind + 2 == argc ? fopen(argv[optind + 1], "rb") : NULL;
  if (!file) {
    fprintf(stderr, "usage: %s [-p PLUGIN_FOLDER] [-s NAME=VALUE] GRAPH EVENTS.mdf\n", argv[0]);
    return 2;
  }

  uint64_t sound_events = 0;
  struct sl_feed *feed =
      sl_feed_new(&(struct sl_feed_options){.size = sizeof(struct sl_feed_options), .on_release = on_release});
  struct sl_diagnostics *diagnostics = sl_diagnostics_new();
  struct sl_options options = sl_options_default();
  options.graph_path = argv[optind];
  options.sets = sets;
  options.plugin_paths = folders;
  options.feed = feed; /* the graph's source becomes one that takes it, io.feed_source */
  options.context = &sound_events;
  options.on_batch = on_batch;
  const int status = run_fed(&options, diagnostics, file);
  sl_diagnostics_print(diagnostics, stderr);
  sl_diagnostics_free(diagnostics);
  sl_feed_free(feed);
  fclose(file);
  return status;
}
