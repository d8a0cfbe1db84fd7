/* shared_library.h: libraries that are opened when a run needs them, so that nothing links them. */
#ifndef SL_SHARED_LIBRARY_H
#define SL_SHARED_LIBRARY_H

#include <stddef.h>

struct sl_shared_library {
  const char *file;         /* "libzmq.so.5" */
  const char *package;      /* Debian package, for messages */
  const char *prefix;       /* of all functions: "zmq_" */
  const char *const *names; /* of the functions, without the prefix; NULL-terminated */
};

/* Opens the library, which then stays open, and stores the addresses of the functions in `functions`, a struct of
 * pointers in the order of the names. Returns 1; or 0 with the reason: "it needs the library ...". */
int sl_shared_library_open(const struct sl_shared_library *library, void *functions, char *reason, size_t reason_size);

#endif
