/* vertex_pairs_test.c: selections.vertex_pairs against plain loops, within a container and of two containers, with
 * vertices at the limits of the expressions; the quantities of pairs in double precision; parallel lines, event lists,
 * events with no vertex or one, more pairs than fit into the memory, and wrong expressions. */
#include "selections/event_model.h"
#include "selections_support.h"

#include <math.h>

enum { EVENTS = 5, VERTICES = 150, OTHERS = 80, PARTICLES = 200 };
static const uint32_t event_vertices[EVENTS + 1] = {0, 60, 60, 61, 63, VERTICES};
static const uint32_t event_others[EVENTS + 1] = {0, 30, 35, 36, 36, OTHERS};
static const uint32_t event_particles[EVENTS + 1] = {0, 130, 140, 150, 160, PARTICLES};
static const char *const names[] = {"chi2", "pt", "eta", "dira", "min_p", "min_pt", "min_ip", "min_ip_chi2"};
enum { CHI2, PT, ETA, DIRA, MIN_P, MIN_PT, MIN_IP, MIN_IP_CHI2, FIELDS };
static const char where[] =
    "chi2 > 0 and chi2 < 30 and min_p > 1 GeV and eta > 2 and eta < 5 and dira > 0 and (min_pt > 200 and pt > 500 and "
    "min_ip_chi2 > 4 or min_pt > 500 and pt > 500 and min_ip > 0.06 or min_pt > 200 and pt > 200 and min_ip > 0.2)";
static const char where_others[] = "pt > 400 and first.p > second.p";

struct sample {
  float value[FIELDS][VERTICES], place[3][VERTICES], other_pt[OTHERS], state[5][PARTICLES], p[PARTICLES];
  uint32_t first[VERTICES], second[VERTICES], other_first[OTHERS], other_second[OTHERS];
};

static const float limits[FIELDS][3] = {{0, 30, 30},        {500, 200, 500}, {2, 5, 5},           {0, 0, 0},
                                        {1000, 1000, 1000}, {200, 500, 200}, {0.06f, 0.2f, 0.2f}, {4, 4, 4}};

static void make_sample(struct sample *s) {
  const float low[] = {-1, 150, 1.8f, -0.1f, 900, 150, 0.03f, 1}, high[] = {33, 900, 5.2f, 1, 9000, 900, 0.4f, 9};
  for (uint32_t i = 0; i < VERTICES; i++) {
    for (uint32_t f = 0; f < FIELDS; f++) {
      s->value[f][i] = random_between(low[f], high[f]);
      if (random_between(0, 1) < 0.02f) s->value[f][i] = limits[f][i % 3];
    }
    for (uint32_t f = 0; f < 3; f++) s->place[f][i] = random_between(-1, f == 2 ? 300 : 1);
    s->first[i] = (uint32_t)random_between(0, 4);
    s->second[i] = s->first[i] + 1 + (uint32_t)random_between(0, 4);
  }
  for (uint32_t i = 0; i < OTHERS; i++) {
    s->other_pt[i] = random_between(150, 900);
    s->other_first[i] = (uint32_t)random_between(0, 5);
    s->other_second[i] = s->other_first[i] + 1;
  }
  for (uint32_t i = 0; i < PARTICLES; i++) {
    for (uint32_t f = 0; f < 5; f++) s->state[f][i] = random_between(-0.2f, 0.2f);
    s->p[i] = random_between(1000, 20000);
  }
}

/* A container of vertices; the columns that expressions do not read are zeros. */
static void give_vertices(struct sl_test *t, const char *port, const uint32_t *offsets, uint32_t count) {
  static const uint64_t zeros[VERTICES];
  for (uint32_t f = 0; f < secondary_vertices_collection.field_count; f++) {
    const struct sl_field *field = &secondary_vertices_collection.fields[f];
    if (field->shape == SL_SHAPE_CODE_OFFSETS)
      sl_test_input(t, port, field->name, offsets, EVENTS + 1);
    else
      sl_test_input(t, port, field->name, zeros, field->shape == SL_SHAPE_CODE_PER_SLICE ? 1 : count);
  }
}

