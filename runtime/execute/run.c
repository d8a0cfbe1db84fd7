/* run.c: slices through slots.
 *
 * Each slot is a thread: it takes the source's lock, fills its input with the next slice and a ticket, runs the graph,
 * waits until its ticket's turn has come, delivers, and passes the turn on. So results come in input order whatever the
 * number of slots. A slot that has a slice under way does not wait long for another one, since others, or who feeds the
 * source, may wait for what that delivers. With --repeat the slices are filled first and kept; the first pass delivers,
 * the others only run. The first failure by ticket wins: what comes before it is delivered, what comes after it is not.
 */
#include "base/locale.h"
#include "layout/bind.h"
#include "execute/session.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- source */

/* What there is of slices: none is left, one more, or none as yet. */
enum { NO_SLICE, A_SLICE, SLICE_LATER };
enum { SOURCE_BUSY_NS = 1000000 };

/* Fills the next slice: one of the three, the last only where it may not wait, or, negative, the source failed (said so
 * itself). */
static int fill_next(struct sl_slot *slot, struct sl_input *input, int may_wait, uint64_t *ticket) {
  struct sl_session *s = slot->session;
  if (s->reading.ended || atomic_load(&s->turns.stopped) || atomic_load(&s->turns.status) != SL_OK) return 0;
  uint64_t limit = sl_budget_slice_events(s);
  input->is_whole = limit >= s->slice_events;
  if (s->options.events && s->options.events - s->reading.events < limit) limit = s->options.events - s->reading.events;
  if (limit == 0) return 0;
  struct sl_fill fill;
  const uint32_t outer = sl_time_enter(slot, SL_TIME_OF_NODE(s->graph->source));
  const uint64_t begin = slot->account.since_ns;
  const int status = sl_source_fill(s, s->states[s->graph->source], input, (uint32_t)limit, may_wait, &fill);
  sl_time_enter(slot, outer);
  s->reading.ns += slot->account.since_ns - begin;
  if (status == 1 && fill.event_count == 0 && !may_wait) return SLICE_LATER;
  slot->node_calls[s->graph->source]++;
  slot->node_events[s->graph->source] += fill.event_count;
  sl_trace_span(s, SL_TRACK_HOST(slot->index), "fill", begin, slot->account.since_ns, "events", fill.event_count);
  if (status <= 0) s->reading.ended = 1;
  sl_say_node_failure(s, s->graph->source, status, "failed", NULL);
  input->event_count = fill.event_count;
  memset(input->refusals, 0, fill.event_count * sizeof *input->refusals);
  atomic_store(&input->parts, 0);
  input->progress_done = fill.progress_done;
  input->progress_total = fill.progress_total;
  s->reading.events += fill.event_count;
  if (fill.event_count == 0) return status < 0 ? status : NO_SLICE;
  *ticket = s->reading.next_ticket++;
  if (status < 0) s->reading.status = status; /* after this last, partly filled slice */
  return A_SLICE;
}

/* ------------------------------------------------------------------------------------------------ threads */

/* Gives a flight the next slice: NO_SLICE when there is none left, A_SLICE, or, if it may not wait, SLICE_LATER. */
typedef int next_slice(struct sl_slot *slot, struct sl_flight *flight, int may_wait);

/* The lock of who asks the source; 0: others have it, and this slot may not wait. A clock that is set meanwhile makes
 * this wait shorter or longer, which costs time alone. (ThreadSanitizer of gcc 12 knows no pthread_mutex_clocklock.) */
static int lock_source(struct sl_session *s, int may_wait) {
  if (may_wait) return pthread_mutex_lock(&s->reading.lock) == 0;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += SOURCE_BUSY_NS;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  return pthread_mutex_timedlock(&s->reading.lock, &until) == 0;
}

static int next_from_source(struct sl_slot *slot, struct sl_flight *flight, int may_wait) {
  struct sl_session *s = slot->session;
  flight->input = flight->spare;
  const uint32_t outer = sl_time_enter(slot, SL_TIME_READ);
  const uint64_t begin = slot->account.since_ns;
  int filled = SLICE_LATER;
  const int is_locked = lock_source(s, may_wait);
  sl_trace_span(s, SL_TRACK_HOST(slot->index), sl_time_name(SL_TIME_READ), begin, sl_time_settle(slot), NULL, 0);
  if (is_locked) {
    filled = fill_next(slot, flight->input, may_wait, &flight->ticket);
    if (filled < 0) s->reading.status = filled;
    pthread_mutex_unlock(&s->reading.lock);
  }
  sl_time_enter(slot, outer);
  return filled < 0 ? NO_SLICE : filled;
}

