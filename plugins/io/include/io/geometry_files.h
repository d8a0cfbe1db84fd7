/* geometry_files.h: LHCb's binary files of detector constants, a folder of them: read by constants, written by sinks.
 *
 * A file is little-endian arrays back to back; each plugin's README has its own. All of a file is read at once; then
 * lengths are compared and values checked, so that what kernels get is finite and within bounds. For host code: static
 * functions, no library. Errors name the file, the byte, what was found and what was expected.
 */
#ifndef IO_GEOMETRY_FILES_H
#define IO_GEOMETRY_FILES_H

#if defined __STRICT_ANSI__ && !defined _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* files, where the compiler keeps to the C standard */
#endif

#include <sluice/plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --------------------------------------------------------------------------------------------------- reading */

/* A file while it is taken apart. */
struct io_geometry_file {
  const struct sl_services *services;
  char path[PATH_MAX];
  unsigned char *bytes;
  size_t size, position;
};

enum { IO_GEOMETRY_BYTES_MAX = 1 << 24 };

static inline int io_geometry_error(const struct io_geometry_file *f, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline int io_geometry_error(const struct io_geometry_file *f, int status, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  f->services->message(f->services->context, SL_ERROR, "%s: %s", f->path, text);
  return status;
}

/* The whole file NAME in FOLDER; `expected` bytes, 0: any number. Returns 1 if it is there, 0 if there is none, or an
 * error. With 1 the caller frees it. */
static inline int io_geometry_read(const struct sl_services *s, const char *folder, const char *name, size_t expected,
                                   struct io_geometry_file *f) {
  struct stat about;
  memset(f, 0, sizeof *f);
  f->services = s;
  const int length = snprintf(f->path, sizeof f->path, "%s/%s", folder, name);
  if (length < 0 || (size_t)length >= sizeof f->path) {
    s->message(s->context, SL_ERROR, "path: longer than %zu characters", sizeof f->path - 1);
    return SL_EINVAL;
  }
  const int descriptor = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* not to wait for the writer of a pipe */
  if (descriptor < 0 && errno == ENOENT) return 0;
  const int is_regular = descriptor >= 0 && fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
  FILE *file = is_regular ? fdopen(descriptor, "rb") : NULL;
  if (file == NULL) {
    const char *reason = descriptor >= 0 && !is_regular ? "it is no regular file" : strerror(errno);
    io_geometry_error(f, SL_EIO, "cannot be opened: %s", reason);
    if (descriptor >= 0) close(descriptor);
    return SL_EIO;
  }
  const size_t most = expected ? expected : (size_t)IO_GEOMETRY_BYTES_MAX;
  int status = 1;
  f->bytes = (unsigned char *)malloc(most);
  f->size = f->bytes ? fread(f->bytes, 1, most, file) : 0;
  if (!f->bytes)
    status = SL_ENOMEM;
  else if (ferror(file))
    status = io_geometry_error(f, SL_EIO, "cannot be read: %s", strerror(errno));
  else if (f->size < expected)
    status = io_geometry_error(f, SL_EFORMAT, "has %zu bytes, expected %zu", f->size, expected);
  else if (fgetc(file) != EOF)
    status = io_geometry_error(f, SL_EFORMAT, "has more than the %zu bytes expected", most);
  fclose(file);
  if (status < 0) free(f->bytes);
  return status;
}

/* The same for a file that has to be there. */
static inline int io_geometry_require(const struct sl_services *s, const char *folder, const char *name,
                                      size_t expected, struct io_geometry_file *f) {
  const int status = io_geometry_read(s, folder, name, expected, f);
  return status == 0 ? io_geometry_error(f, SL_EIO, "there is no such file") : status == 1 ? SL_OK : status;
}

static inline void io_geometry_free(struct io_geometry_file *f) {
  free(f->bytes);
  f->bytes = NULL;
}

/* The next bytes as they are. */
static inline int io_geometry_take(struct io_geometry_file *f, void *to, size_t bytes, const char *what) {
  if (f->size - f->position < bytes)
    return io_geometry_error(f, SL_EFORMAT, "ends at byte %zu, within %s, which ends at byte %zu", f->size, what,
                             f->position + bytes);
  memcpy(to, f->bytes + f->position, bytes);
  f->position += bytes;
  return SL_OK;
}

static inline int io_geometry_expect_(const struct io_geometry_file *f, size_t at, uint64_t found, uint64_t expected,
                                      const char *what) {
  if (found == expected) return SL_OK;
  return io_geometry_error(f, SL_EFORMAT, "byte %zu: number of %s is %llu, expected %llu", at, what,
                           (unsigned long long)found, (unsigned long long)expected);
}

/* A number that has to be `expected`, in 8 bytes, or in 4. */
static inline int io_geometry_length(struct io_geometry_file *f, uint64_t expected, const char *what) {
  uint64_t found = 0;
  const size_t at = f->position;
  const int status = io_geometry_take(f, &found, sizeof found, what);
  return status < 0 ? status : io_geometry_expect_(f, at, found, expected, what);
}
static inline int io_geometry_length_u32(struct io_geometry_file *f, uint32_t expected, const char *what) {
  uint32_t found = 0;
  const size_t at = f->position;
  const int status = io_geometry_take(f, &found, sizeof found, what);
  return status < 0 ? status : io_geometry_expect_(f, at, found, expected, what);
}

/* Numbers of at most `largest` in size. */
static inline int io_geometry_floats(struct io_geometry_file *f, float *values, size_t count, float largest,
                                     const char *what) {
  const size_t at = f->position;
  const int status = io_geometry_take(f, values, count * sizeof *values, what);
  for (size_t i = 0; status == SL_OK && i < count; i++)
    if (!(fabsf(values[i]) <= largest))
      return io_geometry_error(f, SL_EFORMAT, "byte %zu: %s number %zu is %g, expected a number between %g and %g",
                               at + i * sizeof *values, what, i, (double)values[i], (double)-largest, (double)largest);
  return status;
}

/* Integers of at most `largest`. */
static inline int io_geometry_u32s(struct io_geometry_file *f, uint32_t *values, size_t count, uint32_t largest,
                                   const char *what) {
  const size_t at = f->position;
  const int status = io_geometry_take(f, values, count * sizeof *values, what);
  for (size_t i = 0; status == SL_OK && i < count; i++)
    if (values[i] > largest)
      return io_geometry_error(f, SL_EFORMAT, "byte %zu: %s number %zu is %u, expected at most %u",
                               at + i * sizeof *values, what, i, values[i], largest);
  return status;
}
static inline int io_geometry_u16s(struct io_geometry_file *f, uint16_t *values, size_t count, uint32_t largest,
                                   const char *what) {
  const size_t at = f->position;
  const int status = io_geometry_take(f, values, count * sizeof *values, what);
  for (size_t i = 0; status == SL_OK && i < count; i++)
    if (values[i] > largest)
      return io_geometry_error(f, SL_EFORMAT, "byte %zu: %s number %zu is %u, expected at most %u",
                               at + i * sizeof *values, what, i, (unsigned)values[i], largest);
  return status;
}

static inline int io_geometry_ascending(const struct io_geometry_file *f, const float *values, size_t count,
                                        const char *what) {
  for (size_t i = 1; i < count; i++)
    if (!(values[i] > values[i - 1]))
      return io_geometry_error(f, SL_EFORMAT, "%s number %zu is %g after %g, expected them to ascend", what, i,
                               (double)values[i], (double)values[i - 1]);
  return SL_OK;
}

/* Nothing may be left. */
static inline int io_geometry_end(const struct io_geometry_file *f) {
  if (f->position == f->size) return SL_OK;
  return io_geometry_error(f, SL_EFORMAT, "has %zu bytes, expected %zu", f->size, f->position);
}

/* Where the constants of a node come from: a folder of such files, else a description, or the nominal detector. What is
 * not there is no folder: nodes that read none of its files would not notice. */
static inline int io_geometry_is_folder(const char *path) {
  struct stat about;
  return path && *path && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* --------------------------------------------------------------------------------------------------- writing */

enum { IO_GEOMETRY_FILES_MAX = 4 };

/* The state of a sink that writes such files into a folder, once: the first slice that comes is the sign to write. Each
 * gets its name when it is complete. */
struct io_geometry_folder {
  char path[PATH_MAX];
  const char *names[IO_GEOMETRY_FILES_MAX];
  struct sl_output *files[IO_GEOMETRY_FILES_MAX];
  const struct sl_output_calls *to;
  uint32_t count, written;
};

/* For `open`: `path` is the sink's property, `output` what -o says. The names end with NULL. */
static inline int io_geometry_folder_open(struct io_geometry_folder *m, const struct sl_services *s, const char *path,
                                          const char *output, const char *const *names) {
  const char *folder = *path ? path : output;
  if (!folder || !*folder) {
    s->message(s->context, SL_ERROR, "no output folder is given: use -o, or the property path");
    return SL_EINVAL;
  }
  if (strlen(folder) >= sizeof m->path) {
    s->message(s->context, SL_ERROR, "path: longer than %zu characters", sizeof m->path - 1);
    return SL_EINVAL;
  }
  if (strcmp(folder, "-") == 0) {
    s->message(s->context, SL_ERROR, "a geometry is a folder with files, and cannot go to standard output");
    return SL_EINVAL;
  }
  memcpy(m->path, folder, strlen(folder) + 1);
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    s->message(s->context, SL_ERROR, "%s: cannot make this folder: %s", folder, strerror(errno));
    return SL_EIO;
  }
  m->to = s->output;
  for (; m->count < IO_GEOMETRY_FILES_MAX && names[m->count]; m->count++) {
    char file[PATH_MAX + 64];
    m->names[m->count] = names[m->count];
    snprintf(file, sizeof file, "%s/%s", m->path, names[m->count]);
    const int status = m->to->open(s, file, 0, &m->files[m->count]);
    if (status < 0) return status;
  }
  return SL_OK;
}

/* For `consume`: file `which`, whole. Only where io_geometry_folder_is_due says so. */
static inline int io_geometry_folder_write(struct io_geometry_folder *m, uint32_t which, const void *bytes,
                                           size_t size) {
  int status = m->to->add(m->files[which], bytes, size);
  if (status == SL_OK) status = m->to->finish(m->files[which]);
  m->written += status == SL_OK;
  return status;
}
static inline int io_geometry_folder_is_due(const struct io_geometry_folder *m) { return m->written == 0; }

static inline int io_geometry_folder_finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  const struct io_geometry_folder *m = (const struct io_geometry_folder *)state;
  char names[256] = "";
  if (m->written < m->count) {
    s->message(s->context, SL_ERROR, "there was no event, so that nothing was written to %s", m->path);
    return SL_EINVAL;
  }
  for (uint32_t i = 0; i < m->count; i++) {
    const size_t length = strlen(names);
    snprintf(names + length, sizeof names - length, "%s%s",
             i == 0              ? ""
             : i + 1 == m->count ? " and "
                                 : ", ",
             m->names[i]);
  }
  report->text(report->context, "folder", m->path);
  report->line(report->context, "%s written to %s", names, m->path);
  return SL_OK;
}

static inline void io_geometry_folder_close(void *state) {
  const struct io_geometry_folder *m = (const struct io_geometry_folder *)state;
  for (uint32_t i = 0; i < m->count; i++) m->to->close(m->files[i]);
}

/* Bytes of a file on the way: arrays one after the other. */
static inline unsigned char *io_geometry_put(unsigned char *at, const void *from, size_t bytes) {
  memcpy(at, from, bytes);
  return at + bytes;
}
static inline unsigned char *io_geometry_put_length(unsigned char *at, uint64_t length) {
  return io_geometry_put(at, &length, sizeof length);
}
static inline unsigned char *io_geometry_put_u32(unsigned char *at, uint32_t value) {
  return io_geometry_put(at, &value, sizeof value);
}

#endif
