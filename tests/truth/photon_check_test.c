/* photon_check_test.c: counts and report of truth.photon_check for hand-made photons and clusters. */
#include "calo/event_model.h"
#include "check_case.h"
#include "truth/photons.h"

#include <math.h>

enum { CLUSTERS_MAX = 16, PHOTONS_MAX = 16 };

static struct {
  uint32_t offsets[WRITER_EVENTS + 1], event_count, count;
  uint16_t cell[CLUSTERS_MAX];
  float energy[CLUSTERS_MAX], et[CLUSTERS_MAX], x[CLUSTERS_MAX], y[CLUSTERS_MAX], share[CLUSTERS_MAX];
  uint8_t has_matches, on_track[CLUSTERS_MAX], on_velo_line[CLUSTERS_MAX];
} clusters;
static struct truth_photon photons[PHOTONS_MAX];
static uint32_t photon_count; /* in the current event */

static int start(void **state) {
  (void)state;
  memset(&clusters, 0, sizeof clusters);
  photon_count = 0;
  return start_check("photon_check");
}

static void add_photon(float energy, float x, float y, uint32_t cell, int32_t pi0) {
  photons[photon_count++] = (struct truth_photon){energy, x, y, cell, pi0};
}

static void add_cluster(uint16_t cell, float energy, float x, float y, float share) {
  const uint32_t i = clusters.count++;
  const float r2 = x * x + y * y;
  clusters.cell[i] = cell;
  clusters.energy[i] = energy;
  clusters.et[i] = energy * sqrtf(r2 / (r2 + TRUTH_PHOTON_Z * TRUTH_PHOTON_Z));
  clusters.x[i] = x;
  clusters.y[i] = y;
  clusters.share[i] = share;
}

static void end_photons(uint8_t version, uint32_t bytes_less) {
  add_part(banks, version, 0, (const uint8_t *)photons, (uint32_t)(photon_count * sizeof photons[0]) - bytes_less);
  end_event(banks);
  clusters.offsets[++clusters.event_count] = clusters.count;
  photon_count = 0;
}

/* Cell k touches k - 1 and k + 1. */
static const char *run(void) {
  static uint16_t neighbours[CALO_CELLS * CALO_NEIGHBOURS];
  memset(neighbours, 0xff, sizeof neighbours);
  for (uint32_t cell = 1; cell + 1 < CALO_CELLS; cell++) {
    neighbours[CALO_NEIGHBOURS * cell] = (uint16_t)(cell - 1);
    neighbours[CALO_NEIGHBOURS * cell + 1] = (uint16_t)(cell + 1);
  }
  sl_test_events(test, clusters.event_count);
  sl_test_input(test, "clusters", "offsets", clusters.offsets, clusters.event_count + 1);
  sl_test_input(test, "clusters", "cell", clusters.cell, clusters.count);
  sl_test_input(test, "clusters", "energy", clusters.energy, clusters.count);
  sl_test_input(test, "clusters", "et", clusters.et, clusters.count);
  sl_test_input(test, "clusters", "x", clusters.x, clusters.count);
  sl_test_input(test, "clusters", "y", clusters.y, clusters.count);
  sl_test_input(test, "clusters", "highest_share", clusters.share, clusters.count);
  if (clusters.has_matches) {
    sl_test_input(test, "matches", "offsets", clusters.offsets, clusters.event_count + 1);
    sl_test_input(test, "matches", "on_track", clusters.on_track, clusters.count);
    sl_test_input(test, "matches", "on_velo_line", clusters.on_velo_line, clusters.count);
  }
  sl_test_input(test, "geometry", "neighbours", neighbours, CALO_CELLS * CALO_NEIGHBOURS);
  set_banks("mc_photons");
  assert_int_equal(sl_test_run(test), 0);
  return sl_test_report(test);
}

static void a_photon_is_found_by_a_cluster_at_its_cell(void **state) {
  (void)state;
  add_photon(10000, 1265, 0, 100, TRUTH_NO_PI0);           /* in the next cell: 2 % more, 4 mm off */
  add_photon(10000, 1265, 0, 200, TRUTH_NO_PI0);           /* too little energy */
  add_photon(10000, 1265, 0, 300, TRUTH_NO_PI0);           /* two cells away */
  add_photon(10000, 1265, 0, TRUTH_NO_CELL, TRUTH_NO_PI0); /* outside the calorimeter */
  add_cluster(99, 300, 1265, 0, 1);
  add_cluster(101, 10200, 1269, 0, 1);
  add_cluster(200, 4900, 1265, 0, 1);
  add_cluster(302, 10000, 1265, 0, 1);
  end_photons(TRUTH_PHOTONS_VERSION, 0);
  end_photons(TRUTH_PHOTONS_VERSION, 0); /* an event without photons */
  const char *report = run(), *bin = named(strstr(report, "\"photons\""), "0.5 to 1 GeV");
  assert_int_equal(number_in(report, "events"), 2);
  assert_int_equal(number_in(report, "photons_outside"), 1);
  assert_int_equal(number_in(bin, "photons"), 3); /* 995 MeV of transverse energy */
  assert_int_equal(number_in(bin, "found"), 1);
  assert_float_equal(number_in(bin, "energy_median"), 0.02, 1e-3);
  assert_int_equal(number_in(named(bin, "all"), "found"), 1);
}

