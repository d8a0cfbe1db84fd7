/* scifi.triplet_seeding: for each track the best triplets of hits in x layers of the three stations (README.md,
 * "Triplets").
 *
 * For a first hit, the line to a last hit must pass the magnet near the VELO track; this is a range of slopes, and so
 * one of last hits, which are sorted. Of the middle hits, the one nearest to where the pair says is taken. The best
 * ones are those of least chi2, and of equal ones those of the smallest word, which no two share: the order in which
 * they are found does not matter.
 *
 * A warp a track. Its threads take a first hit each and list its pairs, those of all layers and sides one after
 * another, since they are few: some ten of 25 hits in each window. Then they take a pair each, and list triplets; when
 * that list is full, and in the end, the best of it are ranked. The x of last and middle hits are brought to shared
 * memory once. Reads 60 bytes a track, and the x of some 150 hits; writes 81 bytes a track.
 */
#include "triplet_seeding.h"

enum {
  SEEDS_MAX = 2 * SEED_KINDS, /* of both sides */
  HIT_MASK = WINDOW_HITS_MAX - 1,
  PAIRS_MAX = 256,
#if defined(SL_TARGET_CPU)
  WARPS = 1,
  PARTS = 1
#else
  WARPS = 4, /* of a block, at most */
  PARTS = 4  /* blocks that an event's tracks are dealt to */
#endif
};

/* The x of a window's hits as a warp has them at hand, from x[1] on: what is before them is below all, what is after
 * them above all, so that no search asks where they end. */
struct window {
  float x[1 + WINDOW_HITS_MAX + 1];
};

/* Its ends, which stay. One thread's. */
static SL_DEVICE void window_close(struct window *w) {
  const float infinity = sl_f32_from_bits(0x7f800000u);
  w->x[0] = -infinity;
  w->x[1 + WINDOW_HITS_MAX] = infinity;
}

/* Brings a window's hits to a warp, whose lanes are a part of WINDOW_HITS_MAX. */
static SL_DEVICE void window_open(struct window *w, const float *hits, uint32_t first, uint32_t count) {
  SL_UNROLL
  SL_FOR_WARP (i, WINDOW_HITS_MAX) w->x[1 + i] = i < count ? hits[first + i] : sl_f32_from_bits(0x7f800000u);
}

/* How many of its hits are before the limit. */
static SL_DEVICE uint32_t window_before(const struct window *w, float limit) {
  const float *x = w->x + 1;
  uint32_t before = 0;
  SL_UNROLL
  for (uint32_t step = WINDOW_HITS_MAX / 2; step > 0; step /= 2)
    if (x[before + step - 1] < limit) before += step;
  return before + (x[before] < limit ? 1 : 0); /* it may be all of them */
}

/* The key of a pair's triplet, or no_triplet. `after`: the first middle hit where it should be or beyond; `before` and
 * `beyond`: how far from there the one before it and this one are. */
static SL_DEVICE uint64_t triplet_key(float max_chi2, uint32_t word, uint32_t after, float before, float beyond) {
  const uint32_t middle = before <= beyond ? after - 1 : after;
  const float distance = sl_min_f32(before, beyond), chi2 = distance * distance;
  const uint64_t key = (uint64_t)sl_bits_from_f32(chi2) << CHI2_BIT | word | middle << MIDDLE_BIT;
  return chi2 < max_chi2 ? key : no_triplet;
}

/* Triplets of a track, and pairs that are still to be tried: what a warp shares. */
struct workspace {
  uint64_t keys[LIST_KEYS], best[SCIFI_TRIPLETS_MAX];
  uint64_t bound; /* of what the list takes: once there are triplets enough, the worst one of the best */
  struct seed seeds[SEEDS_MAX];
  struct window last, middle[SEEDS_MAX]; /* of the seed whose pairs are listed; of each seed */
  uint16_t pairs[PAIRS_MAX];             /* seed << 12 | first hit << 6 | last hit */
};

/* Leaves the best `max` of the list, best first; returns how many it has then. */
static SL_DEVICE uint32_t keep_best(struct workspace *w, uint32_t count, uint32_t max) {
  const uint32_t kept = count < max ? count : max;
  sl_warp_sync();
  for (uint32_t i = sl_warp_lane(); i < count; i += sl_warp_lanes()) {
    const int64_t key = (int64_t)w->keys[i]; /* whose uppermost bit is not set */
    uint32_t rank = 0;
    for (uint32_t k = 0; k < count; k++) rank += (int64_t)w->keys[k] < key ? 1u : 0u;
    if (rank < max) w->best[rank] = (uint64_t)key;
    if (rank + 1 == max) w->bound = (uint64_t)key;
  }
  sl_warp_sync();
  for (uint32_t i = sl_warp_lane(); i < kept; i += sl_warp_lanes()) w->keys[i] = w->best[i];
  sl_warp_sync();
  return kept;
}

