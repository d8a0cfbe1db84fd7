/* where_integers_test.c: in lines without code, comparisons of integers of all types are exact for all 64 bits;
 * operations that are not exact are reported with their position. The programs run in the interpreter for CPUs. */
#define SL_TARGET_CPU 1
#include "selections_support.h"
#include "where_machine.h"

#define ALL_TYPES_FIELDS(F)                                           \
  F(offsets, u32, OFFSETS, "", "index of the first item of an event") \
  F(a_u8, u8, PER_ITEM, "", "any value")                              \
  F(a_u16, u16, PER_ITEM, "", "any value")                            \
  F(a_u32, u32, PER_ITEM, "", "any value")                            \
  F(a_u64, u64, PER_ITEM, "", "any value")                            \
  F(a_i8, i8, PER_ITEM, "", "any value")                              \
  F(a_i16, i16, PER_ITEM, "", "any value")                            \
  F(a_i32, i32, PER_ITEM, "", "any value")                            \
  F(a_i64, i64, PER_ITEM, "", "any value")                            \
  F(b_u64, u64, PER_ITEM, "", "second u64 value")                     \
  F(b_i64, i64, PER_ITEM, "", "second i64 value")                     \
  F(f, f32, PER_ITEM, "", "a float")                                  \
  F(t, u64, PER_ITEM, "us", "a time")
SL_COLLECTION(all_types, ALL_TYPES_FIELDS, "one field per type");

struct all_args {
  struct all_types_view items;
};
static const struct where_scope scopes[] = {
    {"", &all_types_collection, offsetof(struct all_args, items), SL_EXPRESSION_OF_CANDIDATE, 0, 0, NULL},
    {"count", NULL, offsetof(struct all_args, items), SL_EXPRESSION_COUNT, 0, 0, NULL}};
static const struct where_language language = {scopes, SL_COUNT_(scopes), NULL, 0, NULL, 0, NULL, 0};

static struct sl_expression_program program;
static struct sl_expression_fault fault;
static int compile(const char *text) { return where_compile(text, NULL, &language, &program, &fault); }

/* Values of the only item. */
static uint64_t u64_a, u64_b, time_us;
static int64_t i64_a, i64_b;
static uint32_t holds(const char *text) {
  const uint32_t offsets[] = {0, 1}, u32 = (uint32_t)u64_a;
  const uint16_t u16 = (uint16_t)u64_a;
  const uint8_t u8 = (uint8_t)u64_a;
  const int32_t i32 = (int32_t)i64_a;
  const int16_t i16 = (int16_t)i64_a;
  const int8_t i8 = (int8_t)i64_a;
  const float f = (float)i64_a;
  const struct all_args args = {.items = {.offsets = offsets,
                                          .a_u8 = &u8,
                                          .a_u16 = &u16,
                                          .a_u32 = &u32,
                                          .a_u64 = &u64_a,
                                          .a_i8 = &i8,
                                          .a_i16 = &i16,
                                          .a_i32 = &i32,
                                          .a_i64 = &i64_a,
                                          .b_u64 = &u64_b,
                                          .b_i64 = &i64_b,
                                          .f = &f,
                                          .t = &time_us}};
  if (compile(text) != SL_OK) fail_msg("%s: %u: %s", text, fault.at, fault.text);
  uint64_t table[WHERE_PROGRAM + SL_EXPRESSION_WORDS_MAX + 1] = {0};
  memcpy(table + WHERE_PROGRAM, program.words, program.count * sizeof *table);
  const struct where_size size = {program.count, program.leading};
  return where_evaluate(table, size, &args, 0, 0);
}

/* ------------------------------------------------------------------------------------------------- exactness */

/* An integer of any type: its sign and its bits. */
struct integer {
  const char *name;
  int is_negative;
  uint64_t bits;
};

static int is_true(const char *sign, struct integer x, struct integer y) {
  const int equal = x.bits == y.bits && x.is_negative == y.is_negative;
  const int less = x.is_negative != y.is_negative ? x.is_negative : x.bits < y.bits;
  const int with_equal = sign[1] == '=';
  if (*sign == '<') return less || (with_equal && equal);
  if (*sign == '>') return (!less && !equal) || (with_equal && equal);
  return *sign == '=' ? equal : !equal;
}

static void expect_all(struct integer x, struct integer y) {
  static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
  char text[128];
  for (size_t s = 0; s < SL_COUNT_(signs); s++) {
    snprintf(text, sizeof text, "%s %s %s", x.name, signs[s], y.name);
    if (holds(text) != (uint32_t)is_true(signs[s], x, y) || *fault.text)
      fail_msg("%s, with bits %llx, %llx: %s", text, (unsigned long long)x.bits, (unsigned long long)y.bits,
               fault.text);
  }
  snprintf(text, sizeof text, "has(%s, %s)", x.name, y.name);
  if (holds(text) != ((x.bits & y.bits) != 0))
    fail_msg("%s, with bits %llx, %llx", text, (unsigned long long)x.bits, (unsigned long long)y.bits);
}

