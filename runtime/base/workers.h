/* workers.h: threads that share the iterations of a loop and wait between loops. The caller of a loop is worker 0 and
 * takes part, so that one worker needs no thread.
 */
#ifndef SL_WORKERS_H
#define SL_WORKERS_H

#include <stdint.h>

enum { SL_WORKERS_MAX = 256 };

struct sl_workers;

/* Creates `count` workers, 1 to SL_WORKERS_MAX; NULL if out of memory. The first loop that needs threads starts them.
 * The first `watchful` workers spin for a short time after a loop, using their processors, because the next loop
 * usually follows soon. */
struct sl_workers *sl_workers_new(uint32_t count, uint32_t watchful);
void sl_workers_free(struct sl_workers *w);

/* Calls body(work, i, worker) once for each i < count, in any order and by any worker, and returns when all calls are
 * done. One loop at a time; must not be nested. */
typedef void sl_worker_body(void *work, uint32_t index, uint32_t worker);
void sl_workers_run(struct sl_workers *w, uint32_t count, sl_worker_body *body, void *work);

/* Returns the number of workers that could not be started; the others do their work. *error is then an errno. */
uint32_t sl_workers_missing(const struct sl_workers *w, int *error);

/* Returns the number of processors that this process may use; 1 if unknown. */
uint32_t sl_processors(void);

#endif
