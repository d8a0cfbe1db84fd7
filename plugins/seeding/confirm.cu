/* seeding.confirm: for each track in x layers its hits in stereo layers (README.md, "Stereo hits").
 *   1. Mark in cells of x, for each layer, where a hit is near enough for a track to take it.
 *   2. A hit of the first or second searched layer is a beginning: it fixes y and so the place in the other layers.
 *   3. Drop beginnings for which too few layers have a mark; follow the others from layer to layer.
 *   4. Keep the candidate with the most hits; ties: smaller chi2 of a line in y, then the later beginning.
 * Parallelism: a block takes a chunk of tracks, chunks being of about equal work, and copies the x of hits to shared
 * memory; a warp takes up to 16 tracks, a thread one beginning.
 * Determinism: the best candidate has the minimum of keys that are all different.
 * Cost per event (90 tracks, 2,300 beginnings, 200 followed): reads x of 1,600 hits a chunk, writes 25 bytes a track.
 * Plain version: tests/seeding/confirm_reference.h. CPU version: confirm.cpu.c.
 */
#include "confirm.h"

enum {
  HALVES = 2,
  BLOCKS = 3,                    /* for each event */
  CHUNK_WORK = 200000,           /* tracks times hits of the event */
  WARPS = 4,                     /* that search; those of a larger block help to copy */
  TRACKS = 16,                   /* whose beginnings are numbered at a time */
  ENTRIES = BEGINNINGS * TRACKS, /* a track and a layer */
  LISTED = 128,                  /* tracks of an event that are looked at at a time */
  PLACES = 3000,                 /* for hits in shared memory */
  STRIDE = 32,                   /* a power of two */
  ROUND = 512,                   /* beginnings that are looked at before those listed are followed */
  ROUND_WORDS = ROUND / 32,
  CELLS = 8192,   /* of x, in which hits are marked, a bit each */
  REACH_MAX = 15, /* cells on each side of a hit that are marked at most */
  LAYER_MARKS = CELLS / 32,
  MARKED_LAYERS = SCIFI_STEREO_LAYERS - 1 /* all but the first, in which no hit is looked for */
};
static const float cells_begin = -3200.0f, per_cell = 1.28f; /* mm, 1/mm: what is further out is in the last ones */

/* A layer's hits, by their places: those of the event, or in shared memory. A hit's number in the event is `skipped`
 * more. And how x goes with y. */
struct layer {
  uint32_t begin, end, skipped;
  float d, bend, z, dxdy;
  float per_dxdy, per_z;    /* 1 over these */
  float dxdy_z, per_dxdy_z; /* dxdy z, and 1 over it */
  float dxdy_z_cells;       /* dxdy z, in cells */
  float reach;              /* reach_of(), in cells */
};

/* Tracks of a warp: where each is in each layer, and which hits may be its own; the smallest keys. */
struct warp_workspace {
  uint64_t best[TRACKS];
  float x[SCIFI_STEREO_LAYERS][TRACKS], cells[SCIFI_STEREO_LAYERS][TRACKS]; /* and in_cells() of it */
  uint16_t begin[SCIFI_STEREO_LAYERS][TRACKS], end[SCIFI_STEREO_LAYERS][TRACKS];
  uint32_t before[ENTRIES + 1]; /* beginnings before those of each entry that has some; then the sum */
  uint32_t entry_count, listed_count;
  uint32_t begins[ROUND_WORDS];  /* a bit for each beginning of the round that is its entry's first */
  uint8_t entries[ENTRIES];      /* BEGINNINGS times the track, and the layer */
  uint8_t entry_at[ROUND_WORDS]; /* of every 32nd beginning of the round */
  uint16_t listed[ROUND];        /* beginnings that are to be followed, by their numbers in the round */
  uint8_t needed[TRACKS];        /* stereo hits */
};

struct workspace {
  struct layer layers[SCIFI_STEREO_LAYERS]; /* as they are searched */
  struct warp_workspace warps[WARPS];
  uint16_t listed[LISTED]; /* tracks of both halves, from the first that are looked at */
  uint32_t first_step;     /* of a search: a power of two, above half of the most hits of a layer */
  uint32_t marks[MARKED_LAYERS * LAYER_MARKS];
};

