/* fuzz_trigger.c: the whole trigger on changed raw events, from the bytes of a file to reports and summaries, on the
 * cpu, with every field in guarded memory. The input describes changes of a few simulated events (changed_events.h);
 * the unchanged events are the reference. The highest bit of its first byte selects one of two graphs.
 * Requirements: the run continues; each event that was read is delivered, in order; an event with an error is counted
 * with its node and a reason; an unchanged event gives the same bits as in the reference.
 * Opening a session takes longer than running tens of events, and a session runs once. Therefore the session of each
 * graph runs forever in its own thread: its source is the reader of MDF files, reopened for each input, and waits
 * between inputs. One session has an input at a time. */
#define _GNU_SOURCE
#include "changed_events.h"
#include "fuzz_file.h"
#include "plugin/tables.h"
#include "results/digest.h"
#include "session/session.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argument_count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FOUND_MAX = 1024, SLICE_EVENTS = 3, GRAPHS = 2 };

#define GRAPH(name)                 \
  "sluice: 1\n"                     \
  "include: [" FUZZ_GRAPHS "/" name \
  ".yaml]\n"                        \
  "nodes:\n"                        \
  "  write: { use: io.mdf_sink, events: decide.passed, set: { path: /dev/null } }\n"
static const char *const graph_texts[GRAPHS] = {GRAPH("hlt1_pp_default"), GRAPH("hlt1_pp_forward_then_matching")};

/* An event of the source, and the digest of its outputs. */
struct found {
  struct sl_event event;
  uint64_t digest;
};

/* One of the graphs. */
struct trigger {
  struct sl_session *session;
  const struct sl_source *reader; /* reader of MDF files */
  struct found found[FOUND_MAX];
  struct found expected[EVENTS_MAX]; /* results of the unchanged events */
  uint32_t filled, delivered;
};

static struct trigger triggers[GRAPHS];

static struct {
  const struct sl_inputs *inputs; /* file of the present input */
  struct fuzz_file file;
  pthread_mutex_t lock; /* protects the following members */
  pthread_cond_t changed;
  struct trigger *at; /* has an input, or is about to wait for one; NULL: none */
} turn = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ------------------------------------------------------------------------------------------------------- source */

/* State of the source: followed by that of the reader. */
struct stream {
  struct trigger *trigger;
  int is_open;
  max_align_t reader[];
};

static int open_stream(void *state, const struct sl_services *s, const void *args, const struct sl_inputs *inputs) {
  (void)s;
  (void)args;
  (void)inputs;
  ((struct stream *)state)->trigger = turn.at;
  return SL_OK;
}

/* Ends the present input and waits for the next. */
static void await_input(const struct trigger *t) {
  pthread_mutex_lock(&turn.lock);
  turn.at = NULL;
  pthread_cond_broadcast(&turn.changed);
  while (turn.at != t) pthread_cond_wait(&turn.changed, &turn.lock);
  pthread_mutex_unlock(&turn.lock);
}

static void close_reader(struct stream *stream) {
  stream->trigger->reader->close(stream->reader);
  stream->is_open = 0;
}

/* A file without a valid first record is refused as a whole. */
static void open_next(struct stream *stream, const struct sl_services *s, const void *args, size_t state_bytes) {
  await_input(stream->trigger);
  memset(stream->reader, 0, state_bytes);
  stream->is_open = 1;
  if (stream->trigger->reader->open(stream->reader, s, args, turn.inputs) < 0) close_reader(stream);
}

static int fill_stream(void *state, const struct sl_services *s, const void *args, struct sl_fill *fill) {
  struct stream *stream = state;
  struct trigger *t = stream->trigger;
  const struct sl_session *session = t->session;
  const size_t state_bytes =
      session->setup.graph->nodes[session->setup.graph->source].algorithm->state_size - sizeof *stream;
  while (fill->event_count == 0) {
    if (!stream->is_open) {
      open_next(stream, s, session->setup.source_args, state_bytes);
      continue;
    }
    const int more = t->reader->fill(stream->reader, s, args, fill);
    require(more == 0 || more == 1);
    require(more == 0 || fill->event_count > 0);
    if (more == 0) close_reader(stream);
  }
  require(t->filled + fill->event_count <= FOUND_MAX);
  for (uint32_t e = 0; e < fill->event_count; e++) t->found[t->filled++].event = fill->events[e];
  return 1;
}

static void close_stream(void *state) { close_reader(state); }

/* ------------------------------------------------------------------------------------------------------ session */

static int take_batch(void *context, const struct sl_batch *batch) {
  struct trigger *t = context;
  for (uint32_t e = 0; e < batch->event_count; e++) {
    require(t->delivered < t->filled);
    struct found *found = &t->found[t->delivered++];
    const struct sl_event *event = &batch->events[e];
    require(event->run == found->event.run && event->number == found->event.number);
    require(event->file == found->event.file && event->offset == found->event.offset);
    require(found->event.error == SL_EVENT_OK || event->error == found->event.error);
    found->event.error = event->error;
    found->digest = 0;
    for (uint32_t o = 0; o < batch->output_count; o++) {
      const struct sl_output_view *v = &batch->outputs[o];
      if (sl_is_totals(v->collection)) continue;
      const uint64_t digest = event->error ? event->error : sl_digest_event(v->collection, v->fields, e);
      found->digest = found->digest * 0x9E3779B97F4A7C15u + digest;
    }
  }
  return 0;
}

/* Returns only if the run fails. */
static void *run_session(void *session) {
  struct sl_session *s = session;
  fprintf(stderr, "the run ended: %s\n", sl_error_text(sl_session_run(s)));
  sl_diagnostics_print(s->setup.diagnostics, stderr);
  abort();
}

