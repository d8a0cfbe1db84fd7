/* event_model.h: collections of the SciFi plugin. Lengths in mm. Detector and formats are described in the README.md of
 * the plugin. */
#ifndef SCIFI_EVENT_MODEL_H
#define SCIFI_EVENT_MODEL_H

#include <sluice/plugin.h>

enum {
  SCIFI_STATIONS = 3,
  SCIFI_STATION_LAYERS = 4,
  SCIFI_LAYERS = SCIFI_STATIONS * SCIFI_STATION_LAYERS,
  SCIFI_X_LAYERS = SCIFI_LAYERS / 2,
  SCIFI_STEREO_LAYERS = SCIFI_LAYERS - SCIFI_X_LAYERS,
  SCIFI_TRACK_HITS_MAX = SCIFI_LAYERS,
  SCIFI_LAYER_QUARTERS = 4,
  SCIFI_QUARTERS = SCIFI_LAYERS * SCIFI_LAYER_QUARTERS,
  SCIFI_MODULE_MATS = 4,
  SCIFI_MATS = 1024,
  SCIFI_MAT_SIPMS = 4,
  SCIFI_SIPM_CHANNELS = 128,
  SCIFI_DIE_CHANNELS = 64, /* two dies make a SiPM */

  /* Index in per-mat arrays: bits 9 and up of a channel, less SCIFI_FIRST_MAT (station 1, layer 0). */
  SCIFI_FIRST_MAT = 512,
  SCIFI_MAT_TABLE = 1536,

  SCIFI_QUARTER_BANKS = 5,
  SCIFI_BANKS = SCIFI_QUARTERS * SCIFI_QUARTER_BANKS,
  SCIFI_BANK_LINKS = 24,
  SCIFI_NOT_CONNECTED = 0x3800 /* link_channel of a link that is not connected */
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
#define SCIFI_MAT_FIELDS(F)                                                                      \
  F(mirror_x, f32, ARRAY, "mm", "x of the middle of the fibre ends at the mirror, by mat")       \
  F(mirror_y, f32, ARRAY, "mm", "y of the middle of the fibre ends at the mirror, by mat")       \
  F(mirror_z, f32, ARRAY, "mm", "z of the middle of the fibre ends at the mirror, by mat")       \
  F(direction_x, f32, ARRAY, "", "x component of the direction of u, across the fibres, by mat") \
  F(direction_y, f32, ARRAY, "", "y component of the direction of u, across the fibres, by mat") \
  F(direction_z, f32, ARRAY, "", "z component of the direction of u, across the fibres, by mat") \
  F(u_begin, f32, ARRAY, "mm", "u at the begin of the first channel of the mat")                 \
  F(half_pitch, f32, ARRAY, "mm", "half the width of a channel, by mat")                         \
  F(die_gap, f32, ARRAY, "mm", "gap between the two dies of a SiPM, by mat")                     \
  F(sipm_pitch, f32, ARRAY, "mm", "distance between neighbouring SiPMs, by mat")                 \
  F(dxdy, f32, ARRAY, "", "slope dx/dy of the fibres, by mat")                                   \
  F(dzdy, f32, ARRAY, "", "slope dz/dy of the fibres, by mat")                                   \
  F(fibre_dy, f32, ARRAY, "mm", "length of the fibres in y, from the mirror to the other end, by mat")

/* Constants. link_channel of a link that is not connected is SCIFI_NOT_CONNECTED. */
#define SCIFI_GEOMETRY_FIELDS(F)                                                              \
  F(format, u32, ARRAY, "", "format of the geometry file, 0 or 1; one value")                 \
  F(source_id, u32, ARRAY, "", "source id of each of the 240 banks in bank versions 7 and 8") \
  F(link_channel, u32, ARRAY, "", "first channel of each of the 24 links of each bank")       \
  SCIFI_MAT_FIELDS(F)
SL_COLLECTION(scifi_geometry, SCIFI_GEOMETRY_FIELDS, "geometry of the fibre tracker and links of its banks");

/* A zone is half a layer: zone 2 l is the lower half (y < 0) of layer l, zone 2 l + 1 the upper one. Hits of an event
 * are ordered by zone, then by x; no two hits of a zone have equal x. */
enum { SCIFI_ZONES = 2 * SCIFI_LAYERS, SCIFI_HITS_MAX = 65535 };
#define SCIFI_HITS_FIELDS(F)                                                     \
  F(offsets, u32, OFFSETS, "", "first hit of each event")                        \
  F(zone_first, u16, PER_EVENT_OF(25), "",                                       \
    "index of the first hit of each zone in the event; then the number of hits") \
  F(id, u32, PER_ITEM, "", "LHCbID")                                             \
  F(x, f32, PER_ITEM, "mm", "x of the fibre, extended to y = 0")                 \
  F(z, f32, PER_ITEM, "mm", "z of the fibre, extended to y = 0")                 \
  F(pseudo_size, u8, PER_ITEM, "",                                               \
    "cluster size: 4: up to four channels; 5 to 8: number of channels; 0: piece of a wider cluster")
SL_COLLECTION(scifi_hits, SCIFI_HITS_FIELDS, "SciFi hits by event and zone, sorted by x");

/* Indices of selected hits in the full list of hits. */
#define SCIFI_HIT_INDICES_FIELDS(F)                       \
  F(offsets, u32, OFFSETS, "", "first hit of each event") \
  F(index, u16, PER_ITEM, "", "index of the hit in the full list of hits of the event")
SL_COLLECTION(scifi_hit_indices, SCIFI_HIT_INDICES_FIELDS, "indices of selected SciFi hits in the full list");

/* State of a track downstream of the fibre tracker, and its hits. */
#define SCIFI_TRACK_FIELDS(F)                                                 \
  F(x, f32, PER_ITEM, "mm", "x downstream of the fibre tracker, z = 9410 mm") \
  F(y, f32, PER_ITEM, "mm", "y at z = 9410 mm")                               \
  F(tx, f32, PER_ITEM, "", "slope dx/dz at z = 9410 mm")                      \
  F(ty, f32, PER_ITEM, "", "slope dy/dz at z = 9410 mm")                      \
  F(hit, u16, PER_SUBITEM, "", "index of the SciFi hit in the event")         \
  F(hit_id, u32, PER_SUBITEM, "", "LHCbID of the SciFi hit")

#endif
