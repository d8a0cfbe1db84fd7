/* selections.vertex_pairs: pairs of selected secondary vertices that share no particle (README.md, "Pairs of
 * vertices").
 *   1. vertex_pairs_count, one warp per event: selects vertices, counts the pairs that share no particle.
 *   2. A scan gives the offsets of the events.
 *   3. vertex_pairs_write, one warp per event: finds the pairs again and writes them.
 * Determinism: pairs are in order of (first, second).
 * Cost: reads 40 bytes per vertex and 16 per tested pair; writes 8 bytes per pair.
 */
#include "selections/event_model.h"
#include "walk.h"

#include <sluice/kernel.h>

enum { ALTERNATIVES = 3 };

/* Names in expressions of the pairs: first.NAME, second.NAME. */
static const struct sl_link vertex_pair_links[] = {{"first", "vertices"}, {"second", "vertices"}};
static const struct sl_vocabulary vertex_pair_vocabulary = {vertex_pair_links, NULL, SL_COUNT_(vertex_pair_links), 0};

#define SL_ARGS vertex_pairs_args
#define VERTEX_PAIRS(M)                                                                                        \
  M(IN, vertices, secondary_vertices, "offsets first second chi2 pt eta dira min_p min_pt min_ip min_ip_chi2", \
    "secondary vertices, in any order")                                                                        \
  M(OUT, pairs, vertex_pairs, "pairs by ascending indices of their vertices",                                  \
    SL_ITEMS(SL_ONE(SL_BUDGET_TERM(pairs_per_event, 65536))), SL_VOCABULARY(vertex_pair_vocabulary))           \
  M(SCRATCH, selected, u32, "indices in the event of selected vertices", SL_ONE(SL_ITEMS_TERM(vertices)))      \
  M(SCRATCH, selected_count, u32, "number of selected vertices per event", SL_ONE(SL_EVENTS_TERM(1, 0)))       \
  M(BUDGET, pairs_per_event, 4, 1, 65536, "pairs, on average over a slice")                                    \
  M(F32, max_chi2, 30.0, 0.0, 1e9, "", "maximum chi2 of the vertex fit; chi2 must also be above 0")            \
  M(F32, min_p, 1000.0, 0.0, 1e9, "MeV", "minimum momentum of both particles")                                 \
  M(F32, min_eta, 2.0, -20.0, 20.0, "", "minimum pseudorapidity of the flight vector")                         \
  M(F32, max_eta, 5.0, -20.0, 20.0, "", "maximum pseudorapidity of the flight vector")                         \
  M(F32, min_dira, 0.0, -1.0, 1.0, "", "minimum cosine of the angle between flight vector and momentum")       \
  M(F32_ARRAY, min_pt, ALTERNATIVES, "[200, 500, 200]", 0.0, 1e9, "MeV",                                       \
    "minimum pt of both particles, for three alternative selections")                                          \
  M(F32_ARRAY, min_vertex_pt, ALTERNATIVES, "[500, 500, 200]", 0.0, 1e9, "MeV",                                \
    "minimum pt of the vertex, for three alternative selections")                                              \
  M(F32_ARRAY, min_ip_chi2, ALTERNATIVES, "[4, -1000, -1000]", -1e9, 1e9, "",                                  \
    "minimum ip_chi2 of both particles, for three alternative selections")                                     \
  M(F32_ARRAY, min_ip, ALTERNATIVES, "[-1000, 0.06, 0.2]", -1e9, 1e9, "mm",                                    \
    "minimum impact parameter of both particles, for three alternative selections")
SL_ARGUMENTS(vertex_pairs, VERTEX_PAIRS);

