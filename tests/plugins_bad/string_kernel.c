/* A kernel with a string property, which is a pointer into host memory. */
#define BAD_MORE_ARGS    const char *label;
#define BAD_MORE_MEMBERS , SL_STRING(label, "", "a text")
#include "template.h"
