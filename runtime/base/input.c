/* input.c: see input.h. All files are opened without blocking, because opening a pipe waits for its other end. A pipe
 * that will not be read is not opened: its writer would be killed by SIGPIPE when it is closed. tee() copies the bytes
 * of a pipe without consuming them; if there are none, its result shows whether there is a writer. A writer has one
 * second to open the pipe, so that reader and writer may be started in any order. */
#define _GNU_SOURCE
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

static int is_pipe(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISFIFO(about.st_mode);
}

int sl_open_regular(const char *path, char *reason, size_t size) {
  mode_t mode = 0;
  if (is_pipe(path)) return refuse(-1, reason, size, "a pipe, not a regular file");
  const int file = open_now(path, &mode, reason, size);
  if (file < 0 || S_ISREG(mode)) return file;
  return refuse(file, reason, size, "not a regular file");
}

/* Returns 1 if the other end has or had a writer. */
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
  if (S_ISFIFO(mode) && !has_writer(file)) return refuse(file, reason, size, "is a pipe without a writer");
  const int flags = fcntl(file, F_GETFL);
  if (flags < 0 || fcntl(file, F_SETFL, flags & ~O_NONBLOCK) < 0) return refuse(file, reason, size, strerror(errno));
  return file;
}

/* ------------------------------------------------------------------------------------- the begin of an input */

enum { BEGIN_BYTES = 1 << 20, ENOUGH_BYTES = 4096, PAUSE_TRIES = 50, PAUSE_TRY_MS = 10 };

static void read_file(struct sl_input_head *begin, const char *path) {
  const int file = sl_open_regular(path, begin->reason, sizeof begin->reason);
  if (file < 0) return;
  ssize_t got = 1;
  while (got > 0 && begin->count < BEGIN_BYTES) {
    got = pread(file, begin->bytes + begin->count, BEGIN_BYTES - begin->count, (off_t)begin->count);
    if (got > 0) begin->count += (size_t)got;
  }
  if (got < 0) snprintf(begin->reason, sizeof begin->reason, "%s", strerror(errno));
  close(file);
}

/* Waits until the pipe holds enough bytes to be recognised: ENOUGH_BYTES, or everything its writers wrote, or the bytes
 * before a pause of half a second. A signal ends the wait. */
static void wait_for_bytes(int pipe_end) {
  struct pollfd wait = {.fd = pipe_end, .events = POLLIN};
  if (!has_writer(pipe_end)) return;
  int last = 0, bytes = 0, tries = 0;
  while (tries < PAUSE_TRIES && bytes < ENOUGH_BYTES) {
    last = bytes;
    if (poll(&wait, 1, -1) < 0 || wait.revents & POLLHUP) return;
    if (last > 0 && poll(NULL, 0, PAUSE_TRY_MS) < 0) return;
    if (ioctl(pipe_end, FIONREAD, &bytes) < 0) return;
    tries = bytes > last ? 0 : tries + 1;
  }
}

static void copy_pipe(struct sl_input_head *begin) {
  int copy[2];
  if (pipe2(copy, O_CLOEXEC | O_NONBLOCK) != 0) return;
  (void)fcntl(copy[1], F_SETPIPE_SZ, BEGIN_BYTES);
  ssize_t got = tee(begin->pipe, copy[1], BEGIN_BYTES, SPLICE_F_NONBLOCK);
  while (got > 0 && begin->count < BEGIN_BYTES) {
    got = read(copy[0], begin->bytes + begin->count, BEGIN_BYTES - begin->count);
    if (got > 0) begin->count += (size_t)got;
  }
  close(copy[0]);
  close(copy[1]);
}

int sl_input_head_read(struct sl_input_head *begin, const char *path, int may_wait) {
  mode_t mode;
  *begin = (struct sl_input_head){.bytes = malloc(BEGIN_BYTES), .is_pipe = is_pipe(path), .pipe = -1};
  if (!begin->bytes) return -1;
  if (!begin->is_pipe) {
    read_file(begin, path);
  } else if (may_wait && (begin->pipe = open_now(path, &mode, begin->reason, sizeof begin->reason)) >= 0) {
    wait_for_bytes(begin->pipe);
    copy_pipe(begin);
  }
  return 0;
}

void sl_input_head_close_pipe(struct sl_input_head *begin) {
  if (begin->is_pipe && begin->pipe >= 0) close(begin->pipe);
  begin->pipe = -1;
}

void sl_input_head_close(struct sl_input_head *begin) {
  free(begin->bytes);
  begin->bytes = NULL;
  sl_input_head_close_pipe(begin);
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
