/* sort_pair.cpu.c: sorts the hits of a module pair with 256-bit vectors; same results as sorted_hits.h.
 *   1. Keys: phi << 16 | index of the hit in the pair.
 *   2. Sort blocks of 64 keys in eight registers: each lane, then merge lanes. No branch depends on data.
 *   3. Merge the blocks in memory (bitonic).
 *   4. Order hits of equal phi, then gather and store eight hits at a time. Values stored after the last hit are
 *      overwritten by the next pair.
 */
#include "sort_pair.h"

#include <sluice/vectors.h>

#include <stdbool.h>

enum { ROWS = 8, BLOCK = ROWS * LANES, MAX_BLOCKS = SORT_PAIR_MAX / BLOCK };

/* Key k is in row k % 8 of lane k / 8. */
struct block {
  i32x8 row[ROWS];
};

/* In each lane: moves the smaller key to a, the larger one to b. */
VECTOR_INLINE void put_in_order(i32x8 *a, i32x8 *b) {
  const i32x8 smaller = i32x8_min(*a, *b);
  *b = i32x8_max(*a, *b);
  *a = smaller;
}

#define LANES_REVERSED_IN_TWOS(v)  LANES_SWAPPED_1(v)
#define LANES_REVERSED_IN_FOURS(v) __builtin_shufflevector(v, v, 3, 2, 1, 0, 7, 6, 5, 4)
#define LANES_REVERSED(v)          __builtin_shufflevector(v, v, 7, 6, 5, 4, 3, 2, 1, 0)

/* Steps of a merge. MERGE_ENDS compares key k with key n - 1 - k, MERGE_LANES with the key some lanes away. */
#define MERGE_ENDS(b, reversed, of)                                 \
  for (int r = 0; r < ROWS / 2; r++) {                              \
    const i32x8 first = (b)->row[r], last = (b)->row[ROWS - 1 - r]; \
    (b)->row[r] = of(first, reversed(last));                        \
    (b)->row[ROWS - 1 - r] = of(last, reversed(first));             \
  }
#define MERGE_LANES(b, swapped, of) \
  for (int r = 0; r < ROWS; r++) (b)->row[r] = of((b)->row[r], swapped((b)->row[r]))

/* Sorts each lane, which is bitonic. */
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

/* Sorts a bitonic block. */
static void merge_block(struct block *block) {
  struct block b = *block;
  MERGE_LANES(&b, LANES_SWAPPED_4, LANES_ORDERED);
  MERGE_LANES(&b, LANES_SWAPPED_2, LANES_ORDERED_IN_FOURS);
  MERGE_LANES(&b, LANES_SWAPPED_1, LANES_ORDERED_IN_TWOS);
  merge_rows(&b);
  *block = b;
}

/* Merges two adjacent sorted runs of `size` blocks. */
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

/* Transposes a block, so that its keys are stored in order. */
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

/* Makes the keys of `count` hits and fills the last block with INT32_MAX. */
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

/* For hits i and j of equal phi: true if i is sorted before j. */
static bool comes_before(const struct velo_unsorted_hits *unsorted, int32_t i, int32_t j) {
  if (unsorted->id[i] != unsorted->id[j]) return unsorted->id[i] < unsorted->id[j];
  if (unsorted->order[i] != unsorted->order[j]) return unsorted->order[i] < unsorted->order[j];
  return i < j;
}

/* Insertion sort within each group of hits of equal phi. */
static __attribute__((noinline)) void order_equals(const struct velo_unsorted_hits *unsorted, uint32_t count,
                                                   int32_t *keys) {
  for (uint32_t i = 1; i < count; i++) {
    const int32_t key = keys[i];
    uint32_t index = i;
    for (; index > 0 && have_equal_phi(keys[index - 1], key); index--) {
      if (comes_before(unsorted, key_hit(keys[index - 1]), key_hit(key))) break;
      keys[index] = keys[index - 1];
    }
    keys[index] = key;
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

VECTOR_INLINE void store(const struct velo_hits *to, uint32_t index, const struct eight_hits *h, size_t count) {
  memcpy(to->id + index, &h->id, count * sizeof *to->id);
  memcpy(to->phi + index, &h->phi, count * sizeof *to->phi);
  memcpy(to->x + index, &h->x, count * sizeof *to->x);
  memcpy(to->y + index, &h->y, count * sizeof *to->y);
  memcpy(to->z + index, &h->z, count * sizeof *to->z);
}

static __attribute__((noinline)) void store_some(const struct velo_hits *to, uint32_t index, const struct eight_hits *h,
                                                 size_t count) {
  store(to, index, h, count);
}

static void write_hits(const struct velo_unsorted_hits *unsorted, uint32_t count, const int32_t *keys,
                       const struct velo_hits *hits, uint32_t to, uint32_t end) {
  for (uint32_t i = 0; i < count; i += LANES) {
    const i32x8 key = i32x8_load(keys + i), at = i32x8_min(key & 0xFFFF, i32x8_of((int32_t)count - 1));
    const struct eight_hits h = {u32x8_gather(unsorted->id, at), __builtin_convertvector(key >> 16, i16x8),
                                 f32x8_gather(unsorted->x, at), f32x8_gather(unsorted->y, at),
                                 f32x8_gather(unsorted->z, at)};
    if (to + i + LANES <= end) {
      store(hits, to + i, &h, LANES);
    } else {
      const struct eight_hits copy = h;
      store_some(hits, to + i, &copy, count - i);
    }
  }
}

void sort_pair_cpu(const struct velo_unsorted_hits *unsorted, uint32_t count, const struct velo_hits *hits, uint32_t to,
                   uint32_t end) {
  struct block blocks[MAX_BLOCKS];
  int32_t keys[SORT_PAIR_MAX + LANES]; /* keys after the last one are read without effect */
  uint32_t used = 1;                   /* blocks in use, a power of two */
  if (count == 0) return;
  while (used * BLOCK < count) used *= 2;
  load_keys(unsorted->phi, count, blocks, used * ROWS);
  for (uint32_t i = 0; i * BLOCK < count; i++) sort_block(blocks + i);
  for (uint32_t size = 1; size < used; size *= 2)
    for (uint32_t first = 0; first < used; first += 2 * size) merge_runs(blocks + first, size);
  for (uint32_t i = 0; i * BLOCK < count; i++) store_block(blocks + i, keys + i * BLOCK);
  i32x8_store(keys + (count + BLOCK - 1) / BLOCK * BLOCK, i32x8_of(0));
  if (has_equals(keys, count)) order_equals(unsorted, count, keys);
  write_hits(unsorted, count, keys, hits, to, end);
}
