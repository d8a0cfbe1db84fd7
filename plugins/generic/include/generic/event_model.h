/* event_model.h: what the plugin generic offers to others. */
#ifndef GENERIC_EVENT_MODEL_H
#define GENERIC_EVENT_MODEL_H

#include <sluice/plugin.h>

#define GENERIC_DECISIONS_FIELDS(F)                                      \
  F(offsets, u32, OFFSETS, "", "first of the lists that an event is on") \
  F(list, u32, PER_ITEM, "", "place of the list among the inputs, from 0, ascending within an event")
SL_COLLECTION(generic_decisions, GENERIC_DECISIONS_FIELDS, "which of some event lists each event is on");

#endif
