/* kalman_gun.c: see kalman_gun.h. */
#include "kalman_gun.h"

#include "event/random.h"

#include <math.h>
#include <string.h>

const double kalman_gun_z[KALMAN_PLANES] = {770,  2327.5, 2372.5, 2597.5, 2642.5, 7826, 7896, 7966, 8036,
                                            8508, 8578,   8648,   8718,   9193,   9263, 9333, 9403};
#define UT_ \
  { 860, 690 }
#define SCIFI_ \
  { 2650, 2420 }
#define WIDE_ \
  { 3200, 2420 }
const double kalman_gun_size[KALMAN_PLANES][2] = {{350, 270}, UT_,    UT_,    UT_,    UT_,    SCIFI_,
                                                  SCIFI_,     SCIFI_, SCIFI_, SCIFI_, SCIFI_, SCIFI_,
                                                  SCIFI_,     WIDE_,  WIDE_,  WIDE_,  WIDE_};

static const double p_min = 2500, p_max = 1e5;        /* MeV */
static const double eta_min = 1.9, eta_max = 5;       /* */
static const double spread = 80, decay_z_max = 2200;  /* mm */
static const double decay_kick = 150, scattering = 3; /* MeV */

static void change_slopes(struct sim_random *r, double size, double slopes[2]) {
  slopes[0] += size * (double)sim_normal(r);
  slopes[1] += size * (double)sim_normal(r);
}

static void draw(struct sim_random *r, uint32_t number, struct kalman_gun_track *t, struct field_state *s) {
  float sine, cosine;
  const double inverse_p = 1 / p_max + (1 / p_min - 1 / p_max) * (double)sim_uniform(r);
  t->q_over_p = number & 1 ? inverse_p : -inverse_p;
  const double away = (double)sl_expf(sim_uniform_in(r, (float)eta_min, (float)eta_max));
  sl_sincosf(6.28318531f * sim_uniform(r), &sine, &cosine);
  const double slope = 2 / (away - 1 / away); /* 1 / sinh(eta) */
  memset(s, 0, sizeof *s);
  s->at[2] = slope * (double)cosine;
  s->at[3] = slope * (double)sine;
  if (number & 2) {
    s->z = decay_z_max * (double)sim_uniform(r);
    for (int i = 0; i < 2; i++) s->at[i] = s->z * s->at[2 + i];
    change_slopes(r, decay_kick * inverse_p, &s->at[2]);
  } else {
    s->z = spread * (double)sim_normal(r);
  }
}

static int is_within(const struct field_state *s, int plane) {
  return fabs(s->at[0]) < kalman_gun_size[plane][0] && fabs(s->at[1]) < kalman_gun_size[plane][1];
}

void kalman_gun_shoot(const struct field_map *map, uint64_t seed, uint32_t number, struct kalman_gun_track *t) {
  struct sim_random r = sim_random_begin(seed, number, SIM_FOR_COLLISION, 0);
  struct field_state s;
  memset(t, 0, sizeof *t);
  draw(&r, number, t, &s);
  t->first = s.z < kalman_gun_z[KALMAN_V] ? KALMAN_V : KALMAN_U0;
  t->last = t->first - 1;
  if (t->first == KALMAN_V) {
    for (int i = 0; i < 2; i++) s.at[i] += s.at[2 + i] * (kalman_gun_z[KALMAN_V] - s.z);
    s.z = kalman_gun_z[KALMAN_V];
  }
  for (int plane = t->first; plane < KALMAN_PLANES; plane++) {
    if (s.z < kalman_gun_z[plane] && !field_advance(map, t->q_over_p, kalman_gun_z[plane], &s)) return;
    if (!is_within(&s, plane)) return;
    memcpy(t->end[plane], s.at, sizeof s.at);
    if (plane == KALMAN_V || plane == KALMAN_T0 - 1 || plane == KALMAN_T0)
      change_slopes(&r, scattering * fabs(t->q_over_p), &s.at[2]);
    memcpy(t->begin[plane], s.at, sizeof s.at);
    t->last = plane;
  }
}
