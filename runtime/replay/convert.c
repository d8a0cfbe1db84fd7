/* convert.c: a case has names and arrays, a captured node has ports by number, and the outcome of a run has valid parts
 * of outputs by number. This file converts between them. Arrays are borrowed.
 */
#include "plugin/dimensions.h"
#include "plugin/property.h"
#include "replay/replay.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------- from a graph to a case */

static const char *print(struct sl_case *c, const char *text) {
  const size_t bytes = strlen(text) + 1;
  char *copy = sl_case_get(c, bytes, 1);
  return copy ? memcpy(copy, text, bytes) : NULL;
}

static const char *number_text(struct sl_case *c, uint32_t type, const struct sl_value *v) {
  char text[SL_NUMBER_TEXT_BYTES];
  if (type == SL_TYPE_u64 || type == SL_TYPE_u32 || type == SL_TYPE_bool) {
    snprintf(text, sizeof text, "%llu", (unsigned long long)v->integer);
    return print(c, text);
  }
  return print(c, sl_number_text(type, v->number, text));
}

static int add_property(struct sl_case *c, const struct sl_member *m, const struct sl_value *v) {
  struct sl_case_property *p = &c->properties[c->property_count++];
  *p = (struct sl_case_property){.name = m->name, .count = sl_property_count(m), .is_array = m->count > 0};
  if (m->type == SL_TYPE_string) {
    p->text = print(c, v->text);
    return p->text ? SL_OK : SL_ENOMEM;
  }
  if (m->type == SL_TYPE_enumeration) {
    size_t length = 0;
    const char *name = sl_choice_name(m, (uint32_t)v->integer, &length);
    char *copy = sl_case_get(c, length + 1, 1);
    if (copy) memcpy(copy, name, length);
    p->text = copy;
    return copy ? SL_OK : SL_ENOMEM;
  }
  const char **items = sl_case_get(c, p->count, sizeof *items);
  for (uint32_t i = 0; items && i < p->count; i++) {
    items[i] = number_text(c, m->type, v->items ? &v->items[i] : v);
    if (!items[i]) return SL_ENOMEM;
  }
  p->items = items;
  return items ? SL_OK : SL_ENOMEM;
}

int replay_case_begin(struct sl_case *c, const struct sl_node *node) {
  const struct sl_algorithm *a = node->algorithm;
  c->algorithm = node->use;
  c->node = node->name;
  c->block_threads = node->block_threads;
  c->is_shared = node->shared;
  c->properties = sl_case_get(c, a->member_count, sizeof *c->properties);
  c->inputs = NULL;
  if (!c->properties) return SL_ENOMEM;
  for (uint32_t m = 0; m < a->member_count; m++) {
    if (a->members[m].kind != SL_MEMBER_PROPERTY) continue;
    const int status = add_property(c, &a->members[m], &node->values[m]);
    if (status < 0) return status;
  }
  return SL_OK;
}

/* The collection as in the tables of a plugin, without sizes. */
static const struct sl_collection *declared_of(struct sl_case *c, const struct sl_collection *sized) {
  if (sized->dimension_count == 0) return sized;
  const uint32_t sizes[SL_DIMENSIONS_MAX] = {0};
  struct sl_collection *copy = sl_case_get(c, 1, sl_collection_copy_bytes(sized));
  if (!copy) return NULL;
  sl_collection_copy(sized, sizes, copy);
  return copy;
}

static int add_port(struct sl_case *c, const struct sl_member *m, const char *producer, struct trial_port *from,
                    struct sl_case_port *to) {
  *to = (struct sl_case_port){.name = m->name,
                              .producer = producer,
                              .reference = m->flags & SL_FLAG_FIELD ? m->collection->fields[m->count].name : NULL,
                              .declared = declared_of(c, m->collection),
                              .collection = m->collection,
                              .values = (const void **)from->values,
                              .counts = from->counts};
  if (!to->declared) return SL_ENOMEM;
  for (uint32_t f = 0; f < m->collection->field_count; f++) {
    const uint32_t shape = m->collection->fields[f].shape, group = sl_group_of(m->collection, f);
    if (shape == SL_SHAPE_CODE_BYTES && m->kind == SL_MEMBER_OUT) to->values[f] = NULL; /* may be filled in any order */
    if (shape == SL_SHAPE_CODE_OFFSETS && from->offsets) to->values[f] = from->offsets;
    if (shape == SL_SHAPE_CODE_OFFSETS && from->offsets) to->counts[f] = c->event_count + 1ull;
    if (shape == SL_SHAPE_CODE_ITEM_OFFSETS && from->item_offsets[group]) {
      to->values[f] = from->item_offsets[group];
      to->counts[f] = from->bounds[0] + 1;
    }
  }
  if (sl_is_event_list(m->collection) && to->values[0] && to->values[1])
    to->counts[1] = *(const uint32_t *)to->values[0]; /* the others are not valid */
  return SL_OK;
}

