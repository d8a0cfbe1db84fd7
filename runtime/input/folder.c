/* folder.c: watches a folder by inotify and by scans.
 *
 * A file is complete, taken, or incomplete (it may still be written; SL_COMPLETE_CLOSE only). Names are in a sorted
 * array and are dropped when their file is gone.
 *   1. A file that is moved into the folder is complete, also under a name that was taken: it is another file then.
 *   2. SL_COMPLETE_RENAME: a file that a scan finds is complete.
 *   3. SL_COMPLETE_CLOSE: a file is complete when its writer closes it. If the writer was not seen opening it, because
 *      the file was there before, events were lost or the folder is on a network disk, it is complete when size and
 *      time of modification have not changed for the time between two scans.
 * Scans find what inotify does not report: files written by other machines, and everything after its queue overflowed.
 * Events of inotify are read before anything is taken after a scan, so that an event that is older than the scan does
 * not change a file that is already taken.
 */
#define _GNU_SOURCE
#include "input/folder.h"

#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/output_part.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_COMPLETE, FILE_TAKEN, FILE_INCOMPLETE };
enum { EVENT_BYTES = 1 << 16 };

struct name {
  char *text;
  uint32_t state;
  uint32_t has_writer; /* incomplete: its creation was seen, so its closing will be seen too */
  uint64_t unchanged_ns;
  off_t bytes;
  struct timespec modified;
};

struct sl_folder {
  struct sl_folder_options options;
  struct name **names; /* ascending */
  size_t count, capacity;
  size_t first; /* no name before this index is complete */
  uint64_t waiting, incomplete, gone;
  uint64_t arrival_ns, next_scan_ns;
  int events; /* descriptor of inotify; -1: none, for the reason in events_error */
  int events_error;
  int watch; /* -1: none */
  int must_scan, is_unreadable, is_watch_reported;
  char *buffer;
};

int sl_folder_takes(const char *pattern, const char *name) {
  return *name != '.' && fnmatch(pattern, name, 0) == 0 && !sl_output_is_part(name);
}

/* -------------------------------------------------------------------------------------------------- names */

