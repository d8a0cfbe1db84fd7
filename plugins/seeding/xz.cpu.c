/* xz.cpu.c: version of xz.cu for one CPU core with 256-bit vectors. It finds the same tracks, bit for bit.
 *   1. Divide x of each layer into cells; tables have the first hit of 32 cells, and one bit per cell: set if a hit is
 *      within the tolerance of any x in the cell.
 *   2. Take the last hits of a first hit eight at a time. Their search windows for middle hits overlap, so the middle
 *      hits are one short run: compare each of its hits with all eight windows.
 *   3. Compute the curves of eight triplets. Reject those (most) that are not near hits in two of three further layers.
 *   4. Find the further hits of the remaining curves, starting from the tables, fit and write the tracks.
 * Each step processes a long list before the next step begins, to avoid mispredicted branches that wait for long sums.
 * Determinism: lists, and so the tracks, are in the order of xz.cu. One pass: events are processed in order, so the
 * index of a track in the output is known when the track is found.
 */
#include "xz.h"

#include "sorted_x.h"

#include <sluice/vectors.h>

#include <math.h>

enum {
  FURTHER = SEED_FITS - 1, /* x layers in addition to the three of a triplet */
  WORD_BITS = 32,
  WORDS = 1024, /* words of cells per layer */
  CELLS = WORD_BITS * WORDS,
  CELLS_PER_TOLERANCE = 2,
  WINDOWS = 64,   /* buffered windows of eight pairs each */
  PAIRS = 256,    /* buffered pairs */
  LIST = 1024,    /* buffered triplets */
  NEAR = 256,     /* buffered curves */
  RUN_MAX = 16,   /* middle hits of eight windows, at most */
  MARGIN = LANES, /* padding on both sides of an event's hits */
  HIT_BITS = 16,
  HIT_MASK = (1 << HIT_BITS) - 1
};
static const i32x8 lane_numbers = {0, 1, 2, 3, 4, 5, 6, 7};
static const float least_tolerance =
    0.4f; /* mm: a smaller tolerance does not make cells smaller, so that cells cover the layers */
static const float beyond_rounding = 1.000001f;

/* Hits of the six x layers of a half, as indices in the event; x of the event's hits; numbers of the case. */
struct half {
  const float *x, *numbers;
  uint32_t begin[SCIFI_X_LAYERS], end[SCIFI_X_LAYERS];
  uint32_t upper, odd;
};

/* Cells of a layer. The cells at the ends include all x beyond them. */
struct cells {
  uint32_t near[WORDS + 1];  /* one bit per cell: 1 if a hit is within the tolerance of some x in it */
  uint32_t first[WORDS + 1]; /* first hit of the word's cells or of later cells */
};

/* Search windows of eight pairs for middle hits; empty if there is no last hit. */
struct windows {
  f32x8 low, high;
  uint32_t first, last; /* `last`: the first of the eight */
  uint32_t middle;      /* hit at which the search begins */
};

/* Pairs with middle hits, one word each: from the lowest bits the first hit, the last hit, a middle hit, and one bit
 * for each hit from the middle hit on. */
struct pairs {
  uint32_t count;
  uint64_t words[PAIRS + LANES];
};

struct triplets {
  uint32_t count;
  int32_t first[LIST + RUN_MAX], middle[LIST + RUN_MAX], last[LIST + RUN_MAX];
};

/* Triplets with hits near the curve in at least two further layers. */
struct curves {
  uint32_t count;
  uint32_t triplet[NEAR + LANES]; /* index in the list of triplets */
  float a[NEAR + LANES], b[NEAR + LANES], c[NEAR + LANES];
};

struct search {
  struct windows windows[WINDOWS];
  const struct xz_args *a;
  struct half half;
  struct pairs pairs;
  float cells_per_mm;
  uint32_t windows_count;
  uint32_t tracks, place, fits; /* tracks of the event; of earlier events; 1 if they fit */
  struct curves curves;
  struct triplets triplets;
  struct cells cells[SCIFI_X_LAYERS];
};

