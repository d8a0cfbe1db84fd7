/* filter_test.c: odin.filter against the conditions evaluated event by event. */
#include "odin/event_model.h"
#include "odin_banks.h"

enum { EVENTS = 700 };

struct events {
  uint16_t event_type[EVENTS];
  uint8_t crossing_type[EVENTS], trigger_type[EVENTS], error_bits[EVENTS];
  uint32_t orbit[EVENTS];
  uint16_t bunch[EVENTS];
};

/* All combinations of a few values of each field. */
static const struct events *events(void) {
  static struct events e;
  for (uint32_t i = 0; i < EVENTS; i++) {
    e.event_type[i] = (uint16_t)((i * 7 % 5 == 0 ? ODIN_LUMINOSITY : 0) | (i % 3 == 0 ? ODIN_PHYSICS : 0));
    e.crossing_type[i] = (uint8_t)(i % 4);
    e.trigger_type[i] = (uint8_t)(i % 9);
    e.error_bits[i] = (uint8_t)(i % 11 == 0 ? 1u << i % 8 : 0u);
    e.orbit[i] = 4294966000u + 13 * i + i / 7; /* wraps around */
    e.bunch[i] = (uint16_t)(i * 6 < ODIN_SLOTS ? i * 6 : ODIN_SLOTS - 1 - i % 3);
  }
  return &e;
}

static struct sl_test *filter(void) {
  const struct events *e = events();
  struct sl_test *t = sl_test_new(ODIN_PLUGIN, "filter");
  sl_test_events(t, EVENTS);
  sl_test_input(t, "odin", "event_type", e->event_type, EVENTS);
  sl_test_input(t, "odin", "crossing_type", e->crossing_type, EVENTS);
  sl_test_input(t, "odin", "trigger_type", e->trigger_type, EVENTS);
  sl_test_input(t, "odin", "error_bits", e->error_bits, EVENTS);
  sl_test_input(t, "odin", "orbit", e->orbit, EVENTS);
  sl_test_input(t, "odin", "bunch", e->bunch, EVENTS);
  return t;
}

/* Runs the filter and compares; `expected` has one flag per event; some but not all of them must be set. */
static void assert_passed(struct sl_test *t, const uint8_t *expected) {
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *count = sl_test_output(t, "passed", "count"), *numbers = sl_test_output(t, "passed", "numbers");
  uint32_t at = 0;
  for (uint32_t i = 0; i < EVENTS; i++) {
    if (!expected[i]) continue;
    assert_true(at < *count);
    assert_int_equal(numbers[at], i);
    at++;
  }
  assert_int_equal(*count, at);
  assert_true(at > 0 && at < EVENTS);
  sl_test_free(t);
}

#define PASSES(condition)            \
  const struct events *e = events(); \
  uint8_t flags[EVENTS];             \
  for (uint32_t i = 0; i < EVENTS; i++) flags[i] = (condition) ? 1 : 0

static void by_default_events_without_error_bits_pass(void **state) {
  (void)state;
  PASSES(e->error_bits[i] == 0);
  assert_passed(filter(), flags);
}

static void one_of_the_selected_event_types_is_enough(void **state) {
  (void)state;
  PASSES(e->error_bits[i] == 0 && e->event_type[i] != 0);
  struct sl_test *t = filter();
  sl_test_set(t, "event_types", ODIN_LUMINOSITY | ODIN_PHYSICS);
  assert_passed(t, flags);
}

static void crossing_types_are_a_mask(void **state) {
  (void)state;
  PASSES(e->error_bits[i] == 0 && (e->crossing_type[i] == ODIN_NO_BEAM || e->crossing_type[i] == ODIN_BEAM_2));
  struct sl_test *t = filter();
  sl_test_set(t, "crossing_types", 1 << ODIN_NO_BEAM | 1 << ODIN_BEAM_2);
  assert_passed(t, flags);
}

static void trigger_types_are_a_mask(void **state) {
  (void)state;
  PASSES(e->error_bits[i] == 0 && e->trigger_type[i] == 2);
  struct sl_test *t = filter();
  sl_test_set(t, "trigger_types", 1 << 2);
  assert_passed(t, flags);
}

static void events_with_error_bits_pass_on_request(void **state) {
  (void)state;
  PASSES(e->error_bits[i] != 0);
  struct sl_test *t = filter();
  sl_test_set(t, "error_states", 2);
  assert_passed(t, flags);
}

