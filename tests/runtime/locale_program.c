/* locale_program.c: calls every function of sluice.h and testing.h in the locale of its first argument, and writes what
 * they write into a folder. locale_test.py compares the folders of two locales. After each function, and in each
 * callback, the locale must be that of the program.
 *
 *   locale_program LOCALE POINT FOLDER GRAPHS EXAMPLE_PLUGIN GENERIC_PLUGIN
 */
#define _GNU_SOURCE
#include <sluice/planner.h>
#include <sluice/sluice.h>
#include <sluice/testing.h>

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANY_FIELDS(F) F(mean, f64, PER_EVENT, "", "a value an event")
SL_COLLECTION(any, ANY_FIELDS, "any collection");

static const char *point, *folder, *graphs;
static int failures;

static void fail(const char *what, const char *where) {
  printf("FAILED %s: %s\n", where, what);
  failures++;
}

/* Also called in callbacks. */
static void check_locale(const char *where) {
  char half[16];
  snprintf(half, sizeof half, "%.1f", 0.5);
  if (half[1] != *point || strcmp(localeconv()->decimal_point, point) != 0) fail("not the program's locale", where);
  if (uselocale((locale_t)0) != LC_GLOBAL_LOCALE) fail("the thread has a locale of its own", where);
}

#define CALLED(function)       \
  do {                         \
    (void)(function);          \
    puts("called " #function); \
    check_locale(#function);   \
  } while (0)

static void need(int holds, const char *what) {
  if (!holds) fail("no such result", what);
}

static const char *in_folder(const char *name) {
  static char paths[8][4096];
  static unsigned next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static FILE *open_text(const char *name) {
  FILE *file = fopen(in_folder(name), "w");
  if (!file) abort();
  return file;
}

/* Calls a function that writes to a FILE; the text goes to FOLDER/NAME. */
#define WRITES(name, function, ...)     \
  do {                                  \
    FILE *file = open_text(name);       \
    (void)(function)(__VA_ARGS__ file); \
    CALLED(function);                   \
    fclose(file);                       \
  } while (0)

/* ----------------------------------------------------------------------------------------------- callbacks */

static int batches, digests, progresses, released, messages;

static int on_batch(void *context, const struct sl_batch *batch) {
  (void)context;
  batches += batch->event_count > 0;
  check_locale("on_batch");
  struct sl_diagnostics *inner = sl_diagnostics_new(); /* uses the library within a callback */
  sl_diagnostics_free(inner);
  check_locale("on_batch after a call of the library");
  usleep(50000);
  return 0;
}
static void on_digest(void *context, const char *output, const struct sl_event *event, uint64_t digest) {
  (void)context, (void)output, (void)event, (void)digest;
  digests++;
  check_locale("on_event_digest");
}
static void on_progress(void *context, uint64_t events, uint64_t done, uint64_t total, double seconds) {
  (void)context, (void)events, (void)done, (void)total, (void)seconds;
  progresses++;
  check_locale("on_progress");
}
static void on_release(void *context, void *owner) {
  (void)context, (void)owner;
  released++;
  check_locale("on_release");
}
static void on_message(void *context, const struct sl_diagnostic *message) {
  (void)context, (void)message;
  messages++;
  check_locale("on_message");
}

/* ------------------------------------------------------------------------------------------------ sessions */

static struct sl_options options_of(const char *graph) {
  static char paths[4][4096];
  static unsigned next;
  char *path = paths[next++ % 4];
  struct sl_options o = sl_options_default();
  CALLED(sl_options_default);
  snprintf(path, sizeof paths[0], "%s/%s", graphs, graph);
  o.graph_path = path;
  return o;
}

static void write_messages(struct sl_diagnostics *d, const char *name) {
  FILE *file = open_text(name);
  sl_diagnostics_print(d, file);
  CALLED(sl_diagnostics_print);
  need(sl_diagnostics_errors(d) <= sl_diagnostics_count(d), "count");
  CALLED(sl_diagnostics_errors);
  CALLED(sl_diagnostics_count);
  for (size_t i = 0; i < sl_diagnostics_count(d); i++) {
    sl_diagnostic_print(sl_diagnostics_at(d, i), file);
    sl_diagnostic_write_json(sl_diagnostics_at(d, i), file);
  }
  CALLED(sl_diagnostics_at);
  CALLED(sl_diagnostic_print);
  CALLED(sl_diagnostic_write_json);
  sl_diagnostics_print_dropped(d, file);
  CALLED(sl_diagnostics_print_dropped);
  fclose(file);
  sl_diagnostics_free(d);
  CALLED(sl_diagnostics_free);
}

static struct sl_diagnostics *new_messages(void) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  CALLED(sl_diagnostics_new);
  sl_diagnostics_follow(d, on_message, NULL);
  CALLED(sl_diagnostics_follow);
  return d;
}

static void run(void) {
  struct sl_diagnostics *d = new_messages();
  struct sl_options o = options_of("velo_sample.yaml");
  struct sl_session *s = NULL;
  o.sets = (const char *const[]){"raw.seed=7", "sample.fraction=0.5", "good.max_eta=4.75", NULL};
  o.events = 24;
  o.slots = 3;
  o.slice_events = 4;
  o.digest = 2;
  o.profile = 1;
  o.output_path = in_folder("rows.csv");
  o.report_path = in_folder("varies.report.json");
  o.trace_path = in_folder("varies.trace.json");
  o.metrics_path = in_folder("varies.metrics");
  o.on_batch = on_batch;
  o.on_event_digest = on_digest;
  o.on_progress = on_progress;
  need(sl_session_open(&o, d, &s) == SL_OK, "sl_session_open");
  CALLED(sl_session_open);
  need(s && sl_session_claim_output(s, "--log", in_folder("varies.log"), 0) == SL_OK, "sl_session_claim_output");
  CALLED(sl_session_claim_output);
  need(s && sl_session_run(s) == SL_OK, "sl_session_run");
  CALLED(sl_session_run);
  const struct sl_reload same = {.size = sizeof same};
  need(s && sl_session_reload(s, &same, d) == SL_EINTERRUPTED, "sl_session_reload after the run");
  CALLED(sl_session_reload);
  sl_session_release_batches(s);
  CALLED(sl_session_release_batches);
  if (s) {
    need(sl_session_write_report(s) == SL_OK, "sl_session_write_report");
    CALLED(sl_session_write_report);
    need(sl_session_summary(s)->events == 24, "events");
    CALLED(sl_session_summary);
    need(sl_session_identity(s) != NULL, "identity");
    CALLED(sl_session_identity);
    uint32_t constants = 0;
    need(sl_session_constants(s, &constants) != NULL, "constants");
    CALLED(sl_session_constants);
    need(!sl_session_writes_stdout(s), "stdout");
    CALLED(sl_session_writes_stdout);
    WRITES("varies.table", sl_session_write_table, s, 1, );
    WRITES("varies.json", sl_session_write_json, s, );
    WRITES("budgets.yaml", sl_session_write_budgets, s, );
    sl_session_stop(s);
    CALLED(sl_session_stop);
    sl_session_stop_by(s, 15);
    CALLED(sl_session_stop_by);
  }
  sl_session_close(s);
  CALLED(sl_session_close);
  need(batches > 0 && digests > 0 && progresses > 0, "callbacks");
  write_messages(d, "run.messages");
}

static void look(void) {
  struct sl_diagnostics *d = new_messages();
  struct sl_options o = options_of("velo_sample.yaml");
  struct sl_session *s = NULL;
  o.inspect_only = 1;
  need(sl_session_open(&o, d, &s) == SL_OK, "a look");
  if (s) {
    WRITES("wiring", sl_session_write_wiring, s, );
    WRITES("graph.yaml", sl_session_write_graph, s, 1, );
    WRITES("plan", sl_session_write_plan, s, );
    WRITES("plan.svg", sl_session_write_plan_svg, s, );
    struct sl_drawing_options picture = sl_drawing_options_default();
    CALLED(sl_drawing_options_default);
    WRITES("dot", sl_session_write_drawing, s, &picture, d, );
    picture.format = SL_DRAWING_MERMAID;
    WRITES("mermaid", sl_session_write_drawing, s, &picture, d, );
  }
  sl_session_close(s);
  o.sets = (const char *const[]){"sample.fraction=1.5", NULL}; /* out of range; the message contains the range */
  need(sl_session_open(&o, d, &s) < 0, "a refusal");
  need(messages > 0, "on_message");
  write_messages(d, "look.messages");
}

/* Keeps each batch, and looks at the first value of its first output. */
static int keep_batch(void *context, const struct sl_batch *batch) {
  struct sl_kept_batch *kept = NULL;
  uint32_t first = 0;
  (void)batch;
  need(sl_session_keep_batch(*(struct sl_session **)context, &kept) == SL_OK, "sl_session_keep_batch");
  CALLED(sl_session_keep_batch);
  const struct sl_kept_memory *memory = sl_kept_batch_memory(kept);
  CALLED(sl_kept_batch_memory);
  void *values = (void *)(uintptr_t)memory->outputs[0].fields[0];
  need(sl_kept_batch_download(kept, &first, values, sizeof first) == SL_OK, "sl_kept_batch_download");
  CALLED(sl_kept_batch_download);
  const struct sl_tensor described = {
      .size = sizeof described, .type = SL_TYPE_u32, .axis_count = 1, .values = values, .shape = {1}};
  void *tensor = sl_kept_batch_tensor(kept, &described);
  need(tensor != NULL, "sl_kept_batch_tensor");
  CALLED(sl_kept_batch_tensor);
  sl_kept_batch_retain(kept);
  CALLED(sl_kept_batch_retain);
  sl_kept_batch_release(kept);
  sl_kept_batch_release(kept);
  CALLED(sl_kept_batch_release);
  sl_tensor_delete(tensor, 0);
  CALLED(sl_tensor_delete);
  return SL_OK;
}

static void keep(void) {
  struct sl_diagnostics *d = new_messages();
  struct sl_options o = options_of("velo_counts.yaml");
  struct sl_session *s = NULL;
  uint32_t value = 1, copy = 0;
  o.events = 4;
  o.keep_device = 1;
  o.on_batch = keep_batch;
  o.context = &s;
  need(sl_session_open(&o, d, &s) == SL_OK && sl_session_run(s) == SL_OK, "a run that keeps batches");
  sl_session_close(s);
  need(sl_device_download(SL_MEMORY_CUDA, &copy, &value, sizeof copy, d) < 0, "sl_device_download of host memory");
  CALLED(sl_device_download);
  write_messages(d, "varies.keep.messages");
}

static void *run_session(void *session) {
  sl_session_run(session);
  check_locale("the thread of sl_session_run");
  return NULL;
}

static void feed(void) {
  struct sl_diagnostics *d = new_messages();
  const struct sl_feed_options of = {.size = sizeof of, .on_release = on_release};
  struct sl_feed *f = sl_feed_new(&of);
  CALLED(sl_feed_new);
  struct sl_options o = options_of("velo_counts.yaml");
  struct sl_session *s = NULL;
  o.feed = f;
  need(f && sl_session_open(&o, d, &s) == SL_OK, "a session with a feed");
  pthread_t thread;
  if (!s || pthread_create(&thread, NULL, run_session, s) != 0) abort();
  const struct sl_feed_event event = {.size = sizeof event, .number = 1, .run = 1};
  need(sl_feed_give_event(f, &event, -1, NULL) == 1, "sl_feed_give_event");
  CALLED(sl_feed_give_event);
  need(sl_feed_give_packet(f, "none", 4, NULL, -1, NULL) == 1, "sl_feed_give_packet");
  CALLED(sl_feed_give_packet);
  need(sl_feed_give_arrays(f, NULL, -1, NULL) == SL_EINVAL, "sl_feed_give_arrays");
  CALLED(sl_feed_give_arrays);
  sl_feed_wait(f, 0, 10000);
  CALLED(sl_feed_wait);
  sl_feed_end(f);
  CALLED(sl_feed_end);
  pthread_join(thread, NULL);
  sl_session_close(s);
  sl_feed_free(f);
  CALLED(sl_feed_free);
  need(released == 2, "on_release");
  write_messages(d, "feed.messages");
}

static void follow(void) {
  struct sl_diagnostics *d = new_messages();
  const struct sl_follow_options of = {
      .size = sizeof of, .folder = ".", .pattern = "*.none", .until_idle_seconds = 0.2};
  struct sl_follow *f = NULL;
  need(sl_follow_new(&of, d, &f) == SL_OK, "sl_follow_new");
  CALLED(sl_follow_new);
  need(sl_follow_continue(f, in_folder("no checkpoint"), d, NULL) == SL_OK, "sl_follow_continue");
  CALLED(sl_follow_continue);
  need(sl_follow_wait(f, 10000) == SL_EINTERRUPTED, "sl_follow_wait");
  CALLED(sl_follow_wait);
  need(sl_follow_count(f).taken == 0, "sl_follow_count");
  CALLED(sl_follow_count);
  sl_follow_end(f);
  CALLED(sl_follow_end);
  sl_follow_free(f);
  CALLED(sl_follow_free);
  write_messages(d, "follow.messages");
}

/* ---------------------------------------------------------------------------------------- files and plugins */

static void parts(void) {
  struct sl_diagnostics *d = new_messages();
  struct sl_options o = options_of("simulate.yaml");
  struct sl_session *s = NULL;
  o.events = 4;
  o.output_path = in_folder("events.mdf");
  need(sl_session_open(&o, d, &s) == SL_OK && sl_session_run(s) == SL_OK, "events to a file");
  sl_session_close(s);
  struct sl_index *index = NULL;
  need(sl_index_files(NULL, (const char *const[]){o.output_path, NULL}, 2, d, &index) == SL_OK, "sl_index_files");
  CALLED(sl_index_files);
  sl_index_close(index);
  const struct sl_input_range whole[] = {{0}};
  need(sl_index_ranges(NULL, (const char *const[]){o.output_path, NULL}, whole, 2, d, &index) == SL_OK,
       "sl_index_ranges");
  CALLED(sl_index_ranges);
  uint64_t count = 0;
  if (index) {
    need(sl_index_parts(index, &count) && count == 2, "sl_index_parts");
    CALLED(sl_index_parts);
    WRITES("index.json", sl_index_write_json, index, );
  }
  sl_index_close(index);
  CALLED(sl_index_close);
  need(sl_digest_join(1, 2, 1) == 2, "sl_digest_join");
  CALLED(sl_digest_join);
  sl_digest_totals((const uint64_t[]){1}, 1);
  CALLED(sl_digest_totals);
  need(sl_write_file(in_folder("text"), "0.5\n", 4, d) == SL_OK, "sl_write_file");
  CALLED(sl_write_file);
  write_messages(d, "parts.messages");
}

static void plan(void) {
  static const char text[] = "id,lower,upper,size\na,0,3,400000\nb,1,4,250000\nc,3,6,400000\n";
  struct sl_diagnostics *d = new_messages();
  struct sl_allocation *a = NULL;
  sl_write_file(in_folder("buffers.csv"), text, sizeof text - 1, d);
  need(sl_allocation_open(in_folder("buffers.csv"), d, &a) == SL_OK, "sl_allocation_open");
  CALLED(sl_allocation_open);
  need(a && sl_allocation_solve(a, 0, 0, 0, d) == SL_OK, "sl_allocation_solve");
  CALLED(sl_allocation_solve);
  if (a) {
    need(sl_allocation_summarize(a).buffers == 3, "sl_allocation_summarize");
    CALLED(sl_allocation_summarize);
    WRITES("offsets.csv", sl_allocation_write_csv, a, );
    WRITES("allocation.svg", sl_allocation_write_svg, a, );
  }
  sl_allocation_close(a);
  CALLED(sl_allocation_close);
  write_messages(d, "plan.messages");
}

/* A property has a point in the case and in the unit test. */
static void capture(struct sl_diagnostics *d) {
  const struct sl_options o = options_of("velo.yaml");
  struct sl_replay_options r = sl_replay_options_default();
  CALLED(sl_replay_options_default);
  uint32_t failed = 1;
  FILE *file = tmpfile(); /* its lines name the folder */
  need(sl_capture(&o, "search", "1", in_folder("case.slc"), d, file) == SL_OK, "sl_capture");
  CALLED(sl_capture);
  need(sl_replay(&r, in_folder("case.slc"), d, file, &failed) == SL_OK && !failed, "sl_replay");
  r.test_name = in_folder("locale");
  need(sl_replay(&r, in_folder("case.slc"), d, file, &failed) == SL_OK, "sl_replay as test");
  CALLED(sl_replay);
  fclose(file);
}

static void describe(void) {
  struct sl_diagnostics *d = new_messages();
  WRITES("plugins", sl_write_plugin_list, NULL, );
  WRITES("algorithms", sl_write_algorithm_list, NULL, "velo", d, );
  WRITES("collections", sl_write_collection_list, NULL, );
  WRITES("graphs", sl_write_graph_list, );
  WRITES("description", sl_write_description, NULL, "velo.select_tracks", d, );
  WRITES("description.json", sl_write_description_json, NULL, "velo.select_tracks", d, );
  WRITES("schema.json", sl_write_schema, NULL, d, );
  WRITES("version", sl_write_version, );
  need(!sl_processor_lacks(), "sl_processor_lacks");
  CALLED(sl_processor_lacks);
  need(*sl_version() && *sl_commit() && *sl_devices(), "texts");
  CALLED(sl_version);
  CALLED(sl_commit);
  CALLED(sl_devices);
  struct sl_trial_options o = sl_trial_options_default();
  CALLED(sl_trial_options_default);
  struct sl_trial_counts counts;
  o.target = "cpu";
  o.events = 2;
  FILE *file = open_text("trial");
  need(sl_test_plugin(&o, "velo.select_tracks", d, file, &counts) == SL_OK && counts.passed > 0, "sl_test_plugin");
  CALLED(sl_test_plugin);
  fclose(file);
  capture(d);
  write_messages(d, "describe.messages");
}

/* ----------------------------------------------------------------------------------------------- testing.h */

static void test_constant(const char *plugin) {
  struct sl_test *t = sl_test_new(plugin, "chosen"); /* its default is [1, 2.5, -3] */
  CALLED(sl_test_new);
  need(sl_test_run(t) == SL_OK && ((const double *)sl_test_output(t, "weights", "weight"))[1] == 2.5, "a default");
  CALLED(sl_test_run);
  CALLED(sl_test_output);
  sl_test_set_array(t, "given", (const double[]){0.5, 1, 2}, 3);
  CALLED(sl_test_set_array);
  sl_test_set_text(t, "order", "backward");
  CALLED(sl_test_set_text);
  need(sl_test_run(t) == SL_OK && ((const double *)sl_test_output(t, "weights", "weight"))[2] == 0.5, "an array");
  FILE *file = open_text("test");
  fputs(sl_test_messages(t), file);
  CALLED(sl_test_messages);
  sl_test_report(t);
  CALLED(sl_test_report);
  fclose(file);
  sl_test_free(t);
  CALLED(sl_test_free);
}

static void test_kernel(const char *plugin, const char *generic) {
  struct sl_test *t = sl_test_new(plugin, "positive");
  sl_test_events(t, 2);
  CALLED(sl_test_events);
  sl_test_input(t, "numbers", "offsets", (const uint32_t[]){0, 1, 2}, 3);
  sl_test_input(t, "numbers", "value", (const float[]){1, 2}, 2);
  sl_test_input(t, "numbers", "tag", (const uint8_t[]){0, 1}, 2);
  CALLED(sl_test_input);
  sl_test_set(t, "kept_per_event", 2);
  CALLED(sl_test_set);
  sl_test_budget(t, "kept", 2);
  CALLED(sl_test_budget);
  sl_test_list(t, (const uint32_t[]){0}, 1);
  CALLED(sl_test_list);
  sl_test_node(t, "mine");
  CALLED(sl_test_node);
  sl_test_shared(t, 1);
  CALLED(sl_test_shared);
  sl_test_block(t, 32);
  CALLED(sl_test_block);
  sl_test_seed(t, 1);
  CALLED(sl_test_seed);
  sl_test_warp(t, 32);
  CALLED(sl_test_warp);
  need(sl_test_run(t) == SL_OK && sl_test_output_count(t, "kept", "value") > 0, "sl_test_output_count");
  CALLED(sl_test_output_count);
  need(sl_test_used(t, "kept") == 1 && sl_test_event_error(t, 0) == 0, "sl_test_used");
  CALLED(sl_test_used);
  CALLED(sl_test_event_error);
  sl_test_free(t);
  t = sl_test_new(plugin, "merge");
  sl_test_events(t, 1);
  sl_test_list_input(t, "parts", "a", "offsets", (const uint32_t[]){0, 1}, 2);
  CALLED(sl_test_list_input);
  sl_test_free(t);
  char velo[4096];
  snprintf(velo, sizeof velo, "%.*s/velo.cpu.so", (int)(strrchr(generic, '/') - generic), generic);
  t = sl_test_new(velo, "search_by_triplet");
  sl_test_load(t, in_folder("case.slc"), NULL);
  CALLED(sl_test_load);
  sl_test_free(t);
  t = sl_test_new(generic, "filter");
  sl_test_field(t, "of", &any_collection, "mean");
  CALLED(sl_test_field);
  sl_test_free(t);
}

static void test_dimensions(const char *plugin) {
  struct sl_test *t = sl_test_new(plugin, "dedisperse");
  sl_test_dimension(t, "block", "channels", 4);
  CALLED(sl_test_dimension);
  sl_test_free(t);
}

/* The numbers of a limit and of a drawing have points. */
static void serve(void) {
  struct sl_diagnostics *d = new_messages();
  const char *const right[] = {"ratio=0.25..1.5", NULL}, *const wrong[] = {"ratio=0,25..1,5", NULL};
  struct sl_server_options o = {.size = sizeof o, .address = "0", .alarms = wrong};
  struct sl_server *server = NULL;
  need(sl_server_new(&o, d, &server) == SL_EINVAL, "sl_server_new with decimal commas");
  o.alarms = right;
  need(sl_server_new(&o, d, &server) == SL_OK, "sl_server_new");
  CALLED(sl_server_new);
  need(server && strncmp(sl_server_url(server), "http://127.0.0.1:", 17) == 0, "sl_server_url");
  CALLED(sl_server_url);
  sl_server_free(server);
  CALLED(sl_server_free);
  write_messages(d, "serve.messages");
}

static void test_drawing(const char *plugin) {
  struct sl_test *t = sl_test_new(plugin, "list");
  sl_test_events(t, 1);
  sl_test_input(t, "pulses", "offsets", (const uint32_t[]){0, 1}, 2);
  sl_test_input(t, "pulses", "time", (const uint32_t[]){50}, 1);
  sl_test_input(t, "pulses", "trial", (const uint32_t[]){1}, 1);
  sl_test_input(t, "pulses", "width", (const uint32_t[]){1}, 1);
  sl_test_input(t, "pulses", "snr", (const float[]){8.5f}, 1);
  sl_test_input(t, "delays", "measure", (const float[]){0, 200}, 2);
  sl_test_set(t, "step", 100);
  sl_test_draw(t, 0);
  CALLED(sl_test_draw);
  need(sl_test_run(t) == SL_OK, "sl_test_run with a drawing");
  FILE *file = open_text("drawing");
  const char *drawing = sl_test_drawing(t);
  fputs(drawing ? drawing : "none", file);
  CALLED(sl_test_drawing);
  fclose(file);
  sl_test_free(t);
}

int main(int argc, char **argv) {
  if (argc != 8 || !setlocale(LC_ALL, argv[1])) {
    fprintf(stderr, "locale_program: no such locale\n");
    return 77;
  }
  point = argv[2];
  folder = argv[3];
  graphs = argv[4];
  run();
  look();
  keep();
  feed();
  follow();
  serve();
  parts();
  plan();
  describe();
  test_constant(argv[5]);
  test_kernel(argv[5], argv[6]);
  test_dimensions(argv[7]);
  test_drawing(argv[7]);
  return failures != 0;
}