/* Layer number of a triplet's middle hit, and of its k-th further hit. */
static inline uint32_t middle_layer(const struct half *h) { return SCIFI_STATION_LAYERS + 3 * h->odd; }
static inline uint32_t further_layer(const struct half *h, uint32_t k) {
  return SCIFI_STATION_LAYERS * k + 3 * (1 - h->odd);
}

/* ------------------------------------------------------------------------------------------------------- cells */

/* Cell of an x; ascends with x. */
static inline uint32_t cell_of(const struct search *s, float x) {
  float cell = x * s->cells_per_mm + 0.5f * CELLS;
  cell = cell > 0.0f ? cell : 0.0f;
  return (uint32_t)(cell < CELLS - 1.0f ? cell : CELLS - 1.0f);
}
VECTOR_INLINE u32x8 cells_of(const struct search *s, f32x8 x) {
  const f32x8 cell = x * s->cells_per_mm + 0.5f * CELLS;
  return (u32x8) __builtin_convertvector(f32x8_min(f32x8_max(cell, f32x8_of(0.0f)), f32x8_of(CELLS - 1.0f)), i32x8);
}

static void make_cells(const struct search *s, uint32_t layer, struct cells *cells) {
  const float *x = s->half.x;
  const float range = s->a->seeding.constants[SEED_TOLERANCE] * beyond_rounding;
  const uint32_t begin = s->half.begin[layer], end = s->half.end[layer];
  memset(cells, 0, sizeof *cells);
  for (uint32_t i = begin; i < end; i++) {
    const uint32_t low = cell_of(s, x[i] - range), high = cell_of(s, x[i] + range), word = low / WORD_BITS;
    const uint64_t bits = ((2ull << (high - low)) - 1) << low % WORD_BITS;
    cells->near[word] |= (uint32_t)bits;
    cells->near[word + 1] |= (uint32_t)(bits >> WORD_BITS);
    cells->first[cell_of(s, x[i]) / WORD_BITS + 1]++;
  }
  for (uint32_t word = 0, hits = begin; word <= WORDS; word++) {
    hits += cells->first[word];
    cells->first[word] = hits;
  }
}

VECTOR_INLINE f32x8 x_of(const struct search *s, i32x8 hit) { return f32x8_gather(s->half.x, hit); }

/* Per lane: the first hit of a layer with hit x >= x, or > x with `or_equal`; else the end. */
VECTOR_INLINE i32x8 first_hits_from(const struct search *s, uint32_t layer, f32x8 x, int or_equal) {
  const i32x8 end = i32x8_of((int32_t)s->half.end[layer]);
  i32x8 hit = (i32x8)u32x8_gather(s->cells[layer].first, (i32x8)(cells_of(s, x) / WORD_BITS)), is_before;
  do {
    const f32x8 hit_x = x_of(s, hit);
    is_before = (hit < end) & (or_equal ? hit_x <= x : hit_x < x);
    hit -= is_before;
  } while (i32x8_bits(is_before));
  return hit;
}

/* ---------------------------------------------------------------------------------------------------- triplets */

/* Eight curves, with their further hits and residuals (0 without a hit). */
struct grown {
  f32x8 a, b, c, score, off[FURTHER];
  i32x8 hits[FURTHER], found[FURTHER]; /* `found`: -1 if there is a hit */
};

VECTOR_INLINE void find_further(const struct search *s, struct grown *g) {
  const float tolerance = s->a->seeding.constants[SEED_TOLERANCE];
  const f32x8 none = f32x8_of(2.0f * tolerance + 1.0f);
  for (uint32_t k = 0; k < FURTHER; k++) {
    const uint32_t i = 2 * k + 1 - s->half.odd, layer = further_layer(&s->half, k);
    const int32_t begin = (int32_t)s->half.begin[i], end = (int32_t)s->half.end[i];
    const f32x8 x = g->a + g->b * s->a->seeding.d[layer] + g->c * s->a->seeding.bend[layer];
    const i32x8 after = first_hits_from(s, i, x, 0);
    const f32x8 off_before = f32x8_select(after > begin, x - x_of(s, after - 1), none);
    const f32x8 off_after = f32x8_select(after < end, x_of(s, after) - x, none);
    const i32x8 is_before = off_before <= off_after;
    g->found[k] = f32x8_select(is_before, off_before, off_after) <= tolerance;
    g->hits[k] = after + is_before;
    g->off[k] = f32x8_select(g->found[k], f32x8_select(is_before, -off_before, off_after), f32x8_of(0.0f));
  }
}

