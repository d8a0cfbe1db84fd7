/* sort_pair.cpu.c: the hits of a module pair, sorted with vectors; same results as sorted_hits.h.
 *
 * Keys are phi with the hit's number in the pair below it, as in the shared source. 64 of them are sorted at a time
 * in eight registers, as eight columns and then by merging columns; so a comparison takes eight lanes at once and no
 * branch depends on data. Blocks of 64 are merged in memory. Then eight hits are gathered and stored at a time,
 * whatever the pair's number: what is written after its end is written again by the next pair.
 */
#include "sort_pair.h"

#include <sluice/vectors.h>

#include <stdbool.h>

enum { ROWS = 8, BLOCK = ROWS * LANES, MAX_BLOCKS = SORT_PAIR_MAX / BLOCK };

/* Key number k is in row k % 8 of lane k / 8. */
struct block {
  i32x8 row[ROWS];
};

/* Of keys a and b of each lane, the smaller to a. */
VECTOR_INLINE void put_in_order(i32x8 *a, i32x8 *b) {
  const i32x8 smaller = i32x8_min(*a, *b);
  *b = i32x8_max(*a, *b);
  *a = smaller;
}

#define LANES_REVERSED_IN_TWOS(v)  LANES_SWAPPED_1(v)
#define LANES_REVERSED_IN_FOURS(v) __builtin_shufflevector(v, v, 3, 2, 1, 0, 7, 6, 5, 4)
#define LANES_REVERSED(v)          __builtin_shufflevector(v, v, 7, 6, 5, 4, 3, 2, 1, 0)

/* Steps of a merge: number k with the one at the same distance from the other end; with the one some lanes away. */
#define MERGE_ENDS(b, reversed, of)                                 \
  for (int r = 0; r < ROWS / 2; r++) {                              \
    const i32x8 first = (b)->row[r], last = (b)->row[ROWS - 1 - r]; \
    (b)->row[r] = of(first, reversed(last));                        \
    (b)->row[ROWS - 1 - r] = of(last, reversed(first));             \
  }
#define MERGE_LANES(b, swapped, of) \
  for (int r = 0; r < ROWS; r++) (b)->row[r] = of((b)->row[r], swapped((b)->row[r]))

/* Each lane rises and then falls, or the other way round: sorts it. */
VECTOR_INLINE void merge_rows(struct block *b) {
  for (int r = 0; r < 4; r++) put_in_order(&b->row[r], &b->row[r + 4]);
  for (int r = 0; r < 8; r += r % 4 == 1 ? 3 : 1) put_in_order(&b->row[r], &b->row[r + 2]);
  for (int r = 0; r < 8; r += 2) put_in_order(&b->row[r], &b->row[r + 1]);
}

VECTOR_INLINE void sort_rows(struct block *b) {
  static const int8_t network[19][2] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}, {0, 1}, {2, 3},
                                        {4, 5}, {6, 7}, {2, 4}, {3, 5}, {1, 4}, {3, 6}, {1, 2}, {3, 4}, {5, 6}};
#pragma GCC unroll 19
  for (int i = 0; i < 19; i++) put_in_order(&b->row[network[i][0]], &b->row[network[i][1]]);
}

static void sort_block(struct block *block) {
  struct block b = *block;
  sort_rows(&b);
  MERGE_ENDS(&b, LANES_REVERSED_IN_TWOS, LANES_ORDERED_IN_TWOS)
  merge_rows(&b);
  MERGE_ENDS(&b, LANES_REVERSED_IN_FOURS, LANES_ORDERED_IN_FOURS)
  MERGE_LANES(&b, LANES_SWAPPED_1, LANES_ORDERED_IN_TWOS);
  merge_rows(&b);
  MERGE_ENDS(&b, LANES_REVERSED, LANES_ORDERED)
  MERGE_LANES(&b, LANES_SWAPPED_2, LANES_ORDERED_IN_FOURS);
  MERGE_LANES(&b, LANES_SWAPPED_1, LANES_ORDERED_IN_TWOS);
  merge_rows(&b);
  *block = b;
}

