/* Never returns from its constructor. */
#include "template.h"

#include <unistd.h>

__attribute__((constructor)) static void on_load(void) {
  for (;;) pause();
}
