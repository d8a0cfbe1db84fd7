/* A TOTAL field of a floating-point type: its sum would depend on the order of additions. */
#define BAD_FIELDS(F) F(value, f32, TOTAL, "", "a sum")
#include "template.h"
