/* follow.c: the files of a folder as input of a run.
 *
 * A file that is taken gets a number and is in flight until all its events are delivered; then it is moved to the
 * folder `done`. Files in flight are a queue, and leave it in the order in which they were taken. A file that was
 * refused stays in the folder. One lock; it is not held while a thread waits.
 */
#define _GNU_SOURCE
#include "input/follow.h"

#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/file_identity.h"
#include "base/input.h"
#include "base/locale.h"
#include "base/processor.h"
#include "input/folder.h"

#include <sluice/text.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RESCAN_MS = 5000, STEP_MS = 50 };

struct in_flight {
  char *name;
  ino_t inode;
  uint64_t events_before, events_read, events_delivered;
  uint32_t number, has_ended, is_refused;
};

struct sl_follow {
  char *path, *pattern, *done;
  double until_idle_seconds;
  struct sl_diagnostics *diagnostics;
  pthread_mutex_t lock;
  struct sl_folder *folder;
  struct sl_follow_file first;
  uint32_t has_first, has_ended, is_wait_reported;
  uint32_t has_program, has_session; /* its holders */
  struct in_flight *files;           /* in the order in which they were taken */
  uint32_t count, capacity;
  uint32_t is_holding, is_resumed;
  struct in_flight *held; /* files to be moved by sl_follow_release */
  uint32_t held_count, held_capacity;
  uint32_t next_number;
  uint64_t events_before; /* in all files that have ended */
  uint64_t idle_from_ns;  /* an incomplete file was seen */
  char *last;             /* the greatest name taken so far */
  struct sl_follow_position position;
  struct sl_follow_position resumed; /* the file to begin with; name "": none */
  struct sl_follow_summary summary;
};

/* ----------------------------------------------------------------------------------------- files in flight */

static struct in_flight *find(const struct sl_follow *f, uint32_t number) {
  const uint32_t index = f->count > 0 ? number - f->files[0].number : 0;
  return index < f->count ? &f->files[index] : NULL;
}

static void path_of(const struct sl_follow *f, const char *name, char path[PATH_MAX]) {
  (void)snprintf(path, PATH_MAX, "%s/%s", f->path, name); /* names with longer paths are not taken */
}

static int rename_new(const char *from, const char *to) {
  struct stat about;
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  if (lstat(to, &about) == 0) { /* a file system without RENAME_NOREPLACE */
    errno = EEXIST;
    return -1;
  }
  return rename(from, to);
}

/* Returns NULL, or the reason why the file could not be moved. */
static const char *try_move(const char *from, const char *to, ino_t inode) {
  struct stat about;
  if (lstat(from, &about) != 0) return strerror(errno);
  if (about.st_ino != inode) return "it was replaced by another file";
  return rename_new(from, to) != 0 ? strerror(errno) : NULL;
}

/* Moves a file to the folder `done`. A failure is a warning, since the events are delivered. */
static void move(struct sl_follow *f, const struct in_flight *file) {
  char from[PATH_MAX], to[PATH_MAX];
  path_of(f, file->name, from);
  const int length = snprintf(to, sizeof to, "%s/%s", f->done, file->name);
  const int is_too_long = length < 0 || (size_t)length >= sizeof to;
  const char *reason = is_too_long ? strerror(ENAMETOOLONG) : try_move(from, to, file->inode);
  if (reason) {
    sl_diagnose_often(f->diagnostics, SL_WARNING, NULL, NULL, NULL, "move",
                      "%s was processed, but cannot be moved to %s: %s", from, f->done, reason);
    return;
  }
  sl_folder_forget(f->folder, file->name);
  f->summary.moved++;
}

static void note_position(struct sl_follow *f, const struct in_flight *file) {
  struct sl_follow_position *p = &f->position;
  snprintf(p->name, sizeof p->name, "%s", file->name);
  p->events = file->events_delivered;
  p->events_before = file->events_before;
  p->number = file->number;
  p->is_whole = file->has_ended && (file->is_refused || file->events_delivered == file->events_read);
}

