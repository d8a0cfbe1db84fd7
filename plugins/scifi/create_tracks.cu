/* scifi.create_tracks: from each triplet a track, with the hits of the other layers that are nearest to it (README.md,
 * "Forward tracks").
 *
 * Count, scan, write: a thread a track lays out the candidates of its triplets side by side, then a thread a candidate
 * lets one grow. Where its hits should be follows from the triplet alone, so that all nine layers are searched at once:
 * one bisection that takes the same steps in each, whose loads do not wait for each other.
 *
 * Reads 100 bytes a track, and of a candidate some 60 hits' x, which stay in the caches; writes 49 bytes a candidate.
 */
#include "forward_math.h"

#include <sluice/kernel.h>

#define SL_ARGS create_tracks_args
#define CREATE_TRACKS(M)                                                                            \
  M(IN, inputs, scifi_forward_inputs, "offsets x y tx ty", "tracks before the magnet")              \
  M(IN, hits, scifi_hits, "offsets x", "where to search")                                           \
  M(IN, windows, scifi_windows, "first count", "of each track, in all layers")                      \
  M(IN, triplets, scifi_triplets, "count triplet", "of each track")                                 \
  M(IN, forward, scifi_looking_forward, "z_layer dxdy y_shift constants", "what the magnet does")   \
  M(OUT, candidates, scifi_candidates, "one for each triplet",                                      \
    SL_ITEMS(SL_ONE(SL_ITEMS_SCALED(inputs, SCIFI_TRIPLETS_MAX, 1, 0))))                            \
  M(F32, max_chi2_x, 2.0, 0.0, 1e6, "mm2", "square of the largest distance of a hit in an x layer") \
  M(F32, max_chi2_stereo, 50.0, 0.0, 1e6, "mm2", "the same in a stereo layer, times |tx| + |ty|")   \
  M(SCRATCH, words, u32, "the triplet of each candidate", SL_ONE(SL_ITEMS_SCALED(inputs, SCIFI_TRIPLETS_MAX, 1, 0)))
SL_ARGUMENTS(create_tracks, CREATE_TRACKS);

/* A triplet is of three x layers; these may be added to it, in this order. */
enum { SEED_HITS = 3, ADDED_X = 3, ADDED_STEREO = 6, ADDED = ADDED_X + ADDED_STEREO };
enum { NO_HIT = SCIFI_HITS_MAX };

/* Of a track, what all its candidates share. */
struct track {
  struct scifi_state state;
  struct scifi_y_shift shifts[ADDED_STEREO];
  const uint16_t *first, *count; /* windows */
};

static SL_DEVICE struct track open_track(const struct create_tracks_args *a, uint32_t item) {
  struct track t;
  t.state.x = a->inputs.x[item];
  t.state.y = a->inputs.y[item];
  t.state.z = a->forward.constants[SCIFI_Z_UT];
  t.state.tx = a->inputs.tx[item];
  t.state.ty = a->inputs.ty[item];
  t.first = a->windows.first + (size_t)item * SCIFI_WINDOWS;
  t.count = a->windows.count + (size_t)item * SCIFI_WINDOWS;
  SL_UNROLL for (uint32_t i = 0; i < ADDED_STEREO; i++) t.shifts[i] =
      scifi_y_shift_of(&a->forward, &t.state, scifi_stereo_layer(i));
  return t;
}

/* A candidate: the triplet's hits, its curve, and which windows the others are in. */
struct seed {
  uint32_t hits[SEED_HITS];
  uint32_t odd, right; /* whether the triplet is in the second x layers of stations; and in right windows */
  struct scifi_curve curve;
};

static SL_DEVICE struct seed open_seed(const struct create_tracks_args *a, const struct track *t, const float *x,
                                       uint32_t word) {
  struct seed s;
  const float z_reference = a->forward.constants[SCIFI_Z_REFERENCE];
  float d[SEED_HITS], seed_x[SEED_HITS];
  s.odd = word >> 18 & 1;
  s.right = word >> 19 & 1;
  SL_UNROLL for (uint32_t k = 0; k < SEED_HITS; k++) {
    const uint32_t i = 2 * k + s.odd, place = word >> (12 - 6 * k) & 63;
    s.hits[k] = t->first[SCIFI_LAYER_WINDOWS * i + s.right] + place;
    seed_x[k] = x[s.hits[k]];
    d[k] = a->forward.z_layer[scifi_x_layer(i)] - z_reference;
  }
  const float y = t->state.y + t->state.ty * (d[1] + z_reference - t->state.z);
  s.curve = scifi_curve_through(d, seed_x, scifi_curve_r(&a->forward, seed_x[1], y));
  return s;
}

