/* field_plane.h: the magnet's field in a plane of constant z, as polynomials.
 *
 * All tracks are followed from plane to plane through the same values of z, so that the field is needed in few planes
 * only: those at which steps begin and end, and those in their middles. In each, the components are made of even
 * polynomials of x and y,
 *     Bx = x y X(x^2, y^2)   By = Y(x^2, y^2)   Bz = y Z(x^2, y^2),
 * that agree with magnet.c at the places of Chebyshev's interpolation over the aperture.
 */
#ifndef SIM_FIELD_PLANE_H
#define SIM_FIELD_PLANE_H

enum { SIM_FIELD_TERMS = 6 }; /* of x^2, and of y^2 */

struct sim_field_plane {
  double z;
  double scale_x, scale_y; /* 1 / size^2 of the aperture */
  /* Single precision: errors of 1e-6 T. Coefficient [j][i] goes with the i-th power of scale_x x^2 and the j-th of
   * scale_y y^2. */
  float bx[SIM_FIELD_TERMS][SIM_FIELD_TERMS];
  float by[SIM_FIELD_TERMS][SIM_FIELD_TERMS];
  float bz[SIM_FIELD_TERMS][SIM_FIELD_TERMS];
};

/* Polarity up. Outside of the model's range all is zero. */
void sim_field_plane_make(double z, struct sim_field_plane *plane);

#endif
