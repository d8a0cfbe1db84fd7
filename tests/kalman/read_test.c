/* read_test.c: reads constants of the transport. */
#include "scratch.h"
#include "support.h"

/* Checks that nominal.kalman with `old` replaced by `new` is refused at the line of `there`, or at the last line. */
static void refused(const char *old, const char *new, const char *there, const char *reason) {
  char found[256] = "", *original = nominal_text(), *text = text_with(original, old, new);
  struct kalman_description *d = (struct kalman_description *)malloc(sizeof *d);
  assert_non_null(d);
  uint32_t last = 0;
  for (const char *at = text; *at; at++) last += *at == '\n';
  const uint32_t line = kalman_read(text, strlen(text), d, found, sizeof found);
  const uint32_t expected = there ? line_of(text, there) : last;
  if (line != expected || strcmp(found, reason) != 0)
    fail_msg("line %u, \"%s\"; expected %u, \"%s\"", line, found, expected, reason);
  free(d);
  free(text);
  free(original);
}

static void the_nominal_text_is_built_in(void **state) {
  struct messages m;
  struct kalman_description *file = nominal(), *built_in = (struct kalman_description *)calloc(1, sizeof *built_in);
  (void)state;
  assert_non_null(built_in);
  messages_begin(&m);
  assert_int_equal(kalman_load_path(&m.services, "", built_in), SL_OK);
  assert_memory_equal(file, built_in, sizeof *file);
  assert_int_equal(kalman_load_path(&m.services, NULL, built_in), SL_OK);
  assert_memory_equal(file, built_in, sizeof *file);
  assert_true(file->legs[4].z_begin == 2642.5 && file->legs[4].z_end == 7826);
  assert_true(file->legs[4].bend > 20 && file->legs[4].bend < 30);
  assert_true(file->legs[0].bend == 0);
  free(file);
  free(built_in);
}

static void wrong_heads_and_legs_are_refused(void **state) {
  (void)state;
  refused("kalman 1\n", "kalman 2\n", "kalman 2\n", "format is 2, expected 1 to 1");
  refused("kalman 1\n", "", NULL, "the text ends without kalman");
  refused("kalman 1\n", "kalman 1\nkalmann 1\n", "kalmann", "there is no statement \"kalmann\"");
  refused("leg 3 from 2597.5", "leg 16 from 2597.5", "leg 16", "leg is 16, expected 0 to 15");
  refused("leg 3 from 2597.5", "leg 2 from 2597.5", "leg 2 from 2597.5", "leg 2 a second time");
  refused("leg 3 from 2597.5", "leg 3 from 2590", NULL, "leg 3 does not begin where leg 2 ends");
  refused("leg 3 from 2597.5", "leg 3 from 2650", "leg 3 from", "leg 3 does not lead downstream");
  refused("leg 3 from 2597.5 to 2642.5 x_max 860", "leg 3 from 2597.5 to 2642.5 x_max 0", "leg 3 from",
          "x_max is 0, expected 1 to 10000");
  refused("leg 3 from 2597.5", "leg 3 between 2597.5", "leg 3 between", "expected \"from\", found \"between\"");
  refused("y_max 2420 bend 0\npolynomial 7", "y_max 2420 bend 3\npolynomial 7", "bend 3\n",
          "the bend of leg 7 is not 0: u is the slope there");
}

static void wrong_polynomials_are_refused(void **state) {
  (void)state;
  refused("polynomial 4 ty", "polynomial 4 tz", "polynomial 4 tz", "polynomial is \"tz\", expected x, y, tx or ty");
  refused("polynomial 4 ty", "polynomial 4 tx # again", "# again", "polynomial 4 tx a second time");
  refused("polynomial 15 ty\n", "polynomial 15 ty\nterm 1 0 0 0 0 1\n", "term 1 0 0 0 0 1",
          "powers 0 0 0 0 1, expected 1 1 0 0 1");
  refused("polynomial 15 ty\n", "term 1 9 9 9 9 9\npolynomial 15 ty\n", "term 1 9 9", "polynomial 15 tx has 14 terms");
  refused("polynomial 0 ty\n", "polynomial 4 tx\npolynomial 0 ty\n", "polynomial 0 ty",
          "polynomial 4 tx has 0 of 99 terms");
  refused("polynomial 0 x\n", "", "term", "a term without a polynomial");
}

/* Edits of the first term of a polynomial. */
static void wrong_terms_are_refused(void **state) {
  char *text = nominal_text(), old[128];
  const char *at = strstr(text, "polynomial 4 y\n");
  (void)state;
  assert_non_null(at);
  at = strchr(at, '\n') + 1;
  snprintf(old, sizeof old, "polynomial 4 y\n%.*s", (int)(strchr(at, '\n') - at), at);
  free(text);
  refused(old, "polynomial 4 y\nterm 1 1 3 0 0 1", "term 1 1 3", "powers 1 3 0 0 1, expected 1 1 0 0 1");
  refused(old, "polynomial 4 y\nterm 1 1 1 0 0 1 1", "term 1 1 1 0 0 1 1", "\"1\" is one word too many");
  refused(old, "polynomial 4 y\nterm 1 1 1 0 0 # short", "# short", "a power is missing");
  refused(old, "polynomial 4 y\nterm 1,5 1 1 0 0 1", "term 1,5",
          "a coefficient is not a number of at most 15 digits: 1,5");
  refused(old, "polynomial 4 y\nterm 1e10 1 1 0 0 1", "term 1e10", "a coefficient is 1e10, expected -1e+09 to 1e+09");
}

static void a_truncated_text_is_refused(void **state) {
  char found[256] = "", *text = nominal_text();
  struct kalman_description *d = (struct kalman_description *)malloc(sizeof *d);
  (void)state;
  assert_non_null(d);
  for (char *end = text + strlen(text) - 2; end > text; end -= 997) { /* most cuts are within a line */
    *end = '\0';
    assert_true(kalman_read(text, strlen(text), d, found, sizeof found) > 0);
    assert_true(found[0] != '\0');
  }
  assert_int_equal(kalman_read("", 0, d, found, sizeof found), 1);
  free(d);
  free(text);
}

static void missing_and_wrong_files_are_reported(void **state) {
  struct messages m;
  struct kalman_description *d = (struct kalman_description *)malloc(sizeof *d);
  char folder[SCRATCH_PATH_MAX], path[SCRATCH_PATH_MAX + 16], *original = nominal_text(),
                                                              *text = text_with(original, "term ", "ter ");
  (void)state;
  assert_non_null(d);
  messages_begin(&m);
  assert_int_equal(kalman_load_path(&m.services, "/nowhere/x.kalman", d), SL_EIO);
  assert_non_null(strstr(m.last, "/nowhere/x.kalman: there is no such file"));
  scratch_folder(folder);
  scratch_write(folder, "wrong.kalman", text, strlen(text));
  snprintf(path, sizeof path, "%s/wrong.kalman", folder);
  assert_int_equal(kalman_load_path(&m.services, path, d), SL_EFORMAT);
  assert_non_null(strstr(m.last, "wrong.kalman:6: there is no statement \"ter\""));
  free(text);
  free(original);
  free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_nominal_text_is_built_in),  cmocka_unit_test(wrong_heads_and_legs_are_refused),
      cmocka_unit_test(wrong_polynomials_are_refused), cmocka_unit_test(wrong_terms_are_refused),
      cmocka_unit_test(a_truncated_text_is_refused),   cmocka_unit_test(missing_and_wrong_files_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
