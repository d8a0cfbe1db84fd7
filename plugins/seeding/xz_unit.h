/* xz_unit.h: a unit of xz.cu in shared memory: the x of its hits, in which places are bisected, and tables of
 * cells, in which a pair of hits is looked up; and what a block has besides. Private to xz.cu.
 */
#ifndef SEEDING_XZ_UNIT_H
#define SEEDING_XZ_UNIT_H

#include "cells.h"
#include "sorted_x.h"
#include "xz.h"

#include <math.h>

static const float least_tolerance = 0.05f; /* mm: for less cells are no smaller */

/* The layers of a case by what their hits are for. */
enum { FIRST, MIDDLE, LAST, FURTHER, ROLES = SCIFI_X_LAYERS };

enum {
  CHUNK_WORK = 1 << 24, /* as chunks_of counts it */
  MIDDLE_WORK = 400,    /* hits of a middle layer for which triplets are as much work as pairs */
  FOUND = 120,          /* tracks of a chunk that are listed together; the others one by one */
  PART_BIT = 28,        /* behind a track's place in its part */
  FIRSTS = 32,          /* first hits whose pairs are numbered at a time, each by a thread */
  ROWS = 2,             /* pairs of a thread at a time */
  LIKELY = 128,         /* pairs that wait for their middle hits; a power of two, at least two for each lane */
  LIST = 96,            /* triplets that wait to be completed */
  CELLS = 4096,         /* of a layer; a power of two */
  CELL_WORDS = CELLS / SEEDING_CELL_BITS,
  NEAR_BYTES = CELL_WORDS * 4, /* of a table */
  WARPS = 4,                   /* that search; those of a larger block help to copy */
  ASKED = 32 * WARPS,          /* first hits whose pairs are counted, to part a chunk */
  STRIDE = 256,                /* a layer takes a multiple of so many places in shared memory; a power of two */
  BEHIND = 2,                  /* places that are read without a look at whether the layer has so many */
  PLACES = 14 * STRIDE + BEHIND * ROLES,
  HIT_BITS = 16,
  COUNT_BITS = 3, /* of nearly all counts of a pair's triplets */
  NO_HIT = SCIFI_HITS_MAX
};

/* Tables of cells: of the further layers, and of the middle one. */
enum { NEAR_MIDDLE = ROLES - FURTHER, TABLES };

static const uint32_t sign_bit = 0x80000000u; /* of a float */

/* A layer's hits, by their places: those of the event, or in shared memory, where the place before has -infinity, and
 * infinity those behind, up to one whose distance from that before is a multiple of STRIDE. A hit's number in the event
 * is `skipped` more. */
struct layer {
  uint32_t begin, end, skipped;
  float d, bend, reach; /* how far off a pair may point, and have a hit here */
};

/* Where a curve crosses the layer of a table, in cells: x_f + d slope + gain m, if it is m from the line in the middle.
 */
struct crossing {
  float d, gain;
};

/* What the search of a half and case reads all the time. */
struct half {
  struct layer layers[ROLES];
  uint32_t chunks, is_padded;
  float numbers[SEED_CASE_FITS], inverse_length, inverse_p[2], tolerance, cells_per_mm;
  struct crossing crossings[TABLES];
};

/* A first hit of the turn: the number of its first pair, and the word of pair 0, if that were its own: a pair's word
 * has the place of the first hit in the lower half, that of the last one in the upper. */
struct first_hit {
  union {
    uint32_t start;
    float x; /* once the numbers have been read */
  };
  uint32_t pair;
};

/* What a warp has of its own. Words of triplets have, from the lowest bits on, places of the first, last and middle
 * hit, 16 bits each. */
struct warp_workspace {
  struct first_hit firsts[FIRSTS];
  uint64_t list[LIST];
  uint32_t likely[LIKELY]; /* the first two places of a triplet; from any place on, around the end */
  uint32_t total;
};

struct workspace {
  uint32_t near[TABLES][CELL_WORDS]; /* a bit a cell: whether a pair that points there may have a hit in the layer */
  struct half half;
  struct warp_workspace warps[WARPS];
  uint32_t found[FOUND_WORDS - 1][FOUND], found_count, found_base, of_part[PARTS], next_part;
  uint32_t part_begin[PARTS + 1]; /* places of first hits; the last one is the end of the chunk's */
};

