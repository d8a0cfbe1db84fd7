/* cut.c: a case without some of its entries. A mask per axis says which entries stay; offsets become the sums of the
 * lengths that are left, and values follow their entries. Pools and values of the slice stay, because it is unknown
 * what refers to them.
 */
#include "replay/replay.h"

#include <string.h>

static int has_shape(const struct sl_case_port *p, uint32_t shape) {
  for (uint32_t f = 0; f < p->collection->field_count; f++)
    if (p->values[f] && p->collection->fields[f].shape == shape) return 1;
  return 0;
}

static const char *why_whole(const struct sl_case_port *p) {
  const struct sl_collection *c = p->collection;
  if (sl_is_event_list(c)) return NULL;
  if ((has_shape(p, SL_SHAPE_CODE_PER_ITEM) || has_shape(p, SL_SHAPE_CODE_ITEM_OFFSETS)) && !sl_case_offsets(p, 0))
    return "it reads items of an input without their offsets";
  for (uint32_t f = 0; f < c->field_count; f++)
    if (p->values[f] && c->fields[f].shape == SL_SHAPE_CODE_PER_SUBITEM &&
        !(sl_case_offsets(p, 0) && sl_case_offsets(p, sl_group_of(c, f))))
      return "it reads subitems of an input without their offsets";
  return has_shape(p, SL_SHAPE_CODE_PER_SLICE) ? "it reads a field of the whole slice" : NULL;
}

/* ---------------------------------------------------------------------------------------------------- axes */

static uint64_t offsets_count(const struct sl_case *c, const struct sl_case_port *p, uint32_t bound) {
  uint64_t bounds[SL_BOUNDS_MAX];
  sl_case_bounds(p, bounds);
  return bound == 0 ? c->event_count + 1ull : bounds[0] + 1;
}

static int has_equal_offsets(const struct sl_case *c, const struct sl_case_port *a, const struct sl_case_port *b,
                             uint32_t bound) {
  const uint32_t *first = sl_case_offsets(a, bound), *second = sl_case_offsets(b, bound);
  const uint64_t count = offsets_count(c, a, bound);
  return first && second && offsets_count(c, b, bound) == count && memcmp(first, second, count * sizeof *first) == 0;
}

/* The first input with the offsets of input i up to this bound. */
static uint32_t first_equal(const struct sl_case *c, uint32_t i, uint32_t bound) {
  uint32_t first = 0;
  while (first < i && !(has_equal_offsets(c, &c->inputs[first], &c->inputs[i], 0) &&
                        (bound == 0 || has_equal_offsets(c, &c->inputs[first], &c->inputs[i], bound))))
    first++;
  return first;
}

/* 1 if a stored field has a value for each item, or subitem of the group. Otherwise the number of entries is only known
 * by the offsets, which may have any value. */
static int has_entries(const struct sl_case_port *p, uint32_t bound) {
  for (uint32_t f = 0; f < p->collection->field_count; f++) {
    const uint32_t shape = p->collection->fields[f].shape;
    const int is_entry = bound == 0 ? shape == SL_SHAPE_CODE_PER_ITEM || shape == SL_SHAPE_CODE_ITEM_OFFSETS
                                    : shape == SL_SHAPE_CODE_PER_SUBITEM && sl_group_of(p->collection, f) == bound;
    if (p->values[f] && is_entry) return 1;
  }
  return 0;
}

/* 1 if input i is the first with its offsets, and entries of one of these inputs can be removed. */
static int begins_axis(const struct sl_case *c, uint32_t i, uint32_t bound) {
  if (!sl_case_offsets(&c->inputs[i], 0) || !sl_case_offsets(&c->inputs[i], bound)) return 0;
  if (first_equal(c, i, bound) != i) return 0;
  for (uint32_t k = i; k < c->input_count; k++)
    if (has_entries(&c->inputs[k], bound) && first_equal(c, k, bound) == i) return 1;
  return 0;
}

static int add_axis(struct sl_case *c, struct replay_cut *cut, uint32_t input, uint32_t bound, uint64_t count) {
  struct replay_axis *axis = &cut->axes[cut->axis_count];
  *axis = (struct replay_axis){input, bound, (uint32_t)count, sl_case_get(c, count, 1)};
  if (!axis->keep) return SL_ENOMEM;
  memset(axis->keep, 1, (size_t)count);
  cut->axis_count++;
  return SL_OK;
}

