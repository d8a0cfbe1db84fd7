/* search_by_triplet_test.c: constructed cases of the search, each with both versions. */
#include "tracking_sample.h"

struct search {
  struct sample *sample;
  struct sl_test *test;
  const uint32_t *offsets;
  const uint8_t *hit_count, *used;
  const uint16_t *hits;
};

static void search_open(struct search *s, struct sample *sample) {
  s->sample = sample;
  s->test = sl_test_new(VELO_PLUGIN, "search_by_triplet");
  sample_give_hits(sample, s->test);
  sl_test_input(s->test, "geometry", "module_z", sample->module_z, VELO_MODULES);
}

static void search_run(struct search *s, int shared) {
  sl_test_shared(s->test, shared);
  assert_int_equal(sl_test_run(s->test), 0);
  s->offsets = sl_test_output(s->test, "candidates", "offsets");
  s->hit_count = sl_test_output(s->test, "candidates", "hit_count");
  s->hits = sl_test_output(s->test, "candidates", "hits");
  s->used = sl_test_output(s->test, "used", "flag");
}

static void search_close(struct search *s) {
  sl_test_free(s->test);
  free(s->sample);
}

/* The candidate has exactly these hits, given by identifier. */
static void assert_hits(const struct search *s, uint32_t event, uint32_t candidate, const uint32_t *ids, uint32_t n) {
  const uint32_t index = s->offsets[event] + candidate;
  const uint16_t *hits = s->hits + VELO_MAX_HITS_PER_TRACK * index;
  assert_true(index < s->offsets[event + 1]);
  assert_int_equal(s->hit_count[index], n);
  for (uint32_t i = 0; i < n; i++) assert_int_equal(s->sample->id[s->sample->offsets[event] + hits[i]], ids[i]);
  for (uint32_t i = n; i < VELO_MAX_HITS_PER_TRACK; i++) assert_int_equal(hits[i], 0);
}

static void assert_candidates(const struct search *s, uint32_t event, uint32_t n) {
  assert_int_equal(s->offsets[event + 1] - s->offsets[event], n);
}

static uint32_t is_used(const struct search *s, uint32_t id) {
  for (uint32_t i = s->sample->first_hit; i < s->sample->hit_count; i++)
    if (s->sample->id[i] == id) return s->used[i];
  fail_msg("no hit %x", id);
  return 2;
}

static uint32_t used_count(const struct search *s) {
  uint32_t n = 0;
  for (uint32_t i = s->sample->first_hit; i < s->sample->hit_count; i++) n += s->used[i];
  return n;
}

/* Adds a hit on the line through the origin with slopes 0.02 and `ty`. */
static uint32_t on_line(struct sample *s, uint32_t pair, double ty) {
  return sample_hit(s, pair, 0.02 * sample_z(pair) + 0.5, ty * sample_z(pair));
}

/* Adds a track through n pairs, from `top` downwards. */
static void add_track(struct sample *s, uint32_t top, uint32_t n, double ty, uint32_t *ids) {
  for (uint32_t i = 0; i < n; i++) ids[i] = on_line(s, top - i, ty);
}

static void check_straight_track(uint32_t n) {
  for (int shared = 0; shared < 2; shared++) {
    struct search s;
    uint32_t ids[VELO_MAX_HITS_PER_TRACK];
    struct sample *sample = sample_new(0);
    add_track(sample, 25, n, 0.01, ids);
    sample_end_event(sample);
    search_open(&s, sample);
    search_run(&s, shared);
    assert_candidates(&s, 0, 1);
    assert_hits(&s, 0, 0, ids, n);
    assert_int_equal(used_count(&s), n > 3 ? n : 0);
    assert_int_equal(sl_test_used(s.test, "candidates"), 1);
    search_close(&s);
  }
}

static void a_straight_track_is_found_once(void **state) {
  (void)state;
  check_straight_track(3);
  check_straight_track(4);
  check_straight_track(10);
}

