/* selection_check_test.c: counts and report of truth.selection_check for hand-made decays, tracks and lines.
 * A decay is a B0 to a kaon and a pion with keys 1 and 2; key 3 is another particle. Particle `key` has its own
 * hits, and the track of a key has the same hits. */
#include "check_case.h"
#include "forward/event_model.h"
#include "selections/event_model.h"
#include "sink_caller.h"
#include "velo/event_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TRACKS_MAX = 64, TRACK_HITS = 10, KAON = 1, PION = 2, OTHER = 3, LINES_MAX = 3, CANDIDATES_MAX = 32 };
enum { PASSED = LINE_PASSED | LINE_BEFORE_SCALE, MADE_BY = 77 };
#define VELO(particle)  (0x10000000u + 100 * (particle))
#define SCIFI(particle) (0x50000000u + 100 * (particle))

static struct {
  uint32_t offsets[WRITER_EVENTS + 1], event_count, count;
  uint32_t track[TRACKS_MAX], ut_track[TRACKS_MAX], hit_offsets[TRACKS_MAX + 1];
  uint32_t velo_id[TRACK_HITS * TRACKS_MAX], scifi_id[TRACK_HITS * TRACKS_MAX];
} tracks;

/* Lines on pairs, and their decisions; they share the candidates. */
static struct {
  const char *name;
  uint64_t made_by;
  uint8_t passed[WRITER_EVENTS], accepted[CANDIDATES_MAX];
} lines[LINES_MAX];
static struct {
  uint64_t made_by;
  uint32_t offsets[WRITER_EVENTS + 1], first[CANDIDATES_MAX], second[CANDIDATES_MAX], count;
} pairs;
static uint32_t line_count;

static int start(void **state) {
  (void)state;
  memset(&tracks, 0, sizeof tracks);
  memset(lines, 0, sizeof lines);
  memset(&pairs, 0, sizeof pairs);
  pairs.made_by = MADE_BY;
  line_count = 0;
  return start_check("selection_check");
}

static void add_line(const char *name) {
  lines[line_count].name = name;
  lines[line_count++].made_by = MADE_BY;
}

static void add_track(uint32_t key) {
  const uint32_t i = tracks.count++;
  for (uint32_t k = 0; k < TRACK_HITS; k++) {
    tracks.velo_id[TRACK_HITS * i + k] = VELO(key) + k;
    tracks.scifi_id[TRACK_HITS * i + k] = SCIFI(key) + k;
  }
  tracks.track[i] = i - tracks.offsets[tracks.event_count];
  tracks.ut_track[i] = FORWARD_NO_TRACK;
  tracks.hit_offsets[i + 1] = TRACK_HITS * (i + 1);
}

/* Adds a pair of tracks by index in the event; bits of the lines that accept it. */
static void add_pair(uint32_t first, uint32_t second, uint32_t accepted_by) {
  const uint32_t i = pairs.count++;
  pairs.first[i] = first;
  pairs.second[i] = second;
  for (uint32_t k = 0; k < LINES_MAX; k++) lines[k].accepted[i] = accepted_by >> k & 1;
}

static void end_tracks(void) {
  tracks.offsets[++tracks.event_count] = tracks.count;
  pairs.offsets[tracks.event_count] = pairs.count;
}

static struct true_particle particle(uint32_t key, int32_t pdg, int32_t mother_pdg) {
  struct true_particle p = {.key = key, .pdg = pdg, .mother_pdg = mother_pdg, .mother = 99, .p = 20000, .eta = 3};
  p.flags[LONG] = p.flags[HAS_VELO] = p.flags[HAS_SCIFI] = 1;
  p.flags[SIGNAL] = mother_pdg == 511;
  p.hit_count = p.scifi_count = TRACK_HITS;
  for (uint32_t k = 0; k < TRACK_HITS; k++) {
    p.hits[k] = VELO(key) + k;
    p.scifi_hits[k] = SCIFI(key) + k;
  }
  return p;
}

static struct true_particle *a_decay(void) {
  static struct true_particle all[OTHER + 1];
  all[0] = particle(KAON, 321, 511);
  all[1] = particle(PION, -211, 511);
  all[2] = particle(OTHER, 211, 2212);
  return all;
}

/* Adds an event with tracks of both daughters and the other particle, in this order. */
static void add_found_decay(void) {
  add_event(banks, a_decay(), 3);
  add_track(KAON);
  add_track(PION);
  add_track(OTHER);
}

