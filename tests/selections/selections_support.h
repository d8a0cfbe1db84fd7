/* selections_support.h: random numbers and comparisons for the tests of selections. */
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

/* Pseudo-random numbers from `low` to below `high`; random_start restarts the sequence with a seed. */
void random_start(uint32_t seed);
float random_between(float low, float high);

/* Fails, with both values, if they differ by more than `tolerance` or one of them is NaN. */
void assert_near(const char *what, uint32_t item, double value, double expected, double tolerance);

#endif
