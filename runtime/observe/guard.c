/* guard.c: --guard. Each field has an allocation of its own between canaries. It is poisoned before it is written and
 * after its last reader, and the values that the source and each node wrote are checked (validity.h). On a device with
 * memory of its own only the allocations are separate and only source and outputs are checked; use the sanitizer of the
 * vendor for the rest.
 *
 * The input is one block; --guard leaves gaps with canaries between its fields. The unfilled part is poisoned for
 * AddressSanitizer, so that a read past the last bank is reported. After an overflow the slice is not checked further:
 * it runs again in parts.
 */
#include "base/guarded.h"
#include "execute/slot.h"
#include "layout/bind.h"
#include "observe/checks.h"
#include "observe/validity.h"

#include <stdlib.h>
#include <string.h>

enum {
  NO_INDEX = UINT32_MAX,
  VECTOR_BYTES = 32 /* kernels may load this many bytes beyond the filled part, within the capacity, if they do not
                       use the values */
};

static int report(const struct sl_setup *s, const struct sl_node *node, const char *text) {
  sl_diagnose(s->diagnostics, SL_ERROR, &node->location, node->name, NULL, "%s: %s", node->use, text);
  return SL_EPLUGIN;
}

/* ----------------------------------------------------------------------------------------------- the source */

/* For AddressSanitizer: makes the whole input accessible. */
static void permit_input(const struct sl_setup *s, const struct sl_input *input) {
  sl_guarded_permit(input->block, s->layout->input_bytes);
}

static unsigned char gap_byte(uint64_t at) { return (unsigned char)(0xC7 ^ (at * 7)); }

/* Iterates over the input fields in address order, for the gaps between them. */
static const struct sl_storage *next_field(const struct sl_layout *l, uint32_t *i) {
  for (; *i < l->storage_count; ++*i)
    if (l->storage[*i].kind == SL_STORAGE_INPUT && l->storage[*i].upper > 0) return &l->storage[(*i)++];
  return NULL;
}

static void fill_gap(unsigned char *block, uint64_t begin, uint64_t end) {
  for (uint64_t at = begin; at < end; at++) block[at] = gap_byte(at);
}

/* Number of bytes to poison. A pool is poisoned as far as the last fill used it: its values are not checked, and
 * pools are large (32 MiB per slice for whole records). */
static uint64_t bytes_to_poison(const struct sl_setup *s, const struct sl_input *input,
                                const struct sl_storage *field) {
  const struct sl_node *source = &s->graph->nodes[s->graph->source];
  const struct sl_collection *c = source->algorithm->members[field->member].collection;
  const struct sl_field *f = &c->fields[field->field];
  if (!input->is_poisoned || f->shape != SL_SHAPE_CODE_BYTES) return field->bytes;
  const uint64_t used = input->used[SL_BOUNDS_MAX * field->member + sl_group_of(c, field->field)];
  const uint64_t bytes = used * f->width * sl_type_bytes(f->type);
  return bytes < field->bytes ? bytes : field->bytes;
}

/* Small values get bytes that vary: those of a bank, say its version, may be any, in all banks of an event. */
static void poison_field(const struct sl_setup *s, const struct sl_storage *field, unsigned char *at, uint64_t bytes) {
  const struct sl_node *source = &s->graph->nodes[s->graph->source];
  const struct sl_field *f = &source->algorithm->members[field->member].collection->fields[field->field];
  memset(at, SL_POISON, bytes);
  if (f->shape == SL_SHAPE_CODE_BYTES || sl_type_bytes(f->type) >= sizeof(uint32_t)) return;
  for (uint64_t i = 0; i < bytes; i++) at[i] = sl_raw_poison(SL_POISON, i);
}

static void poison_input(const struct sl_setup *s, struct sl_input *input) {
  uint64_t end = 0;
  uint32_t i = 0;
  permit_input(s, input);
  for (const struct sl_storage *field; (field = next_field(s->layout, &i)); end = field->offset + field->bytes) {
    fill_gap(input->block, end, field->offset);
    poison_field(s, field, input->block + field->offset, bytes_to_poison(s, input, field));
  }
  input->is_poisoned = 1;
  fill_gap(input->block, end, s->layout->input_bytes);
}

