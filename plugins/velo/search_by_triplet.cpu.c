/* search_by_triplet.cpu.c: velo.search_by_triplet for one CPU core with 256-bit vectors; same tracks, bit for bit, as
 * search_by_triplet.cu (README.md, "Search by triplet").
 * Each turn works in passes without data-dependent branches over tiles of windows:
 *   1. List lines: h0-h1 of seeds or the last two hits of live tracks.
 *   2. Compute slopes and windows, eight at a time.
 *   3. Scan the hits of each window, eight at a time; each lane keeps its minimum of (scatter, visit).
 *   4. Reduce the lanes and write seeds, or extend live tracks.
 * Determinism: ties in scatter go to the earliest visit, as in a plain loop.
 * Plain version: tests/velo/search_reference.h.
 */
#include "search_by_triplet.h"

#include <sluice/vectors.h>

#include <stdbool.h>

typedef uint8_t u8x8 __attribute__((vector_size(8)));

enum {
  BIN_BITS = 7,
  BINS = 1 << BIN_BITS,
  REPEATS = 16,       /* first hits of a pair that are repeated after its last hit */
  TILE_WINDOWS = 256, /* windows per tile */
  VISIT_BITS = 20     /* bits of the hit index in a visit */
};
_Static_assert((int)SEARCH_MAX_SEED_CANDIDATES == (int)LANES, "candidates of a middle hit take one lane each");
static const float far_away = 1e18f; /* x of used hits in seeding; its square is finite */

/* A module pair. Azimuths are shifted to the upper half of their word, so that they wrap. */
struct pair {
  uint32_t first, count;
  int32_t *phi;
  uint32_t bin_first[2 * BINS + 1]; /* bins of the circle, continued by the width of a window */
};

/* Lines and their windows in the next pair. */
struct tile {
  float x0[TILE_WINDOWS + LANES], y0[TILE_WINDOWS + LANES], z0[TILE_WINDOWS + LANES];
  float x1[TILE_WINDOWS + LANES], y1[TILE_WINDOWS + LANES], z1[TILE_WINDOWS + LANES]; /* x1, y1: then the slopes */
  float delta_z[TILE_WINDOWS + LANES];
  int32_t edge[TILE_WINDOWS + LANES]; /* lower edge; azimuth - edge is compared with the width of the window */
  uint32_t begin[TILE_WINDOWS + LANES], end[TILE_WINDOWS + LANES]; /* hits of the bins of the window */
  int32_t h0[TILE_WINDOWS + LANES];                                /* index in the pair */
  i64x4 least[TILE_WINDOWS + LANES];                               /* per group of windows: minima of pairs of lanes */
  int32_t found[TILE_WINDOWS + LANES];                             /* -1 if a hit was found, else 0 */
  int32_t visit[TILE_WINDOWS + LANES];
  int32_t hit[TILE_WINDOWS + LANES]; /* index in the event of the hit that was found */
};

struct search {
  struct tile tile; /* first member, because of its alignment */
  const struct search_by_triplet_args *a;
  /* The event. */
  const uint32_t *pair_first, *id;
  const float *event_x, *event_y, *event_z;
  const int16_t *event_phi;
  uint8_t *used, *used_end;
  /* Tracks in the order of their seeds; the tracks of seeding turn s begin at seeding_first[s]. */
  uint16_t (*tracks)[VELO_MAX_HITS_PER_TRACK];
  uint8_t *length;
  int32_t *live, *live_hits; /* live_of(); the last two hits, the older one in the lower half */
  uint32_t track_count, live_count, seeding_count, phi_window;
  uint32_t seeding_first[VELO_MODULE_PAIRS];
  /* The three pairs of a turn, and positions of the most upstream one, with repeats. */
  struct pair pairs[3];
  float *x, *y, *z, *seed_x;
  int32_t *unused_before; /* per hit of a pair: number of unused hits before it */
  int32_t *unused;        /* indices of unused hits, continued around the circle on both sides */
  int32_t *middle;        /* unused hits of the middle pair */
};

/* Order in which the windows of a group visit the hits of a pair, ascending. `index` continues after the last hit. */
VECTOR_INLINE int32_t visit_of(uint32_t window, uint32_t index) { return (int32_t)(window << VISIT_BITS | index); }
VECTOR_INLINE uint32_t visit_window(int32_t visit) { return (uint32_t)visit >> VISIT_BITS; }
VECTOR_INLINE i32x8 visit_indices(i32x8 visit) { return visit & ((1 << VISIT_BITS) - 1); }

