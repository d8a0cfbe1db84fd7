/* triplet_seeding.cpu.c: scifi.triplet_seeding shaped for a CPU; same results as triplet_seeding.cu.
 *
 * Of a kind of triplet, first hits are taken eight at a time, a lane each, and their pairs listed; then pairs are taken
 * eight at a time. Where a hit is among those of a window follows from comparing all of these, which is cheaper than a
 * bisection for the some 35 that there are. Nothing branches on what single hits are.
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
  LAST_BITS = 8 /* of a pair; the first hit is above them */
};
typedef uint16_t u16x8 __attribute__((vector_size(16)));

/* Triplets of a track, and of one kind of them the windows and pairs. */
struct workspace {
  uint64_t keys[LIST_KEYS + LANES];
  uint64_t sorted[LIST_KEYS + LANES];
  uint16_t pairs[PAIRS_MAX + LANES];
  float first[WINDOW_HITS_MAX + LANES];                 /* the last one is repeated */
  float low[WINDOW_HITS_MAX], high[WINDOW_HITS_MAX];    /* bounds of the last hits of each first one */
  int32_t from[WINDOW_HITS_MAX], size[WINDOW_HITS_MAX]; /* the first pair of each, and how many */
  float last[WINDOW_HITS_MAX];
  float middle[WINDOW_HITS_MAX + 2]; /* between two that are far away */
};

/* Sorts the list; returns how many of the best are kept. */
static uint32_t keep_best(struct workspace *w, uint32_t count, uint32_t max) {
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
    for (uint32_t i = 0; i < LANES / 2; i++) { /* what comes after the list is after it in order too */
      w->sorted[rank_low[i]] = (uint64_t)low[i];
      w->sorted[rank_high[i]] = (uint64_t)high[i];
    }
  }
  const uint32_t kept = count < max ? count : max;
  memcpy(w->keys, w->sorted, kept * sizeof *w->keys);
  return kept;
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
  copy(w->first, x + s->first, s->first_count);
  copy(w->last, x + s->last, s->last_count);
  copy(w->middle + 1, x + s->middle, s->middle_count);
  w->middle[0] = -far_away;
  w->middle[s->middle_count + 1] = far_away;
  f32x8_store(w->first + s->first_count, f32x8_of(x[s->first + s->first_count - 1]));
}

