/* source.c: a slice from the source, and whether it kept what a source promises (struct sl_source). One that has no
 * event yet, and says that there may be more, is called again, a bounded number of times: that it makes none at all
 * would else be an endless run, and to take it for the end of the input would lose events. One that waits, for a pipe,
 * may go on to do so until the run is stopped.
 */
#include "execute/session.h"

#include <string.h>

/* So many calls without an event, which took less than that each, are no waiting. */
enum { IDLE_CALLS_MAX = 1000, WAITED_NS = 1000000 };

static int break_promise(struct sl_session *s, struct sl_fill *fill, const char *format, uint32_t a, uint32_t b) {
  const struct sl_node *node = &s->graph->nodes[s->graph->source];
  char text[160];
  snprintf(text, sizeof text, format, a, b);
  sl_diagnose(s->diagnostics, SL_ERROR, &node->place, node->name, NULL, "%s %s", node->use, text);
  atomic_fetch_add(&s->contexts[s->graph->source].errors, 1); /* that the fill failed is no second error */
  fill->event_count = 0;
  return SL_EPLUGIN;
}

/* Somebody stopped the run, or it failed elsewhere while the source had nothing yet: who feeds it may wait for that. */
static int is_over(struct sl_session *s) {
  return atomic_load(&s->turns.stopped) || atomic_load(&s->turns.status) != SL_OK;
}

/* Notes a call that took `ns` and made `events`: whether the source has been called often enough, and did not wait. */
static int is_idle(struct sl_reading *reading, uint32_t events, uint64_t ns) {
  reading->idle_calls = events == 0 ? reading->idle_calls + 1 : 0;
  reading->idle_ns = events == 0 ? reading->idle_ns + ns : 0;
  if (reading->idle_calls < IDLE_CALLS_MAX) return 0;
  if (reading->idle_ns < (uint64_t)IDLE_CALLS_MAX * WAITED_NS) return 1;
  reading->idle_calls = 0;
  reading->idle_ns = 0;
  return 0;
}

/* One call of `fill`. */
static int ask(struct sl_session *s, void *state, struct sl_input *input, struct sl_fill *fill, uint64_t *ns) {
  const uint32_t n = s->graph->source;
  const struct sl_algorithm *source = s->graph->nodes[n].algorithm;
  if (s->options.guard) sl_guard_poison_input(s, input);
  memset(input->used, 0, SL_BOUNDS_MAX * (size_t)source->member_count * sizeof *input->used);
  const uint64_t begin = sl_now_ns();
  const int status = source->source->fill(state, &s->contexts[n].services, input->source_args, fill);
  *ns = sl_now_ns() - begin;
  return status;
}

int sl_source_fill(struct sl_session *s, void *state, struct sl_input *input, uint32_t events_max, int may_wait,
                   struct sl_fill *fill) {
  int status = 1;
  *fill = (struct sl_fill){.events_max = events_max, .events = input->events};
  for (uint32_t calls = 0; status == 1 && fill->event_count == 0 && (may_wait || calls == 0) && !is_over(s); calls++) {
    uint64_t ns;
    status = ask(s, state, input, fill, &ns);
    if (fill->event_count > events_max)
      return break_promise(s, fill, "made a slice of %u events, at most %u were asked for", fill->event_count,
                           events_max);
    if (status == 1 && is_idle(&s->reading, fill->event_count, ns))
      return break_promise(s, fill, "made no event in %u calls, and says that there may be more", IDLE_CALLS_MAX, 0);
  }
  if (s->options.race && status >= 0 && fill->event_count > 0) {
    input->event_count = fill->event_count;
    sl_race_mark_input(s, input);
  }
  const int checked = s->options.guard && status >= 0 ? sl_guard_check_input(s, input, fill) : SL_OK;
  if (checked < 0) fill->event_count = 0;
  if (s->options.guard && checked == SL_OK && status >= 0 && fill->event_count > 0) {
    input->event_count = fill->event_count;
    sl_guard_forbid_input(s, input);
  }
  return checked < 0 ? checked : status;
}
