/* event_model.h: collections of the UT plugin. Lengths in mm. Detector and formats are described in the README.md of
 * the plugin. */
#ifndef UT_EVENT_MODEL_H
#define UT_EVENT_MODEL_H

#include <sluice/plugin.h>

enum {
  UT_LAYERS = 4,
  UT_SIDES = 2,
  UT_SECTORS = 1048,
  UT_SECTOR_STRIPS = 512,
  UT_BOARDS = 240,
  UT_BOARD_LANES = 6,
  UT_LANES = UT_BOARDS * UT_BOARD_LANES,
  UT_CHANNEL_TYPE = 2, /* type of a lane in use */
  UT_LAYER_BIT = 18    /* lower one of the two bits of the layer in an LHCbID */
};

/* Sizes of the magnet tables. Deflections: |dy/dz| of a straight track in steps of 0.01, by layer. Field integrals:
 * dy/dz (fastest), z of the origin, z in the VELO. */
enum {
  UT_DEFLECTION_BINS = 31,
  UT_DEFLECTIONS = UT_DEFLECTION_BINS * UT_LAYERS,
  UT_INTEGRAL_SLOPES = 31,
  UT_INTEGRAL_ORIGINS = 11,
  UT_INTEGRAL_DEPTHS = 11,
  UT_INTEGRALS = UT_INTEGRAL_SLOPES * UT_INTEGRAL_ORIGINS * UT_INTEGRAL_DEPTHS
};

/* Constants. Byte layout of the files: README.md, "The detector". */
#define UT_SECTOR_FIELDS(F)                                                                                 \
  F(first_strip, u32, ARRAY, "", "number of the first strip of each of the 1048 sectors")                   \
  F(pitch, f32, ARRAY, "mm", "distance between two strips")                                                 \
  F(dy, f32, ARRAY, "mm", "length of a strip in y")                                                         \
  F(dx_di, f32, ARRAY, "mm", "difference of x at y = 0 between a strip and the next one")                   \
  F(dy_di, f32, ARRAY, "mm", "difference of y of the lower end between a strip and the next one")           \
  F(dz_di, f32, ARRAY, "mm", "difference of z between a strip and the next one")                            \
  F(x0, f32, ARRAY, "mm", "x of the first strip, extended to y = 0")                                        \
  F(y0, f32, ARRAY, "mm", "y of the lower end of the first strip")                                          \
  F(z0, f32, ARRAY, "mm", "z of the first strip; negative if strips count backwards in banks of version 4") \
  F(cosine, f32, ARRAY, "", "cosine of the angle between strips and the y axis")

#define UT_BOARD_FIELDS(F)                                                                              \
  F(board_strips, u32, ARRAY, "", "strips per sector of each of 240 boards; 0: there is no such board") \
  F(lane_sector, u32, ARRAY, "", "sector within its module (0 or 1) of each lane, by 6 x board + lane") \
  F(lane_module, u32, ARRAY, "", "module of each lane, 0 to 7 from below")                              \
  F(lane_face, u32, ARRAY, "", "face of the stave of each lane, 0 or 1")                                \
  F(lane_stave, u32, ARRAY, "", "stave of each lane, counted from the beam")                            \
  F(lane_layer, u32, ARRAY, "", "layer of each lane")                                                   \
  F(lane_side, u32, ARRAY, "", "side of each lane: 0: x < 0, 1: x > 0")                                 \
  F(lane_type, u32, ARRAY, "", "type of each lane: 2, or 0 if nothing is connected")                    \
  F(lane_channel, u32, ARRAY, "", "LHCb channel of the first strip of each lane")                       \
  F(lane_index, u32, ARRAY, "", "index of the sector of each lane; 1048: nothing is connected")

#define UT_GEOMETRY_FIELDS(F) UT_SECTOR_FIELDS(F) UT_BOARD_FIELDS(F)
SL_COLLECTION(ut_geometry, UT_GEOMETRY_FIELDS, "UT sectors and readout boards");