/* Where x is, in cells; and in which one that is. */
static SL_DEVICE float in_cells(float x) { return (x - cells_begin) * per_cell; }
static SL_DEVICE uint32_t cell_of(float cells) {
  const uint32_t cell = sl_to_u32(cells);
  return cell < CELLS ? cell : (uint32_t)(CELLS - 1);
}

/* How far from where its first hit says a track may be when it takes a hit of layer k, and a little more. A hit is no
 * further than max_distance from where those before it say; so the k - 1 that may be between have turned ty by no more
 * than half of max_distance / (dx/dy z) each, which in this layer is half of max_distance times the ratio of both z. */
static SL_DEVICE float reach_of(const struct confirm_args *a, const struct layer *layers, uint32_t k) {
  float ratios = 0.0f;
  for (uint32_t i = 1; i < k; i++) ratios += sl_abs_f32(layers[k].z / layers[i].z);
  return 1.01f * a->max_distance * (1.0f + 0.5f * ratios) + 0.01f;
}

/* Marks the cells that are within `reach` of a hit at x. */
static SL_DEVICE void mark_hit(uint32_t *marks, float x, float reach) {
  const float cells = in_cells(x);
  const uint32_t first = cell_of(cells - reach), last = cell_of(cells + reach);
  const uint64_t bits = (uint64_t)((2u << (last - first)) - 1) << first % 32;
  atomicOr(&marks[first / 32], (uint32_t)bits);
  if (bits >> 32) atomicOr(&marks[first / 32 + 1], (uint32_t)(bits >> 32));
}

/* What is known of a layer before its hits are. */
static SL_DEVICE void open_layer(const struct confirm_args *a, struct layer *layer, uint32_t number) {
  layer->d = a->seeding.d[number];
  layer->bend = a->seeding.bend[number];
  layer->z = layer->d + a->seeding.constants[SEED_Z_REFERENCE];
  layer->dxdy = number % 2 ? a->stereo_slope : -a->stereo_slope;
  layer->dxdy_z = layer->dxdy * layer->z;
  layer->per_dxdy = 1.0f / layer->dxdy;
  layer->per_z = 1.0f / layer->z;
  layer->per_dxdy_z = 1.0f / layer->dxdy_z;
  layer->dxdy_z_cells = layer->dxdy_z * per_cell;
}

/* Opens all layers. Every thread of the block comes here. */
static SL_DEVICE void open_layers(const struct confirm_args *a, struct workspace *w) {
  for (uint32_t k = threadIdx.x; k < SCIFI_STEREO_LAYERS; k += blockDim.x) open_layer(a, &w->layers[k], layer_of(k));
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < SCIFI_STEREO_LAYERS; k += blockDim.x)
    w->layers[k].reach = reach_of(a, w->layers, k) * per_cell;
  __syncthreads();
}

/* Opens a half: copies its hits' x to `copy`, if they fit in, and marks the cells around them. Where a layer's hits
 * reach too far, all are marked. Returns whether they are copied. Every thread of the block comes here. */
