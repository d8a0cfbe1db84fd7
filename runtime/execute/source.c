/* source.c: reads slices from the source and checks its contract (struct sl_source).
 *
 * A source without an event that may have more is called again, a limited number of times. Without the limit, a source
 * that never makes an event would run forever; to treat it as the end of the input would lose events. A source that
 * waits for a pipe may wait until the run is stopped.
 */
#include "execute/source.h"

#include "base/clock.h"
#include "execute/conditions.h"
#include "execute/memory_check.h"
#include "execute/observer.h"
#include "execute/overflow_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The source has failed after this many calls without an event that each took less than this time. */
enum { IDLE_CALLS_MAX = 1000, WAITED_NS = 1000000 };
/* The longest wait for a file before the end of the run is noticed. */
enum { FOLLOW_WAIT_MS = 50 };

static int break_contract(const struct sl_setup *s, struct sl_fill *fill, const char *format, uint32_t a, uint32_t b) {
  const struct sl_node *node = &s->graph->nodes[s->graph->source];
  char text[160];
  snprintf(text, sizeof text, format, a, b);
  sl_diagnose(s->diagnostics, SL_ERROR, &node->location, node->name, NULL, "%s %s", node->use, text);
  atomic_fetch_add(&s->contexts[s->graph->source]->errors, 1); /* suppresses a second report for the failed fill */
  fill->event_count = 0;
  return SL_EPLUGIN;
}

/* Adds a call that took `ns` and made `events` events. Returns 1 if the source has been called too often without
 * waiting. */
static int is_idle(struct sl_reading *r, uint32_t events, uint64_t ns) {
  r->idle_calls = events == 0 ? r->idle_calls + 1 : 0;
  r->idle_ns = events == 0 ? r->idle_ns + ns : 0;
  if (r->idle_calls < IDLE_CALLS_MAX) return 0;
  if (r->idle_ns < (uint64_t)IDLE_CALLS_MAX * WAITED_NS) return 1;
  r->idle_calls = 0;
  r->idle_ns = 0;
  return 0;
}

/* 1 if no further slice is read: the run was stopped or has failed, or its configuration changes. */
static int is_to_return(const struct sl_reading *r) {
  return sl_order_is_over(r->order) || atomic_load_explicit(&r->is_paused, memory_order_relaxed);
}

/* Calls `fill` once. */
static int call(const struct sl_setup *s, void *state, struct sl_input *input, struct sl_fill *fill, uint64_t *ns) {
  const uint32_t n = s->graph->source;
  const struct sl_algorithm *source = s->graph->nodes[n].algorithm;
  if (s->memory_check && s->memory_check->fill_begin) s->memory_check->fill_begin(s, input);
  memset(input->used, 0, SL_BOUNDS_MAX * (size_t)source->member_count * sizeof *input->used);
  const uint64_t begin = sl_now_ns();
  const int status = source->source->fill(state, &s->contexts[n]->services, input->source_args, fill);
  *ns = sl_now_ns() - begin;
  return status;
}

int sl_source_fill(struct sl_reading *r, void *state, struct sl_input *input, uint32_t events_max, int may_wait,
                   struct sl_fill *fill) {
  const struct sl_setup *s = r->setup;
  int status = 1;
  *fill = (struct sl_fill){.events_max = events_max, .events = input->events};
  /* After the end of the run the program that feeds the source may be blocked until this call returns. */
  for (uint32_t calls = 0; status == 1 && fill->event_count == 0 && (may_wait || calls == 0); calls++) {
    uint64_t ns;
    if (is_to_return(r)) break;
    status = call(s, state, input, fill, &ns);
    if (fill->event_count > events_max)
      return break_contract(s, fill, "made a slice of %u events, but at most %u were requested", fill->event_count,
                            events_max);
    if (status == 1 && is_idle(r, fill->event_count, ns))
      return break_contract(s, fill, "made no event in %u calls and reports that there may be more", IDLE_CALLS_MAX, 0);
  }
  if (status < 0 || !s->memory_check || !s->memory_check->fill_end) return status;
  const int checked = s->memory_check->fill_end(s, input, fill);
  if (checked < 0) fill->event_count = 0;
  return checked < 0 ? checked : status;
}

int sl_source_open(const struct sl_reading *r) {
  struct sl_setup *s = r->setup;
  const uint32_t n = s->graph->source;
  const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
  const char *const *paths = s->is_received ? s->received_paths : s->options.input_paths;
  uint32_t count = 0;
  int status = SL_OK;
  s->states[n] = calloc(1, a->state_size + 1u);
  if (!s->states[n]) return SL_ENOMEM;
  if (s->options.follow) return SL_OK;
  while (paths && paths[count]) count++;
  const uint32_t first = r->first_file < count ? r->first_file : 0;
  const struct sl_input_range *ranges = s->options.input_ranges;
  const struct sl_inputs inputs = {paths ? paths + first : NULL, count - first, 0,
                                   s->is_received ? s->received_names
                                   : paths        ? paths + first
                                                  : NULL,
                                   ranges ? ranges + first : NULL};
  s->first_record = r->events;
  if (a->source->open) status = a->source->open(s->states[n], &s->contexts[n]->services, s->source_args, &inputs);
  s->opened[n] = 1;
  sl_report_node_failure(s, n, status, "could not start", NULL);
  return status;
}

