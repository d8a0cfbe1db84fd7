/* fixed_banks.h: helpers for banks of equal size, one per event of the node. Their offsets need no scan. */
#ifndef SELECTIONS_FIXED_BANKS_H
#define SELECTIONS_FIXED_BANKS_H

#include "selections/reports.h"

#include <sluice/kernel.h>

/* The fields that all collections of banks have in common. */
static SL_DEVICE struct io_made_banks fixed_banks(uint32_t *offsets, uint16_t *size_bytes, uint32_t *word_offsets,
                                                  uint32_t *word) {
  struct io_made_banks banks;
  memset(&banks, 0, sizeof banks);
  banks.offsets = offsets;
  banks.size_bytes = size_bytes;
  banks.word_offsets = word_offsets;
  banks.word = word;
  return banks;
}
#define FIXED_BANKS(kind) fixed_banks((kind).offsets, (kind).size_bytes, (kind).word_offsets, (kind).word)

/* Called by one thread of the grid. */
#define FIXED_BANKS_BEGIN(list, kind, words)                                                                 \
  do {                                                                                                       \
    if ((kind).bound.used) *(kind).bound.used = *(list).count; /* a scan would set it */                     \
    if ((kind).word_offsets_bound.used) *(kind).word_offsets_bound.used = *(list).count * (uint32_t)(words); \
    (kind).word_offsets[0] = 0;                                                                              \
    (kind).offsets[0] = 0;                                                                                   \
  } while (0)

/* Called by a block: writes size and offsets of the bank of the node's event `item`. Offsets are also written for the
 * events between the previous event of the list and this one, and for all events after the last one. */
static SL_DEVICE void fixed_bank_offsets(const struct sl_events *list, const struct io_made_banks *banks, uint32_t item,
                                         uint32_t words) {
  const uint32_t event = sl_event_at(list, item), is_last = item + 1 == *list->count;
  const uint32_t first = item == 0 ? 0 : sl_event_at(list, item - 1) + 1;
  const uint32_t end = is_last && list->numbers ? list->max : event + is_last;
  for (uint32_t e = first + threadIdx.x; e <= end; e += blockDim.x) banks->offsets[e] = e <= event ? item : item + 1;
  if (threadIdx.x > 0) return;
  banks->size_bytes[item] = (uint16_t)(4 * words);
  banks->word_offsets[item + 1] = (item + 1) * words;
}

#endif
