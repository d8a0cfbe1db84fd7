/* traffic.c: bytes that each node reads and writes: the filled part of the fields that it names.
 *
 * Slots sum the items of each delivered slice; the bytes of a field follow from these sums. Constants and scratch are
 * not counted. A node on an event list reads only the events of its list: all output of producers on the same list, and
 * a part of other inputs that is computed from their offsets after the node has run. On a device with memory of its own
 * the offsets are not read, and the bytes are unknown.
 */
#include "observe/traffic.h"

#include "layout/bind.h"
#include "plugin/field_ref.h"

#include <stdlib.h>

enum { NO_WORD = UINT32_MAX };

struct totals {
  uint64_t events, counts[SL_BOUNDS_MAX];
};

static int is_listed(const struct sl_setup *s, uint32_t node) { return s->layout->node_set[node] != NO_WORD; }

/* 1 if the algorithm has access to its event list. */
static int has_events(const struct sl_setup *s, uint32_t node) {
  const struct sl_algorithm *a = s->graph->nodes[node].algorithm;
  for (uint32_t m = 0; m < a->member_count; m++)
    if (a->members[m].kind == SL_MEMBER_EVENTS) return 1;
  return 0;
}

/* Totals of the events of a storage. The outputs of a node on a list have only events of the list. */
static struct totals totals_of(const struct sl_traffic *traffic, const struct sl_storage *at) {
  const struct sl_setup *s = traffic->setup;
  struct totals t = {0};
  const struct sl_slot_member *member = &s->layout->members[at->node][at->member];
  for (uint32_t k = 0; k < s->slot_count; k++) {
    const struct sl_traffic_slot *slot = &traffic->slots[k];
    t.events += is_listed(s, at->node) ? slot->listed[at->node].events : slot->good_events;
    for (uint32_t b = 0; b < SL_BOUNDS_MAX; b++) {
      if (at->kind == SL_STORAGE_INPUT)
        t.counts[b] += slot->input_sums[SL_BOUNDS_MAX * at->member + b];
      else if (member->used[b] != NO_WORD)
        t.counts[b] += slot->used_sums[member->used[b]];
    }
  }
  return t;
}

/* Bytes of a storage; `fixed`: including the part that does not depend on events and items. */
static uint64_t storage_bytes(const struct sl_traffic *traffic, int32_t storage, int fixed) {
  const struct sl_setup *s = traffic->setup;
  if (storage == SL_NONE) return 0;
  const struct sl_storage *at = &s->layout->storage[storage];
  const int is_field = at->node < s->graph->node_count && at->field != UINT32_MAX;
  if (at->kind == SL_STORAGE_CONSTANT || !is_field) return 0;
  const struct sl_collection *c = s->graph->nodes[at->node].algorithm->members[at->member].collection;
  const struct totals t = totals_of(traffic, at);
  const uint64_t none[SL_BOUNDS_MAX] = {0}, without = fixed ? 0 : sl_collection_values(c, at->field, 0, none);
  return (sl_collection_values(c, at->field, t.events, t.counts) - without) * sl_type_bytes(c->fields[at->field].type);
}

/* 1 if all fields of an input were made by nodes on the same list as the node. */
static int is_of_same_list(const struct sl_setup *s, const struct sl_slot_member *entry, uint32_t fields,
                           uint32_t node) {
  const struct sl_layout *l = s->layout;
  for (uint32_t f = 0; f < fields; f++) {
    const struct sl_storage *at = entry->storage[f] == SL_NONE ? NULL : &l->storage[entry->storage[f]];
    if (!at || at->kind == SL_STORAGE_CONSTANT) continue;
    if (at->kind == SL_STORAGE_INPUT || at->node >= s->graph->node_count) return 0;
    if (l->node_set[at->node] != l->node_set[node] || !has_events(s, at->node)) return 0;
  }
  return 1;
}

static struct sl_traffic_slot *of(void *context, const struct sl_slot *slot) {
  return &((struct sl_traffic *)context)->slots[slot->index];
}

