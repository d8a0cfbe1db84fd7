/* velo_check_test.c: counts and report of truth.velo_check for hand-made particles and tracks. */
#include "check_case.h"
#include "checks/tally.h"
#include "sink_caller.h"
#include "velo/event_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TRACKS_MAX = 16, HITS_MAX = 128 };

/* Tracks of a slice. */
struct tracks {
  uint32_t offsets[WRITER_EVENTS + 1], hit_offsets[TRACKS_MAX + 1], hit_id[HITS_MAX];
  uint32_t event_count, track_count;
};

static void add_track(struct tracks *t, uint32_t count, const uint32_t *hits) {
  const uint32_t first = t->hit_offsets[t->track_count];
  memcpy(t->hit_id + first, hits, 4 * count);
  t->hit_offsets[++t->track_count] = first + count;
}
#define TRACK(t, ...) add_track(t, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})
static void end_tracks(struct tracks *t) { t->offsets[++t->event_count] = t->track_count; }

static struct tracks tracks;

static int start(void **state) {
  (void)state;
  memset(&tracks, 0, sizeof tracks);
  return start_check("velo_check");
}

static const char *run(void) {
  assert_int_equal(banks->event_count, tracks.event_count);
  sl_test_events(test, tracks.event_count);
  sl_test_input(test, "tracks", "offsets", tracks.offsets, tracks.event_count + 1);
  sl_test_input(test, "tracks", "hit_offsets", tracks.hit_offsets, tracks.track_count + 1);
  sl_test_input(test, "tracks", "hit_id", tracks.hit_id, tracks.hit_offsets[tracks.track_count]);
  set_banks("mc_particles");
  assert_int_equal(sl_test_run(test), 0);
  return sl_test_report(test);
}

static const char *const all_categories[] = {"velo",
                                             "long",
                                             "long, p > 5 GeV",
                                             "long from strange",
                                             "long from strange, p > 5 GeV",
                                             "long from B",
                                             "long from B, p > 5 GeV",
                                             "long electrons",
                                             "long electrons from B",
                                             "long electrons from B, p > 5 GeV",
                                             "long from signal",
                                             "all eta, not e"};
enum { CATEGORIES = sizeof all_categories / sizeof all_categories[0] };

static void particles_are_counted_in_exactly_their_categories(void **state) {
  (void)state;
  static const struct {
    struct true_particle particle;
    uint32_t categories; /* bit k: all_categories[k] */
  } cases[] = {
      {{.pdg = 211, .p = 100, .eta = 3, .flags = {[HAS_VELO] = 1}}, 1 << 0 | 1 << 11},
      {{.pdg = 211, .p = 100, .eta = 1.9f, .flags = {[HAS_VELO] = 1}}, 1 << 11},
      {{.pdg = 211, .p = 100, .eta = 5, .flags = {[HAS_VELO] = 1, [LONG] = 1}}, 1 << 11},
      {{.pdg = 211, .p = 9000, .eta = 3, .flags = {[DOWN] = 1}}, 0},
      {{.pdg = 13, .p = 5000, .eta = 3, .flags = {[HAS_VELO] = 1, [LONG] = 1}}, 1 << 0 | 1 << 1 | 1 << 11},
      {{.pdg = 13, .p = 5001, .eta = 3, .flags = {[HAS_VELO] = 1, [LONG] = 1, [STRANGE] = 1}},
       1 << 0 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 11},
      {{.pdg = -13, .p = 4000, .eta = 3, .flags = {[HAS_VELO] = 1, [LONG] = 1, [BEAUTY] = 1, [SIGNAL] = 1}},
       1 << 0 | 1 << 1 | 1 << 5 | 1 << 10 | 1 << 11},
      {{.pdg = -11, .p = 4000, .eta = 3, .flags = {[HAS_VELO] = 1, [LONG] = 1, [STRANGE] = 1}}, 1 << 7},
      {{.pdg = 11, .p = 6000, .eta = 3, .flags = {[HAS_VELO] = 1, [LONG] = 1, [BEAUTY] = 1, [SIGNAL] = 1}},
       1 << 7 | 1 << 8 | 1 << 9},
  };
  uint32_t expected[CATEGORIES] = {0};
  struct true_particle particles[sizeof cases / sizeof cases[0]];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    particles[i] = cases[i].particle;
    for (uint32_t k = 0; k < CATEGORIES; k++) expected[k] += cases[i].categories >> k & 1;
  }
  add_event(banks, particles, sizeof cases / sizeof cases[0]);
  end_tracks(&tracks);
  const char *report = run();
  for (uint32_t k = 0; k < CATEGORIES; k++) assert_category(report, all_categories[k], 0, expected[k], 0);
}

