/* library.c: see library.h. */
#include "serve/library.h"

#include "base/shared_library.h"

#include <pthread.h>

#define NAME(name) #name,
static const char *const names[] = {SL_MHD_FUNCTIONS(NAME) NULL};
#undef NAME
static const struct sl_shared_library libmicrohttpd = {"libmicrohttpd.so.12", "libmicrohttpd12", "MHD_", names};

static struct {
  pthread_mutex_t lock;
  int is_open;
  struct sl_mhd_library functions;
} library = {.lock = PTHREAD_MUTEX_INITIALIZER};

const struct sl_mhd_library *sl_mhd_library(char *reason, size_t reason_size) {
  pthread_mutex_lock(&library.lock);
  library.is_open = library.is_open || sl_shared_library_open(&libmicrohttpd, &library.functions, reason, reason_size);
  pthread_mutex_unlock(&library.lock);
  return library.is_open ? &library.functions : NULL;
}
