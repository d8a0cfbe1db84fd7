/* phase_space.h: momenta of what something decays into: isotropic, with every state equally likely. */
#ifndef SIM_PHASE_SPACE_H
#define SIM_PHASE_SPACE_H

#include "event/random.h"

enum { SIM_BODIES_MAX = 3 };

struct sim_body {
  float energy, p[3]; /* MeV */
};

/* Two or three bodies of these masses, in the rest frame of what had `mass`. */
void sim_phase_space(struct sim_random *random, float mass, uint32_t count, const float *masses,
                     struct sim_body *bodies);

/* Gives the momentum of a body, known in the rest frame of `frame`, which has `mass`; its energy is left as it was. */
void sim_boost(const struct sim_body *frame, float mass, struct sim_body *body);

#endif
