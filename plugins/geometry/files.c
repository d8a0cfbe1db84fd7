/* files.c: reads and writes geometry files. */
#define _POSIX_C_SOURCE 200809L
#include "geometry/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 1 << 24 };

int geometry_is_folder(const char *path) {
  struct stat about;
  return path && *path && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* ---------------------------------------------------------------------------------------------------- errors */

static void fail(struct geometry_file *f, int status, const char *format, va_list arguments) {
  char text[256];
  if (f->status < 0) return;
  vsnprintf(text, sizeof text, format, arguments);
  f->services->message(f->services->context, SL_ERROR, "%s: %s", f->path, text);
  f->status = status;
}

void geometry_fail(struct geometry_file *f, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(f, SL_EFORMAT, format, arguments);
  va_end(arguments);
}

static void fail_to_read(struct geometry_file *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail_to_read(struct geometry_file *f, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(f, SL_EIO, format, arguments);
  va_end(arguments);
}

/* ----------------------------------------------------------------------------------------------------- values */

static size_t size_of(uint32_t type) { return type == SL_TYPE_u64 ? 8 : type == SL_TYPE_u16 ? 2 : 4; }

static double value_of(uint32_t type, const void *values, size_t i) {
  if (type == SL_TYPE_f32) return (double)((const float *)values)[i];
  if (type == SL_TYPE_i32) return ((const int32_t *)values)[i];
  return type == SL_TYPE_u16 ? ((const uint16_t *)values)[i] : ((const uint32_t *)values)[i];
}

/* Reads or writes the next bytes. */
static void transfer(struct geometry_file *f, void *to, size_t bytes, const char *what) {
  if (f->status < 0) return;
  if (f->output) {
    if (bytes > 0) f->status = f->services->output->add(f->output, to, bytes);
  } else if (f->size - f->position < bytes) {
    geometry_fail(f, "ends at byte %zu, within %s, which ends at byte %zu", f->size, what, f->position + bytes);
  } else if (to && f->bytes) {
    memcpy(to, f->bytes + f->position, bytes);
  }
  f->position += bytes;
}

/* Reports value `i` of an array that begins at byte `at`. */
static void refuse_value(struct geometry_file *f, const struct geometry_field *field, size_t at, size_t i, double value,
                         const char *expected) {
  char number[32] = "", range[96];
  if (field->count > 1) snprintf(number, sizeof number, " number %zu", i);
  if (field->type == SL_TYPE_f32)
    snprintf(range, sizeof range, "a number between %g and %g", field->low, field->high);
  else if (field->high == field->low + 1 && field->low > 0)
    snprintf(range, sizeof range, "%.0f or %.0f", field->low, field->high);
  else if (field->low > 0)
    snprintf(range, sizeof range, "%.0f to %.0f", field->low, field->high);
  else
    snprintf(range, sizeof range, "at most %.0f", field->high);
  geometry_fail(
      f, field->type == SL_TYPE_f32 ? "byte %zu: %s%s is %g, expected %s" : "byte %zu: %s%s is %.0f, expected %s",
      at + size_of(field->type) * i, field->what, number, value, expected ? expected : range);
}

/* Checks `values`, which were read from byte `at` on. */
static void check_values(struct geometry_file *f, const struct geometry_field *field, const void *values, size_t at) {
  for (size_t i = 0; i < field->count && f->status == SL_OK; i++) {
    const double value = value_of(field->type, values, i);
    if (!(value >= field->low && value <= field->high))
      refuse_value(f, field, at, i, value, field->type == SL_TYPE_f32 ? NULL : field->expected);
    else if (field->accepts && !field->accepts(value))
      refuse_value(f, field, at, i, value, field->expected);
  }
  for (size_t i = 1; field->is_ascending && i < field->count && f->status == SL_OK; i++) {
    const double before = value_of(field->type, values, i - 1), value = value_of(field->type, values, i);
    if (!(value > before))
      geometry_fail(f, "%s number %zu is %g after %g, expected them to ascend", field->what, i, value, before);
  }
}

static void pass_array(struct geometry_file *f, const struct geometry_field *field, void *values) {
  const size_t at = f->position;
  transfer(f, values, field->count * size_of(field->type), field->what);
  if (!f->output && values && f->status == SL_OK) check_values(f, field, values, at);
}

void geometry_values(struct geometry_file *f, uint32_t type, void *values, size_t count, double low, double high,
                     const char *what) {
  const struct geometry_field field = {.what = what, .type = type, .count = (uint32_t)count, .low = low, .high = high};
  pass_array(f, &field, values);
}

/* An unsigned integer of 4 or 8 bytes. */
static uint64_t pass_integer(struct geometry_file *f, uint32_t type, uint64_t value, const char *what) {
  uint32_t word = (uint32_t)value;
  if (type == SL_TYPE_u64)
    transfer(f, &value, sizeof value, what);
  else
    transfer(f, &word, sizeof word, what);
  return type == SL_TYPE_u64 ? value : word;
}

void geometry_number(struct geometry_file *f, uint32_t type, uint64_t expected, const char *what) {
  const size_t at = f->position;
  const uint64_t found = pass_integer(f, type, expected, what);
  if (found != expected)
    geometry_fail(f, "byte %zu: number of %s is %" PRIu64 ", expected %" PRIu64, at, what, found, expected);
}

void geometry_count(struct geometry_file *f, uint32_t type, uint32_t unit, uint32_t most, const char *what,
                    uint32_t *count) {
  const size_t at = f->position;
  const uint64_t found = pass_integer(f, type, f->output ? (uint64_t)*count * unit : 0, what);
  if (f->status < 0 || f->output) return;
  *count = (uint32_t)(found / unit);
  if (found <= most && found % unit == 0 && (found > 0 || unit == 1)) return;
  if (unit == 1)
    geometry_fail(f, "byte %zu: number of %s is %" PRIu64 ", expected at most %u", at, what, found, most);
  else
    geometry_fail(f, "byte %zu: number of %s is %" PRIu64 ", expected a multiple of %u up to %u", at, what, found, unit,
                  most);
}

/* ---------------------------------------------------------------------------------------------------- layouts */

static void **array_of(const struct geometry_field *field, void *collection) {
  return (void **)(void *)((char *)collection + field->member);
}

void geometry_fields(struct geometry_file *f, const struct geometry_field *fields, size_t count, void *collection) {
  for (size_t i = 0; i < count && f->status == SL_OK; i++) {
    if (fields[i].array)
      pass_array(f, &fields[i], *array_of(&fields[i], collection));
    else
      geometry_number(f, fields[i].type, (uint64_t)fields[i].low, fields[i].what);
  }
}

int geometry_make(const struct geometry_layout *layouts, const struct sl_services *s, const char *port,
                  void *collection) {
  for (; layouts->name; layouts++)
    for (uint32_t i = 0; i < layouts->field_count; i++) {
      const struct geometry_field *field = &layouts->fields[i];
      if (!field->array || *array_of(field, collection)) continue;
      *array_of(field, collection) = s->make_array(s->context, port, field->array, field->count);
      if (!*array_of(field, collection)) return SL_ENOMEM;
    }
  return SL_OK;
}

static void pass(struct geometry_file *f, const struct geometry_layout *layout, void *collection) {
  geometry_fields(f, layout->fields, layout->field_count, collection);
  if (layout->rest && f->status == SL_OK) layout->rest(f, collection);
}

int geometry_write(const struct geometry_layout *layout, const struct sl_services *s, struct sl_output *output,
                   void *collection) {
  struct geometry_file f = {.services = s, .output = output};
  pass(&f, layout, collection);
  return f.status;
}

/* ------------------------------------------------------------------------------------------------------ files */

/* Reads the open file. */
static void read_bytes(struct geometry_file *f, int descriptor, size_t expected) {
  struct stat about;
  const size_t most = expected ? expected : (size_t)FILE_BYTES_MAX;
  const int is_regular = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
  FILE *file = is_regular ? fdopen(descriptor, "rb") : NULL;
  if (!file) {
    fail_to_read(f, "cannot be opened: %s", is_regular ? strerror(errno) : "it is no regular file");
    close(descriptor);
    return;
  }
  f->bytes = (unsigned char *)malloc(most);
  f->size = f->bytes ? fread(f->bytes, 1, most, file) : 0;
  if (!f->bytes)
    f->status = SL_ENOMEM;
  else if (ferror(file))
    fail_to_read(f, "cannot be read: %s", strerror(errno));
  else if (f->size < expected)
    geometry_fail(f, "has %zu bytes, expected %zu", f->size, expected);
  else if (fgetc(file) != EOF)
    geometry_fail(f, "has more than the %zu bytes expected", most);
  fclose(file);
}

/* Size of the file, or 0 if it depends on its content. */
static size_t bytes_of(const struct geometry_layout *layout) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < layout->field_count; i++) bytes += layout->fields[i].count * size_of(layout->fields[i].type);
  return layout->rest ? 0 : bytes;
}

