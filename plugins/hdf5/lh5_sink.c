/* lh5_sink.c: hdf5.lh5_sink, writes values of events to an LH5 file: a table /TABLE/dsp for each table of the events,
 * with a row for each event, in input order, and the columns of the property `columns` (lh5_columns.h).
 *
 * The file is in single-writer multiple-reader mode, as that of hdf5.sink, so that it can be read up to the last flush
 * after a crash. In this mode, nothing can be created: for a new table, the file is closed and opened again. Data sets
 * of other tables are then opened when they are written.
 */
#include "column.h"
#include "failure.h"
#include "lh5_columns.h"
#include "output_file.h"

#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <waveforms/event_model.h>

#define SL_ARGS lh5_sink_args
#define LH5_SINK(M)                                                                                  \
  M(IN, traces, waveforms_traces, "table channel baseline timestamp digitiser_energy",               \
    "waveforms of the events, with the tables that they are rows of")                                \
  M(FILE_OUT, path, "", "", "path of the file; empty: that of -o")                                   \
  M(STRING, columns, "", "NAME = OUTPUT.FIELD [UNIT] [as f32, f64 or integer], separated by commas") \
  M(F64, period_ns, 0, 0, 1e12, "ns", "sampling period, for times in ns; 0: unknown")                \
  M(F64, begin_ns, 0, -1e15, 1e15, "ns", "time of the first sample")                                 \
  M(U32, compression, 1, 0, 9, "", "deflate level; 0: not compressed")                               \
  M(U32, flush_events, 10000, 0, 4294967295.0, "",                                                   \
    "number of events between flushes, in addition to one per second; 0: one per second only")
SL_HOST_ARGUMENTS(lh5_sink, LH5_SINK);

enum { CHUNK_BYTES = 16 << 10 }; /* a run may have hundreds of tables with dozens of columns */

/* A column of a table. Values of items are the rows of `data`, and `ends` has the end of each event. */
struct written_column {
  struct column data, ends;
  uint64_t items;
};

struct written_table {
  uint8_t name[WAVEFORMS_TABLE_BYTES + 1];
  struct written_column *columns; /* as in the property */
  uint32_t is_created, is_open, has_new_rows, reserved;
};

struct lh5_sink {
  hid_t file;
  const struct sl_output_calls *to;
  struct sl_output *output;
  uint32_t is_open, has_failed, table_count, latest; /* latest: index of the table of the last event */
  struct lh5_columns columns;
  struct written_table *tables;
  void *converted; /* values of a row */
  double period_ns, begin_ns;
  uint32_t compression, flush_events;
  uint64_t events, unflushed_events, earlier_events;
};

static int fail(struct lh5_sink *k, const char *step) {
  const struct hdf5_reason reason = hdf5_reason();
  k->has_failed = 1;
  if (k->is_open) hdf5_cut_off(k->file);
  return k->to->fail(k->output, step, reason.text);
}

/* ------------------------------------------------------------------------------------------------- opening */

static int create_file(struct lh5_sink *k, const struct sl_run *run) {
  const hid_t list = hdf5_access_list();
  k->file = H5Fcreate(k->to->path(k->output), H5F_ACC_TRUNC, H5P_DEFAULT, list);
  H5Pclose(list);
  k->is_open = k->file >= 0;
  if (!k->is_open) return fail(k, "create it");
  return hdf5_describe_run(k->file, run) < 0 || H5Fstart_swmr_write(k->file) < 0 ? fail(k, "prepare it") : SL_OK;
}

static int check_times(const struct lh5_sink *k, const struct sl_services *s) {
  for (uint32_t i = 0; i < k->columns.count && k->period_ns == 0; i++) {
    if (!k->columns.at[i].to_ns) continue;
    s->message(s->context, SL_ERROR,
               "period_ns: column `%s` is a time in ns; set the sampling period, for example to ${raw.period_ns}",
               k->columns.at[i].name);
    return SL_EINVAL;
  }
  return SL_OK;
}

/* Memory for the longest row. */
static int make_row(struct lh5_sink *k) {
  uint32_t width = 1;
  for (uint32_t i = 0; i < k->columns.count; i++)
    if (k->columns.at[i].field->width > width) width = k->columns.at[i].field->width;
  k->converted = malloc(width * sizeof(double));
  return k->converted ? SL_OK : SL_ENOMEM;
}

