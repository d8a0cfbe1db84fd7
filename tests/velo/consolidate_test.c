/* consolidate_test.c: tracks with their hits from candidates: order, offsets, budgets. */
#include "tracking_sample.h"

enum { EVENTS = 3, FIRST_CANDIDATE = 2, CANDIDATES = 7, FIRST_HIT = 5, HITS = 35 };

/* Candidates 2 and 3 belong to event 0, none to event 1, 4 to 6 to event 2. */
static const uint32_t candidate_offsets[] = {2, 4, 4, 7}, hit_offsets[] = {5, 15, 20, 35};
static const uint8_t lengths[CANDIDATES] = {99, 99, 4, 3, 6, 4, 3};

struct input {
  uint16_t hits[CANDIDATES][VELO_MAX_HITS_PER_TRACK];
  uint32_t id[HITS];
  float x[HITS], y[HITS], z[HITS];
};

static void make_input(struct input *in) {
  memset(in, 0, sizeof *in);
  for (uint32_t c = 2; c < CANDIDATES; c++)
    for (uint32_t i = 0; i < lengths[c]; i++) in->hits[c][i] = (uint16_t)((c + 2 * i) % (c < 4 ? 10 : 15));
  for (uint32_t i = 0; i < HITS; i++) {
    in->id[i] = 1000 + i;
    in->x[i] = (float)i;
    in->y[i] = 0.5f * (float)i;
    in->z[i] = -2.0f * (float)i;
  }
}

static struct sl_test *open_test(struct input *in) {
  struct sl_test *t = sl_test_new(VELO_PLUGIN, "consolidate");
  make_input(in);
  sl_test_events(t, EVENTS);
  sl_test_input(t, "candidates", "offsets", candidate_offsets, EVENTS + 1);
  sl_test_input(t, "candidates", "hit_count", lengths, CANDIDATES);
  sl_test_input(t, "candidates", "hits", in->hits, CANDIDATES * VELO_MAX_HITS_PER_TRACK);
  sl_test_input(t, "hits", "offsets", hit_offsets, EVENTS + 1);
  sl_test_input(t, "hits", "id", in->id, HITS);
  sl_test_input(t, "hits", "x", in->x, HITS);
  sl_test_input(t, "hits", "y", in->y, HITS);
  sl_test_input(t, "hits", "z", in->z, HITS);
  return t;
}

static void assert_u32(const struct sl_test *t, const char *field, const uint32_t *expected, size_t n) {
  assert_memory_equal(sl_test_output(t, "tracks", field), expected, n * sizeof *expected);
}

/* The tracks have the hits of these candidates, in this order. */
static void assert_hits(const struct sl_test *t, const struct input *in, const uint32_t *candidates, uint32_t n) {
  const uint32_t *id = sl_test_output(t, "tracks", "hit_id");
  const float *x = sl_test_output(t, "tracks", "hit_x"), *y = sl_test_output(t, "tracks", "hit_y");
  const float *z = sl_test_output(t, "tracks", "hit_z");
  for (uint32_t c = 0, hit = 0; c < n; c++)
    for (uint32_t i = 0; i < lengths[candidates[c]]; i++, hit++) {
      const uint32_t from = hit_offsets[candidates[c] < 4 ? 0 : 2] + in->hits[candidates[c]][i];
      assert_int_equal(id[hit], 1000 + from);
      assert_true(x[hit] == in->x[from] && y[hit] == in->y[from] && z[hit] == in->z[from]);
    }
}

static void all_candidates_become_tracks_without_accepted_flags(void **state) {
  (void)state;
  struct input in;
  struct sl_test *t = open_test(&in);
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "offsets", (const uint32_t[]){0, 2, 2, 5}, 4);
  assert_u32(t, "hit_offsets", (const uint32_t[]){0, 4, 7, 13, 17, 20}, 6);
  assert_hits(t, &in, (const uint32_t[]){2, 3, 4, 5, 6}, 5);
  assert_int_equal(sl_test_used(t, "tracks"), 5);
  assert_int_equal(sl_test_used(t, "tracks.hit_offsets"), 20);
  sl_test_free(t);
}

static void only_accepted_candidates_become_tracks(void **state) {
  (void)state;
  struct input in;
  struct sl_test *t = open_test(&in);
  const uint8_t accepted[CANDIDATES] = {1, 1, 0, 1, 1, 0, 1};
  sl_test_input(t, "accepted", "flag", accepted, CANDIDATES);
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "offsets", (const uint32_t[]){0, 1, 1, 3}, 4);
  assert_u32(t, "hit_offsets", (const uint32_t[]){0, 3, 9, 12}, 4);
  assert_hits(t, &in, (const uint32_t[]){3, 4, 6}, 3);
  sl_test_free(t);
}

static void without_accepted_candidates_there_are_no_tracks(void **state) {
  (void)state;
  struct input in;
  struct sl_test *t = open_test(&in);
  const uint8_t accepted[CANDIDATES] = {1, 1, 0, 0, 0, 0, 0};
  sl_test_input(t, "accepted", "flag", accepted, CANDIDATES);
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "offsets", (const uint32_t[]){0, 0, 0, 0}, 4);
  assert_u32(t, "hit_offsets", (const uint32_t[]){0}, 1);
  sl_test_free(t);
}

