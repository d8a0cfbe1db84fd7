/* event_faults.c: see event_faults.h. */
#include "event_faults.h"

#include <inttypes.h>
#include <stdio.h>

/* The runtime groups messages by format, so each kind of fault has a format of its own. */
void event_faults_report(const struct sl_services *s, const char *file, const struct sl_event *first, uint32_t count,
                         int strict, const char *text) {
  const uint32_t severity = strict ? SL_ERROR : SL_WARNING;
  const char *end = strict ? EVENT_FAULTS_STRICT : "";
  char events[64];
  if (count == 1)
    snprintf(events, sizeof events, "event %" PRIu64, first->number);
  else
    snprintf(events, sizeof events, "events %" PRIu64 " to %" PRIu64, first->number, first->number + count - 1);
  if (first->error == SL_EVENT_TRUNCATED)
    s->message(s->context, severity, "%s: record at byte %" PRIu64 " (%s): truncated: %s%s", file, first->offset,
               events, text, end);
  else if (first->error == SL_EVENT_TOO_LARGE)
    s->message(s->context, severity, "%s: record at byte %" PRIu64 " (%s): too large: %s%s", file, first->offset,
               events, text, end);
  else
    s->message(s->context, severity, "%s: record at byte %" PRIu64 " (%s): %s%s", file, first->offset, events, text,
               end);
}

uint32_t event_error_of_fault(const struct mdf_fault *fault) {
  if (fault->kind == MDF_FAULT_TOO_LARGE) return SL_EVENT_TOO_LARGE;
  return fault->kind == MDF_FAULT_TRUNCATED ? SL_EVENT_TRUNCATED : SL_EVENT_CORRUPT;
}
