/* statistics.c: the summary of a run: opened with the names, summed over the slots at the end. */
#include "layout/bind.h"
#include "execute/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

uint32_t sl_nodes_together(const struct sl_session *s, uint32_t n) {
  for (uint32_t i = 0; i < s->layout->step_count && !s->backend->by_node; i++)
    for (uint32_t k = 0; k < s->layout->steps[i].node_count; k++)
      if (s->layout->steps[i].nodes[k] == n) return s->layout->steps[i].node_count;
  return 1;
}

static int open_node_summaries(struct sl_session *s) {
  const struct sl_graph *g = s->graph;
  s->statistics.nodes = calloc(g->order_count + 1, sizeof *s->statistics.nodes);
  s->statistics.stretched_ns = calloc(g->order_count + 1, sizeof *s->statistics.stretched_ns);
  s->statistics.kernel_nodes = calloc(g->order_count + 1, sizeof *s->statistics.kernel_nodes);
  s->statistics.outputs = calloc(g->output_count + 1, sizeof *s->statistics.outputs);
  s->statistics.budgets = calloc(s->layout->used_count + 1, sizeof *s->statistics.budgets);
  s->statistics.times = calloc(sl_times_most(s), sizeof *s->statistics.times);
  s->statistics.budget_places = calloc(s->layout->used_count + 1, sizeof *s->statistics.budget_places);
  if (!s->statistics.nodes || !s->statistics.stretched_ns || !s->statistics.kernel_nodes || !s->statistics.outputs ||
      !s->statistics.budgets || !s->statistics.times || !s->statistics.budget_places)
    return SL_ENOMEM;
  for (uint32_t i = 0; i < g->order_count; i++) {
    const struct sl_node *node = &g->nodes[g->order[i]];
    if (node->algorithm->kind != SL_KIND_KERNEL) continue;
    s->statistics.kernel_nodes[s->statistics.summary.node_count] = g->order[i];
    s->statistics.nodes[s->statistics.summary.node_count++] =
        (struct sl_node_summary){.name = node->name,
                                 .algorithm = node->use,
                                 .together = sl_nodes_together(s, g->order[i]),
                                 .block_threads = node->block_threads,
                                 .blocks = node->blocks,
                                 .block_count = node->algorithm->block_count};
  }
  for (uint32_t o = 0; o < g->output_count; o++) s->statistics.outputs[o].port = g->outputs[o].name;
  s->statistics.summary.output_count = g->output_count;
  return SL_OK;
}

/* A budget is a capacity that `used` words watch, of a kernel's output that scans into it. */
static void open_budget_summaries(struct sl_session *s) {
  for (uint32_t i = 0; i < s->statistics.summary.node_count; i++) {
    const uint32_t n = s->statistics.kernel_nodes[i];
    const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
    for (uint32_t m = 0; m < a->member_count; m++) {
      if (a->members[m].kind != SL_MEMBER_OUT) continue;
      const struct sl_slot_member *at = &s->layout->members[n][m];
      for (uint32_t bound = 0; bound < SL_BOUNDS_MAX; bound++) {
        const int has = bound > 0 || (!a->members[m].shares && sl_has_items(a->members[m].collection));
        if (!has || at->used[bound] == UINT32_MAX) continue;
        struct sl_budget_summary *b = &s->statistics.budgets[s->statistics.summary.budget_count];
        char name[64];
        sl_bound_name(&a->members[m], bound, name, sizeof name);
        snprintf(b->port, sizeof b->port, "%s.%s%s", s->graph->nodes[n].name, name, bound ? " (subitems)" : "");
        b->capacity = at->capacities[bound];
        s->statistics.budget_places[s->statistics.summary.budget_count++] =
            (struct sl_budget_place){at->used[bound], n, sl_bound_capacity(&a->members[m], bound)};
      }
    }
  }
}

static void open_device_summaries(struct sl_session *s) {
  for (uint32_t d = 0; d < s->device_count; d++) {
    struct sl_device_summary *device = &s->statistics.devices[d];
    device->name = s->devices[d].name;
    device->slots = (s->slot_count + s->device_count - 1 - d) / s->device_count;
    if (s->backend->describe)
      s->backend->describe(s->devices[d].device, device->description, sizeof device->description);
  }
  s->statistics.summary.devices = s->statistics.devices;
  s->statistics.summary.device_count = s->device_count;
}

int sl_summary_open(struct sl_session *s) {
  if (open_node_summaries(s) < 0) return SL_ENOMEM;
  open_budget_summaries(s);
  open_device_summaries(s);
  struct sl_summary *sum = &s->statistics.summary;
  sum->size = sizeof *sum;
  sum->slots = s->slot_count;
  sum->source_threads = s->source_threads;
  sum->slice_events = s->slice_events;
  sum->arena_bytes = s->layout->arena_bytes;
  sum->live_bytes_max = s->layout->live_bytes_max;
  sum->input_bytes = s->layout->input_bytes;
  sum->graph_digest = s->identity.run.graph_digest;
  sum->nodes = s->statistics.nodes;
  sum->outputs = s->statistics.outputs;
  sum->budgets = s->statistics.budgets;
  sum->times = s->statistics.times;
  sum->totals = s->totals.summaries;
  sum->total_count = s->totals.count;
  return SL_OK;
}

static uint64_t node_ns(const struct sl_session *s, uint32_t n) {
  uint64_t ns = 0;
  for (uint32_t k = 0; k < s->slot_count; k++) ns += s->slots[k].node_ns[n];
  return ns;
}

