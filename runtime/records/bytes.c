/* bytes.c: see bytes.h. Bytes are read in large pieces into one buffer, which grows to the longest record. */
#include "records/bytes.h"

#include "base/input.h"

#include <sluice/plugin.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BYTES = 4 << 20, WAIT_MS = 500 };

int sl_bytes_open(struct sl_bytes *b, const char *path, char *reason, size_t reason_size) {
  struct stat about;
  b->descriptor = sl_open_stream(path, reason, reason_size);
  if (b->descriptor < 0) return SL_EIO;
  b->total = fstat(b->descriptor, &about) == 0 && S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
  b->begin = b->end = 0;
  b->offset = 0;
  b->has_ended = 0;
  return SL_OK;
}

/* Makes room for `count` bytes from `begin` on, and for a piece of the usual size. */
static int make_room(struct sl_bytes *b, size_t count, char *reason, size_t reason_size) {
  const size_t room = (count > sl_bytes_count(b) ? count : sl_bytes_count(b)) + READ_BYTES;
  if (b->begin > 0 && b->begin + room > b->allocated) {
    memmove(b->buffer, b->buffer + b->begin, sl_bytes_count(b));
    b->end -= b->begin;
    b->begin = 0;
  }
  if (room <= b->allocated - b->begin) return SL_OK;
  unsigned char *larger = room < SIZE_MAX / 2 ? realloc(b->buffer, b->begin + room) : NULL;
  if (!larger) {
    snprintf(reason, reason_size, "no memory for a record of %zu bytes", count);
    return SL_ENOMEM;
  }
  b->buffer = larger;
  b->allocated = b->begin + room;
  return SL_OK;
}

int sl_bytes_need(struct sl_bytes *b, size_t count, char *reason, size_t reason_size) {
  /* A wrong length must not allocate more than a regular file has. */
  if (b->total && count > b->total - b->offset) count = (size_t)(b->total - b->offset) + 1;
  while (!b->has_ended && sl_bytes_count(b) < count) {
    struct pollfd wait = {.fd = b->descriptor, .events = POLLIN};
    if (poll(&wait, 1, WAIT_MS) <= 0) return 0;
    const size_t some = sl_bytes_count(b) + READ_BYTES; /* a pipe: memory for what has arrived, not for what is said */
    const int status = make_room(b, count < some ? count : some, reason, reason_size);
    if (status < 0) return status;
    const ssize_t got = read(b->descriptor, b->buffer + b->end, b->allocated - b->end);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
    if (got < 0) {
      snprintf(reason, reason_size, "%s", strerror(errno));
      return SL_EIO;
    }
    b->end += (size_t)got;
    b->has_ended = got == 0;
  }
  return 1;
}

void sl_bytes_skip(struct sl_bytes *b, size_t count) {
  b->begin += count;
  b->offset += count;
}

void sl_bytes_close(struct sl_bytes *b) {
  if (b->descriptor >= 0) close(b->descriptor);
  b->descriptor = -1;
}
