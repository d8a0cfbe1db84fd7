/* exchange.c: exchanges the configuration of a run for a checked one, between slices; see reload.c. */
#include "base/clock.h"
#include "base/locale.h"
#include "execute/services.h"
#include "execute/slots.h"
#include "graph/differences.h"
#include "session/candidate.h"
#include "session/live.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <stdlib.h>

void sl_reload_begin(struct sl_session *sn) {
  pthread_mutex_lock(&sn->reload.lock);
  sn->reload.is_possible = 1;
  sn->reload.options.input_paths = sn->setup.options.input_paths; /* patterns are expanded */
  pthread_mutex_unlock(&sn->reload.lock);
}

/* Ends the sinks and keeps their results. Streams stay open. */
static int end_results(struct sl_session *sn, const struct sl_graph *next) {
  struct sl_setup *s = &sn->setup;
  sl_outputs_update(&sn->outputs);
  sn->files.is_changing = 1;
  const int finished = sl_sinks_finish(&sn->sinks);
  sl_sinks_end(&sn->sinks);
  sl_summary_sum_outputs(&sn->statistics);
  const struct sl_summary *sum = &sn->statistics.summary;
  const struct sl_configuration_results results = {.graph_digest = sum->graph_digest,
                                                   .events = sn->delivery.events,
                                                   .error_events = sn->delivery.error_events,
                                                   .outputs = sum->outputs,
                                                   .output_count = sum->output_count,
                                                   .totals = sum->totals,
                                                   .total_count = sum->total_count,
                                                   .graph = s->graph,
                                                   .reports = sn->sinks.json};
  char *changes = sl_graph_differences(s->graph->text, next->text);
  if (!changes) return SL_ENOMEM;
  const int ended = sl_configurations_end(&sn->configurations, &results, changes);
  return finished < 0 ? finished : ended;
}

/* Leaves to the replaced configuration what batches refer to. */
static void keep_slots(struct sl_session *sn, struct sl_candidate *c) {
  c->slots = sn->slots;
  for (uint32_t i = 0; i < sn->setup.slot_count; i++) {
    sl_slot_release_device(&c->slots[i]);
    c->slots[i].setup = &c->setup; /* from the exchange on */
  }
  sn->slots = NULL;
}

/* Closes what belongs to the present configuration, except its setup. */
static void close_configuration(struct sl_session *sn, struct sl_candidate *c) {
  sl_metrics_end_configuration(&sn->metrics);
  sl_times_change(&sn->times);
  sl_summary_change(&sn->statistics);
  sl_rotation_change(&sn->rotation);
  sl_timestamps_close(&sn->timestamps);
  if (sn->setup.options.keeps_batches) keep_slots(sn, c);
  sl_parts_close_slots(sn);
  sl_parts_close(sn);
  sn->identity = (struct sl_identity){0};
}

/* The contexts of source and sinks stay, and the state of the source. */
static void keep_source_and_sinks(struct sl_setup *s, struct sl_setup *next) {
  for (uint32_t n = 0; n < next->graph->node_count; n++) {
    const uint32_t kind = next->graph->nodes[n].algorithm->kind;
    next->contexts[n]->setup = s;
    if (kind != SL_KIND_SOURCE && kind != SL_KIND_SINK) continue;
    const int32_t old = sl_graph_node_index(s->graph, next->graph->nodes[n].name);
    sl_services_keep(next, n, s->contexts[old]);
    s->contexts[old] = NULL;
  }
  const uint32_t from = s->graph->source, to = next->graph->source;
  next->states[to] = s->states[from];
  next->opened[to] = s->opened[from];
  s->states[from] = NULL;
}

#define EXCHANGE(a, b)                    \
  do {                                    \
    const __typeof__(a) exchanged_ = (a); \
    (a) = (b);                            \
    (b) = exchanged_;                     \
  } while (0)

/* Exchanges the configurations of the setup and of the candidate, which is the replaced one then. The source refers to
 * texts of the graph that it was opened with, which therefore stays. */
static void exchange_setup(struct sl_session *sn, struct sl_candidate *c) {
  struct sl_setup *s = &sn->setup, *next = &c->setup;
  keep_source_and_sinks(s, next);
  sl_conditions_close(&sn->conditions);
  if (!s->source_graph) {
    s->source_graph = s->graph;
    c->keeps_graph = 1;
  }
  EXCHANGE(s->source_fields, next->source_fields);
  EXCHANGE(s->options, next->options);
  EXCHANGE(s->graph, next->graph);
  EXCHANGE(s->layout, next->layout);
  EXCHANGE(s->contexts, next->contexts);
  EXCHANGE(s->arrays, next->arrays);
  EXCHANGE(s->prepared, next->prepared);
  EXCHANGE(s->states, next->states);
  EXCHANGE(s->opened, next->opened);
  EXCHANGE(s->zeros, next->zeros);
  sl_conditions_change(&sn->conditions, &c->conditions);
  sl_files_change(&sn->files, &c->files);
  EXCHANGE(sn->reload.texts, c->texts);
}

