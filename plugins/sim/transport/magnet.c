/* magnet.c: see magnet.h.
 * The field is the sum of seven pairs of lines of magnetic charge along x, of length 2 A, above and below the plane y =
 * 0 and outside of the aperture. The first six pairs model the faces of the poles, the last pair the yoke. Such a field
 * has no divergence or curl off the lines.
 * Double precision, in this order of operations, without contraction: the same bits on all targets. */
#include "magnet.h"

#include <math.h>

/* Half length A, height Y and position Z in mm; strength in T mm. The eighth pair has no strength; it fills the
 * vectors. */
enum { LINES = 8 };
static const double half_length[LINES] = {3391.20, 3526.62, 3679.51, 3894.96, 4152.15, 4421.43, 4115.07, 4115.07};
static const double height[LINES] = {1215.31, 1395.22, 1598.32, 1884.54, 2226.20, 2583.92, 4068.45, 4068.45};
static const double line_z[LINES] = {2745.35, 3307.10, 3941.29, 4835.03, 5901.88, 7018.87, 5227.30, 5227.30};
static const double strength[LINES] = {-244.454, 565.026, -403.280, 538.183, 467.996, -33.216, -579.099, 0};

void sim_magnet_field(double polarity, const double position[3], double field[3]) {
  const double x = position[0], y = position[1], z = position[2];
  double each_x[LINES], each_y[LINES], each_z[LINES], bx = 0, by = 0, bz = 0;
  const int is_inside = z >= SIM_FIELD_BEGIN && z <= SIM_FIELD_END;
  for (int i = 0; i < LINES; i++) {
    const double d = z - line_z[i];
    const double to_end = x + half_length[i], from_end = x - half_length[i]; /* to the ends of the lines, in x */
    const double above = y + height[i], below = height[i] - y;               /* to the lower and the upper line */
    const double r2 = above * above + d * d, q2 = below * below + d * d;
    const double from_r = 1 / sqrt(from_end * from_end + r2), to_r = 1 / sqrt(to_end * to_end + r2);
    const double from_q = 1 / sqrt(from_end * from_end + q2), to_q = 1 / sqrt(to_end * to_end + q2);
    const double lower = (to_end * to_r - from_end * from_r) / r2, upper = (to_end * to_q - from_end * from_q) / q2;
    each_x[i] = strength[i] * ((from_r - to_r) - (from_q - to_q));
    each_y[i] = strength[i] * (above * lower + below * upper);
    each_z[i] = strength[i] * (d * (lower - upper));
  }
  for (int i = 0; i < LINES && is_inside; i++) {
    bx += each_x[i];
    by += each_y[i];
    bz += each_z[i];
  }
  field[0] = polarity * bx;
  field[1] = polarity * by;
  field[2] = polarity * bz;
}
