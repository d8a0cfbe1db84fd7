/* phase_space.c: see phase_space.h. A decay is a chain of two-body decays: of the particle to the first body and the
 * group of the others, of this group to the second body and the rest, and so on. The masses of the groups have the
 * density of the product of all momenta, by rejection below the product of their maxima (F. James, CERN 68-15, 1968).
 */
#include "phase_space.h"

#include "event/species.h"

/* Momentum of either of two bodies in their rest frame. */
static float momentum_of_two(float mass, float first, float second) {
  const float e = (mass * mass + first * first - second * second) / (2.0f * mass);
  return sqrtf(sl_max_f32(e * e - first * first, 0.0f));
}

static void make_two(struct sim_random *r, float m, float m1, float m2, struct sim_body *first,
                     struct sim_body *second) {
  const float e1 = (m * m + m1 * m1 - m2 * m2) / (2.0f * m), e2 = m - e1;
  const float p = sqrtf(sl_max_f32(e1 * e1 - m1 * m1, 0.0f));
  const float cosine = sim_uniform_in(r, -1.0f, 1.0f), sine = sqrtf(1.0f - cosine * cosine);
  float sin_phi, cos_phi;
  sl_sincosf(6.28318531f * sim_uniform(r), &sin_phi, &cos_phi);
  const float x = p * sine * cos_phi, y = p * sine * sin_phi, z = p * cosine;
  *first = (struct sim_body){e1, {x, y, z}};
  *second = (struct sim_body){e2, {-x, -y, -z}};
}

/* The groups of a decay: group i has the bodies from i on. */
struct groups {
  uint32_t count; /* of bodies */
  float mass[SIM_BODIES_MAX], least[SIM_BODIES_MAX];
};

/* Draws the masses of groups 1 to count - 2, which fall with i by more than the masses of the bodies. */
static void draw_masses(struct sim_random *r, struct groups *g) {
  const float free = g->mass[0] - g->least[0];
  for (uint32_t i = 1; i + 1 < g->count; i++) {
    const float share = sim_uniform(r);
    uint32_t at = i;
    for (; at > 1 && g->mass[at - 1] < share; at--) g->mass[at] = g->mass[at - 1];
    g->mass[at] = share;
  }
  for (uint32_t i = 1; i + 1 < g->count; i++) g->mass[i] = g->least[i] + free * g->mass[i];
}

static void choose_masses(struct sim_random *r, const float *masses, struct groups *g) {
  const float free = g->mass[0] - g->least[0];
  float largest = 1.0f, weight;
  for (uint32_t i = 0; i + 1 < g->count; i++)
    largest = largest * momentum_of_two(g->least[i] + free, masses[i], g->least[i + 1]);
  do {
    draw_masses(r, g);
    weight = 1.0f;
    for (uint32_t i = 0; i + 1 < g->count; i++)
      weight = weight * momentum_of_two(g->mass[i], masses[i], g->mass[i + 1]);
  } while (sim_uniform(r) * largest > weight);
}

void sim_phase_space(struct sim_random *random, float mass, uint32_t count, const float *masses,
                     struct sim_body *bodies) {
  struct groups g = {.count = count};
  float sum = 0.0f;
  for (uint32_t i = count; i-- > 0;) {
    sum = sum + masses[i];
    g.least[i] = sum;
  }
  g.mass[0] = mass;
  g.mass[count - 1] = masses[count - 1];
  if (count > 2) choose_masses(random, masses, &g);
  /* From the last two bodies outwards; each group is boosted with the momentum that it has in the one before. */
  make_two(random, g.mass[count - 2], masses[count - 2], masses[count - 1], &bodies[count - 2], &bodies[count - 1]);
  for (uint32_t i = count - 2; i-- > 0;) {
    struct sim_body group;
    make_two(random, g.mass[i], masses[i], g.mass[i + 1], &bodies[i], &group);
    for (uint32_t k = i + 1; k < count; k++) {
      sim_boost(&group, g.mass[i + 1], &bodies[k]);
      bodies[k].energy = sim_energy(bodies[k].p, masses[k]);
    }
  }
}

void sim_boost(const struct sim_body *frame, float mass, struct sim_body *body) {
  const float gamma = frame->energy / mass;
  float *p = body->p;
  const float along = (frame->p[0] * p[0] + frame->p[1] * p[1] + frame->p[2] * p[2]) / mass;
  const float shift = along / (gamma + 1.0f) + body->energy;
  p[0] = p[0] + frame->p[0] / mass * shift;
  p[1] = p[1] + frame->p[1] / mass * shift;
  p[2] = p[2] + frame->p[2] / mass * shift;
}
