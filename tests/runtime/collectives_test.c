/* collectives_test.c: the kernel of collectives/, through sluice/testing.h, has the results of a serial reference with
 * blocks of all sizes, on cpu, on simt and on a GPU.
 */

#include "collectives_expected.h"

#include <sluice/testing.h>

static struct numbers numbers;
static struct results expected;

static struct sl_test *prepare(uint32_t block_threads) {
  struct sl_test *t = sl_test_new(COLLECTIVES_PLUGIN, "collectives");
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

/* Of `kept` an event has kept_count values, then nothing is written. */
static void assert_kept(const struct sl_test *t) {
  const uint32_t *kept = sl_test_output(t, "results", "kept");
  for (uint32_t e = 0; e < EVENTS; e++)
    for (uint32_t i = 0; i < expected.kept_count[e]; i++)
      assert_int_equal(kept[numbers.offsets[e] + i], expected.kept[numbers.offsets[e] + i]);
}

static void results_are_those_of_the_reference(void **state) {
  const uint32_t block_threads = *(const uint32_t *)*state;
  struct sl_test *t = prepare(block_threads);
  assert_int_equal(sl_test_run(t), 0);
  assert_field(t, "prefix", expected.prefix, sizeof expected.prefix);
  assert_field(t, "kept_count", expected.kept_count, sizeof expected.kept_count);
  assert_kept(t);
  assert_field(t, "sum", expected.sum, sizeof expected.sum);
  assert_field(t, "signed_sum", expected.signed_sum, sizeof expected.signed_sum);
  assert_field(t, "smallest", expected.smallest, sizeof expected.smallest);
  assert_field(t, "weight_sum", expected.weight_sum, sizeof expected.weight_sum);
  assert_field(t, "atomics", expected.atomics, sizeof expected.atomics);
  assert_field(t, "agree", expected.agree, sizeof expected.agree);
  sl_test_free(t);
}

static uint32_t blocks[] = {32, 64, 96, 128, 256, 512, 1024};
#define WITH_BLOCK(i) \
  { "results_are_those_of_the_reference", results_are_those_of_the_reference, NULL, NULL, &blocks[i] }

int main(void) {
  const struct CMUnitTest tests[] = {WITH_BLOCK(0), WITH_BLOCK(1), WITH_BLOCK(2), WITH_BLOCK(3),
                                     WITH_BLOCK(4), WITH_BLOCK(5), WITH_BLOCK(6)};
  make_numbers(&numbers);
  expect_results(&numbers, &expected);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
