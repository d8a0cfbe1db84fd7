/* calo_support.h: shared by the tests of the calorimeter's reconstruction: the detector, random values of its cells,
 * and banks with them.
 */
#ifndef TEST_CALO_SUPPORT_H
#define TEST_CALO_SUPPORT_H

#include "banks_case.h"
#include "calo/bank_words.h"
#include "calo/event_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* calo.geometry, nominal, already run; and an algorithm with fields of it. */
extern struct sl_test *calo_detector;
int calo_begin(void **state);
int calo_end(void **state);
struct sl_test *calo_new(const char *algorithm, uint32_t events, const char *geometry_fields);
const void *calo_of(const char *field); /* fields of the geometry */

uint32_t random_below(uint32_t n);
float random_between(float low, float high);

/* Values of `events` events: most cells have noise, one in `rarity` any value up to `most`, and one in 40 is not read
 * out. */
void random_cells(int16_t *adc, uint32_t events, uint32_t rarity, int32_t most);

/* Calorimeter banks under construction; they have types in addition to the fields of other banks. */
struct calo_case {
  struct banks_case banks;
  uint8_t type[TEST_BANKS_MAX];
};
void calo_add(struct calo_case *c, uint8_t type, uint8_t version, uint16_t source_id, const uint32_t *words,
              uint32_t bytes);
/* Makes calo.decode with these banks. */
struct sl_test *calo_decoder(const struct calo_case *c);

/* Writes a card of type 21 with the values of its cells; returns the number of words. */
enum { CARD_WORDS_MAX = 2 + CALO_LONG_BITS };
uint32_t pack_card(const int16_t *adc, uint32_t card, uint32_t words[CARD_WORDS_MAX]);
/* Adds all cards with cells in banks of type 21 (version 2, or the next), or of type 77; cells that are not read out
 * are 0. */
void add_event(struct calo_case *c, uint8_t version, const int16_t *adc);

#endif
