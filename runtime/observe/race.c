/* race.c: --race. Places each field in separate memory with gaps, tells the race detector by name which memory each
 * node may use, and reports the findings at the end.
 *
 * The backend observes the accesses of kernels (base/races.h). This file adds what the backend cannot know: the part of
 * the input that the source filled, and that a field is undefined before the step that writes it.
 */
#include "base/races.h"
#include "execute/binding.h"
#include "layout/bind.h"
#include "observe/checks.h"

#include <sluice/text.h>

#include <stdlib.h>
#include <string.h>

enum { GAP_BYTES = 4096, NO_INDEX = UINT32_MAX };

/* Tags of memory that is no storage; they follow the tags of the storages. The tables of the running node come last. */
enum { TAG_EVENT_COUNT, TAG_ERRORS, TAG_USED, TAG_TABLES, TAG_NODE_TABLES };

/* -------------------------------------------------------------------------------------------------- memory */

/* State of a slot: memory by tag, and the running node. */
struct race {
  struct sl_race_memory *memory;
  struct sl_race_node node;
};

static struct sl_race_memory *memory_of(const struct sl_slot *slot) {
  return ((const struct race *)slot->check_state)->memory;
}

static int is_placed(const struct sl_storage *s) { return s->kind == SL_STORAGE_ARENA && s->upper > 0; }

static uint64_t arena_bytes(const struct sl_setup *s) {
  uint64_t bytes = GAP_BYTES;
  for (uint32_t i = 0; i < s->layout->storage_count; i++)
    if (is_placed(&s->layout->storage[i]))
      bytes += sl_aligned(s->layout->storage[i].bytes, SL_ARENA_ALIGNMENT) + GAP_BYTES;
  return bytes;
}

static uint32_t most_tables(const struct sl_setup *s) {
  uint32_t count = 0;
  for (uint32_t n = 0; n < s->graph->node_count; n++) count += s->graph->nodes[n].algorithm->member_count;
  return count;
}

/* Marks memory that the host fills as defined. */
static void mark_host_memory(const struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  const struct sl_race_calls *races = s->backend->races;
  races->mark(s->devices[0].device, slot->errors, sl_counters_bytes(s), 1);
  for (uint32_t i = 0; i < s->layout->storage_count; i++)
    if (s->arrays[i].values) races->mark(s->devices[0].device, s->arrays[i].device_values[0], s->arrays[i].bytes, 1);
  for (uint32_t n = 0; n < s->graph->node_count; n++)
    for (uint32_t m = 0; s->prepared[n].tables && m < s->graph->nodes[n].algorithm->member_count; m++)
      if (s->prepared[n].tables[m].values)
        races->mark(s->devices[0].device, s->prepared[n].tables[m].device_values[0], s->prepared[n].tables[m].bytes, 1);
}

static int open_race(struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  struct race *race = slot->check_state = calloc(1, sizeof *race);
  slot->arena = s->backend->allocate(slot->device, arena_bytes(s));
  if (!race || !slot->arena) return SL_ENOMEM;
  uint64_t at = GAP_BYTES;
  for (uint32_t i = 0; i < s->layout->storage_count; i++) {
    if (!is_placed(&s->layout->storage[i])) continue;
    slot->storage[i] = slot->arena + at;
    at += sl_aligned(s->layout->storage[i].bytes, SL_ARENA_ALIGNMENT) + GAP_BYTES;
  }
  mark_host_memory(slot);
  race->memory = calloc(s->layout->storage_count + TAG_NODE_TABLES + most_tables(s), sizeof *race->memory);
  return race->memory ? SL_OK : SL_ENOMEM;
}

static void close_race(struct sl_slot *slot) {
  struct race *race = slot->check_state;
  if (race) free(race->memory);
  free(race);
}

static int mark_input(const struct sl_setup *s, struct sl_input *input, const struct sl_fill *fill) {
  if (fill->event_count == 0) return SL_OK;
  input->event_count = fill->event_count;
  const struct sl_race_calls *races = s->backend->races;
  races->mark(s->devices[0].device, input->block, s->layout->input_bytes, 0);
  for (uint32_t i = 0; i < s->layout->storage_count; i++) {
    const struct sl_storage *storage = &s->layout->storage[i];
    if (storage->kind != SL_STORAGE_INPUT || storage->upper == 0) continue;
    races->mark(s->devices[0].device, input->block + storage->offset, sl_filled_bytes(s, input, storage), 1);
  }
  return SL_OK;
}

