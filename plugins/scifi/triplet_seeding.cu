/* scifi.triplet_seeding: for each track the best triplets of hits in x layers of the three stations (README.md,
 * "Triplets").
 *
 * For a first hit, the line to a last hit must pass the magnet near the VELO track; this is a range of slopes, and so
 * one of last hits, which are sorted. Of the middle hits, the one nearest to where the pair says is taken. The best
 * ones are those of least chi2, and of equal ones those of the smallest word, which no two share: the order in which
 * they are found does not matter.
 *
 * A warp a track. Its threads take a first hit each, then a pair each of all that these have, and collect triplets in a
 * list in shared memory; when that is full, and in the end, the best of it are ranked. On cpu the bounds of the ranges
 * move along with the first hits, and the list is always that of the best. Reads 60 bytes a track, and the x of some
 * 200 hits, several times but from the caches; writes 81 bytes a track.
 */
#include "forward_math.h"
#include "velo/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS triplet_seeding_args
#define TRIPLET_SEEDING(M)                                                                                    \
  M(IN, inputs, scifi_forward_inputs, "offsets velo_track tx qop", "tracks to search for")                    \
  M(IN, windows, scifi_windows, "first count", "where to search")                                             \
  M(IN, states, velo_end_states, "offsets x z tx", "of all VELO tracks")                                      \
  M(IN, hits, scifi_hits, "offsets x", "the hits that the windows speak of")                                  \
  M(IN, forward, scifi_looking_forward, "z_layer constants", "what the magnet does")                          \
  M(OUT, triplets, scifi_triplets, "for each track", SL_SHARES_OFFSETS(inputs))                               \
  M(U32, max_triplets, 12, 1, 20, "", "triplets of a track that are kept")                                    \
  M(F32, max_chi2, 8.0, 0.0, 1e4, "mm2", "square of the distance of the middle hit from where it should be")  \
  M(F32, max_distance, 10.0, 0.0, 1e4, "mm", "without momentum: from the VELO track, in the magnet's middle") \
  M(F32, max_momentum, 5000.0, 0.0, 1e6, "MeV", "tracks below it bend behind the UT to the side to which before")
SL_ARGUMENTS(triplet_seeding, TRIPLET_SEEDING);

enum {
  SEED_KINDS = 2,
  WINDOW_HITS_MAX = 64, /* 6 bits of a word */
  MIDDLE_BIT = 6,
  FIRST_BIT = 12,
  KIND_BIT = 18,
  SIDE_BIT = 19,
  CHI2_BIT = 32,
  LIST_KEYS = 128,
  WARPS = 8 /* of a block, at most */
};
static const uint64_t no_triplet = UINT64_MAX;

/* A track: where the line through a first and a last hit may pass the magnet. */
struct track {
  float velo_x, velo_tx; /* of the VELO's line in the magnet's middle */
  float range;           /* half of the allowed distance from there */
  float least_slope, most_slope;
  uint32_t is_known; /* 1: its momentum is */
};

/* Which hits a triplet is made of, and what there is to know of their layers. */
struct seed {
  const float *first, *middle, *last; /* x of the hits of the windows */
  uint32_t first_count, middle_count, last_count;
  float lever;                     /* from the magnet to the first layer */
  float length;                    /* from the first layer to the last */
  float per_first, per_difference; /* where the middle hit is for x in the first layer and the difference of the last */
  uint32_t word;
};

static SL_DEVICE struct track open_track(const struct triplet_seeding_args *a, uint32_t event, uint32_t item) {
  const float *c = a->forward.constants, *range = c + SCIFI_X_RANGE, far_away = 1e9f;
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
  const float *hits = a->hits.x + a->hits.offsets[event], *z = a->forward.z_layer;
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
  s.length = z[scifi_x_layer(kind + 4)] - z_first;
  s.per_first = sagitta;
  s.per_difference = (z_middle + -z_first * sagitta) / s.length;
  s.word = kind << KIND_BIT | side << SIDE_BIT;
  return s;
}

/* How far the line of this slope from x in the first layer is from the VELO track in the magnet, and beyond where it
 * should be; how much less that is for a larger slope. */
struct miss {
  float distance, per_slope;
};

static SL_DEVICE struct miss miss_of(const float *c, float x, float lever, float slope) {
  const float t = sl_clamp_f32(slope, -1.0f, 1.0f);
  struct miss m;
  m.distance = x + -lever * slope + -(c[0] + t * (c[1] + t * (c[2] + t * c[3])));
  m.per_slope = lever + (c[1] + t * (2.0f * c[2] + t * (3.0f * c[3])));
  return m;
}

struct bounds {
  float low, high;
};

/* Where the last hit may be for a first one at x: from low on, and before high. With a momentum by Newton's method,
 * whose error is below 0.001 mm for slopes up to 0.5. */
