/* event_records.h: digests and named entries of each event, for the JSON of a run with --digest=events. See
 * event_records.c. */
#ifndef SL_EVENT_RECORDS_H
#define SL_EVENT_RECORDS_H

#include "base/json.h"
#include "execute/observer.h"
#include "results/identity.h"

struct sl_event_records {
  const struct sl_setup *setup;
  const struct sl_identity *identity;
  struct sl_json outputs, entries, events; /* arrays that are being written */
  uint32_t entry_count;
  int is_open;  /* the arrays exist */
  int is_ended; /* the configuration has changed: further events are left out */
};

/* Begins the records with the first configuration, and ends them, with a note, when another one takes effect. */
void sl_event_records_open(struct sl_event_records *r, const struct sl_setup *s, const struct sl_identity *identity);
void sl_event_records_close(struct sl_event_records *r);
/* Writes the member "event_records", if there are records. */
void sl_event_records_json(const struct sl_event_records *r, struct sl_json *j);

extern const struct sl_observer_calls sl_event_records_observer; /* context: struct sl_event_records */

#endif
