/* times.c: where the time goes. Each slot's thread is in one row of its account at any time, so that a slot's rows add
 * up to the time of the run: what the thread does, waits included, and `idle` before it is started and after its last
 * slice. The main thread is slot 0's, and opens and ends files. Rows of nodes (SL_TIME_OF_NODE) stand with the nodes'
 * counts; on a device, those of kernels are the device's time, and no thread is ever in them.
 *
 * Apart from these stand the parts of the opening, which is over when the run begins, and what the ticker does.
 */
#include "execute/session.h"

#include <stdlib.h>
#include <time.h>

uint64_t sl_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static const char *const row_names[SL_TIME_ROWS] = {
#define SL_TIME_NAME_(row, name) [row] = name,
    SL_TIME_TABLE(SL_TIME_NAME_)};

static uint64_t *row_of(struct sl_slot *slot, uint32_t row) {
  return row < SL_TIME_ROWS ? &slot->account.ns[row] : &slot->node_ns[row - SL_TIME_ROWS];
}

uint64_t sl_time_settle(struct sl_slot *slot) {
  const uint64_t now = sl_now_ns();
  *row_of(slot, slot->account.row) += now - slot->account.since_ns;
  slot->account.since_ns = now;
  return now;
}

uint32_t sl_time_enter(struct sl_slot *slot, uint32_t row) {
  const uint32_t before = slot->account.row;
  sl_time_settle(slot);
  slot->account.row = row;
  return before;
}

uint64_t sl_time_share_out(struct sl_slot *slot, const uint32_t *nodes, uint32_t node_count) {
  const uint64_t now = sl_now_ns(), ns = now - slot->account.since_ns;
  /* the remainder is the first one's, so that nothing is lost */
  for (uint32_t i = 0; i < node_count; i++) slot->node_ns[nodes[i]] += ns / node_count + (i == 0 ? ns % node_count : 0);
  slot->account.since_ns = now;
  return now;
}

void sl_times_begin(struct sl_session *s) {
  for (uint32_t i = 0; i < s->slot_count; i++) {
    s->slots[i].account.since_ns = s->begin_ns;
    s->slots[i].account.row = SL_TIME_IDLE;
  }
}

void sl_times_end(struct sl_session *s, uint64_t end_ns) {
  for (uint32_t i = 0; i < s->slot_count; i++) {
    struct sl_account *account = &s->slots[i].account;
    *row_of(&s->slots[i], account->row) += end_ns - account->since_ns;
    account->since_ns = end_ns;
  }
}

/* -------------------------------------------------------------------------------------------- the opening */

void sl_time_opened(struct sl_session *s, uint32_t part) {
  const uint64_t now = sl_now_ns();
  s->opening.ns[part] += now - s->opening.since_ns;
  s->opening.since_ns = now;
}

static const char *const opening_names[SL_OPENING_PARTS] = {
    [SL_OPENING_GRAPH] = "plugins and graph",
    [SL_OPENING_PLAN] = "plan",
    [SL_OPENING_CONSTANTS] = "constants",
    [SL_OPENING_MEMORY] = "memory",
};

void sl_trace_opening(struct sl_session *s) {
  uint64_t at = s->opening.begin_ns;
  for (uint32_t i = 0; i < SL_OPENING_PARTS; i++) {
    sl_trace_span(s, SL_TRACK_HOST(0), opening_names[i], at, at + s->opening.ns[i], NULL, 0);
    at += s->opening.ns[i];
  }
}

/* -------------------------------------------------------------------------------------------- the summary */

static const char *kind_name(const struct sl_session *s, const struct sl_node *node) {
  switch (node->algorithm->kind) {
    case SL_KIND_SOURCE:
      return "source";
    case SL_KIND_SINK:
      return "sink";
    default:
      return s->backend->is_device ? "kernels on the device" : "kernels";
  }
}

static void add(struct sl_session *s, struct sl_time_summary row, uint64_t ns, uint64_t of_ns) {
  row.seconds = (double)ns * 1e-9;
  row.share = of_ns > 0 ? (double)ns / (double)of_ns : 0;
  s->statistics.times[s->statistics.summary.time_count++] = row;
}

static void add_node(struct sl_session *s, uint32_t n, uint64_t all_ns) {
  const struct sl_node *node = &s->graph->nodes[n];
  const uint32_t kind = node->algorithm->kind;
  struct sl_time_summary row = {.what = kind_name(s, node), .node = node->name, .algorithm = node->use};
  row.where = kind == SL_KIND_KERNEL && s->backend->is_device ? SL_TIME_ON_DEVICE : SL_TIME_IN_THREADS;
  row.together = kind == SL_KIND_KERNEL ? sl_nodes_together(s, n) : 1;
  uint64_t ns = 0;
  for (uint32_t k = 0; k < s->slot_count; k++) {
    ns += s->slots[k].node_ns[n];
    row.calls += s->slots[k].node_calls[n];
    row.events += s->slots[k].node_events[n];
  }
  sl_traffic_sum(s, n, &row.bytes_in, &row.bytes_out);
  add(s, row, ns, all_ns);
}

uint32_t sl_times_most(const struct sl_session *s) {
  return s->graph->order_count + SL_TIME_ROWS + SL_OPENING_PARTS + 1;
}

void sl_times_sum(struct sl_session *s, uint64_t wall_ns) {
  const uint64_t all_ns = wall_ns * s->slot_count;
  for (uint32_t i = 0; i < s->graph->order_count; i++)
    if (s->graph->nodes[s->graph->order[i]].algorithm->kind != SL_KIND_CONSTANT)
      add_node(s, s->graph->order[i], all_ns);
  for (uint32_t row = 0; row < SL_TIME_ROWS; row++) {
    uint64_t ns = 0;
    for (uint32_t k = 0; k < s->slot_count; k++) ns += s->slots[k].account.ns[row];
    if (ns > 0) add(s, (struct sl_time_summary){.what = row_names[row], .where = SL_TIME_IN_THREADS}, ns, all_ns);
  }
  for (uint32_t i = 0; i < SL_OPENING_PARTS; i++)
    add(s, (struct sl_time_summary){.what = opening_names[i], .where = SL_TIME_BEFORE}, s->opening.ns[i], 0);
  if (s->ticker.ns > 0)
    add(s, (struct sl_time_summary){.what = "flushes and metrics", .where = SL_TIME_BESIDE}, s->ticker.ns, 0);
}

const char *sl_time_name(uint32_t row) { return row_names[row]; }
