/* measures.c: see measures.h. Counts of a run only grow, so that a difference of two vectors is what happened between
 * them. */
#include "serve/measures.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct sl_summary *summary_of(const struct sl_measures *m) { return &m->live.statistics->summary; }

static int counts_named_events(const struct sl_total_summary *t) {
  return t->label && t->width == 1 && !t->is_signed && strcmp(t->unit, "events") == 0;
}

/* Returns 1 if another output of the node has a bit or an index per entry in a field of this name: the counts are those
 * of the decisions. */
static int is_of_decisions(const struct sl_graph *g, const struct sl_total_summary *t) {
  for (uint32_t o = 0; o < g->output_count; o++) {
    if (strcmp(g->outputs[o].name, t->port) != 0) continue;
    const struct sl_algorithm *a = g->nodes[g->outputs[o].port.node].algorithm;
    for (uint32_t m = 0; m < a->member_count; m++)
      if (a->members[m].names.field && strcmp(a->members[m].names.field, t->field) == 0) return 1;
  }
  return 0;
}

/* Chooses the field of each output that is the rate of its entries: that of the decisions, else the first. */
static void choose_rates(struct sl_measures *m) {
  const struct sl_total_summary *totals = summary_of(m)->totals;
  for (uint32_t i = 0, end; i < m->total_count; i = end) {
    uint32_t rate = i;
    for (end = i; end < m->total_count && totals[m->totals[end].total].port == totals[m->totals[i].total].port; end++)
      if (is_of_decisions(m->live.setup->graph, &totals[m->totals[end].total])) rate = end;
    m->totals[rate].is_rate = 1;
  }
}

int sl_measures_open(struct sl_measures *m, const struct sl_live *live) {
  *m = (struct sl_measures){.live = *live};
  const struct sl_summary *sum = summary_of(m);
  m->totals = calloc(sum->total_count + 1u, sizeof *m->totals);
  if (!m->totals) return SL_ENOMEM;
  for (uint32_t k = 0; k < sum->total_count; k++) {
    if (!counts_named_events(&sum->totals[k])) continue;
    m->totals[m->total_count++] = (struct sl_measured_total){k, m->entry_count, 0};
    m->entry_count += sum->totals[k].entries;
  }
  choose_rates(m);
  m->expected = calloc(m->entry_count + 1u, sizeof *m->expected);
  if (!m->expected) return SL_ENOMEM;
  m->time_count = SL_ACTIVITY_OF_NODE(live->setup->graph->node_count);
  m->now_ns = m->last_event_ns = sl_now_ns();
  const int status = sl_points_open(&m->points, 1 + m->entry_count);
  return status == SL_OK ? sl_measures_add(m) : status;
}

void sl_measures_close(struct sl_measures *m) {
  sl_recent_close(&m->clock);
  sl_recent_close(&m->entries);
  sl_recent_close(&m->errors);
  sl_recent_close(&m->truncations);
  sl_recent_close(&m->times);
  sl_points_close(&m->points);
  free(m->totals);
  free(m->expected);
  free(m->vector);
}

/* Returns room for `count` values, or NULL. */
static uint64_t *vector_of(struct sl_measures *m, uint32_t count) {
  if (count < m->vector_size) return m->vector;
  uint64_t *grown = realloc(m->vector, (count + 1u) * sizeof *grown);
  if (!grown) return NULL;
  m->vector = grown;
  m->vector_size = count + 1;
  return grown;
}

static int add_clock(struct sl_measures *m) {
  const struct sl_delivery *d = m->live.delivery;
  const uint64_t values[SL_CLOCK_VALUES] = {m->now_ns, d->events, d->error_events};
  return sl_recent_add(&m->clock, values, SL_CLOCK_VALUES);
}

static int add_entries(struct sl_measures *m) {
  uint64_t *values = vector_of(m, m->entry_count);
  if (!values) return SL_ENOMEM;
  for (uint32_t i = 0; i < m->total_count; i++) {
    const struct sl_total_summary *t = &summary_of(m)->totals[m->totals[i].total];
    memcpy(values + m->totals[i].first_entry, t->values, t->entries * sizeof *values);
  }
  return sl_recent_add(&m->entries, values, m->entry_count);
}

static int add_errors(struct sl_measures *m, const struct sl_event_errors *errors, struct sl_recent *recent) {
  uint64_t *values = vector_of(m, errors->count);
  if (!values) return SL_ENOMEM;
  for (uint32_t i = 0; i < errors->count; i++) values[i] = errors->summaries[i].count;
  return sl_recent_add(recent, values, errors->count);
}

static int add_times(struct sl_measures *m) {
  const struct sl_metrics *metrics = m->live.metrics;
  const uint32_t nodes = summary_of(m)->node_count;
  uint64_t *values = vector_of(m, m->time_count + nodes);
  if (!values) return SL_ENOMEM;
  memcpy(values, metrics->times, m->time_count * sizeof *values);
  memcpy(values + m->time_count, metrics->node_ns, nodes * sizeof *values);
  return sl_recent_add(&m->times, values, m->time_count + nodes);
}

static void add_points(struct sl_measures *m) {
  const double events = (double)sl_measures_events(m, 1);
  sl_points_set(&m->points, 0, sl_measures_hz(m, 1));
  for (uint32_t i = 0; i < m->entry_count; i++)
    sl_points_set(&m->points, 1 + i, events > 0 ? (double)sl_recent_change(&m->entries, i, 1) / events : NAN);
  sl_points_next(&m->points);
}

int sl_measures_add(struct sl_measures *m) {
  m->now_ns = sl_now_ns();
  int status = add_clock(m);
  if (status == SL_OK) status = add_entries(m);
  if (status == SL_OK) status = add_errors(m, &m->live.delivery->errors, &m->errors);
  if (status == SL_OK) status = add_errors(m, &m->live.delivery->truncations, &m->truncations);
  if (status == SL_OK) status = add_times(m);
  if (status == SL_OK) add_points(m);
  if (sl_measures_events(m, 1) > 0) m->last_event_ns = m->now_ns;
  return status;
}

double sl_measures_seconds(const struct sl_measures *m, uint32_t seconds) {
  return (double)sl_recent_change(&m->clock, SL_CLOCK_NS, seconds) * 1e-9;
}

uint64_t sl_measures_events(const struct sl_measures *m, uint32_t seconds) {
  return sl_recent_change(&m->clock, SL_CLOCK_EVENTS, seconds);
}

double sl_measures_hz(const struct sl_measures *m, uint32_t seconds) {
  const double time = sl_measures_seconds(m, seconds);
  return time > 0 ? (double)sl_measures_events(m, seconds) / time : 0;
}
