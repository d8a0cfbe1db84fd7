/* disks.h: the files that a run writes, and the free space of their disks. */
#ifndef SL_SERVE_DISKS_H
#define SL_SERVE_DISKS_H

#include "results/files.h"

enum { SL_DISKS_MAX = 16 };
struct sl_disk {
  char folder[PATH_MAX]; /* of the first file on it */
  dev_t device;
  double free_bytes, total_bytes;
};
struct sl_disks {
  struct sl_disk at[SL_DISKS_MAX];
  uint32_t count;
};

/* Looks at the disks of all files that the run writes; files in memory, devices and pipes have none. */
void sl_disks_look(struct sl_disks *d, const struct sl_files *files);
/* Size of a file that is being written, under its final or its temporary name; negative: unknown. */
double sl_disks_file_bytes(const struct sl_files *files, const char *path);

#endif