static void a_track_through_all_pairs_has_26_hits(void **state) {
  (void)state;
  check_straight_track(26);
}

static void two_hits_make_no_track(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    struct search s;
    uint32_t ids[2];
    struct sample *sample = sample_new(0);
    add_track(sample, 25, 2, 0.01, ids);
    sample_end_event(sample);
    sample_end_event(sample); /* without hits */
    search_open(&s, sample);
    search_run(&s, shared);
    assert_candidates(&s, 0, 0);
    assert_candidates(&s, 1, 0);
    search_close(&s);
  }
}

/* Hits in the given pairs on one line; returns the number of hits of the first candidate. */
static uint32_t first_length(const uint32_t *pairs, uint32_t n, uint32_t max_skipped, int shared) {
  struct search s;
  struct sample *sample = sample_new(0);
  for (uint32_t i = 0; i < n; i++) on_line(sample, pairs[i], 0.01);
  sample_end_event(sample);
  search_open(&s, sample);
  sl_test_set(s.test, "max_skipped_modules", max_skipped);
  search_run(&s, shared);
  const uint32_t length = s.offsets[1] > s.offsets[0] ? s.hit_count[0] : 0;
  search_close(&s);
  return length;
}

static void one_pair_may_be_skipped_and_two_not(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    assert_int_equal(first_length((const uint32_t[]){25, 24, 23, 21}, 4, 1, shared), 4);
    assert_int_equal(first_length((const uint32_t[]){25, 24, 23, 20}, 4, 1, shared), 3);
    assert_int_equal(first_length((const uint32_t[]){25, 24, 23, 20}, 4, 2, shared), 4);
    assert_int_equal(first_length((const uint32_t[]){25, 24, 23, 21}, 4, 0, shared), 3);
    assert_int_equal(first_length((const uint32_t[]){25, 24, 23, 21, 19, 17, 15}, 7, 1, shared), 7); /* restarts */
    assert_int_equal(first_length((const uint32_t[]){25, 24, 23, 22, 20, 17, 16}, 7, 1, shared), 5);
  }
}

/* Length of the first track with hits in pairs 25, 24, 23, 20 and 19; modules do not work. */
static uint32_t length_with_missing(const char *modules, int shared) {
  static const uint32_t pairs[] = {25, 24, 23, 20, 19};
  struct search s;
  struct sample *sample = sample_new(0);
  for (uint32_t i = 0; i < 5; i++) on_line(sample, pairs[i], 0.01);
  sample_end_event(sample);
  search_open(&s, sample);
  sl_test_set_text(s.test, "missing_modules", modules);
  search_run(&s, shared);
  const uint32_t length = s.hit_count[0];
  search_close(&s);
  return length;
}

static void missing_modules_do_not_count_as_skipped(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    uint32_t longer = 0;
    assert_int_equal(length_with_missing("", shared), 3);
    assert_int_equal(length_with_missing("44, 45", shared), 5);
    assert_int_equal(length_with_missing(" 42,43 ", shared), 5);
    assert_int_equal(length_with_missing("41, 46, 47, 0, 51", shared), 3);
    longer += length_with_missing("44", shared) == 5; /* the track is on one side */
    longer += length_with_missing("45", shared) == 5;
    assert_int_equal(longer, 1);
  }
}

static void wrong_modules_are_reported(void **state) {
  (void)state;
  static const char *const texts[] = {"52", "21 23", "21,,23", "a", "-1", "21, 99999999999999999999", ",", "4.5"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    struct search s;
    struct sample *sample = sample_new(0);
    on_line(sample, 25, 0.01);
    sample_end_event(sample);
    search_open(&s, sample);
    sl_test_set_text(s.test, "missing_modules", texts[i]);
    assert_int_equal(sl_test_run(s.test), SL_EINVAL);
    if (!strstr(sl_test_messages(s.test), "is no module, a number from 0 to 51")) fail_msg("%s", texts[i]);
    search_close(&s);
  }
}

