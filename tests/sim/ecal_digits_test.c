/* Calorimeter digits: showers of known particles, noise, and the borders of the detector. */
#include "support.h"

#include <math.h>

enum { TIMES = 400 };
static const float z_front = 12602.9f;

/* Without the added background. */
static struct sim_simulation *quiet_new(void) {
  struct sim_simulation *s = simulation_new();
  s->settings.calo_background = 0.0f;
  return s;
}

/* Simulates one particle at the calorimeter in event `number`, without other energy. */
static void shoot(struct sim_simulation *s, enum sim_species_id id, float p, float x, float y, uint64_t number) {
  sim_event_clear(&s->event);
  s->event.seed = 11;
  s->event.crossing.number = number;
  struct sim_particle *particle = sim_event_add(&s->event, &sim_species[id], 1, 0, 0, -1);
  assert_non_null(particle);
  struct sim_passage *passage = SIM_APPEND(&s->event.passages[SIM_IN_ECAL]);
  assert_non_null(passage);
  *passage = (struct sim_passage){.particle = 0, .x = x, .y = y, .z = z_front, .p = p};
  assert_int_equal(sim_ecal_digitise(&s->calo, &s->settings, &s->event, &s->ecal_digits), SL_OK);
}

static double energy_of(const struct sim_simulation *s) {
  double sum = 0;
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) sum += (double)s->ecal_digits.energy[cell];
  return sum;
}

/* Mean and width of the energy of shots distributed over a cell of an area. */
static void measure(struct sim_simulation *s, enum sim_species_id id, float p, uint32_t cell, double *mean,
                    double *width) {
  double sum = 0, squares = 0;
  const float size = s->calo.areas[calo_description_area_of(&s->calo, cell)].cell;
  for (uint32_t i = 0; i < TIMES; i++) {
    const float dx = size * ((float)(i % 20) / 20.0f - 0.475f), dy = size * ((float)(i - i % 20) / 400.0f - 0.475f);
    shoot(s, id, p, s->calo.xy[2 * cell] + dx, s->calo.xy[2 * cell + 1] + dy, i);
    const double energy = energy_of(s);
    sum += energy;
    squares += energy * energy;
  }
  *mean = sum / TIMES;
  *width = sqrt(squares / TIMES - *mean * *mean);
}

static const uint32_t inside[] = {500, 3000, 4700}; /* a cell of each area */

static void photons_and_electrons_have_their_energy_and_resolution(void **state) {
  (void)state;
  static const enum sim_species_id kinds[] = {SIM_PHOTON, SIM_ELECTRON};
  static const float energies[] = {1000, 10000, 50000};
  struct sim_simulation *s = quiet_new();
  for (uint32_t area = 0; area < 3; area++)
    for (uint32_t kind = 0; kind < 2; kind++)
      for (uint32_t i = 0; i < 3; i++) {
        double mean, width;
        const double e = (double)energies[i], expected = sqrt(0.01 * 1000 / e + 0.0001);
        measure(s, kinds[kind], energies[i], inside[area], &mean, &width);
        if (fabs(mean / e - 1) > 0.03) fail_msg("area %u, %.0f MeV: %.0f MeV are measured", area, e, mean);
        if (width / e < 0.9 * expected || width / e > 1.2 * expected + 0.01)
          fail_msg("area %u, %.0f MeV: resolution %.4f, expected %.4f", area, e, width / e, expected);
      }
  simulation_free(s);
}

static void muons_are_minimum_ionising_at_any_momentum(void **state) {
  (void)state;
  struct sim_simulation *s = quiet_new();
  static const float momenta[] = {2000, 8000, 32000, 100000};
  for (uint32_t i = 0; i < 4; i++)
    for (uint32_t area = 0; area < 3; area++) {
      double mean, width;
      measure(s, SIM_MUON, momenta[i], inside[area], &mean, &width);
      assert_true(mean > 280 && mean < 380 && width > 20 && width < 120);
    }
  simulation_free(s);
}

static void hadrons_leave_less_than_their_energy(void **state) {
  (void)state;
  struct sim_simulation *s = quiet_new();
  uint32_t small = 0;
  for (uint32_t i = 0; i < TIMES; i++) {
    shoot(s, SIM_PION, 10000, 2000, 1500, i);
    const double energy = energy_of(s);
    assert_true(energy > 0 && energy < 13000);
    small += energy < 500;
  }
  assert_true(small > TIMES / 5 && small < TIMES / 2); /* exp(-1.1) do not interact */
  simulation_free(s);
}

/* A corner of the inner area, where a neighbour in the middle area gets a share. */
static void showers_are_shared_across_the_borders_of_areas(void **state) {
  (void)state;
  struct sim_simulation *s = quiet_new();
  const struct calo_area *inner = &s->calo.areas[2];
  double shares[3] = {0};
  shoot(s, SIM_PHOTON, 20000, inner->half_x - 5.0f, 100.0f, 1);
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++)
    shares[calo_description_area_of(&s->calo, cell)] += (double)s->ecal_digits.energy[cell];
  assert_true(shares[0] == 0);
  assert_true(shares[1] > 0.05 * shares[2] && shares[1] < shares[2]);
  simulation_free(s);
}

static void nothing_is_measured_outside_the_detector_and_in_its_hole(void **state) {
  (void)state;
  static const float positions[][2] = {{0, 0}, {300, 200}, {-310, 230}, {3950, 0}, {0, 3250}, {-4000, -3300}};
  struct sim_simulation *s = quiet_new();
  for (size_t i = 0; i < sizeof positions / sizeof positions[0]; i++) {
    shoot(s, SIM_PHOTON, 20000, positions[i][0], positions[i][1], i);
    assert_true(energy_of(s) == 0);
  }
  simulation_free(s);
}

static void empty_cells_have_pedestal_and_noise(void **state) {
  (void)state;
  struct sim_simulation *s = quiet_new();
  double sum = 0, squares = 0;
  const double n = 20.0 * CALO_CELLS;
  for (uint32_t i = 0; i < 20; i++) {
    shoot(s, SIM_PHOTON, 20000, 0, 0, i);
    for (uint32_t cell = 0; cell < CALO_CELLS; cell++) {
      sum += s->ecal_digits.adc[cell];
      squares += (double)s->ecal_digits.adc[cell] * s->ecal_digits.adc[cell];
    }
  }
  const double mean = sum / n, width = sqrt(squares / n - mean * mean);
  assert_true(fabs(mean - 0.4) < 0.02 && fabs(width - 1.2) < 0.05);
  simulation_free(s);
}

static void a_cell_with_too_much_energy_is_at_the_end_of_the_range(void **state) {
  (void)state;
  struct sim_simulation *s = quiet_new();
  uint32_t full = 0;
  shoot(s, SIM_PHOTON, 3e6f, 2000, 1500, 1);
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) full += s->ecal_digits.adc[cell] == SIM_ECAL_ADC_MAX;
  assert_true(full >= 1 && full <= 4);
  simulation_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(photons_and_electrons_have_their_energy_and_resolution),
      cmocka_unit_test(muons_are_minimum_ionising_at_any_momentum),
      cmocka_unit_test(hadrons_leave_less_than_their_energy),
      cmocka_unit_test(showers_are_shared_across_the_borders_of_areas),
      cmocka_unit_test(nothing_is_measured_outside_the_detector_and_in_its_hole),
      cmocka_unit_test(empty_cells_have_pedestal_and_noise),
      cmocka_unit_test(a_cell_with_too_much_energy_is_at_the_end_of_the_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
