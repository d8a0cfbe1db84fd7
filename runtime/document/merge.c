/* merge.c: merges one document after the other into `root`: maps key by key; scalars and lists replace; null removes.
 *
 * When `use` changes, values set for the earlier algorithm are marked as inherited: if the new algorithm lacks them,
 * they are dropped with a note instead of an error. Under `in`, a null is kept: it leaves an optional input
 * unconnected. The named producers of a list port are a map, merged key by key.
 */
#include "document/document.h"

#include <string.h>

static const char *const map_sections[] = {"parameters", "nodes", "budgets"};
static const char *const replaced_sections[] = {"description", "outputs", "conditions"};

struct sl_tree *sl_merge_root(struct sl_reader *r) {
  const struct sl_mark nowhere = {NULL, 0, 0};
  struct sl_tree *root = sl_tree_new(r, SL_TREE_MAP, nowhere);
  for (uint32_t i = 0; i < SL_COUNT_(map_sections); i++)
    sl_tree_add(r, root, map_sections[i], nowhere, sl_tree_new(r, SL_TREE_MAP, nowhere));
  return root;
}

static void put(struct sl_reader *r, struct sl_tree *map, const struct sl_entry *from, struct sl_tree *value) {
  struct sl_entry *entry = sl_tree_find(map, from->key);
  if (entry == NULL) {
    sl_tree_add(r, map, from->key, from->mark, value);
    return;
  }
  entry->mark = from->mark;
  entry->value = value;
  entry->inherited = 0;
}

/* Returns 1 if there is a value to merge. A refused value leaves its mark. */
static int should_merge(struct sl_reader *r, struct sl_tree *into, const struct sl_entry *from) {
  if (from->value == NULL && from->refused) {
    struct sl_entry *entry = sl_tree_find(into, from->key);
    if (entry == NULL) entry = sl_tree_add(r, into, from->key, from->mark, NULL);
    entry->refused = 1;
  }
  return from->value != NULL;
}

/* `warned`: warn about a null that removes nothing, which is probably a misspelling. */
static void remove_key(struct sl_reader *r, struct sl_tree *map, const struct sl_entry *from, int warned) {
  struct sl_entry *entry = sl_tree_find(map, from->key);
  if (entry != NULL && entry->value != NULL) {
    entry->value = NULL;
    entry->refused = 0;
    return;
  }
  if (!warned) return;
  struct sl_guess guess;
  sl_guess_begin(r, &guess, from->key);
  for (const struct sl_entry *other = map->first; other != NULL; other = other->next)
    if (other->value != NULL) sl_guess_offer(&guess, other->key);
  sl_report(r, SL_WARNING, from->mark, NULL, sl_guess_hint(r, &guess),
            "null removes `%s`, but there is no entry with that name", from->key);
}

static void merge_values(struct sl_reader *r, struct sl_tree *into, const struct sl_tree *from) {
  for (const struct sl_entry *entry = from->first; entry != NULL; entry = entry->next) {
    if (!should_merge(r, into, entry)) continue;
    if (sl_tree_is_null(entry->value))
      remove_key(r, into, entry, 1);
    else
      put(r, into, entry, entry->value);
  }
}

/* Returns the map under the key of `from`; creates it if necessary. */
static struct sl_tree *map_under(struct sl_reader *r, struct sl_tree *map, const struct sl_entry *from) {
  struct sl_tree *value = sl_tree_get(map, from->key);
  if (value == NULL) {
    value = sl_tree_new(r, SL_TREE_MAP, from->value->mark);
    put(r, map, from, value);
  }
  return value;
}

struct sl_tree *sl_block_map(struct sl_reader *r, struct sl_tree *node, struct sl_mark mark) {
  struct sl_entry *entry = sl_tree_find(node, "block");
  if (entry == NULL) entry = sl_tree_add(r, node, "block", mark, NULL);
  if (entry->value != NULL && entry->value->kind == SL_TREE_MAP) return entry->value;
  struct sl_tree *map = sl_tree_new(r, SL_TREE_MAP, mark);
  if (entry->value != NULL) sl_tree_add(r, map, SL_BLOCK_ALL, entry->value->mark, entry->value);
  entry->value = map;
  entry->mark = mark;
  entry->inherited = 0;
  return map;
}

static void merge_inputs(struct sl_reader *r, struct sl_tree *into, const struct sl_tree *from) {
  for (const struct sl_entry *entry = from->first; entry != NULL; entry = entry->next) {
    if (!should_merge(r, into, entry)) continue;
    if (entry->value->kind != SL_TREE_MAP) {
      put(r, into, entry, entry->value);
      continue;
    }
    struct sl_tree *earlier = sl_tree_get(into, entry->key);
    struct sl_tree *by_name = sl_tree_new(r, SL_TREE_MAP, entry->value->mark);
    if (earlier != NULL && earlier->kind == SL_TREE_MAP) merge_values(r, by_name, earlier);
    merge_values(r, by_name, entry->value);
    put(r, into, entry, by_name);
  }
}

static void merge_node(struct sl_reader *r, struct sl_tree *into, const struct sl_tree *from) {
  for (const struct sl_entry *entry = from->first; entry != NULL; entry = entry->next) {
    if (!should_merge(r, into, entry)) continue;
    if (sl_tree_is_null(entry->value))
      remove_key(r, into, entry, 0);
    else if (strcmp(entry->key, "in") == 0)
      merge_inputs(r, map_under(r, into, entry), entry->value);
    else if (strcmp(entry->key, "block") == 0 && entry->value->kind == SL_TREE_MAP)
      merge_values(r, sl_block_map(r, into, entry->mark), entry->value);
    else if (entry->value->kind == SL_TREE_MAP && strcmp(entry->key, "events") != 0)
      merge_values(r, map_under(r, into, entry), entry->value);
    else
      put(r, into, entry, entry->value);
  }
}

