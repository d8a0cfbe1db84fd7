/* find.c: see find.h. The environment is read at each call, so that nothing needs to be stored or freed. */
#define _GNU_SOURCE
#include "document/find.h"

#include "base/library_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Copies folder `*index` of SLUICE_GRAPH_PATH, counted from 0. If there is none, subtracts the number of its folders
 * from `*index`. */
static int folder_of_environment(size_t *index, char folder[PATH_MAX]) {
  const char *list = getenv("SLUICE_GRAPH_PATH");
  for (const char *at = list, *end; at && *at; at = *end ? end + 1 : end) {
    end = strchrnul(at, ':');
    const size_t length = (size_t)(end - at);
    if (length == 0 || length >= PATH_MAX) continue;
    if ((*index)-- > 0) continue;
    memcpy(folder, at, length);
    folder[length] = '\0';
    return 1;
  }
  return 0;
}

/* Copies folder `index` of the existing folders of the library: `graphs` of a build tree, and the installation's
 * folder. */
static int folder_of_library(size_t index, char folder[PATH_MAX]) {
  static const char *const folders[] = {"graphs", SLUICE_GRAPHS_FROM_LIBRARY};
  char roots[SL_LIBRARY_FOLDERS_MAX][PATH_MAX], path[PATH_MAX + 64];
  const size_t count = sl_library_folders(roots);
  for (size_t i = 0; i < count * 2; i++) {
    snprintf(path, sizeof path, "%s/%s", roots[i / 2], folders[i % 2]);
    if (realpath(path, folder) && index-- == 0) return 1;
  }
  return 0;
}

int sl_graph_folder(size_t index, char folder[PATH_MAX]) {
  return folder_of_environment(&index, folder) || folder_of_library(index, folder);
}

int sl_graph_is_searched(const char *path) {
  return *path != '\0' && *path != '/' && strncmp(path, "./", 2) != 0 && strncmp(path, "../", 3) != 0;
}

const char *sl_graph_find(const char *path, const char *beside, char found[PATH_MAX]) {
  if (access(beside, F_OK) == 0 || !sl_graph_is_searched(path)) return beside;
  char folder[PATH_MAX];
  for (size_t i = 0; sl_graph_folder(i, folder); i++) {
    const int length = snprintf(found, PATH_MAX, "%s/%s", folder, path);
    if (length > 0 && length < PATH_MAX && access(found, F_OK) == 0) return found;
  }
  return beside;
}
