/* long_check_test.c: counts and report of truth.long_check for hand-made particles and tracks. */
#include "check_case.h"
#include "forward/event_model.h"
#include "kalman/event_model.h"
#include "selections/event_model.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TRACKS_MAX = 8, HITS_MAX = 128 };
#define VELO(n)  (0x10000000u + (n))
#define UT(n)    (0x30000000u + (n))
#define SCIFI(n) (0x50000000u + (n))

/* Hits of one detector on all tracks. */
struct hits {
  uint32_t offsets[TRACKS_MAX + 1], id[HITS_MAX];
};

/* Long tracks, each with its own VELO and VELO-UT track. */
static struct {
  uint32_t offsets[WRITER_EVENTS + 1], event_count, track_count;
  struct hits velo, ut, scifi;
  uint32_t track[TRACKS_MAX];
  float qop[TRACKS_MAX], tx[TRACKS_MAX], ty[TRACKS_MAX];
  float fitted_qop[TRACKS_MAX], chi2[TRACKS_MAX], c44[TRACKS_MAX];
  uint32_t ndof[TRACKS_MAX];
} tracks;

static int start(void **state) {
  (void)state;
  memset(&tracks, 0, sizeof tracks);
  return start_check("long_check");
}

/* `count` hits: `good` ones from `first` on, and others of no particle. */
struct part {
  uint32_t first, count, good;
};

static void add_hits(struct hits *hits, struct part part) {
  const uint32_t foreign = 1000;
  const uint32_t from = hits->offsets[tracks.track_count];
  for (uint32_t i = 0; i < part.count; i++) hits->id[from + i] = part.first + i + (i < part.good ? 0 : foreign);
  hits->offsets[tracks.track_count + 1] = from + part.count;
}

static void add_track(float qop, struct part velo, struct part ut, struct part scifi) {
  add_hits(&tracks.velo, velo);
  add_hits(&tracks.ut, ut);
  add_hits(&tracks.scifi, scifi);
  tracks.track[tracks.track_count] = tracks.track_count - tracks.offsets[tracks.event_count];
  tracks.qop[tracks.track_count] = qop;
  tracks.tx[tracks.track_count++] = 0.1f;
}
#define PART(...) ((struct part){__VA_ARGS__})
#define NONE      PART(0, 0, 0)

/* Sets the fit of the last track, for run_with_fits. */
static void set_fit(float qop, float variance, float chi2, uint32_t ndof) {
  const uint32_t i = tracks.track_count - 1;
  tracks.fitted_qop[i] = qop;
  tracks.c44[i] = variance;
  tracks.chi2[i] = chi2;
  tracks.ndof[i] = ndof;
}

static void end_tracks(void) { tracks.offsets[++tracks.event_count] = tracks.track_count; }

static void set_hits(const char *port, const struct hits *hits) {
  sl_test_input(test, port, "offsets", tracks.offsets, tracks.event_count + 1);
  sl_test_input(test, port, "hit_offsets", hits->offsets, tracks.track_count + 1);
  sl_test_input(test, port, "hit_id", hits->id, hits->offsets[tracks.track_count]);
}

static const char *run(int with_ut) {
  const uint32_t events = tracks.event_count, count = tracks.track_count;
  assert_int_equal(banks->event_count, events);
  sl_test_events(test, events);
  set_hits("tracks", &tracks.scifi);
  sl_test_input(test, "tracks", "velo_track", tracks.track, count);
  sl_test_input(test, "tracks", "ut_track", tracks.track, count);
  sl_test_input(test, "tracks", "qop", tracks.qop, count);
  set_hits("velo_tracks", &tracks.velo);
  sl_test_input(test, "end_states", "offsets", tracks.offsets, events + 1);
  sl_test_input(test, "end_states", "tx", tracks.tx, count);
  sl_test_input(test, "end_states", "ty", tracks.ty, count);
  if (with_ut) set_hits("ut_tracks", &tracks.ut);
  set_banks("mc_particles");
  assert_int_equal(sl_test_run(test), 0);
  return sl_test_report(test);
}