static int is_gap_whole(const unsigned char *block, uint64_t from, uint64_t to, uint64_t *damaged) {
  for (*damaged = from; *damaged < to; ++*damaged)
    if (block[*damaged] != gap_byte(*damaged)) return 0;
  return 1;
}

/* Checks the canaries in the gaps. A damaged byte between two fields is reported for the nearer one. */
static int check_gaps(const struct sl_setup *s, const struct sl_input *input, char *text, size_t size) {
  const struct sl_layout *l = s->layout;
  uint64_t end = 0, damaged;
  uint32_t i = 0, before = NO_INDEX;
  for (int is_last = 0; !is_last;) {
    const struct sl_storage *field = next_field(l, &i);
    const uint64_t next = field ? field->offset : l->input_bytes;
    is_last = field == NULL;
    if (!is_gap_whole(input->block, end, next, &damaged)) {
      char name[160];
      const int is_past = before != NO_INDEX && (is_last || damaged - end < next - damaged);
      sl_layout_name(l, is_past ? before : i - 1, name, sizeof name);
      snprintf(text, size, "%s was written %llu bytes %s", name,
               (unsigned long long)(is_past ? damaged - end : next - damaged),
               is_past ? "past its end" : "before its begin");
      return 0;
    }
    if (is_last) break;
    before = i - 1;
    end = field->offset + field->bytes;
  }
  return 1;
}

static int check_input(const struct sl_setup *s, const struct sl_input *input, const struct sl_fill *fill) {
  const struct sl_node *node = &s->graph->nodes[s->graph->source];
  const struct sl_algorithm *a = node->algorithm;
  char text[512];
  if (!check_gaps(s, input, text, sizeof text)) return report(s, node, text);
  uint8_t *is_listed = malloc(fill->event_count + 1u);
  uint64_t *is_failed = calloc(fill->event_count + 1u, sizeof *is_failed);
  int status = is_listed && is_failed ? SL_OK : SL_ENOMEM;
  const struct sl_validity v = {a, input->source_args, fill->event_count, SL_POISON, is_listed, is_failed, 1};
  if (status == SL_OK) memset(is_listed, 1, fill->event_count);
  for (uint32_t e = 0; status == SL_OK && e < fill->event_count; e++) is_failed[e] = fill->events[e].error;
  for (uint32_t m = 0; status == SL_OK && m < a->member_count; m++)
    if (a->members[m].kind == SL_MEMBER_OUT &&
        (!sl_output_is_valid(&v, m, text, sizeof text) ||
         !sl_filled_is_valid(&v, m, input->used[SL_BOUNDS_MAX * m], text, sizeof text)))
      status = report(s, node, text);
  free(is_listed);
  free(is_failed);
  return status;
}

static void forbid_input(const struct sl_setup *s, const struct sl_input *input) {
  uint64_t end = 0;
  uint32_t i = 0;
  for (const struct sl_storage *at; (at = next_field(s->layout, &i));) {
    sl_guarded_forbid(input->block + end, at->offset - end);
    end = sl_filled_bytes(s, input, at) + VECTOR_BYTES;
    end = at->offset + (end < at->bytes ? end : at->bytes);
  }
  sl_guarded_forbid(input->block + end, s->layout->input_bytes - end);
}

static int fill_end(const struct sl_setup *s, struct sl_input *input, const struct sl_fill *fill) {
  const int status = check_input(s, input, fill);
  if (status < 0 || fill->event_count == 0) return status;
  input->event_count = fill->event_count;
  forbid_input(s, input);
  return SL_OK;
}

/* -------------------------------------------------------------------------------------------------- storage */

static int is_guarded(const struct sl_storage *s) { return s->kind == SL_STORAGE_ARENA && s->upper > 0; }

static uint64_t fields_bytes(const struct sl_setup *s) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < s->layout->storage_count; i++)
    if (is_guarded(&s->layout->storage[i])) bytes += s->layout->storage[i].bytes + SL_GUARDED_BYTES;
  return bytes;
}

