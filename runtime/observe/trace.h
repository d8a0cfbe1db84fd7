/* trace.h: time line of a run, for --trace. See trace.c. */
#ifndef SL_TRACE_H
#define SL_TRACE_H

#include "execute/observer.h"
#include "execute/slot.h"
#include "results/files.h"

#include <pthread.h>

struct sl_trace {
  const struct sl_setup *setup;
  struct sl_option_log log;
  struct sl_output *file; /* NULL: no trace */
  pthread_mutex_t lock;
};

extern const struct sl_observer_calls sl_trace_observer; /* its context: struct sl_trace */

#define SL_TRACK_HOST(slot)   (3 * (slot) + 1)
#define SL_TRACK_DEVICE(slot) (3 * (slot) + 2)
#define SL_TRACK_UPLOAD(slot) (3 * (slot) + 3)
uint32_t sl_track_of_branch(const struct sl_setup *s, uint32_t slot, uint32_t branch); /* 0: SL_TRACK_DEVICE */

/* Opens the file of --trace, if it was given. */
int sl_trace_open(struct sl_trace *t, const struct sl_setup *s, const struct sl_files *files);
/* Adds a span of a track, from any thread. */
void sl_trace_add(struct sl_trace *t, uint32_t track, const struct sl_span *span);
int sl_trace_close(struct sl_trace *t, const struct sl_files *files);

#endif
