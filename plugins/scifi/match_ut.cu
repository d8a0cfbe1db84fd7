/* scifi.match_ut: hits in the UT of matched tracks, and which matches have enough of them (README.md, "Hits in the
 * UT").
 *
 * A track goes through the UT as its VELO track and its momentum say. The first hit, wherever it is, says better how
 * much it bends, and each further one again; in each further layer the nearest hit is taken. Of all that begin with
 * some hit of layers 0 to 2, the one of most hits is the match's, of those the one that hits are least off, and of
 * those the first.
 *
 * A block an event, and a warp for as many matches as it has lanes. For each layer it lists the first hits of these, a
 * lane a match, and then follows them, a lane a hit, so that no lane waits for a match that has many. The least key of
 * what was found is the best of a match, in whatever order. Then count, scan, write. Reads 20 bytes a hit that is
 * tried, some 80 a match, which stay in the caches; keeps 13 a match, and writes 36 a match that is left and 18 a hit.
 */
#include "forward_math.h"
#include "magnet/event_model.h"
#include "sorted_x.h"
#include "ut/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS match_ut_args
#define MATCH_UT(M)                                                                                                    \
  M(IN, matches, scifi_matches, "", "in any order")                                                                    \
  M(IN, states, velo_end_states, "offsets x y z tx ty", "of all VELO tracks")                                          \
  M(IN, hits, ut_hits, "offsets group_first id x y y_end z sector", "where to search")                                 \
  M(IN, groups, ut_sector_groups, "layer_first x x_least x_most length layer_z layer_depth layer_slope", "of sectors") \
  M(IN, matching, scifi_matching_constants, "constants", "how tracks bend")                                            \
  M(IN, magnet, magnet_polarity, "sign", "which way it points")                                                        \
  M(OUT, kept, scifi_matches, "those that have enough hits, in the same order",                                        \
    SL_ITEMS(SL_ONE(SL_ITEMS_TERM(matches))))                                                                          \
  M(OUT, ut_tracks, ut_tracks, "one for each of these", SL_SHARES_OFFSETS(kept),                                       \
    SL_SUBITEMS(SL_ONE(SL_ITEMS_SCALED(matches, UT_TRACK_HITS_MAX, 1, 0))))                                            \
  M(U32, min_hits, 2, 0, 4, "", "a match has at least so many hits")                                                   \
  M(SCRATCH, found_hits, u64, "of each match: places of hits, 16 bits each, the last layer's lowest",                  \
    SL_ONE(SL_ITEMS_TERM(matches)))                                                                                    \
  M(SCRATCH, found_count, u8, "how many these are", SL_ONE(SL_ITEMS_TERM(matches)))                                    \
  M(SCRATCH, bend, f32, "how much it bends, 1/mm", SL_ONE(SL_ITEMS_TERM(matches)))                                     \
  M(SCRATCH, from, u32, "which match each one is that is left", SL_ONE(SL_ITEMS_TERM(matches)))
SL_ARGUMENTS(match_ut, MATCH_UT);

enum {
  NO_HIT = UINT16_MAX,
  HIT_BITS = 16,
  PAIRS_MAX = 128, /* of a match and a first hit, that are followed at a time */
  LANES_MAX = 64,
  PLACE_BITS = 15, /* of a hit in the event: UT_HITS_MAX */
  PLACE_MASK = (1 << PLACE_BITS) - 1,
  KEY_SCORE = PLACE_BITS + 2, /* a key's bits below have the layer and place of the first hit */
  KEY_MISSING = KEY_SCORE + 32,
#if defined(SL_TARGET_CPU)
  WARPS = 1
#else
  WARPS = 4 /* of a block, at most */
#endif
};
SL_STATIC_ASSERT((int)UT_HITS_MAX <= 1 << (int)PLACE_BITS, "each hit of an event has a place");
static const float slack = 0.01f; /* mm: so much more is searched than what tolerances say, since these are rounded */

/* ------------------------------------------------------------------------------------------------ one layer */

/* A match on its way: x = velo.x + velo.tx d + bend d^2, d = z - velo.z. */
struct way {
  struct scifi_state velo;
  float bend;
};

static SL_DEVICE float way_x(const struct way *w, float z) {
  const float d = z - w->velo.z;
  return w->velo.x + w->velo.tx * d + w->bend * (d * d);
}
static SL_DEVICE float way_y(const struct way *w, float z) { return w->velo.y + w->velo.ty * (z - w->velo.z); }

/* Half of a window in x. `numbers`: SCIFI_MATCH_UT_LOOSE or _TIGHT of the layer. */
static SL_DEVICE float half_width(const float *numbers, float qop) {
  return sl_min_f32(sl_max_f32(numbers[0] + numbers[1] * sl_abs_f32(qop), numbers[2]), numbers[3]);
}

