/* sink.c: hdf5.sink, writes the outputs of a graph to an HDF5 file: one group per output, one data set per field.
 *
 *   /events         run, number and error of each event, in input order
 *   /OUTPUT         attributes collection, doc, items, digest; of named entries label, names, names_of, names_field
 *   /OUTPUT/FIELD   attributes per (event, item, subitem or boundary), unit, doc; for subitems group: the field of
 *   offsets
 *
 * docs/results.md describes the file format. All groups, data sets and attributes are created before the first event;
 * the file is then in single-writer multiple-reader mode until it is closed, so that flushed events can be read during
 * the run and after a crash. A flush writes /events last, so that each listed event is complete.
 */
#include "column.h"
#include "failure.h"
#include "output_file.h"

#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SL_ARGS sink_args
#define SINK(M)                                                        \
  M(FILE_OUT, path, "", "", "path of the file; empty: that of -o")     \
  M(U32, compression, 1, 0, 9, "", "deflate level; 0: not compressed") \
  M(U32, flush_events, 10000, 0, 4294967295.0, "",                     \
    "number of events between flushes, in addition to one per second; 0: one per second only")
SL_HOST_ARGUMENTS(sink, SINK);

struct table {
  const struct sl_collection *collection;
  struct column *columns;    /* per field */
  uint64_t items, *subitems; /* per ITEM_OFFSETS field */
};

enum { EVENT_RUN, EVENT_NUMBER, EVENT_ERROR, EVENT_COLUMNS };

struct sink {
  hid_t file;
  const struct sl_output_calls *to;
  struct sl_output *output; /* file name and completion */
  uint32_t is_open, has_failed, flush_events, table_count;
  uint32_t selects; /* 1: the sink is on an event list */
  uint32_t is_begun;
  uint64_t events, unflushed_events; /* of the present file */
  uint64_t earlier_events;           /* of the files before it */
  struct column event_columns[EVENT_COLUMNS];
  struct table *tables; /* per output */
};

/* ----------------------------------------------------------------------------------------------- opening */

static int is_event_list(const struct sl_collection *c) { return strcmp(c->name, sl_event_list_collection.name) == 0; }

/* Meaning of the rows of a field, or NULL for fields that are not written. */
static const char *rows_of(const struct sl_collection *c, const struct sl_field *f) {
  if (is_event_list(c)) return strcmp(f->name, "numbers") == 0 ? "item" : NULL;
  switch (f->shape) {
    case SL_SHAPE_CODE_PER_EVENT:
      return "event";
    case SL_SHAPE_CODE_PER_ITEM:
      return "item";
    case SL_SHAPE_CODE_PER_SUBITEM:
      return "subitem";
    case SL_SHAPE_CODE_OFFSETS:
    case SL_SHAPE_CODE_ITEM_OFFSETS:
      return "boundary";
    case SL_SHAPE_CODE_TOTAL:
      return "entry";
    default:
      return NULL;
  }
}

/* The ITEM_OFFSETS field of a subitem field: the last one before it. */
static uint32_t group_of(const struct sl_collection *c, uint32_t field) {
  while (field > 0 && c->fields[field].shape != SL_SHAPE_CODE_ITEM_OFFSETS) field--;
  return field;
}

/* Row numbers of the file and sums over the run have 64 bits. */
static uint32_t type_in_file(const struct sl_collection *c, const struct sl_field *f) {
  if (f->shape == SL_SHAPE_CODE_TOTAL) return f->type == SL_TYPE_i64 ? SL_TYPE_i64 : SL_TYPE_u64;
  const int counts_rows =
      is_event_list(c) || f->shape == SL_SHAPE_CODE_OFFSETS || f->shape == SL_SHAPE_CODE_ITEM_OFFSETS;
  return counts_rows ? SL_TYPE_i64 : f->type;
}

static int open_field(struct column *column, hid_t group, const struct sl_collection *c, uint32_t field,
                      uint32_t compression) {
  const struct sl_field *f = &c->fields[field];
  const char *rows = rows_of(c, f);
  if (!rows) return 0;
  struct column_description d = {.name = f->name, .unit = f->unit, .doc = f->doc, .type = type_in_file(c, f)};
  d.axis_count = sl_field_axes(c, f, d.axes);
  int status = column_open(column, group, &d, f->shape == SL_SHAPE_CODE_TOTAL ? 0 : compression);
  if (status == 0) status = hdf5_set_text(column->data_set, "per", rows);
  if (status == 0 && f->dimensions) status = hdf5_set_text(column->data_set, "dimensions", f->dimensions);
  if (status == 0 && f->shape == SL_SHAPE_CODE_PER_SUBITEM)
    status = hdf5_set_text(column->data_set, "group", c->fields[group_of(c, field)].name);
  const uint64_t zero = 0;
  if (status == 0 && strcmp(rows, "boundary") == 0) status = column_add(column, &zero, 1);
  return status;
}

