/* event_model.h: what the SciFi plugin offers to others. Lengths in mm. The plugin's README.md has the detector and the
 * formats. */
#ifndef SCIFI_EVENT_MODEL_H
#define SCIFI_EVENT_MODEL_H

#include <sluice/plugin.h>

enum {
  SCIFI_STATIONS = 3,
  SCIFI_STATION_LAYERS = 4,
  SCIFI_LAYERS = SCIFI_STATIONS * SCIFI_STATION_LAYERS,
  SCIFI_LAYER_QUARTERS = 4,
  SCIFI_QUARTERS = SCIFI_LAYERS * SCIFI_LAYER_QUARTERS,
  SCIFI_MODULE_MATS = 4,
  SCIFI_MATS = 1024,
  SCIFI_MAT_SIPMS = 4,
  SCIFI_SIPM_CHANNELS = 128,
  SCIFI_DIE_CHANNELS = 64, /* two dies make a SiPM */

  /* Per-mat arrays are indexed by the bits of a channel from the mat on, less those of station 1, layer 0. */
  SCIFI_FIRST_MAT = 512,
  SCIFI_MAT_TABLE = 1536,

  SCIFI_QUARTER_BANKS = 5,
  SCIFI_BANKS = SCIFI_QUARTERS * SCIFI_QUARTER_BANKS,
  SCIFI_BANK_LINKS = 24,
  SCIFI_NOT_CONNECTED = 0x3800 /* instead of a link's first channel */
};

/* A channel is 20 bits: channel in its SiPM (from bit 0), SiPM (7), mat (9), module (11), quarter (14), layer (16),
 * station, from 1 (18). With SCIFI_LHCB_ID it is an LHCbID. */
enum {
  SCIFI_SIPM_BIT = 7,
  SCIFI_MAT_BIT = 9,
  SCIFI_MODULE_BIT = 11,
  SCIFI_QUARTER_BIT = 14,
  SCIFI_LAYER_BIT = 16,
  SCIFI_STATION_BIT = 18,
  SCIFI_CHANNEL_BITS = 20,
  SCIFI_LHCB_ID = 5 << 28
};

/* The arrays of scifi_geometry.bin, in its order. */
#define SCIFI_MAT_FIELDS(F)                                                              \
  F(mirror_x, f32, ARRAY, "mm", "of each mat: middle of the fibres' ends at the mirror") \
  F(mirror_y, f32, ARRAY, "mm", "likewise")                                              \
  F(mirror_z, f32, ARRAY, "mm", "likewise")                                              \
  F(direction_x, f32, ARRAY, "", "of each mat: where u points, across the fibres")       \
  F(direction_y, f32, ARRAY, "", "likewise")                                             \
  F(direction_z, f32, ARRAY, "", "likewise")                                             \
  F(u_begin, f32, ARRAY, "mm", "u where the first channel of the mat begins")            \
  F(half_pitch, f32, ARRAY, "mm", "half the width of a channel")                         \
  F(die_gap, f32, ARRAY, "mm", "between the two dies of a SiPM")                         \
  F(sipm_pitch, f32, ARRAY, "mm", "from one SiPM to the next")                           \
  F(dxdy, f32, ARRAY, "", "slope of the fibres")                                         \
  F(dzdy, f32, ARRAY, "", "likewise")                                                    \
  F(fibre_dy, f32, ARRAY, "mm", "from the fibres' mirror end to the other one, in y")

/* Constants. Of links that are not connected the first channel is SCIFI_NOT_CONNECTED. */
#define SCIFI_GEOMETRY_FIELDS(F)                                                            \
  F(format, u32, ARRAY, "", "of the file, 0 or 1; one value")                               \
  F(source_id, u32, ARRAY, "", "of each of the 240 banks, as in banks of versions 7 and 8") \
  F(link_channel, u32, ARRAY, "", "first channel of each of the 24 links of each bank")     \
  SCIFI_MAT_FIELDS(F)
SL_COLLECTION(scifi_geometry, SCIFI_GEOMETRY_FIELDS, "geometry of the fibre tracker, and what its banks' links are");

/* Half a layer, y < 0 or y > 0, is a zone: zone 2 l + 1 is the upper half of layer l. Hits of an event stand by zone,
 * in a zone by x, which no two share; those of different channels of a zone have different x. */