enum { STATES = 1, FITS = 2 };
static const char *run_with(int connected) {
  const uint32_t count = tracks.track_count;
  if (connected & STATES) {
    sl_test_input(test, "states", "qop", tracks.fitted_qop, count);
    sl_test_input(test, "states", "chi2", tracks.chi2, count);
    sl_test_input(test, "states", "ndof", tracks.ndof, count);
  }
  if (connected & FITS) sl_test_input(test, "fits", "c44", tracks.c44, count);
  return run(0);
}

#define TEN(of) \
  { of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7), of(8), of(9) }
#define A_VELO(n)  VELO(n)
#define A_SCIFI(n) SCIFI(n)
#define B_VELO(n)  VELO(20 + (n))
#define C_SCIFI(n) SCIFI(40 + (n))
#define D_SCIFI(n) SCIFI(60 + (n))
/* A: 12 GeV, in all detectors. B: 4 GeV, in the VELO only, the mother of C, which is in the SciFi only. D: an
 * electron with another mother, in UT and SciFi. */
static const struct true_particle particles[] = {{.key = 1,
                                                  .pdg = 211,
                                                  .p = 12000,
                                                  .eta = 3,
                                                  .flags = {[HAS_VELO] = 1, [HAS_UT] = 1, [HAS_SCIFI] = 1, [LONG] = 1},
                                                  .hit_count = 10,
                                                  .hits = TEN(A_VELO),
                                                  .ut_count = 4,
                                                  .ut_hits = {UT(0), UT(1), UT(2), UT(3)},
                                                  .scifi_count = 10,
                                                  .scifi_hits = TEN(A_SCIFI)},
                                                 {.key = 2,
                                                  .pdg = 211,
                                                  .p = 4000,
                                                  .eta = 3,
                                                  .flags = {[HAS_VELO] = 1, [LONG] = 1},
                                                  .hit_count = 10,
                                                  .hits = TEN(B_VELO)},
                                                 {.key = 3,
                                                  .pdg = -13,
                                                  .p = 3500,
                                                  .eta = 3,
                                                  .mother = 2,
                                                  .flags = {[HAS_SCIFI] = 1, [LONG] = 1, [STRANGE] = 1},
                                                  .scifi_count = 10,
                                                  .scifi_hits = TEN(C_SCIFI)},
                                                 {.key = 4,
                                                  .pdg = 11,
                                                  .p = 3500,
                                                  .eta = 3,
                                                  .mother = 9,
                                                  .flags = {[HAS_UT] = 1, [HAS_SCIFI] = 1},
                                                  .ut_count = 4,
                                                  .ut_hits = {UT(10), UT(11), UT(12), UT(13)},
                                                  .scifi_count = 10,
                                                  .scifi_hits = TEN(D_SCIFI)}};
enum { A = 1, ALL = 4 };

static void tracks_need_most_hits_in_velo_and_scifi(void **state) {
  (void)state;
  add_event(banks, particles, A);
  add_track(1e-4f, PART(VELO(0), 10, 10), PART(UT(0), 4, 4), PART(SCIFI(0), 10, 10));
  add_track(1e-4f, PART(VELO(0), 10, 7), PART(UT(0), 4, 4), PART(SCIFI(0), 10, 7));  /* a clone, at the limit */
  add_track(1e-4f, PART(VELO(0), 10, 10), PART(UT(0), 4, 4), PART(SCIFI(0), 10, 6)); /* ghost */
  add_track(1e-2f, PART(VELO(0), 10, 6), PART(UT(0), 4, 4), PART(SCIFI(0), 10, 10)); /* ghost of 100 MeV */
  end_tracks();
  add_event(banks, particles, A); /* found in the other event only */
  end_tracks();
  const char *report = run(1);
  assert_int_equal(number_in(report, "tracks"), 4);
  assert_int_equal(number_in(report, "ghosts"), 2);
  assert_float_equal(number_in(report, "ghost_rate"), 0.5, 1e-9);
  assert_int_equal(number_in(report, "fast_tracks"), 3);
  assert_int_equal(number_in(report, "fast_ghosts"), 1);
  assert_int_equal(number_in(report, "hits"), 40);
  assert_int_equal(number_in(report, "hits_in_truth"), 33);
  assert_category(report, "long", 1, 2, 1);
  const char *long_tracks = named(strstr(report, "\"categories\""), "long");
  assert_float_equal(number_in(long_tracks, "purity"), (1 + 0.7) / 2, 1e-9);
  assert_float_equal(number_in(long_tracks, "hit_efficiency"), (1 + 0.7) / 2, 1e-9);
}

