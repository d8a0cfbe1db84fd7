/* metrics.c: progress of a run as a text file in the Prometheus format, for the textfile collector of node_exporter.
 *
 * The file is rewritten about once a second and renamed into place, so that a reader always finds a complete file. Each
 * slot counts for itself and adds its counts to the sums when it has delivered a slice, with the delivery lock held, so
 * that the writing thread reads no value that another thread is changing. A file that cannot be written is a warning:
 * monitoring does not end a run.
 */
#include "observe/metrics.h"

#include "base/clock.h"
#include "base/text_file.h"
#include "execute/conditions.h"
#include "execute/replan.h"
#include "observe/energy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Upper edges of the histogram of slice times, in microseconds. */
static const uint32_t edges_us[SL_METRICS_EDGES] = {100,   200,    500,    1000,   2000,    5000,    10000,  20000,
                                                    50000, 100000, 200000, 500000, 1000000, 2000000, 5000000};

static const struct sl_setup *setup_of(const struct sl_metrics *m) { return m->statistics->parts.setup; }

/* Number of rows: activities and nodes. */
static uint32_t row_count(const struct sl_setup *s) { return SL_ACTIVITY_OF_NODE(s->graph->node_count); }

static int open_slot(const struct sl_metrics *m, struct sl_metrics_slot *slot) {
  const uint32_t nodes = m->statistics->summary.node_count + 1;
  slot->node_ns = calloc(nodes, sizeof *slot->node_ns);
  slot->node_events = calloc(nodes, sizeof *slot->node_events);
  slot->times = calloc(row_count(setup_of(m)), sizeof *slot->times);
  return slot->node_ns && slot->node_events && slot->times ? SL_OK : SL_ENOMEM;
}

static void write_metrics(struct sl_metrics *m);

static void write_locked(struct sl_metrics *m) {
  pthread_mutex_lock(&m->delivery->lock);
  write_metrics(m);
  pthread_mutex_unlock(&m->delivery->lock);
}

static int open_counts(struct sl_metrics *m) {
  const struct sl_setup *s = setup_of(m);
  const struct sl_summary *sum = &m->statistics->summary;
  m->node_ns = calloc(sum->node_count + 1, sizeof *m->node_ns);
  m->node_events = calloc(sum->node_count + 1, sizeof *m->node_events);
  m->times = calloc(row_count(s), sizeof *m->times);
  m->used_max = calloc(sum->budget_count + 1, sizeof *m->used_max);
  m->slots = calloc(s->slot_count, sizeof *m->slots);
  if (!m->node_ns || !m->node_events || !m->times || !m->used_max || !m->slots) return SL_ENOMEM;
  for (uint32_t i = 0; i < s->slot_count; i++)
    if (open_slot(m, &m->slots[i]) < 0) return SL_ENOMEM;
  return SL_OK;
}

static void close_counts(struct sl_metrics *m) {
  for (uint32_t i = 0; m->slots && i < setup_of(m)->slot_count; i++) {
    free(m->slots[i].node_ns);
    free(m->slots[i].node_events);
    free(m->slots[i].times);
  }
  free(m->slots);
  free(m->node_ns);
  free(m->node_events);
  free(m->times);
  free(m->used_max);
  m->slots = NULL;
  m->node_ns = m->node_events = m->times = m->used_max = NULL;
}

int sl_metrics_open(struct sl_metrics *m, int is_served) {
  const struct sl_setup *s = setup_of(m);
  m->has_file = s->options.metrics_path != NULL;
  if (!m->has_file && !is_served) return SL_OK;
  if (open_counts(m) < 0) return SL_ENOMEM;
  m->is_open = 1;
  m->tick_ns = s->begin_ns;
  m->tick_events = m->delivery->events;
  write_locked(m);
  return SL_OK;
}

/* Adds the counts of the slot since its last call to the sums. */
static void publish(struct sl_metrics *m, const struct sl_slot *slot) {
  const struct sl_statistics *st = m->statistics;
  const struct sl_account *a = &st->parts.times->slots[slot->index];
  struct sl_metrics_slot *before = &m->slots[slot->index];
  for (uint32_t i = 0; i < st->summary.node_count; i++) {
    const uint32_t n = st->kernel_nodes[i];
    m->node_ns[i] += a->node_ns[n] - before->node_ns[i];
    m->node_events[i] += a->node_events[n] - before->node_events[i];
    before->node_ns[i] = a->node_ns[n];
    before->node_events[i] = a->node_events[n];
  }
  for (uint32_t row = 0; row < row_count(st->parts.setup); row++) {
    const uint64_t ns = row < SL_ACTIVITIES ? a->ns[row] : a->node_ns[row - SL_ACTIVITIES];
    m->times[row] += ns - before->times[row];
    before->times[row] = ns;
  }
  for (uint32_t b = 0; b < st->summary.budget_count; b++) {
    const uint64_t used = slot->used_max[st->parts.history->budgets[b].word];
    if (used > m->used_max[b]) m->used_max[b] = used;
  }
  m->retries += slot->retries - before->retries;
  before->retries = slot->retries;
}

