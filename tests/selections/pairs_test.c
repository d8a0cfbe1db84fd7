/* pairs_test.c: selections.pairs against plain loops in double precision, with the textbook formulas that the kernel
 * avoids; identical bits in any order of the particles; clones, parallel tracks, events without vertices, and values
 * that are not finite. */
#include "muon/event_model.h"
#include "selections/event_model.h"
#include "selections/masses.h"
#include "selections_support.h"

#include <math.h>

enum { EVENTS = 5, PARTICLES = 120, VERTICES = 12, ENOUGH = 3000 };
static const uint32_t event_particles[EVENTS + 1] = {0, 45, 45, 70, 71, PARTICLES};
static const uint32_t event_vertices[EVENTS + 1] = {0, 5, 7, 7, 8, VERTICES}; /* the third has none */

static const char *const state_names[] = {"x", "y", "z", "tx", "ty", "c00", "c20", "c22", "c11", "c31", "c33"};
enum { X, Y, Z, TX, TY, C00, C20, C22, C11, C31, C33, STATE_FIELDS };
static const char *const particle_names[] = {"ip", "ip_chi2", "chi2_ndof", "p", "pt"};
enum { IP, IP_CHI2, CHI2_NDOF, P, PT, PARTICLE_FIELDS };
static const char *const vertex_names[] = {"x", "y", "z", "c_xx", "c_xy", "c_yy", "c_xz", "c_yz", "c_zz"};
enum { C_XX = 3, C_XY, C_YY, C_XZ, C_YZ, C_ZZ, VERTEX_FIELDS };
static const char *const number_names[] = {
    "x",  "y",   "z",       "chi2", "doca", "opening",     "p",     "pt",     "sum_pt", "vertex_z",   "ip",
    "dz", "rho", "fd_chi2", "dira", "eta",  "m_corrected", "min_p", "min_pt", "min_ip", "min_ip_chi2"};
enum { NUMBERS = sizeof number_names / sizeof number_names[0] };

struct sample {
  float state[STATE_FIELDS][PARTICLES], particle[PARTICLE_FIELDS][PARTICLES], vertex[VERTEX_FIELDS][VERTICES];
  uint32_t from[PARTICLES]; /* primary vertices of the particles */
  int8_t charge[PARTICLES];
  uint8_t leptons[PARTICLES];
};

static void make_momentum(struct sample *s, uint32_t i) {
  const float tx = s->state[TX][i], ty = s->state[TY][i];
  s->particle[PT][i] = s->particle[P][i] * sqrtf((tx * tx + ty * ty) / (1 + tx * tx + ty * ty));
}

static void make_sample(struct sample *s) {
  const float state_low[] = {-0.3f, -0.3f, -50, -0.2f, -0.2f, 1e-4f, -1e-6f, 1e-8f, 1e-4f, -1e-6f, 1e-8f};
  const float state_high[] = {0.3f, 0.3f, 50, 0.2f, 0.2f, 1e-2f, 1e-6f, 1e-6f, 1e-2f, 1e-6f, 1e-6f};
  const float particle_low[] = {0, 0, 0, 1000, 0}, particle_high[] = {0.3f, 40, 12, 20000, 0};
  const float vertex_low[] = {-0.1f, -0.1f, -100, 1e-5f, -2e-6f, 1e-5f, -1e-5f, -1e-5f, 1e-3f};
  const float vertex_high[] = {0.1f, 0.1f, 100, 4e-4f, 2e-6f, 4e-4f, 1e-5f, 1e-5f, 1e-2f};
  memset(s, 0, sizeof *s);
  for (uint32_t v = 0; v < VERTICES; v++)
    for (uint32_t f = 0; f < VERTEX_FIELDS; f++) s->vertex[f][v] = random_between(vertex_low[f], vertex_high[f]);
  for (uint32_t i = 0; i < PARTICLES; i++) {
    const uint32_t event = i < 45 ? 0 : i < 70 ? 2 : i < 71 ? 3 : 4;
    const uint32_t vertices = event_vertices[event + 1] - event_vertices[event];
    for (uint32_t f = 0; f < STATE_FIELDS; f++) s->state[f][i] = random_between(state_low[f], state_high[f]);
    for (uint32_t f = 0; f < PARTICLE_FIELDS; f++)
      s->particle[f][i] = random_between(particle_low[f], particle_high[f]);
    make_momentum(s, i);
    s->charge[i] = random_between(0, 1) < 0.5f ? -1 : 1;
    s->leptons[i] = random_between(0, 1) < 0.5f ? 0 : (uint8_t)(1 + i % 3);
    s->from[i] = vertices ? (uint32_t)random_between(0, (float)vertices) : PARTICLE_NO_VERTEX;
    if (!vertices) s->particle[IP][i] = s->particle[IP_CHI2][i] = -1;
  }
}

/* ------------------------------------------------------------------------------------------------- settings */