/* Corrects the curves by a least-squares fit, and computes their scores. `missing`: number, from 1, of the further
 * layer without a hit, or 0. */
VECTOR_INLINE void fit_curves(const struct search *s, struct grown *g) {
  const float *d = s->a->seeding.d, *bend = s->a->seeding.bend;
  const uint32_t odd = s->half.odd;
  const i32x8 missing =
      i32x8_select(g->found[0], i32x8_select(g->found[1], 3 + 3 * g->found[2], i32x8_of(2)), i32x8_of(1));
  f32x8 gained[FURTHER], sum = {0};
  for (uint32_t i = 0; i < FURTHER; i++) {
    f32x8 gain[FURTHER];
    for (uint32_t k = 0; k < FURTHER; k++)
      gain[k] = f32x8_gather(s->half.numbers + SEED_CASE_FITS + FURTHER * i + k, SEED_FIT_NUMBERS * missing);
    gained[i] = gain[0] * g->off[0] + gain[1] * g->off[1] + gain[2] * g->off[2];
  }
  for (uint32_t k = 0; k < FURTHER; k++) {
    const uint32_t layer = SCIFI_STATION_LAYERS * k + 3 * odd, other = further_layer(&s->half, k);
    const f32x8 of_triplet = gained[0] + gained[1] * d[layer] + gained[2] * bend[layer];
    const f32x8 rest = g->off[k] - (gained[0] + gained[1] * d[other] + gained[2] * bend[other]);
    sum += of_triplet * of_triplet;
    sum += f32x8_select(missing == (int32_t)k + 1, f32x8_of(0.0f), rest * rest);
  }
  g->a += gained[0];
  g->b += gained[1];
  g->c += gained[2];
  const float *constants = s->a->seeding.constants, *expected = constants + SEED_CURVATURE;
  const f32x8 x0 = g->a - g->b * constants[SEED_Z_REFERENCE], size = f32x8_max(x0, -x0);
  const f32x8 off = (g->c + x0 * (expected[0] + expected[1] * size)) / s->a->curvature_scale, off2 = off * off;
  g->score = f32x8_select(missing != 0, sum * s->a->miss_factor, sum) + (odd ? s->a->case_penalty : 0.0f);
  g->score += off2 / (1.0f + off2); /* curvature_score() */
}

static void write_track(const struct search *s, const struct grown *g, uint32_t lane, uint32_t triplet, uint32_t to) {
  const struct half *h = &s->half;
  const struct triplets *list = &s->triplets;
  const int32_t of_triplet[FURTHER] = {list->first[triplet], list->middle[triplet], list->last[triplet]};
  const struct seed_xz_tracks *tracks = &s->a->tracks;
  uint16_t *hits = tracks->hits + SCIFI_X_LAYERS * (size_t)to;
  uint32_t count = 0;
  for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++) {
    const uint32_t is_further = i % 2 != h->odd;
    hits[count] = (uint16_t)(is_further ? g->hits[i / 2][lane] : of_triplet[i / 2]);
    count += !is_further || g->found[i / 2][lane];
  }
  tracks->hit_count[to] = (uint8_t)count;
  for (; count < SCIFI_X_LAYERS; count++) hits[count] = 0;
  tracks->kind[to] = (uint8_t)(h->upper | h->odd << 1);
  tracks->a[to] = g->a[lane];
  tracks->b[to] = g->b[lane];
  tracks->c[to] = g->c[lane];
  tracks->score[to] = g->score[lane];
}

