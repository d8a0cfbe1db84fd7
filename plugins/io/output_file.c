/* output_file.c: see output_file.h. */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 8 << 20 };

static const char *name_of(const struct output_file *f) { return f->is_renamed ? f->part : f->path; }

static int fail(const struct output_file *f, const struct sl_services *s, const char *step, int error) {
  s->message(s->context, SL_ERROR, "%s: cannot %s: %s", name_of(f), step, strerror(error));
  return SL_EIO;
}

static int is_special(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

int output_file_open(struct output_file *f, const struct sl_services *s, const char *path) {
  *f = (struct output_file){.descriptor = -1};
  if (!path || !*path) {
    s->message(s->context, SL_ERROR, "no output file is given: use -o, or the property path");
    return SL_EINVAL;
  }
  const size_t length = strlen(path);
  f->path = strdup(path);
  f->part = (char *)malloc(length + sizeof ".part");
  f->buffer = (uint8_t *)malloc(BUFFER_BYTES);
  if (!f->path || !f->part || !f->buffer) return SL_ENOMEM;
  memcpy(f->part, path, length);
  memcpy(f->part + length, ".part", sizeof ".part");
  f->capacity = BUFFER_BYTES;
  f->is_renamed = !is_special(path);
  struct stat status;
  if (f->is_renamed && stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
    f->is_renamed = 0; /* the message is about the path itself */
    return fail(f, s, "create it", EISDIR);
  }
  f->descriptor =
      open(name_of(f), f->is_renamed ? O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC : O_WRONLY | O_CLOEXEC, 0666);
  return f->descriptor < 0 ? fail(f, s, f->is_renamed ? "create it" : "open it", errno) : SL_OK;
}

/* 0, or the reason. */
static int write_all(struct output_file *f, const uint8_t *data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t count = write(f->descriptor, data, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : EIO;
    data += count;
    bytes -= (size_t)count;
    f->written_bytes += (uint64_t)count;
  }
  return 0;
}

static void note_whole(struct output_file *f) {
  if (f->marked_bytes > f->written_bytes) return;
  f->whole_bytes = f->marked_bytes;
  f->whole_events = f->marked_events;
}

/* Cuts the file back to whole events; nothing more is written to it. */
static void give_up(struct output_file *f) {
  if (f->is_renamed && f->whole_bytes < f->written_bytes && ftruncate(f->descriptor, (off_t)f->whole_bytes) == 0)
    f->written_bytes = f->whole_bytes;
  close(f->descriptor);
  f->descriptor = -1;
  f->used = 0;
}

static int write_out(struct output_file *f, const struct sl_services *s, const uint8_t *data, size_t bytes) {
  const int error = write_all(f, data, bytes);
  if (error == 0) {
    note_whole(f);
    return SL_OK;
  }
  const uint64_t reached = f->written_bytes;
  give_up(f);
  char rest[64] = "";
  if (f->is_renamed) snprintf(rest, sizeof rest, "; it keeps the first %" PRIu64 " events", f->whole_events);
  s->message(s->context, SL_ERROR, "%s: cannot write after %" PRIu64 " bytes: %s%s", name_of(f), reached,
             strerror(error), rest);
  return SL_EIO;
}

static int flush(struct output_file *f, const struct sl_services *s) {
  const size_t bytes = f->used;
  f->used = 0;
  return write_out(f, s, f->buffer, bytes);
}

int output_file_reserve(struct output_file *f, const struct sl_services *s, size_t bytes, uint8_t **place) {
  if (bytes > output_file_room(f)) {
    const int error = flush(f, s);
    if (error) return error;
  }
  if (bytes > f->capacity) {
    uint8_t *larger = (uint8_t *)realloc(f->buffer, bytes);
    if (!larger) return SL_ENOMEM;
    f->buffer = larger;
    f->capacity = bytes;
  }
  *place = f->buffer + f->used;
  f->used += bytes;
  return SL_OK;
}

int output_file_add(struct output_file *f, const struct sl_services *s, const void *data, size_t bytes) {
  if (bytes > output_file_room(f)) {
    const int error = flush(f, s);
    if (error) return error;
    if (bytes >= f->capacity / 2) return write_out(f, s, (const uint8_t *)data, bytes);
  }
  if (bytes) memcpy(f->buffer + f->used, data, bytes);
  f->used += bytes;
  return SL_OK;
}

void output_file_mark(struct output_file *f, uint64_t events) {
  f->marked_bytes = f->written_bytes + f->used;
  f->marked_events += events;
}

int output_file_finish(struct output_file *f, const struct sl_services *s) {
  int error = flush(f, s);
  if (error) return error;
  /* Before the new name can be seen, the contents are on the disk. Devices and pipes know no such thing. */
  if (f->is_renamed && fsync(f->descriptor) != 0) return fail(f, s, "write it to the disk", errno);
  const int closed = close(f->descriptor);
  f->descriptor = -1;
  if (closed != 0) return fail(f, s, "close it", errno);
  if (!f->is_renamed) return SL_OK;
  if (rename(f->part, f->path) == 0) return SL_OK;
  s->message(s->context, SL_ERROR, "%s: cannot rename it to %s: %s", f->part, f->path, strerror(errno));
  return SL_EIO;
}

void output_file_close(struct output_file *f) {
  if (f->descriptor >= 0) {
    if (f->buffer && write_all(f, f->buffer, f->used) == 0) note_whole(f);
    give_up(f);
  }
  free(f->path);
  free(f->part);
  free(f->buffer);
  *f = (struct output_file){.descriptor = -1};
}
