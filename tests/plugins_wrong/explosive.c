/* explosive.c: a plugin with a constructor that ends the program. */
#include <stdlib.h>

__attribute__((constructor)) static void explode(void) { abort(); }