static void merge_nodes(struct sl_reader *r, struct sl_tree *root, const struct sl_tree *from) {
  struct sl_tree *nodes = sl_tree_get(root, "nodes");
  for (const struct sl_entry *entry = from->first; entry != NULL; entry = entry->next) {
    if (!should_merge(r, nodes, entry)) continue;
    if (sl_tree_is_null(entry->value)) {
      remove_key(r, nodes, entry, 1);
      continue;
    }
    struct sl_tree *use = sl_tree_get(entry->value, "use");
    if (use != NULL && sl_tree_get(nodes, entry->key) != NULL) sl_change_use(r, root, entry->key, use);
    merge_node(r, map_under(r, nodes, entry), entry->value);
  }
}

/* Removes values of earlier documents that this one gives in the other place: a budget may be under `budgets` or under
 * the node's `set`. */
static void replace_budgets(struct sl_reader *r, struct sl_tree *root, const struct sl_tree *document) {
  const struct sl_tree *budgets = sl_tree_get(document, "budgets"), *nodes = sl_tree_get(document, "nodes");
  const int has_budgets = budgets != NULL && budgets->kind == SL_TREE_MAP;
  const int has_nodes = nodes != NULL && nodes->kind == SL_TREE_MAP;
  for (const struct sl_entry *entry = has_budgets ? budgets->first : NULL; entry != NULL; entry = entry->next) {
    const char *dot = strchr(entry->key, '.');
    const struct sl_tree *node =
        dot != NULL
            ? sl_tree_get(sl_tree_get(root, "nodes"), sl_arena_text(r->arena, entry->key, (size_t)(dot - entry->key)))
            : NULL;
    struct sl_tree *set = node != NULL ? sl_tree_get(node, "set") : NULL;
    struct sl_entry *earlier = set != NULL && set->kind == SL_TREE_MAP ? sl_tree_find(set, dot + 1) : NULL;
    if (earlier != NULL && entry->value != NULL) earlier->value = NULL;
  }
  for (const struct sl_entry *node = has_nodes ? nodes->first : NULL; node != NULL; node = node->next) {
    const struct sl_tree *set =
        node->value != NULL && node->value->kind == SL_TREE_MAP ? sl_tree_get(node->value, "set") : NULL;
    const int is_map = set != NULL && set->kind == SL_TREE_MAP;
    for (const struct sl_entry *entry = is_map ? set->first : NULL; entry != NULL; entry = entry->next) {
      struct sl_entry *earlier =
          sl_tree_find(sl_tree_get(root, "budgets"), sl_arena_format(r->arena, "%s.%s", node->key, entry->key));
      if (earlier != NULL && entry->value != NULL) earlier->value = NULL;
    }
  }
}

static int is_ellipsis(const struct sl_tree *item) {
  return item != NULL && item->kind == SL_TREE_SCALAR && strcmp(item->text, "...") == 0;
}

static void add_output(struct sl_reader *r, struct sl_tree *list, struct sl_tree *seen, const struct sl_entry *item) {
  if (item->value != NULL && item->value->kind == SL_TREE_SCALAR) {
    if (sl_tree_find(seen, item->value->text) != NULL) return;
    sl_tree_add(r, seen, item->value->text, item->mark, NULL);
  }
  sl_tree_add(r, list, item->key, item->mark, item->value);
}

/* Outputs in which `...` stands for those of the earlier documents; an output that is listed twice counts once. */
static struct sl_tree *extended_outputs(struct sl_reader *r, struct sl_tree *earlier, struct sl_tree *given) {
  int extends = 0;
  for (const struct sl_entry *item = given->first; item != NULL; item = item->next) extends |= is_ellipsis(item->value);
  if (!extends) return given;
  if (earlier != NULL && sl_tree_is_all(earlier)) return earlier;
  struct sl_tree *list = sl_tree_new(r, SL_TREE_LIST, given->mark), *seen = sl_tree_new(r, SL_TREE_MAP, given->mark);
  for (const struct sl_entry *item = given->first; item != NULL; item = item->next) {
    if (!is_ellipsis(item->value))
      add_output(r, list, seen, item);
    else if (earlier != NULL && earlier->kind == SL_TREE_LIST)
      for (const struct sl_entry *old = earlier->first; old != NULL; old = old->next) add_output(r, list, seen, old);
  }
  return list;
}

/* Nodes are merged first, so that a changed `use` marks only the budgets of earlier documents. */
void sl_merge(struct sl_reader *r, struct sl_tree *root, const struct sl_tree *document) {
  const struct sl_tree *nodes = sl_tree_get(document, "nodes");
  replace_budgets(r, root, document);
  if (nodes != NULL && nodes->kind == SL_TREE_MAP) merge_nodes(r, root, nodes);
  for (uint32_t i = 0; i < SL_COUNT_(map_sections); i++) {
    const struct sl_tree *section = sl_tree_get(document, map_sections[i]);
    if (section == NULL || section == nodes || section->kind != SL_TREE_MAP) continue;
    merge_values(r, sl_tree_get(root, map_sections[i]), section);
  }
  for (uint32_t i = 0; i < SL_COUNT_(replaced_sections); i++) {
    const struct sl_entry *section = sl_tree_find(document, replaced_sections[i]);
    if (section == NULL || !should_merge(r, root, section)) continue;
    if (sl_tree_is_null(section->value))
      remove_key(r, root, section, 0);
    else if (strcmp(section->key, "outputs") == 0 && section->value->kind == SL_TREE_LIST)
      put(r, root, section, extended_outputs(r, sl_tree_get(root, "outputs"), section->value));
    else
      put(r, root, section, section->value);
  }
}