static void few_hits_are_no_requirement(void **state) {
  (void)state;
  add_event(banks, particles, A);
  add_track(1e-4f, PART(VELO(0), 10, 10), PART(UT(0), 4, 4), PART(SCIFI(0), 2, 0));
  add_track(1e-4f, PART(VELO(0), 2, 0), PART(UT(0), 4, 4), PART(SCIFI(0), 10, 10));
  add_track(1e-4f, PART(VELO(0), 3, 0), PART(UT(0), 4, 4), PART(SCIFI(0), 10, 10)); /* ghost */
  end_tracks();
  const char *report = run(1);
  assert_int_equal(number_in(report, "ghosts"), 1);
  assert_category(report, "long", 1, 1, 1);
}

/* UT hits matter only for tracks with few hits in the VELO or the SciFi. */
static void ut_hits_matter_if_velo_and_scifi_hits_do_not(void **state) {
  (void)state;
  add_event(banks, particles, A);
  add_track(1e-4f, PART(VELO(0), 10, 10), PART(UT(0), 4, 0), PART(SCIFI(0), 10, 10));
  add_track(1e-4f, PART(VELO(0), 10, 10), PART(UT(0), 4, 3), PART(SCIFI(0), 2, 2));
  add_track(1e-4f, PART(VELO(0), 10, 10), PART(UT(0), 4, 2), PART(SCIFI(0), 2, 2)); /* ghost */
  add_track(1e-4f, PART(VELO(0), 2, 2), PART(UT(0), 4, 2), PART(SCIFI(0), 10, 10)); /* ghost */
  end_tracks();
  const char *report = run(1);
  assert_int_equal(number_in(report, "ghosts"), 2);
  assert_category(report, "long", 1, 1, 1);
}

/* UT hits are ignored if ut_tracks is not connected. */
static void without_ut_tracks_ut_hits_are_ignored(void **state) {
  (void)state;
  add_event(banks, particles, A);
  add_track(1e-4f, PART(VELO(0), 10, 10), PART(UT(0), 4, 2), PART(SCIFI(0), 2, 2));
  end_tracks();
  assert_int_equal(number_in(run(0), "ghosts"), 0);
}

static void a_track_may_continue_as_the_daughter(void **state) {
  (void)state;
  add_event(banks, particles, ALL);
  add_track(1e-4f, PART(B_VELO(0), 10, 10), NONE, PART(C_SCIFI(0), 10, 10)); /* matches B and C */
  add_track(1e-4f, PART(B_VELO(0), 10, 10), NONE, PART(D_SCIFI(0), 10, 10)); /* ghost: D is not B's daughter */
  add_track(1e-4f, PART(A_VELO(0), 10, 10), NONE, PART(C_SCIFI(0), 10, 10)); /* ghost: A is not C's mother */
  add_track(1e-4f, PART(B_VELO(0), 10, 7), NONE, PART(C_SCIFI(0), 10, 6));   /* ghost */
  end_tracks();
  const char *report = run(1);
  assert_int_equal(number_in(report, "ghosts"), 3);
  assert_category(report, "long", 2, 3, 0);
  assert_category(report, "long from strange", 1, 1, 0);
  assert_category(report, "long, p > 5 GeV", 0, 1, 0);
  const char *strange = named(strstr(report, "\"categories\""), "long from strange");
  assert_float_equal(number_in(strange, "purity"), 1, 1e-9);
  const char *every = named(strstr(report, "\"categories\""), "long"); /* B has no hits in the SciFi */
  assert_float_equal(number_in(every, "purity"), 0.5, 1e-9);
}

/* Two SciFi hits are too few for a requirement, so that B matches; C, without a VELO hit, does not. */
static void short_tracks_match_a_single_particle(void **state) {
  (void)state;
  add_event(banks, particles, ALL);
  add_track(1e-4f, PART(B_VELO(0), 10, 10), NONE, PART(C_SCIFI(0), 2, 2));
  end_tracks();
  const char *report = run(1);
  assert_category(report, "long", 1, 3, 0);
  assert_category(report, "long from strange", 0, 1, 0);
}

