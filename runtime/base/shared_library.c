/* shared_library.c: see shared_library.h. */
#include "base/shared_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int sl_shared_library_open(const struct sl_shared_library *library, void *functions, char *reason, size_t reason_size) {
  void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) {
    snprintf(reason, reason_size, "it needs the library %s (Debian: %s), which cannot be opened", library->file,
             library->package);
    return 0;
  }
  for (size_t i = 0; library->names[i]; i++) {
    char name[96];
    snprintf(name, sizeof name, "%s%s", library->prefix, library->names[i]);
    void *symbol = dlsym(handle, name);
    memcpy((char *)functions + i * sizeof symbol, (const void *)&symbol, sizeof symbol);
    if (symbol) continue;
    snprintf(reason, reason_size, "the library %s has no %s: it is too old", library->file, name);
    dlclose(handle);
    return 0;
  }
  return 1;
}
