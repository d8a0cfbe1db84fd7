/* seeding.match_ut: adds UT hits to matched tracks and accepts the matches that have enough of them (README.md).
 * For each match:
 *   1. Predict the trajectory in the UT from the VELO state and q/p: x(z) = x0 + tx d + bend d^2, d = z - z0.
 *   2. Seed a candidate with each hit of layers 0 to 2 inside the loose search window; the hit fixes the bend.
 *   3. Extend it layer by layer: take the nearest hit inside the tight search window and update the bend.
 *   4. Keep the candidate with the most hits; ties: smaller sum of squared residuals, then the lower first hit.
 * Accepts matches with at least min_hits hits, in input order.
 * Parallelism: one warp per 8 matches; lanes share the hits of all search windows. CPU: 8 hits per vector.
 * Determinism: the best candidate is the minimum of a 64-bit key, independent of the order of lanes.
 * Cost per event (49 matches, 2,400 hits tried): reads 8 bytes per hit tried, writes 18 per accepted hit.
 * Plain version: tests/seeding/match_ut_reference.h.
 */
#include "magnet/event_model.h"
#include "seeding/match_math.h"
#include "sorted_x.h"
#include "ut/event_model.h"

#include <sluice/kernel.h>
#ifdef SL_TARGET_CPU
#include <sluice/vectors.h>
#endif

#define SL_ARGS match_ut_args
#define MATCH_UT(M)                                                                                                 \
  M(IN, matches, seed_matches, "", "matches of VELO tracks and seeds, in any order")                                \
  M(IN, end_states, track_states, "offsets x y z tx ty", "states of all VELO tracks at the end of the VELO")        \
  M(IN, hits, ut_hits, "offsets group_first id x y y_end z sector", "UT hits to search")                            \
  M(IN, groups, ut_sector_groups, "layer_first x x_least x_most length layer_z layer_depth layer_slope",            \
    "groups of UT sectors, with their positions")                                                                   \
  M(IN, matching, matching_constants, "constants", "bend in the UT and search windows")                             \
  M(IN, magnet, magnet_polarity, "sign", "magnet polarity")                                                         \
  M(OUT, accepted, seed_matches, "matches with at least `min_hits` UT hits, in input order",                        \
    SL_ITEMS(SL_ONE(SL_ITEMS_TERM(matches))))                                                                       \
  M(OUT, ut_tracks, ut_tracks, "one UT track for each accepted match", SL_SHARES_OFFSETS(accepted),                 \
    SL_SUBITEMS(SL_ONE(SL_ITEMS_SCALED(matches, UT_TRACK_HITS_MAX, 1, 0))))                                         \
  M(U32, min_hits, 2, 0, 4, "", "least number of UT hits of an accepted match")                                     \
  M(SCRATCH, found_hits, u64, "indices of the UT hits of a match, 16 bits each, the last layer in the lowest bits", \
    SL_ONE(SL_ITEMS_TERM(matches)))                                                                                 \
  M(SCRATCH, hit_count, u8, "number of UT hits of a match", SL_ONE(SL_ITEMS_TERM(matches)))                         \
  M(SCRATCH, bend, f32, "bend of a match in the UT, 1/mm", SL_ONE(SL_ITEMS_TERM(matches)))                          \
  M(SCRATCH, sources, u64, "input item and event of each selected item", SL_ONE(SL_ITEMS_TERM(matches)))
SL_ARGUMENTS(match_ut, MATCH_UT);

