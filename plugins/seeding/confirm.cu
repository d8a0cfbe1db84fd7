/* seeding.confirm: finds the stereo hits of each track in x layers (README.md, "Stereo hits").
 *   1. Mark in cells of x, for each layer, the positions near enough to a hit for a track to take the hit.
 *   2. Each hit of the first or second searched layer is a start hit: it fixes y, and predicts x in the other layers.
 *   3. Drop start hits for which too few layers have a mark; follow the others from layer to layer, first those with
 *      many marks, since most tracks then need no others.
 *   4. Keep the candidate with the most hits, among those with small residuals in y for their number of hits; ties:
 *      smaller chi2 of the line in y, then the later start hit.
 * Parallelism: a block takes a chunk of tracks, chunks being of about equal work, and copies the x of hits to shared
 * memory; a warp takes up to 16 tracks, a thread one start hit.
 * Determinism: the best candidate has the minimum of keys that are all different.
 * Cost per event (90 tracks, 2,300 start hits, 200 followed): reads x of 1,600 hits per chunk, writes 25 bytes per
 * track. Plain version: tests/seeding/confirm_reference.h. CPU version: confirm.cpu.c.
 */
#include "confirm.h"

enum {
  HALVES = 2,
  BLOCKS = 3,                      /* blocks per event */
  CHUNK_WORK = 200000,             /* work per chunk: tracks times hits of the event */
  WARPS = 4,                       /* warps that search; further warps of a block only help to copy */
  TRACKS = 16,                     /* tracks per warp at a time */
  ENTRIES = START_LAYERS * TRACKS, /* entries: a track and a start layer */
  LISTED = 128,                    /* tracks per block at a time */
  COPIED_HITS = 2560,              /* hits of a half in shared memory */
  MANY_HITS = 4,                   /* stereo hits of nearly all true tracks, at least */
  STRIDE = 32,                     /* step of the linear search, a power of two */
  ROUND = 512,                     /* start hits per round */
  ROUND_WORDS = ROUND / 32,
  CELLS = 8192,   /* cells of x with one bit each */
  RANGE_MAX = 15, /* cells marked on each side of a hit, at most */
  LAYER_MARKS = CELLS / 32,
  MARKED_LAYERS = SCIFI_STEREO_LAYERS - 1 /* all except the first, in which no hit is searched */
};
static const float cells_begin = -3200.0f, per_cell = 1.28f; /* mm, 1/mm; the cells at the ends have all x beyond */

/* Hits of a layer: indices in the event or in shared memory; the index in the event is `skipped` higher. And the
 * geometry of the layer. */
struct layer {
  uint32_t begin, end, skipped;
  float d, bend, z, dxdy;
  float per_dxdy;                 /* reciprocal */
  float dxdy_cells, dxdy_z_cells; /* dxdy and dxdy z, in cells */
  float range;                    /* distance_max(), in cells */
};

/* Data of a warp: position of each track in each layer, the hits in its search window, and the smallest key. */
struct warp_workspace {
  uint64_t best[TRACKS];
  float x[SCIFI_STEREO_LAYERS][TRACKS];
  float focus[TRACKS];                      /* focus_of() */
  float per_z[SCIFI_STEREO_LAYERS][TRACKS]; /* dy/dz per y */
  uint16_t begin[SCIFI_STEREO_LAYERS][TRACKS], end[SCIFI_STEREO_LAYERS][TRACKS];
  uint32_t before[ENTRIES + 1]; /* number of start hits in earlier entries; the last value is the sum */
  uint32_t entry_count, listed_count;
  uint32_t entry_starts[ROUND_WORDS]; /* bit mask of the round: start hits that are the first of their entry */
  uint8_t entries[ENTRIES];           /* START_LAYERS * track + layer */
  uint8_t entry_at[ROUND_WORDS];      /* entry of every 32nd start hit of the round */
  uint16_t listed[ROUND];             /* start hits to follow, as numbers in the round */
  uint8_t needed[TRACKS];             /* least number of stereo hits */
};

