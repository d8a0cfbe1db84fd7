/* calo.clusters: clusters around cells that read more than all their neighbours (README.md, "Clusters").
 *   1. Count: find the highest cells, several cells per thread at a time, and mark them in a bit map.
 *   2. List the marked cells by cell number; scan the counts.
 *   3. Write: one thread per cluster sums its cells in the order of the table of neighbours. With correct_overlap, the
 *      cells that several highest cells touch are marked first, and the share of other clusters in them is subtracted.
 * Determinism: clusters and sums have a fixed order, independent of threads.
 * Cost: reads 12 kB per event and 200 bytes of the geometry for each of some 100 clusters; writes 24 bytes per cluster.
 */
#include "calo/bank_words.h"

#include <sluice/kernel.h>

#define SL_ARGS clusters_args
#define CLUSTERS(M)                                                                                                \
  M(IN, cells, calo_cells, "", "values of the cells")                                                              \
  M(IN, geometry, calo_geometry, "pedestal neighbours xy gain", "geometry and gains of the cells")                 \
  M(OUT, clusters, calo_clusters, "clusters, in the order of their highest cells",                                 \
    SL_ITEMS(SL_MIN(SL_EVENTS_TERM(CALO_CLUSTERS_MAX, 0), SL_BUDGET_TERM(clusters_per_event, CALO_CLUSTERS_MAX)))) \
  M(BUDGET, clusters_per_event, 160, 1, CALO_CLUSTERS_MAX, "room for clusters, per event on average over a slice") \
  M(I32, highest_min, 50, 1, 4095, "ADC", "least value of the highest cell")                                       \
  M(I32, others_min, 10, -256, 4095, "ADC", "lower limit of the value of the other cells of a cluster")            \
  M(BOOL, correct_overlap, 0, "divide the energy of a cell that several highest cells touch among their clusters") \
  M(F32, z, 12650, 1000, 100000, "mm", "z of a cluster, for its transverse energy as seen from the origin")        \
  M(SCRATCH, highest, u16, "highest cells of an event", SL_ONE(SL_EVENTS_TERM(CALO_CLUSTERS_MAX, 0)))
SL_ARGUMENTS(clusters, CLUSTERS);

enum { MAP_WORDS = CALO_CELLS / 32 };

static SL_DEVICE const int16_t *adc_of(const struct clusters_args *a, uint32_t event) {
  return a->cells.adc + (size_t)event * CALO_CELLS;
}

/* ------------------------------------------------------------------------------------------- the highest cells */

/* 1 if the cell reads more than all its neighbours. A cell that was not read out is below any value. All neighbours are
 * loaded, so that no load waits for a comparison. */
static SL_DEVICE uint32_t is_highest(const struct clusters_args *a, const int16_t *adc, uint32_t cell) {
  const uint16_t *others = a->geometry.neighbours + CALO_NEIGHBOURS * cell;
  const int32_t own = adc[cell];
  uint32_t is_less = 1;
  SL_UNROLL
  for (uint32_t k = 0; k < CALO_NEIGHBOURS; k++)
    is_less &= others[k] == CALO_NO_NEIGHBOUR || adc[others[k] == CALO_NO_NEIGHBOUR ? cell : others[k]] < own ? 1u : 0u;
  return is_less;
}

/* Cells per chunk, tested as a bit mask: 16 bytes, which a GPU thread loads at once; more on a CPU, as vector lanes. */
#if defined(SL_TARGET_CPU)
enum { CHUNK_CELLS = 32 };
static SL_DEVICE uint32_t high_cells(const int16_t *adc, uint32_t chunk, int32_t least) {
  uint32_t is_high = 0;
  for (uint32_t k = 0; k < CHUNK_CELLS; k++) is_high |= adc[CHUNK_CELLS * chunk + k] >= least ? 1u << k : 0u;
  return is_high;
}
#else
enum { CHUNK_CELLS = 8 };
struct chunk {
  int16_t adc[CHUNK_CELLS];
} __attribute__((aligned(16)));
static SL_DEVICE uint32_t high_cells(const int16_t *adc, uint32_t chunk, int32_t least) {
  const struct chunk loaded = ((const struct chunk *)(const void *)adc)[chunk];
  uint32_t is_high = 0;
  SL_UNROLL
  for (uint32_t k = 0; k < CHUNK_CELLS; k++) is_high |= loaded.adc[k] >= least ? 1u << k : 0u;
  return is_high;
}
#endif
enum { CHUNKS = CALO_CELLS / (int)CHUNK_CELLS };

