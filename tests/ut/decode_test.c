/* decode_test.c: ut.decode on constructed banks, on random banks against a plain version, and on the samples against
 * the truth.
 */
#include "ut_support.h"

enum { RANDOM_HITS = 12000 };

static struct detector detector;
static struct banks_case banks;

static int start(void **state) {
  (void)state;
  memset(&banks, 0, sizeof banks);
  detector_open(&detector, NULL);
  return 0;
}
static int stop(void **state) {
  (void)state;
  detector_close(&detector);
  return 0;
}

/* Output of a run. */
struct hits {
  const uint32_t *offsets, *id;
  const uint16_t *group_first, *sector;
  const float *x, *y, *y_end, *z;
};
static struct hits hits_of(const struct sl_test *t) {
  return (struct hits){sl_test_output(t, "hits", "offsets"),     sl_test_output(t, "hits", "id"),
                       sl_test_output(t, "hits", "group_first"), sl_test_output(t, "hits", "sector"),
                       sl_test_output(t, "hits", "x"),           sl_test_output(t, "hits", "y"),
                       sl_test_output(t, "hits", "y_end"),       sl_test_output(t, "hits", "z")};
}

static struct sl_test *decode(void) {
  struct sl_test *t = decoder_new(&detector, &banks);
  assert_int_equal(sl_test_run(t), 0);
  return t;
}

static uint32_t sector_of(uint32_t board, uint32_t lane) {
  return detector_words(&detector, "lane_index")[UT_BOARD_LANES * board + lane];
}
static uint32_t channel_of(uint32_t board, uint32_t lane) {
  return detector_words(&detector, "lane_channel")[UT_BOARD_LANES * board + lane];
}
static uint32_t group_of(uint32_t board, uint32_t lane) {
  return ((const uint8_t *)sl_test_output(detector.groups, "groups", "lane_group"))[UT_BOARD_LANES * board + lane];
}

/* Hit `i` of the slice is in this lane, at this position in strips. */
static void assert_hit(const struct sl_test *t, uint32_t i, uint32_t board, uint32_t lane, uint32_t strip,
                       float place) {
  const struct hits h = hits_of(t);
  const uint32_t k = sector_of(board, lane);
  assert_int_equal(h.id[i], 3u << 28 | (channel_of(board, lane) + strip));
  assert_int_equal(h.sector[i], k);
  assert_true(h.x[i] == detector_floats(&detector, "x0")[k] + place * detector_floats(&detector, "dx_di")[k]);
  assert_true(h.y[i] == detector_floats(&detector, "y0")[k] + place * detector_floats(&detector, "dy_di")[k]);
  assert_true(h.y_end[i] == h.y[i] + detector_floats(&detector, "dy")[k]);
  assert_true(h.z[i] == detector_floats(&detector, "z0")[k]);
}

static void a_hit_of_version_3_has_the_position_of_its_strip(void **state) {
  const struct lane_hit hit = {.lane = 0, .strip = 10, .quarters = 2};
  (void)state;
  banks_event(&banks);
  banks_add_v3(&banks, 0, &hit, 1);
  struct sl_test *t = decode();
  assert_int_equal(hits_of(t).offsets[1], 1);
  assert_hit(t, 0, 0, 0, 10, 10.5f);
  assert_float_equal(hits_of(t).x[0], -768.515f, 1e-3f);
  assert_float_equal(hits_of(t).y[0], -673.16, 1e-3);
  assert_float_equal(hits_of(t).z[0], 2334.718, 1e-3);
  sl_test_free(t);
}

static void hits_are_ordered_by_group_y_and_id(void **state) {
  const struct lane_hit of_last[] = {{.lane = 1, .strip = 3}};
  const struct lane_hit of_first[] = {{.lane = 1, .strip = 500}, {.lane = 0, .strip = 8}, {.lane = 0, .strip = 7}};
  (void)state;
  banks_event(&banks);
  banks_add_v3(&banks, 64, of_last, 1); /* in layer 1 */
  banks_add_v3(&banks, 0, of_first, 3);
  struct sl_test *t = decode();
  assert_hit(t, 0, 0, 0, 7, 7); /* y below lane 1, or equal y and the smaller id */
  assert_hit(t, 1, 0, 0, 8, 8);
  assert_hit(t, 2, 0, 1, 500, 500);
  assert_hit(t, 3, 64, 1, 3, 3);
  const uint16_t *first = hits_of(t).group_first;
  assert_int_equal(first[0], 0);
  assert_int_equal(first[1], 3);
  assert_int_equal(first[group_of(64, 1)], 3);
  for (uint32_t g = group_of(64, 1) + 1; g <= UT_GROUPS_MAX; g++) assert_int_equal(first[g], 4);
  sl_test_free(t);
}

