/* overflow_history.h: history of output overflows, and the slice size that follows from it. See overflow_history.c. */
#ifndef SL_OVERFLOW_HISTORY_H
#define SL_OVERFLOW_HISTORY_H

#include "execute/slot.h"

#include <pthread.h>

/* A capacity that an output can overflow: a bound of an output of a kernel. */
struct sl_budget_entry {
  uint32_t word, node, member, bound; /* `used` word; bound of the member */
  uint64_t items;                     /* the capacity */
  const struct sl_capacity *capacity;
};

/* `plan`, `items` of budgets, `parts`, `slices_without_overflow` and `overflows` are protected by the lock; the rest
 * changes in delivery order. */
struct sl_overflow_history {
  const struct sl_setup *setup;
  pthread_mutex_t lock;
  struct sl_budget_entry *budgets;
  uint32_t budget_count;
  uint32_t plan;  /* the newest one; `budgets` has its capacities, and `parts` is for it */
  uint32_t parts; /* slices are closed at 1/parts of the largest slice size; 0 and 1: at the full size */
  uint32_t slices_without_overflow; /* consecutive slices for which fewer parts would have been enough */
  uint64_t *overflows;              /* per used word */
  uint64_t *window, *slice; /* per used word: counts of the present window; counts of the slice being delivered */
  uint64_t *needed_max;     /* per used word: maximum over all windows */
  uint64_t *scaled_max;     /* per used word: maximum over all slices of at least a quarter of the largest size, scaled
                               to the largest size */
  uint32_t most_events;     /* of a slice so far */
  uint64_t whole_slices;    /* number of windows of the largest size */
  uint64_t *raw, window_events; /* per bound of the source, in the window */
  uint32_t is_full, is_over;    /* the window ends with this slice, or within it */
  uint32_t is_ever_over;
};

int sl_overflow_history_open(struct sl_overflow_history *h, const struct sl_setup *s);
void sl_overflow_history_close(struct sl_overflow_history *h);
/* An overflow in a slot: a part of `count` events needed `used` of `capacity`. `word`: the used word, or used_count if
 * the packed results were too large. */
struct sl_overflow {
  uint32_t plan, count, word;
  uint64_t used, capacity;
};
/* Records an overflow. Returns the number of events that should fit. */
uint32_t sl_overflow_occurred(struct sl_overflow_history *h, struct sl_input *input, const struct sl_overflow *o);
/* Number of parts in which a slice is to be run by this plan; at least 1. */
uint32_t sl_overflow_parts(struct sl_input *input, uint32_t plan);
/* Begins with a new plan: slices have the largest size again. */
void sl_overflow_replanned(struct sl_overflow_history *h, const struct sl_layout *layout);
/* Records that a part of `count` events with these used words did not overflow. */
void sl_overflow_absent(struct sl_overflow_history *h, const uint32_t *used, uint32_t count);
/* Maximum number of events of the next slice, after `events` have been read. */
uint32_t sl_overflow_slice_events(struct sl_overflow_history *h, uint64_t events);
/* Records the delivery of the part that begins at event `first` of the input; used NULL: events with errors. */
void sl_overflow_delivered(struct sl_overflow_history *h, const struct sl_input *input, uint32_t first,
                           const uint32_t *used);
/* The property of a node, by its index among the members, that is the budget of an entry; SL_NONE: there is none. */
int32_t sl_overflow_property(const struct sl_overflow_history *h, const struct sl_budget_entry *entry);
/* Value of the property of an entry with which a slice of the largest size has room for `items`. */
uint64_t sl_overflow_value(const struct sl_overflow_history *h, const struct sl_budget_entry *entry, double items);
/* Writes the option that would have prevented all overflows to b->advice. */
void sl_overflow_advise(const struct sl_overflow_history *h, const struct sl_budget_entry *entry,
                        struct sl_budget_summary *b);

#endif
