/* histogram_test.c: generic.histogram and generic.histogram_2d, compared with counts by a binary search of the edges.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above */
#include "generic/event_model.h"

#include <sluice/testing.h>

#include <cmocka.h>

#define ANY_FIELDS(F)                                      \
  F(height, f64, PER_EVENT, "mm", "one an event")          \
  F(small, i16, PER_EVENT_OF(3), "", "three")              \
  F(offsets, u32, OFFSETS, "", "first item")               \
  F(x, f32, PER_ITEM, "mm", "a float an item")             \
  F(y, f32, PER_ITEM, "mm", "another")                     \
  F(word, u64, PER_ITEM, "", "an integer an item")         \
  F(pair, f32, PER_ITEM_OF(2), "mm", "two floats an item") \
  F(is_good, u8, PER_ITEM, "", "selects items")            \
  F(passed, u32, PER_EVENT, "", "selects events")
SL_COLLECTION(any_collection, ANY_FIELDS, "fields of several shapes");

struct axis {
  uint32_t bins;
  double lower, upper;
};

static uint32_t mixed(uint32_t i) {
  i = (i + 12345u) * 2654435761u;
  return (i ^ i >> 15) * 2246822519u >> 7;
}

static double edge_of(const struct axis *a, uint32_t i) {
  return i == a->bins ? a->upper : a->lower + (a->upper - a->lower) / a->bins * i;
}

