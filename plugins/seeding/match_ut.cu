/* seeding.match_ut: hits in the UT of matched tracks, and which matches have enough of them (README.md, "Hits in the
 * UT").
 *
 * A track goes through the UT as its VELO track and its momentum say. The first hit, wherever it is, says better how
 * much it bends, and each further one again; in each further layer the nearest hit is taken. Of all that begin with
 * some hit of layers 0 to 2, the one of most hits is the match's, of those the one that hits are least off, and of
 * those the first.
 *
 * A warp has a few matches of an event at a time, so that a full event is many warps'. A lane for each match and layer
 * finds in which groups, and where in these by y, the match may have hits, however the hits before bend it. These hits
 * are numbered and dealt to the lanes, the last layer's first, and those that the match may have are listed: where they
 * are of what is tried, one in ten. Then a lane follows each first hit from layer to layer, through lists of one or two
 * hits. The least key of what was found is the best of a match, in whatever order. Then matches are selected, with
 * their hits. A lone thread of a CPU does not number hits: it looks at those of a range eight at a time. An event has
 * 49 matches, which try some 2400 hits. Reads 8 bytes a hit that is tried, and 8 more of one that is near in x, some 50
 * a match, which stay in the caches; keeps 13 a match, and writes 36 a match that is left and 18 a hit.
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
#define MATCH_UT(M)                                                                                                    \
  M(IN, matches, seed_matches, "", "in any order")                                                                     \
  M(IN, end_states, track_states, "offsets x y z tx ty", "of all VELO tracks")                                         \
  M(IN, hits, ut_hits, "offsets group_first id x y y_end z sector", "where to search")                                 \
  M(IN, groups, ut_sector_groups, "layer_first x x_least x_most length layer_z layer_depth layer_slope", "of sectors") \
  M(IN, matching, matching_constants, "constants", "how tracks bend")                                                  \
  M(IN, magnet, magnet_polarity, "sign", "which way it points")                                                        \
  M(OUT, kept, seed_matches, "those that have enough hits, in the same order",                                         \
    SL_ITEMS(SL_ONE(SL_ITEMS_TERM(matches))))                                                                          \
  M(OUT, ut_tracks, ut_tracks, "one for each of these", SL_SHARES_OFFSETS(kept),                                       \
    SL_SUBITEMS(SL_ONE(SL_ITEMS_SCALED(matches, UT_TRACK_HITS_MAX, 1, 0))))                                            \
  M(U32, min_hits, 2, 0, 4, "", "a match has at least so many hits")                                                   \
  M(SCRATCH, found_hits, u64, "of each match: places of hits, 16 bits each, the last layer's lowest",                  \
    SL_ONE(SL_ITEMS_TERM(matches)))                                                                                    \
  M(SCRATCH, found_count, u8, "how many these are", SL_ONE(SL_ITEMS_TERM(matches)))                                    \
  M(SCRATCH, bend, f32, "how much it bends, 1/mm", SL_ONE(SL_ITEMS_TERM(matches)))                                     \
  M(SCRATCH, sources, u64, "input item and event of each selected item", SL_ONE(SL_ITEMS_TERM(matches)))
SL_ARGUMENTS(match_ut, MATCH_UT);

enum {
  HIT_BITS = 16,
  MATCHES = 8, /* that a warp takes at a time */
  REACHES = (int)UT_LAYERS * MATCHES,
  PARTS = 4,                   /* blocks of an event */
  RANGES = 4,                  /* of hits of a layer, of a group of sectors each; the last one may be of more */
  SEGMENTS = REACHES * RANGES, /* a power of two */
  LIST_MAX = 128,              /* hits that matches may have; what has no place there is sought where all hits are */
  PAIRS_MAX = 128,             /* of a match and a first hit, that are followed at a time */
  PLACE_BITS = 15,             /* of a hit in the event: UT_HITS_MAX */
  PLACE_MASK = (1 << PLACE_BITS) - 1,
  PAIR_LAYER = PLACE_BITS + 3,
  KEY_SCORE = PLACE_BITS + 2, /* a key's bits below have the layer and place of the first hit */
  KEY_MISSING = KEY_SCORE + 32,
#if defined(SL_TARGET_CPU)
  WARPS = 1
#else
  WARPS = 4 /* of a block, at most */
