/* outcome.h: the valid part of the output of an algorithm, copied after a check (observe/validity.h), and the
 * comparison of two outcomes event by event. Findings end the process (base/child.h).
 */
#ifndef SL_TRIAL_OUTCOME_H
#define SL_TRIAL_OUTCOME_H

#include "trial/case.h"

struct trial_outcome;

/* Memory shared by processes, allocated from its front. Functions that take NULL use the memory of the process. */
struct trial_pool {
  size_t used_bytes, bytes;
  struct trial_outcome *reference; /* outcome on cpu; NULL before that run */
};
enum { TRIAL_POOL_BYTES = 1 << 28 };
struct trial_pool *trial_pool_new(void); /* NULL if out of memory */

struct trial_written {
  uint64_t bounds[SL_BOUNDS_MAX]; /* number of items, and of subitems per group, up to the last event */
  const uint32_t *offsets, *item_offsets[SL_BOUNDS_MAX];
  const void **values; /* per field; NULL: not written, or not part of digests */
  uint64_t *counts;    /* constants: number of values per field */
};

struct trial_outcome {
  const struct sl_algorithm *algorithm;
  uint32_t event_count;
  uint8_t *is_listed;          /* per event: 1 if the node ran on it */
  uint64_t *errors;            /* per event: error of sl_event_fail */
  const uint64_t *numbers;     /* per event: its number in the input, for messages; NULL: its index */
  struct trial_written *ports; /* per member; outputs only */
};

/* Outcome of the last run of the harness. NULL only if the pool is full. */
struct trial_outcome *trial_observe(const struct sl_test *t, const struct trial_case *c, struct sl_child *log,
                                    struct trial_pool *pool);

/* Outcome for an argument struct with outputs in host memory and all events listed: `args` as passed to a kernel or
 * source. Pointers of unread fields are null. */
struct trial_outcome *trial_observe_args(const struct sl_algorithm *a, void *args, uint32_t event_count,
                                         struct sl_child *log);

/* Compares event i of `other` with event events[i] of `reference` (i if `events` is NULL). Events that one of the
 * two did not run on are skipped. `is_same_slice`: values of the slice and indices into pools must be equal too. */
void trial_compare(const struct trial_outcome *reference, const struct trial_outcome *other, const uint32_t *events,
                   int is_same_slice, struct sl_child *log);

/* Compares the values of a field of a constant. */
void trial_compare_array(const char *port, const struct sl_field *field, const void *reference, const void *other,
                         uint64_t count, struct sl_child *log);

/* Adds the totals of `o` to those of `sums`, and compares totals: the totals of the slices of an input must add up
 * to the totals of the whole. */
void trial_add_totals(struct trial_outcome *sums, const struct trial_outcome *o);
void trial_compare_totals(const struct trial_outcome *reference, const struct trial_outcome *sums,
                          struct sl_child *log);

#endif
