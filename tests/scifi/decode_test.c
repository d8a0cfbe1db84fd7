/* decode_test.c: scifi.decode on constructed banks, on random banks against decode_reference.h, and on the samples
 * against their truth.
 */
#include "decode_reference.h"
#include "scifi_support.h"

#include <math.h>

enum { RANDOM_HITS = 70000, ZONE_SLOTS = SCIFI_ZONES + 1 };

static struct sl_test *detector;
static struct banks_case banks;
static struct halfwords halfwords;

static int start(void **state) {
  (void)state;
  memset(&banks, 0, sizeof banks);
  halfwords.count = 0;
  detector = detector_new(NULL);
  return 0;
}
static int stop(void **state) {
  (void)state;
  sl_test_free(detector);
  return 0;
}

static const float *floats(const char *field) { return sl_test_output(detector, "geometry", field); }
static const uint32_t *words(const char *field) { return sl_test_output(detector, "geometry", field); }

/* Output of a run. */
struct hits {
  const uint32_t *offsets, *id;
  const uint16_t *zone_first;
  const float *x, *z;
  const uint8_t *pseudo_size;
};
static struct hits hits_of(const struct sl_test *t) {
  return (struct hits){sl_test_output(t, "hits", "offsets"),    sl_test_output(t, "hits", "id"),
                       sl_test_output(t, "hits", "zone_first"), sl_test_output(t, "hits", "x"),
                       sl_test_output(t, "hits", "z"),          sl_test_output(t, "hits", "pseudo_size")};
}

static struct sl_test *decode(void) {
  struct sl_test *t = decoder_new(detector, &banks);
  assert_int_equal(sl_test_run(t), 0);
  return t;
}

static struct scifi_geometry_view geometry_view(void) {
  return (struct scifi_geometry_view){.link_channel = words("link_channel"),
                                      .mirror_x = floats("mirror_x"),
                                      .mirror_y = floats("mirror_y"),
                                      .mirror_z = floats("mirror_z"),
                                      .direction_x = floats("direction_x"),
                                      .direction_y = floats("direction_y"),
                                      .direction_z = floats("direction_z"),
                                      .u_begin = floats("u_begin"),
                                      .half_pitch = floats("half_pitch"),
                                      .die_gap = floats("die_gap"),
                                      .sipm_pitch = floats("sipm_pitch"),
                                      .dxdy = floats("dxdy"),
                                      .dzdy = floats("dzdy")};
}

/* Hit `i` of the slice is this cluster. */
static void assert_hit(const struct hits *h, uint32_t i, uint32_t channel, uint32_t fraction, uint32_t pseudo_size) {
  const struct scifi_geometry_view geometry = geometry_view();
  const struct decode_place place = decode_place_of(&geometry, channel, fraction);
  assert_int_equal(h->id[i], SCIFI_LHCB_ID | channel);
  assert_int_equal(h->pseudo_size[i], pseudo_size);
  assert_true(fabs((double)h->x[i] - place.x) < 5e-4 && fabs((double)h->z[i] - place.z) < 1e-3);
}

/* The first channel of a link. */
static uint32_t link_of(uint32_t row, uint32_t link) { return words("link_channel")[row * SCIFI_BANK_LINKS + link]; }

static void a_cluster_has_the_position_of_its_channel(void **state) {
  (void)state;
  banks_event(&banks);
  halfwords_put_cluster(&halfwords, 5, 0, 9, 6);
  banks_add_halfwords(&banks, 5, 0, &halfwords);
  struct sl_test *t = decode();
  const struct hits h = hits_of(t);
  assert_int_equal(h.offsets[1], 1);
  assert_hit(&h, 0, link_of(0, 0) + 11, 1, 6);
  assert_int_equal(h.id[0], 0x5004000B);
  /* u = -65.16 + 24 half channels of 0.125 mm, relative to the middle of the first mat; the module is at -265 mm. */
  assert_true(fabs((double)h.x[0] - (-265 - 1.5 * 130.8 - 65.16 + 3)) < 1e-3);
  sl_test_free(t);
}

