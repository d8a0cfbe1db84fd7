/* ut.geometry and ut.magnet_tables from files: invalid files of every kind. Valid files are made from the plugin's
 * nominal detector, which description_test compares with the samples. */
#include "scratch.h"
#include "ut/description.h"

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
  SECTOR_ARRAYS = 10,
  GEOMETRY_BYTES = 41924,
  BOARDS_BYTES = 47048,
  TABLES_BYTES = 15544,
  MOST_BYTES = BOARDS_BYTES,
  /* Offsets in the files. */
  AT_FIRST_STRIP = 4,
  AT_PITCH = AT_FIRST_STRIP + 4 * UT_SECTORS,
  AT_DY = AT_PITCH + 4 * UT_SECTORS,
  AT_X0 = AT_PITCH + 4 * 5 * UT_SECTORS,
  AT_COSINE = AT_PITCH + 4 * 8 * UT_SECTORS,
  AT_FORMAT = 4,
  AT_STRIPS = 8,
  AT_LANES = AT_STRIPS + 4 * UT_BOARDS,
  AT_STAVE = AT_LANES + 4 * 3 * UT_LANES,
  AT_TYPE = AT_LANES + 4 * 6 * UT_LANES,
  AT_CHANNEL = AT_LANES + 4 * 7 * UT_LANES,
  AT_DEFLECTIONS = 3 * 4 + 8,
  AT_AXES = AT_DEFLECTIONS + 4 * UT_DEFLECTIONS,
  AT_INTEGRALS = AT_AXES + 4 * 4 + 8
};

static char folder[SCRATCH_PATH_MAX];

static void put_u32(unsigned char *at, uint32_t value) { memcpy(at, &value, sizeof value); }
static void put_f32(unsigned char *at, float value) { memcpy(at, &value, sizeof value); }

static const struct sl_test *nominal(void) {
  static struct sl_test *t;
  if (!t) {
    t = sl_test_new(UT_PLUGIN, "geometry");
    assert_int_equal(sl_test_run(t), 0);
  }
  return t;
}

static unsigned char *put_array(unsigned char *at, const char *field) {
  const size_t bytes = 4 * (size_t)sl_test_output_count(nominal(), "geometry", field);
  memcpy(at, sl_test_output(nominal(), "geometry", field), bytes);
  return at + bytes;
}

/* A valid file, with room for one more byte. */
static unsigned char *good_sectors(void) {
  static const char *const fields[SECTOR_ARRAYS] = {"first_strip", "pitch", "dy", "dx_di", "dy_di",
                                                    "dz_di",       "x0",    "y0", "z0",    "cosine"};
  static unsigned char bytes[GEOMETRY_BYTES + 1];
  put_u32(bytes, UT_SECTORS);
  unsigned char *at = bytes + 4;
  for (int i = 0; i < SECTOR_ARRAYS; i++) at = put_array(at, fields[i]);
  assert_ptr_equal(at, bytes + GEOMETRY_BYTES);
  return bytes;
}

static unsigned char *good_boards(void) {
  static const char *const fields[] = {"board_strips", "lane_sector", "lane_module", "lane_face",   "lane_stave",
                                       "lane_layer",   "lane_side",   "lane_type",   "lane_channel"};
  static unsigned char bytes[BOARDS_BYTES + 1];
  put_u32(bytes, UT_BOARDS);
  put_u32(bytes + AT_FORMAT, 3);
  unsigned char *at = bytes + AT_STRIPS;
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) at = put_array(at, fields[i]);
  assert_ptr_equal(at, bytes + BOARDS_BYTES);
  return bytes;
}

/* Every entry encodes its position. */
static unsigned char *good_tables(void) {
  static unsigned char bytes[TABLES_BYTES + 1];
  static const uint32_t deflections[] = {2, 3, 30, UT_DEFLECTIONS, 0}, integrals[] = {3, 30, 10, 10, UT_INTEGRALS, 0};
  memcpy(bytes, deflections, sizeof deflections);
  memcpy(bytes + AT_AXES, integrals, sizeof integrals);
  for (uint32_t i = 0; i < UT_DEFLECTIONS; i++) put_f32(bytes + AT_DEFLECTIONS + 4 * i, 1.0f + (float)i);
  for (uint32_t i = 0; i < UT_INTEGRALS; i++) put_f32(bytes + AT_INTEGRALS + 4 * i, 0.125f * (float)i);
  return bytes;
}

static void write_good_files(void) {
  scratch_write(folder, "ut_geometry.bin", good_sectors(), GEOMETRY_BYTES);
  scratch_write(folder, "ut_boards.bin", good_boards(), BOARDS_BYTES);
  scratch_write(folder, "ut_tables.bin", good_tables(), TABLES_BYTES);
}

static struct sl_test *test_of(const char *constant, const char *path) {
  struct sl_test *t = sl_test_new(UT_PLUGIN, constant);
  sl_test_set_text(t, "path", path);
  return t;
}

