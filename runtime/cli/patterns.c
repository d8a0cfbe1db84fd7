/* patterns.c: the files that a pattern stands for: each part of a path may have `*`, `?` and `[...]`, as in a shell. A
 * name that begins with a dot is matched by a dot only. A folder that cannot be read is an error; glob() would leave it
 * out, and that of glibc 2.36 frees twice where memory is out.
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is matched so far, in full: "", or a folder with its slash, or a file. */
struct found {
  char path[PATH_MAX];
  size_t length;
  struct cli_list *files;
};

static int fail(const char *path, int error) {
  fprintf(stderr, "error: %s: %s\n", *path ? path : ".", strerror(error));
  return CLI_FAILED;
}

/* Makes the path longer. */
static int extend(struct found *f, const char *text, size_t length) {
  if (f->length + length >= sizeof f->path) return fail(f->path, ENAMETOOLONG);
  memcpy(f->path + f->length, text, length);
  f->length += length;
  f->path[f->length] = '\0';
  return CLI_OK;
}

static void shorten(struct found *f, size_t length) {
  f->length = length;
  f->path[length] = '\0';
}

static int add(struct found *f) {
  char *copy = strdup(f->path);
  if (!copy) return cli_no_memory();
  const int status = cli_append(f->files, copy);
  if (status != CLI_OK) free(copy);
  return status; /* NOLINT(clang-analyzer-unix.Malloc): f->files has it */
}

static int match(struct found *f, const char *pattern);

/* One name of the folder against a part of the pattern; `rest` follows it. */
static int match_name(struct found *f, const char *part, const char *rest, const char *name) {
  const int differs = fnmatch(part, name, FNM_PERIOD);
  if (differs == FNM_NOMATCH) return CLI_OK;
  if (differs) return fail(part, errno ? errno : EINVAL);
  const size_t length = f->length;
  int status = extend(f, name, strlen(name));
  if (status == CLI_OK) status = match(f, rest);
  shorten(f, length);
  return status;
}

static int match_folder(struct found *f, const char *part, const char *rest) {
  DIR *folder = opendir(f->length ? f->path : ".");
  if (!folder) return errno == ENOENT || errno == ENOTDIR ? CLI_OK : fail(f->path, errno);
  int status = CLI_OK;
  for (const struct dirent *entry; status == CLI_OK; status = match_name(f, part, rest, entry->d_name)) {
    errno = 0;
    entry = readdir(folder);
    if (!entry && errno) status = fail(f->path, errno);
    if (!entry) break;
  }
  closedir(folder);
  return status;
}

/* What is left of the pattern: slashes, a part, and what follows. */
static int match(struct found *f, const char *pattern) {
  const size_t slashes = strspn(pattern, "/"), length = f->length;
  const char *begin = pattern + slashes, *end = strchrnul(begin, '/');
  int status = extend(f, pattern, slashes);
  if (status != CLI_OK) return status;
  if (begin == end) {
    status = access(f->path, F_OK) == 0 ? add(f) : CLI_OK;
  } else {
    char *part = strndup(begin, (size_t)(end - begin));
    if (!part) return cli_no_memory();
    if (strpbrk(part, "*?[")) {
      status = match_folder(f, part, end);
    } else {
      status = extend(f, part, strlen(part));
      if (status == CLI_OK) status = match(f, end);
    }
    free(part);
  }
  shorten(f, length);
  return status;
}

static int compare(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

int cli_match(const char *pattern, struct cli_list *files) {
  struct found found = {.files = files};
  const size_t first = files->count;
  const int status = match(&found, pattern);
  if (files->count > first) qsort((void *)(files->items + first), files->count - first, sizeof *files->items, compare);
  return status;
}
