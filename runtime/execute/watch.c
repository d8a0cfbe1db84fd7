/* watch.c: see watch.h. */
#include "execute/watch.h"

#include "execute/session.h"

const void *sl_moment_storage(const struct sl_moment *m, int32_t storage) {
  const struct sl_storage *at = &m->session->layout->storage[storage];
  return at->kind == SL_STORAGE_INPUT ? m->flight->input->block + at->offset : m->slot->storage[storage];
}

uint64_t sl_moment_filled(const struct sl_moment *m, uint32_t member, uint32_t bound) {
  return m->flight->input->used[SL_BOUNDS_MAX * member + bound];
}

struct sl_moment sl_moment_first(const struct sl_session *s) {
  const struct sl_slot *slot = &s->slots[0];
  return (struct sl_moment){.session = s, .event_count = slot->event_count, .slot = slot, .flight = &slot->flights[0]};
}

int sl_watch_step(const struct sl_slot *slot, const struct sl_flight *flight, const struct sl_step *step,
                  uint32_t node) {
  const struct sl_watch *watch = &slot->session->watch;
  if (watch->look == NULL) return 0;
  const struct sl_moment moment = {.session = slot->session,
                                   .step = step,
                                   .node = node,
                                   .event_count = slot->event_count,
                                   .is_whole = slot->event_count == flight->input->event_count,
                                   .slot = slot,
                                   .flight = flight};
  return watch->look(watch->context, &moment);
}

int sl_session_watch_slice(struct sl_session *s, void *source_state, sl_look *look, void *context, int *source_failed) {
  struct sl_slot *slot = &s->slots[0];
  struct sl_input *input = slot->flights[0].input = &slot->flights[0].own_input;
  struct sl_fill fill;
  const int more = sl_source_fill(s, source_state, input, s->slice_events, 1, &fill);
  *source_failed = more < 0;
  input->event_count = fill.event_count;
  if (more < 0 || fill.event_count == 0) return more < 0 ? more : 0;
  s->watch = (struct sl_watch){look, context};
  s->delivery.active = 0;
  const int status = sl_flight_finish(slot, 0);
  s->watch = (struct sl_watch){NULL, NULL};
  return status < 0 && status != SL_EINTERRUPTED ? status : more;
}