/* Goes through the hits of a layer that are in a window. */
struct search {
  float half_width, slope, y_least, y_most; /* of y: beyond a strip of no length */
  uint32_t event_hits;                      /* the event's first one */
  uint32_t groups, middle;                  /* bit w: group middle + w - 2 is to be searched yet */
  uint32_t hit, end;                        /* of the group that is being searched */
};

static SL_DEVICE struct search open_search(const struct match_ut_args *a, const struct way *w, uint32_t event,
                                           uint32_t layer, float half) {
  const uint32_t begin = a->groups.layer_first[layer], end = a->groups.layer_first[layer + 1];
  const float z = a->groups.layer_z[layer], depth = a->groups.layer_depth[layer], y = way_y(w, z);
  struct search s;
  s.half_width = half;
  s.slope = a->groups.layer_slope[layer];
  const float turn = 2.0f * w->bend * (z - w->velo.z), at_0 = way_x(w, z) - y * s.slope;
  const float reach = half + depth * (sl_abs_f32(w->velo.tx + turn) + sl_abs_f32(w->velo.ty * s.slope)) + slack;
  const float reach_y = a->matching.constants[SCIFI_MATCH_UT_Y_TOLERANCE] + depth * sl_abs_f32(w->velo.ty) + slack;
  s.y_least = y - reach_y;
  s.y_most = y + reach_y;
  s.event_hits = a->hits.offsets[event];
  s.groups = 0;
  s.middle = scifi_first_from(a->groups.x, begin, end, at_0);
  s.middle -= s.middle > begin ? 1u : 0u;
  for (uint32_t g = s.middle < begin + 2 ? begin : s.middle - 2; g < end && g <= s.middle + 2; g++)
    if (at_0 + reach >= a->groups.x_least[g] && at_0 - reach <= a->groups.x_most[g])
      s.groups |= 1u << (g + 2 - s.middle);
  s.hit = s.end = 0;
  return s;
}

/* The next group that is to be searched: 0 if there is none. */
static SL_DEVICE uint32_t open_group(const struct match_ut_args *a, struct search *s, uint32_t event) {
  if (s->groups == 0) return 0;
  const uint32_t group = s->middle + sl_count_bits((s->groups & (0u - s->groups)) - 1u) - 2u;
  const uint16_t *first = a->hits.group_first + (size_t)event * (UT_GROUPS_MAX + 1) + group;
  const float least = s->y_least - a->groups.length[group];
  s->end = s->event_hits + first[1];
  s->hit = scifi_first_from(a->hits.y, s->event_hits + first[0], s->end, least);
  s->groups &= s->groups - 1;
  return 1;
}

/* The next hit, by its place in the event, and what it is off in x; NO_HIT if there is none. */
static SL_DEVICE uint32_t next_hit(const struct match_ut_args *a, const struct way *w, struct search *s, uint32_t event,
                                   float *off) {
  const float tolerance = a->matching.constants[SCIFI_MATCH_UT_Y_TOLERANCE];
  do {
    for (; s->hit < s->end && a->hits.y[s->hit] <= s->y_most; s->hit++) {
      const float z = a->hits.z[s->hit], y = way_y(w, z);
      *off = a->hits.x[s->hit] + y * s->slope - way_x(w, z);
      if (sl_abs_f32(*off) <= s->half_width && a->hits.y[s->hit] - tolerance <= y &&
          y <= a->hits.y_end[s->hit] + tolerance)
        return s->hit++ - s->event_hits;
    }
  } while (open_group(a, s, event));
  return NO_HIT;
}

/* ------------------------------------------------------------------------------------------------- one match */

/* What was found, for which it has the hits so far. */
struct hits_on_way {
  struct way way;
  uint64_t hits;
  uint32_t count;
  float score; /* sum of squares of what further hits are off */
};

/* The bend with which a hit would be met that is off by so much. */
static SL_DEVICE float bend_of(const struct match_ut_args *a, const struct way *w, uint32_t hit, float off) {
  const float d = a->hits.z[hit] - w->velo.z;
  return w->bend + off / (d * d);
}

static SL_DEVICE void add_nearest(const struct match_ut_args *a, struct hits_on_way *h, uint32_t event, uint32_t layer,
                                  float qop) {
  const float *numbers = a->matching.constants + SCIFI_MATCH_UT_TIGHT + (layer - 1) * SCIFI_MATCH_UT_WINDOW;
  struct search s = open_search(a, &h->way, event, layer, half_width(numbers, qop));
  uint32_t nearest = NO_HIT;
  float least = 0, off;
  for (uint32_t hit; (hit = next_hit(a, &h->way, &s, event, &off)) != NO_HIT;) {
    if (nearest != NO_HIT && sl_abs_f32(off) >= sl_abs_f32(least)) continue;
    nearest = hit;
    least = off;
  }
  if (nearest == NO_HIT) return;
  h->hits = h->hits << HIT_BITS | nearest;
  h->count++;
  h->score += least * least;
  h->way.bend = 0.5f * (h->way.bend + bend_of(a, &h->way, s.event_hits + nearest, least));
}