/* Strips 100 to 102 with ADC 1, 2 and 5: (100 + 202 + 510) / 8 = 101.5, and the id has 102. */
static void adjacent_strips_of_version_4_are_a_cluster(void **state) {
  const struct lane_hit hits[] = {{.lane = 2, .strip = 100, .adc = 1}, {.lane = 2, .strip = 101, .adc = 2},
                                  {.lane = 2, .strip = 102, .adc = 5}, {.lane = 2, .strip = 104, .adc = 9},
                                  {.lane = 5, .strip = 105, .adc = 1}, {.lane = 5, .strip = 200, .adc = 0}};
  (void)state;
  banks_event(&banks);
  banks_add_v4(&banks, 0, hits, 6);
  struct sl_test *t = decode();
  assert_int_equal(hits_of(t).offsets[1], 3); /* a strip with ADC 0 makes no hit */
  assert_hit(t, 0, 0, 2, 102, 101.5f);
  assert_hit(t, 1, 0, 2, 104, 104);
  assert_hit(t, 2, 0, 5, 105, 105);
  sl_test_free(t);
}

/* A source id above 2047 is a second id of a board: here of board 2 (1 - 1) + 1. */
static void both_source_ids_of_a_board_are_accepted(void **state) {
  const struct lane_hit hit = {.lane = 3, .strip = 1, .adc = 3};
  (void)state;
  banks_event(&banks);
  banks_add_v4(&banks, 1 << 11 | 1 << 10 | 1, &hit, 1);
  struct sl_test *t = decode();
  assert_hit(t, 0, 1, 3, 1, 1);
  sl_test_free(t);
}

static void strips_of_reversed_sectors_count_backwards_in_version_4(void **state) {
  const struct lane_hit hit = {.lane = 0, .strip = 10, .adc = 3};
  float z0[UT_SECTORS];
  (void)state;
  banks_event(&banks);
  banks_add_v4(&banks, 0, &hit, 1);
  banks_event(&banks);
  banks_add_v3(&banks, 0, &hit, 1);
  memcpy(z0, detector_floats(&detector, "z0"), sizeof z0);
  z0[0] = -z0[0];
  struct sl_test *t = decoder_new(&detector, &banks);
  sl_test_input(t, "geometry", "z0", z0, UT_SECTORS);
  assert_int_equal(sl_test_run(t), 0);
  assert_hit(t, 0, 0, 0, 10, 501);
  assert_hit(t, 1, 0, 0, 10, 10);
  sl_test_free(t);
}

/* -------------------------------------------------------------------------------------------- random events */

static uint32_t random_state;
static uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)(random_state >> 8) * n >> 24);
}

/* Expected output. */
struct expected {
  uint32_t group, id;
  float x, y;
};
static struct expected expected[RANDOM_HITS];
static uint32_t expected_count;

static int compare_expected(const void *a_, const void *b_) {
  const struct expected *a = a_, *b = b_;
  if (a->group != b->group) return a->group < b->group ? -1 : 1;
  if (a->y != b->y) return a->y < b->y ? -1 : 1;
  return a->id < b->id ? -1 : a->id > b->id;
}

static void expect(uint32_t board, uint32_t lane, uint32_t strip) {
  const uint32_t k = sector_of(board, lane);
  assert_true(expected_count < RANDOM_HITS);
  expected[expected_count++] =
      (struct expected){group_of(board, lane), 3u << 28 | (channel_of(board, lane) + strip),
                        detector_floats(&detector, "x0")[k] + (float)strip * detector_floats(&detector, "dx_di")[k],
                        detector_floats(&detector, "y0")[k] + (float)strip * detector_floats(&detector, "dy_di")[k]};
}

/* Adds an event with banks of all boards, in ascending or descending order, and single strips in the connected
 * lanes. */
