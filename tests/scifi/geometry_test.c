/* scifi.geometry from files: values of valid files, and invalid files of every kind. */
#include "scifi/event_model.h"
#include "scratch.h"

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
  MAT_FIELDS = 13,
  AT_MODULES = 5 * 4, /* offsets in the file */
  AT_MATS = AT_MODULES + 48 * 4,
  AT_BANKS = AT_MATS + 8,
  AT_FORMAT = AT_BANKS + 4,
  AT_BANK = AT_FORMAT + 4,
  AT_LINK = AT_BANK + 240 * 4, /* of format 1 */
  TABLE_BYTES = 4 + MAT_FIELDS * 1536 * 4,
  AT_TABLE_0 = AT_BANK + 240 * 4,
  AT_TABLE_1 = AT_LINK + 240 * 24 * 4,
  BYTES_0 = AT_TABLE_0 + TABLE_BYTES,
  BYTES_1 = AT_TABLE_1 + TABLE_BYTES
};

static char folder[SCRATCH_PATH_MAX];

static unsigned char *put_u32(unsigned char *at, uint32_t value) {
  memcpy(at, &value, sizeof value);
  return at + sizeof value;
}
static void put_f32(unsigned char *at, float value) { memcpy(at, &value, sizeof value); }

static uint32_t modules_of(uint32_t quarter) { return quarter < 32 ? 5 : 6; }

static uint32_t channel_of(uint32_t quarter, uint32_t sipm) { return (quarter + 16) << 14 | sipm << 7; }

/* The first SiPM of each bank: in stations 1 and 2 a bank has the 16 SiPMs of a module, in station 3 most have 20. */
static uint32_t first_sipm(uint32_t bank) { return bank < 160 ? bank % 5 * 16 : bank % 5 ? bank % 5 * 20 - 4 : 0; }

/* A valid geometry: every value of a mat encodes its position. Has room for one more byte, for a file that is too
 * long. */
static unsigned char *good_bytes(uint32_t format) {
  static unsigned char bytes[BYTES_1 + 1];
  static const uint32_t numbers[] = {3, 4, 12, 4, 48};
  unsigned char *at = bytes;
  memset(bytes, 0, sizeof bytes);
  for (int i = 0; i < 5; i++) at = put_u32(at, numbers[i]);
  for (uint32_t quarter = 0; quarter < 48; quarter++) at = put_u32(at, modules_of(quarter));
  at = put_u32(at, 4);
  at = put_u32(at, 1024);
  at = put_u32(at, 240);
  at = put_u32(at, format);
  for (uint32_t bank = 0; bank < 240; bank++)
    at = put_u32(at, format ? 0x4000 - bank : channel_of(bank / 5, first_sipm(bank)));
  for (uint32_t i = 0; format && i < 240 * 24; i++) at = put_u32(at, i % 24 < 3 ? channel_of(i / 120, i % 24) : 0x3800);
  at = put_u32(at, 1536);
  for (uint32_t i = 0; i < MAT_FIELDS * 1536; i++) put_f32(at + 4 * i, 0.5f * (float)i);
  return bytes;
}

static struct sl_test *run(int expected) {
  struct sl_test *t = sl_test_new(SCIFI_PLUGIN, "geometry");
  sl_test_set_text(t, "path", folder);
  const int status = sl_test_run(t);
  if (status != expected) print_message("%s\n", sl_test_messages(t));
  assert_int_equal(status, expected);
  return t;
}

/* The file is refused with a message that contains each of the texts. */
static void assert_refused(int status, const char *first, const char *second) {
  struct sl_test *t = run(status);
  const char *messages = sl_test_messages(t);
  if (!strstr(messages, "scifi_geometry.bin") || !strstr(messages, first) || !strstr(messages, second))
    fail_msg("expected the file's name, %s and %s in: %s", first, second, messages);
  sl_test_free(t);
}

