/* transport_test.c: kalman_transport against double precision, derivatives, and Runge-Kutta. */
#include "ends.h"
#include "kalman_gun.h"
#include "lanes.h"
#include "support.h"

#include <math.h>

enum { TRACKS = 3000, SEED = 11 };

/* ------------------------------------------------------------------------------- each kind with its constant */

#define TRANSPORT(kind_)                                                                                        \
  static void transport_##kind_(const struct kalman_leg_scales *leg, const float *coefficients, float polarity, \
                                const float state[5], float end[4], float jacobian[4][5]) {                     \
    struct kalman_change change;                                                                                \
    kalman_transport(KALMAN_##kind_, leg, coefficients, polarity, state, &change);                              \
    ends_of(leg, state, &change, end, jacobian);                                                                \
  }
TRANSPORT(FIRST)
TRANSPORT(SHORT)
TRANSPORT(GAP)
TRANSPORT(LONG)

static void transport(const struct kalman_polynomials *p, int leg, float polarity, const float state[5], float end[4],
                      float jacobian[4][5]) {
  static void (*const kinds[KALMAN_KINDS])(const struct kalman_leg_scales *, const float *, float, const float *,
                                           float *, float(*)[5]) = {transport_FIRST, transport_SHORT, transport_GAP,
                                                                    transport_LONG};
  kinds[kalman_kind(leg)](&p->legs[leg], p->coefficients + kalman_first_coefficient(leg), polarity, state, end,
                          jacobian);
}

static struct kalman_polynomials *rounded(const struct kalman_description *d) {
  struct kalman_polynomials *p = (struct kalman_polynomials *)malloc(sizeof *p);
  assert_non_null(p);
  kalman_round(d, p);
  return p;
}

/* Calls `check` for each leg of many tracks. */
struct subject {
  const struct kalman_description *d;
  const struct kalman_polynomials *p;
  const struct kalman_gun_track *track;
  int leg;
  double state[5]; /* rounded to float */
};
static void for_all(void (*check)(struct subject *s)) {
  struct kalman_description *d = nominal();
  struct kalman_polynomials *p = rounded(d);
  uint32_t legs = 0;
  for (uint32_t i = 0; i < TRACKS; i++) {
    struct kalman_gun_track t;
    kalman_gun_shoot(NULL, SEED, i, &t);
    for (int l = t.first; l < t.last; l++, legs++) {
      struct subject s = {d, p, &t, l, {0}};
      for (int k = 0; k < KALMAN_OUTPUTS; k++) s.state[k] = (double)(float)t.begin[l][k];
      s.state[4] = (double)(float)t.q_over_p;
      check(&s);
    }
  }
  assert_true(legs > 10 * TRACKS);
  free(p);
  free(d);
}

/* ------------------------------------------------------------------------------------------------------- checks */

/* Rounding errors: of the position, and of a shift by the bend of at most some metres. */
static void compare_precisions(struct subject *s) {
  static const double units[5] = {1, 1, 1e-3, 1e-3, 1e-6};
  double end[4], jacobian[4][5];
  float state[5], end_f[4], jacobian_f[4][5];
  for (int k = 0; k < 5; k++) state[k] = (float)s->state[k];
  kalman_transport_plain(s->leg, &s->d->legs[s->leg], -1, s->state, end, jacobian);
  transport(s->p, s->leg, -1, state, end_f, jacobian_f);
  for (int o = 0; o < 4; o++) {
    const double tolerance = o < KALMAN_TX ? 5e-4 : 2e-7;
    if (!(fabs((double)end_f[o] - end[o]) < tolerance))
      fail_msg("leg %d, output %d: %g, %g", s->leg, o, (double)end_f[o], end[o]);
    for (int k = 0; k < 5; k++) {
      const double scale = (o < KALMAN_TX ? 1 : 1e-3) / units[k]; /* change by a unit of a variable */
      if (!(fabs((double)jacobian_f[o][k] - jacobian[o][k]) < 2e-3 * scale + 2e-5 * fabs(jacobian[o][k])))
        fail_msg("leg %d, derivative of %d by %d: %g, %g", s->leg, o, k, (double)jacobian_f[o][k], jacobian[o][k]);
    }
  }
}
static void single_precision_agrees_with_double(void **state) {
  (void)state;
  for_all(compare_precisions);
}

static void compare_derivatives(struct subject *s) {
  static const double steps[5] = {0.5, 0.5, 1e-4, 1e-4, 1e-7};
  double jacobian[4][5], unused[4][5], end[4], above[4], below[4];
  kalman_transport_plain(s->leg, &s->d->legs[s->leg], -1, s->state, end, jacobian);
  for (int k = 0; k < 5; k++) {
    double up[5], down[5];
    memcpy(up, s->state, sizeof up);
    memcpy(down, s->state, sizeof down);
    up[k] += steps[k];
    down[k] -= steps[k];
    kalman_transport_plain(s->leg, &s->d->legs[s->leg], -1, up, above, unused);
    kalman_transport_plain(s->leg, &s->d->legs[s->leg], -1, down, below, unused);
    for (int o = 0; o < 4; o++) {
      const double slope = (above[o] - below[o]) / (2 * steps[k]);
      const double scale = (o < KALMAN_TX ? 1 : 1e-3) * 1e-6 / steps[k]; /* differences of third order, and rounding */
      if (!(fabs(slope - jacobian[o][k]) < scale + 1e-4 * fabs(slope)))
        fail_msg("leg %d, derivative of %d by %d: %g, %g", s->leg, o, k, jacobian[o][k], slope);
    }
  }
}
static void derivatives_agree_with_differences(void **state) {
  (void)state;
  for_all(compare_derivatives);
}

/* Eight tracks: this one, with q/p multiplied by 1 to 8. */
static void compare_lanes(struct subject *s) {
  float states[5][TEST_LANES], ends[4][TEST_LANES], jacobians[4][5][TEST_LANES];
  for (int n = 0; n < TEST_LANES; n++)
    for (int k = 0; k < 5; k++) states[k][n] = (float)s->state[k] * (k == 4 ? (float)(n + 1) : 1.0f);
  transport_lanes(s->leg, &s->p->legs[s->leg], s->p->coefficients + kalman_first_coefficient(s->leg), states, ends,
                  jacobians);
  for (int n = 0; n < TEST_LANES; n++) {
    float state[5], end[4], jacobian[4][5];
    for (int k = 0; k < 5; k++) state[k] = states[k][n];
    transport(s->p, s->leg, -1, state, end, jacobian);
    for (int o = 0; o < 4; o++) {
      assert_true(end[o] == ends[o][n]);
      for (int k = 0; k < 5; k++) assert_true(jacobian[o][k] == jacobians[o][k][n]);
    }
  }
}
static void lanes_have_the_same_bits(void **state) {
  (void)state;
  for_all(compare_lanes);
}

/* Share of tracks with errors times p above limits: x in mm GeV, slopes in GeV. */
static struct { uint32_t tracks[KALMAN_KINDS], bad[KALMAN_KINDS], fast, fast_bad; } outcome;
static void compare_with_field(struct subject *s) {
  static const double limits[KALMAN_KINDS] = {0.1, 0.01, 0.1, 1};
  static const double slope_limits[KALMAN_KINDS] = {2e-4, 1e-4, 2e-4, 5e-4};
  const int kind = kalman_kind(s->leg);
  const double p = 1e-3 / fabs(s->track->q_over_p), *expected = s->track->end[s->leg + 1];
  float state[5], end[4], jacobian[4][5];
  for (int k = 0; k < 5; k++) state[k] = (float)s->state[k];
  transport(s->p, s->leg, -1, state, end, jacobian);
  int is_bad = 0;
  for (int o = 0; o < 4; o++) {
    const double error = fabs((double)end[o] - expected[o]), rounding = o < KALMAN_TX ? 1e-3 : 1e-6;
    is_bad |= error * p > (o < KALMAN_TX ? limits[kind] : slope_limits[kind]) + rounding * p;
  }
  outcome.tracks[kind]++;
  outcome.bad[kind] += is_bad != 0;
  if (kind == KALMAN_LONG && p > 20) {
    outcome.fast++;
    outcome.fast_bad += fabs((double)end[KALMAN_X] - expected[KALMAN_X]) > 0.03;
  }
}
/* 1 mm GeV at T0 for 95 %, 0.03 mm above 20 GeV for 99 % of the tracks. */
static void errors_are_within_the_requirements(void **state) {
  (void)state;
  memset(&outcome, 0, sizeof outcome);
  for_all(compare_with_field);
  for (int kind = 0; kind < KALMAN_KINDS; kind++) {
    print_message("kind %d: %u of %u\n", kind, outcome.bad[kind], outcome.tracks[kind]);
    assert_true(outcome.tracks[kind] > 300 && outcome.bad[kind] * 20 < outcome.tracks[kind]);
  }
  assert_true(outcome.fast > 200 && outcome.fast_bad * 100 <= outcome.fast);
}

/* The mirror image of a track in x has the opposite charge, and so has the track at the other polarity. */
static void compare_polarities(struct subject *s) {
  const float state[5] = {(float)s->state[0], (float)s->state[1], (float)s->state[2], (float)s->state[3],
                          (float)s->state[4]};
  const float charge[5] = {state[0], state[1], state[2], state[3], -state[4]};
  const float mirror[5] = {-state[0], state[1], -state[2], state[3], -state[4]};
  float down[4], up[4], mirrored[4], jacobian[4][5], jacobian_up[4][5], unused[4][5];
  transport(s->p, s->leg, -1, state, down, jacobian);
  transport(s->p, s->leg, 1, charge, up, jacobian_up);
  transport(s->p, s->leg, -1, mirror, mirrored, unused);
  for (int o = 0; o < 4; o++) {
    assert_true(down[o] == up[o]);
    assert_true(down[o] == (kalman_is_y(o) ? mirrored[o] : -mirrored[o]));
    assert_true(jacobian[o][4] == -jacobian_up[o][4]);
  }
}
static void polarity_and_reflection_are_exact(void **state) {
  (void)state;
  for_all(compare_polarities);
}

/* Without momentum, tracks are straight lines. */
static void neutral_tracks_are_straight(void **state) {
  struct kalman_description *d = nominal();
  struct kalman_polynomials *p = rounded(d);
  (void)state;
  for (int l = 0; l < KALMAN_LEGS; l++) {
    const float begin[5] = {100, -50, 0.125f, -0.0625f, 0}, dz = p->legs[l].dz;
    float end[4], jacobian[4][5];
    transport(p, l, -1, begin, end, jacobian);
    assert_true(end[0] == fmaf(begin[2], dz, begin[0]) && end[1] == fmaf(begin[3], dz, begin[1]));
    assert_true(end[2] == begin[2] && end[3] == begin[3]);
    for (int o = 0; o < 4; o++)
      for (int k = 0; k < 4; k++) assert_true(jacobian[o][k] == (o == k ? 1.0f : k == o + 2 ? dz : 0.0f));
  }
  free(p);
  free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(single_precision_agrees_with_double), cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(errors_are_within_the_requirements),  cmocka_unit_test(polarity_and_reflection_are_exact),
      cmocka_unit_test(neutral_tracks_are_straight),         cmocka_unit_test(lanes_have_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