enum {
  HIT_BITS = 16,
  MATCHES = 8, /* matches per warp at a time */
  WINDOWS = (int)UT_LAYERS * MATCHES,
  PARTS = 4,  /* blocks per event */
  RANGES = 4, /* ranges of hits per search window, usually one per sector group; the last may span several */
  SEGMENTS = WINDOWS * RANGES, /* a power of two */
  LIST_MAX = 128,              /* hits in shared memory; windows beyond that are searched hit by hit */
  PAIRS_MAX = 128,             /* (match, first hit) pairs that are followed at a time */
  INDEX_BITS = 15,             /* hit indices below UT_HITS_MAX */
  INDEX_MASK = (1 << INDEX_BITS) - 1,
  PAIR_LAYER = INDEX_BITS + 3,
  KEY_SCORE = INDEX_BITS + 2, /* the lower bits of a key hold the layer and index of the first hit */
  KEY_MISSING = KEY_SCORE + 32,
#if defined(SL_TARGET_CPU)
  WARPS = 1
#else
  WARPS = 4 /* per block, at most */
#endif
};
SL_STATIC_ASSERT((int)UT_HITS_MAX <= 1 << (int)INDEX_BITS, "a hit index fits into INDEX_BITS");
SL_STATIC_ASSERT((int)MATCHES <= 1 << ((int)PAIR_LAYER - (int)INDEX_BITS), "a match number fits into a pair");
static const float window_margin = 0.01f; /* mm: added to each search window, because tolerances are rounded */

/* Trajectory of a match in the UT: x = velo.x + velo.tx d + bend d^2, d = z - velo.z. */
struct trajectory {
  struct forward_state velo;
  float bend;
};

/* Search window of a match in one layer. It covers any bend that hits of earlier layers can give. */
struct search_window {
  float loose, tight; /* mm, half widths in x: for a first hit, and for a further hit */
  float distance_max; /* mm, in x from the trajectory without hits */
  float slope;        /* dx/dy of the layer's strips */
  uint32_t count;
  uint16_t begin[RANGES], end[RANGES]; /* indices of hits in the event, ascending */
  uint32_t list_begin, list_end;       /* entries of workspace.list in this window */
};

/* A hit projected to the y of a match: its x there, the x of the trajectory without bend, and d^2. */
struct projected_hit {
  float x, straight, d2;
  uint32_t index; /* window << INDEX_BITS | hit index in the event */
};

/* Shared memory of a warp. Search windows are ordered by layer, the last layer first, so that the hits that can follow
 * a first hit are already listed. The hits of all ranges are numbered. */
struct workspace {
  uint64_t keys[MATCHES]; /* best key of each match */
  struct trajectory trajectories[MATCHES];
  struct search_window windows[WINDOWS];
  uint32_t before[SEGMENTS + 1];       /* number of hits in earlier ranges; the last entry is the sum */
  struct projected_hit list[LIST_MAX]; /* by window, then hit index */
  uint32_t listed_windows;             /* number of windows with all hits in `list` */
  uint32_t pairs[PAIRS_MAX];           /* of a first hit: layer << PAIR_LAYER | match << INDEX_BITS | hit index */
};

static SL_DEVICE uint32_t window_index(uint32_t layer, uint32_t i) { return (UT_LAYERS - 1 - layer) * MATCHES + i; }
static SL_DEVICE uint32_t layer_of(uint32_t window) { return UT_LAYERS - 1 - window / MATCHES; }

static SL_DEVICE float trajectory_x(const struct trajectory *w, float z) {
  const float d = z - w->velo.z;
  return w->velo.x + w->velo.tx * d + w->bend * (d * d);
}
static SL_DEVICE float trajectory_y(const struct trajectory *w, float z) {
  return w->velo.y + w->velo.ty * (z - w->velo.z);
}

/* Trajectory of a match from its VELO state and q/p, before any hit is added. */
static SL_DEVICE struct trajectory velo_trajectory(const struct match_ut_args *a, uint32_t event, uint32_t match) {
  const float *bend = a->matching.constants + MATCH_UT_BEND;
  struct trajectory w;
  w.velo = forward_velo_state(&a->end_states, a->end_states.offsets[event] + a->matches.velo_track[match]);
  w.bend = bend[0] + bend[1] * (a->matches.qop[match] * a->magnet.sign[0]);
  return w;
}

/* ----------------------------------------------------------------------------------------------- search windows */

/* Half width of a search window in x, mm. `numbers`: MATCH_UT_LOOSE or MATCH_UT_TIGHT of the layer. */
static SL_DEVICE float half_width(const float *numbers, float qop) {
  return sl_min_f32(sl_max_f32(numbers[0] + numbers[1] * sl_abs_f32(qop), numbers[2]), numbers[3]);
}

/* Largest distance in x between a hit of the layer and the trajectory without hits. Earlier hits change the bend: the
 * first one by residual / d^2, a further one by half of that. */