static void assert_mats(const struct sl_test *t, const unsigned char *table) {
#define ASSERT_ARRAY(name, type, shape, unit, doc)                                        \
  assert_int_equal(sl_test_output_count(t, "geometry", #name), 1536);                     \
  assert_memory_equal(sl_test_output(t, "geometry", #name), table, 1536 * sizeof(float)); \
  table += 1536 * sizeof(float);
  SCIFI_MAT_FIELDS(ASSERT_ARRAY)
}

static void every_value_of_format_0_is_read_into_its_field(void **state) {
  (void)state;
  scratch_write(folder, "scifi_geometry.bin", good_bytes(0), BYTES_0);
  struct sl_test *t = run(SL_OK);
  assert_mats(t, good_bytes(0) + AT_TABLE_0 + 4);
  const uint32_t *links = sl_test_output(t, "geometry", "link_channel");
  for (uint32_t bank = 0; bank < 240; bank++) {
    const uint32_t in_quarter = modules_of(bank / 5) * 16;
    const uint32_t end = bank % 5 == 4 ? in_quarter : first_sipm(bank + 1);
    for (uint32_t k = 0; k < 24; k++) {
      const uint32_t sipm = first_sipm(bank) + k;
      assert_int_equal(links[24 * bank + k], sipm < end ? channel_of(bank / 5, sipm) : 0x3800);
    }
  }
  assert_int_equal(*(const uint32_t *)sl_test_output(t, "geometry", "format"), 0);
  sl_test_free(t);
}

static void every_value_of_format_1_is_read_into_its_field(void **state) {
  (void)state;
  scratch_write(folder, "scifi_geometry.bin", good_bytes(1), BYTES_1);
  struct sl_test *t = run(SL_OK);
  assert_mats(t, good_bytes(1) + AT_TABLE_1 + 4);
  assert_memory_equal(sl_test_output(t, "geometry", "source_id"), good_bytes(1) + AT_BANK, 240 * 4);
  assert_memory_equal(sl_test_output(t, "geometry", "link_channel"), good_bytes(1) + AT_LINK, 240 * 24 * 4);
  assert_int_equal(*(const uint32_t *)sl_test_output(t, "geometry", "format"), 1);
  sl_test_free(t);
}

static void a_folder_without_the_file_is_an_error(void **state) {
  (void)state;
  char path[SCRATCH_PATH_MAX + 32];
  snprintf(path, sizeof path, "%s/scifi_geometry.bin", folder);
  remove(path);
  assert_refused(SL_EIO, folder, "no such file");
}

static void a_file_of_another_size_is_refused(void **state) {
  (void)state;
  scratch_write(folder, "scifi_geometry.bin", good_bytes(0), BYTES_0 - 1);
  assert_refused(SL_EFORMAT, "ends at byte 81063", "fibre_dy");
  scratch_write(folder, "scifi_geometry.bin", good_bytes(0), BYTES_0 + 1);
  assert_refused(SL_EFORMAT, "has 81065 bytes", "expected 81064");
  scratch_write(folder, "scifi_geometry.bin", good_bytes(0), 0);
  assert_refused(SL_EFORMAT, "ends at byte 0", "stations");
  scratch_write(folder, "scifi_geometry.bin", good_bytes(1), BYTES_0);
  assert_refused(SL_EFORMAT, "ends at byte 81064", "sipm_pitch");
}

static void a_wrong_number_is_refused_with_found_and_expected_values(void **state) {
  (void)state;
  static const struct {
    size_t at;
    const char *expected;
  } numbers[] = {{0, "stations is 4711, expected 3"},
                 {8, "layers is 4711, expected 12"},
                 {AT_MODULES + 31 * 4, "expected 5"},
                 {AT_MODULES + 32 * 4, "expected 6"},
                 {AT_MATS, "mats of a module is 4711, expected 4"},
                 {AT_BANKS, "banks is 4711, expected 240"},
                 {AT_FORMAT, "at most 1"},
                 {AT_TABLE_0, "expected 1536"}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    unsigned char *bytes = good_bytes(0);
    put_u32(bytes + numbers[i].at, 4711);
    scratch_write(folder, "scifi_geometry.bin", bytes, BYTES_0);
    assert_refused(SL_EFORMAT, "4711", numbers[i].expected);
  }
}

static void sipms_that_do_not_exist_are_refused(void **state) {
  (void)state;
  const uint32_t channels[] = {0, channel_of(0, 0) + 1, channel_of(0, 80), channel_of(48, 0)};
  for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
    unsigned char *bytes = good_bytes(0);
    put_u32(bytes + AT_BANK + 4 * 7, channels[i]);
    scratch_write(folder, "scifi_geometry.bin", bytes, BYTES_0);
    assert_refused(SL_EFORMAT, "bank 7", "does not exist");
    bytes = good_bytes(1);
    put_u32(bytes + AT_LINK + 4 * (24 * 9 + 23), channels[i]);
    scratch_write(folder, "scifi_geometry.bin", bytes, BYTES_1);
    assert_refused(SL_EFORMAT, "bank 9", "does not exist");
  }
  unsigned char *bytes = good_bytes(1);
  put_u32(bytes + AT_BANK, 65536);
  scratch_write(folder, "scifi_geometry.bin", bytes, BYTES_1);
  assert_refused(SL_EFORMAT, "source id of bank", "65536");
}

static void unusable_numbers_are_refused(void **state) {
  (void)state;
  static const size_t places[] = {AT_TABLE_0 + 4, AT_TABLE_0 + 4 + 1536 * 20, BYTES_0 - 4};
  const uint32_t not_a_number = 0x7FC00000;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    unsigned char *bytes = good_bytes(0);
    put_u32(bytes + places[i], not_a_number);
    scratch_write(folder, "scifi_geometry.bin", bytes, BYTES_0);
    assert_refused(SL_EFORMAT, "nan", "expected");
    bytes = good_bytes(0);
    put_f32(bytes + places[i], 1e30f);
    scratch_write(folder, "scifi_geometry.bin", bytes, BYTES_0);
    assert_refused(SL_EFORMAT, "1e+30", "expected");
  }
}

static int make_folder(void **state) {
  (void)state;
  scratch_folder(folder);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_value_of_format_0_is_read_into_its_field),
      cmocka_unit_test(every_value_of_format_1_is_read_into_its_field),
      cmocka_unit_test(a_folder_without_the_file_is_an_error),
      cmocka_unit_test(a_file_of_another_size_is_refused),
      cmocka_unit_test(a_wrong_number_is_refused_with_found_and_expected_values),
      cmocka_unit_test(sipms_that_do_not_exist_are_refused),
      cmocka_unit_test(unusable_numbers_are_refused),
  };
  return cmocka_run_group_tests(tests, make_folder, NULL);
}
