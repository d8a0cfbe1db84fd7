/* muon.cross: hits of the muon chambers from crossings of x strips and y strips (README.md, "Hits").
 * In a bitmap of the hit strips (strips.h) in shared memory, all strips that cross a given strip are adjacent, so one
 * look at the bitmap gives the crossings of a tile without a search.
 *   1. Count: an x strip has one hit per y strip that it crosses; a pad, or a strip without crossing, is one hit.
 *   2. The scan turns the counts into offsets.
 *   3. Write: make the bitmap again, assign hits to tiles in order, then look up the position of each hit in a table of
 *      16 bytes per pad or strip.
 * Parallelism: one thread per tile, then one per hit. Determinism: hits are in the order of their tiles.
 * Cost: reads 5 bytes per tile, twice, and 24 per hit; writes 27 per hit.
 */
#include "strips.h"

#include <sluice/kernel.h>

enum { PLACE_FLOATS = 4, PLACES_AHEAD = 64 };
static const float half_width_min = 0.1f; /* mm: the narrowest pads have more than 3 */

#define SL_ARGS cross_args
#define CROSS(M)                                                                                                   \
  M(IN, tiles, muon_tiles, "", "hit tiles, by grid and quarter")                                                   \
  M(IN, geometry, muon_geometry, "grid offset position_first x y z width_first half_x half_y",                     \
    "positions of pads and strips")                                                                                \
  M(OUT, hits, muon_hits, "muon hits, by grid and quarter",                                                        \
    SL_ITEMS(SL_MIN(SL_ITEMS_SCALED(tiles, STRIP_HIGH_MAX, 1, 0), SL_BUDGET_TERM(hits_per_event, MUON_HITS_MAX)))) \
  M(BUDGET, hits_per_event, 400, 1, MUON_HITS_MAX, "muon hits, on average over a slice")                           \
  M(COMPUTED, words, uint32_t, "number of words of the bitmap")                                                    \
  M(TABLE, grids, u32, "strip numbers of each grid, 12 values per grid")                                           \
  M(TABLE, places, f32, "position of each pad and strip, 4 values: x, y, z, bits of the index in widths")          \
  M(TABLE, widths, f32, "half-widths in x and y")
SL_ARGUMENTS(cross, CROSS);

/* Position of a pad or strip. Aligned for one load on a GPU. */
struct place {
  float x, y, z, width;
} __attribute__((aligned(16)));
struct widths {
  float half_x, half_y;
} __attribute__((aligned(8)));

/* ----------------------------------------------------------------------------------------------- the tables */

static void fill_places(const struct muon_geometry_view *g, uint32_t table, uint32_t grid, struct place *to) {
  const uint32_t *grid_x = &g->grid[2 * MUON_GRIDS * table + grid], gx = *grid_x, gy = grid_x[MUON_GRIDS];
  uint32_t width = g->width_first[table];
  for (uint32_t i = 0; i < grid; i++) width += 6 * MUON_QUARTERS * g->grid[2 * MUON_GRIDS * table + MUON_GRIDS + i];
  uint32_t first =
      g->position_first[MUON_STATIONS * table + grid / MUON_REGIONS] + g->offset[MUON_GRIDS * table + grid];
  for (uint32_t quarter = 0; quarter < MUON_QUARTERS; quarter++) {
    for (uint32_t y = 0; y < 2 * gy; y++) {
      for (uint32_t x = y < gy ? gx : 0; x < 2 * gx; x++, to++) {
        const uint32_t i = first + muon_running_number(x, y, gx, gy);
        to->x = g->x[i];
        to->y = g->y[i];
        to->z = g->z[i];
        to->width = sl_f32_from_bits(width + muon_width_number(x, y, gx, gy));
      }
    }
    first += muon_quarter_size(gx, gy);
    width += 6 * gy;
  }
}

/* Checks the values that later code divides by: half-widths, and distances between stations. Returns a message or NULL.
 */
