/* check_case.h: for tests of checks: start of a case with its algorithm and truth banks to fill; banks of a port;
 * and numbers read from the report. */
#ifndef TEST_CHECK_CASE_H
#define TEST_CHECK_CASE_H

#include "mc_writer.h"

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct mc_banks *banks;
static struct sl_test *test;

static int start_check(const char *algorithm) {
  banks = calloc(1, sizeof *banks);
  test = sl_test_new("plugins/truth.cpu.so", algorithm);
  return banks ? 0 : -1;
}

static int stop_check(void **state) {
  (void)state;
  sl_test_free(test);
  free(banks);
  return 0;
}

static inline void set_banks(const char *port) {
  sl_test_input(test, port, "offsets", banks->offsets, banks->event_count + 1);
  sl_test_input(test, port, "source_id", banks->source_id, banks->bank_count);
  sl_test_input(test, port, "version", banks->version, banks->bank_count);
  sl_test_input(test, port, "size_bytes", banks->size_bytes, banks->bank_count);
  sl_test_input(test, port, "first_word", banks->first_word, banks->bank_count);
  sl_test_input(test, port, "payload", banks->payload, banks->word_count);
}

/* Number after the first "key" of the report, from `from` on; ends the program if there is none. */
static inline const char *value_in(const char *from, const char *key) {
  char pattern[64];
  snprintf(pattern, sizeof pattern, "\"%s\":", key);
  const char *at = from ? strstr(from, pattern) : NULL;
  if (!at) {
    fprintf(stderr, "no %s in the report\n", key);
    abort();
  }
  return at + strlen(pattern);
}

static inline double number_in(const char *from, const char *key) { return strtod(value_in(from, key), NULL); }

/* Position of a name in the report. */
static inline const char *named(const char *report, const char *name) {
  char pattern[64];
  snprintf(pattern, sizeof pattern, "\"%s\"", name);
  const char *at = strstr(report, pattern);
  if (!at) fail_msg("no %s in the report", name);
  return at;
}

static inline void assert_category(const char *report, const char *name, uint32_t found, uint32_t of, uint32_t clones) {
  const char *c = named(strstr(report, "\"categories\""), name);
  if (number_in(c, "reconstructed") != found || number_in(c, "reconstructible") != of ||
      number_in(c, "clones") != clones)
    fail_msg("%s: expected %u / %u, %u clones; the report:\n%s", name, found, of, clones, report);
}

#endif