/* A live track: track index | number of hits << 16 | consecutive pairs without a hit << 24. */
VECTOR_INLINE int32_t live_of(uint32_t track, uint32_t length) { return (int32_t)(length << 16 | track); }
VECTOR_INLINE uint32_t live_track(int32_t live) { return (uint32_t)live & 0xFFFF; }
VECTOR_INLINE uint32_t live_length(int32_t live) { return (uint32_t)live >> 16 & 0xFF; }
VECTOR_INLINE i32x8 live_with_hit(i32x8 live) { return (live & 0xFFFFFF) + (1 << 16); }
/* Unsigned, because lanes without a track have any value. */
VECTOR_INLINE i32x8 live_without_hit(i32x8 live) { return (i32x8)((u32x8)live + (1u << 24)); }
VECTOR_INLINE i32x8 live_lengths(i32x8 live) { return live >> 16 & 0xFF; }
VECTOR_INLINE i32x8 live_skips(i32x8 live) { return live >> 24; }

static void repeat_first(void *values, uint32_t count) {
  uint32_t *v = values;
  if (count >= REPEATS)
    memcpy(v + count, v, REPEATS * sizeof *v);
  else
    for (uint32_t i = 0; i < REPEATS; i++) v[count + i] = v[i];
}

static uint32_t phi_bin(uint32_t phi) { return (phi ^ 1u << 31) >> (32 - BIN_BITS); }

static void load_phi(struct search *s, uint32_t number) {
  struct pair *p = &s->pairs[number % 3];
  const uint32_t first = s->pair_first[number], count = s->pair_first[number + 1] - first;
  const int16_t *restrict event_phi = s->event_phi + first;
  int32_t *restrict phi = p->phi;
  p->first = first;
  p->count = count;
  if (count == 0) return;
  uint32_t in_bin[BINS];
  for (uint32_t b = 0; b < BINS; b += LANES) i32x8_store((int32_t *)in_bin + b, i32x8_of(0));
  for (uint32_t i = 0; i < count; i++) phi[i] = (int32_t)((uint32_t)event_phi[i] << 16);
  for (uint32_t i = 0; i < count; i++) in_bin[phi_bin((uint32_t)phi[i])]++;
  for (uint32_t b = 0, sum = 0; b < BINS; b++) {
    p->bin_first[b] = sum;
    sum += in_bin[b];
  }
  const uint32_t window_bins = (2 * s->phi_window >> (16 - BIN_BITS)) + 3;
  for (uint32_t b = 0; b < window_bins && b <= BINS; b++) p->bin_first[BINS + b] = p->bin_first[b % BINS] + count;
  repeat_first(phi, count);
}

static void load_position(struct search *s, const struct pair *p) {
  if (p->count == 0) return;
  memcpy(s->x, s->event_x + p->first, p->count * sizeof(float));
  memcpy(s->y, s->event_y + p->first, p->count * sizeof(float));
  memcpy(s->z, s->event_z + p->first, p->count * sizeof(float));
  repeat_first(s->x, p->count);
  repeat_first(s->y, p->count);
  repeat_first(s->z, p->count);
}

/* Computes slopes of the lines and windows in pair `p`. Also computes up to seven unused entries. */
static void predict(struct tile *t, const struct pair *p, uint32_t count, uint32_t phi_window) {
  for (uint32_t w = 0; w < count; w += LANES) {
    const f32x8 x0 = f32x8_load(t->x0 + w), y0 = f32x8_load(t->y0 + w), z0 = f32x8_load(t->z0 + w);
    const f32x8 dz = f32x8_load(t->z1 + w) - z0;
    const f32x8 tx = (f32x8_load(t->x1 + w) - x0) / dz, ty = (f32x8_load(t->y1 + w) - y0) / dz;
    f32x8_store(t->x1 + w, tx);
    f32x8_store(t->y1 + w, ty);
    const f32x8 delta_z = f32x8_load(t->delta_z + w);
    const f32x8 x = x0 + tx * delta_z, y = y0 + ty * delta_z;
    /* velo_phi; the low 16 bits of the conversion of 0 / 0 are 0. */
    const i32x8 right = x > 0.0f, down = (y < 0.0f) & INT32_MIN;
    const f32x8 abs_x = (f32x8)((i32x8)x & INT32_MAX), abs_y = (f32x8)((i32x8)y & INT32_MAX);
    const f32x8 part = 8192.0f * ((abs_x - abs_y) / (abs_x + abs_y));
    const f32x8 upper = f32x8_select(right, 8192.0f - part, 24576.0f + part);
    const u32x8 phi = (u32x8) __builtin_convertvector((f32x8)((i32x8)upper ^ down), i32x8);
    const u32x8 lower = phi - phi_window;
    const u32x8 from_bottom = (lower + 32768) & 0xFFFF;
    i32x8_store(t->edge + w, (i32x8)((lower << 16) ^ 1u << 31));
    const u32x8 first_bin = from_bottom >> (16 - BIN_BITS);
    const u32x8 last_bin = (from_bottom + 2 * phi_window) >> (16 - BIN_BITS);
    const u32x8 begin = u32x8_gather(p->bin_first, (i32x8)first_bin);
    const u32x8 end = u32x8_gather(p->bin_first, (i32x8)last_bin + 1);
    memcpy(t->begin + w, &begin, sizeof begin);
    memcpy(t->end + w, &end, sizeof end);
  }
}

