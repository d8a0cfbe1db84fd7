/* ut.compass: for each VELO track, finds the best UT hits and a first momentum from the kick of the magnet.
 *   1. Copy the hits of the tracks' search windows to shared memory, one thread per hit, with x at the y of the track.
 *   2. List the pairs of layers 0 and 2, then 3 and 1, with a slope close to that of the track; one thread per
 *      combination.
 *   3. Add the nearest hits of the other two layers and fit together with the VELO track, one thread per pair.
 *   4. Select the pair with the smallest combined chi2, in which a missing hit is a factor; ties: the first pair.
 *      Fit it again and test it.
 * Parallelism: a block takes half of the tracks of an event, as many at a time as fit; on a CPU 32 fits at a time.
 * Determinism: pairs are listed in the order of tracks and hits; the best has the minimum of a 64-bit key.
 * Cost per event (97 tracks, 650 hits, 580 combinations, 410 pairs): reads 100 bytes per track and 10 per hit.
 * Plain version: tests/ut/compass_reference.h.
 */
#include "compass_fit.h"
#include "find_range.h"
#include "magnet/event_model.h"
#include "velo/event_model.h"

enum {
#if defined(SL_TARGET_CPU)
  PARTS = 1,
#else
  PARTS = 2, /* blocks per event */
#endif
  LISTED = 512 / PARTS, /* tracks with windows that are listed at a time */
  TRACKS = 128 / PARTS, /* tracks that are searched at a time */
  HITS = 1024 / PARTS,  /* hits of these tracks in shared memory, after NO_HIT */
  PAIRS = 1024 / PARTS, /* pairs that are fitted at a time; at least the threads of a block */
  UNUSED = UINT16_MAX,
  NO_HIT = 0 /* index of a replacement for a missing hit, with weight 0 in the middle of the UT */
};

/* Room for each hit of an event and NO_HIT, for each part. */
#define HITS_OF_PARTS SL_SUM(SL_ITEMS_SCALED(hits, PARTS, 1, 0), SL_EVENTS_TERM(PARTS, 0))

#define SL_ARGS compass_args
#define COMPASS(M)                                                                                                  \
  M(IN, selected, ut_selected_tracks, "", "selected VELO tracks")                                                   \
  M(IN, windows, ut_windows, "first count hits", "search windows of the selected tracks")                           \
  M(IN, end_states, track_states, "offsets x y z tx ty", "states of all VELO tracks at the end of the VELO")        \
  M(IN, hits, ut_hits, "offsets x z sector", "UT hits, to which the windows refer")                                 \
  M(IN, geometry, ut_geometry, "pitch", "pitch of the strips")                                                      \
  M(IN, groups, ut_sector_groups, "layer_slope", "dx/dy of the strips of each layer")                               \
  M(IN, tables, ut_magnet_tables, "field_integral constants", "field integrals and constants of the formulas")      \
  M(IN, magnet, magnet_polarity, "sign", "polarity of the magnet")                                                  \
  M(OUT, candidates, ut_track_candidates, "UT track candidate of each selected track", SL_SHARES_OFFSETS(selected)) \
  M(U32, max_pairs, 16, 1, 1000, "", "largest number of pairs of hits that are fitted per track")                   \
  M(F32, max_slope_difference, 0.018, 0.0, 1.0, "",                                                                 \
    "largest difference of dx/dz between a pair of hits and the VELO track")                                        \
  M(F32, max_distance, 0.8, 0.0, 100.0, "mm", "largest distance in x of a further hit from the line of a pair")     \
  M(F32, sigma_slope, 1e-4, 1e-6, 1.0, "", "error of the slope of the VELO track in the first fit")                 \
  M(F32, max_chi2, 1280.0, 0.0, 1e9, "", "upper limit of chi2 / (number of hits - 1) of the first fit")             \
  M(F32, three_hits_factor, 64.0, 1.0, 1e30, "", "factor of chi2 for three hits, in the comparison of candidates")  \
  M(F32, line_weight, 1.0, 0.0, 1e9, "",                                                                            \
    "weight of chi2 of a line through four hits, in the comparison of candidates")                                  \
  M(F32, min_momentum, 1500.0, 0.0, 1e6, "MeV", "smallest momentum of an accepted track")                           \
  M(F32, min_pt, 400.0, 0.0, 1e6, "MeV", "smallest transverse momentum of an accepted track")                       \
  M(F32, min_quality, -0.5, -1e9, 1e9, "", "smallest discriminant of an accepted track")                            \
  M(SCRATCH, hit_x, f32, "x of the hits of a track with more hits than fit into shared memory", HITS_OF_PARTS)      \
  M(SCRATCH, hit_z, f32, "z of the hits in hit_x", HITS_OF_PARTS)                                                   \
  M(SCRATCH, hit_weight, f32, "weights of the hits in hit_x", HITS_OF_PARTS)                                        \
  M(SCRATCH, hit, u16, "event indices of the hits in hit_x", HITS_OF_PARTS)                                         \
  M(TABLE, weights, f32, "weight of a hit by sector, 1/mm2")
