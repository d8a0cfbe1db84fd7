/* field.c: see field.h. Double precision, in fixed order: the same bits on all targets. */
#include "field.h"

#include "transport/magnet.h"

#include <math.h>

/* ------------------------------------------------------------------------------------------ interpolation */

enum { POINTS = FIELD_MAP_POINTS };

/* Adds `factor` times the derivative at grid point i of `count` to the weights of the points from `first` on: a
 * polynomial of fourth degree through five points, i in their middle except near the ends. */
static void add_derivative(double factor, size_t i, size_t count, size_t first, double weights[POINTS]) {
  static const double formulas[5][5] = {
      {-25, 48, -36, 16, -3}, {-3, -10, 18, -6, 1}, {1, -8, 0, 8, -1}, {-1, 6, -18, 10, 3}, {3, -16, 36, -48, 25}};
  const size_t begin = i < 2 ? 0 : i + 3 > count ? count - 5 : i - 2; /* of the five points */
  for (size_t k = 0; k < 5; k++) weights[begin - first + k] += factor * formulas[i - begin][k] / 12;
}

/* Sets the weights of six grid points along an axis; returns the first one. */
static size_t weigh(const struct field_axis *a, double position, double weights[POINTS]) {
  const double steps = (position - a->low) * (a->count - 1) / (a->high - a->low);
  const size_t i = (size_t)steps < a->count - 2u ? (size_t)steps : a->count - 2u;
  const size_t first = i < 2 ? 0 : i + 4 > a->count ? a->count - POINTS : i - 2;
  const double t = steps - (double)i, u = 1 - t;
  for (size_t k = 0; k < POINTS; k++) weights[k] = 0;
  weights[i - first] = u * u * (1 + 2 * t);
  weights[i + 1 - first] = t * t * (1 + 2 * u);
  add_derivative(t * u * u, i, a->count, first, weights);
  add_derivative(-(t * t * u), i + 1, a->count, first, weights);
  return first;
}

static int interpolate(const struct field_map *map, const double position[3], double field[3]) {
  double w[3][POINTS], sum[3] = {0};
  size_t first[3];
  for (int k = 0; k < 3; k++) {
    if (!(position[k] >= map->axes[k].low && position[k] <= map->axes[k].high)) return 0;
    first[k] = weigh(&map->axes[k], position[k], w[k]);
  }
  const size_t row = map->axes[0].count, plane = row * map->axes[1].count;
  for (size_t k = 0; k < POINTS; k++)
    for (size_t j = 0; j < POINTS; j++) {
      const double *at = map->values + 3 * ((first[2] + k) * plane + (first[1] + j) * row + first[0]);
      const double weight = w[2][k] * w[1][j];
      double part[3] = {0};
      for (size_t i = 0; i < POINTS; i++)
        for (int c = 0; c < 3; c++) part[c] += w[0][i] * at[3 * i + (size_t)c];
      for (int c = 0; c < 3; c++) sum[c] += weight * part[c];
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
