/* fit_test.c: selections.fit against a textbook Kalman filter in double precision; tracks with few hits, along the
 * beam, without momentum, and with values that are not finite. */
#include "selections_support.h"

#include <math.h>

enum { EVENTS = 4, TRACKS = 200, VELO_TRACKS = 260, HITS_MAX = 20, HITS = VELO_TRACKS * HITS_MAX };
static const uint32_t event_tracks[EVENTS + 1] = {0, 70, 70, 71, TRACKS};
static const uint32_t event_velo_tracks[EVENTS + 1] = {0, 90, 100, 130, VELO_TRACKS};
static const char *const field_names[] = {"x",   "y",   "z",   "tx",  "ty",  "qop", "c00",
                                          "c20", "c22", "c11", "c31", "c33", "chi2"};
enum { X, Y, Z, TX, TY, QOP, C00, C20, C22, C11, C31, C33, CHI2, FIELDS };

struct sample {
  uint32_t hit_offsets[VELO_TRACKS + 1], velo_track[TRACKS];
  float qop[TRACKS], x[HITS], y[HITS], z[HITS], beam[2];
};
struct state {
  double value[FIELDS];
};

/* Straight lines from near the beam, some along the foil, with hits smeared by about the expected error. */
static void make_sample(struct sample *s) {
  memset(s, 0, sizeof *s);
  s->beam[0] = 0.1f, s->beam[1] = -0.2f;
  uint32_t hit = 0;
  for (uint32_t track = 0; track < VELO_TRACKS; track++) {
    const uint32_t count = 3 + track % (HITS_MAX - 2);
    float z = random_between(100, 700);
    const float slope_max = track % 3 ? 30.0f / z : 0.03f;
    const float tx = random_between(-slope_max, slope_max), ty = track % 5 ? random_between(-slope_max, slope_max) : tx;
    const float x0 = random_between(-0.5f, 0.5f), y0 = random_between(-0.5f, 0.5f);
    for (uint32_t i = 0; i < count; i++, hit++, z -= random_between(10, 50)) {
      s->x[hit] = x0 + tx * z + random_between(-0.02f, 0.02f);
      s->y[hit] = y0 + ty * z + random_between(-0.02f, 0.02f);
      s->z[hit] = z;
    }
    s->hit_offsets[track + 1] = hit;
  }
  for (uint32_t event = 0; event < EVENTS; event++)
    for (uint32_t i = event_tracks[event]; i < event_tracks[event + 1]; i++) {
      const uint32_t velo_tracks = event_velo_tracks[event + 1] - event_velo_tracks[event];
      s->velo_track[i] = (i * 17) % velo_tracks;
      s->qop[i] = (i % 2 ? 1.0f : -1.0f) / random_between(1000, i % 3 ? 10000 : 100000);
    }
}

static struct sl_test *fit_new(const struct sample *s) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "fit");
  const uint32_t hits = s->hit_offsets[VELO_TRACKS];
  sl_test_events(t, EVENTS);
  sl_test_input(t, "tracks", "offsets", event_tracks, EVENTS + 1);
  sl_test_input(t, "tracks", "velo_track", s->velo_track, TRACKS);
  sl_test_input(t, "tracks", "qop", s->qop, TRACKS);
  sl_test_input(t, "velo_tracks", "offsets", event_velo_tracks, EVENTS + 1);
  sl_test_input(t, "velo_tracks", "hit_offsets", s->hit_offsets, VELO_TRACKS + 1);
  sl_test_input(t, "velo_tracks", "hit_x", s->x, hits);
  sl_test_input(t, "velo_tracks", "hit_y", s->y, hits);
  sl_test_input(t, "velo_tracks", "hit_z", s->z, hits);
  sl_test_input(t, "geometry", "beam", s->beam, 2);
  return t;
}

static float field_of(const struct sl_test *t, uint32_t field, uint32_t track) {
  return OUTPUT(t, "states", field_names[field], float)[track];
}

/* -------------------------------------------------------------------------------------------------- the textbook */

static double with_energy(double k, double energy) {
  const double p = 1 / fabs(k) + energy;
  return fabs(k) > 1e-20 && p > 10 ? copysign(1 / p, k) : k;
}

