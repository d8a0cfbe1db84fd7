/* scifi/bank_words.h: clusters of halfwords in each version, including combinations that no writer produces; and
 * samples: each id of the truth is decoded. */
#include "scifi/bank_words.h"

#include "sample.h"
#include "scifi/description.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CLUSTERS_MAX = 4096, CHANNELS = 1 << SCIFI_CHANNEL_BITS };

static struct scifi_description *detector;

static uint32_t word(uint32_t link, uint32_t channel, uint32_t fraction, uint32_t flag) {
  return link << 9 | channel << 2 | fraction << 1 | flag;
}

/* A bank of module 0 in quarter 0 of station 1, and the expected clusters. */
struct expected {
  uint32_t sipm, channel, fraction, pseudo_size;
};

static uint32_t decode(uint32_t version, const uint32_t *halfwords, uint32_t count, uint32_t *faults,
                       struct scifi_cluster *clusters) {
  uint32_t payload[64] = {0}, found = 0;
  for (uint32_t i = 0; i < count; i++) payload[(i + 2) / 2] |= halfwords[i] << 16 * (i & 1);
  struct scifi_bank_words words;
  assert_int_equal(scifi_bank_open(&words, version, detector->link_channel, payload, 4 * ((count + 1) / 2 + 1)), 0);
  struct scifi_bank_cursor cursor = scifi_bank_begin();
  while (scifi_bank_next(&words, &cursor, &clusters[found])) assert_true(++found < 64);
  *faults = cursor.faults;
  return found;
}

static void assert_decoded(uint32_t version, const uint32_t *halfwords, uint32_t count, const struct expected *expected,
                           uint32_t expected_count, uint32_t expected_faults) {
  struct scifi_cluster found[64];
  uint32_t faults;
  assert_int_equal(decode(version, halfwords, count, &faults, found), expected_count);
  assert_int_equal(faults, expected_faults);
  for (uint32_t i = 0; i < expected_count; i++) {
    assert_int_equal(found[i].channel, 1 << 18 | expected[i].sipm << 7 | expected[i].channel);
    assert_int_equal(found[i].fraction, expected[i].fraction);
    assert_int_equal(found[i].pseudo_size, expected[i].pseudo_size);
  }
}
#define ASSERT_DECODED(version, halfwords, faults, ...)                                                        \
  do {                                                                                                         \
    const struct expected expected_[] = {__VA_ARGS__};                                                         \
    assert_decoded(version, halfwords, sizeof(halfwords) / 4, expected_, sizeof expected_ / sizeof *expected_, \
                   faults);                                                                                    \
  } while (0)

static void a_halfword_without_flag_is_a_small_cluster_in_every_version(void **state) {
  (void)state;
  const uint32_t halfwords[] = {word(0, 0, 0, 0) | 2, word(0, 9, 0, 0), word(3, 127, 1, 0)};
  for (uint32_t version = 4; version <= 8; version++)
    ASSERT_DECODED(version, halfwords, 0, {0, 0, 1, 4}, {0, 9, 0, 4}, {3, 127, 1, 4});
}

static void an_unpaired_flag_is_a_piece(void **state) {
  (void)state;
  const uint32_t last[] = {word(0, 5, 0, 0), word(1, 9, 1, 1)}, last_of_link[] = {word(1, 9, 1, 1), word(2, 11, 0, 1)};
  for (uint32_t version = 4; version <= 8; version++) {
    ASSERT_DECODED(version, last, 0, {0, 5, 0, 4}, {1, 9, 1, 0});
    ASSERT_DECODED(version, last_of_link, 0, {1, 9, 1, 0}, {2, 11, 0, 0});
  }
  const uint32_t before_small[] = {word(1, 9, 1, 1), word(1, 20, 0, 0)};
  ASSERT_DECODED(5, before_small, 0, {1, 9, 1, 0}, {1, 20, 0, 4});
}

static void version_4_has_no_pairs(void **state) {
  (void)state;
  const uint32_t halfwords[] = {word(2, 10, 1, 1), word(2, 13, 0, 1)};
  ASSERT_DECODED(4, halfwords, 0, {2, 10, 1, 0}, {2, 13, 0, 0});
}

