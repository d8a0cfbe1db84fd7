/* merge_tracks_test.c: ut.merge_tracks on events with tracks of both searches, of neither, and of only one. */
#include "ut_support.h"

enum { EVENTS = 4, TRACKS = 64, TRACK_HITS = UT_TRACK_HITS_MAX };

struct tracks {
  uint32_t offsets[EVENTS + 1], hit_offsets[TRACKS + 1], velo_track[TRACKS], hit_id[TRACKS * TRACK_HITS];
  float qop[TRACKS], x[TRACKS], tx[TRACKS];
  float hit_x[TRACKS * TRACK_HITS], hit_y[TRACKS * TRACK_HITS], hit_z[TRACKS * TRACK_HITS];
  uint16_t hit_sector[TRACKS * TRACK_HITS];
};

/* All values differ; `from` is the first one. Tracks have two to four hits. */
static void make_tracks(struct tracks *t, const uint32_t *offsets, uint32_t from) {
  uint32_t to = 0;
  memcpy(t->offsets, offsets, sizeof t->offsets);
  for (uint32_t i = 0; i < offsets[EVENTS]; i++) {
    t->velo_track[i] = from + i;
    t->qop[i] = (float)(from + i);
    t->x[i] = 0.5f + (float)(from + i);
    t->tx[i] = 0.25f + (float)(from + i);
    t->hit_offsets[i] = to;
    for (uint32_t h = 0; h < 2 + i % 3; h++, to++) {
      t->hit_id[to] = from + to;
      t->hit_x[to] = (float)(from + to);
      t->hit_y[to] = 0.5f + (float)(from + to);
      t->hit_z[to] = 0.25f + (float)(from + to);
      t->hit_sector[to] = (uint16_t)(from + to);
    }
  }
  t->hit_offsets[offsets[EVENTS]] = to;
}

static void give_tracks(struct sl_test *to, const char *port, const struct tracks *t) {
  const uint32_t count = t->offsets[EVENTS], hits = t->hit_offsets[count];
  sl_test_input(to, port, "offsets", t->offsets, EVENTS + 1);
  sl_test_input(to, port, "hit_offsets", t->hit_offsets, count + 1);
  sl_test_input(to, port, "velo_track", t->velo_track, count);
  sl_test_input(to, port, "qop", t->qop, count);
  sl_test_input(to, port, "x", t->x, count);
  sl_test_input(to, port, "tx", t->tx, count);
  sl_test_input(to, port, "hit_id", t->hit_id, hits);
  sl_test_input(to, port, "hit_x", t->hit_x, hits);
  sl_test_input(to, port, "hit_y", t->hit_y, hits);
  sl_test_input(to, port, "hit_z", t->hit_z, hits);
  sl_test_input(to, port, "hit_sector", t->hit_sector, hits);
}

static void assert_track(const struct sl_test *t, uint32_t i, uint32_t to, const struct tracks *from, uint32_t track) {
  assert_int_equal(((const uint32_t *)sl_test_output(t, "merged", "velo_track"))[i], from->velo_track[track]);
  assert_true(((const float *)sl_test_output(t, "merged", "qop"))[i] == from->qop[track]);
  assert_true(((const float *)sl_test_output(t, "merged", "x"))[i] == from->x[track]);
  assert_true(((const float *)sl_test_output(t, "merged", "tx"))[i] == from->tx[track]);
  assert_int_equal(((const uint32_t *)sl_test_output(t, "merged", "hit_offsets"))[i], to);
  for (uint32_t h = from->hit_offsets[track]; h < from->hit_offsets[track + 1]; h++, to++) {
    assert_int_equal(((const uint32_t *)sl_test_output(t, "merged", "hit_id"))[to], from->hit_id[h]);
    assert_int_equal(((const uint16_t *)sl_test_output(t, "merged", "hit_sector"))[to], from->hit_sector[h]);
    assert_true(((const float *)sl_test_output(t, "merged", "hit_x"))[to] == from->hit_x[h]);
    assert_true(((const float *)sl_test_output(t, "merged", "hit_y"))[to] == from->hit_y[h]);
    assert_true(((const float *)sl_test_output(t, "merged", "hit_z"))[to] == from->hit_z[h]);
  }
}

static void tracks_of_the_second_search_follow_those_of_the_first(void **state) {
  static const uint32_t first_offsets[] = {0, 40, 40, 45, 45}, second_offsets[] = {0, 50, 50, 50, 53};
  static struct tracks first, second;
  (void)state;
  make_tracks(&first, first_offsets, 0);
  make_tracks(&second, second_offsets, 1000);
  for (uint32_t block = 32; block <= 256; block *= 2) {
    struct sl_test *t = sl_test_new(UT_PLUGIN, "merge_tracks");
    sl_test_events(t, EVENTS);
    sl_test_block(t, block);
    give_tracks(t, "first", &first);
    give_tracks(t, "second", &second);
    assert_int_equal(sl_test_run(t), 0);
    const uint32_t *offsets = sl_test_output(t, "merged", "offsets");
    uint32_t i = 0, to = 0;
    for (uint32_t event = 0; event < EVENTS; event++) {
      assert_int_equal(offsets[event], i);
      for (uint32_t k = 0; k < 2; k++) {
        const struct tracks *from = k == 0 ? &first : &second;
        for (uint32_t track = from->offsets[event]; track < from->offsets[event + 1]; track++) {
          assert_track(t, i++, to, from, track);
          to += from->hit_offsets[track + 1] - from->hit_offsets[track];
        }
      }
    }
    assert_int_equal(offsets[EVENTS], i);
    assert_int_equal(((const uint32_t *)sl_test_output(t, "merged", "hit_offsets"))[i], to);
    sl_test_free(t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tracks_of_the_second_search_follow_those_of_the_first)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
