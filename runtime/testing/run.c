/* run.c: one run of a test:
 *
 *   1. measure the inputs and compare them with the declared reads of the algorithm;
 *   2. compute the capacities, member by member; allocate, poison and bind outputs and scratch;
 *   3. `check`, then `prepare` and run, or make, or open + consume + finish;
 *   4. check canaries and inputs: only the outputs may have changed;
 *   5. run an algorithm of a family through run_family (family.c).
 */
#include "base/locale.h"
#include "base/stream.h"
#include "layout/bind.h"
#include "layout/layout.h"
#include "plugin/field_ref.h"
#include "testing/harness.h"

#include <stdlib.h>
#include <string.h>

enum { STEP = 5, GRID_BLOCKS = 7 }; /* step number: any; a grid size that does not divide usual event counts */

/* ------------------------------------------------------------------------------------------------- inputs */

static uint32_t capacity_of(const struct sl_test *t, const struct sl_member *m, uint64_t count) {
  if (count > SL_CAPACITY_MAX) test_die(t, "%s has more than %u entries", m->name, SL_CAPACITY_MAX);
  return (uint32_t)count;
}

/* Number of entries of the given fields of one shape and group, which must agree; `none` if no field is given. */
static uint64_t measure(const struct sl_test *t, const struct sl_member *m, const struct test_field *fields,
                        uint32_t shape, uint32_t group, uint64_t none) {
  uint64_t entries = none;
  const char *first = NULL;
  for (uint32_t f = 0; f < m->collection->field_count; f++) {
    const struct sl_field *field = &m->collection->fields[f];
    const struct test_field *given = &fields[f];
    if (field->shape != shape || sl_group_of(m->collection, f) != group || !given->memory.values) continue;
    if (field->width == 0)
      test_die(t, "input %s.%s was given without the sizes of its dimensions: call sl_test_dimension", m->name,
               field->name);
    if (given->count % field->width)
      test_die(t, "input %s.%s has %llu values, which is no multiple of %u", m->name, field->name,
               (unsigned long long)given->count, field->width);
    if (first && given->count / field->width != entries)
      test_die(t, "inputs %s.%s and %s.%s have different numbers of entries", m->name, first, m->name, field->name);
    first = field->name;
    entries = given->count / field->width;
  }
  return entries;
}

/* Checks fields with a length that follows from the slice. An event list may be given without its unused end. */
static void check_lengths(const struct sl_test *t, const struct sl_member *m, const struct test_entry *entry) {
  for (uint32_t f = 0; f < m->collection->field_count; f++) {
    const struct sl_field *field = &m->collection->fields[f];
    const struct test_field *given = &entry->fields[f];
    const uint64_t expected = sl_collection_values(m->collection, f, t->event_count, entry->capacities);
    if (!given->memory.values || given->count == expected || field->shape == SL_SHAPE_CODE_ARRAY) continue;
    if (sl_is_event_list(m->collection) && given->count < expected) continue;
    test_die(t, "input %s.%s has %llu values, %llu are expected for %u events", m->name, field->name,
             (unsigned long long)given->count, (unsigned long long)expected, t->event_count);
  }
}

/* The number of items is that of the per-item fields, or the last offset if there are none. */
static void measure_input(const struct sl_test *t, const struct sl_member *m, struct test_entry *entry) {
  const int offsets = sl_offsets_field(m->collection);
  const struct test_field *fields = entry->fields;
  uint64_t items = 0;
  if (offsets >= 0 && fields[offsets].count)
    items = ((const uint32_t *)fields[offsets].memory.values)[fields[offsets].count - 1];
  for (uint32_t b = 1; b < sl_bound_count(m->collection); b++) {
    const int item_offsets = sl_item_offsets_field(m->collection, b);
    if (item_offsets >= 0 && fields[item_offsets].count) items = fields[item_offsets].count - 1;
    const uint64_t subitems = measure(t, m, fields, SL_SHAPE_CODE_BYTES, b, 0);
    entry->capacities[b] = capacity_of(t, m, measure(t, m, fields, SL_SHAPE_CODE_PER_SUBITEM, b, subitems));
  }
  entry->capacities[0] = capacity_of(t, m, measure(t, m, fields, SL_SHAPE_CODE_PER_ITEM, 0, items));
  check_lengths(t, m, entry);
}

