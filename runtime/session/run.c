/* run.c: runs a session: opens its files, runs the slices, ends its files. With --repeat the slices are kept, and the
 * passes after the first are timed.
 */
#include "base/clock.h"
#include "base/locale.h"
#include "execute/binding.h"
#include "execute/execute.h"
#include "execute/fit.h"
#include "execute/memory_check.h"
#include "input/feed.h"
#include "session/inspect.h"
#include "session/live.h"
#include "session/session.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------ once a second */

static void tick(struct sl_session *sn) {
  const uint64_t begin = sl_now_ns();
  int status = SL_OK;
  SL_NOTIFY_STATUS(status, &sn->observers, tick, begin);
  if (status < 0) sl_order_fail_now(&sn->order, status);
  const struct sl_options *o = &sn->setup.options;
  if (status == SL_OK && o->on_tick) {
    const locale_t users = sl_locale_begin_callback();
    o->on_tick(o->context, sn->delivery.events, sn->delivery.error_events);
    sl_locale_end_callback(users);
  }
  if (status == SL_OK && o->server) o->server->calls->tick(o->server);
  sn->times.ticker_ns += sl_now_ns() - begin;
}

/* Holds the delivery lock, so that a sink is never called from two threads at once. */
static void run_ticker(void *argument) {
  struct sl_session *sn = argument;
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  pthread_mutex_lock(&sn->delivery.lock);
  while (!sn->ticker.ended) {
    next.tv_sec++;
    while (!sn->ticker.ended && pthread_cond_timedwait(&sn->ticker.wake, &sn->delivery.lock, &next) == 0) continue;
    if (!sn->ticker.ended) tick(sn);
  }
  pthread_mutex_unlock(&sn->delivery.lock);
}

static int needs_ticker(const struct sl_session *sn) {
  const struct sl_setup *s = &sn->setup;
  int needs = s->options.on_tick || s->options.server || s->options.metrics_path || s->options.trace_path ||
              sn->energy.package_count > 0;
  for (uint32_t n = 0; n < s->graph->node_count; n++)
    needs |= s->opened[n] && s->graph->nodes[n].algorithm->kind == SL_KIND_SINK;
  return needs;
}

static int start_ticker(struct sl_session *sn) {
  if (!needs_ticker(sn)) return SL_OK;
  const int error = sl_thread_start(&sn->ticker.thread, run_ticker, sn);
  if (error == 0) return SL_OK;
  sl_diagnose(sn->setup.diagnostics, SL_ERROR, NULL, NULL, NULL, "no thread could be started: %s", strerror(error));
  return SL_ENOMEM;
}

static void stop_ticker(struct sl_session *sn) {
  if (!sn->ticker.thread.is_started) return;
  pthread_mutex_lock(&sn->delivery.lock);
  sn->ticker.ended = 1;
  pthread_cond_signal(&sn->ticker.wake);
  pthread_mutex_unlock(&sn->delivery.lock);
  sl_thread_join(&sn->ticker.thread);
}

/* ----------------------------------------------------------------------------------------------- repeats */

/* Runs the passes after the first in repetitions that are timed separately, which shows the spread. */
static int run_stretches(struct sl_session *sn, struct sl_repeated *repeated) {
  struct sl_summary *sum = &sn->statistics.summary;
  const uint32_t passes = sn->setup.repeat - 1;
  const uint32_t stretches = passes < SL_STRETCHES ? passes : SL_STRETCHES;
  int status = SL_OK;
  sl_summary_stretch(&sn->statistics, 0, 0); /* time before the first repetition does not count */
  sl_energy_begin(&sn->energy);
  for (uint32_t i = 0; i < stretches && status == SL_OK; i++) {
    const uint64_t now = passes / stretches + (i < passes % stretches);
    const uint64_t begin = sl_now_ns(), events_before = sl_events_in_graph(&sn->statistics);
    status = sl_run_repeated(sn->slots, &sn->reading, now);
    if (status != SL_OK) break; /* a stopped repetition has no rate */
    const uint64_t ns = sl_now_ns() - begin, events = sl_events_in_graph(&sn->statistics) - events_before;
    repeated->ns += ns;
    repeated->events += events;
    sl_summary_stretch(&sn->statistics, i, sn->reading.events * now);
    if (events > 0 && ns > 0) sum->stretch_hz[sum->stretch_count++] = (double)events * 1e9 / (double)ns;
  }
  sl_energy_end(&sn->energy, repeated->events);
  return status;
}