/* State of a slot. */
struct guard {
  struct sl_guarded *fields; /* per storage */
  uint8_t *is_poisoned;      /* per storage: poisoned after its last reader */
  uint8_t *is_listed;        /* per event: on the list of the node that has run */
  int has_overflowed;        /* an output overflowed in the running part */
};

static int open_guard(struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  const struct sl_layout *l = s->layout;
  struct guard *g = slot->check_state = calloc(1, sizeof *g);
  if (!g) return SL_ENOMEM;
  g->fields = calloc(l->storage_count + 1, sizeof *g->fields);
  g->is_poisoned = calloc(l->storage_count + 1, 1);
  g->is_listed = malloc(l->events + 1u);
  if (!g->fields || !g->is_poisoned || !g->is_listed) return SL_ENOMEM;
  for (uint32_t i = 0; i < l->storage_count; i++) {
    if (!is_guarded(&l->storage[i])) continue;
    if (s->backend->is_device) {
      slot->storage[i] = s->backend->allocate(slot->device, l->storage[i].bytes);
    } else {
      g->fields[i] = sl_guarded_new(l->storage[i].bytes, SL_POISON, (int)i);
      slot->storage[i] = g->fields[i].values;
    }
    if (!slot->storage[i]) return SL_ENOMEM;
    g->is_poisoned[i] = !s->backend->is_device;
  }
  return SL_OK;
}

static void close_guard(struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  const struct sl_layout *l = s->layout;
  struct guard *g = slot->check_state;
  if (!g) return;
  for (uint32_t i = 0; g->fields && slot->storage && i < l->storage_count; i++)
    if (s->backend->is_device && is_guarded(&l->storage[i]) && slot->storage[i])
      s->backend->release(slot->device, slot->storage[i], l->storage[i].bytes);
    else
      sl_guarded_free(&g->fields[i]);
  free(g->fields);
  free(g->is_poisoned);
  free(g->is_listed);
  free(g);
}

/* Poisons the fields that the step will write, and the fields that the previous step read last. Fields that were
 * poisoned after their last reader in the previous slice have not been written since. */
static void poison(struct sl_slot *slot, uint32_t step) {
  const struct sl_layout *l = slot->layout;
  struct guard *g = slot->check_state;
  if (slot->setup->backend->is_device) return;
  if (step == 0) g->has_overflowed = 0;
  for (uint32_t i = 0; i < l->storage_count; i++) {
    const struct sl_storage *s = &l->storage[i];
    if (!is_guarded(s) || (s->lower != step && s->upper != step)) continue;
    if (!g->is_poisoned[i]) memset(slot->storage[i], SL_POISON, s->bytes);
    g->is_poisoned[i] = s->upper == step;
  }
}

/* ---------------------------------------------------------------------------------------------------- nodes */

static int check_canaries(const struct sl_slot *slot, char *text, size_t size) {
  const struct sl_layout *l = slot->layout;
  const struct guard *g = slot->check_state;
  for (uint32_t i = 0; i < l->storage_count; i++) {
    char name[160], damage[64];
    if (!sl_guarded_is_damaged(&g->fields[i], damage, sizeof damage)) continue;
    sl_layout_name(l, i, name, sizeof name);
    snprintf(text, size, "%s was written %s", name, damage);
    return 0;
  }
  return 1;
}

static int has_overflowed(const struct sl_slot *slot, uint32_t n) {
  const struct sl_algorithm *a = slot->setup->graph->nodes[n].algorithm;
  for (uint32_t m = 0; m < a->member_count; m++) {
    const struct sl_slot_member *at = &slot->layout->members[n][m];
    for (uint32_t b = 0; a->members[m].kind == SL_MEMBER_OUT && b < SL_BOUNDS_MAX; b++)
      if (at->used[b] != NO_INDEX && slot->used[at->used[b]] > at->capacities[b]) return 1;
  }
  return 0;
}

/* Marks the events of the part that the node ran on. */
static void find_listed(const struct sl_slot *slot, uint32_t n) {
  struct guard *g = slot->check_state;
  const struct sl_layout *l = slot->layout;
  const uint32_t set = l->node_set[n];
  memset(g->is_listed, set == NO_INDEX, slot->event_count);
  if (set == NO_INDEX) return;
  const uint32_t count = *(const uint32_t *)slot->storage[l->sets[set].count_storage];
  const uint32_t *numbers = slot->storage[l->sets[set].numbers_storage];
  for (uint32_t i = 0; i < count; i++)
    if (numbers[i] < slot->event_count) g->is_listed[numbers[i]] = 1;
}