static const char *find_fault(const struct muon_geometry_view *g, const struct strip_grid *grids,
                              const struct place *places) {
  float upstream_z = 0.0f; /* largest z of the previous stations */
  for (uint32_t i = 0; i < g->width_first[MUON_TABLES]; i++)
    if (!(g->half_x[i] >= half_width_min) || !(g->half_y[i] >= half_width_min)) return "a half-width is below 0.1 mm";
  for (uint32_t station = 0; station < MUON_STATIONS; station++) {
    float last = upstream_z;
    for (uint32_t table = 0; table < MUON_TABLES; table++) {
      for (uint32_t grid = station * MUON_REGIONS; grid < (station + 1) * MUON_REGIONS; grid++) {
        const uint32_t *grid_x = &g->grid[2 * MUON_GRIDS * table + grid];
        const uint32_t count = MUON_QUARTERS * muon_quarter_size(*grid_x, grid_x[MUON_GRIDS]);
        for (const struct place *p = places + grids[grid].place[table], *end = p + count; p < end; p++) {
          if (!(p->z > upstream_z)) return "stations do not ascend in z";
          last = sl_max_f32(last, p->z);
        }
      }
    }
    upstream_z = last;
  }
  return NULL;
}

static int prepare(const struct sl_services *s, void *args) {
  struct cross_args *a = (struct cross_args *)args;
  const struct muon_geometry_view *g = &a->geometry;
  struct strip_grid *grids =
      (struct strip_grid *)s->make_table(s->context, "grids", (uint64_t)STRIP_GRID_VALUES * MUON_GRIDS);
  uint32_t count = 0;
  if (!grids) return SL_ENOMEM;
  const char *fault = strip_grids_make(g, grids);
  for (uint32_t table = 0; table < MUON_TABLES; table++) {
    for (uint32_t i = 0; i < MUON_GRIDS; i++) {
      const uint32_t *grid_x = &g->grid[2 * MUON_GRIDS * table + i];
      grids[i].place[table] = count;
      count += MUON_QUARTERS * muon_quarter_size(*grid_x, grid_x[MUON_GRIDS]);
    }
  }
  const uint32_t width_count = g->width_first[MUON_TABLES];
  struct place *places = (struct place *)s->make_table(s->context, "places", (uint64_t)PLACE_FLOATS * count);
  struct widths *widths = (struct widths *)s->make_table(s->context, "widths", (uint64_t)2 * width_count);
  if (!places || !widths) return SL_ENOMEM;
  for (uint32_t i = 0; i < width_count; i++) {
    widths[i].half_x = g->half_x[i];
    widths[i].half_y = g->half_y[i];
  }
  for (uint32_t table = 0; table < MUON_TABLES; table++)
    for (uint32_t i = 0; i < MUON_GRIDS; i++) fill_places(g, table, i, places + grids[i].place[table]);
  if (!fault) fault = find_fault(g, grids, places);
  a->words = strip_words(grids);
  if (!fault) return SL_OK;
  s->message(s->context, SL_ERROR, "the geometry of the muon chambers: %s", fault);
  return SL_EINVAL;
}

static SL_DEVICE const struct strip_grid *grid_of(const struct cross_args *a, uint32_t tile) {
  return (const struct strip_grid *)(const void *)a->grids + muon_tile_grid(tile);
}

/* ------------------------------------------------------------------------------------------------- crossings */

/* `count` bits (1 to 32) of the bitmap from bit `first` on. */
static SL_DEVICE uint32_t bits_from(const uint32_t *bits, uint32_t first, uint32_t count) {
  const uint64_t two_words = bits[first / 32] | (uint64_t)bits[first / 32 + 1] << 32;
  return (uint32_t)(two_words >> first % 32) & UINT32_MAX >> (32 - count);
}

/* Hits of a tile. crossed: for an x strip, one bit for each y strip that it may cross; count: number of its hits. */
struct tile_hits {
  uint32_t crossed, count;
};