#endif
};
SL_STATIC_ASSERT((int)UT_HITS_MAX <= 1 << (int)PLACE_BITS, "each hit of an event has a place");
SL_STATIC_ASSERT((int)MATCHES <= 1 << ((int)PAIR_LAYER - (int)PLACE_BITS), "a pair has room for its match");
static const float slack = 0.01f; /* mm: so much more is searched than what tolerances say, since these are rounded */

/* A match on its way: x = velo.x + velo.tx d + bend d^2, d = z - velo.z. */
struct way {
  struct forward_state velo;
  float bend;
};

/* Where a match may have hits of a layer, for any bend that hits of layers before give it. */
struct reach {
  float loose, tight; /* half of the windows in x: of a first hit, and of a further one */
  float farthest;     /* in x, from the way without hits */
  float slope;        /* of the layer's strips */
  uint32_t count;
  uint16_t begin[RANGES], end[RANGES]; /* places of hits in the event, ascending */
  uint32_t list_begin, list_end;       /* of these those that it may have */
};

/* A hit for a match, whatever bends it: its x at the match's y; where the match would be without a bend, and d^2. */
struct candidate {
  float x, straight, d2;
  uint32_t place; /* reach << PLACE_BITS | place in the event */
};

/* Of a warp's matches, whose reaches stand by layer, the last one first: the hits that a match's first hit goes on to
 * are then known. The hits of all ranges are numbered. */
struct workspace {
  uint64_t keys[MATCHES]; /* the best */
  struct way ways[MATCHES];
  struct reach reaches[REACHES];
  uint32_t before[SEGMENTS + 1];   /* hits before each range's; of all behind the last one, the sum */
  struct candidate list[LIST_MAX]; /* by reach, and place */
  uint32_t listed;                 /* reaches of which all are listed */
  uint32_t pairs[PAIRS_MAX];       /* layer << PAIR_LAYER | match << PLACE_BITS | place, of a first hit */
};

static SL_DEVICE uint32_t reach_of(uint32_t layer, uint32_t i) { return (UT_LAYERS - 1 - layer) * MATCHES + i; }
static SL_DEVICE uint32_t layer_of(uint32_t reach) { return UT_LAYERS - 1 - reach / MATCHES; }

static SL_DEVICE float way_x(const struct way *w, float z) {
  const float d = z - w->velo.z;
  return w->velo.x + w->velo.tx * d + w->bend * (d * d);
}
static SL_DEVICE float way_y(const struct way *w, float z) { return w->velo.y + w->velo.ty * (z - w->velo.z); }

/* A match before any hit is known. */
static SL_DEVICE struct way way_of(const struct match_ut_args *a, uint32_t event, uint32_t match) {
  const float *bend = a->matching.constants + MATCH_UT_BEND;
  struct way w;
  w.velo = forward_velo_state(&a->end_states, a->end_states.offsets[event] + a->matches.velo_track[match]);
  w.bend = bend[0] + bend[1] * (a->matches.qop[match] * a->magnet.sign[0]);
  return w;
}

/* ----------------------------------------------------------------------------------------------- where hits may be */

/* Half of a window in x. `numbers`: MATCH_UT_LOOSE or _TIGHT of the layer. */
static SL_DEVICE float half_width(const float *numbers, float qop) {
  return sl_min_f32(sl_max_f32(numbers[0] + numbers[1] * sl_abs_f32(qop), numbers[2]), numbers[3]);
}

/* How far from the way without hits a hit of the layer can be, at most. The hits before change the bend: the first one
 * by off / d^2, a further one by half of that. */
static SL_DEVICE float farthest(const struct match_ut_args *a, const struct way *w, uint32_t layer, float qop,
                                struct reach *r) {
  const float *constants = a->matching.constants;
  float turned = 0.0f, width = 0.0f, loose = 0.0f, tight = 0.0f;
  for (uint32_t k = 0; k <= layer; k++) {
    const float d = a->groups.layer_z[k] - w->velo.z, near = d - a->groups.layer_depth[k];
    const float far = d + a->groups.layer_depth[k], most = turned * (far * far), per_near2 = 1.0f / (near * near);
    loose = k + 1 < UT_LAYERS ? half_width(constants + MATCH_UT_LOOSE + k * MATCH_UT_WINDOW, qop) : 0.0f;
    tight = k > 0 ? half_width(constants + MATCH_UT_TIGHT + (k - 1) * MATCH_UT_WINDOW, qop) : 0.0f;
    width = sl_max_f32(loose, most + tight);
    turned = sl_max_f32(loose * per_near2, turned + 0.5f * tight * per_near2);
  }
  r->loose = loose;
  r->tight = tight;
  return width;
}

