/* particles_test.c: selections.particles against plain loops in double precision; events without vertices, vertices
 * that are not finite, tracks without a state, and inputs that are not connected. */
#include "selections/event_model.h"
#include "selections_support.h"

#include <math.h>

enum { EVENTS = 4, TRACKS = 200, VELO_TRACKS = 300, VERTICES = 12 };
static const uint32_t event_tracks[EVENTS + 1] = {0, 90, 90, 130, TRACKS};
static const uint32_t event_velo_tracks[EVENTS + 1] = {0, 100, 110, 180, VELO_TRACKS};
static const uint32_t event_vertices[EVENTS + 1] = {0, 5, 7, 7, VERTICES}; /* the third has none */
static const char *const state_names[] = {"x",   "y",   "z",   "tx",  "ty",  "qop", "c00",
                                          "c20", "c22", "c11", "c31", "c33", "chi2"};
enum { X, Y, Z, TX, TY, QOP, C00, C20, C22, C11, C31, C33, CHI2, STATE_FIELDS };
static const char *const vertex_names[] = {"x", "y", "z", "c_xx", "c_xy", "c_yy", "c_xz", "c_yz", "c_zz"};
enum { C_XX = 3, C_XY, C_YY, C_XZ, C_YZ, C_ZZ, VERTEX_FIELDS };

struct sample {
  float state[STATE_FIELDS][TRACKS], vertex[VERTEX_FIELDS][VERTICES], energy[VELO_TRACKS], et[VELO_TRACKS];
  uint32_t velo_track[TRACKS], ndof[TRACKS];
  uint8_t is_muon[TRACKS], is_electron[TRACKS];
  float ghost[TRACKS], muon_score[TRACKS], muon_chi2[TRACKS], electron_score[TRACKS];
};

static void make_vertices(struct sample *s) {
  for (uint32_t v = 0; v < VERTICES; v++) {
    const float low[] = {-0.1f, -0.1f, -100, 1e-5f, -2e-6f, 1e-5f, -1e-5f, -1e-5f, 1e-3f};
    const float high[] = {0.1f, 0.1f, 100, 4e-4f, 2e-6f, 4e-4f, 1e-5f, 1e-5f, 1e-2f};
    for (uint32_t f = 0; f < VERTEX_FIELDS; f++) s->vertex[f][v] = random_between(low[f], high[f]);
  }
}

static void make_sample(struct sample *s) {
  const float low[] = {-0.3f, -0.3f, -100, -0.2f, -0.2f, 1e-5f, 1e-4f, -1e-6f, 1e-8f, 1e-4f, -1e-6f, 1e-8f, 0};
  const float high[] = {0.3f, 0.3f, 100, 0.2f, 0.2f, 5e-4f, 1e-2f, 1e-6f, 1e-6f, 1e-2f, 1e-6f, 1e-6f, 40};
  memset(s, 0, sizeof *s);
  make_vertices(s);
  for (uint32_t i = 0; i < TRACKS; i++) {
    for (uint32_t f = 0; f < STATE_FIELDS; f++) s->state[f][i] = random_between(low[f], high[f]);
    if (i % 2) s->state[QOP][i] = -s->state[QOP][i];
    s->ndof[i] = 2 + 2 * (i % 10);
    s->velo_track[i] = (i * 3) % 40;
    s->is_muon[i] = i % 3 == 0;
    s->ghost[i] = (float)(i % 11) / 16;
    s->muon_score[i] = s->is_muon[i] ? (float)(i % 7) / 8 : 0;
    s->muon_chi2[i] = s->is_muon[i] ? (float)(i % 5) - 2 : 10;
    s->electron_score[i] = (float)(i % 13) / 16;
    s->is_electron[i] = i % 5 == 0;
  }
  for (uint32_t i = 0; i < VELO_TRACKS; i++) s->energy[i] = (float)(100 * i), s->et[i] = (float)(7 * i);
}

static struct sl_test *particles_new(const struct sample *s) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "particles");
  sl_test_events(t, EVENTS);
  sl_test_input(t, "tracks", "offsets", event_tracks, EVENTS + 1);
  sl_test_input(t, "tracks", "velo_track", s->velo_track, TRACKS);
  sl_test_input(t, "tracks", "ghost", s->ghost, TRACKS);
  sl_test_input(t, "states", "offsets", event_tracks, EVENTS + 1);
  for (uint32_t f = 0; f < STATE_FIELDS; f++) sl_test_input(t, "states", state_names[f], s->state[f], TRACKS);
  sl_test_input(t, "states", "ndof", s->ndof, TRACKS);
  sl_test_input(t, "vertices", "offsets", event_vertices, EVENTS + 1);
  for (uint32_t f = 0; f < VERTEX_FIELDS; f++) sl_test_input(t, "vertices", vertex_names[f], s->vertex[f], VERTICES);
  return t;
}