static void set_line(uint32_t k, const uint32_t *offsets, uint32_t candidate_count) {
  sl_test_list_input(test, "lines", lines[k].name, "offsets", offsets, tracks.event_count + 1);
  sl_test_list_input(test, "lines", lines[k].name, "made_by", &lines[k].made_by, 1);
  sl_test_list_input(test, "lines", lines[k].name, "passed", lines[k].passed, tracks.event_count);
  sl_test_list_input(test, "lines", lines[k].name, "accepted", lines[k].accepted, candidate_count);
}

static void set_tracks(void) {
  sl_test_events(test, tracks.event_count);
  sl_test_input(test, "tracks", "offsets", tracks.offsets, tracks.event_count + 1);
  sl_test_input(test, "tracks", "hit_offsets", tracks.hit_offsets, tracks.count + 1);
  sl_test_input(test, "tracks", "hit_id", tracks.scifi_id, TRACK_HITS * tracks.count);
  sl_test_input(test, "tracks", "velo_track", tracks.track, tracks.count);
  sl_test_input(test, "tracks", "ut_track", tracks.ut_track, tracks.count);
  sl_test_input(test, "velo_tracks", "offsets", tracks.offsets, tracks.event_count + 1);
  sl_test_input(test, "velo_tracks", "hit_offsets", tracks.hit_offsets, tracks.count + 1);
  sl_test_input(test, "velo_tracks", "hit_id", tracks.velo_id, TRACK_HITS * tracks.count);
  set_banks("mc_particles");
}

static void set_pairs(void) {
  sl_test_list_input(test, "vertices", "pairs", "offsets", pairs.offsets, tracks.event_count + 1);
  sl_test_list_input(test, "vertices", "pairs", "made_by", &pairs.made_by, 1);
  sl_test_list_input(test, "vertices", "pairs", "first", pairs.first, pairs.count);
  sl_test_list_input(test, "vertices", "pairs", "second", pairs.second, pairs.count);
}

static const char *run_with(uint32_t daughters) {
  set_tracks();
  for (uint32_t k = 0; k < line_count; k++) set_line(k, pairs.offsets, pairs.count);
  sl_test_set(test, "daughters", daughters);
  assert_int_equal(sl_test_run(test), 0);
  return sl_test_report(test);
}

static const char *line_in(const char *report, const char *name) { return named(strstr(report, "\"lines\""), name); }
static const char *any_in(const char *report) { return named(report, "any line"); }

static void assert_sets(const char *of, uint32_t all, uint32_t reconstructible, uint32_t found, uint32_t by_signal) {
  assert_int_equal(number_in(of, "passed"), all);
  assert_int_equal(number_in(of, "passed_reconstructible"), reconstructible);
  assert_int_equal(number_in(of, "passed_found"), found);
  assert_int_equal(number_in(of, "passed_by_signal"), by_signal);
}

static void assert_signal(const char *report, uint32_t events, uint32_t reconstructible, uint32_t found) {
  assert_int_equal(number_in(report, "events"), events);
  assert_int_equal(number_in(strstr(report, "\"signal\""), "reconstructible"), reconstructible);
  assert_int_equal(number_in(strstr(report, "\"signal\""), "found"), found);
}

/* -------------------------------------------------------------------------------------------------------- rates */

static void a_rate_is_the_share_of_events_that_pass(void **state) {
  (void)state;
  add_line("often");
  add_line("once");
  for (uint32_t event = 0; event < 4; event++) end_tracks();
  banks->event_count = 4; /* without truth */
  lines[0].passed[0] = lines[0].passed[1] = lines[0].passed[2] = PASSED;
  lines[1].passed[2] = PASSED;
  lines[1].passed[3] = LINE_BEFORE_SCALE;
  sl_test_set(test, "input_rate", 4e6);
  const char *report = run_with(0), *often = line_in(report, "often"), *once = line_in(report, "once");
  assert_int_equal(number_in(report, "events"), 4);
  assert_int_equal(number_in(often, "passed"), 3);
  assert_int_equal(number_in(often, "alone"), 2);
  assert_float_equal(number_in(often, "rate_khz"), 3000, 1e-9);
  assert_float_equal(number_in(often, "rate_error_khz"), 712.69665, 1e-3); /* sqrt(8 / 7) / 6 */
  assert_float_equal(number_in(often, "alone_khz"), 2000, 1e-9);
  assert_int_equal(number_in(once, "passed"), 1);
  assert_int_equal(number_in(once, "before_scale"), 2);
  assert_int_equal(number_in(once, "alone"), 0);
  assert_int_equal(number_in(any_in(report), "passed"), 3);
  assert_int_equal(number_in(any_in(report), "before_scale"), 4);
  assert_int_equal(number_in(any_in(report), "alone"), 2);
  assert_non_null(strstr(once, "\"efficiency\": null"));
}

