/* outputs.h: items, totals and digests of the graph's outputs, and the callbacks of the program. See outputs.c. */
#ifndef SL_OUTPUTS_H
#define SL_OUTPUTS_H

#include "execute/observer.h"
#include "results/identity.h"

struct sl_outputs {
  const struct sl_setup *setup;
  struct sl_identity *identity; /* its outputs receive items, totals and digests */
  uint32_t with_digests;
  uint64_t *digests;                  /* per output: digest of the events so far */
  uint64_t *totals;                   /* TOTAL fields of all outputs, summed over the run */
  struct sl_total_summary *summaries; /* per TOTAL field */
  uint32_t total_count;
};

extern const struct sl_observer_calls sl_outputs_observer; /* its context: struct sl_outputs */

/* Call after sl_identity_open. */
int sl_outputs_open(struct sl_outputs *o, const struct sl_setup *s, struct sl_identity *identity);
void sl_outputs_close(struct sl_outputs *o);
/* Digest of an output so far: of its events one by one, or of its totals. */
uint64_t sl_outputs_digest(const struct sl_outputs *o, uint32_t output);
/* Writes the digests so far to the identity. */
void sl_outputs_update(const struct sl_outputs *o);

#endif