static void events_not_listed_have_no_tracks(void **state) {
  (void)state;
  struct input in;
  struct sl_test *t = open_test(&in);
  sl_test_list(t, (const uint32_t[]){2}, 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "offsets", (const uint32_t[]){0, 0, 0, 3}, 4);
  assert_u32(t, "hit_offsets", (const uint32_t[]){0, 6, 10, 13}, 4);
  assert_hits(t, &in, (const uint32_t[]){4, 5, 6}, 3);
  sl_test_list(t, NULL, 0);
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "offsets", (const uint32_t[]){0, 0, 0, 0}, 4);
  assert_u32(t, "hit_offsets", (const uint32_t[]){0}, 1); /* written also if no event is on the list */
  sl_test_free(t);
}

static void too_many_tracks_or_hits_leave_no_tracks(void **state) {
  (void)state;
  struct input in;
  struct sl_test *t = open_test(&in);
  const uint32_t capacities[][2] = {{0, 20}, {4, 20}, {5, 0}, {5, 19}, {4, 19}, {0, 0}};
  for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
    sl_test_budget(t, "tracks", capacities[i][0]);
    sl_test_budget(t, "tracks.hit_offsets", capacities[i][1]);
    assert_int_equal(sl_test_run(t), 0);
    assert_u32(t, "offsets", (const uint32_t[]){0, 0, 0, 0}, 4);
    assert_u32(t, "hit_offsets", (const uint32_t[]){0}, 1);
    assert_int_equal(sl_test_used(t, "tracks.hit_offsets"), 20);
    assert_int_equal(sl_test_used(t, "tracks"), capacities[i][1] < 20 ? 0 : 5);
  }
  sl_test_budget(t, "tracks", 5);
  sl_test_budget(t, "tracks.hit_offsets", 20);
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "offsets", (const uint32_t[]){0, 2, 2, 5}, 4);
  sl_test_free(t);
}

static void hits_are_bounded_by_candidates_and_by_the_budget(void **state) {
  (void)state;
  struct input in;
  struct sl_test *t = open_test(&in);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_output_count(t, "tracks", "hit_id"), VELO_MAX_HITS_PER_TRACK * CANDIDATES);
  assert_int_equal(sl_test_output_count(t, "tracks", "hit_offsets"), CANDIDATES + 1);
  sl_test_free(t);
}

/* Events with more hits than a block stages at a time: both events on tracks, the second one in total. */
static void large_events_are_copied_in_parts(void **state) {
  (void)state;
  enum { TRACKS = 900, PER_EVENT = TRACKS / 2, ALL_HITS = 9000, SMALLER = 3000 };
  const uint32_t offsets[] = {0, PER_EVENT, TRACKS}, first_hit[] = {0, SMALLER, ALL_HITS};
  static uint16_t hits[TRACKS][VELO_MAX_HITS_PER_TRACK];
  static uint8_t counts[TRACKS];
  static uint32_t id[ALL_HITS];
  static float x[ALL_HITS], y[ALL_HITS], z[ALL_HITS];
  for (uint32_t t = 0; t < TRACKS; t++) {
    counts[t] = (uint8_t)(3 + t * 7 % 24);
    for (uint32_t i = 0; i < counts[t]; i++)
      hits[t][i] = (uint16_t)((t * 131 + i * 977) % (t < PER_EVENT ? SMALLER : ALL_HITS - SMALLER));
  }
  for (uint32_t i = 0; i < ALL_HITS; i++) {
    id[i] = i;
    x[i] = (float)i + 0.25f;
    y[i] = (float)i + 0.5f;
    z[i] = (float)i + 0.75f;
  }
  struct sl_test *t = sl_test_new(VELO_PLUGIN, "consolidate");
  sl_test_events(t, 2);
  sl_test_input(t, "candidates", "offsets", offsets, 3);
  sl_test_input(t, "candidates", "hit_count", counts, TRACKS);
  sl_test_input(t, "candidates", "hits", hits, TRACKS * VELO_MAX_HITS_PER_TRACK);
  sl_test_input(t, "hits", "offsets", first_hit, 3);
  sl_test_input(t, "hits", "id", id, ALL_HITS);
  sl_test_input(t, "hits", "x", x, ALL_HITS);
  sl_test_input(t, "hits", "y", y, ALL_HITS);
  sl_test_input(t, "hits", "z", z, ALL_HITS);
  assert_int_equal(sl_test_run(t), 0);
  assert_u32(t, "offsets", offsets, 3);
  const uint32_t *to_id = sl_test_output(t, "tracks", "hit_id"), *to = sl_test_output(t, "tracks", "hit_offsets");
  const float *to_x = sl_test_output(t, "tracks", "hit_x"), *to_y = sl_test_output(t, "tracks", "hit_y");
  const float *to_z = sl_test_output(t, "tracks", "hit_z");
  uint32_t hit = 0;
  for (uint32_t track = 0; track < TRACKS; track++) {
    assert_int_equal(to[track], hit);
    for (uint32_t i = 0; i < counts[track]; i++, hit++) {
      const uint32_t from = hits[track][i] + (track < PER_EVENT ? 0u : SMALLER);
      assert_int_equal(to_id[hit], from);
      assert_true(to_x[hit] == x[from] && to_y[hit] == y[from] && to_z[hit] == z[from]);
    }
  }
  assert_int_equal(to[TRACKS], hit);
  assert_true(to[PER_EVENT] > 5000 && hit - to[PER_EVENT] > 5000); /* in each event */
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_candidates_become_tracks_without_accepted_flags),
      cmocka_unit_test(only_accepted_candidates_become_tracks),
      cmocka_unit_test(without_accepted_candidates_there_are_no_tracks),
      cmocka_unit_test(events_not_listed_have_no_tracks),
      cmocka_unit_test(too_many_tracks_or_hits_leave_no_tracks),
      cmocka_unit_test(large_events_are_copied_in_parts),
      cmocka_unit_test(hits_are_bounded_by_candidates_and_by_the_budget),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
