/* kernel_select_test.c: the selections and merges of sluice/kernel_select.h equal those of a plain loop: on random
 * inputs, with random event lists, in blocks of all sizes, on cpu, on simt and on a GPU. A failure prints the seed of
 * the input; SLUICE_TEST_SEED runs that seed alone.
 */
#include "select_items.h"

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS_MAX = 7, ITEMS_MAX = 2 * EVENTS_MAX * 150, PARTS_MAX = ITEMS_MAX * 70, SEEDS = 40 };

struct groups {
  uint32_t offsets[EVENTS_MAX + 1], part_offsets[ITEMS_MAX + 1], key[ITEMS_MAX], part[PARTS_MAX];
};

struct input {
  uint64_t seed;
  uint32_t events, modulus, block, listed, is_all, list[EVENTS_MAX];
  struct groups first, second;
};

static struct input input;
static struct groups expected;

static uint32_t draw(uint32_t limit) {
  input.seed = input.seed * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(input.seed >> 33) % limit;
}

/* Events without items and items without parts are frequent. */
static void draw_groups(struct groups *g) {
  uint32_t item = 0, part = 0;
  for (uint32_t e = 0; e < input.events; e++) {
    const uint32_t most = draw(3) == 0 ? 1 : draw(4) == 0 ? 150 : 40;
    g->offsets[e] = item;
    for (uint32_t left = draw(most); left > 0; left--, item++) {
      g->key[item] = draw(1000);
      g->part_offsets[item] = part;
      for (uint32_t parts = draw(4) == 0 ? 0 : draw(draw(5) == 0 ? 70 : 9); parts > 0; parts--)
        g->part[part++] = draw(1000);
    }
  }
  g->offsets[input.events] = item;
  g->part_offsets[item] = part;
}

static void draw_input(uint32_t seed) {
  static const uint32_t blocks[] = {32, 64, 96, 128, 256, 512, 1024};
  input.seed = seed * 2654435761ull + 1;
  input.events = 1 + draw(EVENTS_MAX);
  input.modulus = draw(4) == 0 ? 1000 : 1 + draw(4);
  input.block = blocks[draw(sizeof blocks / sizeof *blocks)];
  input.is_all = draw(3) == 0;
  input.listed = 0;
  for (uint32_t e = 0; e < input.events; e++)
    if (input.is_all || draw(2)) input.list[input.listed++] = e;
  draw_groups(&input.first);
  draw_groups(&input.second);
}

static int is_listed(uint32_t event) {
  for (uint32_t i = 0; i < input.listed; i++)
    if (input.list[i] == event) return 1;
  return 0;
}

/* Appends the expected items of an event, and their parts, from index `item` on. Returns the new number of items. */
static uint32_t expect_event(const struct groups *from, uint32_t event, uint32_t item, uint32_t add) {
  for (uint32_t i = from->offsets[event]; i < from->offsets[event + 1]; i++) {
    if (from->key[i] % input.modulus != 0) continue;
    uint32_t part = expected.part_offsets[item];
    expected.key[item] = from->key[i];
    for (uint32_t p = from->part_offsets[i]; p < from->part_offsets[i + 1]; p++)
      expected.part[part++] = from->part[p] + add;
    expected.part_offsets[++item] = part;
  }
  return item;
}

static void expect(const struct groups *second) {
  uint32_t item = 0;
  expected.part_offsets[0] = 0;
  for (uint32_t e = 0; e < input.events; e++) {
    expected.offsets[e] = item;
    if (!is_listed(e)) continue;
    item = expect_event(&input.first, e, item, 0);
    if (second) item = expect_event(second, e, item, 1000);
  }
  expected.offsets[input.events] = item;
}

static void give(struct sl_test *t, const char *port, const struct groups *g, int has_parts) {
  const uint32_t items = g->offsets[input.events];
  sl_test_input(t, port, "offsets", g->offsets, input.events + 1);
  sl_test_input(t, port, "key", g->key, items);
  if (has_parts) sl_test_input(t, port, "part_offsets", g->part_offsets, items + 1);
  if (has_parts) sl_test_input(t, port, "part", g->part, g->part_offsets[items]);
}