static struct sl_test *vertex_pairs_new(const struct sample *s, int has_others) {
  static const char *const state_names[] = {"x", "y", "z", "tx", "ty"};
  static const uint64_t zeros[PARTICLES];
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "vertex_pairs");
  sl_test_events(t, EVENTS);
  give_vertices(t, "vertices", event_vertices, VERTICES);
  sl_test_input(t, "vertices", "first", s->first, VERTICES);
  sl_test_input(t, "vertices", "second", s->second, VERTICES);
  for (uint32_t f = 0; f < 3; f++) sl_test_input(t, "vertices", state_names[f], s->place[f], VERTICES);
  for (uint32_t f = 0; f < FIELDS; f++) sl_test_input(t, "vertices", names[f], s->value[f], VERTICES);
  for (uint32_t f = 0; f < particles_collection.field_count; f++) {
    const struct sl_field *field = &particles_collection.fields[f];
    if (field->shape == SL_SHAPE_CODE_OFFSETS)
      sl_test_input(t, "particles", field->name, event_particles, EVENTS + 1);
    else
      sl_test_input(t, "particles", field->name, zeros, field->shape == SL_SHAPE_CODE_PER_SLICE ? 1 : PARTICLES);
  }
  sl_test_input(t, "particles", "p", s->p, PARTICLES);
  for (uint32_t f = 0; f < 5; f++) sl_test_input(t, "states", state_names[f], s->state[f], PARTICLES);
  sl_test_set_text(t, "where", where);
  if (!has_others) return t;
  give_vertices(t, "others", event_others, OTHERS);
  sl_test_input(t, "others", "first", s->other_first, OTHERS);
  sl_test_input(t, "others", "second", s->other_second, OTHERS);
  for (uint32_t f = 0; f < 3; f++) sl_test_input(t, "others", state_names[f], s->place[f], OTHERS);
  sl_test_input(t, "others", "pt", s->other_pt, OTHERS);
  sl_test_set_text(t, "where_others", where_others);
  return t;
}

static uint32_t is_selected(const struct sample *s, uint32_t i) {
  float of[FIELDS];
  for (uint32_t f = 0; f < FIELDS; f++) of[f] = s->value[f][i];
  if (of[CHI2] <= 0 || of[CHI2] >= 30 || of[MIN_P] <= 1000 || of[ETA] <= 2 || of[ETA] >= 5 || of[DIRA] <= 0) return 0;
  return (of[MIN_PT] > 200 && of[PT] > 500 && of[MIN_IP_CHI2] > 4) ||
         (of[MIN_PT] > 500 && of[PT] > 500 && of[MIN_IP] > 0.06f) ||
         (of[MIN_PT] > 200 && of[PT] > 200 && of[MIN_IP] > 0.2f);
}

static int is_selected_other(const struct sample *s, uint32_t event, uint32_t j) {
  const float *p = s->p + event_particles[event];
  return s->other_pt[j] > 400 && p[s->other_first[j]] > p[s->other_second[j]];
}

