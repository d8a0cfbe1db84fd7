/* field_plane.c: see field_plane.h. Interpolates through N positions per direction with Newton's divided
 * differences, first along x, then along y. */
#include "field_plane.h"

#include "magnet.h"

#include <math.h>

enum { TERMS = SIM_FIELD_TERMS };

/* cos^2 ((2 k + 1) pi / 24): squared zeros of the Chebyshev polynomial of degree 12, which is even. */
static const double chebyshev_nodes[TERMS] = {0.98296291314453414, 0.85355339059327376, 0.62940952255126037,
                                              0.37059047744873963, 0.14644660940672624, 0.017037086855465844};

/* Replaces the values at `chebyshev_nodes`, `stride` apart in memory, by the coefficients of their polynomial. */
static void interpolate(double *values, int stride) {
  double newton[TERMS], power[TERMS] = {0};
  for (int i = 0; i < TERMS; i++) newton[i] = values[i * stride];
  for (int order = 1; order < TERMS; order++)
    for (int i = TERMS - 1; i >= order; i--)
      newton[i] = (newton[i] - newton[i - 1]) / (chebyshev_nodes[i] - chebyshev_nodes[i - order]);
  for (int i = TERMS - 1; i >= 0; i--) { /* power = power (t - chebyshev_nodes[i]) + newton[i] */
    for (int k = TERMS - 1; k > 0; k--) power[k] = power[k - 1] - power[k] * chebyshev_nodes[i];
    power[0] = newton[i] - power[0] * chebyshev_nodes[i];
  }
  for (int i = 0; i < TERMS; i++) values[i * stride] = power[i];
}

static void interpolate_plane(double values[TERMS][TERMS], float coefficients[TERMS][TERMS]) {
  for (int j = 0; j < TERMS; j++) interpolate(values[j], 1);
  for (int i = 0; i < TERMS; i++) interpolate(&values[0][i], TERMS);
  for (int j = 0; j < TERMS; j++)
    for (int i = 0; i < TERMS; i++) coefficients[j][i] = (float)values[j][i];
}

void sim_field_plane_make(double z, struct sim_field_plane *plane) {
  const double size_x = SIM_APERTURE_X_SLOPE * z + SIM_APERTURE_X_SHIFT;
  const double size_y = SIM_APERTURE_Y_SLOPE * z + SIM_APERTURE_Y_SHIFT;
  double bx[TERMS][TERMS], by[TERMS][TERMS], bz[TERMS][TERMS];
  plane->z = z;
  plane->scale_x = 1 / (size_x * size_x);
  plane->scale_y = 1 / (size_y * size_y);
  for (int j = 0; j < TERMS; j++) {
    for (int i = 0; i < TERMS; i++) {
      const double position[3] = {size_x * sqrt(chebyshev_nodes[i]), size_y * sqrt(chebyshev_nodes[j]), z};
      double field[3];
      sim_magnet_field(SIM_POLARITY_UP, position, field);
      bx[j][i] = field[0] / (position[0] * position[1]);
      by[j][i] = field[1];
      bz[j][i] = field[2] / position[1];
    }
  }
  interpolate_plane(bx, plane->bx);
  interpolate_plane(by, plane->by);
  interpolate_plane(bz, plane->bz);
}
