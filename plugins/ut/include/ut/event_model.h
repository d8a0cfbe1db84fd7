/* event_model.h: what the UT plugin offers to others. Lengths in mm. The plugin's README.md has the detector and the
 * formats. */
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
  UT_CHANNEL_TYPE = 2, /* of a lane in use */
  UT_LAYER_BIT = 18    /* of an LHCbID; the layer has two bits */
};

/* Tables of the momentum estimate: bins of a straight track's |dy/dz| in steps of 0.01 by layer; bins of dy/dz, of
 * the origin's z and of the z in the VELO, the first fastest. */
enum {
  UT_DEFLECTION_BINS = 31,
  UT_DEFLECTIONS = UT_DEFLECTION_BINS * UT_LAYERS,
  UT_INTEGRAL_SLOPES = 31,
  UT_INTEGRAL_ORIGINS = 11,
  UT_INTEGRAL_DEPTHS = 11,
  UT_INTEGRALS = UT_INTEGRAL_SLOPES * UT_INTEGRAL_ORIGINS * UT_INTEGRAL_DEPTHS
};

/* Constants. Byte layout of the files: README.md, "The detector". */
#define UT_SECTOR_FIELDS(F)                                                                               \
  F(first_strip, u32, ARRAY, "", "number of each of the 1048 sectors' first strip")                       \
  F(pitch, f32, ARRAY, "mm", "distance of two strips")                                                    \
  F(dy, f32, ARRAY, "mm", "length of a strip in y")                                                       \
  F(dx_di, f32, ARRAY, "mm", "from a strip to the next: in x at y = 0")                                   \
  F(dy_di, f32, ARRAY, "mm", "from a strip to the next: in y of the strip's lower end")                   \
  F(dz_di, f32, ARRAY, "mm", "from a strip to the next: in z")                                            \
  F(x0, f32, ARRAY, "mm", "x of the first strip's line at y = 0")                                         \
  F(y0, f32, ARRAY, "mm", "y of its lower end")                                                           \
  F(z0, f32, ARRAY, "mm", "its z; negative: strips of this sector count backwards in banks of version 4") \
  F(cosine, f32, ARRAY, "", "of the angle between strips and the y axis")

#define UT_BOARD_FIELDS(F)                                                                                   \
  F(board_strips, u32, ARRAY, "", "strips of a sector of each of 240 boards; 0: there is no such board")     \
  F(lane_sector, u32, ARRAY, "", "of each lane, 6 x board + lane: which of two sectors of a module, 0 or 1") \
  F(lane_module, u32, ARRAY, "", "module, 0 to 7 from below")                                                \
  F(lane_face, u32, ARRAY, "", "face of the stave")                                                          \
  F(lane_stave, u32, ARRAY, "", "stave, counted from the beam")                                              \
  F(lane_layer, u32, ARRAY, "", "layer")                                                                     \
  F(lane_side, u32, ARRAY, "", "0: x < 0, 1: x > 0")                                                         \
  F(lane_type, u32, ARRAY, "", "2; 0: nothing is connected")                                                 \
  F(lane_channel, u32, ARRAY, "", "LHCb channel of the sector's first strip")                                \
  F(lane_index, u32, ARRAY, "", "the sector's place in the arrays of sectors; 1048: nothing is connected")

#define UT_GEOMETRY_FIELDS(F) UT_SECTOR_FIELDS(F) UT_BOARD_FIELDS(F)
SL_COLLECTION(ut_geometry, UT_GEOMETRY_FIELDS, "UT sectors and readout boards");

/* Constants of the formulas that go with the tables: where each stands. README.md, "Tracks". */
enum {
  UT_DISTANCE_TO_MOMENTUM,                      /* 1 / (MeV mm) */
  UT_KICK_TO_MOMENTUM,                          /* q/p of a kick over the field integral, 1 / MeV, less its sign */
  UT_FIRST_KICK_Z,                              /* mm: where the magnet is in the first fit */
  UT_SECOND_KICK_Z,                             /* and in the second, by powers 0, 2 and 4 of dy/dz */
  UT_KICK_ERRORS = UT_SECOND_KICK_Z + 3,        /* mm: two, of the place there */
  UT_KICK_ERRORS_PER_P = UT_KICK_ERRORS + 2,    /* and what is added to each for 1 / MeV */
  UT_DISCRIMINANT_3 = UT_KICK_ERRORS_PER_P + 2, /* of 1, ln p, ln pt, ln chi2 for 3 hits */
  UT_DISCRIMINANT_4 = UT_DISCRIMINANT_3 + 4,    /* and for 4 */
  UT_FORMULA_CONSTANTS = UT_DISCRIMINANT_4 + 4
};

#define UT_MAGNET_TABLES_FIELDS(F)                                                                              \
  F(deflection, f32, ARRAY, "", "by bin of |dy/dz| and layer, the layer fastest: 31 x 4")                       \
  F(field_integral, f32, ARRAY, "", "by z in the VELO, z of the origin, dy/dz, the last fastest: 11 x 11 x 31") \
  F(constants, f32, ARRAY, "", "of the formulas, 19 values")
SL_COLLECTION(ut_magnet_tables, UT_MAGNET_TABLES_FIELDS, "what the magnet does up to the UT");

/* Sectors of a layer that begin at about the same x, side by side in y, are a group: where a track passes a layer, it
 * can have hits of few groups only. */
enum {
  UT_GROUPS_MAX = 127,
  UT_NO_GROUP = 255, /* of a lane that nothing is connected to */
  UT_HITS_MAX = 32767
};

