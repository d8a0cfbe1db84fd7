/* layout.c: capacities, steps, storage, lifetimes and offsets; see layout.h.
 *
 *   1. capacities of all ports, in execution order (the terms of a port refer to earlier ports or properties);
 *   2. steps: the live kernel nodes in order, and a combining step before the first node of each set of several lists;
 *   3. one storage per field that is written; fields that are read refer to it;
 *   4. lifetimes: from the writing step to the last reading step; fields that a host node reads live to the end;
 *   5. branches: which steps run concurrently (branches.c);
 *   6. offsets (place.c), and an independent check of the result (order_check.c).
 */
#include "layout/layout.h"

#include "layout/bind.h"

#include <stdlib.h>
#include <string.h>

enum { NO_INDEX = UINT32_MAX };

static const struct sl_member *member_of(const struct sl_layout *l, uint32_t node, uint32_t member) {
  return &l->graph->nodes[node].algorithm->members[member];
}

static uint32_t kind_of(const struct sl_layout *l, uint32_t node) { return l->graph->nodes[node].algorithm->kind; }

static uint32_t field_count_of(const struct sl_member *m) {
  return m->kind == SL_MEMBER_SCRATCH ? 1 : m->collection ? m->collection->field_count : 0;
}

/* ------------------------------------------------------------------------------------------- 1. capacities */

struct lookup_context {
  const struct sl_layout *layout;
  uint32_t node;
};

static uint64_t look_up(void *context, const struct sl_term *term) {
  const struct lookup_context *c = context;
  const struct sl_node *node = &c->layout->graph->nodes[c->node];
  uint32_t bound;
  const int index = sl_term_member(node->algorithm, term, &bound);
  if (index < 0) return 0; /* does not happen: such plugins are refused on loading */
  if (term->kind == SL_TERM_PROPERTY) return (uint64_t)node->values[index].number;
  if (term->kind == SL_TERM_DIMENSION) return node->algorithm->members[index].collection->dimensions[bound].size;
  if (term->kind == SL_TERM_BUDGET)
    return c->layout->is_limited ? *sl_budget(&c->layout->budgets, c->node, (uint32_t)index)
                                 : (uint64_t)node->values[index].number;
  const struct sl_slot_member *m = &c->layout->members[c->node][index];
  return term->kind == SL_TERM_ITEMS || term->kind == SL_TERM_SUBITEMS ? m->capacities[bound] : m->entry_count;
}

uint64_t sl_layout_capacity(const struct sl_layout *l, uint32_t node, const struct sl_capacity *capacity) {
  struct lookup_context context = {l, node};
  return sl_capacity_value(capacity, l->events, look_up, &context);
}

/* The producer of an input; for a list port, its `k`th entry. */
static const struct sl_slot_member *producer_of(const struct sl_layout *l, const struct sl_wiring *wiring, uint32_t k) {
  return &l->members[wiring->ports[k].node][wiring->ports[k].member];
}

/* Budgets that are smaller than those of the graph leave each capacity at its limit per event. */
static void raise_to_limits(const struct sl_layout *l, struct sl_slot_member *slot) {
  for (uint32_t b = 0; l->is_limited && b < SL_BOUNDS_MAX; b++)
    if (slot->capacities[b] < slot->limits[b]) slot->capacities[b] = slot->limits[b];
}

static void set_capacities_of(struct sl_layout *l, uint32_t n) {
  const struct sl_node *node = &l->graph->nodes[n];
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    struct sl_slot_member *slot = &l->members[n][m];
    if (member->kind == SL_MEMBER_IN) {
      memset(slot->capacities, 0, sizeof slot->capacities);
      for (uint32_t k = 0; k < node->inputs[m].count; k++) {
        const struct sl_slot_member *from = producer_of(l, &node->inputs[m], k);
        memcpy(slot->entries[k].capacities, from->capacities, sizeof from->capacities);
        for (uint32_t b = 0; member->flags & SL_FLAG_LIST && b < SL_BOUNDS_MAX; b++)
          slot->capacities[b] += from->capacities[b];
      }
    } else if (member->kind == SL_MEMBER_SCRATCH) {
      const int is_used = sl_scratch_is_used(node->algorithm, member, node->shared);
      slot->capacities[0] = is_used ? sl_layout_capacity(l, n, &member->capacity) : 0;
    } else if (member->kind == SL_MEMBER_OUT && node->algorithm->kind != SL_KIND_CONSTANT) {
      slot->capacities[0] = member->shares
                                ? l->members[n][sl_member_index(node->algorithm, member->shares)].capacities[0]
                                : sl_layout_capacity(l, n, &member->capacity);
      for (uint32_t b = 1; b < sl_bound_count(member->collection); b++)
        slot->capacities[b] = sl_layout_capacity(l, n, sl_bound_capacity(member, b));
    }
    if (member->kind == SL_MEMBER_SCRATCH || member->kind == SL_MEMBER_OUT) raise_to_limits(l, slot);
  }
}