/* Names of entries, and which field they belong to: see struct sl_names. */
static int set_names(hid_t group, const struct sl_run_output *output) {
  static const char *const kinds[] = {
      [SL_NAMES_OF_ENTRIES] = "entries", [SL_NAMES_OF_BITS] = "bits", [SL_NAMES_OF_INDICES] = "indices"};
  const struct sl_names *naming = output->naming;
  int status = hdf5_set_text(group, "label", naming->label);
  if (status == 0 && output->name_count > 0) status = hdf5_set_texts(group, "names", output->names, output->name_count);
  if (status == 0) status = hdf5_set_text(group, "names_of", kinds[naming->kind]);
  if (status == 0 && naming->field) status = hdf5_set_text(group, "names_field", naming->field);
  return status;
}

static int open_table(struct table *t, hid_t file, const struct sl_run_output *output, uint32_t compression) {
  t->collection = output->collection;
  t->columns = (struct column *)calloc(t->collection->field_count, sizeof *t->columns);
  t->subitems = (uint64_t *)calloc(t->collection->field_count, sizeof *t->subitems);
  const hid_t group = hdf5_create_group(file, output->name);
  if (!t->columns || !t->subitems || group < 0) return -1;
  int status = hdf5_set_text(group, "collection", t->collection->name);
  if (status == 0) status = hdf5_set_text(group, "doc", t->collection->doc);
  if (status == 0 && output->naming) status = set_names(group, output);
  for (uint32_t f = 0; f < t->collection->field_count && status == 0; f++)
    status = open_field(&t->columns[f], group, t->collection, f, compression);
  return H5Gclose(group) < 0 ? -1 : status;
}

static int open_event_columns(struct sink *k, uint32_t compression) {
  static const struct column_description descriptions[EVENT_COLUMNS] = {
      [EVENT_RUN] = {"run", "", "run number", SL_TYPE_u32, 0, {0}, 0},
      [EVENT_NUMBER] = {"number", "", "event number in the run", SL_TYPE_u64, 0, {0}, 0},
      [EVENT_ERROR] = {"error", "", "0, or the reason why the event has no items", SL_TYPE_u32, 0, {0}, 0},
  };
  const hid_t group = hdf5_create_group(k->file, "events");
  int status = group < 0 ? -1 : 0;
  for (int i = 0; i < EVENT_COLUMNS && status == 0; i++) {
    status = column_open(&k->event_columns[i], group, &descriptions[i], compression);
    if (status == 0) status = hdf5_set_text(k->event_columns[i].data_set, "per", "event");
  }
  return group >= 0 && H5Gclose(group) < 0 ? -1 : status;
}

static int check_outputs(const struct sl_services *s) {
  for (uint32_t o = 0; o < s->run->output_count; o++) {
    if (strcmp(s->run->outputs[o].name, "events") != 0) continue;
    s->message(s->context, SL_ERROR,
               "the group `events` of the file is reserved; give the output `events` another name");
    return SL_EINVAL;
  }
  return SL_OK;
}

/* Reports the failed step and the number of events that were saved. */
static int fail(struct sink *k, const char *step) {
  const struct hdf5_reason reason = hdf5_reason();
  k->has_failed = 1;
  if (k->is_open) hdf5_cut_off(k->file);
  return k->to->fail(k->output, step, reason.text);
}

/* Creates the file with all groups and data sets. */
static int create_file(struct sink *k, const struct sl_run *run, uint32_t compression) {
  const hid_t list = hdf5_access_list();
  k->file = H5Fcreate(k->to->path(k->output), H5F_ACC_TRUNC, H5P_DEFAULT, list);
  H5Pclose(list);
  k->is_open = k->file >= 0;
  if (!k->is_open) return fail(k, "create it");
  int failed = hdf5_describe_run(k->file, run) < 0 || open_event_columns(k, compression) < 0;
  for (uint32_t o = 0; o < k->table_count && !failed; o++)
    failed = open_table(&k->tables[o], k->file, &run->outputs[o], compression) < 0;
  return failed ? fail(k, "prepare it") : SL_OK;
}