SL_ARGUMENTS(compass, COMPASS);

static int prepare(const struct sl_services *s, void *args) {
  struct compass_args *a = (struct compass_args *)args;
  float *weights = (float *)s->make_table(s->context, "weights", UT_SECTORS);
  if (!weights) return SL_ENOMEM;
  for (uint32_t i = 0; i < UT_SECTORS; i++) weights[i] = 12.0f / (a->geometry.pitch[i] * a->geometry.pitch[i]);
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------------ tracks */

/* Tracks of an event that a block searches together. */
struct compass_shared {
  uint16_t list[LISTED]; /* tracks with windows */
  float x[TRACKS], y[TRACKS], z[TRACKS], tx[TRACKS], ty[TRACKS];
  uint32_t hit_first[(uint32_t)UT_LAYERS * TRACKS + 1]; /* first hit of each track and layer */
  uint32_t candidate_first[TRACKS + 1];                 /* first combination of two hits of each track */
  uint32_t pair_first[TRACKS];                          /* first pair of each track */
  uint64_t best[TRACKS];                                /* pair_key of the best pair of each track */
  float hit_x[HITS + 1], hit_z[HITS + 1], hit_weight[HITS + 1];
  uint16_t hit[HITS + 1];
  uint32_t pair[PAIRS];
  uint8_t pair_track[PAIRS];
};

struct compass_search {
  struct compass_shared *shared;
  uint32_t event, part, first_item; /* first_item: selected track to which the list is relative */
  const uint16_t *list;             /* tracks that are searched now */
  uint32_t tracks;
  float *hit_x, *hit_z, *hit_weight; /* hits of the windows of these tracks; x at the y of the track */
  uint16_t *hit;                     /* their indices in the event */
  uint32_t hits_end;
};

static SL_DEVICE struct compass_line line_of(const struct compass_shared *s, uint32_t track) {
  struct compass_line line;
  line.x = s->x[track];
  line.y = s->y[track];
  line.z = s->z[track];
  line.tx = s->tx[track];
  line.ty = s->ty[track];
  return line;
}

/* Sets hit_first for the next tracks. Returns how many tracks fit into shared memory with their hits, at least 1. */
static SL_DEVICE uint32_t count_hits(const struct compass_args *a, struct compass_search *s, uint32_t tracks) {
  struct compass_shared *shared = s->shared;
  uint32_t sum = 0, fitting = 0;
  if (threadIdx.x == 0) shared->hit_first[0] = NO_HIT + 1;
  SL_FOR_BLOCK (i, UT_LAYERS * tracks) {
    uint32_t hits = 0, total;
    if (i < UT_LAYERS * tracks) {
      const size_t item = s->first_item + s->list[i / UT_LAYERS];
      hits = a->windows.hits[UT_LAYERS * item + i % UT_LAYERS];
    }
    const uint32_t end = NO_HIT + 1 + sum + sl_block_exclusive_scan(hits, &total) + hits;
    if (i < UT_LAYERS * tracks) {
      shared->hit_first[i + 1] = end;
      if (i % UT_LAYERS == UT_LAYERS - 1 && end <= HITS + 1) fitting++;
    }
    sum += total;
  }
  fitting = sl_block_sum_u32(fitting);
  return fitting > 0 ? fitting : 1;
}

/* Loads the lines of the tracks. Returns the number of combinations of their hits. */
static SL_DEVICE uint32_t open_tracks(const struct compass_args *a, const struct compass_search *s) {
  struct compass_shared *shared = s->shared;
  uint32_t sum = 0;
  if (threadIdx.x == 0) shared->candidate_first[0] = 0;
  SL_FOR_BLOCK (t, s->tracks) {
    uint32_t candidates = 0, total;
    if (t < s->tracks) {
      const uint32_t state = a->end_states.offsets[s->event] + a->selected.track[s->first_item + s->list[t]];
      const uint32_t *first = shared->hit_first + (size_t)UT_LAYERS * t;
      shared->x[t] = a->end_states.x[state];
      shared->y[t] = a->end_states.y[state];
      shared->z[t] = a->end_states.z[state];
      shared->tx[t] = a->end_states.tx[state];
      shared->ty[t] = a->end_states.ty[state];
      shared->pair_first[t] = UINT32_MAX;
      shared->best[t] = UINT64_MAX;
      candidates = (first[1] - first[0]) * (first[3] - first[2]) + (first[4] - first[3]) * (first[2] - first[1]);
    }
    const uint32_t end = sum + sl_block_exclusive_scan(candidates, &total) + candidates;
    if (t < s->tracks) shared->candidate_first[t + 1] = end;
    sum += total;
  }
  return sum;
}

/* Copies the hits of the tracks to s->hit_x, ..., one thread per hit. */
static SL_DEVICE void stage_hits(const struct compass_args *a, const struct compass_search *s) {
  const uint32_t *first = s->shared->hit_first, event_first = a->hits.offsets[s->event];
  uint32_t range = 0;
  if (threadIdx.x == 0) {
    s->hit_x[NO_HIT] = 0.0f;
    s->hit_z[NO_HIT] = UT_MIDDLE_Z;
    s->hit_weight[NO_HIT] = 0.0f;
  }
  for (uint32_t i = NO_HIT + 1 + threadIdx.x; i < s->hits_end; i += blockDim.x) {
    range = ut_find_range(first, UT_LAYERS * s->tracks, i, range);
    const uint32_t track = range / UT_LAYERS, layer = range % UT_LAYERS;
    size_t window = (size_t)(s->first_item + s->list[track]) * UT_WINDOWS + (size_t)layer * UT_LAYER_WINDOWS;
    uint32_t index = i - first[range];
    for (; index >= a->windows.count[window]; window++) index -= a->windows.count[window];
    const uint32_t hit = a->windows.first[window] + index;
    const struct compass_line line = line_of(s->shared, track);
    const float x = a->hits.x[event_first + hit], z = a->hits.z[event_first + hit];
    s->hit_x[i] = x + (line.y + line.ty * (z - line.z)) * a->groups.layer_slope[layer];
    s->hit_z[i] = z;
    s->hit_weight[i] = a->weights[a->hits.sector[event_first + hit]];
    s->hit[i] = (uint16_t)hit;
  }
}

/* ------------------------------------------------------------------------------------------------------- pairs */

/* Combination `i` of a track: index of the first hit << 16 | index of the second hit, in layers 0 and 2 or, after
 * these, 3 and 1. The values of the pairs of a track ascend. */
static SL_DEVICE uint32_t candidate_at(const uint32_t *first, uint32_t i) {
  const uint32_t partners = first[3] - first[2], ahead = (first[1] - first[0]) * partners;
  if (i < ahead) return (first[0] + i / partners) << 16 | (first[2] + i % partners);
  const uint32_t others = first[2] - first[1];
  return (first[3] + (i - ahead) / others) << 16 | (first[1] + (i - ahead) % others);
}

/* dx/dz of a pair. */
static SL_DEVICE float pair_slope(const struct compass_search *s, uint32_t pair) {
  const uint32_t first = pair >> 16, second = pair & UINT16_MAX;
  return (s->hit_x[second] - s->hit_x[first]) / (s->hit_z[second] - s->hit_z[first]);
}

/* The hit of [begin, end) nearest to the line through hit `from` with slope tx, or NO_HIT. */
static SL_DEVICE uint32_t nearest_hit(const struct compass_args *a, const struct compass_search *s, uint32_t begin,
                                      uint32_t end, uint32_t from, float tx) {
  const float x = s->hit_x[from], z = s->hit_z[from];
  float nearest = a->max_distance;
  uint32_t found = NO_HIT;
  for (uint32_t i = begin; i < end; i++) {
    const float distance = sl_abs_f32(s->hit_x[i] - (x + tx * (s->hit_z[i] - z)));
    found = distance < nearest ? i : found;
    nearest = distance < nearest ? distance : nearest;
  }
  return found;
}

/* A pair with the nearest hits of the other layers. */
struct compass_candidate {
  uint32_t hit[UT_LAYERS]; /* index of a hit, or NO_HIT */
  uint32_t count;
};

static SL_DEVICE struct compass_candidate complete(const struct compass_args *a, const struct compass_search *s,
                                                   uint32_t track, uint32_t pair) {
  struct compass_candidate c;
  const uint32_t *layer_first = s->shared->hit_first + (size_t)UT_LAYERS * track;
  const uint32_t first = pair >> 16, second = pair & UINT16_MAX, is_back = first >= layer_first[3] ? 1u : 0u;
  const uint32_t *between_first = layer_first + (is_back ? 2 : 1), *outer_first = layer_first + (is_back ? 0 : 3);
  const float tx = pair_slope(s, pair);
  const uint32_t between = nearest_hit(a, s, between_first[0], between_first[1], first, tx);
  const uint32_t outer = nearest_hit(a, s, outer_first[0], outer_first[1], second, tx);
  c.hit[0] = is_back ? outer : first;
  c.hit[1] = is_back ? second : between;
  c.hit[2] = is_back ? between : second;
  c.hit[3] = is_back ? first : outer;
  c.count = 2u + (between != NO_HIT ? 1u : 0u) + (outer != NO_HIT ? 1u : 0u);
  return c;
}

/* Candidates that are fitted together: 32 on a CPU, one per thread on a GPU. */
struct compass_lanes {
  float x[SL_LANES32], y[SL_LANES32], z[SL_LANES32], tx[SL_LANES32], ty[SL_LANES32];
  float hit_x[UT_LAYERS][SL_LANES32], hit_z[UT_LAYERS][SL_LANES32], weight[UT_LAYERS][SL_LANES32];
  uint32_t count[SL_LANES32];
  float integral[SL_LANES32]; /* field integral, for the second fit */
};

static SL_DEVICE void fill_lane(const struct compass_search *s, uint32_t track, const struct compass_candidate *c,
                                struct compass_lanes *l, uint32_t lane) {
  l->x[lane] = s->shared->x[track];
  l->y[lane] = s->shared->y[track];
  l->z[lane] = s->shared->z[track];
  l->tx[lane] = s->shared->tx[track];
  l->ty[lane] = s->shared->ty[track];
  l->count[lane] = c->count;
  SL_UNROLL
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
    l->hit_x[layer][lane] = s->hit_x[c->hit[layer]];
    l->hit_z[layer][lane] = s->hit_z[c->hit[layer]];
    l->weight[layer][lane] = s->hit_weight[c->hit[layer]];
  }
}

