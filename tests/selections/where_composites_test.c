/* where_composites_test.c: lines without code over composites with three and four particles, and over pairs of
 * vertices: fields of all children, and masses against sums of four-momenta in double precision; inputs that do not
 * belong together, and names without their input. */
#include "odin/event_model.h"
#include "selections/event_model.h"
#include "selections/masses.h"
#include "selections_support.h"

#include <math.h>

enum { EVENTS = 3, PARTICLES = 60, VERTICES = 40, TREES = 50, ITEMS = 300, BYTES_MAX = 8 };
static const uint32_t event_particles[EVENTS + 1] = {0, 25, 35, PARTICLES};
static const uint32_t event_vertices[EVENTS + 1] = {0, 20, 24, VERTICES};
static const uint32_t event_trees[EVENTS + 1] = {0, 22, 27, TREES};
static const uint32_t event_items[EVENTS + 1] = {0, 120, 140, ITEMS};

struct momentum {
  double v[3];
};
static struct sample {
  struct momentum particle[PARTICLES], vertex[VERTICES], tree[TREES], item[ITEMS];
  float p[PARTICLES], pt[PARTICLES];
  float vertex_p[VERTICES], vertex_pt[VERTICES], vertex_opening[VERTICES];
  float tree_p[TREES], tree_pt[TREES], tree_opening[TREES], tree_child_p[TREES];
  float item_pt[ITEMS], item_opening[ITEMS], item_child_p[ITEMS];
  uint32_t vertex_first[VERTICES], vertex_second[VERTICES], tree_sv[TREES], tree_third[TREES];
  uint32_t sv[ITEMS], composite[ITEMS], track[ITEMS], first[ITEMS], second[ITEMS], third[ITEMS], fourth[ITEMS];
} s;

/* -------------------------------------------------------------------------------------------------- the sample */

static struct momentum sum(struct momentum a, struct momentum b) {
  for (uint32_t f = 0; f < 3; f++) a.v[f] += b.v[f];
  return a;
}
static double size(struct momentum a) { return sqrt(a.v[0] * a.v[0] + a.v[1] * a.v[1] + a.v[2] * a.v[2]); }
static double transverse(struct momentum a) { return hypot(a.v[0], a.v[1]); }
static float opening(struct momentum a, struct momentum b) {
  double apart = 0; /* 1 - cos is half of the squared distance of the unit vectors */
  for (uint32_t f = 0; f < 3; f++) apart += pow(a.v[f] / size(a) - b.v[f] / size(b), 2);
  return (float)(apart / 2);
}

static uint32_t event_of(const uint32_t *offsets, uint32_t item) {
  uint32_t e = 0;
  while (offsets[e + 1] <= item) e++;
  return e;
}
static uint32_t some(const uint32_t *offsets, uint32_t event) {
  return (uint32_t)random_between(0, (float)(offsets[event + 1] - offsets[event]));
}

static void make_item(uint32_t i, int is_tree) {
  const uint32_t e = event_of(event_items, i), tree = some(event_trees, e);
  const uint32_t sv = is_tree ? s.tree_sv[event_trees[e] + tree] : some(event_vertices, e);
  const uint32_t v = event_vertices[e] + sv, t = event_trees[e] + tree;
  s.sv[i] = sv;
  s.composite[i] = is_tree ? tree : COMPOSITE_NONE;
  s.track[i] = some(event_particles, e);
  s.first[i] = s.vertex_first[v];
  s.second[i] = s.vertex_second[v];
  s.third[i] = is_tree ? s.tree_third[t] : s.track[i];
  s.fourth[i] = is_tree ? s.track[i] : COMPOSITE_NONE;
  const struct momentum child = is_tree ? s.tree[t] : s.vertex[v], track = s.particle[event_particles[e] + s.track[i]];
  s.item[i] = sum(child, track);
  s.item_pt[i] = (float)transverse(s.item[i]);
  s.item_child_p[i] = (float)size(child);
  s.item_opening[i] = opening(child, track);
}

