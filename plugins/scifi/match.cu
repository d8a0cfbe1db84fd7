/* scifi.match: which VELO track and which track in the fibre tracker are one (README.md, "Matching"): of each seed the
 * best VELO track, and of the seeds that have the same one the best, by what a network says of a pair, or without one
 * by chi2. Of those that are as good, the first VELO track or seed.
 *
 * The event's VELO tracks stand in shared memory. A warp a seed lists the pairs whose slopes agree in y, one in ten,
 * and then tries them, a lane a pair, so that no lane waits for another one. The least key of score and place is the
 * best one, of a seed and of a VELO track, by atomic minima. Reads 20 bytes a seed and 24 a VELO track, keeps 8 of
 * each, and writes 16 a match.
 */
#include "magnet/event_model.h"
#include "scifi/match_network.h"
#include "ut/event_model.h"

#include <sluice/kernel.h>

enum {
  TRACK_BITS = 9,
  TRACKS_MAX = 1 << TRACK_BITS, /* VELO tracks tried at a time */
  TRACK_MASK = TRACKS_MAX - 1,
  PAIRS_MAX = 256,
  LANES_MAX = 64,
#if defined(SL_TARGET_CPU)
  WARPS = 1
#else
  WARPS = 8 /* of a block, at most */
#endif
};

#define SL_ARGS match_args
#define MATCH(M)                                                                                                   \
  M(IN, seeds, scifi_seeds, "offsets hit_offsets x y tx ty", "tracks in the fibre tracker")                        \
  M(IN, selected, ut_selected_tracks, "", "VELO tracks that they may be")                                          \
  M(IN, states, velo_end_states, "offsets x y z tx ty", "of all VELO tracks")                                      \
  M(IN, matching, scifi_matching_constants, "constants network", "how they are matched")                           \
  M(IN, magnet, magnet_polarity, "sign", "which way it points")                                                    \
  M(OUT, matches, scifi_matches, "in the order of the VELO tracks",                                                \
    SL_ITEMS(SL_MIN(SL_ITEMS_TERM(seeds), SL_ITEMS_TERM(selected))))                                               \
  M(F32, max_ghost, 0.95, 0.0, 1.0, "", "largest probability that a pair is none, where there is a network")       \
  M(F32, network_chi2, 4.0, 0.0, 1e9, "", "largest chi2 of pairs that the network is asked about")                 \
  M(F32, max_chi2, 2.0, 0.0, 1e9, "", "largest chi2, where there is no network")                                   \
  M(F32, x_weight, 1.0, 0.0, 1e6, "", "factor of the weight of the distance in x")                                 \
  M(F32, y_scale, 1.0, 0.5, 2.0, "", "of the VELO track's y; 1.02 for seeds with LHCb's stereo angle of 0.086")    \
  M(SCRATCH, seed_keys, u64, "of the best VELO track of each seed: score and place", SL_ONE(SL_ITEMS_TERM(seeds))) \
  M(SCRATCH, track_keys, u64, "of the best seed of each VELO track, likewise", SL_ONE(SL_ITEMS_TERM(selected)))
SL_ARGUMENTS(match, MATCH);

static const uint64_t no_key = UINT64_MAX;

/* Some VELO tracks, of which the first one has this place, and a list for each warp: pairs of seed and track. What is
 * no pair goes behind the list, so that a cpu need not guess. */
struct workspace {
  struct scifi_state tracks[TRACKS_MAX];
  uint32_t pairs[WARPS][PAIRS_MAX + LANES_MAX];
};
struct some_tracks {
  const struct scifi_state *tracks;
  uint32_t place, count;
};

static SL_DEVICE struct scifi_state seed_state(const struct match_args *a, uint32_t i) {
  struct scifi_state s;
  s.x = a->seeds.x[i];
  s.y = a->seeds.y[i];
  s.z = a->matching.constants[SCIFI_MATCH_Z_END];
  s.tx = a->seeds.tx[i];
  s.ty = a->seeds.ty[i];
  return s;
}

