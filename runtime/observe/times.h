/* times.h: time of the threads of the slots, and of nodes. See times.c. */
#ifndef SL_TIMES_H
#define SL_TIMES_H

#include "execute/observer.h"
#include "execute/slot.h"

/* Time of a slot per activity and per node (kernels on a device: time of the device). */
struct sl_account {
  uint64_t ns[SL_ACTIVITIES];
  uint64_t *node_ns, *node_events, *node_calls;
};

/* Phases of the opening of a session. */
enum { SL_OPENING_GRAPH, SL_OPENING_PLAN, SL_OPENING_CONSTANTS, SL_OPENING_MEMORY, SL_OPENING_PARTS };

struct sl_times {
  const struct sl_setup *setup;
  struct sl_account *slots;
  uint64_t opening_since_ns, opening_ns[SL_OPENING_PARTS];
  uint64_t ticker_ns;   /* time of the flushing thread */
  uint64_t planning_ns; /* time of the planner during the run */
  /* Time during which at least one slot runs kernels on the host. The rate of the graph refers to it if no
   * repetition is timed. */
  pthread_mutex_t lock;
  uint32_t in_graph; /* number of slots that run kernels now */
  uint64_t graph_since_ns, graph_ns;
};

extern const struct sl_observer_calls sl_times_observer; /* its context: struct sl_times */

/* Needs a layout. The opening may be timed before. */
int sl_times_open(struct sl_times *t, const struct sl_setup *s);
void sl_times_close(struct sl_times *t);
/* Ends a configuration: the time of its nodes becomes that of SL_ACTIVITY_EARLIER, and the arrays per node are closed.
 * sl_times_open opens those of the next configuration. */
void sl_times_change(struct sl_times *t);
/* Records the end of a phase of the opening. */
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
uint32_t sl_nodes_in_launch(const struct sl_setup *s, uint32_t node);

#endif
