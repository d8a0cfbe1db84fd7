/* explosive.c: a plugin whose constructor ends the program. */
#include <stdlib.h>

__attribute__((constructor)) static void explode(void) { abort(); }
