/* read_test.c: calibrations are read completely; wrong ones are refused with their line. */
#include "calibration/read.h"

#include "geometry/statements.h"
#include "support.h"

#include <math.h>

/* ------------------------------------------------------------------------------------------------- numbers */

static int number_of(const char *word, double *value) {
  char reason[256];
  struct statement s = {.next = word, .end = word + strlen(word), .reason = reason, .reason_size = sizeof reason};
  return statement_f64(&s, "number", -HUGE_VAL, HUGE_VAL, value);
}

static void numbers_are_the_nearest_doubles(void **state) {
  (void)state;
  static const char *const words[] = {
      "0",      "-1",    "0.1",   "4.0212e-05", "123456789012345", "-0.000271828", "1e22",
      "2.5e-7", "1e-22", "000.5", "1e+3",       "0.0874892",       "1.7e-10",      "9.00719925474099"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    double value = 7;
    assert_true(number_of(words[i], &value));
    assert_true(value == strtod(words[i], NULL));
  }
}

static void other_words_are_no_numbers(void **state) {
  (void)state;
  static const char *const words[] = {
      "",     "-",     ".",      "1.2.3", "1e", "e5", "1e5x", "nan", "inf", "0x10", "1,5", "--1", "1234567890123456",
      "1e23", "1e-23", "1e1000", "+1"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    double value = 7;
    if (number_of(words[i], &value)) fail_msg("%s is no number", words[i]);
  }
}

/* ------------------------------------------------------------------------------------------------- texts */

/* The nominal text with the only occurrence of `old` replaced by `new`. */
static char *edited(const char *old, const char *new) {
  char *text = text_of("nominal.calibration"), *at = strstr(text, old);
  if (!at) fail_msg("no \"%s\"", old);
  const size_t before = (size_t)(at - text), bytes = strlen(text) + strlen(new) + 1;
  char *made = (char *)malloc(bytes);
  assert_non_null(made);
  snprintf(made, bytes, "%.*s%s%s", (int)before, text, new, at + strlen(old));
  free(text);
  return made;
}

static uint32_t line_of(const char *text, const char *what) {
  const char *at = strstr(text, what);
  assert_non_null(at);
  uint32_t line = 1;
  for (const char *c = text; c < at; c++) line += *c == '\n';
  return line;
}

/* Checks that the text is refused at the line of `there`, or at the last line, with this reason. */
static void refused(const char *old, const char *new, const char *there, const char *reason) {
  char found[256] = "", *text = edited(old, new);
  struct calibration *c = (struct calibration *)malloc(sizeof *c);
  assert_non_null(c);
  uint32_t last = 0;
  for (const char *at = text; *at; at++) last += *at == '\n';
  const uint32_t line = calibration_read(text, strlen(text), c, found, sizeof found);
  const uint32_t expected = there ? line_of(text, there) : last;
  if (line != expected || strcmp(found, reason) != 0)
    fail_msg("line %u, \"%s\"; expected %u, \"%s\"", line, found, expected, reason);
  free(c);
  free(text);
}

static void missing_entries_are_named(void **state) {
  (void)state;
  refused("value ut.z_mid 2484.6\n", "", NULL, "ut.z_mid is missing");
  refused("value forward.z_ut", "value forward.z_u", "forward.z_u ", "there is no value \"forward.z_u\"");
  refused("value forward.x_range_qop 0.0005", "value forward.x_range_qop", "forward.x_range_qop",
          "forward.x_range_qop is missing");
}

/* A text that ends early: the first missing entry is reported. */
static void ends_too_soon(const char *where, const char *reason) {
  char found[256] = "", *text = text_of("nominal.calibration");
  struct calibration *c = (struct calibration *)malloc(sizeof *c);
  assert_non_null(c);
  char *end = strstr(text, where);
  assert_non_null(end);
  assert_true(calibration_read(text, (size_t)(end - text), c, found, sizeof found) > 0);
  assert_string_equal(found, reason);
  assert_int_equal(calibration_read("", 0, c, found, sizeof found), 1);
  free(c);
  free(text);
}

static void a_truncated_file_is_refused(void **state) {
  (void)state;
  ends_too_soon("table ut.integral", "ut.integral is missing");
  ends_too_soon("polynomial forward.y.11", "forward.y is missing");
  ends_too_soon("polynomial seeding.inverse_p", "seeding.inverse_p is missing");
  ends_too_soon("value ut.dxdy", "ut.dxdy is missing");
}

