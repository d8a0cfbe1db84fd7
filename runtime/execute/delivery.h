/* delivery.h: delivery of finished parts of slices, and events with an error. See deliver.c, event_errors.c. */
#ifndef SL_DELIVERY_H
#define SL_DELIVERY_H

#include "execute/slot.h"

/* Events with an error or a truncation, by node and reason, in order of first occurrence. Owns its texts. */
struct sl_event_errors {
  struct sl_error_summary *summaries;
  uint32_t count;
};

/* Changed by one slot at a time, in the order of delivery. */
struct sl_delivery {
  pthread_mutex_t lock;         /* held while a part is delivered, and while the metrics are written */
  int active;                   /* 0 in repeats */
  struct sl_output_view *views; /* views of the part being delivered, and their field pointers */
  const void **view_pointers;
  uint64_t events, error_events, last_progress_ns;
  uint64_t progress_done, progress_total; /* see on_progress of struct sl_options */
  uint64_t earlier_events;                /* --resume: number of events that an earlier process delivered */
  uint32_t configuration;                 /* number of changes of the configuration so far */
  struct sl_event_errors errors, truncations;
};

/* Opens and closes the views of the outputs of a configuration; the counts stay. */
int sl_delivery_open(struct sl_delivery *d, const struct sl_setup *s);
void sl_delivery_close(struct sl_delivery *d);
void sl_event_errors_close(struct sl_delivery *d);
/* Delivers events [first, first + count) of the slice's input, in order. `empty`: they have an error, and no items. */
int sl_deliver(struct sl_slot *slot, uint32_t slice_index, uint32_t first, uint32_t count, int empty);
/* Sets batch->selected, the events of the batch that a sink is called for. An event with an error is on no list. */
void sl_select_events(const struct sl_slot *slot, uint32_t node, int empty, struct sl_batch *batch);

/* Reports an event with an error, and counts it. */
int sl_event_error_add(struct sl_delivery *d, const struct sl_setup *s, const struct sl_input *input, uint32_t index);
/* Writes the reason of an event with an error; returns the name of the node that found it, or NULL if it is unknown. */
const char *sl_event_error_describe(const struct sl_setup *s, const struct sl_input *input, uint32_t index,
                                    char *reason, size_t size);
/* Reports and counts an event that a kernel truncated, as `word` states. */
int sl_event_truncation_add(struct sl_delivery *d, const struct sl_setup *s, const struct sl_event *event,
                            uint64_t word);

#endif
