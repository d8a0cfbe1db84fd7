/* records.h: the runtime's reader of record sources (sluice/host.h), and the source of events that a program gives as
 * arrays.
 */
#ifndef SL_RECORDS_H
#define SL_RECORDS_H

#include <sluice/plugin.h>

extern const struct sl_record_calls sl_record_calls;

/* Functions that replace those of the graph's source if the program gives arrays: its outputs are filled from them. */
extern const struct sl_source sl_arrays_source;
uint32_t sl_arrays_state_bytes(void);

#endif
