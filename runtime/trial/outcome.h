/* outcome.h: what an algorithm wrote: its valid part, copied, after a look at whether it can be valid at all; and two
 * of them compared event by event. Findings end the process (process.h).
 */
#ifndef SL_TRIAL_OUTCOME_H
#define SL_TRIAL_OUTCOME_H

#include "trial/case.h"

struct trial_outcome;

/* Memory that processes share, handed out from its front; NULL where a function takes one: the process's own. */
struct trial_pool {
  size_t used_bytes, bytes;
  struct trial_outcome *reference; /* what the algorithm wrote on cpu; NULL until then */
};
enum { TRIAL_POOL_BYTES = 1 << 28 };
struct trial_pool *trial_pool_new(void); /* NULL when memory is out */

struct trial_written {
  uint64_t bounds[SL_BOUNDS_MAX]; /* items and subitems of each group, up to the last event */
  const uint32_t *offsets, *item_offsets[SL_BOUNDS_MAX];
  const void **values; /* per field; NULL: not written, or in no digest */
  uint64_t *counts;    /* of constants: values */
};

struct trial_outcome {
  const struct sl_algorithm *algorithm;
  uint32_t event_count;
  uint8_t *is_listed;          /* per event: the node ran on it */
  uint64_t *errors;            /* per event: what the kernel said with sl_event_fail */
  struct trial_written *ports; /* per member; outputs only */
};

/* Of the harness's last run. NULL only where the pool is full. */
struct trial_outcome *trial_observe(const struct sl_test *t, const struct trial_case *c, struct sl_child *log,
                                    struct trial_pool *pool);

/* The same for arguments that point to outputs in host memory, all events listed: `args` as a kernel or source got
 * them. Pointers of fields that nobody reads are null. */
struct trial_outcome *trial_observe_args(const struct sl_algorithm *a, void *args, uint32_t event_count,
                                         struct sl_child *log);

/* Event i of `other` is event events[i] of `reference`, or i where `events` is NULL. Events that either was not run on
 * are left out. `is_same_slice`: what belongs to the slice, or addresses a pool of it, must be equal too. */
void trial_compare(const struct trial_outcome *reference, const struct trial_outcome *other, const uint32_t *events,
                   int is_same_slice, struct sl_child *log);

/* What the slices of an input counted must sum up to what the whole did: adds the totals of `o` to those of `sums`, an
 * outcome of this process; compares them. */
void trial_add_totals(struct trial_outcome *sums, const struct trial_outcome *o);
void trial_compare_totals(const struct trial_outcome *reference, const struct trial_outcome *sums,
                          struct sl_child *log);

#endif