struct setting {
  const char *name, *leptons;
  double min_pt, min_pt_either, min_ip, min_ip_either, min_ip_chi2, min_ip_chi2_either, max_doca;
  uint32_t opposite_charges, same_vertex;
};
static const struct setting settings[] = {
    {"dihadron", "any", 200, 200, 0.06, 0.06, 4, 4, 1.0, 0, 1},
    {"dilepton", "both", 200, 200, -999, -999, -999, -999, 1.0, 0, 0},
    {"v0", "any", 80, 450, 0.08, 0.2, 12, 32, 0.5, 1, 1},
    {"all", "any", 0, 0, -999, -999, -999, -999, 100, 0, 0},
};
enum { SETTINGS = 3, ALL = 3 };

static struct sl_test *pairs_new(const struct sample *s, const struct setting *setting) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "pairs");
  sl_test_events(t, EVENTS);
  sl_test_node(t, setting->name);
  sl_test_budget(t, "pairs", ENOUGH);
  sl_test_input(t, "particles", "offsets", event_particles, EVENTS + 1);
  sl_test_input(t, "particles", "vertex", s->from, PARTICLES);
  sl_test_input(t, "particles", "charge", s->charge, PARTICLES);
  sl_test_input(t, "particles", "leptons", s->leptons, PARTICLES);
  for (uint32_t f = 0; f < PARTICLE_FIELDS; f++)
    sl_test_input(t, "particles", particle_names[f], s->particle[f], PARTICLES);
  for (uint32_t f = 0; f < STATE_FIELDS; f++) sl_test_input(t, "states", state_names[f], s->state[f], PARTICLES);
  sl_test_input(t, "vertices", "offsets", event_vertices, EVENTS + 1);
  for (uint32_t f = 0; f < VERTEX_FIELDS; f++) sl_test_input(t, "vertices", vertex_names[f], s->vertex[f], VERTICES);
  sl_test_set_text(t, "leptons", setting->leptons);
  sl_test_set(t, "min_pt", setting->min_pt);
  sl_test_set(t, "min_pt_either", setting->min_pt_either);
  sl_test_set(t, "min_ip", setting->min_ip);
  sl_test_set(t, "min_ip_either", setting->min_ip_either);
  sl_test_set(t, "min_ip_chi2", setting->min_ip_chi2);
  sl_test_set(t, "min_ip_chi2_either", setting->min_ip_chi2_either);
  sl_test_set(t, "max_doca", setting->max_doca);
  sl_test_set(t, "opposite_charges", setting->opposite_charges);
  sl_test_set(t, "same_vertex", setting->same_vertex);
  return t;
}

/* Removes the requirements on chi2 per degree of freedom and on the sum of pt. */
static void loosen(struct sl_test *t) {
  sl_test_set(t, "max_chi2_ndof", 1e9);
  sl_test_set(t, "min_sum_pt", 0);
}

static const uint32_t *offsets_of(const struct sl_test *t) { return OUTPUT(t, "pairs", "offsets", uint32_t); }
static uint32_t count_of(const struct sl_test *t) { return offsets_of(t)[EVENTS]; }
static uint32_t integer(const struct sl_test *t, const char *field, uint32_t k) {
  return OUTPUT(t, "pairs", field, uint32_t)[k];
}
static float number(const struct sl_test *t, const char *field, uint32_t k) {
  return OUTPUT(t, "pairs", field, float)[k];
}

static void assert_finite(const struct sl_test *t) {
  for (uint32_t f = 0; f < NUMBERS; f++)
    for (uint32_t k = 0; k < count_of(t); k++)
      if (!isfinite(number(t, number_names[f], k)))
        fail_msg("%s of pair %u, of %u and %u: %g", number_names[f], k, integer(t, "first", k), integer(t, "second", k),
                 (double)number(t, number_names[f], k));
}

/* ----------------------------------------------------------------------------------------------- plain loops */

struct pair {
  double at[3], c[3][3], doca, chi2, cosine;
};

