/* outputs.c: the source of a graph, and its outputs. */
#include "graph/stages.h"
#include "plugin/tables.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------- source */

/* Returns a hint with a source that the user could use, or NULL. */
static const char *source_hint(struct sl_reader *r) {
  const struct sl_registry *registry = r->request->registry;
  sl_load_all_plugins(r);
  for (size_t e = 0; e < registry->entry_count; e++) {
    const struct sl_plugin *plugin =
        registry->entries[e].status == SL_PLUGIN_LOADED ? registry->entries[e].plugin : NULL;
    for (uint32_t a = 0; plugin != NULL && a < plugin->algorithm_count; a++)
      if (plugin->algorithms[a]->kind == SL_KIND_SOURCE)
        return sl_arena_format(r->arena, "add a node such as `raw: { use: %s.%s }`", plugin->name,
                               plugin->algorithms[a]->name);
  }
  return NULL;
}

/* Replaces the functions of the source: the program gives its outputs as arrays. */
static void take_arrays(struct sl_draft *draft, struct sl_node *node) {
  const struct sl_graph_request *request = draft->reader->request;
  struct sl_algorithm *own = sl_arena_get(draft->reader->arena, 1, sizeof *own);
  *own = *node->algorithm;
  own->source = request->arrays_source;
  own->state_size = request->arrays_state_bytes;
  own->takes_feed = 1;
  node->algorithm = own;
}

void sl_draft_source(struct sl_draft *draft) {
  struct sl_reader *r = draft->reader;
  struct sl_graph *graph = draft->graph;
  int32_t found = SL_NONE;
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct sl_node *node = &graph->nodes[i];
    if (node->algorithm == NULL || node->algorithm->kind != SL_KIND_SOURCE) continue;
    if (found == SL_NONE)
      found = (int32_t)i;
    else
      sl_report_error(r, draft->nodes[i].mark, node->name, NULL,
                      "a graph can have only one source, and `%s` is already one", graph->nodes[found].name);
  }
  if (found != SL_NONE) {
    graph->source = (uint32_t)found;
    if (r->request->arrays_source != NULL) take_arrays(draft, &graph->nodes[found]);
  } else if (draft->unknown_algorithms == 0)
    sl_report_error(r, sl_mark_graph(r), NULL, source_hint(r),
                    "the graph has no source: a node that reads or generates events");
}

/* ------------------------------------------------------------------------------------------------ outputs */

/* Returns a sink that writes all outputs, or NULL. */
static const struct sl_node *find_writer(const struct sl_graph *graph) {
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct sl_algorithm *algorithm = graph->nodes[i].algorithm;
    if (algorithm != NULL && algorithm->kind == SL_KIND_SINK && algorithm->sink->takes_outputs) return &graph->nodes[i];
  }
  return NULL;
}

/* Returns why a port cannot be an output, or NULL. */
static const char *objection(struct sl_draft *draft, struct sl_port port) {
  const struct sl_graph *graph = draft->graph;
  if (graph->nodes[port.node].algorithm->kind == SL_KIND_CONSTANT) return "a constant is the same for all events";
  const struct sl_pool pool = sl_pool_of(sl_port_member(graph, port)->collection);
  if (pool.pool < 0) return NULL;
  if (pool.first_word < 0 || pool.size_bytes < 0) return "it contains raw bytes without `first_word` and `size_bytes`";
  const struct sl_node *writer = find_writer(graph);
  if (writer == NULL) return NULL;
  return sl_arena_format(draft->reader->arena, "it contains raw bytes, which %s cannot write", writer->use);
}

/* 1 if `outputs: all` includes the port: what the graph makes of its input. */
static int is_in_all(struct sl_draft *draft, struct sl_port port) {
  const struct sl_graph *graph = draft->graph;
  return graph->nodes[port.node].algorithm->kind != SL_KIND_SOURCE && objection(draft, port) == NULL &&
         sl_pool_of(sl_port_member(graph, port)->collection).pool < 0;
}