int replay_cut_open(struct sl_case *c, struct replay_cut *cut) {
  *cut = (struct replay_cut){.axes = sl_case_get(c, 1 + (uint64_t)c->input_count * SL_BOUNDS_MAX, sizeof *cut->axes)};
  int status = cut->axes ? add_axis(c, cut, UINT32_MAX, 0, c->event_count) : SL_ENOMEM;
  for (uint32_t i = 0; i < c->input_count && !cut->why_whole; i++) cut->why_whole = why_whole(&c->inputs[i]);
  for (uint32_t i = 0; i < c->input_count && status == SL_OK && !cut->why_whole; i++) {
    uint64_t bounds[SL_BOUNDS_MAX];
    sl_case_bounds(&c->inputs[i], bounds);
    for (uint32_t b = 0; b < SL_BOUNDS_MAX && status == SL_OK; b++)
      if (bounds[b] > 0 && begins_axis(c, i, b)) status = add_axis(c, cut, i, b, bounds[b]);
  }
  return status;
}

void replay_axis_name(const struct sl_case *c, const struct replay_axis *axis, char *text, size_t size) {
  if (axis->input == UINT32_MAX) {
    snprintf(text, size, "events");
    return;
  }
  const struct sl_case_port *p = &c->inputs[axis->input];
  const int field = sl_group_field(p->collection, axis->bound);
  snprintf(text, size, "%s of %s%s%s", axis->bound ? p->collection->fields[field].name : "items", p->name,
           p->producer ? "." : "", p->producer ? p->producer : "");
}

int replay_cut_has_fewer_items(const struct replay_cut *cut) {
  for (uint32_t a = 1; a < cut->axis_count; a++)
    if (memchr(cut->axes[a].keep, 0, cut->axes[a].count)) return 1;
  return 0;
}

/* ------------------------------------------------------------------------------------------------- cutting */

static void *get(struct sl_case *to, uint64_t count, size_t bytes) {
  void *memory = sl_case_get(to, count, bytes);
  if (!memory) test_die(NULL, "no memory for %llu times %zu bytes", (unsigned long long)count, bytes);
  return memory;
}

/* Which entries of a port stay: events, items, and subitems of each group. */
struct masks {
  const uint8_t *events;
  uint8_t *entries[SL_BOUNDS_MAX];
  uint64_t bounds[SL_BOUNDS_MAX];
};

static const uint8_t *axis_of(const struct sl_case *c, const struct replay_cut *cut, uint32_t input, uint32_t bound) {
  const uint32_t first = first_equal(c, input, bound);
  for (uint32_t a = 1; a < cut->axis_count; a++)
    if (cut->axes[a].input == first && cut->axes[a].bound == bound) return cut->axes[a].keep;
  return NULL;
}

/* Entries of `offsets` stay if their parent and they themselves do (`own` NULL: they do). */
static uint8_t *children(struct sl_case *to, const uint32_t *offsets, const uint8_t *parents, uint64_t parent_count,
                         const uint8_t *own, uint64_t count) {
  uint8_t *keep = get(to, count, 1);
  for (uint64_t parent = 0; parent < parent_count; parent++)
    for (uint32_t i = offsets[parent]; parents[parent] && i < offsets[parent + 1]; i++) keep[i] = own ? own[i] : 1;
  return keep;
}

/* `input` UINT32_MAX: an output, which follows its events. */
static struct masks masks_of(const struct sl_case *c, struct sl_case *to, const struct replay_cut *cut,
                             const struct sl_case_port *p, uint32_t input) {
  struct masks m = {.events = cut->axes[0].keep};
  sl_case_bounds(p, m.bounds);
  for (uint32_t b = 0; b < SL_BOUNDS_MAX; b++) {
    const uint32_t *offsets = sl_case_offsets(p, b);
    const uint8_t *parents = b == 0 ? m.events : m.entries[0];
    const uint8_t *own = input != UINT32_MAX && offsets ? axis_of(c, cut, input, b) : NULL;
    if (offsets && parents && (own || has_entries(p, b)))
      m.entries[b] = children(to, offsets, parents, b == 0 ? c->event_count : m.bounds[0], own, m.bounds[b]);
  }
  return m;
}

/* Offsets of the parents that stay; `entries` NULL: with all their entries. */
static uint32_t *sums(struct sl_case *to, const uint32_t *offsets, const uint8_t *parents, uint64_t parent_count,
                      const uint8_t *entries, uint64_t *count) {
  uint32_t *result = get(to, parent_count + 1, sizeof *result);
  *count = 1;
  for (uint64_t parent = 0; parent < parent_count; parent++) {
    if (!parents[parent]) continue;
    uint32_t length = 0;
    if (!entries) length = offsets[parent + 1] - offsets[parent];
    for (uint32_t i = offsets[parent]; entries && i < offsets[parent + 1]; i++) length += entries[i];
    result[*count] = result[*count - 1] + length;
    (*count)++;
  }
  return result;
}

