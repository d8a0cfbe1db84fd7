/* cut.c: other slices of the same events. Fields of events and items follow their event; fields of the slice and pools
 * that other fields address stay unchanged. See case.h.
 */
#include "layout/bind.h"
#include "plugin/tables.h"
#include "trial/case.h"

#include <string.h>

static const struct sl_collection *collection_of(const struct trial_case *c, uint32_t member) {
  return c->algorithm->members[member].collection;
}

static int is_input(const struct trial_case *c, uint32_t member) {
  return c->algorithm->members[member].kind == SL_MEMBER_IN && c->ports[member].producers > 0;
}

static int is_given(const struct trial_port *port, const struct sl_collection *c, uint32_t shape) {
  for (uint32_t f = 0; f < c->field_count; f++)
    if (c->fields[f].shape == shape && port->values[f]) return 1;
  return 0;
}

static const char *why_whole(const struct trial_port *port, const struct sl_collection *collection) {
  if (is_given(port, collection, SL_SHAPE_CODE_PER_ITEM) && !port->offsets)
    return "it reads items of an input without their offsets";
  for (uint32_t f = 0; f < collection->field_count; f++)
    if (collection->fields[f].shape == SL_SHAPE_CODE_PER_SUBITEM && port->values[f] &&
        !port->item_offsets[sl_group_of(collection, f)])
      return "it reads subitems of an input without their offsets";
  if (is_given(port, collection, SL_SHAPE_CODE_PER_SLICE) && !sl_is_event_list(collection))
    return "it reads a field of the whole slice";
  return NULL;
}

const char *trial_why_whole(const struct trial_case *c) {
  const char *why = NULL;
  for (uint32_t m = 0; m < c->algorithm->member_count; m++)
    for (uint32_t k = 0; !why && is_input(c, m) && k < c->ports[m].producers; k++)
      why = why_whole(trial_entry(&c->ports[m], k), collection_of(c, m));
  return why;
}

/* ----------------------------------------------------------------------------------------------- gathering */

/* Appends entries [first, first + count) of `from` to `to`. */
struct gather {
  unsigned char *to;
  const unsigned char *from;
  size_t entry_bytes;
};

static void take(struct gather *g, uint32_t first, uint32_t count) {
  const size_t bytes = count * g->entry_bytes;
  if (bytes) memcpy(g->to, g->from + first * g->entry_bytes, bytes);
  g->to += bytes;
}

/* Offsets for the entries of `events`: `count` + 1 partial sums of their lengths. */
static uint32_t *sums(const uint32_t *offsets, const uint32_t *events, uint32_t count) {
  uint32_t *result = test_allocate(count + 1u, sizeof *result);
  for (uint32_t i = 0; i < count; i++) result[i + 1] = result[i] + offsets[events[i] + 1] - offsets[events[i]];
  return result;
}

/* Offsets for the items of these events: partial sums of the lengths of the items. */
static uint32_t *item_sums(const uint32_t *offsets, const uint32_t *item_offsets, const uint32_t *events,
                           uint32_t count, uint64_t items) {
  uint32_t *result = test_allocate(items + 1u, sizeof *result), at = 0;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t item = offsets[events[i]]; item < offsets[events[i] + 1]; item++, at++)
      result[at + 1] = result[at] + item_offsets[item + 1] - item_offsets[item];
  return result;
}

/* Index in the new slice of each event of the old one; UINT32_MAX: not selected. */
static uint32_t *new_indices(uint32_t event_count, const uint32_t *events, uint32_t count) {
  uint32_t *place = test_allocate(event_count + 1u, sizeof *place);
  for (uint32_t e = 0; e < event_count; e++) place[e] = UINT32_MAX;
  for (uint32_t i = 0; i < count; i++) place[events[i]] = i;
  return place;
}

/* Converts a list of events to the new indices, ascending. Returns its length. */
static uint32_t renumber(const uint32_t *list, uint32_t list_count, uint32_t event_count, const uint32_t *events,
                         uint32_t count, uint32_t *result) {
  const uint32_t *place = new_indices(event_count, events, count);
  uint8_t *is_listed = test_allocate(count + 1u, 1);
  uint32_t length = 0;
  for (uint32_t i = 0; i < list_count; i++)
    if (place[list[i]] != UINT32_MAX) is_listed[place[list[i]]] = 1;
  for (uint32_t i = 0; i < count; i++)
    if (is_listed[i]) result[length++] = i;
  return length;
}