static void make_sample(int is_tree) {
  random_start(1);
  for (uint32_t i = 0; i < PARTICLES; i++) {
    for (uint32_t f = 0; f < 3; f++)
      s.particle[i].v[f] = (double)random_between(f < 2 ? -900 : 1000, f < 2 ? 900 : 9000);
    s.p[i] = (float)size(s.particle[i]);
    s.pt[i] = (float)transverse(s.particle[i]);
  }
  for (uint32_t i = 0; i < VERTICES; i++) {
    const uint32_t e = event_of(event_vertices, i);
    s.vertex_first[i] = some(event_particles, e);
    s.vertex_second[i] = some(event_particles, e);
    const struct momentum a = s.particle[event_particles[e] + s.vertex_first[i]],
                          b = s.particle[event_particles[e] + s.vertex_second[i]];
    s.vertex[i] = sum(a, b);
    s.vertex_p[i] = (float)size(s.vertex[i]);
    s.vertex_pt[i] = (float)transverse(s.vertex[i]);
    s.vertex_opening[i] = opening(a, b);
  }
  for (uint32_t i = 0; i < TREES; i++) {
    const uint32_t e = event_of(event_trees, i);
    s.tree_sv[i] = some(event_vertices, e);
    s.tree_third[i] = some(event_particles, e);
    const struct momentum child = s.vertex[event_vertices[e] + s.tree_sv[i]],
                          track = s.particle[event_particles[e] + s.tree_third[i]];
    s.tree[i] = sum(child, track);
    s.tree_p[i] = (float)size(s.tree[i]);
    s.tree_pt[i] = (float)transverse(s.tree[i]);
    s.tree_opening[i] = opening(child, track);
    s.tree_child_p[i] = (float)size(child);
  }
  for (uint32_t i = 0; i < ITEMS; i++) make_item(i, is_tree);
}

/* --------------------------------------------------------------------------------------------------- the inputs */

/* Zeros for all fields of a port. */
static void give(struct sl_test *t, const char *port, const struct sl_collection *collection, const uint32_t *offsets,
                 uint32_t count) {
  static const uint64_t zeros[ITEMS * 4];
  for (uint32_t f = 0; f < collection->field_count; f++) {
    const struct sl_field *field = &collection->fields[f];
    if (field->shape == SL_SHAPE_CODE_OFFSETS)
      sl_test_input(t, port, field->name, offsets, EVENTS + 1);
    else
      sl_test_input(t, port, field->name, zeros,
                    (field->shape == SL_SHAPE_CODE_PER_SLICE ? 1 : (uint64_t)count) * field->width);
  }
}

static void give_vertices(struct sl_test *t, const char *port) {
  give(t, port, &secondary_vertices_collection, event_vertices, VERTICES);
  sl_test_input(t, port, "first", s.vertex_first, VERTICES);
  sl_test_input(t, port, "second", s.vertex_second, VERTICES);
  sl_test_input(t, port, "p", s.vertex_p, VERTICES);
  sl_test_input(t, port, "pt", s.vertex_pt, VERTICES);
  sl_test_input(t, port, "opening", s.vertex_opening, VERTICES);
}

static struct sl_test *line_new(const char *line, const char *where) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, line);
  sl_test_events(t, EVENTS);
  give(t, "odin", &odin_events_collection, NULL, EVENTS);
  give(t, "header", &odin_events_collection, NULL, EVENTS);
  give(t, "particles", &particles_collection, event_particles, PARTICLES);
  sl_test_input(t, "particles", "p", s.p, PARTICLES);
  sl_test_input(t, "particles", "pt", s.pt, PARTICLES);
  sl_test_set_text(t, "where", where);
  return t;
}

