/* schema_test.c: lumi.schema equals the table of the format, counter by counter. */
#include "lumi_support.h"

#include <string.h>

#define NAME_(name, max, shift, scale) #name,
static const char *const names[] = {LUMI_BASE_COUNTERS(NAME_) LUMI_EXTRA_COUNTERS(NAME_)};
#define MAX_(name, max, shift, scale) max,
static const uint32_t maxima[] = {LUMI_BASE_COUNTERS(MAX_) LUMI_EXTRA_COUNTERS(MAX_)};

static void every_counter_is_at_the_bits_given_in_the_table(void **state) {
  (void)state;
  const uint8_t *word = sl_test_output(lumi_schema, "schema", "word"),
                *bit = sl_test_output(lumi_schema, "schema", "bit");
  const uint8_t *size_bits = sl_test_output(lumi_schema, "schema", "size_bits");
  const float *shift = sl_test_output(lumi_schema, "schema", "shift"),
              *scale = sl_test_output(lumi_schema, "schema", "scale");
  assert_int_equal(LUMI_COUNTERS, TABLE_ROWS);
  assert_int_equal(sl_test_output_count(lumi_schema, "schema", "word"), TABLE_ROWS);
  for (uint32_t c = 0; c < LUMI_COUNTERS; c++) {
    const struct place *p = lumi_place(names[c]);
    if (word[c] != p->word || bit[c] != p->bit || size_bits[c] != p->size_bits)
      fail_msg("%s is at word %u, bit %u, with %u bits, expected word %u, bit %u, %u bits", names[c], word[c], bit[c],
               size_bits[c], p->word, p->bit, p->size_bits);
    assert_int_equal(maxima[c], p->max);
    assert_int_equal(c >= LUMI_BASE, p->is_extra);
    assert_true(shift[c] == (float)p->shift && scale[c] == (float)p->scale);
    for (uint32_t other = 0; other < c; other++) assert_string_not_equal(names[c], names[other]);
  }
}

static void summaries_follow_the_format_and_have_distinct_keys(void **state) {
  (void)state;
  const uint32_t *word_count = sl_test_output(lumi_schema, "schema", "word_count");
  assert_int_equal(word_count[LUMI_BASE_SUMMARY], BASE_WORDS);
  assert_int_equal(word_count[LUMI_FULL_SUMMARY], FULL_WORDS);
  assert_int_equal(LUMI_MAX_WORDS, FULL_WORDS);
  assert_int_not_equal(lumi_key(LUMI_BASE_SUMMARY), lumi_key(LUMI_FULL_SUMMARY));
  /* The format of written data must not change unnoticed. */
  assert_int_equal(lumi_key(LUMI_BASE_SUMMARY), 0xc5d89a3c);
  assert_int_equal(lumi_key(LUMI_FULL_SUMMARY), 0x43ef3bf1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_counter_is_at_the_bits_given_in_the_table),
      cmocka_unit_test(summaries_follow_the_format_and_have_distinct_keys),
  };
  return cmocka_run_group_tests(tests, lumi_schema_set_up, lumi_schema_tear_down);
}
