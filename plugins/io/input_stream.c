/* input_stream.c: see input_stream.h. */
#define _GNU_SOURCE
#include "input_stream.h"

#include <sluice/plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WRITER_TRIES = 100, WRITER_TRY_MS = 10, WAIT_MS = 500 };
enum { PIPE_BYTES = 1 << 20, READ_BYTES_MAX = 1 << 20, RELEASE_BYTES = 4 << 20 };

/* Size of the range: a power of two, 64 TiB, or less if the process may not have that. A test sets a small one. */
#ifndef INPUT_STREAM_BYTES
#define INPUT_STREAM_BYTES ((uint64_t)1 << 46)
#endif
static const uint64_t reserve_most = INPUT_STREAM_BYTES;
static const uint64_t reserve_least = INPUT_STREAM_BYTES < 64 << 20 ? INPUT_STREAM_BYTES : 64 << 20;
/* Bytes of the range that are used before it is used again from its begin, because the page tables of released pages
 * stay allocated: 2 MiB for this size. */
static const uint64_t used_most = (uint64_t)1 << 30;

static int fail(char *reason, uint32_t reason_size, const char *text) {
  snprintf(reason, reason_size, "%s", text);
  return SL_EIO;
}

/* Returns an eighth of the address space that the limits of the process allow. */
static uint64_t address_space_limit(void) {
  static const int kinds[] = {RLIMIT_AS, RLIMIT_DATA};
  uint64_t room = reserve_most;
  for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)kinds[i], &limit) == 0 && limit.rlim_cur / 8 < room) room = limit.rlim_cur / 8;
  }
  return room;
}

static int reserve_addresses(struct input_file *f) {
  for (uint64_t room = address_space_limit() & ~(reserve_least - 1); room >= reserve_least;
       room = room / 2 & ~(reserve_least - 1)) {
    void *data = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) continue;
    f->data = (const uint8_t *)data;
    f->mapped_bytes = room;
    return SL_OK;
  }
  return SL_EIO;
}

/* Reads once without blocking. Returns the number of bytes, 0 at the end (or if there was no writer yet), -1 if no data
 * is available, -2 on failure. */
static ssize_t read_some(struct input_file *f) {
  const uint64_t left = f->mapped_bytes - f->size;
  const size_t bytes = left < READ_BYTES_MAX ? (size_t)left : READ_BYTES_MAX;
  ssize_t got;
  do got = read(f->descriptor, (void *)(uintptr_t)(f->data + f->size), bytes);
  while (got < 0 && errno == EINTR);
  if (got > 0) f->size += (uint64_t)got;
  return got >= 0 ? got : errno == EAGAIN || errno == EWOULDBLOCK ? -1 : -2;
}

/* Waits for a writer. A pipe without one looks like a pipe that has ended; so both ends may be opened in any order. */
static int wait_for_writer(struct input_file *f, char *reason, uint32_t reason_size) {
  for (int try = 0; try < WRITER_TRIES; try++) {
    struct pollfd wait = {.fd = f->descriptor, .events = POLLIN};
    (void)poll(&wait, 1, try ? WRITER_TRY_MS : 0);
    const ssize_t got = read_some(f);
    if (got == -2) return fail(reason, reason_size, strerror(errno));
    if (got != 0) return SL_OK;
    f->has_ended = (wait.revents & POLLHUP) != 0;
    if (f->has_ended) return SL_OK;
  }
  return fail(reason, reason_size, "is a pipe without a writer");
}

int input_stream_open(struct input_file *f, int descriptor, char *reason, uint32_t reason_size) {
  f->descriptor = descriptor;
  f->is_stream = 1;
  (void)fcntl(descriptor, F_SETPIPE_SZ, PIPE_BYTES); /* failure costs only speed */
  if (reserve_addresses(f) < 0) return fail(reason, reason_size, "no address space for the data of this pipe");
  return wait_for_writer(f, reason, reason_size);
}

int input_stream_read(struct input_file *f, uint64_t bytes, char *reason, uint32_t reason_size) {
  while (!f->has_ended && f->size < bytes) {
    if (f->size == f->mapped_bytes) {
      snprintf(reason, reason_size, "a record exceeds the address space of %" PRIu64 " bytes reserved for this pipe",
               f->mapped_bytes);
      return SL_EIO;
    }
    const ssize_t got = read_some(f);
    if (got == -2) return fail(reason, reason_size, strerror(errno));
    f->has_ended = got == 0;
    struct pollfd wait = {.fd = f->descriptor, .events = POLLIN};
    if (got == -1 && poll(&wait, 1, WAIT_MS) <= 0) return INPUT_STREAM_LATER;
  }
  return INPUT_STREAM_MORE;
}

/* Frees the memory of whole pages. */
static void free_pages(const struct input_file *f, uint64_t begin, uint64_t end) {
  (void)madvise((void *)(uintptr_t)(f->data + begin), end - begin, MADV_DONTNEED);
}

void input_stream_release(struct input_file *f, uint64_t offset) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = offset & ~(page - 1);
  if (end < f->released_bytes + RELEASE_BYTES) return;
  free_pages(f, f->released_bytes, end);
  f->released_bytes = end;
}

uint64_t input_stream_restart(struct input_file *f, uint64_t offset, uint64_t bytes) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = (f->size + page - 1) & ~(page - 1);
  if (offset == 0 || (offset < used_most && bytes <= f->mapped_bytes - f->size)) return 0;
  uint8_t *data = (uint8_t *)(uintptr_t)f->data;
  f->size -= offset;
  memmove(data, data + offset, f->size);
  free_pages(f, (f->size + page - 1) & ~(page - 1), end);
  f->released_bytes = 0;
  return offset;
}

void input_stream_close(struct input_file *f) {
  if (f->data) munmap((void *)(uintptr_t)f->data, f->mapped_bytes);
  if (f->descriptor >= 0) close(f->descriptor);
}
