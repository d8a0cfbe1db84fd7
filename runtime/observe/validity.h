/* validity.h: can what a node wrote be valid? What the collections promise is looked at, and nothing of what the
 * numbers mean: offsets that go up and end within the capacity, event lists in ascending order and within the node's
 * own, no items in events off the list, no NaN, nothing left as it was before. Shared by --guard and `sluice test`.
 */
#ifndef SL_VALIDITY_H
#define SL_VALIDITY_H

#include "layout/bind.h"

enum { SL_NO_POISON = -1 };

struct sl_validity {
  const struct sl_algorithm *algorithm;
  void *args; /* as it got them, with outputs in host memory; pointers of fields that nobody reads are null */
  uint32_t event_count;
  int poison;                /* the byte that stood in its outputs before it ran, or SL_NO_POISON */
  const uint8_t *is_listed;  /* per event: it ran on it */
  const uint64_t *is_failed; /* per event, not 0: its values are not looked at; or NULL */
};

/* 1; or 0 with what is wrong with output member `m`. */
int sl_output_is_valid(const struct sl_validity *v, uint32_t m, char *text, size_t size);
/* The same of a source's: its offsets begin with 0, and end where its bound's `used` says. */
int sl_filled_is_valid(const struct sl_validity *v, uint32_t m, uint32_t used, char *text, size_t size);

/* The offsets of an output: its own, or those of the port that it shares them with; NULL if it has none. */
const uint32_t *sl_output_offsets(const struct sl_validity *v, uint32_t m);
/* The values of an event in field `f`: [*begin, *end). Shapes that have none by event give an empty range. */
void sl_event_range(const struct sl_collection *c, uint32_t f, uint32_t event, const uint32_t *offsets,
                    const uint32_t *item_offsets, uint64_t *begin, uint64_t *end);

#endif
