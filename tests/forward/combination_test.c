/* combination_test.c: forward.unused_hits, forward.unused_velo_tracks and forward.merge_long_tracks against plain loops
 * on random tracks: the unused hits and VELO tracks, and the hits of merged tracks by id.
 */
#include "forward_support.h"

enum { EVENTS = 4, HITS = 9000, TRACKS = 120, TRACK_HITS = 10, SELECTED = 400 };

/* Events: usual ones, one without hits and tracks, and one with two unused hits. */
static const uint32_t hit_offsets[] = {0, 3000, 3000, 3040, 9000};
static const uint32_t track_offsets[] = {0, 40, 40, 44, 120};
static const uint32_t selected_offsets[] = {0, 130, 150, 154, 400};

static struct {
  uint16_t zone_first[EVENTS * (SCIFI_ZONES + 1)];
  uint32_t id[HITS];
  float x[HITS], z[HITS];
  uint8_t pseudo_size[HITS];
} hits;

/* Long tracks; the hits of the second tracks are unused hits. */
struct tracks {
  uint32_t offsets[EVENTS + 1], hit_offsets[TRACKS + 1], velo_track[TRACKS], ut_track[TRACKS];
  float qop[TRACKS], ghost[TRACKS], x[TRACKS], y[TRACKS], tx[TRACKS], ty[TRACKS];
  uint16_t hit[TRACKS * TRACK_HITS];
  uint32_t hit_id[TRACKS * TRACK_HITS];
};
static struct tracks tracks;
static uint32_t selected[SELECTED];

static uint32_t random_below(uint32_t count) { return (uint32_t)random_between(0, (float)count) % count; }

static void make_hits(void) {
  for (uint32_t event = 0; event < EVENTS; event++) {
    uint16_t *first = hits.zone_first + event * (SCIFI_ZONES + 1);
    const uint32_t count = hit_offsets[event + 1] - hit_offsets[event];
    for (uint32_t zone = 0; zone < SCIFI_ZONES; zone++) /* some zones are empty */
      first[zone] = (uint16_t)(count * (zone / 2) / (SCIFI_ZONES / 2) + (count > 0 ? zone % 2 * 3 : 0));
    first[SCIFI_ZONES] = (uint16_t)count;
  }
  for (uint32_t i = 0; i < HITS; i++) {
    hits.id[i] = (uint32_t)SCIFI_LHCB_ID | 3 * i;
    hits.x[i] = random_between(-3000, 3000);
    hits.z[i] = random_between(7800, 9410);
    hits.pseudo_size[i] = (uint8_t)random_below(9);
  }
}

/* Tracks with hits at indices that `id` has; event i has `counts[i]` tracks. */
static void make_tracks(struct tracks *t, const uint32_t *offsets, const uint32_t *counts, const uint32_t *starts,
                        const uint32_t *id) {
  uint32_t to = 0;
  memcpy(t->offsets, offsets, sizeof t->offsets);
  for (uint32_t event = 0; event < EVENTS; event++)
    for (uint32_t i = offsets[event]; i < offsets[event + 1]; i++) {
      t->hit_offsets[i] = to;
      t->velo_track[i] = random_below(200);
      t->ut_track[i] = i % 3 ? i : FORWARD_NO_TRACK;
      t->ghost[i] = random_between(0, 1);
      t->qop[i] = random_between(-1e-3f, 1e-3f);
      t->x[i] = random_between(-3000, 3000);
      t->y[i] = random_between(-2500, 2500);
      t->tx[i] = random_between(-1, 1);
      t->ty[i] = random_between(-1, 1);
      for (uint32_t h = 0; h < TRACK_HITS - i % 2; h++, to++) {
        t->hit[to] = (uint16_t)random_below(counts[event]); /* some hits are on two tracks */
        t->hit_id[to] = id[starts[event] + t->hit[to]];
      }
    }
  t->hit_offsets[offsets[EVENTS]] = to;
}

static void make_case(void) {
  uint32_t counts[EVENTS];
  make_hits();
  for (uint32_t event = 0; event < EVENTS; event++) counts[event] = hit_offsets[event + 1] - hit_offsets[event];
  make_tracks(&tracks, track_offsets, counts, hit_offsets, hits.id);
  for (uint32_t h = tracks.hit_offsets[40], k = 0; h < tracks.hit_offsets[44]; h++, k++) { /* 38 hits of 40 */
    tracks.hit[h] = (uint16_t)k;
    tracks.hit_id[h] = hits.id[3000 + k];
  }
  for (uint32_t event = 0; event < EVENTS; event++)
    for (uint32_t i = selected_offsets[event], k = 0; i < selected_offsets[event + 1]; i++)
      selected[i] = k += 1 + random_below(2);
}