static SL_DEVICE struct bounds last_hits(const float *x_magnet, const struct track *t, const struct seed *s, float x) {
  const float away = x - t->velo_x, slope = away / s->lever;
  float low = slope + -t->range / s->lever, high = slope + t->range / s->lever;
  if (t->is_known) {
    const struct miss m = miss_of(x_magnet, away, s->lever, slope);
    low = slope + (m.distance + -t->range) / m.per_slope;
    high = slope + (m.distance + t->range) / m.per_slope;
    const struct miss at_low = miss_of(x_magnet, away, s->lever, low);
    const struct miss at_high = miss_of(x_magnet, away, s->lever, high);
    low = low + (at_low.distance + -t->range) / at_low.per_slope;
    high = high + (at_high.distance + t->range) / at_high.per_slope;
  }
  struct bounds b;
  b.low = x + sl_max_f32(low, t->least_slope) * s->length;
  b.high = x + sl_min_f32(high, t->most_slope) * s->length;
  return b;
}

static SL_DEVICE float middle_x(const struct seed *s, float first_x, float last_x) {
  return s->per_first * first_x + s->per_difference * (last_x - first_x);
}

/* The key of a pair's triplet, or no_triplet. `after`: the first middle hit that is at x or beyond. */
static SL_DEVICE uint64_t triplet_key(const struct seed *s, float max_chi2, uint32_t first, uint32_t last,
                                      uint32_t after, float x) {
  const float far_away = 1e9f;
  const float before = after > 0 ? x - s->middle[after - 1] : far_away;
  const float beyond = after < s->middle_count ? s->middle[after] - x : far_away;
  const uint32_t middle = before <= beyond ? after - 1 : after;
  const float distance = sl_min_f32(before, beyond), chi2 = distance * distance;
  const uint32_t word = s->word | first << FIRST_BIT | middle << MIDDLE_BIT | last;
  return chi2 < max_chi2 ? (uint64_t)sl_bits_from_f32(chi2) << CHI2_BIT | word : no_triplet;
}

#if defined(SL_TARGET_CPU)
/* The best triplets so far, best first. */
struct best {
  uint64_t keys[SCIFI_TRIPLETS_MAX];
};

static inline uint32_t keep_best(struct best *b, uint32_t count, uint32_t max) {
  (void)b, (void)max;
  return count; /* there are no others */
}

static inline uint32_t add_triplet(struct best *b, uint32_t count, uint32_t max, uint64_t key) {
  if (count == max && key >= b->keys[max - 1]) return count;
  uint32_t place = count < max ? count++ : max - 1;
  for (; place > 0 && b->keys[place - 1] > key; place--) b->keys[place] = b->keys[place - 1];
  b->keys[place] = key;
  return count;
}

/* Moves to the first of values in ascending order that is at x or beyond. */
static inline uint32_t move_to(const float *values, uint32_t count, uint32_t at, float x) {
  while (at < count && values[at] < x) at++;
  while (at > 0 && !(values[at - 1] < x)) at--;
  return at;
}

static inline uint32_t search_seed(const struct triplet_seeding_args *a, const struct track *t, const struct seed *s,
                                   struct best *b, uint32_t count) {
  struct bounds bounds[WINDOW_HITS_MAX];
  uint32_t begin = 0, after = 0;
  for (uint32_t i = 0; i < s->first_count; i++)
    bounds[i] = last_hits(a->forward.constants + SCIFI_X_MAGNET, t, s, s->first[i]);
  for (uint32_t i = 0; i < s->first_count; i++) {
    begin = move_to(s->last, s->last_count, begin, bounds[i].low);
    for (uint32_t k = begin; k < s->last_count && s->last[k] < bounds[i].high; k++) {
      const float x = middle_x(s, s->first[i], s->last[k]);
      after = move_to(s->middle, s->middle_count, after, x);
      const uint64_t key = triplet_key(s, a->max_chi2, i, k, after, x);
      if (key != no_triplet) count = add_triplet(b, count, a->max_triplets, key);
    }
  }
  return count;
}
#else
/* What a warp shares. */
struct best {
  uint64_t keys[LIST_KEYS];
  uint16_t pairs[WINDOW_HITS_MAX + 1]; /* before those of each first hit */
  uint16_t begin[WINDOW_HITS_MAX];     /* the first of its last hits */
  float first[WINDOW_HITS_MAX];        /* x */
};

