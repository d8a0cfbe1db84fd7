/* forward.triplet_seeding: best triplets of hits in x layers of the three stations, for each track (README.md,
 * "Triplets").
 *   1. For each first hit find the range of last hits: the line through both must pass the magnet near the VELO track.
 *   2. For each pair take the middle hit nearest to the prediction, and compute chi2, its squared distance.
 *   3. Keep the triplets with the smallest chi2; ties: the smaller word.
 * Parallelism: one warp per track. Threads take a first hit each and list its pairs (some ten of 25 hits per window),
 * then take a listed pair each and list triplets; a full list is reduced to the best.
 * Determinism: the words of all triplets are different, so the order in which they are found does not matter.
 * Cost: reads 60 bytes per track and x of some 150 hits; writes 81 bytes per track. CPU version: triplet_seeding.cpu.c.
 */
#include "triplet_seeding.h"

enum {
  SEEDS_MAX = 2 * SEED_KINDS, /* kinds on both sides */
  WINDOW_HALF = WINDOW_HITS_MAX / 2,
  PAIRS_MAX = 256,
  STEPS = 3,          /* pairs of a first hit that are listed between two checks for room */
  PAIR_FIRST_BIT = 6, /* first hit in the word of a pair; the last hit is below */
  PAIR_FIRST_MASK = SEEDS_MAX * WINDOW_HITS_MAX - 1,
  PAIR_SEED_BIT = 14,
#if defined(SL_TARGET_CPU)
  WARPS = 1,
  PARTS = 1
#else
  WARPS = 4, /* per block, at most */
  PARTS = 8  /* blocks per event */
#endif
};

/* x of the hits of a window in shared memory, from x[1] on, between -infinity and infinity, so that a search needs no
 * limits. The second half of a window with fewer than WINDOW_HALF hits is neither read nor written. */
struct window {
  float x[1 + WINDOW_HITS_MAX + 1];
};

/* Writes the ends of a window. Called by one thread. */
static SL_DEVICE void window_close(struct window *w) {
  const float infinity = sl_f32_from_bits(0x7f800000u);
  w->x[0] = -infinity;
  w->x[1 + WINDOW_HITS_MAX] = infinity;
}

/* Number of hits below the limit. */
static SL_DEVICE uint32_t window_before(const struct window *w, float limit) {
  const float *x = w->x + 1;
  uint32_t before = 0;
  SL_UNROLL
  for (uint32_t step = WINDOW_HITS_MAX / 2; step > 0; step /= 2)
    if (x[before + step - 1] < limit) before += step;
  return before + (x[before] < limit ? 1 : 0); /* all hits may be below */
}

/* Key of a pair's triplet, or no_triplet. `after`: the first middle hit at or above the prediction; `before` and
 * `beyond`: distances of the hit before it and of this hit from the prediction. */
static SL_DEVICE uint64_t triplet_key(float max_chi2, uint32_t word, uint32_t after, float before, float beyond) {
  const uint32_t middle = before <= beyond ? after - 1 : after;
  const float distance = sl_min_f32(before, beyond), chi2 = distance * distance;
  const uint64_t key = (uint64_t)sl_bits_from_f32(chi2) << CHI2_BIT | word | middle << MIDDLE_BIT;
  return chi2 < max_chi2 ? key : no_triplet;
}

/* Data of a warp: triplets of a track, and pairs to process. */
struct workspace {
  uint64_t keys[LIST_KEYS], best[FORWARD_TRIPLETS_MAX];
  uint64_t bound; /* upper limit of keys to list: the worst of the best triplets, once there are enough */
  struct kind kinds[SEED_KINDS];
  struct seed seeds[SEEDS_MAX];
  struct window last[SEEDS_MAX], middle[SEEDS_MAX];
  uint16_t pairs[PAIRS_MAX]; /* seed << 14 | first hit, counted over all seeds, << 6 | last hit */
};

/* Number of listed keys below this one. The highest bit of a key is never set. */
static SL_DEVICE uint32_t rank_of(const struct workspace *w, uint32_t count, int64_t key) {
  uint32_t rank = 0;
  for (uint32_t k = 0; k < count; k++) rank += (int64_t)w->keys[k] < key ? 1u : 0u;
  return rank;
}

/* Reduces the list to the best `max` keys, best first; returns its length. */
static SL_DEVICE uint32_t select_best(struct workspace *w, uint32_t count, uint32_t max) {
  const uint32_t length = count < max ? count : max;
  sl_warp_sync();
  for (uint32_t i = sl_warp_lane(); i < count; i += sl_warp_lanes()) {
    const uint64_t key = w->keys[i];
    const uint32_t rank = rank_of(w, count, (int64_t)key);
    if (rank < max) w->best[rank] = key;
    if (rank + 1 == max) w->bound = key;
  }
  sl_warp_sync();
  for (uint32_t i = sl_warp_lane(); i < length; i += sl_warp_lanes()) w->keys[i] = w->best[i];
  sl_warp_sync();
  return length;
}

