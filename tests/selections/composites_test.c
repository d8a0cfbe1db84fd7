/* composites_test.c: selections.composites against plain loops in double precision with textbook formulas, for
 * secondary vertices and for composites; each requirement on both sides of its limit; particles of the child, parallel
 * lines, values that are not finite, more composites than fit, wrong inputs. */
#include "selections/event_model.h"
#include "selections/masses.h"
#include "selections_support.h"

#include <math.h>

enum { EVENTS = 5, PARTICLES = 100, CHILDREN = 90, VERTICES = 12, ENOUGH = 4000 };
static const uint32_t event_particles[EVENTS + 1] = {0, 40, 40, 60, 63, PARTICLES};
static const uint32_t event_children[EVENTS + 1] = {0, 35, 35, 50, 51, CHILDREN};
static const uint32_t event_vertices[EVENTS + 1] = {0, 5, 7, 7, 8, VERTICES}; /* the third has none */

static const char *const state_names[] = {"x", "y", "z", "tx", "ty", "c00", "c20", "c22", "c11", "c31", "c33"};
enum { X, Y, Z, TX, TY, STATE_FIELDS = 11 };
static const char *const particle_names[] = {"ip", "ip_chi2", "chi2_ndof", "p", "pt"};
enum { IP, IP_CHI2, CHI2_NDOF, P, PT, PARTICLE_FIELDS };
static const char *const child_names[] = {"x", "y", "z", "ip", "dz", "rho", "dira", "m_corrected", "min_ip_chi2"};
enum { CHILD_IP = 3, CHILD_DZ, CHILD_RHO, CHILD_DIRA, CHILD_M_CORRECTED, CHILD_MIN_IP_CHI2, CHILD_FIELDS };
static const char *const index_names[] = {"first", "second", "third", "fourth", "sv"};
enum { FIRST, SECOND, THIRD, FOURTH, SV, INDICES };
static const char *const number_names[] = {
    "x",  "y",  "z",   "doca", "max_doca", "opening",     "child_p", "p",      "pt",     "sum_pt",     "vertex_z",
    "ip", "dz", "rho", "dira", "eta",      "m_corrected", "min_p",   "min_pt", "min_ip", "min_ip_chi2"};
enum { NUMBERS = sizeof number_names / sizeof number_names[0] };

struct sample {
  float state[STATE_FIELDS][PARTICLES], particle[PARTICLE_FIELDS][PARTICLES];
  float child[CHILD_FIELDS][CHILDREN], vertex[3][VERTICES];
  uint32_t index[INDICES][CHILDREN], child_vertex[CHILDREN], from[PARTICLES];
  int8_t charge[PARTICLES], child_charge[CHILDREN];
  uint8_t leptons[PARTICLES];
};

static uint32_t event_of(const uint32_t *offsets, uint32_t item) {
  uint32_t e = 0;
  while (offsets[e + 1] <= item) e++;
  return e;
}

static uint32_t some_vertex(uint32_t event) {
  const uint32_t count = event_vertices[event + 1] - event_vertices[event];
  return count ? (uint32_t)random_between(0, (float)count) : PARTICLE_NO_VERTEX;
}

static void make_particle(struct sample *s, uint32_t i) {
  static const float low[] = {-0.3f, -0.3f, -50, -0.2f, -0.2f, 1e-4f, -1e-6f, 1e-8f, 1e-4f, -1e-6f, 1e-8f};
  static const float high[] = {0.3f, 0.3f, 50, 0.2f, 0.2f, 1e-2f, 1e-6f, 1e-6f, 1e-2f, 1e-6f, 1e-6f};
  static const float own_low[] = {0, 0, 0, 1000, 0}, own_high[] = {0.3f, 40, 12, 20000, 0};
  for (uint32_t f = 0; f < STATE_FIELDS; f++) s->state[f][i] = random_between(low[f], high[f]);
  for (uint32_t f = 0; f < PARTICLE_FIELDS; f++) s->particle[f][i] = random_between(own_low[f], own_high[f]);
  const float tx = s->state[TX][i], ty = s->state[TY][i];
  s->particle[PT][i] = s->particle[P][i] * sqrtf((tx * tx + ty * ty) / (1 + tx * tx + ty * ty));
  s->charge[i] = random_between(0, 1) < 0.5f ? -1 : 1;
  s->leptons[i] = (uint8_t)random_between(0, 4);
  s->from[i] = some_vertex(event_of(event_particles, i));
}

