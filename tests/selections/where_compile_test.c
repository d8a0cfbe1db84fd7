/* where_compile_test.c: the compiler of lines without code: errors and their positions, limits, and instructions.
 * Results of programs are tested in where_lines_test.c. */
#include "selections_support.h"
#include "where_language.h"

#include <math.h>

static struct sl_expression_program program;
static struct sl_expression_fault fault;

static int compile(const char *text) { return where_compile(text, NULL, &where_test_language, &program, &fault); }

static void expect_fault(const char *text, const char *mark, const char *expected) {
  const size_t at = strcspn(mark, "^");
  if (compile(text) != SL_EINVAL) fail_msg("`%s` compiles without an error", text);
  if (fault.at != at || !strstr(fault.text, expected))
    fail_msg("`%s`: byte %u, not %zu: `%s`, not `%s`", text, fault.at, at, fault.text, expected);
}

static void expect_warning(const char *text, const char *mark, const char *expected) {
  const size_t at = strcspn(mark, "^");
  if (compile(text) != SL_OK) fail_msg("`%s`: %s", text, fault.text);
  if (!fault.is_warning || fault.at != at || !strstr(fault.text, expected))
    fail_msg("`%s`: byte %u, not %zu: `%s`, not `%s`", text, fault.at, at, fault.text, expected);
}

static void unknown_names_are_reported_with_the_nearest_name(void **state) {
  (void)state;
  expect_fault("pt > 1 and chi > 2", /**/ "           ^", "there is no `chi`; did you mean chi2?");
  expect_fault("first.ptt > 1", /*     */ "^", "there is no `first.ptt`; did you mean first.pt?");
  expect_fault("event.bench == 1", /*  */ "^", "there is no `event.bench`; did you mean event.bunch?");
  expect_fault("event.vertice == 1", /**/ "^", "there is no `event.vertice`; did you mean event.vertices?");
  expect_fault("xyzzyplugh > 1", /*    */ "^", "there is no `xyzzyplugh`");
  assert_null(strstr(fault.text, "did you mean"));
  expect_fault("offsets > 1", /*       */ "^", "there is no `offsets`"); /* no value per candidate */
  expect_fault("pt. > 1", /*           */ "  ^", "an operator is missing before `.`");
  expect_fault("mx(pt, p) > 1", /*     */ "^", "there is no function `mx`; did you mean max?");
  expect_fault("pt(1) > 1", /*         */ "^", "there is no function `pt`");
  expect_fault("mass(pion, K) > 1", /* */ "     ^", "`mass` needs particles");
  expect_fault("x > 1 mm^", /*         */ "         ^", "`^` needs an integer from 2 to 9");
  expect_fault("pt > 1 KeV", /*        */ "       ^", "`KeV` is not a unit");
}

static void conditions_and_numbers_are_distinct_types(void **state) {
  (void)state;
  expect_fault("pt", /*              */ "^", "a line needs a condition, such as pt > 500, but this is a number");
  expect_fault("pt + (p > 2) > 1", /**/ "     ^", "`+` needs a number, but this is a condition");
  expect_fault("not pt", /*          */ "    ^", "`not` needs a condition");
  expect_fault("pt > 1 and p", /*    */ "           ^", "`and` needs a condition");
  expect_fault("p or pt > 1", /*     */ "^", "`or` needs a condition");
  expect_fault("abs(pt > 1) > 1", /* */ "    ^", "`abs` needs a number");
  expect_fault("-(pt > 1) > 1", /*   */ " ^", "`-` needs a number");
  expect_fault("(pt > 1) == 1", /*   */ "^", "a comparison needs a number");
  expect_fault("2 < eta < 5", /*     */ "        ^", "write 2 < eta and eta < 5");
  expect_fault("2 < eta == 5 > 1", /**/ "        ^", "write 2 < eta and eta < 5");
  expect_fault("has(leptons, 1) > 0", "^", "a comparison needs a number");
}

static void wrong_powers_are_reported(void **state) {
  (void)state;
  expect_fault("x^1 > 2", /*     */ "  ^", "`^` needs an integer from 2 to 9");
  expect_fault("x^2.5 > 2", /*   */ "  ^", "`^` needs an integer from 2 to 9");
  expect_fault("x^10 > 2", /*    */ "  ^", "`^` needs an integer from 2 to 9");
  expect_fault("x^p > 2", /*     */ "  ^", "`^` needs an integer from 2 to 9");
  expect_fault("(x > 1)^2 > 2", "^", "`^` needs a number");
  expect_fault("x^2 > 1 mm", /*  */ "        ^", "`x^2` is in mm^2");
  expect_fault("atan2(x, p) > 1", "         ^", "`x` is a length in mm, but `p` is an energy in MeV");
  expect_fault("dphi(x, y) > 1", /**/ "     ^", "`dphi` needs a number without a unit");
  assert_int_equal(compile("x^2 + y^2 > 4 mm^2 and 2^3 == 8"), SL_OK);
  assert_string_equal(fault.text, "");
}