static void give_leptons(struct sl_test *t, const struct sample *s) {
  sl_test_input(t, "muons", "is_muon", s->is_muon, TRACKS);
  sl_test_input(t, "muon_scores", "score", s->muon_score, TRACKS);
  sl_test_input(t, "muon_scores", "chi2_correlated", s->muon_chi2, TRACKS);
  sl_test_input(t, "electrons", "is_electron", s->is_electron, TRACKS);
  sl_test_input(t, "electrons", "score", s->electron_score, TRACKS);
  sl_test_input(t, "bremsstrahlung", "offsets", event_velo_tracks, EVENTS + 1);
  sl_test_input(t, "bremsstrahlung", "energy", s->energy, VELO_TRACKS);
  sl_test_input(t, "bremsstrahlung", "et", s->et, VELO_TRACKS);
}

static float number(const struct sl_test *t, const char *field, uint32_t i) {
  return OUTPUT(t, "particles", field, float)[i];
}
static uint32_t vertex_of(const struct sl_test *t, uint32_t i) { return OUTPUT(t, "particles", "vertex", uint32_t)[i]; }

/* ----------------------------------------------------------------------------------------------- plain loops */

struct association {
  double ip, chi2;
};

/* IP and its chi2, with the full covariance matrix J C J^T of the distance; J is the Jacobian in x, y, z of the vertex.
 */
static struct association impact(const struct sample *s, uint32_t i, uint32_t v) {
  double at[STATE_FIELDS], pv[VERTEX_FIELDS];
  for (uint32_t f = 0; f < STATE_FIELDS; f++) at[f] = (double)s->state[f][i];
  for (uint32_t f = 0; f < VERTEX_FIELDS; f++) pv[f] = (double)s->vertex[f][v];
  const double dz = pv[Z] - at[Z], d[2] = {at[X] + at[TX] * dz - pv[X], at[Y] + at[TY] * dz - pv[Y]};
  const double jacobian[2][3] = {{-1, 0, at[TX]}, {0, -1, at[TY]}};
  const double c[3][3] = {
      {pv[C_XX], pv[C_XY], pv[C_XZ]}, {pv[C_XY], pv[C_YY], pv[C_YZ]}, {pv[C_XZ], pv[C_YZ], pv[C_ZZ]}};
  double sum[2][2] = {{at[C00] + 2 * dz * at[C20] + dz * dz * at[C22], 0},
                      {0, at[C11] + 2 * dz * at[C31] + dz * dz * at[C33]}};
  for (uint32_t k = 0; k < 2; k++)
    for (uint32_t l = 0; l < 2; l++)
      for (uint32_t m = 0; m < 9; m++) sum[k][l] += jacobian[k][m / 3] * c[m / 3][m % 3] * jacobian[l][m % 3];
  const double determinant = sum[0][0] * sum[1][1] - sum[0][1] * sum[1][0];
  const struct association found = {
      sqrt((d[0] * d[0] + d[1] * d[1]) / (1 + at[TX] * at[TX] + at[TY] * at[TY])),
      (d[0] * d[0] * sum[1][1] - 2 * d[0] * d[1] * sum[0][1] + d[1] * d[1] * sum[0][0]) / determinant};
  return found;
}