static void make_child(struct sample *s, uint32_t i) {
  static const float low[] = {-1, -1, -300, 0, -10, 0, 0.9995f, 300, 0},
                     high[] = {1, 1, 700, 0.1f, 1100, 8, 1, 9000, 60};
  const uint32_t event = event_of(event_children, i), particles = event_particles[event + 1] - event_particles[event];
  for (uint32_t f = 0; f < CHILD_FIELDS; f++) s->child[f][i] = random_between(low[f], high[f]);
  s->index[FIRST][i] = (uint32_t)random_between(0, (float)(particles - 2));
  s->index[SECOND][i] = s->index[FIRST][i] + 1;
  s->index[THIRD][i] = (s->index[SECOND][i] + 1) % particles;
  s->index[FOURTH][i] = COMPOSITE_NONE;
  s->index[SV][i] = i + 7;
  s->child_vertex[i] = some_vertex(event);
  s->child_charge[i] = (int8_t)((int)random_between(0, 3) - 1);
}

static void make_sample(struct sample *s) {
  static const float low[] = {-0.1f, -0.1f, -100}, high[] = {0.1f, 0.1f, 100};
  for (uint32_t v = 0; v < VERTICES; v++)
    for (uint32_t f = 0; f < 3; f++) s->vertex[f][v] = random_between(low[f], high[f]);
  for (uint32_t i = 0; i < PARTICLES; i++) make_particle(s, i);
  for (uint32_t i = 0; i < CHILDREN; i++) make_child(s, i);
}

/* ------------------------------------------------------------------------------------------------- settings */

static const char *const property_names[] = {"min_track_pt",
                                             "min_track_p",
                                             "min_track_ip_chi2",
                                             "max_track_ip_chi2",
                                             "min_track_ip",
                                             "max_track_ip",
                                             "max_chi2_ndof",
                                             "min_z",
                                             "max_z",
                                             "min_dz",
                                             "min_rho",
                                             "min_ip",
                                             "min_dira",
                                             "min_fd",
                                             "max_fd",
                                             "min_m_corrected",
                                             "max_m_corrected",
                                             "min_ip_chi2",
                                             "neutral",
                                             "same_vertex",
                                             "max_doca",
                                             "min_sine2",
                                             "min_sum_dira"};
enum {
  MIN_TRACK_PT,
  MIN_TRACK_P,
  MIN_TRACK_IP_CHI2,
  MAX_TRACK_IP_CHI2,
  MIN_TRACK_IP,
  MAX_TRACK_IP,
  MAX_CHI2_NDOF,
  MIN_Z,
  MAX_Z,
  MIN_DZ,
  MIN_RHO,
  MIN_IP,
  MIN_DIRA,
  MIN_FD,
  MAX_FD,
  MIN_M_CORRECTED,
  MAX_M_CORRECTED,
  MIN_IP_CHI2,
  NEUTRAL,
  SAME_VERTEX,
  MAX_DOCA,
  MIN_SINE2,
  MIN_SUM_DIRA,
  PROPERTIES
};

/* Everything passes. */
static const double open_limits[PROPERTIES] = {0,  0,    -1e9, 1e16, -1e9, 1e16, 1e9, -1e9, 1e9, -1e9, -1e9, -1e9,
                                               -2, -1e9, 1e9,  -1e9, 1e9,  -1e9, 0,   0,    100, 0,    -10};
static const double several_limits[][PROPERTIES] = {
    {100, 0, 24, 1e16, 0.15, 1e16, 10, -180, 650, 24, 3, 0.032, 0.9999, 0, 1000, 0, 200000, 0, 1, 0, 20, 2.5e-7, -10},
    {150, 2000, 0, 20, 0, 0.2, 10, -200, 650, 0, 0, 0, 0.9997, 50, 800, 500, 8000, 5, 0, 0, 5, 1e-3, -10},
    {0, 0, -1e9, 1e16, -1e9, 1e16, 10, -1e9, 1e9, -1e9, -1e9, -1e9, -2, -1e9, 1e9, -1e9, 1e9, -1e9, 0, 1, 50, 0, 0.5}};
enum { SETTINGS = 3 };

static struct sl_test *without_children(const struct sample *s) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "composites");
  sl_test_events(t, EVENTS);
  sl_test_budget(t, "combined", ENOUGH);
  sl_test_input(t, "particles", "offsets", event_particles, EVENTS + 1);
  sl_test_input(t, "particles", "vertex", s->from, PARTICLES);
  sl_test_input(t, "particles", "charge", s->charge, PARTICLES);
  sl_test_input(t, "particles", "leptons", s->leptons, PARTICLES);
  for (uint32_t f = 0; f < PARTICLE_FIELDS; f++)
    sl_test_input(t, "particles", particle_names[f], s->particle[f], PARTICLES);
  for (uint32_t f = 0; f < STATE_FIELDS; f++) sl_test_input(t, "states", state_names[f], s->state[f], PARTICLES);
  sl_test_input(t, "vertices", "offsets", event_vertices, EVENTS + 1);
  for (uint32_t f = 0; f < 3; f++) sl_test_input(t, "vertices", state_names[f], s->vertex[f], VERTICES);
  return t;
}

