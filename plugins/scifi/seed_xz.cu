/* scifi.seed_xz: tracks of hits in x layers alone, five or six of them (README.md, "Seeds").
 *
 * A unit is a half and case of an event. Its first hits are dealt out in chunks of about as much work, a block each,
 * since there are events of a hundred times the work of others. A block copies the x of the unit's hits to shared
 * memory, and deals out its first hits to warps that go on alone, in parts. For each of up to 32 first hits there is a
 * range of last ones, and for each such pair one of middle hits. What a thread takes is a pair, by its number, then a
 * triplet of a list, so that ranges of different lengths leave few threads idle. Triplets stand in the list, and tracks
 * in the output, in the order of first, last and middle hits, whatever the block.
 *
 * Plan, find, sum, scan, write. Chunks are listed in any order. What is found goes to a list of the slice in any order,
 * too, with the track's place among those of its part; when it is known how many tracks the parts before have, they are
 * written. This list has as much room as the output. An event has some 500 first hits, 17,000 pairs, 5,000 triplets and
 * 400 tracks. Reads the x of some 1600 hits twice; writes and reads 20 bytes of scratch a track, and writes 38.
 */
#include "seed_xz.h"
#include "sorted_x.h"

#include <math.h>

enum {
  CHUNK_WORK = 1 << 24, /* as chunks_of counts it */
  MIDDLE_WORK = 400,    /* hits of a middle layer for which triplets are as much work as pairs */
  FOUND = 128,          /* tracks of a chunk that are listed together; the others one by one */
  PART_BIT = 28,        /* behind a track's place in its part */
  FIRSTS = 32,          /* first hits whose pairs are numbered at a time */
  LIST = 128,           /* triplets that wait to be tried; a power of two */
  WARPS = 4,            /* that search; those of a larger block help to copy */
  STRIDE = 128,         /* a layer takes a multiple of so many places in shared memory; a power of two */
  PLACES = 28 * STRIDE,
  HIT_BITS = 16,
  NO_HIT = SCIFI_HITS_MAX
};

/* The layers of a case by what their hits are for. */
enum { FIRST, MIDDLE, LAST, FURTHER, ROLES = SCIFI_X_LAYERS };

/* A layer's hits, by their places: those of the event, or in shared memory, where the place before has -infinity and
 * those behind, up to a multiple of STRIDE, infinity. A hit's number in the event is `skipped` more. */
struct layer {
  uint32_t begin, end, skipped;
  float d, bend;
};

/* What the search of a half and case reads all the time. */
struct half {
  struct layer layers[ROLES];
  uint32_t chunks;
  float numbers[SCIFI_CASE_FITS], inverse_p[2], tolerance;
};

/* What a warp has of its own. */
struct warp_workspace {
  uint64_t list[LIST];               /* from any place on, around the end */
  uint32_t pairs_before[FIRSTS + 1]; /* of the first hits of the turn; the last is the sum */
  uint32_t last[FIRSTS];             /* the first one of each */
  uint32_t total;
};

struct workspace {
  struct half half;
  struct warp_workspace warps[WARPS];
  uint32_t found[FOUND_WORDS - 1][FOUND], found_count, found_base;
};

/* What is searched: `x` by places. `is_padded`: it is in shared memory. Known to the compiler at each call. */
struct search {
  const struct half *half;
  const float *x;
  uint32_t is_padded;
};

/* What has been done of a part, the same for all threads of the warp. */
struct progress {
  uint32_t chunk, part, tracks, listed, tried; /* the chunk: CHUNKS_MAX times the unit, and its number */
};

static SL_DEVICE uint32_t layer_of_role(uint32_t role, uint32_t odd) {
  return role < FURTHER ? SCIFI_STATION_LAYERS * role + 3 * odd
                        : SCIFI_STATION_LAYERS * (role - FURTHER) + 3 * (1 - odd);
}

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

static SL_DEVICE uint32_t layer_places(uint32_t hits) { return (hits + 2 + STRIDE - 1) / STRIDE * STRIDE; }