struct strip_range {
  float x, y, reach_x, reach_y;
};

static SL_DEVICE uint32_t is_in_reach(const struct match_ut_args *a, const struct strip_range *s, uint32_t group) {
  return s->x + s->reach_x >= a->groups.x_least[group] && s->x - s->reach_x <= a->groups.x_most[group] ? 1u : 0u;
}

/* The groups that x allows become the hits in them that y allows. */
static SL_DEVICE void open_ranges(const struct match_ut_args *a, const struct strip_range *s, uint32_t event,
                                  struct reach *r) {
  const uint32_t event_hits = a->hits.offsets[event], groups = r->count;
  const uint16_t *first = a->hits.group_first + (size_t)event * (UT_GROUPS_MAX + 1);
  r->count = 0;
  SL_ROLLED for (uint32_t k = 0; k < groups; k++) {
    const uint32_t group = r->begin[k], last_end = event_hits + first[r->end[k]];
    const uint32_t begin = seeding_first_from(a->hits.y, event_hits + first[group], event_hits + first[group + 1],
                                              s->y - s->reach_y - a->groups.length[group]);
    const uint32_t last_begin = event_hits + first[r->end[k] - 1];
    const uint32_t end =
        seeding_first_above(a->hits.y, begin > last_begin ? begin : last_begin, last_end, s->y + s->reach_y);
    if (begin == end) continue;
    r->begin[r->count] = (uint16_t)(begin - event_hits);
    r->end[r->count++] = (uint16_t)(end - event_hits);
  }
}

static SL_DEVICE void open_reach(const struct match_ut_args *a, const struct way *w, uint32_t event, uint32_t layer,
                                 float qop, struct reach *r) {
  const uint32_t begin = a->groups.layer_first[layer], end = a->groups.layer_first[layer + 1];
  const float z = a->groups.layer_z[layer], depth = a->groups.layer_depth[layer];
  const float slope = a->groups.layer_slope[layer], turn = 2.0f * w->bend * (z - w->velo.z);
  struct strip_range s;
  r->slope = slope;
  r->farthest = farthest(a, w, layer, qop, r) + slack;
  s.y = way_y(w, z);
  s.x = way_x(w, z) - s.y * slope;
  s.reach_x = r->farthest + depth * (sl_abs_f32(w->velo.tx + turn) + sl_abs_f32(w->velo.ty * slope));
  s.reach_y = a->matching.constants[MATCH_UT_Y_TOLERANCE] + depth * sl_abs_f32(w->velo.ty) + slack;
  r->count = 0;
  const uint32_t behind = seeding_first_from(a->groups.x, begin, end, s.x);
  uint32_t first = behind < begin + 3 ? begin : behind - 3, last = behind + 2 < end ? behind + 2 : end;
  while (first > begin && is_in_reach(a, &s, first - 1)) first--;
  while (last < end && is_in_reach(a, &s, last)) last++;
  for (uint32_t group = first; group < last; group++) {
    if (!is_in_reach(a, &s, group)) continue;
    if (r->count < RANGES) r->begin[r->count++] = (uint16_t)group;
    r->end[r->count - 1] = (uint16_t)(group + 1);
  }
  open_ranges(a, &s, event, r);
}

/* ------------------------------------------------------------------------------------------------------- of a hit */

static SL_DEVICE struct candidate candidate_of(const struct match_ut_args *a, const struct way *w, uint32_t event_hits,
                                               uint32_t place, float slope, float *y) {
  const uint32_t hit = event_hits + place;
  const float z = a->hits.z[hit], d = z - w->velo.z;
  struct candidate c;
  *y = way_y(w, z);
  c.x = a->hits.x[hit] + *y * slope;
  c.straight = w->velo.x + w->velo.tx * d;
  c.d2 = d * d;
  c.place = place;
  return c;
}

