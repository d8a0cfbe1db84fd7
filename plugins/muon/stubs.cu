/* muon.stubs: muons found in the muon chambers alone: straight lines with a hit in each station (README.md, "Stubs").
 *   1. Each hit in M5 seeds a stub. Follow the line from the origin to M4, M3 and M2, and take the nearest hit in each.
 *   2. Fit x(z) and y(z) by least squares.
 *   3. If stubs share hits, select the one with the smallest key (chi2, index of the seed): a stub is selected if it
 *      has the smallest key at all of its hits.
 * Parallelism: eight threads per seed share the hits of a station. Determinism: keys are unique.
 * The arrays have one entry per hit, so the number of stubs is not limited. Results are stored by the first pass.
 * Cost: reads 16 bytes per hit, at most once per seed; stores 8 per hit and 32 per seed; writes 32 per stub.
 */
#include "muon/event_model.h"

#include <sluice/kernel.h>

enum { M2, M3, M4, M5, WINDOWS = MUON_STATIONS * MUON_REGIONS, STUB_FLOATS = 6, SEED_THREADS = 8 };
static const float stub_z = 15205.0f; /* z of the state of a stub */
static const uint64_t no_key = UINT64_MAX;

#define SL_ARGS stubs_args
#define STUBS(M)                                                                                                       \
  M(IN, hits, muon_hits, "offsets first x y z half_x half_y tile", "muon hits, by station and region")                 \
  M(OUT, stubs, muon_stubs, "selected stubs, in the order of their hits in M5", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(hits)))) \
  M(F32_ARRAY, window_x, WINDOWS, "[100, 200, 300, 400, 100, 200, 300, 400, 400, 400, 400, 400, 400, 400, 400, 400]",  \
    0.0, 1e5, "mm",                                                                                                    \
    "half width of the search window in x, by searched station and region of the previous hit: M2 R1, M2 R2 ... M5 "   \
    "R4")                                                                                                              \
  M(F32_ARRAY, window_y, WINDOWS, "[60, 120, 180, 240, 60, 120, 240, 240, 60, 120, 240, 480, 60, 120, 240, 480]", 0.0, \
    1e5, "mm", "half width of the search window in y, in the order of window_x")                                       \
  M(SCRATCH, found, u16, "hits of the stub of each hit in M5, M2 first", SL_ONE(SL_ITEMS_SCALED(hits, 4, 1, 0)))       \
  M(SCRATCH, fits, f32, "fit of the stub of each hit in M5, fields as in the output",                                  \
    SL_ONE(SL_ITEMS_SCALED(hits, STUB_FLOATS, 1, 0)))                                                                  \
  M(SCRATCH, stub_keys, u64, "chi2 and index of the stub of each hit in M5; ~0: none", SL_ONE(SL_ITEMS_TERM(hits)))    \
  M(SCRATCH, hit_keys, u64, "smallest key of the stubs that use each hit", SL_ONE(SL_ITEMS_TERM(hits)))
SL_ARGUMENTS(stubs, STUBS);

/* Hits of an event in the slice: station s has hits first[s] to first[s + 1]. */
struct stations {
  uint32_t first[MUON_STATIONS + 1];
};
static SL_DEVICE struct stations stations_of(const struct stubs_args *a, uint32_t event) {
  struct stations s;
  SL_UNROLL
  for (uint32_t k = 0; k <= MUON_STATIONS; k++)
    s.first[k] = a->hits.offsets[event] + a->hits.first[(size_t)event * MUON_FIRSTS + k * MUON_REGIONS];
  return s;
}

/* ------------------------------------------------------------------------------------------------- the search */

/* A straight line: x = x0 + tx (z - z0). */
struct stub_line {
  float z, x, y, tx, ty;
};

static SL_DEVICE struct stub_line line_through(const struct stubs_args *a, uint32_t hit, float z, float x, float y) {
  struct stub_line line;
  const float dz = a->hits.z[hit] - z;
  line.z = a->hits.z[hit];
  line.x = a->hits.x[hit];
  line.y = a->hits.y[hit];
  line.tx = (line.x - x) / dz;
  line.ty = (line.y - y) / dz;
  return line;
}

/* The hit of a station in the window that is nearest to the line, the first one of ties; UINT32_MAX if there is none,
 * or if none is searched. Called by all threads of a warp. */
