/* velo.geometry: valid files, and invalid files of every kind. */
#include "sample.h"
#include "scratch.h"
#include "velo/event_model.h"

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
  GEOMETRY_BYTES = 16376,
  AT_MODULES = 0, /* offsets in the file */
  AT_MODULE_Z = 8,
  AT_COLUMNS = AT_MODULE_Z + 4 * VELO_MODULES,
  AT_LOCAL_X = AT_COLUMNS + 8,
  AT_PITCHES = AT_LOCAL_X + 4 * VELO_SENSOR_COLUMNS,
  AT_PITCH = AT_PITCHES + 8,
  AT_SENSORS = AT_PITCH + 4 * VELO_SENSOR_COLUMNS,
  AT_TRANSFORM = AT_SENSORS + 16
};

static char folder[SCRATCH_PATH_MAX];

static void put_u64(unsigned char *at, uint64_t value) { memcpy(at, &value, sizeof value); }
static void put_f32(unsigned char *at, float value) { memcpy(at, &value, sizeof value); }

/* A valid geometry: every value encodes its position. Has room for one more byte, for a file that is too long. */
static unsigned char *good_bytes(void) {
  static unsigned char bytes[GEOMETRY_BYTES + 1];
  put_u64(bytes + AT_MODULES, VELO_MODULES);
  put_u64(bytes + AT_COLUMNS, VELO_SENSOR_COLUMNS);
  put_u64(bytes + AT_PITCHES, VELO_SENSOR_COLUMNS);
  put_u64(bytes + AT_SENSORS, VELO_SENSORS);
  put_u64(bytes + AT_SENSORS + 8, 12);
  for (uint32_t i = 0; i < VELO_MODULES; i++) put_f32(bytes + AT_MODULE_Z + 4 * i, -100.0f + (float)i);
  for (uint32_t i = 0; i < VELO_SENSOR_COLUMNS; i++) put_f32(bytes + AT_LOCAL_X + 4 * i, 0.5f * (float)i);
  for (uint32_t i = 0; i < VELO_SENSOR_COLUMNS; i++) put_f32(bytes + AT_PITCH + 4 * i, 0.25f * (float)i);
  for (uint32_t i = 0; i < VELO_SENSORS * 12; i++) put_f32(bytes + AT_TRANSFORM + 4 * i, 0.125f * (float)i);
  return bytes;
}

static struct sl_test *test_of(const char *path) {
  struct sl_test *t = sl_test_new(VELO_PLUGIN, "geometry");
  sl_test_set_text(t, "path", path);
  return t;
}

/* The files in `folder` are refused with a message that contains each of the texts. */
static void assert_refused(int status, const char *first, const char *second, const char *third) {
  struct sl_test *t = test_of(folder);
  assert_int_equal(sl_test_run(t), status);
  const char *messages = sl_test_messages(t);
  if (!strstr(messages, first) || !strstr(messages, second) || !strstr(messages, third))
    fail_msg("expected %s, %s and %s in: %s", first, second, third, messages);
  sl_test_free(t);
}

static int make_folder(void **state) {
  (void)state;
  scratch_folder(folder);
  return 0;
}

static void every_value_is_read_into_its_field(void **state) {
  (void)state;
  const float beam[2] = {0.25f, -0.5f};
  scratch_write(folder, "velo_geometry.bin", good_bytes(), GEOMETRY_BYTES);
  scratch_write(folder, "beamline.bin", beam, sizeof beam);
  struct sl_test *t = test_of(folder);
  assert_int_equal(sl_test_run(t), 0);
  assert_string_equal(sl_test_messages(t), "");
  assert_int_equal(sl_test_output_count(t, "geometry", "module_z"), VELO_MODULES);
  assert_int_equal(sl_test_output_count(t, "geometry", "local_x"), VELO_SENSOR_COLUMNS);
  assert_int_equal(sl_test_output_count(t, "geometry", "x_pitch"), VELO_SENSOR_COLUMNS);
  assert_int_equal(sl_test_output_count(t, "geometry", "transform"), VELO_SENSORS * 12);
  assert_memory_equal(sl_test_output(t, "geometry", "module_z"), good_bytes() + AT_MODULE_Z, 4 * VELO_MODULES);
  assert_memory_equal(sl_test_output(t, "geometry", "local_x"), good_bytes() + AT_LOCAL_X, 4 * VELO_SENSOR_COLUMNS);
  assert_memory_equal(sl_test_output(t, "geometry", "x_pitch"), good_bytes() + AT_PITCH, 4 * VELO_SENSOR_COLUMNS);
  assert_memory_equal(sl_test_output(t, "geometry", "transform"), good_bytes() + AT_TRANSFORM, 4 * VELO_SENSORS * 12);
  assert_memory_equal(sl_test_output(t, "geometry", "beam"), beam, sizeof beam);
  sl_test_free(t);
}

static void without_a_beamline_file_the_beam_is_at_zero_and_a_note_is_reported(void **state) {
  (void)state;
  const float zero[2] = {0, 0};
  scratch_write(folder, "velo_geometry.bin", good_bytes(), GEOMETRY_BYTES);
  scratch_remove(folder, "beamline.bin");
  struct sl_test *t = test_of(folder);
  assert_int_equal(sl_test_run(t), 0);
  assert_memory_equal(sl_test_output(t, "geometry", "beam"), zero, sizeof zero);
  assert_non_null(strstr(sl_test_messages(t), "note: "));
  assert_non_null(strstr(sl_test_messages(t), "beamline.bin"));
  sl_test_free(t);
}

static void a_path_that_does_not_exist_is_an_error(void **state) {
  (void)state;
  scratch_remove(folder, "velo_geometry.bin");
  assert_refused(SL_EIO, folder, "velo_geometry.bin", "no such file");
}

