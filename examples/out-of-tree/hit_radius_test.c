/* hit_radius_test.c: the algorithm alone, on two events worked out by hand. */
#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void radii_are_distances_from_the_axis_and_near_ones_are_counted(void **state) {
  (void)state;
  const uint32_t offsets[] = {0, 2, 3};
  const float x[] = {3, 30, -6}, y[] = {4, 40, 8};
  struct sl_test *t = sl_test_new(RADIUS_PLUGIN, "hit_radius");
  sl_test_events(t, 2);
  sl_test_input(t, "hits", "offsets", offsets, 3);
  sl_test_input(t, "hits", "x", x, 3);
  sl_test_input(t, "hits", "y", y, 3);
  sl_test_set(t, "near_beam", 10.0);
  assert_int_equal(sl_test_run(t), 0);

  const float *r = sl_test_output(t, "radii", "r");
  const uint32_t *near_count = sl_test_output(t, "radii", "near_count");
  assert_true(r[0] == 5.0f && r[1] == 50.0f && r[2] == 10.0f);
  assert_int_equal(near_count[0], 1);
  assert_int_equal(near_count[1], 0); /* 10 is not nearer than 10 */
  sl_test_free(t);
}

static void events_off_the_list_are_left_alone(void **state) {
  (void)state;
  const uint32_t offsets[] = {0, 1, 2}, list[] = {1};
  const float x[] = {1, 2}, y[] = {0, 0};
  struct sl_test *t = sl_test_new(RADIUS_PLUGIN, "hit_radius");
  sl_test_events(t, 2);
  sl_test_list(t, list, 1);
  sl_test_input(t, "hits", "offsets", offsets, 3);
  sl_test_input(t, "hits", "x", x, 2);
  sl_test_input(t, "hits", "y", y, 2);
  assert_int_equal(sl_test_run(t), 0);
  assert_true(((const float *)sl_test_output(t, "radii", "r"))[1] == 2.0f);
  assert_int_equal(((const uint32_t *)sl_test_output(t, "radii", "near_count"))[1], 1);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(radii_are_distances_from_the_axis_and_near_ones_are_counted),
      cmocka_unit_test(events_off_the_list_are_left_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