static void give_tracks(struct sl_test *t, const char *port, const struct tracks *from) {
  const uint32_t count = from->offsets[EVENTS], count_hits = from->hit_offsets[count];
  sl_test_input(t, port, "offsets", from->offsets, EVENTS + 1);
  sl_test_input(t, port, "hit_offsets", from->hit_offsets, count + 1);
  sl_test_input(t, port, "velo_track", from->velo_track, count);
  sl_test_input(t, port, "ut_track", from->ut_track, count);
  sl_test_input(t, port, "qop", from->qop, count);
  sl_test_input(t, port, "ghost", from->ghost, count);
  sl_test_input(t, port, "x", from->x, count);
  sl_test_input(t, port, "y", from->y, count);
  sl_test_input(t, port, "tx", from->tx, count);
  sl_test_input(t, port, "ty", from->ty, count);
  sl_test_input(t, port, "hit", from->hit, count_hits);
  sl_test_input(t, port, "hit_id", from->hit_id, count_hits);
}

static struct sl_test *unused_new(uint32_t block) {
  struct sl_test *t = sl_test_new(FORWARD_PLUGIN, "unused_hits");
  sl_test_events(t, EVENTS);
  sl_test_block(t, block);
  sl_test_input(t, "hits", "offsets", hit_offsets, EVENTS + 1);
  sl_test_input(t, "hits", "zone_first", hits.zone_first, EVENTS * (SCIFI_ZONES + 1));
  sl_test_input(t, "hits", "id", hits.id, HITS);
  sl_test_input(t, "hits", "x", hits.x, HITS);
  sl_test_input(t, "hits", "z", hits.z, HITS);
  sl_test_input(t, "hits", "pseudo_size", hits.pseudo_size, HITS);
  sl_test_input(t, "tracks", "offsets", tracks.offsets, EVENTS + 1);
  sl_test_input(t, "tracks", "hit_offsets", tracks.hit_offsets, TRACKS + 1);
  sl_test_input(t, "tracks", "hit", tracks.hit, tracks.hit_offsets[TRACKS]);
  assert_int_equal(sl_test_run(t), 0);
  return t;
}

static uint32_t is_used(uint32_t event, uint32_t place) {
  for (uint32_t i = track_offsets[event]; i < track_offsets[event + 1]; i++)
    for (uint32_t h = tracks.hit_offsets[i]; h < tracks.hit_offsets[i + 1]; h++)
      if (tracks.hit[h] == place) return 1;
  return 0;
}

static void assert_left(const struct sl_test *t) {
  const uint32_t *offsets = sl_test_output(t, "unused", "offsets"), *id = sl_test_output(t, "unused", "id");
  const uint16_t *zone_first = sl_test_output(t, "unused", "zone_first"),
                 *place = sl_test_output(t, "hit_indices", "index");
  const float *x = sl_test_output(t, "unused", "x"), *z = sl_test_output(t, "unused", "z");
  const uint8_t *pseudo_size = sl_test_output(t, "unused", "pseudo_size");
  uint32_t to = 0;
  for (uint32_t event = 0; event < EVENTS; event++) {
    const uint16_t *first = hits.zone_first + event * (SCIFI_ZONES + 1);
    const uint32_t begin = hit_offsets[event], count = hit_offsets[event + 1] - begin;
    uint32_t zone = 0;
    assert_int_equal(offsets[event], to);
    for (uint32_t i = 0; i <= count; i++) {
      for (; zone <= SCIFI_ZONES && first[zone] == i; zone++)
        assert_int_equal(zone_first[event * (SCIFI_ZONES + 1) + zone], to - offsets[event]);
      if (i == count || is_used(event, i)) continue;
      assert_int_equal(id[to], hits.id[begin + i]);
      assert_int_equal(pseudo_size[to], hits.pseudo_size[begin + i]);
      assert_true(x[to] == hits.x[begin + i] && z[to] == hits.z[begin + i]);
      assert_int_equal(place[to++], i);
    }
    assert_int_equal(zone, SCIFI_ZONES + 1);
  }
  assert_int_equal(offsets[EVENTS], to);
}

static void unused_hits_stay_in_input_order(void **state) {
  (void)state;
  make_case();
  for (uint32_t block = 32; block <= 256; block *= 2) {
    struct sl_test *t = unused_new(block);
    assert_left(t);
    sl_test_free(t);
  }
}

static void unused_velo_tracks_stay_in_input_order(void **state) {
  (void)state;
  make_case();
  for (uint32_t block = 32; block <= 256; block *= 2) {
    struct sl_test *t = sl_test_new(FORWARD_PLUGIN, "unused_velo_tracks");
    sl_test_events(t, EVENTS);
    sl_test_block(t, block);
    sl_test_input(t, "selected", "offsets", selected_offsets, EVENTS + 1);
    sl_test_input(t, "selected", "track", selected, SELECTED);
    sl_test_input(t, "tracks", "offsets", tracks.offsets, EVENTS + 1);
    sl_test_input(t, "tracks", "velo_track", tracks.velo_track, TRACKS);
    assert_int_equal(sl_test_run(t), 0);
    const uint32_t *offsets = sl_test_output(t, "unused", "offsets"), *left = sl_test_output(t, "unused", "track");
    uint32_t to = 0;
    for (uint32_t event = 0; event < EVENTS; event++) {
      assert_int_equal(offsets[event], to);
      for (uint32_t i = selected_offsets[event]; i < selected_offsets[event + 1]; i++) {
        uint32_t used = 0;
        for (uint32_t k = track_offsets[event]; k < track_offsets[event + 1]; k++)
          if (tracks.velo_track[k] == selected[i]) used = 1;
        if (!used) assert_int_equal(left[to++], selected[i]);
      }
    }
    assert_int_equal(offsets[EVENTS], to);
    assert_true(offsets[1] < 130 && offsets[1] > 50 &&
                offsets[2] - offsets[1] == 20); /* the second event has no tracks */
    sl_test_free(t);
  }
}

