/* order.c: cycles, liveness and the order of execution.
 *
 * 1. The source is first.
 * 2. Next is always the first node, in document order, that needs no unplaced node and belongs to no family.
 * 3. If there is none, all ready nodes of one family follow together, so that they can run in one launch; then step 2.
 * 4. If no node is ready, each remaining node needs another remaining node. Following such needs from node to node must
 *    return to a visited node: a cycle, which is reported.
 */
#include "graph/stages.h"

#include <string.h>

enum { SHOWN_MAX = 16 /* nodes of a cycle shown in a message */ };

/* ------------------------------------------------------------------------------------------------- cycles */

/* A cycle in the direction of the data: path[i] feeds path[i + 1], and the last node feeds the first. */
struct cycle {
  const uint32_t *path;
  uint32_t length;
  uint32_t start; /* the first node in document order, where the message begins */
};

static uint32_t cycle_node(const struct cycle *c, uint32_t i) {
  const uint32_t at = c->start + i;
  return c->path[at < c->length ? at : at - c->length];
}

static const char *cycle_text(struct sl_draft *draft, const struct cycle *c) {
  struct sl_reader *r = draft->reader;
  const struct sl_node *nodes = draft->graph->nodes;
  const char *text = nodes[cycle_node(c, 0)].name;
  for (uint32_t i = 1; i <= c->length; i++) {
    if (c->length > SHOWN_MAX && i == SHOWN_MAX - 1) {
      text = sl_arena_format(r->arena, "%s -> ... (%u more)", text, c->length - SHOWN_MAX);
      i = c->length - 1;
    }
    text = sl_arena_format(r->arena, "%s -> %s", text, nodes[cycle_node(c, i)].name);
  }
  return text;
}

/* Returns the port of node `from` that feeds an input, or SL_NONE. */
static struct sl_port feeder(const struct sl_wiring *wiring, uint32_t from) {
  for (uint32_t k = 0; k < wiring->count; k++)
    if (wiring->ports[k].node == (int32_t)from) return wiring->ports[k];
  return (struct sl_port){SL_NONE, SL_NONE};
}

/* Returns a hint about an input on the cycle that was connected automatically, or NULL. */
static const char *chosen_hint(struct sl_draft *draft, const struct cycle *c) {
  for (uint32_t i = 0; i < c->length; i++) {
    const uint32_t from = cycle_node(c, i), to = cycle_node(c, i + 1);
    const struct sl_node *node = &draft->graph->nodes[to];
    for (uint32_t m = 0; node->inputs != NULL && m < node->algorithm->member_count; m++) {
      const struct sl_port port = feeder(&node->inputs[m], from);
      if (port.node == SL_NONE || !node->inputs[m].is_automatic) continue;
      const int takes_all = (node->algorithm->members[m].flags & SL_FLAG_LIST) != 0;
      return sl_arena_format(draft->reader->arena,
                             takes_all ? "input `%s` of %s takes all matching ports, including %s"
                                       : "input `%s` of %s was connected automatically to %s, the only matching port",
                             node->algorithm->members[m].name, node->name, sl_port_name(draft, port));
    }
  }
  return NULL;
}

static void report_cycle(struct sl_draft *draft, const uint32_t *path, uint32_t length) {
  struct cycle c = {path, length, 0};
  for (uint32_t i = 1; i < length; i++)
    if (path[i] < path[c.start]) c.start = i;
  sl_report_error(draft->reader, draft->nodes[cycle_node(&c, 0)].mark, NULL, chosen_hint(draft, &c),
                  "nodes depend on each other: %s", cycle_text(draft, &c));
}

/* Returns an unplaced node that `node` needs. There is one, otherwise `node` would have been placed. */
static uint32_t unplaced_need(const struct sl_links *needed, uint32_t node, const uint32_t *missing) {
  uint32_t l = needed->first[node];
  while (missing[needed->nodes[l]] == 0) l++;
  return needed->nodes[l];
}

/* `missing`: for each node, the number of nodes that it still needs. */
static void report_cycles(struct sl_draft *draft, const uint32_t *missing) {
  struct sl_arena *arena = draft->reader->arena;
  const uint32_t count = draft->graph->node_count;
  const struct sl_links needed = sl_links_new(draft, SL_LINKS_NEEDED);
  uint32_t *visited_by = sl_arena_get(arena, count, sizeof *visited_by); /* walk that visited the node, from 1 */
  uint32_t *path = sl_arena_get(arena, count, sizeof *path);             /* nodes of the walk, filled from the end */
  for (uint32_t start = 0; start < count; start++) {
    uint32_t node = start, begin = count;
    while (missing[node] > 0 && visited_by[node] == 0) {
      visited_by[node] = start + 1;
      path[--begin] = node;
      node = unplaced_need(&needed, node, missing);
    }
    if (begin == count || visited_by[node] != start + 1)
      continue; /* already visited by an earlier walk, or not part of a
                 * cycle */
    uint32_t end = begin;
    while (path[end] != node) end++;
    report_cycle(draft, path + begin, end - begin + 1);
  }
}

/* -------------------------------------------------------------------------------------------------- order */

struct sort {
  uint32_t count;
  const struct sl_links *users;
  uint32_t *missing, *sorted, *families;
  uint8_t *placed;
  uint32_t position;
};

static void place_node(struct sort *s, uint32_t node) {
  s->placed[node] = 1;
  s->sorted[s->position++] = node;
}

