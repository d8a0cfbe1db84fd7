/* observer.h: observers of a run. An observer is a table of optional callbacks; a session has an array of active
 * observers (observe/, results/), and the executor notifies them. Callbacks run in the thread of a slot unless stated
 * otherwise.
 */
#ifndef SL_OBSERVER_H
#define SL_OBSERVER_H

#include "execute/setup.h"

struct sl_slice;
struct sl_input;
struct sl_slot;

/* Activities of the thread of a slot. The thread is always in one activity: one of these, or running a node. */
#define SL_ACTIVITY_TABLE(M)                           \
  M(SL_ACTIVITY_OPEN, "open inputs and sinks")         \
  M(SL_ACTIVITY_READ, "wait to read")                  \
  M(SL_ACTIVITY_KEEP, "keep slices")                   \
  M(SL_ACTIVITY_STEPS, "lists and clearing")           \
  M(SL_ACTIVITY_GUARD, "guard")                        \
  M(SL_ACTIVITY_LAUNCH, "upload and launch")           \
  M(SL_ACTIVITY_DEVICE, "wait for the device")         \
  M(SL_ACTIVITY_WAIT_TO_DELIVER, "wait to deliver")    \
  M(SL_ACTIVITY_TOTALS, "items and totals")            \
  M(SL_ACTIVITY_DIGESTS, "digests")                    \
  M(SL_ACTIVITY_CALLBACKS, "callbacks of the program") \
  M(SL_ACTIVITY_METRICS, "metrics")                    \
  M(SL_ACTIVITY_FINISH, "finish sinks")                \
  M(SL_ACTIVITY_REPLAN, "change the plan")             \
  M(SL_ACTIVITY_RELOAD, "change the configuration")    \
  M(SL_ACTIVITY_EARLIER, "earlier configurations")     \
  M(SL_ACTIVITY_OTHER, "other")                        \
  M(SL_ACTIVITY_IDLE, "idle")
#define SL_ACTIVITY_ENUM_(activity, name) activity,
enum { SL_ACTIVITY_TABLE(SL_ACTIVITY_ENUM_) SL_ACTIVITIES };
#define SL_ACTIVITY_OF_NODE(n) (SL_ACTIVITIES + (n))

/* Points of a slice in the streams of a device. */
enum { SL_POINT_STEPS_END, SL_POINT_PACKED, SL_POINT_UPLOAD_BEGIN, SL_POINT_UPLOAD_END, SL_POINTS };

/* A named time interval. `key` and `value` are an annotation; `key` may be NULL. */
struct sl_span {
  const char *name;
  uint64_t begin_ns, end_ns;
  const char *key;
  uint64_t value;
};

/* All callbacks are optional. Callbacks that return int return 0, or an error that ends the slice. */
struct sl_observer_calls {
  /* The thread has spent `ns` in an activity, or in a node (SL_ACTIVITY_OF_NODE). */
  void (*activity)(void *context, const struct sl_slot *slot, uint32_t activity, uint64_t ns);
  /* The thread has ended a span. Spans of a slot nest. */
  void (*span)(void *context, const struct sl_slot *slot, const struct sl_span *span);
  /* A node has run on `events` events on the host: a kernel in a step of the slice, or the source or a sink with
   * `slice` NULL. */
  void (*node)(void *context, struct sl_slot *slot, const struct sl_slice *slice, uint32_t node, uint64_t events);
  /* Before a node runs, or before event lists are combined (`node` is UINT32_MAX). 1: leave it out. */
  int (*choose)(void *context, const struct sl_slot *slot, const struct sl_slice *slice, uint32_t step, uint32_t node);
  /* On a device: before a slice is enqueued; around each step; at each SL_POINT; when the results of `count` events
   * have arrived. */
  int (*slice_begin)(void *context, struct sl_slot *slot);
  int (*step_begin)(void *context, struct sl_slot *slot, uint32_t slice_index, uint32_t step);
  int (*step_end)(void *context, struct sl_slot *slot, uint32_t slice_index, uint32_t step);
  int (*point)(void *context, struct sl_slot *slot, uint32_t slice_index, uint32_t point);
  int (*arrived)(void *context, struct sl_slot *slot, uint32_t slice_index, uint32_t count);
  /* The thread starts and has finished running a part of a slice. */
  void (*part_begin)(void *context, uint64_t now_ns);
  void (*part_end)(void *context, uint64_t now_ns);
  /* `input`: an input begins to run. `part_accepted`: `count` of its events have run and will be delivered. */
  void (*input)(void *context, struct sl_slot *slot, const struct sl_input *input);
  void (*part_accepted)(void *context, struct sl_slot *slot, uint32_t count);
  /* A part is delivered, in input order, with the delivery lock held. `empty`: an event with an error, without
   * items. */
  int (*deliver)(void *context, struct sl_slot *slot, const struct sl_batch *batch, int empty);
  /* A slice was delivered, after `ns` in the slot. The next slice is not delivered before the callback returns. */
  void (*slice_end)(void *context, struct sl_slot *slot, uint64_t ns);
  /* About once a second, in a separate thread, with the delivery lock held. */
  int (*tick)(void *context, uint64_t now_ns);
};