static SL_DEVICE uint32_t find_nearest(const struct stubs_args *a, const struct stations *s, uint32_t station,
                                       const struct stub_line *line, uint32_t region, uint32_t is_searched) {
  const float window_x = a->window_x[station * MUON_REGIONS + region];
  const float window_y = a->window_y[station * MUON_REGIONS + region];
  const uint32_t end = is_searched ? s->first[station + 1] : 0;
  uint64_t best = no_key;
  for (uint32_t i = s->first[station] + sl_group_lane(SEED_THREADS); i < end; i += SL_GROUP(SEED_THREADS)) {
    const float dz = a->hits.z[i] - line->z;
    const float dx = a->hits.x[i] - (line->x + line->tx * dz), dy = a->hits.y[i] - (line->y + line->ty * dz);
    /* The distance is not negative, so its bits have the order of its values. */
    const uint64_t key = (uint64_t)sl_bits_from_f32(dx * dx + dy * dy) << 32 | i;
    if (sl_abs_f32(dx) < window_x && sl_abs_f32(dy) < window_y && key < best) best = key;
  }
  return (uint32_t)sl_group_min_u64(best, SEED_THREADS);
}

/* Finds the hits in M4, M3 and M2 for the seed hits[M5]. Returns 0 if a station has none, or if there is no seed.
 * Called by all threads of a warp. */
static SL_DEVICE uint32_t follow(const struct stubs_args *a, const struct stations *s, uint32_t hits[MUON_STATIONS],
                                 uint32_t is_seed) {
  uint32_t last = hits[M5], continues = is_seed;
  struct stub_line line = {0, 0, 0, 0, 0};
  if (continues) line = line_through(a, last, 0.0f, 0.0f, 0.0f);
  for (uint32_t station = M5; station-- > M2 && sl_warp_any_needed(continues);) {
    const uint32_t region = continues ? muon_tile_region(a->hits.tile[last]) : 0;
    const uint32_t next = find_nearest(a, s, station, &line, region, continues);
    if (next == UINT32_MAX) continues = 0;
    if (!continues) continue;
    line = line_through(a, next, a->hits.z[last], a->hits.x[last], a->hits.y[last]);
    hits[station] = last = next;
  }
  return continues;
}

/* ---------------------------------------------------------------------------------------------------- the fit */

struct stub_fit {
  float at, slope, chi2;
};

/* Least-squares fit of u(z), with errors of two half-widths. */
static SL_DEVICE struct stub_fit fit(const struct stubs_args *a, const uint32_t *hits, const float *u,
                                     const float *half) {
  struct stub_fit f;
  float weight[MUON_STATIONS], weights = 0.0f, sum_z = 0.0f, sum_u = 0.0f, zz = 0.0f, zu = 0.0f;
  SL_UNROLL
  for (uint32_t k = 0; k < MUON_STATIONS; k++) {
    const float error = 2.0f * half[hits[k]];
    weight[k] = 1.0f / (error * error);
    weights += weight[k];
    sum_z += weight[k] * a->hits.z[hits[k]];
    sum_u += weight[k] * u[hits[k]];
  }
  const float mean_z = sum_z / weights, mean_u = sum_u / weights;
  SL_UNROLL
  for (uint32_t k = 0; k < MUON_STATIONS; k++) {
    const float dz = a->hits.z[hits[k]] - mean_z;
    zz += weight[k] * dz * dz;
    zu += weight[k] * dz * (u[hits[k]] - mean_u);
  }
  f.slope = zu / zz;
  f.at = mean_u + f.slope * (stub_z - mean_z);
  f.chi2 = 0.0f;
  SL_UNROLL
  for (uint32_t k = 0; k < MUON_STATIONS; k++) {
    const float off = u[hits[k]] - (mean_u + f.slope * (a->hits.z[hits[k]] - mean_z));
    f.chi2 += weight[k] * off * off;
  }
  f.chi2 /= (float)(MUON_STATIONS - 2);
  return f;
}

