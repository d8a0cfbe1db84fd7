/* bind.c: see bind.h. Arithmetic saturates at 2^64 - 1, so that no table makes a capacity wrap around. */
#include "layout/bind.h"

uint64_t sl_field_values(const struct sl_field *f, uint64_t events, uint64_t items, uint64_t subitems) {
  switch (f->shape) {
    case SL_SHAPE_CODE_PER_SLICE:
      return f->width;
    case SL_SHAPE_CODE_PER_EVENT:
      return events * f->width;
    case SL_SHAPE_CODE_OFFSETS:
      return events + 1;
    case SL_SHAPE_CODE_PER_ITEM:
    case SL_SHAPE_CODE_TOTAL:
      return items * f->width;
    case SL_SHAPE_CODE_ITEM_OFFSETS:
      return items + 1;
    case SL_SHAPE_CODE_PER_SUBITEM:
    case SL_SHAPE_CODE_BYTES:
      return subitems * f->width;
    default:
      return 0;
  }
}

uint64_t sl_total_value(uint32_t type, const void *values, uint64_t i) {
  return type == SL_TYPE_u32 ? ((const uint32_t *)values)[i] : ((const uint64_t *)values)[i];
}

void **sl_port_pointer(void *port, uint32_t field) { return (void **)port + field; }

struct sl_bound *sl_port_bound(void *port, const struct sl_collection *c, uint32_t bound) {
  return (struct sl_bound *)(void *)sl_port_pointer(port, c->field_count) + bound;
}

uint64_t sl_collection_values(const struct sl_collection *c, uint32_t field, uint64_t events,
                              const uint64_t counts[SL_BOUNDS_MAX]) {
  return sl_field_values(&c->fields[field], events, counts[0], counts[sl_group_of(c, field)]);
}

void **sl_args_pointer(void *args, const struct sl_member *m, uint32_t field) {
  return sl_port_pointer((char *)args + m->args_offset, field);
}

struct sl_bound *sl_args_bound(void *args, const struct sl_member *m, uint32_t bound) {
  return sl_port_bound((char *)args + m->args_offset, m->collection, bound);
}

_Static_assert(sizeof(struct sl_views) == sizeof(struct sl_event_list_views),
               "the layout of NAME_views does not depend on the collection");
struct sl_views *sl_args_views(void *args, const struct sl_member *m) {
  return (struct sl_views *)(void *)((char *)args + m->args_offset);
}

const struct sl_capacity *sl_bound_capacity(const struct sl_member *m, uint32_t bound) {
  return bound == 0 ? &m->capacity : &m->sub_capacities[bound - 1];
}

static uint64_t saturating_add(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t saturating_multiply(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t term_value(const struct sl_term *term, uint32_t events, sl_capacity_lookup *lookup, void *context) {
  uint64_t count;
  switch (term->kind) {
    case SL_TERM_EVENTS:
      count = events;
      break;
    case SL_TERM_ITEMS:
    case SL_TERM_SUBITEMS:
    case SL_TERM_ENTRIES:
    case SL_TERM_PROPERTY:
    case SL_TERM_DIMENSION:
      count = lookup(context, term);
      break;
    case SL_TERM_EVENT_ENTRIES:
    case SL_TERM_BUDGET:
      count = saturating_multiply(lookup(context, term), events);
      break;
    default:
      return term->add;
  }
  const uint64_t scaled = saturating_multiply(count, term->multiply) / term->divide;
  if (term->kind == SL_TERM_BUDGET) return scaled > term->add ? scaled : term->add;
  return saturating_add(scaled, term->add);
}

const struct sl_term *sl_budget_term(const struct sl_capacity *c) {
  for (uint32_t t = 0; t < SL_TERMS_MAX; t++)
    if (c->terms[t].kind == SL_TERM_BUDGET) return &c->terms[t];
  return NULL;
}

uint64_t sl_capacity_value(const struct sl_capacity *c, uint32_t events, sl_capacity_lookup *lookup, void *context) {
  uint64_t value = 0;
  for (int i = 0; i < SL_TERMS_MAX && c->terms[i].kind != SL_TERM_NONE; i++) {
    const uint64_t term = term_value(&c->terms[i], events, lookup, context);
    if (c->combine == SL_COMBINE_SUM)
      value = saturating_add(value, term);
    else if (c->combine == SL_COMBINE_PRODUCT)
      value = i == 0 ? term : saturating_multiply(value, term);
    else if (i == 0 || (c->combine == SL_COMBINE_MIN ? term < value : term > value))
      value = term;
  }
  return value;
}