/* Closest approach of two lines, and one Newton step from there with explicit matrices. */
static struct pair fit(const struct sample *s, uint32_t i, uint32_t j) {
  const uint32_t both[] = {i, j};
  double r[2][3], d[2][3], products[2][2], h[3][3] = {{0}}, g[3] = {0, 0, 0};
  struct pair found = {.chi2 = 0};
  for (uint32_t k = 0; k < 2; k++)
    for (uint32_t f = 0; f < 3; f++) {
      r[k][f] = (double)s->state[X + f][both[k]];
      d[k][f] = f < 2 ? (double)s->state[TX + f][both[k]] : 1.0;
    }
  for (uint32_t k = 0; k < 4; k++)
    products[k / 2][k % 2] = d[k / 2][0] * d[k % 2][0] + d[k / 2][1] * d[k % 2][1] + d[k / 2][2] * d[k % 2][2];
  const double determinant = products[0][0] * products[1][1] - products[0][1] * products[0][1];
  double along[2] = {0, 0}, on[2], apart = 0;
  for (uint32_t f = 0; f < 3; f++)
    for (uint32_t k = 0; k < 2; k++) along[k] += d[k][f] * (r[1][f] - r[0][f]);
  on[0] = (along[0] * products[1][1] - along[1] * products[0][1]) / determinant;
  on[1] = (along[0] * products[0][1] - along[1] * products[0][0]) / determinant;
  for (uint32_t f = 0; f < 3; f++) {
    const double one = r[0][f] + on[0] * d[0][f], other = r[1][f] + on[1] * d[1][f];
    found.at[f] = (one + other) / 2;
    apart += (one - other) * (one - other);
  }
  found.doca = sqrt(apart);
  found.cosine = products[0][1] / sqrt(products[0][0] * products[1][1]);
  for (uint32_t k = 0; k < 4; k++) {
    const uint32_t t = both[k / 2], axis = k % 2, c = axis ? C11 : C00;
    const double dz = found.at[2] - r[k / 2][2], slope = d[k / 2][axis];
    const double weight =
        1 / ((double)s->state[c][t] + 2 * dz * (double)s->state[c + 1][t] + dz * dz * (double)s->state[c + 2][t]);
    const double residual = r[k / 2][axis] + slope * dz - found.at[axis];
    g[axis] += weight * residual;
    g[2] -= weight * residual * slope;
    h[axis][axis] += weight;
    h[axis][2] -= weight * slope;
    h[2][2] += weight * slope * slope;
    found.chi2 += weight * residual * residual;
  }
  const double det = h[0][0] * h[1][1] * h[2][2] - h[0][0] * h[1][2] * h[1][2] - h[1][1] * h[0][2] * h[0][2];
  found.c[0][0] = (h[1][1] * h[2][2] - h[1][2] * h[1][2]) / det;
  found.c[1][1] = (h[0][0] * h[2][2] - h[0][2] * h[0][2]) / det;
  found.c[2][2] = h[0][0] * h[1][1] / det;
  found.c[0][1] = found.c[1][0] = h[0][2] * h[1][2] / det;
  found.c[0][2] = found.c[2][0] = -h[1][1] * h[0][2] / det;
  found.c[1][2] = found.c[2][1] = -h[0][0] * h[1][2] / det;
  for (uint32_t k = 0; k < 9; k++) {
    found.at[k / 3] += found.c[k / 3][k % 3] * g[k % 3];
    found.chi2 -= g[k / 3] * found.c[k / 3][k % 3] * g[k % 3];
  }
  return found;
}

/* v^T m^-1 v, computed with the adjugate. */
static double inverse_product(double m[3][3], const double v[3]) {
  double det = 0, sum = 0;
  for (uint32_t k = 0; k < 3; k++)
    for (uint32_t l = 0; l < 3; l++) {
      const uint32_t a = (k + 1) % 3, b = (k + 2) % 3, c = (l + 1) % 3, e = (l + 2) % 3;
      const double cofactor = m[a][c] * m[b][e] - m[a][e] * m[b][c];
      sum += v[k] * v[l] * cofactor;
      if (k == 0) det += m[0][l] * cofactor;
    }
  return sum / det;
}

static double of(const struct sample *s, uint32_t field, uint32_t i) { return (double)s->particle[field][i]; }

static uint32_t is_selected(const struct sample *s, const struct setting *setting, uint32_t i) {
  return of(s, PT, i) > setting->min_pt && of(s, IP_CHI2, i) > setting->min_ip_chi2 && of(s, CHI2_NDOF, i) < 10 &&
         of(s, IP, i) > (double)(float)setting->min_ip && (strcmp(setting->leptons, "any") == 0 || s->leptons[i]);
}

static uint32_t is_pair(const struct sample *s, const struct setting *setting, uint32_t i, uint32_t j) {
  if (!is_selected(s, setting, i) || !is_selected(s, setting, j)) return 0;
  if (setting->opposite_charges && s->charge[i] * s->charge[j] > 0) return 0;
  if (setting->same_vertex && s->from[i] != s->from[j] && of(s, IP_CHI2, i) < 16 && of(s, IP_CHI2, j) < 16) return 0;
  if (of(s, PT, i) < setting->min_pt_either && of(s, PT, j) < setting->min_pt_either) return 0;
  if (of(s, IP, i) < (double)(float)setting->min_ip_either && of(s, IP, j) < (double)(float)setting->min_ip_either)
    return 0;
  if (of(s, IP_CHI2, i) < setting->min_ip_chi2_either && of(s, IP_CHI2, j) < setting->min_ip_chi2_either) return 0;
  if (of(s, PT, i) + of(s, PT, j) < 400) return 0;
  return fit(s, i, j).doca <= setting->max_doca;
}