/* Whether the strip is at this y. */
static SL_DEVICE uint32_t is_at_y(const struct match_ut_args *a, uint32_t hit, float y) {
  const float tolerance = a->matching.constants[MATCH_UT_Y_TOLERANCE];
  return a->hits.y[hit] - tolerance <= y && y <= a->hits.y_end[hit] + tolerance ? 1u : 0u;
}

/* What a hit is off in x. */
static SL_DEVICE float off_of(const struct candidate *c, float bend) { return c->x - (c->straight + bend * c->d2); }

/* The bend with which a hit would be met that is off by so much. */
static SL_DEVICE float bend_of(const struct candidate *c, float bend, float off) { return bend + off / c->d2; }

/* --------------------------------------------------------------------------------------------------- from a first hit
 */

/* What was found, for which it has the hits so far. */
struct hits_on_way {
  struct way way;
  uint64_t hits;
  uint32_t count;
  float score; /* sum of squares of what further hits are off */
};

static const uint32_t no_hit = UINT32_MAX;

/* The nearest hit so far, of those that are as near the first one. */
struct nearest {
  struct candidate hit;
  float off;
  uint32_t distance; /* the size of `off`, as bits, which are in its order; no_hit: none */
};

static SL_DEVICE uint32_t is_nearer(const struct candidate *c, float bend, float half, const struct nearest *n) {
  const float off = off_of(c, bend), distance = sl_abs_f32(off);
  return !(distance > half) && sl_bits_from_f32(distance) < n->distance ? 1u : 0u;
}

static SL_DEVICE void take(const struct candidate *c, float bend, struct nearest *n) {
  n->hit = *c;
  n->off = off_of(c, bend);
  n->distance = sl_bits_from_f32(sl_abs_f32(n->off));
}

/* The nearest one of all hits in reach. */
static SL_DEVICE struct nearest nearest_of_all(const struct match_ut_args *a, const struct way *w,
                                               const struct reach *r, uint32_t event_hits) {
  struct nearest n;
  n.distance = no_hit;
  for (uint32_t k = 0; k < r->count; k++)
    for (uint32_t place = r->begin[k]; place < r->end[k]; place++) {
      float y;
      const struct candidate c = candidate_of(a, w, event_hits, place, r->slope, &y);
      if (is_nearer(&c, w->bend, r->tight, &n) && is_at_y(a, event_hits + place, y)) take(&c, w->bend, &n);
    }
  return n;
}

static SL_DEVICE struct nearest nearest_of(const struct match_ut_args *a, const struct workspace *w,
                                           const struct way *way, uint32_t k, uint32_t event_hits) {
  const struct reach *r = &w->reaches[k];
  struct nearest n;
  if (k >= w->listed) return nearest_of_all(a, way, r, event_hits);
  n.distance = no_hit;
  SL_ROLLED for (uint32_t to = r->list_begin; to < r->list_end; to++) {
    if (is_nearer(&w->list[to], way->bend, r->tight, &n)) take(&w->list[to], way->bend, &n);
  }
  return n;
}

/* What begins with a hit of a layer. */
static SL_DEVICE struct hits_on_way follow(const struct match_ut_args *a, const struct workspace *w,
                                           uint32_t event_hits, uint32_t i, uint32_t layer, uint32_t place) {
  struct hits_on_way h = {w->ways[i], place, 1, 0};
  float y;
  const struct candidate begin = candidate_of(a, &h.way, event_hits, place, w->reaches[reach_of(layer, i)].slope, &y);
  h.way.bend = bend_of(&begin, h.way.bend, off_of(&begin, h.way.bend));
  SL_ROLLED for (uint32_t next = layer + 1; next < UT_LAYERS; next++) {
    const struct nearest n = nearest_of(a, w, &h.way, reach_of(next, i), event_hits);
    if (n.distance == no_hit) continue;
    h.hits = h.hits << HIT_BITS | (n.hit.place & PLACE_MASK);
    h.count++;
    h.score += n.off * n.off;
    h.way.bend = 0.5f * (h.way.bend + bend_of(&n.hit, h.way.bend, n.off));
  }
  return h;
}

