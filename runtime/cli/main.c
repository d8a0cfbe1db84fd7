/* main.c: the `sluice` command: a thin client of sluice.h. One file a group of subcommands; arguments in arguments.c.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name, *usage, *doc;
  int (*run)(const struct cli_arguments *);
} commands[] = {
    {"run", "run GRAPH [-i FILE]... [-n EVENTS]", "run a graph over its input", cli_run},
    {"check", "check GRAPH", "check wiring, types and properties, and print the wiring", cli_check},
    {"plan", "plan GRAPH", "print the memory plan", cli_plan},
    {"list", "list", "plugins and algorithms found, and from where; those refused, and why", cli_list},
    {"describe", "describe NAME", "an algorithm, a plugin or a collection", cli_describe},
};

static void write_help(FILE *file) {
  fprintf(file, "usage: sluice COMMAND ...\n\n");
  for (size_t c = 0; c < sizeof commands / sizeof commands[0]; c++)
    fprintf(file, "  sluice %-38s %s\n", commands[c].usage, commands[c].doc);
  fprintf(file, "  sluice %-38s %s\n\n", "--version, --help", "print the version, or this");
  cli_write_options(file);
  fprintf(file,
          "\nExit status: 0 all is well, 1 the run failed, 2 the command line or graph is wrong,\n"
          "130 and 143 after SIGINT and SIGTERM.\n");
}

int main(int argc, char **argv) {
  if (argc < 2) {
    write_help(stderr);
    return CLI_WRONG;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
    write_help(stdout);
    return CLI_OK;
  }
  if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
    printf("sluice %s (plugin interface %u; devices: %s)\n", sl_version(), SL_ABI_VERSION, sl_devices());
    return CLI_OK;
  }
  for (size_t c = 0; c < sizeof commands / sizeof commands[0]; c++) {
    if (strcmp(argv[1], commands[c].name) != 0) continue;
    struct cli_arguments a;
    int status = cli_parse(&a, commands[c].name, argc - 2, argv + 2);
    if (status == CLI_HELP) {
      write_help(stdout);
      status = CLI_OK;
    } else if (status == CLI_OK) {
      status = commands[c].run(&a);
    }
    cli_free(&a);
    return status;
  }
  fprintf(stderr, "error: there is no command '%s'\n", argv[1]);
  write_help(stderr);
  return CLI_WRONG;
}