/* Momentum of a pair, and its mass as two pions. */
struct momentum {
  double p[3], size, mass;
};
static struct momentum momentum_of(const struct sample *s, uint32_t i, uint32_t j) {
  const uint32_t both[] = {i, j};
  struct momentum m = {.size = 0};
  double energy = 0;
  for (uint32_t k = 0; k < 2; k++) {
    const double tx = (double)s->state[TX][both[k]], ty = (double)s->state[TY][both[k]];
    const double pz = of(s, P, both[k]) / sqrt(1 + tx * tx + ty * ty);
    m.p[0] += tx * pz, m.p[1] += ty * pz, m.p[2] += pz;
    energy += hypot(of(s, P, both[k]), (double)PION_MASS);
  }
  m.size = sqrt(m.p[0] * m.p[0] + m.p[1] * m.p[1] + m.p[2] * m.p[2]);
  m.mass = sqrt(energy * energy - m.size * m.size);
  return m;
}

static void check_flight(const struct sl_test *t, const struct sample *s, uint32_t event, uint32_t k,
                         const struct pair *pair, const struct momentum *m) {
  uint32_t best = PARTICLE_NO_VERTEX;
  double ip = 0, d[3], c[3][3], product = 0, cross = 0;
  for (uint32_t v = event_vertices[event]; v < event_vertices[event + 1]; v++) {
    const double dz = (double)s->vertex[Z][v] - pair->at[2], tx = m->p[0] / m->p[2], ty = m->p[1] / m->p[2];
    const double x = pair->at[0] + tx * dz - (double)s->vertex[X][v],
                 y = pair->at[1] + ty * dz - (double)s->vertex[Y][v];
    const double own = sqrt((x * x + y * y) / (1 + tx * tx + ty * ty));
    if (best != PARTICLE_NO_VERTEX && !(own < ip)) continue;
    ip = own, best = v;
  }
  const uint32_t index = best == PARTICLE_NO_VERTEX ? best : best - event_vertices[event];
  assert_int_equal(integer(t, "vertex", k), index);
  if (best == PARTICLE_NO_VERTEX) {
    static const char *const zeros[] = {"ip", "dz", "rho", "dira", "eta", "m_corrected"};
    for (uint32_t f = 0; f < 6; f++) assert_true(number(t, zeros[f], k) == 0);
    assert_true(number(t, "vertex_z", k) == SELECTIONS_NO_Z && number(t, "fd_chi2", k) == -1);
    return;
  }
  static const uint32_t elements[3][3] = {{C_XX, C_XY, C_XZ}, {C_XY, C_YY, C_YZ}, {C_XZ, C_YZ, C_ZZ}};
  for (uint32_t f = 0; f < 3; f++) {
    d[f] = pair->at[f] - (double)s->vertex[X + f][best];
    product += d[f] * m->p[f];
    for (uint32_t g = 0; g < 3; g++) c[f][g] = pair->c[f][g] + (double)s->vertex[elements[f][g]][best];
  }
  const double rho = hypot(d[0], d[1]), distance = hypot(rho, d[2]), chi2 = inverse_product(c, d);
  for (uint32_t f = 0; f < 3; f++) {
    const double one = m->p[f] * d[(f + 1) % 3] - m->p[(f + 1) % 3] * d[f];
    cross += one * one;
  }
  const double across = sqrt(cross) / distance, corrected = sqrt(m->mass * m->mass + across * across) + across;
  const double z_error = 1e-4 * sqrt(pair->c[2][2]) + 2e-5, angle = z_error / distance;
  assert_true(number(t, "vertex_z", k) == s->vertex[Z][best]);
  assert_near("ip", k, (double)number(t, "ip", k), ip, 2e-5 + 0.3 * z_error);
  assert_near("dz", k, (double)number(t, "dz", k), d[2], z_error);
  assert_near("rho", k, (double)number(t, "rho", k), rho, 2e-6 + 0.3 * z_error);
  assert_near("fd_chi2", k, (double)number(t, "fd_chi2", k), chi2, 1e-3 * chi2 + 1e-3);
  assert_near("dira", k, (double)number(t, "dira", k), product / (m->size * distance), 1e-6 + 2 * angle);
  assert_near("eta", k, (double)number(t, "eta", k), asinh(d[2] / rho), 2e-6 + 4 * z_error / rho);
  assert_near("m_corrected", k, (double)number(t, "m_corrected", k), corrected, 1e-5 * corrected + 4 * angle * m->size);
}