static int sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct sink_args *args = (const struct sink_args *)args_;
  struct sink *k = (struct sink *)state;
  hdf5_begin();
  k->flush_events = args->flush_events;
  k->tables = (struct table *)calloc(s->run->output_count, sizeof *k->tables);
  if (!k->tables) return SL_ENOMEM;
  k->table_count = s->run->output_count;
  k->to = s->output;
  int status = check_outputs(s);
  if (status == SL_OK) status = k->to->open(s, *args->path ? args->path : output_path, SL_OUTPUT_BY_PATH, &k->output);
  return status == SL_OK ? create_file(k, s->run, args->compression) : status;
}

/* Called when it is known whether the sink is on an event list. Attributes with final values are created now,
 * because single-writer mode allows no new ones. The digest is that of the whole output, so a file with a part of
 * the events has none. */
static int begin_events(struct sink *k, const struct sl_run *run, uint32_t selects) {
  k->selects = selects;
  k->is_begun = 1;
  int status = 0;
  for (uint32_t o = 0; o < run->output_count && status == 0; o++) {
    const hid_t group = H5Gopen2(k->file, run->outputs[o].name, H5P_DEFAULT);
    status = group < 0 ? -1 : hdf5_set_u64(group, "items", 0);
    if (status == 0 && !selects) status = hdf5_set_text(group, "digest", "0000000000000000");
    if (group >= 0 && H5Gclose(group) < 0) status = -1;
  }
  return status == 0 && H5Fstart_swmr_write(k->file) >= 0 ? 0 : -1;
}

/* ----------------------------------------------------------------------------------------------- writing */

/* Rows of events, with their items or subitems: entries [first, first + count) of the array of a field. */
struct rows {
  uint32_t first, count;
};

static struct rows rows_in(const struct sl_output_view *view, struct rows events) {
  struct rows r = {0, 0};
  const struct sl_collection *c = view->collection;
  for (uint32_t f = 0; f < c->field_count; f++) {
    const uint32_t *offsets = (const uint32_t *)view->fields[f];
    if (c->fields[f].shape != SL_SHAPE_CODE_OFFSETS) continue;
    r.first = offsets[events.first];
    r.count = offsets[events.first + events.count] - r.first;
  }
  return r;
}

static struct rows subitems_in(const void *item_offsets, struct rows items) {
  const uint32_t *offsets = (const uint32_t *)item_offsets;
  if (items.count == 0) return (struct rows){0, 0};
  return (struct rows){offsets[items.first], offsets[items.first + items.count] - offsets[items.first]};
}

/* Adds rows with values[i] + shift. */
static int add_shifted(struct column *column, const uint32_t *values, uint32_t count, uint64_t shift) {
  int status = 0;
  for (uint32_t i = 0; i < count && status == 0; i++) {
    const uint64_t value = values[i] + shift;
    status = column_add(column, &value, 1);
  }
  return status;
}

static int add_field(struct table *t, uint32_t f, const struct sl_output_view *view, const struct rows *r,
                     struct rows events) {
  struct column *column = &t->columns[f];
  const unsigned char *bytes = (const unsigned char *)view->fields[f];
  const uint32_t *offsets = (const uint32_t *)view->fields[f];
  struct rows sub;
  switch (t->collection->fields[f].shape) {
    case SL_SHAPE_CODE_PER_EVENT:
      return column_add(column, bytes + (size_t)events.first * column->row_bytes, events.count);
    case SL_SHAPE_CODE_PER_ITEM:
      return column_add(column, bytes + (size_t)r->first * column->row_bytes, r->count);
    case SL_SHAPE_CODE_PER_SUBITEM:
      sub = subitems_in(view->fields[group_of(t->collection, f)], *r);
      return column_add(column, bytes + (size_t)sub.first * column->row_bytes, sub.count);
    case SL_SHAPE_CODE_OFFSETS: /* the difference may wrap around; the sum is correct */
      return add_shifted(column, offsets + events.first + 1, events.count, t->items - r->first);
    case SL_SHAPE_CODE_ITEM_OFFSETS:
      sub = subitems_in(offsets, *r);
      t->subitems[f] += sub.count;
      return add_shifted(column, offsets + r->first + 1, r->count, t->subitems[f] - sub.count - sub.first);
    default:
      return 0;
  }
}

