/* collectives_test.c: the kernels of collectives/, run through sluice/testing.h, give the results of a serial reference
 * with blocks of all sizes, on cpu, on simt and on a GPU.
 */

#include "collectives_expected.h"

#include <sluice/testing.h>

#include <stdlib.h>

static struct numbers numbers;
static struct results expected;

static struct sl_test *prepare(const char *algorithm, uint32_t block_threads) {
  struct sl_test *t = sl_test_new(COLLECTIVES_PLUGIN, algorithm);
  sl_test_events(t, EVENTS);
  sl_test_block(t, block_threads);
  sl_test_input(t, "numbers", "offsets", numbers.offsets, EVENTS + 1);
  sl_test_input(t, "numbers", "value", numbers.value, ITEMS);
  sl_test_input(t, "numbers", "weight", numbers.weight, ITEMS);
  return t;
}

static void assert_field(const struct sl_test *t, const char *field, const void *values, size_t bytes) {
  if (memcmp(sl_test_output(t, "results", field), values, bytes) != 0) fail_msg("%s", field);
}

/* An event has kept_count values in `kept`; nothing is written after them. */
static void assert_kept(const struct sl_test *t) {
  const uint32_t *kept = sl_test_output(t, "results", "kept");
  for (uint32_t e = 0; e < EVENTS; e++)
    for (uint32_t i = 0; i < expected.kept_count[e]; i++)
      assert_int_equal(kept[numbers.offsets[e] + i], expected.kept[numbers.offsets[e] + i]);
}

static void block_collectives_give_the_reference_results(void **state) {
  const uint32_t block_threads = *(const uint32_t *)*state;
  struct sl_test *t = prepare("collectives", block_threads);
  assert_int_equal(sl_test_run(t), 0);
  assert_field(t, "prefix", expected.prefix, sizeof expected.prefix);
  assert_field(t, "kept_count", expected.kept_count, sizeof expected.kept_count);
  assert_kept(t);
  assert_field(t, "sum", expected.sum, sizeof expected.sum);
  assert_field(t, "signed_sum", expected.signed_sum, sizeof expected.signed_sum);
  assert_field(t, "smallest", expected.smallest, sizeof expected.smallest);
  assert_field(t, "weight_sum", expected.weight_sum, sizeof expected.weight_sum);
  assert_field(t, "prefix_i64", expected.prefix_i64, sizeof expected.prefix_i64);
  assert_field(t, "weight_sum64", expected.weight_sum64, sizeof expected.weight_sum64);
  assert_field(t, "functions", expected.functions, sizeof expected.functions);
  assert_field(t, "atomics", expected.atomics, sizeof expected.atomics);
  assert_field(t, "agree", expected.agree, sizeof expected.agree);
  sl_test_free(t);
}

static int compare_values(const void *a, const void *b) {
  const uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
  return p < q ? -1 : p > q;
}

/* The length of a part depends on the warp size; only its values show how many there are. */
static void assert_parts_are_sorted(const struct sl_test *t, uint32_t e) {
  const uint32_t first = numbers.offsets[e], count = numbers.offsets[e + 1] - first;
  const uint32_t *sorted = sl_test_output(t, "results", "sorted"), *part = sl_test_output(t, "results", "part");
  static uint32_t values[ITEMS];
  for (uint32_t begin = 0, end = 0; begin < count; begin = end) {
    while (end < count && part[first + end] == begin) end++;
    assert_true(end > begin);
    memcpy(values, numbers.value + first + begin, (end - begin) * sizeof *values);
    qsort(values, end - begin, sizeof *values, compare_values);
    assert_memory_equal(sorted + first + begin, values, (end - begin) * sizeof *values);
  }
}

static void assert_groups_agree(const struct sl_test *t, uint32_t e) {
  const uint32_t first = numbers.offsets[e], count = numbers.offsets[e + 1] - first;
  const uint32_t *largest = sl_test_output(t, "results", "largest"), *has_odd = sl_test_output(t, "results", "has_odd");
  const uint32_t *sum = sl_test_output(t, "results", "sum");
  const uint32_t *turns = sl_test_output(t, "results", "turns"), *turned = sl_test_output(t, "results", "turned");
  for (uint32_t i = 0; i < count; i++) {
    uint32_t most = 0, all = 0, odd = 0;
    for (uint32_t j = i / 8 * 8; j < i / 8 * 8 + 8 && j < count; j++) {
      const uint32_t value = numbers.value[first + j];
      most = value > most ? value : most;
      all += value;
      odd |= value & 1;
    }
    assert_int_equal(largest[first + i], most);
    assert_int_equal(sum[first + i], all);
    assert_int_equal(has_odd[first + i], odd);
    assert_int_equal(turns[first + i], i / 32 % 5);
    assert_int_equal(turned[first + i], numbers.value[first + count - 1 - i]);
  }
}

static void warp_and_group_collectives_give_the_reference_results(void **state) {
  const uint32_t block_threads = *(const uint32_t *)*state;
  struct sl_test *t = prepare("warps", block_threads);
  assert_int_equal(sl_test_run(t), 0);
  assert_field(t, "before", expected.prefix, sizeof expected.prefix);
  assert_field(t, "kept_count", expected.kept_count, sizeof expected.kept_count);
  assert_kept(t);
  const uint32_t *has_seventh = sl_test_output(t, "results", "has_seventh");
  const uint32_t *begun = sl_test_output(t, "results", "begun");
  const uint32_t *weighted = sl_test_output(t, "results", "weighted");
  for (uint32_t e = 0; e < EVENTS; e++) {
    uint32_t found = 0, lists = 0, sum = 0;
    for (uint32_t i = numbers.offsets[e]; i < numbers.offsets[e + 1]; i++)
      sum += (i - numbers.offsets[e] + 1) * numbers.value[i];
    for (uint32_t i = numbers.offsets[e]; i < numbers.offsets[e + 1]; i++) {
      assert_int_equal(weighted[i], sum);
      found |= numbers.value[i] % 7 == 0;
      lists += numbers.value[i] % 3 == 0 ? 1u : 0u;
      assert_int_equal(begun[i], lists);
    }
    assert_int_equal(has_seventh[e], found);
    assert_parts_are_sorted(t, e);
    assert_groups_agree(t, e);
  }
  sl_test_free(t);
}

static uint32_t blocks[] = {32, 64, 96, 128, 256, 512, 1024};
#define CASE(function, i) \
  { #function, function, NULL, NULL, &blocks[i] }
#define WITH_BLOCK(i) \
  CASE(block_collectives_give_the_reference_results, i), CASE(warp_and_group_collectives_give_the_reference_results, i)

int main(void) {
  const struct CMUnitTest tests[] = {WITH_BLOCK(0), WITH_BLOCK(1), WITH_BLOCK(2), WITH_BLOCK(3),
                                     WITH_BLOCK(4), WITH_BLOCK(5), WITH_BLOCK(6)};
  make_numbers(&numbers);
  expect_results(&numbers, &expected);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