/* Finds the further hits of the listed curves, and writes the tracks. */
static void grow_curves(struct search *s) {
  struct curves *list = &s->curves;
  for (uint32_t i = 0; i < list->count; i += LANES) {
    struct grown g;
    g.a = f32x8_load(list->a + i);
    g.b = f32x8_load(list->b + i);
    g.c = f32x8_load(list->c + i);
    find_further(s, &g);
    fit_curves(s, &g);
    const i32x8 is_track = g.found[0] + g.found[1] + g.found[2] <= -FEWEST;
    for (uint32_t lanes = i32x8_bits(is_track) & first_lanes_bits(list->count - i); lanes; lanes &= lanes - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
      if (s->tracks == s->a->tracks.bound.capacity - s->place) s->fits = 0;
      if (s->fits) write_track(s, &g, lane, list->triplet[i + lane], s->place + s->tracks);
      s->tracks++;
    }
  }
  list->count = 0;
}

/* Lists those of eight curves, of the triplets from `triplet` on, that have their bit set. */
VECTOR_INLINE void add_curves(struct curves *list, uint32_t triplet, uint32_t bits, f32x8 a, f32x8 b, f32x8 c) {
  const i32x8 lanes = i32x8_lanes_of_bits(bits);
  const uint32_t to = list->count;
  i32x8_store((int32_t *)list->triplet + to, lanes + (int32_t)triplet);
  f32x8_store(list->a + to, (f32x8)i32x8_permute((i32x8)a, lanes));
  f32x8_store(list->b + to, (f32x8)i32x8_permute((i32x8)b, lanes));
  f32x8_store(list->c + to, (f32x8)i32x8_permute((i32x8)c, lanes));
  list->count += (uint32_t)__builtin_popcount(bits);
}

static void try_triplets(struct search *s) {
  const struct half *h = &s->half;
  const struct triplets *list = &s->triplets;
  struct curves *curves = &s->curves;
  const float *d = s->a->seeding.d, *bend = s->a->seeding.bend;
  for (uint32_t i = 0; i < list->count; i += LANES) {
    const f32x8 first_x = x_of(s, i32x8_load(list->first + i)), middle_x = x_of(s, i32x8_load(list->middle + i));
    const f32x8 slope = (x_of(s, i32x8_load(list->last + i)) - first_x) / h->numbers[SEED_CASE_LENGTH];
    const f32x8 line_x = first_x - d[3 * h->odd] * slope;
    const f32x8 x = line_x + d[middle_layer(h)] * slope;
    const f32x8 c = (x - middle_x) * h->numbers[SEED_CASE_CURVATURE];
    const f32x8 b = slope - c * h->numbers[SEED_CASE_SLOPE], a = line_x - c * h->numbers[SEED_CASE_X];
    u32x8 near = {0};
    for (uint32_t k = 0; k < FURTHER; k++) {
      const uint32_t layer = further_layer(h, k);
      const u32x8 cell = cells_of(s, a + b * d[layer] + c * bend[layer]);
      const uint32_t *words = s->cells[2 * k + 1 - h->odd].near;
      near += u32x8_gather(words, (i32x8)(cell / WORD_BITS)) >> cell % WORD_BITS & 1;
    }
    add_curves(curves, i, i32x8_bits(near >= FEWEST) & first_lanes_bits(list->count - i), a, b, c);
    if (curves->count >= NEAR) grow_curves(s);
  }
  grow_curves(s);
  s->triplets.count = 0;
}

static inline void add_triplet(struct triplets *list, uint32_t at, int32_t first, int32_t middle, int32_t last) {
  list->first[at] = first;
  list->middle[at] = middle;
  list->last[at] = last;
}

/* Lists the triplets of pairs. Most pairs have one or two middle hits, so a second triplet is always written. */
static void list_triplets(struct search *s) {
  struct triplets *list = &s->triplets;
  for (uint32_t i = 0; i < s->pairs.count; i++) {
    const uint64_t word = s->pairs.words[i];
    const int32_t first = (int32_t)(word & HIT_MASK), last = (int32_t)(word >> HIT_BITS & HIT_MASK);
    const int32_t middle = (int32_t)(word >> 2 * HIT_BITS & HIT_MASK);
    uint32_t bits = (uint32_t)(word >> 3 * HIT_BITS), more = bits & (bits - 1);
    const uint32_t at = list->count, count = (uint32_t)__builtin_popcount(bits);
    add_triplet(list, at, first, middle + __builtin_ctz(bits), last);
    add_triplet(list, at + 1, first, middle + __builtin_ctz(more ? more : bits), last);
    for (uint32_t k = 2; __builtin_expect(k < count, 0); k++) {
      more &= more - 1;
      add_triplet(list, at + k, first, middle + __builtin_ctz(more), last);
    }
    list->count = at + count;
    if (list->count >= LIST) try_triplets(s);
  }
  s->pairs.count = 0;
}

