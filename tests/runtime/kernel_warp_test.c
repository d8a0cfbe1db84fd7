/* kernel_warp_test.c: the functions of sluice/kernel.h for warps, groups within them, and teams; see kernel_test.c. */
#include "collectives/sort_row.h"
#include "kernel_cases.h"

struct rows_args {
  const uint32_t *values;
  uint32_t count, rows;
  uint32_t *kept; /* of row r: the indices of values divisible by r + 2; `count` entries per row */
  uint32_t *kept_count;
};

SL_KERNEL(keep_multiples_by_row, struct rows_args) {
  for (uint32_t row = sl_warp_index(); row < a.rows; row += sl_block_warps()) {
    uint32_t length = 0;
    SL_FOR_WARP (i, a.count) {
      const uint32_t wanted = i < a.count && a.values[i] % (row + 2) == 0;
      const uint32_t place = sl_warp_append(wanted, &length);
      if (wanted) a.kept[row * a.count + place] = i;
    }
    if (sl_warp_lane() == 0) a.kept_count[row] = length;
  }
}

static void warps_append_to_separate_lists(void **state) {
  (void)state;
  enum { ROWS = 7 };
  uint32_t values[VALUES_MAX], kept[ROWS * VALUES_MAX], kept_count[ROWS];
  values_draw(values, 5);
  for (uint32_t k = 0; k < COUNT(counts); k++) {
    memset(kept, 0xEE, sizeof kept);
    const struct rows_args args = {values, counts[k], ROWS, kept, kept_count};
    assert_int_equal(SL_LAUNCH(&launch, keep_multiples_by_row, SL_PER_EVENT, args), SL_OK);
    for (uint32_t row = 0; row < ROWS; row++) {
      uint32_t expected = 0;
      for (uint32_t i = 0; i < counts[k]; i++)
        if (values[i] % (row + 2) == 0) assert_int_equal(kept[row * counts[k] + expected++], i);
      assert_int_equal(kept_count[row], expected);
      if (expected < counts[k]) assert_int_equal(kept[row * counts[k] + expected], 0xEEEEEEEE);
    }
  }
}

/* Sums each row of `values` into `kept`. One warp per row; a lane sums consecutive values. */
SL_KERNEL(add_up_rows, struct rows_args) {
  for (uint32_t row = sl_warp_index(); row < a.rows; row += sl_block_warps()) {
    const uint32_t *values = a.values + row * a.count;
    const uint32_t begin = a.count * sl_warp_lane() / sl_warp_lanes();
    const uint32_t end = a.count * (sl_warp_lane() + 1) / sl_warp_lanes();
    uint32_t sum = 0;
    for (uint32_t i = begin; i < end; i++) sum += values[i];
    sum = sl_warp_exclusive_scan(sum);
    for (uint32_t i = begin; i < end; i++) a.kept[row * a.count + i] = sum += values[i];
  }
}

static void warps_scan_separate_rows(void **state) {
  (void)state;
  enum { ROWS = 7, MOST = VALUES_MAX / ROWS };
  uint32_t values[VALUES_MAX], kept[VALUES_MAX];
  values_draw(values, 6);
  for (uint32_t count = 0; count <= MOST; count += 1 + count / 3) {
    const struct rows_args args = {values, count, ROWS, kept, NULL};
    assert_int_equal(SL_LAUNCH(&launch, add_up_rows, SL_PER_EVENT, args), SL_OK);
    for (uint32_t row = 0; row < ROWS; row++) {
      uint32_t sum = 0;
      for (uint32_t i = row * count; i < (row + 1) * count; i++) assert_int_equal(kept[i], sum += values[i]);
    }
  }
}

/* Reverses each row of values in place, through `copy`, and reports rows with an odd value. */
SL_KERNEL(turn_rows, struct rows_args) {
  for (uint32_t row = sl_warp_index(); row < a.rows; row += sl_block_warps()) {
    uint32_t *copy = a.kept + row * a.count, odd = 0;
    for (uint32_t i = sl_warp_lane(); i < a.count; i += sl_warp_lanes()) {
      copy[i] = a.values[row * a.count + i];
      odd |= copy[i] & 1;
    }
    const uint32_t any = sl_warp_any(odd);
    sl_warp_sync();
    for (uint32_t i = sl_warp_lane(); i < a.count / 2; i += sl_warp_lanes()) {
      const uint32_t other = copy[a.count - 1 - i];
      copy[a.count - 1 - i] = copy[i];
      copy[i] = other;
    }
    if (sl_warp_lane() == 0) a.kept_count[row] = any != 0;
  }
}

