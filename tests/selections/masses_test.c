/* masses_test.c: the mass of two particles against double precision, at small angles and masses where the difference
 * E^2 - p^2 in single precision has no correct digits; and selections.masses, with each assignment of hypotheses. */
#include "selections/masses.h"

#include "selections_support.h"

/* m^2 = m1^2 + m2^2 + 2 (E1 E2 - p1 p2) + 2 p1 p2 opening, with the second term as one fraction. */
static double mass(const float *p, const float *m, float opening) {
  const double p1 = (double)p[0], p2 = (double)p[1], m1 = (double)m[0], m2 = (double)m[1];
  const double energies = sqrt(p1 * p1 + m1 * m1) * sqrt(p2 * p2 + m2 * m2);
  const double excess = (p1 * p1 * m2 * m2 + p2 * p2 * m1 * m1 + m1 * m1 * m2 * m2) / (energies + p1 * p2);
  return sqrt(m1 * m1 + m2 * m2 + 2 * excess + 2 * p1 * p2 * (double)opening);
}

static void masses_agree_with_double_precision(void **state) {
  static const float masses[] = {0, ELECTRON_MASS, MUON_MASS, PION_MASS, KAON_MASS, PROTON_MASS, D0_MASS};
  enum { MASSES = sizeof masses / sizeof masses[0], TURNS = 200 };
  (void)state;
  random_start(1);
  for (uint32_t i = 0; i < MASSES * MASSES * TURNS; i++) {
    const float m[] = {masses[i % MASSES], masses[i / MASSES % MASSES]};
    const float p[] = {powf(10, random_between(0, 7)), powf(10, random_between(0, 7))};
    const float opening = powf(10, random_between(-14, 0.3f));
    const double expected = mass(p, m, opening);
    assert_near("mass", i, (double)selections_mass(p[0], m[0], p[1], m[1], opening), expected, 5e-7 * expected);
    assert_true(selections_mass(p[0], m[0], p[1], m[1], opening) == selections_mass(p[1], m[1], p[0], m[0], opening));
  }
}

static void masses_of_particles_at_rest_or_parallel_are_exact(void **state) {
  (void)state;
  assert_near("at rest", 0, (double)selections_mass(0, PION_MASS, 0, KAON_MASS, 0), (double)(PION_MASS + KAON_MASS),
              1e-4);
  assert_near("side by side", 0, (double)selections_mass(1e6f, MUON_MASS, 1e6f, MUON_MASS, 0), 2 * (double)MUON_MASS,
              1e-4);
  assert_near("back to back", 0, (double)selections_mass(1000, 0, 1000, 0, 2), 2000, 1e-3);
}

/* ------------------------------------------------------------------------------------------- selections.masses */

enum { EVENTS = 3, PARTICLES = 40, PAIRS = 300 };
static const uint32_t event_particles[EVENTS + 1] = {0, 15, 20, PARTICLES},
                                               event_pairs[EVENTS + 1] = {0, 100, 100, PAIRS};

struct sample {
  float p[PARTICLES], opening[PAIRS];
  uint32_t first[PAIRS], second[PAIRS]; /* indices in the event */
};

static void make_sample(struct sample *s) {
  random_start(3);
  for (uint32_t i = 0; i < PARTICLES; i++) s->p[i] = powf(10, random_between(3, 5));
  s->p[1] = s->p[0];
  for (uint32_t e = 0; e < EVENTS; e++)
    for (uint32_t i = event_pairs[e]; i < event_pairs[e + 1]; i++) {
      const uint32_t count = event_particles[e + 1] - event_particles[e];
      s->first[i] = (uint32_t)random_between(0, (float)count - 1);
      s->second[i] = s->first[i] + 1;
      s->opening[i] = powf(10, random_between(-6, -1));
    }
}

