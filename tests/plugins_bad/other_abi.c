/* Built for another ABI version; later members of the descriptor must not be read. */
#define BAD_ABI_VERSION 9u
#define BAD_NAME        ((const char *)1)
#include "template.h"
