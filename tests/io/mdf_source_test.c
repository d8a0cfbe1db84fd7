/* mdf_source_test.c: io.mdf_source on valid and damaged contents. */
#include "mdf_source_case.h"

/* ------------------------------------------------------------------------------------------------ good files */

static void events_are_in_order_for_every_slice_size(void **state) {
  (void)state;
  struct bytes file = simple_file(1, 101);
  uint64_t digests[101];
  for (uint32_t events_max = 1; events_max <= 64; events_max += 21) {
    driver.events_max = events_max;
    assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
    assert_int_equal(driver.seen_count, 101);
    assert_numbered(0, 101, 1);
    for (uint32_t i = 0; i < 101; i++) {
      assert_int_equal(driver.seen[i].slice, i / events_max);
      if (events_max == 1) digests[i] = driver.seen[i].digest;
      assert_int_equal(driver.seen[i].digest, digests[i]);
      assert_int_equal(driver.seen[i].event.run, 1000);
    }
    assert_int_equal(driver.progress_done, file.size);
    assert_int_equal(driver.progress_total, file.size);
    assert_string_equal(driver.messages, "");
  }
  bytes_free(&file);
}

/* Long and short records, so that windows end at their limits of bytes and of records, with each kind of fault that
 * moves later records: a wrong checksum, a header copied into a record, missing bytes. */
static struct bytes many_records(void) {
  enum { LONG_BANK = 60000, LONG_BANKS = 3, RECORDS = 300, LONG_RECORDS = 60 };
  static const uint8_t zeros[LONG_BANK];
  struct bytes file = {0};
  for (uint32_t i = 0; i < RECORDS; i++) {
    struct bytes body = {0};
    const struct record_style style = {.version = 3, .run = 7, .no_checksum = i % 2 == 0};
    add_odin(&body, 7, 7, i);
    add_clusters(&body, 0, 3, i);
    for (uint32_t k = 0; i < LONG_RECORDS && k < LONG_BANKS; k++) add_bank(&body, 255, 1, 0, zeros, LONG_BANK);
    const size_t at = add_record(&file, &body, &style);
    if (i % 50 == 31) file.data[at + 60] ^= 4;                     /* in a record with a checksum */
    if (i == 111) memcpy(file.data + at + 60, file.data + at, 48); /* a header within another record */
    if (i == 150) file.size -= 8;                                  /* the end of the record is missing */
    bytes_free(&body);
  }
  return file;
}

static void results_do_not_depend_on_workers(void **state) {
  (void)state;
  struct bytes file = many_records();
  static const uint32_t workers[] = {1, 2, 8};
  static struct seen first[2000];
  uint32_t count = 0;
  char *messages = NULL;
  for (size_t i = 0; i < sizeof workers / sizeof *workers; i++) {
    driver.workers = workers[i];
    driver.events_max = 1 + 7 * (uint32_t)i;
    driver_set(&driver, "passes", 3);
    assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
    if (i == 0) {
      count = driver.seen_count;
      assert_in_range(count, 890, 2000);
      memcpy(first, driver.seen, count * sizeof *first);
      messages = strdup(driver.messages);
      assert_non_null(strstr(messages, "the checksum is"));
      assert_non_null(strstr(messages, "no readable record header"));
    }
    assert_int_equal(driver.seen_count, count);
    assert_string_equal(driver.messages, messages);
    assert_int_equal(driver.progress_done, 3 * file.size);
    for (uint32_t e = 0; e < count; e++) {
      first[e].slice = driver.seen[e].slice;
      assert_memory_equal(&driver.seen[e], &first[e], sizeof first[e]);
    }
  }
  free(messages);
  bytes_free(&file);
}