/* Copies x of the layer's hits to `to`. */
static SL_DEVICE void copy_layer(const float *x, uint32_t hits, uint32_t places, float *to) {
  for (uint32_t i = threadIdx.x; i < places; i += blockDim.x)
    to[i] = i == 0 ? -INFINITY : (i <= hits ? x[i - 1] : INFINITY);
}

/* Opens a unit, and copies its hits' x to `copy`, if they fit in; returns whether they do.
 * Every thread of the block comes here. */
static SL_DEVICE uint32_t open_unit(const struct seed_xz_args *a, uint32_t unit, struct workspace *w, float *copy) {
  const uint32_t event = unit / KINDS, kind = unit % KINDS;
  struct half *h = &w->half;
  const uint16_t *zone_first = a->hits.zone_first + (size_t)event * (SCIFI_ZONES + 1);
  const float *x = a->hits.x + a->hits.offsets[event];
  uint32_t begin[ROLES], hits[ROLES], sum = 0, place = 0;
  SL_UNROLL for (uint32_t role = 0; role < ROLES; role++) {
    const uint32_t zone = zone_of_role(role, kind);
    begin[role] = zone_first[zone];
    hits[role] = zone_first[zone + 1] - begin[role];
    sum += layer_places(hits[role]);
  }
  const uint32_t is_padded = sum <= PLACES ? 1u : 0u;
  __syncthreads(); /* what was open before is done with */
  SL_UNROLL for (uint32_t role = 0; role < ROLES; role++) {
    const uint32_t places = layer_places(hits[role]);
    if (is_padded) copy_layer(x + begin[role], hits[role], places, copy + place);
    if (threadIdx.x == 0) {
      struct layer *layer = &h->layers[role];
      layer->begin = is_padded ? place + 1 : begin[role];
      layer->end = layer->begin + hits[role];
      layer->skipped = begin[role] - layer->begin;
      layer->d = a->seeding.d[layer_of_role(role, kind % 2)];
      layer->bend = a->seeding.bend[layer_of_role(role, kind % 2)];
    }
    place += places;
  }
  for (uint32_t i = threadIdx.x; i < SCIFI_CASE_FITS; i += blockDim.x)
    h->numbers[i] = a->seeding.cases[SCIFI_CASE_NUMBERS * (kind % 2) + i];
  if (threadIdx.x == 0) {
    w->found_count = 0;
    h->chunks = chunks_of(hits[FIRST], hits[LAST], hits[MIDDLE]);
    h->inverse_p[0] = a->seeding.constants[SCIFI_SEED_INVERSE_P];
    h->inverse_p[1] = a->seeding.constants[SCIFI_SEED_INVERSE_P + 1];
    h->tolerance = a->seeding.constants[SCIFI_SEED_TOLERANCE];
  }
  __syncthreads();
  return is_padded;
}

/* The first place of the layer whose x is not below the limit, or its end. */
static SL_DEVICE uint32_t first_from(const struct search *s, uint32_t role, float limit) {
  const struct layer *layer = &s->half->layers[role];
  uint32_t place = layer->begin - 1;
  if (!s->is_padded) return scifi_first_from(s->x, layer->begin, layer->end, limit);
  while (place + STRIDE < layer->end && s->x[place + STRIDE] < limit) place += STRIDE;
  SL_UNROLL for (uint32_t step = STRIDE / 2; step > 0; step /= 2) place += s->x[place + step] < limit ? step : 0;
  return place + 1;
}

struct range {
  uint32_t begin, end;
};

static SL_DEVICE struct range last_hits(const struct search *s, uint32_t first) {
  const float *numbers = s->half->numbers;
  const float x = s->x[first] * numbers[SCIFI_CASE_SCALE], range = numbers[SCIFI_CASE_RANGE];
  const uint32_t end = s->half->layers[LAST].end;
  struct range r;
  r.begin = first_from(s, LAST, x - range);
  r.end = first_from(s, LAST, x + range);
  while (r.end < end && s->x[r.end] <= x + range) r.end++;
  return r;
}

/* The line through a first and a last hit, at z_reference. */
struct line {
  float x, slope;
};

static SL_DEVICE struct line line_through(float first, float last, float length, float d) {
  struct line l;
  l.slope = (last - first) / length;
  l.x = first - d * l.slope;
  return l;
}