/* The less, the better; no two of a match are the same. A score is not negative, so that its bits are in its order. */
static SL_DEVICE uint64_t key_of(const struct hits_on_way *h, uint32_t layer, uint32_t place) {
  return (uint64_t)(UT_LAYERS - h->count) << KEY_MISSING | (uint64_t)sl_bits_from_f32(h->score) << KEY_SCORE |
         layer << PLACE_BITS | place;
}
static const uint64_t no_key = (uint64_t)UT_LAYERS << KEY_MISSING;
static SL_DEVICE uint32_t count_of(uint64_t key) { return UT_LAYERS - (uint32_t)(key >> KEY_MISSING); }

/* Of which reaches all hits are listed, and where. The last one that found a place may have more. */
static SL_DEVICE void close_list(struct workspace *w, uint32_t length) {
  const uint32_t count = length < LIST_MAX ? length : LIST_MAX;
  sl_warp_sync();
  for (uint32_t to = sl_warp_lane(); to < count; to += sl_warp_lanes()) {
    const uint32_t k = w->list[to].place >> PLACE_BITS;
    if (to == 0 || w->list[to - 1].place >> PLACE_BITS != k) w->reaches[k].list_begin = to;
    if (to + 1 == count || w->list[to + 1].place >> PLACE_BITS != k) w->reaches[k].list_end = to + 1;
  }
  if (sl_warp_lane() == 0) w->listed = length > LIST_MAX ? w->list[LIST_MAX - 1].place >> PLACE_BITS : REACHES;
  sl_warp_sync();
}

/* Closes the list of hits, which has this length, and follows the pairs listed, the last ones, of the first layers,
 * first: what begins in a layer cannot have more hits than there are layers from it on. `first`: the warp's first
 * match. */
static SL_DEVICE void follow_pairs(const struct match_ut_args *a, uint32_t event_hits, uint32_t first,
                                   struct workspace *w, uint32_t length, uint32_t count) {
  close_list(w, length);
  for (uint32_t done = 0; done < count; done += sl_warp_lanes()) {
    const uint32_t is_one = done + sl_warp_lane() < count ? 1u : 0u;
    const uint32_t pair = is_one ? w->pairs[count - 1 - done - sl_warp_lane()] : 0;
    const uint32_t layer = pair >> PAIR_LAYER, i = pair >> PLACE_BITS & (MATCHES - 1), place = pair & PLACE_MASK;
    const uint32_t is_open = is_one && count_of(w->keys[i]) <= UT_LAYERS - layer;
    uint64_t key = no_key;
    struct hits_on_way h;
    sl_warp_sync(); /* the keys are read */
    if (is_open) {
      h = follow(a, w, event_hits, i, layer, place);
      key = key_of(&h, layer, place);
      atomicMin((sl_atomic_u64 *)&w->keys[i], (sl_atomic_u64)key);
    }
    sl_warp_sync();
    if (is_open && w->keys[i] == key) {
      a->found_hits[first + i] = h.hits;
      a->bend[first + i] = h.way.bend;
    }
    sl_warp_sync();
  }
}

/* ------------------------------------------------------------------------------------------------------ all of it */

static SL_DEVICE void open_matches(const struct match_ut_args *a, uint32_t event, uint32_t first, uint32_t count,
                                   struct workspace *w) {
  for (uint32_t k = sl_warp_lane(); k < REACHES; k += sl_warp_lanes()) {
    const uint32_t i = k % MATCHES, layer = layer_of(k);
    w->reaches[k].count = w->reaches[k].list_begin = w->reaches[k].list_end = 0;
    if (i >= count) continue;
    const struct way way = way_of(a, event, first + i);
    open_reach(a, &way, event, layer, a->matches.qop[first + i], &w->reaches[k]);
    if (layer > 0) continue;
    w->keys[i] = no_key;
    w->ways[i] = way;
    a->bend[first + i] = way.bend;
  }
  sl_warp_sync();
}

static SL_DEVICE void number_hits(struct workspace *w) {
  SL_FOR_WARP (k, REACHES) {
    const struct reach *r = &w->reaches[k < REACHES ? k : 0];
    uint32_t hits = 0;
    for (uint32_t j = 0; k < REACHES && j < r->count; j++) hits += r->end[j] - r->begin[j];
    uint32_t before = sl_warp_exclusive_scan(hits) + (sl_base_k > 0 ? w->before[RANGES * sl_base_k] : 0);
    for (uint32_t j = 0; k < REACHES && j < RANGES; j++) {
      before += j < r->count ? r->end[j] - r->begin[j] : 0;
      w->before[RANGES * k + j + 1] = before;
    }
    if (k == 0) w->before[0] = 0;
    sl_warp_sync();
  }
}