static int next_kept(struct sl_slot *slot, struct sl_flight *flight, int may_wait) {
  (void)may_wait;
  struct sl_session *s = slot->session;
  const uint64_t index = atomic_fetch_add(&s->reading.next_kept, 1);
  if (index >= s->reading.kept_count) return NO_SLICE;
  if (atomic_load(&s->turns.stopped)) {
    sl_fail(s, index, SL_EINTERRUPTED); /* whoever has a later slice must not wait for this one */
    return NO_SLICE;
  }
  flight->ticket = index;
  flight->input = &s->reading.kept[index];
  return A_SLICE;
}

/* In a repeat nobody waits for turns, so that each device runs the slices that are near to it, and then others'. */
static int next_near(struct sl_slot *slot, struct sl_flight *flight, int may_wait) {
  (void)may_wait;
  struct sl_session *s = slot->session;
  const uint32_t devices = s->device_count;
  for (uint32_t i = 0; i < devices; i++) {
    const uint32_t d = (slot->place->index + i) % devices;
    const uint64_t own = (s->reading.kept_count + devices - 1 - d) / devices; /* slices d, d + devices... */
    const uint64_t index = atomic_fetch_add(&s->devices[d].next_kept, 1);
    if (index >= own * s->reading.kept_passes) continue;
    flight->ticket = index * devices + d;
    flight->input = &s->reading.kept[index % own * devices + d];
    if (!atomic_load(&s->turns.stopped)) return A_SLICE;
    sl_fail(s, flight->ticket, SL_EINTERRUPTED);
    return NO_SLICE;
  }
  return NO_SLICE;
}

