/* event_model.h: the collections of the forward tracking. Lengths in mm. The formulas are in the plugin's README.md. */
#ifndef FORWARD_EVENT_MODEL_H
#define FORWARD_EVENT_MODEL_H

#include "scifi/event_model.h"

/* Constants of tracks in the magnet and in the fibre tracker (README.md, "What the magnet does"). */
enum {
  FORWARD_KICK_POWERS = 5, /* of tx, and of ty: that of tx^i ty^j is at 5 i + j */
  FORWARD_KICK_TERMS = FORWARD_KICK_POWERS * FORWARD_KICK_POWERS,
  FORWARD_Y_TERMS = 18,
  FORWARD_BEND_EVEN_TERMS = 11, /* with powers 0, 2 and 4 of the change of direction */
  FORWARD_BEND_ODD_TERMS = 14,  /* with powers 1 and 3 */
  FORWARD_BEND_TERMS = 3 * FORWARD_BEND_EVEN_TERMS + 2 * FORWARD_BEND_ODD_TERMS,
  FORWARD_BORDER_TERMS = 8
};

/* Where numbers of `constants` stand. */
enum {
  FORWARD_Z_UT,                              /* mm: where tracks begin */
  FORWARD_Z_MAGNET,                          /* mm: where they are bent */
  FORWARD_Z_REFERENCE,                       /* mm: where the polynomial in z has its origin */
  FORWARD_Z_END,                             /* mm: where tracks leave */
  FORWARD_DZDY,                              /* slope of the layers */
  FORWARD_X_WINDOW,                          /* mm, mm MeV, mm: half a window, more for 1 / p, and more on one side */
  FORWARD_X_RANGE = FORWARD_X_WINDOW + 3,    /* mm: two, of the distance in the magnet, for a q/p of 0 */
  FORWARD_X_RANGE_QOP = FORWARD_X_RANGE + 2, /* 1 / MeV: and for this */
  FORWARD_SAGITTA,                           /* of the two kinds of triplets */
  FORWARD_X_MAGNET = FORWARD_SAGITTA + 2,    /* by powers 0 to 3 of the slope */
  FORWARD_D_RATIO = FORWARD_X_MAGNET + 4,    /* by powers 0 to 2 of the radius */
  FORWARD_BORDER = FORWARD_D_RATIO + 3,      /* half a window without momentum */
  FORWARD_CONSTANTS = FORWARD_BORDER + FORWARD_BORDER_TERMS
};

#define FORWARD_CONSTANTS_FIELDS(F)                                                        \
  F(z_layer, f32, ARRAY, "mm", "of each layer, at y = 0")                                  \
  F(dxdy, f32, ARRAY, "", "slope of its fibres")                                           \
  F(kick, f32, ARRAY, "", "change of dx/dz per q/p in MeV, by station: 3 x 25")            \
  F(y_shift, f32, ARRAY, "", "of y for a shift in x, by layer: 12 x 18")                   \
  F(bend, f32, ARRAY, "", "what the change of direction is divided by for q/p: 61 values") \
  F(constants, f32, ARRAY, "", "numbers of the formulas, 27 values")
SL_COLLECTION(forward_constants, FORWARD_CONSTANTS_FIELDS, "what the magnet does up to the fibre tracker");

/* Tracks to go on with behind the magnet. */
#define FORWARD_NO_TRACK UINT32_MAX
#define FORWARD_INPUTS_FIELDS(F)                                                                   \
  F(offsets, u32, OFFSETS, "", "first track of each event")                                        \
  F(velo_track, u32, PER_ITEM, "", "the VELO track, by its place in the event")                    \
  F(ut_track, u32, PER_ITEM, "", "the VELO-UT track, by its place in the event; UINT32_MAX: none") \
  F(x, f32, PER_ITEM, "mm", "x where the UT ends, z = 2642 mm")                                    \
  F(y, f32, PER_ITEM, "mm", "y there")                                                             \
  F(tx, f32, PER_ITEM, "", "slope dx/dz there")                                                    \
  F(ty, f32, PER_ITEM, "", "slope dy/dz")                                                          \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum; 0: not known")
SL_COLLECTION(forward_inputs, FORWARD_INPUTS_FIELDS, "tracks to look for in the fibre tracker");