static void hits_are_ordered_by_zone_and_x(void **state) {
  (void)state;
  /* Layer 0: x grows with the channel in quarters 0 and 1, and falls in quarters 2 and 3, above the beam. */
  const uint32_t rows[] = {15, 10, 5, 0};
  banks_event(&banks);
  for (uint32_t i = 0; i < 4; i++) {
    halfwords_put(&halfwords, 0, 10, 0, 0);
    halfwords_put(&halfwords, 0, 10 + 3, 1, 0);
    halfwords_put(&halfwords, 7, 64, 0, 0);
    banks_add_halfwords(&banks, 4, rows[i], &halfwords);
  }
  struct sl_test *t = decode();
  const struct hits h = hits_of(t);
  const uint32_t expected[12][3] = {{0, 0, 10},  {0, 0, 13},  {0, 7, 64},  {5, 0, 10},  {5, 0, 13},  {5, 7, 64},
                                    {10, 7, 64}, {10, 0, 13}, {10, 0, 10}, {15, 7, 64}, {15, 0, 13}, {15, 0, 10}};
  assert_int_equal(h.offsets[1], 12);
  for (uint32_t i = 0; i < 12; i++) {
    assert_hit(&h, i, link_of(expected[i][0], expected[i][1]) + expected[i][2], expected[i][2] == 13, 4);
    if (i % 6 > 0) assert_true(h.x[i] > h.x[i - 1]);
  }
  for (uint32_t zone = 0; zone < ZONE_SLOTS; zone++) assert_int_equal(h.zone_first[zone], zone > 1 ? 12 : 6 * zone);
  sl_test_free(t);
}

/* -------------------------------------------------------------------------------------------- random events */

static uint32_t random_state;
static uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)(random_state >> 8) * n >> 24);
}

/* Expected output. */
static struct decode_hit expected[RANDOM_HITS];
static uint32_t expected_count;

/* Expects the clusters of the case's last event. */
static void expect_event(int version_5_as_4) {
  const struct scifi_geometry_view geometry = geometry_view();
  expected_count = 0;
  for (uint32_t bank = banks.offsets[banks.event_count - 1]; bank < banks.bank_count; bank++) {
    const uint32_t version = banks.version[bank] == 5 && version_5_as_4 ? 4 : banks.version[bank];
    const uint32_t row = scifi_bank_row(version, banks.source_id[bank], words("source_id"));
    expected_count = decode_bank(&geometry, version, row, banks.payload + banks.first_word[bank],
                                 banks.size_bytes[bank], expected, expected_count, RANDOM_HITS);
    assert_true(expected_count < RANDOM_HITS);
  }
  decode_sort(expected, expected_count);
}

static void assert_expected_hits(const struct sl_test *t, uint32_t event) {
  const struct hits h = hits_of(t);
  const uint32_t first = h.offsets[event];
  const uint16_t *zone_first = h.zone_first + (size_t)event * ZONE_SLOTS;
  assert_int_equal(h.offsets[event + 1] - first, expected_count);
  assert_int_equal(zone_first[SCIFI_ZONES], expected_count);
  for (uint32_t i = 0; i < expected_count; i++) {
    const struct scifi_cluster *c = &expected[i].cluster;
    const uint32_t zone = decode_zone_of(c->channel);
    assert_hit(&h, first + i, c->channel, c->fraction, c->pseudo_size);
    assert_true(zone_first[zone] <= i && i < zone_first[zone + 1]);
    assert_true(i == zone_first[zone] || h.x[first + i] > h.x[first + i - 1]);
  }
}

static void assert_expected(const struct sl_test *t, uint32_t event) {
  assert_int_equal(sl_test_event_error(t, event), 0);
  assert_expected_hits(t, event);
}

/* Order of banks in an event, and of links in a bank. */
enum { AS_WRITTEN, BANKS_BACKWARDS, LINKS_BACKWARDS };

