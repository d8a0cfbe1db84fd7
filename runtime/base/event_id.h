/* event_id.h: numbers and event identifiers that a user writes: "1:6001" (run and number), "6001" (in any run). */
#ifndef SL_EVENT_ID_H
#define SL_EVENT_ID_H

#include <sluice/sluice.h>

/* Read from *text, and move *text to the character after it. Numbers are decimal digits: no sign, blank or prefix.
 * Return 0 if *text does not begin with such a number, or if it is larger than `maximum` (of a run: UINT32_MAX). */
int sl_take_number(const char **text, uint64_t maximum, uint64_t *number);
int sl_take_event_id(const char **text, struct sl_event_id *id);

static inline int sl_event_id_is(const struct sl_event_id *id, const struct sl_event *event) {
  return id->number == event->number && (id->any_run || id->run == event->run);
}

#endif
