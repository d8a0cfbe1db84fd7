/* run.c: `sluice run`: signals, messages as they occur, progress, the table and JSON of a run. */
#include "cli/cli.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

static struct sl_session *volatile running;

static void on_signal(int number) {
  if (running) sl_session_stop_by(running, number);
}

static void catch_signals(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_RESETHAND};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of the write, which leaves whole events */
  signal(SIGPIPE, SIG_IGN); /* and so is a pipe that nobody reads */
}

/* What is left to do may wait for the reader of a pipe. */
static void leave_signals(void) {
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
}

static void print_event_digest(void *context, const char *output, const struct sl_event *event, uint64_t digest) {
  (void)context;
  fprintf(sl_session_writes_stdout(running) ? stderr : stdout, "digest %s %u %" PRIu64 " %016" PRIx64 "\n", output,
          event->run, event->number, digest);
}

/* Tables that --quiet keeps back, and that go nowhere else. */
static int is_in_vain(const struct cli_arguments *a) {
  const char *option = a->options.profile && !a->options.metrics_path && !a->options.trace_path ? "--profile"
                       : a->options.digest == 1                                                 ? "--digest"
                                                                                                : NULL;
  if (!a->quiet || a->json_path || !option) return 0;
  fprintf(stderr, "error: %s has no effect with --quiet and without --json\n", option);
  return 1;
}

int cli_run(const struct cli_arguments *a) {
  if (is_in_vain(a)) return CLI_WRONG;
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  uint32_t quiet = a->quiet;
  sl_diagnostics_follow(d, cli_show_message, &quiet);
  struct sl_options options = a->options;
  if (isatty(STDERR_FILENO) && !a->quiet) options.on_progress = cli_show_progress;
  options.on_event_digest = print_event_digest;
  options.report_path = a->json_path;
  options.command_line = a->command_line;
  struct sl_session *session = NULL;
  int status = CLI_WRONG;
  if (sl_session_open(&options, d, &session) == SL_OK) {
    if (isatty(STDOUT_FILENO) && (options.digest > 1 || sl_session_writes_stdout(session))) cli_hide_progress();
    running = session;
    catch_signals();
    const int result = sl_session_run(session);
    running = NULL;
    leave_signals();
    cli_end_progress();
    status = (int)sl_session_summary(session)->exit_status;
    const int has_run = result == SL_OK || sl_session_summary(session)->events > 0;
    if (!a->quiet && has_run)
      sl_session_write_table(session, a->options.profile, sl_session_writes_stdout(session) ? stderr : stdout);
    if (sl_session_write_report(session) < 0 && status == CLI_OK) status = CLI_FAILED;
  }
  sl_diagnostics_print_dropped(d, stderr);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return status;
}
