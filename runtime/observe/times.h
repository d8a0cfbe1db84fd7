/* times.h: where the time of the slots' threads and of the nodes goes. See times.c. */
#ifndef SL_TIMES_H
#define SL_TIMES_H

#include "execute/observer.h"
#include "execute/slot.h"

/* Time of a slot: per activity, and per node (of kernels on a device the device's time). */
struct sl_account {
  uint64_t ns[SL_ACTIVITIES];
  uint64_t *node_ns, *node_events, *node_calls;
};

/* Parts of the opening of a session. */
enum { SL_OPENING_GRAPH, SL_OPENING_PLAN, SL_OPENING_CONSTANTS, SL_OPENING_MEMORY, SL_OPENING_PARTS };

struct sl_times {
  const struct sl_setup *setup;
  struct sl_account *slots;
  uint64_t opening_since_ns, opening_ns[SL_OPENING_PARTS];
  uint64_t ticker_ns; /* of the thread that flushes */
  /* The time during which kernels run on the host, in one slot or several: the rate of the graph is over it, where no
   * repeat is timed. */
  pthread_mutex_t lock;
  uint32_t in_graph; /* number of slots that are in the graph now */
  uint64_t graph_since_ns, graph_ns;
};

extern const struct sl_observer_calls sl_times_observer; /* its context: struct sl_times */

/* With a layout; before it, the opening may be timed. */
int sl_times_open(struct sl_times *t, const struct sl_setup *s);
void sl_times_close(struct sl_times *t);
/* A part of the opening has ended. */
void sl_times_opened(struct sl_times *t, uint32_t part);
const char *sl_opening_name(uint32_t part);
/* Sum over slots. */
uint64_t sl_times_of_node(const struct sl_times *t, uint32_t node);
/* The rows of the summary: at most sl_times_most. */
struct sl_traffic;
uint32_t sl_times_most(const struct sl_setup *s);
uint32_t sl_times_sum(const struct sl_times *t, const struct sl_traffic *traffic, uint64_t wall_ns,
                      struct sl_time_summary *rows);
/* Number of nodes in one launch with the node, including it. */
uint32_t sl_nodes_together(const struct sl_setup *s, uint32_t node);

#endif
