/* A TOTAL field of a type that depends on the order of additions. */
#define BAD_FIELDS(F) F(value, f32, TOTAL, "", "a sum")
#include "template.h"
