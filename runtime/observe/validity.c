/* validity.c: see validity.h. */
#include "observe/validity.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One output being checked. */
struct look {
  const struct sl_validity *v;
  const struct sl_member *member;
  const uint32_t *offsets, *item_offsets[SL_BOUNDS_MAX];
  char *text;
  size_t size;
};

static int wrong(const struct look *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int wrong(const struct look *l, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(l->text, l->size, format, arguments);
  va_end(arguments);
  return 0;
}

static const void *field_pointer(const struct sl_validity *v, const struct sl_member *member, int field) {
  return field < 0 ? NULL : *sl_args_pointer(v->args, member, (uint32_t)field);
}

const uint32_t *sl_output_offsets(const struct sl_validity *v, uint32_t m) {
  const struct sl_member *member = &v->algorithm->members[m];
  const uint32_t *own = field_pointer(v, member, sl_offsets_field(member->collection));
  if (own || !member->shares) return own;
  return sl_output_offsets(v, (uint32_t)sl_member_index(v->algorithm, member->shares));
}

/* ------------------------------------------------------------------------------------------------- offsets */

static int check_ascending(const struct look *l, const char *field, const uint32_t *offsets, uint32_t first,
                           uint32_t end, uint32_t capacity, const char *of) {
  for (uint32_t i = first; i < end; i++)
    if (offsets[i] > offsets[i + 1])
      return wrong(l, "%s.%s is not ascending: %u for %s %u, then %u", l->member->name, field, offsets[i], of, i,
                   offsets[i + 1]);
  if (offsets[end] > capacity)
    return wrong(l, "%s.%s ends with %u, its capacity is %u", l->member->name, field, offsets[end], capacity);
  return 1;
}

static int check_offsets(struct look *l) {
  const struct sl_collection *c = l->member->collection;
  const uint32_t events = l->v->event_count;
  if (!l->offsets) return 1;
  if (!check_ascending(l, "offsets", l->offsets, 0, events, sl_args_bound(l->v->args, l->member, 0)->capacity, "event"))
    return 0;
  for (uint32_t b = 1; b < sl_bound_count(c); b++) {
    const int field = sl_item_offsets_field(c, b);
    l->item_offsets[b] = field_pointer(l->v, l->member, field);
    if (l->item_offsets[b] &&
        !check_ascending(l, c->fields[field].name, l->item_offsets[b], l->offsets[0], l->offsets[events],
                         sl_args_bound(l->v->args, l->member, b)->capacity, "item"))
      return 0;
  }
  return 1;
}

static int check_list(const struct look *l) {
  const uint32_t *count_at = field_pointer(l->v, l->member, 0), *numbers = field_pointer(l->v, l->member, 1);
  const uint32_t event_count = l->v->event_count, count = count_at ? *count_at : 0;
  if (count > event_count)
    return wrong(l, "%s lists %u events of a slice that has %u", l->member->name, count, event_count);
  for (uint32_t i = 0; numbers && i < count; i++) {
    if (numbers[i] >= event_count || !l->v->is_listed[numbers[i]])
      return wrong(l, "%s lists event %u, on which the node did not run", l->member->name, numbers[i]);
    if (i && numbers[i] <= numbers[i - 1])
      return wrong(l, "%s is not in ascending order: event %u, then %u", l->member->name, numbers[i - 1], numbers[i]);
  }
  return 1;
}

/* -------------------------------------------------------------------------------------------------- values */

void sl_event_range(const struct sl_collection *c, uint32_t f, uint32_t event, const uint32_t *offsets,
                    const uint32_t *item_offsets, uint64_t *begin, uint64_t *end) {
  const struct sl_field *field = &c->fields[f];
  *begin = *end = 0;
  const int by_item = field->shape == SL_SHAPE_CODE_PER_ITEM || field->shape == SL_SHAPE_CODE_ITEM_OFFSETS;
  if (field->shape == SL_SHAPE_CODE_PER_EVENT) {
    *begin = event;
    *end = event + 1u;
  } else if (by_item && offsets) {
    *begin = offsets[event];
    *end = offsets[event + 1];
  } else if (field->shape == SL_SHAPE_CODE_PER_SUBITEM && offsets && item_offsets) {
    *begin = item_offsets[offsets[event]];
    *end = item_offsets[offsets[event + 1]];
  }
  *begin *= field->width;
  *end *= field->width;
}

static int is_number(const void *values, uint32_t type, uint64_t i) {
  if (type == SL_TYPE_f32) return ((const float *)values)[i] == ((const float *)values)[i];
  if (type == SL_TYPE_f64) return ((const double *)values)[i] == ((const double *)values)[i];
  return 1;
}

static int is_poison(const void *values, uint64_t begin, uint64_t bytes, int poison) {
  const unsigned char *at = (const unsigned char *)values + begin;
  for (uint64_t i = 0; i < bytes; i++)
    if (at[i] != (unsigned char)poison) return 0;
  return bytes > 0;
}

static int is_raw_poison(const void *values, uint64_t begin, uint64_t end, int poison) {
  for (uint64_t i = begin; i < end; i++)
    if (((const unsigned char *)values)[i] != sl_raw_poison(poison, i)) return 0;
  return begin < end;
}

/* Index of the first unwritten value, or `end`. Four bytes of poison are taken as unwritten; fewer may be a valid
 * value, so small values count only if all of them are poison. */
static uint64_t find_unwritten(const struct look *l, const void *values, uint32_t value_bytes, uint64_t begin,
                               uint64_t end) {
  enum { NO_ACCIDENT_BYTES = 4 };
  const int poison = l->v->poison;
  if (value_bytes < NO_ACCIDENT_BYTES) {
    const uint64_t bytes = (end - begin) * value_bytes;
    if (bytes < NO_ACCIDENT_BYTES) return end;
    const int is_unwritten = l->v->is_raw ? is_raw_poison(values, begin * value_bytes, end * value_bytes, poison)
                                          : is_poison(values, begin * value_bytes, bytes, poison);
    return is_unwritten ? begin : end;
  }
  while (begin < end && !is_poison(values, begin * value_bytes, value_bytes, poison)) begin++;
  return begin;
}

/* Names the entry of a wrong value: "sums.mean of event 3, entry 5,". */
static int wrong_value(const struct look *l, uint32_t f, uint32_t event, uint64_t value, const char *what) {
  const struct sl_field *field = &l->member->collection->fields[f];
  return wrong(l, "%s.%s of event %u, entry %llu, %s", l->member->name, field->name, event,
               (unsigned long long)(field->width > 1 ? value / field->width : value), what);
}

static int check_values(const struct look *l, uint32_t f) {
  const struct sl_collection *c = l->member->collection;
  const void *values = field_pointer(l->v, l->member, (int)f);
  if (!values) return 1;
  const uint32_t type = c->fields[f].type;
  for (uint32_t e = 0; e < l->v->event_count; e++) {
    uint64_t begin, end;
    if (!l->v->is_listed[e] || (l->v->is_failed && l->v->is_failed[e])) continue;
    sl_event_range(c, f, e, l->offsets, l->item_offsets[sl_group_of(c, f)], &begin, &end);
    for (uint64_t i = begin; i < end; i++)
      if (!is_number(values, type, i)) return wrong_value(l, f, e, i - begin, "is not a number");
    if (l->v->poison == SL_NO_POISON) continue;
    const uint64_t unwritten = find_unwritten(l, values, sl_type_bytes(type), begin, end);
    if (unwritten < end) return wrong_value(l, f, e, unwritten - begin, "was not written");
  }
  return 1;
}

/* Events that are not on the list were made empty before and must not have been changed. */
static int check_unlisted(const struct look *l) {
  const struct sl_collection *c = l->member->collection;
  for (uint32_t e = 0; e < l->v->event_count; e++) {
    if (l->v->is_listed[e]) continue;
    if (l->offsets && !l->member->shares && l->offsets[e + 1] != l->offsets[e])
      return wrong(l, "%s has %u items in event %u, which is not on the list", l->member->name,
                   l->offsets[e + 1] - l->offsets[e], e);
    for (uint32_t f = 0; f < c->field_count; f++) {
      const size_t bytes = (size_t)c->fields[f].width * sl_type_bytes(c->fields[f].type);
      const unsigned char *values = field_pointer(l->v, l->member, (int)f);
      if (c->fields[f].shape != SL_SHAPE_CODE_PER_EVENT || !values) continue;
      for (size_t b = 0; b < bytes; b++)
        if (values[e * bytes + b])
          return wrong(l, "%s.%s of event %u, which is not on the list, was written", l->member->name,
                       c->fields[f].name, e);
    }
  }
  return 1;
}

int sl_output_is_valid(const struct sl_validity *v, uint32_t m, char *text, size_t size) {
  struct look l = {.v = v, .member = &v->algorithm->members[m], .text = text, .size = size};
  const struct sl_collection *c = l.member->collection;
  l.offsets = sl_output_offsets(v, m);
  if (sl_is_event_list(c)) return check_list(&l);
  if (!check_offsets(&l)) return 0;
  for (uint32_t f = 0; f < c->field_count; f++)
    if (!check_values(&l, f)) return 0;
  return check_unlisted(&l);
}

int sl_filled_is_valid(const struct sl_validity *v, uint32_t m, uint32_t used, char *text, size_t size) {
  const struct look l = {.v = v, .member = &v->algorithm->members[m], .text = text, .size = size};
  const uint32_t *offsets = sl_output_offsets(v, m);
  if (!offsets) return 1;
  if (offsets[0] != 0) return wrong(&l, "the offsets of %s begin with %u, not 0", l.member->name, offsets[0]);
  if (used == offsets[v->event_count]) return 1;
  return wrong(&l, "%s.bound.used is %u, its offsets end with %u", l.member->name, used, offsets[v->event_count]);
}
