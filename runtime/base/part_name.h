/* part_name.h: names of temporary files (output.h). */
#ifndef SL_PART_NAME_H
#define SL_PART_NAME_H

#include <limits.h>
#include <stddef.h>

/* Returns 1 if the name is that of a temporary file: it ends in .part, or .part and a number. */
int sl_part_is_name(const char *name);
/* Returns the path that a link leads to, in `followed`; `path` itself if it is no link; or NULL with errno. */
const char *sl_part_target(const char *path, char followed[PATH_MAX]);
/* Writes the temporary names of a target up to .part. A name that is too long is truncated at a character boundary and
 * followed by a hash of the whole name, so that two targets never share a temporary file. Returns the number of bytes
 * written, or 0 if there is no room for .part and a number. */
size_t sl_part_stem(const char *target, char stem[PATH_MAX]);

#endif
