/* decay.c: decays after the flight of the particle's lifetime, or of a pion or kaon at a given point; isotropic in the
 * rest frame.
 * Decay modes that are not in species.c: K_S and Lambda to neutral particles, and pi0 to a photon and an e+e- pair.
 * The pair has the mass distribution 1 / m between twice the electron mass and the pi0 mass (Kroll and Wada, Phys.
 * Rev. 98 (1955) 1355, leading order). */
#include "generator.h"
#include "phase_space.h"

/* A decay mode. */
struct mode {
  uint32_t count;
  const enum sim_species_id *daughters;
  const int32_t *signs;
};

static struct mode choose(const struct sim_particle *mother, struct sim_random *r) {
  static const enum sim_species_id of_kaons[] = {SIM_PION_0, SIM_PION_0}, of_lambdas[] = {SIM_NEUTRON, SIM_PION_0};
  static const enum sim_species_id of_pions[] = {SIM_PHOTON, SIM_ELECTRON, SIM_ELECTRON};
  static const int32_t same[] = {1, 1}, pair[] = {1, 1, -1};
  const struct sim_species *s = mother->species;
  const struct mode listed = {s->daughter_count, s->daughters, s->daughter_signs}, nothing = {0, NULL, NULL};
  if ((mother->flags & SIM_FROM_SIGNAL) || sim_uniform(r) < s->decay_share) return listed;
  if (s == &sim_species[SIM_KAON_SHORT]) return (struct mode){2, of_kaons, same};
  if (s == &sim_species[SIM_LAMBDA]) return (struct mode){2, of_lambdas, same};
  return s == &sim_species[SIM_PION_0] ? (struct mode){3, of_pions, pair} : nothing;
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
    const float *p = bodies[i].p;
    sim_boost(&two[1], of_pair, &bodies[i]);
    bodies[i].energy = sqrtf(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + m * m);
  }
}

static int add_daughter(struct sim_event *event, uint32_t mother_index, enum sim_species_id id, int32_t sign,
                        const float p[3], const float position[3]) {
  const struct sim_particle mother = event->particles.at[mother_index];
  const struct sim_species *species = &sim_species[id];
  struct sim_particle *daughter =
      sim_event_add(event, species, species->is_own_antiparticle ? 1 : mother.sign * sign, p[0], p[1], p[2]);
  if (!daughter) return SL_ENOMEM;
  daughter->mother = (int32_t)mother_index;
  daughter->vertex = mother.vertex;
  daughter->flags = (mother.flags & SIM_FROM_SIGNAL) | SIM_IS_DECAY;
  daughter->x = position[0];
  daughter->y = position[1];
  daughter->z = position[2];
  return SL_OK;
}

int sim_decay(struct sim_event *event, uint32_t index) {
  struct sim_particle *mother = &event->particles.at[index];
  const struct sim_species *species = mother->species;
  if (species->daughter_count == 0) return SL_OK;
  struct sim_random r = sim_event_random(event, SIM_FOR_DECAY, index);
  const float flight = species->ctau > 0.0f ? species->ctau * sim_exponential(&r) : 0.0f, m = species->mass;
  mother->lifetime_ns = flight / 299.792458f;
  const struct mode mode = choose(mother, &r);
  const float px = mother->px, py = mother->py, pz = mother->pz;
  const float position[3] = {mother->x + px / m * flight, mother->y + py / m * flight, mother->z + pz / m * flight};
  const struct sim_body frame = {sqrtf(px * px + py * py + pz * pz + m * m), {px, py, pz}};
  float masses[SIM_BODIES_MAX];
  struct sim_body bodies[SIM_BODIES_MAX];
  for (uint32_t i = 0; i < mode.count; i++) masses[i] = sim_species[mode.daughters[i]].mass;
  if (mode.count == 3 && species == &sim_species[SIM_PION_0])
    make_pair(&r, m, bodies);
  else if (mode.count > 0)
    sim_phase_space(&r, m, mode.count, masses, bodies);
  for (uint32_t i = 0; i < mode.count; i++) {
    sim_boost(&frame, m, &bodies[i]);
    const int status = add_daughter(event, index, mode.daughters[i], mode.signs[i], bodies[i].p, position);
    if (status < 0) return status; /* `mother` may have moved */
  }
  return SL_OK;
}

