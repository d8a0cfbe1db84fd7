/* lh5_table.c: see lh5_table.h. */
#include "lh5_table.h"

#include "failure.h"
#include "lh5_codec.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char codec_name[] = "uleb128_zigzag_diff";

/* ---------------------------------------------------------------------------------------------------- names */

void lh5_names_free(struct lh5_names *names) {
  for (uint32_t i = 0; i < names->count; i++) free(names->at[i]);
  free((void *)names->at);
  *names = (struct lh5_names){0};
}

void lh5_names_text(const struct lh5_names *names, char *text, size_t bytes) {
  size_t used = (size_t)snprintf(text, bytes, "%s", names->count > 0 ? "" : "none");
  for (uint32_t i = 0; i < names->count && used < bytes; i++)
    used += (size_t)snprintf(text + used, bytes - used, "%s%s", i ? ", " : "", names->at[i]);
}

/* Takes the name, which was allocated; NULL: out of memory. */
static int add_name(struct lh5_names *names, char *name) {
  char **at = name ? (char **)realloc((void *)names->at, (names->count + 1) * sizeof *at) : NULL;
  if (!at) {
    free(name);
    return SL_ENOMEM;
  }
  names->at = at;
  at[names->count++] = name;
  return SL_OK;
}

/* Name of a member of a group by its index in ascending order of names, to be freed; NULL if it has none. */
static char *member_name(hid_t group, hsize_t index) {
  const ssize_t bytes = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, index, NULL, 0, H5P_DEFAULT);
  char *name = bytes > 0 ? (char *)malloc((size_t)bytes + 1) : NULL;
  if (name)
    (void)H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, index, name, (size_t)bytes + 1, H5P_DEFAULT);
  return name;
}

static hsize_t member_count(hid_t group) {
  H5G_info_t about;
  return H5Gget_info(group, &about) < 0 ? 0 : about.nlinks;
}

/* Opens the group `name` of `group`; negative if it is none. Links to other files are not followed. */
static hid_t open_group(hid_t group, const char *name) {
  H5L_info_t link;
  if (H5Lexists(group, name, H5P_DEFAULT) <= 0 || H5Lget_info(group, name, &link, H5P_DEFAULT) < 0) return -1;
  return link.type == H5L_TYPE_HARD || link.type == H5L_TYPE_SOFT ? H5Gopen2(group, name, H5P_DEFAULT) : -1;
}

static int has_member(hid_t group, const char *name) { return H5Lexists(group, name, H5P_DEFAULT) > 0; }

int lh5_find_tables(hid_t file, const char *pattern, struct lh5_names *names) {
  int status = SL_OK;
  const hsize_t count = member_count(file);
  for (hsize_t i = 0; i < count && status == SL_OK; i++) {
    char *channel = member_name(file, i);
    const hid_t group = channel ? open_group(file, channel) : -1, table = group < 0 ? -1 : open_group(group, "raw");
    const size_t bytes = channel ? strlen(channel) + sizeof "/raw" : 0;
    char *path = table < 0 ? NULL : (char *)malloc(bytes);
    if (path) snprintf(path, bytes, "%s/raw", channel);
    if (path && fnmatch(pattern, path, 0) != 0)
      free(path);
    else if (table >= 0)
      status = add_name(names, path);
    if (table >= 0) H5Gclose(table);
    if (group >= 0) H5Gclose(group);
    free(channel);
  }
  return status;
}

int lh5_find_columns(hid_t file, const char *path, struct lh5_names *names) {
  int status = SL_OK;
  const hid_t table = H5Gopen2(file, path, H5P_DEFAULT);
  const hsize_t count = table < 0 ? 0 : member_count(table);
  for (hsize_t i = 0; i < count && status == SL_OK; i++) {
    char *name = member_name(table, i);
    const hid_t group = name ? open_group(table, name) : -1;
    if (group >= 0 && has_member(group, "values") && has_member(group, "dt"))
      status = add_name(names, name);
    else
      free(name);
    if (group >= 0) H5Gclose(group);
  }
  if (table >= 0) H5Gclose(table);
  return status;
}

/* -------------------------------------------------------------------------------------------------- opening */