static void tracks_clones_and_ghosts_are_counted(void **state) {
  (void)state;
  static const struct true_particle particles[] = {
      {.pdg = 211,
       .p = 9000,
       .eta = 3,
       .flags = {[HAS_VELO] = 1, [LONG] = 1},
       .hit_count = 8,
       .hits = {1, 2, 3, 4, 5, 6, 7, 8}},
      {.pdg = 211, .p = 1000, .eta = 4, .flags = {[HAS_VELO] = 1}, .hit_count = 3, .hits = {21, 22, 23}},
      {.pdg = 211, .p = 1000, .eta = 4, .flags = {[HAS_VELO] = 1}, .hit_count = 3, .hits = {31, 32, 33}}};
  add_event(banks, particles, 3);
  TRACK(&tracks, 1, 2, 3, 4, 99); /* 4 of 5: purity 0.8, hit efficiency 0.5 */
  TRACK(&tracks, 5, 6, 7, 8);     /* a clone: purity 1, hit efficiency 0.5 */
  TRACK(&tracks, 21, 22, 23);     /* 1 and 1 */
  TRACK(&tracks, 31, 32, 98);     /* 2 of 3 are too few: ghost */
  end_tracks(&tracks);
  add_event(banks, particles, 1); /* a second event: its particle is not found, although its hits are in the first */
  TRACK(&tracks, 51, 52, 53);
  end_tracks(&tracks);
  const char *report = run();
  assert_int_equal(number_in(report, "events"), 2);
  assert_int_equal(number_in(report, "tracks"), 5);
  assert_int_equal(number_in(report, "ghosts"), 2);
  assert_float_equal(number_in(report, "ghost_rate"), 0.4, 1e-9);
  assert_category(report, "velo", 2, 4, 1);
  assert_category(report, "long", 1, 2, 1);
  assert_category(report, "long, p > 5 GeV", 1, 2, 1);
  assert_category(report, "long from B", 0, 0, 0);
  const char *velo = named(report, "velo");
  assert_float_equal(number_in(velo, "efficiency"), 0.5, 1e-9);
  assert_float_equal(number_in(velo, "purity"), (0.8 + 1 + 1) / 3, 1e-9);
  assert_float_equal(number_in(velo, "hit_efficiency"), (0.5 + 0.5 + 1) / 3, 1e-9);
  const char *messages = sl_test_messages(test);
  assert_non_null(strstr(messages, "VELO tracks of 2 events: 5, ghosts 2 (40.00 +- 17.50 %)"));
  assert_null(strstr(messages, "long from B")); /* no line for an empty category */
  assert_null(strstr(messages, "warning"));
}

static void without_a_common_hit_there_is_no_ghost_rate(void **state) {
  (void)state;
  static const struct true_particle particle = {
      .pdg = 211, .p = 1, .eta = 3, .flags = {[HAS_VELO] = 1}, .hit_count = 3, .hits = {1, 2, 3}};
  add_event(banks, &particle, 1);
  TRACK(&tracks, 11, 12, 13);
  end_tracks(&tracks);
  const char *report = run();
  assert_int_equal(number_in(report, "tracks"), 1);
  assert_int_equal(number_in(report, "hits"), 3);
  assert_int_equal(number_in(report, "hits_in_truth"), 0);
  assert_non_null(strstr(report, "\"ghost_rate\": null"));
  const char *messages = sl_test_messages(test);
  assert_non_null(strstr(messages, "VELO tracks of 1 event: 1, none of their 3 hits is in the truth"));
  assert_non_null(strstr(messages, "no hit id of the tracks is in the truth"));
  assert_null(strstr(messages, "ghosts"));
}

static void fraction_bits_are_masked_on_request(void **state) {
  (void)state;
  static const struct true_particle particle = {.pdg = 211,
                                                .p = 1,
                                                .eta = 3,
                                                .flags = {[HAS_VELO] = 1},
                                                .hit_count = 3,
                                                .hits = {0x24000001, 0x28000002, 0x20000003}};
  add_event(banks, &particle, 1);
  TRACK(&tracks, 0x20000001, 0x2c000002, 0x20000003);
  end_tracks(&tracks);
  assert_category(run(), "velo", 0, 1, 0);
  sl_test_set(test, "mask_fraction_bits", 1);
  assert_category(run(), "velo", 1, 1, 0);
}

