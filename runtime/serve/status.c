/* status.c: writes /status.json, about once a second. docs/live.md describes its members. Fractions and rates with
 * "recent" in their names, and shares of time, are those of the last SL_RATE_SECONDS seconds. */
#include "serve/status.h"

#include "base/clock.h"
#include "base/json.h"
#include "execute/conditions.h"
#include "execute/replan.h"
#include "input/follow.h"
#include "observe/energy.h"
#include "results/configurations.h"
#include "results/drawings.h"
#include "results/sums_json.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WAITING_SECONDS = 2, VALUES_SHOWN = 16 };

static const struct sl_summary *summary_of(const struct sl_status *s) { return &s->measures->live.statistics->summary; }

/* Six digits are enough for a page, and cost a fraction of all digits. */
static void put(struct sl_json *j, const char *key, double value) {
  char text[32];
  snprintf(text, sizeof text, "%.6g", value);
  sl_json_raw(j, key, isfinite(value) ? text : "null");
}

static double ratio(double count, double of) { return of > 0 ? count / of : NAN; }

/* ------------------------------------------------------------------------------------------------ the run */

static void put_time(struct sl_json *j, const char *key) {
  char text[32];
  struct tm utc;
  const time_t now = time(NULL);
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  sl_json_string(j, key, text);
}

static void put_command(const struct sl_options *o, struct sl_json *j) {
  char text[2048];
  size_t used = 0;
  *text = '\0';
  for (const char *const *word = o->command_line; word && *word && used < sizeof text; word++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "", *word);
  sl_json_string(j, "command", *text ? text : NULL);
}

static void put_version(struct sl_json *j) {
  sl_json_begin_object(j, "sluice");
  sl_json_string(j, "version", sl_version());
  sl_json_string(j, "commit", sl_commit());
  sl_json_end_object(j);
}

static void put_state(const struct sl_status *s, struct sl_json *j) {
  const double idle = (double)(s->measures->now_ns - s->measures->last_event_ns) * 1e-9;
  const int is_waiting = !s->state_of_end && idle >= WAITING_SECONDS;
  sl_json_string(j, "state", s->state_of_end ? "ended" : is_waiting ? "waiting" : "running");
  put(j, "waiting_seconds", is_waiting ? idle : 0);
  sl_json_string(j, "status", s->state_of_end);
}

static void put_run(const struct sl_status *s, struct sl_json *j) {
  const struct sl_live *live = &s->measures->live;
  const struct sl_options *o = &live->setup->options;
  char device[512] = "", host[256] = "";
  sl_json_begin_object(j, "graph");
  sl_json_string(j, "name", o->graph_path);
  sl_digest_json("digest", live->outputs->identity->run.graph_digest, j);
  sl_json_end_object(j);
  (void)sl_session_describe_device(s->session, device, sizeof device);
  sl_json_string(j, "device", o->device);
  sl_json_string(j, "device_description", device);
  sl_json_integer(j, "slots", live->setup->slot_count);
  sl_json_integer(j, "process", getpid());
  gethostname(host, sizeof host - 1);
  sl_json_string(j, "host", host);
  put_command(o, j);
  sl_json_string(j, "started", summary_of(s)->started);
  put_time(j, "now");
}

static void put_progress(const struct sl_status *s, struct sl_json *j) {
  const struct sl_delivery *d = s->measures->live.delivery;
  if (d->progress_total == 0) {
    sl_json_string(j, "progress", NULL);
    return;
  }
  sl_json_begin_object(j, "progress");
  sl_json_unsigned(j, "done", d->progress_done);
  sl_json_unsigned(j, "total", d->progress_total);
  sl_json_end_object(j);
}

static void put_rates(const struct sl_status *s, struct sl_json *j) {
  const struct sl_measures *m = s->measures;
  const struct sl_delivery *d = m->live.delivery;
  const double seconds = (double)(m->now_ns - m->live.setup->begin_ns) * 1e-9;
  put(j, "seconds", seconds);
  sl_json_unsigned(j, "events", d->events);
  sl_json_unsigned(j, "error_events", d->error_events);
  put(j, "rate_hz", sl_measures_hz(m, SL_RATE_SECONDS));
  put(j, "mean_hz", ratio((double)(d->events - d->earlier_events), seconds));
  sl_json_raw(j, "rate_history", sl_points_text(&m->points, 0));
  put_progress(s, j);
}