/* First entry and number of entries of an event, for a field of this shape and group. */
static void extent_of(const struct trial_port *port, uint32_t shape, uint32_t group, uint32_t event, uint32_t *first,
                      uint32_t *count) {
  const uint32_t *offsets = port->offsets, *item_offsets = port->item_offsets[group];
  *first = shape == SL_SHAPE_CODE_PER_EVENT ? event : 0;
  *count = shape == SL_SHAPE_CODE_PER_EVENT;
  if (shape == SL_SHAPE_CODE_PER_EVENT || !offsets) return; /* trial_why_whole refuses such slices */
  *first = offsets[event];
  *count = offsets[event + 1] - *first;
  if (shape != SL_SHAPE_CODE_PER_SUBITEM || !item_offsets) return;
  *count = item_offsets[*first + *count] - item_offsets[*first];
  *first = item_offsets[*first];
}

static void *gather_field(const struct trial_port *from, const struct trial_port *to, const struct sl_field *field,
                          uint32_t group, const void *values, const uint32_t *events, uint32_t count) {
  const size_t entry_bytes = (size_t)field->width * sl_type_bytes(field->type);
  const uint64_t entries = field->shape == SL_SHAPE_CODE_PER_EVENT ? count : to->bounds[group];
  unsigned char *result = test_allocate(entries + 1u, entry_bytes);
  struct gather g = {result, values, entry_bytes};
  for (uint32_t i = 0; i < count; i++) {
    uint32_t first, length;
    extent_of(from, field->shape, group, events[i], &first, &length);
    take(&g, first, length);
  }
  return result;
}

static void select_list_port(const struct trial_case *c, const struct trial_port *from, struct trial_port *to,
                             const uint32_t *events, uint32_t count) {
  const uint32_t *length = from->values[0], *numbers = from->values[1];
  uint32_t *result = test_allocate(count + 1u, sizeof *result), *result_count = test_allocate(1, sizeof *result_count);
  if (length && numbers) *result_count = renumber(numbers, *length, c->event_count, events, count, result);
  if (length) to->values[0] = result_count;
  if (numbers) to->values[1] = result;
  to->counts[1] = numbers ? count : 0;
}

static void select_port(const struct trial_case *c, const struct sl_collection *collection,
                        const struct trial_port *from, const uint32_t *events, uint32_t count, struct trial_port *to) {
  *to = *from;
  to->values = test_allocate(collection->field_count, sizeof *to->values);
  to->counts = test_allocate(collection->field_count, sizeof *to->counts);
  memcpy(to->counts, from->counts, collection->field_count * sizeof *to->counts);
  if (sl_is_event_list(collection)) {
    select_list_port(c, from, to, events, count);
    return;
  }
  if (from->offsets) {
    to->offsets = sums(from->offsets, events, count);
    to->bounds[0] = to->offsets[count];
  }
  for (uint32_t b = 1; b < SL_BOUNDS_MAX; b++) {
    if (!from->offsets || !from->item_offsets[b]) continue;
    to->item_offsets[b] = item_sums(from->offsets, from->item_offsets[b], events, count, to->bounds[0]);
    to->bounds[b] = to->item_offsets[b][to->bounds[0]];
  }
  for (uint32_t f = 0; f < collection->field_count; f++) {
    const struct sl_field *field = &collection->fields[f];
    const uint32_t group = sl_group_of(collection, f);
    if (!from->values[f]) continue;
    if (field->shape == SL_SHAPE_CODE_OFFSETS)
      to->values[f] = (void *)(uintptr_t)to->offsets;
    else if (field->shape == SL_SHAPE_CODE_ITEM_OFFSETS)
      to->values[f] = (void *)(uintptr_t)to->item_offsets[group];
    else if (field->shape == SL_SHAPE_CODE_PER_EVENT || field->shape == SL_SHAPE_CODE_PER_ITEM ||
             field->shape == SL_SHAPE_CODE_PER_SUBITEM)
      to->values[f] = gather_field(from, to, field, group, from->values[f], events, count);
    else {
      to->values[f] = from->values[f];
      continue;
    }
    to->counts[f] = sl_collection_values(collection, f, count, to->bounds);
  }
}

/* Input `member` of a new case, with room for its producers. */
static struct trial_port *open_input(const struct trial_case *c, uint32_t member, struct trial_case *result) {
  struct trial_port *to = &result->ports[member];
  *to = c->ports[member];
  if (to->entries) to->entries = test_allocate(to->producers, sizeof *to->entries);
  return to;
}

struct trial_case trial_select(const struct trial_case *c, const uint32_t *events, uint32_t count) {
  struct trial_case result = *c;
  result.event_count = count;
  result.ports = test_allocate(c->algorithm->member_count, sizeof *result.ports);
  for (uint32_t m = 0; m < c->algorithm->member_count; m++) {
    if (!is_input(c, m)) continue;
    struct trial_port *to = open_input(c, m, &result);
    for (uint32_t k = 0; k < to->producers; k++)
      select_port(c, collection_of(c, m), trial_entry(&c->ports[m], k), events, count, trial_entry(to, k));
  }
  if (c->has_list) {
    result.list = test_allocate(count + 1u, sizeof *result.list);
    result.list_count = renumber(c->list, c->list_count, c->event_count, events, count, result.list);
  }
  return result;
}