static SL_DEVICE uint32_t open_half(const struct confirm_args *a, uint32_t event, uint32_t upper, struct workspace *w,
                                    float *copy) {
  const uint16_t *zone_first = a->hits.zone_first + (size_t)event * (SCIFI_ZONES + 1);
  const float *x = a->hits.x + a->hits.offsets[event];
  uint32_t begin[SCIFI_STEREO_LAYERS], hits[SCIFI_STEREO_LAYERS], sum = 0, place = 0, most = 0;
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
    const uint32_t zone = 2 * layer_of(k) + upper;
    begin[k] = zone_first[zone];
    hits[k] = zone_first[zone + 1] - begin[k];
    sum += hits[k];
    most = hits[k] > most ? hits[k] : most;
  }
  const uint32_t is_copied = sum <= PLACES ? 1u : 0u;
  __syncthreads(); /* what was open before is done with */
  for (uint32_t i = threadIdx.x; i < MARKED_LAYERS * LAYER_MARKS; i += blockDim.x)
    w->marks[i] = w->layers[1 + i / LAYER_MARKS].reach <= REACH_MAX ? 0 : UINT32_MAX;
  __syncthreads();
  SL_ROLLED
  for (uint32_t i = threadIdx.x; i < most; i += blockDim.x) {
    float of_layer[SCIFI_STEREO_LAYERS];
    SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) of_layer[k] = i < hits[k] ? x[begin[k] + i] : 0.0f;
    place = 0;
    SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
      if (i < hits[k]) {
        const float reach = w->layers[k].reach;
        if (is_copied) copy[place + i] = of_layer[k];
        if (k > 0 && reach <= REACH_MAX) mark_hit(&w->marks[LAYER_MARKS * (k - 1)], of_layer[k], reach);
      }
      place += hits[k];
    }
  }
  if (threadIdx.x == 0) {
    w->first_step = 1;
    while (2 * w->first_step <= most) w->first_step *= 2;
    place = 0;
    SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
      struct layer *layer = &w->layers[k];
      layer->begin = is_copied ? place : begin[k];
      layer->end = layer->begin + hits[k];
      layer->skipped = begin[k] - layer->begin;
      place += hits[k];
    }
  }
  __syncthreads();
  return is_copied;
}

/* Where a track is in a layer, and the hits that may be its own: both ends of these are looked for at once. */
static SL_DEVICE void open_window(const struct confirm_args *a, const float *hit_x, uint32_t item, uint32_t upper,
                                  const struct layer *l, uint32_t first_step, struct warp_workspace *w, uint32_t k,
                                  uint32_t track) {
  const float x = a->tracks.a[item] + a->tracks.b[item] * l->d + a->tracks.c[item] * l->bend;
  const float outwards = upper ? -l->dxdy : l->dxdy; /* how x goes with the distance from the beam */
  const float near_x = x + outwards * a->min_y, far_x = x + outwards * a->max_y;
  const float low = sl_min_f32(near_x, far_x), high = sl_max_f32(near_x, far_x);
  uint32_t begin = l->begin, end = l->begin; /* the first hit not below `low`, and the first above `high` */
  for (uint32_t step = first_step; step > 0; step /= 2) {
    const uint32_t next_begin = begin + step, next_end = end + step;
    begin = next_begin <= l->end && hit_x[next_begin - 1] < low ? next_begin : begin;
    end = next_end <= l->end && hit_x[next_end - 1] <= high ? next_end : end;
  }
  w->x[k][track] = x;
  w->cells[k][track] = in_cells(x);
  w->begin[k][track] = (uint16_t)begin;
  w->end[k][track] = (uint16_t)(end > begin ? end : begin);
}

/* The first place of [begin, end) whose x is not below the limit, or end; for few hits. */
static SL_DEVICE uint32_t first_from(const float *x, uint32_t begin, uint32_t end, float limit) {
  uint32_t place = begin;
  while (place + STRIDE <= end && x[place + STRIDE - 1] < limit) place += STRIDE;
  SL_UNROLL for (uint32_t step = STRIDE / 2; step > 0; step /= 2) {
    const uint32_t next = place + step;
    place = next <= end && x[next - 1] < limit ? next : place;
  }
  return place;
}

/* The hit nearest to x, of two as near the one before, if it is near enough. */
static SL_DEVICE uint32_t near_hit(const struct confirm_args *a, const float *hit_x, uint32_t begin, uint32_t end,
                                   float x) {
  const uint32_t behind = first_from(hit_x, begin, end, x);
  const float none = 2.0f * a->max_distance + 1.0f;
  const float off_before = behind > begin ? x - hit_x[behind - 1] : none;
  const float off_behind = behind < end ? hit_x[behind] - x : none;
  const uint32_t is_before = off_before <= off_behind;
  return (is_before ? off_before : off_behind) <= a->max_distance ? behind - is_before : (uint32_t)NO_HIT;
}

/* a / b to the last bit, of which `per_b` is 1 / b rounded: the quotient by it is put right by what it leaves of a,
 * which fmaf has exactly (Markstein's division by a number that is known before). That holds unless something comes
 * near the ends of the range of floats, which distances in mm do not. */
