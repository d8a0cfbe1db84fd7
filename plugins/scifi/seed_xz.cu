/* scifi.seed_xz: tracks of hits in x layers alone, five or six of them (README.md, "Seeds").
 *
 * Count, scan, write: a block an event, which goes through the halves and cases. For each first hit there is a range of
 * last ones, and for each such pair one of middle hits. What a thread takes is a pair, by its number among those of up
 * to 256 first hits, then a triplet of a list, so that ranges of different lengths leave no thread idle. Hits stand in
 * the lists, and tracks in the output, in the order of numbers, whatever the block.
 *
 * The count leaves the triplets of tracks in scratch, from which they are written without a search; of an event that
 * has more of them than there is room for, they are searched once more. Reads the x of some 1600 hits an event, from
 * the caches but for the first time; writes 38 bytes a track.
 */
#include "scifi/event_model.h"
#include "sorted_x.h"

#include <sluice/kernel.h>

enum {
  TRACKS_MAX = 1 << 17, /* of one event */
  KEPT = 1024,          /* triplets of tracks, of an event */
  KINDS = 2 * SCIFI_SEED_CASES,
  FURTHER = SCIFI_SEED_FITS - 1, /* x layers besides the three of a triplet */
  FEWEST = 2,                    /* of these that must have hits */
  FIRSTS = 256,                  /* first hits whose pairs are numbered at a time */
  LIST = 1024,                   /* triplets that wait to be tried */
  HIT_BITS = 16,
  KIND_BIT = 3 * HIT_BITS
};

#define SL_ARGS seed_xz_args
#define SEED_XZ(M)                                                                                     \
  M(IN, hits, scifi_hits, "offsets zone_first x", "where to search")                                   \
  M(IN, seeding, scifi_seeding_constants, "d bend cases constants", "what tracks look like")           \
  M(OUT, tracks, scifi_xz_tracks, "hits may be on several of them",                                    \
    SL_ITEMS(SL_ONE(SL_BUDGET_TERM(tracks_per_event, TRACKS_MAX))))                                    \
  M(F32, miss_factor, 10.0, 1.0, 1e6, "", "of the score of a track that has no hit in one layer")      \
  M(F32, case_penalty, 0.01, 0.0, 1e6, "mm2", "added to the score where the second layers come first") \
  M(BUDGET, tracks_per_event, 700, 1, 1000000, "tracks that are kept, on average over a slice")        \
  M(SCRATCH, kept, u64, "triplets of tracks", SL_ONE(SL_EVENTS_TERM(KEPT, 0)))
SL_ARGUMENTS(seed_xz, SEED_XZ);

/* Hits of the six x layers of a half, by places in the event; x of the event's hits; numbers of the case. */
struct half {
  const float *x, *numbers;
  uint32_t begin[SCIFI_X_LAYERS], end[SCIFI_X_LAYERS];
  uint32_t kind, odd;
};

struct workspace {
  uint64_t list[LIST];
  uint32_t pairs_before[FIRSTS + 1]; /* of the first hits of the turn; the last is the sum */
  uint32_t last[FIRSTS];             /* the first one of each */
};

/* What the block has done of an event, the same for all its threads. `slots` is NULL where tracks are written, from
 * `base` on. */
struct progress {
  uint64_t *slots;
  uint32_t base, tracks, listed;
};

static SL_DEVICE uint32_t x_zone(uint32_t i, uint32_t upper) {
  return 2 * (SCIFI_STATION_LAYERS * (i / 2) + 3 * (i % 2)) + upper;
}

/* Kinds: both cases of the lower half, then of the upper one. */
static SL_DEVICE struct half open_half(const struct seed_xz_args *a, uint32_t event, uint32_t kind) {
  const uint16_t *zone_first = a->hits.zone_first + (size_t)event * (SCIFI_ZONES + 1);
  struct half h;
  h.x = a->hits.x + a->hits.offsets[event];
  h.kind = kind;
  h.odd = kind % 2;
  h.numbers = a->seeding.cases + SCIFI_CASE_NUMBERS * h.odd;
  SL_UNROLL for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++) {
    const uint32_t zone = x_zone(i, kind / 2);
    h.begin[i] = zone_first[zone];
    h.end[i] = zone_first[zone + 1];
  }
  return h;
}

struct range {
  uint32_t begin, end;
};

static SL_DEVICE struct range hits_between(const float *x, uint32_t begin, uint32_t end, float low, float high) {
  struct range r;
  r.begin = scifi_first_from(x, begin, end, low);
  r.end = scifi_first_above(x, r.begin, end, high);
  return r;
}

