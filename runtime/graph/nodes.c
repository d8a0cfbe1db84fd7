/* nodes.c: makes one struct sl_node for each node of the merged document: name, algorithm and block size. */
#include "document/scalar.h"
#include "graph/stages.h"
#include "plugin/tables.h"

#include <string.h>

enum { BLOCK_STEP = 32, BLOCK_MAX = 1024 };

int32_t sl_draft_find(const struct sl_draft *draft, const char *name) {
  const struct sl_entry *entry = sl_tree_find(sl_tree_get(draft->root, "nodes"), name);
  return entry != NULL && entry->value != NULL ? (int32_t)entry->number : SL_NONE;
}

const char *sl_draft_guess_node(struct sl_draft *draft, const char *name) {
  struct sl_guess guess;
  sl_guess_begin(draft->reader, &guess, name);
  for (uint32_t i = 0; i < draft->graph->node_count; i++) sl_guess_offer(&guess, draft->graph->nodes[i].name);
  return sl_guess_hint(draft->reader, &guess);
}

/* ---------------------------------------------------------------------------------------------- members */

int32_t sl_member_find(const struct sl_algorithm *algorithm, uint32_t kind, const char *name) {
  const int index = sl_member_index(algorithm, name);
  return index >= 0 && algorithm->members[index].kind == kind ? index : SL_NONE;
}

static const char *member_kind_text(uint32_t kind) {
  return kind == SL_MEMBER_IN ? "input" : kind == SL_MEMBER_OUT ? "output" : "property";
}

/* Returns a hint: a member of another kind with this name, or a similar name. */
static const char *member_hint(struct sl_draft *draft, const struct sl_algorithm *algorithm, uint32_t kind,
                               const char *name) {
  struct sl_reader *r = draft->reader;
  if (kind == SL_MEMBER_PROPERTY && sl_member_find(algorithm, SL_MEMBER_IN, name) != SL_NONE)
    return sl_arena_format(r->arena, "%s is an input: write it under `in`", name);
  if (kind == SL_MEMBER_IN && (sl_member_find(algorithm, SL_MEMBER_PROPERTY, name) != SL_NONE ||
                               sl_member_find(algorithm, SL_MEMBER_FIELD, name) != SL_NONE))
    return sl_arena_format(r->arena, "%s is a property: write it under `set`", name);
  struct sl_guess guess;
  sl_guess_begin(r, &guess, name);
  for (uint32_t i = 0; i < algorithm->member_count; i++)
    if (algorithm->members[i].kind == kind || (kind == SL_MEMBER_PROPERTY && sl_is_named_field(&algorithm->members[i])))
      sl_guess_offer(&guess, algorithm->members[i].name);
  return sl_guess_hint(r, &guess);
}

void sl_draft_unknown_member(struct sl_draft *draft, const struct sl_node *node, uint32_t kind,
                             const struct sl_entry *entry, const char *name) {
  struct sl_reader *r = draft->reader;
  if (entry->inherited && entry->is_silent) return;
  if (entry->inherited)
    sl_report(r, SL_NOTE, entry->mark, node->name, NULL, "`%s` is ignored: %s has no such %s", name, node->use,
              member_kind_text(kind));
  else
    sl_report_error(r, entry->mark, node->name, member_hint(draft, node->algorithm, kind, name), "%s has no %s `%s`",
                    node->use, member_kind_text(kind), sl_shown(r, name));
}

/* ------------------------------------------------------------------------------------------- algorithms */

/* An algorithm without a version for the target. If no plugin at all is for it, this is one error for all nodes. */
static void unknown_target(struct sl_draft *draft, const struct sl_node *node, const struct sl_tree *use,
                           const char *plugin) {
  struct sl_reader *r = draft->reader;
  const char *target = r->request->target;
  if (sl_registry_has_target(r->request->registry, target)) {
    sl_report_error(r, use->mark, node->name, NULL, "plugin %s provides %s for cpu, but not for %s", plugin, use->text,
                    target);
    return;
  }
  const int is_emulator = strcmp(target, "simt") == 0 || strcmp(target, "race") == 0;
  const char *hint = is_emulator ? "wheels have these plugins in the package sluice-emulator" : NULL;
  if (!draft->reported_target)
    sl_report_error(r, use->mark, node->name, hint, "this installation has no plugins for %s", target);
  draft->reported_target = 1;
}