/* Index of the counter of a value: the number of edges that are not above it. */
static uint32_t entry_of(const struct axis *a, double value) {
  if (!isfinite(value)) return SL_AXIS_NOT_FINITE(a->bins);
  uint32_t begin = 0, end = a->bins + 1;
  while (begin < end) {
    const uint32_t middle = (begin + end) / 2;
    if (edge_of(a, middle) <= value)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

static void set_axis(struct sl_test *t, const char *prefix, const struct axis *a) {
  char name[16];
  snprintf(name, sizeof name, "%sbins", prefix);
  sl_test_set(t, name, a->bins);
  snprintf(name, sizeof name, "%slower", prefix);
  sl_test_set(t, name, a->lower);
  snprintf(name, sizeof name, "%supper", prefix);
  sl_test_set(t, name, a->upper);
}

static struct sl_test *histogram(const char *field, const void *values, uint32_t count, const struct axis *a) {
  struct sl_test *t = sl_test_new(GENERIC_PLUGIN, "histogram");
  sl_test_field(t, "of", &any_collection_collection, field);
  sl_test_input(t, "of", field, values, count);
  set_axis(t, "", a);
  return t;
}

/* Frees the test. */
static void assert_counts(struct sl_test *t, const uint32_t *expected, uint32_t count) {
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_output_count(t, "histogram", "counts"), count);
  assert_memory_equal(sl_test_output(t, "histogram", "counts"), expected, count * sizeof *expected);
  sl_test_free(t);
}

/* ------------------------------------------------------------------------------------------------ one axis */

/* Values of a number of events; some events have none, some a thousand. */
enum { MANY = 1000000, EVENTS = 700 };
static float x[MANY];
static uint32_t offsets[EVENTS + 1];

static void make_many(void) {
  for (uint32_t i = 0; i < MANY; i++) x[i] = (float)(mixed(i) % 1200000) * 1e-4f - 10.0f;
  x[17] = NAN;
  x[18] = INFINITY;
  for (uint32_t e = 0; e < EVENTS; e++) offsets[e] = e % 7 == 3 ? offsets[e - 1] : e * (MANY / EVENTS) + mixed(e) % 800;
  offsets[0] = 0;
  offsets[EVENTS] = MANY;
}

/* Runs on a list of every `every`-th event. */
static void assert_many(const struct axis *a, uint32_t every) {
  uint32_t *expected = calloc(a->bins + SL_AXIS_BESIDE, sizeof *expected);
  uint32_t list[EVENTS], length = 0;
  struct sl_test *t = histogram("x", x, MANY, a);
  assert_non_null(expected);
  sl_test_events(t, EVENTS);
  sl_test_input(t, "of", "offsets", offsets, EVENTS + 1);
  for (uint32_t e = 0; e < EVENTS; e += every) {
    list[length++] = e;
    for (uint32_t i = offsets[e]; i < offsets[e + 1]; i++) expected[entry_of(a, (double)x[i])]++;
  }
  if (every > 1) sl_test_list(t, list, length);
  assert_counts(t, expected, a->bins + SL_AXIS_BESIDE);
  free(expected);
}

static void a_million_values_are_counted(void **state) {
  (void)state;
  assert_many(&(struct axis){100, 0, 100}, 1);
}

static void more_bins_than_a_block_can_hold(void **state) {
  (void)state;
  assert_many(&(struct axis){5000, -0.1, 77.7}, 5);
}

static void events_not_on_the_list_are_not_counted(void **state) {
  (void)state;
  assert_many(&(struct axis){3, -1e-3, 55}, 3);
}

static void edges_belong_to_the_bin_above(void **state) {
  (void)state;
  const struct axis a = {10, 0, 1};
  double values[64];
  uint32_t expected[10 + SL_AXIS_BESIDE] = {0}, count = 0;
  for (uint32_t i = 0; i <= a.bins; i++) {
    values[count++] = edge_of(&a, i);
    expected[1 + i]++;
    values[count++] = nextafter(edge_of(&a, i), -1);
    expected[i]++;
    values[count++] = nextafter(edge_of(&a, i), 2);
    expected[1 + i]++;
  }
  values[count++] = -0.0;
  expected[1]++;
  values[count++] = -1e308;
  expected[SL_AXIS_BELOW]++;
  values[count++] = 1e308;
  expected[SL_AXIS_ABOVE(10)]++;
  struct sl_test *t = histogram("height", values, count, &a);
  sl_test_events(t, count);
  assert_counts(t, expected, a.bins + SL_AXIS_BESIDE);
}

static void values_that_are_not_finite_are_counted_separately(void **state) {
  (void)state;
  const double values[] = {NAN, INFINITY, -INFINITY, -NAN, 0.5, 5};
  const uint32_t expected[] = {0, 1, 1, 4};
  struct sl_test *t = histogram("height", values, 6, &(struct axis){1, 0, 1});
  sl_test_events(t, 6);
  assert_counts(t, expected, 4);
}

static void integers_are_counted(void **state) {
  (void)state;
  const int16_t smalls[] = {-5, -4, 0, 3, 4, -32768, 32767, 1, 2};
  struct sl_test *t = histogram("small", smalls, 9, &(struct axis){3, -4, 5});
  sl_test_events(t, 3);
  assert_counts(t, (uint32_t[]){2, 1, 2, 3, 1, 0}, 6); /* edges -4, -1, 2, 5 */

  const uint64_t words[] = {0, UINT64_MAX, UINT64_C(1) << 63, 7};
  const uint32_t ends[] = {0, 4};
  t = histogram("word", words, 4, &(struct axis){2, 0, 18446744073709551616.0});
  sl_test_events(t, 1);
  sl_test_input(t, "of", "offsets", ends, 2);
  assert_counts(t, (uint32_t[]){0, 2, 2, 0, 0}, 5); /* as a float, the largest one is 2^64 */

  /* As floats, 2^53 + 1 is 2^53, and 2^53 + 3 is 2^53 + 4; the edges are 2^53, 2^53 + 2 and 2^53 + 4. */
  const uint64_t middle = UINT64_C(1) << 53,
                 large[] = {middle - 1, middle, middle + 1, middle + 2, middle + 3, middle + 4};
  t = histogram("word", large, 6, &(struct axis){2, 0x1p53, 0x1p53 + 4});
  sl_test_events(t, 1);
  sl_test_input(t, "of", "offsets", (uint32_t[]){0, 6}, 2);
  assert_counts(t, (uint32_t[]){1, 2, 2, 1, 0}, 5);
}

static void no_values_give_zero_counts(void **state) {
  (void)state;
  const uint32_t none[4] = {0};
  struct sl_test *t = histogram("x", x, 0, &(struct axis){2, 0, 1});
  sl_test_events(t, 3);
  sl_test_input(t, "of", "offsets", none, 4);
  assert_counts(t, (uint32_t[]){0, 0, 0, 0, 0}, 5);
}

/* ---------------------------------------------------------------------------------------------- selected values */

static uint8_t good[MANY];
static uint32_t passed[EVENTS];

static void make_selections(void) {
  for (uint32_t i = 0; i < MANY; i++) good[i] = mixed(i + 5) % 3 == 0 ? (uint8_t)(1 + i % 255) : 0;
  for (uint32_t e = 0; e < EVENTS; e++) passed[e] = mixed(e + 9) % 4 == 0 ? 2 : 0;
}

static void select_by(struct sl_test *t, const char *field, const void *values, uint32_t count) {
  sl_test_field(t, "selected", &any_collection_collection, field);
  sl_test_input(t, "selected", field, values, count);
}

/* Counts the values of `x`, `width` per item, of items that are good or of events that passed. */
static void assert_selected(const struct axis *a, uint32_t width, int by_event) {
  uint32_t *expected = calloc(a->bins + SL_AXIS_BESIDE, sizeof *expected), items[EVENTS + 1];
  assert_non_null(expected);
  struct sl_test *t = histogram(width == 1 ? "x" : "pair", x, MANY, a);
  sl_test_events(t, EVENTS);
  for (uint32_t e = 0; e <= EVENTS; e++) items[e] = offsets[e] / width;
  sl_test_input(t, "of", "offsets", items, EVENTS + 1);
  if (by_event)
    select_by(t, "passed", passed, EVENTS);
  else
    select_by(t, "is_good", good, MANY / width);
  if (!by_event) sl_test_input(t, "selected", "offsets", items, EVENTS + 1);
  for (uint32_t e = 0; e < EVENTS; e++)
    for (uint32_t i = items[e]; i < items[e + 1]; i++)
      for (uint32_t k = 0; k < width && (by_event ? passed[e] : good[i]); k++)
        expected[entry_of(a, (double)x[width * i + k])]++;
  assert_counts(t, expected, a->bins + SL_AXIS_BESIDE);
  free(expected);
}

static void values_of_selected_items_are_counted(void **state) {
  (void)state;
  assert_selected(&(struct axis){100, 0, 100}, 1, 0);
  assert_selected(&(struct axis){5000, 0, 100}, 1, 0);
  assert_selected(&(struct axis){100, 0, 100}, 2, 0);
}

static void values_of_selected_events_are_counted(void **state) {
  (void)state;
  assert_selected(&(struct axis){100, 0, 100}, 1, 1);
  assert_selected(&(struct axis){100, 0, 100}, 2, 1);
}

static void values_per_event_are_selected_by_event(void **state) {
  (void)state;
  const int16_t smalls[] = {1, 1, 1, 2, 2, 2, 0, 1, 2};
  struct sl_test *t = histogram("small", smalls, 9, &(struct axis){3, 0, 3});
  sl_test_events(t, 3);
  select_by(t, "passed", (uint32_t[]){0, 1, 0x80000000u}, 3);
  assert_counts(t, (uint32_t[]){0, 1, 1, 4, 0, 0}, 6);
}

/* ------------------------------------------------------------------------------------------------ two axes */

static struct sl_test *pairs(const char *x_field, const void *xs, const char *y_field, const void *ys, uint32_t count,
                             const struct axis *ax, const struct axis *ay) {
  struct sl_test *t = sl_test_new(GENERIC_PLUGIN, "histogram_2d");
  sl_test_field(t, "x", &any_collection_collection, x_field);
  sl_test_field(t, "y", &any_collection_collection, y_field);
  sl_test_input(t, "x", x_field, xs, count);
  sl_test_input(t, "y", y_field, ys, count);
  set_axis(t, "x_", ax);
  set_axis(t, "y_", ay);
  return t;
}

static void assert_pairs(const struct axis *ax, const struct axis *ay) {
  enum { PAIRS = 40000 };
  const uint32_t row = ax->bins + SL_AXIS_BESIDE, entries = row * (ay->bins + SL_AXIS_BESIDE);
  uint32_t some[41] = {0}, *expected = calloc(entries, sizeof *expected);
  const float *y = x + PAIRS;
  assert_non_null(expected);
  for (uint32_t e = 0; e <= 40; e++) some[e] = e * 1000;
  for (uint32_t i = 0; i < PAIRS; i++) expected[row * entry_of(ay, (double)y[i]) + entry_of(ax, (double)x[i])]++;
  struct sl_test *t = pairs("x", x, "y", y, PAIRS, ax, ay);
  sl_test_events(t, 40);
  sl_test_input(t, "x", "offsets", some, 41);
  sl_test_input(t, "y", "offsets", some, 41);
  assert_counts(t, expected, entries);
  free(expected);
}

static void pairs_are_counted(void **state) {
  (void)state;
  assert_pairs(&(struct axis){10, 0, 100}, &(struct axis){7, -5, 60});
  assert_pairs(&(struct axis){90, 0, 100}, &(struct axis){60, -5, 60});
}

static void selected_pairs_are_counted(void **state) {
  (void)state;
  const uint32_t ends[] = {0, 1, 1, 4};
  const float xs[] = {0.5f, 0.5f, 1.5f, 1.5f}, ys[] = {0.5f, 1.5f, 0.5f, 1.5f};
  const uint8_t is_good[] = {0, 1, 7, 0};
  const struct axis two = {2, 0, 2};
  for (int by_event = 0; by_event < 2; by_event++) {
    struct sl_test *t = pairs("x", xs, "y", ys, 4, &two, &two);
    uint32_t expected[25] = {0};
    sl_test_events(t, 3);
    sl_test_input(t, "x", "offsets", ends, 4);
    sl_test_input(t, "y", "offsets", ends, 4);
    if (by_event) {
      select_by(t, "passed", (uint32_t[]){1, 1, 0}, 3);
      expected[5 * 1 + 1] = 1;
    } else {
      select_by(t, "is_good", is_good, 4);
      sl_test_input(t, "selected", "offsets", ends, 4);
      expected[5 * 2 + 1] = expected[5 * 1 + 2] = 1;
    }
    assert_counts(t, expected, 25);
  }
}

static void events_with_different_numbers_of_values_are_refused(void **state) {
  (void)state;
  const uint32_t three[] = {0, 1, 2, 3}, other[] = {0, 1, 1, 3};
  const float values[] = {0.5f, 0.5f, 0.5f};
  struct sl_test *t = pairs("x", values, "y", values, 3, &(struct axis){1, 0, 1}, &(struct axis){1, 0, 1});
  sl_test_events(t, 3);
  sl_test_input(t, "x", "offsets", three, 4);
  sl_test_input(t, "y", "offsets", other, 4);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_event_error(t, 0), 0);
  assert_int_not_equal(sl_test_event_error(t, 1), 0);
  assert_int_not_equal(sl_test_event_error(t, 2), 0);
  sl_test_free(t);
}

