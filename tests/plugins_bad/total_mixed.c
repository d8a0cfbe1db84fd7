/* A collection with a TOTAL field and a field of another shape. */
#define BAD_VALUE(F) F(value, u32, TOTAL, "", "a count")
#include "template.h"
