/* A TOTAL field with a type whose sum depends on the order of additions. */
#define BAD_FIELDS(F) F(value, f32, TOTAL, "", "a sum")
#include "template.h"
