/* field.h: the magnetic field that tracks pass: the simulation's model, or a user's map. */
#ifndef CALIBRATE_FIELD_H
#define CALIBRATE_FIELD_H

#include <sluice/plugin.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A field on a regular grid, interpolated along x, y and z by polynomials of third degree between two points, with
 * continuous first derivatives, from the six nearest points. Axes are x, y and z, components Bx, By, Bz. */
enum { FIELD_MAP_POINTS = 6 }; /* least number of points along an axis */
struct field_axis {
  double low, high; /* mm */
  uint32_t count;   /* grid points */
};
struct field_map {
  struct field_axis axes[3];
  double *values; /* T; component fastest, then x, y, z */
};

/* Reads a map (plugins/kalman/README.md). Returns SL_OK, or an error after the message FILE:LINE: reason. */
int field_map_load(const struct sl_services *services, const char *path, struct field_map *map);
/* Reads an open file. Returns 0, or the number of the wrong line (the last line if something is missing) with the
 * reason.
 */
uint32_t field_map_read(FILE *file, struct field_map *map, char *reason, size_t reason_size);
void field_map_free(struct field_map *map);

/* Sets the field in T at a position in mm, for polarity down. Returns 0 outside the map. Without a map, the model
 * (sim/transport/magnet.h). */
int field_at(const struct field_map *map, const double position[3], double field[3]);

/* State of a track at z: x, y, tx, ty. */
struct field_state {
  double z, at[4];
};

/* Takes a track of q/p in e/MeV, at polarity down, to z, in Runge-Kutta steps of at most 100 mm. Returns 0 if it leaves
 * the map or the aperture of the magnet. */
int field_advance(const struct field_map *map, double q_over_p, double z, struct field_state *state);

#endif
