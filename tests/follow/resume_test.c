/* resume_test.c: a run over a folder that ends in the middle of a file, and a run that continues at the position of the
 * first, deliver each event once, with the numbers that one run over all files gives.
 */
#include "../runtime/support.h"
#include "base/diagnostics.h"
#include "input/follow.h"
#include "scratch.h"

#include <sluice/sluice.h>

enum { FILES = 4, RECORDS_MAX = 12, EVENTS_MAX = FILES * RECORDS_MAX };
static const uint32_t record_counts[FILES] = {7, 0, 12, 5};
static const char *const names[FILES + 1] = {"a", "b", "c", "d", NULL};

static const char graph_text[] =
    "sluice: 1\nnodes:\n  raw: { use: lists.source }\n  sums: { use: lists.sums }\noutputs: [sums]\n";

/* Events that were delivered, and the number of batches after which the run ends. */
struct delivered {
  uint64_t ids[EVENTS_MAX], offsets[EVENTS_MAX];
  uint32_t files[EVENTS_MAX];
  uint32_t count, batches_left;
};

/* A file of records without items (tests/records/source.c). */
static void write_lists(const char *folder, uint32_t file) {
  unsigned char bytes[12 + 12 * RECORDS_MAX] = "LISTS1";
  const uint16_t version = 1;
  const uint32_t scale = 1, length = 12;
  memcpy(bytes + 6, &version, sizeof version);
  memcpy(bytes + 8, &scale, sizeof scale);
  for (uint32_t i = 0; i < record_counts[file]; i++) {
    const uint32_t id = 100 * file + i;
    memcpy(bytes + 12 + 12 * i, &length, sizeof length);
    memcpy(bytes + 16 + 12 * i, &id, sizeof id);
  }
  scratch_write(folder, names[file], bytes, 12 + 12 * record_counts[file]);
}

static int on_batch(void *context, const struct sl_batch *batch) {
  struct delivered *d = *(struct delivered **)context;
  if (d->batches_left == 0) return SL_EINTERRUPTED;
  d->batches_left--;
  for (uint32_t e = 0; e < batch->event_count; e++) {
    d->ids[d->count] = batch->events[e].number;
    d->offsets[d->count] = batch->events[e].offset;
    d->files[d->count++] = batch->events[e].file;
  }
  return 0;
}

/* Runs the graph over the folder until `batches` batches are delivered. Returns the position. */
static struct sl_follow_position run(const char *folder, uint32_t slots, const struct sl_follow_position *at,
                                     uint32_t batches, struct delivered *delivered) {
  char plugins[PATH_MAX + 256];
  const char *const plugin_paths[] = {beside_program("plugins", plugins), NULL};
  struct sl_follow_options follow_options = {
      .size = sizeof follow_options, .folder = folder, .until_idle_seconds = 0.001};
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options options = sl_options_default();
  struct sl_session *session = NULL;
  const char *processed[FILES + 1] = {0};
  for (uint32_t i = 0; at && i < FILES && strcmp(names[i], at->name) < 0; i++) processed[i] = names[i];
  assert_int_equal(sl_follow_new(&follow_options, d, &options.follow), SL_OK);
  if (at) assert_int_equal(sl_follow_resume(options.follow, at, processed), SL_OK);
  delivered->batches_left = batches;
  options.graph_text = graph_text;
  options.graph_text_bytes = sizeof graph_text - 1;
  options.plugin_paths = plugin_paths;
  options.slice_events = 3;
  options.slots = slots;
  options.on_batch = on_batch;
  options.context = &delivered;
  if (sl_follow_wait(options.follow, 1000) == 1) {
    const int opened = sl_session_open(&options, d, &session);
    if (opened < 0) sl_diagnostics_print(d, stderr);
    assert_int_equal(opened, SL_OK);
    (void)sl_session_run(session);
    sl_session_close(session);
  }
  const struct sl_follow_position position = sl_follow_position_of(options.follow);
  sl_follow_free(options.follow);
  sl_diagnostics_free(d);
  return position;
}

static void each_event_is_delivered_once(void **state) {
  static struct delivered whole, parts;
  char folder[SCRATCH_PATH_MAX];
  uint32_t batches = 0;
  (void)state;
  scratch_folder(folder);
  for (uint32_t i = 0; i < FILES; i++) {
    write_lists(folder, i);
    batches += (record_counts[i] + 2) / 3;
  }
  const struct sl_follow_position end = run(folder, 1, NULL, UINT32_MAX, &whole);
  assert_int_equal(whole.count, 24);
  assert_string_equal(end.name, "d");
  assert_true(end.is_whole && end.events == 5 && end.events_before == 19);
  for (uint32_t slots = 1; slots <= 2; slots++)
    for (uint32_t stop = 0; stop <= batches; stop++) {
      memset(&parts, 0, sizeof parts);
      const struct sl_follow_position middle = run(folder, slots, NULL, stop, &parts);
      const struct sl_follow_position last = run(folder, slots, &middle, UINT32_MAX, &parts);
      assert_int_equal(parts.count, whole.count);
      assert_memory_equal(parts.ids, whole.ids, sizeof whole.ids);
      assert_memory_equal(parts.offsets, whole.offsets, sizeof whole.offsets);
      assert_memory_equal(parts.files, whole.files, sizeof whole.files);
      assert_memory_equal(&last, &end, sizeof end);
    }
}

static void a_session_needs_the_first_file(void **state) {
  char folder[SCRATCH_PATH_MAX];
  (void)state;
  scratch_folder(folder);
  struct sl_follow_options follow_options = {.size = sizeof follow_options, .folder = folder};
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options options = sl_options_default();
  struct sl_session *session = NULL;
  assert_int_equal(sl_follow_new(&follow_options, d, &options.follow), SL_OK);
  assert_int_equal(sl_follow_wait(options.follow, 0), 0);
  options.graph_text = graph_text;
  options.graph_text_bytes = sizeof graph_text - 1;
  assert_int_equal(sl_session_open(&options, d, &session), SL_EINVAL);
  const struct sl_diagnostic *last = sl_diagnostics_at(d, sl_diagnostics_count(d) - 1);
  assert_string_equal(last->message, "the followed folder has no first file, or another session");
  sl_follow_free(options.follow);
  sl_diagnostics_free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_event_is_delivered_once),
                                     cmocka_unit_test(a_session_needs_the_first_file)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
