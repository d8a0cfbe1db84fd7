/* triplet_seeding.cpu.c: version of forward.triplet_seeding for a CPU; same results as triplet_seeding.cu.
 *
 * For each kind of triplet, eight first hits are processed per vector and their pairs are listed; then eight pairs are
 * processed per vector. The position of a value in a window follows from comparisons with all its hits (some 35), which
 * is cheaper than a bisection. No branch depends on single hits.
 */
#include <sluice/kernel.h>
#include <sluice/vectors.h>

#define TRIPLET_NUMBERS
typedef f32x8 number;
VECTOR_INLINE number least_of(number a, number b) { return f32x8_min(a, b); }
VECTOR_INLINE number most_of(number a, number b) { return f32x8_max(a, b); }
VECTOR_INLINE number number_of(float x) { return f32x8_of(x); }

#include "triplet_seeding.h"

enum {
  PAIRS_MAX = WINDOW_HITS_MAX * WINDOW_HITS_MAX,
  LAST_BITS = 8, /* bits of the last hit in the word of a pair; the first hit is above */
  STEP = 4       /* hits that are compared per step */
};

/* Triplets of a track; windows and pairs of one kind. */
struct workspace {
  uint64_t keys[LIST_KEYS + LANES];
  uint64_t sorted[LIST_KEYS + LANES];
  uint16_t pairs[PAIRS_MAX + 2 * LANES];
  float first[WINDOW_HITS_MAX + 2 * LANES];             /* padded with the last hit */
  float low[WINDOW_HITS_MAX], high[WINDOW_HITS_MAX];    /* range of the last hits of each first hit */
  int32_t from[WINDOW_HITS_MAX], size[WINDOW_HITS_MAX]; /* first pair of each first hit, and number of pairs */
  float last[WINDOW_HITS_MAX + LANES];                  /* padded with infinity */
  float middle[1 + WINDOW_HITS_MAX + LANES];            /* between -infinity and infinity */
};

/* Sorts the list and reduces it to the best `max`; returns its length. */
static uint32_t select_best(struct workspace *w, uint32_t count, uint32_t max) {
  for (uint32_t i = 0; i < LANES; i++) w->keys[count + i] = no_triplet >> 1;
  for (uint32_t base = 0; base < count; base += LANES) {
    i64x4 low, high, rank_low = {0}, rank_high = {0};
    memcpy(&low, w->keys + base, sizeof low);
    memcpy(&high, w->keys + base + LANES / 2, sizeof high);
    for (uint32_t k = 0; k < count; k++) {
      const int64_t key = (int64_t)w->keys[k];
      rank_low -= key < low;
      rank_high -= key < high;
    }
    for (uint32_t i = 0; i < LANES / 2; i++) { /* padding keys sort after all others */
      w->sorted[rank_low[i]] = (uint64_t)low[i];
      w->sorted[rank_high[i]] = (uint64_t)high[i];
    }
  }
  const uint32_t length = count < max ? count : max;
  memcpy(w->keys, w->sorted, length * sizeof *w->keys);
  return length;
}

static inline void copy(float *restrict to, const float *restrict from, uint32_t count) {
  if (count < LANES) {
    for (uint32_t i = 0; i < count; i++) to[i] = from[i];
    return;
  }
  for (uint32_t i = 0; i < count - LANES; i += LANES) f32x8_store(to + i, f32x8_load(from + i));
  f32x8_store(to + count - LANES, f32x8_load(from + count - LANES));
}

static inline void open_windows(const float *x, const struct seed *s, struct workspace *w) {
  const float infinity = sl_f32_from_bits(0x7f800000u), first = x[s->first + s->first_count - 1];
  copy(w->first, x + s->first, s->first_count);
  copy(w->last, x + s->last, s->last_count);
  copy(w->middle + 1, x + s->middle, s->middle_count);
  w->middle[0] = -infinity;
  f32x8_store(w->middle + 1 + s->middle_count, f32x8_of(infinity));
  f32x8_store(w->last + s->last_count, f32x8_of(infinity));
  f32x8_store(w->first + s->first_count, f32x8_of(first));
  f32x8_store(w->first + s->first_count + LANES, f32x8_of(first));
}

