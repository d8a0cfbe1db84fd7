/* electron_check_test.c: counts and report of truth.electron_check for hand-made particles and tracks. */
#include "calo/event_model.h"
#include "check_case.h"

#include <math.h>

enum { TRACKS_MAX = 8, HITS = 10 };
#define SCIFI(n) (0x50000000u + (n))

static struct {
  uint32_t offsets[WRITER_EVENTS + 1], event_count, count;
  uint32_t hit_offsets[TRACKS_MAX + 1], hit_id[TRACKS_MAX * HITS], velo_track[TRACKS_MAX], ut_track[TRACKS_MAX];
  float qop[TRACKS_MAX], photons[TRACKS_MAX], e_over_p[TRACKS_MAX];
  uint8_t in_acceptance[TRACKS_MAX], is_electron[TRACKS_MAX];
} tracks;

static int start(void **state) {
  (void)state;
  memset(&tracks, 0, sizeof tracks);
  return start_check("electron_check");
}

/* Adds a track with ten hits from `first` on. VELO tracks are in the opposite order. */
static void add_track(uint32_t first, float p, uint8_t is_electron, float photons) {
  const uint32_t i = tracks.count++;
  for (uint32_t k = 0; k < HITS; k++) tracks.hit_id[HITS * i + k] = SCIFI(first + k);
  tracks.hit_offsets[i + 1] = HITS * (i + 1);
  tracks.qop[i] = -1 / p;
  tracks.in_acceptance[i] = 1;
  tracks.is_electron[i] = is_electron;
  tracks.e_over_p[i] = 0.7f; /* the limit, not above it */
  tracks.photons[i] = photons;
}

static void end_tracks(void) {
  const uint32_t first = tracks.offsets[tracks.event_count];
  for (uint32_t i = first; i < tracks.count; i++) tracks.velo_track[i] = tracks.count - 1 - i;
  for (uint32_t i = first, k = tracks.count; i < --k; i++) {
    const float photons = tracks.photons[i];
    tracks.photons[i] = tracks.photons[k];
    tracks.photons[k] = photons;
  }
  tracks.offsets[++tracks.event_count] = tracks.count;
}

static const char *run(void) {
  static const uint32_t hit_offsets[TRACKS_MAX + 1], no_hit;
  const uint32_t events = tracks.event_count + 1, count = tracks.count;
  sl_test_events(test, tracks.event_count);
  sl_test_input(test, "tracks", "offsets", tracks.offsets, events);
  sl_test_input(test, "tracks", "hit_offsets", tracks.hit_offsets, count + 1);
  sl_test_input(test, "tracks", "hit_id", tracks.hit_id, tracks.hit_offsets[count]);
  sl_test_input(test, "tracks", "velo_track", tracks.velo_track, count);
  sl_test_input(test, "tracks", "ut_track", tracks.ut_track, count);
  sl_test_input(test, "tracks", "qop", tracks.qop, count);
  sl_test_input(test, "electrons", "offsets", tracks.offsets, events);
  sl_test_input(test, "electrons", "e_over_p", tracks.e_over_p, count);
  sl_test_input(test, "electrons", "in_acceptance", tracks.in_acceptance, count);
  sl_test_input(test, "electrons", "is_electron", tracks.is_electron, count);
  sl_test_input(test, "bremsstrahlung", "offsets", tracks.offsets, events);
  sl_test_input(test, "bremsstrahlung", "energy", tracks.photons, count);
  sl_test_input(test, "velo_tracks", "offsets", tracks.offsets, events);
  sl_test_input(test, "velo_tracks", "hit_offsets", hit_offsets, count + 1);
  sl_test_input(test, "velo_tracks", "hit_id", &no_hit, 1);
  set_banks("mc_particles");
  assert_int_equal(sl_test_run(test), 0);
  return sl_test_report(test);
}

#define TEN(first)                                                                                                    \
  {                                                                                                                   \
    SCIFI(first), SCIFI((first) + 1), SCIFI((first) + 2), SCIFI((first) + 3), SCIFI((first) + 4), SCIFI((first) + 5), \
        SCIFI((first) + 6), SCIFI((first) + 7), SCIFI((first) + 8), SCIFI((first) + 9)                                \
  }
#define PARTICLE(key_, pdg_, p_, first)                                                           \
  {                                                                                               \
    .key = key_, .pdg = pdg_, .p = p_, .eta = 3, .flags = {[HAS_SCIFI] = 1}, .scifi_count = HITS, \
    .scifi_hits = TEN(first)                                                                      \
  }
static const struct true_particle particles[] = {PARTICLE(1, 211, 12000, 0), PARTICLE(2, -11, 8000, 20),
                                                 PARTICLE(3, 13, 8000, 40), PARTICLE(4, 11, 4000, 60)};