static void add_random_event(uint32_t seed, uint32_t version, uint32_t hits_of_lane, int reversed) {
  random_state = seed;
  banks_event(&banks);
  expected_count = 0;
  struct lane_hit hits[UT_BOARDS][6 * 16];
  uint32_t counts[UT_BOARDS] = {0};
  for (uint32_t board = 0; board < UT_BOARDS; board++)
    for (uint32_t lane = 0; lane < UT_BOARD_LANES; lane++) {
      const uint32_t wanted = random_below(hits_of_lane + 1);
      uint32_t strip = random_below(20);
      if (sector_of(board, lane) == UT_SECTORS) continue;
      for (uint32_t i = 0; i < wanted; i++, strip += 2 + random_below(20)) {
        hits[board][counts[board]++] = (struct lane_hit){lane, strip, 0, 1 + random_below(31)};
        expect(board, lane, strip);
      }
    }
  for (uint32_t i = 0; i < UT_BOARDS; i++) {
    const uint32_t board = reversed ? UT_BOARDS - 1 - i : i;
    if (version == 3)
      banks_add_v3(&banks, (uint16_t)board, hits[board], counts[board]);
    else
      banks_add_v4(&banks, (uint16_t)board, hits[board], counts[board]);
  }
  qsort(expected, expected_count, sizeof expected[0], compare_expected);
}

static void assert_expected(const struct sl_test *t, uint32_t event) {
  const struct hits h = hits_of(t);
  const uint32_t first = h.offsets[event];
  assert_int_equal(h.offsets[event + 1] - first, expected_count);
  for (uint32_t i = 0; i < expected_count; i++) {
    assert_int_equal(h.id[first + i], expected[i].id);
    assert_true(h.x[first + i] == expected[i].x && h.y[first + i] == expected[i].y);
    const uint16_t *groups = h.group_first + (size_t)event * (UT_GROUPS_MAX + 1) + expected[i].group;
    assert_true(groups[0] <= i && i < groups[1]);
  }
}

/* With few hits, and with more than fit shared memory. */
static void hits_do_not_depend_on_the_version_and_order_of_banks(void **state) {
  (void)state;
  for (uint32_t hits_of_lane = 1; hits_of_lane <= 8; hits_of_lane += 7) {
    memset(&banks, 0, sizeof banks);
    for (uint32_t i = 0; i < 4; i++) add_random_event(5, i % 2 ? 4 : 3, hits_of_lane, i / 2 == 1);
    struct sl_test *t = decode();
    for (uint32_t event = 0; event < 4; event++) assert_expected(t, event);
    assert_true(hits_of_lane == 1 || expected_count > 3000);
    sl_test_free(t);
  }
}

/* Sectors of a group that overlap in y: hits of several lanes have equal y, and the order of ids differs from that of
 * lanes. */
static void hits_of_equal_y_are_ordered_by_id(void **state) {
  const float y0[UT_SECTORS] = {0};
  uint32_t ties = 0;
  (void)state;
  for (uint32_t event = 0; event < 2; event++) add_random_event(7, event == 0 ? 3 : 4, 3, 0);
  struct sl_test *t = decoder_new(&detector, &banks);
  sl_test_input(t, "geometry", "y0", y0, UT_SECTORS);
  assert_int_equal(sl_test_run(t), 0);
  const struct hits h = hits_of(t);
  for (uint32_t event = 0; event < 2; event++) {
    const uint16_t *first = h.group_first + (size_t)event * (UT_GROUPS_MAX + 1);
    assert_int_equal(h.offsets[event + 1] - h.offsets[event], expected_count);
    for (uint32_t group = 0; group < UT_GROUPS_MAX; group++)
      for (uint32_t i = h.offsets[event] + first[group] + 1; i < h.offsets[event] + first[group + 1]; i++) {
        assert_true(h.y[i - 1] < h.y[i] || (h.y[i - 1] == h.y[i] && h.id[i - 1] < h.id[i]));
        ties += h.y[i - 1] == h.y[i] && h.sector[i - 1] > h.sector[i];
      }
  }
  assert_true(ties > 100);
  sl_test_free(t);
}

/* In a packet the banks of a board are adjacent, the banks of an event are not. */
static void payloads_are_read_in_any_memory_order(void **state) {
  static uint32_t payload[TEST_WORDS_MAX];
  uint32_t at = 0;
  (void)state;
  for (uint32_t event = 0; event < 3; event++) add_random_event(5, 3, 2, 0);
  for (uint32_t board = 0; board < UT_BOARDS; board++)
    for (uint32_t event = 0; event < 3; event++) {
      const uint32_t bank = banks.offsets[event] + board, words = (banks.size_bytes[bank] + 3u) / 4u;
      memcpy(payload + at, banks.payload + banks.first_word[bank], words * sizeof *payload);
      banks.first_word[bank] = at;
      at += words;
    }
  assert_int_equal(at, banks.word_count);
  memcpy(banks.payload, payload, at * sizeof *payload);
  struct sl_test *t = decode();
  for (uint32_t event = 0; event < 3; event++) assert_expected(t, event);
  sl_test_free(t);
}