enum { SCIFI_ZONES = 2 * SCIFI_LAYERS, SCIFI_HITS_MAX = 65535 };
#define SCIFI_HITS_FIELDS(F)                                                                                 \
  F(offsets, u32, OFFSETS, "", "first hit of each event")                                                    \
  F(zone_first, u16, PER_EVENT_OF(25), "", "first hit of each zone, relative to the event's; then how many") \
  F(id, u32, PER_ITEM, "", "LHCbID")                                                                         \
  F(x, f32, PER_ITEM, "mm", "x at y = 0 of the line that the fibres are")                                    \
  F(z, f32, PER_ITEM, "mm", "its z there")                                                                   \
  F(pseudo_size, u8, PER_ITEM, "", "channels of a wide cluster, 4 of one of up to four, 0 of a piece of one")
SL_COLLECTION(scifi_hits, SCIFI_HITS_FIELDS, "SciFi hits by event and zone, sorted by x");

/* Where hits of a shorter list are in the whole one. */
#define SCIFI_HIT_PLACES_FIELDS(F)                        \
  F(offsets, u32, OFFSETS, "", "first hit of each event") \
  F(place, u16, PER_ITEM, "", "relative to the event's first hit in the whole list")
SL_COLLECTION(scifi_hit_places, SCIFI_HIT_PLACES_FIELDS, "which SciFi hits these are");

/* What the magnet does to tracks on their way to the fibre tracker, and what their shape is there: constants, whose
 * meaning README.md has ("Forward tracks"), as forward_math.h works with them. */
enum {
  SCIFI_KICK_POWERS = 5, /* of tx, and of ty: that of tx^i ty^j is at 5 i + j */
  SCIFI_KICK_TERMS = SCIFI_KICK_POWERS * SCIFI_KICK_POWERS,
  SCIFI_Y_TERMS = 18,
  SCIFI_BEND_EVEN_TERMS = 11, /* with powers 0, 2 and 4 of the change of direction */
  SCIFI_BEND_ODD_TERMS = 14,  /* with powers 1 and 3 */
  SCIFI_BEND_TERMS = 3 * SCIFI_BEND_EVEN_TERMS + 2 * SCIFI_BEND_ODD_TERMS,
  SCIFI_BORDER_TERMS = 8
};

/* Where numbers of `constants` stand. */
enum {
  SCIFI_Z_UT,                            /* mm: where tracks begin */
  SCIFI_Z_MAGNET,                        /* mm: where they are bent */
  SCIFI_Z_REFERENCE,                     /* mm: where the polynomial in z has its origin */
  SCIFI_Z_END,                           /* mm: where tracks leave */
  SCIFI_DZDY,                            /* slope of the layers */
  SCIFI_X_WINDOW,                        /* mm, mm MeV, mm: half a window, more for 1 / p, and more on one side */
  SCIFI_X_RANGE = SCIFI_X_WINDOW + 3,    /* mm: two, of the distance in the magnet, for a q/p of 0 */
  SCIFI_X_RANGE_QOP = SCIFI_X_RANGE + 2, /* 1 / MeV: and for this */
  SCIFI_SAGITTA,                         /* of the two kinds of triplets */
  SCIFI_X_MAGNET = SCIFI_SAGITTA + 2,    /* by powers 0 to 3 of the slope */
  SCIFI_D_RATIO = SCIFI_X_MAGNET + 4,    /* by powers 0 to 2 of the radius */
  SCIFI_BORDER = SCIFI_D_RATIO + 3,      /* half a window without momentum */
  SCIFI_FORWARD_CONSTANTS = SCIFI_BORDER + SCIFI_BORDER_TERMS
};

#define SCIFI_LOOKING_FORWARD_FIELDS(F)                                                    \
  F(z_layer, f32, ARRAY, "mm", "of each layer, at y = 0")                                  \
  F(dxdy, f32, ARRAY, "", "slope of its fibres")                                           \
  F(kick, f32, ARRAY, "", "change of dx/dz per q/p in MeV, by station: 3 x 25")            \
  F(y_shift, f32, ARRAY, "", "of y for a shift in x, by layer: 12 x 18")                   \
  F(bend, f32, ARRAY, "", "what the change of direction is divided by for q/p: 61 values") \
  F(constants, f32, ARRAY, "", "numbers of the formulas, 27 values")
