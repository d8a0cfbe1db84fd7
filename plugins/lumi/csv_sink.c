/* csv_sink.c: lumi.csv_sink, luminosity summaries as a table: a line an event, a column a counter, sorted by run and
 * event number, so that nothing depends on the order in which events came. Rows are kept until the end, 120 bytes each.
 *
 * Columns are the counters that this project fills (counters.h). Those with a scale are in their unit: (value - shift)
 * / scale. What nobody filled, and what did not fit its field, is an empty cell; the number that is all ones is taken
 * for one if the counter may be as large. Without a file to write, means are reported all the same.
 */
#include "lumi/counters.h"
#include "lumi/made_banks.h"

#include <sluice/plugin.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SL_ARGS csv_sink_args
#define CSV_SINK(M)                                                                      \
  M(IN, summaries, luminosity_summary_banks, "", "to be written")                        \
  M(IN, schema, lumi_schema, "", "where counters stand")                                 \
  M(STRING, path, "", "file to write")                                                   \
  M(STRING, schema_path, "", "file for a description of the summaries in JSON, or none") \
  M(BOOL, takes_output, 1, "without a path, write the file given with -o; not beside another sink that does")
SL_HOST_ARGUMENTS(csv_sink, CSV_SINK);

struct counter {
  const char *name;
  uint32_t max;
};
#define ENTRY_(name, max, shift, scale) {#name, max},
static const struct counter counters[LUMI_FILLED] = {LUMI_FILLED_COUNTERS(ENTRY_)};

enum { FIRST_COLUMN = LUMI_encodingKey + 1, COLUMNS = LUMI_FILLED - FIRST_COLUMN };

/* An event's counters, of those in `is_there`. */
struct row {
  uint64_t number;
  uint32_t run, is_full;
  uint64_t place; /* in which it came; keeps the order of equal ones */
  uint32_t is_there;
  uint32_t values[COLUMNS];
};
SL_STATIC_ASSERT(COLUMNS <= 32, "a bit a counter");

struct csv_sink {
  char *path, *schema_path;
  struct row *rows;
  uint64_t count, capacity, full_count;
  struct lumi_schema_view schema; /* constants stay where they are */
};

/* ------------------------------------------------------------------------------------------------- the rows */

/* A counter's bit field: 1, or 0 if it was not filled. */
static int read_counter(const struct lumi_schema_view *s, const uint32_t *words, uint32_t counter, uint32_t *value) {
  const uint32_t mask = UINT32_MAX >> (32 - s->size_bits[counter]);
  *value = words[s->word[counter]] >> s->bit[counter] & mask;
  return *value != mask || (s->scale[counter] == 1.0f && counters[counter].max == mask);
}

static int add_row(struct csv_sink *m, const struct sl_services *s, const struct sl_event *event, const uint32_t *words,
                   uint32_t size_bytes) {
  const uint32_t is_full = words[0] == m->schema.key[LUMI_FULL_SUMMARY];
  if (words[0] != m->schema.key[is_full] || size_bytes != 4 * m->schema.word_count[is_full]) {
    s->message(s->context, SL_ERROR,
               "run %" PRIu32 " event %" PRIu64 ": a summary of %" PRIu32 " bytes with the key 0x%08" PRIx32
               " is not of this schema",
               event->run, event->number, size_bytes, words[0]);
    return SL_EFORMAT;
  }
  if (m->count == m->capacity) {
    const uint64_t capacity = m->capacity ? 2 * m->capacity : 1024;
    struct row *larger = (struct row *)realloc(m->rows, capacity * sizeof *larger);
    if (!larger) return SL_ENOMEM;
    m->rows = larger;
    m->capacity = capacity;
  }
  struct row *row = &m->rows[m->count];
  *row = (struct row){.number = event->number, .run = event->run, .is_full = is_full, .place = m->count++};
  m->full_count += is_full;
  for (uint32_t c = 0; c < COLUMNS; c++)
    if (read_counter(&m->schema, words, FIRST_COLUMN + c, &row->values[c])) row->is_there |= 1u << c;
  return SL_OK;
}

