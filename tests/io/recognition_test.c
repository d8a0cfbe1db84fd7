/* recognition_test.c: which source accepts a file, from its first bytes, even if they are only a part of the first
 * record: a packet of the experiment is larger than the bytes shown. */
#include "mep_writer.h"
#include "source_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { HEADER_BYTES = 48, DATA_TYPE_AT = 18, EVENTS = 40 };

static struct driver mdf, mep;

static int start(void **state) {
  (void)state;
  driver_start_with(&mdf, "mdf_source");
  driver_start_with(&mep, "mep_source");
  return 0;
}

static int stop(void **state) {
  (void)state;
  driver_stop(&mdf);
  driver_stop(&mep);
  return 0;
}

/* Checks that exactly the expected source accepts the first `count` bytes. */
static void assert_taken(const struct bytes *file, size_t count, const struct driver *by) {
  const int is_mdf = mdf.algorithm->source->probe(file->data, count) != 0;
  const int is_mep = mep.algorithm->source->probe(file->data, count) != 0;
  if (is_mdf != (by == &mdf) || is_mep != (by == &mep))
    fail_msg("%zu of %zu bytes: MDF %d, MEP %d", count, file->size, is_mdf, is_mep);
}

static void assert_taken_whatever_is_shown(const struct bytes *file, size_t least, const struct driver *by) {
  for (size_t count = least; count < least + 200; count++) assert_taken(file, count, by);
  for (size_t count = least; count <= file->size; count += 61) assert_taken(file, count, by);
  assert_taken(file, file->size, by);
}

static void packets_are_recognised_by_their_headers(void **state) {
  (void)state;
  static const struct packet_style styles[] = {
      {.alignment = 2},
      {.alignment = 2, .in_record = 1},
      {.alignment = 2, .in_record = 1, .signed_record = 1},
      {.is_prototype = 1},
      {.is_prototype = 1, .signed_record = 1},
  };
  for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
    struct bytes file = {0};
    const int has_record = styles[i].in_record || styles[i].is_prototype;
    for (uint32_t k = 0; k < 2; k++) add_simple_packet(&file, &styles[i], 1 + k * EVENTS, EVENTS);
    assert_taken_whatever_is_shown(&file, has_record ? HEADER_BYTES : 8, &mep);
    bytes_free(&file);
  }
}

static void packets_are_recognised_by_their_magic_number_without_data_type(void **state) {
  (void)state;
  struct bytes file = {0};
  add_simple_packet(&file, &(struct packet_style){.alignment = 2, .in_record = 1}, 1, EVENTS);
  file.data[DATA_TYPE_AT] = 1;
  assert_taken_whatever_is_shown(&file, HEADER_BYTES + 2, &mep);
  bytes_free(&file);
}

static void banks_are_recognised_by_their_headers(void **state) {
  (void)state;
  for (int damage = 0; damage < 2; damage++) {
    struct bytes file = {0}, body = {0};
    add_odin(&body, 7, 1000, 1);
    for (uint16_t i = 0; i < 5; i++) add_clusters(&body, i, 200, i);
    for (int i = 0; i < 4; i++) add_record(&file, &body, &(struct record_style){.version = 3});
    if (damage)
      file.data[DATA_TYPE_AT] = 2; /* the data type of a packet, but the body begins with the magic number of a bank */
    assert_taken_whatever_is_shown(&file, HEADER_BYTES + 2, &mdf);
    bytes_free(&file);
    bytes_free(&body);
  }
}

static void other_files_are_not_recognised(void **state) {
  (void)state;
  struct bytes file = {0};
  for (int i = 0; i < 100; i++) bytes_add(&file, "no packets here ", 16);
  for (size_t count = 8; count < file.size; count += 61) assert_taken(&file, count, NULL);
  assert_taken(&file, 0, &mdf);
  bytes_free(&file);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      CASE(packets_are_recognised_by_their_headers),
      CASE(packets_are_recognised_by_their_magic_number_without_data_type),
      CASE(banks_are_recognised_by_their_headers),
      CASE(other_files_are_not_recognised),
  };
  return cmocka_run_group_tests_name("recognition", tests, NULL, NULL);
}