static void count_part(void *context, struct sl_slot *slot, uint32_t events) {
  struct sl_traffic_slot *t = of(context, slot);
  t->good_events += events;
  for (uint32_t n = 0; n < slot->setup->graph->node_count; n++) {
    t->listed[n].bytes_in += t->listed[n].part_bytes_in;
    t->listed[n].events += t->listed[n].part_events;
  }
  for (uint32_t w = 0; w < slot->layout->used_count; w++) t->used_sums[w] += slot->used_seen[w];
}

static void count_input(void *context, struct sl_slot *slot, const struct sl_input *input) {
  const struct sl_graph *g = slot->setup->graph;
  for (uint32_t i = 0; i < SL_BOUNDS_MAX * g->nodes[g->source].algorithm->member_count; i++)
    of(context, slot)->input_sums[i] += input->used[i];
}

/* ------------------------------------------------------------------------------------------------ event lists */

/* Number of entries of a bound that a producer filled, for all events of the slice. */
static uint64_t filled(const struct sl_slot *slot, const struct sl_input *input, const struct sl_storage *at,
                       uint32_t bound) {
  if (at->kind == SL_STORAGE_INPUT) return input->used[SL_BOUNDS_MAX * at->member + bound];
  const uint32_t word =
      at->kind == SL_STORAGE_ARENA ? slot->layout->members[at->node][at->member].used[bound] : NO_WORD;
  return word == NO_WORD ? 0 : slot->used[word];
}

/* Address of the pointer to the offsets of a port, or NULL if the port has none or they are not read. */
static void *const *offsets_place(void *port, int field, const int32_t *storage) {
  return field < 0 || storage[field] == SL_NONE ? NULL : sl_port_pointer(port, (uint32_t)field);
}

/* Computes the bytes per event and per entry for one producer of a port, `port` in the argument struct. */
static struct sl_listed_port weigh_port(const struct sl_layout *l, const struct sl_collection *c, void *port,
                                        const int32_t *storage) {
  struct sl_listed_port p = {.offsets = offsets_place(port, sl_offsets_field(c), storage),
                             .bound_count = sl_bound_count(c)};
  const uint64_t none[SL_BOUNDS_MAX] = {0};
  for (uint32_t b = 0; b < SL_BOUNDS_MAX; b++) p.pools[b] = SL_NONE;
  for (uint32_t b = 1; b < p.bound_count; b++)
    p.item_offsets[b] = offsets_place(port, sl_item_offsets_field(c, b), storage);
  for (uint32_t f = 0; f < c->field_count; f++) {
    if (storage[f] == SL_NONE || l->storage[storage[f]].kind == SL_STORAGE_CONSTANT) continue;
    const uint64_t bytes = sl_type_bytes(c->fields[f].type), fixed = sl_collection_values(c, f, 0, none) * bytes;
    p.bytes += fixed;
    p.event_bytes += sl_collection_values(c, f, 1, none) * bytes - fixed;
    for (uint32_t b = 0; b < p.bound_count; b++) {
      uint64_t one[SL_BOUNDS_MAX] = {0};
      one[b] = 1;
      p.count_bytes[b] += sl_collection_values(c, f, 0, one) * bytes - fixed;
    }
    if (c->fields[f].shape == SL_SHAPE_CODE_BYTES) p.pools[sl_group_of(c, f)] = storage[f];
  }
  return p;
}

/* Counts items, and subitems of each group with offsets, of the listed events. 0 if the node reads no offsets. */
static void count_items(const struct sl_listed_port *p, const struct sl_events *events,
                        uint64_t counts[SL_BOUNDS_MAX]) {
  const uint32_t *offsets = p->offsets ? *p->offsets : NULL;
  for (uint32_t i = 0; offsets && i < *events->count; i++) {
    const uint32_t first = offsets[events->numbers[i]], end = offsets[events->numbers[i] + 1];
    counts[0] += end - first;
    for (uint32_t b = 1; b < p->bound_count; b++) {
      const uint32_t *subitems = p->item_offsets[b] ? *p->item_offsets[b] : NULL;
      if (subitems) counts[b] += subitems[end] - subitems[first];
    }
  }
}

