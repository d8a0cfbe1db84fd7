/* scifi.match_ut: hits in the UT of matched tracks, and which matches have enough of them (README.md, "Hits in the
 * UT").
 *
 * A track goes through the UT as its VELO track and its momentum say. The first hit, wherever it is, says better how
 * much it bends, and each further one again; in each further layer the nearest hit is taken. Of all that begin with
 * some hit of layers 0 to 2, the one of most hits is the match's, of those the one that hits are least off, and of
 * those the first.
 *
 * A warp has a few matches of an event at a time, so that a full event is many warps'. A lane for each match and layer
 * finds in which groups, and where in these by y, the match may have hits, however the hits before bend it. Then a few
 * lanes together try these hits for a first one, and follow each first one from layer to layer. The least key of what
 * was found is the best of a match, in whatever order. Then count, scan, list, scan, write. An event has 49 matches,
 * which begin with 85 hits, and tries some 4300. Reads 8 bytes a hit that is tried, and 16 of one that is near, some 80
 * a match, which stay in the caches; keeps 13 a match, and writes 36 a match that is left and 18 a hit.
 */
#include "forward_math.h"
#include "listed_items.h"
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
  M(SCRATCH, from, u32, "which match each one is that is left", SL_ONE(SL_ITEMS_TERM(matches)))                        \
  M(SCRATCH, hits_begin, u32, "of its event", SL_ONE(SL_ITEMS_TERM(matches)))
SL_ARGUMENTS(match_ut, MATCH_UT);