static void wrong_numbers_of_arguments_are_reported(void **state) {
  (void)state;
  expect_fault("min(pt) > 1", /*       */ "^", "`min` takes 2 arguments, not 1");
  expect_fault("abs() > 1", /*         */ "^", "`abs` takes 1 argument, not 0");
  expect_fault("max(pt, p, 3) > 1", /* */ "           ^", "`max` takes 2 arguments, but there are more");
  expect_fault("mass(pi) > 1", /*      */ "^", "`mass` takes 2 arguments, not 1");
  expect_fault("mass(pi, K, p) > 1", /**/ "            ^", "`mass` takes 2 arguments");
}

static void missing_parts_are_reported(void **state) {
  (void)state;
  expect_fault("(pt > 1", /*          */ "^", "this ( has no matching )");
  expect_fault("abs(pt > 1", /*       */ "    ^", "`abs` needs a number");
  expect_fault("p > 1 and abs(pt", /* */ "             ^", "this ( has no matching )");
  expect_fault("pt > 1)", /*          */ "      ^", "this ) has no matching (");
  expect_fault("pt >", /*             */ "    ^", "a value is missing at the end");
  expect_fault("pt > 1 and", /*       */ "          ^", "a value is missing at the end");
  expect_fault("and pt > 1", /*       */ "^", "a value is missing before `and`");
  expect_fault("pt > * 2", /*         */ "     ^", "a value is missing before `*`");
  expect_fault("pt > 1 p > 2", /*     */ "       ^", "`p` is not a unit");
  expect_fault("pt > p p > 2", /*     */ "       ^", "an operator is missing before `p`");
  expect_fault("pt > 1, p > 2", /*    */ "      ^", "an operator is missing before `,`");
  expect_fault("pt > 1 && p > 2", /*  */ "       ^", "`&` is not an operator; write and");
  expect_fault("pt = 1", /*           */ "   ^", "`=` is not an operator; write ==");
  expect_fault("!(pt > 1)", /*        */ "^", "write not");
  expect_fault("pt > \xc3\xa9", /*    */ "     ^", "a value is missing before `\xc3\xa9`"); /* the whole character */
  expect_fault("pt > 1234567890123456", "     ^", "at most 15 digits");
  expect_fault("pt > 1e23", /*        */ "     ^", "an exponent within 22");
}

static void wrong_units_are_reported(void **state) {
  (void)state;
  expect_fault("pt > 2 mm", /*             */ "       ^", "`pt` is an energy in MeV, but `2 mm` is a length in mm");
  expect_fault("2 cm > pt", /*             */ "  ^", "`2 cm` is a length in mm, but `pt` is an energy in MeV");
  expect_fault("chi2 < 20 MeV", /*         */ "          ^",
               "`chi2` is a number without a unit, but `20 MeV` is an energy");
  expect_fault("charge == 1 um", /*        */ "            ^", "`charge` is a number without a unit");
  expect_fault("event.run > 5 s", /*       */ "              ^", "`event.run` is a number without a unit");
  expect_fault("event.vertices < 2 mm", /* */ "                   ^", "`event.vertices` is a number without a unit");
  expect_fault("event.gps_time > 5 GeV", /**/ "                   ^", "`event.gps_time` is a time in us");
  expect_fault("x > 2 mm2", /*             */ "      ^", "`x` is a length in mm, but `2 mm2` is in mm^2");
  expect_fault("x * y > 2 mm", /*          */ "          ^", "`x * y` is in mm^2, but `2 mm` is a length in mm");
  expect_fault("p / x > 2 MeV", /*         */ "          ^", "`p / x` is in MeV/mm");
  expect_fault("1 MeV / p > 1 mm", /*      */ "              ^", "`1 MeV / p` is a number without a unit");
  expect_fault("1 mm / (p * p) > 1 mm", /* */ "                   ^", "is in mm/MeV^2, but");
  expect_fault("sqrt(x) > 2 mm", /*        */ "            ^", "`sqrt(x)` is in mm^0.5");
  expect_fault("pt + 2 mm > 3", /*         */ "       ^", "`pt` is an energy in MeV, but `2 mm` is a length");
  expect_fault("pt + 1 > 2 mm", /*         */ "           ^", "`pt + 1` is an energy in MeV");
  expect_fault("-abs(pt) > 2 mm", /*       */ "             ^", "`-abs(pt)` is an energy in MeV");
  expect_fault("min(pt, 2 mm) > 1", /*     */ "          ^", "`pt` is an energy in MeV");
  expect_fault("max(pt, p) > (2 mm)", /*   */ "                ^", "`max(pt, p)` is an energy in MeV");
  expect_fault("pt > ip", /*               */ "     ^", "`pt` is an energy in MeV, but `ip` is a length in mm");
  expect_fault("mass(pi, K) > 2 mm", /*    */ "                ^", "`mass(pi, K)` is an energy in MeV");
  expect_fault("mass(pi, 2 mm) > 2", /*    */ "           ^",
               "`mass` needs an energy in MeV, but `2 mm` is a length in mm");
  expect_fault("log(pt) > 2", /*           */ "    ^", "`log` needs a number without a unit, but `pt` is an energy");
  expect_fault("log(2 mm) > 2", /*         */ "      ^", "divide it by a unit, such as 1 GeV");
  expect_fault("has(leptons, 1 mm)", /*    */ "               ^", "`has` needs a number without a unit");
}

