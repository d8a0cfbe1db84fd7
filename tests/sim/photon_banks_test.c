/* Truth of photons at the calorimeter: positions, and pairs from one pi0. */
#include "support.h"
#include "truth/photons.h"

#include <math.h>

enum { EVENTS = 20, PHOTONS_MAX = 1024 };

struct photons {
  struct truth_photon at[PHOTONS_MAX];
  uint32_t count;
};

static void make_photons(struct sim_simulation *s, uint64_t number, struct photons *photons) {
  static struct bank_fields banks;
  assert_int_equal(sim_simulate(s, number), SL_OK);
  bank_fields_of(s, SIM_BANK_MC_PHOTONS, &banks);
  assert_int_equal(banks.count, 1);
  assert_int_equal(banks.version[0], TRUTH_PHOTONS_VERSION);
  assert_int_equal(banks.size_bytes[0] % sizeof photons->at[0], 0);
  photons->count = (uint32_t)(banks.size_bytes[0] / sizeof photons->at[0]);
  assert_true(photons->count <= PHOTONS_MAX);
  memcpy(photons->at, s->banks.words.at + banks.first_word[0], banks.size_bytes[0]);
}

/* With directions from the origin through the positions. */
static double mass_of(const struct truth_photon *a, const struct truth_photon *b) {
  const double z = (double)TRUTH_PHOTON_Z, dx = (double)(a->x - b->x), dy = (double)(a->y - b->y);
  const double r2 = (double)(a->x * a->x + a->y * a->y) + z * z;
  return sqrt((double)a->energy * (double)b->energy * (dx * dx + dy * dy) / r2);
}

static void photons_are_at_their_cells_and_pi0_have_their_mass(void **state) {
  (void)state;
  static struct photons photons;
  struct sim_simulation *s = simulation_new();
  uint32_t all = 0, pairs = 0, good = 0;
  s->make_flags = SIM_MAKE_PHOTONS;
  for (uint64_t number = 0; number < EVENTS; number++) {
    make_photons(s, number, &photons);
    for (uint32_t i = 0; i < photons.count; i++) {
      const struct truth_photon *p = &photons.at[i];
      const double r = sqrt((double)(p->x * p->x + p->y * p->y)), z = (double)TRUTH_PHOTON_Z;
      assert_true((double)p->energy * r / sqrt(r * r + z * z) > (double)TRUTH_PHOTON_ET_MIN * 0.999);
      if (p->cell < CALO_CELLS) {
        /* the plane of the shower maximum is tilted: up to 11 mm upstream or downstream of the positions; slopes are up
         * to 0.7 */
        const double width = 121.9 / (calo_description_area_of(&s->calo, p->cell) + 1);
        assert_true(fabs((double)(s->calo.xy[2 * p->cell] - p->x)) < width / 2 + 8);
        assert_true(fabs((double)(s->calo.xy[2 * p->cell + 1] - p->y)) < width / 2 + 8);
        all++;
      } else {
        assert_int_equal(p->cell, TRUTH_NO_CELL);
      }
      for (uint32_t k = i + 1; k < photons.count; k++) {
        if (p->pi0 == TRUTH_NO_PI0 || photons.at[k].pi0 != p->pi0) continue;
        pairs++;
        good += fabs(mass_of(p, &photons.at[k]) - 134.977) < 15;
      }
    }
  }
  print_message("%u photons, %u pairs, %u with the mass of a pi0\n", all, pairs, good);
  assert_true(all > 20 * EVENTS && pairs > 5 * EVENTS &&
              good > 0.6 * pairs); /* others come from K_S and interactions */
  simulation_free(s);
}

static void photon_banks_are_made_on_request_only(void **state) {
  (void)state;
  static struct bank_fields banks;
  struct sim_simulation *s = simulation_new();
  s->make_flags = SIM_MAKE_ALL;
  assert_int_equal(sim_simulate(s, 0), SL_OK);
  bank_fields_of(s, SIM_BANK_MC_PHOTONS, &banks);
  assert_int_equal(banks.count, 0);
  simulation_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(photons_are_at_their_cells_and_pi0_have_their_mass),
      cmocka_unit_test(photon_banks_are_made_on_request_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