static int lh5_sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct lh5_sink_args *args = (const struct lh5_sink_args *)args_;
  struct lh5_sink *k = (struct lh5_sink *)state;
  hdf5_begin();
  k->to = s->output;
  k->period_ns = args->period_ns;
  k->begin_ns = args->begin_ns;
  k->compression = args->compression;
  k->flush_events = args->flush_events;
  int status = lh5_columns_read(s, args->columns, &k->columns);
  if (status == SL_OK) status = check_times(k, s);
  if (status == SL_OK) status = make_row(k);
  if (status == SL_OK) status = k->to->open(s, *args->path ? args->path : output_path, SL_OUTPUT_BY_PATH, &k->output);
  return status == SL_OK ? create_file(k, s->run) : status;
}

/* ------------------------------------------------------------------------------------------------- the tables */

/* Creates a data set with the attributes of an LH5 array: values of type `type`, or ENDS of items. */
enum { ENDS = SL_TYPE_COUNT };
static int create_data_set(const struct lh5_sink *k, struct column *column, hid_t group, const char *name,
                           const struct lh5_column *c, uint32_t type) {
  const int is_data = type != ENDS;
  struct column_description d = {
      .name = name, .unit = "", .doc = c->field->doc, .type = is_data ? type : SL_TYPE_u32, .chunk_bytes = CHUNK_BYTES};
  if (is_data) d.axis_count = sl_field_axes(c->collection, c->field, d.axes);
  char kind[64] = "array<1>{real}";
  if (d.axis_count > 0) snprintf(kind, sizeof kind, "array_of_equalsized_arrays<1,%u>{real}", d.axis_count);
  int status = column_open(column, group, &d, k->compression);
  if (status == 0) status = hdf5_set_text(column->data_set, "datatype", kind);
  if (status == 0 && is_data && *c->unit) status = hdf5_set_text(column->data_set, "units", c->unit);
  return status;
}

/* Creates a column: a data set or, for values of items, a group of two. */
static int create_column(const struct lh5_sink *k, struct written_column *w, hid_t table, const struct lh5_column *c) {
  if (!c->has_items) return create_data_set(k, &w->data, table, c->name, c, c->type);
  const hid_t group = hdf5_create_group(table, c->name);
  int status = group < 0 ? -1 : hdf5_set_text(group, "datatype", "array<1>{array<1>{real}}");
  if (status == 0) status = create_data_set(k, &w->ends, group, "cumulative_length", c, ENDS);
  if (status == 0) status = create_data_set(k, &w->data, group, "flattened_data", c, c->type);
  return group >= 0 && H5Gclose(group) < 0 ? -1 : status;
}

/* The attribute `datatype` of a table: table{a,b}. */
static int set_table_type(const struct lh5_sink *k, hid_t group) {
  const size_t bytes = (size_t)k->columns.count * LH5_NAME_BYTES + 16;
  char *text = (char *)malloc(bytes);
  if (!text) return -1;
  size_t used = (size_t)snprintf(text, bytes, "table{");
  for (uint32_t i = 0; i < k->columns.count; i++)
    used += (size_t)snprintf(text + used, bytes - used, "%s%s", i ? "," : "", k->columns.at[i].name);
  snprintf(text + used, bytes - used, "}");
  const int status = hdf5_set_text(group, "datatype", text);
  free(text);
  return status;
}

static int create_table(const struct lh5_sink *k, struct written_table *t) {
  t->columns = (struct written_column *)calloc(k->columns.count, sizeof *t->columns);
  if (!t->columns) return -1;
  const hid_t parent = hdf5_create_group(k->file, (const char *)t->name);
  const hid_t group = parent < 0 ? -1 : hdf5_create_group(parent, "dsp");
  int status = group < 0 ? -1 : hdf5_set_text(parent, "datatype", "struct{dsp}");
  if (status == 0) status = set_table_type(k, group);
  for (uint32_t i = 0; i < k->columns.count && status == 0; i++)
    status = create_column(k, &t->columns[i], group, &k->columns.at[i]);
  if (group >= 0 && H5Gclose(group) < 0) status = -1;
  if (parent >= 0 && H5Gclose(parent) < 0) status = -1;
  t->is_created = t->is_open = 1;
  return status;
}

static int release_table(const struct lh5_sink *k, struct written_table *t) {
  int status = 0;
  for (uint32_t i = 0; t->is_open && i < k->columns.count && t->columns; i++) {
    if (column_release(&t->columns[i].data) < 0) status = -1;
    if (column_release(&t->columns[i].ends) < 0) status = -1;
  }
  t->is_open = 0;
  return status;
}

