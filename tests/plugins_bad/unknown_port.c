/* A capacity counts the items of a port that does not exist. */
#define BAD_CAPACITY SL_ITEMS(SL_ONE(SL_ITEMS_TERM(hits)))
#include "template.h"
