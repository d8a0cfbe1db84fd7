/* describe.h: what a name means, for the descriptions for people (describe.c) and for programs (describe_json.c). */
#ifndef SL_DESCRIBE_H
#define SL_DESCRIBE_H

#include "base/json.h"
#include "plugin/registry.h"

/* An algorithm, else a collection, else (both NULL) a plugin; `entry` is the plugin, for a plugin that of its first
 * target. */
struct sl_subject {
  const struct sl_plugin_entry *entry;
  const struct sl_algorithm *algorithm;
  const struct sl_collection *collection;
};

/* Opens the plugins of all targets and finds a name among them. SL_EINVAL, with the nearest name, if there is none; the
 * registry is open then too unless memory was out. */
int sl_find_subject(const char *const *plugin_paths, const char *name, struct sl_diagnostics *d,
                    struct sl_registry *registry, struct sl_subject *subject);

/* "kernel", "constant", "source", "sink". */
const char *sl_kind_name(uint32_t kind);

/* schema.c: the JSON Schema of graphs that use the algorithms of a registry. */
void sl_schema_put(const struct sl_registry *registry, struct sl_json *j);

#endif
