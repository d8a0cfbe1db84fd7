/* A capacity that does not name one of the two groups. */
#define BAD_VALUE(F)    F(first, u32, ITEM_OFFSETS, "", "") F(second, u32, ITEM_OFFSETS, "", "")
#define BAD_FIELDS_READ ""
#define BAD_CAPACITY \
  SL_ITEMS(SL_ONE(SL_ITEMS_TERM(in))), SL_SUBITEMS(SL_ONE(SL_SUBITEMS_TERM(in.first)), SL_ONE(SL_SUBITEMS_TERM(in)))
#include "template.h"
