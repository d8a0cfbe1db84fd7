/* selections.vertex_pairs: pairs of secondary vertices, each a good one, that share no particle (README.md, "Pairs of
 * vertices").
 *
 * A warp an event lists the good vertices, and counts pairs of these; after the scan it goes through them again. Reads
 * 40 bytes a vertex, and 16 for each pair that is looked at; writes 8 a pair.
 */
#include "selections/event_model.h"
#include "walk.h"

#include <sluice/kernel.h>

enum { WAYS = 3 };

#define SL_ARGS vertex_pairs_args
#define VERTEX_PAIRS(M)                                                                                              \
  M(IN, vertices, secondary_vertices, "offsets first second chi2 pt eta dira min_p min_pt min_ip min_ip_chi2",       \
    "any order")                                                                                                     \
  M(OUT, pairs, vertex_pairs, "by ascending places of their vertices",                                               \
    SL_ITEMS(SL_ONE(SL_BUDGET_TERM(pairs_per_event, 65536))))                                                        \
  M(SCRATCH, kept, u32, "places of an event's vertices that are good", SL_ONE(SL_ITEMS_TERM(vertices)))              \
  M(SCRATCH, kept_count, u32, "how many", SL_ONE(SL_EVENTS_TERM(1, 0)))                                              \
  M(BUDGET, pairs_per_event, 16, 1, 65536, "pairs")                                                                  \
  M(F32, max_chi2, 30.0, 0.0, 1e9, "", "a good vertex has less of it, but some")                                     \
  M(F32, min_p, 1000.0, 0.0, 1e9, "MeV", "of its particles, and more")                                               \
  M(F32, min_eta, 2.0, -20.0, 20.0, "", "more")                                                                      \
  M(F32, max_eta, 5.0, -20.0, 20.0, "", "less")                                                                      \
  M(F32, min_dira, 0.0, -1.0, 1.0, "", "more")                                                                       \
  M(F32_ARRAY, min_pt, WAYS, "[200, 500, 200]", 0.0, 1e9, "MeV", "of its particles, and more, in one of three ways") \
  M(F32_ARRAY, min_vertex_pt, WAYS, "[500, 500, 200]", 0.0, 1e9, "MeV", "of the vertex, in the same way")            \
  M(F32_ARRAY, min_ip_chi2, WAYS, "[4, -1000, -1000]", -1e9, 1e9, "", "of its particles, likewise")                  \
  M(F32_ARRAY, min_ip, WAYS, "[-1000, 0.06, 0.2]", -1e9, 1e9, "mm", "likewise")
SL_ARGUMENTS(vertex_pairs, VERTEX_PAIRS);

static SL_DEVICE uint32_t is_good(const struct vertex_pairs_args *a, uint32_t i) {
  const struct secondary_vertices_view *v = &a->vertices;
  uint32_t is_one = 0;
  if (!(v->chi2[i] > 0.0f && v->chi2[i] < a->max_chi2 && v->min_p[i] > a->min_p && v->eta[i] > a->min_eta &&
        v->eta[i] < a->max_eta && v->dira[i] > a->min_dira))
    return 0;
  for (uint32_t k = 0; k < WAYS; k++)
    if (v->min_pt[i] > a->min_pt[k] && v->pt[i] > a->min_vertex_pt[k] && v->min_ip_chi2[i] > a->min_ip_chi2[k] &&
        v->min_ip[i] > a->min_ip[k])
      is_one = 1;
  return is_one;
}

static SL_DEVICE uint32_t share_none(const struct vertex_pairs_args *a, uint32_t i, uint32_t j) {
  const uint32_t *first = a->vertices.first, *second = a->vertices.second;
  return first[i] != first[j] && first[i] != second[j] && second[i] != first[j] && second[i] != second[j];
}

static SL_DEVICE uint32_t keep(const struct vertex_pairs_args *a, uint32_t event) {
  const uint32_t begin = a->vertices.offsets[event], count = a->vertices.offsets[event + 1] - begin;
  uint32_t kept = 0;
  SL_FOR_WARP (i, count) {
    const uint32_t is_one = i < count && is_good(a, begin + i);
    const uint32_t place = sl_warp_append(is_one, &kept);
    if (is_one) a->kept[begin + place] = i;
  }
  sl_warp_sync();
  return kept;
}

/* By the threads of a warp; writes the pairs of an event, or only counts them. */
static SL_DEVICE uint32_t go_through(const struct vertex_pairs_args *a, uint32_t event, uint32_t kept,
                                     uint32_t is_writing) {
  const uint32_t begin = a->vertices.offsets[event], to = is_writing ? a->pairs.offsets[event] : 0;
  const uint32_t all = walk_pairs(kept);
  struct walk at = walk_begin(kept);
  uint32_t length = 0;
  SL_FOR_WARP (k, all) {
    const uint32_t i = k < all ? a->kept[begin + at.first] : 0, j = k < all ? a->kept[begin + at.second] : 0;
    const uint32_t is_one = k < all && share_none(a, begin + i, begin + j);
    const uint32_t place = to + sl_warp_append(is_one, &length);
    if (is_one && is_writing) {
      a->pairs.first[place] = i;
      a->pairs.second[place] = j;
    }
    walk_on(&at, sl_warp_lanes());
  }
  return length;
}

SL_KERNEL(vertex_pairs_count, struct vertex_pairs_args) {
  const uint32_t step = gridDim.x * sl_block_warps();
  for (uint32_t n = blockIdx.x * sl_block_warps() + sl_warp_index(); n < *a.events.count; n += step) {
    const uint32_t event = sl_event_at(&a.events, n), kept = keep(&a, event), found = go_through(&a, event, kept, 0);
    if (sl_warp_lane() > 0) continue;
    a.kept_count[event] = kept;
    a.pairs.offsets[event] = found;
  }
}

/* Where not all events' pairs fit, there are none. */
SL_KERNEL(vertex_pairs_write, struct vertex_pairs_args) {
  const uint32_t step = gridDim.x * sl_block_warps();
  for (uint32_t n = blockIdx.x * sl_block_warps() + sl_warp_index(); n < *a.events.count; n += step) {
    const uint32_t event = sl_event_at(&a.events, n);
    if (a.pairs.offsets[event] != a.pairs.offsets[event + 1]) (void)go_through(&a, event, a.kept_count[event], 1);
  }
}

static int run(const struct sl_launch *l, const struct vertex_pairs_args *a) {
  return SL_COUNT_SCAN_WRITE(l, vertex_pairs_count, vertex_pairs_write, a->pairs, *a);
}

SL_ALGORITHM(vertex_pairs, "pairs of secondary vertices that share no particle", 64, run);
