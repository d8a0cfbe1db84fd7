/* observer.c: see observer.h. */
#include "execute/observer.h"

#include "base/clock.h"
#include "execute/slot.h"

void sl_observers_add(struct sl_observers *o, const struct sl_observer_calls *calls, void *context) {
  o->at[o->count++] = (struct sl_observer){calls, context};
}

void sl_observers_remove(struct sl_observers *o, const void *context) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < o->count; i++)
    if (o->at[i].context != context) o->at[count++] = o->at[i];
  o->count = count;
}

const char *sl_activity_name(uint32_t activity) {
#define SL_ACTIVITY_NAME_(activity, name) [activity] = name,
  static const char *const names[SL_ACTIVITIES] = {SL_ACTIVITY_TABLE(SL_ACTIVITY_NAME_)};
  return names[activity];
}

uint64_t sl_activity_settle(struct sl_slot *slot) {
  const uint64_t now = sl_now_ns();
  SL_NOTIFY(slot->observers, activity, slot, slot->activity, now - slot->activity_ns);
  slot->activity_ns = now;
  return now;
}

uint32_t sl_activity_enter(struct sl_slot *slot, uint32_t activity) {
  const uint32_t before = slot->activity;
  sl_activity_settle(slot);
  slot->activity = activity;
  return before;
}

void sl_nodes_ran(struct sl_slot *slot, const struct sl_slice *slice, const char *name, const uint32_t *nodes,
                  uint32_t count) {
  const uint64_t begin = slot->activity_ns, now = sl_now_ns(), ns = now - begin;
  slot->activity_ns = now;
  sl_span_add(slot, name, begin, now, "events", sl_events_of_node(slot, nodes[0]));
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t share = ns / count + (i == 0 ? ns % count : 0); /* the first node gets the remainder */
    SL_NOTIFY(slot->observers, activity, slot, SL_ACTIVITY_OF_NODE(nodes[i]), share);
    SL_NOTIFY(slot->observers, node, slot, slice, nodes[i], sl_events_of_node(slot, nodes[i]));
  }
}

void sl_span_add(struct sl_slot *slot, const char *name, uint64_t begin_ns, uint64_t end_ns, const char *key,
                 uint64_t value) {
  const struct sl_span span = {name, begin_ns, end_ns, key, value};
  SL_NOTIFY(slot->observers, span, slot, &span);
}

void sl_span_end(struct sl_slot *slot, const char *name, uint64_t begin_ns, const char *key, uint64_t value) {
  sl_span_add(slot, name, begin_ns, sl_now_ns(), key, value);
}

struct sl_scope sl_scope_begin(struct sl_slot *slot, uint32_t activity) {
  const uint32_t outer = sl_activity_enter(slot, activity);
  return (struct sl_scope){outer, slot->activity_ns};
}

void sl_scope_end(struct sl_slot *slot, struct sl_scope scope) { sl_activity_enter(slot, scope.outer); }

void sl_scope_end_span(struct sl_slot *slot, struct sl_scope scope, const char *name, const char *key, uint64_t value) {
  sl_activity_enter(slot, scope.outer);
  sl_span_add(slot, name, scope.begin_ns, slot->activity_ns, key, value);
}
