/* The magic number is wrong. */
#define BAD_MAGIC 0x656369756c53554dull
#include "template.h"