static void categories_are_by_momentum_and_kind(void **state) {
  (void)state;
  add_event(banks, particles, ALL);
  add_track(1e-4f, PART(VELO(0), 10, 10), NONE, PART(SCIFI(0), 10, 10));
  add_track(1e-4f, PART(VELO(0), 2, 0), PART(UT(10), 4, 4), PART(D_SCIFI(0), 10, 10));
  end_tracks();
  const char *report = run(1);
  assert_category(report, "long", 1, 3, 0);
  assert_category(report, "long, p > 3 GeV", 1, 3, 0);
  assert_category(report, "long, p > 3 GeV, pt > 0.5 GeV", 1, 1, 0); /* pt is p / 10 */
  assert_category(report, "long, p > 5 GeV, pt > 1 GeV", 1, 1, 0);
  assert_category(report, "long, pt > 2 GeV", 0, 0, 0);
  assert_category(report, "long electrons", 0, 0, 0);
  assert_category(report, "electrons in UT, SciFi, not VELO", 1, 1, 0);
}

/* The true charge is 1. B has no UT hits and is not counted. */
static void momenta_are_those_of_particles_in_all_detectors(void **state) {
  (void)state;
  add_event(banks, particles, ALL);
  add_track(1.25f / 12000, PART(VELO(0), 10, 10), NONE, PART(SCIFI(0), 10, 10));
  add_track(1.25f / 12000, PART(VELO(0), 10, 10), NONE, PART(SCIFI(0), 10, 10));
  add_track(-1.0f / 12000, PART(VELO(0), 10, 10), NONE, PART(SCIFI(0), 10, 10));
  add_track(1e-3f, PART(B_VELO(0), 10, 10), NONE, PART(C_SCIFI(0), 10, 10));
  end_tracks();
  const char *momentum = strstr(run(1), "\"momentum\"");
  const char *bin = named(momentum, "10 to 20 GeV"), *all = named(momentum, "all");
  assert_int_equal(number_in(bin, "tracks"), 3);
  assert_float_equal(number_in(bin, "mean"), (0.25 + 0.25 - 2) / 3, 1e-6);
  assert_float_equal(number_in(bin, "median"), 0.25, 1e-3);
  assert_float_equal(number_in(bin, "p_median"), -0.2, 1e-3);
  assert_float_equal(number_in(bin, "right_charge"), 2.0 / 3, 1e-6);
  assert_int_equal(number_in(all, "tracks"), 3);
  assert_int_equal(number_in(named(momentum, "3 to 5 GeV"), "tracks"), 0);
}

/* ---------------------------------------------------------------------------------------------------------- fits */

/* Adds a track of A with a fitted q/p that is off by `pull` times its error; the error is 1 % of q/p. */
static void add_pull(float pull, float charge) {
  const float qop = charge * (1 + 0.01f * pull) / 12000, error = 0.01f / 12000;
  add_track(1, PART(VELO(0), 10, 10), NONE, PART(SCIFI(0), 10, 10));
  set_fit(qop, error * error, 0, 0);
}

