/* velo.masked_clustering: VELO hits from super-pixel banks: the 8-connected components of a sensor's hit pixels, at
 * their mean column and row (README.md, "Banks", "Clusters of super-pixels").
 *   1. Split each super-pixel (2 x 4 pixels) into one part, or two parts with an empty row between them.
 *   2. Sort super-pixels that are not flagged as isolated by column and row; words of one super-pixel are merged.
 *   3. Unite parts that touch: the neighbour below is the previous word; a second index, one column further west, finds
 *      the other three.
 *   4. Sum pixels, columns and rows of each cluster, and write its hit.
 * The flag "isolated" is not checked: such a super-pixel gives one or two clusters of its own.
 * Parallelism: one thread per bank (208 per event). Determinism: integer sums, independent of order.
 * Cost: O(n log n) in super-pixels, independent of cluster sizes.
 * Plain version: tests/velo/masked_clustering_reference.h.
 */
#include "banks.h"
#include "position.h"
#include "velo/event_model.h"
#include "velo/raw_banks.h"

#include <sluice/kernel.h>

#define SL_ARGS masked_clustering_args
#define MASKED_CLUSTERING(M)                                                                                          \
  M(IN, banks, velo_superpixel_banks, VELO_BANK_FIELDS, "super-pixel banks, in any order")                            \
  M(IN, geometry, velo_geometry, "local_x x_pitch transform", "positions of the sensors")                             \
  M(OUT, hits, velo_hits, "hits by module pair, sorted by phi", SL_ITEMS(SL_ONE(SL_SUBITEMS_SCALED(banks, 2, 1, 0)))) \
  M(SCRATCH, slot_first, u32, "index of each sensor's bank in its event, then of the sensor's first cluster",         \
    SL_ONE(SL_EVENTS_TERM(VELO_SENSORS, 0)))                                                                          \
  M(SCRATCH, slot_offset, u32, "number of words of each sensor, then index of its first cluster in the event",        \
    SL_ONE(SL_EVENTS_TERM(VELO_SENSORS + 1, 0)))                                                                      \
  M(SCRATCH, sorted, u32, "super-pixels that have neighbours, sorted", SL_ONE(SL_SUBITEMS_TERM(banks)))               \
  M(SCRATCH, parent, u32, "part with which each part is united; for a cluster: sensor of its pair (0 or 1)",          \
    SL_ONE(SL_SUBITEMS_SCALED(banks, 2, 1, 0)))                                                                       \
  M(SCRATCH, pixels, u32, "number of pixels of each part or cluster", SL_ONE(SL_SUBITEMS_SCALED(banks, 2, 1, 0)))     \
  M(SCRATCH, column_sum, u32, "sum of pixel columns of each part or cluster",                                         \
    SL_ONE(SL_SUBITEMS_SCALED(banks, 2, 1, 0)))                                                                       \
  M(SCRATCH, row_sum, u32, "sum of pixel rows of each part or cluster", SL_ONE(SL_SUBITEMS_SCALED(banks, 2, 1, 0)))
SL_ARGUMENTS(masked_clustering, MASKED_CLUSTERING);

/* ----------------------------------------------------------------------------------------------- clusters */

#define HITS_ARGS masked_clustering_args

/* A cluster, read from the scratch arrays; second: 1 if it is on the second sensor of its pair. */
struct item {
  uint32_t pixels, column_sum, row_sum, second;
};

static SL_DEVICE struct item item_read(const struct masked_clustering_args *a, uint32_t at) {
  const struct item item = {a->pixels[at], a->column_sum[at], a->row_sum[at], a->parent[at]};
  return item;
}

static SL_DEVICE uint32_t item_is_hit(const struct item *item) {
  (void)item;
  return 1;
}

/* The third sort key is 0: clusters of equal phi and ID keep the order of the items. */
static SL_DEVICE struct velo_hit item_hit(const struct masked_clustering_args *a, uint32_t slot, uint32_t version,
                                          const struct item *item) {
  const uint32_t pixels = item->pixels, sensor = slot + item->second;
  const uint32_t column = item->column_sum / pixels, row = item->row_sum / pixels;
  const float column_fraction = (float)(int32_t)(item->column_sum - pixels * column) / (float)(int32_t)pixels;
  const float row_fraction = (float)(int32_t)(item->row_sum - pixels * row) / (float)(int32_t)pixels;
  const float local_x = a->geometry.local_x[column] + column_fraction * a->geometry.x_pitch[column];
  const float local_y = ((float)(int32_t)row + 0.5f + row_fraction) * VELO_PIXEL_PITCH;
  (void)version;
  return velo_make_hit(a->geometry.transform + 12 * sensor, local_x, local_y, velo_id(sensor, column, row), 0);
}

