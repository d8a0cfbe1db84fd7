/* selections_support.h: what the tests of selections share. */
#ifndef TEST_SELECTIONS_SUPPORT_H
#define TEST_SELECTIONS_SUPPORT_H

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A field of an output, as its type. */
#define OUTPUT(test, port, field, type) ((const type *)sl_test_output(test, port, field))

/* From `low` to below `high`, the same in each run; `start` begins anew. */
void random_start(uint32_t seed);
float random_between(float low, float high);

/* Fails, with both values, if they are further apart than `tolerance`, or one is not a number. */
void assert_near(const char *what, uint32_t item, double value, double expected, double tolerance);

#endif