struct workspace {
  struct layer layers[SCIFI_STEREO_LAYERS]; /* in the order of the search */
  float d[SCIFI_STEREO_LAYERS];             /* of the layers */
  struct warp_workspace warps[WARPS];
  uint16_t listed[LISTED]; /* tracks of the lower half from the front, of the upper half from the end */
  uint32_t first_step;     /* first step of a bisection: a power of two, more than half of the hits of a layer */
  uint32_t marks[MARKED_LAYERS * LAYER_MARKS];
};

/* Position of x in cells, and the cell that contains it. */
static SL_DEVICE float in_cells(float x) { return (x - cells_begin) * per_cell; }
static SL_DEVICE uint32_t cell_of(float cells) {
  const uint32_t cell = sl_to_u32(cells);
  return cell < CELLS ? cell : (uint32_t)(CELLS - 1);
}

/* Largest distance between the prediction from the start hit and a hit of layer k, with a margin. A hit is at most
 * max_distance from the prediction of the earlier hits. Each of the k - 1 hits between changes ty by at most half of
 * max_distance / (dx/dy z), which in this layer is half of max_distance times the ratio of both z. Focusing moves the
 * ratio towards 1. */
static SL_DEVICE float distance_max(const struct confirm_args *a, const struct layer *layers, uint32_t k) {
  float ratios = 0.0f;
  for (uint32_t i = 1; i < k; i++) ratios += sl_max_f32(1.0f, layers[k].z / layers[i].z);
  return 1.01f * a->max_distance * (1.0f + 0.5f * ratios) + 0.01f;
}

/* Marks the cells within `range` of a hit at x. */
static SL_DEVICE void mark_hit(uint32_t *marks, float x, float range) {
  const float cells = in_cells(x);
  const uint32_t first = cell_of(cells - range), last = cell_of(cells + range);
  const uint64_t bits = (uint64_t)((2u << (last - first)) - 1) << first % 32;
  atomicOr(&marks[first / 32], (uint32_t)bits);
  if (bits >> 32) atomicOr(&marks[first / 32 + 1], (uint32_t)(bits >> 32));
}

/* Fills the geometry of a layer. */
static SL_DEVICE void open_layer(const struct confirm_args *a, struct layer *layer, uint32_t number) {
  layer->d = a->seeding.d[number];
  layer->bend = a->seeding.bend[number];
  layer->z = layer->d + a->seeding.constants[SEED_Z_REFERENCE];
  layer->dxdy = number % 2 ? a->stereo_slope : -a->stereo_slope;
  layer->per_dxdy = 1.0f / layer->dxdy;
  layer->dxdy_cells = layer->dxdy * per_cell;
  layer->dxdy_z_cells = layer->dxdy_cells * layer->z;
}

/* Fills the geometry of all layers. All threads of the block must call it. */
static SL_DEVICE void open_layers(const struct confirm_args *a, struct workspace *w) {
  for (uint32_t k = threadIdx.x; k < SCIFI_STEREO_LAYERS; k += blockDim.x) {
    open_layer(a, &w->layers[k], layer_of(k));
    w->d[k] = w->layers[k].d;
  }
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < SCIFI_STEREO_LAYERS; k += blockDim.x)
    w->layers[k].range = distance_max(a, w->layers, k) * per_cell;
  __syncthreads();
}

/* Opens a half: copies the x of its hits to `copy` if they fit, and marks cells. All cells of a layer are marked if its
 * range is too large. Returns 1 if the hits are copied. All threads of the block must call it. */
