/* nearest.c: finds the most similar name for a misspelled one. */
#include "expression/compiler.h"

#include <stdio.h>
#include <string.h>

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Levenshtein distance, with one row of the table of prefix distances. */
static uint32_t distance_between(const char *a, uint32_t a_length, const char *b, uint32_t b_length) {
  uint32_t row[sizeof(((struct sl_expression_nearest *)NULL)->best) + 1];
  for (uint32_t j = 0; j <= b_length; j++) row[j] = j;
  for (uint32_t i = 1; i <= a_length; i++) {
    uint32_t diagonal = row[0];
    row[0] = i;
    for (uint32_t j = 1; j <= b_length; j++) {
      const uint32_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
    }
  }
  return row[b_length];
}

void sl_expression_offer(struct sl_expression_nearest *nearest, const char *prefix, const char *name) {
  char whole[sizeof nearest->best];
  const int length = snprintf(whole, sizeof whole, "%s%s", prefix, name);
  if (length < 0 || (size_t)length >= sizeof whole || nearest->length >= sizeof whole) return;
  const uint32_t distance = distance_between(nearest->word, nearest->length, whole, (uint32_t)length);
  if (distance >= nearest->distance) return;
  nearest->distance = distance;
  memcpy(nearest->best, whole, sizeof whole);
}

void sl_expression_search_begin(struct sl_expression_search *search, const char *name, uint32_t length) {
  *search = (struct sl_expression_search){
      .name = name, .length = length, .nearest = {name, length, UINT32_MAX, ""}, .unit = ""};
}

/* The nearest name if at most a third of the word, rounded up, differs; NULL otherwise and for one-letter words. */
const char *sl_expression_nearest_name(const struct sl_expression_nearest *nearest) {
  const uint32_t bound = (nearest->length + 2) / 3;
  return nearest->distance < nearest->length && nearest->distance <= bound ? nearest->best : NULL;
}
