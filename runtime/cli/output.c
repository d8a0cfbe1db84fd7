/* output.c: what commands have in common: messages, files, a look at a graph that does not run. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cli_print_messages(struct sl_diagnostics *d, int quiet) {
  if (!quiet || sl_diagnostics_errors(d) > 0) sl_diagnostics_print(d, stderr);
}

int cli_no_memory(void) {
  fprintf(stderr, "error: out of memory\n");
  return CLI_FAILED;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void cli_sort_numbers(double *values, size_t count) { qsort(values, count, sizeof *values, by_value); }

FILE *cli_open_file(const char *path) {
  if (strcmp(path, "-") == 0) return stdout;
  FILE *file = fopen(path, "w");
  if (!file) fprintf(stderr, "error: %s: %s\n", path, strerror(errno));
  return file;
}

int cli_close_file(FILE *file, const char *path) {
  const int wrong = fflush(file) != 0 || ferror(file);
  const int closed = file == stdout ? 0 : fclose(file);
  if (!wrong && closed == 0) return CLI_OK;
  fprintf(stderr, "error: %s could not be written: %s\n", path, strerror(errno));
  return CLI_FAILED;
}

int cli_write_file(const struct sl_session *session, const char *path,
                   int (*write)(const struct sl_session *, FILE *)) {
  FILE *file = cli_open_file(path);
  if (!file) return CLI_FAILED;
  const int status = write(session, file);
  const int closed = cli_close_file(file, path);
  if (status >= 0) return closed;
  if (closed == CLI_OK) fprintf(stderr, "error: %s could not be written: out of memory\n", path);
  return CLI_FAILED;
}

int cli_look(const struct cli_arguments *a, int (*show)(const struct cli_arguments *, const struct sl_session *)) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  struct sl_session *session = NULL;
  int status = sl_session_open(&a->options, d, &session) == SL_OK ? CLI_OK : CLI_WRONG;
  if (status == CLI_OK) status = show(a, session);
  cli_print_messages(d, 0);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return status;
}