static void end_slice(void *context, struct sl_slot *slot, uint64_t slice_ns) {
  struct sl_metrics *m = context;
  uint32_t bucket = 0;
  const struct sl_scope scope = sl_scope_begin(slot, SL_ACTIVITY_METRICS);
  pthread_mutex_lock(&m->delivery->lock);
  while (bucket < SL_METRICS_EDGES && slice_ns > 1000ull * edges_us[bucket]) bucket++;
  m->slices[bucket]++;
  m->slice_ns += slice_ns;
  m->device_slices[slot->device_state->index]++;
  publish(m, slot);
  pthread_mutex_unlock(&m->delivery->lock);
  sl_scope_end(slot, scope);
}

/* Events per second since the last call. */
static void measure(struct sl_metrics *m, uint64_t now_ns) {
  const uint64_t ns = now_ns - m->tick_ns, events = m->delivery->events - m->tick_events;
  m->hz = ns > 0 ? (double)events * 1e9 / (double)ns : 0;
  m->tick_ns = now_ns;
  m->tick_events = m->delivery->events;
}

static int tick(void *context, uint64_t now_ns) {
  measure(context, now_ns);
  write_metrics(context);
  return SL_OK;
}

const struct sl_observer_calls sl_metrics_observer = {.slice_end = end_slice, .tick = tick};

/* ------------------------------------------------------------------------------------------------- text */