/* Sets the limits per event. They follow from the graph alone, because events beyond them are errors. */
static void set_limits(struct sl_layout *l) {
  l->events = 1;
  for (uint32_t i = 0; i < l->graph->order_count; i++) {
    const uint32_t n = l->graph->order[i];
    set_capacities_of(l, n);
    for (uint32_t m = 0; m < l->graph->nodes[n].algorithm->member_count; m++)
      memcpy(l->members[n][m].limits, l->members[n][m].capacities, sizeof l->members[n][m].limits);
  }
  l->is_limited = 1;
}

/* A capacity that is too large. */
struct excess {
  const struct sl_node *node;
  const struct sl_member *member;
  uint32_t bound;
  uint64_t count, limit;
};

/* Sets all capacities for slices of `events` events. Returns 1 and describes the first capacity that is too large,
 * if any. */
static int set_capacities(struct sl_layout *l, uint32_t events, struct excess *e) {
  l->events = events;
  for (uint32_t i = 0; i < l->graph->order_count; i++) {
    const uint32_t n = l->graph->order[i];
    const struct sl_node *node = &l->graph->nodes[n];
    set_capacities_of(l, n);
    for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
      const struct sl_member *member = &node->algorithm->members[m];
      const struct sl_slot_member *slot = &l->members[n][m];
      const int is_totals = member->kind == SL_MEMBER_OUT && sl_is_totals(member->collection);
      const uint64_t limit = member->kind == SL_MEMBER_SCRATCH ? SL_SCRATCH_MAX
                             : is_totals                       ? SL_TOTALS_MAX
                                                               : SL_CAPACITY_MAX;
      if (member->kind == SL_MEMBER_IN) continue;
      for (uint32_t b = 0; b < SL_BOUNDS_MAX; b++) {
        if (slot->capacities[b] <= limit) continue;
        *e = (struct excess){node, member, b, slot->capacities[b], limit};
        return 1;
      }
    }
  }
  return 0;
}

/* Reports the excess. Capacities grow with the slice size, so bisection finds the largest size that works. */
static int refuse_capacities(struct sl_layout *l, struct sl_diagnostics *d, const struct excess *e) {
  const uint32_t events = l->events;
  uint32_t works = 0, fails = events;
  char name[160], hint[160] = "no slice size is small enough: lower a budget";
  while (works + 1 < fails) {
    struct excess other;
    const uint32_t middle = works + (fails - works) / 2;
    if (set_capacities(l, middle, &other))
      fails = middle;
    else
      works = middle;
  }
  if (works > 0) snprintf(hint, sizeof hint, "the largest slice size that works is --slice-events %u", works);
  const int is_scratch = e->member->kind == SL_MEMBER_SCRATCH;
  snprintf(name, sizeof name, "%s", e->member->name);
  if (!is_scratch) sl_bound_name(e->member, e->bound, name, sizeof name);
  sl_diagnose(d, SL_ERROR, &e->node->location, e->node->name, hint,
              "a slice of %u events would need room for %llu %s of %s, but at most %llu are possible", events,
              (unsigned long long)e->count,
              is_scratch ? "values"
              : e->bound ? "subitems"
                         : "items",
              name, (unsigned long long)e->limit);
  return SL_EGRAPH;
}

/* Each bound of an output has a word with the count that was needed. An output that shares offsets uses the word of
 * its partner, an input the word of its producer. */
