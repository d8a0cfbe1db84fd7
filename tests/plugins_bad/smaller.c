/* The descriptor says it is smaller than this runtime's. */
#define BAD_SIZE (sizeof(struct sl_plugin) - 8)
#include "template.h"
