/* mdf_samples_test.c: io.mdf_source on sample events, compared with values of an independent reader and with the
 * descriptions of the samples. Skipped if the shared data are absent. */
#include "format/mdf.h"
#include "source_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct bytes minbias, velo_sample;
static struct driver driver;

/* Events 0 to 5 of the sample: record bytes, checksum, retina clusters, super-pixel words, MC particles. */
static const struct {
  uint32_t record_bytes, checksum, clusters, superpixel_words, particles;
} figures[] = {
    {349460, 0x29042afe, 3744, 5035, 1934}, {118096, 0xa931f0d3, 984, 1347, 599},
    {144796, 0xde830a2a, 1586, 2120, 690},  {150008, 0xe039419e, 1575, 2016, 717},
    {192368, 0x9598901c, 2340, 3062, 896},  {96292, 0xec1217ab, 746, 998, 458},
};
enum { FIGURES = sizeof figures / sizeof figures[0] };

static void records_and_checksums_are_as_published(void **state) {
  (void)state;
  if (!minbias.size) skip();
  struct mdf_reader reader = mdf_reader_start(minbias.data, minbias.size);
  struct mdf_record record;
  uint32_t count = 0;
  for (; mdf_next(&reader, &record); count++) {
    assert_true(count < FIGURES);
    assert_int_equal(record.fault.kind, MDF_FAULT_NONE);
    assert_int_equal(record.bytes, figures[count].record_bytes);
    assert_int_equal(record.checksum, figures[count].checksum);
    assert_int_equal(reference_checksum(minbias.data + record.offset + 16, record.bytes - 16), record.checksum);
  }
  assert_int_equal(count, FIGURES);
}

/* Sums over the banks of one type in a record, read without the tested code. */
struct bank_sums {
  uint32_t first_word;                 /* first word of the first bank */
  uint32_t first_words, payload_words; /* sums over all banks */
};

static struct bank_sums sum_banks(size_t offset, uint8_t type) {
  struct bank_sums sums = {0, 0, 0};
  uint32_t length;
  memcpy(&length, minbias.data + offset, 4);
  for (size_t at = offset + 48; at < offset + length;) {
    const uint8_t *bank = minbias.data + at;
    const uint32_t bytes = bank[2] | (uint32_t)bank[3] << 8;
    uint32_t word = 0;
    if (bytes >= 12) memcpy(&word, bank + 8, 4);
    if (bank[4] == type) {
      if (sums.payload_words == 0) sums.first_word = word;
      sums.first_words += word;
      sums.payload_words += (bytes - 8 + 3) / 4;
    }
    at += (bytes + 3) & ~3u;
  }
  return sums;
}

static void banks_arrive_with_the_published_numbers(void **state) {
  (void)state;
  if (!minbias.size) skip();
  assert_int_equal(driver_run_bytes(&driver, minbias.data, minbias.size), 0);
  assert_int_equal(driver.seen_count, FIGURES);
  for (uint32_t i = 0; i < FIGURES; i++) {
    const struct seen *s = &driver.seen[i];
    assert_int_equal(s->event.error, SL_EVENT_OK);
    assert_int_equal(s->event.run, 6718861);
    assert_int_equal(s->event.number, 6001 + i);
    assert_int_equal(s->banks[DRIVER_odin], 1);
    assert_int_equal(s->banks[DRIVER_velo_clusters], 208);
    assert_int_equal(s->banks[DRIVER_velo_superpixels], 208);
    assert_int_equal(s->banks[DRIVER_mc_vertices], 1);
    /* Each VELO bank begins with the number of its words: one per retina cluster, or one per group of super-pixels. */
    const struct bank_sums clusters = sum_banks(s->event.offset, 73), superpixels = sum_banks(s->event.offset, 63);
    assert_int_equal(clusters.first_words, figures[i].clusters);
    assert_int_equal(clusters.payload_words, clusters.first_words + 208);
    assert_int_equal(s->words[DRIVER_velo_clusters], clusters.payload_words);
    assert_int_equal(superpixels.first_words, figures[i].superpixel_words);
    assert_int_equal(superpixels.payload_words, superpixels.first_words + 208);
    assert_int_equal(s->words[DRIVER_velo_superpixels], superpixels.payload_words);
    assert_int_equal(sum_banks(s->event.offset, 32).first_word, figures[i].particles);
    assert_int_equal(s->words[DRIVER_mc_particles], sum_banks(s->event.offset, 32).payload_words);
  }
  assert_string_equal(driver.messages, "");
}

static void velo_sample_is_read_completely(void **state) {
  (void)state;
  if (!velo_sample.size) skip();
  driver.events_max = 64;
  assert_int_equal(driver_run_bytes(&driver, velo_sample.data, velo_sample.size), 0);
  assert_int_equal(driver.seen_count, 300);
  uint64_t words = 0, largest = 0;
  for (uint32_t i = 0; i < 300; i++) {
    const struct seen *s = &driver.seen[i];
    assert_int_equal(s->event.error, SL_EVENT_OK);
    assert_int_equal(s->event.run, 900001);
    assert_int_equal(s->event.number, i + 1);
    assert_int_equal(s->banks[DRIVER_velo_clusters], 208);
    const uint64_t clusters = s->words[DRIVER_velo_clusters] - 208;
    words += clusters;
    if (clusters > largest) largest = clusters;
  }
  assert_int_equal(words, 576590);
  assert_int_equal(largest, 5797);
  assert_string_equal(driver.messages, "");
}

static int start(void **state) {
  (void)state;
  driver_start(&driver);
  return 0;
}

static int stop(void **state) {
  (void)state;
  driver_stop(&driver);
  return 0;
}

int main(void) {
  minbias = shared_file("lhcb/minbias.mdf");
  velo_sample = shared_file("velo/minbias_300.mdf");
  if (!minbias.size && !velo_sample.size) return 77;
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      CASE(records_and_checksums_are_as_published),
      CASE(banks_arrive_with_the_published_numbers),
      CASE(velo_sample_is_read_completely),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  bytes_free(&minbias);
  bytes_free(&velo_sample);
  return failed;
}
