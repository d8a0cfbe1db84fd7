/* listed_items.h: for kernels that deal the items of a whole slice to all threads, also where only some of its events
 * are on the node's list. */
#ifndef SEEDING_LISTED_ITEMS_H
#define SEEDING_LISTED_ITEMS_H

#include <sluice/kernel.h>

/* How many items there are, of an output whose events off the list are empty: where the last event on it ends. */
static SL_DEVICE uint32_t seeding_listed_items(const struct sl_events *list, const uint32_t *offsets) {
  return *list->count > 0 ? offsets[sl_event_at(list, *list->count - 1) + 1] : 0;
}

#endif
