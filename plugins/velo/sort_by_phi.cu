/* velo.sort_by_phi: VELO hits from clusters: compacted, and sorted by (phi, id, order) in each module pair.
 *
 * A warp sorts a pair alone, without a barrier of the block, and the pairs of the whole slice are dealt to the warps of
 * the grid, so that a large event is shared by many. A pair has some 70 clusters. Its lanes hold up to eight keys each
 * in registers, phi with the cluster's place in the pair below it, which the warp sorts (sl_warp_sort_u32). Clusters of
 * equal phi, in one pair of eight, then stand one after the other; each counts those of its group that come before it
 * by id and order. Two clusters that agree in all three keep the order of the input, so that places are unique whatever
 * the input. At last clusters are gathered, so that hits are written in one piece.
 *
 * In pairs that are too large for that, which damaged banks can make, and where a warp is one thread, keys are sorted
 * in memory by all three keys, by the warp, in the place of the pair's hits: n (log n)^2 steps. On a cpu the version of
 * sort_by_phi.cpu.c takes the others.
 *
 * README.md: "Azimuth and order".
 */
#include "sort_by_phi.h"
#include "velo/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS sort_by_phi_args
#define SORT_BY_PHI(M)                                                    \
  M(IN, clusters, velo_clusters, "", "in any order within a module pair") \
  M(OUT, hits, velo_hits, "sorted", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(clusters))))
SL_ARGUMENTS(sort_by_phi, SORT_BY_PHI);

/* Per event: writes where the hits of each module pair begin, relative to the event, after them their number, and the
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

/* Equal offsets: the event has no hits, or the slice overflowed. */
static SL_DEVICE uint32_t is_empty(const struct sort_by_phi_args *a, uint32_t event) {
  return a->hits.offsets[event + 1] == a->hits.offsets[event];
}

static SL_DEVICE void clear_pair(const struct sort_by_phi_args *a, uint32_t event, uint32_t pair) {
  uint32_t *first = a->hits.pair_first + event * (VELO_MODULE_PAIRS + 1) + pair;
  first[0] = 0;
  if (pair + 1 == VELO_MODULE_PAIRS) first[1] = 0;
}

/* Of clusters i and j of a pair, which have the same phi: does j come before i? */
static SL_DEVICE uint32_t comes_before(const struct sort_by_phi_args *a, uint32_t from, uint32_t j, uint32_t i) {
  const uint32_t *id = a->clusters.id + from, *order = a->clusters.order + from;
  if (id[j] != id[i]) return id[j] < id[i];
  if (order[j] != order[i]) return order[j] < order[i];
  return j < i;
}

/* ------------------------------------------------------------------------------------ sorts in registers */

enum {
  WARPS = 4,         /* of a block, that sort: what there is shared memory for */
  KEYS = 512,        /* clusters of a pair, that there is shared memory for: two halves sorted in registers */
  ROWS_MAX = 8,      /* keys of a lane, no more than SL_SORT_ROWS */
  ROWS_AT_A_TIME = 4 /* hits of a lane that are read before one is written */
};

/* The clusters of a pair; a warp's. */
struct keys {
  uint32_t sorted[KEYS];
  uint32_t other[KEYS]; /* two sorted halves; clusters of equal phi in their final order */
};

#define NO_KEY UINT32_MAX /* greater than that of any cluster */

/* Phi, made unsigned, << 16 | the cluster's place in the pair. */
static SL_DEVICE uint32_t sort_key(int16_t phi, uint32_t place) {
  return ((uint32_t)(uint16_t)phi ^ 0x8000u) << 16 | place;
}
static SL_DEVICE int16_t key_phi(uint32_t key) { return (int16_t)(uint16_t)(key >> 16 ^ 0x8000u); }
static SL_DEVICE uint32_t key_place(uint32_t key) { return key & 0xFFFF; }
static SL_DEVICE uint32_t have_equal_phi(uint32_t key, uint32_t other) { return (key ^ other) >> 16 == 0 ? 1u : 0u; }

/* Sorts `count` clusters of the pair, from number `first` on, into `sorted`, `rows` a lane or fewer. */
static SL_DEVICE void sort_rows(const struct sort_by_phi_args *a, const struct slice *p, uint32_t first, uint32_t count,
                                uint32_t *sorted, const uint32_t rows) {
  const uint32_t lane = sl_warp_lane(), lanes = sl_warp_lanes();
  uint32_t key[ROWS_MAX];
  SL_UNROLL
  for (uint32_t r = 0; r < rows; r++) {
    const uint32_t i = lane + r * lanes;
    key[r] = i < count ? sort_key(a->clusters.phi[p->from + first + i], first + i) : NO_KEY;
  }
  sl_warp_sort_u32(key, rows);
  SL_UNROLL
  for (uint32_t r = 0; r < rows; r++) sorted[lane * rows + r] = key[r];
}

/* Merges two sorted halves, the first of `half` keys: a key's place is its number plus that of the smaller ones in the
 * other half. */