/* The files in `folder` are refused with a message that contains each of the texts. */
static void assert_refused(const char *constant, int status, const char *first, const char *second, const char *third) {
  struct sl_test *t = test_of(constant, folder);
  assert_int_equal(sl_test_run(t), status);
  const char *messages = sl_test_messages(t);
  if (!strstr(messages, first) || !strstr(messages, second) || !strstr(messages, third))
    fail_msg("expected %s, %s and %s in: %s", first, second, third, messages);
  sl_test_free(t);
}

/* The files are refused after a change of four bytes. */
static void assert_change_refused(const char *name, size_t at, uint32_t bits, const char *found, const char *wanted) {
  const int is_boards = strcmp(name, "ut_boards.bin") == 0, is_tables = strcmp(name, "ut_tables.bin") == 0;
  unsigned char *bytes = is_boards ? good_boards() : is_tables ? good_tables() : good_sectors();
  write_good_files();
  put_u32(bytes + at, bits);
  scratch_write(folder, name, bytes, is_boards ? BOARDS_BYTES : is_tables ? TABLES_BYTES : GEOMETRY_BYTES);
  assert_refused(is_tables ? "magnet_tables" : "geometry", SL_EFORMAT, name, found, wanted);
}

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static void valid_files_are_read(void **state) {
  (void)state;
  write_good_files();
  struct sl_test *g = test_of("geometry", folder), *m = test_of("magnet_tables", folder);
  assert_int_equal(sl_test_run(g), 0);
  assert_int_equal(sl_test_run(m), 0);
  assert_string_equal(sl_test_messages(g), "");
  assert_memory_equal(sl_test_output(g, "geometry", "x0"), good_sectors() + AT_X0, 4 * UT_SECTORS);
  assert_memory_equal(sl_test_output(g, "geometry", "lane_channel"), good_boards() + AT_CHANNEL, 4 * UT_LANES);
  assert_memory_equal(sl_test_output(g, "geometry", "lane_index"), sl_test_output(nominal(), "geometry", "lane_index"),
                      4 * UT_LANES);
  assert_int_equal(sl_test_output_count(m, "tables", "deflection"), UT_DEFLECTIONS);
  assert_int_equal(sl_test_output_count(m, "tables", "field_integral"), UT_INTEGRALS);
  assert_memory_equal(sl_test_output(m, "tables", "deflection"), good_tables() + AT_DEFLECTIONS, 4 * UT_DEFLECTIONS);
  assert_memory_equal(sl_test_output(m, "tables", "field_integral"), good_tables() + AT_INTEGRALS, 4 * UT_INTEGRALS);
  sl_test_free(g);
  sl_test_free(m);
}

static void a_missing_file_is_named(void **state) {
  (void)state;
  static const char *const names[] = {"ut_geometry.bin", "ut_boards.bin", "ut_tables.bin"};
  for (int i = 0; i < 3; i++) {
    write_good_files();
    scratch_remove(folder, names[i]);
    assert_refused(i == 2 ? "magnet_tables" : "geometry", SL_EIO, folder, names[i], "no such file");
  }
}

static void a_file_of_another_size_is_refused_with_both_sizes(void **state) {
  (void)state;
  write_good_files();
  scratch_write(folder, "ut_geometry.bin", good_sectors(), GEOMETRY_BYTES - 1);
  assert_refused("geometry", SL_EFORMAT, "ut_geometry.bin", "41923", "41924");
  write_good_files();
  scratch_write(folder, "ut_boards.bin", good_boards(), BOARDS_BYTES + 1);
  assert_refused("geometry", SL_EFORMAT, "ut_boards.bin", "47049", "47048");
  write_good_files();
  scratch_write(folder, "ut_tables.bin", good_tables(), 0);
  assert_refused("magnet_tables", SL_EFORMAT, "ut_tables.bin", "0 bytes", "15544");
}

static void wrong_lengths_and_formats_are_refused(void **state) {
  (void)state;
  assert_change_refused("ut_geometry.bin", 0, 4711, "4711", "1048");
  assert_change_refused("ut_boards.bin", 0, 4711, "4711", "240");
  assert_change_refused("ut_boards.bin", AT_FORMAT, 2, "the format is 2", "expected 3");
  assert_change_refused("ut_tables.bin", 0, 3, "axes is 3", "expected 2");
  assert_change_refused("ut_tables.bin", 8, 31, "bins is 31", "expected 30");
  assert_change_refused("ut_tables.bin", AT_AXES + 16, 3752, "3752", "3751");
}

