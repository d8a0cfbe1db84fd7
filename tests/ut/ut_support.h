/* ut_support.h: what the tests of the UT's reconstruction share: the detector, banks, and outputs of one algorithm as
 * inputs of the next.
 */
#ifndef TEST_UT_SUPPORT_H
#define TEST_UT_SUPPORT_H

#include "sample.h"
#include "ut/bank_words.h"
#include "ut/event_model.h"

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TEST_BANKS_MAX = 4096, TEST_EVENTS_MAX = 8, TEST_WORDS_MAX = 1 << 18 };

/* The constants, as these algorithms made them. */
struct detector {
  struct sl_test *geometry, *groups;
};
/* Of `path`; NULL: the nominal one. */
void detector_open(struct detector *d, const char *path);
void detector_close(struct detector *d);
const float *detector_floats(const struct detector *d, const char *field);
const uint32_t *detector_words(const struct detector *d, const char *field);

/* Gives fields of an output of `from`, named with blanks between, to an input. */
void give(struct sl_test *to, const char *port, const struct sl_test *from, const char *output, const char *fields);

/* Raw banks, being collected. Zeroed: no event yet. */
struct ut_banks_case {
  uint32_t event_count, bank_count, word_count;
  uint32_t offsets[TEST_EVENTS_MAX + 1], first_word[TEST_BANKS_MAX], payload[TEST_WORDS_MAX];
  uint16_t source_id[TEST_BANKS_MAX], size_bytes[TEST_BANKS_MAX];
  uint8_t version[TEST_BANKS_MAX], type[TEST_BANKS_MAX];
};
void banks_event(struct ut_banks_case *b); /* what follows belongs to a new event */
void banks_add(struct ut_banks_case *b, uint8_t version, uint16_t source_id, const void *payload, uint32_t bytes);

/* A hit in a lane: `quarters` of a strip for version 3, an ADC for version 4. */
struct lane_hit {
  uint32_t lane, strip, quarters, adc;
};
/* Banks of hits; those of version 4 by lane and strip. */
void banks_add_v3(struct ut_banks_case *b, uint16_t source_id, const struct lane_hit *hits, uint32_t count);
void banks_add_v4(struct ut_banks_case *b, uint16_t source_id, const struct lane_hit *hits, uint32_t count);

/* ut.decode with these inputs. */
struct sl_test *decoder_new(const struct detector *d, const struct ut_banks_case *b);

#endif