/* Where their hits may be. Of the i-th of the six x layers (0, 3, 4, 7, 8, 11), windows 4 i and 4 i + 1 are in it, and
 * 4 i + 2 and 4 i + 3 in the stereo layer beside it (1, 2, 5, 6, 9, 10); the second of each two is for tracks of
 * unknown momentum, on the right of the straight line, and the first one on its left. */
enum { FORWARD_LAYER_WINDOWS = 4, FORWARD_WINDOWS = SCIFI_X_LAYERS * FORWARD_LAYER_WINDOWS };
#define FORWARD_WINDOWS_FIELDS(F)                                                                    \
  F(offsets, u32, OFFSETS, "", "first track of each event")                                          \
  F(first, u16, PER_ITEM_OF(24), "", "first hit of each window, relative to the event's; unused: 0") \
  F(count, u16, PER_ITEM_OF(24), "", "number of its hits")
SL_COLLECTION(forward_windows, FORWARD_WINDOWS_FIELDS, "where SciFi hits of tracks may be");

/* Three hits in x layers of three stations, the best ones of each track, best first. */
enum { FORWARD_TRIPLETS_MAX = 20 };
#define FORWARD_TRIPLETS_FIELDS(F)                                                 \
  F(offsets, u32, OFFSETS, "", "first track of each event")                        \
  F(count, u8, PER_ITEM, "", "number of triplets")                                 \
  F(triplet, u32, PER_ITEM_OF(20), "",                                             \
    "bits 0 to 5, 6 to 11, 12 to 17: hits of the last, middle and first station, " \
    "by places in their windows; 18: which x layers; 19: right windows")
SL_COLLECTION(forward_triplets, FORWARD_TRIPLETS_FIELDS, "triplets of SciFi hits of tracks");

/* Tracks behind the magnet: x = c + b s + a s^2 (1 + r s), s = z - 8520 mm. One grows from each triplet; they stand by
 * track, and those of a track in the order of its triplets. Hits stand by layer. */
#define FORWARD_CURVE_FIELDS(F)                                             \
  F(hits, u16, PER_ITEM_OF(12), "", "their places in the event; unused: 0") \
  F(a, f32, PER_ITEM, "1/mm", "curvature")                                  \
  F(b, f32, PER_ITEM, "", "slope at 8520 mm")                               \
  F(c, f32, PER_ITEM, "mm", "x there")                                      \
  F(r, f32, PER_ITEM, "1/mm", "change of the curvature")
#define FORWARD_CANDIDATES_FIELDS(F)                                          \
  F(offsets, u32, OFFSETS, "", "first candidate of each event")               \
  F(track, u32, PER_ITEM, "", "of what it is one, by its place in the event") \
  F(hit_count, u8, PER_ITEM, "", "number of hits, or 0: there were too few")  \
  FORWARD_CURVE_FIELDS(F)                                                     \
  F(quality, f32, PER_ITEM, "", "sum of squares of what the hits that were added are off, each over its limit")
SL_COLLECTION(forward_candidates, FORWARD_CANDIDATES_FIELDS, "tracks that grew from triplets");

#define FORWARD_BEST_CANDIDATES_FIELDS(F)                                          \
  F(offsets, u32, OFFSETS, "", "first track of each event")                        \
  F(hit_count, u8, PER_ITEM, "", "number of hits, or 0, where no track was found") \
  FORWARD_CURVE_FIELDS(F)                                                          \
  F(y, f32, PER_ITEM, "mm", "y at z = 0 of the line through its stereo hits")      \
  F(ty, f32, PER_ITEM, "", "its slope dy/dz")                                      \
  F(quality, f32, PER_ITEM, "", "what the best was chosen by: the less, the better")
SL_COLLECTION(forward_best_candidates, FORWARD_BEST_CANDIDATES_FIELDS, "the best of each track");

/* Tracks through the whole detector, however they were found. */
#define LONG_TRACKS_FIELDS(F)                                                                      \
  F(offsets, u32, OFFSETS, "", "first track of each event")                                        \
  F(hit_offsets, u32, ITEM_OFFSETS, "", "first SciFi hit of each track")                           \
  F(velo_track, u32, PER_ITEM, "", "the VELO track, by its place in the event")                    \
  F(ut_track, u32, PER_ITEM, "", "the VELO-UT track, by its place in the event; UINT32_MAX: none") \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum")                                           \
  SCIFI_TRACK_FIELDS(F)
SL_COLLECTION(long_tracks, LONG_TRACKS_FIELDS, "tracks from the VELO through the fibre tracker");

#endif
