/* prescale_test.c: odin.prescale: fraction of events that pass, and independence of nodes and events. */
#include "odin/event_model.h"
#include "odin/scaler.h"
#include "odin_banks.h"

#include <math.h>

enum { EVENTS = 20000 };

static struct {
  uint32_t run[EVENTS];
  uint64_t event_number[EVENTS], gps_time[EVENTS];
} odin;

/* Successive events of one run, 33 us apart. */
static void make_events(void) {
  for (uint32_t i = 0; i < EVENTS; i++) {
    odin.run[i] = 289232;
    odin.event_number[i] = 0xFFFF0000u + i; /* exceeds 32 bits */
    odin.gps_time[i] = 1712700000000000u + 33u * i;
  }
}

static struct sl_test *prescale(uint32_t count, const char *node, double fraction) {
  struct sl_test *t = sl_test_new(ODIN_PLUGIN, "prescale");
  sl_test_events(t, count);
  sl_test_input(t, "odin", "run", odin.run, count);
  sl_test_input(t, "odin", "event_number", odin.event_number, count);
  sl_test_input(t, "odin", "gps_time", odin.gps_time, count);
  sl_test_node(t, node);
  sl_test_set(t, "fraction", fraction);
  return t;
}

/* Sets the flags of the events that pass; returns their number. */
static uint32_t passed(struct sl_test *t, uint8_t *flags) {
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *count = sl_test_output(t, "passed", "count"), *numbers = sl_test_output(t, "passed", "numbers");
  const uint32_t result = *count;
  if (flags) memset(flags, 0, EVENTS);
  for (uint32_t i = 0; i < result; i++) {
    assert_true(i == 0 || numbers[i] > numbers[i - 1]);
    if (flags) flags[numbers[i]] = 1;
  }
  sl_test_free(t);
  return result;
}

/* `count` agrees with the fraction within five standard deviations. */
static void assert_fraction(uint32_t count, double fraction, uint32_t events) {
  const double difference = count - fraction * events;
  if (fabs(difference) > 5 * sqrt(fraction * (1 - fraction) * events))
    fail_msg("%u events of %u, not %g of them", count, events, fraction);
}

static void fractions_of_the_events_pass(void **state) {
  (void)state;
  static const double fractions[] = {0.0005, 0.01, 0.1, 0.3, 0.5, 0.9, 0.999};
  make_events();
  for (uint32_t i = 0; i < sizeof fractions / sizeof fractions[0]; i++)
    assert_fraction(passed(prescale(EVENTS, "line", fractions[i]), NULL), fractions[i], EVENTS);
}

static void fractions_0_and_1_are_exact(void **state) {
  (void)state;
  make_events();
  assert_int_equal(passed(prescale(EVENTS, "line", 0), NULL), 0);
  assert_int_equal(passed(prescale(EVENTS, "line", 1), NULL), EVENTS);
}

static void a_larger_fraction_has_the_events_of_a_smaller_one(void **state) {
  (void)state;
  static uint8_t some[EVENTS], more[EVENTS];
  make_events();
  passed(prescale(EVENTS, "line", 0.05), some);
  passed(prescale(EVENTS, "line", 0.2), more);
  for (uint32_t i = 0; i < EVENTS; i++) assert_true(!some[i] || more[i]);
}

/* For any two nodes with similar names, the number of events selected by both is that of independent selections. */
static void nodes_are_independent_of_each_other(void **state) {
  (void)state;
  enum { NODES = 8 };
  static const char *names[NODES] = {"line_1", "line_2", "line_3", "line_10", "enil_1", "a", "b", "line_1_post"};
  static uint8_t flags[NODES][EVENTS];
  make_events();
  for (uint32_t n = 0; n < NODES; n++) passed(prescale(EVENTS, names[n], 0.1), flags[n]);
  for (uint32_t n = 0; n < NODES; n++)
    for (uint32_t m = 0; m < n; m++) {
      uint32_t both = 0;
      for (uint32_t i = 0; i < EVENTS; i++) both += flags[n][i] && flags[m][i];
      assert_fraction(both, 0.01, EVENTS);
    }
}