static void matching_units_are_accepted(void **state) {
  (void)state;
  static const char *const texts[] = {
      "pt > 2 GeV and x < 2 cm and event.gps_time > 5 s",
      "x * x + y * y > 4 mm2 and x * y > 4 mm^2 and sqrt(x * x + y * y) > 60 um",
      "p / 1 GeV > 3 and log(pt / 1 GeV) > log(2 GeV / 1 MeV) and (26 GeV - pt) / p > 1",
      "pt > 2000 and x > 3 and chi2 < 5 and charge == 1 and mass(pi, 1 GeV) > 2 GeV",
      "1864.83 MeV * rho >= 60 um * p and dz / p > 1 mm / 1 GeV and rho * rho > 1 m2"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    if (compile(texts[i]) != SL_OK || *fault.text) fail_msg("`%s`: byte %u: %s", texts[i], fault.at, fault.text);
  }
}

/* A factor without a unit may stand for a quantity with a unit. */
static void wrong_units_of_products_with_bare_factors_are_warnings(void **state) {
  (void)state;
  expect_warning("2 * pt > 2 mm", /*            */ "           ^",
                 "`2 * pt` is an energy in MeV, but `2 mm` is a length in mm, if");
  expect_warning("(pt + p) / 2 > 1 mm", /*      */ "                 ^", "write their units");
  expect_warning("1864 * rho >= 60 um * p", /*  */ "                 ^", "`1864 * rho` is a length in mm");
  expect_warning("log(2 * p / 1 mm) > 1", /*    */ "              ^", "`log` needs a number without a unit");
  assert_int_equal(compile("ip > 0.0116 + 23.4 / pt and ip < 0.04 * dz and 2 * pt > x"), SL_OK);
  assert_string_equal(fault.text, "");
}

static void exceeded_limits_are_reported(void **state) {
  (void)state;
  char text[8 * SL_EXPRESSION_WORDS_MAX] = "";
  for (int i = 0; i < SL_EXPRESSION_WORDS_MAX / 2; i++)
    strcat(text, i == 0 ? "pt > 1" : " and pt > 1"); /* two words each */
  assert_int_equal(compile(text), SL_OK);
  assert_int_equal(program.count, SL_EXPRESSION_WORDS_MAX);
  strcat(text, " and pt > 1");
  assert_int_equal(compile(text), SL_EINVAL);
  assert_non_null(strstr(fault.text, "it has more than 512 instructions"));

  for (int depth = 63; depth < 65; depth++) {
    memset(text, '(', (size_t)depth);
    strcpy(text + depth, "pt > 1");
    memset(text + strlen(text) + 1, 0, 1);
    for (int i = 0; i < depth; i++) strcat(text, ")");
    assert_int_equal(compile(text), depth < 64 ? SL_OK : SL_EINVAL);
  }
  assert_int_equal(fault.at, 64);
  assert_non_null(strstr(fault.text, "nested more than 64 deep"));

  for (int count = SL_EXPRESSION_STACK_MAX; count <= SL_EXPRESSION_STACK_MAX + 1; count++) {
    strcpy(text, "1 > ");
    for (int i = 0; i < count - 1; i++) strcat(text, "(pt / ");
    strcat(text, "-p");
    for (int i = 0; i < count - 1; i++) strcat(text, ")");
    assert_int_equal(compile(text), count <= SL_EXPRESSION_STACK_MAX ? SL_OK : SL_EINVAL);
  }
  assert_non_null(strstr(fault.text, "more than 8 intermediate results"));
}

