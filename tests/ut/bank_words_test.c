/* ut/bank_words.h: on the samples, against their truth, and on invalid payloads. */
#include "ut/bank_words.h"

#include "sample.h"
#include "ut/description.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { HITS_MAX = 8192, TEXT_MAX = 16384 };

static struct ut_description d;

struct decoded {
  uint32_t event, count, bytes;
  uint32_t ids[HITS_MAX];
};

static uint32_t channel_of(uint32_t board, uint32_t lane) {
  const uint32_t index = d.lane_index[UT_BOARD_LANES * board + lane];
  assert_true(index < UT_SECTORS);
  return d.sectors[index].channel;
}

static void decode(void *context, uint32_t event, uint16_t source_id, uint8_t version, const unsigned char *payload,
                   uint16_t size_bytes) {
  struct decoded *to = context;
  static uint32_t words[16384];
  if (event != to->event) return;
  memcpy(words, payload, size_bytes);
  assert_int_equal(ut_bank_fault(words, size_bytes, version, source_id), UT_BANK_FINE);
  assert_int_equal(version, 3);
  to->bytes += size_bytes;
  uint32_t at = ut_v3_adc_begin(words);
  for (uint32_t i = 0; i < ut_v3_count(words); i++) {
    const struct ut_cluster c = ut_v3_cluster(words, i);
    struct ut_v3_adc adc = {0, 0, 0};
    assert_true(to->count < HITS_MAX);
    to->ids[to->count++] = ut_id(version, channel_of(ut_board(source_id), c.lane), c.strip);
    assert_true(c.position >= (float)c.strip && c.position < (float)c.strip + 1);
    assert_true(ut_v3_next_adc(words, size_bytes, &at, &adc));
    assert_true(adc.strips >= 1 && adc.strips <= UT_V3_CLUSTER_STRIPS_MAX && adc.sum <= UT_ADC_MAX * adc.strips);
  }
  assert_int_equal(at, size_bytes); /* the bytes end with the payload */
}

static int compare(const void *a, const void *b) {
  const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return left < right ? -1 : left > right;
}

struct search {
  const struct decoded *in;
  uint32_t wanted, found;
};

static void look_for(void *context, uint32_t id) {
  struct search *s = context;
  s->wanted++;
  s->found += bsearch(&id, s->in->ids, s->in->count, sizeof id, compare) != NULL;
}

static void every_true_id_of_the_samples_is_decoded(void **state) {
  (void)state;
  const char *path = sample_path("lhcb/minbias.mdf");
  if (!path) skip();
  struct sample sample = sample_open(path);
  static struct decoded hits;
  uint32_t total = 0, wanted = 0;
  for (uint32_t event = 0; event < sample.event_count; event++) {
    hits = (struct decoded){.event = event};
    sample_for_banks(&sample, 66, decode, &hits);
    qsort(hits.ids, hits.count, sizeof hits.ids[0], compare);
    for (uint32_t i = 1; i < hits.count; i++) assert_true(hits.ids[i] > hits.ids[i - 1]);
    struct search s = {&hits, 0, 0};
    sample_for_true_ids(&sample, event, 1, look_for, &s);
    assert_int_equal(s.found, s.wanted);
    assert_true(s.wanted > 300);
    total += hits.count;
    wanted += s.wanted;
  }
  print_message("%u clusters; they contain all %u ids of the truth\n", total, wanted);
  assert_int_equal(total, 6295);
  sample_close(&sample);
}

static void boards_follow_from_source_ids(void **state) {
  (void)state;
  assert_int_equal(ut_board(0), 0);
  assert_int_equal(ut_board(239), 239);
  assert_int_equal(ut_board(240), UT_BOARDS);
  assert_int_equal(ut_board(5 << 11 | 1), 0);
  assert_int_equal(ut_board(5 << 11 | 1 << 10 | 1), 1);
  assert_int_equal(ut_board(6 << 11 | 1 << 10 | 120), 239);
  assert_int_equal(ut_board(6 << 11 | 121), UT_BOARDS);
  assert_int_equal(ut_board(6 << 11), UT_BOARDS); /* numbers begin at 1 */
}

