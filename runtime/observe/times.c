/* times.c: where the time of a run is spent.
 *
 * The thread of each slot is always in one activity, so that the rows of a slot add up to the run time, including
 * waits, and `idle` before its start and after its last slice. The main thread is the thread of slot 0 and also opens
 * and ends files. On a device, rows of kernels are time of the device, not of a thread. Phases of opening and flushes
 * are listed separately.
 */
#include "observe/times.h"

#include "base/clock.h"
#include "observe/traffic.h"

#include <stdlib.h>

int sl_times_open(struct sl_times *t, const struct sl_setup *s) {
  const uint32_t nodes = s->graph->node_count + 1;
  t->setup = s;
  if (!t->slots) t->slots = calloc(s->slot_count, sizeof *t->slots);
  for (uint32_t i = 0; t->slots && i < s->slot_count; i++) {
    struct sl_account *a = &t->slots[i];
    a->node_ns = calloc(nodes, sizeof *a->node_ns);
    a->node_events = calloc(nodes, sizeof *a->node_events);
    a->node_calls = calloc(nodes, sizeof *a->node_calls);
    if (!a->node_ns || !a->node_events || !a->node_calls) return SL_ENOMEM;
  }
  return t->slots ? SL_OK : SL_ENOMEM;
}

static void close_nodes(struct sl_account *a) {
  free(a->node_ns);
  free(a->node_events);
  free(a->node_calls);
  a->node_ns = a->node_events = a->node_calls = NULL;
}

void sl_times_close(struct sl_times *t) {
  for (uint32_t i = 0; t->slots && i < t->setup->slot_count; i++) close_nodes(&t->slots[i]);
  free(t->slots);
}

void sl_times_change(struct sl_times *t) {
  const struct sl_setup *s = t->setup;
  for (uint32_t i = 0; i < s->slot_count; i++) {
    struct sl_account *a = &t->slots[i];
    for (uint32_t n = 0; n < s->graph->node_count; n++) {
      const int is_on_device = s->graph->nodes[n].algorithm->kind == SL_KIND_KERNEL && s->backend->is_device;
      if (!is_on_device) a->ns[SL_ACTIVITY_EARLIER] += a->node_ns[n];
    }
    close_nodes(a);
  }
}

static void add_activity(void *context, const struct sl_slot *slot, uint32_t activity, uint64_t ns) {
  struct sl_account *a = &((struct sl_times *)context)->slots[slot->index];
  *(activity < SL_ACTIVITIES ? &a->ns[activity] : &a->node_ns[activity - SL_ACTIVITIES]) += ns;
}

static void count_node(void *context, struct sl_slot *slot, const struct sl_slice *slice, uint32_t node,
                       uint64_t events) {
  struct sl_account *a = &((struct sl_times *)context)->slots[slot->index];
  (void)slice;
  a->node_calls[node]++;
  a->node_events[node] += events;
}

static void begin_part(void *context, uint64_t now_ns) {
  struct sl_times *t = context;
  pthread_mutex_lock(&t->lock);
  if (t->in_graph++ == 0) t->graph_since_ns = now_ns;
  pthread_mutex_unlock(&t->lock);
}

static void end_part(void *context, uint64_t now_ns) {
  struct sl_times *t = context;
  pthread_mutex_lock(&t->lock);
  if (--t->in_graph == 0 && now_ns > t->graph_since_ns) t->graph_ns += now_ns - t->graph_since_ns;
  pthread_mutex_unlock(&t->lock);
}

const struct sl_observer_calls sl_times_observer = {
    .activity = add_activity, .node = count_node, .part_begin = begin_part, .part_end = end_part};

uint64_t sl_times_of_node(const struct sl_times *t, uint32_t n) {
  uint64_t ns = 0;
  for (uint32_t k = 0; k < t->setup->slot_count; k++) ns += t->slots[k].node_ns[n];
  return ns;
}

/* -------------------------------------------------------------------------------------------- the opening */

void sl_times_opened(struct sl_times *t, uint32_t part) {
  const uint64_t now = sl_now_ns();
  t->opening_ns[part] += now - t->opening_since_ns;
  t->opening_since_ns = now;
}

