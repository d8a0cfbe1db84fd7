/* The table of members is null. */
#define BAD_MEMBERS NULL
#include "template.h"
