/* A TOTAL field of a type with sums that depend on the order of additions. */
#define BAD_FIELDS(F) F(value, f32, TOTAL, "", "a sum")
#include "template.h"
