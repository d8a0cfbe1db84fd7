/* velo.sort_by_phi: VELO hits from clusters: compacted, and sorted by (phi, id, order) in each module pair.
 *
 * A rank sort: a hit's place in its pair is the number of clusters of the pair that come before it. Pairs hold some 70
 * clusters, so that counting beats anything cleverer. Two clusters that agree in all three keys keep the order of the
 * input, so that places are unique whatever the input.
 *
 * A warp sorts a pair alone, without a barrier of the block, and the pairs of the whole slice are dealt to the warps of
 * the grid, so that a large event is shared by many. The pair's phi stand in shared memory as floats, since a GPU adds
 * floats twice as fast as it compares anything: a difference limited to [0, 1] is 1 for what comes before. A lane
 * counts for up to four clusters with every phi that it reads. Clusters of equal phi, in one pair of eight, get the
 * same rank and stand behind each other as their atomics came; then each counts those of its group that come before it
 * by id and order. At last clusters are gathered, so that hits are written in one piece. Pairs that are too large for
 * this, and those of a cpu, whose warp is one thread, are ranked straight from memory.
 *
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

/* -------------------------------------------------------------------------------- ranks from shared memory */

enum {
  WARPS = 4,  /* of a block, that sort: what there is shared memory for */
  KEYS = 320, /* clusters of a pair, that there is shared memory for; a multiple of 4 */
  ROWS = 4    /* clusters of a lane, at a time */
};

struct four_floats {
  float value[4];
} __attribute__((aligned(16)));

/* The clusters of a pair; a warp's. */
struct __attribute__((aligned(16))) keys {
  float phi[KEYS];      /* as phi_key, behind the last one greater than any */
  uint32_t equal[KEYS]; /* of each rank: how many have it */
  uint16_t rank[KEYS];  /* how many have a smaller phi */
  uint16_t order[KEYS]; /* the clusters, sorted */
};

/* Phi, made unsigned, plus 2^23: a float that has phi in its low bits. */
static SL_DEVICE float phi_key(int16_t phi) { return sl_f32_from_bits(0x4B000000u | ((uint16_t)phi ^ 0x8000u)); }
static SL_DEVICE int16_t phi_of_key(float key) { return (int16_t)(uint16_t)(sl_bits_from_f32(key) ^ 0x8000u); }

/* Ranks clusters `i`, i + lanes, ... by phi, `rows` of them, which is known to the compiler. Returns whether one has
 * the phi of another. */
static SL_DEVICE uint32_t rank_rows(struct keys *k, uint32_t count, uint32_t i, const uint32_t rows) {
  float mine[ROWS], before[ROWS];
  uint32_t has_equals = 0;
  for (uint32_t r = 0; r < rows; r++) {
    const uint32_t cluster = i + r * sl_warp_lanes();
    mine[r] = cluster < count ? k->phi[cluster] : 0.0f;
    before[r] = 8388608.0f; /* the count will stand in the low bits */
  }
  for (uint32_t j = 0; j < count; j += 4) {
    const struct four_floats other = *(const struct four_floats *)(k->phi + j);
    for (uint32_t r = 0; r < rows; r++)
      for (uint32_t o = 0; o < 4; o++) before[r] += sl_saturate_f32(mine[r] - other.value[o]);
  }
  for (uint32_t r = 0; r < rows; r++) {
    const uint32_t cluster = i + r * sl_warp_lanes(), rank = sl_bits_from_f32(before[r]) & 0xFFFFu;
    if (cluster >= count) continue;
    const uint32_t others = atomicAdd(&k->equal[rank], 1u);
    k->rank[cluster] = (uint16_t)rank;
    k->order[rank + others] = (uint16_t)cluster;
    has_equals |= others;
  }
  return has_equals;
}

/* Puts clusters of the same phi in order. */
static SL_DEVICE void order_equals(const struct sort_by_phi_args *a, const struct slice *p, struct keys *k) {
  for (uint32_t i = sl_warp_lane(); i < p->count; i += sl_warp_lanes()) {
    const uint32_t rank = k->rank[i], end = rank + k->equal[rank];
    uint32_t place = rank;
    for (uint32_t j = rank; end - rank > 1 && j < end; j++) place += comes_before(a, p->from, k->order[j], i);
    k->rank[i] = (uint16_t)place;
  }
  sl_warp_sync();
  for (uint32_t i = sl_warp_lane(); i < p->count; i += sl_warp_lanes()) k->order[k->rank[i]] = (uint16_t)i;
}