static void number_used_words(struct sl_layout *l, uint32_t n) {
  const struct sl_node *node = &l->graph->nodes[n];
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    struct sl_slot_member *slot = &l->members[n][m];
    if (member->kind == SL_MEMBER_IN) {
      for (uint32_t k = 0; k < node->inputs[m].count; k++)
        memcpy(slot->entries[k].used, producer_of(l, &node->inputs[m], k)->used, sizeof slot->used);
    } else if (member->kind == SL_MEMBER_OUT && node->algorithm->kind != SL_KIND_CONSTANT) {
      slot->used[0] =
          member->shares ? l->members[n][sl_member_index(node->algorithm, member->shares)].used[0] : l->used_count++;
      for (uint32_t b = 1; b < sl_bound_count(member->collection); b++) slot->used[b] = l->used_count++;
    }
  }
}

/* Sets the capacity per `used` word: one comparison per word then shows that nothing has overflowed. */
static int set_used_capacities(struct sl_layout *l) {
  l->used_capacities = malloc((l->used_count + 1) * sizeof *l->used_capacities);
  if (!l->used_capacities) return SL_ENOMEM;
  for (uint32_t w = 0; w < l->used_count; w++) l->used_capacities[w] = UINT64_MAX;
  for (uint32_t n = 0; n < l->graph->node_count; n++) {
    const struct sl_algorithm *a = l->graph->nodes[n].algorithm;
    for (uint32_t m = 0; a->kind == SL_KIND_KERNEL && m < a->member_count; m++) {
      const struct sl_slot_member *at = &l->members[n][m];
      for (uint32_t b = 0; a->members[m].kind == SL_MEMBER_OUT && b < SL_BOUNDS_MAX; b++) {
        uint64_t *least = at->used[b] == NO_INDEX ? NULL : &l->used_capacities[at->used[b]];
        if (least && at->capacities[b] < *least) *least = at->capacities[b];
      }
    }
  }
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------ 2. steps */

static int same_set(const struct sl_list_set *set, const struct sl_node *node) {
  return set->port_count == node->list_count && set->any == node->any_list &&
         memcmp(set->ports, node->lists, node->list_count * sizeof *node->lists) == 0;
}

static int32_t add_storage(struct sl_layout *l, uint32_t kind, uint32_t node, uint32_t member, uint32_t field,
                           uint64_t bytes, uint64_t event_stride_bytes);

/* Returns the set of event lists of the node; adds it, with its combining step, if it is new. */
static uint32_t add_set(struct sl_layout *l, const struct sl_node *node) {
  uint32_t s = 0;
  while (s < l->set_count && !same_set(&l->sets[s], node)) s++;
  if (s < l->set_count) return s;
  struct sl_list_set *set = &l->sets[l->set_count++];
  const struct sl_slot_member *list = &l->members[node->lists[0].node][node->lists[0].member];
  *set = (struct sl_list_set){.ports = node->lists,
                              .port_count = node->list_count,
                              .any = node->any_list,
                              .count_storage = list->storage[0],
                              .numbers_storage = list->storage[1],
                              .tally_storage = SL_NONE,
                              .first_pointer = l->list_pointer_count};
  if (set->port_count == 1) return s;
  const uint64_t bytes = l->events * sizeof(uint32_t);
  set->count_storage = add_storage(l, SL_STORAGE_ARENA, NO_INDEX, s, 0, sizeof(uint32_t), 0);
  set->numbers_storage = add_storage(l, SL_STORAGE_ARENA, NO_INDEX, s, 1, bytes, 0);
  set->tally_storage = add_storage(l, SL_STORAGE_ARENA, NO_INDEX, s, 2, bytes, 0);
  l->list_pointer_count += set->port_count;
  l->steps[l->step_count++] = (struct sl_step){.kind = SL_STEP_COMBINE, .set = s};
  return s;
}

/* Adds the step of the nodes from `order[i]` on that run together. Returns their number. */
static uint32_t add_steps(struct sl_layout *l, uint32_t i, int families) {
  const struct sl_graph *g = l->graph;
  const struct sl_node *first = &g->nodes[g->order[i]];
  uint32_t count = 1;
  if (families && first->launch_group)
    while (i + count < g->order_count && g->nodes[g->order[i + count]].launch_group == first->launch_group) count++;
  for (uint32_t k = i; k < i + count; k++) {
    const struct sl_node *node = &g->nodes[g->order[k]];
    l->node_set[g->order[k]] = node->list_count > 0 ? add_set(l, node) : NO_INDEX;
  }
  if (first->algorithm->kind == SL_KIND_KERNEL)
    l->steps[l->step_count++] =
        (struct sl_step){.kind = SL_STEP_RUN, .node_count = count, .nodes = &g->order[i], .set = NO_INDEX};
  return count;
}

/* ---------------------------------------------------------------------------------------------- 3. storage */

static int32_t add_storage(struct sl_layout *l, uint32_t kind, uint32_t node, uint32_t member, uint32_t field,
                           uint64_t bytes, uint64_t event_stride_bytes) {
  l->storage[l->storage_count] = (struct sl_storage){.kind = kind,
                                                     .node = node,
                                                     .member = member,
                                                     .field = field,
                                                     .bytes = bytes,
                                                     .event_stride_bytes = event_stride_bytes,
                                                     .lower = UINT32_MAX,
                                                     .upper = 0,
                                                     .in_place_of = SL_NONE};
  return (int32_t)l->storage_count++;
}

static uint64_t event_stride_bytes(const struct sl_field *f) {
  if (f->shape != SL_SHAPE_CODE_PER_EVENT && f->shape != SL_SHAPE_CODE_OFFSETS) return 0;
  return (uint64_t)f->width * sl_type_bytes(f->type);
}

static int is_offsets(const struct sl_member *m, uint32_t field) {
  return m->collection->fields[field].shape == SL_SHAPE_CODE_OFFSETS;
}

/* Storage of the offsets that an output shares with its partner. */
static int32_t shared_offsets(const struct sl_layout *l, uint32_t node, const struct sl_member *m) {
  const uint32_t partner = (uint32_t)sl_member_index(l->graph->nodes[node].algorithm, m->shares);
  const struct sl_collection *c = member_of(l, node, partner)->collection;
  for (uint32_t f = 0; f < c->field_count; f++)
    if (c->fields[f].shape == SL_SHAPE_CODE_OFFSETS) return l->members[node][partner].storage[f];
  return SL_NONE;
}

static void make_outputs(struct sl_layout *l, uint32_t n) {
  const struct sl_node *node = &l->graph->nodes[n];
  const uint32_t kind = node->algorithm->kind == SL_KIND_SOURCE     ? SL_STORAGE_INPUT
                        : node->algorithm->kind == SL_KIND_CONSTANT ? SL_STORAGE_CONSTANT
                                                                    : SL_STORAGE_ARENA;
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    struct sl_slot_member *slot = &l->members[n][m];
    if (member->kind == SL_MEMBER_SCRATCH) {
      if (!sl_scratch_is_used(node->algorithm, member, node->shared)) continue;
      slot->storage[0] =
          add_storage(l, SL_STORAGE_ARENA, n, m, UINT32_MAX, slot->capacities[0] * sl_type_bytes(member->type), 0);
    } else if (member->kind == SL_MEMBER_OUT) {
      for (uint32_t f = 0; f < member->collection->field_count; f++) {
        const struct sl_field *field = &member->collection->fields[f];
        if (member->shares && is_offsets(member, f)) {
          slot->storage[f] = shared_offsets(l, n, member);
        } else {
          const uint64_t values = sl_collection_values(member->collection, f, l->events, slot->capacities);
          slot->storage[f] =
              add_storage(l, kind, n, m, f, values * sl_type_bytes(field->type), event_stride_bytes(field));
        }
      }
    }
  }
}

