/* json_test.c: the written text is valid, indented JSON with exact numbers. */
#include "base/json.h"

#include "support.h"

#include <math.h>

static void objects_and_arrays_nest_and_are_indented(void **state) {
  (void)state;
  struct sl_json j;
  sl_json_begin(&j);
  sl_json_begin_object(&j, NULL);
  sl_json_integer(&j, "events", -3);
  sl_json_begin_array(&j, "list");
  sl_json_integer(&j, NULL, 1);
  sl_json_begin_object(&j, NULL);
  sl_json_end_object(&j);
  sl_json_begin_array(&j, NULL);
  sl_json_end_array(&j);
  sl_json_boolean(&j, NULL, 1);
  sl_json_end_array(&j);
  sl_json_string(&j, "none", NULL);
  sl_json_raw(&j, "raw", "{\n  \"a\": 1\n}\n");
  sl_json_end_object(&j);
  assert_string_equal(sl_json_text(&j),
                      "{\n"
                      "  \"events\": -3,\n"
                      "  \"list\": [\n"
                      "    1,\n"
                      "    {},\n"
                      "    [],\n"
                      "    true\n"
                      "  ],\n"
                      "  \"none\": null,\n"
                      "  \"raw\": {\n"
                      "    \"a\": 1\n"
                      "  }\n"
                      "}");
  sl_json_free(&j);
}

static void assert_value(const char *expected, double value) {
  struct sl_json j;
  sl_json_begin(&j);
  sl_json_number(&j, NULL, value);
  assert_string_equal(sl_json_text(&j), expected);
  sl_json_free(&j);
}

static void integers_have_all_64_bits(void **state) {
  (void)state;
  struct sl_json j;
  sl_json_begin(&j);
  sl_json_begin_array(&j, NULL);
  sl_json_integer(&j, NULL, INT64_MIN);
  sl_json_unsigned(&j, NULL, UINT64_MAX);
  sl_json_end_array(&j);
  assert_string_equal(sl_json_text(&j), "[\n  -9223372036854775808,\n  18446744073709551615\n]");
  sl_json_free(&j);
}

static void numbers_are_the_shortest_that_read_back(void **state) {
  (void)state;
  assert_value("0.1", 0.1);
  assert_value("5", 5.0);
  assert_value("-0", -0.0);
  assert_value("0.30000000000000004", 0.1 + 0.2);
  assert_value("1e+22", 1e22);
  assert_value("1.7976931348623157e+308", 1.7976931348623157e308);
  assert_value("5e-324", 4.9406564584124654e-324);
  assert_value("1.2345678901234568e+17", 123456789012345678.0);
  assert_value("null", NAN);
  assert_value("null", INFINITY);
  assert_value("null", -INFINITY);
}

static void random_numbers_read_back_exactly(void **state) {
  (void)state;
  uint64_t bits = 88172645463325252ull;
  for (int i = 0; i < 20000; i++) {
    bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
    double value;
    memcpy(&value, &bits, sizeof(value));
    if (!isfinite(value)) continue;
    struct sl_json j;
    sl_json_begin(&j);
    sl_json_number(&j, NULL, value);
    assert_true(strtod(sl_json_text(&j), NULL) == value);
    sl_json_free(&j);
  }
}

static void assert_text(const char *expected, const char *value) {
  struct sl_json j;
  sl_json_begin(&j);
  sl_json_string(&j, NULL, value);
  assert_string_equal(sl_json_text(&j), expected);
  sl_json_free(&j);
}

static void texts_are_escaped(void **state) {
  (void)state;
  assert_text("\"\"", "");
  assert_text("\"a\\\"b\\\\c/\\n\\t\\r\\b\\f\\u0001\\u001f\\u007f\"", "a\"b\\c/\n\t\r\b\f\x01\x1f\x7f");
  assert_text("\"\\u009b31m\"",
              "\xc2\x9b"
              "31m");
  assert_text("\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\"", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
}

static void invalid_utf8_is_replaced(void **state) {
  (void)state;
  assert_text("\"\\ufffda\"", "\xFF\x61");
  assert_text("\"\\ufffd\"", "\xC3");                                  /* cut short */
  assert_text("\"\\ufffd\\ufffd\"", "\xC0\x80");                       /* overlong */
  assert_text("\"\\ufffd\\ufffd\\ufffd\"", "\xED\xA0\x80");            /* a surrogate */
  assert_text("\"\\ufffd\\ufffd\\ufffd\\ufffd\"", "\xF4\x90\x80\x80"); /* beyond U+10FFFF */
}

static void wrongly_nested_calls_fail(void **state) {
  (void)state;
  struct sl_json j;
  sl_json_begin(&j);
  sl_json_begin_object(&j, NULL);
  sl_json_integer(&j, NULL, 1); /* no key in an object */
  assert_null(sl_json_text(&j));
  sl_json_free(&j);

  sl_json_begin(&j);
  sl_json_begin_array(&j, NULL);
  sl_json_end_object(&j);
  assert_null(sl_json_text(&j));
  sl_json_free(&j);

  sl_json_begin(&j);
  sl_json_integer(&j, NULL, 1);
  sl_json_integer(&j, NULL, 2); /* a second document */
  assert_null(sl_json_text(&j));
  sl_json_free(&j);

  sl_json_begin(&j);
  for (int i = 0; i < SL_JSON_DEPTH_MAX; i++) sl_json_begin_array(&j, NULL);
  assert_non_null(sl_json_text(&j));
  sl_json_begin_array(&j, NULL);
  assert_null(sl_json_text(&j));
  sl_json_free(&j);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(objects_and_arrays_nest_and_are_indented),
      cmocka_unit_test(integers_have_all_64_bits),
      cmocka_unit_test(numbers_are_the_shortest_that_read_back),
      cmocka_unit_test(random_numbers_read_back_exactly),
      cmocka_unit_test(texts_are_escaped),
      cmocka_unit_test(invalid_utf8_is_replaced),
      cmocka_unit_test(wrongly_nested_calls_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
