/* commands.c: run, check, plan, list, describe. */
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* -------------------------------------------------------------------------------------------------- run */

static struct sl_session *volatile running;
static volatile sig_atomic_t signal_seen;

static void on_signal(int number) {
  signal_seen = number;
  if (running) sl_session_stop(running);
}

static void catch_signals(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_RESETHAND};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of the write, which leaves whole events */
}

static void show_progress(void *context, uint64_t events, uint64_t done, uint64_t total, double seconds) {
  (void)context;
  fprintf(stderr, "\r\033[K%" PRIu64 " events, %.0f/s", events, seconds > 0 ? (double)events / seconds : 0.0);
  if (total > 0 && done > 0)
    fprintf(stderr, ", %.0f%%, %.0f s left", 100.0 * (double)done / (double)total,
            seconds * (double)(total > done ? total - done : 0) / (double)done);
  fflush(stderr);
}

static void print_event_digest(void *context, const char *output, const struct sl_event *event, uint64_t digest) {
  (void)context;
  printf("digest %s %u %" PRIu64 " %016" PRIx64 "\n", output, event->run, event->number, digest);
}

static int write_json_file(const struct sl_session *session, const char *path) {
  FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
  if (!file) {
    fprintf(stderr, "error: %s: %s\n", path, strerror(errno));
    return CLI_FAILED;
  }
  int status = sl_session_write_json(session, file) < 0 ? CLI_FAILED : CLI_OK;
  if (file != stdout && fclose(file) != 0) status = CLI_FAILED;
  if (status != CLI_OK) fprintf(stderr, "error: %s could not be written\n", path);
  return status;
}

static void print_messages(struct sl_diagnostics *d, int quiet) {
  if (!quiet || sl_diagnostics_errors(d) > 0) sl_diagnostics_print(d, stderr);
}

int cli_run(const struct cli_arguments *a) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return CLI_FAILED;
  struct sl_options options = a->options;
  const int terminal = isatty(STDERR_FILENO) && !a->quiet;
  if (terminal) options.on_progress = show_progress;
  options.on_event_digest = print_event_digest;
  struct sl_session *session = NULL;
  int status = CLI_WRONG;
  if (sl_session_open(&options, d, &session) == SL_OK) {
    running = session;
    catch_signals();
    const int result = sl_session_run(session);
    running = NULL;
    if (terminal) fprintf(stderr, "\r\033[K");
    status = result == SL_OK ? CLI_OK : result == SL_EINTERRUPTED && signal_seen ? 128 + signal_seen : CLI_FAILED;
    const int has_run = result == SL_OK || sl_session_summary(session)->events > 0;
    if (!a->quiet && has_run)
      sl_session_write_table(session, a->options.profile,
                             a->json_path && strcmp(a->json_path, "-") == 0 ? stderr : stdout);
    if (a->json_path && write_json_file(session, a->json_path) != CLI_OK && status == CLI_OK) status = CLI_FAILED;
  }
  print_messages(d, a->quiet);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return status;
}

/* -------------------------------------------------------------------------------- looking without running */

static int look(const struct cli_arguments *a, void (*write)(const struct sl_session *, FILE *)) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return CLI_FAILED;
  struct sl_session *session = NULL;
  const int status = sl_session_open(&a->options, d, &session) == SL_OK ? CLI_OK : CLI_WRONG;
  if (status == CLI_OK) write(session, stdout);
  print_messages(d, 0);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return status;
}

int cli_check(const struct cli_arguments *a) { return look(a, sl_session_write_wiring); }

int cli_plan(const struct cli_arguments *a) { return look(a, sl_session_write_plan); }

int cli_list(const struct cli_arguments *a) {
  return sl_write_plugin_list(a->options.plugin_paths, stdout) < 0 ? CLI_FAILED : CLI_OK;
}

int cli_describe(const struct cli_arguments *a) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return CLI_FAILED;
  const int status = sl_write_description(a->options.plugin_paths, a->operand, d, stdout) < 0 ? CLI_WRONG : CLI_OK;
  print_messages(d, 0);
  sl_diagnostics_free(d);
  return status;
}
