/* report_reader.h: for tests of checks: gives banks of truth to a port, and reads numbers in the report. */
#ifndef TEST_REPORT_READER_H
#define TEST_REPORT_READER_H

#include "mc_writer.h"

#include <sluice/testing.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void set_banks(struct sl_test *test, const char *port, const struct mc_banks *banks) {
  sl_test_input(test, port, "offsets", banks->offsets, banks->event_count + 1);
  sl_test_input(test, port, "source_id", banks->source_id, banks->bank_count);
  sl_test_input(test, port, "version", banks->version, banks->bank_count);
  sl_test_input(test, port, "size_bytes", banks->size_bytes, banks->bank_count);
  sl_test_input(test, port, "first_word", banks->first_word, banks->bank_count);
  sl_test_input(test, port, "payload", banks->payload, banks->word_count);
}

/* What stands behind the first "key": in the report, from `from` on; ends the program where there is none. */
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

#endif