static SL_DEVICE struct compass_line lane_line(const struct compass_lanes *l, uint32_t lane) {
  const struct compass_line line = {l->x[lane], l->y[lane], l->z[lane], l->tx[lane], l->ty[lane]};
  return line;
}

static SL_DEVICE struct compass_hits lane_hits(const struct compass_lanes *l, uint32_t lane) {
  struct compass_hits hits;
  SL_UNROLL
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
    hits.x[layer] = l->hit_x[layer][lane];
    hits.z[layer] = l->hit_z[layer][lane];
    hits.weight[layer] = l->weight[layer][lane];
  }
  hits.count = l->count[lane];
  return hits;
}

/* The best pair has the smallest key: smallest combined chi2, then first pair. */
static SL_DEVICE uint64_t pair_key(float combined, uint32_t pair) {
  return (uint64_t)sl_bits_from_f32(combined) << 32 | pair;
}

/* Completes and fits the listed pairs and updates the best pair of each track. `before`: number of pairs tried before.
 */
static SL_DEVICE void try_pairs(const struct compass_args *a, const struct compass_search *s, uint32_t before,
                                uint32_t pairs) {
  const float three_hits_factor = a->three_hits_factor, line_weight = a->line_weight; /* once, for vectors */
  struct compass_shared *shared = s->shared;
  struct compass_lanes l;
  memset(&l, 0, sizeof l);
  SL_FOR_GROUPS (g, (pairs + 31) / 32, 32) {
    const uint32_t base = 32 * g, count = base < pairs ? pairs - base : 0;
    float chi2[SL_LANES32] = {0.0f}, combined[SL_LANES32] = {0.0f};
    SL_FOR_LANES32_BELOW (j, count) {
      const uint32_t track = shared->pair_track[base + j];
      l.count[SL_LANE32(j)] = 0;
      if (before + base + j - shared->pair_first[track] >= a->max_pairs) continue;
      const struct compass_candidate c = complete(a, s, track, shared->pair[base + j]);
      fill_lane(s, track, &c, &l, SL_LANE32(j));
    }
    SL_FOR_LANES32_OF (j, count) {
      const struct compass_line line = lane_line(&l, SL_LANE32(j));
      const struct compass_hits hits = lane_hits(&l, SL_LANE32(j));
      chi2[SL_LANE32(j)] = compass_kick_fit(&line, &hits, a->tables.constants[UT_FIRST_KICK_Z], a->sigma_slope).chi2;
      const float factor = hits.count == 4 ? 1.0f : three_hits_factor;
      combined[SL_LANE32(j)] =
          factor * chi2[SL_LANE32(j)] + line_weight * compass_hits_chi2(&hits, a->groups.layer_slope);
    }
    SL_FOR_LANES32_BELOW (j, count) {
      const uint32_t hits = l.count[SL_LANE32(j)];
      if (hits < 3 || !(chi2[SL_LANE32(j)] < a->max_chi2)) continue;
      const uint64_t key = pair_key(combined[SL_LANE32(j)], shared->pair[base + j]);
      atomicMin((sl_atomic_u64 *)&shared->best[shared->pair_track[base + j]], (sl_atomic_u64)key);
    }
  }
}