static void *gather(struct sl_case *to, const void *values, size_t entry_bytes, const uint8_t *entries,
                    uint64_t entry_count, uint64_t *kept) {
  unsigned char *result = get(to, entry_count, entry_bytes);
  *kept = 0;
  for (uint64_t i = 0; i < entry_count; i++)
    if (entries[i])
      memcpy(result + (*kept)++ * entry_bytes, (const unsigned char *)values + i * entry_bytes, entry_bytes);
  return result;
}

/* The events of a list that stay, by their new indices. */
static uint32_t *renumber(struct sl_case *to, const uint32_t *list, uint32_t count, const uint8_t *events,
                          uint32_t *kept) {
  uint32_t *result = get(to, count, sizeof *result);
  uint32_t at = 0, index = 0;
  *kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    for (; at < list[i]; at++) index += events[at];
    if (events[list[i]]) result[(*kept)++] = index;
  }
  return result;
}

static void cut_event_list(struct sl_case *memory, const struct sl_case_port *p, const uint8_t *events,
                           struct sl_case_port *to) {
  const uint32_t *count = p->values[0];
  uint32_t *kept = get(memory, 1, sizeof *kept);
  if (!p->values[1]) return;
  to->values[1] = renumber(memory, p->values[1], count ? *count : (uint32_t)p->counts[1], events, kept);
  to->counts[1] = *kept;
  if (count) to->values[0] = kept;
}

static void cut_field(const struct sl_case *c, struct sl_case *memory, const struct masks *m, uint32_t f,
                      const struct sl_case_port *p, struct sl_case_port *to) {
  const struct sl_field *field = &p->collection->fields[f];
  const uint32_t group = sl_group_of(p->collection, f);
  const size_t entry_bytes = (size_t)field->width * sl_type_bytes(field->type);
  const int is_entry = field->shape == SL_SHAPE_CODE_PER_ITEM || field->shape == SL_SHAPE_CODE_PER_SUBITEM;
  const int has_no_parents = field->shape == SL_SHAPE_CODE_ITEM_OFFSETS && !m->entries[0];
  uint64_t kept = 0;
  if (has_no_parents || (is_entry && !m->entries[group])) { /* an output without offsets, which belong to no event */
    to->values[f] = NULL;
    return;
  }
  switch (field->shape) {
    case SL_SHAPE_CODE_PER_EVENT:
      to->values[f] = gather(memory, p->values[f], entry_bytes, m->events, c->event_count, &kept);
      break;
    case SL_SHAPE_CODE_OFFSETS:
      to->values[f] = sums(memory, p->values[f], m->events, c->event_count, m->entries[0], &kept);
      break;
    case SL_SHAPE_CODE_ITEM_OFFSETS:
      to->values[f] = sums(memory, p->values[f], m->entries[0], m->bounds[0], m->entries[group], &kept);
      break;
    case SL_SHAPE_CODE_PER_ITEM:
    case SL_SHAPE_CODE_PER_SUBITEM:
      to->values[f] = gather(memory, p->values[f], entry_bytes, m->entries[group], m->bounds[group], &kept);
      break;
    default:
      return; /* pools, constants and values of the slice stay */
  }
  to->counts[f] = kept * field->width;
}

/* Value i of a field of type u16 or u32. */
static uint32_t index_at(const struct sl_field *field, const void *values, uint64_t i) {
  return field->type == SL_TYPE_u16 ? ((const uint16_t *)values)[i] : ((const uint32_t *)values)[i];
}

/* 1 for values per event that ascend up to the number of items: the first items of groups, such as hits by module. */
static int is_item_table(const struct sl_case *c, const struct sl_case_port *p, uint32_t f) {
  const struct sl_field *field = &p->collection->fields[f];
  const uint32_t *offsets = sl_case_offsets(p, 0);
  if (field->shape != SL_SHAPE_CODE_PER_EVENT || field->width < 2 || !p->values[f] || !offsets) return 0;
  if (field->type != SL_TYPE_u16 && field->type != SL_TYPE_u32) return 0;
  for (uint32_t e = 0; e < c->event_count; e++) {
    uint32_t last = 0;
    for (uint32_t k = 0; k < field->width; k++) {
      const uint32_t value = index_at(field, p->values[f], (uint64_t)e * field->width + k);
      if (value < last || value > offsets[e + 1] - offsets[e]) return 0;
      last = value;
    }
  }
  return 1;
}

