/* event_model.h: collections of the muon plugin. Lengths in mm. Detector and formats are described in the README.md of
 * the plugin. */
#ifndef MUON_EVENT_MODEL_H
#define MUON_EVENT_MODEL_H

#include <sluice/math.h>
#include <sluice/plugin.h>

enum {
  MUON_STATIONS = 4, /* M2 to M5 */
  MUON_REGIONS = 4,
  MUON_QUARTERS = 4,
  MUON_GRIDS = MUON_STATIONS * MUON_REGIONS, /* grid i = 4 station + region */
  MUON_BANKS = 10,                           /* of version 2; a bank's number is its source id */
  MUON_BANK_CHANNELS_MAX = 4096,
  MUON_TELL40S = 22, /* of version 3 */
  MUON_HALVES = 2,   /* of a Tell40 */
  MUON_LINKS = 24,   /* of a half */
  MUON_LINK_CHANNELS = 48,
  MUON_HALF_CHANNELS = MUON_LINKS * MUON_LINK_CHANNELS
};

/* The tables of positions: logical pads, and the strips that cross in them. X strips are the finer ones in x. */
enum muon_table { MUON_PADS, MUON_X_STRIPS, MUON_Y_STRIPS, MUON_TABLES };

/* A tile is a logical channel: a pad or a strip. Bits 0 to 4 are its y and 5 to 11 its x in its quarter, 12 and 13 the
 * quarter, 14 and 15 the region, 16 and 17 the station, 18 to 23 and 24 to 28 the grid in x and in y. 0 is none. */
SL_MATH_FUNCTION uint32_t muon_tile_y(uint32_t tile) { return tile & 31u; }
SL_MATH_FUNCTION uint32_t muon_tile_x(uint32_t tile) { return tile >> 5 & 127u; }
SL_MATH_FUNCTION uint32_t muon_tile_quarter(uint32_t tile) { return tile >> 12 & 3u; }
SL_MATH_FUNCTION uint32_t muon_tile_region(uint32_t tile) { return tile >> 14 & 3u; }
SL_MATH_FUNCTION uint32_t muon_tile_station(uint32_t tile) { return tile >> 16 & 3u; }
SL_MATH_FUNCTION uint32_t muon_tile_grid(uint32_t tile) { return tile >> 14 & 15u; }
SL_MATH_FUNCTION uint32_t muon_tile_grid_x(uint32_t tile) { return tile >> 18 & 63u; }
SL_MATH_FUNCTION uint32_t muon_tile_grid_y(uint32_t tile) { return tile >> 24 & 31u; }

/* Address of a tile. */
struct muon_tile_address {
  uint32_t station, region, quarter, x, y;
};
SL_MATH_FUNCTION uint32_t muon_tile(const struct muon_tile_address *place, uint32_t grid_x, uint32_t grid_y) {
  return place->y | place->x << 5 | place->quarter << 12 | place->region << 14 | place->station << 16 | grid_x << 18 |
         grid_y << 24;
}

/* A quarter of a region is a square of 2 grid_x times 2 grid_y without the corner at the beam, of grid_x times grid_y:
 * the number of (x, y) in it, row by row. */
SL_MATH_FUNCTION uint32_t muon_running_number(uint32_t x, uint32_t y, uint32_t grid_x, uint32_t grid_y) {
  return y < grid_y ? grid_x * y + x - grid_x : grid_x * grid_y + 2u * grid_x * (y - grid_y) + x;
}
SL_MATH_FUNCTION uint32_t muon_quarter_size(uint32_t grid_x, uint32_t grid_y) { return 3u * grid_x * grid_y; }

/* Half-widths are given for pieces of half a corner's width: the number of the one that (x, y) is in. */
SL_MATH_FUNCTION uint32_t muon_width_number(uint32_t x, uint32_t y, uint32_t grid_x, uint32_t grid_y) {
  return y < grid_y ? 2u * y + 2u * (x - grid_x) / grid_x : 4u * y - 2u * grid_y + 2u * x / grid_x;
}