/* What is searched: `x` by places. `is_padded`: it is in shared memory. Known to the compiler at each call. */
struct search {
  const struct half *half;
  const struct workspace *w;
  const float *x;
  uint32_t is_padded;
};

/* What has been done of a part, the same for all threads of the warp. */
struct progress {
  uint32_t chunk, part;                   /* the chunk: CHUNKS_MAX times the unit, and its number */
  uint32_t tracks, listed, likely, taken; /* pairs: all that were likely, and those no longer in the list */
};

static SL_DEVICE uint32_t layer_of_role(uint32_t role, uint32_t odd) {
  return role < FURTHER ? SCIFI_STATION_LAYERS * role + 3 * odd
                        : SCIFI_STATION_LAYERS * (role - FURTHER) + 3 * (1 - odd);
}

static SL_DEVICE uint32_t table_of(uint32_t role) { return role == MIDDLE ? (uint32_t)NEAR_MIDDLE : role - FURTHER; }

/* Kinds: both cases of the lower half, then of the upper one. */
static SL_DEVICE uint32_t zone_of_role(uint32_t role, uint32_t kind) {
  return 2 * layer_of_role(role, kind % 2) + kind / 2;
}

/* How many chunks a unit is, with so many hits in the layers: pairs go with the first two factors, and triplets with
 * all three. */
static SL_DEVICE uint32_t chunks_of(uint32_t first, uint32_t last, uint32_t middle) {
  const uint64_t chunks = 1 + (uint64_t)first * last * (MIDDLE_WORK + middle) / CHUNK_WORK;
  return chunks < CHUNKS_MAX ? (uint32_t)chunks : (uint32_t)CHUNKS_MAX;
}

static SL_DEVICE uint32_t layer_places(uint32_t hits) { return (hits / STRIDE + 1) * STRIDE + BEHIND; }

/* How many chunks a unit is. */
static SL_DEVICE uint32_t chunks_of_unit(const struct xz_args *a, uint32_t unit) {
  const uint16_t *zone_first = a->hits.zone_first + (size_t)(unit / KINDS) * (SCIFI_ZONES + 1);
  uint32_t hits[FURTHER];
  SL_UNROLL for (uint32_t role = 0; role < FURTHER; role++) {
    const uint32_t zone = zone_of_role(role, unit % KINDS);
    hits[role] = (uint32_t)zone_first[zone + 1] - zone_first[zone];
  }
  return chunks_of(hits[FIRST], hits[LAST], hits[MIDDLE]);
}

/* The cell of an x, which is counted in cells: they ascend with x, and are CELLS again and again. */
static SL_DEVICE uint32_t cell_of(float x) { return (uint32_t)sl_to_i32(x); }

/* Copies a layer's hits' x to shared memory, and marks them. Every thread of the warp comes here. */
static SL_DEVICE void copy_layer(const float *x, uint32_t role, struct workspace *w, float *copy) {
  const struct layer *layer = &w->half.layers[role];
  const uint32_t hits = layer->end - layer->begin, places = layer_places(hits);
  const float *from = x + (layer->begin + layer->skipped);
  float *to = copy + layer->begin;
  if (sl_warp_lane() == 0) to[-1] = -INFINITY;
  for (uint32_t i = sl_warp_lane(); i < hits; i += sl_warp_lanes()) {
    to[i] = from[i];
    if (role != MIDDLE && role < FURTHER) continue;
    seeding_mark_cells(w->near[table_of(role)], CELL_WORDS, cell_of((from[i] - layer->reach) * w->half.cells_per_mm),
                       cell_of((from[i] + layer->reach) * w->half.cells_per_mm));
  }
  SL_ROLLED for (uint32_t i = hits + sl_warp_lane(); i + 1 < places; i += sl_warp_lanes()) to[i] = INFINITY;
}