/* A cell of the histogram of pulls is 0.02 wide. */
static void pulls_are_deviations_over_errors(void **state) {
  (void)state;
  add_event(banks, particles, A);
  add_pull(-1, 1);
  add_pull(0.5f, 1);
  add_pull(2, 1);
  end_tracks();
  const char *momentum = strstr(run_with(STATES | FITS), "\"momentum\"");
  const char *const names[] = {"10 to 20 GeV", "all"};
  for (int i = 0; i < 2; i++) {
    const char *bin = named(momentum, names[i]);
    assert_float_equal(number_in(bin, "pull_median"), 0.5, 0.02);
    assert_float_equal(number_in(bin, "pull_width"), 1.5, 0.02); /* nearly half of the range of three values */
    assert_float_equal(number_in(bin, "pull_median_error"), 1.253314f * 1.5f / sqrtf(3), 0.02);
    assert_float_equal(number_in(bin, "pull_width_error"), 0.961747f * 1.5f / sqrtf(3), 0.02);
    assert_float_equal(number_in(bin, "median"), 0.005, 1e-3);
    assert_float_equal(number_in(bin, "median_error"), 1.253314f * 0.015f / sqrtf(3), 1e-3);
    assert_float_equal(number_in(bin, "width_error"), 0.961747f * 0.015f / sqrtf(3), 1e-3);
    assert_float_equal(number_in(bin, "p_median_error"), 1.253314f * 0.015f / sqrtf(3), 1e-3);
    assert_float_equal(number_in(bin, "p_width_error"), 0.961747f * 0.015f / sqrtf(3), 1e-3);
  }
  assert_float_equal(number_in(named(momentum, "3 to 5 GeV"), "pull_width"), 0, 0);
  assert_float_equal(number_in(named(momentum, "3 to 5 GeV"), "pull_width_error"), 0, 0);
}

/* A pull is positive if the momentum is too low, for both charges. */
static void pulls_have_the_sign_of_the_charge(void **state) {
  (void)state;
  struct true_particle negative = particles[0];
  negative.charge = -1;
  add_event(banks, &negative, 1);
  add_pull(3, -1);
  end_tracks();
  const char *bin = named(strstr(run_with(STATES | FITS), "\"momentum\""), "all");
  assert_float_equal(number_in(bin, "pull_median"), 3, 0.02);
  assert_float_equal(number_in(bin, "median"), 0.03, 1e-3);
  assert_float_equal(number_in(bin, "right_charge"), 1, 0);
}

static void without_fits_there_are_no_pulls(void **state) {
  (void)state;
  add_event(banks, particles, A);
  add_pull(0.5f, 1);
  end_tracks();
  const char *report = run_with(STATES);
  assert_null(strstr(report, "pull"));
  assert_null(strstr(sl_test_messages(test), "pull"));
  assert_float_equal(number_in(named(report, "10 to 20 GeV"), "median"), 0.005, 1e-3); /* q/p of the states */
}

static void without_states_the_momenta_are_those_of_the_tracks(void **state) {
  (void)state;
  add_event(banks, particles, A);
  add_track(1.25f / 12000, PART(VELO(0), 10, 10), NONE, PART(SCIFI(0), 10, 10));
  set_fit(1.0f / 12000, 1, 5, 5);
  end_tracks();
  const char *report = run_with(0);
  assert_float_equal(number_in(named(report, "10 to 20 GeV"), "median"), 0.25, 1e-3);
  assert_null(strstr(report, "pull"));
  assert_null(strstr(report, "chi2"));
}

/* Such a track still counts among the momenta. */
static void pulls_without_a_positive_variance_are_ignored(void **state) {
  (void)state;
  static const float variances[] = {0, -1e-12f, NAN};
  add_event(banks, particles, A);
  add_pull(1, 1);
  for (int i = 0; i < 3; i++) {
    add_pull(1, 1);
    set_fit(1.01f / 12000, variances[i], 0, 0);
  }
  end_tracks();
  const char *bin = named(run_with(STATES | FITS), "10 to 20 GeV");
  assert_int_equal(number_in(bin, "tracks"), 4);
  assert_float_equal(number_in(bin, "pull_median"), 1, 0.02);
  assert_non_null(strstr(sl_test_messages(test), "the pull of q/p: 3 values that are not numbers were ignored"));
}

static void without_a_fit_of_a_track_there_are_no_pulls(void **state) {
  (void)state;
  add_event(banks, particles, A);
  add_pull(1, 1);
  set_fit(1.01f / 12000, 0, 0, 0);
  end_tracks();
  assert_null(strstr(run_with(STATES | FITS), "\"pull"));
  assert_non_null(strstr(sl_test_messages(test), "the pull of q/p: 1 values that are not numbers were ignored"));
}