/* Adds the triplets of the listed pairs to the list of triplets; returns its length. */
static SL_DEVICE uint32_t try_pairs(const struct triplet_seeding_args *a, struct workspace *w, uint32_t pairs,
                                    uint32_t length) {
  sl_warp_sync();
  SL_FOR_WARP (p, pairs) {
    uint64_t key = no_triplet;
    if (p < pairs) {
      const uint32_t pair = w->pairs[p], first = pair >> PAIR_FIRST_BIT & PAIR_FIRST_MASK;
      const uint32_t last = pair & (WINDOW_HITS_MAX - 1), seed = pair >> PAIR_SEED_BIT;
      const struct seed *s = &w->seeds[seed];
      const struct window *middle = &w->middle[seed];
      const float x = middle_x(&w->kinds[seed % SEED_KINDS], a->hits.x[s->first + first], w->last[seed].x[1 + last]);
      const uint32_t after = window_before(middle, x);
      const float before = x - middle->x[after], beyond = middle->x[1 + after] - x;
      key = triplet_key(a->max_chi2, s->word + (first << FIRST_BIT) + last, after, before, beyond);
    }
    if (length + sl_warp_lanes() > LIST_KEYS) length = select_best(w, length, a->max_triplets);
    const uint32_t is_listed = key < w->bound;
    const uint32_t index = sl_warp_append(is_listed, &length);
    if (is_listed) w->keys[index] = key;
  }
  sl_warp_sync();
  return length;
}

/* Lengths of the lists. */
struct lengths {
  uint32_t pairs, keys;
};

/* Windows of two seeds that are loaded together, so that the loads overlap. */
struct opened {
  struct window *to[2 * SEED_KINDS];
  uint32_t first[2 * SEED_KINDS], count[2 * SEED_KINDS];
};

/* Loads half of each window, from hit `begin` on. */
static SL_DEVICE void open_halves(const struct opened *o, const float *hits, uint32_t begin) {
  SL_UNROLL
  SL_FOR_WARP (i, WINDOW_HALF) {
    const uint32_t hit = begin + i;
    float x[2 * SEED_KINDS];
    if (i >= WINDOW_HALF) continue; /* warps of more than WINDOW_HALF threads */
    SL_UNROLL
    for (uint32_t k = 0; k < 2 * SEED_KINDS; k++)
      x[k] = hit < o->count[k] ? hits[o->first[k] + hit] : sl_f32_from_bits(0x7f800000u);
    SL_UNROLL
    for (uint32_t k = 0; k < 2 * SEED_KINDS; k++) o->to[k]->x[1 + hit] = x[k];
  }
}

/* Loads the windows of a side. */
static SL_DEVICE void open_windows(const float *hits, uint32_t side, struct workspace *w) {
  struct opened o;
  uint32_t most = 0;
  SL_UNROLL
  for (uint32_t k = 0; k < SEED_KINDS; k++) {
    const uint32_t seed = side * SEED_KINDS + k;
    const struct seed *s = &w->seeds[seed];
    o.to[2 * k] = &w->last[seed];
    o.first[2 * k] = s->last;
    o.count[2 * k] = s->last_count;
    o.to[2 * k + 1] = &w->middle[seed];
    o.first[2 * k + 1] = s->middle;
    o.count[2 * k + 1] = s->middle_count;
    most |= s->last_count | s->middle_count;
  }
  open_halves(&o, hits, 0);
  if (most >= WINDOW_HALF) open_halves(&o, hits, WINDOW_HALF);
}

/* End of the first hits of each seed, counted over all seeds. */
struct first_ends {
  uint32_t end[SEEDS_MAX];
};

/* Opens the seeds. First hits, also in words, are counted over all seeds. */
static SL_DEVICE struct first_ends open_seeds(const struct triplet_seeding_args *a, uint32_t event, uint32_t item,
                                              uint32_t sides, struct workspace *w) {
  struct first_ends firsts;
  uint32_t end = 0;
  for (uint32_t k = sl_warp_lane(); k < SEEDS_MAX; k += sl_warp_lanes()) {
    const uint32_t side = k / SEED_KINDS, is_valid = side < sides;
    struct seed s = open_seed(a, event, item, k % SEED_KINDS, is_valid ? side : 0);
    if (!is_valid || s.middle_count == 0 || s.last_count == 0) s.first_count = 0;
    w->seeds[k] = s;
  }
  sl_warp_sync();
  SL_UNROLL
  for (uint32_t k = 0; k < SEEDS_MAX; k++) firsts.end[k] = end += w->seeds[k].first_count;
  for (uint32_t side = 0; side < sides; side++) open_windows(a->hits.x, side, w);
  for (uint32_t k = sl_warp_lane(); k < SEEDS_MAX; k += sl_warp_lanes()) {
    struct seed *s = &w->seeds[k];
    const uint32_t begin = k == 0 ? 0 : k == 1 ? firsts.end[0] : k == 2 ? firsts.end[1] : firsts.end[2];
    s->first -= begin;
    s->word -= begin << FIRST_BIT;
  }
  sl_warp_sync();
  return firsts;
}