/* ------------------------------------------------------------------------------------------------------- signal */

static void all_daughters_must_be_reconstructible_and_found(void **state) {
  struct true_particle *all;
  (void)state;
  add_line("line");
  add_found_decay();
  end_tracks();
  add_event(banks, a_decay(), 3); /* the pion is not found */
  add_track(KAON);
  add_track(OTHER);
  end_tracks();
  all = a_decay(); /* not reconstructible as a long track, though a track is found */
  all[1].flags[LONG] = 0;
  add_event(banks, all, 3);
  add_track(KAON);
  add_track(PION);
  end_tracks();
  all = a_decay(); /* outside the detector */
  all[1].eta = 5.5f;
  add_event(banks, all, 3);
  end_tracks();
  add_event(banks, a_decay(), 1); /* a daughter without hits is not in the truth */
  add_track(KAON);
  end_tracks();
  memset(lines[0].passed, PASSED, 5);
  const char *report = run_with(2);
  assert_signal(report, 5, 2, 1);
  assert_sets(line_in(report, "line"), 5, 2, 1, 0);
  assert_float_equal(number_in(line_in(report, "line"), "efficiency"), 1, 1e-9);
  assert_non_null(strstr(line_in(report, "line"), "\"passed_by_signal\": null")); /* no candidates connected */
}

static void a_daughter_of_a_daughter_does_not_count(void **state) {
  struct true_particle all[4];
  (void)state;
  add_line("line");
  memcpy(all, a_decay(), sizeof all);
  all[2] = particle(OTHER, 13, -211); /* the pion's muon */
  all[2].mother = PION;
  all[2].flags[SIGNAL] = 1;
  all[3] = particle(4, 521, 511); /* a charged hadron that decays has a hit itself */
  add_event(banks, all, 4);
  add_track(KAON);
  add_track(PION);
  end_tracks();
  assert_signal(run_with(2), 1, 1, 1);
  assert_null(strstr(sl_test_messages(test), "more charged daughters"));
}

static void more_daughters_than_the_property_are_reported(void **state) {
  struct true_particle *all = a_decay();
  (void)state;
  add_line("line");
  all[1].flags[LONG] = 0;
  add_event(banks, all, 3);
  add_track(KAON);
  end_tracks();
  const char *report = run_with(1);
  assert_signal(report, 1, 0, 0);
  assert_int_equal(number_in(report, "with_more_daughters"), 1);
  assert_non_null(strstr(sl_test_messages(test), "1 event has more charged daughters of the signal than"));
}

static void lines_are_counted_separately_and_together(void **state) {
  (void)state;
  add_line("first");
  add_line("second");
  for (uint32_t event = 0; event < 3; event++) {
    add_found_decay();
    end_tracks();
  }
  lines[0].passed[0] = lines[1].passed[1] = PASSED;
  lines[1].passed[2] = LINE_BEFORE_SCALE;
  const char *report = run_with(2);
  assert_sets(line_in(report, "first"), 1, 1, 1, 0);
  assert_sets(line_in(report, "second"), 1, 1, 1, 0);
  assert_sets(any_in(report), 2, 2, 2, 0);
  assert_float_equal(number_in(any_in(report), "efficiency_found"), 2.0 / 3, 1e-9);
}

/* --------------------------------------------------------------------------------------------------- candidates */

/* Accepted pairs: kaon and pion of one decay; one of them with another track; two tracks of the kaon. Then both
 * daughters, not accepted. */
static void a_pair_is_the_signal_if_both_tracks_are(void **state) {
  (void)state;
  add_line("line");
  add_line("nothing");
  lines[1].made_by = 0;
  add_found_decay();
  add_pair(0, 2, 1);
  add_pair(0, 1, 1);
  end_tracks();
  add_found_decay();
  add_pair(1, 2, 1);
  end_tracks();
  add_found_decay();
  add_track(KAON);
  add_pair(0, 3, 1);
  end_tracks();
  add_found_decay();
  add_pair(0, 1, 0);
  add_pair(0, 2, 1);
  end_tracks();
  memset(lines[0].passed, PASSED, 4);
  memset(lines[1].passed, PASSED, 1);
  set_pairs();
  const char *report = run_with(2);
  assert_sets(line_in(report, "line"), 4, 4, 4, 1);
  assert_sets(line_in(report, "nothing"), 1, 1, 1, 0);
  assert_sets(any_in(report), 4, 4, 4, 1);
  assert_int_equal(number_in(line_in(report, "line"), "candidates"), 5);
  assert_float_equal(number_in(line_in(report, "line"), "efficiency_by_signal"), 0.25, 1e-9);
  assert_non_null(strstr(line_in(report, "nothing"), "\"efficiency_by_signal\": null"));
}

