/* The default of a property is beyond its maximum. */
#define BAD_DEFAULT 11.0
#include "template.h"
