/* csv_sink.c: lumi.csv_sink writes luminosity summaries as a table: one line per event, one column per counter, in
 * input order.
 *
 * Columns are the counters of a full summary. A cell is empty if a base summary lacks the counter, if the counter was
 * not filled, or if its value did not fit. Counters with a scale are written in their unit, (value - shift) / scale.
 * Means are reported even without a file; they come from exact integer sums and do not depend on the order of events.
 */
#include "lumi/counters.h"
#include "lumi/made_banks.h"

#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SL_ARGS csv_sink_args
#define CSV_SINK(M)                                                                            \
  M(IN, summaries, luminosity_summary_banks, "", "luminosity summaries")                       \
  M(IN, schema, lumi_schema, "", "bit fields of the counters")                                 \
  M(FILE_OUT, path, "", "", "CSV file to write")                                               \
  M(FILE_OUT, schema_path, "", "", "file for a description of the summaries in JSON, or none") \
  M(BOOL, takes_output, 1, "1: without a path, write the file given with -o; set 0 if another sink writes it")
SL_HOST_ARGUMENTS(csv_sink, CSV_SINK);

struct counter {
  const char *name;
  uint32_t max;
};
#define ENTRY_(name, max, shift, scale) {#name, max},
static const struct counter counters[LUMI_COUNTERS] = {LUMI_BASE_COUNTERS(ENTRY_) LUMI_EXTRA_COUNTERS(ENTRY_)};

enum { FIRST_COLUMN = LUMI_encodingKey + 1, COLUMNS = LUMI_COUNTERS - FIRST_COLUMN };

/* A row of the table: counters of an event and flags of the filled ones. */
struct row {
  uint32_t is_full;
  uint32_t values[COLUMNS];
  uint8_t is_there[COLUMNS];
};

__extension__ typedef unsigned __int128 u128;

/* Sums of the values of a counter in the summaries. */
struct sums {
  uint64_t count;
  u128 sum, sum_of_squares;
};

struct csv_sink {
  const struct sl_output_calls *to;
  struct sl_output *table, *schema_file; /* or NULL */
  uint64_t count, full_count;
  struct sums sums[COLUMNS];
  struct lumi_schema_view schema; /* constants do not move */
};

/* ------------------------------------------------------------------------------------------------- the rows */

/* Reads a counter. Returns 0 if all its bits are ones, i.e. it was not filled or did not fit, except for counters of
 * ODIN and of the event cut, which are always filled. */
static int read_counter(const struct lumi_schema_view *s, const uint32_t *words, uint32_t counter, uint32_t *value) {
  const uint32_t mask = UINT32_MAX >> (32 - s->size_bits[counter]);
  *value = words[s->word[counter]] >> s->bit[counter] & mask;
  return *value != mask || (counter < LUMI_VeloTracks && counters[counter].max == mask);
}

static int read_row(struct csv_sink *m, const struct sl_services *s, const struct sl_event *event,
                    const uint32_t *words, uint32_t size_bytes, struct row *row) {
  const uint32_t is_full = words[0] == m->schema.key[LUMI_FULL_SUMMARY];
  if (words[0] != m->schema.key[is_full] || size_bytes != 4 * m->schema.word_count[is_full]) {
    s->message(s->context, SL_ERROR,
               "run %" PRIu32 " event %" PRIu64 ": a summary of %" PRIu32 " bytes with the key 0x%08" PRIx32
               " does not belong to this schema",
               event->run, event->number, size_bytes, words[0]);
    return SL_EFORMAT;
  }
  *row = (struct row){.is_full = is_full};
  const uint32_t columns = (is_full ? (uint32_t)LUMI_COUNTERS : (uint32_t)LUMI_BASE) - FIRST_COLUMN;
  for (uint32_t c = 0; c < columns; c++)
    row->is_there[c] = (uint8_t)read_counter(&m->schema, words, FIRST_COLUMN + c, &row->values[c]);
  return SL_OK;
}

/* The quantity that corresponds to a value in a summary. */
static double quantity(const struct csv_sink *m, uint32_t column, double value) {
  const uint32_t c = FIRST_COLUMN + column;
  return (value - (double)m->schema.shift[c]) / (double)m->schema.scale[c];
}

static void count_row(struct csv_sink *m, const struct row *row) {
  m->count++;
  m->full_count += row->is_full;
  for (uint32_t c = 0; c < COLUMNS; c++) {
    if (!row->is_there[c]) continue;
    m->sums[c].count++;
    m->sums[c].sum += row->values[c];
    m->sums[c].sum_of_squares += (u128)row->values[c] * row->values[c];
  }
}

/* ------------------------------------------------------------------------------------------------- the file */

/* A line of the table with `used` characters. */
struct line {
  char text[64 * (COLUMNS + 1)];
  size_t used;
};

