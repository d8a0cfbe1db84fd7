/* event_model.h: what the VELO plugin offers to others. Lengths in mm, angles in rad. The plugin's
 * README.md has the detector, the formats and the algorithms. */
#ifndef VELO_EVENT_MODEL_H
#define VELO_EVENT_MODEL_H

#include <sluice/plugin.h>

enum {
  VELO_MODULES = 52,
  VELO_MODULE_PAIRS = 26,
  VELO_SENSORS = 208,
  VELO_SENSOR_COLUMNS = 768,
  VELO_SENSOR_ROWS = 256,
  VELO_MAX_HITS_PER_TRACK = 26 /* one a module pair */
};

/* Constants. Byte layout of the files: README.md, "The detector". */
#define VELO_GEOMETRY_FIELDS(F)                                                                           \
  F(module_z, f32, ARRAY, "mm", "z of each of the 52 modules")                                            \
  F(local_x, f32, ARRAY, "mm", "centre of each of the 768 pixel columns in the sensor's frame")           \
  F(x_pitch, f32, ARRAY, "mm", "distance to the centre of the next column, 768 values")                   \
  F(transform, f32, ARRAY, "", "12 values a sensor, local to global: rotation by rows, then translation") \
  F(beam, f32, ARRAY, "mm", "x and y of the beam line")
SL_COLLECTION(velo_geometry, VELO_GEOMETRY_FIELDS, "VELO geometry and beam line");

/* Those of module pair p of an event are [pair_first[p], pair_first[p + 1]), relative to the event's first one, sorted
 * by phi, then id, then as README.md has it ("Azimuth and order"). */
#define VELO_HITS_FIELDS(F)                                                            \
  F(offsets, u32, OFFSETS, "", "first hit of each event")                              \
  F(pair_first, u32, PER_EVENT_OF(27), "",                                             \
    "first hit of each module pair, relative to the event's; then the number of hits") \
  F(id, u32, PER_ITEM, "", "LHCbID")                                                   \
  F(phi, i16, PER_ITEM, "pi/32768", "azimuth in the diamond metric")                   \
  F(x, f32, PER_ITEM, "mm", "global x")                                                \
  F(y, f32, PER_ITEM, "mm", "global y")                                                \
  F(z, f32, PER_ITEM, "mm", "global z")
SL_COLLECTION(velo_hits, VELO_HITS_FIELDS, "VELO hits by event and module pair, sorted by phi");

/* Tracks as the search finds them, before consolidation: hits by index. Order: tracks of four hits and more, then
 * three-hit tracks, each by ascending index of the second hit. */
#define VELO_TRACK_CANDIDATES_FIELDS(F)                         \
  F(offsets, u32, OFFSETS, "", "first candidate of each event") \
  F(hit_count, u8, PER_ITEM, "", "number of hits, 3 to 26")     \
  F(hits, u16, PER_ITEM_OF(26), "", "indices of the hits in the event's sorted hits, by descending z; unused ones 0")
SL_COLLECTION(velo_track_candidates, VELO_TRACK_CANDIDATES_FIELDS, "VELO tracks as lists of hits");

/* Beside hits and track candidates, sharing their offsets. */
#define VELO_FLAG_FIELDS(F, item, doc)                         \
  F(offsets, u32, OFFSETS, "", "first " item " of each event") \
  F(flag, u8, PER_ITEM, "", doc)
SL_COLLECTION_OF(velo_used_hits, VELO_FLAG_FIELDS, "which VELO hits are on tracks of four hits or more", "hit",
                 "1 if the hit is on a track of four hits or more");
SL_COLLECTION_OF(velo_accepted, VELO_FLAG_FIELDS, "which VELO track candidates are tracks", "candidate",
                 "1 if the candidate is a track");

/* Tracks with their hits. */
#define VELO_TRACKS_FIELDS(F)                                      \
  F(offsets, u32, OFFSETS, "", "first track of each event")        \
  F(hit_offsets, u32, ITEM_OFFSETS, "", "first hit of each track") \
  F(hit_id, u32, PER_SUBITEM, "", "LHCbID, by descending z")       \
  F(hit_x, f32, PER_SUBITEM, "mm", "global x")                     \
  F(hit_y, f32, PER_SUBITEM, "mm", "global y")                     \
  F(hit_z, f32, PER_SUBITEM, "mm", "global z")
SL_COLLECTION(velo_tracks, VELO_TRACKS_FIELDS, "VELO tracks with their hits");

/* A track's state: a straight line with its covariance at a position. x and y are fitted independently, so that they
 * have no covariance. */
#define TRACK_LINE_FIELDS(F)              \
  F(x, f32, PER_ITEM, "mm", "position")   \
  F(y, f32, PER_ITEM, "mm", "position")   \
  F(z, f32, PER_ITEM, "mm", "position")   \
  F(tx, f32, PER_ITEM, "", "slope dx/dz") \
  F(ty, f32, PER_ITEM, "", "slope dy/dz")
#define TRACK_COVARIANCE_FIELDS(F)                      \
  F(c00, f32, PER_ITEM, "mm2", "variance of x")         \
  F(c20, f32, PER_ITEM, "mm", "covariance of x and tx") \
  F(c22, f32, PER_ITEM, "", "variance of tx")           \
  F(c11, f32, PER_ITEM, "mm2", "variance of y")         \
  F(c31, f32, PER_ITEM, "mm", "covariance of y and ty") \
  F(c33, f32, PER_ITEM, "", "variance of ty")

/* States of VELO tracks. The port's name says where they are: `beamline_states` of velo.kalman_filter at the closest
 * approach to the beam line, `end_states` at the end of the VELO, z = 770 mm. An input of the same name takes them. */
#define TRACK_STATES_FIELDS(F)                              \
  F(offsets, u32, OFFSETS, "", "first state of each event") \
  TRACK_LINE_FIELDS(F)                                      \
  TRACK_COVARIANCE_FIELDS(F)                                \
  F(backward, u8, PER_ITEM, "", "1 if the track lies upstream of its closest approach to the beam")
SL_COLLECTION(track_states, TRACK_STATES_FIELDS, "states of tracks: straight lines with covariances");

/* Figures of an event, for monitoring. */
#define VELO_COUNTS_FIELDS(F)                             \
  F(tracks, u32, PER_EVENT, "", "number of tracks")       \
  F(hits, u32, PER_EVENT, "", "number of hits on tracks") \
  F(backward, u32, PER_EVENT, "", "number of backward tracks")
SL_COLLECTION(velo_counts, VELO_COUNTS_FIELDS, "numbers of VELO tracks and hits");

#endif
