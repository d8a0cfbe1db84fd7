/* scifi.seed_confirm: for each track in x layers its hits in stereo layers (README.md, "Stereo hits").
 *
 * A hit of the first layer that is searched, or of the second, says where the track is in y, and so where its other
 * hits are. A block an event; what a thread takes is such a beginning, by its number among those of up to 128 tracks.
 * Of a track's beginnings the best is that of a smallest key, which no two share, whatever their order; its hits are
 * then looked for once more, to be written. Reads some 300 hits' x a track, from the caches; writes 25 bytes.
 */
#include "scifi/event_model.h"
#include "sorted_x.h"

#include <sluice/kernel.h>

#define SL_ARGS seed_confirm_args
#define SEED_CONFIRM(M)                                                                              \
  M(IN, hits, scifi_hits, "offsets zone_first x", "where to search")                                 \
  M(IN, tracks, scifi_xz_tracks, "offsets kind hit_count a b c", "whose stereo hits are looked for") \
  M(IN, seeding, scifi_seeding_constants, "d bend constants", "where layers are")                    \
  M(OUT, stereo, scifi_seed_stereo, "for each track", SL_SHARES_OFFSETS(tracks))                     \
  M(F32, max_distance, 1.0, 0.0, 1e3, "mm", "of a hit, in x, from where the hits before it say")     \
  M(F32, stereo_slope, 0.0874892, 1e-3, 1.0, "", "size of dx/dy in stereo layers")                   \
  M(F32, min_y, -20.0, -1e4, 0.0, "mm", "how far a track may be in the other half")                  \
  M(F32, max_y, 2700.0, 0.0, 1e4, "mm", "the farthest from the beam")                                \
  M(U32, min_hits, 10, 5, 12, "", "of a track, with those in x layers")
SL_ARGUMENTS(seed_confirm, SEED_CONFIRM);

enum {
  BEGINNINGS = 2, /* layers in which a track may begin */
  TRACKS = 128,   /* whose beginnings are numbered at a time */
  ENTRIES = BEGINNINGS * TRACKS,
  NO_HIT = SCIFI_HITS_MAX,
  CHI2_BIT = 17,
  COUNT_BIT = CHI2_BIT + 32,
  HIT_MASK = 0xFFFF,
  SECOND_BIT = 16
};
static const uint64_t no_beginning = UINT64_MAX;

/* The k-th layer that is searched. */
static SL_DEVICE uint32_t layer_of(uint32_t k) {
  const uint32_t layers = 0x296A15u; /* 5, 1, 10, 6, 9, 2: a hexadecimal digit each, the first at the end */
  return layers >> (4 * k) & 15;
}

/* A track in x layers. */
struct track {
  const float *hit_x;
  const uint16_t *zone_first;
  float a, b, c;
  uint32_t upper, x_hits;
};

static SL_DEVICE struct track open_track(const struct seed_confirm_args *a, uint32_t event, uint32_t item) {
  struct track t;
  t.hit_x = a->hits.x + a->hits.offsets[event];
  t.zone_first = a->hits.zone_first + (size_t)event * (SCIFI_ZONES + 1);
  t.a = a->tracks.a[item];
  t.b = a->tracks.b[item];
  t.c = a->tracks.c[item];
  t.upper = a->tracks.kind[item] & 1u;
  t.x_hits = a->tracks.hit_count[item];
  return t;
}

/* A stereo layer: where the track is in it, how x goes with y, and the hits that may be the track's. */
struct layer {
  float x, dxdy, d;
  uint32_t begin, end;
};

static SL_DEVICE struct layer open_layer(const struct seed_confirm_args *a, const struct track *t, uint32_t k) {
  const uint32_t number = layer_of(k), zone = 2 * number + t->upper;
  struct layer l;
  l.d = a->seeding.d[number];
  l.x = t->a + t->b * l.d + t->c * a->seeding.bend[number];
  l.dxdy = number % 2 ? a->stereo_slope : -a->stereo_slope;
  const float outwards = t->upper ? -l.dxdy : l.dxdy; /* how x goes with the distance from the beam */
  const float near_x = l.x + outwards * a->min_y, far_x = l.x + outwards * a->max_y;
  l.begin = scifi_first_from(t->hit_x, t->zone_first[zone], t->zone_first[zone + 1], sl_min_f32(near_x, far_x));
  l.end = scifi_first_above(t->hit_x, l.begin, t->zone_first[zone + 1], sl_max_f32(near_x, far_x));
  return l;
}

