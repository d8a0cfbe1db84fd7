/* event_model.h: what the plugin generic offers to others. */
#ifndef GENERIC_EVENT_MODEL_H
#define GENERIC_EVENT_MODEL_H

#include <sluice/plugin.h>

#define GENERIC_DECISIONS_FIELDS(F)                                      \
  F(offsets, u32, OFFSETS, "", "first of the lists that an event is on") \
  F(list, u32, PER_ITEM, "", "place of the list among the inputs, from 0, ascending within an event")
SL_COLLECTION(generic_decisions, GENERIC_DECISIONS_FIELDS, "which of some event lists each event is on");

/* An entry for each list. */
#define GENERIC_LIST_TOTALS_FIELDS(F)             \
  F(events, u32, TOTAL, "", "events on the list") \
  F(alone, u32, TOTAL, "", "those that are on no other one")
SL_COLLECTION(generic_list_totals, GENERIC_LIST_TOTALS_FIELDS, "how many events of the run are on each of some lists");

#endif
