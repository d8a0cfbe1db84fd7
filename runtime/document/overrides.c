/* overrides.c: applies the command line to the merged document: --use NODE=PLUGIN.ALGORITHM, then --set
 * NODE.PROPERTY=VALUE and --set PARAMETER=VALUE. NODE.block is the node's block size, NODE.block.KERNEL that of one
 * kernel. */
#include "document/document.h"

#include <string.h>

static void mark_inherited(struct sl_tree *map) {
  if (map == NULL || map->kind != SL_TREE_MAP) return;
  for (struct sl_entry *entry = map->first; entry != NULL; entry = entry->next) entry->inherited = 1;
}

static void mark_budgets_inherited(struct sl_tree *budgets, const char *node) {
  const size_t bytes = strlen(node);
  for (struct sl_entry *entry = budgets->first; entry != NULL; entry = entry->next)
    if (strncmp(entry->key, node, bytes) == 0 && entry->key[bytes] == '.') entry->inherited = 1;
}

/* Changes the algorithm of a node. Values set for the old algorithm become inherited. */
void sl_change_use(struct sl_reader *r, struct sl_tree *root, const char *node, struct sl_tree *use) {
  struct sl_tree *tree = sl_tree_get(sl_tree_get(root, "nodes"), node);
  struct sl_entry *entry = sl_tree_find(tree, "use");
  if (entry == NULL) {
    sl_tree_add(r, tree, "use", use->mark, use);
    return;
  }
  const int changed = entry->value != NULL && (sl_tree_is_null(use) || strcmp(entry->value->text, use->text) != 0);
  entry->value = use;
  if (!changed) return;
  mark_inherited(tree); /* events and block */
  mark_inherited(sl_tree_get(tree, "in"));
  mark_inherited(sl_tree_get(tree, "set"));
  mark_budgets_inherited(sl_tree_get(root, "budgets"), node);
}

static void unknown_name(struct sl_reader *r, const struct sl_tree *map, struct sl_mark mark, const char *what,
                         const char *name) {
  struct sl_guess guess;
  sl_guess_begin(r, &guess, name);
  for (const struct sl_entry *entry = map->first; entry != NULL; entry = entry->next)
    if (entry->value != NULL) sl_guess_offer(&guess, entry->key);
  sl_report_error(r, mark, NULL, sl_guess_hint(r, &guess), "the graph has no %s `%s`", what, sl_shown(r, name));
}

static void apply_use(struct sl_reader *r, struct sl_tree *root, const struct sl_override *override) {
  const struct sl_mark mark = sl_mark_option(r, "--use", override->key, override->value);
  struct sl_tree *nodes = sl_tree_get(root, "nodes");
  if (sl_tree_get(nodes, override->key) == NULL) {
    unknown_name(r, nodes, mark, "node", override->key);
    return;
  }
  const char *use = sl_arena_text(r->arena, override->value, strlen(override->value));
  sl_change_use(r, root, override->key, sl_tree_scalar(r, use, 1, mark));
}

/* Returns the option's value as a YAML scalar. Only quoted text needs the parser; other text is a plain scalar,
 * whatever its first character. An empty value is the empty string. */
static struct sl_tree *option_value(struct sl_reader *r, const char *value, struct sl_mark mark) {
  const size_t bytes = strlen(value);
  if (*value != '"' && *value != '\'') {
    struct sl_tree *plain = sl_tree_scalar(r, sl_arena_text(r->arena, value, bytes), bytes == 0, mark);
    plain->begins = 1;
    return plain;
  }
  mark.text->text = value;
  mark.text->bytes = bytes;
  struct sl_tree *tree = bytes <= SL_LIMIT_FILE_BYTES ? sl_tree_read(r, mark.text) : NULL;
  mark.text->text = NULL; /* messages show the option instead of a line of a file */
  if (tree != NULL && tree->kind == SL_TREE_SCALAR) {
    tree->mark = mark;
    return tree;
  }
  if (tree != NULL) sl_report_error(r, mark, NULL, NULL, "the value must be a single value");
  return NULL;
}

static void put_option(struct sl_reader *r, struct sl_tree *map, const char *key, struct sl_tree *value) {
  struct sl_tree *stored = sl_tree_is_null(value) ? NULL : value; /* null: restores the default */
  struct sl_entry *entry = sl_tree_find(map, key);
  if (entry == NULL) entry = sl_tree_add(r, map, key, value->mark, NULL);
  entry->value = stored;
  entry->mark = value->mark;
  entry->inherited = 0;
}

static void set_parameter(struct sl_reader *r, struct sl_tree *root, const char *name, struct sl_tree *value) {
  struct sl_tree *parameters = sl_tree_get(root, "parameters");
  if (sl_tree_get(parameters, name) == NULL)
    unknown_name(r, parameters, value->mark, "parameter", name);
  else if (sl_tree_is_null(value))
    sl_report_error(r, value->mark, NULL, NULL, "a parameter cannot be null");
  else
    put_option(r, parameters, name, value);
}

static void set_property(struct sl_reader *r, struct sl_tree *root, const char *node, const char *property,
                         struct sl_tree *value) {
  struct sl_tree *nodes = sl_tree_get(root, "nodes");
  struct sl_tree *tree = sl_tree_get(nodes, node);
  if (tree == NULL) {
    unknown_name(r, nodes, value->mark, "node", node);
    return;
  }
  if (strcmp(property, "block") == 0) {
    put_option(r, tree, "block", value);
    return;
  }
  if (strncmp(property, "block.", strlen("block.")) == 0) {
    put_option(r, sl_block_map(r, tree, value->mark), property + strlen("block."), value);
    return;
  }
  struct sl_entry *set = sl_tree_find(tree, "set");
  if (set == NULL) set = sl_tree_add(r, tree, "set", value->mark, NULL);
  if (set->value == NULL) set->value = sl_tree_new(r, SL_TREE_MAP, value->mark);
  put_option(r, set->value, property, value);
  struct sl_entry *budget =
      sl_tree_find(sl_tree_get(root, "budgets"), sl_arena_format(r->arena, "%s.%s", node, property));
  if (budget != NULL) budget->value = NULL; /* the command line has priority */
}

static void apply_set(struct sl_reader *r, struct sl_tree *root, const struct sl_override *override) {
  struct sl_mark mark = sl_mark_option(r, "--set", override->key, override->value);
  const char *dot = strchr(override->key, '.');
  const char *name = dot != NULL ? dot + 1 : override->key;
  struct sl_tree *value = strlen(name) <= SL_LIMIT_KEY_BYTES ? option_value(r, override->value, mark) : NULL;
  if (strlen(name) > SL_LIMIT_KEY_BYTES) sl_report_error(r, mark, NULL, NULL, "the name is too long");
  if (value == NULL) return;
  name = sl_arena_text(r->arena, name, strlen(name));
  if (dot == NULL)
    set_parameter(r, root, name, value);
  else
    set_property(r, root, sl_arena_text(r->arena, override->key, (size_t)(dot - override->key)), name, value);
}

void sl_apply_uses(struct sl_reader *r, struct sl_tree *root) {
  for (uint32_t i = 0; i < r->request->use_count; i++) apply_use(r, root, &r->request->uses[i]);
}

void sl_apply_sets(struct sl_reader *r, struct sl_tree *root) {
  for (uint32_t i = 0; i < r->request->set_count; i++) apply_set(r, root, &r->request->sets[i]);
}
