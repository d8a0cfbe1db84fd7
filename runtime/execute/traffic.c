/* traffic.c: how many bytes each node reads and writes: the fields that it names, as far as they were filled. Slots sum
 * the items of each slice that was delivered; from these sums follow the bytes of a field. Constants and scratch do not
 * count.
 */
#include "execute/bind.h"
#include "execute/session.h"

enum { NO_WORD = UINT32_MAX };

struct totals {
  uint64_t events, counts[SL_BOUNDS_MAX];
};

static struct totals totals_of(const struct sl_session *s, const struct sl_storage *at) {
  struct totals t = {0};
  const struct sl_slot_member *member = &s->layout->members[at->node][at->member];
  for (uint32_t k = 0; k < s->slot_count; k++) {
    const struct sl_slot *slot = &s->slots[k];
    t.events += slot->good_events;
    for (uint32_t b = 0; b < SL_BOUNDS_MAX; b++) {
      if (at->kind == SL_STORAGE_INPUT)
        t.counts[b] += slot->input_sums[SL_BOUNDS_MAX * at->member + b];
      else if (member->used[b] != NO_WORD)
        t.counts[b] += slot->used_sums[member->used[b]];
    }
  }
  return t;
}

static uint64_t storage_bytes(const struct sl_session *s, int32_t storage) {
  if (storage == SL_NONE) return 0;
  const struct sl_storage *at = &s->layout->storage[storage];
  const int is_field = at->node < s->graph->node_count && at->field != UINT32_MAX;
  if (at->kind == SL_STORAGE_CONSTANT || !is_field) return 0;
  const struct sl_collection *c = s->graph->nodes[at->node].algorithm->members[at->member].collection;
  const struct totals t = totals_of(s, at);
  return sl_collection_values(c, at->field, t.events, t.counts) * sl_type_bytes(c->fields[at->field].type);
}

void sl_traffic_count_part(struct sl_slot *slot, uint32_t events) {
  slot->good_events += events;
  for (uint32_t w = 0; w < slot->session->layout->used_count; w++) slot->used_sums[w] += slot->used_seen[w];
}

void sl_traffic_count_input(struct sl_slot *slot, const struct sl_input *input) {
  const struct sl_session *s = slot->session;
  const struct sl_algorithm *source = s->graph->nodes[s->graph->source].algorithm;
  for (uint32_t i = 0; i < SL_BOUNDS_MAX * source->member_count; i++) slot->input_sums[i] += input->used[i];
}

void sl_traffic_sum(const struct sl_session *s, uint32_t node, uint64_t *bytes_in, uint64_t *bytes_out) {
  const struct sl_algorithm *a = s->graph->nodes[node].algorithm;
  *bytes_in = *bytes_out = 0;
  for (uint32_t m = 0; m < a->member_count; m++) {
    if (a->members[m].kind != SL_MEMBER_IN && a->members[m].kind != SL_MEMBER_OUT) continue;
    const struct sl_slot_member *at = &s->layout->members[node][m];
    for (uint32_t k = 0; k < at->entry_count; k++)
      for (uint32_t f = 0; f < a->members[m].collection->field_count; f++)
        *(a->members[m].kind == SL_MEMBER_IN ? bytes_in : bytes_out) += storage_bytes(s, at->entries[k].storage[f]);
  }
}
