/* velo.geometry from descriptions: the nominal description is the detector of the samples, and invalid ones are refused
 * with the line and the reason. */
#define DESCRIBED VELO_PLUGIN
#include "edited_description.h"
#include "sample.h"
#include "velo/event_model.h"

static void an_empty_path_gives_the_nominal_description(void **state) {
  (void)state;
  struct sl_test *nominal = run("", SL_OK), *file = run(NOMINAL, SL_OK);
  static const char *const fields[] = {"module_z", "local_x", "x_pitch", "transform", "beam"};
  for (int i = 0; i < 5; i++) {
    const uint64_t count = sl_test_output_count(nominal, "geometry", fields[i]);
    assert_int_equal(count, sl_test_output_count(file, "geometry", fields[i]));
    assert_memory_equal(sl_test_output(nominal, "geometry", fields[i]), sl_test_output(file, "geometry", fields[i]),
                        count * sizeof(float));
  }
  sl_test_free(nominal);
  sl_test_free(file);
}

/* Equal except for rounding: the file was made with other arithmetic. */
static void the_nominal_description_equals_the_geometry_of_the_samples(void **state) {
  (void)state;
  const char *file = sample_path("lhcb/geometry/velo_geometry.bin");
  if (!file) skip();
  char folder[4096];
  snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(file, '/') - file), file);
  struct sl_test *nominal = run("", SL_OK), *binary = run(folder, SL_OK);
  static const struct {
    const char *field;
    float tolerance;
  } fields[] = {{"module_z", 0}, {"local_x", 1e-5f}, {"x_pitch", 1e-5f}, {"transform", 1e-5f}, {"beam", 0}};
  for (int i = 0; i < 5; i++) {
    const float *a = sl_test_output(nominal, "geometry", fields[i].field);
    const float *b = sl_test_output(binary, "geometry", fields[i].field);
    const uint64_t count = sl_test_output_count(nominal, "geometry", fields[i].field);
    assert_int_equal(count, sl_test_output_count(binary, "geometry", fields[i].field));
    for (uint64_t k = 0; k < count; k++) {
      const float difference = a[k] > b[k] ? a[k] - b[k] : b[k] - a[k];
      if (!(difference <= fields[i].tolerance))
        fail_msg("%s[%llu]: %.9g, the file has %.9g", fields[i].field, (unsigned long long)k, (double)a[k],
                 (double)b[k]);
    }
  }
  sl_test_free(nominal);
  sl_test_free(binary);
}

static void wrong_descriptions_are_refused_with_line_and_reason(void **state) {
  (void)state;
  assert_refused("pixel 0.055\n", "pixel 0,055\n", "not a number");
  assert_refused("silicon 0.2", "silicon -0.2", "expected 0.01 to 2");
  assert_refused("silicon 0.2", "silicium 0.2", "no statement \"silicium\"");
  assert_refused("silicon 0.2", "wide_pixel 0.2", "a second time");
  assert_refused("foil radius 4.6", "foil radius 9", "radius is 9");
  assert_refused("foil radius 4.6", "foil radius", "not a number");
  assert_refused("sensor 2 x_axis -135", "sensor 1 x_axis -135", "sensor 1 a second time");
  assert_refused("sensor 2 x_axis -135", "sensor 4 x_axis -135", "expected 0 to 3");
  assert_refused("sensor 2 x_axis -135", "sensor 2.00000001 x_axis -135",
                 "sensor is not an integer"); /* 2 as a float */
  assert_refused("module  1 z -275   right", "module  1 z -275   left", "odd ones are right");
  assert_refused("module  1 z -275 ", "module  1 z -300 ", "not downstream of module 0");
  assert_refused("module  0 z -287.5 left", "module  0 z -287.5 left left", "one word too many");
}

static void a_byte_order_mark_is_skipped(void **state) {
  (void)state;
  const char *text = text_of(NOMINAL);
  char first[64];
  snprintf(first, sizeof first, "%.*s", (int)strcspn(text, "\n"), text);
  char marked[sizeof first + 3] = "\xEF\xBB\xBF";
  edit_file(NOMINAL, first, strcat(marked, first));
  sl_test_free(run(edited, SL_OK));
}

static void an_incomplete_description_is_refused(void **state) {
  (void)state;
  assert_whole_refused(NULL, "module 51", "ends without");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_path_gives_the_nominal_description),
      cmocka_unit_test(the_nominal_description_equals_the_geometry_of_the_samples),
      cmocka_unit_test(wrong_descriptions_are_refused_with_line_and_reason),
      cmocka_unit_test(a_byte_order_mark_is_skipped),
      cmocka_unit_test(an_incomplete_description_is_refused),
  };
  return cmocka_run_group_tests(tests, begin, NULL);
}
