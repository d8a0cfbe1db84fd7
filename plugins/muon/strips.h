/* strips.h: numbers for all pads and strips of the detector, used as bits of a bitmap. Private to the plugin.
 *
 * Numbers ascend with grid (4 station + region) and quarter; within a quarter first come x strips or pads, row by row,
 * then y strips, column by column, both for the full square including the missing corner. Therefore the y strips that
 * cross an x strip have adjacent numbers, and so do the x strips that cross a y strip. A grid begins at a multiple
 * of 32.
 */
#ifndef MUON_STRIPS_H
#define MUON_STRIPS_H

#include "muon/event_model.h"

enum {
  STRIP_WIDE_MAX = 32, /* bits that are read together */
  STRIP_HIGH_MAX = 8,
  STRIP_WORDS_MAX = MUON_TILES_MAX / 32,
  STRIP_GRID_VALUES = 12
};

/* Strip numbers of a grid. */
struct strip_grid {
  uint32_t first;          /* number of the first strip */
  uint32_t quarter;        /* number of strips of a quarter */
  uint32_t y_first;        /* number of the first y strip in the quarter */
  uint32_t grid_x, grid_y; /* grid of the pads */
  uint32_t wide, high;     /* x strips across a y strip, and y strips across an x strip; 1, 1: there are pads only */
  uint32_t place[MUON_TABLES]; /* first position of each table, in muon.cross */
  uint32_t reserved[2];
};

SL_MATH_FUNCTION uint32_t strip_grid_has_pads(const struct strip_grid *g) { return g->wide * g->high == 1; }

/* 1 if the tile is a y strip; 0 for x strips and pads. */
SL_MATH_FUNCTION uint32_t strip_is_y(const struct strip_grid *g, uint32_t tile) {
  return !(muon_tile_grid_x(tile) == g->grid_x && muon_tile_grid_y(tile) * g->high == g->grid_y);
}

SL_MATH_FUNCTION uint32_t strip_quarter_first(const struct strip_grid *g, uint32_t tile) {
  return g->first + muon_tile_quarter(tile) * g->quarter;
}
/* Numbers of the x strip or pad, and of the y strip, at (x, y) in the quarter of the tile. */
SL_MATH_FUNCTION uint32_t strip_x_number(const struct strip_grid *g, uint32_t tile, uint32_t x, uint32_t y) {
  return strip_quarter_first(g, tile) + 2u * g->grid_x * y + x;
}
SL_MATH_FUNCTION uint32_t strip_y_number(const struct strip_grid *g, uint32_t tile, uint32_t x, uint32_t y) {
  return strip_quarter_first(g, tile) + g->y_first + 2u * g->grid_y * x + y;
}
SL_MATH_FUNCTION uint32_t strip_number(const struct strip_grid *g, uint32_t tile) {
  const uint32_t x = muon_tile_x(tile), y = muon_tile_y(tile);
  return strip_is_y(g, tile) ? strip_y_number(g, tile, x, y) : strip_x_number(g, tile, x, y);
}

/* Number of words of a bitmap, rounded up to a multiple of four. */
SL_MATH_FUNCTION uint32_t strip_words(const struct strip_grid *grids) {
  const struct strip_grid *last = &grids[MUON_GRIDS - 1];
  return (last->first + MUON_QUARTERS * last->quarter + 127u) / 128u * 4u;
}

/* ------------------------------------------------------------------------------------------------- the host */

/* Makes the MUON_GRIDS grids, without `place`. Returns NULL, or a message if the geometry is not usable. */
static inline const char *strip_grids_make(const struct muon_geometry_view *geometry, struct strip_grid *grids) {
  uint32_t next = 0, pads = 0;
  for (uint32_t i = 0; i < MUON_GRIDS; i++) {
    struct strip_grid *g = &grids[i];
    uint32_t x[MUON_TABLES], y[MUON_TABLES];
    for (uint32_t t = 0; t < MUON_TABLES; t++) {
      x[t] = geometry->grid[2 * MUON_GRIDS * t + i];
      y[t] = geometry->grid[2 * MUON_GRIDS * t + MUON_GRIDS + i];
    }
    if (x[MUON_X_STRIPS] != x[MUON_PADS]) return "x strips are not as many in x as pads";
    if (y[MUON_Y_STRIPS] != y[MUON_PADS]) return "y strips are not as many in y as pads";
    g->grid_x = x[MUON_PADS];
    g->grid_y = y[MUON_PADS];
    g->wide = g->grid_x / x[MUON_Y_STRIPS];
    g->high = g->grid_y / y[MUON_X_STRIPS];
    if (g->wide * x[MUON_Y_STRIPS] != g->grid_x || g->high * y[MUON_X_STRIPS] != g->grid_y)
      return "a strip has not a whole number of pads";
    if (g->wide > STRIP_WIDE_MAX) return "a y strip has more than 32 pads";
    if (g->high > STRIP_HIGH_MAX) return "an x strip has more than 8 pads";
    g->first = next;
    g->y_first = 4 * x[MUON_X_STRIPS] * y[MUON_X_STRIPS];
    g->quarter = g->y_first + (strip_grid_has_pads(g) ? 0 : 4 * x[MUON_Y_STRIPS] * y[MUON_Y_STRIPS]);
    next = (next + MUON_QUARTERS * g->quarter + 31) / 32 * 32;
    pads += MUON_QUARTERS * muon_quarter_size(g->grid_x, g->grid_y);
  }
  if (next > MUON_TILES_MAX) return "there are more strips than a bitmap of 32768";
  if (pads > MUON_HITS_MAX) return "there are more than 65535 pads";
  return NULL;
}

#endif
