/* outputs.h: items, totals and digests of the graph's outputs, and the callbacks of the program. See outputs.c. */
#ifndef SL_OUTPUTS_H
#define SL_OUTPUTS_H

#include "execute/observer.h"
#include "results/identity.h"

struct sl_outputs {
  const struct sl_setup *setup;
  struct sl_identity *identity; /* its outputs receive items, totals and digests */
  uint32_t with_digests;
  uint64_t *digests;    /* per output: digest of the events so far, or since the last rotation */
  uint64_t *totals;     /* TOTAL fields of all outputs, summed over the run */
  uint64_t value_count; /* number of values in `totals` */
  /* With --rotate, the identity has the events since the last rotation: */
  uint64_t *file_totals;                     /* their sums; without --rotate the same array as `totals` */
  uint64_t *earlier_digests, *earlier_items; /* per output: of the events before them */
  uint64_t events;                           /* number of events since the last rotation */
  struct sl_total_summary *summaries;        /* per TOTAL field */
  uint32_t total_count;
};

extern const struct sl_observer_calls sl_outputs_observer; /* its context: struct sl_outputs */

/* Call after sl_identity_open. */
int sl_outputs_open(struct sl_outputs *o, const struct sl_setup *s, struct sl_identity *identity);
void sl_outputs_close(struct sl_outputs *o);
/* Histogram `i` of an output (sl_run_output.histogram_count) with the counts of the run so far, also in a run with
 * --rotate. Counts change while a slice is delivered: read them with the lock of the delivery held. */
struct sl_histogram sl_outputs_histogram(const struct sl_outputs *o, uint32_t output, uint32_t i);
/* Items and digest of an output over the run so far. The digest is that of its events one by one, or of its totals. */
uint64_t sl_outputs_items(const struct sl_outputs *o, uint32_t output);
uint64_t sl_outputs_digest(const struct sl_outputs *o, uint32_t output);
/* The digest of the events; 1 for totals. For sl_outputs_resume. */
uint64_t sl_outputs_events_digest(const struct sl_outputs *o, uint32_t output);
/* Sets items and digest of the events that an earlier run delivered; the caller sets `totals`. */
void sl_outputs_resume(struct sl_outputs *o, uint32_t output, uint64_t items, uint64_t digest);
/* Writes the digests so far, or since the last rotation, to the identity. */
void sl_outputs_update(const struct sl_outputs *o);
/* The identity begins again, without events: the sinks have begun new files. */
void sl_outputs_rotate(struct sl_outputs *o);
/* After the sinks were finished: the identity gets the whole run. */
void sl_outputs_settle(struct sl_outputs *o);

#endif
