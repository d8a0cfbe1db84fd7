/* run.c: slices through slots.
 *
 * Each slot is a thread: it takes the source's lock, fills its input with the next slice and a ticket, runs the graph,
 * waits until its ticket's turn has come, delivers, and passes the turn on. So results come in input order whatever the
 * number of slots. With --repeat the slices are filled first and kept; the first pass delivers, the others only run.
 * The first failure by ticket wins: what comes before it is delivered, what comes after it is not.
 */
#include "execute/bind.h"
#include "execute/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- source */

/* Fills the next slice. 1: filled, 0: none left, negative: the source failed (said so itself). */
static int fill_next(struct sl_slot *slot, struct sl_input *input, uint64_t *ticket) {
  struct sl_session *s = slot->session;
  if (s->reading.ended || atomic_load(&s->turns.stopped) || atomic_load(&s->turns.status) != SL_OK) return 0;
  const struct sl_node *source = &s->graph->nodes[s->graph->source];
  uint64_t limit = sl_budget_slice_events(s);
  input->is_whole = limit >= s->slice_events;
  if (s->options.events && s->options.events - s->reading.events < limit) limit = s->options.events - s->reading.events;
  if (limit == 0) return 0;
  struct sl_fill fill;
  const uint32_t outer = sl_time_enter(slot, SL_TIME_OF_NODE(s->graph->source));
  const uint64_t begin = slot->account.since_ns;
  const int status = sl_source_fill(s, s->states[s->graph->source], input, (uint32_t)limit, &fill);
  sl_time_enter(slot, outer);
  s->reading.ns += slot->account.since_ns - begin;
  slot->node_calls[s->graph->source]++;
  slot->node_events[s->graph->source] += fill.event_count;
  sl_trace_span(s, SL_TRACK_HOST(slot->index), "fill", begin, slot->account.since_ns, "events", fill.event_count);
  if (status <= 0) s->reading.ended = 1;
  if (status < 0)
    sl_diagnose(s->diagnostics, SL_ERROR, &source->place, source->name, NULL, "%s failed: %s", source->use,
                sl_error_text(status));
  input->event_count = fill.event_count;
  memset(input->refusals, 0, fill.event_count * sizeof *input->refusals);
  atomic_store(&input->parts, 0);
  input->progress_done = fill.progress_done;
  input->progress_total = fill.progress_total;
  s->reading.events += fill.event_count;
  if (fill.event_count == 0) return status < 0 ? status : 0;
  *ticket = s->reading.next_ticket++;
  if (status < 0) s->reading.status = status; /* after this last, partly filled slice */
  return 1;
}

/* ------------------------------------------------------------------------------------------------- order */

static void fail(struct sl_session *s, uint64_t ticket, int status) {
  pthread_mutex_lock(&s->turns.lock);
  if (ticket < s->turns.failed) {
    s->turns.failed = ticket;
    atomic_store(&s->turns.status, status);
  }
  pthread_cond_broadcast(&s->turns.changed);
  pthread_mutex_unlock(&s->turns.lock);
}

void sl_fail_now(struct sl_session *s, int status) {
  pthread_mutex_lock(&s->turns.lock);
  const uint64_t next = s->turns.next;
  pthread_mutex_unlock(&s->turns.lock);
  fail(s, next, status);
}

int sl_wait_for_turn(struct sl_session *s, uint64_t ticket) {
  pthread_mutex_lock(&s->turns.lock);
  while (s->turns.next != ticket && s->turns.failed > ticket) pthread_cond_wait(&s->turns.changed, &s->turns.lock);
  const int failed = s->turns.failed <= ticket;
  pthread_mutex_unlock(&s->turns.lock);
  return failed ? SL_EINTERRUPTED : SL_OK;
}

static void pass_turn(struct sl_session *s, uint64_t ticket) {
  if (!s->delivery.active || sl_wait_for_turn(s, ticket) < 0) return;
  pthread_mutex_lock(&s->turns.lock);
  s->turns.next = ticket + 1;
  pthread_cond_broadcast(&s->turns.changed);
  pthread_mutex_unlock(&s->turns.lock);
}

/* ------------------------------------------------------------------------------------------------ threads */

/* Gives a flight the next slice: 1, or 0 when there is none left. */
typedef int next_slice(struct sl_slot *slot, struct sl_flight *flight);