#define SIGNED(name, type) \
  { name, (type)i64_a < 0, (uint64_t)(int64_t)(type)i64_a }
#define UNSIGNED(name, type) \
  { name, 0, (type)u64_a }

static void expect_values(uint64_t a, uint64_t b) {
  u64_a = a;
  u64_b = b;
  i64_a = (int64_t)a;
  i64_b = (int64_t)b;
  char unsigned_text[32], signed_text[32];
  snprintf(unsigned_text, sizeof unsigned_text, "%llu", (unsigned long long)b);
  snprintf(signed_text, sizeof signed_text, "%lld", (long long)i64_b);
  const struct integer left[] = {UNSIGNED("a_u8", uint8_t),   UNSIGNED("a_u16", uint16_t), UNSIGNED("a_u32", uint32_t),
                                 UNSIGNED("a_u64", uint64_t), SIGNED("a_i8", int8_t),      SIGNED("a_i16", int16_t),
                                 SIGNED("a_i32", int32_t),    SIGNED("a_i64", int64_t)};
  const struct integer right[] = {
      {"b_u64", 0, b}, {"b_i64", i64_b < 0, b}, {unsigned_text, 0, b}, {signed_text, i64_b < 0, b}};
  for (size_t l = 0; l < SL_COUNT_(left); l++)
    for (size_t r = 0; r < SL_COUNT_(right); r++) {
      expect_all(left[l], right[r]);
      expect_all(right[r], left[l]);
    }
}

static void comparisons_are_exact_for_all_bits(void **state) {
  (void)state;
  static const uint64_t edges[] = {0,
                                   1,
                                   UINT8_MAX,
                                   UINT16_MAX,
                                   (1u << 24) - 1,
                                   1u << 24,
                                   (1u << 24) + 1,
                                   INT32_MAX,
                                   1234567890,
                                   UINT32_MAX,
                                   (UINT64_C(1) << 53) + 1,
                                   INT64_MAX,
                                   UINT64_C(1) << 63,
                                   UINT64_MAX - 1,
                                   UINT64_MAX};
  for (size_t k = 0; k < SL_COUNT_(edges); k++)
    for (int above = -1; above <= 1; above++) {
      expect_values(edges[k], edges[k] + (uint64_t)above);
      expect_values(edges[k], UINT64_C(0) - edges[k] - (uint64_t)above);
    }
}

static void integer_literals_may_have_points_exponents_and_units(void **state) {
  (void)state;
  u64_a = 1234567890000;
  i64_a = -1234567890123;
  assert_true(holds("a_u64 == 1234567890e3 and a_u64 == 1.23456789E+12 and a_u64 == 1234567890000.00"));
  assert_true(holds("a_u64 != 1234567890001 and a_i64 == -1234567890123 and a_i64 == - - -1234567890123"));
  assert_true(holds("(a_u64) == (1234567890000) and not (a_u64) == 1234567890001"));
  time_us = UINT64_C(1700000000000001);
  assert_true(holds("t > 1700000000 s and t < 1700000000.000002 s and t == 1700000000000001 and t != 1700000000 s"));
  time_us = UINT64_C(1700000000000000);
  assert_true(holds("t == 1700000000 s and t == 1700000000000 ms and t == 1700000000000000 us"));
}

static void comparisons_of_integers_with_fractions_are_exact(void **state) {
  (void)state;
  u64_a = UINT64_C(20000001);
  i64_a = -20000001;
  assert_true(holds("a_u64 > 20000000.5 and a_u64 >= 20000000.5 and a_u64 < 20000001.5 and a_u64 <= 20000001.5"));
  assert_false(holds("a_u64 > 20000001.5 or a_u64 >= 20000001.5 or a_u64 < 20000000.5 or a_u64 <= 20000000.5"));
  assert_true(holds("20000000.5 < a_u64 and 20000000.5 <= a_u64 and 20000001.5 > a_u64 and 20000001.5 >= a_u64"));
  assert_false(holds("20000001.5 < a_u64 or 20000001.5 <= a_u64 or 20000000.5 > a_u64 or 20000000.5 >= a_u64"));
  assert_true(holds("a_i64 > -20000001.5 and a_i64 < -20000000.5 and -20000001.5 < a_i64 and -20000000.5 > a_i64"));
  u64_a = 3;
  assert_false(holds("a_u8 < 2.99999999")); /* as a float it is 3 */
  assert_true(holds("a_u8 > 2.99999999 and a_u8 < 3.00000001"));
}

static void arithmetic_of_small_integers_is_exact_without_warnings(void **state) {
  (void)state;
  u64_a = 200;
  i64_a = -5;
  assert_true(holds("a_u8 + a_u16 == 400 and a_u8 * a_i8 == -1000 and -a_i16 == 5 and abs(a_i8) == 5"));
  assert_string_equal(fault.text, "");
  assert_true(holds("max(a_u8, a_u16) - 1 < a_u64 and count + 1 == 2 and has(a_u8 + 56, 256)"));
  assert_string_equal(fault.text, "");
  assert_true(holds("f == -5 and a_u8 / 3 > 66.6"));
  assert_string_equal(fault.text, "");
}

