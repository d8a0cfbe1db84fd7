/* material.c: see material.h.
 * 1. For all lanes of a block, in vectorised loops: multiple scattering (Highland, PDG review "Passage of particles
 *    through matter") and the energy loss of a minimum ionising particle over beta squared.
 * 2. For single particles, the rare processes: bremsstrahlung of electrons, interactions of hadrons, delta
 *    electrons, and the end of slow particles. */
#include "material.h"

#include "secondary.h"

#include <math.h>

enum { LANES = SIM_LANES };
_Static_assert((int)LANES == (int)SIM_RANDOM_LANES, "lanes draw together");

/* ionisation: most probable loss of minimum ionising particles in MeV per radiation length, 0.6 of the mean loss in
 * silicon. delta_rate: carbon's 0.1535 Z/A times 43 g/cm2, for delta electrons; those above delta_energy_min are
 * followed. */
static const float ionisation = 23.0f, delta_rate = 3.3f, delta_energy_min = 2.0f;
static const float momentum_min = 2.0f, interaction_p_min = 200.0f, photon_min = 10.0f; /* MeV */

/* Photons above this fraction of an electron's energy: 4/3 ln (1 / least) per radiation length. */
static const float least_quantum = 0.01f, log_of_quanta = 4.60517f, quanta = 6.14023f;

/* ----------------------------------------------------------------------------------------------- every lane */

/* Random numbers per lane: two with normal distribution, two uniform in (0, 1). */
struct chances {
  float a[LANES], b[LANES], choice[LANES], quanta[LANES];
};

/* Draws four Philox words per lane; the counter is made of particle index and node. */
static void draw_words(const struct sim_event *event, const struct sim_lanes *lanes, uint32_t node,
                       uint32_t words[4][LANES]) {
  const struct sim_random r = sim_event_random(event, SIM_FOR_SCATTER, 0);
  for (int l = 0; l < LANES; l++) {
    words[0][l] = node;
    words[1][l] = r.counter[1] | lanes->particle[l];
    words[2][l] = r.counter[2];
    words[3][l] = r.counter[3];
  }
  sl_philox_lanes(r.key, words);
}

static void draw(const struct sim_event *event, const struct sim_lanes *lanes, uint32_t node, struct chances *c) {
  uint32_t words[4][LANES];
  draw_words(event, lanes, node, words);
  for (int l = 0; l < LANES; l++) {
    const float size = sqrtf(-2.0f * sl_logf(sim_uniform_of(words[0][l])));
    float sine, cosine;
    sl_sincosf(6.28318531f * sim_uniform_of(words[1][l]), &sine, &cosine);
    c->a[l] = size * cosine;
    c->b[l] = size * sine;
    c->choice[l] = sim_uniform_of(words[2][l]);
    c->quanta[l] = sim_uniform_of(words[3][l]);
  }
}

/* Material that each lane crosses, along its path: radiation lengths, those for scattering, and interaction lengths. */
struct crossed {
  float radiation[LANES], scattering[LANES], interaction[LANES];
};

/* Marks the lanes that have left the beam pipe in the last step; returns whether any has. */
static int find_exited(const struct sim_lanes *lanes, double z, int32_t has_exited[LANES]) {
  const double radius2 = SIM_PIPE_SLOPE * z * (SIM_PIPE_SLOPE * z);
  int32_t any = 0;
  for (int l = 0; l < LANES; l++) {
    const double r2 = lanes->x[l] * lanes->x[l] + lanes->y[l] * lanes->y[l];
    has_exited[l] = ((lanes->kind[l] & SIM_LANE_IN_PIPE) != 0) & (r2 > radius2);
    any |= has_exited[l];
  }
  return any;
}

/* Length of the path of lane l through the wall of the beam pipe, mm. */
static float path_in_wall(const struct sim_lanes *lanes, uint32_t l) {
  const double x = lanes->x[l], y = lanes->y[l], tx = lanes->tx[l], ty = lanes->ty[l];
  const float slope = (float)((x * tx + y * ty) / sqrt(x * x + y * y) - SIM_PIPE_SLOPE), least = 0.005f;
  return SIM_PIPE_WALL * (float)sqrt(1 + tx * tx + ty * ty) / (slope > least ? slope : least);
}