/* ------------------------------------------------------------------------------------------------- the best */

/* A match before any hit is known. */
static SL_DEVICE struct way way_of(const struct match_ut_args *a, uint32_t event, uint32_t match) {
  const float *bend = a->matching.constants + SCIFI_MATCH_UT_BEND;
  struct way w;
  w.velo = scifi_velo_state(&a->states, a->states.offsets[event] + a->matches.velo_track[match]);
  w.bend = bend[0] + bend[1] * (a->matches.qop[match] * a->magnet.sign[0]);
  return w;
}

/* What begins with a hit of a layer. */
static SL_DEVICE struct hits_on_way follow(const struct match_ut_args *a, uint32_t event, uint32_t match,
                                           uint32_t layer, uint32_t place) {
  const uint32_t hit = a->hits.offsets[event] + place;
  struct hits_on_way h;
  h.way = way_of(a, event, match);
  const float z = a->hits.z[hit];
  const float off = a->hits.x[hit] + way_y(&h.way, z) * a->groups.layer_slope[layer] - way_x(&h.way, z);
  h.way.bend = bend_of(a, &h.way, hit, off);
  h.hits = place;
  h.count = 1;
  h.score = 0;
  for (uint32_t next = layer + 1; next < UT_LAYERS; next++) add_nearest(a, &h, event, next, a->matches.qop[match]);
  return h;
}

/* The less, the better; no two of a match are the same. A score is not negative, so that its bits are in its order. */
static SL_DEVICE uint64_t key_of(const struct hits_on_way *h, uint32_t layer, uint32_t place) {
  return (uint64_t)(UT_LAYERS - h->count) << KEY_MISSING | (uint64_t)sl_bits_from_f32(h->score) << KEY_SCORE |
         layer << PLACE_BITS | place;
}
static const uint64_t no_key = (uint64_t)UT_LAYERS << KEY_MISSING;
static SL_DEVICE uint32_t count_of(uint64_t key) { return UT_LAYERS - (uint32_t)(key >> KEY_MISSING); }

/* Of a warp's matches, one a lane: the best key of each, and pairs of a lane and a first hit. */
struct workspace {
  uint64_t keys[LANES_MAX];
  uint32_t pairs[PAIRS_MAX];
};

/* `first`: the match of lane 0. */
static SL_DEVICE void follow_pairs(const struct match_ut_args *a, uint32_t event, uint32_t first, uint32_t layer,
                                   struct workspace *w, uint32_t count) {
  sl_warp_sync();
  SL_FOR_WARP (p, count) {
    const uint32_t is_one = p < count ? 1u : 0u, pair = is_one ? w->pairs[p] : 0;
    const uint32_t lane = pair >> PLACE_BITS, match = first + lane, place = pair & PLACE_MASK;
    struct hits_on_way h = {{{0, 0, 0, 0, 0}, 0}, 0, 0, 0};
    if (is_one) h = follow(a, event, match, layer, place);
    const uint64_t key = key_of(&h, layer, place);
    if (is_one) atomicMin((sl_atomic_u64 *)&w->keys[lane], (sl_atomic_u64)key);
    sl_warp_sync();
    if (is_one && w->keys[lane] == key) {
      a->found_hits[match] = h.hits;
      a->bend[match] = h.way.bend;
    }
    sl_warp_sync();
  }
}

