/* geometry_file.h: the files ut_geometry.bin, ut_boards.bin and ut_tables.bin (README.md, "The detector"):
 * little-endian arrays back to back, of numbers of 4 bytes, with their lengths before them.
 */
#ifndef UT_GEOMETRY_FILE_H
#define UT_GEOMETRY_FILE_H

#include "ut/event_model.h"

#define UT_GEOMETRY_FILE "ut_geometry.bin"
#define UT_BOARDS_FILE   "ut_boards.bin"
#define UT_TABLES_FILE   "ut_tables.bin"

enum {
  SECTOR_ARRAYS = 10,
  LANE_ARRAYS = 8,
  BOARDS_FORMAT = 3,
  GEOMETRY_FILE_BYTES = 4 + 4 * SECTOR_ARRAYS * UT_SECTORS,
  BOARDS_FILE_BYTES = 2 * 4 + 4 * UT_BOARDS + 4 * LANE_ARRAYS * UT_LANES,
  /* Each table after its number of axes, the bins of each (one less than entries), and the number of entries, u64. */
  TABLES_FILE_BYTES = (1 + 2) * 4 + 8 + 4 * UT_DEFLECTIONS + (1 + 3) * 4 + 8 + 4 * UT_INTEGRALS
};

#endif