static int is_given(const struct sl_test *t, uint32_t member) {
  for (uint32_t f = 0; f < t->members[member].field_count; f++)
    if (t->members[member].fields[f].memory.values) return 1;
  return 0;
}

/* Fills the struct `port` with the data of an input. */
static void bind_entry(struct sl_test *t, uint32_t member, struct test_entry *entry, void *port) {
  const struct sl_member *m = &t->algorithm->members[member];
  measure_input(t, m, entry);
  for (uint32_t f = 0; f < m->collection->field_count; f++) {
    if (!sl_field_is_read(m, f)) {
      if (t->forbidden) *sl_port_pointer(port, f) = t->forbidden(member, f);
      continue;
    }
    void *values = entry->fields[f].memory.values;
    if (!values) test_die(t, "input %s.%s is read but was not given", m->name, m->collection->fields[f].name);
    *sl_port_pointer(port, f) = values;
  }
  for (uint32_t b = 0; b < sl_bound_count(m->collection); b++)
    sl_port_bound(port, m->collection, b)->capacity = (uint32_t)entry->capacities[b];
}

/* Binds the given producers; there may be none. */
static void bind_list_port(struct sl_test *t, uint32_t member) {
  const struct sl_member *m = &t->algorithm->members[member];
  struct test_member *own = &t->members[member];
  const uint64_t bytes = sl_collection_bytes(m->collection);
  own->views = test_guarded((size_t)(own->entry_count * bytes), 0, t->poison);
  memset(own->capacities, 0, sizeof own->capacities);
  for (uint32_t k = 0; k < own->entry_count; k++) {
    bind_entry(t, member, &own->entries[k], (unsigned char *)own->views.values + k * bytes);
    sl_port_set_dimensions((unsigned char *)own->views.values + k * bytes, m->collection);
    for (uint32_t b = 0; b < SL_BOUNDS_MAX; b++) own->capacities[b] += own->entries[k].capacities[b];
  }
  *sl_args_views(t->args, m) =
      (struct sl_views){own->views.values, (const char *const *)own->names, own->entry_count, 0};
}

/* Binds a port of the collection, and copies a few of its pointers to the reference. */
static void bind_reference(struct sl_test *t, uint32_t member, struct test_entry *whole) {
  const struct sl_member *m = &t->algorithm->members[member];
  void *port = test_allocate(1, sl_collection_bytes(m->collection));
  void **pointers = (void **)(void *)sl_field_ref_open(m, t->args);
  int sources[SL_FIELD_REF_POINTERS];
  bind_entry(t, member, whole, port);
  sl_field_ref_sources(m, sources);
  for (int i = 0; i < SL_FIELD_REF_POINTERS; i++)
    if (sources[i] >= 0) pointers[i] = *sl_port_pointer(port, (uint32_t)sources[i]);
  free(port);
}

static void bind_input(struct sl_test *t, uint32_t member) {
  const struct sl_member *m = &t->algorithm->members[member];
  memset(t->args + m->args_offset, 0, m->args_size);
  struct test_entry whole = {t->members[member].fields, {0}};
  if (m->flags & SL_FLAG_LIST) {
    bind_list_port(t, member);
    return;
  }
  if (m->flags & SL_FLAG_FIELD)
    bind_reference(t, member, &whole);
  else if (is_given(t, member))
    bind_entry(t, member, &whole, t->args + m->args_offset);
  else if (!(m->flags & SL_FLAG_OPTIONAL))
    test_die(t, "input %s was not given", m->name);
  memcpy(t->members[member].capacities, whole.capacities, sizeof whole.capacities);
}

/* ------------------------------------------------------------------------------------------------ outputs */

static uint64_t look_up(void *context, const struct sl_term *term) {
  const struct sl_test *t = context;
  uint32_t bound;
  const uint32_t member = (uint32_t)sl_term_member(t->algorithm, term, &bound);
  const struct test_member *m = &t->members[member];
  if (term->kind == SL_TERM_DIMENSION) return t->algorithm->members[member].collection->dimensions[bound].size;
  if (term->kind == SL_TERM_BUDGET || term->kind == SL_TERM_PROPERTY)
    return *(const uint32_t *)(t->args + t->algorithm->members[member].args_offset);
  return term->kind == SL_TERM_ITEMS || term->kind == SL_TERM_SUBITEMS ? m->capacities[bound] : m->entry_count;
}

