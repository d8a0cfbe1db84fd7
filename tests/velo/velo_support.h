/* velo_support.h: shared by the tests of the VELO decoding: banks, a geometry of round numbers, hits. */
#ifndef TEST_VELO_SUPPORT_H
#define TEST_VELO_SUPPORT_H

#include "sample.h"
#include "velo/event_model.h"

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { TEST_MAX_BANKS = 80000, TEST_MAX_EVENTS = 400 };

/* Raw banks of one kind, under construction. Zeroed: no events. */
struct banks {
  uint32_t event_count, bank_count, word_count, word_space;
  uint32_t offsets[TEST_MAX_EVENTS + 1];
  uint16_t source_id[TEST_MAX_BANKS], size_bytes[TEST_MAX_BANKS];
  uint8_t version[TEST_MAX_BANKS];
  uint32_t first_word[TEST_MAX_BANKS];
  uint32_t *payload;
};

struct banks *banks_new(void);
void banks_free(struct banks *b);
void banks_event(struct banks *b); /* begins the next event */
/* Adds a valid bank: with a count word in versions 2 and 3. */
void banks_add(struct banks *b, uint8_t version, uint16_t source_id, const uint32_t *words, uint32_t count);
/* Adds a bank of any payload: as many words as `size_bytes` covers, rounded up. */
void banks_add_raw(struct banks *b, uint8_t version, uint16_t source_id, const uint32_t *words, uint16_t size_bytes);
/* Adds all banks of a type from a sample. */
void banks_of_sample(struct banks *b, const struct sample *s, uint8_t type);

/* A geometry with exact sums. */
struct geometry {
  float local_x[VELO_SENSOR_COLUMNS], x_pitch[VELO_SENSOR_COLUMNS], transform[VELO_SENSORS * 12];
};

/* Column c at x = c, pitch 1 (in columns 255 and 511: 4); no rotation; sensor s moved by (100 s, 1000 s, 10000 s). */
void geometry_round(struct geometry *g);
/* Reads the geometry of the samples; returns 0 if it is missing. */
int geometry_of_sample(struct geometry *g);

/* Makes a decoder with the banks and the geometry as its inputs. */
struct sl_test *decoder_new(const char *algorithm, const struct banks *b, const struct geometry *g);

/* The output of a decoder. */
struct hits {
  const uint32_t *offsets, *pair_first, *id;
  const int16_t *phi;
  const float *x, *y, *z;
};
struct hits hits_of(const struct sl_test *t);
/* The number of hits of an event in a module pair. */
uint32_t hits_in(const struct sl_test *t, uint32_t event, uint32_t pair);
/* The hit of an event with this id; fails unless there is exactly one. */
uint32_t hit_with(const struct sl_test *t, uint32_t event, uint32_t id);

/* Fails unless the valid bytes of two runs are equal. `event_count`: events of the slice. */
void hits_assert_equal(const struct sl_test *a, const struct sl_test *b, uint32_t event_count);

/* Fails unless each module pair has the hits of its own sensors, by phi and then by id. */
void hits_assert_sorted(const struct sl_test *t, uint32_t event_count);

#endif
