/* lh5_array.c: see lh5_array.h.
 *
 * A block is as many rows as a chunk has, or more if chunks are small, so that each chunk is read once. The library
 * reads blocks of unfiltered data. Chunks with shuffle, deflate and Zstandard are read as they are stored, and are
 * undone here: the library lacks Zstandard (32015), and a filter registered with it would belong to the whole process
 * and outlive this plugin; and 1.10.8 reads beyond a chunk that has fewer bytes than it should. Sizes in the file are
 * checked before memory is allocated or read.
 */
#include "lh5_array.h"

#include "failure.h"

#include <sluice/plugin.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum {
  FILTER_ZSTD = 32015,
  BLOCK_BYTES = 256 << 10,
  BLOCK_BYTES_MAX = 64 << 20, /* of blocks that need not be whole chunks */
  CHUNK_BYTES_MAX = 1 << 30
};

int lh5_fail(struct lh5_fault *fault, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(fault->text, sizeof fault->text, format, arguments);
  va_end(arguments);
  return SL_EFORMAT;
}

/* ------------------------------------------------------------------------------------------------- opening */

/* Checks that the values are numbers, and finds their types. */
static int open_type(struct lh5_array *a, const char *path, hid_t memory_type, struct lh5_fault *fault) {
  a->file_type = H5Dget_type(a->data_set);
  const H5T_class_t class = a->file_type < 0 ? H5T_NO_CLASS : H5Tget_class(a->file_type);
  if (class != H5T_INTEGER && class != H5T_FLOAT) return lh5_fail(fault, "`%s` has no numbers", path);
  a->memory_type = memory_type;
  a->file_bytes = H5Tget_size(a->file_type);
  a->memory_bytes = H5Tget_size(memory_type);
  a->is_converted = H5Tequal(a->file_type, memory_type) <= 0;
  if (a->file_bytes == 0 || a->file_bytes > 16)
    return lh5_fail(fault, "`%s` has values of %zu bytes", path, a->file_bytes);
  /* Conversion saturates, which would change samples. */
  if (H5Tequal(memory_type, H5T_NATIVE_UINT16) > 0 &&
      (class != H5T_INTEGER || H5Tget_sign(a->file_type) != H5T_SGN_NONE || a->file_bytes > 2))
    return lh5_fail(fault, "`%s` has %s values of %zu bytes, expected unsigned integers of at most 2 bytes", path,
                    class == H5T_FLOAT                          ? "floating-point"
                    : H5Tget_sign(a->file_type) == H5T_SGN_NONE ? "unsigned"
                                                                : "signed",
                    a->file_bytes);
  return SL_OK;
}

static int open_shape(struct lh5_array *a, const char *path, int rank, struct lh5_fault *fault) {
  hsize_t sizes[2] = {0, 1};
  const hid_t space = H5Dget_space(a->data_set);
  const int found = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  if (found == rank) (void)H5Sget_simple_extent_dims(space, sizes, NULL);
  if (space >= 0) H5Sclose(space);
  if (found != rank) return lh5_fail(fault, "`%s` has %d dimensions, expected %d", path, found, rank);
  a->rows = sizes[0];
  a->width = sizes[1];
  if (a->width == 0 || a->width > CHUNK_BYTES_MAX)
    return lh5_fail(fault, "`%s` has rows of %" PRIu64 " values", path, a->width);
  return SL_OK;
}

static int is_undone_here(int filter) {
  return filter == FILTER_ZSTD || filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE;
}

