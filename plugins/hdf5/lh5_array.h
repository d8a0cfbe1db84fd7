/* lh5_array.h: reads a data set of an LH5 file row by row. Rows are read in blocks of whole chunks. */
#ifndef HDF5_LH5_ARRAY_H
#define HDF5_LH5_ARRAY_H

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

/* Why a table or a row cannot be read. */
struct lh5_fault {
  char text[320];
};
/* Sets the text; returns SL_EFORMAT. */
int lh5_fail(struct lh5_fault *fault, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum { LH5_FILTERS_MAX = 8 };

struct lh5_array {
  hid_t data_set;
  uint64_t rows, width;            /* width: values of a row */
  hid_t file_type, memory_type;    /* memory_type: predefined by the library, not closed */
  size_t file_bytes, memory_bytes; /* of a value */
  int is_converted;                /* the types differ */
  /* The rows in `block`: [first, first + count). If `is_damaged`, they cannot be read, for the reason `fault`. */
  uint64_t block_rows, first, count;
  unsigned char *block;
  int is_damaged;
  struct lh5_fault fault;
  /* Chunks with filters that are undone here. */
  uint32_t filter_count; /* 0: the library reads the chunks */
  int filters[LH5_FILTERS_MAX];
  uint64_t chunk_rows, chunk_width, chunk_bytes;
  uint64_t stored_capacity;
  unsigned char *stored, *chunk, *other;
  struct ZSTD_DCtx_s *decompressor;
};

/* Opens the data set `path` of `group`, with values of type `memory_type` (a predefined numeric type). `rank` 1: rows
 * of one value; 2: rows of `width` values. Returns 0 or SL_EFORMAT or SL_ENOMEM, with the reason; lh5_array_close must
 * be called in both cases. */
int lh5_array_open(struct lh5_array *a, hid_t group, const char *path, int rank, hid_t memory_type,
                   struct lh5_fault *fault);
/* Returns the values of row `row` and, in *rows, the number of rows from this one on that are contiguous in memory; or
 * NULL with the reason. Valid until the next call. */
const void *lh5_array_rows(struct lh5_array *a, uint64_t row, uint64_t *rows, struct lh5_fault *fault);
/* A zeroed array may be closed. */
void lh5_array_close(struct lh5_array *a);

#endif
