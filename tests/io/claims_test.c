/* claims_test.c: damaged headers with lengths that cover other records. Stray bytes before a record and damaged lengths
 * must lose no event of an undamaged record. The events must be equal for the whole file, for the parts listed by an
 * index, and for a pipe with its bytes in pieces of any size. Files: records with and without checksum, compressed
 * records, packets. */
#include "damage.h"
#include "mep_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { RECORDS = 4, PARTS_MAX = 64, PIPE_EVERY = 3 };

static struct driver driver;

static int start_mdf(void **state) {
  (void)state;
  driver_start_small(&driver, "mdf_source");
  return 0;
}

static int start_mep(void **state) {
  (void)state;
  driver_start_small(&driver, "mep_source");
  return 0;
}

static int stop(void **state) {
  (void)state;
  driver_stop(&driver);
  return 0;
}

/* ------------------------------------------------------------------------------------- ways to read a file */

struct parts {
  struct sl_input_range ranges[PARTS_MAX];
  uint64_t records, events;
  uint32_t count;
};

static int add_part(void *context, const struct sl_index_record *record) {
  struct parts *p = context;
  if (p->count == 0 || record->begins_part) {
    if (p->count == PARTS_MAX) return SL_EPLUGIN;
    p->ranges[p->count++] = (struct sl_input_range){record->first_byte, 0, p->records};
  }
  p->ranges[p->count - 1].bytes += record->bytes;
  p->records++;
  p->events += record->events;
  return 0;
}

__attribute__((format(printf, 3, 4))) static void drop(void *context, uint32_t severity, const char *format, ...) {
  (void)context;
  (void)severity;
  (void)format;
}

static int parts_are(const struct bytes *file, const struct seen *whole, uint32_t count) {
  struct memory_file f = memory_file_new(file->data, file->size);
  const char *const paths[] = {f.path};
  static struct parts parts;
  parts = (struct parts){0};
  const struct sl_index_calls calls = {sizeof calls, 0, &parts, add_part, drop};
  int right = driver_index(&driver, f.path, &calls) == 0 && parts.events == count;
  uint32_t done = 0;
  for (uint32_t i = 0; right && i < parts.count; i++) {
    driver.ranges = &parts.ranges[i];
    right = driver_run(&driver, paths, 1) == 0 && done + driver.seen_count <= count;
    for (uint32_t k = 0; right && k < driver.seen_count; k++) right = seen_is_same(&whole[done++], &driver.seen[k]);
  }
  driver.ranges = NULL;
  memory_file_free(&f);
  return right && done == count;
}

static int pipe_is(const struct bytes *file, size_t piece, const struct seen *whole, uint32_t count) {
  int right = driver_run_pipe(&driver, file, piece) == 0 && driver.seen_count == count;
  for (uint32_t k = 0; right && k < count; k++) right = seen_is_same(&whole[k], &driver.seen[k]);
  return right;
}

/* Reads a damaged file as a whole, in parts, and from a pipe. */
static void check(const struct original *o, const struct damage *d, const char *what) {
  static struct seen whole[EVENTS_MAX];
  static const size_t pieces[] = {1, 23, 211, 1000000};
  if (!survives(o, d)) fail_msg("%s: an event is lost: %s", what, driver.messages);
  const uint32_t count = driver.seen_count;
  assert_true(count <= EVENTS_MAX);
  memcpy(whole, driver.seen, count * sizeof *whole);
  if (!parts_are(&d->file, whole, count)) fail_msg("%s: parts differ: %s", what, driver.messages);
  static uint32_t cases;
  const size_t piece = pieces[cases++ / PIPE_EVERY % 4];
  if (cases % PIPE_EVERY == 0 && !pipe_is(&d->file, piece, whole, count))
    fail_msg("%s: a pipe in pieces of %zu differs: %s", what, piece, driver.messages);
}

/* ----------------------------------------------------------------------------------------------- damages */