static struct sl_test *composites_new(const char *where, int has_trees) {
  struct sl_test *t = line_new("where_composites", where);
  const struct {
    const char *name;
    const uint32_t *values;
  } indices[] = {{"sv", s.sv},         {"composite", s.composite}, {"track", s.track},  {"first", s.first},
                 {"second", s.second}, {"third", s.third},         {"fourth", s.fourth}};
  give(t, "candidates", &composites_collection, event_items, ITEMS);
  for (uint32_t k = 0; k < 7; k++) sl_test_input(t, "candidates", indices[k].name, indices[k].values, ITEMS);
  sl_test_input(t, "candidates", "pt", s.item_pt, ITEMS);
  sl_test_input(t, "candidates", "child_p", s.item_child_p, ITEMS);
  sl_test_input(t, "candidates", "opening", s.item_opening, ITEMS);
  give_vertices(t, "secondary_vertices");
  if (!has_trees) return t;
  give(t, "composites", &composites_collection, event_trees, TREES);
  sl_test_input(t, "composites", "p", s.tree_p, TREES);
  sl_test_input(t, "composites", "pt", s.tree_pt, TREES);
  sl_test_input(t, "composites", "child_p", s.tree_child_p, TREES);
  sl_test_input(t, "composites", "opening", s.tree_opening, TREES);
  return t;
}

/* -------------------------------------------------------------------------------------------------- the masses */

/* Mass of bodies with momenta and masses. */
static double mass_of(const struct momentum *bodies, const double *masses, uint32_t count) {
  struct momentum all = {{0, 0, 0}};
  double energy = 0;
  for (uint32_t k = 0; k < count; k++) {
    all = sum(all, bodies[k]);
    energy += hypot(size(bodies[k]), masses[k]);
  }
  return sqrt(energy * energy - size(all) * size(all));
}

/* The bodies of a candidate, by item in the slice. */
static struct momentum particle(uint32_t i, const uint32_t *index) {
  return s.particle[event_particles[event_of(event_items, i)] + index[i]];
}
static struct momentum sv(uint32_t i) { return s.vertex[event_vertices[event_of(event_items, i)] + s.sv[i]]; }
static struct momentum composite(uint32_t i) { return s.tree[event_trees[event_of(event_items, i)] + s.composite[i]]; }

static const double K = (double)KAON_MASS, pi = (double)PION_MASS, mu = (double)MUON_MASS, p = (double)PROTON_MASS;

static double sv_as_kpi(uint32_t i) {
  return mass_of((struct momentum[]){particle(i, s.first), particle(i, s.second)}, (double[]){K, pi}, 2);
}
static double sv_as_ppi(uint32_t i) {
  return mass_of((struct momentum[]){particle(i, s.first), particle(i, s.second)}, (double[]){p, pi}, 2);
}
static double lambda_pi(uint32_t i) {
  return mass_of((struct momentum[]){sv(i), particle(i, s.track)}, (double[]){(double)LAMBDA_MASS, pi}, 2);
}
static double three(uint32_t i) {
  return mass_of((struct momentum[]){particle(i, s.first), particle(i, s.second), particle(i, s.track)},
                 (double[]){K, pi, mu}, 3);
}
static double difference(uint32_t i) {
  return mass_of((struct momentum[]){particle(i, s.first), particle(i, s.second), particle(i, s.track)},
                 (double[]){K, pi, pi}, 3) -
         sv_as_kpi(i);
}
static double xi_mu(uint32_t i) {
  return mass_of((struct momentum[]){composite(i), particle(i, s.track)}, (double[]){(double)XI_MASS, mu}, 2);
}
static double lambda_two(uint32_t i) {
  return mass_of((struct momentum[]){sv(i), particle(i, s.third), particle(i, s.track)},
                 (double[]){(double)LAMBDA_MASS, pi, K}, 3);
}
static double four(uint32_t i) {
  return mass_of(
      (struct momentum[]){particle(i, s.first), particle(i, s.second), particle(i, s.third), particle(i, s.track)},
      (double[]){p, pi, K, mu}, 4);
}
static double child_as_two(uint32_t i) {
  return mass_of((struct momentum[]){sv(i), particle(i, s.third)}, (double[]){(double)LAMBDA_MASS, K}, 2);
}
static double child_as_three(uint32_t i) {
  return mass_of((struct momentum[]){particle(i, s.first), particle(i, s.second), particle(i, s.third)},
                 (double[]){p, pi, K}, 3);
}

