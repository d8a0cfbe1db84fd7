/* try.c: see try.h. */
#include "plugin/try.h"

#include "base/child.h"
#include "plugin/open.h"

#include <sluice/plugin.h>

#include <stdio.h>

enum { TRY_SECONDS = 10 };

/* Result of the child, in shared memory. */
struct attempt {
  struct sl_child child;
  const char *path;
  int status;
  char reason[1024];
};

static void open_it(void *context, struct sl_child *child) {
  struct attempt *attempt = context;
  const struct sl_plugin *plugin;
  void *handle;
  (void)child;
  attempt->status = sl_plugin_open(attempt->path, &handle, &plugin, attempt->reason, sizeof attempt->reason);
}

int sl_plugin_try(const char *path, char *reason, size_t reason_size) {
  struct attempt *attempt = sl_shared_new(sizeof *attempt);
  if (!attempt) return SL_ENOMEM;
  attempt->path = path;
  attempt->child.seconds = TRY_SECONDS;
  sl_child_run(&attempt->child, open_it, attempt);
  int status = SL_EPLUGIN;
  if (attempt->child.state == SL_CHILD_PASSED) {
    status = attempt->status;
    snprintf(reason, reason_size, "%s", attempt->reason);
  } else if (attempt->child.state == SL_CHILD_WRONG) {
    snprintf(reason, reason_size, "when it is loaded, it %s", attempt->child.text);
  } else {
    snprintf(reason, reason_size, "cannot be loaded: %s", attempt->child.text);
  }
  sl_shared_free(attempt, sizeof *attempt);
  return status;
}
