/* library.c: see library.h. */
#include "zmq/library.h"

#include "base/shared_library.h"
#include "zmq/hub.h"

#include <pthread.h>
#include <stdio.h>

#define NAME(name) #name,
static const char *const names[] = {SL_ZMQ_FUNCTIONS(NAME) NULL};
#undef NAME
static const struct sl_shared_library libzmq = {"libzmq.so.5", "libzmq5", "zmq_", names};

static struct {
  pthread_mutex_t lock;
  int is_open;
  struct sl_zmq_library functions;
} library = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int open_library(char *reason, size_t reason_size) {
  int major, minor, patch;
  if (!sl_shared_library_open(&libzmq, &library.functions, reason, reason_size)) return 0;
  library.functions.version(&major, &minor, &patch);
  if (minor >= 3) return 1;
  snprintf(reason, reason_size, "the library %s has version %d.%d, and 4.3 is needed", libzmq.file, major, minor);
  return 0;
}

const struct sl_zmq_library *sl_zmq_library(char *reason, size_t reason_size) {
  pthread_mutex_lock(&library.lock);
  library.is_open = library.is_open || open_library(reason, reason_size);
  pthread_mutex_unlock(&library.lock);
  return library.is_open ? &library.functions : NULL;
}

void sl_zmq_describe(char *text, size_t size) {
  char reason[128];
  int major, minor, patch;
  const struct sl_zmq_library *zmq = sl_zmq_library(reason, sizeof reason);
  if (!zmq) {
    snprintf(text, size, "no ZeroMQ (%s)", libzmq.file);
    return;
  }
  zmq->version(&major, &minor, &patch);
  snprintf(text, size, "ZeroMQ %d.%d.%d", major, minor, patch);
}
