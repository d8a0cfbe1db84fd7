/* species.h: the kinds of particles, and how the unstable ones decay. Masses and lifetimes: Particle Data Group, Review
 * of Particle Physics 2022. */
#ifndef SIM_SPECIES_H
#define SIM_SPECIES_H

#include <stdint.h>

enum sim_species_id {
  SIM_PHOTON,
  SIM_ELECTRON,
  SIM_MUON,
  SIM_PION,
  SIM_PION_0,
  SIM_KAON,
  SIM_KAON_SHORT,
  SIM_PROTON,
  SIM_LAMBDA,
  SIM_PHI,
  SIM_D_0,
  SIM_JPSI,
  SIM_B_0,
  SIM_B_PLUS,
  SIM_B_S,
  SIM_D_STAR,
  SIM_B_S_TO_MUONS,
  SIM_Z,
  SIM_LAMBDA_C,
  SIM_LAMBDA_B,
  SIM_K_STAR,
  SIM_B_0_TO_K_STAR,
  SIM_NEUTRON,
  SIM_SPECIES_COUNT
};

struct sim_species {
  int32_t pdg;    /* of the particle; the antiparticle has the negative code, unless it is its own antiparticle */
  int32_t charge; /* of the particle, in e */
  uint32_t is_own_antiparticle;
  uint32_t daughter_count;          /* 0: stable, or decays only in flight */
  float mass;                       /* MeV */
  float ctau;                       /* mm; 0: decays at its origin */
  float decay_share;                /* fraction of decays with the daughters below; for the others see decay.c */
  enum sim_species_id daughters[3]; /* isotropic */
  int32_t daughter_signs[3];        /* for the particle; opposite for the antiparticle */
  uint32_t is_hadron;
  float ctau_in_flight; /* mm, of particles that are tracked and may decay on the way (decay.c); else 0 */
};

extern const struct sim_species sim_species[SIM_SPECIES_COUNT];

#endif