/* Keeps the file for sl_follow_release. Returns 0 if there is no memory. */
static int hold(struct sl_follow *f, const struct in_flight *file) {
  if (f->held_count == f->held_capacity) {
    const uint32_t capacity = 2 * f->held_capacity + 8;
    struct in_flight *larger = realloc(f->held, capacity * sizeof *larger);
    if (!larger) return 0;
    f->held = larger;
    f->held_capacity = capacity;
  }
  f->held[f->held_count++] = *file;
  return 1;
}

void sl_follow_hold(struct sl_follow *f) {
  pthread_mutex_lock(&f->lock);
  f->is_holding = 1;
  pthread_mutex_unlock(&f->lock);
}

void sl_follow_release(struct sl_follow *f) {
  pthread_mutex_lock(&f->lock);
  for (uint32_t i = 0; i < f->held_count; i++) {
    move(f, &f->held[i]);
    free(f->held[i].name);
  }
  f->held_count = 0;
  pthread_mutex_unlock(&f->lock);
}

int sl_follow_is_held(struct sl_follow *f, const char *name) {
  int found = 0;
  pthread_mutex_lock(&f->lock);
  for (uint32_t i = 0; i < f->held_count; i++) found |= strcmp(f->held[i].name, name) == 0;
  pthread_mutex_unlock(&f->lock);
  return found;
}

void sl_follow_move(struct sl_follow *f, const char *name) {
  struct stat about;
  char path[PATH_MAX], *own = strdup(name);
  pthread_mutex_lock(&f->lock);
  path_of(f, name, path);
  if (own && f->done && lstat(path, &about) == 0) move(f, &(struct in_flight){.name = own, .inode = about.st_ino});
  pthread_mutex_unlock(&f->lock);
  free(own);
}

static int is_in_flight(const struct sl_follow *f, const char *name) {
  for (uint32_t i = 0; i < f->count; i++)
    if (strcmp(f->files[i].name, name) == 0) return 1;
  return 0;
}

char **sl_follow_processed(struct sl_follow *f) {
  pthread_mutex_lock(&f->lock);
  char **names = sl_folder_taken(f->folder);
  size_t count = 0;
  for (size_t i = 0; names && names[i]; i++) {
    if (is_in_flight(f, names[i]))
      free(names[i]);
    else
      names[count++] = names[i];
  }
  if (names) names[count] = NULL;
  pthread_mutex_unlock(&f->lock);
  return names;
}

/* Removes files from the queue that have ended, if all their events are delivered. With the lock held. */
static void settle(struct sl_follow *f) {
  uint32_t gone = 0;
  for (; gone < f->count; gone++) {
    const struct in_flight *file = &f->files[gone];
    if (!file->has_ended || file->events_delivered < file->events_read) break;
    note_position(f, file);
    if (f->done && !file->is_refused && f->is_holding && hold(f, file)) continue;
    if (f->done && !file->is_refused) move(f, file);
    free(file->name);
  }
  f->count -= gone;
  memmove(f->files, f->files + gone, f->count * sizeof *f->files);
}

static int add(struct sl_follow *f, const char *name) {
  if (f->count == f->capacity) {
    const uint32_t capacity = f->capacity ? 2 * f->capacity : 16;
    struct in_flight *larger = realloc(f->files, capacity * sizeof *larger);
    if (!larger) return SL_ENOMEM;
    f->files = larger;
    f->capacity = capacity;
  }
  f->files[f->count] =
      (struct in_flight){.name = strdup(name), .events_before = f->events_before, .number = f->next_number};
  if (!f->files[f->count].name) return SL_ENOMEM;
  f->count++;
  f->next_number++;
  return SL_OK;
}

/* Ends a file. With the lock held. */
static void end_file(struct sl_follow *f, struct in_flight *file) {
  if (!file || file->has_ended) return;
  file->has_ended = 1;
  f->events_before += file->events_read;
  settle(f);
}

/* With the lock held; `text` NULL: the reason was reported. */
static void refuse(struct sl_follow *f, struct in_flight *file, const char *kind, const char *text) {
  char path[PATH_MAX];
  if (!file || file->is_refused) return;
  path_of(f, file->name, path);
  if (text) sl_diagnose_often(f->diagnostics, SL_WARNING, NULL, NULL, NULL, kind, "%s: %s", path, text);
  file->is_refused = 1;
  f->summary.refused++;
  end_file(f, file);
}

