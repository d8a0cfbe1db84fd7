/* field.c: see field.h. Double precision, in fixed order: the same bits on all targets. */
#include "field.h"

#include "transport/magnet.h"

#include <math.h>

/* ------------------------------------------------------------------------------------------ interpolation */

/* Weights of the four coefficients around t (0 to 1) between grid points: cubic B-splines. */
static void spline_weights(double t, double w[4]) {
  const double u = 1 - t, sixth = 1.0 / 6;
  w[0] = sixth * (u * u * u);
  w[1] = sixth * (4 - 6 * (t * t) + 3 * (t * t * t));
  w[2] = sixth * (4 - 6 * (u * u) + 3 * (u * u * u));
  w[3] = sixth * (t * t * t);
}

static int interpolate(const struct field_map *map, const double position[3], double field[3]) {
  double w[3][4];
  size_t first[3];
  for (int k = 0; k < 3; k++) {
    const struct field_axis *a = &map->axes[k];
    if (!(position[k] >= a->low && position[k] <= a->high)) return 0;
    const double steps = (position[k] - a->low) * (a->count - 1) / (a->high - a->low);
    first[k] = (size_t)steps;
    if (first[k] > a->count - 2) first[k] = a->count - 2;
    spline_weights(steps - (double)first[k], w[k]);
  }
  const size_t row = map->axes[0].count + 2u, plane = row * (map->axes[1].count + 2u);
  double sum[3] = {0};
  for (size_t k = 0; k < 4; k++)
    for (size_t j = 0; j < 4; j++) {
      const double *at = map->spline + 3 * ((first[2] + k) * plane + (first[1] + j) * row + first[0]);
      const double weight = w[2][k] * w[1][j];
      for (int c = 0; c < 3; c++)
        sum[c] += weight * (w[0][0] * at[c] + w[0][1] * at[3 + c] + w[0][2] * at[6 + c] + w[0][3] * at[9 + c]);
    }
  for (int c = 0; c < 3; c++) field[c] = sum[c];
  return 1;
}

int field_at(const struct field_map *map, const double position[3], double field[3]) {
  if (map) return interpolate(map, position, field);
  sim_magnet_field(SIM_POLARITY_DOWN, position, field);
  return 1;
}

/* ---------------------------------------------------------------------------------------------- Runge-Kutta */

/* d(tx, ty) / dz, with k = SIM_BENDING q/p. */
static void bend(double k, const double slope[2], const double field[3], double change[2]) {
  const double tx = slope[0], ty = slope[1], n = k * sqrt(1 + tx * tx + ty * ty);
  change[0] = n * (ty * (tx * field[0] + field[2]) - (1 + tx * tx) * field[1]);
  change[1] = n * ((1 + ty * ty) * field[0] - tx * (ty * field[1] + field[2]));
}

/* A fourth-order Runge-Kutta-Nystroem step. */
static int step(const struct field_map *map, double k, double h, struct field_state *s) {
  const double half = 0.5 * h, sixth = h / 6, tx = s->at[2], ty = s->at[3];
  const double begin[3] = {s->at[0], s->at[1], s->z}, slope[2] = {tx, ty};
  double field[3], first[2], second[2], third[2], fourth[2];
  if (!field_at(map, begin, field)) return 0;
  bend(k, slope, field, first);
  const double middle[3] = {begin[0] + half * (tx + 0.5 * half * first[0]),
                            begin[1] + half * (ty + 0.5 * half * first[1]), s->z + half};
  const double slope_2[2] = {tx + half * first[0], ty + half * first[1]};
  if (!field_at(map, middle, field)) return 0;
  bend(k, slope_2, field, second);
  const double slope_3[2] = {tx + half * second[0], ty + half * second[1]};
  bend(k, slope_3, field, third);
  const double end[3] = {begin[0] + h * (tx + half * third[0]), begin[1] + h * (ty + half * third[1]), s->z + h};
  const double slope_4[2] = {tx + h * third[0], ty + h * third[1]};
  if (!field_at(map, end, field)) return 0;
  bend(k, slope_4, field, fourth);
  for (int i = 0; i < 2; i++) {
    s->at[i] += h * slope[i] + h * sixth * (first[i] + second[i] + third[i]);
    s->at[2 + i] += sixth * (first[i] + 2 * second[i] + 2 * third[i] + fourth[i]);
  }
  s->z += h;
  return fabs(s->at[0]) <= SIM_APERTURE_X_SLOPE * s->z + SIM_APERTURE_X_SHIFT &&
         fabs(s->at[1]) <= SIM_APERTURE_Y_SLOPE * s->z + SIM_APERTURE_Y_SHIFT;
}

int field_advance(const struct field_map *map, double q_over_p, double z, struct field_state *s) {
  const double step_max = 100, dz = z - s->z;
  const int steps = (int)(fabs(dz) / step_max) + 1;
  for (int i = 0; i < steps; i++)
    if (!step(map, SIM_BENDING * q_over_p, dz / steps, s)) return 0;
  s->z = z;
  return 1;
}