static int reopen_table(const struct lh5_sink *k, struct written_table *t) {
  char path[WAVEFORMS_TABLE_BYTES + 2 * LH5_NAME_BYTES];
  int status = 0;
  for (uint32_t i = 0; i < k->columns.count && !t->is_open && status == 0; i++) {
    const struct lh5_column *c = &k->columns.at[i];
    snprintf(path, sizeof path, "%s/dsp/%s%s", (const char *)t->name, c->name, c->has_items ? "/flattened_data" : "");
    status = column_reopen(&t->columns[i].data, k->file, path);
    if (!c->has_items || status < 0) continue;
    snprintf(path, sizeof path, "%s/dsp/%s/cumulative_length", (const char *)t->name, c->name);
    status = column_reopen(&t->columns[i].ends, k->file, path);
  }
  t->is_open = 1;
  return status;
}

/* Creates the tables that are not in the file yet. */
static int create_tables(struct lh5_sink *k) {
  int status = 0;
  for (uint32_t i = 0; i < k->table_count; i++)
    if (release_table(k, &k->tables[i]) < 0) status = -1;
  k->is_open = 0;
  if (H5Fclose(k->file) < 0 || status < 0) return -1;
  const hid_t list = hdf5_access_list();
  k->file = H5Fopen(k->to->path(k->output), H5F_ACC_RDWR, list);
  H5Pclose(list);
  k->is_open = k->file >= 0;
  if (!k->is_open) return -1;
  for (uint32_t i = 0; i < k->table_count && status == 0; i++)
    if (!k->tables[i].is_created) status = create_table(k, &k->tables[i]);
  return status == 0 && H5Fstart_swmr_write(k->file) >= 0 ? 0 : -1;
}

/* Returns the table of the event, which is added if it is new; NULL if out of memory. */
static struct written_table *find_table(struct lh5_sink *k, const uint8_t *name) {
  for (uint32_t i = 0; i < k->table_count; i++) {
    const uint32_t at = (k->latest + i) % k->table_count;
    if (memcmp(k->tables[at].name, name, WAVEFORMS_TABLE_BYTES) != 0) continue;
    k->latest = at;
    return &k->tables[at];
  }
  struct written_table *tables = (struct written_table *)realloc(k->tables, (k->table_count + 1) * sizeof *tables);
  if (!tables) return NULL;
  k->tables = tables;
  k->latest = k->table_count++;
  tables[k->latest] = (struct written_table){0};
  memcpy(tables[k->latest].name, name, WAVEFORMS_TABLE_BYTES);
  return &tables[k->latest];
}

/* Names that a group of HDF5 can have. */
static int is_name(const uint8_t *name) {
  return *name != 0 && !memchr(name, '/', WAVEFORMS_TABLE_BYTES) &&
         !(name[0] == '.' && (name[1] == 0 || name[1] == '.'));
}

/* Finds the tables of all events of the batch, and creates the new ones in the file. */
static int prepare_tables(struct lh5_sink *k, const struct sl_services *s, const struct lh5_sink_args *a,
                          const struct sl_batch *batch) {
  const uint32_t before = k->table_count;
  SL_FOR_BATCH (e, batch) {
    const uint8_t *name = a->traces.table + (size_t)e * WAVEFORMS_TABLE_BYTES;
    if (!is_name(name)) {
      s->message(s->context, SL_ERROR, "event %" PRIu64 " has no name of a table, as /NAME/dsp: `%.*s`",
                 batch->events[e].number, WAVEFORMS_TABLE_BYTES, (const char *)name);
      return SL_EFORMAT;
    }
    if (!find_table(k, name)) return SL_ENOMEM;
  }
  return k->table_count == before || create_tables(k) == 0 ? SL_OK : fail(k, "write to it");
}

/* ------------------------------------------------------------------------------------------------- writing */

static double number_at(uint32_t type, const void *values, size_t at) {
  switch (type) {
#define NUMBER_(name, c_type, bytes) \
  case SL_TYPE_##name:               \
    return (double)((const c_type *)values)[at];
    SL_TYPES(NUMBER_)
#undef NUMBER_
    default:
      return NAN;
  }
}

