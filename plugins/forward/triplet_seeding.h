/* triplet_seeding.h: what the versions of forward.triplet_seeding share. Private to the plugin. */
#ifndef FORWARD_TRIPLET_SEEDING_H
#define FORWARD_TRIPLET_SEEDING_H

#include "forward_math.h"

#include <sluice/kernel.h>

#define SL_ARGS triplet_seeding_args
#define TRIPLET_SEEDING(M)                                                                                    \
  M(IN, inputs, forward_inputs, "offsets velo_track tx qop", "tracks to search for")                          \
  M(IN, windows, forward_windows, "first count", "where to search")                                           \
  M(IN, end_states, track_states, "offsets x z tx", "of all VELO tracks")                                     \
  M(IN, hits, scifi_hits, "offsets x", "the hits that the windows speak of")                                  \
  M(IN, forward, forward_constants, "z_layer constants", "what the magnet does")                              \
  M(OUT, triplets, forward_triplets, "for each track", SL_SHARES_OFFSETS(inputs))                             \
  M(U32, max_triplets, 20, 1, 20, "", "triplets of a track that are kept")                                    \
  M(F32, max_chi2, 8.0, 0.0, 1e4, "mm2", "square of the distance of the middle hit from where it should be")  \
  M(F32, max_distance, 10.0, 0.0, 1e4, "mm", "without momentum: from the VELO track, in the magnet's middle") \
  M(F32, max_momentum, 5000.0, 0.0, 1e6, "MeV", "tracks below it bend behind the UT to the side to which before")
SL_ARGUMENTS(triplet_seeding, TRIPLET_SEEDING);

enum {
  SEED_KINDS = 2,
  WINDOW_HITS_MAX = 64, /* 6 bits of a word */
  MIDDLE_BIT = 6,
  FIRST_BIT = 12,
  KIND_BIT = 18,
  SIDE_BIT = 19,
  CHI2_BIT = 32,
  LIST_KEYS = 128
};
static const uint64_t no_triplet = UINT64_MAX;
static const float far_away = 1e9f; /* mm */

/* A track: where the line through a first and a last hit may pass the magnet. */
struct track {
  float velo_x, velo_tx; /* of the VELO's line in the magnet's middle */
  float range;           /* half of the allowed distance from there */
  float least_slope, most_slope;
  uint32_t is_known; /* 1: its momentum is */
};

/* What there is to know of the layers that a kind of triplet is of. */
struct kind {
  float lever, per_lever;          /* from the magnet to the first layer */
  float length;                    /* from the first layer to the last */
  float per_first, per_difference; /* where the middle hit is for x in the first layer and the difference of the last */
};

/* Which hits a triplet is made of. */
struct seed {
  uint32_t first, middle, last; /* where the windows' hits begin: numbers, since pointers in shared memory are slower */
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

/* Of kind 0 (layers 0, 4 and 8) or 1 (3, 7 and 11). */
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

/* Of a kind, in the windows on a side. */
static SL_DEVICE struct seed open_seed(const struct triplet_seeding_args *a, uint32_t event, uint32_t item,
                                       uint32_t kind, uint32_t side) {
  const size_t place = (size_t)item * FORWARD_WINDOWS + FORWARD_LAYER_WINDOWS * kind + side;
  const uint16_t *first = a->windows.first + place, *count = a->windows.count + place;
  const uint32_t middle = 2 * FORWARD_LAYER_WINDOWS, last = 4 * FORWARD_LAYER_WINDOWS; /* windows further on */
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

/* One x; or those of several first hits, where a version has defined TRIPLET_NUMBERS and these itself. least_of gives b
 * where a is not a number, and most_of too. */
#ifndef TRIPLET_NUMBERS
typedef float number;
static SL_DEVICE number least_of(number a, number b) { return sl_min_f32(a, b); }
static SL_DEVICE number most_of(number a, number b) { return sl_max_f32(a, b); }
static SL_DEVICE number number_of(float x) { return x; }
#endif

/* The slope, or the end of [-1, 1] that it is beyond. */
static SL_DEVICE number bounded(number slope) { return least_of(number_of(1.0f), most_of(number_of(-1.0f), slope)); }

/* How far the line of this slope from x in the first layer is from the VELO track in the magnet, beyond where it should
 * be. `away`: x less that of the VELO track. */
static SL_DEVICE number miss_of(const float *c, number away, float lever, number slope) {
  const number t = bounded(slope);
  return away + -lever * slope + -(c[0] + t * (c[1] + t * (c[2] + t * c[3])));
}

struct bounds {
  number low, high;
};

/* Where the last hit may be for a first one at x: from low on, and before high. With a momentum in two steps towards
 * the slopes at which the track is off by the range, both with the derivative at the first slope; what they leave is
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

/* As `run`, where a block is one thread (triplet_seeding.cpu.c). */
int triplet_seeding_tuned(const struct sl_launch *l, const void *args);

#endif
