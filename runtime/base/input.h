/* input.h: opening what is to be read, whatever stands under its name: pipes and devices included, never to hang. */
#ifndef SL_INPUT_H
#define SL_INPUT_H

#include <stddef.h>

/* For what must be a regular file. A descriptor; or -1 with the reason. */
int sl_open_regular(const char *path, char *reason, size_t reason_size);
/* For what is read once from its begin to its end: regular files, devices, and pipes that somebody has opened to write.
 * A descriptor; or -1 with the reason. */
int sl_open_stream(const char *path, char *reason, size_t reason_size);

/* The first MiB of a regular file, to be freed, for sources to recognise it; nothing, and the reason, where it cannot
 * be read. NULL: no memory. */
unsigned char *sl_read_begin(const char *path, size_t *count, char *reason, size_t reason_size);
/* The command that compressed a file that begins so as a whole ("zstd"); NULL: nothing that is known. */
const char *sl_compression_of(const unsigned char *bytes, size_t count);
#define SL_COMPRESSED_HINT "decompress it into a pipe: `%s -dc FILE | sluice run GRAPH -i -`"

#endif