/* Adds the rows of /events of the listed events that the sink receives; both lists ascend. */
static int add_list(struct sink *k, struct table *t, const struct sl_output_view *view, const struct sl_batch *batch) {
  const uint32_t count = *(const uint32_t *)view->fields[0], *numbers = (const uint32_t *)view->fields[1];
  int status = 0;
  uint32_t at = 0;
  for (uint32_t i = 0; i < count && status == 0; i++) {
    while (at < SL_BATCH_COUNT(batch) && SL_BATCH_EVENT(batch, at) < numbers[i]) at++;
    if (at == SL_BATCH_COUNT(batch) || SL_BATCH_EVENT(batch, at) != numbers[i]) continue;
    const uint64_t row = k->events + at;
    status = column_add(&t->columns[1], &row, 1);
    t->items++;
  }
  return status;
}

static int add_rows(struct table *t, const struct sl_output_view *view, struct rows events) {
  const struct rows r = rows_in(view, events);
  int status = 0;
  for (uint32_t f = 0; f < t->collection->field_count && status == 0; f++)
    if (t->columns[f].buffer) status = add_field(t, f, view, &r, events);
  t->items += r.count;
  return status;
}

/* Consecutive events are added together. */
static int add_table(struct sink *k, struct table *t, const struct sl_output_view *view, const struct sl_batch *batch) {
  if (is_event_list(t->collection)) return add_list(k, t, view, batch);
  const uint32_t count = SL_BATCH_COUNT(batch);
  int status = 0;
  for (uint32_t at = 0; at < count && status == 0;) {
    struct rows events = {SL_BATCH_EVENT(batch, at), 1};
    while (++at < count && SL_BATCH_EVENT(batch, at) == events.first + events.count) events.count++;
    status = add_rows(t, view, events);
  }
  return status;
}

static int add_events(struct sink *k, const struct sl_batch *batch) {
  int status = 0;
  SL_FOR_BATCH (e, batch) {
    const struct sl_event *event = &batch->events[e];
    status |= column_add(&k->event_columns[EVENT_RUN], &event->run, 1) |
              column_add(&k->event_columns[EVENT_ERROR], &event->error, 1) |
              column_add(&k->event_columns[EVENT_NUMBER], &event->number, 1);
  }
  return status;
}

/* Writes all added events to the file. */
static int flush(struct sink *k) {
  int status = 0;
  for (uint32_t o = 0; o < k->table_count; o++)
    for (uint32_t f = 0; f < k->tables[o].collection->field_count && status == 0; f++)
      status = column_flush(&k->tables[o].columns[f]);
  static const int last_is_number[EVENT_COLUMNS] = {EVENT_RUN, EVENT_ERROR, EVENT_NUMBER};
  for (int i = 0; i < EVENT_COLUMNS && status == 0; i++) status = column_flush(&k->event_columns[last_is_number[i]]);
  if (status < 0) return status;
  k->to->mark(k->output, k->unflushed_events);
  k->unflushed_events = 0;
  return 0;
}

static int sink_consume(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch) {
  struct sink *k = (struct sink *)state;
  hdf5_begin(); /* the library has settings for each thread */
  (void)args;
  int status = k->is_begun ? 0 : begin_events(k, s->run, batch->selected != NULL);
  for (uint32_t o = 0; o < k->table_count && status == 0; o++)
    status = add_table(k, &k->tables[o], &batch->outputs[o], batch);
  if (status == 0) status = add_events(k, batch);
  k->events += SL_BATCH_COUNT(batch);
  k->unflushed_events += SL_BATCH_COUNT(batch);
  if (status == 0 && k->flush_events && k->unflushed_events >= k->flush_events) status = flush(k);
  return status == 0 ? SL_OK : fail(k, "write to it");
}

static int sink_flush(void *state, const struct sl_services *s) {
  struct sink *k = (struct sink *)state;
  hdf5_begin();
  (void)s;
  return k->unflushed_events == 0 || flush(k) == 0 ? SL_OK : fail(k, "write to it");
}

/* ------------------------------------------------------------------------------------------------ the end */

