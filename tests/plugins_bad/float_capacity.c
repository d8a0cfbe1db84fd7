/* An output with as many items as a property says that is no u32. */
#define BAD_CAPACITY SL_ITEMS(SL_ONE(SL_PROPERTY_TERM(factor, 0)))
#include "template.h"