static void check_pair(const struct sl_test *t, const struct sample *s, uint32_t event, uint32_t k, uint32_t i,
                       uint32_t j) {
  const struct pair pair = fit(s, i, j);
  const struct momentum m = momentum_of(s, i, j);
  const double z_error = 1e-4 * sqrt(pair.c[2][2]) + 2e-5;
  assert_near("x", k, (double)number(t, "x", k), pair.at[0], 2e-6 + 0.3 * z_error);
  assert_near("y", k, (double)number(t, "y", k), pair.at[1], 2e-6 + 0.3 * z_error);
  assert_near("z", k, (double)number(t, "z", k), pair.at[2], z_error);
  assert_near("chi2", k, (double)number(t, "chi2", k), pair.chi2, 1e-3 * pair.chi2 + 1e-3);
  assert_near("doca", k, (double)number(t, "doca", k), pair.doca, 1e-6);
  assert_near("opening", k, (double)number(t, "opening", k), 1 - pair.cosine, 1e-5 * (1 - pair.cosine) + 1e-15);
  assert_near("p", k, (double)number(t, "p", k), m.size, 3e-7 * m.size);
  assert_near("pt", k, (double)number(t, "pt", k), hypot(m.p[0], m.p[1]), 3e-7 * m.size);
  assert_near("sum_pt", k, (double)number(t, "sum_pt", k), of(s, PT, i) + of(s, PT, j), 1e-3);
  assert_true(number(t, "min_p", k) == fminf(s->particle[P][i], s->particle[P][j]));
  assert_true(number(t, "min_pt", k) == fminf(s->particle[PT][i], s->particle[PT][j]));
  assert_true(number(t, "min_ip", k) == fminf(s->particle[IP][i], s->particle[IP][j]));
  assert_true(number(t, "min_ip_chi2", k) == fminf(s->particle[IP_CHI2][i], s->particle[IP_CHI2][j]));
  assert_int_equal(OUTPUT(t, "pairs", "charge", int8_t)[k], s->charge[i] + s->charge[j]);
  assert_int_equal(OUTPUT(t, "pairs", "leptons", uint8_t)[k], s->leptons[i] & s->leptons[j]);
  assert_int_equal(OUTPUT(t, "pairs", "shared_muon_hits", uint8_t)[k], 0); /* not connected */
  check_flight(t, s, event, k, &pair, &m);
}

/* Compares the pairs of an event with the loops; returns their number. */
static uint32_t check_event(const struct sl_test *t, const struct sample *s, const struct setting *setting,
                            uint32_t event) {
  const uint32_t begin = event_particles[event], end = event_particles[event + 1];
  uint32_t k = offsets_of(t)[event];
  for (uint32_t i = begin; i < end; i++)
    for (uint32_t j = i + 1; j < end; j++) {
      if (!is_pair(s, setting, i, j)) continue;
      assert_true(k < offsets_of(t)[event + 1]);
      assert_int_equal(integer(t, "first", k), i - begin);
      assert_int_equal(integer(t, "second", k), j - begin);
      check_pair(t, s, event, k++, i, j);
    }
  assert_int_equal(k, offsets_of(t)[event + 1]);
  return k - offsets_of(t)[event];
}

static void pairs_agree_with_plain_loops(void **state) {
  static struct sample s;
  (void)state;
  random_start(1);
  for (uint32_t pass = 0; pass < 2 * SETTINGS; pass++) {
    uint32_t found = 0;
    const struct setting *setting = &settings[pass % SETTINGS];
    make_sample(&s);
    struct sl_test *t = pairs_new(&s, setting);
    sl_test_block(t, 32u << pass % 3);
    assert_int_equal(sl_test_run(t), 0);
    for (uint32_t event = 0; event < EVENTS; event++) found += check_event(t, &s, setting, event);
    assert_true(found > 10 && found < 1000);
    assert_int_equal(offsets_of(t)[1], offsets_of(t)[2]); /* no particles, or one particle: no pairs */
    assert_int_equal(offsets_of(t)[3], offsets_of(t)[4]);
    assert_true((offsets_of(t)[3] > offsets_of(t)[2]) == (pass % SETTINGS == 1)); /* `dilepton` needs no vertex */
    assert_finite(t);
    sl_test_free(t);
  }
}

static void pairs_name_the_node_that_made_them(void **state) {
  static struct sample s;
  uint64_t made_by[2];
  (void)state;
  random_start(2);
  make_sample(&s);
  for (uint32_t k = 0; k < 2; k++) {
    struct sl_test *t = pairs_new(&s, &settings[k]);
    assert_int_equal(sl_test_run(t), 0);
    made_by[k] = *OUTPUT(t, "pairs", "made_by", uint64_t);
    sl_test_free(t);
  }
  assert_true(made_by[0] != made_by[1] && made_by[0] != 0);
}

static void events_that_are_not_listed_have_no_pairs(void **state) {
  static struct sample s;
  static const uint32_t lists[][3] = {{0, 2, 3}, {2, 4, 0}, {4, 0, 0}}, lengths[] = {3, 2, 1};
  (void)state;
  random_start(2);
  make_sample(&s);
  for (uint32_t l = 0; l < 3; l++) {
    struct sl_test *t = pairs_new(&s, &settings[1]);
    sl_test_list(t, lists[l], lengths[l]);
    assert_int_equal(sl_test_run(t), 0);
    for (uint32_t event = 0, at = 0; event < EVENTS; event++) {
      const uint32_t is_listed = at < lengths[l] && lists[l][at] == event;
      if (is_listed) at++, (void)check_event(t, &s, &settings[1], event);
      assert_true(is_listed || offsets_of(t)[event] == offsets_of(t)[event + 1]);
    }
    sl_test_free(t);
  }
  struct sl_test *t = pairs_new(&s, &settings[1]);
  sl_test_list(t, lists[0], 0);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(count_of(t), 0);
  sl_test_free(t);
}

