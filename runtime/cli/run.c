/* run.c: `sluice run`: messages as they occur, progress, the table and JSON of a run. */
#include "cli/cli.h"
#include "cli/log.h"
#include "cli/notify.h"
#include "cli/progress.h"
#include "cli/reload.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <stdlib.h>
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

/* The watchdog of systemd ends the service if this is not called for its time. */
static void notify_tick(void *context, uint64_t events, uint64_t error_events) {
  (void)context;
  cli_notify("WATCHDOG=1\nSTATUS=%" PRIu64 " events, %" PRIu64 " with errors", events, error_events);
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

/* ------------------------------------------------------------------------------------- a followed folder */

enum { FOLLOW_STEP_MS = 100, FOLLOW_STEPS = 10 }; /* longest wait before a signal is noticed; steps in a second */

struct without_file {
  const char *status;
  int exit_status;
  struct sl_follow_summary files;
  const char *sums; /* a JSON object */
};

/* The JSON of a run that ended before its first file arrived, so that there is no session: with the sums of the run
 * that it continues. */
static int write_without_file(const void *what, FILE *file) {
  const struct without_file *w = what;
  fprintf(file,
          "{\n  \"status\": \"%s\",\n  \"exit\": %d,\n"
          "  \"follow\": {\"taken\": 0, \"refused\": %" PRIu64 ", \"late\": %" PRIu64
          ", \"waiting\": 0, \"moved\": 0},%s\n",
          w->status, w->exit_status, w->files.refused, w->files.late, w->sums + 1);
  return SL_OK;
}

/* Ends a run without a file: it was stopped, or no file arrived in time. `sums`: of the run that it continues, or NULL.
 * Returns the exit status. */
static int end_without_file(const struct cli_arguments *a, struct sl_follow *follow, const char *sums) {
  static const char none[] = "{\n  \"events\": 0,\n  \"error_events\": 0\n}";
  struct without_file w = {"ok", CLI_OK, sl_follow_count(follow), sums ? sums : none};
  if (cli_signal()) w = (struct without_file){"interrupted", CLI_SIGNAL + cli_signal(), w.files, w.sums};
  if (!a->quiet && cli_signal())
    fprintf(stderr, "warning: the run was stopped before a file arrived in %s\n", a->follow.folder);
  else if (!a->quiet)
    fprintf(stderr, "note: no file arrived in %s for %g s\n", a->follow.folder, a->follow.until_idle_seconds);
  (void)cli_log_begin(NULL);
  cli_log(SL_NOTE, "ends: %s, no file arrived, exit status %d", w.status, w.exit_status);
  if (a->json_path && cli_write_file(a->json_path, write_without_file, &w) != CLI_OK && w.exit_status == CLI_OK)
    return CLI_FAILED;
  return w.exit_status;
}

/* Opens the session when the first file is there. A file that no source recognises is left out. Returns 1; 0 if no file
 * arrived; or an error. */
static int open_followed(struct sl_options *options, struct sl_diagnostics *d, struct sl_session **session) {
  int status = SL_EFORMAT;
  while (status == SL_EFORMAT) {
    int found = 0;
    for (uint32_t steps = 0; found == 0 && !cli_signal(); steps++) {
      if (steps % FOLLOW_STEPS == 0) cli_notify("READY=1\nWATCHDOG=1\nSTATUS=waiting for the first file");
      found = sl_follow_wait(options->follow, FOLLOW_STEP_MS);
    }
    if (cli_signal() || found == SL_EINTERRUPTED) return 0;
    cli_reload_forget();
    status = found < 0 ? found : sl_session_open(options, d, session);
  }
  return status < 0 ? status : 1;
}

static int open_session(struct sl_options *options, struct sl_diagnostics *d, struct sl_session **session) {
  if (options->follow) return open_followed(options, d, session);
  return sl_session_open(options, d, session) == SL_OK;
}

/* Opened before the session. */
struct environment {
  struct sl_diagnostics *diagnostics;
  struct sl_follow *follow;
  struct sl_server *server;
  char *sums; /* of the run that is continued, as a JSON object, or NULL */
};

static int run(const struct cli_arguments *a, const struct environment *e) {
  struct sl_diagnostics *d = e->diagnostics;
  struct sl_follow *follow = e->follow;
  struct sl_session *session = NULL;
  struct sl_options options = a->options;
  options.follow = follow;
  options.server = e->server;
  shows_progress = isatty(STDERR_FILENO) && !a->quiet;
  if (shows_progress || cli_log_is_enabled(CLI_LOG_DEBUG)) options.on_progress = on_progress;
  if (cli_notifies()) options.on_tick = notify_tick;
  options.context = &session;
  options.on_event_digest = print_event_digest;
  options.report_path = a->json_path;
  options.command_line = a->command_line;
  int status = CLI_WRONG;
  cli_reload_open();
  if (follow) cli_catch_signals();
  const int opened = open_session(&options, d, &session);
  if (opened == 0 && follow) return end_without_file(a, follow, e->sums);
  if (opened == 1 && claim_budgets(a, session) == SL_OK && cli_log_begin(session) == CLI_OK) {
    if (isatty(STDOUT_FILENO) && (options.digest > 1 || sl_session_writes_stdout(session))) cli_hide_progress();
    log_open(session);
    cli_stop_on_signal(session);
    if (!follow) cli_catch_signals();
    if (cli_signal()) sl_session_stop_by(session, cli_signal()); /* it came while the session was opened */
    cli_notify("READY=1\nWATCHDOG=1\nSTATUS=running");
    cli_reload_begin(session, a);
    const int result = sl_session_run(session);
    cli_reload_end();
    cli_notify("STOPPING=1\nSTATUS=%s", sl_session_summary(session)->status);
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
  sl_session_close(session);
  return status;
}

static int open_environment(const struct cli_arguments *a, struct environment *e) {
  struct sl_diagnostics *d = e->diagnostics;
  int status = a->follow.folder ? sl_follow_new(&a->follow, d, &e->follow) : SL_OK;
  if (status == SL_OK && e->follow && a->options.resume && a->options.checkpoint_path)
    status = sl_follow_continue(e->follow, a->options.checkpoint_path, d, &e->sums);
  if (status == SL_OK && a->server.address) status = sl_server_new(&a->server, d, &e->server);
  if (!e->server) return status;
  if (!a->quiet) fprintf(stderr, "note: the page is at %s\n", sl_server_url(e->server));
  cli_log(SL_NOTE, "the page is at %s", sl_server_url(e->server));
  return status;
}

int cli_run(const struct cli_arguments *a) {
  if (is_in_vain(a)) return CLI_WRONG;
  const int opened = cli_log_open(a);
  if (opened != CLI_OK) return opened;
  log_begin(a);
  struct environment e = {.diagnostics = sl_diagnostics_new()};
  if (!e.diagnostics) return cli_no_memory();
  uint32_t quiet = a->quiet;
  sl_diagnostics_follow(e.diagnostics, cli_show_message, &quiet);
  const int status = open_environment(a, &e) == SL_OK ? run(a, &e) : CLI_WRONG;
  cli_print_dropped(e.diagnostics);
  sl_server_free(e.server);
  sl_follow_free(e.follow);
  free(e.sums);
  sl_diagnostics_free(e.diagnostics);
  cli_log_close();
  return status;
}
