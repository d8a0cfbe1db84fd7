/* First of two plugins with a collection bad_values; this one is correct. */
#define BAD_NAME "layout_first"
#include "template.h"
