/* Aborts as soon as it is loaded. */
#include "template.h"

#include <stdlib.h>

__attribute__((constructor)) static void on_load(void) { abort(); }
