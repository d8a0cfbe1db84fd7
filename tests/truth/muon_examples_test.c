/* muon_examples_test.c: table of truth.muon_examples for hand-made tracks. */
#include "examples_case.h"
#include "forward/event_model.h"
#include "muon/event_model.h"
#include "scratch.h"

enum { EVENTS = 2, TRACKS = 6, TRACK_HITS = 10, HITS = MUON_STATIONS };
#define VELO(particle)  (0x10000000u + 100 * (particle))
#define SCIFI(particle) (0x50000000u + 100 * (particle))

static int start(void **state) {
  (void)state;
  return start_check("muon_examples");
}

/* A muon; a pion; a pion that decays to a muon. Hits of particle 9 are in no particle. */
static void give_truth(void) {
  static const int32_t pdgs[] = {-13, 211, -211, 13};
  struct true_particle particles[4];
  memset(particles, 0, sizeof particles);
  for (uint32_t i = 0; i < 4; i++) {
    struct true_particle *p = &particles[i];
    p->key = i + 1;
    p->pdg = pdgs[i];
    p->p = 12000;
    p->eta = 3;
    p->hit_count = i == 3 ? 0 : TRACK_HITS;
    p->scifi_count = i == 2 ? 0 : TRACK_HITS;
    for (uint32_t k = 0; k < TRACK_HITS; k++) {
      p->hits[k] = VELO(i + 1) + k;
      p->scifi_hits[k] = SCIFI(i + 1) + k;
    }
  }
  particles[3].mother = 3;
  particles[3].mother_pdg = pdgs[2];
  add_event(banks, particles, 4);
  end_event(banks); /* no banks */
}

/* Tracks, equal in both events: the muon; the pion; the pion, not identified as a muon; a ghost; the decay in flight;
 * the muon with a slope that is not a number. The VELO track of a long track has the same index. All are along the z
 * axis. */
static const uint32_t velo_particles[TRACKS] = {1, 2, 2, 9, 3, 1}, scifi_particles[TRACKS] = {1, 2, 2, 9, 4, 1};
static const float momenta[TRACKS] = {20000, 5000, 20000, 20000, 20000, 20000};
static const uint8_t flags[TRACKS] = {1, 1, 0, 1, 1, 1};
static const uint16_t four[MUON_STATIONS] = {0, 1, 2, 3}, two[MUON_STATIONS] = {0, 1, MUON_NO_HIT, MUON_NO_HIT};

static void give_tracks(void) {
  static const uint32_t offsets[] = {0, TRACKS, 2 * TRACKS};
  static const float zero[EVENTS * TRACKS];
  static uint32_t hit_offsets[EVENTS * TRACKS + 1], velo_ids[EVENTS * TRACKS * TRACK_HITS];
  static uint32_t scifi_ids[EVENTS * TRACKS * TRACK_HITS], velo_track[EVENTS * TRACKS], ut_track[EVENTS * TRACKS];
  static float qop[EVENTS * TRACKS], velo_ty[EVENTS * TRACKS];
  static uint8_t is_muon[EVENTS * TRACKS];
  static uint16_t links[EVENTS * TRACKS][MUON_STATIONS];
  for (uint32_t i = 0; i < EVENTS * TRACKS; i++) {
    const uint32_t track = i % TRACKS;
    hit_offsets[i + 1] = TRACK_HITS * (i + 1);
    for (uint32_t k = 0; k < TRACK_HITS; k++) {
      velo_ids[TRACK_HITS * i + k] = VELO(velo_particles[track]) + k;
      scifi_ids[TRACK_HITS * i + k] = SCIFI(scifi_particles[track]) + k;
    }
    velo_track[i] = track;
    ut_track[i] = FORWARD_NO_TRACK;
    qop[i] = -1 / momenta[track];
    velo_ty[i] = track == 5 ? NAN : 0.01f;
    is_muon[i] = flags[track];
    memcpy(links[i], track == 1 ? two : four, sizeof four);
  }
  sl_test_input(test, "tracks", "offsets", offsets, EVENTS + 1);
  sl_test_input(test, "tracks", "hit_offsets", hit_offsets, EVENTS * TRACKS + 1);
  sl_test_input(test, "tracks", "hit_id", scifi_ids, EVENTS * TRACKS * TRACK_HITS);
  sl_test_input(test, "tracks", "velo_track", velo_track, EVENTS * TRACKS);
  sl_test_input(test, "tracks", "ut_track", ut_track, EVENTS * TRACKS);
  sl_test_input(test, "tracks", "qop", qop, EVENTS * TRACKS);
  for (uint32_t k = 0; k < 4; k++)
    sl_test_input(test, "tracks", (const char *[]){"x", "y", "tx", "ty"}[k], zero, EVENTS * TRACKS);
  sl_test_input(test, "flags", "is_muon", is_muon, EVENTS * TRACKS);
  sl_test_input(test, "flags", "hits", links, EVENTS * TRACKS * MUON_STATIONS);
  sl_test_input(test, "velo_tracks", "offsets", offsets, EVENTS + 1);
  sl_test_input(test, "velo_tracks", "hit_offsets", hit_offsets, EVENTS * TRACKS + 1);
  sl_test_input(test, "velo_tracks", "hit_id", velo_ids, EVENTS * TRACKS * TRACK_HITS);
  sl_test_input(test, "end_states", "offsets", offsets, EVENTS + 1);
  sl_test_input(test, "end_states", "ty", velo_ty, EVENTS * TRACKS);
}