static int next_from_source(struct sl_slot *slot, struct sl_flight *flight) {
  struct sl_session *s = slot->session;
  flight->input = &flight->own_input;
  const uint32_t outer = sl_time_enter(slot, SL_TIME_READ);
  const uint64_t begin = slot->account.since_ns;
  pthread_mutex_lock(&s->reading.lock);
  sl_trace_span(s, SL_TRACK_HOST(slot->index), sl_time_name(SL_TIME_READ), begin, sl_time_settle(slot), NULL, 0);
  const int filled = fill_next(slot, flight->input, &flight->ticket);
  if (filled < 0) s->reading.status = filled;
  pthread_mutex_unlock(&s->reading.lock);
  sl_time_enter(slot, outer);
  return filled > 0;
}

static int next_kept(struct sl_slot *slot, struct sl_flight *flight) {
  struct sl_session *s = slot->session;
  const uint64_t index = atomic_fetch_add(&s->reading.next_kept, 1);
  if (index >= s->reading.kept_turns) return 0;
  if (atomic_load(&s->turns.stopped)) {
    fail(s, index, SL_EINTERRUPTED); /* whoever has a later slice must not wait for this one */
    return 0;
  }
  flight->ticket = index;
  flight->input = &s->reading.kept[index % s->reading.kept_count];
  return 1;
}

static int finish(struct sl_slot *slot, uint32_t k) {
  const struct sl_backend *backend = slot->session->backend;
  const uint64_t begin = sl_now_ns();
  if (backend->range_begin) backend->range_begin("finish slice");
  const int status = sl_flight_finish(slot, k);
  if (backend->range_end) backend->range_end();
  if (status != SL_OK) fail(slot->session, slot->flights[k].ticket, status);
  const uint64_t end = sl_now_ns();
  if (status == SL_OK && slot->session->delivery.active) {
    const uint32_t outer = sl_time_enter(slot, SL_TIME_METRICS);
    sl_metrics_slice(slot, end - slot->flights[k].begin_ns);
    sl_time_enter(slot, SL_TIME_TURN);
    pass_turn(slot->session, slot->flights[k].ticket);
    sl_time_enter(slot, outer);
  }
  sl_trace_span(slot->session, SL_TRACK_HOST(slot->index), backend->is_device ? "finish slice" : "slice", begin, end,
                "slice", slot->flights[k].ticket);
  return status;
}

static int start(struct sl_slot *slot, uint32_t k) {
  const struct sl_backend *backend = slot->session->backend;
  const uint64_t begin = sl_now_ns();
  slot->flights[k].begin_ns = begin;
  if (backend->range_begin) backend->range_begin("start slice");
  const uint32_t outer = slot->account.row;
  if (backend->is_device) sl_time_enter(slot, SL_TIME_LAUNCH);
  const int status = sl_flight_start(slot, k);
  if (backend->is_device) sl_time_enter(slot, outer);
  if (backend->range_end) backend->range_end();
  if (backend->is_device)
    sl_trace_span(slot->session, SL_TRACK_HOST(slot->index), "start slice", begin, sl_now_ns(), "slice",
                  slot->flights[k].ticket);
  return status;
}

/* Starts slices as long as there are any; before a flight is used again, its slice is finished, so that the backend
 * always has work while the host delivers. */
static int fly(struct sl_slot *slot, next_slice *next) {
  const uint32_t flights = slot->session->backend->flights;
  int busy[2] = {0, 0}, status = SL_OK;
  uint32_t k = 0;
  while (status == SL_OK && next(slot, &slot->flights[k])) {
    const int started = start(slot, k);
    busy[k] = started == SL_OK;
    const uint32_t oldest = (k + 1) % flights;
    if (busy[oldest]) {
      status = finish(slot, oldest);
      busy[oldest] = 0;
    }
    if (started != SL_OK) {
      fail(slot->session, slot->flights[k].ticket, started);
      return started;
    }
    k = oldest;
  }
  for (uint32_t i = 0; i < flights && status == SL_OK; i++)
    if (busy[(k + i) % flights]) status = finish(slot, (k + i) % flights);
  return status;
}

static void *fly_timed(struct sl_slot *slot, next_slice *next) {
  const uint32_t outer = sl_time_enter(slot, SL_TIME_OTHER);
  fly(slot, next);
  sl_time_enter(slot, outer);
  return NULL;
}