void sl_summary_stretch(struct sl_session *s, uint32_t index, uint64_t events) {
  for (uint32_t i = 0; i < s->statistics.summary.node_count; i++) {
    const uint64_t ns = node_ns(s, s->statistics.kernel_nodes[i]);
    if (events > 0)
      s->statistics.nodes[i].stretch_us[index] = (double)(ns - s->statistics.stretched_ns[i]) * 1e-3 / (double)events;
    s->statistics.stretched_ns[i] = ns;
  }
}

static void sum_nodes(struct sl_session *s) {
  double total = 0;
  for (uint32_t i = 0; i < s->statistics.summary.node_count; i++) {
    struct sl_node_summary *node = &s->statistics.nodes[i];
    const uint32_t n = s->statistics.kernel_nodes[i];
    const uint64_t ns = node_ns(s, n);
    node->events = node->calls = 0;
    for (uint32_t k = 0; k < s->slot_count; k++) {
      node->events += s->slots[k].node_events[n];
      node->calls += s->slots[k].node_calls[n];
    }
    node->microseconds = (double)ns * 1e-3;
    sl_traffic_sum(s, n, &node->bytes_in, &node->bytes_out);
    total += node->microseconds;
  }
  for (uint32_t i = 0; i < s->statistics.summary.node_count; i++)
    s->statistics.nodes[i].share = total > 0 ? s->statistics.nodes[i].microseconds / total : 0;
}

static void sum_budgets(struct sl_session *s) {
  for (uint32_t i = 0; i < s->statistics.summary.budget_count; i++) {
    const uint32_t word = s->statistics.budget_places[i].word;
    struct sl_budget_summary *b = &s->statistics.budgets[i];
    b->overflows = s->statistics.overflows[word];
    b->wanted_max = s->learned.wanted_max[word];
    b->used_max = 0;
    for (uint32_t k = 0; k < s->slot_count; k++)
      if (s->slots[k].used_max[word] > b->used_max) b->used_max = s->slots[k].used_max[word];
    sl_budget_advise(s, &s->statistics.budget_places[i], b);
  }
}

static double rate(uint64_t events, uint64_t ns) { return ns > 0 ? (double)events * 1e9 / (double)ns : 0; }

/* Of this program alone: what getrusage says counts also what the process that started it had resident. */
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

uint64_t sl_events_in_graph(const struct sl_session *s) {
  uint64_t events = 0;
  for (uint32_t k = 0; k < s->slot_count; k++) events += s->slots[k].graph_events;
  return events;
}

/* The rate of the kernels. The host launches a device's kernels and does other work until it waits for them, so that
 * only a repeat times them; on the host the slots' threads run them. 0: not measured. */
static double rate_of_graph(const struct sl_session *s, const struct sl_repeated *repeated) {
  if (s->statistics.summary.node_count == 0) return 0;
  if (s->statistics.summary.repeat > 1) return rate(repeated->events, repeated->ns);
  return s->backend->is_device ? 0 : rate(sl_events_in_graph(s), s->graph_clock.ns);
}

void sl_summary_sum(struct sl_session *s, const struct sl_repeated *repeated) {
  struct sl_summary *sum = &s->statistics.summary;
  uint64_t host_syncs = 0;
  for (uint32_t k = 0; k < s->slot_count; k++) {
    sum->retries += s->slots[k].retries;
    sum->slices += s->slots[k].slices;
    s->statistics.devices[s->slots[k].place->index].slices += s->slots[k].slices;
    sum->bytes_up += s->slots[k].bytes_up;
    sum->bytes_down += s->slots[k].bytes_down;
    host_syncs += s->slots[k].host_syncs;
  }
  for (uint32_t d = 0; d < s->device_count; d++) s->statistics.devices[d].is_lost = (uint32_t)s->devices[d].is_lost;
  if (sum->slices > 0) sum->host_syncs_per_slice = (uint32_t)((host_syncs + sum->slices - 1) / sum->slices);
  const uint64_t end_ns = sl_now_ns(), wall_ns = end_ns - s->begin_ns;
  sl_times_end(s, end_ns);
  sl_times_sum(s, wall_ns);
  sum->events = s->delivery.events;
  sum->error_events = s->delivery.error_events;
  sum->errors = s->errors.summaries;
  sum->error_count = s->errors.count;
  sum->cuts = s->cuts.summaries;
  sum->cut_count = s->cuts.count;
  sum->seconds = (double)wall_ns * 1e-9;
  sum->wall_hz = rate(sum->events, wall_ns);
  sum->source_hz = rate(s->reading.events, s->reading.ns);
  sum->throughput_hz = rate_of_graph(s, repeated);
  sum->peak_rss_bytes = peak_resident_bytes();
  sum_nodes(s);
  sum_budgets(s);
  for (uint32_t o = 0; o < sum->output_count; o++) {
    s->statistics.outputs[o].items = s->identity.outputs[o].items;
    s->statistics.outputs[o].digest = s->options.digest ? sl_session_output_digest(s, o) : 0;
  }
}

void sl_summary_close(struct sl_session *s) {
  free(s->statistics.nodes);
  free(s->statistics.stretched_ns);
  free(s->statistics.kernel_nodes);
  free(s->statistics.outputs);
  free(s->statistics.budgets);
  free(s->statistics.times);
  free(s->statistics.budget_places);
}