/* Clusters of 5 to 8 channels that begin with channel 9. */
static void pairs_of_5_to_8_channels_are_one_cluster(void **state) {
  (void)state;
  const uint32_t middles[4][2] = {{word(2, 10, 1, 1), word(2, 13, 0, 1)},
                                  {word(2, 10, 1, 1), word(2, 13, 1, 1)},
                                  {word(2, 10, 1, 1), word(2, 14, 0, 1)},
                                  {word(2, 10, 1, 1), word(2, 14, 1, 1)}};
  for (uint32_t width = 5; width <= 8; width++) {
    const uint32_t channel = 9 + (width - 1) / 2, fraction = (width - 1) % 2;
    const uint32_t ends[] = {word(2, 10, 1, 1), word(2, 8 + width, 0, 1)};
    const uint32_t ends_of_7[] = {word(2, 10, 0, 1), word(2, 8 + width, 1, 1)};
    ASSERT_DECODED(5, middles[width - 5], 0, {2, channel, fraction, width});
    ASSERT_DECODED(6, ends, 0, {2, channel, fraction, width});
    ASSERT_DECODED(7, ends_of_7, 0, {2, channel, fraction, width});
    ASSERT_DECODED(8, ends, 0, {2, channel, fraction, width});
  }
}

static void wider_pairs_are_pieces(void **state) {
  (void)state;
  /* Channels 9 to 21: pieces of 4, 4, 4 and 1. Version 5 omits the first. */
  const uint32_t middles[] = {word(0, 10, 1, 1), word(0, 21, 0, 1), word(0, 30, 0, 0)};
  ASSERT_DECODED(5, middles, 0, {0, 14, 1, 0}, {0, 18, 1, 0}, {0, 21, 0, 0}, {0, 30, 0, 4});
  const uint32_t ends[] = {word(0, 10, 1, 1), word(0, 21, 0, 1), word(0, 30, 0, 0)};
  ASSERT_DECODED(6, ends, 0, {0, 10, 1, 0}, {0, 14, 1, 0}, {0, 18, 1, 0}, {0, 21, 0, 0}, {0, 30, 0, 4});
  /* Channels 9 to 20: 4, 4, 4. */
  const uint32_t middles_of_12[] = {word(0, 10, 1, 1), word(0, 18, 1, 1)};
  ASSERT_DECODED(5, middles_of_12, 0, {0, 14, 1, 0}, {0, 18, 1, 0});
  const uint32_t ends_of_12[] = {word(0, 10, 0, 1), word(0, 20, 0, 1)};
  ASSERT_DECODED(7, ends_of_12, 0, {0, 10, 1, 0}, {0, 14, 1, 0}, {0, 18, 1, 0});
  /* A whole SiPM. */
  const uint32_t all[] = {word(0, 1, 1, 1), word(0, 127, 0, 1)};
  struct scifi_cluster found[64];
  uint32_t faults;
  assert_int_equal(decode(8, all, 2, &faults, found), 32);
  assert_int_equal(found[31].channel, 1 << 18 | 125);
}

static void impossible_pairs_are_faults(void **state) {
  (void)state;
  const uint32_t equal[] = {word(0, 10, 1, 1), word(0, 10, 0, 1), word(1, 7, 0, 0)};
  const uint32_t descending[] = {word(0, 10, 1, 1), word(0, 5, 0, 1), word(1, 7, 0, 0)};
  const uint32_t no_start[] = {word(0, 10, 0, 1), word(0, 30, 1, 1), word(0, 35, 0, 1)};
  const uint32_t no_end[] = {word(0, 10, 1, 1), word(0, 30, 1, 1), word(0, 35, 0, 0)};
  ASSERT_DECODED(5, equal, SCIFI_BAD_PAIR, {0, 10, 1, 0}, {0, 10, 0, 0}, {1, 7, 0, 4});
  ASSERT_DECODED(5, descending, SCIFI_BAD_PAIR, {0, 10, 1, 0}, {0, 5, 0, 0}, {1, 7, 0, 4});
  for (uint32_t version = 6; version <= 8; version++) {
    ASSERT_DECODED(version, equal, SCIFI_BAD_PAIR, {1, 7, 0, 4});
    ASSERT_DECODED(version, descending, SCIFI_BAD_PAIR, {1, 7, 0, 4});
  }
  ASSERT_DECODED(6, no_start, SCIFI_BAD_PAIR, {0, 32, 0, 7});
  ASSERT_DECODED(8, no_end, SCIFI_BAD_PAIR, {0, 35, 0, 4});
  const uint32_t at_the_edge[] = {word(0, 0, 1, 1), word(0, 5, 0, 1)};
  ASSERT_DECODED(5, at_the_edge, SCIFI_BAD_PAIR, {0, 0, 1, 0}, {0, 5, 0, 0});
}

