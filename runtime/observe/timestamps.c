/* timestamps.c: timestamps of a device with a memory of its own, for --profile and --trace. */
#include "observe/timestamps.h"

#include "base/clock.h"
#include "execute/streams.h"

#include <stdlib.h>

/* Number of timestamps of the steps of a slice: one before each step, and with branches one after it (without
 * branches the end is the beginning of the next step). Timestamps of the slice follow, and after those of
 * all slices in flight the epoch of the trace. Each is recorded in the stream of its step. */
static uint32_t step_timestamp_count(const struct sl_layout *l) {
  return l->branch_count > 1 ? 2 * l->step_count : l->step_count;
}
static uint32_t mark_of(const struct sl_slot *slot, uint32_t slice_index, uint32_t step) {
  return slice_index * (step_timestamp_count(slot->layout) + SL_POINTS) + step;
}
static uint32_t mark_after(const struct sl_slot *slot, uint32_t slice_index, uint32_t step) {
  const struct sl_layout *l = slot->layout;
  return mark_of(slot, slice_index, l->branch_count > 1 ? l->step_count + step : step + 1);
}
static uint32_t mark_of_point(const struct sl_slot *slot, uint32_t slice_index, uint32_t which) {
  return mark_of(slot, slice_index, step_timestamp_count(slot->layout)) + which;
}
static uint32_t epoch_mark(const struct sl_slot *slot) {
  return mark_of(slot, slot->setup->backend->slices_in_flight, 0);
}

static int before_step(void *context, struct sl_slot *slot, uint32_t slice_index, uint32_t step) {
  (void)context;
  return slot->setup->backend->mark(sl_step_stream(slot, step), mark_of(slot, slice_index, step), SL_MARK_KERNELS);
}

static int after_step(void *context, struct sl_slot *slot, uint32_t slice_index, uint32_t step) {
  (void)context;
  if (slot->layout->branch_count == 1) return SL_OK; /* the next step records it */
  return slot->setup->backend->mark(sl_step_stream(slot, step), mark_after(slot, slice_index, step), SL_MARK_KERNELS);
}

static int at_point(void *context, struct sl_slot *slot, uint32_t slice_index, uint32_t point) {
  struct sl_timestamps *t = context;
  const int is_copy = point == SL_POINT_UPLOAD_BEGIN || point == SL_POINT_UPLOAD_END;
  if (point == SL_POINT_UPLOAD_END) t->slots[slot->index].uploaded[slice_index] = 1;
  return slot->setup->backend->mark(slot->stream, mark_of_point(slot, slice_index, point),
                                    is_copy ? SL_MARK_COPIES : SL_MARK_KERNELS);
}

/* ------------------------------------------------------------------------------------------------- trace */

/* Before the first slice: relates timestamps of the device to the time of the host. */
static int set_epoch(void *context, struct sl_slot *slot) {
  struct sl_timestamps *t = context;
  const struct sl_backend *backend = slot->setup->backend;
  int status = SL_OK;
  if (!t->trace->file || t->slots[slot->index].epoch_ns) return SL_OK;
  for (uint32_t b = 0; b < slot->layout->branch_count && status == SL_OK; b++) {
    status = backend->mark(slot->streams[b], epoch_mark(slot), SL_MARK_KERNELS);
    if (status == SL_OK) status = backend->settle(slot->streams[b]);
  }
  t->slots[slot->index].epoch_ns = sl_now_ns();
  return status;
}

static int trace_marks(struct sl_timestamps *t, struct sl_slot *slot, uint32_t branch, uint32_t track, const char *name,
                       uint32_t from, uint32_t to, uint64_t events) {
  const struct sl_backend *backend = slot->setup->backend;
  double begin = 0, length = 0;
  int status = backend->marked_us(slot->streams[branch], epoch_mark(slot), from, &begin);
  if (status == SL_OK) status = backend->marked_us(slot->streams[branch], from, to, &length);
  if (status < 0) return status;
  const uint64_t begin_ns = t->slots[slot->index].epoch_ns + (uint64_t)(1000.0 * begin);
  const struct sl_span span = {name, begin_ns, begin_ns + (uint64_t)(1000.0 * length), "events", events};
  sl_trace_add(t->trace, track, &span);
  return SL_OK;
}

