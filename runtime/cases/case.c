/* case.c: memory of a case, and checks of its arrays. */
#include "cases/case.h"

#include "layout/bind.h"

#include <stdlib.h>
#include <string.h>

struct sl_case_memory {
  struct sl_case_memory *next;
  void *block;
};

struct sl_case *sl_case_new(void) {
  return calloc(1, sizeof(struct sl_case));
}

void sl_case_free(struct sl_case *c) {
  if (!c) return;
  while (c->memory) {
    struct sl_case_memory *next = c->memory->next;
    free(c->memory->block);
    free(c->memory);
    c->memory = next;
  }
  free(c);
}

void *sl_case_get(struct sl_case *c, uint64_t count, size_t bytes) {
  if (bytes > 0 && count > (SIZE_MAX / 2 - SL_CASE_ALIGNMENT) / bytes) return NULL;
  const size_t total = ((size_t)count * bytes + SL_CASE_ALIGNMENT) / SL_CASE_ALIGNMENT * SL_CASE_ALIGNMENT;
  struct sl_case_memory *m = malloc(sizeof *m);
  void *block = m ? aligned_alloc(SL_CASE_ALIGNMENT, total) : NULL;
  if (!block) {
    free(m);
    return NULL;
  }
  *m = (struct sl_case_memory){c->memory, block};
  c->memory = m;
  return memset(block, 0, total);
}

/* ------------------------------------------------------------------------------------------------- checking */

const uint32_t *sl_case_offsets(const struct sl_case_port *p, uint32_t bound) {
  const int field = bound == 0 ? sl_offsets_field(p->collection) : sl_item_offsets_field(p->collection, bound);
  return field < 0 ? NULL : p->values[field];
}

static int is_counted(const struct sl_field *f, uint32_t bound) {
  if (bound > 0) return f->shape == SL_SHAPE_CODE_PER_SUBITEM || f->shape == SL_SHAPE_CODE_BYTES;
  return f->shape == SL_SHAPE_CODE_PER_ITEM || f->shape == SL_SHAPE_CODE_TOTAL;
}

/* Number of entries of the first stored field with the length of the bound. */
static uint64_t entries_of(const struct sl_case_port *p, uint32_t bound) {
  const struct sl_collection *c = p->collection;
  for (uint32_t f = 0; f < c->field_count; f++)
    if (p->values[f] && sl_group_of(c, f) == bound && is_counted(&c->fields[f], bound))
      return p->counts[f] / c->fields[f].width;
  return 0;
}

void sl_case_bounds(const struct sl_case_port *p, uint64_t bounds[SL_BOUNDS_MAX]) {
  const struct sl_collection *c = p->collection;
  for (uint32_t b = 0; b < SL_BOUNDS_MAX; b++) {
    const int field = b == 0 ? sl_offsets_field(c) : sl_item_offsets_field(c, b);
    const int has_offsets = field >= 0 && p->values[field] && p->counts[field] > 0;
    bounds[b] = has_offsets ? ((const uint32_t *)p->values[field])[p->counts[field] - 1] : entries_of(p, b);
    if (b == 0 && !has_offsets && bounds[0] == 0) /* items that are known by the offsets of their subitems only */
      for (uint32_t g = 1; g < sl_bound_count(c) && bounds[0] == 0; g++) {
        const int item_offsets = sl_item_offsets_field(c, g);
        if (item_offsets >= 0 && p->values[item_offsets] && p->counts[item_offsets] > 0)
          bounds[0] = p->counts[item_offsets] - 1;
      }
  }
}

static int fails(char *reason, size_t size, const struct sl_case_port *p, const struct sl_field *f, const char *text) {
  snprintf(reason, size, "%s%s%s.%s %s", p->name, p->producer ? "." : "", p->producer ? p->producer : "", f->name,
           text);
  return SL_EFORMAT;
}

static int check_ascending(const uint32_t *offsets, uint64_t count) {
  for (uint64_t i = 1; i < count; i++)
    if (offsets[i] < offsets[i - 1]) return 0;
  return count > 0 && offsets[0] == 0;
}

static int is_list_of_events(const uint32_t *list, uint64_t count, uint32_t event_count) {
  for (uint64_t i = 0; i < count; i++)
    if (list[i] >= event_count || (i > 0 && list[i] <= list[i - 1])) return 0;
  return 1;
}

static int check_event_list(const struct sl_case *c, const struct sl_case_port *p, char *reason, size_t size) {
  const uint32_t *count = p->values[0], *list = p->values[1];
  if (count && p->counts[0] != 1) return fails(reason, size, p, &p->collection->fields[0], "must have one value");
  if (!list) return SL_OK;
  const uint64_t valid = count ? *count : p->counts[1];
  if (valid > p->counts[1] || p->counts[1] > c->event_count || !is_list_of_events(list, valid, c->event_count))
    return fails(reason, size, p, &p->collection->fields[1], "is no ascending list of events of the case");
  return SL_OK;
}

static int check_port(const struct sl_case *c, const struct sl_case_port *p, char *reason, size_t size) {
  uint64_t bounds[SL_BOUNDS_MAX];
  if (sl_is_event_list(p->collection)) return check_event_list(c, p, reason, size);
  sl_case_bounds(p, bounds);
  for (uint32_t f = 0; f < p->collection->field_count; f++) {
    const struct sl_field *field = &p->collection->fields[f];
    char text[160];
    if (!p->values[f] || field->shape == SL_SHAPE_CODE_ARRAY) continue;
    const uint64_t expected = sl_collection_values(p->collection, f, c->event_count, bounds);
    snprintf(text, sizeof text, "has %llu values, %llu are expected for %u events", (unsigned long long)p->counts[f],
             (unsigned long long)expected, c->event_count);
    if (p->counts[f] != expected) return fails(reason, size, p, field, text);
    if ((field->shape == SL_SHAPE_CODE_OFFSETS || field->shape == SL_SHAPE_CODE_ITEM_OFFSETS) &&
        !check_ascending(p->values[f], p->counts[f]))
      return fails(reason, size, p, field, "does not begin with 0, or decreases");
  }
  return SL_OK;
}

int sl_case_check(const struct sl_case *c, char *reason, size_t size) {
  int status = SL_OK;
  for (uint32_t i = 0; i < c->input_count && status == SL_OK; i++) status = check_port(c, &c->inputs[i], reason, size);
  for (uint32_t i = 0; i < c->output_count && status == SL_OK; i++)
    status = check_port(c, &c->outputs[i], reason, size);
  if (status == SL_OK && c->has_list && !is_list_of_events(c->list, c->list_count, c->event_count)) {
    snprintf(reason, size, "`list` is no ascending list of events of the case");
    return SL_EFORMAT;
  }
  return status;
}
