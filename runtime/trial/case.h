/* case.h: the inputs of a node for one slice, as arrays: captured from a running graph, divided into other slices, and
 * passed to the test harness. Used in a child process (base/child.h), so that nothing is freed.
 */
#ifndef SL_TRIAL_CASE_H
#define SL_TRIAL_CASE_H

#include "base/child.h"
#include "session/inspect.h"
#include "testing/harness.h"

/* Fields of a port. Offsets are kept even if the algorithm does not read them, as long as a port that shares them is
 * read, because slices are divided by offsets. */
struct trial_port {
  uint32_t producers;         /* number of producers, 0: not connected */
  struct trial_port *entries; /* list port: one entry per producer, and no values of its own; otherwise NULL */
  const char *const *names;
  uint64_t bounds[SL_BOUNDS_MAX];              /* number of valid items, and of subitems or words per group */
  void **values;                               /* per field; NULL: not an input of the algorithm */
  uint64_t *counts;                            /* per field: number of values */
  const uint32_t *offsets;                     /* offsets; NULL: unknown, or the collection has none */
  const uint32_t *item_offsets[SL_BOUNDS_MAX]; /* offsets of each group of subitems */
};

static inline struct trial_port *trial_entry(struct trial_port *port, uint32_t k) {
  return port->entries ? &port->entries[k] : port;
}

struct trial_case {
  const struct sl_algorithm *algorithm;
  const struct sl_node *node;
  uint32_t event_count;
  uint32_t has_list, list_count;
  uint32_t *list;
  struct trial_port *ports; /* per member; inputs only */
};

/* capture.c: runs the graph of an open session with one slot, slice by slice, until one has events for the node.
 * Only nodes that `node` depends on run. Returns 0, or an error with the reason in `reason`. */
int trial_capture(struct sl_session *s, uint32_t node, struct trial_case *c, char *reason, size_t reason_size);
/* Copies the inputs of a node before it runs, and its outputs after it has run (per member). */
void trial_copy_node(const struct sl_moment *moment, uint32_t node, struct trial_case *c);
void trial_copy_outputs(const struct sl_moment *moment, uint32_t node, struct trial_port *ports);
/* Captures the inputs of a constant, which are other constants. */
void trial_capture_constant(const struct sl_session *s, uint32_t node, struct trial_case *c);
/* Opens the source of the session. Returns its state, or NULL with the reason. */
void *trial_source_open(const struct sl_session *s, char *reason, size_t reason_size);

/* cut.c: NULL if slices can be divided, otherwise the reason why not. */
const char *trial_why_whole(const struct trial_case *c);
/* The inputs for these events, in this order. */
struct trial_case trial_select(const struct trial_case *c, const uint32_t *events, uint32_t count);
/* The events from `first` on, in the same arrays; offsets do not begin at 0. */
struct trial_case trial_tail(const struct trial_case *c, uint32_t first);
/* All events, with a list of every other event. */
struct trial_case trial_every_other(const struct trial_case *c);

/* Sets the fields that field references of the algorithm refer to. Call first. */
void trial_refer(const struct trial_case *c, struct sl_test *t);
/* Passes all inputs to the harness. */
void trial_give(const struct trial_case *c, struct sl_test *t);

/* Per node: 1 if `node` depends on it, for the node itself, and for nodes of their families. trial_is_needed: 1 if a
 * step runs such a node. */
uint8_t *trial_needed(const struct sl_session *s, uint32_t node);
int trial_is_needed(const struct sl_session *s, const uint8_t *needed, const struct sl_step *step);

#endif
