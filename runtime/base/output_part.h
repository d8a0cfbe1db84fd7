/* output_part.h: names of the temporary files of outputs (output.h), and the locks on them. */
#ifndef SL_OUTPUT_PART_H
#define SL_OUTPUT_PART_H

#include <limits.h>
#include <stddef.h>

/* Returns 1 if the name is that of a temporary file: it ends in .part, or .part and a number. */
int sl_output_is_part(const char *name);
/* Returns the path that a link leads to, in `followed`; `path` itself if it is no link; or NULL with errno. */
const char *sl_output_target(const char *path, char followed[PATH_MAX]);
/* Writes the temporary names of a target up to .part. A name that is too long is truncated at a character boundary and
 * followed by a hash of the whole name, so that two targets never share a temporary file. Returns the number of bytes
 * written, or 0 if there is no room for .part and a number. */
size_t sl_output_part_stem(const char *target, char stem[PATH_MAX]);
/* Marks the open file as written by this process. */
void sl_output_lock(int descriptor);
/* Number of the process that writes the temporary file `part`, or 0. */
long sl_output_writer(const char *part);

#endif