int replay_case_add_ports(struct sl_case *c, const struct sl_node *node, uint32_t kind, struct trial_port *ports) {
  const struct sl_algorithm *a = node->algorithm;
  uint32_t count = 0;
  for (uint32_t m = 0; m < a->member_count; m++)
    if (a->members[m].kind == kind) count += ports[m].producers;
  struct sl_case_port *to = sl_case_get(c, count, sizeof *to);
  int status = to ? SL_OK : SL_ENOMEM;
  count = 0;
  for (uint32_t m = 0; m < a->member_count; m++)
    for (uint32_t k = 0; a->members[m].kind == kind && k < ports[m].producers && status == SL_OK; k++) {
      const char *producer = ports[m].entries ? ports[m].names[k] : NULL;
      status = add_port(c, &a->members[m], producer, trial_entry(&ports[m], k), &to[count++]);
    }
  *(kind == SL_MEMBER_IN ? &c->inputs : &c->outputs) = to;
  *(kind == SL_MEMBER_IN ? &c->input_count : &c->output_count) = count;
  if (kind == SL_MEMBER_OUT) c->has_outputs = 1;
  return status;
}

/* ---------------------------------------------------------------------------------- from a case to an outcome */

static const struct sl_case_port *find_output(const struct sl_case *c, const struct sl_member *m,
                                              struct sl_child *log) {
  char difference[256];
  struct sl_collection own = *m->collection;
  const struct sl_case_port *p = NULL;
  own.trait = NULL;
  for (uint32_t i = 0; i < c->output_count; i++)
    if (strcmp(c->outputs[i].name, m->name) == 0) p = &c->outputs[i];
  if (!p) sl_child_wrong(log, "the case has no output %s", m->name);
  if (sl_collection_compare(p->declared, &own, difference, sizeof difference))
    sl_child_wrong(log, "output %s of the case is another %s than that of the plugin: %s", m->name, p->declared->name,
                   difference);
  return p;
}

int replay_is_constant(const struct sl_case *c) {
  return c->output_count > 0 && c->outputs[0].collection->fields[0].shape == SL_SHAPE_CODE_ARRAY;
}

/* The values that can be compared: of items and subitems only with their offsets. */
static const void **comparable(const struct sl_case_port *p, const struct trial_written *w) {
  const struct sl_collection *c = p->collection;
  const void **values = test_allocate(c->field_count, sizeof *values);
  for (uint32_t f = 0; f < c->field_count; f++) {
    const uint32_t shape = c->fields[f].shape;
    const int is_subitem = shape == SL_SHAPE_CODE_PER_SUBITEM;
    const int is_entry = is_subitem || shape == SL_SHAPE_CODE_PER_ITEM;
    if (is_entry && !(w->offsets && (!is_subitem || w->item_offsets[sl_group_of(c, f)]))) continue;
    values[f] = p->values[f];
  }
  return values;
}

struct trial_outcome *replay_outcome_of(const struct sl_case *c, const struct sl_algorithm *a, struct sl_child *log) {
  struct trial_outcome *o = test_allocate(1, sizeof *o);
  *o = (struct trial_outcome){.algorithm = a, .event_count = c->event_count, .numbers = c->numbers};
  o->is_listed = test_allocate(c->event_count, 1);
  o->errors = test_allocate(c->event_count, sizeof *o->errors);
  o->ports = test_allocate(a->member_count, sizeof *o->ports);
  if (c->errors) memcpy(o->errors, c->errors, c->event_count * sizeof *o->errors);
  for (uint32_t i = 0; i < (c->has_list ? c->list_count : c->event_count); i++)
    o->is_listed[c->has_list ? c->list[i] : i] = 1;
  for (uint32_t m = 0; m < a->member_count; m++) {
    if (a->members[m].kind != SL_MEMBER_OUT) continue;
    const struct sl_case_port *p = find_output(c, &a->members[m], log);
    struct trial_written *w = &o->ports[m];
    sl_case_bounds(p, w->bounds);
    w->offsets = sl_case_offsets(p, 0);
    for (uint32_t b = 1; b < SL_BOUNDS_MAX; b++) w->item_offsets[b] = sl_case_offsets(p, b);
    w->values = comparable(p, w);
    w->counts = p->counts;
    if (sl_is_event_list(p->collection) && !(w->values[0] && w->values[1]))
      sl_child_wrong(log, "output %s of the case lacks its values", p->name);
  }
  return o;
}