/* If the hits exceed the capacity of the slice, none is written and the needed capacity is reported. */
static void an_overflow_leaves_no_hits(void **state) {
  (void)state;
  add_random_event(9, 3, 2, 0);
  struct sl_test *t = decoder_new(&detector, &banks);
  sl_test_budget(t, "hits", expected_count - 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_used(t, "hits"), expected_count);
  assert_int_equal(hits_of(t).offsets[1], 0);
  sl_test_free(t);
}

/* ------------------------------------------------------------------------------------------------- refusals */

/* Fault codes that bank_words.h does not define. */
enum { TWO_BANKS = UT_BANK_FAULT_COUNT, TWO_HITS, TOO_MANY, MARKED, NO_SECTOR };

/* Event 1, between two valid events, is refused with this error. */
static void assert_refused(uint32_t code, uint32_t detail) {
  const struct lane_hit hit = {.lane = 0, .strip = 1, .adc = 1};
  banks_event(&banks);
  banks_add_v3(&banks, 7, &hit, 1);
  struct sl_test *t = decode();
  const struct hits h = hits_of(t);
  assert_int_equal(sl_test_event_error(t, 0), 0);
  assert_int_equal(sl_test_event_error(t, 1) & 0xFFFFFFFFFF, (uint64_t)code << 32 | detail);
  assert_int_equal(sl_test_event_error(t, 2), 0);
  assert_int_equal(h.offsets[1], 1);
  assert_int_equal(h.offsets[3] - h.offsets[2], 1);
  assert_hit(t, h.offsets[2], 7, 0, 1, 1);
  sl_test_free(t);
}
static void begin_refusal(void) {
  const struct lane_hit hit = {.lane = 0, .strip = 1, .adc = 1};
  banks_event(&banks);
  banks_add_v3(&banks, 7, &hit, 1);
  banks_event(&banks);
  banks_add_v4(&banks, 2, &hit, 1);
}

static void invalid_banks_refuse_their_event(void **state) {
  const uint32_t announces_3[] = {3, 0}, beyond_lanes[] = {1, 6 * 512 << 2};
  const uint16_t v4_too_short[16] = {[2] = 3};
  const struct {
    const void *payload;
    uint32_t bytes, fault, source_id;
    uint8_t version, reserved[3];
  } cases[] = {{announces_3, 8, UT_BANK_NO_VERSION, 3, 5, {0}}, {announces_3, 8, UT_BANK_NO_BOARD, 240, 3, {0}},
               {announces_3, 2, UT_BANK_TOO_SHORT, 3, 3, {0}},  {announces_3, 8, UT_BANK_COUNT, 5, 3, {0}},
               {beyond_lanes, 8, UT_BANK_NO_LANE, 3, 3, {0}},   {v4_too_short, 32, UT_BANK_COUNT, 11, 4, {0}}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    memset(&banks, 0, sizeof banks);
    begin_refusal();
    banks_add(&banks, cases[i].version, (uint16_t)cases[i].source_id, cases[i].payload, cases[i].bytes);
    assert_refused(cases[i].fault, cases[i].source_id);
  }
}

static void two_banks_of_a_board_refuse_their_event(void **state) {
  const struct lane_hit hit = {.lane = 0, .strip = 1, .adc = 1};
  (void)state;
  begin_refusal();
  banks_add_v4(&banks, 1 << 11 | 2, &hit, 1); /* a second bank of board 2 */
  assert_refused(TWO_BANKS, 2);
}

static void a_strip_twice_in_a_bank_refuses_its_event(void **state) {
  const struct lane_hit hits[] = {{.lane = 4, .strip = 9, .quarters = 1}, {.lane = 4, .strip = 9, .quarters = 1}};
  (void)state;
  begin_refusal();
  banks_add_v3(&banks, 33, hits, 2);
  assert_refused(TWO_HITS, 33);
}

static void too_many_hits_refuse_their_event(void **state) {
  static uint16_t words[2 + 32762] = {32762}; /* the most that fit a bank */
  (void)state;
  begin_refusal();
  banks_add(&banks, 3, 33, words, sizeof words);
  banks_add(&banks, 3, 34, words, sizeof words);
  assert_refused(TOO_MANY, 1 + 2 * 32762);
}

/* The bank is skipped and reported; the event is not refused. */
static void assert_skipped(uint32_t code, uint32_t detail) {
  struct sl_test *t = decode();
  assert_int_equal(hits_of(t).offsets[1], 1);
  assert_hit(t, 0, 7, 0, 1, 1);
  assert_int_equal(sl_test_event_error(t, 0) >> 32 & 0xFF, code);
  assert_int_equal(sl_test_event_error(t, 0) & 0xFFFF, detail);
  sl_test_free(t);
}