const char *sl_opening_name(uint32_t part) {
  static const char *const names[SL_OPENING_PARTS] = {
      [SL_OPENING_GRAPH] = "plugins and graph",
      [SL_OPENING_PLAN] = "plan",
      [SL_OPENING_CONSTANTS] = "constants",
      [SL_OPENING_MEMORY] = "memory",
  };
  return names[part];
}

/* -------------------------------------------------------------------------------------------- the summary */

uint32_t sl_nodes_in_launch(const struct sl_setup *s, uint32_t n) {
  for (uint32_t i = 0; i < s->layout->step_count && !s->backend->no_families; i++)
    for (uint32_t k = 0; k < s->layout->steps[i].node_count; k++)
      if (s->layout->steps[i].nodes[k] == n) return s->layout->steps[i].node_count;
  return 1;
}

struct rows {
  struct sl_time_summary *at;
  uint32_t count;
};

static void add(struct rows *rows, struct sl_time_summary row, uint64_t ns, uint64_t of_ns) {
  row.seconds = (double)ns * 1e-9;
  row.share = of_ns > 0 ? (double)ns / (double)of_ns : 0;
  rows->at[rows->count++] = row;
}

static void add_node(const struct sl_times *t, const struct sl_traffic *traffic, uint32_t n, uint64_t all_ns,
                     struct rows *rows) {
  const struct sl_setup *s = t->setup;
  const struct sl_node *node = &s->graph->nodes[n];
  const uint32_t kind = node->algorithm->kind;
  const int is_on_device = kind == SL_KIND_KERNEL && s->backend->is_device;
  struct sl_time_summary row = {.node = node->name, .algorithm = node->use};
  row.what = kind == SL_KIND_SOURCE ? "source"
             : kind == SL_KIND_SINK ? "sink"
             : is_on_device         ? "kernels on the device"
                                    : "kernels";
  row.where = is_on_device ? SL_TIME_ON_DEVICE : SL_TIME_IN_THREADS;
  row.launch_nodes = kind == SL_KIND_KERNEL ? sl_nodes_in_launch(s, n) : 1;
  for (uint32_t k = 0; k < s->slot_count; k++) {
    row.calls += t->slots[k].node_calls[n];
    row.events += t->slots[k].node_events[n];
  }
  sl_traffic_sum(traffic, n, &row.bytes_in, &row.bytes_out);
  add(rows, row, sl_times_of_node(t, n), all_ns);
}

uint32_t sl_times_most(const struct sl_setup *s) {
  return s->graph->order_count + SL_ACTIVITIES + SL_OPENING_PARTS + 2;
}

uint32_t sl_times_sum(const struct sl_times *t, const struct sl_traffic *traffic, uint64_t wall_ns,
                      struct sl_time_summary *at) {
  const struct sl_graph *g = t->setup->graph;
  const uint64_t all_ns = wall_ns * t->setup->slot_count;
  struct rows rows = {at, 0};
  for (uint32_t i = 0; i < g->order_count; i++)
    if (g->nodes[g->order[i]].algorithm->kind != SL_KIND_CONSTANT) add_node(t, traffic, g->order[i], all_ns, &rows);
  for (uint32_t a = 0; a < SL_ACTIVITIES; a++) {
    uint64_t ns = 0;
    for (uint32_t k = 0; k < t->setup->slot_count; k++) ns += t->slots[k].ns[a];
    const struct sl_time_summary row = {.what = sl_activity_name(a), .where = SL_TIME_IN_THREADS};
    if (ns > 0) add(&rows, row, ns, all_ns);
  }
  for (uint32_t i = 0; i < SL_OPENING_PARTS; i++)
    add(&rows, (struct sl_time_summary){.what = sl_opening_name(i), .where = SL_TIME_BEFORE}, t->opening_ns[i], 0);
  if (t->ticker_ns > 0)
    add(&rows, (struct sl_time_summary){.what = "flushes and metrics", .where = SL_TIME_OTHER_THREADS}, t->ticker_ns,
        0);
  if (t->planning_ns > 0)
    add(&rows, (struct sl_time_summary){.what = "new plans", .where = SL_TIME_OTHER_THREADS}, t->planning_ns, 0);
  return rows.count;
}