/* Fills `c`; returns 0 if no lane crosses material. */
static int measure(struct sim_lanes *lanes, const struct sim_node *node, struct crossed *c) {
  static const struct sim_plane nothing = {.name = ""};
  const struct sim_plane *plane = node->plane ? node->plane : &nothing;
  const float z = (float)node->end.z, everywhere = 1e6f;
  const float inner = plane->ring[0] * z, outer = plane->ring[1] > 0.0f ? plane->ring[1] * z : everywhere;
  int32_t has_exited[LANES];
  const int any_exited = find_exited(lanes, node->end.z, has_exited);
  if (!any_exited && plane->radiation_lengths <= 0.0f) return 0;
  int32_t any = any_exited;
  for (int l = 0; l < LANES; l++) {
    const float tx = (float)lanes->tx[l], ty = (float)lanes->ty[l];
    const float x = (float)lanes->x[l], y = (float)lanes->y[l], r2 = x * x + y * y;
    const int meets = (r2 >= inner * inner) & (r2 <= outer * outer) & ((lanes->kind[l] & SIM_LANE_IN_PIPE) == 0);
    const float slant = meets ? sqrtf(1.0f + tx * tx + ty * ty) : 0.0f;
    any |= meets;
    c->radiation[l] = plane->radiation_lengths * slant;
    c->scattering[l] = plane->scattering_lengths * slant;
    c->interaction[l] = plane->interaction_lengths * slant;
  }
  for (uint32_t l = 0; any_exited && l < LANES; l++) {
    if (!has_exited[l]) continue;
    const float path = path_in_wall(lanes, l);
    lanes->kind[l] &= ~(uint32_t)SIM_LANE_IN_PIPE;
    c->radiation[l] = c->scattering[l] = path / SIM_PIPE_RADIATION;
    c->interaction[l] = path / SIM_PIPE_INTERACTION;
  }
  return any;
}

/* Scatters with Highland's width and the covariance of slopes for small angles. */
static void scatter(struct sim_lanes *lanes, const struct crossed *c, const struct chances *chances) {
  const float thin = 1e-4f; /* lower limit of the logarithm's argument */
  for (int l = 0; l < LANES; l++) {
    const float per_p = 1.0f / lanes->p[l], mass = lanes->mass[l], t = c->scattering[l];
    const float slowness = sqrtf(1.0f + mass * mass * (per_p * per_p)); /* 1 / beta */
    const float width = 13.6f * slowness * per_p * sqrtf(t) * (1.0f + 0.038f * sl_logf(t > thin ? t : thin));
    const float tx = (float)lanes->tx[l], ty = (float)lanes->ty[l], root_x = sqrtf(1.0f + tx * tx);
    const float root = sqrtf(1.0f + tx * tx + ty * ty), a = width * chances->a[l], b = width * chances->b[l];
    lanes->tx[l] = lanes->tx[l] + (double)(a * root * root_x);
    lanes->ty[l] = lanes->ty[l] + (double)(root / root_x * (a * tx * ty + b * root));
  }
}

/* A momentum of 1 marks a track without energy left. Without material the momentum keeps its exact bits, so that it
 * does not depend on the other lanes of the block. */
static void lose_energy(struct sim_lanes *lanes, const struct crossed *c) {
  for (int l = 0; l < LANES; l++) {
    const float p = lanes->p[l], mass = lanes->mass[l], energy = sqrtf(p * p + mass * mass), slowness = energy / p;
    const float left = energy - ionisation * c->radiation[l] * slowness * slowness;
    const float p2 = left * left - mass * mass;
    const int continues = (left > mass) & (p2 > 1.0f);
    const float after = sqrtf(continues ? p2 : 1.0f);
    lanes->p[l] = c->radiation[l] > 0.0f ? after : p;
  }
}

/* ---------------------------------------------------------------------------------------- rare processes */

static struct sim_random rare_random(const struct sim_event *event, uint32_t particle, uint32_t node) {
  struct sim_random r = sim_event_random(event, SIM_FOR_FLIGHT, particle);
  r.counter[0] = (node + 1) << 16;
  return r;
}

static struct sim_interaction interaction_of(struct sim_event *event, const struct sim_track *t, struct sim_random *r) {
  const struct sim_state state = {.tx = (float)t->tx, .ty = (float)t->ty, .direction = 1.0f};
  struct sim_interaction m = {.event = event,
                              .random = r,
                              .index = t->particle,
                              .x = (float)t->x,
                              .y = (float)t->y,
                              .z = (float)t->z,
                              .p = t->p,
                              .mass = t->mass};
  sim_direction_of(&state, m.flight);
  return m;
}

/* Makes photons along the flight with the Bethe-Heitler spectrum (1 - x + 3/4 x^2) / x of their fraction x of the
 * energy. Their number has a Poisson distribution, from a product of uniform numbers that starts with `chance`. Sets
 * the electron's momentum p afterwards; 0 or SL_ENOMEM. */
static int radiate(struct sim_event *event, const struct sim_track *t, float crossed, float chance,
                   struct sim_random *r, float *p) {
  const struct sim_interaction interaction = interaction_of(event, t, r);
  const float none = sl_expf(-quanta * crossed);
  *p = t->p;
  while (chance > none) {
    const float share = least_quantum * sl_expf(log_of_quanta * sim_uniform(r));
    if (sim_uniform(r) < 1.0f - share + 0.75f * share * share) {
      const float energy = share * *p;
      *p = *p - energy;
      if (energy > photon_min && sim_make(&interaction, &sim_species[SIM_PHOTON], 1, interaction.flight, energy) < 0)
        return SL_ENOMEM;
    }
    chance = chance * sim_uniform(r);
  }
  return SL_OK;
}

