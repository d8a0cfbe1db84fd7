/* lh5_source.c: hdf5.lh5_source, waveforms of LH5 files: one event for each row of the tables CHANNEL/raw, in ascending
 * order of the tables' names. lh5_table.h describes the files.
 *
 * Memory is planned for one length of waveforms and one sampling period, so each table must have those of the run. They
 * are read from the first file if all its columns of waveforms agree on them; otherwise the graph sets them. A row that
 * cannot be read, or that has another period, is an event with an error, and the run continues.
 */
#define _GNU_SOURCE
#include "failure.h"
#include "lh5_table.h"

#include <sluice/plugin.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SL_ARGS lh5_source_args
#define LH5_SOURCE(M)                                                                                          \
  M(OUT, traces, waveforms_traces, "one waveform for each event", SL_DIMENSIONS(SL_PROPERTY_TERM(samples, 0))) \
  M(INPUT_U32, samples, 8192, 1, LH5_SAMPLES_MAX, "", "number of samples of a waveform")                       \
  M(INPUT_F64, period_ns, 16, 1e-6, 1e12, "ns", "sampling period")                                             \
  M(INPUT_F64, begin_ns, 0, -1e15, 1e15, "ns", "time of the first sample")                                     \
  M(STRING, tables, "*", "pattern of the tables that are read, as in a shell: geds/raw, ch10*")                \
  M(STRING, column, "waveform", "column of waveforms that is read, of each table")                             \
  M(BOOL, strict, 0, "end the run at the first row that cannot be read")
SL_HOST_ARGUMENTS(lh5_source, LH5_SOURCE);

struct lh5_source {
  struct sl_inputs inputs;
  uint32_t file_index, table_index; /* next table of `tables` */
  hid_t file;                       /* positive: open */
  struct lh5_names tables;
  struct lh5_table table; /* present table, if `is_open` */
  uint32_t is_open, wanted;
  uint64_t row;        /* next row of the table */
  uint64_t rows, done; /* of the file */
};

/* Returns the file; or -1 with the reason. */
static hid_t open_file(const char *path, struct lh5_fault *fault) {
  struct stat about;
  hdf5_begin();
  if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
    (void)lh5_fail(fault, "LH5 files are read by name, and this is no regular file");
    return -1;
  }
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) (void)lh5_fail(fault, "%s", hdf5_reason().text);
  return file;
}

/* ------------------------------------------------------------------------------------- recognising, the header */

#define H5_SIGNATURE "\x89HDF\r\n\x1a\n"

static int lh5_probe(const unsigned char *bytes, size_t count) {
  static const char table[] = "table{", waveform[] = "waveform";
  return count >= strlen(H5_SIGNATURE) && memcmp(bytes, H5_SIGNATURE, strlen(H5_SIGNATURE)) == 0 &&
         memmem(bytes, count, table, strlen(table)) && memmem(bytes, count, waveform, strlen(waveform));
}

/* Properties of the waveforms that a run has one value of. */
enum { SAMPLES, PERIOD, BEGIN, PROPERTIES };
struct shape {
  double values[PROPERTIES];
};
static const struct {
  const char *name, *text, *unit;
} properties[PROPERTIES] = {[SAMPLES] = {"samples", "waveforms of", " samples"},
                            [PERIOD] = {"period_ns", "a sampling period of", " ns"},
                            [BEGIN] = {"begin_ns", "a first sample at", " ns"}};

static struct shape shape_of(const struct lh5_table *t) {
  return (struct shape){{[SAMPLES] = t->samples, [PERIOD] = t->period_ns, [BEGIN] = t->begin_ns}};
}

/* The values that all columns of waveforms of a file have. */
struct agreement {
  struct shape first;
  uint32_t count, differs; /* one bit for each property */
  struct lh5_fault fault;  /* of a column that cannot be read */
};