/* Bytes of the listed events. For a pool of bytes, without offsets per event, the share by items. */
static uint64_t listed_bytes(const struct sl_slot *slot, const struct sl_input *input, const struct sl_listed_port *p,
                             const struct sl_events *events) {
  uint64_t counts[SL_BOUNDS_MAX] = {0}, bytes = p->bytes + p->event_bytes * *events->count;
  count_items(p, events, counts);
  for (uint32_t b = 0; b < p->bound_count; b++) {
    const struct sl_storage *pool = p->pools[b] == SL_NONE ? NULL : &slot->layout->storage[p->pools[b]];
    const uint64_t items = pool ? filled(slot, input, pool, 0) : 0;
    if (items > 0) counts[b] = filled(slot, input, pool, b) * counts[0] / items;
    bytes += p->count_bytes[b] * counts[b];
  }
  return bytes;
}

/* Number of values of the listed events for a field that the graph names. */
static uint64_t listed_values(const struct sl_field_ref *ref, const struct sl_events *events) {
  uint64_t entries = 0;
  for (uint32_t i = 0; i < *events->count; i++) {
    uint32_t first = events->numbers[i], end = first + 1;
    if (ref->offsets) first = ref->offsets[first], end = ref->offsets[end];
    if (ref->item_offsets) first = ref->item_offsets[first], end = ref->item_offsets[end];
    entries += end - first;
  }
  return entries * ref->width * sl_type_bytes(ref->type);
}

/* Opens the ports of a node on a list, for all producers. Uses the first slice in flight, because the host has only
 * one. */
static int open_listed(struct sl_traffic_slot *t, struct sl_slot *slot, uint32_t node) {
  const struct sl_setup *s = slot->setup;
  const struct sl_algorithm *a = s->graph->nodes[node].algorithm;
  struct sl_listed *listed = &t->listed[node];
  unsigned char *args = slot->slices_in_flight[0].args[node];
  uint32_t count = 0;
  for (uint32_t m = 0; m < a->member_count; m++) count += s->layout->members[node][m].entry_count;
  listed->ports = malloc((count + 1) * sizeof *listed->ports);
  if (!listed->ports) return SL_ENOMEM;
  for (uint32_t m = 0; m < a->member_count; m++) {
    const struct sl_member *member = &a->members[m];
    const struct sl_slot_member *at = &s->layout->members[node][m];
    unsigned char *port = args + member->args_offset;
    if (member->kind == SL_MEMBER_EVENTS) listed->of = (const struct sl_events *)(const void *)port;
    if (member->kind != SL_MEMBER_IN || member->flags & SL_FLAG_FIELD) continue;
    if (member->flags & SL_FLAG_LIST) port = (unsigned char *)(uintptr_t)sl_args_views(args, member)->at;
    for (uint32_t k = 0; k < at->entry_count; k++, port += sl_collection_bytes(member->collection)) {
      const struct sl_listed_port p = weigh_port(s->layout, member->collection, port, at->entries[k].storage);
      if (is_of_same_list(s, &at->entries[k], member->collection->field_count, node))
        listed->same_list_bytes += p.bytes;
      else
        listed->ports[listed->port_count++] = p;
    }
  }
  return SL_OK;
}

static int open_slot(struct sl_traffic_slot *t, struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  const uint32_t bounds = SL_BOUNDS_MAX * s->graph->nodes[s->graph->source].algorithm->member_count;
  t->used_sums = calloc(s->layout->used_count + 1, sizeof *t->used_sums);
  t->input_sums = calloc(bounds + 1, sizeof *t->input_sums);
  t->listed = calloc(s->graph->node_count + 1, sizeof *t->listed);
  int status = t->used_sums && t->input_sums && t->listed ? SL_OK : SL_ENOMEM;
  for (uint32_t i = 0; !s->backend->is_device && i < s->graph->order_count && status == SL_OK; i++) {
    const uint32_t n = s->graph->order[i];
    if (s->graph->nodes[n].algorithm->kind == SL_KIND_KERNEL && is_listed(s, n)) status = open_listed(t, slot, n);
  }
  return status;
}