static void *stream_slices(void *argument) { return fly_timed(argument, next_from_source); }
static void *run_kept_slices(void *argument) { return fly_timed(argument, next_kept); }

static int run_threads(struct sl_session *s, void *(*body)(void *)) {
  s->turns.next = 0;
  s->turns.failed = UINT64_MAX;
  int status = SL_OK;
  for (uint32_t i = 1; i < s->slot_count && status == SL_OK; i++) {
    s->slots[i].started = pthread_create(&s->slots[i].thread, NULL, body, &s->slots[i]) == 0;
    if (!s->slots[i].started) {
      sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "use fewer slots", "slot %u: no thread could be started: %s", i,
                  strerror(errno));
      status = SL_ENOMEM;
      atomic_store(&s->turns.stopped, SL_STOPPED);
    }
  }
  if (status == SL_OK) body(&s->slots[0]);
  for (uint32_t i = 1; i < s->slot_count; i++) {
    if (s->slots[i].started) pthread_join(s->slots[i].thread, NULL);
    s->slots[i].started = 0;
  }
  return status < 0 ? status : atomic_load(&s->turns.status);
}

/* ----------------------------------------------------------------------------------------------- repeats */

static int keep_slices(struct sl_session *s) {
  uint64_t capacity = 0, ticket = 0;
  for (;;) {
    if (s->reading.kept_count == capacity) {
      capacity = capacity ? 2 * capacity : 64;
      struct sl_input *larger = realloc(s->reading.kept, capacity * sizeof *larger);
      if (!larger) return SL_ENOMEM;
      s->reading.kept = larger;
    }
    if (sl_fit_kept(s) < 0) return SL_ENOMEM;
    struct sl_input *input = &s->reading.kept[s->reading.kept_count];
    memset(input, 0, sizeof *input);
    s->reading.kept_count++;
    if (sl_input_open(s, s->devices[0].device, input) < 0) return SL_ENOMEM;
    const int filled = fill_next(&s->slots[0], input, &ticket);
    if (filled <= 0) {
      sl_input_close(s, input);
      s->reading.kept_count--;
      return filled;
    }
  }
}

/* The passes after the first, in stretches that are timed one by one, so that a run shows its own spread. */
static int run_stretches(struct sl_session *s, uint64_t *repeat_ns) {
  const uint32_t passes = s->options.repeat - 1;
  const uint32_t stretches = passes < SL_STRETCHES ? passes : SL_STRETCHES;
  int status = SL_OK;
  sl_summary_stretch(s, 0, 0); /* what ran before does not count */
  for (uint32_t i = 0; i < stretches && status == SL_OK; i++) {
    const uint64_t turns = s->reading.kept_count * (passes / stretches + (i < passes % stretches));
    atomic_store(&s->reading.next_kept, 0);
    s->reading.kept_turns = turns;
    const uint64_t begin = sl_now_ns();
    status = run_threads(s, run_kept_slices);
    const uint64_t ns = sl_now_ns() - begin;
    const uint64_t events = s->reading.events * (turns / s->reading.kept_count);
    *repeat_ns += ns;
    sl_summary_stretch(s, i, events);
    s->statistics.summary.stretch_hz[s->statistics.summary.stretch_count++] =
        ns ? (double)events * 1e9 / (double)ns : 0;
  }
  return status;
}

static int run_repeats(struct sl_session *s, uint64_t *repeat_ns) {
  const uint32_t outer = sl_time_enter(&s->slots[0], SL_TIME_KEEP);
  int status = keep_slices(s);
  sl_time_enter(&s->slots[0], outer);
  if (status < 0) {
    if (status == SL_ENOMEM)
      sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "read fewer events with -n",
                  "out of memory for the slices to repeat");
    return status;
  }
  if (s->reading.kept_count == 0) return SL_OK;
  s->reading.kept_turns = s->reading.kept_count;
  status = run_threads(s, run_kept_slices);
  if (status != SL_OK) return status;
  s->delivery.active = 0;
  return run_stretches(s, repeat_ns);
}

/* ------------------------------------------------------------------------------------------------ sinks */