static void threads_of_a_warp_share_memory_and_vote(void **state) {
  (void)state;
  enum { ROWS = 7 };
  static const uint32_t lengths[] = {0, 1, 2, 31, 32, 33, 65, VALUES_MAX / ROWS};
  uint32_t values[VALUES_MAX], kept[VALUES_MAX], any[ROWS];
  values_draw(values, 7);
  for (uint32_t k = 0; k < COUNT(lengths); k++) {
    const uint32_t count = lengths[k];
    for (uint32_t i = 0; i < ROWS * count; i++) values[i] &= ~1u;
    if (count > 0) values[3 * count] |= 1, values[5 * count - 1] |= 1; /* rows 3 and 4 */
    const struct rows_args args = {values, count, ROWS, kept, any};
    assert_int_equal(SL_LAUNCH(&launch, turn_rows, SL_PER_EVENT, args), SL_OK);
    for (uint32_t row = 0; row < ROWS; row++) {
      for (uint32_t i = 0; i < count; i++) assert_int_equal(kept[row * count + i], values[row * count + count - 1 - i]);
      assert_int_equal(any[row], count > 0 && (row == 3 || row == 4));
    }
  }
}

enum { GROUP_VALUES = 5 };

struct groups_args {
  const uint32_t *values;
  uint32_t count, threads; /* entries of GROUP_VALUES values; threads per group */
  uint64_t *least;         /* per entry: value << 32 | index of the value */
  uint32_t *writes;
};

SL_KERNEL(least_of_groups, struct groups_args) {
  SL_FOR_GROUPS (i, a.count, a.threads) {
    uint64_t least = UINT64_MAX;
    for (uint32_t k = sl_group_lane(a.threads); i < a.count && k < GROUP_VALUES; k += SL_GROUP(a.threads)) {
      const uint64_t key = (uint64_t)a.values[GROUP_VALUES * i + k] << 32 | k;
      least = key < least ? key : least;
    }
    least = sl_group_min_u64(least, a.threads);
    if (i < a.count && sl_group_lane(a.threads) == 0) {
      a.least[i] = least;
      atomicAdd(&a.writes[i], 1u);
    }
  }
}

static void groups_find_the_minimum_of_their_threads(void **state) {
  (void)state;
  uint32_t values[VALUES_MAX], writes[VALUES_MAX];
  uint64_t least[VALUES_MAX];
  values_draw(values, 6);
  for (uint32_t threads = 1; threads <= 32; threads *= 2)
    for (uint32_t k = 0; k < COUNT(counts); k++) {
      const struct groups_args args = {values, counts[k] / GROUP_VALUES, threads, least, writes};
      memset(writes, 0, sizeof writes);
      assert_int_equal(SL_LAUNCH(&launch, least_of_groups, SL_PER_EVENT, args), SL_OK);
      for (uint32_t i = 0; i < args.count; i++) {
        uint64_t expected = UINT64_MAX;
        for (uint32_t j = 0; j < GROUP_VALUES; j++) {
          const uint64_t key = (uint64_t)values[GROUP_VALUES * i + j] << 32 | j;
          if (key < expected) expected = key;
        }
        assert_true(least[i] == expected);
        assert_int_equal(writes[i], 1);
      }
    }
}

struct sort_args {
  const uint32_t *values;
  uint32_t count, rows, keys; /* values per row; keys per thread */
  struct sorted_row row;      /* all rows, contiguous */
};

SL_KERNEL(sort_rows, struct sort_args) {
  for (uint32_t row = sl_warp_index(); row < a.rows; row += sl_block_warps()) {
    const uint32_t *values = a.values + row * a.count;
    const struct sorted_row to = {a.row.sorted + row * a.count, a.row.part + row * a.count};
    if (a.keys == 1) sort_row(values, a.count, to, 1);
    if (a.keys == 2) sort_row(values, a.count, to, 2);
    if (a.keys == 4) sort_row(values, a.count, to, 4);
    if (a.keys == 8) sort_row(values, a.count, to, 8);
  }
}