/* Constants. The map of version 2 fills the first two fields, that of version 3 the four after these, too. Positions
 * stand in x, y, z by table and station: those of table t and station s begin at position_first[4 t + s], those of the
 * tile's grid `offset` after it, those of the tile's quarter muon_quarter_size() a quarter after that. Half-widths
 * stand by table: those of grid i begin at 24 times the sum of grid_y of the grids before, those of the quarter 6
 * grid_y a quarter after that. */
#define MUON_GEOMETRY_FIELDS(F)                                                                                   \
  F(format, u32, ARRAY, "", "format of the map of channels (2 or 3), format of the tables of positions (2 or 3)") \
  F(channel_first, u32, ARRAY, "",                                                                                \
    "index of the first channel of each bank in `tiles`, then the number of channels; format 2: 10 banks, "       \
    "format 3: 2 halves of each of 22 Tell40s")                                                                   \
  F(tiles, u32, ARRAY, "", "tile of each channel; 0: none")                                                       \
  F(tell40_station, u32, ARRAY, "", "format 3: station of each Tell40")                                           \
  F(tell40_links, u32, ARRAY, "", "format 3: links in use of each half of each Tell40")                           \
  F(link_region, u32, ARRAY, "", "format 3: region of each link, 24 links per half")                              \
  F(link_quarter, u32, ARRAY, "", "format 3: quarter of each link, 24 links per half")                            \
  F(grid, u32, ARRAY, "", "cells of each grid (4 station + region): for each table 16 values in x, then 16 in y") \
  F(offset, u32, ARRAY, "", "first position of each grid in its station, 16 values per table")                    \
  F(position_first, u32, ARRAY, "",                                                                               \
    "first position of each table and station, 12 values, then the number of positions")                          \
  F(x, f32, ARRAY, "mm", "global x of the middle of each pad or strip")                                           \
  F(y, f32, ARRAY, "mm", "global y of the middle of each pad or strip")                                           \
  F(z, f32, ARRAY, "mm", "global z of the middle of each pad or strip")                                           \
  F(width_first, u32, ARRAY, "", "first half-width of each table, 3 values, then the number of half-widths")      \
  F(half_x, f32, ARRAY, "mm", "half-widths of pads and strips in x")                                              \
  F(half_y, f32, ARRAY, "mm", "half-widths of pads and strips in y")
SL_COLLECTION(muon_geometry, MUON_GEOMETRY_FIELDS, "muon chambers: map of channels, positions of pads and strips");

/* Hit tiles of an event: each tile once, by grid and quarter, first x strips or pads by row, then y strips by column.
 */
enum { MUON_TILES_MAX = 32768, MUON_HITS_MAX = 65535, MUON_FIRSTS = MUON_GRIDS + 1 };
#define MUON_TILES_FIELDS(F)                                                                            \
  F(offsets, u32, OFFSETS, "", "first tile of each event")                                              \
  F(first, u16, PER_EVENT_OF(17), "",                                                                   \
    "index of the first tile of each grid (4 station + region) in the event; then the number of tiles") \
  F(tile, u32, PER_ITEM, "", "pad or strip: station, region, quarter, x, y and grid, as bits")          \
  F(time, u8, PER_ITEM, "25/16 ns", "time of the first digit of the tile")
SL_COLLECTION(muon_tiles, MUON_TILES_FIELDS, "hit pads and strips of the muon chambers");

