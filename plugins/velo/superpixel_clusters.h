/* superpixel_clusters.h: finds the clusters of a super-pixel bank, by one thread (masked_clustering.cu, steps 1 to 4).
 *
 * A kernel defines HITS_ARGS before the include: its argument struct, with the input `banks` and the scratch arrays
 * sorted, parent, pixels, column_sum and row_sum of masked_clustering.cu.
 */
#ifndef VELO_SUPERPIXEL_CLUSTERS_H
#define VELO_SUPERPIXEL_CLUSTERS_H

#include "banks.h"

/* ------------------------------------------------------------------------------------------- super-pixels */

/* Bits of a word: 0-7 hit pixels (column 0 in bits 0-3, column 1 in bits 4-7, rows upwards), 8-13 row of the
 * super-pixel, 14-22 column of the super-pixel, 23 sensor of a pair (version 4), 31 isolated. Bits 8-23 sort by sensor,
 * column and row. */
#define SUPERPIXEL_ISOLATED (1u << 31)
enum { SUPERPIXEL_COLUMNS = VELO_SENSOR_COLUMNS / 2 };

static SL_DEVICE uint32_t superpixel_mask(uint32_t word) { return word & 0xFF; }
static SL_DEVICE uint32_t superpixel_row(uint32_t word) { return word >> 8 & 0x3F; }
static SL_DEVICE uint32_t superpixel_column(uint32_t word) { return word >> 14 & 0x1FF; }
static SL_DEVICE uint32_t superpixel_second(uint32_t word) { return word >> 23 & 1; }
static SL_DEVICE uint32_t superpixel_address(uint32_t word) { return word >> 8 & 0xFFFF; } /* sensor, column, row */

/* The first part of a super-pixel: the pixels of the lowest run of occupied rows. The other pixels are the second. */
static SL_DEVICE uint32_t lower_part(uint32_t mask) {
  const uint32_t rows = (mask | mask >> 4) & 0xF;
  const uint32_t lowest = rows & (~rows + 1);
  const uint32_t lowest_run = rows & ~(rows + lowest);
  return mask & (lowest_run | lowest_run << 4);
}

/* Number of rows set in four bits, and sum of their indices, from tables of 16 hexadecimal digits. */
static SL_DEVICE uint32_t count_rows(uint32_t rows) { return (uint32_t)(0x4332322132212110ull >> 4 * rows) & 0xF; }
static SL_DEVICE uint32_t sum_rows(uint32_t rows) { return (uint32_t)(0x6655443333221100ull >> 4 * rows) & 0xF; }

/* 1 if a pixel of `part` touches a pixel of `other`, a part of the super-pixel `distance` addresses before it:
 * 1 south, 63 north-west, 64 west, 65 south-west. */
static SL_DEVICE uint32_t parts_are_adjacent(uint32_t distance, uint32_t part, uint32_t other) {
  if (distance == 1) return (part & 0x11) != 0 && (other & 0x88) != 0;
  if (distance == 63) return (part & 0x08) != 0 && (other & 0x10) != 0;
  if (distance == 65) return (part & 0x01) != 0 && (other & 0x80) != 0;
  const uint32_t rows = other >> 4;
  return ((rows | rows << 1 | rows >> 1) & part & 0x0F) != 0;
}

/* ------------------------------------------------------------------------------- one bank, by one thread */

/* Parts and clusters of a bank: arrays of two elements per word. The parts of sorted super-pixel i have the indices
 * first_part + 2 i and first_part + 2 i + 1. Clusters are stored from index 0 on; they never overtake the parts. */
struct workspace {
  uint32_t *sorted;
  uint32_t *parent, *pixels, *column_sum, *row_sum;
  uint32_t superpixels; /* number of sorted super-pixels */
  uint32_t first_part;
  uint32_t clusters;
};

static SL_DEVICE struct workspace workspace_of(const struct HITS_ARGS *a, const struct velo_bank *bank) {
  const uint32_t first = 2 * bank->first_word;
  struct workspace w;
  w.sorted = a->sorted + bank->first_word;
  w.parent = a->parent + first;
  w.pixels = a->pixels + first;
  w.column_sum = a->column_sum + first;
  w.row_sum = a->row_sum + first;
  w.superpixels = w.first_part = w.clusters = 0;
  return w;
}

static SL_DEVICE void set_part(const struct workspace *w, uint32_t i, uint32_t word, uint32_t part) {
  const uint32_t left = count_rows(part & 0xF), right = count_rows(part >> 4);
  w->pixels[i] = left + right;
  w->column_sum[i] = (left + right) * 2 * superpixel_column(word) + right;
  w->row_sum[i] = (left + right) * 4 * superpixel_row(word) + sum_rows(part & 0xF) + sum_rows(part >> 4);
}

static SL_DEVICE void add_isolated(struct workspace *w, uint32_t word) {
  const uint32_t lower = lower_part(superpixel_mask(word)), upper = superpixel_mask(word) ^ lower;
  set_part(w, w->clusters, word, lower);
  w->parent[w->clusters++] = superpixel_second(word);
  if (upper == 0) return;
  set_part(w, w->clusters, word, upper);
  w->parent[w->clusters++] = superpixel_second(word);
}

/* Shell sort, ascending, with gaps 1, 4, 13, 40, ...: fast for the few super-pixels of a typical bank, and O(n^(3/2))
 * at worst. */
static SL_DEVICE void sort_words(uint32_t *words, uint32_t count) {
  uint32_t gap = 1;
  while (gap < count / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3) {
    for (uint32_t i = gap; i < count; i++) {
      const uint32_t word = words[i];
      uint32_t j = i;
      for (; j >= gap && words[j - gap] > word; j -= gap) words[j] = words[j - gap];
      words[j] = word;
    }
  }
}

