/* tally.c: see tally.h. */
#include "tally.h"

#include <inttypes.h>

enum { MESSAGES_MAX = 10 };

int tally_has_error(struct tally *t, const struct sl_event *event) {
  if (event->error == SL_EVENT_OK) return 0;
  t->error_events++;
  return 1;
}

static void complain(struct tally *t, const struct sl_services *s, const struct sl_event *event, const char *reason) {
  if (t->malformed_events++ < MESSAGES_MAX)
    s->message(s->context, SL_WARNING, "run %" PRIu32 " event %" PRIu64 ": malformed %s: %s", event->run, event->number,
               t->truth, reason);
}

int tally_decoded(struct tally *t, const struct sl_services *s, const struct sl_event *event, int result, int has_truth,
                  const char *reason) {
  if (result == SL_ENOMEM) return SL_ENOMEM;
  if (result != SL_OK)
    complain(t, s, event, reason);
  else if (!has_truth)
    t->events_without_truth++;
  else
    t->events++;
  return result == SL_OK && has_truth;
}

void tally_report(const struct tally *t, const struct sl_report *r) {
  r->integer(r->context, "events", (int64_t)t->events);
  r->integer(r->context, "error_events", (int64_t)t->error_events);
  r->integer(r->context, "malformed_events", (int64_t)t->malformed_events);
  r->integer(r->context, "events_without_truth", (int64_t)t->events_without_truth);
}

void tally_warn(const struct tally *t, const struct sl_services *s) {
  if (t->malformed_events > 0)
    s->message(s->context, SL_WARNING, "%" PRIu64 " events with malformed %s were not checked", t->malformed_events,
               t->truth);
  if (t->events_without_truth > 0)
    s->message(s->context, SL_WARNING, "%" PRIu64 " events without %s were not checked", t->events_without_truth,
               t->truth);
}