static void pairs_of_a_skipped_gap_may_hold_other_hits(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    struct search s;
    uint32_t ids[5];
    struct sample *sample = sample_new(0);
    add_track(sample, 25, 3, 0.01, ids);
    sample_hit(sample, 22, -20, 3);          /* far away */
    sample_hit(sample, 22, 18.1 + 0.3, 8.8); /* in the window, but 0.3 mm off: 0.09 mm2 */
    ids[3] = on_line(sample, 21, 0.01);
    ids[4] = on_line(sample, 20, 0.01);
    sample_end_event(sample);
    search_open(&s, sample);
    search_run(&s, shared);
    assert_candidates(&s, 0, 1);
    assert_hits(&s, 0, 0, ids, 5);
    search_close(&s);
  }
}

static void a_triplet_needs_hits_in_three_consecutive_pairs(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    struct search s;
    struct sample *sample = sample_new(0);
    for (uint32_t pair = 25; pair >= 20; pair--)
      if (pair != 23) on_line(sample, pair, 0.01); /* 25 24 . 22 21 20: only the last three */
    sample_end_event(sample);
    search_open(&s, sample);
    search_run(&s, shared);
    assert_candidates(&s, 0, 1);
    assert_int_equal(s.hit_count[0], 3);
    search_close(&s);
  }
}

static void two_tracks_may_share_a_hit(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    struct search s;
    uint32_t steep[8], flat[8];
    struct sample *sample = sample_new(0);
    for (uint32_t i = 0; i < 8; i++) { /* the tracks cross in pair 20 */
      const uint32_t pair = 25 - i;
      const double dz = sample_z(pair) - sample_z(20);
      steep[i] = sample_hit(sample, pair, 10 + 0.0125 * dz, 0);
      flat[i] = pair == 20 ? steep[i] : sample_hit(sample, pair, 10, 0.002 * dz);
    }
    sample_end_event(sample);
    search_open(&s, sample);
    search_run(&s, shared);
    assert_candidates(&s, 0, 2);
    assert_hits(&s, 0, 0, steep, 8); /* phi of its second hit is 0, less than that of the other track */
    assert_hits(&s, 0, 1, flat, 8);
    assert_int_equal(used_count(&s), 15);
    search_close(&s);
  }
}

static void windows_wrap_around_at_pi(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++)
    for (int sign = -1; sign <= 1; sign += 2) {
      struct search s;
      uint32_t ids[6];
      struct sample *sample = sample_new(0);
      for (uint32_t i = 0; i < 6; i++) { /* y changes its sign at x = -20 */
        const uint32_t pair = 25 - i;
        ids[i] = sample_hit(sample, pair, -20, sign * (0.004 * (sample_z(pair) - sample_z(23)) + 0.05));
      }
      sample_end_event(sample);
      search_open(&s, sample);
      search_run(&s, shared);
      assert_candidates(&s, 0, 1);
      assert_hits(&s, 0, 0, ids, 6);
      search_close(&s);
    }
}

static void the_window_is_as_wide_as_the_tolerance(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    struct search s;
    struct sample *sample = sample_new(0);
    sample_hit(sample, 25, 5, 0);
    sample_hit(sample, 24, 5, 0);
    sample_hit(sample, 23, 5, 0.25); /* phi = 8192 (1 - 4.75 / 5.25) = 780.19; 0.0625 mm2 away */
    sample_end_event(sample);
    search_open(&s, sample);
    sl_test_set(s.test, "phi_tolerance", 0.0749); /* 781 */
    search_run(&s, shared);
    assert_candidates(&s, 0, 1);
    sl_test_set(s.test, "phi_tolerance", 0.0748); /* 780: still inside */
    search_run(&s, shared);
    assert_candidates(&s, 0, 1);
    sl_test_set(s.test, "phi_tolerance", 0.0747); /* 779 */
    search_run(&s, shared);
    assert_candidates(&s, 0, 0);
    search_close(&s);
  }
}

