/* cli.h: what the files of the `sluice` command share. */
#ifndef SL_CLI_H
#define SL_CLI_H

#include <sluice/sluice.h>

#include <stdio.h>

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_WRONG = 2, CLI_HELP = -1 };

struct cli_list {
  const char **items; /* NULL-terminated */
  size_t count;
};

struct cli_arguments {
  struct sl_options options;
  const char *operand; /* GRAPH or NAME */
  struct cli_list inputs, sets, uses, plugin_paths;
  const char *json_path;
  int quiet;
  struct cli_list owned; /* strings to free: expanded globs */
};

/* Parses what follows the command's name; complains on stderr. CLI_OK, CLI_WRONG or CLI_HELP. */
int cli_parse(struct cli_arguments *a, const char *command, int argc, char **argv);
void cli_free(struct cli_arguments *a);
void cli_write_options(FILE *file);

int cli_run(const struct cli_arguments *a);
int cli_check(const struct cli_arguments *a);
int cli_plan(const struct cli_arguments *a);
int cli_list(const struct cli_arguments *a);
int cli_describe(const struct cli_arguments *a);

#endif
