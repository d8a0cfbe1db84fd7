/* summary.h: the summary of a run. See summary.c. */
#ifndef SL_SUMMARY_H
#define SL_SUMMARY_H

#include "execute/delivery.h"
#include "execute/overflow_history.h"
#include "execute/source.h"
#include "observe/times.h"
#include "observe/traffic.h"
#include "results/outputs.h"
#include "results/rotation.h"

/* Parts of a session that the summary reads. */
struct sl_summary_parts {
  const struct sl_setup *setup;
  const struct sl_slot *const *slots;
  const struct sl_reading *reading;
  const struct sl_delivery *delivery;
  const struct sl_overflow_history *history;
  const struct sl_replan *replan;
  const struct sl_times *times;
  const struct sl_traffic *traffic;
  const struct sl_outputs *outputs;
  const struct sl_rotation *rotation;
};

struct sl_statistics {
  struct sl_summary_parts parts;
  struct sl_summary summary;
  struct sl_node_summary *nodes;
  uint64_t *stretched_ns; /* per node summary: time before the present repetition */
  uint32_t *kernel_nodes; /* per node summary */
  struct sl_output_summary *outputs;
  struct sl_budget_summary *budgets; /* per budget of the overflow history */
  struct sl_time_summary *times;
  struct sl_device_summary devices[SL_DEVICES_MAX];
  struct sl_follow_summary follow;
  uint64_t host_syncs, earlier_graph_events; /* of slots that were closed: of earlier configurations */
};

int sl_summary_open(struct sl_statistics *st, const struct sl_summary_parts *parts);
void sl_summary_close(struct sl_statistics *st);
/* Sets items and digests of the outputs. */
void sl_summary_sum_outputs(struct sl_statistics *st);
/* Ends a configuration: adds the counts of its slots, and closes the tables of its graph. sl_summary_open opens those
 * of the next configuration. */
void sl_summary_change(struct sl_statistics *st);
/* Timed repetitions, without an interrupted one. */
struct sl_repeated {
  uint64_t events, ns;
};
void sl_summary_sum(struct sl_statistics *st, const struct sl_repeated *repeated, uint64_t end_ns);
/* Number of events that went through the graph, once per pass, without events with errors. */
uint64_t sl_events_in_graph(const struct sl_statistics *st);
/* Records that repetition `index`, with `events` events, has ended. */
void sl_summary_stretch(struct sl_statistics *st, uint32_t index, uint64_t events);

#endif
