/* links.c: the dependencies of the nodes as adjacency lists. */
#include "graph/stages.h"

/* link_nodes is called for each pair (user, needed) in two passes: the first counts, the second stores. */
struct pass {
  const struct sl_draft *draft;
  int direction;
  int storing;
  struct sl_links links;
  uint32_t *next; /* position of a node's next neighbour */
};

static void link_nodes(struct pass *p, uint32_t user, int32_t needed) {
  const uint32_t from = p->direction == SL_LINKS_NEEDED ? user : (uint32_t)needed;
  const uint32_t to = p->direction == SL_LINKS_NEEDED ? (uint32_t)needed : user;
  if (p->storing)
    p->links.nodes[p->next[from]++] = to;
  else
    p->links.first[from + 1]++;
}

static void link_all(struct pass *p) {
  const struct sl_graph *graph = p->draft->graph;
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct sl_node *node = &graph->nodes[i];
    for (uint32_t m = 0; node->inputs != NULL && m < node->algorithm->member_count; m++)
      for (uint32_t k = 0; k < node->inputs[m].count; k++) link_nodes(p, i, node->inputs[m].ports[k].node);
    for (uint32_t l = 0; l < node->list_count; l++) link_nodes(p, i, node->lists[l].node);
  }
}

struct sl_links sl_links_new(const struct sl_draft *draft, int direction) {
  struct sl_arena *arena = draft->reader->arena;
  const uint32_t count = draft->graph->node_count;
  struct pass p = {.draft = draft, .direction = direction};
  p.links.first = sl_arena_get(arena, count + 1, sizeof *p.links.first);
  link_all(&p);
  for (uint32_t i = 0; i < count; i++) p.links.first[i + 1] += p.links.first[i];
  p.links.nodes = sl_arena_get(arena, p.links.first[count], sizeof *p.links.nodes);
  p.next = sl_arena_get(arena, count, sizeof *p.next);
  for (uint32_t i = 0; i < count; i++) p.next[i] = p.links.first[i];
  p.storing = 1;
  link_all(&p);
  return p.links;
}

void sl_links_reach(const struct sl_links *links, uint32_t start, uint32_t stamp, uint32_t *marks, uint32_t *stack) {
  uint32_t depth = 0;
  if (marks[start] == stamp) return;
  marks[start] = stamp;
  stack[depth++] = start;
  while (depth > 0) {
    const uint32_t node = stack[--depth];
    for (uint32_t l = links->first[node]; l < links->first[node + 1]; l++) {
      const uint32_t neighbour = links->nodes[l];
      if (marks[neighbour] == stamp) continue;
      marks[neighbour] = stamp;
      stack[depth++] = neighbour;
    }
  }
}