static void chi2_is_by_how_many_hits_are_right(void **state) {
  (void)state;
  add_event(banks, particles, A);
  add_track(1, PART(VELO(0), 10, 10), NONE, PART(SCIFI(0), 10, 10));
  set_fit(1e-4f, 0, 30, 30);
  add_track(1, PART(VELO(0), 10, 9), NONE, PART(SCIFI(0), 10, 10));
  set_fit(1e-4f, 0, 60, 30);
  add_track(1, PART(VELO(0), 10, 10), NONE, PART(SCIFI(0), 10, 9));
  set_fit(1e-4f, 0, 60, 30);
  add_track(1, PART(VELO(0), 10, 10), NONE, PART(SCIFI(0), 10, 5));
  set_fit(1e-4f, 0, 240, 30);
  add_track(1, PART(VELO(0), 10, 10), NONE, PART(SCIFI(0), 10, 10));
  set_fit(1e-4f, 0, 1e6f, 0); /* no fit */
  end_tracks();
  const char *chi2 = strstr(run_with(STATES), "\"chi2\"");
  const char *right = named(chi2, "all hits right"), *wrong = named(chi2, "some hits wrong");
  const char *ghosts = named(chi2, "ghosts");
  assert_int_equal(number_in(right, "tracks"), 1);
  assert_float_equal(number_in(right, "chi2_ndof_median"), 1, 0.05); /* a cell is 0.05 wide */
  assert_float_equal(number_in(right, "improbable"), 0, 0);
  assert_int_equal(number_in(wrong, "tracks"), 2);
  assert_float_equal(number_in(wrong, "chi2_ndof_median"), 2, 0.05);
  assert_float_equal(number_in(wrong, "improbable"), 1, 0);
  assert_int_equal(number_in(ghosts, "tracks"), 1);
  assert_float_equal(number_in(ghosts, "chi2_ndof_median"), 8, 0.05);
  assert_float_equal(number_in(ghosts, "improbable"), 1, 0);
}

/* UT hits count if ut_tracks is connected: a wrong one makes a track wrong. */
static void a_wrong_ut_hit_makes_a_track_wrong(void **state) {
  (void)state;
  add_event(banks, particles, A);
  add_track(1, PART(VELO(0), 10, 10), PART(UT(0), 4, 3), PART(SCIFI(0), 10, 10));
  set_fit(1e-4f, 0, 30, 30);
  end_tracks();
  const char *without = strstr(run_with(STATES), "\"chi2\"");
  assert_null(strstr(without, "some hits wrong"));
  assert_int_equal(number_in(named(without, "all hits right"), "tracks"), 1);
  const char *with = strstr(run(1), "\"chi2\"");
  assert_int_equal(number_in(named(with, "some hits wrong"), "tracks"), 1);
}

/* Critical values of chi2 for a probability of 0.01, from tables; for two degrees of freedom 2 ln 100. */
static void a_chi2_is_improbable_above_its_critical_value(void **state) {
  (void)state;
  static const struct {
    uint32_t ndof;
    float critical;
  } table[] = {{1, 6.634897f}, {2, 9.210340f}, {3, 11.344867f}, {10, 23.209251f}, {30, 50.892181f}, {63, 92.010024f}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    for (int above = 0; above < 2; above++) {
      memset(&tracks, 0, sizeof tracks);
      memset(banks, 0, sizeof *banks);
      sl_test_free(test);
      test = sl_test_new("plugins/truth.cpu.so", "long_check");
      add_event(banks, particles, A);
      add_track(1, PART(VELO(0), 10, 10), NONE, PART(SCIFI(0), 10, 10));
      set_fit(1e-4f, 0, table[i].critical * (above ? 1.0001f : 0.9999f), table[i].ndof);
      end_tracks();
      const double improbable = number_in(named(run_with(STATES), "all hits right"), "improbable");
      if (improbable != above)
        fail_msg("%u degrees of freedom, chi2 %s %g: %g", table[i].ndof, above ? "above" : "below",
                 (double)table[i].critical, improbable);
    }
  }
}

static void a_chi2_of_any_size_is_improbable(void **state) {
  (void)state;
  static const struct {
    float chi2;
    uint32_t ndof;
  } fits[] = {{1000, 5}, {1290, 30}, {1500, 63}, {1395, 300}, {1e30f, 30}, {INFINITY, 30}};
  add_event(banks, particles, A);
  for (size_t i = 0; i < sizeof fits / sizeof fits[0]; i++) {
    add_track(1, PART(VELO(0), 10, 10), NONE, PART(SCIFI(0), 10, 10));
    set_fit(1e-4f, 0, fits[i].chi2, fits[i].ndof);
  }
  end_tracks();
  const char *right = named(run_with(STATES), "all hits right");
  assert_int_equal(number_in(right, "tracks"), 6);
  assert_float_equal(number_in(right, "improbable"), 1, 0);
}