static int open_configuration(struct sl_session *sn, uint64_t begin_ns, int with_timestamps) {
  int status = sl_parts_open(sn);
  if (status == SL_OK) status = sl_parts_open_slots(sn);
  if (status < 0) {
    sn->reload.has_failed = 1;
    return status;
  }
  for (uint32_t i = 0; i < sn->setup.slot_count; i++) {
    sn->slots[i].activity = i == 0 ? SL_ACTIVITY_RELOAD : SL_ACTIVITY_IDLE;
    sn->slots[i].activity_ns = begin_ns;
  }
  if (with_timestamps) status = sl_timestamps_open(&sn->timestamps, &sn->setup, &sn->times, &sn->trace);
  if (status == SL_OK) status = sl_metrics_begin_configuration(&sn->metrics);
  if (status == SL_OK) status = sl_sinks_begin(&sn->sinks, &sn->slots[0]);
  const int ended = sl_files_end_change(&sn->files);
  if (status == SL_OK) status = ended;
  return status == SL_OK ? sl_checkpoint_write(&sn->checkpoint, SL_RUN_CONTINUES) : status;
}

static void report(const struct sl_session *sn) {
  uint32_t changes = 0;
  for (const char *c = sn->configurations.changes; *c; c++) changes += *c == '\n';
  sl_diagnose(sn->setup.diagnostics, SL_NOTE, NULL, NULL, NULL,
              "configuration %016" PRIx64 " from event %" PRIu64 " on: %u %s changed", sn->identity.run.graph_digest,
              sn->delivery.events, changes, sl_plural(changes, "setting has", "settings have"));
}

/* With the delivery lock held, so that nothing else uses the parts of the session. */
static int exchange(struct sl_session *sn, struct sl_candidate *c) {
  const int with_timestamps = sn->timestamps.slots != NULL;
  uint64_t begin_ns = sl_now_ns();
  for (uint32_t i = 0; i < sn->setup.slot_count; i++) begin_ns = sl_activity_settle(&sn->slots[i]);
  struct sl_server *server = sn->setup.options.server;
  if (server) server->calls->pause(server);
  int status = end_results(sn, c->setup.graph);
  if (status < 0) return status;
  close_configuration(sn, c);
  exchange_setup(sn, c);
  sn->delivery.configuration++;
  status = open_configuration(sn, begin_ns, with_timestamps);
  if (status < 0) return status;
  const uint64_t end_ns = sl_activity_settle(&sn->slots[0]);
  sl_span_add(&sn->slots[0], sl_activity_name(SL_ACTIVITY_RELOAD), begin_ns, end_ns, NULL, 0);
  sn->slots[0].activity = SL_ACTIVITY_IDLE;
  report(sn);
  if (server) server->calls->resume(server);
  return 1;
}

/* Takes the pending candidate, or NULL. */
static struct sl_candidate *take(struct sl_session *sn, int is_possible) {
  pthread_mutex_lock(&sn->reload.lock);
  struct sl_candidate *c = sn->reload.pending;
  sn->reload.pending = NULL;
  sn->reload.is_possible = c && is_possible;
  atomic_store(&sn->reading.is_paused, 0);
  pthread_mutex_unlock(&sn->reload.lock);
  return c;
}

void sl_reload_end(struct sl_session *sn) {
  struct sl_candidate *c = take(sn, 0);
  if (!c) return;
  sl_diagnose(sn->setup.diagnostics, SL_NOTE, NULL, NULL, NULL,
              "the run ends before the new configuration takes effect");
  sl_candidate_free(c);
}

int sl_reload_exchange(struct sl_session *sn) {
  if (sn->reading.ended || sn->reading.status < 0 || sl_order_is_over(&sn->order)) return 0;
  struct sl_candidate *c = take(sn, 1);
  int status = 1;
  if (!c) return 0;
  if (sn->order.lost_devices > 0) {
    sl_diagnose(sn->setup.diagnostics, SL_WARNING, NULL, NULL, NULL,
                "the new configuration does not take effect, because a device is lost");
  } else {
    sl_replan_end(&sn->replan);
    pthread_mutex_lock(&sn->delivery.lock);
    status = exchange(sn, c);
    pthread_mutex_unlock(&sn->delivery.lock);
  }
  if (!c->slots) {
    sl_candidate_free(c);
    return status;
  }
  pthread_mutex_lock(&sn->reload.lock);
  c->next = sn->reload.replaced;
  sn->reload.replaced = c;
  pthread_mutex_unlock(&sn->reload.lock);
  return status;
}

void sl_session_release_batches(struct sl_session *sn) {
  SL_IN_C_LOCALE();
  pthread_mutex_lock(&sn->reload.lock);
  struct sl_candidate *c = sn->reload.replaced;
  sn->reload.replaced = NULL;
  pthread_mutex_unlock(&sn->reload.lock);
  while (c) {
    struct sl_candidate *next = c->next;
    sl_candidate_free(c);
    c = next;
  }
}