static struct sl_test *test_new(const struct sample *s, const double *limits, int is_tree) {
  const char *port = is_tree ? "composites" : "secondary_vertices";
  struct sl_test *t = without_children(s);
  sl_test_input(t, port, "offsets", event_children, EVENTS + 1);
  for (uint32_t f = 0; f < CHILD_FIELDS; f++) sl_test_input(t, port, child_names[f], s->child[f], CHILDREN);
  for (uint32_t f = 0; f < (is_tree ? INDICES : THIRD); f++)
    sl_test_input(t, port, index_names[f], s->index[f], CHILDREN);
  sl_test_input(t, port, "vertex", s->child_vertex, CHILDREN);
  sl_test_input(t, port, "charge", s->child_charge, CHILDREN);
  for (uint32_t k = 0; k < PROPERTIES; k++) sl_test_set(t, property_names[k], limits[k]);
  return t;
}

static const uint32_t *offsets_of(const struct sl_test *t) { return OUTPUT(t, "combined", "offsets", uint32_t); }
static uint32_t count_of(const struct sl_test *t) { return offsets_of(t)[EVENTS]; }
static uint32_t integer(const struct sl_test *t, const char *field, uint32_t k) {
  return OUTPUT(t, "combined", field, uint32_t)[k];
}
static double number(const struct sl_test *t, const char *field, uint32_t k) {
  return (double)OUTPUT(t, "combined", field, float)[k];
}
static void assert_finite(const struct sl_test *t) {
  for (uint32_t f = 0; f < NUMBERS; f++)
    for (uint32_t k = 0; k < count_of(t); k++)
      if (!isfinite(number(t, number_names[f], k)))
        fail_msg("%s of composite %u: %g", number_names[f], k, number(t, number_names[f], k));
}

/* ----------------------------------------------------------------------------------------------- plain loops */

struct vector {
  double v[3];
};
static double dot(struct vector a, struct vector b) { return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2]; }
static double length(struct vector a) { return sqrt(dot(a, a)); }
static struct vector along(struct vector a, double factor, struct vector b) { /* a + factor b */
  for (uint32_t f = 0; f < 3; f++) a.v[f] += factor * b.v[f];
  return a;
}

/* A point and a direction. */
struct ray {
  struct vector at, to;
};
static struct ray ray_of(const struct sample *s, uint32_t i) {
  return (struct ray){{{(double)s->state[X][i], (double)s->state[Y][i], (double)s->state[Z][i]}},
                      {{(double)s->state[TX][i], (double)s->state[TY][i], 1}}};
}
static struct vector momentum_of(const struct sample *s, uint32_t i) {
  const struct ray r = ray_of(s, i);
  const struct vector zero = {{0, 0, 0}};
  return along(zero, (double)s->particle[P][i] / length(r.to), r.to);
}

/* Closest points of two rays, with the textbook determinant. Returns their distance. */
static double approach(struct ray a, struct ray b, struct vector *middle) {
  const struct vector d = along(b.at, -1, a.at);
  const double aa = dot(a.to, a.to), bb = dot(b.to, b.to), ab = dot(a.to, b.to), det = aa * bb - ab * ab;
  const double on_a = (dot(d, a.to) * bb - dot(d, b.to) * ab) / det;
  const double on_b = (dot(d, a.to) * ab - dot(d, b.to) * aa) / det;
  const struct vector one = along(a.at, on_a, a.to), other = along(b.at, on_b, b.to);
  if (middle)
    for (uint32_t f = 0; f < 3; f++) middle->v[f] = (one.v[f] + other.v[f]) / 2;
  return length(along(one, -1, other));
}

static double cosine(struct vector a, struct vector b) { return dot(a, b) / (length(a) * length(b)); }

struct expected {
  uint32_t particles[4], count; /* indices in the slice */
  struct vector child_momentum, momentum, at;
  struct ray child;
  double doca, error; /* error: of the position along the lines, from the rounding of the slopes */
};

/* The composite of child i and particle j. */
static struct expected expect(const struct sample *s, uint32_t event, uint32_t i, uint32_t j, int is_tree) {
  struct expected e = {.count = is_tree ? 4 : 3};
  for (uint32_t k = 0; k + 1 < e.count; k++) {
    e.particles[k] = event_particles[event] + s->index[FIRST + k][i];
    e.child_momentum = along(e.child_momentum, 1, momentum_of(s, e.particles[k]));
  }
  e.particles[e.count - 1] = j;
  e.momentum = along(e.child_momentum, 1, momentum_of(s, j));
  e.child.to = e.child_momentum;
  for (uint32_t f = 0; f < 3; f++) e.child.at.v[f] = (double)s->child[f][i];
  e.doca = approach(e.child, ray_of(s, j), &e.at);
  const double c = cosine(e.child.to, ray_of(s, j).to), reach = fabs(e.at.v[2]) + fabs(e.child.at.v[2]);
  e.error = 1e-4 + 6e-8 * reach / sqrt(1 - c * c);
  return e;
}