static void add_text(struct line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_text(struct line *l, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(l->text + l->used, sizeof l->text - l->used, format, arguments);
  va_end(arguments);
  if (length > 0 && l->used + (size_t)length < sizeof l->text) l->used += (size_t)length;
}

static int write_heads(struct csv_sink *m) {
  struct line line = {.used = 0};
  add_text(&line, "run,event,full");
  for (uint32_t c = 0; c < COLUMNS; c++) add_text(&line, ",%s", counters[FIRST_COLUMN + c].name);
  add_text(&line, "\n");
  return m->to->add(m->table, line.text, line.used);
}

static int write_row(struct csv_sink *m, const struct sl_event *event, const struct row *row) {
  struct line line = {.used = 0};
  add_text(&line, "%" PRIu32 ",%" PRIu64 ",%" PRIu32, event->run, event->number, row->is_full);
  for (uint32_t c = 0; c < COLUMNS; c++) {
    if (!row->is_there[c])
      add_text(&line, ",");
    else if (m->schema.scale[FIRST_COLUMN + c] == 1.0f)
      add_text(&line, ",%" PRIu32, row->values[c]);
    else
      add_text(&line, ",%.6g", quantity(m, c, (double)row->values[c]));
  }
  add_text(&line, "\n");
  const int status = m->to->add(m->table, line.text, line.used);
  if (status == SL_OK) m->to->mark(m->table, 1);
  return status;
}

/* ------------------------------------------------------------------------------------------------- the sink */

static int csv_sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct csv_sink_args *args = (const struct csv_sink_args *)args_;
  struct csv_sink *m = (struct csv_sink *)state;
  const char *path = *args->path || !output_path || !args->takes_output ? args->path : output_path;
  m->to = s->output;
  int status = *path ? m->to->open(s, path, 0, &m->table) : SL_OK;
  if (status == SL_OK && m->table) status = write_heads(m);
  if (status == SL_OK && *args->schema_path) status = m->to->open(s, args->schema_path, 0, &m->schema_file);
  return status;
}

static int csv_sink_consume(void *state, const struct sl_services *s, const void *args_, const struct sl_batch *batch) {
  const struct csv_sink_args *args = (const struct csv_sink_args *)args_;
  const struct luminosity_summary_banks_view *banks = &args->summaries;
  struct csv_sink *m = (struct csv_sink *)state;
  m->schema = args->schema;
  SL_FOR_BATCH (e, batch)
    for (uint32_t i = banks->offsets[e]; i < banks->offsets[e + 1]; i++) {
      struct row row;
      int status = read_row(m, s, &batch->events[e], banks->word + banks->word_offsets[i], banks->size_bytes[i], &row);
      if (status == SL_OK) count_row(m, &row);
      if (status == SL_OK && m->table) status = write_row(m, &batch->events[e], &row);
      if (status < 0) return status;
    }
  return SL_OK;
}

static int csv_sink_flush(void *state, const struct sl_services *s) {
  struct csv_sink *m = (struct csv_sink *)state;
  (void)s;
  return m->table ? m->to->flush(m->table) : SL_OK;
}

static void report_counter(const struct csv_sink *m, const struct sl_report *r, uint32_t column) {
  const char *name = counters[FIRST_COLUMN + column].name;
  const struct sums *sums = &m->sums[column];
  const double count = (double)sums->count;
  const u128 spread = sums->count * sums->sum_of_squares - sums->sum * sums->sum; /* count squared times variance */
  const double mean = sums->count ? quantity(m, column, (double)sums->sum / count) : 0;
  const double rms =
      sums->count ? sqrt((double)spread) / count / fabs((double)m->schema.scale[FIRST_COLUMN + column]) : 0;
  r->begin_object(r->context, NULL);
  r->text(r->context, "name", name);
  r->integer(r->context, "events", (int64_t)sums->count);
  r->number(r->context, "mean", mean);
  r->number(r->context, "rms", rms);
  r->end_object(r->context);
  if (sums->count && column + FIRST_COLUMN >= LUMI_BXType && column + FIRST_COLUMN < LUMI_BASE)
    r->line(r->context, "%-22s mean %10.3f  rms %9.3f  in %" PRIu64 " %s", name, mean, rms, sums->count,
            sl_plural(sums->count, "event", "events"));
}

/* The description is a constant; it is known after the first slice only. */
static int write_schema(const struct csv_sink *m) {
  const char *document = m->schema.document ? (const char *)m->schema.document : "";
  return m->to->add(m->schema_file, document, strlen(document));
}

/* Each table has its heads, and a description beside it; the means are those of all tables. */
static int csv_sink_rotate(void *state, const struct sl_services *s, const void *args) {
  struct csv_sink *m = (struct csv_sink *)state;
  (void)s, (void)args;
  int status = m->table ? m->to->rotate(m->table) : SL_OK;
  if (status == SL_OK && m->table) status = write_heads(m);
  if (status == SL_OK && m->schema_file) status = write_schema(m);
  if (status == SL_OK && m->schema_file) status = m->to->rotate(m->schema_file);
  return status;
}

static int csv_sink_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  struct csv_sink *m = (struct csv_sink *)state;
  (void)s;
  int status = m->table ? m->to->finish(m->table) : SL_OK;
  if (status == SL_OK && m->schema_file) status = write_schema(m);
  if (status == SL_OK && m->schema_file) status = m->to->finish(m->schema_file);
  if (status < 0) return status;
  const char *place = m->table ? m->to->path(m->table) : "";
  r->text(r->context, "path", place);
  r->integer(r->context, "events", (int64_t)m->count);
  r->integer(r->context, "full", (int64_t)m->full_count);
  r->line(r->context, "luminosity summaries of %" PRIu64 " %s, %" PRIu64 " of them full%s%s", m->count,
          sl_plural(m->count, "event", "events"), m->full_count, *place ? ", in " : "", place);
  r->begin_array(r->context, "counters");
  for (uint32_t c = 0; c < COLUMNS; c++) report_counter(m, r, c);
  r->end_array(r->context);
  return SL_OK;
}

static void csv_sink_close(void *state) {
  struct csv_sink *m = (struct csv_sink *)state;
  if (m->table) m->to->close(m->table);
  if (m->schema_file) m->to->close(m->schema_file);
}

static const struct sl_sink csv_sink_functions = {.open = csv_sink_open,
                                                  .consume = csv_sink_consume,
                                                  .finish = csv_sink_finish,
                                                  .close = csv_sink_close,
                                                  .flush = csv_sink_flush,
                                                  .rotate = csv_sink_rotate};

SL_SINK(csv_sink, "writes luminosity counters as a table, one line per event", struct csv_sink, csv_sink_functions);