static SL_DEVICE void mark_highest(const struct clusters_args *a, const int16_t *adc, uint32_t chunk, uint32_t *map) {
  for (uint32_t is_high = high_cells(adc, chunk, a->highest_min); is_high; is_high &= is_high - 1) {
    const uint32_t cell = CHUNK_CELLS * chunk + sl_count_bits((is_high & (0u - is_high)) - 1u);
    const uint32_t highest = is_highest(a, adc, cell);
    if (blockDim.x == 1 || highest) atomicOr(&map[cell / 32], highest << cell % 32); /* branch-free on a CPU */
  }
}

/* Lists the cells of the bit map; returns their number. */
static SL_DEVICE uint32_t list_highest(const uint32_t *map, uint16_t *list) {
  uint32_t length = 0;
  SL_FOR_BLOCK (i, MAP_WORDS) {
    uint32_t bits = i < MAP_WORDS ? map[i] : 0, total;
    uint32_t index = length + sl_block_exclusive_scan(sl_count_bits(bits), &total);
    for (; bits; bits &= bits - 1, index++)
      if (index < CALO_CLUSTERS_MAX) list[index] = (uint16_t)(32 * i + sl_count_bits((bits & (0u - bits)) - 1u));
    length += total;
  }
  return length;
}

SL_KERNEL(clusters_count, struct clusters_args) {
  __shared__ uint32_t map[MAP_WORDS];
  SL_FOR_EVENTS (event, a.events) {
    for (uint32_t i = threadIdx.x; i < MAP_WORDS; i += blockDim.x) map[i] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < CHUNKS; i += blockDim.x) mark_highest(&a, adc_of(&a, event), i, map);
    __syncthreads();
    const uint32_t count = list_highest(map, a.highest + (size_t)event * CALO_CLUSTERS_MAX);
    if (threadIdx.x == 0) a.clusters.offsets[event] = count; /* the scan refuses an event with too many */
    __syncthreads();
  }
}

/* ---------------------------------------------------------------------------------------------------- clusters */

/* Bit maps of the cells of an event, for correct_overlap: highest cells; cells that touch one, or several of them. */
struct overlap {
  uint32_t highest[MAP_WORDS], touched[MAP_WORDS], shared[MAP_WORDS];
};

static SL_DEVICE uint32_t is_marked(const uint32_t *map, uint32_t cell) { return map[cell / 32] >> cell % 32 & 1u; }

/* Marks the listed highest cells and the cells that touch them. Called by all threads of the block. */
static SL_DEVICE void mark_overlap(const struct clusters_args *a, const uint16_t *list, uint32_t count,
                                   struct overlap *o) {
  for (uint32_t i = threadIdx.x; i < MAP_WORDS; i += blockDim.x) o->highest[i] = o->touched[i] = o->shared[i] = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const uint16_t *others = a->geometry.neighbours + CALO_NEIGHBOURS * list[i];
    atomicOr(&o->highest[list[i] / 32], 1u << list[i] % 32);
    for (uint32_t k = 0; k < CALO_NEIGHBOURS && others[k] != CALO_NO_NEIGHBOUR; k++) {
      const uint32_t bit = 1u << others[k] % 32;
      if (atomicOr(&o->touched[others[k] / 32], bit) & bit) atomicOr(&o->shared[others[k] / 32], bit);
    }
  }
  __syncthreads();
}

