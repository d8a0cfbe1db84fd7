/* event_model.h: the collections of seeding and matching. Lengths in mm. The formulas are in the plugin's README.md. */
#ifndef SEEDING_EVENT_MODEL_H
#define SEEDING_EVENT_MODEL_H

#include "scifi/event_model.h"

/* Constants of the search for seeds (README.md, "Seeds"). Case 0 begins with hits in the first x layers of stations,
 * case 1 with hits in the second. */
enum { SEED_CASES = 2, SEED_FITS = 4, SEED_FIT_NUMBERS = 9 };

/* Where numbers of `constants` stand. */
enum {
  SEED_Z_REFERENCE,              /* mm: where the polynomial in z has its origin */
  SEED_Z_END,                    /* mm: where tracks leave */
  SEED_D_RATIO,                  /* 1/mm: change of the curvature */
  SEED_TOLERANCE,                /* mm: of hits besides the first three */
  SEED_INVERSE_P,                /* 1/p, by powers 1 and 2 of x at z = 0 */
  SEED_QOP = SEED_INVERSE_P + 2, /* of a seed: what goes with 1, tx^2, ty^2 and x^2 */
  SEED_CONSTANTS = SEED_QOP + 4
};

/* Where those of each case stand, mm and MeV. f, m and l: first, middle and last layer; d = z - z_reference. */
enum {
  SEED_CASE_Z_FIRST,
  SEED_CASE_LENGTH,    /* z_l - z_f */
  SEED_CASE_SCALE,     /* x_l is near this times x_f */
  SEED_CASE_RANGE,     /* within this */
  SEED_CASE_CURVATURE, /* for each mm in the middle */
  SEED_CASE_LEAST,     /* mm in the middle, at any momentum: to the side of x at z = 0; twice as much to the other */
  SEED_CASE_PER_P,     /* mm MeV there */
  SEED_CASE_SLOPE,     /* the line through first and last hit has this times the curvature more, in slope */
  SEED_CASE_X,         /* and in x at z_reference */
  SEED_CASE_FITS,      /* what a, b and c gain for each mm of the three further hits; no layer or one missing */
  SEED_CASE_NUMBERS = SEED_CASE_FITS + SEED_FITS * SEED_FIT_NUMBERS
};

#define SEEDING_CONSTANTS_FIELDS(F)                                    \
  F(d, f32, ARRAY, "mm", "z of each layer, less that of reference")    \
  F(bend, f32, ARRAY, "mm2", "d^2 (1 + d_ratio d) of each layer")      \
  F(cases, f32, ARRAY, "", "numbers of the two ways to begin: 2 x 45") \
  F(constants, f32, ARRAY, "", "numbers of the formulas, 10 values")
SL_COLLECTION(seeding_constants, SEEDING_CONSTANTS_FIELDS, "what tracks in the fibre tracker look like");

/* Tracks of hits in x layers, of the lower or the upper half: x = a + b d + c d^2 (1 + d_ratio d), d = z - 8520 mm.
 * They stand by half and case, and in each by first, last and middle hit. Hits stand by layer. */
#define SEED_XZ_TRACKS_FIELDS(F)                                           \
  F(offsets, u32, OFFSETS, "", "first track of each event")                \
  F(kind, u8, PER_ITEM, "", "bit 0: upper half; bit 1: case")              \
  F(hit_count, u8, PER_ITEM, "", "number of hits, 5 or 6")                 \
  F(hits, u16, PER_ITEM_OF(6), "", "their places in the event; unused: 0") \
  F(a, f32, PER_ITEM, "mm", "x at 8520 mm")                                \
  F(b, f32, PER_ITEM, "", "slope there")                                   \
  F(c, f32, PER_ITEM, "1/mm", "curvature")                                 \
  F(score, f32, PER_ITEM, "mm2", "sum of squares of what hits are off, and penalties")
SL_COLLECTION(seed_xz_tracks, SEED_XZ_TRACKS_FIELDS, "tracks in x layers of the fibre tracker");

/* Their hits in stereo layers, and the line y = y0 + ty d that these say. Hits stand by layer. */
#define SEED_STEREO_FIELDS(F)                                                \
  F(offsets, u32, OFFSETS, "", "first track of each event")                  \
  F(hit_count, u8, PER_ITEM, "", "number of hits, or 0: there were too few") \
  F(hits, u16, PER_ITEM_OF(6), "", "their places in the event; unused: 0")   \
  F(y, f32, PER_ITEM, "mm", "y at 8520 mm")                                  \
  F(ty, f32, PER_ITEM, "", "slope dy/dz")                                    \
  F(chi2, f32, PER_ITEM, "mm2", "sum of squares of what hits are off in y")