static void banks_marked_by_the_readout_are_skipped(void **state) {
  const struct lane_hit hit = {.lane = 0, .strip = 1};
  uint32_t marked[8] = {0, 255 << 8};
  (void)state;
  banks_event(&banks);
  banks_add(&banks, 4, 12, marked, sizeof marked);
  banks_add_v3(&banks, 7, &hit, 1);
  assert_skipped(MARKED, 12);
}

static void hits_without_a_sector_are_skipped(void **state) {
  const struct lane_hit hit = {.lane = 0, .strip = 1};
  uint32_t lane = 0;
  (void)state;
  while (sector_of(lane / UT_BOARD_LANES, lane % UT_BOARD_LANES) != UT_SECTORS) lane++;
  const struct lane_hit lost = {.lane = lane % UT_BOARD_LANES, .strip = 100};
  banks_event(&banks);
  banks_add_v3(&banks, (uint16_t)(lane / UT_BOARD_LANES), &lost, 1);
  banks_add_v3(&banks, 7, &hit, 1);
  assert_skipped(NO_SECTOR, lane / UT_BOARD_LANES);
}

/* -------------------------------------------------------------------------------------------------- samples */

static void add_bank(void *context, uint32_t event, uint16_t source_id, uint8_t version, const unsigned char *payload,
                     uint16_t size_bytes) {
  (void)context;
  while (banks.event_count <= event) banks_event(&banks);
  banks_add(&banks, version, source_id, payload, size_bytes);
}

struct search {
  const uint32_t *ids; /* ascending */
  uint32_t count, looked_for;
};

static int compare_ids(const void *a, const void *b) {
  const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return left < right ? -1 : left > right;
}

static void look_for(void *context, uint32_t id) {
  struct search *s = context;
  s->looked_for++;
  assert_non_null(bsearch(&id, s->ids, s->count, sizeof id, compare_ids));
}

static void the_samples_have_every_true_hit_once(void **state) {
  const uint32_t hits_of_events[] = {2108, 780, 835, 969, 1170, 433};
  const char *mdf = sample_path("lhcb/minbias.mdf"), *folder = sample_path("lhcb/geometry");
  static uint32_t ids[4096];
  (void)state;
  if (!mdf || !folder) skip();
  char path[1024];
  snprintf(path, sizeof path, "%s", folder); /* static memory */
  mdf = sample_path("lhcb/minbias.mdf");
  struct sample s = sample_open(mdf);
  struct detector real;
  detector_open(&real, path);
  sample_for_banks(&s, 66, add_bank, NULL);
  struct sl_test *t = decoder_new(&real, &banks);
  assert_int_equal(sl_test_run(t), 0);
  const struct hits h = hits_of(t);
  assert_int_equal(banks.event_count, 6);
  uint32_t true_hits = 0;
  for (uint32_t event = 0; event < 6; event++) {
    const uint32_t count = h.offsets[event + 1] - h.offsets[event];
    assert_int_equal(sl_test_event_error(t, event), 0);
    assert_int_equal(count, hits_of_events[event]);
    memcpy(ids, h.id + h.offsets[event], count * sizeof *ids);
    qsort(ids, count, sizeof *ids, compare_ids);
    for (uint32_t i = 1; i < count; i++) assert_true(ids[i] > ids[i - 1]);
    struct search search = {ids, count, 0};
    sample_for_true_ids(&s, event, 1, look_for, &search);
    true_hits += search.looked_for;
  }
  assert_int_equal(true_hits, 5994);
  sl_test_free(t);
  detector_close(&real);
  sample_close(&s);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      TEST(a_hit_of_version_3_has_the_position_of_its_strip),
      TEST(hits_are_ordered_by_group_y_and_id),
      TEST(adjacent_strips_of_version_4_are_a_cluster),
      TEST(both_source_ids_of_a_board_are_accepted),
      TEST(strips_of_reversed_sectors_count_backwards_in_version_4),
      TEST(hits_do_not_depend_on_the_version_and_order_of_banks),
      TEST(hits_of_equal_y_are_ordered_by_id),
      TEST(payloads_are_read_in_any_memory_order),
      TEST(an_overflow_leaves_no_hits),
      TEST(invalid_banks_refuse_their_event),
      TEST(two_banks_of_a_board_refuse_their_event),
      TEST(a_strip_twice_in_a_bank_refuses_its_event),
      TEST(too_many_hits_refuse_their_event),
      TEST(banks_marked_by_the_readout_are_skipped),
      TEST(hits_without_a_sector_are_skipped),
      TEST(the_samples_have_every_true_hit_once),
  };
  return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