static void small_integers_take_two_instructions(void **state) {
  (void)state;
  assert_int_equal(compile("a_u16 == 4 and a_i8 < 0"), SL_OK);
  assert_int_equal(program.count, 4);
  assert_int_equal(compile("a_u64 < 16777215"), SL_OK); /* rounding cannot change a comparison with a small integer */
  assert_int_equal(program.count, 2);
  assert_int_equal(compile("a_u64 < 16777216"), SL_OK);
  assert_int_equal(program.count, 4);
}

static void exact_comparisons_combine_with_other_conditions(void **state) {
  (void)state;
  u64_a = 16777217;
  i64_a = 7;
  assert_true(holds("a_u64 == 16777217 and f == 7 or f > 8"));
  assert_false(holds("a_u64 == 16777216 and f == 7 or f > 8"));
  assert_true(holds("a_u64 == 16777216 or not a_u64 == 16777218 and (a_u64 != 16777216 and f + 1 == 8)"));
  assert_true(holds("(f > 8 or a_u64 == 16777217) and (a_u32 == 16777216 or a_u32 == 16777217) and f == 7"));
}

/* ---------------------------------------------------------------------------------------------------- faults */

static void expect_fault(int status, const char *text, const char *mark, const char *expected) {
  const size_t at = strcspn(mark, "^");
  const int found = compile(text);
  if (found != status || (*fault.text && fault.at != at) || !strstr(fault.text, expected))
    fail_msg("`%s`: %d, byte %u, not %zu: `%s`, not `%s`", text, found, fault.at, at, fault.text, expected);
  assert_int_equal(fault.is_warning, status == SL_OK);
}

static void inexact_operations_are_reported(void **state) {
  (void)state;
  expect_fault(SL_OK, "f > 1 and a_u64 > f", /*      */ "          ^", "`a_u64` is rounded above 2^24");
  expect_fault(SL_OK, "a_u32 - 5 == 100", /*         */ "^", "`a_u32` is rounded");
  expect_fault(SL_OK, "1 + a_u8 + a_i32 > 2", /*     */ "           ^", "`a_i32` is rounded");
  expect_fault(SL_OK, "-a_u64 < 2", /*               */ " ^", "`a_u64` is rounded");
  expect_fault(SL_OK, "sqrt(a_u64) < 2", /*          */ "     ^", "`a_u64` is rounded");
  expect_fault(SL_OK, "log(a_u64) < 2 or abs(a_i64) > 1", "    ^", "`a_u64` is rounded");
  expect_fault(SL_OK, "min(a_u64, 3) < 2", /*        */ "    ^", "`a_u64` is rounded");
  expect_fault(SL_OK, "f < a_u64 / 1e6", /*          */ "    ^", "`a_u64` is rounded");
  expect_fault(SL_OK, "has(a_u64, f)", /*            */ "    ^", "`a_u64` is rounded");
  expect_fault(SL_OK, "a_u16 * a_u16 == 5", /*       */ "^", "the result can exceed 2^24");
  expect_fault(SL_OK, "f == 16777217", /*            */ "     ^", "`16777217` is rounded to 16777216");
  expect_fault(SL_OK, "f * 123456789 > 1", /*        */ "    ^", "`123456789` is rounded to 123456792");
  expect_fault(SL_EINVAL, "a_u64 == 2.5", /*         */ "         ^", "an integer is never equal to `2.5`");
  expect_fault(SL_EINVAL, "2.5 != a_i8", /*          */ "^", "an integer is never equal to `2.5`");
  expect_fault(SL_EINVAL, "a_u64 < 1e22", /*         */ "        ^", "`1e22` is outside the range of 64-bit integers");
  expect_fault(SL_EINVAL, "a_u64 > 18446744073709551616", "        ^", "an integer has at most 64 bits");
  expect_fault(SL_EINVAL, "a_i64 > -9223372036854775809", "        ^", "outside the range of 64-bit integers");
  expect_fault(SL_EINVAL, "f > 18446744073709551615", /**/ "    ^", "at most 15 digits");
  assert_int_equal(compile("f > 1e19 and f > -1e19 and f < 1e12"), SL_OK);
  assert_string_equal(fault.text, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(comparisons_are_exact_for_all_bits),
      cmocka_unit_test(integer_literals_may_have_points_exponents_and_units),
      cmocka_unit_test(comparisons_of_integers_with_fractions_are_exact),
      cmocka_unit_test(arithmetic_of_small_integers_is_exact_without_warnings),
      cmocka_unit_test(small_integers_take_two_instructions),
      cmocka_unit_test(exact_comparisons_combine_with_other_conditions),
      cmocka_unit_test(inexact_operations_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