/* Index of the first name that does not sort before `text`. */
static size_t position_of(const struct sl_folder *f, const char *text) {
  size_t low = 0, high = f->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (strcmp(f->names[middle]->text, text) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static int is_at(const struct sl_folder *f, size_t i, const char *text) {
  return i < f->count && strcmp(f->names[i]->text, text) == 0;
}

static void count_state(struct sl_folder *f, const struct name *name, int difference) {
  if (name->state == FILE_COMPLETE) f->waiting += (uint64_t)difference;
  if (name->state == FILE_INCOMPLETE) f->incomplete += (uint64_t)difference;
}

static void set_state(struct sl_folder *f, size_t i, uint32_t state) {
  count_state(f, f->names[i], -1);
  f->names[i]->state = state;
  count_state(f, f->names[i], 1);
  if (state != FILE_COMPLETE) return;
  f->arrival_ns = sl_now_ns();
  if (i < f->first) f->first = i;
}

static struct name *name_new(const char *text) {
  struct name *name = calloc(1, sizeof *name);
  if (name) name->text = strdup(text);
  if (name && name->text) return name;
  free(name);
  return NULL;
}

static void name_free(struct name *name) {
  free(name->text);
  free(name);
}

static int reserve(struct sl_folder *f, size_t count) {
  if (count <= f->capacity) return SL_OK;
  const size_t capacity = count < 32 ? 64 : 2 * count;
  struct name **larger = realloc(f->names, capacity * sizeof(struct name *));
  if (!larger) return SL_ENOMEM;
  f->names = larger;
  f->capacity = capacity;
  return SL_OK;
}

/* Inserts a name at its index `i`. */
static int insert(struct sl_folder *f, size_t i, const char *text, uint32_t state) {
  struct name *name = name_new(text);
  if (!name || reserve(f, f->count + 1) < 0) {
    if (name) name_free(name);
    return SL_ENOMEM;
  }
  memmove(f->names + i + 1, f->names + i, (f->count - i) * sizeof(struct name *));
  f->names[i] = name;
  f->count++;
  if (i < f->first) f->first++;
  name->state = FILE_TAKEN; /* not counted */
  set_state(f, i, state);
  return SL_OK;
}

/* Reports and counts a file that is gone and was never read. */
static void report_gone(struct sl_folder *f, const struct name *name) {
  if (name->state != FILE_COMPLETE) return;
  f->gone++;
  sl_diagnose_often(f->options.diagnostics, SL_WARNING, NULL, NULL, NULL, "gone",
                    "%s/%s disappeared before it was read", f->options.path, name->text);
}

static void remove_at(struct sl_folder *f, size_t i) {
  count_state(f, f->names[i], -1);
  name_free(f->names[i]);
  f->count--;
  memmove(f->names + i, f->names + i + 1, (f->count - i) * sizeof(struct name *));
  if (i < f->first) f->first--;
}

/* ------------------------------------------------------------------------------------------- incomplete files */

/* Returns 1 if the name leads to a regular file. `about` is that of the name itself, which may be a link. */
static int look_at(const struct sl_folder *f, const char *text, struct stat *about) {
  char path[PATH_MAX];
  struct stat file;
  const int length = snprintf(path, sizeof path, "%s/%s", f->options.path, text);
  if (length < 0 || (size_t)length >= sizeof path) return 0;
  return lstat(path, about) == 0 && stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

/* Records size and time of modification. Returns 1 if they have changed. */
static int has_changed(struct name *name, const struct stat *about) {
  const int changed = name->bytes != about->st_size || name->modified.tv_sec != about->st_mtim.tv_sec ||
                      name->modified.tv_nsec != about->st_mtim.tv_nsec;
  name->bytes = about->st_size;
  name->modified = about->st_mtim;
  return changed;
}

static void begin_incomplete(struct name *name, const struct stat *about, int has_writer) {
  (void)has_changed(name, about);
  name->unchanged_ns = sl_now_ns();
  name->has_writer = (uint32_t)has_writer;
}

/* A scan has found an incomplete file again. */
static void look_again(struct sl_folder *f, size_t i) {
  struct name *name = f->names[i];
  struct stat about;
  const uint64_t now = sl_now_ns();
  if (!look_at(f, name->text, &about)) return;
  if (has_changed(name, &about)) {
    name->unchanged_ns = now;
    f->arrival_ns = now;
  } else if (!name->has_writer && now - name->unchanged_ns >= f->options.rescan_ms * 1000000ull) {
    set_state(f, i, FILE_COMPLETE);
  }
}

/* ------------------------------------------------------------------------------------------------- inotify */

/* Watches the folder, if it is not watched. Without inotify the scans remain. */
static void watch(struct sl_folder *f) {
  const uint32_t closing = f->options.complete == SL_COMPLETE_CLOSE ? IN_CLOSE_WRITE | IN_CREATE : 0;
  const uint32_t mask = IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR | closing;
  if (f->watch >= 0) return;
  int error = f->events_error;
  if (f->events >= 0) {
    f->watch = inotify_add_watch(f->events, f->options.path, mask);
    error = errno;
  }
  if (f->watch >= 0 || f->is_watch_reported || error == ENOENT) return;
  f->is_watch_reported = 1;
  sl_diagnose(f->options.diagnostics, SL_NOTE, NULL, NULL, NULL,
              "%s cannot be watched by inotify (%s): it is scanned every %.3g s", f->options.path, strerror(error),
              f->options.rescan_ms * 1e-3);
}

/* The folder was moved, deleted or unmounted: a folder of the same name is another one. */
static void unwatch(struct sl_folder *f) {
  if (f->watch >= 0) (void)inotify_rm_watch(f->events, f->watch);
  f->watch = -1;
  f->must_scan = 1;
}

static int is_link(const struct stat *about) { return about->st_nlink > 1 || S_ISLNK(about->st_mode); }

static int on_created(struct sl_folder *f, size_t i, const char *text) {
  struct stat about;
  if (is_at(f, i, text) || !look_at(f, text, &about)) return SL_OK;
  const int status = insert(f, i, text, FILE_INCOMPLETE);
  if (status == SL_OK) begin_incomplete(f->names[i], &about, !is_link(&about));
  return status;
}

/* A file was moved into the folder, or closed by a program that could write it. */
static int on_complete(struct sl_folder *f, size_t i, const char *text, int is_moved) {
  struct stat about;
  if (is_at(f, i, text) && f->names[i]->state == FILE_TAKEN && !is_moved) {
    sl_diagnose_often(f->options.diagnostics, SL_WARNING, NULL, NULL,
                      "write it under another name and move it when it is complete", "written",
                      "%s/%s was written again after it had been taken: it is not read again", f->options.path, text);
    return SL_OK;
  }
  if (!look_at(f, text, &about)) return SL_OK;
  if (!is_at(f, i, text)) return insert(f, i, text, FILE_COMPLETE);
  set_state(f, i, FILE_COMPLETE);
  return SL_OK;
}

static int on_event(struct sl_folder *f, const struct inotify_event *event) {
  if (event->mask & IN_Q_OVERFLOW) {
    for (size_t i = 0; i < f->count; i++) f->names[i]->has_writer = 0;
    f->must_scan = 1;
    return SL_OK;
  }
  if (event->wd != f->watch) return SL_OK;
  if (event->mask & (IN_MOVE_SELF | IN_DELETE_SELF | IN_IGNORED | IN_UNMOUNT)) unwatch(f);
  if (event->len == 0 || !sl_folder_takes(f->options.pattern, event->name)) return SL_OK;
  const size_t i = position_of(f, event->name);
  if (event->mask & (IN_MOVED_TO | IN_CLOSE_WRITE))
    return on_complete(f, i, event->name, (event->mask & IN_MOVED_TO) != 0);
  if (event->mask & IN_CREATE) return on_created(f, i, event->name);
  if ((event->mask & (IN_MOVED_FROM | IN_DELETE)) && is_at(f, i, event->name)) {
    report_gone(f, f->names[i]);
    remove_at(f, i);
  }
  return SL_OK;
}

static int read_events(struct sl_folder *f) {
  int status = SL_OK;
  ssize_t got = 0;
  while (status == SL_OK && f->events >= 0 && (got = read(f->events, f->buffer, EVENT_BYTES)) > 0)
    for (char *at = f->buffer; at < f->buffer + got && status == SL_OK;) {
      const struct inotify_event *event = (const struct inotify_event *)(const void *)at;
      status = on_event(f, event);
      at += sizeof *event + event->len;
    }
  return status;
}

/* --------------------------------------------------------------------------------------------------- scans */

struct found {
  char **at;
  size_t count, capacity;
};

static int add_found(struct found *found, const char *text) {
  if (found->count == found->capacity) {
    const size_t capacity = found->capacity ? 2 * found->capacity : 64;
    char **larger = realloc(found->at, capacity * sizeof(char *));
    if (!larger) return SL_ENOMEM;
    found->at = larger;
    found->capacity = capacity;
  }
  found->at[found->count] = strdup(text);
  return found->at[found->count++] ? SL_OK : SL_ENOMEM;
}

static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Reads the names in the folder. Returns 0, an errno, or SL_ENOMEM. */
static int read_names(const struct sl_folder *f, struct found *found) {
  DIR *folder = opendir(f->options.path);
  if (!folder) return errno == ENOMEM ? SL_ENOMEM : errno;
  int status = 0;
  for (const struct dirent *entry; status == 0;) {
    errno = 0;
    entry = readdir(folder);
    if (!entry) {
      status = errno;
      break;
    }
    if (sl_folder_takes(f->options.pattern, entry->d_name)) status = add_found(found, entry->d_name);
  }
  closedir(folder);
  if (found->count > 1) qsort(found->at, found->count, sizeof(char *), compare);
  return status;
}

/* Adds the names that are new and removes the names that are gone, in one pass over both sorted lists. */
static int merge(struct sl_folder *f, const struct found *found) {
  struct name **merged = malloc((f->count + found->count + 1) * sizeof(struct name *));
  size_t count = 0, i = 0;
  int status = merged ? SL_OK : SL_ENOMEM;
  for (size_t k = 0; status == SL_OK && k <= found->count; k++) {
    for (; i < f->count && (k == found->count || strcmp(f->names[i]->text, found->at[k]) < 0); i++) {
      report_gone(f, f->names[i]);
      count_state(f, f->names[i], -1);
      name_free(f->names[i]);
    }
    struct stat about;
    if (k == found->count) break;
    if (is_at(f, i, found->at[k])) {
      merged[count++] = f->names[i++];
    } else if (look_at(f, found->at[k], &about)) {
      struct name *name = name_new(found->at[k]);
      if (!name) {
        status = SL_ENOMEM;
        break;
      }
      name->state = f->options.complete == SL_COMPLETE_CLOSE ? FILE_INCOMPLETE : FILE_COMPLETE;
      begin_incomplete(name, &about, 0);
      count_state(f, name, 1);
      if (name->state == FILE_COMPLETE) f->arrival_ns = sl_now_ns();
      merged[count++] = name;
    }
  }
  if (!merged) return SL_ENOMEM;
  while (i < f->count) merged[count++] = f->names[i++]; /* after a failure */
  free(f->names);
  f->names = merged;
  f->capacity = f->count + found->count + 1;
  f->count = count;
  f->first = 0;
  return status;
}

static void report_unreadable(struct sl_folder *f, int error) {
  if (!f->is_unreadable)
    sl_diagnose(f->options.diagnostics, SL_ERROR, NULL, NULL, "the run continues when the folder can be read again",
                "the followed folder %s cannot be read: %s", f->options.path, strerror(error));
  f->is_unreadable = 1;
}

static int scan(struct sl_folder *f) {
  struct found found = {0};
  watch(f);
  f->must_scan = 0;
  f->next_scan_ns = sl_now_ns() + f->options.rescan_ms * 1000000ull;
  int status = read_names(f, &found);
  if (status > 0) {
    report_unreadable(f, status);
    status = SL_OK;
  } else if (status == 0) {
    f->is_unreadable = 0;
    status = merge(f, &found);
    for (size_t i = 0; status == SL_OK && f->incomplete > 0 && i < f->count; i++)
      if (f->names[i]->state == FILE_INCOMPLETE) look_again(f, i);
  }
  for (size_t i = 0; i < found.count; i++) free(found.at[i]);
  free(found.at);
  return status;
}

/* ----------------------------------------------------------------------------------------------- interface */

int sl_folder_open(const struct sl_folder_options *options, struct sl_folder **folder) {
  struct sl_folder *f = calloc(1, sizeof *f);
  if (!f) return SL_ENOMEM;
  *folder = f;
  f->options = *options;
  f->watch = -1;
  f->arrival_ns = sl_now_ns();
  f->events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  f->events_error = errno;
  f->buffer = malloc(EVENT_BYTES);
  const int status = f->buffer ? sl_folder_update(f, 1) : SL_ENOMEM;
  if (status == SL_OK) return SL_OK;
  sl_folder_close(f);
  *folder = NULL;
  return status;
}

void sl_folder_close(struct sl_folder *f) {
  if (!f) return;
  for (size_t i = 0; i < f->count; i++) name_free(f->names[i]);
  free(f->names);
  free(f->buffer);
  if (f->events >= 0) close(f->events);
  free(f);
}

int sl_folder_update(struct sl_folder *f, int must_scan) {
  int status = read_events(f);
  if (status < 0 || (!must_scan && !f->must_scan && sl_now_ns() < f->next_scan_ns)) return status;
  status = scan(f);
  return status == SL_OK ? read_events(f) : status;
}

void sl_folder_wait(const struct sl_folder *f, uint32_t ms) {
  struct pollfd events = {.fd = f->events, .events = POLLIN}; /* poll ignores a negative descriptor */
  (void)poll(&events, 1, ms > INT_MAX ? INT_MAX : (int)ms);
}

const char *sl_folder_first(struct sl_folder *f) {
  if (f->waiting == 0) return NULL;
  while (f->first < f->count && f->names[f->first]->state != FILE_COMPLETE) f->first++;
  return f->first < f->count ? f->names[f->first]->text : NULL;
}

int sl_folder_take(struct sl_folder *f, const char *name) {
  const size_t i = position_of(f, name);
  if (!is_at(f, i, name)) return 0;
  set_state(f, i, FILE_TAKEN);
  return 1;
}

char **sl_folder_taken(const struct sl_folder *f) {
  char **names = (char **)calloc(f->count + 1, sizeof *names);
  size_t count = 0;
  for (size_t i = 0; names && i < f->count; i++) {
    if (f->names[i]->state != FILE_TAKEN) continue;
    names[count] = strdup(f->names[i]->text);
    if (names[count]) {
      count++;
      continue;
    }
    while (count > 0) free(names[--count]);
    free(names);
    return NULL;
  }
  return names;
}

void sl_folder_forget(struct sl_folder *f, const char *name) {
  const size_t i = position_of(f, name);
  if (is_at(f, i, name)) remove_at(f, i);
}

uint64_t sl_folder_waiting(const struct sl_folder *f) { return f->waiting; }

uint64_t sl_folder_gone(const struct sl_folder *f) { return f->gone; }

uint64_t sl_folder_incomplete(const struct sl_folder *f) { return f->incomplete; }

int sl_folder_is_undecided(const struct sl_folder *f) {
  for (size_t i = 0; f->incomplete > 0 && i < f->count; i++)
    if (f->names[i]->state == FILE_INCOMPLETE && !f->names[i]->has_writer) return 1;
  return 0;
}

size_t sl_folder_names(const struct sl_folder *f) { return f->count; }

uint64_t sl_folder_arrival_ns(const struct sl_folder *f) { return f->arrival_ns; }
