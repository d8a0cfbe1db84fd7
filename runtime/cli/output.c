/* output.c: what commands have in common: messages, files, a look at a graph that does not run. */
#include "base/nearest.h"
#include "base/text_file.h"
#include "cli/cli.h"
#include "cli/progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cli_print_messages(struct sl_diagnostics *d, int quiet) {
  if (!quiet || sl_diagnostics_errors(d) > 0) sl_diagnostics_print(d, stderr);
}

int cli_suggest(const struct sl_nearest *nearest) {
  const char *best = sl_nearest_result(nearest);
  if (best) fprintf(stderr, "  hint: did you mean %s?\n", best);
  return best != NULL;
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

int cli_complain(const char *path, const char *reason) {
  fprintf(stderr, "error: %s: %s\n", path, reason);
  return CLI_FAILED;
}

static int write_bytes(const char *path, const char *bytes, size_t count) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  uint32_t quiet = 0;
  sl_diagnostics_follow(d, cli_show_message, &quiet);
  fflush(stdout); /* which the path may mean */
  const int status = sl_write_file(path, bytes, count, d);
  sl_diagnostics_print_dropped(d, stderr);
  sl_diagnostics_free(d);
  return status == SL_OK ? CLI_OK : CLI_FAILED;
}

int cli_write_file(const char *path, int (*write)(const void *what, FILE *file), const void *what) {
  struct sl_text_file memory;
  int failed = !sl_text_open(&memory) || write(what, memory.file) < 0;
  failed |= sl_text_close(&memory) < 0;
  const int status = failed ? cli_complain(path, "out of memory") : write_bytes(path, memory.text, memory.bytes);
  free(memory.text);
  return status;
}

struct session_writer {
  const struct sl_session *session;
  int (*write)(const struct sl_session *, FILE *);
};

static int write_session(const void *what, FILE *file) {
  const struct session_writer *w = what;
  return w->write(w->session, file);
}

int cli_write_session(const struct sl_session *session, const char *path,
                      int (*write)(const struct sl_session *, FILE *)) {
  const struct session_writer writer = {session, write};
  return cli_write_file(path, write_session, &writer);
}

int cli_look(const struct cli_arguments *a, int (*show)(const struct cli_arguments *, const struct sl_session *)) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  struct sl_session *session = NULL;
  struct sl_options options = a->options;
  options.try_plugins = 1;
  options.look_only = 1;
  int status = sl_session_open(&options, d, &session) == SL_OK ? CLI_OK : CLI_WRONG;
  if (status == CLI_OK) status = show(a, session);
  cli_print_messages(d, 0);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return status;
}
