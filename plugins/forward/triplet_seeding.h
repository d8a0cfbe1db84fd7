/* triplet_seeding.h: arguments and geometry of forward.triplet_seeding, shared by its versions. Private to the plugin.
 */
#ifndef FORWARD_TRIPLET_SEEDING_H
#define FORWARD_TRIPLET_SEEDING_H

#include "forward_math.h"

#include <sluice/kernel.h>

#define SL_ARGS triplet_seeding_args
#define TRIPLET_SEEDING(M)                                                                                            \
  M(IN, inputs, forward_inputs, "offsets velo_track tx qop", "tracks at the end of the UT")                           \
  M(IN, windows, forward_windows, "first count", "search windows of the tracks")                                      \
  M(IN, end_states, track_states, "offsets x z tx", "states of all VELO tracks at the end of the VELO")               \
  M(IN, hits, scifi_hits, "offsets x", "hits of the fibre tracker")                                                   \
  M(IN, forward, forward_constants, "z_layer constants", "constants of tracks in the magnet and the fibre tracker")   \
  M(OUT, triplets, forward_triplets, "best triplets of the tracks", SL_SHARES_OFFSETS(inputs))                        \
  M(U32, max_triplets, 20, 1, 20, "", "largest number of triplets of a track")                                        \
  M(F32, max_chi2, 8.0, 0.0, 1e4, "mm2", "upper limit of the squared distance of the middle hit from the prediction") \
  M(F32, max_distance, 10.0, 0.0, 1e4, "mm",                                                                          \
    "without momentum: largest distance from the VELO track in the middle of the magnet")                             \
  M(F32, max_momentum, 5000.0, 0.0, 1e6, "MeV",                                                                       \
    "below this momentum, a track must bend in the magnet to the side to which it bends in the UT")
SL_ARGUMENTS(triplet_seeding, TRIPLET_SEEDING);

enum {
  SEED_KINDS = 2,
  WINDOW_HITS_MAX = 64, /* an index has 6 bits in a word */
  MIDDLE_BIT = 6,
  FIRST_BIT = 12,
  KIND_BIT = 18,
  SIDE_BIT = 19,
  CHI2_BIT = 32,
  LIST_KEYS = 128
};
static const uint64_t no_triplet = UINT64_MAX;
static const float far_away = 1e9f; /* mm */

/* A track: limits for the line through a first and a last hit. */
struct track {
  float velo_x, velo_tx; /* VELO track in the middle of the magnet */
  float range;           /* half width of the allowed range around it */
  float least_slope, most_slope;
  uint32_t is_known; /* 1: the momentum is known */
};

/* Geometry of a kind of triplet. */
struct kind {
  float lever, per_lever;          /* distance from the magnet to the first layer, and its reciprocal */
  float length;                    /* distance from the first layer to the last */
  float per_first, per_difference; /* middle hit: coefficients of x in the first layer, and of x_last - x_first */
};

/* Windows of the hits of a kind of triplet on one side. */
struct seed {
  uint32_t first, middle, last; /* first hit of each window, as indices: pointers into shared memory are slower */
  uint32_t first_count, middle_count, last_count;
  uint32_t word;
};

static SL_DEVICE struct track open_track(const struct triplet_seeding_args *a, uint32_t event, uint32_t item) {
  const float *c = a->forward.constants, *range = c + FORWARD_X_RANGE;
  const uint32_t state = a->end_states.offsets[event] + a->inputs.velo_track[item];
  const float qop = a->inputs.qop[item], size = sl_abs_f32(qop), tx = a->inputs.tx[item];
  struct track t;
  t.velo_tx = a->end_states.tx[state];
  t.velo_x = a->end_states.x[state] + t.velo_tx * (c[FORWARD_Z_MAGNET] - a->end_states.z[state]);
  t.is_known = qop != 0.0f ? 1u : 0u;
  t.range = range[0] + (range[1] - range[0]) * sl_min_f32(1.0f, size / c[FORWARD_X_RANGE_QOP]);
  if (!t.is_known) t.range = a->max_distance;
  const uint32_t is_slow = size * a->max_momentum > 1.0f;
  t.least_slope = is_slow && tx > t.velo_tx ? t.velo_tx : -far_away;
  t.most_slope = is_slow && tx < t.velo_tx ? t.velo_tx : far_away;
  return t;
}