/* Lists all pairs; returns how many there are. */
static inline uint32_t list_pairs(const struct triplet_seeding_args *a, const struct track *t, const struct seed *s,
                                  const struct kind *kind, struct workspace *w) {
  const u16x8 next = {0, 1, 2, 3, 4, 5, 6, 7};
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  uint32_t count = 0;
  for (uint32_t base = 0; base < s->first_count; base += LANES) {
    const struct bounds b = last_hits(a->forward.constants + SCIFI_X_MAGNET, t, kind, f32x8_load(w->first + base));
    f32x8_store(w->low + base, b.low);
    f32x8_store(w->high + base, b.high);
  }
  for (uint32_t base = 0; base < s->first_count; base += LANES) {
    const f32x8 low = f32x8_load(w->low + base), high = f32x8_load(w->high + base);
    const i32x8 first = lane + (int32_t)base;
    i32x8 begin = {0}, end = {0};
    for (uint32_t k = 0; k < s->last_count; k++) {
      begin -= w->last[k] < low;
      end -= w->last[k] < high;
    }
    i32x8_store(w->from + base, first << LAST_BITS | begin);
    i32x8_store(w->size + base, (end - begin) & (end > begin));
  }
  for (uint32_t i = 0; i < s->first_count; i++) { /* eight of each, of which most are overwritten by the next */
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

/* Tries eight pairs from p on; returns how long the list of triplets is then. */
static inline uint32_t try_pairs(const struct triplet_seeding_args *a, const struct seed *s, const struct kind *kind,
                                 struct workspace *w, uint32_t p, uint32_t pairs, uint32_t length) {
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7}, is_one = lane < (int32_t)(pairs - p);
  u16x8 listed;
  memcpy(&listed, w->pairs + p, sizeof listed);
  const i32x8 pair = __builtin_convertvector(listed, i32x8) & is_one;
  const i32x8 first = pair >> LAST_BITS, last = pair & ((1 << LAST_BITS) - 1);
  const f32x8 first_x = f32x8_gather(w->first, first), last_x = f32x8_gather(w->last, last);
  const f32x8 x = middle_x(kind, first_x, last_x);
  i32x8 after = {0};
  for (uint32_t k = 0; k < s->middle_count; k++) after -= w->middle[k + 1] < x;
  const f32x8 before = x - f32x8_gather(w->middle, after), beyond = f32x8_gather(w->middle, after + 1) - x;
  const i32x8 is_before = before <= beyond;
  const f32x8 distance = f32x8_select(is_before, before, beyond), chi2 = distance * distance;
  const i32x8 middle = after + is_before, word = first << FIRST_BIT | middle << MIDDLE_BIT | last | (int32_t)s->word;
  const i32x8 low = __builtin_shufflevector(word, (i32x8)chi2, 0, 8, 1, 9, 2, 10, 3, 11);
  const i32x8 high = __builtin_shufflevector(word, (i32x8)chi2, 4, 12, 5, 13, 6, 14, 7, 15);
  uint64_t keys[LANES];
  memcpy(keys, &low, sizeof low);
  memcpy(keys + LANES / 2, &high, sizeof high);
  const uint32_t wanted = i32x8_bits((chi2 < a->max_chi2) & is_one);
  for (uint32_t i = 0; i < LANES; i++) {
    w->keys[length] = keys[i];
    length += wanted >> i & 1;
  }
  return length;
}

/* Adds the triplets of a kind to the list; returns how long it is then. */
static inline uint32_t search_seed(const struct triplet_seeding_args *a, const struct track *t, const struct seed *s,
                                   const struct kind *kind, struct workspace *w, uint32_t length) {
  open_windows(a->hits.x, s, w);
  const uint32_t pairs = list_pairs(a, t, s, kind, w);
  for (uint32_t p = 0; p < pairs; p += LANES) {
    if (length + LANES > LIST_KEYS) length = keep_best(w, length, a->max_triplets);
    length = try_pairs(a, s, kind, w, p, pairs, length);
  }
  return length;
}

static void search_track(const struct triplet_seeding_args *a, const struct kind *kinds, uint32_t event, uint32_t item,
                         struct workspace *w) {
  const struct track t = open_track(a, event, item);
  const uint32_t sides = t.is_known ? 1 : 2;
  uint32_t *to = a->triplets.triplet + (size_t)item * SCIFI_TRIPLETS_MAX, length = 0;
  for (uint32_t k = 0; k < SEED_KINDS * sides; k++) {
    const struct seed s = open_seed(a, event, item, k / sides, k % sides);
    if (s.first_count > 0 && s.middle_count > 0 && s.last_count > 0)
      length = search_seed(a, &t, &s, &kinds[k / sides], w, length);
  }
  const uint32_t count = keep_best(w, length, a->max_triplets);
  a->triplets.count[item] = (uint8_t)count;
  for (uint32_t i = 0; i < SCIFI_TRIPLETS_MAX; i++) to[i] = i < count ? (uint32_t)w->keys[i] : 0;
}

int scifi_triplet_seeding_tuned(const struct sl_launch *l, const void *args) {
  const struct triplet_seeding_args *a = (const struct triplet_seeding_args *)args;
  const struct kind kinds[SEED_KINDS] = {open_kind(a, 0), open_kind(a, 1)};
  struct workspace w;
  (void)l;
  SL_FOR_EVENTS (event, a->events)
    for (uint32_t item = a->inputs.offsets[event]; item < a->inputs.offsets[event + 1]; item++)
      search_track(a, kinds, event, item, &w);
  return SL_OK;
}
