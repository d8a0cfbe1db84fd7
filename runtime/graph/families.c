/* families.c: which nodes may run in one launch: nodes with algorithms of one family of a plugin and with equal block
 * sizes. A node that runs a tuned version runs alone. */
#include "graph/stages.h"

#include <string.h>

static int is_member(const struct sl_node *node) {
  const struct sl_algorithm *a = node->algorithm;
  return a != NULL && a->family != NULL && (a->run_tuned == NULL || node->shared);
}

static int have_same_blocks(const struct sl_node *a, const struct sl_node *b) {
  if (a->block_threads != b->block_threads || a->algorithm->block_count != b->algorithm->block_count) return 0;
  for (uint32_t k = 0; k < a->algorithm->block_count; k++)
    if (strcmp(a->blocks[k].kernel, b->blocks[k].kernel) != 0 || a->blocks[k].threads != b->blocks[k].threads) return 0;
  return 1;
}

static int are_related(const struct sl_node *a, const struct sl_node *b) {
  return is_member(a) && is_member(b) && a->plugin == b->plugin &&
         strcmp(a->algorithm->family, b->algorithm->family) == 0 && have_same_blocks(a, b);
}

uint32_t *sl_draft_families(struct sl_draft *draft) {
  const struct sl_graph *graph = draft->graph;
  struct sl_arena *arena = draft->reader->arena;
  uint32_t *families = sl_arena_get(arena, graph->node_count, sizeof *families);
  uint32_t *heads = sl_arena_get(arena, graph->node_count, sizeof *heads); /* first node of each family so far */
  uint32_t *counts = sl_arena_get(arena, graph->node_count, sizeof *counts);
  uint32_t head_count = 0;
  for (uint32_t n = 0; n < graph->node_count; n++) {
    if (!is_member(&graph->nodes[n])) continue;
    uint32_t h = 0;
    while (h < head_count && !are_related(&graph->nodes[heads[h]], &graph->nodes[n])) h++;
    if (h == head_count) heads[head_count++] = n;
    counts[h]++;
    families[n] = h + 1;
  }
  for (uint32_t n = 0; n < graph->node_count; n++)
    if (families[n] != 0 && counts[families[n] - 1] == 1) families[n] = 0;
  return families;
}