/* Lists pairs in the order of tracks and hits, one thread per combination, and fits them when the list is full. */
static SL_DEVICE void search_pairs(const struct compass_args *a, const struct compass_search *s, uint32_t candidates) {
  struct compass_shared *shared = s->shared;
  uint32_t track = 0, before = 0, pairs = 0;
  SL_FOR_BLOCK (i, candidates) {
    uint32_t pair = 0, is_pair = 0;
    if (i < candidates) {
      track = ut_find_range(shared->candidate_first, s->tracks, i, track);
      pair = candidate_at(shared->hit_first + (size_t)UT_LAYERS * track, i - shared->candidate_first[track]);
      is_pair = sl_abs_f32(pair_slope(s, pair) - shared->tx[track]) <= a->max_slope_difference ? 1u : 0u;
    }
    const uint32_t index = sl_block_append(is_pair, &pairs);
    if (is_pair) {
      shared->pair[index] = pair;
      shared->pair_track[index] = (uint8_t)track;
      atomicMin(&shared->pair_first[track], before + index);
    }
    if (pairs + blockDim.x <= PAIRS) continue;
    __syncthreads();
    try_pairs(a, s, before, pairs);
    __syncthreads(); /* the list is free */
    before += pairs;
    pairs = 0;
  }
  __syncthreads();
  try_pairs(a, s, before, pairs);
  __syncthreads();
}