static void unknown_algorithm(struct sl_draft *draft, const struct sl_node *node, const struct sl_tree *use) {
  struct sl_reader *r = draft->reader;
  const struct sl_registry *registry = r->request->registry;
  const char *dot = strchr(use->text, '.');
  const struct sl_plugin_entry *entry;
  if (sl_registry_is_empty(registry)) return; /* reported once for all nodes */
  if (dot != NULL && sl_registry_find(registry, use->text, "cpu", &entry) != NULL) {
    unknown_target(draft, node, use, entry->plugin->name);
    return;
  }
  const char *absence = dot != NULL ? sl_registry_reason(registry, use->text, SL_PLUGIN_ABSENT) : NULL;
  const char *reason = dot != NULL ? sl_registry_reason(registry, use->text, SL_PLUGIN_REFUSED) : NULL;
  if (absence != NULL || reason != NULL) {
    sl_report_error(r, use->mark, node->name, NULL, "there is no algorithm `%s`: the plugin %s: %s", use->text,
                    reason != NULL ? "was refused" : "is absent", reason != NULL ? reason : absence);
    return;
  }
  char buffer[256];
  const char *nearest = NULL;
  if (strlen(use->text) < sizeof buffer && r->error_count < SL_LIMIT_ERRORS / 10) {
    sl_load_all_plugins(r);
    nearest = sl_registry_suggest(registry, use->text, buffer, sizeof buffer);
  }
  const char *hint = nearest != NULL ? sl_arena_format(r->arena, "did you mean %s?", nearest) : NULL;
  sl_report_error(r, use->mark, node->name, hint, "there is no algorithm `%s`%s", sl_shown(r, use->text),
                  dot == NULL ? "; `use` needs PLUGIN.ALGORITHM" : "");
}

static void find_algorithm(struct sl_draft *draft, struct sl_node *node, const struct sl_draft_node *source) {
  const struct sl_graph_request *request = draft->reader->request;
  const struct sl_tree *use = sl_tree_get(source->tree, "use");
  if (use == NULL) {
    node->use = "";
    if (!sl_tree_was_refused(source->tree, "use"))
      sl_report_error(draft->reader, source->mark, node->name, NULL,
                      "the node has no `use`, which names its algorithm");
    return;
  }
  node->use = use->text;
  node->algorithm = sl_registry_find(request->registry, use->text, request->target, &node->plugin);
  if (node->algorithm == NULL) unknown_algorithm(draft, node, use);
}

/* Returns a number of threads; 0 with the error reported if it is invalid. */
static uint32_t read_block(struct sl_reader *r, const struct sl_node *node, const struct sl_tree *value) {
  const struct sl_scalar scalar = sl_scalar_parse(value->text, value->quoted);
  const int fits = scalar.kind == SL_SCALAR_INTEGER && !scalar.negative && !scalar.too_large &&
                   (scalar.magnitude == 1 ||
                    (scalar.magnitude > 0 && scalar.magnitude % BLOCK_STEP == 0 && scalar.magnitude <= BLOCK_MAX));
  if (fits) return (uint32_t)scalar.magnitude;
  sl_report_error(r, value->mark, node->name, NULL,
                  "`block` must be a number of threads, 1 or a multiple of %d up to %d, not `%s`", BLOCK_STEP,
                  BLOCK_MAX, sl_shown(r, value->text));
  return 0;
}

static void unknown_kernel(struct sl_reader *r, const struct sl_node *node, const struct sl_entry *entry) {
  const struct sl_algorithm *a = node->algorithm;
  const char *names = SL_BLOCK_OTHERS;
  for (uint32_t b = 0; b < a->block_count; b++) names = sl_arena_format(r->arena, "%s, %s", a->blocks[b].kernel, names);
  if (entry->inherited)
    sl_report(r, SL_NOTE, entry->mark, node->name, NULL, "`%s` is ignored: %s has no such kernel",
              sl_shown(r, entry->key), node->use);
  else
    sl_report_error(r, entry->mark, node->name, NULL, "`block` accepts %s, not `%s`", names, sl_shown(r, entry->key));
}

static void set_kernel_block(struct sl_reader *r, struct sl_node *node, const struct sl_entry *entry) {
  const struct sl_algorithm *a = node->algorithm;
  const int of_others = strcmp(entry->key, SL_BLOCK_OTHERS) == 0;
  uint32_t b = 0;
  while (b < a->block_count && strcmp(a->blocks[b].kernel, entry->key) != 0) b++;
  if (b == a->block_count && !of_others) {
    unknown_kernel(r, node, entry);
    return;
  }
  const uint32_t threads = read_block(r, node, entry->value);
  if (of_others)
    node->block_threads = threads;
  else
    node->blocks[b].threads = threads;
}

