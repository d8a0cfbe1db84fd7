/* input.h: opening what is to be read, whatever stands under its name: pipes and devices included, never to hang. */
#ifndef SL_INPUT_H
#define SL_INPUT_H

#include <stddef.h>

/* For what must be a regular file. A descriptor; or -1 with the reason. */
int sl_open_regular(const char *path, char *reason, size_t reason_size);
/* For what is read once from its begin to its end: regular files, devices, and pipes that somebody has opened to write.
 * A descriptor; or -1 with the reason. */
int sl_open_stream(const char *path, char *reason, size_t reason_size);

#endif
