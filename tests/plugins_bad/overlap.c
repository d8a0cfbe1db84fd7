/* A property lies in the middle of an output. */
#define BAD_FACTOR_OFFSET offsetof(struct bad_args, out) + 8
#include "template.h"