static SL_DEVICE void merge_halves(const uint32_t *halves, uint32_t half, uint32_t count, uint32_t *sorted) {
  SL_ROLLED
  for (uint32_t i = sl_warp_lane(); i < count; i += sl_warp_lanes()) {
    const uint32_t *other = i < half ? halves + half : halves;
    uint32_t low = 0, high = i < half ? count - half : half;
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (other[middle] < halves[i])
        low = middle + 1;
      else
        high = middle;
    }
    sorted[(i < half ? i : i - half) + low] = halves[i];
  }
}

/* Puts clusters of the same phi in order. */
static SL_DEVICE void order_equals(const struct sort_by_phi_args *a, const struct slice *p, struct keys *k) {
  for (uint32_t i = sl_warp_lane(); i < p->count; i += sl_warp_lanes()) {
    const uint32_t key = k->sorted[i];
    uint32_t place = i;
    while (place > 0 && have_equal_phi(k->sorted[place - 1], key)) place--;
    for (uint32_t j = place; j < p->count && have_equal_phi(k->sorted[j], key); j++)
      place += comes_before(a, p->from, key_place(k->sorted[j]), key_place(key));
    k->other[place] = key;
  }
  sl_warp_sync();
  for (uint32_t i = sl_warp_lane(); i < p->count; i += sl_warp_lanes()) k->sorted[i] = k->other[i];
}

/* Writes hits `i`, i + lanes, ... of the pair, `rows` of them. All is read before anything is written, so that one wait
 * is enough. */
static SL_DEVICE void write_rows(const struct sort_by_phi_args *a, const struct slice *p, const uint32_t *sorted,
                                 uint32_t i, const uint32_t rows) {
  uint32_t key[ROWS_AT_A_TIME] = {0}, id[ROWS_AT_A_TIME] = {0};
  float x[ROWS_AT_A_TIME] = {0}, y[ROWS_AT_A_TIME] = {0}, z[ROWS_AT_A_TIME] = {0};
  for (uint32_t r = 0; r < rows; r++) {
    if (i + r * sl_warp_lanes() >= p->count) continue;
    key[r] = sorted[i + r * sl_warp_lanes()];
    const uint32_t cluster = p->from + key_place(key[r]);
    id[r] = a->clusters.id[cluster];
    x[r] = a->clusters.x[cluster];
    y[r] = a->clusters.y[cluster];
    z[r] = a->clusters.z[cluster];
  }
  for (uint32_t r = 0; r < rows; r++) {
    if (i + r * sl_warp_lanes() >= p->count) continue;
    const uint32_t hit = p->to + i + r * sl_warp_lanes();
    a->hits.id[hit] = id[r];
    a->hits.phi[hit] = key_phi(key[r]);
    a->hits.x[hit] = x[r];
    a->hits.y[hit] = y[r];
    a->hits.z[hit] = z[r];
  }
}

/* Sorts a pair of up to KEYS clusters by phi and number. Returns whether two have the same phi. */
static SL_DEVICE uint32_t sort_pair(const struct sort_by_phi_args *a, const struct slice *p, struct keys *k) {
  const uint32_t lanes = sl_warp_lanes(), half = ROWS_MAX * lanes;
  if (p->count <= lanes) {
    sort_rows(a, p, 0, p->count, k->sorted, 1);
  } else if (p->count <= 2 * lanes) {
    sort_rows(a, p, 0, p->count, k->sorted, 2);
  } else if (p->count <= 4 * lanes) {
    sort_rows(a, p, 0, p->count, k->sorted, 4);
  } else {
    const uint32_t is_whole = p->count <= half ? 1 : 0;
    SL_ROLLED
    for (uint32_t first = 0; first < p->count; first += half)
      sort_rows(a, p, first, p->count - first < half ? p->count - first : half,
                (is_whole ? k->sorted : k->other) + first, ROWS_MAX);
    sl_warp_sync();
    if (!is_whole) merge_halves(k->other, half, p->count, k->sorted);
  }
  sl_warp_sync();
  uint32_t has_equals = 0;
  SL_ROLLED
  for (uint32_t i = sl_warp_lane() + 1; i < p->count; i += lanes)
    has_equals |= have_equal_phi(k->sorted[i - 1], k->sorted[i]);
  return sl_warp_any(has_equals);
}

/* Sorts a pair of up to KEYS clusters and writes it. All lanes of the warp call it, as what it calls. */
static SL_DEVICE void sort_small(const struct sort_by_phi_args *a, const struct slice *p, struct keys *k) {
  const uint32_t lanes = sl_warp_lanes(), lane = sl_warp_lane();
  if (sort_pair(a, p, k)) {
    order_equals(a, p, k);
    sl_warp_sync();
  }
  for (uint32_t base = 0; base < p->count; base += ROWS_AT_A_TIME * lanes) {
    const uint32_t left = p->count - base;
    if (left <= lanes)
      write_rows(a, p, k->sorted, base + lane, 1);
    else if (left <= 2 * lanes)
      write_rows(a, p, k->sorted, base + lane, 2);
    else if (left <= 3 * lanes)
      write_rows(a, p, k->sorted, base + lane, 3);
    else
      write_rows(a, p, k->sorted, base + lane, ROWS_AT_A_TIME);
  }
  sl_warp_sync();
}