/* How far the line is from 0 at z = 0 says how much the track bends, and to which side. */
static SL_DEVICE struct range middle_hits(const struct search *s, uint32_t first, uint32_t last) {
  const struct half *h = s->half;
  const float *numbers = h->numbers;
  const float x_first = s->x[first];
  const struct line l = line_through(x_first, s->x[last], numbers[SCIFI_CASE_LENGTH], h->layers[FIRST].d);
  const float x0 = x_first - l.slope * numbers[SCIFI_CASE_Z_FIRST], size = sl_abs_f32(x0);
  const float bend = numbers[SCIFI_CASE_PER_P] * (size * (h->inverse_p[0] + h->inverse_p[1] * size));
  const float least = numbers[SCIFI_CASE_LEAST];
  const float x = l.x + h->layers[MIDDLE].d * l.slope;
  const float below = least + bend, above = 2.0f * least - bend; /* for tracks that bend to -x */
  const float low = x0 > 0.0f ? x - above : x - below, high = x0 > 0.0f ? x + below : x + above;
  const float limit = sl_max_f32(low, high);
  const uint32_t end = h->layers[MIDDLE].end;
  struct range r;
  r.begin = r.end = first_from(s, MIDDLE, sl_min_f32(low, high));
  while (r.end < end && s->x[r.end] <= limit) r.end++;
  return r;
}

/* A line and a curvature: x = a + b d + c e(d). */
struct curve {
  float a, b, c;
};

static SL_DEVICE struct curve curve_through(float first, float middle, float last, const float *numbers, float d_first,
                                            float d_middle) {
  const struct line l = line_through(first, last, numbers[SCIFI_CASE_LENGTH], d_first);
  const float x = l.x + d_middle * l.slope;
  struct curve c;
  c.c = (x - middle) * numbers[SCIFI_CASE_CURVATURE];
  c.b = l.slope - c.c * numbers[SCIFI_CASE_SLOPE];
  c.a = l.x - c.c * numbers[SCIFI_CASE_X];
  return c;
}

static SL_DEVICE float curve_at(const struct curve *c, float d, float bend) { return c->a + c->b * d + c->c * bend; }

/* The number in the event of the hit nearest to where the curve is, of two as near the one before; NO_HIT if there is
 * none within the tolerance. */
static SL_DEVICE uint32_t find_further(const struct search *s, const struct curve *c, uint32_t role) {
  const struct layer *layer = &s->half->layers[role];
  const float x = curve_at(c, layer->d, layer->bend), tolerance = s->half->tolerance;
  const uint32_t behind = first_from(s, role, x);
  const float off_before = s->is_padded || behind > layer->begin ? x - s->x[behind - 1] : INFINITY;
  const float off_behind = s->is_padded || behind < layer->end ? s->x[behind] - x : INFINITY;
  const uint32_t is_before = off_before <= off_behind;
  const uint32_t is_near = (is_before ? off_before : off_behind) <= tolerance;
  return is_near ? behind - is_before + layer->skipped : (uint32_t)NO_HIT;
}

/* Hits of a track, by role; numbers in the event. */
struct xz_hits {
  uint32_t of[ROLES];
};

/* Whether the triplet makes a track. */
static SL_DEVICE uint32_t grow(const struct search *s, uint64_t word, struct xz_hits *hits) {
  const struct layer *layers = s->half->layers;
  const uint32_t mask = (1u << HIT_BITS) - 1;
  const uint32_t first = (uint32_t)word & mask, middle = (uint32_t)(word >> HIT_BITS) & mask;
  const uint32_t last = (uint32_t)(word >> (2 * HIT_BITS));
  const struct curve c =
      curve_through(s->x[first], s->x[middle], s->x[last], s->half->numbers, layers[FIRST].d, layers[MIDDLE].d);
  uint32_t count = 0;
  hits->of[FURTHER] = find_further(s, &c, FURTHER);
  hits->of[FURTHER + 1] = find_further(s, &c, FURTHER + 1);
  count += hits->of[FURTHER] != NO_HIT ? 1u : 0u;
  count += hits->of[FURTHER + 1] != NO_HIT ? 1u : 0u;
  if (count + 1 < FEWEST) return 0;
  hits->of[FURTHER + 2] = find_further(s, &c, FURTHER + 2);
  count += hits->of[FURTHER + 2] != NO_HIT ? 1u : 0u;
  hits->of[FIRST] = first + layers[FIRST].skipped;
  hits->of[MIDDLE] = middle + layers[MIDDLE].skipped;
  hits->of[LAST] = last + layers[LAST].skipped;
  return count >= FEWEST;
}