/* Links all fields of the inputs, because an output may share the offsets of an input. set_entry_lifetimes unlinks
 * fields that are not read. */
static void link_inputs(struct sl_layout *l, uint32_t n) {
  const struct sl_node *node = &l->graph->nodes[n];
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    if (member->kind != SL_MEMBER_IN) continue;
    for (uint32_t k = 0; k < node->inputs[m].count; k++) {
      const struct sl_slot_member *from = producer_of(l, &node->inputs[m], k);
      memcpy(l->members[n][m].entries[k].storage, from->storage, field_count_of(member) * sizeof *from->storage);
    }
  }
}

/* -------------------------------------------------------------------------------------------- 4. lifetimes */

static void live_at(struct sl_layout *l, int32_t storage, uint32_t step) {
  if (storage == SL_NONE) return;
  struct sl_storage *s = &l->storage[storage];
  if (step < l->step_count) s->read_by_kernel = 1;
  if (step < s->lower) s->lower = step;
  if (step + 1 > s->upper) s->upper = step + 1;
}

static void live_to_end(struct sl_layout *l, int32_t storage) {
  if (storage == SL_NONE) return;
  l->storage[storage].last_reader_is_host = 1;
  live_at(l, storage, l->step_count);
}

/* 1 if an output of the algorithm shares the offsets of this input, so that the kernel may read them through the
 * output. */
