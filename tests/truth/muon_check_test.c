/* muon_check_test.c: counts and report of truth.muon_check for hand-made particles, tracks and flags. */
#include "check_case.h"
#include "forward/event_model.h"
#include "velo/event_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TRACKS_MAX = 16, TRACK_HITS = 10 };
#define VELO(particle)  (0x10000000u + 100 * (particle))
#define SCIFI(particle) (0x50000000u + 100 * (particle))

/* Tracks of all events, each with its own VELO track, with TRACK_HITS hits in both detectors. */
static struct {
  uint32_t offsets[WRITER_EVENTS + 1], event_count, count;
  uint32_t track[TRACKS_MAX], ut_track[TRACKS_MAX], hit_offsets[TRACKS_MAX + 1];
  uint32_t velo_id[TRACK_HITS * TRACKS_MAX], scifi_id[TRACK_HITS * TRACKS_MAX];
  float qop[TRACKS_MAX];
  uint8_t is_muon[TRACKS_MAX];
  float score[TRACKS_MAX], chi2[TRACKS_MAX];
  uint32_t has_scores;
} tracks;

static int start(void **state) {
  (void)state;
  memset(&tracks, 0, sizeof tracks);
  return start_check("muon_check");
}

/* Adds a track with the VELO hits of one particle and the SciFi hits of another. */
static void add_track(uint32_t velo, uint32_t scifi, float p, uint8_t is_muon) {
  const uint32_t i = tracks.count++;
  for (uint32_t k = 0; k < TRACK_HITS; k++) {
    tracks.velo_id[TRACK_HITS * i + k] = VELO(velo) + k;
    tracks.scifi_id[TRACK_HITS * i + k] = SCIFI(scifi) + k;
  }
  tracks.track[i] = i - tracks.offsets[tracks.event_count];
  tracks.ut_track[i] = FORWARD_NO_TRACK;
  tracks.hit_offsets[i + 1] = TRACK_HITS * (i + 1);
  tracks.qop[i] = (i % 2 ? 1.0f : -1.0f) / p;
  tracks.is_muon[i] = is_muon;
}

/* Sets the score and the log10 of chi2 of the last track, and connects scores. */
static void set_score(float score, float chi2) {
  tracks.score[tracks.count - 1] = score;
  tracks.chi2[tracks.count - 1] = chi2;
  tracks.has_scores = 1;
}

static void end_tracks(void) { tracks.offsets[++tracks.event_count] = tracks.count; }

static const char *run(void) {
  sl_test_events(test, tracks.event_count);
  sl_test_input(test, "tracks", "offsets", tracks.offsets, tracks.event_count + 1);
  sl_test_input(test, "tracks", "hit_offsets", tracks.hit_offsets, tracks.count + 1);
  sl_test_input(test, "tracks", "hit_id", tracks.scifi_id, TRACK_HITS * tracks.count);
  sl_test_input(test, "tracks", "velo_track", tracks.track, tracks.count);
  sl_test_input(test, "tracks", "ut_track", tracks.ut_track, tracks.count);
  sl_test_input(test, "tracks", "qop", tracks.qop, tracks.count);
  sl_test_input(test, "flags", "is_muon", tracks.is_muon, tracks.count);
  if (tracks.has_scores) {
    sl_test_input(test, "scores", "score", tracks.score, tracks.count);
    sl_test_input(test, "scores", "chi2_correlated", tracks.chi2, tracks.count);
  }
  sl_test_input(test, "velo_tracks", "offsets", tracks.offsets, tracks.event_count + 1);
  sl_test_input(test, "velo_tracks", "hit_offsets", tracks.hit_offsets, tracks.count + 1);
  sl_test_input(test, "velo_tracks", "hit_id", tracks.velo_id, TRACK_HITS * tracks.count);
  set_banks("mc_particles");
  assert_int_equal(sl_test_run(test), 0);
  return sl_test_report(test);
}

