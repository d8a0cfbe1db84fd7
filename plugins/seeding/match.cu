/* seeding.match: finds pairs of a VELO track and a seed that belong to one particle (README.md, "Matching").
 *   1. Sort the y of the event's VELO tracks into cells; compare each seed with the tracks in cells near its y.
 *   2. List the pairs that pass the requirements on distances; compute chi2 and the network's wrong-match probability.
 *   3. For each seed take the VELO track with the smallest score; for each VELO track the seed with the smallest score.
 *      Ties: the lower index.
 * Parallelism: one block per event; numbered pairs, then listed pairs, are distributed to all threads.
 * Determinism: atomic minima of keys (score, index), independent of the order of threads.
 * Cost: reads 20 bytes per seed and 24 per VELO track, keeps 8 per seed and track, writes 20 per match.
 */
#include "magnet/event_model.h"
#include "network/take.h"
#include "seeding/match_network.h"
#include "ut/event_model.h"

#include <sluice/kernel.h>

enum {
  TRACK_BITS = 9,
  TRACKS_MAX = 1 << TRACK_BITS, /* VELO tracks tried at a time */
  TRACK_MASK = TRACKS_MAX - 1,
  SEEDS_MAX = 256, /* seeds per round of numbered pairs, a power of two */
  CELLS = 256,     /* cells in y */
  ROUND = 1024,    /* pairs that are compared before the list is processed */
  LIST_MAX = 2 * ROUND
};
enum { NETWORK_LAYER_COUNT = 1, NETWORK_WIDTH = 32 };

#define SL_ARGS match_args
#define MATCH(M)                                                                                                       \
  M(IN, seeds, seeds, "offsets hit_offsets x y tx ty", "tracks found in the fibre tracker")                            \
  M(IN, selected, ut_selected_tracks, "", "VELO tracks to match")                                                      \
  M(IN, end_states, track_states, "offsets x y z tx ty", "states of all VELO tracks at the end of the VELO")           \
  M(IN, matching, matching_constants, "constants", "constants of the matching")                                        \
  M(OPTIONAL_IN, network, network, "", "network that rejects wrong matches; if not connected: matches by chi2")        \
  M(IN, magnet, magnet_polarity, "sign", "magnet polarity")                                                            \
  M(OUT, matches, seed_matches, "matches, in the order of the VELO tracks",                                            \
    SL_ITEMS(SL_MIN(SL_ITEMS_TERM(seeds), SL_ITEMS_TERM(selected))))                                                   \
  M(F32, max_ghost, 0.95, 0.0, 1.0, "", "largest wrong-match probability of a match, with a network")                  \
  M(F32, network_chi2, 4.0, 0.0, 1e9, "", "largest chi2 of a match, with a network")                                   \
  M(F32, max_chi2, 2.0, 0.0, 1e9, "", "largest chi2 of a match, without a network")                                    \
  M(F32, x_weight, 1.0, 0.0, 1e6, "", "factor of the weight of the distance in x in chi2")                             \
  M(F32, y_scale, 1.0, 0.5, 2.0, "", "factor of the VELO track's y; 1.02 for seeds with LHCb's stereo angle of 0.086") \
  M(COMPUTED, has_network, uint32_t, "1 if there is a network")                                                        \
  M(TABLE, weights, f32, "weights of the network")                                                                     \
  M(SCRATCH, seed_keys, u64, "score and index of a seed's best VELO track", SL_ONE(SL_ITEMS_TERM(seeds)))              \
  M(SCRATCH, track_keys, u64, "score and index of a VELO track's best seed", SL_ONE(SL_ITEMS_TERM(selected)))
SL_ARGUMENTS(match, MATCH);

static const uint64_t no_key = UINT64_MAX;
static const float cell_height = 16.0f; /* mm */

/* Shared memory of a block: up to TRACKS_MAX VELO tracks, the cells of their y, and the pairs of up to SEEDS_MAX seeds.
 */