enum {
  HIT_BITS = 16,
  MATCHES = 8,     /* that a warp takes at a time */
  PARTS = 4,       /* blocks of an event */
  HIT_THREADS = 4, /* that try the hits of a layer side by side, a power of two */
  RANGES = 4,      /* of hits of a layer, of a group of sectors each; the last one may be of more */
  PAIRS_MAX = 128, /* of a match and a first hit, that are followed at a time */
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

/* A match on its way: x = velo.x + velo.tx d + bend d^2, d = z - velo.z. */
struct way {
  struct scifi_state velo;
  float bend;
};

/* Where a match may have hits of a layer, for any bend that hits of layers before give it. */
struct reach {
  float loose, tight; /* half of the windows in x: of a first hit, and of a further one */
  uint32_t count;
  uint16_t begin[RANGES], end[RANGES]; /* places of hits in the event, ascending */
};

/* Of a warp's matches; pairs of a match and a first hit. */
struct workspace {
  uint64_t keys[MATCHES]; /* the best */
  struct way ways[MATCHES];
  struct reach reaches[(uint32_t)UT_LAYERS * MATCHES];
  uint32_t pairs[PAIRS_MAX];
};

static SL_DEVICE float way_x(const struct way *w, float z) {
  const float d = z - w->velo.z;
  return w->velo.x + w->velo.tx * d + w->bend * (d * d);
}
static SL_DEVICE float way_y(const struct way *w, float z) { return w->velo.y + w->velo.ty * (z - w->velo.z); }

/* A match before any hit is known. */
static SL_DEVICE struct way way_of(const struct match_ut_args *a, uint32_t event, uint32_t match) {
  const float *bend = a->matching.constants + SCIFI_MATCH_UT_BEND;
  struct way w;
  w.velo = scifi_velo_state(&a->states, a->states.offsets[event] + a->matches.velo_track[match]);
  w.bend = bend[0] + bend[1] * (a->matches.qop[match] * a->magnet.sign[0]);
  return w;
}

/* ----------------------------------------------------------------------------------------------- where hits may be */

/* Half of a window in x. `numbers`: SCIFI_MATCH_UT_LOOSE or _TIGHT of the layer. */
static SL_DEVICE float half_width(const float *numbers, float qop) {
  return sl_min_f32(sl_max_f32(numbers[0] + numbers[1] * sl_abs_f32(qop), numbers[2]), numbers[3]);
}

/* How far from the way without hits a hit of the layer can be, at most. The hits before change the bend: the first one
 * by off / d^2, a further one by half of that. */
static SL_DEVICE float farthest(const struct match_ut_args *a, const struct way *w, uint32_t layer, float qop,
                                struct reach *r) {
  const float *constants = a->matching.constants;
  float turned = 0.0f, width = 0.0f;
  r->loose = r->tight = 0.0f;
  for (uint32_t k = 0; k <= layer; k++) {
    const float d = a->groups.layer_z[k] - w->velo.z, near = d - a->groups.layer_depth[k];
    const float far = d + a->groups.layer_depth[k], most = turned * (far * far);
    r->loose = k + 1 < UT_LAYERS ? half_width(constants + SCIFI_MATCH_UT_LOOSE + k * SCIFI_MATCH_UT_WINDOW, qop) : 0.0f;
    r->tight = k > 0 ? half_width(constants + SCIFI_MATCH_UT_TIGHT + (k - 1) * SCIFI_MATCH_UT_WINDOW, qop) : 0.0f;
    width = sl_max_f32(r->loose, most + r->tight);
    turned = sl_max_f32(r->loose / (near * near), turned + 0.5f * r->tight / (near * near));
  }
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
    const uint32_t begin = scifi_first_from(a->hits.y, event_hits + first[group], event_hits + first[group + 1],
                                            s->y - s->reach_y - a->groups.length[group]);
    const uint32_t last_begin = event_hits + first[r->end[k] - 1];
    const uint32_t end =
        scifi_first_above(a->hits.y, begin > last_begin ? begin : last_begin, last_end, s->y + s->reach_y);
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
  s.y = way_y(w, z);
  s.x = way_x(w, z) - s.y * slope;
  s.reach_x =
      farthest(a, w, layer, qop, r) + depth * (sl_abs_f32(w->velo.tx + turn) + sl_abs_f32(w->velo.ty * slope)) + slack;
  s.reach_y = a->matching.constants[SCIFI_MATCH_UT_Y_TOLERANCE] + depth * sl_abs_f32(w->velo.ty) + slack;
  r->count = 0;
  const uint32_t behind = scifi_first_from(a->groups.x, begin, end, s.x);
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

/* ------------------------------------------------------------------------------------------------- hits of a layer */

/* Goes through the hits of a layer that a match may have, those of a thread of a group. */
struct walk {
  const struct reach *reach;
  uint32_t range, hit, end;
};

/* Goes on from a hit of its range to where it is a hit again. */
static SL_DEVICE void settle(struct walk *k) {
  while (k->hit >= k->end) {
    if (++k->range >= k->reach->count) return;
    k->hit += k->reach->begin[k->range] - k->end;
    k->end = k->reach->end[k->range];
  }
}

static SL_DEVICE struct walk open_walk(const struct reach *r, uint32_t is_one) {
  struct walk k = {r, 0, 0, 0};
  if (!is_one || r->count == 0) return k;
  k.hit = r->begin[0] + sl_group_lane(HIT_THREADS);
  k.end = r->end[0];
  settle(&k);
  return k;
}
static SL_DEVICE uint32_t is_at_hit(const struct walk *k) { return k->hit < k->end ? 1u : 0u; }
static SL_DEVICE void walk_on(struct walk *k) {
  k->hit += SL_GROUP(HIT_THREADS);
  settle(k);
}

/* What a hit is off in x. */
static SL_DEVICE float off_of(const struct match_ut_args *a, const struct way *w, uint32_t hit, float slope) {
  const float z = a->hits.z[hit];
  return a->hits.x[hit] + way_y(w, z) * slope - way_x(w, z);
}

static SL_DEVICE uint32_t is_in_window(const struct match_ut_args *a, const struct way *w, uint32_t hit, float off,
                                       float half) {
  if (sl_abs_f32(off) > half) return 0;
  const float tolerance = a->matching.constants[SCIFI_MATCH_UT_Y_TOLERANCE], y = way_y(w, a->hits.z[hit]);
  return a->hits.y[hit] - tolerance <= y && y <= a->hits.y_end[hit] + tolerance ? 1u : 0u;
}

/* The bend with which a hit would be met that is off by so much. */
static SL_DEVICE float bend_of(const struct match_ut_args *a, const struct way *w, uint32_t hit, float off) {
  const float d = a->hits.z[hit] - w->velo.z;
  return w->bend + off / (d * d);
}

/* --------------------------------------------------------------------------------------------------- from a first hit
 */

/* What was found, for which it has the hits so far. */
struct hits_on_way {
  struct way way;
  uint64_t hits;
  uint32_t count;
  float score; /* sum of squares of what further hits are off */
};

static const uint64_t no_hit = UINT64_MAX;

/* How far a hit is off, and its place: that of the thread's nearest one, or no_hit. */
static SL_DEVICE uint64_t nearest_of(const struct match_ut_args *a, const struct way *w, const struct reach *r,
                                     uint32_t event_hits, float slope) {
  uint64_t nearest = no_hit;
  for (struct walk k = open_walk(r, 1); is_at_hit(&k); walk_on(&k)) {
    const float off = off_of(a, w, event_hits + k.hit, slope);
    const uint64_t key = (uint64_t)sl_bits_from_f32(sl_abs_f32(off)) << 32 | k.hit;
    if (key < nearest && is_in_window(a, w, event_hits + k.hit, off, r->tight)) nearest = key;
  }
  return nearest;
}

/* What begins with a hit of a layer; the threads of a group do it together. Every thread of the warp comes here. */
static SL_DEVICE struct hits_on_way follow(const struct match_ut_args *a, const struct workspace *w, uint32_t event,
                                           uint32_t is_one, uint32_t i, uint32_t layer, uint32_t place) {
  const uint32_t event_hits = a->hits.offsets[event];
  struct hits_on_way h = {w->ways[i], place, 1, 0};
  if (is_one) {
    const float off = off_of(a, &h.way, event_hits + place, a->groups.layer_slope[layer]);
    h.way.bend = bend_of(a, &h.way, event_hits + place, off);
  }
  for (uint32_t next = layer + 1; next < UT_LAYERS; next++) {
    const float slope = a->groups.layer_slope[next];
    uint64_t nearest = no_hit;
    if (is_one) nearest = nearest_of(a, &h.way, &w->reaches[UT_LAYERS * i + next], event_hits, slope);
    nearest = sl_group_min_u64(nearest, HIT_THREADS);
    if (nearest == no_hit) continue;
    const uint32_t hit = event_hits + (uint32_t)nearest;
    const float off = off_of(a, &h.way, hit, slope);
    h.hits = h.hits << HIT_BITS | (uint32_t)nearest;
    h.count++;
    h.score += off * off;
    h.way.bend = 0.5f * (h.way.bend + bend_of(a, &h.way, hit, off));
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

/* `first`: the warp's first match. */
static SL_DEVICE void follow_pairs(const struct match_ut_args *a, uint32_t event, uint32_t first, uint32_t layer,
                                   struct workspace *w, uint32_t count) {
  const uint32_t groups = sl_warp_lanes() / SL_GROUP(HIT_THREADS), group = sl_warp_lane() / SL_GROUP(HIT_THREADS);
  sl_warp_sync();
  for (uint32_t base = 0; base < count; base += groups) {
    const uint32_t is_one = base + group < count ? 1u : 0u, pair = is_one ? w->pairs[base + group] : 0;
    const uint32_t i = pair >> PLACE_BITS, place = pair & PLACE_MASK;
    const struct hits_on_way h = follow(a, w, event, is_one, i, layer, place);
    const uint64_t key = key_of(&h, layer, place);
    const uint32_t is_to_bid = is_one && sl_group_lane(HIT_THREADS) == 0;
    if (is_to_bid) atomicMin((sl_atomic_u64 *)&w->keys[i], (sl_atomic_u64)key);
    sl_warp_sync();
    if (is_to_bid && w->keys[i] == key) {
      a->found_hits[first + i] = h.hits;
      a->bend[first + i] = h.way.bend;
    }
    sl_warp_sync();
  }
}

/* ------------------------------------------------------------------------------------------------------ all of it */

static SL_DEVICE void open_matches(const struct match_ut_args *a, uint32_t event, uint32_t first, uint32_t count,
                                   struct workspace *w) {
  for (uint32_t k = sl_warp_lane(); k < UT_LAYERS * count; k += sl_warp_lanes()) {
    const uint32_t i = k / UT_LAYERS, layer = k % UT_LAYERS;
    const struct way way = way_of(a, event, first + i);
    open_reach(a, &way, event, layer, a->matches.qop[first + i], &w->reaches[k]);
    if (layer > 0) continue;
    w->keys[i] = no_key;
    w->ways[i] = way;
    a->bend[first + i] = way.bend;
  }
  sl_warp_sync();
}

/* Follows all that begin in a layer. */
static SL_DEVICE void begin_in_layer(const struct match_ut_args *a, uint32_t event, uint32_t first, uint32_t count,
                                     uint32_t layer, struct workspace *w) {
  const uint32_t groups = sl_warp_lanes() / SL_GROUP(HIT_THREADS), group = sl_warp_lane() / SL_GROUP(HIT_THREADS);
  const uint32_t event_hits = a->hits.offsets[event];
  const float slope = a->groups.layer_slope[layer];
  uint32_t length = 0;
  for (uint32_t base = 0; base < count; base += groups) {
    /* What begins in this layer cannot have more hits than there are layers from it on. */
    const uint32_t i = base + group, is_open = i < count && count_of(w->keys[i]) <= UT_LAYERS - layer;
    const struct reach *r = &w->reaches[UT_LAYERS * (is_open ? i : 0) + layer];
    struct walk k = open_walk(r, is_open);
    while (sl_warp_any(is_at_hit(&k))) {
      uint32_t is_first = 0;
      if (is_at_hit(&k)) {
        const uint32_t hit = event_hits + k.hit;
        is_first = is_in_window(a, &w->ways[i], hit, off_of(a, &w->ways[i], hit, slope), r->loose);
      }
      const uint32_t place = sl_warp_append(is_first, &length);
      if (is_first) w->pairs[place] = i << PLACE_BITS | k.hit;
      if (is_at_hit(&k)) walk_on(&k);
      if (length + sl_warp_lanes() <= PAIRS_MAX) continue;
      follow_pairs(a, event, first, layer, w, length);
      length = 0;
    }
  }
  follow_pairs(a, event, first, layer, w, length);
}

/* Finds the hits of up to MATCHES matches. */
static SL_DEVICE void find_hits(const struct match_ut_args *a, uint32_t event, uint32_t first, uint32_t count,
                                struct workspace *w) {
  sl_warp_sync(); /* the matches before are done with */
  open_matches(a, event, first, count, w);
  for (uint32_t layer = 0; layer < UT_LAYERS - 1; layer++) begin_in_layer(a, event, first, count, layer, w);
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

SL_KERNEL(match_ut_count, struct match_ut_args) {
  SL_FOR_EVENTS (event, a.events)
    SL_COUNT_WANTED(i, event, a.matches.offsets, a.kept.offsets, a.found_count[i] >= a.min_hits);
}

/* ---------------------------------------------------------------------------------------------- what is left */

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

/* Matches have their places; their numbers of hits wait to be summed. */
SL_KERNEL(match_ut_list, struct match_ut_args) {
  SL_FOR_EVENTS (event, a.events)
    SL_FOR_WANTED (from, track, event, a.matches.offsets, a.kept.offsets, a.found_count[from] >= a.min_hits) {
      a.ut_tracks.hit_offsets[track] = a.found_count[from];
      a.from[track] = from;
      a.hits_begin[track] = a.hits.offsets[event];
      write_track(&a, event, track, from);
    }
}

static SL_DEVICE void write_hit(const struct match_ut_args *a, uint32_t i, uint32_t h) {
  const uint32_t to = a->ut_tracks.hit_offsets[i], count = a->ut_tracks.hit_offsets[i + 1] - to;
  if (h >= count) return;
  const uint32_t place = (uint32_t)(a->found_hits[a->from[i]] >> HIT_BITS * (count - 1 - h)) & UINT16_MAX;
  const uint32_t hit = a->hits_begin[i] + place;
  a->ut_tracks.hit_id[to + h] = a->hits.id[hit];
  a->ut_tracks.hit_x[to + h] = a->hits.x[hit];
  a->ut_tracks.hit_y[to + h] = a->hits.y[hit];
  a->ut_tracks.hit_z[to + h] = a->hits.z[hit];
  a->ut_tracks.hit_sector[to + h] = a->hits.sector[hit];
}

/* A thread a hit, of the whole slice, whose busiest events would keep a block long after all others. */
SL_KERNEL(match_ut_write, struct match_ut_args) {
  const uint32_t hits = UT_TRACK_HITS_MAX * scifi_listed_items(&a.events, a.kept.offsets);
  for (uint32_t i = sl_grid_thread(); i < hits; i += sl_grid_threads())
    write_hit(&a, i / UT_TRACK_HITS_MAX, i % UT_TRACK_HITS_MAX);
}

static int run(const struct sl_launch *l, const struct match_ut_args *a) {
  int error = SL_LAUNCH(l, match_ut_find, SL_PER_CHUNK((uint64_t)PARTS * l->grid_blocks), *a);
  if (!error) error = SL_LAUNCH(l, match_ut_count, SL_PER_EVENT, *a);
  if (!error) error = l->scan(l, a->kept.offsets, &a->kept.bound);
  if (!error) error = SL_LAUNCH(l, match_ut_list, SL_PER_EVENT, *a);
  if (!error) error = l->scan_items(l, a->ut_tracks.hit_offsets, a->kept.offsets, &a->ut_tracks.hit_offsets_bound);
  if (!error) error = SL_LAUNCH(l, match_ut_write, SL_PER_SUBITEM(a->ut_tracks, hit_offsets), *a);
  return error;
}

SL_ALGORITHM(match_ut, "matched tracks with their hits in the UT", 128, run);
