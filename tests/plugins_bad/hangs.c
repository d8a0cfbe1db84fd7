/* Waits for ever as soon as it is loaded. */
#include "template.h"

#include <unistd.h>

__attribute__((constructor)) static void on_load(void) {
  for (;;) pause();
}