static void unconnected_links_are_faults(void **state) {
  (void)state;
  const uint32_t halfwords[] = {word(15, 3, 0, 0), word(16, 3, 0, 0), word(127, 3, 1, 1)};
  for (uint32_t version = 4; version <= 8; version++)
    ASSERT_DECODED(version, halfwords, SCIFI_NO_SUCH_LINK, {15, 3, 0, 4});
}

static void banks_are_refused_or_empty(void **state) {
  (void)state;
  struct scifi_bank_words words;
  const uint32_t header = 0xFFFF0001, *links = detector->link_channel;
  static uint32_t payload[400];
  assert_int_equal(scifi_bank_open(&words, 3, links, &header, 4), SCIFI_BAD_VERSION);
  assert_int_equal(scifi_bank_open(&words, 9, links, &header, 4), SCIFI_BAD_VERSION);
  assert_int_equal(scifi_bank_open(&words, 5, links, &header, 3), SCIFI_BAD_SIZE);
  memset(payload, 0x11, sizeof payload);
  assert_int_equal(scifi_bank_open(&words, 5, links, payload, 2 * (2 + 744)), SCIFI_NO_ERROR);
  assert_int_equal(scifi_bank_open(&words, 5, links, payload, 2 * (2 + 745)), SCIFI_TOO_MANY);
  for (uint32_t size = 0; size <= 4; size += 2) {
    struct scifi_bank_cursor cursor = scifi_bank_begin();
    struct scifi_cluster cluster;
    assert_int_equal(scifi_bank_open(&words, 5, links, &header, size), SCIFI_NO_ERROR);
    assert_int_equal(scifi_bank_next(&words, &cursor, &cluster), 0);
  }
}

static void rows_are_source_ids_or_found_by_them(void **state) {
  (void)state;
  const uint32_t *ids = detector->source_id;
  assert_int_equal(scifi_bank_row(5, 239, ids), 239);
  assert_int_equal(scifi_bank_row(4, 240, ids), SCIFI_NO_BANK);
  assert_int_equal(scifi_bank_row(7, 8 << 11, ids), 0);
  assert_int_equal(scifi_bank_row(8, 7 << 11 | 119, ids), 239);
  assert_int_equal(scifi_bank_row(8, 7 << 11 | 120, ids), SCIFI_NO_BANK);
  assert_int_equal(scifi_bank_row(7, 239, ids), SCIFI_NO_BANK);
}

/* Each cluster is in a SiPM of the bank, and the number of clusters does not exceed the number of channels. */
static void random_halfwords_give_clusters_within_their_sipms(void **state) {
  (void)state;
  uint32_t payload[40], random = 1;
  for (uint32_t round = 0; round < 200000; round++) {
    for (uint32_t i = 0; i < 40; i++) {
      random = random * 1664525u + 1013904223u;
      payload[i] = random & (round % 3 ? 0x3FFF3FFF : 0x07FF07FF) & ~((random & 1) << 31);
    }
    struct scifi_bank_words words;
    struct scifi_cluster cluster;
    uint32_t found = 0;
    assert_int_equal(scifi_bank_open(&words, 4 + round % 5, detector->link_channel, payload, sizeof payload), 0);
    struct scifi_bank_cursor cursor = scifi_bank_begin();
    while (scifi_bank_next(&words, &cursor, &cluster)) {
      assert_true(cluster.channel >> SCIFI_SIPM_BIT >= 1 << 11 && cluster.channel >> SCIFI_SIPM_BIT < (1 << 11) + 16);
      assert_true(cluster.fraction <= 1 &&
                  (cluster.pseudo_size == 0 || (cluster.pseudo_size <= 8 && cluster.pseudo_size >= 3)));
      assert_true(++found < 80 * 32);
    }
  }
}

