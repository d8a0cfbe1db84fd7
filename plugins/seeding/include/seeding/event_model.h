/* event_model.h: the collections of seeding and matching. Lengths in mm. The formulas are in the plugin's README.md. */
#ifndef SEEDING_EVENT_MODEL_H
#define SEEDING_EVENT_MODEL_H

#include "scifi/event_model.h"

/* Constants of the search for seeds (README.md, "Seeds"). Case 0 starts with hits in the first x layers of stations,
 * case 1 with hits in the second x layers. */
enum { SEED_CASES = 2, SEED_FITS = 4, SEED_FIT_NUMBERS = 9 };

/* Indices of `constants`. */
enum {
  SEED_Z_REFERENCE,              /* mm: origin of the polynomial in z */
  SEED_Z_END,                    /* mm: z of the states of seeds */
  SEED_D_RATIO,                  /* 1/mm: relative change of the curvature with z */
  SEED_TOLERANCE,                /* mm: for hits in addition to the first three */
  SEED_INVERSE_P,                /* coefficients of 1/p for powers 1 and 2 of x at z = 0 */
  SEED_QOP = SEED_INVERSE_P + 2, /* coefficients of the momentum of a seed for 1, tx^2, ty^2 and x^2 */
  SEED_CURVATURE = SEED_QOP + 4, /* expected curvature, towards x = 0, for powers 1 and 2 of |x| at z = 0 */
  SEED_CONSTANTS = SEED_CURVATURE + 2
};

/* Indices of the numbers of a case, in mm and MeV. f, m and l: first, middle and last layer; d = z - z_reference. */
enum {
  SEED_CASE_Z_FIRST,
  SEED_CASE_LENGTH,    /* z_l - z_f */
  SEED_CASE_SCALE,     /* x_l is about this factor times x_f */
  SEED_CASE_RANGE,     /* largest distance of x_l from it */
  SEED_CASE_CURVATURE, /* change of c per mm in the middle layer */
  SEED_CASE_LEAST, /* distance in the middle layer at any momentum: toward the side of x at z = 0; twice as much to the
                      other side */
  SEED_CASE_PER_P, /* mm MeV: distance in the middle layer times momentum */
  SEED_CASE_SLOPE, /* slope of the line through first and last hit, less b, per unit of c */
  SEED_CASE_X,     /* x of that line at z_reference, less a, per unit of c */
  SEED_CASE_FITS,  /* change of a, b and c per mm residual of the three further hits, by missing layer (0: none) */
  SEED_CASE_NUMBERS = SEED_CASE_FITS + SEED_FITS * SEED_FIT_NUMBERS
};

#define SEEDING_CONSTANTS_FIELDS(F)                                             \
  F(d, f32, ARRAY, "mm", "distance of the layer in z from the reference plane") \
  F(bend, f32, ARRAY, "mm2", "d^2 (1 + d_ratio d) of the layer")                \
  F(cases, f32, ARRAY, "", "numbers of the two search cases: 2 x 45")           \
  F(constants, f32, ARRAY, "", "coefficients of the formulas, 12 values")
SL_COLLECTION(seeding_constants, SEEDING_CONSTANTS_FIELDS, "constants of the search for seeds in the fibre tracker");

/* Tracks of hits in x layers of the lower or the upper half: x = a + b d + c d^2 (1 + d_ratio d), d = z - 8520 mm. They
 * are sorted by half, case, first, last and middle hit. The hits of a track are sorted by layer. */
#define SEED_XZ_TRACKS_FIELDS(F)                                                          \
  F(offsets, u32, OFFSETS, "", "first track of each event")                               \
  F(kind, u8, PER_ITEM, "", "bit 0: upper half; bit 1: case")                             \
  F(hit_count, u8, PER_ITEM, "", "number of hits, 5 or 6")                                \
  F(hits, u16, PER_ITEM_OF(6), "", "indices of the hits in the event; unused entries: 0") \
  F(a, f32, PER_ITEM, "mm", "x at 8520 mm")                                               \
  F(b, f32, PER_ITEM, "", "slope dx/dz at z = 8520 mm")                                   \
  F(c, f32, PER_ITEM, "1/mm", "curvature")                                                \
  F(score, f32, PER_ITEM, "mm2", "sum of squared residuals of the hits, with penalties; smaller is better")
SL_COLLECTION(seed_xz_tracks, SEED_XZ_TRACKS_FIELDS, "tracks in x layers of the fibre tracker");

