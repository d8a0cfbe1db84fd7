/* try.h: a first look at a plugin, in a process of its own. */
#ifndef SL_TRY_H
#define SL_TRY_H

#include <stddef.h>

/* Opens and checks the plugin (open.h) in a child, so that it may crash, hang or end its process: 0, or an error with
 * `reason`. That it did none of this once is no proof, but what plugins do by mistake they do each time. */
int sl_plugin_try(const char *path, char *reason, size_t reason_size);

#endif
