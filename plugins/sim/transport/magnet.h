/* magnet.h: the field of the dipole, in T, at places in mm (README.md, "The magnet"). */
#ifndef SIM_MAGNET_H
#define SIM_MAGNET_H

/* The sign of the field. At `up`, the field on the axis points up: By > 0. */
enum { SIM_POLARITY_DOWN = -1, SIM_POLARITY_UP = 1 };

/* Where the field is made up of what the model says; zero elsewhere, mm. */
#define SIM_FIELD_BEGIN (-500.0)
#define SIM_FIELD_END   13000.0

/* The free way through the magnet: particles end at |x| > slope z + shift and |y| likewise. Between the first and the
 * last z these are the coils and poles; elsewhere nothing that is seen lies beyond. */
#define SIM_APERTURE_X_SLOPE 0.33
#define SIM_APERTURE_X_SHIFT 200.0
#define SIM_APERTURE_Y_SLOPE 0.27
#define SIM_APERTURE_Y_SHIFT 100.0

/* The field at (x, y, z) for `polarity`. */
void sim_magnet_field(double polarity, const double place[3], double field[3]);

/* MeV a T mm: momentum of a particle of unit charge over field times radius. */
#define SIM_BENDING 0.299792458

#endif
