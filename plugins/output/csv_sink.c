/* csv_sink.c: output.csv_sink, writes one output of the graph as comma-separated values.
 *
 * One row per item (a track, a vertex); per event if the output has no items; per listed event for an event list.
 * Columns: run, event, with items their index in the event, then the fields; a field of several values has one column
 * per value. Per-event fields are repeated in each row. Fields of subitems (hits of tracks) are left out with a note.
 * Numbers are written so that they are read back as the same bits. Events with an error have no rows and are counted.
 */
#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SL_ARGS csv_sink_args
#define CSV_SINK(M)                                                \
  M(FILE_OUT, path, "", "", "path of the file; empty: that of -o") \
  M(STRING, output, "", "name of the output of the graph; empty: its only output")
SL_HOST_ARGUMENTS(csv_sink, CSV_SINK);

enum { CELL_BYTES = 64 };

struct csv_sink {
  const struct sl_output_calls *to;
  struct sl_output *file;
  const struct sl_collection *collection;
  uint32_t output; /* index of the output */
  uint32_t has_items, is_list, reserved;
  uint64_t events, rows, events_omitted;
};

/* ----------------------------------------------------------------------------------------------- opening */

static int choose_output(struct csv_sink *c, const struct sl_services *s, const char *name) {
  const struct sl_run *run = s->run;
  char names[1024] = "";
  size_t used = 0;
  for (uint32_t o = 0; o < run->output_count; o++) {
    if (strcmp(run->outputs[o].name, name) == 0 || (!*name && run->output_count == 1)) {
      c->output = o;
      c->collection = run->outputs[o].collection;
      if (c->collection->fields[0].shape != SL_SHAPE_CODE_TOTAL) return SL_OK;
      s->message(s->context, SL_ERROR, "output `%s` has totals of the run and no rows: use --json",
                 run->outputs[o].name);
      return SL_EINVAL;
    }
    if (used < sizeof names)
      used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", o ? ", " : "", run->outputs[o].name);
  }
  if (*name)
    s->message(s->context, SL_ERROR, "the graph has no output `%s`; it has %s", name, names);
  else
    s->message(s->context, SL_ERROR, "a table has one output; choose it with the property `output`: %s", names);
  return SL_EINVAL;
}

static int is_column(const struct csv_sink *c, const struct sl_field *f) {
  return !c->is_list && (f->shape == SL_SHAPE_CODE_PER_EVENT || f->shape == SL_SHAPE_CODE_PER_ITEM);
}

static void note_omitted(const struct csv_sink *c, const struct sl_services *s) {
  char names[512] = "";
  size_t used = 0;
  for (uint32_t f = 0; f < c->collection->field_count && used < sizeof names; f++)
    if (c->collection->fields[f].shape == SL_SHAPE_CODE_PER_SUBITEM)
      used +=
          (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", c->collection->fields[f].name);
  if (used) s->message(s->context, SL_NOTE, "fields of subitems are not in the table: %s", names);
}

static int write_text(struct csv_sink *c, const char *text) { return c->to->add(c->file, text, strlen(text)); }

static int write_header(struct csv_sink *c) {
  int status = write_text(c, c->has_items ? "run,event,index" : "run,event");
  for (uint32_t f = 0; f < c->collection->field_count && status == SL_OK; f++) {
    const struct sl_field *field = &c->collection->fields[f];
    for (uint32_t w = 0; is_column(c, field) && w < field->width && status == SL_OK; w++) {
      char cell[CELL_BYTES + 16];
      if (field->width == 1)
        snprintf(cell, sizeof cell, ",%s", field->name);
      else
        snprintf(cell, sizeof cell, ",%s_%u", field->name, w);
      status = write_text(c, cell);
    }
  }
  return status == SL_OK ? write_text(c, "\n") : status;
}

static int csv_sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct csv_sink_args *args = (const struct csv_sink_args *)args_;
  struct csv_sink *c = (struct csv_sink *)state;
  c->to = s->output;
  int status = choose_output(c, s, args->output);
  if (status < 0) return status;
  c->is_list = strcmp(c->collection->name, sl_event_list_collection.name) == 0;
  for (uint32_t f = 0; f < c->collection->field_count; f++)
    c->has_items |= c->collection->fields[f].shape == SL_SHAPE_CODE_OFFSETS;
  note_omitted(c, s);
  status = c->to->open(s, *args->path ? args->path : output_path, 0, &c->file);
  return status == SL_OK ? write_header(c) : status;
}

/* ----------------------------------------------------------------------------------------------- writing */

static void format_value(char *cell, uint32_t type, const void *values, size_t at) {
  switch (type) {
#define VALUE_(name, c_type, format, wide)                                      \
  case SL_TYPE_##name:                                                          \
    snprintf(cell, CELL_BYTES, "," format, (wide)((const c_type *)values)[at]); \
    break;
    VALUE_(u8, uint8_t, "%" PRIu64, uint64_t)
    VALUE_(i8, int8_t, "%" PRId64, int64_t)
    VALUE_(u16, uint16_t, "%" PRIu64, uint64_t)
    VALUE_(i16, int16_t, "%" PRId64, int64_t)
    VALUE_(u32, uint32_t, "%" PRIu64, uint64_t)
    VALUE_(i32, int32_t, "%" PRId64, int64_t)
    VALUE_(u64, uint64_t, "%" PRIu64, uint64_t)
    VALUE_(i64, int64_t, "%" PRId64, int64_t)
    VALUE_(f32, float, "%.9g", double)
    default:
      VALUE_(f64, double, "%.17g", double)
#undef VALUE_
  }
}

