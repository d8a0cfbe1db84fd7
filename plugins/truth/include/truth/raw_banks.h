/* raw_banks.h: the raw banks of the Monte-Carlo truth. A minimum-bias event has some 25,000 (at most 82,000) words
 * of particles, and some 30 photons of five. */
#ifndef TRUTH_RAW_BANKS_H
#define TRUTH_RAW_BANKS_H

#include "io/raw_banks.h"

IO_RAW_BANKS(mc_particles, mc_particle_banks, "Monte-Carlo particle banks (type 32)", 4, 64, 32768, 262144, 32);
IO_RAW_BANKS(mc_vertices, mc_vertex_banks, "Monte-Carlo vertex banks (type 33)", 1, 64, 128, 16384, 33);
IO_RAW_BANKS(mc_photons, mc_photon_banks, "true photons at the calorimeter (type 240, of simulated events alone)", 1,
             64, 512, 65536, 240);

#endif
