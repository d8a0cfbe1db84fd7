/* case.h: the inputs of a node for one slice, as arrays: captured while a graph runs, cut into other slices, and given
 * to the test harness. Lives in a child of process.h, so that nothing is freed.
 */
#ifndef SL_TRIAL_CASE_H
#define SL_TRIAL_CASE_H

#include "base/child.h"
#include "session/inspect.h"
#include "testing/harness.h"

/* A port's fields. Offsets are kept even where the algorithm does not read them, as long as a port that shares them is
 * read: slices are cut by them. */
struct trial_port {
  uint32_t producers;         /* 0: not connected */
  struct trial_port *entries; /* of a list port: what comes from each of them; it has nothing else itself. Else NULL */
  const char *const *names;
  uint64_t bounds[SL_BOUNDS_MAX];              /* valid items, and subitems or words of each group */
  void **values;                               /* per field; NULL: the algorithm does not get it */
  uint64_t *counts;                            /* values */
  const uint32_t *offsets;                     /* NULL: unknown, or the collection has none */
  const uint32_t *item_offsets[SL_BOUNDS_MAX]; /* the same, of each group */
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

/* capture.c: runs the graph of an open session, which has one slot, up to the node, slice by slice, until one has
 * events for it; node and constants before it only. 0; or an error, with the reason in `reason`. */
int trial_capture(struct sl_session *s, uint32_t node, struct trial_case *c, char *reason, size_t reason_size);
/* The inputs of a constant, which are other constants. */
void trial_capture_constant(const struct sl_session *s, uint32_t node, struct trial_case *c);
/* Opens the session's source: its state, or NULL with the reason. */
void *trial_source_open(const struct sl_session *s, char *reason, size_t reason_size);

/* cut.c: can slices be cut of it? NULL, or why not. */
const char *trial_why_whole(const struct trial_case *c);
/* The case of these events, in this order. */
struct trial_case trial_select(const struct trial_case *c, const uint32_t *events, uint32_t count);
/* The events from `first` on, in the same arrays: offsets do not begin at 0. */
struct trial_case trial_tail(const struct trial_case *c, uint32_t first);
/* The same arrays, for every other event of the list only. */
struct trial_case trial_every_other(const struct trial_case *c);

/* Tells the harness what the algorithm's references to fields refer to; before anything else. */
void trial_refer(const struct trial_case *c, struct sl_test *t);
/* Gives everything to the harness. */
void trial_give(const struct trial_case *c, struct sl_test *t);

/* Per node, 1 for those that the node gets something from, and for itself; and whether a step is of one of them. */
uint8_t *trial_needed(const struct sl_session *s, uint32_t node);
int trial_is_needed(const struct sl_session *s, const uint8_t *needed, const struct sl_step *step);

#endif