static SL_DEVICE struct tile_hits hits_of(const struct strip_grid *g, const uint32_t *bits, uint32_t tile) {
  const uint32_t x = muon_tile_x(tile), y = muon_tile_y(tile);
  struct tile_hits hits;
  hits.crossed = 0;
  hits.count = 1;
  if (strip_grid_has_pads(g)) return hits;
  if (strip_is_y(g, tile)) {
    hits.count = bits_from(bits, strip_x_number(g, tile, x * g->wide, y / g->high), g->wide) ? 0 : 1;
  } else {
    hits.crossed = bits_from(bits, strip_y_number(g, tile, x / g->wide, y * g->high), g->high);
    if (hits.crossed) hits.count = sl_count_bits(hits.crossed);
  }
  return hits;
}

/* Sets the bits of the tiles of an event. Called by all threads of the block. */
static SL_DEVICE void set_bits(const struct cross_args *a, uint32_t begin, uint32_t tiles, uint32_t *bits) {
  for (uint32_t i = threadIdx.x; i <= a->words; i += blockDim.x) bits[i] = 0;
  __syncthreads();
  for (uint32_t i = begin + threadIdx.x; i < begin + tiles; i += blockDim.x) {
    const uint32_t strip = strip_number(grid_of(a, a->tiles.tile[i]), a->tiles.tile[i]);
    atomicOr(&bits[strip / 32], 1u << strip % 32);
  }
  __syncthreads();
}

SL_KERNEL(cross_count, struct cross_args) {
  __shared__ uint32_t bits[STRIP_WORDS_MAX + 1];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.tiles.offsets[event], tiles = a.tiles.offsets[event + 1] - begin;
    uint32_t hits = 0;
    set_bits(&a, begin, tiles, bits);
    for (uint32_t i = begin + threadIdx.x; i < begin + tiles; i += blockDim.x)
      hits += hits_of(grid_of(&a, a.tiles.tile[i]), bits, a.tiles.tile[i]).count;
    hits = sl_block_sum_u32(hits);
    if (threadIdx.x == 0) a.hits.offsets[event] = hits;
    __syncthreads(); /* the bitmap is free */
  }
}

/* ----------------------------------------------------------------------------------------------------- write */

/* Number of hit strips with numbers in [first, end). */
static SL_DEVICE uint32_t count_between(const uint32_t *bits, uint32_t first, uint32_t end) {
  uint32_t count = 0;
  for (; first < end; first += 32) count += sl_count_bits(bits_from(bits, first, end - first < 32 ? end - first : 32));
  return count;
}

/* Writes the tiles and times of the hits of tile `i` of the slice. Most tiles have one hit, so threads of a warp do not
 * diverge much. */
static SL_DEVICE void write_hits(const struct cross_args *a, uint32_t to, uint32_t i, const struct tile_hits *hits,
                                 const uint32_t *bits) {
  const uint32_t tile = a->tiles.tile[i], time = a->tiles.time[i];
  const struct strip_grid *g = grid_of(a, tile);
  uint32_t crossed = hits->crossed, other = 0;
  struct muon_tile_address pad = {muon_tile_station(tile), muon_tile_region(tile), muon_tile_quarter(tile),
                                  muon_tile_x(tile), 0};
  const uint32_t first_y = muon_tile_y(tile) * g->high;
  if (crossed) { /* tile of the first y strip; tiles are in the order of strip numbers */
    const uint32_t first = strip_y_number(g, tile, pad.x / g->wide, first_y);
    other = i + count_between(bits, strip_number(g, tile), first);
  }
  for (uint32_t end = to + hits->count; to < end; to++, other++, crossed &= crossed - 1) {
    pad.y = first_y + sl_count_bits((crossed & (0u - crossed)) - 1);
    a->hits.tile[to] = crossed ? muon_tile(&pad, g->grid_x, g->grid_y) : tile;
    a->hits.time[to] = (uint8_t)time;
    a->hits.delta_time[to] = (int8_t)((int32_t)time - (int32_t)(crossed ? a->tiles.time[other] : 0));
    a->hits.is_crossed[to] = crossed ? 1 : 0;
  }
}