/* Writes the cells of one row: item `item` of the slice, event `e` of the batch. */
static int write_fields(struct csv_sink *c, const struct sl_output_view *view, uint32_t e, uint32_t item) {
  int status = SL_OK;
  for (uint32_t f = 0; f < c->collection->field_count && status == SL_OK; f++) {
    const struct sl_field *field = &c->collection->fields[f];
    const size_t row = field->shape == SL_SHAPE_CODE_PER_EVENT ? e : item;
    for (uint32_t w = 0; is_column(c, field) && w < field->width && status == SL_OK; w++) {
      char cell[CELL_BYTES];
      format_value(cell, field->type, view->fields[f], row * field->width + w);
      status = write_text(c, cell);
    }
  }
  return status;
}

static int write_row(struct csv_sink *c, const struct sl_output_view *view, const struct sl_event *event, uint32_t e,
                     uint32_t item, uint32_t index) {
  char cell[CELL_BYTES];
  if (c->has_items)
    snprintf(cell, sizeof cell, "%" PRIu32 ",%" PRIu64 ",%" PRIu32, event->run, event->number, index);
  else
    snprintf(cell, sizeof cell, "%" PRIu32 ",%" PRIu64, event->run, event->number);
  int status = write_text(c, cell);
  if (status == SL_OK) status = write_fields(c, view, e, item);
  if (status == SL_OK) status = write_text(c, "\n");
  c->rows += status == SL_OK;
  return status;
}

static const uint32_t *offsets_in(const struct sl_output_view *view) {
  for (uint32_t f = 0; f < view->collection->field_count; f++)
    if (view->collection->fields[f].shape == SL_SHAPE_CODE_OFFSETS) return (const uint32_t *)view->fields[f];
  return NULL;
}

static int write_event(struct csv_sink *c, const struct sl_output_view *view, const struct sl_event *event,
                       uint32_t e) {
  if (!c->has_items) return write_row(c, view, event, e, 0, 0);
  const uint32_t *offsets = offsets_in(view);
  int status = SL_OK;
  for (uint32_t i = offsets[e]; i < offsets[e + 1] && status == SL_OK; i++)
    status = write_row(c, view, event, e, i, i - offsets[e]);
  return status;
}

/* Writes the rows of the listed events. Unlisted events have no rows; they are complete with the event before them. */
static int write_list(struct csv_sink *c, const struct sl_output_view *view, const struct sl_batch *batch) {
  const uint32_t count = *(const uint32_t *)view->fields[0], *numbers = (const uint32_t *)view->fields[1];
  int status = SL_OK;
  uint32_t at = 0, marked = 0; /* index among the events that the sink receives, ascending like the list */
  for (uint32_t i = 0; i < count && status == SL_OK; i++) {
    while (at < SL_BATCH_COUNT(batch) && SL_BATCH_EVENT(batch, at) < numbers[i]) at++;
    if (at == SL_BATCH_COUNT(batch) || SL_BATCH_EVENT(batch, at) != numbers[i]) continue;
    status = write_row(c, view, &batch->events[numbers[i]], numbers[i], 0, 0);
    if (status == SL_OK) c->to->mark(c->file, at + 1 - marked);
    marked = at + 1;
  }
  if (status == SL_OK) c->to->mark(c->file, SL_BATCH_COUNT(batch) - marked);
  return status;
}

static int csv_sink_consume(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch) {
  struct csv_sink *c = (struct csv_sink *)state;
  const struct sl_output_view *view = &batch->outputs[c->output];
  (void)s, (void)args;
  SL_FOR_BATCH (e, batch) {
    const int is_omitted = batch->events[e].error != 0;
    c->events_omitted += is_omitted;
    c->events += !is_omitted;
    if (c->is_list) continue;
    const int status = is_omitted ? SL_OK : write_event(c, view, &batch->events[e], e);
    if (status < 0) return status;
    c->to->mark(c->file, 1);
  }
  return c->is_list ? write_list(c, view, batch) : SL_OK;
}

static int csv_sink_flush(void *state, const struct sl_services *s) {
  struct csv_sink *c = (struct csv_sink *)state;
  (void)s;
  return c->to->flush(c->file);
}

static int csv_sink_rotate(void *state, const struct sl_services *s, const void *args) {
  struct csv_sink *c = (struct csv_sink *)state;
  (void)s, (void)args;
  const int status = c->to->rotate(c->file);
  return status == SL_OK ? write_header(c) : status;
}

static int csv_sink_finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  struct csv_sink *c = (struct csv_sink *)state;
  (void)s;
  const int status = c->to->finish(c->file);
  if (status < 0) return status;
  const char *place = c->to->path(c->file);
  report->text(report->context, "path", place);
  report->integer(report->context, "events", (int64_t)c->events);
  report->integer(report->context, "rows", (int64_t)c->rows);
  report->integer(report->context, "events_omitted", (int64_t)c->events_omitted);
  report->line(report->context, "%" PRIu64 " %s of %" PRIu64 " %s: %s", c->rows, sl_plural(c->rows, "row", "rows"),
               c->events, sl_plural(c->events, "event", "events"), place);
  if (c->events_omitted)
    report->line(report->context, "%" PRIu64 " %s an error, and no rows", c->events_omitted,
                 sl_plural(c->events_omitted, "event has", "events have"));
  return SL_OK;
}

static void csv_sink_close(void *state) {
  struct csv_sink *c = (struct csv_sink *)state;
  if (c->file) c->to->close(c->file);
}

static const struct sl_sink csv_sink_functions = {.open = csv_sink_open,
                                                  .consume = csv_sink_consume,
                                                  .finish = csv_sink_finish,
                                                  .close = csv_sink_close,
                                                  .takes_outputs = 1,
                                                  .flush = csv_sink_flush,
                                                  .rotate = csv_sink_rotate};

SL_SINK(csv_sink, "writes an output of the graph as comma-separated values", struct csv_sink, csv_sink_functions);