static void one_orbit_of_each_period_passes(void **state) {
  (void)state;
  PASSES(e->orbit[i] % 30 == 2 && e->event_type[i] & ODIN_LUMINOSITY);
  struct sl_test *t = filter();
  sl_test_set(t, "error_states", 3);
  sl_test_set(t, "event_types", ODIN_LUMINOSITY);
  sl_test_set(t, "orbit_period", 30);
  sl_test_set(t, "orbit_phase", 32); /* modulo the period */
  assert_passed(t, flags);
}

static void a_filter_on_a_list_selects_only_listed_events(void **state) {
  (void)state;
  uint32_t list[EVENTS / 2];
  for (uint32_t i = 0; i < EVENTS / 2; i++) list[i] = 2 * i + 1;
  PASSES(i % 2 == 1 && e->error_bits[i] == 0 && e->crossing_type[i] == ODIN_BEAM_BEAM);
  struct sl_test *t = filter();
  sl_test_list(t, list, EVENTS / 2);
  sl_test_set(t, "crossing_types", 1 << ODIN_BEAM_BEAM);
  assert_passed(t, flags);
}

static void assert_bunches_passed(const char *bunches, const uint8_t *flags) {
  struct sl_test *t = filter();
  sl_test_set(t, "error_states", 3);
  sl_test_set_text(t, "bunches", bunches);
  assert_passed(t, flags);
}

static void bunches_are_slots_and_ranges(void **state) {
  (void)state;
  PASSES((e->bunch[i] >= 100 && e->bunch[i] <= 200) || e->bunch[i] == 894 || e->bunch[i] >= 3000);
  assert_bunches_passed("100-200,894,3000-3563", flags);
  assert_bunches_passed(" 3000 - 3563 , 894\t, 150-200, 100-170,\n0100", flags);
}

static void the_first_and_the_last_slot_can_be_chosen(void **state) {
  (void)state;
  PASSES(e->bunch[i] == 0 || e->bunch[i] == 3563);
  assert_bunches_passed("0, 3563", flags);
  assert_true(flags[0]);
  for (uint32_t i = 0; i < EVENTS; i++) flags[i] = e->bunch[i] != 3563;
  assert_bunches_passed("0-3562", flags);
}

static void invalid_bunches_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *bunches, *message;
  } cases[] = {
      {"5, x1", "bunches: \"x1\" is neither a bunch slot nor a range of them, such as 894 or 1-100\n"},
      {"5,", "bunches: \"\" is neither"},
      {" ", "bunches: \"\" is neither"},
      {"5 6", "bunches: \"5 6\" is neither"},
      {"-5", "bunches: \"-5\" is neither"},
      {"5-", "bunches: \"5-\" is neither"},
      {"1-2-3", "bunches: \"1-2-3\" is neither"},
      {"0x10", "bunches: \"0x10\" is neither"},
      {"1, 200-100, 7", "bunches: \"200-100\" ends before it begins\n"},
      {"3564", "bunches: \"3564\" goes beyond the last bunch slot, 3563\n"},
      {"1-3564", "bunches: \"1-3564\" goes beyond the last bunch slot, 3563\n"},
      {"1-99999999999999999999", "goes beyond the last bunch slot, 3563\n"},
  };
  for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sl_test *t = filter();
    sl_test_set_text(t, "bunches", cases[i].bunches);
    assert_int_equal(sl_test_run(t), SL_EINVAL);
    if (!strstr(sl_test_messages(t), cases[i].message)) fail_msg("\"%s\": %s", cases[i].bunches, sl_test_messages(t));
    sl_test_free(t);
  }
}

static void each_invalid_bunch_is_reported(void **state) {
  (void)state;
  struct sl_test *t = filter();
  sl_test_set_text(t, "bunches", "9-8, 7, z");
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  assert_non_null(strstr(sl_test_messages(t), "\"9-8\" ends"));
  assert_non_null(strstr(sl_test_messages(t), "\"z\" is neither"));
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_default_events_without_error_bits_pass),
      cmocka_unit_test(one_of_the_selected_event_types_is_enough),
      cmocka_unit_test(crossing_types_are_a_mask),
      cmocka_unit_test(trigger_types_are_a_mask),
      cmocka_unit_test(events_with_error_bits_pass_on_request),
      cmocka_unit_test(one_orbit_of_each_period_passes),
      cmocka_unit_test(a_filter_on_a_list_selects_only_listed_events),
      cmocka_unit_test(bunches_are_slots_and_ranges),
      cmocka_unit_test(the_first_and_the_last_slot_can_be_chosen),
      cmocka_unit_test(invalid_bunches_are_refused),
      cmocka_unit_test(each_invalid_bunch_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