static void assert_momentum(const struct sl_test *t, const struct sample *s, uint32_t event, uint32_t i) {
  const double tx = (double)s->state[TX][i], ty = (double)s->state[TY][i], p = 1 / fabs((double)s->state[QOP][i]);
  const double slope = hypot(tx, ty), pt = p * slope / sqrt(1 + slope * slope);
  const uint32_t velo_track = event_velo_tracks[event] + s->velo_track[i];
  assert_near("p", i, (double)number(t, "p", i), p, 1e-6 * p);
  assert_near("pt", i, (double)number(t, "pt", i), pt, 1e-6 * pt);
  assert_near("eta", i, (double)number(t, "eta", i), asinh(1 / slope), 2e-6);
  assert_near("p_corrected", i, (double)number(t, "p_corrected", i), p + (double)s->energy[velo_track],
              1e-6 * p + 0.01);
  assert_near("pt_corrected", i, (double)number(t, "pt_corrected", i), pt + (double)s->et[velo_track], 1e-6 * p + 0.01);
  assert_near("chi2_ndof", i, (double)number(t, "chi2_ndof", i), (double)s->state[CHI2][i] / s->ndof[i], 1e-5);
  assert_int_equal(OUTPUT(t, "particles", "charge", int8_t)[i], s->state[QOP][i] > 0 ? 1 : -1);
  assert_int_equal(OUTPUT(t, "particles", "leptons", uint8_t)[i], s->is_muon[i] + 2 * s->is_electron[i]);
  assert_int_equal(OUTPUT(t, "particles", "velo_track", uint32_t)[i], s->velo_track[i]);
  assert_true(number(t, "ghost", i) == s->ghost[i] && number(t, "nn", i) == s->muon_score[i]);
  assert_true(number(t, "nn_e", i) == s->electron_score[i] && number(t, "chi2corr", i) == s->muon_chi2[i]);
  assert_true(number(t, "z", i) == s->state[Z][i]);
  assert_true(number(t, "tx", i) == s->state[TX][i] && number(t, "ty", i) == s->state[TY][i]);
}

static void particles_agree_with_plain_loops(void **state) {
  static struct sample s;
  uint32_t by_distance = 0, checked = 0;
  (void)state;
  random_start(1);
  for (uint32_t pass = 0; pass < 4; pass++) {
    make_sample(&s);
    struct sl_test *t = particles_new(&s);
    give_leptons(t, &s);
    sl_test_block(t, 32u << pass);
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(OUTPUT(t, "particles", "offsets", uint32_t)[EVENTS], TRACKS);
    for (uint32_t event = 0; event < EVENTS; event++)
      for (uint32_t i = event_tracks[event]; i < event_tracks[event + 1]; i++) {
        uint32_t best = PARTICLE_NO_VERTEX, nearest = PARTICLE_NO_VERTEX;
        struct association at_best = {-1, -1}, at_nearest = {-1, -1};
        for (uint32_t v = event_vertices[event]; v < event_vertices[event + 1]; v++) {
          const struct association found = impact(&s, i, v);
          if (best == PARTICLE_NO_VERTEX || found.chi2 < at_best.chi2)
            at_best = found, best = v - event_vertices[event];
          if (nearest == PARTICLE_NO_VERTEX || found.ip < at_nearest.ip)
            at_nearest = found, nearest = v - event_vertices[event];
        }
        assert_int_equal(vertex_of(t, i), best);
        assert_true(number(t, "vertex_z", i) ==
                    (best == PARTICLE_NO_VERTEX ? SELECTIONS_NO_Z : s.vertex[Z][event_vertices[event] + best]));
        assert_near("ip", i, (double)number(t, "ip", i), at_best.ip, 2e-6 * at_best.ip + 2e-6);
        assert_near("ip_chi2", i, (double)number(t, "ip_chi2", i), at_best.chi2, 2e-4 * fabs(at_best.chi2) + 1e-4);
        assert_momentum(t, &s, event, i);
        by_distance += nearest != best;
        checked += best != PARTICLE_NO_VERTEX;
      }
    sl_test_free(t);
  }
  assert_int_equal(checked, 4 * (TRACKS - 40)); /* without the event that has no vertices */
  assert_true(by_distance > 5 && by_distance < checked / 2);
}

static void particles_name_the_node_that_made_them(void **state) {
  static struct sample s;
  uint64_t made_by[2];
  (void)state;
  random_start(5);
  make_sample(&s);
  for (uint32_t k = 0; k < 2; k++) {
    struct sl_test *t = particles_new(&s);
    sl_test_node(t, k ? "others" : "particles");
    assert_int_equal(sl_test_run(t), 0);
    made_by[k] = *OUTPUT(t, "particles", "made_by", uint64_t);
    sl_test_free(t);
  }
  assert_true(made_by[0] != made_by[1] && made_by[0] != 0);
}

/* ----------------------------------------------------------------------------------------------------- limits */

static void inputs_that_are_not_connected_add_nothing(void **state) {
  static struct sample s;
  (void)state;
  random_start(2);
  make_sample(&s);
  struct sl_test *t = particles_new(&s);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < TRACKS; i++) {
    assert_int_equal(OUTPUT(t, "particles", "leptons", uint8_t)[i], 0);
    assert_true(number(t, "nn", i) == 1 && number(t, "nn_e", i) == 1 && number(t, "chi2corr", i) == 10);
    assert_true(number(t, "p", i) == number(t, "p_corrected", i) && number(t, "pt", i) == number(t, "pt_corrected", i));
  }
  sl_test_free(t);
}