/* How many hits the lane's match gets; 0 without one. */
static SL_DEVICE uint32_t find_hits(const struct match_ut_args *a, uint32_t event, uint32_t first, uint32_t end,
                                    struct workspace *w) {
  const struct search nothing = {0, 0, 0, 0, 0, 0, 0, 0, 0};
  const uint32_t lane = sl_warp_lane(), match = first + lane, is_one = match < end ? 1u : 0u;
  const float qop = is_one ? a->matches.qop[match] : 0.0f;
  struct way way = {{0, 0, 0, 0, 0}, 0};
  if (is_one) way = way_of(a, event, match);
  if (is_one) a->bend[match] = way.bend;
  w->keys[lane] = no_key;
  for (uint32_t layer = 0; layer < UT_LAYERS - 1; layer++) {
    const float *numbers = a->matching.constants + SCIFI_MATCH_UT_LOOSE + layer * SCIFI_MATCH_UT_WINDOW;
    /* What begins in this layer cannot have more hits than there are layers from it on. */
    uint32_t goes_on = is_one && count_of(w->keys[lane]) <= UT_LAYERS - layer;
    struct search s = goes_on ? open_search(a, &way, event, layer, half_width(numbers, qop)) : nothing;
    do { /* mostly once */
      uint32_t length = 0;
      while (length + sl_warp_lanes() <= PAIRS_MAX && sl_warp_any(goes_on)) {
        float off;
        const uint32_t hit = goes_on ? next_hit(a, &way, &s, event, &off) : (uint32_t)NO_HIT;
        goes_on = hit != NO_HIT;
        const uint32_t place = sl_warp_append(goes_on, &length);
        if (goes_on) w->pairs[place] = lane << PLACE_BITS | hit;
      }
      follow_pairs(a, event, first, layer, w, length);
    } while (sl_warp_any(goes_on));
  }
  if (!is_one) return 0;
  a->found_count[match] = (uint8_t)count_of(w->keys[lane]);
  return count_of(w->keys[lane]);
}

SL_KERNEL(match_ut_find, struct match_ut_args) {
  __shared__ struct workspace w[WARPS];
  const uint32_t warps = sl_block_warps() < WARPS ? sl_block_warps() : WARPS, warp = sl_warp_index();
  const uint32_t lanes = sl_warp_lanes();
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.matches.offsets[event], end = a.matches.offsets[event + 1];
    uint32_t count = 0;
    for (uint32_t first = begin + warp * lanes; warp < warps && first < end; first += warps * lanes) {
      const uint32_t hits = find_hits(&a, event, first, end, &w[warp]);
      count += first + sl_warp_lane() < end && hits >= a.min_hits ? 1u : 0u;
    }
    count = sl_block_sum_u32(count);
    if (threadIdx.x == 0) a.kept.offsets[event] = count;
  }
}

/* ---------------------------------------------------------------------------------------------- what is left */

/* Matches have their places; their numbers of hits wait to be summed. */
SL_KERNEL(match_ut_list, struct match_ut_args) {
  SL_FOR_EVENTS (event, a.events)
    SL_FOR_WANTED (from, track, event, a.matches.offsets, a.kept.offsets, a.found_count[from] >= a.min_hits) {
      a.ut_tracks.hit_offsets[track] = a.found_count[from];
      a.from[track] = from;
    }
}

static SL_DEVICE void write_track(const struct match_ut_args *a, uint32_t event, uint32_t i, uint32_t from) {
  const uint32_t velo_track = a->matches.velo_track[from];
  struct way way;
  way.velo = scifi_velo_state(&a->states, a->states.offsets[event] + velo_track);
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

static SL_DEVICE void write_hits(const struct match_ut_args *a, uint32_t event, uint32_t i, uint32_t from) {
  const uint32_t to = a->ut_tracks.hit_offsets[i], count = a->ut_tracks.hit_offsets[i + 1] - to;
  for (uint32_t h = 0; h < count; h++) {
    const uint32_t place = (uint32_t)(a->found_hits[from] >> HIT_BITS * (count - 1 - h)) & UINT16_MAX;
    const uint32_t hit = a->hits.offsets[event] + place;
    a->ut_tracks.hit_id[to + h] = a->hits.id[hit];
    a->ut_tracks.hit_x[to + h] = a->hits.x[hit];
    a->ut_tracks.hit_y[to + h] = a->hits.y[hit];
    a->ut_tracks.hit_z[to + h] = a->hits.z[hit];
    a->ut_tracks.hit_sector[to + h] = a->hits.sector[hit];
  }
}

SL_KERNEL(match_ut_write, struct match_ut_args) {
  SL_FOR_EVENTS (event, a.events) {
    for (uint32_t i = a.kept.offsets[event] + threadIdx.x; i < a.kept.offsets[event + 1]; i += blockDim.x) {
      write_track(&a, event, i, a.from[i]);
      write_hits(&a, event, i, a.from[i]);
    }
  }
}

static int run(const struct sl_launch *l, const struct match_ut_args *a) {
  int error = SL_LAUNCH(l, match_ut_find, SL_PER_EVENT, *a);
  if (!error) error = l->scan(l, a->kept.offsets, &a->kept.bound);
  if (!error) error = SL_LAUNCH(l, match_ut_list, SL_PER_EVENT, *a);
  if (!error) error = l->scan_items(l, a->ut_tracks.hit_offsets, a->kept.offsets, &a->ut_tracks.hit_offsets_bound);
  if (!error) error = SL_LAUNCH(l, match_ut_write, SL_PER_EVENT, *a);
  return error;
}

SL_ALGORITHM(match_ut, "matched tracks with their hits in the UT", 64, run);
