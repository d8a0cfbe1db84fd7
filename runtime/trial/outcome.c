/* outcome.c: see outcome.h. */
#include "trial/outcome.h"

#include "layout/bind.h"
#include "observe/validity.h"

#include <string.h>

enum { POOL_ALIGNMENT = 16 };

struct trial_pool *trial_pool_new(void) {
  struct trial_pool *pool = sl_shared_new(TRIAL_POOL_BYTES);
  const size_t begin = (sizeof *pool + POOL_ALIGNMENT - 1) / POOL_ALIGNMENT * POOL_ALIGNMENT;
  if (pool) *pool = (struct trial_pool){begin, TRIAL_POOL_BYTES, NULL};
  return pool;
}

static void *get(struct trial_pool *pool, uint64_t count, uint64_t bytes_each) {
  const uint64_t bytes = (count * bytes_each + POOL_ALIGNMENT) / POOL_ALIGNMENT * POOL_ALIGNMENT;
  if (!pool) return test_allocate((size_t)bytes, 1);
  if (bytes > pool->bytes - pool->used_bytes) return NULL;
  void *place = (char *)pool + pool->used_bytes;
  pool->used_bytes += (size_t)bytes;
  return place;
}

/* ------------------------------------------------------------------------------------------------- copying */

/* One output being copied. */
struct look {
  const struct sl_validity *validity;
  const struct sl_member *member;
  uint32_t index; /* index of the member */
  struct trial_written *written;
};

static const void *field_pointer(const struct look *l, int field) {
  return field < 0 ? NULL : *sl_args_pointer(l->validity->args, l->member, (uint32_t)field);
}

/* Range [*begin, *end) of the values of one event. */
static void event_range(const struct trial_written *w, const struct sl_collection *c, uint32_t f, uint32_t event,
                        uint64_t *begin, uint64_t *end) {
  sl_event_range(c, f, event, w->offsets, w->item_offsets[sl_group_of(c, f)], begin, end);
}

/* Index of the entry of a value. */
static uint64_t entry_of(const struct sl_field *field, uint64_t value) {
  return field->width > 1 ? value / field->width : value;
}

static int copy_field(const struct look *l, uint32_t f, uint64_t count, struct trial_pool *pool) {
  const struct sl_field *field = &l->member->collection->fields[f];
  const void *from = field_pointer(l, (int)f);
  if (!from || field->shape == SL_SHAPE_CODE_BYTES) return 1;
  const uint64_t bytes = count * sl_type_bytes(field->type);
  void *copy = get(pool, bytes + 1, 1);
  if (!copy) return 0;
  if (bytes) memcpy(copy, from, (size_t)bytes);
  l->written->values[f] = copy;
  l->written->counts[f] = count;
  return 1;
}

static int copy_offsets(const uint32_t *from, uint64_t count, const uint32_t **to, struct trial_pool *pool) {
  uint32_t *copy = get(pool, count, sizeof *copy);
  if (!copy) return 0;
  memcpy(copy, from, count * sizeof *copy);
  *to = copy;
  return 1;
}

static int observe_extent(const struct look *l, struct trial_pool *pool) {
  struct trial_written *w = l->written;
  const struct sl_collection *c = l->member->collection;
  const uint32_t *offsets = sl_output_offsets(l->validity, l->index);
  const uint32_t events = l->validity->event_count;
  if (sl_is_totals(c)) w->bounds[0] = sl_args_bound(l->validity->args, l->member, 0)->capacity;
  if (!offsets) return 1;
  w->bounds[0] = offsets[events];
  if (!copy_offsets(offsets, events + 1ull, &w->offsets, pool)) return 0;
  for (uint32_t b = 1; b < sl_bound_count(c); b++) {
    const int field = sl_item_offsets_field(c, b);
    const uint32_t *item_offsets = field_pointer(l, field);
    if (!item_offsets) continue;
    w->bounds[b] = item_offsets[offsets[events]];
    if (!copy_offsets(item_offsets, w->bounds[0] + 1, &w->item_offsets[b], pool)) return 0;
  }
  return 1;
}

static int observe_port(struct look *l, struct trial_pool *pool) {
  const struct sl_collection *c = l->member->collection;
  struct trial_written *w = l->written;
  w->values = get(pool, c->field_count, sizeof *w->values);
  w->counts = get(pool, c->field_count, sizeof *w->counts);
  if (!w->values || !w->counts) return 0;
  if (!observe_extent(l, pool)) return 0;
  for (uint32_t f = 0; f < c->field_count; f++) {
    const uint64_t count = sl_collection_values(c, f, l->validity->event_count, w->bounds);
    if (!copy_field(l, f, count, pool)) return 0;
  }
  return 1;
}

