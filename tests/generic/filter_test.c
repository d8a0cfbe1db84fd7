/* filter_test.c: generic.filter on fields of all shapes and types, compared with a test of each value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above */
#include <sluice/testing.h>

#include <cmocka.h>

enum { EVENTS = 70, WIDTH = 3, ITEMS_MAX = EVENTS * 8, SUBITEMS_MAX = ITEMS_MAX * 8 };

#define ANY_FIELDS(F)                                         \
  F(mean, f64, PER_EVENT, "", "a value an event")             \
  F(pair, i16, PER_EVENT_OF(3), "", "three an event")         \
  F(offsets, u32, OFFSETS, "", "first item")                  \
  F(weight, f32, PER_ITEM, "", "a value an item")             \
  F(place, i32, PER_ITEM_OF(3), "", "three an item")          \
  F(first_offsets, u32, ITEM_OFFSETS, "", "first subitem")    \
  F(code, u8, PER_SUBITEM, "", "a value a subitem")           \
  F(second_offsets, u32, ITEM_OFFSETS, "", "first of others") \
  F(id, u64, PER_SUBITEM, "", "a value each of the others")
SL_COLLECTION(any_collection, ANY_FIELDS, "a field of each shape");

static uint32_t offsets[EVENTS + 1], first_offsets[ITEMS_MAX + 1], second_offsets[ITEMS_MAX + 1];

static uint32_t mixed(uint32_t i) {
  i = (i + 12345u) * 2654435761u;
  return (i ^ i >> 15) * 2246822519u >> 7;
}

/* Value i of any field, from -50 to 50, or from 0 if unsigned. */
static double value_of(uint32_t i, int is_signed) { return (double)(mixed(i) % 101) - (is_signed ? 50 : 0); }

static void make_offsets(void) {
  for (uint32_t e = 0; e < EVENTS; e++) offsets[e + 1] = offsets[e] + mixed(e) % 8;
  for (uint32_t i = 0; i < offsets[EVENTS]; i++) {
    first_offsets[i + 1] = first_offsets[i] + mixed(1000 + i) % 8;
    second_offsets[i + 1] = second_offsets[i] + mixed(9000 + i) % 5;
  }
}

#define STORE(name, c, bytes) \
  case SL_TYPE_##name:        \
    *(c *)place = (c)value;   \
    break;
static void *values_of(uint32_t type, uint32_t count, uint32_t value_bytes, int is_signed) {
  unsigned char *values = calloc(count + 1u, value_bytes);
  assert_non_null(values);
  for (uint32_t i = 0; i < count; i++) {
    void *place = values + i * value_bytes;
    const double value = value_of(i, is_signed);
    switch (type) { SL_TYPES(STORE) }
  }
  return values;
}

struct field_case {
  const char *name;
  uint32_t value_bytes, is_signed, width, by_event;
  const uint32_t *item_offsets;
  const char *item_offsets_name;
};

static const struct field_case cases[] = {
    {"mean", 8, 1, 1, 1, NULL, NULL},
    {"pair", 2, 1, WIDTH, 1, NULL, NULL},
    {"weight", 4, 1, 1, 0, NULL, NULL},
    {"place", 4, 1, WIDTH, 0, NULL, NULL},
    {"code", 1, 0, 1, 0, first_offsets, "first_offsets"},
    {"id", 8, 0, 1, 0, second_offsets, "second_offsets"},
};

static uint32_t begin_of(const struct field_case *c, uint32_t event) {
  uint32_t entry = c->by_event ? event : offsets[event];
  if (c->item_offsets) entry = c->item_offsets[entry];
  return entry * c->width;
}

static struct sl_test *filter(const struct field_case *c) {
  struct sl_test *t = sl_test_new(GENERIC_PLUGIN, "filter");
  uint32_t type = 0;
  for (uint32_t f = 0; f < any_collection_collection.field_count; f++)
    if (strcmp(any_collection_fields[f].name, c->name) == 0) type = any_collection_fields[f].type;
  const uint32_t count = begin_of(c, EVENTS);
  void *values = values_of(type, count, c->value_bytes, (int)c->is_signed);
  sl_test_events(t, EVENTS);
  sl_test_field(t, "of", &any_collection_collection, c->name);
  sl_test_input(t, "of", c->name, values, count);
  if (!c->by_event) sl_test_input(t, "of", "offsets", offsets, EVENTS + 1);
  if (c->item_offsets) sl_test_input(t, "of", c->item_offsets_name, c->item_offsets, offsets[EVENTS] + 1);
  free(values);
  return t;
}