/* ---------------------------------------------------------------------------------- from a run to a case */

static void take_output(const struct trial_written *w, const struct sl_collection *collection, uint32_t event_count,
                        struct sl_case_port *p) {
  p->values = test_allocate(collection->field_count, sizeof *p->values);
  p->counts = test_allocate(collection->field_count, sizeof *p->counts);
  for (uint32_t f = 0; f < collection->field_count; f++) {
    const uint32_t shape = collection->fields[f].shape;
    p->values[f] = w->values[f];
    p->counts[f] = w->counts[f];
    if (shape == SL_SHAPE_CODE_OFFSETS && w->offsets) {
      p->values[f] = w->offsets;
      p->counts[f] = event_count + 1ull;
    }
  }
  if (sl_is_event_list(collection) && p->values[0] && p->values[1]) p->counts[1] = *(const uint32_t *)p->values[0];
}

static void take_arrays(const struct sl_test *t, uint32_t member, struct sl_case_port *p) {
  const struct sl_collection *collection = t->algorithm->members[member].collection;
  p->values = test_allocate(collection->field_count, sizeof *p->values);
  p->counts = test_allocate(collection->field_count, sizeof *p->counts);
  for (uint32_t f = 0; f < collection->field_count; f++) {
    p->values[f] = t->members[member].fields[f].memory.values;
    p->counts[f] = t->members[member].fields[f].count;
  }
}

void replay_take_outputs(struct sl_case *c, const struct sl_test *t, const struct trial_outcome *o) {
  const struct sl_algorithm *a = t->algorithm;
  uint64_t *errors = test_allocate(c->event_count, sizeof *errors);
  c->outputs = test_allocate(a->member_count, sizeof *c->outputs);
  c->output_count = 0;
  for (uint32_t m = 0; m < a->member_count; m++) {
    if (a->members[m].kind != SL_MEMBER_OUT) continue;
    struct sl_case_port *p = &c->outputs[c->output_count++];
    *p = (struct sl_case_port){.name = a->members[m].name,
                               .collection = a->members[m].collection,
                               .declared = declared_of(c, a->members[m].collection)};
    if (!p->declared) test_die(t, "no memory");
    if (o)
      take_output(&o->ports[m], p->collection, c->event_count, p);
    else
      take_arrays(t, m, p);
  }
  c->has_outputs = 1;
  c->errors = NULL;
  for (uint32_t e = 0; o && e < c->event_count; e++) {
    errors[e] = o->errors[e];
    if (errors[e]) c->errors = errors;
  }
}

void replay_compare_arrays(const struct sl_case *c, const struct sl_test *t, struct sl_child *log) {
  for (uint32_t m = 0; m < t->algorithm->member_count; m++) {
    const struct sl_member *member = &t->algorithm->members[m];
    if (member->kind != SL_MEMBER_OUT) continue;
    const struct sl_case_port *p = find_output(c, member, log);
    for (uint32_t f = 0; f < member->collection->field_count; f++) {
      const struct test_field *made = &t->members[m].fields[f];
      const struct sl_field *field = &member->collection->fields[f];
      if (!p->values[f]) continue;
      if (!made->memory.values) sl_child_wrong(log, "it did not make %s.%s", member->name, field->name);
      if (made->count != p->counts[f])
        sl_child_wrong(log, "%s.%s has %llu values, expected %llu", member->name, field->name,
                       (unsigned long long)made->count, (unsigned long long)p->counts[f]);
      trial_compare_array(member->name, field, p->values[f], made->memory.values, made->count, log);
    }
  }
}
