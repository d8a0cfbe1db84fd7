/* summary.c: the summary of a run: names are set when it is opened, values are summed over the slots at the end. */
#include "observe/summary.h"

#include "execute/replan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int open_node_summaries(struct sl_statistics *st) {
  const struct sl_setup *s = st->parts.setup;
  const struct sl_graph *g = s->graph;
  st->nodes = calloc(g->order_count + 1, sizeof *st->nodes);
  st->stretched_ns = calloc(g->order_count + 1, sizeof *st->stretched_ns);
  st->kernel_nodes = calloc(g->order_count + 1, sizeof *st->kernel_nodes);
  st->outputs = calloc(g->output_count + 1, sizeof *st->outputs);
  st->budgets = calloc(st->parts.history->budget_count + 1, sizeof *st->budgets);
  st->times = calloc(sl_times_most(s), sizeof *st->times);
  if (!st->nodes || !st->stretched_ns || !st->kernel_nodes || !st->outputs || !st->budgets || !st->times)
    return SL_ENOMEM;
  for (uint32_t i = 0; i < g->order_count; i++) {
    const struct sl_node *node = &g->nodes[g->order[i]];
    if (node->algorithm->kind != SL_KIND_KERNEL) continue;
    st->kernel_nodes[st->summary.node_count] = g->order[i];
    st->nodes[st->summary.node_count++] = (struct sl_node_summary){.name = node->name,
                                                                   .algorithm = node->use,
                                                                   .launch_nodes = sl_nodes_in_launch(s, g->order[i]),
                                                                   .block_threads = node->block_threads,
                                                                   .blocks = node->blocks,
                                                                   .block_count = node->algorithm->block_count};
  }
  for (uint32_t o = 0; o < g->output_count; o++) st->outputs[o].port = g->outputs[o].name;
  st->summary.output_count = g->output_count;
  return SL_OK;
}

static void open_budget_summaries(struct sl_statistics *st) {
  const struct sl_graph *g = st->parts.setup->graph;
  for (uint32_t i = 0; i < st->parts.history->budget_count; i++) {
    const struct sl_budget_entry *entry = &st->parts.history->budgets[i];
    const struct sl_node *node = &g->nodes[entry->node];
    struct sl_budget_summary *b = &st->budgets[i];
    char name[64];
    sl_bound_name(&node->algorithm->members[entry->member], entry->bound, name, sizeof name);
    snprintf(b->port, sizeof b->port, "%s.%s%s", node->name, name, entry->bound ? " (subitems)" : "");
    b->capacity = entry->items;
  }
  st->summary.budget_count = st->parts.history->budget_count;
}

static void open_device_summaries(struct sl_statistics *st) {
  const struct sl_setup *s = st->parts.setup;
  for (uint32_t d = 0; d < s->device_count; d++) {
    struct sl_device_summary *device = &st->devices[d];
    device->name = s->devices[d].name;
    device->slots = (s->slot_count + s->device_count - 1 - d) / s->device_count;
    if (s->backend->describe)
      s->backend->describe(s->devices[d].device, device->description, sizeof device->description);
  }
  st->summary.devices = st->devices;
  st->summary.device_count = s->device_count;
}

int sl_summary_open(struct sl_statistics *st, const struct sl_summary_parts *parts) {
  const struct sl_setup *s = parts->setup;
  st->parts = *parts;
  if (open_node_summaries(st) < 0) return SL_ENOMEM;
  open_budget_summaries(st);
  open_device_summaries(st);
  struct sl_summary *sum = &st->summary;
  sum->size = sizeof *sum;
  sum->slots = s->slot_count;
  sum->source_threads = s->source_threads;
  sum->slice_events = s->slice_events;
  sum->arena_bytes = s->layout->arena_bytes;
  sum->live_bytes_max = s->layout->live_bytes_max;
  sum->input_bytes = s->layout->input_bytes;
  sum->arena_limit_bytes = s->arena_bytes_max;
  sum->replan = s->replan;
  sum->repeat = s->repeat;
  sum->graph_digest = parts->outputs->identity->run.graph_digest;
  sum->nodes = st->nodes;
  sum->outputs = st->outputs;
  sum->budgets = st->budgets;
  sum->times = st->times;
  sum->totals = parts->outputs->summaries;
  sum->total_count = parts->outputs->total_count;
  sum->plan_changes = NULL;
  sum->plan_change_count = 0;
  return SL_OK;
}

