/* event_faults.h: events that a source cannot deliver, counted, and named with their file, place and what was found.
 * The first EVENT_MESSAGES_MAX of each kind get a message of their own. */
#ifndef IO_EVENT_FAULTS_H
#define IO_EVENT_FAULTS_H

#include "mdf.h"

#include <sluice/plugin.h>

#include <stddef.h>

enum { EVENT_MESSAGES_MAX = 20, EVENT_ERROR_KINDS = SL_EVENT_REFUSED + 1 };

struct event_faults {
  uint64_t message_counts[EVENT_ERROR_KINDS]; /* what was said or would have been */
  uint64_t event_counts[EVENT_ERROR_KINDS];
};

/* Counts `count` events from `first` on, which are bad for one reason, and says so in one message. */
void event_faults_add(struct event_faults *f, const struct sl_services *s, const char *file,
                      const struct sl_event *first, uint32_t count, int strict, const char *text);
/* At the end of the input: how many there were of each kind, where messages were left out. */
void event_faults_summarise(const struct event_faults *f, const struct sl_services *s);

/* The event error that a fault in the file is. */
uint32_t event_error_of_fault(const struct mdf_fault *fault);

#endif
