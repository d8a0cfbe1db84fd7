/* graph_list.c: lists the graphs that are found by name (document/find.h), by folder, with their descriptions. Files of
 * a folder and of its subfolders are listed, in alphabetical order. */
#include "base/locale.h"
#include "document/find.h"
#include "graph/about.h"

#include <sluice/sluice.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WIDTH = 42 };

struct search_folder {
  size_t index; /* in the search order */
  const char *folder;
  FILE *file;
};

static int is_graph(const char *name) {
  const size_t length = strlen(name);
  return length > 5 && strcmp(name + length - 5, ".yaml") == 0;
}

/* Not hidden; sorted by bytes, independent of the locale. */
static int is_shown(const struct dirent *entry) { return entry->d_name[0] != '.'; }
static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

/* The index of the first folder that has the file, and the path of the file there. */
static size_t first_with(const char *name, char path[PATH_MAX]) {
  char folder[PATH_MAX];
  struct stat status;
  size_t i = 0;
  for (; sl_graph_folder(i, folder); i++) {
    const int length = snprintf(path, PATH_MAX, "%s/%s", folder, name);
    if (length > 0 && length < PATH_MAX && stat(path, &status) == 0) break;
  }
  return i;
}

static int write_graph(const struct search_folder *p, const char *name, const char *path) {
  char first[PATH_MAX], text[512];
  if (first_with(name, first) < p->index) {
    fprintf(p->file, "  %-*s hidden by %s\n", WIDTH, name, first);
    return SL_OK;
  }
  const int status = sl_graph_about(path, text, sizeof text);
  if (status == SL_ENOMEM) return status;
  fprintf(p->file, "  %-*s %s%s\n", WIDTH, name, status == SL_OK ? "" : "no graph: ", text);
  return SL_OK;
}

static int write_files(const struct search_folder *p, const char *below) {
  char path[2 * PATH_MAX], name[PATH_MAX];
  struct dirent **found = NULL;
  struct stat status;
  snprintf(path, sizeof path, "%s/%s", p->folder, below);
  const int count = scandir(path, &found, is_shown, by_name);
  if (count < 0 && errno == ENOMEM) return SL_ENOMEM;
  if (count < 0) fprintf(p->file, "  %s: %s\n", *below ? below : "not listed", strerror(errno));
  int result = SL_OK;
  for (int i = 0; i < count; i++) {
    snprintf(name, sizeof name, "%s%s", below, found[i]->d_name);
    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    const int is_there = result == SL_OK && stat(path, &status) == 0;
    if (is_there && S_ISDIR(status.st_mode) && *below == '\0') {
      strncat(name, "/", sizeof name - strlen(name) - 1);
      result = write_files(p, name);
    } else if (is_there && S_ISREG(status.st_mode) && is_graph(name)) {
      result = write_graph(p, name, path);
    }
    free(found[i]);
  }
  free(found);
  return result;
}

int sl_write_graph_list(FILE *file) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  char folder[PATH_MAX];
  int status = SL_OK;
  for (size_t i = 0; status == SL_OK && sl_graph_folder(i, folder); i++) {
    const struct search_folder p = {i, folder, file};
    fprintf(file, "%s\n", folder);
    status = write_files(&p, "");
  }
  return status;
}