/* Adds the momentum of a particle of an event, in double precision. */
static void add_momentum(const struct sample *s, uint32_t event, uint32_t particle, double sum[3]) {
  const uint32_t i = event_particles[event] + particle;
  const double tx = (double)s->state[3][i], ty = (double)s->state[4][i],
               z = (double)s->p[i] / sqrt(1 + tx * tx + ty * ty);
  sum[0] += tx * z, sum[1] += ty * z, sum[2] += z;
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* The quantities of a pair of a vertex and another one, `w` (first, second particle; place at index `at`). */
static void check_pair(const struct sl_test *t, const struct sample *s, uint32_t event, uint32_t k, uint32_t i,
                       const uint32_t w[2], uint32_t at) {
  double a[3] = {0, 0, 0}, b[3] = {0, 0, 0}, sum[3], d[3], cross[3];
  add_momentum(s, event, s->first[i], a);
  add_momentum(s, event, s->second[i], a);
  add_momentum(s, event, w[0], b);
  add_momentum(s, event, w[1], b);
  for (uint32_t f = 0; f < 3; f++) {
    sum[f] = a[f] + b[f];
    d[f] = (double)s->place[f][i] - (double)s->place[f][at];
    cross[f] = a[(f + 1) % 3] * b[(f + 2) % 3] - a[(f + 2) % 3] * b[(f + 1) % 3];
  }
  const double p = sqrt(dot(sum, sum)), sine = sqrt(dot(cross, cross) / (dot(a, a) * dot(b, b)));
  const double opening = 1 - dot(a, b) / sqrt(dot(a, a) * dot(b, b));
  const double doca = fabs(dot(d, cross)) / sqrt(dot(cross, cross));
  assert_near("doca", k, (double)OUTPUT(t, "pairs", "doca", float)[k], doca, 1e-5 + 1e-5 / sine);
  assert_near("opening", k, (double)OUTPUT(t, "pairs", "opening", float)[k], opening, 3e-7 * sine + 1e-9);
  assert_near("p", k, (double)OUTPUT(t, "pairs", "p", float)[k], p, 4e-7 * p);
  assert_near("pt", k, (double)OUTPUT(t, "pairs", "pt", float)[k], hypot(sum[0], sum[1]), 4e-7 * p);
}

/* Compares the pairs of an event with plain loops; returns their number. */
static uint32_t check_event(const struct sl_test *t, const struct sample *s, uint32_t event, int has_others) {
  const uint32_t *offsets = OUTPUT(t, "pairs", "offsets", uint32_t);
  const uint32_t *other_offsets = has_others ? event_others : event_vertices;
  uint32_t k = offsets[event];
  for (uint32_t i = event_vertices[event]; i < event_vertices[event + 1]; i++)
    for (uint32_t j = has_others ? event_others[event] : i + 1; j < other_offsets[event + 1]; j++) {
      const uint32_t w[] = {has_others ? s->other_first[j] : s->first[j],
                            has_others ? s->other_second[j] : s->second[j]};
      if (!is_selected(s, i) || !(has_others ? is_selected_other(s, event, j) : (int)is_selected(s, j))) continue;
      if (s->first[i] == w[0] || s->first[i] == w[1] || s->second[i] == w[0] || s->second[i] == w[1]) continue;
      assert_true(k < offsets[event + 1]);
      assert_int_equal(OUTPUT(t, "pairs", "first", uint32_t)[k], i - event_vertices[event]);
      assert_int_equal(OUTPUT(t, "pairs", "second", uint32_t)[k], j - other_offsets[event]);
      check_pair(t, s, event, k++, i, w, j);
    }
  assert_int_equal(k, offsets[event + 1]);
  return k - offsets[event];
}

static void pairs_agree_with_plain_loops(void **state) {
  static struct sample s;
  uint32_t found = 0;
  (void)state;
  random_start(1);
  for (uint32_t pass = 0; pass < 6; pass++) {
    const int has_others = pass % 2 != 0;
    make_sample(&s);
    struct sl_test *t = vertex_pairs_new(&s, has_others);
    sl_test_budget(t, "pairs", VERTICES * VERTICES);
    sl_test_block(t, 32u << pass % 3);
    assert_int_equal(sl_test_run(t), 0);
    for (uint32_t event = 0; event < EVENTS; event++) found += check_event(t, &s, event, has_others);
    sl_test_free(t);
  }
  assert_true(found > 1000);
}

static void vertices_at_a_limit_or_with_nan_make_no_pair(void **state) {
  static struct sample s;
  (void)state;
  random_start(2);
  for (uint32_t f = 0; f < FIELDS; f++)
    for (uint32_t pass = 0; pass < 2; pass++) {
      static const float good[] = {1, 600, 3, 0.99f, 2000, 600, 0.1f, 10}, ends[] = {0, 500, 2, 0, 1000, 200, 0, 4};
      static const float other_ends[] = {30, 500, 5, 0, 1000, 200, 0, 4};
      for (uint32_t i = 0; i < VERTICES; i++) {
        for (uint32_t g = 0; g < FIELDS; g++) s.value[g][i] = good[g];
        s.first[i] = i < 63 ? 2 * (i - event_vertices[i < 60 ? 0 : i < 61 ? 2 : 3]) : i % 20;
        s.second[i] = s.first[i] + 1;
        s.value[MIN_IP][i] = 0; /* only the first alternative can accept */
        if (i == 61) s.value[f][i] = pass ? NAN : ends[f];
        if (i == 62 && f != MIN_IP) s.value[f][i] = other_ends[f];
      }
      struct sl_test *t = vertex_pairs_new(&s, 0);
      assert_int_equal(sl_test_run(t), 0);
      const uint32_t *offsets = OUTPUT(t, "pairs", "offsets", uint32_t);
      assert_int_equal(offsets[4] - offsets[3], f == MIN_IP); /* the only possible pair of the event */
      assert_int_equal(offsets[1], 60 * 59 / 2);
      sl_test_free(t);
    }
}

static void events_that_are_not_listed_have_no_pairs(void **state) {
  static struct sample s;
  static const uint32_t list[] = {2, 3, 4};
  (void)state;
  random_start(3);
  make_sample(&s);
  struct sl_test *t = vertex_pairs_new(&s, 0);
  sl_test_list(t, list, 3);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(OUTPUT(t, "pairs", "offsets", uint32_t)[2], 0);
  assert_true(check_event(t, &s, 2, 0) + check_event(t, &s, 3, 0) + check_event(t, &s, 4, 0) > 20);
  sl_test_free(t);
}

static void pairs_that_exceed_the_memory_are_counted_and_not_written(void **state) {
  static struct sample s;
  (void)state;
  random_start(4);
  make_sample(&s);
  struct sl_test *t = vertex_pairs_new(&s, 0);
  sl_test_budget(t, "pairs", 20);
  assert_int_equal(sl_test_run(t), 0);
  assert_true(sl_test_used(t, "pairs") > 20);
  assert_int_equal(OUTPUT(t, "pairs", "offsets", uint32_t)[EVENTS], 0);
  sl_test_free(t);
}

static void vertices_with_parallel_momenta_are_a_pair(void **state) {
  static struct sample s;
  (void)state;
  random_start(5);
  make_sample(&s);
  for (uint32_t i = event_particles[3]; i < event_particles[4]; i++)
    for (uint32_t f = 3; f < 5; f++) s.state[f][i] = 0.125f;
  s.first[61] = 0, s.second[61] = 1, s.first[62] = 2, s.second[62] = 3;
  struct sl_test *t = vertex_pairs_new(&s, 0);
  sl_test_set_text(t, "where", "");
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t k = OUTPUT(t, "pairs", "offsets", uint32_t)[3];
  assert_int_equal(OUTPUT(t, "pairs", "offsets", uint32_t)[4], k + 1);
  assert_true(OUTPUT(t, "pairs", "doca", float)[k] == 1e6f || OUTPUT(t, "pairs", "opening", float)[k] > 0);
  assert_true(isfinite(OUTPUT(t, "pairs", "doca", float)[k]) && OUTPUT(t, "pairs", "opening", float)[k] < 1e-12f);
  sl_test_free(t);
}

static void wrong_expressions_are_errors(void **state) {
  static struct sample s;
  static const struct {
    const char *property, *text, *message;
    int has_others;
  } cases[] = {{"where", "pt > 1 and chi3 < 2", "error: where+11: there is no `chi3`; did you mean chi2?", 0},
               {"where_others", "mass(pi) > 2", "error: where_others+0: `mass` takes 2 arguments, not 1", 1},
               {"where_others", "pt > 2", "where_others: no effect, because the input `others` is not connected", 0}};
  (void)state;
  random_start(6);
  make_sample(&s);
  for (uint32_t k = 0; k < 3; k++) {
    struct sl_test *t = vertex_pairs_new(&s, cases[k].has_others);
    sl_test_set_text(t, cases[k].property, cases[k].text);
    assert_int_equal(sl_test_run(t), SL_EINVAL);
    if (!strstr(sl_test_messages(t), cases[k].message)) fail_msg("%s", sl_test_messages(t));
    sl_test_free(t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_agree_with_plain_loops),
      cmocka_unit_test(vertices_at_a_limit_or_with_nan_make_no_pair),
      cmocka_unit_test(events_that_are_not_listed_have_no_pairs),
      cmocka_unit_test(pairs_that_exceed_the_memory_are_counted_and_not_written),
      cmocka_unit_test(vertices_with_parallel_momenta_are_a_pair),
      cmocka_unit_test(wrong_expressions_are_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