static uint64_t evaluate(struct sl_test *t, const struct sl_capacity *capacity) {
  return sl_capacity_value(capacity, t->event_count, look_up, t);
}

static void set_output_capacity(struct sl_test *t, uint32_t member) {
  const struct sl_member *m = &t->algorithm->members[member];
  struct test_member *own = &t->members[member];
  for (uint32_t b = 0; b < sl_bound_count(m->collection); b++) {
    if (b == 0 && m->shares)
      own->capacities[b] = t->members[sl_member_index(t->algorithm, m->shares)].capacities[b];
    else
      own->capacities[b] =
          own->has_budget[b] ? own->budgets[b] : capacity_of(t, m, evaluate(t, sl_bound_capacity(m, b)));
  }
}

static const void *shared_offsets(const struct sl_test *t, const struct sl_member *m) {
  const uint32_t partner = (uint32_t)sl_member_index(t->algorithm, m->shares);
  const struct sl_member *other = &t->algorithm->members[partner];
  const struct test_field *f = &t->members[partner].fields[sl_offsets_field(other->collection)];
  if (!f->memory.values && !f->alias)
    test_die(t, "the offsets of %s, which %s shares, were not given", other->name, m->name);
  return f->alias ? f->alias : f->memory.values;
}

int test_is_zeroed(const struct sl_test *t, const struct sl_field *field) {
  if (field->shape == SL_SHAPE_CODE_TOTAL) return 1;
  return t->list && (field->shape == SL_SHAPE_CODE_OFFSETS || field->shape == SL_SHAPE_CODE_PER_EVENT);
}

static void bind_output(struct sl_test *t, uint32_t member) {
  const struct sl_member *m = &t->algorithm->members[member];
  struct test_member *own = &t->members[member];
  set_output_capacity(t, member);
  for (uint32_t i = 0; i < m->collection->field_count; i++) {
    const struct sl_field *field = &m->collection->fields[i];
    struct test_field *f = &own->fields[i];
    f->count = sl_collection_values(m->collection, i, t->event_count, own->capacities);
    if (m->shares && field->shape == SL_SHAPE_CODE_OFFSETS)
      f->alias = shared_offsets(t, m);
    else
      f->memory = test_guarded((size_t)(f->count * sl_type_bytes(field->type)),
                               test_is_zeroed(t, field) ? 0 : t->poison, t->poison);
    *sl_args_pointer(t->args, m, i) = f->alias ? (void *)(uintptr_t)f->alias : f->memory.values;
  }
  own->used = test_guarded(SL_BOUNDS_MAX * sizeof(uint32_t), 0, t->poison);
  uint32_t *used = own->used.values;
  for (uint32_t b = 0; b < sl_bound_count(m->collection); b++) {
    const int bounded = !(b == 0 && m->shares) && sl_bound_capacity(m, b)->terms[0].kind != SL_TERM_NONE;
    *sl_args_bound(t->args, m, b) =
        (struct sl_bound){(uint32_t)own->capacities[b], UINT32_MAX, bounded ? &used[b] : NULL, 0};
  }
}

static void bind_scratch(struct sl_test *t, uint32_t member) {
  const struct sl_member *m = &t->algorithm->members[member];
  struct test_field *f = &t->members[member].fields[0];
  const int is_used = sl_scratch_is_used(t->algorithm, m, t->shared);
  f->count = is_used ? evaluate(t, &m->capacity) : 0;
  f->memory = test_guarded((size_t)(f->count * sl_type_bytes(m->type)), t->poison, t->poison);
  *(void **)(void *)(t->args + m->args_offset) = is_used ? f->memory.values : NULL;
}