static int run_repeats(struct sl_session *sn, struct sl_repeated *repeated) {
  const struct sl_scope scope = sl_scope_begin(&sn->slots[0], SL_ACTIVITY_KEEP);
  int status = sl_keep_slices(&sn->slots[0], &sn->reading);
  sl_scope_end(&sn->slots[0], scope);
  if (status == SL_ENOMEM) sl_fit_report_kept(&sn->reading);
  if (status < 0 || sn->reading.kept_count == 0) return status;
  status = sl_run_kept(sn->slots, &sn->reading);
  if (status != SL_OK) return status;
  sl_replan_settle(&sn->replan, sn->delivery.events);
  sn->delivery.active = 0;
  return run_stretches(sn, repeated);
}

/* ------------------------------------------------------------------------------------------------ the run */

/* Refuses the run before it begins. */
static int refuse(struct sl_session *sn, int status) {
  sn->report.is_refused |= status == SL_EIO || status == SL_EINVAL;
  return status;
}

static int open_trace(struct sl_session *sn) {
  const struct sl_setup *s = &sn->setup;
  int status = sl_trace_open(&sn->trace, s, &sn->files);
  if (status == SL_OK && sn->trace.file) sl_observers_add(&sn->observers, &sl_trace_observer, &sn->trace);
  if (status < 0 || !s->backend->is_device || (!s->options.profile && !sn->trace.file)) return status;
  sn->observers.need_steps = 1;
  status = sl_timestamps_open(&sn->timestamps, s, &sn->times, &sn->trace);
  if (status == SL_OK) sl_observers_add(&sn->observers, &sl_timestamps_observer, &sn->timestamps);
  return status;
}

static int open_metrics(struct sl_session *sn) {
  sn->metrics.statistics = &sn->statistics;
  sn->metrics.files = &sn->files;
  sn->metrics.delivery = &sn->delivery;
  sn->metrics.order = &sn->order;
  sn->metrics.energy = &sn->energy;
  sn->metrics.zmq = &sn->zmq;
  sn->metrics.configurations = &sn->configurations;
  const int status = sl_metrics_open(&sn->metrics, sn->setup.options.server != NULL);
  if (sn->metrics.is_open) sl_observers_add(&sn->observers, &sl_metrics_observer, &sn->metrics);
  return status;
}

static void trace_opening(struct sl_session *sn) {
  uint64_t at = sn->setup.open_ns;
  for (uint32_t i = 0; i < SL_OPENING_PARTS; i++) {
    sl_span_add(&sn->slots[0], sl_opening_name(i), at, at + sn->times.opening_ns[i], NULL, 0);
    at += sn->times.opening_ns[i];
  }
}

static int begin_server(struct sl_session *sn) {
  struct sl_server *server = sn->setup.options.server;
  if (!server) return SL_OK;
  const struct sl_live live = {.setup = &sn->setup,
                               .delivery = &sn->delivery,
                               .outputs = &sn->outputs,
                               .files = &sn->files,
                               .history = &sn->history,
                               .zmq = &sn->zmq,
                               .metrics = &sn->metrics,
                               .statistics = &sn->statistics};
  pthread_mutex_lock(&sn->delivery.lock);
  const int status = server->calls->begin(server, sn, &live);
  pthread_mutex_unlock(&sn->delivery.lock);
  return status;
}

