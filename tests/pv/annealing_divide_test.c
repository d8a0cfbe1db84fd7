/* annealing_divide_test.c: division of large parts of an event into windows by pv.annealing, on the CPU. */
#include "annealing.cu"
#include "states.h"

#include <string.h>

enum { TRACKS = 20000 };
static float z[TRACKS];
static uint32_t cut_first[TRACKS], part_first[TRACKS];
static struct annealing_args args;
static uint32_t tracks, cuts, parts;

static void begin(void) {
  memset(&args, 0, sizeof args);
  memset(part_first, 0xEE, sizeof part_first);
  args.selected_z = z;
  args.cut_first = cut_first;
  args.part_first = part_first;
  args.gap = 2;
  args.max_z_error = 2; /* windows are at least 8 mm long, in the gas cell 40 mm */
  args.max_z_error_fixed_target = 10;
  args.fixed_target_z = -341;
  tracks = 0;
}

/* Adds `count` tracks, evenly between two positions. */
static void add_tracks(float from, float to, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) z[tracks++] = from + (to - from) * ((float)i + 0.5f) / (float)count;
}

/* Part between gaps before these tracks, by ascending z. */
static void divide(const uint32_t *gaps, uint32_t count) {
  cuts = count + 1;
  for (uint32_t i = 0; i < count; i++) cut_first[i] = gaps[count - 1 - i];
  cut_first[count] = 0;
  parts = annealing_divide(&args, 0, tracks, cuts);
  assert_true(parts >= cuts && part_first[parts - 1] == 0);
  for (uint32_t i = 1; i < parts; i++) assert_true(part_first[i] < part_first[i - 1]);
}

static void assert_parts(const uint32_t *first, uint32_t count) {
  assert_int_equal(parts, count);
  for (uint32_t i = 0; i < count; i++) assert_int_equal(part_first[i], first[count - 1 - i]);
}

static void small_parts_stay_whole(void **state) {
  (void)state;
  begin();
  add_tracks(-100, 0, 384);
  add_tracks(50, 60, 1);
  add_tracks(70, 200, 384);
  const uint32_t gaps[] = {384, 385}, first[] = {0, 384, 385};
  divide(gaps, 2);
  assert_parts(first, 3);
}

/* 10 tracks per mm, with a hole 13 to 19 mm from the end. */
static void windows_begin_at_sparse_tracks(void **state) {
  (void)state;
  begin();
  add_tracks(0, 5, 20); /* another part, with arbitrary tracks */
  add_tracks(10, 34, 240);
  add_tracks(35, 50, 150);
  const uint32_t gaps[] = {20}, first[] = {0, 20, 260};
  divide(gaps, 1);
  assert_int_equal(parts, 3);
  assert_in_range(part_first[0], first[2] - 4, first[2] + 4);
  assert_int_equal(part_first[1], first[1]);
}

/* At any density: at least 128 tracks and 8 mm, and not much more. */
static void windows_have_a_minimum_of_tracks_and_length(void **state) {
  (void)state;
  static const uint32_t densities[] = {2, 7, 16, 40, 90};
  for (uint32_t d = 0; d < 5; d++) {
    const uint32_t density = densities[d], least = density * 8 > 128 ? density * 8 : 128;
    begin();
    add_tracks(-100, 100, 200 * density);
    divide(NULL, 0);
    assert_int_equal(parts > 1, 200 * density > 384);
    for (uint32_t i = 0; i < parts && parts > 1; i++) {
      const uint32_t end = i > 0 ? part_first[i - 1] : tracks;
      assert_in_range(end - part_first[i], least, i + 1 < parts ? least + least / 2 + 2 : 2 * least + least / 2 + 2);
      assert_true(z[end - 1] - z[part_first[i]] > 7.9f);
    }
  }
}

static void tracks_of_one_point_are_not_divided(void **state) {
  (void)state;
  begin();
  add_tracks(20, 20, 5000);
  divide(NULL, 0);
  assert_int_equal(parts, 1);
  begin();
  add_tracks(-50, 19, 690);
  const uint32_t first = tracks;
  add_tracks(19.5f, 20.5f, 5000);
  add_tracks(21, 90, 690);
  divide(NULL, 0);
  assert_true(parts > 4);
  for (uint32_t i = 0; i < parts; i++) assert_false(part_first[i] > first && part_first[i] < first + 5000);
}

static void windows_in_the_gas_cell_are_longer(void **state) {
  (void)state;
  begin();
  add_tracks(-540, -341, 1990);
  divide(NULL, 0);
  assert_in_range(parts, 3, 4); /* instead of 15 */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_parts_stay_whole),
      cmocka_unit_test(windows_begin_at_sparse_tracks),
      cmocka_unit_test(windows_have_a_minimum_of_tracks_and_length),
      cmocka_unit_test(tracks_of_one_point_are_not_divided),
      cmocka_unit_test(windows_in_the_gas_cell_are_longer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