/* ------------------------------------------------------------------------------------------------ entries */

/* The deviation from the reference in standard deviations of both counts. */
static double deviation(double count, double events, double expected, double reference_events) {
  const double scale = events / reference_events;
  return (count - expected * scale) / sqrt(count + expected * scale * scale + 1);
}

static void put_row(const struct sl_status *s, const struct sl_total_summary *t, uint32_t entry, uint32_t index,
                    struct sl_json *j) {
  const struct sl_measures *m = s->measures;
  const double count = (double)t->values[entry], events = (double)m->live.delivery->events;
  const double recent = (double)sl_recent_change(&m->entries, index, SL_RATE_SECONDS);
  const double expected = m->expected[index];
  const double reference = ratio(expected, s->reference->events);
  sl_json_begin_object(j, NULL);
  sl_json_string(j, "name", t->names[entry]);
  sl_json_unsigned(j, "count", t->values[entry]);
  put(j, "hz", ratio(recent, sl_measures_seconds(m, SL_RATE_SECONDS)));
  put(j, "fraction", ratio(count, events));
  put(j, "recent_fraction", ratio(recent, (double)sl_measures_events(m, SL_RATE_SECONDS)));
  put(j, "reference_fraction", reference);
  put(j, "ratio", ratio(ratio(count, events), reference));
  put(j, "sigma",
      events > 0 && s->reference->events > 0 ? deviation(count, events, expected, s->reference->events) : NAN);
  sl_json_raw(j, "history", sl_points_text(&m->points, 1 + index));
  sl_json_end_object(j);
}

