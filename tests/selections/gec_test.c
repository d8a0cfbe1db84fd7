/* gec_test.c: selections.gec: counts of valid and damaged banks, limits, inputs that are not connected; and
 * selections.error_banks. */
#include "banks_case.h"
#include "selections/event_model.h"
#include "selections_support.h"

static struct banks_case ut, scifi, velo;

static int start(void **state) {
  (void)state;
  memset(&ut, 0, sizeof ut);
  memset(&scifi, 0, sizeof scifi);
  memset(&velo, 0, sizeof velo);
  return 0;
}

static void begin_event(void) {
  banks_event(&ut);
  banks_event(&scifi);
  banks_event(&velo);
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

/* Runs on the banks of both detectors. */
static struct sl_test *counted(void) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "gec");
  banks_give(t, "scifi_banks", &scifi);
  banks_give(t, "ut_banks", &ut);
  assert_int_equal(sl_test_run(t), 0);
  return t;
}

static void assert_counts(const uint32_t *scifi_counts, const uint32_t *ut_counts) {
  struct sl_test *t = counted();
  for (uint32_t event = 0; event < ut.event_count; event++) {
    assert_int_equal(OUTPUT(t, "counts", "scifi", uint32_t)[event], scifi_counts[event]);
    assert_int_equal(OUTPUT(t, "counts", "ut", uint32_t)[event], ut_counts[event]);
    assert_int_equal(OUTPUT(t, "counts", "velo", uint32_t)[event], SELECTIONS_NOT_COUNTED);
  }
  sl_test_free(t);
}

static void counts_are_sums_over_the_banks_of_an_event(void **state) {
  (void)state;
  static const uint8_t lanes[LANES] = {1, 2, 4, 8, 16, 254};
  static const uint32_t scifi_counts[] = {2 * 300 - 2, SELECTIONS_NOT_COUNTED, 0, 65535 + 3 - 2};
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
  static const uint32_t none[] = {SELECTIONS_NOT_COUNTED, SELECTIONS_NOT_COUNTED, SELECTIONS_NOT_COUNTED,
                                  SELECTIONS_NOT_COUNTED};
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
  static const uint32_t scifi_counts[] = {SELECTIONS_NOT_COUNTED, SELECTIONS_NOT_COUNTED, 0, 0};
  static const uint32_t ut_counts[] = {0, 0, 0, 0};
  for (uint32_t bytes = 2; bytes <= 5; bytes++) {
    begin_event();
    add_scifi(bytes);
  }
  assert_counts(scifi_counts, ut_counts);
}

/* ------------------------------------------------------------------------------------------------------- VELO */

static void assert_velo(const char *port, const uint32_t *expected) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "gec");
  banks_give(t, "scifi_banks", &scifi);
  banks_give(t, port, &velo);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t event = 0; event < velo.event_count; event++) {
    assert_int_equal(OUTPUT(t, "counts", "velo", uint32_t)[event], expected[event]);
    assert_int_equal(OUTPUT(t, "counts", "ut", uint32_t)[event], SELECTIONS_NOT_COUNTED);
  }
  sl_test_free(t);
}

/* Retina banks of versions 2 and 3 begin with their number of clusters, those of version 4 have only clusters. */
static void retina_clusters_are_those_of_the_bank_headers(void **state) {
  (void)state;
  static const uint32_t three[] = {3, 11, 12, 13, 14}, four[] = {9, 8, 7, 6, 5}, none[] = {0},
                        too_many[] = {5, 1, 2, 3, 4};
  static const uint32_t expected[] = {3 + 3 + 4, 0, 0, 4};
  begin_event();
  banks_add(&velo, 2, 0, three, 16);
  banks_add(&velo, 3, 1, three, 20); /* a word after the clusters is ignored */
  banks_add(&velo, 4, 2, four, 16);
  begin_event();
  begin_event(); /* damaged banks, and banks without clusters */
  banks_add(&velo, 3, 0, too_many, 20);
  banks_add(&velo, 1, 1, three, 16);
  banks_add(&velo, 5, 2, three, 16);
  banks_add(&velo, 3, 3, NULL, 0);
  banks_add(&velo, 3, 4, none, 4);
  banks_add(&velo, 2, 5, three, 3);
  begin_event();
  banks_add(&velo, 4, 0, four, 19); /* four whole words */
  assert_velo("velo_banks", expected);
}

/* Number of groups of pixels that touch at a side or a corner, by filling: bit 4 c + r is column c, row r. */
static uint32_t groups_of(uint32_t mask) {
  uint32_t groups = 0;
  for (uint32_t left = mask; left != 0; groups++) {
    uint32_t group = left & (~left + 1);
    for (uint32_t before = 0; before != group;) {
      before = group;
      for (uint32_t p = 0; p < 8; p++)
        for (uint32_t q = 0; q < 8; q++) {
          const int rows = (int)(p % 4) - (int)(q % 4);
          if (before >> p & 1u && left >> q & 1u && rows >= -1 && rows <= 1) group |= 1u << q;
        }
    }
    left &= ~group;
  }
  return groups;
}

static void superpixels_count_their_groups_of_pixels(void **state) {
  (void)state;
  static uint32_t words[257] = {256};
  uint32_t expected[TEST_EVENTS_MAX] = {0};
  for (uint32_t mask = 0; mask < 256; mask++) {
    words[1 + mask] = mask | 0x80ABCD00u;
    expected[0] += 2 * groups_of(mask);
  }
  begin_event();
  banks_add(&velo, 3, 0, words, sizeof words);
  banks_add(&velo, 4, 1, words + 1, sizeof words - 4);
  for (uint32_t k = 1; k < 4; k++) {
    static const uint32_t masks[] = {0, 0x18, 0x09,
                                     0xA0}; /* columns and rows 1, 0 and 0, 3; 0, 0 and 0, 3; 1, 1 and 1, 3 */
    begin_event();
    banks_add(&velo, 4, 0, masks + k, 4);
    expected[k] = groups_of(masks[k]);
  }
  assert_int_equal(expected[1], 2);
  assert_velo("velo_superpixels", expected);
}

