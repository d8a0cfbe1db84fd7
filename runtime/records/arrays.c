/* arrays.c: see arrays.h.
 *
 * The arrays of an entry hold all its events. A slice takes as many events as fit; their values are copied field by
 * field. Offsets are rebased to the slice. An event with more items than one event may have is an event with an error.
 */
#include "records/arrays.h"

#include "layout/bind.h"

#include <sluice/sluice.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The only field of a collection that holds no offsets; -1 if there are several. */
static int only_field(const struct sl_collection *c) {
  int found = -1;
  for (uint32_t i = 0; i < c->field_count; i++) {
    if (c->fields[i].shape == SL_SHAPE_CODE_OFFSETS || c->fields[i].shape == SL_SHAPE_CODE_ITEM_OFFSETS) continue;
    if (found >= 0) return -1;
    found = (int)i;
  }
  return found;
}

/* The field of a port that an array is for; -1 if there is none. */
static int field_of(const struct sl_member *port, const struct sl_feed_array *a) {
  return *a->field ? sl_field_index(port->collection, a->field) : only_field(port->collection);
}

/* The array of a field, or NULL. */
static const struct sl_feed_array *array_of(const struct sl_feed_entry *e, const struct sl_member *port,
                                            uint32_t field) {
  for (uint32_t i = 0; i < e->array_count; i++)
    if (strcmp(e->arrays[i].port, port->name) == 0 && field_of(port, &e->arrays[i]) == (int)field) return &e->arrays[i];
  return NULL;
}

/* The array of offsets of a field of the port, or NULL. */
static const uint32_t *offsets_of(const struct sl_feed_entry *e, const struct sl_member *port, int field) {
  const struct sl_feed_array *a = field < 0 ? NULL : array_of(e, port, (uint32_t)field);
  return a ? (const uint32_t *)a->values : NULL;
}

static int refuse(const struct sl_services *s, const struct sl_feed_entry *e, const char *text) {
  s->message(s->context, SL_ERROR, "entry %" PRIu64 " of the feed: %s", e->index, text);
  return SL_EFORMAT;
}

/* Range of the items, subitems or bytes of events [first, first + count) of the entry. */
static void range_of(const struct sl_feed_entry *e, const struct sl_member *port, uint32_t bound, uint64_t first,
                     uint64_t count, uint64_t *begin, uint64_t *end) {
  const uint32_t *offsets = offsets_of(e, port, sl_offsets_field(port->collection));
  const uint32_t *item_offsets = bound ? offsets_of(e, port, sl_item_offsets_field(port->collection, bound)) : NULL;
  *begin = *end = 0;
  if (!offsets) return;
  *begin = offsets[first] - offsets[0];
  *end = offsets[first + count] - offsets[0];
  if (bound && !item_offsets) *begin = *end = 0;
  if (!item_offsets) return;
  *begin = item_offsets[*begin] - item_offsets[0];
  *end = item_offsets[*end] - item_offsets[0];
}

/* ------------------------------------------------------------------------------------------------ checking */

static int check_ascending(const struct sl_services *s, const struct sl_feed_entry *e, const struct sl_member *port,
                           int field, uint64_t count) {
  const uint32_t *offsets = offsets_of(e, port, field);
  char text[256];
  for (uint64_t i = 0; offsets && i < count; i++) {
    if (offsets[i] <= offsets[i + 1]) continue;
    snprintf(text, sizeof text, "%s.%s: the offsets decrease, from %u to %u at value %" PRIu64, port->name,
             port->collection->fields[field].name, offsets[i], offsets[i + 1], i + 1);
    return refuse(s, e, text);
  }
  return SL_OK;
}

static int check_field(const struct sl_services *s, const struct sl_feed_entry *e, const struct sl_member *port,
                       uint32_t field, const uint64_t counts[SL_BOUNDS_MAX], int is_read) {
  const struct sl_field *f = &port->collection->fields[field];
  const struct sl_feed_array *a = array_of(e, port, field);
  const uint64_t expected = sl_collection_values(port->collection, field, e->event_count, counts);
  char text[320];
  if (!a) {
    if (!is_read) return SL_OK;
    snprintf(text, sizeof text, "no array for %s.%s, which the graph reads", port->name, f->name);
    return refuse(s, e, text);
  }
  if (a->type != f->type)
    snprintf(text, sizeof text, "%s.%s has values of type %s; %s is expected", port->name, f->name,
             sl_type_name(a->type), sl_type_name(f->type));
  else if (a->count != expected)
    snprintf(text, sizeof text, "%s.%s has %" PRIu64 " values; %" PRIu64 " are expected (%" PRIu64 " events)",
             port->name, f->name, a->count, expected, e->event_count);
  else if (!a->values && expected > 0)
    snprintf(text, sizeof text, "the values of %s.%s are NULL", port->name, f->name);
  else
    return SL_OK;
  return refuse(s, e, text);
}

