/* sink.c: runs a sink on the events of a graph, in whole slices and one event at a time, with guarded memory; both
 * reports must be equal. Files are not compared, because they may contain the time.
 */
#include "trial/trial.h"

#include <sluice/text.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Runs the graph. Returns the report of the sink as JSON. */
static char *report_of(const struct trial_run *r, uint32_t slice_events, const char *what, struct sl_child *log) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/output", r->folder);
  sl_child_stage(log, "%s", what);
  struct sl_session *s = trial_session_open(r->options, r->graph, slice_events, path, log);
  const int status = sl_session_run(s);
  if (status < 0 && sl_session_events_read(s) == 0)
    sl_child_not_run(log, "%s: %s (%s)", r->graph->shown, trial_first_error(s), sl_error_text(status));
  if (status < 0) sl_child_wrong(log, "%s (%s)", trial_first_error(s), sl_error_text(status));
  const char *reported = sl_session_sink_json(s, r->node);
  char *json = strdup(reported ? reported : "");
  sl_session_close(s);
  if (!json) sl_child_not_run(log, "out of memory");
  return json;
}

/* First line in which two texts differ. */
static const char *line_of(const char *text, size_t line) {
  static char buffers[2][160];
  static int turn;
  char *buffer = buffers[turn ^= 1];
  for (; line > 0 && *text; line--) text += strcspn(text, "\n") + (strchr(text, '\n') != NULL);
  text += strspn(text, " ");
  snprintf(buffer, sizeof buffers[0], "%.*s", (int)strcspn(text, "\n"), text);
  return buffer;
}

static void compare(const char *was, char *is, struct sl_child *log) {
  size_t line = 0;
  for (size_t i = 0; was[i] == is[i] && was[i]; i++) line += was[i] == '\n';
  if (strcmp(was, is) != 0)
    sl_child_wrong(log, "it reports %s, before it reported %s", line_of(is, line), line_of(was, line));
  free(is);
}

void trial_run_sink(void *context, struct sl_child *log) {
  const struct trial_run *r = context;
  const uint32_t events = r->options->events;
  char *first = report_of(r, events, "as in the graph", log);
  compare(first, report_of(r, events, "a second time", log), log);
  compare(first, report_of(r, 1, "one event per slice", log), log);
  free(first);
  snprintf(log->text, sizeof log->text, "%u %s of %s, node %s", events, sl_plural(events, "event", "events"),
           r->graph->shown, r->graph->node);
}
