/* decay.c: decays, isotropic in the rest frame, after a flight of the particle's lifetime. */
#include "generator.h"
#include "phase_space.h"

static int add_daughter(struct sim_event *event, uint32_t mother_index, uint32_t which, const float p[3],
                        const float place[3]) {
  const struct sim_particle mother = event->particles.at[mother_index];
  const struct sim_species *species = &sim_species[mother.species->daughters[which]];
  const int32_t sign = species->is_own_antiparticle ? 1 : mother.sign * mother.species->daughter_signs[which];
  struct sim_particle *daughter = sim_event_add(event, species, sign, p[0], p[1], p[2]);
  if (!daughter) return SL_ENOMEM;
  daughter->mother = (int32_t)mother_index;
  daughter->vertex = mother.vertex;
  daughter->flags = (mother.flags & SIM_FROM_SIGNAL) | SIM_IS_DECAY;
  daughter->x = place[0];
  daughter->y = place[1];
  daughter->z = place[2];
  return SL_OK;
}

int sim_decay(struct sim_event *event, uint32_t index) {
  struct sim_particle *mother = &event->particles.at[index];
  const struct sim_species *species = mother->species;
  if (species->daughter_count == 0) return SL_OK;
  struct sim_random r = sim_event_random(event, SIM_FOR_DECAY, index);
  const float flight = species->ctau > 0.0f ? species->ctau * sim_exponential(&r) : 0.0f, m = species->mass;
  mother->lifetime_ns = flight / 299.792458f;
  if (!(mother->flags & SIM_FROM_SIGNAL) && sim_uniform(&r) >= species->decay_share) return SL_OK;
  const float px = mother->px, py = mother->py, pz = mother->pz;
  const float place[3] = {mother->x + px / m * flight, mother->y + py / m * flight, mother->z + pz / m * flight};
  const struct sim_body frame = {sqrtf(px * px + py * py + pz * pz + m * m), {px, py, pz}};
  float masses[SIM_BODIES_MAX];
  struct sim_body bodies[SIM_BODIES_MAX];
  for (uint32_t i = 0; i < species->daughter_count; i++) masses[i] = sim_species[species->daughters[i]].mass;
  sim_phase_space(&r, m, species->daughter_count, masses, bodies);
  for (uint32_t i = 0; i < species->daughter_count; i++) {
    sim_boost(&frame, m, &bodies[i]);
    if (add_daughter(event, index, i, bodies[i].p, place) < 0) return SL_ENOMEM; /* `mother` may have moved */
  }
  return SL_OK;
}
