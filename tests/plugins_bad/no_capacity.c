/* An output with items and no capacity. */
#define BAD_CAPACITY .default_value = 0
#include "template.h"
