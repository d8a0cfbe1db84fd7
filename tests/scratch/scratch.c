/* scratch.c: see scratch.h. All folders of a program are in one common folder. */
#define _GNU_SOURCE
#include "scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[SCRATCH_PATH_MAX / 2];
static pid_t owner;

static void require(int condition, const char *path) {
  if (condition) return;
  perror(path);
  exit(1);
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *where) {
  (void)about, (void)kind, (void)where;
  return remove(path);
}

/* Only the program itself removes the folders, not its child processes. */
static void remove_all(void) {
  if (getpid() == owner) nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_root(void) {
  const char *parent = getenv("TMPDIR");
  const int length = snprintf(root, sizeof root, "%s/sluice-XXXXXX", parent && *parent ? parent : "/tmp");
  require(length < (int)sizeof root && mkdtemp(root) && chmod(root, 0711) == 0, root);
  owner = getpid();
  require(atexit(remove_all) == 0, root);
}

void scratch_folder(char path[SCRATCH_PATH_MAX]) {
  static unsigned count;
  if (!*root) make_root();
  snprintf(path, SCRATCH_PATH_MAX, "%s/%u", root, count++);
  require(mkdir(path, 0700) == 0, path);
}

void scratch_file(char path[SCRATCH_PATH_MAX]) {
  scratch_folder(path);
  strcat(path, "/file");
}

void scratch_write(const char *folder, const char *name, const void *bytes, size_t size) {
  char path[2 * SCRATCH_PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  require(file != NULL, path);
  require(fwrite(bytes, 1, size, file) == size, path);
  require(fclose(file) == 0, path);
}

void scratch_remove(const char *folder, const char *name) {
  char path[2 * SCRATCH_PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  remove(path);
}