/* -------------------------------------------------------------------------------------------------- muon hits */

enum { HITS = MUON_STATIONS * PARTICLES };

/* Most hits are one of two per station. */
static void draw_hits(uint16_t *hits) {
  for (uint32_t h = 0; h < HITS; h++) {
    const float drawn = random_between(0, 1);
    hits[h] = drawn < 0.2f ? MUON_NO_HIT : (uint16_t)(drawn < 0.6f ? h % MUON_STATIONS : 10 + h % MUON_STATIONS);
  }
}

static struct sl_test *pairs_with_muons(const struct sample *s, const uint32_t *offsets, const uint16_t *hits) {
  struct sl_test *t = pairs_new(s, &settings[ALL]);
  loosen(t);
  sl_test_input(t, "muons", "offsets", offsets, EVENTS + 1);
  sl_test_input(t, "muons", "hits", hits, HITS);
  return t;
}

static void shared_muon_hits_are_counted(void **state) {
  static struct sample s;
  uint16_t hits[HITS];
  uint32_t found[MUON_STATIONS + 1] = {0};
  (void)state;
  random_start(6);
  make_sample(&s);
  draw_hits(hits);
  struct sl_test *t = pairs_with_muons(&s, event_particles, hits);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t event = 0; event < EVENTS; event++)
    for (uint32_t k = offsets_of(t)[event]; k < offsets_of(t)[event + 1]; k++) {
      const uint16_t *one = hits + MUON_STATIONS * (event_particles[event] + integer(t, "first", k));
      const uint16_t *other = hits + MUON_STATIONS * (event_particles[event] + integer(t, "second", k));
      uint32_t shared = 0;
      for (uint32_t m = 0; m < MUON_STATIONS; m++) shared += one[m] == other[m] && one[m] != MUON_NO_HIT;
      assert_int_equal(OUTPUT(t, "pairs", "shared_muon_hits", uint8_t)[k], shared);
      found[shared]++;
    }
  for (uint32_t shared = 0; shared <= MUON_STATIONS; shared++) assert_true(found[shared] > 0);
  sl_test_free(t);
}

static void muons_of_other_particles_are_refused(void **state) {
  static struct sample s;
  uint16_t hits[HITS];
  uint32_t offsets[EVENTS + 1];
  (void)state;
  random_start(6);
  make_sample(&s);
  draw_hits(hits);
  memcpy(offsets, event_particles, sizeof offsets);
  offsets[1]--; /* one muon less in the first event, and one more in the second, which has no particles */
  struct sl_test *t = pairs_with_muons(&s, offsets, hits);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_event_error(t, 0) >> 32, 1);
  assert_int_equal(sl_test_event_error(t, 4), 0);
  sl_test_free(t);
}

/* ----------------------------------------------------------------------------------------- order of particles */

/* Reverses the order of the particles in each event. */
static void reverse(const struct sample *s, struct sample *reversed) {
  *reversed = *s;
  for (uint32_t event = 0; event < EVENTS; event++)
    for (uint32_t i = event_particles[event]; i < event_particles[event + 1]; i++) {
      const uint32_t to = event_particles[event] + event_particles[event + 1] - 1 - i;
      for (uint32_t f = 0; f < STATE_FIELDS; f++) reversed->state[f][to] = s->state[f][i];
      for (uint32_t f = 0; f < PARTICLE_FIELDS; f++) reversed->particle[f][to] = s->particle[f][i];
      reversed->from[to] = s->from[i];
      reversed->charge[to] = s->charge[i];
      reversed->leptons[to] = s->leptons[i];
    }
}

static uint32_t index_of(const struct sl_test *t, uint32_t event, uint32_t first, uint32_t second) {
  for (uint32_t k = offsets_of(t)[event]; k < offsets_of(t)[event + 1]; k++)
    if (integer(t, "first", k) == first && integer(t, "second", k) == second) return k;
  fail_msg("event %u: no pair of %u and %u", event, first, second);
  return 0;
}

