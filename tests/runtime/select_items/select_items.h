/* select_items.h: collections of the algorithms in this folder. */
#ifndef SELECT_ITEMS_H
#define SELECT_ITEMS_H

#include <sluice/plugin.h>

#define SELECT_KEYS_FIELDS(F)                             \
  F(offsets, u32, OFFSETS, "", "first key of each event") \
  F(key, u32, PER_ITEM, "", "any number")
SL_COLLECTION(select_keys_of, SELECT_KEYS_FIELDS, "keys by event");

#define SELECT_GROUPS_FIELDS(F)                                      \
  F(offsets, u32, OFFSETS, "", "first group of each event")          \
  F(part_offsets, u32, ITEM_OFFSETS, "", "first part of each group") \
  F(key, u32, PER_ITEM, "", "any number")                            \
  F(part, u32, PER_SUBITEM, "", "any number")
SL_COLLECTION(select_groups_of, SELECT_GROUPS_FIELDS, "groups with their parts, by event");

#endif