static SL_DEVICE uint32_t open_half(const struct confirm_args *a, uint32_t event, uint32_t upper, struct workspace *w,
                                    float *copy) {
  const uint16_t *zone_first = a->hits.zone_first + (size_t)event * (SCIFI_ZONES + 1);
  const float *x = a->hits.x + a->hits.offsets[event];
  uint32_t begin[SCIFI_STEREO_LAYERS], hits[SCIFI_STEREO_LAYERS], sum = 0, index = 0, most = 0;
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
    const uint32_t zone = 2 * layer_of(k) + upper;
    begin[k] = zone_first[zone];
    hits[k] = zone_first[zone + 1] - begin[k];
    sum += hits[k];
    most = hits[k] > most ? hits[k] : most;
  }
  const uint32_t is_copied = sum <= COPIED_HITS ? 1u : 0u;
  __syncthreads(); /* the previous half is complete */
  for (uint32_t i = threadIdx.x; i < MARKED_LAYERS * LAYER_MARKS; i += blockDim.x)
    w->marks[i] = w->layers[1 + i / LAYER_MARKS].range <= RANGE_MAX ? 0 : UINT32_MAX;
  __syncthreads();
  SL_ROLLED
  for (uint32_t i = threadIdx.x; i < most; i += blockDim.x) {
    float of_layer[SCIFI_STEREO_LAYERS];
    SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) of_layer[k] = i < hits[k] ? x[begin[k] + i] : 0.0f;
    index = 0;
    SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
      if (i < hits[k]) {
        const float range = w->layers[k].range;
        if (is_copied) copy[index + i] = of_layer[k];
        if (k > 0 && range <= RANGE_MAX) mark_hit(&w->marks[LAYER_MARKS * (k - 1)], of_layer[k], range);
      }
      index += hits[k];
    }
  }
  if (threadIdx.x == 0) {
    w->first_step = 1;
    while (2 * w->first_step <= most) w->first_step *= 2;
    index = 0;
    SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
      struct layer *layer = &w->layers[k];
      layer->begin = is_copied ? index : begin[k];
      layer->end = layer->begin + hits[k];
      layer->skipped = begin[k] - layer->begin;
      index += hits[k];
    }
  }
  __syncthreads();
  return is_copied;
}

/* Position of a track in a layer, and the hits in its search window: both ends are bisected at once. */
static SL_DEVICE void open_window(const struct confirm_args *a, const float *hit_x, uint32_t item, uint32_t upper,
                                  const struct layer *l, uint32_t first_step, struct warp_workspace *w, uint32_t k,
                                  uint32_t track) {
  const float x = a->tracks.a[item] + a->tracks.b[item] * l->d + a->tracks.c[item] * l->bend;
  const float outwards = upper ? -l->dxdy : l->dxdy; /* dx per distance from the beam */
  const float near_x = x + outwards * a->min_y, far_x = x + outwards * a->max_y;
  const float low = sl_min_f32(near_x, far_x), high = sl_max_f32(near_x, far_x);
  uint32_t begin = l->begin, end = l->begin; /* the first hit with x >= low, and with x > high */
  for (uint32_t step = first_step; step > 0; step /= 2) {
    const uint32_t next_begin = begin + step, next_end = end + step;
    begin = next_begin <= l->end && hit_x[next_begin - 1] < low ? next_begin : begin;
    end = next_end <= l->end && hit_x[next_end - 1] <= high ? next_end : end;
  }
  w->x[k][track] = x;
  w->begin[k][track] = (uint16_t)begin;
  w->end[k][track] = (uint16_t)(end > begin ? end : begin);
}

/* The first index of [begin, end) with x >= limit, or end; fast for few hits. */
static SL_DEVICE uint32_t first_from(const float *x, uint32_t begin, uint32_t end, float limit) {
  uint32_t index = begin;
  while (index + STRIDE <= end && x[index + STRIDE - 1] < limit) index += STRIDE;
  SL_UNROLL for (uint32_t step = STRIDE / 2; step > 0; step /= 2) {
    const uint32_t next = index + step;
    index = next <= end && x[next - 1] < limit ? next : index;
  }
  return index;
}

/* Hit nearest to x (ties: the lower index), or NO_HIT if none is within max_distance. */
static SL_DEVICE uint32_t near_hit(const struct confirm_args *a, const float *hit_x, uint32_t begin, uint32_t end,
                                   float x) {
  const uint32_t after = first_from(hit_x, begin, end, x);
  const float none = 2.0f * a->max_distance + 1.0f;
  const float off_before = after > begin ? x - hit_x[after - 1] : none;
  const float off_after = after < end ? hit_x[after] - x : none;
  const uint32_t is_before = off_before <= off_after;
  return (is_before ? off_before : off_after) <= a->max_distance ? after - is_before : (uint32_t)NO_HIT;
}

/* a / b, correctly rounded; per_b is 1 / b, rounded. The quotient a * per_b is corrected with its exact remainder, from
 * fmaf (Markstein's division by a known number). Valid unless a number is near the ends of the range of floats, which
 * distances in mm are not. */