/* Reads a text attribute. Returns 1; 0 if there is none, or if it is no text. */
static int read_text(hid_t object, const char *name, char *text, size_t bytes) {
  *text = '\0';
  if (H5Aexists(object, name) <= 0) return 0;
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = attribute < 0 ? -1 : H5Aget_type(attribute);
  const hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute), memory = H5Tcopy(H5T_C_S1);
  const int is_text = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1;
  if (is_text && H5Tis_variable_str(type) > 0) {
    char *value = NULL;
    H5Tset_size(memory, H5T_VARIABLE);
    H5Tset_cset(memory, H5Tget_cset(type));
    if (H5Aread(attribute, memory, (void *)&value) >= 0 && value) snprintf(text, bytes, "%s", value);
    (void)H5free_memory(value);
  } else if (is_text) {
    H5Tset_size(memory, bytes);
    H5Tset_cset(memory, H5Tget_cset(type));
    if (H5Aread(attribute, memory, text) < 0) *text = '\0';
    text[bytes - 1] = '\0';
  }
  if (memory >= 0) H5Tclose(memory);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  if (attribute >= 0) H5Aclose(attribute);
  return *text != '\0';
}

/* Opens an array of the table; it must have as many rows as the table. */
static int open_array(struct lh5_table *t, uint32_t array, hid_t group, const char *path, int rank, hid_t type,
                      struct lh5_fault *fault) {
  struct lh5_array *a = &t->arrays[array];
  const int status = lh5_array_open(a, group, path, rank, type, fault);
  if (status < 0) return status;
  if (array == LH5_VALUES || array == LH5_ENDS) t->rows = a->rows;
  if (array != LH5_CODES && a->rows != t->rows)
    return lh5_fail(fault, "`%s` has %" PRIu64 " rows, but there are %" PRIu64 " waveforms", path, a->rows, t->rows);
  t->present |= LH5_BIT(array);
  return SL_OK;
}

/* Reads the number of samples of encoded waveforms. */
static int read_decoded_size(struct lh5_table *t, hid_t group, struct lh5_fault *fault) {
  const hid_t data_set = H5Dopen2(group, "decoded_size", H5P_DEFAULT);
  const hid_t space = data_set < 0 ? -1 : H5Dget_space(data_set), type = data_set < 0 ? -1 : H5Dget_type(data_set);
  uint64_t size = 0;
  const int is_number = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 && H5Tget_class(type) == H5T_INTEGER;
  if (!is_number || H5Dread(data_set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &size) < 0) size = 0;
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  if (data_set >= 0) H5Dclose(data_set);
  if (size == 0 || size > LH5_SAMPLES_MAX)
    return lh5_fail(fault, "`decoded_size` is missing, or not in 1 to %d", LH5_SAMPLES_MAX);
  t->samples = (uint32_t)size;
  t->codes = (uint8_t *)malloc((size_t)LH5_CODE_BYTES_MAX * t->samples);
  return t->codes ? SL_OK : SL_ENOMEM;
}

static int open_encoded(struct lh5_table *t, hid_t group, struct lh5_fault *fault) {
  char codec[64];
  if (!read_text(group, "codec", codec, sizeof codec))
    return lh5_fail(fault, "`values` is a group without the attribute `codec`");
  if (strcmp(codec, codec_name) != 0)
    return lh5_fail(fault, "the waveforms have the codec `%s`; only %s can be read", codec, codec_name);
  int status = open_array(t, LH5_ENDS, group, "encoded_data/cumulative_length", 1, H5T_NATIVE_UINT64, fault);
  if (status == SL_OK)
    status = open_array(t, LH5_CODES, group, "encoded_data/flattened_data", 1, H5T_NATIVE_UINT8, fault);
  return status == SL_OK ? read_decoded_size(t, group, fault) : status;
}

/* Opens the values of the waveforms: a data set, or a group if they are encoded. */
static int open_values(struct lh5_table *t, hid_t column, struct lh5_fault *fault) {
  const hid_t group = open_group(column, "values");
  t->is_encoded = group >= 0;
  int status;
  if (t->is_encoded) {
    status = open_encoded(t, group, fault);
    H5Gclose(group);
    return status;
  }
  status = open_array(t, LH5_VALUES, column, "values", 2, H5T_NATIVE_UINT16, fault);
  if (status == SL_OK && t->arrays[LH5_VALUES].width > LH5_SAMPLES_MAX)
    status = lh5_fail(fault, "the waveforms have more than %d samples", LH5_SAMPLES_MAX);
  t->samples = (uint32_t)t->arrays[LH5_VALUES].width;
  return status;
}