static SL_DEVICE struct scifi_pair compare(const struct match_args *a, const struct scifi_state *velo,
                                           const struct scifi_state *seed) {
  struct scifi_match_settings settings;
  settings.x_weight = a->x_weight;
  settings.y_scale = a->y_scale;
  return scifi_match_pair(a->matching.constants, &settings, velo, seed);
}

static SL_DEVICE uint32_t has_network(const struct match_args *a) {
  return a->matching.network[SCIFI_MATCH_NETWORK_IS_THERE] != 0.0f ? 1u : 0u;
}

static SL_DEVICE float ghost_of(const struct match_args *a, const struct scifi_pair *pair,
                                const struct scifi_state *velo, const struct scifi_state *state, uint32_t seed) {
  float inputs[SCIFI_MATCH_INPUT_COUNT];
  const uint32_t hits = a->seeds.hit_offsets[seed + 1] - a->seeds.hit_offsets[seed];
  scifi_match_inputs(pair, velo, state, hits, inputs);
  return scifi_match_ghost(a->matching.network, inputs);
}

/* A pair that passed the cut in chi2, as a bid for its seed. */
static SL_DEVICE void try_pair(const struct match_args *a, const struct some_tracks *some, uint32_t track,
                               uint32_t seed) {
  const struct scifi_state state = seed_state(a, seed), *velo = &some->tracks[track];
  const struct scifi_pair pair = compare(a, velo, &state);
  float score = pair.chi2;
  if (has_network(a)) {
    score = ghost_of(a, &pair, velo, &state, seed);
    if (!(score <= a->max_ghost)) return;
  }
  /* Scores are not negative, so that their bits are in their order. */
  const uint64_t key = (uint64_t)sl_bits_from_f32(score) << 32 | (some->place + track);
  atomicMin((sl_atomic_u64 *)&a->seed_keys[seed], (sl_atomic_u64)key);
}

/* What passes the cut is listed in place first, so that lanes ask the network side by side. */
static SL_DEVICE void try_pairs(const struct match_args *a, uint32_t event, const struct some_tracks *some,
                                uint32_t *pairs, uint32_t count) {
  const float max_chi2 = has_network(a) ? a->network_chi2 : a->max_chi2;
  const uint32_t first = a->seeds.offsets[event];
  uint32_t length = 0;
  sl_warp_sync();
  SL_FOR_WARP (p, count) {
    const uint32_t pair = p < count ? pairs[p] : 0;
    uint32_t passes = 0;
    if (p < count) {
      const struct scifi_state state = seed_state(a, first + (pair >> TRACK_BITS));
      passes = compare(a, &some->tracks[pair & TRACK_MASK], &state).chi2 <= max_chi2 ? 1u : 0u;
    }
    const uint32_t place = sl_warp_append(passes, &length);
    sl_warp_sync(); /* all have read theirs */
    if (passes) pairs[place] = pair;
  }
  sl_warp_sync();
  for (uint32_t p = sl_warp_lane(); p < length; p += sl_warp_lanes())
    try_pair(a, some, pairs[p] & TRACK_MASK, first + (pairs[p] >> TRACK_BITS));
  sl_warp_sync();
}

/* Each warp's share of the seeds. */
static SL_DEVICE void try_seeds(const struct match_args *a, uint32_t event, const struct some_tracks *some,
                                uint32_t *pairs) {
  const uint32_t warps = sl_block_warps() < WARPS ? sl_block_warps() : WARPS;
  const uint32_t first = a->seeds.offsets[event], seeds = a->seeds.offsets[event + 1] - first;
  const struct scifi_state *tracks = some->tracks;
  const float max = a->matching.constants[SCIFI_MATCH_DTY_MAX];
  const uint32_t count = some->count, none = PAIRS_MAX + sl_warp_lane();
  uint32_t length = 0;
  for (uint32_t seed = sl_warp_index(); seed < seeds; seed += warps) {
    const float ty = a->seeds.ty[first + seed];
    SL_FOR_WARP (k, count) {
      const uint32_t is_there = k < count ? 1u : 0u;
      const uint32_t is_pair = is_there & (uint32_t)(sl_abs_f32(tracks[is_there * k].ty - ty) <= max);
      if (length + sl_warp_lanes() > PAIRS_MAX) {
        try_pairs(a, event, some, pairs, length);
        length = 0;
      }
      const uint32_t place = sl_warp_append(is_pair, &length);
      pairs[none - (none - place) * is_pair] = seed << TRACK_BITS | k;
    }
  }
  try_pairs(a, event, some, pairs, length);
}