/* Geometry of kind 0 (layers 0, 4 and 8) or 1 (3, 7 and 11). */
static SL_DEVICE struct kind open_kind(const struct triplet_seeding_args *a, uint32_t kind) {
  const float *z = a->forward.z_layer;
  const float z_first = z[forward_x_layer(kind)], z_middle = z[forward_x_layer(kind + 2)];
  const float sagitta = a->forward.constants[FORWARD_SAGITTA + kind];
  struct kind k;
  k.lever = z_first - a->forward.constants[FORWARD_Z_MAGNET];
  k.per_lever = 1.0f / k.lever;
  k.length = z[forward_x_layer(kind + 4)] - z_first;
  k.per_first = sagitta;
  k.per_difference = (z_middle + -z_first * sagitta) / k.length;
  return k;
}

/* Windows of a kind of triplet on one side. */
static SL_DEVICE struct seed open_seed(const struct triplet_seeding_args *a, uint32_t event, uint32_t item,
                                       uint32_t kind, uint32_t side) {
  const size_t window = (size_t)item * FORWARD_WINDOWS + FORWARD_LAYER_WINDOWS * kind + side;
  const uint16_t *first = a->windows.first + window, *count = a->windows.count + window;
  const uint32_t middle = 2 * FORWARD_LAYER_WINDOWS, last = 4 * FORWARD_LAYER_WINDOWS; /* offsets of the windows */
  const uint32_t hits = a->hits.offsets[event];
  struct seed s;
  s.first = hits + first[0];
  s.middle = hits + first[middle];
  s.last = hits + first[last];
  s.first_count = count[0] < WINDOW_HITS_MAX ? count[0] : WINDOW_HITS_MAX;
  s.middle_count = count[middle] < WINDOW_HITS_MAX ? count[middle] : WINDOW_HITS_MAX;
  s.last_count = count[last] < WINDOW_HITS_MAX ? count[last] : WINDOW_HITS_MAX;
  s.word = kind << KIND_BIT | side << SIDE_BIT;
  return s;
}

/* One x, or x of several first hits in a version that defines TRIPLET_NUMBERS and these functions. least_of and most_of
 * return b if a is not a number. */
#ifndef TRIPLET_NUMBERS
typedef float number;
static SL_DEVICE number least_of(number a, number b) { return sl_min_f32(a, b); }
static SL_DEVICE number most_of(number a, number b) { return sl_max_f32(a, b); }
static SL_DEVICE number number_of(float x) { return x; }
#endif

/* The slope, limited to [-1, 1]. */
static SL_DEVICE number bounded(number slope) { return least_of(number_of(1.0f), most_of(number_of(-1.0f), slope)); }

/* Distance in the magnet between the line with this slope through a first hit and its expected position near the VELO
 * track. `away`: x of the first hit minus x of the VELO track. */
static SL_DEVICE number miss_of(const float *c, number away, float lever, number slope) {
  const number t = bounded(slope);
  return away + -lever * slope + -(c[0] + t * (c[1] + t * (c[2] + t * c[3])));
}

struct bounds {
  number low, high;
};

/* Range of last hits for a first hit at x, from low (included) to high (excluded). With momentum: two Newton steps
 * towards the slopes at the limits of the range, both with the derivative at the first slope; the remaining error is
 * below 0.02 mm in the magnet for slopes up to 0.5. */
static SL_DEVICE struct bounds last_hits(const float *x_magnet, const struct track *t, const struct kind *k, number x) {
  const number away = x + -t->velo_x, slope = away * k->per_lever;
  number low = slope + -t->range * k->per_lever, high = slope + t->range * k->per_lever;
  if (t->is_known) {
    const number at = bounded(slope);
    const number per_slope = k->lever + (x_magnet[1] + at * (2.0f * x_magnet[2] + at * (3.0f * x_magnet[3])));
    const number step = 1.0f / per_slope, miss = miss_of(x_magnet, away, k->lever, slope);
    low = slope + (miss + -t->range) * step;
    high = slope + (miss + t->range) * step;
    low = low + (miss_of(x_magnet, away, k->lever, low) + -t->range) * step;
    high = high + (miss_of(x_magnet, away, k->lever, high) + t->range) * step;
  }
  struct bounds b;
  b.low = x + most_of(low, number_of(t->least_slope)) * k->length;
  b.high = x + least_of(high, number_of(t->most_slope)) * k->length;
  return b;
}

static SL_DEVICE number middle_x(const struct kind *k, number first_x, number last_x) {
  return k->per_first * first_x + k->per_difference * (last_x - first_x);
}

/* Version of `run` for one CPU thread (triplet_seeding.cpu.c). */
int triplet_seeding_tuned(const struct sl_launch *l, const void *args);

#endif