static int is_within(const struct sample *s, const double *limits, uint32_t i, uint32_t j) {
  double at[CHILD_FIELDS], of[PARTICLE_FIELDS], limit[PROPERTIES];
  for (uint32_t f = 0; f < PROPERTIES; f++) limit[f] = (double)(float)limits[f];
  for (uint32_t f = 0; f < CHILD_FIELDS; f++) at[f] = (double)s->child[f][i];
  for (uint32_t f = 0; f < PARTICLE_FIELDS; f++) of[f] = (double)s->particle[f][j];
  const double fd = hypot(at[CHILD_DZ], at[CHILD_RHO]);
  return of[PT] > limit[MIN_TRACK_PT] && of[P] > limit[MIN_TRACK_P] && of[IP_CHI2] > limit[MIN_TRACK_IP_CHI2] &&
         of[IP_CHI2] < limit[MAX_TRACK_IP_CHI2] && of[IP] > limit[MIN_TRACK_IP] && of[IP] < limit[MAX_TRACK_IP] &&
         of[CHI2_NDOF] < limit[MAX_CHI2_NDOF] && at[Z] > limit[MIN_Z] && at[Z] < limit[MAX_Z] &&
         at[CHILD_DZ] > limit[MIN_DZ] && at[CHILD_RHO] > limit[MIN_RHO] && at[CHILD_IP] > limit[MIN_IP] &&
         at[CHILD_DIRA] > limit[MIN_DIRA] && fd > limit[MIN_FD] && fd < limit[MAX_FD] &&
         at[CHILD_M_CORRECTED] > limit[MIN_M_CORRECTED] && at[CHILD_M_CORRECTED] < limit[MAX_M_CORRECTED] &&
         at[CHILD_MIN_IP_CHI2] >= limit[MIN_IP_CHI2] && (limits[NEUTRAL] == 0 || s->child_charge[i] == 0);
}

static int is_composite(const struct sample *s, const double *limits, uint32_t event, uint32_t i,
                        const struct expected *e) {
  const uint32_t j = e->particles[e->count - 1];
  if (!is_within(s, limits, i, j)) return 0;
  for (uint32_t k = 0; k + 1 < e->count; k++) {
    const double c = cosine(ray_of(s, e->particles[k]).to, ray_of(s, j).to);
    if (e->particles[k] == j || 1 - c * c < limits[MIN_SINE2]) return 0;
  }
  if (limits[SAME_VERTEX] != 0 && s->child_vertex[i] != s->from[j]) return 0;
  if (limits[MIN_SUM_DIRA] > -1) {
    if (s->child_vertex[i] == PARTICLE_NO_VERTEX) return 0 >= limits[MIN_SUM_DIRA];
    const uint32_t v = event_vertices[event] + s->child_vertex[i];
    const struct vector pv = {{(double)s->vertex[0][v], (double)s->vertex[1][v], (double)s->vertex[2][v]}};
    if (cosine(along(e->child.at, -1, pv), e->momentum) < limits[MIN_SUM_DIRA]) return 0;
  }
  return e->doca <= limits[MAX_DOCA];
}

static void check_flight(const struct sl_test *t, const struct sample *s, uint32_t event, uint32_t k,
                         const struct expected *e, double mass) {
  uint32_t best = PARTICLE_NO_VERTEX;
  double ip = 0;
  struct vector d = {{0, 0, 0}};
  for (uint32_t v = event_vertices[event]; v < event_vertices[event + 1]; v++) {
    const struct vector pv = {{(double)s->vertex[0][v], (double)s->vertex[1][v], (double)s->vertex[2][v]}};
    const struct vector to = along(e->at, -1, pv);
    const double tx = e->momentum.v[0] / e->momentum.v[2], ty = e->momentum.v[1] / e->momentum.v[2];
    const double own =
        sqrt((pow(to.v[0] - tx * to.v[2], 2) + pow(to.v[1] - ty * to.v[2], 2)) / (1 + tx * tx + ty * ty));
    if (best != PARTICLE_NO_VERTEX && !(own < ip)) continue;
    ip = own, best = v, d = to;
  }
  if (best == PARTICLE_NO_VERTEX) {
    static const char *const zeros[] = {"ip", "dz", "rho", "dira", "eta", "m_corrected"};
    for (uint32_t f = 0; f < 6; f++) assert_true(number(t, zeros[f], k) == 0);
    assert_true(number(t, "vertex_z", k) == (double)SELECTIONS_NO_Z);
    assert_int_equal(integer(t, "vertex", k), PARTICLE_NO_VERTEX);
    return;
  }
  const double rho = hypot(d.v[0], d.v[1]), distance = length(d), p = length(e->momentum);
  const double across = sqrt(fmax(0, p * p - pow(dot(d, e->momentum) / distance, 2)));
  const double corrected = sqrt(mass * mass + across * across) + across, size = e->error;
  assert_int_equal(integer(t, "vertex", k), best - event_vertices[event]);
  assert_true(number(t, "vertex_z", k) == (double)s->vertex[2][best]);
  assert_near("ip", k, number(t, "ip", k), ip, size);
  assert_near("dz", k, number(t, "dz", k), d.v[2], size);
  assert_near("rho", k, number(t, "rho", k), rho, size);
  assert_near("dira", k, number(t, "dira", k), cosine(d, e->momentum), 1e-6 + size / distance);
  assert_near("eta", k, number(t, "eta", k), asinh(d.v[2] / rho), 1e-5 + 4 * size / rho);
  assert_near("m_corrected", k, number(t, "m_corrected", k), corrected, 1e-5 * corrected + 4 * size / distance * p);
}