static void describe(FILE *f, const char *name, const char *type, const char *help) {
  fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void counter(FILE *f, const char *name, const char *help, uint64_t value) {
  describe(f, name, "counter", help);
  fprintf(f, "%s %" PRIu64 "\n", name, value);
}

static void gauge(FILE *f, const char *name, const char *help, uint64_t value) {
  describe(f, name, "gauge", help);
  fprintf(f, "%s %" PRIu64 "\n", name, value);
}

static void write_slices(const struct sl_metrics *m, FILE *f) {
  uint64_t sum = 0;
  describe(f, "sluice_slice_seconds", "histogram", "Time of a slice, from its start until it was delivered.");
  for (uint32_t b = 0; b < SL_METRICS_EDGES; b++) {
    sum += m->slices[b];
    fprintf(f, "sluice_slice_seconds_bucket{le=\"%g\"} %" PRIu64 "\n", edges_us[b] * 1e-6, sum);
  }
  sum += m->slices[SL_METRICS_EDGES];
  fprintf(f, "sluice_slice_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n", sum);
  fprintf(f, "sluice_slice_seconds_sum %.6f\nsluice_slice_seconds_count %" PRIu64 "\n", (double)m->slice_ns * 1e-9,
          sum);
}

static void write_devices(const struct sl_metrics *m, FILE *f) {
  const struct sl_setup *s = setup_of(m);
  describe(f, "sluice_device_slices_total", "counter", "Slices that a device ran and that were delivered.");
  for (uint32_t d = 0; d < s->device_count; d++)
    fprintf(f, "sluice_device_slices_total{device=\"%s\"} %" PRIu64 "\n", s->devices[d].name, m->device_slices[d]);
  describe(f, "sluice_device_lost", "gauge", "1 if the device has failed and its slices run on other devices.");
  for (uint32_t d = 0; d < s->device_count; d++)
    fprintf(f, "sluice_device_lost{device=\"%s\"} %d\n", s->devices[d].name, sl_device_is_lost(m->order, d));
}

/* The time of nodes on a device is measured with --profile only. */
static void write_nodes(const struct sl_metrics *m, FILE *f) {
  const struct sl_setup *s = setup_of(m);
  if (s->backend->is_device && !s->options.profile) return;
  describe(f, "sluice_node_seconds_total", "counter", "Time of the kernels of a node, summed over slots.");
  for (uint32_t i = 0; i < m->statistics->summary.node_count; i++)
    fprintf(f, "sluice_node_seconds_total{node=\"%s\",algorithm=\"%s\"} %.6f\n", m->statistics->nodes[i].name,
            m->statistics->nodes[i].algorithm, (double)m->node_ns[i] * 1e-9);
  describe(f, "sluice_node_events_total", "counter", "Events that a node ran on.");
  for (uint32_t i = 0; i < m->statistics->summary.node_count; i++)
    fprintf(f, "sluice_node_events_total{node=\"%s\",algorithm=\"%s\"} %" PRIu64 "\n", m->statistics->nodes[i].name,
            m->statistics->nodes[i].algorithm, m->node_events[i]);
}

/* The time of kernels on a device is not time of a thread. */
static void write_times(const struct sl_metrics *m, FILE *f) {
  const struct sl_setup *s = setup_of(m);
  describe(f, "sluice_thread_seconds_total", "counter", "Time of the threads of the slots by activity.");
  for (uint32_t n = 0; n < s->graph->node_count; n++) {
    const struct sl_node *node = &s->graph->nodes[n];
    const uint32_t kind = node->algorithm->kind;
    if (node->order == UINT32_MAX || kind == SL_KIND_CONSTANT || (kind == SL_KIND_KERNEL && s->backend->is_device))
      continue;
    fprintf(f, "sluice_thread_seconds_total{what=\"%s\",node=\"%s\"} %.6f\n",
            kind == SL_KIND_SOURCE ? "source"
            : kind == SL_KIND_SINK ? "sink"
                                   : "kernels",
            node->name, (double)m->times[SL_ACTIVITY_OF_NODE(n)] * 1e-9);
  }
  for (uint32_t row = 0; row < SL_ACTIVITIES; row++)
    fprintf(f, "sluice_thread_seconds_total{what=\"%s\",node=\"\"} %.6f\n", sl_activity_name(row),
            (double)m->times[row] * 1e-9);
}

static void write_budgets(const struct sl_metrics *m, FILE *f) {
  const uint32_t count = m->statistics->summary.budget_count;
  const struct sl_layout *l = atomic_load(&m->statistics->parts.replan->newest);
  describe(f, "sluice_buffer_capacity", "gauge",
           "Capacity of a buffer per slice in the newest plan, in items or bytes.");
  for (uint32_t b = 0; b < count; b++) {
    const struct sl_budget_entry *entry = &m->statistics->parts.history->budgets[b];
    fprintf(f, "sluice_buffer_capacity{buffer=\"%s\"} %" PRIu64 "\n", m->statistics->budgets[b].port,
            l->members[entry->node][entry->member].capacities[entry->bound]);
  }
  describe(f, "sluice_buffer_used_max", "gauge", "Maximum used by a slice of a buffer, in items or bytes.");
  for (uint32_t b = 0; b < count; b++)
    fprintf(f, "sluice_buffer_used_max{buffer=\"%s\"} %" PRIu64 "\n", m->statistics->budgets[b].port, m->used_max[b]);
}

/* Labels of an entry: its name, or its index. */
static void write_entry(const struct sl_total_summary *t, uint64_t entry, FILE *f) {
  fprintf(f, "sluice_output_total{output=\"%s\",field=\"%s\",", t->port, t->field);
  if (t->label)
    fprintf(f, "%s=\"%s\"", t->label, t->names[entry]);
  else
    fprintf(f, "entry=\"%" PRIu64 "\"", entry);
}

static void write_totals(const struct sl_metrics *m, FILE *f) {
  if (m->statistics->summary.total_count == 0) return;
  describe(f, "sluice_output_total", "counter", "Sum of the counts of a totals output over the run, per entry.");
  for (uint32_t k = 0; k < m->statistics->summary.total_count; k++) {
    const struct sl_total_summary *t = &m->statistics->summary.totals[k];
    for (uint64_t i = 0; i < (uint64_t)t->entries * t->width; i++) {
      write_entry(t, i / t->width, f);
      if (t->width > 1) fprintf(f, ",value=\"%" PRIu64 "\"", i % t->width);
      fprintf(f, t->is_signed ? "} %" PRId64 "\n" : "} %" PRIu64 "\n", t->values[i]);
    }
  }
}

/* Writes a label value with backslash, quote and new line escaped. */
static void write_label(const char *text, FILE *f) {
  for (; *text; text++) {
    if (*text == '\\' || *text == '"') fputc('\\', f);
    fputs(*text == '\n' ? "\\n" : (const char[]){*text, '\0'}, f);
  }
}

static void write_errors(const struct sl_event_errors *errors, const char *name, const char *help, FILE *f) {
  if (errors->count == 0) return;
  describe(f, name, "counter", help);
  for (uint32_t i = 0; i < errors->count; i++) {
    const struct sl_error_summary *e = &errors->summaries[i];
    fprintf(f, "%s{node=\"%s\",reason=\"", name, e->node);
    write_label(e->reason, f);
    fprintf(f, "\"} %" PRIu64 "\n", e->count);
  }
}

static void write_energy(const struct sl_metrics *m, FILE *f) {
  double joules[2];
  static const char *const of[] = {"device", "processors"};
  sl_energy_so_far(m->energy, &joules[0], &joules[1]);
  if (joules[0] < 0 && joules[1] < 0) return;
  describe(f, "sluice_energy_joules_total", "counter",
           "Energy of whole devices and processors; of the repeats, if any.");
  for (uint32_t i = 0; i < 2; i++)
    if (joules[i] >= 0) fprintf(f, "sluice_energy_joules_total{of=\"%s\"} %.6g\n", of[i], joules[i]);
}

/* A counter of all inputs or all outputs. */
static void write_link_counter(const struct sl_zmq *z, int of_inputs, const char *name, const char *help, size_t offset,
                               double unit, FILE *f) {
  int is_described = 0;
  for (const struct sl_zmq_link *l = z->links; l; l = l->next) {
    if (l->is_input != of_inputs) continue;
    if (!is_described) describe(f, name, "counter", help);
    is_described = 1;
    fprintf(f, "%s{endpoint=\"", name);
    write_label(l->name, f);
    const uint64_t value = atomic_load((const atomic_uint_fast64_t *)(const void *)((const char *)l + offset));
    fprintf(f, "\"} %.15g\n", (double)value * unit);
  }
}

static void write_links(const struct sl_zmq *z, FILE *f) {
#define COUNTER(of_inputs, name, member, unit, help) \
  write_link_counter(z, of_inputs, "sluice_zmq_" name "_total", help, offsetof(struct sl_zmq_link, member), unit, f)
  COUNTER(1, "received_messages", messages, 1, "Messages received, without repeated and refused ones.");
  COUNTER(1, "received_bytes", bytes, 1, "Bytes of the payloads received.");
  COUNTER(1, "received_events", events, 1, "Events received, as stated by the senders.");
  COUNTER(1, "missing_messages", missing, 1, "Messages missing in the sequences of the senders.");
  COUNTER(1, "repeated_messages", repeated, 1, "Messages dropped because they were received before.");
  COUNTER(1, "refused_messages", refused, 1, "Messages with wrong frames.");
  COUNTER(1, "senders", senders, 1, "Senders that began.");
  COUNTER(1, "ended_senders", ended, 1, "Senders that sent their end.");
  COUNTER(1, "lost_senders", lost, 1, "Times that a sender was disconnected before its end.");
  COUNTER(0, "sent_messages", messages, 1, "Messages passed to ZeroMQ.");
  COUNTER(0, "sent_bytes", bytes, 1, "Bytes of the payloads passed to ZeroMQ.");
  COUNTER(0, "sent_events", events, 1, "Events passed to ZeroMQ.");
  COUNTER(0, "unsent_messages", unsent, 1, "Messages that were not sent before the run ended.");
  COUNTER(0, "waiting_seconds", waited_ns, 1e-9, "Time in which no receiver had room.");
#undef COUNTER
}

static void write_follow(struct sl_follow *follow, FILE *f) {
  const struct sl_follow_summary files = sl_follow_count(follow);
  counter(f, "sluice_files_taken_total", "Files of the followed folder that were opened and read.", files.taken);
  counter(f, "sluice_files_refused_total", "Files that were not read, or not to the end.", files.refused);
  counter(f, "sluice_files_late_total", "Files with a name before that of a file taken earlier.", files.late);
  counter(f, "sluice_files_moved_total", "Files moved to the folder for processed files.", files.moved);
  gauge(f, "sluice_files_waiting", "Complete files that were not taken yet.", files.waiting);
}

void sl_metrics_write(const struct sl_metrics *m, FILE *f) {
  const struct sl_setup *s = setup_of(m);
  const struct sl_delivery *d = m->delivery;
  const struct sl_run *run = &m->statistics->parts.outputs->identity->run;
  describe(f, "sluice_info", "gauge", "Version and graph of the run.");
  fprintf(f, "sluice_info{version=\"%s\",commit=\"%s\",device=\"%s\",graph_digest=\"%016" PRIx64 "\"} 1\n",
          sl_version(), sl_commit(), run->device, run->graph_digest);
  counter(f, "sluice_configurations_total", "Configurations of the run so far, with the present one.",
          m->configurations->count + 1u);
  if (s->conditions) gauge(f, "sluice_conditions_run", "Run number of the present conditions.", s->conditions->value);
  gauge(f, "sluice_interrupted", "1 when the run was stopped before its end.", m->statistics->summary.interrupted);
  counter(f, "sluice_events_total", "Events delivered.", d->events);
  counter(f, "sluice_error_events_total", "Delivered events with an error.", d->error_events);
  counter(f, "sluice_retries_total", "Number of times that a part of a slice was run again.", m->retries);
  if (s->options.rotate)
    counter(f, "sluice_rotations_total", "Number of times that sinks began new files.",
            m->statistics->parts.rotation->number);
  if (s->options.follow) write_follow(s->options.follow, f);
  write_errors(&d->errors, "sluice_errors_total", "Events with an error, by node and reason.", f);
  write_errors(&d->truncations, "sluice_truncated_events_total", "Events that a node truncated, by node and reason.",
               f);
  describe(f, "sluice_events_per_second", "gauge", "Events delivered per second, over about the last second.");
  fprintf(f, "sluice_events_per_second %.6g\n", m->hz);
  write_slices(m, f);
  write_devices(m, f);
  gauge(f, "sluice_slots", "Slices in flight.", s->slot_count);
  const struct sl_layout *l = atomic_load(&m->statistics->parts.replan->newest);
  gauge(f, "sluice_arena_bytes", "Size of the arena of a slot, in the newest plan.", l->arena_bytes);
  gauge(f, "sluice_arena_live_bytes_max", "Lower bound of the arena size of a slot.", l->live_bytes_max);
  counter(f, "sluice_plan_changes_total", "New memory plans during the run.", l->plan);
  write_energy(m, f);
  write_nodes(m, f);
  write_times(m, f);
  write_budgets(m, f);
  write_totals(m, f);
  write_links(m->zmq, f);
  if (m->write_more) m->write_more(m->context, f);
}

/* Reports errors as warnings, because monitoring does not end a run. */
static void report_warning(void *context, uint32_t severity, const char *format, ...) {
  const struct sl_metrics *m = context;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const int is_end = severity == SL_ERROR;
  sl_diagnose(setup_of(m)->diagnostics, is_end ? SL_WARNING : severity, NULL, NULL, NULL, "--metrics: %s%s", text,
              is_end ? "; the file is not written any more" : "");
}

static int write_file(struct sl_metrics *m, const char *text, size_t bytes) {
  struct sl_output *file = NULL;
  char whole[PATH_MAX];
  const char *path = sl_files_resolve(m->files, setup_of(m)->options.metrics_path, whole);
  int status = sl_output_open(path, SL_OUTPUT_NO_WAIT, report_warning, m, &file);
  if (status == SL_OK) status = sl_output_add(file, text, bytes);
  if (status == SL_OK) status = sl_output_finish(file);
  sl_output_close(file);
  if (status == SL_ENOMEM) report_warning(m, SL_ERROR, "%s", sl_error_text(status));
  return status;
}

/* Called with the delivery lock held; releases it while the file is written. */
static void write_metrics(struct sl_metrics *m) {
  if (!m->has_file) return;
  struct sl_text_file text;
  if (sl_text_open(&text)) sl_metrics_write(m, text.file);
  if (sl_text_close(&text) < 0) {
    report_warning(m, SL_ERROR, "%s", sl_error_text(SL_ENOMEM));
    m->has_file = 0;
  }
  if (m->has_file) {
    pthread_mutex_unlock(&m->delivery->lock);
    m->has_file = write_file(m, text.text, text.bytes) == SL_OK;
    pthread_mutex_lock(&m->delivery->lock);
  }
  free(text.text);
}

/* Adds the last counts of all slots. */
static void publish_all(struct sl_metrics *m) {
  for (uint32_t i = 0; m->is_open && i < setup_of(m)->slot_count; i++) publish(m, &(*m->statistics->parts.slots)[i]);
}

void sl_metrics_end_configuration(struct sl_metrics *m) {
  publish_all(m);
  close_counts(m);
}

int sl_metrics_begin_configuration(struct sl_metrics *m) {
  if (!m->is_open) return SL_OK;
  const int status = open_counts(m);
  if (status == SL_OK) publish_all(m); /* the time of activities goes on */
  return status;
}

void sl_metrics_close(struct sl_metrics *m) {
  publish_all(m);
  if (m->is_open) measure(m, sl_now_ns());
  if (m->is_open) write_locked(m);
  m->is_open = 0;
  close_counts(m);
}
