/* banks_case.h: constructed raw banks as input of an algorithm, and outputs of one algorithm as inputs of the next. */
#ifndef TEST_VELO_BANKS_CASE_H
#define TEST_VELO_BANKS_CASE_H

#include <sluice/testing.h>

#include <stdint.h>

enum { TEST_BANKS_MAX = 4096, TEST_EVENTS_MAX = 8, TEST_WORDS_MAX = 1 << 18 };

/* Raw banks under construction. Zeroed: no events. */
struct banks_case {
  uint32_t event_count, bank_count, word_count;
  uint32_t offsets[TEST_EVENTS_MAX + 1], first_word[TEST_BANKS_MAX], payload[TEST_WORDS_MAX];
  uint16_t source_id[TEST_BANKS_MAX], size_bytes[TEST_BANKS_MAX];
  uint8_t version[TEST_BANKS_MAX];
};
void banks_event(struct banks_case *b); /* begins the next event */
void banks_add(struct banks_case *b, uint8_t version, uint16_t source_id, const void *payload, uint32_t bytes);

/* Connects the banks to an input; the slice has their events. */
void banks_give(struct sl_test *to, const char *port, const struct banks_case *b);

/* Connects fields of an output of `from`, named with blanks between, to an input. */
void give(struct sl_test *to, const char *port, const struct sl_test *from, const char *output, const char *fields);

#endif
