/* paths.h: lists of files given by paths or shell patterns. */
#ifndef SL_PATHS_H
#define SL_PATHS_H

#include <stddef.h>

/* Zero-initialise. `at` ends with NULL; it is NULL if nothing was added. */
struct sl_paths {
  char **at; /* each allocated */
  size_t count;
};

/* Adds the files that the pattern `path` matches, in ascending order. If `path` names a file or matches nothing, adds
 * `path` itself, so that the reader of the file reports the error. Returns 0; SL_EIO with the reason if a folder cannot
 * be read; or SL_ENOMEM. On an error, some files may have been added. */
int sl_paths_add(struct sl_paths *paths, const char *path, char *reason, size_t reason_size);
void sl_paths_free(struct sl_paths *paths);

#endif