static void check_columns(const struct sl_test *t, const struct sample *s, uint32_t event, uint32_t k, uint32_t i,
                          const struct expected *e, int is_tree) {
  const uint32_t begin = event_particles[event], j = e->particles[e->count - 1];
  double sum_pt = 0, energy = 0, most = 0, least[4] = {1e30, 1e30, 1e30, 1e30};
  int charge = 0;
  uint8_t leptons = 3;
  for (uint32_t n = 0; n < e->count; n++) {
    static const uint32_t fields[] = {P, PT, IP, IP_CHI2};
    const uint32_t of = e->particles[n];
    for (uint32_t f = 0; f < 4; f++) least[f] = fmin(least[f], (double)s->particle[fields[f]][of]);
    sum_pt += (double)s->particle[PT][of];
    energy += hypot((double)s->particle[P][of], (double)PION_MASS);
    charge += s->charge[of];
    leptons &= s->leptons[of];
    for (uint32_t l = 0; l < n; l++) most = fmax(most, approach(ray_of(s, of), ray_of(s, e->particles[l]), NULL));
    assert_int_equal(integer(t, index_names[FIRST + n], k), of - begin);
  }
  const double p = length(e->momentum), mass = sqrt(energy * energy - p * p);
  if (!is_tree) assert_int_equal(integer(t, "fourth", k), COMPOSITE_NONE);
  assert_int_equal(integer(t, "sv", k), is_tree ? s->index[SV][i] : i - event_children[event]);
  assert_int_equal(integer(t, "composite", k), is_tree ? i - event_children[event] : COMPOSITE_NONE);
  assert_int_equal(integer(t, "track", k), j - begin);
  for (uint32_t f = 0; f < 3; f++) assert_near(state_names[f], k, number(t, state_names[f], k), e->at.v[f], e->error);
  assert_near("doca", k, number(t, "doca", k), e->doca, 1e-5 + 1e-6 * e->doca);
  assert_near("max_doca", k, number(t, "max_doca", k), most, 1e-6 + 1e-6 * most);
  const double opening = 1 - cosine(e->child_momentum, momentum_of(s, j));
  assert_near("opening", k, number(t, "opening", k), opening, 2e-5 * opening + 2e-9);
  assert_near("child_p", k, number(t, "child_p", k), length(e->child_momentum), 3e-7 * p);
  assert_near("p", k, number(t, "p", k), p, 3e-7 * p);
  assert_near("pt", k, number(t, "pt", k), hypot(e->momentum.v[0], e->momentum.v[1]), 3e-7 * p);
  assert_near("sum_pt", k, number(t, "sum_pt", k), sum_pt, 1e-6 * sum_pt);
  assert_true(number(t, "min_p", k) == least[0] && number(t, "min_pt", k) == least[1]);
  assert_true(number(t, "min_ip", k) == least[2] && number(t, "min_ip_chi2", k) == least[3]);
  assert_int_equal(OUTPUT(t, "combined", "charge", int8_t)[k], charge);
  assert_int_equal(OUTPUT(t, "combined", "leptons", uint8_t)[k], leptons);
  check_flight(t, s, event, k, e, mass);
}

/* Compares the composites of an event with the loops; returns their number. */
static uint32_t check_event(const struct sl_test *t, const struct sample *s, const double *limits, uint32_t event,
                            int is_tree) {
  uint32_t k = offsets_of(t)[event];
  for (uint32_t i = event_children[event]; i < event_children[event + 1]; i++)
    for (uint32_t j = event_particles[event]; j < event_particles[event + 1]; j++) {
      const struct expected e = expect(s, event, i, j, is_tree);
      if (!is_composite(s, limits, event, i, &e)) continue;
      assert_true(k < offsets_of(t)[event + 1]);
      check_columns(t, s, event, k++, i, &e, is_tree);
    }
  assert_int_equal(k, offsets_of(t)[event + 1]);
  return k - offsets_of(t)[event];
}

