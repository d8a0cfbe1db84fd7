/* search_pairs.h: data of an event in the triplet search (search_by_triplet.cu): hits of the module pairs in play, bins
 * of azimuth, marks of used hits, live tracks; and windows of azimuth.
 *
 * "In memory" means an index into the arrays of struct search_memory, which are in shared memory or, for an event that
 * is too large, in scratch.
 */
#ifndef VELO_SEARCH_PAIRS_H
#define VELO_SEARCH_PAIRS_H

#include "position.h"
#include "search_by_triplet.h"

enum {
  BIN_BITS = 8,
  BINS = 1 << BIN_BITS,
  PAIRS = 4,          /* pairs in play: three are searched while the next one is loaded */
  WIDE_PAIRS = 3,     /* pairs in play in an event with a large pair: the next one is loaded after the search */
  MIDDLE_THREADS = 4, /* threads per middle hit */
  SHARED_PAIR_HITS = 192,
  SHARED_WIDE_ROOM = PAIRS * SHARED_PAIR_HITS / WIDE_PAIRS,
  SHARED_WIDE_PAIR_HITS = SHARED_WIDE_ROOM - PAIRS, /* leaves room for the end entries of unused_before */
  SHARED_EVENT_HITS = 6144,
  SHARED_EVENT_WORDS = SHARED_EVENT_HITS / 32,
  SHARED_LIVE_TRACKS = 128
};

/* Two 16-bit numbers in a word. */
static SL_DEVICE uint32_t halves(uint32_t lower, uint32_t upper) { return lower | upper << 16; }
static SL_DEVICE uint32_t lower_half(uint32_t word) { return word & 0xFFFF; }
static SL_DEVICE uint32_t upper_half(uint32_t word) { return word >> 16; }

/* Maps a number from -size to size - 1 (negative ones wrapped to large unsigned numbers) to an index on the circle. */
static SL_DEVICE uint32_t around(uint32_t number, uint32_t size) {
  return number < number + size ? number : number + size;
}

typedef uint32_t search_two_hits __attribute__((may_alias)); /* halves: the first, the second */
typedef uint16_t search_bin __attribute__((may_alias));

struct search_hit {
  float x, y, z;
  uint32_t start_azimuth; /* lower half: hit_start(); upper half: azimuth */
} __attribute__((aligned(16)));

/* A track that may be extended. */
struct search_live {
  uint32_t hits;  /* halves: live_older(), live_newest() */
  uint32_t track; /* live_anchor() | live_length() << 16 | live_skips() << 24 */
} __attribute__((aligned(8)));

/* One bit per hit of the event, in words of 32. */
struct search_bits {
  uint32_t *used;
  uint32_t *middle, *strong; /* middle hits of all tracks; of tracks of four or more hits */
  uint32_t *before;          /* per word, halves: number of strong tracks before it, number of other tracks */
};

/* Arrays that may be too large for shared memory. The part of a module pair begins at search_range.begin. */
struct search_memory {
  struct search_hit *hits;
  uint16_t *unused;        /* per pair: indices in memory of its unused hits */
  uint16_t *unused_before; /* per hit and per end of a pair: number of unused hits of the pair before it */
  struct search_bits bits;
};

/* Range of the hits of a module pair. */
struct search_range {
  uint32_t first;      /* index in the event */
  uint32_t begin, end; /* indices in memory */
  float delta_z;       /* z from the second pair downstream to this pair; 0 if there is none */
} __attribute__((aligned(16)));

struct search_shared {
  union {
    struct search_hit hits[PAIRS * SHARED_PAIR_HITS];
    uint32_t before[SHARED_EVENT_WORDS]; /* search_bits.before, after the last turn */
  } u;
  uint16_t unused[PAIRS * SHARED_PAIR_HITS], unused_before[PAIRS * (SHARED_PAIR_HITS + 1)];
  uint32_t used[SHARED_EVENT_WORDS], middle[SHARED_EVENT_WORDS], strong[SHARED_EVENT_WORDS];
  struct search_live live[2][SHARED_LIVE_TRACKS]; /* of this turn and of the next one */
  uint32_t bin_begin[PAIRS][BINS / 2 + 1];        /* halves: first hits of two bins; then the end of the pair */
  uint32_t unused_count[PAIRS];
  uint32_t live_count[2];
  struct search_range ranges[VELO_MODULE_PAIRS];
  float module_z[2 * VELO_MODULE_PAIRS];
};

