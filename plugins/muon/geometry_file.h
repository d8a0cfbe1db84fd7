/* geometry_file.h: the files muon_geometry.bin and muon_tables.bin (README.md, "Files"). */
#ifndef MUON_GEOMETRY_FILE_H
#define MUON_GEOMETRY_FILE_H

#include "io/geometry_files.h"
#include "muon/event_model.h"

#define MUON_GEOMETRY_FILE "muon_geometry.bin"
#define MUON_TABLES_FILE   "muon_tables.bin"

enum {
  GRID_VALUES = 2 * MUON_GRIDS * MUON_TABLES,
  OFFSET_VALUES = MUON_GRIDS * MUON_TABLES,
  POSITION_FIRSTS = MUON_TABLES * MUON_STATIONS + 1,
  WIDTH_FIRSTS = MUON_TABLES + 1,
  HALVES = MUON_TELL40S * MUON_HALVES,
  ALL_LINKS = HALVES * MUON_LINKS,
  ALL_LINK_CHANNELS = ALL_LINKS * MUON_LINK_CHANNELS
};

/* How many banks, or halves of Tell40s, a map's channel_first is for. */
static inline uint32_t map_units(uint32_t format) { return format == 2 ? (uint32_t)MUON_BANKS : (uint32_t)HALVES; }

#endif