static void compare_columns(struct agreement *all, hid_t file, const char *path) {
  struct lh5_names columns = {0};
  struct lh5_table t;
  struct lh5_fault fault;
  (void)lh5_find_columns(file, path, &columns);
  for (uint32_t i = 0; i < columns.count; i++) {
    if (lh5_table_open(&t, file, path, columns.at[i], 0, &fault) < 0) {
      (void)lh5_fail(&all->fault, "table %s, column %s: %.200s", path, columns.at[i], fault.text);
    } else if (t.rows > 0) {
      const struct shape shape = shape_of(&t);
      if (all->count++ == 0) all->first = shape;
      for (uint32_t p = 0; p < PROPERTIES; p++) all->differs |= (shape.values[p] != all->first.values[p]) << p;
    }
    lh5_table_close(&t);
  }
  lh5_names_free(&columns);
}

static int64_t lh5_header(const char *path, const unsigned char *bytes, size_t count,
                          const struct sl_header_calls *calls) {
  struct agreement all = {.fault = {""}};
  struct lh5_names tables = {0};
  (void)bytes, (void)count;
  const hid_t file = open_file(path, &all.fault);
  if (file >= 0) {
    (void)lh5_find_tables(file, "*", &tables);
    for (uint32_t i = 0; i < tables.count; i++) compare_columns(&all, file, tables.at[i]);
    lh5_names_free(&tables);
    H5Fclose(file);
  }
  if (file < 0 || (all.count == 0 && *all.fault.text)) {
    calls->message(calls->context, SL_ERROR, "cannot read %s: %s", path, all.fault.text);
    return SL_EFORMAT;
  }
  for (uint32_t p = 0; p < PROPERTIES && all.count > 0; p++)
    if (!(all.differs >> p & 1)) calls->set(calls->context, properties[p].name, all.first.values[p]);
  return 0;
}

/* ------------------------------------------------------------------------------------------------ opening */

/* Opens a table and checks that it has the waveforms of the run. */
static int open_table(struct lh5_source *k, const struct sl_services *s, const struct lh5_source_args *a,
                      const char *path) {
  struct lh5_fault fault;
  const char *file = k->inputs.names[k->file_index];
  lh5_table_close(&k->table);
  int status = lh5_table_open(&k->table, k->file, path, a->column, k->wanted, &fault);
  if (status < 0) {
    s->message(s->context, SL_ERROR, "%s: table %s: %s", file, path, fault.text);
    return status;
  }
  const struct shape found = shape_of(&k->table), expected = {{a->samples, a->period_ns, a->begin_ns}};
  for (uint32_t p = 0; p < PROPERTIES; p++) {
    if (found.values[p] == expected.values[p] || (p != SAMPLES && k->table.rows == 0)) continue;
    s->message(s->context, SL_ERROR,
               "%s: table %s has %s %.10g%s, but `%s` of this run is %.10g%s; set it, or `tables`, or read the file in "
               "another run",
               file, path, properties[p].text, found.values[p], properties[p].unit, properties[p].name,
               expected.values[p], properties[p].unit);
    status = SL_EFORMAT;
  }
  return status;
}

static void report_no_table(const struct lh5_source *k, const struct sl_services *s, const char *pattern) {
  char list[256];
  struct lh5_names all = {0};
  (void)lh5_find_tables(k->file, "*", &all);
  lh5_names_text(&all, list, sizeof list);
  s->message(s->context, SL_ERROR, "tables: %s has no table CHANNEL/raw that matches `%s`; its tables: %s",
             k->inputs.names[k->file_index], pattern, list);
  lh5_names_free(&all);
}

static void close_file(struct lh5_source *k) {
  lh5_table_close(&k->table);
  lh5_names_free(&k->tables);
  if (k->file > 0) H5Fclose(k->file);
  k->file = 0;
  k->is_open = 0;
}