static SL_DEVICE float distance_max(const struct match_ut_args *a, const struct trajectory *w, uint32_t layer,
                                    float qop, struct search_window *r) {
  const float *constants = a->matching.constants;
  float bend_change = 0.0f, width = 0.0f, loose = 0.0f, tight = 0.0f;
  for (uint32_t k = 0; k <= layer; k++) {
    const float d = a->groups.layer_z[k] - w->velo.z, near = d - a->groups.layer_depth[k];
    const float far = d + a->groups.layer_depth[k], most = bend_change * (far * far), per_near2 = 1.0f / (near * near);
    loose = k + 1 < UT_LAYERS ? half_width(constants + MATCH_UT_LOOSE + k * MATCH_UT_WINDOW, qop) : 0.0f;
    tight = k > 0 ? half_width(constants + MATCH_UT_TIGHT + (k - 1) * MATCH_UT_WINDOW, qop) : 0.0f;
    width = sl_max_f32(loose, most + tight);
    bend_change = sl_max_f32(loose * per_near2, bend_change + 0.5f * tight * per_near2);
  }
  r->loose = loose;
  r->tight = tight;
  return width;
}

struct strip_range {
  float x, y, half_x, half_y;
};

static SL_DEVICE uint32_t is_in_range(const struct match_ut_args *a, const struct strip_range *s, uint32_t group) {
  return s->x + s->half_x >= a->groups.x_least[group] && s->x - s->half_x <= a->groups.x_most[group] ? 1u : 0u;
}

/* Replaces the range of sector groups, selected in x, by the range of their hits that y allows. */
static SL_DEVICE void open_ranges(const struct match_ut_args *a, const struct strip_range *s, uint32_t event,
                                  struct search_window *r) {
  const uint32_t event_hits = a->hits.offsets[event], groups = r->count;
  const uint16_t *first = a->hits.group_first + (size_t)event * (UT_GROUPS_MAX + 1);
  r->count = 0;
  SL_ROLLED for (uint32_t k = 0; k < groups; k++) {
    const uint32_t group = r->begin[k], last_end = event_hits + first[r->end[k]];
    const uint32_t begin = seeding_first_from(a->hits.y, event_hits + first[group], event_hits + first[group + 1],
                                              s->y - s->half_y - a->groups.length[group]);
    const uint32_t last_begin = event_hits + first[r->end[k] - 1];
    const uint32_t end =
        seeding_first_above(a->hits.y, begin > last_begin ? begin : last_begin, last_end, s->y + s->half_y);
    if (begin == end) continue;
    r->begin[r->count] = (uint16_t)(begin - event_hits);
    r->end[r->count++] = (uint16_t)(end - event_hits);
  }
}

static SL_DEVICE void open_window(const struct match_ut_args *a, const struct trajectory *w, uint32_t event,
                                  uint32_t layer, float qop, struct search_window *r) {
  const uint32_t begin = a->groups.layer_first[layer], end = a->groups.layer_first[layer + 1];
  const float z = a->groups.layer_z[layer], depth = a->groups.layer_depth[layer];
  const float slope = a->groups.layer_slope[layer], turn = 2.0f * w->bend * (z - w->velo.z);
  struct strip_range s;
  r->slope = slope;
  r->distance_max = distance_max(a, w, layer, qop, r) + window_margin;
  s.y = trajectory_y(w, z);
  s.x = trajectory_x(w, z) - s.y * slope;
  s.half_x = r->distance_max + depth * (sl_abs_f32(w->velo.tx + turn) + sl_abs_f32(w->velo.ty * slope));
  s.half_y = a->matching.constants[MATCH_UT_Y_TOLERANCE] + depth * sl_abs_f32(w->velo.ty) + window_margin;
  r->count = 0;
  const uint32_t above = seeding_first_from(a->groups.x, begin, end, s.x);
  uint32_t first = above < begin + 3 ? begin : above - 3, last = above + 2 < end ? above + 2 : end;
  while (first > begin && is_in_range(a, &s, first - 1)) first--;
  while (last < end && is_in_range(a, &s, last)) last++;
  for (uint32_t group = first; group < last; group++) {
    if (!is_in_range(a, &s, group)) continue;
    if (r->count < RANGES) r->begin[r->count++] = (uint16_t)group;
    r->end[r->count - 1] = (uint16_t)(group + 1);
  }
  open_ranges(a, &s, event, r);
}

