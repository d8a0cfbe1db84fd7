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
 * that list is full, and in the end, the best of it are ranked. On cpu first hits and pairs are taken eight at a time,
 * and hits are searched by comparing all of a window. Reads 60 bytes a track, and the x of some 150 hits, several times
 * but from the caches; writes 81 bytes a track.
 */
#include "forward_math.h"
#include "sorted_x.h"

#include <sluice/kernel.h>

#define SL_ARGS triplet_seeding_args
#define TRIPLET_SEEDING(M)                                                                                    \
  M(IN, inputs, scifi_forward_inputs, "offsets velo_track tx qop", "tracks to search for")                    \
  M(IN, windows, scifi_windows, "first count", "where to search")                                             \
  M(IN, states, velo_end_states, "offsets x z tx", "of all VELO tracks")                                      \
  M(IN, hits, scifi_hits, "offsets x", "the hits that the windows speak of")                                  \
  M(IN, forward, scifi_looking_forward, "z_layer constants", "what the magnet does")                          \
  M(OUT, triplets, scifi_triplets, "for each track", SL_SHARES_OFFSETS(inputs))                               \
  M(U32, max_triplets, 20, 1, 20, "", "triplets of a track that are kept")                                    \
  M(F32, max_chi2, 8.0, 0.0, 1e4, "mm2", "square of the distance of the middle hit from where it should be")  \
  M(F32, max_distance, 10.0, 0.0, 1e4, "mm", "without momentum: from the VELO track, in the magnet's middle") \
  M(F32, max_momentum, 5000.0, 0.0, 1e6, "MeV", "tracks below it bend behind the UT to the side to which before")
SL_ARGUMENTS(triplet_seeding, TRIPLET_SEEDING);

enum {
  SEED_KINDS = 2,
  SEEDS_MAX = 2 * SEED_KINDS, /* of both sides */
  WINDOW_HITS_MAX = 64,       /* 6 bits of a word */
  MIDDLE_BIT = 6,
  FIRST_BIT = 12,
  KIND_BIT = 18,
  SIDE_BIT = 19,
  CHI2_BIT = 32,
  LIST_KEYS = 128,
#if defined(SL_TARGET_CPU)
  LANES = 8,
  PAIRS_MAX = WINDOW_HITS_MAX * WINDOW_HITS_MAX,
  WARPS = 1,
  PARTS = 1
#else
  HIT_MASK = WINDOW_HITS_MAX - 1,
  PAIRS_MAX = 256,
  WARPS = 4, /* of a block, at most */
  PARTS = 4  /* blocks that an event's tracks are dealt to */
#endif
};
static const uint64_t no_triplet = UINT64_MAX;
static const float far_away = 1e9f; /* mm */

/* A track: where the line through a first and a last hit may pass the magnet. */
struct track {
  float velo_x, velo_tx; /* of the VELO's line in the magnet's middle */
  float range;           /* half of the allowed distance from there */
  float least_slope, most_slope;
  uint32_t is_known; /* 1: its momentum is */
};

/* Which hits a triplet is made of, and what there is to know of their layers. */
struct seed {
  uint32_t first, middle, last; /* where the windows' hits begin: numbers, since pointers in shared memory are slower */
  uint32_t first_count, middle_count, last_count;
  float lever, per_lever;          /* from the magnet to the first layer */
  float length;                    /* from the first layer to the last */
  float per_first, per_difference; /* where the middle hit is for x in the first layer and the difference of the last */
  uint32_t word;
};

static SL_DEVICE struct track open_track(const struct triplet_seeding_args *a, uint32_t event, uint32_t item) {
  const float *c = a->forward.constants, *range = c + SCIFI_X_RANGE;
  const uint32_t state = a->states.offsets[event] + a->inputs.velo_track[item];
  const float qop = a->inputs.qop[item], size = sl_abs_f32(qop), tx = a->inputs.tx[item];
  struct track t;
  t.velo_tx = a->states.tx[state];
  t.velo_x = a->states.x[state] + t.velo_tx * (c[SCIFI_Z_MAGNET] - a->states.z[state]);
  t.is_known = qop != 0.0f ? 1u : 0u;
  t.range = range[0] + (range[1] - range[0]) * sl_min_f32(1.0f, size / c[SCIFI_X_RANGE_QOP]);
  if (!t.is_known) t.range = a->max_distance;
  const uint32_t is_slow = size * a->max_momentum > 1.0f;
  t.least_slope = is_slow && tx > t.velo_tx ? t.velo_tx : -far_away;
  t.most_slope = is_slow && tx < t.velo_tx ? t.velo_tx : far_away;
  return t;
}