static void header_versions_give_run_and_number(void **state) {
  (void)state;
  struct bytes file = {0}, odin = {0}, none = {0};
  add_odin(&odin, 6, 31, 0x700000001ull);
  add_clusters(&none, 0, 3, 1);
  for (uint32_t version = 0; version < 4; version++) {
    const struct record_style style = {.version = version, .run = 32, .trigger_number = 0x2100000000ull};
    add_record(&file, &odin, &style);
    add_record(&file, &none, &style);
  }
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_int_equal(driver.seen_count, 8);
  for (uint32_t i = 0; i < 8; i++) {
    const uint32_t version = i / 2, has_odin = i % 2 == 0, has_run = version == 1 || version == 3;
    assert_int_equal(driver.seen[i].event.error, SL_EVENT_OK);
    assert_int_equal(driver.seen[i].event.run, has_run ? 32 : has_odin ? 31 : 0);
    assert_int_equal(driver.seen[i].event.number, has_odin ? 0x700000001ull : version == 0 ? 0x2100000000ull : i);
  }
  bytes_free(&file);
  bytes_free(&odin);
  bytes_free(&none);
}

static void other_banks_and_the_daq_status_bank_are_skipped(void **state) {
  (void)state;
  struct bytes file = {0}, body = {0}, bare = {0};
  add_bank(&body, 15, 16, 0, "a status bank in front of the others, 48 bytes..", 48);
  add_bank(&body, 0, 1, 0, "zero", 4);
  add_odin(&body, 7, 1, 2);
  add_bank(&body, 255, 1, 0, "unknown", 7);
  add_clusters(&body, 4, 5, 6);
  add_bank(&body, 89, 0, 0, "", 0);
  add_odin(&bare, 7, 1, 2);
  add_clusters(&bare, 4, 5, 6);
  add_record(&file, &body, &(struct record_style){.version = 3});
  add_record(&file, &bare, &(struct record_style){.version = 3});
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_int_equal(driver.seen_count, 2);
  assert_int_equal(driver.seen[0].event.error, SL_EVENT_OK);
  assert_int_equal(driver.seen[0].digest, driver.seen[1].digest);
  bytes_free(&file);
  bytes_free(&body);
  bytes_free(&bare);
}

static void payload_padding_is_zero(void **state) {
  (void)state;
  struct bytes file = {0}, body = {0};
  uint64_t digests[2];
  for (int dirty = 0; dirty < 2; dirty++) {
    file.size = body.size = 0;
    add_bank(&body, 73, 3, 1, "12345", 5);
    if (dirty) memset(body.data + body.size - 3, 0xee, 3);
    add_record(&file, &body, &(struct record_style){.version = 3});
    assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
    digests[dirty] = driver.seen[0].digest;
  }
  assert_int_equal(digests[0], digests[1]);
  bytes_free(&file);
  bytes_free(&body);
}

static void tae_record_is_its_central_crossing(void **state) {
  (void)state;
  struct bytes file = {0}, body = {0}, crossings = {0};
  int32_t triplets[9];
  for (int i = 0; i < 3; i++) {
    triplets[3 * i] = i - 1;
    triplets[3 * i + 1] = (int32_t)crossings.size;
    add_odin(&crossings, 7, 1, (uint64_t)(100 + i));
    add_clusters(&crossings, 0, (uint32_t)(i + 1), 9);
    triplets[3 * i + 2] = (int32_t)crossings.size - triplets[3 * i + 1];
  }
  add_bank(&body, 48, 0, 0, triplets, sizeof triplets);
  bytes_add(&body, crossings.data, crossings.size);
  add_record(&file, &body, &(struct record_style){.version = 3});
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_int_equal(driver.seen_count, 1);
  assert_int_equal(driver.seen[0].event.number, 101);
  assert_int_equal(driver.seen[0].banks[DRIVER_odin], 1);
  assert_int_equal(driver.seen[0].words[DRIVER_velo_clusters], 2);
  bytes_free(&file);
  bytes_free(&body);
  bytes_free(&crossings);
}