/* Stereo hits of tracks in x layers, and the line y = y0 + ty d through them. Hits are sorted by layer. */
#define SEED_STEREO_FIELDS(F)                                                             \
  F(offsets, u32, OFFSETS, "", "first track of each event")                               \
  F(hit_count, u8, PER_ITEM, "", "number of stereo hits; 0: too few were found")          \
  F(hits, u16, PER_ITEM_OF(6), "", "indices of the hits in the event; unused entries: 0") \
  F(y, f32, PER_ITEM, "mm", "y at 8520 mm")                                               \
  F(ty, f32, PER_ITEM, "", "slope dy/dz")                                                 \
  F(chi2, f32, PER_ITEM, "mm2", "sum of squared residuals in y")
SL_COLLECTION(seed_stereo, SEED_STEREO_FIELDS, "stereo hits of tracks in x layers");

/* Tracks found in the fibre tracker alone. */
#define SEEDS_FIELDS(F)                                                                  \
  F(offsets, u32, OFFSETS, "", "first seed of each event")                               \
  F(hit_offsets, u32, ITEM_OFFSETS, "", "first hit of each seed")                        \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum, estimated in the fibre tracker") \
  SCIFI_TRACK_FIELDS(F)
SL_COLLECTION(seeds, SEEDS_FIELDS, "tracks in the fibre tracker");

/* Constants of the matching (README.md, "Matching"). */
enum { MATCH_Z_TERMS = 5, MATCH_BEND_TERMS = 8, MATCH_WEIGHT_COUNT = 4, MATCH_UT_WINDOW = 4 };
enum {
  MATCH_Z_END,                               /* mm: z of the states of seeds */
  MATCH_Z_Y,                                 /* mm: z at which y is compared */
  MATCH_DTX_MAX,                             /* largest difference of tx */
  MATCH_DTY_MAX,                             /* largest difference of ty */
  MATCH_DISTANCE_X_MAX,                      /* mm: largest distance in x */
  MATCH_DISTANCE_Y_MAX,                      /* mm: largest distance in y */
  MATCH_X_TOLERANCE,                         /* mm: constant term, and term per change of slope */
  MATCH_Y_TOLERANCE = MATCH_X_TOLERANCE + 2, /* mm: constant term, and term per slope */
  MATCH_WEIGHTS = MATCH_Y_TOLERANCE + 2,
  MATCH_Z_MAGNET = MATCH_WEIGHTS + MATCH_WEIGHT_COUNT, /* coefficients of the z at which a track bends */
  MATCH_BEND = MATCH_Z_MAGNET + MATCH_Z_TERMS,         /* MeV: coefficients of momentum times change of slope */
  /* UT search windows, half width in x: base (mm), increase per 1/MeV of |q/p|, least and largest value (mm). */
  MATCH_UT_BEND = MATCH_BEND + MATCH_BEND_TERMS,         /* 1/mm and MeV/mm: bend in the UT, constant and per q/p */
  MATCH_UT_Y_TOLERANCE = MATCH_UT_BEND + 2,              /* mm: tolerance in y beyond the end of a strip */
  MATCH_UT_LOOSE,                                        /* windows of the first hit, in layers 0, 1 and 2 */
  MATCH_UT_TIGHT = MATCH_UT_LOOSE + 3 * MATCH_UT_WINDOW, /* windows of further hits, in layers 1, 2 and 3 */
  MATCH_CONSTANTS = MATCH_UT_TIGHT + 3 * MATCH_UT_WINDOW
};

#define MATCHING_CONSTANTS_FIELDS(F) F(constants, f32, ARRAY, "", "coefficients of the formulas, 54 values")
SL_COLLECTION(matching_constants, MATCHING_CONSTANTS_FIELDS, "constants of the matching of VELO tracks and seeds");

#define SEED_MATCHES_FIELDS(F)                                             \
  F(offsets, u32, OFFSETS, "", "first match of each event")                \
  F(velo_track, u32, PER_ITEM, "", "index of the VELO track in the event") \
  F(seed, u32, PER_ITEM, "", "index of the seed in the event")             \
  F(chi2, f32, PER_ITEM, "", "chi2 of the match")                          \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum")                   \
  F(ghost, f32, PER_ITEM, "", "wrong-match probability; 0: no network")
SL_COLLECTION(seed_matches, SEED_MATCHES_FIELDS, "matches of VELO tracks and seeds");

#endif