static void end_server(struct sl_session *sn, int status) {
  struct sl_server *server = sn->setup.options.server;
  if (!server) return;
  server->calls->leave(server);
  pthread_mutex_lock(&sn->delivery.lock);
  server->calls->end(server, status);
  pthread_mutex_unlock(&sn->delivery.lock);
}

/* Opens the source. If senders have ended without data, there is nothing to read, and no format. */
static int open_source(struct sl_session *sn) {
  if (!sn->setup.is_received || sn->files.begin.count > 0) return sl_source_open(&sn->reading);
  sl_diagnose(sn->setup.diagnostics, SL_WARNING, NULL, NULL, NULL, "%s: the senders ended without an event",
              sn->setup.received_names[0]);
  sn->reading.ended = 1;
  return SL_OK;
}

static int open_files(struct sl_session *sn) {
  struct sl_slot *main_slot = &sn->slots[0];
  const struct sl_scope scope = sl_scope_begin(main_slot, SL_ACTIVITY_OPEN);
  int status = sl_report_open(&sn->report, &sn->files);
  sn->statistics.summary.started = sn->report.started;
  if (status == SL_OK) status = open_trace(sn);
  if (status == SL_OK) status = open_metrics(sn);
  (void)refuse(sn, status);
  if (status == SL_OK) {
    status = open_source(sn);
    sl_input_head_close_pipe(&sn->files.begin);
  }
  if (status == SL_OK) status = refuse(sn, sl_sinks_begin(&sn->sinks, main_slot));
  if (status == SL_OK) status = refuse(sn, sl_files_check_output(&sn->files));
  if (status == SL_OK) status = refuse(sn, sl_rotation_check(&sn->rotation));
  if (status == SL_OK) status = refuse(sn, begin_server(sn));
  if (status == SL_OK) status = start_ticker(sn);
  trace_opening(sn);
  sl_scope_end_span(main_slot, scope, sl_activity_name(SL_ACTIVITY_OPEN), NULL, 0);
  return status;
}

/* Starts or ends the time accounting: the threads of all slots are idle. */
static void begin_times(struct sl_session *sn) {
  for (uint32_t i = 0; i < sn->setup.slot_count; i++) {
    sn->slots[i].activity = SL_ACTIVITY_IDLE;
    sn->slots[i].activity_ns = sn->setup.begin_ns;
  }
}

static uint64_t end_times(struct sl_session *sn) {
  uint64_t end_ns = 0;
  for (uint32_t i = 0; i < sn->setup.slot_count; i++) end_ns = sl_activity_settle(&sn->slots[i]);
  return end_ns;
}

/* Adds the last configuration to the list. */
static int end_configurations(struct sl_session *sn) {
  struct sl_summary *sum = &sn->statistics.summary;
  const struct sl_configuration_results results = {
      .graph_digest = sum->graph_digest, .events = sum->events, .error_events = sum->error_events};
  const int status = sl_configurations_end(&sn->configurations, &results, NULL);
  sum->configurations = sn->configurations.at;
  sum->configuration_count = sn->configurations.count;
  return status;
}

/* Ends a run after a failed exchange of the configuration: there are no slots, and no results since. */
static int end_failed(struct sl_session *sn, int status) {
  struct sl_summary *sum = &sn->statistics.summary;
  stop_ticker(sn);
  sl_zmq_stop_inputs(&sn->zmq);
  sl_source_close(&sn->setup, NULL);
  sum->events = sn->delivery.events;
  sum->error_events = sn->delivery.error_events;
  sum->configurations = sn->configurations.at;
  sum->configuration_count = sn->configurations.count;
  sum->failed = 1;
  end_server(sn, status);
  (void)sl_trace_close(&sn->trace, &sn->files);
  if (sn->setup.options.feed) sl_feed_over(sn->setup.options.feed);
  return status;
}