int sl_traffic_open(struct sl_traffic *t, const struct sl_setup *s, struct sl_slot *slots) {
  t->setup = s;
  t->slots = calloc(s->slot_count, sizeof *t->slots);
  int status = t->slots ? SL_OK : SL_ENOMEM;
  for (uint32_t i = 0; i < s->slot_count && status == SL_OK; i++) status = open_slot(&t->slots[i], &slots[i]);
  return status;
}

void sl_traffic_close(struct sl_traffic *t) {
  for (uint32_t i = 0; t->slots && i < t->setup->slot_count; i++) {
    for (uint32_t n = 0; t->slots[i].listed && n < t->setup->graph->node_count; n++) free(t->slots[i].listed[n].ports);
    free(t->slots[i].listed);
    free(t->slots[i].used_sums);
    free(t->slots[i].input_sums);
  }
  free(t->slots);
  t->slots = NULL;
}

/* Callback after a kernel has run. */
static void count_listed(void *context, struct sl_slot *slot, const struct sl_slice *slice, uint32_t node,
                         uint64_t events) {
  const struct sl_algorithm *a = slot->setup->graph->nodes[node].algorithm;
  struct sl_listed *listed = &of(context, slot)->listed[node];
  (void)events;
  if (!slice || !listed->of) return;
  listed->part_events = *listed->of->count;
  listed->part_bytes_in = listed->same_list_bytes;
  for (uint32_t p = 0; p < listed->port_count; p++)
    listed->part_bytes_in += listed_bytes(slot, slice->input, &listed->ports[p], listed->of);
  for (uint32_t m = 0; m < a->member_count; m++)
    if (a->members[m].kind == SL_MEMBER_IN && a->members[m].flags & SL_FLAG_FIELD)
      listed->part_bytes_in += listed_values(
          (const struct sl_field_ref *)(const void *)((unsigned char *)slice->args[node] + a->members[m].args_offset),
          listed->of);
}

const struct sl_observer_calls sl_traffic_observer = {
    .node = count_listed, .input = count_input, .part_accepted = count_part};

void sl_traffic_sum(const struct sl_traffic *t, uint32_t node, uint64_t *bytes_in, uint64_t *bytes_out) {
  const struct sl_setup *s = t->setup;
  const struct sl_algorithm *a = s->graph->nodes[node].algorithm;
  const int is_counted = a->kind == SL_KIND_KERNEL && is_listed(s, node);
  *bytes_in = *bytes_out = is_counted && s->backend->is_device ? UINT64_MAX : 0;
  if (*bytes_in) return;
  for (uint32_t k = 0; is_counted && k < s->slot_count; k++) *bytes_in += t->slots[k].listed[node].bytes_in;
  for (uint32_t m = 0; m < a->member_count; m++) {
    if (a->members[m].kind != SL_MEMBER_IN && a->members[m].kind != SL_MEMBER_OUT) continue;
    const struct sl_slot_member *at = &s->layout->members[node][m];
    const uint32_t fields = a->members[m].collection->field_count;
    const int is_listed_input = is_counted && a->members[m].kind == SL_MEMBER_IN;
    for (uint32_t k = 0; k < at->entry_count; k++) {
      if (is_listed_input && !is_of_same_list(s, &at->entries[k], fields, node)) continue;
      for (uint32_t f = 0; f < fields; f++)
        *(a->members[m].kind == SL_MEMBER_IN ? bytes_in : bytes_out) +=
            storage_bytes(t, at->entries[k].storage[f], !is_listed_input);
    }
  }
}
