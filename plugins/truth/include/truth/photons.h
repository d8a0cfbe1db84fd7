/* photons.h: true photons at the calorimeter, the payload of banks of type 240, which only simulated events have
 * (README.md, "Banks of truth"). */
#ifndef TRUTH_PHOTONS_H
#define TRUTH_PHOTONS_H

#include <stdint.h>

/* Little-endian records of photons that were not made in material, with at least this transverse energy. */
#define TRUTH_PHOTON_ET_MIN 100.0f /* MeV */
#define TRUTH_PHOTON_Z      12650.0f
enum { TRUTH_NO_PI0 = -1, TRUTH_NO_CELL = 6016, TRUTH_PHOTONS_VERSION = 1 };
struct truth_photon {
  float energy;  /* MeV */
  float x, y;    /* mm, at z = 12650 mm */
  uint32_t cell; /* calorimeter cell with the shower maximum; 6016: none */
  int32_t pi0;   /* common number of the photons of one pi0, or TRUTH_NO_PI0 */
};
enum { TRUTH_PHOTON_WORDS = sizeof(struct truth_photon) / sizeof(uint32_t) };

#endif
