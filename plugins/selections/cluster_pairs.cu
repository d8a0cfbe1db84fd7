/* selections.cluster_pairs: pairs of neutral clusters, taken as photons from the origin (README.md, "Pairs of
 * clusters").
 *   1. cluster_pairs_count, one warp per event: lists the selected clusters; n of them make n (n - 1) / 2 pairs.
 *   2. A scan gives the offsets of the events.
 *   3. cluster_pairs_write, one warp per event: computes and writes the pairs, one per lane at a time.
 * Determinism: pairs are in order of (first, second). Plain version: tests/selections/cluster_pairs_test.c.
 * Cost: reads 8 bytes per cluster, 50 bytes per pair (270 pairs in an event); writes 38 bytes per pair.
 */
#include "calo/event_model.h"
#include "selections/event_model.h"
#include "walk.h"

#include <sluice/kernel.h>

/* Names in expressions of the pairs: first.NAME, second.NAME. */
static const struct sl_link cluster_pair_links[] = {{"first", "clusters"}, {"second", "clusters"}};
static const struct sl_vocabulary cluster_pair_vocabulary = {cluster_pair_links, NULL, SL_COUNT_(cluster_pair_links),
                                                             0};

#define SL_ARGS cluster_pairs_args
#define CLUSTER_PAIRS(M)                                                                                  \
  M(IN, clusters, calo_neutral_clusters, "offsets energy et x y highest_share area on_velo_line",         \
    "neutral clusters, in any order")                                                                     \
  M(OUT, pairs, cluster_pairs, "pairs by ascending indices of their clusters",                            \
    SL_ITEMS(SL_ONE(SL_BUDGET_TERM(pairs_per_event, 65536))), SL_VOCABULARY(cluster_pair_vocabulary))     \
  M(SCRATCH, selected, u32, "indices in the event of selected clusters", SL_ONE(SL_ITEMS_TERM(clusters))) \
  M(SCRATCH, selected_count, u32, "number of selected clusters per event", SL_ONE(SL_EVENTS_TERM(1, 0)))  \
  M(BUDGET, pairs_per_event, 400, 1, 65536, "pairs, on average over a slice")                             \
  M(F32, min_et, 400.0, 0.0, 1e9, "MeV", "transverse energy of both clusters must be above this")         \
  M(F32, min_highest_share, 0.6, 0.0, 1.0, "",                                                            \
    "share of the highest cell in the energy of both clusters must be above this")                        \
  M(F32, z, 12650.0, 1.0, 1e6, "mm", "z of the clusters")
SL_ARGUMENTS(cluster_pairs, CLUSTER_PAIRS);

/* Lists the selected clusters of an event; returns their number. */
static SL_DEVICE uint32_t select_clusters(const struct cluster_pairs_args *a, uint32_t event) {
  const uint32_t begin = a->clusters.offsets[event], count = a->clusters.offsets[event + 1] - begin;
  uint32_t selected_count = 0;
  SL_FOR_WARP (i, count) {
    const uint32_t is_one = i < count && a->clusters.et[begin + i] > a->min_et &&
                            a->clusters.highest_share[begin + i] > a->min_highest_share;
    const uint32_t index = sl_warp_append(is_one, &selected_count);
    if (is_one) a->selected[begin + index] = i;
  }
  return selected_count;
}

/* m^2 = 2 E1 E2 (1 - cos) with 1 - cos = sin^2 / (1 + cos), and sin^2 from differences of positions. The difference
 * (E1 + E2)^2 - p^2 would lose all digits at small masses. */
static SL_DEVICE void write_pair(const struct cluster_pairs_args *a, uint32_t begin, uint32_t first, uint32_t second,
                                 uint32_t to) {
  const uint32_t i = begin + first, j = begin + second;
  const float x1 = a->clusters.x[i], y1 = a->clusters.y[i], e1 = a->clusters.energy[i], z = a->z;
  const float x2 = a->clusters.x[j], y2 = a->clusters.y[j], e2 = a->clusters.energy[j];
  const float dx = x1 - x2, dy = y1 - y2, across = x1 * dy - y1 * dx;
  const float r1 = sqrtf(x1 * x1 + y1 * y1 + z * z), r2 = sqrtf(x2 * x2 + y2 * y2 + z * z), r = r1 * r2;
  const float sine2 = (z * z * (dx * dx + dy * dy) + across * across) / (r * r);
  const float cosine = (x1 * x2 + y1 * y2 + z * z) / r;
  const float by_r1 = e1 / r1, by_r2 = e2 / r2, px = by_r1 * x1 + by_r2 * x2, py = by_r1 * y1 + by_r2 * y2;
  const float pt2 = px * px + py * py, pt = sqrtf(pt2), pz = (by_r1 + by_r2) * z;
  a->pairs.first[to] = first;
  a->pairs.second[to] = second;
  a->pairs.mass[to] = sqrtf(2.0f * e1 * e2 * (sine2 / (1.0f + cosine)));
  a->pairs.energy[to] = e1 + e2;
  a->pairs.pt[to] = pt;
  a->pairs.eta[to] = sl_logf((sqrtf(pt2 + pz * pz) + pz) / pt);
  a->pairs.min_et[to] = sl_min_f32(a->clusters.et[i], a->clusters.et[j]);
  a->pairs.sum_et[to] = a->clusters.et[i] + a->clusters.et[j];
  a->pairs.min_highest_share[to] = sl_min_f32(a->clusters.highest_share[i], a->clusters.highest_share[j]);
  a->pairs.areas[to] = (uint8_t)(1u << a->clusters.area[i] | 1u << a->clusters.area[j]);
  a->pairs.on_velo_line[to] = (uint8_t)(a->clusters.on_velo_line[i] + a->clusters.on_velo_line[j]);
}

SL_KERNEL(cluster_pairs_count, struct cluster_pairs_args) {
  const uint32_t step = gridDim.x * sl_block_warps();
  for (uint32_t n = blockIdx.x * sl_block_warps() + sl_warp_index(); n < *a.events.count; n += step) {
    const uint32_t event = sl_event_at(&a.events, n), selected_count = select_clusters(&a, event);
    if (sl_warp_lane() > 0) continue;
    a.selected_count[event] = selected_count;
    a.pairs.offsets[event] = walk_pairs(selected_count);
  }
}

/* The range of an event is also empty if the pairs of the slice exceed the reserved memory. */
SL_KERNEL(cluster_pairs_write, struct cluster_pairs_args) {
  const uint32_t step = gridDim.x * sl_block_warps();
  for (uint32_t n = blockIdx.x * sl_block_warps() + sl_warp_index(); n < *a.events.count; n += step) {
    const uint32_t event = sl_event_at(&a.events, n), begin = a.clusters.offsets[event];
    const uint32_t to = a.pairs.offsets[event], count = a.pairs.offsets[event + 1] - to;
    struct walk at = walk_begin(a.selected_count[event]);
    for (uint32_t k = sl_warp_lane(); k < count; k += sl_warp_lanes()) {
      write_pair(&a, begin, a.selected[begin + at.first], a.selected[begin + at.second], to + k);
      walk_on(&at, sl_warp_lanes());
    }
  }
}

static int run(const struct sl_launch *l, const struct cluster_pairs_args *a) {
  return SL_COUNT_SCAN_WRITE(l, cluster_pairs_count, cluster_pairs_write, a->pairs, *a);
}

SL_ALGORITHM(cluster_pairs, "pairs of neutral clusters in the calorimeter, as photons from the origin", 64, run);