const char *sl_output_name(struct sl_draft *draft, struct sl_port port) {
  const struct sl_node *node = &draft->graph->nodes[port.node];
  uint32_t outputs = 0;
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    outputs += node->algorithm->members[m].kind == SL_MEMBER_OUT;
  return outputs == 1 ? node->name : sl_port_name(draft, port);
}

static void add_output(struct sl_draft *draft, struct sl_tree *seen, const struct sl_tree *text) {
  struct sl_reader *r = draft->reader;
  struct sl_graph *graph = draft->graph;
  struct sl_port port;
  if (!sl_port_find(draft, text, NULL, NULL, "`outputs`", &port)) return;
  const char *name = sl_output_name(draft, port), *why_not = objection(draft, port);
  if (why_not != NULL) {
    sl_report_error(r, text->mark, NULL, NULL, "%s cannot be an output: %s", sl_port_name(draft, port), why_not);
  } else if (sl_tree_find(seen, name) != NULL) {
    sl_report_error(r, text->mark, NULL, NULL, "`%s` is already an output", name);
  } else {
    sl_tree_add(r, seen, name, text->mark, NULL);
    graph->outputs[graph->output_count++] = (struct sl_output){port, name};
  }
}

/* Reports sinks that write the graph's outputs, for a graph without outputs. */
static void expect_outputs(struct sl_draft *draft) {
  const struct sl_graph *graph = draft->graph;
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct sl_algorithm *algorithm = graph->nodes[i].algorithm;
    if (algorithm == NULL || algorithm->kind != SL_KIND_SINK || !algorithm->sink->takes_outputs) continue;
    sl_report_error(draft->reader, draft->nodes[i].mark, graph->nodes[i].name,
                    "list the ports to write, for example `outputs: [pulses]`",
                    "%s writes the outputs of the graph, but the graph has none", graph->nodes[i].use);
  }
}

static void add_listed(struct sl_draft *draft, const struct sl_tree *outputs) {
  struct sl_reader *r = draft->reader;
  struct sl_tree *seen = sl_tree_new(r, SL_TREE_MAP, outputs->mark);
  draft->graph->outputs = sl_arena_get(r->arena, outputs->count, sizeof *draft->graph->outputs);
  for (const struct sl_entry *item = outputs->first; item != NULL; item = item->next)
    if (item->value != NULL) add_output(draft, seen, item->value);
}

/* Adds every port that can be an output, in document order. The first pass counts them. */
static void add_all(struct sl_draft *draft) {
  struct sl_graph *graph = draft->graph;
  for (int storing = 0; storing < 2; storing++) {
    if (storing) graph->outputs = sl_arena_get(draft->reader->arena, graph->output_count, sizeof *graph->outputs);
    graph->output_count = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
      const struct sl_algorithm *algorithm = graph->nodes[i].algorithm;
      for (uint32_t m = 0; algorithm != NULL && m < algorithm->member_count; m++) {
        const struct sl_port port = {(int32_t)i, (int32_t)m};
        if (algorithm->members[m].kind != SL_MEMBER_OUT || !is_in_all(draft, port)) continue;
        if (storing) graph->outputs[graph->output_count] = (struct sl_output){port, sl_output_name(draft, port)};
        graph->output_count++;
      }
    }
  }
}

void sl_draft_outputs(struct sl_draft *draft) {
  const struct sl_tree *outputs = sl_tree_get(draft->root, "outputs");
  const int all = outputs != NULL && sl_tree_is_all(outputs);
  if (outputs == NULL || (outputs->kind == SL_TREE_LIST && outputs->first == NULL)) expect_outputs(draft);
  if (all)
    add_all(draft);
  else if (outputs != NULL && outputs->kind == SL_TREE_LIST)
    add_listed(draft, outputs);
  else if (outputs != NULL)
    sl_report_error(draft->reader, outputs->mark, NULL, "write `outputs: [pulses]`, or `outputs: all`",
                    "`outputs` must be a list of ports or `all`, not `%s`", sl_shown(draft->reader, outputs->text));
}
