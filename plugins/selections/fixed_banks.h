/* fixed_banks.h: made banks of equal size, one for each event of the node's list, so that no place has to be counted.
 */
#ifndef SELECTIONS_FIXED_BANKS_H
#define SELECTIONS_FIXED_BANKS_H

#include "selections/reports.h"

#include <sluice/kernel.h>

/* What all kinds of banks begin with: the same as each of them. */
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

/* By a thread of the grid, once. */
#define FIXED_BANKS_BEGIN(list, kind, words)                                                                 \
  do {                                                                                                       \
    if ((kind).bound.used) *(kind).bound.used = *(list).count; /* as a scan would */                         \
    if ((kind).word_offsets_bound.used) *(kind).word_offsets_bound.used = *(list).count * (uint32_t)(words); \
    (kind).word_offsets[0] = 0;                                                                              \
    (kind).offsets[0] = 0;                                                                                   \
  } while (0)

/* By a block: places and sizes of the bank of the list's event `item`, and offsets of the events after the one before
 * on the list, up to this one; of the last also of those after it. */
static SL_DEVICE void fixed_bank_place(const struct sl_events *list, const struct io_made_banks *banks, uint32_t item,
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
