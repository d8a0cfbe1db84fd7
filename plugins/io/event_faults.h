/* event_faults.h: events that a source cannot deliver are named with their file, place and what was found. The runtime
 * counts them by kind, and prints the first messages of each. */
#ifndef IO_EVENT_FAULTS_H
#define IO_EVENT_FAULTS_H

#include "format/mdf.h"

#include <sluice/plugin.h>

#include <stddef.h>

/* The end of such a message where it ends the run. */
#define EVENT_FAULTS_STRICT "; the run ends here, since the source is strict"

/* Says that `count` events from `first` on are bad for one reason. */
void event_faults_tell(const struct sl_services *s, const char *file, const struct sl_event *first, uint32_t count,
                       int strict, const char *text);

/* The event error that a fault in the file is. */
uint32_t event_error_of_fault(const struct mdf_fault *fault);

#endif