SL_COLLECTION(scifi_looking_forward, SCIFI_LOOKING_FORWARD_FIELDS, "what the magnet does up to the fibre tracker");

/* Tracks to go on with behind the magnet. */
#define SCIFI_NO_TRACK UINT32_MAX
#define SCIFI_FORWARD_INPUTS_FIELDS(F)                                                             \
  F(offsets, u32, OFFSETS, "", "first track of each event")                                        \
  F(velo_track, u32, PER_ITEM, "", "the VELO track, by its place in the event")                    \
  F(ut_track, u32, PER_ITEM, "", "the VELO-UT track, by its place in the event; UINT32_MAX: none") \
  F(x, f32, PER_ITEM, "mm", "x where the UT ends, z = 2642 mm")                                    \
  F(y, f32, PER_ITEM, "mm", "y there")                                                             \
  F(tx, f32, PER_ITEM, "", "slope dx/dz there")                                                    \
  F(ty, f32, PER_ITEM, "", "slope dy/dz")                                                          \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum; 0: not known")
SL_COLLECTION(scifi_forward_inputs, SCIFI_FORWARD_INPUTS_FIELDS, "tracks to look for in the fibre tracker");

/* Where their hits may be. Of the i-th of the six x layers (0, 3, 4, 7, 8, 11), windows 4 i and 4 i + 1 are in it, and
 * 4 i + 2 and 4 i + 3 in the stereo layer beside it (1, 2, 5, 6, 9, 10); the second of each two is for tracks of
 * unknown momentum, on the right of the straight line, and the first one on its left. */
enum { SCIFI_X_LAYERS = 6, SCIFI_LAYER_WINDOWS = 4, SCIFI_WINDOWS = SCIFI_X_LAYERS * SCIFI_LAYER_WINDOWS };
#define SCIFI_WINDOWS_FIELDS(F)                                                                      \
  F(offsets, u32, OFFSETS, "", "first track of each event")                                          \
  F(first, u16, PER_ITEM_OF(24), "", "first hit of each window, relative to the event's; unused: 0") \
  F(count, u16, PER_ITEM_OF(24), "", "number of its hits")
SL_COLLECTION(scifi_windows, SCIFI_WINDOWS_FIELDS, "where SciFi hits of tracks may be");

/* Three hits in x layers of three stations, the best ones of each track, best first. */
enum { SCIFI_TRIPLETS_MAX = 20 };
#define SCIFI_TRIPLETS_FIELDS(F)                                                   \
  F(offsets, u32, OFFSETS, "", "first track of each event")                        \
  F(count, u8, PER_ITEM, "", "number of triplets")                                 \
  F(triplet, u32, PER_ITEM_OF(20), "",                                             \
    "bits 0 to 5, 6 to 11, 12 to 17: hits of the last, middle and first station, " \
    "by places in their windows; 18: which x layers; 19: right windows")
SL_COLLECTION(scifi_triplets, SCIFI_TRIPLETS_FIELDS, "triplets of SciFi hits of tracks");

/* Tracks behind the magnet: x = c + b s + a s^2 (1 + r s), s = z - 8520 mm. One grows from each triplet; they stand by
 * track, and those of a track in the order of its triplets. Hits stand by layer. */
enum { SCIFI_TRACK_HITS_MAX = SCIFI_LAYERS };
#define SCIFI_CURVE_FIELDS(F)                                               \
  F(hits, u16, PER_ITEM_OF(12), "", "their places in the event; unused: 0") \
  F(a, f32, PER_ITEM, "1/mm", "curvature")                                  \
  F(b, f32, PER_ITEM, "", "slope at 8520 mm")                               \
  F(c, f32, PER_ITEM, "mm", "x there")                                      \
  F(r, f32, PER_ITEM, "1/mm", "change of the curvature")
#define SCIFI_CANDIDATES_FIELDS(F)                                            \
  F(offsets, u32, OFFSETS, "", "first candidate of each event")               \
  F(track, u32, PER_ITEM, "", "of what it is one, by its place in the event") \
  F(hit_count, u8, PER_ITEM, "", "number of hits, or 0: there were too few")  \
  SCIFI_CURVE_FIELDS(F)                                                       \
  F(quality, f32, PER_ITEM, "", "sum of squares of what the hits that were added are off, each over its limit")