/* No x of the layer is farther from 0. */
static SL_DEVICE float extent_of(const float *x, uint32_t begin, uint32_t end) {
  return begin < end ? sl_max_f32(sl_abs_f32(x[begin]), sl_abs_f32(x[end - 1])) : 0.0f;
}

/* Middle hits may be half_window to either side of where a pair points, and the curve through one is gain times as far
 * to a side in this layer. `extent`: of all hits. What is added is more than the rounding of all numbers on the way. */
static SL_DEVICE void set_reach(const struct xz_args *a, uint32_t odd, uint32_t role, float extent, struct half *h) {
  const float *numbers = a->seeding.cases + SEED_CASE_NUMBERS * odd;
  struct layer *layer = &h->layers[role];
  const float half_window = 1.5f * sl_abs_f32(numbers[SEED_CASE_LEAST]), curvature = numbers[SEED_CASE_CURVATURE];
  const float tolerance = a->seeding.constants[SEED_TOLERANCE];
  const float slope = numbers[SEED_CASE_SLOPE] * layer->d, x = numbers[SEED_CASE_X];
  const float gain = role == MIDDLE ? 1.0f : curvature * (slope + x - layer->bend);
  const float terms = sl_abs_f32(curvature) * (sl_abs_f32(slope) + sl_abs_f32(x) + sl_abs_f32(layer->bend));
  const float cells_per_mm = 2.0f / sl_max_f32(half_window + tolerance, least_tolerance);
  layer->reach = sl_abs_f32(gain) * half_window + (role == MIDDLE ? 0.0f : tolerance) + 1e-5f * (1.0f + terms) * extent;
  if (role == MIDDLE) h->cells_per_mm = cells_per_mm;
  if (role != MIDDLE && role < FURTHER) return;
  struct crossing *crossing = &h->crossings[table_of(role)];
  crossing->d = (layer->d - a->seeding.d[layer_of_role(FIRST, odd)]) * cells_per_mm;
  crossing->gain = gain * cells_per_mm;
}

/* Where the unit's hits are. */
static SL_DEVICE void open_layer(const struct xz_args *a, uint32_t unit, uint32_t role, struct half *h) {
  const uint32_t kind = unit % KINDS, number = layer_of_role(role, kind % 2);
  const uint16_t *zone_first = a->hits.zone_first + (size_t)(unit / KINDS) * (SCIFI_ZONES + 1);
  struct layer *layer = &h->layers[role];
  const float *x = a->hits.x + a->hits.offsets[unit / KINDS];
  uint32_t sum = 0, place = 1;
  float extent = 0.0f;
  SL_UNROLL for (uint32_t other = 0; other < ROLES; other++) {
    const uint32_t zone = zone_of_role(other, kind);
    const uint32_t places = layer_places((uint32_t)zone_first[zone + 1] - zone_first[zone]);
    extent = sl_max_f32(extent, extent_of(x, zone_first[zone], zone_first[zone + 1]));
    place += other < role ? places : 0;
    sum += places;
  }
  const uint32_t zone = zone_of_role(role, kind), begin = zone_first[zone];
  const uint32_t is_padded = sum <= PLACES ? 1u : 0u;
  layer->begin = is_padded ? place : begin;
  layer->end = layer->begin + (zone_first[zone + 1] - begin);
  layer->skipped = begin - layer->begin;
  layer->d = a->seeding.d[number];
  layer->bend = a->seeding.bend[number];
  set_reach(a, kind % 2, role, extent, h);
  if (role == 0) h->is_padded = is_padded;
}

/* Opens a unit, and copies its hits' x to `copy`, if they fit in; returns whether they do.
 * Every thread of the block comes here. */