/* Index of the position of a hit in the table. */
static SL_DEVICE const struct place *place_of(const struct cross_args *a, uint32_t hit) {
  const uint32_t tile = a->hits.tile[hit], gx = muon_tile_grid_x(tile), gy = muon_tile_grid_y(tile);
  const struct strip_grid *g = grid_of(a, tile);
  const uint32_t table = gx != g->grid_x   ? (uint32_t)MUON_Y_STRIPS
                         : gy != g->grid_y ? (uint32_t)MUON_X_STRIPS
                                           : (uint32_t)MUON_PADS;
  const uint32_t i = g->place[table] + muon_tile_quarter(tile) * muon_quarter_size(gx, gy) +
                     muon_running_number(muon_tile_x(tile), muon_tile_y(tile), gx, gy);
  return (const struct place *)(const void *)a->places + i;
}

/* Writes the position of a hit. */
static SL_DEVICE void write_place(const struct cross_args *a, uint32_t hit, const struct place *at) {
  const struct place p = *at;
  const struct widths w = ((const struct widths *)(const void *)a->widths)[sl_bits_from_f32(p.width)];
  a->hits.x[hit] = p.x;
  a->hits.y[hit] = p.y;
  a->hits.z[hit] = p.z;
  a->hits.half_x[hit] = w.half_x;
  a->hits.half_y[hit] = w.half_y;
}

/* Writes the positions of hits [first, end). On a CPU they are prefetched, so that loads from memory overlap. */
static SL_DEVICE void write_places(const struct cross_args *a, uint32_t first, uint32_t end) {
#if defined(SL_TARGET_CPU)
  const struct place *at[PLACES_AHEAD];
  for (uint32_t begin = first; begin < end; begin += PLACES_AHEAD) {
    const uint32_t count = end - begin < PLACES_AHEAD ? end - begin : PLACES_AHEAD;
    for (uint32_t k = 0; k < count; k++) {
      at[k] = place_of(a, begin + k);
      __builtin_prefetch(at[k]);
    }
    for (uint32_t k = 0; k < count; k++) write_place(a, begin + k, at[k]);
  }
#else
  for (uint32_t i = first + threadIdx.x; i < end; i += blockDim.x) write_place(a, i, place_of(a, i));
#endif
}

/* Writes the first hit of each grid, from the numbers of hits of the tiles. */
static SL_DEVICE void write_firsts(const uint32_t *counts, uint16_t *firsts) {
  for (uint32_t i = threadIdx.x; i < MUON_FIRSTS; i += blockDim.x) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < i; k++) sum += counts[k];
    firsts[i] = (uint16_t)sum;
  }
}

SL_KERNEL(cross_write, struct cross_args) {
  __shared__ uint32_t bits[STRIP_WORDS_MAX + 1], counts[MUON_GRIDS];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.tiles.offsets[event], tiles = a.tiles.offsets[event + 1] - begin;
    uint32_t sum = a.hits.offsets[event];
    const uint32_t is_empty = a.hits.offsets[event + 1] == sum; /* or the slice overflowed */
    for (uint32_t i = threadIdx.x; i < MUON_GRIDS; i += blockDim.x) counts[i] = 0;
    if (!is_empty) {
      set_bits(&a, begin, tiles, bits);
      SL_FOR_BLOCK (i, tiles) {
        struct tile_hits hits = {0, 0};
        uint32_t total;
        if (i < tiles) {
          const uint32_t tile = a.tiles.tile[begin + i];
          hits = hits_of(grid_of(&a, tile), bits, tile);
          if (hits.count) atomicAdd(&counts[muon_tile_grid(tile)], hits.count);
        }
        const uint32_t to = sum + sl_block_exclusive_scan(hits.count, &total);
        if (hits.count) write_hits(&a, to, begin + i, &hits, bits);
        sum += total;
      }
    }
    __syncthreads();
    write_places(&a, a.hits.offsets[event], sum);
    write_firsts(counts, a.hits.first + (size_t)event * MUON_FIRSTS);
    __syncthreads(); /* bitmap and counts are free */
  }
}

static int run(const struct sl_launch *l, const struct cross_args *a) {
  return SL_COUNT_SCAN_WRITE(l, cross_count, cross_write, a->hits, *a);
}

SL_ALGORITHM(cross, "hits in the muon chambers where strips cross", 256, run, SL_PREPARE(prepare));