SL_COLLECTION(scifi_candidates, SCIFI_CANDIDATES_FIELDS, "tracks that grew from triplets");

#define SCIFI_BEST_CANDIDATES_FIELDS(F)                                            \
  F(offsets, u32, OFFSETS, "", "first track of each event")                        \
  F(hit_count, u8, PER_ITEM, "", "number of hits, or 0, where no track was found") \
  SCIFI_CURVE_FIELDS(F)                                                            \
  F(y, f32, PER_ITEM, "mm", "y at z = 0 of the line through its stereo hits")      \
  F(ty, f32, PER_ITEM, "", "its slope dy/dz")                                      \
  F(quality, f32, PER_ITEM, "", "what the best was chosen by: the less, the better")
SL_COLLECTION(scifi_best_candidates, SCIFI_BEST_CANDIDATES_FIELDS, "the best of each track");

/* The state of tracks behind the fibre tracker, and their hits in it. */
#define SCIFI_TRACK_FIELDS(F)                                          \
  F(x, f32, PER_ITEM, "mm", "x behind the fibre tracker, z = 9410 mm") \
  F(y, f32, PER_ITEM, "mm", "y there")                                 \
  F(tx, f32, PER_ITEM, "", "slope dx/dz there")                        \
  F(ty, f32, PER_ITEM, "", "slope dy/dz there")                        \
  F(hit, u16, PER_SUBITEM, "", "SciFi hit, by its place in the event") \
  F(hit_id, u32, PER_SUBITEM, "", "its LHCbID")

/* Tracks through the whole detector, however they were found. */
#define LONG_TRACKS_FIELDS(F)                                                                      \
  F(offsets, u32, OFFSETS, "", "first track of each event")                                        \
  F(hit_offsets, u32, ITEM_OFFSETS, "", "first SciFi hit of each track")                           \
  F(velo_track, u32, PER_ITEM, "", "the VELO track, by its place in the event")                    \
  F(ut_track, u32, PER_ITEM, "", "the VELO-UT track, by its place in the event; UINT32_MAX: none") \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum")                                           \
  SCIFI_TRACK_FIELDS(F)
SL_COLLECTION(long_tracks, LONG_TRACKS_FIELDS, "tracks from the VELO through the fibre tracker");

/* What seeds are found with, which is that of README.md ("Seeds"). Case 0 begins with hits in the first x layers of
 * stations, case 1 with those in the second. */
enum { SCIFI_SEED_CASES = 2, SCIFI_SEED_FITS = 4, SCIFI_SEED_FIT_NUMBERS = 9 };

/* Where numbers of `constants` stand. */
enum {
  SCIFI_SEED_Z_REFERENCE,                    /* mm: where the polynomial in z has its origin */
  SCIFI_SEED_Z_END,                          /* mm: where tracks leave */
  SCIFI_SEED_D_RATIO,                        /* 1/mm: change of the curvature */
  SCIFI_SEED_TOLERANCE,                      /* mm: of hits besides the first three */
  SCIFI_SEED_INVERSE_P,                      /* 1/p, by powers 1 and 2 of x at z = 0 */
  SCIFI_SEED_QOP = SCIFI_SEED_INVERSE_P + 2, /* of a seed: what goes with 1, tx^2, ty^2 and x^2 */
  SCIFI_SEED_CONSTANTS = SCIFI_SEED_QOP + 4
};

/* Where those of each case stand, mm and MeV. f, m and l: first, middle and last layer; d = z - z_reference. */
enum {
  SCIFI_CASE_Z_FIRST,
  SCIFI_CASE_LENGTH,    /* z_l - z_f */
  SCIFI_CASE_SCALE,     /* x_l is near this times x_f */
  SCIFI_CASE_RANGE,     /* within this */
  SCIFI_CASE_CURVATURE, /* for each mm in the middle */
  SCIFI_CASE_LEAST,     /* mm in the middle, at any momentum: to the side of x at z = 0; twice as much to the other */
  SCIFI_CASE_PER_P,     /* mm MeV there */
  SCIFI_CASE_SLOPE,     /* the line through first and last hit has this times the curvature more, in slope */
  SCIFI_CASE_X,         /* and in x at z_reference */
  SCIFI_CASE_FITS,      /* what a, b and c gain for each mm of the three further hits; no layer or one missing */
  SCIFI_CASE_NUMBERS = SCIFI_CASE_FITS + SCIFI_SEED_FITS * SCIFI_SEED_FIT_NUMBERS
};