/* ---------------------------------------------------------------------------------------------- taking files */

static int note_name(struct sl_follow *f, const char *name) {
  char path[PATH_MAX];
  if (f->last && strcmp(name, f->last) < 0) {
    path_of(f, name, path);
    f->summary.late++;
    sl_diagnose_often(f->diagnostics, SL_WARNING, NULL, NULL, NULL, "late", "%s is late: %s was taken before it", path,
                      f->last);
    return SL_OK;
  }
  char *copy = strdup(name);
  if (!copy) return SL_ENOMEM;
  free(f->last);
  f->last = copy;
  return SL_OK;
}

/* Takes the file `name`. Returns SL_FOLLOW_FILE; SL_FOLLOW_LATER if it is gone; or SL_ENOMEM. */
static int take_name(struct sl_follow *f, const char *name, uint64_t skip_events, struct sl_follow_file *file) {
  struct stat about;
  if (add(f, name) < 0) return SL_ENOMEM;
  struct in_flight *added = &f->files[f->count - 1];
  sl_folder_take(f->folder, added->name);
  if (note_name(f, added->name) < 0) return SL_ENOMEM;
  *file = (struct sl_follow_file){
      .number = added->number, .events_before = added->events_before, .skip_events = skip_events};
  path_of(f, added->name, file->path);
  if (lstat(file->path, &about) != 0) {
    refuse(f, added, "gone", "disappeared before it was read");
    return SL_FOLLOW_LATER;
  }
  added->inode = about.st_ino;
  return SL_FOLLOW_FILE;
}

/* The file with which an earlier run ended. */
static int take_resumed(struct sl_follow *f, struct sl_follow_file *file) {
  const struct sl_follow_position at = f->resumed;
  char path[PATH_MAX];
  f->resumed.name[0] = '\0';
  if (sl_folder_take(f->folder, at.name)) return take_name(f, at.name, at.events, file);
  path_of(f, at.name, path);
  sl_diagnose(f->diagnostics, SL_WARNING, NULL, NULL, NULL,
              "%s is gone, after %" PRIu64 " of its events %s delivered: the run continues with the next file", path,
              at.events, sl_plural(at.events, "was", "were"));
  return SL_FOLLOW_LATER;
}

/* Takes the next file, with the lock held. Fails as sl_follow_next does. */
static int take(struct sl_follow *f, struct sl_follow_file *file) {
  int status = sl_folder_update(f->folder, 0);
  if (status < 0) return status;
  status = f->resumed.name[0] ? take_resumed(f, file) : SL_FOLLOW_LATER;
  for (const char *name; status == SL_FOLLOW_LATER && (name = sl_folder_first(f->folder)) != NULL;)
    status = take_name(f, name, 0, file);
  return status;
}

/* Returns 1 if nothing has arrived for the time after which the input ends, and everything is delivered. With the lock
 * held. */
static int is_idle(struct sl_follow *f) {
  const uint64_t now = sl_now_ns();
  const double limit_ns = f->until_idle_seconds * 1e9;
  if (!(limit_ns > 0) || f->count > 0 || (double)(now - f->idle_from_ns) < limit_ns ||
      (double)(now - sl_folder_arrival_ns(f->folder)) < limit_ns)
    return 0;
  if (sl_folder_update(f->folder, 1) < 0 || sl_folder_first(f->folder)) return 0;
  if (sl_folder_is_undecided(f->folder) || (double)(now - sl_folder_arrival_ns(f->folder)) < limit_ns) {
    f->idle_from_ns = now;
    return 0;
  }
  const uint64_t left = sl_folder_incomplete(f->folder);
  if (left > 0)
    sl_diagnose(f->diagnostics, SL_WARNING, NULL, NULL, NULL, "%" PRIu64 " %s in %s not closed and %s not read", left,
                sl_plural(left, "file", "files"), f->path, sl_plural(left, "is", "are"));
  return 1;
}

