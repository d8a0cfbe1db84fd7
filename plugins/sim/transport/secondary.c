/* secondary.c: see secondary.h. */
#include "secondary.h"

#include "generator/generator.h"

/* Hadronic interactions. Fast hadrons: one, and a Poisson number with a mean that grows with the logarithm of the
 * momentum; they share a part of it like exponential numbers, with normal components along the flight and across. Slow
 * protons, knocked out of the nucleus: a Poisson number with an exponential mean, in any direction, with the momentum
 * p_min exp(rise e), e exponential. Means and momenta are those of the particles that six events of full simulation
 * make in the VELO. All momenta in MeV. */
enum { FAST_MAX = 16 };
static const float fast_at_1_gev = 1.0f, fast_per_ln = 0.9f, fast_momentum = 0.85f, along_spread = 100.0f,
                   across_spread = 240.0f, hadron_p_min = 30.0f;
static const float slow_protons = 2.4f, slow_p_min = 200.0f, slow_p_rise = 0.95f;

static const float electron_mass = 0.510999f;

void sim_direction_of(const struct sim_state *s, float u[3]) {
  const float size = s->direction / sqrtf(1.0f + s->tx * s->tx + s->ty * s->ty);
  u[0] = s->tx * size;
  u[1] = s->ty * size;
  u[2] = size;
}

int sim_set_direction(struct sim_state *s, const float u[3]) {
  if (sl_abs_f32(u[2]) < 0.05f) return 0;
  s->direction = u[2] > 0.0f ? 1.0f : -1.0f;
  s->tx = u[0] / u[2];
  s->ty = u[1] / u[2];
  return 1;
}

/* Directions orthogonal to u: v in the xz plane, and w. `flat`: size of u in that plane. */
static void find_across(const float u[3], float flat, float v[3], float w[3]) {
  v[0] = u[2] / flat;
  v[1] = 0.0f;
  v[2] = -u[0] / flat;
  w[0] = u[1] * v[2];
  w[1] = u[2] * v[0] - u[0] * v[2];
  w[2] = -u[1] * v[0];
}

void sim_turn(float u[3], float a, float b) {
  const float flat = sqrtf(u[0] * u[0] + u[2] * u[2]);
  float v[3], w[3];
  if (flat < 1e-3f) return;
  find_across(u, flat, v, w);
  const float x = u[0] + a * v[0] + b * w[0], y = u[1] + b * w[1], z = u[2] + a * v[2] + b * w[2];
  const float scale = 1.0f / sqrtf(x * x + y * y + z * z);
  u[0] = x * scale;
  u[1] = y * scale;
  u[2] = z * scale;
}

int sim_make(const struct sim_interaction *m, const struct sim_species *species, int32_t sign, const float u[3],
             float p) {
  struct sim_particle *new = sim_event_add(m->event, species, sign, u[0] * p, u[1] * p, u[2] * p);
  if (!new) return SL_ENOMEM;
  const struct sim_particle *mother = &m->event->particles.at[m->index];
  new->mother = (int32_t)m->index;
  new->vertex = mother->vertex;
  new->flags = SIM_IS_SECONDARY;
  new->x = m->x;
  new->y = m->y;
  new->z = m->z;
  return SL_OK;
}

int sim_make_pair(const struct sim_interaction *m) {
  const float share = sim_uniform_in(m->random, 0.02f, 0.98f);
  for (int i = 0; i < 2; i++) {
    const float p = m->p * (i == 0 ? share : 1.0f - share), angle = electron_mass / m->p;
    float u[3] = {m->flight[0], m->flight[1], m->flight[2]};
    const float a = angle * sim_normal(m->random), b = angle * sim_normal(m->random);
    sim_turn(u, a, b);
    if (sim_make(m, &sim_species[SIM_ELECTRON], i == 0 ? 1 : -1, u, p) < 0) return SL_ENOMEM;
  }
  return SL_OK;
}

