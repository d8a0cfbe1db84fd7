/* ut_support.h: shared by the tests of the UT reconstruction: the detector and its banks. */
#ifndef TEST_UT_SUPPORT_H
#define TEST_UT_SUPPORT_H

#include "banks_case.h"
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

/* The algorithms that made the constants; the constants are their outputs. */
struct detector {
  struct sl_test *geometry, *groups;
};
/* Opens the detector of `path`; NULL: the nominal detector. */
void detector_open(struct detector *d, const char *path);
void detector_close(struct detector *d);
const float *detector_floats(const struct detector *d, const char *field);
const uint32_t *detector_words(const struct detector *d, const char *field);

/* A hit in a lane: `quarters` of a strip for version 3, an ADC for version 4. */
struct lane_hit {
  uint32_t lane, strip, quarters, adc;
};
/* Add a bank of these hits; for version 4 they are ordered by lane and strip. */
void banks_add_v3(struct banks_case *b, uint16_t source_id, const struct lane_hit *hits, uint32_t count);
void banks_add_v4(struct banks_case *b, uint16_t source_id, const struct lane_hit *hits, uint32_t count);

/* Makes ut.decode with these inputs. */
struct sl_test *decoder_new(const struct detector *d, const struct banks_case *b);

#endif