struct quantity {
  const char *text;
  double (*of)(uint32_t i);
};

static int by_value(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) * 2 - 1; }

/* Cuts at several values of a quantity, which lie halfway between those of two candidates. */
static void check_quantity(const struct quantity *q, struct sl_test *(*make)(const char *, int), int variant) {
  double sorted[ITEMS];
  uint32_t accepted = 0;
  for (uint32_t i = 0; i < ITEMS; i++) sorted[i] = q->of(i);
  qsort(sorted, ITEMS, sizeof sorted[0], by_value);
  for (uint32_t k = 10; k < ITEMS; k += 40) {
    char where[200];
    const double limit = (sorted[k] + sorted[k + 1]) / 2;
    snprintf(where, sizeof where, "%s > %.9g", q->text, limit);
    struct sl_test *t = make(where, variant);
    if (sl_test_run(t) != SL_OK) fail_msg("%s: %s", where, sl_test_messages(t));
    for (uint32_t i = 0; i < ITEMS; i++) {
      const double value = q->of(i);
      const uint32_t is_one = OUTPUT(t, "decisions", "accepted", uint8_t)[i];
      accepted += is_one;
      if (fabs(value - limit) > 3e-6 * limit && is_one != (value > limit))
        fail_msg("%s: candidate %u has %.9g", where, i, value);
    }
    sl_test_free(t);
  }
  assert_true(accepted > ITEMS);
}

static void masses_of_composites_are_those_of_four_momenta(void **state) {
  static const struct quantity of_three[] = {{"sv.mass(K, pi)", sv_as_kpi},
                                             {"mass(Lambda, pi)", lambda_pi},
                                             {"mass(K, pi, mu)", three},
                                             {"mass_difference(K, pi, pi)", difference}};
  static const struct quantity of_four[] = {{"sv.mass(p, pi)", sv_as_ppi},
                                            {"mass(Xi, mu)", xi_mu},
                                            {"mass(Lambda, pi, K)", lambda_two},
                                            {"mass(p, pi, K, mu)", four},
                                            {"composite.mass(Lambda, K)", child_as_two},
                                            {"composite.mass(p, pi, K)", child_as_three}};
  (void)state;
  make_sample(0);
  for (uint32_t k = 0; k < sizeof of_three / sizeof of_three[0]; k++) check_quantity(&of_three[k], composites_new, 0);
  make_sample(1);
  for (uint32_t k = 0; k < sizeof of_four / sizeof of_four[0]; k++) check_quantity(&of_four[k], composites_new, 1);
}

/* A D* at rest in its difference of masses: the pion has almost no energy in the frame of the D0. */
static void a_difference_of_masses_has_no_cancellation(void **state) {
  (void)state;
  for (uint32_t k = 0; k < 1000; k++) {
    const float p1 = 50000.0f * (1.0f + 1e-3f * (float)k), p2 = 3800.0f + 5.0f * (float)k, apart = 1e-7f * (float)k;
    const double m1 = (double)D0_MASS, e1 = hypot((double)p1, m1), e2 = hypot((double)p2, pi);
    const double products = e1 * e2 - (double)p1 * (double)p2 * (1 - (double)apart), more = pi * pi + 2 * products;
    const double expected = more / (sqrt(m1 * m1 + more) + m1);
    const float found = selections_mass_difference(p1, D0_MASS, p2, PION_MASS, apart);
    assert_near("difference", k, (double)found, expected, 5e-7 * expected);
  }
}

