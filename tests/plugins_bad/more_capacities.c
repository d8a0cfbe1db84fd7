/* More capacities than groups of subitems. */
#define BAD_CAPACITY SL_ITEMS(SL_ONE(SL_ITEMS_TERM(in))), SL_SUBITEMS(SL_ONE(SL_ITEMS_TERM(in)))
#include "template.h"