static struct trial_outcome *new_outcome(const struct sl_algorithm *a, uint32_t event_count, struct trial_pool *pool) {
  struct trial_outcome *o = get(pool, 1, sizeof *o);
  if (!o) return NULL;
  *o = (struct trial_outcome){.algorithm = a, .event_count = event_count};
  o->is_listed = get(pool, event_count + 1u, 1);
  o->errors = get(pool, event_count + 1u, sizeof *o->errors);
  o->ports = get(pool, a->member_count, sizeof *o->ports);
  return o->is_listed && o->errors && o->ports ? o : NULL;
}

static struct trial_outcome *observe(struct trial_outcome *o, void *args, struct sl_child *log,
                                     struct trial_pool *pool) {
  const struct sl_validity validity = {o->algorithm, args, o->event_count, SL_NO_POISON, o->is_listed, NULL, 0};
  char text[512];
  for (uint32_t m = 0; m < o->algorithm->member_count; m++) {
    struct look l = {&validity, &o->algorithm->members[m], m, &o->ports[m]};
    if (l.member->kind != SL_MEMBER_OUT) continue;
    if (!sl_output_is_valid(&validity, m, text, sizeof text)) sl_child_wrong(log, "%s", text);
    if (!observe_port(&l, pool)) return NULL;
  }
  return o;
}

struct trial_outcome *trial_observe_args(const struct sl_algorithm *a, void *args, uint32_t event_count,
                                         struct sl_child *log) {
  struct trial_outcome *o = new_outcome(a, event_count, NULL);
  memset(o->is_listed, 1, event_count);
  return observe(o, args, log, NULL);
}

static void check_error(const struct sl_algorithm *a, uint32_t event, uint64_t error, struct sl_child *log) {
  const uint32_t code = (uint32_t)(error >> 32);
  if (!error) return;
  for (uint32_t i = 0; i < a->error_count; i++)
    if (a->errors[i].code == code) return;
  sl_child_wrong(log, "event %u is refused with code %u, which is not in the table of errors", event, code);
}

struct trial_outcome *trial_observe(const struct sl_test *t, const struct trial_case *c, struct sl_child *log,
                                    struct trial_pool *pool) {
  struct trial_outcome *o = new_outcome(t->algorithm, c->event_count, pool);
  if (!o) return NULL;
  for (uint32_t i = 0; i < (c->has_list ? c->list_count : c->event_count); i++)
    o->is_listed[c->has_list ? c->list[i] : i] = 1;
  for (uint32_t e = 0; e < c->event_count; e++) {
    o->errors[e] = sl_test_event_error(t, e);
    check_error(t->algorithm, e, o->errors[e], log);
  }
  return observe(o, t->args, log, pool);
}

/* ----------------------------------------------------------------------------------------------- comparing */

struct pair {
  const struct trial_written *reference, *other;
  const struct sl_member *member;
  uint32_t event, other_event; /* index of the event in each outcome */
  unsigned long long number;   /* its name in messages */
  struct sl_child *log;
};

static void write_value(char *text, size_t size, const struct sl_field *field, const void *values, uint64_t i) {
  const uint32_t bytes = sl_type_bytes(field->type);
  const unsigned char *at = (const unsigned char *)values + i * bytes;
  const int is_signed = field->type == SL_TYPE_i8 || field->type == SL_TYPE_i16 || field->type == SL_TYPE_i32;
  const unsigned unused_bits = 64 - 8 * bytes;
  uint64_t integer = 0;
  float f32;
  double f64;
  if (field->type == SL_TYPE_f32) {
    memcpy(&f32, at, sizeof f32);
    snprintf(text, size, "%.9g", (double)f32);
  } else if (field->type == SL_TYPE_f64) {
    memcpy(&f64, at, sizeof f64);
    snprintf(text, size, "%.17g", f64);
  } else {
    memcpy(&integer, at, bytes); /* little-endian */
    if (is_signed) integer = (uint64_t)((int64_t)(integer << unused_bits) >> unused_bits);
    snprintf(text, size, field->type == SL_TYPE_u64 ? "%llu" : "%lld", (unsigned long long)integer);
  }
}

static void differ(const struct pair *p, const struct sl_field *field, uint64_t entry, const void *reference,
                   uint64_t i, const void *other, uint64_t j) {
  char was[64], is[64];
  write_value(was, sizeof was, field, reference, i);
  write_value(is, sizeof is, field, other, j);
  if (field->shape == SL_SHAPE_CODE_PER_EVENT)
    sl_child_wrong(p->log, "%s.%s of event %llu is %s, expected %s", p->member->name, field->name, p->number, is, was);
  sl_child_wrong(p->log, "%s.%s of event %llu, entry %llu, is %s, expected %s", p->member->name, field->name, p->number,
                 (unsigned long long)entry, is, was);
}

