/* sinks_test.c: files written by io.mdf_sink and io.mep_sink are read back; files that cannot be written completely. */
#define _GNU_SOURCE
#include "mep_writer.h"
#include "scratch.h"
#include "sink_driver.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { EVENTS = 40 };

static struct driver source;
static struct sink_driver sink;
static char folder[SCRATCH_PATH_MAX], path[SCRATCH_PATH_MAX + 16], part[SCRATCH_PATH_MAX + 32];
static struct bytes original; /* an MDF file of EVENTS events */

static void begin(const char *sink_name) {
  driver_start(&source);
  sink_start(&sink, sink_name);
  scratch_folder(folder);
  snprintf(path, sizeof path, "%s/out", folder);
  snprintf(part, sizeof part, "%s.part", path);
  original = (struct bytes){0};
  add_packet_records(&original, 1, EVENTS);
}

static int start_mdf(void **state) {
  (void)state;
  begin("mdf_sink");
  return 0;
}

static int start_mep(void **state) {
  (void)state;
  begin("mep_sink");
  return 0;
}

static int stop(void **state) {
  (void)state;
  bytes_free(&original);
  sink_stop(&sink);
  driver_stop(&source);
  return 0;
}

static void assert_message(const char *text) {
  if (!strstr(source.messages, text)) fail_msg("no message holds \"%s\"; they are:\n%s", text, source.messages);
}

static int exists(const char *name) {
  struct stat status;
  return stat(name, &status) == 0;
}

/* Checks that the source reads from the written file the events that io.mdf_source reads from the original. */
static void assert_reads_back(const char *source_name, uint32_t event_count) {
  struct bytes written = read_whole(path);
  struct driver back, mdf;
  driver_start_with(&back, source_name);
  driver_start(&mdf);
  assert_int_equal(driver_run_bytes(&back, written.data, written.size), 0);
  assert_int_equal(driver_run_bytes(&mdf, original.data, original.size), 0);
  assert_string_equal(back.messages, "");
  assert_int_equal(back.seen_count, event_count);
  uint32_t from = 0;
  for (uint32_t i = 0; i < event_count; i++, from++) {
    while (from < mdf.seen_count && mdf.seen[from].event.error) from++;
    assert_true(from < mdf.seen_count);
    assert_int_equal(back.seen[i].event.error, SL_EVENT_OK);
    assert_int_equal(back.seen[i].event.number, mdf.seen[from].event.number);
    assert_int_equal(back.seen[i].event.run, mdf.seen[from].event.run);
    assert_int_equal(back.seen[i].digest, mdf.seen[from].digest);
  }
  driver_stop(&back);
  driver_stop(&mdf);
  bytes_free(&written);
}

static void copy_original(void) {
  assert_int_equal(sink_copy(&sink, &source, original.data, original.size, path), 0);
  assert_string_equal(source.messages, "");
  assert_true(sink.finished && !exists(part));
  assert_int_equal(sink.events, EVENTS);
  struct stat status;
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(sink.bytes, status.st_size);
}

/* ------------------------------------------------------------------------------------------------ MDF */

static void plain_copy_is_equal(void **state) {
  (void)state;
  copy_original();
  struct bytes written = read_whole(path);
  assert_int_equal(written.size, original.size);
  assert_memory_equal(written.data, original.data, original.size);
  bytes_free(&written);
}

