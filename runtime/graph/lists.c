/* lists.c: the events on which each node runs.
 *
 * 1. A kernel with `events` runs on the lists named there: `events: [A, B]` on events that are on all of them (`[]`:
 *    all events), `events: { any: [A, B] }` on events that are on any.
 * 2. Without `events`, a kernel inherits the lists of the nodes that feed it. Constants, event lists as inputs, and
 *    list ports do not count; the source's outputs exist for all events. If the inputs' lists differ, `events` is
 *    required.
 * 3. Sinks accept inputs with different lists and inherit nothing: `events` selects the events that they process.
 */
#include "graph/stages.h"
#include "plugin/tables.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------- as given */

static int compare_ports(const void *a, const void *b) {
  const struct sl_port *x = a, *y = b;
  if (x->node != y->node) return x->node < y->node ? -1 : 1;
  return (x->member > y->member) - (x->member < y->member);
}

static void sort_lists(struct sl_node *node) {
  uint32_t unique_count = 0;
  qsort(node->lists, node->list_count, sizeof *node->lists, compare_ports);
  for (uint32_t i = 0; i < node->list_count; i++)
    if (i == 0 || compare_ports(&node->lists[i], &node->lists[i - 1]) != 0)
      node->lists[unique_count++] = node->lists[i];
  node->list_count = unique_count;
}

static void add_list(struct sl_draft *draft, uint32_t index, const struct sl_tree *text) {
  struct sl_node *node = &draft->graph->nodes[index];
  struct sl_port port;
  draft->nodes[index].lists_unknown = 1;
  if (!sl_port_find(draft, text, node->name, &sl_event_list_collection, "`events`", &port)) return;
  const struct sl_collection *collection = sl_port_member(draft->graph, port)->collection;
  if (!sl_is_event_list(collection)) {
    sl_report_error(draft->reader, text->mark, node->name, NULL, "`events` needs an event list, but %s provides %s",
                    sl_port_name(draft, port), collection->name);
    return;
  }
  draft->nodes[index].lists_unknown = 0;
  node->lists[node->list_count++] = port;
}

static const struct sl_tree *read_any(struct sl_draft *draft, const struct sl_node *node, const struct sl_tree *value) {
  const struct sl_tree *any = sl_tree_get(value, "any");
  if (any != NULL && any->kind == SL_TREE_LIST && any->count > 0) return any;
  if (any != NULL || value->first == NULL) /* otherwise the value was refused before */
    sl_report_error(draft->reader, any != NULL ? any->mark : value->mark, node->name,
                    "write `events: { any: [A, B] }`; `events: []` means all events",
                    "`any` needs a list of event lists");
  return NULL;
}

static void read_lists(struct sl_draft *draft, uint32_t index, const struct sl_entry *events) {
  struct sl_reader *r = draft->reader;
  struct sl_node *node = &draft->graph->nodes[index];
  if (node->algorithm->kind != SL_KIND_KERNEL && node->algorithm->kind != SL_KIND_SINK) {
    if (events->inherited)
      sl_report(r, SL_NOTE, events->mark, node->name, NULL,
                "`events` is ignored: the algorithm is neither a kernel nor a sink");
    else
      sl_report_error(r, events->mark, node->name, NULL, "`events` is allowed for kernels and sinks only");
    return;
  }
  const struct sl_tree *value = events->value;
  draft->nodes[index].lists_given = draft->nodes[index].lists_unknown = 1;
  if (value->kind == SL_TREE_MAP && (value = read_any(draft, node, value)) == NULL) return;
  draft->nodes[index].lists_unknown = 0;
  node->lists = sl_arena_get(r->arena, value->kind == SL_TREE_LIST ? value->count : 1, sizeof *node->lists);
  if (value->kind == SL_TREE_SCALAR) add_list(draft, index, value);
  uint32_t unknown = draft->nodes[index].lists_unknown;
  for (const struct sl_entry *item = value->first; item != NULL; item = item->next) {
    if (item->value != NULL) add_list(draft, index, item->value);
    unknown |= item->value == NULL || draft->nodes[index].lists_unknown;
  }
  draft->nodes[index].lists_unknown = unknown;
  sort_lists(node);
  node->any_list = value != events->value && node->list_count > 1;
}

void sl_draft_lists(struct sl_draft *draft) {
  for (uint32_t i = 0; i < draft->graph->node_count; i++) {
    const struct sl_tree *tree = draft->nodes[i].tree;
    const struct sl_entry *events = sl_tree_find(tree, "events");
    if (sl_tree_was_refused(tree, "events")) draft->nodes[i].lists_given = draft->nodes[i].lists_unknown = 1;
    if (draft->graph->nodes[i].algorithm != NULL && events != NULL && events->value != NULL)
      read_lists(draft, i, events);
  }
}

/* ------------------------------------------------------------------------------------------- as inherited */