void sl_summary_stretch(struct sl_statistics *st, uint32_t index, uint64_t events) {
  for (uint32_t i = 0; i < st->summary.node_count; i++) {
    const uint64_t ns = sl_times_of_node(st->parts.times, st->kernel_nodes[i]);
    if (events > 0) st->nodes[i].stretch_us[index] = (double)(ns - st->stretched_ns[i]) * 1e-3 / (double)events;
    st->stretched_ns[i] = ns;
  }
}

static void sum_nodes(struct sl_statistics *st) {
  const struct sl_times *times = st->parts.times;
  double total = 0;
  for (uint32_t i = 0; i < st->summary.node_count; i++) {
    struct sl_node_summary *node = &st->nodes[i];
    const uint32_t n = st->kernel_nodes[i];
    const uint64_t ns = sl_times_of_node(times, n);
    node->events = node->calls = 0;
    for (uint32_t k = 0; k < st->parts.setup->slot_count; k++) {
      node->events += times->slots[k].node_events[n];
      node->calls += times->slots[k].node_calls[n];
    }
    node->microseconds = (double)ns * 1e-3;
    sl_traffic_sum(st->parts.traffic, n, &node->bytes_in, &node->bytes_out);
    total += node->microseconds;
  }
  for (uint32_t i = 0; i < st->summary.node_count; i++)
    st->nodes[i].share = total > 0 ? st->nodes[i].microseconds / total : 0;
}

static void sum_budgets(struct sl_statistics *st) {
  const struct sl_overflow_history *h = st->parts.history;
  for (uint32_t i = 0; i < h->budget_count; i++) {
    const uint32_t word = h->budgets[i].word;
    struct sl_budget_summary *b = &st->budgets[i];
    b->overflows = h->overflows[word];
    b->needed_max = h->needed_max[word];
    b->used_max = 0;
    for (uint32_t k = 0; k < st->parts.setup->slot_count; k++) {
      const uint64_t used = (*st->parts.slots)[k].used_max[word];
      if (used > b->used_max) b->used_max = used;
    }
    sl_overflow_advise(h, &h->budgets[i], b);
  }
}

static void sum_plans(struct sl_statistics *st) {
  const struct sl_replan *r = st->parts.replan;
  struct sl_summary *sum = &st->summary;
  sum->plan_changes = r->changes;
  sum->plan_change_count = r->layout_count;
  sum->arena_bytes = atomic_load(&r->newest)->arena_bytes;
  sum->live_bytes_max = atomic_load(&r->newest)->live_bytes_max;
  sum->arena_wanted_bytes = r->refused_bytes;
  for (uint32_t i = 0; i < sum->budget_count; i++) st->budgets[i].capacity = r->history->budgets[i].items;
}

static double rate(uint64_t events, uint64_t ns) { return ns > 0 ? (double)events * 1e9 / (double)ns : 0; }

/* Peak resident memory of this process. getrusage would include the memory of the process that started it. */
static uint64_t peak_resident_bytes(void) {
  char line[256];
  unsigned long long kibibytes = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && kibibytes == 0 && fgets(line, sizeof line, file))
    if (sscanf(line, "VmHWM: %llu", &kibibytes) != 1) kibibytes = 0;
  if (file) fclose(file);
  if (kibibytes > 0) return kibibytes * 1024u;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (uint64_t)usage.ru_maxrss * 1024u;
}

uint64_t sl_events_in_graph(const struct sl_statistics *st) {
  uint64_t events = st->earlier_graph_events;
  for (uint32_t k = 0; k < st->parts.setup->slot_count; k++) events += (*st->parts.slots)[k].graph_events;
  return events;
}

