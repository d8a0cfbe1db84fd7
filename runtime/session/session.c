/* session.c: opens and closes the graph of a run, and gives access to a session (inspect.h). For sessions see
 * sluice.h. */
#include "session/session.h"

#include "base/clock.h"
#include "base/locale.h"
#include "base/processor.h"
#include "execute/devices.h"
#include "execute/fit.h"
#include "execute/memory_check.h"
#include "execute/services.h"
#include "execute/slots.h"
#include "input/feed.h"
#include "input/follow.h"
#include "keep/keep.h"
#include "observe/checks.h"
#include "records/records.h"
#include "results/leftovers.h"
#include "session/inspect.h"
#include "session/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ------------------------------------------------------------------------------------------------ opening */

/* Opens the graph and enters its files. */
static int open_graph(struct sl_session *sn) {
  struct sl_setup *s = &sn->setup;
  int status = sl_options_check(s);
  if (status == SL_OK) status = sl_files_find(&sn->files);
  if (status == SL_OK) status = sl_files_check(&sn->files);
  if (status == SL_OK) status = sl_options_open_devices(s);
  if (status == SL_OK && s->is_received)
    status = sl_zmq_open_inputs(&sn->zmq, s->options.input_paths, s->options.senders, s->options.until_idle,
                                &s->received_paths, &s->received_names);
  if (status == SL_OK) status = sl_options_read_input(s, &sn->files.begin);
  if (status == SL_OK) status = sl_options_open_graph(s, &sn->files.begin, NULL);
  if (status == SL_OK) status = sl_conditions_find(s);
  if (status == SL_OK) status = sl_files_check_graph(&sn->files);
  if (status == SL_OK) status = sl_options_check_effects(s);
  sl_times_opened(&sn->times, SL_OPENING_GRAPH);
  return status == SL_OK ? sl_options_choose_slice_events(s) : status;
}

/* Makes the memory plan and the constants. */
static int open_setup(struct sl_session *sn) {
  struct sl_setup *s = &sn->setup;
  sl_parts_give_input(s, &sn->files.begin);
  int status = sl_services_open(s);
  if (status == SL_OK) status = sl_properties_check(s);
  if (status == SL_OK) status = sl_setup_lay_out(s, s->slice_events, NULL, s->diagnostics, &s->layout);
  if (status == SL_OK) status = sl_setup_open_tables(s);
  if (status == SL_OK) status = sl_setup_open_source(s);
  sl_times_opened(&sn->times, SL_OPENING_PLAN);
  if (status == SL_OK) status = sl_conditions_open(&sn->conditions, s, &sn->slots, &sn->delivery, NULL);
  sl_parts_take_input(s);
  sl_times_opened(&sn->times, SL_OPENING_CONSTANTS);
  return status == SL_OK ? sl_fit(s) : status;
}

/* Opens the parts of the session. */
static int open_parts(struct sl_session *sn) {
  struct sl_setup *s = &sn->setup;
  int status = sl_rotation_open(&sn->rotation);
  if (status == SL_OK) status = sl_parts_open(sn);
  if (status == SL_OK) status = sl_checkpoint_open(&sn->checkpoint);
  if (status == SL_OK) status = sl_leftovers_open(&sn->files);
  if (status == SL_OK) status = sl_explaining_open(&sn->explaining, s);
  sl_times_opened(&sn->times, SL_OPENING_PLAN);
  if (status == SL_OK) status = sl_order_open(&sn->order, s);
  if (status == SL_OK && !s->options.inspect_only) status = sl_parts_open_slots(sn);
  if (status == SL_OK) status = sl_setup_open_workers(s);
  sl_times_opened(&sn->times, SL_OPENING_MEMORY);
  return status;
}

/* Attaches the feed. A feed of another session is refused and not ended. */
static int take_feed(struct sl_setup *s) {
  if (!s->options.feed || sl_feed_attach(s->options.feed) == SL_OK) return SL_OK;
  s->options.feed = NULL;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "open one feed per session", "the feed belongs to another session");
  return SL_EINVAL;
}

static int take_follow(struct sl_setup *s) {
  if (!s->options.follow || sl_follow_attach(s->options.follow) == SL_OK) return SL_OK;
  s->options.follow = NULL;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "call sl_follow_wait first, and close the session before",
              "the followed folder has no first file, or another session");
  return SL_EINVAL;
}

