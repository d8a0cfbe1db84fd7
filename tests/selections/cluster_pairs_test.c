/* cluster_pairs_test.c: selections.cluster_pairs against plain loops in double precision, with clusters at the limits,
 * events with no cluster or one, event lists, and more pairs than fit into the memory. */
#include "calo/event_model.h"
#include "selections/event_model.h"
#include "selections_support.h"

#include <math.h>

enum { EVENTS = 5, CLUSTERS = 150 };
static const uint32_t event_clusters[EVENTS + 1] = {0, 60, 60, 61, 63, CLUSTERS};
static const char *const names[] = {"energy", "et", "x", "y", "highest_share"};
enum { ENERGY, ET, X, Y, SHARE, FIELDS };

struct sample {
  float value[FIELDS][CLUSTERS];
  uint8_t area[CLUSTERS], on_velo_line[CLUSTERS];
};

static void make_sample(struct sample *s) {
  const float low[] = {2000, 200, -3500, -3000, 0.4f}, high[] = {90000, 1500, 3500, 3000, 1};
  for (uint32_t i = 0; i < CLUSTERS; i++) {
    for (uint32_t f = 0; f < FIELDS; f++) s->value[f][i] = random_between(low[f], high[f]);
    if (i % 7 == 0) s->value[ET][i] = 400;
    if (i % 11 == 0) s->value[SHARE][i] = 0.6f;
    if (i % 13 == 0) s->value[i % 2 ? ET : SHARE][i] = NAN;
    if (i % 5 == 0 && i > 0) { /* a nearly parallel photon */
      s->value[X][i] = s->value[X][i - 1] + 40.63f;
      s->value[Y][i] = s->value[Y][i - 1];
    }
    s->area[i] = (uint8_t)random_between(0, 3);
    s->on_velo_line[i] = random_between(0, 1) < 0.3f;
  }
}

static struct sl_test *cluster_pairs_new(const struct sample *s) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "cluster_pairs");
  sl_test_events(t, EVENTS);
  sl_test_input(t, "clusters", "offsets", event_clusters, EVENTS + 1);
  for (uint32_t f = 0; f < FIELDS; f++) sl_test_input(t, "clusters", names[f], s->value[f], CLUSTERS);
  sl_test_input(t, "clusters", "area", s->area, CLUSTERS);
  sl_test_input(t, "clusters", "on_velo_line", s->on_velo_line, CLUSTERS);
  return t;
}

static int is_selected(const struct sample *s, uint32_t i) {
  return s->value[ET][i] > 400 && s->value[SHARE][i] > 0.6f;
}

/* Momenta of massless particles from the origin to (x, y, 12650 mm). */
static void momentum_of(const struct sample *s, uint32_t i, double p[4]) {
  const double x = (double)s->value[X][i], y = (double)s->value[Y][i], z = 12650, e = (double)s->value[ENERGY][i];
  const double r = sqrt(x * x + y * y + z * z);
  p[0] = e * x / r;
  p[1] = e * y / r;
  p[2] = e * z / r;
  p[3] = e;
}

static void check_pair(const struct sl_test *t, const struct sample *s, uint32_t i, uint32_t j, uint32_t k) {
  double a[4], b[4], sum[4];
  momentum_of(s, i, a);
  momentum_of(s, j, b);
  for (int c = 0; c < 4; c++) sum[c] = a[c] + b[c];
  const double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2], pt = hypot(sum[0], sum[1]);
  const double pt_scale = hypot(a[0], a[1]) + hypot(b[0], b[1]);
  const double mass = sqrt(2 * fmax(a[3] * b[3] - dot, 0));
  /* The difference in double precision has an error of some 1e-15 E1 E2. */
  assert_near("mass", k, (double)OUTPUT(t, "pairs", "mass", float)[k], mass, 2e-6 * mass + 1e-14 * a[3] * b[3] / mass);
  assert_near("energy", k, (double)OUTPUT(t, "pairs", "energy", float)[k], sum[3], 1e-6 * sum[3]);
  assert_near("pt", k, (double)OUTPUT(t, "pairs", "pt", float)[k], pt, 1e-6 * pt_scale);
  assert_near("eta", k, (double)OUTPUT(t, "pairs", "eta", float)[k], asinh(sum[2] / pt), 2e-6 * pt_scale / pt + 1e-6);
  const float et1 = s->value[ET][i], et2 = s->value[ET][j], share1 = s->value[SHARE][i], share2 = s->value[SHARE][j];
  assert_true(OUTPUT(t, "pairs", "min_et", float)[k] == fminf(et1, et2));
  assert_true(OUTPUT(t, "pairs", "sum_et", float)[k] == et1 + et2);
  assert_true(OUTPUT(t, "pairs", "min_highest_share", float)[k] == fminf(share1, share2));
  assert_int_equal(OUTPUT(t, "pairs", "areas", uint8_t)[k], (1 << s->area[i]) | (1 << s->area[j]));
  assert_int_equal(OUTPUT(t, "pairs", "on_velo_line", uint8_t)[k], s->on_velo_line[i] + s->on_velo_line[j]);
}