/* Scatter and visit as one 64-bit number that orders by scatter, then visit: bits of non-negative floats order like
 * their values. Returns the minima of pairs of the eight lanes. */
VECTOR_INLINE i64x4 scatter_then_visit(f32x8 scatter, i32x8 visit) {
  const i32x8 bits = (i32x8)scatter;
  return i64x4_min((i64x4)__builtin_shufflevector(visit, bits, 0, 8, 1, 9, 4, 12, 5, 13),
                   (i64x4)__builtin_shufflevector(visit, bits, 2, 10, 3, 11, 6, 14, 7, 15));
}

/* The minimum over the lanes of four groups. */
VECTOR_INLINE i64x4 least_of_four(const i64x4 *g) {
  const i64x4 ab =
      i64x4_min(__builtin_shufflevector(g[0], g[1], 0, 4, 2, 6), __builtin_shufflevector(g[0], g[1], 1, 5, 3, 7));
  const i64x4 cd =
      i64x4_min(__builtin_shufflevector(g[2], g[3], 0, 4, 2, 6), __builtin_shufflevector(g[2], g[3], 1, 5, 3, 7));
  return i64x4_min(__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
}

/* Reduces the lanes of each group to its best hit in pair `p`. Also computes up to seven unused entries. */
static void reduce_lanes(struct tile *t, const struct pair *p, uint32_t groups, int32_t limit) {
  const int32_t first = (int32_t)p->first, count = (int32_t)p->count;
  for (uint32_t g = 0; g < groups; g += LANES) {
    const i32x8 low = (i32x8)least_of_four(t->least + g), high = (i32x8)least_of_four(t->least + g + 4);
    const i32x8 visit = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
    const i32x8 scatter = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
    const i32x8 index = visit_indices(visit);
    i32x8_store(t->found + g, scatter < limit);
    i32x8_store(t->visit + g, visit);
    i32x8_store(t->hit + g, first + index - ((index >= count) & count));
  }
}

/* The best hit of a group of windows so far, per lane. */
struct best {
  f32x8 scatter;
  i32x8 visit;
};

/* Compares eight hits, from index `at` on, with line and window `w`. */
VECTOR_INLINE struct best scan_eight(const struct search *s, const int32_t *phi, const float *x, const struct tile *t,
                                     uint32_t w, uint32_t at, i32x8 visit, struct best best) {
  const i32x8 width = i32x8_of((int32_t)((2 * s->phi_window << 16 | 0xFFFF) ^ 1u << 31));
  const i32x8 outside = (i32x8)((u32x8)i32x8_load(phi + at) - (u32x8)i32x8_of(t->edge[w])) > width;
  const f32x8 dz = f32x8_load(s->z + at) - f32x8_of(t->z0[w]);
  const f32x8 dx = f32x8_of(t->x0[w]) + f32x8_of(t->x1[w]) * dz - f32x8_load(x + at);
  const f32x8 dy = f32x8_of(t->y0[w]) + f32x8_of(t->y1[w]) * dz - f32x8_load(s->y + at);
  const f32x8 scatter = (f32x8)((i32x8)(dx * dx + dy * dy) | outside);  /* outside the window: NaN, never less */
  best.visit = i32x8_max(best.visit, visit & (scatter < best.scatter)); /* visits ascend */
  best.scatter = f32x8_min(scatter, best.scatter);
  return best;
}

/* Finds the best hit of each group of windows: fills found, visit and hit. */
static inline __attribute__((always_inline)) void scan(const struct search *s, const struct pair *p, const float *x,
                                                       struct tile *t, uint32_t groups, uint32_t windows_each) {
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  const float max_scatter = s->a->max_scatter;
  int32_t max_scatter_bits;
  memcpy(&max_scatter_bits, &max_scatter, sizeof max_scatter_bits);
  const uint32_t count = p->count;
  const int32_t *phi = p->phi;
  for (uint32_t group = 0, w = 0; group < groups; group++) {
    struct best best = {f32x8_of(max_scatter), {0}};
#pragma GCC unroll 4
    for (uint32_t i = 0; i < windows_each; i++, w++) {
      uint32_t at = t->begin[w], length = t->end[w] - at;
      i32x8 visit = i32x8_of((int32_t)at) + (lane + visit_of(i, 0)); /* continues after the last hit, unlike `at` */
      best = scan_eight(s, phi, x, t, w, at, visit, best);
      for (; __builtin_expect(length > LANES, 0); length -= LANES) {
        at += LANES;
        if (at >= count + LANES) at -= count;
        visit += LANES;
        best = scan_eight(s, phi, x, t, w, at, visit, best);
      }
    }
    t->least[group] = scatter_then_visit(best.scatter, best.visit);
  }
  reduce_lanes(t, p, groups, max_scatter_bits);
}

/* One byte for each of eight hits of a pair from index `i` on: 1 if unused, else 0. */
VECTOR_INLINE uint64_t unused_bytes(const struct search *s, const struct pair *p, uint32_t i) {
  const uint8_t *used = s->used + p->first + i;
  const uint32_t left = p->count - i;
  uint64_t bytes = 0;
  if (used + LANES <= s->used_end)
    memcpy(&bytes, used, sizeof bytes);
  else
    for (uint32_t k = 0; k < left && k < LANES; k++) bytes |= (uint64_t)used[k] << 8 * k;
  return ~bytes & (left < LANES ? (1ull << 8 * left) - 1 : UINT64_MAX) & 0x0101010101010101;
}

/* Lists the unused hits of a pair, followed by up to eight meaningless entries. Returns their number. */
VECTOR_INLINE uint32_t list_hits(const struct search *s, const struct pair *p, int32_t *list, int32_t *before) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < p->count; i += LANES) {
    const uint64_t unused = unused_bytes(s, p, i);
    const uint32_t bits = (uint32_t)(unused * 0x0102040810204080 >> 56); /* byte k to bit k */
    if (before) {
      const uint64_t sums = unused * 0x0101010101010101 - unused; /* byte k: sum of the bytes below it */
      u8x8 bytes;
      memcpy(&bytes, &sums, sizeof bytes);
      i32x8_store(before + i, __builtin_convertvector(bytes, i32x8) + (int32_t)count);
    }
    i32x8_store(list + count, i32x8_lanes_of_bits(bits) + (int32_t)i);
    count += (uint32_t)__builtin_popcount(bits);
  }
  return count;
}

