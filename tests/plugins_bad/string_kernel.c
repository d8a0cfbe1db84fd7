/* A kernel has a property that is a string: a pointer into the host's memory. */
#define BAD_MORE_ARGS    const char *label;
#define BAD_MORE_MEMBERS , SL_STRING(label, "", "a text")
#include "template.h"
