/* mdf_compressed_test.c: io.mdf_source on records with compressed bodies. */
#include "source_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct driver driver;

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

static void assert_message(const char *text) {
  if (!strstr(driver.messages, text)) fail_msg("no message holds \"%s\"; they are:\n%s", text, driver.messages);
}

/* Checks that event `index` is valid and has the number. */
static void assert_sound(uint32_t index, uint64_t number) {
  assert_true(index < driver.seen_count);
  assert_int_equal(driver.seen[index].event.error, SL_EVENT_OK);
  assert_int_equal(driver.seen[index].event.number, number);
}

static struct bytes large_body(void) {
  struct bytes body = {0};
  add_odin(&body, 7, 1, 2);
  for (uint16_t i = 0; i < 30; i++) add_clusters(&body, i, 40, i % 3);
  return body;
}

static void compressed_events_equal_plain_ones(void **state) {
  (void)state;
  struct bytes file = {0}, body = large_body();
  for (uint32_t codec = NO_CODEC; codec <= WITH_ZSTD; codec++)
    add_record(&file, &body, &(struct record_style){.version = 3, .codec = codec, .expansion = 15});
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_int_equal(driver.seen_count, 5);
  for (uint32_t i = 0; i < 5; i++) {
    assert_int_equal(driver.seen[i].event.error, SL_EVENT_OK);
    assert_int_equal(driver.seen[i].event.number, 2);
    assert_int_equal(driver.seen[i].digest, driver.seen[0].digest);
    assert_int_equal(driver.seen[i].words[DRIVER_velo_clusters], 1200);
  }
  bytes_free(&file);
  bytes_free(&body);
}

/* Files of the experiment have a factor of 0 for any ratio. */
static void wrong_expansion_factor_is_one_warning(void **state) {
  (void)state;
  for (uint32_t codec = WITH_ZLIB; codec <= WITH_ZSTD; codec++) {
    struct bytes file = {0}, body = large_body();
    for (int i = 0; i < 3; i++)
      add_record(&file, &body, &(struct record_style){.version = 3, .codec = codec, .expansion = 0});
    assert_true(file.size < 2 * body.size); /* three records, each less than 2/3 of its body */
    driver_set(&driver, "passes", 2);
    assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
    assert_int_equal(driver.seen_count, 6);
    for (uint32_t i = 0; i < 6; i++) {
      assert_int_equal(driver.seen[i].event.error, SL_EVENT_OK);
      assert_int_equal(driver.seen[i].words[DRIVER_velo_clusters], 1200);
    }
    assert_message("warning: ");
    assert_message("(factor 1), but the body has 5088; the factor is only a hint");
    assert_null(strstr(strstr(driver.messages, "factor 1") + 1, "factor 1"));
    bytes_free(&file);
    bytes_free(&body);
  }
}

static void body_larger_than_the_property_is_too_large_with_its_reason(void **state) {
  (void)state;
  struct bytes file = {0}, body = large_body();
  add_record(&file, &body, &(struct record_style){.version = 3, .codec = WITH_ZLIB, .expansion = 15});
  add_simple_record(&file, 3);
  driver_set(&driver, "uncompressed_bytes", (double)body.size - 1);
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_int_equal(driver.seen_count, 2);
  assert_int_equal(driver.seen[0].event.error, SL_EVENT_TOO_LARGE);
  assert_message(
      "too large: the body has 5088 bytes uncompressed, the limit is 5087 (a higher uncompressed_bytes "
      "allows more)");
  assert_sound(1, 3);
  driver_set(&driver, "uncompressed_bytes", (double)body.size);
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_int_equal(driver.seen[0].event.error, SL_EVENT_OK);
  bytes_free(&file);
  bytes_free(&body);
}

static void broken_compressed_bodies_are_corrupt_events(void **state) {
  (void)state;
  for (uint32_t codec = WITH_ZLIB; codec <= WITH_ZSTD; codec++) {
    struct bytes file = {0}, body = large_body();
    const size_t offset = add_record(
        &file, &body, &(struct record_style){.version = 3, .codec = codec, .expansion = 15, .no_checksum = 1});
    add_simple_record(&file, 3);
    memset(file.data + offset + 48 + 9 + 8, 0x55, 12);
    assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
    assert_int_equal(driver.seen_count, 2);
    assert_int_equal(driver.seen[0].event.error, SL_EVENT_CORRUPT);
    assert_message("the compressed body cannot be decompressed");
    assert_sound(1, 3);
    bytes_free(&file);
    bytes_free(&body);
  }
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      CASE(compressed_events_equal_plain_ones),
      CASE(wrong_expansion_factor_is_one_warning),
      CASE(body_larger_than_the_property_is_too_large_with_its_reason),
      CASE(broken_compressed_bodies_are_corrupt_events),
  };
  return cmocka_run_group_tests_name("mdf_compressed", tests, NULL, NULL);
}