/* Of kind 0 (layers 0, 4 and 8) or 1 (3, 7 and 11), in the windows on a side. */
static SL_DEVICE struct seed open_seed(const struct triplet_seeding_args *a, uint32_t event, uint32_t item,
                                       uint32_t kind, uint32_t side) {
  const size_t place = (size_t)item * SCIFI_WINDOWS + SCIFI_LAYER_WINDOWS * kind + side;
  const uint16_t *first = a->windows.first + place, *count = a->windows.count + place;
  const uint32_t middle = 2 * SCIFI_LAYER_WINDOWS, last = 4 * SCIFI_LAYER_WINDOWS; /* windows further on */
  const uint32_t hits = a->hits.offsets[event];
  const float *z = a->forward.z_layer;
  const float z_first = z[scifi_x_layer(kind)], z_middle = z[scifi_x_layer(kind + 2)];
  const float sagitta = a->forward.constants[SCIFI_SAGITTA + kind];
  struct seed s;
  s.first = hits + first[0];
  s.middle = hits + first[middle];
  s.last = hits + first[last];
  s.first_count = count[0] < WINDOW_HITS_MAX ? count[0] : WINDOW_HITS_MAX;
  s.middle_count = count[middle] < WINDOW_HITS_MAX ? count[middle] : WINDOW_HITS_MAX;
  s.last_count = count[last] < WINDOW_HITS_MAX ? count[last] : WINDOW_HITS_MAX;
  s.lever = z_first - a->forward.constants[SCIFI_Z_MAGNET];
  s.per_lever = 1.0f / s.lever;
  s.length = z[scifi_x_layer(kind + 4)] - z_first;
  s.per_first = sagitta;
  s.per_difference = (z_middle + -z_first * sagitta) / s.length;
  s.word = kind << KIND_BIT | side << SIDE_BIT;
  return s;
}

/* One x, or on cpu those of eight first hits: what a thread looks at at a time. */
#if defined(SL_TARGET_CPU)
typedef float number __attribute__((vector_size(32)));
typedef int32_t lanes __attribute__((vector_size(32)));
static inline number chosen(lanes wanted, number a, number b) {
  return (number)(((lanes)a & wanted) | ((lanes)b & ~wanted));
}
typedef uint16_t halves __attribute__((vector_size(16)));
static inline number number_of(float x) { return x - (number){0}; }
#else
typedef float number;
static SL_DEVICE number chosen(int wanted, number a, number b) { return wanted ? a : b; }
static SL_DEVICE number number_of(float x) { return x; }
#endif

/* The slope, or the end of [-1, 1] that it is beyond. */
static SL_DEVICE number bounded(number slope) {
  const number low = number_of(-1.0f), high = number_of(1.0f), above = chosen(slope < low, low, slope);
  return chosen(above > high, high, above);
}

/* How far the line of this slope from x in the first layer is from the VELO track in the magnet, beyond where it should
 * be. `away`: x less that of the VELO track. */
static SL_DEVICE number miss_of(const float *c, number away, float lever, number slope) {
  const number t = bounded(slope);
  return away + -lever * slope + -(c[0] + t * (c[1] + t * (c[2] + t * c[3])));
}

struct bounds {
  number low, high;
};

/* Where the last hit may be for a first one at x: from low on, and before high. With a momentum in two steps towards
 * the slopes at which the track is off by the range, both with the derivative at the first slope; what they leave is
 * below 0.02 mm in the magnet for slopes up to 0.5. */
static SL_DEVICE struct bounds last_hits(const float *x_magnet, const struct track *t, const struct seed *s, number x) {
  const number away = x + -t->velo_x, slope = away * s->per_lever;
  const number least = number_of(t->least_slope), most = number_of(t->most_slope);
  number low = slope + -t->range * s->per_lever, high = slope + t->range * s->per_lever;
  if (t->is_known) {
    const number at = bounded(slope);
    const number per_slope = s->lever + (x_magnet[1] + at * (2.0f * x_magnet[2] + at * (3.0f * x_magnet[3])));
    const number step = 1.0f / per_slope, miss = miss_of(x_magnet, away, s->lever, slope);
    low = slope + (miss + -t->range) * step;
    high = slope + (miss + t->range) * step;
    low = low + (miss_of(x_magnet, away, s->lever, low) + -t->range) * step;
    high = high + (miss_of(x_magnet, away, s->lever, high) + t->range) * step;
  }
  struct bounds b;
  b.low = x + chosen(low > least, low, least) * s->length;
  b.high = x + chosen(high < most, high, most) * s->length;
  return b;
}