/* Takes the next file. Waits until there is one, the input has ended, or `wait_ms` are over. */
static int await_file(struct sl_follow *f, uint32_t wait_ms, struct sl_follow_file *file) {
  const uint64_t end = sl_now_ns() + wait_ms * 1000000ull;
  for (;;) {
    pthread_mutex_lock(&f->lock);
    int status = f->has_ended ? SL_FOLLOW_END : take(f, file);
    if (status == SL_FOLLOW_LATER && is_idle(f)) status = SL_FOLLOW_END;
    pthread_mutex_unlock(&f->lock);
    const uint64_t now = sl_now_ns();
    if (status != SL_FOLLOW_LATER || now >= end) return status;
    const uint64_t left_ms = (end - now) / 1000000 + 1;
    sl_folder_wait(f->folder, left_ms < STEP_MS ? (uint32_t)left_ms : STEP_MS);
  }
}

int sl_follow_next(struct sl_follow *f, uint32_t wait_ms, struct sl_follow_file *file) {
  pthread_mutex_lock(&f->lock);
  const uint32_t has_first = f->has_first;
  if (has_first) *file = f->first;
  f->has_first = 0;
  pthread_mutex_unlock(&f->lock);
  return has_first ? SL_FOLLOW_FILE : await_file(f, wait_ms, file);
}

void sl_follow_refuse(struct sl_follow *f, uint32_t number, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  if (format) vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&f->lock);
  if (f->has_first && f->first.number == number) f->has_first = 0;
  refuse(f, find(f, number), format, format ? text : NULL);
  pthread_mutex_unlock(&f->lock);
}

void sl_follow_opened(struct sl_follow *f) {
  pthread_mutex_lock(&f->lock);
  f->summary.taken++;
  pthread_mutex_unlock(&f->lock);
}

void sl_follow_read(struct sl_follow *f, uint32_t number, uint64_t events) {
  pthread_mutex_lock(&f->lock);
  struct in_flight *file = find(f, number);
  if (file) file->events_read += events;
  pthread_mutex_unlock(&f->lock);
}

void sl_follow_ended(struct sl_follow *f, uint32_t number) {
  pthread_mutex_lock(&f->lock);
  end_file(f, find(f, number));
  pthread_mutex_unlock(&f->lock);
}

void sl_follow_delivered(struct sl_follow *f, uint32_t number, uint64_t events) {
  pthread_mutex_lock(&f->lock);
  struct in_flight *file = find(f, number);
  if (file) {
    file->events_delivered = events;
    note_position(f, file);
    settle(f);
  }
  pthread_mutex_unlock(&f->lock);
}

void sl_follow_path(struct sl_follow *f, uint32_t number, char path[PATH_MAX]) {
  pthread_mutex_lock(&f->lock);
  const struct in_flight *file = find(f, number);
  path_of(f, file ? file->name : "", path);
  pthread_mutex_unlock(&f->lock);
}

int sl_follow_would_take(const struct sl_follow *f, const char *path) {
  char folder[PATH_MAX];
  struct stat of_path, of_folder;
  const char *name = sl_file_split(path, folder);
  return name && sl_folder_takes(f->pattern, name) && stat(folder, &of_path) == 0 && stat(f->path, &of_folder) == 0 &&
         of_path.st_dev == of_folder.st_dev && of_path.st_ino == of_folder.st_ino;
}

/* ------------------------------------------------------------------------------------------------- session */

int sl_follow_attach(struct sl_follow *f) {
  pthread_mutex_lock(&f->lock);
  const int is_free = !f->has_session && f->has_first;
  if (is_free) f->has_session = 1;
  pthread_mutex_unlock(&f->lock);
  return is_free ? SL_OK : SL_EINVAL;
}