/* Reads the filters of the data set. All are undone here, or the library has all of them. */
static int open_filters(struct lh5_array *a, const char *path, hid_t list, struct lh5_fault *fault) {
  const int count = H5Pget_nfilters(list);
  int undone = 0;
  if (count < 0 || count > LH5_FILTERS_MAX) return lh5_fail(fault, "`%s` has %d filters", path, count);
  for (int i = 0; i < count; i++) {
    unsigned flags, configuration, values[1] = {0};
    size_t value_count = 1;
    char name[64] = "";
    const int filter =
        H5Pget_filter2(list, (unsigned)i, &flags, &value_count, values, sizeof name, name, &configuration);
    a->filters[i] = filter;
    undone += is_undone_here(filter);
    if (!is_undone_here(filter) && (filter < 0 || H5Zfilter_avail(filter) <= 0))
      return lh5_fail(fault, "`%s` is compressed by filter %d%s%s, which the HDF5 library lacks", path, filter,
                      *name ? ", " : "", name);
    if (filter == H5Z_FILTER_SHUFFLE && value_count > 0 && values[0] != a->file_bytes)
      return lh5_fail(fault, "`%s` is shuffled by %u bytes, but its values have %zu", path, values[0], a->file_bytes);
  }
  for (int i = 0; i < count && undone < count; i++)
    if (a->filters[i] == FILTER_ZSTD)
      return lh5_fail(fault, "`%s` has Zstandard and filters other than shuffle and deflate", path);
  a->filter_count = undone == count ? (uint32_t)count : 0;
  return SL_OK;
}

/* Checks that all values are stored: otherwise a few bytes of a file could claim any number of rows. */
static int check_storage(const struct lh5_array *a, const char *path, const hsize_t chunk[2], int is_chunked,
                         struct lh5_fault *fault) {
  const uint64_t stored = H5Dget_storage_size(a->data_set), width = a->width * a->file_bytes;
  hsize_t found = 0;
  if (!is_chunked && stored / width < a->rows)
    return lh5_fail(fault, "`%s` has %" PRIu64 " rows, but %" PRIu64 " bytes", path, a->rows, stored);
  if (!is_chunked || a->rows == 0) return SL_OK;
  const uint64_t rows = (a->rows - 1) / chunk[0] + 1, expected = rows * ((a->width - 1) / chunk[1] + 1);
  const hid_t space = H5Dget_space(a->data_set);
  const int status = space < 0 ? -1 : H5Dget_num_chunks(a->data_set, space, &found);
  if (space >= 0) H5Sclose(space);
  if (status < 0) return lh5_fail(fault, "`%s`: %s", path, hdf5_reason().text);
  if (rows > UINT32_MAX || found < expected)
    return lh5_fail(fault, "`%s` has %" PRIu64 " of %" PRIu64 " chunks", path, (uint64_t)found, expected);
  return SL_OK;
}

static int open_blocks(struct lh5_array *a, const char *path, int rank, hid_t list, struct lh5_fault *fault) {
  const size_t value_bytes = a->file_bytes > a->memory_bytes ? a->file_bytes : a->memory_bytes;
  const uint64_t row_bytes = a->width * value_bytes, most = BLOCK_BYTES_MAX / row_bytes;
  hsize_t chunk[2] = {1, a->width};
  const int is_chunked = H5Pget_layout(list) == H5D_CHUNKED;
  if (is_chunked && H5Pget_chunk(list, rank, chunk) != rank) return lh5_fail(fault, "`%s` has wrong chunks", path);
  if (chunk[0] == 0 || chunk[1] == 0) return lh5_fail(fault, "`%s` has empty chunks", path);
  const int status = check_storage(a, path, chunk, is_chunked, fault);
  if (status < 0) return status;
  a->chunk_rows = chunk[0] < a->rows ? chunk[0] : a->rows;
  if (a->chunk_rows == 0) a->chunk_rows = 1;
  a->chunk_width = chunk[1];
  a->block_rows = a->chunk_rows;
  while (a->block_rows < a->rows && a->block_rows * row_bytes < BLOCK_BYTES) a->block_rows += a->chunk_rows;
  if (a->filter_count == 0) {
    if (a->block_rows > most) a->block_rows = most ? most : 1;
  } else {
    a->chunk_rows = chunk[0];
    a->block_rows = chunk[0];
    if (chunk[0] > CHUNK_BYTES_MAX / value_bytes / chunk[1] || chunk[0] > CHUNK_BYTES_MAX / row_bytes)
      return lh5_fail(fault, "`%s` has chunks of more than 1 GiB", path);
    a->chunk_bytes = chunk[0] * chunk[1] * a->file_bytes;
    a->chunk = (unsigned char *)malloc(a->chunk_bytes);
    a->other = (unsigned char *)malloc(a->chunk_bytes);
    a->decompressor = ZSTD_createDCtx();
  }
  const uint64_t rows = a->block_rows < a->rows ? a->block_rows : a->rows;
  a->block = (unsigned char *)malloc(rows * row_bytes + 1);
  if (a->block && (a->filter_count == 0 || (a->chunk && a->other && a->decompressor))) return SL_OK;
  (void)lh5_fail(fault, "out of memory");
  return SL_ENOMEM;
}