static void a_pair_has_identical_bits_in_either_order_of_its_particles(void **state) {
  static struct sample s, reversed;
  (void)state;
  random_start(3);
  make_sample(&s);
  reverse(&s, &reversed);
  struct sl_test *t = pairs_new(&s, &settings[ALL]), *u = pairs_new(&reversed, &settings[ALL]);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_run(u), 0);
  assert_int_equal(count_of(t), count_of(u));
  assert_true(count_of(t) > 500);
  for (uint32_t event = 0; event < EVENTS; event++)
    for (uint32_t k = offsets_of(t)[event]; k < offsets_of(t)[event + 1]; k++) {
      const uint32_t last = event_particles[event + 1] - event_particles[event] - 1;
      const uint32_t l = index_of(u, event, last - integer(t, "second", k), last - integer(t, "first", k));
      for (uint32_t f = 0; f < NUMBERS; f++) {
        const float one = number(t, number_names[f], k), other = number(u, number_names[f], l);
        if (memcmp(&one, &other, sizeof one) != 0)
          fail_msg("%s of pair %u: %.9g, and %.9g in reverse order", number_names[f], k, (double)one, (double)other);
      }
      assert_int_equal(integer(t, "vertex", k), integer(u, "vertex", l));
    }
  sl_test_free(t);
  sl_test_free(u);
}

/* ----------------------------------------------------------------------------------------------------- limits */

static void copy_particle(struct sample *s, uint32_t from, uint32_t to) {
  for (uint32_t f = 0; f < STATE_FIELDS; f++) s->state[f][to] = s->state[f][from];
  for (uint32_t f = 0; f < PARTICLE_FIELDS; f++) s->particle[f][to] = s->particle[f][from];
}

static void nearly_parallel_tracks_are_as_accurate_as_others(void **state) {
  static struct sample s;
  uint32_t found = 0;
  (void)state;
  random_start(4);
  make_sample(&s);
  for (uint32_t i = 1; i < event_particles[1]; i++) { /* angles of 1e-6 to 1e-3 */
    copy_particle(&s, 0, i);
    s.state[X][i] += random_between(-1e-3f, 1e-3f);
    s.state[TX][i] += powf(10, random_between(-6, -3));
    s.state[TY][i] += powf(10, random_between(-6, -3));
  }
  struct sl_test *t = pairs_new(&s, &settings[ALL]);
  loosen(t);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t k = 0; k < offsets_of(t)[1]; k++) {
    const uint32_t i = integer(t, "first", k), j = integer(t, "second", k);
    const struct pair pair = fit(&s, i, j);
    const double angle = hypot((double)(s.state[TX][i] - s.state[TX][j]), (double)(s.state[TY][i] - s.state[TY][j]));
    if (angle < 1e-7) continue;
    assert_near("doca", k, (double)number(t, "doca", k), pair.doca, 1e-7 + 1e-5 * pair.doca);
    assert_near("opening", k, (double)number(t, "opening", k), angle * angle / 2, 0.1 * angle * angle);
    assert_near("chi2", k, (double)number(t, "chi2", k), pair.chi2, 1e-3 * pair.chi2 + 1e-3);
    assert_near("z", k, (double)number(t, "z", k), pair.at[2], 1e-3 * sqrt(pair.c[2][2]) + 1e-4);
    assert_true(number(t, "fd_chi2", k) >= 0);
    found++;
  }
  assert_true(found > 800);
  assert_finite(t);
  sl_test_free(t);
}

static void parallel_tracks_and_tracks_that_meet_far_away_are_no_pair(void **state) {
  static struct sample s;
  (void)state;
  random_start(5);
  make_sample(&s);
  for (uint32_t i = 1; i < event_particles[1]; i++) {
    copy_particle(&s, 0, i);
    if (i > 1) s.state[X][i] += (float)i; /* the first two are equal */
  }
  for (uint32_t i = 71; i < PARTICLES; i++) { /* closest to the first one at 2 km, at 0.9 km, and never */
    copy_particle(&s, 71, i);
    s.state[X][i] = s.state[X][71] + 1.0f;
    s.state[TX][71] = s.state[TY][71] = 0;
    s.state[TY][i] = 0;
    s.state[TX][i] = i == 72 ? -5e-7f : i == 73 ? -1.1e-6f : 0;
  }
  struct sl_test *t = pairs_new(&s, &settings[ALL]);
  loosen(t);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(offsets_of(t)[1], 0);
  for (uint32_t k = offsets_of(t)[4]; k < offsets_of(t)[5]; k++)
    if (integer(t, "first", k) == 0) assert_int_equal(integer(t, "second", k), 2);
  (void)index_of(t, 4, 0, 2);
  assert_finite(t);
  sl_test_free(t);
}

static void a_pair_at_its_primary_vertex_has_no_direction(void **state) {
  static struct sample s;
  (void)state;
  random_start(6);
  make_sample(&s);
  for (uint32_t i = 0; i < 2; i++) { /* tracks that cross at the origin */
    for (uint32_t f = X; f <= TY; f++) s.state[f][i] = 0;
    s.state[TX][i] = i == 0 ? 0.125f : -0.125f;
  }
  for (uint32_t f = X; f <= Z; f++) s.vertex[f][0] = 0;
  struct sl_test *t = pairs_new(&s, &settings[ALL]);
  loosen(t);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t k = index_of(t, 0, 0, 1);
  assert_int_equal(integer(t, "vertex", k), 0);
  assert_true(number(t, "rho", k) == 0 && number(t, "dz", k) == 0 && number(t, "fd_chi2", k) == 0);
  assert_true(number(t, "dira", k) == 0 && number(t, "eta", k) == 0);
  assert_near("m_corrected", k, (double)number(t, "m_corrected", k), momentum_of(&s, 0, 1).mass, 1e-2);
  assert_finite(t);
  sl_test_free(t);
}