/* Fills `unused` and `unused_before` for a pair. Returns the number of unused hits. */
static uint32_t list_unused(const struct search *s, const struct pair *p) {
  int32_t *unused = s->unused;
  const int32_t count = (int32_t)list_hits(s, p, unused, s->unused_before), hits = (int32_t)p->count;
  s->unused_before[hits] = count;
  if (count > 0)
    for (int32_t i = 0; i < LANES; i++) {
      unused[count + i] = unused[i] + hits;
      unused[-1 - i] = unused[count - 1 - i] - hits;
    }
  return (uint32_t)count;
}

/* Index of the first hit of a pair with an azimuth of at least `phi`. */
static inline uint32_t lower_bound(const struct pair *p, int32_t phi) {
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  const uint32_t bin = phi_bin((uint32_t)phi);
  uint32_t begin = p->bin_first[bin], found = begin;
  int32_t left = (int32_t)(p->bin_first[bin + 1] - begin);
  do {
    const i32x8 below = (i32x8_load(p->phi + begin) < phi) & (lane < left);
    i32x8 sum = below + LANES_SWAPPED_4(below);
    sum += LANES_SWAPPED_2(sum);
    found -= (uint32_t)(sum[0] + sum[1]);
    begin += LANES;
    left -= LANES;
  } while (__builtin_expect(left > 0, 0));
  return found;
}

/* Sorts a bitonic sequence of eight lanes or, `in_halves`, two of four lanes. */
VECTOR_INLINE i32x8 sorted_bitonic(i32x8 v, bool in_halves) {
  if (!in_halves) v = LANES_ORDERED(v, LANES_SWAPPED_4(v));
  v = LANES_ORDERED_IN_FOURS(v, LANES_SWAPPED_2(v));
  return LANES_ORDERED_IN_TWOS(v, LANES_SWAPPED_1(v));
}