static void forget(struct sl_slot *slot, uint32_t step) {
  const struct sl_setup *s = slot->setup;
  for (uint32_t i = 0; i < s->layout->storage_count; i++)
    if (is_placed(&s->layout->storage[i]) && s->layout->storage[i].lower == step)
      s->backend->races->mark(s->devices[0].device, slot->storage[i], s->layout->storage[i].bytes, 0);
}

/* --------------------------------------------------------------------------------------------------- names */

/* Event that value `index` of a field belongs to, in the running part; NO_INDEX if unknown. */
static uint32_t event_at(const struct sl_slot *slot, const struct sl_storage *at, uint64_t index) {
  const struct sl_setup *s = slot->setup;
  const struct sl_collection *c = s->graph->nodes[at->node].algorithm->members[at->member].collection;
  const struct sl_field *field = &c->fields[at->field];
  const int offsets_field = sl_offsets_field(c);
  if (at->kind == SL_STORAGE_INPUT) return NO_INDEX; /* an index in the slice, not in the part */
  if (field->shape == SL_SHAPE_CODE_PER_EVENT || field->shape == SL_SHAPE_CODE_OFFSETS)
    return index / field->width < slot->event_count ? (uint32_t)(index / field->width) : NO_INDEX;
  if (field->shape != SL_SHAPE_CODE_PER_ITEM || offsets_field < 0) return NO_INDEX;
  const int32_t storage = s->layout->members[at->node][at->member].storage[offsets_field];
  const uint32_t *offsets = storage == SL_NONE ? NULL : slot->storage[storage];
  for (uint32_t e = 0; offsets && e < slot->event_count; e++)
    if (offsets[e] <= index / field->width && index / field->width < offsets[e + 1]) return e;
  return NO_INDEX;
}

static void add_event(const struct sl_slot *slot, uint32_t event, char *text, size_t size) {
  const struct sl_input *input = slot->slices_in_flight[0].input;
  const uint32_t at = slot->first_event + event;
  const size_t length = strlen(text);
  if (event == NO_INDEX || at >= input->event_count) return;
  snprintf(text + length, size - length, " (run %u event %llu)", input->events[at].run,
           (unsigned long long)input->events[at].number);
}

static uint64_t value_bytes(const struct sl_setup *s, uint32_t tag) {
  const struct sl_storage *at = &s->layout->storage[tag];
  if (at->node == NO_INDEX) return sizeof(uint32_t);
  const struct sl_member *m = &s->graph->nodes[at->node].algorithm->members[at->member];
  return sl_type_bytes(at->field == UINT32_MAX ? m->type : m->collection->fields[at->field].type);
}

static void name_tag(const struct sl_slot *slot, uint32_t tag, char *text, size_t size) {
  static const char *const others[] = {"the number of events", "the errors of events", "the used words",
                                       "the tables of list ports and families"};
  const uint32_t storages = slot->layout->storage_count;
  if (tag < storages)
    sl_layout_name(slot->layout, tag, text, size);
  else
    snprintf(text, size, "%s", tag - storages < TAG_NODE_TABLES ? others[tag - storages] : "a table of the node");
}

static void describe(void *context, uint32_t tag, int64_t byte, char *text, size_t size) {
  const struct sl_slot *slot = context;
  const struct sl_setup *s = slot->setup;
  char name[200];
  name_tag(slot, tag, name, sizeof name);
  const uint64_t bytes = memory_of(slot)[tag].bytes;
  if (byte < 0) {
    snprintf(text, size, "memory %lld bytes before %s", -(long long)byte, name);
  } else if ((uint64_t)byte >= bytes) {
    snprintf(text, size, "memory %llu bytes past the end of %s", (unsigned long long)((uint64_t)byte - bytes), name);
  } else if (tag >= s->layout->storage_count) {
    snprintf(text, size, "%s, byte %lld", name, (long long)byte);
  } else {
    const struct sl_storage *at = &s->layout->storage[tag];
    const uint64_t index = (uint64_t)byte / value_bytes(s, tag);
    snprintf(text, size, "%s[%llu]", name, (unsigned long long)index);
    if (at->node != NO_INDEX && at->field != UINT32_MAX && at->kind != SL_STORAGE_CONSTANT)
      add_event(slot, event_at(slot, at, index), text, size);
  }
}

