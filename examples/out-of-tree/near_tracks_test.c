/* near_tracks_test.c: the algorithm alone, on two events worked out by hand. */
#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void tracks_with_a_near_last_hit_are_selected_with_their_hits(void **state) {
  (void)state;
  const uint32_t offsets[] = {0, 2, 3}, hit_offsets[] = {0, 2, 4, 7};
  const uint32_t id[] = {10, 11, 12, 13, 14, 15, 16};
  const float x[] = {30, 3, 30, 20, 9, 8, 6}, y[] = {30, 4, 30, 20, 9, 8, 8}, z[] = {90, 80, 70, 60, 50, 40, 30};
  struct sl_test *t = sl_test_new(RADIUS_PLUGIN, "near_tracks");
  sl_test_events(t, 2);
  sl_test_input(t, "tracks", "offsets", offsets, 3);
  sl_test_input(t, "tracks", "hit_offsets", hit_offsets, 4);
  sl_test_input(t, "tracks", "hit_id", id, 7);
  sl_test_input(t, "tracks", "hit_x", x, 7);
  sl_test_input(t, "tracks", "hit_y", y, 7);
  sl_test_input(t, "tracks", "hit_z", z, 7);
  assert_int_equal(sl_test_run(t), 0);

  const uint32_t selected_offsets[] = {0, 1, 2}, selected_hits[] = {0, 2, 5}, selected_id[] = {10, 11, 14, 15, 16};
  assert_memory_equal(sl_test_output(t, "selected", "offsets"), selected_offsets, sizeof selected_offsets);
  assert_memory_equal(sl_test_output(t, "selected", "hit_offsets"), selected_hits, sizeof selected_hits);
  assert_memory_equal(sl_test_output(t, "selected", "hit_id"), selected_id, sizeof selected_id);
  assert_true(((const float *)sl_test_output(t, "selected", "hit_z"))[4] == 30.0f);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tracks_with_a_near_last_hit_are_selected_with_their_hits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
