/* magnet.c: see magnet.h.
 *
 * Seven pairs of lines of magnetic charge along x, of length 2 A, above and below the plane y = 0, outside the way of
 * particles, like the faces of the poles (the first six) and the yoke (the last). A sum of such lines has neither
 * divergence nor curl where no line is.
 *
 * Doubles, in this order of operations, without contraction: the same bits everywhere.
 */
#include "magnet.h"

#include <math.h>

/* Half length A, height Y and place Z in mm; strength in T mm. */
static const struct {
  double half_length, height, z, strength;
} lines[] = {
    {3391.20, 1215.31, 2745.35, -244.454}, {3526.62, 1395.22, 3307.10, 565.026}, {3679.51, 1598.32, 3941.29, -403.280},
    {3894.96, 1884.54, 4835.03, 538.183},  {4152.15, 2226.20, 5901.88, 467.996}, {4421.43, 2583.92, 7018.87, -33.216},
    {4115.07, 4068.45, 5227.30, -579.099},
};
enum { LINES = sizeof lines / sizeof lines[0] };

void sim_magnet_field(double polarity, const double place[3], double field[3]) {
  const double x = place[0], y = place[1], z = place[2];
  double bx = 0, by = 0, bz = 0;
  for (int i = 0; i < LINES && z >= SIM_FIELD_BEGIN && z <= SIM_FIELD_END; i++) {
    const double d = z - lines[i].z, strength = lines[i].strength;
    const double to_end = x + lines[i].half_length, from_end = x - lines[i].half_length; /* of the lines, in x */
    const double above = y + lines[i].height, below = lines[i].height - y;               /* the lower, the upper line */
    const double r2 = above * above + d * d, q2 = below * below + d * d;
    const double from_r = 1 / sqrt(from_end * from_end + r2), to_r = 1 / sqrt(to_end * to_end + r2);
    const double from_q = 1 / sqrt(from_end * from_end + q2), to_q = 1 / sqrt(to_end * to_end + q2);
    const double lower = (to_end * to_r - from_end * from_r) / r2, upper = (to_end * to_q - from_end * from_q) / q2;
    bx += strength * ((from_r - to_r) - (from_q - to_q));
    by += strength * (above * lower + below * upper);
    bz += strength * (d * (lower - upper));
  }
  field[0] = polarity * bx;
  field[1] = polarity * by;
  field[2] = polarity * bz;
}
