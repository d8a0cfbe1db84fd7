/* report_file.c: the file of --json, and the status of the run as a word and as exit status. The file is opened at the
 * start of the run, so that an unwritable file is reported before an event is read. report/ makes its text at the end.
 */
#include "results/report_file.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>

static const uint32_t exit_failed = 1, exit_refused = 2, exit_of_signal = 128;

int sl_report_open(struct sl_report_file *r, const struct sl_files *f) {
  const time_t now = time(NULL);
  const char *given = f->setup->options.report_path;
  struct tm utc;
  r->log = (struct sl_option_log){f->setup, "--json"};
  if (gmtime_r(&now, &utc)) strftime(r->started, sizeof r->started, "%Y-%m-%dT%H:%M:%SZ", &utc);
  if (!given) return SL_OK;
  char whole[PATH_MAX];
  const int status =
      sl_output_open_unless(f->stopped, sl_files_resolve(f, given, whole), 0, sl_option_report, &r->log, &r->file);
  if (status == SL_ENOMEM) sl_option_report(&r->log, SL_ERROR, "%s: %s", given, sl_error_text(status));
  return status;
}

int sl_report_put(struct sl_report_file *r, const char *text, size_t bytes) {
  if (!r->file) return SL_OK;
  int status = text ? sl_output_add(r->file, text, bytes) : SL_ENOMEM;
  if (status == SL_OK) status = sl_output_finish(r->file);
  if (status == SL_ENOMEM)
    sl_option_report(&r->log, SL_ERROR, "%s: %s", r->log.setup->options.report_path, sl_error_text(status));
  sl_report_close(r);
  return status;
}

void sl_report_close(struct sl_report_file *r) {
  sl_output_close(r->file);
  r->file = NULL;
}

/* "by SIGINT " */
static const char *by_signal(int number) {
  static const char *const texts[] = {[SIGHUP] = "by SIGHUP ",   [SIGINT] = "by SIGINT ",   [SIGTERM] = "by SIGTERM ",
                                      [SIGUSR1] = "by SIGUSR1 ", [SIGUSR2] = "by SIGUSR2 ", [SIGXCPU] = "by SIGXCPU "};
  const int is_known = number > 0 && number < (int)(sizeof texts / sizeof texts[0]) && texts[number];
  return is_known ? texts[number] : number > 0 ? "by a signal " : "";
}

int sl_report_end(const struct sl_report_file *r, const struct sl_files *f, struct sl_summary *sum, int status) {
  struct sl_diagnostics *d = f->setup->diagnostics;
  const int stopped = atomic_load(f->stopped);
  const int is_useless = status == SL_OK && sum->events > 0 && sum->error_events == sum->events;
  if (is_useless) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%s%" PRIu64 " %s an error", sl_plural(sum->events, "", "all "),
                sum->events, sl_plural(sum->events, "event has", "events have"));
    status = SL_EFORMAT;
  }
  if (status == SL_EINTERRUPTED) {
    sum->stop_signal = stopped > 0 ? (uint32_t)stopped : 0;
    if (stopped || !f->setup->options.explain) /* otherwise it ends after the last event that is explained */
      sl_diagnose(d, SL_WARNING, NULL, NULL, NULL, "the run was stopped %sbefore its end, after %" PRIu64 " %s",
                  by_signal(stopped), sum->events, sl_plural(sum->events, "event", "events"));
  }
  sum->failed = status < 0 && status != SL_EINTERRUPTED && !is_useless;
  sum->exit_status = sum->stop_signal ? exit_of_signal + sum->stop_signal
                     : r->is_refused  ? exit_refused
                     : status < 0     ? exit_failed
                                      : 0;
  sum->status = is_useless                  ? "all events in error"
                : status == SL_EINTERRUPTED ? "interrupted"
                : r->is_refused             ? "refused"
                : status < 0                ? "failed"
                                            : "ok";
  return status;
}