struct workspace {
  struct forward_state tracks[TRACKS_MAX];
  uint32_t cell_positions[TRACKS_MAX]; /* position in the cell << 16 | cell */
  float y[TRACKS_MAX];                 /* match_velo_y, sorted by cell; any order in a cell */
  uint16_t track[TRACKS_MAX];          /* index in `tracks` of the entry of `y` */
  uint32_t cells[CELLS + 1];           /* number of tracks per cell, then the first index in `y` */
  uint32_t base;
  uint16_t begin[SEEDS_MAX];      /* first index in `y` near the seed */
  uint32_t before[SEEDS_MAX + 1]; /* number of pairs of earlier seeds; the last entry is the sum */
  uint32_t list[LIST_MAX];        /* pairs that pass match_meet: seed << TRACK_BITS | track */
  uint32_t list_count;
  uint32_t matches; /* matches of the event */
};

static SL_DEVICE struct forward_state seed_state(const struct match_args *a, uint32_t i) {
  struct forward_state s;
  s.x = a->seeds.x[i];
  s.y = a->seeds.y[i];
  s.z = a->matching.constants[MATCH_Z_END];
  s.tx = a->seeds.tx[i];
  s.ty = a->seeds.ty[i];
  return s;
}

static SL_DEVICE struct matched_pair compare(const struct match_args *a, const struct forward_state *velo,
                                             const struct forward_state *seed) {
  struct match_settings settings;
  settings.x_weight = a->x_weight;
  settings.y_scale = a->y_scale;
  return match_pair(a->matching.constants, &settings, velo, seed);
}

static SL_DEVICE float ghost_of(const struct match_args *a, const struct matched_pair *pair,
                                const struct forward_state *velo, const struct forward_state *state, uint32_t seed) {
  float inputs[MATCH_INPUT_COUNT];
  const uint32_t hits = a->seeds.hit_offsets[seed + 1] - a->seeds.hit_offsets[seed];
  match_inputs(pair, velo, state, hits, inputs);
  return network_score(a->weights, inputs, MATCH_INPUT_COUNT, NETWORK_LAYER_COUNT, NETWORK_WIDTH, NETWORK_RELU);
}

/* Computes the score of a listed pair and updates the best key of its seed. */
static SL_DEVICE void try_pair(const struct match_args *a, const struct workspace *w, uint32_t track, uint32_t seed) {
  const struct forward_state state = seed_state(a, seed), *velo = &w->tracks[track];
  const struct matched_pair pair = compare(a, velo, &state);
  float score = pair.chi2;
  if (!(score <= (a->has_network ? a->network_chi2 : a->max_chi2))) return;
  if (a->has_network) {
    score = ghost_of(a, &pair, velo, &state, seed);
    if (!(score <= a->max_ghost)) return;
  }
  /* Scores are not negative, so their bits sort like the numbers. */
  const uint64_t key = (uint64_t)sl_bits_from_f32(score) << 32 | (w->base + track);
  atomicMin((sl_atomic_u64 *)&a->seed_keys[seed], (sl_atomic_u64)key);
}

/* Cell of a y; ascends with y. The cells at the ends also have all y beyond them, and NaN. */
static SL_DEVICE uint32_t cell_of(float y) {
  const float cell = y / cell_height + 0.5f * (float)CELLS;
  return (uint32_t)sl_min_f32(sl_max_f32(cell, 0.0f), (float)(CELLS - 1));
}

/* Turns the numbers of tracks per cell into the cells' first indices in `y`. */
static SL_DEVICE void add_cells(struct workspace *w) {
  uint32_t sum = 0;
  SL_FOR_BLOCK (c, CELLS) {
    uint32_t total;
    const uint32_t before = sum + sl_block_exclusive_scan(c < CELLS ? w->cells[c] : 0, &total);
    if (c < CELLS) w->cells[c] = before;
    sum += total;
  }
  if (threadIdx.x == 0) w->cells[CELLS] = sum;
  __syncthreads();
}