/* Checks offsets first, since they give the numbers of items. */
static int check_port(const struct sl_services *s, const struct sl_filling *f, const struct sl_feed_entry *e,
                      const struct sl_member *port) {
  const struct sl_collection *c = port->collection;
  uint64_t counts[SL_BOUNDS_MAX] = {0}, begin;
  int status = SL_OK;
  for (uint32_t b = 0; b < sl_bound_count(c) && status == SL_OK; b++) {
    const int field = b ? sl_item_offsets_field(c, b) : sl_offsets_field(c);
    if (field < 0) continue;
    status = check_field(s, e, port, (uint32_t)field, counts, 1);
    if (status == SL_OK) status = check_ascending(s, e, port, field, b ? counts[0] : e->event_count);
    if (status == SL_OK) range_of(e, port, b, 0, e->event_count, &begin, &counts[b]);
  }
  for (uint32_t i = 0; i < c->field_count && status == SL_OK; i++) {
    const int is_read = *sl_args_pointer(f->args, port, i) != NULL;
    if (is_read && c->fields[i].shape == SL_SHAPE_CODE_BYTES) {
      char text[256];
      snprintf(text, sizeof text, "the port %s holds raw bytes, which cannot be given as arrays", port->name);
      return refuse(s, e, text);
    }
    status = check_field(s, e, port, i, counts, is_read);
  }
  return status;
}

/* Reports an array that is for no field of the source's outputs. */
static int refuse_name(const struct sl_services *s, const struct sl_filling *f, const struct sl_feed_entry *e,
                       const struct sl_feed_array *a) {
  char text[320], ports[160] = "";
  FOR_OUTPUTS (m, f) {
    const struct sl_member *port = &f->algorithm->members[m];
    const size_t used = strlen(ports);
    if (strcmp(port->name, a->port) == 0) {
      snprintf(text, sizeof text, *a->field ? "%s, a %s, has no field %s" : "%s, a %s, has several fields: name one%s",
               port->name, port->collection->name, *a->field ? a->field : " for each array");
      return refuse(s, e, text);
    }
    snprintf(ports + used, sizeof ports - used, "%s%s", used ? ", " : "", port->name);
  }
  snprintf(text, sizeof text, "the source has no port %s; it has %s", a->port, ports);
  return refuse(s, e, text);
}

static int check_names(const struct sl_services *s, const struct sl_filling *f, const struct sl_feed_entry *e) {
  for (uint32_t i = 0; i < e->array_count; i++) {
    const int m = sl_member_index(f->algorithm, e->arrays[i].port);
    const struct sl_member *members = f->algorithm->members;
    if (m < 0 || members[m].kind != SL_MEMBER_OUT || field_of(&members[m], &e->arrays[i]) < 0)
      return refuse_name(s, f, e, &e->arrays[i]);
  }
  return SL_OK;
}

int sl_arrays_begin(struct sl_arrays *arrays, const struct sl_services *s, struct sl_filling *f,
                    const struct sl_feed_entry *entry, uint64_t count) {
  int status = check_names(s, f, entry);
  FOR_OUTPUTS (m, f)
    if (status == SL_OK) status = check_port(s, f, entry, &f->algorithm->members[m]);
  if (status == SL_OK) *arrays = (struct sl_arrays){entry, 0, entry->number == SL_FEED_COUNTED ? count : entry->number};
  return status;
}

/* ----------------------------------------------------------------------------------------------- appending */

/* Whether an event has more items than one event may have must not depend on the events beside it. Describes them in
 * `text`. */
static int is_too_large(const struct sl_arrays *arrays, const struct sl_filling *f, uint64_t event, char *text,
                        size_t size) {
  FOR_OUTPUTS (m, f) {
    const struct sl_member *port = &f->algorithm->members[m];
    for (uint32_t b = 0; b < sl_bound_count(port->collection); b++) {
      const struct sl_bound *bound = sl_args_bound(f->args, port, b);
      uint64_t begin, end;
      range_of(arrays->entry, port, b, event, 1, &begin, &end);
      if (end - begin <= bound->event_limit) continue;
      const int length = snprintf(text, size, "%" PRIu64 " ", end - begin);
      sl_filling_describe(f, bound, text + length, size - (size_t)length);
      return 1;
    }
  }
  return 0;
}