/* The first unused hits in the order of visits s, s + 1, s - 1, ... with s = `start`. A hit at distance d above s has
 * visit number 2d - 1, a hit at distance d below has 2d; s itself has a number below 1. `above`: unused hits from s
 * upwards; `below`: as many below s, nearest last. The n first ones are the lane-wise minima of both lists.
 * `in_halves`: four hits each of two middle hits. */
VECTOR_INLINE i32x8 visited_first(i32x8 start, i32x8 above, i32x8 below, int32_t count, bool in_halves) {
  const i32x8 above_visits = 2 * (above - start) - 1, below_visits = 2 * (start - below);
  const i32x8 visits = sorted_bitonic(i32x8_min(above_visits, below_visits), in_halves);
  const i32x8 distance = (visits + 1) >> 1;
  i32x8 index = start + i32x8_select((visits & 1) != 0, distance, -distance);
  index += (index < 0) & count;
  return index - ((index >= count) & count);
}

/* Writes the candidates h0 of each middle hit: four or eight; the first `candidates` are used. */
static void list_candidates(struct search *s, const struct pair *p0, const struct pair *p1, const int32_t *middle,
                            uint32_t groups, uint32_t candidates) {
  const int32_t *phi = p1->phi, *unused_before = s->unused_before, *unused = s->unused, count = (int32_t)p0->count;
  int32_t *h0 = s->tile.h0;
  if (candidates > 4) {
    for (uint32_t group = 0; group < groups; group++, h0 += candidates) {
      const int32_t start = (int32_t)lower_bound(p0, phi[middle[group]]);
      const int32_t *above = unused + unused_before[start];
      i32x8_store(h0, visited_first(i32x8_of(start), i32x8_load(above), i32x8_load(above - 8), count, false));
    }
    return;
  }
  for (uint32_t group = 0; group < groups; group += 2, h0 += 2 * candidates) {
    const uint32_t second = group + 1 < groups ? group + 1 : group;
    const int32_t a = (int32_t)lower_bound(p0, phi[middle[group]]), b = (int32_t)lower_bound(p0, phi[middle[second]]);
    const int32_t *above_a = unused + unused_before[a], *above_b = unused + unused_before[b];
    const i32x8 start = {a, a, a, a, b, b, b, b};
    const i32x8 first = visited_first(start, i32x8_load_halves(above_a, above_b),
                                      i32x8_load_halves(above_a - 4, above_b - 4), count, true);
    i32x8_store_halves(h0, h0 + candidates, first);
  }
}

static void list_lines(struct search *s, const struct pair *p0, const struct pair *p1, const int32_t *middle,
                       uint32_t groups, uint32_t candidates) {
  struct tile *t = &s->tile;
  const float *x = s->event_x + p0->first, *y = s->event_y + p0->first, *z = s->event_z + p0->first;
  const float *middle_x = s->event_x + p1->first, *middle_y = s->event_y + p1->first;
  const float *middle_z = s->event_z + p1->first;
  list_candidates(s, p0, p1, middle, groups, candidates);
  for (uint32_t group = 0, w = 0; group < groups; group++, w += candidates) {
    f32x8_store(t->x1 + w, f32x8_of(middle_x[middle[group]]));
    f32x8_store(t->y1 + w, f32x8_of(middle_y[middle[group]]));
    f32x8_store(t->z1 + w, f32x8_of(middle_z[middle[group]]));
  }
  i32x8_store(t->h0 + groups * candidates, i32x8_of(0));
  for (uint32_t w = 0; w < groups * candidates; w += LANES) {
    const i32x8 h0 = i32x8_load(t->h0 + w);
    f32x8_store(t->x0 + w, f32x8_gather(x, h0));
    f32x8_store(t->y0 + w, f32x8_gather(y, h0));
    f32x8_store(t->z0 + w, f32x8_gather(z, h0));
  }
}

