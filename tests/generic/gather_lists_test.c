/* gather_lists_test.c: generic.gather_lists, compared with a test of each event and list. */
#include "generic/event_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the headers above */
#include <sluice/testing.h>

#include <cmocka.h>

enum { EVENTS = 150, EVENTS_MAX = 1000, LISTS_MAX = 1000 };

/* List 0 is empty, list 1 has all events, and the others have different fractions of them. */
static int is_on(uint32_t list, uint32_t event) {
  if (list < 2) return (int)list;
  return (event * 2654435761u + list * 40503u) % 97 < list % 60;
}

static struct sl_test *gather(uint32_t events, uint32_t lists) {
  struct sl_test *t = sl_test_new(GENERIC_PLUGIN, "gather_lists");
  sl_test_events(t, events);
  for (uint32_t k = 0; k < lists; k++) {
    uint32_t numbers[EVENTS_MAX], count = 0;
    char name[24];
    for (uint32_t e = 0; e < events; e++)
      if (is_on(k, e)) numbers[count++] = e;
    snprintf(name, sizeof name, "line_%u", k);
    sl_test_list_input(t, "lists", name, "count", &count, 1);
    sl_test_list_input(t, "lists", name, "numbers", numbers, count);
  }
  return t;
}

/* Events have no lists unless they are wanted (NULL: all are). Frees the test. */
static void assert_gathered(struct sl_test *t, uint32_t events, uint32_t lists, const uint8_t *wanted) {
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *offsets = sl_test_output(t, "decisions", "offsets"), *list = sl_test_output(t, "decisions", "list");
  uint32_t at = 0;
  assert_int_equal(sl_test_output_count(t, "decisions", "list"), (uint64_t)lists * events);
  for (uint32_t e = 0; e < events; e++) {
    assert_int_equal(offsets[e], at);
    for (uint32_t k = 0; k < lists && (!wanted || wanted[e]); k++)
      if (is_on(k, e)) assert_int_equal(list[at++], k);
  }
  assert_int_equal(offsets[events], at);
  assert_int_equal(sl_test_used(t, "decisions"), at);
  const uint32_t *on_list = sl_test_output(t, "totals", "events"), *alone = sl_test_output(t, "totals", "alone");
  for (uint32_t k = 0; k < lists; k++) {
    uint32_t expected = 0, expected_alone = 0;
    for (uint32_t e = 0; e < events; e++) {
      if (!is_on(k, e) || (wanted && !wanted[e])) continue;
      expected++;
      expected_alone += offsets[e + 1] - offsets[e] == 1;
    }
    assert_int_equal(on_list[k], expected);
    assert_int_equal(alone[k], expected_alone);
  }
  sl_test_free(t);
}

static void without_lists_there_are_no_decisions(void **state) {
  (void)state;
  assert_gathered(gather(EVENTS, 0), EVENTS, 0, NULL);
}

static void one_and_three_lists_are_gathered(void **state) {
  (void)state;
  assert_gathered(gather(EVENTS, 1), EVENTS, 1, NULL);
  assert_gathered(gather(EVENTS, 3), EVENTS, 3, NULL);
}

static void a_full_word_of_lists_and_one_more_are_gathered(void **state) {
  (void)state;
  assert_gathered(gather(EVENTS, 32), EVENTS, 32, NULL);
  assert_gathered(gather(EVENTS, 33), EVENTS, 33, NULL);
}

static void a_thousand_lists_are_gathered(void **state) {
  (void)state;
  assert_gathered(gather(EVENTS, LISTS_MAX), EVENTS, LISTS_MAX, NULL);
}

static void events_not_on_the_list_of_the_node_get_no_decisions(void **state) {
  (void)state;
  uint32_t numbers[EVENTS], count = 0;
  uint8_t wanted[EVENTS] = {0};
  for (uint32_t e = 1; e < EVENTS; e += 3) {
    numbers[count++] = e;
    wanted[e] = 1;
  }
  struct sl_test *t = gather(EVENTS, 40);
  sl_test_list(t, numbers, count);
  assert_gathered(t, EVENTS, 40, wanted);
}

static void an_empty_list_gives_no_decisions(void **state) {
  (void)state;
  const uint8_t wanted[EVENTS] = {0};
  struct sl_test *t = gather(EVENTS, 5);
  sl_test_list(t, NULL, 0);
  assert_gathered(t, EVENTS, 5, wanted);
}

/* The kernels process 32 events at a time. */
static void slices_of_any_length_are_processed(void **state) {
  (void)state;
  const uint32_t lengths[] = {1, 2, 31, 32, 33, 63, 64, 65, 500, EVENTS_MAX};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    assert_gathered(gather(lengths[i], 1), lengths[i], 1, NULL);
    assert_gathered(gather(lengths[i], 64), lengths[i], 64, NULL);
  }
}

static void blocks_of_any_size_give_equal_results(void **state) {
  (void)state;
  const uint32_t threads[] = {32, 64, 96, 1024};
  for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
    struct sl_test *t = gather(EVENTS, 70);
    sl_test_block(t, threads[i]);
    assert_gathered(t, EVENTS, 70, NULL);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_lists_there_are_no_decisions),
      cmocka_unit_test(one_and_three_lists_are_gathered),
      cmocka_unit_test(a_full_word_of_lists_and_one_more_are_gathered),
      cmocka_unit_test(a_thousand_lists_are_gathered),
      cmocka_unit_test(events_not_on_the_list_of_the_node_get_no_decisions),
      cmocka_unit_test(an_empty_list_gives_no_decisions),
      cmocka_unit_test(slices_of_any_length_are_processed),
      cmocka_unit_test(blocks_of_any_size_give_equal_results),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
