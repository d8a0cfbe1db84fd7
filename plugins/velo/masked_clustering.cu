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

#include "superpixel_clusters.h"

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
