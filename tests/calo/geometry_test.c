/* geometry_test.c: calo.geometry: valid files of both formats, and all ways for a file to be wrong. */
#include "calo/event_model.h"
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
  CARDS = 200,
  SOURCES = 4,
  SLOTS = SOURCES * CALO_BANK_CARDS,
  AT_FIRST_CARD = 4, /* offsets in the file */
  AT_CARD_CHANNELS = 8,
  AT_CELLS = 12,
  AT_PEDESTAL = 16,
  AT_CHANNELS = 20,
  AT_NEIGHBOURS = AT_CHANNELS + 4 + 2 * CALO_CARD_CHANNELS * CARDS,
  AT_XY = AT_NEIGHBOURS + 4 + 2 * CALO_NEIGHBOURS * CALO_CELLS,
  AT_GAIN = AT_XY + 4 + 8 * CALO_CELLS,
  AT_TO_LOCAL = AT_GAIN + 4 + 4 * CALO_CELLS,
  AT_PLANES = AT_TO_LOCAL + 4 + 4 * 12,
  AT_CELL_SIZE = AT_PLANES + 4 + 4 * 12,
  AT_AREAS = AT_CELL_SIZE + 4,
  AT_CARD_NUMBER = AT_AREAS + 4 + 4 * 4,
  AT_CARD_INDEX = AT_CARD_NUMBER + 4 + 4 * SLOTS,
  FILE_BYTES = AT_CARD_INDEX + 4 + 4 * SLOTS
};

static char folder[SCRATCH_PATH_MAX];
static unsigned char bytes[FILE_BYTES + 1];

static void put_u32(size_t at, uint32_t value) { memcpy(bytes + at, &value, sizeof value); }
static void put_u16(size_t at, uint32_t value) {
  const uint16_t half = (uint16_t)value;
  memcpy(bytes + at, &half, sizeof half);
}
static void put_f32(size_t at, float value) { memcpy(bytes + at, &value, sizeof value); }

/* A valid file of format 4: every value encodes its position. */
static void make_good(void) {
  put_u32(0, 4);
  put_u32(AT_FIRST_CARD, 100);
  put_u32(AT_CARD_CHANNELS, CALO_CARD_CHANNELS);
  put_u32(AT_CELLS, CALO_CELLS);
  put_f32(AT_PEDESTAL, 0.75f);
  put_u32(AT_CHANNELS, CALO_CARD_CHANNELS * CARDS);
  for (uint32_t i = 0; i < CALO_CARD_CHANNELS * CARDS; i++) put_u16(AT_CHANNELS + 4 + 2 * i, i);
  put_u32(AT_NEIGHBOURS, CALO_NEIGHBOURS * CALO_CELLS);
  for (uint32_t i = 0; i < CALO_NEIGHBOURS * CALO_CELLS; i++)
    put_u16(AT_NEIGHBOURS + 4 + 2 * i, i % 9 ? i % CALO_CELLS : CALO_NO_NEIGHBOUR);
  put_u32(AT_XY, 2 * CALO_CELLS);
  for (uint32_t i = 0; i < 2 * CALO_CELLS; i++) put_f32(AT_XY + 4 + 4 * i, 0.5f * (float)i - 3000.0f);
  put_u32(AT_GAIN, CALO_CELLS);
  for (uint32_t i = 0; i < CALO_CELLS; i++) put_f32(AT_GAIN + 4 + 4 * i, 1.0f + 0.25f * (float)i);
  put_u32(AT_TO_LOCAL, 12);
  put_u32(AT_PLANES, 12);
  for (uint32_t i = 0; i < 12; i++) {
    put_f32(AT_TO_LOCAL + 4 + 4 * i, 0.125f * (float)i);
    put_f32(AT_PLANES + 4 + 4 * i, 1.0f + (float)i);
  }
  put_f32(AT_CELL_SIZE, 100.0f);
  put_u32(AT_AREAS, 4);
  for (uint32_t i = 0; i < 4; i++) put_u32(AT_AREAS + 4 + 4 * i, i < 3 ? 1000 * i : CALO_CELLS);
  put_u32(AT_CARD_NUMBER, SLOTS);
  put_u32(AT_CARD_INDEX, SLOTS);
  for (uint32_t i = 0; i < SLOTS; i++) {
    put_u32(AT_CARD_NUMBER + 4 + 4 * i, 7 * i);
    put_u32(AT_CARD_INDEX + 4 + 4 * i, i == 5 ? CALO_NO_CARD : i == 6 ? UINT32_MAX : i);
  }
}

