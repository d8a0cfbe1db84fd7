/* line_support.h: energy along straight lines, point by point, for tests of calo.electron_id and calo.bremsstrahlung.
 * Included by one file of a test.
 */
#ifndef TEST_CALO_LINE_SUPPORT_H
#define TEST_CALO_LINE_SUPPORT_H

#include "../../plugins/calo/cells.h"
#include "calo_support.h"

struct line {
  float x, y, z, tx, ty;
};

/* The cell in which a line meets the plane between two planes of the geometry, computed in double. */
static uint32_t cell_of_line(const struct line *l, uint32_t from, uint32_t to, double part) {
  static struct calo_geometry_view g;
  const float *planes = calo_of("planes");
  double plane[4];
  g.to_local = calo_of("to_local");
  g.cell_size = calo_of("cell_size");
  for (int i = 0; i < 4; i++)
    plane[i] = (double)planes[4 * from + i] + part * ((double)planes[4 * to + i] - (double)planes[4 * from + i]);
  const double x = (double)l->x, y = (double)l->y, z = (double)l->z, tx = (double)l->tx, ty = (double)l->ty;
  const double way =
      -(plane[0] * x + plane[1] * y + plane[2] * z + plane[3]) / (plane[0] * tx + plane[1] * ty + plane[2]);
  const struct calo_grid grid = calo_grid_of(&g);
  return calo_cell_at(&grid, (float)(x + tx * way), (float)(y + ty * way), (float)(z + way));
}

/* Energy of the different cells at front, shower maximum, `parts` - 1 depths between, and back. */
static SL_UNUSED float energy_of_line(const struct line *l, const int16_t *adc, uint32_t parts) {
  const float *gain = calo_of("gain"), pedestal = *(const float *)calo_of("pedestal");
  uint32_t cells[8];
  float sum = 0;
  for (uint32_t i = 0; i < parts + 2; i++) {
    cells[i] = i == 0   ? cell_of_line(l, FRONT, FRONT, 0)
               : i == 1 ? cell_of_line(l, SHOWER_MAX, SHOWER_MAX, 0)
                        : cell_of_line(l, FRONT, BACK, (double)(i - 1) / parts);
    uint32_t is_new = cells[i] < CALO_CELLS && adc[cells[i]] != CALO_NO_ADC;
    for (uint32_t k = 0; k < i; k++) is_new &= cells[k] != cells[i];
    const float energy = is_new ? gain[cells[i]] * ((float)adc[cells[i]] - pedestal) : 0;
    if (energy > 0) sum += energy;
  }
  return sum;
}

#endif