int lh5_array_open(struct lh5_array *a, hid_t group, const char *path, int rank, hid_t memory_type,
                   struct lh5_fault *fault) {
  *a = (struct lh5_array){.file_type = -1};
  a->data_set = H5Dopen2(group, path, H5P_DEFAULT);
  if (a->data_set < 0) return lh5_fail(fault, "`%s` cannot be opened: %s", path, hdf5_reason().text);
  const hid_t list = H5Dget_create_plist(a->data_set);
  int status = list < 0 ? lh5_fail(fault, "`%s`: %s", path, hdf5_reason().text) : SL_OK;
  if (status == SL_OK) status = open_type(a, path, memory_type, fault);
  if (status == SL_OK) status = open_shape(a, path, rank, fault);
  if (status == SL_OK) status = open_filters(a, path, list, fault);
  if (status == SL_OK) status = open_blocks(a, path, rank, list, fault);
  if (list >= 0) H5Pclose(list);
  return status;
}

void lh5_array_close(struct lh5_array *a) {
  if (a->data_set > 0) H5Dclose(a->data_set);
  if (a->data_set > 0 && a->file_type > 0) H5Tclose(a->file_type);
  free(a->block);
  free(a->stored);
  free(a->chunk);
  free(a->other);
  ZSTD_freeDCtx(a->decompressor);
  *a = (struct lh5_array){0};
}

/* ------------------------------------------------------------------------------------------------- reading */

/* Reads the rows [a->first, a->first + a->count) with the library, which also converts the values. */
static int read_rows(struct lh5_array *a) {
  const hsize_t first[2] = {a->first, 0}, count[2] = {a->count, a->width};
  const hid_t file = H5Dget_space(a->data_set);
  const int rank = file < 0 ? 1 : H5Sget_simple_extent_ndims(file);
  const hid_t memory = H5Screate_simple(rank, count, NULL);
  int status = SL_OK;
  if (file < 0 || memory < 0 || H5Sselect_hyperslab(file, H5S_SELECT_SET, first, NULL, count, NULL) < 0 ||
      H5Dread(a->data_set, a->memory_type, memory, file, H5P_DEFAULT, a->block) < 0)
    status = lh5_fail(&a->fault, "cannot be read: %s", hdf5_reason().text);
  if (memory >= 0) H5Sclose(memory);
  if (file >= 0) H5Sclose(file);
  return status;
}

static void unshuffle(const unsigned char *from, unsigned char *to, uint64_t bytes, size_t value_bytes) {
  const uint64_t count = bytes / value_bytes;
  if (value_bytes == 1) {
    memcpy(to, from, bytes);
    return;
  }
  if (value_bytes == 2) { /* vectorised by compilers */
    for (uint64_t i = 0; i < count; i++) {
      to[2 * i] = from[i];
      to[2 * i + 1] = from[count + i];
    }
    return;
  }
  for (size_t b = 0; b < value_bytes; b++)
    for (uint64_t i = 0; i < count; i++) to[i * value_bytes + b] = from[b * count + i];
}