/* Successive events pass together as often as by chance. */
static void events_are_independent_of_each_other(void **state) {
  (void)state;
  static uint8_t flags[EVENTS];
  make_events();
  passed(prescale(EVENTS, "line", 0.2), flags);
  for (uint32_t distance = 1; distance <= 64; distance *= 2) {
    uint32_t both = 0;
    for (uint32_t i = 0; i + distance < EVENTS; i++) both += flags[i] && flags[i + distance];
    assert_fraction(both, 0.04, EVENTS - distance);
  }
}

static void decisions_depend_on_run_number_and_time(void **state) {
  (void)state;
  static uint8_t flags[4][EVENTS];
  for (uint32_t k = 0; k < 4; k++) {
    make_events();
    for (uint32_t i = 0; i < EVENTS; i++) {
      odin.run[i] += k == 1;
      odin.gps_time[i] += (uint64_t)(k == 2) << 32;
      odin.event_number[i] += (uint64_t)(k == 3) << 40;
    }
    passed(prescale(EVENTS, "line", 0.1), flags[k]);
    for (uint32_t m = 0; m < k; m++) {
      uint32_t both = 0;
      for (uint32_t i = 0; i < EVENTS; i++) both += flags[k][i] && flags[m][i];
      assert_fraction(both, 0.01, EVENTS);
    }
  }
}

static void a_seed_replaces_the_name_of_the_node(void **state) {
  (void)state;
  static uint8_t by_name[EVENTS], one[EVENTS], other[EVENTS];
  make_events();
  passed(prescale(EVENTS, "one", 0.1), by_name);
  struct sl_test *t = prescale(EVENTS, "one", 0.1);
  sl_test_set_text(t, "seed", "common");
  passed(t, one);
  t = prescale(EVENTS, "other", 0.1);
  sl_test_set_text(t, "seed", "common");
  passed(t, other);
  assert_memory_equal(one, other, EVENTS);
  assert_memory_not_equal(one, by_name, EVENTS);
}

static void seeds_equal_those_of_the_scaler(void **state) {
  (void)state;
  enum { SOME = EVENTS / 10 };
  static uint8_t flags[EVENTS];
  const struct odin_scaler scaler = odin_scaler_of(odin_seed_of("Hlt1TrackMVA_pre"), 0.3f);
  struct odin_events_view view;
  memset(&view, 0, sizeof view);
  make_events();
  view.run = odin.run;
  view.event_number = odin.event_number;
  view.gps_time = odin.gps_time;
  struct sl_test *t = prescale(SOME, "line", 0.3);
  sl_test_set_text(t, "seed", "Hlt1TrackMVA_pre");
  passed(t, flags);
  for (uint32_t i = 0; i < SOME; i++) assert_int_equal(flags[i], odin_scaler_passes(&scaler, &view, i));
}

static void a_prescale_on_a_list_selects_only_listed_events(void **state) {
  (void)state;
  enum { LISTED = EVENTS / 4 };
  static uint32_t list[LISTED];
  static uint8_t all[EVENTS], listed[EVENTS];
  make_events();
  for (uint32_t i = 0; i < LISTED; i++) list[i] = 4 * i + 3;
  passed(prescale(EVENTS, "line", 0.5), all);
  struct sl_test *t = prescale(EVENTS, "line", 0.5);
  sl_test_list(t, list, LISTED);
  passed(t, listed);
  for (uint32_t i = 0; i < EVENTS; i++) assert_int_equal(listed[i], all[i] && i % 4 == 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fractions_of_the_events_pass),
      cmocka_unit_test(fractions_0_and_1_are_exact),
      cmocka_unit_test(a_larger_fraction_has_the_events_of_a_smaller_one),
      cmocka_unit_test(nodes_are_independent_of_each_other),
      cmocka_unit_test(events_are_independent_of_each_other),
      cmocka_unit_test(decisions_depend_on_run_number_and_time),
      cmocka_unit_test(a_seed_replaces_the_name_of_the_node),
      cmocka_unit_test(seeds_equal_those_of_the_scaler),
      cmocka_unit_test(a_prescale_on_a_list_selects_only_listed_events),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
