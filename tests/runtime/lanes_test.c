/* lanes_test.c: sluice/lanes.h against plain loops, on cpu; kernel_simt_test.c runs the same cases on the emulator. */
#include "kernel_cases.h"

#include <sluice/lanes.h>

enum { EVENTS = 5, ITEMS = 64, SEARCHES = 5 };
static const uint32_t offsets[EVENTS + 1] = {3, 3, 4, 12, 27, ITEMS};

/* ------------------------------------------------------------------------------------------------------- items */

struct item_args {
  struct sl_events events;
  const uint32_t *offsets, *words;
  const uint16_t *halfwords;
  const float *x;
  int32_t *whole, *visits;
  float *y;
};

/* y = sqrt|x| for items with a word below their halfword, else the larger of -x and 2; and `whole`, clamped. */
SL_KERNEL(transform_items, struct item_args) {
  SL_FOR_ITEMS_LANES (i, count, a.events, a.offsets) {
    const sl_i32s item = sl_i32s_min(sl_i32s_from(i), sl_i32s_of(i + count - 1));
    const sl_i32s word = sl_i32s_gather(a.words, item), halfword = sl_u16s_gather(a.halfwords, item);
    const sl_f32s x = sl_f32s_gather(a.x, item), other = sl_f32s_max(-x, sl_f32s_of(2.0f));
    const sl_i32s is_less = SL_MASK(word < halfword), whole = sl_i32s_truncated(x);
    const float limits[2] = {2.0f, 40.0f};
    float root[SL_LANES];
    sl_f32s_out(root, sl_f32s_abs(x));
    SL_FOR_LANES (j) root[j] = sl_sqrtf(root[j]);
    const sl_f32s y = sl_f32s_min(sl_f32s_select(is_less, sl_f32s_in(root), other), sl_f32s_of(5.0f));
    sl_f32s_store(a.y + i, y + sl_f32s_either(is_less, limits, 0, 1), count);
    sl_i32s_store(a.whole + i, sl_i32s_clamp(whole, sl_i32s_of(0) - 7, sl_i32s_of(9)) + (is_less & 100), count);
    for (uint32_t j = 0; j < count; j++) atomicAdd(&a.visits[i + j], 1);
  }
}

static void each_item_of_a_listed_event_is_in_one_lane(void **state) {
  (void)state;
  static const uint32_t listed[] = {1, 2, 4}, counts_of[] = {EVENTS, 3};
  uint32_t words[ITEMS];
  uint16_t halfwords[ITEMS];
  float x[ITEMS];
  for (uint32_t i = 0; i < ITEMS; i++) {
    words[i] = i * 7919 % 100;
    halfwords[i] = (uint16_t)(i * 104729 % 100);
    x[i] = (float)(i * 31 % 53) * 0.75f - 20;
  }
  for (uint32_t is_list = 0; is_list < 2; is_list++) {
    int32_t whole[ITEMS], visits[ITEMS] = {0};
    float y[ITEMS];
    const struct item_args args = {
        .events = {.count = &counts_of[is_list], .numbers = is_list ? listed : NULL, .max = EVENTS},
        .offsets = offsets,
        .words = words,
        .halfwords = halfwords,
        .x = x,
        .whole = whole,
        .visits = visits,
        .y = y};
    memset(whole, 0x55, sizeof whole);
    memset(y, 0x55, sizeof y);
    assert_int_equal(SL_LAUNCH(&launch, transform_items, sl_make_grid(SL_GRID_BLOCKS, 1), args), SL_OK);
    for (uint32_t i = 0; i < ITEMS; i++) {
      const int is_item = i >= 3 && (!is_list || i < 12 || i >= 27), is_less = words[i] < halfwords[i];
      assert_int_equal(visits[i], is_item);
      if (!is_item) {
        assert_int_equal(whole[i], 0x55555555);
        continue;
      }
      const float other = -x[i] > 2 ? -x[i] : 2, value = is_less ? sqrtf(sl_abs_f32(x[i])) : other;
      const int32_t low = (int32_t)x[i] < -7 ? -7 : (int32_t)x[i];
      assert_true(y[i] == (value < 5 ? value : 5) + (is_less ? 2.0f : 40.0f));
      assert_int_equal(whole[i], (low > 9 ? 9 : low) + (is_less ? 100 : 0));
    }
  }
}

/* ------------------------------------------------------------------------------------------------------ search */

struct search_args {
  const float *values;
  const uint32_t *first, *count;
  const float *limit;
  uint32_t searches, table_begin, table_end;
  int32_t *found, *in_table; /* SEARCHES results for each of `searches` */
};

