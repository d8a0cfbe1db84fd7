/* phase_space.h: momenta of decay products, uniform in phase space. */
#ifndef SIM_PHASE_SPACE_H
#define SIM_PHASE_SPACE_H

#include "event/random.h"

struct sim_body {
  float energy, p[3]; /* MeV */
};

/* Energy for a momentum and a mass. */
static inline float sim_energy(const float p[3], float mass) {
  return sqrtf(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + mass * mass);
}

/* Decays a particle of mass `mass` at rest into two to SIM_BODIES_MAX bodies, which are lighter together. */
void sim_phase_space(struct sim_random *random, float mass, uint32_t count, const float *masses,
                     struct sim_body *bodies);

/* Boosts a body's momentum from the rest frame of `frame`, of mass `mass`. The body's energy is not updated. */
void sim_boost(const struct sim_body *frame, float mass, struct sim_body *body);

#endif