/* Corrects the curve by least squares; further hits are `off`, of layer `missing` - 1 there is none (0: all are there).
 * Returns the sum of squares of what all hits are off then. */
static SL_DEVICE float fit(const struct seed_xz_args *a, uint32_t odd, struct curve *c, const float *off,
                           uint32_t missing) {
  const float *gain = a->seeding.cases + SCIFI_CASE_NUMBERS * odd + SCIFI_CASE_FITS + SCIFI_SEED_FIT_NUMBERS * missing;
  const float da = gain[0] * off[0] + gain[1] * off[1] + gain[2] * off[2];
  const float db = gain[3] * off[0] + gain[4] * off[1] + gain[5] * off[2];
  const float dc = gain[6] * off[0] + gain[7] * off[1] + gain[8] * off[2];
  float sum = 0.0f;
  SL_UNROLL for (uint32_t k = 0; k < ROLES - FURTHER; k++) {
    const uint32_t layer = layer_of_role(k, odd), other = layer_of_role(FURTHER + k, odd);
    const float of_triplet = da + db * a->seeding.d[layer] + dc * a->seeding.bend[layer];
    const float rest = off[k] - (da + db * a->seeding.d[other] + dc * a->seeding.bend[other]);
    sum += of_triplet * of_triplet;
    sum += missing == k + 1 ? 0.0f : rest * rest;
  }
  c->a += da;
  c->b += db;
  c->c += dc;
  return sum;
}

static SL_DEVICE void write_hits(const struct seed_xz_args *a, uint32_t odd, const struct xz_hits *hits,
                                 uint32_t place) {
  uint16_t *to = a->tracks.hits + SCIFI_X_LAYERS * (size_t)place;
  uint32_t count = 0;
  SL_UNROLL for (uint32_t k = 0; k < ROLES - FURTHER; k++) {
    const uint32_t before = odd ? hits->of[FURTHER + k] : hits->of[k];
    const uint32_t behind = odd ? hits->of[k] : hits->of[FURTHER + k];
    if (before != NO_HIT) to[count++] = (uint16_t)before;
    if (behind != NO_HIT) to[count++] = (uint16_t)behind;
  }
  a->tracks.hit_count[place] = (uint8_t)count;
  for (; count < SCIFI_X_LAYERS; count++) to[count] = 0;
}

static SL_DEVICE void write_track(const struct seed_xz_args *a, uint32_t unit, const struct xz_hits *hits,
                                  uint32_t place) {
  const float *x = a->hits.x + a->hits.offsets[unit / KINDS];
  const uint32_t kind = unit % KINDS, odd = kind % 2;
  struct curve c = curve_through(x[hits->of[FIRST]], x[hits->of[MIDDLE]], x[hits->of[LAST]],
                                 a->seeding.cases + SCIFI_CASE_NUMBERS * odd, a->seeding.d[layer_of_role(FIRST, odd)],
                                 a->seeding.d[layer_of_role(MIDDLE, odd)]);
  float off[ROLES - FURTHER];
  uint32_t missing = 0;
  SL_UNROLL for (uint32_t k = 0; k < ROLES - FURTHER; k++) {
    const uint32_t layer = layer_of_role(FURTHER + k, odd), hit = hits->of[FURTHER + k];
    off[k] = hit != NO_HIT ? x[hit] - curve_at(&c, a->seeding.d[layer], a->seeding.bend[layer]) : 0.0f;
    missing = hit != NO_HIT ? missing : k + 1;
  }
  const float sum = fit(a, odd, &c, off, missing);
  write_hits(a, odd, hits, place);
  a->tracks.kind[place] = (uint8_t)(kind / 2 | odd << 1);
  a->tracks.a[place] = c.a;
  a->tracks.b[place] = c.b;
  a->tracks.c[place] = c.c;
  a->tracks.score[place] = (missing ? sum * a->miss_factor : sum) + (odd ? a->case_penalty : 0.0f);
}

