/* output.c: see output.h. */
#define _GNU_SOURCE
#include "base/output.h"

#include "base/file_access.h"
#include "base/file_identity.h"
#include "base/output_part.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_BYTES = 8 << 20, MESSAGE_BYTES = 1 << 20, MARKS_MAX = 1 << 15, PARTS_MAX = 1000 };

/* The first `bytes` of the file contain its first `events`. */
struct mark {
  uint64_t bytes, events;
};

struct sl_output {
  int descriptor;
  int is_renamed; /* `part` is renamed to `target` at the end */
  int is_by_path;
  int has_failed; /* the error was reported; nothing more is written */
  int has_ended;  /* after finish, keep or a failure */
  sl_output_report *say;
  void *context;
  const char *things;       /* plural noun of the marked units */
  char *path;               /* as given by the caller */
  char *target;             /* `path` with links resolved */
  char *part;               /* temporary path of the target, or NULL */
  const char *current_path; /* path that is being written, finally `path` */
  dev_t device;             /* device and inode of the temporary file */
  ino_t inode;
  uint8_t *buffer;
  size_t used, capacity;
  uint64_t written_bytes; /* passed to the operating system */
  uint64_t earlier_bytes; /* of the files before sl_output_next */
  uint64_t marked_events; /* up to the last mark, which may be in the buffer */
  struct mark complete;   /* the last mark that was written */
  struct mark *marks;     /* marks after `complete`, ascending; NULL with is_by_path */
  uint32_t mark_count;
  const struct sl_output_transport *calls; /* NULL: a file */
  void *transport;
};

static int fail(struct sl_output *f, const char *name, const char *step, int error) {
  f->say(f->context, SL_ERROR, "%s: cannot %s: %s", name, step, strerror(error));
  f->has_failed = 1;
  return SL_EIO;
}

/* --------------------------------------------------------------------------------------------------- opening */

static int refuse(struct sl_output *f, const char *reason) {
  f->say(f->context, SL_ERROR, "%s: cannot create it: %s", f->path, reason);
  return SL_EIO;
}

static void keep_access(struct sl_output *f) {
  if (sl_file_keep_access(f->target, f->descriptor) == SL_OK) return;
  f->say(f->context, SL_WARNING,
         "%s: the new file cannot be given the group of the old one; it has no permissions for its group", f->path);
}

static int make_part(struct sl_output *f, int is_there) {
  f->part = (char *)malloc(PATH_MAX);
  if (!f->part) return SL_ENOMEM;
  const size_t length = sl_output_part_stem(f->target, f->part);
  if (length == 0) return refuse(f, strerror(ENAMETOOLONG));
  for (int i = 1; i <= PARTS_MAX; i++) {
    snprintf(f->part + length, PATH_MAX - length, i == 1 ? ".part" : ".part%d", i);
    f->descriptor = open(f->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, is_there ? 0600 : 0666);
    if (f->descriptor >= 0) break;
    if (errno != EEXIST) return refuse(f, strerror(errno));
    const long writer = sl_output_writer(f->part);
    if (writer == 0) continue;
    f->say(f->context, SL_ERROR, "%s: process %ld is writing it, as %s", f->path, writer, f->part);
    return SL_EIO;
  }
  if (f->descriptor < 0) return refuse(f, "there are too many unfinished files (.part) in its folder");
  struct stat status;
  if (fstat(f->descriptor, &status) != 0) return refuse(f, strerror(errno));
  sl_output_lock(f->descriptor);
  f->device = status.st_dev;
  f->inode = status.st_ino;
  f->is_renamed = 1;
  f->current_path = f->part;
  if (is_there) keep_access(f);
  return SL_OK;
}

enum { READER_TRY_MS = 10, READER_SILENT_TRIES = 100 };

/* Opening a pipe would block silently until it has a reader; therefore opening is retried. A note is reported only
 * after a second, because pipe and reader may be started at the same time. */