static int check_node(const struct sl_slot *slot, const struct sl_slice *slice, uint32_t n) {
  const struct sl_setup *s = slot->setup;
  struct guard *g = slot->check_state;
  const struct sl_node *node = &s->graph->nodes[n];
  char text[512];
  if (!check_canaries(slot, text, sizeof text)) return report(s, node, text);
  g->has_overflowed |= has_overflowed(slot, n);
  if (g->has_overflowed) return SL_OK;
  find_listed(slot, n);
  const struct sl_validity v = {
      node->algorithm, slice->args[n], slot->event_count, SL_POISON, g->is_listed, slot->errors, 0};
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    if (node->algorithm->members[m].kind == SL_MEMBER_OUT && !sl_output_is_valid(&v, m, text, sizeof text))
      return report(s, node, text);
  return SL_OK;
}

static int check_nodes(struct sl_slot *slot, const struct sl_slice *slice, const uint32_t *nodes, uint32_t count) {
  int status = SL_OK;
  for (uint32_t i = 0; i < count && status == SL_OK; i++) status = check_node(slot, slice, nodes[i]);
  return status;
}

/* The index of the first NaN among values, or `count`. */
static uint64_t find_nan(const void *values, uint32_t type, uint64_t first, uint64_t count) {
  for (uint64_t i = first; i < count; i++) {
    if (type == SL_TYPE_f32 && ((const float *)values)[i] != ((const float *)values)[i]) return i;
    if (type == SL_TYPE_f64 && ((const double *)values)[i] != ((const double *)values)[i]) return i;
  }
  return count;
}

static int check_output(const struct sl_setup *s, const struct sl_output_view *v, const struct sl_batch *batch) {
  const struct sl_collection *c = v->collection;
  const int offsets_field = sl_offsets_field(c);
  const uint32_t *offsets = offsets_field >= 0 ? v->fields[offsets_field] : NULL;
  const uint32_t first = offsets ? offsets[0] : 0, items = offsets ? offsets[batch->event_count] : 0;
  for (uint32_t f = 0; f < c->field_count; f++) {
    const struct sl_field *field = &c->fields[f];
    if (field->type != SL_TYPE_f32 && field->type != SL_TYPE_f64) continue;
    const int item_offsets_field = sl_item_offsets_field(c, sl_group_of(c, f));
    const uint32_t *item_offsets = item_offsets_field >= 0 ? v->fields[item_offsets_field] : NULL;
    uint64_t begin = (uint64_t)first * field->width, end = (uint64_t)items * field->width;
    if (field->shape == SL_SHAPE_CODE_PER_EVENT || field->shape == SL_SHAPE_CODE_PER_SLICE) {
      begin = 0;
      end = field->shape == SL_SHAPE_CODE_PER_EVENT ? (uint64_t)batch->event_count * field->width : field->width;
    } else if (field->shape == SL_SHAPE_CODE_PER_SUBITEM && item_offsets) {
      begin = (uint64_t)item_offsets[first] * field->width;
      end = (uint64_t)item_offsets[items] * field->width;
    }
    const uint64_t found = find_nan(v->fields[f], field->type, begin, end);
    if (found == end) continue;
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL,
                "output %s: %s[%llu] is not a number, in the slice of run %u event %llu", v->name, field->name,
                (unsigned long long)found, batch->events[0].run, (unsigned long long)batch->events[0].number);
    return SL_EPLUGIN;
  }
  return SL_OK;
}

const struct sl_memory_check sl_guard_check = {.input_gap_bytes = SL_ARENA_ALIGNMENT,
                                               .fields_bytes = fields_bytes,
                                               .open = open_guard,
                                               .close = close_guard,
                                               .fill_begin = poison_input,
                                               .fill_end = fill_end,
                                               .input_close = permit_input,
                                               .step_begin = poison,
                                               .nodes_end = check_nodes,
                                               .check_output = check_output};