SL_KERNEL(match_find, struct match_args) {
  __shared__ struct workspace w;
  const uint32_t warp = sl_warp_index();
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.selected.offsets[event], all = a.selected.offsets[event + 1] - first;
    const uint32_t seeds = a.seeds.offsets[event], seeds_end = a.seeds.offsets[event + 1];
    for (uint32_t k = threadIdx.x; k < all; k += blockDim.x) a.track_keys[first + k] = no_key;
    for (uint32_t i = seeds + threadIdx.x; i < seeds_end; i += blockDim.x) a.seed_keys[i] = no_key;
    for (uint32_t place = 0; place < all; place += TRACKS_MAX) { /* mostly once */
      const uint32_t count = all - place < TRACKS_MAX ? all - place : TRACKS_MAX;
      const struct some_tracks some = {w.tracks, place, count};
      for (uint32_t k = threadIdx.x; k < count; k += blockDim.x)
        w.tracks[k] = scifi_velo_state(&a.states, a.states.offsets[event] + a.selected.track[first + place + k]);
      __syncthreads();
      if (warp < WARPS) try_seeds(&a, event, &some, w.pairs[warp]);
      __syncthreads();
    }
    for (uint32_t i = seeds + threadIdx.x; all > 0 && i < seeds_end; i += blockDim.x) {
      const uint64_t key = a.seed_keys[i];
      if (key == no_key) continue;
      const uint64_t score_of_seed = key >> 32 << 32 | (i - seeds);
      atomicMin((sl_atomic_u64 *)&a.track_keys[first + (uint32_t)key], (sl_atomic_u64)score_of_seed);
    }
    __syncthreads();
    uint32_t matches = 0;
    for (uint32_t k = threadIdx.x; k < all; k += blockDim.x) matches += a.track_keys[first + k] != no_key ? 1u : 0u;
    matches = sl_block_sum_u32(matches);
    if (threadIdx.x == 0) a.matches.offsets[event] = matches;
  }
}

static SL_DEVICE void write_match(const struct match_args *a, uint32_t event, uint32_t selected, uint32_t match) {
  const uint32_t place = (uint32_t)a->track_keys[selected], seed = a->seeds.offsets[event] + place;
  const uint32_t track = a->selected.track[selected];
  const struct scifi_state velo = scifi_velo_state(&a->states, a->states.offsets[event] + track);
  const struct scifi_state state = seed_state(a, seed);
  a->matches.velo_track[match] = track;
  a->matches.seed[match] = place;
  a->matches.chi2[match] = compare(a, &velo, &state).chi2;
  a->matches.qop[match] = scifi_match_qop(a->matching.constants, state.tx, velo.tx, velo.ty, a->magnet.sign[0]);
}

SL_KERNEL(match_write, struct match_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.selected.offsets[event], count = a.selected.offsets[event + 1] - first;
    const uint32_t to = a.matches.offsets[event], is_empty = a.matches.offsets[event + 1] == to;
    uint32_t length = 0;
    SL_FOR_BLOCK (k, is_empty ? 0 : count) {
      const uint32_t wanted = k < count && a.track_keys[first + k] != no_key;
      const uint32_t match = to + sl_block_append(wanted, &length);
      if (wanted) write_match(&a, event, first + k, match);
    }
  }
}

static int run(const struct sl_launch *l, const struct match_args *a) {
  return SL_COUNT_SCAN_WRITE(l, match_find, match_write, a->matches, *a);
}

SL_ALGORITHM(match, "VELO tracks and tracks in the fibre tracker that are one", 256, run);
