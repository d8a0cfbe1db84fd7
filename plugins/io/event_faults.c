/* event_faults.c: see event_faults.h. */
#include "event_faults.h"

#include <inttypes.h>
#include <stdio.h>

void event_faults_add(struct event_faults *f, const struct sl_services *s, const char *file,
                      const struct sl_event *first, uint32_t count, int strict, const char *text) {
  f->event_counts[first->error] += count;
  const uint64_t before = f->message_counts[first->error]++;
  if (before >= EVENT_MESSAGES_MAX) return;
  char events[64];
  if (count == 1)
    snprintf(events, sizeof events, "event %" PRIu64, first->number);
  else
    snprintf(events, sizeof events, "events %" PRIu64 " to %" PRIu64, first->number, first->number + count - 1);
  s->message(s->context, strict ? SL_ERROR : SL_WARNING, "%s: record at byte %" PRIu64 " (%s): %s%s", file,
             first->offset, events, text,
             before + 1 == EVENT_MESSAGES_MAX ? " (further ones like this are only counted)" : "");
}

void event_faults_summarise(const struct event_faults *f, const struct sl_services *s) {
  static const char *const kinds[EVENT_ERROR_KINDS] = {
      [SL_EVENT_CORRUPT] = "corrupt", [SL_EVENT_TRUNCATED] = "truncated", [SL_EVENT_TOO_LARGE] = "too large"};
  for (uint32_t kind = 0; kind < EVENT_ERROR_KINDS; kind++)
    if (f->message_counts[kind] > EVENT_MESSAGES_MAX)
      s->message(s->context, SL_WARNING, "%" PRIu64 " events in all are %s", f->event_counts[kind], kinds[kind]);
}

uint32_t event_error_of_fault(const struct mdf_fault *fault) {
  return fault->kind == MDF_FAULT_TRUNCATED ? SL_EVENT_TRUNCATED : SL_EVENT_CORRUPT;
}