/* ------------------------------------------------------------------------------------------------------- one hit */

static SL_DEVICE struct projected_hit project_hit(const struct match_ut_args *a, const struct trajectory *w,
                                                  uint32_t event_hits, uint32_t index, float slope, float *y) {
  const uint32_t hit = event_hits + index;
  const float z = a->hits.z[hit], d = z - w->velo.z;
  struct projected_hit c;
  *y = trajectory_y(w, z);
  c.x = a->hits.x[hit] + *y * slope;
  c.straight = w->velo.x + w->velo.tx * d;
  c.d2 = d * d;
  c.index = index;
  return c;
}

/* 1 if the strip covers this y, within the tolerance. */
static SL_DEVICE uint32_t is_at_y(const struct match_ut_args *a, uint32_t hit, float y) {
  const float tolerance = a->matching.constants[MATCH_UT_Y_TOLERANCE];
  return a->hits.y[hit] - tolerance <= y && y <= a->hits.y_end[hit] + tolerance ? 1u : 0u;
}

/* Residual of a hit in x, mm. */
static SL_DEVICE float residual_of(const struct projected_hit *c, float bend) {
  return c->x - (c->straight + bend * c->d2);
}

/* Bend for which the trajectory passes through a hit with this residual. */
static SL_DEVICE float bend_through(const struct projected_hit *c, float bend, float residual) {
  return bend + residual / c->d2;
}

/* ---------------------------------------------------------------------------------------------- candidates */

/* A candidate: trajectory, hits found so far, and score. */
struct candidate {
  struct trajectory trajectory;
  uint64_t hits;
  uint32_t count;
  float score; /* sum of squared residuals of further hits, mm2 */
};

static const uint32_t no_hit = UINT32_MAX;

/* Nearest hit so far; of hits at equal distance, the first. */
struct nearest {
  struct projected_hit hit;
  float residual;
  uint32_t distance; /* bits of |residual|, which sort like the number; no_hit: none */
};

static SL_DEVICE uint32_t is_nearer(const struct projected_hit *c, float bend, float half, const struct nearest *n) {
  const float residual = residual_of(c, bend), distance = sl_abs_f32(residual);
  return !(distance > half) && sl_bits_from_f32(distance) < n->distance ? 1u : 0u;
}

static SL_DEVICE void set_nearest(const struct projected_hit *c, float bend, struct nearest *n) {
  n->hit = *c;
  n->residual = residual_of(c, bend);
  n->distance = sl_bits_from_f32(sl_abs_f32(n->residual));
}

/* Nearest hit of the search window, from all hits of its ranges. */
static SL_DEVICE struct nearest nearest_of_all(const struct match_ut_args *a, const struct trajectory *w,
                                               const struct search_window *r, uint32_t event_hits) {
  struct nearest n;
  n.distance = no_hit;
  for (uint32_t k = 0; k < r->count; k++)
    for (uint32_t index = r->begin[k]; index < r->end[k]; index++) {
      float y;
      const struct projected_hit c = project_hit(a, w, event_hits, index, r->slope, &y);
      if (is_nearer(&c, w->bend, r->tight, &n) && is_at_y(a, event_hits + index, y)) set_nearest(&c, w->bend, &n);
    }
  return n;
}

static SL_DEVICE struct nearest nearest_of(const struct match_ut_args *a, const struct workspace *w,
                                           const struct trajectory *trajectory, uint32_t k, uint32_t event_hits) {
  const struct search_window *r = &w->windows[k];
  struct nearest n;
  if (k >= w->listed_windows) return nearest_of_all(a, trajectory, r, event_hits);
  n.distance = no_hit;
  SL_ROLLED for (uint32_t to = r->list_begin; to < r->list_end; to++) {
    if (is_nearer(&w->list[to], trajectory->bend, r->tight, &n)) set_nearest(&w->list[to], trajectory->bend, &n);
  }
  return n;
}

