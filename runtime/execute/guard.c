/* guard.c: --guard: every field in an allocation of its own, poisoned before it is written and after it died, with a
 * canary after it; and no NaN in an output. On a device with a memory of its own only the allocations are separate:
 * there the vendor's sanitizer does the rest.
 */
#include "execute/bind.h"
#include "execute/session.h"

#include <stdlib.h>
#include <string.h>

enum { CANARY_BYTES = 256, CANARY = 0xC7, POISON = 0xA5 };

uint64_t sl_guard_bytes(const struct sl_session *s) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < s->layout->storage_count; i++)
    if (s->layout->storage[i].kind == SL_STORAGE_ARENA && s->layout->storage[i].upper > 0)
      bytes += s->layout->storage[i].bytes + CANARY_BYTES;
  return bytes;
}

void *sl_guard_open(struct sl_session *s, uint64_t bytes) {
  if (s->backend->is_device) return s->backend->allocate(s->device, bytes);
  unsigned char *memory = malloc(bytes + CANARY_BYTES);
  if (!memory) return NULL;
  memset(memory, POISON, bytes);
  memset(memory + bytes, CANARY, CANARY_BYTES);
  return memory;
}

void sl_guard_close(struct sl_session *s, void *memory, uint64_t bytes) {
  if (s->backend->is_device)
    s->backend->release(s->device, memory, bytes);
  else
    free(memory);
}

/* What the step is about to write, and what the step before was the last to read. */
void sl_guard_poison(struct sl_slot *slot, uint32_t step) {
  const struct sl_layout *l = slot->session->layout;
  if (slot->session->backend->is_device) return;
  for (uint32_t i = 0; i < l->storage_count; i++) {
    const struct sl_storage *s = &l->storage[i];
    if (s->kind == SL_STORAGE_ARENA && s->upper > 0 && (s->lower == step || s->upper == step))
      memset(slot->storage[i], POISON, s->bytes);
  }
}

int sl_guard_check(struct sl_slot *slot, const struct sl_node *node) {
  const struct sl_layout *l = slot->session->layout;
  if (slot->session->backend->is_device) return SL_OK;
  for (uint32_t i = 0; i < l->storage_count; i++) {
    const struct sl_storage *s = &l->storage[i];
    if (s->kind != SL_STORAGE_ARENA || s->upper == 0) continue;
    const unsigned char *canary = (const unsigned char *)slot->storage[i] + s->bytes;
    for (uint32_t b = 0; b < CANARY_BYTES; b++) {
      if (canary[b] == CANARY) continue;
      char name[160];
      sl_layout_name(l, i, name, sizeof name);
      sl_diagnose(slot->session->diagnostics, SL_ERROR, &node->place, node->name, NULL,
                  "wrote %u bytes past the end of %s (%llu bytes)", b + 1, name, (unsigned long long)s->bytes);
      return SL_EPLUGIN;
    }
  }
  return SL_OK;
}

/* The index of the first NaN among values, or `count`. */
static uint64_t find_nan(const void *values, uint32_t type, uint64_t first, uint64_t count) {
  for (uint64_t i = first; i < count; i++) {
    if (type == SL_TYPE_f32 && ((const float *)values)[i] != ((const float *)values)[i]) return i;
    if (type == SL_TYPE_f64 && ((const double *)values)[i] != ((const double *)values)[i]) return i;
  }
  return count;
}

int sl_guard_check_output(struct sl_session *s, const struct sl_output_view *v, const struct sl_batch *batch) {
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
    if (field->shape == SL_SHAPE_CODE_PER_EVENT) {
      begin = 0;
      end = (uint64_t)batch->event_count * field->width;
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
