/* paths.c: see paths.h. Each part of a pattern may contain `*`, `?` and `[...]`, as in a shell. Only a pattern that
 * begins with a dot matches names that begin with a dot. An unreadable folder is an error; glob() would ignore it, and
 * glibc 2.36 frees twice if memory is out.
 */
#define _GNU_SOURCE
#include "base/paths.h"

#include <sluice/plugin.h>

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The path matched so far: "", a folder with its slash, or a file. */
struct found {
  char path[PATH_MAX];
  size_t length;
  struct sl_paths *paths;
  char *reason;
  size_t reason_size;
};

static int fail(const struct found *f, const char *path, int error) {
  if (error == ENOMEM) return SL_ENOMEM;
  snprintf(f->reason, f->reason_size, "%s: %s", *path ? path : ".", strerror(error));
  return SL_EIO;
}

static int extend(struct found *f, const char *text, size_t length) {
  if (f->length + length >= sizeof f->path) return fail(f, f->path, ENAMETOOLONG);
  memcpy(f->path + f->length, text, length);
  f->length += length;
  f->path[f->length] = '\0';
  return SL_OK;
}

static void shorten(struct found *f, size_t length) {
  f->length = length;
  f->path[length] = '\0';
}

static int add(struct sl_paths *paths, const char *path) {
  char **larger = realloc(paths->at, (paths->count + 2) * sizeof *larger);
  if (!larger) return SL_ENOMEM;
  paths->at = larger;
  larger[paths->count] = strdup(path);
  if (!larger[paths->count]) return SL_ENOMEM;
  larger[++paths->count] = NULL;
  return SL_OK;
}

static int match(struct found *f, const char *pattern);

/* Matches one name of the folder with a part of the pattern; `rest` follows the part. */
static int match_name(struct found *f, const char *part, const char *rest, const char *name) {
  const int differs = fnmatch(part, name, FNM_PERIOD);
  if (differs == FNM_NOMATCH) return SL_OK;
  if (differs) return fail(f, part, errno ? errno : EINVAL);
  const size_t length = f->length;
  int status = extend(f, name, strlen(name));
  if (status == SL_OK) status = match(f, rest);
  shorten(f, length);
  return status;
}

static int match_folder(struct found *f, const char *part, const char *rest) {
  DIR *folder = opendir(f->length ? f->path : ".");
  if (!folder) return errno == ENOENT || errno == ENOTDIR ? SL_OK : fail(f, f->path, errno);
  int status = SL_OK;
  for (const struct dirent *entry; status == SL_OK; status = match_name(f, part, rest, entry->d_name)) {
    errno = 0;
    entry = readdir(folder);
    if (!entry && errno) status = fail(f, f->path, errno);
    if (!entry) break;
  }
  closedir(folder);
  return status;
}

/* Matches the remaining pattern: slashes, a part, and the rest. */
static int match(struct found *f, const char *pattern) {
  const size_t slashes = strspn(pattern, "/"), length = f->length;
  const char *begin = pattern + slashes, *end = strchrnul(begin, '/');
  int status = extend(f, pattern, slashes);
  if (status != SL_OK) return status;
  if (begin == end) {
    status = access(f->path, F_OK) == 0 ? add(f->paths, f->path) : SL_OK;
  } else {
    char *part = strndup(begin, (size_t)(end - begin));
    if (!part) return SL_ENOMEM;
    if (strpbrk(part, "*?[")) {
      status = match_folder(f, part, end);
    } else {
      status = extend(f, part, strlen(part));
      if (status == SL_OK) status = match(f, end);
    }
    free(part);
  }
  shorten(f, length);
  return status;
}

static int compare(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

int sl_paths_add(struct sl_paths *paths, const char *path, char *reason, size_t reason_size) {
  if (!strpbrk(path, "*?[") || access(path, F_OK) == 0) return add(paths, path);
  struct found found = {.paths = paths, .reason = reason, .reason_size = reason_size};
  const size_t first = paths->count;
  const int status = match(&found, path);
  if (status < 0) return status;
  if (paths->count == first) return add(paths, path);
  qsort((void *)(paths->at + first), paths->count - first, sizeof *paths->at, compare);
  return SL_OK;
}

void sl_paths_free(struct sl_paths *paths) {
  for (size_t i = 0; i < paths->count; i++) free(paths->at[i]);
  free((void *)paths->at);
  *paths = (struct sl_paths){0};
}