/* Two photons from the origin, 10 and 20 GeV; their clusters are separated by a small angle. */
static void two_clusters_of_a_pi0_give_its_mass(void **state) {
  (void)state;
  const double angle2 = pow(134.977, 2) / (10000.0 * 20000.0); /* m^2 = E E angle^2 */
  const float length = sqrtf(600 * 600 + 12650.0f * 12650.0f), apart = (float)sqrt(angle2) * length;
  add_photon(10000, 600, 0, 100, 7);
  add_photon(3000, 0, 600, 500, TRUTH_NO_PI0);
  add_photon(20000, 600, apart, 300, 7);
  add_photon(10000, -600, 0, 700, 8); /* without a cluster for its second photon */
  add_photon(9000, -600, 100, 800, 8);
  add_cluster(100, 10000, 600, 0, 0.9f);
  add_cluster(300, 20000, 600, apart, 0.9f);
  add_cluster(700, 10000, -600, 0, 0.9f);
  end_photons(TRUTH_PHOTONS_VERSION, 0);
  const char *report = run(), *pi0 = strstr(report, "\"pi0\"");
  assert_int_equal(number_in(pi0, "count"), 2);
  assert_int_equal(number_in(pi0, "found"), 1);
  assert_float_equal(number_in(pi0, "mass_median"), 134.977, 0.2);
  const char *cell = strstr(report, "\"pairs_by_mass\"");
  for (int i = 0; i < 26; i++) cell = strpbrk(cell + 1, i ? "," : "["); /* 125 to 130 MeV */
  assert_int_equal(atoi(cell + 1), 0);
  for (int i = 26; i < 27; i++) cell = strchr(cell + 1, ',');
  assert_true(atoi(cell + 1) + atoi(strchr(cell + 1, ',') + 1) == 1); /* 130 to 140 MeV */
}

static void assert_three(const char *report, const char *key, int all, int on_no_track, int on_no_line) {
  const int expected[] = {all, on_no_track, on_no_line};
  const char *at = strchr(strstr(report, key), '[');
  for (int i = 0; i < 3; i++, at = strchr(at + 1, ',')) assert_int_equal(atoi(at + 1), expected[i]);
}

/* Four photons: on no track, on a track, ahead of a VELO track, both. Two further clusters, one too small for a pair.
 */
static void requirements_of_neutral_clusters_are_compared(void **state) {
  (void)state;
  clusters.has_matches = 1;
  for (uint32_t i = 0; i < 4; i++) {
    add_photon(10000, 1265, 0, 100 * (i + 1), i < 2 ? 7 : 8);
    add_cluster((uint16_t)(100 * (i + 1)), 10000, 1265, 0, 0.9f);
    clusters.on_track[i] = i % 2;
    clusters.on_velo_line[i] = i >= 2;
  }
  add_cluster(600, 10000, 1265, 0, 0.9f);
  add_cluster(700, 3000, 1265, 0, 0.9f);
  end_photons(TRUTH_PHOTONS_VERSION, 0);
  const char *report = run();
  assert_three(named(strstr(report, "\"photons\""), "all"), "\"accepted\"", 4, 2, 1);
  assert_three(report, "\"clusters\"", 5, 3, 2);
  assert_three(report, "\"photon_clusters\"", 4, 2, 1);
  assert_three(report, "\"pi0_accepted\"", 2, 0, 0);
}

/* 0 / 0 is NaN. */
static void a_photon_without_energy_is_ignored_in_energies(void **state) {
  (void)state;
  add_photon(0, 1265, 0, 100, TRUTH_NO_PI0);
  add_photon(10000, 1265, 0, 300, TRUTH_NO_PI0);
  add_cluster(100, 0, 1265, 0, 1);
  add_cluster(300, 10200, 1265, 0, 1);
  end_photons(TRUTH_PHOTONS_VERSION, 0);
  const char *bin = named(strstr(run(), "\"photons\""), "all");
  assert_int_equal(number_in(bin, "found"), 2);
  assert_float_equal(number_in(bin, "energy_median"), 0.02, 1e-3);
  assert_non_null(strstr(sl_test_messages(test), "energies: 1 values that are not numbers were ignored"));
}

static void photons_of_another_version_or_size_are_malformed(void **state) {
  (void)state;
  add_photon(10000, 1265, 0, 100, TRUTH_NO_PI0);
  end_photons(TRUTH_PHOTONS_VERSION + 1, 0);
  add_photon(10000, 1265, 0, 100, TRUTH_NO_PI0);
  end_photons(TRUTH_PHOTONS_VERSION, 3);
  add_photon(10000, 1265, 0, 100, TRUTH_NO_PI0);
  end_photons(TRUTH_PHOTONS_VERSION, 0);
  const char *report = run();
  assert_int_equal(number_in(report, "events"), 1);
  assert_int_equal(number_in(report, "malformed_events"), 2);
  assert_int_equal(number_in(named(strstr(report, "\"photons\""), "all"), "photons"), 1);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop_check)
  const struct CMUnitTest tests[] = {
      TEST(a_photon_is_found_by_a_cluster_at_its_cell),       TEST(two_clusters_of_a_pi0_give_its_mass),
      TEST(requirements_of_neutral_clusters_are_compared),    TEST(a_photon_without_energy_is_ignored_in_energies),
      TEST(photons_of_another_version_or_size_are_malformed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
