/* text_test.c: any bytes give well-formed XML and JSON (sluice/text.h); tables show undefined numbers as dashes;
 * identifiers of events (base/event_id.h). */
#include "base/event_id.h"
#include "base/table_text.h"
#include "support.h"

#include <sluice/text.h>

#include <math.h>

static uint32_t encode(uint32_t character, char *text) {
  if (character < 0x80) {
    text[0] = (char)character;
    return 1;
  }
  const uint32_t bytes = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
  const unsigned first[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (uint32_t i = bytes; i-- > 1; character >>= 6) text[i] = (char)(0x80 | (character & 0x3F));
  text[0] = (char)(first[bytes] | character);
  return bytes;
}

/* XML 1.0, production 2. */
static int xml_has(uint32_t c) {
  return c == 9 || c == 10 || c == 13 || (c >= 0x20 && c <= 0xD7FF) || (c >= 0xE000 && c <= 0xFFFD) ||
         (c >= 0x10000 && c <= 0x10FFFF);
}

static void each_character_is_read_and_written(void **state) {
  (void)state;
  for (uint32_t c = 1; c <= 0x1100FF; c++) {
    char text[8] = {0}, written[SL_TEXT_BYTES];
    uint32_t bytes, written_bytes;
    const uint32_t length = encode(c, text);
    const int is_sound = c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
    assert_int_equal(sl_text_character(text, &bytes), is_sound ? c : 0);
    assert_int_equal(bytes, is_sound ? length : 1);
    assert_int_equal(sl_text_xml(text, written), bytes);
    const uint32_t shown = sl_text_character(written, &written_bytes);
    assert_true(xml_has(shown));
    if (!is_sound) assert_int_equal(shown, 0xFFFD);
    if (c >= 0xA0 && c < 0xD800) assert_int_equal(shown, c);
    assert_int_equal(sl_text_json(text, written), bytes);
    assert_true(*written == '\\' || sl_text_character(written, &written_bytes) == c);
    assert_true(*written == '\\' || (c >= ' ' && c != '"'));
  }
}

static void invalid_bytes_are_read_one_by_one(void **state) {
  (void)state;
  static const char *const wrong[] = {
      "\x80",         "\xBF",     "\xC0\x80",         "\xC1\xBF",         "\xE0\x9F\xBF",
      "\xED\xA0\x80", "\xE2\x82", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
      "\xFF",         "\xC3",     "\xF0\x9F\x98"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char written[SL_TEXT_BYTES];
    uint32_t bytes;
    assert_int_equal(sl_text_character(wrong[i], &bytes), 0);
    assert_int_equal(bytes, 1);
    assert_int_equal(sl_text_xml(wrong[i], written), 1);
    assert_string_equal(written, "\xEF\xBF\xBD");
    assert_int_equal(sl_text_json(wrong[i], written), 1);
    assert_string_equal(written, "\\ufffd");
  }
}

static void special_characters_of_xml_and_json_are_escaped(void **state) {
  (void)state;
  static const struct {
    const char *text, *xml, *json;
  } cases[] = {{"&", "&#38;", "&"},
               {"<", "&#60;", "<"},
               {"\"", "&#34;", "\\\""},
               {"'", "&#39;", "'"},
               {"\n", " ", "\\n"},
               {"\\", "\\", "\\\\"},
               {"\x01", "\xEF\xBF\xBD", "\\u0001"},
               {"\xC2\x85", "\xEF\xBF\xBD", "\\u0085"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char written[SL_TEXT_BYTES];
    sl_text_xml(cases[i].text, written);
    assert_string_equal(written, cases[i].xml);
    sl_text_json(cases[i].text, written);
    assert_string_equal(written, cases[i].json);
  }
}

static void expect_table(const char *expected, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void expect_table(const char *expected, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = sl_table_text(format, arguments);
  va_end(arguments);
  assert_string_equal(text, expected);
  free(text);
}

static void undefined_numbers_are_dashes_of_equal_width(void **state) {
  (void)state;
  expect_table("[    -] [-   ] [-] [      -] 5 %", "[%5.1f] [%-4g] [%e] [%*.*f] %d %%", NAN, INFINITY, -NAN, 7, 2,
               -(double)INFINITY, 5);
  expect_table("nan of 18446744073709551615, -7 x 00ff -2.50 1.25", "%s of %llu, %ld %c %04x %.2f %Lg", "nan",
               18446744073709551615ull, -7l, 'x', 255u, -2.5, 1.25l);
  expect_table("12 abc 3", "%zu %.3s %hhd", (size_t)12, "abcdef", (signed char)3);
}

static void words_for_counts_are_singular_for_one(void **state) {
  (void)state;
  assert_string_equal(sl_plural(0, "event", "events"), "events");
  assert_string_equal(sl_plural(1, "event", "events"), "event");
  assert_string_equal(sl_plural(2, "event", "events"), "events");
}

static void expect_id(const char *text, int is_id, uint32_t any_run, uint32_t run, uint64_t number, const char *rest) {
  struct sl_event_id id;
  const char *at = text;
  assert_int_equal(sl_take_event_id(&at, &id), is_id);
  if (!is_id) return;
  assert_int_equal(id.any_run, any_run);
  assert_int_equal(id.run, run);
  assert_true(id.number == number);
  assert_string_equal(at, rest);
}

static void event_identifiers_are_digits_only(void **state) {
  (void)state;
  expect_id("6001", 1, 1, 0, 6001, "");
  expect_id("1:6001,7", 1, 0, 1, 6001, ",7");
  expect_id("4294967295:18446744073709551615", 1, 0, UINT32_MAX, UINT64_MAX, "");
  expect_id("4294967296", 1, 1, 0, 4294967296u, "");
  expect_id("7x", 1, 1, 0, 7, "x");
  const char *wrong[] = {
      "", ":", "x", "-1", "+1", " 1", "1:", "1:x", "1: 2", "1:-2", ":2", "4294967296:1", "18446744073709551616"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) expect_id(wrong[i], 0, 0, 0, 0, "");
}

static void events_have_an_identifier_with_or_without_their_run(void **state) {
  (void)state;
  const struct sl_event event = {.run = 2, .number = 7};
  const struct sl_event_id same = {.run = 2, .number = 7}, other_run = {.run = 3, .number = 7};
  const struct sl_event_id any_run = {.any_run = 1, .number = 7}, other_number = {.any_run = 1, .number = 8};
  assert_true(sl_event_id_is(&same, &event));
  assert_false(sl_event_id_is(&other_run, &event));
  assert_true(sl_event_id_is(&any_run, &event));
  assert_false(sl_event_id_is(&other_number, &event));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_character_is_read_and_written),
      cmocka_unit_test(invalid_bytes_are_read_one_by_one),
      cmocka_unit_test(special_characters_of_xml_and_json_are_escaped),
      cmocka_unit_test(undefined_numbers_are_dashes_of_equal_width),
      cmocka_unit_test(words_for_counts_are_singular_for_one),
      cmocka_unit_test(event_identifiers_are_digits_only),
      cmocka_unit_test(events_have_an_identifier_with_or_without_their_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
