/* scifi.match_ut: hits in the UT of matched tracks, and which matches have enough of them (README.md, "Hits in the
 * UT").
 *
 * A track goes through the UT as its VELO track and its momentum say. The first hit, wherever it is, says better how
 * much it bends, and each further one again; in each further layer the nearest hit is taken. Of all that begin with
 * some hit of layers 0 to 2, the one of most hits is the match's, of those the one that hits are least off, and of
 * those the first.
 *
 * A block an event, a thread a match, then count, scan, write. Reads 20 bytes a hit that is tried, some 30 a match,
 * which stay in the caches; keeps 13 a match, and writes 36 a match that is left and 18 a hit.
 */
#include "forward_math.h"
#include "magnet/event_model.h"
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

enum { NO_HIT = UINT16_MAX, HIT_BITS = 16 };
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
  s.middle = begin;
  for (uint32_t g = begin; g < end; g++) s.middle += a->groups.x[g] < at_0 ? 1u : 0u;
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
  uint32_t begin = s->event_hits + first[0], end = s->event_hits + first[1];
  s->end = end;
  while (begin < end) {
    const uint32_t middle = (begin + end) / 2;
    if (a->hits.y[middle] < least)
      begin = middle + 1;
    else
      end = middle;
  }
  s->hit = begin;
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

static SL_DEVICE uint32_t is_better(const struct hits_on_way *a, const struct hits_on_way *b) {
  return a->count > b->count || (a->count == b->count && a->score < b->score);
}

static SL_DEVICE struct hits_on_way find_hits(const struct match_ut_args *a, uint32_t event, uint32_t match) {
  const float *constants = a->matching.constants, qop = a->matches.qop[match];
  struct hits_on_way best;
  best.way.velo = scifi_velo_state(&a->states, a->states.offsets[event] + a->matches.velo_track[match]);
  best.way.bend = constants[SCIFI_MATCH_UT_BEND] + constants[SCIFI_MATCH_UT_BEND + 1] * (qop * a->magnet.sign[0]);
  best.hits = 0;
  best.count = 0;
  best.score = 0;
  const struct way way = best.way;
  for (uint32_t layer = 0; layer < UT_LAYERS - 1 && best.count <= UT_LAYERS - layer; layer++) {
    const float half = half_width(constants + SCIFI_MATCH_UT_LOOSE + layer * SCIFI_MATCH_UT_WINDOW, qop);
    struct search s = open_search(a, &way, event, layer, half);
    float off;
    for (uint32_t hit; (hit = next_hit(a, &way, &s, event, &off)) != NO_HIT;) {
      struct hits_on_way h;
      h.way = way;
      h.way.bend = bend_of(a, &way, s.event_hits + hit, off);
      h.hits = hit;
      h.count = 1;
      h.score = 0;
      for (uint32_t next = layer + 1; next < UT_LAYERS; next++) add_nearest(a, &h, event, next, qop);
      if (is_better(&h, &best)) best = h;
    }
  }
  return best;
}

SL_KERNEL(match_ut_find, struct match_ut_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t count = 0;
    for (uint32_t i = a.matches.offsets[event] + threadIdx.x; i < a.matches.offsets[event + 1]; i += blockDim.x) {
      const struct hits_on_way best = find_hits(&a, event, i);
      a.found_hits[i] = best.hits;
      a.found_count[i] = (uint8_t)best.count;
      a.bend[i] = best.way.bend;
      count += best.count >= a.min_hits ? 1u : 0u;
    }
    count = sl_block_sum_u32(count);
    if (threadIdx.x == 0) a.kept.offsets[event] = count;
  }
}

/* ---------------------------------------------------------------------------------------------- what is left */

/* Matches have their places; their numbers of hits wait to be summed. */
SL_KERNEL(match_ut_list, struct match_ut_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.matches.offsets[event], count = a.matches.offsets[event + 1] - first;
    const uint32_t to = a.kept.offsets[event], is_empty = a.kept.offsets[event + 1] == to;
    uint32_t length = 0;
    SL_FOR_BLOCK (i, is_empty ? 0 : count) {
      const uint32_t from = first + i, wanted = i < count && a.found_count[from] >= a.min_hits;
      const uint32_t place = to + sl_block_append(wanted, &length);
      if (!wanted) continue;
      a.ut_tracks.hit_offsets[place] = a.found_count[from];
      a.from[place] = from;
    }
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
