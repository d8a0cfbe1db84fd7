/* Two algorithms with the same name. */
#define BAD_ALGORITHMS &copy, &copy
#include "template.h"
