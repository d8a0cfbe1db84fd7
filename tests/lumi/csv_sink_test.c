/* csv_sink_test.c: lumi.csv_sink on constructed summaries: names and values of counters, empty cells, the report, and
 * errors. Events of the test harness have run 0 and numbers from 0; summaries_test.py tests other numbers.
 */
#include "lumi_support.h"
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 4 };

/* Summaries of events 0, 2 and 3. */
struct summaries {
  uint32_t offsets[EVENTS + 1], word_offsets[4], words[3 * FULL_WORDS];
  uint16_t size_bytes[3];
};

static void put(uint32_t *words, const char *name, uint32_t value) {
  const struct place *p = lumi_place(name);
  words[p->word] = (words[p->word] & ~(lumi_all_ones(name) << p->bit)) | value << p->bit;
}

static void make(struct summaries *s) {
  *s = (struct summaries){.offsets = {0, 1, 1, 2, 3}};
  memset(s->words, 0xff, sizeof s->words);
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t is_full = i == 1;
    s->size_bytes[i] = is_full ? 4 * FULL_WORDS : 4 * BASE_WORDS;
    s->word_offsets[i + 1] = (i + 1) * FULL_WORDS;
    put(s->words + i * FULL_WORDS, "encodingKey", lumi_key(is_full));
    put(s->words + i * FULL_WORDS, "BXType", 3);
    put(s->words + i * FULL_WORDS, "VeloTracks", 100 * i);
  }
  put(s->words, "VeloVertexZ", 8192 + 1024); /* 62.5 mm */
  put(s->words + FULL_WORDS, "PlumeLumiADC43", 77);
}

static struct sl_test *sink(const struct summaries *s) {
  struct sl_test *t = sl_test_new(LUMI_PLUGIN, "csv_sink");
  sl_test_events(t, EVENTS);
  lumi_give_schema(t);
  sl_test_input(t, "summaries", "offsets", s->offsets, EVENTS + 1);
  sl_test_input(t, "summaries", "size_bytes", s->size_bytes, 3);
  sl_test_input(t, "summaries", "word_offsets", s->word_offsets, 4);
  sl_test_input(t, "summaries", "word", s->words, 3 * FULL_WORDS);
  return t;
}

static void add(char *to, const char *before, const char *text) {
  const size_t used = strlen(to);
  snprintf(to + used, 16384 - used, "%s%s", before, text);
}

enum { AFTER_VERTICES = 22 }; /* the counters of ODIN, VELO and vertices come first */

static void the_table_has_numbers_and_empty_cells(void **state) {
  (void)state;
  static char expected[16384] = "run,event,full";
#define ADD_(name, max, shift, scale) \
  if (LUMI_##name != LUMI_encodingKey) add(expected, ",", #name);
  LUMI_BASE_COUNTERS(ADD_) LUMI_EXTRA_COUNTERS(ADD_) add(expected, "", "\n");
  static const char *const begins[] = {"0,0,0,4294967295,4294967295,4294967295,16383,3,1,0,,,,,,,,,,,,,,62.5",
                                       "0,2,1,4294967295,4294967295,4294967295,16383,3,1,100,,,,,,,,,,,,,,",
                                       "0,3,0,4294967295,4294967295,4294967295,16383,3,1,200,,,,,,,,,,,,,,"};
  for (uint32_t i = 0; i < 3; i++) {
    add(expected, "", begins[i]);
    for (uint32_t c = AFTER_VERTICES; c < TABLE_ROWS - 1; c++) add(expected, "", ",");
    add(expected, "", i == 1 ? ",77\n" : ",\n");
  }
  char path[SCRATCH_PATH_MAX];
  static char text[16384];
  struct summaries s;
  make(&s);
  scratch_file(path);
  struct sl_test *t = sink(&s);
  sl_test_set_text(t, "path", path);
  assert_int_equal(sl_test_run(t), 0);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_true(fread(text, 1, sizeof text - 1, file) > 0);
  fclose(file);
  assert_string_equal(text, expected);
  assert_non_null(strstr(sl_test_messages(t), "luminosity summaries of 3 events, 1 of them full"));
  assert_non_null(strstr(sl_test_report(t), "\"name\": \"VeloTracks\",\n"));
  assert_non_null(strstr(sl_test_report(t), "\"mean\": 100,"));
  sl_test_free(t);
}

static void a_bank_that_does_not_match_the_schema_is_an_error(void **state) {
  (void)state;
  for (uint32_t wrong_size = 0; wrong_size < 2; wrong_size++) {
    struct summaries s;
    make(&s);
    if (wrong_size)
      s.size_bytes[1] = 4 * BASE_WORDS; /* but the key is that of a full summary */
    else
      s.words[FULL_WORDS] = 17;
    struct sl_test *t = sink(&s);
    assert_int_equal(sl_test_run(t), SL_EFORMAT);
    assert_non_null(strstr(sl_test_messages(t), "run 0 event 2: a summary of"));
    sl_test_free(t);
  }
}

static void a_file_that_cannot_be_created_is_named_in_the_error(void **state) {
  (void)state;
  struct summaries s;
  make(&s);
  struct sl_test *t = sink(&s);
  sl_test_set_text(t, "path", "/nonexistent/lumi.csv");
  assert_int_equal(sl_test_run(t), SL_EIO);
  assert_non_null(strstr(sl_test_messages(t), "/nonexistent/lumi.csv: cannot create it: /nonexistent: No such file"));
  sl_test_free(t);
  t = sink(&s);
  sl_test_set_text(t, "path", "/dev/full/x");
  assert_int_equal(sl_test_run(t), SL_EIO);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_has_numbers_and_empty_cells),
      cmocka_unit_test(a_bank_that_does_not_match_the_schema_is_an_error),
      cmocka_unit_test(a_file_that_cannot_be_created_is_named_in_the_error),
  };
  return cmocka_run_group_tests(tests, lumi_schema_set_up, lumi_schema_tear_down);
}
