/* summary.h: the summary of a run. See summary.c. */
#ifndef SL_SUMMARY_H
#define SL_SUMMARY_H

#include "execute/delivery.h"
#include "execute/overflow_history.h"
#include "execute/source.h"
#include "observe/times.h"
#include "observe/traffic.h"
#include "results/outputs.h"

/* The parts of a session that the summary is made of. */
struct sl_summary_parts {
  const struct sl_setup *setup;
  const struct sl_slot *const *slots;
  const struct sl_reading *reading;
  const struct sl_delivery *delivery;
  const struct sl_overflow_history *history;
  const struct sl_times *times;
  const struct sl_traffic *traffic;
  const struct sl_outputs *outputs;
};

struct sl_statistics {
  struct sl_summary_parts parts;
  struct sl_summary summary;
  struct sl_node_summary *nodes;
  uint64_t *stretched_ns; /* per node summary: before the stretch that runs */
  uint32_t *kernel_nodes; /* per node summary */
  struct sl_output_summary *outputs;
  struct sl_budget_summary *budgets; /* per budget of the overflow history */
  struct sl_time_summary *times;
  struct sl_device_summary devices[SL_DEVICES_MAX];
};

int sl_summary_open(struct sl_statistics *st, const struct sl_summary_parts *parts);
void sl_summary_close(struct sl_statistics *st);
/* The passes that were timed: stretches that ran to their end. */
struct sl_repeated {
  uint64_t events, ns;
};
void sl_summary_sum(struct sl_statistics *st, const struct sl_repeated *repeated, uint64_t end_ns);
/* Events that went through the graph so far, each pass counted; events with an error did not. */
uint64_t sl_events_in_graph(const struct sl_statistics *st);
/* A stretch of the repeats has ended, the `index`th, of so many events. */
void sl_summary_stretch(struct sl_statistics *st, uint32_t index, uint64_t events);

#endif