/* A block rises and then falls, or the other way round: sorts it. */
static void merge_block(struct block *block) {
  struct block b = *block;
  MERGE_LANES(&b, LANES_SWAPPED_4, LANES_ORDERED);
  MERGE_LANES(&b, LANES_SWAPPED_2, LANES_ORDERED_IN_FOURS);
  MERGE_LANES(&b, LANES_SWAPPED_1, LANES_ORDERED_IN_TWOS);
  merge_rows(&b);
  *block = b;
}

/* Merges two sorted runs of `size` blocks, one after the other. */
static void merge_runs(struct block *blocks, uint32_t size) {
  for (uint32_t i = 0; i < size; i++) {
    struct block *low = blocks + i, *high = blocks + 2 * size - 1 - i;
    for (int r = 0; r < ROWS; r++) {
      i32x8 reversed = LANES_REVERSED(high->row[ROWS - 1 - r]);
      put_in_order(&low->row[r], &reversed);
      high->row[ROWS - 1 - r] = LANES_REVERSED(reversed);
    }
  }
  for (uint32_t distance = size / 2; distance > 0; distance /= 2)
    for (uint32_t i = 0; i < 2 * size; i++)
      if (i / distance % 2 == 0)
        for (int r = 0; r < ROWS; r++) put_in_order(&blocks[i].row[r], &blocks[i + distance].row[r]);
  for (uint32_t i = 0; i < 2 * size; i++) merge_block(blocks + i);
}

