/* species.h: the kinds of particles, and how the unstable ones decay. Masses, lifetimes and branching fractions:
 * Particle Data Group, Review of Particle Physics 2022. */
#ifndef SIM_SPECIES_H
#define SIM_SPECIES_H

#include <stdint.h>

enum sim_species_id {
  SIM_NOTHING, /* ends a list of daughters */
  SIM_PHOTON,
  SIM_ELECTRON,
  SIM_MUON,
  SIM_TAU,
  SIM_NEUTRINO, /* takes momentum in decays, is not listed */
  SIM_PION,
  SIM_PION_0,
  SIM_ETA,
  SIM_KAON,
  SIM_KAON_SHORT,
  SIM_KAON_LONG, /* is not listed either */
  SIM_PROTON,
  SIM_NEUTRON,
  SIM_LAMBDA,
  SIM_SIGMA_PLUS,
  SIM_SIGMA_MINUS,
  SIM_XI_0,
  SIM_XI_MINUS,
  SIM_OMEGA,
  SIM_PHI,
  SIM_K_STAR,
  SIM_D_0,
  SIM_D_PLUS,
  SIM_D_STAR,
  SIM_D_S,
  SIM_LAMBDA_C,
  SIM_ETA_C,
  SIM_JPSI,
  SIM_B_0,
  SIM_B_PLUS,
  SIM_B_S,
  SIM_LAMBDA_B,
  SIM_UPSILON,
  SIM_Z,
  SIM_DARK_PHOTON, /* hypothetical, for signals: this and the next three */
  SIM_SCALAR_500,
  SIM_SCALAR_1500,
  SIM_SCALAR_4000,
  SIM_SPECIES_COUNT
};

/* Most products of a decay. */
enum { SIM_BODIES_MAX = 6 };

/* A decay mode. Daughters are of the particle; a negative entry is an antiparticle, and the antiparticle of the mother
 * has the opposite ones. The list ends with SIM_NOTHING. */
struct sim_mode {
  float share; /* relative to the other modes of the species */
  int8_t daughters[SIM_BODIES_MAX + 1];
};

struct sim_species {
  int32_t pdg;    /* of the particle; the antiparticle has the negative code, unless it is its own antiparticle */
  int32_t charge; /* of the particle, in e */
  uint32_t is_own_antiparticle;
  uint32_t is_hadron;
  float mass;           /* MeV */
  float ctau;           /* mm, of particles that decay when they are made; 0: at their origin */
  float ctau_in_flight; /* mm, of charged particles that are followed and may decay on the way; else 0 */
  uint32_t mode_count;  /* 0: stable */
  const struct sim_mode *modes;
};

extern const struct sim_species sim_species[SIM_SPECIES_COUNT];

/* The species of an entry of `daughters`. */
static inline const struct sim_species *sim_species_of(int32_t daughter) {
  return &sim_species[daughter < 0 ? -daughter : daughter];
}

static inline uint32_t sim_daughter_count(const struct sim_mode *mode) {
  uint32_t count = 0;
  while (mode->daughters[count] != SIM_NOTHING) count++;
  return count;
}

/* Does it decay when it is made? */
static inline int sim_decays_at_once(const struct sim_species *s) {
  return s->mode_count > 0 && s->ctau_in_flight == 0.0f;
}

#endif