/* Times are in ns; a file with another unit is refused. */
static int check_unit(const struct lh5_table *t, uint32_t array, const char *path, struct lh5_fault *fault) {
  char unit[16];
  if (!read_text(t->arrays[array].data_set, "units", unit, sizeof unit) || strcmp(unit, "ns") == 0) return SL_OK;
  return lh5_fail(fault, "`%s` has the unit %s, expected ns", path, unit);
}

static int open_times(struct lh5_table *t, hid_t column, struct lh5_fault *fault) {
  static const char *const names[] = {[LH5_DT] = "dt", [LH5_T0] = "t0"};
  double *const first[] = {[LH5_DT] = &t->period_ns, [LH5_T0] = &t->begin_ns};
  int status = SL_OK;
  for (uint32_t i = LH5_DT; i <= LH5_T0 && status == SL_OK; i++) {
    if (i == LH5_T0 && !has_member(column, names[i])) return SL_OK;
    status = open_array(t, i, column, names[i], 1, H5T_NATIVE_DOUBLE, fault);
    if (status == SL_OK) status = check_unit(t, i, names[i], fault);
    if (status == SL_OK && t->rows > 0) status = lh5_table_value(t, i, 0, first[i], fault);
  }
  return status;
}

/* Opens the arrays beside the waveforms that are read, and that the table has. */
static int open_others(struct lh5_table *t, hid_t table, uint32_t wanted, struct lh5_fault *fault) {
  static const struct {
    uint32_t array;
    const char *name;
  } names[] = {
      {LH5_NUMBER, "eventnumber"}, {LH5_NUMBER, "ievt"},         {LH5_RUN, "runid"},        {LH5_RUN, "run"},
      {LH5_BASELINE, "baseline"},  {LH5_TIMESTAMP, "timestamp"}, {LH5_ENERGY, "daqenergy"}, {LH5_ENERGY, "energy"}};
  int status = SL_OK;
  for (uint32_t i = 0; i < sizeof names / sizeof names[0] && status == SL_OK; i++) {
    const uint32_t bit = LH5_BIT(names[i].array);
    if (!(wanted & bit) || t->present & bit || !has_member(table, names[i].name)) continue;
    const hid_t type = names[i].array == LH5_NUMBER || names[i].array == LH5_RUN ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
    status = open_array(t, names[i].array, table, names[i].name, 1, type, fault);
  }
  return status;
}

/* Names the missing column, and the columns of the table. */
static int fail_without_column(hid_t file, const char *path, const char *column, struct lh5_fault *fault) {
  char list[256];
  struct lh5_names names = {0};
  (void)lh5_find_columns(file, path, &names);
  lh5_names_text(&names, list, sizeof list);
  const int status = lh5_fail(fault, "it has no column `%s`; its columns of waveforms: %s", column, list);
  lh5_names_free(&names);
  return status;
}

static int set_name(struct lh5_table *t, const char *path, struct lh5_fault *fault) {
  const size_t length = strcspn(path, "/");
  if (length > sizeof t->name)
    return lh5_fail(fault, "the name of the table has %zu bytes, expected at most %zu", length, sizeof t->name);
  snprintf(t->path, sizeof t->path, "%s", path);
  memcpy(t->name, path, length);
  size_t digits = length;
  while (digits > 0 && path[digits - 1] >= '0' && path[digits - 1] <= '9') digits--;
  const unsigned long long number = digits < length ? strtoull(path + digits, NULL, 10) : 0;
  t->channel = number > UINT32_MAX ? 0 : (uint32_t)number;
  return SL_OK;
}