/* A place on the list of the slice; those beyond its end are not written, as nothing of the slice will be. */
static SL_DEVICE void list_track(const struct seed_xz_args *a, uint32_t i, const uint32_t *words) {
  if (i >= a->tracks.bound.capacity) return;
  SL_UNROLL for (uint32_t k = 0; k < FOUND_WORDS; k++) a->found[(size_t)a->tracks.bound.capacity * k + i] = words[k];
}

/* Lists a track, in shared memory if there is room. */
static SL_DEVICE void keep_track(const struct seed_xz_args *a, const struct xz_hits *hits, const struct progress *p,
                                 uint32_t place, struct workspace *w) {
  const uint32_t i = atomicAdd(&w->found_count, 1u);
  uint32_t words[FOUND_WORDS];
  SL_UNROLL for (uint32_t k = 0; k < HIT_WORDS; k++) words[k] = hits->of[2 * k] | hits->of[2 * k + 1] << HIT_BITS;
  words[HIT_WORDS] = p->part << PART_BIT | place;
  words[HIT_WORDS + 1] = p->chunk;
  if (i >= FOUND) {
    list_track(a, atomicAdd(&a->counters[FOUND_COUNT], 1u), words);
    return;
  }
  SL_UNROLL for (uint32_t k = 0; k < FOUND_WORDS - 1; k++) w->found[k][i] = words[k];
}

/* Adds the tracks in shared memory to the list of the slice. Every thread of the block comes here. */
static SL_DEVICE void list_tracks(const struct seed_xz_args *a, uint32_t chunk, struct workspace *w) {
  __syncthreads();
  const uint32_t count = w->found_count < FOUND ? w->found_count : (uint32_t)FOUND;
  if (threadIdx.x == 0) w->found_base = atomicAdd(&a->counters[FOUND_COUNT], count);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    uint32_t words[FOUND_WORDS];
    SL_UNROLL for (uint32_t k = 0; k < FOUND_WORDS - 1; k++) words[k] = w->found[k][i];
    words[FOUND_WORDS - 1] = chunk;
    list_track(a, w->found_base + i, words);
  }
}

/* Tries triplets of the warp's list, one a thread. */
static SL_DEVICE void try_triplets(const struct seed_xz_args *a, const struct search *s, struct workspace *w,
                                   struct progress *p) {
  const uint32_t i = p->tried + sl_warp_lane();
  struct xz_hits hits = {{NO_HIT, NO_HIT, NO_HIT, NO_HIT, NO_HIT, NO_HIT}};
  const uint32_t is_track = i < p->listed && grow(s, w->warps[sl_warp_index()].list[i % LIST], &hits);
  const uint32_t place = sl_warp_append(is_track, &p->tracks);
  if (is_track) keep_track(a, &hits, p, place, w);
  p->tried = p->tried + sl_warp_lanes() < p->listed ? p->tried + sl_warp_lanes() : p->listed;
  sl_warp_sync();
}

/* Lists a pair's triplets, behind those of the threads before, and tries triplets when each thread has one. */
static SL_DEVICE void list_triplets(const struct seed_xz_args *a, const struct search *s, uint64_t word, struct range r,
                                    struct workspace *w, struct progress *p) {
  struct warp_workspace *own = &w->warps[sl_warp_index()];
  const uint32_t count = r.end - r.begin, place = sl_warp_exclusive_scan(count);
  uint32_t done = 0;
  if (sl_warp_lane() + 1 == sl_warp_lanes()) own->total = place + count;
  sl_warp_sync();
  const uint32_t total = own->total;
  sl_warp_sync();
  while (done < total) {
    const uint32_t room = LIST - (p->listed - p->tried), taken = total - done < room ? total - done : room;
    const uint32_t from = place > done ? 0 : done - place, limit = done + taken > place ? done + taken - place : 0;
    SL_ROLLED /* most have none or one */
        for (uint32_t k = from; k < count && k < limit; k++)
            own->list[(p->listed + place + k - done) % LIST] = word | (uint64_t)(r.begin + k) << HIT_BITS;
    p->listed += taken;
    done += taken;
    sl_warp_sync();
    while (p->listed - p->tried >= sl_warp_lanes()) try_triplets(a, s, w, p);
  }
}