static void header_made_for_a_packet_agrees_with_odin(void **state) {
  (void)state;
  driver_stop(&source);
  driver_start_with(&source, "mep_source");
  for (uint32_t version = 6; version <= 7; version++) {
    uint32_t odin[10] = {4711};
    odin[version == 6 ? 2 : 7] = 0x89abcdef;
    odin[version == 6 ? 8 : 6] = 0xfffff000u | 3563;
    struct bytes file = {0}, body = {0};
    add_bank(&body, 16, (uint8_t)version, 0, odin, sizeof odin);
    add_packet(&file, &(struct packet_style){.alignment = 2}, &body, 1);
    assert_int_equal(sink_copy(&sink, &source, file.data, file.size, path), 0);
    struct bytes written = read_whole(path);
    uint32_t words[12];
    memcpy(words, written.data, sizeof words);
    for (int i = 0; i < 3; i++) assert_int_equal(words[i], 48 + 48);
    assert_int_equal(words[3], reference_checksum(written.data + 16, written.size - 16));
    assert_int_equal(words[4], 0x00013700);
    for (int i = 5; i < 9; i++) assert_int_equal(words[i], 0xffffffff);
    assert_int_equal(words[9], 4711);
    assert_int_equal(words[10], 0x89abcdef);
    assert_int_equal(words[11], 3563);
    bytes_free(&written);
    bytes_free(&body);
    bytes_free(&file);
  }
}

static void every_codec_and_level_reads_back(void **state) {
  (void)state;
  static const char *const tags[] = {"ZS", "L4", "ZL", "XZ"};
  /* Bodies that compress well; one body, of zeros, has a factor that the record header cannot express. */
  for (uint32_t i = 0; i < 2; i++) {
    static const uint8_t zeros[60000];
    struct bytes body = {0};
    add_odin(&body, 7, 1000, 1000 + i);
    if (i == 0)
      for (uint16_t k = 0; k < 50; k++) add_bank(&body, 73, 3, k, "the same text in every bank", 28);
    else
      add_bank(&body, 73, 3, 0, zeros, sizeof zeros);
    add_record(&original, &body, &(struct record_style){.version = 3, .run = 1000});
    bytes_free(&body);
  }
  for (uint32_t codec = 0; codec < 4; codec++)
    for (uint32_t level = 1; level <= 9; level += 4) {
      sink_set(&sink, "codec", codec);
      sink_set(&sink, "compression", level);
      assert_int_equal(sink_copy(&sink, &source, original.data, original.size, path), 0);
      assert_reads_back("mdf_source", EVENTS + 2);
      struct bytes written = read_whole(path);
      assert_true(written.size < original.size);
      uint32_t compressed = 0;
      for (size_t at = 0; at < written.size;) {
        uint32_t length;
        memcpy(&length, written.data + at, 4);
        if (written.data[at + 16] & 0xf) {
          assert_int_equal(written.data[at + 16] & 0xf, level);
          assert_memory_equal(written.data + at + 48, tags[codec], 2);
          compressed++;
        }
        at += length;
      }
      assert_true(compressed > 0);
      bytes_free(&written);
    }
}

static void records_are_written_without_checksum_if_requested(void **state) {
  (void)state;
  sink_set(&sink, "checksum", 2);
  copy_original();
  struct bytes written = read_whole(path);
  for (size_t at = 0; at < written.size;) {
    uint32_t words[4];
    memcpy(words, written.data + at, sizeof words);
    assert_int_equal(words[3], 0);
    at += words[0];
  }
  bytes_free(&written);
  assert_reads_back("mdf_source", EVENTS);
}

static void records_larger_than_the_buffer_are_written(void **state) {
  (void)state;
  enum { BANKS = 150, BANK_BYTES = 65000 };
  uint8_t *payload = malloc(BANK_BYTES);
  assert_non_null(payload);
  memset(payload, 0x5a, BANK_BYTES);
  struct bytes body = {0};
  for (uint16_t i = 0; i < BANKS; i++) add_bank(&body, 32, 2, i, payload, BANK_BYTES);
  add_record(&original, &body, &(struct record_style){.version = 3, .run = 1000});
  add_packet_records(&original, 90, 2);
  source.word_capacity[DRIVER_mc_particles] = BANKS * BANK_BYTES / 4;
  assert_int_equal(sink_copy(&sink, &source, original.data, original.size, path), 0);
  struct bytes written = read_whole(path);
  assert_int_equal(written.size, original.size);
  assert_memory_equal(written.data, original.data, original.size);
  bytes_free(&written);
  bytes_free(&body);
  free(payload);
}

