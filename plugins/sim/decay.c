/* decay.c: decays into two bodies, isotropic in the rest frame, after a flight of the particle's lifetime. */
#include "generator.h"

/* (px, py, pz) of a daughter, from its energy and momentum in the mother's rest frame. */
static void boost(const struct sim_particle *mother, float energy, float mass, float daughter_energy, float p[3]) {
  const float gamma = energy / mass;
  const float along = (mother->px * p[0] + mother->py * p[1] + mother->pz * p[2]) / mass;
  const float shift = along / (gamma + 1.0f) + daughter_energy;
  p[0] = p[0] + mother->px / mass * shift;
  p[1] = p[1] + mother->py / mass * shift;
  p[2] = p[2] + mother->pz / mass * shift;
}

static int add_daughter(struct sim_event *event, uint32_t mother_index, int which, const float p[3],
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
  if (!species->has_decay) return SL_OK;
  struct sim_random r = sim_event_random(event, SIM_FOR_DECAY, index);
  const float flight = species->ctau > 0.0f ? species->ctau * sim_exponential(&r) : 0.0f, m = species->mass;
  mother->lifetime_ns = flight / 299.792458f;
  if (!(mother->flags & SIM_FROM_SIGNAL) && sim_uniform(&r) >= species->decay_share) return SL_OK;
  const float place[3] = {mother->x + mother->px / m * flight, mother->y + mother->py / m * flight,
                          mother->z + mother->pz / m * flight};
  const float m1 = sim_species[species->daughters[0]].mass, m2 = sim_species[species->daughters[1]].mass;
  const float e1 = (m * m + m1 * m1 - m2 * m2) / (2.0f * m), e2 = m - e1;
  const float p = sqrtf(sl_max_f32(e1 * e1 - m1 * m1, 0.0f));
  const float cosine = sim_uniform_in(&r, -1.0f, 1.0f), sine = sqrtf(1.0f - cosine * cosine);
  float sin_phi, cos_phi;
  sl_sincosf(6.28318531f * sim_uniform(&r), &sin_phi, &cos_phi);
  const float x = p * sine * cos_phi, y = p * sine * sin_phi, z = p * cosine;
  const float energy = sqrtf(mother->px * mother->px + mother->py * mother->py + mother->pz * mother->pz + m * m);
  float first[3] = {x, y, z}, second[3] = {-x, -y, -z};
  boost(mother, energy, m, e1, first);
  boost(mother, energy, m, e2, second);
  if (add_daughter(event, index, 0, first, place) < 0) return SL_ENOMEM; /* `mother` may have moved */
  return add_daughter(event, index, 1, second, place);
}