static void unknown_or_repeated_entries_are_refused(void **state) {
  (void)state;
  refused("value ut.z_mid 2484.6\n", "value ut.z_mid 2484.6\nvalue ut.z_mid 1\n", "ut.z_mid 1",
          "ut.z_mid a second time");
  refused("value ut.z_mid", "number ut.z_mid", "number ut.z_mid", "there is no statement \"number\"");
  refused("value ut.z_mid 2484.6", "value ut.z_mid 2484.6 1", "ut.z_mid", "\"1\" is one word too many");
  refused("value ut.z_mid 2484.6", "value ut.z_mid 2484,6", "ut.z_mid",
          "ut.z_mid is not a number of at most 15 digits: 2484,6");
  refused("polynomial forward.kick.2", "polynomial forward.kick.3", "forward.kick.3",
          "there is no polynomial \"forward.kick.3\"");
  refused("polynomial forward.y.11", "polynomial forward.y.011", "forward.y.011",
          "there is no polynomial \"forward.y.011\"");
  refused("polynomial forward.kick.2 tx ty", "polynomial forward.kick.1 tx ty # again", "# again",
          "forward.kick a second time");
}

static void invalid_polynomials_are_refused(void **state) {
  (void)state;
  refused("forward.kick.0 tx ty", "forward.kick.0 ty tx", "forward.kick.0", "expected the variable tx, found \"ty\"");
  refused("forward.kick.0 tx ty", "forward.kick.0 tx ty\npolynomial forward.kick.0 tx ty",
          "polynomial forward.kick.0 tx ty\nterm", "a polynomial without terms");
  refused("polynomial ut.z_kink_of_ty ty\n", "polynomial ut.z_kink_of_ty ty\nterm 1 16\n", "term 1 16",
          "a power is 16, expected 0 to 15");
  refused("value ut.z_mid 2484.6\n", "term 1 1\nvalue ut.z_mid 2484.6\n", "term 1 1", "a term without a polynomial");
}

static void invalid_tables_are_refused(void **state) {
  (void)state;
  refused("table ut.deflection layer 0 3 4 abs_ty 0 0.3 31", "table ut.deflection layer 0 3 4 abs_ty 0 0.3 32",
          "table ut.integral", "a table has 124 of 128 entries");
  refused("table ut.deflection layer 0 3 4 abs_ty 0 0.3 31", "table ut.deflection layer 0 3 4 abs_ty 0.3 0 31",
          "table ut.deflection", "an axis without room");
  refused("ty -0.3 0.3 31 z_origin", "ty -0.3 0.3 999 z_origin", "table ut.integral", "more than 4096 entries");
  refused("value ut.z_mid 2484.6\n", "row 1\nvalue ut.z_mid 2484.6\n", "row 1",
          "a row without a table, or one too many");
}

static void the_format_comes_first(void **state) {
  (void)state;
  refused("calibration 1 nominal", "calibration 2 nominal", "calibration 2", "format 2, expected 1");
  refused("calibration 1 nominal", "calibration 1", "calibration 1", "a name is missing");
  refused("calibration 1 nominal\n", "", "value ut.z_mid", "expected \"calibration\", found \"value\"");
}

/* ---------------------------------------------------------------------------------------------- evaluation */

static void a_table_is_linear_between_entries_and_constant_beyond(void **state) {
  (void)state;
  struct calibration *c = calibration_of("lhcb.calibration");
  const struct calibration_table *t = &c->ut_integral;
  assert_int_equal(t->axes[0].count * t->axes[1].count * t->axes[2].count, 3751);
  const double corner[3] = {-0.3, -250, 0}, low[3] = {-9, -999, -999}, high[3] = {9, 999, 999};
  assert_true(calibration_look_up(t, corner) == t->at[0]);
  assert_true(calibration_look_up(t, low) == t->at[0]);
  assert_true(calibration_look_up(t, high) == t->at[3750]);
  const double between[3] = {-0.29, -225, 60};
  const double expected =
      t->at[0] + 0.5 * (t->at[1] - t->at[0]) + 0.5 * (t->at[31] - t->at[0]) + 0.75 * (t->at[341] - t->at[0]);
  assert_true(fabs(calibration_look_up(t, between) - expected) < 1e-9);
  free(c);
}

static void a_polynomial_is_the_sum_of_its_terms(void **state) {
  (void)state;
  const struct calibration_polynomial p = {.count = 3, .terms = {{2, {0}}, {3, {1, 2}}, {5, {0, 0, 3}}}};
  const double variables[CALIBRATION_VARIABLES] = {2, 3, 0.5};
  assert_true(calibration_sum(&p, variables) == 2 + 3 * 2 * 9 + 5 * 0.125);
  assert_true(calibration_coefficient(&p, 0) == 2);
  assert_true(calibration_coefficient(&p, 1) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_the_nearest_doubles),
      cmocka_unit_test(other_words_are_no_numbers),
      cmocka_unit_test(missing_entries_are_named),
      cmocka_unit_test(a_truncated_file_is_refused),
      cmocka_unit_test(unknown_or_repeated_entries_are_refused),
      cmocka_unit_test(invalid_polynomials_are_refused),
      cmocka_unit_test(invalid_tables_are_refused),
      cmocka_unit_test(the_format_comes_first),
      cmocka_unit_test(a_table_is_linear_between_entries_and_constant_beyond),
      cmocka_unit_test(a_polynomial_is_the_sum_of_its_terms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