static void bind_events(struct sl_test *t, const struct sl_member *m) {
  const uint32_t count = t->list ? t->list_count : t->event_count;
  for (uint32_t i = 0; t->list && i < count; i++)
    if (t->list[i] >= t->event_count || (i && t->list[i] <= t->list[i - 1]))
      test_die(t, "the list is not ascending, or names an event beyond the slice: entry %u is %u", i, t->list[i]);
  t->count = test_guarded(sizeof(uint32_t), 0, t->poison);
  *(uint32_t *)t->count.values = count;
  if (t->list) {
    t->numbers = test_guarded(count * sizeof(uint32_t), t->poison, t->poison);
    memcpy(t->numbers.values, t->list, count * sizeof(uint32_t));
  }
  t->errors = test_guarded(t->event_count * sizeof(uint64_t), 0, t->poison);
  *(struct sl_events *)(void *)(t->args + m->args_offset) =
      (struct sl_events){t->count.values, t->numbers.values, t->errors.values, SL_ERROR_BASE(STEP), t->event_count, 0};
}

void test_bind(struct sl_test *t) {
  test_size_outputs(t);
  for (uint32_t i = 0; i < t->algorithm->member_count; i++) {
    const struct sl_member *m = &t->algorithm->members[i];
    if (m->kind == SL_MEMBER_EVENTS) bind_events(t, m);
    if (m->kind == SL_MEMBER_FIELD && !(m->flags & SL_FLAG_OPTIONAL))
      test_die(t, "the field for reference %s was not given: call sl_test_field", m->name);
    if (m->kind == SL_MEMBER_IN) bind_input(t, i);
    if (m->kind == SL_MEMBER_OUT && t->algorithm->kind == SL_KIND_KERNEL) bind_output(t, i);
    if (m->kind == SL_MEMBER_SCRATCH) bind_scratch(t, i);
  }
  sl_dimensions_fill(t->algorithm, t->args);
}

/* ------------------------------------------------------------------------------------------------ running */

/* Exclusive prefix sums as in struct sl_launch, complete when the call returns. */
static int scan_counts(uint32_t *counts, uint32_t n, const struct sl_bound *bound) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < n; i++) total += counts[i];
  const uint32_t needed = total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;
  if (bound && bound->used && *bound->used < needed) *bound->used = needed;
  if (bound && total > bound->capacity) {
    memset(counts, 0, ((size_t)n + 1) * sizeof(*counts));
    return SL_OK;
  }
  uint32_t sum = 0;
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t count = counts[i];
    counts[i] = sum;
    sum += count;
  }
  counts[n] = sum;
  return SL_OK;
}

static int scan(const struct sl_launch *l, uint32_t *counts, const struct sl_bound *bound) {
  return scan_counts(counts, l->events_max, bound);
}

static int scan_items(const struct sl_launch *l, uint32_t *counts, const uint32_t *offsets,
                      const struct sl_bound *bound) {
  memset(counts, 0, offsets[0] * sizeof(*counts));
  return scan_counts(counts, offsets[l->events_max], bound);
}

struct sl_launch test_launch(struct sl_test *t) {
  const int on_cpu = strcmp(t->plugin->target, "cpu") == 0;
  return (struct sl_launch){.size = sizeof(struct sl_launch),
                            .block_threads = on_cpu ? 1 : t->block_threads,
                            .block_count = on_cpu || t->one_block ? 0 : t->algorithm->block_count,
                            .blocks = t->algorithm->blocks,
                            .grid_blocks = on_cpu ? 1 : GRID_BLOCKS,
                            .events_max = t->event_count,
                            .services = &t->services,
                            .backend = t->emulator ? test_emulator_stream(t) : NULL,
                            .scan = scan,
                            .scan_items = scan_items,
                            .shared_bytes_max = SL_HOST_SHARED_BYTES};
}

int test_run_kernel(struct sl_test *t) {
  struct sl_launch launch = test_launch(t);
  if (t->device) return test_device_run(t, &launch, NULL, 0);
  const int tuned = t->algorithm->run_tuned && !t->shared;
  return tuned ? t->algorithm->run_tuned(&launch, t->args) : t->algorithm->run(&launch, t->args);
}

