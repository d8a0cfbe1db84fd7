/* cells.h: the calorimeter's grids of cells, for kernels and host code: the cell at a position (README.md, "Lines").
 * Private to the plugin.
 */
#ifndef CALO_CELLS_H
#define CALO_CELLS_H

#include "calo/bank_words.h"

#include <sluice/math.h>
#include <sluice/plugin.h>

/* Grids of the areas and their holes, in cells. */
enum {
  OUTER_COLUMNS = 64,
  OUTER_ROWS = 52,
  OUTER_HOLE_COLUMNS = 32,
  OUTER_HOLE_ROWS = 20,
  MIDDLE_FIRST = OUTER_COLUMNS * OUTER_ROWS - OUTER_HOLE_COLUMNS * OUTER_HOLE_ROWS,
  MIDDLE_COLUMNS = 64,
  MIDDLE_ROWS = 40,
  MIDDLE_HOLE_COLUMNS = 32,
  MIDDLE_HOLE_ROWS = 24,
  INNER_FIRST = MIDDLE_FIRST + MIDDLE_COLUMNS * MIDDLE_ROWS - MIDDLE_HOLE_COLUMNS * MIDDLE_HOLE_ROWS,
  INNER_COLUMNS = 48,
  INNER_ROWS = 36,
  INNER_HOLE_COLUMNS = 16,
  INNER_HOLE_ROWS = 12
};

/* Planes of the geometry, a, b, c, d each. */
enum { FRONT, SHOWER_MAX, BACK, PLANE_VALUES = 4 };

/* Numbers for the conversion of positions to cells. */
struct calo_grid {
  float y_of_y, y_of_z, y_shift;                         /* local y from global y and z */
  float outer_cell;                                      /* mm */
  float per_outer_cell, per_middle_cell, per_inner_cell; /* 1/mm: reciprocals of the widths of cells */
};

SL_MATH_FUNCTION struct calo_grid calo_grid_of(const struct calo_geometry_view *g) {
  struct calo_grid grid;
  grid.y_of_y = g->to_local[5];
  grid.y_of_z = g->to_local[6];
  grid.y_shift = g->to_local[7];
  grid.outer_cell = g->cell_size[0];
  grid.per_outer_cell = 1.0f / grid.outer_cell;
  grid.per_middle_cell = 2.0f / grid.outer_cell;
  grid.per_inner_cell = 3.0f / grid.outer_cell;
  return grid;
}

/* The cell at a position, or CALO_CELLS. Without branches, so that loops vectorise. A position on the border of an area
 * belongs to the outer area; rows and columns are counted from below and from -x, and include their lower borders. */
SL_MATH_FUNCTION uint32_t calo_cell_at(const struct calo_grid *grid, float x, float y, float z) {
  const float cell = grid->outer_cell, per_outer_cell = grid->per_outer_cell, per_middle_cell = grid->per_middle_cell;
  const float per_inner_cell = grid->per_inner_cell;
  const float local_y = grid->y_of_y * y + grid->y_of_z * z + grid->y_shift;
  const float side = sl_abs_f32(x), height = sl_abs_f32(local_y);
  const int32_t in_outer = (side < 32.0f * cell) & (height < 26.0f * cell);
  const int32_t in_middle = (side < 16.0f * cell) & (height < 10.0f * cell);
  const int32_t in_inner = (side < 8.0f * cell) & (height < 6.0f * cell);
  const float per_cell = in_inner ? per_inner_cell : in_middle ? per_middle_cell : per_outer_cell;
  const int32_t columns = in_inner ? INNER_COLUMNS : OUTER_COLUMNS;
  const int32_t rows = in_inner ? INNER_ROWS : in_middle ? MIDDLE_ROWS : OUTER_ROWS;
  const int32_t hole_columns = in_inner ? INNER_HOLE_COLUMNS : OUTER_HOLE_COLUMNS;
  const int32_t hole_rows = in_inner ? INNER_HOLE_ROWS : in_middle ? MIDDLE_HOLE_ROWS : OUTER_HOLE_ROWS;
  const int32_t first = in_inner ? INNER_FIRST : in_middle ? MIDDLE_FIRST : 0;
  const int32_t column = (int32_t)((in_outer ? x : 0.0f) * per_cell + 0.5f * (float)columns);
  const int32_t row = (int32_t)((in_outer ? local_y : 0.0f) * per_cell + 0.5f * (float)rows);
  /* Relative to the corner of the hole. Cells to the right of the hole or above it are preceded by fewer cells, by the
   * number in the hole. */
  const int32_t beside = column - (columns - hole_columns) / 2, above = row - (rows - hole_rows) / 2;
  const int32_t is_right = beside >= hole_columns, is_above = above >= hole_rows, is_below = above < 0;
  const int32_t in_hole = (beside >= 0) & !is_right & !is_below & !is_above;
  const int32_t full_rows = is_below ? 0 : is_above ? hole_rows : above;
  const int32_t missing = (full_rows + ((is_right & !is_below & !is_above) ? 1 : 0)) * hole_columns;
  const int32_t exists = in_outer & !in_hole & (column < columns) & (row < rows);
  return exists ? (uint32_t)(first + row * columns + column - missing) : (uint32_t)CALO_CELLS;
}

/* z of the plane of shower maximum. */
SL_MATH_FUNCTION float calo_shower_z(const struct calo_geometry_view *g, float x, float y) {
  const float *plane = g->planes + PLANE_VALUES * SHOWER_MAX;
  return -(plane[0] * x + plane[1] * y + plane[3]) / plane[2];
}

/* Checks that the grids match the geometry; reports the first cell that does not. */
static inline SL_UNUSED int calo_grid_check(const struct sl_services *s, const struct calo_geometry_view *g) {
  const struct calo_grid grid = calo_grid_of(g);
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) {
    const float x = g->xy[2 * cell], y = g->xy[2 * cell + 1];
    if (calo_cell_at(&grid, x, y, calo_shower_z(g, x, y)) == cell) continue;
    s->message(s->context, SL_ERROR, "cell %u of the geometry is not at its position in the calorimeter's grid", cell);
    return SL_EINVAL;
  }
  return SL_OK;
}

#endif