/* --------------------------------------------------------------------------------------------------- the fields */

static double pt_of_all(uint32_t i) {
  return transverse(sv(i)) + transverse(particle(i, s.first)) + 2 * transverse(particle(i, s.second)) +
         3 * transverse(particle(i, s.third)) + 4 * transverse(particle(i, s.track)) + 5 * transverse(s.item[i]);
}
static double pt_with_composite(uint32_t i) { return pt_of_all(i) + 6 * transverse(composite(i)); }

static void fields_of_all_children_are_read(void **state) {
  static const struct quantity of_three = {"sv.pt + first.pt + 2 * second.pt + 3 * third.pt + 4 * track.pt + 5 * pt",
                                           pt_of_all};
  static const struct quantity of_four = {
      "sv.pt + first.pt + 2 * second.pt + 3 * third.pt + 4 * track.pt + 5 * pt + 6 * composite.pt", pt_with_composite};
  (void)state;
  make_sample(0);
  check_quantity(&of_three, composites_new, 0);
  make_sample(1);
  check_quantity(&of_four, composites_new, 1);
}

/* ------------------------------------------------------------------------------------------- pairs of vertices */

/* `sv` is the first vertex, `track` the index of the second vertex. */
static struct sl_test *vertex_pairs_new(const char *where, int variant) {
  struct sl_test *t = line_new("where_vertex_pairs", where);
  static float apart[ITEMS];
  (void)variant;
  give(t, "candidates", &vertex_pairs_collection, event_items, ITEMS);
  for (uint32_t i = 0; i < ITEMS; i++)
    apart[i] = opening(sv(i), s.vertex[event_vertices[event_of(event_items, i)] + s.track[i]]);
  sl_test_input(t, "candidates", "first", s.sv, ITEMS);
  sl_test_input(t, "candidates", "second", s.track, ITEMS);
  sl_test_input(t, "candidates", "opening", apart, ITEMS);
  give_vertices(t, "first");
  give_vertices(t, "second");
  return t;
}

static uint32_t second_of(uint32_t i) { return event_vertices[event_of(event_items, i)] + s.track[i]; }
static struct momentum particle_of_second(uint32_t i, const uint32_t *index) {
  return s.particle[event_particles[event_of(event_items, i)] + index[second_of(i)]];
}
static double both(uint32_t i) {
  return mass_of((struct momentum[]){sv(i), s.vertex[second_of(i)]}, (double[]){(double)K0_MASS, (double)PHI_MASS}, 2);
}
static double all_four(uint32_t i) {
  return mass_of((struct momentum[]){particle(i, s.first), particle(i, s.second), particle_of_second(i, s.vertex_first),
                                     particle_of_second(i, s.vertex_second)},
                 (double[]){pi, pi, K, mu}, 4);
}
static double second_as_kpi(uint32_t i) {
  return mass_of((struct momentum[]){particle_of_second(i, s.vertex_first), particle_of_second(i, s.vertex_second)},
                 (double[]){K, pi}, 2);
}
static double pt_of_four(uint32_t i) {
  return transverse(sv(i)) + 2 * transverse(s.vertex[second_of(i)]) + 3 * transverse(particle(i, s.first)) +
         4 * transverse(particle(i, s.second)) + 5 * transverse(particle_of_second(i, s.vertex_first)) +
         6 * transverse(particle_of_second(i, s.vertex_second));
}

static void pairs_of_vertices_have_masses_and_fields_of_both(void **state) {
  static const struct quantity quantities[] = {
      {"mass(K0, phi)", both},
      {"mass(pi, pi, K, mu)", all_four},
      {"first.mass(K, pi)", sv_as_kpi},
      {"second.mass(K, pi)", second_as_kpi},
      {"first.pt + 2 * second.pt + 3 * first.first.pt + 4 * first.second.pt + 5 * second.first.pt + 6 * "
       "second.second.pt",
       pt_of_four}};
  (void)state;
  make_sample(0);
  for (uint32_t i = 0; i < ITEMS; i++) s.track[i] = some(event_vertices, event_of(event_items, i));
  for (uint32_t k = 0; k < sizeof quantities / sizeof quantities[0]; k++)
    check_quantity(&quantities[k], vertex_pairs_new, 0);
}