static void give_hits(void) {
  static const uint32_t offsets[] = {0, HITS, 2 * HITS};
  static const float x[] = {5, -7, 11, 20, 5, -7, 11, 20}, y[] = {3, 0, -8, 30, 3, 0, -8, 30};
  static const float z[] = {15200, 16400, 17600, 18800, 15200, 16400, 17600, 18800};
  static const float half_x[] = {10, 10, 10, 10, 10, 10, 10, 10}, half_y[] = {20, 20, 20, 20, 20, 20, 20, 20};
  sl_test_input(test, "hits", "offsets", offsets, EVENTS + 1);
  sl_test_input(test, "hits", "x", x, EVENTS * HITS);
  sl_test_input(test, "hits", "y", y, EVENTS * HITS);
  sl_test_input(test, "hits", "z", z, EVENTS * HITS);
  sl_test_input(test, "hits", "half_x", half_x, EVENTS * HITS);
  sl_test_input(test, "hits", "half_y", half_y, EVENTS * HITS);
}

/* Expected inputs were computed in double precision, with another program. */
static void identified_tracks_are_written_with_their_truth(void **state) {
  /* a muon, a pion, and a pion that decays to a muon */
  static const double rows[][7] = {{1, 20, 0.84687471, 1.40049482, -5.24952720, -5.10220249, -5.54251433},
                                   {0, 5, -0.40543253, 0.66039110, -4.60517019, -5.99146455, -4.38202663},
                                   {0, 20, 0.84687471, 1.40049482, -5.24952720, -5.10220249, -5.54251433}};
  char path[SCRATCH_PATH_MAX];
  (void)state;
  scratch_file(path);
  give_truth();
  sl_test_events(test, EVENTS);
  give_tracks();
  give_hits();
  set_banks("mc_particles");
  sl_test_set_text(test, "path", path);
  assert_int_equal(sl_test_run(test), 0);
  const char *report = sl_test_report(test);
  assert_int_equal(number_in(report, "examples"), 3);
  assert_int_equal(number_in(report, "is_muon"), 1);
  assert_int_equal(number_in(report, "events"), 1);
  assert_int_equal(number_in(report, "events_without_truth"), 1);
  assert_table(path, "is_muon,p,log_chi2_correlated,log_chi2_uncorrelated,log_dtx,log_dty,log_dty_velo\n", rows[0], 3,
               7, 1e-4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(identified_tracks_are_written_with_their_truth, start, stop_check),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