static int trace_step(struct sl_timestamps *t, struct sl_slot *slot, uint32_t k, uint32_t step, uint32_t count) {
  const struct sl_setup *s = slot->setup;
  const struct sl_step *at = &s->layout->steps[step];
  if (at->kind != SL_STEP_RUN) return SL_OK;
  return trace_marks(t, slot, at->branch, sl_track_of_branch(s, slot->index, at->branch), sl_step_name(s->layout, step),
                     mark_of(slot, k, step), mark_after(slot, k, step), count);
}

static int trace_slice(struct sl_timestamps *t, struct sl_slot *slot, uint32_t k, uint32_t count) {
  const struct sl_setup *s = slot->setup;
  int status = SL_OK;
  if (t->slots[slot->index].uploaded[k])
    status =
        trace_marks(t, slot, 0, SL_TRACK_UPLOAD(slot->index), "upload", mark_of_point(slot, k, SL_POINT_UPLOAD_BEGIN),
                    mark_of_point(slot, k, SL_POINT_UPLOAD_END), count);
  t->slots[slot->index].uploaded[k] = 0; /* only once, even if parts are run again */
  for (uint32_t step = 0; step < s->layout->step_count && status == SL_OK; step++)
    status = trace_step(t, slot, k, step, count);
  if (status == SL_OK)
    status = trace_marks(t, slot, 0, SL_TRACK_DEVICE(slot->index), "download",
                         mark_of_point(slot, k, SL_POINT_STEPS_END), mark_of_point(slot, k, SL_POINT_PACKED), count);
  return status;
}

/* ----------------------------------------------------------------------------------------------- profile */

static int count_slice(struct sl_timestamps *t, struct sl_slot *slot, uint32_t slice_index, uint32_t count) {
  const struct sl_setup *s = slot->setup;
  for (uint32_t step = 0; step < s->layout->step_count; step++) {
    const struct sl_step *at = &s->layout->steps[step];
    double microseconds;
    if (at->kind != SL_STEP_RUN) continue;
    const int status = s->backend->marked_us(sl_step_stream(slot, step), mark_of(slot, slice_index, step),
                                             mark_after(slot, slice_index, step), &microseconds);
    if (status < 0) return status;
    for (uint32_t i = 0; i < at->node_count; i++) {
      struct sl_account *a = &t->times->slots[slot->index];
      a->node_calls[at->nodes[i]]++;
      a->node_events[at->nodes[i]] += count;
      a->node_ns[at->nodes[i]] += (uint64_t)(1000.0 * microseconds / at->node_count);
    }
  }
  return SL_OK;
}

static int arrived(void *context, struct sl_slot *slot, uint32_t slice_index, uint32_t count) {
  struct sl_timestamps *t = context;
  const int status = count_slice(t, slot, slice_index, count);
  return status == SL_OK && t->trace->file ? trace_slice(t, slot, slice_index, count) : status;
}

const struct sl_observer_calls sl_timestamps_observer = {
    .slice_begin = set_epoch, .step_begin = before_step, .step_end = after_step, .point = at_point, .arrived = arrived};

int sl_timestamps_open(struct sl_timestamps *t, const struct sl_setup *s, struct sl_times *times,
                       struct sl_trace *trace) {
  *t = (struct sl_timestamps){times, trace, calloc(s->slot_count, sizeof *t->slots)};
  return t->slots ? SL_OK : SL_ENOMEM;
}

void sl_timestamps_close(struct sl_timestamps *t) {
  free(t->slots);
  t->slots = NULL;
}