/* A lane interacts if `choice` is below `interaction`, and makes a delta electron if it is below `any`. */
struct rare_chances {
  float interaction[LANES], any[LANES];
  uint32_t is_rare[LANES]; /* interacts, makes an electron, ends, or may radiate: exp(-x) > 1 - x */
};

/* Fills `of`; returns the number of lanes with a rare process. */
static uint32_t find_rare(const struct sim_lanes *a, const struct crossed *c, const struct chances *chances,
                          struct rare_chances *of) {
  uint32_t count = 0;
  for (int l = 0; l < LANES; l++) {
    const float m = a->mass[l] / a->p[l];
    const int interacts = ((a->kind[l] & SIM_LANE_HADRON) != 0) & (a->p[l] > interaction_p_min);
    of->interaction[l] = interacts ? c->interaction[l] : 0.0f;
    of->any[l] = of->interaction[l] + delta_rate / delta_energy_min * c->radiation[l] * (1.0f + m * m);
  }
  for (int l = 0; l < LANES; l++) {
    const int radiates =
        ((a->kind[l] & SIM_LANE_ELECTRON) != 0) & (chances->quanta[l] > 1.0f - quanta * c->radiation[l]);
    of->is_rare[l] = (uint32_t)((chances->choice[l] < of->any[l]) | (a->p[l] < momentum_min) | radiates);
    count += of->is_rare[l];
  }
  return count;
}

/* Applies the rare processes of the track at `lane`: 1 if the track ends, 0 if not, or an error. */
static int apply_rare(struct sim_spectrometer *s, struct sim_event *event, uint32_t lane, uint32_t node,
                      const struct crossed *c, const struct chances *chances, const struct rare_chances *of) {
  struct sim_lanes *a = &s->flock.blocks.at[lane / LANES];
  const uint32_t l = lane % LANES;
  if (a->p[l] < momentum_min) return 1;
  const float choice = chances->choice[l], interacts = of->interaction[l];
  const int is_electron = (a->kind[l] & SIM_LANE_ELECTRON) != 0;
  struct sim_track t;
  sim_track_batch_get(&s->flock, lane, s->nodes[node].end.z, &t);
  struct sim_random r = rare_random(event, t.particle, node);
  const struct sim_interaction interaction = interaction_of(event, &t, &r);
  const struct sim_birth birth = {event->particles.count, node, 1, t.time_ns};
  float p = t.p;
  int status = SL_OK;
  if (choice < interacts)
    status = sim_make_hadrons(&interaction);
  else if (choice < of->any[l])
    status = sim_make_delta_electron(&interaction, delta_energy_min);
  if (status == SL_OK && is_electron) status = radiate(event, &t, c->radiation[l], chances->quanta[l], &r, &p);
  if (status == SL_OK) status = sim_spectrometer_add(s, event, &birth);
  a->p[l] = p;
  return status < 0 ? status : choice < interacts || p < momentum_min;
}

/* --------------------------------------------------------------------------------------------------- plane */

static int cross_block(struct sim_spectrometer *s, struct sim_event *event, uint32_t block, uint32_t node) {
  struct sim_lanes *lanes = &s->flock.blocks.at[block];
  const uint32_t first = block * LANES, rest = s->flock.count - first, count = rest < LANES ? rest : LANES;
  struct crossed crossed;
  struct chances chances;
  struct rare_chances of;
  if (!measure(lanes, &s->nodes[node], &crossed)) return SL_OK;
  draw(event, lanes, node, &chances);
  scatter(lanes, &crossed, &chances);
  lose_energy(lanes, &crossed);
  const uint32_t rare = find_rare(lanes, &crossed, &chances, &of);
  for (uint32_t l = rare > 0 ? count : 0; l-- > 0;) {
    const int ends = of.is_rare[l] ? apply_rare(s, event, first + l, node, &crossed, &chances, &of) : 0;
    if (ends < 0) return ends;
    if (ends) sim_track_batch_remove(&s->flock, first + l);
  }
  sim_lanes_slow(&s->flock.blocks.at[block]);
  return SL_OK;
}

/* Blocks in descending order: the track that replaces an ended one has been processed before. */
int sim_material_cross(struct sim_spectrometer *s, struct sim_event *event, uint32_t node) {
  const uint32_t blocks = (s->flock.count + LANES - 1) / LANES;
  int status = SL_OK;
  for (uint32_t i = blocks; i-- > 0 && status == SL_OK;) status = cross_block(s, event, i, node);
  return status;
}
