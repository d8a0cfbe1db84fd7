/* shape.c: checks the keys of a graph's document and the kinds of their values: one table of rules, one walk. */
#include "document/document.h"

#include <string.h>

/* A rule for a value. `keys`: the allowed keys of a map; NULL: any key, with `item` as the rule for the values. */
struct rule {
  const char *key;
  uint32_t kinds; /* SL_TREE_... combined with |; the value of a key may always be null */
  uint32_t key_count;
  const struct rule *keys;
  const struct rule *item;
  const char *names; /* what a map's keys name, for messages: "a node" */
};

static const struct rule scalar = {.kinds = SL_TREE_SCALAR};
static const struct rule property = {.kinds = SL_TREE_SCALAR | SL_TREE_LIST, .item = &scalar};
/* The producers of an input: one port; for a list port, a list of ports or a map of ports by name. */
static const struct rule wiring = {
    .kinds = SL_TREE_SCALAR | SL_TREE_LIST | SL_TREE_MAP, .item = &scalar, .names = "a producer"};

static const struct rule events_keys[] = {{"any", SL_TREE_LIST, 0, NULL, &scalar, NULL}};

static const struct rule node_keys[] = {
    {"use", SL_TREE_SCALAR, 0, NULL, NULL, NULL},
    {"in", SL_TREE_MAP, 0, NULL, &wiring, NULL},
    {"set", SL_TREE_MAP, 0, NULL, &property, NULL},
    {"events", SL_TREE_SCALAR | SL_TREE_LIST | SL_TREE_MAP, 1, events_keys, &scalar, NULL},
    {"block", SL_TREE_SCALAR | SL_TREE_MAP, 0, NULL, &scalar, "a kernel"},
};

static const struct rule node = {.kinds = SL_TREE_MAP, .keys = node_keys, .key_count = SL_COUNT_(node_keys)};

static const struct rule conditions_keys[] = {
    {"by", SL_TREE_SCALAR, 0, NULL, NULL, NULL},
    {"files", SL_TREE_SCALAR, 0, NULL, NULL, NULL},
};

static const struct rule document_keys[] = {
    {"sluice", SL_TREE_SCALAR, 0, NULL, NULL, NULL},
    {"description", SL_TREE_SCALAR, 0, NULL, NULL, NULL},
    {"include", SL_TREE_LIST, 0, NULL, &scalar, NULL},
    {"parameters", SL_TREE_MAP, 0, NULL, &scalar, "a parameter"},
    {"conditions", SL_TREE_MAP, SL_COUNT_(conditions_keys), conditions_keys, NULL, NULL},
    {"nodes", SL_TREE_MAP, 0, NULL, &node, "a node"},
    {"outputs", SL_TREE_SCALAR | SL_TREE_LIST, 0, NULL, &scalar, NULL},
    {"budgets", SL_TREE_MAP, 0, NULL, &scalar, NULL},
};

static const struct rule document_rule = {
    .kinds = SL_TREE_MAP, .keys = document_keys, .key_count = SL_COUNT_(document_keys)};

int sl_is_name(const char *text) {
  for (const char *c = text; *c != 0; c++) {
    const int letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
    const int digit = *c >= '0' && *c <= '9';
    if (!letter && !(digit && c > text)) return 0;
  }
  return *text != 0;
}

static const char *kinds_text(uint32_t kinds) {
  return kinds == (SL_TREE_SCALAR | SL_TREE_LIST) ? "a single value or a list" : sl_tree_kind_text(kinds);
}

static const struct rule *find_rule(struct sl_reader *r, const struct rule *map, const struct sl_entry *entry) {
  if (map->keys == NULL) {
    if (map->names != NULL && !sl_is_name(entry->key)) {
      sl_report_error(r, entry->mark, NULL, "names consist of letters, digits and _, and do not begin with a digit",
                      "`%s` cannot be the name of %s", entry->key, map->names);
      return NULL;
    }
    return map->item;
  }
  struct sl_guess guess;
  sl_guess_begin(r, &guess, entry->key);
  for (uint32_t i = 0; i < map->key_count; i++) {
    if (strcmp(map->keys[i].key, entry->key) == 0) return &map->keys[i];
    sl_guess_offer(&guess, map->keys[i].key);
  }
  sl_report_error(r, entry->mark, NULL, sl_guess_hint(r, &guess), "unknown key `%s`", entry->key);
  return NULL;
}

static int check_value(struct sl_reader *r, const struct rule *rule, const char *what, struct sl_tree *value);

static void check_entries(struct sl_reader *r, const struct rule *rule, struct sl_tree *map) {
  for (struct sl_entry *entry = map->first; entry != NULL; entry = entry->next) {
    if (strncmp(entry->key, "x-", 2) == 0) entry->value = NULL; /* free for users */
    if (entry->value == NULL) continue;
    const struct rule *entry_rule = find_rule(r, rule, entry);
    const int fits =
        entry_rule != NULL && (sl_tree_is_null(entry->value) || check_value(r, entry_rule, entry->key, entry->value));
    if (!fits) sl_tree_refuse(entry);
  }
}

static void check_items(struct sl_reader *r, const struct rule *rule, const char *what, struct sl_tree *list) {
  for (struct sl_entry *item = list->first; item != NULL; item = item->next) {
    if (item->value != NULL && sl_tree_is_null(item->value)) {
      sl_report_error(r, item->value->mark, NULL, NULL, "`%s` has an empty item", what);
      sl_tree_refuse(item);
    }
    if (item->value != NULL && !check_value(r, rule->item, what, item->value)) sl_tree_refuse(item);
  }
}

/* Returns 1 if the value follows the rule. Its parts are checked, and removed if wrong, one by one. */
static int check_value(struct sl_reader *r, const struct rule *rule, const char *what, struct sl_tree *value) {
  if ((value->kind & rule->kinds) == 0) {
    sl_report_error(r, value->mark, NULL, NULL, "`%s` must be %s, but this is %s", what, kinds_text(rule->kinds),
                    sl_tree_kind_text(value->kind));
    return 0;
  }
  if (value->kind == SL_TREE_MAP) check_entries(r, rule, value);
  if (value->kind == SL_TREE_LIST) check_items(r, rule, what, value);
  return 1;
}

static void check_version(struct sl_reader *r, const struct sl_tree *document) {
  const struct sl_entry *version = sl_tree_find(document, "sluice");
  if (version == NULL) {
    sl_report_error(r, document->mark, NULL, "begin the file with `sluice: 1`", "the file has no `sluice: 1`");
    return;
  }
  const struct sl_tree *value = version->value; /* NULL: refused before */
  if (value != NULL && (value->quoted || strcmp(value->text, "1") != 0))
    sl_report_error(r, value->mark, NULL, NULL, "this program reads graphs of version 1, not `%s`",
                    sl_shown(r, value->text));
}

void sl_shape_check(struct sl_reader *r, struct sl_tree *document) {
  if (document->kind != SL_TREE_MAP) {
    sl_report_error(r, document->mark, NULL, NULL, "a graph must be a map that begins with `sluice: 1`");
    r->unreadable = 1;
    return;
  }
  check_entries(r, &document_rule, document);
  check_version(r, document);
}
