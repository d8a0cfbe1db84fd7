/* The descriptor says it is larger than this runtime's. */
#define BAD_SIZE (sizeof(struct sl_plugin) + 8)
#include "template.h"