/* Lists and processes the pairs of all seeds; returns the number of listed triplets. */
static SL_DEVICE uint32_t search_seeds(const struct triplet_seeding_args *a, const struct track *t, uint32_t event,
                                       uint32_t item, uint32_t sides, struct workspace *w) {
  const struct first_ends firsts = open_seeds(a, event, item, sides, w);
  uint32_t pairs = 0, length = 0;
  if (sl_warp_lane() == 0) w->bound = no_triplet;
  SL_FOR_WARP (i, firsts.end[SEEDS_MAX - 1]) {
    uint32_t seed = 0, last = WINDOW_HITS_MAX; /* past the end */
    float high = 0.0f;
    uint32_t pair = 0;
    if (i < firsts.end[SEEDS_MAX - 1]) {
      seed = (i >= firsts.end[0] ? 1u : 0u) + (i >= firsts.end[1] ? 1u : 0u) + (i >= firsts.end[2] ? 1u : 0u);
      const struct seed *s = &w->seeds[seed];
      const struct bounds bounds =
          last_hits(a->forward.constants + FORWARD_X_MAGNET, t, &w->kinds[seed % SEED_KINDS], a->hits.x[s->first + i]);
      last = window_before(&w->last[seed], bounds.low);
      high = bounds.high;
      pair = (seed << PAIR_SEED_BIT | i << PAIR_FIRST_BIT) + last;
    }
    for (uint32_t is_pair = 1; sl_warp_any(is_pair);) {
      if (pairs + STEPS * sl_warp_lanes() > PAIRS_MAX) {
        length = try_pairs(a, w, pairs, length);
        pairs = 0;
      }
      SL_UNROLL
      for (uint32_t k = 0; k < STEPS; k++) {
        is_pair = is_pair && w->last[seed].x[1 + last + k] < high ? 1 : 0; /* the first failure ends the range */
        const uint32_t index = sl_warp_append(is_pair, &pairs);
        if (is_pair) w->pairs[index] = (uint16_t)(pair + k);
      }
      last += STEPS;
      pair += STEPS;
    }
  }
  return try_pairs(a, w, pairs, length);
}

/* Writes the best triplets, best first. */
static SL_DEVICE void write_triplets(const struct triplet_seeding_args *a, uint32_t item, const struct workspace *w,
                                     uint32_t listed) {
  uint32_t *to = a->triplets.triplet + (size_t)item * FORWARD_TRIPLETS_MAX;
  const uint32_t count = listed < a->max_triplets ? listed : a->max_triplets;
  if (sl_warp_lane() == 0) a->triplets.count[item] = (uint8_t)count;
  for (uint32_t i = sl_warp_lane(); i < listed; i += sl_warp_lanes()) {
    const uint64_t key = w->keys[i];
    const uint32_t rank = rank_of(w, listed, (int64_t)key);
    if (rank < count) to[rank] = (uint32_t)key;
  }
  for (uint32_t i = count + sl_warp_lane(); i < FORWARD_TRIPLETS_MAX; i += sl_warp_lanes()) to[i] = 0;
}

static SL_DEVICE void search_track(const struct triplet_seeding_args *a, uint32_t event, uint32_t item,
                                   struct workspace *w) {
  const struct track t = open_track(a, event, item);
  write_triplets(a, item, w, search_seeds(a, &t, event, item, t.is_known ? 1 : 2, w));
  sl_warp_sync(); /* the list is free */
}

SL_KERNEL_REGISTERS(triplet_seeding_find, struct triplet_seeding_args, 48) {
  __shared__ struct workspace workspaces[WARPS];
  const uint32_t warp = sl_warp_index(), warps = sl_block_warps() < WARPS ? sl_block_warps() : WARPS;
  if (warp >= warps) return; /* no block barrier follows */
  for (uint32_t k = sl_warp_lane(); k < 2 * SEEDS_MAX; k += sl_warp_lanes())
    window_close(k < SEEDS_MAX ? &workspaces[warp].middle[k] : &workspaces[warp].last[k - SEEDS_MAX]);
  for (uint32_t k = sl_warp_lane(); k < SEED_KINDS; k += sl_warp_lanes()) workspaces[warp].kinds[k] = open_kind(&a, k);
  sl_warp_sync();
  for (uint32_t i = blockIdx.x; i < PARTS * *a.events.count; i += gridDim.x) {
    const uint32_t event = sl_event_at(&a.events, i / PARTS), end = a.inputs.offsets[event + 1];
    uint32_t item = a.inputs.offsets[event] + i % PARTS * warps + warp;
    for (; item < end; item += PARTS * warps) search_track(&a, event, item, &workspaces[warp]);
  }
}

static int run(const struct sl_launch *l, const struct triplet_seeding_args *a) {
  return SL_LAUNCH(l, triplet_seeding_find, SL_PER_CHUNK((uint64_t)PARTS * l->events_max), *a);
}

SL_ALGORITHM(triplet_seeding, "finds triplets of SciFi hits of tracks", 128, run, SL_CPU_TUNED(triplet_seeding_tuned));
