/* lists.c: a kernel of the example plugin with list ports. */
#include "example.h"

#include <sluice/kernel.h>

/* merge: the numbers of all parts, and the number of lists with the event. */
struct merge_args {
  struct sl_events events;
  struct example_numbers_views parts;
  struct sl_event_list_views lists;
  struct example_merged merged;
};
#define SL_ARGS merge_args
static const struct sl_member merge_members[] = {
    SL_EVENTS(),
    SL_LIST_IN(parts, example_numbers, "offsets value", "any order"),
    SL_LIST_IN(lists, sl_event_list, "count numbers", "event lists to count"),
    SL_OUT(merged, example_merged, "numbers of all parts, in the order of parts",
           SL_ITEMS(SL_SUM(SL_ITEMS_TERM(parts), SL_ENTRIES_TERM(parts)))),
};

static uint32_t is_on(const struct sl_event_list_view *list, uint32_t event) {
  for (uint32_t i = 0; i < *list->count; i++)
    if (list->numbers[i] == event) return 1;
  return 0;
}

SL_KERNEL(merge_count, struct merge_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t count = 0, lists = 0;
    SL_FOR_ENTRIES (k, a.parts) {
      count += a.parts.at[k].offsets[event + 1] - a.parts.at[k].offsets[event];
    }
    SL_FOR_ENTRIES (k, a.lists) {
      lists += is_on(&a.lists.at[k], event);
    }
    a.merged.offsets[event] = count;
    a.merged.lists[event] = lists;
  }
}

SL_KERNEL(merge_fill, struct merge_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t place = a.merged.offsets[event];
    const uint32_t end = a.merged.offsets[event + 1];
    for (uint32_t k = 0; k < a.parts.count && place < end; k++) {
      const struct example_numbers_view *part = &a.parts.at[k];
      for (uint32_t i = part->offsets[event]; i < part->offsets[event + 1]; i++) {
        a.merged.value[place] = part->value[i];
        a.merged.part[place++] = k;
      }
    }
  }
}

static int merge_run(const struct sl_launch *l, const struct merge_args *a) {
  int status = SL_LAUNCH(l, merge_count, SL_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->merged.offsets, &a->merged.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, merge_fill, SL_PER_EVENT, *a);
  return status;
}
SL_ALGORITHM(merge, "merges numbers", 64, merge_run);