/* Inserts `count` bytes before record i, or after the last record. */
static void check_stray(const struct original *o, uint32_t i, uint32_t count, uint32_t fill) {
  struct damage d = {.begin = o->begin[i], .end = o->begin[i], .moved = (ptrdiff_t)count};
  char what[100];
  bytes_add(&d.file, o->file.data, d.begin);
  for (uint32_t k = 0; k < count; k++) {
    const uint8_t byte = (uint8_t)(fill == 2 ? 37 * k + 11 : fill == 1 ? 0xff : 0);
    bytes_add(&d.file, &byte, 1);
  }
  bytes_add(&d.file, o->file.data + d.begin, o->file.size - d.begin);
  snprintf(what, sizeof what, "%u stray bytes of kind %u before record %u", count, fill, i);
  check(o, &d, what);
  bytes_free(&d.file);
}

static void check_strays(const struct original *o) {
  static const uint32_t counts[] = {1, 2, 4, 7, 8, 16, 19, 24, 61};
  for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
    for (uint32_t i = 0; i <= o->record_count; i++)
      for (uint32_t fill = 0; fill < 3; fill++) check_stray(o, i, counts[k], fill);
}

/* Sets the lengths of record i that `which` selects to `length`. */
static void check_length(const struct original *o, uint32_t i, uint32_t which, uint64_t length) {
  struct damage d = {.begin = o->begin[i], .end = o->begin[i] + 12};
  char what[100];
  const uint32_t word = (uint32_t)length;
  bytes_add(&d.file, o->file.data, o->file.size);
  for (uint32_t k = 0; k < 3; k++)
    if (which >> k & 1) memcpy(d.file.data + d.begin + 4 * k, &word, 4);
  snprintf(what, sizeof what, "lengths %u of record %u are %u", which, i, word);
  check(o, &d, what);
  bytes_free(&d.file);
}

/* Lengths that reach to the end of each later record, near it, and beyond the file. */
static void check_lengths(const struct original *o) {
  static const int32_t around[] = {-20, -4, 0, 1, 8, 19};
  for (uint32_t i = 0; i < o->record_count; i++)
    for (uint32_t to = i + 1; to <= o->record_count; to++)
      for (size_t k = 0; k < sizeof around / sizeof around[0]; k++)
        for (uint32_t which = 1; which < 8; which += 1 + which % 2) {
          const uint64_t length = o->begin[to] - o->begin[i];
          if (to == i + 1 && around[k] == 0) continue;
          check_length(o, i, which, length + (uint64_t)(int64_t)around[k]);
        }
}

/* Removes bytes at the end of record i, so that its length covers the first bytes of the next record. */
static void check_missing(const struct original *o) {
  for (uint32_t i = 0; i < o->record_count; i++)
    for (uint32_t count = 1; count <= 24; count++) {
      const size_t end = o->begin[i + 1];
      struct damage d = {.begin = end - count, .end = end, .moved = -(ptrdiff_t)count};
      char what[100];
      bytes_add(&d.file, o->file.data, d.begin);
      bytes_add(&d.file, o->file.data + end, o->file.size - end);
      snprintf(what, sizeof what, "%u bytes missing at the end of record %u", count, i);
      check(o, &d, what);
      bytes_free(&d.file);
    }
}

/* ------------------------------------------------------------------------------------------------- files */

static struct original original_of_records(uint32_t version, uint32_t codec, uint32_t no_checksum) {
  struct original o = {.driver = &driver};
  for (uint32_t i = 0; i < RECORDS; i++) {
    struct bytes body = {0};
    add_odin(&body, 7, 5, 900 + i);
    for (uint32_t k = 0; k < 1 + i % 3; k++) add_clusters(&body, (uint16_t)k, 3 + 2 * i, 100 * i + k);
    add_record(&o.file, &body,
               &(struct record_style){.version = version, .run = 5, .codec = codec, .no_checksum = no_checksum});
    bytes_free(&body);
  }
  original_read(&o);
  assert_int_equal(o.event_count, RECORDS);
  return o;
}