/* Frees it if it has no holder. */
static void let_go(struct sl_follow *f, uint32_t *holder) {
  pthread_mutex_lock(&f->lock);
  *holder = 0;
  const int is_held = f->has_program || f->has_session;
  pthread_mutex_unlock(&f->lock);
  if (is_held) return;
  for (uint32_t i = 0; i < f->count; i++) free(f->files[i].name);
  free(f->files);
  for (uint32_t i = 0; i < f->held_count; i++) free(f->held[i].name);
  free(f->held);
  sl_folder_close(f->folder);
  free(f->path);
  free(f->pattern);
  free(f->done);
  free(f->last);
  pthread_mutex_destroy(&f->lock);
  free(f);
}

void sl_follow_detach(struct sl_follow *f) { let_go(f, &f->has_session); }

const struct sl_follow_file *sl_follow_first(const struct sl_follow *f) { return f->has_first ? &f->first : NULL; }

struct sl_follow_position sl_follow_position_of(struct sl_follow *f) {
  pthread_mutex_lock(&f->lock);
  const struct sl_follow_position position = f->position;
  pthread_mutex_unlock(&f->lock);
  return position;
}

int sl_follow_resume(struct sl_follow *f, const struct sl_follow_position *at, const char *const *processed) {
  int status = SL_OK;
  pthread_mutex_lock(&f->lock);
  for (uint32_t i = 0; processed && processed[i]; i++) sl_folder_take(f->folder, processed[i]);
  f->is_resumed = 1;
  f->position = *at;
  f->events_before = at->events_before;
  if (at->name[0]) f->next_number = at->number + (at->is_whole ? 1 : 0);
  if (at->name[0] && at->is_whole) {
    f->events_before += at->events;
    sl_folder_take(f->folder, at->name);
    status = note_name(f, at->name);
  } else {
    f->resumed = *at;
  }
  pthread_mutex_unlock(&f->lock);
  return status;
}

int sl_follow_is_resumed(const struct sl_follow *f) { return f->is_resumed != 0; }

/* ------------------------------------------------------------------------------------------------- program */

static int wrong(struct sl_diagnostics *d, const char *hint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int wrong(struct sl_diagnostics *d, const char *hint, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sl_vdiagnose(d, SL_ERROR, NULL, NULL, hint, format, arguments);
  va_end(arguments);
  return SL_EINVAL;
}

/* Checks that `path` is a folder with these permissions. */
static int check_folder(struct sl_diagnostics *d, const char *what, const char *path, int permissions,
                        struct stat *about) {
  if (!path || !*path) return wrong(d, NULL, "%s has no name", what);
  if (stat(path, about) != 0) return wrong(d, "make the folder first", "%s %s: %s", what, path, strerror(errno));
  if (!S_ISDIR(about->st_mode)) return wrong(d, NULL, "%s %s is not a folder", what, path);
  if (access(path, permissions) != 0) return wrong(d, NULL, "%s %s: %s", what, path, strerror(errno));
  return SL_OK;
}

static int check_done(struct sl_diagnostics *d, const struct sl_follow_options *o, const struct stat *folder) {
  struct stat done = {0};
  const int status = check_folder(d, "the folder for processed files", o->done, W_OK | X_OK, &done);
  if (status != SL_OK) return status;
  if (done.st_dev == folder->st_dev && done.st_ino == folder->st_ino)
    return wrong(d, "name another one, such as a folder in it",
                 "the folder for processed files %s is the followed folder", o->done);
  if (done.st_dev != folder->st_dev)
    return wrong(d, "name a folder on the same file system, where a file can be moved without a copy",
                 "the folder for processed files %s is on another file system than %s", o->done, o->folder);
  if (access(o->folder, W_OK) != 0)
    return wrong(d, NULL, "files cannot be moved out of %s: %s", o->folder, strerror(errno));
  return SL_OK;
}

static int check_options(const struct sl_follow_options *o, struct sl_diagnostics *d) {
  struct stat folder = {0};
  int status = sl_diagnose_size(d, "sl_follow_options", o->size, sizeof *o);
  if (status == SL_OK) status = check_folder(d, "the followed folder", o->folder, R_OK | X_OK, &folder);
  if (status != SL_OK) return status;
  if (o->complete > SL_COMPLETE_CLOSE)
    return wrong(d, "SL_COMPLETE_RENAME and _CLOSE are 0 and 1", "complete is %u", o->complete);
  if (o->pattern && (!*o->pattern || strchr(o->pattern, '/')))
    return wrong(d, "write it for the name of a file, such as '*.mdf'", "the pattern '%s' matches no name of a file",
                 o->pattern);
  if (!(o->until_idle_seconds >= 0) || isinf(o->until_idle_seconds))
    return wrong(d, NULL, "the idle time is %g seconds; it must be 0 or more", o->until_idle_seconds);
  return o->done ? check_done(d, o, &folder) : SL_OK;
}

static int open_follow(struct sl_follow *f, const struct sl_follow_options *o) {
  f->path = strdup(o->folder);
  f->pattern = strdup(o->pattern ? o->pattern : "*");
  if (o->done) f->done = strdup(o->done);
  if (!f->path || !f->pattern || (o->done && !f->done)) return SL_ENOMEM;
  const struct sl_folder_options folder = {.path = f->path,
                                           .pattern = f->pattern,
                                           .complete = o->complete,
                                           .rescan_ms = RESCAN_MS,
                                           .diagnostics = f->diagnostics};
  f->until_idle_seconds = o->until_idle_seconds;
  f->summary.folder = f->path;
  return sl_folder_open(&folder, &f->folder);
}

SL_ANY_PROCESSOR int sl_follow_new(const struct sl_follow_options *options, struct sl_diagnostics *d,
                                   struct sl_follow **follow) {
  if (sl_processor_check(d) < 0) return SL_EINVAL;
  SL_IN_C_LOCALE(SL_ENOMEM);
  *follow = NULL;
  int status = check_options(options, d);
  if (status < 0) return status;
  struct sl_follow *f = calloc(1, sizeof *f);
  if (!f) return SL_ENOMEM;
  pthread_mutex_init(&f->lock, NULL);
  f->diagnostics = d;
  f->has_program = 1;
  status = open_follow(f, options);
  if (status < 0) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%s", sl_error_text(status));
    sl_follow_free(f);
    return status;
  }
  *follow = f;
  return SL_OK;
}

