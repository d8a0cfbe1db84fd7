/* help.c: the help of the program and of each command, from the tables. */
#include "cli/cli.h"

#include <string.h>

enum { USAGE_COLUMNS = 22 };

static const char exit_status[] =
    "Exit status: 0 all is well, 1 the run failed, 2 the command line or graph is wrong,\n"
    "128 + N after signal N: 129 SIGHUP, 130 SIGINT, 143 SIGTERM.\n";

void cli_write_help(FILE *file) {
  fprintf(file, "Usage: sluice COMMAND [OPTION]...\n\nRuns and examines data-flow graphs of plugin algorithms.\n\n");
  for (size_t c = 0; c < cli_command_count; c++) {
    char usage[96];
    snprintf(usage, sizeof usage, "%s %s", cli_commands[c].name, cli_commands[c].operands);
    /* A usage that is too long has a line of its own, by which help2man knows where it ends. */
    if (strlen(usage) > USAGE_COLUMNS)
      fprintf(file, "  sluice %s\n         %-*s %s\n", usage, USAGE_COLUMNS, "", cli_commands[c].doc);
    else
      fprintf(file, "  sluice %-*s %s\n", USAGE_COLUMNS, usage, cli_commands[c].doc);
  }
  fprintf(file, "  sluice %-*s %s\n", USAGE_COLUMNS, "--version", "version, build, targets, libraries");
  fprintf(file, "\n`sluice COMMAND --help` lists the options of a command.\n\n%s", exit_status);
}

void cli_write_command_help(const struct cli_command *command, FILE *file) {
  fprintf(file, "Usage: sluice %s%s%s [OPTION]...\n\nsluice %s: %s.\n\n", command->name, *command->operands ? " " : "",
          command->operands, command->name, command->doc);
  if (command->details) fprintf(file, "%s\n", command->details);
  fprintf(file, "Options:\n");
  for (size_t i = 0; i < cli_option_count; i++) {
    const struct cli_option *o = &cli_options[i];
    if (!(o->groups & command->groups)) continue;
    char left[96];
    snprintf(left, sizeof left, "%s%s%s%s%s", o->name, o->alias ? ", " : "", o->alias ? o->alias : "",
             o->value ? " " : "", o->value ? o->value : "");
    fprintf(file, "  %-30s %s\n", left, o->doc);
  }
  fprintf(file, "  %-30s %s\n", "--help", "show this");
}