/* 16 values that are compared at once, so that hits are loaded half as often. */
struct lanes {
  f32x8 of[2];
};
struct counts {
  i32x8 of[2];
};
VECTOR_INLINE struct lanes load_lanes(const float *p) {
  const struct lanes v = {{f32x8_load(p), f32x8_load(p + LANES)}};
  return v;
}

/* Adds the number of hits, out of STEP, below each value. */
VECTOR_INLINE void count_below(const float *hits, const struct lanes *values, struct counts *counts) {
  SL_UNROLL for (uint32_t k = 0; k < STEP; k++) {
    counts->of[0] -= hits[k] < values->of[0];
    counts->of[1] -= hits[k] < values->of[1];
  }
}

/* Lists all pairs; returns their number. */
static inline uint32_t list_pairs(const struct triplet_seeding_args *a, const struct track *t, const struct seed *s,
                                  const struct kind *kind, struct workspace *w) {
  const u16x8 next = {0, 1, 2, 3, 4, 5, 6, 7};
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  uint32_t count = 0;
  for (uint32_t base = 0; base < s->first_count; base += LANES) {
    const struct bounds b = last_hits(a->forward.constants + FORWARD_X_MAGNET, t, kind, f32x8_load(w->first + base));
    f32x8_store(w->low + base, b.low);
    f32x8_store(w->high + base, b.high);
  }
  for (uint32_t base = 0; base < s->first_count; base += 2 * LANES) {
    const struct lanes low = load_lanes(w->low + base), high = load_lanes(w->high + base);
    struct counts begin = {{{0}, {0}}}, end = {{{0}, {0}}};
    for (uint32_t k = 0; k < s->last_count; k += STEP) {
      count_below(w->last + k, &low, &begin);
      count_below(w->last + k, &high, &end);
    }
    for (uint32_t half = 0; half < 2; half++) {
      const uint32_t at = base + half * LANES;
      const i32x8 first = lane + (int32_t)at, size = end.of[half] - begin.of[half];
      i32x8_store(w->from + at, first << LAST_BITS | begin.of[half]);
      i32x8_store(w->size + at, size & (size > 0));
    }
  }
  for (uint32_t i = 0; i < s->first_count; i++) { /* writes at least eight; the next first hit overwrites the excess */
    const u16x8 pairs = (uint16_t)w->from[i] + next;
    const uint32_t size = (uint32_t)w->size[i];
    memcpy(w->pairs + count, &pairs, sizeof pairs);
    for (uint32_t k = LANES; k < size; k += LANES) {
      const u16x8 more = pairs + (uint16_t)k;
      memcpy(w->pairs + count + k, &more, sizeof more);
    }
    count += size;
  }
  return count;
}

/* Eight pairs, with the predicted x of their middle hits. */
struct listed_pairs {
  i32x8 first, last;
  f32x8 x;
};
VECTOR_INLINE struct listed_pairs load_pairs(const struct kind *kind, const struct workspace *w, uint32_t p,
                                             uint32_t pairs) {
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7}, is_valid = lane < (int32_t)(pairs - p);
  struct listed_pairs l;
  u16x8 listed;
  memcpy(&listed, w->pairs + p, sizeof listed);
  const i32x8 pair = __builtin_convertvector(listed, i32x8) & is_valid;
  l.first = pair >> LAST_BITS;
  l.last = pair & ((1 << LAST_BITS) - 1);
  l.x = middle_x(kind, f32x8_gather(w->first, l.first), f32x8_gather(w->last, l.last));
  return l;
}

/* Adds the triplets of up to eight pairs (`count`) to the list; the middle hit is next to number `after`. Returns the
 * length of the list. */
