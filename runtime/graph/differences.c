/* differences.c: see differences.h. */
#include "graph/differences.h"

#include "base/settings.h"
#include "base/text_file.h"

#include <sluice/plugin.h>

#include <stdlib.h>
#include <string.h>

/* A node that only one of the graphs has is one difference, "NODE.use". */
static void put(const struct sl_difference *d, FILE *f) {
  const size_t length = strlen(d->setting), use = strlen(".use");
  const int is_use = length > use && strcmp(d->setting + length - use, ".use") == 0;
  if (is_use && !d->before)
    fprintf(f, "%.*s: new, %s\n", (int)(length - use), d->setting, d->now);
  else if (is_use && !d->now)
    fprintf(f, "%.*s: removed\n", (int)(length - use), d->setting);
  else
    fprintf(f, "%s: %s -> %s\n", d->setting, d->before ? d->before : "not set", d->now ? d->now : "not set");
}

char *sl_graph_differences(const char *before, const char *after) {
  struct sl_differences differences;
  struct sl_text_file text;
  int is_whole = sl_settings_compare(before, after, &differences) == SL_OK;
  is_whole &= sl_text_open(&text) != NULL;
  for (uint32_t i = 0; is_whole && i < differences.count; i++) put(&differences.at[i], text.file);
  is_whole &= sl_text_close(&text) >= 0;
  sl_differences_close(&differences);
  if (is_whole) return text.text;
  free(text.text);
  return NULL;
}
