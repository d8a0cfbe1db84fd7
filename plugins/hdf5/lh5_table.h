/* lh5_table.h: tables of waveforms in an LH5 file: finds them, and reads their rows.
 *
 *   /CHANNEL/raw                       group: a table, with an entry for each row in all its members
 *   /CHANNEL/raw/COLUMN/{values,dt,t0}  waveforms, sampling period and time of the first sample
 */
#ifndef HDF5_LH5_TABLE_H
#define HDF5_LH5_TABLE_H

#include "lh5_array.h"

#include <waveforms/event_model.h>

/* Data sets of a table; the first ones are always read. */
enum {
  LH5_DT,
  LH5_T0,
  LH5_NUMBER,
  LH5_RUN,
  LH5_BASELINE,
  LH5_TIMESTAMP,
  LH5_ENERGY,
  LH5_VALUES,
  LH5_ENDS,  /* of encoded values: the end of each row in LH5_CODES */
  LH5_CODES, /* encoded values of all rows */
  LH5_ARRAYS
};
#define LH5_BIT(array) (1u << (array))
#define LH5_TIMES      (LH5_BIT(LH5_DT) | LH5_BIT(LH5_T0))

struct lh5_table {
  char path[WAVEFORMS_TABLE_BYTES + 8]; /* "ch1084803/raw" */
  uint8_t name[WAVEFORMS_TABLE_BYTES];  /* "ch1084803"; the rest is 0 */
  uint32_t channel;                     /* the digits at the end of the name */
  uint32_t samples;                     /* of a waveform */
  uint64_t rows;
  uint32_t present; /* one bit for each array that the table has and that is read */
  uint32_t is_encoded;
  double period_ns, begin_ns; /* of the first row; 0 if there are no rows */
  struct lh5_array arrays[LH5_ARRAYS];
  uint8_t *codes; /* codes of a row that are in several blocks */
};
enum { LH5_SAMPLES_MAX = 1 << 24 };

/* A list of names, or of paths "CHANNEL/raw", in ascending order. */
struct lh5_names {
  char **at;
  uint32_t count;
};
void lh5_names_free(struct lh5_names *names);
/* "a, b", as far as there is room; "none" without a name. */
void lh5_names_text(const struct lh5_names *names, char *text, size_t bytes);
/* Lists the tables of a file with a path CHANNEL/raw that matches the pattern (fnmatch). Returns 0 or SL_ENOMEM. */
int lh5_find_tables(hid_t file, const char *pattern, struct lh5_names *names);
/* Lists the columns of waveforms of a table. */
int lh5_find_columns(hid_t file, const char *table, struct lh5_names *names);

/* Opens the column of the table. `wanted`: one bit for each array to be read; the times are read anyway. Returns 0, or
 * SL_EFORMAT or SL_ENOMEM with the reason; lh5_table_close must be called in both cases. */
int lh5_table_open(struct lh5_table *t, hid_t file, const char *path, const char *column, uint32_t wanted,
                   struct lh5_fault *fault);
void lh5_table_close(struct lh5_table *t);

/* Reads one value of a row into *value: a double or, of LH5_NUMBER and LH5_RUN, an int64_t. 0 if the table has no such
 * array. Returns 0 or SL_EFORMAT. */
int lh5_table_value(struct lh5_table *t, uint32_t array, uint64_t row, void *value, struct lh5_fault *fault);
/* Reads the waveform of a row. */
int lh5_table_waveform(struct lh5_table *t, uint64_t row, uint16_t *values, struct lh5_fault *fault);

#endif
