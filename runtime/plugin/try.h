/* try.h: opens a plugin in a child process first. */
#ifndef SL_TRY_H
#define SL_TRY_H

#include <stddef.h>

/* Opens and checks the plugin (open.h) in a child process, which may crash, hang or exit: 0, or an error with
 * `reason`. Success is no guarantee, but faults of plugins are usually reproducible. */
int sl_plugin_try(const char *path, char *reason, size_t reason_size);

#endif