/* Searches SEARCHES contiguous ranges; searches 1 and 3 look for a value above the limit. */
SL_KERNEL(search_values, struct search_args) {
  for (uint32_t i = SL_LANES * threadIdx.x; i < a.searches; i += SL_LANES * blockDim.x) {
    const uint32_t count = sl_lane_count(a.searches - i);
    const sl_i32s at = sl_i32s_min(sl_i32s_from(i), sl_i32s_of(i + count - 1));
    struct sl_bisection searches[SEARCHES];
    sl_i32s found[SEARCHES];
    for (uint32_t k = 0; k < SEARCHES; k++)
      searches[k] =
          sl_bisection_of(sl_i32s_gather(a.first + k * a.searches, at), sl_i32s_gather(a.count + k * a.searches, at),
                          sl_f32s_gather(a.limit + k * a.searches, at));
    sl_bisect(a.values, searches, SEARCHES, 2 | 8, found);
    for (uint32_t k = 0; k < SEARCHES; k++) sl_i32s_store(a.found + k * a.searches + i, found[k], count);
    const sl_i32s in_table = sl_lower_bound(a.values, a.table_begin, a.table_end, sl_f32s_gather(a.limit, at));
    sl_i32s_store(a.in_table + i, in_table, count);
  }
}

static void bisections_find_the_first_value_not_below_or_above_a_limit(void **state) {
  (void)state;
  enum { VALUES = 300, MOST = 77 };
  float values[VALUES];
  for (uint32_t i = 0; i < VALUES; i++) {
    const uint32_t value = i / 3; /* each value three times */
    values[i] = (float)value;
  }
  for (uint32_t longest = 0; longest <= 65; longest = longest * 2 + 1)
    for (uint32_t n = 1; n <= MOST; n += 19) {
      uint32_t first[SEARCHES * MOST], count[SEARCHES * MOST];
      float limit[SEARCHES * MOST];
      int32_t found[SEARCHES * MOST], in_table[MOST];
      for (uint32_t i = 0; i < SEARCHES * n; i++) {
        first[i] = i * 7919 % 230;
        count[i] = i % 4 == 3 ? 0 : i * 104729 % (longest + 1);
        limit[i] = values[first[i]] - 1 + (float)(i * 31 % (count[i] + 7)) * 0.5f;
      }
      const struct search_args args = {values, first, count, limit, n, 5, longest + 5, found, in_table};
      assert_int_equal(SL_LAUNCH(&launch, search_values, sl_make_grid(SL_GRID_BLOCKS, 1), args), SL_OK);
      for (uint32_t i = 0; i < SEARCHES * n; i++) {
        const int is_above = i / n == 1 || i / n == 3;
        uint32_t place = first[i];
        while (place < first[i] + count[i] && (is_above ? values[place] <= limit[i] : values[place] < limit[i]))
          place++;
        assert_int_equal(found[i], place);
      }
      for (uint32_t i = 0; i < n; i++) {
        uint32_t place = 5;
        while (place < longest + 5 && values[place] < limit[i]) place++;
        assert_int_equal(in_table[i], place);
      }
    }
}

/* ------------------------------------------------------------------------------------------------ groups of eight */

struct group_args {
  const uint32_t *words; /* eight words per group */
  uint32_t groups;
  uint32_t *odd, *any; /* per group: one bit for each lane with an odd word; 1 if a thread has one */
};

SL_KERNEL(find_odd, struct group_args) {
  SL_FOR_GROUPS (g, a.groups, 8) {
    sl_i32s is_odd = sl_i32s_of(0);
    if (g < a.groups) is_odd = SL_MASK((sl_i32s_gather(a.words, sl_i32s_from(8 * g + sl_group_lane(8))) & 1) != 0);
    const uint32_t odd = sl_group_sum_u32(sl_lanes_bits(is_odd), 8), any = sl_group_any(sl_lanes_any(is_odd), 8);
    if (g >= a.groups || sl_group_lane(8) > 0) continue;
    a.odd[g] = odd;
    a.any[g] = any;
  }
}

static void a_group_of_eight_sees_what_each_lane_has_found(void **state) {
  (void)state;
  enum { GROUPS = 37 };
  uint32_t words[8 * GROUPS], odd[GROUPS], any[GROUPS];
  uint32_t drawn[VALUES_MAX];
  values_draw(drawn, 4);
  for (uint32_t i = 0; i < 8 * GROUPS; i++) words[i] = i % 40 < 8 ? 0 : drawn[i];
  const struct group_args args = {words, GROUPS, odd, any};
  assert_int_equal(SL_LAUNCH(&launch, find_odd, sl_make_grid(SL_GRID_BLOCKS, 1), args), SL_OK);
  for (uint32_t g = 0; g < GROUPS; g++) {
    uint32_t expected = 0;
    for (uint32_t i = 0; i < 8; i++) expected |= (words[8 * g + i] & 1) << i;
    assert_int_equal(odd[g], expected);
    assert_int_equal(any[g], expected != 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_item_of_a_listed_event_is_in_one_lane),
      cmocka_unit_test(bisections_find_the_first_value_not_below_or_above_a_limit),
      cmocka_unit_test(a_group_of_eight_sees_what_each_lane_has_found),
  };
  return cmocka_run_group_tests_name("lanes", tests, NULL, NULL);
}
