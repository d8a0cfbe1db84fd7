/* An input of totals, which are of the run. */
#define BAD_FIELDS(F)   F(value, u32, TOTAL, "", "a count")
#define BAD_FIELDS_READ ""
#include "template.h"