/* Replaces the source of the graph by the functions above. */
static void take_over_source(struct trigger *t) {
  static const struct sl_source source = {.open = open_stream, .fill = fill_stream, .close = close_stream};
  static struct sl_algorithm algorithms[GRAPHS];
  struct sl_algorithm *algorithm = &algorithms[t - triggers];
  struct sl_node *node = &t->session->setup.graph->nodes[t->session->setup.graph->source];
  *algorithm = *node->algorithm;
  t->reader = algorithm->source;
  algorithm->source = &source;
  algorithm->state_size += (uint32_t)sizeof(struct stream);
  node->algorithm = algorithm;
}

static struct sl_session *open_session(struct trigger *t, const char *first_file) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options options = sl_options_default();
  static const char *paths[2];
  static const char *const plugins[] = {FUZZ_PLUGINS, NULL};
  paths[0] = first_file;
  options.graph_path = "fuzz_trigger.yaml";
  options.graph_text = graph_texts[t - triggers];
  options.graph_text_bytes = strlen(options.graph_text);
  options.input_paths = paths;
  options.plugin_paths = plugins;
  options.slice_events = SLICE_EVENTS;
  options.source_threads = 1;
  options.guard = 1;
  options.on_batch = take_batch;
  options.context = t;
  struct sl_session *s = NULL;
  if (sl_session_open(&options, d, &s) < 0) {
    sl_diagnostics_print(d, stderr);
    abort();
  }
  return s;
}

/* The thread takes no signals, because libFuzzer needs its alarm. */
static void start_session(struct trigger *t, const char *first_file) {
  pthread_t thread;
  sigset_t all, before;
  t->session = open_session(t, first_file);
  take_over_source(t);
  turn.at = t;
  sigfillset(&all);
  require(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
  require(pthread_create(&thread, NULL, run_session, t->session) == 0);
  require(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
}

/* ------------------------------------------------------------------------------------------------------- inputs */

static void run_file(struct trigger *t, const uint8_t *bytes, size_t size) {
  static const char *paths[1];
  static struct sl_inputs inputs = {paths, 1, 0, paths, NULL};
  paths[0] = fuzz_file_of(&turn.file, bytes, size);
  if (!t->session) start_session(t, paths[0]);
  pthread_mutex_lock(&turn.lock);
  while (turn.at) pthread_cond_wait(&turn.changed, &turn.lock);
  t->session->history.parts = 0; /* so that a run does not depend on earlier inputs */
  turn.inputs = &inputs;
  t->filled = t->delivered = 0;
  turn.at = t;
  pthread_cond_broadcast(&turn.changed);
  while (turn.at) pthread_cond_wait(&turn.changed, &turn.lock);
  pthread_mutex_unlock(&turn.lock);
}

/* Each event with an error must have been counted, with a reason other than the default text. */
static void check_errors(const struct sl_session *s) {
  uint64_t counted = 0;
  for (uint32_t i = 0; i < s->delivery.errors.count; i++) {
    const struct sl_error_summary *e = &s->delivery.errors.summaries[i];
    const int is_of_source = strcmp(e->node, s->setup.graph->nodes[s->setup.graph->source].name) == 0;
    require(e->reason[0] && strcmp(e->reason, "unknown") != 0 && (is_of_source || strcmp(e->reason, "refused") != 0));
    counted += e->count;
  }
  require(counted == s->delivery.error_events);
  for (uint32_t i = 0; i < s->delivery.truncations.count; i++)
    require(strcmp(s->delivery.truncations.summaries[i].reason, "part of the event was dropped") != 0);
}

static struct raw_events sound, changed;

/* Makes the event a luminosity event too: the second word of ODIN's bank has the event type. */
static void make_luminosity(struct raw_event *event, uint8_t *bytes) {
  for (uint32_t i = 0; i < event->bank_count; i++)
    if (event->banks[i].kind == 16) bytes[event->banks[i].payload + 4 - bytes] |= 8;
}

static void read_sound(void) {
  static uint8_t bytes[1 << 20];
  FILE *file = fopen(FUZZ_EVENTS, "rb");
  require(file != NULL);
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  require(fclose(file) == 0 && size < sizeof bytes && raw_events_read(&sound, bytes, size));
  make_luminosity(&sound.events[0], bytes);
}

/* Runs the events with the changes in `data`. */
static void run_changed(struct trigger *t, const uint8_t *data, size_t size) {
  size_t file_bytes;
  uint8_t *file = raw_events_changed(&sound, data, size, &changed, &file_bytes);
  run_file(t, file, file_bytes);
  free(file);
}

/* Makes the reference. The plugins are loaded here, because libFuzzer must see their code at the start. */
int LLVMFuzzerInitialize(int *argument_count, char ***arguments) {
  (void)argument_count;
  (void)arguments;
  read_sound();
  for (struct trigger *t = triggers; t < triggers + GRAPHS; t++) {
    run_changed(t, NULL, 0);
    require(t->delivered == sound.count);
    memcpy(t->expected, t->found, sizeof t->expected);
    for (uint32_t e = 0; e < sound.count; e++) require(t->expected[e].event.error == SL_EVENT_OK);
  }
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct trigger *t = &triggers[size > 0 ? data[0] >> 7 : 0];
  run_changed(t, data, size);
  require(t->delivered == t->filled);
  check_errors(t->session);
  if (changed.is_file_changed) return 0;
  require(t->delivered == sound.count);
  for (uint32_t e = 0; e < sound.count; e++)
    require(changed.events[e].is_changed || t->found[e].digest == t->expected[e].digest);
  return 0;
}
