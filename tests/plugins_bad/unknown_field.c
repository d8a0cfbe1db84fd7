/* The input lists a field that its collection does not have. */
#define BAD_FIELDS_READ "offsets valeu"
#include "template.h"