static SL_DEVICE void write_none(const struct compass_args *a, uint32_t item) {
  a->candidates.hit_count[item] = 0;
  for (uint32_t i = 0; i < UT_TRACK_HITS_MAX; i++) a->candidates.hits[UT_TRACK_HITS_MAX * (size_t)item + i] = 0;
  a->candidates.qop[item] = 0.0f;
  a->candidates.x[item] = 0.0f;
  a->candidates.tx[item] = 0.0f;
}

/* Writes the hits of the best candidate of each track, by layer, for the second fit in compass_finish. */
static SL_DEVICE void write_candidates(const struct compass_args *a, const struct compass_search *s) {
  for (uint32_t t = threadIdx.x; t < s->tracks; t += blockDim.x) {
    const uint64_t best = s->shared->best[t];
    const uint32_t item = s->first_item + s->list[t];
    if (best == UINT64_MAX) {
      write_none(a, item);
      continue;
    }
    const struct compass_candidate c = complete(a, s, t, (uint32_t)best);
    a->candidates.hit_count[item] = (uint8_t)c.count;
    SL_UNROLL
    for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
      const uint32_t hit = c.hit[layer];
      a->candidates.hits[UT_LAYERS * (size_t)item + layer] = hit != NO_HIT ? s->hit[hit] : UNUSED;
    }
  }
}

