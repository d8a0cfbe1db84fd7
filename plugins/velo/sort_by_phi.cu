/* velo.sort_by_phi: VELO hits from clusters: compacted, and sorted by (phi, id, order) in each module pair.
 *
 * A rank sort: a hit's place in its pair is the number of clusters of the pair that come before it. Pairs hold some 70
 * clusters, so that counting beats anything cleverer, and no thread waits for another. Two clusters that agree in
 * all three keys keep the order of the input, so that places are unique whatever the input.
 * Source: spec velo_pv.md A.4, H.1.
 */
#include "sort_by_phi.h"
#include "velo/event_model.h"

#include <sluice/kernel.h>
#include <sluice/plugin.h>

#define SL_ARGS sort_by_phi_args
static const struct sl_member sort_by_phi_members[] = {
    SL_EVENTS(),
    SL_IN(clusters, velo_clusters, "", "in any order within a module pair"),
    SL_OUT(hits, velo_hits, "sorted", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(clusters)))),
};

/* Writes, in the event's place of the offsets, the number of its hits. */
SL_KERNEL(sort_by_phi_count, struct sort_by_phi_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t mine = 0;
    for (uint32_t pair = threadIdx.x; pair < VELO_MODULE_PAIRS; pair += blockDim.x)
      mine += a.clusters.pair_count[event * VELO_MODULE_PAIRS + pair];
    const uint32_t hits = sl_block_sum_u32(mine);
    if (threadIdx.x == 0) a.hits.offsets[event] = hits;
  }
}

/* The clusters of a pair: `count` from `first` on in the slice. How many come before cluster i? */
static SL_DEVICE uint32_t rank_of(const struct velo_clusters_view *clusters, uint32_t first, uint32_t count,
                                  uint32_t i) {
  const int16_t *phi = clusters->phi + first;
  const uint32_t *id = clusters->id + first, *order = clusters->order + first;
  uint32_t before = 0, equal = 0;
  for (uint32_t j = 0; j < count; j++) {
    before += phi[j] < phi[i] ? 1u : 0u;
    equal += phi[j] == phi[i] ? 1u : 0u;
  }
  if (equal == 1) return before;
  for (uint32_t j = 0; j < count; j++) {
    if (phi[j] != phi[i] || j == i) continue;
    if (id[j] != id[i] ? id[j] < id[i] : order[j] != order[i] ? order[j] < order[i] : j < i) before++;
  }
  return before;
}

/* Where the hits of each module pair begin, relative to the event; first[VELO_MODULE_PAIRS] is their number. Every
 * thread of the block calls it, and all see `first` afterwards. */
static SL_DEVICE void place_pairs(const struct sort_by_phi_args *a, uint32_t event, uint32_t *first) {
  /* Equal offsets: the event has no hits, or the slice overflowed. */
  const uint32_t empty = a->hits.offsets[event + 1] == a->hits.offsets[event] ? 1u : 0u;
  uint32_t before = 0;
  SL_FOR_BLOCK (pair, VELO_MODULE_PAIRS + 1) {
    const uint32_t has_clusters = pair < VELO_MODULE_PAIRS && !empty ? 1u : 0u;
    const uint32_t count = has_clusters ? a->clusters.pair_count[event * VELO_MODULE_PAIRS + pair] : 0u;
    uint32_t total;
    const uint32_t place = before + sl_block_exclusive_scan(count, &total);
    if (pair <= VELO_MODULE_PAIRS) {
      first[pair] = place;
      a->hits.pair_first[event * (VELO_MODULE_PAIRS + 1) + pair] = place;
    }
    before += total;
  }
  __syncthreads();
}

/* Per event: 32 threads a module pair. Reads every phi once for each cluster of its pair. */
SL_KERNEL(sort_by_phi_write, struct sort_by_phi_args) {
  __shared__ uint32_t first[VELO_MODULE_PAIRS + 1];
  const uint32_t lanes = blockDim.x < 32 ? 1 : 32, lane = threadIdx.x % lanes;
  SL_FOR_EVENTS (event, a.events) {
    place_pairs(&a, event, first);
    for (uint32_t pair = threadIdx.x / lanes; pair < VELO_MODULE_PAIRS; pair += blockDim.x / lanes) {
      const uint32_t count = first[pair + 1] - first[pair], to = a.hits.offsets[event] + first[pair];
      const uint32_t from = a.clusters.offsets[event] + a.clusters.pair_first[event * VELO_MODULE_PAIRS + pair];
      for (uint32_t i = lane; i < count; i += lanes) {
        const uint32_t hit = to + rank_of(&a.clusters, from, count, i);
        a.hits.id[hit] = a.clusters.id[from + i];
        a.hits.phi[hit] = a.clusters.phi[from + i];
        a.hits.x[hit] = a.clusters.x[from + i];
        a.hits.y[hit] = a.clusters.y[from + i];
        a.hits.z[hit] = a.clusters.z[from + i];
      }
    }
    __syncthreads();
  }
}

#ifdef SL_TARGET_CPU
static void sort_by_phi_write_cpu(const struct sort_by_phi_args *a) {
  uint32_t first[VELO_MODULE_PAIRS + 1];
  SL_FOR_EVENTS (event, a->events) {
    place_pairs(a, event, first);
    for (uint32_t pair = 0; pair < VELO_MODULE_PAIRS; pair++)
      sort_by_phi_pair_cpu(a, a->clusters.offsets[event] + a->clusters.pair_first[event * VELO_MODULE_PAIRS + pair],
                           a->hits.offsets[event] + first[pair], first[pair + 1] - first[pair]);
  }
}

static int run_tuned(const struct sl_launch *l, const void *args) {
  const struct sort_by_phi_args *a = (const struct sort_by_phi_args *)args;
  int status = SL_LAUNCH(l, sort_by_phi_count, SL_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->hits.offsets, &a->hits.bound);
  if (status == SL_OK) sort_by_phi_write_cpu(a);
  return status;
}
#define SORT_BY_PHI_TUNED run_tuned
#else
#define SORT_BY_PHI_TUNED NULL
#endif

static int run(const struct sl_launch *l, const struct sort_by_phi_args *a) {
  int status = SL_LAUNCH(l, sort_by_phi_count, SL_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->hits.offsets, &a->hits.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, sort_by_phi_write, SL_PER_EVENT, *a);
  return status;
}

SL_ALGORITHM_TUNED(sort_by_phi, "VELO hits, sorted by azimuth in each module pair", 128, run, SORT_BY_PHI_TUNED);