/* Search of one event; equal in all threads of a block. */
struct search {
  const struct search_by_triplet_args *a;
  struct search_event e;
  struct search_shared *shared;
  struct search_memory memory;
  uint32_t is_shared;       /* 1 if `memory` is shared memory */
  uint32_t pairs_in_play;   /* PAIRS or WIDE_PAIRS */
  struct search_live *live; /* live tracks beyond those in shared memory: two lists with room for all hits */
  uint16_t *track_hits;     /* parts of the scratch arrays of these names for the event */
  uint8_t *track_length;
  uint16_t *track_middle;
  uint8_t *candidate_length;
};

/* The hits of a module pair. */
struct search_pair {
  uint32_t first;        /* index in the event */
  uint32_t begin, end;   /* indices in memory, also of the list of unused hits */
  search_bin *bin_begin; /* first hit of each bin */
  uint32_t ends;         /* shift of its part of unused_before, which has an additional end entry per earlier pair */
};

struct search_line {
  float x0, y0, z0, tx, ty;
};

/* An azimuth as a word that ascends and wraps with it: 0 is -pi, one unit of phi is 0x10000. The lower half does not
 * affect the order of two different azimuths. */
static SL_DEVICE uint32_t azimuth_of(int16_t phi) { return halves(0, (uint16_t)phi) + 0x80000000u; }

/* Index in memory of the first hit of the next pair downstream with at least the azimuth of this hit. */
static SL_DEVICE uint32_t hit_start(const struct search_hit *hit) { return lower_half(hit->start_azimuth); }

/* The last two hits of a live track. */
static SL_DEVICE uint32_t live_older(const struct search_live *live) { return lower_half(live->hits); }
static SL_DEVICE uint32_t live_newest(const struct search_live *live) { return upper_half(live->hits); }
/* Three hits: the first hit, which is stored nowhere else. More hits: the middle hit, which indexes track_hits. */
static SL_DEVICE uint32_t live_anchor(const struct search_live *live) { return lower_half(live->track); }
static SL_DEVICE uint32_t live_length(const struct search_live *live) { return live->track >> 16 & 0xFF; }
/* Number of consecutive module pairs without a hit, up to the last one. */
static SL_DEVICE uint32_t live_skips(const struct search_live *live) { return live->track >> 24; }

/* A live track after a hit was added. */
static SL_DEVICE struct search_live live_of(uint32_t anchor, uint32_t length, uint32_t older, uint32_t added) {
  const struct search_live live = {halves(older, added), anchor | length << 16};
  return live;
}

static SL_DEVICE void live_skip(struct search_live *live) { live->track += 1u << 24; }

/* A third hit as a word; the minimum is the best hit: smallest scatter, then earliest visit of the line. */
#define NO_THIRD_HIT UINT64_MAX
static SL_DEVICE uint64_t third_hit(float scatter, uint32_t visit, uint32_t at) {
  return (uint64_t)sl_bits_from_f32(scatter) << 32 | halves(at, visit); /* no scatter is negative */
}
static SL_DEVICE uint32_t third_hit_at(uint64_t third) { return lower_half((uint32_t)third); }

static SL_DEVICE uint32_t azimuth_bin(uint32_t azimuth) { return azimuth >> (32 - BIN_BITS); }

static SL_DEVICE uint32_t bit_is_set(const uint32_t *bits, uint32_t i) { return bits[i / 32] >> i % 32 & 1; }

static SL_DEVICE struct search_pair pair_open(const struct search *s, uint32_t pair) {
  struct search_pair p;
  const struct search_range range = s->shared->ranges[pair]; /* in one load */
  p.first = range.first;
  p.begin = range.begin;
  p.end = range.end;
  p.bin_begin = (search_bin *)s->shared->bin_begin[pair % PAIRS];
  p.ends = s->is_shared ? pair % PAIRS : pair;
  return p;
}

/* Number of unused hits of the pair before `at`. */
static SL_DEVICE uint16_t *unused_before(const struct search *s, const struct search_pair *p, uint32_t at) {
  return &s->memory.unused_before[p->ends + at];
}

/* Index in the event of the hit with index `at` in memory. */
static SL_DEVICE uint32_t pair_hit(const struct search_pair *p, uint32_t at) { return p->first + at - p->begin; }

