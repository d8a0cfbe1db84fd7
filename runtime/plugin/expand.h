/* expand.h: replaces open ports by ports. The table of an algorithm with open ports is copied, with one member per
 * collection that has the trait of the open port, and its budgets. Users of the copy need not know open ports; only the
 * argument struct must be filled with sl_open_ports_fill.
 */
#ifndef SL_EXPAND_H
#define SL_EXPAND_H

#include <sluice/plugin.h>

/* Checks that the collections of `collections` fit the open ports of `ports`: layouts and port names. 0, or
 * SL_EPLUGIN with the reason. Both may be one plugin. */
int sl_open_ports_check(const struct sl_plugin *collections, const struct sl_plugin *ports, char *reason, size_t size);

/* Collections with a trait, for sl_plugin_expand: sorted by trait and port, without duplicates. */
struct sl_traits {
  const struct sl_collection **collections;
  uint32_t count;
};
/* Adds the collections of a plugin: 0 or SL_ENOMEM. */
int sl_traits_add(struct sl_traits *traits, const struct sl_plugin *plugin);
void sl_traits_free(struct sl_traits *traits);

int sl_has_open_ports(const struct sl_plugin *plugin);
/* Returns a copy of the plugin with expanded open ports in one block of memory, to be freed with free(). NULL if out
 * of memory. */
struct sl_plugin *sl_plugin_expand(const struct sl_plugin *plugin, const struct sl_traits *traits);

/* Writes the offsets of the ports of each open port to an argument struct of args_size bytes. */
void sl_open_ports_fill(const struct sl_algorithm *algorithm, void *args);

#endif