static void report_begin_object(void *context, const char *key) {
  sl_json_begin_object(&((struct sl_test *)context)->report, key);
}
static void report_end_object(void *context) { sl_json_end_object(&((struct sl_test *)context)->report); }
static void report_begin_array(void *context, const char *key) {
  sl_json_begin_array(&((struct sl_test *)context)->report, key);
}
static void report_end_array(void *context) { sl_json_end_array(&((struct sl_test *)context)->report); }
static void report_integer(void *context, const char *key, int64_t value) {
  sl_json_integer(&((struct sl_test *)context)->report, key, value);
}
static void report_number(void *context, const char *key, double value) {
  sl_json_number(&((struct sl_test *)context)->report, key, value);
}
static void report_text(void *context, const char *key, const char *value) {
  sl_json_string(&((struct sl_test *)context)->report, key, value);
}
static void report_line(void *context, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  test_add_line(context, "", format, arguments);
  va_end(arguments);
}

static int finish_sink(struct sl_test *t, void *state) {
  const struct sl_report report = {.size = sizeof(report),
                                   .context = t,
                                   .begin_object = report_begin_object,
                                   .end_object = report_end_object,
                                   .begin_array = report_begin_array,
                                   .end_array = report_end_array,
                                   .integer = report_integer,
                                   .number = report_number,
                                   .text = report_text,
                                   .line = report_line};
  sl_json_begin(&t->report);
  sl_json_begin_object(&t->report, NULL);
  const struct sl_sink *sink = t->algorithm->sink;
  const int status = sink->finish ? sink->finish(state, &t->services, &report) : SL_OK;
  sl_json_end_object(&t->report);
  if (!sl_json_text(&t->report)) test_die(t, "objects, arrays and keys of the report do not nest");
  return status;
}

static int draw_event(struct sl_test *t, void *state, const struct sl_batch *batch) {
  const struct sl_text_calls to = sl_received_text_calls(&t->drawing);
  if (t->drawn_event >= batch->event_count) test_die(t, "there is no event %u to draw", t->drawn_event);
  return t->algorithm->sink->draw(state, &t->services, t->args, batch, t->drawn_event, &to);
}

static int run_sink(struct sl_test *t) {
  const struct sl_sink *sink = t->algorithm->sink;
  void *state = test_allocate(1, t->algorithm->state_size);
  struct sl_event *events = test_allocate(t->event_count, sizeof(*events));
  for (uint32_t i = 0; i < t->event_count; i++) events[i].number = i;
  const struct sl_batch batch = {.event_count = t->event_count, .events = events};
  int status = sink->open ? sink->open(state, &t->services, t->args, NULL) : SL_OK;
  if (status == SL_OK) {
    status = sink->consume(state, &t->services, t->args, &batch);
    if (status == SL_OK && t->services.draws) status = draw_event(t, state, &batch);
    if (status == SL_OK) status = finish_sink(t, state);
    if (sink->close) sink->close(state);
  }
  free(events);
  free(state);
  return status;
}

/* ---------------------------------------------------------------------------------------------- preparing */

/* 1 for a constant: its fields are ARRAY. */
static int is_constant(const struct sl_member *m) {
  return m->kind == SL_MEMBER_IN && m->collection->fields[0].shape == SL_SHAPE_CODE_ARRAY;
}

/* Shows `prepare` a member: of a list port the names and number of its producers. */
static void show_to_prepare(const struct sl_test *t, const struct sl_member *m, unsigned char *args) {
  if (m->kind == SL_MEMBER_PROPERTY || m->kind == SL_MEMBER_NODE_HASH || is_constant(m)) return;
  memset(args + m->args_offset, 0, m->args_size);
  if (!(m->flags & SL_FLAG_LIST)) return;
  struct sl_views *port = sl_args_views(args, m);
  const struct sl_views *own = sl_args_views(t->args, m);
  port->names = own->names;
  port->count = own->count;
}

/* Calls `prepare` with properties and constants, and keeps the results. */
int test_prepare(struct sl_test *t) {
  const struct sl_algorithm *a = t->algorithm;
  unsigned char *args = test_allocate(1, a->args_size);
  memcpy(args, t->args, a->args_size);
  for (uint32_t i = 0; i < a->member_count; i++) show_to_prepare(t, &a->members[i], args);
  sl_dimensions_fill(a, args);
  t->is_preparing = 1;
  const int status = a->prepare(&t->services, args);
  t->is_preparing = 0;
  for (uint32_t i = 0; i < a->member_count; i++) {
    const struct sl_member *m = &a->members[i];
    struct test_field *table = t->members[i].fields;
    if (m->kind == SL_MEMBER_COMPUTED) memcpy(t->args + m->args_offset, args + m->args_offset, m->args_size);
    if (m->kind != SL_MEMBER_TABLE) continue;
    if (status == SL_OK && !table->memory.values) test_die(t, "prepare did not make its table %s", m->name);
    memcpy(t->args + m->args_offset, &table->memory.values, sizeof(void *));
    if (table->memory.values) table->hash = test_bytes_hash(table->memory.values, table->memory.bytes);
  }
  free(args);
  return status;
}

