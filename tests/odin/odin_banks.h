/* odin_banks.h: constructed ODIN banks as input of odin.decode. */
#ifndef TEST_ODIN_BANKS_H
#define TEST_ODIN_BANKS_H

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { TEST_BANKS_MAX = 5000, TEST_BANK_WORDS = 16, ODIN_WORDS = 10 };

/* Banks by event, with room for 16 words of payload each. Zeroed: no events. */
struct odin_test_banks {
  uint32_t event_count, bank_count;
  uint32_t offsets[TEST_BANKS_MAX + 1], first_word[TEST_BANKS_MAX];
  uint16_t size_bytes[TEST_BANKS_MAX];
  uint8_t version[TEST_BANKS_MAX];
  uint32_t payload[TEST_BANKS_MAX * TEST_BANK_WORDS];
};

/* Begins the next event. */
static inline void odin_test_event(struct odin_test_banks *b) { b->offsets[++b->event_count] = b->bank_count; }

static inline void odin_test_add(struct odin_test_banks *b, uint8_t version, uint16_t size_bytes,
                                 const uint32_t words[TEST_BANK_WORDS]) {
  const uint32_t bank = b->bank_count++;
  b->first_word[bank] = bank * TEST_BANK_WORDS;
  b->size_bytes[bank] = size_bytes;
  b->version[bank] = version;
  memcpy(b->payload + b->first_word[bank], words, TEST_BANK_WORDS * sizeof *words);
  b->offsets[b->event_count] = b->bank_count;
}

static inline struct sl_test *odin_test_decode(const struct odin_test_banks *b) {
  struct sl_test *t = sl_test_new(ODIN_PLUGIN, "decode");
  sl_test_events(t, b->event_count);
  sl_test_input(t, "banks", "offsets", b->offsets, b->event_count + 1);
  sl_test_input(t, "banks", "version", b->version, b->bank_count);
  sl_test_input(t, "banks", "size_bytes", b->size_bytes, b->bank_count);
  sl_test_input(t, "banks", "first_word", b->first_word, b->bank_count);
  sl_test_input(t, "banks", "payload", b->payload, b->bank_count * TEST_BANK_WORDS);
  return t;
}

#endif