static void several_files_and_passes_are_one_stream(void **state) {
  (void)state;
  struct bytes contents[3] = {simple_file(1, 5), {0}, simple_file(6, 3)};
  struct memory_file files[3];
  const char *paths[3];
  contents[0].data[contents[0].size - 40] ^= 1; /* event 5 has a wrong checksum in each pass */
  for (int i = 0; i < 3; i++) {
    files[i] = memory_file_new(contents[i].data, contents[i].size);
    paths[i] = files[i].path;
  }
  driver_set(&driver, "passes", 3);
  assert_int_equal(driver_run(&driver, paths, 3), 0);
  assert_int_equal(driver.seen_count, 24);
  for (uint32_t pass = 0; pass < 3; pass++) {
    assert_numbered(8 * pass, 8 * pass + 4, 1);
    assert_int_equal(driver.seen[8 * pass + 4].event.error, SL_EVENT_CORRUPT);
    assert_numbered(8 * pass + 5, 8 * pass + 8, 6);
    assert_int_equal(driver.seen[8 * pass + 3].event.file, 0);
    assert_int_equal(driver.seen[8 * pass + 5].event.file, 2);
    assert_int_equal(driver.seen[8 * pass + 5].event.offset, 0);
  }
  assert_int_equal(driver.seen[3].slice, driver.seen[0].slice);
  assert_int_equal(driver.seen[8].slice, 2); /* slices continue across files and passes */
  assert_message("is empty");
  assert_int_equal(driver.progress_done, 3 * (contents[0].size + contents[2].size));
  assert_null(strstr(strstr(driver.messages, "checksum") + 1, "checksum")); /* reported once, in the first pass */
  for (int i = 0; i < 3; i++) {
    memory_file_free(&files[i]);
    bytes_free(&contents[i]);
  }
}

/* ------------------------------------------------------------------------------------------------ budgets */

static void slice_ends_when_a_budget_is_used_up(void **state) {
  (void)state;
  struct bytes file = simple_file(1, 20);
  driver.events_max = 64;
  driver.bank_capacity[DRIVER_velo_clusters] = 8; /* room for two events of three banks */
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_int_equal(driver.seen_count, 20);
  assert_numbered(0, 20, 1);
  for (uint32_t i = 0; i < 20; i++) assert_int_equal(driver.seen[i].slice, i / 2);
  driver.bank_capacity[DRIVER_velo_clusters] = 4096;
  driver.word_capacity[DRIVER_velo_clusters] = 87; /* the largest event needs 84 */
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_numbered(0, 20, 1);
  assert_true(driver.slices > 8);
  bytes_free(&file);
}

static void event_that_fits_no_slice_is_too_large_with_its_reason(void **state) {
  (void)state;
  struct bytes file = {0}, body = {0};
  add_simple_record(&file, 1);
  add_odin(&body, 7, 1000, 2);
  for (uint16_t i = 0; i < 4; i++) add_clusters(&body, i, 50, i);
  const size_t offset = add_record(&file, &body, &(struct record_style){.version = 3, .run = 1000});
  add_simple_record(&file, 3);
  driver.word_capacity[DRIVER_velo_clusters] = 199;
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_int_equal(driver.seen_count, 3);
  assert_numbered(0, 1, 1);
  assert_int_equal(driver.seen[1].event.error, SL_EVENT_TOO_LARGE);
  assert_int_equal(driver.seen[1].event.number, 2);
  assert_int_equal(driver.seen[1].event.offset, offset);
  assert_message(
      "has 200 words of velo_clusters, an event may have 199 (a higher budget velo_clusters_words allows more)");
  assert_numbered(2, 3, 3);
  driver.word_capacity[DRIVER_velo_clusters] = 200;
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_int_equal(driver.seen[1].event.error, SL_EVENT_OK);
  driver.bank_capacity[DRIVER_velo_clusters] = 3;
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_message("has 4 banks of velo_clusters, an event may have 3");
  bytes_free(&file);
  bytes_free(&body);
}