static struct sl_test *run(int expected) {
  struct sl_test *t = sl_test_new(CALO_PLUGIN, "geometry");
  sl_test_set_text(t, "path", folder);
  const int status = sl_test_run(t);
  if (status != expected) fail_msg("%d instead of %d: %s", status, expected, sl_test_messages(t));
  return t;
}

/* Checks that the file is refused with a message that has its name and both texts; then restores it. */
static void assert_refused(size_t size, const char *first, const char *second) {
  scratch_write(folder, "ecal_geometry.bin", bytes, size);
  struct sl_test *t = run(SL_EFORMAT);
  const char *messages = sl_test_messages(t);
  if (!strstr(messages, "ecal_geometry.bin") || !strstr(messages, first) || !strstr(messages, second))
    fail_msg("expected %s and %s in: %s", first, second, messages);
  sl_test_free(t);
  make_good();
}

static void assert_arrived(struct sl_test *t, const char *field, size_t at, size_t count, size_t each) {
  assert_int_equal(sl_test_output_count(t, "geometry", field), count);
  assert_memory_equal(sl_test_output(t, "geometry", field), bytes + at, count * each);
}

static void every_value_is_read_into_its_field(void **state) {
  (void)state;
  scratch_write(folder, "ecal_geometry.bin", bytes, FILE_BYTES);
  struct sl_test *t = run(SL_OK);
  const uint32_t *numbers = sl_test_output(t, "geometry", "numbers");
  assert_true(numbers[CALO_FORMAT] == 4 && numbers[CALO_FIRST_CARD] == 100 && numbers[CALO_CARDS] == CARDS &&
              numbers[CALO_SOURCES] == SOURCES);
  assert_arrived(t, "pedestal", AT_PEDESTAL, 1, 4);
  assert_arrived(t, "channels", AT_CHANNELS + 4, CALO_CARD_CHANNELS * CARDS, 2);
  assert_arrived(t, "neighbours", AT_NEIGHBOURS + 4, CALO_NEIGHBOURS * CALO_CELLS, 2);
  assert_arrived(t, "xy", AT_XY + 4, 2 * CALO_CELLS, 4);
  assert_arrived(t, "gain", AT_GAIN + 4, CALO_CELLS, 4);
  assert_arrived(t, "to_local", AT_TO_LOCAL + 4, 12, 4);
  assert_arrived(t, "planes", AT_PLANES + 4, 12, 4);
  assert_arrived(t, "cell_size", AT_CELL_SIZE, 1, 4);
  assert_arrived(t, "area_first", AT_AREAS + 4, 4, 4);
  assert_arrived(t, "card_number", AT_CARD_NUMBER + 4, SLOTS, 4);
  assert_arrived(t, "card_index", AT_CARD_INDEX + 4, SLOTS, 4);
  sl_test_free(t);
}

static void format_3_has_no_sources(void **state) {
  (void)state;
  put_u32(0, 3);
  scratch_write(folder, "ecal_geometry.bin", bytes, AT_CARD_NUMBER);
  struct sl_test *t = run(SL_OK);
  const uint32_t *numbers = sl_test_output(t, "geometry", "numbers");
  const int32_t *index = sl_test_output(t, "geometry", "card_index");
  assert_true(numbers[CALO_FORMAT] == 3 && numbers[CALO_SOURCES] == 0 && index[0] == CALO_NO_CARD);
  sl_test_free(t);
  assert_refused(FILE_BYTES, "has 193548 bytes", "expected 193444");
}

static void a_folder_without_the_file_is_an_error(void **state) {
  (void)state;
  char path[SCRATCH_PATH_MAX + 32];
  snprintf(path, sizeof path, "%s/ecal_geometry.bin", folder);
  remove(path);
  struct sl_test *t = run(SL_EIO);
  assert_non_null(strstr(sl_test_messages(t), "ecal_geometry.bin: there is no such file"));
  sl_test_free(t);
}

static void a_truncated_or_too_long_file_is_refused(void **state) {
  (void)state;
  static const size_t cuts[] = {
      0,           3,         19,           AT_CHANNELS + 2, AT_NEIGHBOURS + 3, AT_XY,
      AT_GAIN + 9, AT_PLANES, AT_AREAS + 5, AT_CARD_NUMBER,  AT_CARD_INDEX,     FILE_BYTES - 1};
  for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
    char size[32];
    snprintf(size, sizeof size, "ends at byte %zu,", cuts[i]);
    assert_refused(cuts[i], size, "which ends at byte");
  }
  assert_refused(FILE_BYTES + 1, "has", "expected");
}