static void fill(struct true_particle *particle, uint32_t key, int32_t pdg, float p) {
  *particle = (struct true_particle){
      .key = key,
      .pdg = pdg,
      .p = p,
      .eta = 3,
  };
  particle->hit_count = particle->scifi_count = TRACK_HITS;
  for (uint32_t k = 0; k < TRACK_HITS; k++) {
    particle->hits[k] = VELO(key) + k;
    particle->scifi_hits[k] = SCIFI(key) + k;
  }
}

static void assert_bin(const char *report, const char *kind, const char *bin, uint32_t muons, uint32_t of) {
  const char *found = named(named(strstr(report, "\"kinds\""), kind), bin);
  assert_int_equal(number_in(found, "tracks"), of);
  assert_int_equal(number_in(found, "muons"), muons);
  if (of) assert_float_equal(number_in(found, "rate"), ((double)muons / of), 1e-6);
}

static void tracks_are_counted_by_kind_and_true_momentum(void **state) {
  static const struct {
    const char *kind;
    int32_t pdg;
  } kinds[] = {{"muons", -13}, {"pions", 211}, {"kaons", -321}, {"protons", 2212}, {"electrons", 11}, {"others", 3112}};
  enum { KINDS = sizeof kinds / sizeof kinds[0] };
  struct true_particle particles[2 * KINDS];
  (void)state;
  for (uint32_t k = 0; k < KINDS; k++) {
    fill(&particles[2 * k], 2 * k + 1, kinds[k].pdg, 5999);
    fill(&particles[2 * k + 1], 2 * k + 2, kinds[k].pdg, 2999);
    add_track(2 * k + 1, 2 * k + 1, 20000, k % 2 == 0);
    add_track(2 * k + 2, 2 * k + 2, 20000, 0);
  }
  add_event(banks, particles, 2 * KINDS);
  end_tracks();
  const char *report = run();
  assert_int_equal(number_in(report, "tracks"), 2 * KINDS);
  for (uint32_t k = 0; k < KINDS; k++) {
    assert_bin(report, kinds[k].kind, "3 to 6 GeV", k % 2 == 0, 1);
    assert_bin(report, kinds[k].kind, "p < 3 GeV", 0, 1);
    assert_bin(report, kinds[k].kind, "p > 3 GeV", k % 2 == 0, 1);
    assert_bin(report, kinds[k].kind, "6 to 10 GeV", 0, 0);
  }
  assert_bin(report, "ghosts", "p > 3 GeV", 0, 0);
}

/* INT32_MIN, from a damaged bank, has no positive counterpart. */
static void pdg_int32_min_is_of_no_kind(void **state) {
  struct true_particle particle;
  (void)state;
  fill(&particle, 1, INT32_MIN, 5000);
  add_event(banks, &particle, 1);
  add_track(1, 1, 5000, 0);
  end_tracks();
  assert_bin(run(), "others", "3 to 6 GeV", 0, 1);
}

static void ghosts_are_counted_by_their_own_momentum(void **state) {
  struct true_particle particles[2];
  (void)state;
  fill(&particles[0], 1, 211, 7000);
  fill(&particles[1], 2, -211, 7000);
  add_event(banks, particles, 2);
  add_track(1, 2, 12000, 1); /* two unrelated particles */
  add_track(1, 7, 1e6f, 0);  /* no particle */
  end_tracks();
  const char *report = run();
  assert_bin(report, "ghosts", "10 to 15 GeV", 1, 1);
  assert_bin(report, "ghosts", "p > 50 GeV", 0, 1);
  assert_bin(report, "ghosts", "p > 3 GeV", 1, 2);
  assert_bin(report, "pions", "6 to 10 GeV", 0, 0);
}