static struct sl_test *masses_new(const struct sample *s) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "masses");
  sl_test_events(t, EVENTS);
  sl_test_input(t, "vertices", "offsets", event_pairs, EVENTS + 1);
  sl_test_input(t, "vertices", "first", s->first, PAIRS);
  sl_test_input(t, "vertices", "second", s->second, PAIRS);
  sl_test_input(t, "vertices", "opening", s->opening, PAIRS);
  sl_test_input(t, "particles", "offsets", event_particles, EVENTS + 1);
  sl_test_input(t, "particles", "p", s->p, PARTICLES);
  return t;
}

/* The mass of a pair, with hypotheses for the faster and the slower particle. */
static double plain_mass(const struct sample *s, uint32_t event, uint32_t i, float faster, float slower) {
  const float *p = s->p + event_particles[event];
  const float both[] = {fmaxf(p[s->first[i]], p[s->second[i]]), fminf(p[s->first[i]], p[s->second[i]])};
  return mass(both, (float[]){faster, slower}, s->opening[i]);
}

static void hypotheses_go_to_the_faster_and_the_slower_particle(void **state) {
  (void)state;
  static const char *const names[] = {"e", "mu", "pi", "K", "p"};
  static const float masses[] = {ELECTRON_MASS, MUON_MASS, PION_MASS, KAON_MASS, PROTON_MASS};
  static struct sample s;
  make_sample(&s);
  for (uint32_t k = 0; k < 25; k++) {
    struct sl_test *t = masses_new(&s);
    sl_test_set_text(t, "faster", names[k / 5]);
    sl_test_set_text(t, "slower", names[k % 5]);
    assert_int_equal(sl_test_run(t), 0);
    const float *found = OUTPUT(t, "masses", "mass", float);
    for (uint32_t e = 0; e < EVENTS; e++)
      for (uint32_t i = event_pairs[e]; i < event_pairs[e + 1]; i++) {
        const double expected = plain_mass(&s, e, i, masses[k / 5], masses[k % 5]);
        assert_near("mass", i, (double)found[i], expected, 1e-6 * expected);
      }
    sl_test_free(t);
  }
}

static void near_mass_selects_the_better_assignment(void **state) {
  (void)state;
  static struct sample s;
  uint32_t exchanged = 0;
  make_sample(&s);
  struct sl_test *t = masses_new(&s);
  sl_test_set_text(t, "faster", "p");
  sl_test_set(t, "near_mass", 3000);
  assert_int_equal(sl_test_run(t), 0);
  const float *found = OUTPUT(t, "masses", "mass", float);
  for (uint32_t e = 0; e < EVENTS; e++)
    for (uint32_t i = event_pairs[e]; i < event_pairs[e + 1]; i++) {
      const double one = plain_mass(&s, e, i, PROTON_MASS, PION_MASS),
                   other = plain_mass(&s, e, i, PION_MASS, PROTON_MASS);
      const int is_other = fabs(other - 3000) < fabs(one - 3000);
      exchanged += is_other;
      assert_near("mass", i, (double)found[i], is_other ? other : one, 1e-6 * one);
    }
  assert_true(exchanged > PAIRS / 10 && exchanged < PAIRS - PAIRS / 10);
  sl_test_free(t);
}

static void an_event_list_does_not_change_masses(void **state) {
  (void)state;
  static struct sample s;
  const uint32_t list[] = {2}, first = event_pairs[2];
  make_sample(&s);
  struct sl_test *all = masses_new(&s), *some = masses_new(&s);
  sl_test_list(some, list, 1);
  assert_int_equal(sl_test_run(all), 0);
  assert_int_equal(sl_test_run(some), 0);
  assert_memory_equal(OUTPUT(some, "masses", "mass", float) + first, OUTPUT(all, "masses", "mass", float) + first,
                      (PAIRS - first) * sizeof(float));
  sl_test_free(all);
  sl_test_free(some);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(masses_agree_with_double_precision),
      cmocka_unit_test(masses_of_particles_at_rest_or_parallel_are_exact),
      cmocka_unit_test(hypotheses_go_to_the_faster_and_the_slower_particle),
      cmocka_unit_test(near_mass_selects_the_better_assignment),
      cmocka_unit_test(an_event_list_does_not_change_masses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