static void composites_agree_with_plain_loops(void **state) {
  static struct sample s;
  uint32_t total = 0;
  (void)state;
  random_start(1);
  for (uint32_t pass = 0; pass < 2 * SETTINGS; pass++) {
    const double *limits = several_limits[pass % SETTINGS];
    const int is_tree = pass / SETTINGS % 2 != 0;
    uint32_t found = 0;
    make_sample(&s);
    struct sl_test *t = test_new(&s, limits, is_tree);
    sl_test_block(t, 32u << pass % 3);
    assert_int_equal(sl_test_run(t), 0);
    for (uint32_t event = 0; event < EVENTS; event++) found += check_event(t, &s, limits, event, is_tree);
    assert_int_equal(offsets_of(t)[1], offsets_of(t)[2]); /* no children and no particles */
    assert_true(*OUTPUT(t, "combined", "made_by", uint64_t) != 0);
    assert_finite(t);
    total += found;
    if (found == 0) fail_msg("pass %u has no composites", pass);
    sl_test_free(t);
  }
  if (total < 300) fail_msg("there are %u composites", total);
}

static void events_that_are_not_listed_have_no_composites(void **state) {
  static struct sample s;
  static const uint32_t list[] = {2, 4};
  (void)state;
  random_start(2);
  make_sample(&s);
  for (uint32_t count = 0; count < 3; count += 2) {
    struct sl_test *t = test_new(&s, several_limits[2], 0);
    sl_test_list(t, list, count);
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(offsets_of(t)[2], 0);
    assert_int_equal(offsets_of(t)[3], offsets_of(t)[4]);
    if (count) assert_true(check_event(t, &s, several_limits[2], 4, 0) > 0);
    if (!count) assert_int_equal(count_of(t), 0);
    sl_test_free(t);
  }
}

/* ---------------------------------------------------------------------------------------------------- limits */

/* One child, of the first two or three particles, and one particle to add in the fourth event. The lines of child and
 * particle have a distance of 0.25 mm at z = 0, and the slopes of the particles differ by 0.25. */
enum { ONE_EVENT = 3, ONE_CHILD = 50, ADDED = 62 };
static void make_one(struct sample *s) {
  static const float child[] = {0, 0, 0, 0.125f, 3, 4, 0.5f, 2000, 16}, own[] = {0.25f, 16, 2, 5000, 500};
  make_sample(s);
  for (uint32_t k = 60; k < 63; k++) {
    for (uint32_t f = X; f <= TY; f++) s->state[f][k] = 0;
    for (uint32_t f = 0; f < PARTICLE_FIELDS; f++) s->particle[f][k] = own[f];
  }
  for (uint32_t f = 0; f < CHILD_FIELDS; f++) s->child[f][ONE_CHILD] = child[f];
  s->index[FIRST][ONE_CHILD] = 0;
  s->index[SECOND][ONE_CHILD] = 1;
  s->child_charge[ONE_CHILD] = 0;
  s->child_vertex[ONE_CHILD] = s->from[ADDED] = 0;
  s->state[Y][ADDED] = 0.25f;
  s->state[TX][ADDED] = 0.25f;
  for (uint32_t f = 0; f < 3; f++) s->vertex[f][event_vertices[ONE_EVENT]] = f == 2 ? -8 : 0;
}

/* Number of composites of the child with the added particle. */
static uint32_t count_one(const struct sample *s, const double *limits) {
  struct sl_test *t = test_new(s, limits, 0);
  uint32_t found = 0;
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t k = offsets_of(t)[ONE_EVENT]; k < offsets_of(t)[ONE_EVENT + 1]; k++)
    found += integer(t, "track", k) == 2;
  assert_finite(t);
  sl_test_free(t);
  return found;
}

