/* trace.c: what ran when, as Chrome trace JSON, which Perfetto and chrome://tracing open.
 *
 * Each slot has a track: fill (the source), slice, and inside it parts that were run again, nodes, the wait for its
 * turn, and the delivery to sinks. On a device with a memory of its own the nodes stand on a second track of the slot,
 * with the download, and uploads, which go beside them, on a third, placed by the device's time stamps; kernels then
 * run one by one, as with --profile.
 *
 * A span is a line of the file, written when it has ended, so that a trace of any length needs no memory, and one of a
 * run that was killed still opens.
 */
#include "execute/session.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void name_track(struct sl_session *s, uint32_t track, const char *format) {
  char name[64];
  snprintf(name, sizeof name, format, (track - 1) / 3);
  fprintf(s->trace.file,
          ",\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": %u, \"args\": {\"name\": \"%s\"}}", track,
          name);
}

int sl_trace_open(struct sl_session *s) {
  if (!s->options.trace_path) return SL_OK;
  s->trace.file = fopen(s->options.trace_path, "w");
  if (!s->trace.file) {
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "--trace %s: %s", s->options.trace_path, strerror(errno));
    return SL_EIO;
  }
  fprintf(s->trace.file,
          "[\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"args\": {\"name\": \"sluice on %s\"}}",
          s->options.device);
  for (uint32_t i = 0; i < s->slot_count; i++) {
    name_track(s, SL_TRACK_HOST(i), "slot %u");
    if (!s->backend->is_device) continue;
    name_track(s, SL_TRACK_DEVICE(i), "slot %u, device");
    name_track(s, SL_TRACK_UPLOAD(i), "slot %u, uploads");
  }
  return SL_OK;
}

void sl_trace_span(struct sl_session *s, uint32_t track, const char *name, uint64_t begin_ns, uint64_t end_ns,
                   const char *key, uint64_t value) {
  if (!s->trace.file) return;
  const double begin = (double)(int64_t)(begin_ns - s->begin_ns) * 1e-3;
  const double length = end_ns > begin_ns ? (double)(end_ns - begin_ns) * 1e-3 : 0;
  pthread_mutex_lock(&s->trace.lock);
  fprintf(s->trace.file, ",\n{\"name\": \"%s\", \"ph\": \"X\", \"pid\": 1, \"tid\": %u, \"ts\": %.3f, \"dur\": %.3f",
          name, track, begin, length);
  if (key) fprintf(s->trace.file, ", \"args\": {\"%s\": %" PRIu64 "}", key, value);
  fputs("}", s->trace.file);
  pthread_mutex_unlock(&s->trace.lock);
}

int sl_trace_close(struct sl_session *s) {
  if (!s->trace.file) return SL_OK;
  fputs("\n]\n", s->trace.file);
  const int failed = ferror(s->trace.file);
  const int closed = fclose(s->trace.file);
  s->trace.file = NULL;
  if (!failed && closed == 0) return SL_OK;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "--trace %s: could not be written: %s", s->options.trace_path,
              strerror(errno));
  return SL_EIO;
}