/* Numbers the pairs of up to FIRSTS first hits; returns how many there are. */
static SL_DEVICE uint32_t number_pairs(const struct search *s, uint32_t first, uint32_t firsts,
                                       struct warp_workspace *w) {
  uint32_t sum = 0;
  sl_warp_sync(); /* the last turn's are done with */
  SL_FOR_WARP (i, firsts) {
    struct range r = {0, 0};
    if (i < firsts) r = last_hits(s, first + i);
    const uint32_t before = sum + sl_warp_exclusive_scan(r.end - r.begin);
    if (i < firsts) {
      w->pairs_before[i] = before;
      w->last[i] = r.begin;
    }
    if (sl_warp_lane() + 1 == sl_warp_lanes()) w->pairs_before[firsts] = before + (r.end - r.begin);
    sl_warp_sync();
    sum = w->pairs_before[firsts];
  }
  return sum;
}

/* Searches from the first hits of a part. Every thread of the warp comes here. */
static SL_DEVICE void search_part(const struct seed_xz_args *a, const struct search *s, struct workspace *w,
                                  struct progress *p) {
  struct warp_workspace *own = &w->warps[sl_warp_index()];
  const uint32_t begin = w->half.layers[FIRST].begin, hits = w->half.layers[FIRST].end - begin;
  const uint32_t parts = PARTS * w->half.chunks, part = PARTS * (p->chunk % CHUNKS_MAX) + p->part;
  const uint32_t end = begin + hits * (part + 1) / parts;
  for (uint32_t first = begin + hits * part / parts; first < end; first += FIRSTS) {
    const uint32_t firsts = end - first < FIRSTS ? end - first : FIRSTS;
    const uint32_t pairs = number_pairs(s, first, firsts, own);
    uint32_t k = 0; /* of which first hit the pair is */
    SL_FOR_WARP (pair, pairs) {
      struct range r = {0, 0};
      uint64_t word = 0;
      if (pair < pairs) {
        while (own->pairs_before[k + 1] <= pair) k++;
        const uint32_t last = own->last[k] + (pair - own->pairs_before[k]);
        r = middle_hits(s, first + k, last);
        word = (uint64_t)last << (2 * HIT_BITS) | (first + k);
      }
      list_triplets(a, s, word, r, w, p);
    }
  }
  while (p->tried < p->listed) try_triplets(a, s, w, p);
}

static SL_DEVICE void search_chunk(const struct seed_xz_args *a, const struct search *s, uint32_t chunk,
                                   struct workspace *w) {
  const uint32_t warp = sl_warp_index(), warps = sl_block_warps() < WARPS ? sl_block_warps() : (uint32_t)WARPS;
  for (uint32_t part = warp; warp < warps && part < PARTS; part += warps) {
    struct progress p = {chunk, part, 0, 0, 0};
    search_part(a, s, w, &p);
    if (sl_warp_lane() == 0) a->before[(size_t)PARTS * chunk + part] = p.tracks;
  }
}

SL_KERNEL(seed_xz_begin, struct seed_xz_args) {
  for (uint32_t i = sl_grid_thread(); i < COUNTERS; i += sl_grid_threads()) a.counters[i] = 0;
}

/* How many chunks a unit is. */
static SL_DEVICE uint32_t chunks_of_unit(const struct seed_xz_args *a, uint32_t unit) {
  const uint16_t *zone_first = a->hits.zone_first + (size_t)(unit / KINDS) * (SCIFI_ZONES + 1);
  uint32_t hits[FURTHER];
  SL_UNROLL for (uint32_t role = 0; role < FURTHER; role++) {
    const uint32_t zone = zone_of_role(role, unit % KINDS);
    hits[role] = (uint32_t)zone_first[zone + 1] - zone_first[zone];
  }
  return chunks_of(hits[FIRST], hits[LAST], hits[MIDDLE]);
}

