/* Entries have the names of a port that is no list port. */
#define BAD_CAPACITY SL_ITEMS(SL_ONE(SL_ITEMS_TERM(in))), SL_INDEX_NAMES(in, "thing", value)
#include "template.h"
