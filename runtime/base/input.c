/* input.c: see input.h. All files are opened without waiting, since to open a pipe waits for its other end. Of a pipe,
 * tee() tells without taking anything from it: bytes are there, or a writer is, or nobody. Whoever starts writer and
 * reader at once need not care which comes first, so that a writer has a second to come. */
#define _GNU_SOURCE
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITER_TRIES = 100, WRITER_TRY_MS = 10 };

static int refuse(int file, char *reason, size_t size, const char *text) {
  snprintf(reason, size, "%s", text);
  if (file >= 0) close(file);
  return -1;
}

static int open_now(const char *path, mode_t *mode, char *reason, size_t size) {
  struct stat about;
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0 || fstat(file, &about) != 0) return refuse(file, reason, size, strerror(errno));
  if (S_ISDIR(about.st_mode)) return refuse(file, reason, size, strerror(EISDIR));
  *mode = about.st_mode;
  return file;
}

int sl_open_regular(const char *path, char *reason, size_t size) {
  mode_t mode = 0;
  const int file = open_now(path, &mode, reason, size);
  if (file < 0 || S_ISREG(mode)) return file;
  return refuse(file, reason, size, S_ISFIFO(mode) ? "a pipe, not a regular file" : "not a regular file");
}

/* Is there, or was there, a writer at the other end? */
static int has_writer(int pipe_end) {
  int peek[2], found = 0;
  if (pipe2(peek, O_CLOEXEC | O_NONBLOCK) != 0) return 1;
  for (int try = 0; try < WRITER_TRIES && !found; try++) {
    struct pollfd wait = {.fd = pipe_end, .events = POLLIN};
    (void)poll(&wait, 1, try ? WRITER_TRY_MS : 0);
    found = wait.revents != 0 || tee(pipe_end, peek[1], 1, SPLICE_F_NONBLOCK) != 0;
  }
  close(peek[0]);
  close(peek[1]);
  return found;
}

int sl_open_stream(const char *path, char *reason, size_t size) {
  mode_t mode = 0;
  const int file = open_now(path, &mode, reason, size);
  if (file < 0) return file;
  if (S_ISFIFO(mode) && !has_writer(file)) return refuse(file, reason, size, "is a pipe that nobody writes to");
  const int flags = fcntl(file, F_GETFL);
  if (flags < 0 || fcntl(file, F_SETFL, flags & ~O_NONBLOCK) < 0) return refuse(file, reason, size, strerror(errno));
  return file;
}

unsigned char *sl_read_begin(const char *path, size_t *count, char *reason, size_t reason_size) {
  enum { BEGIN_BYTES = 1 << 20 };
  unsigned char *bytes = malloc(BEGIN_BYTES);
  *count = 0;
  const int file = bytes ? sl_open_regular(path, reason, reason_size) : -1;
  if (file < 0) return bytes;
  ssize_t got = 1;
  while (got > 0 && *count < BEGIN_BYTES) {
    got = pread(file, bytes + *count, BEGIN_BYTES - *count, (off_t)*count);
    if (got > 0) *count += (size_t)got;
  }
  if (got < 0) snprintf(reason, reason_size, "%s", strerror(errno));
  close(file);
  return bytes;
}

const char *sl_compression_of(const unsigned char *bytes, size_t count) {
  static const struct {
    const char *name, *magic;
    size_t bytes;
  } known[] = {{"gzip", "\x1f\x8b", 2},
               {"zstd", "\x28\xb5\x2f\xfd", 4},
               {"xz",
                "\xfd"
                "7zXZ",
                5},
               {"lz4", "\x04\x22\x4d\x18", 4},
               {"bzip2", "BZh", 3}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (count >= known[i].bytes && memcmp(bytes, known[i].magic, known[i].bytes) == 0) return known[i].name;
  return NULL;
}