static struct sl_test *prepare(const char *algorithm) {
  struct sl_test *t = sl_test_new(SELECT_PLUGIN, algorithm);
  sl_test_events(t, input.events);
  if (!input.is_all) sl_test_list(t, input.list, input.listed);
  sl_test_block(t, input.block);
  sl_test_set(t, "modulus", input.modulus);
  return t;
}

static void assert_field(const struct sl_test *t, const char *port, const char *field, const void *values, size_t count,
                         uint32_t seed) {
  if (memcmp(sl_test_output(t, port, field), values, count * sizeof(uint32_t)) != 0)
    fail_msg("%s.%s with SLUICE_TEST_SEED=%u", port, field, seed);
}

static void run_and_compare(struct sl_test *t, const char *port, int has_parts, uint32_t seed) {
  const uint32_t items = expected.offsets[input.events];
  assert_int_equal(sl_test_run(t), 0);
  assert_field(t, port, "offsets", expected.offsets, input.events + 1, seed);
  assert_field(t, port, "key", expected.key, items, seed);
  if (has_parts) assert_field(t, port, "part_offsets", expected.part_offsets, items + 1, seed);
  if (has_parts) assert_field(t, port, "part", expected.part, expected.part_offsets[items], seed);
  sl_test_free(t);
}

static void compare_all(uint32_t seed) {
  struct sl_test *t;
  draw_input(seed);
  expect(NULL);
  t = prepare("select_keys");
  give(t, "keys", &input.first, 0);
  run_and_compare(t, "selected", 0, seed);
  t = prepare("select_groups");
  give(t, "groups", &input.first, 1);
  run_and_compare(t, "selected", 1, seed);
  expect(&input.second);
  t = prepare("merge_groups");
  give(t, "first", &input.first, 1);
  give(t, "second", &input.second, 1);
  run_and_compare(t, "merged", 1, seed);
}

static void selections_and_merges_equal_a_plain_loop(void **state) {
  const char *seed = getenv("SLUICE_TEST_SEED");
  (void)state;
  if (seed) compare_all((uint32_t)strtoul(seed, NULL, 10));
  for (uint32_t s = 0; !seed && s < SEEDS; s++) compare_all(s);
}

/* Two events with three groups of two parts each. */
static struct sl_test *six_groups(void) {
  input.events = 2;
  input.modulus = 1;
  input.block = 32;
  input.is_all = 1;
  memset(&input.first, 0, sizeof input.first);
  for (uint32_t e = 0; e <= 2; e++) input.first.offsets[e] = 3 * e;
  for (uint32_t i = 0; i <= 6; i++) input.first.part_offsets[i] = 2 * i;
  struct sl_test *t = prepare("select_groups");
  give(t, "groups", &input.first, 1);
  return t;
}

static void no_item_is_written_if_items_exceed_the_capacity(void **state) {
  struct sl_test *t = six_groups();
  (void)state;
  sl_test_budget(t, "selected", 5);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_used(t, "selected"), 6);
  for (uint32_t e = 0; e <= 2; e++)
    assert_int_equal(((const uint32_t *)sl_test_output(t, "selected", "offsets"))[e], 0);
  sl_test_free(t);
}

static void no_subitem_is_written_if_subitems_exceed_the_capacity(void **state) {
  struct sl_test *t = six_groups();
  (void)state;
  sl_test_budget(t, "selected.part_offsets", 11);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_used(t, "selected.part_offsets"), 12);
  for (uint32_t i = 0; i <= 6; i++)
    assert_int_equal(((const uint32_t *)sl_test_output(t, "selected", "part_offsets"))[i], 0);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(selections_and_merges_equal_a_plain_loop),
      cmocka_unit_test(no_item_is_written_if_items_exceed_the_capacity),
      cmocka_unit_test(no_subitem_is_written_if_subitems_exceed_the_capacity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