static void set_block(struct sl_draft *draft, struct sl_node *node, const struct sl_tree *tree) {
  struct sl_reader *r = draft->reader;
  const struct sl_algorithm *a = node->algorithm;
  const struct sl_entry *entry = sl_tree_find(tree, "block");
  node->block_threads = a->block_threads;
  node->blocks = sl_arena_get(r->arena, a->block_count + 1, sizeof *node->blocks);
  for (uint32_t b = 0; b < a->block_count; b++) node->blocks[b] = a->blocks[b];
  if (entry == NULL || entry->value == NULL) return;
  if (a->kind != SL_KIND_KERNEL) {
    if (entry->inherited)
      sl_report(r, SL_NOTE, entry->mark, node->name, NULL, "`block` is ignored: %s is not a kernel", node->use);
    else
      sl_report_error(r, entry->mark, node->name, NULL, "`block` is allowed for kernels only; %s is not a kernel",
                      node->use);
    return;
  }
  node->has_block = 1;
  const int by_kernel = entry->value->kind == SL_TREE_MAP;
  const struct sl_tree *of_all = by_kernel ? sl_tree_get(entry->value, SL_BLOCK_ALL) : entry->value;
  if (of_all != NULL) node->block_threads = read_block(r, node, of_all);
  for (uint32_t b = 0; of_all != NULL && b < a->block_count; b++) node->blocks[b].threads = node->block_threads;
  for (const struct sl_entry *e = by_kernel ? entry->value->first : NULL; e != NULL; e = e->next)
    if (e->value != NULL && e->value != of_all) set_kernel_block(r, node, e);
}

static void draft_node(struct sl_draft *draft, uint32_t index, struct sl_entry *entry) {
  struct sl_node *node = &draft->graph->nodes[index];
  struct sl_draft_node *source = &draft->nodes[index];
  entry->number = index;
  *source = (struct sl_draft_node){.tree = entry->value, .mark = entry->mark};
  node->name = entry->key;
  node->location = sl_mark_location(draft->reader, entry->mark);
  node->order = UINT32_MAX;
  if (strcmp(node->name, "simt") == 0)
    sl_report_error(draft->reader, entry->mark, NULL, NULL,
                    "`simt` names the settings of a device (--set simt.seed=...), so no node can have this name");
  const struct sl_tree *use = sl_tree_get(source->tree, "use");
  node->use_location = use != NULL ? sl_mark_location(draft->reader, use->mark) : node->location;
  find_algorithm(draft, node, source);
  if (node->algorithm != NULL)
    set_block(draft, node, source->tree);
  else
    draft->unknown_algorithms++;
}

/* Without any plugin there is only one error, whatever the nodes use. */
static void check_plugins(struct sl_reader *r) {
  char roots[4096];
  if (!sl_registry_is_empty(r->request->registry)) return;
  const char *hint = sl_arena_format(r->arena, "searched in %s; add folders with --plugin-path or SLUICE_PLUGIN_PATH",
                                     sl_registry_folders(r->request->registry, roots, sizeof roots));
  sl_report_error(r, sl_mark_graph(r), NULL, hint, "no plugins were found, so there are no algorithms");
}

int sl_draft_nodes(struct sl_draft *draft) {
  struct sl_reader *r = draft->reader;
  struct sl_tree *nodes = sl_tree_get(draft->root, "nodes");
  uint32_t count = 0;
  for (const struct sl_entry *entry = nodes->first; entry != NULL; entry = entry->next) {
    if (entry->value == NULL && entry->refused) draft->unknown_algorithms++;
    if (entry->value == NULL || ++count <= SL_LIMIT_NODES) continue;
    sl_report_error(r, entry->mark, NULL, NULL, "the graph has more than %d nodes", SL_LIMIT_NODES);
    return SL_EGRAPH;
  }
  draft->graph->node_count = count;
  draft->graph->nodes = sl_arena_get(r->arena, count, sizeof *draft->graph->nodes);
  draft->nodes = sl_arena_get(r->arena, count, sizeof *draft->nodes);
  check_plugins(r);
  uint32_t index = 0;
  for (struct sl_entry *entry = nodes->first; entry != NULL; entry = entry->next)
    if (entry->value != NULL) draft_node(draft, index++, entry);
  return SL_OK;
}