static int is_shared_by(const struct sl_algorithm *a, const struct sl_member *in) {
  for (uint32_t m = 0; m < a->member_count; m++)
    if (a->members[m].kind == SL_MEMBER_OUT && a->members[m].shares && strcmp(a->members[m].shares, in->name) == 0)
      return 1;
  return 0;
}

static void set_entry_lifetimes(struct sl_layout *l, const struct sl_algorithm *a, const struct sl_member *member,
                                struct sl_slot_member *entry, uint32_t step) {
  for (uint32_t f = 0; f < field_count_of(member); f++) {
    if (member->kind == SL_MEMBER_IN && !sl_field_is_read(member, f)) {
      if (is_offsets(member, f) && is_shared_by(a, member)) live_at(l, entry->storage[f], step);
      entry->storage[f] = SL_NONE;
    } else if (a->kind == SL_KIND_SINK) {
      live_to_end(l, entry->storage[f]);
    } else {
      live_at(l, entry->storage[f], step);
    }
  }
}

static void set_lifetimes(struct sl_layout *l, uint32_t n, uint32_t step) {
  const struct sl_algorithm *a = l->graph->nodes[n].algorithm;
  for (uint32_t m = 0; m < a->member_count; m++)
    for (uint32_t k = 0; k < l->members[n][m].entry_count; k++)
      set_entry_lifetimes(l, a, &a->members[m], &l->members[n][m].entries[k], step);
}

/* Lifetimes of the list of a set that the step reads or makes. */
static void set_list_lifetimes(struct sl_layout *l, uint32_t step, uint32_t s) {
  if (s == NO_INDEX) return;
  const struct sl_list_set *set = &l->sets[s];
  const int combines = l->steps[step].kind == SL_STEP_COMBINE;
  for (uint32_t p = 0; combines && p < set->port_count; p++)
    for (uint32_t f = 0; f < 2; f++) live_at(l, l->members[set->ports[p].node][set->ports[p].member].storage[f], step);
  if (combines) live_at(l, set->tally_storage, step);
  live_at(l, set->count_storage, step);
  live_at(l, set->numbers_storage, step);
}

static void set_sink_lifetimes(struct sl_layout *l, uint32_t n) {
  set_lifetimes(l, n, l->step_count);
  if (l->node_set[n] == NO_INDEX) return;
  live_to_end(l, l->sets[l->node_set[n]].count_storage);
  live_to_end(l, l->sets[l->node_set[n]].numbers_storage);
}

static void set_all_lifetimes(struct sl_layout *l, const uint8_t *source_fields) {
  const struct sl_graph *g = l->graph;
  for (uint32_t step = 0; step < l->step_count; step++) {
    const struct sl_step *at = &l->steps[step];
    if (at->kind == SL_STEP_COMBINE) set_list_lifetimes(l, step, at->set);
    for (uint32_t i = 0; i < at->node_count; i++) {
      set_lifetimes(l, at->nodes[i], step);
      set_list_lifetimes(l, step, l->node_set[at->nodes[i]]);
    }
  }
  for (uint32_t i = 0; i < g->order_count; i++)
    if (kind_of(l, g->order[i]) == SL_KIND_SINK) set_sink_lifetimes(l, g->order[i]);
  for (uint32_t o = 0; o < g->output_count; o++) {
    const struct sl_port port = g->outputs[o].port;
    const struct sl_member *member = member_of(l, (uint32_t)port.node, (uint32_t)port.member);
    for (uint32_t f = 0; f < field_count_of(member); f++) live_to_end(l, l->members[port.node][port.member].storage[f]);
  }
  /* The source does not fill fields without a reader. */
  struct sl_slot_member *source = l->members[g->source];
  for (uint32_t m = 0, i = 0; m < g->nodes[g->source].algorithm->member_count; m++)
    for (uint32_t f = 0; f < field_count_of(member_of(l, g->source, m)); f++, i++) {
      if (source_fields && source_fields[i]) live_at(l, source[m].storage[f], l->step_count);
      if (source[m].storage[f] != SL_NONE && l->storage[source[m].storage[f]].upper == 0)
        source[m].storage[f] = SL_NONE;
    }
}

