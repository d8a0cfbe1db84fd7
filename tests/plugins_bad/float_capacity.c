/* The number of items of an output is given by a property that is not u32. */
#define BAD_CAPACITY SL_ITEMS(SL_ONE(SL_PROPERTY_TERM(factor, 0)))
#include "template.h"
