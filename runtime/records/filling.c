/* filling.c: see filling.h. */
#include "records/filling.h"

#include "layout/bind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sl_filling_has_items(const struct sl_algorithm *a) {
  for (uint32_t m = 0; m < a->member_count; m++) {
    if (a->members[m].kind != SL_MEMBER_OUT) continue;
    const struct sl_collection *c = a->members[m].collection;
    if (sl_has_items(c) || sl_offsets_field(c) >= 0 || sl_bound_count(c) > 1) return 1;
  }
  return 0;
}

int sl_filling_open(struct sl_filling *f, const struct sl_algorithm *a) {
  f->algorithm = a;
  f->saved = calloc((size_t)SL_BOUNDS_MAX * a->member_count + 1, sizeof *f->saved);
  return f->saved ? SL_OK : SL_ENOMEM;
}

void sl_filling_close(struct sl_filling *f) { free(f->saved); }

static uint32_t *offsets_of(const struct sl_filling *f, uint32_t m, int field) {
  return field < 0 ? NULL : *sl_args_pointer(f->args, &f->algorithm->members[m], (uint32_t)field);
}

void sl_filling_begin(struct sl_filling *f, const void *args) {
  f->args = (void *)(uintptr_t)args;
  FOR_OUTPUTS (m, f) {
    const struct sl_collection *c = f->algorithm->members[m].collection;
    uint32_t *offsets = offsets_of(f, m, sl_offsets_field(c));
    if (offsets) offsets[0] = 0;
    for (uint32_t b = 1; b < sl_bound_count(c); b++)
      if ((offsets = offsets_of(f, m, sl_item_offsets_field(c, b)))) offsets[0] = 0;
  }
}

void sl_filling_save(struct sl_filling *f) {
  FOR_OUTPUTS (m, f)
    for (uint32_t b = 0; b < sl_bound_count(f->algorithm->members[m].collection); b++)
      f->saved[SL_BOUNDS_MAX * m + b] = *sl_args_bound(f->args, &f->algorithm->members[m], b)->used;
}

void sl_filling_undo(struct sl_filling *f) {
  FOR_OUTPUTS (m, f)
    for (uint32_t b = 0; b < sl_bound_count(f->algorithm->members[m].collection); b++)
      *sl_args_bound(f->args, &f->algorithm->members[m], b)->used = f->saved[SL_BOUNDS_MAX * m + b];
}

const struct sl_bound *sl_filling_exceeded(const struct sl_filling *f, uint64_t *needed) {
  FOR_OUTPUTS (m, f)
    for (uint32_t b = 0; b < sl_bound_count(f->algorithm->members[m].collection); b++) {
      const struct sl_bound *bound = sl_args_bound(f->args, &f->algorithm->members[m], b);
      *needed = *bound->used - f->saved[SL_BOUNDS_MAX * m + b];
      if (*needed > bound->event_limit) return bound;
    }
  return NULL;
}

static void clear_values(const struct sl_filling *f, uint32_t m, uint32_t event) {
  const struct sl_collection *c = f->algorithm->members[m].collection;
  for (uint32_t i = 0; i < c->field_count; i++) {
    unsigned char *values = *sl_args_pointer(f->args, &f->algorithm->members[m], i);
    const size_t bytes = (size_t)c->fields[i].width * sl_type_bytes(c->fields[i].type);
    if (c->fields[i].shape == SL_SHAPE_CODE_PER_EVENT && values) memset(values + event * bytes, 0, bytes);
  }
}

void sl_filling_end_event(struct sl_filling *f, uint32_t event, int is_bad) {
  FOR_OUTPUTS (m, f) {
    uint32_t *offsets = offsets_of(f, m, sl_offsets_field(f->algorithm->members[m].collection));
    if (offsets) offsets[event + 1] = *sl_args_bound(f->args, &f->algorithm->members[m], 0)->used;
    if (is_bad) clear_values(f, m, event);
  }
}

void sl_filling_describe(const struct sl_filling *f, const struct sl_bound *bound, char *text, size_t size) {
  FOR_OUTPUTS (m, f)
    for (uint32_t b = 0; b < sl_bound_count(f->algorithm->members[m].collection); b++) {
      char name[112];
      if (sl_args_bound(f->args, &f->algorithm->members[m], b) != bound) continue;
      sl_bound_name(&f->algorithm->members[m], b, name, sizeof name);
      snprintf(text, size, "%s of `%s`", b ? "subitems" : "items", name);
      return;
    }
}