/* Initialises locks and the pointers between parts. */
static void connect(struct sl_session *sn, const struct sl_options *options, struct sl_diagnostics *d) {
  struct sl_setup *s = &sn->setup;
  s->open_ns = sn->times.opening_since_ns = sl_now_ns();
  s->families = 1;
  s->options = *options;
  if (options->server) s->options.draws = 1;
  sn->reload.options = s->options;
  s->diagnostics = d;
  s->files = &sn->files;
  s->output_calls = &sl_files_output;
  s->record_calls = &sl_record_calls;
  sn->files.setup = s;
  sn->files.rotation = &sn->rotation;
  sn->rotation.setup = s;
  sn->sinks.delivery = &sn->delivery;
  sn->sinks.configurations = &sn->configurations;
  sn->rotation.sinks = &sn->sinks;
  sn->rotation.outputs = &sn->outputs;
  sn->rotation.delivery = &sn->delivery;
  sn->rotation.checkpoint = &sn->checkpoint;
  sn->checkpoint = (struct sl_checkpoint){.setup = s,
                                          .files = &sn->files,
                                          .rotation = &sn->rotation,
                                          .outputs = &sn->outputs,
                                          .delivery = &sn->delivery,
                                          .configurations = &sn->configurations,
                                          .reading = &sn->reading};
  sn->files.stopped = sn->zmq.stopped = &sn->order.stopped;
  sn->files.zmq = &sn->zmq;
  sn->zmq.diagnostics = d;
  sn->reading.setup = s;
  sn->reading.order = &sn->order;
  sn->reading.history = &sn->history;
  pthread_mutex_init(&sn->reading.lock, NULL);
  pthread_mutex_init(&sn->order.lock, NULL);
  pthread_cond_init(&sn->order.changed, NULL);
  pthread_mutex_init(&sn->history.lock, NULL);
  pthread_mutex_init(&sn->replan.lock, NULL);
  pthread_cond_init(&sn->replan.changed, NULL);
  pthread_mutex_init(&sn->trace.lock, NULL);
  pthread_mutex_init(&sn->times.lock, NULL);
  pthread_mutex_init(&sn->energy.lock, NULL);
  pthread_mutex_init(&sn->delivery.lock, NULL);
  pthread_mutex_init(&sn->reload.lock, NULL);
  pthread_mutex_init(&sn->reload.checking, NULL);
  pthread_condattr_t by_monotonic_clock;
  pthread_condattr_init(&by_monotonic_clock);
  pthread_condattr_setclock(&by_monotonic_clock, CLOCK_MONOTONIC);
  pthread_cond_init(&sn->ticker.wake, &by_monotonic_clock);
  pthread_condattr_destroy(&by_monotonic_clock);
  sl_observers_add(&sn->observers, &sl_times_observer, &sn->times);
  sl_observers_add(&sn->observers, &sl_traffic_observer, &sn->traffic);
  if (options->rotate) sl_observers_add(&sn->observers, &sl_rotation_observer, &sn->rotation);
  if (!options->explain) sl_observers_add(&sn->observers, &sl_sinks_observer, &sn->sinks);
  if (s->options.draws) sl_observers_add(&sn->observers, &sl_drawings_observer, &sn->drawings);
  sl_observers_add(&sn->observers, &sl_outputs_observer, &sn->outputs);
  if (options->digest > 1 && options->report_path)
    sl_observers_add(&sn->observers, &sl_event_records_observer, &sn->event_records);
  if (options->explain) sl_observers_add(&sn->observers, &sl_explaining_observer, &sn->explaining);
  if (options->checkpoint_path) sl_observers_add(&sn->observers, &sl_checkpoint_observer, &sn->checkpoint);
}