static int end_run(struct sl_session *sn, int status, const struct sl_repeated *repeated) {
  const struct sl_setup *s = &sn->setup;
  struct sl_summary *sum = &sn->statistics.summary;
  const struct sl_scope scope = sl_scope_begin(&sn->slots[0], SL_ACTIVITY_FINISH);
  const int checked = s->memory_check && s->memory_check->finish ? s->memory_check->finish(s) : SL_OK;
  stop_ticker(sn);
  sl_zmq_stop_inputs(&sn->zmq);
  sl_replan_end(&sn->replan);
  sn->times.planning_ns = sn->replan.planning_ns;
  /* Decides whether files are ended as complete or as interrupted. */
  sn->files.is_interrupted = atomic_load(&sn->order.stopped) != 0;
  sn->identity.run.is_interrupted = (uint32_t)(sn->files.is_interrupted && !sl_rotation_is_on(&sn->rotation));
  sl_outputs_update(&sn->outputs);
  if (status == SL_OK) status = sl_sinks_finish(&sn->sinks);
  if (status == SL_OK) status = checked;
  if (status == SL_OK && !sn->checkpoint.is_complete)
    status = sl_checkpoint_write(&sn->checkpoint, sn->files.is_interrupted ? SL_RUN_STOPPED : SL_RUN_ENDED);
  if (status == SL_OK && sn->files.is_interrupted) status = SL_EINTERRUPTED;
  sl_sinks_end(&sn->sinks);
  sl_source_close(&sn->setup, NULL);
  sl_outputs_settle(&sn->outputs);
  sl_span_add(&sn->slots[0], sl_activity_name(SL_ACTIVITY_FINISH), scope.begin_ns, sl_activity_settle(&sn->slots[0]),
              NULL, 0);
  sl_summary_sum(&sn->statistics, repeated, end_times(sn));
  sum->interrupted = status == SL_EINTERRUPTED;
  sum->failed = status < 0 && status != SL_EINTERRUPTED;
  end_server(sn, status);
  const int listed = end_configurations(sn);
  sl_metrics_close(&sn->metrics);
  const int traced = sl_trace_close(&sn->trace, &sn->files);
  if (s->options.feed) sl_feed_over(s->options.feed);
  return status != SL_OK ? status : traced < 0 ? traced : listed;
}

static void open_energy(struct sl_session *sn) {
  sl_energy_open(&sn->energy, &sn->setup, "");
  if (!sn->energy.is_on) return;
  sn->statistics.summary.energy = &sn->energy.summary;
  sl_observers_add(&sn->observers, &sl_energy_observer, &sn->energy);
}

/* --resume of a run that has read all its input. */
static int end_complete(struct sl_session *sn) {
  const struct sl_repeated none = {0};
  sl_diagnose(sn->setup.diagnostics, SL_NOTE, NULL, NULL, NULL, "--resume: the run of %s is complete",
              sn->setup.options.checkpoint_path);
  const int status = sl_report_open(&sn->report, &sn->files);
  sn->statistics.summary.started = sn->report.started;
  sn->rotation.number--; /* that of the last file, not of the next one */
  return end_run(sn, status, &none);
}

/* Runs the slices of the source, under one configuration after another. */
static int run_configurations(struct sl_session *sn) {
  int status, changed;
  sl_reload_begin(sn);
  do {
    status = sl_run_source(sn->slots, &sn->reading); /* a callback of the program may end it with any value */
    changed = status == SL_OK ? sl_reload_exchange(sn) : 0;
  } while (changed > 0);
  sl_reload_end(sn);
  return status == SL_OK ? changed : status;
}

static int run(struct sl_session *sn) {
  struct sl_repeated repeated = {0};
  sn->setup.begin_ns = sl_now_ns();
  begin_times(sn);
  sl_rotation_begin(&sn->rotation);
  sn->delivery.active = 1;
  open_energy(sn);
  if (sn->checkpoint.is_complete) return end_complete(sn);
  int status = open_files(sn);
  sl_energy_begin(&sn->energy);
  if (status == SL_OK) status = sn->setup.repeat > 1 ? run_repeats(sn, &repeated) : run_configurations(sn);
  if (status == SL_OK) status = sn->reading.status;
  if (sn->setup.repeat <= 1) sl_energy_end(&sn->energy, sn->delivery.events);
  return sn->reload.has_failed ? end_failed(sn, status) : end_run(sn, status, &repeated);
}

