/* velo.sort_by_phi: VELO hits from clusters: compacted, and sorted by (phi, id, order) in each module pair.
 *
 * A rank sort: a hit's place in its pair is the number of clusters of the pair that come before it. Pairs hold some 70
 * clusters, so that counting beats anything cleverer. Two clusters that agree in all three keys keep the order of the
 * input, so that places are unique whatever the input.
 *
 * A warp sorts a pair alone, without a barrier: phi and the place in the input make a key of 32 bits that is unique,
 * keys stand in shared memory, and a lane counts for up to four clusters with every key that it reads. Neighbours of
 * equal phi show only in the result; one pair in eight has some, and these are put in order by id and order. Then
 * clusters are gathered, so that hits are written in one piece. Pairs that are too large for this, and those of a cpu,
 * whose warp is one thread, are ranked straight from memory.
 * Source: spec velo_pv.md A.4, H.1.
 */
#include "sort_by_phi.h"
#include "velo/event_model.h"

#include <sluice/kernel.h>
#include <sluice/plugin.h>

#define SL_ARGS sort_by_phi_args
static const struct sl_member sort_by_phi_members[] = {
    SL_EVENTS(),
    SL_IN(clusters, velo_clusters, "", "in any order within a module pair"),
    SL_OUT(hits, velo_hits, "sorted", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(clusters)))),
};

/* Per event: writes where the hits of each module pair begin, relative to the event, behind them their number, and the
 * latter in the event's place of the offsets too. */
SL_KERNEL(sort_by_phi_count, struct sort_by_phi_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t before = 0;
    SL_FOR_BLOCK (pair, VELO_MODULE_PAIRS + 1) {
      const uint32_t count = pair < VELO_MODULE_PAIRS ? a.clusters.pair_count[event * VELO_MODULE_PAIRS + pair] : 0u;
      uint32_t total;
      const uint32_t place = before + sl_block_exclusive_scan(count, &total);
      if (pair <= VELO_MODULE_PAIRS) a.hits.pair_first[event * (VELO_MODULE_PAIRS + 1) + pair] = place;
      before += total;
    }
    if (threadIdx.x == 0) a.hits.offsets[event] = before;
  }
}

/* The clusters of a module pair, `count` from `from` on in the slice, and where its hits go. */
struct slice {
  uint32_t from, to, count;
};

static SL_DEVICE struct slice slice_of(const struct sort_by_phi_args *a, uint32_t event, uint32_t pair) {
  const uint32_t *first = a->hits.pair_first + event * (VELO_MODULE_PAIRS + 1) + pair;
  const struct slice p = {a->clusters.offsets[event] + a->clusters.pair_first[event * VELO_MODULE_PAIRS + pair],
                          a->hits.offsets[event] + first[0], first[1] - first[0]};
  return p;
}

/* Equal offsets though there are hits: the slice overflowed, so that the event must have none. */
static SL_DEVICE uint32_t clear_if_empty(const struct sort_by_phi_args *a, uint32_t event) {
  if (a->hits.offsets[event + 1] != a->hits.offsets[event]) return 0;
  for (uint32_t pair = threadIdx.x; pair <= VELO_MODULE_PAIRS; pair += blockDim.x)
    a->hits.pair_first[event * (VELO_MODULE_PAIRS + 1) + pair] = 0;
  return 1;
}

/* Of clusters i and j of a pair, which have the same phi: does j come before i? */
static SL_DEVICE uint32_t comes_before(const struct sort_by_phi_args *a, uint32_t from, uint32_t j, uint32_t i) {
  const uint32_t *id = a->clusters.id + from, *order = a->clusters.order + from;
  if (id[j] != id[i]) return id[j] < id[i];
  if (order[j] != order[i]) return order[j] < order[i];
  return j < i;
}

/* ------------------------------------------------------------------------------------- ranks from memory */

static SL_DEVICE uint32_t rank_of(const struct sort_by_phi_args *a, const struct slice *p, uint32_t i) {
  const int16_t *phi = a->clusters.phi + p->from;
  uint32_t before = 0, equal = 0;
  for (uint32_t j = 0; j < p->count; j++) {
    before += phi[j] < phi[i] ? 1u : 0u;
    equal += phi[j] == phi[i] ? 1u : 0u;
  }
  if (equal == 1) return before;
  for (uint32_t j = 0; j < p->count; j++)
    if (phi[j] == phi[i] && comes_before(a, p->from, j, i)) before++;
  return before;
}

