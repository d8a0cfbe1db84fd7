/* velo.decode_retina: invalid banks, and events with the largest number of hits. */
#include "decode_retina_case.h"

enum { BAD_VERSION = 1, BAD_SENSOR, BAD_SIZE, BAD_COUNT, BAD_COLUMN, TWO_BANKS, TOO_MANY };

/* The second of three events is refused; the others have their hits. */
static void assert_refused(void **state, void (*add)(struct banks *), uint32_t code, uint32_t detail) {
  struct banks *b = banks_new();
  const uint32_t words[] = {word_3(1, 0, 1, 0), word_3(2, 0, 2, 0)};
  banks_event(b);
  banks_add(b, 3, 1, words, 2);
  banks_event(b);
  banks_add(b, 3, 100, words, 2);
  add(b);
  banks_add(b, 3, 200, words, 2);
  banks_event(b);
  banks_add(b, 3, 2, words, 2);
  struct sl_test *t = decode(b, state);
  assert_int_equal(sl_test_event_error(t, 0), 0);
  assert_int_equal(sl_test_event_error(t, 1), (uint64_t)code << 32 | detail);
  assert_int_equal(sl_test_event_error(t, 2), 0);
  for (uint32_t pair = 0; pair < VELO_MODULE_PAIRS; pair++) assert_int_equal(hits_in(t, 1, pair), 0);
  assert_int_equal(hits_in(t, 0, 0), 2);
  assert_int_equal(hits_in(t, 2, 0), 2);
  assert_hit(t, 2, 2u << 28 | 2u << 18 | 1u << 8 | 1u, 2, 1.0f, 1.0f);
  sl_test_free(t);
  banks_free(b);
}

static const uint32_t one_word[] = {4096}; /* column 1 */

static void add_version_1(struct banks *b) { banks_add(b, 1, 7, one_word, 1); }
static void add_version_5(struct banks *b) { banks_add(b, 5, 7, one_word, 1); }
static void an_unknown_version_refuses_the_event(void **state) {
  assert_refused(state, add_version_1, BAD_VERSION, 7);
  assert_refused(state, add_version_5, BAD_VERSION, 7);
}

static void add_sensor_208(struct banks *b) { banks_add(b, 3, 208, one_word, 1); }
static void add_pair_104(struct banks *b) { banks_add(b, 4, 0x1068, one_word, 1); }
static void add_sensor_65535(struct banks *b) { banks_add(b, 2, 65535, NULL, 0); }
static void an_unknown_sensor_refuses_the_event(void **state) {
  assert_refused(state, add_sensor_208, BAD_SENSOR, 208);
  assert_refused(state, add_pair_104, BAD_SENSOR, 0x1068);
  assert_refused(state, add_sensor_65535, BAD_SENSOR, 65535);
}

static void add_7_bytes(struct banks *b) { banks_add_raw(b, 4, 3, (const uint32_t[]){4096, 0}, 7); }
static void add_1_byte(struct banks *b) { banks_add_raw(b, 3, 3, (const uint32_t[]){0}, 1); }
static void a_size_not_divisible_by_4_refuses_the_event(void **state) {
  assert_refused(state, add_7_bytes, BAD_SIZE, 3);
  assert_refused(state, add_1_byte, BAD_SIZE, 3);
}

static void add_count_2_of_1(struct banks *b) { banks_add_raw(b, 3, 3, (const uint32_t[]){2, 4096}, 8); }
static void add_count_of_all_ones(struct banks *b) { banks_add_raw(b, 2, 3, (const uint32_t[]){0xFFFFFFFF, 4096}, 8); }
static void a_count_beyond_the_payload_refuses_the_event(void **state) {
  assert_refused(state, add_count_2_of_1, BAD_COUNT, 3);
  assert_refused(state, add_count_of_all_ones, BAD_COUNT, 3);
}

static void add_column_768(struct banks *b) { banks_add(b, 3, 90, (const uint32_t[]){4096, 768u << 12, 0}, 3); }
static void add_column_1023_of_version_2(struct banks *b) { banks_add(b, 2, 90, (const uint32_t[]){1023u << 14}, 1); }
static void add_column_768_of_version_4(struct banks *b) {
  banks_add(b, 4, 90, (const uint32_t[]){1, 2, 768u << 12}, 3);
}
static void an_unknown_column_refuses_the_event(void **state) {
  assert_refused(state, add_column_768, BAD_COLUMN, 90);
  assert_refused(state, add_column_1023_of_version_2, BAD_COLUMN, 90);
  assert_refused(state, add_column_768_of_version_4, BAD_COLUMN, 90);
}

static void invalid_and_zero_words_are_found_at_each_index_of_a_bank(void **state) {
  enum { WORDS = 19 }; /* two vectors of eight words, and a rest */
  for (uint32_t place = 0; place < WORDS; place++)
    for (uint32_t is_bad = 0; is_bad < 2; is_bad++) {
      uint32_t words[WORDS];
      for (uint32_t i = 0; i < WORDS; i++) words[i] = word_3(i + 1, 0, 1, 0);
      words[place] = is_bad ? word_3(768, 0, 1, 0) : 0;
      struct banks *b = banks_new();
      banks_event(b);
      banks_add(b, 3, 90, words, WORDS);
      struct sl_test *t = decode(b, state);
      assert_int_equal(sl_test_event_error(t, 0), is_bad ? (uint64_t)BAD_COLUMN << 32 | 90 : 0);
      assert_int_equal(hits_in(t, 0, 90 / 8), is_bad ? 0 : WORDS - 1);
      sl_test_free(t);
      banks_free(b);
    }
}

