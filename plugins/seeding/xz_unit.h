/* xz_unit.h: search data of xz.cu in shared memory: x of the hits of a unit (one half and case of an event), tables of
 * cells for fast rejection of hit pairs, and the lists of a block. Private to xz.cu.
 */
#ifndef SEEDING_XZ_UNIT_H
#define SEEDING_XZ_UNIT_H

#include "cells.h"
#include "sorted_x.h"
#include "xz.h"

#include <math.h>

static const float least_tolerance = 0.05f; /* mm: a smaller tolerance does not make cells smaller */

/* Roles of the x layers in a case. */
enum { FIRST, MIDDLE, LAST, FURTHER, ROLES = SCIFI_X_LAYERS };

enum {
  CHUNK_WORK = 1 << 24, /* work per chunk, in the unit of chunks_of */
  MIDDLE_WORK = 400,    /* hits of a middle layer at which triplets cost as much as pairs */
  FOUND = 120,          /* tracks of a chunk that are buffered; further tracks are listed one by one */
  PART_BIT = 28,        /* bits below: index of a track in its part */
  FIRSTS = 32,          /* first hits per round, one per thread */
  ROWS = 2,             /* pairs per thread at a time */
  LIKELY = 128,         /* buffered likely pairs; a power of two, at least two per lane */
  LIST = 96,            /* buffered triplets */
  CELLS = 4096,         /* cells per table; a power of two */
  CELL_WORDS = CELLS / SEEDING_CELL_BITS,
  NEAR_BYTES = CELL_WORDS * 4, /* size of a table */
  WARPS = 4,                   /* warps that search; further warps of a block only help to copy */
  SAMPLED = 32 * WARPS,        /* first hits that are sampled to divide a chunk into parts */
  STRIDE = 256,                /* a layer occupies a multiple of this in shared memory; a power of two */
  PADDING = 2,                 /* padding of a layer, which may be read without a bounds check */
  PADDED_HITS = 14 * STRIDE + PADDING * ROLES,
  HIT_BITS = 16,
  COUNT_BITS = 3, /* bits of the usual number of triplets of a pair */
  NO_HIT = SCIFI_HITS_MAX
};

/* Tables of cells: the further layers, then the middle one. */
enum { NEAR_MIDDLE = ROLES - FURTHER, TABLES };

static const uint32_t sign_bit = 0x80000000u; /* sign of a float */

/* Hits of a layer: indices in the event, or in shared memory. There -infinity precedes the hits, and infinity follows
 * them up to a multiple of STRIDE. The index in the event is `skipped` higher. */
struct layer {
  uint32_t begin, end, skipped;
  float d, bend, range; /* mm: largest distance between the predicted x of a pair and a hit */
};

/* Predicted x in the layer of a table, in cells: x_f + d slope + gain m, where m is the distance of the middle hit from
 * the line. */
struct crossing {
  float d, gain;
};

/* Data of the unit that the search reads all the time. */
struct half {
  struct layer layers[ROLES];
  uint32_t chunks, is_padded;
  float numbers[SEED_CASE_FITS], inverse_length, inverse_p[2], tolerance, cells_per_mm;
  struct crossing crossings[TABLES];
};

/* A first hit of the round: number of its first pair, and the word of (hypothetical) pair 0. The word of a pair has the
 * index of the first hit in the lower half and of the last hit in the upper half. */
struct first_hit {
  union {
    uint32_t start;
    float x; /* after `start` has been read */
  };
  uint32_t pair;
};

/* Data of a warp. The word of a triplet has, from the lowest bits, the indices of the first, last and middle hit, 16
 * bits each. */
struct warp_workspace {
  struct first_hit firsts[FIRSTS];
  uint64_t list[LIST];
  uint32_t likely[LIKELY]; /* ring buffer of pairs */
  uint32_t total;
};

struct workspace {
  uint32_t near[TABLES]
               [CELL_WORDS]; /* one bit per cell: 1 if the layer can have a hit of a pair that points to the cell */
  struct half half;
  struct warp_workspace warps[WARPS];
  uint32_t found[FOUND_WORDS - 1][FOUND], found_count, found_base, of_part[PARTS], next_part;
  uint32_t part_begin[PARTS + 1]; /* indices of first hits; the last entry is the end of the chunk */
};

/* Input of the search. `is_padded`: x is in shared memory; a compile-time constant at each call. */
struct search {
  const struct half *half;
  const struct workspace *w;
  const float *x;
  uint32_t is_padded;
};

/* State of the search of a part, equal in all threads of the warp. */
struct progress {
  uint32_t chunk, part; /* chunk: CHUNKS_MAX * unit + number; and part */
  uint32_t tracks, listed, likely,
      taken; /* found tracks; buffered triplets; likely pairs so far; likely pairs processed */
};