/* Adds clusters to a link: up to 4 channels, one in ten is wider. */
static void put_random_link(uint32_t version, uint32_t link, uint32_t gap) {
  for (uint32_t channel = random_below(gap);;) {
    const uint32_t width = random_below(10) == 0 ? 5 + random_below(20) : 1 + random_below(4);
    if (channel + width > SCIFI_SIPM_CHANNELS) break;
    halfwords_put_cluster(&halfwords, version, link, channel, width);
    channel += width + 1 + random_below(gap);
  }
}

/* Adds an event with banks of all rows, with about one cluster per `gap` / 2 channels. `version` 0: all versions in
 * turn. */
static void add_random_event(uint32_t seed, uint32_t version, uint32_t gap, int order) {
  random_state = seed;
  banks_event(&banks);
  for (uint32_t i = 0; i < SCIFI_BANKS; i++) {
    const uint32_t row = order == BANKS_BACKWARDS ? SCIFI_BANKS - 1 - i : i,
                   bank_version = version ? version : 4 + i % 5;
    for (uint32_t k = 0; k < SCIFI_BANK_LINKS; k++) {
      const uint32_t link = order == LINKS_BACKWARDS ? SCIFI_BANK_LINKS - 1 - k : k;
      if (link_of(row, link) != SCIFI_NOT_CONNECTED) put_random_link(bank_version, link, gap);
    }
    banks_add_halfwords(&banks, bank_version, bank_version < 7 ? row : words("source_id")[row], &halfwords);
  }
}

static void hits_do_not_depend_on_the_version_and_order_of_banks_and_links(void **state) {
  (void)state;
  for (uint32_t version = 0; version <= 8; version += version ? 1 : 4)
    for (int order = AS_WRITTEN; order <= LINKS_BACKWARDS; order++) {
      memset(&banks, 0, sizeof banks);
      add_random_event(17 + version, version, 150, order);
      expect_event(0);
      assert_true(expected_count > 3000);
      struct sl_test *t = decode();
      assert_expected(t, 0);
      sl_test_free(t);
    }
}

/* More hits than fit shared memory; each mat has many. */
static void events_with_many_hits_are_decoded(void **state) {
  (void)state;
  banks_event(&banks);
  add_random_event(4, 0, 12, BANKS_BACKWARDS);
  struct sl_test *t = decode();
  expect_event(0);
  assert_true(expected_count > 40000);
  assert_expected(t, 1);
  sl_test_free(t);
}

static void the_block_size_does_not_change_results(void **state) {
  (void)state;
  const char *target = getenv("SLUICE_TEST_TARGET");
  if (!target || strcmp(target, "cpu") == 0) skip(); /* a block has one thread on a CPU */
  add_random_event(5, 0, 150, AS_WRITTEN);
  expect_event(0);
  for (uint32_t threads = 32; threads <= 1024; threads *= 2) {
    struct sl_test *t = decoder_new(detector, &banks);
    sl_test_block(t, threads);
    assert_int_equal(sl_test_run(t), 0);
    assert_expected(t, 0);
    sl_test_free(t);
  }
}

/* The CPU has a tuned version. Halfwords in order and out of order. */
static void the_shared_version_gives_equal_results(void **state) {
  (void)state;
  for (int order = AS_WRITTEN; order <= LINKS_BACKWARDS; order++) {
    memset(&banks, 0, sizeof banks);
    add_random_event(8, 0, 150, order);
    expect_event(0);
    struct sl_test *t = decoder_new(detector, &banks);
    sl_test_shared(t, 1);
    assert_int_equal(sl_test_run(t), 0);
    assert_expected(t, 0);
    sl_test_free(t);
  }
}

