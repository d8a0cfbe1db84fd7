/* marks.c: time stamps of a device with a memory of its own, for --profile and --trace; without them none are taken. */
#include "execute/session.h"

/* Each flight has one before each step, and with branches one after it, where else the next one's is; then those of the
 * slice. After those of all flights comes the one that a trace counts from. Each is in the stream where it was taken.
 */
static uint32_t marks_of_steps(const struct sl_layout *l) {
  return l->branch_count > 1 ? 2 * l->step_count : l->step_count;
}
static uint32_t mark_of(const struct sl_slot *slot, uint32_t flight, uint32_t step) {
  return flight * (marks_of_steps(slot->session->layout) + SL_SLICE_MARKS) + step;
}
static uint32_t mark_after(const struct sl_slot *slot, uint32_t flight, uint32_t step) {
  const struct sl_layout *l = slot->session->layout;
  return mark_of(slot, flight, l->branch_count > 1 ? l->step_count + step : step + 1);
}
static uint32_t mark_of_slice(const struct sl_slot *slot, uint32_t flight, uint32_t which) {
  return mark_of(slot, flight, marks_of_steps(slot->session->layout)) + which;
}
static uint32_t epoch_mark(const struct sl_slot *slot) { return mark_of(slot, slot->session->backend->flights, 0); }

int sl_marks_are_taken(const struct sl_session *s) {
  return s->backend->is_device && (s->options.profile || s->trace.file != NULL);
}

static int mark(struct sl_slot *slot, struct sl_stream *stream, uint32_t index, uint32_t among) {
  const struct sl_session *s = slot->session;
  return sl_marks_are_taken(s) ? s->backend->mark(stream, index, among) : SL_OK;
}

int sl_mark_before_step(struct sl_slot *slot, uint32_t flight, uint32_t step) {
  return mark(slot, sl_step_stream(slot, step), mark_of(slot, flight, step), SL_MARK_KERNELS);
}

int sl_mark_after_step(struct sl_slot *slot, uint32_t flight, uint32_t step) {
  if (slot->session->layout->branch_count == 1) return SL_OK; /* the next step's */
  return mark(slot, sl_step_stream(slot, step), mark_after(slot, flight, step), SL_MARK_KERNELS);
}

int sl_mark_slice(struct sl_slot *slot, uint32_t flight, uint32_t which) {
  const int is_copy = which == SL_SLICE_UPLOAD_BEGIN || which == SL_SLICE_UPLOAD_END;
  return mark(slot, slot->stream, mark_of_slice(slot, flight, which), is_copy ? SL_MARK_COPIES : SL_MARK_KERNELS);
}

/* ------------------------------------------------------------------------------------------------- trace */

/* From here on the device's marks have a time of the host. */
int sl_marks_set_epoch(struct sl_slot *slot) {
  const struct sl_backend *backend = slot->session->backend;
  int status = SL_OK;
  for (uint32_t b = 0; b < slot->session->layout->branch_count && status == SL_OK; b++) {
    status = backend->mark(slot->streams[b], epoch_mark(slot), SL_MARK_KERNELS);
    if (status == SL_OK) status = backend->settle(slot->streams[b]);
  }
  slot->epoch_ns = sl_now_ns();
  return status;
}

static int trace_marks(struct sl_slot *slot, uint32_t branch, uint32_t track, const char *name, uint32_t from,
                       uint32_t to, uint64_t events) {
  const struct sl_backend *backend = slot->session->backend;
  double begin = 0, length = 0;
  int status = backend->marked_us(slot->streams[branch], epoch_mark(slot), from, &begin);
  if (status == SL_OK) status = backend->marked_us(slot->streams[branch], from, to, &length);
  if (status < 0) return status;
  const uint64_t begin_ns = slot->epoch_ns + (uint64_t)(1000.0 * begin);
  sl_trace_span(slot->session, track, name, begin_ns, begin_ns + (uint64_t)(1000.0 * length), "events", events);
  return SL_OK;
}

static int trace_step(struct sl_slot *slot, uint32_t k, uint32_t step, uint32_t count) {
  const struct sl_session *s = slot->session;
  const struct sl_step *at = &s->layout->steps[step];
  if (at->kind != SL_STEP_RUN) return SL_OK;
  return trace_marks(slot, at->branch, sl_track_of_branch(s, slot->index, at->branch), sl_step_name(s->layout, step),
                     mark_of(slot, k, step), mark_after(slot, k, step), count);
}

int sl_marks_trace(struct sl_slot *slot, uint32_t k, uint32_t count) {
  const struct sl_session *s = slot->session;
  int status = SL_OK;
  if (slot->flights[k].uploaded)
    status = trace_marks(slot, 0, SL_TRACK_UPLOAD(slot->index), "upload", mark_of_slice(slot, k, SL_SLICE_UPLOAD_BEGIN),
                         mark_of_slice(slot, k, SL_SLICE_UPLOAD_END), count);
  slot->flights[k].uploaded = 0; /* once, also if parts run again */
  for (uint32_t step = 0; step < s->layout->step_count && status == SL_OK; step++)
    status = trace_step(slot, k, step, count);
  if (status == SL_OK)
    status = trace_marks(slot, 0, SL_TRACK_DEVICE(slot->index), "download", mark_of_slice(slot, k, SL_SLICE_STEPS_END),
                         mark_of_slice(slot, k, SL_SLICE_PACKED), count);
  return status;
}

/* ----------------------------------------------------------------------------------------------- profile */

int sl_marks_count(struct sl_slot *slot, uint32_t flight, uint32_t count) {
  const struct sl_session *s = slot->session;
  for (uint32_t step = 0; step < s->layout->step_count; step++) {
    const struct sl_step *at = &s->layout->steps[step];
    double microseconds;
    if (at->kind != SL_STEP_RUN) continue;
    const int status = s->backend->marked_us(sl_step_stream(slot, step), mark_of(slot, flight, step),
                                             mark_after(slot, flight, step), &microseconds);
    if (status < 0) return status;
    for (uint32_t i = 0; i < at->node_count; i++) {
      slot->node_calls[at->nodes[i]]++;
      slot->node_events[at->nodes[i]] += count;
      slot->node_ns[at->nodes[i]] += (uint64_t)(1000.0 * microseconds / at->node_count);
    }
  }
  return SL_OK;
}