static void write_seeds(struct search *s, const struct pair *p0, const struct pair *p1, const int32_t *middle,
                        uint32_t groups, uint32_t candidates) {
  const struct tile *t = &s->tile;
  const uint32_t first0 = p0->first, first1 = p1->first;
  int32_t with_seed[TILE_WINDOWS + LANES];
  uint32_t count = 0;
  for (uint32_t g = 0; g < groups; g += LANES) {
    const uint32_t bits = i32x8_bits(i32x8_load(t->found + g)) & first_lanes_bits(groups - g);
    i32x8_store(with_seed + count, i32x8_lanes_of_bits(bits) + (int32_t)g);
    count += (uint32_t)__builtin_popcount(bits);
  }
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t group = (uint32_t)with_seed[i], track = s->track_count + i, live = s->live_count + i;
    const uint32_t h0 = first0 + (uint32_t)t->h0[group * candidates + visit_window(t->visit[group])];
    const uint32_t h1 = first1 + (uint32_t)middle[group], h2 = (uint32_t)t->hit[group];
    uint16_t *hits = s->tracks[track];
    memset(hits, 0, sizeof s->tracks[track]);
    hits[0] = (uint16_t)h0;
    hits[1] = (uint16_t)h1;
    hits[2] = (uint16_t)h2;
    s->length[track] = 3;
    s->live[live] = live_of(track, 3);
    s->live_hits[live] = (int32_t)(h1 | h2 << 16);
  }
  s->track_count += count;
  s->live_count += count;
}

/* Copies x of a pair to seed_x, with far_away added for used hits. */
static void hide_used(const struct search *s, const struct pair *p) {
  const uint8_t *restrict used = s->used + p->first;
  const float *restrict x = s->x;
  float *restrict seed_x = s->seed_x;
  const uint32_t hits = p->count;
  for (uint32_t i = 0; i < hits; i++) seed_x[i] = x[i] + far_away * (float)used[i];
  repeat_first(seed_x, hits);
}

static void seed(struct search *s, uint32_t top) {
  const struct pair *p0 = &s->pairs[top % 3], *p1 = &s->pairs[(top - 1) % 3], *p2 = &s->pairs[(top - 2) % 3];
  s->seeding_first[s->seeding_count++] = s->track_count;
  if (p0->count == 0 || p1->count == 0 || p2->count == 0) return;
  const uint32_t max_lines = top == VELO_MODULE_PAIRS - 1 ? s->a->first_seed_candidates : s->a->seed_candidates;
  const uint32_t unused = list_unused(s, p0), candidates = unused < max_lines ? unused : max_lines;
  if (candidates == 0) return;
  const uint32_t middle_count = list_hits(s, p1, s->middle, NULL);
  hide_used(s, p2);
  const float delta_z = s->a->geometry.module_z[2 * (top - 2)] - s->a->geometry.module_z[2 * top];
  for (uint32_t w = 0; w < TILE_WINDOWS; w++) s->tile.delta_z[w] = delta_z;
  const uint32_t tile_groups = TILE_WINDOWS / candidates;
  for (uint32_t begin = 0; begin < middle_count; begin += tile_groups) {
    const uint32_t groups = middle_count - begin < tile_groups ? middle_count - begin : tile_groups;
    list_lines(s, p0, p1, s->middle + begin, groups, candidates);
    predict(&s->tile, p2, groups * candidates, s->phi_window);
    if (candidates == 4) /* the usual number, as compile-time constant */
      scan(s, p2, s->seed_x, &s->tile, groups, 4);
    else
      scan(s, p2, s->seed_x, &s->tile, groups, candidates);
    write_seeds(s, p0, p1, s->middle + begin, groups, candidates);
  }
}

static void list_live(struct search *s, uint32_t begin, uint32_t count, const float *module_z) {
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  struct tile *t = &s->tile;
  for (uint32_t w = 0; w < count; w += LANES) {
    const i32x8 hits = i32x8_load(s->live_hits + begin + w) & (lane < (int32_t)(count - w));
    const i32x8 h0 = hits & 0xFFFF, h1 = (i32x8)((u32x8)hits >> 16);
    const f32x8 z0 = f32x8_gather(s->event_z, h0);
    f32x8_store(t->x0 + w, f32x8_gather(s->event_x, h0));
    f32x8_store(t->y0 + w, f32x8_gather(s->event_y, h0));
    f32x8_store(t->z0 + w, z0);
    f32x8_store(t->x1 + w, f32x8_gather(s->event_x, h1));
    f32x8_store(t->y1 + w, f32x8_gather(s->event_y, h1));
    f32x8_store(t->z1 + w, f32x8_gather(s->event_z, h1));
    const i32x8 is_odd = (i32x8)(u32x8_gather(s->id, h0) >> 20 & 1u) != 0 /* as search_side_of */;
    f32x8_store(t->delta_z + w, f32x8_select(is_odd, f32x8_of(module_z[1]), f32x8_of(module_z[0])) - z0);
  }
}

