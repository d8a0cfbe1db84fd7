/* electron_examples_test.c: table of truth.electron_examples for hand-made tracks. */
#include "calo/electron_network.h"
#include "examples_case.h"
#include "scratch.h"

enum { EVENTS = 2, HITS = 10 };
#define SCIFI(n) (0x50000000u + (n))
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
enum { ELECTRON = 0, PION = 20, MUON = 40, SOFT = 60, NOBODY = 500 }; /* first hits */
static const struct true_particle particles[] = {PARTICLE(1, -11, 8000, ELECTRON), PARTICLE(2, 211, 12000, PION),
                                                 PARTICLE(3, 13, 8000, MUON), PARTICLE(4, 11, 900, SOFT)};

/* Tracks of the first event, then of the second, which has no truth. */
enum { TRACKS = 8 };
static const struct {
  uint32_t first_hit;
  float qop; /* 1/MeV */
  float e_over_p, e_over_p_3x3;
  uint8_t is_preselected;
} tracks[TRACKS] = {
    {ELECTRON, -1.0f / 7000, 0.95f, 1.05f, 1}, {PION, 1.0f / 12500, 0.5f, 0.75f, 1},
    {MUON, 1.0f / 8000, 0.3f, 0.45f, 1},       {SOFT, 1.0f / 1500, 0.9f, 1, 1}, /* true p below the limit */
    {NOBODY, 1.0f / 3000, 0.9f, 1, 1},                                          /* ghost */
    {PION, 1.0f / 2000, 0.9f, 1, 0},           {PION, 1.0f / 2500, 1.99f, 0.41f, 1},
    {ELECTRON, 1.0f / 7000, 0.95f, 1.05f, 1},
};

static int start(void **state) {
  (void)state;
  return start_check("electron_examples");
}

static void give_tracks(void) {
  static const uint32_t offsets[] = {0, TRACKS - 1, TRACKS}, none[TRACKS + 1];
  static uint32_t hit_offsets[TRACKS + 1], hits[TRACKS * HITS];
  float of[7][TRACKS];
  uint8_t is_preselected[TRACKS];
  static const char *const shape[] = {"distance2", "variance_x", "variance_y", "covariance"};
  for (uint32_t i = 0; i < TRACKS; i++) {
    hit_offsets[i + 1] = HITS * (i + 1);
    for (uint32_t k = 0; k < HITS; k++) hits[HITS * i + k] = SCIFI(tracks[i].first_hit + k);
    of[0][i] = tracks[i].qop;
    of[1][i] = tracks[i].e_over_p;
    of[2][i] = tracks[i].e_over_p_3x3;
    for (uint32_t k = 0; k < 4; k++) of[3 + k][i] = 0.1f * (float)(1 + k) + 0.01f * (float)i;
    of[6][i] = -of[6][i];
    is_preselected[i] = tracks[i].is_preselected;
  }
  of[3][2] = 0;
  sl_test_input(test, "tracks", "offsets", offsets, EVENTS + 1);
  sl_test_input(test, "tracks", "hit_offsets", hit_offsets, TRACKS + 1);
  sl_test_input(test, "tracks", "hit_id", hits, TRACKS * HITS);
  sl_test_input(test, "tracks", "velo_track", none, TRACKS);
  sl_test_input(test, "tracks", "ut_track", none, TRACKS);
  sl_test_input(test, "tracks", "qop", of[0], TRACKS);
  sl_test_input(test, "electrons", "e_over_p", of[1], TRACKS);
  sl_test_input(test, "electrons", "e_over_p_3x3", of[2], TRACKS);
  for (uint32_t k = 0; k < 4; k++) sl_test_input(test, "electrons", shape[k], of[3 + k], TRACKS);
  sl_test_input(test, "electrons", "is_preselected", is_preselected, TRACKS);
  sl_test_input(test, "velo_tracks", "offsets", offsets, EVENTS + 1);
  sl_test_input(test, "velo_tracks", "hit_offsets", none, TRACKS + 1);
  sl_test_input(test, "velo_tracks", "hit_id", none, 1);
}

static const char *run(const char *path) {
  add_event(banks, particles, 4);
  end_event(banks); /* no banks */
  sl_test_events(test, EVENTS);
  give_tracks();
  set_banks("mc_particles");
  sl_test_set_text(test, "path", path);
  assert_int_equal(sl_test_run(test), 0);
  return sl_test_report(test);
}

/* Sets the row of track `i`. */
static void set_row(double *row, double is_electron, double p, uint32_t i) {
  const double step = 0.01 * i;
  const double expected[] = {is_electron,
                             p,
                             (double)tracks[i].e_over_p,
                             (double)tracks[i].e_over_p_3x3,
                             log(i == 2 ? 1e-10 : 0.1 + step),
                             log(0.2 + step),
                             log(0.3 + step),
                             log(0.4 + step)};
  memcpy(row, expected, sizeof expected);
}

static void preselected_tracks_are_written_with_their_truth(void **state) {
  (void)state;
  char path[SCRATCH_PATH_MAX];
  scratch_file(path);
  const char *report = run(path);
  assert_int_equal(number_in(report, "examples"), 4);
  assert_int_equal(number_in(report, "is_electron"), 1);
  assert_int_equal(number_in(report, "events"), 1);
  assert_int_equal(number_in(report, "events_without_truth"), 1);
  double rows[4][8];
  set_row(rows[0], 1, 7, 0);
  set_row(rows[1], 0, 12.5, 1);
  set_row(rows[2], 0, 8, 2);
  set_row(rows[3], 0, 2.5, 6);
  assert_table(path, "is_electron,p,e_over_p,e_over_p_3x3,log_distance2,log_variance_x,log_variance_y,log_covariance\n",
               rows[0], 4, 8, 2e-5);
}

static void the_least_momentum_of_electrons_is_a_property(void **state) {
  (void)state;
  char path[SCRATCH_PATH_MAX];
  scratch_file(path);
  sl_test_set(test, "min_p", 800);
  const char *report = run(path);
  assert_int_equal(number_in(report, "examples"), 5);
  assert_int_equal(number_in(report, "is_electron"), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(preselected_tracks_are_written_with_their_truth, start, stop_check),
      cmocka_unit_test_setup_teardown(the_least_momentum_of_electrons_is_a_property, start, stop_check),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