static void without_scores_muons_have_neutral_values(void **state) {
  static struct sample s;
  (void)state;
  random_start(3);
  make_sample(&s);
  struct sl_test *t = particles_new(&s);
  sl_test_input(t, "muons", "is_muon", s.is_muon, TRACKS);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < TRACKS; i++)
    assert_true(number(t, "nn", i) == 1 && number(t, "chi2corr", i) == (s.is_muon[i] ? -6 : 10));
  sl_test_free(t);
}

static void the_first_of_equal_vertices_is_taken_and_vertices_that_are_not_finite_are_skipped(void **state) {
  static struct sample s;
  (void)state;
  random_start(3);
  make_sample(&s);
  for (uint32_t f = 0; f < VERTEX_FIELDS; f++)
    for (uint32_t v = 1; v < 5; v++) s.vertex[f][v] = s.vertex[f][1];
  s.vertex[X][0] = NAN;
  for (uint32_t f = C_XX; f < VERTEX_FIELDS; f++)
    for (uint32_t v = 7; v < VERTICES; v++) s.vertex[f][v] = 0;
  const uint32_t exact = event_tracks[3]; /* neither the track nor its vertices have errors */
  for (uint32_t f = C00; f <= C33; f++) s.state[f][exact] = 0;
  s.state[C00][exact] = 1e-30f;
  struct sl_test *t = particles_new(&s);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < event_tracks[1]; i++) assert_int_equal(vertex_of(t, i), 1);
  assert_int_equal(vertex_of(t, exact), PARTICLE_NO_VERTEX);
  assert_true(number(t, "ip", exact) == -1 && number(t, "ip_chi2", exact) == -1 && number(t, "p", exact) > 0);
  sl_test_free(t);
}

static void tracks_with_extreme_values_have_finite_numbers(void **state) {
  static struct sample s;
  static const char *const numbers[] = {"ip",          "ip_chi2",      "chi2_ndof", "p", "pt", "eta",
                                        "p_corrected", "pt_corrected", "vertex_z",  "z", "tx", "ty"};
  (void)state;
  random_start(4);
  make_sample(&s);
  for (uint32_t f = 0; f < STATE_FIELDS; f++) s.state[f][0] = 0;
  s.ndof[0] = s.ndof[1] = 0;
  s.state[QOP][2] = 0;
  s.state[TX][3] = s.state[TY][3] = 0;
  s.state[TX][4] = 1e30f;
  s.state[X][5] = 1e30f;
  s.state[TX][6] = NAN, s.state[C00][7] = NAN;
  struct sl_test *t = particles_new(&s);
  give_leptons(t, &s);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t f = 0; f < sizeof numbers / sizeof numbers[0]; f++)
    for (uint32_t i = 0; i < TRACKS; i++)
      if (!isfinite(number(t, numbers[f], i)))
        fail_msg("%s of %u: %g", numbers[f], i, (double)number(t, numbers[f], i));
  static const uint32_t without_state[] = {0, 4, 6, 7};
  for (uint32_t k = 0; k < 4; k++) {
    const uint32_t i = without_state[k];
    assert_int_equal(vertex_of(t, i), PARTICLE_NO_VERTEX);
    assert_true(number(t, "p", i) == 0 && number(t, "pt", i) == 0 && number(t, "p_corrected", i) == 0);
    assert_true(number(t, "ip", i) == -1 && number(t, "eta", i) == 0);
    assert_true(number(t, "vertex_z", i) == SELECTIONS_NO_Z && number(t, "z", i) == 0);
    assert_true(number(t, "tx", i) == 0 && number(t, "ty", i) == 0);
  }
  assert_true(number(t, "chi2_ndof", 1) == 0 && number(t, "p", 1) > 0);
  assert_true(number(t, "p", 2) > 1e19f && number(t, "pt", 3) == 0 && number(t, "eta", 3) > 14);
  assert_int_equal(vertex_of(t, 5), PARTICLE_NO_VERTEX);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(particles_agree_with_plain_loops),
      cmocka_unit_test(particles_name_the_node_that_made_them),
      cmocka_unit_test(inputs_that_are_not_connected_add_nothing),
      cmocka_unit_test(without_scores_muons_have_neutral_values),
      cmocka_unit_test(the_first_of_equal_vertices_is_taken_and_vertices_that_are_not_finite_are_skipped),
      cmocka_unit_test(tracks_with_extreme_values_have_finite_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
