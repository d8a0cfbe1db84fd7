/* sort_row.h: sorts a row of values in parts with sl_warp_sort_u32; a part has as many values as the warp sorts at
 * once. */
#ifndef SORT_ROW_H
#define SORT_ROW_H

#include <sluice/kernel.h>

/* The parts, each in ascending order, and for each index the beginning of its part. `rows`: keys per thread. */
struct sorted_row {
  uint32_t *sorted, *part;
};

static SL_DEVICE void sort_row(const uint32_t *values, uint32_t count, struct sorted_row row, const uint32_t rows) {
  for (uint32_t begin = 0; begin < count; begin += rows * sl_warp_lanes()) {
    uint32_t key[SL_SORT_ROWS];
    SL_UNROLL
    for (uint32_t r = 0; r < rows; r++) {
      const uint32_t i = begin + sl_warp_lane() + r * sl_warp_lanes();
      key[r] = i < count ? values[i] : UINT32_MAX;
    }
    sl_warp_sort_u32(key, rows);
    SL_UNROLL
    for (uint32_t r = 0; r < rows; r++) {
      const uint32_t i = begin + sl_warp_lane() * rows + r;
      if (i >= count) continue;
      row.sorted[i] = key[r];
      row.part[i] = begin;
    }
  }
}

#endif