static SL_DEVICE struct range last_hits(const struct half *h, uint32_t first) {
  const float x = h->x[first] * h->numbers[SCIFI_CASE_SCALE], range = h->numbers[SCIFI_CASE_RANGE];
  const uint32_t layer = 4 + h->odd;
  return hits_between(h->x, h->begin[layer], h->end[layer], x - range, x + range);
}

/* The line through a first and a last hit, at z_reference. */
struct line {
  float x, slope;
};

static SL_DEVICE struct line line_through(const struct seed_xz_args *a, const struct half *h, uint32_t first,
                                          uint32_t last) {
  const float x = h->x[first];
  struct line l;
  l.slope = (h->x[last] - x) / h->numbers[SCIFI_CASE_LENGTH];
  l.x = x - a->seeding.d[3 * h->odd] * l.slope;
  return l;
}

static SL_DEVICE uint32_t middle_layer(const struct half *h) { return 4 + 3 * h->odd; }

/* How far the line is from 0 at z = 0 says how much the track bends, and to which side. */
static SL_DEVICE struct range middle_hits(const struct seed_xz_args *a, const struct half *h, uint32_t first,
                                          uint32_t last) {
  const float *inverse_p = a->seeding.constants + SCIFI_SEED_INVERSE_P;
  const struct line l = line_through(a, h, first, last);
  const float x0 = h->x[first] - l.slope * h->numbers[SCIFI_CASE_Z_FIRST], size = sl_abs_f32(x0);
  const float bend = h->numbers[SCIFI_CASE_PER_P] * (size * (inverse_p[0] + inverse_p[1] * size));
  const float least = h->numbers[SCIFI_CASE_LEAST];
  const float x = l.x + a->seeding.d[middle_layer(h)] * l.slope;
  const float below = least + bend, above = 2.0f * least - bend; /* for tracks that bend to -x */
  const float low = x0 > 0.0f ? x - above : x - below, high = x0 > 0.0f ? x + below : x + above;
  const uint32_t layer = 2 + h->odd;
  return hits_between(h->x, h->begin[layer], h->end[layer], sl_min_f32(low, high), sl_max_f32(low, high));
}

/* A track that grows from a triplet. A hit that is not there: the end of its layer. */
struct xz_track {
  float a, b, c, score;
  uint32_t triplet[3], further[FURTHER], count; /* hits; further ones in order of layers */
};

static SL_DEVICE float x_at(const struct seed_xz_args *a, const struct xz_track *t, uint32_t layer) {
  return t->a + t->b * a->seeding.d[layer] + t->c * a->seeding.bend[layer];
}

/* x of the hit nearest to where the track is, of two as near the one before, less that; it returns 0 if there is none
 * within the tolerance. */
static SL_DEVICE uint32_t find_further(const struct seed_xz_args *a, const struct half *h, struct xz_track *t,
                                       uint32_t k, float *off) {
  const uint32_t i = 2 * k + 1 - h->odd, begin = h->begin[i], end = h->end[i];
  const float x = x_at(a, t, SCIFI_STATION_LAYERS * k + 3 * (1 - h->odd));
  const float tolerance = a->seeding.constants[SCIFI_SEED_TOLERANCE];
  const uint32_t behind = scifi_first_from(h->x, begin, end, x);
  const float off_before = behind > begin ? x - h->x[behind - 1] : 2.0f * tolerance + 1.0f;
  const float off_behind = behind < end ? h->x[behind] - x : 2.0f * tolerance + 1.0f;
  const uint32_t is_before = off_before <= off_behind;
  const uint32_t is_near = (is_before ? off_before : off_behind) <= tolerance;
  t->further[k] = is_near ? behind - is_before : end;
  *off = is_near ? (is_before ? -off_before : off_behind) : 0.0f;
  return is_near;
}

/* Corrects the track by least squares; further hits are `off`, of layer `missing` - 1 there is none (0: all are there).
 * Returns the sum of squares of what all hits are off then. */
static SL_DEVICE float fit(const struct seed_xz_args *a, const struct half *h, struct xz_track *t, const float *off,
                           uint32_t missing) {
  const float *gain = h->numbers + SCIFI_CASE_FITS + SCIFI_SEED_FIT_NUMBERS * missing;
  const float da = gain[0] * off[0] + gain[1] * off[1] + gain[2] * off[2];
  const float db = gain[3] * off[0] + gain[4] * off[1] + gain[5] * off[2];
  const float dc = gain[6] * off[0] + gain[7] * off[1] + gain[8] * off[2];
  float sum = 0.0f;
  SL_UNROLL for (uint32_t k = 0; k < FURTHER; k++) {
    const uint32_t layer = SCIFI_STATION_LAYERS * k + 3 * h->odd, other = SCIFI_STATION_LAYERS * k + 3 * (1 - h->odd);
    const float of_triplet = da + db * a->seeding.d[layer] + dc * a->seeding.bend[layer];
    const float rest = off[k] - (da + db * a->seeding.d[other] + dc * a->seeding.bend[other]);
    sum += of_triplet * of_triplet;
    sum += missing == k + 1 ? 0.0f : rest * rest;
  }
  t->a += da;
  t->b += db;
  t->c += dc;
  return sum;
}

