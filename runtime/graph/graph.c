/* graph.c: reads a graph stage by stage (stages.h). All memory is in one arena, which the graph owns on success and
 * which is freed on every failure. */
#include "graph/graph.h"

#include "graph/stages.h"
#include "plugin/expand.h"
#include "plugin/property.h"
#include "plugin/tables.h"

#include <string.h>
#include <xxhash.h>

static void check_nodes(struct sl_draft *draft) {
  sl_draft_expressions(draft);
  sl_draft_conditions(draft);
  sl_draft_properties(draft);
  sl_draft_lists(draft);
  sl_draft_wiring(draft);
  sl_draft_source(draft);
  sl_draft_outputs(draft);
  const uint32_t *sorted = sl_draft_sort(draft);
  if (sorted != NULL) sl_draft_same_items(draft);
  if (sorted != NULL) sl_draft_operands(draft);
  if (sorted != NULL) sl_draft_inherit_lists(draft, sorted);
  if (draft->reader->error_count == 0) sl_draft_dimensions(draft, sorted);
  if (draft->reader->error_count > 0) return;
  sl_draft_order(draft, sorted);
  sl_draft_unused(draft);
}

static void read_graph(struct sl_reader *r, struct sl_graph *graph) {
  struct sl_tree *root = sl_merge_root(r);
  sl_load(r, root);
  if (r->unreadable) return;
  sl_apply_uses(r, root);
  sl_load_named_plugins(r, root);
  sl_choose_source(r, root);
  sl_apply_sets(r, root);
  sl_read_header(r, root);
  sl_find_mentions(r, root);
  sl_substitute_parameters(r, root);
  sl_load_named_plugins(r, root); /* plugins named by a parameter */
  sl_derive_fields(r, root);
  if (r->derived != NULL) sl_load_named_plugins(r, root); /* generic, which derives */
  sl_expand_plugins(r);
  struct sl_draft draft = {.reader = r, .root = root, .graph = graph};
  if (sl_draft_nodes(&draft) != SL_OK) return;
  check_nodes(&draft);
  if (r->error_count > 0) return;
  const char **files = sl_arena_get(r->arena, r->read_count, sizeof *files);
  for (uint32_t i = 0; i < r->read_count; i++) files[i] = sl_arena_format(r->arena, "%s", r->files[i]);
  graph->files = files;
  graph->file_count = r->read_count;
  const struct sl_tree *description = sl_tree_get(root, "description");
  graph->description = description != NULL ? description->text : NULL;
  graph->text = sl_draft_canonical(&draft, 0);
  if (r->request->origins) graph->text_with_origins = sl_draft_canonical(&draft, 1);
}

/* Runs the stages; the arena jumps here if memory is out. */
static int read_guarded(struct sl_reader *r, struct sl_graph **graph) {
  const int failed = setjmp(r->arena->failed);
  if (failed != 0) {
    sl_yaml_close(r);
    if (failed == SL_ARENA_OUT_OF_MEMORY) return SL_ENOMEM;
    sl_diagnose(r->diagnostics, SL_ERROR, NULL, NULL, NULL, "the graph is too large: it needs more than %d MiB",
                SL_LIMIT_MEMORY_BYTES >> 20);
    return SL_EGRAPH;
  }
  *graph = sl_arena_get(r->arena, 1, sizeof **graph);
  (*graph)->storage = r->arena;
  read_graph(r, *graph);
  return r->error_count > 0 ? SL_EGRAPH : SL_OK;
}

int sl_graph_read(const struct sl_graph_request *request, struct sl_diagnostics *d, struct sl_graph **graph) {
  struct sl_reader reader = {.request = request, .diagnostics = d};
  int result = SL_ENOMEM;
  *graph = NULL;
  reader.arena = sl_arena_new(SL_LIMIT_MEMORY_BYTES);
  if (reader.arena != NULL) result = read_guarded(&reader, graph);
  if (result == SL_OK) return SL_OK;
  if (result == SL_ENOMEM) sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "out of memory while reading the graph");
  sl_arena_free(reader.arena);
  *graph = NULL;
  return result;
}

int32_t sl_graph_node_index(const struct sl_graph *graph, const char *name) {
  for (uint32_t n = 0; n < graph->node_count; n++)
    if (strcmp(graph->nodes[n].name, name) == 0) return (int32_t)n;
  return SL_NONE;
}

void sl_graph_free(struct sl_graph *graph) {
  if (graph != NULL) sl_arena_free(graph->storage);
}

void sl_graph_fill_properties(const struct sl_node *node, void *args) {
  sl_open_ports_fill(node->algorithm, args);
  sl_dimensions_fill(node->algorithm, args);
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *property = &node->algorithm->members[m];
    if (property->kind == SL_MEMBER_NODE_HASH) {
      const uint64_t hash = XXH3_64bits(node->name, strlen(node->name));
      memcpy((char *)args + property->args_offset, &hash, sizeof hash);
    }
    if (property->kind == SL_MEMBER_PROGRAM && node->program != NULL)
      memcpy((char *)args + property->args_offset, node->program, sizeof *node->program);
    if (property->kind != SL_MEMBER_PROPERTY) continue;
    const struct sl_value *value = &node->values[m];
    if (property->type == SL_TYPE_string)
      memcpy((char *)args + property->args_offset, &value->text, sizeof value->text);
    const struct sl_value *items = value->items != NULL ? value->items : value;
    for (uint32_t i = 0; i < sl_property_count(property); i++)
      sl_property_store(property, i, items[i].number, items[i].integer, args);
  }
}
