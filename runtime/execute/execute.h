/* execute.h: one slice through the graph (execute.c), and slices through slots (flights.c). */
#ifndef SL_EXECUTE_H
#define SL_EXECUTE_H

#include "execute/slot.h"

/* Enqueues a whole slice, where the backend runs beside the host. */
int sl_flight_start(struct sl_slot *slot, uint32_t flight);
/* Waits for the slice, or runs it, in parts where necessary, and delivers each part. */
int sl_flight_finish(struct sl_slot *slot, uint32_t flight);

struct sl_reading;

/* Runs slices in the threads of all slots, the calling thread is slot 0's: those that the source gives; or those that
 * were kept for --repeat, each once and delivered; or `passes` times, not delivered. Returns the first failure. */
int sl_run_source(struct sl_slot *slots, struct sl_reading *reading);
int sl_run_kept(struct sl_slot *slots, struct sl_reading *reading);
int sl_run_repeated(struct sl_slot *slots, struct sl_reading *reading, uint64_t passes);
/* Reads all slices of the source and keeps them. */
int sl_keep_slices(struct sl_slot *slot, struct sl_reading *reading);

#endif