/* Opens the file file_index, and checks all its tables before the first event. */
static int open_next(struct lh5_source *k, const struct sl_services *s, const struct lh5_source_args *a) {
  struct lh5_fault fault;
  k->file = open_file(k->inputs.paths[k->file_index], &fault);
  if (k->file < 0) {
    k->file = 0;
    s->message(s->context, SL_ERROR, "cannot read %s: %s", k->inputs.names[k->file_index], fault.text);
    return SL_EIO;
  }
  if (lh5_find_tables(k->file, a->tables, &k->tables) < 0) return SL_ENOMEM;
  if (k->tables.count == 0) {
    report_no_table(k, s, a->tables);
    return SL_EFORMAT;
  }
  k->rows = k->done = k->table_index = 0;
  int status = SL_OK;
  for (uint32_t i = 0; i < k->tables.count; i++) {
    const int opened = open_table(k, s, a, k->tables.at[i]);
    if (opened < 0) status = opened;
    k->rows += k->table.rows;
  }
  return status;
}

/* Fields are opened and read if a node reads them. */
static uint32_t arrays_to_read(const struct waveforms_traces *t) {
  return LH5_BIT(LH5_NUMBER) | LH5_BIT(LH5_RUN) | (t->baseline ? LH5_BIT(LH5_BASELINE) : 0) |
         (t->timestamp ? LH5_BIT(LH5_TIMESTAMP) : 0) | (t->digitiser_energy ? LH5_BIT(LH5_ENERGY) : 0);
}

static int lh5_source_open(void *state, const struct sl_services *s, const void *args, const struct sl_inputs *inputs) {
  struct lh5_source *k = (struct lh5_source *)state;
  hbool_t is_safe = 0;
  if (H5is_library_threadsafe(&is_safe) < 0 || !is_safe) {
    s->message(s->context, SL_ERROR, "the HDF5 library is built without thread safety; sources and sinks need it");
    return SL_EPLUGIN;
  }
  k->inputs = *inputs;
  return inputs->path_count > 0 ? open_next(k, s, (const struct lh5_source_args *)args) : SL_OK;
}

static void lh5_source_close(void *state) {
  hdf5_begin();
  close_file((struct lh5_source *)state);
}

/* ------------------------------------------------------------------------------------------------ reading */

/* Proceeds to the next row: 1, 0 at the end of the input, or an error. */
static int next_row(struct lh5_source *k, const struct sl_services *s, const struct lh5_source_args *a) {
  while (!k->is_open || k->row == k->table.rows) {
    int status = SL_OK;
    if (k->is_open && k->table_index == k->tables.count) {
      close_file(k);
      k->file_index++;
    }
    if (k->file_index == k->inputs.path_count) return 0;
    if (!k->file) status = open_next(k, s, a);
    const uint32_t wanted = arrays_to_read(&a->traces);
    if (status == SL_OK) {
      k->wanted = wanted;
      status = open_table(k, s, a, k->tables.at[k->table_index++]);
    }
    if (status < 0) return status;
    k->is_open = 1;
    k->row = 0;
  }
  return 1;
}

/* Checks that the row has the sampling period of the run. */
static int check_times(struct lh5_table *t, uint64_t row, struct lh5_fault *fault) {
  double period = 0, begin = 0;
  int status = lh5_table_value(t, LH5_DT, row, &period, fault);
  if (status == SL_OK) status = lh5_table_value(t, LH5_T0, row, &begin, fault);
  if (status < 0) return status;
  if (period != t->period_ns)
    return lh5_fail(fault, "it has a sampling period of %.10g ns, expected %.10g ns", period, t->period_ns);
  if (begin != t->begin_ns)
    return lh5_fail(fault, "its first sample is at %.10g ns, expected %.10g ns", begin, t->begin_ns);
  return SL_OK;
}

/* A number that is not finite would reach outputs. */
static double number_of(double value) { return isfinite(value) ? value : 0; }

