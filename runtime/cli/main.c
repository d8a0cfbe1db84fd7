/* main.c: the `sluice` command, a thin client of sluice.h. commands.c and options.c have the tables; each command is a
 * file. */
#include "base/nearest.h"
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int is_one_of(const char *word, const char *a, const char *b, const char *c) {
  return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static int run_command(const struct cli_command *command, int argc, char **argv) {
  struct cli_arguments a;
  int status = cli_parse(&a, command, argc - 2, argv + 2);
  a.command_line = (const char *const *)argv;
  if (status == CLI_HELP) {
    cli_write_command_help(command, stdout);
    status = CLI_OK;
  } else if (status == CLI_OK) {
    status = command->run(&a);
  }
  cli_free(&a);
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  fprintf(stderr, "error: standard output could not be written: %s\n", strerror(errno));
  return status == CLI_OK ? CLI_FAILED : status;
}

static int no_such_command(const char *name) {
  struct sl_nearest nearest;
  sl_nearest_begin(&nearest, name);
  for (size_t c = 0; c < cli_command_count; c++) sl_nearest_offer(&nearest, cli_commands[c].name);
  fprintf(stderr, "error: there is no command '%s'\n", name);
  if (!cli_suggest(&nearest)) cli_write_help(stderr);
  return CLI_WRONG;
}

int main(int argc, char **argv) {
  if (sl_processor_lacks()) {
    fprintf(stderr, "error: %s\n", sl_processor_lacks());
    return CLI_WRONG;
  }
  signal(SIGXFSZ, SIG_IGN); /* then a write beyond the size limit of files fails, and whole events stay in the file */
  cli_filter_output();
  if (argc < 2) {
    cli_write_help(stderr);
    return CLI_WRONG;
  }
  if (is_one_of(argv[1], "--help", "-h", "help")) {
    cli_write_help(stdout);
    return CLI_OK;
  }
  if (is_one_of(argv[1], "--version", "-V", "version")) {
    sl_write_version(stdout);
    return CLI_OK;
  }
  for (size_t c = 0; c < cli_command_count; c++)
    if (strcmp(argv[1], cli_commands[c].name) == 0) return run_command(&cli_commands[c], argc, argv);
  return no_such_command(argv[1]);
}
