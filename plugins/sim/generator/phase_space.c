/* phase_space.c: see phase_space.h. A three-body decay is made as two two-body decays: the first body and the pair
 * of the others. The mass of the pair is drawn with the density p(first) p(in the pair), by rejection below the
 * product of both maxima. */
#include "phase_space.h"

/* Momentum of either of two bodies in their rest frame. */
static float momentum_of_two(float mass, float first, float second) {
  const float e = (mass * mass + first * first - second * second) / (2.0f * mass);
  return sqrtf(sl_max_f32(e * e - first * first, 0.0f));
}

static void make_two(struct sim_random *r, float m, const float masses[2], struct sim_body *bodies) {
  const float m1 = masses[0], m2 = masses[1];
  const float e1 = (m * m + m1 * m1 - m2 * m2) / (2.0f * m), e2 = m - e1;
  const float p = sqrtf(sl_max_f32(e1 * e1 - m1 * m1, 0.0f));
  const float cosine = sim_uniform_in(r, -1.0f, 1.0f), sine = sqrtf(1.0f - cosine * cosine);
  float sin_phi, cos_phi;
  sl_sincosf(6.28318531f * sim_uniform(r), &sin_phi, &cos_phi);
  const float x = p * sine * cos_phi, y = p * sine * sin_phi, z = p * cosine;
  bodies[0] = (struct sim_body){e1, {x, y, z}};
  bodies[1] = (struct sim_body){e2, {-x, -y, -z}};
}

static float energy_of(const struct sim_body *b, float mass) {
  return sqrtf(b->p[0] * b->p[0] + b->p[1] * b->p[1] + b->p[2] * b->p[2] + mass * mass);
}

static void make_three(struct sim_random *r, float m, const float masses[3], struct sim_body *bodies) {
  const float least = masses[1] + masses[2], most = m - masses[0];
  const float largest = momentum_of_two(m, masses[0], least) * momentum_of_two(most, masses[1], masses[2]);
  float pair_mass, weight;
  do {
    pair_mass = sim_uniform_in(r, least, most);
    weight = momentum_of_two(m, masses[0], pair_mass) * momentum_of_two(pair_mass, masses[1], masses[2]);
  } while (sim_uniform(r) * largest > weight);
  struct sim_body halves[2];
  const float half_masses[2] = {masses[0], pair_mass};
  make_two(r, m, half_masses, halves);
  bodies[0] = halves[0];
  make_two(r, pair_mass, masses + 1, bodies + 1);
  for (int i = 1; i < 3; i++) {
    sim_boost(&halves[1], pair_mass, &bodies[i]);
    bodies[i].energy = energy_of(&bodies[i], masses[i]);
  }
}

void sim_phase_space(struct sim_random *random, float mass, uint32_t count, const float *masses,
                     struct sim_body *bodies) {
  if (count == 2)
    make_two(random, mass, masses, bodies);
  else
    make_three(random, mass, masses, bodies);
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
