/* geometry_file.h: the file ecal_geometry.bin (README.md, "The file"): a head of five numbers, arrays with their length
 * before them as u32, and the size of a cell before the last of them. Format 4 has two arrays more than format 3.
 */
#ifndef CALO_GEOMETRY_FILE_H
#define CALO_GEOMETRY_FILE_H

#include "calo/event_model.h"

#define CALO_GEOMETRY_FILE "ecal_geometry.bin"

enum {
  CALO_FORMAT_MIN = 3,
  CALO_FORMAT_SOURCES = 4, /* has card numbers and indices */
  CALO_TO_LOCAL = 12,
  CALO_PLANE_NUMBERS = 12,
  CALO_ARRAYS = 9, /* with a length each */
  CALO_FILE_BYTES_MAX = 4 * (6 + CALO_ARRAYS) + 2 * CALO_CARDS_MAX * CALO_CARD_CHANNELS +
                        CALO_CELLS * (2 * CALO_NEIGHBOURS + 12) + 4 * (CALO_TO_LOCAL + CALO_PLANE_NUMBERS) +
                        4 * (CALO_AREAS + 1) + 8 * CALO_SOURCES_MAX * CALO_BANK_CARDS
};

#endif
