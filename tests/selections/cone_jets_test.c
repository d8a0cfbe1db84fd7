/* cone_jets_test.c: selections.cone_jets against plain loops in double precision. The steps of the sums are larger than
 * the rounding, so that pt agrees to a step for each track and cluster. */
#include "calo/event_model.h"
#include "selections/event_model.h"
#include "selections_support.h"

#include <math.h>

enum { EVENTS = 6, PARTICLES = 150, CLUSTERS = 120, JETS_MAX = 4 };
static const uint32_t event_particles[EVENTS + 1] = {0, 60, 61, 61, 63, 113, PARTICLES};
static const uint32_t event_clusters[EVENTS + 1] = {0, 40, 40, 50, 52, 52, CLUSTERS};
static const double z = 12650;

static struct sample {
  uint32_t vertex[PARTICLES];
  float tx[PARTICLES], ty[PARTICLES], pt[PARTICLES], eta[PARTICLES];
  float et[CLUSTERS], x[CLUSTERS], y[CLUSTERS];
} s;

static void make_sample(void) {
  random_start(21);
  for (uint32_t i = 0; i < PARTICLES; i++) {
    s.tx[i] = random_between(-0.2f, 0.2f);
    s.ty[i] = random_between(-0.2f, 0.2f);
    s.pt[i] = i % 10 == 3 ? 5000 : random_between(100, 9000); /* some are equal */
    s.eta[i] = (float)asinh(1 / hypot((double)s.tx[i], (double)s.ty[i]));
    s.vertex[i] = i % 7 == 0 ? PARTICLE_NO_VERTEX : i % 3;
  }
  for (uint32_t i = 0; i < CLUSTERS; i++) {
    s.et[i] = random_between(50, 5000);
    s.x[i] = i == 5 ? 0 : random_between(-3000, 3000);
    s.y[i] = i == 5 ? 0 : random_between(-3000, 3000);
  }
}

/* ------------------------------------------------------------------------------------------------- plain loops */

struct plain_jet {
  double pt, eta, phi;
  uint32_t first, particles, clusters;
};

static double angle(double difference) { return remainder(difference, 2 * acos(-1.0)); }

static void add(struct plain_jet *jet, double pt, double eta, double dphi) {
  jet->pt += pt;
  jet->eta += pt * eta;
  jet->phi += pt * dphi;
}

static uint32_t make_jets(uint32_t event, int with_first, struct plain_jet *jets) {
  uint8_t taken[PARTICLES] = {0}, cluster_taken[CLUSTERS] = {0};
  uint32_t count = 0;
  for (; count < JETS_MAX; count++) {
    uint32_t first = UINT32_MAX;
    for (uint32_t i = event_particles[event]; i < event_particles[event + 1]; i++)
      if (!taken[i] && (first == UINT32_MAX || s.pt[i] > s.pt[first])) first = i;
    if (first == UINT32_MAX) break;
    struct plain_jet jet = {.first = first - event_particles[event]};
    const double axis_eta = (double)s.eta[first], axis_phi = atan2((double)s.ty[first], (double)s.tx[first]);
    for (uint32_t i = event_particles[event]; i < event_particles[event + 1]; i++) {
      const double dphi = angle(atan2((double)s.ty[i], (double)s.tx[i]) - axis_phi);
      if (taken[i] || s.vertex[i] != s.vertex[first] || hypot((double)s.eta[i] - axis_eta, dphi) >= 0.5) continue;
      taken[i] = 1;
      jet.particles++;
      if (i != first || with_first) add(&jet, (double)s.pt[i], (double)s.eta[i], dphi);
    }
    for (uint32_t i = event_clusters[event]; i < event_clusters[event + 1]; i++) {
      const double rho = hypot((double)s.x[i], (double)s.y[i]);
      const double dphi = angle(atan2((double)s.y[i], (double)s.x[i]) - axis_phi);
      if (cluster_taken[i] || rho == 0 || hypot(asinh(z / rho) - axis_eta, dphi) >= 0.5) continue;
      cluster_taken[i] = 1;
      jet.clusters++;
      add(&jet, (double)s.et[i], asinh(z / rho), dphi);
    }
    jet.eta = jet.pt > 0 ? jet.eta / jet.pt : axis_eta;
    jet.phi = angle(axis_phi + (jet.pt > 0 ? jet.phi / jet.pt : 0));
    jets[count] = jet;
  }
  return count;
}

