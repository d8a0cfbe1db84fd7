/* event_model.h: what the SciFi plugin offers to others. Lengths in mm. The plugin's README.md has the detector and the
 * formats. */
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
#define SCIFI_HIT_INDICES_FIELDS(F)                       \
  F(offsets, u32, OFFSETS, "", "first hit of each event") \
  F(index, u16, PER_ITEM, "", "relative to the event's first hit in the whole list")
SL_COLLECTION(scifi_hit_indices, SCIFI_HIT_INDICES_FIELDS, "which SciFi hits these are");

/* The state of tracks behind the fibre tracker, and their hits in it. */
#define SCIFI_TRACK_FIELDS(F)                                          \
  F(x, f32, PER_ITEM, "mm", "x behind the fibre tracker, z = 9410 mm") \
  F(y, f32, PER_ITEM, "mm", "y there")                                 \
  F(tx, f32, PER_ITEM, "", "slope dx/dz there")                        \
  F(ty, f32, PER_ITEM, "", "slope dy/dz there")                        \
  F(hit, u16, PER_SUBITEM, "", "SciFi hit, by its place in the event") \
  F(hit_id, u32, PER_SUBITEM, "", "its LHCbID")

#endif