/* Hits: crossings of strips, pads, and strips without a crossing. */
#define MUON_HITS_FIELDS(F)                                                                                        \
  F(offsets, u32, OFFSETS, "", "first hit of each event")                                                          \
  F(first, u16, PER_EVENT_OF(17), "",                                                                              \
    "index of the first hit of each grid (4 station + region) in the event; then the number of hits")              \
  F(x, f32, PER_ITEM, "mm", "global x of the middle of the hit")                                                   \
  F(y, f32, PER_ITEM, "mm", "global y of the middle of the hit")                                                   \
  F(z, f32, PER_ITEM, "mm", "global z of the middle of the hit")                                                   \
  F(half_x, f32, PER_ITEM, "mm", "half-width of the hit in x")                                                     \
  F(half_y, f32, PER_ITEM, "mm", "half-width of the hit in y")                                                     \
  F(tile, u32, PER_ITEM, "", "pad (of a crossing, too), or strip without a crossing")                              \
  F(time, u8, PER_ITEM, "25/16 ns", "time of the x strip, or of the only tile")                                    \
  F(delta_time, i8, PER_ITEM, "25/16 ns", "time of the x strip minus time of the y strip; without crossing: time") \
  F(is_crossed, u8, PER_ITEM, "", "1 if the hit is a crossing of two strips")
SL_COLLECTION(muon_hits, MUON_HITS_FIELDS, "hits in the muon chambers, by station and region");

static const float MUON_TRACK_Z SL_UNUSED = 9410.0f; /* mm: z of the states of long tracks */

/* Flags of long tracks, with the offsets of the tracks. */
#define MUON_NO_HIT UINT16_MAX
#define MUON_FLAGS_FIELDS(F)                                                 \
  F(offsets, u32, OFFSETS, "", "first track of each event")                  \
  F(is_muon, u8, PER_ITEM, "", "1 if enough stations have a compatible hit") \
  F(hits, u16, PER_ITEM_OF(4), "",                                           \
    "index in the event of the closest compatible hit in M2 to M5; 65535: none, or the track is not a muon")
SL_COLLECTION(muon_flags, MUON_FLAGS_FIELDS, "flags of long tracks that are muons, with their hits");

/* log10 of chi2 of a track that is not a muon, and the least value. */
#define MUON_NO_CHI2    10.0f
#define MUON_LEAST_CHI2 -6.0f

/* Compatibility of the hits of muons with the track, with the offsets of the tracks. */
#define MUON_SCORES_FIELDS(F)                                                                              \
  F(offsets, u32, OFFSETS, "", "first track of each event")                                                \
  F(chi2_correlated, f32, PER_ITEM, "",                                                                    \
    "log10 of chi2 per hit with correlated multiple scattering, at least -6; 10: the track is not a muon") \
  F(chi2_uncorrelated, f32, PER_ITEM, "",                                                                  \
    "log10 of chi2 per hit without multiple scattering, at least -6; 10: the track is not a muon")         \
  F(score, f32, PER_ITEM, "", "probability of a muon, from the network; 0: the track is not a muon; no network: all 1")
SL_COLLECTION(muon_scores, MUON_SCORES_FIELDS, "compatibility of muon hits with long tracks");

/* Straight lines through a hit of each station, M2 to M5. */
#define MUON_STUBS_FIELDS(F)                                                                    \
  F(offsets, u32, OFFSETS, "", "first stub of each event")                                      \
  F(hit, u16, PER_ITEM_OF(4), "", "indices in the event of the hits in the stations, M2 first") \
  F(x, f32, PER_ITEM, "mm", "x in the middle of M2, z = 15205 mm")                              \
  F(y, f32, PER_ITEM, "mm", "y in the middle of M2, z = 15205 mm")                              \
  F(tx, f32, PER_ITEM, "", "slope dx/dz")                                                       \
  F(ty, f32, PER_ITEM, "", "slope dy/dz")                                                       \
  F(chi2_x, f32, PER_ITEM, "", "chi2 of the fit of x(z), over 2 degrees of freedom")            \
  F(chi2_y, f32, PER_ITEM, "", "chi2 of the fit of y(z), over 2 degrees of freedom")
SL_COLLECTION(muon_stubs, MUON_STUBS_FIELDS, "muons found in the muon chambers alone");

#endif