/* ---------------------------------------------------------------------------------------------------------- */

static int open_member(struct sl_slot_member *m, uint32_t fields) {
  for (uint32_t b = 0; b < SL_BOUNDS_MAX; b++) m->used[b] = NO_INDEX;
  m->entry_count = 1;
  m->entries = m;
  m->storage = malloc((fields + 1) * sizeof *m->storage);
  for (uint32_t f = 0; m->storage && f < fields; f++) m->storage[f] = SL_NONE;
  return m->storage ? SL_OK : SL_ENOMEM;
}

static int open_entries(struct sl_slot_member *m, uint32_t fields, uint32_t count) {
  struct sl_slot_member *entries = calloc((size_t)count + 1, sizeof *entries);
  if (!entries) return SL_ENOMEM;
  m->entries = entries;
  m->entry_count = count;
  for (uint32_t k = 0; k < count; k++)
    if (open_member(&entries[k], fields) < 0) return SL_ENOMEM;
  return SL_OK;
}

static void close_member(struct sl_slot_member *m) {
  for (uint32_t k = 0; m->entries != m && m->entries && k < m->entry_count; k++) free(m->entries[k].storage);
  if (m->entries != m) free(m->entries);
  free(m->storage);
}

static int allocate_members(struct sl_layout *l) {
  const struct sl_graph *g = l->graph;
  uint32_t storage = 3 * g->node_count;
  for (uint32_t n = 0; n < g->node_count; n++) {
    const struct sl_algorithm *a = g->nodes[n].algorithm;
    l->members[n] = calloc(a->member_count + 1, sizeof **l->members);
    if (!l->members[n]) return SL_ENOMEM;
    for (uint32_t m = 0; m < a->member_count; m++) {
      const uint32_t fields = field_count_of(&a->members[m]);
      struct sl_slot_member *slot = &l->members[n][m];
      if (open_member(slot, fields) < 0) return SL_ENOMEM;
      if ((a->members[m].flags & SL_FLAG_LIST) && open_entries(slot, fields, g->nodes[n].inputs[m].count) < 0)
        return SL_ENOMEM;
      storage += fields;
    }
  }
  l->storage = calloc(storage + 1u, sizeof *l->storage);
  return l->storage ? SL_OK : SL_ENOMEM;
}

/* Chooses branches, places memory and checks the result. */
static int plan_steps(struct sl_layout *l, uint32_t branches, struct sl_diagnostics *d) {
  struct sl_uses uses;
  int status = sl_uses_find(l, &uses);
  if (status < 0) return status;
  status = sl_layout_branch(l, branches, &uses);
  if (status == SL_OK) status = sl_layout_place(l, &uses, d);
  if (status == SL_OK) status = sl_layout_check_order(l, d);
  sl_uses_free(&uses);
  return status;
}

int sl_budgets_open(struct sl_budgets *b, const struct sl_graph *g, const struct sl_budgets *from) {
  uint32_t count = 0;
  for (uint32_t n = 0; n < g->node_count; n++) count += g->nodes[n].algorithm->member_count;
  *b = (struct sl_budgets){.count = count,
                           .values = calloc(count + 1u, sizeof *b->values),
                           .first = calloc(g->node_count + 1u, sizeof *b->first)};
  if (!b->values || !b->first) {
    sl_budgets_close(b);
    return SL_ENOMEM;
  }
  for (uint32_t n = 0, first = 0; n < g->node_count; first += g->nodes[n++].algorithm->member_count) {
    const struct sl_algorithm *a = g->nodes[n].algorithm;
    b->first[n] = first;
    for (uint32_t m = 0; m < a->member_count; m++)
      if (sl_is_budget(&a->members[m])) b->values[first + m] = (uint32_t)g->nodes[n].values[m].number;
  }
  if (from) memcpy(b->values, from->values, count * sizeof *b->values);
  return SL_OK;
}

