/* file_identity.c: see file_identity.h. */
#define _GNU_SOURCE
#include "base/file_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int sl_file_is_stdout(const char *path) {
  static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(path, names[i]) == 0) return 1;
  return 0;
}

const char *sl_file_split(const char *path, char folder[PATH_MAX]) {
  const char *slash = strrchr(path, '/');
  const size_t length = slash == path ? 1 : slash ? (size_t)(slash - path) : 1;
  if (length >= PATH_MAX) return NULL;
  memcpy(folder, slash ? path : ".", length);
  folder[length] = '\0';
  return slash ? slash + 1 : path;
}

struct sl_file_identity sl_file_identify(const char *path) {
  struct sl_file_identity id = {.kind = SL_FILE_NONE};
  struct stat status;
  const int is_stdout = sl_file_is_stdout(path);
  if ((is_stdout ? fstat(STDOUT_FILENO, &status) : stat(path, &status)) == 0) {
    id.kind = is_stdout && !S_ISREG(status.st_mode) ? SL_FILE_STDOUT
              : S_ISCHR(status.st_mode)             ? SL_FILE_NONE
                                                    : SL_FILE_THERE;
    id.device = status.st_dev;
    id.inode = status.st_ino;
    return id;
  }
  char folder[PATH_MAX];
  const char *name = is_stdout ? NULL : sl_file_split(path, folder);
  if (!name || strlen(name) >= sizeof id.name || stat(folder, &status) != 0) return id;
  id.kind = SL_FILE_MISSING;
  id.device = status.st_dev;
  id.inode = status.st_ino;
  memcpy(id.name, name, strlen(name) + 1);
  return id;
}

int sl_file_is_same(const struct sl_file_identity *a, const struct sl_file_identity *b) {
  if (a->kind != b->kind || a->kind == SL_FILE_NONE) return 0;
  if (a->kind == SL_FILE_STDOUT) return 1;
  return a->device == b->device && a->inode == b->inode && strcmp(a->name, b->name) == 0;
}

static int refuse(char *reason, size_t bytes, const char *where, int error) {
  snprintf(reason, bytes, "%s%s%s", where ? where : "", where ? ": " : "", strerror(error));
  return -1;
}

int sl_file_may_be_written(const char *path, char *reason, size_t reason_bytes) {
  struct stat status;
  if (sl_file_is_stdout(path)) return 0;
  if (!*path) return refuse(reason, reason_bytes, NULL, ENOENT);
  const int is_there = stat(path, &status) == 0;
  if (!is_there && errno != ENOENT) return refuse(reason, reason_bytes, NULL, errno);
  if (!is_there && lstat(path, &status) == 0) {
    snprintf(reason, reason_bytes, "it is a link that leads nowhere");
    return -1;
  }
  if (is_there && S_ISDIR(status.st_mode)) return refuse(reason, reason_bytes, NULL, EISDIR);
  if (is_there && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0) return refuse(reason, reason_bytes, NULL, errno);
  if (is_there && !S_ISREG(status.st_mode)) return 0;
  char target[PATH_MAX], folder[PATH_MAX];
  if (is_there && !realpath(path, target)) return refuse(reason, reason_bytes, NULL, errno);
  const char *name = sl_file_split(is_there ? target : path, folder);
  if (!name || !*name) return refuse(reason, reason_bytes, NULL, name ? EISDIR : ENAMETOOLONG);
  if (strlen(name) > NAME_MAX) return refuse(reason, reason_bytes, NULL, ENAMETOOLONG);
  if (stat(folder, &status) != 0) return refuse(reason, reason_bytes, folder, errno);
  if (!S_ISDIR(status.st_mode)) return refuse(reason, reason_bytes, folder, ENOTDIR);
  if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0) return refuse(reason, reason_bytes, folder, errno);
  return 0;
}