/* ---------------------------------------------------------------------------------------------- programs */

static uint32_t operation(uint32_t i) { return (uint32_t)program.words[i] & SL_EXPRESSION_8_BITS; }
static uint32_t jump(uint32_t i) {
  return (uint32_t)program.words[i] >> SL_EXPRESSION_JUMP_SHIFT & SL_EXPRESSION_4_BITS;
}
static uint32_t target(uint32_t i) { return (uint32_t)program.words[i] >> SL_EXPRESSION_TARGET_SHIFT; }
static float constant(uint32_t i) {
  return sl_f32_from_bits((uint32_t)(program.words[i] >> SL_EXPRESSION_CONSTANT_SHIFT));
}

static void a_requirement_is_two_instructions_and_the_second_jumps(void **state) {
  (void)state;
  assert_int_equal(compile(" pt > 2000 and chi2 < 20 or p >= 1 "), SL_OK);
  assert_int_equal(program.count, 7);
  assert_int_equal(operation(0), SL_EXPRESSION_TEST);
  assert_int_equal(operation(1), SL_EXPRESSION_GREATER);
  assert_int_equal(jump(1), SL_EXPRESSION_IF_FALSE);
  assert_int_equal(target(1), 4); /* the separate jump instruction of `or` */
  assert_int_equal(operation(3), SL_EXPRESSION_LESS);
}

static void comparisons_of_values_with_constants_lead(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint32_t leading; /* comparisons */
  } cases[] = {{"pt > 2000", 1},
               {"2000 < pt", 0},
               {"pt > 2000 and chi2 < 20 and p >= 1", 3},
               {"pt > 2000 and pt < p and p >= 1", 1},
               {"pt < p and pt > 2000", 0},
               {"pt > 2000 and chi2 < 20 or p >= 1", 0},
               {"pt > 2000 and (chi2 < 20 or p >= 1)", 1},
               {"not pt > 2000", 0},
               {"pt > 2000 and not chi2 < 20", 1},
               {"pt + 1 > 2000", 0},
               {"", 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(compile(cases[i].text), SL_OK);
    if (program.leading != 2 * cases[i].leading) fail_msg("%s: %u words", cases[i].text, program.leading);
  }
}

static void an_empty_expression_is_an_empty_program(void **state) {
  (void)state;
  assert_int_equal(compile(" \n"), SL_OK);
  assert_int_equal(program.count, 0);
}

static void literals_are_rounded_once(void **state) {
  (void)state;
  static const struct {
    const char *text;
    float value;
  } cases[] = {{"1864.83", 1864.83f},
               {"1.2 GeV", 1200.0f},
               {"60 um", 0.06f},
               {".06mm", 0.06f},
               {"0.1 cm", 1.0f},
               {"2e3", 2000.0f},
               {"2.5E-1", 0.25f},
               {"3 TeV", 3e6f},
               {"16777217", 16777216.0f},
               {"0.300000012", 0.3f},
               {"1e22", 1e22f},
               {"1.e-22", 1e-22f},
               {"000000000000000000012", 12.0f},
               {"341 MeV", 341.0f}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[64];
    snprintf(text, sizeof text, "%s > %s", strchr(cases[i].text, 'm') ? "x" : "pt", cases[i].text);
    assert_int_equal(compile(text), SL_OK);
    if (constant(1) != cases[i].value) fail_msg("%s: %.9g, not %.9g", cases[i].text, constant(1), cases[i].value);
    snprintf(text, sizeof text, "%s > - %s", strchr(cases[i].text, 'm') ? "x" : "pt", cases[i].text);
    assert_int_equal(compile(text), SL_OK);
    assert_int_equal(program.count, 2); /* the sign is part of the constant */
    assert_true(constant(1) == -cases[i].value);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unknown_names_are_reported_with_the_nearest_name),
      cmocka_unit_test(conditions_and_numbers_are_distinct_types),
      cmocka_unit_test(wrong_powers_are_reported),
      cmocka_unit_test(wrong_numbers_of_arguments_are_reported),
      cmocka_unit_test(missing_parts_are_reported),
      cmocka_unit_test(wrong_units_are_reported),
      cmocka_unit_test(matching_units_are_accepted),
      cmocka_unit_test(wrong_units_of_products_with_bare_factors_are_warnings),
      cmocka_unit_test(exceeded_limits_are_reported),
      cmocka_unit_test(a_requirement_is_two_instructions_and_the_second_jumps),
      cmocka_unit_test(comparisons_of_values_with_constants_lead),
      cmocka_unit_test(an_empty_expression_is_an_empty_program),
      cmocka_unit_test(literals_are_rounded_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