#define SCIFI_SEEDING_CONSTANTS_FIELDS(F)                              \
  F(d, f32, ARRAY, "mm", "z of each layer, less that of reference")    \
  F(bend, f32, ARRAY, "mm2", "d^2 (1 + d_ratio d) of each layer")      \
  F(cases, f32, ARRAY, "", "numbers of the two ways to begin: 2 x 45") \
  F(constants, f32, ARRAY, "", "numbers of the formulas, 10 values")
SL_COLLECTION(scifi_seeding_constants, SCIFI_SEEDING_CONSTANTS_FIELDS, "what tracks in the fibre tracker look like");

/* Tracks of hits in x layers, of the lower or the upper half: x = a + b d + c d^2 (1 + d_ratio d), d = z - 8520 mm.
 * They stand by half and case, and in each by first, last and middle hit. Hits stand by layer. */
#define SCIFI_XZ_TRACKS_FIELDS(F)                                          \
  F(offsets, u32, OFFSETS, "", "first track of each event")                \
  F(kind, u8, PER_ITEM, "", "bit 0: upper half; bit 1: case")              \
  F(hit_count, u8, PER_ITEM, "", "number of hits, 5 or 6")                 \
  F(hits, u16, PER_ITEM_OF(6), "", "their places in the event; unused: 0") \
  F(a, f32, PER_ITEM, "mm", "x at 8520 mm")                                \
  F(b, f32, PER_ITEM, "", "slope there")                                   \
  F(c, f32, PER_ITEM, "1/mm", "curvature")                                 \
  F(score, f32, PER_ITEM, "mm2", "sum of squares of what hits are off, and penalties")
SL_COLLECTION(scifi_xz_tracks, SCIFI_XZ_TRACKS_FIELDS, "tracks in x layers of the fibre tracker");

/* Their hits in stereo layers, and the line y = y0 + ty d that these say. Hits stand by layer. */
enum { SCIFI_STEREO_LAYERS = (int)SCIFI_LAYERS - (int)SCIFI_X_LAYERS };
#define SCIFI_SEED_STEREO_FIELDS(F)                                          \
  F(offsets, u32, OFFSETS, "", "first track of each event")                  \
  F(hit_count, u8, PER_ITEM, "", "number of hits, or 0: there were too few") \
  F(hits, u16, PER_ITEM_OF(6), "", "their places in the event; unused: 0")   \
  F(y, f32, PER_ITEM, "mm", "y at 8520 mm")                                  \
  F(ty, f32, PER_ITEM, "", "slope dy/dz")                                    \
  F(chi2, f32, PER_ITEM, "mm2", "sum of squares of what hits are off in y")
SL_COLLECTION(scifi_seed_stereo, SCIFI_SEED_STEREO_FIELDS, "stereo hits of tracks in x layers");

/* Tracks in the fibre tracker alone. */
#define SCIFI_SEEDS_FIELDS(F)                                     \
  F(offsets, u32, OFFSETS, "", "first seed of each event")        \
  F(hit_offsets, u32, ITEM_OFFSETS, "", "first hit of each seed") \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum, roughly") \
  SCIFI_TRACK_FIELDS(F)
SL_COLLECTION(scifi_seeds, SCIFI_SEEDS_FIELDS, "tracks in the fibre tracker");

/* How VELO tracks and these are put together, with the meaning that README.md has ("Matching"): constants, and where
 * they stand. */