static void version_5_is_decoded_as_4_on_request(void **state) {
  (void)state;
  add_random_event(6, 5, 150, AS_WRITTEN);
  expect_event(0);
  const uint32_t clusters = expected_count;
  expect_event(1);
  assert_true(expected_count != clusters);
  struct sl_test *t = decoder_new(detector, &banks);
  sl_test_set(t, "version_5_as_4", 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_expected(t, 0);
  sl_test_free(t);
}

/* Adds an event with runs of flagged halfwords; their fraction and distance decide which of them start or end a
 * pair. */
static void add_runs_of_flags(uint32_t seed, uint32_t version) {
  random_state = seed;
  banks_event(&banks);
  for (uint32_t row = 0; row < SCIFI_BANKS; row++) {
    for (uint32_t link = random_below(4); link < 16; link += 1 + random_below(6))
      for (uint32_t channel = 1 + random_below(9); channel < SCIFI_SIPM_CHANNELS; channel += 6 + random_below(9))
        halfwords_put(&halfwords, link, channel, version == 5 ? 1 : random_below(2), random_below(5) > 0);
    banks_add_halfwords(&banks, version, version < 7 ? row : words("source_id")[row], &halfwords);
  }
}

static void runs_of_flags_are_paired_from_their_first(void **state) {
  (void)state;
  for (uint32_t version = 5; version <= 8; version++) {
    memset(&banks, 0, sizeof banks);
    add_runs_of_flags(version, version);
    expect_event(0);
    assert_true(expected_count > 3000);
    struct sl_test *t = decode();
    assert_expected_hits(t, 0);
    sl_test_free(t);
  }
}

/* If the hits exceed the capacity of the slice, none is written and the needed capacity is reported. */
static void an_overflow_leaves_no_hits(void **state) {
  (void)state;
  add_random_event(9, 5, 150, AS_WRITTEN);
  expect_event(0);
  struct sl_test *t = decoder_new(detector, &banks);
  sl_test_budget(t, "hits", expected_count - 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_used(t, "hits"), expected_count);
  assert_int_equal(hits_of(t).offsets[1], 0);
  for (uint32_t zone = 0; zone < ZONE_SLOTS; zone++) assert_int_equal(hits_of(t).zone_first[zone], 0);
  sl_test_free(t);
}

/* ------------------------------------------------------------------------------------------------- refusals */

/* Fault codes that bank_words.h does not define. */
enum { TWO_BANKS = 5, TWO_HITS, TOO_MANY_HITS, LOST_LINK, LOST_PAIR };

static void add_one_cluster(uint32_t version, uint32_t source_id) {
  halfwords_put_cluster(&halfwords, version, 0, 9, 1);
  banks_add_halfwords(&banks, version, source_id, &halfwords);
}

/* Event 1, between two valid events, is refused: add its banks between begin_refusal() and assert_refused(). */
static void begin_refusal(void) {
  memset(&banks, 0, sizeof banks);
  banks_event(&banks);
  add_one_cluster(5, 7);
  banks_event(&banks);
  add_one_cluster(4, 2);
}
static void assert_refused(uint32_t code, uint32_t detail) {
  banks_event(&banks);
  add_one_cluster(6, 8);
  struct sl_test *t = decode();
  const struct hits h = hits_of(t);
  assert_int_equal(sl_test_event_error(t, 0), 0);
  assert_int_equal(sl_test_event_error(t, 1) & 0xFFFFFFFFFF, (uint64_t)code << 32 | detail);
  assert_int_equal(sl_test_event_error(t, 2), 0);
  assert_int_equal(h.offsets[1], 1);
  assert_int_equal(h.offsets[3] - h.offsets[2], 1);
  assert_hit(&h, 0, link_of(7, 0) + 9, 0, 4);
  assert_hit(&h, h.offsets[2], link_of(8, 0) + 9, 0, 4);
  sl_test_free(t);
}

static void invalid_banks_refuse_their_event(void **state) {
  static const uint16_t payload[SCIFI_HEADER + SCIFI_BANK_MAX + 2] = {[SCIFI_HEADER + SCIFI_BANK_MAX + 1] = 4};
  const struct {
    uint32_t version, source_id, bytes, code;
  } cases[] = {{3, 1, 8, SCIFI_BAD_VERSION},
               {9, 1, 8, SCIFI_BAD_VERSION},
               {0, 1, 8, SCIFI_BAD_VERSION},
               {5, 240, 8, SCIFI_BAD_SOURCE},
               {6, 65535, 8, SCIFI_BAD_SOURCE},
               {7, 1, 8, SCIFI_BAD_SOURCE},
               {8, 7 << 11 | 120, 8, SCIFI_BAD_SOURCE},
               {4, 239, 7, SCIFI_BAD_SIZE},
               {5, 3, sizeof payload, SCIFI_TOO_MANY}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    begin_refusal();
    banks_add(&banks, (uint8_t)cases[i].version, (uint16_t)cases[i].source_id, payload, cases[i].bytes);
    assert_refused(cases[i].code, cases[i].source_id);
  }
}

static void two_banks_of_a_source_refuse_their_event(void **state) {
  (void)state;
  begin_refusal();
  add_one_cluster(4, 2);
  assert_refused(TWO_BANKS, 2);
  begin_refusal();
  add_one_cluster(7, words("source_id")[2]); /* the same source by its second id */
  assert_refused(TWO_BANKS, 2);
}

/* A second cluster in one channel with another fraction, and one in a channel of a wide cluster. */
static void a_channel_twice_refuses_its_event(void **state) {
  (void)state;
  begin_refusal();
  halfwords_put(&halfwords, 3, 40, 0, 0);
  halfwords_put(&halfwords, 3, 50, 0, 0);
  halfwords_put(&halfwords, 3, 40, 1, 0);
  banks_add_halfwords(&banks, 5, 100, &halfwords);
  assert_refused(TWO_HITS, link_of(100, 3) + 40);
  begin_refusal();
  halfwords_put_cluster(&halfwords, 8, 0, 20, 12);
  halfwords_put(&halfwords, 0, 25, 1, 0);
  banks_add_halfwords(&banks, 8, words("source_id")[101], &halfwords);
  assert_refused(TWO_HITS, link_of(101, 0) + 25);
}

/* Each pair is a cluster over a whole SiPM. */
static void too_many_hits_refuse_their_event(void **state) {
  const uint32_t pairs = SCIFI_BANK_MAX / 2, banks_of_pairs = 6;
  (void)state;
  begin_refusal();
  for (uint32_t row = 10; row < 10 + banks_of_pairs; row++) {
    for (uint32_t i = 0; i < pairs; i++) halfwords_put_cluster(&halfwords, 6, 2, 0, 128);
    banks_add_halfwords(&banks, 6, row, &halfwords);
  }
  assert_refused(TOO_MANY_HITS, 1 + banks_of_pairs * pairs * 32);
}

/* The error is reported, but the event is not refused: the cluster of bank 7 is decoded. */
static void assert_skipped(uint32_t code, uint32_t detail) {
  add_one_cluster(5, 7);
  struct sl_test *t = decode();
  const struct hits h = hits_of(t);
  assert_int_equal(h.offsets[1], 1);
  assert_hit(&h, 0, link_of(7, 0) + 9, 0, 4);
  assert_int_equal(sl_test_event_error(t, 0) >> 32 & 0xFF, code);
  assert_int_equal(sl_test_event_error(t, 0) & 0xFFFF, detail);
  sl_test_free(t);
}

static void clusters_of_unconnected_links_are_skipped(void **state) {
  (void)state;
  banks_event(&banks);
  halfwords_put(&halfwords, 16, 3, 0, 0);
  halfwords_put(&halfwords, 127, 3, 1, 1);
  banks_add_halfwords(&banks, 5, 3, &halfwords);
  assert_skipped(LOST_LINK, 3);
}

static void impossible_pairs_are_skipped(void **state) {
  (void)state;
  banks_event(&banks);
  halfwords_put(&halfwords, 0, 10, 1, 1);
  halfwords_put(&halfwords, 0, 5, 0, 1);
  banks_add_halfwords(&banks, 6, 33, &halfwords);
  assert_skipped(LOST_PAIR, 33);
}

static void overlapping_mats_are_refused(void **state) {
  float mirror_x[SCIFI_MAT_TABLE], die_gap[SCIFI_MAT_TABLE];
  const uint32_t mat = (link_of(100, 0) >> SCIFI_MAT_BIT) - SCIFI_FIRST_MAT;
  (void)state;
  banks_event(&banks);
  add_one_cluster(5, 7);
  memcpy(mirror_x, floats("mirror_x"), sizeof mirror_x);
  memcpy(die_gap, floats("die_gap"), sizeof die_gap);
  mirror_x[mat] += 8; /* more than the gap between any two mats */
  die_gap[mat] = -1;
  for (int is_shifted = 0; is_shifted < 2; is_shifted++) {
    struct sl_test *t = decoder_new(detector, &banks);
    if (is_shifted)
      sl_test_input(t, "geometry", "mirror_x", mirror_x, SCIFI_MAT_TABLE);
    else
      sl_test_input(t, "geometry", "die_gap", die_gap, SCIFI_MAT_TABLE);
    assert_int_equal(sl_test_run(t), SL_EINVAL);
    assert_non_null(strstr(sl_test_messages(t), "overlaps another mat"));
    sl_test_free(t);
  }
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
  const uint32_t hits_of_events[] = {6488, 2226, 2494, 3112, 3731, 2210};
  const char *mdf = sample_path("lhcb/minbias.mdf");
  static uint32_t ids[8192];
  uint32_t true_hits = 0;
  (void)state;
  if (!mdf) skip();
  struct sample s = sample_open(mdf);
  sample_for_banks(&s, 64, add_bank, NULL);
  struct sl_test *t = decode();
  const struct hits h = hits_of(t);
  assert_int_equal(banks.event_count, 6);
  for (uint32_t event = 0; event < 6; event++) {
    const uint32_t count = h.offsets[event + 1] - h.offsets[event];
    assert_int_equal(sl_test_event_error(t, event), 0);
    assert_int_equal(count, hits_of_events[event]);
    for (uint32_t zone = 0; zone < SCIFI_ZONES; zone++) {
      const uint16_t *first = h.zone_first + (size_t)event * ZONE_SLOTS + zone;
      for (uint32_t i = first[0] + 1; i < first[1]; i++)
        assert_true(h.x[h.offsets[event] + i] > h.x[h.offsets[event] + i - 1]);
    }
    memcpy(ids, h.id + h.offsets[event], count * sizeof *ids);
    qsort(ids, count, sizeof *ids, compare_ids);
    for (uint32_t i = 1; i < count; i++) assert_true(ids[i] > ids[i - 1]);
    struct search search = {ids, count, 0};
    sample_for_true_ids(&s, event, 2, look_for, &search);
    true_hits += search.looked_for;
  }
  assert_int_equal(true_hits, 18872); /* 17647 distinct ids */
  sl_test_free(t);
  sample_close(&s);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      TEST(a_cluster_has_the_position_of_its_channel),
      TEST(hits_are_ordered_by_zone_and_x),
      TEST(hits_do_not_depend_on_the_version_and_order_of_banks_and_links),
      TEST(events_with_many_hits_are_decoded),
      TEST(the_block_size_does_not_change_results),
      TEST(the_shared_version_gives_equal_results),
      TEST(version_5_is_decoded_as_4_on_request),
      TEST(runs_of_flags_are_paired_from_their_first),
      TEST(an_overflow_leaves_no_hits),
      TEST(invalid_banks_refuse_their_event),
      TEST(two_banks_of_a_source_refuse_their_event),
      TEST(a_channel_twice_refuses_its_event),
      TEST(too_many_hits_refuse_their_event),
      TEST(clusters_of_unconnected_links_are_skipped),
      TEST(impossible_pairs_are_skipped),
      TEST(overlapping_mats_are_refused),
      TEST(the_samples_have_every_true_hit_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
