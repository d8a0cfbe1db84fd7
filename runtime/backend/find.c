/* find.c: finds the backend of a target: built in, or a library that is loaded on demand. */
#include "backend/backend.h"
#include "base/library_folder.h"

#include <sluice/sluice.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *sl_devices(void) { return SLUICE_DEVICES; }

const struct sl_backend *sl_backend_find(const char *target) {
  if (strcmp(target, "cpu") == 0) return &sl_cpu_backend;
#if defined(SLUICE_SIMT)
  if (strcmp(target, "simt") == 0) return &sl_backend_simt;
#endif
  return NULL;
}

static const struct sl_backend *load_file(const char *path, const char *target, char *reason, size_t reason_size) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    snprintf(reason, reason_size, "%s", dlerror());
    return NULL;
  }
  const struct sl_backend *backend = dlsym(library, "sluice_backend");
  if (!backend || backend->size != sizeof *backend || strcmp(backend->target, target) != 0) {
    snprintf(reason, reason_size, "%s is not a backend for %s of this version", path, target);
    return NULL;
  }
  return backend;
}

const struct sl_backend *sl_backend_load(const char *target, char *reason, size_t reason_size) {
  static const char *const folders[] = {"backends", "sluice/backends"}; /* of the build tree; of an installation */
  char roots[SL_LIBRARY_FOLDERS_MAX][PATH_MAX], path[PATH_MAX + 64];
  const size_t count = strchr(target, '/') ? 0 : sl_library_folders(roots);
  for (size_t i = 0; i < 2 * count; i++) {
    snprintf(path, sizeof path, "%s/%s/%s.so", roots[i / 2], folders[i % 2], target);
    if (access(path, F_OK) == 0) return load_file(path, target, reason, reason_size);
  }
  snprintf(reason, reason_size, "this build has no backend for it");
  return NULL;
}