int sl_session_run(struct sl_session *sn) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  const struct sl_setup *s = &sn->setup;
  const size_t errors = sl_diagnostics_errors(s->diagnostics);
  if (s->options.inspect_only)
    return sl_report_failure(s, SL_EINVAL, errors, "a session opened with inspect_only does not run");
  const int status = sl_report_failure(s, run(sn), errors, "the run failed");
  sl_diagnose_counted(s->diagnostics);
  return sl_report_end(&sn->report, &sn->files, &sn->statistics.summary, status);
}

/* ------------------------------------------------------------------------------------------------- step by step */

const void *sl_moment_storage(const struct sl_moment *m, int32_t storage) {
  return sl_field_for_kernels(m->slot, m->slice, 0, storage);
}

uint64_t sl_moment_filled(const struct sl_moment *m, uint32_t member, uint32_t bound) {
  return m->slice->input->used[SL_BOUNDS_MAX * member + bound];
}

const struct sl_event *sl_moment_events(const struct sl_moment *m) {
  return m->slice->input->events + m->slot->first_event;
}

uint64_t *sl_moment_errors(const struct sl_moment *m) { return m->slot->errors; }

struct sl_moment sl_moment_first(const struct sl_session *sn) {
  const struct sl_slot *slot = &sn->slots[0];
  return (struct sl_moment){
      .session = sn, .event_count = slot->event_count, .slot = slot, .slice = &slot->slices_in_flight[0]};
}

struct watch {
  const struct sl_session *session;
  sl_inspect_function *look;
  sl_inspect_ran_function *ran;
  void *context;
};

static struct sl_moment moment_of(const struct watch *w, const struct sl_slot *slot, const struct sl_slice *slice,
                                  uint32_t node) {
  return (struct sl_moment){.session = w->session,
                            .node = node,
                            .event_count = slot->event_count,
                            .is_whole = slot->event_count == slice->input->event_count,
                            .slot = slot,
                            .slice = slice};
}

static int choose(void *context, const struct sl_slot *slot, const struct sl_slice *slice, uint32_t step,
                  uint32_t node) {
  const struct watch *w = context;
  struct sl_moment moment = moment_of(w, slot, slice, node);
  moment.step = &slot->layout->steps[step];
  return w->look(w->context, &moment);
}

static void node_ran(void *context, struct sl_slot *slot, const struct sl_slice *slice, uint32_t node,
                     uint64_t events) {
  const struct watch *w = context;
  (void)events;
  if (!w->ran || !slice) return; /* without a slice: the source or a sink */
  const struct sl_moment moment = moment_of(w, slot, slice, node);
  w->ran(w->context, &moment);
}

int sl_session_inspect_slice(struct sl_session *sn, void *source_state, sl_inspect_function *look,
                             sl_inspect_ran_function *ran, void *context, int *source_failed) {
  static const struct sl_observer_calls calls = {.choose = choose, .node = node_ran};
  struct watch watch = {sn, look, ran, context};
  struct sl_slot *slot = &sn->slots[0];
  struct sl_input *input = slot->slices_in_flight[0].input = &slot->slices_in_flight[0].own_input;
  struct sl_fill fill;
  const int more = sl_source_fill(&sn->reading, source_state, input, sn->setup.slice_events, 1, &fill);
  *source_failed = more < 0;
  input->event_count = fill.event_count;
  if (more < 0 || fill.event_count == 0) return more < 0 ? more : 0;
  sl_observers_add(&sn->observers, &calls, &watch);
  sn->delivery.active = 0;
  const int status = sl_execute_finish(slot, 0);
  sl_observers_remove(&sn->observers, &watch);
  return status < 0 && status != SL_EINTERRUPTED ? status : more;
}