/* The first hit of the pair with at least this azimuth; the first hit of the pair if there is none. */
static SL_DEVICE uint32_t pair_start(const struct search *s, const struct search_pair *p, uint32_t azimuth) {
  const uint32_t bin = azimuth_bin(azimuth), end = p->bin_begin[bin + 1];
  uint32_t i = p->bin_begin[bin];
  SL_ROLLED
  while (i < end && s->memory.hits[i].start_azimuth < azimuth) i++;
  return i == p->end ? p->begin : i;
}

/* Sets hit `i` as the first hit of bins first to last, two bins at a time. */
static SL_DEVICE void fill_bins(search_bin *bin_begin, uint32_t first, uint32_t last, uint32_t i) {
  if (first > last) return;
  if (first % 2 == 1) bin_begin[first] = (uint16_t)i;
  if (last % 2 == 0) bin_begin[last] = (uint16_t)i;
  SL_ROLLED
  for (uint32_t bin = (first + 1) / 2; bin < (last + 1) / 2; bin++) ((uint32_t *)bin_begin)[bin] = halves(i, i);
}

/* Loads the hits of a pair into memory, with bins and start indices in the next pair downstream (if any), which is
 * already loaded. Begins with the last threads, because those are idle in `forward`. */
static SL_DEVICE void pair_load(const struct search *s, uint32_t pair, uint32_t has_downstream) {
  const struct search_pair p = pair_open(s, pair);
  const struct search_pair downstream = pair_open(s, pair + has_downstream);
  const struct velo_hits_view *from = &s->a->hits;
  for (uint32_t i = p.begin + blockDim.x - 1 - threadIdx.x; i <= p.end; i += blockDim.x) {
    const uint32_t is_hit = i < p.end ? 1 : 0, in_slice = s->e.first + pair_hit(&p, i);
    struct search_hit hit = {0.0f, 0.0f, 0.0f, 0};
    if (is_hit) { /* all loads together, to overlap them */
      hit.x = from->x[in_slice];
      hit.y = from->y[in_slice];
      hit.z = from->z[in_slice];
      hit.start_azimuth = azimuth_of(from->phi[in_slice]);
    }
    const uint32_t first_bin = i > p.begin ? azimuth_bin(azimuth_of(from->phi[in_slice - 1])) + 1 : 0;
    fill_bins(p.bin_begin, first_bin, is_hit ? azimuth_bin(hit.start_azimuth) : BINS, i);
    if (!is_hit) break;
    if (has_downstream) hit.start_azimuth |= pair_start(s, &downstream, hit.start_azimuth);
    s->memory.hits[i] = hit;
  }
}

static SL_DEVICE struct search_line line_through(float x0, float y0, float z0, float x1, float y1, float z1) {
  const float dx = x1 - x0, dy = y1 - y0, dz = z1 - z0;
  const struct search_line line = {x0, y0, z0, dx / dz, dy / dz};
  return line;
}

static SL_DEVICE uint32_t line_azimuth(const struct search_line *line, float delta_z) {
  return azimuth_of(velo_phi(line->x0 + line->tx * delta_z, line->y0 + line->ty * delta_z));
}

/* A window of azimuth and the hits of its bins: [begin, end), or, if it wraps, from `begin` to the last hit of the pair
 * and from the first hit to `end`. */
struct search_window {
  uint32_t lower; /* lower edge */
  uint32_t begin, end, is_wrapped;
};

static SL_DEVICE struct search_window window_around(const struct search *s, const struct search_pair *p,
                                                    uint32_t azimuth) {
  struct search_window w;
  w.lower = azimuth - s->a->half_window;
  const uint32_t upper = w.lower + s->a->window_width;
  w.begin = p->bin_begin[azimuth_bin(w.lower)];
  w.end = p->bin_begin[azimuth_bin(upper) + 1];
  w.is_wrapped = upper < w.lower ? 1 : 0; /* a window is no wider than two radians */
  return w;
}

/* One comparison of whole words is enough, because their difference wraps like azimuths. */
static SL_DEVICE uint32_t window_has(const struct search *s, const struct search_window *w,
                                     const struct search_hit *hit) {
  return hit->start_azimuth - w->lower <= s->a->window_width ? 1u : 0u;
}

static SL_DEVICE float scatter_from(const struct search_line *line, const struct search_hit *hit) {
  const float dz = hit->z - line->z0;
  const float dx = line->x0 + line->tx * dz - hit->x;
  const float dy = line->y0 + line->ty * dz - hit->y;
  return dx * dx + dy * dy;
}

#endif
