/* ut_check_test.c: counts and report of truth.ut_check for hand-made particles, hits and tracks. */
#include "check_case.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TRACKS_MAX = 8, HITS_MAX = 64 };
#define UT(n) (0x30000000u + 100 + (n))

/* Tracks: a VELO track each, and UT hits. */
struct tracks {
  uint32_t offsets[WRITER_EVENTS + 1], velo_offsets[TRACKS_MAX + 1], velo_id[HITS_MAX], ut_offsets[TRACKS_MAX + 1],
      ut_id[HITS_MAX], velo_track[TRACKS_MAX];
  float qop[TRACKS_MAX], tx[TRACKS_MAX], ty[TRACKS_MAX];
  uint32_t event_count, track_count;
};
static struct tracks tracks;

/* Hits of the slice. */
static struct { uint32_t offsets[WRITER_EVENTS + 1], id[HITS_MAX], count; } hits;

static int start(void **state) {
  (void)state;
  memset(&tracks, 0, sizeof tracks);
  memset(&hits, 0, sizeof hits);
  return start_check("ut_check");
}

static void add_track(float qop, uint32_t velo_first, uint32_t velo_count, const uint32_t *ut, uint32_t ut_count) {
  const uint32_t i = tracks.track_count++, velo = tracks.velo_offsets[i], to = tracks.ut_offsets[i];
  for (uint32_t h = 0; h < velo_count; h++) tracks.velo_id[velo + h] = velo_first + h;
  for (uint32_t h = 0; h < ut_count; h++) tracks.ut_id[to + h] = ut[h];
  tracks.velo_offsets[i + 1] = velo + velo_count;
  tracks.ut_offsets[i + 1] = to + ut_count;
  tracks.velo_track[i] = i - tracks.offsets[tracks.event_count];
  tracks.qop[i] = qop;
  tracks.tx[i] = 0.1f;
}
#define TRACK(qop, velo_first, velo_count, ...)                     \
  add_track(qop, velo_first, velo_count, (uint32_t[]){__VA_ARGS__}, \
            sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void add_hits(uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) hits.id[hits.count++] = first + i;
}

static void end_tracks(void) {
  tracks.offsets[++tracks.event_count] = tracks.track_count;
  hits.offsets[tracks.event_count] = hits.count;
}

static const char *run(void) {
  const uint32_t events = tracks.event_count, count = tracks.track_count;
  assert_int_equal(banks->event_count, events);
  sl_test_events(test, events);
  sl_test_input(test, "hits", "offsets", hits.offsets, events + 1);
  sl_test_input(test, "hits", "id", hits.id, hits.count);
  sl_test_input(test, "tracks", "offsets", tracks.offsets, events + 1);
  sl_test_input(test, "tracks", "hit_offsets", tracks.ut_offsets, count + 1);
  sl_test_input(test, "tracks", "velo_track", tracks.velo_track, count);
  sl_test_input(test, "tracks", "qop", tracks.qop, count);
  sl_test_input(test, "tracks", "hit_id", tracks.ut_id, tracks.ut_offsets[count]);
  sl_test_input(test, "velo_tracks", "offsets", tracks.offsets, events + 1);
  sl_test_input(test, "velo_tracks", "hit_offsets", tracks.velo_offsets, count + 1);
  sl_test_input(test, "velo_tracks", "hit_id", tracks.velo_id, tracks.velo_offsets[count]);
  sl_test_input(test, "end_states", "offsets", tracks.offsets, events + 1);
  sl_test_input(test, "end_states", "tx", tracks.tx, count);
  sl_test_input(test, "end_states", "ty", tracks.ty, count);
  set_banks("mc_particles");
  assert_int_equal(sl_test_run(test), 0);
  return sl_test_report(test);
}

/* 12 GeV; and 0.5 GeV, not long. */
static const struct true_particle particles[] = {{.pdg = 211,
                                                  .p = 12000,
                                                  .eta = 3,
                                                  .flags = {[HAS_VELO] = 1, [HAS_UT] = 1, [LONG] = 1},
                                                  .hit_count = 4,
                                                  .hits = {1, 2, 3, 4},
                                                  .ut_count = 4,
                                                  .ut_hits = {UT(0), UT(1), UT(2), UT(3)}},
                                                 {.pdg = 211,
                                                  .p = 500,
                                                  .eta = 4,
                                                  .flags = {[HAS_VELO] = 1, [HAS_UT] = 1},
                                                  .hit_count = 4,
                                                  .hits = {11, 12, 13, 14},
                                                  .ut_count = 3,
                                                  .ut_hits = {UT(3), UT(10), UT(11)}}}; /* one is common to both */

