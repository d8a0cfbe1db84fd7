/* velo.geometry from descriptions: the nominal one is the detector of the samples, and wrong ones are refused with the
 * line and the reason. */
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

enum { TEXT_MAX = 16384 };

static char edited[SCRATCH_PATH_MAX];

static struct sl_test *run(const char *path, int expected) {
  struct sl_test *t = sl_test_new(VELO_PLUGIN, "geometry");
  sl_test_set_text(t, "path", path);
  const int status = sl_test_run(t);
  if (status != expected) print_message("%s\n", sl_test_messages(t));
  assert_int_equal(status, expected);
  return t;
}

/* The nominal description with `from` replaced by `to`; NULL for `from`: cut at `to`. */
static void edit(const char *from, const char *to) {
  static char text[TEXT_MAX];
  FILE *file = fopen(NOMINAL, "rb");
  assert_non_null(file);
  const size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  assert_true(size > 0 && size < sizeof text - 1);
  text[size] = '\0';
  char *at = strstr(text, from ? from : to);
  assert_non_null(at);
  file = fopen(edited, "wb");
  assert_non_null(file);
  fwrite(text, 1, (size_t)(at - text), file);
  if (from) fprintf(file, "%s%s", to, at + strlen(from));
  fclose(file);
}

static uint32_t line_of(const char *part) {
  char line[256];
  FILE *file = fopen(NOMINAL, "rb");
  uint32_t number = 1;
  while (fgets(line, sizeof line, file) && !strstr(line, part)) number++;
  fclose(file);
  return number;
}

static void assert_refused(const char *from, const char *to, const char *reason) {
  char place[SCRATCH_PATH_MAX + 32];
  edit(from, to);
  struct sl_test *t = run(edited, SL_EFORMAT);
  snprintf(place, sizeof place, "%s:%u: ", edited, line_of(from));
  if (!strstr(sl_test_messages(t), place) || !strstr(sl_test_messages(t), reason))
    fail_msg("'%s' and '%s' are expected in: %s", place, reason, sl_test_messages(t));
  sl_test_free(t);
}

static void an_empty_path_is_the_nominal_description(void **state) {
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

/* As far as the file's own rounding: it was made with other arithmetic. */
static void the_nominal_description_is_the_geometry_of_the_samples(void **state) {
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
  assert_refused("pixel 0.055\n", "pixel 0,055\n", "no number");
  assert_refused("silicon 0.2", "silicon -0.2", "expected 0.01 to 2");
  assert_refused("silicon 0.2", "silicium 0.2", "no statement \"silicium\"");
  assert_refused("silicon 0.2", "wide_pixel 0.2", "a second time");
  assert_refused("foil radius 4.6", "foil radius 9", "radius is 9");
  assert_refused("foil radius 4.6", "foil radius", "no number");
  assert_refused("sensor 2 x_axis -135", "sensor 1 x_axis -135", "sensor 1 a second time");
  assert_refused("sensor 2 x_axis -135", "sensor 4 x_axis -135", "expected 0 to 3");
  assert_refused("module  1 z -275   right", "module  1 z -275   left", "odd ones are right");
  assert_refused("module  1 z -275 ", "module  1 z -300 ", "not behind module 0");
  assert_refused("module  0 z -287.5 left", "module  0 z -287.5 left left", "one word too many");
}

static void an_incomplete_description_is_refused(void **state) {
  (void)state;
  edit(NULL, "module 51");
  struct sl_test *t = run(edited, SL_EFORMAT);
  assert_non_null(strstr(sl_test_messages(t), "ends without"));
  sl_test_free(t);
}

static int begin(void **state) {
  (void)state;
  scratch_file(edited);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_path_is_the_nominal_description),
      cmocka_unit_test(the_nominal_description_is_the_geometry_of_the_samples),
      cmocka_unit_test(wrong_descriptions_are_refused_with_line_and_reason),
      cmocka_unit_test(an_incomplete_description_is_refused),
  };
  return cmocka_run_group_tests(tests, begin, NULL);
}
