/* lines.h: energy of the cells on straight lines (README.md, "Lines"). Private to the plugin.
 *
 * A line is intersected with a few planes; each point is in at most one cell, and each cell counts once. A GPU thread
 * processes one line; a CPU 32 lines as vector lanes.
 */
#ifndef CALO_LINES_H
#define CALO_LINES_H

#include "cells.h"

#include <sluice/kernel.h>

enum { LINE_PLANES_MAX = 6 };

/* Planes of intersection: front, shower maximum, then by ascending z. The number of planes is a compile-time constant
 * of the caller. */
enum { PLANE_SHOWER_MAX = 1 };
struct calo_planes {
  float plane[LINE_PLANES_MAX][PLANE_VALUES];
};

/* Front, shower maximum, `parts` - 1 planes that divide the depth evenly, and back. */
static inline SL_UNUSED struct calo_planes calo_planes_of(const struct calo_geometry_view *g, uint32_t parts) {
  struct calo_planes p;
  memset(&p, 0, sizeof p);
  for (uint32_t i = 0; i < parts + 2; i++) {
    const uint32_t from = i == PLANE_SHOWER_MAX ? SHOWER_MAX : FRONT;
    const float part = i > PLANE_SHOWER_MAX ? (float)(i - 1) / (float)parts : 0.0f;
    for (uint32_t k = 0; k < PLANE_VALUES; k++) {
      const float begin = g->planes[PLANE_VALUES * from + k], end = g->planes[PLANE_VALUES * BACK + k];
      p.plane[i][k] = begin + part * (end - begin);
    }
  }
  return p;
}

/* Lines, one per lane: through (x, y, z), with slopes. */
struct calo_lines {
  float x[SL_LANES32], y[SL_LANES32], z[SL_LANES32], tx[SL_LANES32], ty[SL_LANES32];
};

/* Cells of the lines, by plane; CALO_CELLS: none. */
struct calo_line_cells {
  uint32_t cell[LINE_PLANES_MAX][SL_LANES32];
};

/* Difference in z from the point of a line to its intersection with a plane. */
SL_MATH_FUNCTION float calo_line_distance(const float *plane, float x, float y, float z, float tx, float ty) {
  const float a = plane[0], b = plane[1], c = plane[2], d = plane[3];
  return -(a * x + b * y + c * z + d) / (a * tx + b * ty + c);
}

/* Number of lines to process together if `left` lines remain. */
static SL_DEVICE uint32_t calo_lanes_of(uint32_t left) { return left < 32 ? left : 32; }

/* Finds the cells of the first `count` lines. */
static SL_DEVICE void calo_find_cells(const struct calo_grid *grid, const struct calo_planes *planes,
                                      uint32_t plane_count, const struct calo_lines *lines, uint32_t count,
                                      struct calo_line_cells *found) {
  SL_UNROLL
  for (uint32_t i = 0; i < plane_count; i++) {
    SL_FOR_LANES32_OF (j, count) {
      const uint32_t lane = SL_LANE32(j);
      const float x = lines->x[lane], y = lines->y[lane], z = lines->z[lane];
      const float tx = lines->tx[lane], ty = lines->ty[lane];
      const float distance = calo_line_distance(planes->plane[i], x, y, z, tx, ty);
      found->cell[i][lane] = calo_cell_at(grid, x + tx * distance, y + ty * distance, z + distance);
    }
  }
}

/* Energy of the different cells of a line that read at least the pedestal. Branch-free, because branches would be
 * unpredictable. */
static SL_DEVICE float calo_line_energy(uint32_t plane_count, const struct calo_line_cells *found, uint32_t lane,
                                        const int16_t *adc, const float *gain, float pedestal) {
  float sum = 0.0f;
  SL_UNROLL
  for (uint32_t i = 0; i < plane_count; i++) {
    const uint32_t cell = found->cell[i][lane], there = cell == CALO_CELLS ? 0 : cell;
    const int32_t value = adc[there];
    const float energy = calo_energy(gain[there], pedestal, value);
    uint32_t counts = (cell != CALO_CELLS) & (value != CALO_NO_ADC) & (energy >= 0.0f);
    SL_UNROLL
    for (uint32_t k = 0; k < i; k++) counts &= found->cell[k][lane] != cell;
    sum += counts ? energy : 0.0f;
  }
  return sum;
}

#endif