/* Direction with the components `along` the flight, and `a` and `b` across it, in any unit. Returns their size. */
static float combine(const float flight[3], float along, float a, float b, float d[3]) {
  const float *u = flight, size = sqrtf(along * along + a * a + b * b) + 1e-6f;
  float v[3], w[3];
  find_across(u, sqrtf(u[0] * u[0] + u[2] * u[2]) + 1e-6f, v, w);
  for (int i = 0; i < 3; i++) d[i] = (u[i] * along + v[i] * a + w[i] * b) / size;
  return size;
}

static int make_fast_hadrons(const struct sim_interaction *m) {
  float shares[FAST_MAX], sum = 0.0f;
  uint32_t count = 1 + sim_poisson(m->random, fast_at_1_gev + fast_per_ln * sl_logf(m->p / 1000.0f));
  if (count > FAST_MAX) count = FAST_MAX;
  for (uint32_t i = 0; i < count; i++) sum = sum + (shares[i] = sim_exponential(m->random));
  for (uint32_t i = 0; i < count; i++) {
    const float kind = sim_uniform(m->random);
    const enum sim_species_id id = kind < 0.60f   ? SIM_PION
                                   : kind < 0.91f ? SIM_PION_0
                                   : kind < 0.96f ? SIM_KAON
                                                  : SIM_PROTON;
    const float along = fast_momentum * m->p * shares[i] / sum + along_spread * sim_normal(m->random);
    const float a = across_spread * sim_normal(m->random), b = across_spread * sim_normal(m->random);
    float d[3];
    const float size = combine(m->flight, along, a, b, d);
    if (size < hadron_p_min) continue;
    const int32_t sign = !sim_species[id].is_own_antiparticle && sim_uniform(m->random) < 0.5f ? -1 : 1;
    if (sim_make(m, &sim_species[id], sign, d, size) < 0) return SL_ENOMEM;
    if (sim_decay(m->event, m->event->particles.count - 1) < 0) return SL_ENOMEM;
  }
  return SL_OK;
}

static int make_slow_protons(const struct sim_interaction *m) {
  const uint32_t count = sim_poisson(m->random, slow_protons * sim_exponential(m->random));
  for (uint32_t i = 0; i < count; i++) {
    const float p = slow_p_min * sl_expf(slow_p_rise * sim_exponential(m->random));
    const float along = sim_uniform_in(m->random, -1.0f, 1.0f), across = sqrtf(1.0f - along * along);
    float sine, cosine, d[3];
    sl_sincosf(6.28318531f * sim_uniform(m->random), &sine, &cosine);
    combine(m->flight, along, across * cosine, across * sine, d);
    if (sim_make(m, &sim_species[SIM_PROTON], 1, d, sl_min_f32(p, m->p)) < 0) return SL_ENOMEM;
  }
  return SL_OK;
}

int sim_make_hadrons(const struct sim_interaction *m) {
  const int status = make_fast_hadrons(m);
  return status < 0 ? status : make_slow_protons(m);
}

int sim_make_delta_electron(const struct sim_interaction *m, float energy_min) {
  const float energy = energy_min / sim_uniform(m->random);
  const float gamma = sqrtf(m->p * m->p + m->mass * m->mass) / m->mass;
  const float most = 2.0f * electron_mass * (gamma * gamma - 1.0f);
  if (energy > most || energy > 0.3f * m->p) return SL_OK;
  float sine, cosine, u[3] = {m->flight[0], m->flight[1], m->flight[2]};
  sl_sincosf(6.28318531f * sim_uniform(m->random), &sine, &cosine);
  const float angle = sqrtf(2.0f * electron_mass / energy);
  sim_turn(u, angle * cosine, angle * sine);
  return sim_make(m, &sim_species[SIM_ELECTRON], 1, u, sqrtf(energy * (energy + 2.0f * electron_mass)));
}