static SL_DEVICE uint32_t first_from(const float *values, uint32_t begin, uint32_t end, float x) {
  while (begin < end) {
    const uint32_t middle = (begin + end) / 2;
    if (values[middle] < x)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/* Leaves the best `max` of the list, best first; returns how many it has then. */
static SL_DEVICE uint32_t keep_best(struct best *b, uint32_t count, uint32_t max) {
  enum { ROWS = LIST_KEYS / 32 };
  uint64_t keys[ROWS];
  uint32_t ranks[ROWS];
  sl_warp_sync();
  SL_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    const uint32_t i = sl_warp_lane() + r * sl_warp_lanes();
    keys[r] = i < count ? b->keys[i] : no_triplet;
    ranks[r] = i < count ? 0 : max;
    if (i >= count) continue;
    for (uint32_t k = 0; k < count; k++) ranks[r] += b->keys[k] < keys[r] ? 1u : 0u;
  }
  sl_warp_sync();
  SL_UNROLL
  for (uint32_t r = 0; r < ROWS; r++)
    if (ranks[r] < max) b->keys[ranks[r]] = keys[r];
  sl_warp_sync();
  return count < max ? count : max;
}

/* Tries the pairs of the first hits that are noted in `b`, and adds their triplets to the list of `length`. */
static SL_DEVICE uint32_t try_pairs(const struct triplet_seeding_args *a, const struct seed *s, uint32_t firsts,
                                    uint32_t first_index, struct best *b, uint32_t length) {
  const uint32_t pairs = b->pairs[firsts];
  SL_FOR_WARP (p, pairs) {
    uint64_t key = no_triplet;
    if (p < pairs) {
      uint32_t i = 0, end = firsts; /* the last one with so many pairs before it */
      while (end - i > 1) {
        const uint32_t middle = (i + end) / 2;
        if (b->pairs[middle] <= p)
          i = middle;
        else
          end = middle;
      }
      const uint32_t last = b->begin[i] + p - b->pairs[i];
      const float x = middle_x(s, b->first[i], s->last[last]);
      const uint32_t after = first_from(s->middle, 0, s->middle_count, x);
      key = triplet_key(s, a->max_chi2, first_index + i, last, after, x);
    }
    if (length + sl_warp_lanes() > LIST_KEYS) length = keep_best(b, length, a->max_triplets);
    const uint32_t place = sl_warp_append(key != no_triplet, &length);
    if (key != no_triplet) b->keys[place] = key;
  }
  return length;
}

static SL_DEVICE uint32_t search_seed(const struct triplet_seeding_args *a, const struct track *t, const struct seed *s,
                                      struct best *b, uint32_t length) {
  const uint32_t lanes = sl_warp_lanes(), lane = sl_warp_lane();
  for (uint32_t from = 0; from < s->first_count; from += lanes) {
    const uint32_t firsts = s->first_count - from < lanes ? s->first_count - from : lanes;
    uint32_t begin = 0, end = 0;
    float x = 0.0f;
    if (lane < firsts) {
      x = s->first[from + lane];
      const struct bounds bounds = last_hits(a->forward.constants + SCIFI_X_MAGNET, t, s, x);
      begin = first_from(s->last, 0, s->last_count, bounds.low);
      end = first_from(s->last, begin, s->last_count, bounds.high);
    }
    const uint32_t before = sl_warp_exclusive_scan(end - begin);
    sl_warp_sync();
    if (lane < firsts) {
      b->pairs[lane] = (uint16_t)before;
      b->begin[lane] = (uint16_t)begin;
      b->first[lane] = x;
    }
    if (lane == firsts - 1) b->pairs[firsts] = (uint16_t)(before + end - begin);
    sl_warp_sync();
    length = try_pairs(a, s, firsts, from, b, length);
  }
  return length;
}
#endif

static SL_DEVICE void write_triplets(const struct triplet_seeding_args *a, uint32_t item, const struct best *b,
                                     uint32_t count) {
  uint32_t *to = a->triplets.triplet + (size_t)item * SCIFI_TRIPLETS_MAX;
  if (sl_warp_lane() == 0) a->triplets.count[item] = (uint8_t)count;
  for (uint32_t i = sl_warp_lane(); i < SCIFI_TRIPLETS_MAX; i += sl_warp_lanes())
    to[i] = i < count ? (uint32_t)b->keys[i] : 0;
}

static SL_DEVICE void search_track(const struct triplet_seeding_args *a, uint32_t event, uint32_t item,
                                   struct best *best) {
  const struct track t = open_track(a, event, item);
  const uint32_t sides = t.is_known ? 1 : 2;
  uint32_t count = 0;
  for (uint32_t k = 0; k < SEED_KINDS * sides; k++) {
    const struct seed s = open_seed(a, event, item, k / sides, k % sides);
    if (s.first_count > 0 && s.middle_count > 0 && s.last_count > 0) count = search_seed(a, &t, &s, best, count);
  }
  write_triplets(a, item, best, keep_best(best, count, a->max_triplets));
  sl_warp_sync(); /* the list is free */
}

SL_KERNEL(triplet_seeding_find, struct triplet_seeding_args) {
  __shared__ struct best best[WARPS];
  const uint32_t warp = sl_warp_index(), warps = sl_block_warps() < WARPS ? sl_block_warps() : WARPS;
  if (warp >= warps) return; /* no barrier of the block follows */
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t end = a.inputs.offsets[event + 1];
    for (uint32_t item = a.inputs.offsets[event] + warp; item < end; item += warps)
      search_track(&a, event, item, &best[warp]);
  }
}

static int run(const struct sl_launch *l, const struct triplet_seeding_args *a) {
  return SL_LAUNCH(l, triplet_seeding_find, SL_PER_EVENT, *a);
}

SL_ALGORITHM(triplet_seeding, "triplets of SciFi hits of tracks", 128, run);