/* Tries the pairs that are listed, and adds their triplets to the list of `length`; returns how long it is then. */
static SL_DEVICE uint32_t try_pairs(const struct triplet_seeding_args *a, struct workspace *w, uint32_t pairs,
                                    uint32_t length) {
  sl_warp_sync();
  SL_FOR_WARP (p, pairs) {
    uint64_t key = no_triplet;
    if (p < pairs) {
      const uint32_t pair = w->pairs[p], first = pair >> MIDDLE_BIT & HIT_MASK, last = pair & HIT_MASK;
      const struct seed *s = &w->seeds[pair >> FIRST_BIT];
      const float *hits = a->hits.x, x = middle_x(s, hits[s->first + first], hits[s->last + last]);
      const struct window *middle = &w->middle[pair >> FIRST_BIT];
      const uint32_t after = window_before(middle, x);
      const float before = x - middle->x[after], beyond = middle->x[1 + after] - x;
      key = triplet_key(a->max_chi2, s->word | first << FIRST_BIT | last, after, before, beyond);
    }
    if (length + sl_warp_lanes() > LIST_KEYS) length = keep_best(w, length, a->max_triplets);
    const uint32_t is_wanted = key < w->bound;
    const uint32_t place = sl_warp_append(is_wanted, &length);
    if (is_wanted) w->keys[place] = key;
  }
  sl_warp_sync();
  return length;
}

/* Pairs that are listed, and triplets. */
struct lengths {
  uint32_t pairs, keys;
};

/* Lists the pairs of a seed; when the list is full they are tried. */
static SL_DEVICE struct lengths list_pairs(const struct triplet_seeding_args *a, const struct track *t, uint32_t seed,
                                           struct workspace *w, struct lengths length) {
  const struct seed *s = &w->seeds[seed];
  const uint32_t firsts = s->middle_count > 0 ? s->first_count : 0;
  const float *hits = a->hits.x;
  if (firsts == 0) return length;
  sl_warp_sync(); /* the last hits of the seed before are done with */
  window_open(&w->last, hits, s->last, s->last_count);
  window_open(&w->middle[seed], hits, s->middle, s->middle_count);
  sl_warp_sync();
  SL_FOR_WARP (i, firsts) {
    uint32_t last = WINDOW_HITS_MAX;
    float high = 0.0f;
    if (i < firsts) {
      const struct bounds bounds = last_hits(a->forward.constants + SCIFI_X_MAGNET, t, s, hits[s->first + i]);
      last = window_before(&w->last, bounds.low);
      high = bounds.high;
    }
    for (;;) {
      const uint32_t is_pair = w->last.x[1 + last] < high ? 1 : 0;
      if (!sl_warp_any(is_pair)) break;
      if (length.pairs + sl_warp_lanes() > PAIRS_MAX) {
        length.keys = try_pairs(a, w, length.pairs, length.keys);
        length.pairs = 0;
      }
      const uint32_t place = sl_warp_append(is_pair, &length.pairs);
      if (is_pair) w->pairs[place] = (uint16_t)(seed << FIRST_BIT | i << MIDDLE_BIT | last);
      last += is_pair;
    }
  }
  return length;
}

static SL_DEVICE uint32_t search_seeds(const struct triplet_seeding_args *a, const struct track *t, uint32_t event,
                                       uint32_t item, uint32_t sides, struct workspace *w) {
  struct lengths length = {0, 0};
  if (sl_warp_lane() == 0) w->bound = no_triplet;
  for (uint32_t k = sl_warp_lane(); k < SEED_KINDS * sides; k += sl_warp_lanes())
    w->seeds[k] = open_seed(a, event, item, k / sides, k % sides);
  sl_warp_sync();
  for (uint32_t k = 0; k < SEED_KINDS * sides; k++) length = list_pairs(a, t, k, w, length);
  return try_pairs(a, w, length.pairs, length.keys);
}

static SL_DEVICE void write_triplets(const struct triplet_seeding_args *a, uint32_t item, const struct workspace *w,
                                     uint32_t count) {
  uint32_t *to = a->triplets.triplet + (size_t)item * SCIFI_TRIPLETS_MAX;
  if (sl_warp_lane() == 0) a->triplets.count[item] = (uint8_t)count;
  for (uint32_t i = sl_warp_lane(); i < SCIFI_TRIPLETS_MAX; i += sl_warp_lanes())
    to[i] = i < count ? (uint32_t)w->keys[i] : 0;
}

static SL_DEVICE void search_track(const struct triplet_seeding_args *a, uint32_t event, uint32_t item,
                                   struct workspace *w) {
  const struct track t = open_track(a, event, item);
  const uint32_t count = search_seeds(a, &t, event, item, t.is_known ? 1 : 2, w);
  write_triplets(a, item, w, keep_best(w, count, a->max_triplets));
  sl_warp_sync(); /* the list is free */
}

SL_KERNEL(triplet_seeding_find, struct triplet_seeding_args) {
  __shared__ struct workspace workspaces[WARPS];
  const uint32_t warp = sl_warp_index(), warps = sl_block_warps() < WARPS ? sl_block_warps() : WARPS;
  if (warp >= warps) return; /* no barrier of the block follows */
  for (uint32_t k = sl_warp_lane(); k <= SEEDS_MAX; k += sl_warp_lanes())
    window_close(k < SEEDS_MAX ? &workspaces[warp].middle[k] : &workspaces[warp].last);
  for (uint32_t i = blockIdx.x; i < PARTS * *a.events.count; i += gridDim.x) {
    const uint32_t event = sl_event_at(&a.events, i / PARTS), end = a.inputs.offsets[event + 1];
    uint32_t item = a.inputs.offsets[event] + i % PARTS * warps + warp;
    for (; item < end; item += PARTS * warps) search_track(&a, event, item, &workspaces[warp]);
  }
}

static int run(const struct sl_launch *l, const struct triplet_seeding_args *a) {
  return SL_LAUNCH(l, triplet_seeding_find, SL_PER_CHUNK((uint64_t)PARTS * l->events_max), *a);
}

SL_ALGORITHM(triplet_seeding, "triplets of SciFi hits of tracks", 128, run, SL_TUNED(TRIPLET_SEEDING_TUNED));