static SL_DEVICE void sort_large(const struct sort_by_phi_args *a, const struct slice *p) {
  for (uint32_t i = sl_warp_lane(); i < p->count; i += sl_warp_lanes()) {
    const uint32_t hit = p->to + rank_of(a, p, i), cluster = p->from + i;
    a->hits.id[hit] = a->clusters.id[cluster];
    a->hits.phi[hit] = a->clusters.phi[cluster];
    a->hits.x[hit] = a->clusters.x[cluster];
    a->hits.y[hit] = a->clusters.y[cluster];
    a->hits.z[hit] = a->clusters.z[cluster];
  }
}

/* ---------------------------------------------------------------------------------- ranks by a warp's keys */

enum {
  WARPS = 4,  /* of a block, that sort: what there is shared memory for */
  KEYS = 256, /* clusters of a pair, that there is shared memory for */
  ROWS = 4,   /* clusters of a lane, at a time */
  PLACE_MASK = 0xFFFF
};

/* A warp's: keys as they come, padded to a multiple of four by keys that are greater than any; then sorted. A key has
 * phi, made unsigned, in its high half and the cluster's place in its low one. */
struct keys {
  uint32_t unsorted[KEYS], sorted[KEYS];
};
struct four_keys {
  uint32_t key[4];
} __attribute__((aligned(16)));

/* The key of cluster i as it is sorted: 0x8000 makes phi unsigned. */
static SL_DEVICE uint32_t key_of(const struct sort_by_phi_args *a, const struct slice *p, uint32_t i) {
  return ((uint32_t)(uint16_t)a->clusters.phi[p->from + i] ^ 0x8000u) << 16 | i;
}

/* Puts keys `i`, i + lanes, ... into their places, `rows` of them; `rows` is known to the compiler. */
static SL_DEVICE void rank_keys(struct keys *k, uint32_t count, uint32_t i, const uint32_t rows) {
  uint32_t mine[ROWS], before[ROWS];
  for (uint32_t r = 0; r < rows; r++) {
    const uint32_t place = i + r * sl_warp_lanes();
    mine[r] = place < count ? k->unsorted[place] : 0;
    before[r] = 0;
  }
  for (uint32_t j = 0; j < count; j += 4) {
    const struct four_keys other = *(const struct four_keys *)(k->unsorted + j);
    for (uint32_t r = 0; r < rows; r++)
      for (uint32_t o = 0; o < 4; o++)
        if (other.key[o] < mine[r]) before[r]++;
  }
  for (uint32_t r = 0; r < rows; r++)
    if (i + r * sl_warp_lanes() < count) k->sorted[before[r]] = mine[r];
}

/* Among the sorted keys some neighbours have the same phi: puts all keys into their final order, and these in the
 * place of the unsorted ones. */
static SL_DEVICE void order_equals(const struct sort_by_phi_args *a, const struct slice *p, struct keys *k) {
  for (uint32_t i = sl_warp_lane(); i < p->count; i += sl_warp_lanes()) {
    const uint32_t key = k->sorted[i];
    uint32_t begin = i, end = i + 1;
    while (begin > 0 && k->sorted[begin - 1] >> 16 == key >> 16) begin--;
    while (end < p->count && k->sorted[end] >> 16 == key >> 16) end++;
    uint32_t place = begin;
    for (uint32_t j = begin; end - begin > 1 && j < end; j++)
      place += comes_before(a, p->from, k->sorted[j] & PLACE_MASK, key & PLACE_MASK);
    k->unsorted[place] = key;
  }
}

/* Writes hits `i`, i + lanes, ... of the pair, `rows` of them, in the order of `sorted`. All is read before anything is
 * written, so that one wait is enough. */
static SL_DEVICE void write_hits(const struct sort_by_phi_args *a, const struct slice *p, const uint32_t *sorted,
                                 uint32_t i, const uint32_t rows) {
  uint32_t key[ROWS] = {0}, id[ROWS] = {0};
  float x[ROWS] = {0}, y[ROWS] = {0}, z[ROWS] = {0};
  for (uint32_t r = 0; r < rows; r++) {
    const uint32_t place = i + r * sl_warp_lanes();
    if (place >= p->count) continue;
    key[r] = sorted[place];
    const uint32_t cluster = p->from + (key[r] & PLACE_MASK);
    id[r] = a->clusters.id[cluster];
    x[r] = a->clusters.x[cluster];
    y[r] = a->clusters.y[cluster];
    z[r] = a->clusters.z[cluster];
  }
  for (uint32_t r = 0; r < rows; r++) {
    const uint32_t hit = p->to + i + r * sl_warp_lanes();
    if (hit >= p->to + p->count) continue;
    a->hits.id[hit] = id[r];
    a->hits.phi[hit] = (int16_t)(uint16_t)(key[r] >> 16 ^ 0x8000u);
    a->hits.x[hit] = x[r];
    a->hits.y[hit] = y[r];
    a->hits.z[hit] = z[r];
  }
}