static SL_DEVICE float divide(float a, float b, float per_b) {
  const float quotient = a * per_b;
  return fmaf(fmaf(-b, quotient, a), per_b, quotient);
}

/* Follows the track from a hit of layer `first`; whether it gets the stereo hits that are needed. */
static SL_DEVICE uint32_t follow(const struct confirm_args *a, const float *hit_x, const struct workspace *w,
                                 uint32_t track, uint32_t first, uint32_t hit, struct line *line) {
  const struct warp_workspace *own = &w->warps[sl_warp_index()];
  const uint32_t needed = own->needed[track];
  float d[SCIFI_STEREO_LAYERS] = {0.0f}, y[SCIFI_STEREO_LAYERS] = {0.0f}, ty = 0.0f;
  uint32_t is_hopeless = 0;
  line->count = 0;
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
    line->hits[k] = NO_HIT;
    is_hopeless |= line->count + (SCIFI_STEREO_LAYERS - k) < needed ? 1u : 0u;
    if (k < first || is_hopeless) continue;
    const struct layer *l = &w->layers[k];
    const float x = own->x[k][track];
    const uint32_t found =
        k == first ? hit : near_hit(a, hit_x, own->begin[k][track], own->end[k][track], x - ty * l->dxdy_z);
    if (found == NO_HIT) continue;
    d[k] = l->d;
    y[k] = divide(x - hit_x[found], l->dxdy, l->per_dxdy);
    const float own_ty = divide(y[k], l->z, l->per_z);
    ty = k == first ? own_ty : 0.5f * (ty + own_ty);
    line->hits[k] = found;
    line->count++;
  }
  if (is_hopeless || line->count < needed) return 0;
  fit(line, d, y);
  return 1;
}