SL_ANY_PROCESSOR int sl_session_open(const struct sl_options *options, struct sl_diagnostics *d,
                                     struct sl_session **session) {
  if (sl_processor_check(d) < 0) return SL_EINVAL;
  SL_IN_C_LOCALE(SL_ENOMEM);
  *session = NULL;
  int status = sl_diagnose_size(d, "sl_options", options->size, sizeof *options);
  if (status < 0) return status;
  struct sl_session *sn = calloc(1, sizeof *sn);
  if (!sn) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%s", sl_error_text(SL_ENOMEM));
    return SL_ENOMEM;
  }
  connect(sn, options, d);
  const size_t errors = sl_diagnostics_errors(d);
  status = take_feed(&sn->setup);
  if (status == SL_OK) status = take_follow(&sn->setup);
  if (status == SL_OK) status = open_graph(sn);
  if (status == SL_OK) status = open_setup(sn);
  if (status == SL_OK) status = open_parts(sn);
  if (status < 0) {
    status = sl_report_failure(&sn->setup, status, errors, "the graph could not be opened");
    if (status == SL_EFORMAT && sn->setup.options.follow) /* it is the first file that is wrong */
      sl_follow_refuse(sn->setup.options.follow, sl_follow_first(sn->setup.options.follow)->number, NULL);
    sl_session_close(sn);
    return status;
  }
  *session = sn;
  return SL_OK;
}

void sl_session_close(struct sl_session *sn) {
  SL_IN_C_LOCALE();
  if (!sn) return;
  struct sl_setup *s = &sn->setup;
  sl_session_release_batches(sn);
  sl_parts_close_slots(sn);
  for (uint64_t i = 0; i < sn->reading.kept_count; i++) sl_input_close(s, &sn->reading.kept[i]);
  free(sn->reading.kept);
  sl_conditions_close(&sn->conditions);
  sl_conditions_close_values(&sn->conditions);
  sl_setup_close_tables(s);
  sl_parts_close(sn);
  sl_event_errors_close(&sn->delivery);
  sl_report_close(&sn->report);
  sl_configurations_close(&sn->configurations);
  sl_timestamps_close(&sn->timestamps);
  sl_explaining_close(&sn->explaining);
  sl_event_records_close(&sn->event_records);
  sl_times_close(&sn->times);
  sl_order_close(&sn->order);
  sl_workers_free(s->workers);
  free(s->source_args);
  free(s->source_fields);
  sl_layout_free(s->layout);
  sl_graph_free(s->graph);
  sl_graph_free(s->source_graph);
  sl_reload_texts_free(&sn->reload.texts);
  sl_registry_close(&s->registry);
  if (!sl_keep_close(s->keep)) sl_devices_close(s); /* else the last kept batch closes them */
  pthread_mutex_destroy(&sn->reading.lock);
  pthread_mutex_destroy(&sn->order.lock);
  pthread_cond_destroy(&sn->order.changed);
  pthread_mutex_destroy(&sn->history.lock);
  pthread_mutex_destroy(&sn->replan.lock);
  pthread_cond_destroy(&sn->replan.changed);
  pthread_mutex_destroy(&sn->trace.lock);
  pthread_mutex_destroy(&sn->times.lock);
  pthread_mutex_destroy(&sn->energy.lock);
  pthread_mutex_destroy(&sn->delivery.lock);
  pthread_mutex_destroy(&sn->reload.lock);
  pthread_mutex_destroy(&sn->reload.checking);
  pthread_cond_destroy(&sn->ticker.wake);
  sl_files_close(&sn->files);
  sl_rotation_close(&sn->rotation);
  sl_zmq_close(&sn->zmq);
  if (s->options.feed) sl_feed_detach(s->options.feed);
  if (s->options.follow) sl_follow_detach(s->options.follow);
  free(sn->constants);
  free(sn);
}

/* ------------------------------------------------------------------------------------------------ what it shows */

int sl_session_keep_batch(struct sl_session *sn, struct sl_kept_batch **kept) {
  *kept = NULL;
  return sn->setup.keep ? sl_keep_current(sn->setup.keep, kept) : SL_EINVAL;
}

void sl_session_stop(struct sl_session *sn) { atomic_store(&sn->order.stopped, SL_STOPPED); }

void sl_session_stop_by(struct sl_session *sn, int signal_number) { atomic_store(&sn->order.stopped, signal_number); }

const struct sl_summary *sl_session_summary(const struct sl_session *sn) { return &sn->statistics.summary; }

const struct sl_run *sl_session_identity(const struct sl_session *sn) { return &sn->identity.run; }

int sl_session_claim_output(struct sl_session *sn, const char *option, const char *path, uint32_t appends) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  return sl_files_claim(&sn->files, option, path, appends);
}

int sl_session_writes_stdout(const struct sl_session *sn) { return sn->files.writes_stdout; }

const struct sl_setup *sl_session_setup(const struct sl_session *sn) { return &sn->setup; }