static int start(struct sl_slot *slot, uint32_t k) {
  const struct sl_backend *backend = slot->session->backend;
  const uint64_t begin = sl_now_ns();
  slot->flights[k].begin_ns = begin;
  slot->detour = SL_NO_DETOUR;
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

/* The flight's slice is over, or others are to run it; from a failure on nothing is delivered. */
static int end_slice(struct sl_slot *slot, uint32_t k, int status) {
  const struct sl_flight *flight = &slot->flights[k];
  if (status != SL_OK && slot->detour == SL_LEFT) {
    sl_slice_leave(slot, flight);
    return status;
  }
  if (status != SL_OK) sl_fail(slot->session, flight->ticket, status);
  sl_slice_end(slot->session);
  return status;
}

static int finish(struct sl_slot *slot, uint32_t k) {
  const struct sl_backend *backend = slot->session->backend;
  const uint64_t begin = sl_now_ns();
  if (backend->range_begin) backend->range_begin("finish slice");
  slot->detour = SL_NO_DETOUR;
  int status = sl_flight_finish(slot, k);
  while (slot->detour == SL_EXCHANGED) {
    status = start(slot, k);
    if (status == SL_OK) status = sl_flight_finish(slot, k);
  }
  if (backend->range_end) backend->range_end();
  const uint64_t end = sl_now_ns(), ticket = slot->flights[k].ticket;
  if (status == SL_OK && slot->session->delivery.active) {
    const uint32_t outer = sl_time_enter(slot, SL_TIME_METRICS);
    sl_metrics_slice(slot, end - slot->flights[k].begin_ns);
    sl_time_enter(slot, SL_TIME_TURN);
    sl_pass_turn(slot->session, ticket);
    sl_time_enter(slot, outer);
  }
  sl_trace_span(slot->session, SL_TRACK_HOST(slot->index), backend->is_device ? "finish slice" : "slice", begin, end,
                "slice", ticket);
  return end_slice(slot, k, status);
}

/* Gives a flight a slice, of those that lost devices left first. */
static int take(struct sl_slot *slot, uint32_t k, next_slice *next, int may_wait) {
  const int kind = sl_slice_begin(slot, &slot->flights[k]);
  if (kind != SL_SLICE_NEW) return kind == SL_SLICE_NONE ? NO_SLICE : A_SLICE;
  const int taken = next(slot, &slot->flights[k], may_wait);
  if (taken != A_SLICE) sl_slice_end(slot->session);
  return taken;
}

/* The slices that a slot has started. */
struct flying {
  struct sl_slot *slot;
  int busy[2];
};

/* Others may wait for the earliest, so that it is the first to be finished. The flight that is free then. */
static uint32_t finish_earliest(struct flying *f, int *status) {
  const struct sl_flight *flights = f->slot->flights;
  const uint32_t k = f->busy[1] && (!f->busy[0] || flights[1].ticket < flights[0].ticket);
  *status = finish(f->slot, k);
  f->busy[k] = 0;
  return k;
}

/* Starts slices as long as there are any; before a flight is used again, its slice is finished, so that the backend
 * always has work while the host delivers. On a device that is lost nothing is finished any more. What is under way is
 * finished before the slot waits for the source: who feeds it may give no more before that is delivered. */
static void fly(struct sl_slot *slot, next_slice *next) {
  const uint32_t flights = slot->session->backend->flights;
  struct flying f = {slot, {0, 0}};
  int status = SL_OK;
  uint32_t k = 0;
  for (int taken = A_SLICE; status == SL_OK && taken != NO_SLICE;) {
    taken = take(slot, k, next, !f.busy[0] && !f.busy[1]);
    if (taken == SLICE_LATER) k = finish_earliest(&f, &status);
    if (taken != A_SLICE) continue;
    int started = start(slot, k);
    f.busy[k] = started == SL_OK;
    if (started != SL_OK) started = end_slice(slot, k, started);
    k = (k + 1) % flights;
    if (f.busy[k] && slot->detour != SL_LEFT) k = finish_earliest(&f, &status);
    if (started != SL_OK) status = started;
  }
  while (status == SL_OK && (f.busy[0] || f.busy[1])) finish_earliest(&f, &status);
  for (k = 0; k < 2; k++)
    if (f.busy[k]) end_slice(slot, k, status);
}

/* Runs what lost devices leave, until no slice is under way. */
static void help_others(struct sl_slot *slot) {
  while (slot->session->device_count > 1 && sl_slice_await_orphan(slot, &slot->flights[0])) {
    const int started = start(slot, 0);
    if (started != SL_OK)
      end_slice(slot, 0, started);
    else
      finish(slot, 0);
  }
}

static void fly_timed(struct sl_slot *slot, next_slice *next) {
  struct sl_numa_cores before;
  const int has_moved = sl_run_near(slot, &before);
  const uint32_t outer = sl_time_enter(slot, SL_TIME_OTHER);
  fly(slot, next);
  help_others(slot);
  sl_time_enter(slot, outer);
  if (has_moved) sl_numa_run_again_on(&before); /* the program's own thread is one of them */
}

static void stream_slices(void *argument) { fly_timed(argument, next_from_source); }
static void run_kept_slices(void *argument) { fly_timed(argument, next_kept); }
static void repeat_slices(void *argument) { fly_timed(argument, next_near); }

static int run_threads(struct sl_session *s, void (*body)(void *)) {
  sl_turns_begin(s);
  int status = SL_OK;
  for (uint32_t i = 1; i < s->slot_count && status == SL_OK; i++) {
    const int error = sl_thread_start(&s->slots[i].thread, body, &s->slots[i]);
    if (error != 0) {
      sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "use fewer slots", "slot %u: no thread could be started: %s", i,
                  strerror(error));
      status = SL_ENOMEM;
      atomic_store(&s->turns.stopped, SL_STOPPED);
    }
  }
  if (status == SL_OK) body(&s->slots[0]);
  for (uint32_t i = 1; i < s->slot_count; i++) sl_thread_join(&s->slots[i].thread);
  return status < 0 ? status : atomic_load(&s->turns.status);
}

/* ----------------------------------------------------------------------------------------------- repeats */

/* Slices are dealt to the devices. Memory that one does not give another may. */
static int open_kept(struct sl_session *s, struct sl_input *input) {
  int status = SL_ENOMEM;
  for (uint32_t i = 0; i < s->device_count && status < 0; i++) {
    status = sl_input_open(s, &s->devices[(s->reading.kept_count - 1 + i) % s->device_count], input);
    if (status < 0) sl_input_close(s, input);
  }
  return status;
}

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
    if (open_kept(s, input) < 0) return SL_ENOMEM;
    const int filled = fill_next(&s->slots[0], input, 1, &ticket);
    if (filled <= 0) {
      sl_input_close(s, input);
      s->reading.kept_count--;
      return filled;
    }
  }
}

