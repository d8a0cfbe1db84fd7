/* event_model.h: the collections of the forward tracking. Lengths in mm. The formulas are in the plugin's README.md. */
#ifndef FORWARD_EVENT_MODEL_H
#define FORWARD_EVENT_MODEL_H

#include "scifi/event_model.h"

/* Constants of tracks in the magnet and in the fibre tracker (README.md, "Track model"). */
enum {
  FORWARD_KICK_POWERS = 5, /* powers of tx and of ty: the term tx^i ty^j has index 5 i + j */
  FORWARD_KICK_TERMS = FORWARD_KICK_POWERS * FORWARD_KICK_POWERS,
  FORWARD_Y_TERMS = 18,
  FORWARD_BEND_EVEN_TERMS = 11, /* terms with powers 0, 2 and 4 of the change of direction */
  FORWARD_BEND_ODD_TERMS = 14,  /* terms with powers 1 and 3 of the change of direction */
  FORWARD_BEND_TERMS = 3 * FORWARD_BEND_EVEN_TERMS + 2 * FORWARD_BEND_ODD_TERMS,
  FORWARD_BORDER_TERMS = 8
};

/* Indices of `constants`. */
enum {
  FORWARD_Z_UT,        /* mm: z of the input tracks */
  FORWARD_Z_MAGNET,    /* mm: z of the bend plane */
  FORWARD_Z_REFERENCE, /* mm: origin of the polynomial in z */
  FORWARD_Z_END,       /* mm: z of the output states */
  FORWARD_DZDY,        /* slope of the layers */
  FORWARD_X_WINDOW,    /* half width of a search window: mm; mm MeV per q/p; mm more on the side of the bend */
  FORWARD_X_RANGE =
      FORWARD_X_WINDOW + 3, /* mm: distance from the VELO track in the magnet, for q/p 0 and for FORWARD_X_RANGE_QOP */
  FORWARD_X_RANGE_QOP = FORWARD_X_RANGE + 2, /* 1/MeV: q/p of the second range */
  FORWARD_SAGITTA,                           /* for the two kinds of triplets */
  FORWARD_X_MAGNET = FORWARD_SAGITTA + 2,    /* coefficients for powers 0 to 3 of the slope */
  FORWARD_D_RATIO = FORWARD_X_MAGNET + 4,    /* coefficients for powers 0 to 2 of the radius */
  FORWARD_BORDER = FORWARD_D_RATIO + 3,      /* half width of a search window without momentum */
  FORWARD_CONSTANTS = FORWARD_BORDER + FORWARD_BORDER_TERMS
};

#define FORWARD_CONSTANTS_FIELDS(F)                                                                 \
  F(z_layer, f32, ARRAY, "mm", "z of the layer at y = 0")                                           \
  F(dxdy, f32, ARRAY, "", "slope dx/dy of the fibres of the layer")                                 \
  F(kick, f32, ARRAY, "", "change of dx/dz per q/p in MeV, by station: 3 x 25")                     \
  F(y_shift, f32, ARRAY, "", "shift of y for a shift in x, by layer: 12 x 18")                      \
  F(bend, f32, ARRAY, "", "coefficients of the ratio of the change of direction to q/p: 61 values") \
  F(constants, f32, ARRAY, "", "coefficients of the formulas, 27 values")
SL_COLLECTION(forward_constants, FORWARD_CONSTANTS_FIELDS, "constants of tracks in the magnet and the fibre tracker");

/* Tracks to extend through the magnet. */
#define FORWARD_NO_TRACK UINT32_MAX
#define FORWARD_INPUTS_FIELDS(F)                                                              \
  F(offsets, u32, OFFSETS, "", "first track of each event")                                   \
  F(velo_track, u32, PER_ITEM, "", "index of the VELO track in the event")                    \
  F(ut_track, u32, PER_ITEM, "", "index of the VELO-UT track in the event; UINT32_MAX: none") \
  F(x, f32, PER_ITEM, "mm", "x at the end of the UT, z = 2642 mm")                            \
  F(y, f32, PER_ITEM, "mm", "y at z = 2642 mm")                                               \
  F(tx, f32, PER_ITEM, "", "slope dx/dz at z = 2642 mm")                                      \
  F(ty, f32, PER_ITEM, "", "slope dy/dz")                                                     \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum; 0: unknown")
SL_COLLECTION(forward_inputs, FORWARD_INPUTS_FIELDS, "tracks to extend into the fibre tracker");

/* Search windows. The i-th of the six x layers (0, 3, 4, 7, 8, 11) has windows 4 i and 4 i + 1, and the neighbouring
 * stereo layer (1, 2, 5, 6, 9, 10) has windows 4 i + 2 and 4 i + 3. The second window of each pair is used for tracks
 * of unknown momentum: it is to the right of the straight line, and the first one to the left. */
