/* execute.h: runs one slice (execute.c), and slices in slots (slices.c). */
#ifndef SL_EXECUTE_H
#define SL_EXECUTE_H

#include "execute/slot.h"

/* Enqueues a whole slice on a device. Does nothing on the host. */
int sl_execute_start(struct sl_slot *slot, uint32_t slice_index);
/* Waits for the slice on a device, runs it on the host; in parts where necessary. Delivers each part. */
int sl_execute_finish(struct sl_slot *slot, uint32_t slice_index);

struct sl_reading;

/* Runs slices in the threads of all slots; slot 0 uses the calling thread. sl_run_source: slices from the source, until
 * the input ends or reading pauses; all of them are delivered.
 * sl_run_kept: slices kept for --repeat, each once and delivered. sl_run_repeated: kept slices, `passes` times, not
 * delivered. Return the first failure. */
int sl_run_source(struct sl_slot *slots, struct sl_reading *reading);
int sl_run_kept(struct sl_slot *slots, struct sl_reading *reading);
int sl_run_repeated(struct sl_slot *slots, struct sl_reading *reading, uint64_t passes);
/* Reads all slices of the source and keeps them. */
int sl_keep_slices(struct sl_slot *slot, struct sl_reading *reading);

#endif