void sl_follow_free(struct sl_follow *f) {
  if (f) let_go(f, &f->has_program);
}

void sl_follow_end(struct sl_follow *f) {
  pthread_mutex_lock(&f->lock);
  f->has_ended = 1;
  pthread_mutex_unlock(&f->lock);
}

struct sl_follow_summary sl_follow_count(struct sl_follow *f) {
  SL_IN_C_LOCALE((struct sl_follow_summary){0});
  pthread_mutex_lock(&f->lock);
  (void)sl_folder_update(f->folder, 0); /* memory that is out is reported when the next file is taken */
  struct sl_follow_summary summary = f->summary;
  summary.waiting = sl_folder_waiting(f->folder) + f->has_first;
  summary.refused += sl_folder_gone(f->folder);
  pthread_mutex_unlock(&f->lock);
  return summary;
}

static void report_wait(struct sl_follow *f) {
  if (f->is_wait_reported) return;
  f->is_wait_reported = 1;
  sl_diagnose(f->diagnostics, SL_NOTE, NULL, NULL, NULL, "waiting for a file in %s", f->path);
}

int sl_follow_wait(struct sl_follow *f, int32_t timeout_ms) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  const uint64_t begin = sl_now_ns();
  for (uint32_t step_ms = 0; !f->has_first; step_ms = STEP_MS) {
    char reason[128];
    struct sl_follow_file file;
    const int status = await_file(f, step_ms, &file);
    if (status == SL_FOLLOW_END) return SL_EINTERRUPTED;
    if (status < 0) return status;
    if (status == SL_FOLLOW_FILE) {
      const int opened = sl_open_regular(file.path, reason, sizeof reason);
      if (opened < 0) {
        sl_follow_refuse(f, file.number, "cannot be read: %s", reason);
        continue;
      }
      close(opened);
      f->first = file;
      f->has_first = 1;
    } else {
      report_wait(f);
      if (timeout_ms >= 0 && sl_now_ns() - begin >= (uint64_t)timeout_ms * 1000000u) return 0;
    }
  }
  return 1;
}