/* Loads `count` selected VELO tracks from index `base` on, and sorts their y into cells. */
static SL_DEVICE void open_tracks(const struct match_args *a, uint32_t event, uint32_t first, uint32_t base,
                                  uint32_t count, struct workspace *w) {
  const uint32_t tracks = a->end_states.offsets[event];
  for (uint32_t c = threadIdx.x; c < CELLS; c += blockDim.x) w->cells[c] = 0;
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < count; k += blockDim.x) {
    const struct forward_state state = forward_velo_state(&a->end_states, tracks + a->selected.track[first + base + k]);
    const uint32_t cell = cell_of(match_velo_y(a->matching.constants, a->y_scale, &state));
    w->tracks[k] = state;
    w->cell_positions[k] = atomicAdd(&w->cells[cell], 1u) << 16 | cell;
  }
  if (threadIdx.x == 0) {
    w->base = base;
    w->list_count = 0;
  }
  __syncthreads();
  add_cells(w);
  for (uint32_t k = threadIdx.x; k < count; k += blockDim.x) {
    const uint32_t at = w->cells[w->cell_positions[k] & UINT16_MAX] + (w->cell_positions[k] >> 16);
    w->y[at] = match_velo_y(a->matching.constants, a->y_scale, &w->tracks[k]);
    w->track[at] = (uint16_t)k;
  }
  __syncthreads();
}

/* Numbers the pairs of seeds and tracks in cells near in y; returns the number of pairs. */
static SL_DEVICE uint32_t number_pairs(const struct match_args *a, struct workspace *w, uint32_t first,
                                       uint32_t seeds) {
  const float *m = a->matching.constants;
  const float y_range = 1.00001f * m[MATCH_DISTANCE_Y_MAX] + 0.01f; /* more than rounding errors */
  uint32_t sum = 0;
  SL_FOR_BLOCK (i, SEEDS_MAX) {
    uint32_t begin = 0, end = 0, total;
    if (i < seeds) {
      const struct forward_state state = seed_state(a, first + i);
      const float y = match_seed_y(m, &state);
      begin = w->cells[cell_of(y - y_range)];
      end = w->cells[cell_of(y + y_range) + 1];
      w->begin[i] = (uint16_t)begin;
    }
    const uint32_t before = sum + sl_block_exclusive_scan(end > begin ? end - begin : 0, &total);
    if (i < SEEDS_MAX) w->before[i] = before;
    sum += total;
  }
  if (threadIdx.x == 0) w->before[SEEDS_MAX] = sum;
  __syncthreads();
  return sum;
}

/* Seed of a pair: the last seed that has its first pair at or before this number. */
static SL_DEVICE uint32_t seed_of(const struct workspace *w, uint32_t pair) {
  uint32_t seed = 0;
  SL_UNROLL
  for (uint32_t step = SEEDS_MAX / 2; step > 0; step /= 2)
    if (w->before[seed + step] <= pair) seed += step;
  return seed;
}

/* Lists the pairs out of [begin, end) that pass match_meet. */
static SL_DEVICE void compare_pairs(const struct match_args *a, struct workspace *w, uint32_t first, uint32_t begin,
                                    uint32_t end) {
  float m[MATCH_BEND]; /* loaded once for all pairs of the thread */
  SL_UNROLL
  for (uint32_t i = 0; i < MATCH_BEND; i++) m[i] = a->matching.constants[i];
  uint32_t seed = 0;
  for (uint32_t p = begin + threadIdx.x; p < end; p += blockDim.x) {
    if (w->before[seed + 1] <= p) seed = seed_of(w, p); /* on a CPU the next pair mostly has the same seed */
    const uint32_t index = w->begin[seed] + p - w->before[seed], track = w->track[index];
    const struct forward_state state = seed_state(a, first + seed);
    struct matched_pair pair;
    if (match_meet(m, w->y[index], &w->tracks[track], &state, &pair))
      w->list[atomicAdd(&w->list_count, 1u)] = seed << TRACK_BITS | track;
  }
}

/* Compares the seeds with the loaded tracks. */
static SL_DEVICE void try_seeds(const struct match_args *a, struct workspace *w, uint32_t first, uint32_t seeds) {
  const uint32_t pairs = number_pairs(a, w, first, seeds);
  for (uint32_t done = 0; done < pairs; done += ROUND) {
    const uint32_t end = pairs - done < ROUND ? pairs : done + ROUND;
    compare_pairs(a, w, first, done, end);
    __syncthreads();
    const uint32_t length = w->list_count;
    if (end < pairs && length <= LIST_MAX - ROUND) {
      __syncthreads(); /* all threads have read the length */
      continue;
    }
    for (uint32_t i = threadIdx.x; i < length; i += blockDim.x)
      try_pair(a, w, w->list[i] & TRACK_MASK, first + (w->list[i] >> TRACK_BITS));
    __syncthreads();
    if (threadIdx.x == 0) w->list_count = 0;
    __syncthreads();
  }
}