static void events_without_usable_truth_are_counted_separately(void **state) {
  (void)state;
  static const struct true_particle particle = {
      .pdg = 211, .p = 1, .eta = 3, .flags = {[HAS_VELO] = 1}, .hit_count = 3, .hits = {1, 2, 3}};
  add_event(banks, &particle, 1);
  banks->size_bytes[0]--; /* malformed */
  TRACK(&tracks, 1, 2, 3);
  end_tracks(&tracks);
  end_event(banks); /* no banks at all */
  TRACK(&tracks, 1, 2, 3);
  end_tracks(&tracks);
  add_event(banks, &particle, 1);
  TRACK(&tracks, 1, 2, 3);
  end_tracks(&tracks);
  const char *report = run();
  assert_int_equal(number_in(report, "events"), 1);
  assert_int_equal(number_in(report, "malformed_events"), 1);
  assert_int_equal(number_in(report, "events_without_truth"), 1);
  assert_int_equal(number_in(report, "tracks"), 1);
  assert_category(report, "velo", 1, 1, 0);
  assert_non_null(strstr(sl_test_messages(test), "malformed MC particles: the particles are cut short"));
  assert_non_null(strstr(sl_test_messages(test), "1 event with malformed MC particles was not checked"));
}

/* Beta distributions (1, 2), (2, 1) and (1, 1 + n) have known standard deviations. */
static void errors_are_binomial_and_never_zero(void **state) {
  (void)state;
  assert_true(isnan(rate_error(0, 0)));
  assert_float_equal(rate_error(0, 1), sqrt(1.0 / 18), 1e-12);
  assert_float_equal(rate_error(1, 1), sqrt(1.0 / 18), 1e-12);
  assert_float_equal(rate_error(0, 98), sqrt(99.0 / 101) / 100, 1e-12);
  assert_float_equal(rate_error(90000, 100000), sqrt(0.9 * 0.1 / 100000), 1e-7);
}

static void efficiencies_and_ghosts_come_with_their_errors(void **state) {
  (void)state;
  static const struct true_particle particles[] = {
      {.pdg = 211, .p = 1000, .eta = 4, .flags = {[HAS_VELO] = 1}, .hit_count = 3, .hits = {21, 22, 23}},
      {.pdg = 211, .p = 1000, .eta = 4, .flags = {[HAS_VELO] = 1}, .hit_count = 3, .hits = {31, 32, 33}}};
  add_event(banks, particles, 2);
  TRACK(&tracks, 21, 22, 23);
  TRACK(&tracks, 51, 52, 53);
  TRACK(&tracks, 61, 62, 63);
  end_tracks(&tracks);
  const char *report = run();
  assert_float_equal(number_in(report, "ghost_error"), rate_error(2, 3), 1e-9);
  assert_float_equal(number_in(named(report, "velo"), "error"), rate_error(1, 2), 1e-9);
  assert_memory_equal(value_in(named(report, "long"), "error"), " null", strlen(" null"));
}

/* The harness knows no events with errors, so this one calls the sink itself. */
SL_DECLARE(velo_check);

static void events_with_errors_are_not_losses(void **state) {
  (void)state;
  static const struct true_particle particle = {
      .pdg = 211, .p = 1, .eta = 3, .flags = {[HAS_VELO] = 1}, .hit_count = 3, .hits = {1, 2, 3}};
  struct {
    struct velo_tracks_view tracks;
    struct mc_particle_banks_view mc_particles;
    uint32_t mask_fraction_bits;
  } args = {.mask_fraction_bits = 0};
  assert_int_equal(sizeof args, sl_algorithm_velo_check.args_size);
  end_event(banks);
  add_event(banks, &particle, 1);
  end_tracks(&tracks);
  TRACK(&tracks, 1, 2, 3);
  end_tracks(&tracks);
  args.tracks =
      (struct velo_tracks_view){.offsets = tracks.offsets, .hit_offsets = tracks.hit_offsets, .hit_id = tracks.hit_id};
  args.mc_particles = VIEW_OF(mc_particle_banks_view, banks);
  const struct sl_event events[] = {{.error = SL_EVENT_CORRUPT}, {.number = 1}};
  const struct sl_batch batch = {.event_count = 2, .events = events};
  struct reported reported;
  assert_int_equal(call_sink(&sl_algorithm_velo_check, &args, &batch, &reported), 0);
  assert_int_equal(reported.events, 1);
  assert_int_equal(reported.error_events, 1);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop_check)
  const struct CMUnitTest tests[] = {
      CASE(particles_are_counted_in_exactly_their_categories),
      CASE(tracks_clones_and_ghosts_are_counted),
      CASE(without_a_common_hit_there_is_no_ghost_rate),
      CASE(fraction_bits_are_masked_on_request),
      CASE(events_without_usable_truth_are_counted_separately),
      CASE(events_with_errors_are_not_losses),
      CASE(errors_are_binomial_and_never_zero),
      CASE(efficiencies_and_ghosts_come_with_their_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