/* ----------------------------------------------------------------------------------------------- the limits */

/* Half-words of SciFi banks, and hits or clusters. */
static void add_event(uint32_t halfwords, uint16_t ut_count, uint32_t velo_count) {
  static uint32_t clusters[4096];
  begin_event();
  for (uint32_t left = 2 * halfwords; left > 0; left -= left < 60000 ? left : 60000)
    add_scifi(left < 60000 ? left : 60000);
  add_ut_v3(ut_count);
  banks_add(&velo, 4, 0, clusters, 4 * velo_count);
}

static struct sl_test *cut(const char *velo_port) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "gec");
  banks_give(t, "scifi_banks", &scifi);
  banks_give(t, "ut_banks", &ut);
  if (velo_port) banks_give(t, velo_port, &velo);
  return t;
}

static void assert_passed(struct sl_test *t, const uint32_t *events, uint32_t count) {
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(*OUTPUT(t, "passed", "count", uint32_t), count);
  assert_memory_equal(OUTPUT(t, "passed", "numbers", uint32_t), events, count * sizeof *events);
  sl_test_free(t);
}

static void add_events(void) {
  add_event(2, 0, 0);
  add_event(2 + 9750, 700, 90);
  add_event(2 + 9751, 700, 90);
  add_event(2 + 20000, 701, 91);
  add_event(2 + 20001, 49, 0);
  add_event(2 + 100, 50, 92);
  add_event(2 + 99, 60, 50);
  add_event(0, 60, 50);
}

static void each_count_must_be_within_its_limits(void **state) {
  (void)state;
  add_events();
  static const uint32_t by_default[] = {0, 1, 5, 6}, with_ut[] = {0, 1, 2, 4, 5, 6}, narrow[] = {1, 2, 5},
                        of_velo[] = {0, 1, 2, 3, 6}, listed[] = {1, 5};
  assert_passed(cut(NULL), by_default, 4);
  struct sl_test *t = cut(NULL);
  sl_test_set(t, "max_scifi", 20001);
  sl_test_set(t, "max_ut", 700);
  assert_passed(t, with_ut, 6);
  t = cut(NULL);
  sl_test_set(t, "min_scifi", 100);
  sl_test_set(t, "max_scifi", 20001);
  sl_test_set(t, "min_ut", 50);
  sl_test_set(t, "max_ut", 700);
  assert_passed(t, narrow, 3);
  t = cut("velo_banks");
  sl_test_set(t, "max_scifi", 20000);
  sl_test_set(t, "max_velo", 91);
  assert_passed(t, of_velo, 5);
  t = cut("velo_banks");
  sl_test_list(t, (const uint32_t[]){1, 2, 5}, 3);
  assert_passed(t, listed, 2);
}

static void an_event_without_scifi_banks_never_passes(void **state) {
  (void)state;
  static const uint32_t all_but_one[] = {0, 1, 2, 3, 4, 5, 6};
  add_events();
  struct sl_test *t = cut(NULL);
  sl_test_set(t, "max_scifi", 4294967294);
  assert_passed(t, all_but_one, 7);
}

static void assert_refused(struct sl_test *t, const char *message) {
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  if (!strstr(sl_test_messages(t), message)) fail_msg("%s", sl_test_messages(t));
  sl_test_free(t);
}

/* A count of an input that is not connected would be 0, and within any limit. */
static void limits_need_their_input(void **state) {
  (void)state;
  add_events();
  static const char *const limits[] = {"max_ut", "min_ut", "max_velo"};
  static const char *const messages[] = {"`ut_banks` is not connected; add in: { ut_banks: raw }, or remove the limit",
                                         "min_ut: UT hits are not counted", "max_velo: VELO clusters are not counted"};
  for (uint32_t k = 0; k < 3; k++) {
    struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "gec");
    banks_give(t, "scifi_banks", &scifi);
    sl_test_set(t, limits[k], 10);
    assert_refused(t, messages[k]);
  }
  struct sl_test *t = cut("velo_banks");
  banks_give(t, "velo_superpixels", &velo);
  assert_refused(t, "`velo_banks` and `velo_superpixels` are both connected");
}

/* ---------------------------------------------------------------------------------------------- error banks */

static void events_with_error_banks_are_listed(void **state) {
  (void)state;
  static const uint32_t expected[] = {1, 3};
  for (uint32_t event = 0; event < 5; event++) {
    banks_event(&velo);
    for (uint32_t k = 0; k < (event == 1 ? 1 : event == 3 ? 300 : 0); k++) banks_add(&velo, 3, (uint16_t)k, NULL, 0);
  }
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "error_banks");
  banks_give(t, "banks", &velo);
  assert_passed(t, expected, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(counts_are_sums_over_the_banks_of_an_event, start),
      cmocka_unit_test_setup(damaged_banks_have_no_hits, start),
      cmocka_unit_test_setup(scifi_banks_without_two_half_words_do_not_count, start),
      cmocka_unit_test_setup(retina_clusters_are_those_of_the_bank_headers, start),
      cmocka_unit_test_setup(superpixels_count_their_groups_of_pixels, start),
      cmocka_unit_test_setup(each_count_must_be_within_its_limits, start),
      cmocka_unit_test_setup(an_event_without_scifi_banks_never_passes, start),
      cmocka_unit_test_setup(limits_need_their_input, start),
      cmocka_unit_test_setup(events_with_error_banks_are_listed, start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