SL_KERNEL(match_find, struct match_args) {
  __shared__ struct workspace w;
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.selected.offsets[event], all = a.selected.offsets[event + 1] - first;
    const uint32_t seeds = a.seeds.offsets[event], seeds_end = a.seeds.offsets[event + 1];
    if (threadIdx.x == 0) w.matches = 0;
    for (uint32_t k = threadIdx.x; k < all; k += blockDim.x) a.track_keys[first + k] = no_key;
    for (uint32_t i = seeds + threadIdx.x; i < seeds_end; i += blockDim.x) a.seed_keys[i] = no_key;
    for (uint32_t base = 0; base < all; base += TRACKS_MAX) { /* usually once */
      open_tracks(&a, event, first, base, all - base < TRACKS_MAX ? all - base : TRACKS_MAX, &w);
      for (uint32_t seed = seeds; seed < seeds_end; seed += SEEDS_MAX)
        try_seeds(&a, &w, seed, seeds_end - seed < SEEDS_MAX ? seeds_end - seed : SEEDS_MAX);
      __syncthreads(); /* the tracks are no longer needed */
    }
    for (uint32_t i = seeds + threadIdx.x; all > 0 && i < seeds_end; i += blockDim.x) {
      const uint64_t key = a.seed_keys[i];
      if (key == no_key) continue;
      const uint64_t score_of_seed = key >> 32 << 32 | (i - seeds);
      sl_atomic_u64 *track_key = (sl_atomic_u64 *)&a.track_keys[first + (uint32_t)key];
      if (atomicMin(track_key, (sl_atomic_u64)score_of_seed) == no_key) atomicAdd(&w.matches, 1u);
    }
    __syncthreads();
    if (threadIdx.x == 0) a.matches.offsets[event] = w.matches;
  }
}

static SL_DEVICE void write_match(const struct match_args *a, uint32_t event, uint32_t selected, uint32_t match) {
  const uint32_t seed_index = (uint32_t)a->track_keys[selected], seed = a->seeds.offsets[event] + seed_index;
  const uint32_t track = a->selected.track[selected];
  const struct forward_state velo = forward_velo_state(&a->end_states, a->end_states.offsets[event] + track);
  const struct forward_state state = seed_state(a, seed);
  a->matches.velo_track[match] = track;
  a->matches.seed[match] = seed_index;
  a->matches.chi2[match] = compare(a, &velo, &state).chi2;
  a->matches.ghost[match] = a->has_network ? sl_f32_from_bits((uint32_t)(a->track_keys[selected] >> 32)) : 0.0f;
  a->matches.qop[match] = match_qop(a->matching.constants, state.tx, velo.tx, velo.ty, a->magnet.sign[0]);
}

SL_KERNEL(match_write, struct match_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.selected.offsets[event], count = a.selected.offsets[event + 1] - first;
    const uint32_t to = a.matches.offsets[event], is_empty = a.matches.offsets[event + 1] == to;
    uint32_t length = 0;
    SL_FOR_BLOCK (k, is_empty ? 0 : count) {
      const uint32_t is_match = k < count && a.track_keys[first + k] != no_key;
      const uint32_t match = to + sl_block_append(is_match, &length);
      if (is_match) write_match(&a, event, first + k, match);
    }
  }
}

static int prepare(const struct sl_services *s, void *args) {
  static const char *const inputs[] = {MATCH_INPUTS(NETWORK_INPUT_NAME)};
  const struct network_kind kind = {inputs, MATCH_INPUT_COUNT, NETWORK_LAYER_COUNT, NETWORK_WIDTH, NETWORK_RELU, 1};
  struct match_args *a = (struct match_args *)args;
  a->has_network = network_is_present(&a->network);
  return network_take(s, &a->network, &kind, "weights");
}

static int run(const struct sl_launch *l, const struct match_args *a) {
  return SL_COUNT_SCAN_WRITE(l, match_find, match_write, a->matches, *a);
}

SL_ALGORITHM(match, "matches VELO tracks and seeds", 256, run, SL_PREPARE(prepare));
