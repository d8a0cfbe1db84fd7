/* output.c: messages and output files of all commands, and sessions that only show a graph. */
#include "base/file_identity.h"
#include "base/nearest.h"
#include "base/text_file.h"
#include "cli/cli.h"
#include "cli/progress.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int as_json;

int cli_choose_diagnostics(const char *format) {
  as_json = format && strcmp(format, "json") == 0;
  if (as_json) cli_stop_colours();
  if (!format || as_json || strcmp(format, "text") == 0) return CLI_OK;
  fprintf(stderr, "error: --diagnostics is text or json, not '%s'\n", format);
  return CLI_WRONG;
}

void cli_write_message(const struct sl_diagnostic *message, FILE *file) {
  if (!as_json || sl_diagnostic_write_json(message, file) == SL_ENOMEM) sl_diagnostic_print(message, file);
}

/* Writes the line "error: 12 more errors not shown" as a message. */
static void write_dropped(char *line) {
  char *colon = strchr(line, ':');
  if (!colon) return;
  *colon = '\0';
  const uint32_t severity = strcmp(line, "error") == 0 ? SL_ERROR : strcmp(line, "warning") == 0 ? SL_WARNING : SL_NOTE;
  const struct sl_diagnostic message = {.severity = severity, .message = colon + 2};
  cli_write_message(&message, stderr);
}

void cli_print_dropped(const struct sl_diagnostics *d) {
  struct sl_text_file text;
  if (!as_json || !sl_text_open(&text)) {
    sl_diagnostics_print_dropped(d, stderr);
    return;
  }
  sl_diagnostics_print_dropped(d, text.file);
  sl_text_close(&text);
  char *rest = text.text;
  for (char *line; rest && (line = strtok_r(rest, "\n", &rest)) != NULL;) write_dropped(line);
  free(text.text);
}

void cli_print_messages(struct sl_diagnostics *d, int quiet) {
  if (quiet && sl_diagnostics_errors(d) == 0) return;
  for (size_t i = 0; i < sl_diagnostics_count(d); i++) cli_write_message(sl_diagnostics_at(d, i), stderr);
  cli_print_dropped(d);
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

int cli_file_error(const char *path, const char *reason) {
  fprintf(stderr, "error: %s: %s\n", path, reason);
  return CLI_FAILED;
}

int cli_check_output(const char *option, const char *path, const char *other_option, const char *other) {
  char reason[PATH_MAX + 128];
  if (!path) return CLI_OK;
  if (sl_file_may_be_written(path, reason, sizeof reason) < 0) {
    fprintf(stderr, "error: %s %s: cannot be written: %s\n", option, path, reason);
    return CLI_WRONG;
  }
  const struct sl_file_identity a = sl_file_identify(path), b = sl_file_identify(other ? other : path);
  if (!other || !sl_file_is_same(&a, &b)) return CLI_OK;
  fprintf(stderr, "error: %s %s: the same file as %s, the file of %s\n", option, path, other, other_option);
  return CLI_WRONG;
}

static int write_bytes(const char *path, const char *bytes, size_t count) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  uint32_t quiet = 0;
  sl_diagnostics_follow(d, cli_show_message, &quiet);
  fflush(stdout); /* the path may be standard output */
  const int status = sl_write_file(path, bytes, count, d);
  cli_print_dropped(d);
  sl_diagnostics_free(d);
  return status == SL_OK ? CLI_OK : CLI_FAILED;
}

int cli_write_file(const char *path, int (*write)(const void *what, FILE *file), const void *what) {
  struct sl_text_file memory;
  int failed = !sl_text_open(&memory) || write(what, memory.file) < 0;
  failed |= sl_text_close(&memory) < 0;
  const int status = failed ? cli_file_error(path, "out of memory") : write_bytes(path, memory.text, memory.bytes);
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

int cli_inspect(const struct cli_arguments *a, int (*show)(const struct cli_arguments *, struct sl_session *)) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  struct sl_session *session = NULL;
  struct sl_options options = a->options;
  options.try_plugins = 1;
  options.inspect_only = 1;
  int status = sl_session_open(&options, d, &session) == SL_OK ? CLI_OK : CLI_WRONG;
  if (status == CLI_OK) status = show(a, session);
  cli_print_messages(d, 0);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return status;
}
