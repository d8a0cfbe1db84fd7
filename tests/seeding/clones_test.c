/* clones_test.c: seeding.clones: constructed tracks, and random tracks against lists of the tracks of each hit. */
#include "seed_support.h"

enum { EVENTS = 3, TRACKS_MAX = 4096 };

static struct {
  uint32_t offsets[EVENTS + 1], hit_offsets[EVENTS + 1];
  uint8_t kind[TRACKS_MAX], hit_count[TRACKS_MAX];
  uint16_t hits[TRACKS_MAX][SCIFI_X_LAYERS];
  float a[TRACKS_MAX], b[TRACKS_MAX], c[TRACKS_MAX], score[TRACKS_MAX];
  uint32_t skipped; /* hits of each event that precede those of its tracks */
} in;

static int start(void **state) {
  (void)state;
  memset(&in, 0, sizeof in);
  return 0;
}

/* Tracks use 100 hits of each event; tracks are added event by event. */
static void next_event(uint32_t event) {
  in.offsets[event + 1] = in.offsets[event];
  in.hit_offsets[event + 1] = in.hit_offsets[event] + in.skipped + 100;
}
static void add_track(uint32_t event, float score, float curvature, const uint16_t *hits, uint32_t count) {
  const uint32_t i = in.offsets[event + 1]++;
  assert_true(i < TRACKS_MAX);
  in.kind[i] = (uint8_t)(i % 4);
  in.hit_count[i] = (uint8_t)count;
  memset(in.hits[i], 0, sizeof in.hits[i]);
  memcpy(in.hits[i], hits, count * sizeof *hits);
  in.score[i] = score;
  in.a[i] = 10 * (float)i;
  in.b[i] = 0.1f * (float)i;
  in.c[i] = curvature;
}

static struct sl_test *clones_new(void) {
  struct sl_test *t = sl_test_new(SEEDING_PLUGIN, "clones");
  const uint32_t tracks = in.offsets[EVENTS];
  sl_test_events(t, EVENTS);
  sl_test_input(t, "hits", "offsets", in.hit_offsets, EVENTS + 1);
  sl_test_input(t, "candidates", "offsets", in.offsets, EVENTS + 1);
  sl_test_input(t, "candidates", "kind", in.kind, tracks);
  sl_test_input(t, "candidates", "hit_count", in.hit_count, tracks);
  sl_test_input(t, "candidates", "hits", in.hits, (uint64_t)tracks * SCIFI_X_LAYERS);
  sl_test_input(t, "candidates", "a", in.a, tracks);
  sl_test_input(t, "candidates", "b", in.b, tracks);
  sl_test_input(t, "candidates", "c", in.c, tracks);
  sl_test_input(t, "candidates", "score", in.score, tracks);
  return t;
}

static const void *field(const struct sl_test *t, const char *name) { return sl_test_output(t, "tracks", name); }

/* The output of the event has exactly these tracks, with all fields. */
static void assert_kept(const struct sl_test *t, uint32_t event, const uint32_t *kept, uint32_t count) {
  const uint32_t *offsets = field(t, "offsets");
  assert_int_equal(offsets[event + 1] - offsets[event], count);
  for (uint32_t k = 0; k < count; k++) {
    const uint32_t at = offsets[event] + k, from = in.offsets[event] + kept[k];
    assert_int_equal(((const uint8_t *)field(t, "kind"))[at], in.kind[from]);
    assert_int_equal(((const uint8_t *)field(t, "hit_count"))[at], in.hit_count[from]);
    assert_memory_equal((const uint16_t *)field(t, "hits") + (size_t)SCIFI_X_LAYERS * at, in.hits[from],
                        sizeof in.hits[from]);
    assert_true(((const float *)field(t, "a"))[at] == in.a[from]);
    assert_true(((const float *)field(t, "b"))[at] == in.b[from]);
    assert_true(((const float *)field(t, "c"))[at] == in.c[from]);
    assert_true(((const float *)field(t, "score"))[at] == in.score[from]);
  }
}

static void a_track_needs_four_hits_not_used_by_better_tracks(void **state) {
  (void)state;
  static const uint16_t best[] = {0, 10, 20, 30, 40, 50}, two_shared[] = {0, 10, 21, 31, 41, 51};
  static const uint16_t three_shared[] = {0, 10, 20, 32, 42, 52}, five[] = {3, 13, 23, 40, 50};
  static const uint16_t five_and_one[] = {4, 14, 24, 34, 50};
  next_event(0);
  add_track(0, 0.3f, 0, two_shared, 6);
  add_track(0, 0.1f, 1e-6f, best, 6);
  add_track(0, 0.2f, 0, three_shared, 6);
  add_track(0, 0.4f, 0, five, 5);
  add_track(0, 0.5f, 0, five_and_one, 5);
  next_event(1);
  next_event(2); /* equal hit indices, but in another event */
  add_track(2, 0.9f, 0, two_shared, 6);
  struct sl_test *t = clones_new();
  const uint32_t kept[] = {0, 1, 4}, first = 0, with_three[] = {0, 1, 2, 3, 4}, with_six = 1;
  assert_int_equal(sl_test_run(t), 0);
  assert_kept(t, 0, kept, 3);
  assert_kept(t, 1, NULL, 0);
  assert_kept(t, 2, &first, 1);
  sl_test_set(t, "min_hits", 3);
  assert_int_equal(sl_test_run(t), 0);
  assert_kept(t, 0, with_three, 5);
  sl_test_set(t, "min_hits", 6);
  assert_int_equal(sl_test_run(t), 0);
  assert_kept(t, 0, &with_six, 1);
  sl_test_free(t);
}

