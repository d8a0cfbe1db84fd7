/* retina_words.h: words of retina cluster banks. Bits of a word:
 *
 *   version    column   fraction         row     fraction       second sensor of the pair
 *   2          14-23    11-13, eighths   3-10    0-2, eighths   -
 *   3          12-21    10-11, quarters  2-9     0-1, quarters  -
 *   4          12-21    10-11, quarters  2-9     0-1, quarters  22
 *
 * Versions 3 and 4: bits 23 to 28 number the pattern of pixels, 29: all pixels of the cluster are in it, 30: the
 * cluster is in an isolated super-pixel (README.md, "Pixels of a retina cluster").
 */
#ifndef VELO_RETINA_WORDS_H
#define VELO_RETINA_WORDS_H

#include "position.h"

/* Column and row with their fractions, in eighths of a pixel for all versions: version 2 has eighths, the others
 * quarters. */
static SL_DEVICE uint32_t column_eighths(uint32_t version, uint32_t word) {
  return version == 2 ? word << 8 >> 19 : word << 10 >> 20 << 1;
}
static SL_DEVICE uint32_t row_eighths(uint32_t version, uint32_t word) {
  return version == 2 ? word & 0x7FF : (word & 0x3FF) << 1;
}
static SL_DEVICE SL_UNUSED uint32_t has_bad_column(uint32_t version, uint32_t word) {
  return column_eighths(version, word) >= 8 * VELO_SENSOR_COLUMNS ? 1u : 0u;
}

/* The sensor of a word of the bank in `slot`. */
static SL_DEVICE uint32_t retina_sensor(uint32_t slot, uint32_t version, uint32_t word) {
  return slot + (version == 4 ? word >> 22 & 1 : 0);
}

/* The LHCbID of a word of the bank in `slot`. */
static SL_DEVICE uint32_t retina_id(uint32_t slot, uint32_t version, uint32_t word) {
  const uint32_t in_columns = column_eighths(version, word), in_rows = row_eighths(version, word);
  const uint32_t has_fractions = version != 2 ? 1 : 0;
  const uint32_t flags =
      (has_fractions && in_columns % 8 != 0 ? 1u << 27 : 0u) | (has_fractions && in_rows % 8 != 0 ? 1u << 26 : 0u);
  return velo_id(retina_sensor(slot, version, word), in_columns / 8, in_rows / 8) | flags;
}

#endif