/* Sorts the super-pixels of the bank and merges those of equal address. */
static SL_DEVICE void sort_superpixels(struct workspace *w) {
  sort_words(w->sorted, w->superpixels);
  uint32_t unique = 0;
  for (uint32_t i = 0; i < w->superpixels; i++) {
    if (unique > 0 && superpixel_address(w->sorted[unique - 1]) == superpixel_address(w->sorted[i]))
      w->sorted[unique - 1] |= superpixel_mask(w->sorted[i]);
    else
      w->sorted[unique++] = w->sorted[i];
  }
  w->superpixels = unique;
}

/* The root of the set that contains part i. Shortens the path for later calls. */
static SL_DEVICE uint32_t find_root(uint32_t *parent, uint32_t i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

/* Unites the sets of parts i and j; the smaller root remains. */
static SL_DEVICE void unite(uint32_t *parent, uint32_t i, uint32_t j) {
  const uint32_t a = find_root(parent, i), b = find_root(parent, j);
  if (a < b)
    parent[b] = a;
  else
    parent[a] = b;
}

/* Unites the parts of sorted super-pixels i and j that touch. */
static SL_DEVICE void unite_neighbours(const struct workspace *w, uint32_t i, uint32_t j, uint32_t distance) {
  const uint32_t mask = superpixel_mask(w->sorted[i]), other = superpixel_mask(w->sorted[j]);
  const uint32_t lower = lower_part(mask), upper = mask ^ lower;
  const uint32_t other_lower = lower_part(other), other_upper = other ^ other_lower;
  const uint32_t part = w->first_part + 2 * i, other_part = w->first_part + 2 * j;
  if (parts_are_adjacent(distance, lower, other_lower)) unite(w->parent, part, other_part);
  if (parts_are_adjacent(distance, lower, other_upper)) unite(w->parent, part, other_part + 1);
  if (parts_are_adjacent(distance, upper, other_lower)) unite(w->parent, part + 1, other_part);
  if (parts_are_adjacent(distance, upper, other_upper)) unite(w->parent, part + 1, other_part + 1);
}

/* Makes the parts of the sorted super-pixels and unites parts that touch. */
static SL_DEVICE void unite_superpixels(const struct workspace *w) {
  uint32_t west = 0; /* first super-pixel that can be a neighbour of i in the column to the west */
  for (uint32_t i = 0; i < w->superpixels; i++) {
    const uint32_t word = w->sorted[i], address = superpixel_address(word), row = superpixel_row(word);
    const uint32_t lower = lower_part(superpixel_mask(word)), part = w->first_part + 2 * i;
    set_part(w, part, word, lower);
    set_part(w, part + 1, word, superpixel_mask(word) ^ lower);
    w->parent[part] = part;
    w->parent[part + 1] = part + 1;
    if (i > 0 && row > 0 && superpixel_address(w->sorted[i - 1]) + 1 == address) unite_neighbours(w, i, i - 1, 1);
    while (superpixel_address(w->sorted[west]) + 65 < address) west++;
    for (uint32_t j = west; superpixel_address(w->sorted[j]) + 63 <= address; j++) {
      const uint32_t distance = address - superpixel_address(w->sorted[j]);
      /* Below the first row and above the last row, the address belongs to another column. */
      if ((distance == 65 && row == 0) || (distance == 63 && row == 63)) continue;
      unite_neighbours(w, i, j, distance);
    }
  }
}

/* Adds every part to its root and appends the roots to the clusters. */
static SL_DEVICE void add_united(struct workspace *w) {
  const uint32_t end = w->first_part + 2 * w->superpixels;
  for (uint32_t i = w->first_part; i < end; i++) {
    const uint32_t root = find_root(w->parent, i);
    if (root == i) continue;
    w->pixels[root] += w->pixels[i];
    w->column_sum[root] += w->column_sum[i];
    w->row_sum[root] += w->row_sum[i];
  }
  for (uint32_t i = w->first_part; i < end; i++) {
    if (w->parent[i] != i || w->pixels[i] == 0) continue;
    w->pixels[w->clusters] = w->pixels[i];
    w->column_sum[w->clusters] = w->column_sum[i];
    w->row_sum[w->clusters] = w->row_sum[i];
    w->parent[w->clusters++] = superpixel_second(w->sorted[(i - w->first_part) / 2]);
  }
}

/* Finds the clusters of a bank and stores them in its workspace. Returns their number. Sets *error and returns 0 if a
 * word has an invalid column. */
static SL_DEVICE uint32_t find_clusters(const struct HITS_ARGS *a, const struct velo_bank *bank, uint32_t *error) {
  const uint32_t *words = a->banks.payload + bank->first_word;
  const uint32_t address_bits = bank->version == 4 ? 0xFFFFFF : 0x7FFFFF;
  struct workspace w = workspace_of(a, bank);
  for (uint32_t i = 0; i < bank->word_count; i++) {
    const uint32_t word = words[i] & address_bits;
    if (superpixel_column(word) >= SUPERPIXEL_COLUMNS) {
      *error = VELO_BAD_COLUMN;
      return 0;
    }
    if (superpixel_mask(word) == 0) continue;
    if (words[i] & SUPERPIXEL_ISOLATED)
      add_isolated(&w, word);
    else
      w.sorted[w.superpixels++] = word;
  }
  w.first_part = w.clusters;
  sort_superpixels(&w);
  unite_superpixels(&w);
  add_united(&w);
  return w.clusters;
}

#endif