/* 1 if a track has windows for a pair and a third hit. */
static SL_DEVICE uint32_t has_windows(const struct compass_args *a, uint32_t item) {
  const uint16_t *has = a->windows.hits + UT_LAYERS * (size_t)item;
  return (has[0] && has[2] && (has[1] || has[3])) || (has[3] && has[1] && (has[0] || has[2]));
}

/* Offset of the hits of an event in scratch. */
static SL_DEVICE uint32_t hits_room(const struct compass_args *a, uint32_t event) {
  return a->hits.offsets[event] + event;
}

/* Searches the first of the listed tracks, as many as fit into shared memory. */
static SL_DEVICE void find_tracks(const struct compass_args *a, struct compass_search *s, uint32_t left) {
  struct compass_shared *shared = s->shared;
  s->tracks = count_hits(a, s, left < TRACKS ? left : TRACKS);
  s->hits_end = shared->hit_first[UT_LAYERS * s->tracks];
  const uint32_t is_staged = s->hits_end <= HITS + 1 ? 1u : 0u;
  const uint32_t room = hits_room(a, s->event + 1) - hits_room(a, s->event);
  const size_t first = PARTS * (size_t)hits_room(a, s->event) + (size_t)s->part * room;
  s->hit_x = is_staged ? shared->hit_x : a->hit_x + first;
  s->hit_z = is_staged ? shared->hit_z : a->hit_z + first;
  s->hit_weight = is_staged ? shared->hit_weight : a->hit_weight + first;
  s->hit = is_staged ? shared->hit : a->hit + first;
  const uint32_t candidates = open_tracks(a, s);
  stage_hits(a, s);
  __syncthreads();
  search_pairs(a, s, candidates);
  write_candidates(a, s);
  __syncthreads(); /* shared memory is free for the next tracks */
}

static SL_DEVICE void find_part(const struct compass_args *a, struct compass_search *s, uint32_t begin, uint32_t end) {
  uint16_t *list = s->shared->list;
  for (s->first_item = begin; s->first_item < end; s->first_item += LISTED) { /* mostly once */
    const uint32_t count = end - s->first_item < LISTED ? end - s->first_item : LISTED;
    uint32_t length = 0;
    SL_FOR_BLOCK (i, count) {
      const uint32_t listed = i < count && has_windows(a, s->first_item + i);
      const uint32_t index = sl_block_append(listed, &length);
      if (listed) list[index] = (uint16_t)i;
      if (i < count && !listed) write_none(a, s->first_item + i);
    }
    __syncthreads();
    for (uint32_t done = 0; done < length; done += s->tracks) {
      s->list = list + done;
      find_tracks(a, s, length - done);
    }
  }
}

SL_KERNEL_REGISTERS(compass_find, struct compass_args, 56) {
  __shared__ struct compass_shared shared;
  for (uint32_t i = blockIdx.x; i < PARTS * *a.events.count; i += gridDim.x) {
    const uint32_t event = sl_event_at(&a.events, i / PARTS), part = i % PARTS;
    const uint32_t begin = a.selected.offsets[event], count = a.selected.offsets[event + 1] - begin;
    struct compass_search s;
    s.shared = &shared;
    s.event = event;
    s.part = part;
    find_part(&a, &s, begin + count * part / PARTS, begin + count * (part + 1) / PARTS);
  }
}