static void a_file_of_another_size_is_refused_with_both_sizes(void **state) {
  (void)state;
  scratch_write(folder, "velo_geometry.bin", good_bytes(), GEOMETRY_BYTES - 1);
  assert_refused(SL_EFORMAT, "velo_geometry.bin", "16375", "16376");
  scratch_write(folder, "velo_geometry.bin", good_bytes(), 0);
  assert_refused(SL_EFORMAT, "velo_geometry.bin", "0 bytes", "16376");
  scratch_write(folder, "velo_geometry.bin", good_bytes(), GEOMETRY_BYTES + 1);
  assert_refused(SL_EFORMAT, "velo_geometry.bin", "more than", "16376");
}

static void a_wrong_length_is_refused_with_found_and_expected_values(void **state) {
  (void)state;
  static const struct {
    size_t at;
    const char *expected;
  } lengths[] = {
      {AT_MODULES, "52"}, {AT_COLUMNS, "768"}, {AT_PITCHES, "768"}, {AT_SENSORS, "208"}, {AT_SENSORS + 8, "12"}};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    unsigned char *bytes = good_bytes();
    put_u64(bytes + lengths[i].at, 4711);
    scratch_write(folder, "velo_geometry.bin", bytes, GEOMETRY_BYTES);
    assert_refused(SL_EFORMAT, "velo_geometry.bin", "4711", lengths[i].expected);
  }
}

static void unusable_numbers_are_refused(void **state) {
  (void)state;
  static const size_t places[] = {AT_MODULE_Z + 4 * 51, AT_LOCAL_X, AT_PITCH + 4 * 767, AT_TRANSFORM + 4 * 2495};
  const uint32_t not_a_number = 0x7FC00000;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    unsigned char *bytes = good_bytes();
    memcpy(bytes + places[i], &not_a_number, sizeof not_a_number);
    scratch_write(folder, "velo_geometry.bin", bytes, GEOMETRY_BYTES);
    assert_refused(SL_EFORMAT, "velo_geometry.bin", "nan", "expected");
    bytes = good_bytes();
    put_f32(bytes + places[i], 1e30f);
    scratch_write(folder, "velo_geometry.bin", bytes, GEOMETRY_BYTES);
    assert_refused(SL_EFORMAT, "velo_geometry.bin", "1e+30", "expected");
  }
}

static void modules_and_columns_not_in_ascending_order_are_refused(void **state) {
  (void)state;
  unsigned char *bytes = good_bytes();
  put_f32(bytes + AT_MODULE_Z + 4 * 7, -94.0f); /* equal to module 6 */
  scratch_write(folder, "velo_geometry.bin", bytes, GEOMETRY_BYTES);
  assert_refused(SL_EFORMAT, "z of module number 7", "-94", "ascend");
  bytes = good_bytes();
  put_f32(bytes + AT_LOCAL_X + 4 * 300, 0.0f);
  scratch_write(folder, "velo_geometry.bin", bytes, GEOMETRY_BYTES);
  assert_refused(SL_EFORMAT, "x of column number 300", "0 after 149.5", "ascend");
}

static void an_invalid_beamline_file_is_refused(void **state) {
  (void)state;
  const float beam[3] = {0.0f, 1e9f, 0.0f};
  scratch_write(folder, "velo_geometry.bin", good_bytes(), GEOMETRY_BYTES);
  scratch_write(folder, "beamline.bin", beam, 7);
  assert_refused(SL_EFORMAT, "beamline.bin", "7 bytes", "expected 8");
  scratch_write(folder, "beamline.bin", beam, 12);
  assert_refused(SL_EFORMAT, "beamline.bin", "more than", "8");
  scratch_write(folder, "beamline.bin", beam, 8);
  assert_refused(SL_EFORMAT, "beamline.bin", "1e+09", "expected");
}

static void the_geometry_of_the_sample_has_the_nominal_modules(void **state) {
  (void)state;
  const char *file = sample_path("lhcb/geometry/velo_geometry.bin");
  if (!file) skip();
  char path[4096];
  snprintf(path, sizeof path, "%.*s", (int)(strrchr(file, '/') - file), file);
  struct sl_test *t = test_of(path);
  assert_int_equal(sl_test_run(t), 0);
  const float *z = sl_test_output(t, "geometry", "module_z");
  assert_true(z[0] == -287.5f && z[1] == -275.0f && z[12] == -37.5f && z[37] == 275.0f && z[51] == 750.0f);
  const float *pitch = sl_test_output(t, "geometry", "x_pitch");
  assert_float_equal(pitch[0], 0.055f, 1e-4f);
  assert_float_equal(pitch[255], 0.1375f, 1e-4f);
  const float *beam = sl_test_output(t, "geometry", "beam");
  assert_true(beam[0] == 0.0f && beam[1] == 0.0f);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_value_is_read_into_its_field),
      cmocka_unit_test(without_a_beamline_file_the_beam_is_at_zero_and_a_note_is_reported),
      cmocka_unit_test(a_path_that_does_not_exist_is_an_error),
      cmocka_unit_test(a_file_of_another_size_is_refused_with_both_sizes),
      cmocka_unit_test(a_wrong_length_is_refused_with_found_and_expected_values),
      cmocka_unit_test(unusable_numbers_are_refused),
      cmocka_unit_test(modules_and_columns_not_in_ascending_order_are_refused),
      cmocka_unit_test(an_invalid_beamline_file_is_refused),
      cmocka_unit_test(the_geometry_of_the_sample_has_the_nominal_modules),
  };
  return cmocka_run_group_tests(tests, make_folder, NULL);
}
