/* event_model.h: collections of the VELO plugin. Lengths in mm, angles in rad. Detector, formats and algorithms are
 * described in the README.md of the plugin. */
#ifndef VELO_EVENT_MODEL_H
#define VELO_EVENT_MODEL_H

#include <sluice/plugin.h>

enum {
  VELO_MODULES = 52,
  VELO_MODULE_PAIRS = 26,
  VELO_SENSORS = 208,
  VELO_SENSOR_COLUMNS = 768,
  VELO_SENSOR_ROWS = 256,
  VELO_MAX_HITS_PER_TRACK = 26 /* one per module pair */
};

/* Constants. Byte layout of the files: README.md, "The detector". */
#define VELO_GEOMETRY_FIELDS(F)                                                                                       \
  F(module_z, f32, ARRAY, "mm", "z of the 52 modules")                                                                \
  F(local_x, f32, ARRAY, "mm", "centres of the 768 pixel columns in the frame of the sensor")                         \
  F(x_pitch, f32, ARRAY, "mm", "distance to the centre of the next pixel column, 768 values")                         \
  F(transform, f32, ARRAY, "", "local to global transform, 12 values per sensor: rotation by rows, then translation") \
  F(beam, f32, ARRAY, "mm", "x and y of the beam line")
SL_COLLECTION(velo_geometry, VELO_GEOMETRY_FIELDS, "VELO geometry and beam line");

/* Hits of module pair p are [pair_first[p], pair_first[p + 1]), relative to the first hit of the event. They are sorted
 * by phi, then id, then the further keys in README.md, "Azimuth and order". */
#define VELO_HITS_FIELDS(F)                                                                         \
  F(offsets, u32, OFFSETS, "", "first hit of each event")                                           \
  F(pair_first, u32, PER_EVENT_OF(27), "",                                                          \
    "index of the first hit of each module pair within the event; then the number of hits")         \
  F(id, u32, PER_ITEM, "", "LHCbID")                                                                \
  F(phi, i16, PER_ITEM, "pi/32768", "azimuth in the diamond metric, an approximation of the angle") \
  F(x, f32, PER_ITEM, "mm", "global x")                                                             \
  F(y, f32, PER_ITEM, "mm", "global y")                                                             \
  F(z, f32, PER_ITEM, "mm", "global z")
SL_COLLECTION(velo_hits, VELO_HITS_FIELDS, "VELO hits by event and module pair, sorted by phi");

/* Tracks found by the search, as indices of hits. Order: tracks of four or more hits, then three-hit tracks, both by
 * ascending index of the second hit. */
#define VELO_TRACK_CANDIDATES_FIELDS(F)                         \
  F(offsets, u32, OFFSETS, "", "first candidate of each event") \
  F(hit_count, u8, PER_ITEM, "", "number of hits, 3 to 26")     \
  F(hits, u16, PER_ITEM_OF(26), "",                             \
    "indices of the hits in the sorted hits of the event, by descending z; unused entries 0")
SL_COLLECTION(velo_track_candidates, VELO_TRACK_CANDIDATES_FIELDS, "VELO track candidates as lists of hits");

/* Flags of hits and of track candidates, with the offsets of the hits or candidates. */
#define VELO_FLAG_FIELDS(F, item, doc)                         \
  F(offsets, u32, OFFSETS, "", "first " item " of each event") \
  F(flag, u8, PER_ITEM, "", doc)
SL_COLLECTION_OF(velo_used_hits, VELO_FLAG_FIELDS, "flags of VELO hits on tracks of four or more hits", "hit",
                 "1 if the hit is on a track of four or more hits");
SL_COLLECTION_OF(velo_accepted, VELO_FLAG_FIELDS, "flags of VELO track candidates that are accepted as tracks",
                 "candidate", "1 if the candidate is a track");

/* Tracks with their hits. */
#define VELO_TRACKS_FIELDS(F)                                      \
  F(offsets, u32, OFFSETS, "", "first track of each event")        \
  F(hit_offsets, u32, ITEM_OFFSETS, "", "first hit of each track") \
  F(hit_id, u32, PER_SUBITEM, "", "LHCbID, by descending z")       \
  F(hit_x, f32, PER_SUBITEM, "mm", "global x")                     \
  F(hit_y, f32, PER_SUBITEM, "mm", "global y")                     \
  F(hit_z, f32, PER_SUBITEM, "mm", "global z")
SL_COLLECTION(velo_tracks, VELO_TRACKS_FIELDS, "VELO tracks with their hits");

/* State of a track: position, slopes and covariance at some z. x and y are fitted independently and are uncorrelated.
 */
#define TRACK_LINE_FIELDS(F)                  \
  F(x, f32, PER_ITEM, "mm", "x of the state") \
  F(y, f32, PER_ITEM, "mm", "y of the state") \
  F(z, f32, PER_ITEM, "mm", "z of the state") \
  F(tx, f32, PER_ITEM, "", "slope dx/dz")     \
  F(ty, f32, PER_ITEM, "", "slope dy/dz")
#define TRACK_COVARIANCE_FIELDS(F)                      \
  F(c00, f32, PER_ITEM, "mm2", "variance of x")         \
  F(c20, f32, PER_ITEM, "mm", "covariance of x and tx") \
  F(c22, f32, PER_ITEM, "", "variance of tx")           \
  F(c11, f32, PER_ITEM, "mm2", "variance of y")         \
  F(c31, f32, PER_ITEM, "mm", "covariance of y and ty") \
  F(c33, f32, PER_ITEM, "", "variance of ty")

/* States of VELO tracks. velo.kalman_filter has two outputs: `beamline_states` at the closest approach to the beam line
 * and `end_states` at the end of the VELO, z = 770 mm. Inputs for them have equal names. */
#define TRACK_STATES_FIELDS(F)                              \
  F(offsets, u32, OFFSETS, "", "first state of each event") \
  TRACK_LINE_FIELDS(F)                                      \
  TRACK_COVARIANCE_FIELDS(F)                                \
  F(backward, u8, PER_ITEM, "", "1 if the track lies upstream of its closest approach to the beam line")
SL_COLLECTION(track_states, TRACK_STATES_FIELDS, "states of tracks: straight lines with covariances");

/* One item per track. */
#define VELO_LARGE_CLUSTERS_FIELDS(F)                       \
  F(offsets, u32, OFFSETS, "", "first track of each event") \
  F(hits, u8, PER_ITEM, "", "number of hits of the track with clusters of at least `min_pixels` pixels")
SL_COLLECTION(velo_large_clusters, VELO_LARGE_CLUSTERS_FIELDS, "numbers of large clusters on VELO tracks");

/* Numbers per event, for monitoring. */
#define VELO_COUNTS_FIELDS(F)                             \
  F(tracks, u32, PER_EVENT, "", "number of tracks")       \
  F(hits, u32, PER_EVENT, "", "number of hits on tracks") \
  F(backward, u32, PER_EVENT, "", "number of backward tracks")
SL_COLLECTION(velo_counts, VELO_COUNTS_FIELDS, "numbers of VELO tracks and hits per event");

#endif
