/* output_file.c: see output_file.h. */
#define _GNU_SOURCE
#include "output_file.h"

#include "column.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

hid_t hdf5_access_list(void) {
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  if (list >= 0) H5Pset_libver_bounds(list, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST); /* for concurrent readers */
#if H5_VERSION_GE(1, 10, 7)
  if (list >= 0) H5Pset_file_locking(list, 0, 1); /* the runtime has locked it */
#endif
  return list;
}

hid_t hdf5_create_group(hid_t parent, const char *name) {
  const hid_t list = H5Pcreate(H5P_GROUP_CREATE);
  hid_t group = -1;
  if (list >= 0 && H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0)
    group = H5Gcreate2(parent, name, H5P_DEFAULT, list, H5P_DEFAULT);
  if (list >= 0) H5Pclose(list);
  return group;
}

int hdf5_describe_run(hid_t file, const struct sl_run *run) {
  char digest[24], plugins[4096] = "";
  snprintf(digest, sizeof digest, "%016" PRIx64, run->graph_digest);
  for (uint32_t i = 0, used = 0; i < run->plugin_count && used < sizeof plugins; i++)
    used += (uint32_t)snprintf(plugins + used, sizeof plugins - used, "%s%s", i ? "\n" : "", run->plugins[i]);
  return hdf5_set_text(file, "sluice_version", run->sluice_version) < 0 ||
                 hdf5_set_text(file, "device", run->device) < 0 || hdf5_set_text(file, "graph", run->graph_text) < 0 ||
                 hdf5_set_text(file, "graph_digest", digest) < 0 || hdf5_set_text(file, "plugins", plugins) < 0 ||
                 hdf5_set_u64(file, "complete", 0) < 0
             ? -1
             : 0;
}

void hdf5_cut_off(hid_t file) {
  void *handle = NULL;
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere >= 0 && H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && handle)
    (void)dup3(nowhere, *(const int *)handle, O_CLOEXEC);
  if (nowhere >= 0) close(nowhere);
}