static SL_DEVICE float divide(float a, float b, float per_b) {
  const float quotient = a * per_b;
  return fmaf(fmaf(-b, quotient, a), per_b, quotient);
}

/* Follows the track from a start hit of layer `first`; returns 1 if it gets enough stereo hits. */
static SL_DEVICE uint32_t follow(const struct confirm_args *a, const float *hit_x, const struct workspace *w,
                                 uint32_t track, uint32_t first, uint32_t hit, struct line *line) {
  const struct warp_workspace *own = &w->warps[sl_warp_index()];
  const uint32_t needed = own->needed[track];
  const float focus = own->focus[track];
  float y[SCIFI_STEREO_LAYERS] = {0.0f}, ty = 0.0f;
  uint32_t is_hopeless = 0;
  line->count = 0;
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
    line->hits[k] = NO_HIT;
    is_hopeless |= line->count + (SCIFI_STEREO_LAYERS - k) < needed ? 1u : 0u;
    if (k < first || is_hopeless) continue;
    const struct layer *l = &w->layers[k];
    const float x = own->x[k][track], z = l->z + focus;
    const uint32_t found =
        k == first ? hit : near_hit(a, hit_x, own->begin[k][track], own->end[k][track], x - ty * (l->dxdy * z));
    if (found == NO_HIT) continue;
    y[k] = divide(x - hit_x[found], l->dxdy, l->per_dxdy);
    const float own_ty = y[k] * own->per_z[k][track];
    ty = k == first ? own_ty : 0.5f * (ty + own_ty);
    line->hits[k] = found;
    line->count++;
  }
  if (is_hopeless || line->count < needed) return 0;
  fit(line, w->d, y);
  return 1;
}

static SL_DEVICE void write_line(const struct confirm_args *a, const struct workspace *w, uint32_t item,
                                 const struct line *line) {
  uint16_t *hits = a->stereo.hits + SCIFI_STEREO_LAYERS * (size_t)item;
  uint32_t by_layer[SCIFI_LAYERS], count = 0, pairs[SCIFI_STEREO_LAYERS / 2] = {0, 0, 0};
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) by_layer[layer_of(k)] =
      line->hits[k] != NO_HIT ? line->hits[k] + w->layers[k].skipped : (uint32_t)NO_HIT;
  SL_UNROLL for (uint32_t i = SCIFI_STEREO_LAYERS; i-- > 0;) { /* each hit goes in front of the hits of later layers */
    const uint32_t hit = by_layer[SCIFI_STATION_LAYERS * (i / 2) + 1 + i % 2];
    if (hit == NO_HIT) continue;
    SL_UNROLL for (uint32_t j = SCIFI_STEREO_LAYERS / 2 - 1; j > 0; j--) pairs[j] = pairs[j] << 16 | pairs[j - 1] >> 16;
    pairs[0] = pairs[0] << 16 | hit;
    count++;
  }
  SL_UNROLL for (uint32_t i = 0; i < SCIFI_STEREO_LAYERS; i++) hits[i] = (uint16_t)(pairs[i / 2] >> 16 * (i % 2));
  a->stereo.hit_count[item] = (uint8_t)count;
  a->stereo.y[item] = line->y;
  a->stereo.ty[item] = line->ty;
  a->stereo.chi2[item] = line->chi2;
}

/* Lists `count` tracks from `first` on: those in the lower half from the front of the list, those in the upper half
 * from its end, backwards. Returns the number in the lower half. All threads of the block must call it. */
static SL_DEVICE uint32_t list_tracks(const struct confirm_args *a, uint32_t first, uint32_t count,
                                      struct workspace *w) {
  uint32_t length = 0;
  __syncthreads(); /* the previous list is no longer needed */
  SL_FOR_BLOCK (i, count) {
    const uint32_t is_lower = i < count && (a->tracks.kind[first + i] & 1u) == 0 ? 1u : 0u;
    const uint32_t index = sl_block_append(is_lower, &length); /* number of earlier tracks in the lower half */
    if (i < count) w->listed[is_lower ? index : LISTED - 1 - (i - index)] = (uint16_t)i;
  }
  __syncthreads();
  return length;
}

