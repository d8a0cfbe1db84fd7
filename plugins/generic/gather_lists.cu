/* gather_lists: of any number of event lists, which hold an event.
 *
 *   1. clear_masks  a bit a list for each event, all 0
 *   2. mark_events  a block a list sets its bit for each event on it: work and reads are the lists' lengths
 *   3. count_lists  a thread an event counts its bits; a scan makes offsets of the counts
 *   4. write_lists  a thread an event writes their places, in ascending order
 *   5. count_events a block a list counts its events, by what step 3 found of each: one addition to a total
 *
 * The bits of an event are the same whichever list comes first, so that no order is left to chance.
 */
#include "generic/event_model.h"

#include <sluice/kernel.h>

enum { MASK_BITS = 32 };

struct gather_lists_args {
  struct sl_events events;
  struct sl_event_list_each lists;
  struct generic_decisions decisions;
  struct generic_list_totals totals;
  uint32_t *masks;
};
#define SL_ARGS gather_lists_args
static const struct sl_member gather_lists_members[] = {
    SL_EVENTS(),
    SL_IN_EACH(lists, sl_event_list, "count numbers", "in the order of their places"),
    SL_OUT(decisions, generic_decisions, "the lists that each event is on",
           SL_ITEMS(SL_ONE(SL_EVENT_ENTRIES_TERM(lists)))),
    SL_OUT(totals, generic_list_totals, "how many events are on each list, in the run",
           SL_ITEMS(SL_ONE(SL_ENTRIES_TERM(lists)))),
    /* an event has ceil(lists / 32) words: together not more than this */
    SL_SCRATCH(masks, u32, "a bit a list for each event",
               SL_SUM(SL_EVENT_ENTRIES_SCALED(lists, 1, 32, 0), SL_EVENTS_TERM(1, 0))),
};

static SL_DEVICE uint32_t words_of(const struct gather_lists_args *a) {
  return (a->lists.count + MASK_BITS - 1) / MASK_BITS;
}

SL_KERNEL(clear_masks, struct gather_lists_args) {
  const uint32_t words = words_of(&a);
  SL_FOR_ALL_EVENTS (event, a.events) {
    for (uint32_t w = 0; w < words; w++) a.masks[(uint64_t)event * words + w] = 0;
  }
}

SL_KERNEL(mark_events, struct gather_lists_args) {
  const uint32_t words = words_of(&a);
  SL_FOR_ENTRIES (k, a.lists) {
    const struct sl_event_list_view *list = &a.lists.at[k];
    for (uint32_t i = threadIdx.x; i < *list->count; i += blockDim.x)
      atomicOr(&a.masks[(uint64_t)list->numbers[i] * words + k / MASK_BITS], 1u << k % MASK_BITS);
  }
}

SL_KERNEL(count_lists, struct gather_lists_args) {
  const uint32_t words = words_of(&a);
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    uint32_t count = 0;
    for (uint32_t w = 0; w < words; w++) count += sl_count_bits(a.masks[(uint64_t)event * words + w]);
    a.decisions.offsets[event] = count;
  }
}

SL_KERNEL(write_lists, struct gather_lists_args) {
  const uint32_t words = words_of(&a);
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    uint32_t to = a.decisions.offsets[event];
    for (uint32_t w = 0; w < words && to < a.decisions.offsets[event + 1]; w++) {
      uint32_t mask = a.masks[(uint64_t)event * words + w];
      for (uint32_t bit = 0; mask != 0; bit++, mask >>= 1)
        if (mask & 1u) a.decisions.list[to++] = w * MASK_BITS + bit;
    }
  }
}

/* An event that is not on the node's own list has no lists. */
SL_KERNEL(count_events, struct gather_lists_args) {
  SL_FOR_ENTRIES (k, a.lists) {
    const struct sl_event_list_view *list = &a.lists.at[k];
    uint32_t events = 0, alone = 0;
    for (uint32_t i = threadIdx.x; i < *list->count; i += blockDim.x) {
      const uint32_t event = list->numbers[i];
      const uint32_t lists = a.decisions.offsets[event + 1] - a.decisions.offsets[event];
      events += lists > 0 ? 1u : 0u;
      alone += lists == 1 ? 1u : 0u;
    }
    events = sl_block_sum_u32(events);
    alone = sl_block_sum_u32(alone);
    if (threadIdx.x == 0) {
      sl_total_add(&a.totals.events[k], events);
      sl_total_add(&a.totals.alone[k], alone);
    }
  }
}

static int run(const struct sl_launch *l, const struct gather_lists_args *a) {
  int status = SL_LAUNCH(l, clear_masks, SL_THREAD_PER_EVENT, *a);
  if (status == SL_OK) status = SL_LAUNCH(l, mark_events, SL_PER_ENTRY(a->lists), *a);
  if (status == SL_OK) status = SL_LAUNCH(l, count_lists, SL_THREAD_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->decisions.offsets, &a->decisions.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, write_lists, SL_THREAD_PER_EVENT, *a);
  if (status == SL_OK) status = SL_LAUNCH(l, count_events, SL_PER_ENTRY(a->lists), *a);
  return status;
}

SL_ALGORITHM(gather_lists, "says for each event which of any number of lists it is on", 128, run);
