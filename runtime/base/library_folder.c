/* library_folder.c: see library_folder.h. The loader names a program as it was called; /proc has its real path. */
#define _GNU_SOURCE
#include "base/library_folder.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* Removes the last part of a path; returns 0 if there is none. */
static int path_cut(char *path) {
  char *slash = strrchr(path, '/');
  if (!slash || slash == path) return 0;
  *slash = '\0';
  return 1;
}

size_t sl_library_folders(char roots[SL_LIBRARY_FOLDERS_MAX][PATH_MAX]) {
  Dl_info about;
  void *extra = NULL;
  if (!dladdr1((const void *)&sl_library_folders, &about, &extra, RTLD_DL_LINKMAP) || !extra) return 0;
  const struct link_map *file = extra;
  const int is_program = !*file->l_name;
  if (!realpath(is_program ? "/proc/self/exe" : file->l_name, roots[0]) || !path_cut(roots[0])) return 0;
  if (!is_program) return 1;
  memcpy(roots[1], roots[0], PATH_MAX);
  return path_cut(roots[1]) ? 2 : 1;
}
