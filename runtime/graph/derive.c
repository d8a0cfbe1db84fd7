/* derive.c: expressions in place of fields. `set: { of: "NODE: sqrt(x^2 + y^2)" }` becomes a reference to the value of
 * a node of generic.derive, which is added to the graph; equal expressions share one. expressions.c compiles them.
 */
#include "graph/stages.h"
#include "plugin/tables.h"

#include <string.h>

static const char derive_use[] = "generic.derive";

static int is_expression(const char *text) {
  return text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.")] != '\0';
}

/* The node that computes the same expression on the same events, or NULL. */
static const char *find_equal(const struct sl_reader *r, const char *text, const struct sl_tree *events) {
  for (const struct sl_derived *d = r->derived; d != NULL; d = d->next)
    if (events == NULL && !d->has_events && strcmp(d->text, text) == 0) return d->node;
  return NULL;
}

static const char *free_name(struct sl_reader *r, const struct sl_tree *nodes, const char *user, const char *property) {
  const char *name = sl_arena_format(r->arena, "%s_%s", user, property);
  while (sl_tree_find(nodes, name) != NULL) name = sl_arena_format(r->arena, "%s_", name);
  return name;
}

static void derive(struct sl_reader *r, struct sl_tree *nodes, const struct sl_entry *user,
                   struct sl_entry *reference) {
  struct sl_tree *text = reference->value;
  const struct sl_tree *events = sl_tree_get(user->value, "events");
  const char *name = find_equal(r, text->text, events);
  if (name == NULL) {
    name = free_name(r, nodes, user->key, reference->key);
    struct sl_derived *derived = sl_arena_get(r->arena, 1, sizeof *derived);
    *derived = (struct sl_derived){name, text->text, user->key, reference->key, events != NULL, r->derived};
    r->derived = derived;
    struct sl_tree *node = sl_tree_new(r, SL_TREE_MAP, text->mark), *set = sl_tree_new(r, SL_TREE_MAP, text->mark);
    sl_tree_add(r, node, "use", text->mark, sl_tree_scalar(r, derive_use, 0, text->mark));
    sl_tree_add(r, node, "set", text->mark, set);
    sl_tree_add(r, set, "expression", text->mark, text);
    if (events != NULL) sl_tree_add(r, node, "events", text->mark, sl_tree_copy(r, events));
    sl_tree_add(r, nodes, name, text->mark, node);
  }
  reference->value = sl_tree_scalar(r, sl_arena_format(r->arena, "%s.value", name), 0, text->mark);
}

void sl_derive_fields(struct sl_reader *r, struct sl_tree *root) {
  struct sl_tree *nodes = sl_tree_get(root, "nodes");
  const struct sl_plugin_entry *plugin;
  const struct sl_entry *last = nodes->last;
  for (const struct sl_entry *entry = nodes->first; entry != NULL; entry = entry != last ? entry->next : NULL) {
    const struct sl_tree *use = sl_tree_get(entry->value, "use"), *set = sl_tree_get(entry->value, "set");
    if (use == NULL || set == NULL) continue;
    const struct sl_algorithm *a = sl_registry_find(r->request->registry, use->text, r->request->target, &plugin);
    for (uint32_t m = 0; a != NULL && m < a->member_count; m++) {
      if (!sl_is_named_field(&a->members[m])) continue;
      struct sl_entry *reference = sl_tree_find(set, a->members[m].name);
      const struct sl_tree *text = reference != NULL ? reference->value : NULL;
      if (text != NULL && text->kind == SL_TREE_SCALAR && text->conditions == 0 && is_expression(text->text))
        derive(r, nodes, entry, reference);
    }
  }
}
