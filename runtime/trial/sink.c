/* sink.c: runs a sink on the events of a graph, in whole slices and one event at a time, with guarded memory; both
 * reports must be equal. Files are not compared, because they may contain the time. In each run a sink that can draw
 * draws an event, which must be well-formed, and the same when it is drawn again.
 */
#include "results/drawings.h"
#include "trial/trial.h"

#include <sluice/text.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct sink_result {
  char *report; /* as JSON */
  struct sl_drawing *drawing;
};

/* With it a request does not end, and one event is drawn. */
static uint64_t stopped_clock(void) { return 1; }

static int request(struct sl_session *s, uint32_t node, struct sl_drawing **drawing) {
  struct sl_drawings *d = sl_session_drawings(s);
  d->clock = stopped_clock;
  return sl_drawings_request(d, sl_session_graph(s)->nodes[node].name, NULL, 0, drawing);
}

/* The text of the last warning of the run, or "". */
static const char *last_warning(const struct sl_session *s) {
  const struct sl_diagnostics *d = sl_session_setup(s)->diagnostics;
  for (size_t i = sl_diagnostics_count(d); i > 0; i--)
    if (sl_diagnostics_at(d, i - 1)->severity == SL_WARNING) return sl_diagnostics_at(d, i - 1)->message;
  return "";
}

/* Checks the event that the sink has drawn; NULL if it cannot draw, or there was no event without error. */
static struct sl_drawing *check_drawing(struct sl_session *s, const struct trial_run *r, struct sl_child *log) {
  char reason[400];
  struct sl_drawing *drawing = NULL;
  const struct sl_drawings *d = sl_session_drawings(s);
  const int status = request(s, r->node, &drawing);
  for (uint32_t i = 0; i < d->drawer_count; i++)
    if (d->drawers[i].node == r->node && (status < 0 || d->drawers[i].dropped > 0))
      sl_child_wrong(log, "%s", last_warning(s));
  if (drawing && trial_lint_drawing(drawing->text, drawing->bytes, reason, sizeof reason))
    sl_child_wrong(log, "%s", reason);
  return drawing;
}

/* Runs the graph. */
static struct sink_result run_graph(const struct trial_run *r, uint32_t slice_events, const char *what,
                                    struct sl_child *log) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/output", r->folder);
  sl_child_stage(log, "%s", what);
  struct sl_session *s = trial_session_open(r->options, r->graph, slice_events, path, log);
  struct sl_drawing *none;
  request(s, r->node, &none); /* SL_EINVAL if the sink cannot draw */
  const int status = sl_session_run(s);
  if (status < 0 && sl_session_events_read(s) == 0)
    sl_child_not_run(log, "%s: %s (%s)", r->graph->shown, trial_first_error(s), sl_error_text(status));
  if (status < 0) sl_child_wrong(log, "%s (%s)", trial_first_error(s), sl_error_text(status));
  const char *reported = sl_session_sink_json(s, r->node);
  const struct sink_result result = {strdup(reported ? reported : ""), check_drawing(s, r, log)};
  sl_session_close(s);
  if (!result.report) sl_child_not_run(log, "out of memory");
  return result;
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

/* Both runs had the same slices. */
static void compare_drawings(const struct sl_drawing *was, const struct sl_drawing *is, struct sl_child *log) {
  if (!was || !is || strcmp(was->text, is->text) == 0) return;
  size_t line = 0;
  for (size_t i = 0; was->text[i] == is->text[i] && was->text[i]; i++) line += was->text[i] == '\n';
  sl_child_wrong(log, "it draws %s, before it drew %s", line_of(is->text, line), line_of(was->text, line));
}

void trial_run_sink(void *context, struct sl_child *log) {
  const struct trial_run *r = context;
  const uint32_t events = r->options->events;
  const struct sink_result first = run_graph(r, events, "as in the graph", log);
  const struct sink_result second = run_graph(r, events, "a second time", log);
  compare(first.report, second.report, log);
  compare_drawings(first.drawing, second.drawing, log);
  compare(first.report, run_graph(r, 1, "one event per slice", log).report, log);
  free(first.report);
  snprintf(log->text, sizeof log->text, "%u %s of %s, node %s%s", events, sl_plural(events, "event", "events"),
           r->graph->shown, r->graph->node, first.drawing ? "; it drew an event" : "");
}
