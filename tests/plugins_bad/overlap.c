/* A property overlaps an output in the argument struct. */
#define BAD_FACTOR_OFFSET offsetof(struct bad_args, out) + 8
#include "template.h"