/* --------------------------------------------------------------------------------------------- properties */

static void assert_refused(const struct axis *a, const char *what) {
  const double value = 0;
  struct sl_test *t = histogram("height", &value, 1, a);
  sl_test_events(t, 1);
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  if (!strstr(sl_test_messages(t), what)) fail_msg("%s is not in %s", what, sl_test_messages(t));
  sl_test_free(t);
}

static void invalid_axes_are_refused(void **state) {
  (void)state;
  assert_refused(&(struct axis){10, 1, 1}, "upper: 1 is not above lower, 1");
  assert_refused(&(struct axis){10, 2, -2}, "upper: -2 is not above lower, 2");
  assert_refused(&(struct axis){10, -1e308, 1e308}, "exceeds the range of 64-bit floats");
  assert_refused(&(struct axis){10, 1, nextafter(1, 2)},
                 "bins: there are not enough 64-bit floats from 1 to "
                 "1.0000000000000002");
}

int main(void) {
  make_many();
  make_selections();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_million_values_are_counted),
      cmocka_unit_test(more_bins_than_a_block_can_hold),
      cmocka_unit_test(events_not_on_the_list_are_not_counted),
      cmocka_unit_test(edges_belong_to_the_bin_above),
      cmocka_unit_test(values_of_selected_items_are_counted),
      cmocka_unit_test(values_of_selected_events_are_counted),
      cmocka_unit_test(values_per_event_are_selected_by_event),
      cmocka_unit_test(selected_pairs_are_counted),
      cmocka_unit_test(values_that_are_not_finite_are_counted_separately),
      cmocka_unit_test(integers_are_counted),
      cmocka_unit_test(no_values_give_zero_counts),
      cmocka_unit_test(pairs_are_counted),
      cmocka_unit_test(events_with_different_numbers_of_values_are_refused),
      cmocka_unit_test(invalid_axes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