/* Fits a stub and stores it at its hit in M5. */
static SL_DEVICE void store_stub(const struct stubs_args *a, uint32_t event, const uint32_t *hits) {
  const uint32_t event_hits = a->hits.offsets[event], seed = hits[M5];
  const struct stub_fit x = fit(a, hits, a->hits.x, a->hits.half_x), y = fit(a, hits, a->hits.y, a->hits.half_y);
  float *fits = a->fits + (size_t)STUB_FLOATS * seed;
  fits[0] = x.at;
  fits[1] = y.at;
  fits[2] = x.slope;
  fits[3] = y.slope;
  fits[4] = x.chi2;
  fits[5] = y.chi2;
  /* chi2 is not negative, so its bits have the order of its values. */
  const uint64_t key = (uint64_t)sl_bits_from_f32(x.chi2 + y.chi2) << 32 | (seed - event_hits);
  a->stub_keys[seed] = key;
  SL_UNROLL
  for (uint32_t k = 0; k < MUON_STATIONS; k++) {
    a->found[MUON_STATIONS * (size_t)seed + k] = (uint16_t)(hits[k] - event_hits);
    atomicMin((sl_atomic_u64 *)&a->hit_keys[hits[k]], (sl_atomic_u64)key);
  }
}

/* 1 if none of the hits is on a better stub. */
static SL_DEVICE uint32_t is_best(const struct stubs_args *a, uint32_t event, uint32_t seed) {
  const uint32_t event_hits = a->hits.offsets[event];
  const uint64_t key = a->stub_keys[seed];
  if (key == no_key) return 0;
  for (uint32_t k = 0; k < MUON_STATIONS; k++)
    if (a->hit_keys[event_hits + a->found[MUON_STATIONS * (size_t)seed + k]] != key) return 0;
  return 1;
}

/* --------------------------------------------------------------------------------------------------- kernels */

SL_KERNEL(stubs_find, struct stubs_args) {
  SL_FOR_EVENTS (event, a.events) {
    const struct stations s = stations_of(&a, event);
    uint32_t count = 0;
    for (uint32_t i = s.first[M2] + threadIdx.x; i < s.first[M5 + 1]; i += blockDim.x) a.hit_keys[i] = no_key;
    __syncthreads();
    SL_FOR_GROUPS (i, s.first[M5 + 1] - s.first[M5], SEED_THREADS) {
      const uint32_t seed = s.first[M5] + i, is_seed = seed < s.first[M5 + 1], lane = sl_group_lane(SEED_THREADS);
      uint32_t hits[MUON_STATIONS];
      hits[M5] = seed;
      const uint32_t is_stub = follow(&a, &s, hits, is_seed);
      if (is_seed && lane == 0) a.stub_keys[seed] = no_key;
      if (is_stub && lane == 0) store_stub(&a, event, hits);
    }
    __syncthreads();
    for (uint32_t i = s.first[M5] + threadIdx.x; i < s.first[M5 + 1]; i += blockDim.x) count += is_best(&a, event, i);
    count = sl_block_sum_u32(count);
    if (threadIdx.x == 0) a.stubs.offsets[event] = count;
  }
}

static SL_DEVICE void write_stub(const struct stubs_args *a, uint32_t to, uint32_t seed) {
  const float *fits = a->fits + (size_t)STUB_FLOATS * seed;
  for (uint32_t k = 0; k < MUON_STATIONS; k++)
    a->stubs.hit[MUON_STATIONS * (size_t)to + k] = a->found[MUON_STATIONS * (size_t)seed + k];
  a->stubs.x[to] = fits[0];
  a->stubs.y[to] = fits[1];
  a->stubs.tx[to] = fits[2];
  a->stubs.ty[to] = fits[3];
  a->stubs.chi2_x[to] = fits[4];
  a->stubs.chi2_y[to] = fits[5];
}

SL_KERNEL(stubs_write, struct stubs_args) {
  SL_FOR_EVENTS (event, a.events) {
    const struct stations s = stations_of(&a, event);
    const uint32_t seeds = s.first[M5 + 1] - s.first[M5];
    uint32_t length = a.stubs.offsets[event];
    if (a.stubs.offsets[event + 1] == length) continue;
    SL_FOR_BLOCK (i, seeds) {
      const uint32_t selected = i < seeds && is_best(&a, event, s.first[M5] + i);
      const uint32_t to = sl_block_append(selected, &length);
      if (selected) write_stub(&a, to, s.first[M5] + i);
    }
  }
}

static int run(const struct sl_launch *l, const struct stubs_args *a) {
  return SL_COUNT_SCAN_WRITE(l, stubs_find, stubs_write, a->stubs, *a);
}

SL_ALGORITHM(stubs, "muons found in the muon chambers alone", 64, run);