SL_KERNEL(seed_xz_plan, struct seed_xz_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    for (uint32_t unit = KINDS * event; unit < KINDS * (event + 1); unit++) {
      const uint32_t count = chunks_of_unit(&a, unit), first = atomicAdd(&a.counters[CHUNK_COUNT], count);
      for (uint32_t i = 0; i < count; i++) a.chunks[first + i] = CHUNKS_MAX * unit + i;
    }
  }
}

SL_KERNEL(seed_xz_find, struct seed_xz_args) {
  __shared__ struct workspace w;
  __shared__ float copy[PLACES];
  for (uint32_t i = blockIdx.x; i < a.counters[CHUNK_COUNT]; i += gridDim.x) {
    const uint32_t chunk = a.chunks[i], unit = chunk / CHUNKS_MAX;
    if (open_unit(&a, unit, &w, copy)) {
      const struct search s = {&w.half, copy, 1};
      search_chunk(&a, &s, chunk, &w);
    } else {
      const struct search s = {&w.half, a.hits.x + a.hits.offsets[unit / KINDS], 0};
      search_chunk(&a, &s, chunk, &w);
    }
    list_tracks(&a, chunk, &w);
  }
}

SL_KERNEL(seed_xz_sum, struct seed_xz_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    uint32_t sum = 0;
    for (uint32_t unit = KINDS * event; unit < KINDS * (event + 1); unit++) {
      uint32_t *before = a.before + (size_t)PARTS * CHUNKS_MAX * unit;
      const uint32_t parts = PARTS * chunks_of_unit(&a, unit);
      for (uint32_t part = 0; part < parts; part++) {
        const uint32_t tracks = before[part];
        before[part] = sum;
        sum += tracks;
      }
    }
    a.tracks.offsets[event] = sum;
  }
}

/* A thread a track; of an event for which there is no room, none is written. */
SL_KERNEL(seed_xz_write, struct seed_xz_args) {
  const uint32_t capacity = a.tracks.bound.capacity, found = a.counters[FOUND_COUNT];
  for (uint32_t i = sl_grid_thread(); i < found && i < capacity; i += sl_grid_threads()) {
    const uint32_t *words = a.found + i;
    struct xz_hits hits;
    SL_UNROLL for (uint32_t k = 0; k < HIT_WORDS; k++) {
      const uint32_t two = words[(size_t)capacity * k];
      hits.of[2 * k] = two & ((1u << HIT_BITS) - 1);
      hits.of[2 * k + 1] = two >> HIT_BITS;
    }
    const uint32_t place = words[(size_t)capacity * HIT_WORDS], chunk = words[(size_t)capacity * (HIT_WORDS + 1)];
    const uint32_t unit = chunk / CHUNKS_MAX, first = a.tracks.offsets[unit / KINDS];
    if (a.tracks.offsets[unit / KINDS + 1] == first) continue;
    write_track(&a, unit, &hits,
                first + a.before[(size_t)PARTS * chunk + (place >> PART_BIT)] + (place & ((1u << PART_BIT) - 1)));
  }
}

static int run(const struct sl_launch *l, const struct seed_xz_args *a) {
  int error = SL_LAUNCH(l, seed_xz_begin, SL_PER_NODE(1), *a);
  if (!error) error = SL_LAUNCH(l, seed_xz_plan, SL_THREAD_PER_EVENT, *a);
  if (!error) error = SL_LAUNCH(l, seed_xz_find, SL_PER_CHUNK((uint64_t)KINDS * l->grid_blocks), *a);
  if (!error) error = SL_LAUNCH(l, seed_xz_sum, SL_THREAD_PER_EVENT, *a);
  if (!error) error = l->scan(l, a->tracks.offsets, &a->tracks.bound);
  if (!error) error = SL_LAUNCH(l, seed_xz_write, SL_PER_ITEM(a->tracks), *a);
  return error;
}

SL_ALGORITHM(seed_xz, "tracks of hits in x layers of the fibre tracker", 128, run, SL_TUNED(SEED_XZ_TUNED));