/* Writes hits `i`, i + lanes, ... of the pair, `rows` of them. All is read before anything is written, so that one wait
 * is enough. */
static SL_DEVICE void write_rows(const struct sort_by_phi_args *a, const struct slice *p, const struct keys *k,
                                 uint32_t i, const uint32_t rows) {
  uint32_t id[ROWS] = {0};
  float phi[ROWS] = {0}, x[ROWS] = {0}, y[ROWS] = {0}, z[ROWS] = {0};
  for (uint32_t r = 0; r < rows; r++) {
    if (i + r * sl_warp_lanes() >= p->count) continue;
    const uint32_t place = k->order[i + r * sl_warp_lanes()], cluster = p->from + place;
    phi[r] = k->phi[place];
    id[r] = a->clusters.id[cluster];
    x[r] = a->clusters.x[cluster];
    y[r] = a->clusters.y[cluster];
    z[r] = a->clusters.z[cluster];
  }
  for (uint32_t r = 0; r < rows; r++) {
    if (i + r * sl_warp_lanes() >= p->count) continue;
    const uint32_t hit = p->to + i + r * sl_warp_lanes();
    a->hits.id[hit] = id[r];
    a->hits.phi[hit] = phi_of_key(phi[r]);
    a->hits.x[hit] = x[r];
    a->hits.y[hit] = y[r];
    a->hits.z[hit] = z[r];
  }
}

/* Sorts a pair of up to KEYS clusters. All lanes of the warp call it. */
static SL_DEVICE void sort_small(const struct sort_by_phi_args *a, const struct slice *p, struct keys *k) {
  const uint32_t count = p->count, lane = sl_warp_lane(), lanes = sl_warp_lanes(), padded = (count + 3) / 4 * 4;
  for (uint32_t base = lane; base < padded; base += ROWS * lanes) {
    int16_t phi[ROWS];
    for (uint32_t r = 0; r < ROWS; r++)
      phi[r] = base + r * lanes < count ? a->clusters.phi[p->from + base + r * lanes] : (int16_t)0;
    for (uint32_t r = 0; r < ROWS; r++) {
      const uint32_t i = base + r * lanes;
      if (i >= padded) continue;
      k->phi[i] = i < count ? phi_key(phi[r]) : sl_f32_from_bits(0x4B010000u);
      k->equal[i] = 0;
    }
  }
  sl_warp_sync();
  uint32_t has_equals = 0;
  for (uint32_t base = 0; base < count; base += ROWS * lanes) {
    const uint32_t left = count - base;
    if (left <= lanes)
      has_equals |= rank_rows(k, count, base + lane, 1);
    else if (left <= 2 * lanes)
      has_equals |= rank_rows(k, count, base + lane, 2);
    else if (left <= 3 * lanes)
      has_equals |= rank_rows(k, count, base + lane, 3);
    else
      has_equals |= rank_rows(k, count, base + lane, ROWS);
  }
  sl_warp_sync();
  if (sl_warp_any(has_equals)) {
    order_equals(a, p, k);
    sl_warp_sync();
  }
  for (uint32_t base = 0; base < count; base += ROWS * lanes) {
    const uint32_t left = count - base;
    if (left <= lanes)
      write_rows(a, p, k, base + lane, 1);
    else if (left <= 2 * lanes)
      write_rows(a, p, k, base + lane, 2);
    else if (left <= 3 * lanes)
      write_rows(a, p, k, base + lane, 3);
    else
      write_rows(a, p, k, base + lane, ROWS);
  }
  sl_warp_sync();
}

/* A warp a module pair. Reads and writes 18 bytes a cluster, in rows of a warp; n * n / 32 comparisons a pair. */
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
    if (p.count <= KEYS && sl_warp_lanes() > 1)
      sort_small(&a, &p, &keys[warp]);
    else
      sort_large(&a, &p);
  }
}

#ifdef SL_TARGET_CPU
static void sort_by_phi_write_cpu(const struct sort_by_phi_args *a) {
  SL_FOR_EVENTS (event, a->events) {
    for (uint32_t pair = 0; pair < VELO_MODULE_PAIRS; pair++) {
      if (is_empty(a, event)) {
        clear_pair(a, event, pair);
        continue;
      }
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
