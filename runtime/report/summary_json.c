/* summary_json.c: the summary of a run, as JSON for programs. */
#include "base/locale.h"
#include "base/text_file.h"
#include "constants/conditions.h"
#include "report/origin.h"
#include "report/summary.h"
#include "results/event_records.h"
#include "results/sums_json.h"
#include "session/inspect.h"
#include "zmq/hub.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void json_plugins(const struct sl_session *s, struct sl_json *j) {
  sl_json_begin_array(j, "plugins");
  for (size_t i = 0; i < sl_session_setup(s)->registry.entry_count; i++) {
    const struct sl_plugin_entry *e = &sl_session_setup(s)->registry.entries[i];
    int used = 0;
    for (uint32_t n = 0; n < sl_session_graph(s)->node_count; n++) used |= sl_session_graph(s)->nodes[n].plugin == e;
    if (!used) continue;
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "name", e->plugin->name);
    sl_json_string(j, "version", e->plugin->version);
    sl_json_string(j, "target", e->plugin->target);
    sl_json_string(j, "path", e->path);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

static void json_devices(const struct sl_summary *sum, struct sl_json *j) {
  sl_json_begin_array(j, "devices");
  for (uint32_t d = 0; d < sum->device_count; d++) {
    const struct sl_device_summary *at = &sum->devices[d];
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "name", at->name);
    sl_json_string(j, "description", at->description);
    sl_json_integer(j, "slots", at->slots);
    sl_json_integer(j, "slices", (int64_t)at->slices);
    sl_json_boolean(j, "lost", (int)at->is_lost);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

/* null if the rate was not measured */
static void json_rate(struct sl_json *j, const char *key, double hz) { sl_json_number(j, key, hz > 0 ? hz : NAN); }

static void json_plan_change(struct sl_json *j, const struct sl_plan_change *change) {
  sl_json_begin_object(j, NULL);
  sl_json_string(j, "reason", change->reason == SL_PLAN_GROWN ? "overflow" : "unused memory");
  sl_json_integer(j, "event", (int64_t)change->event);
  sl_json_integer(j, "arena_bytes_before", (int64_t)change->arena_bytes_before);
  sl_json_integer(j, "arena_bytes", (int64_t)change->arena_bytes);
  sl_json_number(j, "seconds", change->seconds);
  sl_json_begin_object(j, "budgets");
  for (uint32_t i = 0; i < change->budget_count; i++) {
    const struct sl_budget_change *b = &change->budgets[i];
    char name[256];
    snprintf(name, sizeof name, "%s.%s", b->node, b->property);
    sl_json_begin_array(j, name);
    sl_json_integer(j, NULL, b->before);
    sl_json_integer(j, NULL, b->after);
    sl_json_end_array(j);
  }
  sl_json_end_object(j);
  sl_json_end_object(j);
}

/* The plan at the end of the run, with the values of all budgets of kernels, and how it came about. */
static void json_plan(const struct sl_session *s, struct sl_json *j) {
  static const char *const modes[] = {[SL_REPLAN_ON] = "on", [SL_REPLAN_GROW] = "grow", [SL_REPLAN_OFF] = "off"};
  const struct sl_summary *sum = sl_session_summary(s);
  const struct sl_graph *g = sl_session_graph(s);
  const uint64_t limit = sum->arena_limit_bytes, wanted = sum->arena_wanted_bytes;
  sl_json_begin_object(j, "plan");
  sl_json_string(j, "replan", modes[sum->replan]);
  sl_json_number(j, "arena_limit_bytes", limit == UINT64_MAX ? NAN : (double)limit);
  sl_json_number(j, "arena_wanted_bytes", wanted == 0 || wanted == UINT64_MAX ? NAN : (double)wanted);
  sl_json_begin_object(j, "budgets");
  for (uint32_t i = 0; i < g->order_count; i++) {
    const struct sl_node *node = &g->nodes[g->order[i]];
    for (uint32_t m = 0; node->algorithm->kind == SL_KIND_KERNEL && m < node->algorithm->member_count; m++) {
      if (!sl_is_budget(&node->algorithm->members[m])) continue;
      char name[256];
      snprintf(name, sizeof name, "%s.%s", node->name, node->algorithm->members[m].name);
      sl_json_integer(j, name, *sl_budget(&sl_session_layout(s)->budgets, g->order[i], m));
    }
  }
  sl_json_end_object(j);
  sl_json_begin_array(j, "changes");
  for (uint32_t i = 0; i < sum->plan_change_count; i++) json_plan_change(j, &sum->plan_changes[i]);
  sl_json_end_array(j);
  sl_json_end_object(j);
}

/* null unless it was requested; joules are null if they were not measured */
static void json_energy(struct sl_json *j, const struct sl_energy_summary *e) {
  if (!e) {
    sl_json_number(j, "energy", NAN);
    return;
  }
  sl_json_begin_object(j, "energy");
  sl_json_number(j, "seconds", e->seconds);
  sl_json_integer(j, "events", (int64_t)e->events);
  sl_json_number(j, "device_joules", e->device_joules < 0 ? NAN : e->device_joules);
  sl_json_number(j, "host_joules", e->host_joules < 0 ? NAN : e->host_joules);
  sl_json_string(j, "device_missing", *e->device_missing ? e->device_missing : NULL);
  sl_json_string(j, "host_missing", *e->host_missing ? e->host_missing : NULL);
  sl_json_end_object(j);
}

static void json_counts(const struct sl_session *s, struct sl_json *j) {
  const struct sl_summary *sum = sl_session_summary(s);
  char device[512] = "";
  const int is_device = sl_session_describe_device(s, device, sizeof device);
  sl_json_string(j, "device", sl_session_options(s)->device);
  sl_json_string(j, "device_description", device);
  json_devices(sum, j);
  sl_json_integer(j, "slots", sum->slots);
  sl_json_integer(j, "source_threads", sum->source_threads);
  sl_json_integer(j, "branches", sl_session_layout(s)->branch_count);
  sl_json_integer(j, "slice_events", sum->slice_events);
  sl_json_integer(j, "repeat", sum->repeat);
  sl_json_boolean(j, "interrupted", (int)sum->interrupted);
  sl_json_boolean(j, "failed", (int)sum->failed);
  sl_json_integer(j, "events", (int64_t)sum->events);
  sl_json_integer(j, "error_events", (int64_t)sum->error_events);
  sl_json_unsigned(j, "events_before", sl_session_earlier_events(s));
  sl_json_integer(j, "retries", (int64_t)sum->retries);
  sl_json_integer(j, "slices", (int64_t)sum->slices);
  sl_json_integer(j, "rotations", (int64_t)sum->rotations);
  sl_json_number(j, "seconds", sum->seconds);
  json_rate(j, "throughput_hz", sum->throughput_hz);
  sl_json_begin_array(j, "stretch_hz");
  for (uint32_t i = 0; i < sum->stretch_count; i++) sl_json_number(j, NULL, sum->stretch_hz[i]);
  sl_json_end_array(j);
  json_rate(j, "source_hz", sum->source_hz);
  json_rate(j, "wall_hz", sum->wall_hz);
  sl_json_integer(j, "bytes_up", (int64_t)sum->bytes_up);
  sl_json_integer(j, "bytes_down", (int64_t)sum->bytes_down);
  sl_json_begin_object(j, "arena");
  sl_json_integer(j, "bytes", (int64_t)sum->arena_bytes);
  sl_json_integer(j, "live_bytes_max", (int64_t)sum->live_bytes_max);
  sl_json_number(j, "ratio", sl_arena_ratio(sum));
  sl_json_end_object(j);
  sl_json_integer(j, "input_bytes", (int64_t)sum->input_bytes);
  sl_json_integer(j, "peak_rss_bytes", (int64_t)sum->peak_rss_bytes);
  sl_json_integer(j, "host_syncs_per_slice", sum->host_syncs_per_slice);
  sl_json_boolean(j, "captured_graph", is_device && !sl_session_options(s)->profile && !sl_session_options(s)->guard);
}

static void json_messages(const struct sl_session *s, struct sl_json *j) {
  const struct sl_diagnostics *d = sl_session_setup(s)->diagnostics;
  sl_json_begin_array(j, "messages");
  for (size_t i = 0; i < sl_diagnostics_count(d); i++) {
    sl_json_begin_object(j, NULL);
    sl_diagnostic_put(sl_diagnostics_at(d, i), j);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

/* null for UINT64_MAX: not known */
static void json_bytes(struct sl_json *j, const char *key, uint64_t bytes) {
  if (bytes == UINT64_MAX)
    sl_json_string(j, key, NULL); /* null */
  else
    sl_json_unsigned(j, key, bytes);
}

static void json_traffic(struct sl_json *j, uint64_t bytes_in, uint64_t bytes_out) {
  json_bytes(j, "bytes_in", bytes_in);
  json_bytes(j, "bytes_out", bytes_out);
}

static void json_times(const struct sl_session *s, struct sl_json *j) {
  static const char *const places[] = {[SL_TIME_IN_THREADS] = "threads",
                                       [SL_TIME_ON_DEVICE] = "device",
                                       [SL_TIME_BEFORE] = "before",
                                       [SL_TIME_OTHER_THREADS] = "other_threads"};
  const struct sl_summary *sum = sl_session_summary(s);
  sl_json_begin_array(j, "times");
  for (uint32_t i = 0; i < sum->time_count; i++) {
    const struct sl_time_summary *t = &sum->times[i];
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "where", places[t->where]);
    sl_json_string(j, "what", t->what);
    sl_json_number(j, "seconds", t->where == SL_TIME_ON_DEVICE && t->calls == 0 ? NAN : t->seconds);
    if (t->where == SL_TIME_IN_THREADS) sl_json_number(j, "share", t->share);
    if (t->node) {
      sl_json_string(j, "node", t->node);
      sl_json_string(j, "algorithm", t->algorithm);
      sl_json_integer(j, "calls", (int64_t)t->calls);
      sl_json_integer(j, "events", (int64_t)t->events);
      sl_json_integer(j, "launch_nodes", t->launch_nodes);
      json_traffic(j, t->bytes_in, t->bytes_out);
    }
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

static void json_tables(const struct sl_session *s, struct sl_json *j) {
  const struct sl_summary *sum = sl_session_summary(s);
  sl_json_begin_array(j, "nodes");
  for (uint32_t i = 0; i < sum->node_count; i++) {
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "name", sum->nodes[i].name);
    sl_json_string(j, "algorithm", sum->nodes[i].algorithm);
    sl_json_integer(j, "calls", (int64_t)sum->nodes[i].calls);
    sl_json_integer(j, "events", (int64_t)sum->nodes[i].events);
    const int is_timed = sum->nodes[i].calls > 0; /* if not, it is null */
    sl_json_number(j, "microseconds", is_timed ? sum->nodes[i].microseconds : NAN);
    sl_json_number(j, "share", is_timed ? sum->nodes[i].share : NAN);
    sl_json_integer(j, "launch_nodes", sum->nodes[i].launch_nodes);
    sl_json_begin_array(j, "stretch_us");
    for (uint32_t k = 0; is_timed && k < sum->stretch_count; k++) sl_json_number(j, NULL, sum->nodes[i].stretch_us[k]);
    sl_json_end_array(j);
    json_traffic(j, sum->nodes[i].bytes_in, sum->nodes[i].bytes_out);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
  sl_outputs_json(sum->outputs, sum->output_count, j);
  sl_json_begin_array(j, "budgets");
  for (uint32_t i = 0; i < sum->budget_count; i++) {
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "port", sum->budgets[i].port);
    sl_json_integer(j, "capacity", (int64_t)sum->budgets[i].capacity);
    sl_json_integer(j, "used_max", (int64_t)sum->budgets[i].used_max);
    sl_json_integer(j, "overflows", (int64_t)sum->budgets[i].overflows);
    sl_json_integer(j, "needed_max", (int64_t)sum->budgets[i].needed_max);
    sl_json_string(j, "advice", *sum->budgets[i].advice ? sum->budgets[i].advice : NULL);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
  sl_json_begin_object(j, "results");
  for (uint32_t n = 0; n < sl_session_graph(s)->node_count; n++)
    if (sl_session_sink_json(s, n)) sl_json_raw(j, sl_session_graph(s)->nodes[n].name, sl_session_sink_json(s, n));
  sl_json_end_object(j);
}

/* The sockets of ZeroMQ. */
static void json_links(const struct sl_session *s, struct sl_json *j) {
  sl_json_begin_array(j, "zmq");
  for (const struct sl_zmq_link *l = sl_session_links(s); l; l = l->next) {
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "endpoint", l->name);
    sl_json_string(j, "direction", l->is_input ? "in" : "out");
    sl_json_unsigned(j, "messages", atomic_load(&l->messages));
    sl_json_unsigned(j, "bytes", atomic_load(&l->bytes));
    sl_json_unsigned(j, "events", atomic_load(&l->events));
    if (l->is_input) {
      sl_json_unsigned(j, "senders", atomic_load(&l->senders));
      sl_json_unsigned(j, "ended", atomic_load(&l->ended));
      sl_json_unsigned(j, "lost", atomic_load(&l->lost));
      sl_json_unsigned(j, "missing", atomic_load(&l->missing));
      sl_json_unsigned(j, "repeated", atomic_load(&l->repeated));
      sl_json_unsigned(j, "refused", atomic_load(&l->refused));
    } else {
      sl_json_number(j, "waited_seconds", (double)atomic_load(&l->waited_ns) * 1e-9);
      sl_json_unsigned(j, "unsent", atomic_load(&l->unsent));
    }
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

/* The graph files merged after the graph. */
static void json_with(const struct sl_session *s, struct sl_json *j) {
  const char *const *with = sl_session_options(s)->with_paths;
  sl_json_begin_array(j, "with");
  for (; with && *with; with++) sl_json_string(j, NULL, *with);
  sl_json_end_array(j);
}

/* All configurations of the run, in order. */
static void json_configurations(const struct sl_summary *sum, struct sl_json *j) {
  sl_json_begin_array(j, "configurations");
  for (uint32_t i = 0; i < sum->configuration_count; i++) sl_json_raw(j, NULL, sum->configurations[i].json);
  sl_json_end_array(j);
}

/* The values of the conditions, in the order of their first events. */
static void json_conditions(const struct sl_session *s, struct sl_json *j) {
  const struct sl_constant_conditions *conditions = sl_session_conditions(s);
  sl_json_begin_array(j, "conditions");
  for (uint32_t i = 0; i < conditions->value_count; i++) {
    const struct sl_condition_value *v = &conditions->values[i];
    sl_json_begin_object(j, NULL);
    sl_json_unsigned(j, "value", v->value);
    sl_json_unsigned(j, "first_event", v->first_event);
    sl_json_unsigned(j, "loads", v->loads);
    sl_digest_json("checksum", v->checksum, j);
    sl_json_string(j, "error", v->reason);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

int sl_session_write_json(const struct sl_session *s, FILE *file) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  const struct sl_summary *sum = sl_session_summary(s);
  struct sl_json j;
  sl_json_begin(&j);
  sl_json_begin_object(&j, NULL);
  sl_json_string(&j, "sluice_version", sl_version());
  sl_json_string(&j, "commit", sl_commit());
  sl_json_string(&j, "status", sum->status);
  sl_json_integer(&j, "exit", sum->exit_status);
  sl_json_string(&j, "started", sum->started);
  sl_json_string(&j, "graph", sl_session_options(s)->graph_path);
  json_with(s, &j);
  sl_digest_json("graph_digest", sum->graph_digest, &j);
  sl_json_string(&j, "graph_text", sl_session_graph(s)->text);
  sl_origin_json(s, &j);
  json_plugins(s, &j);
  json_counts(s, &j);
  json_plan(s, &j);
  json_energy(&j, sum->energy);
  const char *offset = sl_session_options(s)->feed ? "entry" : "byte";
  sl_errors_json("errors", sum->errors, sum->error_count, offset, &j);
  sl_errors_json("truncations", sum->truncations, sum->truncation_count, offset, &j);
  json_messages(s, &j);
  json_times(s, &j);
  json_tables(s, &j);
  sl_totals_json(sum->totals, sum->total_count, &j);
  json_configurations(sum, &j);
  json_conditions(s, &j);
  json_links(s, &j);
  sl_event_records_json(sl_session_event_records(s), &j);
  sl_json_end_object(&j);
  return sl_json_finish(&j, file);
}

int sl_session_write_report(struct sl_session *s) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  struct sl_text_file text;
  int failed = !sl_text_open(&text) || sl_session_write_json(s, text.file) < 0;
  failed |= sl_text_close(&text) < 0;
  const int status = sl_session_put_report(s, failed ? NULL : text.text, text.bytes);
  free(text.text);
  return status;
}
