/* banks_case.c: see banks_case.h. */
#include "banks_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

void banks_event(struct banks_case *b) {
  assert_true(b->event_count < TEST_EVENTS_MAX);
  b->offsets[++b->event_count] = b->bank_count;
}

void banks_add(struct banks_case *b, uint8_t version, uint16_t source_id, const void *payload, uint32_t bytes) {
  const uint32_t words = (bytes + 3) / 4, bank = b->bank_count++;
  assert_true(bank < TEST_BANKS_MAX && b->word_count + words <= TEST_WORDS_MAX && bytes <= UINT16_MAX);
  b->version[bank] = version;
  b->source_id[bank] = source_id;
  b->size_bytes[bank] = (uint16_t)bytes;
  b->first_word[bank] = b->word_count;
  if (bytes) memcpy(b->payload + b->word_count, payload, bytes);
  b->word_count += words;
  b->offsets[b->event_count] = b->bank_count;
}

void banks_give(struct sl_test *to, const char *port, const struct banks_case *b) {
  sl_test_events(to, b->event_count);
  sl_test_input(to, port, "offsets", b->offsets, b->event_count + 1);
  sl_test_input(to, port, "source_id", b->source_id, b->bank_count);
  sl_test_input(to, port, "version", b->version, b->bank_count);
  sl_test_input(to, port, "size_bytes", b->size_bytes, b->bank_count);
  sl_test_input(to, port, "first_word", b->first_word, b->bank_count);
  sl_test_input(to, port, "payload", b->payload, b->word_count);
}

void give(struct sl_test *to, const char *port, const struct sl_test *from, const char *output, const char *fields) {
  char names[256], *rest = names;
  snprintf(names, sizeof names, "%s", fields);
  for (const char *field; (field = strtok_r(rest, " ", &rest));)
    sl_test_input(to, port, field, sl_test_output(from, output, field), sl_test_output_count(from, output, field));
}