/* Reserves the items of events [next, next + count): 1, or 0 if they do not fit. */
static int reserve(const struct sl_arrays *arrays, struct sl_filling *f, uint64_t count) {
  sl_filling_save(f);
  FOR_OUTPUTS (m, f) {
    const struct sl_member *port = &f->algorithm->members[m];
    for (uint32_t b = 0; b < sl_bound_count(port->collection); b++) {
      const struct sl_bound *bound = sl_args_bound(f->args, port, b);
      uint64_t begin, end;
      range_of(arrays->entry, port, b, arrays->next, count, &begin, &end);
      if (end - begin > bound->capacity - *bound->used) {
        sl_filling_undo(f);
        return 0;
      }
      *bound->used += (uint32_t)(end - begin);
    }
  }
  return 1;
}

/* Copies the values of events [next, next + count) that were reserved. */
static void copy_port(const struct sl_arrays *arrays, const struct sl_filling *f, uint32_t m, uint32_t event,
                      uint64_t count) {
  const struct sl_feed_entry *e = arrays->entry;
  const struct sl_member *port = &f->algorithm->members[m];
  const struct sl_collection *c = port->collection;
  for (uint32_t i = 0; i < c->field_count; i++) {
    const struct sl_field *field = &c->fields[i];
    const struct sl_feed_array *a = array_of(e, port, i);
    unsigned char *to = *sl_args_pointer(f->args, port, i);
    const uint32_t bound = sl_group_of(c, i);
    uint64_t begin = arrays->next, end = arrays->next + count, at = event;
    if (!a || !to) continue;
    const size_t bytes = (size_t)field->width * sl_type_bytes(field->type);
    if (field->shape == SL_SHAPE_CODE_PER_SLICE) {
      memcpy(to, a->values, bytes);
      continue;
    }
    const int is_item_offsets = field->shape == SL_SHAPE_CODE_ITEM_OFFSETS;
    if (field->shape != SL_SHAPE_CODE_PER_EVENT && field->shape != SL_SHAPE_CODE_OFFSETS) {
      const uint32_t counted = is_item_offsets ? 0 : bound;
      range_of(e, port, counted, arrays->next, count, &begin, &end);
      at = f->saved[SL_BOUNDS_MAX * m + counted];
    }
    if (field->shape != SL_SHAPE_CODE_OFFSETS && !is_item_offsets) {
      memcpy(to + at * bytes, (const unsigned char *)a->values + begin * bytes, (size_t)(end - begin) * bytes);
      continue;
    }
    const uint32_t *from = (const uint32_t *)a->values + begin;
    const uint32_t base = f->saved[SL_BOUNDS_MAX * m + (is_item_offsets ? bound : 0)];
    for (uint64_t k = 1; k <= end - begin; k++) ((uint32_t *)(void *)to)[at + k] = base + (from[k] - from[0]);
  }
}

/* Appends an event with more items than one event may have, without them. */
static void append_too_large(const struct sl_arrays *arrays, const struct sl_services *s, struct sl_filling *f,
                             struct sl_fill *fill, const char *text) {
  struct sl_event *event = &fill->events[fill->event_count];
  event->error = SL_EVENT_TOO_LARGE;
  s->message(s->context, SL_WARNING, "entry %" PRIu64 " of the feed (event %" PRIu64 "): too large: %s",
             arrays->entry->index, event->number, text);
  sl_filling_end_event(f, fill->event_count, 1);
}

int sl_arrays_append(struct sl_arrays *arrays, const struct sl_services *s, struct sl_filling *f,
                     struct sl_fill *fill) {
  const struct sl_feed_entry *e = arrays->entry;
  while (arrays->next < e->event_count) {
    const uint64_t room = fill->events_max - fill->event_count, left = e->event_count - arrays->next;
    uint64_t count = 0;
    char text[192];
    if (room == 0) return 0;
    while (count < room && count < left && !is_too_large(arrays, f, arrays->next + count, text, sizeof text)) count++;
    const int is_bad = count == 0;
    while (count > 0 && !reserve(arrays, f, count)) count /= 2;
    if (count == 0 && !is_bad) return 0;
    if (is_bad) count = 1;
    for (uint64_t k = 0; k < count; k++)
      fill->events[fill->event_count + k] =
          (struct sl_event){.number = arrays->number + arrays->next + k, .offset = e->index, .run = e->run};
    if (is_bad) append_too_large(arrays, s, f, fill, text);
    FOR_OUTPUTS (m, f)
      if (!is_bad) copy_port(arrays, f, m, fill->event_count, count);
    fill->event_count += (uint32_t)count;
    arrays->next += count;
  }
  return 1;
}