static void a_chi2_of_0_is_probable(void **state) {
  (void)state;
  add_event(banks, particles, A);
  for (uint32_t ndof = 1; ndof <= 6; ndof++) {
    add_track(1, PART(VELO(0), 10, 10), NONE, PART(SCIFI(0), 10, 10));
    set_fit(1e-4f, 0, 0, ndof);
  }
  end_tracks();
  const char *right = named(run_with(STATES), "all hits right");
  assert_int_equal(number_in(right, "tracks"), 6);
  assert_float_equal(number_in(right, "improbable"), 0, 0);
}

static void a_chi2_that_is_no_number_is_improbable_and_reported(void **state) {
  (void)state;
  add_event(banks, particles, A);
  add_track(1, PART(VELO(0), 10, 10), NONE, PART(SCIFI(0), 10, 10));
  set_fit(1e-4f, 0, NAN, 30);
  end_tracks();
  assert_float_equal(number_in(named(run_with(STATES), "all hits right"), "improbable"), 1, 0);
  assert_non_null(strstr(sl_test_messages(test), "chi2 / ndof: 1 values that are not numbers were ignored"));
}

/* --------------------------------------------------------------------------------------------------------- damage */

static void truth_without_the_scifi_gives_no_ghost_rate(void **state) {
  (void)state;
  add_event(banks, particles + 1, 1);
  add_track(1e-4f, PART(B_VELO(0), 10, 10), NONE, PART(C_SCIFI(0), 10, 10));
  end_tracks();
  const char *rate = value_in(run(1), "ghost_rate");
  assert_int_equal(strncmp(rate + strspn(rate, " "), "null", 4), 0);
  assert_non_null(strstr(sl_test_messages(test), "no SciFi hit id of the tracks is in the truth"));
}

static void duplicate_hits_of_a_track_are_reported(void **state) {
  (void)state;
  add_event(banks, particles, A);
  add_track(1e-4f, PART(VELO(0), 10, 10), NONE, PART(SCIFI(0), 10, 10));
  tracks.scifi.id[9] = tracks.scifi.id[2];
  end_tracks();
  assert_int_equal(number_in(run(1), "tracks_with_duplicate_hits"), 1);
  assert_non_null(strstr(sl_test_messages(test), "1 track contains a SciFi hit twice"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop_check)
  const struct CMUnitTest tests[] = {
      TEST(tracks_need_most_hits_in_velo_and_scifi),
      TEST(few_hits_are_no_requirement),
      TEST(ut_hits_matter_if_velo_and_scifi_hits_do_not),
      TEST(without_ut_tracks_ut_hits_are_ignored),
      TEST(a_track_may_continue_as_the_daughter),
      TEST(short_tracks_match_a_single_particle),
      TEST(categories_are_by_momentum_and_kind),
      TEST(momenta_are_those_of_particles_in_all_detectors),
      TEST(truth_without_the_scifi_gives_no_ghost_rate),
      TEST(duplicate_hits_of_a_track_are_reported),
      TEST(pulls_are_deviations_over_errors),
      TEST(pulls_have_the_sign_of_the_charge),
      TEST(without_fits_there_are_no_pulls),
      TEST(without_states_the_momenta_are_those_of_the_tracks),
      TEST(pulls_without_a_positive_variance_are_ignored),
      TEST(without_a_fit_of_a_track_there_are_no_pulls),
      TEST(chi2_is_by_how_many_hits_are_right),
      TEST(a_wrong_ut_hit_makes_a_track_wrong),
      TEST(a_chi2_is_improbable_above_its_critical_value),
      TEST(a_chi2_of_any_size_is_improbable),
      TEST(a_chi2_of_0_is_probable),
      TEST(a_chi2_that_is_no_number_is_improbable_and_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
