/* An entry of the table of algorithms is null. */
#define BAD_ALGORITHMS &copy, NULL
#include "template.h"
