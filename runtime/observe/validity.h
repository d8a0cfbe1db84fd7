/* validity.h: checks that the output of a node is valid: offsets ascend and end within the capacity, event lists ascend
 * and are within the list of the node, events that are not listed have no items, no NaN, no unwritten value. The
 * meaning of the values is not checked. Shared by --guard and `sluice test`.
 */
#ifndef SL_VALIDITY_H
#define SL_VALIDITY_H

#include "layout/bind.h"

enum { SL_NO_POISON = -1 };

struct sl_validity {
  const struct sl_algorithm *algorithm;
  void *args; /* argument struct of the call, with outputs in host memory; pointers of unread fields are null */
  uint32_t event_count;
  int poison;                /* byte that filled the outputs before the call, or SL_NO_POISON */
  const uint8_t *is_listed;  /* per event: 1 if the node ran on it */
  const uint64_t *is_failed; /* per event, not 0: its values are not checked; or NULL */
  int is_raw;                /* 1: values come from a file and may all be `poison`; small values had sl_raw_poison() */
};

/* Byte that fills small values of raw data at this index of their field. It varies, so that no constant equals it. */
static inline unsigned char sl_raw_poison(int poison, uint64_t index) { return (unsigned char)(poison + index % 7); }

/* Returns 1 if output member `m` is valid; else 0 with the reason in `text`. */
int sl_output_is_valid(const struct sl_validity *v, uint32_t m, char *text, size_t size);
/* Checks an output of a source: its offsets begin with 0 and end at `used` of its bound. */
int sl_filled_is_valid(const struct sl_validity *v, uint32_t m, uint32_t used, char *text, size_t size);

/* Offsets of an output, its own or shared; NULL if it has none. */
const uint32_t *sl_output_offsets(const struct sl_validity *v, uint32_t m);
/* Range [*begin, *end) of the values of an event in field `f`; empty for shapes without values per event. */
void sl_event_range(const struct sl_collection *c, uint32_t f, uint32_t event, const uint32_t *offsets,
                    const uint32_t *item_offsets, uint64_t *begin, uint64_t *end);

#endif