/* Predicts v = (position, slope) and its covariance c, adds noise, and updates them with the hit m; `k` is q/p. */
static double textbook_step(double v[2], double c[3], double dz, double m, double scattering, double *k) {
  const double variance = 0.0125 * 0.0125, n2 = 1 + v[1] * v[1], s = n2 * pow(n2, 1.5) * *k * *k * scattering;
  const double uu = c[0] + 2 * dz * c[1] + dz * dz * c[2] + s * dz * dz * 0.643 * 0.643;
  const double ut = c[1] + dz * c[2] + s * dz * 0.526, tt = c[2] + s;
  const double gain_u = uu / (variance + uu), gain_t = ut / (variance + uu), residual = m - (v[0] + v[1] * dz);
  *k = with_energy(*k, (dz < 0 ? 0.592 : -0.592) * sqrt(n2));
  v[0] += v[1] * dz + gain_u * residual;
  v[1] += gain_t * residual;
  c[0] = (1 - gain_u) * uu;
  c[1] = (1 - gain_u) * ut;
  c[2] = tt - gain_t * ut;
  return residual * residual / (variance + uu);
}

static int is_around_foil(double x, double y) {
  const double a = x + y, b = y - x;
  return (b > -15 && a >= 0 && a < 15) || (b < 15 && a > -15 && a <= 0);
}

static void textbook_move(double v[2], double c[3], double dz, double noise) {
  v[0] += v[1] * dz;
  c[0] += dz * dz * c[2] + 2 * dz * c[1] + noise * dz * dz * 0.808 * 0.808;
  c[1] += dz * c[2] + noise * dz * 0.793;
  c[2] += noise;
}

/* Adds the number of hits near the foil to `foil_hits`. */
static struct state textbook_fit(const struct sample *s, uint32_t velo_track, double k, uint32_t *foil_hits) {
  const uint32_t begin = s->hit_offsets[velo_track], last = s->hit_offsets[velo_track + 1] - 1;
  const double whole = (double)s->z[begin] - (double)s->z[last];
  double x[2] = {(double)s->x[begin], ((double)s->x[begin] - (double)s->x[last]) / whole};
  double y[2] = {(double)s->y[begin], ((double)s->y[begin] - (double)s->y[last]) / whole};
  double cx[3] = {0.0125 * 0.0125, 0, 0.01}, cy[3] = {0.0125 * 0.0125, 0, 0.01}, chi2 = 0;
  for (uint32_t i = begin + 1; i <= last; i++) {
    const int is_foil = is_around_foil((double)s->x[i], (double)s->y[i]);
    const double dz = (double)s->z[i] - (double)s->z[i - 1], scattering = 1.48 + (is_foil ? 0.6 : 0);
    chi2 += textbook_step(x, cx, dz, (double)s->x[i], scattering, &k);
    chi2 += textbook_step(y, cy, dz, (double)s->y[i], scattering, &k);
    *foil_hits += is_foil ? 1 : 0;
  }
  const double slope2 = x[1] * x[1] + y[1] * y[1], n = sqrt(1 + slope2);
  const double dz = (((double)s->beam[0] - x[0]) * x[1] + ((double)s->beam[1] - y[0]) * y[1]) / slope2;
  const double noise = n * n * n * k * k * 2.91;
  const int moves = slope2 >= 1e-6;
  if (moves) {
    textbook_move(x, cx, dz, (1 + x[1] * x[1]) * noise);
    textbook_move(y, cy, dz, (1 + y[1] * y[1]) * noise);
    k = with_energy(k, (dz < 0 ? 1.29 : -1.29) * n);
  }
  const struct state found = {{x[0], y[0], (double)s->z[last] + (moves ? dz : 0), x[1], y[1], k, cx[0], cx[1], cx[2],
                               cy[0], cy[1], cy[2], chi2}};
  return found;
}