static SL_DEVICE void write_line(const struct confirm_args *a, const struct workspace *w, uint32_t item,
                                 const struct line *line) {
  uint16_t *hits = a->stereo.hits + SCIFI_STEREO_LAYERS * (size_t)item;
  uint32_t by_layer[SCIFI_LAYERS], count = 0, pairs[SCIFI_STEREO_LAYERS / 2] = {0, 0, 0};
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) by_layer[layer_of(k)] =
      line->hits[k] != NO_HIT ? line->hits[k] + w->layers[k].skipped : (uint32_t)NO_HIT;
  SL_UNROLL for (uint32_t i = SCIFI_STEREO_LAYERS; i-- > 0;) { /* each goes before those of layers behind it */
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

/* Lists `count` tracks from `first` on: those of the lower half from the begin of the list, those of the upper one from
 * its end, backwards. Returns how many are of the lower half. Every thread of the block comes here. */
static SL_DEVICE uint32_t list_tracks(const struct confirm_args *a, uint32_t first, uint32_t count,
                                      struct workspace *w) {
  uint32_t length = 0;
  __syncthreads(); /* the list before is done with */
  SL_FOR_BLOCK (i, count) {
    const uint32_t is_lower = i < count && (a->tracks.kind[first + i] & 1u) == 0 ? 1u : 0u;
    const uint32_t place = sl_block_append(is_lower, &length); /* as many of the lower half are before it */
    if (i < count) w->listed[is_lower ? place : LISTED - 1 - (i - place)] = (uint16_t)i;
  }
  __syncthreads();
  return length;
}

/* Numbers the beginnings of a warp's tracks; returns how many there are. */
static SL_DEVICE uint32_t number_beginnings(struct warp_workspace *own, uint32_t tracks) {
  uint32_t sum = 0, entries = 0;
  SL_FOR_WARP (i, BEGINNINGS * tracks) {
    const uint32_t k = i % BEGINNINGS, track = i / BEGINNINGS;
    const uint32_t count = i < BEGINNINGS * tracks ? (uint32_t)own->end[k][track] - own->begin[k][track] : 0;
    const uint32_t before = sum + sl_warp_exclusive_scan(count), place = sl_warp_append(count > 0, &entries);
    if (count > 0) {
      own->before[place] = before;
      own->entries[place] = (uint8_t)i;
    }
    if (sl_warp_lane() + 1 == sl_warp_lanes()) own->before[entries] = before + count;
    sl_warp_sync();
    sum = own->before[entries];
    sl_warp_sync(); /* before the next entry is written there */
  }
  if (sl_warp_lane() == 0) own->entry_count = entries;
  return sum;
}

/* Notes which entries the beginnings from `begin` on are of, a round of them. */
static SL_DEVICE void open_round(struct warp_workspace *own, uint32_t begin) {
  for (uint32_t i = sl_warp_lane(); i < ROUND_WORDS; i += sl_warp_lanes()) own->begins[i] = 0;
  if (sl_warp_lane() == 0) own->listed_count = 0;
  sl_warp_sync();
  for (uint32_t entry = sl_warp_lane(); entry < own->entry_count; entry += sl_warp_lanes()) {
    const uint32_t from = own->before[entry], to = own->before[entry + 1];
    if (to <= begin || from >= begin + ROUND) continue;
    const uint32_t first = from < begin ? 0 : from - begin, end = to < begin + ROUND ? to - begin : (uint32_t)ROUND;
    atomicOr(&own->begins[first / 32], 1u << first % 32);
    for (uint32_t word = (first + 31) / 32; word * 32 < end; word++) own->entry_at[word] = (uint8_t)entry;
  }
  sl_warp_sync();
}

/* The entry of the `i`-th beginning of the round. */
static SL_DEVICE uint32_t entry_of(const struct warp_workspace *own, uint32_t i) {
  return own->entry_at[i / 32] + sl_count_bits(own->begins[i / 32] & ((2u << i % 32) - 2));
}

/* The `i`-th beginning of the round that begins with beginning `begin` of a warp's tracks. */
struct beginning {
  uint32_t track, first, hit;
};
static SL_DEVICE struct beginning beginning_of(const struct warp_workspace *own, uint32_t begin, uint32_t i) {
  const uint32_t entry = entry_of(own, i), first = own->entries[entry] % BEGINNINGS;
  const uint32_t track = own->entries[entry] / BEGINNINGS;
  const struct beginning b = {track, first, own->begin[first][track] + (begin + i - own->before[entry])};
  return b;
}

/* How many hits the track has at most, with that one: where the layers after it have a mark. */
static SL_DEVICE uint32_t hits_at_most(const struct workspace *w, const float *hit_x, struct beginning b) {
  const struct warp_workspace *own = &w->warps[sl_warp_index()];
  const float ty = (own->x[b.first][b.track] - hit_x[b.hit]) * w->layers[b.first].per_dxdy_z;
  uint32_t count = 1;
  SL_UNROLL for (uint32_t k = 1; k < SCIFI_STEREO_LAYERS; k++) {
    const uint32_t cell = cell_of(own->cells[k][b.track] - ty * w->layers[k].dxdy_z_cells);
    count += k > b.first ? w->marks[LAYER_MARKS * (k - 1) + cell / 32] >> cell % 32 & 1u : 0u;
  }
  return count;
}

/* Lists those of the round's beginnings, of which there are so many, that may get enough hits, in any order. */
static SL_DEVICE void list_beginnings(const struct workspace *w, struct warp_workspace *own, const float *hit_x,
                                      uint32_t begin, uint32_t count) {
  for (uint32_t i = sl_warp_lane(); i < count; i += sl_warp_lanes()) {
    const struct beginning b = beginning_of(own, begin, i);
    if (hits_at_most(w, hit_x, b) >= own->needed[b.track]) own->listed[atomicAdd(&own->listed_count, 1u)] = (uint16_t)i;
  }
}

/* Follows the listed ones, and writes each track's best line so far. Every thread of the warp comes here. */
static SL_DEVICE void follow_listed(const struct confirm_args *a, const float *hit_x, struct workspace *w,
                                    uint32_t begin, uint32_t first, const uint16_t *listed) {
  struct warp_workspace *own = &w->warps[sl_warp_index()];
  const uint32_t count = own->listed_count;
  SL_FOR_WARP (j, count) {
    struct beginning b = {0, 0, 0};
    struct line line;
    uint64_t key = no_beginning;
    if (j < count) {
      b = beginning_of(own, begin, own->listed[j]);
      if (follow(a, hit_x, w, b.track, b.first, b.hit, &line)) key = key_of(&line, b.first, b.hit);
      if (key != no_beginning) atomicMin((sl_atomic_u64 *)&own->best[b.track], (sl_atomic_u64)key);
    }
    sl_warp_sync();
    if (key != no_beginning && own->best[b.track] == key) write_line(a, w, first + listed[b.track], &line);
    sl_warp_sync(); /* before a better one is written */
  }
}

/* Finds the hits of up to TRACKS tracks. Every thread of the warp comes here. */
static SL_DEVICE void find(const struct confirm_args *a, const float *hit_x, struct workspace *w, uint32_t upper,
                           uint32_t first, const uint16_t *listed, uint32_t tracks) {
  const struct line none = {{NO_HIT, NO_HIT, NO_HIT, NO_HIT, NO_HIT, NO_HIT}, 0, 0.0f, 0.0f, 0.0f};
  struct warp_workspace *own = &w->warps[sl_warp_index()];
  sl_warp_sync(); /* the tracks before are done with */
  for (uint32_t i = sl_warp_lane(); i < SCIFI_STEREO_LAYERS * tracks; i += sl_warp_lanes()) {
    const uint32_t k = i / tracks, track = i - k * tracks;
    open_window(a, hit_x, first + listed[track], upper, &w->layers[k], w->first_step, own, k, track);
  }
  for (uint32_t track = sl_warp_lane(); track < tracks; track += sl_warp_lanes()) {
    own->best[track] = no_beginning;
    own->needed[track] = (uint8_t)hits_needed(a, first + listed[track]);
  }
  sl_warp_sync();
  const uint32_t beginnings = number_beginnings(own, tracks);
  for (uint32_t begin = 0; begin < beginnings; begin += ROUND) { /* mostly one */
    open_round(own, begin);
    list_beginnings(w, own, hit_x, begin, beginnings - begin < ROUND ? beginnings - begin : (uint32_t)ROUND);
    sl_warp_sync();
    follow_listed(a, hit_x, w, begin, first, listed);
    sl_warp_sync(); /* the list is free */
  }
  for (uint32_t track = sl_warp_lane(); track < tracks; track += sl_warp_lanes())
    if (own->best[track] == no_beginning) write_line(a, w, first + listed[track], &none);
}

/* Deals out the tracks that are listed to the warps. */
static SL_DEVICE void find_listed(const struct confirm_args *a, const float *hit_x, struct workspace *w, uint32_t upper,
                                  uint32_t first, const uint16_t *listed, uint32_t length) {
  const uint32_t warp = sl_warp_index(), warps = sl_block_warps() < WARPS ? sl_block_warps() : (uint32_t)WARPS;
  const uint32_t share = (length + warps - 1) / warps, from = warp < warps ? warp * share : length;
  const uint32_t end = from + share < length ? from + share : length;
  for (uint32_t i = from; i < end; i += TRACKS)
    find(a, hit_x, w, upper, first, listed + i, end - i < TRACKS ? end - i : (uint32_t)TRACKS);
}

/* How many tracks of an event are a chunk: work goes with tracks and with hits near each. */
static SL_DEVICE uint32_t chunk_tracks_of(const struct confirm_args *a, uint32_t event, uint32_t tracks) {
  const uint64_t hits = a->hits.offsets[event + 1] - a->hits.offsets[event];
  const uint64_t wanted = 1 + tracks * hits / CHUNK_WORK, chunks = wanted < CHUNKS_MAX ? wanted : (uint64_t)CHUNKS_MAX;
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

/* Eight blocks of 128 threads have 64 registers a thread. */
SL_KERNEL_REGISTERS(confirm_find, struct confirm_args, 64) {
  __shared__ struct workspace w;
  __shared__ float copy[PLACES];
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

SL_ALGORITHM(confirm, "stereo hits of tracks in x layers", 128, run, SL_CPU_TUNED(confirm_tuned));
