/* magnet.polarity: sources of the polarity, and invalid files. */
#include "scratch.h"

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char folder[SCRATCH_PATH_MAX];

static int make_folder(void **state) {
  (void)state;
  scratch_folder(folder);
  return 0;
}

static struct sl_test *test_of(const char *path, const char *polarity) {
  struct sl_test *t = sl_test_new(MAGNET_PLUGIN, "polarity");
  sl_test_set_text(t, "path", path);
  if (polarity) sl_test_set_text(t, "polarity", polarity);
  return t;
}

static void assert_sign(const char *path, const char *polarity, float expected) {
  struct sl_test *t = test_of(path, polarity);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_output_count(t, "magnet", "sign"), 1);
  assert_memory_equal(sl_test_output(t, "magnet", "sign"), &expected, sizeof expected);
  sl_test_free(t);
}

static void assert_refused(int status, const char *text) {
  struct sl_test *t = test_of(folder, NULL);
  assert_int_equal(sl_test_run(t), status);
  if (!strstr(sl_test_messages(t), text) || !strstr(sl_test_messages(t), "polarity.bin"))
    fail_msg("expected %s in: %s", text, sl_test_messages(t));
  sl_test_free(t);
}

static void the_default_polarity_is_down(void **state) {
  (void)state;
  char description[SCRATCH_PATH_MAX];
  scratch_file(description);
  FILE *file = fopen(description, "w");
  assert_non_null(file);
  fclose(file);
  assert_sign("", NULL, -1.0f);
  assert_sign(description, NULL, -1.0f); /* the description has no polarity */
}

static void the_property_takes_precedence_over_the_folder(void **state) {
  (void)state;
  const float up = 1.0f, down = -1.0f;
  scratch_write(folder, "polarity.bin", &up, sizeof up);
  assert_sign(folder, NULL, 1.0f);
  assert_sign(folder, "geometry", 1.0f);
  assert_sign(folder, "down", -1.0f);
  scratch_write(folder, "polarity.bin", &down, sizeof down);
  assert_sign(folder, NULL, -1.0f);
  assert_sign(folder, "up", 1.0f);
  assert_sign("", "up", 1.0f);
}

static void a_file_that_is_not_a_description_is_refused(void **state) {
  (void)state;
  char file[SCRATCH_PATH_MAX + 16];
  const float up = 1.0f;
  scratch_write(folder, "polarity.bin", &up, sizeof up);
  snprintf(file, sizeof file, "%s/polarity.bin", folder);
  struct sl_test *t = test_of(file, NULL);
  assert_int_equal(sl_test_run(t), SL_EFORMAT);
  assert_non_null(strstr(sl_test_messages(t), "which is a text file; for polarity.bin give the folder"));
  sl_test_free(t);
  snprintf(file, sizeof file, "%s/none", folder);
  t = test_of(file, NULL);
  assert_int_equal(sl_test_run(t), SL_EIO);
  assert_non_null(strstr(sl_test_messages(t), "none: there is no such file"));
  sl_test_free(t);
  assert_sign(file, "up", 1.0f); /* the file is not read */
}

static void invalid_files_are_refused(void **state) {
  (void)state;
  const float zero = 0.0f, two[2] = {1.0f, 1.0f}, large = 1e9f;
  scratch_write(folder, "polarity.bin", &zero, sizeof zero);
  assert_refused(SL_EFORMAT, "polarity is 0, expected -1 (down) or 1 (up)");
  scratch_write(folder, "polarity.bin", &large, sizeof large);
  assert_refused(SL_EFORMAT, "is 1e+09, expected a number between -1 and 1");
  scratch_write(folder, "polarity.bin", "", 0);
  assert_refused(SL_EFORMAT, "has 0 bytes, expected 4");
  scratch_write(folder, "polarity.bin", two, sizeof two);
  assert_refused(SL_EFORMAT, "more than the 4 bytes");
  scratch_folder(folder);
  assert_refused(SL_EIO, "there is no such file");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_default_polarity_is_down),
      cmocka_unit_test(the_property_takes_precedence_over_the_folder),
      cmocka_unit_test(a_file_that_is_not_a_description_is_refused),
      cmocka_unit_test(invalid_files_are_refused),
  };
  return cmocka_run_group_tests(tests, make_folder, NULL);
}