/* Tolerances: a part of the error plus rounding, a few units in the last place of a slope of 0.2, over 700 mm. */
static void assert_is(const struct sl_test *t, uint32_t track, const struct state *expected) {
  const double *e = expected->value, slope = sqrt(e[TX] * e[TX] + e[TY] * e[TY]), part = 1e-3, ulps = 5e-5,
               slope_ulps = 6e-8;
  const double errors[FIELDS] = {[X] = part * sqrt(e[C00]) + ulps,
                                 [Y] = part * sqrt(e[C11]) + ulps,
                                 [Z] = (part * sqrt(e[C00] + e[C11]) + ulps) / slope,
                                 [TX] = part * sqrt(e[C22]) + slope_ulps,
                                 [TY] = part * sqrt(e[C33]) + slope_ulps,
                                 [QOP] = 5e-6 * fabs(e[QOP]),
                                 [C00] = 1e-5 * e[C00],
                                 [C20] = 1e-5 * fabs(e[C20]) + 1e-6 * sqrt(e[C00] * e[C22]),
                                 [C22] = 1e-5 * e[C22],
                                 [C11] = 1e-5 * e[C11],
                                 [C31] = 1e-5 * fabs(e[C31]) + 1e-6 * sqrt(e[C11] * e[C33]),
                                 [C33] = 1e-5 * e[C33],
                                 [CHI2] = 1e-3 + 2e-4 * e[CHI2]};
  for (uint32_t f = 0; f < FIELDS; f++)
    assert_near(field_names[f], track, (double)field_of(t, f, track), e[f], errors[f]);
}

static void states_agree_with_the_textbook_filter(void **state) {
  static struct sample s;
  uint32_t foil_hits = 0, hits = 0;
  (void)state;
  random_start(3);
  for (uint32_t pass = 0; pass < 4; pass++) {
    make_sample(&s);
    struct sl_test *t = fit_new(&s);
    sl_test_block(t, 32u << pass);
    assert_int_equal(sl_test_run(t), 0);
    for (uint32_t event = 0; event < EVENTS; event++)
      for (uint32_t i = event_tracks[event]; i < event_tracks[event + 1]; i++) {
        const uint32_t velo_track = event_velo_tracks[event] + s.velo_track[i];
        const uint32_t count = s.hit_offsets[velo_track + 1] - s.hit_offsets[velo_track];
        const struct state expected = textbook_fit(&s, velo_track, (double)s.qop[i], &foil_hits);
        assert_is(t, i, &expected);
        assert_int_equal(OUTPUT(t, "states", "ndof", uint32_t)[i], 2 * count - 4);
        hits += count;
      }
    assert_int_equal(OUTPUT(t, "states", "offsets", uint32_t)[EVENTS], TRACKS);
    sl_test_free(t);
  }
  assert_true(foil_hits > hits / 10 && foil_hits < 9 * (hits / 10));
}

/* ------------------------------------------------------------------------------------------------ odd tracks */

static void assert_is_none(const struct sl_test *t, uint32_t track) {
  for (uint32_t f = 0; f < FIELDS; f++) assert_near(field_names[f], track, (double)field_of(t, f, track), 0, 0);
  assert_int_equal(OUTPUT(t, "states", "ndof", uint32_t)[track], 0);
}

/* Places all hits of a track at x and y = 1, with the distance `dz` between them. */
static void set_hits(struct sample *s, uint32_t track, float x, float dz) {
  const uint32_t begin = s->hit_offsets[s->velo_track[track]], end = s->hit_offsets[s->velo_track[track] + 1];
  for (uint32_t i = begin; i < end; i++) {
    s->x[i] = x, s->y[i] = 1;
    s->z[i] = 300 - dz * (float)(i - begin);
  }
}

static void a_track_with_a_value_that_is_not_finite_has_zeros(void **state) {
  static struct sample s;
  (void)state;
  random_start(4);
  make_sample(&s);
  s.qop[0] = NAN, s.qop[1] = INFINITY, s.qop[2] = 1e30f;
  set_hits(&s, 3, NAN, 25);
  set_hits(&s, 4, 1, INFINITY);
  set_hits(&s, 5, 1, 25);
  s.x[s.hit_offsets[s.velo_track[5]]] = 3e38f;
  struct sl_test *t = fit_new(&s);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < 6; i++) assert_is_none(t, i);
  for (uint32_t i = 6; i < TRACKS; i++) assert_true(OUTPUT(t, "states", "ndof", uint32_t)[i] >= 2);
  sl_test_free(t);
}