/* ------------------------------------------------------------------------------------------------------- errors */

static void candidates_of_other_containers_are_refused(void **state) {
  (void)state;
  /* Items of the first event have a wrong index, or a wrong kind; also candidates that the first comparison rejects. */
  for (uint32_t k = 0; k < 8; k++) {
    const int is_tree = k % 2 != 0;
    make_sample(is_tree);
    if (k % 4 == 0) s.sv[3] = event_vertices[1];
    if (k % 4 == 1) s.composite[3] = event_trees[1];
    if (k % 4 == 2) s.composite[3] = 0;
    if (k % 4 == 3) s.composite[3] = COMPOSITE_NONE;
    struct sl_test *t = composites_new(k < 4 ? "sv.pt > 1" : "pt > 1e9 and sv.pt > 1", is_tree);
    assert_int_equal(sl_test_run(t), SL_OK);
    assert_int_equal(sl_test_event_error(t, 0) >> 32, 1);
    assert_int_equal(sl_test_event_error(t, 2), 0);
    sl_test_free(t);
  }
  make_sample(0);
  for (uint32_t i = 0; i < ITEMS; i++) s.track[i] = some(event_vertices, event_of(event_items, i));
  s.track[130] = 4;
  struct sl_test *t = vertex_pairs_new("pt > 1e9 and second.pt > 1", 0);
  assert_int_equal(sl_test_run(t), SL_OK);
  assert_int_equal(sl_test_event_error(t, 1) >> 32, 1);
  sl_test_free(t);
}

static void names_and_masses_that_are_not_available_are_errors(void **state) {
  static const struct {
    const char *where, *message;
  } cases[] = {{"composite.pt > 1",
                "where+0: `composite.pt` needs an input that is not connected; add in: { composites: NODE }"},
               {"pt > 1 and mass(p, pi, K, mu) > 2", "where+11: `mass` needs an input that is not connected"},
               {"composite.mass(Lambda, pi) > 2", "where+0: `composite.mass` needs an input that is not connected"},
               {"mass(pi, pi, pi, pi, pi) > 2", "`mass` takes 2 arguments, but there are more"},
               {"mass(pi) > 2", "where+0: `mass` takes 2 arguments, not 1"},
               {"mass_difference(pi, pi) > 2", "where+0: `mass_difference` takes 3 arguments, not 2"},
               {"sv.mas(pi, pi) > 2", "where+0: there is no function `sv.mas`; did you mean sv.mass?"},
               {"fourth.pt > 2", "there is no `fourth.pt`"},
               {"mass(Sigma, pi) > 2",
                "`mass` needs particles (e, mu, pi, K, p, K0, D0, Lambda, phi, Xi, Omega) or masses in MeV"}};
  (void)state;
  make_sample(0);
  for (uint32_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    struct sl_test *t = composites_new(cases[k].where, 0);
    assert_int_equal(sl_test_run(t), SL_EINVAL);
    if (!strstr(sl_test_messages(t), cases[k].message)) fail_msg("%s", sl_test_messages(t));
    sl_test_free(t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(masses_of_composites_are_those_of_four_momenta),
      cmocka_unit_test(a_difference_of_masses_has_no_cancellation),
      cmocka_unit_test(fields_of_all_children_are_read),
      cmocka_unit_test(pairs_of_vertices_have_masses_and_fields_of_both),
      cmocka_unit_test(candidates_of_other_containers_are_refused),
      cmocka_unit_test(names_and_masses_that_are_not_available_are_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