static SL_DEVICE uint32_t is_selected(const struct vertex_pairs_args *a, uint32_t i) {
  const struct secondary_vertices_view *v = &a->vertices;
  uint32_t is_one = 0;
  if (!(v->chi2[i] > 0.0f && v->chi2[i] < a->max_chi2 && v->min_p[i] > a->min_p && v->eta[i] > a->min_eta &&
        v->eta[i] < a->max_eta && v->dira[i] > a->min_dira))
    return 0;
  for (uint32_t k = 0; k < ALTERNATIVES; k++)
    if (v->min_pt[i] > a->min_pt[k] && v->pt[i] > a->min_vertex_pt[k] && v->min_ip_chi2[i] > a->min_ip_chi2[k] &&
        v->min_ip[i] > a->min_ip[k])
      is_one = 1;
  return is_one;
}

static SL_DEVICE uint32_t share_none(const struct vertex_pairs_args *a, uint32_t i, uint32_t j) {
  const uint32_t *first = a->vertices.first, *second = a->vertices.second;
  return first[i] != first[j] && first[i] != second[j] && second[i] != first[j] && second[i] != second[j];
}

/* Lists the selected vertices of an event; returns their number. */
static SL_DEVICE uint32_t select_vertices(const struct vertex_pairs_args *a, uint32_t event) {
  const uint32_t begin = a->vertices.offsets[event], count = a->vertices.offsets[event + 1] - begin;
  uint32_t selected_count = 0;
  SL_FOR_WARP (i, count) {
    const uint32_t is_one = i < count && is_selected(a, begin + i);
    const uint32_t index = sl_warp_append(is_one, &selected_count);
    if (is_one) a->selected[begin + index] = i;
  }
  sl_warp_sync();
  return selected_count;
}

/* Tests all pairs of selected vertices of an event, by the lanes of a warp. Returns the number of accepted pairs, and
 * writes them if `is_writing`. */
static SL_DEVICE uint32_t find_pairs(const struct vertex_pairs_args *a, uint32_t event, uint32_t selected_count,
                                     uint32_t is_writing) {
  const uint32_t begin = a->vertices.offsets[event], first_pair = is_writing ? a->pairs.offsets[event] : 0;
  const uint32_t all = walk_pairs(selected_count);
  struct walk at = walk_begin(selected_count);
  uint32_t pair_count = 0;
  SL_FOR_WARP (k, all) {
    const uint32_t i = k < all ? a->selected[begin + at.first] : 0, j = k < all ? a->selected[begin + at.second] : 0;
    const uint32_t is_one = k < all && share_none(a, begin + i, begin + j);
    const uint32_t index = first_pair + sl_warp_append(is_one, &pair_count);
    if (is_one && is_writing) {
      a->pairs.first[index] = i;
      a->pairs.second[index] = j;
    }
    walk_on(&at, sl_warp_lanes());
  }
  return pair_count;
}

SL_KERNEL(vertex_pairs_count, struct vertex_pairs_args) {
  const uint32_t step = gridDim.x * sl_block_warps();
  for (uint32_t n = blockIdx.x * sl_block_warps() + sl_warp_index(); n < *a.events.count; n += step) {
    const uint32_t event = sl_event_at(&a.events, n), selected_count = select_vertices(&a, event);
    const uint32_t pair_count = find_pairs(&a, event, selected_count, 0);
    if (sl_warp_lane() > 0) continue;
    a.selected_count[event] = selected_count;
    a.pairs.offsets[event] = pair_count;
  }
}

/* The range of an event is also empty if the pairs of the slice exceed the reserved memory. */
SL_KERNEL(vertex_pairs_write, struct vertex_pairs_args) {
  const uint32_t step = gridDim.x * sl_block_warps();
  for (uint32_t n = blockIdx.x * sl_block_warps() + sl_warp_index(); n < *a.events.count; n += step) {
    const uint32_t event = sl_event_at(&a.events, n);
    if (a.pairs.offsets[event] != a.pairs.offsets[event + 1]) (void)find_pairs(&a, event, a.selected_count[event], 1);
  }
}

static int run(const struct sl_launch *l, const struct vertex_pairs_args *a) {
  return SL_COUNT_SCAN_WRITE(l, vertex_pairs_count, vertex_pairs_write, a->pairs, *a);
}

SL_ALGORITHM(vertex_pairs, "pairs of secondary vertices that share no particle", 64, run);
