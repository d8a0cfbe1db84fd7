/* open.h: one plugin file, from path to checked descriptor. */
#ifndef SL_OPEN_H
#define SL_OPEN_H

#include <sluice/plugin.h>

/* Parts of a file name NAME.TARGET.so; 0, or SL_EINVAL for other names. Borrows from `file_name`. */
struct sl_plugin_file {
  const char *name, *target;
  size_t name_length, target_length;
};
int sl_plugin_file_parse(const char *file_name, struct sl_plugin_file *parts);

/* Opens a file named NAME.TARGET.so, and checks that the descriptor is valid and has that name and target. The file
 * is never unloaded, because CUDA does not support it. 0, SL_EIO, or SL_EPLUGIN with `reason`. */
int sl_plugin_open(const char *path, void **handle, const struct sl_plugin **plugin, char *reason, size_t reason_size);

#endif