/* Converts values of a field to those of its column in k->converted. */
static void convert(struct lh5_sink *k, const struct lh5_column *c, const void *values, size_t first, uint32_t count,
                    int is_valid) {
  float *narrow = (float *)k->converted;
  double *wide = (double *)k->converted;
  for (uint32_t i = 0; i < count; i++) {
    const double found = is_valid ? number_at(c->field->type, values, first + i) : 0;
    const double in_ns = c->to_ns == LH5_TIME ? found * k->period_ns + k->begin_ns : found * k->period_ns;
    const double value = c->to_ns ? in_ns : found;
    const double written = is_valid && !(c->is_index && found < 0) ? value : (double)NAN;
    if (c->type == SL_TYPE_f32)
      narrow[i] = (float)written;
    else
      wide[i] = written;
  }
}

/* Adds rows of a column with the values [first, first + rows * width) of its field. Without `is_valid`, numbers are
 * NaN, integers 0 and indices -1. */
static int add_rows(struct lh5_sink *k, struct column *column, const struct lh5_column *c, const void *values,
                    size_t first, uint32_t rows, uint32_t width, int is_valid) {
  if (c->is_integer && is_valid)
    return column_add(column, (const unsigned char *)values + first * (column->row_bytes / width), rows);
  int status = 0;
  for (uint32_t row = 0; row < rows && status == 0; row++) {
    if (c->is_integer)
      memset(k->converted, c->is_index ? 0xff : 0, column->row_bytes);
    else
      convert(k, c, values, first + (size_t)row * width, width, is_valid);
    status = column_add(column, k->converted, 1);
  }
  return status;
}

static int add_items(struct lh5_sink *k, struct written_column *w, const struct lh5_column *c,
                     const void *const *fields, uint32_t event, int has_error) {
  const uint32_t *offsets = (const uint32_t *)fields[c->offsets_index];
  const uint32_t first = offsets[event], count = has_error ? 0 : offsets[event + 1] - first;
  w->items += count;
  const uint32_t end = (uint32_t)w->items;
  if (add_rows(k, &w->data, c, fields[c->field_index], first, count, 1, 1) < 0) return -1;
  return column_add(&w->ends, &end, 1);
}

/* Adds the value of an event to a column. An event with an error has no values. */
static int add_value(struct lh5_sink *k, struct written_column *w, const struct lh5_column *c,
                     const void *const *fields, uint32_t event, int has_error) {
  const uint32_t width = c->field->width;
  if (c->has_items) return add_items(k, w, c, fields, event, has_error);
  int is_valid = !has_error;
  if (is_valid && c->valid_mask) is_valid = (((const uint32_t *)fields[c->valid_index])[event] & c->valid_mask) != 0;
  return add_rows(k, &w->data, c, fields[c->field_index], (size_t)event * width, 1, width,
                  is_valid || (c->is_integer && !has_error));
}

static int add_event(struct lh5_sink *k, const struct lh5_sink_args *a, const struct sl_batch *batch, uint32_t e) {
  struct written_table *t = find_table(k, a->traces.table + (size_t)e * WAVEFORMS_TABLE_BYTES);
  int status = reopen_table(k, t);
  for (uint32_t i = 0; i < k->columns.count && status == 0; i++) {
    const struct lh5_column *c = &k->columns.at[i];
    const int is_input =
        c->output == LH5_OF_TRACES; /* the members of a view are the pointers of its fields, in order */
    const void *const *fields = is_input ? (const void *const *)&a->traces : batch->outputs[c->output].fields;
    status = add_value(k, &t->columns[i], c, fields, e, batch->events[e].error != 0 && !is_input);
  }
  t->has_new_rows = 1;
  return status;
}

/* Offsets of items have 32 bits in the file. */
static int check_items(const struct lh5_sink *k, const struct sl_services *s) {
  for (uint32_t t = 0; t < k->table_count; t++)
    for (uint32_t i = 0; i < k->columns.count; i++) {
      if (k->tables[t].columns[i].items <= UINT32_MAX) continue;
      s->message(s->context, SL_ERROR,
                 "column %s of table %s has more than 4294967295 values; --rotate begins new files",
                 k->columns.at[i].name, (const char *)k->tables[t].name);
      return SL_EINVAL;
    }
  return SL_OK;
}

/* Writes all added events to the file. */
static int flush(struct lh5_sink *k) {
  int status = 0;
  for (uint32_t i = 0; i < k->table_count; i++) {
    struct written_table *t = &k->tables[i];
    if (!t->has_new_rows) continue;
    status = reopen_table(k, t);
    for (uint32_t c = 0; c < k->columns.count && status == 0; c++) {
      status = column_flush(&t->columns[c].data);
      if (status == 0) status = column_flush(&t->columns[c].ends);
    }
    if (status < 0) return status;
    t->has_new_rows = 0;
  }
  k->to->mark(k->output, k->unflushed_events);
  k->unflushed_events = 0;
  return 0;
}