static void a_particle_is_the_signal_if_its_track_is(void **state) {
  (void)state;
  add_line("line");
  for (uint32_t event = 0; event < 2; event++) {
    add_found_decay();
    end_tracks();
  }
  lines[0].accepted[1] = 1;     /* the pion of the first event */
  lines[0].accepted[3 + 2] = 1; /* the other particle of the second event */
  memset(lines[0].passed, PASSED, 2);
  set_tracks();
  set_line(0, tracks.offsets, tracks.count);
  sl_test_list_input(test, "particles", "tracks", "offsets", tracks.offsets, tracks.event_count + 1);
  sl_test_list_input(test, "particles", "tracks", "made_by", &pairs.made_by, 1);
  sl_test_set(test, "daughters", 2);
  assert_int_equal(sl_test_run(test), 0);
  assert_sets(line_in(sl_test_report(test), "line"), 2, 2, 2, 1);
}

/* An event that passes only before the scale does not keep the signal. */
static void events_that_do_not_pass_are_not_compared(void **state) {
  (void)state;
  add_line("line");
  add_found_decay();
  add_pair(0, 1, 1);
  end_tracks();
  lines[0].passed[0] = LINE_BEFORE_SCALE;
  set_pairs();
  assert_sets(line_in(run_with(2), "line"), 0, 0, 0, 0);
}

static void candidates_of_other_tracks_are_an_error(void **state) {
  (void)state;
  add_line("line");
  add_found_decay();
  add_pair(0, 3, 1);
  end_tracks();
  lines[0].passed[0] = PASSED;
  set_pairs();
  set_tracks();
  set_line(0, pairs.offsets, pairs.count);
  sl_test_set(test, "daughters", 2);
  assert_int_equal(sl_test_run(test), SL_EINVAL);
  assert_non_null(strstr(sl_test_messages(test), "line: its candidates were made from other long tracks"));
}

/* ------------------------------------------------------------------------------------------------------- events */

static void events_without_usable_truth_are_counted_separately(void **state) {
  static const uint8_t wrong[] = {1, 2, 3};
  (void)state;
  add_line("line");
  end_event(banks);
  end_tracks();
  add_part(banks, 2, 0, wrong, sizeof wrong);
  end_event(banks);
  end_tracks();
  add_found_decay();
  end_tracks();
  memset(lines[0].passed, PASSED, 3);
  const char *report = run_with(2);
  assert_signal(report, 1, 1, 1);
  assert_sets(line_in(report, "line"), 1, 1, 1, 0);
  assert_int_equal(number_in(report, "events_without_truth"), 1);
  assert_int_equal(number_in(report, "malformed_events"), 1);
}

extern const struct sl_algorithm sl_algorithm_selection_check;

static void events_with_errors_are_excluded_from_rates(void **state) {
  static const uint32_t offsets[3] = {0, 0, 0};
  static const uint8_t passed[2] = {PASSED, PASSED};
  static const uint64_t made_by = 0;
  static const char *const names[] = {"line"};
  const struct line_decisions_view line = {.offsets = offsets, .made_by = &made_by, .passed = passed};
  struct {
    struct line_decisions_views lines; /* the first argument */
    unsigned char others[1024];
  } args = {.lines = {&line, names, 1, 0}};
  const struct sl_event events[] = {{.error = SL_EVENT_CORRUPT}, {.number = 1}};
  const struct sl_batch batch = {.event_count = 2, .events = events};
  struct reported reported;
  (void)state;
  assert_true(sl_algorithm_selection_check.args_size <= sizeof args);
  assert_int_equal(call_sink(&sl_algorithm_selection_check, &args, &batch, &reported), 0);
  assert_int_equal(reported.events, 1);
  assert_int_equal(reported.error_events, 1);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop_check)
  const struct CMUnitTest tests[] = {
      CASE(a_rate_is_the_share_of_events_that_pass),    CASE(all_daughters_must_be_reconstructible_and_found),
      CASE(a_daughter_of_a_daughter_does_not_count),    CASE(more_daughters_than_the_property_are_reported),
      CASE(lines_are_counted_separately_and_together),  CASE(a_pair_is_the_signal_if_both_tracks_are),
      CASE(a_particle_is_the_signal_if_its_track_is),   CASE(events_that_do_not_pass_are_not_compared),
      CASE(candidates_of_other_tracks_are_an_error),    CASE(events_without_usable_truth_are_counted_separately),
      CASE(events_with_errors_are_excluded_from_rates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