/* Extends a candidate from its first hit to the last layer. */
static SL_DEVICE struct candidate follow(const struct match_ut_args *a, const struct workspace *w, uint32_t event_hits,
                                         uint32_t i, uint32_t layer, uint32_t index) {
  struct candidate h = {w->trajectories[i], index, 1, 0};
  float y;
  const struct projected_hit begin =
      project_hit(a, &h.trajectory, event_hits, index, w->windows[window_index(layer, i)].slope, &y);
  h.trajectory.bend = bend_through(&begin, h.trajectory.bend, residual_of(&begin, h.trajectory.bend));
  SL_ROLLED for (uint32_t next = layer + 1; next < UT_LAYERS; next++) {
    const struct nearest n = nearest_of(a, w, &h.trajectory, window_index(next, i), event_hits);
    if (n.distance == no_hit) continue;
    h.hits = h.hits << HIT_BITS | (n.hit.index & INDEX_MASK);
    h.count++;
    h.score += n.residual * n.residual;
    h.trajectory.bend = 0.5f * (h.trajectory.bend + bend_through(&n.hit, h.trajectory.bend, n.residual));
  }
  return h;
}

/* Key of a candidate; smaller is better, and the keys of a match are all different. Scores are not negative, so their
 * bits sort like the numbers. */
static SL_DEVICE uint64_t key_of(const struct candidate *h, uint32_t layer, uint32_t index) {
  return (uint64_t)(UT_LAYERS - h->count) << KEY_MISSING | (uint64_t)sl_bits_from_f32(h->score) << KEY_SCORE |
         layer << INDEX_BITS | index;
}
static const uint64_t no_key = (uint64_t)UT_LAYERS << KEY_MISSING;
static SL_DEVICE uint32_t count_of(uint64_t key) { return UT_LAYERS - (uint32_t)(key >> KEY_MISSING); }

/* Notes where the list has the hits of each window, and how many windows are listed completely. The last window that
 * has an entry may be incomplete. */
static SL_DEVICE void close_list(struct workspace *w, uint32_t length) {
  const uint32_t count = length < LIST_MAX ? length : LIST_MAX;
  sl_warp_sync();
  for (uint32_t to = sl_warp_lane(); to < count; to += sl_warp_lanes()) {
    const uint32_t k = w->list[to].index >> INDEX_BITS;
    if (to == 0 || w->list[to - 1].index >> INDEX_BITS != k) w->windows[k].list_begin = to;
    if (to + 1 == count || w->list[to + 1].index >> INDEX_BITS != k) w->windows[k].list_end = to + 1;
  }
  if (sl_warp_lane() == 0) w->listed_windows = length > LIST_MAX ? w->list[LIST_MAX - 1].index >> INDEX_BITS : WINDOWS;
  sl_warp_sync();
}

/* Closes the list of hits, which has this length, and follows the listed pairs, the last ones first: they begin in
 * early layers and can have more hits. `first`: the warp's first match. */
static SL_DEVICE void follow_pairs(const struct match_ut_args *a, uint32_t event_hits, uint32_t first,
                                   struct workspace *w, uint32_t length, uint32_t count) {
  close_list(w, length);
  for (uint32_t done = 0; done < count; done += sl_warp_lanes()) {
    const uint32_t is_valid = done + sl_warp_lane() < count ? 1u : 0u;
    const uint32_t pair = is_valid ? w->pairs[count - 1 - done - sl_warp_lane()] : 0;
    const uint32_t layer = pair >> PAIR_LAYER, i = pair >> INDEX_BITS & (MATCHES - 1), index = pair & INDEX_MASK;
    const uint32_t can_win = is_valid && count_of(w->keys[i]) <= UT_LAYERS - layer;
    uint64_t key = no_key;
    struct candidate h;
    sl_warp_sync(); /* all lanes have read the keys */
    if (can_win) {
      h = follow(a, w, event_hits, i, layer, index);
      key = key_of(&h, layer, index);
      atomicMin((sl_atomic_u64 *)&w->keys[i], (sl_atomic_u64)key);
    }
    sl_warp_sync();
    if (can_win && w->keys[i] == key) {
      a->found_hits[first + i] = h.hits;
      a->bend[first + i] = h.trajectory.bend;
    }
    sl_warp_sync();
  }
}

