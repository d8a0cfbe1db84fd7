/* trace.c: what ran when, as Chrome trace JSON, which Perfetto and chrome://tracing open.
 *
 * Each slot has a track: fill (the source), slice, and inside it parts that were run again, nodes, the wait for its
 * turn, and the delivery to sinks. On a device with a memory of its own the nodes stand on a second track of the slot,
 * with the download, and uploads, which go beside them, on a third, placed by the device's time stamps; each further
 * branch of steps has a track of its own. Steps then start one by one, as with --profile.
 *
 * A span is a line of the file, written when it has ended, so that a trace of any length needs no memory, and the file
 * of a run that was killed, NAME.part, still opens.
 */
#include "execute/session.h"

#include <inttypes.h>
#include <stdarg.h>

/* Those of further branches follow those of all slots. */
uint32_t sl_track_of_branch(const struct sl_session *s, uint32_t slot, uint32_t branch) {
  const uint32_t further = s->layout->branch_count - 1;
  return branch == 0 ? SL_TRACK_DEVICE(slot) : 3 * s->slot_count + slot * further + branch;
}

/* "slot 1, uploads"; of several devices "slot 1 on cuda:0, uploads". */
static void name_track(struct sl_session *s, uint32_t track, uint32_t slot, const char *what) {
  const int is_one_of_many = s->device_count > 1;
  char name[96];
  snprintf(name, sizeof name, "slot %u%s%s%s", slot, is_one_of_many ? " on " : "",
           is_one_of_many ? s->slots[slot].place->name : "", what);
  sl_output_print(
      s->trace.file,
      ",\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": %u, \"args\": {\"name\": \"%s\"}}", track,
      name);
}

static void say(void *context, uint32_t severity, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sl_say_of_option(context, "--trace", severity, format, arguments);
  va_end(arguments);
}

int sl_trace_open(struct sl_session *s) {
  if (!s->options.trace_path) return SL_OK;
  char whole[PATH_MAX];
  const char *path = sl_files_resolve(s, s->options.trace_path, whole);
  const int status = sl_output_open_unless(&s->turns.stopped, path, 0, say, s, &s->trace.file);
  if (status < 0) return status;
  sl_output_counts(s->trace.file, "spans");
  sl_output_print(s->trace.file,
                  "[\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"args\": {\"name\": \"sluice on %s\"}}",
                  s->options.device);
  for (uint32_t i = 0; i < s->slot_count; i++) {
    name_track(s, SL_TRACK_HOST(i), i, "");
    if (!s->backend->is_device) continue;
    name_track(s, SL_TRACK_DEVICE(i), i, ", device");
    name_track(s, SL_TRACK_UPLOAD(i), i, ", uploads");
    for (uint32_t b = 1; b < s->layout->branch_count; b++) {
      char what[40];
      snprintf(what, sizeof what, ", device, branch %u", b);
      name_track(s, sl_track_of_branch(s, i, b), i, what);
    }
  }
  return SL_OK;
}

void sl_trace_span(struct sl_session *s, uint32_t track, const char *name, uint64_t begin_ns, uint64_t end_ns,
                   const char *key, uint64_t value) {
  if (!s->trace.file) return;
  const double begin = (double)(int64_t)(begin_ns - s->opening.begin_ns) * 1e-3;
  const double length = end_ns > begin_ns ? (double)(end_ns - begin_ns) * 1e-3 : 0;
  pthread_mutex_lock(&s->trace.lock);
  sl_output_print(s->trace.file,
                  ",\n{\"name\": \"%s\", \"ph\": \"X\", \"pid\": 1, \"tid\": %u, \"ts\": %.3f, \"dur\": %.3f", name,
                  track, begin, length);
  if (key) sl_output_print(s->trace.file, ", \"args\": {\"%s\": %" PRIu64 "}", key, value);
  sl_output_print(s->trace.file, "}");
  sl_output_mark(s->trace.file, 1);
  pthread_mutex_unlock(&s->trace.lock);
}

void sl_trace_flush(struct sl_session *s) {
  if (!s->trace.file) return;
  pthread_mutex_lock(&s->trace.lock);
  (void)sl_output_flush(s->trace.file); /* a failure is told, and ends the trace, not the run */
  pthread_mutex_unlock(&s->trace.lock);
}

int sl_trace_close(struct sl_session *s) {
  if (!s->trace.file) return SL_OK;
  sl_output_print(s->trace.file, "\n]\n");
  const int status = sl_files_finish(s, s->trace.file);
  sl_output_close(s->trace.file);
  s->trace.file = NULL;
  return status;
}
