/* scifi_check_test.c: counts and report of truth.scifi_check for hand-made particles and hits. */
#include "check_case.h"
#include "scifi/event_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SCIFI(n) (SCIFI_LHCB_ID + 0x40000u + (n))

/* Hits of the slice. */
static struct { uint32_t offsets[WRITER_EVENTS + 1], id[64], count, event_count; } hits;

static int start(void **state) {
  (void)state;
  memset(&hits, 0, sizeof hits);
  return start_check("scifi_check");
}

static void add_hits(uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) hits.id[hits.count++] = first + i;
}
static void end_hits(void) { hits.offsets[++hits.event_count] = hits.count; }

static const char *run(void) {
  sl_test_events(test, hits.event_count);
  sl_test_input(test, "hits", "offsets", hits.offsets, hits.event_count + 1);
  sl_test_input(test, "hits", "id", hits.id, hits.count);
  set_banks("mc_particles");
  assert_int_equal(sl_test_run(test), 0);
  return sl_test_report(test);
}

/* Two particles with a common id, and ids in other detectors. */
static const struct true_particle particles[] = {
    {.pdg = 211,
     .p = 12000,
     .eta = 3,
     .hit_count = 2,
     .hits = {SCIFI(20), SCIFI(21)},
     .ut_count = 1,
     .ut_hits = {SCIFI(22)},
     .scifi_count = 4,
     .scifi_hits = {SCIFI(0), SCIFI(1), SCIFI(2), SCIFI(3)}},
    {.pdg = 11, .p = 500, .eta = 4, .scifi_count = 3, .scifi_hits = {SCIFI(3), SCIFI(10), SCIFI(11)}}};

static void hits_are_compared_by_event(void **state) {
  (void)state;
  add_event(banks, particles, 2);
  add_hits(SCIFI(0), 4);
  add_hits(SCIFI(10), 1); /* 11 is not found */
  add_hits(SCIFI(20), 3); /* of other detectors */
  add_hits(SCIFI(0), 1);  /* duplicate */
  end_hits();
  add_event(banks, particles + 1, 1);
  add_hits(SCIFI(0), 2); /* true in the other event only */
  end_hits();
  const char *report = run();
  assert_int_equal(number_in(report, "events"), 2);
  assert_int_equal(number_in(report, "hits"), 11);
  assert_int_equal(number_in(report, "hits_in_truth"), 5);
  assert_int_equal(number_in(report, "duplicate_hits"), 1);
  assert_int_equal(number_in(report, "true_hits"), 6 + 3);
  assert_int_equal(number_in(report, "true_hits_found"), 5);
  assert_float_equal(number_in(report, "hit_efficiency"), 5.0 / 9, 1e-9);
  assert_float_equal(number_in(report, "hit_purity"), 5.0 / 11, 1e-9);
  assert_null(strstr(sl_test_messages(test), "no id of the SciFi hits"));
}

static void events_without_truth_are_not_compared(void **state) {
  (void)state;
  end_event(banks);
  add_hits(SCIFI(0), 4);
  end_hits();
  const char *report = run();
  assert_int_equal(number_in(report, "events"), 0);
  assert_int_equal(number_in(report, "events_without_truth"), 1);
  assert_int_equal(number_in(report, "hits"), 0);
}

static void truth_of_other_events_is_reported(void **state) {
  (void)state;
  add_event(banks, particles, 2);
  add_hits(SCIFI(50), 4);
  end_hits();
  run();
  assert_non_null(strstr(sl_test_messages(test), "no id of the SciFi hits is in the truth"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop_check)
  const struct CMUnitTest tests[] = {
      TEST(hits_are_compared_by_event),
      TEST(events_without_truth_are_not_compared),
      TEST(truth_of_other_events_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