/* Three clusters, of one, two and four strips. */
static void clusters_of_version_3_are_decoded(void **state) {
  (void)state;
  const uint32_t words[] = {0x00800003u, 0x8004u | (511u << 2 | 3u) << 16, (512u * 5 + 7) << 2 | 0x4000u,
                            /* bytes: -2, 20; 3, 31, 9; 15, 31 31 31 6 */
                            0x03u << 16 | (20u | 0x80u) << 8 | 0xFEu | 31u << 24,
                            (9u | 0x80u) | 15u << 8 | 31u << 16 | 31u << 24, 31u | (6u | 0x80u) << 8};
  const uint32_t bytes = 4 + 8 + 2 + 3 + 5;
  uint32_t at = ut_v3_adc_begin(words);
  struct ut_v3_adc adc = {0, 0, 0};
  assert_int_equal(ut_bank_fault(words, bytes, 3, 17), UT_BANK_FINE);
  assert_int_equal(ut_v3_count(words), 3);
  const struct ut_cluster a = ut_v3_cluster(words, 0), b = ut_v3_cluster(words, 1), c = ut_v3_cluster(words, 2);
  assert_true(a.lane == 0 && a.strip == 1 && a.position == 1.0f);
  assert_true(b.lane == 0 && b.strip == 511 && b.position == 511.75f);
  assert_true(c.lane == 5 && c.strip == 7 && c.position == 7.0f);
  assert_true(ut_v3_next_adc(words, bytes, &at, &adc));
  assert_true(adc.neighbours == -2 && adc.strips == 1 && adc.sum == 20);
  assert_true(ut_v3_next_adc(words, bytes, &at, &adc));
  assert_true(adc.neighbours == 3 && adc.strips == 2 && adc.sum == 40);
  assert_true(ut_v3_next_adc(words, bytes, &at, &adc));
  assert_true(adc.neighbours == 15 && adc.strips == 4 && adc.sum == 99 && at == bytes);
  assert_false(ut_v3_next_adc(words, bytes, &at, &adc));
  at = ut_v3_adc_begin(words) + 5;
  assert_false(ut_v3_next_adc(words, bytes - 1, &at, &adc)); /* without the last byte */
  assert_int_equal(ut_id(3, 0x410200, 7), 0x30410207);
}

static void invalid_payloads_are_refused_with_the_reason(void **state) {
  (void)state;
  uint32_t words[16] = {3, 0, 0};
  assert_int_equal(ut_bank_fault(words, 0, 3, 0), UT_BANK_TOO_SHORT);
  assert_int_equal(ut_bank_fault(words, 9, 3, 0), UT_BANK_COUNT);
  assert_int_equal(ut_bank_fault(words, 10, 3, 0), UT_BANK_FINE);
  words[2] = 3072 << 2;
  assert_int_equal(ut_bank_fault(words, 10, 3, 0), UT_BANK_NO_LANE);
  words[0] = 0x12340000; /* no clusters */
  assert_int_equal(ut_bank_fault(words, 4, 3, 0), UT_BANK_FINE);
  assert_int_equal(ut_bank_fault(words, 4, 5, 0), UT_BANK_NO_VERSION);
  assert_int_equal(ut_bank_fault(words, 4, 3, 240), UT_BANK_NO_BOARD);
  memset(words, 0, sizeof words);
  words[1] = 1u << 24; /* a hit in lane 3: halfword 8 */
  assert_int_equal(ut_bank_fault(words, 24, 4, 0), UT_BANK_FINE);
  words[1] = 3u << 24; /* three hits: halfword 24 */
  assert_int_equal(ut_bank_fault(words, 49, 4, 0), UT_BANK_COUNT);
  assert_int_equal(ut_bank_fault(words, 50, 4, 0), UT_BANK_FINE);
  words[0] = 0xFF00; /* a count for lane 5 */
  assert_int_equal(ut_bank_fault(words, 64, 4, 0), UT_BANK_MARKED);
  assert_int_equal(ut_bank_fault(words, 23, 4, 0), UT_BANK_FINE); /* an empty bank */
  assert_int_equal(ut_v4_count(words, 23, 5), 0);
}

