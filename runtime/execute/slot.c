/* slot.c: see slot.h. */
#include "execute/slot.h"

#include "execute/memory_check.h"
#include "layout/bind.h"

uint64_t sl_filled_bytes(const struct sl_setup *s, const struct sl_input *input, const struct sl_storage *storage) {
  const struct sl_member *m = &s->graph->nodes[storage->node].algorithm->members[storage->member];
  const struct sl_field *field = &m->collection->fields[storage->field];
  const uint32_t *used = &input->used[SL_BOUNDS_MAX * storage->member];
  const uint32_t subitems = used[sl_group_of(m->collection, storage->field)];
  return sl_field_values(field, input->event_count, used[0], subitems) * sl_type_bytes(field->type);
}

uint64_t sl_fields_bytes(const struct sl_setup *s) {
  return s->memory_check ? s->memory_check->fields_bytes(s) : s->layout->arena_bytes;
}

uint64_t sl_counters_bytes(const struct sl_setup *s) {
  return s->slice_events * sizeof(uint64_t) + (s->layout->used_count + 1) * sizeof(uint32_t);
}

uint32_t sl_events_of_node(const struct sl_slot *slot, uint32_t n) {
  const struct sl_layout *l = slot->layout;
  const uint32_t set = l->node_set[n];
  return set == UINT32_MAX ? slot->event_count : *(const uint32_t *)slot->storage[l->sets[set].count_storage];
}
