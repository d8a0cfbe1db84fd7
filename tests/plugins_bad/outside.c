/* A property ends beyond the argument struct. */
#define BAD_FACTOR_OFFSET (uint32_t)sizeof(struct bad_args)
#include "template.h"