static void a_hit_must_be_nearer_than_the_maximum_scatter(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    struct search s;
    struct sample *sample = sample_new(0);
    sample_hit(sample, 25, 20, 0);
    sample_hit(sample, 24, 20, 0);
    sample_hit(sample, 23, 20.25, 0); /* 0.0625 mm2 exactly */
    sample_end_event(sample);
    search_open(&s, sample);
    sl_test_set(s.test, "max_scatter", 0.0625);
    search_run(&s, shared);
    assert_candidates(&s, 0, 0);
    sl_test_set(s.test, "max_scatter", 0.0626);
    search_run(&s, shared);
    assert_candidates(&s, 0, 1);
    search_close(&s);
  }
}

static void the_first_of_equally_near_hits_in_the_window_is_selected(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    struct search s;
    struct sample *sample = sample_new(0);
    const uint32_t h0 = sample_hit(sample, 25, 20, 0), h1 = sample_hit(sample, 24, 20, 0);
    sample_hit(sample, 23, 20, 0.125);
    const uint32_t lower = sample_hit(sample, 23, 20, -0.125);
    sample_end_event(sample);
    search_open(&s, sample);
    search_run(&s, shared);
    assert_candidates(&s, 0, 1);
    assert_hits(&s, 0, 0, (const uint32_t[]){h0, h1, lower}, 3);
    search_close(&s);
  }
}

static void the_first_in_a_window_across_pi_is_the_one_with_positive_phi(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    struct search s;
    struct sample *sample = sample_new(0);
    const uint32_t h0 = sample_hit(sample, 25, -20, 0), h1 = sample_hit(sample, 24, -20, 0);
    sample_hit(sample, 23, -20, -0.125);
    const uint32_t below_pi = sample_hit(sample, 23, -20, 0.125);
    sample_end_event(sample);
    search_open(&s, sample);
    search_run(&s, shared);
    assert_candidates(&s, 0, 1);
    assert_hits(&s, 0, 0, (const uint32_t[]){h0, h1, below_pi}, 3);
    search_close(&s);
  }
}

static void the_first_visited_of_equally_good_lines_is_selected(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    struct search s;
    struct sample *sample = sample_new(0);
    const uint32_t above = sample_hit(sample, 25, 20, 0.125); /* visited before the one below */
    sample_hit(sample, 25, 20, -0.125);
    const uint32_t h1 = sample_hit(sample, 24, 20, 0);
    sample_hit(sample, 23, 20, 0.125);
    const uint32_t lower = sample_hit(sample, 23, 20, -0.125);
    sample_end_event(sample);
    search_open(&s, sample);
    search_run(&s, shared);
    assert_candidates(&s, 0, 1);
    assert_hits(&s, 0, 0, (const uint32_t[]){above, h1, lower}, 3);
    search_close(&s);
  }
}

static void used_hits_seed_no_tracks(void **state) {
  (void)state;
  for (int with_track = 0; with_track < 2; with_track++)
    for (int shared = 0; shared < 2; shared++) {
      struct search s;
      uint32_t ids[4];
      struct sample *sample = sample_new(0);
      for (uint32_t i = 0; i < 4; i++)
        ids[i] = i == 0 && !with_track ? 0 : sample_hit(sample, 25 - i, 20, 0); /* without its first hit: three hits */
      sample_hit(sample, 24, 20, 1); /* the line of these two hits points to the track's hit in pair 22 */
      sample_hit(sample, 23, 20, 0.5);
      sample_end_event(sample);
      search_open(&s, sample);
      search_run(&s, shared);
      assert_candidates(&s, 0, with_track ? 1 : 2);
      if (with_track) assert_hits(&s, 0, 0, ids, 4);
      for (uint32_t i = 0; with_track && i < 4; i++) assert_int_equal(is_used(&s, ids[i]), 1);
      assert_int_equal(used_count(&s), with_track ? 4 : 0);
      search_close(&s);
    }
}

