/* paths.h: lists of files, as users name them: by their paths, or by patterns as in a shell. */
#ifndef SL_PATHS_H
#define SL_PATHS_H

#include <stddef.h>

/* Zero-initialise. `at` ends with NULL, and is NULL where nothing was added. */
struct sl_paths {
  char **at; /* each allocated */
  size_t count;
};

/* Adds what `path` stands for: a pattern the files that it matches, in ascending order; what is a file's name, or
 * matches nothing, itself, so that who reads it says what is wrong. 0; SL_EIO with the reason, where a folder cannot be
 * read, or SL_ENOMEM, both perhaps with some added. */
int sl_paths_add(struct sl_paths *paths, const char *path, char *reason, size_t reason_size);
void sl_paths_free(struct sl_paths *paths);

#endif