static void a_primary_vertex_that_gives_values_that_are_not_finite_is_ignored(void **state) {
  static struct sample s;
  (void)state;
  random_start(7);
  make_sample(&s);
  for (uint32_t v = 0; v < event_vertices[1]; v++) s.vertex[v % 2 ? Z : C_XY][v] = v % 2 ? NAN : INFINITY;
  for (uint32_t v = event_vertices[4]; v < VERTICES; v++) s.vertex[v % 2 ? C_ZZ : C_XX][v] = -1; /* not positive */
  struct sl_test *t = pairs_new(&s, &settings[ALL]);
  assert_int_equal(sl_test_run(t), 0);
  assert_true(offsets_of(t)[1] > 100 && offsets_of(t)[5] > offsets_of(t)[4]);
  for (uint32_t k = 0; k < offsets_of(t)[1]; k++) {
    assert_int_equal(integer(t, "vertex", k), PARTICLE_NO_VERTEX);
    assert_true(number(t, "fd_chi2", k) == -1 && number(t, "vertex_z", k) == SELECTIONS_NO_Z);
  }
  for (uint32_t k = offsets_of(t)[4]; k < offsets_of(t)[5]; k++) assert_true(number(t, "fd_chi2", k) >= 0);
  assert_finite(t);
  sl_test_free(t);
}

/* A random number of any magnitude in single precision, 0, infinity or NaN. */
static float odd_number(void) {
  const float kind = random_between(0, 20);
  if (kind < 1) return NAN;
  if (kind < 2) return random_between(-1, 1) < 0 ? -INFINITY : INFINITY;
  if (kind < 4) return 0;
  return (random_between(-1, 1) < 0 ? -1.0f : 1.0f) * powf(10, random_between(-40, 38));
}

static void pairs_of_extreme_particles_have_finite_numbers(void **state) {
  static struct sample s;
  uint32_t found = 0;
  (void)state;
  random_start(8);
  for (uint32_t pass = 0; pass < 16; pass++) {
    make_sample(&s);
    for (uint32_t n = 0; n < 20 + 50 * pass; n++) {
      const uint32_t i = (uint32_t)random_between(0, PARTICLES), v = (uint32_t)random_between(0, VERTICES);
      if (n % 2) s.state[(uint32_t)random_between(0, STATE_FIELDS)][i] = odd_number();
      if (n % 4 == 0) s.particle[(uint32_t)random_between(0, PARTICLE_FIELDS)][i] = odd_number();
      if (n % 16 == 2) s.vertex[(uint32_t)random_between(0, VERTEX_FIELDS)][v] = odd_number();
    }
    struct sl_test *t = pairs_new(&s, &settings[ALL]);
    loosen(t);
    sl_test_set(t, "min_ip", -1e9);
    sl_test_set(t, "min_ip_chi2", -1e9);
    assert_int_equal(sl_test_run(t), 0);
    assert_finite(t);
    found += count_of(t);
    sl_test_free(t);
  }
  assert_true(found > 2000);
}

static void pairs_that_exceed_the_memory_are_counted_and_not_written(void **state) {
  static struct sample s;
  (void)state;
  random_start(9);
  make_sample(&s);
  struct sl_test *t = pairs_new(&s, &settings[ALL]);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t all = count_of(t);
  sl_test_free(t);
  for (uint32_t less = 0; less < 2; less++) {
    t = pairs_new(&s, &settings[ALL]);
    sl_test_budget(t, "pairs", all - less);
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(sl_test_used(t, "pairs"), all);
    assert_int_equal(count_of(t), less ? 0 : all);
    sl_test_free(t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_agree_with_plain_loops),
      cmocka_unit_test(pairs_name_the_node_that_made_them),
      cmocka_unit_test(events_that_are_not_listed_have_no_pairs),
      cmocka_unit_test(shared_muon_hits_are_counted),
      cmocka_unit_test(muons_of_other_particles_are_refused),
      cmocka_unit_test(a_pair_has_identical_bits_in_either_order_of_its_particles),
      cmocka_unit_test(nearly_parallel_tracks_are_as_accurate_as_others),
      cmocka_unit_test(parallel_tracks_and_tracks_that_meet_far_away_are_no_pair),
      cmocka_unit_test(a_pair_at_its_primary_vertex_has_no_direction),
      cmocka_unit_test(a_primary_vertex_that_gives_values_that_are_not_finite_is_ignored),
      cmocka_unit_test(pairs_of_extreme_particles_have_finite_numbers),
      cmocka_unit_test(pairs_that_exceed_the_memory_are_counted_and_not_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
