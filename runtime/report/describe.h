/* describe.h: finds the algorithm, collection or plugin of a name, for the descriptions as text (describe.c) and as
 * JSON (describe_json.c). */
#ifndef SL_DESCRIBE_H
#define SL_DESCRIBE_H

#include "base/json.h"
#include "plugin/registry.h"

/* An algorithm, or a collection, or a plugin if both are NULL. `entry` is the file of the plugin, for a plugin its
 * first one. */
struct sl_subject {
  const struct sl_plugin_entry *entry;
  const struct sl_algorithm *algorithm;
  const struct sl_collection *collection;
};

/* Opens the plugins of all targets and finds a name. SL_EINVAL, with the nearest name in the message, if it is unknown.
 * The registry is open afterwards, unless memory was out. */
int sl_find_subject(const char *const *plugin_paths, const char *name, struct sl_diagnostics *d,
                    struct sl_registry *registry, struct sl_subject *subject);

/* NULL-terminated: the targets that a plugin may have a file for. */
extern const char *const sl_all_targets[];

/* "kernel", "constant", "source", "sink". */
const char *sl_kind_name(uint32_t kind);

/* schema.c: the JSON Schema of graphs that use the algorithms of a registry. */
void sl_schema_put(const struct sl_registry *registry, struct sl_json *j);

#endif