static void compare_field(const struct pair *p, uint32_t f) {
  const struct sl_collection *c = p->member->collection;
  const struct sl_field *field = &c->fields[f];
  uint64_t begin, end, other_begin, other_end;
  const unsigned char *was = p->reference->values[f], *is = p->other->values[f];
  const size_t bytes = sl_type_bytes(field->type);
  event_range(p->reference, c, f, p->event, &begin, &end);
  event_range(p->other, c, f, p->other_event, &other_begin, &other_end);
  if (end - begin != other_end - other_begin)
    sl_child_wrong(p->log, "%s.%s of event %llu has %llu entries, expected %llu", p->member->name, field->name,
                   p->number, (unsigned long long)(other_end - other_begin), (unsigned long long)(end - begin));
  for (uint64_t i = 0; i < end - begin; i++)
    if (memcmp(was + (begin + i) * bytes, is + (other_begin + i) * bytes, bytes) != 0)
      differ(p, field, entry_of(field, i), was, begin + i, is, other_begin + i);
}

/* Compares lengths, because offsets count from the beginning of the slice. */
static void compare_lengths(const struct pair *p) {
  const struct trial_written *a = p->reference, *b = p->other;
  if (!a->offsets || !b->offsets) return;
  const uint32_t first = a->offsets[p->event], other_first = b->offsets[p->other_event];
  const uint32_t count = a->offsets[p->event + 1] - first, other_count = b->offsets[p->other_event + 1] - other_first;
  if (count != other_count)
    sl_child_wrong(p->log, "%s has %u items in event %llu, expected %u", p->member->name, other_count, p->number,
                   count);
  for (uint32_t g = 1; g < SL_BOUNDS_MAX; g++) {
    const uint32_t *was = a->item_offsets[g], *is = b->item_offsets[g];
    for (uint32_t i = 0; was && is && i < count; i++) {
      const uint32_t length = was[first + i + 1] - was[first + i];
      const uint32_t other_length = is[other_first + i + 1] - is[other_first + i];
      char name[160];
      sl_bound_name(p->member, g, name, sizeof name);
      if (length != other_length)
        sl_child_wrong(p->log, "%s has %u subitems in item %u of event %llu, expected %u", name, other_length, i,
                       p->number, length);
    }
  }
}

void trial_compare_array(const char *port, const struct sl_field *field, const void *reference, const void *other,
                         uint64_t count, struct sl_child *log) {
  const size_t bytes = sl_type_bytes(field->type);
  char was[64], is[64];
  for (uint64_t i = 0; i < count; i++) {
    if (memcmp((const char *)reference + i * bytes, (const char *)other + i * bytes, bytes) == 0) continue;
    write_value(was, sizeof was, field, reference, i);
    write_value(is, sizeof is, field, other, i);
    sl_child_wrong(log, "%s.%s, value %llu, is %s, expected %s", port, field->name, (unsigned long long)i, is, was);
  }
}

/* 1 if the field may contain indices into a pool. Only these depend on the slice, and no declaration marks them. */
static int may_address_pool(const struct sl_collection *c, const struct sl_field *field) {
  if (field->type != SL_TYPE_u32 && field->type != SL_TYPE_u64) return 0;
  for (uint32_t f = 0; f < c->field_count; f++)
    if (c->fields[f].shape == SL_SHAPE_CODE_BYTES) return 1;
  return 0;
}

static void compare_event(const struct pair *p, int is_same_slice) {
  const struct sl_collection *c = p->member->collection;
  compare_lengths(p);
  for (uint32_t f = 0; f < c->field_count; f++) {
    const uint32_t shape = c->fields[f].shape;
    const int by_event =
        shape == SL_SHAPE_CODE_PER_EVENT || shape == SL_SHAPE_CODE_PER_ITEM || shape == SL_SHAPE_CODE_PER_SUBITEM;
    if (!by_event || !p->reference->values[f] || !p->other->values[f]) continue;
    if (is_same_slice || !may_address_pool(c, &c->fields[f])) compare_field(p, f);
  }
}

static int is_on_list(const struct trial_written *list, uint32_t event) {
  const uint32_t count = *(const uint32_t *)list->values[0], *numbers = list->values[1];
  for (uint32_t i = 0; i < count; i++)
    if (numbers[i] == event) return 1;
  return 0;
}