static SL_DEVICE float middle_x(const struct seed *s, float first_x, float last_x) {
  return s->per_first * first_x + s->per_difference * (last_x - first_x);
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
#if defined(SL_TARGET_CPU)
  uint16_t pairs[PAIRS_MAX + LANES];    /* first hit << 8 | last hit */
  float middle[WINDOW_HITS_MAX + 2];    /* x of the middle hits, between two that are far away */
  float first[WINDOW_HITS_MAX + LANES]; /* x of the first hits */
#else
  struct seed seeds[SEEDS_MAX];
  uint16_t pairs[PAIRS_MAX]; /* seed << 12 | first hit << 6 | last hit */
#endif
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
  }
  sl_warp_sync();
  for (uint32_t i = sl_warp_lane(); i < kept; i += sl_warp_lanes()) w->keys[i] = w->best[i];
  sl_warp_sync();
  return kept;
}

#if defined(SL_TARGET_CPU)
static inline number load(const float *values) {
  number v;
  memcpy(&v, values, sizeof v);
  return v;
}

static inline void store_pairs(uint16_t *to, uint32_t first_pair) {
  const halves listed = (uint16_t)first_pair + (halves){0, 1, 2, 3, 4, 5, 6, 7};
  memcpy(to, &listed, sizeof listed);
}

/* Lists the pairs of eight first hits from `base` on, from `count` on; returns how many there are then. */
static inline uint32_t list_pairs(const float *last, const struct seed *s, const struct bounds *b, struct workspace *w,
                                  uint32_t base, uint32_t count) {
  lanes begin = {0}, end = {0};
  for (uint32_t k = 0; k < s->last_count; k++) {
    begin -= last[k] < b->low;
    end -= last[k] < b->high;
  }
  const lanes size = (end - begin) & (end > begin);
  for (uint32_t i = 0; i < LANES; i++) { /* eight of each, of which most are overwritten by the next */
    const uint32_t from = (base + i) << 8 | (uint32_t)begin[i],
                   pairs = base + i < s->first_count ? (uint32_t)size[i] : 0;
    store_pairs(w->pairs + count, from);
    for (uint32_t k = LANES; k < pairs; k += LANES) store_pairs(w->pairs + count + k, from + k);
    count += pairs;
  }
  return count;
}

/* Tries eight pairs from p on; beyond the list's end there are others of some kind. */
static inline uint32_t try_pairs(const struct triplet_seeding_args *a, const struct seed *s, struct workspace *w,
                                 uint32_t p, uint32_t pairs, uint32_t length) {
  const float *middle_hits = a->hits.x + s->middle, *last = a->hits.x + s->last;
  float x[LANES];
  lanes after = {0};
  for (uint32_t i = 0; i < LANES; i++) {
    const uint32_t pair = w->pairs[p + i < pairs ? p + i : p];
    x[i] = middle_x(s, w->first[pair >> 8], last[pair & 0xFF]);
  }
  const number all = load(x);
  for (uint32_t k = 0; k < s->middle_count; k++) after -= middle_hits[k] < all;
  for (uint32_t i = 0; i < LANES; i++) {
    const uint32_t pair = w->pairs[p + i], word = s->word | pair >> 8 << FIRST_BIT | (pair & 0xFF);
    const float *middle = w->middle + after[i];
    const uint64_t key = triplet_key(a->max_chi2, word, (uint32_t)after[i], x[i] - middle[0], middle[1] - x[i]);
    w->keys[length] = key;
    length += p + i < pairs && key != no_triplet ? 1u : 0u;
  }
  return length;
}

