/* processor.c: see processor.h. Compiled for every processor of the architecture. */
#include "base/processor.h"

#include "base/diagnostics.h"

#include <pthread.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char lacks[256]; /* message, "" if nothing is missing */

static void find_lacks(void) {
#ifdef __x86_64__
  char names[160] = "";
  size_t used = 0;
  __builtin_cpu_init();
#define SL_EXTENSION_(name, text)                                                         \
  if (sl_processor_required.name && !__builtin_cpu_supports(text) && used < sizeof names) \
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", #name);
  SL_PROCESSOR_EXTENSIONS(SL_EXTENSION_)
#undef SL_EXTENSION_
  if (*names)
    snprintf(lacks, sizeof lacks, "this build needs %s, and this processor lacks %s", SLUICE_PROCESSOR, names);
#endif
}

const char *sl_processor_lacks(void) {
  pthread_once(&once, find_lacks);
  return *lacks ? lacks : NULL;
}

int sl_processor_check(struct sl_diagnostics *d) {
  const char *text = sl_processor_lacks();
  if (!text) return SL_OK;
  sl_diagnose(d, SL_ERROR, NULL, NULL, "run it on another machine, or build it for this one with -D SLUICE_ARCH=...",
              "%s", text);
  return SL_EINVAL;
}