static int compare_rows(const void *a, const void *b) {
  const struct row *x = (const struct row *)a, *y = (const struct row *)b;
  if (x->run != y->run) return x->run < y->run ? -1 : 1;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

/* What a counter counts, or measures. */
static double quantity(const struct csv_sink *m, const struct row *row, uint32_t column) {
  const uint32_t c = FIRST_COLUMN + column;
  return ((double)row->values[column] - (double)m->schema.shift[c]) / (double)m->schema.scale[c];
}

/* ------------------------------------------------------------------------------------------------- the file */

static void write_cell(FILE *file, const struct csv_sink *m, const struct row *row, uint32_t column) {
  putc(',', file);
  if ((row->is_there >> column & 1u) == 0) return;
  if (m->schema.scale[FIRST_COLUMN + column] == 1.0f)
    fprintf(file, "%" PRIu32, row->values[column]);
  else
    fprintf(file, "%.6g", quantity(m, row, column));
}

static void write_table(FILE *file, const struct csv_sink *m) {
  fputs("run,event,full", file);
  for (uint32_t c = 0; c < COLUMNS; c++) fprintf(file, ",%s", counters[FIRST_COLUMN + c].name);
  putc('\n', file);
  for (uint64_t r = 0; r < m->count; r++) {
    fprintf(file, "%" PRIu32 ",%" PRIu64 ",%" PRIu32, m->rows[r].run, m->rows[r].number, m->rows[r].is_full);
    for (uint32_t c = 0; c < COLUMNS; c++) write_cell(file, m, &m->rows[r], c);
    putc('\n', file);
  }
}

static void write_schema(FILE *file, const struct csv_sink *m) { fputs((const char *)m->schema.document, file); }

static int complain(const struct sl_services *s, const char *path, const char *step) {
  s->message(s->context, SL_ERROR, "%s: cannot be %s: %s", path, step, strerror(errno));
  return SL_EIO;
}

/* Writes PATH.part and gives it its name when it is complete. */
static int write_file(const struct csv_sink *m, const struct sl_services *s, const char *path,
                      void (*write)(FILE *, const struct csv_sink *)) {
  char part[4096];
  if ((size_t)snprintf(part, sizeof part, "%s.part", path) >= sizeof part) {
    errno = ENAMETOOLONG;
    return complain(s, path, "opened");
  }
  FILE *file = fopen(part, "w");
  if (!file) return complain(s, part, "opened");
  write(file, m);
  const int failed = ferror(file);
  if (fclose(file) != 0 || failed) return complain(s, part, "written");
  return rename(part, path) == 0 ? SL_OK : complain(s, path, "replaced");
}

/* ------------------------------------------------------------------------------------------------- the sink */

static int csv_sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct csv_sink_args *args = (const struct csv_sink_args *)args_;
  struct csv_sink *m = (struct csv_sink *)state;
  (void)s;
  m->path = strdup(*args->path || !output_path || !args->takes_output ? args->path : output_path);
  m->schema_path = strdup(args->schema_path);
  return m->path && m->schema_path ? SL_OK : SL_ENOMEM;
}

static int csv_sink_consume(void *state, const struct sl_services *s, const void *args_, const struct sl_batch *batch) {
  const struct csv_sink_args *args = (const struct csv_sink_args *)args_;
  const struct luminosity_summary_banks_view *banks = &args->summaries;
  struct csv_sink *m = (struct csv_sink *)state;
  m->schema = args->schema;
  SL_FOR_BATCH (e, batch)
    for (uint32_t i = banks->offsets[e]; i < banks->offsets[e + 1]; i++) {
      const int status = add_row(m, s, &batch->events[e], banks->word + banks->word_offsets[i], banks->size_bytes[i]);
      if (status < 0) return status;
    }
  return SL_OK;
}

static void report_counter(const struct csv_sink *m, const struct sl_report *r, uint32_t column) {
  const char *name = counters[FIRST_COLUMN + column].name;
  uint64_t count = 0;
  double sum = 0, sum_of_squares = 0;
  for (uint64_t i = 0; i < m->count; i++) {
    if ((m->rows[i].is_there >> column & 1u) == 0) continue;
    count++;
    sum += quantity(m, &m->rows[i], column);
  }
  const double mean = count ? sum / (double)count : 0;
  for (uint64_t i = 0; i < m->count; i++)
    if (m->rows[i].is_there >> column & 1u) {
      const double difference = quantity(m, &m->rows[i], column) - mean;
      sum_of_squares += difference * difference;
    }
  const double rms = count ? sqrt(sum_of_squares / (double)count) : 0;
  r->begin_object(r->context, NULL);
  r->text(r->context, "name", name);
  r->integer(r->context, "events", (int64_t)count);
  r->number(r->context, "mean", mean);
  r->number(r->context, "rms", rms);
  r->end_object(r->context);
  if (count && column + FIRST_COLUMN >= LUMI_BXType)
    r->line(r->context, "%-22s mean %10.3f  rms %9.3f  in %" PRIu64 " events", name, mean, rms, count);
}

static int csv_sink_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  struct csv_sink *m = (struct csv_sink *)state;
  if (m->count) qsort(m->rows, m->count, sizeof *m->rows, compare_rows);
  int status = *m->path ? write_file(m, s, m->path, write_table) : SL_OK;
  if (status == SL_OK && *m->schema_path) status = write_file(m, s, m->schema_path, write_schema);
  if (status < 0) return status;
  r->text(r->context, "path", m->path);
  r->integer(r->context, "events", (int64_t)m->count);
  r->integer(r->context, "full", (int64_t)m->full_count);
  r->line(r->context, "luminosity summaries of %" PRIu64 " events, %" PRIu64 " of them full%s%s", m->count,
          m->full_count, *m->path ? ", in " : "", m->path);
  r->begin_array(r->context, "counters");
  for (uint32_t c = 0; c < COLUMNS; c++) report_counter(m, r, c);
  r->end_array(r->context);
  return SL_OK;
}

static void csv_sink_close(void *state) {
  struct csv_sink *m = (struct csv_sink *)state;
  free(m->path);
  free(m->schema_path);
  free(m->rows);
}

static const struct sl_sink csv_sink_functions = {
    .open = csv_sink_open, .consume = csv_sink_consume, .finish = csv_sink_finish, .close = csv_sink_close};

SL_SINK(csv_sink, "luminosity counters as a table, sorted by run and event", struct csv_sink, csv_sink_functions);