/* --------------------------------------------------------------------------------------------------- rights */

static void allow(struct sl_slot *slot, int32_t storage, uint32_t rights) {
  if (storage != SL_NONE) memory_of(slot)[storage].rights |= rights;
}

static void allow_member(struct sl_slot *slot, uint32_t n, uint32_t m) {
  const struct sl_setup *s = slot->setup;
  const struct sl_member *member = &s->graph->nodes[n].algorithm->members[m];
  const struct sl_slot_member *at = &s->layout->members[n][m];
  const uint32_t both = SL_RACE_MAY_READ | SL_RACE_MAY_WRITE;
  if (member->kind == SL_MEMBER_SCRATCH) allow(slot, at->storage[0], both);
  if (member->kind != SL_MEMBER_IN && member->kind != SL_MEMBER_OUT) return;
  for (uint32_t k = 0; k < at->entry_count; k++)
    for (uint32_t f = 0; f < member->collection->field_count; f++) {
      const int32_t storage = at->entries[k].storage[f];
      const int is_own =
          storage != SL_NONE && s->layout->storage[storage].node == n; /* otherwise the storage belongs to a port
                                                                          that shares its offsets */
      allow(slot, storage, is_own ? both : SL_RACE_MAY_READ);
    }
}

static uint32_t allow_tables(struct sl_slot *slot, uint32_t n, uint32_t at) {
  const struct sl_setup *s = slot->setup;
  const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
  for (uint32_t m = 0; m < a->member_count && s->prepared[n].tables; m++) {
    const struct sl_array *table = &s->prepared[n].tables[m];
    if (!table->values) continue;
    memory_of(slot)[at] = (struct sl_race_memory){table->device_values[0], table->bytes, SL_RACE_MAY_READ, at};
    at++;
  }
  return at;
}

/* Lists all memory without access rights, except for memory that every kernel may use. */
static uint32_t list_memory(struct sl_slot *slot, const struct sl_slice *slice) {
  const struct sl_setup *s = slot->setup;
  const struct sl_layout *l = s->layout;
  const uint32_t both = SL_RACE_MAY_READ | SL_RACE_MAY_WRITE;
  struct sl_race_memory *all = memory_of(slot), *others = all + l->storage_count;
  for (uint32_t i = 0; i < l->storage_count; i++) {
    const struct sl_storage *at = &l->storage[i];
    const int is_there = at->kind == SL_STORAGE_INPUT ? at->upper > 0 : slot->storage[i] != NULL;
    const void *memory = sl_field_for_kernels(slot, slice, 0, (int32_t)i);
    const uint64_t bytes = at->kind == SL_STORAGE_CONSTANT ? s->arrays[i].bytes : at->bytes;
    all[i] = is_there ? (struct sl_race_memory){memory, bytes, 0, i} : (struct sl_race_memory){NULL, 0, 0, i};
  }
  others[TAG_EVENT_COUNT] =
      (struct sl_race_memory){&slot->event_count, sizeof slot->event_count, SL_RACE_MAY_READ, TAG_EVENT_COUNT};
  others[TAG_ERRORS] = (struct sl_race_memory){slot->errors, s->slice_events * sizeof *slot->errors, both, TAG_ERRORS};
  others[TAG_USED] = (struct sl_race_memory){slot->used, l->used_count * sizeof *slot->used, both, TAG_USED};
  others[TAG_TABLES] = (struct sl_race_memory){slice->tables.host, slice->tables.bytes, SL_RACE_MAY_READ, TAG_TABLES};
  for (uint32_t i = 0; i < TAG_NODE_TABLES; i++) others[i].tag += l->storage_count;
  return l->storage_count + TAG_NODE_TABLES;
}

static int begin_nodes(struct sl_slot *slot, const struct sl_slice *slice, const uint32_t *nodes, uint32_t count) {
  struct race *race = slot->check_state;
  const struct sl_setup *s = slot->setup;
  const struct sl_layout *l = s->layout;
  uint32_t end = list_memory(slot, slice);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t n = nodes[i], set = l->node_set[n];
    for (uint32_t m = 0; m < s->graph->nodes[n].algorithm->member_count; m++) allow_member(slot, n, m);
    if (set != NO_INDEX) {
      allow(slot, l->sets[set].count_storage, SL_RACE_MAY_READ);
      allow(slot, l->sets[set].numbers_storage, SL_RACE_MAY_READ);
    }
    end = allow_tables(slot, n, end);
  }
  const struct sl_node *first = &s->graph->nodes[nodes[0]];
  const int is_upstream = s->race_algorithm && s->race_algorithm != first->algorithm;
  race->node = (struct sl_race_node){first->name, race->memory, end, describe, slot, is_upstream};
  return s->backend->races->begin(slot->stream, &race->node);
}