/* ------------------------------------------------------------------------------------------------------ search */

static SL_DEVICE void open_matches(const struct match_ut_args *a, uint32_t event, uint32_t first, uint32_t count,
                                   struct workspace *w) {
  for (uint32_t k = sl_warp_lane(); k < WINDOWS; k += sl_warp_lanes()) {
    const uint32_t i = k % MATCHES, layer = layer_of(k);
    w->windows[k].count = w->windows[k].list_begin = w->windows[k].list_end = 0;
    if (i >= count) continue;
    const struct trajectory trajectory = velo_trajectory(a, event, first + i);
    open_window(a, &trajectory, event, layer, a->matches.qop[first + i], &w->windows[k]);
    if (layer > 0) continue;
    w->keys[i] = no_key;
    w->trajectories[i] = trajectory;
    a->bend[first + i] = trajectory.bend;
  }
  sl_warp_sync();
}

static SL_DEVICE void number_hits(struct workspace *w) {
  SL_FOR_WARP (k, WINDOWS) {
    const struct search_window *r = &w->windows[k < WINDOWS ? k : 0];
    uint32_t hits = 0;
    for (uint32_t j = 0; k < WINDOWS && j < r->count; j++) hits += r->end[j] - r->begin[j];
    uint32_t before = sl_warp_exclusive_scan(hits) + (sl_base_k > 0 ? w->before[RANGES * sl_base_k] : 0);
    for (uint32_t j = 0; k < WINDOWS && j < RANGES; j++) {
      before += j < r->count ? r->end[j] - r->begin[j] : 0;
      w->before[RANGES * k + j + 1] = before;
    }
    if (k == 0) w->before[0] = 0;
    sl_warp_sync();
  }
}

/* Range that contains this hit number: the last one that starts at or before it. */
static SL_DEVICE uint32_t segment_of(const struct workspace *w, uint32_t number) {
  uint32_t segment = 0;
  SL_UNROLL
  for (uint32_t step = SEGMENTS / 2; step > 0; step /= 2)
    if (w->before[segment + step] <= number) segment += step;
  return segment;
}

/* Lists the hits in the search windows, and follows the hits that can be first hits. */
static SL_DEVICE void try_hits(const struct match_ut_args *a, uint32_t event_hits, uint32_t first,
                               struct workspace *w) {
  const uint32_t hits = w->before[SEGMENTS];
  uint32_t segment = 0, length = 0, pairs = 0;
  SL_FOR_WARP (p, hits) {
    const uint32_t is_valid = p < hits ? 1u : 0u;
    if (is_valid && w->before[segment + 1] <= p) segment = segment_of(w, p);
    const uint32_t k = segment / RANGES, i = k % MATCHES;
    const struct search_window *r = &w->windows[k];
    struct projected_hit c;
    uint32_t is_near = 0, is_first = 0;
    if (is_valid) {
      float y;
      c = project_hit(a, &w->trajectories[i], event_hits, r->begin[segment % RANGES] + p - w->before[segment], r->slope,
                      &y);
      const float distance = sl_abs_f32(residual_of(&c, w->trajectories[i].bend));
      is_near = !(distance > r->distance_max) && is_at_y(a, event_hits + c.index, y);
      is_first = is_near && k >= MATCHES && !(distance > r->loose);
    }
    const uint32_t to = sl_warp_append(is_near, &length), pair = sl_warp_append(is_first, &pairs);
    if (is_first) w->pairs[pair] = layer_of(k) << PAIR_LAYER | i << INDEX_BITS | c.index;
    if (is_near && to < LIST_MAX) {
      c.index |= k << INDEX_BITS;
      w->list[to] = c;
    }
    if (pairs + sl_warp_lanes() <= PAIRS_MAX) continue;
    follow_pairs(a, event_hits, first, w, length, pairs);
    pairs = 0;
  }
  follow_pairs(a, event_hits, first, w, length, pairs);
}

#ifdef SL_TARGET_CPU
/* Eight values from `hit` on; 0 for those beyond the capacity of the array. */
static inline f32x8 load_hits(const float *values, uint32_t hit, uint32_t capacity) {
  f32x8 v = {0};
  if (hit + LANES <= capacity) return f32x8_load(values + hit);
  memcpy(&v, values + hit, (capacity - hit) * sizeof *values);
  return v;
}

