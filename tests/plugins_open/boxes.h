/* boxes.h: header of a plugin with open ports: the trait of collections that it can write and read. */
#ifndef BOXES_H
#define BOXES_H

#include <sluice/plugin.h>

#define BOX_FIELDS(F)                                     \
  F(offsets, u32, OFFSETS, "", "first box of each event") \
  F(weight, f32, PER_ITEM, "kg", "weight of the box")
SL_COLLECTION(boxes, BOX_FIELDS, "boxes of one colour");
SL_OPEN_PORTS(boxes);

/* Declares the collection of boxes of a colour, which is also the name of the port. */
#define BOXES_OF_COLOUR(colour, name)                                                                         \
  static const struct sl_member name##_members[] SL_UNUSED = {                                                \
      SL_TRAIT_OUT(colour, SL_ITEMS(SL_ONE(SL_BUDGET_TERM(colour##_count, 8)))),                              \
      SL_TRAIT_BUDGET(colour##_count, 4, 0, 100, "boxes of this colour")};                                    \
  static const struct sl_trait name##_trait SL_UNUSED = {"store.boxes", #colour, name##_members, 2, 0, NULL}; \
  SL_COLLECTION_WITH_TRAIT(name, BOX_FIELDS, "boxes of colour " #colour, &name##_trait)

#endif