/* ------------------------------------------------------------------------------------------------ second fit */

/* 1 if the track is compatible with an origin in the beam pipe: close to the beam and bending away from the side where
 * it is, or too steep in the bending direction. `bend`: sign of the kick. */
static SL_DEVICE uint32_t is_from_the_pipe(const struct compass_fit *fit, float y, float bend, float pt) {
  const float half_width = 48.0f, half_height = 33.0f, steepest = 0.09f + 3e-4f * pt;
  const float x = bend < 0.0f ? -fit->x : fit->x, tx = bend < 0.0f ? -fit->tx : fit->tx; /* of a track that bends up */
  const uint32_t is_close = (uint32_t)(sl_abs_f32(y) < half_height) & (uint32_t)(x > 0.0f) & (uint32_t)(x < half_width);
  return ((uint32_t)(bend < 0.0f) | (uint32_t)(bend > 0.0f)) & (is_close | (uint32_t)(tx < -steepest));
}

/* Linear discriminant between true tracks and ghosts, by momentum and chi2, for three or four hits. */
static SL_DEVICE float quality(const float *constants, uint32_t hits, float p, float pt, float chi2) {
  const float *c3 = constants + UT_DISCRIMINANT_3, *c4 = constants + UT_DISCRIMINANT_4;
  const float log_p = sl_logf(p), log_pt = sl_logf(pt), log_chi2 = sl_logf(chi2);
  const float of_3 = c3[0] + c3[1] * log_p + c3[2] * log_pt + c3[3] * log_chi2;
  const float of_4 = c4[0] + c4[1] * log_p + c4[2] * log_pt + c4[3] * log_chi2;
  return hits == 3 ? of_3 : of_4;
}

/* Results of the fits of a candidate. */
struct compass_result {
  float x[SL_LANES32], tx[SL_LANES32], qop[SL_LANES32]; /* qop: for a magnet that points down */
  uint32_t passes[SL_LANES32];
};

/* Fits the candidate of a lane again and tests it against all requirements. */
static SL_DEVICE void fit_again(const struct compass_args *a, const struct compass_lanes *l, uint32_t lane,
                                struct compass_result *r) {
  const float momentum_scale = 1.3f, least_integral = 1e-8f; /* no momentum below this */
  const float *constants = a->tables.constants;
  const struct compass_line line = lane_line(l, lane);
  const struct compass_hits hits = lane_hits(l, lane);
  const struct compass_fit kick = compass_kick_fit(&line, &hits, constants[UT_FIRST_KICK_Z], a->sigma_slope);
  const float down = -constants[UT_KICK_TO_MOMENTUM] / l->integral[lane];
  const struct compass_fit fit = compass_fast_fit(&line, &hits, a->groups.layer_slope, constants, kick.kick * down);
  const float qop = fit.kick * down, p = momentum_scale / sl_max_f32(sl_abs_f32(qop), 1e-9f);
  const float pt = p * sqrtf(line.tx * line.tx + line.ty * line.ty);
  const float y = line.y + line.ty * (UT_MIDDLE_Z - line.z) + fit.y_offset;
  r->x[lane] = kick.x;
  r->tx[lane] = kick.tx;
  r->qop[lane] = qop;
  r->passes[lane] = (uint32_t)(sl_abs_f32(l->integral[lane]) >= least_integral) & (uint32_t)(p >= a->min_momentum) &
                    (uint32_t)(pt >= a->min_pt) & (is_from_the_pipe(&fit, y, -qop, pt) ^ 1u) &
                    (uint32_t)(quality(constants, hits.count, p, pt, fit.chi2) >= a->min_quality);
}