static SL_DEVICE uint32_t layer_of_role(uint32_t role, uint32_t odd) {
  return role < FURTHER ? SCIFI_STATION_LAYERS * role + 3 * odd
                        : SCIFI_STATION_LAYERS * (role - FURTHER) + 3 * (1 - odd);
}

static SL_DEVICE uint32_t table_of(uint32_t role) { return role == MIDDLE ? (uint32_t)NEAR_MIDDLE : role - FURTHER; }

/* Zone of a role. Kinds: both cases of the lower half, then of the upper half. */
static SL_DEVICE uint32_t zone_of_role(uint32_t role, uint32_t kind) {
  return 2 * layer_of_role(role, kind % 2) + kind / 2;
}

/* Number of chunks of a unit from the numbers of hits: the work for pairs is proportional to first * last, the work for
 * triplets to the product of all three. */
static SL_DEVICE uint32_t chunks_of(uint32_t first, uint32_t last, uint32_t middle) {
  const uint64_t chunks = 1 + (uint64_t)first * last * (MIDDLE_WORK + middle) / CHUNK_WORK;
  return chunks < CHUNKS_MAX ? (uint32_t)chunks : (uint32_t)CHUNKS_MAX;
}

static SL_DEVICE uint32_t layer_size(uint32_t hits) { return (hits / STRIDE + 1) * STRIDE + PADDING; }

/* Number of chunks of a unit. */
static SL_DEVICE uint32_t chunks_of_unit(const struct xz_args *a, uint32_t unit) {
  const uint16_t *zone_first = a->hits.zone_first + (size_t)(unit / KINDS) * (SCIFI_ZONES + 1);
  uint32_t hits[FURTHER];
  SL_UNROLL for (uint32_t role = 0; role < FURTHER; role++) {
    const uint32_t zone = zone_of_role(role, unit % KINDS);
    hits[role] = (uint32_t)zone_first[zone + 1] - zone_first[zone];
  }
  return chunks_of(hits[FIRST], hits[LAST], hits[MIDDLE]);
}

/* Cell of an x given in cells; ascends with x, modulo the size of the table. */
static SL_DEVICE uint32_t cell_of(float x) { return (uint32_t)sl_to_i32(x); }

/* Copies the x of a layer's hits to shared memory, and marks their cells. All threads of the warp must call it. */
static SL_DEVICE void copy_layer(const float *x, uint32_t role, struct workspace *w, float *copy) {
  const struct layer *layer = &w->half.layers[role];
  const uint32_t hits = layer->end - layer->begin, padded_hits = layer_size(hits);
  const float *source = x + (layer->begin + layer->skipped);
  float *to = copy + layer->begin;
  if (sl_warp_lane() == 0) to[-1] = -INFINITY;
  for (uint32_t i = sl_warp_lane(); i < hits; i += sl_warp_lanes()) {
    to[i] = source[i];
    if (role != MIDDLE && role < FURTHER) continue;
    seeding_mark_cells(w->near[table_of(role)], CELL_WORDS, cell_of((source[i] - layer->range) * w->half.cells_per_mm),
                       cell_of((source[i] + layer->range) * w->half.cells_per_mm));
  }
  SL_ROLLED for (uint32_t i = hits + sl_warp_lane(); i + 1 < padded_hits; i += sl_warp_lanes()) to[i] = INFINITY;
}

/* Largest |x| of the layer. */
static SL_DEVICE float extent_of(const float *x, uint32_t begin, uint32_t end) {
  return begin < end ? sl_max_f32(sl_abs_f32(x[begin]), sl_abs_f32(x[end - 1])) : 0.0f;
}

/* Sets how far a hit may be from the prediction of a pair. Middle hits are up to half_window to either side of it, and
 * the curve moves by `gain` times that in this layer. `extent`: largest |x| of all hits. The last term exceeds all
 * rounding errors. */
