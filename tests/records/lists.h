/* lists.h: events with items and subitems, for tests of record sources. */
#ifndef LISTS_H
#define LISTS_H

#include <sluice/plugin.h>

#define LISTS_FIELDS(F)                                             \
  F(offsets, u32, OFFSETS, "", "first item of each event")          \
  F(weight, f32, PER_ITEM, "", "of the item")                       \
  F(part_offsets, u32, ITEM_OFFSETS, "", "first part of each item") \
  F(part, f32, PER_SUBITEM, "", "parts of the item")                \
  F(id, u32, PER_EVENT, "", "of the event")
SL_COLLECTION(lists, LISTS_FIELDS, "items and their parts");

#define LISTS_SUMS_FIELDS(F)                                     \
  F(offsets, u32, OFFSETS, "", "first item of each event")       \
  F(sum, f32, PER_ITEM, "", "weight times the sum of the parts") \
  F(id, u32, PER_EVENT, "", "of the event")
SL_COLLECTION(lists_sums, LISTS_SUMS_FIELDS, "sums of the items");

#endif
