/* cells.h: tables with one bit per cell of x, set near hits. */
#ifndef SEEDING_CELLS_H
#define SEEDING_CELLS_H

#include <sluice/kernel.h>

enum { SEEDING_CELL_BITS = 32 /* per word */ };

/* Sets the bits of the cells `first` to `last`, modulo the size of the table: `words`, a power of two. Threads may do
 * so concurrently. */
static SL_DEVICE void seeding_mark_cells(uint32_t *table, uint32_t words, uint32_t first, uint32_t last) {
  const uint32_t all = words * SEEDING_CELL_BITS, beyond = last - first < all ? last - first : all;
  const uint32_t begin = first % SEEDING_CELL_BITS, end = begin + beyond, word = first / SEEDING_CELL_BITS;
  if (beyond < SEEDING_CELL_BITS) { /* usual case */
    const uint32_t cells = UINT32_MAX >> (SEEDING_CELL_BITS - 1 - beyond);
    atomicOr(&table[word % words], cells << begin);
    if (end >= SEEDING_CELL_BITS) atomicOr(&table[(word + 1) % words], cells >> (SEEDING_CELL_BITS - begin));
    return;
  }
  SL_ROLLED for (uint32_t n = 0; n <= end / SEEDING_CELL_BITS; n++) {
    const uint32_t from = n == 0 ? begin : 0;
    const uint32_t to = n == end / SEEDING_CELL_BITS ? end % SEEDING_CELL_BITS : SEEDING_CELL_BITS - 1;
    atomicOr(&table[(word + n) % words], UINT32_MAX << from & UINT32_MAX >> (SEEDING_CELL_BITS - 1 - to));
  }
}

/* The word of the table that contains the cell, shifted so that the cell's bit is the lowest. */
static SL_DEVICE uint32_t seeding_cell_bit(const uint32_t *table, uint32_t words, uint32_t cell) {
  return table[cell / SEEDING_CELL_BITS % words] >> cell % SEEDING_CELL_BITS;
}

#endif