static int read_file(const struct geometry_layout *layout, struct geometry_file *f, const char *folder,
                     void *collection) {
  const int length = snprintf(f->path, sizeof f->path, "%s/%s", folder, layout->name);
  if (length < 0 || (size_t)length >= sizeof f->path) {
    f->services->message(f->services->context, SL_ERROR, "path: longer than %zu characters", sizeof f->path - 1);
    return SL_EINVAL;
  }
  const int descriptor = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* avoids waiting for the writer of a pipe */
  if (descriptor < 0 && errno == ENOENT && layout->if_absent) {
    f->services->message(f->services->context, SL_NOTE, "%s: there is none; %s", f->path, layout->if_absent);
    return SL_OK;
  }
  if (descriptor < 0 && errno == ENOENT)
    fail_to_read(f, "there is no such file");
  else if (descriptor < 0)
    fail_to_read(f, "cannot be opened: %s", strerror(errno));
  else
    read_bytes(f, descriptor, bytes_of(layout));
  pass(f, layout, collection);
  if (f->status == SL_OK && f->position != f->size)
    geometry_fail(f, "has %zu bytes, expected %zu", f->size, f->position);
  free(f->bytes);
  return f->status;
}

int geometry_read(const struct geometry_layout *layouts, const struct sl_services *s, const char *port,
                  const char *folder, void *collection) {
  int status = geometry_make(layouts, s, port, collection);
  for (; layouts->name && status == SL_OK; layouts++) {
    struct geometry_file f = {.services = s, .port = port};
    status = read_file(layouts, &f, folder, collection);
  }
  return status;
}
