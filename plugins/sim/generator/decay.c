/* decay.c: decays after the flight of the particle's lifetime, or at a given point; uniform in phase space, except that
 * an e+e- pair with a photon has the mass distribution 1 / m between twice the electron mass and the mother's mass
 * (Kroll and Wada, Phys. Rev. 98 (1955) 1355, leading order). Neutrinos and K_L take momentum, but are not listed: no
 * detector sees them. */
#include "generator.h"
#include "phase_space.h"

static const struct sim_mode *choose_mode(const struct sim_particle *mother, struct sim_random *r) {
  const struct sim_species *s = mother->species;
  if (mother->mode) return mother->mode;
  if (mother->flags & SIM_FROM_SIGNAL || s->mode_count == 1) return &s->modes[0];
  float sum = 0.0f;
  for (uint32_t i = 0; i < s->mode_count; i++) sum = sum + s->modes[i].share;
  float choice = sum * sim_uniform(r);
  uint32_t k = 0;
  while (k + 1 < s->mode_count && choice >= s->modes[k].share) choice = choice - s->modes[k++].share;
  return &s->modes[k];
}

static int is_photon_and_pair(const struct sim_mode *m) {
  return m->daughters[0] == SIM_PHOTON && m->daughters[1] == SIM_ELECTRON && m->daughters[2] == -SIM_ELECTRON;
}

/* A photon, an electron and a positron of invariant mass `mass`. */
static void make_pair(struct sim_random *r, float mass, struct sim_body bodies[3]) {
  const float m = sim_species[SIM_ELECTRON].mass, least = 2.0f * m;
  const float of_pair = least * sl_expf(sim_uniform(r) * sl_logf(mass / least));
  const float first[] = {0.0f, of_pair}, second[] = {m, m};
  struct sim_body two[2];
  sim_phase_space(r, mass, 2, first, two);
  sim_phase_space(r, of_pair, 2, second, &bodies[1]);
  bodies[0] = two[0];
  for (int i = 1; i < 3; i++) {
    sim_boost(&two[1], of_pair, &bodies[i]);
    bodies[i].energy = sim_energy(bodies[i].p, m);
  }
}

static int add_daughter(struct sim_event *event, uint32_t mother_index, int32_t daughter, const float p[3],
                        const float position[3]) {
  const struct sim_particle mother = event->particles.at[mother_index];
  const struct sim_species *species = sim_species_of(daughter);
  const int32_t sign = species->is_own_antiparticle ? 1 : daughter < 0 ? -mother.sign : mother.sign;
  if (species == &sim_species[SIM_NEUTRINO] || species == &sim_species[SIM_KAON_LONG]) return SL_OK;
  struct sim_particle *added = sim_event_add(event, species, sign, p[0], p[1], p[2]);
  if (!added) return SL_ENOMEM;
  added->mother = (int32_t)mother_index;
  added->vertex = mother.vertex;
  added->flags = (mother.flags & SIM_FROM_SIGNAL) | SIM_IS_DECAY;
  added->x = position[0];
  added->y = position[1];
  added->z = position[2];
  return SL_OK;
}

/* Adds the daughters of particle `index` of momentum (px, py, pz). */
static int add_daughters(struct sim_event *event, uint32_t index, const float momentum[3], const float position[3],
                         struct sim_random *r) {
  const struct sim_mode *mode = choose_mode(&event->particles.at[index], r);
  const float *p = momentum, m = event->particles.at[index].species->mass;
  const struct sim_body frame = {sim_energy(p, m), {p[0], p[1], p[2]}};
  const uint32_t count = sim_daughter_count(mode);
  float masses[SIM_BODIES_MAX];
  struct sim_body bodies[SIM_BODIES_MAX];
  for (uint32_t i = 0; i < count; i++) masses[i] = sim_species_of(mode->daughters[i])->mass;
  if (is_photon_and_pair(mode))
    make_pair(r, m, bodies);
  else
    sim_phase_space(r, m, count, masses, bodies);
  for (uint32_t i = 0; i < count; i++) {
    sim_boost(&frame, m, &bodies[i]);
    const int status = add_daughter(event, index, mode->daughters[i], bodies[i].p, position);
    if (status < 0) return status;
  }
  return SL_OK;
}

int sim_decay(struct sim_event *event, uint32_t index) {
  struct sim_particle *mother = &event->particles.at[index];
  const struct sim_species *species = mother->species;
  if (!sim_decays_at_once(species)) return SL_OK;
  struct sim_random r = sim_event_random(event, SIM_FOR_DECAY, index);
  float flight = mother->lifetime_ns * SIM_MM_PER_NS;
  if (flight == 0.0f && species->ctau > 0.0f) flight = species->ctau * sim_exponential(&r);
  mother->lifetime_ns = flight / SIM_MM_PER_NS;
  const float p[3] = {mother->px, mother->py, mother->pz}, path = flight / species->mass;
  const float position[3] = {mother->x + p[0] * path, mother->y + p[1] * path, mother->z + p[2] * path};
  return add_daughters(event, index, p, position, &r);
}

int sim_flight_decay(struct sim_event *event, uint32_t index, const struct sim_state *at, float p) {
  struct sim_random r = sim_event_random(event, SIM_FOR_DECAY, index);
  const float pz = at->direction * p / sqrtf(1.0f + at->tx * at->tx + at->ty * at->ty);
  const float momentum[3] = {at->tx * pz, at->ty * pz, pz}, position[3] = {at->x, at->y, at->z};
  const uint32_t first = event->particles.count;
  int status = add_daughters(event, index, momentum, position, &r);
  for (uint32_t i = first; i < event->particles.count && status == SL_OK; i++) status = sim_decay(event, i);
  return status;
}
