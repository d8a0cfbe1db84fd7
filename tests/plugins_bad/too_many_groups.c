/* A collection with five groups of subitems. */
#define BAD_VALUE(F)                       \
  F(first, u32, ITEM_OFFSETS, "", "")      \
  F(second, u8, BYTES, "", "")             \
  F(third, u32, ITEM_OFFSETS, "", "")      \
  F(third_value, f32, PER_SUBITEM, "", "") \
  F(fourth, u8, BYTES, "", "")             \
  F(fifth, u8, BYTES, "", "")
#define BAD_FIELDS_READ ""
#include "template.h"
