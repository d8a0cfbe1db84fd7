/* replan.h: new memory plans during a run, from the budgets that its slices needed. See replan.c. */
#ifndef SL_REPLAN_H
#define SL_REPLAN_H

#include "base/thread.h"
#include "execute/slot.h"

#include <pthread.h>
#include <stdatomic.h>

struct sl_overflow_history;

/* A request to the planner: values of all budgets. */
struct sl_replan_request {
  struct sl_budgets budgets;
  uint32_t reason; /* SL_PLAN_GROWN, SL_PLAN_SHRUNK */
  uint64_t event;  /* number of events delivered before */
};

struct sl_replan {
  struct sl_setup *setup;
  struct sl_overflow_history *history;
  pthread_mutex_t lock; /* protects what follows, up to the blank line */
  pthread_cond_t changed;
  struct sl_replan_request request;
  int is_asked, is_planning, has_ended;
  struct sl_layout **layouts; /* plans made during the run, in this order */
  struct sl_plan_change *changes;
  uint32_t layout_count;
  uint64_t planning_ns;
  uint64_t refused_bytes; /* an arena of this size is beyond the limit; 0: none was refused */
  int is_off;             /* no further plans, because memory or threads ran out */

  _Atomic(const struct sl_layout *) newest; /* slots change to it when they are idle */
  struct sl_thread thread;
  uint64_t next_shrink; /* number of whole slices before the arena may shrink; protected by the delivery lock */
};

/* Opens with the plan of the setup. The thread of the planner is started by the first request. */
void sl_replan_open(struct sl_replan *r, struct sl_setup *setup, struct sl_overflow_history *history);
void sl_replan_close(struct sl_replan *r);
/* Looks at the counts of the slices so far and asks for a plan if one is needed. After each delivered slice, with the
 * delivery lock held; `events`: number of events delivered. */
void sl_replan_consider(struct sl_replan *r, uint64_t events);
/* Waits until no plan is needed any more, while no slice is in flight. */
void sl_replan_settle(struct sl_replan *r, uint64_t events);
/* Ends the planner. */
void sl_replan_end(struct sl_replan *r);
/* 1 if there is a plan that the slot has neither adopted nor refused. */
int sl_replan_is_due(const struct sl_slot *slot);
/* Changes the slot, which has no slice in flight, to the newest plan. If there is no memory for it, the slot keeps its
 * plan, with a warning. */
void sl_replan_adopt(struct sl_slot *slot);
/* Writes a graph file with the budgets that the events so far needed. */
int sl_replan_write_budgets(const struct sl_replan *r, uint64_t events, FILE *file);

#endif
