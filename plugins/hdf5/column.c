/* column.c: see column.h. */
#include "column.h"

#include <sluice/plugin.h>

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 128 << 10 };

static hid_t type_of(uint32_t type) {
  switch (type) {
    case SL_TYPE_u8:
      return H5T_NATIVE_UINT8;
    case SL_TYPE_i8:
      return H5T_NATIVE_INT8;
    case SL_TYPE_u16:
      return H5T_NATIVE_UINT16;
    case SL_TYPE_i16:
      return H5T_NATIVE_INT16;
    case SL_TYPE_u32:
      return H5T_NATIVE_UINT32;
    case SL_TYPE_i32:
      return H5T_NATIVE_INT32;
    case SL_TYPE_u64:
      return H5T_NATIVE_UINT64;
    case SL_TYPE_i64:
      return H5T_NATIVE_INT64;
    case SL_TYPE_f32:
      return H5T_NATIVE_FLOAT;
    default:
      return H5T_NATIVE_DOUBLE;
  }
}

/* -------------------------------------------------------------------------------------------- attributes */

/* `count` 0: one value. */
static int set_attribute(hid_t object, const char *name, hid_t type, const void *values, hsize_t count) {
  const hid_t space = count > 0 ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
  const hid_t attribute = space < 0 ? -1 : H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  int status = attribute < 0 || H5Awrite(attribute, type, values) < 0 ? -1 : 0;
  if (attribute >= 0 && H5Aclose(attribute) < 0) status = -1;
  if (space >= 0) H5Sclose(space);
  return status;
}

static int change_attribute(hid_t object, const char *name, hid_t type, const void *value) {
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute < 0) return -1;
  const int failed = H5Awrite(attribute, type, value) < 0;
  return H5Aclose(attribute) < 0 || failed ? -1 : 0;
}

/* Variable length, which h5py reads as str; fixed length would be read as bytes. */
static hid_t text_type(void) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  if (type < 0 || (H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0)) return type;
  H5Tclose(type);
  return -1;
}

int hdf5_set_text(hid_t object, const char *name, const char *text) {
  const hid_t type = text_type();
  const int status = type < 0 ? -1 : set_attribute(object, name, type, &text, 0);
  if (type >= 0) H5Tclose(type);
  return status;
}

int hdf5_set_texts(hid_t object, const char *name, const char *const *texts, uint32_t count) {
  const hid_t type = text_type();
  const int status = type < 0 ? -1 : set_attribute(object, name, type, texts, count);
  if (type >= 0) H5Tclose(type);
  return status;
}

int hdf5_change_text(hid_t object, const char *name, const char *text) {
  const hid_t type = text_type();
  const int status = type < 0 ? -1 : change_attribute(object, name, type, &text);
  if (type >= 0) H5Tclose(type);
  return status;
}

int hdf5_set_u64(hid_t object, const char *name, uint64_t value) {
  return set_attribute(object, name, H5T_NATIVE_UINT64, &value, 0);
}

int hdf5_change_u64(hid_t object, const char *name, uint64_t value) {
  return change_attribute(object, name, H5T_NATIVE_UINT64, &value);
}

/* ---------------------------------------------------------------------------------------------- data sets */

enum { RANK_MAX = 1 + SL_DIMENSIONS_MAX };

/* Extent of `rows` rows of a data set. */
static void set_extent(const struct column *c, uint64_t rows, hsize_t extent[RANK_MAX]) {
  extent[0] = rows;
  for (int i = 1; i < c->rank; i++) extent[i] = c->row[i - 1];
}

/* Chunks, and filters for numbers: shuffle, then deflate. */
static hid_t creation_list(const struct column *c, unsigned compression) {
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  hsize_t chunk[RANK_MAX];
  set_extent(c, c->chunk_rows, chunk);
  if (list < 0 || H5Pset_chunk(list, c->rank, chunk) < 0) return list < 0 ? list : (H5Pclose(list), -1);
  if (compression == 0) return list;
  if ((H5Tget_size(c->type) > 1 && H5Pset_shuffle(list) < 0) || H5Pset_deflate(list, compression) < 0) {
    H5Pclose(list);
    return -1;
  }
  return list;
}