static void assert_counts(const char *report, const char *bin, const char *sort, int count, int called) {
  char pattern[64];
  snprintf(pattern, sizeof pattern, "\"%s\"", sort);
  const char *of = strstr(named(strstr(report, "\"momentum_bins\""), bin), pattern);
  assert_int_equal(number_in(of, "tracks"), count);
  assert_int_equal(number_in(of, "identified_electrons"), called);
}

static void tracks_are_counted_by_kind_of_particle(void **state) {
  (void)state;
  add_event(banks, particles, 4);
  add_track(20, 7000, 1, 0);
  add_track(0, 12100, 0, 0);
  add_track(40, 8000, 0, 0);
  add_track(500, 2000, 1, 0); /* ghost */
  end_tracks();
  add_event(banks, particles, 4);
  add_track(60, 4000, 0, 0);
  add_track(0, 4000, 1, 0); /* the momentum of the particle is used */
  add_track(0, 12000, 1, 0);
  tracks.in_acceptance[6] = 0;
  end_tracks();
  const char *report = run();
  assert_int_equal(number_in(report, "tracks"), 7);
  assert_int_equal(number_in(report, "tracks_outside"), 1);
  assert_counts(report, "5 to 10 GeV", "electrons", 1, 1);
  assert_counts(report, "5 to 10 GeV", "muons", 1, 0);
  assert_counts(report, "3 to 5 GeV", "electrons", 1, 0);
  assert_counts(report, "10 to 20 GeV", "hadrons", 2, 1);
  assert_counts(report, "p < 3 GeV", "ghosts", 1, 1);
  assert_counts(report, "all", "electrons", 2, 1);
  assert_counts(report, "all", "hadrons", 2, 1);
}

static void assert_by_e_over_p(const char *report, const char *bin, const char *sort, int count, double share) {
  char pattern[64];
  snprintf(pattern, sizeof pattern, "\"%s\"", sort);
  const char *of = strstr(named(strstr(report, "\"momentum_bins\""), bin), pattern);
  assert_int_equal(number_in(of, "by_e_over_p"), count);
  assert_float_equal(number_in(of, "share_by_e_over_p"), share, 1e-6);
}

static void tracks_above_the_limit_of_e_over_p_are_counted(void **state) {
  (void)state;
  add_event(banks, particles, 4);
  add_track(20, 7000, 1, 0);
  add_track(0, 12000, 1, 0);
  add_track(0, 12000, 0, 0);
  add_track(0, 12000, 0, 0);
  add_track(500, 2000, 0, 0); /* ghost */
  end_tracks();
  tracks.e_over_p[1] = 0.71f;
  tracks.e_over_p[2] = INFINITY;
  tracks.e_over_p[3] = NAN;
  tracks.e_over_p[4] = 0.8f;
  const char *report = run();
  assert_by_e_over_p(report, "5 to 10 GeV", "electrons", 0, 0);
  assert_by_e_over_p(report, "10 to 20 GeV", "hadrons", 2, 2.0 / 3);
  assert_by_e_over_p(report, "p < 3 GeV", "ghosts", 1, 1);
  assert_by_e_over_p(report, "all", "electrons", 0, 0);
  assert_by_e_over_p(report, "all", "hadrons", 2, 2.0 / 3);
}

static void the_limit_of_e_over_p_is_a_property(void **state) {
  (void)state;
  add_event(banks, particles, 4);
  add_track(20, 7000, 0, 0);
  add_track(0, 12000, 0, 0);
  end_tracks();
  tracks.e_over_p[1] = 0.5f;
  sl_test_set(test, "min_e_over_p", 0.6);
  const char *report = run();
  assert_by_e_over_p(report, "all", "electrons", 1, 1);
  assert_by_e_over_p(report, "all", "hadrons", 0, 0);
}

static void bremsstrahlung_is_added_to_the_momentum_of_electrons(void **state) {
  (void)state;
  add_event(banks, particles, 4);
  add_track(0, 12000, 0, 4000); /* not an electron */
  add_track(20, 6000, 1, 2000);
  end_tracks();
  const char *report = run();
  const char *alone = strstr(report, "\"momentum\""), *with = strstr(report, "\"momentum_with_photons\"");
  assert_int_equal(number_in(alone, "tracks"), 1);
  assert_float_equal(number_in(alone, "median"), -0.25, 1e-3);
  assert_float_equal(number_in(with, "median"), 0, 1e-3);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop_check)
  const struct CMUnitTest tests[] = {
      TEST(tracks_are_counted_by_kind_of_particle),
      TEST(tracks_above_the_limit_of_e_over_p_are_counted),
      TEST(the_limit_of_e_over_p_is_a_property),
      TEST(bremsstrahlung_is_added_to_the_momentum_of_electrons),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