void sl_budgets_close(struct sl_budgets *b) {
  free(b->values);
  free(b->first);
  *b = (struct sl_budgets){0};
}

int sl_layout_make(const struct sl_layout_request *request, struct sl_diagnostics *d, struct sl_layout **layout) {
  const struct sl_graph *graph = request->graph;
  if (graph->order_count > SL_NODES_MAX) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "the graph has %u nodes, but at most %d are possible",
                graph->order_count, (int)SL_NODES_MAX);
    return SL_EGRAPH;
  }
  struct sl_layout *l = calloc(1, sizeof *l);
  if (!l) return SL_ENOMEM;
  int status = SL_ENOMEM;
  struct excess excess;
  l->graph = graph;
  l->input_gap_bytes = l->input_bytes = request->input_gap_bytes;
  if (sl_budgets_open(&l->budgets, graph, request->budgets) < 0) goto failed;
  l->members = calloc(graph->node_count + 1, sizeof *l->members);
  l->steps = calloc(2 * (size_t)graph->node_count + 1, sizeof *l->steps);
  l->sets = calloc(graph->node_count + 1, sizeof *l->sets);
  l->node_set = calloc(graph->node_count + 1, sizeof *l->node_set);
  if (!l->members || !l->steps || !l->sets || !l->node_set || allocate_members(l) < 0) goto failed;
  set_limits(l);
  if (set_capacities(l, request->events, &excess)) {
    status = refuse_capacities(l, d, &excess);
    goto failed;
  }
  for (uint32_t i = 0; i < graph->order_count; i++) {
    const uint32_t n = graph->order[i];
    number_used_words(l, n);
    link_inputs(l, n);
    make_outputs(l, n);
  }
  status = set_used_capacities(l);
  if (status < 0) goto failed;
  for (uint32_t i = 0; i < graph->order_count;) i += add_steps(l, i, request->families);
  set_all_lifetimes(l, request->source_fields);
  status = plan_steps(l, request->branches, d);
  if (status < 0) goto failed;
  *layout = l;
  return SL_OK;
failed:
  if (status == SL_ENOMEM) sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "out of memory while planning");
  sl_layout_free(l);
  return status;
}

void sl_layout_free(struct sl_layout *l) {
  if (!l) return;
  sl_budgets_close(&l->budgets);
  for (uint32_t n = 0; l->members && n < l->graph->node_count; n++) {
    for (uint32_t m = 0; l->members[n] && m < l->graph->nodes[n].algorithm->member_count; m++)
      close_member(&l->members[n][m]);
    free(l->members[n]);
  }
  free(l->members);
  free(l->storage);
  free(l->steps);
  free(l->waits);
  free(l->complete);
  free(l->sets);
  free(l->node_set);
  free(l->used_capacities);
  free(l);
}

const char *sl_step_name(const struct sl_layout *l, uint32_t step) {
  if (step >= l->step_count) return "end";
  if (l->steps[step].kind == SL_STEP_COMBINE) return l->sets[l->steps[step].set].any ? "(union)" : "(intersection)";
  const struct sl_node *first = &l->graph->nodes[l->steps[step].nodes[0]];
  return l->steps[step].node_count > 1 ? first->use : first->name;
}

void sl_layout_name(const struct sl_layout *l, uint32_t storage, char *text, size_t size) {
  const struct sl_storage *s = &l->storage[storage];
  if (s->node == NO_INDEX) {
    const struct sl_list_set *set = &l->sets[s->member];
    static const char *const fields[] = {"count", "numbers", "tally"};
    size_t used = (size_t)snprintf(text, size, "%s (%s) of", set->any ? "union" : "intersection", fields[s->field]);
    for (uint32_t p = 0; p < set->port_count && used < size; p++) {
      const struct sl_node *node = &l->graph->nodes[set->ports[p].node];
      used += (size_t)snprintf(text + used, size - used, " %s.%s", node->name,
                               node->algorithm->members[set->ports[p].member].name);
    }
    return;
  }
  const struct sl_node *node = &l->graph->nodes[s->node];
  const struct sl_member *m = &node->algorithm->members[s->member];
  if (s->field == UINT32_MAX)
    snprintf(text, size, "%s.%s (scratch)", node->name, m->name);
  else
    snprintf(text, size, "%s.%s.%s", node->name, m->name, m->collection->fields[s->field].name);
}