/* Five hits of pair `top` are nearer in azimuth to the middle hit than the hit of the track. Returns the tracks
 * found. */
static uint32_t tracks_behind_decoys(uint32_t top, const char *property, uint32_t candidates, int shared) {
  struct search s;
  struct sample *sample = sample_new(0);
  for (int i = -2; i <= 2; i++) sample_hit(sample, top, 60, 0.05 * i);
  sample_hit(sample, top, 20, 0.5);
  sample_hit(sample, top - 1, 20, 0);
  sample_hit(sample, top - 2, 20, -0.5);
  sample_end_event(sample);
  search_open(&s, sample);
  if (property) sl_test_set(s.test, property, candidates);
  search_run(&s, shared);
  const uint32_t n = s.offsets[1];
  search_close(&s);
  return n;
}

static void the_number_of_seed_candidates_is_limited(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    assert_int_equal(tracks_behind_decoys(25, NULL, 0, shared), 1); /* first seeding: 8 candidates */
    assert_int_equal(tracks_behind_decoys(25, "first_seed_candidates", 6, shared), 1);
    assert_int_equal(tracks_behind_decoys(25, "first_seed_candidates", 5, shared), 0);
    assert_int_equal(tracks_behind_decoys(20, NULL, 0, shared), 0); /* other seedings: 4 */
    assert_int_equal(tracks_behind_decoys(20, "seed_candidates", 6, shared), 1);
    assert_int_equal(tracks_behind_decoys(20, "seed_candidates", 5, shared), 0);
  }
}

static void the_side_of_the_older_hit_determines_the_window(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    struct search s;
    uint32_t ids[4];
    struct sample *sample = sample_new(0);
    for (uint32_t i = 0; i < 4; i++) {
      const double z = sample_z(25 - i) + 20;
      ids[i] = sample_hit_at(sample, 25 - i, 1, 10, 0.004 * (z - 880)); /* all in odd modules */
    }
    sample_end_event(sample);
    search_open(&s, sample);
    sl_test_set(s.test, "phi_tolerance", 0.009); /* 93; pair to pair 0.16 mm is 131, module to module 66 */
    search_run(&s, shared);
    assert_candidates(&s, 0, 1);
    assert_hits(&s, 0, 0, ids, 4);
    search_close(&s);
  }
}

static void long_tracks_come_first_then_the_second_hit_gives_the_order(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    struct search s;
    uint32_t weak_high[3], weak_low[3], long_high[6], long_low[5], long_lowest[4];
    struct sample *sample = sample_new(0);
    add_track(sample, 25, 3, 0.018, weak_high);
    add_track(sample, 25, 6, 0.006, long_high);
    add_track(sample, 10, 5, -0.01, long_low);
    add_track(sample, 10, 4, -0.02, long_lowest); /* same pair, lower phi */
    add_track(sample, 6, 3, 0.02, weak_low);
    sample_end_event(sample);
    search_open(&s, sample);
    search_run(&s, shared);
    assert_candidates(&s, 0, 5);
    assert_hits(&s, 0, 0, long_lowest, 4);
    assert_hits(&s, 0, 1, long_low, 5);
    assert_hits(&s, 0, 2, long_high, 6);
    assert_hits(&s, 0, 3, weak_low, 3);
    assert_hits(&s, 0, 4, weak_high, 3);
    search_close(&s);
  }
}

