/* masses_test.c: the mass of two particles against double precision, at small angles and masses where the difference
 * E^2 - p^2 in single precision has no correct digits. */
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(masses_agree_with_double_precision),
      cmocka_unit_test(masses_of_particles_at_rest_or_parallel_are_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
