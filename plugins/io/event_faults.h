/* event_faults.h: messages of events that a source cannot deliver: file, offset and reason. The runtime counts them by
 * format, and prints the first messages of each. */
#ifndef IO_EVENT_FAULTS_H
#define IO_EVENT_FAULTS_H

#include "format/mdf.h"

#include <sluice/plugin.h>

#include <stddef.h>

/* Appended to the message if the event ends the run. */
#define EVENT_FAULTS_STRICT "; the run ends here, since the source is strict"

/* Reports that `count` events from `first` on cannot be delivered, for one reason. */
void event_faults_report(const struct sl_services *s, const char *file, const struct sl_event *first, uint32_t count,
                         int strict, const char *text);

/* Returns the event error (SL_EVENT_...) of a fault. */
uint32_t event_error_of_fault(const struct mdf_fault *fault);

#endif