#include "sorted_hits.h"

static const struct sl_event_error masked_clustering_errors[] = {VELO_BANK_ERRORS(VELO_BANK_ERROR_ENTRY_)};

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

static SL_DEVICE struct workspace workspace_of(const struct masked_clustering_args *a, const struct velo_bank *bank) {
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
static SL_DEVICE uint32_t find_clusters(const struct masked_clustering_args *a, const struct velo_bank *bank,
                                        uint32_t *error) {
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

/* ----------------------------------------------------------------------------------------------- kernels */

/* Finds the clusters of all banks of an event. Returns their number, or 0 if the event is refused. `counts`: shared
 * memory, one value per slot. Called by all threads of the block. */
static SL_DEVICE uint32_t find_all(const struct masked_clustering_args *a, uint32_t event, uint32_t *counts) {
  const struct velo_bank_list list = VELO_BANK_LIST(a->banks);
  const uint32_t begin = a->banks.offsets[event], end = a->banks.offsets[event + 1];
  uint32_t *slot_first = a->slot_first + event * VELO_SENSORS, *slot_offset = a->slot_offset + event * EVENT_OFFSETS;
  const struct velo_slots slots = {counts, slot_first, slot_offset};
  uint32_t my_clusters = 0, my_errors = 0;
  if (velo_slots_fill(&slots, &list, begin, end, &a->events, event) == 0) return 0; /* uniform in the block */
  for (uint32_t slot = threadIdx.x; slot < VELO_SENSORS; slot += blockDim.x) {
    const uint32_t has_words = slot_offset[slot] > 0 ? 1 : 0, i = has_words ? begin + slot_first[slot] : 0;
    counts[slot] = slot_first[slot] = slot_offset[slot] = 0;
    if (!has_words) continue;
    const struct velo_bank bank = velo_bank_open(&list, i);
    uint32_t error = 0;
    const uint32_t clusters = find_clusters(a, &bank, &error);
    counts[slot] = clusters | clusters << 16;
    slot_first[slot] = 2 * bank.first_word;
    my_clusters += clusters;
    if (error == 0) continue;
    my_errors++;
    sl_event_fail(&a->events, event, error, list.source_id[i]);
  }
  const uint32_t errors = sl_block_sum_u32(my_errors), clusters = sl_block_sum_u32(my_clusters);
  if (threadIdx.x == 0 && errors == 0 && clusters > VELO_MAX_CLUSTERS)
    sl_event_fail(&a->events, event, VELO_TOO_MANY, clusters);
  if (errors > 0 || clusters > VELO_MAX_CLUSTERS) return 0;
  return locate_slots(a, event, counts);
}

/* One block per event, one thread per bank. Reads the banks; writes slots, clusters, pair_first and the number of
 * hits. */
SL_KERNEL(masked_clustering_find, struct masked_clustering_args) {
  __shared__ uint32_t counts[VELO_SENSORS];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t clusters = find_all(&a, event, counts);
    if (threadIdx.x == 0) a.hits.offsets[event] = clusters;
    __syncthreads();
  }
}

static int run(const struct sl_launch *l, const struct masked_clustering_args *a) {
  const int error = SL_COUNT_SCAN(l, masked_clustering_find, SL_PER_EVENT, a->hits.offsets, &a->hits.bound, *a);
  return error ? error : SL_LAUNCH(l, sorted_hits_write, sorted_hits_grid(l), *a);
}

#ifdef SL_TARGET_CPU
static int run_tuned(const struct sl_launch *l, const void *args) {
  const struct masked_clustering_args *a = (const struct masked_clustering_args *)args;
  return SL_COUNT_SCAN_WRITE(l, masked_clustering_find, sorted_hits_write_tuned, a->hits, *a);
}
#endif

SL_ALGORITHM(masked_clustering, "VELO hits from super-pixel banks", 128, run, SL_ERRORS_OF(masked_clustering_errors),
             SL_CPU_TUNED(run_tuned));