/* ------------------------------------------------------------------------------------ sorts in memory */

/* Puts the keys at places i and j > i in order, of those that are there. */
static SL_DEVICE void put_in_order(const struct sort_by_phi_args *a, const struct slice *p, uint32_t i, uint32_t j) {
  if (j >= p->count) return;
  uint32_t *keys = a->hits.id + p->to;
  const uint32_t low = keys[i], high = keys[j];
  const uint32_t swapped =
      have_equal_phi(low, high) ? comes_before(a, p->from, key_place(high), key_place(low)) : (low > high ? 1u : 0u);
  if (!swapped) return;
  keys[i] = high;
  keys[j] = low;
}

/* A bitonic sort whose comparisons all put the smaller key first, so that keys beyond the last need not be there. */
static SL_DEVICE void sort_keys(const struct sort_by_phi_args *a, const struct slice *p) {
  uint32_t half = 1; /* of the places, rounded up to a power of two */
  while (2 * half < p->count) half *= 2;
  for (uint32_t size = 2; size <= 2 * half; size *= 2) {
    for (uint32_t t = sl_warp_lane(); t < half; t += sl_warp_lanes()) {
      const uint32_t k = t % (size / 2), begin = (t - k) * 2;
      put_in_order(a, p, begin + k, begin + size - 1 - k);
    }
    sl_warp_sync();
    for (uint32_t distance = size / 4; distance > 0; distance /= 2) {
      for (uint32_t t = sl_warp_lane(); t < half; t += sl_warp_lanes()) {
        const uint32_t i = 2 * t - t % distance;
        put_in_order(a, p, i, i + distance);
      }
      sl_warp_sync();
    }
  }
}

/* Sorts a pair of any size and writes it. All lanes of the warp call it. */
static SL_DEVICE void sort_large(const struct sort_by_phi_args *a, const struct slice *p) {
  for (uint32_t i = sl_warp_lane(); i < p->count; i += sl_warp_lanes())
    a->hits.id[p->to + i] = sort_key(a->clusters.phi[p->from + i], i);
  sl_warp_sync();
  sort_keys(a, p);
  for (uint32_t i = sl_warp_lane(); i < p->count; i += sl_warp_lanes()) write_rows(a, p, a->hits.id + p->to, i, 1);
}

/* A warp a module pair. Reads and writes 18 bytes a cluster, in rows of a warp. */
SL_KERNEL(sort_by_phi_write, struct sort_by_phi_args) {
  __shared__ struct keys keys[WARPS];
  const uint32_t warp = sl_warp_index(), warps = sl_block_warps() < WARPS ? sl_block_warps() : WARPS;
  const uint32_t tasks = *a.events.count * VELO_MODULE_PAIRS;
  if (warp >= warps) return; /* no barrier follows */
  for (uint32_t task = blockIdx.x * warps + warp; task < tasks; task += gridDim.x * warps) {
    const uint32_t event = sl_event_at(&a.events, task / VELO_MODULE_PAIRS), pair = task % VELO_MODULE_PAIRS;
    if (is_empty(&a, event)) {
      clear_pair(&a, event, pair);
      continue;
    }
    const struct slice p = slice_of(&a, event, pair);
    if (sl_warp_lanes() > 1 && p.count <= KEYS)
      sort_small(&a, &p, &keys[warp]);
    else
      sort_large(&a, &p);
  }
}

static int run(const struct sl_launch *l, const struct sort_by_phi_args *a) {
  return SL_COUNT_SCAN_WRITE(l, sort_by_phi_count, sort_by_phi_write, a->hits, *a);
}

#ifdef SL_TARGET_CPU
/* The same, pairs of an event in their order, with vectors. */
SL_KERNEL(sort_by_phi_write_tuned, struct sort_by_phi_args) {
  SL_FOR_EVENTS (event, a.events)
    for (uint32_t pair = 0; pair < VELO_MODULE_PAIRS; pair++) {
      if (is_empty(&a, event)) {
        clear_pair(&a, event, pair);
        continue;
      }
      const struct slice p = slice_of(&a, event, pair);
      if (p.count <= SORT_PAIR_MAX)
        sort_pair_cpu(&a.clusters, p.from, p.count, &a.hits, p.to, a.hits.offsets[event + 1]);
      else
        sort_large(&a, &p);
    }
}

static int run_tuned(const struct sl_launch *l, const void *args) {
  const struct sort_by_phi_args *a = (const struct sort_by_phi_args *)args;
  return SL_COUNT_SCAN_WRITE(l, sort_by_phi_count, sort_by_phi_write_tuned, a->hits, *a);
}
#endif

SL_ALGORITHM(sort_by_phi, "VELO hits, sorted by azimuth in each module pair", 128, run, SL_CPU_TUNED(run_tuned));
