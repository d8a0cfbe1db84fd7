/* expand.h: open ports become ports. A table of an algorithm with open ports is copied, with a member for each
 * collection that has the trait of the open port, and the budgets of these; whoever reads the copy need not know
 * what an open port is. Only its argument struct must be filled with where they are (sl_open_ports_fill). */
#ifndef SL_EXPAND_H
#define SL_EXPAND_H

#include <sluice/plugin.h>

/* Does what `collections` declares fit what `ports` declares: layouts, and the names of ports? 0, or SL_EPLUGIN with
 * the reason. Both may be the same plugin. */
int sl_open_ports_check(const struct sl_plugin *collections, const struct sl_plugin *ports, char *reason, size_t size);

/* The collections with a trait, for sl_plugin_expand: sorted by trait and port, none twice. */
struct sl_traits {
  const struct sl_collection **collections;
  uint32_t count;
};
/* Adds those of a plugin: 0 or SL_ENOMEM. */
int sl_traits_add(struct sl_traits *traits, const struct sl_plugin *plugin);
void sl_traits_free(struct sl_traits *traits);

int sl_has_open_ports(const struct sl_plugin *plugin);
/* The plugin with its open ports expanded; all in one piece of memory, to be freed with free(). NULL when memory is
 * out. */
struct sl_plugin *sl_plugin_expand(const struct sl_plugin *plugin, const struct sl_traits *traits);

/* Says in an argument struct, of args_size bytes, where the ports are that stand for its open ports. */
void sl_open_ports_fill(const struct sl_algorithm *algorithm, void *args);

#endif