static void check_records(uint32_t version, uint32_t codec, uint32_t no_checksum) {
  struct original o = original_of_records(version, codec, no_checksum);
  check_strays(&o);
  check_lengths(&o);
  check_missing(&o);
  bytes_free(&o.file);
}

static void no_record_with_a_checksum_is_lost(void **state) {
  (void)state;
  check_records(3, NO_CODEC, 0);
  check_records(0, NO_CODEC, 0);
}

static void no_record_without_a_checksum_is_lost(void **state) {
  (void)state;
  check_records(3, NO_CODEC, 1);
  check_records(2, NO_CODEC, 1);
}

static void no_compressed_record_is_lost(void **state) {
  (void)state;
  check_records(3, WITH_ZSTD, 0);
  check_records(3, WITH_LZ4, 1);
}

/* The pipe stays open without further data. A record without checksum is accepted after half a second. */
static void the_last_record_of_a_pipe_is_delivered_without_further_data(void **state) {
  (void)state;
  for (uint32_t no_checksum = 0; no_checksum < 2; no_checksum++) {
    struct original o = original_of_records(3, NO_CODEC, no_checksum);
    int ends[2];
    char path[40];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], o.file.data, o.file.size), o.file.size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    const char *const paths[] = {path};
    driver.events_max = 1;
    driver.stop_after_slices = RECORDS;
    assert_int_equal(driver_run(&driver, paths, 1), 1);
    assert_int_equal(driver.seen_count, RECORDS);
    for (uint32_t i = 0; i < RECORDS; i++) assert_true(seen_is_same(&driver.seen[i], &o.seen[i]));
    driver.stop_after_slices = 0;
    close(ends[0]);
    close(ends[1]);
    bytes_free(&o.file);
  }
}

static struct original original_of_packets(struct packet_style style) {
  struct original o = {.driver = &driver};
  for (uint32_t i = 0; i < RECORDS; i++) {
    style.event_id = 10 * i;
    add_simple_packet(&o.file, &style, 10 * i, 1 + i);
  }
  original_read(&o);
  assert_int_equal(o.record_count, RECORDS);
  return o;
}

static void no_packet_in_a_record_is_lost(void **state) {
  (void)state;
  for (uint32_t is_signed = 0; is_signed < 2; is_signed++) {
    struct original o =
        original_of_packets((struct packet_style){.alignment = 2, .in_record = 1, .signed_record = is_signed});
    check_strays(&o);
    check_lengths(&o);
    bytes_free(&o.file);
  }
}

/* A packet has one length, in words, at byte 4. */
static void no_bare_packet_is_lost(void **state) {
  (void)state;
  struct original o = original_of_packets((struct packet_style){.alignment = 2});
  check_strays(&o);
  for (uint32_t i = 0; i < RECORDS; i++)
    for (uint32_t to = i + 1; to <= RECORDS; to++)
      for (int32_t around = -3; around <= 3; around++) {
        struct damage d = {.begin = o.begin[i], .end = o.begin[i] + 8};
        char what[100];
        const uint32_t words = (uint32_t)((o.begin[to] - o.begin[i]) / 4) + (uint32_t)around;
        if (to == i + 1 && around == 0) continue;
        bytes_add(&d.file, o.file.data, o.file.size);
        memcpy(d.file.data + d.begin + 4, &words, 4);
        snprintf(what, sizeof what, "packet %u has a length of %u words", i, words);
        check(&o, &d, what);
        bytes_free(&d.file);
      }
  bytes_free(&o.file);
}

int main(void) {
#define CASE(name, start) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      CASE(no_record_with_a_checksum_is_lost, start_mdf),
      CASE(no_record_without_a_checksum_is_lost, start_mdf),
      CASE(no_compressed_record_is_lost, start_mdf),
      CASE(the_last_record_of_a_pipe_is_delivered_without_further_data, start_mdf),
      CASE(no_packet_in_a_record_is_lost, start_mep),
      CASE(no_bare_packet_is_lost, start_mep),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
