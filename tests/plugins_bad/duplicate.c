/* Two algorithms of one name. */
#define BAD_ALGORITHMS &copy, &copy
#include "template.h"
