/* column.h: a data set that grows row by row.
 *
 * Rows are collected in a buffer of one chunk. A full chunk is written and the buffer emptied; a flush writes the rows
 * of an unfinished chunk and keeps them, so that the chunk is later written completely. The library never reads a
 * chunk back.
 */
#ifndef HDF5_COLUMN_H
#define HDF5_COLUMN_H

#include <sluice/collections.h>

#include <hdf5.h>
#include <stdint.h>

struct column {
  hid_t data_set, type; /* type: predefined by the library, not closed */
  int rank;             /* of the data set: rows and the axes of a row */
  uint64_t row[SL_DIMENSIONS_MAX];
  uint64_t row_bytes, chunk_rows;
  uint64_t first_row; /* first row of the buffer */
  uint64_t used_rows; /* rows in the buffer */
  unsigned char *buffer;
};

struct column_description {
  const char *name;
  const char *unit, *doc; /* attributes; no unit if empty */
  uint32_t type;          /* SL_TYPE_... */
  uint32_t axis_count;    /* of a row; 0: one value */
  uint32_t axes[SL_DIMENSIONS_MAX];
  uint32_t
      chunk_bytes; /* 0: 128 KiB, small enough for dozens of columns, large enough for compression and fast reading */
};

/* Makes the data set in `group`. Returns 0 or a negative number; column_close must be called in both cases. */
int column_open(struct column *c, hid_t group, const struct column_description *d, unsigned compression);
/* Adds `rows` contiguous rows. */
int column_add(struct column *c, const void *values, uint64_t rows);
/* Writes all rows to the file. Nothing if the column is not open. */
int column_flush(struct column *c);
/* Closes the data set of a column, which keeps the rows that are not written yet. */
int column_release(struct column *c);
/* Opens the data set of a released column again. */
int column_reopen(struct column *c, hid_t group, const char *name);
/* Closes the column; rows that were not written are lost. A zeroed column may be closed. */
void column_close(struct column *c);

/* Creates a text attribute of a file, group or data set. */
int hdf5_set_text(hid_t object, const char *name, const char *text);
/* Creates an attribute with a list of texts; `count` at least 1. */
int hdf5_set_texts(hid_t object, const char *name, const char *const *texts, uint32_t count);
int hdf5_set_u64(hid_t object, const char *name, uint64_t value);
/* Changes an existing text attribute. */
int hdf5_change_text(hid_t object, const char *name, const char *text);
int hdf5_change_u64(hid_t object, const char *name, uint64_t value);

#endif