static void put_hit(uint32_t *words, uint32_t lane, uint32_t i, uint32_t strip, uint32_t adc) {
  const uint32_t at = ut_v4_halfword(lane, i);
  words[at / 2] |= (strip << 5 | adc) << 16 * (at % 2);
}

static void clusters_of_version_4_are_at_the_weighted_mean_of_adjacent_strips(void **state) {
  (void)state;
  static uint32_t words[8 * 128];
  uint32_t i = 0;
  struct ut_cluster c = {0, 0, 0, 0};
  const uint32_t bytes = sizeof words;
  memset(words, 0, sizeof words);
  words[0] = 200; /* lane 4 */
  words[1] = 7u << 8;
  assert_int_equal(ut_v4_halfword(5, 0), 4); /* order of the format: lane 5 first, rows of 16 */
  assert_int_equal(ut_v4_halfword(0, 1), 15);
  assert_int_equal(ut_v4_halfword(0, 2), 30);
  const uint32_t hits[7][2] = {{10, 8}, {11, 24}, {13, 31}, {14, 31}, {20, 0}, {510, 1}, {511, 3}};
  for (uint32_t k = 0; k < 7; k++) put_hit(words, 1, k, hits[k][0], hits[k][1]);
  for (uint32_t k = 0; k < 200; k++) put_hit(words, 4, k, k < 129 ? k : k + 1, 7);
  assert_int_equal(ut_bank_fault(words, bytes, 4, 5 << 11 | 3), UT_BANK_FINE);
  assert_int_equal(ut_v4_count(words, bytes, 1), 7);
  assert_int_equal(ut_v4_count(words, bytes, 4), 200);
  assert_true(ut_v4_next_cluster(words, 1, 7, &i, &c));
  assert_true(c.lane == 1 && c.strip == 11 && c.strips == 2 && c.position == 10.75f);
  assert_true(ut_v4_next_cluster(words, 1, 7, &i, &c));
  assert_true(c.strip == 14 && c.strips == 2 && c.position == 13.5f); /* halves are rounded up */
  assert_true(ut_v4_next_cluster(words, 1, 7, &i, &c));               /* the strip without charge is skipped */
  assert_true(c.strip == 511 && c.strips == 2 && c.position == 510.75f);
  assert_false(ut_v4_next_cluster(words, 1, 7, &i, &c));
  i = 0; /* a run of 129 strips is skipped, a run of 71 is not */
  assert_true(ut_v4_next_cluster(words, 4, 200, &i, &c));
  assert_true(c.strips == 71 && c.strip == 165 && c.position == 165.0f && i == 200);
  assert_int_equal(ut_id(4, 0x4100FF, 7), 0x30410007);
}

static int read_nominal(void **state) {
  (void)state;
  static char text[TEXT_MAX], reason[256];
  FILE *file = fopen(NOMINAL, "rb");
  if (!file) return -1;
  const size_t size = fread(text, 1, sizeof text, file);
  fclose(file);
  return (int)statements_read(&ut_description_format, text, size, &d, reason, sizeof reason);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_true_id_of_the_samples_is_decoded),
      cmocka_unit_test(boards_follow_from_source_ids),
      cmocka_unit_test(clusters_of_version_3_are_decoded),
      cmocka_unit_test(invalid_payloads_are_refused_with_the_reason),
      cmocka_unit_test(clusters_of_version_4_are_at_the_weighted_mean_of_adjacent_strips),
  };
  return cmocka_run_group_tests(tests, read_nominal, NULL);
}