/* ------------------------------------------------------------------------------------------------- findings */

struct command {
  char text[1024];
  size_t length;
};

static void add(struct command *c, const char *format, const char *value) {
  const int length = snprintf(c->text + c->length, sizeof c->text - c->length, format, value);
  if (length > 0) c->length += (size_t)length;
  if (c->length >= sizeof c->text) c->length = sizeof c->text - 1;
}

static void add_all(struct command *c, const char *format, const char *const *values) {
  for (; values && *values; values++) add(c, format, *values);
}

static void add_range(struct command *c, const struct sl_input_range *range) {
  char text[80];
  snprintf(text, sizeof text, "%llu+%llu@%llu", (unsigned long long)range->first_byte, (unsigned long long)range->bytes,
           (unsigned long long)range->first_record);
  add(c, " --range %s", text);
}

/* The command that reproduces the findings. Options that were not given have deterministic defaults. */
static void describe_command(const struct sl_setup *s, struct command *c) {
  char number[32];
  add(c, "sluice run %s --device simt --race", s->options.graph_path ? s->options.graph_path : "GRAPH");
  add_all(c, " -i '%s'", s->options.input_paths);
  for (uint32_t i = 0; s->options.input_ranges && s->options.input_paths[i]; i++)
    add_range(c, &s->options.input_ranges[i]);
  snprintf(number, sizeof number, "%llu", (unsigned long long)s->options.events);
  if (s->options.events) add(c, " -n %s", number);
  snprintf(number, sizeof number, "%u", s->slice_events);
  add(c, " --slice-events %s", number);
  add_all(c, " --plugin-path '%s'", s->options.plugin_paths);
  add_all(c, " --with '%s'", s->options.with_paths);
  add_all(c, " --use '%s'", s->options.uses);
  add_all(c, " --set '%s'", s->options.sets);
}

static const struct sl_node *node_of(const struct sl_setup *s, const char *name) {
  const int32_t n = sl_graph_node_index(s->graph, name);
  return n == SL_NONE ? NULL : &s->graph->nodes[n];
}

const char *sl_race_finding(const struct sl_setup *s) {
  struct sl_race_finding f;
  uint64_t omitted;
  return s->backend->races->finding(s->devices[0].device, 0, &f, &omitted) ? f.text : NULL;
}

static const char *count_text(uint64_t count, char *text, size_t size) {
  snprintf(text, size, " (%llu times)", (unsigned long long)count);
  return count > 1 ? text : "";
}

static int report_findings(const struct sl_setup *s) {
  struct command command = {"", 0};
  struct sl_race_finding f;
  uint64_t omitted = 0;
  uint32_t count = 0;
  char device[64] = "", times[48];
  describe_command(s, &command);
  s->backend->describe(s->devices[0].device, device, sizeof device);
  for (; s->backend->races->finding(s->devices[0].device, count, &f, &omitted); count++) {
    const struct sl_node *node = node_of(s, f.node);
    sl_diagnose(s->diagnostics, SL_ERROR, node ? &node->location : NULL, f.node, NULL, "%s: %s%s",
                node ? node->use : "", f.text, count_text(f.count, times, sizeof times));
  }
  if (omitted > 0)
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "%llu more findings at locations that were not recorded",
                (unsigned long long)omitted);
  if (count == 0) return SL_OK;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "%u %s (%s), by: %s", count,
              sl_plural(count, "finding", "findings"), device, command.text);
  return SL_EPLUGIN;
}

const struct sl_memory_check sl_race_check = {.input_gap_bytes = GAP_BYTES,
                                              .fields_bytes = arena_bytes,
                                              .open = open_race,
                                              .close = close_race,
                                              .exchanged = mark_host_memory,
                                              .fill_end = mark_input,
                                              .step_begin = forget,
                                              .nodes_begin = begin_nodes,
                                              .finish = report_findings};
