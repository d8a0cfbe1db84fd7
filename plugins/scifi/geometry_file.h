/* geometry_file.h: the file scifi_geometry.bin (README.md, "The detector"): little-endian arrays back to back. Numbers
 * of stations, layers of a station, layers, quarters of a layer, quarters; modules of each quarter; mats of a module,
 * mats, banks, format, all u32. Format 0: the first channel of each bank, u32. Format 1: the source id of each bank,
 * then the first channels of its 24 links, u32. Then the length of the mats' arrays, u32, and these, f32.
 */
#ifndef SCIFI_GEOMETRY_FILE_H
#define SCIFI_GEOMETRY_FILE_H

#include "scifi/event_model.h"

#define SCIFI_GEOMETRY_FILE "scifi_geometry.bin"

#define SCIFI_COUNT_ARRAY_(name, type, shape, unit, doc) +1
enum {
  MAT_ARRAYS = 0 SCIFI_MAT_FIELDS(SCIFI_COUNT_ARRAY_),
  MODULES_OF_T1_AND_T2 = 5,
  MODULES_OF_T3 = 6,
  HEAD_BYTES = 4 * (5 + SCIFI_QUARTERS + 4),
  MATS_BYTES = 4 * (1 + MAT_ARRAYS * SCIFI_MAT_TABLE),
  FORMAT_0_BYTES = HEAD_BYTES + 4 * SCIFI_BANKS + MATS_BYTES,
  FORMAT_1_BYTES = HEAD_BYTES + 4 * SCIFI_BANKS * (1 + SCIFI_BANK_LINKS) + MATS_BYTES
};

static inline uint32_t modules_of(uint32_t quarter) {
  return quarter < SCIFI_QUARTERS / SCIFI_STATIONS * 2 ? (uint32_t)MODULES_OF_T1_AND_T2 : (uint32_t)MODULES_OF_T3;
}

#endif