/* Lengths of workspace.list and workspace.pairs. */
struct list_counts {
  uint32_t length, pairs;
};

/* Lists the hits that are in window `k`, out of `count` hits (at most eight are used) from `index` on. */
static void try_eight(const struct match_ut_args *a, uint32_t event_hits, uint32_t k, uint32_t index, uint32_t count,
                      struct workspace *w, struct list_counts *t) {
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  const uint32_t hit = event_hits + index, capacity = a->hits.bound.capacity, i = k % MATCHES;
  const struct trajectory *trajectory = &w->trajectories[i];
  const struct search_window *r = &w->windows[k];
  const float tolerance = a->matching.constants[MATCH_UT_Y_TOLERANCE];
  const f32x8 d = load_hits(a->hits.z, hit, capacity) - trajectory->velo.z;
  const f32x8 y = trajectory->velo.y + trajectory->velo.ty * d, x = load_hits(a->hits.x, hit, capacity) + y * r->slope;
  const f32x8 straight = trajectory->velo.x + trajectory->velo.tx * d, d2 = d * d;
  const f32x8 distance = (f32x8)((i32x8)(x - (straight + trajectory->bend * d2)) & INT32_MAX);
  const i32x8 is_at_y = (load_hits(a->hits.y, hit, capacity) - tolerance <= y) &
                        (y <= load_hits(a->hits.y_end, hit, capacity) + tolerance);
  uint32_t near = i32x8_bits(~(distance > r->distance_max) & is_at_y & (lane < (int32_t)count));
  const uint32_t loose = i32x8_bits(~(distance > r->loose));
  for (; near; near &= near - 1) {
    const uint32_t j = (uint32_t)__builtin_ctz(near);
    if (t->length < LIST_MAX) {
      const struct projected_hit c = {x[j], straight[j], d2[j], k << INDEX_BITS | (index + j)};
      w->list[t->length] = c;
    }
    t->length++;
    if (k >= MATCHES && loose >> j & 1)
      w->pairs[t->pairs++] = layer_of(k) << PAIR_LAYER | i << INDEX_BITS | (index + j);
  }
}

/* Does the work of number_hits and try_hits on a CPU. */
static void try_hits_in_lanes(const struct match_ut_args *a, uint32_t event_hits, uint32_t first, struct workspace *w) {
  struct list_counts t = {0, 0};
  for (uint32_t k = 0; k < WINDOWS; k++)
    for (uint32_t j = 0; j < w->windows[k].count; j++) {
      const uint32_t end = w->windows[k].end[j];
      for (uint32_t index = w->windows[k].begin[j]; index < end; index += LANES) {
        try_eight(a, event_hits, k, index, end - index, w, &t);
        if (t.pairs + LANES <= PAIRS_MAX) continue;
        follow_pairs(a, event_hits, first, w, t.length, t.pairs);
        t.pairs = 0;
      }
    }
  follow_pairs(a, event_hits, first, w, t.length, t.pairs);
}

SL_KERNEL(match_ut_find_in_lanes, struct match_ut_args) {
  struct workspace w;
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t end = a.matches.offsets[event + 1];
    for (uint32_t first = a.matches.offsets[event]; first < end; first += MATCHES) {
      const uint32_t count = end - first < MATCHES ? end - first : MATCHES;
      open_matches(&a, event, first, count, &w);
      try_hits_in_lanes(&a, a.hits.offsets[event], first, &w);
      for (uint32_t i = 0; i < count; i++) a.hit_count[first + i] = (uint8_t)count_of(w.keys[i]);
    }
  }
}
#endif

/* Finds the hits of up to MATCHES matches. */
static SL_DEVICE void find_hits(const struct match_ut_args *a, uint32_t event, uint32_t first, uint32_t count,
                                struct workspace *w) {
  sl_warp_sync(); /* the previous matches are complete */
  open_matches(a, event, first, count, w);
  number_hits(w);
  try_hits(a, a->hits.offsets[event], first, w);
  for (uint32_t i = sl_warp_lane(); i < count; i += sl_warp_lanes())
    a->hit_count[first + i] = (uint8_t)count_of(w->keys[i]);
}