/* Runs the filter on every `every`-th event and compares. Frees the test. */
static void assert_filtered(struct sl_test *t, const struct field_case *c, double minimum, double maximum,
                            uint32_t count, uint32_t every) {
  uint32_t list[EVENTS], length = 0, at = 0;
  for (uint32_t e = 0; e < EVENTS; e += every) list[length++] = e;
  if (every > 1) sl_test_list(t, list, length);
  sl_test_set(t, "minimum", minimum);
  sl_test_set(t, "maximum", maximum);
  sl_test_set(t, "count", count);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *passed = sl_test_output(t, "passed", "numbers");
  for (uint32_t i = 0; i < length; i++) {
    uint32_t found = 0;
    for (uint32_t v = begin_of(c, list[i]); v < begin_of(c, list[i] + 1); v++) {
      const double value = value_of(v, (int)c->is_signed);
      found += value >= minimum && value <= maximum;
    }
    if (found >= count) assert_int_equal(passed[at++], list[i]);
  }
  assert_int_equal(*(const uint32_t *)sl_test_output(t, "passed", "count"), at);
  sl_test_free(t);
}

static void fields_of_all_shapes_are_filtered(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
    for (uint32_t every = 1; every <= 2; every++) {
      assert_filtered(filter(&cases[k]), &cases[k], 0, 25, 1, every);
      assert_filtered(filter(&cases[k]), &cases[k], 10, 10, 1, every);
      assert_filtered(filter(&cases[k]), &cases[k], -1e300, 40, 3, every);
      assert_filtered(filter(&cases[k]), &cases[k], 1000, 2000, 0, every);
      assert_filtered(filter(&cases[k]), &cases[k], 1000, 2000, 1, every);
    }
}

static void nan_never_passes(void **state) {
  (void)state;
  const double means[] = {1, __builtin_nan(""), __builtin_inf(), -3};
  struct sl_test *t = sl_test_new(GENERIC_PLUGIN, "filter");
  sl_test_events(t, 4);
  sl_test_field(t, "of", &any_collection_collection, "mean");
  sl_test_input(t, "of", "mean", means, 4);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(*(const uint32_t *)sl_test_output(t, "passed", "count"), 2);
  assert_int_equal(((const uint32_t *)sl_test_output(t, "passed", "numbers"))[1], 3);
  sl_test_free(t);
}

/* As doubles, 2^53 + 1 is 2^53, and the largest integer is 2^64. */
static void large_integers_are_compared_exactly(void **state) {
  (void)state;
  const uint64_t middle = UINT64_C(1) << 53,
                 ids[] = {middle - 1, middle, middle + 1, middle + 2, middle + 3, UINT64_MAX};
  static const struct {
    double minimum, maximum;
    uint32_t first, end;
  } ranges[] = {{0, 0x1p53, 0, 2},          {0x1p53 + 2, 1e300, 3, 6}, {0x1p53, 0x1p53 + 2, 1, 4},
                {0x1p53 + 4, 0x1p64, 5, 6}, {0x1p64, 1e300, 0, 0},     {-1e300, 0x1p53 - 1, 0, 1}};
  const uint32_t first[] = {0, 1, 2, 3, 4, 5, 6};
  for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
    struct sl_test *t = sl_test_new(GENERIC_PLUGIN, "filter");
    sl_test_events(t, 6);
    sl_test_field(t, "of", &any_collection_collection, "id");
    sl_test_input(t, "of", "id", ids, 6);
    sl_test_input(t, "of", "offsets", first, 7);
    sl_test_input(t, "of", "second_offsets", first, 7);
    sl_test_set(t, "minimum", ranges[r].minimum);
    sl_test_set(t, "maximum", ranges[r].maximum);
    assert_int_equal(sl_test_run(t), 0);
    const uint32_t *passed = sl_test_output(t, "passed", "numbers");
    assert_int_equal(*(const uint32_t *)sl_test_output(t, "passed", "count"), ranges[r].end - ranges[r].first);
    for (uint32_t i = ranges[r].first; i < ranges[r].end; i++) assert_int_equal(passed[i - ranges[r].first], i);
    sl_test_free(t);
  }
}

int main(void) {
  make_offsets();
  const struct CMUnitTest tests[] = {cmocka_unit_test(fields_of_all_shapes_are_filtered),
                                     cmocka_unit_test(nan_never_passes),
                                     cmocka_unit_test(large_integers_are_compared_exactly)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