/* In which range this hit is: the last one that has no more hits before its own. */
static SL_DEVICE uint32_t segment_of(const struct workspace *w, uint32_t number) {
  uint32_t segment = 0;
  SL_UNROLL
  for (uint32_t step = SEGMENTS / 2; step > 0; step /= 2)
    if (w->before[segment + step] <= number) segment += step;
  return segment;
}

/* Lists which hits matches may have, and follows those that may be the first ones. */
static SL_DEVICE void try_hits(const struct match_ut_args *a, uint32_t event_hits, uint32_t first,
                               struct workspace *w) {
  const uint32_t hits = w->before[SEGMENTS];
  uint32_t segment = 0, length = 0, pairs = 0;
  SL_FOR_WARP (p, hits) {
    const uint32_t is_one = p < hits ? 1u : 0u;
    if (is_one && w->before[segment + 1] <= p) segment = segment_of(w, p);
    const uint32_t k = segment / RANGES, i = k % MATCHES;
    const struct reach *r = &w->reaches[k];
    struct candidate c;
    uint32_t is_near = 0, is_first = 0;
    if (is_one) {
      float y;
      c = candidate_of(a, &w->ways[i], event_hits, r->begin[segment % RANGES] + p - w->before[segment], r->slope, &y);
      const float distance = sl_abs_f32(off_of(&c, w->ways[i].bend));
      is_near = !(distance > r->farthest) && is_at_y(a, event_hits + c.place, y);
      is_first = is_near && k >= MATCHES && !(distance > r->loose);
    }
    const uint32_t to = sl_warp_append(is_near, &length), pair = sl_warp_append(is_first, &pairs);
    if (is_first) w->pairs[pair] = layer_of(k) << PAIR_LAYER | i << PLACE_BITS | c.place;
    if (is_near && to < LIST_MAX) {
      c.place |= k << PLACE_BITS;
      w->list[to] = c;
    }
    if (pairs + sl_warp_lanes() <= PAIRS_MAX) continue;
    follow_pairs(a, event_hits, first, w, length, pairs);
    pairs = 0;
  }
  follow_pairs(a, event_hits, first, w, length, pairs);
}

#ifdef SL_TARGET_CPU
/* Eight values from `hit` on, of which those behind the last one that there is room for are 0. */
static inline f32x8 load_hits(const float *values, uint32_t hit, uint32_t capacity) {
  f32x8 v = {0};
  if (hit + LANES <= capacity) return f32x8_load(values + hit);
  memcpy(&v, values + hit, (capacity - hit) * sizeof *values);
  return v;
}

/* Hits that a match may have and those of them that may be the first, so far; see struct workspace. */
struct tried {
  uint32_t length, pairs;
};

/* Lists, of up to eight hits from this place on, those that the match may have in reach `k`. */
static void try_eight(const struct match_ut_args *a, uint32_t event_hits, uint32_t k, uint32_t place, uint32_t count,
                      struct workspace *w, struct tried *t) {
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  const uint32_t hit = event_hits + place, capacity = a->hits.bound.capacity, i = k % MATCHES;
  const struct way *way = &w->ways[i];
  const struct reach *r = &w->reaches[k];
  const float tolerance = a->matching.constants[MATCH_UT_Y_TOLERANCE];
  const f32x8 d = load_hits(a->hits.z, hit, capacity) - way->velo.z;
  const f32x8 y = way->velo.y + way->velo.ty * d, x = load_hits(a->hits.x, hit, capacity) + y * r->slope;
  const f32x8 straight = way->velo.x + way->velo.tx * d, d2 = d * d;
  const f32x8 distance = (f32x8)((i32x8)(x - (straight + way->bend * d2)) & INT32_MAX);
  const i32x8 is_at_y = (load_hits(a->hits.y, hit, capacity) - tolerance <= y) &
                        (y <= load_hits(a->hits.y_end, hit, capacity) + tolerance);
  uint32_t near = i32x8_bits(~(distance > r->farthest) & is_at_y & (lane < (int32_t)count));
  const uint32_t loose = i32x8_bits(~(distance > r->loose));
  for (; near; near &= near - 1) {
    const uint32_t j = (uint32_t)__builtin_ctz(near);
    if (t->length < LIST_MAX) {
      const struct candidate c = {x[j], straight[j], d2[j], k << PLACE_BITS | (place + j)};
      w->list[t->length] = c;
    }
    t->length++;
    if (k >= MATCHES && loose >> j & 1)
      w->pairs[t->pairs++] = layer_of(k) << PAIR_LAYER | i << PLACE_BITS | (place + j);
  }
}