static void each_requirement_has_the_stated_limit(void **state) {
  static struct sample s;
  /* The value of the child and particle above; whether a composite at the limit is accepted; +1 for a minimum. */
  static const struct {
    uint32_t property;
    double value;
    uint32_t is_inclusive;
    int sign;
  } cases[] = {{MIN_TRACK_PT, 500, 0, 1},
               {MIN_TRACK_P, 5000, 0, 1},
               {MIN_TRACK_IP_CHI2, 16, 0, 1},
               {MAX_TRACK_IP_CHI2, 16, 0, -1},
               {MIN_TRACK_IP, 0.25, 0, 1},
               {MAX_TRACK_IP, 0.25, 0, -1},
               {MAX_CHI2_NDOF, 2, 0, -1},
               {MIN_Z, 0, 0, 1},
               {MAX_Z, 0, 0, -1},
               {MIN_DZ, 3, 0, 1},
               {MIN_RHO, 4, 0, 1},
               {MIN_IP, 0.125, 0, 1},
               {MIN_DIRA, 0.5, 0, 1},
               {MIN_FD, 5, 0, 1},
               {MAX_FD, 5, 0, -1},
               {MIN_M_CORRECTED, 2000, 0, 1},
               {MAX_M_CORRECTED, 2000, 0, -1},
               {MIN_IP_CHI2, 16, 1, 1},
               {MAX_DOCA, 0.25, 1, -1},
               {MIN_SINE2, 1.0 / 17, 1, 1}};
  (void)state;
  random_start(3);
  make_one(&s);
  assert_int_equal(count_one(&s, open_limits), 1);
  for (uint32_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
    for (int side = -1; side <= 1; side++) {
      double limits[PROPERTIES];
      memcpy(limits, open_limits, sizeof limits);
      limits[cases[k].property] = cases[k].value + side * 1e-3 * fmax(1e-1, cases[k].value);
      const uint32_t expected = side == 0 ? cases[k].is_inclusive : side != cases[k].sign;
      if (count_one(&s, limits) != expected)
        fail_msg("%s at %g: %u expected", property_names[cases[k].property], limits[cases[k].property], expected);
    }
}

static void charge_vertex_and_direction_are_required_if_set(void **state) {
  static struct sample s;
  double limits[PROPERTIES];
  (void)state;
  random_start(4);
  make_one(&s);
  memcpy(limits, open_limits, sizeof limits);
  limits[NEUTRAL] = limits[SAME_VERTEX] = 1;
  assert_int_equal(count_one(&s, limits), 1);
  s.child_charge[ONE_CHILD] = -2;
  assert_int_equal(count_one(&s, limits), 0);
  limits[NEUTRAL] = 0;
  assert_int_equal(count_one(&s, limits), 1);
  s.from[ADDED] = PARTICLE_NO_VERTEX;
  assert_int_equal(count_one(&s, limits), 0);
  limits[SAME_VERTEX] = 0;
  /* The flight vector is (0, 0, 8); the momentum is (0, 0, 10000) with that of the particle added. */
  const double z = 10000 + 5000 / sqrt(17.0 / 16), x = 1250 / sqrt(17.0 / 16), dira = z / hypot(x, z);
  limits[MIN_SUM_DIRA] = dira - 1e-5;
  assert_int_equal(count_one(&s, limits), 1);
  limits[MIN_SUM_DIRA] = dira + 1e-5;
  assert_int_equal(count_one(&s, limits), 0);
  s.child_vertex[ONE_CHILD] = PARTICLE_NO_VERTEX; /* the cosine is 0 */
  limits[MIN_SUM_DIRA] = 0;
  assert_int_equal(count_one(&s, limits), 1);
  limits[MIN_SUM_DIRA] = 0.001;
  assert_int_equal(count_one(&s, limits), 0);
}

static void a_particle_of_the_child_is_not_added(void **state) {
  static struct sample s;
  (void)state;
  random_start(5);
  make_sample(&s);
  for (int is_tree = 0; is_tree < 2; is_tree++) {
    struct sl_test *t = test_new(&s, open_limits, is_tree);
    assert_int_equal(sl_test_run(t), 0);
    assert_true(count_of(t) > 1000);
    for (uint32_t k = 0; k < count_of(t); k++)
      for (uint32_t n = 0; n < (is_tree ? 3u : 2u); n++)
        assert_true(integer(t, index_names[FIRST + n], k) != integer(t, "track", k));
    sl_test_free(t);
  }
}

static void parallel_lines_make_no_composite(void **state) {
  static struct sample s;
  (void)state;
  random_start(6);
  make_one(&s);
  s.state[TX][ADDED] = 0; /* as the child */
  assert_int_equal(count_one(&s, open_limits), 0);
  s.state[TX][ADDED] = -5e-7f; /* closest beyond 1e6 mm: 0.25 mm apart in x */
  s.state[X][ADDED] = 1;
  assert_int_equal(count_one(&s, open_limits), 0);
  s.state[TX][ADDED] = -1e-5f;
  assert_int_equal(count_one(&s, open_limits), 1);
  s.state[TX][60] = 0.5f; /* the particle is parallel to a particle of the child, but not to the child */
  s.state[TX][ADDED] = 0.5f;
  struct sl_test *t = test_new(&s, open_limits, 0);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t k = offsets_of(t)[ONE_EVENT];
  assert_int_equal(offsets_of(t)[ONE_EVENT + 1], k + 1);
  assert_true(number(t, "max_doca", k) == 1e6);
  assert_finite(t);
  sl_test_free(t);
}

static void values_that_are_not_finite_make_no_composite(void **state) {
  static struct sample s;
  static const float odd[] = {NAN, INFINITY};
  (void)state;
  random_start(7);
  for (uint32_t k = 0; k < 2; k++) {
    for (uint32_t f = 0; f < (k == 0 ? CHILD_FIELDS : CHILD_IP); f++) {
      make_one(&s);
      s.child[f][ONE_CHILD] = odd[k];
      assert_int_equal(count_one(&s, open_limits), 0);
    }
    for (uint32_t f = 0; f < STATE_FIELDS + PARTICLE_FIELDS; f++) {
      make_one(&s);
      *(f < STATE_FIELDS ? &s.state[f][ADDED] : &s.particle[f - STATE_FIELDS][ADDED]) = odd[k];
      assert_int_equal(count_one(&s, open_limits), 0);
    }
  }
  for (uint32_t pass = 0; pass < 8; pass++) { /* whatever is accepted is finite */
    make_sample(&s);
    for (uint32_t n = 0; n < 60; n++) {
      s.state[(uint32_t)random_between(0, STATE_FIELDS)][(uint32_t)random_between(0, PARTICLES)] = odd[n / 2 % 2];
      s.vertex[(uint32_t)random_between(0, 3)][(uint32_t)random_between(0, VERTICES)] = odd[n / 2 % 2];
      s.child[(uint32_t)random_between(0, 3)][(uint32_t)random_between(0, CHILDREN)] = n % 2 ? 3e37f : odd[n / 2 % 2];
      s.particle[P][(uint32_t)random_between(0, PARTICLES)] = n % 2 ? 0 : 9e11f;
    }
    struct sl_test *t = test_new(&s, open_limits, (int)(pass % 2));
    assert_int_equal(sl_test_run(t), 0);
    assert_true(count_of(t) > 20);
    assert_finite(t);
    sl_test_free(t);
  }
}

/* ---------------------------------------------------------------------------------------------------- errors */

static void composites_that_exceed_the_memory_are_counted_and_not_written(void **state) {
  static struct sample s;
  (void)state;
  random_start(8);
  make_sample(&s);
  struct sl_test *t = test_new(&s, open_limits, 0);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t all = count_of(t);
  sl_test_free(t);
  for (uint32_t less = 0; less < 2; less++) {
    t = test_new(&s, open_limits, 0);
    sl_test_budget(t, "combined", all - less);
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(sl_test_used(t, "combined"), all);
    assert_int_equal(count_of(t), less ? 0 : all);
    sl_test_free(t);
  }
}

static void composites_of_composites_are_no_children(void **state) {
  static struct sample s;
  (void)state;
  random_start(9);
  make_sample(&s);
  s.index[FOURTH][3] = 5;
  struct sl_test *t = test_new(&s, open_limits, 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_true(sl_test_event_error(t, 0) >> 32 == 1);
  assert_true(sl_test_event_error(t, 4) == 0);
  sl_test_free(t);
}

static void exactly_one_container_of_children_is_needed(void **state) {
  static struct sample s;
  (void)state;
  random_start(10);
  make_sample(&s);
  struct sl_test *t = test_new(&s, open_limits, 0);
  sl_test_input(t, "composites", "offsets", event_children, EVENTS + 1);
  for (uint32_t f = 0; f < CHILD_FIELDS; f++) sl_test_input(t, "composites", child_names[f], s.child[f], CHILDREN);
  for (uint32_t f = 0; f < INDICES; f++) sl_test_input(t, "composites", index_names[f], s.index[f], CHILDREN);
  sl_test_input(t, "composites", "vertex", s.child_vertex, CHILDREN);
  sl_test_input(t, "composites", "charge", s.child_charge, CHILDREN);
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  assert_non_null(strstr(sl_test_messages(t), "both inputs `secondary_vertices` and `composites` are connected"));
  sl_test_free(t);
  t = without_children(&s);
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  assert_non_null(strstr(sl_test_messages(t), "neither of the inputs `secondary_vertices` and `composites`"));
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(composites_agree_with_plain_loops),
      cmocka_unit_test(events_that_are_not_listed_have_no_composites),
      cmocka_unit_test(each_requirement_has_the_stated_limit),
      cmocka_unit_test(charge_vertex_and_direction_are_required_if_set),
      cmocka_unit_test(a_particle_of_the_child_is_not_added),
      cmocka_unit_test(parallel_lines_make_no_composite),
      cmocka_unit_test(values_that_are_not_finite_make_no_composite),
      cmocka_unit_test(composites_that_exceed_the_memory_are_counted_and_not_written),
      cmocka_unit_test(composites_of_composites_are_no_children),
      cmocka_unit_test(exactly_one_container_of_children_is_needed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
