/* The calorimeter of simulated events is as full as in six minimum-bias events of LHCb's samples, which are as busy
 * in the other detectors as simulated events on average. */
#include "support.h"

#include <math.h>

enum { EVENTS = 600, THRESHOLDS = 5, SEED_MIN = 50, SHORT_MAX = 7, SHORT_MIN = -8 };
static const int32_t thresholds[THRESHOLDS] = {2, 5, 10, 20, 50};

/* Means per event in each area: cells over the thresholds, clusters, values with 12 bits, GeV. */
struct fullness {
  double over[THRESHOLDS], clusters, long_values, energy;
};
static const struct fullness expected[CALO_AREAS] = {{{491.33, 299.17, 221.50, 140.50, 59.67}, 38.17, 262.17, 166.88},
                                                     {{500.67, 289.33, 178.17, 96.00, 39.50}, 27.50, 228.00, 227.04},
                                                     {{688.83, 406.00, 229.33, 115.67, 41.67}, 26.33, 315.50, 608.26}};

/* A cell of at least 50 counts that is higher than all cells that touch it. */
static int is_seed(const struct sim_simulation *s, uint32_t cell) {
  const uint16_t *others = s->calo.neighbours + (size_t)CALO_NEIGHBOURS * cell;
  const int32_t adc = s->ecal_digits.adc[cell];
  int is_highest = adc >= SEED_MIN;
  for (uint32_t k = 0; k < CALO_NEIGHBOURS && others[k] != CALO_NO_NEIGHBOUR; k++)
    is_highest = is_highest && adc > s->ecal_digits.adc[others[k]];
  return is_highest;
}

static void add_event(const struct sim_simulation *s, struct fullness *found) {
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) {
    struct fullness *f = &found[calo_description_area_of(&s->calo, cell)];
    const int32_t adc = s->ecal_digits.adc[cell];
    for (int i = 0; i < THRESHOLDS; i++) f->over[i] += adc > thresholds[i];
    f->clusters += is_seed(s, cell);
    f->long_values += adc > SHORT_MAX || adc < SHORT_MIN;
    f->energy += (double)(s->calo.gain[cell] * ((float)adc - s->calo.pedestal)) / 1000;
  }
}

static double of(const struct fullness *f, int quantity) {
  return quantity < THRESHOLDS        ? f->over[quantity]
         : quantity == THRESHOLDS     ? f->clusters
         : quantity == THRESHOLDS + 1 ? f->long_values
                                      : f->energy;
}

static void cells_clusters_and_energy_are_those_of_full_simulation(void **state) {
  (void)state;
  struct sim_simulation *s = simulation_new();
  struct fullness found[CALO_AREAS];
  memset(found, 0, sizeof found);
  s->make_flags = SIM_MAKE_ECAL;
  for (uint64_t i = 0; i < EVENTS; i++) {
    assert_int_equal(sim_simulate(s, i), 0);
    add_event(s, found);
  }
  for (int q = 0; q < THRESHOLDS + 3; q++) {
    double sum = 0, expected_sum = 0;
    for (uint32_t area = 0; area < CALO_AREAS; area++) {
      const double mean = of(&found[area], q) / EVENTS, here = of(&expected[area], q);
      print_message("quantity %d, area %u: %.1f, full simulation %.1f\n", q, area, mean, here);
      if (fabs(mean / here - 1) > 0.20) fail_msg("quantity %d, area %u: %.1f instead of %.1f", q, area, mean, here);
      sum += mean;
      expected_sum += here;
    }
    if (fabs(sum / expected_sum - 1) > 0.10) fail_msg("quantity %d: %.1f instead of %.1f", q, sum, expected_sum);
  }
  simulation_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cells_clusters_and_energy_are_those_of_full_simulation)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