int column_open(struct column *c, hid_t group, const struct column_description *d, unsigned compression) {
  *c = (struct column){.data_set = -1, .type = type_of(d->type), .rank = 1 + (int)d->axis_count};
  c->row_bytes = H5Tget_size(c->type);
  for (uint32_t i = 0; i < d->axis_count; i++) c->row_bytes *= c->row[i] = d->axes[i];
  const uint64_t chunk_bytes = d->chunk_bytes ? d->chunk_bytes : CHUNK_BYTES;
  c->chunk_rows = c->row_bytes < chunk_bytes ? chunk_bytes / c->row_bytes : 1;
  c->buffer = (unsigned char *)malloc(c->chunk_rows * c->row_bytes);
  hsize_t none[RANK_MAX], most[RANK_MAX];
  set_extent(c, 0, none);
  set_extent(c, H5S_UNLIMITED, most);
  const hid_t space = H5Screate_simple(c->rank, none, most), list = creation_list(c, compression);
  if (c->buffer && space >= 0 && list >= 0)
    c->data_set = H5Dcreate2(group, d->name, c->type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  if (list >= 0) H5Pclose(list);
  if (space >= 0) H5Sclose(space);
  if (c->data_set < 0) return -1;
  if (*d->unit && hdf5_set_text(c->data_set, "unit", d->unit) < 0) return -1;
  return hdf5_set_text(c->data_set, "doc", d->doc);
}

static int write_buffer(const struct column *c) {
  const hsize_t first[RANK_MAX] = {c->first_row};
  hsize_t count[RANK_MAX], extent[RANK_MAX];
  set_extent(c, c->used_rows, count);
  set_extent(c, c->first_row + c->used_rows, extent);
  if (H5Dset_extent(c->data_set, extent) < 0) return -1;
  const hid_t file = H5Dget_space(c->data_set), memory = H5Screate_simple(c->rank, count, NULL);
  const int status = file < 0 || memory < 0 ||
                             H5Sselect_hyperslab(file, H5S_SELECT_SET, first, NULL, count, NULL) < 0 ||
                             H5Dwrite(c->data_set, c->type, memory, file, H5P_DEFAULT, c->buffer) < 0
                         ? -1
                         : 0;
  if (memory >= 0) H5Sclose(memory);
  if (file >= 0) H5Sclose(file);
  return status;
}

int column_flush(struct column *c) {
  if (!c->buffer) return 0;
  return (c->used_rows > 0 && write_buffer(c) < 0) || H5Dflush(c->data_set) < 0 ? -1 : 0;
}

int column_add(struct column *c, const void *values, uint64_t rows) {
  const unsigned char *from = (const unsigned char *)values;
  while (rows > 0) {
    const uint64_t room = c->chunk_rows - c->used_rows, count = rows < room ? rows : room;
    memcpy(c->buffer + c->used_rows * c->row_bytes, from, count * c->row_bytes);
    c->used_rows += count;
    from += count * c->row_bytes;
    rows -= count;
    if (c->used_rows < c->chunk_rows) continue;
    if (write_buffer(c) < 0) return -1;
    c->first_row += c->used_rows;
    c->used_rows = 0;
  }
  return 0;
}

int column_release(struct column *c) {
  const int status = c->buffer && c->data_set >= 0 && H5Dclose(c->data_set) < 0 ? -1 : 0;
  c->data_set = -1;
  return status;
}

int column_reopen(struct column *c, hid_t group, const char *name) {
  c->data_set = H5Dopen2(group, name, H5P_DEFAULT);
  return c->data_set < 0 ? -1 : 0;
}

void column_close(struct column *c) {
  (void)column_release(c);
  free(c->buffer);
  *c = (struct column){.data_set = -1};
}