static int compare_values(const void *a, const void *b) {
  const uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
  return p < q ? -1 : p > q;
}

static void warps_sort_separate_keys(void **state) {
  (void)state;
  enum { ROWS = 7, MOST = VALUES_MAX / ROWS };
  static const uint32_t lengths[] = {0, 1, 2, 5, 31, 32, 33, 64, 65, MOST};
  uint32_t values[VALUES_MAX], sorted[VALUES_MAX], part[VALUES_MAX], expected[MOST];
  values_draw(values, 10);
  for (uint32_t i = 0; i < VALUES_MAX; i += 3) values[i] %= 10; /* some are equal */
  for (uint32_t keys = 1; keys <= SL_SORT_ROWS; keys *= 2)
    for (uint32_t k = 0; k < COUNT(lengths); k++) {
      const uint32_t count = lengths[k];
      const struct sort_args args = {values, count, ROWS, keys, {sorted, part}};
      memset(part, 0xEE, sizeof part);
      assert_int_equal(SL_LAUNCH(&launch, sort_rows, SL_PER_EVENT, args), SL_OK);
      for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t begin = 0, end = 0; begin < count; begin = end) {
          while (end < count && part[row * count + end] == begin) end++;
          assert_true(end == count || (end > begin && (end - begin) % keys == 0));
          memcpy(expected, values + row * count + begin, (end - begin) * sizeof *values);
          qsort(expected, end - begin, sizeof *expected, compare_values);
          assert_memory_equal(sorted + row * count + begin, expected, (end - begin) * sizeof *expected);
        }
    }
}

struct ask_args {
  const uint32_t *values;
  uint32_t count, threads; /* entries of GROUP_VALUES values; threads per group */
  uint32_t *largest, *sum; /* of each entry */
  uint32_t *any;           /* 1 if a value is odd; 77 if threads differ */
};

SL_KERNEL(ask_groups, struct ask_args) {
  SL_FOR_GROUPS (i, a.count, a.threads) {
    uint32_t largest = 0, sum = 0, odd = 0;
    for (uint32_t k = sl_group_lane(a.threads); i < a.count && k < GROUP_VALUES; k += SL_GROUP(a.threads)) {
      const uint32_t value = a.values[GROUP_VALUES * i + k];
      largest = value > largest ? value : largest;
      sum += value;
      odd |= value & 1;
    }
    largest = sl_group_max_u32(largest, a.threads);
    sum = sl_group_sum_u32(sum, a.threads);
    odd = sl_group_any(odd << 7, a.threads); /* any nonzero value counts */
    if (i < a.count) {
      if (sl_group_lane(a.threads) == 0) {
        a.largest[i] = largest;
        a.sum[i] = sum;
        a.any[i] = odd;
      }
    }
    sl_warp_sync();
    if (i < a.count && (a.largest[i] != largest || a.sum[i] != sum || a.any[i] != odd)) a.any[i] = 77;
    sl_warp_sync();
  }
}

static void groups_vote_and_find_maximum_and_sum(void **state) {
  (void)state;
  uint32_t values[VALUES_MAX], largest[VALUES_MAX], sum[VALUES_MAX], any[VALUES_MAX];
  values_draw(values, 11);
  for (uint32_t i = 0; i < VALUES_MAX; i++)
    if (i % 11) values[i] &= ~1u;
  for (uint32_t threads = 1; threads <= 32; threads *= 2)
    for (uint32_t k = 0; k < COUNT(counts); k++) {
      const struct ask_args args = {values, counts[k] / GROUP_VALUES, threads, largest, sum, any};
      assert_int_equal(SL_LAUNCH(&launch, ask_groups, SL_PER_EVENT, args), SL_OK);
      for (uint32_t i = 0; i < args.count; i++) {
        uint32_t expected = 0, expected_sum = 0, odd = 0;
        for (uint32_t j = 0; j < GROUP_VALUES; j++) {
          const uint32_t value = values[GROUP_VALUES * i + j];
          if (value > expected) expected = value;
          expected_sum += value;
          odd |= value & 1;
        }
        assert_int_equal(largest[i], expected);
        assert_int_equal(sum[i], expected_sum);
        assert_int_equal(any[i], odd);
      }
    }
}

