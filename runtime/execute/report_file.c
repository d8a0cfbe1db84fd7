/* report_file.c: the file of --json, from the start of the run on: that it cannot be written is known before an event
 * is read. What stands in it is made by report/, at the end. And how the run ended, in a word and as an exit status.
 */
#include "execute/inspect.h"
#include "execute/session.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

static const uint32_t exit_failed = 1, exit_refused = 2, exit_of_signal = 128;

static void say(void *context, uint32_t severity, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sl_say_of_option(context, "--json", severity, format, arguments);
  va_end(arguments);
}

int sl_report_open(struct sl_session *s) {
  const time_t now = time(NULL);
  struct tm utc;
  if (gmtime_r(&now, &utc)) strftime(s->report.started, sizeof s->report.started, "%Y-%m-%dT%H:%M:%SZ", &utc);
  s->statistics.summary.started = s->report.started;
  if (!s->options.report_path) return SL_OK;
  char whole[PATH_MAX];
  const char *path = sl_files_resolve(s, s->options.report_path, whole);
  const int status = sl_output_open_unless(&s->turns.stopped, path, 0, say, s, &s->report.file);
  if (status == SL_ENOMEM) say(s, SL_ERROR, "%s: %s", s->options.report_path, sl_error_text(status));
  return status;
}

int sl_session_put_report(struct sl_session *s, const char *text, size_t bytes) {
  if (!s->report.file) return SL_OK;
  int status = text ? sl_output_add(s->report.file, text, bytes) : SL_ENOMEM;
  if (status == SL_OK) status = sl_output_finish(s->report.file);
  if (status == SL_ENOMEM) say(s, SL_ERROR, "%s: %s", s->options.report_path, sl_error_text(status));
  sl_report_close(s);
  return status;
}

void sl_report_close(struct sl_session *s) {
  sl_output_close(s->report.file);
  s->report.file = NULL;
}

/* "by SIGINT " */
static const char *by_signal(int number) {
  static const char *const texts[] = {[SIGHUP] = "by SIGHUP ",   [SIGINT] = "by SIGINT ",   [SIGTERM] = "by SIGTERM ",
                                      [SIGUSR1] = "by SIGUSR1 ", [SIGUSR2] = "by SIGUSR2 ", [SIGXCPU] = "by SIGXCPU "};
  const int is_known = number > 0 && number < (int)(sizeof texts / sizeof texts[0]) && texts[number];
  return is_known ? texts[number] : number > 0 ? "by a signal " : "";
}

/* What people and programs are told of a run that was stopped, or of which no event is good. */
int sl_report_tell_end(struct sl_session *s, int status) {
  struct sl_summary *sum = &s->statistics.summary;
  const int stopped = atomic_load(&s->turns.stopped);
  const int is_useless = status == SL_OK && sum->events > 0 && sum->error_events == sum->events;
  if (is_useless) {
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "all %" PRIu64 " events have an error", sum->events);
    status = SL_EFORMAT;
  }
  if (status == SL_EINTERRUPTED) {
    sum->stop_signal = stopped > 0 ? (uint32_t)stopped : 0;
    sl_diagnose(s->diagnostics, SL_WARNING, NULL, NULL, NULL,
                "the run was stopped %sbefore its end, after %" PRIu64 " events", by_signal(stopped), sum->events);
  }
  sum->failed = status < 0 && status != SL_EINTERRUPTED && !is_useless;
  sum->exit_status = sum->stop_signal       ? exit_of_signal + sum->stop_signal
                     : s->report.is_refused ? exit_refused
                     : status < 0           ? exit_failed
                                            : 0;
  sum->status = is_useless                  ? "all events in error"
                : status == SL_EINTERRUPTED ? "interrupted"
                : s->report.is_refused      ? "refused"
                : status < 0                ? "failed"
                                            : "ok";
  return status;
}