int lh5_table_open(struct lh5_table *t, hid_t file, const char *path, const char *column, uint32_t wanted,
                   struct lh5_fault *fault) {
  *t = (struct lh5_table){0};
  int status = set_name(t, path, fault);
  if (status < 0) return status;
  const hid_t table = H5Gopen2(file, path, H5P_DEFAULT), group = table < 0 ? -1 : open_group(table, column);
  if (group < 0) status = fail_without_column(file, path, column, fault);
  if (status == SL_OK) status = open_values(t, group, fault);
  if (status == SL_OK) status = open_times(t, group, fault);
  if (status == SL_OK) status = open_others(t, table, wanted, fault);
  if (group >= 0) H5Gclose(group);
  if (table >= 0) H5Gclose(table);
  return status;
}

void lh5_table_close(struct lh5_table *t) {
  for (uint32_t i = 0; i < LH5_ARRAYS; i++) lh5_array_close(&t->arrays[i]);
  free(t->codes);
  *t = (struct lh5_table){0};
}

/* -------------------------------------------------------------------------------------------------- reading */

int lh5_table_value(struct lh5_table *t, uint32_t array, uint64_t row, void *value, struct lh5_fault *fault) {
  uint64_t rows;
  memset(value, 0, 8);
  if (!(t->present & LH5_BIT(array))) return SL_OK;
  const void *found = lh5_array_rows(&t->arrays[array], row, &rows, fault);
  if (!found) return SL_EFORMAT;
  memcpy(value, found, 8);
  return SL_OK;
}

/* Copies the codes [begin, end), which may be in several blocks. */
static int copy_codes(struct lh5_array *codes, uint64_t begin, uint64_t end, uint8_t *to, struct lh5_fault *fault) {
  while (begin < end) {
    uint64_t count;
    const void *from = lh5_array_rows(codes, begin, &count, fault);
    if (!from) return SL_EFORMAT;
    if (count > end - begin) count = end - begin;
    memcpy(to, from, count);
    to += count;
    begin += count;
  }
  return SL_OK;
}

static int fail_decoding(const struct lh5_table *t, struct lh5_decoded decoded, struct lh5_fault *fault) {
  if (decoded.result == LH5_CODE_SHORT)
    return lh5_fail(fault, "the codes end at sample %u of %u", decoded.sample, t->samples);
  if (decoded.result == LH5_CODE_LONG) return lh5_fail(fault, "codes are left after sample %u", t->samples);
  return lh5_fail(fault, "sample %u is not in 0 to 65535", decoded.sample);
}

static int decode_row(struct lh5_table *t, uint64_t row, uint16_t *values, struct lh5_fault *fault) {
  uint64_t rows, begin = 0, end;
  const void *at = row > 0 ? lh5_array_rows(&t->arrays[LH5_ENDS], row - 1, &rows, fault) : &begin;
  if (!at) return SL_EFORMAT;
  memcpy(&begin, at, sizeof begin);
  at = lh5_array_rows(&t->arrays[LH5_ENDS], row, &rows, fault);
  if (!at) return SL_EFORMAT;
  memcpy(&end, at, sizeof end);
  struct lh5_array *codes = &t->arrays[LH5_CODES];
  if (begin > end || end > codes->rows || end - begin > (uint64_t)LH5_CODE_BYTES_MAX * t->samples)
    return lh5_fail(fault, "its codes are bytes %" PRIu64 " to %" PRIu64 " of %" PRIu64, begin, end, codes->rows);
  const uint8_t *from = t->codes;
  if (end > begin) from = (const uint8_t *)lh5_array_rows(codes, begin, &rows, fault);
  if (end > begin && !from) return SL_EFORMAT;
  if (end > begin && rows < end - begin) {
    if (copy_codes(codes, begin, end, t->codes, fault) < 0) return SL_EFORMAT;
    from = t->codes;
  }
  const struct lh5_decoded decoded = lh5_decode(from, end - begin, values, t->samples);
  return decoded.result == LH5_CODE_OK ? SL_OK : fail_decoding(t, decoded, fault);
}

int lh5_table_waveform(struct lh5_table *t, uint64_t row, uint16_t *values, struct lh5_fault *fault) {
  uint64_t rows;
  if (t->is_encoded) return decode_row(t, row, values, fault);
  const void *found = lh5_array_rows(&t->arrays[LH5_VALUES], row, &rows, fault);
  if (!found) return SL_EFORMAT;
  memcpy(values, found, (size_t)t->samples * sizeof *values);
  return SL_OK;
}