/* As number_hits and try_hits together. */
static void try_hits_in_lanes(const struct match_ut_args *a, uint32_t event_hits, uint32_t first, struct workspace *w) {
  struct tried t = {0, 0};
  for (uint32_t k = 0; k < REACHES; k++)
    for (uint32_t j = 0; j < w->reaches[k].count; j++) {
      const uint32_t end = w->reaches[k].end[j];
      for (uint32_t place = w->reaches[k].begin[j]; place < end; place += LANES) {
        try_eight(a, event_hits, k, place, end - place, w, &t);
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
      for (uint32_t i = 0; i < count; i++) a.found_count[first + i] = (uint8_t)count_of(w.keys[i]);
    }
  }
}
#endif

/* Finds the hits of up to MATCHES matches. */
static SL_DEVICE void find_hits(const struct match_ut_args *a, uint32_t event, uint32_t first, uint32_t count,
                                struct workspace *w) {
  sl_warp_sync(); /* the matches before are done with */
  open_matches(a, event, first, count, w);
  number_hits(w);
  try_hits(a, a->hits.offsets[event], first, w);
  for (uint32_t i = sl_warp_lane(); i < count; i += sl_warp_lanes())
    a->found_count[first + i] = (uint8_t)count_of(w->keys[i]);
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

/* ------------------------------------------------------------------------------------------ selected matches */

static SL_DEVICE uint32_t hit_count(const struct match_ut_args *a, struct sl_item item) {
  const uint32_t count = a->found_count[item.from];
  return count >= a->min_hits ? count : SL_NOT_SELECTED;
}

static SL_DEVICE void write_track(const struct match_ut_args *a, struct sl_item item) {
  const uint32_t i = item.to, from = item.from, velo_track = a->matches.velo_track[from];
  struct way way;
  way.velo = forward_velo_state(&a->end_states, a->end_states.offsets[item.event] + velo_track);
  way.bend = a->bend[from];
  a->kept.velo_track[i] = velo_track;
  a->kept.seed[i] = a->matches.seed[from];
  a->kept.chi2[i] = a->matches.chi2[from];
  a->kept.qop[i] = a->matches.qop[from];
  a->ut_tracks.velo_track[i] = velo_track;
  a->ut_tracks.qop[i] = a->matches.qop[from];
  a->ut_tracks.x[i] = way_x(&way, UT_MIDDLE_Z);
  a->ut_tracks.tx[i] = way.velo.tx + 2.0f * way.bend * (UT_MIDDLE_Z - way.velo.z);
}

static SL_DEVICE void write_hit(const struct match_ut_args *a, struct sl_item item, uint32_t h, uint32_t to) {
  const uint32_t from_last = a->found_count[item.from] - 1 - h;
  const uint32_t place = (uint32_t)(a->found_hits[item.from] >> HIT_BITS * from_last) & UINT16_MAX;
  const uint32_t hit = a->hits.offsets[item.event] + place;
  a->ut_tracks.hit_id[to] = a->hits.id[hit];
  a->ut_tracks.hit_x[to] = a->hits.x[hit];
  a->ut_tracks.hit_y[to] = a->hits.y[hit];
  a->ut_tracks.hit_z[to] = a->hits.z[hit];
  a->ut_tracks.hit_sector[to] = a->hits.sector[hit];
}

/* match_ut_run: what comes after the hits are found. */
SL_SELECT_WITH_SUBITEMS(match_ut, matches, kept, ut_tracks.hit_offsets, 4, hit_count, write_track, write_hit)

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

SL_ALGORITHM(match_ut, "matched tracks with their hits in the UT", 128, run, SL_CPU_TUNED(run_in_lanes));