static int open_pipe(struct sl_output *f, const atomic_int *stop) {
  const struct timespec pause = {0, READER_TRY_MS * 1000000};
  for (int try = 0; f->descriptor < 0; try++) {
    f->descriptor = open(f->path, O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (f->descriptor >= 0 || errno != ENXIO) break;
    if (try == READER_SILENT_TRIES)
      f->say(f->context, SL_NOTE, "%s: this pipe has no reader; waiting for one", f->path);
    nanosleep(&pause, NULL);
    if (!stop || !atomic_load(stop)) continue;
    f->say(f->context, SL_WARNING, "%s: the run was stopped before a reader opened the pipe", f->path);
    return SL_EINTERRUPTED;
  }
  const int flags = f->descriptor < 0 ? -1 : fcntl(f->descriptor, F_GETFL);
  return flags < 0 || fcntl(f->descriptor, F_SETFL, flags & ~O_NONBLOCK) < 0 ? fail(f, f->path, "open it", errno)
                                                                             : SL_OK;
}

static int open_special(struct sl_output *f, uint32_t flags, int is_pipe, const atomic_int *stop) {
  const int wait = flags & SL_OUTPUT_NO_WAIT ? O_NONBLOCK : 0;
  struct stat status;
  if (is_pipe && !wait) {
    const int opened = open_pipe(f, stop);
    if (opened < 0) return opened;
  } else {
    f->descriptor = open(f->path, O_WRONLY | O_NOCTTY | O_CLOEXEC | wait);
  }
  if (f->descriptor < 0 && errno == ENXIO && wait) return fail(f, f->path, "open it", EPIPE);
  if (f->descriptor < 0 || fstat(f->descriptor, &status) != 0) return fail(f, f->path, "open it", errno);
  return S_ISREG(status.st_mode) ? fail(f, f->path, "open it", EEXIST) : SL_OK; /* it was replaced by a regular file
                                                                                 * meanwhile */
}

static int open_stdout(struct sl_output *f) {
  f->descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  return f->descriptor < 0 ? fail(f, "standard output", "open it", errno) : SL_OK;
}

static int open_target(struct sl_output *f, uint32_t flags, const atomic_int *stop) {
  struct stat status;
  char reason[PATH_MAX + 128], followed[PATH_MAX];
  const int is_there = stat(f->path, &status) == 0;
  if (f->is_by_path &&
      (sl_file_is_stdout(f->path) || (is_there && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))) {
    f->say(f->context, SL_ERROR, "%s: not a regular file; this sink can write only regular files", f->path);
    return SL_EINVAL;
  }
  if (sl_file_is_stdout(f->path)) return open_stdout(f);
  if (sl_file_may_be_written(f->path, reason, sizeof reason) < 0) return refuse(f, reason);
  if (is_there && !S_ISREG(status.st_mode)) return open_special(f, flags, S_ISFIFO(status.st_mode), stop);
  const char *target = sl_output_target(f->path, followed);
  if (!target) return refuse(f, strerror(errno));
  f->target = strdup(target);
  return f->target ? make_part(f, is_there) : SL_ENOMEM;
}

int sl_output_open(const char *path, uint32_t flags, sl_output_report *say, void *context, struct sl_output **file) {
  return sl_output_open_unless(NULL, path, flags, say, context, file);
}

/* Allocates an output with a buffer of `capacity` bytes; NULL if out of memory. */
static struct sl_output *make_output(const char *path, size_t capacity, sl_output_report *say, void *context) {
  struct sl_output *f = (struct sl_output *)calloc(1, sizeof *f);
  if (!f) return NULL;
  f->descriptor = -1;
  f->say = say;
  f->context = context;
  f->things = "events";
  f->path = strdup(path);
  f->capacity = capacity;
  f->buffer = f->capacity ? (uint8_t *)malloc(f->capacity) : NULL;
  f->marks = f->capacity ? (struct mark *)malloc(MARKS_MAX * sizeof *f->marks) : NULL;
  f->current_path = f->path;
  if (f->path && ((f->buffer && f->marks) || !f->capacity)) return f;
  sl_output_close(f);
  return NULL;
}

int sl_output_open_unless(const atomic_int *stop, const char *path, uint32_t flags, sl_output_report *say,
                          void *context, struct sl_output **file) {
  *file = NULL;
  if (!path || !*path) {
    say(context, SL_ERROR, "no output file is given: use -o, or the property path");
    return SL_EINVAL;
  }
  const int is_by_path = (flags & SL_OUTPUT_BY_PATH) != 0;
  struct sl_output *f = make_output(path, is_by_path ? 0 : BUFFER_BYTES, say, context);
  if (!f) return SL_ENOMEM;
  f->is_by_path = is_by_path;
  const int status = open_target(f, flags, stop);
  if (status == SL_OK)
    *file = f;
  else
    sl_output_close(f);
  return status;
}

int sl_output_open_over(const struct sl_output_transport *calls, void *transport, const char *name,
                        sl_output_report *say, void *context, struct sl_output **file) {
  *file = make_output(name, MESSAGE_BYTES, say, context);
  if (!*file) return SL_ENOMEM;
  (*file)->calls = calls;
  (*file)->transport = transport;
  return SL_OK;
}

void *sl_output_context(const struct sl_output *f) { return f->context; }

const char *sl_output_path(const struct sl_output *f) { return f->current_path; }

int sl_output_is_file(const struct sl_output *f) { return f->is_renamed; }

uint64_t sl_output_file_bytes(const struct sl_output *f) {
  struct stat status;
  if (!f->is_by_path) return f->written_bytes + f->used;
  return stat(f->current_path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

uint64_t sl_output_bytes(const struct sl_output *f) { return f->earlier_bytes + sl_output_file_bytes(f); }

/* --------------------------------------------------------------------------------------------------- writing */

/* Returns 0 or an errno. */
static int write_all(struct sl_output *f, const uint8_t *data, size_t bytes) {
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

/* Moves the marks that were written to `complete`. */
static void update_complete(struct sl_output *f) {
  uint32_t count = 0;
  while (count < f->mark_count && f->marks[count].bytes <= f->written_bytes) count++;
  if (count == 0) return;
  f->complete = f->marks[count - 1];
  f->mark_count -= count;
  memmove(f->marks, f->marks + count, f->mark_count * sizeof *f->marks);
}

static int close_descriptor(struct sl_output *f) {
  const int error = f->descriptor >= 0 && close(f->descriptor) != 0 && errno != EINTR ? errno : 0;
  f->descriptor = -1;
  f->used = 0;
  f->has_ended = 1;
  return error;
}

/* Truncates the file after its last whole event, or removes it. `rest` gets the result, as the end of a message. */
static void end_early(struct sl_output *f, char *rest, size_t bytes) {
  *rest = '\0';
  int error = 0;
  if (f->is_renamed && f->complete.events == 0) {
    (void)unlink(f->part);
    snprintf(rest, bytes, "; the file was removed");
  } else if (f->is_renamed) {
    if (!f->is_by_path && f->complete.bytes < f->written_bytes &&
        ftruncate(f->descriptor, (off_t)f->complete.bytes) != 0)
      error = errno;
    if (!error && fsync(f->descriptor) != 0) error = errno;
    f->written_bytes = error ? f->written_bytes : f->complete.bytes;
    if (error)
      snprintf(rest, bytes, "; its first %" PRIu64 " %s were written, but may not be on the disk: %s",
               f->complete.events, f->things, strerror(error));
    else
      snprintf(rest, bytes, "; it keeps the first %" PRIu64 " %s", f->complete.events, f->things);
  }
  (void)close_descriptor(f);
}

static int fail_after(struct sl_output *f, const char *step, const char *reason) {
  char rest[160];
  const char *name = f->current_path;
  f->has_failed = 1;
  end_early(f, rest, sizeof rest);
  f->say(f->context, SL_ERROR, "%s: cannot %s: %s%s", name, step, reason, rest);
  return SL_EIO;
}

int sl_output_fail(struct sl_output *f, const char *step, const char *reason) {
  return f->has_ended ? SL_EIO : fail_after(f, step, reason);
}

static int write_out(struct sl_output *f, const uint8_t *data, size_t bytes) {
  if (f->has_ended) return SL_EIO;
  const int error = write_all(f, data, bytes);
  update_complete(f);
  if (error == 0) return SL_OK;
  char step[64];
  snprintf(step, sizeof step, "write after %" PRIu64 " bytes", f->written_bytes);
  return fail_after(f, step, strerror(error));
}

/* Sends `bytes` of the buffer, and moves the rest to its beginning. */
static int send_out(struct sl_output *f, size_t bytes) {
  if (f->has_ended) return SL_EIO;
  if (bytes == 0) return SL_OK;
  const int status = f->calls->send(f->transport, f->buffer, bytes, f->marked_events - f->complete.events);
  if (status < 0) {
    f->has_failed = status != SL_ENOMEM;
    f->has_ended = 1;
    return status;
  }
  f->written_bytes += bytes;
  f->used -= bytes;
  memmove(f->buffer, f->buffer + bytes, f->used);
  update_complete(f);
  return SL_OK;
}

/* Bytes of the buffer up to the last mark. */
static size_t whole_bytes(const struct sl_output *f) {
  return f->mark_count > 0 ? (size_t)(f->marks[f->mark_count - 1].bytes - f->written_bytes) : 0;
}

int sl_output_flush(struct sl_output *f) {
  if (f->calls) return send_out(f, whole_bytes(f));
  const size_t bytes = f->used;
  f->used = 0;
  return write_out(f, f->buffer, bytes);
}

/* Returns 0 if the list of marks is full: the next call then flushes, which empties the list. */
uint64_t sl_output_room(const struct sl_output *f) { return f->mark_count < MARKS_MAX ? f->capacity - f->used : 0; }

int sl_output_reserve(struct sl_output *f, uint64_t bytes, void **memory) {
  if (f->has_ended) return SL_EIO;
  if (bytes > sl_output_room(f)) {
    const int error = sl_output_flush(f);
    if (error) return error;
  }
  if (bytes > f->capacity - f->used) { /* after a flush, a transport may keep the begin of an event */
    uint8_t *larger = (uint8_t *)realloc(f->buffer, f->used + bytes);
    if (!larger) return SL_ENOMEM;
    f->buffer = larger;
    f->capacity = f->used + bytes;
  }
  *memory = f->buffer + f->used;
  f->used += bytes;
  return SL_OK;
}

void sl_output_trim(struct sl_output *f, uint64_t bytes) { f->used -= bytes < f->used ? bytes : f->used; }

int sl_output_add(struct sl_output *f, const void *data, uint64_t bytes) {
  void *memory;
  if (f->has_ended) return SL_EIO;
  if (bytes > sl_output_room(f) && bytes >= f->capacity / 2 && !f->calls) {
    const int error = sl_output_flush(f);
    return error ? error : write_out(f, (const uint8_t *)data, bytes);
  }
  const int error = sl_output_reserve(f, bytes, &memory);
  if (!error && bytes) memcpy(memory, data, bytes);
  return error;
}

void sl_output_counts(struct sl_output *f, const char *things) { f->things = things; }

int sl_output_print(struct sl_output *f, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length >= 0 && (size_t)length < sizeof text) return sl_output_add(f, text, (uint64_t)length);
  void *memory;
  int status = length < 0 ? SL_EINVAL : sl_output_reserve(f, (uint64_t)length + 1, &memory);
  if (status != SL_OK) return status;
  va_start(arguments, format);
  vsnprintf((char *)memory, (size_t)length + 1, format, arguments);
  va_end(arguments);
  sl_output_trim(f, 1); /* without the terminating zero */
  return SL_OK;
}

void sl_output_mark(struct sl_output *f, uint64_t events) {
  f->marked_events += events;
  const struct mark mark = {f->written_bytes + f->used, f->marked_events};
  if (f->is_by_path) f->complete = mark;
  if (f->is_by_path || f->has_ended) return;
  const int is_further = f->mark_count == 0 || f->marks[f->mark_count - 1].bytes < mark.bytes;
  f->mark_count += (uint32_t)is_further;
  f->marks[f->mark_count - 1] = mark;
}

/* --------------------------------------------------------------------------------------------------- the end */

/* Makes the new name survive a loss of power. Some file systems do not support this. */
static int sync_folder(const char *target) {
  char folder[PATH_MAX];
  if (!sl_file_split(target, folder)) return ENAMETOOLONG;
  const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno == EACCES ? 0 : errno; /* a folder may be writable but not readable */
  const int error = fsync(descriptor) != 0 && errno != EINVAL ? errno : 0;
  close(descriptor);
  return error;
}

/* Returns 1 if the temporary path still leads to the file that was written. */
static int is_own(const struct sl_output_complete *file) {
  struct stat status;
  return lstat(file->part, &status) == 0 && status.st_dev == file->device && status.st_ino == file->inode;
}

int sl_output_publish(const struct sl_output_complete *file, sl_output_report *say, void *context) {
  if (!is_own(file)) {
    say(context, SL_ERROR, "%s: cannot rename it: %s", file->part, strerror(ESTALE));
    return SL_EIO;
  }
  if (rename(file->part, file->target) != 0) {
    say(context, SL_ERROR, "%s: cannot rename it to %s: %s", file->part, file->target, strerror(errno));
    return SL_EIO;
  }
  const int error = sync_folder(file->target);
  if (!error) return SL_OK;
  say(context, SL_ERROR, "%s: cannot write its folder to the disk: %s", file->target, strerror(error));
  return SL_EIO;
}

void sl_output_complete_free(struct sl_output_complete *file) {
  free(file->part);
  free(file->target);
  *file = (struct sl_output_complete){0};
}

static int settle(struct sl_output *f) {
  int status = f->calls ? send_out(f, f->used) : sl_output_flush(f);
  if (status == SL_OK && f->calls) status = f->calls->finish(f->transport);
  if (status != SL_OK) return status;
  /* The contents must be on disk before the file gets its final name. Devices and pipes cannot be synchronised. */
  if (f->is_renamed && fsync(f->descriptor) != 0) return fail_after(f, "write it to the disk", strerror(errno));
  const int error = close_descriptor(f);
  return error ? fail(f, f->current_path, "close it", error) : SL_OK;
}

int sl_output_finish_to(struct sl_output *f, struct sl_output_complete *complete) {
  if (f->has_ended) return f->has_failed ? SL_EIO : SL_OK;
  int status = settle(f);
  if (status != SL_OK || !f->is_renamed) return status;
  const struct sl_output_complete file = {f->part, f->target, f->device, f->inode};
  if (!complete) {
    status = sl_output_publish(&file, f->say, f->context);
    f->has_failed = status != SL_OK;
  } else {
    *complete = file;
    f->part = f->target = NULL;
  }
  if (status == SL_OK) f->current_path = f->path;
  return status;
}

int sl_output_finish(struct sl_output *f) { return sl_output_finish_to(f, NULL); }

int sl_output_next(struct sl_output *f, const char *path, struct sl_output_complete *complete) {
  const uint64_t bytes = sl_output_file_bytes(f);
  if (f->has_ended) return SL_EIO;
  if (!f->is_renamed) {
    f->say(f->context, SL_ERROR, "%s: not a regular file; only regular files can be rotated", f->path);
    return SL_EINVAL;
  }
  const int status = sl_output_finish_to(f, complete);
  char *next = strdup(path);
  if (status != SL_OK || !next) {
    free(next);
    return status != SL_OK ? status : SL_ENOMEM;
  }
  free(f->path);
  free(f->target);
  free(f->part);
  f->target = f->part = NULL;
  f->path = next;
  f->current_path = f->path;
  f->earlier_bytes += bytes;
  f->written_bytes = f->marked_events = 0;
  f->complete = (struct mark){0, 0};
  f->mark_count = 0;
  f->has_ended = f->is_renamed = 0;
  return open_target(f, 0, NULL);
}

int sl_output_keep(struct sl_output *f, const char *why) {
  if (f->has_ended) return f->has_failed ? SL_EIO : SL_OK;
  const int status = settle(f);
  if (status != SL_OK) return status;
  if (f->calls) return SL_OK; /* the transport has reported what it did not send */
  const char *name = sl_file_is_stdout(f->current_path) ? "standard output" : f->current_path;
  if (f->marked_events)
    f->say(f->context, SL_WARNING, "%s: the run %s; it has the first %" PRIu64 " %s", name, why, f->marked_events,
           f->things);
  else
    f->say(f->context, SL_WARNING, "%s: the run %s; the file is incomplete", name, why);
  return SL_OK;
}

int sl_output_hand_over(struct sl_output *f, struct sl_output **next) {
  *next = NULL;
  if (f->has_ended) return f->has_failed ? SL_EIO : SL_OK;
  const int status = f->calls ? send_out(f, f->used) : sl_output_flush(f);
  if (status != SL_OK) return status;
  struct sl_output *to = make_output(f->path, f->capacity, f->say, f->context);
  if (!to) return SL_ENOMEM;
  to->descriptor = f->descriptor;
  to->calls = f->calls;
  to->transport = f->transport;
  f->descriptor = -1;
  f->calls = NULL;
  f->has_ended = 1;
  *next = to;
  return SL_OK;
}

/* Closes a file that was not finished; its whole events are kept. */
static void abandon(struct sl_output *f) {
  char rest[160];
  if (f->calls) {
    (void)send_out(f, whole_bytes(f));
    return;
  }
  if (f->used) (void)write_all(f, f->buffer, f->used);
  f->used = 0;
  update_complete(f);
  const uint64_t events = f->complete.events;
  end_early(f, rest, sizeof rest);
  if (f->is_renamed && events) f->say(f->context, SL_WARNING, "%s: the run did not end%s", f->current_path, rest);
}

void sl_output_close(struct sl_output *f) {
  if (!f) return;
  if ((f->descriptor >= 0 || f->calls) && !f->has_ended) abandon(f);
  if (f->descriptor >= 0) close(f->descriptor);
  if (f->calls) f->calls->close(f->transport);
  free(f->path);
  free(f->target);
  free(f->part);
  free(f->buffer);
  free(f->marks);
  free(f);
}

/* --------------------------------------------------------------------------------------- as services have them */

static int open_plain(const struct sl_services *s, const char *path, uint32_t flags, struct sl_output **file) {
  return sl_output_open(path, flags, s->message, s->context, file);
}

/* Outside of a run there is no series of files. */
static int rotate_plain(struct sl_output *f) {
  f->say(f->context, SL_ERROR, "%s: there is no run that rotates its files", f->path);
  return SL_EINVAL;
}

const struct sl_output_calls sl_output_calls_plain = SL_OUTPUT_CALLS(open_plain, sl_output_finish, rotate_plain);