/* Stores those of eight tracks that stay live, from index `live_count` on. Returns their number. */
VECTOR_INLINE uint32_t store_live(const struct search *s, i32x8 live, i32x8 hits, uint32_t left, uint32_t live_count) {
  const i32x8 is_live = (live_skips(live) <= (int32_t)s->a->max_skipped_modules) &
                        (live_lengths(live) < (int32_t)VELO_MAX_HITS_PER_TRACK);
  const uint32_t bits = i32x8_bits(is_live) & first_lanes_bits(left);
  const i32x8 lanes = i32x8_lanes_of_bits(bits);
  i32x8_store(s->live + live_count, i32x8_permute(live, lanes));
  i32x8_store(s->live_hits + live_count, i32x8_permute(hits, lanes));
  return (uint32_t)__builtin_popcount(bits);
}

/* Appends the hits that were found to their tracks and marks them as used. Without branches: if no hit was found, the
 * writes go after the end of the track and to `nowhere`. */
static void append_hits(const struct search *s, uint32_t begin, uint32_t count) {
  const struct tile *t = &s->tile;
  uint16_t fourth[TILE_WINDOWS]; /* tracks that found their fourth hit */
  uint8_t *used = s->used, nowhere;
  uint32_t fourth_count = 0;
  for (uint32_t w = 0; w < count; w++) {
    const int32_t live = s->live[begin + w];
    const uint32_t track = live_track(live), length = live_length(live), found = (uint32_t)t->found[w] & 1u;
    const uint32_t h2 = (uint32_t)(t->hit[w] & t->found[w]);
    *(found ? used + h2 : &nowhere) = 1;
    s->tracks[track][length] = (uint16_t)h2;
    s->length[track] = (uint8_t)(length + found);
    fourth[fourth_count] = (uint16_t)track;
    fourth_count += found & (length == 3);
  }
  for (uint32_t i = 0; i < fourth_count; i++)
    for (uint32_t j = 0; j < 3; j++) used[s->tracks[fourth[i]][j]] = 1;
}

/* Tracks that found no hit in a module pair. `missing`: bits of its modules that are missing. */
VECTOR_INLINE i32x8 skip_pair(const struct search *s, i32x8 live, i32x8 hits, uint32_t left, uint32_t missing) {
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7}, skipped = live_without_hit(live);
  if (missing == 0) return skipped;
  const i32x8 older = hits & 0xFFFF & (lane < (int32_t)left);
  const i32x8 is_odd = (i32x8)(u32x8_gather(s->id, older) >> 20 & 1u) != 0 /* as search_side_of */;
  const i32x8 is_missing = i32x8_select(is_odd, i32x8_of(-(int32_t)(missing >> 1)), i32x8_of(-(int32_t)(missing & 1)));
  return i32x8_select(is_missing, live, skipped);
}

/* Extends the tracks of a tile, and stores the live ones from index `live_count` on. Returns their number. */
static uint32_t extend_live(const struct search *s, uint32_t begin, uint32_t count, uint32_t missing,
                            uint32_t live_count) {
  const struct tile *t = &s->tile;
  const uint32_t first = live_count;
  append_hits(s, begin, count);
  for (uint32_t w = 0; w < count; w += LANES) {
    const i32x8 live = i32x8_load(s->live + begin + w), hits = i32x8_load(s->live_hits + begin + w);
    const i32x8 found = i32x8_load(t->found + w);
    const i32x8 with_hit = (i32x8)((u32x8)hits >> 16) | i32x8_load(t->hit + w) << 16;
    live_count += store_live(s, i32x8_select(found, live_with_hit(live), skip_pair(s, live, hits, count - w, missing)),
                             i32x8_select(found, with_hit, hits), count - w, live_count);
  }
  return live_count - first;
}

static void forward(struct search *s, uint32_t number) {
  const struct pair *p = &s->pairs[number % 3];
  const uint32_t missing = (uint32_t)(s->a->missing >> 2 * number) & 3u;
  uint32_t live_count = 0;
  if (p->count == 0) { /* no track finds a hit */
    for (uint32_t i = 0, left = s->live_count; i < s->live_count; i += LANES, left -= LANES) {
      const i32x8 live = i32x8_load(s->live + i), hits = i32x8_load(s->live_hits + i);
      live_count += store_live(s, skip_pair(s, live, hits, left, missing), hits, left, live_count);
    }
  } else {
    for (uint32_t begin = 0; begin < s->live_count; begin += TILE_WINDOWS) {
      const uint32_t left = s->live_count - begin, count = left < TILE_WINDOWS ? left : TILE_WINDOWS;
      list_live(s, begin, count, s->a->geometry.module_z + 2 * number);
      predict(&s->tile, p, count, s->phi_window);
      scan(s, p, s->x, &s->tile, count, 1);
      live_count += extend_live(s, begin, count, missing, live_count);
    }
  }
  s->live_count = live_count;
}