enum { FORWARD_LAYER_WINDOWS = 4, FORWARD_WINDOWS = SCIFI_X_LAYERS * FORWARD_LAYER_WINDOWS };
#define FORWARD_WINDOWS_FIELDS(F)                                                                     \
  F(offsets, u32, OFFSETS, "", "first track of each event")                                           \
  F(first, u16, PER_ITEM_OF(24), "", "index in the event of the first hit of each window; unused: 0") \
  F(count, u16, PER_ITEM_OF(24), "", "number of hits of each window")
SL_COLLECTION(forward_windows, FORWARD_WINDOWS_FIELDS, "search windows for SciFi hits of tracks");

/* Triplets of hits in x layers of the three stations: the best of each track, best first. */
enum { FORWARD_TRIPLETS_MAX = 20 };
#define FORWARD_TRIPLETS_FIELDS(F)                                                 \
  F(offsets, u32, OFFSETS, "", "first track of each event")                        \
  F(count, u8, PER_ITEM, "", "number of triplets of the track")                    \
  F(triplet, u32, PER_ITEM_OF(20), "",                                             \
    "bits 0 to 5, 6 to 11, 12 to 17: hits of the last, middle and first station, " \
    "as indices in their windows; 18: second x layers; 19: right windows")
SL_COLLECTION(forward_triplets, FORWARD_TRIPLETS_FIELDS, "triplets of SciFi hits of tracks");

/* SciFi tracks: x = c + b s + a s^2 (1 + r s), s = z - 8520 mm. There is one candidate per triplet, in the order of
 * tracks and their triplets. Hits are sorted by layer. */
#define FORWARD_CURVE_FIELDS(F)                                                            \
  F(hits, u16, PER_ITEM_OF(12), "", "indices of the hits in the event; unused entries: 0") \
  F(a, f32, PER_ITEM, "1/mm", "curvature")                                                 \
  F(b, f32, PER_ITEM, "", "slope at 8520 mm")                                              \
  F(c, f32, PER_ITEM, "mm", "x at z = 8520 mm")                                            \
  F(r, f32, PER_ITEM, "1/mm", "relative change of the curvature with z")
#define FORWARD_CANDIDATES_FIELDS(F)                                      \
  F(offsets, u32, OFFSETS, "", "first candidate of each event")           \
  F(track, u32, PER_ITEM, "", "index of the track in the event")          \
  F(hit_count, u8, PER_ITEM, "", "number of hits; 0: too few were found") \
  FORWARD_CURVE_FIELDS(F)                                                 \
  F(quality, f32, PER_ITEM, "", "sum of chi2 of the added hits, each divided by its limit")
SL_COLLECTION(forward_candidates, FORWARD_CANDIDATES_FIELDS, "SciFi track candidates grown from triplets");

#define FORWARD_BEST_CANDIDATES_FIELDS(F)                                     \
  F(offsets, u32, OFFSETS, "", "first track of each event")                   \
  F(hit_count, u8, PER_ITEM, "", "number of hits; 0: no track was found")     \
  FORWARD_CURVE_FIELDS(F)                                                     \
  F(y, f32, PER_ITEM, "mm", "y at z = 0 of the line through its stereo hits") \
  F(ty, f32, PER_ITEM, "", "slope dy/dz of the line through its stereo hits") \
  F(quality, f32, PER_ITEM, "", "quality Q of the candidate; smaller is better")
SL_COLLECTION(forward_best_candidates, FORWARD_BEST_CANDIDATES_FIELDS, "best SciFi track candidate of each track");

#define FORWARD_GHOST_SCORES_FIELDS(F)                                                                           \
  F(offsets, u32, OFFSETS, "", "first track of each event")                                                      \
  F(shared_hits, u8, PER_ITEM, "", "number of SciFi hits that are on another track, too; 0: no track was found") \
  F(ghost, f32, PER_ITEM, "", "probability that the track is a ghost; 0: no track was found, or there is no network")
SL_COLLECTION(forward_ghost_scores, FORWARD_GHOST_SCORES_FIELDS, "ghost probabilities of best SciFi track candidates");

/* Tracks through the whole detector, from any search. */
#define LONG_TRACKS_FIELDS(F)                                                                                      \
  F(offsets, u32, OFFSETS, "", "first track of each event")                                                        \
  F(hit_offsets, u32, ITEM_OFFSETS, "", "first SciFi hit of each track")                                           \
  F(velo_track, u32, PER_ITEM, "", "index of the VELO track in the event")                                         \
  F(ut_track, u32, PER_ITEM, "", "index of the VELO-UT track in the event; UINT32_MAX: none")                      \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum")                                                           \
  F(ghost, f32, PER_ITEM, "", "probability of the network of the search that the track is a ghost; 0: no network") \
  SCIFI_TRACK_FIELDS(F)
SL_COLLECTION(long_tracks, LONG_TRACKS_FIELDS, "tracks from the VELO through the fibre tracker");

#endif
