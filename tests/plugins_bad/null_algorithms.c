/* The table of algorithms is null. */
#define BAD_TABLE NULL
#include "template.h"