/* ------------------------------------------------------------------------------------------------------- pairs */

/* Opens the windows of a first hit and up to eight last hits. */
VECTOR_INLINE void open_windows(struct search *s, uint32_t first, uint32_t last, uint32_t last_end) {
  const struct half *h = &s->half;
  const float *n = h->numbers, *d = s->a->seeding.d, *inverse_p = s->a->seeding.constants + SEED_INVERSE_P;
  const float first_x = h->x[first], least = n[SEED_CASE_LEAST];
  const i32x8 is_there = lane_numbers < (int32_t)(last_end - last);
  const f32x8 slope = (f32x8_load(h->x + last) - first_x) / n[SEED_CASE_LENGTH];
  const f32x8 x0 = first_x - slope * n[SEED_CASE_Z_FIRST], size = (f32x8)((i32x8)x0 & INT32_MAX);
  const f32x8 bend = n[SEED_CASE_PER_P] * (size * (inverse_p[0] + inverse_p[1] * size));
  const f32x8 line_x = first_x - d[3 * h->odd] * slope, x = line_x + d[middle_layer(h)] * slope;
  const f32x8 below = least + bend, above = 2.0f * least - bend;
  const i32x8 is_positive = x0 > 0.0f;
  const f32x8 low = x - f32x8_select(is_positive, above, below), high = x + f32x8_select(is_positive, below, above);
  struct windows *w = &s->windows[s->windows_count++];
  w->first = first;
  w->last = last;
  w->low = f32x8_select(is_there, f32x8_min(low, high), f32x8_of(INFINITY));
  w->high = f32x8_select(is_there, f32x8_max(low, high), f32x8_of(-INFINITY));
  w->middle = s->cells[2 + h->odd].first[cell_of(s, w->low[0]) / WORD_BITS];
}

/* Lists the pairs of windows that share more than RUN_MAX middle hits. */
static void list_lane_by_lane(struct search *s, const struct windows *w, uint32_t m) {
  const uint32_t end = s->half.end[2 + s->half.odd];
  for (uint32_t lane = 0; lane < LANES; lane++) {
    const uint32_t begin = seeding_first_from(s->half.x, m, end, w->low[lane]);
    for (uint32_t middle = begin; middle < end && s->half.x[middle] <= w->high[lane]; middle++) {
      const uint64_t high = 1u << HIT_BITS | middle;
      s->pairs.words[s->pairs.count++] = high << 2 * HIT_BITS | (w->last + lane) << HIT_BITS | w->first;
      if (s->pairs.count >= PAIRS) list_triplets(s);
    }
  }
}

/* Lists those of eight pairs that have middle hits. */
VECTOR_INLINE void list_pairs(struct search *s, const struct windows *w) {
  const uint32_t layer = 2 + s->half.odd, begin = s->half.begin[layer], end = s->half.end[layer];
  const float *x = s->half.x;
  uint32_t m = w->middle, run = 0, count = s->pairs.count;
  while (m > begin && i32x8_bits(x[m - 1] >= w->low)) m--; /* rare: windows ascend with the last hit */
  u32x8 hits = {0};                                        /* bits of each window, from hit m on */
  for (; m + run < end && i32x8_bits(x[m + run] <= w->high); run += LANES) {
    if (run == RUN_MAX) {
      list_lane_by_lane(s, w, m);
      return;
    }
    u32x8 next = {0};
    for (uint32_t k = LANES; k-- > 0;)
      next = next + next - (u32x8)((x[m + run + k] >= w->low) & (x[m + run + k] <= w->high));
    hits |= next << run;
  }
  if (end - m < RUN_MAX) hits &= (1u << (end - m)) - 1;
  const u32x8 high = hits << HIT_BITS | m, low = ((u32x8)lane_numbers + w->last) << HIT_BITS | w->first;
  count += i32x8_pack_words(s->pairs.words + count, (i32x8)low, (i32x8)high, hits != 0);
  s->pairs.count = count;
  if (count >= PAIRS) list_triplets(s);
}

