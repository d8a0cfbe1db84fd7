/* consolidate_test.c: ut.consolidate: tracks and hits of three events, one of them without tracks. */
#include "ut_support.h"

enum { EVENTS = 3, CANDIDATES = 6, HITS = 12 };

static void tracks_have_the_hits_of_the_candidates(void **state) {
  const uint32_t offsets[] = {0, 3, 4, 6}, hit_offsets[] = {0, 5, 6, 12}, track[] = {2, 5, 7, 1, 0, 3};
  const uint8_t hit_count[] = {4, 0, 3, 0, 0, 3};
  const uint16_t found[CANDIDATES * UT_TRACK_HITS_MAX] = {0, 4, 2, 1, 0, 0, 0, 0, 3, 0, 1, 0,
                                                          0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 2, 0};
  float qop[CANDIDATES], x[CANDIDATES], tx[CANDIDATES], hit_x[HITS], hit_y[HITS], hit_z[HITS];
  uint32_t id[HITS];
  uint16_t sector[HITS];
  (void)state;
  for (uint32_t i = 0; i < CANDIDATES; i++) {
    qop[i] = 1e-5f * (float)(i + 1);
    x[i] = 10 * (float)i;
    tx[i] = 0.1f * (float)i;
  }
  for (uint32_t i = 0; i < HITS; i++) {
    id[i] = 3u << 28 | i;
    hit_x[i] = (float)i;
    hit_y[i] = (float)i + 100;
    hit_z[i] = (float)i + 2300;
    sector[i] = (uint16_t)(7 * i);
  }
  struct sl_test *t = sl_test_new(UT_PLUGIN, "consolidate");
  sl_test_events(t, EVENTS);
  sl_test_input(t, "selected", "offsets", offsets, EVENTS + 1);
  sl_test_input(t, "selected", "track", track, CANDIDATES);
  sl_test_input(t, "candidates", "hit_count", hit_count, CANDIDATES);
  sl_test_input(t, "candidates", "hits", found, CANDIDATES * UT_TRACK_HITS_MAX);
  sl_test_input(t, "candidates", "qop", qop, CANDIDATES);
  sl_test_input(t, "candidates", "x", x, CANDIDATES);
  sl_test_input(t, "candidates", "tx", tx, CANDIDATES);
  sl_test_input(t, "hits", "offsets", hit_offsets, EVENTS + 1);
  sl_test_input(t, "hits", "id", id, HITS);
  sl_test_input(t, "hits", "x", hit_x, HITS);
  sl_test_input(t, "hits", "y", hit_y, HITS);
  sl_test_input(t, "hits", "z", hit_z, HITS);
  sl_test_input(t, "hits", "sector", sector, HITS);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *to = sl_test_output(t, "tracks", "offsets"), *to_hits = sl_test_output(t, "tracks", "hit_offsets");
  const uint32_t expected_offsets[] = {0, 2, 2, 3}, expected_hit_offsets[] = {0, 4, 7, 10};
  const uint32_t candidates[] = {0, 2, 5}, expected_hits[] = {0, 4, 2, 1, 3, 0, 1, 11, 6, 8};
  assert_memory_equal(to, expected_offsets, sizeof expected_offsets);
  assert_memory_equal(to_hits, expected_hit_offsets, sizeof expected_hit_offsets);
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t from = candidates[i];
    assert_int_equal(((const uint32_t *)sl_test_output(t, "tracks", "velo_track"))[i], track[from]);
    assert_true(((const float *)sl_test_output(t, "tracks", "qop"))[i] == qop[from]);
    assert_true(((const float *)sl_test_output(t, "tracks", "x"))[i] == x[from]);
    assert_true(((const float *)sl_test_output(t, "tracks", "tx"))[i] == tx[from]);
  }
  for (uint32_t i = 0; i < 10; i++) {
    const uint32_t hit = expected_hits[i];
    assert_int_equal(((const uint32_t *)sl_test_output(t, "tracks", "hit_id"))[i], id[hit]);
    assert_int_equal(((const uint16_t *)sl_test_output(t, "tracks", "hit_sector"))[i], sector[hit]);
    assert_true(((const float *)sl_test_output(t, "tracks", "hit_x"))[i] == hit_x[hit]);
    assert_true(((const float *)sl_test_output(t, "tracks", "hit_y"))[i] == hit_y[hit]);
    assert_true(((const float *)sl_test_output(t, "tracks", "hit_z"))[i] == hit_z[hit]);
  }
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tracks_have_the_hits_of_the_candidates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