/* Undoes the filters of the `stored_bytes` bytes of a->stored, except those of the mask; the chunk is in a->chunk. */
static int undo_filters(struct lh5_array *a, uint64_t stored_bytes, uint32_t mask) {
  const unsigned char *from = a->stored;
  uint64_t bytes = stored_bytes;
  for (uint32_t i = a->filter_count; i-- > 0;) {
    if (mask >> i & 1) continue;
    unsigned char *to = from == a->chunk ? a->other : a->chunk;
    if (a->filters[i] == FILTER_ZSTD) {
      bytes = ZSTD_decompressDCtx(a->decompressor, to, a->chunk_bytes, from, bytes);
      if (ZSTD_isError(bytes)) return lh5_fail(&a->fault, "Zstandard: %s", ZSTD_getErrorName(bytes));
    } else if (a->filters[i] == H5Z_FILTER_DEFLATE) {
      uLongf room = a->chunk_bytes;
      const int result = uncompress(to, &room, from, bytes);
      if (result != Z_OK) return lh5_fail(&a->fault, "deflate: %s", zError(result));
      bytes = room;
    } else {
      if (bytes != a->chunk_bytes) break;
      unshuffle(from, to, bytes, a->file_bytes);
    }
    from = to;
  }
  if (bytes != a->chunk_bytes)
    return lh5_fail(&a->fault, "a chunk has %" PRIu64 " bytes, expected %" PRIu64, bytes, a->chunk_bytes);
  if (from == a->other) { /* the last step wrote there */
    a->other = a->chunk;
    a->chunk = (unsigned char *)from;
  } else if (from == a->stored) {
    memcpy(a->chunk, from, bytes);
  }
  return SL_OK;
}

/* Reads the chunk at a position into a->chunk. */
static int read_chunk(struct lh5_array *a, const hsize_t position[2]) {
  hsize_t bytes = 0;
  uint32_t mask = 0;
  if (H5Dget_chunk_storage_size(a->data_set, position, &bytes) < 0)
    return lh5_fail(&a->fault, "cannot be read: %s", hdf5_reason().text);
  if (bytes == 0 || bytes > 2 * a->chunk_bytes + 1024)
    return lh5_fail(&a->fault, "a chunk of %" PRIu64 " bytes is stored in %" PRIu64, a->chunk_bytes, (uint64_t)bytes);
  if (bytes > a->stored_capacity) {
    free(a->stored);
    a->stored = (unsigned char *)malloc(bytes);
    a->stored_capacity = a->stored ? bytes : 0;
    if (!a->stored) return lh5_fail(&a->fault, "out of memory");
  }
  if (H5Dread_chunk(a->data_set, H5P_DEFAULT, position, &mask, a->stored) < 0)
    return lh5_fail(&a->fault, "cannot be read: %s", hdf5_reason().text);
  return undo_filters(a, bytes, mask);
}

/* Reads the rows of one row of chunks, and converts the values. */
static int read_chunks(struct lh5_array *a) {
  const size_t bytes = a->file_bytes;
  for (uint64_t begin = 0; begin < a->width; begin += a->chunk_width) {
    const hsize_t position[2] = {a->first, begin};
    const uint64_t left = a->width - begin, width = left < a->chunk_width ? left : a->chunk_width;
    const int status = read_chunk(a, position);
    if (status < 0) return status;
    if (a->chunk_width == a->width) memcpy(a->block, a->chunk, a->count * a->width * bytes);
    for (uint64_t row = 0; row < a->count && a->chunk_width != a->width; row++)
      memcpy(a->block + (row * a->width + begin) * bytes, a->chunk + row * a->chunk_width * bytes, width * bytes);
  }
  if (a->is_converted && H5Tconvert(a->file_type, a->memory_type, a->count * a->width, a->block, NULL, H5P_DEFAULT) < 0)
    return lh5_fail(&a->fault, "cannot be converted: %s", hdf5_reason().text);
  return SL_OK;
}

/* Reads the block of `rows` rows that contains the row. */
static int read_block(struct lh5_array *a, uint64_t row, uint64_t rows) {
  a->first = row / rows * rows;
  a->count = a->rows - a->first < rows ? a->rows - a->first : rows;
  a->is_damaged = (a->filter_count > 0 ? read_chunks(a) : read_rows(a)) < 0;
  return a->is_damaged;
}

/* If a block cannot be read, its row of chunks is read alone, so that no sound row is lost with a damaged one. */
const void *lh5_array_rows(struct lh5_array *a, uint64_t row, uint64_t *rows, struct lh5_fault *fault) {
  if (row < a->first || row - a->first >= a->count)
    if (read_block(a, row, a->block_rows) && a->chunk_rows < a->block_rows) (void)read_block(a, row, a->chunk_rows);
  if (a->is_damaged) *fault = a->fault;
  *rows = a->first + a->count - row;
  return a->is_damaged ? NULL : a->block + (row - a->first) * a->width * a->memory_bytes;
}