/* Calls the source for a slice of at most `events_max` events, and measures the time. */
static int fill_slice(struct sl_reading *r, struct sl_slot *slot, struct sl_input *input, uint32_t events_max,
                      int may_wait, struct sl_fill *fill) {
  const struct sl_setup *s = r->setup;
  const uint32_t n = s->graph->source;
  const struct sl_scope scope = sl_scope_begin(slot, SL_ACTIVITY_OF_NODE(n));
  const int status = sl_source_fill(r, s->states[n], input, events_max, may_wait, fill);
  if (status == 1 && fill->event_count == 0 && !may_wait)
    sl_scope_end(slot, scope);
  else
    sl_scope_end_span(slot, scope, "fill", "events", fill->event_count);
  r->ns += slot->activity_ns - scope.begin_ns;
  return status;
}

/* Fills a slice from the files of a followed folder. Returns as fill_slice does. */
static int fill_followed(struct sl_reading *r, struct sl_slot *slot, struct sl_input *input, uint32_t events_max,
                         int may_wait, struct sl_fill *fill) {
  struct sl_followed *f = &r->followed;
  int status = SL_FOLLOW_FILE;
  *fill = (struct sl_fill){.events = input->events};
  while (fill->event_count == 0 && !is_to_return(r)) {
    const struct sl_scope scope = sl_scope_begin(slot, SL_ACTIVITY_READ);
    status = sl_followed_open(r->setup, f, may_wait ? FOLLOW_WAIT_MS : 0);
    sl_scope_end(slot, scope);
    if (status == SL_FOLLOW_LATER && may_wait) continue;
    if (status != SL_FOLLOW_FILE) break;
    const uint32_t most = f->skipped_left > 0 && f->skipped_left < events_max ? (uint32_t)f->skipped_left : events_max;
    status = fill_slice(r, slot, input, most, may_wait, fill);
    input->file = f->file.number;
    input->first_event = f->events;
    if (sl_followed_read(r->setup, f, input->events, fill->event_count)) fill->event_count = 0;
    if (status <= 0) status = sl_followed_end(r->setup, f, status);
    if (status < 0) break;
    status = SL_FOLLOW_FILE;
  }
  fill->progress_total = 0; /* the progress in one file is not that of the run */
  return status == SL_FOLLOW_END || status < 0 ? status : 1;
}

/* --resume: reads and drops the events that an earlier run has delivered. Returns 1, or as `fill` if the input ends. */
static int skip_delivered(struct sl_reading *r, struct sl_slot *slot, struct sl_input *input) {
  int status = 1;
  while (r->skip_events > 0 && status > 0 && !is_to_return(r)) {
    struct sl_fill fill;
    const uint32_t slice = r->setup->slice_events, most = r->skip_events < slice ? (uint32_t)r->skip_events : slice;
    status = fill_slice(r, slot, input, most, 1, &fill);
    r->skip_events -= fill.event_count;
    r->events += fill.event_count;
  }
  if (status == 0) r->ended = 1;
  return status;
}

/* Gives the slice its number in the order of delivery. Holds it if its conditions differ. */
static int number_slice(struct sl_reading *r, const struct sl_slot *slot, struct sl_input *input, uint64_t *sequence) {
  struct sl_conditions *c = r->setup->conditions;
  const int is_alone = c ? c->examine(c, input) : 0;
  if (is_alone < 0) r->ended = 1;
  if (is_alone < 0) return is_alone;
  *sequence = r->next_sequence++;
  if (!is_alone) return SL_FILLED;
  r->held = input;
  r->held_slot = slot;
  r->held_sequence = *sequence;
  return SL_NO_MORE;
}

int sl_source_next(struct sl_reading *r, struct sl_slot *slot, struct sl_input *input, int may_wait,
                   uint64_t *sequence) {
  const struct sl_setup *s = r->setup;
  const uint32_t n = s->graph->source;
  if (r->ended || r->held || is_to_return(r)) return SL_NO_MORE;
  const int skipped = skip_delivered(r, slot, input);
  if (skipped < 0) sl_report_node_failure(s, n, skipped, "failed", NULL);
  if (skipped <= 0 || r->skip_events > 0) return skipped < 0 ? skipped : SL_NO_MORE;
  uint64_t limit = sl_overflow_slice_events(r->history, r->events);
  input->is_whole = limit >= s->slice_events;
  if (s->options.events && s->options.events - r->events < limit) limit = s->options.events - r->events;
  r->ended = limit == 0;
  if (r->ended) return SL_NO_MORE;
  struct sl_fill fill;
  const int status = s->options.follow ? fill_followed(r, slot, input, (uint32_t)limit, may_wait, &fill)
                                       : fill_slice(r, slot, input, (uint32_t)limit, may_wait, &fill);
  if (status == 1 && fill.event_count == 0 && !may_wait) return SL_LATER;
  SL_NOTIFY(slot->observers, node, slot, NULL, n, fill.event_count);
  if (status <= 0) r->ended = 1;
  sl_report_node_failure(s, n, status, "failed", NULL);
  for (uint32_t e = 0; r->first_file > 0 && e < fill.event_count; e++) fill.events[e].file += r->first_file;
  input->event_count = fill.event_count;
  memset(input->refusals, 0, fill.event_count * sizeof *input->refusals);
  atomic_store(&input->parts, 0);
  input->progress_done = fill.progress_done;
  input->progress_total = fill.progress_total;
  r->events += fill.event_count;
  if (fill.event_count == 0) return status < 0 ? status : SL_NO_MORE;
  if (status < 0) r->status = status; /* after this last, partly filled slice */
  return number_slice(r, slot, input, sequence);
}