/* Energy of the highest cells that touch `shared`, other than `cell`. */
static SL_DEVICE float energy_of_others(const struct clusters_args *a, const int16_t *adc, const struct overlap *o,
                                        uint32_t shared, uint32_t cell) {
  const uint16_t *others = a->geometry.neighbours + CALO_NEIGHBOURS * shared;
  float sum = 0.0f;
  SL_UNROLL
  for (uint32_t k = 0; k < CALO_NEIGHBOURS; k++) {
    const uint32_t other = others[k] == CALO_NO_NEIGHBOUR ? cell : others[k];
    const uint32_t counts = other != cell && is_marked(o->highest, other);
    sum += counts ? calo_energy(a->geometry.gain[other], a->geometry.pedestal[0], adc[other]) : 0.0f;
  }
  return sum;
}

/* `o`: of the event, with correct_overlap. */
static SL_DEVICE void write_cluster(const struct clusters_args *a, const int16_t *adc, const struct overlap *o,
                                    uint32_t cell, uint32_t to) {
  const uint16_t *others = a->geometry.neighbours + CALO_NEIGHBOURS * cell;
  const float pedestal = a->geometry.pedestal[0], x = a->geometry.xy[2 * cell], y = a->geometry.xy[2 * cell + 1];
  const float highest = calo_energy(a->geometry.gain[cell], pedestal, adc[cell]);
  float energy = highest, energy_x = 0.0f, energy_y = 0.0f; /* energy times the distance from the highest cell */
  SL_UNROLL
  for (uint32_t k = 0; k < CALO_NEIGHBOURS;
       k++) { /* missing neighbours are replaced by the cell itself, without energy */
    const uint32_t exists = others[k] != CALO_NO_NEIGHBOUR, other = exists ? others[k] : cell;
    const int32_t value = adc[other];
    const float there = calo_energy(a->geometry.gain[other], pedestal, value);
    const float added = exists && value > a->others_min ? there : 0.0f;
    energy += added;
    energy_x += added * (a->geometry.xy[2 * other] - x);
    energy_y += added * (a->geometry.xy[2 * other + 1] - y);
    if (a->correct_overlap && added > 0.0f && is_marked(o->shared, other)) {
      const float of_others = energy_of_others(a, adc, o, other, cell);
      energy -= of_others / (highest + of_others) * added;
    }
  }
  const float mean_x = x + energy_x / energy, mean_y = y + energy_y / energy;
  const float r2 = mean_x * mean_x + mean_y * mean_y;
  a->clusters.cell[to] = (uint16_t)cell;
  a->clusters.energy[to] = energy;
  a->clusters.et[to] = energy * sqrtf(r2 / (r2 + a->z * a->z));
  a->clusters.x[to] = mean_x;
  a->clusters.y[to] = mean_y;
  a->clusters.highest_share[to] = highest / energy;
}

SL_KERNEL(clusters_write, struct clusters_args) {
  __shared__ struct overlap overlap;
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.clusters.offsets[event], count = a.clusters.offsets[event + 1] - first;
    const uint16_t *list = a.highest + (size_t)event * CALO_CLUSTERS_MAX;
    if (a.correct_overlap) mark_overlap(&a, list, count, &overlap);
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
      write_cluster(&a, adc_of(&a, event), &overlap, list[i], first + i);
    if (a.correct_overlap) __syncthreads(); /* the maps are free */
  }
}

/* Refuses limits below the pedestal, so that sums of energies are positive. */
static int prepare(const struct sl_services *s, void *args) {
  const struct clusters_args *a = (const struct clusters_args *)args;
  const float pedestal = a->geometry.pedestal[0];
  if (!((float)a->highest_min > pedestal)) {
    s->message(s->context, SL_ERROR, "highest_min is %d, expected more than the geometry's pedestal of %g",
               a->highest_min, (double)pedestal);
    return SL_EINVAL;
  }
  if ((float)(a->others_min + 1) >= pedestal) return SL_OK;
  s->message(s->context, SL_ERROR, "others_min is %d, expected at least the geometry's pedestal of %g, less 1",
             a->others_min, (double)pedestal);
  return SL_EINVAL;
}

static int run(const struct sl_launch *l, const struct clusters_args *a) {
  return SL_COUNT_SCAN_WRITE(l, clusters_count, clusters_write, a->clusters, *a);
}

SL_ALGORITHM(clusters, "finds clusters in the calorimeter", 128, run, SL_PREPARE(prepare));
