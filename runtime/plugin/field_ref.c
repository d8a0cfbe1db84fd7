/* field_ref.c: see field_ref.h. */
#include "plugin/field_ref.h"

#include "plugin/tables.h"

#include <stdio.h>
#include <string.h>

static int is_type_allowed(const struct sl_member *ref, uint32_t type) {
  const char *word, *name = sl_type_name(type);
  size_t length;
  if (!*ref->choices) return 1;
  for (const char *rest = sl_next_word(ref->choices, &word, &length); rest; rest = sl_next_word(rest, &word, &length))
    if (strlen(name) == length && memcmp(word, name, length) == 0) return 1;
  return 0;
}

/* Writes the allowed types: "f32 or f64". */
static void write_types(const struct sl_member *ref, char *text, size_t size) {
  const char *word;
  size_t length, used = 0;
  for (const char *rest = sl_next_word(ref->choices, &word, &length); rest; rest = sl_next_word(rest, &word, &length))
    if (used < size)
      used += (size_t)snprintf(text + used, size - used, "%s%.*s", used ? " or " : "", (int)length, word);
}

int sl_field_ref_fits(const struct sl_member *ref, const struct sl_collection *c, uint32_t field, char *reason,
                      size_t reason_size) {
  const struct sl_field *f = &c->fields[field];
  const int is_by_item = f->shape == SL_SHAPE_CODE_PER_ITEM || f->shape == SL_SHAPE_CODE_PER_SUBITEM;
  char types[128];
  if (sl_is_event_list(c))
    snprintf(reason, reason_size, "needs values of events, but an event list has none");
  else if (f->shape != SL_SHAPE_CODE_PER_EVENT && !is_by_item)
    snprintf(reason, reason_size, "needs values per event, item or subitem, but %s of %s is %s", f->name, c->name,
             sl_shape_name(f->shape));
  else if (!is_type_allowed(ref, f->type)) {
    write_types(ref, types, sizeof types);
    snprintf(reason, reason_size, "needs values of type %s, but %s of %s is %s", types, f->name, c->name,
             sl_type_name(f->type));
  } else if (is_by_item && sl_offsets_field(c) < 0)
    snprintf(reason, reason_size, "needs values of events, but %s has no offsets per event", c->name);
  else
    return 1;
  return 0;
}

struct sl_member sl_field_ref_input(const struct sl_member *ref, const struct sl_collection *c, uint32_t field,
                                    char fields[SL_FIELD_REF_TEXT_BYTES]) {
  struct sl_member input = *ref;
  int sources[SL_FIELD_REF_POINTERS];
  size_t length = 0;
  input.kind = SL_MEMBER_IN;
  input.flags = SL_FLAG_FIELD | (ref->flags & SL_FLAG_OPERAND);
  input.collection = c;
  input.count = field;
  sl_field_ref_sources(&input, sources);
  for (int i = 0; i < SL_FIELD_REF_POINTERS; i++)
    if (sources[i] >= 0 && length < SL_FIELD_REF_TEXT_BYTES)
      length += (size_t)snprintf(fields + length, SL_FIELD_REF_TEXT_BYTES - length, "%s%s", length ? " " : "",
                                 c->fields[sources[i]].name);
  input.fields = fields;
  return input;
}

void sl_field_ref_sources(const struct sl_member *input, int sources[SL_FIELD_REF_POINTERS]) {
  const struct sl_collection *c = input->collection;
  const uint32_t shape = c->fields[input->count].shape;
  sources[0] = (int)input->count;
  sources[1] = shape == SL_SHAPE_CODE_PER_EVENT ? -1 : sl_offsets_field(c);
  sources[2] = shape == SL_SHAPE_CODE_PER_SUBITEM ? sl_item_offsets_field(c, sl_group_of(c, input->count)) : -1;
}

struct sl_field_ref *sl_field_ref_open(const struct sl_member *input, void *args) {
  struct sl_field_ref *ref = (struct sl_field_ref *)(void *)((char *)args + input->args_offset);
  const struct sl_field *f = &input->collection->fields[input->count];
  *ref = (struct sl_field_ref){.type = f->type, .shape = f->shape, .width = f->width};
  return ref;
}