/* -------------------------------------------------------------------------------------- parts of a slice */

static void tail_port(const struct trial_case *c, const struct sl_collection *collection, const struct trial_port *from,
                      uint32_t first, struct trial_port *to) {
  const uint32_t count = c->event_count - first;
  *to = *from;
  to->values = test_allocate(collection->field_count, sizeof *to->values);
  to->counts = test_allocate(collection->field_count, sizeof *to->counts);
  memcpy(to->counts, from->counts, collection->field_count * sizeof *to->counts);
  if (from->offsets) to->offsets = from->offsets + first;
  for (uint32_t f = 0; f < collection->field_count; f++) {
    const struct sl_field *field = &collection->fields[f];
    const int by_event = field->shape == SL_SHAPE_CODE_PER_EVENT || field->shape == SL_SHAPE_CODE_OFFSETS;
    if (!from->values[f]) continue;
    to->values[f] =
        (char *)from->values[f] + (by_event ? (size_t)first * field->width * sl_type_bytes(field->type) : 0);
    if (by_event) to->counts[f] = sl_collection_values(collection, f, count, to->bounds);
  }
}

struct trial_case trial_tail(const struct trial_case *c, uint32_t first) {
  struct trial_case result = *c;
  result.event_count = c->event_count - first;
  result.ports = test_allocate(c->algorithm->member_count, sizeof *result.ports);
  uint32_t *events = test_allocate(c->event_count + 1u, sizeof *events);
  for (uint32_t e = first; e < c->event_count; e++) events[e - first] = e;
  for (uint32_t m = 0; m < c->algorithm->member_count; m++) {
    if (!is_input(c, m)) continue;
    const struct sl_collection *collection = collection_of(c, m);
    struct trial_port *to = open_input(c, m, &result);
    for (uint32_t k = 0; k < to->producers; k++)
      if (sl_is_event_list(collection))
        select_port(c, collection, trial_entry(&c->ports[m], k), events, result.event_count, trial_entry(to, k));
      else
        tail_port(c, collection, trial_entry(&c->ports[m], k), first, trial_entry(to, k));
  }
  if (c->has_list) {
    result.list = test_allocate(result.event_count + 1u, sizeof *result.list);
    result.list_count = renumber(c->list, c->list_count, c->event_count, events, result.event_count, result.list);
  }
  return result;
}

struct trial_case trial_every_other(const struct trial_case *c) {
  struct trial_case result = *c;
  const uint32_t all = c->has_list ? c->list_count : c->event_count;
  result.has_list = 1;
  result.list = test_allocate(all + 1u, sizeof *result.list);
  result.list_count = 0;
  for (uint32_t i = 0; i < all; i += 2) result.list[result.list_count++] = c->has_list ? c->list[i] : i;
  return result;
}

/* --------------------------------------------------------------------------------------------- the harness */

static void give_entry(const struct trial_case *c, uint32_t member, uint32_t k, struct sl_test *t) {
  const struct trial_port *port = &c->ports[member], *entry = trial_entry(&c->ports[member], k);
  const struct sl_member *m = &c->algorithm->members[member];
  for (uint32_t f = 0; f < m->collection->field_count; f++) {
    const char *field = m->collection->fields[f].name;
    if (!entry->values[f]) continue;
    if (port->entries)
      sl_test_list_input(t, m->name, port->names[k], field, entry->values[f], entry->counts[f]);
    else
      sl_test_input(t, m->name, field, entry->values[f], entry->counts[f]);
  }
}

void trial_refer(const struct trial_case *c, struct sl_test *t) {
  for (uint32_t m = 0; m < c->algorithm->member_count; m++) {
    const struct sl_member *input = &c->algorithm->members[m];
    if (input->kind == SL_MEMBER_IN && (input->flags & SL_FLAG_FIELD))
      sl_test_field(t, input->name, input->collection, input->collection->fields[input->count].name);
    else if (input->kind == SL_MEMBER_IN)
      for (uint32_t d = 0; d < input->collection->dimension_count; d++)
        if (input->collection->dimensions[d].size > 0)
          sl_test_dimension(t, input->name, input->collection->dimensions[d].name,
                            input->collection->dimensions[d].size);
  }
}

void trial_give(const struct trial_case *c, struct sl_test *t) {
  test_release_run(t);
  sl_test_events(t, c->event_count);
  t->list = NULL;
  if (c->has_list) sl_test_list(t, c->list, c->list_count);
  for (uint32_t m = 0; m < c->algorithm->member_count; m++) {
    if (!is_input(c, m)) continue;
    for (uint32_t k = 0; k < c->ports[m].producers; k++) give_entry(c, m, k, t);
  }
  sl_test_node(t, c->node->name);
  sl_graph_fill_properties(c->node, t->args);
}
