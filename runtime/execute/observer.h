/* observer.h: how parts of a run are observed. An observer is a table of optional callbacks; a session holds an array
 * of the observers that are on (observe/, results/), and the executor notifies them. Callbacks run in the thread of a
 * slot, unless stated otherwise.
 */
#ifndef SL_OBSERVER_H
#define SL_OBSERVER_H

#include "execute/setup.h"

struct sl_flight;
struct sl_input;
struct sl_slot;

/* Activities of a slot's thread besides nodes. It is in one of them at any time, or in a node's. */
#define SL_ACTIVITY_TABLE(M)                           \
  M(SL_ACTIVITY_OPEN, "open inputs and sinks")         \
  M(SL_ACTIVITY_READ, "wait to read")                  \
  M(SL_ACTIVITY_KEEP, "keep slices")                   \
  M(SL_ACTIVITY_STEPS, "lists and clearing")           \
  M(SL_ACTIVITY_GUARD, "guard")                        \
  M(SL_ACTIVITY_LAUNCH, "upload and launch")           \
  M(SL_ACTIVITY_DEVICE, "wait for the device")         \
  M(SL_ACTIVITY_TURN, "wait for turn")                 \
  M(SL_ACTIVITY_TOTALS, "items and totals")            \
  M(SL_ACTIVITY_DIGESTS, "digests")                    \
  M(SL_ACTIVITY_CALLBACKS, "callbacks of the program") \
  M(SL_ACTIVITY_METRICS, "metrics")                    \
  M(SL_ACTIVITY_FINISH, "finish sinks")                \
  M(SL_ACTIVITY_OTHER, "other")                        \
  M(SL_ACTIVITY_IDLE, "idle")
#define SL_ACTIVITY_ENUM_(activity, name) activity,
enum { SL_ACTIVITY_TABLE(SL_ACTIVITY_ENUM_) SL_ACTIVITIES };
#define SL_ACTIVITY_OF_NODE(n) (SL_ACTIVITIES + (n))

/* Points of a slice in the streams of a device. */
enum { SL_POINT_STEPS_END, SL_POINT_PACKED, SL_POINT_UPLOAD_BEGIN, SL_POINT_UPLOAD_END, SL_POINTS };

/* A stretch of time with a name. `key` and `value` say more about it; `key` may be NULL. */
struct sl_span {
  const char *name;
  uint64_t begin_ns, end_ns;
  const char *key;
  uint64_t value;
};

/* All callbacks are optional. Those that return int return 0, or an error that ends the slice. */
struct sl_observer_calls {
  /* The thread has spent `ns` in an activity, or in a node's: SL_ACTIVITY_OF_NODE. */
  void (*activity)(void *context, const struct sl_slot *slot, uint32_t activity, uint64_t ns);
  /* The thread has ended a span. Spans of a slot nest. */
  void (*span)(void *context, const struct sl_slot *slot, const struct sl_span *span);
  /* A node has run on `events` events, on the host: a kernel in a step of the flight; or the source or a sink, and
   * `flight` is NULL. */
  void (*node)(void *context, struct sl_slot *slot, const struct sl_flight *flight, uint32_t node, uint64_t events);
  /* Before a node runs, or before event lists are combined (`node` is UINT32_MAX). 1: leave it out. */
  int (*choose)(void *context, const struct sl_slot *slot, const struct sl_flight *flight, uint32_t step,
                uint32_t node);
  /* On a device. A slice is about to be enqueued; around each step; at each SL_POINT; results of `count` events of the
   * flight have arrived. */
  int (*slice_begin)(void *context, struct sl_slot *slot);
  int (*step_begin)(void *context, struct sl_slot *slot, uint32_t flight, uint32_t step);
  int (*step_end)(void *context, struct sl_slot *slot, uint32_t flight, uint32_t step);
  int (*point)(void *context, struct sl_slot *slot, uint32_t flight, uint32_t point);
  int (*arrived)(void *context, struct sl_slot *slot, uint32_t flight, uint32_t count);
  /* The thread enters the graph with a part of a slice, or has left it. */
  void (*part_begin)(void *context, uint64_t now_ns);
  void (*part_end)(void *context, uint64_t now_ns);
  /* An input goes through the graph; `count` of its events have done so, and are delivered. */
  void (*input)(void *context, struct sl_slot *slot, const struct sl_input *input);
  void (*part_accepted)(void *context, struct sl_slot *slot, uint32_t count);
  /* A part is delivered, in input order, with the lock of the delivery held. `empty`: an event with an error, which has
   * no items. */
  int (*deliver)(void *context, struct sl_slot *slot, const struct sl_batch *batch, int empty);
  /* A slice was delivered, after `ns` in the slot. Before the next one may be delivered. */
  void (*slice_end)(void *context, struct sl_slot *slot, uint64_t ns);
  /* About once a second, in a thread of its own, with the lock of the delivery held. */
  int (*tick)(void *context, uint64_t now_ns);
};

struct sl_observer {
  const struct sl_observer_calls *calls;
  void *context;
};

enum { SL_OBSERVERS_MAX = 10 };
struct sl_observers {
  struct sl_observer at[SL_OBSERVERS_MAX];
  uint32_t count;
  uint32_t need_steps; /* a device is to run step by step, not replay a captured graph */
};

void sl_observers_add(struct sl_observers *o, const struct sl_observer_calls *calls, void *context);
void sl_observers_remove(struct sl_observers *o, const void *context);

/* Calls a callback of all observers that have it. */
#define SL_NOTIFY(observers, call, ...)                                                          \
  do {                                                                                           \
    const struct sl_observers *all_ = (observers);                                               \
    for (uint32_t i_ = 0; i_ < all_->count; i_++)                                                \
      if (all_->at[i_].calls->call) all_->at[i_].calls->call(all_->at[i_].context, __VA_ARGS__); \
  } while (0)
/* The same, up to the first that does not return 0; `status`, 0 before, gets its value. */
#define SL_NOTIFY_STATUS(status, observers, call, ...)                                                      \
  do {                                                                                                      \
    const struct sl_observers *all_ = (observers);                                                          \
    for (uint32_t i_ = 0; i_ < all_->count && (status) == SL_OK; i_++)                                      \
      if (all_->at[i_].calls->call) (status) = all_->at[i_].calls->call(all_->at[i_].context, __VA_ARGS__); \
  } while (0)

/* ------------------------------------------------------------------------------- the activity of a slot's thread */

const char *sl_activity_name(uint32_t activity);
/* The thread turns to another activity. Returns the one before. */
uint32_t sl_activity_enter(struct sl_slot *slot, uint32_t activity);
/* The time so far is reported, and the activity goes on. Returns the time of the host. */
uint64_t sl_activity_settle(struct sl_slot *slot);
/* Nodes have run together on the host since the last change of activity: each is reported, with the same share of the
 * time. */
void sl_nodes_ran(struct sl_slot *slot, const struct sl_flight *flight, const char *name, const uint32_t *nodes,
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