const struct sl_options *sl_session_options(const struct sl_session *sn) { return &sn->setup.options; }

const struct sl_options *sl_session_options_given(const struct sl_session *sn) { return &sn->reload.options; }

const struct sl_graph *sl_session_graph(const struct sl_session *sn) { return sn->setup.graph; }

const struct sl_layout *sl_session_layout(const struct sl_session *sn) {
  const struct sl_layout *newest = atomic_load(&sn->replan.newest);
  return newest ? newest : sn->setup.layout;
}

int sl_session_write_budgets(const struct sl_session *sn, FILE *file) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  return sl_replan_write_budgets(&sn->replan, sn->statistics.summary.events, file);
}

const char *sl_session_sink_lines(const struct sl_session *sn, uint32_t node) {
  return sn->sinks.lines ? sn->sinks.lines[node] : NULL;
}

const char *sl_session_sink_json(const struct sl_session *sn, uint32_t node) {
  return sn->sinks.json ? sn->sinks.json[node] : NULL;
}

struct sl_drawings *sl_session_drawings(struct sl_session *sn) {
  return sn->drawings.setup ? &sn->drawings : NULL;
}

const struct sl_zmq_link *sl_session_links(const struct sl_session *sn) { return sn->zmq.links; }

const struct sl_outputs *sl_session_outputs(const struct sl_session *sn) { return &sn->outputs; }

const struct sl_event_records *sl_session_event_records(const struct sl_session *sn) { return &sn->event_records; }

uint64_t sl_session_events_read(const struct sl_session *sn) { return sn->reading.events; }

uint64_t sl_session_earlier_events(const struct sl_session *sn) { return sn->delivery.earlier_events; }

void sl_session_race_only(struct sl_session *sn, uint32_t node) {
  sn->setup.race_algorithm = sn->setup.graph->nodes[node].algorithm;
}

int sl_session_put_report(struct sl_session *sn, const char *text, size_t bytes) {
  return sl_report_put(&sn->report, text, bytes);
}

int sl_session_describe_device(const struct sl_session *sn, char *text, size_t size) {
  const struct sl_summary *sum = &sn->statistics.summary;
  int are_alike = 1;
  if (size > 0) *text = 0;
  for (uint32_t d = 1; d < sum->device_count; d++)
    are_alike &= strcmp(sum->devices[d].description, sum->devices[0].description) == 0;
  for (uint32_t d = 0; d < (are_alike ? 1 : sum->device_count); d++) {
    const size_t length = strlen(text);
    if (!*sum->devices[d].description || length >= size) continue;
    if (sum->device_count > 1 && are_alike) snprintf(text, size, "each ");
    snprintf(text + strlen(text), size - strlen(text), "%s%s", d ? "; " : "", sum->devices[d].description);
  }
  return sn->setup.backend->is_device != 0;
}

const struct sl_constant_conditions *sl_session_conditions(const struct sl_session *sn) { return &sn->conditions; }

uint64_t sl_session_constant_checksum(const struct sl_session *sn, uint32_t n) {
  const struct sl_setup *s = &sn->setup;
  const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
  uint64_t checksum = 0;
  for (uint32_t m = 0; m < a->member_count; m++) {
    if (a->members[m].kind != SL_MEMBER_OUT) continue;
    for (uint32_t f = 0; f < a->members[m].collection->field_count; f++) {
      const struct sl_array *array = &s->arrays[s->layout->members[n][m].storage[f]];
      checksum = XXH3_64bits_withSeed(array->values, array->bytes, checksum);
    }
  }
  return checksum;
}

uint64_t sl_session_arena_of_one_branch(const struct sl_session *sn) {
  const struct sl_setup *s = &sn->setup;
  const struct sl_layout *l = s->layout;
  const struct sl_layout_request request = {.graph = s->graph,
                                            .events = l->events,
                                            .branches = 1,
                                            .families = (int)s->families,
                                            .input_gap_bytes = l->input_gap_bytes,
                                            .budgets = &l->budgets};
  struct sl_layout *one = NULL;
  if (l->branch_count == 1) return l->arena_bytes;
  const int status = sl_layout_make(&request, s->diagnostics, &one);
  const uint64_t bytes = status < 0 ? UINT64_MAX : one->arena_bytes;
  if (status == SL_OK) sl_layout_free(one);
  return bytes;
}