static int lh5_sink_consume(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch) {
  struct lh5_sink *k = (struct lh5_sink *)state;
  const struct lh5_sink_args *a = (const struct lh5_sink_args *)args;
  hdf5_begin(); /* the library has settings for each thread */
  int status = prepare_tables(k, s, a, batch);
  if (status < 0) return status;
  SL_FOR_BATCH (e, batch)
    if (status == 0) status = add_event(k, a, batch, e);
  if (status == 0 && check_items(k, s) < 0) {
    k->has_failed = 1; /* so that no row with a wrong end is kept */
    return SL_EINVAL;
  }
  k->events += SL_BATCH_COUNT(batch);
  k->unflushed_events += SL_BATCH_COUNT(batch);
  if (status == 0 && k->flush_events && k->unflushed_events >= k->flush_events) status = flush(k);
  return status == 0 ? SL_OK : fail(k, "write to it");
}

static int lh5_sink_flush(void *state, const struct sl_services *s) {
  struct lh5_sink *k = (struct lh5_sink *)state;
  (void)s;
  hdf5_begin();
  return k->unflushed_events == 0 || flush(k) == 0 ? SL_OK : fail(k, "write to it");
}

/* ------------------------------------------------------------------------------------------------- the end */

static void free_tables(struct lh5_sink *k) {
  for (uint32_t t = 0; t < k->table_count; t++) {
    for (uint32_t i = 0; k->tables[t].columns && i < k->columns.count; i++) {
      column_close(&k->tables[t].columns[i].data);
      column_close(&k->tables[t].columns[i].ends);
    }
    free(k->tables[t].columns);
  }
  free(k->tables);
  k->tables = NULL;
  k->table_count = k->latest = 0;
}

static int close_file(struct lh5_sink *k) {
  free_tables(k);
  const int status = k->is_open ? H5Fclose(k->file) : 0;
  k->is_open = 0;
  return status < 0 ? -1 : 0;
}

/* Writes the final values and closes the file. */
static int complete_file(struct lh5_sink *k, const struct sl_run *run) {
  hdf5_begin();
  int status = flush(k);
  if (status == 0 && !run->is_interrupted) status = hdf5_change_u64(k->file, "complete", 1);
  return status == 0 ? close_file(k) : -1;
}

static int lh5_sink_rotate(void *state, const struct sl_services *s, const void *args) {
  struct lh5_sink *k = (struct lh5_sink *)state;
  (void)args;
  if (complete_file(k, s->run) < 0) return fail(k, "write to it");
  const int status = k->to->rotate(k->output);
  if (status < 0) return status;
  k->earlier_events += k->events;
  k->events = 0;
  return create_file(k, s->run);
}

static int lh5_sink_finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  struct lh5_sink *k = (struct lh5_sink *)state;
  const uint32_t tables = k->table_count;
  if (complete_file(k, s->run) < 0) return fail(k, "write to it");
  const int status = k->to->finish(k->output);
  if (status < 0) return status;
  const char *place = k->to->path(k->output);
  const uint64_t events = k->earlier_events + k->events;
  report->text(report->context, "path", place);
  report->integer(report->context, "events", (int64_t)events);
  report->integer(report->context, "columns", k->columns.count);
  report->line(report->context, "%" PRIu64 " %s, %u %s, %u %s: %s", events, sl_plural(events, "row", "rows"), tables,
               sl_plural(tables, "table", "tables"), k->columns.count, sl_plural(k->columns.count, "column", "columns"),
               place);
  return SL_OK;
}

static void lh5_sink_close(void *state) {
  struct lh5_sink *k = (struct lh5_sink *)state;
  hdf5_begin();
  if (k->is_open && !k->has_failed) (void)flush(k); /* the run failed: complete events are kept */
  (void)close_file(k);
  lh5_columns_free(&k->columns);
  free(k->converted);
  if (k->output) k->to->close(k->output);
}

static const struct sl_sink lh5_sink_functions = {.open = lh5_sink_open,
                                                  .consume = lh5_sink_consume,
                                                  .finish = lh5_sink_finish,
                                                  .close = lh5_sink_close,
                                                  .takes_outputs = 1,
                                                  .flush = lh5_sink_flush,
                                                  .rotate = lh5_sink_rotate};

SL_SINK(lh5_sink, "writes values of events to tables of an LH5 file", struct lh5_sink, lh5_sink_functions);