static void an_error_names_the_bank_of_its_event(void **state) {
  struct banks *b = banks_new();
  const uint32_t bad[] = {768u << 12};
  static const uint16_t sensors[] = {50, 90, 20};
  for (uint32_t event = 0; event < 3; event++) {
    banks_event(b);
    banks_add(b, 3, sensors[event], bad, 1);
  }
  struct sl_test *t = decode(b, state);
  for (uint32_t event = 0; event < 3; event++)
    assert_int_equal(sl_test_event_error(t, event), (uint64_t)BAD_COLUMN << 32 | sensors[event]);
  sl_test_free(t);
  banks_free(b);
}

static void add_sensor_100(struct banks *b) { banks_add(b, 3, 100, one_word, 1); }
static void add_empty_sensor_100(struct banks *b) { banks_add(b, 3, 100, NULL, 0); }
static void add_pair_of_sensor_101(struct banks *b) {
  banks_add(b, 3, 101, one_word, 1);
  banks_add(b, 4, 50, NULL, 0);
}
static void add_pair_50_twice(struct banks *b) {
  banks_add(b, 4, 0x1000 | 20, one_word, 1);
  banks_add(b, 4, 0x1800 | 20, one_word, 1);
}
static void two_banks_of_a_sensor_refuse_the_event(void **state) {
  assert_refused(state, add_sensor_100, TWO_BANKS, 100);
  assert_refused(state, add_empty_sensor_100, TWO_BANKS, 100);
  assert_refused(state, add_pair_of_sensor_101, TWO_BANKS, 101);
  assert_refused(state, add_pair_50_twice, TWO_BANKS, 0x1814);
}

static void add_thousands(struct banks *b) {
  static uint32_t words[16383];
  for (uint32_t i = 0; i < 16383; i++) words[i] = 4096;
  for (uint16_t sensor = 0; sensor < 4; sensor++) banks_add(b, 4, sensor, words, 16381);
  banks_add(b, 4, 4, words, 8);
}
static void more_than_65535_clusters_refuse_the_event(void **state) {
  assert_refused(state, add_thousands, TOO_MANY, 4 * 16381 + 8 + 4);
}

static void the_largest_of_several_errors_is_reported_in_any_order(void **state) {
  struct banks *b = banks_new();
  for (int turn = 0; turn < 2; turn++) {
    banks_event(b);
    if (turn) add_count_2_of_1(b);
    add_version_1(b);
    add_7_bytes(b);
    if (!turn) add_count_2_of_1(b);
  }
  struct sl_test *t = decode(b, state);
  for (uint32_t event = 0; event < 2; event++)
    assert_int_equal(sl_test_event_error(t, event), (uint64_t)BAD_COUNT << 32 | 3);
  sl_test_free(t);
  banks_free(b);
}

/* The hits are in all module pairs, so that sorting is fast; sorted_hits_test.c sorts one pair with all hits. */
static void an_event_with_65535_clusters_fits(void **state) {
  enum { BANKS = 104, WORDS = 65535 / BANKS, LAST = 65535 - WORDS * (BANKS - 1) };
  struct banks *b = banks_new();
  static uint32_t words[LAST];
  for (uint32_t i = 0; i < LAST; i++) words[i] = word_3(i % 768, i % 4, i % 256, i / 4 % 4) | 1u << 25;
  banks_event(b);
  for (uint16_t bank = 0; bank < BANKS; bank++) banks_add(b, 4, bank, words, bank + 1 < BANKS ? WORDS : LAST);
  struct sl_test *t = decode(b, state);
  assert_int_equal(sl_test_event_error(t, 0), 0);
  assert_int_equal(hits_of(t).offsets[1], 65535);
  assert_int_equal(sl_test_used(t, "hits"), 65535);
  assert_int_equal(hits_in(t, 0, 25), 3 * WORDS + LAST);
  sl_test_free(t);
  banks_free(b);
}

static void an_overflow_is_reported_and_nothing_is_written(void **state) {
  struct banks *b = banks_new();
  const uint32_t words[] = {word_3(1, 0, 1, 0), word_3(2, 0, 2, 0), word_3(3, 0, 3, 0)};
  banks_event(b);
  banks_add(b, 3, 1, words, 3);
  struct geometry g;
  geometry_round(&g);
  struct sl_test *t = prepare(b, &g, state);
  sl_test_budget(t, "hits", 2);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_used(t, "hits"), 3);
  assert_int_equal(hits_of(t).offsets[1], 0);
  for (uint32_t i = 0; i <= VELO_MODULE_PAIRS; i++) assert_int_equal(hits_of(t).pair_first[i], 0);
  sl_test_free(t);
  banks_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BOTH(an_unknown_version_refuses_the_event),        BOTH(an_unknown_sensor_refuses_the_event),
      BOTH(a_size_not_divisible_by_4_refuses_the_event), BOTH(a_count_beyond_the_payload_refuses_the_event),
      BOTH(an_unknown_column_refuses_the_event),         BOTH(invalid_and_zero_words_are_found_at_each_index_of_a_bank),
      BOTH(an_error_names_the_bank_of_its_event),        BOTH(two_banks_of_a_sensor_refuse_the_event),
      BOTH(more_than_65535_clusters_refuse_the_event),   BOTH(the_largest_of_several_errors_is_reported_in_any_order),
      BOTH(an_event_with_65535_clusters_fits),           BOTH(an_overflow_is_reported_and_nothing_is_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
