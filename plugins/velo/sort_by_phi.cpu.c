/* sort_by_phi.cpu.c: velo.sort_by_phi shaped for a CPU with vectors; same results as sort_by_phi.cu.
 *
 * The ranks of 32 clusters are counted at once, by 16-bit comparisons of phi alone. That gives every cluster a place of
 * its own unless two of the pair have the same phi, which shows in the sum of the ranks; such a pair, one in ten, is
 * done again with all three keys. Ranks are 16 bits: an event has at most 65535 clusters, as their makers see to.
 */
#include "sort_by_phi.h"

#include <string.h>

enum { LANES = 16, BLOCK = 2 * LANES };
typedef int16_t vector_i16 __attribute__((vector_size(2 * LANES)));
typedef uint16_t vector_u16 __attribute__((vector_size(2 * LANES))); /* ranks: up to 65535 */
typedef vector_i16 vector_i16_anywhere __attribute__((aligned(2), may_alias));
typedef vector_u16 vector_u16_anywhere __attribute__((aligned(2), may_alias));

/* The clusters of a module pair, and where its hits go. */
struct pair {
  uint32_t count;
  const int16_t *phi;
  const uint32_t *id, *order;
  const float *x, *y, *z;
  int16_t *to_phi;
  uint32_t *to_id;
  float *to_x, *to_y, *to_z;
};

/* Up to BLOCK clusters from `base` on, and the ranks that they get. */
struct block {
  uint32_t base, count;
  vector_i16 phi[2]; /* 0 where there is no cluster */
  uint16_t rank[BLOCK];
};

static inline void block_load(struct block *b, const struct pair *p, uint32_t base) {
  int16_t phi[BLOCK] = {0};
  b->base = base;
  b->count = p->count - base < BLOCK ? p->count - base : BLOCK;
  const int16_t *from = p->phi + base;
  if (b->count < BLOCK) from = memcpy(phi, from, b->count * sizeof *phi);
  b->phi[0] = *(const vector_i16_anywhere *)from;
  b->phi[1] = *(const vector_i16_anywhere *)(from + LANES);
}

/* Moves the block's clusters to their places. Outside of its callers, so that all pointers find a register. */
static __attribute__((noinline)) void block_move(const struct block *b, const struct pair *p) {
  const uint16_t *rank = b->rank, *end = rank + b->count;
  const int16_t *phi = p->phi + b->base;
  const uint32_t *id = p->id + b->base;
  const float *x = p->x + b->base, *y = p->y + b->base, *z = p->z + b->base;
  int16_t *to_phi = p->to_phi;
  uint32_t *to_id = p->to_id;
  float *to_x = p->to_x, *to_y = p->to_y, *to_z = p->to_z;
  for (; rank < end; rank++) {
    to_phi[*rank] = *phi++;
    to_id[*rank] = *id++;
    to_x[*rank] = *x++;
    to_y[*rank] = *y++;
    to_z[*rank] = *z++;
  }
}

/* Sorts by phi. Returns 0 if some are equal: then it has to be done again. */
static int sort_distinct(const struct pair *p) {
  uint64_t sum = 0;
  for (uint32_t base = 0; base < p->count; base += BLOCK) {
    struct block b;
    block_load(&b, p, base);
    const vector_i16 phi0 = b.phi[0], phi1 = b.phi[1];
    vector_u16 less0 = {0}, less1 = {0};
#pragma GCC unroll 4
    for (uint32_t j = 0; j < p->count; j++) {
      less0 -= (vector_u16)(p->phi[j] < phi0);
      less1 -= (vector_u16)(p->phi[j] < phi1);
    }
    *(vector_u16_anywhere *)b.rank = less0;
    *(vector_u16_anywhere *)(b.rank + LANES) = less1;
    for (uint32_t i = 0; i < b.count; i++) sum += b.rank[i];
    block_move(&b, p);
  }
  return sum == (uint64_t)p->count * (p->count - 1) / 2;
}

/* Of the clusters with the phi of cluster i: how many come before it? */
static uint32_t rank_among_equals(const struct pair *p, uint32_t i) {
  uint32_t before = 0;
  for (uint32_t j = 0; j < p->count; j++) {
    const uint32_t by_order = (p->order[j] < p->order[i]) | ((p->order[j] == p->order[i]) & (j < i));
    const uint32_t by_id = (p->id[j] < p->id[i]) | ((p->id[j] == p->id[i]) & by_order);
    before += (p->phi[j] == p->phi[i]) & by_id;
  }
  return before;
}

static void sort_with_equals(const struct pair *p) {
  for (uint32_t base = 0; base < p->count; base += BLOCK) {
    struct block b;
    block_load(&b, p, base);
    const vector_i16 phi0 = b.phi[0], phi1 = b.phi[1];
    vector_u16 less0 = {0}, less1 = {0}, equal0 = {0}, equal1 = {0};
    uint16_t equal[BLOCK];
#pragma GCC unroll 4
    for (uint32_t j = 0; j < p->count; j++) {
      less0 -= (vector_u16)(p->phi[j] < phi0);
      less1 -= (vector_u16)(p->phi[j] < phi1);
      equal0 -= (vector_u16)(p->phi[j] == phi0);
      equal1 -= (vector_u16)(p->phi[j] == phi1);
    }
    *(vector_u16_anywhere *)b.rank = less0;
    *(vector_u16_anywhere *)(b.rank + LANES) = less1;
    *(vector_u16_anywhere *)equal = equal0;
    *(vector_u16_anywhere *)(equal + LANES) = equal1;
    for (uint32_t i = 0; i < b.count; i++)
      if (equal[i] != 1) b.rank[i] = (uint16_t)(b.rank[i] + rank_among_equals(p, base + i));
    block_move(&b, p);
  }
}

void sort_by_phi_pair_cpu(const struct sort_by_phi_args *a, uint32_t from, uint32_t to, uint32_t count) {
  const struct velo_clusters_view *c = &a->clusters;
  const struct velo_hits *h = &a->hits;
  const struct pair pair = {count,       c->phi + from, c->id + from, c->order + from, c->x + from, c->y + from,
                            c->z + from, h->phi + to,   h->id + to,   h->x + to,       h->y + to,   h->z + to};
  if (!sort_distinct(&pair)) sort_with_equals(&pair);
}