static void kinds_that_are_not_read_take_no_memory(void **state) {
  (void)state;
  struct bytes file = simple_file(1, 10);
  driver.events_max = 64;
  driver.not_read[DRIVER_velo_clusters] = 1;
  driver.bank_capacity[DRIVER_velo_clusters] = driver.word_capacity[DRIVER_velo_clusters] = 0;
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_int_equal(driver.seen_count, 10);
  assert_int_equal(driver.slices, 1);
  assert_int_equal(driver.seen[9].event.number, 10);
  assert_int_equal(driver.seen[9].banks[DRIVER_odin], 1);
  assert_int_equal(driver.absent_kinds, DRIVER_KINDS - 2); /* ODIN is present, clusters are not read */
  /* The number of words is limited even if only the bank headers are read, because other capacities derive from it. */
  driver.not_read[DRIVER_velo_clusters] = 2;
  driver.bank_capacity[DRIVER_velo_clusters] = 100;
  driver.word_capacity[DRIVER_velo_clusters] = 87;
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_numbered(0, 10, 1);
  assert_true(driver.slices > 4);
  assert_int_equal(driver.absent_kinds, DRIVER_KINDS - 2);
  bytes_free(&file);
}

/* ------------------------------------------------------------------------------------------------ bad files */

static void wrong_checksum_is_a_corrupt_event_and_the_run_continues(void **state) {
  (void)state;
  struct bytes file = simple_file(1, 60);
  uint32_t length;
  memcpy(&length, file.data, 4);
  file.data[length + 60] ^= 0x10; /* in ODIN of event 2 */
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_int_equal(driver.seen_count, 60);
  assert_numbered(0, 1, 1);
  assert_int_equal(driver.seen[1].event.error, SL_EVENT_CORRUPT);
  assert_int_equal(driver.seen[1].event.offset, length);
  assert_int_equal(driver.seen[1].event.number, 1); /* its index in the file, because its contents are damaged */
  assert_numbered(2, 60, 3);
  char text[64];
  snprintf(text, sizeof text, "record at byte %u (event 1): the checksum is 0x", length);
  assert_message(text);
  assert_message("warning: ");
  driver_set(&driver, "checksum", 0);
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_int_equal(driver.seen[1].event.error, SL_EVENT_OK);
  bytes_free(&file);
}

static void broken_banks_are_a_corrupt_event_also_without_checksum(void **state) {
  (void)state;
  for (int no_checksum = 0; no_checksum < 2; no_checksum++) {
    struct bytes file = simple_file(1, 3);
    uint32_t length;
    memcpy(&length, file.data, 4);
    file.data[length + 48 + 48] = 0; /* magic of the second bank of event 2 */
    if (no_checksum)
      memset(file.data + length + 12, 0, 4);
    else
      sign_record(&file, length);
    assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
    assert_int_equal(driver.seen_count, 3);
    assert_int_equal(driver.seen[1].event.error, SL_EVENT_CORRUPT);
    assert_int_equal(driver.seen[1].event.run, 1000);
    assert_message("bank at byte 48 of the body: magic 0xcb00, expected 0xcbcb");
    assert_numbered(2, 3, 3);
    bytes_free(&file);
  }
}

static void record_without_banks_or_with_a_mep_is_corrupt(void **state) {
  (void)state;
  struct bytes file = {0}, body = {0};
  add_record(&file, &body, &(struct record_style){.version = 3});
  const size_t mep = add_simple_record(&file, 1), level = add_simple_record(&file, 2);
  add_simple_record(&file, 3);
  file.data[mep + 18] = 2;
  file.data[level + 16] = 12;
  sign_record(&file, mep);
  sign_record(&file, level);
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_int_equal(driver.seen_count, 4);
  for (int i = 0; i < 3; i++) assert_int_equal(driver.seen[i].event.error, SL_EVENT_CORRUPT);
  assert_message("the record has no banks");
  assert_message("data type 2 is not raw banks");
  assert_message("unknown compression level 12");
  assert_numbered(3, 4, 3);
  bytes_free(&file);
}