/* Least number of stereo hits of a line that can be the track's best. */
static SL_DEVICE uint32_t least_hits(const struct warp_workspace *own, uint32_t track) {
  const uint64_t best = own->best[track];
  const uint32_t needed = own->needed[track], found = SCIFI_STEREO_LAYERS - (uint32_t)(best >> COUNT_BIT);
  return best != no_start && found > needed ? found : needed;
}

/* Numbers the start hits of a warp's tracks, or only of those without a line of many hits; returns their number. */
static SL_DEVICE uint32_t number_start_hits(struct warp_workspace *own, uint32_t tracks, uint32_t are_all) {
  uint32_t sum = 0, entries = 0;
  SL_FOR_WARP (i, START_LAYERS * tracks) {
    const uint32_t k = i % START_LAYERS, track = i / START_LAYERS;
    const uint32_t is_used = i < START_LAYERS * tracks && (are_all || least_hits(own, track) < MANY_HITS);
    const uint32_t count = is_used ? (uint32_t)own->end[k][track] - own->begin[k][track] : 0;
    const uint32_t before = sum + sl_warp_exclusive_scan(count), index = sl_warp_append(count > 0, &entries);
    if (count > 0) {
      own->before[index] = before;
      own->entries[index] = (uint8_t)i;
    }
    if (sl_warp_lane() + 1 == sl_warp_lanes()) own->before[entries] = before + count;
    sl_warp_sync();
    sum = own->before[entries];
    sl_warp_sync(); /* before the next entry is written there */
  }
  if (sl_warp_lane() == 0) own->entry_count = entries;
  return sum;
}

/* Notes the entries of a round of start hits that begins at number `begin`. */
static SL_DEVICE void open_round(struct warp_workspace *own, uint32_t begin) {
  for (uint32_t i = sl_warp_lane(); i < ROUND_WORDS; i += sl_warp_lanes()) own->entry_starts[i] = 0;
  if (sl_warp_lane() == 0) own->listed_count = 0;
  sl_warp_sync();
  for (uint32_t entry = sl_warp_lane(); entry < own->entry_count; entry += sl_warp_lanes()) {
    const uint32_t from = own->before[entry], to = own->before[entry + 1];
    if (to <= begin || from >= begin + ROUND) continue;
    const uint32_t first = from < begin ? 0 : from - begin, end = to < begin + ROUND ? to - begin : (uint32_t)ROUND;
    atomicOr(&own->entry_starts[first / 32], 1u << first % 32);
    for (uint32_t word = (first + 31) / 32; word * 32 < end; word++) own->entry_at[word] = (uint8_t)entry;
  }
  sl_warp_sync();
}

/* Entry of the `i`-th start hit of the round. */
static SL_DEVICE uint32_t entry_of(const struct warp_workspace *own, uint32_t i) {
  return own->entry_at[i / 32] + sl_count_bits(own->entry_starts[i / 32] & ((2u << i % 32) - 2));
}

/* The `i`-th start hit of the round that begins at number `begin`. */
struct start_hit {
  uint32_t track, first, hit;
};
static SL_DEVICE struct start_hit start_hit_of(const struct warp_workspace *own, uint32_t begin, uint32_t i) {
  const uint32_t entry = entry_of(own, i), first = own->entries[entry] % START_LAYERS;
  const uint32_t track = own->entries[entry] / START_LAYERS;
  const struct start_hit b = {track, first, own->begin[first][track] + (begin + i - own->before[entry])};
  return b;
}

/* Upper limit of the number of stereo hits with this start hit: the later layers that have a mark. */
static SL_DEVICE uint32_t hits_at_most(const struct workspace *w, const float *hit_x, struct start_hit b) {
  const struct warp_workspace *own = &w->warps[sl_warp_index()];
  const float focus = own->focus[b.track], y = (own->x[b.first][b.track] - hit_x[b.hit]) * w->layers[b.first].per_dxdy;
  const float ty = y * own->per_z[b.first][b.track];
  uint32_t count = 1;
  SL_UNROLL for (uint32_t k = 1; k < SCIFI_STEREO_LAYERS; k++) {
    const struct layer *l = &w->layers[k];
    const float x_cells = fmaf(own->x[k][b.track], per_cell, -cells_begin * per_cell);
    const uint32_t cell = cell_of(fmaf(-ty, fmaf(focus, l->dxdy_cells, l->dxdy_z_cells), x_cells));
    count += k > b.first ? w->marks[LAYER_MARKS * (k - 1) + cell / 32] >> cell % 32 & 1u : 0u;
  }
  return count;
}