static void update_users(struct sort *s, uint32_t node) {
  for (uint32_t l = s->users->first[node]; l < s->users->first[node + 1]; l++) s->missing[s->users->nodes[l]]--;
}

/* Returns the first ready node of that family (0: of no family), or `count`. */
static uint32_t find_ready(const struct sort *s, uint32_t family) {
  uint32_t n = 0;
  while (n < s->count && (s->placed[n] || s->missing[n] > 0 || s->families[n] != family)) n++;
  return n;
}

/* Places all ready nodes of the family of the first ready node. Returns 0 if no node is ready. */
static int place_family(struct sort *s, struct sl_node *nodes) {
  const uint32_t begin = s->position;
  uint32_t n = 0;
  while (n < s->count && (s->placed[n] || s->missing[n] > 0)) n++;
  if (n == s->count) return 0;
  const uint32_t family = s->families[n];
  for (; n < s->count; n++) {
    if (s->placed[n] || s->missing[n] > 0 || s->families[n] != family) continue;
    place_node(s, n);
    nodes[n].launch_group = begin + 1;
  }
  for (uint32_t i = begin; i < s->position; i++) update_users(s, s->sorted[i]);
  return 1;
}

uint32_t *sl_draft_sort(struct sl_draft *draft) {
  struct sl_arena *arena = draft->reader->arena;
  const struct sl_graph *graph = draft->graph;
  const uint32_t count = graph->node_count;
  const struct sl_links users = sl_links_new(draft, SL_LINKS_USERS);
  struct sort s = {.count = count,
                   .users = &users,
                   .missing = sl_arena_get(arena, count, sizeof *s.missing),
                   .sorted = sl_arena_get(arena, count, sizeof *s.sorted),
                   .families = sl_draft_families(draft),
                   .placed = sl_arena_get(arena, count, 1)};
  for (uint32_t l = 0; l < users.first[count]; l++) s.missing[users.nodes[l]]++;
  while (s.position < count) {
    const int begins = s.position == 0 && s.missing[graph->source] == 0;
    const uint32_t next = begins ? graph->source : find_ready(&s, 0);
    if (next < count) {
      place_node(&s, next);
      update_users(&s, next);
    } else if (!place_family(&s, graph->nodes)) {
      report_cycles(draft, s.missing);
      return NULL;
    }
  }
  return s.sorted;
}

/* ----------------------------------------------------------------------------------------------- liveness */

enum { UNUSED_SHOWN = 8 };

/* Returns 1 if the node is of an included file: a graph may use only some nodes of a file that it includes. */
static int is_of_an_include(const struct sl_draft *draft, uint32_t n) {
  const struct sl_text *text = draft->nodes[n].mark.text;
  return text != NULL && !text->is_given;
}

/* Reports one warning for all nodes that are left out unexpectedly. */
static void warn_of_unused(struct sl_draft *draft) {
  const struct sl_graph *graph = draft->graph;
  struct sl_arena *arena = draft->reader->arena;
  const char *names = "";
  uint32_t count = 0;
  for (uint32_t i = 0; i < graph->node_count; i++) {
    if (graph->nodes[i].live || is_of_an_include(draft, i)) continue;
    if (count++ < UNUSED_SHOWN)
      names = sl_arena_format(arena, "%s%s %s", names, *names ? "," : "", graph->nodes[i].name);
  }
  if (count == 0) return;
  if (count > UNUSED_SHOWN) names = sl_arena_format(arena, "%s and %u more", names, count - UNUSED_SHOWN);
  sl_report(draft->reader, SL_WARNING, sl_mark_graph(draft->reader), NULL, NULL,
            "%u node%s left out, because no output and no sink depends on %s:%s", count, count == 1 ? " is" : "s are",
            count == 1 ? "it" : "them", names);
}

static void mark_live(struct sl_draft *draft) {
  struct sl_arena *arena = draft->reader->arena;
  struct sl_graph *graph = draft->graph;
  const struct sl_links needed = sl_links_new(draft, SL_LINKS_NEEDED);
  uint32_t *live = sl_arena_get(arena, graph->node_count, sizeof *live);
  uint32_t *stack = sl_arena_get(arena, graph->node_count, sizeof *stack);
  uint32_t useful = graph->output_count;
  for (uint32_t i = 0; i < graph->output_count; i++)
    sl_links_reach(&needed, (uint32_t)graph->outputs[i].port.node, 1, live, stack);
  for (uint32_t i = 0; i < graph->node_count; i++) {
    if (graph->nodes[i].algorithm->kind != SL_KIND_SINK) continue;
    sl_links_reach(&needed, i, 1, live, stack);
    useful++;
  }
  live[graph->source] = 1;
  for (uint32_t i = 0; i < graph->node_count; i++) graph->nodes[i].live = live[i];
  warn_of_unused(draft);
  if (useful == 0)
    sl_report(draft->reader, SL_WARNING, sl_mark_graph(draft->reader), NULL, NULL,
              "the graph has neither outputs nor a sink: it only reads events");
}

void sl_draft_order(struct sl_draft *draft, const uint32_t *sorted) {
  struct sl_graph *graph = draft->graph;
  mark_live(draft);
  graph->order = sl_arena_get(draft->reader->arena, graph->node_count, sizeof *graph->order);
  for (uint32_t i = 0; i < graph->node_count; i++) {
    if (!graph->nodes[sorted[i]].live) continue;
    graph->nodes[sorted[i]].order = graph->order_count;
    graph->order[graph->order_count++] = sorted[i];
  }
}
