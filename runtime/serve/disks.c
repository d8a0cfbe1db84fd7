/* disks.c: see disks.h. */
#include "serve/disks.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* The folder of a regular file, or of a file that does not exist yet; 0 if there is none. */
static int folder_of(const struct sl_files *files, const char *path, char folder[PATH_MAX]) {
  char whole[PATH_MAX];
  struct stat status;
  const char *resolved = sl_files_resolve(files, path, whole);
  if (!resolved || strncmp(path, "zmq:", 4) == 0 || strcmp(path, "-") == 0) return 0;
  if (stat(resolved, &status) == 0 && !S_ISREG(status.st_mode)) return 0;
  const char *slash = strrchr(resolved, '/');
  const int length = slash == resolved ? 1 : slash ? (int)(slash - resolved) : 1;
  snprintf(folder, PATH_MAX, "%.*s", length, slash ? resolved : ".");
  return 1;
}

static void look_at(struct sl_disks *d, const char *folder) {
  struct stat status;
  struct statvfs space;
  if (stat(folder, &status) < 0) return;
  for (uint32_t i = 0; i < d->count; i++)
    if (d->at[i].device == status.st_dev) return;
  if (d->count == SL_DISKS_MAX || statvfs(folder, &space) < 0 || space.f_blocks == 0) return;
  struct sl_disk *disk = &d->at[d->count++];
  disk->device = status.st_dev;
  disk->free_bytes = (double)space.f_bavail * (double)space.f_frsize;
  disk->total_bytes = (double)space.f_blocks * (double)space.f_frsize;
  snprintf(disk->folder, sizeof disk->folder, "%s", folder);
}

void sl_disks_look(struct sl_disks *d, const struct sl_files *files) {
  char folder[PATH_MAX];
  d->count = 0;
  for (uint32_t i = 0; i < files->count; i++)
    if (files->at[i].option && folder_of(files, files->at[i].path, folder)) look_at(d, folder);
}

double sl_disks_file_bytes(const struct sl_files *files, const char *path) {
  char whole[PATH_MAX], part[PATH_MAX + 8];
  struct stat status;
  const char *resolved = sl_files_resolve(files, path, whole);
  if (!resolved) return -1;
  snprintf(part, sizeof part, "%s.part", resolved);
  const int is_there = stat(part, &status) == 0 || stat(resolved, &status) == 0;
  return is_there && S_ISREG(status.st_mode) ? (double)status.st_size : -1;
}