static void hits_are_compared_by_event(void **state) {
  (void)state;
  add_event(banks, particles, 2);
  add_hits(UT(0), 4);
  add_hits(UT(10), 1); /* 11 is not found */
  add_hits(UT(20), 2); /* of no particle */
  add_hits(UT(0), 1);  /* duplicate */
  end_tracks();
  add_event(banks, particles + 1, 1);
  add_hits(UT(0), 2); /* true in the other event only */
  end_tracks();
  const char *report = run();
  assert_int_equal(number_in(report, "hits"), 10);
  assert_int_equal(number_in(report, "hits_in_truth"), 5);
  assert_int_equal(number_in(report, "duplicate_hits"), 1);
  assert_int_equal(number_in(report, "true_hits"), 6 + 3);
  assert_int_equal(number_in(report, "true_hits_found"), 5);
}

static void tracks_need_velo_hits_and_all_ut_hits_but_one(void **state) {
  (void)state;
  add_event(banks, particles, 2);
  add_hits(UT(0), 4);
  TRACK(1e-4f, 1, 4, UT(0), UT(1), UT(2), UT(3));
  TRACK(1e-4f, 1, 4, UT(0), UT(1), UT(2), UT(99));  /* a clone, with a foreign hit */
  TRACK(1e-4f, 1, 4, UT(0), UT(1), UT(98), UT(99)); /* ghost: two foreign hits */
  TRACK(1e-4f, 11, 4, UT(3), UT(10), UT(99));       /* the other particle: two of three */
  TRACK(1e-2f, 21, 4, UT(0), UT(1), UT(2), UT(3));  /* ghost: no VELO hits; 100 MeV */
  end_tracks();
  const char *report = run();
  assert_int_equal(number_in(report, "tracks"), 5);
  assert_int_equal(number_in(report, "ghosts"), 2);
  assert_int_equal(number_in(report, "fast_tracks"), 4);
  assert_int_equal(number_in(report, "fast_ghosts"), 1);
  assert_category(report, "velo", 2, 2, 1);
  assert_category(report, "velo and UT", 2, 2, 1);
  assert_category(report, "velo and UT, p > 5 GeV", 1, 1, 1);
  assert_category(report, "velo and UT, not long", 1, 1, 0);
  assert_category(report, "velo and UT, not long, p > 5 GeV", 0, 0, 0);
  assert_category(report, "long", 1, 1, 1);
  assert_category(report, "long, p > 3 GeV, pt > 0.5 GeV", 1, 1, 1);
  assert_category(report, "long, p > 5 GeV, pt > 1 GeV", 1, 1, 1); /* pt is p / 10 */
  assert_category(report, "long electrons", 0, 0, 0);
  const char *long_tracks = named(report, "long");
  assert_float_equal(number_in(long_tracks, "purity"), (1 + 0.75) / 2, 1e-9);
  assert_float_equal(number_in(long_tracks, "hit_efficiency"), (1 + 0.75) / 2, 1e-9);
}

/* The true charge is 1. */
static void momenta_are_those_of_long_particles(void **state) {
  (void)state;
  add_event(banks, particles, 2);
  add_hits(UT(0), 4);
  TRACK(1.1f / 12000, 1, 4, UT(0), UT(1), UT(2), UT(3));
  TRACK(-0.9f / 12000, 1, 4, UT(0), UT(1), UT(2), UT(3));
  TRACK(1e-3f, 11, 4, UT(3), UT(10), UT(11)); /* not long */
  end_tracks();
  const char *momentum = strstr(run(), "\"momentum\"");
  const char *bin = named(momentum, "10 to 20 GeV"), *all = named(momentum, "all");
  assert_int_equal(number_in(bin, "tracks"), 2);
  assert_float_equal(number_in(bin, "mean"), (0.1 - 1.9) / 2, 1e-6);
  assert_float_equal(number_in(bin, "right_charge"), 0.5, 1e-9);
  assert_int_equal(number_in(all, "tracks"), 2);
  assert_int_equal(number_in(named(momentum, "p < 3 GeV"), "tracks"), 0);
}

static void truth_without_the_ut_gives_no_ghost_rate(void **state) {
  (void)state;
  add_event(banks, particles, 1);
  add_hits(UT(50), 3);
  TRACK(1e-4f, 1, 4, UT(50), UT(51), UT(52));
  end_tracks();
  const char *rate = value_in(run(), "ghost_rate");
  assert_int_equal(strncmp(rate + strspn(rate, " "), "null", 4), 0);
  assert_non_null(strstr(sl_test_messages(test), "no id of the UT hits is in the truth"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop_check)
  const struct CMUnitTest tests[] = {
      TEST(hits_are_compared_by_event),
      TEST(tracks_need_velo_hits_and_all_ut_hits_but_one),
      TEST(momenta_are_those_of_long_particles),
      TEST(truth_without_the_ut_gives_no_ghost_rate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