/* Whether the triplet makes a track. */
static SL_DEVICE uint32_t grow(const struct seed_xz_args *a, const struct half *h, uint64_t word, struct xz_track *t) {
  const uint32_t mask = (1u << HIT_BITS) - 1;
  const uint32_t first = (uint32_t)word & mask, middle = (uint32_t)(word >> HIT_BITS) & mask;
  const uint32_t last = (uint32_t)(word >> (2 * HIT_BITS)) & mask;
  const struct line l = line_through(a, h, first, last);
  const float x = l.x + a->seeding.d[middle_layer(h)] * l.slope;
  float off[FURTHER];
  uint32_t found[FURTHER];
  t->c = (x - h->x[middle]) * h->numbers[SCIFI_CASE_CURVATURE];
  t->b = l.slope - t->c * h->numbers[SCIFI_CASE_SLOPE];
  t->a = l.x - t->c * h->numbers[SCIFI_CASE_X];
  found[0] = find_further(a, h, t, 0, &off[0]);
  found[1] = find_further(a, h, t, 1, &off[1]);
  if (found[0] + found[1] + 1 < FEWEST) return 0;
  found[2] = find_further(a, h, t, 2, &off[2]);
  t->count = found[0] + found[1] + found[2];
  if (t->count < FEWEST) return 0;
  t->triplet[0] = first;
  t->triplet[1] = middle;
  t->triplet[2] = last;
  const uint32_t missing = t->count == FURTHER ? 0u : (!found[0] ? 1u : (!found[1] ? 2u : 3u));
  const float sum = fit(a, h, t, off, missing);
  t->score = (missing ? sum * a->miss_factor : sum) + (h->odd ? a->case_penalty : 0.0f);
  return 1;
}

static SL_DEVICE void write_track(const struct seed_xz_args *a, const struct half *h, const struct xz_track *t,
                                  uint32_t place) {
  uint16_t *hits = a->tracks.hits + SCIFI_X_LAYERS * (size_t)place;
  uint32_t count = 0;
  SL_UNROLL for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++) {
    const uint32_t hit = i % 2 == h->odd ? t->triplet[i / 2] : t->further[i / 2];
    if (hit != h->end[i]) hits[count++] = (uint16_t)hit;
  }
  a->tracks.kind[place] = (uint8_t)(h->kind / 2 | h->odd << 1);
  a->tracks.hit_count[place] = (uint8_t)count;
  for (; count < SCIFI_X_LAYERS; count++) hits[count] = 0;
  a->tracks.a[place] = t->a;
  a->tracks.b[place] = t->b;
  a->tracks.c[place] = t->c;
  a->tracks.score[place] = t->score;
}

/* Tries the triplets that are listed. */
static SL_DEVICE void try_triplets(const struct seed_xz_args *a, const struct half *h, const struct workspace *w,
                                   struct progress *p) {
  __syncthreads();
  SL_FOR_BLOCK (i, p->listed) {
    struct xz_track track = {0.0f, 0.0f, 0.0f, 0.0f, {0, 0, 0}, {0, 0, 0}, 0};
    const uint32_t is_track = i < p->listed && grow(a, h, w->list[i], &track);
    const uint32_t place = sl_block_append(is_track, &p->tracks);
    if (is_track && p->slots && place < KEPT) p->slots[place] = w->list[i];
    if (is_track && !p->slots) write_track(a, h, &track, p->base + place);
  }
  p->listed = 0;
  __syncthreads();
}

/* Lists a pair's triplets, behind those of the threads before; where the list is full, what is there is tried. */
static SL_DEVICE void list_triplets(const struct seed_xz_args *a, const struct half *h, uint64_t word, struct range r,
                                    struct workspace *w, struct progress *p) {
  const uint32_t count = r.end - r.begin;
  uint32_t total, done = 0;
  const uint32_t place = sl_block_exclusive_scan(count, &total);
  while (done < total) {
    const uint32_t room = LIST - p->listed, taken = total - done < room ? total - done : room;
    const uint32_t from = place > done ? 0 : done - place, limit = done + taken > place ? done + taken - place : 0;
    for (uint32_t k = from; k < count && k < limit; k++)
      w->list[p->listed + place + k - done] = word | (uint64_t)(r.begin + k) << HIT_BITS;
    p->listed += taken;
    done += taken;
    if (p->listed == LIST) try_triplets(a, h, w, p);
  }
}