/* The passes after the first, in stretches that are timed one by one, so that a run shows its own spread. */
static int run_stretches(struct sl_session *s, struct sl_repeated *repeated) {
  const uint32_t passes = s->options.repeat - 1;
  const uint32_t stretches = passes < SL_STRETCHES ? passes : SL_STRETCHES;
  int status = SL_OK;
  sl_summary_stretch(s, 0, 0); /* what ran before does not count */
  for (uint32_t i = 0; i < stretches && status == SL_OK; i++) {
    s->reading.kept_passes = passes / stretches + (i < passes % stretches);
    for (uint32_t d = 0; d < s->device_count; d++) atomic_store(&s->devices[d].next_kept, 0);
    const uint64_t begin = sl_now_ns(), events_before = sl_events_in_graph(s);
    status = run_threads(s, repeat_slices);
    if (status != SL_OK) break; /* a stretch that was stopped has no rate */
    const uint64_t ns = sl_now_ns() - begin, events = sl_events_in_graph(s) - events_before;
    repeated->ns += ns;
    repeated->events += events;
    sl_summary_stretch(s, i, s->reading.events * s->reading.kept_passes);
    if (events > 0 && ns > 0)
      s->statistics.summary.stretch_hz[s->statistics.summary.stretch_count++] = (double)events * 1e9 / (double)ns;
  }
  return status;
}

static int run_repeats(struct sl_session *s, struct sl_repeated *repeated) {
  const uint32_t outer = sl_time_enter(&s->slots[0], SL_TIME_KEEP);
  int status = keep_slices(s);
  sl_time_enter(&s->slots[0], outer);
  if (status < 0) {
    if (status == SL_ENOMEM) sl_fit_report_kept(s);
    return status;
  }
  if (s->reading.kept_count == 0) return SL_OK;
  status = run_threads(s, run_kept_slices);
  if (status != SL_OK) return status;
  s->delivery.active = 0;
  return run_stretches(s, repeated);
}

/* ------------------------------------------------------------------------------------------------ sinks */

/* A file that cannot be written: the run is refused before it begins. */
static int refuse(struct sl_session *s, int status) {
  s->report.is_refused |= status == SL_EIO || status == SL_EINVAL;
  return status;
}

static int open_hosts(struct sl_session *s) {
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    const struct sl_node *node = &s->graph->nodes[n];
    const struct sl_algorithm *a = node->algorithm;
    if (a->kind != SL_KIND_SOURCE && a->kind != SL_KIND_SINK) continue;
    s->states[n] = calloc(1, a->state_size + 1u);
    if (!s->states[n]) return SL_ENOMEM;
    int status = SL_OK;
    if (a->kind == SL_KIND_SOURCE && a->source->open) {
      uint32_t count = 0;
      while (s->options.input_paths && s->options.input_paths[count]) count++;
      const struct sl_inputs inputs = {s->options.input_paths, count, 0, s->options.input_paths,
                                       s->options.input_ranges};
      status = a->source->open(s->states[n], &s->contexts[n].services, s->reading.args, &inputs);
      sl_begin_close(&s->files.begin);
    } else if (a->kind == SL_KIND_SINK && a->sink->open) {
      status = refuse(
          s, a->sink->open(s->states[n], &s->contexts[n].services, s->slots[0].sink_args[n], s->options.output_path));
    }
    s->opened[n] = 1;
    sl_say_node_failure(s, n, status, "could not start", NULL);
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
  (void)refuse(s, status);
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
  struct sl_repeated repeated = {0};
  int status = open_files(s);
  if (status == SL_OK)
    status = s->statistics.summary.repeat > 1 ? run_repeats(s, &repeated) : run_threads(s, stream_slices);
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
  sl_summary_sum(s, &repeated);
  s->statistics.summary.interrupted = status == SL_EINTERRUPTED;
  s->statistics.summary.failed = status < 0 && status != SL_EINTERRUPTED;
  sl_metrics_close(s);
  const int traced = sl_trace_close(s);
  if (s->options.feed) sl_feed_over(s->options.feed);
  return status == SL_OK ? traced : status;
}

int sl_session_run(struct sl_session *s) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  const size_t errors = sl_diagnostics_errors(s->diagnostics);
  if (s->options.look_only) return sl_say_failure(s, SL_EINVAL, errors, "a session opened with look_only does not run");
  const int status = sl_say_failure(s, run_session(s), errors, "the run failed");
  sl_diagnose_further(s->diagnostics);
  return sl_report_tell_end(s, status);
}
