/* lumi_support.h: shared by the tests of the luminosity plugin: the table lumi_summary_schema.csv, and the schema that
 * the plugin computes.
 */
#ifndef TEST_LUMI_SUPPORT_H
#define TEST_LUMI_SUPPORT_H

#include "lumi/counters.h"
#include "lumi/made_banks.h"

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { TABLE_ROWS = 128, BASE_WORDS = 22, FULL_WORDS = 59 };

/* A row of the table: offset, size and conversion of a counter. */
struct place {
  char name[40];
  uint32_t is_extra, max, size_bits, word, bit;
  double shift, scale;
};

const struct place *lumi_table(void);
/* Fails if the table has no such counter. */
const struct place *lumi_place(const char *name);
/* The bits of a counter in a summary. */
uint32_t lumi_bits(const uint32_t *words, const char *name);
/* Value of the counter if it was not filled. */
uint32_t lumi_all_ones(const char *name);

/* The schema that lumi.schema makes, between set-up and tear-down of a group of tests. */
extern struct sl_test *lumi_schema;
int lumi_schema_set_up(void **state);
int lumi_schema_tear_down(void **state);
uint32_t lumi_key(uint32_t kind);
/* Connects the schema to the input `schema` of another algorithm. */
void lumi_give_schema(struct sl_test *t);

#endif