/* Lists start hits of the round, in any order: start hits that can get many hits, or the others. */
static SL_DEVICE void list_start_hits(const struct workspace *w, struct warp_workspace *own, const float *hit_x,
                                      uint32_t begin, uint32_t count, uint32_t are_many) {
  for (uint32_t i = sl_warp_lane(); i < count; i += sl_warp_lanes()) {
    const struct start_hit b = start_hit_of(own, begin, i);
    const uint32_t most = hits_at_most(w, hit_x, b);
    if ((most >= MANY_HITS) == are_many && most >= least_hits(own, b.track))
      own->listed[atomicAdd(&own->listed_count, 1u)] = (uint16_t)i;
  }
  sl_warp_sync();
}

/* Follows the listed start hits, and writes each track's best line so far. All threads of the warp must call it. */
static SL_DEVICE void follow_listed(const struct confirm_args *a, const float *hit_x, struct workspace *w,
                                    uint32_t begin, uint32_t first, const uint16_t *listed) {
  struct warp_workspace *own = &w->warps[sl_warp_index()];
  const uint32_t count = own->listed_count;
  SL_FOR_WARP (j, count) {
    struct start_hit b = {0, 0, 0};
    struct line line;
    uint64_t key = no_start;
    if (j < count) {
      b = start_hit_of(own, begin, own->listed[j]);
      if (follow(a, hit_x, w, b.track, b.first, b.hit, &line) &&
          is_accepted(a, a->tracks.hit_count[first + listed[b.track]], &line))
        key = key_of(&line, b.first, b.hit);
      if (key != no_start) atomicMin((sl_atomic_u64 *)&own->best[b.track], (sl_atomic_u64)key);
    }
    sl_warp_sync();
    if (key != no_start && own->best[b.track] == key) write_line(a, w, first + listed[b.track], &line);
    sl_warp_sync(); /* before a better line is written */
  }
}

/* Finds the hits of up to TRACKS tracks. All threads of the warp must call it. */
static SL_DEVICE void find(const struct confirm_args *a, const float *hit_x, struct workspace *w, uint32_t upper,
                           uint32_t first, const uint16_t *listed, uint32_t tracks) {
  const struct line none = {{NO_HIT, NO_HIT, NO_HIT, NO_HIT, NO_HIT, NO_HIT}, 0, 0.0f, 0.0f, 0.0f};
  struct warp_workspace *own = &w->warps[sl_warp_index()];
  sl_warp_sync(); /* the previous tracks are complete */
  for (uint32_t i = sl_warp_lane(); i < SCIFI_STEREO_LAYERS * tracks; i += sl_warp_lanes()) {
    const uint32_t k = i / tracks, track = i - k * tracks;
    open_window(a, hit_x, first + listed[track], upper, &w->layers[k], w->first_step, own, k, track);
  }
  for (uint32_t track = sl_warp_lane(); track < tracks; track += sl_warp_lanes()) {
    own->best[track] = no_start;
    own->needed[track] = (uint8_t)hits_needed(a, first + listed[track]);
    own->focus[track] = focus_of(a, first + listed[track]);
    SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) own->per_z[k][track] =
        1.0f / (w->layers[k].z + own->focus[track]);
  }
  sl_warp_sync();
  SL_ROLLED for (uint32_t are_many = 2; are_many-- > 0;) {
    const uint32_t start_hits = number_start_hits(own, tracks, are_many);
    for (uint32_t begin = 0; begin < start_hits; begin += ROUND) { /* usually one round */
      open_round(own, begin);
      list_start_hits(w, own, hit_x, begin, start_hits - begin < ROUND ? start_hits - begin : (uint32_t)ROUND,
                      are_many);
      follow_listed(a, hit_x, w, begin, first, listed);
      sl_warp_sync(); /* the list is free */
    }
  }
  for (uint32_t track = sl_warp_lane(); track < tracks; track += sl_warp_lanes())
    if (own->best[track] == no_start) write_line(a, w, first + listed[track], &none);
}

