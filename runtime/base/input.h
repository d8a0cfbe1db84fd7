/* input.h: opens inputs of any type, including pipes and devices, without ever blocking in open(). */
#ifndef SL_INPUT_H
#define SL_INPUT_H

#include <stddef.h>

/* Opens a regular file; other types are not opened. Returns a descriptor, or -1 with the reason. */
int sl_open_regular(const char *path, char *reason, size_t reason_size);
/* Opens an input that is read once from beginning to end: a regular file, a device, or a pipe with a writer. Returns a
 * descriptor, or -1 with the reason. */
int sl_open_stream(const char *path, char *reason, size_t reason_size);

/* The first bytes of an input, at most 1 MiB, from which sources recognise it. */
struct sl_input_head {
  unsigned char *bytes; /* allocated */
  size_t count;
  int is_pipe;
  int pipe;         /* a pipe stays open until the source has opened it, so that its writer has a reader; -1: none */
  char reason[128]; /* why nothing could be read; empty if there was no error */
};

/* Reads the beginning of a regular file. From a pipe nothing is consumed: its first bytes are copied when they arrive,
 * and only if `may_wait`; otherwise the pipe is not opened. Returns 0, or -1 if out of memory. */
int sl_input_head_read(struct sl_input_head *begin, const char *path, int may_wait);
void sl_input_head_close(struct sl_input_head *begin);
/* Closes a pipe; the bytes stay. */
void sl_input_head_close_pipe(struct sl_input_head *begin);
/* Returns the command that compressed a whole file with these first bytes ("zstd"), or NULL if unknown. */
const char *sl_compression_of(const unsigned char *bytes, size_t count);
#define SL_COMPRESSED_HINT "decompress it into a pipe: `%s -dc FILE | sluice run GRAPH -i -`"

#endif