/* Stereo hits in the order in which they are looked for; NO_HIT: none. And the line through them. */
struct line {
  uint32_t hits[SCIFI_STEREO_LAYERS], count;
  float y, ty, chi2;
};

/* The hit nearest to x, of two as near the one before, if it is near enough. */
static SL_DEVICE uint32_t near_hit(const struct seed_confirm_args *a, const struct track *t, const struct layer *l,
                                   float x) {
  const uint32_t behind = scifi_first_from(t->hit_x, l->begin, l->end, x);
  const float none = 2.0f * a->max_distance + 1.0f;
  const float off_before = behind > l->begin ? x - t->hit_x[behind - 1] : none;
  const float off_behind = behind < l->end ? t->hit_x[behind] - x : none;
  const uint32_t is_before = off_before <= off_behind;
  return (is_before ? off_before : off_behind) <= a->max_distance ? behind - is_before : NO_HIT;
}

/* Least squares of equal weights; there are at least two hits. */
static SL_DEVICE void fit(struct line *line, const float *d, const float *y) {
  const float per_hit = 1.0f / (float)line->count;
  float sum_d = 0.0f, sum_y = 0.0f, sum_dd = 0.0f, sum_dy = 0.0f;
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
    sum_d += line->hits[k] != NO_HIT ? d[k] : 0.0f;
    sum_y += line->hits[k] != NO_HIT ? y[k] : 0.0f;
  }
  const float middle_d = sum_d * per_hit, middle_y = sum_y * per_hit;
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
    const float from_d = line->hits[k] != NO_HIT ? d[k] - middle_d : 0.0f;
    sum_dd += from_d * from_d;
    sum_dy += from_d * (y[k] - middle_y);
  }
  line->ty = sum_dy / sum_dd;
  line->y = middle_y - line->ty * middle_d;
  line->chi2 = 0.0f;
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
    const float off = line->hits[k] != NO_HIT ? y[k] - (line->y + line->ty * d[k]) : 0.0f;
    line->chi2 += off * off;
  }
}

/* Follows the track from a hit of layer `first`; whether it gets enough hits. */
static SL_DEVICE uint32_t follow(const struct seed_confirm_args *a, const struct track *t, uint32_t first, uint32_t hit,
                                 struct line *line) {
  const float z_reference = a->seeding.constants[SCIFI_SEED_Z_REFERENCE];
  float d[SCIFI_STEREO_LAYERS] = {0.0f}, y[SCIFI_STEREO_LAYERS] = {0.0f}, ty = 0.0f;
  uint32_t is_hopeless = 0;
  line->count = 0;
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
    line->hits[k] = NO_HIT;
    is_hopeless |= t->x_hits + line->count + (SCIFI_STEREO_LAYERS - k) < a->min_hits ? 1u : 0u;
    if (k < first || is_hopeless) continue;
    const struct layer l = open_layer(a, t, k);
    const float z = l.d + z_reference;
    const uint32_t found = k == first ? hit : near_hit(a, t, &l, l.x - ty * (l.dxdy * z));
    if (found == NO_HIT) continue;
    d[k] = l.d;
    y[k] = (l.x - t->hit_x[found]) / l.dxdy;
    ty = k == first ? y[k] / z : 0.5f * (ty + y[k] / z);
    line->hits[k] = found;
    line->count++;
  }
  if (is_hopeless || t->x_hits + line->count < a->min_hits) return 0;
  fit(line, d, y);
  return 1;
}

/* More hits first, then the smaller chi2; of equal ones the one that begins later. Ascending. */
static SL_DEVICE uint64_t key_of(const struct line *line, uint32_t first, uint32_t hit) {
  const uint64_t missing = SCIFI_STEREO_LAYERS - line->count, chi2 = sl_bits_from_f32(line->chi2);
  const uint64_t earliness = (1u << CHI2_BIT) - 1 - (first << SECOND_BIT | hit);
  return missing << COUNT_BIT | chi2 << CHI2_BIT | earliness;
}

struct workspace {
  uint64_t best[TRACKS];
  uint32_t before[ENTRIES + 1]; /* beginnings before those of an entry, which is a track and a layer */
  uint32_t hits[ENTRIES];       /* the first one of each */
};