/* Distributes the listed tracks to the warps. */
static SL_DEVICE void find_listed(const struct confirm_args *a, const float *hit_x, struct workspace *w, uint32_t upper,
                                  uint32_t first, const uint16_t *listed, uint32_t length) {
  const uint32_t warp = sl_warp_index(), warps = sl_block_warps() < WARPS ? sl_block_warps() : (uint32_t)WARPS;
  const uint32_t share = (length + warps - 1) / warps, from = warp < warps ? warp * share : length;
  const uint32_t end = from + share < length ? from + share : length;
  for (uint32_t i = from; i < end; i += TRACKS)
    find(a, hit_x, w, upper, first, listed + i, end - i < TRACKS ? end - i : (uint32_t)TRACKS);
}

/* Tracks per chunk of an event. The work is proportional to tracks times hits near each. */
static SL_DEVICE uint32_t chunk_tracks_of(const struct confirm_args *a, uint32_t event, uint32_t tracks) {
  const uint64_t hits = a->hits.offsets[event + 1] - a->hits.offsets[event];
  const uint64_t needed = 1 + tracks * hits / CHUNK_WORK, chunks = needed < CHUNKS_MAX ? needed : (uint64_t)CHUNKS_MAX;
  return (tracks + (uint32_t)chunks - 1) / (uint32_t)chunks;
}

SL_KERNEL(confirm_begin, struct confirm_args) {
  if (sl_grid_thread() == 0) *a.chunk_count = 0;
}

SL_KERNEL(confirm_plan, struct confirm_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    const uint32_t tracks = a.tracks.offsets[event + 1] - a.tracks.offsets[event];
    const uint32_t each = chunk_tracks_of(&a, event, tracks), count = tracks > 0 ? (tracks + each - 1) / each : 0;
    const uint32_t first = atomicAdd(a.chunk_count, count);
    a.chunk_tracks[event] = each;
    for (uint32_t i = 0; i < count; i++) a.chunks[first + i] = CHUNKS_MAX * event + i;
  }
}

/* 64 registers per thread allow eight blocks of 128 threads. */
SL_KERNEL_REGISTERS(confirm_find, struct confirm_args, 64) {
  __shared__ struct workspace w;
  __shared__ float copy[COPIED_HITS];
  if (blockIdx.x < *a.chunk_count) open_layers(&a, &w);
  for (uint32_t i = blockIdx.x; i < *a.chunk_count; i += gridDim.x) {
    const uint32_t event = a.chunks[i] / CHUNKS_MAX, chunk = a.chunks[i] % CHUNKS_MAX, each = a.chunk_tracks[event];
    const uint32_t begin = a.tracks.offsets[event] + chunk * each, event_end = a.tracks.offsets[event + 1];
    const uint32_t end = event_end - begin < each ? event_end : begin + each;
    for (uint32_t first = begin; first < end; first += LISTED) {
      const uint32_t count = end - first < LISTED ? end - first : (uint32_t)LISTED;
      const uint32_t lower = list_tracks(&a, first, count, &w);
      for (uint32_t upper = 0; upper < HALVES; upper++) {
        const uint32_t length = upper ? count - lower : lower;
        const uint16_t *listed = w.listed + (upper ? LISTED - length : 0);
        if (length == 0) continue;
        if (open_half(&a, event, upper, &w, copy))
          find_listed(&a, copy, &w, upper, first, listed, length);
        else
          find_listed(&a, a.hits.x + a.hits.offsets[event], &w, upper, first, listed, length);
      }
    }
  }
}

static int run(const struct sl_launch *l, const struct confirm_args *a) {
  int error = SL_LAUNCH(l, confirm_begin, SL_PER_NODE(1), *a);
  if (!error) error = SL_LAUNCH(l, confirm_plan, SL_THREAD_PER_EVENT, *a);
  if (!error) error = SL_LAUNCH(l, confirm_find, SL_PER_CHUNK((uint64_t)BLOCKS * l->grid_blocks), *a);
  return error;
}

SL_ALGORITHM(confirm, "finds the stereo hits of tracks in x layers", 128, run, SL_CPU_TUNED(confirm_tuned));