/* Writes a block's keys in order. */
VECTOR_INLINE void store_block(const struct block *b, int32_t *keys) {
  i32x8 two[ROWS], four[ROWS];
  for (int r = 0; r < ROWS; r += 2) {
    two[r] = __builtin_shufflevector(b->row[r], b->row[r + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    two[r + 1] = __builtin_shufflevector(b->row[r], b->row[r + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int h = 0; h < ROWS; h += 4)
    for (int r = 0; r < 2; r++) {
      four[h + 2 * r] = __builtin_shufflevector(two[h + r], two[h + r + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      four[h + 2 * r + 1] = __builtin_shufflevector(two[h + r], two[h + r + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int r = 0; r < 4; r++) {
    i32x8_store(keys + LANES * r, __builtin_shufflevector(four[r], four[r + 4], 0, 1, 2, 3, 8, 9, 10, 11));
    i32x8_store(keys + LANES * (r + 4), __builtin_shufflevector(four[r], four[r + 4], 4, 5, 6, 7, 12, 13, 14, 15));
  }
}

/* ---------------------------------------------------------------------------------------------- keys of hits */

VECTOR_INLINE int32_t key_hit(int32_t key) { return key & 0xFFFF; }
VECTOR_INLINE bool have_equal_phi(int32_t key, int32_t other) { return ((uint32_t)key ^ (uint32_t)other) >> 16 == 0; }

/* Keys of `count` hits, and larger ones to the end of the last block. */
static void load_keys(const int16_t *phi, uint32_t count, struct block *blocks, uint32_t rows) {
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  i32x8 *row = blocks->row;
  for (uint32_t i = 0; i < rows; i++) {
    const uint32_t first = i * LANES;
    i16x8 values = {0};
    if (first < count) memcpy(&values, phi + first, sizeof values);
    const i32x8 number = lane + (int32_t)first;
    const i32x8 key = (i32x8)((u32x8) __builtin_convertvector(values, i32x8) << 16) | number;
    row[i] = i32x8_select(number < (int32_t)count, key, i32x8_of(INT32_MAX));
  }
}

/* Does hit i come before j, which has the same phi? */
static bool comes_before(const struct velo_places *places, int32_t i, int32_t j) {
  if (places->id[i] != places->id[j]) return places->id[i] < places->id[j];
  if (places->order[i] != places->order[j]) return places->order[i] < places->order[j];
  return i < j;
}

/* Puts hits of the same phi in order. */
static __attribute__((noinline)) void order_equals(const struct velo_places *places, uint32_t count, int32_t *keys) {
  for (uint32_t i = 1; i < count; i++) {
    const int32_t key = keys[i];
    uint32_t place = i;
    for (; place > 0 && have_equal_phi(keys[place - 1], key); place--) {
      if (comes_before(places, key_hit(keys[place - 1]), key_hit(key))) break;
      keys[place] = keys[place - 1];
    }
    keys[place] = key;
  }
}

static bool has_equals(const int32_t *keys, uint32_t count) {
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  i32x8 equals = {0};
  for (uint32_t i = 0; i + 1 < count; i += LANES)
    equals |= ((i32x8_load(keys + i) ^ i32x8_load(keys + i + 1)) >> 16 == 0) & (lane < (int32_t)(count - 1 - i));
  return i32x8_bits(equals) != 0;
}

/* -------------------------------------------------------------------------------------------------- hits */

struct eight_hits {
  u32x8 id;
  i16x8 phi;
  f32x8 x, y, z;
};

VECTOR_INLINE void store(const struct velo_hits *to, uint32_t place, const struct eight_hits *h, size_t count) {
  memcpy(to->id + place, &h->id, count * sizeof *to->id);
  memcpy(to->phi + place, &h->phi, count * sizeof *to->phi);
  memcpy(to->x + place, &h->x, count * sizeof *to->x);
  memcpy(to->y + place, &h->y, count * sizeof *to->y);
  memcpy(to->z + place, &h->z, count * sizeof *to->z);
}

static __attribute__((noinline)) void store_some(const struct velo_hits *to, uint32_t place, const struct eight_hits *h,
                                                 size_t count) {
  store(to, place, h, count);
}

static void write_hits(const struct velo_places *places, uint32_t count, const int32_t *keys,
                       const struct velo_hits *hits, uint32_t to, uint32_t end) {
  for (uint32_t i = 0; i < count; i += LANES) {
    const i32x8 key = i32x8_load(keys + i), at = i32x8_min(key & 0xFFFF, i32x8_of((int32_t)count - 1));
    const struct eight_hits h = {u32x8_gather(places->id, at), __builtin_convertvector(key >> 16, i16x8),
                                 f32x8_gather(places->x, at), f32x8_gather(places->y, at), f32x8_gather(places->z, at)};
    if (to + i + LANES <= end) {
      store(hits, to + i, &h, LANES);
    } else {
      const struct eight_hits copy = h;
      store_some(hits, to + i, &copy, count - i);
    }
  }
}

void sort_pair_cpu(const struct velo_places *places, uint32_t count, const struct velo_hits *hits, uint32_t to,
                   uint32_t end) {
  struct block blocks[MAX_BLOCKS];
  int32_t keys[SORT_PAIR_MAX + LANES]; /* those after the last are read, but of no effect */
  uint32_t used = 1;                   /* blocks: a power of two */
  if (count == 0) return;
  while (used * BLOCK < count) used *= 2;
  load_keys(places->phi, count, blocks, used * ROWS);
  for (uint32_t i = 0; i * BLOCK < count; i++) sort_block(blocks + i);
  for (uint32_t size = 1; size < used; size *= 2)
    for (uint32_t first = 0; first < used; first += 2 * size) merge_runs(blocks + first, size);
  for (uint32_t i = 0; i * BLOCK < count; i++) store_block(blocks + i, keys + i * BLOCK);
  i32x8_store(keys + (count + BLOCK - 1) / BLOCK * BLOCK, i32x8_of(0));
  if (has_equals(keys, count)) order_equals(places, count, keys);
  write_hits(places, count, keys, hits, to, end);
}