static SL_DEVICE void set_range(const struct xz_args *a, uint32_t odd, uint32_t role, float extent, struct half *h) {
  const float *numbers = a->seeding.cases + SEED_CASE_NUMBERS * odd;
  struct layer *layer = &h->layers[role];
  const float half_window = 1.5f * sl_abs_f32(numbers[SEED_CASE_LEAST]), curvature = numbers[SEED_CASE_CURVATURE];
  const float tolerance = a->seeding.constants[SEED_TOLERANCE];
  const float slope = numbers[SEED_CASE_SLOPE] * layer->d, x = numbers[SEED_CASE_X];
  const float gain = role == MIDDLE ? 1.0f : curvature * (slope + x - layer->bend);
  const float terms = sl_abs_f32(curvature) * (sl_abs_f32(slope) + sl_abs_f32(x) + sl_abs_f32(layer->bend));
  const float cells_per_mm = 2.0f / sl_max_f32(half_window + tolerance, least_tolerance);
  layer->range = sl_abs_f32(gain) * half_window + (role == MIDDLE ? 0.0f : tolerance) + 1e-5f * (1.0f + terms) * extent;
  if (role == MIDDLE) h->cells_per_mm = cells_per_mm;
  if (role != MIDDLE && role < FURTHER) return;
  struct crossing *crossing = &h->crossings[table_of(role)];
  crossing->d = (layer->d - a->seeding.d[layer_of_role(FIRST, odd)]) * cells_per_mm;
  crossing->gain = gain * cells_per_mm;
}

/* Sets the range of a role's hits, in shared memory if all hits of the unit fit. */
static SL_DEVICE void open_layer(const struct xz_args *a, uint32_t unit, uint32_t role, struct half *h) {
  const uint32_t kind = unit % KINDS, number = layer_of_role(role, kind % 2);
  const uint16_t *zone_first = a->hits.zone_first + (size_t)(unit / KINDS) * (SCIFI_ZONES + 1);
  struct layer *layer = &h->layers[role];
  const float *x = a->hits.x + a->hits.offsets[unit / KINDS];
  uint32_t sum = 0, index = 1;
  float extent = 0.0f;
  SL_UNROLL for (uint32_t other = 0; other < ROLES; other++) {
    const uint32_t zone = zone_of_role(other, kind);
    const uint32_t padded_hits = layer_size((uint32_t)zone_first[zone + 1] - zone_first[zone]);
    extent = sl_max_f32(extent, extent_of(x, zone_first[zone], zone_first[zone + 1]));
    index += other < role ? padded_hits : 0;
    sum += padded_hits;
  }
  const uint32_t zone = zone_of_role(role, kind), begin = zone_first[zone];
  const uint32_t is_padded = sum <= PADDED_HITS ? 1u : 0u;
  layer->begin = is_padded ? index : begin;
  layer->end = layer->begin + (zone_first[zone + 1] - begin);
  layer->skipped = begin - layer->begin;
  layer->d = a->seeding.d[number];
  layer->bend = a->seeding.bend[number];
  set_range(a, kind % 2, role, extent, h);
  if (role == 0) h->is_padded = is_padded;
}

/* Opens a unit, and copies the x of its hits to `copy` if they fit; returns 1 if they do. All threads of the block must
 * call it. */
static SL_DEVICE uint32_t open_unit(const struct xz_args *a, uint32_t unit, struct workspace *w, float *copy) {
  const float *numbers = a->seeding.cases + SEED_CASE_NUMBERS * (unit % KINDS % 2), *constants = a->seeding.constants;
  const float *x = a->hits.x + a->hits.offsets[unit / KINDS];
  struct half *h = &w->half;
  __syncthreads(); /* the previous unit is complete */
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

/* Addresses of numbers in shared memory. With pointers the CUDA compiler duplicates each search for several address
 * spaces. */
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

/* The word of a table that contains the cell, shifted so that the cell's bit is the lowest. Tables are aligned to their
 * size. */
static SL_DEVICE uint32_t near_bit(const struct workspace *w, uint32_t table, uint32_t cell) {
  const size_t word = address_of(w->near[table]) | (cell / SEEDING_CELL_BITS * 4 % NEAR_BYTES);
  return *(const uint32_t *)at_address(word) >> cell % SEEDING_CELL_BITS;
}

/* x of a pair's last hit, in shared memory, where indices of first hits are below 1 << (HIT_BITS - 2). */
static SL_DEVICE float last_x(const struct search *s, uint32_t pair) {
  return number_at(address_of(s->x) + (pair >> (HIT_BITS - 2)));
}

/* Address of the last x of a layer in shared memory that is below the limit. */
static SL_DEVICE size_t last_below(const struct search *s, uint32_t role, float limit) {
  const struct layer *layer = &s->half->layers[role];
  size_t address = address_of(s->x + layer->begin - 1);
  SL_ROLLED for (uint32_t n = (layer->end - layer->begin) / STRIDE; n > 0; n--) address +=
      number_at(address + STRIDE * sizeof(float)) < limit ? STRIDE * sizeof(float) : 0;
  SL_UNROLL for (size_t step = STRIDE / 2 * sizeof(float); step >= sizeof(float); step /= 2) address +=
      number_at(address + step) < limit ? step : 0;
  return address;
}

/* The first index of the layer with x >= limit, or its end. */
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
