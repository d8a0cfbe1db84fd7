/* flight_decay.c: decays of pions and kaons on their way: isotropic, with the branching fractions of the Particle Data
 * Group, Review of Particle Physics 2022. Neutrinos take their share and are not listed. */
#include "generator.h"
#include "phase_space.h"

static const float nothing_mass = 0.0f;
enum { NEUTRINO = SIM_SPECIES_COUNT };

/* Of a positive mother; signs as in species.c. The last one takes the rest. */
struct mode {
  float share;
  uint32_t count;
  uint32_t daughters[SIM_BODIES_MAX]; /* species, or NEUTRINO */
  int32_t signs[SIM_BODIES_MAX];
};
static const struct mode of_pions[] = {{1.0f, 2, {SIM_MUON, NEUTRINO}, {-1, 1}}};
static const struct mode of_kaons[] = {
    {0.6356f, 2, {SIM_MUON, NEUTRINO}, {-1, 1}},
    {0.2067f, 2, {SIM_PION, SIM_PION_0}, {1, 1}},
    {0.0558f, 3, {SIM_PION, SIM_PION, SIM_PION}, {1, 1, -1}},
    {0.0507f, 3, {SIM_PION_0, SIM_ELECTRON, NEUTRINO}, {1, -1, 1}},
    {0.0335f, 3, {SIM_PION_0, SIM_MUON, NEUTRINO}, {1, -1, 1}},
    {0.0177f, 3, {SIM_PION, SIM_PION_0, SIM_PION_0}, {1, 1, 1}},
};
enum { KAON_MODES = sizeof of_kaons / sizeof of_kaons[0] };

static const struct mode *choose(const struct sim_species *species, struct sim_random *r) {
  float choice = sim_uniform(r);
  uint32_t k = 0;
  if (species != &sim_species[SIM_KAON]) return of_pions;
  while (k + 1 < KAON_MODES && choice >= of_kaons[k].share) choice = choice - of_kaons[k++].share;
  return &of_kaons[k];
}

static int add_daughter(struct sim_event *event, uint32_t index, const struct sim_state *at, enum sim_species_id id,
                        int32_t sign, const float p[3]) {
  const struct sim_particle mother = event->particles.at[index];
  const struct sim_species *species = &sim_species[id];
  struct sim_particle *new =
      sim_event_add(event, species, species->is_own_antiparticle ? 1 : mother.sign * sign, p[0], p[1], p[2]);
  if (!new) return SL_ENOMEM;
  new->mother = (int32_t)index;
  new->vertex = mother.vertex;
  new->flags = (mother.flags & SIM_FROM_SIGNAL) | SIM_IS_DECAY;
  new->x = at->x;
  new->y = at->y;
  new->z = at->z;
  return sim_decay(event, event->particles.count - 1);
}

int sim_flight_decay(struct sim_event *event, uint32_t index, const struct sim_state *at, float p) {
  struct sim_random r = sim_event_random(event, SIM_FOR_DECAY, index);
  const struct sim_species *species = event->particles.at[index].species;
  const struct mode *mode = choose(species, &r);
  const float m = species->mass, pz = at->direction * p / sqrtf(1.0f + at->tx * at->tx + at->ty * at->ty);
  const struct sim_body frame = {sqrtf(p * p + m * m), {at->tx * pz, at->ty * pz, pz}};
  float masses[SIM_BODIES_MAX];
  struct sim_body bodies[SIM_BODIES_MAX];
  for (uint32_t i = 0; i < mode->count; i++)
    masses[i] = mode->daughters[i] == NEUTRINO ? nothing_mass : sim_species[mode->daughters[i]].mass;
  sim_phase_space(&r, m, mode->count, masses, bodies);
  for (uint32_t i = 0; i < mode->count; i++) {
    if (mode->daughters[i] == NEUTRINO) continue;
    sim_boost(&frame, m, &bodies[i]);
    const enum sim_species_id id = (enum sim_species_id)mode->daughters[i];
    if (add_daughter(event, index, at, id, mode->signs[i], bodies[i].p) < 0) return SL_ENOMEM;
  }
  return SL_OK;
}