/* ------------------------------------------------------------------------------------------------ events */

/* The first event has a wrong checksum; the third is marked as refused by a kernel. */
static void copy_with_errors(void) {
  original.data[60] ^= 1;
  sink.flip_error_of = 3;
  assert_int_equal(sink_copy(&sink, &source, original.data, original.size, path), 0);
}

static void events_with_errors_are_copied_to_records_as_they_were_read(void **state) {
  (void)state;
  copy_with_errors();
  assert_int_equal(sink.events, EVENTS);
  assert_int_equal(sink.omitted, 0);
  assert_int_equal(sink.with_errors, 2);
  struct bytes written = read_whole(path);
  assert_int_equal(written.size, original.size);
  assert_memory_equal(written.data, original.data, original.size);
  bytes_free(&written);
}

static void packets_contain_refused_events_and_omit_unreadable_events(void **state) {
  (void)state;
  copy_with_errors();
  assert_int_equal(sink.events, EVENTS - 1);
  assert_int_equal(sink.omitted, 1);
  assert_int_equal(sink.with_errors, 1);
  assert_true(sink.banks_omitted > 0);
  assert_reads_back("mep_source", EVENTS - 1);
}

/* Copies with a sink on a list: the fourth, the seventh, ... event. The first (unreadable) and the third (refused) are
 * on no list. Returns the number of listed events. */
static uint32_t copy_list(double with_errors) {
  sink.list_every = 3;
  sink_set(&sink, "with_errors", with_errors);
  copy_with_errors();
  return (EVENTS - 1) / 3;
}

static void packets_of_a_list_omit_events_with_errors(void **state) {
  (void)state;
  const uint32_t listed = copy_list(0);
  assert_int_equal(sink.events, listed);
  assert_int_equal(sink.with_errors, 0);
}

/* The unreadable event has no banks for a packet; the refused event is written first, as it was read. */
static void packets_of_a_list_contain_events_with_errors_if_requested(void **state) {
  (void)state;
  const uint32_t listed = copy_list(1);
  assert_int_equal(sink.events, listed + 1);
  assert_int_equal(sink.with_errors, 1);
  assert_int_equal(sink.omitted, 1);
  struct bytes written = read_whole(path);
  struct driver back, mdf;
  driver_start_with(&back, "mep_source");
  driver_start(&mdf);
  assert_int_equal(driver_run_bytes(&back, written.data, written.size), 0);
  assert_int_equal(driver_run_bytes(&mdf, original.data, original.size), 0);
  assert_int_equal(back.seen_count, listed + 1);
  for (uint32_t i = 0; i <= listed; i++) {
    const uint32_t from = i == 0 ? 2 : 3 * i;
    assert_int_equal(back.seen[i].event.error, SL_EVENT_OK);
    assert_int_equal(back.seen[i].event.number, mdf.seen[from].event.number);
    assert_int_equal(back.seen[i].digest, mdf.seen[from].digest);
  }
  driver_stop(&back);
  driver_stop(&mdf);
  bytes_free(&written);
}

/* ------------------------------------------------------------------------------------------------ MEP */

static void packets_of_any_number_of_events_read_back(void **state) {
  (void)state;
  static const uint32_t events[] = {1, 3, 40, 64, 65535};
  for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
    sink_set(&sink, "events", events[i]);
    copy_original();
    assert_reads_back("mep_source", EVENTS);
  }
}

static void packet_is_equal_to_one_made_by_hand(void **state) {
  (void)state;
  struct bytes expected = {0};
  for (uint32_t first = 0; first < EVENTS; first += 15) {
    const uint32_t count = EVENTS - first < 15 ? EVENTS - first : 15;
    add_simple_packet(&expected, &(struct packet_style){.alignment = 2, .event_id = first}, 1 + first, count);
  }
  sink_set(&sink, "events", 15);
  copy_original();
  struct bytes written = read_whole(path);
  assert_int_equal(written.size, expected.size);
  assert_memory_equal(written.data, expected.data, expected.size);
  bytes_free(&written);
  bytes_free(&expected);
}

