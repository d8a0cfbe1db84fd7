/* The size in the descriptor is smaller than that of this runtime. */
#define BAD_SIZE (sizeof(struct sl_plugin) - 8)
#include "template.h"
