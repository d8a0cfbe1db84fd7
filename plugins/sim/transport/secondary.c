/* secondary.c: see secondary.h. */
#include "secondary.h"

#include "generator/generator.h"

enum { SECONDARIES_MAX = 8 };
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

void sim_turn(float u[3], float a, float b) {
  const float flat = sqrtf(u[0] * u[0] + u[2] * u[2]);
  if (flat < 1e-3f) return;
  const float v0 = u[2] / flat, v2 = -u[0] / flat; /* orthogonal to u, in the xz plane */
  const float w0 = u[1] * v2, w1 = u[2] * v0 - u[0] * v2, w2 = -u[1] * v0;
  const float x = u[0] + a * v0 + b * w0, y = u[1] + b * w1, z = u[2] + a * v2 + b * w2;
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

int sim_make_hadrons(const struct sim_interaction *m, uint32_t richness) {
  static const enum sim_species_id kinds[] = {SIM_PION, SIM_PION, SIM_PION_0, SIM_PROTON};
  const float p = m->p, more = sl_clamp_f32(0.7f * sl_logf(p / 300.0f), 0.3f, 4.0f);
  uint32_t count = 1 + sim_poisson(m->random, (float)(int32_t)richness * more);
  if (count > SECONDARIES_MAX * richness) count = SECONDARIES_MAX * richness;
  for (uint32_t i = 0; i < count; i++) {
    const enum sim_species_id id = kinds[sim_random_u32(m->random) % 4];
    const float along = i == 0 ? p * sim_uniform_in(m->random, 0.2f, 0.7f)
                               : 250.0f * sim_exponential(m->random) * sl_max_f32(1.0f, sqrtf(p / 4000.0f)) - 100.0f;
    const float side = 220.0f;
    const float a = side * sim_normal(m->random), b = side * sim_normal(m->random);
    const float *u = m->flight;
    const float size = sqrtf(along * along + a * a + b * b);
    if (size < 30.0f) continue;
    /* The direction by components: forward, and the two orthogonal directions of sim_turn. */
    const float flat = sqrtf(u[0] * u[0] + u[2] * u[2]) + 1e-6f;
    const float v[3] = {u[2] / flat, 0, -u[0] / flat};
    const float w[3] = {u[1] * v[2], u[2] * v[0] - u[0] * v[2], -u[1] * v[0]};
    const float d[3] = {(u[0] * along + v[0] * a + w[0] * b) / size, (u[1] * along + v[1] * a + w[1] * b) / size,
                        (u[2] * along + v[2] * a + w[2] * b) / size};
    const int32_t sign = id == SIM_PION && sim_uniform(m->random) < 0.5f ? -1 : 1;
    if (sim_make(m, &sim_species[id], sign, d, size) < 0) return SL_ENOMEM;
    const uint32_t last = m->event->particles.count - 1;
    if (sim_decay(m->event, last) < 0) return SL_ENOMEM;
  }
  return SL_OK;
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