static void compare_lists(const struct pair *p) {
  const int was = is_on_list(p->reference, p->event), is = is_on_list(p->other, p->other_event);
  if (was != is)
    sl_child_wrong(p->log, "event %llu is %son the list %s, expected %son it", p->number, is ? "" : "not ",
                   p->member->name, was ? "" : "not ");
}

static void compare_slice(const struct pair *p) {
  const struct sl_collection *c = p->member->collection;
  for (uint32_t f = 0; f < c->field_count; f++) {
    const struct sl_field *field = &c->fields[f];
    const void *was = p->reference->values[f], *is = p->other->values[f];
    if ((field->shape != SL_SHAPE_CODE_PER_SLICE && field->shape != SL_SHAPE_CODE_TOTAL) || !was || !is) continue;
    const size_t bytes = sl_type_bytes(field->type);
    if (p->reference->counts[f] != p->other->counts[f])
      sl_child_wrong(p->log, "%s.%s of the slice has %llu values, expected %llu", p->member->name, field->name,
                     (unsigned long long)p->other->counts[f], (unsigned long long)p->reference->counts[f]);
    for (uint64_t i = 0; i < p->reference->counts[f]; i++) {
      if (memcmp((const char *)was + i * bytes, (const char *)is + i * bytes, bytes) == 0) continue;
      char reference[64], other[64];
      write_value(reference, sizeof reference, field, was, i);
      write_value(other, sizeof other, field, is, i);
      sl_child_wrong(p->log, "%s.%s of the slice, entry %llu, is %s, expected %s", p->member->name, field->name,
                     (unsigned long long)entry_of(field, i), other, reference);
    }
  }
}

void trial_add_totals(struct trial_outcome *sums, const struct trial_outcome *o) {
  for (uint32_t m = 0; m < o->algorithm->member_count; m++) {
    const struct sl_collection *c = o->algorithm->members[m].collection;
    if (o->algorithm->members[m].kind != SL_MEMBER_OUT || !sl_is_totals(c)) continue;
    for (uint32_t f = 0; f < c->field_count; f++)
      for (uint64_t i = 0; i < o->ports[m].counts[f]; i++) {
        const uint64_t value = sl_total_value(c->fields[f].type, o->ports[m].values[f], i);
        void *sum = (void *)(uintptr_t)sums->ports[m].values[f];
        if (c->fields[f].type == SL_TYPE_u32)
          ((uint32_t *)sum)[i] += (uint32_t)value;
        else
          ((uint64_t *)sum)[i] += value;
      }
  }
}

void trial_compare_totals(const struct trial_outcome *reference, const struct trial_outcome *sums,
                          struct sl_child *log) {
  for (uint32_t m = 0; m < sums->algorithm->member_count; m++) {
    const struct sl_member *member = &sums->algorithm->members[m];
    const struct pair p = {&reference->ports[m], &sums->ports[m], member, 0, 0, 0, log};
    if (member->kind == SL_MEMBER_OUT && sl_is_totals(member->collection)) compare_slice(&p);
  }
}

static unsigned long long number_of(const struct trial_outcome *o, uint32_t event) {
  return o->numbers ? o->numbers[event] : event;
}

void trial_compare(const struct trial_outcome *reference, const struct trial_outcome *other, const uint32_t *events,
                   int is_same_slice, struct sl_child *log) {
  const struct sl_algorithm *a = other->algorithm; /* the reference may come from a process with other addresses of
                                                      the tables */
  for (uint32_t m = 0; m < a->member_count; m++) {
    if (a->members[m].kind != SL_MEMBER_OUT) continue;
    struct pair p = {&reference->ports[m], &other->ports[m], &a->members[m], 0, 0, 0, log};
    if (is_same_slice && !sl_is_event_list(a->members[m].collection)) compare_slice(&p);
    for (uint32_t e = 0; e < other->event_count; e++) {
      p.event = events ? events[e] : e;
      p.other_event = e;
      p.number = number_of(reference, p.event);
      if (!reference->is_listed[p.event] || !other->is_listed[e]) continue;
      if (sl_is_event_list(a->members[m].collection))
        compare_lists(&p);
      else
        compare_event(&p, is_same_slice);
    }
  }
  for (uint32_t e = 0; e < other->event_count; e++) {
    const uint32_t event = events ? events[e] : e;
    if (reference->is_listed[event] && other->is_listed[e] && reference->errors[event] != other->errors[e])
      sl_child_wrong(log, "event %llu is refused with code %u, detail %u; expected code %u, detail %u",
                     number_of(reference, event), (uint32_t)(other->errors[e] >> 32), (uint32_t)other->errors[e],
                     (uint32_t)(reference->errors[event] >> 32), (uint32_t)reference->errors[event]);
  }
}