/* Replaces the indices of such a table by those of the items that stay. */
static void cut_item_table(const struct sl_case *c, struct sl_case *memory, const struct masks *m, uint32_t f,
                           const struct sl_case_port *p, struct sl_case_port *to) {
  const struct sl_field *field = &p->collection->fields[f];
  const uint32_t *offsets = sl_case_offsets(p, 0);
  uint32_t *before = get(memory, m->bounds[0] + 1, sizeof *before);
  void *values = get(memory, to->counts[f], sl_type_bytes(field->type));
  uint64_t at = 0;
  for (uint64_t i = 0; i < m->bounds[0]; i++) before[i + 1] = before[i] + m->entries[0][i];
  for (uint32_t e = 0; e < c->event_count; e++)
    for (uint32_t k = 0; m->events[e] && k < field->width; k++, at++) {
      const uint32_t old = index_at(field, p->values[f], (uint64_t)e * field->width + k);
      const uint32_t value = before[offsets[e] + old] - before[offsets[e]];
      if (field->type == SL_TYPE_u16)
        ((uint16_t *)values)[at] = (uint16_t)value;
      else
        ((uint32_t *)values)[at] = value;
    }
  to->values[f] = values;
}

static struct sl_case_port cut_port(const struct sl_case *c, struct sl_case *memory, const struct replay_cut *cut,
                                    const struct sl_case_port *p, uint32_t input) {
  struct sl_case_port to = *p;
  const uint32_t count = p->collection->field_count;
  const struct masks m = masks_of(c, memory, cut, p, input);
  const int removes_events = memchr(m.events, 0, c->event_count) != NULL;
  to.values = get(memory, count, sizeof *to.values);
  to.counts = get(memory, count, sizeof *to.counts);
  memcpy((void *)to.values, (const void *)p->values, count * sizeof *to.values);
  memcpy(to.counts, p->counts, count * sizeof *to.counts);
  if (sl_is_event_list(p->collection)) {
    cut_event_list(memory, p, m.events, &to);
    return to;
  }
  for (uint32_t f = 0; f < count; f++) {
    const uint32_t shape = p->collection->fields[f].shape;
    const int is_of_slice = shape == SL_SHAPE_CODE_PER_SLICE || shape == SL_SHAPE_CODE_TOTAL;
    if (to.values[f] && input == UINT32_MAX && is_of_slice && removes_events) to.values[f] = NULL;
    if (to.values[f]) cut_field(c, memory, &m, f, p, &to);
    if (to.values[f] && input != UINT32_MAX && m.entries[0] && is_item_table(c, p, f))
      cut_item_table(c, memory, &m, f, p, &to);
  }
  return to;
}

static void cut_events(const struct sl_case *c, const uint8_t *keep, struct sl_case *to) {
  to->runs = get(to, c->event_count, sizeof *to->runs);
  to->numbers = get(to, c->event_count, sizeof *to->numbers);
  uint64_t *errors = get(to, c->event_count, sizeof *errors);
  to->event_count = 0;
  for (uint32_t e = 0; e < c->event_count; e++) {
    if (!keep[e]) continue;
    to->runs[to->event_count] = c->runs[e];
    to->numbers[to->event_count] = c->numbers[e];
    if (c->errors) errors[to->event_count] = c->errors[e];
    to->event_count++;
  }
  if (c->errors) to->errors = errors;
  if (c->has_list) to->list = renumber(to, c->list, c->list_count, keep, &to->list_count);
}

struct sl_case *replay_cut_case(const struct sl_case *c, const struct replay_cut *cut) {
  struct sl_case *to = sl_case_new();
  if (!to) test_die(NULL, "no memory for a case");
  *to = *c;
  to->memory = NULL;
  cut_events(c, cut->axes[0].keep, to);
  to->inputs = get(to, c->input_count, sizeof *to->inputs);
  to->outputs = get(to, c->output_count, sizeof *to->outputs);
  for (uint32_t i = 0; i < c->input_count; i++) to->inputs[i] = cut_port(c, to, cut, &c->inputs[i], i);
  for (uint32_t i = 0; i < c->output_count; i++) to->outputs[i] = cut_port(c, to, cut, &c->outputs[i], UINT32_MAX);
  if (!replay_cut_has_fewer_items(cut)) return to;
  to->has_outputs = 0;
  to->output_count = 0;
  to->errors = NULL;
  return to;
}