static void put_entries(const struct sl_status *s, struct sl_json *j) {
  sl_json_begin_array(j, "entries");
  for (uint32_t i = 0; i < s->measures->total_count; i++) {
    const struct sl_measured_total *at = &s->measures->totals[i];
    const struct sl_total_summary *t = &summary_of(s)->totals[at->total];
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "output", t->port);
    sl_json_string(j, "field", t->field);
    sl_json_string(j, "label", t->label);
    sl_json_string(j, "doc", t->doc);
    sl_json_string(j, "unit", t->unit);
    sl_json_boolean(j, "is_rate", at->is_rate);
    sl_json_begin_array(j, "rows");
    for (uint32_t e = 0; e < t->entries; e++) put_row(s, t, e, at->first_entry + e, j);
    sl_json_end_array(j);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

/* Few totals without names; those of histograms have many values. */
static void put_totals(const struct sl_status *s, struct sl_json *j) {
  sl_json_begin_array(j, "totals");
  for (uint32_t k = 0; k < summary_of(s)->total_count; k++) {
    const struct sl_total_summary *t = &summary_of(s)->totals[k];
    const uint64_t count = (uint64_t)t->entries * t->width;
    if (t->label || count > VALUES_SHOWN) continue;
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "output", t->port);
    sl_json_string(j, "field", t->field);
    sl_json_string(j, "unit", t->unit);
    sl_json_string(j, "doc", t->doc);
    sl_json_begin_array(j, "values");
    for (uint64_t i = 0; i < count; i++)
      if (t->is_signed)
        sl_json_integer(j, NULL, (int64_t)t->values[i]);
      else
        sl_json_unsigned(j, NULL, t->values[i]);
    sl_json_end_array(j);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

/* ------------------------------------------------------------------------------------------------- errors */

static void put_errors(const char *key, const struct sl_event_errors *errors, const struct sl_recent *recent,
                       struct sl_json *j) {
  sl_json_begin_array(j, key);
  for (uint32_t i = 0; i < errors->count; i++) {
    const struct sl_error_summary *e = &errors->summaries[i];
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "node", e->node);
    sl_json_string(j, "reason", e->reason);
    sl_json_unsigned(j, "count", e->count);
    sl_json_unsigned(j, "recent", sl_recent_change(recent, i, SL_RATE_SECONDS));
    sl_json_begin_object(j, "first");
    sl_json_unsigned(j, "run", e->first.run);
    sl_json_unsigned(j, "number", e->first.number);
    sl_json_string(j, "file", e->first_file);
    sl_json_end_object(j);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

void sl_status_see_messages(struct sl_status *s) {
  const double seconds = (double)(sl_now_ns() - s->measures->live.setup->begin_ns) * 1e-9;
  const size_t count = sl_diagnostics_count(s->diagnostics);
  for (; s->seen_count < count; s->seen_count++)
    s->log[s->seen_count % SL_LOG_LINES] =
        (struct sl_seen){sl_diagnostics_at(s->diagnostics, s->seen_count), seconds > 0 ? seconds : 0};
}

static void put_log(const struct sl_status *s, struct sl_json *j) {
  static const char *const severities[] = {[SL_NOTE] = "note", [SL_WARNING] = "warning", [SL_ERROR] = "error"};
  sl_json_begin_array(j, "log");
  for (size_t i = s->seen_count < SL_LOG_LINES ? 0 : s->seen_count - SL_LOG_LINES; i < s->seen_count; i++) {
    const struct sl_seen *seen = &s->log[i % SL_LOG_LINES];
    const struct sl_diagnostic *message = seen->message;
    char location[512];
    snprintf(location, sizeof location, "%s:%u:%u", message->file ? message->file : "", message->line, message->column);
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "severity", severities[message->severity]);
    put(j, "seconds", floor(10 * seen->seconds) / 10);
    sl_json_string(j, "node", message->node);
    sl_json_string(j, "text", message->message);
    sl_json_string(j, "location", message->file && message->line ? location : message->file);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

/* -------------------------------------------------------------------------------------------------- times */

static void put_share(const struct sl_status *s, const char *what, const struct sl_node *node, uint32_t row,
                      uint64_t ns, struct sl_json *j) {
  const struct sl_measures *m = s->measures;
  const double recent = (double)sl_recent_change(&m->times, row, SL_RATE_SECONDS) * 1e-9;
  if (ns == 0) return;
  sl_json_begin_object(j, NULL);
  sl_json_string(j, "what", what);
  sl_json_string(j, "node", node ? node->name : NULL);
  sl_json_string(j, "algorithm", node ? node->use : NULL);
  put(j, "seconds", (double)ns * 1e-9);
  put(j, "share", ratio(recent, sl_measures_seconds(m, SL_RATE_SECONDS) * m->live.setup->slot_count));
  sl_json_end_object(j);
}

/* The time of kernels on a device is not time of a thread, and is measured with --profile only. */
static void put_times(const struct sl_status *s, struct sl_json *j) {
  const struct sl_live *live = &s->measures->live;
  const struct sl_graph *g = live->setup->graph;
  const struct sl_metrics *metrics = live->metrics;
  const int is_device = live->setup->backend->is_device != 0;
  sl_json_begin_object(j, "times");
  sl_json_begin_array(j, "threads");
  for (uint32_t n = 0; n < g->node_count; n++) {
    const uint32_t kind = g->nodes[n].algorithm->kind, row = SL_ACTIVITY_OF_NODE(n);
    if (kind == SL_KIND_CONSTANT || (kind == SL_KIND_KERNEL && is_device)) continue;
    const char *what = kind == SL_KIND_SOURCE ? "source" : kind == SL_KIND_SINK ? "sink" : "kernels";
    put_share(s, what, &g->nodes[n], row, metrics->times[row], j);
  }
  for (uint32_t row = 0; row < SL_ACTIVITIES; row++)
    put_share(s, sl_activity_name(row), NULL, row, metrics->times[row], j);
  sl_json_end_array(j);
  sl_json_begin_array(j, "device");
  for (uint32_t i = 0; i < summary_of(s)->node_count && is_device; i++)
    put_share(s, "kernels", &g->nodes[live->statistics->kernel_nodes[i]], s->measures->time_count + i,
              metrics->node_ns[i], j);
  sl_json_end_array(j);
  sl_json_end_object(j);
}

static void put_budgets(const struct sl_status *s, struct sl_json *j) {
  const struct sl_live *live = &s->measures->live;
  const struct sl_layout *l = atomic_load(&live->statistics->parts.replan->newest);
  sl_json_begin_array(j, "budgets");
  for (uint32_t b = 0; b < summary_of(s)->budget_count; b++) {
    const struct sl_budget_entry *entry = &live->history->budgets[b];
    const uint64_t capacity = l->members[entry->node][entry->member].capacities[entry->bound];
    const uint64_t used = live->metrics->used_max[b];
    if (used == 0 && live->history->overflows[entry->word] == 0) continue;
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "buffer", live->statistics->budgets[b].port);
    sl_json_unsigned(j, "capacity", capacity);
    sl_json_unsigned(j, "used_max", used);
    put(j, "fill", ratio((double)used, (double)capacity));
    sl_json_unsigned(j, "overflows", live->history->overflows[entry->word]);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
  sl_json_begin_object(j, "plan");
  sl_json_unsigned(j, "arena_bytes", l->arena_bytes);
  sl_json_unsigned(j, "changes", l->plan);
  sl_json_unsigned(j, "retries", live->metrics->retries);
  sl_json_end_object(j);
}

static void put_energy(const struct sl_status *s, struct sl_json *j) {
  double device, host;
  sl_energy_so_far(s->measures->live.metrics->energy, &device, &host);
  if (device < 0 && host < 0) {
    sl_json_string(j, "energy", NULL);
    return;
  }
  sl_json_begin_object(j, "energy");
  put(j, "device_joules", device < 0 ? NAN : device);
  put(j, "processor_joules", host < 0 ? NAN : host);
  sl_json_end_object(j);
}

/* ---------------------------------------------------------------------------------------- inputs and files */

/* The configurations of the run; the last one goes on. */
static void put_configurations(const struct sl_status *s, struct sl_json *j) {
  const struct sl_live *live = &s->measures->live;
  const struct sl_configurations *c = live->metrics->configurations;
  uint64_t first = 0;
  sl_json_begin_array(j, "configurations");
  for (uint32_t i = 0; i <= c->count; i++) {
    const int is_last = i == c->count;
    sl_json_begin_object(j, NULL);
    sl_digest_json("digest", is_last ? live->outputs->identity->run.graph_digest : c->at[i].graph_digest, j);
    sl_json_unsigned(j, "first_event", first);
    sl_json_unsigned(j, "events", is_last ? live->delivery->events - first : c->at[i].events);
    sl_json_end_object(j);
    if (!is_last) first = c->at[i].first_event + c->at[i].events;
  }
  sl_json_end_array(j);
}

/* The run number of the present conditions. */
static void put_conditions(const struct sl_status *s, struct sl_json *j) {
  const struct sl_conditions *c = s->measures->live.setup->conditions;
  put(j, "conditions_run", c ? (double)c->value : NAN);
}

static void put_outputs(const struct sl_status *s, struct sl_json *j) {
  const struct sl_files *files = s->measures->live.files;
  sl_json_begin_array(j, "outputs");
  for (uint32_t i = 0; i < files->count; i++) {
    const struct sl_file *file = &files->at[i];
    if (!file->of_sink) continue;
    const double bytes = sl_disks_file_bytes(files, file->path);
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "path", file->path);
    put(j, "bytes", bytes < 0 ? NAN : bytes);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
  sl_json_begin_array(j, "disks");
  for (uint32_t i = 0; i < s->disks->count; i++) {
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "folder", s->disks->at[i].folder);
    sl_json_number(j, "free_bytes", s->disks->at[i].free_bytes);
    sl_json_number(j, "total_bytes", s->disks->at[i].total_bytes);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

static void put_follow(const struct sl_status *s, struct sl_json *j) {
  struct sl_follow *follow = s->measures->live.setup->options.follow;
  if (!follow) {
    sl_json_string(j, "follow", NULL);
    return;
  }
  const struct sl_follow_summary files = sl_follow_count(follow);
  sl_json_begin_object(j, "follow");
  sl_json_string(j, "folder", files.folder);
  sl_json_unsigned(j, "taken", files.taken);
  sl_json_unsigned(j, "refused", files.refused);
  sl_json_unsigned(j, "late", files.late);
  sl_json_unsigned(j, "waiting", files.waiting);
  sl_json_unsigned(j, "moved", files.moved);
  sl_json_end_object(j);
}

static void put_links(const struct sl_status *s, struct sl_json *j) {
  sl_json_begin_array(j, "links");
  for (const struct sl_zmq_link *l = s->measures->live.zmq->links; l; l = l->next) {
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "name", l->name);
    sl_json_boolean(j, "is_input", l->is_input);
    sl_json_unsigned(j, "messages", atomic_load(&l->messages));
    sl_json_unsigned(j, "bytes", atomic_load(&l->bytes));
    sl_json_unsigned(j, "events", atomic_load(&l->events));
    sl_json_unsigned(j, "missing", atomic_load(&l->missing));
    sl_json_unsigned(j, "lost", atomic_load(&l->lost));
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

/* The sinks that can draw an event, and the names by which events can be chosen. */
static void put_drawings(const struct sl_status *s, struct sl_json *j) {
  const struct sl_drawings *d = sl_session_drawings(s->session);
  sl_json_begin_object(j, "drawings");
  sl_json_begin_array(j, "sinks");
  for (uint32_t i = 0; d && i < d->drawer_count; i++) sl_json_string(j, NULL, d->drawers[i].name);
  sl_json_end_array(j);
  sl_json_begin_array(j, "names");
  for (uint32_t g = 0; d && d->drawer_count > 0 && g < d->group_count; g++) {
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "label", d->names[g].label);
    sl_json_begin_array(j, "names");
    for (uint32_t i = 0; i < d->names[g].count; i++) sl_json_string(j, NULL, d->names[g].names[i]);
    sl_json_end_array(j);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
  sl_json_end_object(j);
}

void sl_status_write(struct sl_status *s, struct sl_json *j) {
  sl_json_begin_object(j, NULL);
  put_version(j);
  put_state(s, j);
  put_run(s, j);
  put_rates(s, j);
  sl_alarms_write_json(s->alarms, s->measures->now_ns, j);
  put_entries(s, j);
  put_totals(s, j);
  put_errors("errors", &s->measures->live.delivery->errors, &s->measures->errors, j);
  put_errors("truncations", &s->measures->live.delivery->truncations, &s->measures->truncations, j);
  put_times(s, j);
  put_budgets(s, j);
  put_energy(s, j);
  sl_reference_write_status(s->reference, j);
  put_configurations(s, j);
  put_conditions(s, j);
  put_outputs(s, j);
  put_follow(s, j);
  put_links(s, j);
  put_drawings(s, j);
  put_log(s, j);
  sl_json_end_object(j);
}

void sl_status_write_idle(struct sl_json *j) {
  static const char *const lists[] = {"alarms",  "entries", "totals", "errors", "truncations",
                                      "budgets", "outputs", "disks",  "links",  "log"};
  sl_json_begin_object(j, NULL);
  put_version(j);
  sl_json_string(j, "state", "waiting");
  put(j, "waiting_seconds", NAN);
  sl_json_string(j, "status", NULL);
  sl_json_begin_object(j, "graph");
  sl_json_string(j, "name", NULL);
  sl_json_end_object(j);
  put_time(j, "now");
  sl_json_unsigned(j, "events", 0);
  sl_json_unsigned(j, "error_events", 0);
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    sl_json_begin_array(j, lists[i]);
    sl_json_end_array(j);
  }
  sl_json_raw(j, "times", "{\"threads\": [], \"device\": []}");
  sl_json_raw(j, "drawings", "{\"sinks\": [], \"names\": []}");
  sl_json_end_object(j);
}
