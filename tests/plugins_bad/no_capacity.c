/* An output with items and no capacity. */
#define BAD_CAPACITY .reserved = 0
#include "template.h"