/* Where hits are looked for, by what may be added. */
struct search {
  uint32_t first[ADDED], count[ADDED]; /* windows */
  float x[ADDED];                      /* nearest to this */
};

static SL_DEVICE struct search open_search(const struct create_tracks_args *a, const struct track *t,
                                           const struct seed *seed) {
  struct search s;
  const float z_reference = a->forward.constants[SCIFI_Z_REFERENCE];
  SL_UNROLL for (uint32_t k = 0; k < ADDED_X; k++) {
    const uint32_t i = 2 * k + 1 - seed->odd, w = SCIFI_LAYER_WINDOWS * i + seed->right;
    s.first[k] = t->first[w];
    s.count[k] = t->count[w];
    s.x[k] = scifi_curve_x(&seed->curve, a->forward.z_layer[scifi_x_layer(i)] - z_reference);
  }
  SL_UNROLL for (uint32_t i = 0; i < ADDED_STEREO; i++) {
    const uint32_t layer = scifi_stereo_layer(i), w = SCIFI_LAYER_WINDOWS * i + 2 + seed->right;
    const float z = a->forward.z_layer[layer], x = scifi_curve_x(&seed->curve, z - z_reference);
    s.first[ADDED_X + i] = t->first[w];
    s.count[ADDED_X + i] = t->count[w];
    s.x[ADDED_X + i] = x + -a->forward.dxdy[layer] * scifi_shifted_y(&t->state, &t->shifts[i], z, x);
  }
  return s;
}

/* How many hits of each window are before the place that is looked for. */
static SL_DEVICE void bisect(const struct search *s, const float *x, uint32_t *before) {
  uint32_t most = 0, step = 1;
  SL_UNROLL for (uint32_t i = 0; i < ADDED; i++) {
    before[i] = 0;
    most = s->count[i] > most ? s->count[i] : most;
  }
  while (2 * step <= most) step *= 2;
  for (; step > 0; step /= 2) {
    SL_UNROLL for (uint32_t i = 0; i < ADDED; i++) {
      const uint32_t tried = before[i] + step;
      if (tried <= s->count[i] && x[s->first[i] + tried - 1] < s->x[i]) before[i] = tried;
    }
  }
}

/* A hit, and the square of its distance from where it should be. */
struct near_hit {
  uint32_t hit;
  float chi2;
};

/* The nearer one of the hits before and behind the place; of two that are as near, the one before. */
static SL_DEVICE struct near_hit nearer_hit(const struct search *s, const float *x, uint32_t i, uint32_t before) {
  struct near_hit found;
  found.hit = NO_HIT;
  found.chi2 = 0.0f;
  if (before > 0) {
    const float off = s->x[i] - x[s->first[i] + before - 1];
    found.hit = s->first[i] + before - 1;
    found.chi2 = off * off;
  }
  if (before < s->count[i]) {
    const float off = x[s->first[i] + before] - s->x[i];
    if (found.hit == NO_HIT || off * off < found.chi2) {
      found.hit = s->first[i] + before;
      found.chi2 = off * off;
    }
  }
  return found;
}

/* Hits of a candidate, as they are added. */
static SL_DEVICE void add_hit(uint16_t *hits, uint32_t *count, uint32_t hit) {
  if (hit != NO_HIT) hits[(*count)++] = (uint16_t)hit;
}

static SL_DEVICE void write_hits(const struct create_tracks_args *a, uint32_t candidate, const struct seed *seed,
                                 const uint32_t *added) {
  uint16_t *hits = a->candidates.hits + SCIFI_TRACK_HITS_MAX * (size_t)candidate;
  uint32_t count = 0;
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_STATIONS; k++) {
    add_hit(hits, &count, seed->odd ? added[k] : seed->hits[k]);
    add_hit(hits, &count, added[ADDED_X + 2 * k]);
    add_hit(hits, &count, added[ADDED_X + 2 * k + 1]);
    add_hit(hits, &count, seed->odd ? seed->hits[k] : added[k]);
  }
  a->candidates.hit_count[candidate] = (uint8_t)count;
  for (; count < SCIFI_TRACK_HITS_MAX; count++) hits[count] = 0;
}