static void wrong_lengths_and_numbers_are_refused_with_found_and_expected_values(void **state) {
  (void)state;
  static const struct {
    size_t at;
    uint32_t value;
    const char *first, *second;
  } cases[] = {
      {0, 5, "format is 5", "expected 3 or 4"},
      {0, 2, "format is 2", "expected 3 or 4"},
      {AT_FIRST_CARD, 512, "512", "at most 511"},
      {AT_CARD_CHANNELS, 31, "number of channels of a card is 31", "expected 32"},
      {AT_CELLS, 6000, "number of cells is 6000", "expected 6016"},
      {AT_CHANNELS, 33, "number of channels is 33", "a multiple of 32 up to 13184"},
      {AT_CHANNELS, 0, "number of channels is 0", "a multiple of 32"},
      {AT_CHANNELS, 16384, "number of channels is 16384", "up to 13184"},
      {AT_NEIGHBOURS, 8, "number of neighbours is 8", "expected 54144"},
      {AT_XY, 8, "number of coordinates is 8", "expected 12032"},
      {AT_GAIN, 8, "number of gains is 8", "expected 6016"},
      {AT_TO_LOCAL, 8, "the transform is 8", "expected 12"},
      {AT_PLANES, 8, "the planes is 8", "expected 12"},
      {AT_AREAS, 3, "borders of areas is 3", "expected 4"},
      {AT_AREAS + 4, 1, "begin at cell 1", "expected 0 and 6016"},
      {AT_AREAS + 4 + 12, 6015, "end at 6015", "expected 0 and 6016"},
      {AT_AREAS + 4 + 8, 1000, "area 1", "has no cells"},
      {AT_CARD_NUMBER, 7, "number of card numbers is 7", "a multiple of 3"},
      {AT_CARD_INDEX, 9, "number of card indices is 9", "expected 12"},
      {AT_CARD_INDEX + 4, CARDS, "card index number 0 is 200", "below 200"},
      {AT_CARD_INDEX + 8, (uint32_t)-2, "card index number 1 is -2", "below 200"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    put_u32(cases[i].at, cases[i].value);
    assert_refused(FILE_BYTES, cases[i].first, cases[i].second);
  }
}

static void unusable_numbers_are_refused(void **state) {
  (void)state;
  static const size_t places[] = {
      AT_PEDESTAL, AT_XY + 4 + 4 * (2 * CALO_CELLS - 1), AT_GAIN + 4, AT_TO_LOCAL + 4, AT_PLANES + 4 + 4 * 11,
      AT_CELL_SIZE};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    put_u32(places[i], 0x7FC00000);
    assert_refused(FILE_BYTES, "nan", "expected a number between");
    put_f32(places[i], 1e30f);
    assert_refused(FILE_BYTES, "1e+30", "expected a number between");
  }
  put_u16(AT_NEIGHBOURS + 4 + 2 * 10, CALO_CELLS);
  assert_refused(FILE_BYTES, "neighbour number 10 is 6016", "expected a cell");
  put_f32(AT_GAIN + 4 + 4 * 77, 0.0f);
  assert_refused(FILE_BYTES, "gain number 77 is 0", "more than 0");
  put_f32(AT_PLANES + 4 + 4 * 6, 0.25f);
  assert_refused(FILE_BYTES, "plane 1: c is 0.25", "at least 0.5");
  put_f32(AT_CELL_SIZE, 0.0f);
  assert_refused(FILE_BYTES, "the size of a cell is 0", "more than 0");
}

static int begin(void **state) {
  (void)state;
  scratch_folder(folder);
  return 0;
}
static int begin_case(void **state) {
  (void)state;
  make_good();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(every_value_is_read_into_its_field, begin_case),
      cmocka_unit_test_setup(format_3_has_no_sources, begin_case),
      cmocka_unit_test_setup(a_folder_without_the_file_is_an_error, begin_case),
      cmocka_unit_test_setup(a_truncated_or_too_long_file_is_refused, begin_case),
      cmocka_unit_test_setup(wrong_lengths_and_numbers_are_refused_with_found_and_expected_values, begin_case),
      cmocka_unit_test_setup(unusable_numbers_are_refused, begin_case),
  };
  return cmocka_run_group_tests(tests, begin, NULL);
}