enum { SCIFI_MATCH_Z_TERMS = 5, SCIFI_MATCH_BEND_TERMS = 8, SCIFI_MATCH_WEIGHT_COUNT = 4, SCIFI_MATCH_UT_WINDOW = 4 };
enum {
  SCIFI_MATCH_Z_END,                                     /* mm: where the states of tracks in the fibre tracker are */
  SCIFI_MATCH_Z_Y,                                       /* mm: where tracks are compared in y */
  SCIFI_MATCH_DTX_MAX,                                   /* of the slopes' difference */
  SCIFI_MATCH_DTY_MAX,                                   /* likewise */
  SCIFI_MATCH_DISTANCE_X_MAX,                            /* mm */
  SCIFI_MATCH_DISTANCE_Y_MAX,                            /* mm */
  SCIFI_MATCH_X_TOLERANCE,                               /* mm: two, the second for a change of slope of 1 */
  SCIFI_MATCH_Y_TOLERANCE = SCIFI_MATCH_X_TOLERANCE + 2, /* mm: two, the second for a slope of 1 */
  SCIFI_MATCH_WEIGHTS = SCIFI_MATCH_Y_TOLERANCE + 2,
  SCIFI_MATCH_Z_MAGNET = SCIFI_MATCH_WEIGHTS + SCIFI_MATCH_WEIGHT_COUNT, /* where tracks are bent */
  SCIFI_MATCH_BEND = SCIFI_MATCH_Z_MAGNET + SCIFI_MATCH_Z_TERMS,         /* MeV: momentum times change of slope */
  /* In the UT. Half of a window in x: base, mm; so much more for 1 / MeV; the least, mm; the largest, mm. */
  SCIFI_MATCH_UT_BEND = SCIFI_MATCH_BEND + SCIFI_MATCH_BEND_TERMS, /* 1/mm and MeV/mm: what d^2 goes with, two */
  SCIFI_MATCH_UT_Y_TOLERANCE = SCIFI_MATCH_UT_BEND + 2,            /* mm: how far beyond a strip's end */
  SCIFI_MATCH_UT_LOOSE,                                            /* of a first hit, of layers 0, 1 and 2 */
  SCIFI_MATCH_UT_TIGHT = SCIFI_MATCH_UT_LOOSE + 3 * SCIFI_MATCH_UT_WINDOW, /* of further ones, of layers 1, 2 and 3 */
  SCIFI_MATCH_CONSTANTS = SCIFI_MATCH_UT_TIGHT + 3 * SCIFI_MATCH_UT_WINDOW
};

/* Where numbers of `network` stand (match_network.h). */
enum {
  SCIFI_MATCH_INPUT_COUNT = 11,
  SCIFI_MATCH_HIDDEN = 32,
  SCIFI_MATCH_NETWORK_BIASES = 0,                                                /* of hidden units */
  SCIFI_MATCH_NETWORK_WEIGHTS = SCIFI_MATCH_NETWORK_BIASES + SCIFI_MATCH_HIDDEN, /* of inputs, by input, then unit */
  SCIFI_MATCH_NETWORK_OUTPUTS = SCIFI_MATCH_NETWORK_WEIGHTS + SCIFI_MATCH_INPUT_COUNT * SCIFI_MATCH_HIDDEN,
  SCIFI_MATCH_NETWORK_OUTPUT_BIAS = SCIFI_MATCH_NETWORK_OUTPUTS + SCIFI_MATCH_HIDDEN,
  SCIFI_MATCH_NETWORK_IS_THERE, /* 1, or 0: there is none */
  SCIFI_MATCH_NETWORK_NUMBERS
};
#define SCIFI_MATCHING_CONSTANTS_FIELDS(F)                           \
  F(constants, f32, ARRAY, "", "numbers of the formulas, 54 values") \
  F(network, f32, ARRAY, "", "1 and the numbers of the network, or 0: 418 values")
SL_COLLECTION(scifi_matching_constants, SCIFI_MATCHING_CONSTANTS_FIELDS, "how VELO and SciFi tracks are matched");

#define SCIFI_MATCHES_FIELDS(F)                                                 \
  F(offsets, u32, OFFSETS, "", "first match of each event")                     \
  F(velo_track, u32, PER_ITEM, "", "the VELO track, by its place in the event") \
  F(seed, u32, PER_ITEM, "", "the seed, likewise")                              \
  F(chi2, f32, PER_ITEM, "", "how well they go together: the less, the better") \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum")
SL_COLLECTION(scifi_matches, SCIFI_MATCHES_FIELDS, "VELO tracks and tracks in the fibre tracker that are one");

#endif