/* Indices of the constants of the formulas (README.md, "Tracks"). */
enum {
  UT_DISTANCE_TO_MOMENTUM,                      /* 1 / (MeV mm) */
  UT_KICK_TO_MOMENTUM,                          /* |q/p| per kick over field integral, 1 / MeV */
  UT_FIRST_KICK_Z,                              /* mm: z of the magnet in the first fit */
  UT_SECOND_KICK_Z,                             /* mm: z of the magnet in the second fit: powers 0, 2, 4 of dy/dz */
  UT_KICK_ERRORS = UT_SECOND_KICK_Z + 3,        /* mm: two errors of the VELO track at the magnet */
  UT_KICK_ERRORS_PER_P = UT_KICK_ERRORS + 2,    /* mm MeV: increase of these errors with |q/p| */
  UT_DISCRIMINANT_3 = UT_KICK_ERRORS_PER_P + 2, /* 3 hits: coefficients of 1, ln p, ln pt, ln chi2 */
  UT_DISCRIMINANT_4 = UT_DISCRIMINANT_3 + 4,    /* 4 hits: coefficients of 1, ln p, ln pt, ln chi2 */
  UT_FORMULA_CONSTANTS = UT_DISCRIMINANT_4 + 4
};

#define UT_MAGNET_TABLES_FIELDS(F)                                                                    \
  F(deflection, f32, ARRAY, "", "deflection by the magnet, by |dy/dz| (31 bins) and layer (fastest)") \
  F(field_integral, f32, ARRAY, "",                                                                   \
    "field integral by z in the VELO (11), z of the origin (11) and dy/dz (31, fastest)")             \
  F(constants, f32, ARRAY, "", "constants of the momentum formulas, 19 values")
SL_COLLECTION(ut_magnet_tables, UT_MAGNET_TABLES_FIELDS, "effect of the magnetic field on tracks up to the UT");

/* A group: sectors of a layer that begin at about the same x, one above the other. A track can have hits in a few
 * groups of a layer only. */
enum {
  UT_GROUPS_MAX = 127,
  UT_NO_GROUP = 255, /* nothing is connected to the lane */
  UT_HITS_MAX = 32767
};

#define UT_SECTOR_GROUPS_FIELDS(F)                                                                       \
  F(lane_sector, u16, ARRAY, "", "sector of each lane, by 6 x board + lane; 1048: nothing is connected") \
  F(lane_group, u8, ARRAY, "", "group of the sector of each lane; 255: nothing is connected")            \
  F(layer_first, u32, ARRAY, "", "first group of each of the four layers; then the number of groups")    \
  F(x, f32, ARRAY, "mm", "smallest x0 of the sectors of each group; ascends within a layer")             \
  F(x_least, f32, ARRAY, "mm", "smallest x at y = 0 of the strips of each group")                        \
  F(x_most, f32, ARRAY, "mm", "largest x at y = 0 of the strips of each group")                          \
  F(length, f32, ARRAY, "mm", "length in y of the longest strip of each group")                          \
  F(layer_z, f32, ARRAY, "mm", "mean z of the sectors of each layer")                                    \
  F(layer_depth, f32, ARRAY, "mm", "largest distance in z of a sector from layer_z, by layer")           \
  F(layer_slope, f32, ARRAY, "", "dx/dy of the strips of each layer")
SL_COLLECTION(ut_sector_groups, UT_SECTOR_GROUPS_FIELDS, "UT sectors by layer and x");

/* Hits by group and, in a group, by (y, id); ids are unique. */
#define UT_HITS_FIELDS(F)                                                         \
  F(offsets, u32, OFFSETS, "", "first hit of each event")                         \
  F(group_first, u16, PER_EVENT_OF(128), "",                                      \
    "index of the first hit of each group in the event; then the number of hits") \
  F(id, u32, PER_ITEM, "", "LHCbID")                                              \
  F(x, f32, PER_ITEM, "mm", "x of the strip, extended to y = 0")                  \
  F(y, f32, PER_ITEM, "mm", "y of the lower end of the strip")                    \
  F(y_end, f32, PER_ITEM, "mm", "y of the upper end of the strip")                \
  F(z, f32, PER_ITEM, "mm", "z of the strip")                                     \
  F(sector, u16, PER_ITEM, "", "index of the sector of the strip in the geometry")