#define UT_SECTOR_GROUPS_FIELDS(F)                                                                         \
  F(lane_sector, u16, ARRAY, "", "of each lane, 6 x board + lane: its sector; 1048: nothing is connected") \
  F(lane_group, u8, ARRAY, "", "of each lane: its sector's group; 255: nothing is connected")              \
  F(layer_first, u32, ARRAY, "", "first group of each of the four layers; then the number of groups")      \
  F(x, f32, ARRAY, "mm", "of each group, ascending in a layer: smallest x0 of its sectors")                \
  F(x_least, f32, ARRAY, "mm", "smallest x at y = 0 that a strip of the group has")                        \
  F(x_most, f32, ARRAY, "mm", "largest x at y = 0 that a strip of the group has")                          \
  F(length, f32, ARRAY, "mm", "longest strip of the group, in y")                                          \
  F(layer_z, f32, ARRAY, "mm", "of each layer: mean z of its sectors")                                     \
  F(layer_depth, f32, ARRAY, "mm", "how far from that a sector is, at most")                               \
  F(layer_slope, f32, ARRAY, "", "dx/dy of its strips")
SL_COLLECTION(ut_sector_groups, UT_SECTOR_GROUPS_FIELDS, "UT sectors by layer and x");

/* Hits by group, in a group by (y, id), which no two hits share. */
#define UT_HITS_FIELDS(F)                                                                                       \
  F(offsets, u32, OFFSETS, "", "first hit of each event")                                                       \
  F(group_first, u16, PER_EVENT_OF(128), "", "first hit of each group, relative to the event's; then how many") \
  F(id, u32, PER_ITEM, "", "LHCbID")                                                                            \
  F(x, f32, PER_ITEM, "mm", "x of the strip's line at y = 0")                                                   \
  F(y, f32, PER_ITEM, "mm", "y of the strip's lower end")                                                       \
  F(y_end, f32, PER_ITEM, "mm", "y of its upper end")                                                           \
  F(z, f32, PER_ITEM, "mm", "z of the strip")                                                                   \
  F(sector, u16, PER_ITEM, "", "the strip's sector, by which the geometry has its pitch")
SL_COLLECTION(ut_hits, UT_HITS_FIELDS, "UT hits by event and group, sorted by y");

/* VELO tracks that are looked for in the UT. */
#define UT_SELECTED_TRACKS_FIELDS(F)                               \
  F(offsets, u32, OFFSETS, "", "first selected track of an event") \
  F(track, u32, PER_ITEM, "", "the VELO track, by its place in the event")
SL_COLLECTION(ut_selected_tracks, UT_SELECTED_TRACKS_FIELDS, "VELO tracks that may have hits in the UT");

/* Where their hits may be: for each layer in five groups, the one that a straight line would pass, then those left,
 * right, left and right of it. A window goes from the first to the last hit of the group that the track may have;
 * between them can be others. Those that have hits come first, in this order: window w of layer l is the (5 l + w)th.
 */
enum { UT_LAYER_WINDOWS = 5, UT_WINDOWS = UT_LAYER_WINDOWS * UT_LAYERS };
#define UT_WINDOWS_FIELDS(F)                                                                         \
  F(offsets, u32, OFFSETS, "", "first selected track of an event")                                   \
  F(first, u16, PER_ITEM_OF(20), "", "first hit of each window, relative to the event's; unused: 0") \
  F(count, u16, PER_ITEM_OF(20), "", "number of its hits")                                           \
  F(hits, u16, PER_ITEM_OF(4), "", "hits of all windows of each layer")
SL_COLLECTION(ut_windows, UT_WINDOWS_FIELDS, "where UT hits of VELO tracks may be");

/* What was found for each selected track. Position and slope are those of the straight line through the UT at
 * z = UT_MIDDLE_Z. */
enum { UT_TRACK_HITS_MAX = UT_LAYERS };
static const float UT_MIDDLE_Z SL_UNUSED = 2484.6f; /* mm */
#define UT_TRACK_CANDIDATES_FIELDS(F)                                                            \
  F(offsets, u32, OFFSETS, "", "first selected track of an event")                               \
  F(hit_count, u8, PER_ITEM, "", "number of hits: 3, 4, or 0, where no track was found")         \
  F(hits, u16, PER_ITEM_OF(4), "", "the hits by layer, by their places in the event; unused: 0") \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum")                                         \
  F(x, f32, PER_ITEM, "mm", "x in the middle of the UT")                                         \
  F(tx, f32, PER_ITEM, "", "slope dx/dz there")
SL_COLLECTION(ut_track_candidates, UT_TRACK_CANDIDATES_FIELDS, "what was found in the UT for selected VELO tracks");

#define UT_TRACKS_FIELDS(F)                                                     \
  F(offsets, u32, OFFSETS, "", "first track of each event")                     \
  F(hit_offsets, u32, ITEM_OFFSETS, "", "first hit of each track")              \
  F(velo_track, u32, PER_ITEM, "", "the VELO track, by its place in the event") \
  F(qop, f32, PER_ITEM, "1/MeV", "charge over momentum")                        \
  F(x, f32, PER_ITEM, "mm", "x in the middle of the UT, z = 2484.6 mm")         \
  F(tx, f32, PER_ITEM, "", "slope dx/dz there")                                 \
  F(hit_id, u32, PER_SUBITEM, "", "LHCbID, by layer")                           \
  F(hit_x, f32, PER_SUBITEM, "mm", "x of the strip's line at y = 0")            \
  F(hit_y, f32, PER_SUBITEM, "mm", "y of the strip's lower end")                \
  F(hit_z, f32, PER_SUBITEM, "mm", "z of the strip")                            \
  F(hit_sector, u16, PER_SUBITEM, "", "the strip's sector")
SL_COLLECTION(ut_tracks, UT_TRACKS_FIELDS, "tracks through VELO and UT, with a first momentum");

#endif