struct turns_args {
  const uint32_t *values;
  uint32_t count;
  uint32_t *turns; /* per entry, with value % 6 iterations: the sum of their numbers, from 1 */
};

/* Groups of a warp need different numbers of iterations, each with a collective. */
SL_KERNEL(make_turns, struct turns_args) {
  SL_FOR_GROUPS (i, a.count, 32) {
    const uint32_t wanted = i < a.count ? a.values[i] % 6 : 0;
    uint32_t sum = 0;
    for (uint32_t turn = 1; sl_warp_any_needed(turn <= wanted); turn++) {
      const uint32_t largest = sl_group_max_u32(turn * (1 + sl_group_lane(32)), 32);
      if (turn <= wanted) sum += largest / SL_GROUP(32); /* the value of the last lane */
    }
    if (i < a.count && sl_group_lane(32) == 0) a.turns[i] = sum;
  }
}

static void groups_of_a_warp_may_need_different_numbers_of_iterations(void **state) {
  (void)state;
  uint32_t values[VALUES_MAX], turns[VALUES_MAX];
  values_draw(values, 12);
  for (uint32_t k = 0; k < COUNT(counts); k++) {
    const struct turns_args args = {values, counts[k], turns};
    assert_int_equal(SL_LAUNCH(&launch, make_turns, SL_PER_EVENT, args), SL_OK);
    for (uint32_t i = 0; i < counts[k]; i++) {
      const uint32_t wanted = values[i] % 6;
      assert_int_equal(turns[i], wanted * (wanted + 1) / 2);
    }
  }
}

struct teams_args {
  const uint32_t *values;
  uint32_t count, rows, by_block; /* values per row; 1: the block handles each row, 0: a warp */
  uint32_t *turned;               /* the reversed rows */
};

/* Reverses through a copy, so that threads read values written by others. */
static SL_DEVICE void turn_row(const struct sl_team *team, const uint32_t *values, uint32_t count, uint32_t *turned) {
  for (uint32_t i = sl_team_thread(team); i < count; i += sl_team_threads(team)) turned[i] = values[i];
  sl_team_sync(team);
  for (uint32_t i = sl_team_thread(team); i < count / 2; i += sl_team_threads(team)) {
    const uint32_t other = turned[count - 1 - i];
    turned[count - 1 - i] = turned[i];
    turned[i] = other;
  }
  sl_team_sync(team);
}

SL_KERNEL(turn_rows_by_teams, struct teams_args) {
  const struct sl_team team = a.by_block ? sl_team_of_block() : sl_team_of_warp();
  const uint32_t first = a.by_block ? 0 : sl_warp_index(), step = a.by_block ? 1 : sl_block_warps();
  for (uint32_t row = first; row < a.rows; row += step)
    turn_row(&team, a.values + row * a.count, a.count, a.turned + row * a.count);
}

static void teams_of_a_warp_and_of_the_block_give_equal_results(void **state) {
  (void)state;
  enum { ROWS = 7 };
  static const uint32_t lengths[] = {0, 1, 2, 31, 32, 33, 65, VALUES_MAX / ROWS};
  uint32_t values[VALUES_MAX], turned[VALUES_MAX];
  values_draw(values, 13);
  for (uint32_t by_block = 0; by_block < 2; by_block++)
    for (uint32_t k = 0; k < COUNT(lengths); k++) {
      const uint32_t count = lengths[k];
      const struct teams_args args = {values, count, ROWS, by_block, turned};
      memset(turned, 0xEE, sizeof turned);
      assert_int_equal(SL_LAUNCH(&launch, turn_rows_by_teams, SL_PER_EVENT, args), SL_OK);
      for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t i = 0; i < count; i++)
          assert_int_equal(turned[row * count + i], values[row * count + count - 1 - i]);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(warps_append_to_separate_lists),
      cmocka_unit_test(warps_scan_separate_rows),
      cmocka_unit_test(threads_of_a_warp_share_memory_and_vote),
      cmocka_unit_test(warps_sort_separate_keys),
      cmocka_unit_test(groups_find_the_minimum_of_their_threads),
      cmocka_unit_test(groups_vote_and_find_maximum_and_sum),
      cmocka_unit_test(groups_of_a_warp_may_need_different_numbers_of_iterations),
      cmocka_unit_test(teams_of_a_warp_and_of_the_block_give_equal_results),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