SL_COLLECTION(seed_stereo, SEED_STEREO_FIELDS, "stereo hits of tracks in x layers");

/* Tracks in the fibre tracker alone. */
#define SEEDS_FIELDS(F)                                           \
  F(offsets, u32, OFFSETS, "", "first seed of each event")        \
  F(hit_offsets, u32, ITEM_OFFSETS, "", "first hit of each seed") \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum, roughly") \
  SCIFI_TRACK_FIELDS(F)
SL_COLLECTION(seeds, SEEDS_FIELDS, "tracks in the fibre tracker");

/* Constants of the matching (README.md, "Matching"). */
enum { MATCH_Z_TERMS = 5, MATCH_BEND_TERMS = 8, MATCH_WEIGHT_COUNT = 4, MATCH_UT_WINDOW = 4 };
enum {
  MATCH_Z_END,                               /* mm: where the states of tracks in the fibre tracker are */
  MATCH_Z_Y,                                 /* mm: where tracks are compared in y */
  MATCH_DTX_MAX,                             /* of the slopes' difference */
  MATCH_DTY_MAX,                             /* likewise */
  MATCH_DISTANCE_X_MAX,                      /* mm */
  MATCH_DISTANCE_Y_MAX,                      /* mm */
  MATCH_X_TOLERANCE,                         /* mm: two, the second for a change of slope of 1 */
  MATCH_Y_TOLERANCE = MATCH_X_TOLERANCE + 2, /* mm: two, the second for a slope of 1 */
  MATCH_WEIGHTS = MATCH_Y_TOLERANCE + 2,
  MATCH_Z_MAGNET = MATCH_WEIGHTS + MATCH_WEIGHT_COUNT, /* where tracks are bent */
  MATCH_BEND = MATCH_Z_MAGNET + MATCH_Z_TERMS,         /* MeV: momentum times change of slope */
  /* In the UT. Half of a window in x: base, mm; so much more for 1 / MeV; the least, mm; the largest, mm. */
  MATCH_UT_BEND = MATCH_BEND + MATCH_BEND_TERMS,         /* 1/mm and MeV/mm: what d^2 goes with, two */
  MATCH_UT_Y_TOLERANCE = MATCH_UT_BEND + 2,              /* mm: how far beyond a strip's end */
  MATCH_UT_LOOSE,                                        /* of a first hit, of layers 0, 1 and 2 */
  MATCH_UT_TIGHT = MATCH_UT_LOOSE + 3 * MATCH_UT_WINDOW, /* of further ones, of layers 1, 2 and 3 */
  MATCH_CONSTANTS = MATCH_UT_TIGHT + 3 * MATCH_UT_WINDOW
};

/* Where numbers of `network` stand (match_network.h). */
enum {
  MATCH_INPUT_COUNT = 11,
  MATCH_HIDDEN = 32,
  MATCH_NETWORK_BIASES = 0,                                    /* of hidden units */
  MATCH_NETWORK_WEIGHTS = MATCH_NETWORK_BIASES + MATCH_HIDDEN, /* of inputs, by input, then unit */
  MATCH_NETWORK_OUTPUTS = MATCH_NETWORK_WEIGHTS + MATCH_INPUT_COUNT * MATCH_HIDDEN,
  MATCH_NETWORK_OUTPUT_BIAS = MATCH_NETWORK_OUTPUTS + MATCH_HIDDEN,
  MATCH_NETWORK_IS_THERE, /* 1, or 0: there is none */
  MATCH_NETWORK_NUMBERS
};
#define MATCHING_CONSTANTS_FIELDS(F)                                 \
  F(constants, f32, ARRAY, "", "numbers of the formulas, 54 values") \
  F(network, f32, ARRAY, "", "1 and the numbers of the network, or 0: 418 values")
SL_COLLECTION(matching_constants, MATCHING_CONSTANTS_FIELDS, "how VELO and SciFi tracks are matched");

#define SEED_MATCHES_FIELDS(F)                                                  \
  F(offsets, u32, OFFSETS, "", "first match of each event")                     \
  F(velo_track, u32, PER_ITEM, "", "the VELO track, by its place in the event") \
  F(seed, u32, PER_ITEM, "", "the seed, likewise")                              \
  F(chi2, f32, PER_ITEM, "", "how well they go together: the less, the better") \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum")
SL_COLLECTION(seed_matches, SEED_MATCHES_FIELDS, "VELO tracks and tracks in the fibre tracker that are one");

#endif
