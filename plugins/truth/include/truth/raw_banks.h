/* raw_banks.h: raw banks of the Monte-Carlo truth. A minimum-bias event has about 27,000 (of 600, at most 87,000) words
 * of particles, and 85 photons of five words. */
#ifndef TRUTH_RAW_BANKS_H
#define TRUTH_RAW_BANKS_H

#include "io/raw_banks.h"

IO_RAW_BANKS(mc_particles, mc_particle_banks, "Monte-Carlo particle banks (type 32)", 4, 64, 40960, 262144, 32);
IO_RAW_BANKS(mc_vertices, mc_vertex_banks, "Monte-Carlo vertex banks (type 33)", 1, 64, 128, 16384, 33);
IO_RAW_BANKS(mc_photons, mc_photon_banks, "true photons at the calorimeter (type 240, simulated events only)", 1, 64,
             768, 65536, 240);

#endif