static void sources_that_appear_disappear_and_change_version_are_read_back(void **state) {
  (void)state;
  original.size = 0;
  for (uint32_t i = 0; i < EVENTS; i++) {
    struct bytes body = {0};
    add_odin(&body, i < 25 ? 6 : 7, 1000, i);
    for (uint16_t k = 0; k < 5; k++)
      if (i % (k + 2u) == 0) add_bank(&body, k % 2 ? 63 : 73, (uint8_t)(i < 11 ? 3 : 4), k, &i, 4);
    add_record(&original, &body, &(struct record_style){.version = 3, .run = 1000});
    bytes_free(&body);
  }
  copy_original();
  assert_reads_back("mep_source", EVENTS);
}

/* ------------------------------------------------------------------------------------------------ the output */

static void output_that_cannot_be_created_is_named_in_the_error(void **state) {
  (void)state;
  assert_int_equal(sink_copy(&sink, &source, original.data, original.size, NULL), SL_EINVAL);
  assert_message("no output file is given: use -o, or the property path");
  assert_int_equal(sink_copy(&sink, &source, original.data, original.size, "/nonexistent/out"), SL_EIO);
  assert_message("/nonexistent/out: cannot create it: /nonexistent: No such file or directory");
  assert_int_equal(sink_copy(&sink, &source, original.data, original.size, folder), SL_EIO);
  assert_message("cannot create it: Is a directory");
}

static void path_can_be_a_property_and_an_old_file_is_replaced_at_the_end(void **state) {
  (void)state;
  sink_set_text(&sink, "path", path);
  FILE *old = fopen(path, "wb");
  assert_non_null(old);
  fputs("old", old);
  fclose(old);
  assert_int_equal(sink_copy(&sink, &source, original.data, original.size, NULL), 0);
  assert_reads_back("mdf_source", EVENTS);
}

static void full_device_is_an_error_with_offset_and_reason(void **state) {
  (void)state;
  if (access("/dev/full", W_OK) != 0) skip();
  assert_int_equal(sink_copy(&sink, &source, original.data, original.size, "/dev/full"), SL_EIO);
  assert_message("/dev/full: cannot write after 0 bytes: No space left on device");
}

/* Records of 60 kB, so that the buffer of the sink is written several times. */
enum { RECORDS = 600, BANK_BYTES = 60000 };
static void make_large_original(void) {
  uint8_t *payload = malloc(BANK_BYTES);
  assert_non_null(payload);
  for (uint32_t i = 0; i < BANK_BYTES; i++) payload[i] = (uint8_t)(i * 7);
  original.size = 0;
  for (uint32_t i = 0; i < RECORDS; i++) {
    struct bytes body = {0};
    add_odin(&body, 7, 1000, i);
    add_bank(&body, 32, 2, 0, payload, BANK_BYTES);
    add_record(&original, &body, &(struct record_style){.version = 3, .run = 1000, .no_checksum = 1});
    bytes_free(&body);
  }
  free(payload);
}

/* Reads PATH.part: all events must be valid, except the last if it may be truncated. Returns the number of valid
 * events. */
static uint32_t read_part(const char *source_name, uint32_t last_may_be_cut) {
  struct driver back;
  assert_false(exists(path));
  struct bytes written = read_whole(part);
  driver_start_with(&back, source_name);
  assert_int_equal(driver_run_bytes(&back, written.data, written.size), 0);
  uint32_t count = back.seen_count;
  while (last_may_be_cut && count && back.seen[count - 1].event.error == SL_EVENT_TRUNCATED) count--;
  for (uint32_t i = 0; i < count; i++) {
    assert_int_equal(back.seen[i].event.error, SL_EVENT_OK);
    assert_int_equal(back.seen[i].event.number, i);
  }
  driver_stop(&back);
  bytes_free(&written);
  return count;
}

