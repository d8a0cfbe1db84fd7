/* tables.c: see tables.h. All functions iterate over small tables. */
#include "plugin/tables.h"

#include <stdio.h>
#include <string.h>

#define TYPE_NAME_(name, c, bytes)  [SL_TYPE_##name] = #name,
#define TYPE_BYTES_(name, c, bytes) [SL_TYPE_##name] = bytes,

static const char *const type_names[SL_TYPE_COUNT] = {
    SL_TYPES(TYPE_NAME_)[SL_TYPE_bool] = "bool", [SL_TYPE_string] = "string", [SL_TYPE_enumeration] = "enumeration"};
static const uint32_t type_bytes[SL_TYPE_COUNT] = {
    SL_TYPES(TYPE_BYTES_)[SL_TYPE_bool] = sizeof(uint32_t), [SL_TYPE_string] = sizeof(char *),
    [SL_TYPE_enumeration] = sizeof(uint32_t)};
static const char *const shape_names[] = {"PER_SLICE",   "PER_EVENT", "OFFSETS", "PER_ITEM", "ITEM_OFFSETS",
                                          "PER_SUBITEM", "BYTES",     "ARRAY",   "TOTAL"};
static const char *const combination_names[] = {"min", "max", "sum", "product"};

uint32_t sl_type_bytes(uint32_t type) { return type < SL_TYPE_COUNT ? type_bytes[type] : 0; }
const char *sl_type_name(uint32_t type) { return type < SL_TYPE_COUNT ? type_names[type] : "?"; }
const char *sl_shape_name(uint32_t shape) { return shape <= SL_SHAPE_CODE_TOTAL ? shape_names[shape] : "?"; }
const char *sl_combination_name(uint32_t combine) {
  return combine <= SL_COMBINE_PRODUCT ? combination_names[combine] : "?";
}

int sl_member_index(const struct sl_algorithm *a, const char *name) {
  for (uint32_t i = 0; i < a->member_count; i++)
    if (strcmp(a->members[i].name, name) == 0) return (int)i;
  return -1;
}

int sl_is_budget(const struct sl_member *m) {
  return m->kind == SL_MEMBER_PROPERTY && (m->flags & SL_FLAG_BUDGET) && m->type == SL_TYPE_u32;
}

int sl_is_named_field(const struct sl_member *m) { return m->kind == SL_MEMBER_FIELD && !(m->flags & SL_FLAG_OPERAND); }

int sl_algorithm_index(const struct sl_plugin *plugin, const char *name) {
  for (uint32_t i = 0; i < plugin->algorithm_count; i++)
    if (strcmp(plugin->algorithms[i]->name, name) == 0) return (int)i;
  return -1;
}

int sl_field_index(const struct sl_collection *c, const char *name) {
  for (uint32_t i = 0; i < c->field_count; i++)
    if (strcmp(c->fields[i].name, name) == 0) return (int)i;
  return -1;
}

int sl_dimension_index(const struct sl_collection *c, const char *name) {
  for (uint32_t i = 0; i < c->dimension_count; i++)
    if (strcmp(c->dimensions[i].name, name) == 0) return (int)i;
  return -1;
}

static int field_of_shape(const struct sl_collection *c, uint32_t shape) {
  for (uint32_t i = 0; i < c->field_count; i++)
    if (c->fields[i].shape == shape) return (int)i;
  return -1;
}

int sl_offsets_field(const struct sl_collection *c) { return field_of_shape(c, SL_SHAPE_CODE_OFFSETS); }

int sl_has_items(const struct sl_collection *c) {
  return field_of_shape(c, SL_SHAPE_CODE_PER_ITEM) >= 0 || field_of_shape(c, SL_SHAPE_CODE_ITEM_OFFSETS) >= 0;
}

static int item_field(const struct sl_collection *c, const char *name, uint32_t type, uint32_t other_type) {
  const int f = sl_field_index(c, name);
  if (f < 0 || c->fields[f].shape != SL_SHAPE_CODE_PER_ITEM || c->fields[f].width != 1) return -1;
  return c->fields[f].type == type || c->fields[f].type == other_type ? f : -1;
}

struct sl_pool sl_pool_of(const struct sl_collection *c) {
  struct sl_pool p = {field_of_shape(c, SL_SHAPE_CODE_BYTES), -1, -1};
  if (p.pool < 0) return p;
  p.first_word = item_field(c, "first_word", SL_TYPE_u32, SL_TYPE_u32);
  p.size_bytes = item_field(c, "size_bytes", SL_TYPE_u16, SL_TYPE_u32);
  return p;
}

uint32_t sl_pool_bytes(const struct sl_collection *c, const struct sl_pool *pool, const void *sizes, uint32_t i) {
  const int is_short = c->fields[pool->size_bytes].type == SL_TYPE_u16;
  return is_short ? ((const uint16_t *)sizes)[i] : ((const uint32_t *)sizes)[i];
}

int sl_is_totals(const struct sl_collection *c) { return c->fields[0].shape == SL_SHAPE_CODE_TOTAL; }

static int begins_group(const struct sl_field *f) {
  return f->shape == SL_SHAPE_CODE_ITEM_OFFSETS || f->shape == SL_SHAPE_CODE_BYTES;
}