/* Rate of the kernels in events per second; 0: not measured. On the host the threads of the slots run the kernels
 * and time them. On a device only repeats measure the kernels, because the host works on while they run. */
static double rate_of_graph(const struct sl_statistics *st, const struct sl_repeated *repeated) {
  if (st->summary.node_count == 0) return 0;
  if (st->summary.repeat > 1) return rate(repeated->events, repeated->ns);
  return st->parts.setup->backend->is_device ? 0 : rate(sl_events_in_graph(st), st->parts.times->graph_ns);
}

static void sum_slots(struct sl_statistics *st) {
  const struct sl_setup *s = st->parts.setup;
  struct sl_summary *sum = &st->summary;
  for (uint32_t k = 0; k < s->slot_count; k++) {
    const struct sl_slot *slot = &(*st->parts.slots)[k];
    sum->retries += slot->retries;
    sum->slices += slot->slices;
    st->devices[slot->device_state->index].slices += slot->slices;
    sum->bytes_up += slot->bytes_up;
    sum->bytes_down += slot->bytes_down;
    st->host_syncs += slot->host_syncs;
  }
  for (uint32_t d = 0; d < s->device_count; d++) st->devices[d].is_lost = (uint32_t)s->devices[d].is_lost;
  if (sum->slices > 0) sum->host_syncs_per_slice = (uint32_t)((st->host_syncs + sum->slices - 1) / sum->slices);
}

void sl_summary_sum(struct sl_statistics *st, const struct sl_repeated *repeated, uint64_t end_ns) {
  const struct sl_summary_parts *p = &st->parts;
  struct sl_summary *sum = &st->summary;
  const uint64_t wall_ns = end_ns - p->setup->begin_ns;
  sum_slots(st);
  sum->time_count = sl_times_sum(p->times, p->traffic, wall_ns, st->times);
  sum->events = p->delivery->events;
  sum->error_events = p->delivery->error_events;
  if (p->setup->options.follow) {
    st->follow = sl_follow_count(p->setup->options.follow);
    sum->follow = &st->follow;
  }
  sum->errors = p->delivery->errors.summaries;
  sum->error_count = p->delivery->errors.count;
  sum->truncations = p->delivery->truncations.summaries;
  sum->truncation_count = p->delivery->truncations.count;
  sum->rotations = p->rotation->number;
  sum->seconds = (double)wall_ns * 1e-9;
  sum->wall_hz = rate(sum->events - p->delivery->earlier_events, wall_ns);
  sum->source_hz = rate(p->reading->events - p->reading->earlier_events, p->reading->ns);
  sum->throughput_hz = rate_of_graph(st, repeated);
  sum->peak_rss_bytes = peak_resident_bytes();
  sum_nodes(st);
  sum_plans(st);
  sum_budgets(st);
  sl_summary_sum_outputs(st);
}

void sl_summary_sum_outputs(struct sl_statistics *st) {
  const struct sl_outputs *outputs = st->parts.outputs;
  for (uint32_t o = 0; o < st->summary.output_count; o++) {
    st->outputs[o].items = sl_outputs_items(outputs, o);
    st->outputs[o].digest = st->parts.setup->options.digest ? sl_outputs_digest(outputs, o) : 0;
  }
}

void sl_summary_close(struct sl_statistics *st) {
  free(st->nodes);
  free(st->stretched_ns);
  free(st->kernel_nodes);
  free(st->outputs);
  free(st->budgets);
  free(st->times);
  st->nodes = NULL;
  st->stretched_ns = NULL;
  st->kernel_nodes = NULL;
  st->outputs = NULL;
  st->budgets = NULL;
  st->times = NULL;
  st->summary.node_count = st->summary.output_count = st->summary.budget_count = 0;
  st->summary.time_count = st->summary.total_count = st->summary.plan_change_count = 0;
}

void sl_summary_change(struct sl_statistics *st) {
  sum_slots(st);
  st->earlier_graph_events = sl_events_in_graph(st);
  sl_summary_close(st);
}
