/* gec_test.c: selections.count_hits on valid and damaged banks, and selections.gec at its limits. */
#include "banks_case.h"
#include "selections/event_model.h"
#include "selections_support.h"

static struct banks_case ut, scifi;

static int start(void **state) {
  (void)state;
  memset(&ut, 0, sizeof ut);
  memset(&scifi, 0, sizeof scifi);
  return 0;
}

static void begin_event(void) {
  banks_event(&ut);
  banks_event(&scifi);
}

/* A SciFi bank; only its size matters. */
static void add_scifi(uint32_t bytes) {
  static const unsigned char nothing[UINT16_MAX];
  banks_add(&scifi, 6, 0x4801, nothing, bytes);
}

/* Adds a UT bank of version 3 with `hits` hits, all of strip 0. */
static void add_ut_v3(uint16_t hits) {
  static uint16_t halfwords[2 + UINT16_MAX];
  halfwords[0] = hits;
  banks_add(&ut, 3, 1, halfwords, 4 + 2 * (uint32_t)hits);
}

enum { LANES = 6, ROW_BYTES = 32, LANE_HITS_MAX = 255 };
static void add_ut_v4(const uint8_t *lanes) {
  static uint8_t bytes[(LANE_HITS_MAX + 1) / 2 * ROW_BYTES];
  uint32_t most = 1;
  for (uint32_t lane = 0; lane < LANES; lane++) {
    bytes[lane < 4 ? 4 + lane : lane - 4] = lanes[lane];
    if (lanes[lane] > most) most = lanes[lane];
  }
  banks_add(&ut, 4, 2, bytes, (most + 1) / 2 * ROW_BYTES);
}

static void assert_counts(const uint32_t *scifi_counts, const uint32_t *ut_counts) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "count_hits");
  banks_give(t, "scifi_banks", &scifi);
  banks_give(t, "ut_banks", &ut);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t event = 0; event < ut.event_count; event++) {
    assert_int_equal(OUTPUT(t, "counts", "scifi", uint32_t)[event], scifi_counts[event]);
    assert_int_equal(OUTPUT(t, "counts", "ut", uint32_t)[event], ut_counts[event]);
  }
  sl_test_free(t);
}

static void counts_are_sums_over_the_banks_of_an_event(void **state) {
  (void)state;
  static const uint8_t lanes[LANES] = {1, 2, 4, 8, 16, 254};
  static const uint32_t scifi_counts[] = {2 * 300 - 2, SELECTIONS_NO_BANKS, 0, 65535 + 3 - 2};
  static const uint32_t ut_counts[] = {700, 0, 285, 32000 + 285};
  begin_event();
  for (uint32_t k = 0; k < 300; k++) add_scifi(4);
  for (uint16_t k = 0; k < 200; k++) add_ut_v3(3 + k % 2);
  begin_event();
  begin_event();
  add_scifi(4);
  add_ut_v4(lanes);
  begin_event(); /* banks of an odd number of bytes: the total is rounded down */
  add_scifi(65535);
  add_scifi(65535);
  add_scifi(7);
  add_ut_v3(32000);
  add_ut_v4(lanes);
  assert_counts(scifi_counts, ut_counts);
}

/* A bank must not be read beyond its end. */
static void damaged_banks_have_no_hits(void **state) {
  (void)state;
  static const uint16_t announces_3[] = {3, 0, 0, 0}, many[] = {0xFFFF, 0};
  static const uint8_t marked[LANES] = {9, 255, 0, 0, 0, 0}, lanes[] = {1, 1, 0, 0, 5, 5, 5, 5};
  static const uint32_t none[] = {SELECTIONS_NO_BANKS, SELECTIONS_NO_BANKS, SELECTIONS_NO_BANKS, SELECTIONS_NO_BANKS};
  static const uint32_t ut_counts[] = {7, 8, 0, 0};
  begin_event();
  banks_add(&ut, 3, 1, announces_3, 8); /* announces more hits than it has */
  banks_add(&ut, 3, 1, announces_3, 2);
  banks_add(&ut, 3, 1, NULL, 0);
  banks_add(&ut, 3, 1, many, 4);
  banks_add(&ut, 5, 1, announces_3, 8); /* unknown version */
  add_ut_v3(7);
  begin_event();
  add_ut_v4(marked);
  banks_add(&ut, 4, 2, lanes, 8); /* too short for hits */
  banks_add(&ut, 4, 2, NULL, 0);
  add_ut_v3(8);
  begin_event();
  banks_add(&ut, 4, 2, lanes, 3);
  begin_event();
  banks_add(&ut, 3, 1, NULL, 0);
  assert_counts(none, ut_counts);
}

static void scifi_banks_without_two_half_words_do_not_count(void **state) {
  (void)state;
  static const uint32_t scifi_counts[] = {SELECTIONS_NO_BANKS, SELECTIONS_NO_BANKS, 0, 0};
  static const uint32_t ut_counts[] = {0, 0, 0, 0};
  for (uint32_t bytes = 2; bytes <= 5; bytes++) {
    begin_event();
    add_scifi(bytes);
  }
  assert_counts(scifi_counts, ut_counts);
}

/* ------------------------------------------------------------------------------------------------------- the cut */

enum { EVENTS = 10 };
static const uint32_t scifi_counts[EVENTS] = {0, 9750, 9751, 5000, 5000, 5000, SELECTIONS_NO_BANKS, 99, 100, 101};
static const uint32_t ut_counts[EVENTS] = {0, 9750, 0, 9751, 50, 49, 0, 200, 200, 200};

static struct sl_test *gec_new(void) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "gec");
  sl_test_events(t, EVENTS);
  sl_test_input(t, "counts", "scifi", scifi_counts, EVENTS);
  sl_test_input(t, "counts", "ut", ut_counts, EVENTS);
  return t;
}

static void assert_passed(struct sl_test *t, const uint32_t *events, uint32_t count) {
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(*OUTPUT(t, "passed", "count", uint32_t), count);
  assert_memory_equal(OUTPUT(t, "passed", "numbers", uint32_t), events, count * sizeof *events);
  sl_test_free(t);
}

static void both_counts_must_be_within_their_limits(void **state) {
  (void)state;
  static const uint32_t by_default[] = {0, 1, 4, 5, 7, 8, 9}, others[] = {4, 8};
  assert_passed(gec_new(), by_default, 7);
  struct sl_test *t = gec_new();
  sl_test_set(t, "min_scifi", 100);
  sl_test_set(t, "max_scifi", 5000);
  sl_test_set(t, "min_ut", 50);
  sl_test_set(t, "max_ut", 200);
  static const uint32_t narrow[] = {4, 8, 9};
  assert_passed(t, narrow, 3);
  t = gec_new();
  sl_test_list(t, (const uint32_t[]){2, 4, 8}, 3);
  assert_passed(t, others, 2);
}

static void an_event_without_scifi_banks_never_passes(void **state) {
  (void)state;
  static const uint32_t all_but_one[] = {0, 1, 2, 3, 4, 5, 7, 8, 9};
  struct sl_test *t = gec_new();
  sl_test_set(t, "max_scifi", 4294967294);
  sl_test_set(t, "max_ut", 4294967294);
  assert_passed(t, all_but_one, 9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(counts_are_sums_over_the_banks_of_an_event, start),
      cmocka_unit_test_setup(damaged_banks_have_no_hits, start),
      cmocka_unit_test_setup(scifi_banks_without_two_half_words_do_not_count, start),
      cmocka_unit_test(both_counts_must_be_within_their_limits),
      cmocka_unit_test(an_event_without_scifi_banks_never_passes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