/* `first_ut`: offsets of the UT tracks of the first search, or NULL. */
static void assert_merged(const struct sl_test *t, const struct tracks *second, const uint32_t *first_ut) {
  const uint32_t *offsets = sl_test_output(t, "merged", "offsets");
  const uint32_t *starts = sl_test_output(t, "merged", "hit_offsets"), *id = sl_test_output(t, "merged", "hit_id");
  const uint16_t *hit = sl_test_output(t, "merged", "hit");
  uint32_t to = 0, to_hit = 0;
  for (uint32_t event = 0; event < EVENTS; event++) {
    assert_int_equal(offsets[event], to);
    for (int turn = 0; turn < 2; turn++) {
      const struct tracks *from = turn == 0 ? &tracks : second;
      const uint32_t shift = turn == 1 && first_ut ? first_ut[event + 1] - first_ut[event] : 0;
      for (uint32_t i = from->offsets[event]; i < from->offsets[event + 1]; i++, to++) {
        assert_int_equal(starts[to], to_hit);
        assert_int_equal(((const uint32_t *)sl_test_output(t, "merged", "velo_track"))[to], from->velo_track[i]);
        assert_int_equal(((const uint32_t *)sl_test_output(t, "merged", "ut_track"))[to],
                         from->ut_track[i] == FORWARD_NO_TRACK ? FORWARD_NO_TRACK : from->ut_track[i] + shift);
        assert_true(((const float *)sl_test_output(t, "merged", "qop"))[to] == from->qop[i]);
        assert_true(((const float *)sl_test_output(t, "merged", "ghost"))[to] == from->ghost[i]);
        assert_true(((const float *)sl_test_output(t, "merged", "x"))[to] == from->x[i]);
        assert_true(((const float *)sl_test_output(t, "merged", "y"))[to] == from->y[i]);
        assert_true(((const float *)sl_test_output(t, "merged", "tx"))[to] == from->tx[i]);
        assert_true(((const float *)sl_test_output(t, "merged", "ty"))[to] == from->ty[i]);
        for (uint32_t h = from->hit_offsets[i]; h < from->hit_offsets[i + 1]; h++, to_hit++) {
          assert_int_equal(id[to_hit], from->hit_id[h]);
          assert_int_equal(hits.id[hit_offsets[event] + hit[to_hit]], id[to_hit]); /* its index among all hits */
          assert_int_equal(is_used(event, hit[to_hit]), turn == 0);
        }
      }
    }
  }
  assert_int_equal(offsets[EVENTS], to);
  assert_int_equal(starts[to], to_hit);
}

static void merged_tracks_index_all_hits(void **state) {
  (void)state;
  static const uint32_t second_offsets[] = {0, 20, 20, 22, 60};
  static struct tracks second;
  uint32_t counts[EVENTS];
  make_case();
  struct sl_test *unused = unused_new(64);
  const uint32_t *left = sl_test_output(unused, "unused", "offsets");
  for (uint32_t event = 0; event < EVENTS; event++) counts[event] = left[event + 1] - left[event];
  assert_true(counts[0] > 2000 && counts[1] == 0 && counts[2] == 2);
  make_tracks(&second, second_offsets, counts, left, sl_test_output(unused, "unused", "id"));
  for (uint32_t turn = 0; turn < 8; turn++) {
    static const uint32_t ut_offsets[] = {0, 70, 70, 75, 90};
    const uint32_t *first_ut = turn % 2 ? ut_offsets : NULL;
    struct sl_test *t = sl_test_new(FORWARD_PLUGIN, "merge_long_tracks");
    sl_test_events(t, EVENTS);
    sl_test_block(t, 32u << turn / 2);
    if (first_ut) sl_test_input(t, "first_ut", "offsets", first_ut, EVENTS + 1);
    give_tracks(t, "first", &tracks);
    give_tracks(t, "second", &second);
    sl_test_input(t, "hit_indices", "offsets", left, EVENTS + 1);
    give(t, "hit_indices", unused, "hit_indices", "index");
    assert_int_equal(sl_test_run(t), 0);
    assert_merged(t, &second, first_ut);
    sl_test_free(t);
  }
  sl_test_free(unused);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unused_hits_stay_in_input_order),
      cmocka_unit_test(unused_velo_tracks_stay_in_input_order),
      cmocka_unit_test(merged_tracks_index_all_hits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
