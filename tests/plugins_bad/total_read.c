/* A kernel that reads TOTAL fields, which belong to the run. */
#define BAD_FIELDS(F)   F(value, u32, TOTAL, "", "a count")
#define BAD_FIELDS_READ ""
#include "template.h"