VECTOR_INLINE uint32_t add_triplets(const struct triplet_seeding_args *a, const struct seed *s, struct workspace *w,
                                    const struct listed_pairs *l, i32x8 after, int32_t count, uint32_t length) {
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  const f32x8 before = l->x - f32x8_gather(w->middle, after), beyond = f32x8_gather(w->middle, after + 1) - l->x;
  const i32x8 is_before = before <= beyond;
  const f32x8 distance = f32x8_select(is_before, before, beyond), chi2 = distance * distance;
  const i32x8 middle = after + is_before;
  const i32x8 word = l->first << FIRST_BIT | middle << MIDDLE_BIT | l->last | (int32_t)s->word;
  const i32x8 is_listed = (chi2 < a->max_chi2) & (lane < count);
  return length + i32x8_pack_words(w->keys + length, word, (i32x8)chi2, is_listed);
}

/* Processes 16 pairs from p on; returns the length of the list of triplets. */
static inline uint32_t try_pairs(const struct triplet_seeding_args *a, const struct seed *s, const struct kind *kind,
                                 struct workspace *w, uint32_t p, uint32_t pairs, uint32_t length) {
  const struct listed_pairs low = load_pairs(kind, w, p, pairs), high = load_pairs(kind, w, p + LANES, pairs);
  const struct lanes x = {{low.x, high.x}};
  struct counts after = {{{0}, {0}}};
  for (uint32_t k = 0; k < s->middle_count; k += STEP) count_below(w->middle + 1 + k, &x, &after);
  length = add_triplets(a, s, w, &low, after.of[0], (int32_t)(pairs - p), length);
  if (pairs - p <= LANES) return length;
  return add_triplets(a, s, w, &high, after.of[1], (int32_t)(pairs - p - LANES), length);
}

/* Adds the triplets of a kind to the list; returns its length. */
static inline uint32_t search_seed(const struct triplet_seeding_args *a, const struct track *t, const struct seed *s,
                                   const struct kind *kind, struct workspace *w, uint32_t length) {
  open_windows(a->hits.x, s, w);
  const uint32_t pairs = list_pairs(a, t, s, kind, w);
  for (uint32_t p = 0; p < pairs; p += 2 * LANES) {
    if (length + 2 * LANES > LIST_KEYS) length = select_best(w, length, a->max_triplets);
    length = try_pairs(a, s, kind, w, p, pairs, length);
  }
  return length;
}

static void search_track(const struct triplet_seeding_args *a, const struct kind *kinds, uint32_t event, uint32_t item,
                         struct workspace *w) {
  const struct track t = open_track(a, event, item);
  const uint32_t sides = t.is_known ? 1 : 2;
  uint32_t *to = a->triplets.triplet + (size_t)item * FORWARD_TRIPLETS_MAX, length = 0;
  for (uint32_t k = 0; k < SEED_KINDS * sides; k++) {
    const struct seed s = open_seed(a, event, item, k / sides, k % sides);
    if (s.first_count > 0 && s.middle_count > 0 && s.last_count > 0)
      length = search_seed(a, &t, &s, &kinds[k / sides], w, length);
  }
  const uint32_t count = select_best(w, length, a->max_triplets);
  a->triplets.count[item] = (uint8_t)count;
  for (uint32_t i = 0; i < FORWARD_TRIPLETS_MAX; i++) to[i] = i < count ? (uint32_t)w->keys[i] : 0;
}

int triplet_seeding_tuned(const struct sl_launch *l, const void *args) {
  const struct triplet_seeding_args *a = (const struct triplet_seeding_args *)args;
  const struct kind kinds[SEED_KINDS] = {open_kind(a, 0), open_kind(a, 1)};
  struct workspace w;
  (void)l;
  SL_FOR_EVENTS (event, a->events)
    for (uint32_t item = a->inputs.offsets[event]; item < a->inputs.offsets[event + 1]; item++)
      search_track(a, kinds, event, item, &w);
  return SL_OK;
}