/* Returns "all events", "a.passed, b.passed" or "any of a.passed, b.passed". */
static const char *lists_text(struct sl_draft *draft, const struct sl_node *node) {
  if (node->list_count == 0) return "all events";
  const char *first = sl_port_name(draft, node->lists[0]);
  const char *text = node->any_list ? sl_arena_format(draft->reader->arena, "any of %s", first) : first;
  for (uint32_t i = 1; i < node->list_count && i < 4; i++)
    text = sl_arena_format(draft->reader->arena, "%s, %s", text, sl_port_name(draft, node->lists[i]));
  return node->list_count > 4 ? sl_arena_format(draft->reader->arena, "%s, ...", text) : text;
}

static const char *lists_example(struct sl_draft *draft, const struct sl_node *node) {
  if (!node->any_list) return sl_arena_format(draft->reader->arena, "`events: [%s]`", lists_text(draft, node));
  return sl_arena_format(draft->reader->arena, "`events: { any: [%s] }`", lists_text(draft, node) + strlen("any of "));
}

static int same_lists(const struct sl_node *a, const struct sl_node *b) {
  if (a->list_count != b->list_count || a->any_list != b->any_list) return 0;
  for (uint32_t i = 0; i < a->list_count; i++)
    if (compare_ports(&a->lists[i], &b->lists[i]) != 0) return 0;
  return 1;
}

/* Returns the node from which an input inherits event lists, or SL_NONE. */
static int32_t inherited_from(const struct sl_draft *draft, const struct sl_node *node, uint32_t member) {
  const struct sl_member *input = &node->algorithm->members[member];
  if (node->inputs[member].count == 0 || (input->flags & SL_FLAG_LIST) || sl_is_event_list(input->collection))
    return SL_NONE;
  const struct sl_port port = node->inputs[member].ports[0];
  return draft->graph->nodes[port.node].algorithm->kind == SL_KIND_CONSTANT ? SL_NONE : port.node;
}

/* Returns 1 if an input or its lists are unknown after an error. */
static int inputs_unknown(const struct sl_draft *draft, const struct sl_node *node) {
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *input = &node->algorithm->members[m];
    if (input->kind == SL_MEMBER_FIELD && !(input->flags & SL_FLAG_OPTIONAL)) return 1; /* it was not resolved */
    if (input->kind != SL_MEMBER_IN || (input->flags & SL_FLAG_LIST)) continue;
    const int32_t from = inherited_from(draft, node, m);
    if (node->inputs[m].count == 0 && (input->flags & SL_FLAG_OPTIONAL) == 0) return 1;
    if (from != SL_NONE && draft->nodes[from].lists_unknown) return 1;
  }
  return 0;
}

static void report_difference(struct sl_draft *draft, uint32_t index, uint32_t first, uint32_t other) {
  struct sl_reader *r = draft->reader;
  const struct sl_node *node = &draft->graph->nodes[index];
  const struct sl_node *a = &draft->graph->nodes[node->inputs[first].ports[0].node];
  const struct sl_node *b = &draft->graph->nodes[node->inputs[other].ports[0].node];
  const struct sl_node *shorter = a->list_count > 0 ? a : b;
  draft->nodes[index].lists_unknown = 1;
  sl_report_error(
      r, draft->nodes[index].mark, node->name,
      sl_arena_format(r->arena, "set the events on which it runs, for example %s", lists_example(draft, shorter)),
      "its inputs are computed on different events: `%s` on %s, `%s` on %s", node->algorithm->members[first].name,
      lists_text(draft, a), node->algorithm->members[other].name, lists_text(draft, b));
}

static void inherit(struct sl_draft *draft, uint32_t index) {
  struct sl_node *node = &draft->graph->nodes[index];
  if (draft->nodes[index].lists_unknown || inputs_unknown(draft, node)) {
    draft->nodes[index].lists_unknown = 1;
    return;
  }
  int32_t first = SL_NONE;
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const int32_t from = inherited_from(draft, node, m);
    if (from == SL_NONE) continue;
    if (first == SL_NONE) {
      first = (int32_t)m;
      node->lists = draft->graph->nodes[from].lists;
      node->list_count = draft->graph->nodes[from].list_count;
      node->any_list = draft->graph->nodes[from].any_list;
    } else if (!same_lists(node, &draft->graph->nodes[from])) {
      report_difference(draft, index, (uint32_t)first, m);
      return;
    }
  }
}

void sl_draft_inherit_lists(struct sl_draft *draft, const uint32_t *sorted) {
  for (uint32_t i = 0; i < draft->graph->node_count; i++) {
    const struct sl_node *node = &draft->graph->nodes[sorted[i]];
    if (node->algorithm != NULL && node->algorithm->kind == SL_KIND_KERNEL && !draft->nodes[sorted[i]].lists_given)
      inherit(draft, sorted[i]);
  }
}