/* ------------------------------------------------------------------------------------------------------- tests */

static struct sl_test *jets_new(void) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "cone_jets");
  sl_test_events(t, EVENTS);
  sl_test_input(t, "particles", "offsets", event_particles, EVENTS + 1);
  sl_test_input(t, "particles", "vertex", s.vertex, PARTICLES);
  sl_test_input(t, "particles", "tx", s.tx, PARTICLES);
  sl_test_input(t, "particles", "ty", s.ty, PARTICLES);
  sl_test_input(t, "particles", "pt", s.pt, PARTICLES);
  sl_test_input(t, "particles", "eta", s.eta, PARTICLES);
  sl_test_input(t, "clusters", "offsets", event_clusters, EVENTS + 1);
  sl_test_input(t, "clusters", "et", s.et, CLUSTERS);
  sl_test_input(t, "clusters", "x", s.x, CLUSTERS);
  sl_test_input(t, "clusters", "y", s.y, CLUSTERS);
  return t;
}

static void check_jet(const struct sl_test *t, uint32_t k, const struct plain_jet *jet) {
  const double objects = jet->particles + jet->clusters, steps = 0.1 * objects + 1e-6 * jet->pt;
  assert_int_equal(OUTPUT(t, "jets", "first", uint32_t)[k], jet->first);
  assert_int_equal(OUTPUT(t, "jets", "particles", uint32_t)[k], jet->particles);
  assert_int_equal(OUTPUT(t, "jets", "clusters", uint32_t)[k], jet->clusters);
  assert_true(fabs((double)OUTPUT(t, "jets", "pt", float)[k] - jet->pt) <= steps);
  if (jet->pt <= 0) return;
  assert_true(fabs((double)OUTPUT(t, "jets", "eta", float)[k] - jet->eta) <= 10 * steps / jet->pt + 1e-5);
  assert_true(fabs(angle((double)OUTPUT(t, "jets", "phi", float)[k] - jet->phi)) <= steps / jet->pt + 1e-5);
}

static void jets_agree_with_plain_loops(void **state) {
  (void)state;
  make_sample();
  for (int with_first = 0; with_first < 2; with_first++) {
    struct sl_test *t = jets_new();
    uint32_t all = 0, with_clusters = 0;
    sl_test_set(t, "with_first_track", with_first);
    assert_int_equal(sl_test_run(t), SL_OK);
    for (uint32_t e = 0; e < EVENTS; e++) {
      struct plain_jet jets[JETS_MAX];
      const uint32_t count = make_jets(e, with_first, jets), begin = OUTPUT(t, "jets", "offsets", uint32_t)[e];
      assert_int_equal(OUTPUT(t, "jets", "offsets", uint32_t)[e + 1] - begin, count);
      for (uint32_t j = 0; j < count; j++) check_jet(t, begin + j, &jets[j]);
      for (uint32_t j = 0; j < count; j++) with_clusters += jets[j].clusters > 0;
      all += count;
    }
    assert_true(all > 12 && with_clusters > 5);
    sl_test_free(t);
  }
}

static void the_number_of_jets_is_limited(void **state) {
  (void)state;
  make_sample();
  struct sl_test *t = jets_new();
  sl_test_set(t, "max_jets", 2);
  assert_int_equal(sl_test_run(t), SL_OK);
  for (uint32_t e = 0; e < EVENTS; e++) {
    struct plain_jet jets[JETS_MAX];
    const uint32_t count = make_jets(e, 1, jets), *offsets = OUTPUT(t, "jets", "offsets", uint32_t);
    assert_int_equal(offsets[e + 1] - offsets[e], count < 2 ? count : 2);
  }
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(jets_agree_with_plain_loops),
      cmocka_unit_test(the_number_of_jets_is_limited),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