/* Numbers the beginnings of tracks from `first` on; returns how many there are. */
static SL_DEVICE uint32_t number_beginnings(const struct seed_confirm_args *a, uint32_t event, uint32_t first,
                                            uint32_t tracks, struct workspace *w) {
  uint32_t sum = 0;
  SL_FOR_BLOCK (i, BEGINNINGS * tracks) {
    struct layer l = {0.0f, 0.0f, 0.0f, 0, 0};
    uint32_t total;
    if (i < BEGINNINGS * tracks) {
      const struct track t = open_track(a, event, first + i / BEGINNINGS);
      l = open_layer(a, &t, i % BEGINNINGS);
      w->best[i / BEGINNINGS] = no_beginning;
    }
    const uint32_t before = sum + sl_block_exclusive_scan(l.end - l.begin, &total);
    if (i < BEGINNINGS * tracks) {
      w->before[i] = before;
      w->hits[i] = l.begin;
    }
    sum += total;
  }
  if (threadIdx.x == 0) w->before[BEGINNINGS * tracks] = sum;
  __syncthreads();
  return sum;
}

/* Of which entry the beginning is: the last one with no more beginnings before it. */
static SL_DEVICE uint32_t entry_of(const struct workspace *w, uint32_t entries, uint32_t beginning) {
  uint32_t begin = 0, end = entries;
  while (end - begin > 1) {
    const uint32_t middle = (begin + end) / 2;
    if (w->before[middle] <= beginning)
      begin = middle;
    else
      end = middle;
  }
  return begin;
}

static SL_DEVICE void write_line(const struct seed_confirm_args *a, uint32_t item, const struct line *line) {
  uint16_t *hits = a->stereo.hits + SCIFI_STEREO_LAYERS * (size_t)item;
  uint32_t by_layer[SCIFI_LAYERS], count = 0;
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) by_layer[layer_of(k)] = line->hits[k];
  SL_UNROLL for (uint32_t i = 0; i < SCIFI_STEREO_LAYERS; i++) {
    const uint32_t hit = by_layer[SCIFI_STATION_LAYERS * (i / 2) + 1 + i % 2];
    if (hit != NO_HIT) hits[count++] = (uint16_t)hit;
  }
  a->stereo.hit_count[item] = (uint8_t)count;
  for (; count < SCIFI_STEREO_LAYERS; count++) hits[count] = 0;
  a->stereo.y[item] = line->y;
  a->stereo.ty[item] = line->ty;
  a->stereo.chi2[item] = line->chi2;
}

static SL_DEVICE void write_best(const struct seed_confirm_args *a, uint32_t event, uint32_t item, uint64_t key) {
  struct line line = {{NO_HIT, NO_HIT, NO_HIT, NO_HIT, NO_HIT, NO_HIT}, 0, 0.0f, 0.0f, 0.0f};
  if (key != no_beginning) {
    const struct track t = open_track(a, event, item);
    const uint32_t place = (1u << CHI2_BIT) - 1 - (uint32_t)(key & ((1u << CHI2_BIT) - 1));
    follow(a, &t, place >> SECOND_BIT, place & HIT_MASK, &line);
  }
  write_line(a, item, &line);
}

SL_KERNEL(seed_confirm_find, struct seed_confirm_args) {
  __shared__ struct workspace w;
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t end = a.tracks.offsets[event + 1];
    for (uint32_t first = a.tracks.offsets[event]; first < end; first += TRACKS) {
      const uint32_t tracks = end - first < TRACKS ? end - first : TRACKS;
      const uint32_t beginnings = number_beginnings(&a, event, first, tracks, &w);
      for (uint32_t i = threadIdx.x; i < beginnings; i += blockDim.x) {
        const uint32_t entry = entry_of(&w, BEGINNINGS * tracks, i), layer = entry % BEGINNINGS;
        const uint32_t hit = w.hits[entry] + (i - w.before[entry]);
        const struct track t = open_track(&a, event, first + entry / BEGINNINGS);
        struct line line;
        if (follow(&a, &t, layer, hit, &line))
          atomicMin((sl_atomic_u64 *)&w.best[entry / BEGINNINGS], (sl_atomic_u64)key_of(&line, layer, hit));
      }
      __syncthreads();
      for (uint32_t i = threadIdx.x; i < tracks; i += blockDim.x) write_best(&a, event, first + i, w.best[i]);
      __syncthreads();
    }
  }
}

static int run(const struct sl_launch *l, const struct seed_confirm_args *a) {
  return SL_LAUNCH(l, seed_confirm_find, SL_PER_EVENT, *a);
}

SL_ALGORITHM(seed_confirm, "stereo hits of tracks in x layers", 256, run);