/* Loads the candidate of a track into a lane. */
static SL_DEVICE void load_candidate(const struct compass_args *a, uint32_t event, uint32_t item,
                                     struct compass_lanes *l, uint32_t lane) {
  const uint32_t state = a->end_states.offsets[event] + a->selected.track[item], event_first = a->hits.offsets[event];
  const uint16_t *hits = a->candidates.hits + UT_LAYERS * (size_t)item;
  l->x[lane] = a->end_states.x[state];
  l->y[lane] = a->end_states.y[state];
  l->z[lane] = a->end_states.z[state];
  l->tx[lane] = a->end_states.tx[state];
  l->ty[lane] = a->end_states.ty[state];
  l->count[lane] = a->candidates.hit_count[item];
  SL_UNROLL
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
    const uint32_t is_hit = hits[layer] != UNUSED ? 1u : 0u, hit = event_first + (is_hit ? hits[layer] : 0u);
    const float x = a->hits.x[hit], z = a->hits.z[hit], weight = a->weights[a->hits.sector[hit]];
    const float at_y = x + (l->y[lane] + l->ty[lane] * (z - l->z[lane])) * a->groups.layer_slope[layer];
    l->hit_x[layer][lane] = is_hit ? at_y : 0.0f;
    l->hit_z[layer][lane] = is_hit ? z : UT_MIDDLE_Z;
    l->weight[layer][lane] = is_hit ? weight : 0.0f;
  }
  const struct compass_line line = lane_line(l, lane);
  l->integral[lane] = compass_field_integral(a->tables.field_integral, &line);
}

/* Writes the hits of an accepted track without gaps, and the results of the fits. */
static SL_DEVICE void write_track(const struct compass_args *a, uint32_t item, const struct compass_result *r,
                                  uint32_t lane) {
  uint32_t count = 0;
  uint16_t *hits = a->candidates.hits + UT_TRACK_HITS_MAX * (size_t)item;
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++)
    if (hits[layer] != UNUSED) hits[count++] = hits[layer];
  for (; count < UT_TRACK_HITS_MAX; count++) hits[count] = 0;
  a->candidates.qop[item] = r->qop[lane] * -a->magnet.sign[0];
  a->candidates.x[item] = r->x[lane];
  a->candidates.tx[item] = r->tx[lane];
}

/* Fits the candidates of the listed tracks again and writes the accepted ones. */
static SL_DEVICE void finish_tracks(const struct compass_args *a, uint32_t event, const uint32_t *items,
                                    uint32_t tracks) {
  struct compass_lanes l;
  struct compass_result r;
  memset(&l, 0, sizeof l); /* lanes after the last track are computed, too */
  memset(&r, 0, sizeof r);
  SL_FOR_GROUPS (g, (tracks + 31) / 32, 32) {
    const uint32_t base = 32 * g, count = base < tracks ? tracks - base : 0;
    SL_FOR_LANES32_BELOW (j, count) load_candidate(a, event, items[base + j], &l, SL_LANE32(j));
    SL_FOR_LANES32_OF (j, count) fit_again(a, &l, SL_LANE32(j), &r);
    SL_FOR_LANES32_BELOW (j, count) {
      if (r.passes[SL_LANE32(j)])
        write_track(a, items[base + j], &r, SL_LANE32(j));
      else
        write_none(a, items[base + j]);
    }
  }
}

SL_KERNEL_REGISTERS(compass_finish, struct compass_args, 64) {
  __shared__ uint32_t items[LISTED];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.selected.offsets[event], end = a.selected.offsets[event + 1];
    for (uint32_t first = begin; first < end; first += LISTED) { /* mostly once */
      const uint32_t count = end - first < LISTED ? end - first : LISTED;
      uint32_t length = 0;
      SL_FOR_BLOCK (i, count) {
        const uint32_t listed = i < count && a.candidates.hit_count[first + i] > 0;
        const uint32_t index = sl_block_append(listed, &length);
        if (listed) items[index] = first + i;
      }
      __syncthreads();
      finish_tracks(&a, event, items, length);
      __syncthreads(); /* the list is free */
    }
  }
}

static int run(const struct sl_launch *l, const struct compass_args *a) {
  const int error = SL_LAUNCH(l, compass_find, SL_PER_CHUNK((uint64_t)PARTS * l->events_max), *a);
  return error ? error : SL_LAUNCH(l, compass_finish, SL_PER_EVENT, *a);
}

SL_ALGORITHM(compass, "UT hits of VELO tracks, and a first momentum", 128, run, SL_PREPARE(prepare));