static int open_hosts(struct sl_session *s) {
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    const struct sl_node *node = &s->graph->nodes[n];
    const struct sl_algorithm *a = node->algorithm;
    if (a->kind != SL_KIND_SOURCE && a->kind != SL_KIND_SINK) continue;
    s->states[n] = calloc(1, a->state_size + 1u);
    if (!s->states[n]) return SL_ENOMEM;
    int status = SL_OK;
    if (a->kind == SL_KIND_SOURCE) {
      uint32_t count = 0;
      while (s->options.input_paths && s->options.input_paths[count]) count++;
      const struct sl_inputs inputs = {s->options.input_paths, count, 0, s->options.input_paths};
      status = a->source->open(s->states[n], &s->contexts[n].services, s->reading.args, &inputs);
    } else {
      status = a->sink->open(s->states[n], &s->contexts[n].services, s->slots[0].sink_args[n], s->options.output_path);
    }
    s->opened[n] = 1;
    if (status < 0 && status != SL_EINTERRUPTED)
      sl_diagnose(s->diagnostics, SL_ERROR, &node->place, node->name, NULL, "%s could not start: %s", node->use,
                  sl_error_text(status));
    if (status < 0) return status;
  }
  return SL_OK;
}

static void close_hosts(struct sl_session *s) {
  for (uint32_t n = 0; n < s->graph->node_count; n++) {
    if (!s->opened[n]) continue;
    const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
    if (a->kind == SL_KIND_SOURCE && a->source->close) a->source->close(s->states[n]);
    if (a->kind == SL_KIND_SINK && a->sink->close) a->sink->close(s->states[n]);
    s->opened[n] = 0;
  }
}

/* What is written and read, and who flushes it. */
static int open_files(struct sl_session *s) {
  struct sl_slot *main_slot = &s->slots[0];
  const uint32_t outer = sl_time_enter(main_slot, SL_TIME_OPEN);
  int status = sl_report_open(s);
  if (status == SL_OK) status = sl_trace_open(s);
  if (status == SL_OK) status = sl_metrics_open(s);
  if (status == SL_OK) status = open_hosts(s);
  if (status == SL_OK) status = sl_files_check_output(s);
  if (status == SL_OK) status = sl_ticker_start(s);
  sl_time_enter(main_slot, outer);
  sl_trace_opening(s);
  sl_trace_span(s, SL_TRACK_HOST(0), sl_time_name(SL_TIME_OPEN), s->begin_ns, main_slot->account.since_ns, NULL, 0);
  return status;
}

static int run_session(struct sl_session *s) {
  s->begin_ns = sl_now_ns();
  sl_times_begin(s);
  s->delivery.active = 1;
  uint64_t repeat_ns = 0;
  int status = open_files(s);
  if (status == SL_OK)
    status = s->statistics.summary.repeat > 1 ? run_repeats(s, &repeat_ns) : run_threads(s, stream_slices);
  if (status == SL_OK) status = s->reading.status;
  sl_time_enter(&s->slots[0], SL_TIME_FINISH);
  const uint64_t finish_ns = s->slots[0].account.since_ns;
  const int raced = s->options.race ? sl_race_tell(s) : SL_OK;
  sl_ticker_stop(s);
  /* From here on files are ended as this says, whatever comes. */
  s->identity.run.is_interrupted = atomic_load(&s->turns.stopped) != 0;
  if (status == SL_OK) status = sl_finish_sinks(s);
  if (status == SL_OK) status = raced;
  if (status == SL_OK && s->identity.run.is_interrupted) status = SL_EINTERRUPTED;
  close_hosts(s);
  sl_trace_span(s, SL_TRACK_HOST(0), sl_time_name(SL_TIME_FINISH), finish_ns, sl_time_settle(&s->slots[0]), NULL, 0);
  sl_summary_sum(s, repeat_ns);
  s->statistics.summary.interrupted = status == SL_EINTERRUPTED;
  s->statistics.summary.failed = status < 0 && status != SL_EINTERRUPTED;
  sl_metrics_close(s);
  const int traced = sl_trace_close(s);
  return status == SL_OK ? traced : status;
}

int sl_session_run(struct sl_session *s) {
  const size_t errors = sl_diagnostics_errors(s->diagnostics);
  if (s->options.look_only) return sl_say_failure(s, SL_EINVAL, errors, "a session opened with look_only does not run");
  const int status = sl_say_failure(s, run_session(s), errors, "the run failed");
  sl_diagnose_further(s->diagnostics);
  return sl_report_tell_end(s, status);
}
