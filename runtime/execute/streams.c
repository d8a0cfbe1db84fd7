/* streams.c: the streams of a slot, one per branch of the layout, and the order of their work. All branches begin after
 * branch 0 has cleared the counters of the slice; steps wait for steps of other branches; branch 0 packs the results
 * after all branches have ended. Work after a slice in branch 0 therefore comes after the whole slice.
 *
 * A stream records its progress under an index: the index of a step, or the index of the end of the slice for its
 * beginning.
 */
#include "execute/streams.h"

#include <stdlib.h>

struct sl_stream *sl_step_stream(const struct sl_slot *slot, uint32_t step) {
  return slot->streams[slot->layout->steps[step].branch];
}

int sl_streams_open(struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  const uint32_t count = s->layout->branch_count;
  slot->streams = calloc(count, sizeof *slot->streams);
  for (uint32_t b = 0; slot->streams && b < count; b++) {
    slot->streams[b] = s->backend->stream_open(slot->device, (s->slot_count + s->device_count - 1) / s->device_count);
    if (!slot->streams[b]) return SL_ENOMEM;
  }
  if (!slot->streams) return SL_ENOMEM;
  slot->stream = slot->streams[0];
  return SL_OK;
}

void sl_streams_close(struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  for (uint32_t b = 0; slot->streams && b < s->layout->branch_count; b++)
    if (slot->streams[b]) s->backend->stream_close(slot->streams[b]);
  free(slot->streams);
}

void sl_streams_point(struct sl_slot *slot, const uint32_t *event_count) {
  for (uint32_t b = 0; b < slot->layout->branch_count; b++) {
    slot->streams[b]->errors = slot->errors;
    slot->streams[b]->event_count = event_count;
  }
}

int sl_streams_fork(struct sl_slot *slot) {
  const struct sl_layout *l = slot->layout;
  const struct sl_backend *backend = slot->setup->backend;
  int status = l->branch_count > 1 ? backend->reached(slot->stream, l->step_count) : SL_OK;
  for (uint32_t b = 1; b < l->branch_count && status == SL_OK; b++)
    status = backend->wait_for(slot->streams[b], slot->stream, l->step_count);
  return status;
}

int sl_step_await(struct sl_slot *slot, uint32_t step) {
  const struct sl_layout *l = slot->layout;
  const struct sl_step *at = &l->steps[step];
  int status = SL_OK;
  for (uint32_t w = at->first_wait; w < at->first_wait + at->wait_count && status == SL_OK; w++)
    status = slot->setup->backend->wait_for(slot->streams[at->branch], sl_step_stream(slot, l->waits[w]), l->waits[w]);
  return status;
}

int sl_step_reached(struct sl_slot *slot, uint32_t step) {
  if (!slot->layout->steps[step].is_awaited) return SL_OK;
  return slot->setup->backend->reached(sl_step_stream(slot, step), step);
}

int sl_streams_join(struct sl_slot *slot) {
  const struct sl_layout *l = slot->layout;
  const struct sl_backend *backend = slot->setup->backend;
  int status = SL_OK;
  for (uint32_t b = 1; b < l->branch_count && status == SL_OK; b++) {
    status = backend->reached(slot->streams[b], l->step_count);
    if (status == SL_OK) status = backend->wait_for(slot->stream, slot->streams[b], l->step_count);
  }
  return status;
}