SL_KERNEL(match_ut_find, struct match_ut_args) {
  __shared__ struct workspace w[WARPS];
  const uint32_t warps = sl_block_warps() < WARPS ? sl_block_warps() : WARPS, warp = sl_warp_index();
  for (uint32_t part = blockIdx.x; part < PARTS * *a.events.count; part += gridDim.x) {
    const uint32_t event = sl_event_at(&a.events, part / PARTS), end = a.matches.offsets[event + 1];
    uint32_t first = a.matches.offsets[event] + (part % PARTS * warps + warp) * MATCHES;
    for (; warp < warps && first < end; first += PARTS * warps * MATCHES)
      find_hits(&a, event, first, end - first < MATCHES ? end - first : MATCHES, &w[warp]);
  }
}

/* ------------------------------------------------------------------------------------------ accepted matches */

static SL_DEVICE uint32_t hit_count(const struct match_ut_args *a, struct sl_item item) {
  const uint32_t count = a->hit_count[item.input_index];
  return count >= a->min_hits ? count : SL_NOT_SELECTED;
}

static SL_DEVICE void write_track(const struct match_ut_args *a, struct sl_item item) {
  const uint32_t i = item.output_index, match_index = item.input_index, velo_track = a->matches.velo_track[match_index];
  struct trajectory trajectory;
  trajectory.velo = forward_velo_state(&a->end_states, a->end_states.offsets[item.event] + velo_track);
  trajectory.bend = a->bend[match_index];
  a->accepted.velo_track[i] = velo_track;
  a->accepted.seed[i] = a->matches.seed[match_index];
  a->accepted.chi2[i] = a->matches.chi2[match_index];
  a->accepted.qop[i] = a->matches.qop[match_index];
  a->accepted.ghost[i] = a->matches.ghost[match_index];
  a->ut_tracks.velo_track[i] = velo_track;
  a->ut_tracks.qop[i] = a->matches.qop[match_index];
  a->ut_tracks.x[i] = trajectory_x(&trajectory, UT_MIDDLE_Z);
  a->ut_tracks.tx[i] = trajectory.velo.tx + 2.0f * trajectory.bend * (UT_MIDDLE_Z - trajectory.velo.z);
}

static SL_DEVICE void write_hit(const struct match_ut_args *a, struct sl_item item, uint32_t h, uint32_t to) {
  const uint32_t from_last = a->hit_count[item.input_index] - 1 - h;
  const uint32_t index = (uint32_t)(a->found_hits[item.input_index] >> HIT_BITS * from_last) & UINT16_MAX;
  const uint32_t hit = a->hits.offsets[item.event] + index;
  a->ut_tracks.hit_id[to] = a->hits.id[hit];
  a->ut_tracks.hit_x[to] = a->hits.x[hit];
  a->ut_tracks.hit_y[to] = a->hits.y[hit];
  a->ut_tracks.hit_z[to] = a->hits.z[hit];
  a->ut_tracks.hit_sector[to] = a->hits.sector[hit];
}

/* match_ut_run: writes the accepted matches and their UT tracks. */
SL_SELECT_WITH_SUBITEMS(match_ut, matches, accepted, ut_tracks.hit_offsets, 4, hit_count, write_track, write_hit)

static int run(const struct sl_launch *l, const struct match_ut_args *a) {
  const int error = SL_LAUNCH(l, match_ut_find, SL_PER_CHUNK((uint64_t)PARTS * l->grid_blocks), *a);
  return error ? error : match_ut_run(l, a);
}

#ifdef SL_TARGET_CPU
static int run_in_lanes(const struct sl_launch *l, const void *args) {
  const struct match_ut_args *a = (const struct match_ut_args *)args;
  const int error = SL_LAUNCH(l, match_ut_find_in_lanes, SL_PER_EVENT, *a);
  return error ? error : match_ut_run(l, a);
}
#endif

SL_ALGORITHM(match_ut, "adds UT hits to matches and accepts matches with enough of them", 128, run,
             SL_CPU_TUNED(run_in_lanes));
