/* kalman_gun.h: tracks of known momentum, and their states at the planes of kalman/terms.h.
 * Half of the tracks are from collisions, with origins on the axis, Gaussian with 80 mm along z. The other half are
 * from decays at up to z = 2200 mm: uniform along z, on a line from the coordinate origin, with a Gaussian change of
 * slope of 150 MeV / p. 1/p, eta and phi are uniform, charges are equally frequent. At V, U3 and T0 the slopes change
 * by 3 MeV / p, as by scattering, so that states of a plane depend less on each other. Tracks are straight up to V, or
 * their origin. Polarity is down. A track is a function of seed and number. */
#ifndef CALIBRATE_KALMAN_GUN_H
#define CALIBRATE_KALMAN_GUN_H

#include "field.h"
#include "kalman/terms.h"

/* Positions of the planes in z, and half sizes of their outlines in x and y, mm. */
extern const double kalman_gun_z[KALMAN_PLANES], kalman_gun_size[KALMAN_PLANES][2];

struct kalman_gun_track {
  double q_over_p; /* e / MeV */
  int first, last; /* planes that are crossed within their outlines; first > last: none */
  /* x, y, tx, ty at the end of a leg, and at the begin of the next one, after the change of slope. */
  double end[KALMAN_PLANES][KALMAN_OUTPUTS], begin[KALMAN_PLANES][KALMAN_OUTPUTS];
};

/* Draws track `number` and takes it through the field as far as it gets. */
void kalman_gun_shoot(const struct field_map *map, uint64_t seed, uint32_t number, struct kalman_gun_track *track);

#endif
