/* watch.h: a look at a run, step by step, for who wants to know what a node gets: trial/. On the target cpu, with one
 * slot, of which nothing is delivered.
 */
#ifndef SL_WATCH_H
#define SL_WATCH_H

#include "execute/inspect.h"

/* Before a node, or before event lists are combined (then `node` is UINT32_MAX). */
struct sl_moment {
  const struct sl_session *session;
  const struct sl_step *step;
  uint32_t node;
  uint32_t event_count; /* of the slice, or of the part of one that runs */
  int is_whole;         /* it is the slice: fields begin where the input does */
  const struct sl_slot *slot;
  const struct sl_flight *flight;
};

/* 1: the step is left out; 0: it runs; SL_EINTERRUPTED: the slice ends here; another error: the run does. */
typedef int sl_look(void *context, const struct sl_moment *moment);

/* Where a storage lies at that moment. */
const void *sl_moment_storage(const struct sl_moment *m, int32_t storage);
/* How much the source filled of bound `bound` of its member `member`. */
uint64_t sl_moment_filled(const struct sl_moment *m, uint32_t member, uint32_t bound);
/* The moment before a session's first slice, when constants are there and nothing else is. */
struct sl_moment sl_moment_first(const struct sl_session *s);

/* Fills a slice from the source, whose state the caller has opened, and runs it under the look. Returns 1 if there may
 * be more, 0 at the end of the input, or an error: with *source_failed that of the source. */
int sl_session_watch_slice(struct sl_session *s, void *source_state, sl_look *look, void *context, int *source_failed);

#endif
