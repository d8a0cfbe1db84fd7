/* trace.c: time line of a run as Chrome trace JSON, for Perfetto and chrome://tracing.
 *
 * Each slot has a track: fill (the source), slice, and inside it nodes, parts that were run again, the wait for
 * delivery order, and the delivery to sinks. On a device with memory of its own, the nodes and the download have a
 * second track, and concurrent uploads a third, placed by timestamps of the device; each further branch has a track of
 * its own. Steps then start one by one, as with --profile.
 *
 * A span is one line of the file, written at its end. A trace of any length needs no memory, and the file of a killed
 * run, NAME.part, can be opened.
 */
#include "observe/trace.h"

#include <inttypes.h>

/* Tracks of further branches follow those of all slots. */
uint32_t sl_track_of_branch(const struct sl_setup *s, uint32_t slot, uint32_t branch) {
  const uint32_t further = s->layout->branch_count - 1;
  return branch == 0 ? SL_TRACK_DEVICE(slot) : 3 * s->slot_count + slot * further + branch;
}

/* Names a track: "slot 1, uploads", or "slot 1 on cuda:0, uploads" if there are several devices. */
static void name_track(struct sl_trace *t, uint32_t track, uint32_t slot, const char *what) {
  const struct sl_setup *s = t->setup;
  const int is_one_of_many = s->device_count > 1;
  char name[96];
  snprintf(name, sizeof name, "slot %u%s%s%s", slot, is_one_of_many ? " on " : "",
           is_one_of_many ? s->devices[slot % s->device_count].name : "", what);
  sl_output_print(
      t->file, ",\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": %u, \"args\": {\"name\": \"%s\"}}",
      track, name);
}

int sl_trace_open(struct sl_trace *t, const struct sl_setup *s, const struct sl_files *files) {
  t->setup = s;
  t->log = (struct sl_option_log){s, "--trace"};
  if (!s->options.trace_path) return SL_OK;
  char whole[PATH_MAX];
  const char *path = sl_files_resolve(files, s->options.trace_path, whole);
  const int status = sl_output_open_unless(files->stopped, path, 0, sl_option_report, &t->log, &t->file);
  if (status < 0) return status;
  sl_output_counts(t->file, "spans");
  sl_output_print(t->file,
                  "[\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"args\": {\"name\": \"sluice on %s\"}}",
                  s->options.device);
  for (uint32_t i = 0; i < s->slot_count; i++) {
    name_track(t, SL_TRACK_HOST(i), i, "");
    if (!s->backend->is_device) continue;
    name_track(t, SL_TRACK_DEVICE(i), i, ", device");
    name_track(t, SL_TRACK_UPLOAD(i), i, ", uploads");
    for (uint32_t b = 1; b < s->layout->branch_count; b++) {
      char what[40];
      snprintf(what, sizeof what, ", device, branch %u", b);
      name_track(t, sl_track_of_branch(s, i, b), i, what);
    }
  }
  return SL_OK;
}

void sl_trace_add(struct sl_trace *t, uint32_t track, const struct sl_span *span) {
  const double begin = (double)(int64_t)(span->begin_ns - t->setup->open_ns) * 1e-3;
  const double length = span->end_ns > span->begin_ns ? (double)(span->end_ns - span->begin_ns) * 1e-3 : 0;
  if (!t->file) return;
  pthread_mutex_lock(&t->lock);
  sl_output_print(t->file, ",\n{\"name\": \"%s\", \"ph\": \"X\", \"pid\": 1, \"tid\": %u, \"ts\": %.3f, \"dur\": %.3f",
                  span->name, track, begin, length);
  if (span->key) sl_output_print(t->file, ", \"args\": {\"%s\": %" PRIu64 "}", span->key, span->value);
  sl_output_print(t->file, "}");
  sl_output_mark(t->file, 1);
  pthread_mutex_unlock(&t->lock);
}

static void add_span(void *context, const struct sl_slot *slot, const struct sl_span *span) {
  sl_trace_add(context, SL_TRACK_HOST(slot->index), span);
}

static int flush(void *context, uint64_t now_ns) {
  (void)now_ns;
  struct sl_trace *t = context;
  pthread_mutex_lock(&t->lock);
  (void)sl_output_flush(t->file); /* a failure is reported and ends the trace, not the run */
  pthread_mutex_unlock(&t->lock);
  return SL_OK;
}

const struct sl_observer_calls sl_trace_observer = {.span = add_span, .tick = flush};

int sl_trace_close(struct sl_trace *t, const struct sl_files *files) {
  if (!t->file) return SL_OK;
  sl_output_print(t->file, "\n]\n");
  const int status = sl_files_finish(files, t->file);
  sl_output_close(t->file);
  t->file = NULL;
  return status;
}
