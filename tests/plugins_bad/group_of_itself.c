/* A capacity that depends on itself. */
#define BAD_VALUE(F)    F(first, u32, ITEM_OFFSETS, "", "") F(second, u32, ITEM_OFFSETS, "", "")
#define BAD_FIELDS_READ ""
#define BAD_CAPACITY                   \
  SL_ITEMS(SL_ONE(SL_ITEMS_TERM(in))), \
      SL_SUBITEMS(SL_ONE(SL_SUBITEMS_TERM(out.second)), SL_ONE(SL_SUBITEMS_TERM(out.first)))
#include "template.h"
