/* column.h: a data set that grows row by row.
 *
 * Rows are gathered in a buffer of one chunk. A full chunk is written at its place and the buffer is empty again; a
 * flush writes the rows of an unfinished chunk and keeps them, so that the chunk is written whole later. The library
 * therefore never reads a chunk back.
 */
#ifndef HDF5_COLUMN_H
#define HDF5_COLUMN_H

#include <hdf5.h>
#include <stdint.h>

struct column {
  hid_t data_set, type; /* type: of the library's own, not closed */
  uint32_t width;       /* values a row */
  uint32_t row_bytes;
  uint64_t chunk_rows;
  uint64_t first_row; /* of the buffer */
  uint64_t used_rows; /* in the buffer */
  unsigned char *buffer;
};

struct column_description {
  const char *name;
  const char *unit, *doc; /* attributes; no unit if empty */
  uint32_t type;          /* SL_TYPE_... */
  uint32_t width;
};

/* Makes the data set in `group`. 0 or a negative number, then with column_close still to be called. */
int column_open(struct column *c, hid_t group, const struct column_description *d, unsigned compression);
/* `rows` of them, contiguous. */
int column_add(struct column *c, const void *values, uint64_t rows);
/* Puts all rows into the data set; the library may still hold them. */
int column_write(struct column *c);
/* Frees what it holds; rows not written are lost. A zeroed column is closed too. */
void column_close(struct column *c);

/* A text as attribute of a file, group or data set. */
int hdf5_set_text(hid_t object, const char *name, const char *text);
int hdf5_set_u64(hid_t object, const char *name, uint64_t value);
/* Of attributes that are there. */
int hdf5_change_text(hid_t object, const char *name, const char *text);
int hdf5_change_u64(hid_t object, const char *name, uint64_t value);

#endif