uint32_t sl_bound_count(const struct sl_collection *c) {
  uint32_t count = 1;
  for (uint32_t f = 0; f < c->field_count; f++) count += (uint32_t)begins_group(&c->fields[f]);
  return count;
}

int sl_group_field(const struct sl_collection *c, uint32_t bound) {
  for (uint32_t f = 0; bound > 0 && f < c->field_count; f++)
    if (begins_group(&c->fields[f]) && --bound == 0) return (int)f;
  return -1;
}

int sl_item_offsets_field(const struct sl_collection *c, uint32_t bound) {
  const int field = sl_group_field(c, bound);
  return field >= 0 && c->fields[field].shape == SL_SHAPE_CODE_ITEM_OFFSETS ? field : -1;
}

uint32_t sl_group_of(const struct sl_collection *c, uint32_t field) {
  const uint32_t shape = c->fields[field].shape;
  uint32_t bound = 0, of_items = 0;
  for (uint32_t f = 0; f <= field; f++) {
    bound += (uint32_t)begins_group(&c->fields[f]);
    if (c->fields[f].shape == SL_SHAPE_CODE_ITEM_OFFSETS) of_items = bound;
  }
  return shape == SL_SHAPE_CODE_PER_SUBITEM ? of_items : begins_group(&c->fields[field]) ? bound : 0;
}

void sl_bound_name(const struct sl_member *port, uint32_t bound, char *text, size_t size) {
  const int field = sl_bound_count(port->collection) > 2 ? sl_group_field(port->collection, bound) : -1;
  snprintf(text, size, "%s%s%s", port->name, field < 0 ? "" : ".",
           field < 0 ? "" : port->collection->fields[field].name);
}

int sl_term_member(const struct sl_algorithm *a, const struct sl_term *t, uint32_t *bound) {
  *bound = 0;
  const size_t length = strcspn(t->of, ".");
  int member = -1;
  for (uint32_t i = 0; i < a->member_count; i++)
    if (strncmp(a->members[i].name, t->of, length) == 0 && a->members[i].name[length] == '\0') member = (int)i;
  const struct sl_collection *c = member < 0 ? NULL : a->members[member].collection;
  if (t->kind == SL_TERM_DIMENSION) {
    *bound = c && t->of[length] ? (uint32_t)sl_dimension_index(c, t->of + length + 1) : UINT32_MAX;
    return member;
  }
  if (t->kind != SL_TERM_SUBITEMS) return t->of[length] ? -1 : member;
  if (!c) return member;
  const uint32_t count = sl_bound_count(c);
  if (!t->of[length]) *bound = count == 2 ? 1 : 0;
  for (uint32_t b = 1; t->of[length] && b < count; b++)
    if (strcmp(c->fields[sl_group_field(c, b)].name, t->of + length + 1) == 0) *bound = b;
  return member;
}

int sl_scratch_is_used(const struct sl_algorithm *a, const struct sl_member *m, uint32_t shared) {
  return (m->flags & (a->run_tuned && !shared ? SL_FLAG_SHARED : SL_FLAG_TUNED)) == 0;
}

const char *sl_input_need(const struct sl_member *m) {
  if (m->flags & SL_FLAG_AUTO) return " (automatic)";
  return m->flags & SL_FLAG_OPTIONAL ? " (optional)" : m->flags & SL_FLAG_LIST ? " (any number)" : "";
}

uint32_t sl_collection_bytes(const struct sl_collection *c) {
  return (uint32_t)(c->field_count * sizeof(void *) + sl_bound_count(c) * sizeof(struct sl_bound) +
                    (c->dimension_count + 1) / 2 * 2 * sizeof(uint32_t));
}

void sl_port_set_dimensions(void *port, const struct sl_collection *c) {
  uint32_t *sizes = (uint32_t *)(void *)((char *)port + c->field_count * sizeof(void *) +
                                         sl_bound_count(c) * sizeof(struct sl_bound));
  for (uint32_t d = 0; d < c->dimension_count; d++) sizes[d] = c->dimensions[d].size;
}

void sl_dimensions_fill(const struct sl_algorithm *a, void *args) {
  for (uint32_t m = 0; m < a->member_count; m++) {
    const struct sl_member *port = &a->members[m];
    if ((port->kind == SL_MEMBER_IN && !(port->flags & (SL_FLAG_LIST | SL_FLAG_FIELD))) || port->kind == SL_MEMBER_OUT)
      sl_port_set_dimensions((char *)args + port->args_offset, port->collection);
  }
}

int sl_is_event_list(const struct sl_collection *c) { return strcmp(c->name, sl_event_list_collection.name) == 0; }

const char *sl_next_word(const char *list, const char **word, size_t *length) {
  list += strspn(list, " ");
  *word = list;
  *length = strcspn(list, " ");
  return *length ? list + *length : NULL;
}

int sl_field_is_read(const struct sl_member *in, uint32_t field) {
  const char *name = in->collection->fields[field].name, *word;
  const size_t name_length = strlen(name);
  size_t length;
  const char *rest = sl_next_word(in->fields, &word, &length);
  if (!rest) return 1;
  for (; rest; rest = sl_next_word(rest, &word, &length))
    if (length == name_length && memcmp(word, name, length) == 0) return 1;
  return 0;
}
