/* workers.h: threads that share the steps of a loop, and wait between one loop and the next. Whoever asks for a loop is
 * worker 0 and takes part, so that one worker needs no thread.
 */
#ifndef SL_WORKERS_H
#define SL_WORKERS_H

#include <stdint.h>

enum { SL_WORKERS_MAX = 256 };

struct sl_workers;

/* `count` workers, 1 to SL_WORKERS_MAX; NULL when memory is out. Threads are started by the first loop that has a use
 * for them. The first `watchful` stay awake for a while after a loop, as the next one is soon there, and keep their
 * processors meanwhile. */
struct sl_workers *sl_workers_new(uint32_t count, uint32_t watchful);
void sl_workers_free(struct sl_workers *w);

/* Calls body(work, i, worker) for each i < count, once, in any order and by any worker, and returns when all are done.
 * One loop at a time, not from within another. */
typedef void sl_worker_body(void *work, uint32_t index, uint32_t worker);
void sl_workers_run(struct sl_workers *w, uint32_t count, sl_worker_body *body, void *work);

/* How many workers could not be started, which the others stand in for; `error` is then an errno. */
uint32_t sl_workers_missing(const struct sl_workers *w, int *error);

/* Processors that this process may use; 1 where that is not known. */
uint32_t sl_processors(void);

#endif