static void skipped_bytes_are_one_corrupt_event(void **state) {
  (void)state;
  struct bytes file = simple_file(1, 10);
  uint32_t first, second;
  memcpy(&first, file.data, 4);
  memcpy(&second, file.data + first, 4);
  memset(file.data + first, 0xa5, second + 12); /* all of event 2 and the lengths of event 3 */
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_int_equal(driver.seen_count, 9);
  assert_numbered(0, 1, 1);
  assert_int_equal(driver.seen[1].event.error, SL_EVENT_CORRUPT);
  assert_int_equal(driver.seen[1].event.offset, first);
  assert_numbered(2, 9, 4);
  assert_message("no readable record header");
  bytes_free(&file);
}

/* The header of another record overwrites the end of a record; its length happens to lead to a valid record. */
static void copied_header_hides_no_record(void **state) {
  (void)state;
  struct bytes file = {0};
  size_t offsets[5];
  for (uint32_t k = 0; k < 5; k++) offsets[k] = add_simple_record(&file, k + 1);
  const size_t at = offsets[2] - 60;
  const uint32_t length = (uint32_t)(offsets[4] - at);
  memcpy(file.data + at, file.data, 48);
  for (int i = 0; i < 3; i++) memcpy(file.data + at + (size_t)(4 * i), &length, 4);
  memset(file.data + offsets[1], 0, 20); /* the search then finds the copy first */
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_numbered(0, 1, 1);
  assert_int_equal(driver.seen[1].event.error, SL_EVENT_CORRUPT);
  assert_int_equal(driver.seen[driver.seen_count - 3].event.offset, offsets[2]);
  assert_numbered(driver.seen_count - 3, driver.seen_count, 3);
  bytes_free(&file);
}

static void truncated_record_is_a_truncated_event(void **state) {
  (void)state;
  struct bytes file = simple_file(1, 3);
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size - 1), 0);
  assert_int_equal(driver.seen_count, 3);
  assert_numbered(0, 2, 1);
  assert_int_equal(driver.seen[2].event.error, SL_EVENT_TRUNCATED);
  assert_int_equal(driver.seen[2].event.run, 1000);
  assert_message("the file ends after ");
  bytes_free(&file);
}

static void strict_ends_the_run_at_a_bad_event(void **state) {
  (void)state;
  struct bytes file = simple_file(1, 8);
  driver_set(&driver, "strict", 1);
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  file.data[file.size - 1] ^= 1;
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), SL_ESTRICT);
  assert_message("error: ");
  assert_message("the checksum is");
  bytes_free(&file);
}

static void kinds_of_faults_differ_in_their_format(void **state) {
  (void)state;
  struct bytes file = {0};
  const size_t offset = add_simple_record(&file, 0);
  file.data[offset + 70] ^= 1;
  add_simple_record(&file, 1);
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size - 1), 0);
  assert_int_equal(driver.seen_count, 2);
  assert_message("record at byte 0 (event 0): the checksum is");
  assert_message("(event 1): truncated: the file ends");
  bytes_free(&file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(events_are_in_order_for_every_slice_size),
      CASE(results_do_not_depend_on_workers),
      CASE(header_versions_give_run_and_number),
      CASE(other_banks_and_the_daq_status_bank_are_skipped),
      CASE(payload_padding_is_zero),
      CASE(tae_record_is_its_central_crossing),
      CASE(several_files_and_passes_are_one_stream),
      CASE(slice_ends_when_a_budget_is_used_up),
      CASE(event_that_fits_no_slice_is_too_large_with_its_reason),
      CASE(kinds_that_are_not_read_take_no_memory),
      CASE(wrong_checksum_is_a_corrupt_event_and_the_run_continues),
      CASE(broken_banks_are_a_corrupt_event_also_without_checksum),
      CASE(record_without_banks_or_with_a_mep_is_corrupt),
      CASE(skipped_bytes_are_one_corrupt_event),
      CASE(copied_header_hides_no_record),
      CASE(truncated_record_is_a_truncated_event),
      CASE(strict_ends_the_run_at_a_bad_event),
      CASE(kinds_of_faults_differ_in_their_format),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