/* Numbers the pairs of up to FIRSTS first hits; returns how many there are. */
static SL_DEVICE uint32_t number_pairs(const struct half *h, uint32_t first, uint32_t firsts, struct workspace *w) {
  uint32_t sum = 0;
  __syncthreads(); /* the last turn's are done with */
  SL_FOR_BLOCK (i, firsts) {
    struct range r = {0, 0};
    uint32_t total;
    if (i < firsts) r = last_hits(h, first + i);
    const uint32_t before = sum + sl_block_exclusive_scan(r.end - r.begin, &total);
    if (i < firsts) {
      w->pairs_before[i] = before;
      w->last[i] = r.begin;
    }
    sum += total;
  }
  if (threadIdx.x == 0) w->pairs_before[firsts] = sum;
  __syncthreads();
  return sum;
}

/* Of which first hit the pair is: the last one with no more pairs before it. */
static SL_DEVICE uint32_t first_of_pair(const struct workspace *w, uint32_t firsts, uint32_t pair) {
  uint32_t begin = 0, end = firsts;
  while (end - begin > 1) {
    const uint32_t middle = (begin + end) / 2;
    if (w->pairs_before[middle] <= pair)
      begin = middle;
    else
      end = middle;
  }
  return begin;
}

static SL_DEVICE void search_half(const struct seed_xz_args *a, const struct half *h, struct workspace *w,
                                  struct progress *p) {
  const uint32_t begin = h->begin[h->odd], end = h->end[h->odd];
  for (uint32_t first = begin; first < end; first += FIRSTS) {
    const uint32_t firsts = end - first < FIRSTS ? end - first : FIRSTS;
    const uint32_t pairs = number_pairs(h, first, firsts, w);
    SL_FOR_BLOCK (pair, pairs) {
      struct range r = {0, 0};
      uint64_t word = 0;
      if (pair < pairs) {
        const uint32_t k = first_of_pair(w, firsts, pair), last = w->last[k] + (pair - w->pairs_before[k]);
        r = middle_hits(a, h, first + k, last);
        word = (uint64_t)h->kind << KIND_BIT | (uint64_t)last << (2 * HIT_BITS) | (first + k);
      }
      list_triplets(a, h, word, r, w, p);
    }
  }
  try_triplets(a, h, w, p);
}

static SL_DEVICE void search_event(const struct seed_xz_args *a, uint32_t event, struct workspace *w,
                                   struct progress *p) {
  for (uint32_t kind = 0; kind < KINDS; kind++) {
    const struct half h = open_half(a, event, kind);
    search_half(a, &h, w, p);
  }
}

SL_KERNEL(seed_xz_count, struct seed_xz_args) {
  __shared__ struct workspace workspace;
  SL_FOR_EVENTS (event, a.events) {
    struct progress p = {NULL, 0, 0, 0};
    p.slots = a.kept + (size_t)event * KEPT;
    search_event(&a, event, &workspace, &p);
    if (threadIdx.x == 0) a.tracks.offsets[event] = p.tracks;
  }
}

SL_KERNEL(seed_xz_write, struct seed_xz_args) {
  __shared__ struct workspace workspace;
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t base = a.tracks.offsets[event], count = a.tracks.offsets[event + 1] - base;
    const uint64_t *kept = a.kept + (size_t)event * KEPT;
    if (count > KEPT) {
      struct progress p = {NULL, 0, 0, 0};
      p.base = base;
      search_event(&a, event, &workspace, &p);
      continue;
    }
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      const struct half h = open_half(&a, event, (uint32_t)(kept[i] >> KIND_BIT));
      struct xz_track track = {0.0f, 0.0f, 0.0f, 0.0f, {0, 0, 0}, {0, 0, 0}, 0};
      if (grow(&a, &h, kept[i], &track)) write_track(&a, &h, &track, base + i);
    }
  }
}

static int run(const struct sl_launch *l, const struct seed_xz_args *a) {
  return SL_COUNT_SCAN_WRITE(l, seed_xz_count, seed_xz_write, a->tracks, *a);
}

SL_ALGORITHM(seed_xz, "tracks of hits in x layers of the fibre tracker", 256, run);