static void unusable_numbers_are_refused(void **state) {
  (void)state;
  const uint32_t not_a_number = 0x7FC00000;
  assert_change_refused("ut_geometry.bin", AT_FIRST_STRIP + 4, 2, "first strip number 1 is 2", "at most 1");
  assert_change_refused("ut_geometry.bin", AT_PITCH, bits_of(0), "pitch number 0 is 0", "positive");
  assert_change_refused("ut_geometry.bin", AT_DY + 4 * 1047, bits_of(-1), "length number 1047 is -1", "positive");
  assert_change_refused("ut_geometry.bin", AT_X0 + 4 * 7, not_a_number, "x of sector number 7", "nan");
  assert_change_refused("ut_geometry.bin", AT_X0 + 4 * 7, bits_of(1e30f), "x of sector number 7", "1e+30");
  assert_change_refused("ut_geometry.bin", AT_COSINE, bits_of(1.5f), "cosine of sector number 0 is 1.5", "expected");
  assert_change_refused("ut_tables.bin", AT_INTEGRALS, not_a_number, "field integrals number 0", "nan");
}

static void inconsistent_boards_are_refused(void **state) {
  (void)state;
  assert_change_refused("ut_boards.bin", AT_STRIPS + 4, 256, "board number 1 is 256", "expected 0 or 512");
  assert_change_refused("ut_boards.bin", AT_STRIPS + 4, 0, "board 1, lane 0", "the board does not exist");
  assert_change_refused("ut_boards.bin", AT_STAVE, 9, "stave of lane number 0 is 9", "at most 8");
  assert_change_refused("ut_boards.bin", AT_STAVE, 8, "board 0, lane 0", "there is no sector 0");
  assert_change_refused("ut_boards.bin", AT_TYPE, 1, "type is 1", "expected 0 or 2");
  assert_change_refused("ut_boards.bin", AT_CHANNEL, 0x410000, "channel is 4259840", "expected 4317184");
}

static void constants_belong_to_the_tables(void **state) {
  (void)state;
  struct sl_test *own = test_of("magnet_tables", ""), *lhcb = test_of("magnet_tables", folder);
  write_good_files();
  assert_int_equal(sl_test_run(own), 0);
  assert_int_equal(sl_test_run(lhcb), 0);
  const float *of_nominal = sl_test_output(own, "tables", "constants");
  const float *of_lhcb = sl_test_output(lhcb, "tables", "constants");
  assert_true(of_lhcb[UT_DISTANCE_TO_MOMENTUM] == 4.0212e-5f && of_lhcb[UT_KICK_TO_MOMENTUM] == 3.3356e-3f);
  assert_true(of_lhcb[UT_FIRST_KICK_Z] == 1780 && of_lhcb[UT_SECOND_KICK_Z + 2] == 71330);
  assert_true(of_lhcb[UT_KICK_ERRORS] == 0.14f && of_lhcb[UT_KICK_ERRORS_PER_P + 1] == 3000);
  assert_true(of_lhcb[UT_DISCRIMINANT_3] == 0.162880166f && of_lhcb[UT_DISCRIMINANT_4 + 3] == -0.170467110f);
  assert_true(of_nominal[UT_DISTANCE_TO_MOMENTUM] > 3e-5f && of_nominal[UT_DISTANCE_TO_MOMENTUM] < 1e-4f);
  const float *deflection = sl_test_output(own, "tables", "deflection");
  const float *integral = sl_test_output(own, "tables", "field_integral");
  for (uint32_t i = 0; i < UT_DEFLECTIONS; i++) assert_true(deflection[i] > 0.5f && deflection[i] < 2);
  assert_true(integral[UT_INTEGRALS / 2] > 0.05f && integral[UT_INTEGRALS / 2] < 0.2f); /* for a track with dy/dz = 0 */
  sl_test_free(own);
  sl_test_free(lhcb);
}

static void an_invalid_calibration_is_refused(void **state) {
  (void)state;
  static const char text[] = "calibration 1 mine\nvalue ut.z_mid much\n";
  char path[2 * SCRATCH_PATH_MAX];
  scratch_write(folder, "broken.calibration", text, sizeof text - 1);
  snprintf(path, sizeof path, "%s/broken.calibration", folder);
  struct sl_test *t = test_of("magnet_tables", path);
  assert_int_equal(sl_test_run(t), SL_EFORMAT);
  assert_non_null(strstr(sl_test_messages(t), "broken.calibration:2"));
  sl_test_free(t);
  scratch_remove(folder, "broken.calibration");
}

static int make_folder(void **state) {
  (void)state;
  scratch_folder(folder);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(valid_files_are_read),
      cmocka_unit_test(a_missing_file_is_named),
      cmocka_unit_test(a_file_of_another_size_is_refused_with_both_sizes),
      cmocka_unit_test(wrong_lengths_and_formats_are_refused),
      cmocka_unit_test(unusable_numbers_are_refused),
      cmocka_unit_test(inconsistent_boards_are_refused),
      cmocka_unit_test(constants_belong_to_the_tables),
      cmocka_unit_test(an_invalid_calibration_is_refused),
  };
  return cmocka_run_group_tests(tests, make_folder, NULL);
}
