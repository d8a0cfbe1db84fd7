/* Ends the process as soon as it is loaded, with success. */
#include "template.h"

#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void on_load(void) {
  puts("nothing here concerns you");
  exit(0);
}
