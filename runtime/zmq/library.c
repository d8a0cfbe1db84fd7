/* library.c: see library.h. */
#include "zmq/library.h"

#include "zmq/hub.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char file_name[] = "libzmq.so.5";

static struct {
  pthread_mutex_t lock;
  int is_open;
  struct sl_zmq_library functions;
} library = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Returns NULL, or a function or version that the library lacks. */
static const char *find_functions(void *handle) {
  int major, minor, patch;
  void *symbol;
#define FIND(name)                      \
  symbol = dlsym(handle, "zmq_" #name); \
  if (!symbol) return "zmq_" #name;     \
  memcpy((void *)&library.functions.name, (const void *)&symbol, sizeof symbol);
  SL_ZMQ_FUNCTIONS(FIND)
#undef FIND
  library.functions.version(&major, &minor, &patch);
  return minor < 3 ? "version 4.3" : NULL;
}

const struct sl_zmq_library *sl_zmq_library(char *reason, size_t reason_size) {
  pthread_mutex_lock(&library.lock);
  void *handle = library.is_open ? NULL : dlopen(file_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library.is_open && !handle) {
    snprintf(reason, reason_size, "it needs the library %s (Debian: libzmq5), which cannot be opened", file_name);
  } else if (!library.is_open) {
    const char *missing = find_functions(handle);
    if (missing) snprintf(reason, reason_size, "the library %s has no %s: it is too old", file_name, missing);
    library.is_open = !missing;
    if (missing) dlclose(handle);
  }
  pthread_mutex_unlock(&library.lock);
  return library.is_open ? &library.functions : NULL;
}

void sl_zmq_describe(char *text, size_t size) {
  char reason[128];
  int major, minor, patch;
  const struct sl_zmq_library *zmq = sl_zmq_library(reason, sizeof reason);
  if (!zmq) {
    snprintf(text, size, "no ZeroMQ (%s)", file_name);
    return;
  }
  zmq->version(&major, &minor, &patch);
  snprintf(text, size, "ZeroMQ %d.%d.%d", major, minor, patch);
}