static SL_DEVICE void grow(const struct create_tracks_args *a, const struct track *t, const float *x,
                           uint32_t candidate) {
  const struct seed seed = open_seed(a, t, x, a->words[candidate]);
  const struct search search = open_search(a, t, &seed);
  const float max_chi2_stereo = a->max_chi2_stereo * (sl_abs_f32(t->state.tx) + sl_abs_f32(t->state.ty));
  uint32_t before[ADDED], added[ADDED];
  float chi2_x = 0.0f, chi2_stereo = 0.0f;
  bisect(&search, x, before);
  SL_UNROLL for (uint32_t i = 0; i < ADDED; i++) {
    const struct near_hit found = nearer_hit(&search, x, i, before[i]);
    const uint32_t is_near = found.chi2 < (i < ADDED_X ? a->max_chi2_x : max_chi2_stereo);
    added[i] = is_near ? found.hit : NO_HIT;
    if (!is_near || found.hit == NO_HIT) continue;
    if (i < ADDED_X)
      chi2_x += found.chi2;
    else
      chi2_stereo += found.chi2;
  }
  write_hits(a, candidate, &seed, added);
  a->candidates.a[candidate] = seed.curve.a;
  a->candidates.b[candidate] = seed.curve.b;
  a->candidates.c[candidate] = seed.curve.c;
  a->candidates.r[candidate] = seed.curve.r;
  /* Sums of nothing are 0, also where the limit is. */
  a->candidates.quality[candidate] =
      (chi2_x > 0.0f ? chi2_x / a->max_chi2_x : 0.0f) + (chi2_stereo > 0.0f ? chi2_stereo / max_chi2_stereo : 0.0f);
}

SL_KERNEL(create_tracks_count, struct create_tracks_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t count = 0;
    for (uint32_t i = a.inputs.offsets[event] + threadIdx.x; i < a.inputs.offsets[event + 1]; i += blockDim.x)
      count += a.triplets.count[i];
    count = sl_block_sum_u32(count);
    if (threadIdx.x == 0) a.candidates.offsets[event] = count;
  }
}

/* The tracks and the triplets of an event's candidates. */
static SL_DEVICE void lay_out(const struct create_tracks_args *a, uint32_t event) {
  const uint32_t first = a->inputs.offsets[event], count = a->inputs.offsets[event + 1] - first;
  uint32_t begin = a->candidates.offsets[event];
  SL_FOR_BLOCK (i, count) {
    uint32_t total;
    const uint32_t triplets = i < count ? a->triplets.count[first + i] : 0u;
    const uint32_t to = begin + sl_block_exclusive_scan(triplets, &total);
    for (uint32_t k = 0; k < triplets; k++) {
      a->candidates.track[to + k] = i;
      a->words[to + k] = a->triplets.triplet[(size_t)(first + i) * SCIFI_TRIPLETS_MAX + k];
    }
    begin += total;
  }
}

SL_KERNEL(create_tracks_grow, struct create_tracks_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.inputs.offsets[event], begin = a.candidates.offsets[event];
    const uint32_t end = a.candidates.offsets[event + 1];
    const float *x = a.hits.x + a.hits.offsets[event];
    struct track t;
    if (begin == end) continue;
    lay_out(&a, event);
    __syncthreads();
    for (uint32_t c = begin + threadIdx.x; c < end; c += blockDim.x) {
      const uint32_t track = a.candidates.track[c];
      if (blockDim.x > 1 || c == begin || a.candidates.track[c - 1] != track) t = open_track(&a, first + track);
      grow(&a, &t, x, c);
    }
  }
}

static int run(const struct sl_launch *l, const struct create_tracks_args *a) {
  return SL_COUNT_SCAN_WRITE(l, create_tracks_count, create_tracks_grow, a->candidates, *a);
}

SL_ALGORITHM(create_tracks, "SciFi tracks that grow from triplets", 128, run);
