/* failing_calls.c: loaded before libc (LD_PRELOAD); makes call number FAIL_AT of the system calls on files in the
 * folder FAIL_UNDER fail, and reports it on standard error. With FAIL_ON set, later calls fail too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_int calls;

/* Function `name` of libc. */
#define REAL_(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int fails(const char *name, const char *path, int error) {
  const char *under = getenv("FAIL_UNDER"), *at = getenv("FAIL_AT");
  if (!under || !at || strncmp(path, under, strlen(under)) != 0) return 0;
  const int call = atomic_fetch_add(&calls, 1) + 1;
  if (call < atoi(at) || (call > atoi(at) && !getenv("FAIL_ON"))) return 0;
  if (call == atoi(at)) dprintf(STDERR_FILENO, "failing call: %s %s\n", name, path);
  errno = error;
  return 1;
}

static int fails_on_file(const char *name, int file, int error) {
  char of_file[64], target[PATH_MAX] = "";
  snprintf(of_file, sizeof of_file, "/proc/self/fd/%d", file);
  const int kept = errno;
  const ssize_t length = readlink(of_file, target, sizeof target - 1);
  errno = kept;
  return length > 0 && fails(name, target, error);
}

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const unsigned mode = flags & O_CREAT ? va_arg(arguments, unsigned) : 0;
  va_end(arguments);
  return fails("open", path, EIO) ? -1 : REAL_(open)(path, flags, mode);
}

ssize_t write(int file, const void *data, size_t bytes) {
  return fails_on_file("write", file, ENOSPC) ? -1 : REAL_(write)(file, data, bytes);
}

ssize_t pwrite(int file, const void *data, size_t bytes, off_t at) {
  return fails_on_file("pwrite", file, ENOSPC) ? -1 : REAL_(pwrite)(file, data, bytes, at);
}

int ftruncate(int file, off_t bytes) {
  return fails_on_file("ftruncate", file, EIO) ? -1 : REAL_(ftruncate)(file, bytes);
}

int fsync(int file) { return fails_on_file("fsync", file, EIO) ? -1 : REAL_(fsync)(file); }

int close(int file) {
  const int failed = fails_on_file("close", file, EIO); /* the file must be closed */
  const int result = REAL_(close)(file);
  if (failed) errno = EIO;
  return failed ? -1 : result;
}

int rename(const char *from, const char *to) { return fails("rename", from, EIO) ? -1 : REAL_(rename)(from, to); }