static inline uint32_t search_seed(const struct triplet_seeding_args *a, const struct track *t, const struct seed *s,
                                   struct workspace *w, uint32_t length) {
  const float *x_magnet = a->forward.constants + SCIFI_X_MAGNET;
  const float *first = a->hits.x + s->first, *middle = a->hits.x + s->middle, *last = a->hits.x + s->last;
  const uint32_t padded = (s->first_count + LANES - 1) / LANES * LANES;
  uint32_t pairs = 0;
  for (uint32_t i = 0; i < padded; i++) w->first[i] = first[i < s->first_count ? i : s->first_count - 1];
  for (uint32_t i = 0; i < s->middle_count; i++) w->middle[i + 1] = middle[i];
  w->middle[0] = -far_away;
  w->middle[s->middle_count + 1] = far_away;
  for (uint32_t base = 0; base < padded; base += LANES) {
    const struct bounds b = last_hits(x_magnet, t, s, load(w->first + base));
    pairs = list_pairs(last, s, &b, w, base, pairs);
  }
  for (uint32_t p = 0; p < pairs; p += LANES) {
    if (length + LANES >= LIST_KEYS) length = keep_best(w, length, a->max_triplets);
    length = try_pairs(a, s, w, p, pairs, length);
  }
  return length;
}

/* Returns how many triplets are in the list. */
static inline uint32_t search_seeds(const struct triplet_seeding_args *a, const struct track *t, uint32_t event,
                                    uint32_t item, uint32_t sides, struct workspace *w) {
  uint32_t length = 0;
  for (uint32_t k = 0; k < SEED_KINDS * sides; k++) {
    const struct seed s = open_seed(a, event, item, k / sides, k % sides);
    if (s.first_count > 0 && s.middle_count > 0 && s.last_count > 0) length = search_seed(a, t, &s, w, length);
  }
  return length;
}
#else
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
      const uint32_t after = scifi_first_from(hits, s->middle, s->middle + s->middle_count, x) - s->middle;
      const float before = after > 0 ? x - hits[s->middle + after - 1] : far_away;
      const float beyond = after < s->middle_count ? hits[s->middle + after] - x : far_away;
      key = triplet_key(a->max_chi2, s->word | first << FIRST_BIT | last, after, before, beyond);
    }
    if (length + sl_warp_lanes() > LIST_KEYS) length = keep_best(w, length, a->max_triplets);
    const uint32_t place = sl_warp_append(key != no_triplet, &length);
    if (key != no_triplet) w->keys[place] = key;
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
  const uint32_t firsts = s->middle_count > 0 ? s->first_count : 0, end = s->last + s->last_count;
  const float *hits = a->hits.x;
  SL_FOR_WARP (i, firsts) {
    uint32_t last = end;
    float high = 0.0f;
    if (i < firsts) {
      const struct bounds bounds = last_hits(a->forward.constants + SCIFI_X_MAGNET, t, s, hits[s->first + i]);
      last = scifi_first_from(hits, s->last, end, bounds.low);
      high = bounds.high;
    }
    for (;; last++) {
      const uint32_t is_pair = last < end && hits[last] < high;
      if (!sl_warp_any(is_pair)) break;
      if (length.pairs + sl_warp_lanes() > PAIRS_MAX) {
        length.keys = try_pairs(a, w, length.pairs, length.keys);
        length.pairs = 0;
      }
      const uint32_t place = sl_warp_append(is_pair, &length.pairs);
      if (is_pair) w->pairs[place] = (uint16_t)(seed << FIRST_BIT | i << MIDDLE_BIT | (last - s->last));
    }
  }
  return length;
}

static SL_DEVICE uint32_t search_seeds(const struct triplet_seeding_args *a, const struct track *t, uint32_t event,
                                       uint32_t item, uint32_t sides, struct workspace *w) {
  struct lengths length = {0, 0};
  for (uint32_t k = sl_warp_lane(); k < SEED_KINDS * sides; k += sl_warp_lanes())
    w->seeds[k] = open_seed(a, event, item, k / sides, k % sides);
  sl_warp_sync();
  for (uint32_t k = 0; k < SEED_KINDS * sides; k++) length = list_pairs(a, t, k, w, length);
  return try_pairs(a, w, length.pairs, length.keys);
}
#endif

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
  for (uint32_t i = blockIdx.x; i < PARTS * *a.events.count; i += gridDim.x) {
    const uint32_t event = sl_event_at(&a.events, i / PARTS), end = a.inputs.offsets[event + 1];
    uint32_t item = a.inputs.offsets[event] + i % PARTS * warps + warp;
    for (; item < end; item += PARTS * warps) search_track(&a, event, item, &workspaces[warp]);
  }
}

static int run(const struct sl_launch *l, const struct triplet_seeding_args *a) {
  return SL_LAUNCH(l, triplet_seeding_find, SL_PER_CHUNK((uint64_t)PARTS * l->events_max), *a);
}

SL_ALGORITHM(triplet_seeding, "triplets of SciFi hits of tracks", 128, run);