/* ----------------------------------------------------------------------------------------------- the samples */

struct search {
  uint32_t event, decoded, faults, ids, missing, twice;
  uint8_t *is_decoded; /* by channel */
};

static void decode_bank(void *context, uint32_t event, uint16_t source_id, uint8_t version,
                        const unsigned char *payload, uint16_t size_bytes) {
  struct search *s = context;
  static uint32_t aligned[1024];
  struct scifi_bank_words words;
  struct scifi_cluster cluster;
  if (event != s->event) return;
  assert_true(size_bytes <= sizeof aligned);
  memcpy(aligned, payload, size_bytes);
  const uint32_t row = scifi_bank_row(version, source_id, detector->source_id);
  assert_true(row != SCIFI_NO_BANK);
  assert_int_equal(version, 5);
  assert_int_equal(
      scifi_bank_open(&words, version, detector->link_channel + row * SCIFI_BANK_LINKS, aligned, size_bytes), 0);
  struct scifi_bank_cursor cursor = scifi_bank_begin();
  while (scifi_bank_next(&words, &cursor, &cluster)) {
    s->twice += s->is_decoded[cluster.channel];
    s->is_decoded[cluster.channel] = 1;
    s->decoded++;
  }
  s->faults |= cursor.faults;
}

static void look_for(void *context, uint32_t id) {
  struct search *s = context;
  s->ids++;
  s->missing += (id & 0xF0000000) != SCIFI_LHCB_ID || !s->is_decoded[id & (CHANNELS - 1)];
}

static void every_id_of_the_truth_is_decoded(void **state) {
  (void)state;
  const char *path = sample_path("lhcb/minbias.mdf");
  if (!path) skip();
  static const uint32_t clusters[] = {6488, 2226, 2494, 3112, 3731, 2210}; /* counted by an independent program */
  struct sample sample = sample_open(path);
  assert_int_equal(sample.event_count, 6);
  uint32_t ids = 0;
  for (uint32_t event = 0; event < sample.event_count; event++) {
    struct search s = {.event = event, .is_decoded = calloc(CHANNELS, 1)};
    assert_non_null(s.is_decoded);
    sample_for_banks(&sample, 64, decode_bank, &s);
    sample_for_true_ids(&sample, event, 2, look_for, &s);
    assert_int_equal(s.decoded, clusters[event]);
    assert_int_equal(s.faults, 0);
    assert_int_equal(s.twice, 0);
    assert_int_equal(s.missing, 0);
    ids += s.ids;
    free(s.is_decoded);
  }
  assert_true(ids > 17000);
  sample_close(&sample);
}

static int read_nominal(void **state) {
  (void)state;
  static char text[16384], reason[256];
  FILE *file = fopen(NOMINAL, "rb");
  if (!file) return -1;
  const size_t size = fread(text, 1, sizeof text, file);
  fclose(file);
  detector = malloc(sizeof *detector);
  return detector && statements_read(&scifi_description_format, text, size, detector, reason, sizeof reason) == 0 ? 0
                                                                                                                  : -1;
}

static int forget(void **state) {
  (void)state;
  free(detector);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_halfword_without_flag_is_a_small_cluster_in_every_version),
      cmocka_unit_test(an_unpaired_flag_is_a_piece),
      cmocka_unit_test(version_4_has_no_pairs),
      cmocka_unit_test(pairs_of_5_to_8_channels_are_one_cluster),
      cmocka_unit_test(wider_pairs_are_pieces),
      cmocka_unit_test(impossible_pairs_are_faults),
      cmocka_unit_test(unconnected_links_are_faults),
      cmocka_unit_test(banks_are_refused_or_empty),
      cmocka_unit_test(rows_are_source_ids_or_found_by_them),
      cmocka_unit_test(random_halfwords_give_clusters_within_their_sipms),
      cmocka_unit_test(every_id_of_the_truth_is_decoded),
  };
  return cmocka_run_group_tests(tests, read_nominal, forget);
}