/* In either order in the truth. */
static void a_decay_in_flight_counts_as_the_first_particle(void **state) {
  (void)state;
  for (uint32_t turn = 0; turn < 2; turn++) {
    struct true_particle particles[2];
    struct true_particle *pion = &particles[turn], *muon = &particles[1 - turn];
    fill(pion, 1, 211, 16000);
    pion->scifi_count = 0;
    fill(muon, 2, -13, 9000);
    muon->hit_count = 0;
    muon->mother = 1;
    add_event(banks, particles, 2);
    add_track(1, 2, 9000, 1);
    end_tracks();
  }
  const char *report = run();
  assert_bin(report, "pions", "15 to 20 GeV", 2, 2);
  assert_bin(report, "muons", "p > 3 GeV", 0, 0);
  assert_bin(report, "ghosts", "p > 3 GeV", 0, 0);
}

static void hits_of_other_events_are_reported(void **state) {
  struct true_particle particle;
  (void)state;
  fill(&particle, 1, 13, 20000);
  add_event(banks, &particle, 1);
  add_track(5, 5, 20000, 1);
  end_tracks();
  run();
  assert_non_null(strstr(sl_test_messages(test), "no SciFi hit id of the tracks is in the truth"));
}

static void assert_accepted(const char *report, const char *kind, const char *bin, const char *requirement,
                            uint32_t accepted, uint32_t muons) {
  const char *found = named(named(named(strstr(report, "\"kinds\""), kind), bin), requirement);
  assert_int_equal(number_in(found, "accepted"), accepted);
  assert_float_equal(number_in(found, "share"), ((double)accepted / muons), 1e-6);
  assert_true(number_in(found, "error") > 0 && number_in(found, "error") < 1);
}

/* Tracks at the limits are accepted; tracks that are not identified as muons are not counted. */
static void requirements_on_scores_accept_identified_muons(void **state) {
  struct true_particle particles[6];
  (void)state;
  for (uint32_t i = 0; i < 6; i++) {
    fill(&particles[i], i + 1, i < 5 ? 13 : 211, 12000);
    add_track(i + 1, i + 1, 20000, i != 4);
    set_score((const float[]){0.9f, 0.75f, 0.74f, 0.1f, 1, 0.8f}[i], (const float[]){2, 1.5f, 1.51f, 3, -6, 9}[i]);
  }
  add_event(banks, particles, 6);
  end_tracks();
  sl_test_set(test, "min_score", 0.75);
  sl_test_set(test, "max_chi2_correlated", 1.5);
  const char *report = run();
  assert_bin(report, "muons", "10 to 15 GeV", 4, 5);
  assert_accepted(report, "muons", "10 to 15 GeV", "min_score", 2, 4);
  assert_accepted(report, "muons", "10 to 15 GeV", "max_chi2_correlated", 1, 4);
  assert_accepted(report, "muons", "p > 3 GeV", "min_score", 2, 4);
  assert_accepted(report, "pions", "10 to 15 GeV", "min_score", 1, 1);
  assert_accepted(report, "pions", "p > 3 GeV", "max_chi2_correlated", 0, 1);
}

static void without_scores_there_are_no_requirements(void **state) {
  struct true_particle particle;
  (void)state;
  fill(&particle, 1, 13, 20000);
  add_event(banks, &particle, 1);
  add_track(1, 1, 20000, 1);
  end_tracks();
  const char *report = run();
  assert_bin(report, "muons", "p > 3 GeV", 1, 1);
  assert_null(strstr(report, "min_score"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(tracks_are_counted_by_kind_and_true_momentum, start, stop_check),
      cmocka_unit_test_setup_teardown(pdg_int32_min_is_of_no_kind, start, stop_check),
      cmocka_unit_test_setup_teardown(ghosts_are_counted_by_their_own_momentum, start, stop_check),
      cmocka_unit_test_setup_teardown(a_decay_in_flight_counts_as_the_first_particle, start, stop_check),
      cmocka_unit_test_setup_teardown(requirements_on_scores_accept_identified_muons, start, stop_check),
      cmocka_unit_test_setup_teardown(without_scores_there_are_no_requirements, start, stop_check),
      cmocka_unit_test_setup_teardown(hits_of_other_events_are_reported, start, stop_check),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
