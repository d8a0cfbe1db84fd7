/* plugins.c: opens the plugins that a graph names, so that a run does not load libraries that it does not use.
 *
 * An open port takes the collections of all plugins found. If the graph has one, the plugins with a collection that has
 * a trait are opened too; this is determined from the tables in the plugin's file. Hints that search all plugins open
 * the others first. Plugins are opened in the order of the registry, not of the graph, so that of two plugins with
 * contradictory collections always the same one is refused.
 */
#include "graph/stages.h"
#include "plugin/expand.h"
#include "plugin/peek.h"

#include <string.h>

static int is_named(const struct sl_tree *root, const char *plugin) {
  const size_t bytes = strlen(plugin);
  for (const struct sl_entry *node = sl_tree_get(root, "nodes")->first; node != NULL; node = node->next) {
    const struct sl_tree *use = sl_tree_get(node->value, "use");
    if (use != NULL && use->kind == SL_TREE_SCALAR && strncmp(use->text, plugin, bytes) == 0 && use->text[bytes] == '.')
      return 1;
  }
  return 0;
}

void sl_load_plugin(struct sl_reader *r, size_t index) {
  if (sl_registry_load_entry(r->request->registry, index) == SL_ENOMEM)
    longjmp(r->arena->failed, SL_ARENA_OUT_OF_MEMORY);
}

void sl_load_named_plugins(struct sl_reader *r, const struct sl_tree *root) {
  const struct sl_registry *registry = r->request->registry;
  for (size_t i = 0; i < registry->entry_count; i++)
    if (registry->entries[i].status == SL_PLUGIN_UNOPENED && is_named(root, registry->entries[i].file_name)) {
      registry->entries[i].flags |= SL_PLUGIN_IS_NAMED;
      sl_load_plugin(r, i);
    }
}

void sl_load_all_plugins(struct sl_reader *r) {
  for (size_t i = 0; i < r->request->registry->entry_count; i++) sl_load_plugin(r, i);
}

static int has_open_ports(const struct sl_registry *registry) {
  for (size_t i = 0; i < registry->entry_count; i++)
    if (registry->entries[i].status == SL_PLUGIN_LOADED && sl_has_open_ports(registry->entries[i].plugin)) return 1;
  return 0;
}

/* A refused plugin may change the result silently: a copy of raw data would lack its banks. */
static void warn_if_refused(struct sl_reader *r, const struct sl_plugin_entry *entry) {
  if (entry->status == SL_PLUGIN_REFUSED)
    sl_report(r, SL_WARNING, sl_mark_graph(r), NULL, NULL, "collections of %s are left out: %s", entry->path,
              entry->reason ? entry->reason : "refused");
}

void sl_expand_plugins(struct sl_reader *r) {
  struct sl_registry *registry = r->request->registry;
  if (!has_open_ports(registry)) return;
  for (size_t i = 0; i < registry->entry_count; i++)
    if (registry->entries[i].status == SL_PLUGIN_UNOPENED && strcmp(registry->entries[i].file_target, "cpu") == 0 &&
        sl_plugin_peek(registry->entries[i].path, NULL, 0) & SL_PEEK_TRAIT) {
      sl_load_plugin(r, i);
      warn_if_refused(r, &registry->entries[i]);
    }
  if (sl_registry_expand(registry) == SL_ENOMEM) longjmp(r->arena->failed, SL_ARENA_OUT_OF_MEMORY);
}