void test_hide_strings(struct sl_test *t) {
  const struct sl_algorithm *a = t->algorithm;
  for (uint32_t i = 0; i < a->member_count; i++)
    if (a->members[i].kind == SL_MEMBER_PROPERTY && a->members[i].type == SL_TYPE_string)
      memset(t->args + a->members[i].args_offset, 0, a->members[i].args_size);
}

/* Strings are NULL in kernels; the test keeps them for the next run. */
static int run_prepared(struct sl_test *t) {
  const struct sl_algorithm *a = t->algorithm;
  unsigned char *kept = test_allocate(1, a->args_size);
  memcpy(kept, t->args, a->args_size);
  test_hide_strings(t);
  const int status = test_run_kernel(t);
  memcpy(t->args, kept, a->args_size);
  free(kept);
  return status;
}

/* ----------------------------------------------------------------------------------------------- looking */

static void check_memory(const struct sl_test *t, const struct sl_guarded *g, const char *what, const char *field) {
  char damage[64];
  if (sl_guarded_is_damaged(g, damage, sizeof damage))
    test_die(t, "%s%s%s was written %s", what, *field ? "." : "", field, damage);
}

static void check_inputs(const struct sl_test *t, const struct sl_member *m, const struct test_field *fields) {
  for (uint32_t f = 0; f < m->collection->field_count; f++) {
    const struct sl_guarded *memory = &fields[f].memory;
    check_memory(t, memory, m->name, m->collection->fields[f].name);
    if (memory->values && test_bytes_hash(memory->values, memory->bytes) != fields[f].hash)
      test_die(t, "input %s.%s was written to", m->name, m->collection->fields[f].name);
  }
}

static void check_table(const struct sl_test *t, const struct sl_member *m, const struct test_field *table) {
  if (table->memory.values && test_bytes_hash(table->memory.values, table->memory.bytes) != table->hash)
    test_die(t, "table %s was written to", m->name);
}

void test_check(const struct sl_test *t) {
  for (uint32_t i = 0; i < t->algorithm->member_count; i++) {
    const struct sl_member *m = &t->algorithm->members[i];
    const struct test_member *own = &t->members[i];
    check_memory(t, &own->used, m->name, "bound.used");
    check_memory(t, &own->views, m->name, "at");
    for (uint32_t k = 0; k < own->entry_count; k++) check_inputs(t, m, own->entries[k].fields);
    if (m->kind == SL_MEMBER_IN) check_inputs(t, m, own->fields);
    if (m->kind == SL_MEMBER_TABLE) check_table(t, m, own->fields);
    for (uint32_t f = 0; m->kind != SL_MEMBER_IN && f < own->field_count; f++)
      check_memory(t, &own->fields[f].memory, m->name, m->collection ? m->collection->fields[f].name : "");
  }
  check_memory(t, &t->count, "events", "count");
  check_memory(t, &t->numbers, "events", "numbers");
  check_memory(t, &t->errors, "events", "errors");
}

int sl_test_run(struct sl_test *t) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  test_release_run(t);
  test_bind(t);
  t->has_run = 1;
  int status = t->algorithm->check ? t->algorithm->check(&t->services, t->args) : SL_OK;
  if (status) return status;
  switch (t->algorithm->kind) {
    case SL_KIND_KERNEL:
      status = t->algorithm->prepare ? test_prepare(t) : SL_OK;
      if (status == SL_OK) status = run_prepared(t);
      break;
    case SL_KIND_CONSTANT:
      status = t->algorithm->make(&t->services, t->args);
      break;
    default:
      status = run_sink(t);
  }
  test_check(t);
  /* the race detector does not know the table of arguments of a family */
  if (status == SL_OK && t->algorithm->run_family && !test_detects_races(t)) test_family_run(t);
  return status;
}