static void tracks_with_less_than_two_hits_have_zeros(void **state) {
  static struct sample s;
  (void)state;
  random_start(5);
  make_sample(&s);
  for (uint32_t track = 1; track < VELO_TRACKS; track++)
    s.hit_offsets[track] = track < 3 ? track - 1 : s.hit_offsets[track];
  s.hit_offsets[3] = 3; /* tracks of 0, 1 and 2 hits */
  for (uint32_t i = 0; i < 3; i++) s.velo_track[i] = i;
  struct sl_test *t = fit_new(&s);
  assert_int_equal(sl_test_run(t), 0);
  assert_is_none(t, 0);
  assert_is_none(t, 1);
  assert_true(field_of(t, C00, 2) > 0);
  assert_int_equal(OUTPUT(t, "states", "ndof", uint32_t)[2], 0);
  sl_test_free(t);
}

/* A track without slope has no closest approach, infinite momentum gives no scattering, hits in one plane give no
 * slope. */
static void tracks_at_the_limits_have_states(void **state) {
  static struct sample s;
  (void)state;
  random_start(6);
  make_sample(&s);
  s.velo_track[0] = 50, s.velo_track[1] = 51, s.velo_track[2] = 52;
  for (uint32_t i = 3; i < event_tracks[1]; i++) s.velo_track[i] = i % 40;
  set_hits(&s, 0, 2, 25);
  set_hits(&s, 1, 2, 0);
  s.qop[2] = 0;
  s.qop[3] = -1.0f / 5; /* p below min_p: no energy loss */
  struct sl_test *t = fit_new(&s);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t last = s.hit_offsets[51] - 1;
  assert_true(field_of(t, X, 0) == 2 && field_of(t, Y, 0) == 1 && field_of(t, Z, 0) == s.z[last]);
  assert_true(field_of(t, TX, 0) == 0 && field_of(t, CHI2, 0) == 0 && field_of(t, C22, 0) > 0);
  assert_true(field_of(t, TX, 1) == 0 && field_of(t, Z, 1) == 300 && fabsf(field_of(t, C22, 1) - 0.01f) < 1e-3f);
  assert_true(field_of(t, QOP, 2) == 0 && field_of(t, C22, 2) > 0 && isfinite(field_of(t, CHI2, 2)));
  assert_true(isfinite(field_of(t, CHI2, 3)) && field_of(t, QOP, 3) < 0);
  sl_test_free(t);
}

static void every_property_changes_the_states(void **state) {
  static struct sample s;
  (void)state;
  random_start(7);
  make_sample(&s);
  static const struct {
    const char *name;
    double value;
    uint32_t field; /* field that the property changes */
  } cases[] = {{"hit_error", 0.02, C00},
               {"slope_variance", 1e-5, CHI2},
               {"scattering", 3, C22},
               {"scattering_foil", 30, C22},
               {"lever", 0.8, C00},
               {"lever_covariance", 0.1, C20},
               {"energy_loss", 3, QOP},
               {"beam_scattering", 9, C22},
               {"beam_lever", 0.3, C00},
               {"beam_lever_covariance", 0.1, C20},
               {"beam_energy_loss", 30, QOP},
               {"foil_width", 0, C22},
               {"min_p", 1e6, QOP}};
  struct sl_test *t = fit_new(&s);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    struct sl_test *changed = fit_new(&s);
    sl_test_set(changed, cases[k].name, cases[k].value);
    assert_int_equal(sl_test_run(changed), 0);
    uint32_t changed_count = 0;
    for (uint32_t i = 0; i < TRACKS; i++)
      changed_count += field_of(t, cases[k].field, i) != field_of(changed, cases[k].field, i);
    if (changed_count < TRACKS / 20)
      fail_msg("%s changes %s of %u tracks", cases[k].name, field_names[cases[k].field], changed_count);
    sl_test_free(changed);
  }
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(states_agree_with_the_textbook_filter),
      cmocka_unit_test(a_track_with_a_value_that_is_not_finite_has_zeros),
      cmocka_unit_test(tracks_with_less_than_two_hits_have_zeros),
      cmocka_unit_test(tracks_at_the_limits_have_states),
      cmocka_unit_test(every_property_changes_the_states),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
