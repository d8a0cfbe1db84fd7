/* mdf_damage_test.c: io.mdf_source on damaged files must neither crash nor hang, and must deliver every event of an
 * undamaged record unchanged.
 *
 * Files: records made by the test; if the shared data are present, also a few banks of each event of the LHCb sample,
 * and the whole sample. */
#include "damage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct driver driver;

static struct original original_by_hand(void) {
  struct original o = {.driver = &driver};
  for (uint64_t i = 0; i < 12; i++) add_simple_record(&o.file, 100 + i);
  original_read(&o);
  return o;
}

/* Copies, for each event of the sample, the first banks of the types that the source reads. */
static struct original original_from_sample(const struct bytes *sample) {
  enum { BANKS_MAX = 12 };
  struct original o = {.driver = &driver};
  for (size_t offset = 0; offset < sample->size;) {
    uint32_t length, taken[256] = {0};
    memcpy(&length, sample->data + offset, 4);
    struct bytes body = {0};
    for (size_t at = offset + 48; at < offset + length;) {
      const uint8_t *bank = sample->data + at;
      const uint32_t bank_bytes = bank[2] | (uint32_t)bank[3] << 8;
      if (bank_bytes < 1000 && (bank[4] == 16 || bank[4] == 63 || bank[4] == 73) && taken[bank[4]]++ < BANKS_MAX)
        bytes_add(&body, bank, (bank_bytes + 3) & ~3u);
      at += (bank_bytes + 3) & ~3u;
    }
    add_record(&o.file, &body, &(struct record_style){.version = 3, .run = 6718861});
    bytes_free(&body);
    offset += length;
  }
  original_read(&o);
  return o;
}

/* After one changed byte, the number of events is unchanged, and exactly the damaged one has an error. */
static int survives_flip(const struct original *o, const struct damage *d) {
  if (!survives(o, d) || o->driver->seen_count != o->record_count) return 0;
  for (uint32_t i = 0; i < o->record_count; i++) {
    const int touched = o->begin[i] <= d->begin && d->begin < o->begin[i + 1];
    if ((o->driver->seen[i].event.error != 0) != touched || o->driver->seen[i].event.offset != o->begin[i]) return 0;
  }
  return 1;
}

/* ------------------------------------------------------------------------------------------------ cases */

static struct bytes sample;

static void small_buffers(void) {
  for (uint32_t kind = 0; kind < DRIVER_KINDS; kind++) {
    driver.bank_capacity[kind] = 256;
    driver.word_capacity[kind] = 4096;
  }
}

static void one_changed_byte_loses_only_its_event(void **state) {
  (void)state;
  small_buffers();
  struct original o = original_by_hand();
  damage_run_cases(&o, damage_flip, survives_flip, 10000);
  bytes_free(&o.file);
}

static void damaged_range_loses_only_the_events_in_it(void **state) {
  (void)state;
  small_buffers();
  struct original o = original_by_hand();
  damage_run_cases(&o, damage_stretch, survives, 10000);
  bytes_free(&o.file);
}

static void damage_to_banks_of_samples_loses_only_the_damaged_events(void **state) {
  (void)state;
  if (!sample.size) skip();
  small_buffers();
  struct original o = original_from_sample(&sample);
  damage_run_cases(&o, damage_flip, survives_flip, 5000);
  damage_run_cases(&o, damage_stretch, survives, 5000);
  bytes_free(&o.file);
}

static void every_prefix_gives_the_records_that_it_contains(void **state) {
  (void)state;
  if (!sample.size) skip();
  struct original o = {.driver = &driver, .file = sample};
  driver_set(&driver, "checksum", 0);
  original_read(&o);
  for (uint32_t cut = 0; cut <= 1000; cut++) {
    /* Cuts evenly spread, then close to the ends of records. */
    size_t size = sample.size * cut / 800;
    if (cut > 800) size = o.begin[1 + (cut - 801) / 40] + (cut - 801) % 40 * 3 - 60;
    if (size > sample.size) size = sample.size;
    const int result = driver_run_bytes(&driver, sample.data, size);
    if (size < 20) {
      assert_int_equal(result, SL_EFORMAT);
      continue;
    }
    assert_int_equal(result, 0);
    uint32_t whole = 0;
    while (whole < o.record_count && o.begin[whole + 1] <= size) whole++;
    const uint32_t cut_one = o.begin[whole] < size;
    assert_int_equal(driver.seen_count, whole + cut_one);
    for (uint32_t i = 0; i < whole; i++) assert_int_equal(driver.seen[i].digest, o.seen[i].digest);
    if (cut_one) assert_int_equal(driver.seen[whole].event.error, SL_EVENT_TRUNCATED);
  }
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
  sample = shared_file("lhcb/minbias.mdf");
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      CASE(one_changed_byte_loses_only_its_event),
      CASE(damaged_range_loses_only_the_events_in_it),
      CASE(damage_to_banks_of_samples_loses_only_the_damaged_events),
      CASE(every_prefix_gives_the_records_that_it_contains),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  bytes_free(&sample);
  return failed;
}