SL_COLLECTION(ut_hits, UT_HITS_FIELDS, "UT hits by event and group, sorted by y");

/* VELO tracks that are searched for in the UT. */
#define UT_SELECTED_TRACKS_FIELDS(F)                                 \
  F(offsets, u32, OFFSETS, "", "first selected track of each event") \
  F(track, u32, PER_ITEM, "", "index of the VELO track in the event")
SL_COLLECTION(ut_selected_tracks, UT_SELECTED_TRACKS_FIELDS, "VELO tracks that may have hits in the UT");

/* Search windows: for each layer up to five groups, in the order: the group that the straight line crosses, then left,
 * right, left and right of it. A window spans the first to the last compatible hit of the group; hits in between may be
 * incompatible. Windows with hits come first; window w of layer l has the index 5 l + w. */
enum { UT_LAYER_WINDOWS = 5, UT_WINDOWS = UT_LAYER_WINDOWS * UT_LAYERS };
#define UT_WINDOWS_FIELDS(F)                                                                                  \
  F(offsets, u32, OFFSETS, "", "first selected track of each event")                                          \
  F(first, u16, PER_ITEM_OF(20), "", "index of the first hit of each window in the event; unused windows: 0") \
  F(count, u16, PER_ITEM_OF(20), "", "number of hits of each window")                                         \
  F(hits, u16, PER_ITEM_OF(4), "", "number of hits of all windows of each layer")
SL_COLLECTION(ut_windows, UT_WINDOWS_FIELDS, "search windows for UT hits of VELO tracks");

/* The best candidate of each selected track. Position and slope are those of the straight line through the UT at
 * z = UT_MIDDLE_Z. */
enum { UT_TRACK_HITS_MAX = UT_LAYERS };
static const float UT_MIDDLE_Z SL_UNUSED = 2484.6f; /* mm */
#define UT_TRACK_CANDIDATES_FIELDS(F)                                                               \
  F(offsets, u32, OFFSETS, "", "first selected track of each event")                                \
  F(hit_count, u8, PER_ITEM, "", "number of hits: 3 or 4, or 0 if no track was found")              \
  F(hits, u16, PER_ITEM_OF(4), "", "indices of the hits in the event, by layer; unused entries: 0") \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum")                                            \
  F(x, f32, PER_ITEM, "mm", "x at the middle of the UT, z = 2484.6 mm")                             \
  F(tx, f32, PER_ITEM, "", "slope dx/dz at the middle of the UT")
SL_COLLECTION(ut_track_candidates, UT_TRACK_CANDIDATES_FIELDS, "best UT track candidate of each selected VELO track");

#define UT_TRACKS_FIELDS(F)                                                \
  F(offsets, u32, OFFSETS, "", "first track of each event")                \
  F(hit_offsets, u32, ITEM_OFFSETS, "", "first hit of each track")         \
  F(velo_track, u32, PER_ITEM, "", "index of the VELO track in the event") \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum")                   \
  F(x, f32, PER_ITEM, "mm", "x at the middle of the UT, z = 2484.6 mm")    \
  F(tx, f32, PER_ITEM, "", "slope dx/dz at the middle of the UT")          \
  F(hit_id, u32, PER_SUBITEM, "", "LHCbID, by layer")                      \
  F(hit_x, f32, PER_SUBITEM, "mm", "x of the strip, extended to y = 0")    \
  F(hit_y, f32, PER_SUBITEM, "mm", "y of the lower end of the strip")      \
  F(hit_z, f32, PER_SUBITEM, "mm", "z of the strip")                       \
  F(hit_sector, u16, PER_SUBITEM, "", "index of the sector of the strip in the geometry")
SL_COLLECTION(ut_tracks, UT_TRACKS_FIELDS, "tracks through VELO and UT, with a first momentum");

#endif
