/* A TOTAL field beside another. */
#define BAD_VALUE(F) F(value, u32, TOTAL, "", "a count")
#include "template.h"