static SL_DEVICE uint32_t open_unit(const struct xz_args *a, uint32_t unit, struct workspace *w, float *copy) {
  const float *numbers = a->seeding.cases + SEED_CASE_NUMBERS * (unit % KINDS % 2), *constants = a->seeding.constants;
  const float *x = a->hits.x + a->hits.offsets[unit / KINDS];
  struct half *h = &w->half;
  __syncthreads(); /* what was open before is done with */
  for (uint32_t role = threadIdx.x; role < ROLES; role += blockDim.x) open_layer(a, unit, role, h);
  for (uint32_t i = threadIdx.x; i < SEED_CASE_FITS; i += blockDim.x) h->numbers[i] = numbers[i];
  SL_UNROLL for (uint32_t k = 0; k < TABLES; k++) for (uint32_t i = threadIdx.x; i < CELL_WORDS; i += blockDim.x)
      w->near[k][i] = 0;
  if (threadIdx.x == 0) {
    w->found_count = w->next_part = 0;
    h->chunks = chunks_of_unit(a, unit);
    h->inverse_length = 1.0f / numbers[SEED_CASE_LENGTH];
    h->inverse_p[0] = constants[SEED_INVERSE_P];
    h->inverse_p[1] = constants[SEED_INVERSE_P + 1];
    h->tolerance = constants[SEED_TOLERANCE];
  }
  __syncthreads();
  if (!h->is_padded) return 0;
  for (uint32_t role = sl_warp_index(); role < ROLES; role += sl_block_warps()) copy_layer(x, role, w, copy);
  __syncthreads();
  return 1;
}

/* Numbers in shared memory by their addresses. With pointers CUDA's compiler goes through each search two or three
 * times side by side, since it has several sorts of them. */
static SL_DEVICE size_t address_of(const void *number) {
#if defined(__CUDA_ARCH__)
  return __cvta_generic_to_shared(number);
#else
  return (size_t)number;
#endif
}
static SL_DEVICE const void *at_address(size_t address) {
#if defined(__CUDA_ARCH__)
  return __cvta_shared_to_generic(address);
#else
  return (const void *)address;
#endif
}
static SL_DEVICE float number_at(size_t address) { return *(const float *)at_address(address); }

/* The word of a table that has the cell, with its bit as the lowest. Tables stand at multiples of their size. */
static SL_DEVICE uint32_t near_bit(const struct workspace *w, uint32_t table, uint32_t cell) {
  const size_t word = address_of(w->near[table]) | (cell / SEEDING_CELL_BITS * 4 % NEAR_BYTES);
  return *(const uint32_t *)at_address(word) >> cell % SEEDING_CELL_BITS;
}

/* The x of a pair's last hit, in shared memory, where places of first hits are below 1 << (HIT_BITS - 2). */
static SL_DEVICE float last_x(const struct search *s, uint32_t pair) {
  return number_at(address_of(s->x) + (pair >> (HIT_BITS - 2)));
}

/* The last place of a layer in shared memory whose x is below the limit, as an address. */
static SL_DEVICE size_t last_below(const struct search *s, uint32_t role, float limit) {
  const struct layer *layer = &s->half->layers[role];
  size_t place = address_of(s->x + layer->begin - 1);
  SL_ROLLED for (uint32_t n = (layer->end - layer->begin) / STRIDE; n > 0; n--) place +=
      number_at(place + STRIDE * sizeof(float)) < limit ? STRIDE * sizeof(float) : 0;
  SL_UNROLL for (size_t step = STRIDE / 2 * sizeof(float); step >= sizeof(float); step /= 2) place +=
      number_at(place + step) < limit ? step : 0;
  return place;
}

/* The first place of the layer whose x is not below the limit, or its end. */
static SL_DEVICE uint32_t first_from(const struct search *s, uint32_t role, float limit) {
  const struct layer *layer = &s->half->layers[role];
  if (!s->is_padded) return seeding_first_from(s->x, layer->begin, layer->end, limit);
  return (uint32_t)(last_below(s, role, limit) - address_of(s->x)) / (uint32_t)sizeof(float) + 1;
}

struct range {
  uint32_t begin, end;
};

static SL_DEVICE struct range last_hits(const struct search *s, uint32_t first) {
  const struct layer *layer = &s->half->layers[LAST];
  const float *numbers = s->half->numbers;
  const float x = s->x[first] * numbers[SEED_CASE_SCALE], range = numbers[SEED_CASE_RANGE];
  struct range r = {first_from(s, LAST, x - range), first_from(s, LAST, x + range)};
  while (r.end < layer->end && s->x[r.end] <= x + range) r.end++;
  return r;
}

#endif