/* Fills the fields of the event from the present row. */
static int read_row(struct lh5_source *k, const struct waveforms_traces *out, uint32_t event, struct sl_event *about,
                    struct lh5_fault *fault) {
  struct lh5_table *t = &k->table;
  int64_t number = 0, run = 0;
  double baseline = 0, timestamp = 0, energy = 0;
  int status = lh5_table_value(t, LH5_NUMBER, k->row, &number, fault);
  if (status == SL_OK) status = lh5_table_value(t, LH5_RUN, k->row, &run, fault);
  if (status < 0) return status;
  if (t->present & LH5_BIT(LH5_NUMBER) && number >= 0) about->number = (uint64_t)number;
  if (run > 0 && run <= UINT32_MAX) about->run = (uint32_t)run;
  status = check_times(t, k->row, fault);
  if (status == SL_OK) status = lh5_table_value(t, LH5_BASELINE, k->row, &baseline, fault);
  if (status == SL_OK) status = lh5_table_value(t, LH5_TIMESTAMP, k->row, &timestamp, fault);
  if (status == SL_OK) status = lh5_table_value(t, LH5_ENERGY, k->row, &energy, fault);
  if (status < 0) return status;
  if (!(baseline >= 0 && baseline <= UINT16_MAX))
    return lh5_fail(fault, "its baseline is %g ADC, expected 0 to 65535", baseline);
  if (out->baseline) out->baseline[event] = (uint16_t)lrint(baseline);
  if (out->timestamp) out->timestamp[event] = number_of(timestamp);
  if (out->digitiser_energy) out->digitiser_energy[event] = (float)number_of(energy);
  return out->value ? lh5_table_waveform(t, k->row, out->value + (size_t)event * t->samples, fault) : SL_OK;
}

static void clear_row(const struct waveforms_traces *out, uint32_t event, uint32_t samples) {
  if (out->value) memset(out->value + (size_t)event * samples, 0, (size_t)samples * sizeof *out->value);
  if (out->baseline) out->baseline[event] = 0;
  if (out->timestamp) out->timestamp[event] = 0;
  if (out->digitiser_energy) out->digitiser_energy[event] = 0;
}

/* Appends the present row as an event. Returns 0, or SL_ESTRICT. */
static int append(struct lh5_source *k, const struct sl_services *s, const struct lh5_source_args *a,
                  struct sl_fill *fill) {
  const struct waveforms_traces *out = &a->traces;
  const uint32_t e = fill->event_count++;
  struct sl_event *event = &fill->events[e];
  struct lh5_fault fault;
  *event = (struct sl_event){.number = k->row, .offset = k->row, .file = k->file_index};
  if (out->channel) out->channel[e] = k->table.channel;
  if (out->table) memcpy(out->table + (size_t)e * WAVEFORMS_TABLE_BYTES, k->table.name, WAVEFORMS_TABLE_BYTES);
  int status = read_row(k, out, e, event, &fault);
  if (status < 0) {
    clear_row(out, e, k->table.samples);
    event->error = SL_EVENT_CORRUPT;
    s->message(s->context, a->strict ? SL_ERROR : SL_WARNING, "%s: table %s, row %" PRIu64 " (event %" PRIu64 "): %s%s",
               k->inputs.names[k->file_index], k->table.path, k->row, event->number, fault.text,
               a->strict ? "; the run ends here, since the source is strict" : "");
    status = a->strict ? SL_ESTRICT : SL_OK;
  }
  k->row++;
  k->done++;
  return status;
}

static int lh5_source_fill(void *state, const struct sl_services *s, const void *args, struct sl_fill *fill) {
  struct lh5_source *k = (struct lh5_source *)state;
  const struct lh5_source_args *a = (const struct lh5_source_args *)args;
  int more = 1;
  hdf5_begin(); /* the library has settings for each thread */
  while (fill->event_count < fill->events_max) {
    more = next_row(k, s, a);
    const int status = more == 1 ? append(k, s, a, fill) : SL_OK;
    if (status < 0) return status;
    if (more != 1) break;
  }
  fill->progress_done = k->done;
  fill->progress_total = k->inputs.path_count == 1 ? k->rows : 0;
  return more;
}

static const struct sl_source lh5_source_functions = {.open = lh5_source_open,
                                                      .fill = lh5_source_fill,
                                                      .close = lh5_source_close,
                                                      .probe = lh5_probe,
                                                      .header = lh5_header,
                                                      .signature = H5_SIGNATURE};

SL_SOURCE(lh5_source, "waveforms from LH5 files", struct lh5_source, lh5_source_functions);
