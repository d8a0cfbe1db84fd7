/* stream_test.c: pipes that are much longer than the range of addresses through which they are read. Their events must
 * be those of the same bytes in a file: records of all kinds, damaged ones, packets, in pieces of several sizes. The
 * plugin of this test has a range of 64 KiB. */
#include "mep_writer.h"
#include "source_driver.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANGE_BYTES = 1 << 16, TIMES = 50 }; /* a pipe is at least so many ranges long */

static struct driver driver;

static void start(const char *algorithm) { driver_start_from(&driver, SMALL_PLUGIN, algorithm); }

static int start_mdf(void **state) {
  (void)state;
  start("mdf_source");
  return 0;
}

static int start_mep(void **state) {
  (void)state;
  start("mep_source");
  return 0;
}

static int stop(void **state) {
  (void)state;
  driver_stop(&driver);
  return 0;
}

static void check(struct bytes *file) {
  static const size_t pieces[] = {1 << 20, 4093, 70001};
  const struct memory_file f = memory_file_new(file->data, file->size);
  const char *const paths[] = {f.path};
  driver.events_max = 16;
  assert_true(file->size > (size_t)TIMES * RANGE_BYTES);
  assert_int_equal(driver_run(&driver, paths, 1), 0);
  const uint32_t count = driver.seen_count;
  const uint64_t done = driver.progress_done;
  struct seen *whole = driver.seen;
  driver.seen = NULL;
  driver.seen_count = driver.seen_capacity = 0;
  for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++) {
    assert_int_equal(driver_run_pipe(&driver, file, pieces[p]), 0);
    assert_int_equal(driver.seen_count, count);
    for (uint32_t i = 0; i < count; i++)
      if (!seen_is_same(&whole[i], &driver.seen[i]))
        fail_msg("event %u of the file is at byte %llu, of the pipe at byte %llu: %s", i,
                 (unsigned long long)whole[i].event.offset, (unsigned long long)driver.seen[i].event.offset,
                 driver.messages);
    assert_int_equal(driver.progress_done, done);
  }
  free(whole);
  memory_file_free((struct memory_file *)&f);
  bytes_free(file);
}

/* Records of 300 bytes to 30 kB, with damage in each `damaged`-th one. */
static struct bytes records(uint32_t codec, uint32_t no_checksum, uint32_t damaged) {
  struct bytes file = {0};
  for (uint32_t i = 0; file.size < (size_t)TIMES * RANGE_BYTES + 1000; i++) {
    struct bytes body = {0};
    add_odin(&body, 7, 1, i);
    for (uint16_t b = 0; b < 2; b++) add_clusters(&body, b, 10 + i * 7919 % 3500, i + b);
    const struct record_style style = {.version = 3, .run = 1, .codec = codec, .no_checksum = no_checksum};
    const size_t at = add_record(&file, &body, &style);
    if (damaged && i % damaged == 3) file.data[at + i % 100] ^= 0x55; /* header or body */
    bytes_free(&body);
  }
  return file;
}

static void records_of_a_long_pipe_are_those_of_a_file(void **state) {
  (void)state;
  struct bytes file = records(NO_CODEC, 0, 0);
  check(&file);
  file = records(NO_CODEC, 1, 0);
  check(&file);
}

static void compressed_records_of_a_long_pipe_are_those_of_a_file(void **state) {
  (void)state;
  struct bytes file = records(WITH_LZ4, 0, 0);
  check(&file);
}

static void damaged_records_of_a_long_pipe_are_those_of_a_file(void **state) {
  (void)state;
  struct bytes file = records(NO_CODEC, 0, 17);
  check(&file);
}

static void packets_of_a_long_pipe_are_those_of_a_file(void **state) {
  (void)state;
  for (uint32_t in_record = 0; in_record < 2; in_record++) {
    struct bytes file = {0};
    const struct packet_style style = {.alignment = 2, .in_record = in_record, .signed_record = in_record};
    for (uint32_t i = 0; file.size < (size_t)TIMES * RANGE_BYTES + 1000; i++) {
      struct packet_style own = style;
      own.event_id = 8ull * i;
      add_simple_packet(&file, &own, 8ull * i, 1 + i % 8);
    }
    check(&file);
  }
}

static void a_record_larger_than_the_range_is_an_error(void **state) {
  (void)state;
  struct bytes file = {0}, body = {0};
  add_simple_record(&file, 1);
  add_odin(&body, 7, 1, 2);
  for (uint16_t i = 0; i < 6; i++) add_clusters(&body, i, 4000, i);
  add_record(&file, &body, &(struct record_style){.version = 3, .run = 1});
  assert_int_equal(driver_run_pipe(&driver, &file, 1 << 20), SL_EIO);
  assert_non_null(
      strstr(driver.messages, ": a record exceeds the address space of 65536 bytes reserved for this pipe"));
  bytes_free(&body);
  bytes_free(&file);
}

int main(void) {
#define CASE(name, start) cmocka_unit_test_setup_teardown(name, start, stop)
  signal(SIGPIPE, SIG_IGN); /* a run that fails closes its pipe */
  const struct CMUnitTest tests[] = {
      CASE(records_of_a_long_pipe_are_those_of_a_file, start_mdf),
      CASE(compressed_records_of_a_long_pipe_are_those_of_a_file, start_mdf),
      CASE(damaged_records_of_a_long_pipe_are_those_of_a_file, start_mdf),
      CASE(packets_of_a_long_pipe_are_those_of_a_file, start_mep),
      CASE(a_record_larger_than_the_range_is_an_error, start_mdf),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