/* Copies the tracks of the event to the candidates from `index` on, in the output order: seeding turns are
 * read in reverse, because they went from the last pair to the first; within a turn, middle hits ascend. */
static void write_candidates(const struct search *s, uint32_t index) {
  uint32_t weak_index = index;
  for (uint32_t i = 0; i < s->track_count; i++) weak_index += s->length[i] > 3;
  for (uint32_t seeding = s->seeding_count; seeding-- > 0;) {
    const uint32_t end = seeding + 1 < s->seeding_count ? s->seeding_first[seeding + 1] : s->track_count;
    for (uint32_t i = s->seeding_first[seeding]; i < end; i++) {
      const uint32_t length = s->length[i], is_weak = length == 3;
      const uint32_t to = is_weak ? weak_index : index;
      memcpy(s->a->candidates.hits + (size_t)VELO_MAX_HITS_PER_TRACK * to, s->tracks[i], sizeof s->tracks[i]);
      s->a->candidates.hit_count[to] = (uint8_t)length;
      weak_index += is_weak;
      index += 1 - is_weak;
    }
  }
}

static void search_event(struct search *s, uint32_t event) {
  const struct velo_hits_view *hits = &s->a->hits;
  const struct search_event e = search_event_open(hits, event);
  s->pair_first = hits->pair_first + event * (VELO_MODULE_PAIRS + 1);
  s->id = hits->id + e.first;
  s->event_x = hits->x + e.first;
  s->event_y = hits->y + e.first;
  s->event_z = hits->z + e.first;
  s->event_phi = hits->phi + e.first;
  s->used = s->a->used.flag + e.first;
  s->used_end = s->a->used.flag + s->a->hits.bound.capacity;
  s->track_count = s->live_count = s->seeding_count = 0;
  memset(s->used, 0, e.count);
  search_refuse(&s->a->events, event, e);
  if (!search_event_is_searched(e)) return;
  load_phi(s, VELO_MODULE_PAIRS - 1);
  load_phi(s, VELO_MODULE_PAIRS - 2);
  for (uint32_t top = VELO_MODULE_PAIRS - 1; top >= 2; top--) {
    load_phi(s, top - 2);
    load_position(s, &s->pairs[(top - 2) % 3]);
    if (top < VELO_MODULE_PAIRS - 1) forward(s, top - 2);
    seed(s, top);
  }
}

static void share_workspace(struct search *s, const struct search_by_triplet_args *a) {
  const uint32_t hits = a->hits.bound.capacity < SEARCH_MAX_HITS ? a->hits.bound.capacity : SEARCH_MAX_HITS;
  uint32_t *next = a->workspace;
  void *arrays[SEARCH_WORK_ARRAYS];
  for (uint32_t i = 0; i < SEARCH_WORK_ARRAYS; i++, next += hits + SEARCH_WORK_SLACK) arrays[i] = next;
  for (uint32_t i = 0; i < 3; i++) s->pairs[i].phi = arrays[i];
  s->x = arrays[3];
  s->y = arrays[4];
  s->z = arrays[5];
  s->seed_x = arrays[6];
  s->unused_before = arrays[7];
  s->unused = (int32_t *)arrays[8] + LANES;
  s->middle = arrays[9];
  s->tracks = (uint16_t(*)[VELO_MAX_HITS_PER_TRACK])a->track_hits;
  s->length = a->track_length;
  s->live = (int32_t *)a->live;
  s->live_hits = s->live + hits + SEARCH_WORK_SLACK;
}

int search_by_triplet_tuned(const struct sl_launch *l, const void *args) {
  const struct search_by_triplet_args *a = args;
  struct search s;
  s.a = a;
  s.phi_window = (uint32_t)a->phi_window;
  memset(&s.tile, 0, sizeof s.tile);
  share_workspace(&s, a);
  uint32_t total = 0; /* tracks of the events so far */
  bool fits = true;
  SL_FOR_EVENTS (event, a->events) {
    search_event(&s, event);
    fits = fits && s.track_count <= a->candidates.bound.capacity - total;
    if (fits) {
      write_candidates(&s, total);
      total += s.track_count;
    }
    a->candidates.offsets[event] = s.track_count;
  }
  return l->scan(l, a->candidates.offsets, &a->candidates.bound);
}