static uint32_t check_event(const struct sl_test *t, const struct sample *s, uint32_t event) {
  const uint32_t begin = event_clusters[event], end = event_clusters[event + 1];
  const uint32_t *offsets = OUTPUT(t, "pairs", "offsets", uint32_t);
  uint32_t k = offsets[event];
  for (uint32_t i = begin; i < end; i++)
    for (uint32_t j = i + 1; j < end; j++) {
      if (!is_selected(s, i) || !is_selected(s, j)) continue;
      assert_true(k < offsets[event + 1]);
      assert_int_equal(OUTPUT(t, "pairs", "first", uint32_t)[k], i - begin);
      assert_int_equal(OUTPUT(t, "pairs", "second", uint32_t)[k], j - begin);
      check_pair(t, s, i, j, k++);
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
    make_sample(&s);
    struct sl_test *t = cluster_pairs_new(&s);
    sl_test_budget(t, "pairs", CLUSTERS * CLUSTERS);
    sl_test_block(t, 32u << pass % 3);
    assert_int_equal(sl_test_run(t), 0);
    for (uint32_t event = 0; event < EVENTS; event++) found += check_event(t, &s, event);
    sl_test_free(t);
  }
  assert_true(found > 1000);
}

/* Two equal clusters have no opening angle: the mass is 0. Opposite momenta have no pt: eta is infinite. */
static void parallel_and_opposite_photons_have_defined_values(void **state) {
  static struct sample s;
  (void)state;
  random_start(2);
  make_sample(&s);
  for (uint32_t i = 0; i < CLUSTERS; i++) {
    s.value[ENERGY][i] = 5000;
    s.value[ET][i] = 500;
    s.value[SHARE][i] = 0.8f;
    s.value[X][i] = s.value[Y][i] = 700;
  }
  s.value[X][62] = s.value[Y][62] = -700;
  struct sl_test *t = cluster_pairs_new(&s);
  sl_test_budget(t, "pairs", CLUSTERS * CLUSTERS);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *offsets = OUTPUT(t, "pairs", "offsets", uint32_t);
  assert_true(OUTPUT(t, "pairs", "mass", float)[0] == 0);
  assert_int_equal(offsets[3], 60 * 59 / 2);
  assert_int_equal(offsets[4] - offsets[3], 1);
  assert_true(OUTPUT(t, "pairs", "pt", float)[offsets[3]] == 0);
  assert_true(isinf(OUTPUT(t, "pairs", "eta", float)[offsets[3]]));
  sl_test_free(t);
}

static void events_that_are_not_listed_have_no_pairs(void **state) {
  static struct sample s;
  static const uint32_t list[] = {2, 3, 4};
  (void)state;
  random_start(3);
  make_sample(&s);
  struct sl_test *t = cluster_pairs_new(&s);
  sl_test_list(t, list, 3);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(OUTPUT(t, "pairs", "offsets", uint32_t)[2], 0);
  assert_true(check_event(t, &s, 2) + check_event(t, &s, 3) + check_event(t, &s, 4) > 20);
  sl_test_free(t);
}

static void pairs_that_exceed_the_memory_are_counted_and_not_written(void **state) {
  static struct sample s;
  (void)state;
  random_start(4);
  make_sample(&s);
  struct sl_test *t = cluster_pairs_new(&s);
  sl_test_budget(t, "pairs", 20);
  assert_int_equal(sl_test_run(t), 0);
  assert_true(sl_test_used(t, "pairs") > 20);
  assert_int_equal(OUTPUT(t, "pairs", "offsets", uint32_t)[EVENTS], 0);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_agree_with_plain_loops),
      cmocka_unit_test(parallel_and_opposite_photons_have_defined_values),
      cmocka_unit_test(events_that_are_not_listed_have_no_pairs),
      cmocka_unit_test(pairs_that_exceed_the_memory_are_counted_and_not_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