/* ---------------------------------------------------------------------------------------- pions and kaons in flight */

/* Branching fractions: Particle Data Group, Review of Particle Physics 2022. Neutrinos take momentum but are not
 * listed. */
static const float nothing_mass = 0.0f;
enum { NEUTRINO = SIM_SPECIES_COUNT };

/* Modes of a positive mother; signs as in species.c. The last mode gets the remainder. */
struct flight_mode {
  float share;
  uint32_t count;
  uint32_t daughters[SIM_BODIES_MAX]; /* species, or NEUTRINO */
  int32_t signs[SIM_BODIES_MAX];
};
static const struct flight_mode of_pions[] = {{1.0f, 2, {SIM_MUON, NEUTRINO}, {-1, 1}}};
static const struct flight_mode of_kaons[] = {
    {0.6356f, 2, {SIM_MUON, NEUTRINO}, {-1, 1}},
    {0.2067f, 2, {SIM_PION, SIM_PION_0}, {1, 1}},
    {0.0558f, 3, {SIM_PION, SIM_PION, SIM_PION}, {1, 1, -1}},
    {0.0507f, 3, {SIM_PION_0, SIM_ELECTRON, NEUTRINO}, {1, -1, 1}},
    {0.0335f, 3, {SIM_PION_0, SIM_MUON, NEUTRINO}, {1, -1, 1}},
    {0.0177f, 3, {SIM_PION, SIM_PION_0, SIM_PION_0}, {1, 1, 1}},
};
enum { KAON_MODES = sizeof of_kaons / sizeof of_kaons[0] };

static const struct flight_mode *choose_flight_mode(const struct sim_species *species, struct sim_random *r) {
  float choice = sim_uniform(r);
  uint32_t k = 0;
  if (species != &sim_species[SIM_KAON]) return of_pions;
  while (k + 1 < KAON_MODES && choice >= of_kaons[k].share) choice = choice - of_kaons[k++].share;
  return &of_kaons[k];
}

int sim_flight_decay(struct sim_event *event, uint32_t index, const struct sim_state *at, float p) {
  struct sim_random r = sim_event_random(event, SIM_FOR_DECAY, index);
  const struct sim_species *species = event->particles.at[index].species;
  const struct flight_mode *mode = choose_flight_mode(species, &r);
  const float m = species->mass, pz = at->direction * p / sqrtf(1.0f + at->tx * at->tx + at->ty * at->ty);
  const struct sim_body frame = {sqrtf(p * p + m * m), {at->tx * pz, at->ty * pz, pz}};
  const float position[3] = {at->x, at->y, at->z};
  float masses[SIM_BODIES_MAX];
  struct sim_body bodies[SIM_BODIES_MAX];
  for (uint32_t i = 0; i < mode->count; i++)
    masses[i] = mode->daughters[i] == NEUTRINO ? nothing_mass : sim_species[mode->daughters[i]].mass;
  sim_phase_space(&r, m, mode->count, masses, bodies);
  for (uint32_t i = 0; i < mode->count; i++) {
    if (mode->daughters[i] == NEUTRINO) continue;
    sim_boost(&frame, m, &bodies[i]);
    const enum sim_species_id id = (enum sim_species_id)mode->daughters[i];
    int status = add_daughter(event, index, id, mode->signs[i], bodies[i].p, position);
    if (status == SL_OK) status = sim_decay(event, event->particles.count - 1);
    if (status < 0) return status;
  }
  return SL_OK;
}
