/* magnet.h: field of the dipole magnet in T, positions in mm (README.md, "The magnet"). */
#ifndef SIM_MAGNET_H
#define SIM_MAGNET_H

/* Sign of the field. At `up`, the field on the axis points up: By > 0. */
enum { SIM_POLARITY_DOWN = -1, SIM_POLARITY_UP = 1 };

/* Range in z of the field model, mm; the field is zero outside. */
#define SIM_FIELD_BEGIN (-500.0)
#define SIM_FIELD_END   13000.0

/* Aperture of the magnet: particles end at |x| > X_SLOPE z + X_SHIFT and |y| > Y_SLOPE z + Y_SHIFT. The limits are
 * the coils and poles in the magnet; upstream and downstream of it no detector element is outside of them. */
#define SIM_APERTURE_X_SLOPE 0.33
#define SIM_APERTURE_X_SHIFT 200.0
#define SIM_APERTURE_Y_SLOPE 0.27
#define SIM_APERTURE_Y_SHIFT 100.0

/* Field at (x, y, z) for `polarity`. */
void sim_magnet_field(double polarity, const double position[3], double field[3]);

/* MeV / (T mm): momentum of a particle of unit charge, divided by field and radius. */
#define SIM_BENDING 0.299792458

#endif
