/* again.c: the command that reproduces a finding. Options that were not given have defaults, and all random numbers of
 * a trial have fixed seeds.
 */
#include "trial/trial.h"

#include <ctype.h>
#include <string.h>

/* Writes a text as one word of a shell command. */
static void write_word(const char *text, FILE *file) {
  int is_plain = *text != '\0';
  for (const char *c = text; *c; c++) is_plain &= isalnum((unsigned char)*c) || strchr("_-./:=,+@%", *c) != NULL;
  if (is_plain) {
    fprintf(file, " %s", text);
    return;
  }
  fputs(" '", file);
  for (; *text; text++) fputs(*text == '\'' ? "'\\''" : (const char[]){*text, '\0'}, file);
  fputc('\'', file);
}

static void write_all(const char *option, const char *const *values, FILE *file) {
  for (; values && *values; values++) {
    fprintf(file, " %s", option);
    write_word(*values, file);
  }
}

void trial_write_again(const struct sl_trial_options *o, const struct trial_graph *graph, const char *plugin,
                       const char *algorithm, FILE *file) {
  const struct sl_trial_options defaults = sl_trial_options_default();
  const char *const graphs[] = {graph->path ? graph->shown : NULL, NULL};
  fprintf(file, "      again: sluice test %s.%s", plugin, algorithm);
  write_all("--plugin-path", o->plugin_paths, file);
  write_all("--graph", graphs, file);
  write_all("-i", o->input_paths, file);
  write_all("--set", o->sets, file);
  if (o->events != defaults.events) fprintf(file, " -n %u", o->events);
  if (o->seconds != defaults.seconds) fprintf(file, " --seconds %u", o->seconds);
  if (o->target) fprintf(file, " --device %s", o->target);
  fputc('\n', file);
}
