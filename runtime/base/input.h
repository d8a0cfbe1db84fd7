/* input.h: opening what is to be read, whatever stands under its name: pipes and devices included, never to hang. */
#ifndef SL_INPUT_H
#define SL_INPUT_H

#include <stddef.h>

/* For what must be a regular file; anything else is not opened. A descriptor; or -1 with the reason. */
int sl_open_regular(const char *path, char *reason, size_t reason_size);
/* For what is read once from its begin to its end: regular files, devices, and pipes that somebody has opened to write.
 * A descriptor; or -1 with the reason. */
int sl_open_stream(const char *path, char *reason, size_t reason_size);

/* The first bytes of an input, at most a MiB, for sources to recognise it. */
struct sl_begin {
  unsigned char *bytes; /* allocated */
  size_t count;
  int is_pipe;
  int pipe;         /* a pipe stays open so that its writer has a reader until the source has opened it; -1: none */
  char reason[128]; /* why nothing could be read; empty: it could */
};

/* Reads the begin of a regular file. Of a pipe nothing is taken: its first bytes are copied once there are some, and
 * only if `may_wait`; else it is not even opened. 0, or -1 when memory is out. */
int sl_begin_read(struct sl_begin *begin, const char *path, int may_wait);
void sl_begin_close(struct sl_begin *begin);
/* The command that compressed a file that begins so as a whole ("zstd"); NULL: nothing that is known. */
const char *sl_compression_of(const unsigned char *bytes, size_t count);
#define SL_COMPRESSED_HINT "decompress it into a pipe: `%s -dc FILE | sluice run GRAPH -i -`"

#endif