/* Order: score, then index. */
static void one_of_several_tracks_with_equal_hits_is_selected(void **state) {
  (void)state;
  static const uint16_t hits[] = {0, 10, 20, 30, 40, 50};
  static const struct {
    float score[3];
    uint32_t kept;
  } cases[] = {{{0.3f, 0.2f, 0.25f}, 1}, {{0.25f, 0.3f, 0.2f}, 2}, {{0.1f, 0.1f, 0.1f}, 0}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    memset(&in, 0, sizeof in);
    next_event(0);
    for (uint32_t i = 0; i < 3; i++) add_track(0, cases[k].score[i], 1e-6f * (float)i, hits, 6);
    next_event(1);
    next_event(2);
    struct sl_test *t = clones_new();
    assert_int_equal(sl_test_run(t), 0);
    assert_kept(t, 0, &cases[k].kept, 1);
    sl_test_free(t);
  }
}

static int is_better(uint32_t a, uint32_t b) { return in.score[a] != in.score[b] ? in.score[a] < in.score[b] : a < b; }

static int has(uint32_t track, uint32_t hit) {
  for (uint32_t k = 0; k < in.hit_count[track]; k++)
    if (in.hits[track][k] == hit) return 1;
  return 0;
}

static uint32_t plain_kept(uint32_t event, uint32_t *kept) {
  uint32_t count = 0;
  for (uint32_t i = in.offsets[event]; i < in.offsets[event + 1]; i++) {
    uint32_t own = 0;
    for (uint32_t k = 0; k < in.hit_count[i]; k++) {
      uint32_t is_own = 1;
      for (uint32_t j = in.offsets[event]; j < in.offsets[event + 1]; j++)
        if (has(j, in.hits[i][k]) && is_better(j, i)) is_own = 0;
      own += is_own;
    }
    if (own >= 4) kept[count++] = i - in.offsets[event];
  }
  return count;
}

/* Scores with few values, so that many are equal. */
static void make_random_case(uint32_t tracks, uint32_t skipped) {
  memset(&in, 0, sizeof in);
  in.skipped = skipped;
  for (uint32_t event = 0; event < EVENTS; event++) {
    next_event(event);
    for (uint32_t i = 0; i < tracks; i++) {
      uint16_t hits[SCIFI_X_LAYERS];
      const uint32_t count = i % 3 ? 6 : 5, seed = (uint32_t)random_between(0, 14.99f);
      for (uint32_t k = 0; k < count; k++) {
        const uint32_t own = random_between(0, 1) < 0.7f ? seed : (uint32_t)random_between(0, 14.99f);
        hits[k] = (uint16_t)(skipped + 16 * k + own);
      }
      add_track(event, (float)(uint32_t)random_between(0, 8) / 16, random_between(-1, 1) < 0 ? 0.0f : 1e-5f, hits,
                count);
    }
  }
}

/* Also in events with more hits than fit shared memory. */
static void selected_tracks_equal_those_of_a_plain_comparison(void **state) {
  (void)state;
  static uint32_t kept[TRACKS_MAX];
  uint32_t all = 0;
  for (uint32_t tracks = 10; tracks <= 1000; tracks *= 10)
    for (uint32_t block = 32; block <= 256; block *= 2) {
      make_random_case(tracks, block == 64 ? 10000 : 0);
      struct sl_test *t = clones_new();
      sl_test_block(t, block);
      assert_int_equal(sl_test_run(t), 0);
      for (uint32_t event = 0; event < EVENTS; event++) {
        const uint32_t count = plain_kept(event, kept);
        all += count;
        assert_true(count < tracks);
        assert_kept(t, event, kept, count);
      }
      sl_test_free(t);
    }
  assert_true(all > 100);
}

static void events_not_listed_have_no_tracks(void **state) {
  (void)state;
  static uint32_t kept[TRACKS_MAX];
  const uint32_t listed = 1;
  make_random_case(100, 0);
  struct sl_test *t = clones_new();
  sl_test_list(t, &listed, 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_kept(t, 0, NULL, 0);
  assert_kept(t, 1, kept, plain_kept(1, kept));
  assert_kept(t, 2, NULL, 0);
  sl_test_free(t);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, start)
  const struct CMUnitTest tests[] = {
      TEST(a_track_needs_four_hits_not_used_by_better_tracks),
      TEST(one_of_several_tracks_with_equal_hits_is_selected),
      TEST(selected_tracks_equal_those_of_a_plain_comparison),
      TEST(events_not_listed_have_no_tracks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