/* Sorts a pair of up to KEYS clusters. All lanes of the warp call it. */
static SL_DEVICE void sort_small(const struct sort_by_phi_args *a, const struct slice *p, struct keys *k) {
  const uint32_t count = p->count, lanes = sl_warp_lanes(), padded = (count + 3) / 4 * 4;
  for (uint32_t i = sl_warp_lane(); i < padded; i += lanes) k->unsorted[i] = i < count ? key_of(a, p, i) : UINT32_MAX;
  sl_warp_sync();
  for (uint32_t base = 0; base < count; base += ROWS * lanes) {
    const uint32_t i = base + sl_warp_lane(), rows = (count - base + lanes - 1) / lanes;
    if (rows == 1)
      rank_keys(k, count, i, 1);
    else if (rows == 2)
      rank_keys(k, count, i, 2);
    else if (rows == 3)
      rank_keys(k, count, i, 3);
    else
      rank_keys(k, count, i, ROWS);
  }
  sl_warp_sync();
  uint32_t equal = 0;
  for (uint32_t i = sl_warp_lane() + 1; i < count; i += lanes) equal |= k->sorted[i] >> 16 == k->sorted[i - 1] >> 16;
  const uint32_t *sorted = k->sorted;
  if (sl_warp_any(equal)) {
    order_equals(a, p, k);
    sorted = k->unsorted;
  }
  sl_warp_sync();
  for (uint32_t base = 0; base < count; base += ROWS * lanes) {
    const uint32_t i = base + sl_warp_lane(), rows = (count - base + lanes - 1) / lanes;
    if (rows == 1)
      write_hits(a, p, sorted, i, 1);
    else if (rows == 2)
      write_hits(a, p, sorted, i, 2);
    else if (rows == 3)
      write_hits(a, p, sorted, i, 3);
    else
      write_hits(a, p, sorted, i, ROWS);
  }
  sl_warp_sync();
}

/* Per event: a warp a module pair. Reads and writes 18 bytes a cluster, in rows of a warp; counts n * n / 32
 * comparisons a pair. */
SL_KERNEL(sort_by_phi_write, struct sort_by_phi_args) {
  __shared__ struct keys keys[WARPS];
  const uint32_t warp = sl_warp_index(), warps = sl_block_warps() < WARPS ? sl_block_warps() : WARPS;
  if (warp >= warps) return; /* no barrier follows */
  SL_FOR_EVENTS (event, a.events) {
    if (clear_if_empty(&a, event)) continue;
    for (uint32_t pair = warp; pair < VELO_MODULE_PAIRS; pair += warps) {
      const struct slice p = slice_of(&a, event, pair);
      if (p.count <= KEYS && sl_warp_lanes() > 1)
        sort_small(&a, &p, &keys[warp]);
      else
        sort_large(&a, &p);
    }
  }
}

#ifdef SL_TARGET_CPU
static void sort_by_phi_write_cpu(const struct sort_by_phi_args *a) {
  SL_FOR_EVENTS (event, a->events) {
    if (clear_if_empty(a, event)) continue;
    for (uint32_t pair = 0; pair < VELO_MODULE_PAIRS; pair++) {
      const struct slice p = slice_of(a, event, pair);
      sort_by_phi_pair_cpu(a, p.from, p.to, p.count);
    }
  }
}

static int run_tuned(const struct sl_launch *l, const void *args) {
  const struct sort_by_phi_args *a = (const struct sort_by_phi_args *)args;
  int status = SL_LAUNCH(l, sort_by_phi_count, SL_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->hits.offsets, &a->hits.bound);
  if (status == SL_OK) sort_by_phi_write_cpu(a);
  return status;
}
#define SORT_BY_PHI_TUNED run_tuned
#else
#define SORT_BY_PHI_TUNED NULL
#endif

static int run(const struct sl_launch *l, const struct sort_by_phi_args *a) {
  int status = SL_LAUNCH(l, sort_by_phi_count, SL_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->hits.offsets, &a->hits.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, sort_by_phi_write, SL_PER_EVENT, *a);
  return status;
}

SL_ALGORITHM_TUNED(sort_by_phi, "VELO hits, sorted by azimuth in each module pair", 128, run, SORT_BY_PHI_TUNED);