/* The disk becomes full in the middle of the second buffer. */
static void full_disk_leaves_whole_events(const char *source_name) {
  make_large_original();
  struct rlimit old_limit, limit;
  getrlimit(RLIMIT_FSIZE, &old_limit);
  limit = old_limit;
  limit.rlim_cur = 200 * BANK_BYTES;
  void (*old_handler)(int) = signal(SIGXFSZ, SIG_IGN);
  /* Made before the limit is set, which also applies to files in memory. */
  struct memory_file input = memory_file_new(original.data, original.size);
  setrlimit(RLIMIT_FSIZE, &limit);
  const int result = sink_copy_file(&sink, &source, input.path, path);
  setrlimit(RLIMIT_FSIZE, &old_limit);
  signal(SIGXFSZ, old_handler);
  memory_file_free(&input);
  assert_int_equal(result, SL_EIO);
  assert_message("cannot write after 12000000 bytes: File too large; it keeps the first ");
  const uint32_t count = read_part(source_name, 0);
  char text[64];
  snprintf(text, sizeof text, "it keeps the first %u events", count);
  assert_message(text);
  assert_true(count >= 100 && count < 200);
}

static void full_disk_leaves_whole_records(void **state) {
  (void)state;
  full_disk_leaves_whole_events("mdf_source");
}

static void full_disk_leaves_whole_packets(void **state) {
  (void)state;
  sink_set(&sink, "events", 50);
  full_disk_leaves_whole_events("mep_source");
}

static void killed_run_leaves_whole_events(const char *source_name) {
  make_large_original();
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    sink.kill_after = 400;
    (void)sink_copy(&sink, &source, original.data, original.size, path);
    _exit(1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  const uint32_t count = read_part(source_name, 1);
  assert_true(count > 200 && count <= 400);
}

static void killed_run_leaves_whole_records(void **state) {
  (void)state;
  killed_run_leaves_whole_events("mdf_source");
}

static void killed_run_leaves_whole_packets(void **state) {
  (void)state;
  sink_set(&sink, "events", 50);
  killed_run_leaves_whole_events("mep_source");
}

int main(void) {
#define MDF(name) cmocka_unit_test_setup_teardown(name, start_mdf, stop)
#define MEP(name) cmocka_unit_test_setup_teardown(name, start_mep, stop)
  const struct CMUnitTest tests[] = {
      MDF(plain_copy_is_equal),
      MDF(header_made_for_a_packet_agrees_with_odin),
      MDF(every_codec_and_level_reads_back),
      MDF(records_are_written_without_checksum_if_requested),
      MDF(records_larger_than_the_buffer_are_written),
      MDF(events_with_errors_are_copied_to_records_as_they_were_read),
      MEP(packets_contain_refused_events_and_omit_unreadable_events),
      MEP(packets_of_a_list_omit_events_with_errors),
      MEP(packets_of_a_list_contain_events_with_errors_if_requested),
      MEP(packets_of_any_number_of_events_read_back),
      MEP(packet_is_equal_to_one_made_by_hand),
      MEP(sources_that_appear_disappear_and_change_version_are_read_back),
      MDF(output_that_cannot_be_created_is_named_in_the_error),
      MEP(output_that_cannot_be_created_is_named_in_the_error),
      MDF(path_can_be_a_property_and_an_old_file_is_replaced_at_the_end),
      MDF(full_device_is_an_error_with_offset_and_reason),
      MEP(full_device_is_an_error_with_offset_and_reason),
      MDF(full_disk_leaves_whole_records),
      MEP(full_disk_leaves_whole_packets),
      MDF(killed_run_leaves_whole_records),
      MEP(killed_run_leaves_whole_packets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
