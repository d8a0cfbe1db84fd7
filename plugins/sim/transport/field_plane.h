/* field_plane.h: the magnetic field in a plane of constant z, as polynomials.
 * All tracks are stepped through the same values of z, so that the field is needed in few planes: at the ends and
 * middles of the steps. In a plane the components are even polynomials of x and y,
 *     Bx = x y X(x^2, y^2)   By = Y(x^2, y^2)   Bz = y Z(x^2, y^2),
 * that equal the field of magnet.c at the Chebyshev nodes of the aperture. */
#ifndef SIM_FIELD_PLANE_H
#define SIM_FIELD_PLANE_H

enum { SIM_FIELD_TERMS = 6 }; /* terms in x^2, and in y^2 */

struct sim_field_plane {
  double z;
  double scale_x, scale_y; /* 1 / size^2 of the aperture */
  /* Single precision: errors of 1e-6 T. Coefficient [j][i] belongs to (scale_x x^2)^i (scale_y y^2)^j. */
  float bx[SIM_FIELD_TERMS][SIM_FIELD_TERMS];
  float by[SIM_FIELD_TERMS][SIM_FIELD_TERMS];
  float bz[SIM_FIELD_TERMS][SIM_FIELD_TERMS];
};

/* Field of polarity up; zero outside the range of the field model. */
void sim_field_plane_make(double z, struct sim_field_plane *plane);

#endif
