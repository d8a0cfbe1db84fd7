/* unused.c: reports command-line options without effect. Errors: --set or --use of a node that is left out, and --set
 * of a parameter that no live node refers to. Warning: an option that a later one replaces, because scripts append
 * options to existing ones.
 */
#include "graph/stages.h"

#include <string.h>

/* A node with values that refer to a parameter; NULL: a section other than nodes. */
struct sl_mention {
  const char *node;
  const struct sl_mention *next;
};

static int refers(const struct sl_tree *tree, const char *reference) {
  if (tree->kind == SL_TREE_SCALAR) return strstr(tree->text, reference) != NULL;
  for (const struct sl_entry *entry = tree->first; entry != NULL; entry = entry->next)
    if (entry->value != NULL && refers(entry->value, reference)) return 1;
  return 0;
}

static const struct sl_mention *mention(struct sl_reader *r, const char *node, const struct sl_mention *next) {
  struct sl_mention *m = sl_arena_get(r->arena, 1, sizeof *m);
  *m = (struct sl_mention){node, next};
  return m;
}

static const struct sl_mention *find_mentions(struct sl_reader *r, const struct sl_tree *root, const char *parameter) {
  const char *reference = sl_arena_format(r->arena, "${%s}", parameter);
  const struct sl_mention *found = NULL;
  for (const struct sl_entry *section = root->first; section != NULL; section = section->next) {
    if (section->value == NULL || strcmp(section->key, "parameters") == 0) continue;
    if (strcmp(section->key, "nodes") != 0) {
      if (refers(section->value, reference)) found = mention(r, NULL, found);
      continue;
    }
    for (const struct sl_entry *node = section->value->first; node != NULL; node = node->next)
      if (node->value != NULL && refers(node->value, reference)) found = mention(r, node->key, found);
  }
  return found;
}

void sl_find_mentions(struct sl_reader *r, const struct sl_tree *root) {
  r->mentions = sl_arena_get(r->arena, r->request->set_count + 1, sizeof *r->mentions);
  for (uint32_t i = 0; i < r->request->set_count; i++)
    if (strchr(r->request->sets[i].key, '.') == NULL) r->mentions[i] = find_mentions(r, root, r->request->sets[i].key);
}

static int is_unused(const struct sl_draft *draft, const char *node) {
  const int32_t index = sl_draft_find(draft, node);
  return index == SL_NONE || !draft->graph->nodes[index].live;
}

static void check_node(struct sl_draft *draft, const char *option, const struct sl_override *override) {
  struct sl_reader *r = draft->reader;
  const char *node = sl_arena_text(r->arena, override->key, strcspn(override->key, "."));
  if (is_unused(draft, node))
    sl_report_error(r, sl_mark_option(r, option, override->key, override->value), node, NULL,
                    "is left out, so this has no effect");
}

static void check_parameter(struct sl_draft *draft, uint32_t i) {
  struct sl_reader *r = draft->reader;
  const struct sl_override *set = &r->request->sets[i];
  const struct sl_mark mark = sl_mark_option(r, "--set", set->key, set->value);
  const char *node = NULL;
  for (const struct sl_mention *m = r->mentions[i]; m != NULL; m = m->next) {
    if (m->node == NULL || !is_unused(draft, m->node)) return;
    node = m->node;
  }
  if (node != NULL)
    sl_report_error(r, mark, node, NULL, "is left out, and nothing else refers to `%s`: this has no effect",
                    sl_shown(r, set->key));
  else
    sl_report_error(r, mark, NULL, NULL, "nothing in this graph refers to `%s`: this has no effect",
                    sl_shown(r, set->key));
}

static void warn_of_overridden(struct sl_reader *r, const char *option, const struct sl_override *all, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = i + 1; k < count; k++) {
      if (strcmp(all[i].key, all[k].key) != 0) continue;
      sl_report(r, SL_WARNING, sl_mark_option(r, option, all[i].key, all[i].value), NULL, NULL,
                "has no effect: a later option replaces it");
      break;
    }
}

void sl_draft_unused(struct sl_draft *draft) {
  const struct sl_graph_request *request = draft->reader->request;
  for (uint32_t i = 0; i < request->use_count; i++) check_node(draft, "--use", &request->uses[i]);
  for (uint32_t i = 0; i < request->set_count; i++) {
    if (strchr(request->sets[i].key, '.') != NULL)
      check_node(draft, "--set", &request->sets[i]);
    else
      check_parameter(draft, i);
  }
  warn_of_overridden(draft->reader, "--use", request->uses, request->use_count);
  warn_of_overridden(draft->reader, "--set", request->sets, request->set_count);
}