struct sl_observer {
  const struct sl_observer_calls *calls;
  void *context;
};

enum { SL_OBSERVERS_MAX = 12 };
struct sl_observers {
  struct sl_observer at[SL_OBSERVERS_MAX];
  uint32_t count;
  uint32_t need_steps; /* the device runs step by step instead of replaying a captured graph */
};

void sl_observers_add(struct sl_observers *o, const struct sl_observer_calls *calls, void *context);
void sl_observers_remove(struct sl_observers *o, const void *context);

/* Calls a callback of all observers that define it. */
#define SL_NOTIFY(observers, call, ...)                                                          \
  do {                                                                                           \
    const struct sl_observers *all_ = (observers);                                               \
    for (uint32_t i_ = 0; i_ < all_->count; i_++)                                                \
      if (all_->at[i_].calls->call) all_->at[i_].calls->call(all_->at[i_].context, __VA_ARGS__); \
  } while (0)
/* Calls a callback of all observers that define it, until one does not return 0; `status`, initially 0, gets that
 * value. */
#define SL_NOTIFY_STATUS(status, observers, call, ...)                                                      \
  do {                                                                                                      \
    const struct sl_observers *all_ = (observers);                                                          \
    for (uint32_t i_ = 0; i_ < all_->count && (status) == SL_OK; i_++)                                      \
      if (all_->at[i_].calls->call) (status) = all_->at[i_].calls->call(all_->at[i_].context, __VA_ARGS__); \
  } while (0)

/* ------------------------------------------------------------------------------- activities */

const char *sl_activity_name(uint32_t activity);
/* The thread enters another activity. Returns the previous one. */
uint32_t sl_activity_enter(struct sl_slot *slot, uint32_t activity);
/* Reports the time spent so far in the present activity, which continues. Returns the host time. */
uint64_t sl_activity_settle(struct sl_slot *slot);
/* Nodes have run together on the host since the last change of activity. Reports an equal share of the time for
 * each. */
void sl_nodes_ran(struct sl_slot *slot, const struct sl_slice *slice, const char *name, const uint32_t *nodes,
                  uint32_t count);
/* Reports a span that ends now, or at `end_ns`. */
void sl_span_end(struct sl_slot *slot, const char *name, uint64_t begin_ns, const char *key, uint64_t value);
void sl_span_add(struct sl_slot *slot, const char *name, uint64_t begin_ns, uint64_t end_ns, const char *key,
                 uint64_t value);

/* An activity within another one, and its span. */
struct sl_scope {
  uint32_t outer;
  uint64_t begin_ns;
};
struct sl_scope sl_scope_begin(struct sl_slot *slot, uint32_t activity);
void sl_scope_end(struct sl_slot *slot, struct sl_scope scope);
void sl_scope_end_span(struct sl_slot *slot, struct sl_scope scope, const char *name, const char *key, uint64_t value);

#endif
