/* run.c: `sluice run`: messages as they occur, progress, the table and JSON of a run. */
#include "cli/cli.h"
#include "cli/log.h"
#include "cli/progress.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------ the log */

enum { LOG_SECONDS = 10 }; /* between two lines of progress in the log */

static void log_begin(const struct cli_arguments *a) {
  char words[1024];
  size_t used = 0;
  for (uint32_t i = 0; a->command_line[i] && used < sizeof words; i++)
    used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", i ? " " : "", a->command_line[i]);
  cli_log(SL_NOTE, "begins: sluice %s, commit %s, process %d: %s%s", sl_version(), sl_commit(), (int)getpid(), words,
          used >= sizeof words ? "..." : "");
}

static void log_open(const struct sl_session *session) {
  const struct sl_summary *s = sl_session_summary(session);
  cli_log(CLI_LOG_DEBUG, "opened: %" PRIu32 " %s, slices of %" PRIu32 " %s, arena of %" PRIu64 " bytes", s->slots,
          sl_plural(s->slots, "slot", "slots"), s->slice_events, sl_plural(s->slice_events, "event", "events"),
          s->arena_bytes);
}

static void log_plans(const struct sl_summary *s) {
  for (uint32_t i = 0; i < s->plan_change_count; i++) {
    const struct sl_plan_change *change = &s->plan_changes[i];
    cli_log(SL_NOTE, "new plan %u after event %" PRIu64 ", because %s: arena of %" PRIu64 " bytes instead of %" PRIu64,
            i + 1, change->event, change->reason == SL_PLAN_GROWN ? "a budget overflowed" : "memory was unused",
            change->arena_bytes, change->arena_bytes_before);
    for (uint32_t b = 0; b < change->budget_count; b++)
      cli_log(CLI_LOG_DEBUG, "plan %u: %s.%s %u instead of %u", i + 1, change->budgets[b].node,
              change->budgets[b].property, change->budgets[b].after, change->budgets[b].before);
  }
}

static void log_end(const struct sl_session *session, int status) {
  const struct sl_summary *s = sl_session_summary(session);
  log_plans(s);
  cli_log(CLI_LOG_DEBUG,
          "graph digest %016" PRIx64 ", %" PRIu64 " %s, %" PRIu64 " run again in parts, peak %" PRIu64 " bytes",
          s->graph_digest, s->slices, sl_plural(s->slices, "slice", "slices"), s->retries, s->peak_rss_bytes);
  cli_log(SL_NOTE, "ends: %s, exit status %d, %" PRIu64 " %s, %" PRIu64 " with %s, %.3f s, %.0f events/s", s->status,
          status, s->events, sl_plural(s->events, "event", "events"), s->error_events,
          sl_plural(s->error_events, "an error", "errors"), s->seconds, s->wall_hz);
}

/* Called by one thread at a time. */
static void log_progress(uint64_t events, double seconds) {
  static double next = LOG_SECONDS;
  if (seconds < next) return;
  next = seconds + LOG_SECONDS;
  cli_log(CLI_LOG_DEBUG, "%" PRIu64 " %s after %.0f s", events, sl_plural(events, "event", "events"), seconds);
}

static int shows_progress;

static void on_progress(void *context, uint64_t events, uint64_t done, uint64_t total, double seconds) {
  if (shows_progress) cli_show_progress(context, events, done, total, seconds);
  log_progress(events, seconds);
}

/* `session`: points to the pointer to the session, which is set after the options. */
static void print_event_digest(void *session, const char *output, const struct sl_event *event, uint64_t digest) {
  fprintf(sl_session_writes_stdout(*(struct sl_session *const *)session) ? stderr : stdout,
          "digest %s %u %" PRIu64 " %016" PRIx64 "\n", output, event->run, event->number, digest);
}

/* Reports an option for tables that --quiet does not print, if nothing else uses what it asks for. */
static int is_in_vain(const struct cli_arguments *a) {
  if (a->quiet && a->verbose) {
    fprintf(stderr, "error: --verbose has no effect with --quiet\n");
    return 1;
  }
  const char *option = a->options.profile && !a->options.metrics_path && !a->options.trace_path ? "--profile"
                       : a->options.digest == 1                                                 ? "--digest"
                                                                                                : NULL;
  if (!a->quiet || a->json_path || !option) return 0;
  fprintf(stderr, "error: %s has no effect with --quiet and without --json\n", option);
  return 1;
}

static int claim_budgets(const struct cli_arguments *a, struct sl_session *session) {
  return a->budgets_path ? sl_session_claim_output(session, "--save-budgets", a->budgets_path, 0) : SL_OK;
}

static int run(const struct cli_arguments *a) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  uint32_t quiet = a->quiet;
  sl_diagnostics_follow(d, cli_show_message, &quiet);
  struct sl_session *session = NULL;
  struct sl_options options = a->options;
  shows_progress = isatty(STDERR_FILENO) && !a->quiet;
  if (shows_progress || cli_log_is_enabled(CLI_LOG_DEBUG)) options.on_progress = on_progress;
  options.context = &session;
  options.on_event_digest = print_event_digest;
  options.report_path = a->json_path;
  options.command_line = a->command_line;
  int status = CLI_WRONG;
  if (sl_session_open(&options, d, &session) == SL_OK && claim_budgets(a, session) == SL_OK &&
      cli_log_begin(session) == CLI_OK) {
    if (isatty(STDOUT_FILENO) && (options.digest > 1 || sl_session_writes_stdout(session))) cli_hide_progress();
    log_open(session);
    cli_stop_on_signal(session);
    cli_catch_signals();
    const int result = sl_session_run(session);
    cli_stop_on_signal(NULL);
    cli_leave_signals(); /* writing the results may block on the reader of a pipe */
    cli_end_progress();
    status = (int)sl_session_summary(session)->exit_status;
    if (sl_session_write_report(session) < 0 && status == CLI_OK) status = CLI_FAILED;
    const int has_run = result == SL_OK || sl_session_summary(session)->events > 0;
    if (a->budgets_path && has_run && cli_write_session(session, a->budgets_path, sl_session_write_budgets) != CLI_OK &&
        status == CLI_OK)
      status = CLI_FAILED;
    if (!a->quiet && has_run)
      sl_session_write_table(session, (a->options.profile ? SL_TABLE_PROFILE : 0) | (a->verbose ? 0 : SL_TABLE_SHORT),
                             sl_session_writes_stdout(session) ? stderr : stdout);
    log_end(session, status);
  } else {
    if (!session) (void)cli_log_begin(NULL);
    cli_log(SL_NOTE, "ends: refused, exit status %d", status);
  }
  cli_print_dropped(d);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return status;
}

int cli_run(const struct cli_arguments *a) {
  if (is_in_vain(a)) return CLI_WRONG;
  const int opened = cli_log_open(a);
  if (opened != CLI_OK) return opened;
  log_begin(a);
  const int status = run(a);
  cli_log_close();
  return status;
}