static void list_all_pairs(struct search *s) {
  for (uint32_t i = 0; i < s->windows_count; i++) list_pairs(s, &s->windows[i]);
  s->windows_count = 0;
}

/* Opens the windows of all pairs of up to eight first hits. */
static void search_firsts(struct search *s, uint32_t from, uint32_t count) {
  const struct half *h = &s->half;
  const uint32_t layer = 4 + h->odd;
  const float range = h->numbers[SEED_CASE_RANGE];
  const f32x8 x = f32x8_load(h->x + from) * h->numbers[SEED_CASE_SCALE];
  const i32x8 begin = first_hits_from(s, layer, x - range, 0), end = first_hits_from(s, layer, x + range, 1);
  for (uint32_t lane = 0; lane < count; lane++) {
    const uint32_t last_end = (uint32_t)end[lane];
    for (uint32_t last = (uint32_t)begin[lane]; last < last_end; last += LANES) {
      open_windows(s, from + lane, last, last_end);
      if (s->windows_count == WINDOWS) list_all_pairs(s);
    }
  }
}

/* ------------------------------------------------------------------------------------------------------- event */

static void search_half(struct search *s) {
  const uint32_t end = s->half.end[s->half.odd];
  for (uint32_t first = s->half.begin[s->half.odd]; first < end; first += LANES)
    search_firsts(s, first, end - first < LANES ? end - first : LANES);
  list_all_pairs(s);
  list_triplets(s);
  try_triplets(s);
}

static void open_half(struct search *s, uint32_t event, uint32_t upper) {
  const uint16_t *zone_first = s->a->hits.zone_first + (size_t)event * (SCIFI_ZONES + 1);
  s->half.upper = upper;
  for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++) {
    const uint32_t zone = 2 * (SCIFI_STATION_LAYERS * (i / 2) + 3 * (i % 2)) + upper;
    s->half.begin[i] = zone_first[zone];
    s->half.end[i] = zone_first[zone + 1];
    make_cells(s, i, &s->cells[i]);
  }
}

static void search_event(struct search *s, uint32_t event) {
  const uint32_t begin = s->a->hits.offsets[event], hits = s->a->hits.offsets[event + 1] - begin;
  const uint32_t count = hits < SCIFI_HITS_MAX ? hits : SCIFI_HITS_MAX;
  float *x = s->a->x + MARGIN;
  memset(s->a->x, 0, MARGIN * sizeof(float));
  memcpy(x, s->a->hits.x + begin, count * sizeof(float));
  memset(x + count, 0, MARGIN * sizeof(float));
  s->half.x = x;
  s->tracks = 0;
  for (uint32_t upper = 0; upper < 2; upper++) {
    open_half(s, event, upper);
    for (s->half.odd = 0; s->half.odd < SEED_CASES; s->half.odd++) {
      s->half.numbers = s->a->seeding.cases + SEED_CASE_NUMBERS * s->half.odd;
      search_half(s);
    }
  }
}

int xz_tuned(const struct sl_launch *l, const void *args) {
  const struct xz_args *a = args;
  const float tolerance = a->seeding.constants[SEED_TOLERANCE];
  struct search s;
  s.a = a;
  s.cells_per_mm = CELLS_PER_TOLERANCE / sl_max_f32(tolerance, least_tolerance);
  s.windows_count = s.pairs.count = s.place = 0;
  memset(&s.triplets, 0, sizeof s.triplets);
  memset(&s.curves, 0, sizeof s.curves);
  s.fits = 1;
  SL_FOR_EVENTS (event, a->events) {
    search_event(&s, event);
    s.place += s.fits ? s.tracks : 0;
    a->tracks.offsets[event] = s.tracks;
  }
  return l->scan(l, a->tracks.offsets, &a->tracks.bound);
}