static int close_file(struct sink *k) {
  for (uint32_t o = 0; o < k->table_count; o++)
    for (uint32_t f = 0; k->tables[o].columns && f < k->tables[o].collection->field_count; f++)
      column_close(&k->tables[o].columns[f]);
  for (int i = 0; i < EVENT_COLUMNS; i++) column_close(&k->event_columns[i]);
  const int status = k->is_open ? H5Fclose(k->file) : 0;
  k->is_open = 0;
  return status < 0 ? -1 : 0;
}

static int has_rows_of_items(const struct sl_collection *c) {
  int has = is_event_list(c);
  for (uint32_t f = 0; f < c->field_count; f++) has |= c->fields[f].shape == SL_SHAPE_CODE_OFFSETS;
  return has;
}

static int add_totals(struct table *t, const struct sl_run_output *output) {
  const uint64_t *values = output->totals;
  int status = 0;
  for (uint32_t f = 0; values && f < output->collection->field_count && status == 0; f++) {
    status = column_add(&t->columns[f], values, output->items);
    values += output->items * output->collection->fields[f].width;
  }
  return status;
}

static int change_attributes(const struct sink *k, const struct table *t, const struct sl_run_output *output) {
  char digest[24];
  snprintf(digest, sizeof digest, "%016" PRIx64, output->digest);
  const hid_t group = H5Gopen2(k->file, output->name, H5P_DEFAULT);
  if (group < 0) return -1;
  const uint64_t selected = has_rows_of_items(t->collection) ? t->items : k->events;
  int status = hdf5_change_u64(group, "items", k->selects && !output->totals ? selected : output->items);
  if (status == 0 && !k->selects) status = hdf5_change_text(group, "digest", digest);
  return H5Gclose(group) < 0 ? -1 : status;
}

/* Writes the final values and closes the file. */
static int complete_file(struct sink *k, const struct sl_run *run) {
  hdf5_begin();
  int status = k->is_begun ? 0 : begin_events(k, run, 0);
  for (uint32_t o = 0; o < run->output_count && status == 0; o++) status = add_totals(&k->tables[o], &run->outputs[o]);
  if (status == 0) status = flush(k);
  for (uint32_t o = 0; o < run->output_count && status == 0; o++)
    status = change_attributes(k, &k->tables[o], &run->outputs[o]);
  if (status == 0 && !run->is_interrupted) status = hdf5_change_u64(k->file, "complete", 1);
  return status == 0 ? close_file(k) : -1;
}

static void free_tables(struct sink *k) {
  for (uint32_t o = 0; o < k->table_count; o++) {
    free(k->tables[o].columns);
    free(k->tables[o].subitems);
    k->tables[o] = (struct table){0};
  }
}

static int sink_rotate(void *state, const struct sl_services *s, const void *args) {
  struct sink *k = (struct sink *)state;
  if (complete_file(k, s->run) < 0) return fail(k, "write to it");
  const int status = k->to->rotate(k->output);
  if (status < 0) return status;
  free_tables(k);
  k->earlier_events += k->events;
  k->events = 0;
  k->is_begun = 0;
  return create_file(k, s->run, ((const struct sink_args *)args)->compression);
}

static int sink_finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  struct sink *k = (struct sink *)state;
  if (complete_file(k, s->run) < 0) return fail(k, "write to it");
  const int status = k->to->finish(k->output);
  if (status < 0) return status;
  const char *place = k->to->path(k->output);
  report->text(report->context, "path", place);
  const uint64_t events = k->earlier_events + k->events;
  report->integer(report->context, "events", (int64_t)events);
  report->line(report->context, "%" PRIu64 " %s: %s", events, sl_plural(events, "event", "events"), place);
  return SL_OK;
}

static void sink_close(void *state) {
  struct sink *k = (struct sink *)state;
  hdf5_begin();
  if (k->is_open && k->is_begun && !k->has_failed) (void)flush(k); /* the run failed: complete events are kept */
  (void)close_file(k);
  free_tables(k);
  free(k->tables);
  if (k->output) k->to->close(k->output);
}

static const struct sl_sink sink_functions = {.open = sink_open,
                                              .consume = sink_consume,
                                              .finish = sink_finish,
                                              .close = sink_close,
                                              .takes_outputs = 1,
                                              .flush = sink_flush,
                                              .rotate = sink_rotate};

SL_SINK(sink, "writes the outputs of the graph to an HDF5 file", struct sink, sink_functions);
