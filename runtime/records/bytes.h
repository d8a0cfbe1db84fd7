/* bytes.h: the bytes of an input, read in order: a regular file, a device or a pipe. */
#ifndef SL_BYTES_H
#define SL_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct sl_bytes {
  int descriptor; /* -1: not open */
  int has_ended;  /* the input has no bytes after those in the buffer */
  unsigned char *buffer;
  size_t allocated, begin, end; /* the bytes that were read and not skipped are [begin, end) of the buffer */
  uint64_t offset;              /* in the input, of the byte at `begin` */
  uint64_t total;               /* bytes of a regular file; 0: unknown */
};

/* Opens an input: 0, or SL_EIO with the reason. */
int sl_bytes_open(struct sl_bytes *b, const char *path, char *reason, size_t reason_size);
/* Reads until there are at least `count` bytes, or the input ends. Returns 1; 0 if nothing arrived for a while; SL_EIO
 * or SL_ENOMEM with the reason. Moves the bytes. */
int sl_bytes_need(struct sl_bytes *b, size_t count, char *reason, size_t reason_size);
/* Skips bytes that were read. */
void sl_bytes_skip(struct sl_bytes *b, size_t count);
/* Closes the input; the buffer stays allocated for the next one. */
void sl_bytes_close(struct sl_bytes *b);

static inline size_t sl_bytes_count(const struct sl_bytes *b) { return b->end - b->begin; }

#endif