static void candidates_beyond_the_budget_are_counted_and_not_written(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    struct search s;
    uint32_t ids[5];
    struct sample *sample = sample_new(0);
    for (uint32_t event = 0; event < 3; event++) {
      add_track(sample, 25, 5, 0.01, ids);
      add_track(sample, 15, 3, 0.02, ids);
      sample_end_event(sample);
    }
    search_open(&s, sample);
    for (uint32_t capacity = 0; capacity < 6; capacity++) {
      sl_test_budget(s.test, "candidates", capacity);
      search_run(&s, shared);
      assert_int_equal(sl_test_used(s.test, "candidates"), 6);
      for (uint32_t event = 0; event <= 3; event++) assert_int_equal(s.offsets[event], 0);
    }
    sl_test_budget(s.test, "candidates", 6);
    search_run(&s, shared);
    for (uint32_t event = 0; event <= 3; event++) assert_int_equal(s.offsets[event], 2 * event);
    search_close(&s);
  }
}

static void an_event_with_more_than_65535_hits_is_refused(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    struct search s;
    uint32_t ids[4];
    struct sample *sample = sample_new(0);
    for (uint32_t pair = 0; pair < 3; pair++)
      for (uint32_t i = 0; i < 65536 / 3 + 1; i++) sample_hit(sample, pair, 20 + i * 1e-4, 1);
    sample_end_event(sample);
    add_track(sample, 25, 4, 0.01, ids);
    sample_end_event(sample);
    search_open(&s, sample);
    search_run(&s, shared);
    assert_int_equal(sl_test_event_error(s.test, 0), 1ull << 32 | 3 * (65536 / 3 + 1));
    assert_int_equal(sl_test_event_error(s.test, 1), 0);
    assert_candidates(&s, 0, 0);
    assert_candidates(&s, 1, 1);
    assert_int_equal(used_count(&s), 4);
    search_close(&s);
  }
}

static void only_listed_events_are_searched(void **state) {
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    struct search s;
    uint32_t ids[4][4];
    struct sample *sample = sample_new(7); /* part of a slice: its hits begin at 7 */
    for (uint32_t event = 0; event < 4; event++) {
      add_track(sample, 20 - event, 4, 0.01, ids[event]);
      sample_end_event(sample);
    }
    search_open(&s, sample);
    sl_test_list(s.test, (const uint32_t[]){1, 3}, 2);
    search_run(&s, shared);
    const uint32_t expected[] = {0, 0, 1, 1, 2};
    assert_memory_equal(s.offsets, expected, sizeof expected);
    assert_hits(&s, 1, 0, ids[1], 4);
    assert_hits(&s, 3, 0, ids[3], 4);
    search_close(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_straight_track_is_found_once),
      cmocka_unit_test(a_track_through_all_pairs_has_26_hits),
      cmocka_unit_test(two_hits_make_no_track),
      cmocka_unit_test(one_pair_may_be_skipped_and_two_not),
      cmocka_unit_test(missing_modules_do_not_count_as_skipped),
      cmocka_unit_test(wrong_modules_are_reported),
      cmocka_unit_test(pairs_of_a_skipped_gap_may_hold_other_hits),
      cmocka_unit_test(a_triplet_needs_hits_in_three_consecutive_pairs),
      cmocka_unit_test(two_tracks_may_share_a_hit),
      cmocka_unit_test(windows_wrap_around_at_pi),
      cmocka_unit_test(the_window_is_as_wide_as_the_tolerance),
      cmocka_unit_test(a_hit_must_be_nearer_than_the_maximum_scatter),
      cmocka_unit_test(the_first_of_equally_near_hits_in_the_window_is_selected),
      cmocka_unit_test(the_first_in_a_window_across_pi_is_the_one_with_positive_phi),
      cmocka_unit_test(the_first_visited_of_equally_good_lines_is_selected),
      cmocka_unit_test(used_hits_seed_no_tracks),
      cmocka_unit_test(the_number_of_seed_candidates_is_limited),
      cmocka_unit_test(the_side_of_the_older_hit_determines_the_window),
      cmocka_unit_test(long_tracks_come_first_then_the_second_hit_gives_the_order),
      cmocka_unit_test(candidates_beyond_the_budget_are_counted_and_not_written),
      cmocka_unit_test(an_event_with_more_than_65535_hits_is_refused),
      cmocka_unit_test(only_listed_events_are_searched),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
